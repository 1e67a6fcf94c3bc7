//! A tiny conductor: asks `decide`, answers what it needs, folds the events.

use std::collections::BTreeMap;

use rails::command::{Report, Start};
use rails::{
    Command, Decision, Definition, Event, Facts, Need, Prepared, Reading, Refusal, RunState,
    RunStatus, Severity, decide,
};
use serde_json::{Map, Value, json};

use crate::support::load;

/// Nothing, or the refusal.
pub type Outcome = Result<(), Box<Refusal>>;

pub struct Driver {
    pub definition: Definition,
    pub run: RunState,
    pub events: Vec<(String, Event)>,
    /// What readers find, by reader, from now on.
    pub readings: BTreeMap<String, Reading>,
    /// What effects come out as: a result, or the code of a failure. `{}` if absent.
    pub effects: BTreeMap<String, Result<Value, &'static str>>,
    /// Effects that were intended, in order.
    pub carried_out: Vec<String>,
    /// Ids of the units whose context was asked for, in order.
    pub contexts: Vec<String>,
    /// Leave effects pending.
    pub hold: bool,
    pub policies: BTreeMap<String, Severity>,
}

pub fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no map"),
    }
}

pub fn reading(facts: Value) -> Reading {
    Reading {
        facts: map(facts),
        ..Reading::default()
    }
}

impl Driver {
    pub fn new(text: &str) -> Self {
        Self::of(load(text))
    }

    pub fn of(definition: Definition) -> Self {
        Self {
            definition,
            run: RunState::default(),
            events: Vec::new(),
            readings: BTreeMap::new(),
            effects: BTreeMap::new(),
            carried_out: Vec::new(),
            contexts: Vec::new(),
            hold: false,
            policies: BTreeMap::new(),
        }
    }

    pub fn start(&mut self, inputs: Value, config: Value) -> Outcome {
        let start = Start {
            run: "r1".to_owned(),
            inputs: map(inputs),
            config,
            policies: self.policies.clone(),
            ..Start::default()
        };
        self.send(&Command::Start(Box::new(start)))
    }

    /// Sends one command, and settles the effects that come of it unless they are held.
    pub fn send(&mut self, command: &Command) -> Outcome {
        self.once(command)?;
        if !self.hold {
            self.settle();
        }
        Ok(())
    }

    /// Carries out what is pending, as `effects` says.
    pub fn settle(&mut self) {
        while let Some(pending) = self.run.pending.clone() {
            let outcome = self.effects.get(&pending.name).cloned();
            let command = match outcome.unwrap_or_else(|| Ok(json!({}))) {
                Ok(result) => Command::EffectDone {
                    result,
                    keep: Map::new(),
                },
                Err(code) => Command::EffectFailed {
                    code: code.to_owned(),
                    message: "it did not work".to_owned(),
                    suggestion: None,
                },
            };
            self.once(&command).unwrap();
        }
    }

    /// Sends one command and leaves what comes of it.
    pub fn once(&mut self, command: &Command) -> Outcome {
        let before = self.run.clone();
        let mut facts = Facts {
            now: format!("2026-01-01T00:00:00.{:03}Z", self.events.len() % 1000),
            ..Facts::default()
        };
        for _ in 0..1000 {
            match decide(&self.definition, &self.run, command, &facts) {
                Decision::Events(events) => {
                    for event in events {
                        if let Event::EffectIntended { name, .. } = &event {
                            self.carried_out.push(name.clone());
                        }
                        self.run.apply(&facts.now, &event);
                        self.events.push((facts.now.clone(), event));
                    }
                    return Ok(());
                }
                Decision::Refused(refusal) => {
                    assert_eq!(self.run, before, "a refusal moved something");
                    return Err(Box::new(refusal));
                }
                Decision::Need(need) => match *need {
                    Need::Reading { reader, .. } => {
                        let found = self.readings.get(&reader).cloned().unwrap_or_default();
                        if facts.reading.is_none() {
                            facts.reading = Some(found);
                        } else {
                            facts.further.push(found);
                        }
                    }
                    Need::Effect { effect, .. } => {
                        facts.prepared = Some(Prepared {
                            what: json!({ "do": effect }),
                            effect,
                        });
                    }
                    Need::Context { unit, run, .. } => {
                        assert!(!run.tokens.is_empty());
                        self.contexts.push(unit.clone());
                        facts.contexts.insert(unit, "c0ffee".to_owned());
                    }
                },
            }
        }
        panic!("it needs ever more");
    }

    /// Reports to the present unit, with `facts` as what the present state's reader finds.
    pub fn report(&mut self, facts: Value) -> Outcome {
        let unit = self.unit();
        self.report_to(&unit, facts)
    }

    pub fn report_to(&mut self, unit: &str, facts: Value) -> Outcome {
        let reader = self
            .run
            .waiting()
            .find(|(_, waiting)| waiting.id == unit)
            .and_then(|(token, _)| self.definition.state(&token.state)?.expects.as_ref())
            .map(|reader| reader.value.clone());
        if let Some(reader) = reader {
            let found = self.readings.entry(reader).or_default();
            found.facts = map(facts);
        }
        self.send(&Command::Report(Report {
            unit: Some(unit.to_owned()),
            digest: format!("digest of {unit}"),
            ..Report::default()
        }))
    }

    pub fn resume(&mut self) -> Outcome {
        self.send(&Command::Resume)
    }

    pub fn pause(&mut self) -> Outcome {
        self.send(&Command::Pause {
            reason: "lunch".to_owned(),
        })
    }

    pub fn reopen(&mut self) -> Outcome {
        self.send(&Command::Reopen {
            reason: "the test is wrong".to_owned(),
        })
    }

    pub fn skip(&mut self) -> Outcome {
        self.send(&Command::Skip {
            item: None,
            reason: "too hard".to_owned(),
            keep: Map::new(),
        })
    }

    pub fn abort(&mut self, flags: Value) -> Outcome {
        self.send(&Command::Abort { flags: map(flags) })
    }

    /// Id of the first unit that waits, or nothing.
    pub fn unit(&self) -> String {
        let waiting = self.run.waiting().next();
        waiting.map_or_else(String::new, |(_, unit)| unit.id.clone())
    }

    pub fn status(&self) -> RunStatus {
        self.run.status
    }

    pub fn paused_for(&self) -> &str {
        self.run.pause.as_ref().map_or("", |pause| &pause.reason)
    }

    /// Names of the events from `begin` on.
    pub fn names(&self, begin: usize) -> Vec<String> {
        self.events[begin..]
            .iter()
            .map(|(_, event)| event.name())
            .collect()
    }

    /// The run as a replay of its journal makes it, each event through its written form.
    pub fn replayed(&self) -> RunState {
        let mut run = RunState::default();
        for (at, event) in &self.events {
            let (name, fields) = event.to_fields();
            let text = serde_json::to_string(&fields).unwrap();
            let fields: Map<String, Value> = serde_json::from_str(&text).unwrap();
            run.apply(at, &Event::from_fields(&name, &fields).unwrap());
        }
        run
    }
}
