//! Which hands a definition needs: those of `tdd`, which work on a task's branch, or none.

use rails::definition::{FieldType, Kind};
use rails::diagnostic::Located;
use rails::{Definition, Diagnostic};

/// Readers that look at a task and its branch.
const TASK_READERS: [&str; 2] = ["preflight", "commit"];

/// Who carries a definition out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    /// Those of `tdd`: the run is over a task, on a branch.
    Task,
    /// None: reports alone move the run.
    Plain,
}

/// The hands that `definition` needs.
pub(crate) fn hands(definition: &Definition) -> Hands {
    if first_of_task(definition).is_some() {
        Hands::Task
    } else {
        Hands::Plain
    }
}

/// The first thing in the file that only `tdd`'s hands can do.
fn first_of_task(definition: &Definition) -> Option<&Located<String>> {
    let readers = definition
        .all_states()
        .filter_map(|(_, _, state)| state.expects.as_ref())
        .filter(|reader| TASK_READERS.contains(&reader.value.as_str()));
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
    readers
        .chain(steps)
        .chain(on_edges)
        .min_by_key(|name| name.at)
}

/// What no hands could carry out, though it is well formed.
pub(crate) fn faults(definition: &Definition) -> Vec<Diagnostic> {
    match first_of_task(definition) {
        Some(first) => of_task(definition, first),
        None => of_plain(definition),
    }
}

fn of_task(definition: &Definition, first: &Located<String>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let begins = definition
        .state(&definition.initial.value)
        .and_then(|state| state.expects.as_ref())
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
        if let Some(reader) = &state.expects
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
    definition
        .all_states()
        .filter(|(_, _, state)| state.kind() == Kind::Route)
        .filter_map(|(_, name, state)| Some((name, state.expects.as_ref()?)))
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
        .collect()
}
