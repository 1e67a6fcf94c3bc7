//! On to the next waiting state: routes, effects, items and ends, until somebody has to act.

use super::command::no_edge;
use super::edge::{ChosenEdge, Transition};
use super::{Planner, Stop};
use crate::command::Finding;
use crate::definition::{Advance, Issue, Kind, StateDef};
use crate::event::{Entered, Event, Read};
use crate::refusal::Refusal;
use crate::state::{EffectAt, ItemSet, ItemStatus, ROOT, RunStatus};
use crate::trigger::Trigger;

impl Planner<'_> {
    /// Goes on until the run waits, is over, or an effect is to be carried out.
    pub(super) fn advance(&mut self, way: &Transition, even_paused: bool) -> Result<(), Stop> {
        let begin = self.events.len();
        let mut steps = 0;
        let mut limit = 0;
        loop {
            if self.run.pending.is_some() || self.run.status.is_over() {
                return Ok(());
            }
            if self.run.status == RunStatus::Paused && !even_paused {
                return Ok(());
            }
            let manual = self.definition.advances(&self.state_of(ROOT)) == Advance::Manual;
            if manual && !even_paused {
                return self.settle_in(way);
            }
            if steps == limit {
                limit = self.most_steps(begin);
                if steps >= limit {
                    return Err(Stop::refused(Refusal::new("definition_fault").message(
                        "the definition goes on for ever without a state that waits",
                    )));
                }
            }
            if !self.step(way)? {
                return Ok(());
            }
            steps += 1;
        }
    }

    /// Where every transition is asked for, an end is reached at once, and a unit is issued by the
    /// transition that enters its state, unless that waits for a gate or for a step.
    fn settle_in(&mut self, way: &Transition) -> Result<(), Stop> {
        let state = self.state_of(ROOT);
        let definition = self.definition;
        let Some(def) = definition.state(&state) else {
            return Ok(());
        };
        let issued = self
            .run
            .token(ROOT)
            .is_some_and(|token| token.unit.is_some());
        match (def.kind(), &def.work) {
            (Kind::Final, _) => {
                self.step(way)?;
            }
            (Kind::Work, Some(work))
                if work.issue == Issue::Entry && !issued && !self.is_blocked(ROOT, &state)? =>
            {
                self.issue(ROOT, &state)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// More steps than a proved definition can take in one go: its routes have no circle, so every
    /// item passes each state at most once, and so does the run. Items that came to be on the way do
    /// not count: a route that adds an item for every item would never end.
    fn most_steps(&self, begin: usize) -> usize {
        let on_the_way = self.events[begin..]
            .iter()
            .filter(|event| matches!(event, Event::ItemAdded { .. }))
            .count();
        let items: usize = self.run.sets.values().map(ItemSet::len).sum();
        let states = self.definition.all_states().count();
        (items - on_the_way.min(items) + 2) * (states + 2)
    }

    /// One move of the first token that can make one.
    fn step(&mut self, way: &Transition) -> Result<bool, Stop> {
        let tokens: Vec<(u32, String, bool)> = self
            .run
            .tokens
            .iter()
            .map(|token| (token.id, token.state.clone(), token.unit.is_some()))
            .collect();
        let aborting = self.run.status == RunStatus::Paused;
        for (token, state, has_unit) in tokens {
            let definition = self.definition;
            let Some(def) = definition.state(&state) else {
                return Err(Stop::refused(
                    Refusal::new("definition_fault")
                        .message(format!("there is no state `{state}`")),
                ));
            };
            if !aborting && self.is_blocked(token, &state)? {
                continue;
            }
            match def.kind() {
                Kind::Work if has_unit || aborting => {}
                Kind::Work => {
                    self.issue(token, &state)?;
                    return Ok(true);
                }
                Kind::Do => {
                    let at = self.not_done_yet(token, &place(&state, Trigger::Do, 0));
                    if self.effect_on(&at).is_some() {
                        self.intend(token, at, way.clone())?;
                    } else {
                        self.leave_do(token)?;
                    }
                    return Ok(true);
                }
                Kind::Route => {
                    self.route(token, &state, way)?;
                    return Ok(true);
                }
                Kind::Each => {
                    if self.each(token, &state, way)? {
                        return Ok(true);
                    }
                }
                Kind::Final => {
                    let at = place(&state, Trigger::Final, 0);
                    if token == ROOT && self.effect_on(&at).is_some() {
                        self.intend(token, at, way.clone())?;
                    } else {
                        self.end(token);
                    }
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Asks somebody to act.
    pub(super) fn issue(&mut self, token: u32, state: &str) -> Result<(), Stop> {
        let asked = self
            .definition
            .state(state)
            .and_then(|state| state.work.as_ref())
            .is_some_and(|work| work.instructions.is_some() || work.prompt.is_some());
        self.issue_with(token, state, asked)
    }

    /// Issues a unit; nothing is asked where somebody has answered already. A used id is never given again.
    pub(super) fn issue_with(&mut self, token: u32, state: &str, asked: bool) -> Result<(), Stop> {
        let definition = self.definition;
        let Some(present) = self.run.token(token) else {
            return Ok(());
        };
        let base = match present.key() {
            Some(key) => fill(&definition.unit.item.value, key, state, &self.run.inputs),
            None => fill(&definition.unit.run.value, "", state, &self.run.inputs),
        };
        let mut number = self.run.issues.get(&base).map_or(1, |issued| issued + 1);
        let unit = loop {
            let unit = match number {
                1 => base.clone(),
                number => format!("{base}-{number}"),
            };
            // Two positions may come to the same id: `a` for the second time, and `a-2`.
            if !self.run.was_issued(&unit) {
                break unit;
            }
            number += 1;
        };
        let item = present.key().map(str::to_owned);
        let attempt = present.attempts.get(state).copied().unwrap_or(0) + 1;
        let max_attempts = self.attempts_allowed(token)?;
        let prompt = if asked {
            self.request_prompt((&unit, token), attempt, max_attempts, false)
        } else {
            None
        };
        self.push(Event::UnitIssued {
            unit,
            base,
            token,
            state: state.to_owned(),
            attempt,
            max_attempts,
            context: None,
            name: definition.reported_as(state).map(str::to_owned),
            item,
            role: definition.role(state),
        });
        self.recorded(prompt);
        Ok(())
    }

    pub(super) fn leave_do(&mut self, token: u32) -> Result<(), Stop> {
        let state = self.state_of(token);
        let Some(to) = self
            .definition
            .state(&state)
            .and_then(|state| state.to.as_ref())
        else {
            return Err(no_edge(&state));
        };
        self.enter(Entered::plainly(token, &state, &to.value, Trigger::Do));
        Ok(())
    }

    pub(super) fn route(&mut self, token: u32, state: &str, way: &Transition) -> Result<(), Stop> {
        let definition = self.definition;
        let mut way = way.clone();
        let mut findings: &[Finding] = &[];
        if let Some(reader) = definition.state(state).and_then(StateDef::reader) {
            let reading = self.reading(definition.role(state), token)?;
            way.read = Some(Read {
                reader: reader.value.clone(),
                facts: reading.facts.clone(),
                artifacts: reading.artifacts.clone(),
            });
            findings = &reading.findings;
            way.keep.clone_from(&reading.keep_run);
        }
        let facts = way
            .read
            .as_ref()
            .map(|read| (read.reader.as_str(), &read.facts));
        for trigger in [Trigger::Route, Trigger::Otherwise] {
            let edges = definition.own_or_otherwise(state, trigger);
            if let Some(chosen) = self.walk(edges, token, facts, findings, &way)? {
                return self.follow(token, &place(state, trigger, chosen.index), &chosen, way);
            }
        }
        Err(no_edge(state))
    }

    /// Takes the edge that was chosen where nobody reports, or pauses there.
    fn follow(
        &mut self,
        token: u32,
        at: &EffectAt,
        chosen: &ChosenEdge,
        way: Transition,
    ) -> Result<(), Stop> {
        let stops = self.edge_at(at).and_then(|edge| chosen.stops_at(edge));
        if let Some((reason, message)) = stops {
            self.push(Event::RunPaused {
                reason,
                token: Some(token),
                message,
                person: true,
            });
            return Ok(());
        }
        self.take(token, at, way)
    }

    /// Opens what is ready, and goes on when nothing is left. False where the items in flight must
    /// move first.
    fn each(&mut self, token: u32, state: &str, way: &Transition) -> Result<bool, Stop> {
        let definition = self.definition;
        let Some(each) = definition
            .state(state)
            .and_then(|state| state.each.as_ref())
        else {
            return Ok(false);
        };
        let set = &each.items.value;
        let Some(declared) = definition.items.get(set) else {
            return Ok(false);
        };
        let in_flight = self
            .run
            .tokens
            .iter()
            .filter(|child| child.parent == Some(token))
            .count();
        let room = each
            .parallel
            .as_ref()
            .map_or(1, |parallel| parallel.value.max(1)) as usize;
        let empty = ItemSet::default();
        let items = self.run.sets.get(set).unwrap_or(&empty);
        if in_flight < room
            && let Some((key, _)) = items.ready(declared)
        {
            let key = key.to_owned();
            self.push(Event::TokenOpened {
                token: self.run.next_token,
                parent: token,
                set: set.clone(),
                key,
                state: each.initial.value.clone(),
            });
            return Ok(true);
        }
        if in_flight > 0 {
            return Ok(false);
        }
        let blocked = items.blocked(declared);
        let stuck: Vec<&str> = items
            .iter()
            .zip(&blocked)
            .filter(|((_, item), blocked)| item.status == ItemStatus::Open && !**blocked)
            .map(|((key, _), _)| key)
            .collect();
        if !stuck.is_empty() {
            return Err(Stop::refused(
                Refusal::new("bad_dependencies")
                    .message(format!(
                        "these wait for something that does not exist or goes round in a circle: {}",
                        stuck.join(", ")
                    ))
                    .detail("items", stuck),
            ));
        }
        let Some(chosen) = self.walk(
            definition.edges(state, Trigger::Done),
            token,
            None,
            &[],
            way,
        )?
        else {
            return Err(no_edge(state));
        };
        self.follow(
            token,
            &place(state, Trigger::Done, chosen.index),
            &chosen,
            way.clone(),
        )?;
        Ok(true)
    }

    /// The end of an item, or of the run.
    pub(super) fn end(&mut self, token: u32) {
        let state = self.state_of(token);
        let status = self
            .definition
            .state(&state)
            .and_then(|state| state.end.as_ref())
            .map_or(RunStatus::Error, |end| end.value.into());
        let reason = self.run.token(token).and_then(|token| token.reason.clone());
        if token == ROOT {
            self.push(Event::RunEnded { status, reason });
        } else {
            self.push(Event::TokenClosed {
                item: self.key_of_token(token),
                token,
                done: status == RunStatus::Completed,
                left: false,
            });
        }
    }
}

pub(super) fn place(state: &str, trigger: Trigger, edge: usize) -> EffectAt {
    EffectAt {
        state: state.to_owned(),
        trigger,
        edge,
        effect: 0,
    }
}

/// Fills the pattern of a unit's id.
fn fill(
    pattern: &str,
    key: &str,
    state: &str,
    inputs: &serde_json::Map<String, serde_json::Value>,
) -> String {
    let mut id = pattern
        .replace("{STATE}", &state.to_uppercase())
        .replace("{state}", state);
    for (name, value) in inputs {
        if let Some(text) = value.as_str() {
            id = id.replace(&format!("{{inputs.{name}}}"), text);
        }
    }
    // Last, so that a key cannot smuggle a placeholder in.
    id.replace("{key}", key)
}
