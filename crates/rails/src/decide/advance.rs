//! On to the next waiting state: routes, effects, items and ends, until somebody has to act.

use super::command::no_edge;
use super::edge::Way;
use super::{Need, Planner, Stop};
use crate::definition::Kind;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{EffectAt, ItemStatus, ROOT, RunStatus};

/// More steps than any proved definition can take in one go: its routes have no circle, and an item
/// without a waiting state is over at once.
const MOST_STEPS: usize = 2_000_000;

impl Planner<'_> {
    /// Goes on until the run waits, is over, or an effect is to be carried out.
    pub(super) fn advance(&mut self, way: &Way, even_paused: bool) -> Result<(), Stop> {
        for _ in 0..MOST_STEPS {
            if self.run.pending.is_some() || self.run.status.is_over() {
                return Ok(());
            }
            if self.run.status == RunStatus::Paused && !even_paused {
                return Ok(());
            }
            if !self.step(way)? {
                return Ok(());
            }
        }
        Err(Stop::Refused(Refusal::new("definition_fault").message(
            "the definition goes on for ever without a state that waits",
        )))
    }

    /// One move of the first token that can make one.
    fn step(&mut self, way: &Way) -> Result<bool, Stop> {
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
                return Err(Stop::Refused(
                    Refusal::new("definition_fault")
                        .message(format!("there is no state `{state}`")),
                ));
            };
            match def.kind() {
                Kind::Work if has_unit || aborting => {}
                Kind::Work => {
                    self.issue(token, &state)?;
                    return Ok(true);
                }
                Kind::Do => {
                    let at = place(&state, "do", 0);
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
                    let at = place(&state, "final", 0);
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

    /// Asks somebody to act. A used id is never given again.
    fn issue(&mut self, token: u32, state: &str) -> Result<(), Stop> {
        let definition = self.definition;
        let Some(present) = self.run.token(token) else {
            return Ok(());
        };
        let base = match present.key() {
            Some(key) => fill(&definition.unit.item.value, key, state, &self.run.inputs),
            None => fill(&definition.unit.run.value, "", state, &self.run.inputs),
        };
        let unit = match self.run.issues.get(&base) {
            None | Some(0) => base.clone(),
            Some(issued) => format!("{base}-{}", issued + 1),
        };
        let attempt = present.attempts.get(state).copied().unwrap_or(0) + 1;
        let max_attempts = self.attempts_allowed(token)?;
        let templated = definition
            .state(state)
            .and_then(|state| state.work.as_ref())
            .is_some_and(|work| work.instructions.is_some());
        let context = if templated {
            let Some(context) = self.facts.contexts.get(&unit) else {
                return Err(Stop::Need(Box::new(Need::Context {
                    unit,
                    token,
                    attempt,
                    max_attempts,
                    run: self.run.clone(),
                })));
            };
            Some(context.clone())
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
            context,
        });
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
        self.push(Event::StateEntered {
            token,
            to: to.value.clone(),
            from: state,
            cause: "do".to_owned(),
            set: serde_json::Map::new(),
            reason: None,
        });
        Ok(())
    }

    fn route(&mut self, token: u32, state: &str, way: &Way) -> Result<(), Stop> {
        let definition = self.definition;
        let expects = definition
            .state(state)
            .and_then(|state| state.expects.as_ref());
        let reading = match expects {
            Some(reader) => Some((
                reader.value.as_str(),
                self.reading(&reader.value, token)?.clone(),
            )),
            None => None,
        };
        let chosen = self.walk(
            definition.edges(state, "route"),
            token,
            reading
                .as_ref()
                .map(|(reader, reading)| (*reader, &reading.facts)),
            reading
                .as_ref()
                .map_or(&[], |(_, reading)| &reading.findings),
            way,
        )?;
        let Some(chosen) = chosen else {
            return Err(no_edge(state));
        };
        if let Some(pause) = &definition.edges(state, "route")[chosen.index].pause {
            self.push(Event::RunPaused {
                reason: pause.value.clone(),
                token: Some(token),
                message: None,
            });
            return Ok(());
        }
        self.take(token, &place(state, "route", chosen.index), way.clone())
    }

    /// Opens what is ready, and goes on when nothing is left. False where the items in flight must
    /// move first.
    fn each(&mut self, token: u32, state: &str, way: &Way) -> Result<bool, Stop> {
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
        let empty = crate::state::ItemSet::default();
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
        let barred = items.barred(declared);
        let stuck: Vec<&str> = items
            .items
            .iter()
            .zip(&barred)
            .filter(|((_, item), barred)| item.status == ItemStatus::Open && !**barred)
            .map(|((key, _), _)| key.as_str())
            .collect();
        if !stuck.is_empty() {
            return Err(Stop::Refused(
                Refusal::new("unmet_dependencies")
                    .message(format!(
                        "these wait for something that does not exist or goes round in a circle: {}",
                        stuck.join(", ")
                    ))
                    .detail("items", stuck),
            ));
        }
        let Some(chosen) = self.walk(definition.edges(state, "done"), token, None, &[], way)?
        else {
            return Err(no_edge(state));
        };
        self.take(token, &place(state, "done", chosen.index), way.clone())?;
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
                token,
                done: status == RunStatus::Completed,
                left: false,
            });
        }
    }
}

fn place(state: &str, event: &str, edge: usize) -> EffectAt {
    EffectAt {
        state: state.to_owned(),
        event: event.to_owned(),
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
