//! Resources: each is known, its parameters are what it takes, and whatever needs one is in a workflow that uses it.

use super::catalog::{Catalog, Parameter, ParameterKind};
use super::entries;
use crate::definition::{
    Definition, Edges, Effects, Literal, Ordered, ResourceDef, ResourceValue, StateDef,
};
use crate::diagnostic::{Diagnostic, Located, Place};
use crate::trigger::Trigger;
use text::nearest;

pub(super) fn check(definition: &Definition, catalog: &Catalog, faults: &mut Vec<Diagnostic>) {
    let unknown = definition.uses.iter().map(|(name, _)| name);
    let unknown = unknown.filter(|name| !catalog.resources.contains_key(name.value.as_str()));
    let before = faults.len();
    for name in unknown {
        let near = nearest(&name.value, catalog.resources.keys().copied());
        let all: Vec<&str> = catalog.resources.keys().copied().collect();
        faults.push(Diagnostic::new(
            "unknown_resource",
            name.at,
            format!("there is no resource `{}`", name.value),
            near.map_or_else(
                || format!("those that there are: {}", all.join(", ")),
                |near| format!("did you mean `{near}`?"),
            ),
        ));
    }
    if faults.len() > before {
        // What needs the one that was meant would be told, too.
        return;
    }
    for (name, resource) in definition.uses.iter() {
        let Some(known) = catalog.resources.get(name.value.as_str()) else {
            continue;
        };
        for needed in known.needs {
            needs(definition, needed, name, "the resource", faults);
        }
        if known.counts && definition.counter.is_none() {
            faults.push(Diagnostic::new(
                "needs_counter",
                name.at,
                format!(
                    "what `{}` keeps belongs to an iteration, and nothing counts them",
                    name.value
                ),
                "declare `vars: { iteration: int }` and `counter: iteration`",
            ));
        }
        match &known.entries {
            Some(known) => entries::check(name, resource, known, faults),
            None => parameters(definition, name, resource, &known.parameters, faults),
        }
    }
    for (parent, name, state) in definition.all_states() {
        one_state(definition, catalog, parent, name, state, faults);
    }
    let everywhere = Site {
        parent: None,
        state: None,
    };
    for (_, edges) in definition.on.iter() {
        effects(definition, catalog, &everywhere, edges, faults);
    }
    effects(
        definition,
        catalog,
        &everywhere,
        &definition.otherwise,
        faults,
    );
}

fn parameters(
    definition: &Definition,
    name: &Located<String>,
    resource: &ResourceDef,
    known: &[Parameter],
    faults: &mut Vec<Diagnostic>,
) {
    for (given, value) in resource.0.iter() {
        let Some(parameter) = known.iter().find(|known| known.name == given.value) else {
            let near = nearest(&given.value, known.iter().map(|known| known.name));
            let all: Vec<&str> = known.iter().map(|known| known.name).collect();
            faults.push(Diagnostic::new(
                "bad_parameter",
                given.at,
                format!("`{}` has no parameter `{}`", name.value, given.value),
                match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if all.is_empty() => format!("write `{}: {{}}`", name.value),
                    None => format!("it takes: {}", all.join(", ")),
                },
            ));
            continue;
        };
        if let Some((message, help)) = misfit(definition, parameter, resource, &value.value) {
            faults.push(Diagnostic::new("bad_parameter", value.at, message, help));
        }
    }
    for parameter in known {
        if resource.0.get(parameter.name).is_none() {
            faults.push(Diagnostic::new(
                "bad_parameter",
                name.at,
                format!("`{}` needs the parameter `{}`", name.value, parameter.name),
                format!(
                    "write `{}: {{ {}: {} }}`",
                    name.value, parameter.name, parameter.example
                ),
            ));
        }
    }
}

/// What is wrong with the value of a parameter, and what to do about it.
fn misfit(
    definition: &Definition,
    parameter: &Parameter,
    resource: &ResourceDef,
    value: &ResourceValue,
) -> Option<(String, String)> {
    let named = match value {
        ResourceValue::Literal(Literal::Value(value)) => value.as_str(),
        _ => None,
    };
    match &parameter.kind {
        ParameterKind::Input(kind) => {
            let input = resource.input(parameter.name);
            let declared = input.and_then(|input| definition.inputs.get(input));
            declared.is_none_or(|field| field.kind != *kind).then(|| {
                (
                    format!("`{}` passes no input of type {kind} on", parameter.name),
                    format!(
                        "declare one under `inputs`, and write `{}: {}`",
                        parameter.name, parameter.example
                    ),
                )
            })
        }
        ParameterKind::Items(fields) | ParameterKind::Waves(fields) => {
            let set = named.and_then(|named| definition.items.get(named));
            let Some(set) = set else {
                let near = named.and_then(|named| nearest(named, definition.items.keys()));
                return Some((
                    format!("`{}` names no item set", parameter.name),
                    near.map_or_else(
                        || "declare the item set under `items`, and write its name here".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    ),
                ));
            };
            let lacks: Vec<&str> = fields
                .iter()
                .map(|(field, _)| *field)
                .filter(|field| set.fields.get(field).is_none())
                .collect();
            let other = fields.iter().find_map(|(field, kind)| {
                let is = set.fields.get(field)?.kind.to_string();
                (!kind.is_empty() && is != *kind).then(|| {
                    (
                        format!(
                            "`{field}` of the item set `{}` is {is}, and has to be {kind}",
                            named.unwrap_or_default()
                        ),
                        "the first word of a list is what an item has that says nothing else"
                            .to_owned(),
                    )
                })
            });
            if lacks.is_empty() && other.is_some() {
                return other;
            }
            if lacks.is_empty()
                && let ParameterKind::Waves(_) = parameter.kind
            {
                return not_in_waves(definition, named.unwrap_or_default());
            }
            (!lacks.is_empty()).then(|| {
                (
                    format!(
                        "the item set `{}` has no {}",
                        named.unwrap_or_default(),
                        lacks.join(", ")
                    ),
                    "declare these fields, as `tm workflow show` does for the workflows that come along"
                        .to_owned(),
                )
            })
        }
        ParameterKind::Var(kind) => {
            let var = named.and_then(|named| definition.vars.get(named));
            var.is_none_or(|var| var.kind != *kind).then(|| {
                (
                    format!("`{}` names no var of type {kind}", parameter.name),
                    format!("declare one: `vars: {{ {}: {kind} }}`", parameter.example),
                )
            })
        }
        ParameterKind::Cursor(into) => {
            let set = resource.name(into).unwrap_or_default();
            let points = named
                .and_then(|named| definition.cursor(named))
                .is_some_and(|(of, _)| of == set);
            (!points).then(|| {
                (
                    format!("`{}` names no var that points into `{set}`", parameter.name),
                    format!(
                        "declare one: `vars: {{ {}: ref {set} }}`",
                        parameter.example
                    ),
                )
            })
        }
    }
}

/// What an item set lacks that is to be worked off wave by wave.
fn not_in_waves(definition: &Definition, named: &str) -> Option<(String, String)> {
    let set = definition.items.get(named)?;
    let waves = set.waves.as_ref().filter(|_| set.status.is_some());
    let Some(waves) = waves else {
        return Some((
            format!("the item set `{named}` is not cut into waves"),
            "give it `status` and `waves`".to_owned(),
        ));
    };
    let into = &waves.into.value;
    definition.cursor_into(into).is_none().then(|| {
        (
            format!("no var points at the one of `{into}` that is in hand"),
            format!("declare one: `vars: {{ batch: ref {into} }}`"),
        )
    })
}

/// Where something stands.
struct Site<'a> {
    parent: Option<&'a str>,
    state: Option<&'a StateDef>,
}

/// What is about an item stands in the states that each item goes through.
fn within(
    definition: &Definition,
    site: &Site<'_>,
    by: &Located<String>,
    about: Option<(&str, &str)>,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(set) = about.and_then(|(resource, named)| definition.bound_set(resource, named))
    else {
        return;
    };
    let each = site
        .parent
        .and_then(|parent| definition.state(parent)?.each.as_ref());
    if each.is_none_or(|each| each.items.value != set) {
        faults.push(Diagnostic::new(
            "outside_items",
            by.at,
            format!(
                "`{}` is about an item of `{set}`, and stands outside of its states",
                by.value
            ),
            format!("move it into the states of an `each` over `{set}`"),
        ));
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
    let site = Site {
        parent,
        state: Some(state),
    };
    if let Some(reader) = state.reader()
        && let Some(known) = catalog.readers.get(&reader.value)
    {
        within(definition, &site, reader, known.within, faults);
        for needed in known.needs {
            needs(definition, needed, reader, "the reader", faults);
        }
        let has_role = state.role().keys().next().is_some();
        for needed in known.role_needs.iter().filter(|_| has_role) {
            needs(
                definition,
                needed,
                reader,
                "what is said of the reports of",
                faults,
            );
        }
        let response = state.work.as_ref().and_then(|work| work.response.as_ref());
        if let Some(response) = response
            && known
                .by_call_over
                .is_some_and(|over| definition.works_with(over))
        {
            faults.push(Diagnostic::new(
                "misplaced_key",
                response.at,
                format!(
                    "what `{}` reads here rests on what a call brings along, and no file can",
                    reader.value
                ),
                "take `response` away: it is reported",
            ));
        }
        if let Some(entry) = known.entry {
            let named = state
                .expects
                .as_ref()
                .and_then(|expects| expects.role.names(entry.key));
            let named = named.map(|named| (named.value.as_str(), named.at));
            entries::named(definition, catalog, reader, entry, named, faults);
        }
        if known.is_asked {
            asked(definition, catalog, name, faults);
        }
        if known.is_reported && state.route.is_some() && state.work.is_none() {
            faults.push(Diagnostic::new(
                "nothing_to_read",
                reader.at,
                format!(
                    "nobody reports to `{}`, so there is nothing to read `{}` from",
                    name.value, reader.value
                ),
                "let the `work` state before it read that, and keep what the route needs with `set`",
            ));
        }
    }
    // Elsewhere the key is misplaced, which is told where roles are looked at.
    if let (Some(edits), Some(needed), Some(_)) = (&state.edits, catalog.edits_need, &state.work) {
        let place = Located {
            value: "edits".to_owned(),
            at: edits.at,
        };
        needs(definition, needed, &place, "the key", faults);
    }
    if let Some(ask) = state.work.as_ref().and_then(|work| work.ask.as_ref()) {
        if let Some(needed) = catalog.asks.get(ask.value.as_str()) {
            needs(definition, needed, ask, "the prompt", faults);
        } else {
            faults.push(unknown_ask(
                catalog,
                ask.at,
                format!("no profile knows `{}`", ask.value),
            ));
        }
    }
    if let Some(over) = state.gate.as_ref().and_then(|gate| gate.over.as_ref())
        && let Some(needed) = catalog.subjects.get(over.value.as_str())
    {
        needs(definition, needed, over, "the subject", faults);
    }
    if let Some(own) = &state.effects {
        those(
            definition,
            catalog,
            &site,
            (&own.value, &Ordered::default()),
            faults,
        );
    }
    let own = state.route.iter().map(|edges| &edges.value);
    for edges in own.chain(state.on.iter().map(|(_, edges)| edges)) {
        effects(definition, catalog, &site, edges, faults);
    }
}

/// Every state whose answer is read at `reads`, which may be that one itself, says what it asks for.
fn asked(
    definition: &Definition,
    catalog: &Catalog,
    reads: &Located<String>,
    faults: &mut Vec<Diagnostic>,
) {
    for (_, name, state) in definition.all_states() {
        let Some(work) = &state.work else {
            continue;
        };
        let leads = || {
            let edges = definition.edges(&name.value, Trigger::Report).iter();
            let mut targets = edges.filter_map(|edge| edge.to.as_ref()).chain(&state.to);
            state.reader().is_none() && targets.any(|to| to.value == reads.value)
        };
        if work.ask.is_none() && (name.value == reads.value || leads()) {
            let at = work.response.as_ref().map_or(name.at, |path| path.at);
            let message = format!(
                "nothing says which prompt of the profile `{}` asks for",
                name.value
            );
            faults.push(unknown_ask(catalog, at, message));
        }
    }
}

fn unknown_ask(catalog: &Catalog, at: Place, message: String) -> Diagnostic {
    let known: Vec<&str> = catalog.asks.keys().copied().collect();
    let help = format!("write `ask:` with one of: {}", known.join(", "));
    Diagnostic::new("unknown_ask", at, message, help)
}

fn effects(
    definition: &Definition,
    catalog: &Catalog,
    site: &Site<'_>,
    edges: &Edges,
    faults: &mut Vec<Diagnostic>,
) {
    for edge in &edges.0 {
        those(
            definition,
            catalog,
            site,
            (&edge.effects, &edge.with),
            faults,
        );
    }
}

/// Effects, with what they are told.
fn those(
    definition: &Definition,
    catalog: &Catalog,
    site: &Site<'_>,
    (effects, with): (&Effects, &Ordered<Literal>),
    faults: &mut Vec<Diagnostic>,
) {
    for effect in &effects.0 {
        let Some(known) = catalog.effects.get(&effect.value) else {
            continue;
        };
        if let Some(entry) = known.entry {
            let named = match with.get(entry.key) {
                Some(Literal::Value(value)) => value.as_str(),
                _ => None,
            };
            let named = named.map(|named| (named, effect.at));
            entries::named(definition, catalog, effect, entry, named, faults);
            let mut others = with.iter().filter(|(name, _)| name.value != entry.key);
            if let (Some((other, _)), [_]) = (others.next(), effects.0.as_slice()) {
                let (effect, name) = (&effect.value, &other.value);
                faults.push(Diagnostic::new(
                    "bad_parameter",
                    other.at,
                    format!("`{effect}` takes no `{name}`: what it runs is given no data"),
                    format!("leave `{name}` out, and write what it needs into the command"),
                ));
            }
        }
        within(definition, site, effect, known.within, faults);
        if let (Some(reader), Some(state)) = (known.takes_in, site.state)
            && state.reader().is_none_or(|own| own.value != reader)
        {
            faults.push(Diagnostic::new(
                "nothing_to_take_in",
                effect.at,
                format!(
                    "`{}` takes what `{reader}` reads, and that is not read here",
                    effect.value
                ),
                format!("let a state that `expects: {reader}` have it"),
            ));
        }
        for needed in known.needs {
            needs(definition, needed, effect, "the effect", faults);
        }
    }
}

/// Whatever needs a resource is in a workflow that uses it.
pub(super) fn needs(
    definition: &Definition,
    resource: &str,
    by: &Located<String>,
    what: &str,
    faults: &mut Vec<Diagnostic>,
) {
    if definition.works_with(resource) {
        return;
    }
    faults.push(Diagnostic::new(
        "needs_resource",
        by.at,
        format!(
            "{what} `{}` needs the resource `{resource}`, and no run of `{}` would have it",
            by.value, definition.id.value
        ),
        format!("declare it under `uses`, or do without `{}`", by.value),
    ));
}
