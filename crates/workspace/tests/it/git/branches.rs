//! Branches against the real thing.

use std::fs;

use workspace::git::{BranchConflict, Repository};

use super::fixture::Fixture;

fn create(repository: &Repository, name: &str, at: &workspace::git::Oid) -> bool {
    let created = repository.create_branch_and_switch(name, at, &|_| {});
    created.is_ok()
}

#[test]
fn names() {
    let fixture = Fixture::new();
    for name in ["a", "feat/1-x", "é", "a.b", "(detached)"] {
        assert!(create(&fixture, name, &fixture.head()), "{name}");
    }
    for name in "|-x|a..b|a b|a~1|@{-1}|@|a.lock|/a|a/|a\nb|a\0b|HEAD|x:y".split('|') {
        let error = fixture.switch(name, &|_| {}).unwrap_err();
        assert_eq!(error.code(), "bad_name", "{name}");
    }
}

#[test]
fn making_and_changing() {
    let fixture = Fixture::new();
    // A failing hook after the change is no failure.
    fixture.hook("post-checkout", "exit 1");
    let base = fixture.head();
    fixture.write("README.md", "changed\n");
    for _ in 0..2 {
        assert!(create(&fixture, "work/one", &base));
        let head = fixture.repository.head().unwrap();
        assert_eq!(head.branch.as_deref(), Some("work/one"));
    }
    fixture.remove(".git/hooks/post-checkout");
    // What is not committed yet is not lost.
    fixture.git(&["branch", "other"]);
    fixture.commit_all("work");
    fixture.write("README.md", "not committed\n");
    let error = fixture.switch("topic", &|_| {}).unwrap_err();
    assert!(error.to_string().contains("README.md"), "{error}");
    fixture.git(&["checkout", "--quiet", "."]);
    let branches = fixture.branches("origin", &[]).unwrap();
    assert_eq!(branches.local, ["other", "topic", "work/one"]);
    assert!(branches.has("work/one") && !branches.has("work"));
    let conflict = BranchConflict::PrefixIsBranch("topic".to_owned());
    assert_eq!(branches.conflict("topic/x"), Some(conflict));

    assert_eq!(fixture.unmerged_commits("work/one", &base).unwrap(), 1);
    fixture.switch("topic", &|_| {}).unwrap();
    assert!(!create(&fixture, "work/one", &base));
    let kept = fixture.delete_branch("work/one", false, &|_| {});
    assert_eq!(kept.unwrap_err().code(), "command_failed");
    let is_there = || fixture.branch_exists("work/one").unwrap();
    assert!(is_there() && !fixture.branch_exists("work").unwrap());
    fixture.delete_branch("work/one", true, &|_| {}).unwrap();
    assert!(!is_there() && fixture.switch("work/one", &|_| {}).is_err());
}

#[test]
fn default_branch() {
    const REMOTE: &str = "refs/remotes/origin/develop/x";
    let fixture = Fixture::new();
    let default_of = |remote| {
        let branches = fixture.branches(remote, &[]).unwrap();
        fixture.default_branch(&branches).unwrap()
    };
    assert_eq!(default_of("origin"), None);
    let head = format!("update-ref {REMOTE} HEAD; symbolic-ref refs/remotes/origin/HEAD {REMOTE}");
    for (steps, expected) in [
        ("branch master", "master"),
        ("branch main", "main"),
        ("branch trunk; config init.defaultBranch trunk", "trunk"),
        (&head, "develop/x"),
        // What it points to was pruned: it is still what the remote called so.
        (&format!("update-ref -d {REMOTE}"), "develop/x"),
    ] {
        for words in steps.split("; ") {
            fixture.git(&words.split(' ').collect::<Vec<_>>());
        }
        assert_eq!(default_of("origin").as_deref(), Some(expected), "{steps}");
    }
    assert_eq!(default_of("upstream").as_deref(), Some("trunk"));
}

#[test]
fn a_branch_in_another_worktree() {
    let fixture = Fixture::new();
    for here in ["topic", "nothing"] {
        assert_eq!(fixture.worktree_of_branch(here).unwrap(), None);
    }
    fixture.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let side = fs::canonicalize(fixture.outside().join("side")).unwrap();
    let found = fixture.worktree_of_branch("side").unwrap().unwrap();
    assert_eq!(fs::canonicalize(found).unwrap(), side);
    let linked = fixture.discover(&side).unwrap();
    let is_elsewhere = |branch| linked.worktree_of_branch(branch).unwrap().is_some();
    assert!(is_elsewhere("topic") && !is_elsewhere("side"));
    assert_eq!(linked.common_dir(), fixture.common_dir());
    assert_ne!(linked.git_dir(), fixture.git_dir());
}

#[test]
fn a_commit_is_checked_out_without_a_branch() {
    let fixture = Fixture::new();
    let base = fixture.head();
    fixture.write("README.md", "changed\n");
    fixture.commit_all("work");
    for _ in 0..2 {
        fixture.switch_detached(&base, &|_| {}).unwrap();
        let head = fixture.repository.head().unwrap();
        assert_eq!((head.branch, head.oid), (None, Some(base.clone())));
    }
    let missing = "1".repeat(40).parse().unwrap();
    assert!(fixture.switch_detached(&missing, &|_| {}).is_err());
}
