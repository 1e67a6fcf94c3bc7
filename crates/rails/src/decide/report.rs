//! The verdict on a report.

use serde_json::Map;

use super::command::{MAX_ATTEMPTS, no_edge};
use super::edge::Way;
use super::{Planner, Stop, UnitMatch, match_unit};
use crate::command::{Reading, Report};
use crate::definition::{Kind, Literal};
use crate::event::{Event, Reported};
use crate::refusal::Refusal;
use crate::state::EffectAt;

impl Planner<'_> {
    pub(super) fn report(&mut self, report: &Report) -> Result<(), Stop> {
        let (token, unit) = match match_unit(&self.run, report) {
            UnitMatch::Present { token, unit } => (token, unit),
            UnitMatch::Paused => return Err(self.paused()),
            UnitMatch::Over => return Err(self.over()),
            UnitMatch::Used { unit } => {
                return Err(Stop::refused(
                    Refusal::new("stale_unit").detail("unit", unit),
                ));
            }
            UnitMatch::Stale => return Err(Stop::refused(Refusal::new("stale_unit"))),
        };
        let state = self.state_of(token);
        let reader = self
            .definition
            .state(&state)
            .and_then(|state| state.expects.as_ref())
            .map(|reader| reader.value.clone());
        let reading = match &reader {
            Some(reader) => self.reading(reader, token)?.clone(),
            None => Reading::default(),
        };
        let findings = reading.findings.clone();
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
            flags: report.flags.clone(),
            ..Way::default()
        };
        let definition = self.definition;
        let edges = definition.edges(&state, "report");
        if edges.is_empty() {
            self.accept_plainly(token, &state, reported);
            return self.advance(&way, false);
        }
        let facts = reader.as_deref().map(|reader| (reader, &reported.facts));
        let Some(chosen) = self.walk(edges, token, facts, &findings, &way)? else {
            return Err(no_edge(&state));
        };
        let edge = &edges[chosen.index];
        reported.warnings.extend(chosen.warnings.iter().cloned());
        reported.findings.clone_from(&chosen.findings);
        if let Some((reason, message)) = chosen.stops_at(edge) {
            reported.code = Some(reason.clone());
            self.push(Event::ReportRetried(reported));
            self.push(Event::RunPaused {
                reason,
                token: Some(token),
                message,
            });
            return Ok(());
        }
        let at = EffectAt {
            state: state.clone(),
            event: "report".to_owned(),
            edge: chosen.index,
            effect: 0,
        };
        let mut limit = None;
        if let Some(code) = &edge.retry {
            reported.code = Some(code.value.clone());
            limit = self.attempts_allowed(token)?;
            reported.attempt_used = limit.is_some();
        }
        way.report = Some(reported);
        self.take(token, &at, way.clone())?;
        if let Some(limit) = limit
            && self.none_left(token, &state, limit)
        {
            self.push(Event::RunPaused {
                reason: MAX_ATTEMPTS.to_owned(),
                token: Some(token),
                message: None,
            });
            return Ok(());
        }
        self.advance(&way.after(), false)
    }

    /// `to` beside `work` is one edge without a guard.
    fn accept_plainly(&mut self, token: u32, state: &str, mut reported: Box<Reported>) {
        let to = self
            .definition
            .state(state)
            .and_then(|state| state.to.as_ref())
            .map(|to| to.value.clone())
            .unwrap_or_default();
        reported.answer.validated = true;
        self.push(Event::ReportAccepted(reported));
        self.push(Event::StateEntered {
            token,
            from: state.to_owned(),
            to,
            cause: "report".to_owned(),
            set: Map::new(),
            keep: Map::new(),
            reason: None,
        });
    }

    /// Whether the token stands where its attempts are used up.
    fn none_left(&self, token: u32, state: &str, limit: u32) -> bool {
        self.run.token(token).is_some_and(|token| {
            token.state == state && token.attempts.get(state).is_some_and(|used| *used >= limit)
        })
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
        let Some(limit) = value.as_i64() else {
            return Err(Stop::refused(Refusal::new("definition_fault").message(
                format!("`attempts` of `{state}` gives {value}, which is no whole number"),
            )));
        };
        Ok(Some(u32::try_from(limit.max(1)).unwrap_or(u32::MAX)))
    }
}
