//! Completing skills: the present state decides what was meant, and names what is next.

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
use crate::capability::documents::skills::{
    Skills, display_name, is_fresh, name_of, number, skill, skills,
};
use crate::capability::git::effects;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::journal_end::JournalEnd;
use crate::next_step::Verb;
use crate::open_run;
use crate::report::{ReportOutcome, answered, decided};
use crate::verdict::GIVEN;
use crate::view::collab::answer::{DocumentProblem, SkillAnswer, SkillParams};
use crate::view::collab::frame::Frame;
use crate::view::collab::messages::{self, RefusalText, refusal_text};
use crate::view::collab::request::SkillDone;
use crate::view::collab::state::{expected, item_brief, not_running, unit};
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
        let unexpected = Refusal::new("unexpected_skill").detail("skill", skill);
        let run = &writer.open.run;
        match match_unit(run, &report) {
            UnitMatch::Used { unit } => {
                return match answered(&writer.open.dir, &writer.open.run, &unit)? {
                    Some(before) if before.name.as_deref().unwrap_or(&before.state) == skill => {
                        Ok(recorded(writer, &before))
                    }
                    // That of a unit whose session was ended.
                    _ if run.status.is_over() => {
                        let refusal = Refusal::new("run_over");
                        Ok(self.refused(writer, report.unit.as_deref(), &refusal))
                    }
                    // Nobody has completed it, and nobody can any more.
                    None => {
                        let refusal = unexpected.detail("unit", unit).detail("left", true);
                        Ok(self.refused(writer, report.unit.as_deref(), &refusal))
                    }
                    Some(_) => {
                        let refusal = unexpected.detail("unit", unit);
                        Ok(self.refused(writer, report.unit.as_deref(), &refusal))
                    }
                };
            }
            UnitMatch::Present { token, .. } => {
                let state = run.token(token).map_or("", |token| token.state.as_str());
                if crate::capability::documents::skills::skill(&writer.call.definition, state)
                    != Some(skill)
                {
                    return Ok(self.refused(writer, report.unit.as_deref(), &unexpected));
                }
                if report.unit.is_none() && may_be_said_again(writer, skill)? {
                    let refusal = Refusal::new("which_one")
                        .detail("skill", skill)
                        .detail("unit", unit(run));
                    return Ok(self.refused(writer, None, &refusal));
                }
            }
            UnitMatch::Stale if report.unit.is_none() => {
                return Ok(self.refused(writer, None, &unexpected));
            }
            UnitMatch::Stale => {
                let refusal = Refusal::new("stale_unit").detail("unit", report.unit.clone());
                return Ok(self.refused(writer, report.unit.as_deref(), &refusal));
            }
            UnitMatch::Paused | UnitMatch::Over => {}
        }
        let unit = report.unit.clone().or_else(|| unit(run));
        match decided(writer, report)? {
            ReportOutcome::Decided { report, .. } | ReportOutcome::Repeated(report) => {
                Ok(recorded(writer, &report))
            }
            ReportOutcome::Refused(refusal) => Ok(self.refused(writer, unit.as_deref(), &refusal)),
            ReportOutcome::EffectFailed {
                code,
                message,
                suggestion,
            } => Err(effects::fault(code, message, suggestion)),
        }
    }

    /// Nothing moved: what was expected, and why.
    pub(crate) fn refused(
        &self,
        writer: &RunWriter<'_>,
        unit: Option<&str>,
        refusal: &Refusal,
    ) -> SkillAnswer {
        let run = &writer.open.run;
        let mut answer = standing(writer);
        let RefusalText {
            message,
            suggestion,
        } = refusal_text(&writer.call.definition, run, refusal);
        self.note_refused(&writer.open.dir, unit, Some(&refusal.code), &message);
        answer.validated = false;
        answer.code = Some(refusal.code.clone());
        answer.message = Some(message);
        answer.suggestion = Some(suggestion);
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

/// Whether a completion that names no unit could be that of the item before, said once more: nothing but clearing lies in
/// between, and it was of the same skill.
fn may_be_said_again(writer: &RunWriter<'_>, skill: &str) -> Result<bool, Fault> {
    let (run, definition) = (&writer.open.run, &writer.call.definition);
    if bound::item_in_hand(run).is_none() || is_fresh(definition, run.state()) {
        return Ok(false);
    }
    let of_skill =
        |report: &AcceptedReport| report.name.as_deref().unwrap_or(&report.state) == skill;
    match &run.last {
        None => Ok(false),
        Some(last) if !is_fresh(definition, &last.state) => Ok(of_skill(last)),
        Some(_) => {
            // The last work that was accepted; none where somebody went back since.
            let work_of = |line: &str| -> Option<Option<AcceptedReport>> {
                let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
                match Event::from_fields(fields.get("event")?.as_str()?, &fields) {
                    Ok(Event::ReportAccepted(report)) => {
                        (!is_fresh(definition, &report.state)).then(|| Some(*report))
                    }
                    Ok(Event::StateEntered {
                        cause: Trigger::Reopen,
                        ..
                    }) => Some(None),
                    _ => None,
                }
            };
            let work = |end: &JournalEnd| end.lines_backwards().find_map(work_of);
            let dir = &writer.open.dir;
            let near = JournalEnd::read(dir, NEAR)?;
            let last = match work(&near) {
                None if !near.is_whole => work(&JournalEnd::read(dir, u64::MAX)?),
                found => found,
            };
            Ok(last.flatten().is_some_and(|report| of_skill(&report)))
        }
    }
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

/// How far back the last completed skill is looked for first, in bytes.
const NEAR: u64 = 64 * 1024;

/// The lines of the items that cannot be put in order, where a document has them.
fn disordered(skills: &Skills, refusal: &Refusal) -> Vec<DocumentProblem> {
    let lines = skills.lines.borrow();
    let listed = refusal.details.get("items").and_then(Value::as_array);
    let mut told: Vec<&str> = Vec::new();
    let mut problems = Vec::new();
    for item in listed.into_iter().flatten().filter_map(Value::as_str) {
        if let Some(line) = lines.get(item).filter(|_| !told.contains(&item)) {
            told.push(item);
            problems.push(DocumentProblem {
                code: refusal.code.clone(),
                document: DESIGN.to_owned(),
                item: Some(number(item)),
                line: *line,
                message: refusal.message.clone().unwrap_or_default(),
                suggestion: String::new(),
            });
        }
    }
    problems
}

/// Whether two names are of one skill.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    let plain = one.is_ascii() && other.is_ascii();
    one.eq_ignore_ascii_case(other) || !plain && one.to_lowercase() == other.to_lowercase()
}

/// What is said of a completion that was taken in, now or before: always the same, unless somebody stopped the session.
fn recorded(writer: &RunWriter<'_>, report: &AcceptedReport) -> SkillAnswer {
    let run = &writer.open.run;
    let next = report.answer.next.clone().unwrap_or_else(|| run.next());
    let mut answer = match &next {
        Next {
            status: RunStatus::Running,
            unit: Some(unit),
            ..
        } if run.status != RunStatus::Aborted => {
            let mut answer = match Frame::of_unit(&writer.open, unit) {
                Ok(frame) => of_frame(frame),
                // It was taken in all the same.
                Err(gone) => {
                    let mut answer = of_state(writer, next.state.as_deref().unwrap_or_default());
                    answer.notes.push(gone.message);
                    answer
                }
            };
            answer.unit_id = Some(unit.clone());
            if run.status == RunStatus::Paused {
                answer.status = not_running(run);
            }
            answer
        }
        // What was told then is not to be done any more.
        _ => standing(writer),
    };
    name_of(run)
        .unwrap_or_default()
        .clone_into(&mut answer.session);
    answer.validated = report.answer.validated;
    answer.code.clone_from(&report.code);
    let told = report.warnings.iter();
    answer
        .notes
        .extend(told.map(|warning| messages::warning(report, warning)));
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
pub(crate) fn standing(writer: &RunWriter<'_>) -> SkillAnswer {
    let run = &writer.open.run;
    let definition = &writer.call.definition;
    let mut answer = of_state(writer, run.state());
    name_of(run)
        .unwrap_or_default()
        .clone_into(&mut answer.session);
    answer.next_skill = expected(definition, run);
    answer.unit_id = unit(run);
    answer.done = run.status == RunStatus::Completed;
    answer.status = not_running(run);
    if answer.status.is_some() {
        // Nobody is asked to do anything.
        "none".clone_into(&mut answer.action);
    }
    answer.item = item_brief(run);
    answer.params.item_number = answer.item.as_ref().map(|item| item.number.clone());
    let batch = crate::view::collab::state::batch_brief(definition, run, 0);
    answer.params.batch_index = batch.map(|batch| batch.index);
    answer
}

/// What is known of a state without anything that was told.
fn of_state(writer: &RunWriter<'_>, state: &str) -> SkillAnswer {
    let definition = &writer.call.definition;
    SkillAnswer {
        validated: true,
        next_skill: skill(definition, state).map(str::to_owned),
        action: if is_fresh(definition, state) {
            "clear"
        } else {
            "none"
        }
        .to_owned(),
        params: SkillParams::default(),
        state: state.to_owned(),
        display_name: display_name(definition, state),
        ..SkillAnswer::default()
    }
}

fn of_frame(frame: Frame) -> SkillAnswer {
    SkillAnswer {
        validated: true,
        next_skill: Some(frame.skill),
        action: frame.action,
        params: frame.params,
        state: frame.state,
        display_name: frame.display_name,
        item: frame.item,
        batch: frame.batch,
        instructions: Some(frame.instructions),
        notes: frame.notes,
        ..SkillAnswer::default()
    }
}
