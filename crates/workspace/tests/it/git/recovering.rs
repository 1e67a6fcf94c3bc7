//! After a crash: was it made?

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use workspace::git::{CommitFate, CommitIntentRef, Oid, ProcessGroup};

use super::fixture::{ACTION, DATE, Fixture, paths};

const EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

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
    fixture.find_our_commit(&intent).unwrap()
}

/// The commit that was made, and is where it was or in nobody's branch any more.
fn oid_of(found: CommitFate) -> (&'static str, Oid) {
    match found {
        CommitFate::Made(commit) => ("made", commit.oid),
        CommitFate::Rewritten(commit) => ("rewritten", commit.oid),
        other => panic!("{other:?}"),
    }
}

/// A fixture with a commit of ours, its parent, and its id.
fn with_our_commit(before: impl FnOnce(&Fixture)) -> (Fixture, Oid, Oid) {
    let fixture = Fixture::dirty();
    let parent = fixture.head();
    before(&fixture);
    assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    let ours = fixture.commit(&["new"]).unwrap().oid;
    assert_eq!(oid_of(find(&fixture, &parent)), ("made", ours.clone()));
    (fixture, parent, ours)
}

#[test]
fn made_and_rewritten() {
    let (fixture, parent, ours) = with_our_commit(|_| {});
    assert_eq!(find(&fixture, &ours), CommitFate::NotMade);
    fixture.write("more", "x\n");
    fixture.commit_all("by somebody");
    let found = || oid_of(find(&fixture, &parent));
    let (made, rewritten) = (("made", ours.clone()), ("rewritten", ours));
    assert_eq!(found(), made);
    fixture.git(&["switch", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(found(), made);
    fixture.git(&["switch", "--quiet", "topic"]);
    fixture.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    fixture.git(&["commit", "--quiet", "--amend", "--message", "other"]);
    assert_eq!(found(), rewritten);
    fixture.git(&["reset", "--quiet", "--hard", parent.as_str()]);
    assert_eq!(found(), rewritten);
    // With hooks that change it, and without a reflog.
    with_our_commit(|fixture| {
        fixture.hook("pre-commit", "echo y > new; git add new");
        fixture.hook("commit-msg", "echo other > \"$1\"");
    });
    with_our_commit(|fixture| {
        fixture.config(&[("core.logAllRefUpdates", "false")]);
        fs::remove_dir_all(fixture.at(".git/logs")).unwrap();
    });
}

#[test]
fn not_made() {
    let fixture = Fixture::dirty();
    let parent = fixture.head();
    let is_not_made = || assert_eq!(find(&fixture, &parent), CommitFate::NotMade);
    fixture.git(&["add", "--intent-to-add", "new"]);
    is_not_made();
    let taken = fixture.take_back_intent_to_add(&paths(&["new", "README.md"]));
    assert_eq!(taken.unwrap(), paths(&["new"]));
    assert_eq!(fixture.short_status(), "?? new\n");
    // By somebody, on the same parent, and with our date.
    fixture.git(&["add", "new"]);
    let date = format!("--date=@{DATE}");
    fixture.git(&["commit", "--quiet", "--message", "x", &date]);
    is_not_made();
    fixture.git(&["switch", "--quiet", "--create", "other"]);
    fixture.git(&["branch", "--quiet", "-D", "topic"]);
    is_not_made();
}

/// Git writes the reflog before it moves the branch: if it dies in between, the line is there and the commit is not.
#[test]
fn logged_but_never_moved() {
    let fixture = Fixture::dirty();
    let parent = fixture.head();
    fixture.git(&["add", "new"]);
    // A commit of ours as git makes it, which no branch has got to.
    let commit = |message: &str| {
        let script = format!(
            "alias.never=!GIT_AUTHOR_DATE='@{DATE}' git commit-tree $(git write-tree) -p {parent} -m {message}"
        );
        fixture.git(&["-c", &script, "never"]).trim().to_owned()
    };
    let phantom = commit("never");
    let log = fixture.at(".git/logs/refs/heads/topic");
    let before = fs::read_to_string(&log).unwrap();
    let line = |old: &str, new: &str| {
        format!("{old} {new} A <a@localhost> 1760000000 +0000\t{ACTION}: x\n")
    };
    let found = |lines: &str| {
        fs::write(&log, format!("{before}{lines}")).unwrap();
        find(&fixture, &parent)
    };
    let told = line(parent.as_str(), &phantom);
    let (other, gone) = (commit("other"), "1".repeat(40));
    // Nor does a line that left from elsewhere make it true, nor one that a power cut tore. One whose object is gone is nobody's.
    for more in [
        told.clone(),
        format!("{told}{}", line(parent.as_str(), &other)),
        format!("{told}{phantom} 0123"),
        line(parent.as_str(), &gone) + &line(&gone, parent.as_str()),
    ] {
        assert_eq!(found(&more), CommitFate::NotMade, "{more}");
    }
    // A line that left from it does.
    let away = line(&phantom, parent.as_str());
    let (fate, oid) = oid_of(found(&format!("{told}{away}")));
    assert_eq!((fate, oid.as_str()), ("rewritten", &*phantom));
}

#[test]
fn still_running() {
    let fixture = Fixture::dirty();
    let parent = &fixture.head();
    fixture.hook("pre-commit", "cat ../gate; exit 0");
    let gate = fixture.outside().join("gate");
    let made = Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    let (told, group) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let repository = fixture.repository.clone();
        let commit = scope.spawn(move || {
            let request = workspace::git::CommitRequest {
                expected_parent: parent,
                branch: "topic",
                message: "feat: a thing",
                signoff: false,
                paths: &paths(&["new"]),
                status: &repository.status().unwrap(),
                author_date: DATE,
                reflog_action: ACTION,
                timeout: Duration::from_mins(1),
                on_spawn: &|group: &ProcessGroup| told.send(group.clone()).unwrap(),
            };
            repository.commit(&request)
        });
        let adding = group.recv().unwrap();
        let group = group.recv().unwrap();
        assert!(!adding.is_alive());
        let found = find_with(&fixture, parent, Some(&group));
        assert_eq!(found, CommitFate::Running);
        assert!(removed(&fixture, Some(&group), EPOCH).is_empty());
        assert!(!group.wait(Duration::from_millis(20)));
        assert!(!group.wait_for_leader(Duration::from_millis(20)));
        // Opened for writing, the gate lets the hook through.
        fs::write(&gate, "").unwrap();
        let ours = commit.join().unwrap().unwrap().oid;
        assert!(group.wait(Duration::from_secs(20)));
        let found = oid_of(find_with(&fixture, parent, Some(&group)));
        assert_eq!(found, ("made", ours));
        let boot = Some("another".to_owned());
        assert!(!ProcessGroup { boot, ..group }.is_alive());
    });
}

/// The locks that are taken away, by their names.
fn removed(fixture: &Fixture, group: Option<&ProcessGroup>, since: SystemTime) -> Vec<PathBuf> {
    fixture.remove_stale_locks(group, since, "topic").unwrap()
}

#[test]
fn locks_of_a_dead_git() {
    let fixture = Fixture::dirty();
    fixture.commit(&["new"]).unwrap();
    let dead = fixture.groups.borrow()[0].clone();
    let locks = "index HEAD packed-refs refs/heads/topic shallow refs/tramline/rewound/run/1 refs/remotes/origin/topic refs/notes/tramline";
    let own = format!("next-index-{}", dead.id);
    let locks = locks.split(' ').chain([&*own]);
    let locks = locks.map(|lock| fixture.at(&format!(".git/{lock}.lock")));
    let locks: Vec<PathBuf> = locks.collect();
    for lock in &locks {
        testkit::files::write(lock, "");
    }
    let hour = Duration::from_hours(1);
    let (earlier, later) = (SystemTime::now() - hour, SystemTime::now() + hour);
    assert!(removed(&fixture, Some(&dead), later).is_empty());
    assert!(fixture.index_lock().unwrap().is_some());
    let gone = removed(&fixture, Some(&dead), earlier);
    assert_eq!(BTreeSet::from_iter(&gone), BTreeSet::from_iter(&locks));
    assert!(fixture.index_lock().unwrap().is_none());
    // The same where nobody noted which git it was.
    fs::write(&locks[0], "").unwrap();
    assert_eq!(fixture.lock_files(), locks[..1]);
    // While any git works here a lock may be its own, whoever noted what.
    if Path::new("/proc/self/stat").exists() {
        at_work(&fixture, || {
            for group in [None, Some(&dead)] {
                assert!(removed(&fixture, group, EPOCH).is_empty());
            }
        });
    }
    assert_eq!(removed(&fixture, None, earlier), locks[..1]);
}

/// Does this while a git works in the repository.
fn at_work(fixture: &Fixture, meanwhile: impl FnOnce()) {
    let mut git = Command::new("git")
        .current_dir(fixture.at("."))
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Once it has answered it is certainly there; it ends with its input.
    let to = git.stdin.as_mut().unwrap();
    to.write_all(b"nothing\n").unwrap();
    let mut answer = String::new();
    let mut from = BufReader::new(git.stdout.as_mut().unwrap());
    from.read_line(&mut answer).unwrap();
    assert!(answer.contains("missing"), "{answer}");
    meanwhile();
    git.wait().unwrap();
}

#[test]
fn a_lock_on_the_notes_that_a_dead_git_left_is_taken_away() {
    const REFERENCE: &str = "refs/notes/ours";
    let fixture = Fixture::new();
    let on = fixture.head();
    let put = |text| fixture.put_note(REFERENCE, &on, text);
    put("one").unwrap();
    fixture.write(".git/refs/notes/ours.lock", "");
    at_work(&fixture, || {
        assert_eq!(put("two").unwrap_err().code(), "lock_timeout");
    });
    assert!(fixture.at(".git/refs/notes/ours.lock").exists());
    if Path::new("/proc/self/stat").exists() {
        put("three").unwrap();
        let notes = fixture.notes(REFERENCE, std::slice::from_ref(&on)).unwrap();
        assert_eq!(notes[&on], "three\n");
    }
}

#[test]
fn locks_on_what_is_kept_that_a_dead_git_left_are_taken_away() {
    let fixture = Fixture::new();
    let on = fixture.head();
    let kept = ["work", "tested"].map(|name| (&on, format!("refs/tramline/trees/one/{name}")));
    for (_, reference) in &kept {
        fixture.write(&format!(".git/{reference}.lock"), "");
    }
    at_work(&fixture, || {
        let refused = fixture.keep_objects(&kept).unwrap_err();
        assert_eq!(refused.code(), "lock_timeout");
    });
    if Path::new("/proc/self/stat").exists() {
        fixture.keep_objects(&kept).unwrap();
        let there = fixture.references_below("refs/tramline/").unwrap();
        assert_eq!(there.len(), 2, "{there:?}");
    }
}

#[test]
fn settling_twice_changes_nothing() {
    let fixture = Fixture::dirty();
    let script = "echo y > new; git add new; echo log > CHANGES; git add CHANGES";
    fixture.hook("pre-commit", script);
    fixture.write("CHANGES", "mine\n");
    fixture.git(&["add", "CHANGES"]);
    let made = fixture.commit(&["new"]).unwrap();
    // What the user had staged in a file that only a hook committed stays staged.
    assert_eq!(fixture.git(&["show", ":CHANGES"]), "mine\n");
    let before = fixture.index();
    let settled = fixture.settle_index(&made.commit, &paths(&["new"]));
    settled.unwrap();
    assert_eq!(fixture.index(), before);
}
