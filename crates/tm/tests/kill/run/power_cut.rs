//! What a cut of the power leaves: a journal that ends in the middle of a unit, and derived files that are empty, half
//! written or gone.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use super::ending::brought_to;
use super::executor::Executor;
use super::stage::{Death, Stage};

fn cut(path: &Path, length: u64) {
    OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(length)
        .unwrap();
}

/// Where the last unit of a journal begins.
fn last_unit(journal: &[u8]) -> usize {
    let mut begin = 0;
    let mut at = 0;
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        let event: serde_json::Value = serde_json::from_slice(line).unwrap();
        if event["k"] == 1 {
            begin = at;
        }
        at += line.len();
    }
    begin
}

/// Files that are made from the journal.
fn derived(run: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(run)
        .unwrap()
        .chain(fs::read_dir(run.join("test-results")).unwrap())
    {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_truth = [
            "activity.jsonl",
            "lock",
            "refusals.jsonl",
            "refused-reports.json",
        ]
        .contains(&name.as_str());
        if path.is_file() && !is_truth {
            files.push(path);
        }
    }
    files
}

#[test]
fn a_report_that_was_cut_off_is_made_again() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    assert!(executor.answer("red", "1.1", None));
    let path = stage.run_folder().join("activity.jsonl");
    let journal = fs::read(&path).unwrap();
    let begin = last_unit(&journal);
    assert!(
        begin > 0 && journal.len() - begin > 500,
        "the unit is too short to be cut"
    );
    let lines = journal[begin..]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| begin + at);
    // In lines, before and after their ends, and by steps in between.
    let mut places: Vec<usize> = lines
        .flat_map(|end| [end, end + 1])
        .chain((begin..journal.len()).step_by(3001))
        .collect();
    // At the end of the unit before, the cut would be one that no crash makes.
    places.retain(|place| *place < journal.len() && *place != begin);
    stage.save(0);
    for place in places {
        stage.restore(0);
        cut(&path, place as u64);
        let next = executor.next();
        assert_eq!(
            next["action"],
            "red",
            "cut at {place} of {begin}..{}: {next}",
            journal.len()
        );
        executor.answer_once("red", "1.1");
        assert_eq!(executor.next()["action"], "green", "cut at {place}");
        let verified = stage.ok(&["log", "verify"]);
        assert_eq!(
            (&verified["whole"], &verified["tornBytes"]),
            (&true.into(), &0.into()),
            "cut at {place}"
        );
    }
    executor.finish_in_peace();
    executor.check_completed();
}

/// The result of a commit was not yet on the disk, but the commit was.
#[test]
fn a_commit_whose_result_was_cut_off_is_found_again() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    assert!(executor.answer("commit", "1.1", None));
    let path = stage.run_folder().join("activity.jsonl");
    let journal = fs::read(&path).unwrap();
    let begin = last_unit(&journal);
    stage.save(0);
    for place in [
        begin + 1,
        begin + (journal.len() - begin) / 2,
        journal.len() - 1,
    ] {
        stage.restore(0);
        cut(&path, place as u64);
        executor.answer_once("commit", "1.1");
        executor.finish_in_peace();
        executor.check_completed();
    }
}

/// What is derived comes back, whatever has become of it.
fn spoil(stage: &Stage, spoil: impl Fn(usize, &Path)) {
    let mut executor = brought_to(stage, "commit", "1.1");
    for (number, path) in derived(&stage.run_folder()).iter().enumerate() {
        spoil(number, path);
    }
    spoil(0, &stage.current_run());
    let next = executor.next();
    assert_eq!(next["action"], "commit", "{next}");
    // Nothing moves, and yet everything is made good.
    executor.tm(
        &[
            "autopilot",
            "complete",
            "red",
            "--unit",
            "nowhere",
            "--results",
            "failed:1,passed:0",
        ],
        None,
    );
    executor.check_under_way(&[]);
    assert!(executor.answer("commit", "1.1", None));
    executor.check_under_way(&["1.1"]);
    executor.finish_in_peace();
    executor.check_completed();

    for (number, path) in derived(&stage.run_folder()).iter().enumerate() {
        spoil(number, path);
    }
    let again = Executor::command_for("finalize", "");
    let words: Vec<&str> = again.iter().map(String::as_str).collect();
    let ran = executor.tm(&words, None);
    assert_eq!(ran.status, 0, "{ran:?}");
    executor.check_completed();
}

#[test]
fn derived_files_that_are_empty() {
    spoil(&Stage::new(1), |_, path| cut(path, 0));
}

#[test]
fn derived_files_that_are_half_written() {
    spoil(&Stage::new(1), |_, path| {
        cut(path, fs::metadata(path).unwrap().len() / 2);
    });
}

#[test]
fn derived_files_that_are_empty_half_written_or_gone() {
    let stage = Stage::new(1);
    spoil(&stage, |number, path| match number % 3 {
        0 => cut(path, 0),
        1 => cut(path, fs::metadata(path).unwrap().len() / 2),
        _ => fs::remove_file(path).unwrap(),
    });
}

/// A process dies when a file has changed places with its successor, and before it takes away what is aside now: the files
/// are as they should be, and one is too many.
#[test]
fn what_lies_aside_although_nothing_is_behind() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let death = Some(Death::Point("commit-after-tasks", 1));
    assert!(!executor.answer("commit", "1.1", death));
    let aside = stage.run_folder().join(".tramline-aside.tmp");
    fs::write(&aside, "the old state").unwrap();
    executor.answer_once("commit", "1.1");
    assert!(!aside.exists());
    executor.check_under_way(&["1.1"]);
}

/// The lock of git is on the disk, the note of which git that was is not, or is empty.
#[test]
fn a_lock_whose_git_nobody_noted() {
    if !cfg!(debug_assertions) || !Path::new("/proc/self/stat").exists() {
        return;
    }
    let stage = Stage::new(1);
    brought_to(&stage, "commit", "1.1");
    stage.save(0);
    for note in [None, Some("")] {
        stage.restore(0);
        let mut executor = Executor::new(&stage);
        let died = executor.tm(
            &["autopilot", "commit", "1.1"],
            Some(Death::Point("commit-after-tasks", 1)),
        );
        assert!(died.died(), "{died:?}");
        let file = stage.run_folder().join("git-process.json");
        match note {
            None => drop(fs::remove_file(&file)),
            Some(text) => fs::write(&file, text).unwrap(),
        }
        fs::write(stage.project().join(".git/index.lock"), "").unwrap();
        executor.finish_in_peace();
        executor.check_completed();
    }
}

/// What git syncs before it ends, told by its own trace: as many flushes as there are files that an answer rests on.
#[test]
fn what_an_answer_rests_on_is_synced() {
    let stage = Stage::new(1);
    let trace = stage.temporary().join("trace");
    let flushes = |command: &[&str], part: &str| -> u64 {
        let _ = fs::remove_file(&trace);
        let output = stage
            .program(command)
            .env("GIT_TRACE2_EVENT", &trace)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let events: Vec<serde_json::Value> = fs::read_to_string(&trace)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let sid = events
            .iter()
            .find(|event| {
                event["event"] == "start"
                    && event["argv"]
                        .as_array()
                        .is_some_and(|argv| argv.iter().any(|word| word == part))
            })
            .unwrap_or_else(|| panic!("no git {part}"))["sid"]
            .clone();
        let counted = events.iter().filter(|event| {
            event["event"] == "counter" && event["sid"] == sid && event["name"] == "hardware-flush"
        });
        counted.filter_map(|event| event["count"].as_u64()).sum()
    };
    let version = stage.git(&["version"]);
    let counts = |version: &str| -> Option<bool> {
        let mut parts = version.split_ascii_whitespace().nth(2)?.split('.');
        let (major, minor): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((major, minor) >= (2, 38))
    };
    if counts(&version) != Some(true) {
        // It knows no counters, or syncs nothing but objects.
        return;
    }
    assert!(
        flushes(&["autopilot", "start", "1"], "switch") >= 1,
        "the branch"
    );
    let executor = Executor::new(&stage);
    for (phase, results) in [("red", "failed:1,passed:0"), ("green", "failed:0,passed:1")] {
        executor.work(phase, "1.1");
        stage.ok(&["autopilot", "complete", phase, "--results", results]);
    }
    // The index for the names; then two objects at least, the reference and the index.
    stage.save(0);
    assert!(flushes(&["autopilot", "commit"], "add") >= 1, "the names");
    stage.restore(0);
    assert!(
        flushes(&["autopilot", "commit"], "commit") >= 4,
        "the commit"
    );
}

/// A reference that was cut off says so, instead of giving advice for a repository without commits.
#[test]
fn a_branch_that_was_cut_off_is_named() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let reference = stage.project().join(".git/refs/heads/master/task-1-words");
    assert!(reference.exists());
    fs::write(&reference, "").unwrap();
    executor.work("red", "1.1");
    let red = Executor::command_for("red", "1.1");
    let red: Vec<&str> = red.iter().map(String::as_str).collect();
    let ran = executor.tm(&red, None);
    assert_eq!(ran.code(), "broken_branch", "{ran:?}");
    let doctor = stage.tm(&["doctor"]);
    assert!(doctor.out.contains("is broken"), "{doctor:?}");
    assert!(!doctor.out.contains("no commit yet"), "{doctor:?}");
}

/// A look at the tree takes no lock and writes no index: a kill in the middle of it would leave one.
#[test]
fn a_report_does_not_write_the_index() {
    use std::os::unix::fs::MetadataExt as _;
    let stage = Stage::new(1);
    let executor = brought_to(&stage, "green", "1.1");
    executor.work("green", "1.1");
    // Touched and unchanged: git would note the new time.
    let readme = fs::File::options()
        .write(true)
        .open(stage.project().join("README.md"))
        .unwrap();
    readme
        .set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(5))
        .unwrap();
    let index = stage.project().join(".git/index");
    let before = fs::metadata(&index).unwrap().ino();
    stage.ok(&[
        "autopilot",
        "complete",
        "green",
        "--results",
        "failed:0,passed:1",
    ]);
    assert_eq!(fs::metadata(&index).unwrap().ino(), before);
}
