//! The documentation: its tutorials are played, its links lead somewhere, and the tests that it names are there.

mod links;
mod player;

use std::fs;
use std::path::Path;

use player::play;

#[test]
fn each_tutorial_goes_as_it_is_told() {
    for page in ["tdd", "review", "collab"] {
        play(&format!("tutorials/{page}.md"));
    }
}

#[test]
fn each_defence_has_the_test_that_the_page_names() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(crates.join("../docs/security.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let tests = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let mut found = 0;
    for place in tests.flat_map(|tests| tests.split("; ")) {
        let mut names = place.split('`').skip(1).step_by(2);
        let Some(file) = names.next() else {
            continue;
        };
        let file = crates.join(file.replace("tm::", "tm/tests/it/"));
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{place}: {error}"));
        for name in names {
            assert!(text.contains(&format!("fn {name}(")), "{place}");
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}
