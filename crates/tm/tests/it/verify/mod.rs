//! Commits that were earned, and such as only look so: `tm verify`, bundles, notes, and what CI makes of them.

mod bundles;
mod ci;
mod environment;
mod journals;
mod notes;
mod trees;
mod untested;
