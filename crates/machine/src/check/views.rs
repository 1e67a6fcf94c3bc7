//! Views: the one that is named is known, its runs have what it speaks of, and its phases are what it takes them for.

use super::catalog::Catalog;
use super::resources::needs;
use crate::definition::{Definition, GENERIC};
use crate::diagnostic::Diagnostic;
use text::nearest;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let Some(name) = &definition.view else {
        return;
    };
    if name.value == GENERIC {
        return;
    }
    let Some(view) = catalog.views.get(name.value.as_str()) else {
        let known = || catalog.views.keys().copied().chain([GENERIC]);
        faults.push(Diagnostic::new(
            "unknown_view",
            name.at,
            format!("there is no view `{}`", name.value),
            nearest(&name.value, known()).map_or_else(
                || {
                    let all: Vec<&str> = known().collect();
                    format!("those that there are: {}", all.join(", "))
                },
                |near| format!("did you mean `{near}`?"),
            ),
        ));
        return;
    };
    for resource in view.needs {
        needs(definition, resource, name, "the view", faults);
    }
    for (_, state, defined) in definition.all_states() {
        let asks = defined.work.as_ref().and_then(|work| {
            let file = work.prompt.as_ref().or(work.response.as_ref());
            file.or(work.ask.as_ref())
        });
        if let Some(asks) = asks.filter(|_| view.tells_all) {
            faults.push(Diagnostic::new(
                "view_without_files",
                asks.at,
                format!(
                    "the view `{}` hands out by its calls what there is to do, and `{}` is asked for in files",
                    name.value, state.value
                ),
                "leave `view` out, and drive it with `tm run`; or have it reported",
            ));
        }
        let Some(phase) = &defined.phase else {
            continue;
        };
        let Some(expected) = view.phases.get(phase.as_str()) else {
            continue;
        };
        // A state where nobody reports belongs to whatever phase it says.
        if defined.work.is_some() && !expected.finds_in(&definition.role(&state.value)) {
            faults.push(Diagnostic::new(
                "phase_without_role",
                state.at,
                format!(
                    "the view `{}` takes the phase `{phase}` for reports of {expected}, and `{}` expects others",
                    name.value, state.value
                ),
                format!("say so under `expects`, or give `{}` another `phase`", state.value),
            ));
        }
    }
}
