//! Reports: RED, GREEN, the commit, the full suite.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use journal::layout::{ProjectDir, RunDir};
use machine::event::AcceptedReport;
use machine::{Event, Refusal, Role, RunState};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::git::effects;
use crate::capability::memory::{self, Memory};
use crate::capability::tests::read::few;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::Selector;
use crate::next_step::Verb;
use crate::open_run::Loaded;
use crate::proof::{check, source};
use crate::report::{
    AnsweredReport, Meaning, Report, ReportOutcome, joined, with_present_report, with_way_on,
};
use crate::summary;
use crate::view::AUTOPILOT;
use crate::view::autopilot::answer::{CommitAnswer, Committed, Finalized, Verdict};
use crate::view::autopilot::state;
use crate::view::autopilot::verdict;

impl Engine {
    /// Reports RED or GREEN.
    pub fn complete(&self, run: Option<&str>, report: &Report) -> Result<Verdict, Fault> {
        let found = self.load_in_project(&AUTOPILOT, run, Selector::Running)?;
        let report = &on_subtask(&found.2.run, report)?;
        let phase = report.state.as_deref().map(str::to_lowercase);
        if let Some(fault) = wrong_phase(&found.2.run, phase.as_deref(), report) {
            return Err(with_way_on(&found.2.run, &report.evidence, fault));
        }
        Ok(self.suite(&found, report, phase)?.0)
    }

    /// Reports the full suite, which ends the run.
    pub fn finalize(&self, run: Option<&str>, report: &Report) -> Result<Finalized, Fault> {
        let found = self.load_in_project(&AUTOPILOT, run, Selector::Running)?;
        let state = state_of(&found.2.run, "finalize", |role| role.suite.is_some());
        let (verdict, answered) = self.suite(&found, report, Some(state))?;
        let open = &answered.writer.open;
        let (mut commit_sha, mut summary) = (None, None);
        if verdict.next_action.action == "complete" {
            commit_sha = last_commit(&open.run)?;
            summary = summary::of_end(&open.dir, &open.run);
        }
        Ok(Finalized {
            commit_sha,
            report: summary,
            verdict,
        })
    }

    fn suite(
        &self,
        (project, dir, seen): &(ProjectDir, RunDir, Loaded),
        report: &Report,
        phase: Option<String>,
    ) -> Result<(Verdict, AnsweredReport<'_>), Fault> {
        let report = Report {
            state: phase,
            ..report.clone()
        };
        let answered = self.report_on((project, dir), &seen.run, &report, Meaning::Tests)?;
        Ok((self.verdict_on_branch(&answered)?, answered))
    }

    /// Reports a commit, or has it made.
    pub fn commit(&self, run: Option<&str>, report: &Report) -> Result<CommitAnswer, Fault> {
        let (project, dir, seen) = self.load_in_project(&AUTOPILOT, run, Selector::Running)?;
        let report = Report {
            state: Some(state_of(&seen.run, "commit", |role| {
                role.reader == "commit"
            })),
            ..on_subtask(&seen.run, report)?
        };
        let mut answered = self.report_on((&project, &dir), &seen.run, &report, Meaning::Commit)?;
        let already_committed = matches!(answered.outcome, ReportOutcome::Repeated(_));
        // Who names no subtask may mean the work since then; whose answer was lost has done none.
        let names_none = report.unit.is_none() && report.item.is_none();
        if already_committed && names_none && !stands_at_commit(&answered.writer.open.run)? {
            answered.outcome = ReportOutcome::Refused(Refusal::new("stale_unit"));
        }
        let verdict = self.verdict_on_branch(&answered)?;
        let Some(reported) = answered.outcome.report().filter(|_| verdict.validated) else {
            return Ok(CommitAnswer::Refused(verdict));
        };
        let made = made(&answered, reported)?;
        let repeated = already_committed.then(|| {
            "nothing new was committed: this is the answer to the commit before".to_owned()
        });
        let told = joined(verdict.warning, made.warning);
        Ok(CommitAnswer::Committed(Committed {
            warning: joined(repeated, told),
            already_committed,
            next_action: verdict.next_action,
            ..made
        }))
    }

    /// What is said of a report that is held against a task's branch.
    pub(crate) fn verdict_on_branch(
        &self,
        answered: &AnsweredReport<'_>,
    ) -> Result<Verdict, Fault> {
        let (run, dir) = (&answered.writer.open.run, &answered.writer.open.dir);
        let mut verdict = match &answered.outcome {
            ReportOutcome::Repeated(report) => {
                let mut verdict = state::recorded(run, report);
                let now = state::told(run, dir);
                // What came next then may be over by now.
                if now.unit_id.is_some() {
                    verdict.next_action = now;
                }
                verdict
            }
            ReportOutcome::Decided { report, events } => {
                let mut verdict = state::recorded(run, report);
                verdict.next_action = state::told(run, dir);
                let tasks = Memory::of(run)?.start.tasks_name();
                let told = events.iter().flat_map(|event| match event {
                    Event::EffectDone { result, .. } => effects::commit::notes(result, &tasks),
                    _ => Vec::new(),
                });
                verdict.warning = joined(verdict.warning, told);
                verdict
            }
            ReportOutcome::Refused(refusal) => verdict(run, refusal),
            ReportOutcome::EffectFailed {
                code,
                message,
                suggestion,
            } => Verdict {
                validated: false,
                message: message.clone(),
                warning: None,
                suggestion: suggestion.clone(),
                code: Some(code.clone()),
                details: Map::new(),
                next_action: state::next_action(run),
            },
        };
        verdict.suggestion = verdict
            .suggestion
            .map(|text| with_present_report(run, answered.level, text));
        if answered.outcome.report().is_none() {
            let code = verdict.code.as_deref();
            self.note_refused(dir, answered.unit(), code, &verdict.message);
        }
        verdict.warning = joined(verdict.warning, answered.warnings.clone());
        Ok(verdict)
    }
}

/// Whether the branch and the working tree are as the run's last commit left them.
fn stands_at_commit(run: &RunState) -> Result<bool, Fault> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    Ok(changes.files.is_empty() && status.head == Some(memory.last_oid()?))
}

/// What is wrong with the phase that a report of tests names.
fn wrong_phase(run: &RunState, phase: Option<&str>, report: &Report) -> Option<Fault> {
    let phase = phase?;
    let present = run.waiting().next();
    let is_present = present.is_some_and(|(token, _)| {
        token.role.reader == "tests" && token.phase().eq_ignore_ascii_case(phase)
    });
    // It may be the last one, whose answer was lost.
    let last = run.last.as_ref().map(|last| &last.role);
    let is_last = last.is_some_and(|role| {
        let told = role.phase.as_deref();
        role.reader == "tests" && told.is_some_and(|told| told.eq_ignore_ascii_case(phase))
    });
    if !matches!(phase, "red" | "green" | "finalize") && !is_present && !is_last {
        let is_commit = present.is_some_and(|(token, _)| token.role.reader == "commit");
        let suggestion = match phase {
            "commit" if is_commit => "a commit is made for you, not reported as results of tests",
            _ => {
                "use the phase that is due, such as red or green, or leave it out for the present one"
            }
        };
        let fault = Fault::new(
            Kind::Usage,
            "usage",
            format!("`{phase}` is no phase of tests"),
        );
        return Some(fault.suggest(suggestion));
    }
    let (token, unit) = present?;
    let is_other =
        report.unit.as_deref() == Some(&unit.id) && !token.phase().eq_ignore_ascii_case(phase);
    is_other.then(|| {
        Fault::new(
            Kind::Usage,
            "usage",
            format!(
                "{} is a unit of {}, and not of {phase}",
                unit.id,
                token.phase()
            ),
        )
        .suggest("name the phase that is due, or leave it out")
    })
}

/// The report with the whole id of its subtask, which may be given by what tells it from the others of its task.
fn on_subtask(run: &RunState, report: &Report) -> Result<Report, Fault> {
    let mut report = report.clone();
    let Some(named) = &report.item else {
        return Ok(report);
    };
    let known = || {
        let added = memory::subtasks(run).map(|(key, _)| key);
        added.chain(memory::done_before(run))
    };
    if known().any(|key| key == named) {
        return Ok(report);
    }
    let ending = format!(".{named}");
    let mut meant = known().filter(|key| key.ends_with(&ending));
    if let (Some(key), None) = (meant.next(), meant.next()) {
        report.item = Some(key.to_owned());
        return Ok(report);
    }
    let all: Vec<String> = known().map(str::to_owned).collect();
    let fault = Fault::new(
        Kind::Missing,
        "unknown_item",
        format!("the run {} has no subtask `{named}`", run.run),
    );
    Err(fault
        .suggest(format!(
            "it has {}; the present one is meant where none is named",
            few(&all)
        ))
        .recover(Verb::Next))
}

/// The state whose reports have such a role: the one that waits, or the one that was reported last. Where neither has it, what
/// people call it, so that the report is told to be for another.
fn state_of(run: &RunState, called: &str, is_meant: impl Fn(&Role) -> bool) -> String {
    let waiting = run.waiting().map(|(token, _)| (&token.role, &token.state));
    let last = run.last.iter().map(|last| (&last.role, &last.state));
    waiting
        .chain(last)
        .find(|(role, _)| is_meant(role))
        .map_or_else(|| called.to_owned(), |(_, state)| state.clone())
}

/// The commit of the task's status, where the end of the run made one.
pub(crate) fn last_commit(run: &RunState) -> Result<Option<String>, Fault> {
    let last = Memory::of(run)?.last_commit;
    let of_subtask = memory::subtasks(run).any(|(key, _)| memory::commit_of(run, key) == last);
    Ok((!of_subtask && memory::commits(run) > 0).then_some(last))
}

/// The commit that answered a unit, with what is told of it.
pub(crate) fn made(
    answered: &AnsweredReport<'_>,
    reported: &AcceptedReport,
) -> Result<Committed, Fault> {
    let run = &answered.writer.open.run;
    let sha = match reported.facts.get("sha").and_then(Value::as_str) {
        Some(sha) if !sha.is_empty() => sha.to_owned(),
        _ => {
            let item = reported.item.as_deref().unwrap_or_default();
            memory::commit_of(run, item).to_owned()
        }
    };
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let mut warnings = Vec::new();
    let (message, files) = match just_made(answered, &sha) {
        Some(made) => {
            warnings.extend(changed_by_hooks(answered, &memory, (&sha, &made.1))?);
            made
        }
        None => git_message(&repository, reported, &sha)?,
    };
    warnings.extend(taken_out(&repository, reported, &files)?);
    Ok(Committed {
        commit_sha: sha,
        message,
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        files,
        already_committed: false,
        next_action: state::next_action(run),
    })
}

/// The message and the files of a commit that this call made: what git said of it is in the journal.
fn just_made(answered: &AnsweredReport<'_>, sha: &str) -> Option<(String, Vec<String>)> {
    let ReportOutcome::Decided { events, .. } = &answered.outcome else {
        return None;
    };
    let result = events.iter().find_map(|event| match event {
        Event::EffectDone { result, .. } if result.get("sha")?.as_str()? == sha => Some(result),
        _ => None,
    })?;
    let message = result.get("message")?.as_str()?.to_owned();
    Some((message, Vec::deserialize(result.get("files")?).ok()?))
}

fn git_message(
    repository: &Repository,
    reported: &AcceptedReport,
    sha: &str,
) -> Result<(String, Vec<String>), Fault> {
    let oid = sha
        .parse()
        .map_err(|_| Fault::bug(format!("the subtask has no commit, but `{sha}`")))?;
    let (commit, changed) = repository.commit_with_files(&oid)?;
    let facts = &reported.facts;
    let handed_in = facts.get("sha").and_then(Value::as_str) == Some(sha);
    // There may be several commits behind the one that was handed in.
    let files = match facts.get("files") {
        Some(files) if handed_in => Vec::deserialize(files).unwrap_or_default(),
        _ => changed.iter().map(|file| file.path.to_string()).collect(),
    };
    Ok((commit.message, files))
}

/// What is told of files that hooks of the repository wrote while they were committed, so that they are not as they were tested.
/// The times of files only say where to look: a hook may write what was there, and a file server's clock may be ahead.
fn changed_by_hooks(
    answered: &AnsweredReport<'_>,
    memory: &Memory,
    (sha, files): (&str, &[String]),
) -> Result<Option<String>, Fault> {
    let repository = memory.repository();
    let own = memory.exempt(&repository);
    let began = Duration::from_millis(answered.writer.call.now.try_into().unwrap_or_default());
    let is_new = |name: &&String| {
        let path: Option<RepoPath> = name.parse().ok();
        path.filter(|path| !own.contains(path)).is_some_and(|path| {
            let found = fs::symlink_metadata(repository.absolute(&path));
            let written = found.and_then(|found| found.modified());
            written.is_ok_and(|written| written > UNIX_EPOCH + began)
        })
    };
    let written: Vec<String> = files.iter().filter(is_new).cloned().collect();
    if written.is_empty() {
        return Ok(None);
    }
    let story = source::story(&answered.writer.open.dir)?;
    if let Some(made) = story.made.iter().rfind(|made| made.sha == sha)
        && let (Ok(base), Ok(commit)) = (made.base.parse(), sha.parse())
        && !check::is_changed_by_hooks(&repository, made, &base, &commit)?
    {
        return Ok(None);
    }
    Ok(Some(format!(
        "hooks changed what was tested, and it is committed as they left it: {}",
        few(&written)
    )))
}

/// What is told of files that were to be in a commit and are not: a hook of the repository took them out.
fn taken_out(
    repository: &Repository,
    reported: &AcceptedReport,
    files: &[String],
) -> Result<Option<String>, Fault> {
    let meant = reported.facts.get("files").and_then(Value::as_array);
    let mut gone: Vec<&str> = meant
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|path| !files.iter().any(|file| file == path))
        .collect();
    if gone.is_empty() {
        return Ok(None);
    }
    // What was changed in the index alone came to nothing in the commit.
    let status = repository.status()?;
    let left: Vec<String> = status
        .changes
        .iter()
        .flat_map(|change| change.paths().map(ToString::to_string))
        .collect();
    gone.retain(|path| left.iter().any(|left| left == path));
    Ok((!gone.is_empty()).then(|| format!("a hook took out of the commit: {}", gone.join(", "))))
}
