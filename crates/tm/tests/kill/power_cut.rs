//! What a cut of the power leaves: a journal that ends in the middle of a unit, and derived files that are empty, half
//! written or gone.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::ending::brought_to;
use crate::executor::Executor;
use crate::stage::Stage;

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
        let is_truth = ["activity.jsonl", "lock", "refusals.jsonl"].contains(&name.as_str());
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
    places.retain(|place| *place < journal.len());
    stage.save();
    for place in places {
        stage.restore();
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
    stage.save();
    for place in [
        begin,
        begin + 1,
        begin + (journal.len() - begin) / 2,
        journal.len() - 1,
    ] {
        stage.restore();
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
            "1.9",
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
    assert_eq!(ran.status, Some(0), "{ran:?}");
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
