//! Completions: what a shell offers behind each argument, asked of this program while somebody types. Beside commands and options these are
//! the runs, tasks, items, workflows, tags, gates and settings that are there.

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use engine::view::AUTOPILOT;
use engine::{Engine, RunFilter};
use journal::layout::short_name;
use text::plain::one_line;

use super::open;
use crate::cli::Cli;

/// The variable by which a completion script asks.
const VARIABLE: &str = "TM_COMPLETE";

/// The name of this program, as it is typed.
const PROGRAM: &str = "tm";

/// How many runs are offered, the newest first.
const MOST_RUNS: usize = 30;

/// Answers a completion script; whether one asked.
pub fn asked(arguments: &[std::ffi::OsString]) -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let env = CompleteEnv::with_factory(|| with_candidates(Cli::command())).var(VARIABLE);
    let folder = std::env::current_dir().ok();
    // Whoever types sees nothing of what goes wrong: an answer that is none is no completion.
    env.try_complete(arguments, folder.as_deref())
        .unwrap_or(true)
}

/// The script that has a shell ask this program; none for a shell that it has none for.
pub fn script(shell: &str) -> Option<Vec<u8>> {
    let shells = Shells::builtins();
    let mut script = Vec::new();
    let completer = shells.completer(shell)?;
    completer
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .ok()?;
    Some(script)
}

/// The command with what is there offered behind its arguments, by what their values are called.
fn with_candidates(command: Command) -> Command {
    command
        .mut_args(|argument| match candidates(&argument) {
            Some(candidates) => argument.add(ArgValueCandidates::new(candidates)),
            None => argument,
        })
        .mut_subcommands(with_candidates)
}

type Candidates = fn() -> Vec<CompletionCandidate>;

fn candidates(argument: &Arg) -> Option<Candidates> {
    let name = argument.get_value_names()?.first()?.as_str();
    Some(match name {
        "RUN" => runs,
        "SESSION" => sessions,
        "TASK_ID" | "TASK" => tasks,
        "SUBTASK" | "ITEM" | "TO" => items,
        "WORKFLOW" => workflows,
        "TAG" => tags,
        "KEY" if argument.get_id() == "key" => settings,
        "GATE=MODE" => gates,
        "PHASE" => phases,
        _ => return None,
    })
}

fn engine() -> Option<Engine> {
    open(None, None, "tm completions").ok()
}

fn candidate(value: &str, help: impl Into<String>) -> CompletionCandidate {
    let help: String = help.into();
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
}

fn of_runs(is_meant: impl Fn(&str) -> bool) -> Vec<CompletionCandidate> {
    let runs = engine().and_then(|engine| engine.runs(&RunFilter::default()).ok());
    let runs = runs.into_iter().flatten();
    runs.filter(|run| is_meant(&run.view))
        .take(MOST_RUNS)
        .enumerate()
        .map(|(at, run)| {
            let what = format!("{}: {}", run.status, one_line(run.title()));
            candidate(&short_name(&run.run_id), what).display_order(Some(at))
        })
        .collect()
}

fn runs() -> Vec<CompletionCandidate> {
    of_runs(|_| true)
}

fn sessions() -> Vec<CompletionCandidate> {
    of_runs(|view| view == "session")
}

fn tasks() -> Vec<CompletionCandidate> {
    let list = engine().and_then(|engine| engine.task_list().ok());
    let tasks = list.into_iter().flat_map(|list| list.tasks);
    tasks.map(|task| candidate(&task.id, task.title)).collect()
}

/// The items of the run that is under way.
fn items() -> Vec<CompletionCandidate> {
    let status = engine().and_then(|engine| engine.status(&AUTOPILOT, None).ok());
    let tasks = status.into_iter().filter_map(|status| status.task);
    let progress = tasks.map(|task| task.progress);
    progress
        .flat_map(|progress| {
            let done = progress.completed.into_iter().map(|id| (id, "done"));
            let now = progress.current.into_iter().map(|id| (id, "now"));
            let later = progress.remaining.into_iter().map(|id| (id, "to do"));
            done.chain(now).chain(later).collect::<Vec<_>>()
        })
        .map(|(id, state)| candidate(&id, state))
        .collect()
}

fn workflows() -> Vec<CompletionCandidate> {
    let all = engine().and_then(|engine| engine.workflows().ok());
    let all = all.into_iter().flatten();
    all.map(|workflow| candidate(&workflow.id, workflow.title))
        .collect()
}

fn tags() -> Vec<CompletionCandidate> {
    let Some(engine) = engine() else {
        return Vec::new();
    };
    let file = workspace::tasks::TaskFile::in_project(engine.root(), "master");
    let tags = file.and_then(|file| file.tags()).unwrap_or_default();
    tags.iter().map(|tag| candidate(tag, "")).collect()
}

fn settings() -> Vec<CompletionCandidate> {
    let sections = workspace::config::sections().into_iter();
    let settings = sections.flat_map(|(_, section)| section.settings);
    settings
        .map(|setting| candidate(&setting.key, setting.description))
        .collect()
}

fn phases() -> Vec<CompletionCandidate> {
    let phases = crate::calls::test_phases().iter();
    phases.map(|phase| candidate(phase, "")).collect()
}

/// Each gate of a session with each of its modes, as the settings have them.
fn gates() -> Vec<CompletionCandidate> {
    let sections = workspace::config::sections().into_iter();
    let settings = sections.flat_map(|(_, section)| section.settings);
    let pairs = settings.filter_map(|setting| {
        let gate = setting.key.strip_prefix("review.gates.")?;
        let modes = setting.values.split(", ");
        let pairs = modes.map(|mode| format!("{gate}={}", mode.trim_matches('`')));
        Some(pairs.collect::<Vec<_>>())
    });
    pairs.flatten().map(|pair| candidate(&pair, "")).collect()
}
