//! Mermaid flowcharts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::picture::{LONGEST_NAME, Node, Picture, Source};
use super::text::{plain, shortened};
use machine::definition::{Definition, Kind};

/// The workflow as a Mermaid flowchart. The states in `present` are marked.
///
/// The format: <https://mermaid.js.org/syntax/flowchart.html>.
pub fn mermaid(definition: &Definition, present: &BTreeSet<&str>) -> String {
    let picture = Picture::of(definition, present);
    let mut out = String::from("flowchart TD\n    begin((\" \"))\n");
    let mut frame = None;
    for (number, node) in picture.nodes.iter().enumerate() {
        if frame.is_some() && node.parent != frame {
            out.push_str("    end\n");
            frame = None;
        }
        if node.kind == Kind::Each {
            frame = Some(number);
        }
        state(&mut out, number, node);
    }
    if frame.is_some() {
        out.push_str("    end\n");
    }
    if picture
        .arrows
        .iter()
        .any(|arrow| arrow.from == Source::Anywhere)
    {
        out.push_str("    anywhere([\"any state\"])\n");
    }
    for arrow in &picture.arrows {
        let from = match arrow.from {
            Source::Begin => "begin".to_owned(),
            Source::Anywhere => "anywhere".to_owned(),
            Source::State(number) => format!("s{number}"),
            Source::Items(number) => format!("s{number}i"),
        };
        let line = if arrow.from == Source::Anywhere {
            "-.->"
        } else {
            "-->"
        };
        let label = arrow.label();
        let _ = if label.is_empty() {
            writeln!(out, "    {from} {line} s{}", arrow.to)
        } else {
            let label = escaped(&label);
            writeln!(out, "    {from} {line}|\"{label}\"| s{}", arrow.to)
        };
    }
    let marked: Vec<String> = picture
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.present)
        .map(|(number, _)| format!("s{number}"))
        .collect();
    if !marked.is_empty() {
        let _ = writeln!(
            out,
            "    classDef present stroke-width:4px,stroke:#d97706\n    class {} present",
            marked.join(",")
        );
    }
    out
}

fn state(out: &mut String, number: usize, node: &Node<'_>) {
    let title = shown(node.title());
    if node.kind == Kind::Each {
        let name = match node.label {
            Some(_) => format!(" ({})", shown(node.name)),
            None => String::new(),
        };
        let set = shown(node.items.unwrap_or_default());
        let _ = writeln!(
            out,
            "    subgraph s{number}[\"{title}{name}: each of {set}\"]"
        );
        // An arrow from the frame to a state inside of it cannot be drawn, so each item begins at a dot.
        let _ = writeln!(out, "    s{number}i((\" \"))");
        return;
    }
    let (open, close) = match node.kind {
        Kind::Work => ("[", "]"),
        Kind::Final => ("([", "])"),
        Kind::Route => ("{", "}"),
        Kind::Do | Kind::Each => ("[[", "]]"),
    };
    let gate = node.gate.map_or_else(String::new, |gate| {
        format!(", behind the gate {}", shown(gate))
    });
    let name = match node.label {
        Some(_) => format!("<br/>{}", shown(node.name)),
        None => String::new(),
    };
    let _ = writeln!(out, "    s{number}{open}\"{title}{gate}{name}\"{close}");
}

fn shown(text: &str) -> String {
    escaped(&shortened(text, LONGEST_NAME))
}

/// Text that stays inside a quoted label, and is shown as it is: labels are read as HTML and as Markdown, too, and
/// directives are found wherever they stand.
pub(super) fn escaped(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    // `1.` at the beginning would make a list of it, and so would `-` and `+`.
    let mut only_digits = true;
    while let Some(c) = rest.next() {
        let after = rest.peek().copied().unwrap_or(' ');
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '#' | '`' | '\\' | '*' | '~' | '$' | '%' | '[' | ']' | '@' => number(&mut out, c),
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => number(&mut out, c),
            ':' if after == '/' => number(&mut out, c),
            '.' | ')' if only_digits && before.is_ascii_digit() => number(&mut out, c),
            '.' if before == 'w' => number(&mut out, c),
            '-' | '+' | '=' if out.trim_start().is_empty() => number(&mut out, c),
            c => out.push(c),
        }
        only_digits &= c.is_ascii_digit() || c == ' ';
        before = c;
    }
    out
}

fn number(out: &mut String, c: char) {
    let _ = write!(out, "#{};", u32::from(c));
}
