//! The documentation: its tutorials are played, and its links lead somewhere.

mod links;
mod player;

use player::play;

#[test]
fn a_task_is_taken_through_test_by_test() {
    play("tutorials/tdd.md");
}

#[test]
fn a_request_becomes_reviewed_code() {
    play("tutorials/review.md");
}

#[test]
fn goals_become_batches() {
    play("tutorials/collab.md");
}
