//! The documentation: its tutorials are played, and its links lead somewhere.

mod links;
mod player;

use player::play;

#[test]
fn each_tutorial_goes_as_it_is_told() {
    for page in ["tdd", "review", "collab"] {
        play(&format!("tutorials/{page}.md"));
    }
}
