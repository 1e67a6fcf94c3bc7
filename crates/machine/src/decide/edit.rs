//! Edits: what the definition leaves open to callers, all of it or nothing.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::fill::SetContent;
use super::{Planner, Stop};
use crate::command::Edit;
use crate::definition::open::{ADD, ALL, Open, REOPEN, SKIP};
use crate::definition::{ItemSetDef, STATUS, WAVE};
use crate::event::Event;
use crate::item_set::{Item, ItemSet, ItemStatus};
use crate::refusal::Refusal;
use crate::state::{ROOT, RunStatus};

impl Planner<'_> {
    pub(super) fn edit(&mut self, edits: &[Edit], keep: &Map<String, Value>) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let mut vars = Map::new();
        // Items that stand elsewhere now, and where each stood.
        let mut moved: Vec<(&str, &str, ItemStatus)> = Vec::new();
        // What is run again, by its set: that which is to be run behind all that is begun.
        let mut reopened: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
        for edit in edits {
            match edit {
                Edit::Var { name, value } => {
                    let field = self.definition.vars.get(name);
                    self.opened(name, field.and_then(|field| field.open.as_ref()))?;
                    let value = self.given(name, value)?;
                    vars.insert(name.clone(), value);
                }
                Edit::Items { set, items } => {
                    // A cursor that was just set may lose its item again.
                    self.keep_vars(&mut vars, &Map::new());
                    self.edit_set(set, items)?;
                }
                Edit::Add { set, item } => self.edit_add(set, item)?,
                Edit::Item { set, key, fields } => {
                    if let Some(before) = self.edit_item(set, key, fields)? {
                        moved.push((set, key, before));
                    }
                }
                Edit::Reopen {
                    set,
                    key,
                    fields,
                    later,
                } => {
                    let before = self.edit_status(set, key, (REOPEN, ItemStatus::Open), fields)?;
                    moved.push((set, key, before));
                    let behind = reopened.entry(set).or_default();
                    behind.extend(later.then_some(key.as_str()));
                }
                Edit::Skip { set, key, fields } => {
                    let before = self.edit_status(set, key, (SKIP, ItemStatus::Failed), fields)?;
                    moved.push((set, key, before));
                }
            }
        }
        for (set, later) in reopened {
            self.cut_again(set, &later)?;
        }
        // Judged when all of them stand where they are said to: one may need another.
        let mut judged = HashSet::new();
        for (set, key, before) in moved {
            if judged.insert((set, key)) {
                self.may_stand(set, key, before)?;
            }
        }
        self.keep_vars(&mut vars, keep);
        Ok(())
    }

    /// Journals vars, and what the run is to remember, as far as either is new.
    fn keep_vars(&mut self, vars: &mut Map<String, Value>, keep: &Map<String, Value>) {
        let mut values = std::mem::take(vars);
        values.retain(|name, value| self.run.vars.get(name) != Some(value));
        let new = keep
            .iter()
            .any(|(name, value)| self.run.kept.get(name).unwrap_or(&Value::Null) != value);
        if !values.is_empty() || new {
            self.push(Event::VarsChanged {
                values,
                keep: keep.clone(),
            });
        }
    }

    /// Whether a caller may set what is called `name` now.
    fn opened(&self, name: &str, open: Option<&Open>) -> Result<(), Stop> {
        let Some(open) = open else {
            return Err(Stop::refused(
                Refusal::new("read_only")
                    .message(format!(
                        "`{name}` follows from the rails, and cannot be set"
                    ))
                    .detail("field", name),
            ));
        };
        let state = self.state_of(ROOT);
        if open.is_open(&state) {
            return Ok(());
        }
        let states: Vec<&str> = open.states().iter().map(|at| at.value.as_str()).collect();
        Err(Stop::refused(
            Refusal::new("not_now")
                .detail("field", name)
                .detail("state", state)
                .detail(
                    "states",
                    states.iter().copied().map(Value::from).collect::<Vec<_>>(),
                ),
        ))
    }

    /// The value of a var, as it is kept.
    fn given(&self, name: &str, value: &Value) -> Result<Value, Stop> {
        let kind = self.definition.vars.get(name).map(|field| &field.kind);
        if kind.is_none_or(|kind| !kind.admits(value)) {
            let kind = kind.map(ToString::to_string).unwrap_or_default();
            return Err(Stop::refused(
                Refusal::new("bad_value")
                    .message(format!("`{name}` cannot be {value}: it is of type {kind}"))
                    .detail("field", name),
            ));
        }
        if let Some((set, _)) = self.definition.cursor(name)
            && let Some(key) = value.as_str().filter(|key| !key.is_empty())
        {
            self.item(set, key)?;
        }
        self.var(name, value.clone())
    }

    fn edit_set(&mut self, set: &str, items: &[Map<String, Value>]) -> Result<(), Stop> {
        let definition = self.definition;
        let declared = definition.items.get(set);
        let open = declared.and_then(|declared| declared.open.get(ALL));
        self.opened(set, open)?;
        let Some(declared) = declared else {
            return Ok(());
        };
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            all.push(self.whole(set, declared, item)?);
        }
        let filled = if declared.waves.is_some() {
            self.filling(set, declared, all)?
        } else {
            // What they need is judged when they are to be run: they may come in several calls.
            let mut seen = HashSet::new();
            for item in &all {
                let key = super::values::key_of(declared, item);
                if !seen.insert(key) {
                    return Err(Stop::refused(
                        Refusal::new("bad_dependencies")
                            .message(format!("the id {key} is used twice"))
                            .detail("items", vec![key.to_owned()]),
                    ));
                }
            }
            vec![SetContent {
                set: set.to_owned(),
                items: all,
            }]
        };
        self.fill(filled);
        Ok(())
    }

    /// An item of a set as a caller gives it, with every declared field.
    fn whole(
        &self,
        set: &str,
        declared: &ItemSetDef,
        item: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Stop> {
        for (name, value) in item {
            fits(declared, name, value)?;
        }
        let key = &declared.key.value;
        let has_key = item.get(key).and_then(Value::as_str);
        if has_key.is_none_or(str::is_empty) {
            return Err(Stop::refused(
                Refusal::new("bad_value")
                    .message(format!("an item of `{set}` has no `{key}`"))
                    .detail("field", key.as_str()),
            ));
        }
        self.completed(set, declared, item)
    }

    /// Adds an item behind all others; the same one again is there already. What it needs is there, too.
    fn edit_add(&mut self, set: &str, item: &Map<String, Value>) -> Result<(), Stop> {
        let definition = self.definition;
        let declared = definition.items.get(set);
        self.opened(set, declared.and_then(|declared| declared.open.get(ADD)))?;
        let Some(declared) = declared else {
            return Ok(());
        };
        let whole = self.whole(set, declared, item)?;
        let known = self.run.sets.get(set);
        let known = known.and_then(|items| items.get(super::values::key_of(declared, &whole)));
        let is_there = known.is_some_and(|known| {
            let mut fields = item.iter();
            fields.all(|(name, value)| known.fields.get(name) == Some(value))
        });
        if is_there {
            return Ok(());
        }
        self.filled_up(set, declared, whole)
    }

    /// Has an item stand where those do that are not begun, or that are given up; where it stood before.
    fn edit_status(
        &mut self,
        set: &str,
        key: &str,
        (verb, status): (&str, ItemStatus),
        fields: &Map<String, Value>,
    ) -> Result<ItemStatus, Stop> {
        let definition = self.definition;
        let declared = definition.items.get(set);
        self.opened(set, declared.and_then(|declared| declared.open.get(verb)))?;
        let before = self.item(set, key)?;
        let stood = before.status;
        let mut names = declared.into_iter().filter_map(|set| set.status.as_ref());
        let name = names.find_map(|names| names.value.first(status));
        let (Some(declared), Some(name)) = (declared, name) else {
            return Ok(stood);
        };
        let mut changed = fields.clone();
        for (name, value) in &changed {
            fits(declared, name, value)?;
            changeable(set, declared, name)?;
        }
        changed.insert(STATUS.to_owned(), name.into());
        changed.retain(|name, value| before.fields.get(name) != Some(value));
        if !changed.is_empty() {
            self.change_item(set.to_owned(), key.to_owned(), changed);
        }
        Ok(stood)
    }

    /// Has what can be run again of waves that are over be run: in the wave in hand, whose items may wait for it; else in waves
    /// that are cut anew. So is what is to be run `later`, which leaves the wave in hand with all that needs it there.
    fn cut_again(&mut self, set: &str, later: &HashSet<&str>) -> Result<(), Stop> {
        let definition = self.definition;
        let declared = definition.items.get(set);
        let Some((declared, waves)) = declared.and_then(|of| Some((of, of.waves.as_ref()?))) else {
            return Ok(());
        };
        let into = &waves.into.value;
        let (Some(items), Some(waves)) = (self.run.sets.get(set), self.run.sets.get(into)) else {
            return Ok(());
        };
        let taken = self.to_cut_again(items, waves, (set, declared), later);
        if taken.is_empty() {
            return Ok(());
        }
        let leaves: HashSet<&str> = taken.iter().map(String::as_str).collect();
        let mut changed: Vec<(String, Vec<String>)> = Vec::new();
        for (id, wave) in waves.iter() {
            let stays = wave.texts(set).filter(|key| !leaves.contains(key));
            let mut keys: Vec<String> = stays.map(str::to_owned).collect();
            if wave.status == ItemStatus::Active && later.is_empty() {
                keys.extend(taken.iter().cloned());
            }
            if wave.status != ItemStatus::Open && keys.len() != wave.texts(set).count() {
                changed.push((id.to_owned(), keys));
            }
        }
        let in_hand =
            |(id, wave): (&str, &Item)| (wave.status == ItemStatus::Active).then(|| id.to_owned());
        let joins = waves.iter().find_map(in_hand).filter(|_| later.is_empty());
        for (id, keys) in changed {
            let fields = Map::from_iter([(set.to_owned(), keys.into())]);
            self.change_item(into.clone(), id, fields);
        }
        if let Some(id) = joins {
            for key in taken {
                let fields = Map::from_iter([(WAVE.to_owned(), id.as_str().into())]);
                self.change_item(set.to_owned(), key, fields);
            }
            return Ok(());
        }
        let all = self.all_of(set);
        let filled = self.filling(set, declared, all)?;
        self.fill(filled);
        Ok(())
    }

    /// The keys of what can be run of waves that are over and, in the wave in hand, of what is to be run later and what needs it.
    fn to_cut_again(
        &self,
        items: &ItemSet,
        waves: &ItemSet,
        (set, declared): (&str, &ItemSetDef),
        later: &HashSet<&str>,
    ) -> Vec<String> {
        let blocked = self.run.blocked(self.definition, set);
        let needs = declared.needs.as_ref().map(|needs| needs.value.as_str());
        let mut taken: Vec<String> = Vec::new();
        for (_, wave) in waves.iter() {
            let open = |key: &&str| items.status(key) == Some(ItemStatus::Open);
            let of_wave: Vec<&str> = wave.texts(set).filter(open).collect();
            match wave.status {
                ItemStatus::Done => {
                    let can_run = |key: &&str| items.position(key).is_some_and(|at| !blocked[at]);
                    taken.extend(of_wave.into_iter().filter(can_run).map(str::to_owned));
                }
                ItemStatus::Active => {
                    let mut out: HashSet<&str> = later.clone();
                    loop {
                        let before = out.len();
                        let waits = |key: &&str| {
                            let item = items.get(key);
                            item.is_some_and(|item| {
                                item.needed(needs).any(|need| out.contains(need))
                            })
                        };
                        let more: Vec<&str> = of_wave.iter().copied().filter(waits).collect();
                        out.extend(more);
                        if out.len() == before {
                            break;
                        }
                    }
                    let leaves = of_wave.into_iter().filter(|key| out.contains(key));
                    taken.extend(leaves.map(str::to_owned));
                }
                _ => {}
            }
        }
        taken
    }

    /// Changes fields of an item; where it stood, if it stands elsewhere now.
    fn edit_item(
        &mut self,
        set: &str,
        key: &str,
        fields: &Map<String, Value>,
    ) -> Result<Option<ItemStatus>, Stop> {
        let definition = self.definition;
        let Some(declared) = definition.items.get(set) else {
            self.opened(set, None)?;
            return Ok(None);
        };
        for name in fields.keys() {
            self.opened(
                name,
                declared.open.get(name).or_else(|| declared.open.get(ALL)),
            )?;
        }
        let item = self.item(set, key)?;
        let mut changed = Map::new();
        for (name, value) in fields {
            fits(declared, name, value)?;
            if item.fields.get(name) == Some(value) {
                continue;
            }
            changeable(set, declared, name)?;
            changed.insert(name.clone(), value.clone());
        }
        if changed.is_empty() {
            return Ok(None);
        }
        let before = changed.contains_key(STATUS).then_some(item.status);
        self.change_item(set.to_owned(), key.to_owned(), changed);
        Ok(before)
    }

    fn item(&self, set: &str, key: &str) -> Result<&Item, Stop> {
        let known = self.run.sets.get(set);
        known.and_then(|known| known.get(key)).ok_or_else(|| {
            let near = known.and_then(|known| text::nearest(key, known.keys()));
            Stop::refused(
                Refusal::new("unknown_item")
                    .detail("item", key)
                    .detail("set", set)
                    .detail("nearest", near.map(str::to_owned)),
            )
        })
    }

    /// Whether an item may stand where it stands now; `before` is where it stood.
    fn may_stand(&self, set: &str, key: &str, before: ItemStatus) -> Result<(), Stop> {
        let definition = self.definition;
        let (Some(declared), Some(items)) = (definition.items.get(set), self.run.sets.get(set))
        else {
            return Ok(());
        };
        let item = self.item(set, key)?;
        let wave = item.text(WAVE);
        let of_wave =
            |code: &str| Stop::refused(Refusal::new(code).detail("item", key).detail("wave", wave));
        let waves = declared.waves.as_ref();
        let waves = waves.and_then(|waves| self.run.sets.get(&waves.into.value));
        let stands = waves.and_then(|waves| waves.status(wave));
        if stands == Some(ItemStatus::Done) {
            return Err(of_wave("batch_over"));
        }
        let needs = declared.needs.as_ref().map(|needs| needs.value.as_str());
        // What is given up need never come in hand.
        let is_begun = matches!(item.status, ItemStatus::Active | ItemStatus::Done);
        if is_begun && !items.is_ready(item, declared) {
            let is_done = |need: &str| items.status(need) == Some(ItemStatus::Done);
            let unmet: Vec<String> = item
                .needed(needs)
                .filter(|need| !is_done(need))
                .map(str::to_owned)
                .collect();
            return Err(Stop::refused(
                Refusal::new("needs_unmet")
                    .detail("item", key)
                    .detail("needs", unmet),
            ));
        }
        // What stands in different waves is kept apart, so one wave is in hand at a time.
        let another = waves.is_some_and(|waves| waves.count(ItemStatus::Active) > 0);
        if is_begun && stands == Some(ItemStatus::Open) && another {
            return Err(of_wave("not_in_batch"));
        }
        if before == ItemStatus::Done && item.status != ItemStatus::Done {
            let begun: Vec<String> = items
                .iter()
                .filter(|(_, other)| {
                    let is_begun = matches!(other.status, ItemStatus::Active | ItemStatus::Done);
                    is_begun && other.needed(needs).any(|need| need == key)
                })
                .map(|(other, _)| other.to_owned())
                .collect();
            if !begun.is_empty() {
                return Err(Stop::refused(
                    Refusal::new("dependents_begun")
                        .detail("set", set)
                        .detail("item", key)
                        .detail("dependents", begun),
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a field that changes with all items of its set alone.
fn changeable(set: &str, declared: &ItemSetDef, name: &str) -> Result<(), Stop> {
    if !declared.fixes_place(name) {
        return Ok(());
    }
    Err(Stop::refused(
        Refusal::new("read_only")
            .message(format!(
                "`{name}` fixes the place of an item: it comes with all items of `{set}`"
            ))
            .detail("field", name),
    ))
}

/// Whether `value` is one for that field of an item.
fn fits(declared: &ItemSetDef, name: &str, value: &Value) -> Result<(), Stop> {
    let refusal = match declared.fields.get(name) {
        Some(field) if field.kind.admits(value) => return Ok(()),
        Some(field) => Refusal::new(if name == STATUS {
            "bad_status"
        } else {
            "bad_value"
        })
        .message(format!("`{name}` cannot be {value}: it is {}", field.kind)),
        None => Refusal::new("bad_value").message(format!("an item has no `{name}`")),
    };
    Err(Stop::refused(refusal.detail("field", name)))
}
