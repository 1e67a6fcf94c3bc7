//! Roles: each label that is named is one that some report has, each reader is told only what it can go by, and each
//! policy can be found where it is checked.

use crate::check::Catalog;
use crate::check::resources::needs;
use crate::definition::{Definition, Edges, Expects, RoleDef, StateDef};
use crate::diagnostic::{Diagnostic, Located};
use crate::role::Role;
use crate::trigger::Trigger;
use text::nearest;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    for (_, name, state) in definition.all_states() {
        if let Some(expects) = &state.expects {
            known_to_reader(definition, expects, name, &state.role(), catalog, faults);
            labels(definition, &expects.role, faults);
        }
        if let Some(edits) = &state.edits
            && state.work.is_none()
        {
            faults.push(Diagnostic::new(
                "misplaced_key",
                edits.at,
                format!("`{}` has `edits`, and nobody works there", name.value),
                "only a `work` state waits for somebody who edits",
            ));
        }
        policies(definition, state, name, catalog, faults);
    }
}

/// A reader goes by each key that is said of its reports. What is said only words a work unit, unless a policy holds each
/// report to it.
fn known_to_reader(
    definition: &Definition,
    expects: &Expects,
    name: &Located<String>,
    role: &Role,
    catalog: &Catalog,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(reader) = catalog.readers.get(&expects.reader.value) else {
        return;
    };
    for key in role.keys() {
        match reader.role.get(key) {
            None => {
                let known: Vec<&str> = reader.role.keys().copied().collect();
                faults.push(Diagnostic::new(
                    "unknown_role",
                    expects.reader.at,
                    format!("`{}` goes by no `{key}`", expects.reader.value),
                    if known.is_empty() {
                        format!("write `expects: {}`", expects.reader.value)
                    } else {
                        format!("it goes by: {}", known.join(", "))
                    },
                ));
            }
            Some(Some(policy)) if !definition.always_checks(&name.value, policy) => {
                faults.push(Diagnostic::new(
                    "role_not_checked",
                    expects.reader.at,
                    format!(
                        "reports in `{}` are not held to `{key}`: nothing checks `{policy}`",
                        name.value
                    ),
                    format!(
                        "write `on: {{ report: [ {{ check: {policy} }}, … ] }}`, or take `{key}` away"
                    ),
                ));
            }
            Some(_) => {}
        }
    }
    if let Some(freezes) = &expects.role.freezes
        && role.shows.is_none()
    {
        faults.push(Diagnostic::new(
            "unknown_role",
            freezes.at,
            "a report freezes what it shows, and this one has nothing to show",
            "add `shows: new_failure`, or take `freezes` away",
        ));
    }
}

/// All labels that `pick` finds in the roles of the workflow.
fn declared<'a>(
    definition: &'a Definition,
    pick: impl Fn(&'a RoleDef) -> Option<&'a Located<String>>,
) -> Vec<&'a str> {
    definition
        .all_states()
        .filter_map(|(_, _, state)| pick(&state.expects.as_ref()?.role))
        .map(|label| label.value.as_str())
        .collect()
}

fn labels(definition: &Definition, role: &RoleDef, faults: &mut Vec<Diagnostic>) {
    let reports = declared(definition, |role| role.label.as_ref());
    let freezes = declared(definition, |role| role.freezes.as_ref());
    // A report that shows a failure is none that a commit could rest on.
    let pass = declared(definition, |role| {
        role.label.as_ref().filter(|_| role.shows.is_none())
    });
    for (key, named, known, declares) in [
        ("against", &role.against, &reports, "as"),
        ("of", &role.of, &pass, "as"),
        ("frozen", &role.frozen, &freezes, "freezes"),
    ] {
        let Some(named) = named else {
            continue;
        };
        if known.contains(&named.value.as_str()) {
            continue;
        }
        let help = match nearest(&named.value, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "give a report that label: `expects: {{ tests: {{ {declares}: {} }} }}`",
                named.value
            ),
        };
        faults.push(Diagnostic::new(
            "unknown_label",
            named.at,
            format!(
                "`{key}` names `{}`, and no report {}has that label",
                named.value,
                if key == "of" {
                    "in which all pass "
                } else {
                    ""
                }
            ),
            help,
        ));
    }
}

fn policies(
    definition: &Definition,
    state: &StateDef,
    name: &Located<String>,
    catalog: &Catalog,
    faults: &mut Vec<Diagnostic>,
) {
    let role = state.role();
    if let Some(route) = &state.route {
        for_edges(
            definition,
            &route.value,
            &role,
            &name.value,
            catalog,
            faults,
        );
    }
    // Elsewhere a `check` is misplaced, which is told where edges are looked at.
    if let Some(report) = state.on.get(Trigger::Report.name()) {
        for_edges(definition, report, &role, &name.value, catalog, faults);
    }
}

/// A policy that nothing can find lets everything pass, and nobody is told.
fn for_edges(
    definition: &Definition,
    edges: &Edges,
    role: &Role,
    place: &str,
    catalog: &Catalog,
    faults: &mut Vec<Diagnostic>,
) {
    for policy in edges.0.iter().flat_map(|edge| &edge.check.0) {
        let Some(finders) = catalog.policies.get(&policy.value) else {
            continue;
        };
        let mut found = finders.iter().filter(|finder| finder.finds_in(role));
        if let Some(finder) = found.next() {
            if let Some(needed) = finder.needs {
                needs(definition, needed, policy, "the policy", faults);
            }
            continue;
        }
        let ways: Vec<String> = finders.iter().map(ToString::to_string).collect();
        faults.push(Diagnostic::new(
            "policy_never_found",
            policy.at,
            format!(
                "nothing in `{place}` can find `{}`: the check would let everything pass",
                policy.value
            ),
            format!("it is found in a report of {}", ways.join(", or of ")),
        ));
    }
}
