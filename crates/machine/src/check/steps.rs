//! Steps, gates and files: what a definition needs in which a run waits for more than reports.

use crate::definition::{Advance, Definition, FieldType, Issue, Kind, StateDef};
use crate::diagnostic::{Diagnostic, Located, Place};
use text::nearest;

pub(super) fn check(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    counter(definition, faults);
    gates(definition, faults);
    otherwise(definition, faults);
    for (parent, name, state) in definition.all_states() {
        advance(definition, parent, name, state, faults);
        gate(definition, parent, name, state, faults);
        files(definition, parent, name, state, faults);
    }
}

/// Steps are taken by the run, and not by its items.
fn advance(
    definition: &Definition,
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let mut fault = |at: Place, message: String, help: &str| {
        faults.push(Diagnostic::new("misplaced_key", at, message, help));
    };
    match &state.advance {
        Some(own) if parent.is_some() || state.kind() == Kind::Final => fault(
            own.at,
            format!("`advance` means nothing in `{}`", name.value),
            "say it of a state of the run itself that is no end",
        ),
        _ if state.kind() == Kind::Each && definition.advances(&name.value) == Advance::Manual => {
            fault(
                state.advance.as_ref().map_or(name.at, |own| own.at),
                format!(
                    "`{}` is an `each`, which is moved by its items and by no step",
                    name.value
                ),
                "say `advance: auto` of it, or let the workflow do without items",
            );
        }
        _ => {}
    }
}

/// What counts the rounds is a var that holds a whole number.
fn counter(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    if let Some(counter) = &definition.counter
        && definition
            .vars
            .get(counter)
            .is_none_or(|var| var.kind != FieldType::Int)
    {
        faults.push(Diagnostic::new(
            "unknown_name",
            counter.at,
            format!("`{}` is no var of type int", counter.value),
            format!("declare it: `vars: {{ {}: int }}`", counter.value),
        ));
    }
}

fn gates(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    for (name, _) in definition.gates.iter() {
        let used = definition.all_states().any(|(_, _, state)| {
            state
                .gate
                .as_ref()
                .is_some_and(|gate| gate.value == name.value)
        });
        if !used {
            faults.push(Diagnostic::new(
                "unused_gate",
                name.at,
                format!("no state stands behind the gate `{}`", name.value),
                "name it at a state with `gate:`, or take it away",
            ));
        }
    }
}

/// Edges for every state act as none of them could: they only lead on.
fn otherwise(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    let reads = |(_, _, state): &(_, _, &StateDef)| state.expects.is_some();
    if let Some(edge) = definition.otherwise.0.first()
        && !definition.all_states().any(|state| reads(&state))
    {
        faults.push(Diagnostic::new(
            "unreachable_edge",
            edge.at,
            "no state has `expects`, so these edges are never tried",
            "give the states that read something `expects: READER`, or take `otherwise` away",
        ));
    }
    let nested = definition
        .all_states()
        .filter(reads)
        .find_map(|(parent, name, _)| parent.map(|_| name));
    for edge in &definition.otherwise.0 {
        // Where an edge stands by itself, the proof of names has told of a target that is none.
        if let (Some(nested), Some(to)) = (nested, &edge.to)
            && definition.state(to).is_some()
            && definition.parent(to).is_none()
        {
            faults.push(Diagnostic::new(
                "crossing_target",
                to.at,
                format!(
                    "`{}` is not on the same level as `{}`, which has these edges too",
                    to.value, nested.value
                ),
                "refuse or pause in `otherwise`, and lead on by the edges of the states themselves",
            ));
        }
        let acts = !edge.effects.0.is_empty()
            || !edge.add.is_empty()
            || !edge.load.is_empty()
            || edge.retry.is_some();
        if acts {
            faults.push(Diagnostic::new(
                "misplaced_key",
                edge.at,
                "an edge of `otherwise` only leads on, refuses or pauses",
                "put what acts on the edges of the states themselves",
            ));
        }
    }
}

fn gate(
    definition: &Definition,
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(gate) = &state.gate else {
        return;
    };
    if !matches!(state.kind(), Kind::Work | Kind::Route | Kind::Do) || parent.is_some() {
        faults.push(Diagnostic::new(
            "misplaced_key",
            gate.at,
            format!("`{}` cannot stand behind a gate", name.value),
            "a gate stands before a `work`, `route` or `do` state of the run itself",
        ));
    }
    if definition.gates.get(gate).is_none() {
        let near = nearest(gate, definition.gates.keys());
        faults.push(Diagnostic::new(
            "unknown_gate",
            gate.at,
            format!("there is no gate `{}`", gate.value),
            near.map_or_else(
                || format!("declare it: `gates: {{ {}: human }}`", gate.value),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    }
}

/// A run's files lie in its folder, under names that nobody has to guess.
fn files(
    definition: &Definition,
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(work) = &state.work else {
        return;
    };
    if let Some(file) = work.prompt.as_ref().or(work.response.as_ref())
        && parent.is_some()
    {
        faults.push(Diagnostic::new(
            "misplaced_key",
            file.at,
            format!(
                "`{}` belongs to items, which have no files of their own",
                name.value
            ),
            "let the items be reported, and wait for files outside of the `each`",
        ));
    }
    if work.prompt.is_some() && work.response.is_none() {
        faults.push(Diagnostic::new(
            "misplaced_key",
            name.at,
            format!("`{}` has a prompt, and no file for the answer", name.value),
            "add `response: FILE`",
        ));
    }
    if work.issue == Issue::Step && definition.advances(&name.value) == Advance::Auto {
        faults.push(Diagnostic::new(
            "misplaced_key",
            name.at,
            format!(
                "`{}` waits for a step to be issued, and nobody takes steps here",
                name.value
            ),
            "use `issue: step` together with `advance: manual`",
        ));
    }
    let mut prompts = definition.all_states().filter_map(|(_, asks, state)| {
        let prompt = state.work.as_ref()?.prompt.as_ref()?;
        Some((asks, prompt))
    });
    if let Some(response) = &work.response
        && let Some((asks, _)) = prompts.find(|(_, prompt)| prompt.eq_ignore_ascii_case(response))
    {
        let what = if asks.value == name.value {
            "the prompt and the answer in one".to_owned()
        } else {
            format!(
                "the answer in `{}` and the prompt of `{}`",
                name.value, asks.value
            )
        };
        faults.push(Diagnostic::new(
            "bad_pattern",
            response.at,
            format!("`{}` is {what}", response.value),
            "wait for the answer in a file of its own",
        ));
    }
    for file in work.prompt.iter().chain(&work.response) {
        if let Some(why) = bad_file(definition, &file.value) {
            faults.push(Diagnostic::new(
                "bad_pattern",
                file.at,
                format!("`{}` is no file of a run: {why}", file.value),
                "use a name such as `plan.md` or `round-{round}/plan.md`, where `round` is a var of type int",
            ));
        }
    }
}

/// Files and folders that are the engine's own.
const KEPT: [&str; 18] = [
    "evidence",
    "test-results",
    "activity.jsonl",
    "state.json",
    "snapshot.json",
    "snapshot-parts",
    "manifest.json",
    "workflow.yaml",
    "work-units.json",
    "commits.txt",
    "refusals.jsonl",
    "refused-reports.json",
    "report.json",
    "report.md",
    "lock",
    "git-process.json",
    "steps.lock",
    "export.lock",
];

fn bad_file(definition: &Definition, pattern: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        plain.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else {
            return Some("a `{` is not closed".to_owned());
        };
        let var = &rest[open + 1..open + close];
        if definition
            .vars
            .get(var)
            .is_none_or(|var| var.kind != FieldType::Int)
        {
            return Some(format!("`{{{var}}}` is no var of type int"));
        }
        plain.push('1');
        rest = &rest[open + close + 1..];
    }
    plain.push_str(rest);
    let fits = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.len() <= 128
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    if !plain.split('/').all(fits) {
        return Some("its parts are letters, digits, `-`, `_` and `.`".to_owned());
    }
    // Not every file system tells `State.json` from `state.json`.
    let first = plain
        .split('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if KEPT.contains(&first.as_str()) {
        return Some("the engine keeps that name for itself".to_owned());
    }
    None
}
