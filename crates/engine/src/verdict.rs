//! The verdict on a report: one answer for every run and every view.

pub(crate) mod commit;
pub(crate) mod on_task;

use machine::decide::BLOCKED;
use machine::event::AcceptedReport;
use machine::{Definition, Event, Refusal, RunState, RunStatus};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::action::Action;
use crate::action::next::{Detail, next_action};
use crate::call::{Call, Input};
use crate::capability::documents::skills::Skills;
use crate::capability::git::effects;
use crate::capability::is_reported;
use crate::capability::memory::Memory;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::Selector;
use crate::generic::messages;
use crate::next_step::{self, argument_mark};
use crate::report::{
    AnsweredReport, Meaning, Report, ReportOutcome, is_read_on_branch, joined, with_present_report,
};
use crate::summary;
use crate::turn::step::blocked;
use crate::view::View;

/// The verdict on a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Verdict {
    /// Whether it was accepted.
    pub validated: bool,
    /// Stable code of a refusal or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What was found.
    pub message: String,
    /// What the caller should know all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Facts about a refusal.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// What the report brought about: of a commit `commitSha`, `message` and `files`, and `alreadyCommitted` where it was made
    /// before; of the end of a run `commitSha`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub result: Map<String, Value>,
    /// What comes next.
    pub next_action: Action,
    /// The run report for people, if the run is over by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.next_action.view;
        view.write(|json| Self::serialize(self, json), serializer)
    }
}

impl Verdict {
    /// The exit status of a process that answers so.
    pub fn exit_status(&self) -> u8 {
        match (self.validated, self.code.as_deref()) {
            (true, _) => 0,
            (false, Some("stale_unit" | "paused")) => 5,
            (false, _) => 3,
        }
    }

    /// The same with what a refusal advises before what comes next otherwise.
    fn advised(mut self, run: &RunState, answered: &AnsweredReport<'_>) -> Self {
        let suggestion = self.suggestion.take();
        let suggestion = suggestion.map(|text| with_present_report(run, answered.level, text));
        let advises = |text: &String| !next_step::steps(text).is_empty();
        let is_refused = matches!(answered.outcome, ReportOutcome::Refused(_));
        if is_refused && suggestion.as_ref().is_some_and(advises) {
            self.next_action.next_steps.clear();
        }
        Self { suggestion, ..self }
    }
}

/// The words of a verdict, without what comes next.
#[derive(Debug, Clone, Default)]
pub(crate) struct VerdictText {
    pub(crate) message: String,
    pub(crate) warning: Option<String>,
    pub(crate) suggestion: Option<String>,
    pub(crate) details: Map<String, Value>,
}

impl VerdictText {
    /// The verdict of this code; accepted without one.
    fn verdict(self, validated: bool, code: Option<String>, next_action: Action) -> Verdict {
        Verdict {
            validated,
            code,
            message: self.message,
            warning: self.warning,
            suggestion: self.suggestion.filter(|text| !text.is_empty()),
            details: self.details,
            result: Map::new(),
            next_action,
            report: None,
        }
    }
}

impl Engine {
    /// Records a report of a work unit, in the words of a view.
    ///
    /// # Errors
    /// What stands against looking at it; what a rule finds in it is a verdict.
    pub fn record_report(
        &self,
        view: &'static View,
        run: Option<&str>,
        report: &Report,
        meaning: Meaning,
    ) -> Result<Verdict, Fault> {
        let (project, dir, seen) = self.load_in_project(view, run, Selector::Running)?;
        let meant = on_task::meant(&seen.run, report, meaning)?;
        let mut answered = self.report_on((&project, &dir), &seen.run, &meant, meaning)?;
        let own_input = matches!(answered.writer.call.input, Input::Report(_));
        let is_on_task =
            view.is_of_tasks || !own_input && answered.role.as_ref().is_none_or(is_read_on_branch);
        let repeats_commit = is_on_task && repeats_commit(&mut answered, report)?;
        let mut verdict = self.verdict(view, &answered, is_on_task)?;
        if is_on_task && verdict.validated {
            add_results(&mut verdict, &answered, repeats_commit)?;
        }
        let lost = unread(&answered, report);
        if verdict.validated && meaning == Meaning::Anything && !lost.is_empty() {
            let state = answered.unit.as_ref();
            let state = state.map_or("", |(_, state)| state.as_str());
            let place = messages::place(&answered.writer.call.definition, state, None);
            let lost = format!("`{place}` does not take {}: not kept", lost.join(", "));
            verdict.warning = joined(verdict.warning, [lost]);
        }
        Ok(verdict)
    }

    /// The verdict on a report: in the words of tasks where it is held against the branch of one, else in those of the workflow.
    fn verdict(
        &self,
        view: &'static View,
        answered: &AnsweredReport<'_>,
        is_on_task: bool,
    ) -> Result<Verdict, Fault> {
        let writer = &answered.writer;
        let (run, call, dir) = (&writer.open.run, &writer.call, &writer.open.dir);
        let definition = &*call.definition;
        let next = |detail| next_action(view, call, run, detail);
        let mut verdict = match &answered.outcome {
            ReportOutcome::Repeated(report) | ReportOutcome::Decided { report, .. } => {
                let (text, detail) = if is_on_task {
                    // What came next when it was answered may be over by now.
                    let next = on_task::recorded_next(run, report);
                    (
                        on_task::recorded(run, definition, report, &next),
                        Detail::Given,
                    )
                } else {
                    (accepted_text(run, definition, report), Detail::Brief)
                };
                text.verdict(report.answer.validated, report.code.clone(), next(detail)?)
            }
            ReportOutcome::Refused(refusal) if !is_on_task && refusal.code == BLOCKED => {
                return Err(blocked(run, refusal));
            }
            ReportOutcome::Refused(refusal) => {
                let state = answered.unit.as_ref().map(|(_, state)| state.as_str());
                let text = refused(call, run, state, refusal);
                text.verdict(false, Some(refusal.code.clone()), next(Detail::Brief)?)
            }
            ReportOutcome::EffectFailed(fault) if !is_on_task => return Err(*fault.clone()),
            ReportOutcome::EffectFailed(fault) => {
                let text = VerdictText {
                    message: fault.message.clone(),
                    suggestion: Some(fault.suggestion.clone()),
                    ..VerdictText::default()
                };
                text.verdict(false, Some(fault.code.clone()), next(Detail::Brief)?)
            }
        };
        if let ReportOutcome::Decided { events, .. } = &answered.outcome {
            let notes = if is_on_task {
                let tasks = Memory::of(run)?.start.tasks_name();
                let notes = events.iter().map(|event| match event {
                    Event::EffectDone { result, .. } => effects::commit::notes(result, &tasks),
                    _ => Vec::new(),
                });
                notes.flatten().collect()
            } else {
                verdict.report = summary::of_end(dir, run);
                let found = call.skills.as_ref().map(Skills::found);
                found.map(|(_, notes)| notes).unwrap_or_default()
            };
            verdict.warning = joined(verdict.warning, notes);
        }
        verdict = verdict.advised(run, answered);
        if answered.outcome.report().is_none() {
            let code = verdict.code.as_deref();
            self.note_refused(dir, answered.unit(), code, &verdict.message);
        }
        verdict.warning = joined(verdict.warning, answered.warnings.clone());
        Ok(verdict)
    }
}

fn is_commit(answered: &AnsweredReport<'_>) -> bool {
    let role = answered.role.as_ref();
    role.is_some_and(|role| role.reader == "commit")
}

/// Whether a report is of a commit that was made before. One that means the work since then is none.
fn repeats_commit(answered: &mut AnsweredReport<'_>, given: &Report) -> Result<bool, Fault> {
    let repeats = is_commit(answered) && matches!(answered.outcome, ReportOutcome::Repeated(_));
    // Who names no subtask may mean the work since then; whose answer was lost has done none.
    let names_none = given.unit.is_none() && given.item.is_none() && given.state.is_none();
    if repeats && names_none && !commit::stands_at_commit(&answered.writer.open.run)? {
        answered.outcome = ReportOutcome::Refused(Refusal::new("stale_unit"));
    }
    Ok(repeats)
}

/// Has the verdict on an accepted report say what it brought about: the commit, and the end of the run.
fn add_results(
    verdict: &mut Verdict,
    answered: &AnsweredReport<'_>,
    repeats_commit: bool,
) -> Result<(), Fault> {
    let (run, dir) = (&answered.writer.open.run, &answered.writer.open.dir);
    if let Some(report) = answered.outcome.report().filter(|_| is_commit(answered)) {
        let (mut made, found) = commit::made(answered, report)?;
        let short = made["commitSha"].as_str().and_then(|sha| sha.get(..7));
        verdict.message = format!("Committed as {}", short.unwrap_or_default());
        let repeated = repeats_commit.then(|| {
            "nothing new was committed: this is the answer to the commit before".to_owned()
        });
        let warnings = verdict.warning.take().into_iter().chain(found);
        verdict.warning = joined(repeated, warnings);
        if repeats_commit {
            made.insert("alreadyCommitted".to_owned(), true.into());
        }
        verdict.result = made;
    } else if run.status.is_over() {
        let sha = commit::last_of_run(run)?;
        let sha = sha.map(|sha| ("commitSha".to_owned(), sha.into()));
        verdict.result.extend(sha);
    }
    if run.status.is_over() {
        verdict.report = summary::of_end(dir, run);
    }
    Ok(())
}

/// The parts of a report that its reader does not take, as the command line has them.
fn unread(answered: &AnsweredReport<'_>, report: &Report) -> Vec<String> {
    let Some((_, state)) = &answered.unit else {
        return Vec::new();
    };
    let call = &answered.writer.call;
    let reads_nothing = call.definition.state(state).is_some_and(|state| {
        let reader = state.reader();
        reader.is_none_or(|reader| !is_reported(&reader.value))
    });
    let (own, tests, commit) = match &call.input {
        _ if reads_nothing => (false, false, false),
        Input::Tests { .. } => (false, true, false),
        Input::Commit { .. } => (false, false, true),
        Input::None | Input::Report(_) => (true, true, false),
    };
    let is_read = |name: &str| match name {
        "unit" | "state" | "item" | "skipCoverage" => true,
        "outcome" | "note" => own,
        "message" | "sha" => commit,
        "files" => !reads_nothing,
        _ => tests,
    };
    let fields = |report: &Report| serde_json::to_value(report).unwrap_or_default();
    let (given, none) = (fields(report), fields(&Report::default()));
    let given = given.as_object().into_iter().flatten();
    given
        .filter(|(name, value)| none[name.as_str()] != **value && !is_read(name))
        .map(|(name, _)| argument_mark(name))
        .collect()
}

/// The words on a report that was decided, now or before.
fn accepted_text(run: &RunState, definition: &Definition, report: &AcceptedReport) -> VerdictText {
    let warnings = report.warnings.iter().map(|code| {
        let found = report.message(code).map(str::to_owned);
        found.unwrap_or_else(|| code.replace('_', " "))
    });
    let code = report.code.as_ref();
    let is_paused = run.status == RunStatus::Paused;
    VerdictText {
        message: messages::taken_in(definition, report),
        warning: joined(None, warnings),
        suggestion: code.map(|_| messages::after_retry(run, definition, report, is_paused)),
        details: Map::new(),
    }
}

/// The words on a report that moved nothing. Where documents stand against it, they are named line by line.
fn refused(call: &Call<'_>, run: &RunState, state: Option<&str>, refusal: &Refusal) -> VerdictText {
    let said = messages::refusal(run, &call.definition, state, refusal);
    let found = call.skills.as_ref().map(Skills::found);
    let (problems, notes) = found.unwrap_or_default();
    let mut details = refusal.details.clone();
    // What a reader knows is said in words, and as problems; a finding's own details, also of tests by name, go along.
    for reader in ["outcome", "tests", "commit", "design", "graph"] {
        if details.get(reader).is_some_and(Value::is_object) {
            details.shift_remove(reader);
        }
    }
    if !problems.is_empty() {
        details.insert("problems".to_owned(), json!(problems));
    }
    VerdictText {
        message: said.message,
        warning: joined(None, notes),
        suggestion: Some(said.suggestion),
        details,
    }
}
