//! Tests of the pure machine through its public face.

mod builtin;
mod checks;
mod driver;
mod machines;
mod marked;
mod properties;
mod semantics;
mod support;
mod unreadable;
mod walk;
