//! What expressions see of item sets, of the waves cut out of them, and of cursors.

use serde_json::{Map, Value, json};

use crate::definition::{Definition, ItemSetDef};
use crate::item_set::{Item, ItemSet, ItemStatus};
use crate::state::RunState;

impl RunState {
    /// What an expression sees of an item set: of a long one each fact takes time, and only these `fields` are looked up; all
    /// of them where none are named.
    pub fn set_facts(
        &self,
        definition: &Definition,
        name: &str,
        fields: &[String],
    ) -> Option<Value> {
        let declared = definition.items.get(name)?;
        let asked = |field: &str| fields.is_empty() || fields.iter().any(|asked| asked == field);
        let empty = ItemSet::default();
        let set = self.sets.get(name).unwrap_or(&empty);
        let needs_blocked = ["remaining", "blocked", "next", "count"];
        let blocked = if needs_blocked.into_iter().any(asked) {
            self.lost(definition, name)
        } else {
            Vec::new()
        };
        let mut facts = Map::new();
        let mut put = |field: &str, value: Value| facts.insert(field.to_owned(), value);
        if asked("size") {
            put("size", set.len().into());
        }
        if asked("remaining") || asked("blocked") {
            let lost = blocked.iter().filter(|blocked| **blocked).count();
            let open = set.count(ItemStatus::Open) + set.count(ItemStatus::Active);
            put("remaining", (open - lost.min(open)).into());
            put("blocked", lost.into());
        }
        if asked("done") {
            put("done", set.count(ItemStatus::Done).into());
        }
        if asked("failed") {
            put("failed", set.count(ItemStatus::Failed).into());
        }
        if asked("next") {
            let next = self.next_of(definition, name, &blocked);
            let next = next.map_or_else(|| nothing(declared), |(_, item)| Map::clone(&item.fields));
            put("next", next.into());
        }
        if declared.status.is_some() && asked("count") {
            let blocked = blocked.iter().enumerate().filter(|(_, blocked)| **blocked);
            let blocked = blocked.map(|(at, _)| at);
            put("count", json!(set.counts(declared, None, blocked)));
        }
        Some(Value::Object(facts))
    }

    /// What an expression sees of a cursor: the fields of the item it points at, or all of them empty;
    /// of a wave also how many of its items stand where. `vars` are those that count.
    pub(crate) fn cursor_facts(
        &self,
        definition: &Definition,
        cursor: &str,
        vars: &Map<String, Value>,
    ) -> Option<Value> {
        let (name, declared) = definition.cursor(cursor)?;
        let key = vars.get(cursor).and_then(Value::as_str);
        let item = key.and_then(|key| self.sets.get(name)?.get(key));
        let mut facts = item.map_or_else(|| nothing(declared), |item| Map::clone(&item.fields));
        if let Some(source) = &declared.of
            && let Some(of) = definition.items.get(source)
        {
            let empty = ItemSet::default();
            let set = self.sets.get(source).unwrap_or(&empty);
            let blocked = self.lost(definition, source);
            let keys = || item.into_iter().flat_map(|wave| wave.texts(source));
            let lost: Vec<usize> = if blocked.contains(&true) {
                keys()
                    .filter_map(|key| set.position(key))
                    .filter(|at| blocked.get(*at).copied().unwrap_or(false))
                    .collect()
            } else {
                Vec::new()
            };
            // No item belongs to a wave without a name.
            let wave = item.and(key).unwrap_or_default();
            let none = ItemSet::default();
            let set = if wave.is_empty() { &none } else { set };
            let counts = set.counts(of, Some(wave), lost.iter().copied());
            facts.insert("size".to_owned(), keys().count().into());
            facts.insert("blocked".to_owned(), lost.len().into());
            facts.insert("count".to_owned(), json!(counts));
        }
        Some(Value::Object(facts))
    }

    /// Which items of a set cannot be run any more, because something they need was skipped. Of waves:
    /// those all of whose items are such, or were skipped before their wave was begun.
    pub fn blocked(&self, definition: &Definition, set: &str) -> Vec<bool> {
        let lost = self.lost(definition, set);
        if lost.is_empty() {
            return vec![false; self.sets.get(set).map_or(0, ItemSet::len)];
        }
        lost
    }

    /// The same; empty where there is none, which costs nothing however many items there are.
    fn lost(&self, definition: &Definition, set: &str) -> Vec<bool> {
        let (Some(declared), Some(items)) = (definition.items.get(set), self.sets.get(set)) else {
            return Vec::new();
        };
        let Some(source) = &declared.of else {
            return if items.count(ItemStatus::Failed) == 0 {
                Vec::new()
            } else {
                items.blocked(declared)
            };
        };
        let inner = self.lost(definition, source);
        let Some(of) = self.sets.get(source) else {
            return Vec::new();
        };
        if inner.is_empty() {
            return Vec::new();
        }
        let is_lost = |wave: &Item| {
            let is_skipped =
                |key| wave.status == ItemStatus::Open && of.status(key) == Some(ItemStatus::Failed);
            wave.status != ItemStatus::Done
                && wave.texts(source).all(|key| {
                    let at = of.position(key).and_then(|at| inner.get(at));
                    at.copied().unwrap_or(false) || is_skipped(key)
                })
        };
        items.iter().map(|(_, wave)| is_lost(wave)).collect()
    }

    /// The item that comes next: that of the preferred cursor while it is ready, else the first open one
    /// whose needs are done.
    fn next_of(
        &self,
        definition: &Definition,
        set: &str,
        blocked: &[bool],
    ) -> Option<(&str, &Item)> {
        let declared = definition.items.get(set)?;
        let items = self.sets.get(set)?;
        let can = |item: &Item| item.status == ItemStatus::Open && items.is_ready(item, declared);
        let preferred = declared
            .prefer
            .as_ref()
            .and_then(|cursor| self.pointed_at(&cursor.value))
            .and_then(|key| items.nth(items.position(key)?));
        if let Some((key, item)) = preferred
            && can(item)
        {
            return Some((key, item));
        }
        items.ready_but(declared, blocked)
    }
}

/// An item that is not there: every field at its empty value.
fn nothing(declared: &ItemSetDef) -> Map<String, Value> {
    declared
        .fields
        .iter()
        .map(|(name, field)| (name.value.clone(), field.empty()))
        .collect()
}
