//! Shape: every state is of one kind, and has what that kind needs.

use std::collections::HashSet;

use super::{sets, steps};
use crate::definition::{Definition, FieldType, Kind, StateDef};
use crate::trigger::Trigger;

const EVENTS: [Trigger; 10] = Trigger::EVENTS;
use crate::diagnostic::{Diagnostic, Located};
use text::nearest;

pub(super) fn check(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    if !is_name(&definition.id) {
        faults.push(Diagnostic::new(
            "bad_name",
            definition.id.at,
            format!("`{}` cannot be the name of a workflow", definition.id.value),
            "use letters, digits, `-` and `_`, beginning with a letter",
        ));
    }
    for (name, _) in definition.on.iter() {
        let event = Trigger::of_event(&name.value);
        if !matches!(
            event,
            Some(
                Trigger::Abort | Trigger::Reopen | Trigger::Skip | Trigger::Rewind | Trigger::Adopt
            )
        ) {
            faults.push(Diagnostic::new(
                "bad_event",
                name.at,
                format!("`{}` cannot stand in the workflow's own `on`", name.value),
                "only `abort`, `adopt`, `reopen`, `skip` and `rewind` are valid in every state; move it to the states it belongs to",
            ));
        }
    }
    unit_patterns(definition, faults);
    steps::check(definition, faults);
    sets::check(definition, faults);
    let fields = definition
        .items
        .iter()
        .flat_map(|(_, set)| set.fields.iter());
    for (name, _) in definition
        .inputs
        .iter()
        .chain(definition.vars.iter())
        .chain(fields)
    {
        identifier(name, faults);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for (parent, name, state) in definition.all_states() {
        if !is_name(name) {
            faults.push(Diagnostic::new(
                "bad_name",
                name.at,
                format!("`{}` cannot be the name of a state", name.value),
                "use letters, digits, `-` and `_`, beginning with a letter",
            ));
        }
        if let Some(reported) = state.work.as_ref().and_then(|work| work.name.as_ref())
            && !is_name(reported)
        {
            faults.push(Diagnostic::new(
                "bad_name",
                reported.at,
                format!(
                    "nobody could report the work of `{}` as `{}`",
                    name.value, reported.value
                ),
                "use letters, digits, `-` and `_`, beginning with a letter",
            ));
        }
        if !seen.insert(&name.value) {
            faults.push(Diagnostic::new(
                "duplicate_state",
                name.at,
                format!("there is another state `{}`", name.value),
                "give nested states names of their own: a name means one place in the whole workflow",
            ));
        }
        one_state(parent, name, state, faults);
    }
    if !definition
        .states
        .iter()
        .any(|(_, state)| state.end.is_some())
    {
        faults.push(Diagnostic::new(
            "no_end",
            definition.initial.at,
            "the workflow has no `final` state",
            "add one, such as `complete: { final: completed }`",
        ));
    }
}

fn one_state(
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let mut fault = |rule, message: String, help: &str| {
        faults.push(Diagnostic::new(rule, name.at, message, help));
    };
    let mut kinds = Vec::new();
    for (is, kind) in [
        (state.work.is_some(), "work"),
        (state.effects.is_some() && state.end.is_none(), "do"),
        (state.route.is_some(), "route"),
        (state.each.is_some(), "each"),
        (state.end.is_some(), "final"),
    ] {
        if is {
            kinds.push(kind);
        }
    }
    match kinds.as_slice() {
        [_] => {}
        [] => {
            return fault(
                "no_kind",
                format!("nothing says what kind of state `{}` is", name.value),
                "give it one of `work`, `do`, `route`, `each`, `final`",
            );
        }
        several => {
            return fault(
                "two_kinds",
                format!(
                    "`{}` is of several kinds: {}",
                    name.value,
                    several.join(" and ")
                ),
                "a state is of one kind; split it",
            );
        }
    }
    let kind = state.kind();
    if state.expects.is_some() && !matches!(kind, Kind::Work | Kind::Route) {
        fault(
            "misplaced_key",
            format!("`{}` has `expects`, but takes no evidence", name.value),
            "only `work` and `route` states read evidence",
        );
    }
    if kind != Kind::Each && !state.states.is_empty() {
        fault(
            "misplaced_key",
            format!("`{}` has nested states, but is no `each`", name.value),
            "only an `each` state has nested states",
        );
    }
    if state.to.is_some() && !matches!(kind, Kind::Work | Kind::Do) {
        fault(
            "misplaced_key",
            format!("`{}` has a `to` beside its kind", name.value),
            "put it on an edge",
        );
    }
    ways_on(parent, name, state, faults);
    events(parent, name, state, faults);
}

/// Every kind says where it leads.
fn ways_on(
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let mut fault = |rule, message: String, help: &str| {
        faults.push(Diagnostic::new(rule, name.at, message, help));
    };
    match state.kind() {
        Kind::Work if state.to.is_some() != state.edges(Trigger::Report).is_empty() => fault(
            "no_way_on",
            format!(
                "`{}` needs either `to` or `on: {{ report: … }}`",
                name.value
            ),
            "say where a report leads",
        ),
        Kind::Do if state.to.is_none() => fault(
            "no_way_on",
            format!("`{}` does not say where it leads", name.value),
            "add `to: STATE`",
        ),
        Kind::Route if state.edges(Trigger::Route).is_empty() => fault(
            "no_way_on",
            format!("`{}` has no edges", name.value),
            "give the route at least one edge",
        ),
        Kind::Each => {
            if parent.is_some() {
                fault(
                    "nested_each",
                    format!("`{}` is an `each` inside an `each`", name.value),
                    "make it a workflow of its own",
                );
            }
            if state.states.is_empty() {
                fault(
                    "no_way_on",
                    format!("`{}` has no nested states", name.value),
                    "add `states:` beside `each:`",
                );
            } else if !state.states.iter().any(|(_, inner)| inner.end.is_some()) {
                fault(
                    "no_end",
                    format!(
                        "the nested states of `{}` have no `final` state",
                        name.value
                    ),
                    "add one, such as `done: { final: completed }`",
                );
            }
            if state.edges(Trigger::Done).is_empty() {
                fault(
                    "no_way_on",
                    format!(
                        "`{}` does not say where it leads when every item is over",
                        name.value
                    ),
                    "add `on: { done: { to: STATE } }`",
                );
            }
        }
        Kind::Final if state.on.iter().any(|(event, _)| !is_after_the_end(event)) => fault(
            "misplaced_key",
            format!("`{}` is an end, but has edges that lead on", name.value),
            "only `submit` and `feedback` may come behind an end: take the others away, or make it another kind of state",
        ),
        _ => {}
    }
}

fn is_after_the_end(event: &Located<String>) -> bool {
    Trigger::of_event(&event.value).is_some_and(|event| Trigger::AFTER_THE_END.contains(&event))
}

/// What may happen in a state depends on its kind.
fn events(
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    let kind = state.kind();
    for event in state.on.iter().map(|(event, _)| event) {
        let fits = match Trigger::of_event(&event.value) {
            Some(Trigger::Done) => kind == Kind::Each,
            Some(Trigger::Report | Trigger::Skip) => kind == Kind::Work,
            // What was left by a route may be taken up again there.
            Some(Trigger::Reopen) => matches!(kind, Kind::Work | Kind::Route),
            Some(Trigger::Reject) => state.gate.is_some(),
            // What calls the run off is looked up where the run itself stands.
            Some(Trigger::Abort) => parent.is_none(),
            Some(Trigger::Submit | Trigger::Feedback) => {
                parent.is_none() && matches!(kind, Kind::Work | Kind::Final)
            }
            _ => false,
        };
        if !fits {
            let near = nearest(&event.value, EVENTS.map(Trigger::name))
                .filter(|near| *near != event.value);
            faults.push(Diagnostic::new(
                "bad_event",
                event.at,
                format!("`{}` is no event of `{}`", event.value, name.value),
                near.map_or_else(
                    || {
                        format!(
                            "a `{kind:?}` state has others; known are {}",
                            EVENTS.map(Trigger::name).join(", ")
                        )
                        .to_lowercase()
                    },
                    |near| format!("did you mean `{near}`?"),
                ),
            ));
        }
    }
}

fn unit_patterns(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    for (pattern, item) in [(&definition.unit.item, true), (&definition.unit.run, false)] {
        let mut rest = pattern.value.as_str();
        let mut names_state = false;
        let mut names_key = false;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else {
                break;
            };
            let name = &rest[open + 1..open + close];
            let known = match name {
                "state" | "STATE" => {
                    names_state = true;
                    true
                }
                "key" => {
                    names_key = true;
                    item
                }
                other => other.strip_prefix("inputs.").is_some_and(|input| {
                    definition
                        .inputs
                        .get(input)
                        .is_some_and(|field| field.kind == FieldType::String)
                }),
            };
            if !known {
                faults.push(Diagnostic::new(
                    "bad_pattern",
                    pattern.at,
                    format!("`{{{name}}}` means nothing in a unit's id"),
                    "use {state} or {STATE}, {key} in an item's unit, and {inputs.NAME} for an input of type string",
                ));
            }
            rest = &rest[open + close + 1..];
        }
        if !names_state || (item && !names_key) {
            faults.push(Diagnostic::new(
                "bad_pattern",
                pattern.at,
                format!("two units could get the id `{}`", pattern.value),
                if item {
                    "an item's unit needs {key} and {state} in its id"
                } else {
                    "a unit needs {state} in its id"
                },
            ));
        }
    }
}

/// What guards name must be a name in CEL.
pub(super) fn identifier(name: &Located<String>, faults: &mut Vec<Diagnostic>) {
    /// Words that CEL keeps for itself.
    const RESERVED: [&str; 21] = [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "namespace",
        "null",
        "package",
        "return",
        "true",
        "var",
        "void",
        "while",
    ];
    let written = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !written || RESERVED.contains(&name.as_str()) {
        faults.push(Diagnostic::new(
            "bad_name",
            name.at,
            format!("guards could not name `{}`", name.value),
            "use letters, digits and `_`, beginning with a letter, and no word of CEL",
        ));
    }
}

/// Whether people could tell it apart from the words around it.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
