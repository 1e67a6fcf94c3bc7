//! The verdict on a report, in the words of the workflow's own definition.

use machine::decide::BLOCKED;
use machine::event::AcceptedReport;
use machine::{Definition, Refusal, RunState};
use serde_json::{Map, json};

use crate::call::Input;
use crate::capability::documents::skills::Skills;
use crate::capability::git::effects;
use crate::capability::is_reported;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::Selector;
use crate::generic::answer::RunVerdict;
use crate::generic::look::{blocked, look_further};
use crate::generic::{messages, view};
use crate::next_step::argument;
use crate::report::{
    AnsweredReport, Meaning, Report, ReportOutcome, is_read_on_branch, joined, with_present_report,
};
use crate::summary;
use crate::view::GENERIC;

/// The readers of what a report itself brings along.
pub(crate) const GIVEN: [&str; 2] = ["outcome", "tests"];

impl Engine {
    /// Reports a work unit.
    pub fn run_report(&self, run: Option<&str>, report: &Report) -> Result<RunVerdict, Fault> {
        let (project, dir, seen) = self.load_in_project(&GENERIC, run, Selector::Running)?;
        let answered = self.report_on((&project, &dir), &seen.run, report, Meaning::Anything)?;
        let of_branch = !matches!(answered.writer.call.input, Input::Report(_))
            && answered.role.as_ref().is_none_or(is_read_on_branch);
        let mut verdict = if of_branch {
            self.verdict_on_task(&answered)?
        } else {
            self.verdict_of_own(&answered)?
        };
        let lost = unread(&answered, report);
        if verdict.validated && !lost.is_empty() {
            let state = answered
                .unit
                .as_ref()
                .map_or("", |(_, state)| state.as_str());
            let place = messages::place(&answered.writer.call.definition, state, None);
            let lost = format!("`{place}` does not take {}: not kept", lost.join(", "));
            verdict.warning = joined(verdict.warning, [lost]);
        }
        Ok(verdict)
    }

    fn verdict_of_own(&self, answered: &AnsweredReport<'_>) -> Result<RunVerdict, Fault> {
        let writer = &answered.writer;
        let (run, definition) = (&writer.open.run, &*writer.call.definition);
        let mut verdict = match &answered.outcome {
            ReportOutcome::Repeated(report) => {
                return Ok(verdict_of(run, definition, report, true));
            }
            ReportOutcome::Decided { report, .. } => {
                let mut verdict = verdict_of(run, definition, report, false);
                if let Some(skills) = &writer.call.skills {
                    let (_, notes) = skills.found();
                    verdict.warning = joined(verdict.warning, notes);
                }
                verdict.report = summary::of_end(&writer.open.dir, run);
                verdict
            }
            ReportOutcome::Refused(refusal) if refusal.code == BLOCKED => {
                return Err(blocked(run, refusal));
            }
            ReportOutcome::Refused(refusal) => {
                let state = answered.unit.as_ref().map(|(_, state)| state.as_str());
                let verdict = match &writer.call.skills {
                    Some(skills) => refused_skill(skills, run, definition, refusal),
                    None => refused(run, definition, state, refusal),
                };
                let (dir, code) = (&writer.open.dir, verdict.code.as_deref());
                self.note_refused(dir, answered.unit(), code, &verdict.message);
                verdict
            }
            ReportOutcome::EffectFailed {
                code,
                message,
                suggestion,
            } => {
                let (code, message) = (code.clone(), message.clone());
                return Err(effects::fault(code, message, suggestion.clone()));
            }
        };
        verdict.suggestion = verdict
            .suggestion
            .map(|text| with_present_report(run, answered.level, text));
        if verdict.next_action.unit.is_none() {
            verdict.next_action = look_further(&writer.call, run, verdict.next_action)?;
        }
        Ok(verdict)
    }
}

/// What a report says that its reader does not take, as the command line has it.
fn unread(answered: &AnsweredReport<'_>, report: &Report) -> Vec<&'static str> {
    let Some((_, state)) = &answered.unit else {
        return Vec::new();
    };
    let reads_nothing = answered
        .writer
        .call
        .definition
        .state(state)
        .is_some_and(|state| {
            let reader = state.reader();
            reader.is_none_or(|reader| !is_reported(&reader.value))
        });
    let input = &answered.writer.call.input;
    let (own, tests, commit) = match input {
        _ if reads_nothing => (false, false, false),
        Input::Tests { .. } => (false, true, false),
        Input::Commit { .. } => (false, false, true),
        Input::None | Input::Report(_) => (true, true, false),
    };
    let given = &report.evidence;
    [
        (argument!("outcome"), report.outcome.is_some() && !own),
        (argument!("note"), report.note.is_some() && !own),
        (argument!("results"), given.results.is_some() && !tests),
        (argument!("report"), !given.reports.is_empty() && !tests),
        (argument!("verify"), given.verify && !tests),
        (argument!("unchanged"), given.unchanged && !tests),
        (argument!("format"), given.format.is_some() && !tests),
        (argument!("removed"), !given.removed.is_empty() && !tests),
        (argument!("repairs"), !given.repairs.is_empty() && !tests),
        (argument!("coverage"), given.coverage.is_some() && !tests),
        (
            argument!("coverageReport"),
            given.coverage_report.is_some() && !tests,
        ),
        (
            argument!("files"),
            !report.files.is_empty() && reads_nothing,
        ),
        (argument!("message"), report.message.is_some() && !commit),
        (argument!("sha"), report.sha.is_some() && !commit),
    ]
    .into_iter()
    .filter(|(_, is_unread)| *is_unread)
    .map(|(name, _)| name)
    .collect()
}

/// The verdict on a report that was taken in, now or before.
fn verdict_of(
    run: &RunState,
    definition: &Definition,
    report: &AcceptedReport,
    before: bool,
) -> RunVerdict {
    let next_action = match (&report.answer.next, before) {
        (Some(next), true) => view::recorded(run, definition, next),
        _ => view::next_action(run, definition),
    };
    let warnings: Vec<String> = report
        .warnings
        .iter()
        .map(|code| {
            let found = report.message(code).map(str::to_owned);
            found.unwrap_or_else(|| code.replace('_', " "))
        })
        .collect();
    RunVerdict {
        validated: report.answer.validated,
        code: report.code.clone(),
        message: messages::taken_in(definition, report),
        warning: joined(None, warnings),
        suggestion: report
            .code
            .is_some()
            .then(|| messages::after_retry(run, definition, report)),
        details: Map::new(),
        result: Map::new(),
        next_action,
        report: None,
    }
}

/// The verdict on a report that moved nothing.
fn refused(
    run: &RunState,
    definition: &Definition,
    state: Option<&str>,
    refusal: &Refusal,
) -> RunVerdict {
    let said = messages::refusal(run, definition, state, refusal);
    let mut details = refusal.details.clone();
    for reader in GIVEN {
        details.shift_remove(reader);
    }
    RunVerdict {
        validated: false,
        code: Some(refusal.code.clone()),
        message: said.message,
        warning: None,
        suggestion: Some(said.suggestion),
        details,
        result: Map::new(),
        next_action: view::next_action(run, definition),
        report: None,
    }
}

/// The same of a session of skills, whose documents may be what stands against it: they are told line by line.
fn refused_skill(
    skills: &Skills,
    run: &RunState,
    definition: &Definition,
    refusal: &Refusal,
) -> RunVerdict {
    let mut verdict = refused(run, definition, None, refusal);
    let said = Skills::refusal_text(definition, run, refusal);
    verdict.message = said.message;
    verdict.suggestion = Some(said.suggestion);
    let (problems, notes) = skills.found();
    // All that was read stands in these, whether it is wrong or not.
    for reader in ["design", "graph"] {
        verdict.details.shift_remove(reader);
    }
    if !problems.is_empty() {
        verdict
            .details
            .insert("problems".to_owned(), json!(problems));
    }
    verdict.warning = joined(verdict.warning, notes);
    verdict
}
