//! Setting what callers may set: the items of a session, and what its tasks came to.

use ::markup::documents::design;
use machine::command::Edit;
use machine::{Command, Event, Refusal, RunState};
use serde_json::{Map, Value, json};

use crate::call::Input;
use crate::capability::documents::bound::{self, Bound, SKIPPED, bound};
use crate::capability::documents::folder::{DESIGN, Document};
use crate::capability::documents::skills::{
    ADD_ITEMS, CURRENT_ITEM, FIRST, HAS_SNAPSHOT, WORK_ITEMS, first, key, name_of, number,
};
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::view::collab::answer::UpdateAnswer;
use crate::view::collab::messages::{RefusalText, refusal_text};
use crate::view::collab::request::{SessionUpdate, TaskUpdate};
use crate::view::collab::state::{brief, remaining, short, unit};
use crate::writer::RunWriter;

/// The most items of a session.
const MOST_ITEMS: usize = 1000;
/// The fields of an item that callers set.
const FIELDS: [&str; 5] = ["number", "title", "type", "status", "dependsOn"];
/// The longest title of an item, in bytes.
const LONGEST_TITLE: usize = 500;
/// Batches with more tasks are not counted through at every update.
const MOST_COUNTED: usize = 256;

impl Engine {
    /// Sets fields of a session: all of them, or none. A session that is not there is begun.
    pub fn collab_update(&self, update: &SessionUpdate) -> Result<UpdateAnswer, Fault> {
        let edits = edits(&update.fields)?;
        let session = update.session.as_deref();
        let dir = match self.find_skills(session)? {
            Some(dir) => dir,
            // What is refused is no reason to begin a session.
            None if edits.as_ref().is_ok_and(|edits| can_begin(edits)) => {
                self.begin_skills(session)?
            }
            None => self.skills_dir(session)?,
        };
        let mut writer = self.writer(&dir, Input::None)?;
        let mut added: Vec<Value> = Vec::new();
        let done = match edits {
            Ok(edits) => match numbered(&writer.open.run, edits) {
                Ok((edits, numbers)) => {
                    added = numbers;
                    let edits = in_words_of(&bound(&writer.open.run), edits);
                    let (edits, keep) = with_first(&writer, edits)?;
                    writer.command(&Command::Edit { edits, keep })?
                }
                Err(refusal) => Err(refusal),
            },
            Err(refusal) => Err(refusal),
        };
        let mut updated = updated(&writer, done);
        if updated.validated {
            updated.fields = fields(&writer.open.run, &update.fields);
            if update.fields.contains_key(ADD_ITEMS) {
                updated.fields.insert("addedItems".to_owned(), added.into());
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
        let edits = updates
            .iter()
            .map(edit)
            .collect::<Result<Vec<_>, Refusal>>();
        let dir = self.skills_dir(session)?;
        let mut writer = self.writer(&dir, Input::None)?;
        let done = match edits {
            Ok(edits) => writer.command(&Command::Edit {
                edits: in_words_of(&bound(&writer.open.run), edits),
                keep: Map::new(),
            })?,
            Err(refusal) => Err(refusal),
        };
        let mut updated = updated(&writer, done);
        if updated.validated {
            let (run, definition) = (&writer.open.run, &writer.call.definition);
            let ids = updates.iter().map(|update| update.id.trim());
            let blocked = run.blocked(definition, bound::tasks_name(run));
            updated.tasks = ids.filter_map(|id| brief(run, &blocked, id)).collect();
            updated.remaining = remaining(definition, run, MOST_COUNTED);
        }
        Ok(updated)
    }
}

/// Whether a session that has nothing yet could take these.
fn can_begin(edits: &[Edit]) -> bool {
    let number = |item: &Map<String, Value>| item.get("number").cloned();
    let given: Vec<Value> = edits
        .iter()
        .flat_map(|edit| match edit {
            Edit::Items { items, .. } => items.iter().filter_map(number).collect(),
            _ => Vec::new(),
        })
        .collect();
    let distinct = given
        .iter()
        .enumerate()
        .all(|(at, one)| !given[..at].contains(one));
    distinct
        && edits.iter().all(|edit| match edit {
            Edit::Add { .. } => false,
            Edit::Var { name, value } if name == CURRENT_ITEM => {
                value.is_null() || given.contains(value)
            }
            _ => true,
        })
}

/// Items that come late, each with a number: that of an item which is the same, or the next one. And the numbers.
fn numbered(run: &RunState, mut edits: Vec<Edit>) -> Result<(Vec<Edit>, Vec<Value>), Refusal> {
    let none = machine::state::ItemSet::default();
    let items = bound::items(run).unwrap_or(&none);
    let mut highest = items
        .keys()
        .filter_map(|key| key.parse().ok())
        .max()
        .unwrap_or(0_u64);
    let mut numbers = Vec::new();
    let late = edits.iter().filter(|edit| matches!(edit, Edit::Add { .. }));
    let all = items.len() + late.count();
    if all > MOST_ITEMS {
        return Err(Refusal::new("bad_value").message(format!(
            "{all} work items are more than the {MOST_ITEMS} that a session has at most"
        )));
    }
    for edit in &mut edits {
        let Edit::Add { item, .. } = edit else {
            continue;
        };
        if items.is_empty() {
            // Those of the design document would be passed over.
            return Err(Refusal::new("no_items"));
        }
        let given = item
            .get("number")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let same = |known: &machine::state::Item| {
            let mut fields = item.iter();
            fields.all(|(name, value)| known.fields.get(name) == Some(value))
        };
        let known = || items.iter().find(|(_, known)| same(known));
        let number = given.or_else(|| known().map(|(key, _)| key.to_owned()));
        let number = number.unwrap_or_else(|| {
            highest += 1;
            highest.to_string()
        });
        // Who asks again after a lost answer is told the same.
        numbers.push(self::number(&number));
        item.insert("number".to_owned(), number.into());
    }
    in_order(&mut edits, items);
    Ok((edits, numbers))
}

/// Brings items that come late into an order in which each comes behind those of them that it depends on, as far as there is one.
fn in_order(edits: &mut Vec<Edit>, items: &machine::state::ItemSet) {
    let (mut late, mut ordered): (Vec<Edit>, Vec<Edit>) = std::mem::take(edits)
        .into_iter()
        .partition(|edit| matches!(edit, Edit::Add { .. }));
    let mut known: std::collections::HashSet<String> = items.keys().map(str::to_owned).collect();
    loop {
        let is_ready = |edit: &Edit| match edit {
            Edit::Add { item, .. } => {
                let needs = item.get("dependsOn").and_then(Value::as_array);
                let mut needs = needs.into_iter().flatten().filter_map(Value::as_str);
                needs.all(|need| known.contains(need))
            }
            _ => true,
        };
        let (ready, waits): (Vec<Edit>, Vec<Edit>) = late.into_iter().partition(is_ready);
        late = waits;
        if ready.is_empty() {
            break;
        }
        for edit in &ready {
            if let Edit::Add { item, .. } = edit {
                let number = item.get("number").and_then(Value::as_str);
                known.extend(number.map(str::to_owned));
            }
        }
        ordered.extend(ready);
    }
    ordered.extend(late);
    *edits = ordered;
}

/// The item to begin with may be one of the design document, which is only taken in later: then it is remembered until it is.
fn with_first(
    writer: &RunWriter<'_>,
    mut edits: Vec<Edit>,
) -> Result<(Vec<Edit>, Map<String, Value>), Fault> {
    let mut keep = Map::new();
    let sets_items = edits.iter().any(|edit| matches!(edit, Edit::Items { .. }));
    let has_items = bound::items(&writer.open.run).is_some_and(|items| !items.is_empty());
    let open = writer
        .call
        .definition
        .vars
        .get(&bound(&writer.open.run).item)
        .and_then(|var| var.open.as_ref());
    let is_open = open.is_some_and(|open| open.is_open(writer.open.run.state()));
    if sets_items && first(&writer.open.run).is_some() {
        FIRST.forget(&mut keep);
    }
    if sets_items || has_items || !is_open {
        return Ok((edits, keep));
    }
    let named = edits.iter().find_map(|edit| match edit {
        Edit::Var { name, value } if *name == bound(&writer.open.run).item => Some(value.clone()),
        _ => None,
    });
    let Some(named) = named else {
        return Ok((edits, keep));
    };
    let known = match (named.as_str(), Document::read(&writer.call.dir, DESIGN)?) {
        (Some(number), Some(document)) => {
            let items = design::read(&document.text).items;
            items.iter().any(|item| item.number == number)
        }
        _ => named.is_null(),
    };
    if known {
        let item = bound(&writer.open.run).item;
        edits.retain(|edit| !matches!(edit, Edit::Var { name, .. } if *name == item));
        match named.as_str() {
            Some(named) => FIRST.put(&mut keep, &named.to_owned())?,
            None => FIRST.forget(&mut keep),
        }
    }
    Ok((edits, keep))
}

/// What became of an edit.
fn updated(writer: &RunWriter<'_>, done: Result<Vec<Event>, Refusal>) -> UpdateAnswer {
    let run = &writer.open.run;
    let mut updated = UpdateAnswer {
        session: name_of(run).unwrap_or_default().to_owned(),
        state: run.state().to_owned(),
        unit_id: unit(run),
        ..UpdateAnswer::default()
    };
    match done {
        Ok(_) => updated.validated = true,
        Err(refusal) => {
            let refusal = in_callers_words(run, refusal);
            let RefusalText {
                message,
                suggestion,
            } = refusal_text(&writer.call.definition, run, &refusal);
            if refusal.code == "unknown_item" {
                let items = bound::items(run)
                    .into_iter()
                    .flat_map(machine::state::ItemSet::keys);
                updated.expected = items.map(number).collect();
            }
            updated.code = Some(refusal.code);
            updated.message = Some(message);
            updated.suggestion = Some(suggestion);
        }
    }
    updated
}

/// A refusal of an edit, by the code that callers know.
pub(crate) fn in_callers_words(run: &RunState, mut refusal: Refusal) -> Refusal {
    let of_tasks =
        refusal.details.get("set").and_then(Value::as_str) == Some(bound::tasks_name(run));
    let known = match refusal.code.as_str() {
        "unknown_item" if of_tasks => Some("not_found"),
        _ => None,
    };
    if let Some(known) = known {
        known.clone_into(&mut refusal.code);
    }
    refusal
}

/// What callers call the tasks.
const TASKS: &str = "tasks";

/// Edits in the words of callers, in those of the run's workflow.
fn in_words_of(bound: &Bound, edits: Vec<Edit>) -> Vec<Edit> {
    let own = |name: String| match name.as_str() {
        WORK_ITEMS => bound.items.clone(),
        TASKS => bound.tasks.clone(),
        CURRENT_ITEM => bound.item.clone(),
        HAS_SNAPSHOT => bound.snapshot.clone(),
        _ => name,
    };
    let edit = |edit| match edit {
        Edit::Var { name, value } => Edit::Var {
            name: own(name),
            value,
        },
        Edit::Items { set, mut items } => {
            for item in &mut items {
                if let Some(Value::String(status)) = item.get_mut("status") {
                    *status = bound.item_status(status).to_owned();
                }
            }
            Edit::Items {
                set: own(set),
                items,
            }
        }
        Edit::Add { set, item } => Edit::Add {
            set: own(set),
            item,
        },
        Edit::Reopen {
            set,
            key,
            fields,
            later,
        } => Edit::Reopen {
            set: own(set),
            key,
            fields,
            later,
        },
        Edit::Skip { set, key, fields } => Edit::Skip {
            set: own(set),
            key,
            fields,
        },
        Edit::Item {
            set,
            key,
            mut fields,
        } => {
            if let Some(Value::String(status)) = fields.get_mut("status") {
                *status = bound.task_status(status).to_owned();
            }
            Edit::Item {
                set: own(set),
                key,
                fields,
            }
        }
    };
    edits.into_iter().map(edit).collect()
}

fn edit(update: &TaskUpdate) -> Result<Edit, Refusal> {
    let status = update.status.trim().to_lowercase().replace([' ', '-'], "_");
    let status = match (status.as_str(), update.outcome.as_deref().map(str::trim)) {
        ("failed", Some("failed")) => SKIPPED,
        ("pending" | "in_progress" | "completed" | "failed", None | Some("")) => &status,
        ("pending" | "in_progress" | "completed" | "failed", Some(outcome)) => {
            return Err(Refusal::new("bad_status").message(format!(
                "the outcome of {} cannot be `{}`: only a failed task has one, which is `failed`",
                short(&update.id),
                short(outcome)
            )));
        }
        (other, _) => {
            return Err(Refusal::new("bad_status")
                .message(format!("a task cannot be `{}`", short(other)))
                .detail("status", short(other)));
        }
    };
    let mut fields = Map::new();
    fields.insert("status".to_owned(), status.into());
    Ok(Edit::Item {
        set: TASKS.to_owned(),
        key: update.id.trim().to_owned(),
        fields,
    })
}

/// The fields of a caller as edits; a refusal where one can never be set.
fn edits(fields: &Map<String, Value>) -> Result<Result<Vec<Edit>, Refusal>, Fault> {
    if fields.is_empty() {
        return Err(fault!(
            "usage.edits",
            work_items = WORK_ITEMS,
            add_items = ADD_ITEMS,
            current_item = CURRENT_ITEM,
            has_snapshot = HAS_SNAPSHOT
        ));
    }
    let mut edits = Vec::new();
    // Items first: the one to begin with is one of them.
    if let Some(items) = fields.get(WORK_ITEMS) {
        edits.push(Edit::Items {
            set: WORK_ITEMS.to_owned(),
            items: work_items(WORK_ITEMS, items)?,
        });
    }
    if let Some(items) = fields.get(ADD_ITEMS) {
        let late = work_items(ADD_ITEMS, items)?;
        edits.extend(late.into_iter().map(|item| Edit::Add {
            set: WORK_ITEMS.to_owned(),
            item,
        }));
    }
    for (name, value) in fields {
        let (name, value) = match name.as_str() {
            WORK_ITEMS | ADD_ITEMS => continue,
            CURRENT_ITEM if value.is_null() => (CURRENT_ITEM, Value::Null),
            CURRENT_ITEM => {
                let number = key(value).ok_or_else(|| {
                    senseless(format!(
                        "`{CURRENT_ITEM}` is {value}, which is no number of an item"
                    ))
                })?;
                (CURRENT_ITEM, Value::from(number))
            }
            HAS_SNAPSHOT if value.is_boolean() => (HAS_SNAPSHOT, value.clone()),
            HAS_SNAPSHOT => {
                return Err(fault!(
                    "usage.snapshot_flag",
                    has_snapshot = HAS_SNAPSHOT,
                    value
                ));
            }
            other => {
                return Ok(Err(Refusal::new("read_only")
                    .message(format!("`{other}` cannot be set"))
                    .detail("name", other)));
            }
        };
        edits.push(Edit::Var {
            name: name.to_owned(),
            value,
        });
    }
    Ok(Ok(edits))
}

/// The items that stand under `name`. Those that are added may have no number yet, and stand where new ones do.
fn work_items(name: &str, value: &Value) -> Result<Vec<Map<String, Value>>, Fault> {
    // Some clients hand a list over as the text of it.
    let parsed = value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(given) = parsed.as_ref().unwrap_or(value).as_array() else {
        return Err(senseless(format!("`{name}` is no list")));
    };
    if given.len() > MOST_ITEMS {
        return Err(senseless(format!(
            "{} work items are more than the {MOST_ITEMS} that a session has at most",
            given.len()
        )));
    }
    let items = given.iter().enumerate();
    items.map(|(at, item)| work_item(name, at, item)).collect()
}

fn work_item(list: &str, at: usize, item: &Value) -> Result<Map<String, Value>, Fault> {
    let is_late = list == ADD_ITEMS;
    let place = format!("work item {} of the list", at + 1);
    let Some(item) = item.as_object() else {
        return Err(senseless(format!("{place} is {item}, which is no item")));
    };
    if let Some(other) = item.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(senseless(format!(
            "{place} has `{other}`, and an item has none"
        )));
    }
    let given = item.get("number").filter(|number| !number.is_null());
    let number = given.and_then(key);
    if number.is_none() && !(is_late && given.is_none()) {
        let number = item.get("number").filter(|number| !number.is_null());
        let has = number.map_or_else(
            || "has no number".to_owned(),
            |number| {
                format!(
                    "has the number {}, which is none",
                    short(&number.to_string())
                )
            },
        );
        return Err(senseless(format!(
            "{place} {has}: it is such as 1, \"2a\" or \"3.1\" (as text: letters, digits, `.`, `-`)"
        )));
    }
    let place = number
        .as_ref()
        .map_or(place, |number| format!("item {number}"));
    let text = |name: &str| match item.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.trim()),
        Some(other) => Err(senseless(format!(
            "`{name}` of {place} is {other}, which is no text"
        ))),
    };
    let title = text("title")?;
    if title.len() > LONGEST_TITLE {
        return Err(senseless(format!(
            "the title of {place} has {} bytes, and {LONGEST_TITLE} are the most",
            title.len()
        )));
    }
    if title.chars().any(char::is_control) {
        return Err(senseless(format!("the title of {place} is no single line")));
    }
    if text("type")?.is_empty() {
        return Err(senseless(format!("{place} has no type")));
    }
    let Some(kind) = design::kind(text("type")?) else {
        return Err(senseless(format!(
            "the type of {place} is `{}`; it is code, task or bugfix",
            text("type")?
        )));
    };
    let status = match text("status")? {
        "" => design::Status::Pending,
        other => design::status(other).ok_or_else(|| {
            senseless(format!(
                "the status of {place} is `{other}`; it is pending, documented or complete"
            ))
        })?,
    };
    let needs = match item.get("dependsOn") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(all)) => all
            .iter()
            .map(|one| {
                key(one).ok_or_else(|| {
                    senseless(format!(
                        "{place} depends on {one}, which is no number of an item"
                    ))
                })
            })
            .collect::<Result<Vec<_>, _>>()?,
        Some(other) => {
            return Err(senseless(format!(
                "`dependsOn` of {place} is {other}, which is no list"
            )));
        }
    };
    let mut fields = Map::new();
    fields.extend(number.map(|number| ("number".to_owned(), Value::from(number))));
    fields.insert("title".to_owned(), title.into());
    fields.insert("type".to_owned(), kind.name().into());
    fields.insert("dependsOn".to_owned(), needs.into());
    if !is_late {
        fields.insert("status".to_owned(), status.name().into());
    } else if status != design::Status::Pending {
        return Err(senseless(format!(
            "{place} is added, and cannot be {} yet",
            status.name()
        )));
    } else if title.is_empty() {
        return Err(senseless(format!("{place} has no title")));
    }
    Ok(fields)
}

fn senseless(message: String) -> Fault {
    Fault::new(Kind::Usage, "usage", message).suggest(
        "an item is {\"number\": 1, \"title\": \"…\", \"type\": \"code\", \"dependsOn\": []}",
    )
}

/// The fields that were set, as they are now.
fn fields(run: &RunState, given: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = Map::new();
    for name in given.keys() {
        let value = match name.as_str() {
            WORK_ITEMS | ADD_ITEMS => {
                json!(bound::items(run).map_or(0, machine::state::ItemSet::len))
            }
            CURRENT_ITEM => {
                let item = bound::item_in_hand(run).or_else(|| first(run));
                item.map_or(Value::Null, number)
            }
            _ => bound::has_snapshot(run).into(),
        };
        let name = match name.as_str() {
            WORK_ITEMS | ADD_ITEMS => "totalItems",
            _ => name,
        };
        fields.insert(name.to_owned(), value);
    }
    fields
}
