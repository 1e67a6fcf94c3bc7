//! Tests of the pure machine through its public face.

mod builtin;
mod checks;
mod decisions;
mod documented;
mod driver;
mod graph;
mod machines;
mod marked;
mod outcomes;
mod paths;
mod properties;
mod recovery;
mod review;
mod schema;
mod semantics;
mod session;
mod stepping;
mod stepping_checks;
mod support;
mod tdd;
mod unreadable;
mod walk;
