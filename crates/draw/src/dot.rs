//! Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::picture::{Arrow, LONGEST_NAME, Node, Picture, Source};
use super::text::{lines, plain, shortened};
use machine::definition::{Definition, Kind};

/// The longest line at an arrow, in characters, and how many there are.
const WIDE: usize = 30;
const MOST_LINES: usize = 5;
/// The colour of what is present.
const MARK: &str = "#d97706";

/// The workflow as a Graphviz digraph, each `each` a cluster. The states in `present` are marked.
///
/// The format: <https://graphviz.org/doc/info/lang.html>.
pub fn dot(definition: &Definition, present: &BTreeSet<&str>) -> String {
    let picture = Picture::of(definition, present);
    let mut out = format!("digraph {} {{\n", quoted(&definition.id.value));
    out.push_str("    graph [rankdir=TB, compound=true, fontname=\"Helvetica\"];\n");
    out.push_str("    node [shape=box, fontname=\"Helvetica\", fontsize=12];\n");
    out.push_str("    edge [fontname=\"Helvetica\", fontsize=10];\n");
    out.push_str(
        "    begin [shape=circle, style=filled, fillcolor=black, width=0.2, label=\"\"];\n",
    );
    let mut frame = None;
    for (number, node) in picture.nodes.iter().enumerate() {
        if node.parent != frame {
            close(&mut out, &mut frame);
        }
        if node.kind == Kind::Each {
            open(&mut out, number, node);
            frame = Some(number);
        } else {
            state(&mut out, number, node);
        }
    }
    close(&mut out, &mut frame);
    let anywhere = |arrow: &Arrow<'_>| arrow.from == Source::Anywhere;
    if picture.arrows.iter().any(anywhere) {
        out.push_str("    anywhere [shape=plaintext, label=\"any state\"];\n");
    }
    for (number, node) in picture.nodes.iter().enumerate() {
        // What ends an item lies above the place at which the frame is left.
        if let (Kind::Final, Some(parent)) = (node.kind, node.parent) {
            let _ = writeln!(out, "    s{number} -> s{parent}o [style=invis];");
        }
    }
    for one in &picture.arrows {
        arrow(&mut out, &picture, one);
    }
    out.push_str("}\n");
    out
}

fn open(out: &mut String, number: usize, node: &Node<'_>) {
    let set = shortened(node.items.unwrap_or_default(), LONGEST_NAME);
    let label = title(node, &format!("each of {set}"));
    let mark = if node.present {
        format!(", color=\"{MARK}\", penwidth=4")
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "    subgraph cluster_s{number} {{\n    graph [label={label}, style=rounded{mark}];"
    );
    // An arrow has to end at a node, so a frame has one to enter by, where each item begins, and one to leave by.
    let _ = writeln!(
        out,
        "    s{number}i [shape=circle, style=filled, fillcolor=black, width=0.12, label=\"\"];"
    );
    let _ = writeln!(out, "    s{number}o [shape=point, style=invis];");
}

fn close(out: &mut String, frame: &mut Option<usize>) {
    if frame.take().is_some() {
        out.push_str("    }\n");
    }
}

fn state(out: &mut String, number: usize, node: &Node<'_>) {
    let shape = match node.kind {
        Kind::Work => "shape=box",
        Kind::Route => "shape=diamond",
        Kind::Final => "shape=box, style=rounded, peripheries=2",
        Kind::Do | Kind::Each => "shape=box, style=filled, fillcolor=\"#e5e7eb\"",
    };
    let gate = node.gate.map_or_else(String::new, |gate| {
        format!("behind the gate {}", shortened(gate, LONGEST_NAME))
    });
    let label = title(node, &gate);
    let mark = if node.present {
        format!(", color=\"{MARK}\", penwidth=4")
    } else {
        String::new()
    };
    let _ = writeln!(out, "    s{number} [{shape}, label={label}{mark}];");
}

/// Title, name where that is another, and what else there is to say, a line each.
fn title(node: &Node<'_>, more: &str) -> String {
    let mut text = escaped(&shortened(node.title(), LONGEST_NAME));
    if node.label.is_some() {
        text.push_str("\\n");
        text.push_str(&escaped(&shortened(node.name, LONGEST_NAME)));
    }
    if !more.is_empty() {
        text.push_str("\\n");
        text.push_str(&escaped(more));
    }
    format!("\"{text}\"")
}

fn arrow(out: &mut String, picture: &Picture<'_>, arrow: &Arrow<'_>) {
    let is_frame = |number: usize| picture.nodes[number].kind == Kind::Each;
    let mut attributes: Vec<String> = Vec::new();
    // What leads back to a frame is written the other way round: else what comes behind it would be drawn above it.
    let back = is_frame(arrow.to) && matches!(arrow.from, Source::State(from) if from > arrow.to);
    let (upper, lower) = if back {
        (Source::State(arrow.to), arrow.from)
    } else {
        (arrow.from, Source::State(arrow.to))
    };
    let within = |frame: usize, other: Source| match other {
        Source::State(number) => number == frame || picture.nodes[number].parent == Some(frame),
        Source::Items(number) => number == frame,
        Source::Begin | Source::Anywhere => false,
    };
    // An arrow is cut off at a frame, unless all of it is inside.
    let mut end = |at: Source, other: Source, cut: &str, frame_end: char| match at {
        Source::Begin => "begin".to_owned(),
        Source::Anywhere => "anywhere".to_owned(),
        Source::Items(number) => format!("s{number}i"),
        Source::State(number) if is_frame(number) => {
            if !within(number, other) {
                attributes.push(format!("{cut}=cluster_s{number}"));
            }
            format!("s{number}{frame_end}")
        }
        Source::State(number) => format!("s{number}"),
    };
    let from = end(upper, lower, "ltail", 'o');
    let to = end(lower, upper, "lhead", 'i');
    if back {
        attributes.push("dir=back".to_owned());
    }
    if arrow.from == Source::Anywhere {
        attributes.push("style=dashed".to_owned());
    }
    let label: Vec<String> = lines(&arrow.label(), WIDE, MOST_LINES)
        .iter()
        .map(|line| escaped(line))
        .collect();
    if !label.is_empty() {
        attributes.push(format!("label=\"{}\"", label.join("\\n")));
    }
    let _ = if attributes.is_empty() {
        writeln!(out, "    {from} -> {to};")
    } else {
        writeln!(out, "    {from} -> {to} [{}];", attributes.join(", "))
    };
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text that stays inside a quoted string, and in which neither backslashes nor character references mean anything.
fn escaped(text: &str) -> String {
    plain(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('&', "&amp;")
}
