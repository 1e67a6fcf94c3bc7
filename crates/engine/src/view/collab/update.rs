//! Setting what callers may set: the items of a session, and what its tasks came to.

use std::collections::HashSet;

use ::markup::documents::design;
use journal::layout::RunDir;
use machine::command::Edit;
use machine::{Command, Refusal, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use text::shortened;

use crate::call::Input;
use crate::capability::documents::bound::{self, Bound, SKIPPED, bound};
use crate::capability::documents::folder::{DESIGN, Document};
use crate::capability::documents::skills::{
    ADD_ITEMS, CURRENT_ITEM, FIRST, HAS_SNAPSHOT, WORK_ITEMS, first, key, name_of, number,
};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::view::collab::answer::{UpdateAnswer, Verdict};
use crate::view::collab::request::{SessionUpdate, TaskUpdate};
use crate::view::collab::state::{Tasks, short, unit};
use crate::writer::RunWriter;
use crate::{fault, refusal};

/// The most items of a session.
const MOST_ITEMS: usize = 1000;
/// The longest title of an item, in bytes.
const LONGEST_TITLE: usize = 500;
/// What is said of a mistake in a field is cut behind so many characters.
const LONGEST_MISTAKE: usize = 300;

impl Engine {
    /// Sets fields of a session: all of them, or none. A session that is not there is begun.
    pub fn collab_update(&self, update: &SessionUpdate) -> Result<UpdateAnswer, Fault> {
        let mut fields = Fields::read(&update.fields)?;
        let known = [WORK_ITEMS, ADD_ITEMS, CURRENT_ITEM, HAS_SNAPSHOT];
        let mut names = update.fields.keys();
        let unknown = names.find(|name| !known.contains(&name.as_str()));
        let session = update.session.as_deref();
        let dir = match self.find_skills(session)? {
            Some(dir) => dir,
            // What is refused is no reason to begin a session.
            None if unknown.is_none() && fields.can_begin() => self.begin_skills(session)?,
            None => self.skills_dir(session)?,
        };
        let (writer, mut updated) = self.edited(&dir, |writer| match unknown {
            Some(name) => Ok(Err(Refusal::new("read_only").detail("field", name.as_str()))),
            None => fields.edits(writer),
        })?;
        if updated.verdict.validated {
            updated.fields = fields_now(&writer.open.run, &update.fields);
            if update.fields.contains_key(ADD_ITEMS) {
                let added = fields.late.iter().filter_map(|item| item.number.as_ref());
                let added: Value = added.map(|Number(key)| number(key)).collect();
                updated.fields.insert("addedItems".to_owned(), added);
            }
        }
        Ok(updated)
    }

    /// Stores what tasks came to: all of it, or nothing.
    pub fn collab_tasks(
        &self,
        session: Option<&str>,
        updates: &[TaskUpdate],
    ) -> Result<UpdateAnswer, Fault> {
        if updates.is_empty() {
            return Err(fault!("usage.no_task"));
        }
        let dir = self.skills_dir(session)?;
        let (writer, mut updated) = self.edited(&dir, |writer| {
            let bound = bound(&writer.open.run);
            let edits = updates.iter().map(|update| task_edit(&bound, update));
            let edits = edits.collect::<Result<Vec<Edit>, Refusal>>();
            Ok(edits.map(|edits| (edits, Map::new())))
        })?;
        if updated.verdict.validated {
            let (run, definition) = (&writer.open.run, &writer.call.definition);
            let ids = updates.iter().map(|update| update.id.trim());
            let tasks = Tasks::of(definition, run);
            updated.tasks = ids.filter_map(|id| tasks.brief(id)).collect();
            updated.remaining = tasks.remaining();
        }
        Ok(updated)
    }

    /// Has a session take the edits that `made` gives: all of them, or none.
    fn edited(
        &self,
        dir: &RunDir,
        made: impl FnOnce(&RunWriter<'_>) -> Result<Result<Edits, Refusal>, Fault>,
    ) -> Result<(RunWriter<'_>, UpdateAnswer), Fault> {
        let mut writer = self.writer(dir, Input::None)?;
        let refusal = match made(&writer)? {
            Ok((edits, keep)) => writer.command(&Command::Edit { edits, keep })?.err(),
            Err(refusal) => Some(refusal),
        };
        let run = &writer.open.run;
        let refusal = refusal.map(|refusal| in_callers_words(run, refusal));
        let unknown = refusal.iter().filter(|it| it.code == "unknown_item");
        let updated = UpdateAnswer {
            verdict: Verdict::new(&writer, refusal.as_ref()),
            session: name_of(run).unwrap_or_default().to_owned(),
            state: run.state().to_owned(),
            unit_id: unit(run),
            expected: unknown
                .flat_map(|_| bound::items(run).keys().map(number))
                .collect(),
            ..UpdateAnswer::default()
        };
        Ok((writer, updated))
    }
}

/// Edits, and what the run is to remember with them.
type Edits = (Vec<Edit>, Map<String, Value>);

/// The number of an item, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "Value")]
struct Number(String);

impl TryFrom<Value> for Number {
    type Error = String;

    fn try_from(given: Value) -> Result<Self, String> {
        let number = key(&given).map(Self);
        number.ok_or_else(|| fault!("usage.item_number", given).message)
    }
}

/// A work item as a caller gives it, then as it is kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "an item")]
struct NewItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Number>,
    title: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    depends_on: Option<Vec<Number>>,
}

impl NewItem {
    /// The item that stands at `place`, with every word of it as it is kept. Those that come late may have no number yet, and stand
    /// where new ones do.
    fn read(given: &Value, place: &str, is_late: bool) -> Result<Self, Fault> {
        let mut item = Self::deserialize(given).map_err(|error| senseless(place, &error))?;
        let title = item.title.unwrap_or_default().trim().to_owned();
        if title.len() > LONGEST_TITLE || title.chars().any(char::is_control) {
            return Err(fault!("usage.item_title", place, most = LONGEST_TITLE));
        }
        let named = item.status.unwrap_or_default();
        let status = match named.trim() {
            "" => Some(design::Status::Pending),
            named => design::status(named),
        };
        let named = short(&named);
        let Some(kind) = design::kind(item.kind.trim()) else {
            return Err(fault!("usage.item_type", place, named = short(&item.kind)));
        };
        let Some(status) = status else {
            return Err(fault!("usage.item_status", place, named));
        };
        match (is_late, &item.number) {
            (false, None) => return Err(fault!("usage.item_without_number", place)),
            (true, _) if title.is_empty() => {
                return Err(fault!("usage.item_without_title", place));
            }
            (true, _) if status != design::Status::Pending => {
                return Err(fault!("usage.item_added_late", place, named));
            }
            _ => {}
        }
        item.title = Some(title);
        kind.name().clone_into(&mut item.kind);
        item.status = (!is_late).then(|| status.name().to_owned());
        item.depends_on.get_or_insert_default();
        Ok(item)
    }

    /// The fields that it has in its set.
    fn fields(&self, bound: &Bound) -> Map<String, Value> {
        let status = self
            .status
            .as_deref()
            .map(|status| bound.item_status(status));
        let item = json!(Self {
            status: status.map(str::to_owned),
            ..self.clone()
        });
        item.as_object().cloned().unwrap_or_default()
    }
}

/// The fields that a caller sets, read.
struct Fields {
    /// All items.
    items: Option<Vec<NewItem>>,
    /// Items that come late.
    late: Vec<NewItem>,
    /// The item to begin with: its number, or null for none of them.
    current: Option<Value>,
    has_snapshot: Option<bool>,
}

impl Fields {
    fn read(given: &Map<String, Value>) -> Result<Self, Fault> {
        if given.is_empty() {
            return Err(fault!(
                "usage.edits",
                work_items = WORK_ITEMS,
                add_items = ADD_ITEMS,
                current_item = CURRENT_ITEM,
                has_snapshot = HAS_SNAPSHOT
            ));
        }
        let current = given.get(CURRENT_ITEM).map(Option::<Number>::deserialize);
        let has_snapshot = given.get(HAS_SNAPSHOT).map(|value| {
            let flag = value.as_bool();
            flag.ok_or_else(|| fault!("usage.snapshot_flag", has_snapshot = HAS_SNAPSHOT, value))
        });
        Ok(Self {
            items: items_of(given, WORK_ITEMS)?,
            late: items_of(given, ADD_ITEMS)?.unwrap_or_default(),
            current: current
                .transpose()
                .map_err(|error| senseless(CURRENT_ITEM, &error))?
                .map(|number| json!(number)),
            has_snapshot: has_snapshot.transpose()?,
        })
    }

    /// Whether a session that has nothing yet could take these.
    fn can_begin(&self) -> bool {
        let items = self.items.iter().flatten();
        let numbers: Vec<&Number> = items.filter_map(|item| item.number.as_ref()).collect();
        let distinct: HashSet<&&Number> = numbers.iter().collect();
        let current = self.current.as_ref().and_then(Value::as_str);
        self.late.is_empty()
            && distinct.len() == numbers.len()
            && current.is_none_or(|current| numbers.iter().any(|Number(number)| number == current))
    }

    /// Gives each item that comes late a number: that of the item which is the same, so that who asks again after a lost answer adds
    /// nothing; else the next one.
    fn number_late(&mut self, run: &RunState) -> Result<(), Refusal> {
        let items = bound::items(run);
        if self.late.is_empty() {
            return Ok(());
        }
        if items.is_empty() {
            // Those of the design document would be passed over.
            return Err(Refusal::new("no_items"));
        }
        let all = items.len() + self.late.len();
        if all > MOST_ITEMS {
            return Err(refusal!("bad_value.items", all, most = MOST_ITEMS));
        }
        let numbers = items.keys().filter_map(|key| key.parse::<u64>().ok());
        let mut highest = numbers.max().unwrap_or(0);
        let bound = bound(run);
        for item in self.late.iter_mut().filter(|item| item.number.is_none()) {
            let fields = item.fields(&bound);
            let is_same = |known: &machine::state::Item| {
                let mut fields = fields.iter();
                fields.all(|(name, value)| known.fields.get(name) == Some(value))
            };
            let same = items.iter().find(|(_, known)| is_same(known));
            let next = || {
                highest += 1;
                highest.to_string()
            };
            item.number = Some(Number(same.map_or_else(next, |(key, _)| key.to_owned())));
        }
        Ok(())
    }

    /// The edits that set them.
    fn edits(&mut self, writer: &RunWriter<'_>) -> Result<Result<Edits, Refusal>, Fault> {
        let run = &writer.open.run;
        if let Err(refusal) = self.number_late(run) {
            return Ok(Err(refusal));
        }
        let bound = bound(run);
        let set = || bound.items.clone();
        let mut edits = Vec::new();
        let mut keep = Map::new();
        // Items first: the one to begin with is one of them.
        if let Some(items) = &self.items {
            let items = items.iter().map(|item| item.fields(&bound)).collect();
            edits.push(Edit::Items { set: set(), items });
            if first(run).is_some() {
                FIRST.forget(&mut keep);
            }
        }
        edits.extend(in_order(run, self.late.clone()).iter().map(|item| {
            let item = item.fields(&bound);
            Edit::Add { set: set(), item }
        }));
        let var = writer.call.definition.vars.get(&bound.item);
        let open = var.and_then(|var| var.open.as_ref());
        let is_open = open.is_some_and(|open| open.is_open(run.state()));
        let has_items = self.items.is_some() || !bound::items(run).is_empty();
        // One of the design document, which is only taken in later, is remembered until then.
        let may_be_of_design = is_open && !has_items;
        match &self.current {
            None => {}
            Some(Value::Null) if may_be_of_design => FIRST.forget(&mut keep),
            Some(Value::String(named)) if may_be_of_design && is_in_design(writer, named)? => {
                FIRST.put(&mut keep, named)?;
            }
            Some(named) => edits.push(Edit::Var {
                name: bound.item.clone(),
                value: named.clone(),
            }),
        }
        edits.extend(self.has_snapshot.map(|has_one| Edit::Var {
            name: bound.snapshot.clone(),
            value: has_one.into(),
        }));
        Ok(Ok((edits, keep)))
    }
}

/// Items that come late, each behind those of them that it depends on, as far as there is such an order.
fn in_order(run: &RunState, mut late: Vec<NewItem>) -> Vec<NewItem> {
    let known = bound::items(run).keys();
    let mut known: HashSet<Number> = known.map(|key| Number(key.to_owned())).collect();
    let mut ordered = Vec::with_capacity(late.len());
    let is_ready = |item: &NewItem, known: &HashSet<Number>| {
        let mut needs = item.depends_on.iter().flatten();
        needs.all(|need| known.contains(need))
    };
    while let Some(at) = late.iter().position(|item| is_ready(item, &known)) {
        let item = late.remove(at);
        known.extend(item.number.clone());
        ordered.push(item);
    }
    ordered.extend(late);
    ordered
}

/// Whether the design document has an item of this number.
fn is_in_design(writer: &RunWriter<'_>, named: &str) -> Result<bool, Fault> {
    let document = Document::read(&writer.call.dir, DESIGN)?;
    let items = document.map(|document| design::read(&document.text).items);
    let mut items = items.into_iter().flatten();
    Ok(items.any(|item| item.number == named))
}

/// The items under `name`, where they are given.
fn items_of(given: &Map<String, Value>, name: &str) -> Result<Option<Vec<NewItem>>, Fault> {
    let Some(value) = given.get(name) else {
        return Ok(None);
    };
    // Some clients hand a list over as the text of it.
    let parsed = value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(items) = parsed.as_ref().unwrap_or(value).as_array() else {
        return Err(fault!("usage.items_no_list", name));
    };
    if items.len() > MOST_ITEMS {
        return Err(fault!("usage.many_items", name, most = MOST_ITEMS));
    }
    let items = items.iter().enumerate().map(|(at, item)| {
        let place = format!("item {} of {name}", at + 1);
        NewItem::read(item, &place, name == ADD_ITEMS)
    });
    items.collect::<Result<_, _>>().map(Some)
}

fn senseless(place: &str, mistake: &dyn std::fmt::Display) -> Fault {
    let mistake = shortened(&mistake.to_string(), LONGEST_MISTAKE);
    fault!("usage.work_item", place, mistake)
}

/// A refusal of an edit, by the code and the name of the field that callers know.
pub(crate) fn in_callers_words(run: &RunState, mut refusal: Refusal) -> Refusal {
    let detail = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    let bound = bound(run);
    let known = [
        (&bound.items, WORK_ITEMS),
        (&bound.item, CURRENT_ITEM),
        (&bound.snapshot, HAS_SNAPSHOT),
    ];
    let mut known = known.into_iter();
    let field =
        known.find(|(own, _)| refusal.code == "not_now" && Some(own.as_str()) == detail("field"));
    if refusal.code == "unknown_item" && detail("set") == Some(&bound.tasks) {
        let meant = meant(run, &refusal);
        "not_found".clone_into(&mut refusal.code);
        refusal = refusal.detail("meant", meant);
    }
    match field {
        Some((_, name)) => refusal.detail("field", name),
        None => refusal,
    }
}

/// The tasks that could be meant by an id that none has: an id that several items use is told apart by its item.
fn meant(run: &RunState, refusal: &Refusal) -> Vec<String> {
    let detail = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    let tasks = bound::tasks(run).iter();
    let same = tasks.filter(|(_, task)| Some(task.text("name")) == detail("item"));
    let same: Vec<&str> = same.map(|(id, _)| id).collect();
    let nearest = detail("nearest").filter(|_| same.is_empty());
    same.into_iter().chain(nearest).map(str::to_owned).collect()
}

fn task_edit(bound: &Bound, update: &TaskUpdate) -> Result<Edit, Refusal> {
    let status = update.status.trim().to_lowercase().replace([' ', '-'], "_");
    let outcome = update.outcome.as_deref().unwrap_or_default().trim();
    let status = match (status.as_str(), outcome) {
        ("failed", "failed") | ("skipped", "") => SKIPPED,
        (known @ ("pending" | "in_progress" | "completed" | "failed"), "") => known,
        (status, "") => return Err(refusal!("bad_status.of_task", status = short(status))),
        (status, outcome) => {
            let status = format!("{} ({})", short(status), short(outcome));
            return Err(refusal!("bad_status.of_task", status));
        }
    };
    let status = Value::from(bound.task_status(status));
    Ok(Edit::Item {
        set: bound.tasks.clone(),
        key: update.id.trim().to_owned(),
        fields: Map::from_iter([("status".to_owned(), status)]),
    })
}

/// The fields that were set, as they are now.
fn fields_now(run: &RunState, given: &Map<String, Value>) -> Map<String, Value> {
    let now = given.keys().map(|name| match name.as_str() {
        WORK_ITEMS | ADD_ITEMS => ("totalItems", json!(bound::items(run).len())),
        CURRENT_ITEM => {
            let item = bound::item_in_hand(run).or_else(|| first(run));
            (CURRENT_ITEM, item.map_or(Value::Null, number))
        }
        _ => (HAS_SNAPSHOT, bound::has_snapshot(run).into()),
    });
    now.map(|(name, value)| (name.to_owned(), value)).collect()
}
