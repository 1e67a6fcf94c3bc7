//! Items and tasks that are taken up again, or given up.
//!
//! The item in hand moves the session, by the ways aside of its workflow. Of everything else it is noted where it stands, and the
//! session comes to it when it is its turn.

use ::markup::documents::{design, task_graph};
use machine::command::Edit;
use machine::state::ItemStatus;
use machine::trigger::Trigger;
use machine::{Command, Definition, Refusal, RunState};
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
use crate::view::collab::state::{not_run, short, stopped};
use crate::view::collab::update::in_callers_words;
use crate::writer::RunWriter;

/// The field that says why an item or a task is taken up again, or was given up.
const REASON: &str = "reason";
/// The flag that says what an item is from now on.
const KIND: &str = "kind";

/// Which way something is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Reopen,
    Skip,
}

impl Way {
    fn verb(self) -> Verb {
        match self {
            Self::Reopen => Verb::Reopen,
            Self::Skip => Verb::Skip,
        }
    }
}

/// Turns an item of a session of skills, or tasks; without either what the present state goes back to, or gives up.
pub(crate) fn turn_work<'a>(
    view: &'static View,
    mut writer: RunWriter<'a>,
    way: Way,
    turn: &Turn<'_>,
) -> Result<TurnOutcome<'a>, Fault> {
    let reason = turn.reason.trim();
    if reason.is_empty() {
        return Err(no_reason(way.verb()));
    }
    let target = Target::of(&writer.open.run, turn)?;
    match turned(&mut writer, way, &target, reason)? {
        Ok(message) => Ok(TurnOutcome::new(writer, message)),
        Err(refusal) => {
            let (call, run) = (&writer.call, &writer.open.run);
            Err(refused(view, call, run, &refusal))
        }
    }
}

/// What is meant.
enum Target {
    /// What the present state goes back to, or gives up; and what the item in hand is from now on.
    Present(Option<design::Kind>),
    /// An item, and what it is from now on.
    Item(String, Option<design::Kind>),
    /// Tasks.
    Tasks(Vec<String>),
}

impl Target {
    fn of(run: &RunState, turn: &Turn<'_>) -> Result<Self, Fault> {
        let kind = match turn.kind().map(str::trim) {
            None | Some("") => None,
            Some(named) => {
                let unknown = || fault!("usage.kind_of_item", named = short(named));
                Some(design::kind(named).ok_or_else(unknown)?)
            }
        };
        let tasks = turn.tasks();
        match turn.item() {
            Some(_) if !tasks.is_empty() => Err(fault!("usage.item_and_tasks")),
            // A caller that has one word for both names either.
            Some(item)
                if bound::items(run).get(item).is_none()
                    && bound::tasks(run).get(item).is_some() =>
            {
                Ok(Self::Tasks(vec![item.to_owned()]))
            }
            Some(item) => {
                let unfit = || fault!("usage.number_of_item", item = short(item));
                let number = key(&Value::from(item)).ok_or_else(unfit)?;
                Ok(Self::Item(number, kind))
            }
            None if tasks.is_empty() => Ok(Self::Present(kind)),
            None if kind.is_some() => Err(fault!("usage.kind_of_tasks")),
            None => Ok(Self::Tasks(tasks.into_iter().map(str::to_owned).collect())),
        }
    }
}

/// Turns what is meant; what was done, for people.
fn turned(
    writer: &mut RunWriter<'_>,
    way: Way,
    target: &Target,
    reason: &str,
) -> Result<Result<String, Refusal>, Fault> {
    let run = &writer.open.run;
    if let Some(refusal) = stopped(run) {
        return Ok(Err(refusal));
    }
    let in_hand = bound::item_in_hand(run).map(str::to_owned);
    let lost = not_run(&writer.call.definition, run).1;
    let done = match target {
        Target::Tasks(tasks) => {
            let set = bound::tasks_name(run);
            let edits = tasks
                .iter()
                .map(|task| edit(way, (set, task.trim()), reason, None, false))
                .collect();
            edited(writer, edits)?
        }
        Target::Item(item, kind) if in_hand.as_ref() != Some(item) => {
            if let Some(refusal) = needed_in_hand(run, item) {
                return Ok(Err(refusal));
            }
            let mut edits = vec![edit(
                way,
                (&bound::bound(run).items, item),
                reason,
                *kind,
                false,
            )];
            edits.extend(tasks_with(run, way, item, reason));
            edited(writer, edits)?
        }
        Target::Item(_, kind) | Target::Present(kind) => {
            // The item goes last: until then it can be said again.
            if let (Way::Skip, Some(item)) = (way, &in_hand) {
                let edits = tasks_with(run, way, item, reason);
                if let Err(refusal) = edited(writer, edits)? {
                    return Ok(Err(refusal));
                }
            }
            writer.command(&aside(way, reason, *kind))?.map(|_| ())
        }
    };
    // Where all batches are over, what is taken up again is gone to at once.
    if done.is_ok() && way == Way::Reopen && !matches!(target, Target::Present(_)) {
        let (definition, run) = (&writer.call.definition, &writer.open.run);
        let state = definition.state(run.state());
        let leads_back = state.is_some_and(|state| !state.edges(Trigger::Reopen).is_empty());
        let is_free = in_hand.is_none() && bound::batch_in_hand(run).is_none();
        if leads_back && is_free && is_waited_for(definition, run) {
            // What was reopened stands so already, whatever the state makes of this.
            let _ = writer.command(&aside(way, reason, None))?;
        }
    }
    let run = &writer.open.run;
    let lost_by_it: Vec<String> = not_run(&writer.call.definition, run)
        .1
        .into_iter()
        .filter(|task| !lost.contains(task))
        .collect();
    Ok(done
        .map(|()| {
            let done = message(run, way, target, in_hand.as_deref());
            match lost_by_it.as_slice() {
                [] => done,
                lost => format!(
                    "{done}; without it these are not run: {}",
                    listed(lost.iter())
                ),
            }
        })
        .map_err(|refusal| in_callers_words(run, refusal)))
}

/// Whether an item or a batch is still to be done.
fn is_waited_for(definition: &Definition, run: &RunState) -> bool {
    let bound = bound::bound(run);
    [&bound.items, &bound.batches].into_iter().any(|set| {
        let facts = run.set_facts(definition, set, &["remaining".to_owned()]);
        facts.is_some_and(|facts| facts["remaining"].as_u64() > Some(0))
    })
}

/// The present state's own way aside.
fn aside(way: Way, reason: &str, kind: Option<design::Kind>) -> Command {
    let kind = kind.map(|kind| (KIND.to_owned(), Value::from(kind.name())));
    match way {
        Way::Reopen => Command::Reopen {
            item: None,
            reason: reason.to_owned(),
            flags: kind.into_iter().collect(),
            approval: None,
        },
        Way::Skip => Command::Skip {
            item: None,
            reason: reason.to_owned(),
            keep: Map::new(),
            approval: None,
        },
    }
}

/// A refusal where the item in hand is worked out on the ground of `item`, directly or not.
fn needed_in_hand(run: &RunState, item: &str) -> Option<Refusal> {
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
    needed[1..].contains(&item).then(|| {
        Refusal::new("dependents_begun")
            .detail("set", bound::bound(run).items)
            .detail("item", item)
            .detail("dependents", vec![in_hand.to_owned()])
    })
}

fn edited(writer: &mut RunWriter<'_>, edits: Vec<Edit>) -> Result<Result<(), Refusal>, Fault> {
    if edits.is_empty() {
        return Ok(Ok(()));
    }
    let keep = Map::new();
    Ok(writer.command(&Command::Edit { edits, keep })?.map(|_| ()))
}

/// The edit that turns something; `later` is behind all batches that are begun.
fn edit(
    way: Way,
    (set, key): (&str, &str),
    reason: &str,
    kind: Option<design::Kind>,
    later: bool,
) -> Edit {
    let mut fields = Map::new();
    fields.insert(REASON.to_owned(), reason.into());
    if let Some(kind) = kind {
        fields.insert("type".to_owned(), kind.name().into());
    }
    let (set, key) = (set.to_owned(), key.to_owned());
    match way {
        Way::Reopen => Edit::Reopen {
            set,
            key,
            fields,
            later,
        },
        Way::Skip => Edit::Skip { set, key, fields },
    }
}

/// The tasks of an item that go with it. Given up, those that are not done. Taken up again, those that are not done either, which
/// are run when it is worked out, and not before; and its only one, where it has no graph: that is all of the item.
fn tasks_with(run: &RunState, way: Way, item: &str, reason: &str) -> Vec<Edit> {
    let set = bound::tasks_name(run);
    let all = bound::tasks(run).iter();
    let own: Vec<_> = all.filter(|(_, task)| task.text("item") == item).collect();
    let lone = task_graph::lone(item, "");
    let is_alone = matches!(own.as_slice(), [(_, task)] if task.text("name") == lone.tasks[0].id);
    let with = |status: ItemStatus| match way {
        Way::Skip => matches!(status, ItemStatus::Open | ItemStatus::Active),
        Way::Reopen => is_alone || status != ItemStatus::Done,
    };
    let turned = own.iter().filter(|(_, task)| with(task.status));
    turned
        .map(|(id, _)| edit(way, (set, id), reason, None, true))
        .collect()
}

/// What was done.
fn message(run: &RunState, way: Way, target: &Target, in_hand: Option<&str>) -> String {
    let item = match (target, way) {
        (Target::Tasks(tasks), Way::Skip) => return format!("skipped: {}", listed(tasks.iter())),
        (Target::Tasks(tasks), Way::Reopen) => {
            let placed = tasks.iter().map(|id| {
                let task = bound::tasks(run).get(id.trim());
                match task.map(|task| task.text("wave")) {
                    None | Some("") => id.clone(),
                    Some(batch) => format!("{id} in {batch}"),
                }
            });
            return format!("run again: {}", listed(placed));
        }
        (Target::Item(item, _), _) => Some(item.as_str()),
        (Target::Present(_), _) => in_hand,
    };
    match (item, way) {
        (None, Way::Reopen) => "the session goes back to its batches".to_owned(),
        (None, Way::Skip) => "skipped".to_owned(),
        (Some(item), _) => {
            let known = bound::items(run).get(item);
            let title = short(known.map_or("", |item| item.text("title")));
            let done = match way {
                Way::Reopen if in_hand == Some(item) => "worked out again from its beginning",
                Way::Reopen => "worked out again when it is its turn",
                Way::Skip => "skipped",
            };
            format!("item {}, {title}, is {done}", number(item))
        }
    }
}
