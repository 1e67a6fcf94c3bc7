//! Walking a list of edges, and taking one.

use serde_json::{Map, Value};

use super::{Need, Planner, Stop};
use crate::command::{Artifact, Choice, Finding, Severity};
use crate::definition::Edge;
use crate::diagnostic::Located;
use crate::event::{AcceptedReport, Domain, Event, Read};
use crate::guard::ScopeCache;
use crate::refusal::Refusal;
use crate::scope::RunScope;
use crate::state::{EffectAt, ROOT, RunState};
use crate::trigger::Trigger;

/// What goes along a way from a command to the next waiting state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transition {
    /// The report that began it, as far as it is known.
    pub(crate) report: Option<Box<AcceptedReport>>,
    /// Flags of the command.
    pub(crate) flags: Map<String, Value>,
    /// Why, where somebody said so.
    pub(crate) reason: Option<String>,
    /// What a state read for itself.
    pub(crate) read: Option<Read>,
    /// What to keep in the run's memory when the token moves.
    pub(crate) keep: Map<String, Value>,
    /// The decision that began it.
    pub(crate) decision: Option<Choice>,
}

impl Transition {
    /// What goes on with the way behind the edge that takes the report in.
    pub(crate) fn after(&self) -> Self {
        Self {
            flags: self.flags.clone(),
            reason: self.reason.clone(),
            ..Self::default()
        }
    }

    /// What goes on behind the edge of `event`. Why an item was skipped is said of that item: whatever comes in hand
    /// after it knows nothing of it.
    pub(crate) fn behind(mut self, trigger: Trigger, token: u32) -> Self {
        if trigger == Trigger::Skip && token != ROOT {
            self.reason = None;
        }
        self
    }
}

/// The edge that was chosen, with the notes made before it.
pub(crate) struct ChosenEdge {
    pub(crate) index: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    /// A policy that wants the run paused.
    pub(crate) pause: Option<Finding>,
}

impl ChosenEdge {
    /// Why the run pauses here, if it does: the reason, and more on it.
    pub(crate) fn stops_at(&self, edge: &Edge) -> Option<(String, Option<String>)> {
        match (&self.pause, &edge.pause) {
            (Some(finding), _) => Some((finding.policy.clone(), Some(finding.message.clone()))),
            (None, Some(pause)) => {
                let mut found = self.findings.iter();
                let words = found.find(|finding| finding.policy == pause.value);
                Some((
                    pause.value.clone(),
                    words.map(|words| words.message.clone()),
                ))
            }
            (None, None) => None,
        }
    }
}

impl Planner<'_> {
    pub(crate) fn scope<'s>(
        &'s self,
        token: u32,
        facts: Option<(&'s str, &'s Map<String, Value>)>,
        way: &'s Transition,
    ) -> RunScope<'s> {
        let token = self
            .run
            .token(token)
            .or_else(|| self.run.token(ROOT))
            .unwrap_or(&self.run.tokens[0]);
        RunScope {
            definition: self.definition,
            run: &self.run,
            token,
            facts,
            flags: &way.flags,
            reason: way.reason.as_deref().unwrap_or_default(),
            vars: None,
            result: None,
        }
    }

    /// Tries edges in order. None means that no edge takes the token anywhere.
    pub(crate) fn walk(
        &self,
        edges: &[Located<Edge>],
        token: u32,
        facts: Option<(&str, &Map<String, Value>)>,
        found: &[Finding],
        way: &Transition,
    ) -> Result<Option<ChosenEdge>, Stop> {
        let scope = self.scope(token, facts, way);
        let seen = ScopeCache::new(&scope);
        let allowed = scope
            .token
            .unit
            .as_ref()
            .map_or(&[][..], |unit| &unit.allowed);
        let mut warnings = Vec::new();
        let mut findings = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            if let Some(guard) = &edge.when
                && !guard.holds_for(&seen)?
            {
                continue;
            }
            for policy in &edge.check.0 {
                for finding in found
                    .iter()
                    .filter(|finding| finding.policy == policy.value)
                {
                    let severity = self
                        .run
                        .policies
                        .get(&finding.policy)
                        .copied()
                        .unwrap_or(Severity::Refuse);
                    let passes = allowed.contains(&finding.policy);
                    match severity {
                        Severity::Off => {}
                        Severity::Refuse if !passes => {
                            let mut refusal =
                                Refusal::new(&finding.policy).message(&finding.message);
                            refusal.suggestion.clone_from(&finding.suggestion);
                            refusal.details.clone_from(&finding.details);
                            return Err(Stop::refused(refusal));
                        }
                        Severity::Pause if !passes => {
                            findings.push(finding.clone());
                            return Ok(Some(ChosenEdge {
                                index,
                                warnings,
                                findings,
                                pause: Some(finding.clone()),
                            }));
                        }
                        Severity::Warn | Severity::Refuse | Severity::Pause => {
                            warnings.push(finding.policy.clone());
                            findings.push(finding.clone());
                        }
                    }
                }
            }
            if let Some(warning) = &edge.warn {
                warnings.push(warning.value.clone());
                findings.extend(self.in_words(&warning.value));
            }
            if edge.is_note() {
                continue;
            }
            if let Some(code) = &edge.refuse {
                let mut refusal = Refusal::new(&code.value);
                if let Some(words) = self.in_words(&code.value) {
                    refusal = refusal.message(words.message);
                    refusal.suggestion = words.suggestion;
                }
                if let Some((reader, facts)) = facts {
                    refusal = refusal.detail(reader, facts.clone());
                }
                return Err(Stop::refused(refusal));
            }
            let codes = edge.retry.iter().chain(&edge.pause);
            findings.extend(codes.filter_map(|code| self.in_words(&code.value)));
            return Ok(Some(ChosenEdge {
                index,
                warnings,
                findings,
                pause: None,
            }));
        }
        Ok(None)
    }

    /// What the definition says of a code of its own, as what was found.
    fn in_words(&self, code: &str) -> Option<Finding> {
        let words = self.definition.message(code)?;
        Some(Finding {
            policy: code.to_owned(),
            message: words.message.clone(),
            suggestion: words.fix.clone(),
            details: Map::new(),
        })
    }

    /// Takes an edge: its first effect if it has any, else all the way to where it leads.
    pub(crate) fn take(&mut self, token: u32, at: &EffectAt, way: Transition) -> Result<(), Stop> {
        let next = self.not_done_yet(token, at);
        if self.effect_on(&next).is_some() {
            return self.intend(token, next, way);
        }
        self.arrive(token, at, way, None)
    }

    /// Where a way goes on whose first effects were carried out before a later one failed.
    pub(crate) fn not_done_yet(&self, token: u32, at: &EffectAt) -> EffectAt {
        let progress = self
            .run
            .token(token)
            .and_then(|token| token.progress.as_ref())
            .filter(|done| {
                (&done.state, done.trigger, done.edge) == (&at.state, at.trigger, at.edge)
            });
        progress.unwrap_or(at).clone()
    }

    /// The name of the effect at `at`, if there is one.
    pub(crate) fn effect_on(&self, at: &EffectAt) -> Option<String> {
        let names = match at.trigger {
            Trigger::Do | Trigger::Final => {
                &self.definition.state(&at.state)?.effects.as_ref()?.value
            }
            _ => &self.edge_at(at)?.effects,
        };
        names.0.get(at.effect).map(|name| name.value.clone())
    }

    pub(crate) fn edge_at(&self, at: &EffectAt) -> Option<&Located<Edge>> {
        self.definition.edges(&at.state, at.trigger).get(at.edge)
    }

    /// Journals the intent of the effect at `at`.
    pub(crate) fn intend(&mut self, token: u32, at: EffectAt, way: Transition) -> Result<(), Stop> {
        let Some(name) = self.effect_on(&at) else {
            return Ok(());
        };
        let Some(prepared) = self.prepared(&name) else {
            let (run, with) = self.effect_input(token, &at, &way)?;
            let facts = match (way.report, way.read) {
                (Some(report), _) => report.facts,
                (None, Some(read)) => read.facts,
                (None, None) => Map::new(),
            };
            return Err(Stop::Need(Box::new(Need::Effect {
                effect: name,
                token,
                run,
                facts,
                flags: way.flags,
                at,
                with,
            })));
        };
        let what = prepared.what.clone();
        self.push(Event::EffectIntended {
            effect: self.run.next_effect,
            name,
            token,
            at,
            what,
            report: way.report,
            flags: way.flags,
            reason: way.reason,
            read: way.read,
            keep: way.keep,
            decision: way.decision,
        });
        Ok(())
    }

    /// The run as an effect sees it, with what its edge sets before it, and what the edge tells it.
    fn effect_input(
        &self,
        token: u32,
        at: &EffectAt,
        way: &Transition,
    ) -> Result<(RunState, Map<String, Value>), Stop> {
        let mut run = self.run.clone();
        let Some(edge) = self.edge_at(at) else {
            return Ok((run, Map::new()));
        };
        run.vars = self.vars_before_effects(edge, token, way)?;
        let with = self.with(edge, token, way)?;
        Ok((run, with))
    }

    /// The far end of an edge: the report counts, values are set, events are told, the token moves.
    pub(crate) fn arrive(
        &mut self,
        token: u32,
        at: &EffectAt,
        way: Transition,
        result: Option<&Value>,
    ) -> Result<(), Stop> {
        let definition = self.definition;
        let Some(edge) = definition.edges(&at.state, at.trigger).get(at.edge) else {
            return Ok(());
        };
        if at.trigger == Trigger::Rewind {
            return self.come_back(edge, at, way);
        }
        let mut values = self.values(edge, token, &way, result)?;
        let item = self.run.token(token).and_then(|token| token.item.clone());
        if let Some(mut report) = way.report.clone() {
            // What fills a set stands in the set: it is not told a second time.
            for (_, fact) in edge.loaded_from(&report.role.reader) {
                report.facts.shift_remove(fact);
            }
            if edge.retry.is_some() {
                report.answer.validated = false;
                self.push(Event::ReportRetried(report));
            } else {
                report.answer.validated = true;
                let taken_in = std::mem::take(&mut report.artifacts);
                self.push(Event::ReportAccepted(report));
                self.recorded(taken_in);
            }
        } else if let Some(read) = &way.read {
            self.recorded(read.artifacts.clone());
        }
        self.fill(values.loaded);
        for (name, value) in &mut values.vars {
            // It was there when the edge was evaluated.
            if self.is_lost(name, value) {
                *value = Value::from("");
            }
        }
        for (set, key, fields) in values.changed {
            self.change_item(set, key, fields);
        }
        for (set, item) in values.added {
            match definition.items.get(&set) {
                Some(declared) if declared.waves.is_some() => {
                    self.filled_up(&set, declared, item)?;
                }
                _ => self.add_item(set, item),
            }
        }
        self.emit(edge, at, item.map(|(_, key)| key).as_ref());
        // A retry verdict stays where it is, which is worth an entry only where something is set.
        let stays = edge.retry.is_some() && !values.vars.is_empty();
        let to = match &edge.to {
            Some(to) => to.value.clone(),
            None if stays => at.state.clone(),
            None => {
                if !values.vars.is_empty() {
                    self.push(Event::VarsChanged {
                        values: values.vars,
                        keep: Map::new(),
                    });
                }
                return Ok(());
            }
        };
        if matches!(at.trigger, Trigger::Abort | Trigger::Adopt) {
            self.leave_items();
        }
        let from = self.state_of(token);
        let reason = values.reason.or(way.reason);
        if self.run.status.is_over() {
            // It leads out of an end, so the run goes on.
            self.push(Event::RunResumed { grants: None });
        }
        self.enter(Event::StateEntered {
            token,
            from,
            to,
            item: None,
            cause: at.trigger,
            set: values.vars,
            keep: way.keep,
            reason,
            iteration: None,
            outcome: edge.outcome.as_ref().map(|note| note.value.clone()),
            decision: way.decision,
        });
        Ok(())
    }

    /// Tells the events of an edge.
    pub(crate) fn emit(&mut self, edge: &Edge, at: &EffectAt, item: Option<&String>) {
        for name in &edge.emit.0 {
            self.push(Event::Domain(Domain {
                name: name.value.clone(),
                item: item.cloned(),
                state: at.state.clone(),
                fields: Map::new(),
            }));
        }
    }

    /// Moves a token; the round is the one that the run is in afterwards.
    pub(crate) fn enter(&mut self, mut entered: Event) {
        if let Event::StateEntered {
            token,
            item,
            set,
            iteration,
            ..
        } = &mut entered
        {
            *item = self.key_of_token(*token);
            let mut vars = self.run.vars.clone();
            vars.extend(set.clone());
            *iteration = self.definition.round(&vars);
        }
        self.push(entered);
    }

    /// The key of the item that a token carries.
    pub(crate) fn key_of_token(&self, token: u32) -> Option<String> {
        let token = self.run.token(token)?;
        token.key().map(str::to_owned)
    }

    /// Records files that were written or taken in.
    pub(crate) fn recorded(&mut self, artifacts: impl IntoIterator<Item = Artifact>) {
        for artifact in artifacts {
            self.push(Event::ArtifactRecorded(artifact));
        }
    }

    /// Closes the token of every item in flight; the items are left as they were.
    pub(crate) fn leave_items(&mut self) {
        let inner: Vec<u32> = self
            .run
            .tokens
            .iter()
            .filter(|token| token.id != ROOT)
            .map(|token| token.id)
            .collect();
        for token in inner {
            self.push(Event::TokenClosed {
                item: self.key_of_token(token),
                token,
                done: false,
                left: true,
            });
        }
    }
}
