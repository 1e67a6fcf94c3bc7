//! Sessions whose processes are killed, and sessions that many processes are at: each transition comes about once, none is
//! lost, and a call that has nothing to do touches nothing.

mod command;
mod crowd;
mod matrix;
mod stage;
mod still;
mod story;
mod whole;
