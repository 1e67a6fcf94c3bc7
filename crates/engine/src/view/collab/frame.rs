//! What the executor of a skill is told, put together when its unit is issued. It stands in the journal with the unit, so
//! that the same completion gets the same answer whenever it is repeated.

use std::collections::HashSet;
use std::path::Path;

use journal::EvidenceStore;
use machine::decide::PromptRequest;
use machine::state::{Item, ItemStatus};
use machine::{Definition, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::documents::skills::{Skills, display_name, is_fresh, skill};
use crate::capability::documents::{bound, folder};
use crate::fault;
use crate::fault::Fault;
use crate::generic::context;
use crate::journal_end::find_backwards;
use crate::library;
use crate::next_step::Verb;
use crate::open_run::{OpenRun, TOLD};
use crate::view::autopilot::instructions;
use crate::view::collab::answer::{BatchBrief, ItemBrief, SkillParams};
use crate::view::collab::state::{batch_brief, given_up, item_brief, not_run};

/// The event that issues a unit, with what its executor is told.
const ISSUED: &str = "unit:issued";

/// How many tasks are told of at length.
pub(crate) const MOST_TASKS: usize = 20;
/// How many splits are told.
const MOST_NOTES: usize = 10;

/// What somebody is told who is asked for a skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    /// The skill.
    pub(crate) skill: String,
    /// The state.
    pub(crate) state: String,
    /// Its name for people.
    pub(crate) display_name: String,
    /// `clear` or `none`.
    pub(crate) action: String,
    /// What it is about.
    pub(crate) params: SkillParams,
    /// The work item in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<ItemBrief>,
    /// The batch in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<BatchBrief>,
    /// What to do.
    pub(crate) instructions: String,
    /// What somebody should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// What there was to do; none in those of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<Work>,
}

/// What there is to do in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The tasks of the batch in hand that are to be done, each with why it is run again.
    tasks: Vec<(String, String)>,
    /// How many items are still to be worked out.
    items: u64,
    /// How many batches are not over.
    batches: u64,
}

impl Work {
    /// Whether an item or a batch is still to be done.
    pub(crate) fn is_left(&self) -> bool {
        self.items + self.batches > 0
    }

    pub(crate) fn of(definition: &Definition, run: &RunState) -> Self {
        let bound = bound::bound(run);
        let remaining = |set: &str| {
            let facts = run.set_facts(definition, set, &["remaining".to_owned()]);
            let remaining = facts.and_then(|facts| facts.get("remaining")?.as_u64());
            remaining.unwrap_or(0)
        };
        let reason = |(id, task): (&str, &Item)| (id.to_owned(), task.text("reason").to_owned());
        Self {
            tasks: to_be_done(definition, run)
                .into_iter()
                .map(reason)
                .collect(),
            items: remaining(&bound.items),
            batches: remaining(&bound.batches),
        }
    }
}

/// The tasks of the batch in hand, but for those that are done or given up, or wait for such a one.
fn to_be_done<'r>(definition: &Definition, run: &'r RunState) -> Vec<(&'r str, &'r Item)> {
    let (given_up, never) = not_run(definition, run);
    let out: HashSet<&str> = given_up.iter().chain(&never).map(String::as_str).collect();
    let tasks = bound::tasks_in_hand(run);
    tasks
        .filter(|(id, task)| task.status != ItemStatus::Done && !out.contains(id))
        .collect()
}

impl Frame {
    /// That of a state, without what there is to do in it.
    pub(crate) fn of_state(definition: &Definition, state: &str) -> Self {
        let is_fresh = is_fresh(definition, state);
        Self {
            skill: skill(definition, state).unwrap_or_default().to_owned(),
            state: state.to_owned(),
            display_name: display_name(definition, state),
            action: if is_fresh { "clear" } else { "none" }.to_owned(),
            ..Self::default()
        }
    }

    /// That of the state in which a run stands, with what is in hand and at most so many tasks of it.
    pub(crate) fn of_run(
        definition: &Definition,
        run: &RunState,
        state: &str,
        most: usize,
    ) -> Self {
        let item = item_brief(run);
        let batch = batch_brief(definition, run, most);
        Self {
            params: SkillParams {
                item_number: item.as_ref().map(|item| item.number.clone()),
                batch_index: batch.as_ref().map(|batch| batch.index),
            },
            item,
            batch,
            ..Self::of_state(definition, state)
        }
    }

    /// That of a unit of an open run, issued now or before.
    pub(crate) fn of_unit(open: &OpenRun<'_>, unit: &str) -> Result<Self, Fault> {
        let dir = &open.dir;
        let present = open.run.waiting().find(|(_, known)| known.id == unit);
        let context = match present {
            Some((_, unit)) => unit.context.clone(),
            None => find_issued(dir, "unit", unit, "context")?.map(|(hash, _)| hash),
        };
        let Some(hash) = context else {
            return Err(Fault::bug(format!("nothing was told with {unit}")));
        };
        match open.issued_text(&hash) {
            Some(bytes) => Self::parse(dir, bytes),
            None => Self::read(dir, &hash),
        }
    }

    /// That of the unit that a session waits for. What its executor was told stands, but where the work itself is another by now: tasks
    /// and items have come and gone since.
    pub(crate) fn present(call: &Call<'_>, run: &RunState) -> Option<Self> {
        let (_, unit) = run.waiting().next()?;
        let issued = Self::read(&call.dir, unit.context.as_deref()?).ok()?;
        let now = Work::of(&call.definition, run);
        if issued.work.as_ref().is_none_or(|then| *then == now) {
            return Some(issued);
        }
        let anew = || {
            let asked = PromptRequest::standing(&call.definition, run)?;
            call.skills.as_ref()?.frame(call, &asked, run, None).ok()
        };
        anew().or(Some(issued))
    }

    /// That of the unit whose context has this hash, in the run's folder.
    pub(crate) fn read(dir: &Path, hash: &str) -> Result<Self, Fault> {
        let kept = EvidenceStore::new(dir);
        let bytes = match kept.get(hash) {
            Ok(bytes) => bytes,
            Err(gone) => {
                let (told, is_far) = find_issued(dir, "context", hash, TOLD)?.ok_or(gone)?;
                let bytes = told.into_bytes();
                if is_far {
                    // The next time it need not be looked for. Where that cannot be written, it costs time and nothing else.
                    let _ = kept.cache(&bytes);
                }
                bytes
            }
        };
        Self::parse(dir, &bytes)
    }

    fn parse(dir: &Path, bytes: &[u8]) -> Result<Self, Fault> {
        serde_json::from_slice(bytes)
            .map_err(|error| fault!("journal_damaged.unit", dir = dir.display(), error))
    }
}

/// What stands under `wanted` where a unit was issued whose field `name` is `value`, the last one that was; and whether the whole
/// journal was read for it.
fn find_issued(
    dir: &Path,
    name: &str,
    value: &str,
    wanted: &str,
) -> Result<Option<(String, bool)>, Fault> {
    find_backwards(dir, |line| {
        // Most lines are about something else.
        if !line.contains(ISSUED) || !line.contains(value) {
            return None;
        }
        let line = serde_json::from_str::<Map<String, Value>>(line).ok()?;
        let field = |name: &str| line.get(name)?.as_str();
        let is_meant = field("event") == Some(ISSUED) && field(name) == Some(value);
        is_meant.then(|| field(wanted).map(str::to_owned))?
    })
}

impl Skills {
    /// What the executor of the unit that is about to be issued is told.
    pub(crate) fn frame(
        &self,
        call: &Call<'_>,
        asked: &PromptRequest,
        run: &RunState,
        broken: Option<&Fault>,
    ) -> Result<Frame, Fault> {
        let definition = &call.definition;
        let token = run
            .token(asked.token)
            .ok_or_else(|| Fault::bug("a unit for no token"))?;
        let state = token.state.as_str();
        let mut frame = Frame {
            notes: notes(definition, run),
            work: Some(Work::of(definition, run)),
            ..Frame::of_run(definition, run, state, MOST_TASKS)
        };
        let template = definition
            .state(state)
            .and_then(|state| state.work.as_ref()?.value.instructions.as_ref());
        frame.instructions = match (broken, template) {
            (Some(fault), _) => instructions::without_template(fault),
            (None, Some(name)) => {
                let text = library::template(call.root, &run.workflow, name)?;
                let mut values = context::values(call, run, token, asked);
                context::overlay(&mut values, self.values(call, run, &frame, &asked.unit));
                let rendered = instructions::render(name, &text, &values)?;
                rendered.trim_end().to_owned()
            }
            (None, None) => format!("{} ({})", frame.display_name, definition.title),
        };
        Ok(frame)
    }

    /// What a template sees besides. Every name that the proof admits is there, whatever the state.
    fn values(&self, call: &Call<'_>, run: &RunState, frame: &Frame, unit: &str) -> Value {
        let number = bound::item_in_hand(run).unwrap_or_default();
        let item = bound::items(run).get(number);
        let text = |field: &str| item.map_or("", |item| item.text(field));
        let tasks = to_be_done(&call.definition, run);
        let shown = tasks.iter().take(MOST_TASKS).map(|(_, task)| &*task.fields);
        let (waiting, of_items) = frame
            .work
            .as_ref()
            .map_or((0, 0), |work| (work.batches, work.items));
        let folder = call.dir.join(folder::FOLDER);
        let place = |name: &str| folder.join(name).display().to_string();
        let index = frame.params.batch_index.unwrap_or(0);
        let report = Verb::Report
            .step()
            .with("skill", &frame.skill)
            .with("unit", unit);
        json!({
            "skill": frame.skill,
            "steps": { "report": report.to_string() },
            "session": {
                "name": self.name,
                "documents": folder.display().to_string(),
                "design": place(folder::DESIGN),
                "graph": place(&folder::graph_name(number)),
            },
            "item": {
                "number": number,
                "title": text("title"),
                "type": text("type"),
                "reason": text("reason"),
                "waiting": of_items,
            },
            "batch": {
                "id": bound::batch_in_hand(run).unwrap_or_default(),
                "index": index,
                "number": index + 1,
                "count": bound::batches(run).len(),
                "tasks": shown.collect::<Vec<_>>(),
                "more": tasks.len().saturating_sub(MOST_TASKS),
                "waiting": waiting,
            },
        })
    }
}

/// What templates may name of the documents, beside what those of every workflow may.
pub(crate) const VARIABLES: [&str; 17] = [
    "skill",
    "session.name",
    "session.documents",
    "session.design",
    "session.graph",
    "item.number",
    "item.title",
    "item.type",
    "item.reason",
    "item.waiting",
    "batch.id",
    "batch.index",
    "batch.number",
    "batch.count",
    "batch.tasks",
    "batch.more",
    "batch.waiting",
];

/// Notes on what was given up and how waves were split, for when execution begins and when it is over.
fn notes(definition: &Definition, run: &RunState) -> Vec<String> {
    if bound::batch_in_hand(run).is_some() || bound::item_in_hand(run).is_some() {
        return Vec::new();
    }
    let (items_skipped, items_left) = given_up(definition, run, &bound::bound(run).items);
    let (skipped, left) = not_run(definition, run);
    let lists = [
        ("items skipped", items_skipped),
        ("items not worked out because of that", items_left),
        ("skipped", skipped),
        ("not run", left),
    ];
    let batches = bound::batches(run);
    let are_begun = batches.count(ItemStatus::Open) < batches.len();
    let told = lists.into_iter().take(if are_begun { 4 } else { 2 });
    let told = told.filter(|(_, ids)| !ids.is_empty());
    let told = told.map(|(what, ids)| format!("{what}: {}", text::listed(ids.iter())));
    let splits = batches.iter().filter(|_| !are_begun);
    let splits = splits.map(|(id, batch)| (id, batch.text("split")));
    let splits = splits.filter(|(_, why)| !why.is_empty());
    let splits = splits.map(|(id, why)| format!("{id} is split off its wave: {why}"));
    let mut notes: Vec<String> = told.chain(splits).collect();
    let more = notes.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        notes.truncate(MOST_NOTES);
        notes.push(format!("and {more} more waves are split"));
    }
    notes
}
