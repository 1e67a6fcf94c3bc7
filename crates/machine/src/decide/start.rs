//! How a run begins.

use serde_json::{Map, Value};

use super::edge::Transition;
use super::{Planner, Stop};
use crate::command::Start;
use crate::definition::{Field, Literal, Ordered};
use crate::event::{Entered, Event};
use crate::refusal::Refusal;
use crate::scope::RunScope;
use crate::state::{ROOT, RunState, Token};
use crate::trigger::Trigger;

impl Planner<'_> {
    pub(super) fn start(&mut self, start: &Start) -> Result<(), Stop> {
        let definition = self.definition;
        let mut seed = RunState {
            config: start.config.clone().into(),
            tokens: vec![Token::new(ROOT, "", "")],
            ..RunState::default()
        };
        seed.inputs = self.fields(&definition.inputs, &start.inputs, &seed)?;
        seed.vars = self.fields(&definition.vars, &Map::new(), &seed)?;
        self.push(Event::RunCreated {
            run: start.run.clone(),
            workflow: definition.id.value.clone(),
            view: definition.view().to_owned(),
            definition: start.definition.clone(),
            definition_hash: start.definition_hash.clone(),
            inputs: seed.inputs,
            vars: seed.vars,
            config: start.config.clone(),
            settings: start.settings.clone(),
            policy_hash: start.policy_hash.clone(),
            policies: start.policies.clone(),
            actor: start.actor.clone(),
            approvals: start.approvals,
            keep: start.keep.clone(),
        });
        for (set, items) in &start.items {
            let Some(declared) = definition.items.get(set) else {
                return Err(Stop::refused(
                    Refusal::new("definition_fault")
                        .message(format!("there is no item set `{set}` to be filled")),
                ));
            };
            let items: Result<Vec<_>, Stop> = items
                .iter()
                .map(|item| self.completed(set, declared, item))
                .collect();
            let filled = self.filling(set, declared, items?)?;
            self.fill(filled);
        }
        self.enter(Entered::plainly(
            ROOT,
            "",
            &definition.initial.value,
            Trigger::Start,
        ));
        self.advance(&Transition::default(), false)
    }

    /// Declared values: what was given where it is of the type, else the default.
    fn fields(
        &self,
        declared: &Ordered<Field>,
        given: &Map<String, Value>,
        seed: &RunState,
    ) -> Result<Map<String, Value>, Stop> {
        let way = Transition::default();
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
                return Err(Stop::refused(
                    Refusal::new("usage").message(format!("the workflow has no input `{name}`")),
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
                return Err(Stop::refused(Refusal::new("usage").message(format!(
                    "`{}` is {value}, but must be of type {}",
                    name.value, field.kind
                ))));
            }
            values.insert(name.value.clone(), value);
        }
        Ok(values)
    }
}
