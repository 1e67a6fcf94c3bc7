//! The way back to an earlier step of a run: which ones there are, which one is meant, and taking it.

use std::path::Path;

use journal::{FileJournal, Journal as _, Position, Record};
use machine::trigger::Trigger;
use machine::{Command, Event, RunState};
use serde::Serialize;
use serde_json::Value;

use crate::call::Input;
use crate::capability::git::effects::rewind::REWIND;
use crate::capability::memory::{LAST_COMMIT, START};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::{Selector, is_over_a_task};
use crate::open_run::event_of;
use crate::proof::source;
use crate::turn::answer::TurnAnswer;
use crate::turn::{Asked, TurnOutcome, result_of, take};
use crate::view::View;

/// How people call the step at which the last commit was not made yet.
const LAST: &str = "last-commit";
/// So many names are told.
const MOST_NAMED: usize = 8;

/// A step that a run can be taken back to: somebody was asked for something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PastStep {
    /// The number of the event behind which the run stood there.
    pub event: u64,
    /// The work unit that was asked for.
    pub unit_id: String,
    /// Its state.
    pub state: String,
    /// The phase that it is shown as, where that is called otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Its item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// When it was asked for.
    pub at: String,
    /// The last commit of the run then, shortened; empty where the run makes none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// Whether it was taken back since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// Whether it is where the run stands.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub present: bool,
    #[serde(skip)]
    token: u32,
    /// The step that it was come to from.
    #[serde(skip)]
    before: Option<usize>,
}

/// The steps of a run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PastSteps {
    /// The run.
    pub run_id: String,
    /// Its steps.
    pub steps: Vec<PastStep>,
}

impl PastSteps {
    /// Those of the run in `dir`.
    fn in_dir(dir: &Path) -> Result<Self, Fault> {
        Self::of(&FileJournal::open(dir)?.read(&Position::start())?.records)
    }

    /// Those of a run with this journal.
    pub(crate) fn of(journal: &[Record]) -> Result<Self, Fault> {
        let mut run = RunState::default();
        let (mut all, mut last) = (Self::default(), None);
        let mut asked: Vec<PastStep> = Vec::new();
        for record in journal {
            let event = event_of(record)?;
            run.apply(&record.ts, &event);
            match event {
                Event::UnitIssued {
                    unit,
                    token,
                    state,
                    item,
                    role,
                    ..
                } => asked.push(PastStep {
                    phase: role.phase.filter(|phase| *phase != state),
                    unit_id: unit,
                    state,
                    item,
                    token,
                    at: record.ts.clone(),
                    ..PastStep::default()
                }),
                Event::RunRewound { to, .. } => {
                    // What is asked for anew takes the place of what was asked for then.
                    let then = all.steps.iter().find(|step| step.event == to);
                    last = then.and_then(|step| step.before);
                }
                _ => {}
            }
            if record.k < record.n {
                continue;
            }
            // What is journalled as one is taken back as one.
            for step in asked.drain(..).filter(|_| run.is_a_step()) {
                all.steps.push(PastStep {
                    event: record.seq,
                    commit: source::short(last_commit(&run)),
                    undone: true,
                    before: last,
                    ..step
                });
                last = Some(all.steps.len() - 1);
            }
        }
        if let Some(present) = last.filter(|_| run.is_a_step()) {
            all.steps[present].present = true;
        }
        while let Some(standing) = last {
            all.steps[standing].undone = false;
            last = all.steps[standing].before;
        }
        all.run_id = run.run;
        Ok(all)
    }

    /// The one that `to` names: a work unit, an item, a state or its phase, or what was before the last commit. Of several the
    /// newest that was not taken back; of an item where it began last.
    fn named(&self, to: &str, run: &RunState) -> Result<&PastStep, Fault> {
        let to = to.trim();
        if let Some(step) = self.steps.iter().find(|step| step.unit_id == to) {
            return Ok(step);
        }
        let standing = || self.steps.iter().filter(|step| !step.undone);
        if to == LAST {
            let commit = source::short(last_commit(run));
            let before = standing().rfind(|step| step.commit != commit);
            return before.ok_or_else(|| fault!("not_found.no_commit", run = run.run));
        }
        if let Some(last) = standing().rfind(|step| step.item.as_deref() == Some(to)) {
            let first = standing().find(|step| step.token == last.token);
            return Ok(first.unwrap_or(last));
        }
        let is_called = |name: &str| name.eq_ignore_ascii_case(to);
        let of_state = standing()
            .rfind(|step| is_called(&step.state) || step.phase.as_deref().is_some_and(is_called));
        of_state.ok_or_else(|| self.unknown(to))
    }

    fn unknown(&self, to: &str) -> Fault {
        let is_called = |name: &str| name.eq_ignore_ascii_case(to);
        let undone = self.steps.iter().rfind(|step| {
            let further = [step.phase.as_deref(), step.item.as_deref()];
            is_called(&step.state) || further.into_iter().flatten().any(is_called)
        });
        if let Some(step) = undone {
            let (to, unit, run) = (text::plain::one_line(to), &step.unit_id, &self.run_id);
            return fault!("not_found.undone", to, unit, run);
        }
        let mut names: Vec<&str> = Vec::new();
        for step in self.steps.iter().filter(|step| !step.undone).rev() {
            let unit = Some(step.unit_id.as_str());
            for name in [unit, step.item.as_deref()].into_iter().flatten() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let near = text::nearest(to, names.iter().copied());
        let offered = match near {
            Some(near) => format!("did you mean `{near}`"),
            None => format!("there are: {}", text::listed(names.iter().take(MOST_NAMED))),
        };
        fault!(
            "not_found.unknown",
            to = text::plain::one_line(to),
            offered,
            last = LAST,
            run = self.run_id
        )
    }
}

/// The last commit that the run has made; before that the one that it began on.
fn last_commit(run: &RunState) -> &str {
    let began = || START.value(&run.kept)?.get("head")?.as_str();
    LAST_COMMIT
        .text(&run.kept)
        .or_else(began)
        .unwrap_or_default()
}

impl Engine {
    /// The steps that a run can be taken back to.
    pub fn past_steps(&self, view: &'static View, run: Option<&str>) -> Result<PastSteps, Fault> {
        let (_, dir) = self.meant(view, run, Selector::Running)?;
        PastSteps::in_dir(dir.path())
    }

    /// Takes a run back to a step: the run, its branch and the working tree. What was is kept.
    pub(super) fn turn_to_rewind(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let Asked { project, turn, .. } = asked;
        let mut writer = self.writer_alone(project, &asked.dir, Input::None)?;
        if is_over_a_task(&writer.open.run) {
            self.refuse_beside(project, &writer.open.run)?;
        }
        let to = turn.text("to");
        if let Some(message) = self.taken_before(&writer, Trigger::Rewind, to, Some(turn.reason))? {
            return TurnOutcome::new(writer, message).answer(asked.view);
        }
        let steps = PastSteps::in_dir(asked.dir.path())?;
        let step = steps.named(to.unwrap_or_default(), &writer.open.run)?;
        let command = Command::Rewind {
            to: step.event,
            reason: turn.reason.to_owned(),
            flags: turn.flags.clone(),
            approval: self.approval_of_turn(&writer.open, turn)?,
        };
        let events = take(asked.view, &mut writer, &command)?;
        TurnOutcome::new(writer, told(step, &events)).answer(asked.view)
    }
}

/// What was done, for people.
pub(crate) fn told(step: &PastStep, events: &[Event]) -> String {
    let phase = step.phase.as_ref().unwrap_or(&step.state).to_uppercase();
    let place = match &step.item {
        Some(item) => format!("{phase} of {item}"),
        None => phase,
    };
    let mut message = format!("Back at {place}, as it was at {}", step.at);
    let Some(result) = result_of(events, REWIND) else {
        return message;
    };
    let list = |name: &str| -> Vec<&str> {
        let all = result[name].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect()
    };
    let commits = list("commits");
    if !commits.is_empty() {
        let named = text::plain::one_line(&text::listed(commits.iter().take(MOST_NAMED)));
        let counted = text::counted(commits.len(), "commit");
        message = format!("{message}; {counted} taken back ({named})");
        if result["foreign"].as_u64() > Some(0) {
            message.push_str(", not all of which the run has made");
        }
    }
    let files = text::counted(list("files").len(), "file");
    let files = format!("{files} brought back in the working tree");
    let parts = [
        ("uncommitted", "what no commit had is kept with it"),
        ("files", &files),
        (
            "submodules",
            "these submodules stay as they are, and the next commit takes them in so unless `git submodule update --init` puts them back",
        ),
    ];
    for (name, said) in parts {
        let named = list(name);
        if !named.is_empty() {
            let named = text::plain::one_line(&text::listed(named.iter().take(MOST_NAMED)));
            message = format!("{message}; {said}: {named}");
        }
    }
    let kept = result["keptAs"].as_str().unwrap_or_default();
    format!("{message}. All that was there is kept as {kept}")
}
