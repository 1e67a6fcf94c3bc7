//! Completing skills: the present state decides what was meant, and names what is next.

use indexmap::IndexSet;
use machine::event::AcceptedReport;
use machine::state::{Next, RunStatus};
use machine::trigger::Trigger;
use machine::{Event, Refusal, RunState};
use serde_json::Value;

use crate::call::Input;
use crate::capability::documents::bound;
use crate::capability::documents::folder::DESIGN;
use crate::capability::documents::skills::{
    Skills, first_skill, is_fresh, name_of, number, skills,
};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::journal_end::{event_in, find_backwards};
use crate::next_step::Verb;
use crate::report::{Meaning, Report, ReportOutcome, answered};
use crate::view::collab::answer::{DocumentProblem, SkillAnswer, Verdict};
use crate::view::collab::frame::Frame;
use crate::view::collab::request::SkillDone;
use crate::view::collab::state::{expected, not_running, stopped, unit};
use crate::writer::RunWriter;

impl Engine {
    /// Takes in that a skill was completed, and says which is next.
    pub fn complete_skill(&self, done: &SkillDone) -> Result<SkillAnswer, Fault> {
        let named = done.skill.trim();
        if named.is_empty() {
            return Err(fault!("usage.complete_skill"));
        }
        let session = done.session.as_deref();
        let dir = match self.find_skills(session)? {
            Some(dir) => dir,
            None if same(named, &self.first_skill()?) && done.unit_id.is_none() => {
                self.begin_skills(session)?
            }
            None => self.skills_dir(session)?,
        };
        // Where no session goes on, the first skill begins another one.
        let dir = match session {
            None if done.unit_id.is_none() => self.another_if_over(dir, named)?,
            _ => dir,
        };
        let writer = self.writer(&dir, Input::None)?;
        let known = skills(&writer.call.definition);
        let Some(skill) = known.iter().find(|known| same(known, named)) else {
            let refusal = Refusal::new("unknown_skill").detail("skill", named);
            let mut answer = self.refused(&writer, None, &refusal);
            answer.valid_skills = known.into_iter().map(str::to_owned).collect();
            return Ok(answer);
        };
        let given = done.unit_id.as_deref().map(str::trim);
        let unit = match unit_of(&writer, skill, given)? {
            Ok(unit) => unit,
            Err(refusal) => return Ok(self.refused(&writer, given, &refusal)),
        };
        let report = Report {
            unit: Some(unit),
            ..Report::default()
        };
        let seen = writer.open.run.clone();
        drop(writer);
        let place = (&self.home.project(&self.root)?, &dir);
        let answered = self.take_report(place, &seen, &report, Meaning::Anything)?;
        let writer = &answered.writer;
        match answered.outcome {
            ReportOutcome::Decided { report, .. } | ReportOutcome::Repeated(report) => {
                Ok(recorded(writer, &report))
            }
            ReportOutcome::Refused(refusal) => {
                Ok(self.refused(writer, report.unit.as_deref(), &refusal))
            }
            ReportOutcome::EffectFailed(fault) => Err(*fault),
        }
    }

    /// Nothing moved: what was expected, and why.
    fn refused(
        &self,
        writer: &RunWriter<'_>,
        unit: Option<&str>,
        refusal: &Refusal,
    ) -> SkillAnswer {
        let mut answer = standing(writer);
        answer.verdict = Verdict::new(writer, Some(refusal));
        let message = answer.verdict.message.as_deref().unwrap_or_default();
        let unit = unit.or(answer.unit_id.as_deref());
        self.note_refused(&writer.open.dir, unit, Some(&refusal.code), message);
        if let Some(skills) = &writer.call.skills {
            (answer.problems, answer.notes) = skills.found();
            if refusal.code == "bad_dependencies" {
                answer.problems.extend(disordered(skills, refusal));
            }
        }
        answer
    }
}

/// The unit that the completion of a skill is of: the given one, else the present one, else the last one. Refused where the work of
/// that unit is of another skill.
fn unit_of(
    writer: &RunWriter<'_>,
    skill: &str,
    given: Option<&str>,
) -> Result<Result<String, Refusal>, Fault> {
    let (run, definition) = (&writer.open.run, &writer.call.definition);
    let is_due = expected(definition, run).as_deref() == Some(skill);
    let (present, last) = (unit(run), run.last.as_ref().map(|last| &last.unit));
    let meant = match (given, &present) {
        (None, Some(present)) if is_due => present.clone(),
        _ => given
            .or(last.map(String::as_str))
            .unwrap_or_default()
            .to_owned(),
    };
    let is_present = present.as_ref() == Some(&meant);
    let refusal = if is_present && is_due {
        let is_unclear = given.is_none() && may_be_said_again(writer, skill)?;
        is_unclear.then(|| Refusal::new("which_one"))
    } else if run.was_issued(&meant) && !is_present {
        let before = answered(&writer.open.dir, run, &meant)?;
        let is_other = before.is_none_or(|before| name_reported(&before) != skill);
        is_other.then(|| Refusal::new("unexpected_skill").detail("former", given))
    } else {
        // Of a unit that never was the report itself is refused.
        (is_present || given.is_none()).then(|| Refusal::new("unexpected_skill"))
    };
    let Some(refusal) = refusal else {
        return Ok(Ok(meant));
    };
    let first = first_skill(definition).filter(|first| *first == skill);
    let refusal = stopped(run).unwrap_or(refusal).detail("skill", skill);
    Ok(Err(refusal.detail("begins", first)))
}

/// The name under which the work was reported.
fn name_reported(report: &AcceptedReport) -> &str {
    report.name.as_deref().unwrap_or(&report.state)
}

/// Whether a completion that names no unit could be that of the item before, said once more: nothing but clearing lies in
/// between, and it was of the same skill.
fn may_be_said_again(writer: &RunWriter<'_>, skill: &str) -> Result<bool, Fault> {
    let (run, definition) = (&writer.open.run, &writer.call.definition);
    if bound::item_in_hand(run).is_none() || is_fresh(definition, run.state()) {
        return Ok(false);
    }
    // The last work that was accepted; none where somebody went back since.
    let last = find_backwards(&writer.open.dir, |line| match event_in(line)? {
        Event::ReportAccepted(report) => {
            (!is_fresh(definition, &report.state)).then_some(Some(report))
        }
        Event::StateEntered {
            cause: Trigger::Reopen,
            ..
        } => Some(None),
        _ => None,
    })?;
    let last = last.and_then(|(report, _)| report);
    Ok(last.is_some_and(|report| name_reported(&report) == skill))
}

/// The lines of the items that cannot be put in order, where a document has them.
fn disordered(skills: &Skills, refusal: &Refusal) -> Vec<DocumentProblem> {
    let lines = skills.lines.borrow();
    let listed = refusal.details.get("items").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    // A circle names the item again with which it begins.
    let listed: IndexSet<&str> = listed.collect();
    let problem = |item: &str| {
        Some(DocumentProblem {
            code: refusal.code.clone(),
            document: DESIGN.to_owned(),
            item: Some(number(item)),
            line: *lines.get(item)?,
            message: refusal.message.clone().unwrap_or_default(),
            suggestion: String::new(),
        })
    };
    listed.into_iter().filter_map(problem).collect()
}

/// Whether two names are of one skill.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    let plain = one.is_ascii() && other.is_ascii();
    one.eq_ignore_ascii_case(other) || !plain && one.to_lowercase() == other.to_lowercase()
}

/// The answer to a completion that was accepted, now or before: always the same, unless somebody stopped the session.
fn recorded(writer: &RunWriter<'_>, report: &AcceptedReport) -> SkillAnswer {
    let run = &writer.open.run;
    let next = report.answer.next.clone().unwrap_or_else(|| run.next());
    let mut answer = match &next {
        Next {
            status: RunStatus::Running,
            unit: Some(unit),
            ..
        } if run.status != RunStatus::Aborted => {
            let frame = Frame::of_unit(&writer.open, unit).unwrap_or_else(|gone| {
                // It was accepted all the same.
                let state = next.state.as_deref().unwrap_or_default();
                Frame {
                    notes: vec![gone.message],
                    ..Frame::of_state(&writer.call.definition, state)
                }
            });
            let is_paused = run.status == RunStatus::Paused;
            SkillAnswer {
                unit_id: Some(unit.clone()),
                status: is_paused.then(|| run.status.name().to_owned()),
                ..of_frame(run, frame)
            }
        }
        // What was told then is not to be done any more.
        _ => standing(writer),
    };
    answer.verdict.validated = report.answer.validated;
    answer.verdict.code.clone_from(&report.code);
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|warning| report.message(warning).unwrap_or(warning).to_owned());
    answer.notes.extend(warnings);
    let moved_on = next.unit.is_some() && unit(run) != next.unit;
    if run.status == RunStatus::Running && moved_on {
        answer.notes.push(format!(
            "this was completed before, and is answered as it was then: by now the session stands at {}; {} says what is due",
            run.state(),
            Verb::Next
        ));
    }
    answer
}

/// Where the session stands now.
fn standing(writer: &RunWriter<'_>) -> SkillAnswer {
    let (run, definition) = (&writer.open.run, &writer.call.definition);
    let mut frame = Frame::of_run(definition, run, run.state(), 0);
    frame.batch = None;
    if run.status != RunStatus::Running {
        // Nobody is asked to do anything.
        "none".clone_into(&mut frame.action);
    }
    SkillAnswer {
        next_skill: expected(definition, run),
        unit_id: unit(run),
        done: run.status == RunStatus::Completed,
        status: not_running(run),
        ..of_frame(run, frame)
    }
}

/// The answer that says what a frame does.
fn of_frame(run: &RunState, frame: Frame) -> SkillAnswer {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    SkillAnswer {
        next_skill: some(frame.skill),
        action: frame.action,
        params: frame.params,
        session: name_of(run).unwrap_or_default().to_owned(),
        state: frame.state,
        display_name: frame.display_name,
        item: frame.item,
        batch: frame.batch,
        instructions: some(frame.instructions),
        notes: frame.notes,
        ..SkillAnswer::default()
    }
}
