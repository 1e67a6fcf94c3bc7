//! Discovery, identity, HEAD, and what is under way.

use std::fs;

use workspace::git::{FingerprintRequest, GitErrorKind, Operation, Repository};

use super::fixture::{Fixture, path};

#[test]
fn discovery_from_a_subfolder() {
    let fixture = Fixture::new();
    fixture.write("a/b/c.txt", "x");
    let found = Repository::discover_with_env(&fixture.at("a/b"), fixture.environment()).unwrap();
    assert_eq!(found.top_level(), fs::canonicalize(fixture.root()).unwrap());
    assert_eq!(found.git_dir(), found.top_level().join(".git"));
    assert_eq!(found.common_dir(), found.git_dir());
    let again = Repository::at(
        found.top_level().into(),
        found.git_dir().into(),
        found.common_dir().into(),
    );
    assert_eq!(again.head().unwrap(), found.head().unwrap());
}

#[test]
fn discovery_with_a_line_break_in_the_name() {
    let fixture = Fixture::new();
    let folder = fixture.outside().join("two\nlines");
    fs::create_dir(&folder).unwrap();
    super::fixture::run(&folder, &fixture.environment(), &["init", "--quiet"]);
    let found = Repository::discover_with_env(&folder, fixture.environment()).unwrap();
    assert_eq!(found.top_level(), fs::canonicalize(folder).unwrap());
}

#[test]
fn discovery_refuses() {
    let fixture = Fixture::new();
    let discover = |name: &str| {
        Repository::discover_with_env(&fixture.outside().join(name), fixture.environment())
            .unwrap_err()
    };
    assert_eq!(discover("home").code(), "not_a_repository");
    assert_eq!(discover("tree/.git").code(), "not_a_repository");
    assert!(discover("home").suggestion().unwrap().contains("git init"));
    fixture.git(&["init", "--quiet", "--bare", "../bare.git"]);
    assert_eq!(discover("bare.git").code(), "bare_repository");
    let mut environment = fixture.environment();
    environment.push(("PATH".into(), Some(fixture.outside().into())));
    let error = Repository::discover_with_env(fixture.root(), environment).unwrap_err();
    assert_eq!(error.code(), "git_missing");
}

#[test]
fn what_a_caller_set_for_git_is_taken_away() {
    let fixture = Fixture::new();
    let mut environment = fixture.environment();
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
    ] {
        environment.push((name.into(), Some("/nowhere".into())));
    }
    environment.push(("GIT_AUTHOR_DATE".into(), Some("garbage".into())));
    environment.push(("GIT_GLOB_PATHSPECS".into(), Some("1".into())));
    let repository = Repository::discover_with_env(fixture.root(), environment).unwrap();
    fixture.write("new.txt", "x\n");
    assert_eq!(repository.status().unwrap().changes.len(), 1);
    let status = repository.status().unwrap();
    repository
        .fingerprint(&status, &FingerprintRequest::default())
        .unwrap();
    assert!(repository.is_tracked(&path("README.md")).unwrap());
}

#[test]
fn identity() {
    let fixture = Fixture::new();
    let identity = fixture.repository.identity().unwrap();
    assert_eq!(
        (identity.name.as_str(), identity.email.as_str()),
        ("Test Person", "test@example.invalid")
    );
    let missing = |settings: &str, expected: &[&str]| {
        fs::write(fixture.settings(), settings).unwrap();
        let error = fixture.repository.identity().unwrap_err();
        assert_eq!(
            error.kind(),
            &GitErrorKind::NoIdentity {
                missing: match expected {
                    ["user.name"] => vec!["user.name"],
                    ["user.email"] => vec!["user.email"],
                    _ => vec!["user.name", "user.email"],
                }
            }
        );
        assert!(
            expected.iter().all(|name| error.to_string().contains(name)),
            "{error}"
        );
    };
    missing("", &["user.name", "user.email"]);
    missing("[user]\n\tname = A\n", &["user.email"]);
    missing("[user]\n\temail = a@example.invalid\n", &["user.name"]);

    fs::write(fixture.settings(), "[user]\n\tname = A\n").unwrap();
    let mut environment = fixture.environment();
    environment.push(("EMAIL".into(), Some("env@example.invalid".into())));
    let repository = Repository::discover_with_env(fixture.root(), environment).unwrap();
    assert_eq!(repository.identity().unwrap().email, "env@example.invalid");
}

#[test]
fn head_in_each_of_its_states() {
    let unborn = Fixture::unborn(&[]);
    let head = unborn.repository.head().unwrap();
    assert_eq!((head.oid, head.branch.as_deref()), (None, Some("topic")));
    let status = unborn.repository.status().unwrap();
    assert_eq!(
        (status.head, status.branch.as_deref()),
        (None, Some("topic"))
    );

    let fixture = Fixture::new();
    let check = |branch: Option<&str>| {
        let head = fixture.repository.head().unwrap();
        assert_eq!(
            (head.oid, head.branch.as_deref()),
            (Some(fixture.head()), branch)
        );
        let status = fixture.repository.status().unwrap();
        assert_eq!(
            (status.head, status.branch.as_deref()),
            (Some(fixture.head()), branch)
        );
    };
    check(Some("topic"));
    fixture.git(&["pack-refs", "--all"]);
    check(Some("topic"));
    fixture.git(&["switch", "--quiet", "--detach"]);
    check(None);
}

#[test]
fn references_that_are_no_plain_files() {
    let probe = Fixture::new();
    let target = probe.outside().join("probe").to_string_lossy().into_owned();
    // Only newer versions of git know the format.
    if !probe.try_git(&["init", "--quiet", "--ref-format=reftable", &target]) {
        return;
    }
    let fixture = Fixture::unborn(&["--ref-format=reftable"]);
    let unborn = fixture.repository.head().unwrap();
    assert_eq!(
        (unborn.oid, unborn.branch.as_deref()),
        (None, Some("topic"))
    );
    fixture.write("README.md", "hello\n");
    fixture.commit_all("first");
    fixture.write("README.md", "changed\n");
    let made = fixture.commit_with(&[path("README.md")], |_| {}).unwrap();
    let head = fixture.repository.head().unwrap();
    assert_eq!(
        (head.oid, head.branch.as_deref()),
        (Some(made.oid), Some("topic"))
    );
}

#[test]
fn resolving() {
    let fixture = Fixture::new();
    let head = fixture.head();
    assert_eq!(
        fixture.repository.resolve("HEAD").unwrap(),
        Some(head.clone())
    );
    assert_eq!(
        fixture.repository.resolve(&head.as_str()[..8]).unwrap(),
        Some(head.clone())
    );
    for none in [
        "nothing",
        "--all",
        "",
        "HEAD~5",
        &"1".repeat(40),
        "a b",
        "@{-1}",
        "a\0b",
    ] {
        assert_eq!(fixture.repository.resolve(none).unwrap(), None, "{none}");
    }
    assert_eq!(
        fixture.repository.resolve_tree("HEAD").unwrap(),
        Some(fixture.repository.commit_info(&head).unwrap().tree)
    );
}

#[test]
fn operations_under_way() {
    let check = |expected: Operation, begin: &dyn Fn(&Fixture)| {
        let fixture = Fixture::new();
        fixture.write("file", "base\n");
        fixture.commit_all("base");
        fixture.git(&["switch", "--quiet", "--create", "other"]);
        fixture.write("file", "theirs\n");
        fixture.commit_all("theirs");
        fixture.git(&["switch", "--quiet", "topic"]);
        fixture.write("file", "ours\n");
        fixture.commit_all("ours");
        assert_eq!(fixture.repository.operation_under_way().unwrap(), None);
        begin(&fixture);
        assert_eq!(
            fixture.repository.operation_under_way().unwrap(),
            Some(expected)
        );
        let ends = expected.ends();
        assert!(ends.iter().all(|end| end[0] == expected.to_string()));
    };
    check(Operation::Merge, &|fixture| {
        assert!(!fixture.try_git(&["merge", "other"]));
        let status = fixture.repository.status().unwrap();
        assert_eq!(status.unmerged, [path("file")]);
        assert!(
            fixture
                .repository
                .fingerprint(&status, &FingerprintRequest::default())
                .is_err()
        );
    });
    check(Operation::Rebase, &|fixture| {
        assert!(!fixture.try_git(&["rebase", "other"]));
    });
    check(Operation::Rebase, &|fixture| {
        assert!(!fixture.try_git(&["rebase", "--apply", "other"]));
    });
    check(Operation::CherryPick, &|fixture| {
        assert!(!fixture.try_git(&["cherry-pick", "other"]));
    });
    check(Operation::Revert, &|fixture| {
        assert!(!fixture.try_git(&["revert", "other"]));
    });
    check(Operation::Bisect, &|fixture| {
        fixture.git(&["bisect", "start"]);
    });
    check(Operation::ApplyMailbox, &|fixture| {
        let patch = fixture.git(&["format-patch", "--stdout", "topic~1..other"]);
        fs::write(fixture.outside().join("patch"), patch).unwrap();
        assert!(!fixture.try_git(&["am", "../patch"]));
    });
    // Between two commits of a series, no commit is named as the one being picked.
    check(Operation::CherryPick, &|fixture| {
        assert!(!fixture.try_git(&["cherry-pick", "other", "topic~1"]));
        fs::remove_file(fixture.at(".git/CHERRY_PICK_HEAD")).unwrap();
    });
}

#[test]
fn history() {
    let fixture = Fixture::new();
    let base = fixture.head();
    fixture.write("a", "1\n");
    let one = fixture.commit_all("one\n\nbody\nmore");
    fixture.write("b", "1\n");
    fixture.git(&["mv", "a", "c"]);
    let two = fixture.commit_all("two");
    let commits = fixture.repository.commits_between(&base, &two).unwrap();
    assert_eq!(
        commits.iter().map(|commit| &commit.oid).collect::<Vec<_>>(),
        [&one, &two]
    );
    assert_eq!(commits[0].parents.as_slice(), std::slice::from_ref(&base));
    assert_eq!(commits[0].subject, "one");
    assert_eq!(commits[0].message.trim_end(), "one\n\nbody\nmore");
    assert_eq!(commits[0].author, "Test Person <test@example.invalid>");
    assert_eq!(commits[1], fixture.repository.commit_info(&two).unwrap());
    assert!(
        fixture
            .repository
            .commits_between(&two, &two)
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        fixture.repository.changed_paths(&one, &two).unwrap(),
        super::fixture::paths(&["a", "b", "c"])
    );
    assert!(fixture.repository.is_ancestor(&base, &two).unwrap());
    assert!(!fixture.repository.is_ancestor(&two, &base).unwrap());
}
