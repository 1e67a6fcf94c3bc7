//! Messages: each code that a report is answered with says something to whoever gets it, and no message is for nothing.

use super::Catalog;
use crate::definition::{Definition, Edge};
use crate::diagnostic::Diagnostic;
use text::nearest;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let states = definition
        .all_states()
        .flat_map(|(_, _, state)| state.lists().map(|(_, edges)| edges));
    let everywhere = definition.on.iter().map(|(_, edges)| edges);
    let lists = states.chain(everywhere).chain([&definition.otherwise]);
    let edges: Vec<&Edge> = lists
        .flat_map(|list| &list.0)
        .map(|edge| &edge.value)
        .collect();
    let mut told: Vec<&str> = Vec::new();
    for code in edges.iter().flat_map(|edge| edge.codes()) {
        let (name, known) = (code.value.as_str(), &catalog.codes);
        let has_words = known.is_empty() || known.contains(name);
        if !has_words && definition.message(name).is_none() && !told.contains(&name) {
            let near = nearest(code, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; or did you mean `{near}`?"));
            faults.push(Diagnostic::new(
                "no_message",
                code.at,
                format!("whoever is answered with `{name}` is not told what it means"),
                format!("say it: `messages: {{ {name}: {{ message: What is wrong, fix: What to do }} }}`{near}"),
            ));
        }
        told.push(name);
    }
    let pauses = edges.iter().filter_map(|edge| edge.pause.as_ref());
    told.extend(pauses.map(|pause| pause.value.as_str()));
    for (code, _) in definition.messages.iter() {
        if !told.contains(&code.value.as_str()) {
            let help = nearest(code, told.iter().copied()).map_or_else(
                || {
                    "take it out, or name the code behind `refuse`, `retry`, `warn` or `pause`"
                        .to_owned()
                },
                |near| format!("did you mean `{near}`?"),
            );
            faults.push(Diagnostic::new(
                "unused_message",
                code.at,
                format!("no edge answers with `{}`", code.value),
                help,
            ));
        }
    }
}
