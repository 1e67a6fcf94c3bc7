//! Edges: each stops in one way, or only notes; and none stands behind one that always stops.

use crate::definition::{Definition, Edge, Edges, Literal};
use crate::diagnostic::{Diagnostic, Place};
use crate::trigger::Trigger;

pub(super) fn check(definition: &Definition, faults: &mut Vec<Diagnostic>) {
    for (name, edges) in definition.on.iter() {
        list(edges, name.at, Trigger::of_event(&name.value), faults);
    }
    list(
        &definition.otherwise,
        definition.initial.at,
        Some(Trigger::Otherwise),
        faults,
    );
    for (_, name, state) in definition.all_states() {
        if let Some(route) = &state.route {
            list(route, name.at, Some(Trigger::Route), faults);
        }
        for (event, edges) in state.on.iter() {
            list(edges, event.at, Trigger::of_event(&event.value), faults);
        }
    }
}

fn list(edges: &Edges, at: Place, trigger: Option<Trigger>, faults: &mut Vec<Diagnostic>) {
    let mut always = false;
    for edge in &edges.0 {
        let place = if edge.at == Place::default() {
            at
        } else {
            edge.at
        };
        if always {
            faults.push(Diagnostic::new(
                "unreachable_edge",
                place,
                "no report ever gets here: the edge before has no guard",
                "give the edge before a `when`, or take this one away",
            ));
            break;
        }
        one(edge, place, trigger, faults);
        if trigger == Some(Trigger::Rewind) && says_more_than_how(edge) {
            faults.push(Diagnostic::new(
                "misplaced_key",
                place,
                "`rewind` takes the run back to what it was then: nothing is set, and no state is named",
                "leave nothing but `when`, `refuse`, `do`, `with` and `emit`",
            ));
        }
        always = edge.when.is_none() && !edge.is_note();
    }
}

fn one(edge: &Edge, at: Place, trigger: Option<Trigger>, faults: &mut Vec<Diagnostic>) {
    let mut fault = |rule, message: &str, help: &str| {
        faults.push(Diagnostic::new(rule, at, message, help));
    };
    let stops = [
        edge.refuse.is_some(),
        edge.retry.is_some(),
        edge.pause.is_some(),
    ]
    .into_iter()
    .filter(|stops| *stops)
    .count();
    if stops > 1 || (stops == 1 && edge.to.is_some() && edge.retry.is_none()) {
        fault(
            "two_verdicts",
            "this edge says two things at once",
            "one of `refuse`, `retry`, `pause` and `to`; only `retry` may have a `to` beside it",
        );
    }
    let is = |known: Trigger| trigger == Some(known);
    if stops == 0 && edge.to.is_none() && !edge.is_note() && !may_stay(edge, trigger) {
        fault(
            "no_verdict",
            "this edge says nothing",
            "give it a `to`, `refuse`, `retry` or `pause`; or a `check` or `warn` to only note",
        );
    }
    let acts = !edge.effects.0.is_empty()
        || !edge.set.is_empty()
        || !edge.add.is_empty()
        || !edge.load.is_empty();
    if acts && (edge.refuse.is_some() || edge.pause.is_some() || edge.is_note()) {
        fault(
            "acts_without_moving",
            "this edge changes something, but takes nothing in",
            "effects and values belong on an edge with a `to` or a `retry`",
        );
    }
    if edge.retry.is_some() && !edge.effects.0.is_empty() {
        fault(
            "acts_without_moving",
            "a retry verdict has no effects",
            "put the effect on the edge that accepts",
        );
    }
    let reads = is(Trigger::Report) || is(Trigger::Route) || is(Trigger::Otherwise);
    if !reads && (edge.retry.is_some() || !edge.check.0.is_empty()) {
        fault(
            "misplaced_key",
            "there is no report here to retry or to check",
            "`retry` and `check` belong on edges of `report`",
        );
    }
    if is(Trigger::Route) && edge.retry.is_some() {
        fault(
            "misplaced_key",
            "a route has no report to retry",
            "use `to` or `refuse`",
        );
    }
    if edge.to.is_none() && (edge.outcome.is_some() || edge.reason.is_some()) {
        fault(
            "misplaced_key",
            "`outcome` and `reason` are told of a transition, and this edge makes none",
            "put them on an edge with a `to`",
        );
    }
    if let Some(Literal::Value(reason)) = &edge.reason
        && !reason.is_string()
    {
        fault(
            "bad_value",
            "the reason of this edge is no text",
            "write text, or an expression that gives some, such as `=outcome.note`",
        );
    }
    if edge.effects.0.is_empty() && !edge.with.is_empty() {
        fault(
            "misplaced_key",
            "`with` tells an effect something, and this edge has none",
            "add the effect with `do`, or take `with` away",
        );
    }
    if edge.pause.is_some() && !reads && !is(Trigger::Done) {
        fault(
            "misplaced_key",
            "a person asked for this, so there is nothing to pause for",
            "use `to` or `refuse`",
        );
    }
    if edge
        .set
        .iter()
        .any(|(name, _)| name.value.starts_with("item."))
        && !edge.effects.0.is_empty()
        && edge.to.is_none()
    {
        fault("no_verdict", "this edge leads nowhere", "give it a `to`");
    }
}

/// Whether an edge that neither leads on nor stops says something nevertheless.
fn may_stay(edge: &Edge, trigger: Option<Trigger>) -> bool {
    let acts = !edge.effects.0.is_empty();
    match trigger {
        // A step out of a pause may leave the token where it stands.
        Some(Trigger::Reopen) => edge.when.is_some() && !acts,
        // What is done with what a run made need not move it.
        Some(Trigger::Submit | Trigger::Feedback) => acts,
        // Where it leads is said by whoever goes back.
        Some(Trigger::Rewind) => true,
        _ => false,
    }
}

/// Whether an edge says where it leads, or what holds from there on.
fn says_more_than_how(edge: &Edge) -> bool {
    edge.to.is_some()
        || !edge.set.is_empty()
        || !edge.add.is_empty()
        || !edge.load.is_empty()
        || edge.reason.is_some()
        || edge.outcome.is_some()
}
