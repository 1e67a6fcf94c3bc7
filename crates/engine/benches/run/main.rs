//! What a run costs: a transition against a bare append, and its length.

mod engine;
mod length;
mod stage;
mod transition;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    engine::transition,
    transition::transition,
    transition::with_git,
    length::next
);
criterion_main!(benches);
