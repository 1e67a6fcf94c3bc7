//! Items and tasks that are taken up again, or given up.
//!
//! The item in hand moves the session, by the ways aside of its workflow. Of everything else it is noted where it stands, and the
//! session comes to it when it is its turn.

use ::markup::documents::{design, task_graph};
use machine::command::Edit;
use machine::state::ItemStatus;
use machine::trigger::Trigger;
use machine::{Command, Refusal, RunState};
use serde_json::{Map, Value};
use text::listed;

use crate::approval::Turn;
use crate::capability::documents::bound;
use crate::capability::documents::skills::{key, number};
use crate::fault;
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::turn::{TurnOutcome, no_reason, refused};
use crate::view::View;
use crate::view::collab::frame::Work;
use crate::view::collab::state::{not_run, short, stopped};
use crate::view::collab::update::in_callers_words;
use crate::writer::RunWriter;

/// The field that says why an item or a task is taken up again, or was given up.
const REASON: &str = "reason";
/// The flag that says what an item is from now on.
const KIND: &str = "kind";

/// Turns an item of a session of skills, or tasks; without either what the present state goes back to, or gives up.
pub(crate) fn turn_work<'a>(
    view: &'static View,
    mut writer: RunWriter<'a>,
    turn: &Turn<'_>,
) -> Result<TurnOutcome<'a>, Fault> {
    let change = Change::of(&writer.open.run, turn)?;
    match change.take(&mut writer)? {
        Ok(message) => Ok(TurnOutcome::new(writer, message)),
        Err(refusal) => {
            let run = &writer.open.run;
            let refusal = in_callers_words(run, refusal);
            Err(refused(view, &writer.call, run, &refusal))
        }
    }
}

/// What is meant by a turn.
enum Target {
    /// What the present state goes back to, or gives up.
    Present,
    Item(String),
    Tasks(Vec<String>),
}

/// Something that is reopened, or else skipped.
struct Change<'t> {
    is_reopening: bool,
    target: Target,
    /// What the item is from now on.
    kind: Option<design::Kind>,
    reason: &'t str,
}

impl<'t> Change<'t> {
    fn of(run: &RunState, turn: &Turn<'t>) -> Result<Self, Fault> {
        let reason = turn.reason.trim();
        if reason.is_empty() {
            return Err(no_reason(turn.verb));
        }
        let kind = turn.kind().map(str::trim).filter(|named| !named.is_empty());
        let unknown = |named| fault!("usage.kind_of_item", named = short(named));
        let kind = kind.map(|named| design::kind(named).ok_or_else(|| unknown(named)));
        let kind = kind.transpose()?;
        let tasks = turn.tasks();
        // A caller that has one word for both names either.
        let is_task = |item: &&str| {
            bound::items(run).get(item).is_none() && bound::tasks(run).get(item).is_some()
        };
        let target = match turn.item() {
            Some(_) if !tasks.is_empty() => return Err(fault!("usage.item_and_tasks")),
            Some(task) if is_task(&task) => Target::Tasks(vec![task.to_owned()]),
            Some(item) => {
                let unfit = || fault!("usage.number_of_item", item = short(item));
                Target::Item(key(&Value::from(item)).ok_or_else(unfit)?)
            }
            None if tasks.is_empty() => Target::Present,
            None if kind.is_some() => return Err(fault!("usage.kind_of_tasks")),
            None => Target::Tasks(tasks.iter().map(|task| task.trim().to_owned()).collect()),
        };
        Ok(Self {
            is_reopening: turn.verb == Verb::Reopen,
            target,
            kind,
            reason,
        })
    }

    /// Makes the change; what was done, for people.
    fn take(&self, writer: &mut RunWriter<'_>) -> Result<Result<String, Refusal>, Fault> {
        let run = &writer.open.run;
        if let Some(refusal) = stopped(run).or_else(|| self.needed_in_hand(run)) {
            return Ok(Err(refusal));
        }
        let in_hand = bound::item_in_hand(run).map(str::to_owned);
        let in_hand = in_hand.as_deref();
        let lost = not_run(&writer.call.definition, run).1;
        let (mut edits, item, is_in_hand) = match &self.target {
            Target::Present => (Vec::new(), in_hand, true),
            Target::Item(item) if in_hand == Some(item) => (Vec::new(), in_hand, true),
            Target::Item(item) => {
                let own = self.edit(&bound::bound(run).items, item, false);
                (vec![own], Some(item.as_str()), false)
            }
            Target::Tasks(tasks) => {
                let tasks = tasks.iter();
                let edits = tasks.map(|task| self.edit(bound::tasks_name(run), task, false));
                (edits.collect(), None, false)
            }
        };
        // One in hand that is taken up again keeps its tasks.
        if let Some(item) = item.filter(|_| !is_in_hand || !self.is_reopening) {
            edits.extend(self.tasks_with(run, item));
        }
        if !edits.is_empty() {
            let keep = Map::new();
            if let Err(refusal) = writer.command(&Command::Edit { edits, keep })? {
                return Ok(Err(refusal));
            }
        }
        // The item in hand goes last: until then it can be said again.
        if is_in_hand && let Err(refusal) = writer.command(&self.aside(self.kind))? {
            return Ok(Err(refusal));
        }
        let (definition, run) = (&writer.call.definition, &writer.open.run);
        let state = definition.state(run.state());
        let leads_back = state.is_some_and(|state| !state.edges(Trigger::Reopen).is_empty());
        let is_free = in_hand.is_none() && bound::batch_in_hand(run).is_none();
        // Where all batches are over, what is taken up again is gone to at once.
        if self.is_reopening
            && !is_in_hand
            && leads_back
            && is_free
            && Work::of(definition, run).is_left()
        {
            // What was reopened stands so already, whatever the state makes of this.
            let _ = writer.command(&self.aside(None))?;
        }
        let run = &writer.open.run;
        let mut lost_by_it = not_run(&writer.call.definition, run).1;
        lost_by_it.retain(|task| !lost.contains(task));
        let mut done = self.message(run, item, in_hand);
        if !lost_by_it.is_empty() {
            let lost = listed(lost_by_it.iter());
            done = format!("{done}; without it these are not run: {lost}");
        }
        Ok(Ok(done))
    }

    /// The present state's own way aside.
    fn aside(&self, kind: Option<design::Kind>) -> Command {
        let (item, reason, approval) = (None, self.reason.to_owned(), None);
        let kind = kind.map(|kind| (KIND.to_owned(), Value::from(kind.name())));
        if self.is_reopening {
            Command::Reopen {
                item,
                reason,
                flags: kind.into_iter().collect(),
                approval,
            }
        } else {
            Command::Skip {
                item,
                reason,
                keep: Map::new(),
                approval,
            }
        }
    }

    /// A refusal where the item in hand is worked out on the ground of the one that is meant, directly or not.
    fn needed_in_hand(&self, run: &RunState) -> Option<Refusal> {
        let Target::Item(item) = &self.target else {
            return None;
        };
        let items = bound::items(run);
        // One that is documented or skipped is worked out no more.
        let is_open = |item: &&str| items.status(item) == Some(ItemStatus::Open);
        let in_hand = bound::item_in_hand(run).filter(is_open)?;
        let mut needed = vec![in_hand];
        let mut at = 0;
        while let Some(next) = needed.get(at).copied() {
            at += 1;
            let item = items.get(next).into_iter();
            let of = item.flat_map(|item| item.texts("dependsOn"));
            let new: Vec<&str> = of.filter(|need| !needed.contains(need)).collect();
            needed.extend(new);
        }
        needed[1..].contains(&item.as_str()).then(|| {
            Refusal::new("dependents_begun")
                .detail("set", bound::bound(run).items)
                .detail("item", item.as_str())
                .detail("dependents", vec![in_hand.to_owned()])
        })
    }

    /// The edit of an item of a set; `later` is behind all batches that are begun.
    fn edit(&self, set: &str, key: &str, later: bool) -> Edit {
        let kind = self.kind.filter(|_| !later);
        let kind = kind.map(|kind| ("type".to_owned(), Value::from(kind.name())));
        let reason = (REASON.to_owned(), Value::from(self.reason));
        let fields = std::iter::once(reason).chain(kind).collect();
        let (set, key) = (set.to_owned(), key.to_owned());
        if self.is_reopening {
            Edit::Reopen {
                set,
                key,
                fields,
                later,
            }
        } else {
            Edit::Skip { set, key, fields }
        }
    }

    /// The tasks of an item that go with it. Given up, those that are not done. Taken up again, those that are not done either,
    /// which are run when it is worked out, and not before; and its only one, where it has no graph: that is all of the item.
    fn tasks_with(&self, run: &RunState, item: &str) -> Vec<Edit> {
        let all = bound::tasks(run).iter();
        let own: Vec<_> = all.filter(|(_, task)| task.text("item") == item).collect();
        let lone = task_graph::lone(item, "");
        let is_alone =
            matches!(own.as_slice(), [(_, task)] if task.text("name") == lone.tasks[0].id);
        let is_open = |status| matches!(status, ItemStatus::Open | ItemStatus::Active);
        let goes_with = |status| match status {
            ItemStatus::Done => self.is_reopening && is_alone,
            status => self.is_reopening || is_open(status),
        };
        let with = own.iter().filter(|(_, task)| goes_with(task.status));
        let edit = |(id, _): &(&str, _)| self.edit(bound::tasks_name(run), id, true);
        with.map(edit).collect()
    }

    /// What was done.
    fn message(&self, run: &RunState, item: Option<&str>, in_hand: Option<&str>) -> String {
        let placed = |id: &String| {
            let task = bound::tasks(run).get(id);
            match task.map_or("", |task| task.text("wave")) {
                "" => id.clone(),
                batch => format!("{id} in {batch}"),
            }
        };
        let Some(item) = item else {
            return match (&self.target, self.is_reopening) {
                (Target::Tasks(tasks), true) => {
                    format!("run again: {}", listed(tasks.iter().map(placed)))
                }
                (Target::Tasks(tasks), false) => format!("skipped: {}", listed(tasks.iter())),
                (_, true) => "the session goes back to its batches".to_owned(),
                (_, false) => "skipped".to_owned(),
            };
        };
        let known = bound::items(run).get(item);
        let title = short(known.map_or("", |item| item.text("title")));
        let done = match self.is_reopening {
            true if in_hand == Some(item) => "worked out again from its beginning",
            true => "worked out again when it is its turn",
            false => "skipped",
        };
        format!("item {}, {title}, is {done}", number(item))
    }
}
