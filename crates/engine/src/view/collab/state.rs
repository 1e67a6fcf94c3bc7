//! From a run to what is said of its session. A view picks names and shapes; it decides nothing.

use machine::state::{Item, ItemSet, ItemStatus, RunStatus};
use machine::{Definition, Refusal, RunState};
use serde_json::Value;

use crate::call::Call;
use crate::call::Input;
use crate::capability::documents::skills::{display_name, first, name_of, number, skill};
use crate::capability::documents::to_read::to_read;
use crate::capability::documents::{bound, folder};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::next_step;
use crate::open_run;
use crate::view::collab::answer::{
    BatchBrief, BatchState, ItemBrief, SessionBrief, SessionState, TaskBrief, TaskDetails, WorkItem,
};
use crate::view::collab::frame::Frame;

/// What tells everything after a clear is at most this long, in bytes of JSON.
const LONGEST_BRIEF: usize = 1020;
/// How much longer a step can be in the words of a caller than its mark is, in bytes.
const LONGER_IN_WORDS: usize = 10;
/// The most tasks in it.
const MOST_SHOWN: usize = 20;
/// The longest title in it, in characters.
const LONGEST_TITLE: usize = 80;

impl Engine {
    /// All that is needed to go on with a session.
    pub fn collab_brief(&self, session: Option<&str>) -> Result<SessionBrief, Fault> {
        let (dir, run) = self.skills_seen(session)?;
        let call = self.call(&dir, &run, Input::None)?;
        Ok(fitted(&call, &run, session))
    }

    /// A session with every field.
    pub fn collab_state(&self, session: Option<&str>) -> Result<SessionState, Fault> {
        let (dir, run) = self.skills_seen(session)?;
        let call = self.call(&dir, &run, Input::None)?;
        let definition = open_run::pinned(dir.path(), &run)?;
        let state = run.state().to_owned();
        let (skipped, left) = not_run(&definition, &run);
        let blocked = run.blocked(&definition, bound::tasks_name(&run));
        let item = bound::item_in_hand(&run);
        let work_items = work_items(&run);
        let documented = work_items
            .iter()
            .filter(|item| ![bound::PENDING, bound::SKIPPED].contains(&item.status.as_str()))
            .count();
        let mut completed = Vec::new();
        let mut pending = Vec::new();
        for ((id, task), blocked) in tasks(&run).iter().zip(&blocked) {
            match task.status {
                ItemStatus::Done => completed.push(id.to_owned()),
                ItemStatus::Open | ItemStatus::Active if !blocked => pending.push(id.to_owned()),
                _ => {}
            }
        }
        Ok(SessionState {
            session: name_of(&run).unwrap_or_default().to_owned(),
            run_id: run.run.clone(),
            status: run.status.name().to_owned(),
            skill: waiting(&definition, &run),
            unit_id: unit(&run),
            phase: definition.phase(&state).to_owned(),
            display_name: display_name(&definition, &state),
            state,
            last_activity: run.updated_at.clone(),
            current_item: item.map(number).or_else(|| first(&run).map(number)),
            current_item_type: item_brief(&run).map(|item| item.kind),
            total_items: work_items.len() as u64,
            documented_items: documented as u64,
            work_items,
            batches: batches(&definition, &run),
            current_batch: batch_brief(&definition, &run, 0).map(|batch| batch.index),
            completed_tasks: completed,
            pending_tasks: pending,
            failed_tasks: skipped,
            not_run_tasks: left,
            has_snapshot: bound::has_snapshot(&run),
            paused_reason: run.pause.as_ref().map(|pause| pause.reason.clone()),
            documents: dir.path().join(folder::FOLDER).display().to_string(),
            instructions: Frame::present(&call, &run).map(|frame| frame.instructions),
        })
    }
}

/// The brief of a session, made to fit: first some tasks and files go, then lines of the instructions, then more of those.
fn fitted(call: &Call<'_>, run: &RunState, named: Option<&str>) -> SessionBrief {
    /// How many tasks are shown, of each how many that it depends on, and how many files, from the most to the least.
    const ALL: usize = usize::MAX;
    const SHAPES: [(usize, usize, usize); 3] = [(20, ALL, ALL), (8, ALL, 4), (4, ALL, 2)];
    const SHORT_SHAPES: [(usize, usize, usize); 5] =
        [(8, ALL, 2), (4, 8, 2), (2, 4, 1), (1, 2, 1), (0, 0, 0)];
    let definition = &call.definition;
    let state = run.state();
    let read = to_read(call, run);
    let batch = batch_brief(definition, run, MOST_SHOWN);
    let instructions = Frame::present(call, run).map(|frame| frame.instructions);
    let mut brief = SessionBrief {
        session: name_of(run).unwrap_or_default().to_owned(),
        skill: waiting(definition, run),
        done: run.status == RunStatus::Completed,
        status: not_running(run),
        paused_reason: run.pause.as_ref().map(|pause| short(&pause.reason)),
        unit_id: unit(run),
        state: state.to_owned(),
        display_name: display_name(definition, state),
        phase: definition.phase(state).to_owned(),
        item: item_brief(run).map(|item| ItemBrief {
            title: short(&item.title),
            ..item
        }),
        documents: call.dir.join(folder::FOLDER).display().to_string(),
        ..SessionBrief::default()
    };
    let fits = |brief: &SessionBrief| {
        // A step takes more room in the words of the caller than its mark does.
        let told = brief.instructions.as_deref().unwrap_or_default();
        let steps = next_step::steps(told).len();
        let longer = LONGER_IN_WORDS + named.map_or(0, |name| " --session ".len() + name.len());
        let most = LONGEST_BRIEF.saturating_sub(steps * longer);
        serde_json::to_string(brief).is_ok_and(|text| text.len() <= most)
    };
    let shaped = |brief: &mut SessionBrief, (tasks, needs, files): (usize, usize, usize)| {
        brief.batch = batch.clone().map(|batch| batch.cut(tasks, needs));
        brief.read = read.iter().take(files).cloned().collect();
        let more = read.len() - brief.read.len();
        brief.read_more = (more > 0).then_some(more as u64);
    };
    for shape in SHAPES {
        shaped(&mut brief, shape);
        brief.instructions.clone_from(&instructions);
        if fits(&brief) {
            return brief;
        }
    }
    // What to do says more than what there is to read: as much of it as has room beside the tasks in hand.
    brief.instructions_cut = brief.skill.is_some();
    let lines = instructions.as_deref().unwrap_or_default().lines();
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    // The last line says how the skill is completed, and the one before it mostly what to do with what is listed above.
    for ends in [2, 1] {
        let (first, last) = lines.split_at(lines.len().saturating_sub(ends));
        for shape in SHORT_SHAPES {
            shaped(&mut brief, shape);
            for kept in (1..first.len()).rev() {
                let (first, last) = (first[..kept].join("\n"), last.join("\n"));
                brief.instructions = Some(format!("{first}\n…\n{last}"));
                if fits(&brief) {
                    return brief;
                }
            }
        }
    }
    brief.instructions = None;
    for shape in SHORT_SHAPES {
        shaped(&mut brief, shape);
        if fits(&brief) {
            return brief;
        }
    }
    // A path of that length is told with every other field.
    brief.documents.clear();
    brief
}

/// How a session stands that does not go on.
pub(crate) fn not_running(run: &RunState) -> Option<String> {
    (run.status != RunStatus::Running).then(|| run.status.name().to_owned())
}

/// The refusal of whatever is asked of a session that does not go on.
pub(crate) fn stopped(run: &RunState) -> Option<Refusal> {
    match run.status {
        RunStatus::Running => None,
        RunStatus::Paused => Some(Refusal::new("paused")),
        _ => Some(Refusal::new("run_over")),
    }
}

pub(crate) fn short(text: &str) -> String {
    if text.chars().count() <= LONGEST_TITLE {
        return text.to_owned();
    }
    text.chars().take(LONGEST_TITLE - 1).chain(['…']).collect()
}

/// The skill that a session waits for.
pub(crate) fn waiting(definition: &Definition, run: &RunState) -> Option<String> {
    if run.status != RunStatus::Running {
        return None;
    }
    expected(definition, run)
}

/// The same, whether somebody paused it or not: none only where it is over.
pub(crate) fn expected(definition: &Definition, run: &RunState) -> Option<String> {
    if run.status.is_over() {
        return None;
    }
    let (token, _) = run.waiting().next()?;
    skill(definition, &token.state).map(str::to_owned)
}

/// Id of the unit that a session waits for.
pub(crate) fn unit(run: &RunState) -> Option<String> {
    run.waiting().next().map(|(_, unit)| unit.id.clone())
}

/// The work item in hand.
pub(crate) fn item_brief(run: &RunState) -> Option<ItemBrief> {
    let key = bound::item_in_hand(run)?;
    let item = bound::items(run)?.get(key)?;
    Some(ItemBrief {
        number: number(key),
        title: item.text("title").to_owned(),
        kind: item.text("type").to_owned(),
    })
}

/// The batch in hand with at most so many tasks: those first that are still to be done.
pub(crate) fn batch_brief(
    definition: &Definition,
    run: &RunState,
    most: usize,
) -> Option<BatchBrief> {
    let id = bound::batch_in_hand(run)?;
    let batches = bound::batches(run)?;
    let batch = batches.get(id)?;
    let blocked = if most == 0 {
        Vec::new()
    } else {
        run.blocked(definition, bound::tasks_name(run))
    };
    let members: Vec<&str> = batch.texts(bound::tasks_name(run)).collect();
    let mut tasks = Vec::new();
    if most > 0 {
        let open = |id: &&str| is_open(run, &blocked, id);
        let mut chosen: Vec<&str> = members.iter().copied().filter(open).take(most).collect();
        // Of a batch of very many the first ones are found soon, and the others need not be looked at.
        if chosen.len() < most {
            let over = members.iter().copied().filter(|id| !open(id));
            chosen.extend(over.take(most - chosen.len()));
        }
        tasks.extend(chosen.into_iter().filter_map(|id| brief(run, &blocked, id)));
    }
    Some(BatchBrief {
        id: id.to_owned(),
        index: batches.position(id).unwrap_or(0) as u64,
        of: batches.len() as u64,
        tasks_total: (members.len() > tasks.len()).then_some(members.len() as u64),
        tasks,
    })
}

/// How many tasks of the batch in hand are neither completed nor skipped nor left out; not counted where it has more
/// than `most`.
pub(crate) fn remaining(definition: &Definition, run: &RunState, most: usize) -> Option<u64> {
    let (batches, id) = (bound::batches(run)?, bound::batch_in_hand(run)?);
    let tasks = tasks(run);
    if tasks.count(ItemStatus::Failed) == 0 {
        // Nothing is left out: the counts that are kept tell it, however many tasks the batch has.
        batches.position(id)?;
        let declared = definition.items.get(bound::tasks_name(run))?;
        let in_hand = tasks.count_named(Some(id)).into_iter().filter(|(name, _)| {
            matches!(
                declared.meaning(name),
                ItemStatus::Open | ItemStatus::Active
            )
        });
        return Some(in_hand.map(|(_, count)| count as u64).sum());
    }
    let batch = batches.get(id)?;
    if batch.fields.get(bound::tasks_name(run))?.as_array()?.len() > most {
        return None;
    }
    let blocked = run.blocked(definition, bound::tasks_name(run));
    let open = batch
        .texts(bound::tasks_name(run))
        .filter(|id| is_open(run, &blocked, id));
    Some(open.count() as u64)
}

/// Whether a task is neither completed nor skipped nor left out; `blocked` says of every task whether it is left out.
fn is_open(run: &RunState, blocked: &[bool], id: &str) -> bool {
    let tasks = tasks(run);
    let lost = || {
        let at = tasks.position(id);
        at.and_then(|at| blocked.get(at).copied()).unwrap_or(false)
    };
    let status = tasks.status(id);
    status.is_some_and(|status| matches!(status, ItemStatus::Open | ItemStatus::Active)) && !lost()
}

/// A task in few words; `blocked` says of every task whether it is left out.
pub(crate) fn brief(run: &RunState, blocked: &[bool], id: &str) -> Option<TaskBrief> {
    let tasks = bound::tasks(run)?;
    let task = tasks.get(id)?;
    let (status, outcome) = standing(run, task);
    let lost = tasks.position(id).and_then(|at| blocked.get(at).copied());
    Some(TaskBrief {
        id: id.to_owned(),
        status,
        outcome,
        reason: short(task.text("reason")),
        not_run: lost.unwrap_or(false),
        depends_on: task.texts("dependsOn").map(str::to_owned).collect(),
        depends_on_total: None,
        details: None,
    })
}

/// A task with all that its document says; likewise.
pub(crate) fn whole(run: &RunState, blocked: &[bool], id: &str) -> Option<TaskBrief> {
    let task = bound::tasks(run)?.get(id)?;
    let texts = |name: &str| task.texts(name).map(str::to_owned).collect();
    Some(TaskBrief {
        reason: task.text("reason").to_owned(),
        details: Some(TaskDetails {
            item: number(task.text("item")),
            description: task.text("description").to_owned(),
            files: texts("files"),
            tests: texts("tests"),
        }),
        ..brief(run, blocked, id)?
    })
}

/// The status and the outcome of a task, as callers know them.
fn standing(run: &RunState, task: &Item) -> (String, Option<String>) {
    match bound::bound(run).of_task(task.text("status")) {
        bound::SKIPPED => ("failed".to_owned(), Some("failed".to_owned())),
        other => (other.to_owned(), None),
    }
}

/// The tasks that were skipped, and those that are not run because of it.
pub(crate) fn not_run(definition: &Definition, run: &RunState) -> (Vec<String>, Vec<String>) {
    let blocked = run.blocked(definition, bound::tasks_name(run));
    let mut skipped = Vec::new();
    let mut left = Vec::new();
    for ((id, task), blocked) in tasks(run).iter().zip(blocked) {
        if task.status == ItemStatus::Failed {
            skipped.push(id.to_owned());
        } else if blocked {
            left.push(id.to_owned());
        }
    }
    (skipped, left)
}

/// The items that were skipped, and those that are not worked out because of it.
pub(crate) fn not_worked_out(
    definition: &Definition,
    run: &RunState,
) -> (Vec<String>, Vec<String>) {
    let Some(items) = bound::items(run) else {
        return (Vec::new(), Vec::new());
    };
    let blocked = run.blocked(definition, &bound::bound(run).items);
    let of = |with: &dyn Fn(&Item, bool) -> bool| {
        let all = items.iter().zip(&blocked);
        let those = all.filter(|((_, item), blocked)| with(item, **blocked));
        those.map(|((key, _), _)| key.to_owned()).collect()
    };
    (
        of(&|item, _| item.status == ItemStatus::Failed),
        of(&|_, blocked| blocked),
    )
}

/// All batches.
pub(crate) fn batches(definition: &Definition, run: &RunState) -> Vec<BatchState> {
    let blocked = run.blocked(definition, bound::tasks_name(run));
    bound::batches(run)
        .into_iter()
        .flat_map(ItemSet::iter)
        .map(|(id, batch)| BatchState {
            id: id.to_owned(),
            tasks: batch
                .texts(bound::tasks_name(run))
                .filter_map(|task| whole(run, &blocked, task))
                .collect(),
            status: batch.text("status").to_owned(),
            wave: batch
                .fields
                .get("level")
                .and_then(Value::as_u64)
                .unwrap_or(0),
            split: batch.text("split").to_owned(),
        })
        .collect()
}

/// All work items. One is complete when all its tasks are.
fn work_items(run: &RunState) -> Vec<WorkItem> {
    let words = bound::bound(run);
    let mut open: std::collections::HashMap<&str, (usize, usize)> =
        std::collections::HashMap::new();
    for (_, task) in tasks(run).iter() {
        let counts = open.entry(task.text("item")).or_default();
        counts.0 += 1;
        counts.1 += usize::from(task.status == ItemStatus::Done);
    }
    bound::items(run)
        .into_iter()
        .flat_map(ItemSet::iter)
        .map(|(key, item)| {
            let complete = open.get(key).is_some_and(|(all, done)| all == done);
            WorkItem {
                number: number(key),
                title: item.text("title").to_owned(),
                kind: item.text("type").to_owned(),
                status: if complete {
                    "complete"
                } else {
                    words.of_item(item.text("status"))
                }
                .to_owned(),
                depends_on: item.texts("dependsOn").map(number).collect(),
                reason: item.text("reason").to_owned(),
            }
        })
        .collect()
}

/// The tasks; none before they are cut into batches.
fn tasks(run: &RunState) -> &ItemSet {
    static NONE: std::sync::LazyLock<ItemSet> = std::sync::LazyLock::new(ItemSet::default);
    bound::tasks(run).unwrap_or(&NONE)
}
