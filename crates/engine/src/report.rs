//! Reports: what somebody says of a work unit, and what comes of it. What holds for a report that is sent twice, that comes too
//! late or that names nothing stands here, for every run and every view.

mod before;
mod input;

use std::path::Path;

use journal::layout::{ProjectDir, RunDir};
use machine::command::{self};
use machine::decide::{UnitMatch, match_unit};
use machine::event::AcceptedReport;
use machine::state::{Item, Token};
use machine::{Command, Event, Refusal, Role, RunState, RunStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use text::listed;
use workspace::config::Level;
use workspace::convention::message;

use crate::action::next::other_step;
use crate::action::status::present;
use crate::approval::Statement;
use crate::call::Input;
use crate::capability::git::effects;
use crate::capability::is_reported;
use crate::capability::memory::{self, is_repair};
use crate::capability::tests::evidence::{asked_level, level_named};
use crate::capability::tests::report_files;
use crate::clock::stamp;
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::gate::closed_gate;
use crate::journal_end::{event_in, lines_with};
use crate::next_step::{self, NextStep, Verb};
use crate::open_run::{self, CommandOutcome};
use crate::refusals;
use crate::view::autopilot::request::Evidence;
use crate::writer::RunWriter;

/// The report of the present unit.
pub(crate) fn present_report(run: &RunState) -> Option<NextStep> {
    report_like(run, Level::Claimed)
}

/// The same, with evidence of this level at least.
fn report_like(run: &RunState, level: Level) -> Option<NextStep> {
    let (token, unit) = run.waiting().next()?;
    // With it a report that is sent twice counts once.
    Some(report_of(run, token, &token.role, level).with("unit", &unit.id))
}

/// The report of a token's unit. Where the title says too little of a commit, or too much, whoever did the work is asked for the
/// subject.
pub(crate) fn report_of(run: &RunState, token: &Token, role: &Role, level: Level) -> NextStep {
    let level = level.max(asked_level(run, role, &token.kept));
    let report = NextStep::report(role, token.key(), level);
    let is_silent = |item: &Item| !message::says_enough(item.text("title"), item.text("kind"));
    if role.reader == "commit" && !is_repair(run, token) && run.item(token).is_some_and(is_silent) {
        return report.and("message");
    }
    report
}

/// A text that names the report of the present unit where it speaks of one that it leaves open: one of the level of the report
/// that was answered.
pub(crate) fn with_present_report(run: &RunState, level: Level, text: String) -> String {
    match report_like(run, level) {
        Some(report) => next_step::with_report(&text, &report),
        None => text,
    }
}

/// The level of what somebody gives as evidence.
fn level_of(given: &Evidence) -> Level {
    if given.verify {
        Level::Verified
    } else if given.reports.is_empty() {
        Level::Claimed
    } else {
        Level::Reported
    }
}

/// A fault of a report, which says that the report is to be made again where it names no step of its own: in the way in which
/// it was made.
pub(crate) fn with_way_on(run: &RunState, given: &Evidence, fault: Fault) -> Fault {
    let report = report_like(run, level_of(given)).filter(|_| fault.kind != Kind::Bug);
    let Some(report) = report else {
        return fault;
    };
    let mut suggestion = fault.suggestion.clone();
    if next_step::steps(&suggestion).is_empty() {
        let behind = if suggestion.is_empty() { "" } else { "; then " };
        suggestion = format!("{suggestion}{behind}report again: {}", Verb::Report);
    }
    fault.suggest(next_step::with_report(&suggestion, &report))
}

/// What somebody says of a work unit. The unit's reader takes of it what it is about.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Report {
    /// The work unit; the present one if absent. With it a report that is sent twice counts once.
    pub unit: Option<String>,
    /// The state that the unit is of, its phase, or the name that it is reported under.
    pub state: Option<String>,
    /// The item that it is of.
    pub item: Option<String>,
    /// How it came out, in one word.
    pub outcome: Option<String>,
    /// More on it.
    pub note: Option<String>,
    /// What is known of the tests.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The files that were changed, relative to the project root.
    pub files: Vec<String>,
    /// The subject of the commit that is to be made, instead of the one made from the title; of several lines, its whole message.
    pub message: Option<String>,
    /// A commit that was made already.
    pub sha: Option<String>,
    /// Coverage under a threshold is let pass.
    pub skip_coverage: bool,
    /// What the executor says beside its numbers, kept with them: `error` and `logs`.
    #[serde(skip)]
    pub said: Map<String, Value>,
}

/// What the verb that somebody reports with is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Whatever the unit's reader takes.
    Anything,
    /// Results of tests.
    Tests,
    /// Results of the full suite.
    Suite,
    /// A commit.
    Commit,
}

/// What came of a report.
#[derive(Debug)]
pub(crate) enum ReportOutcome {
    /// It was decided, with what was journalled.
    Decided {
        report: Box<AcceptedReport>,
        events: Vec<Event>,
    },
    /// It is the very same as one that was decided before.
    Repeated(Box<AcceptedReport>),
    /// It moved nothing.
    Refused(Refusal),
    /// It was accepted, and what was to be done then failed.
    EffectFailed(Box<Fault>),
}

impl ReportOutcome {
    /// The report, where it was decided, now or before.
    pub(crate) fn report(&self) -> Option<&AcceptedReport> {
        match self {
            Self::Decided { report, .. } | Self::Repeated(report) => Some(report),
            Self::Refused(_) | Self::EffectFailed(_) => None,
        }
    }
}

/// A report that was answered, and the run as it is now.
pub(crate) struct AnsweredReport<'a> {
    pub(crate) writer: RunWriter<'a>,
    pub(crate) outcome: ReportOutcome,
    /// The unit that was meant, and its state; absent where none waited.
    pub(crate) unit: Option<(String, String)>,
    /// The role of its reports, where that can be told.
    pub(crate) role: Option<Role>,
    /// The level of the evidence that it came with.
    pub(crate) level: Level,
    /// What somebody should be told all the same.
    pub(crate) warnings: Vec<String>,
}

impl AnsweredReport<'_> {
    /// The id of the unit that was meant.
    pub(crate) fn unit(&self) -> Option<&str> {
        self.unit.as_ref().map(|(unit, _)| unit.as_str())
    }
}

impl Engine {
    /// Takes a report in, on a run as it was seen without a lock.
    pub(crate) fn report_on(
        &self,
        place: (&ProjectDir, &RunDir),
        seen: &RunState,
        report: &Report,
        meaning: Meaning,
    ) -> Result<AnsweredReport<'_>, Fault> {
        let answered = self.take_report(place, seen, report, meaning);
        if !matches!(&answered, Ok(answered) if answered.outcome.report().is_some()) {
            let files = report.evidence.files(&self.cwd);
            if !files.is_empty() {
                report_files::record_refused(place.1.path(), files)?;
            }
        }
        answered.map_err(|fault| with_way_on(seen, &report.evidence, fault))
    }

    /// Likewise, for callers that have other words for what is to be done about a fault.
    pub(crate) fn take_report(
        &self,
        (project, dir): (&ProjectDir, &RunDir),
        seen: &RunState,
        report: &Report,
        meaning: Meaning,
    ) -> Result<AnsweredReport<'_>, Fault> {
        let settled;
        let seen = if seen.pending.is_some() {
            // What a dead process left is carried out first: what is due follows from it.
            drop(self.writer(dir, Input::None)?);
            settled = open_run::load(dir.path())?;
            &settled.run
        } else {
            seen
        };
        let mut command = command::Report {
            unit: report.unit.clone(),
            state: report.state.clone(),
            item: report.item.clone(),
            flags: memory::entry("skipCoverage", report.skip_coverage),
            ..command::Report::default()
        };
        let names_none = [&report.unit, &report.state, &report.item]
            .into_iter()
            .all(Option::is_none);
        let meant = if names_none { only_one(seen)? } else { None };
        if meaning != Meaning::Anything
            && !matches!(match_unit(seen, &command), UnitMatch::Used { .. })
            && let Some(fault) = other_step(dir.path(), seen)?
        {
            return Err(fault);
        }
        let role = role_meant(dir.path(), seen, &command)?;
        let input = self.input((dir, seen), &command, role.as_ref(), report, meaning)?;
        let before = match &input {
            Input::Tests { taken, .. } => taken.baseline.as_ref(),
            _ => None,
        };
        let before = before.map(|found| self.take_found_baseline(dir, found));
        let before = before.transpose()?.flatten();
        command.digest = digest(&input, report.skip_coverage);
        let ahead = self.read_ahead(dir, seen, &command)?;
        let commits = matches!(input, Input::Commit { .. });
        let not_run =
            matches!(&input, Input::Tests { taken, .. } if taken.verify && taken.ran.is_none());
        let mut writer = if ends_run(seen) {
            self.writer_alone(project, dir, input)?
        } else {
            self.writer(dir, input)?
        };
        if ends_run(&writer.open.run) {
            if !ends_run(seen) {
                // Somebody else took the run on to there.
                let input = std::mem::replace(&mut writer.call.input, Input::None);
                drop(writer);
                writer = self.writer_alone(project, dir, input)?;
            }
            chain_is_whole(dir)?;
        } else if commits {
            // A commit is not taken back, so it rests on all that is said to have led to it.
            chain_is_whole(dir)?;
        }
        if report.unit.is_none() {
            no_gate_before(&writer)?;
        }
        writer.call.was_read(ahead);
        let run = &writer.open.run;
        let is_there = |unit: &String| run.waiting().any(|(_, open)| open.id == *unit);
        // What was present when the call began is meant, also if another report was faster.
        command.unit = command.unit.or(meant.filter(|unit| !is_there(unit)));
        let unit = match match_unit(run, &command) {
            UnitMatch::Present { token, unit } => {
                let state = run.token(token).map(|token| token.state.clone());
                Some((unit, state.unwrap_or_default()))
            }
            _ => None,
        };
        let mut warnings: Vec<String> = before.into_iter().collect();
        let outcome = if let Some(outcome) = repeated(&writer, &command, not_run)? {
            warnings.extend(repeat_note(&writer.open.run, &outcome, not_run));
            outcome
        } else {
            let named = unit.as_ref().map(|(unit, _)| unit.as_str().into());
            let (run, last) = (&writer.open.run, writer.open.last());
            command.approval = self.approval(&Statement {
                flags: named
                    .into_iter()
                    .map(|unit| ("unit".to_owned(), unit))
                    .collect(),
                ..Statement::on(&run.run, "answer", run.stopped(), "", last)
            })?;
            decided(&mut writer, command)?
        };
        let role = outcome.report().map(|report| report.role.clone()).or(role);
        Ok(AnsweredReport {
            level: level_of(&report.evidence),
            writer,
            outcome,
            unit,
            role,
            warnings,
        })
    }

    /// Notes a report that moved nothing, for those who look at the run.
    pub(crate) fn note_refused(
        &self,
        dir: &Path,
        unit: Option<&str>,
        code: Option<&str>,
        message: &str,
    ) {
        refusals::note(dir, &stamp(self.clock.millis()), unit, code, message);
    }
}

/// The answer to a report that was decided before, or to a unit that somebody else reported before; none where it is to be
/// decided.
fn repeated(
    writer: &RunWriter<'_>,
    command: &command::Report,
    not_run: bool,
) -> Result<Option<ReportOutcome>, Fault> {
    let run = &writer.open.run;
    match match_unit(run, command) {
        // The very same report again, without a word on which unit it is for, is no report of another kind.
        UnitMatch::Present { token, .. } if command.unit.is_none() && command.state.is_none() => {
            let other_kind = |last: &&AcceptedReport| {
                let present = run.token(token).map(|token| &token.role.reader);
                // One of which nothing is read says nothing to be known again by.
                let said = is_reported(&last.role.reader) && last.digest == command.digest;
                said && present != Some(&last.role.reader)
            };
            let last = run.last.as_ref().filter(other_kind);
            Ok(last.map(|last| ReportOutcome::Repeated(Box::new(last.clone()))))
        }
        UnitMatch::Used { unit } => {
            let before = answered(&writer.open.dir, run, &unit)?;
            // It was not by this report that the run ended.
            let ended_since = |before: &AcceptedReport| {
                let went_on = run.status.is_over() && asked_next(before).is_some();
                let was_refused = run.status.is_called_off() && !before.answer.validated;
                command.unit.is_none() && (went_on || was_refused)
            };
            Ok(before.map(|before| {
                if ended_since(&before) {
                    return ReportOutcome::Refused(Refusal::new("run_over"));
                }
                let verified = not_run && level_named(&before.level) >= Some(Level::Ran);
                let says_nothing = !is_reported(&before.role.reader);
                if before.digest == command.digest || verified || says_nothing {
                    return ReportOutcome::Repeated(Box::new(before));
                }
                let outcome = match &before.code {
                    None => "accepted".to_owned(),
                    Some(code) => format!("not accepted ({code})"),
                };
                let refusal = Refusal::new("stale_unit").detail("unit", unit);
                ReportOutcome::Refused(refusal.detail("was", outcome))
            }))
        }
        _ => Ok(None),
    }
}

/// The unit that was asked for after a report; none where an effect was still to come, or the run came to its end.
fn asked_next(report: &AcceptedReport) -> Option<&str> {
    let next = report.answer.next.as_ref()?;
    let unit = next.unit.as_deref()?;
    (unit != report.unit).then_some(unit)
}

/// What is told of a report that was answered before: that the tests were not run for it, and that the run is somewhere else.
fn repeat_note(run: &RunState, outcome: &ReportOutcome, not_run: bool) -> Option<String> {
    let ReportOutcome::Repeated(before) = outcome else {
        return None;
    };
    let waits = |unit: &str| run.waiting().any(|(_, open)| open.id == unit);
    let moved_on = asked_next(before).is_some_and(|unit| !waits(unit));
    match (not_run, moved_on) {
        (true, false) if run.status.is_over() => {
            Some("this was answered before, and the tests were not run again".to_owned())
        }
        (true, false) => Some(format!(
            "this was answered before, and the tests were not run again; for what was changed since, go back first: {}",
            Verb::Reopen
        )),
        (true, true) => Some(
            "this was answered before; the tests were not run again, and the run has moved on"
                .to_owned(),
        ),
        (false, true) => Some("this was answered before, and the run has moved on".to_owned()),
        (false, false) => None,
    }
}

/// Decides a report.
fn decided(writer: &mut RunWriter<'_>, command: command::Report) -> Result<ReportOutcome, Fault> {
    match writer.done(&Command::Report(command))? {
        CommandOutcome::Moved(events) => {
            let report = events.iter().rev().find_map(|event| match event {
                Event::ReportAccepted(report) | Event::ReportRetried(report) => {
                    Some(report.clone())
                }
                _ => None,
            });
            let report =
                report.ok_or_else(|| Fault::bug("a report was decided without a verdict"))?;
            Ok(ReportOutcome::Decided { report, events })
        }
        CommandOutcome::Refused(refusal) => Ok(ReportOutcome::Refused(refusal)),
        CommandOutcome::EffectFailed {
            code,
            message,
            suggestion,
            ..
        } => {
            let fault = effects::fault(code, message, suggestion);
            Ok(ReportOutcome::EffectFailed(Box::new(fault)))
        }
    }
}

/// The report that answered a unit, if one did.
pub(crate) fn answered(
    dir: &Path,
    run: &RunState,
    unit: &str,
) -> Result<Option<AcceptedReport>, Fault> {
    if let Some(last) = run.last.as_ref().filter(|last| last.unit == unit) {
        return Ok(Some(last.clone()));
    }
    let lines = lines_with(dir, unit)?;
    let mut reports = lines.iter().rev().filter_map(|line| match event_in(line)? {
        Event::ReportAccepted(report) | Event::ReportRetried(report) => Some(*report),
        _ => None,
    });
    Ok(reports.find(|report| report.unit == unit))
}

/// What somebody should be told all the same, in one sentence.
pub(crate) fn joined(
    warning: Option<String>,
    others: impl IntoIterator<Item = String>,
) -> Option<String> {
    let all: Vec<String> = warning.into_iter().chain(others).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Whether the reports of a role are held against the branch of a task.
pub(crate) fn is_read_on_branch(role: &Role) -> bool {
    matches!(role.reader.as_str(), "tests" | "commit")
}

/// Hash of all that is reported.
fn digest(input: &Input, skip_coverage: bool) -> String {
    let all = match input {
        Input::None => Value::Null,
        Input::Report(report) => return report.digest(),
        Input::Tests { taken, files, .. } => json!({
            "counts": taken.digest(), "coverage": taken.coverage, "files": files, "skipCoverage": skip_coverage,
        }),
        Input::Commit {
            message,
            files,
            sha,
            ..
        } => json!({ "message": message, "files": files, "sha": sha }),
    };
    journal::sha256_hex(all.to_string().as_bytes())
}

/// The role of the unit that is meant, open or answered before; none where it cannot be told.
fn role_meant(
    dir: &Path,
    run: &RunState,
    command: &command::Report,
) -> Result<Option<Role>, Fault> {
    Ok(match match_unit(run, command) {
        UnitMatch::Present { token, .. } => run.token(token).map(|token| token.role.clone()),
        UnitMatch::Used { unit } => answered(dir, run, &unit)?.map(|before| before.role),
        UnitMatch::Stale | UnitMatch::Paused | UnitMatch::Over => None,
    })
}

/// How many units are offered where several are open.
const SHOWN: usize = 10;

/// The unit that a report means which names none: the only one that is open. To choose one of several would be a guess.
fn only_one(run: &RunState) -> Result<Option<String>, Fault> {
    if run.status != RunStatus::Running {
        return Ok(None);
    }
    let open: Vec<&str> = run.waiting().map(|(_, unit)| unit.id.as_str()).collect();
    if open.len() < 2 {
        return Ok(open.first().map(|unit| (*unit).to_owned()));
    }
    let (number, few) = (open.len(), listed(open.iter()));
    let expected: Vec<Value> = open.into_iter().take(SHOWN).map(Value::from).collect();
    Err(fault!("which_one.which_unit", open = number, few).expected(expected))
}

/// Whoever names no unit means what is asked for now, and where a gate is closed that is a person's decision.
pub(crate) fn no_gate_before(writer: &RunWriter<'_>) -> Result<(), Fault> {
    if writer.call.definition.gates.is_empty() {
        return Ok(());
    }
    let run = &writer.open.run;
    let Ok(gate) = closed_gate(&writer.call, run) else {
        return Ok(());
    };
    Err(fault!("gate_closed", gate = gate.gate, run = run.run).detail("gate", gate.gate))
}

/// Whether the full suite is asked for, which ends the run.
pub(crate) fn ends_run(run: &RunState) -> bool {
    present(run).is_some_and(|token| token.role.suite.is_some())
}

/// The end of a run stands on its whole journal, not only on the tail that was loaded.
fn chain_is_whole(dir: &RunDir) -> Result<(), Fault> {
    match journal::verify(&dir.journal_path())?.damage {
        None => Ok(()),
        Some(damage) => Err(Fault::from(journal::JournalError::Damaged(damage))),
    }
}
