//! Completing skills: the present state decides what was meant, and names what is next.

use indexmap::IndexSet;
use journal::layout::RunDir;
use machine::command::Report;
use machine::decide::{UnitMatch, match_unit};
use machine::definition::StateDef;
use machine::event::AcceptedReport;
use machine::state::{Next, RunStatus};
use machine::trigger::Trigger;
use machine::{Event, Refusal, RunState};
use serde_json::{Map, Value};

use crate::call::Input;
use crate::capability::documents::bound;
use crate::capability::documents::folder::DESIGN;
use crate::capability::documents::skills::{Skills, is_fresh, name_of, number, skill, skills};
use crate::capability::git::effects;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::journal_end::find_backwards;
use crate::next_step::Verb;
use crate::open_run;
use crate::report::{ReportOutcome, answered, decided};
use crate::verdict::GIVEN;
use crate::view::collab::answer::{DocumentProblem, SkillAnswer, SkillParams, Verdict};
use crate::view::collab::frame::Frame;
use crate::view::collab::request::SkillDone;
use crate::view::collab::state::{batch_brief, expected, item_brief, not_running, unit};
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
        let mut writer = self.writer(&dir, Input::None)?;
        let known = skills(&writer.call.definition);
        let Some(skill) = known.iter().find(|known| same(known, named)) else {
            let refusal = Refusal::new("unknown_skill").detail("skill", named);
            let mut answer = self.refused(&writer, None, &refusal);
            answer.valid_skills = known.into_iter().map(str::to_owned).collect();
            return Ok(answer);
        };
        let report = Report {
            unit: done.unit_id.as_ref().map(|unit| unit.trim().to_owned()),
            state: Some((*skill).to_owned()),
            digest: journal::sha256_hex(skill.as_bytes()),
            ..Report::default()
        };
        let skill = (*skill).to_owned();
        self.take_in_skill(&mut writer, &skill, report)
    }

    fn take_in_skill(
        &self,
        writer: &mut RunWriter<'_>,
        skill: &str,
        report: Report,
    ) -> Result<SkillAnswer, Fault> {
        let unit = report.unit.clone().or_else(|| unit(&writer.open.run));
        let is_of_skill = |report: &AcceptedReport| name_reported(report) == skill;
        let run = &writer.open.run;
        let refusal = match match_unit(run, &report) {
            UnitMatch::Used { unit } => match answered(&writer.open.dir, run, &unit)? {
                Some(before) if is_of_skill(&before) => return Ok(recorded(writer, &before)),
                // The unit may be one that the session left when it was ended.
                _ if run.status.is_over() => Some(Refusal::new("run_over")),
                _ => Some(Refusal::new("unexpected_skill").detail("former", unit)),
            },
            UnitMatch::Present { .. } => {
                let due = expected(&writer.call.definition, run);
                if due.as_deref() != Some(skill) {
                    Some(Refusal::new("unexpected_skill"))
                } else if report.unit.is_none() && may_be_said_again(writer, skill)? {
                    Some(Refusal::new("which_one"))
                } else {
                    None
                }
            }
            UnitMatch::Stale => Some(match &report.unit {
                None => Refusal::new("unexpected_skill"),
                Some(unit) => Refusal::new("stale_unit").detail("unit", unit.as_str()),
            }),
            UnitMatch::Paused | UnitMatch::Over => None,
        };
        let refusal = match refusal {
            Some(refusal) if is_first(writer, skill) => {
                refusal.detail("skill", skill).detail("begins", skill)
            }
            Some(refusal) => refusal.detail("skill", skill),
            None => match decided(writer, report)? {
                ReportOutcome::Decided { report, .. } | ReportOutcome::Repeated(report) => {
                    return Ok(recorded(writer, &report));
                }
                ReportOutcome::Refused(refusal) => refusal,
                ReportOutcome::EffectFailed {
                    code,
                    message,
                    suggestion,
                } => return Err(effects::fault(code, message, suggestion)),
            },
        };
        Ok(self.refused(writer, unit.as_deref(), &refusal))
    }

    /// Nothing moved: what was expected, and why.
    pub(crate) fn refused(
        &self,
        writer: &RunWriter<'_>,
        unit: Option<&str>,
        refusal: &Refusal,
    ) -> SkillAnswer {
        let mut answer = standing(writer);
        answer.verdict = Verdict::new(writer, Some(refusal));
        let message = answer.verdict.message.as_deref().unwrap_or_default();
        self.note_refused(&writer.open.dir, unit, Some(&refusal.code), message);
        if let Some(skills) = &writer.call.skills {
            answer.problems = skills.problems.take();
            answer.notes = skills.notes.take();
            if refusal.code == "bad_dependencies" {
                answer.problems.extend(disordered(skills, refusal));
            }
        }
        answer
    }
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
    let last = find_backwards(&writer.open.dir, |line| {
        let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
        match Event::from_fields(fields.get("event")?.as_str()?, &fields).ok()? {
            Event::ReportAccepted(report) => {
                (!is_fresh(definition, &report.state)).then_some(Some(report))
            }
            Event::StateEntered {
                cause: Trigger::Reopen,
                ..
            } => Some(None),
            _ => None,
        }
    })?;
    let last = last.and_then(|(report, _)| report);
    Ok(last.is_some_and(|report| name_reported(&report) == skill))
}

/// What a report on the work of a session of skills has for its hash: that of the skill. So it is the very same report as
/// a completion of that skill, and either is answered as the other was. None where the report says more than that, and where
/// there are no skills.
pub(crate) fn digest_of_skill(
    dir: &RunDir,
    run: &RunState,
    report: &Report,
) -> Result<Option<String>, Fault> {
    if name_of(run).is_none() {
        return Ok(None);
    }
    let definition = open_run::pinned(dir.path(), run)?;
    let state = match match_unit(run, report) {
        UnitMatch::Present { token, .. } => run.token(token).map(|token| token.state.clone()),
        UnitMatch::Used { unit } => answered(dir.path(), run, &unit)?.map(|before| before.state),
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

/// The lines of the items that cannot be put in order, where a document has them.
fn disordered(skills: &Skills, refusal: &Refusal) -> Vec<DocumentProblem> {
    let lines = skills.lines.borrow();
    let listed = refusal.details.get("items").and_then(Value::as_array);
    let listed: IndexSet<&str> = listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
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
    let mut frame = Frame::of_state(definition, run.state());
    if run.status != RunStatus::Running {
        // Nobody is asked to do anything.
        "none".clone_into(&mut frame.action);
    }
    frame.item = item_brief(run);
    frame.params = SkillParams {
        item_number: frame.item.as_ref().map(|item| item.number.clone()),
        batch_index: batch_brief(definition, run, 0).map(|batch| batch.index),
    };
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

/// Whether this is the skill that a session begins with.
fn is_first(writer: &RunWriter<'_>, skill_named: &str) -> bool {
    let definition = &writer.call.definition;
    skill(definition, &definition.initial.value) == Some(skill_named)
}
