//! What a run costs: a transition against a bare append, its length, a step of a session, a task of a graph.

mod collab;
mod engine;
mod length;
mod project;
mod session;
mod stage;
mod transition;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    engine::transition,
    transition::transition,
    transition::with_git,
    length::next,
    session::step,
    collab::one,
    collab::all
);
criterion_main!(benches);
