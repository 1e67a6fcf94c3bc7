//! Names: every target, reader, effect, policy, template, set, var and field exists.

use super::Catalog;
use super::resources::needs;
use crate::definition::{Added, Definition, Edge, Field, Literal, STATUS, StateDef, WAVE};
use crate::diagnostic::{Diagnostic, Located};
use text::nearest;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    if let Some(section) = &definition.config {
        known(
            "section of the settings",
            section,
            catalog.sections.keys().map(String::as_str),
            "unknown_section",
            faults,
        );
    }
    target(definition, None, &definition.initial, faults);
    let everywhere = definition.on.iter().map(|(_, edges)| edges);
    for edges in everywhere.chain([&definition.otherwise]) {
        for edge in &edges.0 {
            one_edge(definition, catalog, None, None, edge, faults);
        }
    }
    for (parent, name, state) in definition.all_states() {
        one_state(definition, catalog, parent, name, state, faults);
    }
    for (name, field) in definition.inputs.iter().chain(definition.vars.iter()) {
        default(name, field, faults);
    }
    for name in definition.vars.iter().map(|(name, _)| name) {
        if definition.cursor(name).is_some() && catalog.readers.contains_key(&name.value) {
            faults.push(Diagnostic::new(
                "bad_name",
                name.at,
                format!("a cursor cannot be called `{}`", name.value),
                "an evidence reader has that name, and guards could not tell them apart",
            ));
        }
    }
    for (name, set) in definition.items.iter() {
        if catalog.readers.contains_key(&name.value) {
            faults.push(Diagnostic::new(
                "bad_name",
                name.at,
                format!("an item set cannot be called `{}`", name.value),
                "an evidence reader has that name, and guards could not tell them apart",
            ));
        }
        for (name, field) in set.fields.iter() {
            default(name, field, faults);
            if let Some(expression) = field.default_expression() {
                faults.push(Diagnostic::new(
                    "bad_default",
                    expression.at,
                    "the default of an item's field cannot be an expression",
                    "write a plain value",
                ));
            }
        }
    }
}

/// What a gate is over.
fn subject(catalog: &Catalog, state: &StateDef, faults: &mut Vec<Diagnostic>) {
    if let Some(over) = state.gate.as_ref().and_then(|gate| gate.over.as_ref()) {
        known(
            "subject of a gate",
            over,
            catalog.subjects.keys().copied(),
            "unknown_subject",
            faults,
        );
    }
}

fn one_state(
    definition: &Definition,
    catalog: &Catalog,
    parent: Option<&str>,
    name: &Located<String>,
    state: &StateDef,
    faults: &mut Vec<Diagnostic>,
) {
    if let Some(reader) = state.reader() {
        known(
            "evidence reader",
            reader,
            catalog.readers.keys().map(String::as_str),
            "unknown_reader",
            faults,
        );
    }
    subject(catalog, state, faults);
    if let Some(effects) = &state.effects {
        for effect in &effects.0 {
            known(
                "effect",
                effect,
                catalog.effects.keys().map(String::as_str),
                "unknown_effect",
                faults,
            );
        }
    }
    if let Some(to) = &state.to {
        target(definition, parent, to, faults);
    }
    if let Some(template) = state
        .work
        .as_ref()
        .and_then(|work| work.instructions.as_ref())
    {
        known(
            "template",
            template,
            catalog.templates.keys().map(String::as_str),
            "unknown_template",
            faults,
        );
        for (line, what) in catalog.templates.get(&template.value).into_iter().flatten() {
            faults.push(Diagnostic::new(
                "bad_template",
                template.at,
                format!(
                    "the template {} is broken in line {line}: {what}",
                    template.value
                ),
                "mend the template: docs/definitions.md has the variables, and `tm workflow show ID --template NAME` prints one that comes with tm",
            ));
        }
    }
    if let Some(attempts) = state.work.as_ref().and_then(|work| work.attempts.as_ref())
        && let Literal::Value(value) = &attempts.value
        && value.as_i64().is_none_or(|attempts| attempts < 1)
    {
        faults.push(Diagnostic::new(
            "bad_value",
            attempts.at,
            format!("`attempts: {value}` is no number of attempts"),
            "use 1 or more, or an expression such as `=inputs.maxAttempts`",
        ));
    }
    if let Some(each) = &state.each {
        known(
            "item set",
            &each.items,
            definition.items.keys(),
            "unknown_set",
            faults,
        );
        // An `each` without states, or two levels down, is told of by another rule.
        if parent.is_none() && !state.states.is_empty() {
            target(definition, Some(&name.value), &each.initial, faults);
        }
        if let Some(parallel) = &each.parallel
            && parallel.value == 0
        {
            faults.push(Diagnostic::new(
                "bad_value",
                parallel.at,
                "`parallel: 0` would never begin",
                "use 1 or more",
            ));
        }
    }
    let set = parent
        .and_then(|parent| definition.state(parent))
        .and_then(|parent| parent.each.as_ref())
        .map(|each| each.items.value.as_str());
    let lists = state
        .route
        .iter()
        .map(|edges| &edges.value)
        .chain(state.on.iter().map(|(_, edges)| edges));
    for edges in lists {
        for edge in &edges.0 {
            one_edge(definition, catalog, parent, set, edge, faults);
        }
    }
}

fn one_edge(
    definition: &Definition,
    catalog: &Catalog,
    parent: Option<&str>,
    set: Option<&str>,
    edge: &Edge,
    faults: &mut Vec<Diagnostic>,
) {
    if let Some(to) = &edge.to {
        target(definition, parent, to, faults);
    }
    for effect in &edge.effects.0 {
        known(
            "effect",
            effect,
            catalog.effects.keys().map(String::as_str),
            "unknown_effect",
            faults,
        );
    }
    for policy in &edge.check.0 {
        known(
            "policy",
            policy,
            catalog.policies.keys().map(String::as_str),
            "unknown_policy",
            faults,
        );
    }
    for name in &edge.emit.0 {
        if !name.value.contains(':') {
            faults.push(Diagnostic::new(
                "bad_name",
                name.at,
                format!("`{}` is no name for an event", name.value),
                "name it `noun:verb`",
            ));
        } else if crate::event::Event::is_folded(&name.value) {
            faults.push(Diagnostic::new(
                "bad_name",
                name.at,
                format!("`{}` is an event of the engine's own", name.value),
                "choose another name: this one would change the run when it is replayed",
            ));
        } else {
            emitted(definition, catalog, name, faults);
        }
    }
    assigned(definition, set, edge, faults);
    added(definition, edge, faults);
    for (name, value) in edge.load.iter() {
        known(
            "item set",
            name,
            definition.items.keys(),
            "unknown_set",
            faults,
        );
        if set == Some(name.value.as_str()) {
            faults.push(Diagnostic::new(
                "misplaced_key",
                name.at,
                format!(
                    "`{}` cannot be filled while its items are gone through",
                    name.value
                ),
                "fill it before the `each`, or `add` single items",
            ));
        }
        if let Literal::Value(value) = value {
            faults.push(Diagnostic::new(
                "bad_value",
                name.at,
                format!("`{}` cannot be filled with {value}", name.value),
                "write an expression that gives a list of items, such as `=preflight.subtasks`",
            ));
        }
    }
}

/// What `set` names can be set.
fn assigned(definition: &Definition, set: Option<&str>, edge: &Edge, faults: &mut Vec<Diagnostic>) {
    for (name, _) in edge.set.iter() {
        let Some((cursor, field)) = name.value.split_once('.') else {
            known("var", name, definition.vars.keys(), "unknown_name", faults);
            continue;
        };
        let own = set.filter(|_| cursor == "item");
        let declared = own
            .and_then(|set| definition.items.get(set))
            .or_else(|| definition.cursor(cursor).map(|(_, declared)| declared));
        let Some(declared) = declared else {
            faults.push(Diagnostic::new(
                "unknown_name",
                name.at,
                format!("there is no item here to set `{field}` of"),
                "fields of an item are set by the nested states of its `each`, or through a cursor: a var of type `ref SET`",
            ));
            continue;
        };
        if declared.fields.get(field).is_none() {
            faults.push(Diagnostic::new(
                "unknown_name",
                name.at,
                format!("an item has no field `{field}`"),
                nearest(field, declared.fields.keys()).map_or_else(
                    || "declare it under the `fields` of the item set".to_owned(),
                    |near| format!("did you mean `{cursor}.{near}`?"),
                ),
            ));
        } else if declared.key.value == field
            || declared
                .needs
                .as_ref()
                .is_some_and(|needs| needs.value == field)
            || field == WAVE && declared.waves.is_some()
            || declared.of.is_some() && field != STATUS
        {
            faults.push(Diagnostic::new(
                "bad_value",
                name.at,
                format!("`{field}` of an item cannot be set: it fixes its place in the order"),
                "use another field",
            ));
        }
    }
}

/// What `add` adds is an item of its set.
fn added(definition: &Definition, edge: &Edge, faults: &mut Vec<Diagnostic>) {
    for (name, added) in edge.add.iter() {
        known(
            "item set",
            name,
            definition.items.keys(),
            "unknown_set",
            faults,
        );
        let Some(declared) = definition.items.get(name) else {
            continue;
        };
        let fields = match added {
            Added::Item(fields) => fields,
            Added::Listed(Literal::Expression(_)) => continue,
            Added::Listed(Literal::Value(value)) => {
                faults.push(Diagnostic::new(
                    "bad_value",
                    name.at,
                    format!("{value} is no item of `{}`", name.value),
                    "write the fields of one, or an expression that lists items, such as `=result.items`",
                ));
                continue;
            }
        };
        for (field, value) in fields.iter() {
            match (declared.fields.get(field), value) {
                (None, _) => known(
                    "field",
                    field,
                    declared.fields.keys(),
                    "unknown_name",
                    faults,
                ),
                (Some(kind), Literal::Value(value)) if !kind.kind.admits(value) => {
                    faults.push(Diagnostic::new(
                        "bad_value",
                        field.at,
                        format!("`{}` must be of type {}", field.value, kind.kind),
                        "write a value of that type",
                    ));
                }
                _ => {}
            }
        }
        if fields.get(&declared.key).is_none() {
            faults.push(Diagnostic::new(
                "bad_value",
                name.at,
                format!("the new item has no `{}`", declared.key.value),
                "an item needs its key",
            ));
        }
    }
}

/// An event that somebody has fields for needs what these are of, and its noun is theirs: another verb would be told without.
fn emitted(
    definition: &Definition,
    catalog: &Catalog,
    name: &Located<String>,
    faults: &mut Vec<Diagnostic>,
) {
    if let Some(resource) = catalog.events.get(name.value.as_str()) {
        if let Some(resource) = resource {
            needs(definition, resource, name, "the event", faults);
        }
        return;
    }
    let noun = |event: &str| event.split(':').next().map(str::to_owned);
    let same: Vec<&str> = catalog
        .events
        .keys()
        .copied()
        .filter(|known| noun(known) == noun(&name.value))
        .collect();
    if !same.is_empty() {
        faults.push(Diagnostic::new(
            "unknown_event",
            name.at,
            format!("nobody has fields for `{}`", name.value),
            format!(
                "write {}, or give an event of your own another noun",
                same.join(" or ")
            ),
        ));
    }
}

fn target(
    definition: &Definition,
    parent: Option<&str>,
    to: &Located<String>,
    faults: &mut Vec<Diagnostic>,
) {
    if definition.state(to).is_none() {
        let near = nearest(
            to,
            definition
                .all_states()
                .map(|(_, name, _)| name.value.as_str()),
        );
        faults.push(Diagnostic::new(
            "dangling_target",
            to.at,
            format!("there is no state `{}`", to.value),
            near.map_or_else(
                || "add the state, or name one that is there".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    } else if definition.parent(to) != parent {
        faults.push(Diagnostic::new(
            "crossing_target",
            to.at,
            format!("`{}` is not on the same level", to.value),
            "an item stays inside its `each` until it reaches a `final` state there; the workflow enters an `each` by its own name",
        ));
    }
}

fn known<'a>(
    what: &str,
    name: &Located<String>,
    all: impl Iterator<Item = &'a str> + Clone,
    rule: &'static str,
    faults: &mut Vec<Diagnostic>,
) {
    if all.clone().any(|known| known == name.value) {
        return;
    }
    let help = nearest(name, all.clone()).map_or_else(
        || {
            let all: Vec<&str> = all.collect();
            format!("known are: {}", all.join(", "))
        },
        |near| format!("did you mean `{near}`?"),
    );
    faults.push(Diagnostic::new(
        rule,
        name.at,
        format!("there is no {what} `{}`", name.value),
        help,
    ));
}

fn default(name: &Located<String>, field: &Field, faults: &mut Vec<Diagnostic>) {
    if let Some(Literal::Value(value)) = &field.default
        && !field.kind.admits(value)
    {
        faults.push(Diagnostic::new(
            "bad_default",
            name.at,
            format!(
                "the default of `{}` is {value}, which is not of type {}",
                name.value, field.kind
            ),
            "write a value of that type",
        ));
    }
}
