//! Working trees of one repository, found without asking git.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use workspace::config::{Environment, find_root};
use workspace::git::{in_other_worktrees, is_linked, share_repository};

use super::fixture::Fixture;

fn linked(fixture: &Fixture, folder: &Path, options: &[&str]) -> PathBuf {
    let add = ["worktree", "add", "--quiet", "--detach"];
    let folder = folder.to_str().unwrap();
    fixture.git(&[options, &add, &[folder]].concat());
    fs::canonicalize(folder).unwrap()
}

#[test]
fn each_working_tree_knows_the_others() {
    let fixture = Fixture::new();
    fixture.write("packages/one/README.md", "one\n");
    fixture.commit_all("packages");
    let main = fixture.top_level().to_owned();
    let inside = linked(&fixture, &main.join(".claude/worktrees/a"), &[]);
    // Newer versions of git can be told to write relative paths.
    let relative = ["-c", "worktree.useRelativePaths=true"];
    let beside = linked(&fixture, &fixture.outside().join("beside"), &relative);
    let gone = linked(&fixture, &fixture.outside().join("gone"), &[]);
    fs::remove_dir_all(&gone).unwrap();

    let of_main = in_other_worktrees(&main);
    let expected = BTreeSet::from([&inside, &beside]);
    assert_eq!(BTreeSet::from_iter(&of_main), expected);
    let of_inside = in_other_worktrees(&inside);
    assert_eq!(of_inside, [main.clone(), beside.clone()]);
    let folder = in_other_worktrees(&beside.join("packages/one"));
    let expected = [&main, &inside].map(|tree| tree.join("packages/one"));
    assert_eq!(folder, expected);
    // A path that is compared as text has no slash at its end.
    let mut texts = of_inside.iter().map(|folder| folder.to_str().unwrap());
    assert!(texts.all(|folder| !folder.ends_with('/')));
    assert!(is_linked(&inside) && is_linked(&beside) && !is_linked(&main));
    assert!(share_repository(&main, &inside) && share_repository(&inside, &beside));
}

#[test]
fn other_repositories_are_no_working_trees_of_this_one() {
    let (one, other) = (Fixture::new(), Fixture::new());
    let (one_top, other_top) = (one.top_level(), other.top_level());
    assert!(!share_repository(one_top, other_top));
    assert_eq!(in_other_worktrees(one_top), [] as [PathBuf; 0]);
    let plain = one.outside().join("plain");
    fs::create_dir_all(&plain).unwrap();
    assert!(!is_linked(&plain) && !share_repository(&plain, &plain));
    assert_eq!(in_other_worktrees(&plain), [] as [PathBuf; 0]);
    // A repository inside of another one, whose git folder lies in that one: a submodule.
    let inner = one_top.join("inner");
    let git = one_top.join(".git/modules/inner");
    let git = git.to_str().unwrap();
    fs::create_dir_all(one_top.join(".git/modules")).unwrap();
    one.git(&["init", "--quiet", "--separate-git-dir", git, "inner"]);
    assert!(!is_linked(&inner) && !share_repository(&inner, one_top));
}

#[test]
fn a_linked_worktree_is_no_part_of_the_project_that_it_lies_in() {
    let fixture = Fixture::new();
    let main = fixture.top_level().to_owned();
    // What git ignores is only in the main working tree.
    fs::create_dir(main.join(".taskmaster")).unwrap();
    let inside = linked(&fixture, &main.join(".claude/worktrees/a"), &[]);
    fs::create_dir(inside.join("src")).unwrap();
    let environment = Environment::default();
    for (folder, root) in [
        (inside.join("src"), &inside),
        (inside.clone(), &inside),
        (main.join(".claude"), &main),
    ] {
        assert_eq!(find_root(&folder, &environment).path, *root, "{folder:?}");
    }
    fs::create_dir(inside.join("src/.taskmaster")).unwrap();
    let expected = inside.join("src");
    assert_eq!(find_root(&inside.join("src"), &environment).path, expected);
}
