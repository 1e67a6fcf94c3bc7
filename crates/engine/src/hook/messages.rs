//! What the agent is told: what is held back, why, and what to do instead. Statements of fact, and short.

use std::fmt::Write as _;
use std::path::Path;

use text::plain::one_line;
use text::quote::quote_inline;
use text::shortened;

use crate::action::status;
use crate::capability::tests::evidence::asked_level;
use crate::codes;
use crate::hook::Decision;
use crate::hook::place::Head;
use crate::hook::underway::{ActiveRun, Other, Phase};
use crate::next_step::{NextStep, Verb};
use crate::view::{GENERIC, View};
use machine::role::Edits;

/// A file that is no test is edited in RED.
pub const SOURCE_IN_RED: &str = "edit_outside_tests";
/// A file of another kind is edited than the subtask is about.
pub const OTHER_WORK: &str = "edit_of_other_work";
/// A test of RED is edited in GREEN.
pub const FROZEN_TEST: &str = "edit_of_frozen_test";
/// A file is edited in COMMIT.
pub const EDIT_IN_COMMIT: &str = "edit_in_commit";
/// A commit before COMMIT, or behind it.
pub const EARLY_COMMIT: &str = "commit_before_its_phase";
/// A commit without the repository's own hooks.
pub const UNVERIFIED_COMMIT: &str = "commit_without_hooks";
/// A commit off the run's branch.
pub const STRAY_COMMIT: &str = "commit_off_the_branch";
/// A push while the run is active.
pub const PUSH: &str = "push_during_run";
/// A hard reset while the run is active.
pub const HARD_RESET: &str = "hard_reset_during_run";
/// Another branch while the run is active.
pub const BRANCH_SWITCH: &str = "switch_during_run";

/// Titles, branches and paths are others' text: this much of each is told.
const MOST_CHARS: usize = 100;
/// Of the path of a working tree more: it has to be found by it.
const MOST_OF_PATH: usize = 300;

fn short(text: &str) -> String {
    shortened(text, MOST_CHARS)
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Red => "RED",
        Phase::Green => "GREEN",
        Phase::Work => "the work",
        Phase::Commit => "COMMIT",
        Phase::Finalize => "the final suite",
        Phase::Step => "another step",
        Phase::Other => "between two steps",
    }
}

/// ``RED of subtask 1.2 `Add items` ``.
fn at(run: &ActiveRun) -> String {
    let phase = match (run.phase, run.token()) {
        (Phase::Work, Some(token)) => token.phase().to_uppercase(),
        (Phase::Step, Some(token)) => {
            format!("the state {}", quote_inline(&token.state, MOST_CHARS))
        }
        (phase, _) => phase_name(phase).to_owned(),
    };
    match (run.item_id(), run.item()) {
        (Some(id), Some(item)) => {
            let kind = if run.is_repair() { "repair" } else { "subtask" };
            let title = quote_inline(item.text("title"), MOST_CHARS);
            format!("{phase} of {kind} {} {title}", short(id))
        }
        _ => phase,
    }
}

fn id(run: &ActiveRun) -> String {
    run.item_id().map(short).unwrap_or_default()
}

fn branch(run: &ActiveRun) -> String {
    short(&run.memory.start.branch)
}

/// What is to be done in the phase, and how it is reported.
fn next(run: &ActiveRun) -> String {
    let report = || match run.token() {
        Some(token) => {
            let level = asked_level(&run.run, &token.role, &token.kept);
            let step = NextStep::report(&token.role, run.item_id().map(short).as_deref(), level);
            step.in_view(View::of(&run.run).name)
        }
        None => step(run, Verb::Next),
    };
    match run.phase {
        Phase::Red => format!("a test that fails, then {}", report()),
        Phase::Green => format!("code that makes the tests pass, then {}", report()),
        Phase::Work => format!("the work, then {}", report()),
        Phase::Commit => report().to_string(),
        Phase::Finalize => format!("the whole suite, then {}", report()),
        Phase::Step | Phase::Other => step(run, Verb::Next).to_string(),
    }
}

/// A step of the run, in its own view.
fn step(run: &ActiveRun, verb: Verb) -> NextStep {
    // What the view has no word for, the generic one shows.
    let view = match run.phase {
        Phase::Step if verb == Verb::Next => &GENERIC,
        _ => View::of(&run.run),
    };
    verb.step().in_view(view.name)
}

/// That the subtask in hand is skipped.
fn skip(run: &ActiveRun) -> NextStep {
    step(run, Verb::Skip).with("item", id(run)).and("reason")
}

/// That the phase before is gone back to.
fn reopen(run: &ActiveRun) -> NextStep {
    step(run, Verb::Reopen).and("reason")
}

/// A denial by a rule: what is held back, why, and what to do instead. `what` is the file or the branch that it is about.
pub fn denied(run: &ActiveRun, rule: &'static str, what: &str) -> Decision {
    let case = match run.phase {
        Phase::Finalize if rule == EARLY_COMMIT => "commit_after_the_last",
        Phase::Commit => rule,
        _ if rule == EDIT_IN_COMMIT => "edit_in_no_phase",
        _ => rule,
    };
    let patterns = run.memory.start.test_patterns.iter().take(3);
    let patterns: Vec<String> = patterns.map(|pattern| short(pattern)).collect();
    let patterns = match patterns.join(", ") {
        none if none.is_empty() => none,
        some => format!(" Test files of this run match {some}."),
    };
    let only = text::listed(run.only.iter().map(|class| class.noun()));
    let or_skip = run
        .item_id()
        .map(|_| format!(", {} gives the subtask up", skip(run)));
    let reason = codes::message(
        &format!("denied.{case}"),
        &[
            ("what", &what),
            ("at", &at(run)),
            ("next", &next(run)),
            ("show", &step(run, Verb::Next)),
            ("commit", &step(run, Verb::Report).with("phase", "commit")),
            ("reopen", &reopen(run)),
            ("other_kind", &reopen(run).with("kind", "KIND")),
            ("skip", &skip(run)),
            ("or_skip", &or_skip.unwrap_or_default()),
            ("pause", &step(run, Verb::Pause)),
            ("branch", &branch(run)),
            ("head", &head(run)),
            ("only", &only),
            ("patterns", &patterns),
        ],
    );
    Decision::Deny { code: rule, reason }
}

/// A denial that is about a file.
pub fn not_edited(run: &ActiveRun, rule: &'static str, file: &str) -> Decision {
    denied(run, rule, &short(file))
}

/// A denial of another branch while the run is active.
pub fn not_switched(run: &ActiveRun, to: Option<&str>) -> Decision {
    let to = to.map(|to| format!("`{}`", short(to)));
    denied(
        run,
        BRANCH_SWITCH,
        to.as_deref().unwrap_or("a new branch, or none"),
    )
}

fn head(run: &ActiveRun) -> String {
    match &run.head {
        Head::Branch(branch) => format!("on {}", short(branch)),
        Head::Detached => "on no branch".to_owned(),
        Head::Unknown => "elsewhere".to_owned(),
    }
}

/// Edits are not judged while another branch is checked out.
pub fn other_branch(run: &ActiveRun) -> String {
    format!(
        "HEAD is {}, the run is on {}: edits are not judged",
        head(run),
        branch(run)
    )
}

/// The run is in another working tree than what is edited, or where the session begins.
pub fn other_tree(tree: &Path, run: &ActiveRun) -> String {
    let path = |path: &Path| shortened(&one_line(&path.display().to_string()), MOST_OF_PATH);
    format!(
        "No run of tm is in progress in the working tree {}, so the guard hook holds nothing back there. The run in {} does not \
         take in what is edited there.",
        path(tree),
        path(&run.root)
    )
}

/// The state of things cannot be told.
pub fn unclear(why: &str) -> String {
    format!(
        "The guard hook of tm holds nothing back here, because it cannot tell where the run is: {}. `tm doctor` says how to mend it.",
        short(why)
    )
}

/// There is no run over a task.
pub fn no_run(others: &[Other], has_tasks: bool) -> String {
    if others.is_empty() {
        let start = if has_tasks {
            NextStep::start_on_task()
        } else {
            NextStep::start_without_tasks()
        };
        return format!(
            "No run of tm is under way in this project, so its guard hook holds nothing back. {start} begins one."
        );
    }
    let mut text = String::from(
        "The guard hook of tm holds nothing back: no test-driven run is under way in this project.",
    );
    for other in others.iter().take(3) {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nUnder way: {} ({}). {} says where it is.",
            other.what,
            short(&other.id),
            other.shows
        );
    }
    text
}

/// Where the run is, for somebody who knows nothing of it.
pub fn where_it_is(run: &ActiveRun) -> String {
    let task = quote_inline(&run.memory.start.task_title, MOST_CHARS);
    if !run.is_running() {
        let why = run
            .run
            .pause
            .as_ref()
            .map(|pause| format!(" ({})", short(&pause.reason)))
            .unwrap_or_default();
        return format!(
            "A test-driven run of tm is paused{why}: {task}, on the branch {}. The guard hook holds nothing back meanwhile. \
             {} says more, {} goes on.",
            branch(run),
            step(run, Verb::Status),
            step(run, Verb::Resume)
        );
    }
    let progress = status::progress(&run.run);
    let rule = match run.phase {
        Phase::Red => "RED takes new or changed tests; other files of the product wait for GREEN.",
        Phase::Green if run.is_repair() => "A repair may change any file.",
        Phase::Green => {
            "GREEN takes code that makes the tests pass; the tests that were there in RED are frozen."
        }
        Phase::Commit => "In COMMIT no file is edited.",
        Phase::Step if run.edits == Some(Edits::None) => {
            "No file of the project is edited meanwhile."
        }
        Phase::Work | Phase::Step | Phase::Finalize | Phase::Other => "",
    };
    let mut text = format!(
        "A test-driven run of tm is under way: {task}, on the branch {}, {} of {} done.\nIt is in {}. {rule}\nNext is {}.\n\
         {} shows the whole step; commits are made by {}, in COMMIT alone; the branch stays as it is.",
        branch(run),
        progress.completed.len(),
        text::counted(progress.total, "subtask"),
        at(run),
        next(run),
        step(run, Verb::Next),
        step(run, Verb::Report).with("phase", "commit"),
    );
    if run.is_off_its_branch() {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nHEAD is {} now: `git switch {}` comes first.",
            head(run),
            branch(run)
        );
    }
    if run.is_repair() {
        text.push_str("\nThe full suite failed before, which is what is being mended.");
    }
    text
}

/// What is unfinished, for somebody who wants to stop.
pub fn unfinished(run: &ActiveRun) -> Option<String> {
    if run.phase == Phase::Other {
        return None;
    }
    Some(format!(
        "The test-driven run of tm is not over: it is in {}. Next is {}. {} shows the whole step. \
         Where a person is needed first, it is right to stop; {} puts the run aside.",
        at(run),
        next(run),
        step(run, Verb::Next),
        step(run, Verb::Pause),
    ))
}
