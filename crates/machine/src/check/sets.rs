//! Item sets and cursors: keys, statuses, waves, and where callers may change what.

use super::shape::{identifier, is_name};
use crate::definition::open::{ADD, ALL, Open, REOPEN, SKIP};
use crate::definition::{
    Definition, FieldType, ItemSetDef, LEVEL, SPLIT, STATUS, WAVE, is_written,
};
use crate::diagnostic::{Diagnostic, Located};
use crate::scope::STANDING;
use text::nearest;

pub(super) fn check(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    for (name, set) in definition.items.iter() {
        if set.of.is_some() {
            // It is cut out of another set: all that can be wrong with it stands there.
            identifier(name, faults);
            standing(name, faults);
            gone_through(definition, name, faults);
            continue;
        }
        one(definition, name, set, faults);
    }
    for (name, field) in definition.inputs.iter() {
        if field.open.is_some() {
            faults.push(Diagnostic::new(
                "misplaced_key",
                name.at,
                format!(
                    "the input `{}` is given at the start, and stays",
                    name.value
                ),
                "declare what callers may set under `vars`",
            ));
        }
        if matches!(field.kind, FieldType::Ref(_)) {
            faults.push(Diagnostic::new(
                "bad_cursor",
                name.at,
                "an input cannot point at an item: there is none before the run begins",
                "declare it under `vars`",
            ));
        }
    }
    for (name, field) in definition.vars.iter() {
        if let Some(open) = &field.open {
            states(definition, open, faults);
        }
        let FieldType::Ref(set) = &field.kind else {
            continue;
        };
        cursor(definition, name, set, field.default.is_some(), faults);
    }
}

/// A var that points at items is seen under its own name, like the item of an `each`.
fn cursor(
    definition: &Definition,
    name: &Located<String>,
    set: &str,
    has_default: bool,
    faults: &mut Vec<Diagnostic>,
) {
    let mut fault = |message: String, help: String| {
        faults.push(Diagnostic::new("bad_cursor", name.at, message, help));
    };
    if definition.items.get(set).is_none() {
        fault(
            format!("there is no item set `{set}`"),
            nearest(set, definition.items.keys()).map_or_else(
                || "declare it under `items`".to_owned(),
                |near| format!("did you mean `ref {near}`?"),
            ),
        );
    }
    if has_default {
        fault(
            format!("`{}` points at nothing until an edge sets it", name.value),
            "leave the default out".to_owned(),
        );
    }
    let each = definition
        .all_states()
        .any(|(_, _, state)| state.each.is_some());
    let taken = definition.items.get(&name.value).is_some()
        || STANDING.contains(&name.value.as_str()) && (name.value != "item" || each);
    if taken {
        fault(
            format!("a cursor cannot be called `{}`", name.value),
            "guards see it under its own name, and that one means something else".to_owned(),
        );
    }
}

fn standing(name: &Located<String>, faults: &mut Vec<Diagnostic>) {
    if STANDING.contains(&name.value.as_str()) {
        faults.push(Diagnostic::new(
            "bad_name",
            name.at,
            format!("an item set cannot be called `{}`", name.value),
            "that name means something else in guards",
        ));
    }
}

fn one(
    definition: &Definition,
    name: &Located<String>,
    set: &ItemSetDef,
    faults: &mut Vec<Diagnostic>,
) {
    identifier(name, faults);
    standing(name, faults);
    if set
        .fields
        .get(&set.key)
        .is_none_or(|field| field.kind != FieldType::String)
    {
        faults.push(Diagnostic::new(
            "bad_item_set",
            set.key.at,
            format!(
                "`{}` is no field of type string of `{}`",
                set.key.value, name.value
            ),
            "an item is known by a text; declare it under `fields`",
        ));
    }
    if let Some(needs) = &set.needs
        && set
            .fields
            .get(needs)
            .is_none_or(|field| field.kind != FieldType::Strings)
    {
        faults.push(Diagnostic::new(
            "bad_item_set",
            needs.at,
            format!(
                "`{}` is no field of type [string] of `{}`",
                needs.value, name.value
            ),
            "what an item needs is a list of keys; declare it under `fields`",
        ));
    }
    fields(set, faults);
    statuses(definition, name, set, faults);
    for (status, _) in set.status.iter().flat_map(|statuses| statuses.located()) {
        identifier(status, faults);
    }
    for (field, open) in set.open.iter() {
        states(definition, open, faults);
        let is_field = set.fields.get(field).is_some();
        if [ALL, ADD, REOPEN, SKIP].contains(&field.value.as_str()) {
            verb(set, field, is_field, faults);
        } else if !is_field {
            faults.push(Diagnostic::new(
                "unknown_name",
                field.at,
                format!("an item has no field `{}` to be opened", field.value),
                "name a field, `all` for the whole set, or `add`, `reopen` or `skip`",
            ));
        } else if set.fixes_place(field) {
            faults.push(Diagnostic::new(
                "bad_item_set",
                field.at,
                format!("`{}` fixes the place of an item", field.value),
                "it changes with the whole set: open `all`",
            ));
        }
    }
    if let Some(prefer) = &set.prefer
        && definition
            .cursor(prefer)
            .is_none_or(|(of, _)| of != name.value)
    {
        faults.push(Diagnostic::new(
            "bad_cursor",
            prefer.at,
            format!("`{}` is no cursor of `{}`", prefer.value, name.value),
            format!(
                "declare it under `vars` as `{}: ref {}`",
                prefer.value, name.value
            ),
        ));
    }
    waves(definition, name, set, faults);
}

/// What callers may do with items needs names of where these stand then, and is nothing else's name.
fn verb(set: &ItemSetDef, verb: &Located<String>, is_field: bool, faults: &mut Vec<Diagnostic>) {
    let names = set.status.as_ref().map(|names| &names.value);
    let lacks = match verb.value.as_str() {
        REOPEN => names.is_none(),
        SKIP => names.is_none_or(|names| names.failed.0.is_empty()),
        _ => false,
    };
    if lacks {
        faults.push(Diagnostic::new(
            "bad_item_set",
            verb.at,
            format!("nothing says where an item stands after `{}`", verb.value),
            "declare `status`, such as `{ open: [pending], done: [completed], failed: [skipped] }`",
        ));
    }
    if is_field {
        faults.push(Diagnostic::new(
            "bad_item_set",
            verb.at,
            format!("`{}` could be what callers do, or a field", verb.value),
            "give the field another name",
        ));
    }
}

/// What comes with other keys is not declared too, and no field is a cursor.
fn fields(set: &ItemSetDef, faults: &mut Vec<Diagnostic>) {
    for (field, kind) in set.fields.iter() {
        let implied = [
            (STATUS, set.status.is_some(), "status"),
            (WAVE, set.waves.is_some(), "waves"),
        ]
        .into_iter()
        .find(|(known, is, _)| *is && field.value == *known);
        if let Some((_, _, key)) = implied
            && is_written(field.at)
        {
            faults.push(Diagnostic::new(
                "bad_item_set",
                field.at,
                format!(
                    "`{}` comes with `{key}`, and cannot be declared too",
                    field.value
                ),
                "take it out of `fields`",
            ));
        }
        if matches!(kind.kind, FieldType::Ref(_)) || kind.open.is_some() {
            faults.push(Diagnostic::new(
                "bad_item_set",
                field.at,
                format!(
                    "the field `{}` is neither a cursor nor opened by itself",
                    field.value
                ),
                "cursors are vars; what callers may change stands under the set's `open`",
            ));
        }
    }
}

fn statuses(
    definition: &Definition,
    name: &Located<String>,
    set: &ItemSetDef,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(statuses) = &set.status else {
        return;
    };
    let mut fault = |at, message: String, help: &str| {
        faults.push(Diagnostic::new("bad_item_set", at, message, help));
    };
    let mut seen: Vec<&str> = Vec::new();
    for (status, _) in statuses.value.located() {
        if seen.contains(&status.value.as_str()) {
            fault(
                status.at,
                format!("`{}` means two things", status.value),
                "a status is open, active, done or failed",
            );
        }
        seen.push(&status.value);
    }
    if statuses.open.0.is_empty() || statuses.done.0.is_empty() {
        fault(
            statuses.at,
            format!(
                "an item of `{}` could not be begun, or never be done",
                name.value
            ),
            "give at least one status under `open` and under `done`",
        );
    }
    gone_through(definition, name, faults);
}

/// No `each` goes through a set whose items stand where edges and callers say.
fn gone_through(definition: &Definition, name: &Located<String>, faults: &mut Vec<Diagnostic>) {
    let each = definition.all_states().find_map(|(_, _, state)| {
        let each = state.each.as_ref()?;
        (each.value.items.value == name.value).then_some(each.value.items.at)
    });
    if let Some(at) = each {
        faults.push(Diagnostic::new(
            "bad_item_set",
            at,
            format!(
                "an `each` keeps by itself where the items of `{}` stand",
                name.value
            ),
            "go through it with a cursor; a set that is no waves may do without `status`",
        ));
    }
}

fn waves(
    definition: &Definition,
    name: &Located<String>,
    set: &ItemSetDef,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(waves) = &set.waves else {
        return;
    };
    let into = &waves.into;
    let of = definition.items.get(into).and_then(|set| set.of.as_deref());
    let own = of == Some(&name.value);
    if !own {
        faults.push(Diagnostic::new(
            "bad_item_set",
            into.at,
            format!("there is another set `{}`", into.value),
            "waves are cut into a set of their own: give it another name",
        ));
    }
    if let Some(stem) = &waves.named
        && !is_name(stem)
    {
        faults.push(Diagnostic::new(
            "bad_name",
            stem.at,
            format!("no wave could be called `{}-1`", stem.value),
            "use letters, digits, `-` and `_`, beginning with a letter",
        ));
    }
    if ["id", STATUS, LEVEL, SPLIT, "size", "blocked", "count"].contains(&name.value.as_str()) {
        faults.push(Diagnostic::new(
            "bad_name",
            name.at,
            format!(
                "a set that is cut into waves cannot be called `{}`",
                name.value
            ),
            "a wave has something else under that name",
        ));
    }
    if set.status.is_none() {
        faults.push(Diagnostic::new(
            "bad_item_set",
            into.at,
            format!("nothing says where an item of `{}` stands", name.value),
            "declare `status`, such as `{ open: [pending], done: [completed] }`",
        ));
    }
    for field in &waves.apart.0 {
        if set
            .fields
            .get(field)
            .is_none_or(|known| known.kind != FieldType::Strings)
        {
            faults.push(Diagnostic::new(
                "bad_item_set",
                field.at,
                format!(
                    "`{}` is no field of type [string] of `{}`",
                    field.value, name.value
                ),
                "`apart` names fields that list what no two items of a wave may share",
            ));
        }
    }
    let added = definition.all_states().flat_map(|(_, _, state)| {
        let routes = state.route.iter().flat_map(|edges| &edges.value.0);
        routes.chain(state.on.iter().flat_map(|(_, edges)| &edges.0))
    });
    let everywhere = definition.on.iter().flat_map(|(_, edges)| &edges.0);
    for edge in added.chain(everywhere).filter(|_| own) {
        for (to, _) in edge.add.iter() {
            cut_out(name, into, to, faults);
        }
        for (to, _) in edge.load.iter() {
            cut_out(name, into, to, faults);
        }
    }
}

/// Nothing but the set that they are cut out of makes waves.
fn cut_out(
    name: &Located<String>,
    into: &Located<String>,
    to: &Located<String>,
    faults: &mut Vec<Diagnostic>,
) {
    if to.value == into.value {
        faults.push(Diagnostic::new(
            "misplaced_key",
            to.at,
            format!("`{}` is cut out of `{}`", into.value, name.value),
            format!("fill `{}`", name.value),
        ));
    }
}

/// The states that something is open in are there.
fn states(definition: &Definition, open: &Open, faults: &mut Vec<Diagnostic>) {
    for state in open.states() {
        if definition.state(state).is_none() {
            let all = definition
                .all_states()
                .map(|(_, name, _)| name.value.as_str());
            faults.push(Diagnostic::new(
                "dangling_target",
                state.at,
                format!("there is no state `{}`", state.value),
                nearest(state, all).map_or_else(
                    || "name one that is there, or write `always`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ),
            ));
        }
    }
}
