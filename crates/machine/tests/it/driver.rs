//! A tiny engine: asks `decide`, answers what it needs, folds the events.

use std::collections::{BTreeMap, BTreeSet};

use machine::command::{Artifact, Choice, Edit, Finding, GateDecision, Present, Start};
use machine::definition::StateDef;
use machine::state::{EffectAt, ROOT};
use machine::{
    Approval, Command, Decision, Definition, Event, Facts, Need, Prepared, Reading, Refusal,
    RunState, RunStatus, Severity, Strength, decide,
};
use serde_json::{Map, Value, json};

use crate::commands;
use crate::marked::with;
use crate::support::load;
use crate::tdd::{mended, own_commit, tests};

/// A var that a caller sets.
pub fn var(name: &str, value: impl Into<Value>) -> Edit {
    Edit::Var {
        name: name.to_owned(),
        value: value.into(),
    }
}

/// All items of a set, set by a caller.
pub fn whole(set: &str, items: impl IntoIterator<Item = Value>) -> Edit {
    Edit::Items {
        set: set.to_owned(),
        items: items.into_iter().map(map).collect(),
    }
}

/// Fields of an item, set by a caller.
pub fn fields(set: &str, key: &str, fields: Value) -> Edit {
    Edit::Item {
        set: set.to_owned(),
        key: key.to_owned(),
        fields: map(fields),
    }
}

/// Where an item stands, set by a caller.
pub fn stands(set: &str, key: &str, status: &str) -> Edit {
    fields(set, key, json!({ "status": status }))
}

/// One item more, of a caller.
pub fn added(set: &str, item: Value) -> Edit {
    Edit::Add {
        set: set.to_owned(),
        item: map(item),
    }
}

/// An item that a caller has run again; `later`, behind all waves that are begun.
fn again(set: &str, key: &str, later: bool) -> Edit {
    Edit::Reopen {
        set: set.to_owned(),
        key: key.to_owned(),
        fields: Map::new(),
        later,
    }
}

pub fn reopened(set: &str, key: &str) -> Edit {
    again(set, key, false)
}

pub fn deferred(set: &str, key: &str) -> Edit {
    again(set, key, true)
}

/// An item that a caller gives up.
pub fn skipped(set: &str, key: &str) -> Edit {
    Edit::Skip {
        set: set.to_owned(),
        key: key.to_owned(),
        fields: Map::new(),
    }
}

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
    /// The hash of the next ones.
    pub context: &'static str,
    /// What each effect was told, in order, and the round that it saw.
    pub told: Vec<(String, Map<String, Value>, Option<i64>)>,
    /// Names of the readers that were asked, in order; empty where a response was only taken in.
    pub asked: Vec<String>,
    /// The files of the run's folder.
    pub files: BTreeSet<String>,
    /// What stands before each gate; `h` if absent.
    pub subjects: BTreeMap<String, String>,
    /// Leave effects pending.
    pub hold: bool,
    pub policies: BTreeMap<String, Severity>,
    /// What item sets are filled with at the start.
    pub items: Vec<(String, Vec<Map<String, Value>>)>,
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

    /// A run of a workflow with these keys at its top and these states, from `a` to `z`.
    pub fn small(top: &str, states: &str) -> Self {
        Self::begun(&with(top, states))
    }

    /// A run of this definition that has begun.
    pub fn begun(text: &str) -> Self {
        let mut driver = Self::new(text);
        driver.start(json!({}), json!({})).unwrap();
        driver
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
            context: "c0ffee",
            told: Vec::new(),
            asked: Vec::new(),
            files: BTreeSet::new(),
            subjects: BTreeMap::new(),
            hold: false,
            policies: BTreeMap::new(),
            items: Vec::new(),
        }
    }

    pub fn start(&mut self, inputs: Value, config: Value) -> Outcome {
        let start = Start {
            run: "r1".to_owned(),
            inputs: map(inputs),
            config,
            policies: self.policies.clone(),
            items: self.items.clone(),
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
            if pending.name == "response.aside" {
                self.put_aside(&pending.at);
            }
            let outcome = self.effects.get(&pending.name).cloned();
            let command = match outcome.unwrap_or_else(|| Ok(json!({}))) {
                Ok(result) => Command::EffectDone {
                    result,
                    keep: Map::new(),
                    artifacts: self.written(&pending.name),
                },
                Err(code) => commands::effect_failed(code),
            };
            self.once(&command).unwrap();
        }
    }

    /// What the effects of a session write.
    fn written(&self, effect: &str) -> Vec<Artifact> {
        let path = match effect {
            "plan.store" => "plan.md".to_owned(),
            "code.store" => format!("iteration-{}/code/a.rs", self.run.vars["iteration"]),
            _ => return Vec::new(),
        };
        vec![Artifact {
            path,
            sha256: "beef".to_owned(),
            state: self.run.tokens[0].state.clone(),
            iteration: self.definition.round(&self.run.vars),
        }]
    }

    /// Makes room for a new response of the state that the edge leads to; and for a new prompt, where the old one was
    /// rejected.
    fn put_aside(&mut self, at: &EffectAt) {
        let edge = &self.definition.edges(&at.state, at.trigger)[at.edge];
        let to = &edge.to.as_ref().unwrap().value;
        let response = self.definition.response(to, &self.run.vars);
        let prompt = self.definition.prompt(to, &self.run.vars);
        let rejected = prompt.filter(|_| at.trigger.name() == "reject");
        for path in response.iter().chain(&rejected) {
            self.files.remove(path);
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
                Decision::Events(mut plan) => {
                    for request in std::mem::take(&mut plan.prompts) {
                        self.contexts.push(request.unit.clone());
                        // Whoever renders a prompt writes it.
                        let state = &plan.after.token(request.token).unwrap().state;
                        let prompt = self.definition.prompt(state, &plan.after.vars);
                        self.files.extend(prompt);
                        plan.answer(&request, self.context);
                    }
                    for event in plan.events {
                        match &event {
                            Event::EffectIntended { name, .. } => {
                                self.carried_out.push(name.clone());
                            }
                            Event::ArtifactRecorded(artifact) => {
                                self.files.insert(artifact.path.clone());
                            }
                            _ => {}
                        }
                        self.run.apply(&facts.now, &reread(&event));
                        self.events.push((facts.now.clone(), event));
                    }
                    // What was planned is what its events make, as they stand in the journal.
                    assert_eq!(self.run, plan.after);
                    return Ok(());
                }
                Decision::Refused(refusal) => {
                    assert_eq!(self.run, before);
                    return Err(Box::new(refusal));
                }
                Decision::Need(need) => self.answer(*need, &mut facts),
            }
        }
        panic!("it needs ever more");
    }

    /// Adds what `decide` needs to know.
    fn answer(&mut self, need: Need, facts: &mut Facts) {
        match need {
            Need::Reading { role, .. } => {
                let found = self.readings.get(&role.reader).cloned().unwrap_or_default();
                self.asked.push(role.reader);
                if facts.reading.is_none() {
                    facts.reading = Some(found);
                } else {
                    facts.further.push(found);
                }
            }
            Need::Effect {
                effect, with, run, ..
            } => {
                let round = self.definition.round(&run.vars);
                self.told.push((effect.clone(), with, round));
                let what = json!({ "do": effect });
                facts.prepared = Some(Prepared { what, effect });
            }
            Need::Present { token, run } => {
                let state = &run.token(token).unwrap().state;
                let there =
                    |path: Option<String>| path.is_some_and(|path| self.files.contains(&path));
                facts.present = Some(Present {
                    prompt: there(self.definition.prompt(state, &run.vars)),
                    response: there(self.definition.response(state, &run.vars)),
                });
            }
            Need::Past { seq } => {
                let behind = usize::try_from(seq).unwrap().min(self.events.len());
                let mut past = RunState::default();
                for (at, event) in &self.events[..behind] {
                    past.apply(at, event);
                }
                facts.past = Some(Box::new(past));
            }
            Need::Subject { gate, run, .. } => {
                assert!(!run.tokens.is_empty());
                let hash = self.subject(&gate);
                facts.subjects.insert(gate, hash);
            }
        }
    }

    /// Reports to the present unit, with `facts` as what the present state's reader finds.
    pub fn report(&mut self, facts: Value) -> Outcome {
        let unit = self.unit();
        self.report_to(&unit, facts)
    }

    pub fn report_to(&mut self, unit: &str, facts: Value) -> Outcome {
        let there = self.run.waiting().find(|(_, waiting)| waiting.id == unit);
        let state = there.and_then(|(token, _)| self.definition.state(&token.state));
        if let Some(reader) = state.and_then(StateDef::reader) {
            let found = self.readings.entry(reader.value.clone()).or_default();
            found.facts = map(facts);
        }
        let digest = format!("digest of {unit}");
        self.send(&commands::report(Some(unit), None, &digest))
    }

    /// Reports under a name, as somebody does who knows of no unit.
    pub fn complete(&mut self, name: &str) -> Outcome {
        let digest = format!("digest of {name}");
        self.send(&commands::report(None, Some(name), &digest))
    }

    /// The name under which the present work is reported.
    pub fn skill(&self) -> String {
        let waiting = self.run.waiting().next();
        let name = waiting.map(|(token, unit)| unit.name.as_ref().unwrap_or(&token.state));
        name.cloned().unwrap_or_default()
    }

    pub fn edit(&mut self, edits: Vec<Edit>) -> Outcome {
        self.send(&commands::edit(edits))
    }

    /// What a caller sets is taken.
    pub fn set(&mut self, edits: impl Into<Vec<Edit>>) {
        self.edit(edits.into()).unwrap();
    }

    /// What guards see of an item set.
    pub fn facts_of(&self, set: &str) -> Value {
        self.run.set_facts(&self.definition, set, &[]).unwrap()
    }

    /// How many items of a set stand where.
    pub fn counted<const N: usize>(&self, set: &str, names: [&str; N]) -> [u64; N] {
        let facts = self.facts_of(set);
        names.map(|name| facts[name].as_u64().unwrap())
    }

    /// A field of an item.
    pub fn field(&self, set: &str, key: &str, field: &str) -> Value {
        let item = self.run.sets[set].get(key);
        item.map_or(Value::Null, |item| item.fields[field].clone())
    }

    pub fn resume(&mut self) -> Outcome {
        let approval = self.needed();
        self.send(&commands::resume(approval))
    }

    pub fn pause(&mut self) -> Outcome {
        self.send(&commands::pause())
    }

    pub fn reopen(&mut self) -> Outcome {
        self.reopen_item(None)
    }

    pub fn reopen_item(&mut self, item: Option<&str>) -> Outcome {
        self.send(&commands::reopen(item, json!({}), self.needed()))
    }

    /// Takes the run back to where it stood behind that event, by Ann's word where one is needed.
    pub fn rewind(&mut self, to: usize) -> Outcome {
        self.send(&commands::rewind(to as u64, self.needed()))
    }

    pub fn step(&mut self) -> Outcome {
        self.send(&Command::Step)
    }

    /// What is found before a gate now.
    fn subject(&self, gate: &str) -> String {
        let found = self.subjects.get(gate).map(String::as_str);
        found.unwrap_or("h").to_owned()
    }

    /// A decision on what stands before `gate`, as it is.
    pub fn ruling(&self, gate: &str, choice: Choice, feedback: &str) -> GateDecision {
        GateDecision {
            gate: gate.to_owned(),
            state: self.state().to_owned(),
            round: self.round(),
            hash: self.subject(gate),
            choice,
            feedback: feedback.to_owned(),
            approval: Some(ann().into()),
            ..GateDecision::default()
        }
    }

    /// Ann's word, where the run stopped by a rule.
    fn needed(&self) -> Option<Box<Approval>> {
        let stopped = [RunStatus::Error, RunStatus::Aborted].contains(&self.run.status)
            || self.run.pause.as_ref().is_some_and(|pause| pause.person);
        stopped.then(|| ann().into())
    }

    pub fn rule(&mut self, ruling: GateDecision) -> Outcome {
        self.send(&Command::Decide(Box::new(ruling)))
    }

    pub fn approve(&mut self, gate: &str) -> Outcome {
        self.rule(self.ruling(gate, Choice::Approve, ""))
    }

    pub fn reject(&mut self, gate: &str, feedback: &str) -> Outcome {
        self.rule(self.ruling(gate, Choice::Reject, feedback))
    }

    /// Where the run is: its end, why it is paused, what waits, or the state that it stands in.
    pub fn stands(&self) -> String {
        if self.run.status.is_over() {
            return self.run.status.name().to_owned();
        }
        match &self.run.pause {
            Some(pause) => format!("paused:{}", pause.reason),
            None if self.unit().is_empty() => format!("({})", self.state()),
            None => self.unit(),
        }
    }

    /// Does one thing after the other, and tells of each where the run is then, or the code of the refusal.
    pub fn after(&mut self, acts: &str) -> String {
        let acts = acts.split(' ').map(|act| {
            let (act, what) = act.split_once(':').unwrap_or((act, ""));
            let done = match act {
                "report" => self.report(json!({})),
                "fail" => self.report(tests(0, 1)),
                "pass" => self.report(tests(1, 0)),
                "mend" => self.report(mended(1)),
                "commit" => self.report(own_commit()),
                "say" => self.report(outcome(what)),
                "done" => self.complete(what),
                "approve" => self.approve(what),
                "reject" => self.reject(what, "not so"),
                "step" => self.step(),
                "pause" => self.pause(),
                "resume" => self.resume(),
                "reopen" => self.reopen(),
                "skip" => self.skip(),
                "abort" => self.abort(json!({ "cleanup": what == "cleanup" })),
                _ => panic!("{act}"),
            };
            match done {
                Ok(()) => self.stands(),
                Err(refusal) => format!("!{}", refusal.code),
            }
        });
        acts.collect::<Vec<_>>().join(" ")
    }

    /// The round that the run is in.
    pub fn round(&self) -> Option<i64> {
        self.definition.round(&self.run.vars)
    }

    /// The file that the present state waits for.
    pub fn response(&self) -> String {
        let path = self.definition.response(self.state(), &self.run.vars);
        path.unwrap_or_default()
    }

    /// The file in which the present state asks.
    pub fn prompt(&self) -> String {
        let path = self.definition.prompt(self.state(), &self.run.vars);
        path.unwrap_or_default()
    }

    /// Moves of the run's own token from event `begin` on.
    pub fn moves(&self, begin: usize) -> Vec<&Event> {
        let all = self.events[begin..].iter().map(|(_, event)| event);
        all.filter(|event| matches!(event, Event::StateEntered { token: ROOT, .. }))
            .collect()
    }

    /// The one move from event `begin` on, as it is written.
    pub fn moved(&self, begin: usize) -> Value {
        let moves = self.moves(begin);
        assert_eq!(moves.len(), 1, "{moves:?}");
        Value::Object(moves[0].to_fields().1)
    }

    /// Where the run's own token stands.
    pub fn state(&self) -> &str {
        self.run.token(ROOT).map_or("", |token| &token.state)
    }

    pub fn skip(&mut self) -> Outcome {
        self.send(&commands::skip(None, "too hard"))
    }

    pub fn abort(&mut self, flags: Value) -> Outcome {
        self.send(&commands::abort(flags))
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
        let events = self.events[begin..].iter();
        events.map(|(_, event)| event.name()).collect()
    }

    /// The run as a replay of its journal makes it, each event through its written form.
    pub fn replayed(&self) -> RunState {
        let mut run = RunState::default();
        for (at, event) in &self.events {
            run.apply(at, &reread(event));
        }
        run
    }
}

/// The event as it is read from its written form.
fn reread(event: &Event) -> Event {
    let (name, fields) = event.to_fields();
    let text = serde_json::to_string(&fields).unwrap();
    let fields: Map<String, Value> = serde_json::from_str(&text).unwrap();
    Event::from_fields(&name, &fields).unwrap()
}

/// What an agent says.
pub fn outcome(word: &str) -> Value {
    json!({ "outcome": word, "note": "", "files": [] })
}

/// What a reader found against a policy.
pub fn finding(policy: &str) -> Finding {
    Finding {
        policy: policy.to_owned(),
        message: "it was found".to_owned(),
        suggestion: None,
        details: Map::new(),
    }
}

/// What a refusal says.
pub fn says(refusal: &Refusal) -> &str {
    refusal.message.as_deref().unwrap_or_default()
}

/// What Ann decided at a terminal.
pub fn ann() -> Approval {
    Approval {
        strength: Strength::Terminal,
        actor: "ann".to_owned(),
        how: "terminal".to_owned(),
        signature: None,
    }
}
