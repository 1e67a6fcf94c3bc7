//! What each command asks for.

use serde_json::{Map, Value};

use super::edge::Way;
use super::{Planner, Stop, UnitMatch, match_unit};
use crate::command::{Command, Report, Start};
use crate::definition::{Field, Kind, Literal, Ordered};
use crate::event::{Event, Grant, Reported};
use crate::refusal::Refusal;
use crate::scope::RunScope;
use crate::state::{EffectAt, ROOT, RunState, RunStatus, Token};

/// The reason of a pause after the last attempt.
pub const MAX_ATTEMPTS: &str = "max_attempts_reached";

impl Planner<'_> {
    pub(super) fn command(&mut self, command: &Command) -> Result<(), Stop> {
        let settles = matches!(
            command,
            Command::EffectDone { .. } | Command::EffectFailed { .. }
        );
        if settles != self.run.pending.is_some() {
            return Err(Stop::Refused(Refusal::new("effect_pending").message(
                if settles {
                    "no effect is under way"
                } else {
                    "an effect of an earlier command is not settled yet"
                },
            )));
        }
        match command {
            Command::Start(start) => self.start(start),
            Command::Report(report) => self.report(report),
            Command::Reopen { reason } => self.step_aside("reopen", None, reason),
            Command::Skip { item, reason } => self.step_aside("skip", item.as_deref(), reason),
            Command::Allow {
                code,
                reason,
                actor,
            } => self.allow(code, reason, actor),
            Command::Pause { reason } => self.pause(reason),
            Command::Resume => self.resume(),
            Command::Abort { flags } => self.abort(flags),
            Command::EffectDone { result, keep } => self.effect_done(result, keep),
            Command::EffectFailed {
                code,
                message,
                suggestion: _,
            } => self.effect_failed(code, message),
        }
    }

    fn start(&mut self, start: &Start) -> Result<(), Stop> {
        let definition = self.definition;
        let mut seed = RunState {
            config: start.config.clone(),
            tokens: vec![blank_token()],
            ..RunState::default()
        };
        seed.inputs = self.fields(&definition.inputs, &start.inputs, &seed)?;
        seed.vars = self.fields(&definition.vars, &Map::new(), &seed)?;
        let keep = self
            .facts
            .reading
            .as_ref()
            .map(|reading| reading.keep_run.clone())
            .unwrap_or_default();
        self.push(Event::RunCreated {
            run: start.run.clone(),
            workflow: definition.id.value.clone(),
            definition: start.definition.clone(),
            definition_hash: start.definition_hash.clone(),
            inputs: seed.inputs,
            vars: seed.vars,
            config: start.config.clone(),
            settings: start.settings.clone(),
            policy_hash: start.policy_hash.clone(),
            policies: start.policies.clone(),
            actor: start.actor.clone(),
            keep,
        });
        self.push(Event::StateEntered {
            token: ROOT,
            from: String::new(),
            to: definition.initial.value.clone(),
            cause: "start".to_owned(),
            set: Map::new(),
            reason: None,
        });
        self.advance(&Way::default(), false)
    }

    /// Declared values: what was given where it is of the type, else the default.
    fn fields(
        &self,
        declared: &Ordered<Field>,
        given: &Map<String, Value>,
        seed: &RunState,
    ) -> Result<Map<String, Value>, Stop> {
        let way = Way::default();
        let scope = RunScope {
            definition: self.definition,
            run: seed,
            token: &seed.tokens[0],
            facts: None,
            flags: &way.flags,
            reason: "",
            vars: None,
            result: None,
        };
        for name in given.keys() {
            if declared.get(name).is_none() {
                return Err(Stop::Refused(
                    Refusal::new("unknown_input")
                        .message(format!("the workflow has no input `{name}`")),
                ));
            }
        }
        let mut values = Map::new();
        for (name, field) in declared.iter() {
            let value = match (given.get(&name.value), &field.default) {
                (Some(value), _) => value.clone(),
                (None, Some(Literal::Expression(expression))) => expression.evaluate(&scope)?,
                (None, _) => field.empty(),
            };
            if !field.kind.admits(&value) {
                return Err(Stop::Refused(Refusal::new("bad_input").message(format!(
                    "`{}` is {value}, but must be of type {}",
                    name.value, field.kind
                ))));
            }
            values.insert(name.value.clone(), value);
        }
        Ok(values)
    }

    fn report(&mut self, report: &Report) -> Result<(), Stop> {
        let (token, unit) = match match_unit(&self.run, report) {
            UnitMatch::Present { token, unit } => (token, unit),
            UnitMatch::Paused => return Err(self.paused()),
            UnitMatch::Over => return Err(self.over()),
            UnitMatch::Used { unit } => {
                return Err(Stop::Refused(
                    Refusal::new("stale_unit").detail("unit", unit),
                ));
            }
            UnitMatch::Stale => return Err(Stop::Refused(Refusal::new("stale_unit"))),
        };
        let state = self.state_of(token);
        let reader = self
            .definition
            .state(&state)
            .and_then(|state| state.expects.as_ref())
            .map(|reader| reader.value.clone());
        let reading = match &reader {
            Some(reader) => self.reading(reader, token)?.clone(),
            None => crate::command::Reading::default(),
        };
        let mut reported = Box::new(Reported {
            unit,
            token,
            state: state.clone(),
            item: self
                .run
                .token(token)
                .and_then(|token| token.key().map(str::to_owned)),
            reader: reader.clone().unwrap_or_default(),
            level: reading.level,
            facts: reading.facts,
            evidence: reading.evidence,
            digest: report.digest.clone(),
            warnings: reading.warnings,
            keep: reading.keep,
            keep_run: reading.keep_run,
            ..Reported::default()
        });
        let mut way = Way {
            report: None,
            flags: report.flags.clone(),
            reason: None,
        };
        let definition = self.definition;
        let edges = definition.edges(&state, "report");
        if edges.is_empty() {
            // `to` beside `work`: one unguarded edge.
            let to = definition
                .state(&state)
                .and_then(|state| state.to.as_ref())
                .map(|to| to.value.clone())
                .unwrap_or_default();
            reported.answer.validated = true;
            self.push(Event::ReportAccepted(reported));
            self.push(Event::StateEntered {
                token,
                from: state,
                to,
                cause: "report".to_owned(),
                set: Map::new(),
                reason: None,
            });
            return self.advance(&way, false);
        }
        let facts = reader
            .as_deref()
            .map(|reader| (reader, reported.facts.clone()));
        let chosen = self.walk(
            edges,
            token,
            facts.as_ref().map(|(reader, facts)| (*reader, facts)),
            &reading.findings,
            &way,
        )?;
        let Some(chosen) = chosen else {
            return Err(no_edge(&state));
        };
        reported.warnings.extend(chosen.warnings);
        reported.findings = chosen.findings;
        let edge = &edges[chosen.index];
        if let Some(finding) = chosen.pause {
            reported.code = Some(finding.policy.clone());
            self.push(Event::ReportRetried(reported));
            self.push(Event::RunPaused {
                reason: finding.policy,
                token: Some(token),
                message: Some(finding.message),
            });
            return Ok(());
        }
        if let Some(pause) = &edge.pause {
            reported.code = Some(pause.value.clone());
            self.push(Event::ReportRetried(reported));
            self.push(Event::RunPaused {
                reason: pause.value.clone(),
                token: Some(token),
                message: None,
            });
            return Ok(());
        }
        let at = EffectAt {
            state: state.clone(),
            event: "report".to_owned(),
            edge: chosen.index,
            effect: 0,
        };
        if let Some(code) = &edge.retry {
            reported.code = Some(code.value.clone());
            let limit = self.attempts_allowed(token)?;
            reported.attempt_used = limit.is_some();
            way.report = Some(reported);
            self.take(token, &at, way.clone())?;
            let used = self
                .run
                .token(token)
                .and_then(|token| token.attempts.get(&state))
                .copied()
                .unwrap_or(0);
            if self.state_of(token) == state && limit.is_some_and(|limit| used >= limit) {
                self.push(Event::RunPaused {
                    reason: MAX_ATTEMPTS.to_owned(),
                    token: Some(token),
                    message: None,
                });
                return Ok(());
            }
        } else {
            way.report = Some(reported);
            self.take(token, &at, way.clone())?;
        }
        way.report = None;
        self.advance(&way, false)
    }

    /// `reopen` and `skip`: the present state's own edges.
    fn step_aside(&mut self, event: &str, item: Option<&str>, reason: &str) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let token = {
            let mut waiting = self
                .run
                .waiting()
                .filter(|(token, _)| item.is_none() || token.key() == item);
            match (waiting.next(), waiting.next()) {
                (Some((token, _)), None) => token.id,
                (Some(_), Some(_)) => {
                    return Err(Stop::Refused(Refusal::new("which_item").message(
                        "several items are in flight; name the one that is meant",
                    )));
                }
                (None, _) => {
                    return Err(Stop::Refused(
                        Refusal::new("not_present")
                            .message(match item {
                                Some(item) => format!("{item} is not the one in hand"),
                                None => "nothing is in hand".to_owned(),
                            })
                            .detail("item", item),
                    ));
                }
            }
        };
        let state = self.state_of(token);
        let definition = self.definition;
        let edges = definition.edges(&state, event);
        let way = Way {
            report: None,
            flags: Map::new(),
            reason: Some(reason.to_owned()),
        };
        let Some(chosen) = self.walk(edges, token, None, &[], &way)? else {
            return Err(Stop::Refused(
                Refusal::new(format!("cannot_{event}"))
                    .message(format!("`{event}` is not possible in {state}"))
                    .detail("state", state),
            ));
        };
        let at = EffectAt {
            state,
            event: event.to_owned(),
            edge: chosen.index,
            effect: 0,
        };
        self.take(token, &at, way.clone())?;
        self.advance(&way, false)
    }

    fn allow(&mut self, code: &str, reason: &str, actor: &str) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let (state, unit) = match self.run.waiting().next() {
            Some((token, unit)) => (token.state.clone(), unit.clone()),
            None => return Err(Stop::Refused(Refusal::new("not_present"))),
        };
        let checked: Vec<&str> = self
            .definition
            .edges(&state, "report")
            .iter()
            .flat_map(|edge| edge.check.0.iter().map(|policy| policy.value.as_str()))
            .collect();
        if !checked.contains(&code) {
            return Err(Stop::Refused(
                Refusal::new("not_a_policy")
                    .message(format!(
                        "`{code}` is no policy of this step; these are: {}",
                        checked.join(", ")
                    ))
                    .detail("policies", checked),
            ));
        }
        if unit.allowed.iter().any(|known| known == code) {
            return Ok(());
        }
        self.push(Event::RefusalAllowed {
            unit: unit.id,
            code: code.to_owned(),
            reason: reason.to_owned(),
            actor: actor.to_owned(),
        });
        Ok(())
    }

    fn pause(&mut self, reason: &str) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {
                self.push(Event::RunPaused {
                    reason: reason.to_owned(),
                    token: None,
                    message: None,
                });
                Ok(())
            }
            RunStatus::Paused => Ok(()),
            _ => Err(self.over()),
        }
    }

    fn resume(&mut self) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => return Ok(()),
            RunStatus::Paused => {}
            _ => return Err(self.over()),
        }
        let grants = self
            .run
            .pause
            .as_ref()
            .filter(|pause| pause.reason == MAX_ATTEMPTS)
            .and_then(|pause| pause.token)
            .map(|token| Grant {
                token,
                state: self.state_of(token),
            });
        self.push(Event::RunResumed { grants });
        self.advance(&Way::default(), false)
    }

    fn abort(&mut self, flags: &Map<String, Value>) -> Result<(), Stop> {
        if self.run.status.is_over() {
            return Err(self.over());
        }
        let way = Way {
            report: None,
            flags: flags.clone(),
            reason: None,
        };
        let state = self.state_of(ROOT);
        let definition = self.definition;
        let edges = definition.edges(&state, "abort");
        let Some(chosen) = self.walk(edges, ROOT, None, &[], &way)? else {
            return Err(Stop::Refused(Refusal::new("cannot_abort")));
        };
        let at = EffectAt {
            state,
            event: "abort".to_owned(),
            edge: chosen.index,
            effect: 0,
        };
        self.take(ROOT, &at, way.clone())?;
        self.advance(&way, true)
    }

    fn effect_done(&mut self, result: &Value, keep: &Map<String, Value>) -> Result<(), Stop> {
        let Some(pending) = self.run.pending.clone() else {
            return Ok(());
        };
        self.push(Event::EffectDone {
            effect: pending.effect,
            name: pending.name.clone(),
            result: result.clone(),
            keep: keep.clone(),
        });
        let way = Way {
            report: pending.report,
            flags: pending.flags,
            reason: pending.reason,
        };
        let next = EffectAt {
            effect: pending.at.effect + 1,
            ..pending.at.clone()
        };
        if self.effect_on(&next).is_some() {
            return self.intend(pending.token, next, way);
        }
        let aborts = pending.at.event == "abort";
        match pending.at.event.as_str() {
            "do" => self.leave_do(pending.token)?,
            "final" => self.end(pending.token),
            _ => {
                let after = Way {
                    report: None,
                    ..way.clone()
                };
                self.arrive(pending.token, &pending.at, way, Some(result))?;
                return self.advance(&after, aborts);
            }
        }
        self.advance(&way, aborts || self.run.status == RunStatus::Paused)
    }

    fn effect_failed(&mut self, code: &str, message: &str) -> Result<(), Stop> {
        let Some(pending) = self.run.pending.clone() else {
            return Ok(());
        };
        self.push(Event::EffectFailed {
            effect: pending.effect,
            name: pending.name,
            code: code.to_owned(),
            message: message.to_owned(),
        });
        match pending.at.event.as_str() {
            // Clearing up after the end is worth a warning, not a run that never ends.
            "final" => self.end(pending.token),
            // Nobody reported here, so nobody would learn of it: the run waits for a person.
            "do" | "route" | "done" => self.push(Event::RunPaused {
                reason: code.to_owned(),
                token: Some(pending.token),
                message: Some(message.to_owned()),
            }),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn state_of(&self, token: u32) -> String {
        self.run
            .token(token)
            .map(|token| token.state.clone())
            .unwrap_or_default()
    }

    pub(super) fn attempts_allowed(&self, token: u32) -> Result<Option<u32>, Stop> {
        let state = self.state_of(token);
        let Some(attempts) = self
            .definition
            .state(&state)
            .filter(|state| state.kind() == Kind::Work)
            .and_then(|state| state.work.as_ref())
            .and_then(|work| work.attempts.as_ref())
        else {
            return Ok(None);
        };
        let way = Way::default();
        let value = match &attempts.value {
            Literal::Value(value) => value.clone(),
            Literal::Expression(expression) => {
                expression.evaluate(&self.scope(token, None, &way))?
            }
        };
        Ok(value
            .as_u64()
            .map(|limit| u32::try_from(limit).unwrap_or(u32::MAX).max(1)))
    }

    fn paused(&self) -> Stop {
        let reason = self.run.pause.as_ref().map(|pause| pause.reason.clone());
        Stop::Refused(Refusal::new("paused").detail("reason", reason))
    }

    fn over(&self) -> Stop {
        Stop::Refused(Refusal::new("run_over").detail("status", self.run.status.name()))
    }
}

pub(super) fn no_edge(state: &str) -> Stop {
    Stop::Refused(
        Refusal::new("definition_fault")
            .message(format!("no edge of `{state}` takes this"))
            .suggestion("give the state a last edge without a guard, and see `tm workflow check`")
            .detail("state", state),
    )
}

fn blank_token() -> Token {
    Token {
        id: ROOT,
        parent: None,
        item: None,
        state: String::new(),
        entered_at: String::new(),
        reason: None,
        unit: None,
        attempts: std::collections::BTreeMap::default(),
        kept: Map::new(),
    }
}
