//! Discovery, identity, HEAD, and what is under way.

use std::fs;

use workspace::git::{FingerprintRequest, GitErrorKind, Oid, Operation, Repository};

use super::fixture::{Fixture, path, paths};

#[test]
fn discovery_from_a_subfolder_and_with_a_line_break_in_the_name() {
    let fixture = Fixture::new();
    fixture.write("a/b/c.txt", "x");
    let found = fixture.discover(&fixture.at("a/b")).unwrap();
    assert_eq!(found.top_level(), fs::canonicalize(fixture.root()).unwrap());
    assert_eq!(found.git_dir(), found.top_level().join(".git"));
    assert_eq!(found.common_dir(), found.git_dir());
    let places = [found.top_level(), found.git_dir(), found.common_dir()];
    let [top, git, common] = places.map(Into::into);
    let again = Repository::at(top, git, common);
    assert_eq!(again.head().unwrap(), found.head().unwrap());

    let folder = fixture.outside().join("two\nlines");
    fixture.git(&["init", "--quiet", folder.to_str().unwrap()]);
    let found = fixture.discover(&folder).unwrap();
    assert_eq!(found.top_level(), fs::canonicalize(folder).unwrap());
}

#[test]
fn discovery_refuses() {
    let fixture = Fixture::new();
    fixture.git(&["init", "--quiet", "--bare", "../bare.git"]);
    for (name, code) in [
        ("home", "not_a_repository"),
        ("tree/.git", "not_a_repository"),
        ("bare.git", "not_a_repository"),
    ] {
        let error = fixture.discover(&fixture.outside().join(name)).unwrap_err();
        assert_eq!(error.code(), code, "{name}");
    }
    let nowhere = fixture.outside().to_str().unwrap();
    let error = fixture.discover_with(&[("PATH", nowhere)]).unwrap_err();
    assert_eq!(error.code(), "command_failed");
}

#[test]
fn what_a_caller_set_for_git_is_taken_away() {
    let names = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR GIT_NAMESPACE GIT_AUTHOR_DATE GIT_GLOB_PATHSPECS";
    let variables: Vec<_> = names.split(' ').map(|name| (name, "/nowhere")).collect();
    let fixture = Fixture::dirty().with_variables(&variables);
    let status = fixture.status().unwrap();
    assert_eq!(status.changes.len(), 1);
    let request = FingerprintRequest::default();
    fixture.fingerprint(&status, &request).unwrap();
    assert!(fixture.is_tracked(&path("README.md")).unwrap());
}

#[test]
fn identity() {
    let fixture = Fixture::new();
    let identity = fixture.identity().unwrap();
    let known = (&*identity.name, &*identity.email);
    assert_eq!(known, ("Test Person", "test@example.invalid"));
    for (settings, missing) in [
        ("", &["user.name", "user.email"][..]),
        ("[user]\n\temail = a@example.invalid\n", &["user.name"]),
        ("[user]\n\tname = A\n", &["user.email"]),
    ] {
        fs::write(fixture.settings(), settings).unwrap();
        let error = fixture.identity().unwrap_err();
        let missing = missing.to_vec();
        assert_eq!(error.kind(), &GitErrorKind::NoIdentity { missing });
    }
    let fixture = fixture.with_variables(&[("EMAIL", "env@example.invalid")]);
    assert_eq!(fixture.identity().unwrap().email, "env@example.invalid");
}

/// The head by itself and as the status has it are the same: its commit, and its branch.
fn head(fixture: &Fixture) -> (Option<Oid>, Option<String>) {
    let head = fixture.repository.head().unwrap();
    let status = fixture.status().unwrap();
    assert_eq!((&head.oid, &head.branch), (&status.head, &status.branch));
    (head.oid, head.branch)
}

#[test]
fn head_in_each_of_its_states() {
    let topic = Some("topic".to_owned());
    assert_eq!(head(&Fixture::unborn(&[])), (None, topic.clone()));
    let fixture = Fixture::new();
    for (step, branch) in [
        (&["status"][..], topic.clone()),
        (&["pack-refs", "--all"], topic),
        (&["switch", "--quiet", "--detach"], None),
    ] {
        fixture.git(step);
        assert_eq!(head(&fixture), (Some(fixture.head()), branch));
    }
}

#[test]
fn references_that_are_no_plain_files() {
    let probe = Fixture::new();
    let target = probe.outside().join("probe").to_string_lossy().into_owned();
    // Only newer versions of git know the format.
    if !probe.try_git(&["init", "--quiet", "--ref-format=reftable", &target]) {
        return;
    }
    let topic = Some("topic".to_owned());
    let fixture = Fixture::unborn(&["--ref-format=reftable"]);
    assert_eq!(head(&fixture), (None, topic.clone()));
    fixture.write("README.md", "hello\n");
    fixture.commit_all("first");
    fixture.write("README.md", "changed\n");
    let made = fixture.commit(&["README.md"]).unwrap();
    assert_eq!(head(&fixture), (Some(made.oid), topic));
}

#[test]
fn resolving() {
    let fixture = Fixture::new();
    let head = fixture.head();
    for name in ["HEAD", &head.as_str()[..8]] {
        assert_eq!(fixture.resolve(name).unwrap().as_ref(), Some(&head));
    }
    let absent = "1".repeat(40);
    for none in [
        "nothing", "--all", "", "HEAD~5", &absent, "a b", "@{-1}", "a\0b",
    ] {
        assert_eq!(fixture.resolve(none).unwrap(), None, "{none}");
    }
    let tree = fixture.resolve_tree("HEAD").unwrap();
    assert_eq!(tree, Some(fixture.commit_info(&head).unwrap().tree));
}

#[test]
fn operations_under_way() {
    let fixture = Fixture::new();
    let commit = |text: &str| {
        fixture.write("file", text);
        fixture.commit_all(text)
    };
    commit("base\n");
    fixture.git(&["switch", "--quiet", "--create", "other"]);
    commit("theirs\n");
    fixture.git(&["switch", "--quiet", "topic"]);
    let ours = commit("ours\n");
    let patch = fixture.git(&["format-patch", "--stdout", "topic~1..other"]);
    fs::write(fixture.outside().join("patch"), patch).unwrap();
    let picked = Operation::CherryPick;
    for (expected, begin, end) in [
        (Operation::Merge, "merge other", "merge --abort"),
        (Operation::Rebase, "rebase other", "rebase --abort"),
        (Operation::Rebase, "rebase --apply other", "rebase --abort"),
        (picked, "cherry-pick other", "cherry-pick --abort"),
        (Operation::Revert, "revert other", "revert --abort"),
        (Operation::Bisect, "bisect start", "bisect reset"),
        (Operation::ApplyMailbox, "am ../patch", "am --abort"),
        (picked, "cherry-pick other topic~1", "cherry-pick --quit"),
    ] {
        let run = |words: &str| fixture.try_git(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(fixture.operation_under_way().unwrap(), None, "{begin}");
        assert_eq!(run(begin), expected == Operation::Bisect);
        // Between two commits of a series, no commit is named as the one being picked.
        if begin.ends_with("topic~1") {
            fixture.remove(".git/CHERRY_PICK_HEAD");
        }
        assert_eq!(fixture.operation_under_way().unwrap(), Some(expected));
        let ends = expected.ends();
        assert!(ends.iter().all(|end| end[0] == expected.to_string()));
        if expected == Operation::Merge {
            let status = fixture.status().unwrap();
            assert_eq!(status.unmerged, [path("file")]);
            let request = FingerprintRequest::default();
            assert!(fixture.fingerprint(&status, &request).is_err());
        }
        assert!(run(end), "{end}");
    }
    assert_eq!(fixture.head(), ours);
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
    let commits = fixture.commits_between(&base, &two).unwrap();
    let [first, second] = &*commits else {
        panic!("{commits:?}");
    };
    assert_eq!((&first.oid, &second.oid), (&one, &two));
    assert_eq!(
        (&*first.subject, &first.parents),
        ("one", &vec![base.clone()])
    );
    assert_eq!(first.message.trim_end(), "one\n\nbody\nmore");
    assert_eq!(first.author, "Test Person <test@example.invalid>");
    assert_eq!(second, &fixture.commit_info(&two).unwrap());
    assert_eq!(fixture.commits_between(&two, &two).unwrap(), []);
    let changed = fixture.changed_paths(&one, &two).unwrap();
    assert_eq!(changed, paths(&["a", "b", "c"]));
    for (old, new, is_older) in [(&base, &two, true), (&two, &base, false)] {
        assert_eq!(fixture.is_ancestor(old, new).unwrap(), is_older);
    }
}
