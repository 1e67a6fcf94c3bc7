//! The verdict on a report.

use serde_json::{Map, Value};

use super::advance::place;
use super::command::{MAX_ATTEMPTS, no_edge};
use super::edge::{ChosenEdge, Transition};
use super::{Planner, Stop, UnitMatch, match_unit};
use crate::command::{Finding, Reading, Report};
use crate::definition::{Kind, Literal, StateDef};
use crate::event::{AcceptedReport, Entered, Event};
use crate::refusal::Refusal;
use crate::role::Role;
use crate::trigger::Trigger;

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
        if self.is_blocked(token, &state)? {
            return Err(self.gate_is_closed(&state));
        }
        let flags = Map::from_iter([("unit".to_owned(), unit.as_str().into())]);
        self.persons_own("answer", flags, report.approval.as_deref());
        self.answer(token, unit, &state, report)
    }

    /// Takes in the answer to `unit`, or refuses it.
    pub(super) fn answer(
        &mut self,
        token: u32,
        unit: String,
        state: &str,
        report: &Report,
    ) -> Result<(), Stop> {
        let definition = self.definition;
        let def = definition.state(state);
        let reader = def.and_then(StateDef::reader);
        let waits_for_file = def
            .and_then(|def| def.work.as_ref())
            .is_some_and(|work| work.response.is_some());
        let reading = match reader {
            Some(_) => self.reading(definition.role(state), token)?.clone(),
            None if waits_for_file => self.reading(Role::default(), token)?.clone(),
            None => Reading::default(),
        };
        let findings = reading.findings.clone();
        let mut reported = Box::new(AcceptedReport {
            unit,
            token,
            state: state.to_owned(),
            name: definition.reported_as(state).map(str::to_owned),
            item: self
                .run
                .token(token)
                .and_then(|token| token.key().map(str::to_owned)),
            role: definition.role(state),
            level: reading.level,
            facts: reading.facts,
            evidence: reading.evidence,
            digest: report.digest.clone(),
            warnings: reading.warnings,
            keep: reading.keep,
            keep_run: reading.keep_run,
            artifacts: reading.artifacts,
            ..AcceptedReport::default()
        });
        let mut way = Transition {
            flags: report.flags.clone(),
            ..Transition::default()
        };
        if definition.edges(state, Trigger::Report).is_empty() {
            self.accept_plainly(token, state, reported);
            return self.advance(&way, false);
        }
        let facts = reader.map(|reader| (reader.value.as_str(), &reported.facts));
        let (trigger, chosen) = self.choose(token, state, facts, &findings, &way)?;
        let edge = &definition.own_or_otherwise(state, trigger)[chosen.index];
        reported.warnings.extend(chosen.warnings.iter().cloned());
        reported.findings.clone_from(&chosen.findings);
        if let Some((reason, message)) = chosen.stops_at(edge) {
            reported.code = Some(reason.clone());
            reported.artifacts.clear();
            self.push(Event::ReportRetried(reported));
            self.push(Event::RunPaused {
                reason,
                token: Some(token),
                message,
                person: true,
            });
            return Ok(());
        }
        let mut limit = None;
        if let Some(code) = &edge.retry {
            reported.code = Some(code.value.clone());
            reported.artifacts.clear();
            limit = self.attempts_allowed(token)?;
            reported.attempt_used = limit.is_some();
        }
        way.report = Some(reported);
        self.take(token, &place(state, trigger, chosen.index), way.clone())?;
        if let Some(limit) = limit
            && self.none_left(token, state, limit)
        {
            self.push(Event::RunPaused {
                reason: MAX_ATTEMPTS.to_owned(),
                token: Some(token),
                message: None,
                person: true,
            });
            return Ok(());
        }
        self.advance(&way.after(), false)
    }

    /// The first edge that takes what was read, with the list that it stands in.
    fn choose(
        &self,
        token: u32,
        state: &str,
        facts: Option<(&str, &Map<String, Value>)>,
        findings: &[Finding],
        way: &Transition,
    ) -> Result<(Trigger, ChosenEdge), Stop> {
        for trigger in [Trigger::Report, Trigger::Otherwise] {
            let edges = self.definition.own_or_otherwise(state, trigger);
            if let Some(chosen) = self.walk(edges, token, facts, findings, way)? {
                return Ok((trigger, chosen));
            }
        }
        Err(no_edge(state))
    }

    /// `to` beside `work` is one edge without a guard.
    fn accept_plainly(&mut self, token: u32, state: &str, mut reported: Box<AcceptedReport>) {
        let to = self
            .definition
            .state(state)
            .and_then(|state| state.to.as_ref())
            .map(|to| to.value.clone())
            .unwrap_or_default();
        reported.answer.validated = true;
        let taken_in = std::mem::take(&mut reported.artifacts);
        self.push(Event::ReportAccepted(reported));
        self.recorded(taken_in);
        self.enter(Entered::plainly(token, state, &to, Trigger::Report));
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
        let way = Transition::default();
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
