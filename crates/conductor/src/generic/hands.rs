//! Which hands a definition needs: those of `tdd`, which work on a task's branch; those of `review`, which read
//! responses by a profile; those of `collab`, which read documents of work items; or none.

use project::profile::Phase;
use rails::definition::{FieldType, Kind, StateDef};
use rails::diagnostic::Located;
use rails::{Definition, Diagnostic};

/// Readers that look at a task and its branch.
const TASK_READERS: [&str; 2] = ["preflight", "commit"];

/// Effects on a task and its branch, beside those of git.
const TASK_EFFECTS: [&str; 5] = [
    "tag.switch",
    "tag.restore",
    "task.finish",
    "branch.delete",
    "git.commit",
];

/// What only a session of skills reads: its documents.
const SKILL_READERS: [&str; 2] = ["design", "graph"];

/// What only a session's profile can read.
const RESPONSE: &str = "response";

/// What only a session's folder can take.
const SESSION_EFFECTS: [&str; 6] = [
    "iteration.open",
    "plan.store",
    "plan.reset",
    "code.store",
    "code.reset",
    "response.aside",
];

/// Who carries a definition out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    /// Those of `tdd`: the run is over a task, on a branch.
    Task,
    /// Those of `review`: the run is a session with a profile.
    Session,
    /// Those of `collab`: the run is a session of skills, with documents.
    Skills,
    /// None: reports alone move the run.
    Plain,
}

/// The hands that `definition` needs.
pub(crate) fn hands(definition: &Definition) -> Hands {
    match (first_of_task(definition), first_of_session(definition)) {
        (Some(_), _) => Hands::Task,
        (None, Some(_)) => Hands::Session,
        (None, None) if first_of_skills(definition).is_some() => Hands::Skills,
        (None, None) => Hands::Plain,
    }
}

/// The first thing in the file that only the hands of `collab` can do.
fn first_of_skills(definition: &Definition) -> Option<&Located<String>> {
    named(definition).find(|name| SKILL_READERS.contains(&name.value.as_str()))
}

/// The first thing in the file that only `tdd`'s hands can do.
fn first_of_task(definition: &Definition) -> Option<&Located<String>> {
    let of_task = |name: &Located<String>| {
        TASK_READERS.contains(&name.value.as_str())
            || name.value.starts_with("git.")
            || TASK_EFFECTS.contains(&name.value.as_str())
    };
    named(definition).find(|name| of_task(name))
}

/// The first thing in the file that only a session's hands can do.
fn first_of_session(definition: &Definition) -> Option<&Located<String>> {
    named(definition)
        .find(|name| name.value == RESPONSE || SESSION_EFFECTS.contains(&name.value.as_str()))
}

/// All readers and effects of the file, in its order.
fn named(definition: &Definition) -> impl Iterator<Item = &Located<String>> {
    let readers = definition
        .all_states()
        .filter_map(|(_, _, state)| state.reader());
    let steps = definition
        .all_states()
        .filter_map(|(_, _, state)| state.effects.as_ref())
        .flat_map(|effects| effects.value.0.iter());
    let of_states = definition.all_states().flat_map(|(_, _, state)| {
        let listed = state.on.iter().map(|(_, edges)| edges);
        state
            .route
            .iter()
            .map(|route| &route.value)
            .chain(listed)
            .flat_map(|edges| edges.0.iter())
    });
    let of_all = definition.on.iter().flat_map(|(_, edges)| edges.0.iter());
    let on_edges = of_states
        .chain(of_all)
        .flat_map(|edge| edge.effects.0.iter());
    let mut all: Vec<&Located<String>> = readers.chain(steps).chain(on_edges).collect();
    all.sort_by_key(|name| name.at);
    all.into_iter()
}

/// What no hands could carry out, though it is well formed.
pub(crate) fn faults(definition: &Definition) -> Vec<Diagnostic> {
    let mixed = |other: &Located<String>, what: &str| {
        vec![Diagnostic::new(
            "mixed_hands",
            other.at,
            format!(
                "`{}` belongs to a session, and this workflow {what}",
                other.value
            ),
            "make two workflows of it",
        )]
    };
    let (task, session, skills) = (
        first_of_task(definition),
        first_of_session(definition),
        first_of_skills(definition),
    );
    let mut faults = match (task, session.or(skills)) {
        (Some(_), Some(other)) => mixed(other, "works on a task's branch"),
        (Some(first), None) => of_task(definition, first),
        (None, _) => match (session, skills) {
            (Some(_), Some(other)) => mixed(other, "has its responses read by a profile"),
            (Some(first), None) => of_session(definition, first),
            (None, Some(first)) => of_skills(definition, first),
            (None, None) => of_plain(definition),
        },
    };
    if session.is_none() {
        faults.extend(without_profile(definition));
    }
    faults
}

/// A session has a profile, and counts its iterations.
fn of_session(definition: &Definition, first: &Located<String>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let declared = |name: &str| definition.inputs.get(name).map(|field| field.kind.clone());
    for (name, kind) in [("profile", FieldType::String), ("values", FieldType::Map)] {
        if declared(name) != Some(kind.clone()) {
            faults.push(Diagnostic::new(
                "needs_profile",
                first.at,
                format!(
                    "`{}` is the business of a profile, and no input `{name}` of type {kind} names one",
                    first.value
                ),
                format!("declare it under `inputs`: `{name}: {kind}`"),
            ));
        }
    }
    if definition.counter.is_none() || definition.vars.get("iteration").is_none() {
        faults.push(Diagnostic::new(
            "needs_profile",
            first.at,
            format!(
                "`{}` belongs to an iteration, and nothing counts them",
                first.value
            ),
            "declare `vars: { iteration: int }` and `counter: iteration`",
        ));
    }
    for (_, name, state) in definition.all_states() {
        faults.extend(asks_for_nothing(name, state));
        if let Some(reader) = state.reader()
            && reader.value != RESPONSE
        {
            faults.push(Diagnostic::new(
                "mixed_readers",
                reader.at,
                format!("`{}` is not read in a session", reader.value),
                "use `response` here, or leave `expects` out",
            ));
        }
    }
    faults
}

/// A prompt of a session is one of its profile.
fn asks_for_nothing(name: &Located<String>, state: &StateDef) -> Option<Diagnostic> {
    let work = state.work.as_ref()?;
    let phases: Vec<String> = Phase::ALL.iter().map(ToString::to_string).collect();
    let (at, message) = match (&work.ask, &work.prompt) {
        (Some(ask), _) if phases.contains(&ask.value) => return None,
        (Some(ask), _) => (ask.at, format!("no profile knows `{}`", ask.value)),
        (None, Some(prompt)) => (
            prompt.at,
            format!(
                "nothing says which prompt of the profile `{}` asks for",
                name.value
            ),
        ),
        (None, None) => return None,
    };
    Some(Diagnostic::new(
        "unknown_ask",
        at,
        message,
        format!("write `ask:` with one of: {}", phases.join(", ")),
    ))
}

/// What the readers of `collab` look at has the names that they know.
fn of_skills(definition: &Definition, first: &Located<String>) -> Vec<Diagnostic> {
    let mut missing = Vec::new();
    let fields = |set: &str, names: &[&str]| {
        let set = definition.items.get(set);
        names
            .iter()
            .filter(|name| set.is_none_or(|set| set.fields.get(name).is_none()))
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    for (set, names) in [("items", &ITEM[..]), ("tasks", &TASK[..])] {
        let lacks = fields(set, names);
        if !lacks.is_empty() {
            missing.push(format!("the item set `{set}` with {}", lacks.join(", ")));
        }
    }
    for (var, set) in [("item", "items"), ("batch", "batches")] {
        if definition.cursor(var).is_none_or(|(of, _)| of != set) {
            missing.push(format!("the var `{var}: ref {set}`"));
        }
    }
    let mut faults: Vec<Diagnostic> = missing
        .into_iter()
        .map(|what| {
            Diagnostic::new(
                "needs_items",
                first.at,
                format!(
                    "`{}` reads documents of work items, and there is no {what}",
                    first.value
                ),
                "declare it as `tm workflow show collab` does",
            )
        })
        .collect();
    for (_, _, state) in definition.all_states() {
        if let Some(reader) = state.reader()
            && !SKILL_READERS.contains(&reader.value.as_str())
        {
            faults.push(Diagnostic::new(
                "mixed_readers",
                reader.at,
                format!("`{}` is not read in a session of skills", reader.value),
                "use `design` or `graph` here, or leave `expects` out",
            ));
        }
    }
    faults
}

/// The fields of a work item.
const ITEM: [&str; 5] = ["number", "title", "type", "dependsOn", "status"];
/// The fields of a task.
const TASK: [&str; 10] = [
    "id",
    "item",
    "name",
    "description",
    "files",
    "tests",
    "dependsOn",
    "parallel",
    "status",
    "wave",
];

fn of_task(definition: &Definition, first: &Located<String>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let begins = definition
        .state(&definition.initial.value)
        .and_then(StateDef::reader)
        .is_some_and(|reader| reader.value == "preflight");
    if !begins {
        faults.push(Diagnostic::new(
            "needs_preflight",
            first.at,
            format!(
                "`{}` works on a task's branch, and no run of `{}` would have one",
                first.value, definition.id.value
            ),
            "begin in a state with `expects: preflight`, as `tm workflow show tdd` does, or do without it",
        ));
        return faults;
    }
    for (name, kind) in [
        ("taskId", FieldType::String),
        ("maxAttempts", FieldType::Int),
    ] {
        if definition
            .inputs
            .get(name)
            .is_none_or(|field| field.kind != kind)
        {
            faults.push(Diagnostic::new(
                "needs_preflight",
                definition.initial.at,
                format!("`preflight` gives the input `{name}` of type {kind}, and there is none"),
                format!("declare it under `inputs`: `{name}: {kind}`"),
            ));
        }
    }
    for (_, _, state) in definition.all_states() {
        if let Some(reader) = state.reader()
            && reader.value == "outcome"
        {
            faults.push(Diagnostic::new(
                "mixed_readers",
                reader.at,
                "`outcome` is not read in a workflow that works on a task's branch",
                "use `tests` or `commit` here, or leave `expects` out",
            ));
        }
    }
    faults
}

fn of_plain(definition: &Definition) -> Vec<Diagnostic> {
    without_work_tree(definition)
        .chain(nothing_to_read(definition))
        .collect()
}

/// What a report shows, freezes and rests on is looked up in a working tree.
fn without_work_tree(definition: &Definition) -> impl Iterator<Item = Diagnostic> {
    definition.all_states().filter_map(|(_, name, state)| {
        let reader = state.reader().filter(|_| state.role().keys().next().is_some());
        let at = reader
            .map(|reader| reader.at)
            .or_else(|| Some(state.edits.as_ref()?.at))?;
        Some(Diagnostic::new(
            "needs_preflight",
            at,
            format!(
                "what `{}` says of its report or of edits is held against a task's branch, and no run of `{}` would have one",
                name.value, definition.id.value
            ),
            "begin in a state with `expects: preflight`, as `tm workflow show tdd` does, or take it away",
        ))
    })
}

/// What is asked for in a profile's words, and what it made, is a profile's.
fn without_profile(definition: &Definition) -> impl Iterator<Item = Diagnostic> {
    definition.all_states().filter_map(|(_, name, state)| {
        let ask = state.work.as_ref().and_then(|work| work.ask.as_ref());
        let over = || state.gate.as_ref()?.over.as_ref();
        let of_profile = ask.or_else(over)?;
        Some(Diagnostic::new(
            "needs_profile",
            of_profile.at,
            format!(
                "`{}` in `{}` is a profile's, and no run of `{}` has one",
                of_profile.value, name.value, definition.id.value
            ),
            "use `instructions: NAME.md`, or have responses read by a profile, as `tm workflow show review` does",
        ))
    })
}

fn nothing_to_read(definition: &Definition) -> impl Iterator<Item = Diagnostic> {
    definition
        .all_states()
        .filter(|(_, _, state)| state.kind() == Kind::Route)
        .filter_map(|(_, name, state)| Some((name, state.reader()?)))
        .map(|(name, reader)| {
            Diagnostic::new(
                "nothing_to_read",
                reader.at,
                format!(
                    "nobody reports to `{}`, so there is nothing to read `{}` from",
                    name.value, reader.value
                ),
                "let the `work` state before it read that, and keep what the route needs with `set`",
            )
        })
}
