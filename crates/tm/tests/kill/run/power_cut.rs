//! What a cut of the power leaves: a journal that ends in the middle of a unit, and derived files that are empty, half
//! written or gone.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ending::brought_to;
use super::executor::Executor;
use super::stage::{Death, Stage};
use testkit::files::list;

fn cut(path: &Path, length: u64) {
    let file = OpenOptions::new().write(true).open(path);
    file.unwrap().set_len(length).unwrap();
}

/// Where the last unit of a journal begins.
fn last_unit(journal: &[u8]) -> usize {
    let mut begin = 0;
    let mut at = 0;
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        let event: Value = serde_json::from_slice(line).unwrap();
        if event["k"] == 1 {
            begin = at;
        }
        at += line.len();
    }
    begin
}

/// Files that are made from the journal.
fn derived(run: &Path) -> Vec<PathBuf> {
    let mut files = [list(run), list(&run.join("test-results"))].concat();
    let truth = [
        "activity.jsonl",
        "lock",
        "refusals.jsonl",
        "refused-reports.json",
    ];
    files.retain(|path| path.is_file() && !truth.iter().any(|name| path.ends_with(name)));
    files
}

#[test]
fn a_report_that_was_cut_off_is_made_again() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    executor.answer_once("red", "1.1");
    let path = stage.run_folder().join("activity.jsonl");
    let journal = fs::read(&path).unwrap();
    let begin = last_unit(&journal);
    let length = journal.len() - begin;
    assert!(begin > 0 && length > 500, "too short to be cut");
    let ends = (begin..journal.len()).filter(|&at| journal[at] == b'\n');
    // In lines, before and after their ends, and by steps in between.
    let mut places: Vec<usize> = ends
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
        assert_eq!(next["action"], "red", "cut at {place}: {next}");
        executor.answer_once("red", "1.1");
        assert_eq!(executor.next()["action"], "green", "cut at {place}");
        let verified = stage.ok(&["log", "verify"]);
        let told = (&verified["whole"], &verified["tornBytes"]);
        assert_eq!(told, (&true.into(), &0.into()), "cut at {place}");
    }
    executor.completes();
}

/// The result of a commit was not yet on the disk, but the commit was.
#[test]
fn a_commit_whose_result_was_cut_off_is_found_again() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    executor.answer_once("commit", "1.1");
    let path = stage.run_folder().join("activity.jsonl");
    let journal = fs::read(&path).unwrap();
    let (begin, end) = (last_unit(&journal), journal.len());
    stage.save(0);
    for place in [begin + 1, usize::midpoint(begin, end), end - 1] {
        stage.restore(0);
        cut(&path, place as u64);
        executor.answer_once("commit", "1.1");
        executor.completes();
    }
}

/// What is derived comes back, whatever has become of it: empty, half written or gone, all alike and by turns.
#[test]
fn derived_files_that_are_spoiled() {
    fn spoil(how: usize, path: &Path) {
        match how {
            0 => cut(path, 0),
            1 => cut(path, fs::metadata(path).unwrap().len() / 2),
            _ => fs::remove_file(path).unwrap(),
        }
    }
    testkit::by_chance!(3);
    let alike: [fn(usize) -> usize; 3] = [|_| 0, |_| 1, |number| number % 3];
    let stage = Stage::new(1);
    brought_to(&stage, "commit", "1.1");
    stage.save(0);
    for how in alike {
        stage.restore(0);
        let mut executor = Executor::new(&stage);
        let spoil_all = || {
            for (number, path) in derived(&stage.run_folder()).iter().enumerate() {
                spoil(how(number), path);
            }
        };
        spoil_all();
        spoil(how(0), &stage.current_run());
        assert_eq!(executor.next()["action"], "commit");
        // Nothing moves, and yet everything is made good.
        executor.mistake();
        executor.check_under_way(&[]);
        executor.answer_once("commit", "1.1");
        executor.check_under_way(&["1.1"]);
        executor.completes();
        spoil_all();
        executor.answer_once("finalize", "");
        executor.check_completed();
    }
}

/// A process dies when a file has changed places with its successor, and before it takes away what is aside now: the files
/// are as they should be, and one is too many.
#[test]
fn what_lies_aside_although_nothing_is_behind() {
    testkit::by_chance!(3);
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

/// What git syncs before it ends, told by its own trace: as many flushes as there are files that an answer rests on.
#[test]
fn what_an_answer_rests_on_is_synced() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    let trace = stage.temporary().join("trace");
    let flushes = |words: &[&str], part: &str| -> u64 {
        let _ = fs::remove_file(&trace);
        let mut command = stage.program(words);
        let output = command.env("GIT_TRACE2_EVENT", &trace).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(&trace).unwrap();
        let events = || {
            text.lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
        };
        let starts = |event: &Value| {
            let mut argv = event["argv"].as_array().into_iter().flatten();
            event["event"] == "start" && argv.any(|word| word == part)
        };
        let git = events().find(starts);
        let sid = &git.unwrap_or_else(|| panic!("no git {part}"))["sid"];
        let of = |event: &Value| event["sid"] == *sid && event["name"] == "hardware-flush";
        let counted = events().filter(|event| event["event"] == "counter" && of(event));
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
    let branch = flushes(&["autopilot", "start", "1"], "switch");
    assert!(branch >= 1, "the branch");
    let mut executor = Executor::new(&stage);
    for phase in ["red", "green"] {
        executor.work(phase, "1.1");
        executor.answer_once(phase, "1.1");
    }
    // The index for the names; then two objects at least, the reference and the index.
    stage.save(0);
    for (part, least) in [("add", 1), ("commit", 4)] {
        stage.restore(0);
        assert!(flushes(&["autopilot", "commit"], part) >= least, "{part}");
    }
}

/// A reference that was cut off says so, instead of giving advice for a repository without commits.
#[test]
fn a_branch_that_was_cut_off_is_named() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let reference = stage.project().join(".git/refs/heads/master/task-1-words");
    cut(&reference, 0);
    let ran = executor.tm(&Executor::command_for("red", "1.1"), None);
    assert_eq!(ran.code(), "command_failed", "{ran:?}");
}
