//! After a crash: was it made?

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use workspace::git::{CommitFate, CommitIntentRef, Oid, ProcessGroup};

use super::fixture::{ACTION, DATE, Fixture, paths};

fn find(fixture: &Fixture, parent: &Oid) -> CommitFate {
    find_with(fixture, parent, None)
}

fn find_with(fixture: &Fixture, parent: &Oid, process_group: Option<&ProcessGroup>) -> CommitFate {
    let intent = CommitIntentRef {
        parent,
        author_date: DATE,
        reflog_action: ACTION,
        branch: "topic",
        process_group,
    };
    fixture.repository.find_our_commit(&intent).unwrap()
}

fn oid_of(found: CommitFate) -> Oid {
    match found {
        CommitFate::Made(commit) => commit.oid,
        other => panic!("{other:?}"),
    }
}

/// A fixture with a commit of ours, its parent, and its id.
fn with_our_commit() -> (Fixture, Oid, Oid) {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    let made = fixture.commit(&["new"]).unwrap();
    (fixture, parent, made.oid)
}

#[test]
fn made() {
    let (fixture, parent, ours) = with_our_commit();
    assert_eq!(oid_of(find(&fixture, &parent)), ours);
    assert_eq!(find(&fixture, &ours), CommitFate::NotMade);
    fixture.write("more", "x\n");
    fixture.commit_all("by somebody");
    assert_eq!(oid_of(find(&fixture, &parent)), ours);
    fixture.git(&["switch", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(oid_of(find(&fixture, &parent)), ours);
}

#[test]
fn made_with_hooks_that_change_it() {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    fixture.hook("pre-commit", "echo y > new; git add new");
    fixture.hook("commit-msg", "echo other > \"$1\"");
    let ours = fixture.commit(&["new"]).unwrap().oid;
    assert_eq!(oid_of(find(&fixture, &parent)), ours);
}

#[test]
fn without_a_reflog() {
    let fixture = Fixture::new();
    fixture.git(&["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(fixture.at(".git/logs")).unwrap();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    let ours = fixture.commit(&["new"]).unwrap().oid;
    assert_eq!(oid_of(find(&fixture, &parent)), ours);
}

#[test]
fn not_made() {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    fixture.git(&["add", "--intent-to-add", "new"]);
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    assert_eq!(
        fixture
            .repository
            .take_back_intent_to_add(&paths(&["new", "README.md"]))
            .unwrap(),
        paths(&["new"])
    );
    assert_eq!(fixture.short_status(), "?? new\n");
    fixture.commit_all("by somebody, on the same parent");
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    fixture.git(&["switch", "--quiet", "--create", "other"]);
    fixture.git(&["branch", "--quiet", "-D", "topic"]);
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
}

#[test]
fn by_somebody_with_our_date() {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    fixture.git(&["add", "new"]);
    fixture.git(&[
        "commit",
        "--quiet",
        "--message",
        "x",
        &format!("--date=@{DATE}"),
    ]);
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
}

#[test]
fn made_and_rewritten() {
    let (fixture, parent, ours) = with_our_commit();
    let check = |fixture: &Fixture| match find(fixture, &parent) {
        CommitFate::Rewritten(commit) => assert_eq!(commit.oid, ours),
        other => panic!("{other:?}"),
    };
    fixture.git(&["commit", "--quiet", "--amend", "--message", "other"]);
    check(&fixture);
    fixture.git(&["reset", "--quiet", "--hard", parent.as_str()]);
    check(&fixture);
}

/// Git writes the reflog before it moves the branch: if it dies in between, the line is there and the commit is not.
#[test]
fn logged_but_never_moved() {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    fixture.git(&["add", "new"]);
    let tree = fixture.git(&["write-tree"]);
    let commit = |message: &str| {
        let output = Command::new("git")
            .current_dir(fixture.at("."))
            .env("GIT_AUTHOR_DATE", format!("@{DATE}"))
            .args([
                "commit-tree",
                tree.trim(),
                "-p",
                parent.as_str(),
                "-m",
                message,
            ])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let phantom = commit("never");
    let log = fixture.at(".git/logs/refs/heads/topic");
    let before = fs::read_to_string(&log).unwrap();
    let line = |old: &str, new: &str| {
        format!("{old} {new} A <a@localhost> 1760000000 +0000\t{ACTION}: x\n")
    };
    let phantom_line = line(parent.as_str(), &phantom);
    fs::write(&log, format!("{before}{phantom_line}")).unwrap();
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    // Nor does a line that left from elsewhere make it true, nor one that a power cut tore.
    let real = commit("other");
    let after = format!("{before}{phantom_line}{}", line(parent.as_str(), &real));
    fs::write(&log, &after).unwrap();
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    fs::write(&log, format!("{before}{phantom_line}{phantom} 0123")).unwrap();
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    // A line that left from it does.
    let away = line(&phantom, parent.as_str());
    fs::write(&log, format!("{before}{phantom_line}{away}")).unwrap();
    match find(&fixture, &parent) {
        CommitFate::Rewritten(commit) => assert_eq!(commit.oid.as_str(), phantom),
        other => panic!("{other:?}"),
    }
    // One whose object is gone is nobody's.
    let gone = "1".repeat(40);
    let lines = [line(parent.as_str(), &gone), line(&gone, parent.as_str())].concat();
    fs::write(&log, format!("{before}{lines}")).unwrap();
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
}

#[test]
fn still_running() {
    let fixture = Fixture::new();
    let parent = fixture.head();
    fixture.write("new", "x\n");
    fixture.hook(
        "pre-commit",
        "mkfifo ../gate 2>/dev/null; cat ../gate; exit 0",
    );
    let gate = fixture.outside().join("gate");
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    let (told, group) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let repository = fixture.repository.clone();
        let parent = &parent;
        let commit = scope.spawn(move || {
            let names = paths(&["new"]);
            let on_spawn = |group: &ProcessGroup| told.send(group.clone()).unwrap();
            let status = repository.status().unwrap();
            let request = workspace::git::CommitRequest {
                expected_parent: parent,
                branch: "topic",
                message: "feat: a thing",
                signoff: false,
                paths: &names,
                status: &status,
                author_date: DATE,
                reflog_action: ACTION,
                timeout: Duration::from_mins(1),
                on_spawn: &on_spawn,
            };
            repository.commit(&request)
        });
        let adding = group.recv().unwrap();
        let group = group.recv().unwrap();
        assert!(!adding.is_alive());
        assert_eq!(
            find_with(&fixture, parent, Some(&group)),
            CommitFate::Running
        );
        let removed = fixture
            .repository
            .remove_stale_locks(Some(&group), SystemTime::UNIX_EPOCH, "topic")
            .unwrap();
        assert!(removed.is_empty());
        assert!(!group.wait(Duration::from_millis(20)));
        assert!(!group.wait_for_leader(Duration::from_millis(20)));
        // Opened for writing, the gate lets the hook through.
        fs::write(&gate, "").unwrap();
        let ours = commit.join().unwrap().unwrap().oid;
        assert!(group.wait(Duration::from_secs(20)));
        assert_eq!(oid_of(find_with(&fixture, parent, Some(&group))), ours);
        let other_boot = ProcessGroup {
            boot: Some("another".to_owned()),
            ..group
        };
        assert!(!other_boot.is_alive());
    });
}

#[test]
fn locks_of_a_dead_git() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.commit(&["new"]).unwrap();
    let dead = fixture.groups.borrow()[0].clone();
    let locks = [
        fixture.at(".git/index.lock"),
        fixture.at(".git/HEAD.lock"),
        fixture.at(".git/packed-refs.lock"),
        fixture.at(".git/refs/heads/topic.lock"),
        fixture.at(".git/shallow.lock"),
        fixture.at(".git/refs/tramline/rewound/run/1.lock"),
        fixture.at(".git/refs/remotes/origin/topic.lock"),
        fixture.at(".git/refs/notes/tramline.lock"),
        fixture.at(&format!(".git/next-index-{}.lock", dead.id)),
    ];
    for lock in &locks {
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(lock, "").unwrap();
    }
    let later = SystemTime::now() + Duration::from_hours(1);
    assert!(
        fixture
            .repository
            .remove_stale_locks(Some(&dead), later, "topic")
            .unwrap()
            .is_empty()
    );
    assert!(fixture.repository.index_lock().unwrap().is_some());
    let earlier = SystemTime::now() - Duration::from_hours(1);
    let removed = fixture
        .repository
        .remove_stale_locks(Some(&dead), earlier, "topic")
        .unwrap();
    assert_eq!(BTreeSet::from_iter(removed), BTreeSet::from(locks.clone()));
    assert!(fixture.repository.index_lock().unwrap().is_none());
    // The same where nobody noted which git it was.
    fs::write(&locks[0], "").unwrap();
    assert_eq!(fixture.repository.lock_files(), locks[..1]);
    let removed = fixture
        .repository
        .remove_stale_locks(None, earlier, "topic")
        .unwrap();
    assert_eq!(removed, locks[..1]);
}

/// While any git works here a lock may be its own, whoever noted what.
#[test]
fn a_git_at_work_keeps_its_locks() {
    if !std::path::Path::new("/proc/self/stat").exists() {
        return;
    }
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.commit(&["new"]).unwrap();
    let dead = fixture.groups.borrow()[0].clone();
    let lock = fixture.at(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let mut at_work = git_at_work(&fixture);
    for group in [None, Some(&dead)] {
        let removed = fixture
            .repository
            .remove_stale_locks(group, SystemTime::UNIX_EPOCH, "topic")
            .unwrap();
        assert!(removed.is_empty() && lock.exists());
    }
    drop(at_work.stdin.take());
    at_work.wait().unwrap();
    let removed = fixture
        .repository
        .remove_stale_locks(None, SystemTime::UNIX_EPOCH, "topic")
        .unwrap();
    assert_eq!(removed, [lock]);
}

/// A git that works in the repository until its input ends.
fn git_at_work(fixture: &Fixture) -> Child {
    let mut at_work = Command::new("git")
        .current_dir(fixture.at("."))
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Once it has answered it is certainly there.
    let to = at_work.stdin.as_mut().unwrap();
    to.write_all(b"nothing\n").unwrap();
    let mut answer = String::new();
    let mut from = BufReader::new(at_work.stdout.as_mut().unwrap());
    from.read_line(&mut answer).unwrap();
    assert!(answer.contains("missing"), "{answer}");
    at_work
}

#[test]
fn a_lock_on_the_notes_that_a_dead_git_left_is_taken_away() {
    const REFERENCE: &str = "refs/notes/ours";
    let fixture = Fixture::new();
    let (repository, on) = (&fixture.repository, fixture.head());
    repository.put_note(REFERENCE, &on, "one").unwrap();
    let lock = fixture.at(".git/refs/notes/ours.lock");
    fs::write(&lock, "").unwrap();
    let mut at_work = git_at_work(&fixture);
    let busy = repository.put_note(REFERENCE, &on, "two").unwrap_err();
    assert_eq!(busy.code(), "git_busy");
    assert!(lock.exists());
    drop(at_work.stdin.take());
    at_work.wait().unwrap();
    if std::path::Path::new("/proc/self/stat").exists() {
        repository.put_note(REFERENCE, &on, "three").unwrap();
        let notes = repository
            .notes(REFERENCE, std::slice::from_ref(&on))
            .unwrap();
        assert_eq!(notes[&on], "three\n");
    }
}

#[test]
fn settling_twice_changes_nothing() {
    let fixture = Fixture::new();
    fixture.write("new", "x\n");
    fixture.hook(
        "pre-commit",
        "echo y > new; git add new; echo log > CHANGES; git add CHANGES",
    );
    fixture.write("CHANGES", "mine\n");
    fixture.git(&["add", "CHANGES"]);
    let made = fixture.commit(&["new"]).unwrap();
    // What the user had staged in a file that only a hook committed stays staged.
    assert_eq!(fixture.git(&["show", ":CHANGES"]), "mine\n");
    let before = fs::read(fixture.at(".git/index")).unwrap();
    fixture
        .repository
        .settle_index(&made.commit, &paths(&["new"]))
        .unwrap();
    assert_eq!(fs::read(fixture.at(".git/index")).unwrap(), before);
}
