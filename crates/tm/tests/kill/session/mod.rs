//! Sessions whose processes are killed, and those that many processes are at: each transition is taken once, and whoever goes
//! on comes to the same end.

mod crowd;
mod matrix;
mod stage;
mod story;
