//! Processes that die, and many that are at the same thing. Chance chooses some of the points at which one can be killed, and
//! a failure says by which seed: `TRAMLINE_TEST_SEED` has the same ones chosen, `TRAMLINE_TEST_ALL=1` has all of them tried.

mod collab;
mod matrix;
mod place;
mod run;
mod session;
mod whole;
