//! Reports: the verdict on a work unit.

use std::path::Path;

use journal::{FileJournal, Journal as _, Position};
use rails::command::Report;
use rails::decide::{BLOCKED, UnitMatch, match_unit};
use rails::definition::StateDef;
use rails::event::Reported;
use rails::{Command, Definition, Event, Refusal, RunState, RunStatus};
use serde_json::{Map, Value, json};

use super::answer::RunVerdict;

use super::gate::closed_gate;
use super::look::{blocked, look_further};
use super::readers::ReportInput;
use super::request::RunReport;
use super::{on_task, view, words};
use crate::call::Input;
use crate::clock::stamp;
use crate::collab::Skills;
use crate::conductor::Conductor;
use crate::engine;
use crate::fault::{Fault, Kind};
use crate::find::Meant;
use crate::find::is_over_a_task;
use crate::refusals;
use crate::view::GENERIC;
use crate::writer::RunWriter;

/// The readers of what a report itself brings along.
const GIVEN: [&str; 2] = ["outcome", "tests"];

impl Conductor {
    /// Reports a work unit.
    pub fn run_report(&self, run: Option<&str>, report: &RunReport) -> Result<RunVerdict, Fault> {
        let given = ReportInput::of(report, &self.root)?;
        let (_, dir) = self.meant(&GENERIC, run, Meant::Running)?;
        let loaded = engine::load(dir.path())?;
        if is_of_task(dir.path(), &loaded.run, report)? {
            return self.report_on_task(dir.id(), &loaded.run, report);
        }
        let digest = given.digest();
        let mut command = Report {
            // What was present when the call began is meant, also if another report is faster.
            unit: match &report.unit {
                Some(unit) => Some(unit.clone()),
                None => the_present(&loaded.run)?,
            },
            digest,
            ..Report::default()
        };
        let mut writer = self.writer(&dir, Input::Report(given))?;
        if writer.call.skills.is_some()
            && let Some(digest) = digest_of_skill(&writer, &command)?
        {
            command.digest = digest;
        }
        // Whoever names no unit means what is asked for now, and that is a person's decision.
        if report.unit.is_none()
            && !writer.call.definition.gates.is_empty()
            && let Ok(gate) = closed_gate(&writer.call, &writer.open.run)
        {
            let fault = Fault::new(
                Kind::Refused,
                "gate_closed",
                format!(
                    "the gate `{}` is closed: a person decides before anything is reported",
                    gate.gate
                ),
            );
            return Err(fault
                .suggest("show the person what stands before it")
                .detail("gate", gate.gate)
                .recover(format!("tm run next --run-id {}", writer.open.run.run)));
        }
        if let UnitMatch::Used { unit } = match_unit(&writer.open.run, &command)
            && let Some(answered) = answered(&writer.open.dir, &writer.open.run, &unit)?
        {
            return Ok(if answered.digest == command.digest {
                let (run, definition) = (&writer.open.run, &writer.call.definition);
                verdict_of(run, definition, &answered, true)
            } else {
                self.too_late(&writer, &answered)
            });
        }
        let mut verdict = self.take_in_plain(&mut writer, command)?;
        if verdict.next_action.unit.is_none() {
            verdict.next_action =
                look_further(&writer.call, &writer.open.run, verdict.next_action)?;
        }
        Ok(verdict)
    }

    fn take_in_plain(
        &self,
        writer: &mut RunWriter<'_>,
        command: Report,
    ) -> Result<RunVerdict, Fault> {
        let present = match match_unit(&writer.open.run, &command) {
            UnitMatch::Present { token, unit } => {
                let state = writer
                    .open
                    .run
                    .token(token)
                    .map(|token| token.state.clone());
                Some((unit, state.unwrap_or_default()))
            }
            _ => None,
        };
        let kept = present.as_ref().is_none_or(|(_, state)| {
            writer
                .call
                .definition
                .state(state)
                .is_some_and(|state| state.expects.is_some())
        });
        let done = writer.command(&Command::Report(command))?;
        let run = &writer.open.run;
        let definition = &writer.call.definition;
        match done {
            Ok(events) => {
                let reported = events
                    .iter()
                    .rev()
                    .find_map(|event| match event {
                        Event::ReportAccepted(report) | Event::ReportRetried(report) => {
                            Some(report.as_ref())
                        }
                        _ => None,
                    })
                    .ok_or_else(|| Fault::bug("a report was decided without a verdict"))?;
                let mut verdict = verdict_of(run, definition, reported, false);
                if let Some(skills) = &writer.call.skills {
                    let (_, notes) = skills.found();
                    verdict.warning = joined(verdict.warning, notes);
                }
                let lost = writer.call.input.report().names();
                if !kept && !lost.is_empty() {
                    let lost = format!(
                        "`{}` expects nothing, so {} of the report is not kept; give the state `expects: outcome`",
                        reported.state,
                        lost.join(", ")
                    );
                    verdict.warning = joined(verdict.warning, [lost]);
                }
                if run.status.is_over() {
                    verdict.report =
                        journal::durable::read_text(&writer.open.dir.join("report.md")).ok();
                }
                Ok(verdict)
            }
            Err(refusal) if refusal.code == BLOCKED => Err(blocked(run, &refusal)),
            Err(refusal) => {
                let state = present.as_ref().map(|(_, state)| state.as_str());
                let verdict = match &writer.call.skills {
                    Some(skills) => refused_skill(skills, run, definition, &refusal),
                    None => refused(run, definition, state, &refusal),
                };
                let unit = present.as_ref().map(|(unit, _)| unit.as_str());
                self.note_refused(&writer.open.dir, unit, &verdict);
                Ok(verdict)
            }
        }
    }

    /// Somebody else reported the unit before, and said something else.
    fn too_late(&self, writer: &RunWriter<'_>, answered: &Reported) -> RunVerdict {
        let (run, definition) = (&writer.open.run, &writer.call.definition);
        let mut verdict = refused(run, definition, None, &Refusal::new("stale_unit"));
        let outcome = match &answered.code {
            None => "accepted".to_owned(),
            Some(code) => format!("not accepted ({code})"),
        };
        verdict.message = format!(
            "{} was reported before, with other content, and was {outcome}; this report changes nothing",
            answered.unit
        );
        verdict
            .details
            .insert("unit".to_owned(), answered.unit.as_str().into());
        self.note_refused(&writer.open.dir, Some(&answered.unit), &verdict);
        verdict
    }

    fn note_refused(&self, dir: &Path, unit: Option<&str>, verdict: &RunVerdict) {
        let (now, code) = (stamp(self.clock.millis()), verdict.code.as_deref());
        refusals::note(dir, &now, unit, code, &verdict.message);
    }
}

/// Whether a report is one of those that `tm autopilot` knows: by the unit that it names, also one that was answered before, or
/// by the one that is open.
fn is_of_task(dir: &Path, run: &RunState, report: &RunReport) -> Result<bool, Fault> {
    let Some(unit) = report.unit.as_ref().filter(|_| is_over_a_task(run)) else {
        return Ok(on_task::is_of_task(run));
    };
    let open = run.waiting().find(|(_, open)| open.id == *unit);
    if let Some((token, _)) = open {
        return Ok(on_task::is_read_on_branch(&token.role));
    }
    let before = answered(dir, run, unit)?;
    Ok(before.is_none_or(|before| on_task::is_read_on_branch(&before.role)))
}

/// The unit that a report means which names none: the only one that is open. To choose one of several
/// would be a guess.
fn the_present(run: &RunState) -> Result<Option<String>, Fault> {
    const SHOWN: usize = 10;
    if run.status != RunStatus::Running {
        return Ok(None);
    }
    let open: Vec<&str> = run.waiting().map(|(_, unit)| unit.id.as_str()).collect();
    if open.len() < 2 {
        return Ok(open.first().map(|unit| (*unit).to_owned()));
    }
    Err(Fault::new(
        Kind::Usage,
        "which_unit",
        format!(
            "{} work units are open, and the report names none of them",
            open.len()
        ),
    )
    .suggest(format!(
        "name the one that was done with --unit: {}{}",
        open.iter()
            .take(SHOWN)
            .copied()
            .collect::<Vec<_>>()
            .join(", "),
        if open.len() > SHOWN { ", …" } else { "" }
    ))
    .expected(
        open.iter()
            .take(SHOWN)
            .map(|unit| Value::from(*unit))
            .collect::<Vec<_>>(),
    ))
}

/// What a report on the work of a session of skills has for its hash: that of the skill. So it is the very same report as
/// a completion of that skill, and either is answered as the other was. None where the report says more than that.
fn digest_of_skill(writer: &RunWriter<'_>, report: &Report) -> Result<Option<String>, Fault> {
    let (run, definition) = (&writer.open.run, &writer.call.definition);
    let state = match match_unit(run, report) {
        UnitMatch::Present { token, .. } => run.token(token).map(|token| token.state.clone()),
        UnitMatch::Used { unit } => {
            answered(&writer.open.dir, run, &unit)?.map(|before| before.state)
        }
        _ => None,
    };
    let Some(state) = state else {
        return Ok(None);
    };
    let says_more = definition
        .state(&state)
        .and_then(StateDef::reader)
        .is_some_and(|reader| GIVEN.contains(&reader.value.as_str()));
    let skill = definition.reported_as(&state).unwrap_or(&state);
    Ok((!says_more).then(|| journal::sha256_hex(skill.as_bytes())))
}

/// The report that answered a unit, if one did.
pub(crate) fn answered(dir: &Path, run: &RunState, unit: &str) -> Result<Option<Reported>, Fault> {
    if let Some(last) = &run.last
        && last.unit == unit
    {
        return Ok(Some(last.clone()));
    }
    let tail = FileJournal::open(dir)?.read(&Position::start())?;
    for record in tail.records.iter().rev() {
        let report = record.event == "report:accepted" || record.event == "report:retried";
        if !report || record.fields.get("unit").and_then(Value::as_str) != Some(unit) {
            continue;
        }
        if let Ok(Event::ReportAccepted(report) | Event::ReportRetried(report)) =
            Event::from_fields(&record.event, &record.fields)
        {
            return Ok(Some(*report));
        }
    }
    Ok(None)
}

/// The verdict on a report that was taken in, now or before.
fn verdict_of(
    run: &RunState,
    definition: &Definition,
    report: &Reported,
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
            report
                .findings
                .iter()
                .find(|finding| finding.policy == *code)
                .map_or_else(|| code.replace('_', " "), |finding| finding.message.clone())
        })
        .collect();
    RunVerdict {
        validated: report.answer.validated,
        code: report.code.clone(),
        message: words::taken_in(definition, report),
        warning: joined(None, warnings),
        suggestion: report
            .code
            .is_some()
            .then(|| words::after_retry(run, definition, report)),
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
    let said = words::refusal(run, definition, state, refusal);
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
    let said = Skills::said(definition, run, refusal);
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

/// What somebody should be told all the same, in one sentence.
pub(crate) fn joined(
    warning: Option<String>,
    others: impl IntoIterator<Item = String>,
) -> Option<String> {
    let all: Vec<String> = warning.into_iter().chain(others).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
