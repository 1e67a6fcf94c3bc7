//! Sessions of skills whose processes are killed, and those that many processes are at: a skill counts once, a status is stored
//! or not, a task graph is taken in or not, and whoever goes on comes to the same end.

mod crowd;
mod matrix;
mod race;
mod served;
mod stage;
mod story;
mod whole;
