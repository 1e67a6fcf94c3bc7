//! The names in the index: those that are read from its file are those that git lists.

use std::fs;

use workspace::git::TreeStatus;

use super::fixture::{Fixture, path};

/// A repository with names of all kinds, in which something is new, ignored, deleted, staged and added by name only.
fn full(fixture: Fixture) -> Fixture {
    let names = [
        "a",
        "a.b",
        "a0",
        "dir/one",
        "dir/two",
        "gone",
        "z",
        "dir/deeper/ünïcode name",
    ];
    for name in names {
        fixture.write(name, "text\n");
    }
    fixture.write(&format!("{}end", "long/".repeat(60)), "text\n");
    fixture.write(".gitignore", "ignored\n");
    fixture.commit_all("all");
    for name in ["ignored", "new/file", "staged", "by-name"] {
        fixture.write(name, "text\n");
    }
    fixture.git(&["add", "staged"]);
    fixture.git(&["add", "--intent-to-add", "by-name"]);
    fixture.git(&["rm", "--quiet", "--cached", "a0"]);
    fixture.remove("gone");
    fixture
}

/// What git lists, then what is listed while no git can work on the repository.
fn listed_with_and_without_git(fixture: &Fixture) -> (Vec<String>, Result<Vec<String>, String>) {
    let status: TreeStatus = fixture.status().unwrap();
    let by_git = fixture.files(None).unwrap();
    let (head, away) = (fixture.at(".git/HEAD"), fixture.at(".git/away"));
    fs::rename(&head, &away).unwrap();
    let without = fixture.files(Some(&status));
    if without.is_ok() {
        let mut names: Vec<&str> = by_git.iter().map(String::as_str).collect();
        names.extend(["ignored", "dir"]);
        for name in names {
            let mut new = status.changes.iter().filter(|change| change.untracked);
            let is_new = new.any(|change| change.path == path(name));
            let is_tracked = !is_new && !["a0", "ignored", "dir"].contains(&name);
            assert_eq!(
                fixture.is_tracked(&path(name)).unwrap(),
                is_tracked,
                "{name}"
            );
        }
    }
    fs::rename(&away, &head).unwrap();
    (by_git, without.map_err(|error| error.to_string()))
}

#[test]
fn every_version_of_an_index_is_read_without_git() {
    for version in ["2", "3", "4"] {
        for format in ["sha1", "sha256"] {
            let fixture = full(Fixture::unborn(&[&format!("--object-format={format}")]));
            fixture.git(&["update-index", "--index-version", version]);
            let (by_git, without) = listed_with_and_without_git(&fixture);
            assert_eq!(without, Ok(by_git), "version {version}, {format}");
        }
    }
}

#[test]
fn a_conflict_is_one_name() {
    let fixture = Fixture::new();
    for (branch, text) in [("other", "theirs\n"), ("topic", "ours\n")] {
        fixture.try_git(&["switch", "--quiet", "--create", branch]);
        fixture.git(&["switch", "--quiet", branch]);
        fixture.write("README.md", text);
        fixture.commit_all(branch);
    }
    assert!(!fixture.try_git(&["merge", "--quiet", "other"]));
    let (by_git, without) = listed_with_and_without_git(&fixture);
    assert_eq!(by_git, ["README.md"]);
    assert_eq!(without, Ok(by_git));
}

/// Git is asked there, which cannot answer while it is kept from the repository, and is right when it is not.
#[test]
fn an_index_that_is_not_in_one_file_is_left_to_git() {
    let split = full(Fixture::new());
    split.git(&["update-index", "--split-index"]);
    split.write("later", "text\n");
    split.git(&["add", "later"]);

    let sparse = Fixture::new();
    for name in ["in/file", "out/one", "out/two"] {
        sparse.write(name, "text\n");
    }
    sparse.commit_all("all");
    sparse.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);

    let torn = full(Fixture::new());

    for (fixture, is_tracked) in [(&split, "later"), (&sparse, "out/one")] {
        let (_, without) = listed_with_and_without_git(fixture);
        assert!(without.is_err(), "{without:?}");
        assert!(fixture.is_tracked(&path(is_tracked)).unwrap());
    }
    let index = fs::read(torn.at(".git/index")).unwrap();
    let status = torn.status().unwrap();
    let whole = torn.files(None).unwrap();
    // Names stand at multiples of eight: with seven, each place in one is met.
    fs::remove_file(torn.at(".git/HEAD")).unwrap();
    for end in (0..index.len()).step_by(7) {
        fs::write(torn.at(".git/index"), &index[..end]).unwrap();
        // What is cut off may be none of the names.
        if let Ok(names) = torn.files(Some(&status)) {
            assert_eq!(names, whole, "{end} bytes");
        }
    }
}
