//! Walking a list of edges, and taking one.

use serde_json::{Map, Value};

use super::{Need, Planner, Stop};
use crate::command::{Finding, Severity};
use crate::definition::{Assign, Edge, Field, Literal};
use crate::diagnostic::Located;
use crate::event::{Domain, Event, Reported};
use crate::refusal::Refusal;
use crate::scope::RunScope;
use crate::state::{EffectAt, ROOT};

/// What goes along a way from a command to the next waiting state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Way {
    /// The report that began it, as far as it is known.
    pub(crate) report: Option<Box<Reported>>,
    /// Flags of the command.
    pub(crate) flags: Map<String, Value>,
    /// Why, where somebody said so.
    pub(crate) reason: Option<String>,
}

/// The edge that was chosen, with the notes made before it.
pub(crate) struct Chosen {
    pub(crate) index: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    /// A policy that wants the run paused.
    pub(crate) pause: Option<Finding>,
}

impl Planner<'_> {
    pub(crate) fn scope<'s>(
        &'s self,
        token: u32,
        facts: Option<(&'s str, &'s Map<String, Value>)>,
        way: &'s Way,
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
        way: &Way,
    ) -> Result<Option<Chosen>, Stop> {
        let scope = self.scope(token, facts, way);
        let allowed = scope
            .token
            .unit
            .as_ref()
            .map_or(&[][..], |unit| &unit.allowed);
        let mut warnings = Vec::new();
        let mut findings = Vec::new();
        for (index, edge) in edges.iter().enumerate() {
            if let Some(guard) = &edge.when
                && !guard.holds(&scope)?
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
                            return Err(Stop::Refused(refusal));
                        }
                        Severity::Pause if !passes => {
                            findings.push(finding.clone());
                            return Ok(Some(Chosen {
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
            }
            if edge.is_note() {
                continue;
            }
            if let Some(code) = &edge.refuse {
                let mut refusal = Refusal::new(&code.value);
                if let Some((reader, facts)) = facts {
                    refusal = refusal.detail(reader, facts.clone());
                }
                return Err(Stop::Refused(refusal));
            }
            return Ok(Some(Chosen {
                index,
                warnings,
                findings,
                pause: None,
            }));
        }
        Ok(None)
    }

    /// Takes an edge: its first effect if it has any, else all the way to where it leads.
    pub(crate) fn take(&mut self, token: u32, at: &EffectAt, way: Way) -> Result<(), Stop> {
        if self.effect_on(at).is_some() {
            return self.intend(token, at.clone(), way);
        }
        self.arrive(token, at, way, None)
    }

    /// The name of the effect at `at`, if there is one.
    pub(crate) fn effect_on(&self, at: &EffectAt) -> Option<String> {
        let names = match at.event.as_str() {
            "do" | "final" => &self.definition.state(&at.state)?.effects.as_ref()?.value,
            _ => &self.edge_at(at)?.effects,
        };
        names.0.get(at.effect).map(|name| name.value.clone())
    }

    pub(crate) fn edge_at(&self, at: &EffectAt) -> Option<&Located<Edge>> {
        self.definition.edges(&at.state, &at.event).get(at.edge)
    }

    /// Journals the intent of the effect at `at`.
    pub(crate) fn intend(&mut self, token: u32, at: EffectAt, way: Way) -> Result<(), Stop> {
        let Some(name) = self.effect_on(&at) else {
            return Ok(());
        };
        let Some(prepared) = self.prepared(&name) else {
            let facts = way
                .report
                .as_ref()
                .map(|report| report.facts.clone())
                .unwrap_or_default();
            return Err(Stop::Need(Box::new(Need::Effect {
                effect: name,
                token,
                run: self.run.clone(),
                facts,
                flags: way.flags,
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
        });
        Ok(())
    }

    /// The far end of an edge: the report counts, values are set, events are told, the token moves.
    pub(crate) fn arrive(
        &mut self,
        token: u32,
        at: &EffectAt,
        way: Way,
        result: Option<&Value>,
    ) -> Result<(), Stop> {
        let definition = self.definition;
        let Some(edge) = definition.edges(&at.state, &at.event).get(at.edge) else {
            return Ok(());
        };
        let values = self.values(edge, token, &way, result)?;
        let item = self.run.token(token).and_then(|token| token.item.clone());
        if let Some(mut report) = way.report.clone() {
            if edge.retry.is_some() {
                report.answer.validated = false;
                self.push(Event::ReportRetried(report));
            } else {
                report.answer.validated = true;
                self.push(Event::ReportAccepted(report));
            }
        }
        for (set, items) in values.loaded {
            self.push(Event::ItemsLoaded { set, items });
        }
        if let Some((set, key)) = &item
            && !values.item.is_empty()
        {
            self.push(Event::ItemChanged {
                set: set.clone(),
                key: key.clone(),
                fields: values.item,
            });
        }
        for (set, item) in values.added {
            self.push(Event::ItemAdded { set, item });
        }
        for name in &edge.emit.0 {
            self.push(Event::Domain(Domain {
                name: name.value.clone(),
                item: item.as_ref().map(|(_, key)| key.clone()),
                state: at.state.clone(),
                fields: Map::new(),
            }));
        }
        let Some(to) = &edge.to else {
            return Ok(());
        };
        if at.event == "abort" {
            let inner: Vec<u32> = self
                .run
                .tokens
                .iter()
                .filter(|token| token.id != ROOT)
                .map(|token| token.id)
                .collect();
            for token in inner {
                self.push(Event::TokenClosed {
                    token,
                    done: false,
                    left: true,
                });
            }
        }
        let from = self
            .run
            .token(token)
            .map(|token| token.state.clone())
            .unwrap_or_default();
        self.push(Event::StateEntered {
            token,
            from,
            to: to.value.clone(),
            cause: at.event.clone(),
            set: values.vars,
            reason: way.reason,
        });
        Ok(())
    }

    fn values(
        &self,
        edge: &Edge,
        token: u32,
        way: &Way,
        result: Option<&Value>,
    ) -> Result<Values, Stop> {
        let reader = way.report.as_ref().map(|report| report.reader.clone());
        let start_facts;
        let facts = match (&reader, &way.report) {
            (Some(reader), Some(report)) => Some((reader.as_str(), &report.facts)),
            _ => {
                // An edge of a `route` that reads for itself, such as the checks before a run.
                let state = self.run.token(token).map(|token| token.state.as_str());
                let expects = state
                    .and_then(|state| self.definition.state(state))
                    .and_then(|state| state.expects.as_ref());
                start_facts = self.facts.reading.as_ref().map(|reading| &reading.facts);
                match (expects, start_facts) {
                    (Some(expects), Some(facts)) => Some((expects.value.as_str(), facts)),
                    _ => None,
                }
            }
        };
        let mut scope = self.scope(token, facts, way);
        scope.result = result;
        let value = |literal: &Literal, scope: &RunScope<'_>| -> Result<Value, Stop> {
            Ok(match literal {
                Literal::Value(value) => value.clone(),
                Literal::Expression(expression) => expression.evaluate(scope)?,
            })
        };
        let mut values = Values::default();
        for (target, literal) in edge.assigns() {
            let given = value(literal, &scope)?;
            match target {
                Assign::Var(name) => values.vars.insert(name.to_owned(), given),
                Assign::ItemField(name) => values.item.insert(name.to_owned(), given),
            };
        }
        let mut vars = self.run.vars.clone();
        for (name, value) in &values.vars {
            vars.insert(name.clone(), value.clone());
        }
        scope.vars = Some(&vars);
        for (set, fields) in edge.add.iter() {
            let Some(declared) = self.definition.items.get(set) else {
                continue;
            };
            let mut given = Map::new();
            for (name, literal) in fields.iter() {
                given.insert(name.value.clone(), value(literal, &scope)?);
            }
            let item = complete(&declared.key, declared.fields.iter(), &given)?;
            values.added.push((set.value.clone(), item));
        }
        for (set, literal) in edge.load.iter() {
            let Some(declared) = self.definition.items.get(set) else {
                continue;
            };
            let Value::Array(given) = value(literal, &scope)? else {
                return Err(Stop::Refused(
                    Refusal::new("definition_fault")
                        .message(format!("what fills `{}` is no list", set.value)),
                ));
            };
            let mut items = Vec::with_capacity(given.len());
            for one in &given {
                let fields = one.as_object().cloned().unwrap_or_default();
                items.push(complete(&declared.key, declared.fields.iter(), &fields)?);
            }
            values.loaded.push((set.value.clone(), items));
        }
        Ok(values)
    }
}

/// What an edge sets, evaluated before anything is journalled.
#[derive(Default)]
struct Values {
    vars: Map<String, Value>,
    item: Map<String, Value>,
    added: Vec<(String, Map<String, Value>)>,
    loaded: Vec<(String, Vec<Map<String, Value>>)>,
}

/// An item with every declared field, the key first.
fn complete<'a>(
    key: &str,
    declared: impl Iterator<Item = (&'a Located<String>, &'a Field)>,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Stop> {
    let fault = |message: String| Stop::Refused(Refusal::new("definition_fault").message(message));
    let mut fields = Map::new();
    let id = given
        .get(key)
        .and_then(Value::as_str)
        .filter(|id| !id.is_empty())
        .ok_or_else(|| fault(format!("an item has no `{key}`")))?;
    fields.insert(key.to_owned(), Value::from(id));
    for (name, field) in declared {
        if name.value == key {
            continue;
        }
        let value = given
            .get(&name.value)
            .cloned()
            .unwrap_or_else(|| field.empty());
        if !field.kind.admits(&value) {
            return Err(fault(format!(
                "`{}` of item {id} is not of type {}",
                name.value, field.kind
            )));
        }
        fields.insert(name.value.clone(), value);
    }
    Ok(fields)
}
