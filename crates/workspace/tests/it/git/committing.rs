//! The commit: exactly its paths, with the user's hooks.

use std::fs;
use std::time::{Duration, Instant};

use workspace::git::{CommitError, Repository};

use super::fixture::{ACTION, DATE, Fixture, path, paths};

fn refused(result: Result<workspace::git::CommitMade, CommitError>) -> CommitError {
    result.expect_err("this commit should not have been made")
}

#[test]
fn only_what_is_named() {
    let fixture = Fixture::new();
    fixture.write("staged", "s\n");
    fixture.git(&["add", "staged"]);
    fixture.write("left", "l\n");
    fixture.write("README.md", "changed\n");
    fixture.write("new", "n\n");
    let base = fixture.head();
    let made = fixture.commit(&["README.md", "new"]).unwrap();
    assert_eq!(made.oid, fixture.head());
    assert_eq!(made.commit.parents, [base]);
    assert_eq!(made.commit.author_date, DATE);
    assert_eq!(made.commit.message.trim_end(), "feat: a thing\n\nBody.");
    assert_eq!(made.paths, paths(&["README.md", "new"]));
    assert_eq!(fixture.short_status(), "A  staged\n?? left\n");
    let reflog = fixture.git(&["log", "-g", "-1", "--format=%gs"]);
    assert_eq!(reflog.trim_end(), format!("{ACTION}: feat: a thing"));
    // One that adds the name of the new file, and one that commits.
    assert_eq!(fixture.groups.borrow().len(), 2);
    assert!(!fixture.groups.borrow()[1].is_alive());
}

/// How a person likes to look at differences says nothing of what a commit changes.
#[test]
fn settings_of_diffs_do_not_matter() {
    for (key, value) in [
        ("diff.orderFile", "order"),
        ("diff.relative", "true"),
        ("diff.renames", "copies"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.noPrefix", "true"),
        ("log.showSignature", "true"),
        ("log.follow", "true"),
        ("log.diffMerges", "off"),
        ("format.pretty", "oneline"),
        ("diff.external", "false"),
    ] {
        let fixture = Fixture::new();
        fixture.write("order", "two\n");
        fixture.write("sub/one", "1\n");
        fixture.write("two", "2\n");
        fixture.git(&["config", key, value]);
        let made = fixture.commit(&["sub/one", "two"]);
        let made = made.unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_eq!(made.paths, paths(&["sub/one", "two"]), "{key}");
    }
}

#[test]
fn patterns_are_names() {
    let fixture = Fixture::new();
    for name in ["*", "a", "b", ":(glob)**", ":!a"] {
        fixture.write(name, "x\n");
    }
    let made = fixture.commit(&["*", ":(glob)**"]).unwrap();
    assert_eq!(made.paths, paths(&["*", ":(glob)**"]));
    assert_eq!(fixture.short_status(), "?? :!a\n?? a\n?? b\n");
}

#[test]
fn messages_come_out_as_they_are() {
    let fixture = Fixture::new();
    fixture.git(&["config", "commit.cleanup", "strip"]);
    fixture.git(&["config", "commit.verbose", "true"]);
    fixture.git(&["config", "commit.template", "/nowhere"]);
    fixture.git(&["config", "i18n.commitEncoding", "ISO-8859-1"]);
    fixture.git(&["config", "core.editor", "false"]);
    for message in [
        "# one\n\n#two\nthree",
        "-m x --amend $(id) `id`",
        "ünïcode 日本",
        "Signed-off-by: x\n\n---\ndiff --git a b",
    ] {
        fixture.write("README.md", message);
        let made = fixture
            .commit_with(&paths(&["README.md"]), |request| request.message = message)
            .unwrap();
        assert_eq!(made.commit.message.trim_end(), message);
        assert!(
            !fixture
                .git(&["cat-file", "commit", "HEAD"])
                .contains("encoding")
        );
    }
}

#[test]
fn a_sign_off_is_added_once_and_stands_with_the_other_trailers() {
    let fixture = Fixture::new();
    fixture.hook("commit-msg", "grep -q '^Signed-off-by: ' \"$1\"");
    let own = "Signed-off-by: Test Person <test@example.invalid>";
    for (message, before) in [
        ("feat: a", "feat: a\n\n"),
        (
            "feat: b\n\nTests: 1 passing",
            "feat: b\n\nTests: 1 passing\n",
        ),
        (
            "feat: c\n\nSigned-off-by: Test Person <test@example.invalid>",
            "feat: c\n\n",
        ),
    ] {
        fixture.write("README.md", message);
        let made = fixture
            .commit_with(&paths(&["README.md"]), |request| {
                request.message = message;
                request.signoff = true;
            })
            .unwrap();
        assert_eq!(made.commit.message.trim_end(), format!("{before}{own}"));
    }
    fixture.write("README.md", "unsigned");
    let error = refused(fixture.commit(&["README.md"]));
    assert_eq!(error.code(), "commit_refused");
}

#[test]
fn a_refusing_hook_leaves_everything_as_it_was() {
    let fixture = Fixture::new();
    fixture.write("staged", "s\n");
    fixture.write("theirs", "t\n");
    fixture.git(&["add", "staged"]);
    fixture.git(&["add", "--intent-to-add", "theirs"]);
    fixture.write("new", "n\n");
    fixture.write("README.md", "changed\n");
    fixture.hook(
        "pre-commit",
        "echo 'to stdout'; echo 'to stderr' >&2; exit 3",
    );
    let before = (
        fixture.short_status(),
        fixture.git(&["ls-files", "--stage"]),
        fixture.head(),
    );
    let error = refused(fixture.commit(&["new", "README.md", "theirs"]));
    assert_eq!(error.code(), "commit_refused");
    let CommitError::Refused {
        output,
        left_in_index,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(
        output.contains("to stdout") && output.contains("to stderr"),
        "{output}"
    );
    assert!(left_in_index.is_empty());
    assert_eq!(
        (
            fixture.short_status(),
            fixture.git(&["ls-files", "--stage"]),
            fixture.head()
        ),
        before
    );
    fs::remove_file(fixture.at(".git/hooks/pre-commit")).unwrap();
    fixture.commit(&["new", "README.md", "theirs"]).unwrap();
    assert_eq!(fixture.short_status(), "A  staged\n");
}

#[test]
fn a_refused_change_from_file_to_folder_leaves_the_index_as_it_was() {
    let fixture = Fixture::new();
    fixture.write("thing", "file\n");
    fixture.commit_all("thing");
    fs::remove_file(fixture.at("thing")).unwrap();
    fixture.write("thing/inside", "x\n");
    fixture.hook("pre-commit", "exit 1");
    let before = fs::read(fixture.at(".git/index")).unwrap();
    let error = refused(fixture.commit(&["thing", "thing/inside"]));
    assert!(error.to_string().contains("without a word"), "{error}");
    assert_eq!(fs::read(fixture.at(".git/index")).unwrap(), before);
}

#[test]
fn an_index_that_somebody_changed_meanwhile_is_not_put_back() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.write("theirs", "x\n");
    // The hook plays another program that writes the index while ours runs.
    fixture.hook(
        "pre-commit",
        "unset GIT_INDEX_FILE; cp .git/index ../copy; GIT_INDEX_FILE=../copy git add theirs; cp ../copy .git/index; exit 1",
    );
    let error = refused(fixture.commit(&["new"]));
    assert!(
        matches!(error, CommitError::Refused { ref left_in_index, .. } if left_in_index.is_empty())
    );
    assert_eq!(fixture.short_status(), "A  theirs\n?? new\n");
}

#[test]
fn long_hook_output_is_cut_in_the_middle() {
    let fixture = Fixture::new();
    fixture.write("README.md", "changed\n");
    fixture.hook("pre-commit", "echo begin; i=0; while [ $i -lt 4000 ]; do echo 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; i=$((i+1)); done; echo end; exit 1");
    let error = refused(fixture.commit(&["README.md"]));
    let CommitError::Refused { output, .. } = error else {
        panic!("{error}")
    };
    assert!(output.starts_with("begin\n") && output.ends_with("end"));
    assert!(output.len() < 70_000 && output.contains("left out"));
}

#[test]
fn hooks_may_change_the_message_and_the_files() {
    let fixture = Fixture::new();
    fixture.write("code", "one\n");
    fixture.commit_all("code");
    fixture.write("code", "two\n");
    fixture.write("new", "three\n");
    fixture.write("staged", "s\n");
    fixture.git(&["add", "staged"]);
    fixture.hook("pre-commit", "for f in code new; do tr a-z A-Z < $f > $f.tmp && mv $f.tmp $f && git add $f; done; echo log > CHANGES; git add CHANGES");
    fixture.hook("commit-msg", "echo 'Reviewed-by: hook' >> \"$1\"");
    let made = fixture.commit(&["code", "new"]).unwrap();
    assert!(made.commit.message.contains("Reviewed-by: hook"));
    assert_eq!(made.paths, paths(&["CHANGES", "code", "new"]));
    assert_eq!(fixture.git(&["show", "HEAD:code"]), "TWO\n");
    assert_eq!(fixture.short_status(), "A  staged\n");
}

#[test]
fn hooks_see_the_usual_meaning_of_paths_and_the_users_locale() {
    let fixture = Fixture::new();
    fixture.write("README.md", "changed\n");
    fixture.hook("pre-commit", "env > ../seen");
    let mut environment = fixture.environment();
    environment.push(("LC_ALL".into(), Some("xx_YY.UTF-8".into())));
    environment.push(("GIT_LITERAL_PATHSPECS".into(), Some("1".into())));
    let repository = Repository::discover_with_env(fixture.root(), environment).unwrap();
    let fixture = fixture.with(repository);
    fixture.commit(&["README.md"]).unwrap();
    let seen = fs::read_to_string(fixture.outside().join("seen")).unwrap();
    assert!(seen.contains("LC_ALL=xx_YY.UTF-8\n"));
    assert!(!seen.contains("PATHSPECS"));
    assert!(seen.contains("GIT_EDITOR=:\n"));
}

#[test]
fn nothing_to_commit() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n");
    fixture.commit_all("ignore");
    fixture.write("other", "x\n");
    fixture.write("a.log", "x\n");
    assert_eq!(
        refused(fixture.commit(&["README.md"])).code(),
        "nothing_to_commit"
    );
    assert_eq!(refused(fixture.commit(&["a.log"])).code(), "commit_refused");
    assert_eq!(
        refused(fixture.commit(&["absent"])).code(),
        "commit_refused"
    );
    fixture.git(&["add", "other"]);
    assert_eq!(refused(fixture.commit(&[])).code(), "invalid_commit");
    let bad_date = |request: &mut workspace::git::CommitRequest<'_>| request.author_date = "now";
    assert_eq!(
        refused(fixture.commit_with(&paths(&["other"]), bad_date)).code(),
        "invalid_commit"
    );
    assert_eq!(fixture.short_status(), "A  other\n");
}

#[test]
fn not_where_it_should_be() {
    let fixture = Fixture::new();
    let first = fixture.head();
    fixture.write("README.md", "second\n");
    fixture.commit_all("second");
    fixture.write("README.md", "third\n");
    let names = paths(&["README.md"]);
    let error = refused(fixture.commit_on(&first, "topic", &names, |_| {}));
    assert_eq!(error.code(), "head_moved");
    let error = refused(fixture.commit_on(&fixture.head(), "elsewhere", &names, |_| {}));
    assert_eq!(error.code(), "wrong_branch");
    assert!(error.suggestion().unwrap().contains("git switch elsewhere"));
    fixture.git(&["switch", "--quiet", "--detach"]);
    let error = refused(fixture.commit_on(&fixture.head(), "topic", &names, |_| {}));
    assert!(matches!(
        error,
        CommitError::WrongBranch { actual: None, .. }
    ));
}

#[test]
fn somebody_elses_lock() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fs::write(fixture.at(".git/index.lock"), "").unwrap();
    let error = refused(fixture.commit(&["new"]));
    assert_eq!(error.code(), "git_busy");
    assert!(error.to_string().contains("index.lock"));
    assert!(fixture.at(".git/index.lock").exists());
    fs::remove_file(fixture.at(".git/index.lock")).unwrap();
    assert_eq!(fixture.short_status(), "?? new\n");
}

#[test]
fn a_commit_that_takes_too_long_is_ended_with_all_it_started() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.hook(
        "pre-commit",
        "trap '' TERM; echo waiting; (trap '' TERM; sleep 300) & sleep 300",
    );
    let begun = Instant::now();
    let error = refused(fixture.commit_with(&paths(&["new"]), |request| {
        request.timeout = Duration::from_millis(300);
    }));
    assert!(begun.elapsed() < Duration::from_mins(1));
    assert_eq!(error.code(), "commit_timeout");
    assert!(error.to_string().contains("waiting"), "{error}");
    let group = fixture.groups.borrow()[0].clone();
    assert!(group.wait(Duration::from_secs(20)));
    assert_eq!(fixture.short_status(), "?? new\n");
    assert!(fixture.repository.index_lock().unwrap().is_none());
    fs::remove_file(fixture.at(".git/hooks/pre-commit")).unwrap();
    fixture.commit(&["new"]).unwrap();
}

#[test]
fn a_git_that_somebody_killed_leaves_nothing_behind() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.hook("pre-commit", "kill -9 $PPID; sleep 300");
    let before = fs::read(fixture.at(".git/index")).unwrap();
    let error = refused(fixture.commit(&["new"]));
    assert!(
        matches!(error, CommitError::Refused { exit: None, .. }),
        "{error}"
    );
    assert_eq!(fs::read(fixture.at(".git/index")).unwrap(), before);
    let locks = fs::read_dir(fixture.at(".git")).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|extension| extension == "lock")
    });
    assert_eq!(locks.count(), 0);
    fs::remove_file(fixture.at(".git/hooks/pre-commit")).unwrap();
    fixture.commit(&["new"]).unwrap();
}

#[test]
fn a_hook_that_hangs_after_the_commit_does_not_unmake_it() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.hook("post-commit", "sleep 300");
    let made = fixture
        .commit_with(&paths(&["new"]), |request| {
            request.timeout = Duration::from_secs(1);
        })
        .unwrap();
    assert!(made.timed_out);
    assert_eq!(made.oid, fixture.head());
}

#[test]
fn a_hook_that_leaves_something_running_is_not_waited_for() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.hook("post-commit", "sleep 30 &");
    let begun = Instant::now();
    fixture.commit(&["new"]).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
    let group = fixture.groups.borrow()[1].clone();
    assert!(group.is_alive() && group.wait_for_leader(Duration::ZERO));
    assert!(!group.wait(Duration::ZERO));
    fixture.try_git(&["-c", &format!("alias.end=!kill -9 -- -{}", group.id), "end"]);
}

#[test]
fn in_a_linked_worktree() {
    let fixture = Fixture::new();
    fixture.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let linked =
        Repository::discover_with_env(&fixture.outside().join("side"), fixture.environment())
            .unwrap();
    let fixture = fixture.with(linked);
    fixture.write("new", "x\n");
    let made = fixture.commit(&["new"]).unwrap();
    assert_eq!(fixture.repository.resolve("side").unwrap(), Some(made.oid));
    assert_eq!(fixture.short_status(), "");
}

#[test]
fn with_syncing_and_packed_references() {
    let fixture = Fixture::new();
    fixture.git(&["pack-refs", "--all"]);
    fixture.write("new", "x\n");
    let made = fixture.commit(&["new"]).unwrap();
    assert_eq!(made.oid, fixture.head());
}

#[test]
fn renames_and_deletions() {
    let fixture = Fixture::new();
    fixture.write("a", "1\n2\n3\n4\n");
    fixture.write("b", "b\n");
    fixture.write("c", "c\n");
    fixture.commit_all("base");
    fixture.git(&["mv", "a", "moved"]);
    fs::remove_file(fixture.at("b")).unwrap();
    fixture.git(&["rm", "--quiet", "--cached", "c"]);
    fixture.write("c", "changed\n");
    let changed = fixture.all_changed();
    assert_eq!(changed.len(), 4);
    let made = fixture.commit_paths(&changed).unwrap();
    assert_eq!(made.paths, paths(&["a", "b", "c", "moved"]));
    assert_eq!(fixture.short_status(), "");
    assert!(fixture.repository.is_tracked(&path("c")).unwrap());
}

#[test]
fn signing_that_fails_is_a_refusal() {
    let fixture = Fixture::new();
    fixture.git(&["config", "commit.gpgSign", "true"]);
    fixture.git(&["config", "gpg.program", "false"]);
    fixture.write("new", "x\n");
    assert_eq!(refused(fixture.commit(&["new"])).code(), "commit_refused");
    assert_eq!(fixture.short_status(), "?? new\n");
}

#[test]
fn what_git_reads_lies_where_no_git_sees_it_and_is_gone_afterwards() {
    let fixture = Fixture::new();
    let seen = fixture.outside().join("seen");
    fixture.hook(
        "pre-commit",
        &format!(
            "{{ ls .git | grep tramline; git status --porcelain; git fsck --no-dangling; }} >{0} 2>&1",
            seen.display()
        ),
    );
    // As a process that was killed in a commit leaves it.
    let left = fixture.at(".git/tramline-scratch-dead");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("lock"), "").unwrap();
    fs::write(left.join("message"), "feat: never made\n").unwrap();
    fixture.write("new", "x\n");
    fixture.commit(&["new"]).unwrap();
    let seen = fs::read_to_string(&seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("tramline-scratch-"), "{seen}");
    assert_eq!(lines[1..], ["A  new"], "{seen}");
    let names = fs::read_dir(fixture.at(".git"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.contains("tramline")).count(), 0);
    assert_eq!(fixture.short_status(), "");
}
