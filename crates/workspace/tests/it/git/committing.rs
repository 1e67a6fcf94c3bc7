//! The commit: exactly its paths, with the user's hooks.

use std::fs;
use std::time::{Duration, Instant};

use workspace::git::{CommitError, CommitRequest, Oid};

use super::fixture::{ACTION, DATE, Fixture, path, paths};

#[test]
fn only_what_is_named() {
    let fixture = Fixture::dirty();
    fixture.write("staged", "s\n");
    fixture.git(&["add", "staged"]);
    fixture.git(&["pack-refs", "--all"]);
    for name in ["left", "README.md", "*", ":(glob)**", ":!a"] {
        fixture.write(name, "changed\n");
    }
    let base = fixture.head();
    // Patterns are names.
    let named = ["*", ":(glob)**", "README.md", "new"];
    let made = fixture.commit(&named).unwrap();
    let expected = (&fixture.head(), &vec![base]);
    assert_eq!((&made.oid, &made.commit.parents), expected);
    assert_eq!(made.commit.author_date, DATE);
    assert_eq!(made.commit.message.trim_end(), "feat: a thing\n\nBody.");
    assert_eq!(made.paths, paths(&named));
    assert_eq!(fixture.short_status(), "A  staged\n?? :!a\n?? left\n");
    let reflog = fixture.git(&["log", "-g", "-1", "--format=%gs"]);
    assert_eq!(reflog.trim_end(), format!("{ACTION}: feat: a thing"));
    // One that adds the name of the new file, and one that commits.
    let groups = fixture.groups.borrow();
    assert!(groups.len() == 2 && !groups[1].is_alive());
}

/// How a person likes to look at differences says nothing of what a commit changes.
#[test]
fn settings_of_diffs_do_not_matter() {
    let fixture = Fixture::new();
    for setting in "diff.orderFile=order diff.relative=true diff.renames=copies diff.ignoreSubmodules=all diff.noPrefix=true \
                    log.showSignature=true log.follow=true log.diffMerges=off format.pretty=oneline diff.external=false"
        .split_whitespace()
    {
        let (key, value) = setting.split_once('=').unwrap();
        fixture.write("order", "two\n");
        fixture.write("sub/one", setting);
        fixture.write("two", setting);
        fixture.config(&[(key, value)]);
        let made = fixture.commit(&["sub/one", "two"]);
        let made = made.unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_eq!(made.paths, paths(&["sub/one", "two"]), "{key}");
        fixture.git(&["config", "--unset", key]);
    }
}

#[test]
fn messages_come_out_as_they_are() {
    let fixture = Fixture::new();
    fixture.config(&[
        ("commit.cleanup", "strip"),
        ("commit.verbose", "true"),
        ("commit.template", "/nowhere"),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("core.editor", "false"),
    ]);
    let commit = |message, signoff| {
        fixture.write("README.md", message);
        let made = fixture.commit_with(&paths(&["README.md"]), |request| {
            request.message = message;
            request.signoff = signoff;
        });
        made.unwrap().commit.message.trim_end().to_owned()
    };
    for message in [
        "# one\n\n#two\nthree",
        "-m x --amend $(id) `id`",
        "ünïcode 日本",
        "Signed-off-by: x\n\n---\ndiff --git a b",
    ] {
        assert_eq!(commit(message, false), message);
        let raw = fixture.git(&["cat-file", "commit", "HEAD"]);
        assert!(!raw.contains("encoding"), "{raw}");
    }
    // A sign-off is added once, and stands with the other trailers.
    fixture.hook("commit-msg", "grep -q '^Signed-off-by: ' \"$1\"");
    let own = "Signed-off-by: Test Person <test@example.invalid>";
    let signed = "feat: c\n\nSigned-off-by: Test Person <test@example.invalid>";
    for (message, before) in [
        ("feat: a", "feat: a\n\n"),
        ("b: b\n\nTests: 1 passing", "b: b\n\nTests: 1 passing\n"),
        (signed, "feat: c\n\n"),
    ] {
        assert_eq!(commit(message, true), format!("{before}{own}"));
    }
    fixture.write("README.md", "unsigned");
    assert_eq!(fixture.refused(&["README.md"]), "commit_refused");
}

#[test]
fn a_refusing_hook_leaves_everything_as_it_was() {
    let fixture = Fixture::dirty();
    fixture.write("thing", "file\n");
    fixture.commit_all("thing");
    fixture.remove("thing");
    for name in ["thing/inside", "new", "staged", "theirs", "README.md"] {
        fixture.write(name, "changed\n");
    }
    fixture.git(&["add", "staged"]);
    fixture.git(&["add", "--intent-to-add", "theirs"]);
    // What it said is cut in the middle.
    let script = "echo 'to stdout'; yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -n 4000; echo 'to stderr' >&2; exit 3";
    fixture.hook("pre-commit", script);
    let before = (fixture.short_status(), fixture.index(), fixture.head());
    let names = ["new", "README.md", "theirs", "thing", "thing/inside"];
    let error = fixture.commit(&names).unwrap_err();
    assert_eq!(error.code(), "commit_refused");
    let CommitError::Refused {
        output,
        left_in_index,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(output.starts_with("to stdout\n") && output.ends_with("to stderr"));
    assert!(output.len() < 70_000 && output.contains("left out"));
    assert_eq!(left_in_index, &[]);
    assert_eq!(
        (fixture.short_status(), fixture.index(), fixture.head()),
        before
    );
    fixture.remove(".git/hooks/pre-commit");
    fixture.config(&[("commit.gpgSign", "true"), ("gpg.program", "false")]);
    assert_eq!(fixture.refused(&names), "commit_refused");
    fixture.config(&[("commit.gpgSign", "false")]);
    fixture.write(".git/index.lock", "");
    assert_eq!(fixture.refused(&names), "lock_timeout");
    fixture.remove(".git/index.lock");
    fixture.commit(&names).unwrap();
    assert_eq!(fixture.short_status(), "A  staged\n");
}

#[test]
fn an_index_that_somebody_changed_meanwhile_is_not_put_back() {
    let fixture = Fixture::dirty();
    fixture.write("theirs", "x\n");
    // The hook plays another program that writes the index while ours runs.
    let script = "unset GIT_INDEX_FILE; cp .git/index ../copy; GIT_INDEX_FILE=../copy git add theirs; cp ../copy .git/index; exit 1";
    fixture.hook("pre-commit", script);
    let Err(CommitError::Refused { left_in_index, .. }) = fixture.commit(&["new"]) else {
        panic!("it is refused")
    };
    assert_eq!(left_in_index, []);
    assert_eq!(fixture.short_status(), "A  theirs\n?? new\n");
}

#[test]
fn hooks_may_change_the_message_and_the_files() {
    let fixture = Fixture::new();
    fixture.write("code", "one\n");
    fixture.commit_all("code");
    for name in ["code", "new", "staged"] {
        fixture.write(name, "two\n");
    }
    fixture.git(&["add", "staged"]);
    fixture.hook("pre-commit", "for f in code new; do tr a-z A-Z < $f > $f.tmp && mv $f.tmp $f && git add $f; done; echo log > CHANGES; git add CHANGES; env > ../seen");
    fixture.hook("commit-msg", "echo 'Reviewed-by: hook' >> \"$1\"");
    let variables = [("LC_ALL", "xx_YY.UTF-8"), ("GIT_LITERAL_PATHSPECS", "1")];
    let fixture = fixture.with_variables(&variables);
    let made = fixture.commit(&["code", "new"]).unwrap();
    assert!(made.commit.message.contains("Reviewed-by: hook"));
    assert_eq!(made.paths, paths(&["CHANGES", "code", "new"]));
    assert_eq!(fixture.git(&["show", "HEAD:code"]), "TWO\n");
    assert_eq!(fixture.short_status(), "A  staged\n");
    // They see the usual meaning of paths, and the user's locale.
    let seen = fs::read_to_string(fixture.outside().join("seen")).unwrap();
    assert!(seen.contains("LC_ALL=xx_YY.UTF-8\n") && seen.contains("GIT_EDITOR=:\n"));
    assert!(!seen.contains("PATHSPECS"));
}

#[test]
fn nothing_to_commit_and_not_where_it_should_be() {
    let fixture = Fixture::new();
    let first = fixture.head();
    fixture.write(".gitignore", "*.log\n");
    fixture.commit_all("ignore");
    fixture.write("other", "x\n");
    fixture.write("a.log", "x\n");
    fixture.git(&["add", "other"]);
    for (names, code) in [
        (&["README.md"][..], "interrupted"),
        (&["a.log"], "commit_refused"),
        (&["absent"], "commit_refused"),
        (&[], "interrupted"),
    ] {
        assert_eq!(fixture.refused(names), code, "{names:?}");
    }
    let bad_date = |request: &mut CommitRequest<'_>| request.author_date = "now";
    let refused = fixture.commit_with(&paths(&["other"]), bad_date);
    assert_eq!(refused.unwrap_err().code(), "interrupted");
    let on = |parent: &Oid, branch| {
        let refused = fixture.commit_on(parent, branch, &paths(&["other"]), |_| {});
        refused.unwrap_err()
    };
    let head = fixture.head();
    assert_eq!(on(&first, "topic").code(), "interrupted");
    assert_eq!(on(&head, "elsewhere").code(), "wrong_branch");
    fixture.git(&["switch", "--quiet", "--detach"]);
    let detached = on(&head, "topic");
    assert!(matches!(
        detached,
        CommitError::WrongBranch { actual: None, .. }
    ));
    assert_eq!(fixture.short_status(), "A  other\n");
}

#[test]
fn a_commit_that_takes_too_long_is_ended_with_all_it_started() {
    testkit::by_chance!(3);
    let fixture = Fixture::dirty();
    let within = |millis| {
        let timeout = Duration::from_millis(millis);
        fixture.commit_with(&paths(&["new"]), |request| request.timeout = timeout)
    };
    let script = "trap '' TERM; echo waiting; (trap '' TERM; sleep 300) & sleep 300";
    fixture.hook("pre-commit", script);
    let begun = Instant::now();
    let error = within(300).unwrap_err();
    assert!(begun.elapsed() < Duration::from_mins(1));
    assert_eq!(error.code(), "interrupted");
    assert!(error.to_string().contains("waiting"), "{error}");
    let group = fixture.groups.borrow()[0].clone();
    assert!(group.wait(Duration::from_secs(20)));
    assert_eq!(fixture.short_status(), "?? new\n");
    assert!(fixture.index_lock().unwrap().is_none());
    // A hook that hangs after the commit does not unmake it.
    fixture.remove(".git/hooks/pre-commit");
    fixture.hook("post-commit", "sleep 300");
    let made = within(1000).unwrap();
    assert_eq!((made.timed_out, made.oid), (true, fixture.head()));
}

#[test]
fn a_git_that_somebody_killed_leaves_nothing_behind() {
    let fixture = Fixture::dirty();
    fixture.hook("pre-commit", "kill -9 $PPID; sleep 300");
    let before = fixture.index();
    let killed = fixture.commit(&["new"]);
    assert!(matches!(
        killed,
        Err(CommitError::Refused { exit: None, .. })
    ));
    assert_eq!(fixture.index(), before);
    assert_eq!(fixture.in_git_folder(".lock"), [""; 0]);
    fixture.remove(".git/hooks/pre-commit");
    fixture.commit(&["new"]).unwrap();
}

#[test]
fn a_hook_that_leaves_something_running_is_not_waited_for() {
    let fixture = Fixture::dirty();
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
fn renames_and_deletions_in_a_linked_worktree() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        fixture.write(name, &format!("{name}\n2\n3\n4\n"));
    }
    fixture.commit_all("base");
    fixture.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    let linked = fixture.discover(&fixture.outside().join("side")).unwrap();
    let fixture = fixture.with(linked);
    fixture.git(&["mv", "a", "moved"]);
    fixture.remove("b");
    fixture.git(&["rm", "--quiet", "--cached", "c"]);
    fixture.write("c", "changed\n");
    let changed = fixture.all_changed();
    assert_eq!(changed.len(), 4);
    let made = fixture.commit_paths(&changed).unwrap();
    assert_eq!(made.paths, paths(&["a", "b", "c", "moved"]));
    assert_eq!(fixture.resolve("side").unwrap(), Some(made.oid));
    assert_eq!(fixture.short_status(), "");
    assert!(fixture.is_tracked(&path("c")).unwrap());
}

#[test]
fn what_git_reads_lies_where_no_git_sees_it_and_is_gone_afterwards() {
    let fixture = Fixture::dirty();
    fixture.hook("pre-commit", "{ ls .git | grep tramline; git status --porcelain; git fsck --no-dangling; } >../seen 2>&1");
    // As a process that was killed in a commit leaves it.
    fixture.write(".git/tramline-scratch-dead/lock", "");
    fixture.write(".git/tramline-scratch-dead/message", "feat: never made\n");
    fixture.commit(&["new"]).unwrap();
    let seen = fs::read_to_string(fixture.outside().join("seen")).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("tramline-scratch-"), "{seen}");
    assert_eq!(lines[1..], ["A  new"], "{seen}");
    assert_eq!(fixture.in_git_folder("tramline"), [""; 0]);
    assert_eq!(fixture.short_status(), "");
}
