//! A workflow drawn as text, for those who render it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::definition::{Definition, Edge, Kind, StateDef};

/// The longest guard that is written at an arrow, in characters.
const LONGEST_GUARD: usize = 60;

/// The workflow as a Mermaid flowchart. The states in `present` are marked.
///
/// Every name and guard is text of the definition's author: it is escaped, so that it stays a label.
/// The format: <https://mermaid.js.org/syntax/flowchart.html>.
pub fn mermaid(definition: &Definition, present: &BTreeSet<&str>) -> String {
    let mut out = String::from("flowchart TD\n");
    let ids: HashMap<&str, String> = definition
        .all_states()
        .enumerate()
        .map(|(number, (_, name, _))| (name.value.as_str(), format!("s{number}")))
        .collect();
    let mut draw = Drawing {
        ids: &ids,
        present,
        out: &mut out,
        arrows: BTreeSet::new(),
        marked: Vec::new(),
    };
    let _ = writeln!(draw.out, "    begin((\" \"))");
    for (name, state) in definition.states.iter() {
        draw.state(&name.value, state);
    }
    draw.arrow("begin", &definition.initial.value, "");
    for (name, state) in definition.states.iter() {
        draw.edges(&name.value, state);
        // Drawn last of a state, and as the definition has them: behind its own.
        for edge in definition.otherwise(state) {
            if let (Some(from), Some(to)) = (ids.get(name.value.as_str()), &edge.to) {
                draw.arrow(from, &to.value, &label("otherwise", edge));
            }
        }
    }
    let marked = draw.marked.join(",");
    if !marked.is_empty() {
        let _ = writeln!(
            out,
            "    classDef present stroke-width:4px,stroke:#d97706\n    class {marked} present"
        );
    }
    out
}

struct Drawing<'a> {
    ids: &'a HashMap<&'a str, String>,
    present: &'a BTreeSet<&'a str>,
    out: &'a mut String,
    arrows: BTreeSet<String>,
    marked: Vec<String>,
}

impl Drawing<'_> {
    fn state(&mut self, name: &str, state: &StateDef) {
        let Some(id) = self.ids.get(name) else {
            return;
        };
        if self.present.contains(name) {
            self.marked.push(id.clone());
        }
        let label = escaped(state.label.as_deref().unwrap_or(name));
        if let Some(each) = &state.each {
            let set = escaped(&each.value.items.value);
            let _ = writeln!(self.out, "    subgraph {id}[\"{label}: each of {set}\"]");
            // An arrow from the frame to a state inside of it cannot be drawn, so each item begins at a dot.
            let _ = writeln!(self.out, "    {id}i((\" \"))");
            for (nested, inner) in state.states.iter() {
                self.state(&nested.value, inner);
            }
            let _ = writeln!(self.out, "    end");
            return;
        }
        let (open, close) = match state.kind() {
            Kind::Work => ("[", "]"),
            Kind::Final => ("([", "])"),
            Kind::Route => ("{", "}"),
            Kind::Do | Kind::Each => ("[[", "]]"),
        };
        let gate = state.gate.as_ref().map_or_else(String::new, |gate| {
            format!(", behind the gate {}", escaped(&gate.value))
        });
        let _ = writeln!(self.out, "    {id}{open}\"{label}{gate}\"{close}");
    }

    fn edges(&mut self, name: &str, state: &StateDef) {
        let Some(from) = self.ids.get(name).cloned() else {
            return;
        };
        if let Some(to) = &state.to {
            let event = if state.work.is_some() { "report" } else { "" };
            self.arrow(&from, &to.value, event);
        }
        let routes = state.route.iter().map(|edges| ("", &edges.value));
        let events = state
            .on
            .iter()
            .map(|(event, edges)| (event.value.as_str(), edges));
        for (event, edges) in routes.chain(events) {
            for edge in &edges.0 {
                let Some(to) = target(name, &edge.value) else {
                    continue;
                };
                self.arrow(&from, to, &label(event, &edge.value));
            }
        }
        if let Some(each) = &state.each {
            self.arrow(&format!("{from}i"), &each.value.initial.value, "");
        }
        for (nested, inner) in state.states.iter() {
            self.edges(&nested.value, inner);
        }
    }

    fn arrow(&mut self, from: &str, to: &str, label: &str) {
        let Some(to) = self.ids.get(to) else {
            return;
        };
        let line = if label.is_empty() {
            format!("    {from} --> {to}")
        } else {
            format!("    {from} -->|\"{}\"| {to}", escaped(label))
        };
        if self.arrows.insert(line.clone()) {
            let _ = writeln!(self.out, "{line}");
        }
    }
}

/// Where an edge leads; nowhere for one that only notes or refuses.
fn target<'a>(from: &'a str, edge: &'a Edge) -> Option<&'a str> {
    match &edge.to {
        Some(to) => Some(&to.value),
        None if edge.retry.is_some() => Some(from),
        None => None,
    }
}

fn label(event: &str, edge: &Edge) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !event.is_empty() {
        parts.push(event.to_owned());
    }
    if let Some(retry) = &edge.retry {
        parts.push(format!("retry {}", retry.value));
    }
    if let Some(when) = &edge.when {
        let mut guard: String = when.text.chars().take(LONGEST_GUARD).collect();
        if guard.len() < when.text.len() {
            guard.push('…');
        }
        parts.push(guard);
    }
    parts.join(": ")
}

/// Text that stays inside a quoted label.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
