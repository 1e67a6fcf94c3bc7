//! What is on the disk, and when: by the system calls of a process that is watched.

use std::path::Path;
use std::process::{Command, Stdio};

use journal::layout::{Home, RunStem};
use journal::{EvidenceStore, FileJournal, Head, Journal, RunLock};

use crate::scene::{PATIENT, TS, unit};

/// Not a test of its own: the next one runs it in a process that is watched.
#[test]
#[ignore = "run by another test in a process of its own"]
fn keep_and_append() {
    let Some(folder) = std::env::var_os("JOURNAL_TEST_FLUSHES") else {
        return;
    };
    let folder = std::fs::canonicalize(folder).unwrap();
    let project = Home::new(folder.join("home")).project(&folder).unwrap();
    let run = project
        .create_run(&RunStem::task("main", "1").unwrap(), TS)
        .unwrap();
    EvidenceStore::new(run.path()).put(b"evidence").unwrap();
    let lock = RunLock::acquire(run.path(), PATIENT, "test").unwrap();
    let mut journal = FileJournal::under(lock, run.path()).unwrap();
    let head = journal.append(&Head::empty(), TS, &unit(0, 2)).unwrap();
    journal.append(&head, TS, &unit(1, 1)).unwrap();
}

/// The calls of that process on files below `folder`: name of the call, and path.
fn watched(folder: &Path) -> Option<Vec<(String, String)>> {
    let trace = folder.join("trace");
    let status = Command::new("strace")
        .args(["-f", "-y", "-qq", "-s", "512", "-o"])
        .arg(&trace)
        .args([
            "-e",
            "trace=write,fdatasync,fsync,rename,renameat,renameat2,mkdir,mkdirat",
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "flushes::keep_and_append"])
        .env("JOURNAL_TEST_FLUSHES", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let watched = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !watched && std::env::var_os("CI").is_none() {
        // There is no strace here, or it may not watch.
        return None;
    }
    assert!(watched, "{status:?}");
    let text = std::fs::read_to_string(trace).unwrap();
    Some(text.lines().filter_map(call).collect())
}

/// `PID name(3</path>, ...) = 0`; of a rename the path that it leads to.
fn call(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once(' ')?;
    let (name, rest) = rest.trim_start().split_once('(')?;
    let path = match name {
        "rename" | "renameat" | "renameat2" => rest.split('"').nth(3)?,
        "mkdir" | "mkdirat" => rest.split('"').nth(1)?,
        _ => rest.split_once('<')?.1.split_once('>')?.0,
    };
    (!line.contains(" = -1 ")).then(|| (name.to_owned(), path.to_owned()))
}

#[test]
fn evidence_is_flushed_before_it_gets_its_name_and_a_unit_before_it_counts() {
    let folder = tempfile::tempdir().unwrap();
    let Some(calls) = watched(folder.path()) else {
        return;
    };
    let of = |part: &str| -> Vec<&str> {
        let on = calls.iter().filter(|(_, path)| path.contains(part));
        on.map(|(name, _)| name.as_str()).collect()
    };
    let journal = ["fsync", "write", "fdatasync", "write", "fdatasync"];
    assert_eq!(of("activity.jsonl"), journal, "{calls:#?}");
    // The file, its name, the folder that has the name.
    let kept = ["mkdir", "write", "fsync", "renameat", "fsync"];
    assert_eq!(of("/evidence"), kept, "{calls:#?}");
    let made = calls.iter().filter(|(name, _)| name.starts_with("mkdir"));
    for (_, path) in made {
        let parent = Path::new(path).parent().unwrap().display().to_string();
        let synced = |(name, of): &(String, String)| name == "fsync" && *of == parent;
        assert!(calls.iter().any(synced), "{path}: {calls:#?}");
    }
}
