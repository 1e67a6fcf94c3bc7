//! What the evidence of a run rests on: suites that are run, trees they run in, tests within sources, and what a test
//! command really is.

mod bench;
mod definition;
mod identity;
mod setup;
mod suite;
