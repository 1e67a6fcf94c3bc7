//! From a run to what is said of its session. A view picks names and shapes; it decides nothing.

use std::collections::HashSet;

use machine::state::{Item, ItemSet, ItemStatus, RunStatus};
use machine::{Definition, Refusal, RunState};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::call::Input;
use crate::capability::documents::skills::{
    display_name, first, first_skill, name_of, number, skill,
};
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
        let tasks = Tasks::of(&definition, &run);
        let item = bound::item_in_hand(&run);
        let work_items = work_items(&run);
        let documented = work_items
            .iter()
            .filter(|item| ![bound::PENDING, bound::SKIPPED].contains(&item.status.as_str()))
            .count();
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
            completed_tasks: tasks.ids(|id| tasks.all.status(id) == Some(ItemStatus::Done)),
            pending_tasks: tasks.ids(|id| tasks.is_open(id)),
            failed_tasks: skipped,
            not_run_tasks: left,
            has_snapshot: bound::has_snapshot(&run),
            paused_reason: run.pause.as_ref().map(|pause| pause.reason.clone()),
            documents: dir.path().join(folder::FOLDER).display().to_string(),
            instructions: Frame::present(&call, &run).map(|frame| frame.instructions),
        })
    }
}

/// Takes a piece from a brief, where more than so many of its kind are there. Whether there was one.
type Cut = fn(&mut SessionBrief, usize) -> bool;

/// What is taken from a brief that is too long, what is needed least first, and how much of it stays.
const CUTS: [(Cut, usize); 13] = [
    (cut_task, 8),
    (cut_file, 4),
    (cut_task, 4),
    (cut_file, 2),
    (cut_needs, 8),
    (cut_line, 2),
    (cut_needs, 2),
    (cut_task, 1),
    (cut_file, 1),
    (cut_line, 0),
    (cut_task, 0),
    (cut_file, 0),
    // A path of that length is told with every other field.
    (cut_documents, 0),
];

/// The brief of a session, made to fit: it says at most what has room.
fn fitted(call: &Call<'_>, run: &RunState, named: Option<&str>) -> SessionBrief {
    let definition = &call.definition;
    let state = run.state();
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
        batch: batch_brief(definition, run, MOST_SHOWN),
        documents: call.dir.join(folder::FOLDER).display().to_string(),
        read: to_read(call, run),
        instructions: Frame::present(call, run).map(|frame| frame.instructions),
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
    for (cut, least) in CUTS {
        while !fits(&brief) && cut(&mut brief, least) {}
    }
    brief
}

/// Takes the last element of a list that has more than `least`; whether it did.
fn cut<T>(list: &mut Vec<T>, least: usize) -> bool {
    list.len() > least && list.pop().is_some()
}

fn cut_task(brief: &mut SessionBrief, least: usize) -> bool {
    brief.batch.as_mut().is_some_and(|batch| {
        let all = batch.tasks.len() as u64;
        cut(&mut batch.tasks, least) && *batch.tasks_total.get_or_insert(all) > 0
    })
}

fn cut_needs(brief: &mut SessionBrief, least: usize) -> bool {
    let mut tasks = brief.batch.iter_mut().flat_map(|batch| &mut batch.tasks);
    tasks.any(|task| {
        let all = task.depends_on.len();
        task.depends_on.truncate(least);
        all > least && *task.depends_on_total.get_or_insert(all as u64) > 0
    })
}

fn cut_file(brief: &mut SessionBrief, least: usize) -> bool {
    let is_cut = cut(&mut brief.read, least);
    if is_cut {
        *brief.read_more.get_or_insert(0) += 1;
    }
    is_cut
}

/// The last line says how the skill is completed, and the one before it mostly what to do with what is listed above.
fn cut_line(brief: &mut SessionBrief, least: usize) -> bool {
    const GAP: &str = "…";
    let Some(text) = &brief.instructions else {
        return false;
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<&str> = lines.filter(|line| *line != GAP).collect();
    let count = lines.len();
    let cut = match count {
        _ if least == 0 => None,
        0..=2 => return false,
        _ => {
            let at = if count > 3 { count - 3 } else { 1 };
            lines[at] = GAP;
            Some(lines.join("\n"))
        }
    };
    // Of a session that waits for nothing, nothing is left out that is to be done.
    brief.instructions_cut = brief.skill.is_some();
    brief.instructions = cut;
    true
}

fn cut_documents(brief: &mut SessionBrief, _: usize) -> bool {
    !std::mem::take(&mut brief.documents).is_empty()
}

/// What the texts of refusals may name of a session of skills; none where the run is none.
pub(crate) fn facts(definition: &Definition, run: &RunState) -> Option<Map<String, Value>> {
    name_of(run)?;
    let words = bound::bound(run);
    let tasks = |statuses: &[&str]| -> Vec<&str> {
        let tasks = bound::tasks_in_hand(run);
        let is_meant = |task: &Item| statuses.contains(&words.of_task(task.text("status")));
        let those = tasks.filter(|(_, task)| is_meant(task));
        those.map(|(id, _)| id).collect()
    };
    let facts = json!({
        "due": expected(definition, run),
        "first": first_skill(definition),
        "unit": unit(run),
        "item": bound::item_in_hand(run),
        "open": tasks(&["pending", "in_progress"]),
        "failed": tasks(&["failed"]),
    });
    facts.as_object().cloned()
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
    let item = bound::items(run).get(key)?;
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
    let batches = bound::batches(run);
    let members: Vec<&str> = batches.get(id)?.texts(bound::tasks_name(run)).collect();
    let mut briefs = Vec::new();
    if most > 0 {
        let tasks = Tasks::of(definition, run);
        let is_over = |id: &&str| !tasks.is_open(id);
        let open = members.iter().copied().filter(|id| !is_over(id));
        // Of a batch of very many the first ones are found soon, and the others need not be looked at.
        let chosen = open
            .chain(members.iter().copied().filter(is_over))
            .take(most);
        briefs.extend(chosen.filter_map(|id| tasks.brief(id)));
    }
    Some(BatchBrief {
        id: id.to_owned(),
        index: batches.position(id)? as u64,
        of: batches.len() as u64,
        tasks_total: (members.len() > briefs.len()).then_some(members.len() as u64),
        tasks: briefs,
    })
}

/// The tasks of a session.
pub(crate) struct Tasks<'r> {
    run: &'r RunState,
    all: &'r ItemSet,
    /// Of each whether it is left out, because something it depends on was skipped.
    blocked: Vec<bool>,
}

impl<'r> Tasks<'r> {
    pub(crate) fn of(definition: &Definition, run: &'r RunState) -> Self {
        Self {
            run,
            all: bound::tasks(run),
            blocked: run.blocked(definition, bound::tasks_name(run)),
        }
    }

    /// Whether a task is neither completed nor skipped nor left out.
    fn is_open(&self, id: &str) -> bool {
        let status = self.all.status(id);
        let is_blocked = || self.all.position(id).is_some_and(|at| self.blocked[at]);
        matches!(status, Some(ItemStatus::Open | ItemStatus::Active)) && !is_blocked()
    }

    /// The ids of those that are meant.
    fn ids(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let ids = self.all.keys().filter(|id| is_meant(id));
        ids.map(str::to_owned).collect()
    }

    /// How many of the batch in hand are open.
    pub(crate) fn remaining(&self) -> Option<u64> {
        bound::batch_in_hand(self.run)?;
        let tasks = bound::tasks_in_hand(self.run);
        Some(tasks.filter(|(id, _)| self.is_open(id)).count() as u64)
    }

    /// A task in few words.
    pub(crate) fn brief(&self, id: &str) -> Option<TaskBrief> {
        let task = self.all.get(id)?;
        let words = bound::bound(self.run);
        let status = words.of_task(task.text("status"));
        let is_skipped = status == bound::SKIPPED;
        Some(TaskBrief {
            id: id.to_owned(),
            status: if is_skipped { "failed" } else { status }.to_owned(),
            outcome: is_skipped.then(|| "failed".to_owned()),
            reason: short(task.text("reason")),
            not_run: self.blocked[self.all.position(id)?],
            depends_on: task.texts("dependsOn").map(str::to_owned).collect(),
            ..TaskBrief::default()
        })
    }

    /// A task with all that its document says.
    fn whole(&self, id: &str) -> Option<TaskBrief> {
        let task = self.all.get(id)?;
        let texts = |name: &str| task.texts(name).map(str::to_owned).collect();
        Some(TaskBrief {
            reason: task.text("reason").to_owned(),
            details: Some(TaskDetails {
                item: number(task.text("item")),
                description: task.text("description").to_owned(),
                files: texts("files"),
                tests: texts("tests"),
            }),
            ..self.brief(id)?
        })
    }
}

/// The tasks that were skipped, and those that are not run because of it.
pub(crate) fn not_run(definition: &Definition, run: &RunState) -> (Vec<String>, Vec<String>) {
    given_up(definition, run, bound::tasks_name(run))
}

/// The items of a set that were skipped, and those that are left out because of it.
pub(crate) fn given_up(
    definition: &Definition,
    run: &RunState,
    set: &str,
) -> (Vec<String>, Vec<String>) {
    let (mut skipped, mut left) = (Vec::new(), Vec::new());
    let items = run.sets.get(set).into_iter().flat_map(ItemSet::iter);
    for ((key, item), blocked) in items.zip(run.blocked(definition, set)) {
        if item.status == ItemStatus::Failed {
            skipped.push(key.to_owned());
        } else if blocked {
            left.push(key.to_owned());
        }
    }
    (skipped, left)
}

/// All batches.
pub(crate) fn batches(definition: &Definition, run: &RunState) -> Vec<BatchState> {
    let tasks = Tasks::of(definition, run);
    bound::batches(run)
        .iter()
        .map(|(id, batch)| BatchState {
            id: id.to_owned(),
            tasks: batch
                .texts(bound::tasks_name(run))
                .filter_map(|task| tasks.whole(task))
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
    let tasks = bound::tasks(run);
    let planned: HashSet<&str> = tasks.iter().map(|(_, task)| task.text("item")).collect();
    let undone = tasks
        .iter()
        .filter(|(_, task)| task.status != ItemStatus::Done);
    let open: HashSet<&str> = undone.map(|(_, task)| task.text("item")).collect();
    bound::items(run)
        .iter()
        .map(|(key, item)| {
            let is_complete = planned.contains(key) && !open.contains(key);
            WorkItem {
                number: number(key),
                title: item.text("title").to_owned(),
                kind: item.text("type").to_owned(),
                status: if is_complete {
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
