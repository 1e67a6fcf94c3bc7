//! The load-time proof: what is wrong with a definition is found before a run starts, so that it
//! cannot happen in the middle of one. One file per rule.

pub mod catalog;

mod edges;
mod entries;
mod guards;
mod messages;
mod names;
mod order;
mod reach;
mod resources;
mod roles;
mod routers;
mod sets;
mod shape;
mod steps;
mod undo;
mod views;

pub use catalog::Catalog;

use crate::definition::Definition;
use crate::diagnostic::Diagnostic;

/// Every fault of `definition`, in no particular order.
pub fn check(definition: &Definition, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    shape::check(definition, &mut faults);
    names::check(definition, catalog, &mut faults);
    edges::check(definition, &mut faults);
    messages::check(definition, catalog, &mut faults);
    roles::check(definition, catalog, &mut faults);
    resources::check(definition, catalog, &mut faults);
    views::check(definition, catalog, &mut faults);
    if faults.is_empty() {
        // What follows reasons about paths, which needs every name to mean something.
        guards::check(definition, catalog, &mut faults);
        reach::check(definition, &mut faults);
        order::check(definition, catalog, &mut faults);
        undo::check(definition, catalog, &mut faults);
    }
    if faults.is_empty() {
        routers::check(definition, catalog, &mut faults);
    }
    faults
}
