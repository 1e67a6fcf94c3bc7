//! What the executor of a unit is told, rendered when the unit is issued and kept by its hash.

use machine::decide::PromptRequest;
use machine::state::{ROOT, Token};
use machine::{Definition, Role, RunState};
use serde_json::{Map, Value, json};
use text::quote::quote_untrusted;
use workspace::config::Level;

use crate::call::Call;
use crate::capability::command;
use crate::fault::Fault;
use crate::generic::messages;
use crate::library;
use crate::next_step;
use crate::report::report_of;
use crate::view::autopilot::instructions;

/// Renders the instructions of a unit. `own` is what the run has to say beside what every run has.
pub(crate) fn build(
    call: &Call<'_>,
    asked: &PromptRequest,
    run: &RunState,
    own: Value,
) -> Result<String, Fault> {
    let present = run
        .token(asked.token)
        .ok_or_else(|| Fault::bug("a unit for no token"))?;
    let Some(name) = &asked.instructions else {
        return Ok(without_template(&call.definition, &asked.role, present));
    };
    let template = library::template(call.root, &run.workflow, name)?;
    let mut values = values(call, run, present, asked);
    overlay(&mut values, own);
    instructions::render(name, &template, &values)
}

/// What is told where the definition names no template: what `next` would say, why it came here, and what is run.
pub(crate) fn without_template(definition: &Definition, role: &Role, present: &Token) -> String {
    let place = messages::place(definition, &present.state, present.key());
    let reason = present
        .reason
        .as_deref()
        .filter(|reason| !reason.is_empty());
    let why =
        reason.map(|reason| format!("It came here because:\n\n{}\n", quote_untrusted(reason)));
    let runs = command::line_of(definition, role)
        .map(|line| format!("When it is reported, `{line}` is run: what comes of that counts.\n"));
    let title = format!("{place} ({})\n", definition.title);
    let parts: Vec<String> = [Some(title), why, runs].into_iter().flatten().collect();
    parts.join("\n")
}

/// Lays what one capability has to say over what every run has; where both have a group of names, name by name.
pub(crate) fn overlay(values: &mut Value, over: Value) {
    match (values, over) {
        (Value::Object(values), Value::Object(over)) => {
            for (name, value) in over {
                match values.get_mut(&name) {
                    Some(known) => overlay(known, value),
                    None => {
                        values.insert(name, value);
                    }
                }
            }
        }
        (known, value) => *known = value,
    }
}

/// What a template sees. Every name that the proof admits is there, whatever the state.
pub(crate) fn values(
    call: &Call<'_>,
    run: &RunState,
    present: &Token,
    asked: &PromptRequest,
) -> Value {
    let definition = &call.definition;
    let mut item: Map<String, Value> = definition
        .items
        .iter()
        .flat_map(|(_, set)| set.fields.iter())
        .map(|(name, field)| (name.value.clone(), field.empty()))
        .collect();
    if let Some(own) = run.item(present) {
        for (name, value) in own.fields.iter() {
            item.insert(name.clone(), value.clone());
        }
    }
    let mut values = json!({
        "workflow": { "id": run.workflow, "title": definition.title },
        "run": { "id": run.run },
        "state": {
            "id": present.state,
            "label": messages::place(definition, &present.state, None),
            "phase": definition.phase(&present.state),
        },
        "unit": {
            "id": asked.unit,
            "attempt": asked.attempt,
            "maxAttempts": asked.max_attempts,
        },
        "reason": present.reason.clone().unwrap_or_default(),
        "inputs": run.inputs,
        "vars": run.vars,
        "item": item,
        "last": last(call, run, present),
    });
    overlay(
        &mut values,
        next_step::in_templates(
            report_of(run, present, &asked.role, Level::Claimed),
            present.key(),
            &asked.unit,
        ),
    );
    values
}

/// The report that led here: the token's own, or for the run's token any.
fn last(call: &Call<'_>, run: &RunState, present: &Token) -> Value {
    let report = run
        .last
        .as_ref()
        .filter(|last| last.token == present.id || present.id == ROOT);
    let fact = |name: &str, empty: Value| {
        report
            .and_then(|report| report.facts.get(name).cloned())
            .unwrap_or(empty)
    };
    json!({
        "state": report.map_or("", |report| report.state.as_str()),
        "outcome": fact("outcome", json!("")),
        "note": fact("note", json!("")),
        "files": fact("files", json!([])),
        "code": report.and_then(|report| report.code.as_deref()).unwrap_or_default(),
        "message": report.map_or_else(String::new, |report| messages::taken_in(&call.definition, report)),
        "passed": fact("passed", json!(0)),
        "failed": fact("failed", json!(0)),
        "failing": fact("failing", json!(0)),
        "total": fact("total", json!(0)),
        "under": fact("under", json!([])),
    })
}
