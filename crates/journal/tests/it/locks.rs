use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use journal::{JournalError, RunLock, Wait};

use crate::scene::{PATIENT, refused};

#[test]
fn who_waits_in_vain_is_told_who_holds_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let held = RunLock::acquire(folder.path(), PATIENT, "tm next --tag „x“").unwrap();
    for timeout in [Duration::ZERO, Duration::from_millis(5)] {
        let error = RunLock::acquire(folder.path(), timeout, "tm report").unwrap_err();
        assert!(error.to_string().contains("tm next --tag „x“"), "{error}");
        let own = std::process::id();
        let suggestion = error.suggestion().unwrap();
        assert!(suggestion.contains(&own.to_string()), "{suggestion}");
        let JournalError::LockTimeout {
            path,
            holder,
            waited,
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((&*path, holder.unwrap().pid), (held.path(), own));
        assert!(waited >= timeout);
    }
    drop(held);
    assert_eq!(RunLock::holder(folder.path()), None);
    RunLock::acquire(folder.path(), Duration::ZERO, "tm report").unwrap();
}

#[test]
fn the_lock_file_stays_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["a".repeat(5000), "\u{1}".repeat(5000), String::new()] {
        let held = RunLock::acquire(folder.path(), PATIENT, &command).unwrap();
        let holder = RunLock::holder(folder.path()).unwrap();
        assert!(command.starts_with(&holder.command));
        drop(held);
        let found = fs::metadata(folder.path().join("lock")).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(found.len(), 512);
    }
}

#[test]
fn a_holder_that_cannot_be_read_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let held = RunLock::acquire(folder.path(), PATIENT, "tm").unwrap();
    fs::write(held.path(), b"{\"pid\":").unwrap();
    let refused = RunLock::acquire(folder.path(), Duration::ZERO, "tm").unwrap_err();
    let is_unnamed = matches!(refused, JournalError::LockTimeout { holder: None, .. });
    assert!(is_unnamed, "{refused:?}");
}

/// Not a test of its own: the next one runs it in a process that is then killed.
#[test]
#[ignore = "run by another test in a process of its own"]
fn hold_the_lock_until_killed() {
    if let Some(folder) = std::env::var_os("JOURNAL_TEST_LOCK_FOLDER") {
        let _held = RunLock::acquire(folder.as_ref(), PATIENT, "doomed").unwrap();
        let mut nothing = String::new();
        // Ends when the other side is closed, so that nothing is left behind whatever happens.
        std::io::stdin().read_line(&mut nothing).unwrap();
    }
}

#[test]
fn the_lock_of_a_dead_process_is_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "locks::hold_the_lock_until_killed"])
        .env("JOURNAL_TEST_LOCK_FOLDER", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while RunLock::holder(folder.path()).is_none_or(|holder| holder.pid != child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        thread::yield_now();
    }
    let other = RunLock::acquire(folder.path(), Duration::ZERO, "tm");
    assert_eq!(refused(other), "LockTimeout");
    child.kill().unwrap();
    child.wait().unwrap();
    RunLock::acquire(folder.path(), Duration::ZERO, "tm").unwrap();
}

#[test]
fn a_wait_that_is_cancelled_ends_at_once_and_takes_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let held = RunLock::acquire(folder.path(), PATIENT, "tm").unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    let wait = Wait::at_most(PATIENT).unless(Arc::clone(&flag));
    let waiting = thread::spawn({
        let path = folder.path().to_owned();
        move || RunLock::acquire(&path, wait, "tm report")
    });
    flag.store(true, Ordering::Release);
    assert_eq!(refused(waiting.join().unwrap()), "Cancelled");
    drop(held);
    // A flag that was set before gives no turn even where one is free.
    let late = Wait::at_most(PATIENT).unless(flag);
    assert!(late.is_cancelled());
    assert!(RunLock::acquire(folder.path(), late, "tm").is_err());
}

#[test]
fn a_lock_that_is_free_is_taken_by_who_waits_no_longer() {
    let dir = tempfile::tempdir().unwrap();
    let flag = Arc::new(AtomicBool::new(true));
    let wait = || Wait::at_most(PATIENT).no_longer(Arc::clone(&flag));
    let held = RunLock::acquire(dir.path(), wait(), "one").unwrap();
    let other = RunLock::acquire(dir.path(), wait(), "another");
    assert_eq!(refused(other), "Cancelled");
    drop(held);
    RunLock::acquire(dir.path(), wait(), "another").unwrap();
}
