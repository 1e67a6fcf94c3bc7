//! The program as it dies: at every step, at random, with git living on or dying too. The run goes on from where it
//! was, each commit is made once, and nothing is left lying about.

mod crowd;
mod ending;
mod executor;
mod git;
mod matrix;
mod power_cut;
mod random;
mod stage;
mod turns;
