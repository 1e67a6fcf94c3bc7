//! What the evidence of a run rests on: suites that are run, trees they run in, tests within sources, and what a test
//! command really is.

mod definition;
#[path = "../git/fixture.rs"]
#[expect(
    dead_code,
    reason = "commits are made and looked for by the tests of git"
)]
mod fixture;
mod inline_tests;
mod setup;
mod suite;
mod worktree;
