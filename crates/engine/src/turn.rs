//! Turns: what is done to a run without a report. One service for every view: what a run works with decides which rules hold,
//! and not the view that it is turned in.

mod abort;
mod adopt;
pub mod answer;
mod past;
pub mod rewind;
pub(crate) mod step;
pub mod submit;

use std::sync::Arc;

use journal::layout::{ProjectDir, RunDir, short_name};
use machine::approval::strong_enough;
use machine::state::{RunStatus, Token};
use machine::trigger::Trigger;
use machine::{Command, Definition, Event, Refusal, RunState};
use serde_json::{Map, Value};

use crate::approval::{Turn, again, present_unit};
use crate::call::{Call, Input};
use crate::capability::files::subject::{TAMPERED, fault as fault_of};
use crate::capability::git::changes::Changes;
use crate::capability::git::read::on_the_branch;
use crate::capability::memory::{DIRTY, DirtyFile, Memory, is_repair};
use crate::capability::tests::read::few;
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::find::{Selector, is_over_a_task};
use crate::generic::messages::{self, RefusalText};
use crate::next_step::{Argument, Verb, steps};
use crate::open_run;
use crate::report::is_read_on_branch;
use crate::summary;
use crate::turn::answer::{TurnAnswer, TurnDetails};
use crate::view::autopilot::kinds;
use crate::view::collab::turn::turn_work;
use crate::view::session::turn::{is_at_cap, may_be_reopened};
use crate::view::{SESSION, View};
use crate::writer::RunWriter;

/// How long a reason may be, in bytes: it stands on every page of the run.
const LONGEST_REASON: usize = 8 * 1024;

/// A run that was turned, still open.
pub(crate) struct TurnOutcome<'a> {
    pub(crate) writer: RunWriter<'a>,
    /// What was done.
    pub(crate) message: String,
    /// Fields of the answer that other turns do not have.
    pub(crate) details: TurnDetails,
}

impl<'a> TurnOutcome<'a> {
    pub(crate) fn new(writer: RunWriter<'a>, message: String) -> Self {
        Self {
            writer,
            message,
            details: TurnDetails::None {},
        }
    }

    /// The run as it is now.
    pub(crate) fn run(&self) -> &RunState {
        &self.writer.open.run
    }

    /// The report of a run that is over by this, for people.
    pub(crate) fn report(&self) -> Option<String> {
        summary::of_end(&self.writer.open.dir, self.run())
    }
}

/// What an effect of these came to.
pub(crate) fn result_of<'e>(events: &'e [Event], effect: &str) -> Option<&'e Value> {
    events.iter().find_map(|event| match event {
        Event::EffectDone { name, result, .. } if name == effect => Some(result),
        _ => None,
    })
}

/// A turn that is asked for, and of which run.
pub(crate) struct Asked<'t> {
    pub(crate) view: &'static View,
    pub(crate) project: ProjectDir,
    pub(crate) dir: RunDir,
    pub(crate) turn: &'t Turn<'t>,
}

/// Takes a turn of the run that is meant.
type Take = fn(&Engine, &Asked<'_>) -> Result<TurnAnswer, Fault>;

impl Engine {
    /// Takes a turn of a run, in the words of a view.
    ///
    /// # Errors
    /// What stands against it. Where a person decides it and nobody was asked: `needs_person`.
    pub fn turn(
        &self,
        view: &'static View,
        run: Option<&str>,
        turn: &Turn<'_>,
    ) -> Result<TurnAnswer, Fault> {
        let bytes = turn.reason.len();
        if bytes > LONGEST_REASON {
            return Err(fault!("too_large.reason", bytes, most = LONGEST_REASON));
        }
        let (meant, needs_reason, take): (_, _, Take) = match turn.verb {
            Verb::Pause => (Selector::Running, false, Self::turn_to_pause),
            Verb::Resume => (Selector::Stopped, false, Self::turn_to_resume),
            Verb::Reopen => (Selector::Running, turn.kind().is_some(), Self::turn_back),
            Verb::Skip => (Selector::Running, true, Self::turn_to_skip),
            Verb::Allow => (Selector::Running, true, Self::turn_to_allow),
            Verb::Rewind => (Selector::Running, false, Self::turn_to_rewind),
            Verb::Adopt => (Selector::Running, false, Self::turn_to_adopt),
            Verb::Submit => (Selector::Running, false, Self::turn_to_submit),
            Verb::Feedback => (Selector::Running, false, Self::turn_to_feedback),
            Verb::Abort => (Selector::NotOver, false, Self::turn_to_abort),
            other => return Err(Fault::bug(format!("`{}` is no turn", other.name()))),
        };
        if needs_reason && turn.reason.trim().is_empty() {
            return Err(no_reason(turn.verb));
        }
        let resumed = match run {
            None if meant == Selector::Stopped && view.only().is_some() => {
                Some(self.only_resumable()?)
            }
            named => named.map(str::to_owned),
        };
        let (project, dir) = self.meant(view, resumed.as_deref(), meant)?;
        let asked = Asked {
            view,
            project,
            dir,
            turn,
        };
        take(self, &asked)
    }

    /// Stops taking reports.
    fn turn_to_pause(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let reason = match asked.turn.reason.trim() {
            "" => "asked for",
            _ => asked.turn.reason,
        };
        let writer = self.writer(&asked.dir, Input::None)?;
        self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        let command = Command::Pause {
            reason: reason.to_owned(),
            approval: self.approval_of_turn(&writer.open, &Turn::new(Verb::Pause, ""))?,
        };
        // Who paused it before said why.
        let message = |run: &RunState| format!("Paused: {}", run.stopped());
        turned(asked.view, writer, &command, message)?.answer(asked.view)
    }

    /// Goes on with a run.
    fn turn_to_resume(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let mut outcome = self.goes_on(asked.view, &asked.project, &asked.dir)?;
        outcome.details = TurnDetails::Resumed { resumed: true };
        outcome.answer(asked.view)
    }

    /// Goes on with this run, or settles what an interrupted call left of it.
    pub(crate) fn goes_on(
        &self,
        view: &'static View,
        project: &ProjectDir,
        dir: &RunDir,
    ) -> Result<TurnOutcome<'_>, Fault> {
        let loaded = open_run::load(dir.path())?;
        if loaded.run.status.is_over() {
            // Whoever ended it may have been killed before the report was written, which this makes good.
            let _ = self.writer(dir, Input::None);
            return Err(over(&loaded.run));
        }
        let writer = self.writer_alone(project, dir, Input::None)?;
        let goes_on = |run: &RunState| format!("The run goes on: {}", short_name(&run.run));
        let run = &writer.open.run;
        if run.status.is_over() {
            // What was interrupted was the end, and that has come about now.
            let message = goes_on(run);
            return Ok(TurnOutcome::new(writer, message));
        }
        self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        if is_over_a_task(run) {
            head_is_there(run)?;
            self.refuse_beside(project, run)?;
        }
        if writer.call.session.is_some() && is_at_cap(&writer.call.definition, run) {
            return Err(fault!("needs_person.goes_on", run = dir.id()));
        }
        let approval = self.approval_of_turn(&writer.open, &Turn::new(Verb::Resume, ""))?;
        turned(view, writer, &Command::Resume { approval }, goes_on)
    }

    /// One step back, by the present state's own rule.
    fn turn_back(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let (view, turn, project) = (asked.view, asked.turn, &asked.project);
        let item = turn.item();
        let writer = self.writer_alone(project, &asked.dir, Input::None)?;
        let says_more = |flag: &String| flag != "item";
        let reason = Some(turn.reason).filter(|_| !turn.flags.keys().any(says_more));
        if let Some(message) = self.aside_before(&writer, Trigger::Reopen, turn.target(), reason)? {
            return TurnOutcome::new(writer, message).answer(view);
        }
        if writer.call.skills.is_some() {
            return turn_work(view, writer, turn)?.answer(view);
        }
        if let Some(kind) = turn.kind() {
            takes_kind(&writer, item, kind)?;
        }
        let run = &writer.open.run;
        let approval = self.approval_of_turn(&writer.open, turn)?;
        if writer.call.session.is_some() {
            may_be_reopened(&writer.call, run, turn)?;
            let held = strong_enough(approval.as_deref(), run.least_approval, "reopen");
            held.map_err(|weak| match weak.code.as_str() {
                "needs_person" => fault!("needs_person.turn_back", run = run.run)
                    .detail("runId", run.run.as_str())
                    .recover(turn.step().in_view(SESSION.name).of(&run.run)),
                _ => refused(view, &writer.call, run, &weak),
            })?;
        }
        if is_over_a_task(run) && run.status == RunStatus::Paused {
            // It ends the pause, so it needs what a resume needs.
            head_is_there(run)?;
            self.refuse_beside(project, run)?;
        }
        let command = Command::Reopen {
            item: item.map(str::to_owned),
            reason: turn.reason.to_owned(),
            flags: turn.flags.clone(),
            approval,
        };
        let definition = Arc::clone(&writer.call.definition);
        let places = move |run: &RunState| {
            let waiting = run
                .waiting()
                .map(|(token, _)| messages::place(&definition, &token.state, token.key()));
            let all: Vec<String> = waiting.collect();
            if all.is_empty() {
                messages::stands(run, &definition)
            } else {
                all.join(", ")
            }
        };
        let from = places(run);
        let was_in_hand = item.is_none_or(|item| {
            let mut tokens = run.tokens.iter();
            tokens.any(|token| token.key() == Some(item))
        });
        let message = |run: &_| match (item, places(run)) {
            (Some(item), now) if !was_in_hand => {
                format!("Reopened: {item} is to be done again; now it is {now}")
            }
            (_, now) => format!("Reopened: from {from} back to {now}"),
        };
        turned(view, writer, &command, message)?.answer(view)
    }

    /// Gives an item up, or the run, by the present state's own rule.
    fn turn_to_skip(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let (view, turn) = (asked.view, asked.turn);
        let (item, reason) = (turn.item(), turn.reason);
        let writer = self.writer_alone(&asked.project, &asked.dir, Input::None)?;
        let said = Some(reason).filter(|_| turn.tasks().is_empty());
        if let Some(message) = self.aside_before(&writer, Trigger::Skip, turn.target(), said)? {
            return TurnOutcome::new(writer, message).answer(view);
        }
        if writer.call.skills.is_some() {
            return turn_work(view, writer, turn)?.answer(view);
        }
        let run = &writer.open.run;
        let present = || run.waiting().next()?.0.key();
        let skipped = item.or_else(present).map(str::to_owned);
        let (keep, left) = if is_over_a_task(run) && run.status == RunStatus::Running {
            left_behind(run)?
        } else {
            (Map::new(), Vec::new())
        };
        let approval = self.approval_of_turn(&writer.open, &Turn::skip(item, ""))?;
        let command = Command::Skip {
            item: item.map(str::to_owned),
            reason: reason.to_owned(),
            keep,
            approval,
        };
        let definition = Arc::clone(&writer.call.definition);
        let unit = present_unit(run).to_owned();
        let message = |run: &RunState| {
            let leads_back = !definition.edges(run.state(), Trigger::Rewind).is_empty();
            match skipped {
                Some(key) if left.is_empty() => format!("Skipped: {key}"),
                Some(key) => format!(
                    "Skipped: {key}. What it left stays out of commits, unless a report names it with {}: {}",
                    Argument("files"),
                    few(&left)
                ),
                None if leads_back && run.status.is_over() => format!(
                    "Skipped: no item was in progress, so the run itself is over, as {}. To take that back: {}",
                    run.status.name(),
                    Verb::Rewind.step().with("to", unit).of(&run.run)
                ),
                None => "Skipped".to_owned(),
            }
        };
        turned(view, writer, &command, message)?.answer(view)
    }

    /// Lets one policy refusal pass for the present unit. Only for a person.
    fn turn_to_allow(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let turn = asked.turn;
        let code = turn.text("code").unwrap_or_default();
        let writer = self.writer(&asked.dir, Input::None)?;
        self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        is_where_it_was(&writer)?;
        let command = Command::Allow {
            code: code.to_owned(),
            reason: turn.reason.to_owned(),
            approval: self.approval_of_turn(&writer.open, turn)?,
        };
        let message = |_: &_| format!("`{code}` will be let pass for this unit; report again");
        turned(asked.view, writer, &command, message)?.answer(asked.view)
    }

    /// What a step aside came to that an earlier call took. Refuses one that names no target when the item that it was meant for was
    /// completed on the way here.
    fn aside_before(
        &self,
        writer: &RunWriter<'_>,
        trigger: Trigger,
        target: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Option<String>, Fault> {
        let before = self.taken_before(writer, trigger, target, reason)?;
        if before.is_none() && target.is_none() {
            is_where_it_was(writer)?;
        }
        Ok(before)
    }
}

/// Refuses a reopening as another kind of work where no subtask in progress takes one.
fn takes_kind(writer: &RunWriter<'_>, item: Option<&str>, kind: &str) -> Result<(), Fault> {
    let run = &writer.open.run;
    let whose = item.map_or_else(
        || "the present subtask".to_owned(),
        |item| format!("subtask {item}"),
    );
    kinds::is_known(&writer.call.definition, kind, &whose)?;
    let is_meant = |token: &Token| {
        let named = |key| item.is_none_or(|item| item == key);
        token.key().is_some_and(named) && !is_repair(run, token)
    };
    if run.tokens.iter().any(is_meant) {
        return Ok(());
    }
    Err(fault!("not_present.kind", whose, kind, run = run.run))
}

/// Has a run take a command.
pub(crate) fn turned<'a>(
    view: &'static View,
    mut writer: RunWriter<'a>,
    command: &Command,
    message: impl FnOnce(&RunState) -> String,
) -> Result<TurnOutcome<'a>, Fault> {
    let status = writer.open.run.status;
    let is_possible = match command {
        Command::Abort { .. } => status.is_called_off(),
        // What broke down may be taken up where it did.
        Command::Reopen { .. } => status == RunStatus::Error,
        _ => false,
    };
    if status.is_over() && !is_possible {
        return Err(over(&writer.open.run));
    }
    take(view, &mut writer, command)?;
    let message = message(&writer.open.run);
    Ok(TurnOutcome::new(writer, message))
}

/// Has a run take a command whatever its status is: what was journalled.
pub(crate) fn take(
    view: &'static View,
    writer: &mut RunWriter<'_>,
    command: &Command,
) -> Result<Vec<Event>, Fault> {
    let done = writer.command(command)?;
    done.map_err(|refusal| refused(view, &writer.call, &writer.open.run, &refusal))
}

/// A refusal of what is no report, in the words of what the run works with.
pub(crate) fn refused(
    view: &'static View,
    call: &Call<'_>,
    run: &RunState,
    refusal: &Refusal,
) -> Fault {
    let definition = &call.definition;
    let waiting = run.waiting().next();
    let state = waiting.map_or(run.state(), |(token, _)| &token.state);
    let said = messages::refusal(run, definition, Some(state), refusal);
    let fault = fault_with(refusal, said);
    let group = if view.is_of_tasks { "autopilot" } else { "run" };
    let way_on = match refusal.code.as_str() {
        "needs_person" | "approval_too_weak" => {
            let again = again(group, run, refusal);
            return fault.detail("runId", run.run.as_str()).recover(again);
        }
        "not_present" if refusal.details.contains_key("gate") => {
            let (approve, reject) = (Verb::Approve.step(), Verb::Reject.step().and("feedback"));
            let back = if call.definition.can_reject(run.state()) {
                format!(", {reject} sends it back")
            } else {
                String::new()
            };
            let advice = format!("a person decides there: {approve} lets it pass{back}");
            return fault.suggest(advice).recover(approve.of(&run.run));
        }
        // Without the clean-up it can be ended.
        "unmerged_work" => Verb::Abort,
        "paused" => Verb::Resume,
        "run_over" => Verb::Summary,
        TAMPERED => Verb::Restore,
        _ if run.status.is_over() => Verb::Status,
        _ => Verb::Next,
    };
    fault.recover(way_on.step().of(&run.run))
}

/// The fault of a refusal, in these words.
pub(crate) fn fault_with(refusal: &Refusal, said: RefusalText) -> Fault {
    Fault {
        details: refusal.details.clone(),
        ..Fault::new(kind_of(refusal), refusal.code.clone(), said.message).suggest(said.suggestion)
    }
}

fn kind_of(refusal: &Refusal) -> Kind {
    match refusal.code.as_str() {
        "stale_unit" | "paused" | "changed_since" => Kind::Conflict,
        "usage" => Kind::Usage,
        _ => Kind::Refused,
    }
}

/// The fault of a turn of a run that is over.
pub(crate) fn over(run: &RunState) -> Fault {
    fault!("run_over.over", run = run.run, status = run.status.name())
}

pub(crate) fn no_reason(verb: Verb) -> Fault {
    fault!(
        "usage.reason",
        verb = verb.name(),
        command = verb.step().and("reason")
    )
}

/// Refuses a step aside that names no item when the one it was meant for was completed on the way here.
fn is_where_it_was(writer: &RunWriter<'_>) -> Result<(), Fault> {
    if !writer.open.moved_on {
        return Ok(());
    }
    let why = "an interrupted step was found to be done, and the run has moved on to ";
    Err(stale(&writer.open.run, &writer.call.definition, why))
}

/// The fault of a turn that was decided on where the run is no longer: `why`, and where it is.
pub(crate) fn stale(run: &RunState, definition: &Definition, why: &str) -> Fault {
    let place = match run.waiting().next() {
        Some((token, _)) => messages::place(definition, &token.state, token.key()),
        None => messages::stands(run, definition),
    };
    fault!("stale_unit.stale", why, place, run = run.run)
}

/// What an item that is skipped leaves in the tree counts as dirty before from then on; with the names.
fn left_behind(run: &RunState) -> Result<(Map<String, Value>, Vec<String>), Fault> {
    let mut memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    let paths = changes.paths();
    for (path, content) in repository.hash_files(&paths)? {
        // What was the user's before the run stays the user's.
        if memory.dirty.get(&path).is_some_and(|before| !before.left) {
            continue;
        }
        memory.dirty.insert(
            path,
            DirtyFile {
                content: content.map(|id| id.as_str().to_owned()),
                left: true,
            },
        );
    }
    Ok((DIRTY.entry(&memory.dirty)?, changes.names()))
}

fn head_is_there(run: &RunState) -> Result<(), Fault> {
    let memory = Memory::of(run)?;
    let reads = |(token, _): (&Token, _)| is_read_on_branch(&token.role);
    if run.pending.is_some() || !run.waiting().any(reads) {
        // The branch may not be there yet, and going on makes it.
        return Ok(());
    }
    let repository = memory.repository();
    let (head, again) = (repository.head()?, format!("go on: {}", Verb::Resume));
    let at = (head.branch.as_deref(), &[][..]);
    on_the_branch(at, &memory, &repository, &again).map_err(|refused| {
        let fault = fault_of(refused);
        let first = steps(&fault.suggestion).into_iter().next();
        fault.recover(first.unwrap_or_else(|| Verb::Resume.step().of(&run.run)))
    })
}
