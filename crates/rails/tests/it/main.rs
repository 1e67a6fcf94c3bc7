//! Tests of the pure machine through its public face.

mod builtin;
mod checks;
mod driver;
mod graph;
mod machines;
mod marked;
mod outcomes;
mod paths;
mod properties;
mod schema;
mod semantics;
mod support;
mod tdd;
mod unreadable;
mod walk;
