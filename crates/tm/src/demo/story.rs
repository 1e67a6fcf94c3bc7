//! What happens, in order, and what each step must come to.

use engine::Fault;
use serde_json::Value;

use super::executor::{self, Piece};
use super::kill;
use super::stage::{FinishedCommand, Stage, unexpected};
use super::teller::Narrator;

/// The run that was played.
#[derive(Debug)]
pub struct PlayedRun {
    /// Its id.
    pub run_id: String,
    /// Its branch.
    pub branch: String,
    /// The subtasks, in the order in which they were done.
    pub subtasks: Vec<String>,
    /// The report for people.
    pub report: String,
}

/// What a report of the executor rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The numbers that it gives.
    Claimed,
    /// What the test runner wrote.
    Reported,
    /// What `tm` saw when it ran the tests.
    Verified,
}

impl Level {
    /// Each subtask has another one.
    fn of_round(round: usize) -> Self {
        match round {
            0 => Self::Claimed,
            1 => Self::Reported,
            _ => Self::Verified,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Claimed => "the executor gives numbers",
            Self::Reported => "it hands in the test runner's report",
            Self::Verified => "tm runs the tests itself",
        }
    }

    /// The arguments of a report.
    fn arguments(self, results: &str) -> Vec<&str> {
        match self {
            Self::Claimed => vec!["--results", results],
            Self::Reported => vec!["--report", executor::REPORT],
            Self::Verified => vec!["--verify"],
        }
    }
}

/// More rounds than the story can have: a run that does not end is a fault.
const MOST_ROUNDS: usize = 10;

/// Plays the story up to the end of the run.
pub fn play(stage: &Stage, teller: &mut Narrator<'_>) -> Result<PlayedRun, Fault> {
    teller.chapter("A project with three subtasks, its tests run by sh")?;
    teller.aside(&stage.repository().display().to_string())?;

    teller.chapter("The plan: shown, nothing touched")?;
    let plan = stage.tm_expecting(0, &["autopilot", "start", "1", "--dry-run"])?;
    let order = texts(&plan.answer, "/subtasks", "/id");
    teller.called(
        &plan,
        &format!(
            "branch {}, subtasks {}",
            plan.text("/branch"),
            order.join(", ")
        ),
    )?;
    if stage.git(&["branch", "--list", "--format=%(refname:short)"])? != "main" {
        return Err(unexpected("a dry run made a branch"));
    }
    if order != ["1.1", "1.3", "1.2"] {
        return Err(unexpected(format!(
            "the plan is not in the order of dependencies: {order:?}"
        )));
    }

    teller.chapter("The run: a branch, and the first work unit")?;
    let started = stage.tm_expecting(0, &["autopilot", "start", "1"])?;
    let mut played = PlayedRun {
        run_id: started.text("/runId").to_owned(),
        branch: started.text("/branch").to_owned(),
        subtasks: Vec::new(),
        report: String::new(),
    };
    teller.called(
        &started,
        &format!("on {}; {}", played.branch, next_in_words(&started)),
    )?;
    if stage.git(&["symbolic-ref", "--short", "HEAD"])? != played.branch {
        return Err(unexpected("the run is not on its branch"));
    }

    for round in 0..MOST_ROUNDS {
        let next = stage.tm_expecting(0, &["autopilot", "next"])?;
        match next.text("/action") {
            "red" => {
                let id = next.text("/subtask/id").to_owned();
                let title = next.text("/subtask/title").to_owned();
                let level = Level::of_round(round);
                teller.chapter(&format!("Subtask {id}: {title}; {}", level.in_words()))?;
                let piece = executor::piece(&id)?;
                red(stage, teller, piece, level)?;
                green(stage, teller, piece, level, true)?;
                match round {
                    1 => edit_after_green(stage, teller, piece, level)?,
                    2 => killed_commit(stage, teller, piece, &played.run_id)?,
                    _ => commit(stage, teller, piece)?,
                }
                played.subtasks.push(id);
            }
            "finalize" => {
                played.report = finalize(stage, teller)?;
                return Ok(played);
            }
            other => {
                return Err(unexpected(format!(
                    "the run asks for {other:?}: {}",
                    next.answer
                )));
            }
        }
    }
    Err(unexpected("the run does not come to its end"))
}

/// Tests that fail; where numbers are all there is, after an attempt to get around them.
fn red(stage: &Stage, teller: &mut Narrator<'_>, piece: &Piece, level: Level) -> Result<(), Fault> {
    stage.write(piece.test_file, piece.tests)?;
    let results = executor::run_tests(stage, None)?;
    teller.aside(&format!(
        "The executor writes {} and runs it: {results}",
        piece.test_file
    ))?;
    if level == Level::Claimed {
        teller.aside("It claims that they pass, to save itself the work:")?;
        let refused = report(stage, "red", piece, level, "failed:0,passed:2", 3)?;
        show_refusal(teller, &refused, "red_requires_failing_tests")?;
        teller.aside("So it tells the truth:")?;
    }
    let accepted = report(stage, "red", piece, level, &results, 0)?;
    teller.called(&accepted, accepted.text("/message"))
}

/// Code that makes them pass; perhaps after an attempt to get around that.
fn green(
    stage: &Stage,
    teller: &mut Narrator<'_>,
    piece: &Piece,
    level: Level,
    cheat: bool,
) -> Result<(), Fault> {
    if cheat {
        match level {
            Level::Claimed => {}
            Level::Reported => some_tests_alone(stage, teller, piece)?,
            Level::Verified => another_runner(stage, teller, piece)?,
        }
    }
    stage.write(piece.code_file, piece.code)?;
    let results = executor::run_tests(stage, None)?;
    teller.aside(&format!(
        "It writes {} and runs the tests: {results}",
        piece.code_file
    ))?;
    let accepted = report(stage, "green", piece, level, &results, 0)?;
    teller.called(&accepted, accepted.text("/message"))
}

/// A report of the new tests alone says nothing of the others.
fn some_tests_alone(stage: &Stage, teller: &mut Narrator<'_>, piece: &Piece) -> Result<(), Fault> {
    stage.write(piece.code_file, piece.code)?;
    let results = executor::run_tests(stage, Some(piece.test_file))?;
    teller.aside(&format!(
        "It runs {} alone, since others may have broken: {results}",
        piece.test_file
    ))?;
    let refused = report(stage, "green", piece, Level::Reported, &results, 3)?;
    show_refusal(teller, &refused, "tests_missing")
}

/// A test runner that says what is wanted is not the one that RED was tested with.
fn another_runner(stage: &Stage, teller: &mut Narrator<'_>, piece: &Piece) -> Result<(), Fault> {
    teller.aside("Instead of code it writes a test runner that is always pleased:")?;
    stage.write(executor::RUNNER_FILE, executor::PLEASED_RUNNER)?;
    let refused = report(stage, "green", piece, Level::Verified, "", 3)?;
    show_refusal(teller, &refused, "command_replaced")?;
    stage.write(executor::RUNNER_FILE, executor::RUNNER)
}

fn report(
    stage: &Stage,
    phase: &str,
    piece: &Piece,
    level: Level,
    results: &str,
    status: i32,
) -> Result<FinishedCommand, Fault> {
    let mut arguments = vec!["autopilot", "complete", phase, piece.id];
    arguments.extend(level.arguments(results));
    stage.tm_expecting(status, &arguments)
}

fn show_refusal(
    teller: &mut Narrator<'_>,
    refused: &FinishedCommand,
    code: &str,
) -> Result<(), Fault> {
    if refused.text("/code") != code {
        return Err(unexpected(format!(
            "refused with another code than {code}: {}",
            refused.answer
        )));
    }
    let words = format!("refused ({code}): {}", refused.text("/message"));
    teller.called(refused, &words)
}

fn commit(stage: &Stage, teller: &mut Narrator<'_>, piece: &Piece) -> Result<(), Fault> {
    let made = stage.tm_expecting(0, &["autopilot", "commit", piece.id])?;
    let sha = made.text("/commitSha");
    let subject = made.text("/message").lines().next().unwrap_or_default();
    teller.called(
        &made,
        &format!("{} {subject}", sha.get(..10).unwrap_or(sha)),
    )
}

/// Code that is changed after its tests passed does not get into the commit.
fn edit_after_green(
    stage: &Stage,
    teller: &mut Narrator<'_>,
    piece: &Piece,
    level: Level,
) -> Result<(), Fault> {
    stage.write(piece.code_file, piece.wrong_code)?;
    teller.aside(&format!(
        "Now that GREEN is accepted, it rewrites {} without running the tests:",
        piece.code_file
    ))?;
    let refused = stage.tm_expecting(3, &["autopilot", "commit", piece.id])?;
    show_refusal(teller, &refused, "changed_after_green")?;
    let reopened = stage.tm_expecting(
        0,
        &[
            "autopilot",
            "reopen",
            "--reason",
            "the code was changed after GREEN",
        ],
    )?;
    teller.called(&reopened, reopened.text("/message"))?;
    let results = executor::run_tests(stage, None)?;
    if results.starts_with("failed:0,") {
        return Err(unexpected(format!(
            "wrong code passes the tests of the demo: {results}"
        )));
    }
    teller.aside(&format!(
        "The tests show what would have been committed: {results}"
    ))?;
    green(stage, teller, piece, level, false)?;
    commit(stage, teller, piece)
}

/// A kill in the middle of a commit loses nothing, and nothing happens twice.
fn killed_commit(
    stage: &Stage,
    teller: &mut Narrator<'_>,
    piece: &Piece,
    run: &str,
) -> Result<(), Fault> {
    let count = |stage: &Stage| stage.git(&["rev-list", "--count", "HEAD"]);
    let before = count(stage)?;
    teller.aside("While git is at work on the commit, tm is killed (SIGKILL):")?;
    let killed = kill::commit(stage, run, piece.id)?;
    teller.called(
        &killed,
        "killed: the intent is in the journal, the result is not",
    )?;
    let resumed = stage.tm_expecting(0, &["autopilot", "resume"])?;
    teller.called(&resumed, &format!("resumed; {}", next_in_words(&resumed)))?;
    let next = stage.tm_expecting(0, &["autopilot", "next"])?;
    if next.text("/action") == "commit" {
        commit(stage, teller, piece)?;
    }
    let after = count(stage)?;
    match (before.parse::<u64>(), after.parse::<u64>()) {
        (Ok(before), Ok(after)) if after == before + 1 => {
            teller.good("there is exactly one commit for this subtask")
        }
        _ => Err(unexpected(format!(
            "{before} commits before the kill, {after} after it"
        ))),
    }
}

fn finalize(stage: &Stage, teller: &mut Narrator<'_>) -> Result<String, Fault> {
    teller.chapter("The whole suite, and the end of the run")?;
    let done = stage.tm_expecting(0, &["autopilot", "finalize", "--verify"])?;
    teller.called(&done, done.text("/message"))?;
    if done.text("/nextAction/action") != "complete" {
        return Err(unexpected(format!("the run is not over: {}", done.answer)));
    }
    Ok(done.text("/report").to_owned())
}

fn next_in_words(called: &FinishedCommand) -> String {
    let action = called.text("/nextAction/action").to_uppercase();
    let subtask = called.text("/nextAction/subtask/id");
    format!("next is {action} {subtask}").trim_end().to_owned()
}

/// A text of each entry of a list.
fn texts(answer: &Value, list: &str, pointer: &str) -> Vec<String> {
    let entries = answer.pointer(list).and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.pointer(pointer)?.as_str().map(str::to_owned))
        .collect()
}
