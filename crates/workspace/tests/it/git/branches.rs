//! Branches against the real thing.

use std::fs;

use workspace::git::{BranchConflict, Repository};

use super::fixture::Fixture;

#[test]
fn names() {
    let fixture = Fixture::new();
    for name in ["a", "feat/1-x", "é", "a.b", "(detached)"] {
        fixture
            .repository
            .create_branch_and_switch(name, &fixture.head(), &|_| {})
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in [
        "", "-x", "a..b", "a b", "a~1", "@{-1}", "@", "a.lock", "/a", "a/", "a\nb", "a\0b", "HEAD",
        "x:y",
    ] {
        let error = fixture.repository.switch(name, &|_| {}).unwrap_err();
        assert_eq!(error.code(), "bad_branch_name", "{name}");
    }
}

#[test]
fn making_and_changing() {
    let fixture = Fixture::new();
    let repository = &fixture.repository;
    let base = fixture.head();
    fixture.write("README.md", "changed\n");
    repository
        .create_branch_and_switch("work/one", &base, &|_| {})
        .unwrap();
    repository
        .create_branch_and_switch("work/one", &base, &|_| {})
        .unwrap();
    assert_eq!(
        repository.head().unwrap().branch.as_deref(),
        Some("work/one")
    );
    assert!(repository.branch_exists("work/one").unwrap());
    assert!(!repository.branch_exists("work").unwrap());
    let branches = repository.branches("origin", &[]).unwrap();
    assert_eq!(branches.local, ["topic", "work/one"]);
    assert!(branches.has("work/one") && !branches.has("work"));
    assert_eq!(
        branches.conflict("work"),
        Some(BranchConflict::IsFolderOf("work/one".to_owned()))
    );
    assert_eq!(
        branches.conflict("topic/x"),
        Some(BranchConflict::PrefixIsBranch("topic".to_owned()))
    );

    fixture.commit_all("work");
    assert_eq!(repository.unmerged_commits("work/one", &base).unwrap(), 1);
    repository.switch("topic", &|_| {}).unwrap();
    assert!(
        repository
            .create_branch_and_switch("work/one", &base, &|_| {})
            .is_err()
    );
    assert_eq!(
        repository
            .delete_branch("work/one", false, &|_| {})
            .unwrap_err()
            .code(),
        "git_refused"
    );
    repository.delete_branch("work/one", true, &|_| {}).unwrap();
    assert!(!repository.branch_exists("work/one").unwrap());
    assert!(repository.switch("work/one", &|_| {}).is_err());
}

#[test]
fn a_failing_hook_after_the_change_is_no_failure() {
    let fixture = Fixture::new();
    fixture.hook("post-checkout", "exit 1");
    fixture
        .repository
        .create_branch_and_switch("work", &fixture.head(), &|_| {})
        .unwrap();
    assert_eq!(
        fixture.repository.head().unwrap().branch.as_deref(),
        Some("work")
    );
}

#[test]
fn changing_refuses_to_lose_work() {
    let fixture = Fixture::new();
    fixture.git(&["switch", "--quiet", "--create", "other"]);
    fixture.write("README.md", "other\n");
    fixture.commit_all("other");
    fixture.write("README.md", "not committed\n");
    let error = fixture.repository.switch("topic", &|_| {}).unwrap_err();
    assert!(error.to_string().contains("README.md"), "{error}");
}

#[test]
fn default_branch() {
    let fixture = Fixture::new();
    let default_of = |remote| {
        let branches = fixture.repository.branches(remote, &[]).unwrap();
        fixture.repository.default_branch(&branches).unwrap()
    };
    let default = || default_of("origin");
    assert_eq!(default(), None);
    fixture.git(&["branch", "master"]);
    assert_eq!(default().as_deref(), Some("master"));
    fixture.git(&["branch", "main"]);
    assert_eq!(default().as_deref(), Some("main"));
    fixture.git(&["branch", "trunk"]);
    fixture.git(&["config", "init.defaultBranch", "trunk"]);
    assert_eq!(default().as_deref(), Some("trunk"));
    fixture.git(&["update-ref", "refs/remotes/origin/develop/x", "HEAD"]);
    fixture.git(&[
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/develop/x",
    ]);
    assert_eq!(default().as_deref(), Some("develop/x"));
    assert_eq!(default_of("upstream").as_deref(), Some("trunk"));
    // What it points to was pruned: it is still what the remote called so.
    fixture.git(&["update-ref", "-d", "refs/remotes/origin/develop/x"]);
    assert_eq!(default().as_deref(), Some("develop/x"));
}

#[test]
fn a_branch_in_another_worktree() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.repository.worktree_of_branch("topic").unwrap(),
        None
    );
    assert_eq!(
        fixture.repository.worktree_of_branch("nothing").unwrap(),
        None
    );
    fixture.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let side = fs::canonicalize(fixture.outside().join("side")).unwrap();
    assert_eq!(
        fixture
            .repository
            .worktree_of_branch("side")
            .unwrap()
            .map(|path| fs::canonicalize(path).unwrap()),
        Some(side.clone())
    );
    let linked = Repository::discover_with_env(&side, fixture.environment()).unwrap();
    assert_eq!(linked.worktree_of_branch("side").unwrap(), None);
    assert!(linked.worktree_of_branch("topic").unwrap().is_some());
    assert_eq!(linked.common_dir(), fixture.repository.common_dir());
    assert_ne!(linked.git_dir(), fixture.repository.git_dir());
}

#[test]
fn a_commit_is_checked_out_without_a_branch() {
    let fixture = Fixture::new();
    let repository = &fixture.repository;
    let base = fixture.head();
    repository
        .create_branch_and_switch("work", &base, &|_| {})
        .unwrap();
    fixture.write("README.md", "changed\n");
    fixture.commit_all("work");
    for _ in 0..2 {
        repository.switch_detached(&base, &|_| {}).unwrap();
        let head = repository.head().unwrap();
        assert_eq!((head.branch, head.oid), (None, Some(base.clone())));
    }
    let missing = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(repository.switch_detached(&missing, &|_| {}).is_err());
}
