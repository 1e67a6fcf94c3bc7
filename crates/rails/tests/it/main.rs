//! Tests of the pure machine through its public face.

mod builtin;
mod support;
