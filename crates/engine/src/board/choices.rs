//! What can be done with a run where it stands, besides reporting.

use std::iter;

use machine::Definition;
use machine::definition::{Actor, Edge};
use machine::state::{RunStatus, Unit};
use machine::trigger::Trigger;
use machine::{RunState, Strength};
use serde::Serialize;

use crate::capability::messages::text;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::messages;
use crate::open_run;
use crate::refusals;
use crate::view::autopilot::kinds;

/// The word by which a guard asks whether another kind of work was named.
const KIND: &str = "command.kind";

/// What can be done, as the present state's edges have it.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choices {
    /// Whether it can be taken up again, without more being said.
    pub reopen: bool,
    /// Where it is taken up then, by its name for people; none where that hangs on more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopens_at: Option<String>,
    /// The kinds of work that it can be taken up as; none where that makes no difference.
    pub kinds: Vec<String>,
    /// Whether what is in hand can be given up.
    pub skip: bool,
    /// The rules that can be let pass, those that refused something here first.
    pub allow: Vec<PassableRule>,
    /// What can be answered where an answer is asked for, in the order of the workflow.
    pub outcomes: Vec<Outcome>,
    /// The report that a person can make of the work in hand; none where it is an agent's, or asks for more than a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<PersonReport>,
    /// What comes of the decisions that there are at a closed gate: `approve`, and then `reject`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<Outcome>,
    /// The least that stands behind a decision of a person here, at a gate not counted.
    pub least: Strength,
}

/// A rule that can be let pass.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PassableRule {
    /// Its code.
    pub code: String,
    /// What it finds.
    pub meaning: String,
    /// What it found last, where it refused what is asked for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A report that a person can make of a work unit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonReport {
    /// The work unit.
    pub unit: String,
    /// Whether it asks for an outcome, and takes a note; else it says only that the work is done.
    pub asks_outcome: bool,
}

/// An answer that a state takes.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The word.
    pub word: String,
    /// Where it leads, by its name for people; none where that hangs on more than the word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads: Option<String>,
    /// How the run ends by it, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<&'static str>,
}

impl Outcome {
    fn of(word: String, state: &str, definition: &Definition) -> Self {
        let edges = definition.edges(state, Trigger::Report);
        let quoted = ['\'', '"'].map(|quote| format!("{quote}{word}{quote}"));
        // The first that may be taken: where it asks for more than the word, nobody can say.
        let edge = edges.iter().find(|edge| {
            let guard = guard_of(edge);
            guard.is_none_or(|guard| quoted.iter().any(|word| guard.contains(word)))
        });
        let hangs_on_it_alone = |guard: &str| {
            let mut words = quoted.iter();
            words.any(|word| *guard == format!("outcome.outcome == {word}"))
        };
        let edge = edge.filter(|edge| guard_of(edge).is_none_or(hangs_on_it_alone));
        Self::by(word, edge.map(|edge| &edge.value), definition)
    }

    /// Of the one edge that is taken then.
    fn by(word: String, edge: Option<&Edge>, definition: &Definition) -> Self {
        let to = edge.and_then(|edge| edge.to.as_ref());
        let to = to.map(|to| to.value.as_str());
        let end = to.and_then(|to| definition.state(to)?.end.as_ref());
        Self {
            word,
            leads: to.map(|to| messages::place(definition, to, None)),
            ends: end.map(|end| RunStatus::from(end.value).name()),
        }
    }
}

impl Engine {
    /// What can be done with a run where it stands, besides reporting.
    pub fn run_choices(&self, run: Option<&str>) -> Result<Choices, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let definition = open_run::pinned(dir.path(), &loaded.run)?;
        let mut choices = choices(&loaded.run, &definition);
        let met = refusals::latest(dir.path(), &loaded.run);
        // Those that were met stand first, and the newest of them before all others.
        let place = |rule: &PassableRule| met.iter().rposition(|met| met.code == rule.code);
        for rule in &mut choices.allow {
            rule.refused = place(rule).map(|at| met[at].message.clone());
        }
        choices
            .allow
            .sort_by_key(|rule| std::cmp::Reverse(place(rule)));
        Ok(choices)
    }
}

/// What comes of the two decisions at the gate before this state. Which of several ways is taken, nobody can say before.
fn of_gate(state: &str, definition: &Definition) -> Vec<Outcome> {
    if definition
        .state(state)
        .is_none_or(|state| state.gate.is_none())
    {
        return Vec::new();
    }
    let only = |trigger: Trigger| match definition.edges(state, trigger) {
        [edge] if edge.when.is_none() => Some(&edge.value),
        _ => None,
    };
    let approve = Outcome::by("approve".to_owned(), only(Trigger::Route), definition);
    let reject = || Outcome::by("reject".to_owned(), only(Trigger::Reject), definition);
    let reject = definition.can_reject(state).then(reject);
    iter::once(approve).chain(reject).collect()
}

/// The report that a person can make of the work of a state.
fn answer(definition: &Definition, state: &str, unit: &Unit) -> Option<PersonReport> {
    let defined = definition.state(state)?;
    let work = defined.work.as_ref()?;
    let reader = defined.reader().map(|reader| reader.value.as_str());
    let is_a_word = matches!(reader, None | Some("outcome")) && work.response.is_none();
    (work.by != Actor::Agent && is_a_word).then(|| PersonReport {
        unit: unit.id.clone(),
        asks_outcome: reader.is_some(),
    })
}

/// The guard of an edge, as it is written.
fn guard_of(edge: &Edge) -> Option<&str> {
    edge.when.as_ref().map(|guard| guard.text.trim())
}

fn choices(run: &RunState, definition: &Definition) -> Choices {
    let waiting = run.waiting().next();
    // A run that is paused waits for nobody: where it goes on is where its last token stands.
    let last = run.tokens.last().map_or(run.state(), |token| &token.state);
    let state = waiting.map_or(last, |(token, _)| &token.state);
    let reopen = definition.edges(state, Trigger::Reopen);
    let asks_kind = |edge: &Edge| guard_of(edge).is_some_and(|guard| guard.contains(KIND));
    let kinds = if reopen.iter().any(|edge| asks_kind(edge)) {
        kinds::known(definition).to_vec()
    } else {
        Vec::new()
    };
    let allowed = waiting.map_or(&[][..], |(_, unit)| &unit.allowed);
    let mut allow: Vec<String> = Vec::new();
    for edge in definition.edges(state, Trigger::Report) {
        for policy in &edge.check.0 {
            if !allow.contains(&policy.value) && !allowed.contains(&policy.value) {
                allow.push(policy.value.clone());
            }
        }
    }
    Choices {
        reopen: reopen.iter().any(|edge| !asks_kind(edge)),
        reopens_at: reopen
            .iter()
            .find(|edge| edge.when.is_none())
            .and_then(|edge| edge.to.as_ref())
            .map(|to| messages::place(definition, &to.value, None)),
        kinds,
        skip: !definition.edges(state, Trigger::Skip).is_empty(),
        allow: if waiting.is_some() {
            let rule = |code: String| PassableRule {
                meaning: text(&code).map(|text| text.message).unwrap_or_default(),
                code,
                refused: None,
            };
            allow.into_iter().map(rule).collect()
        } else {
            Vec::new()
        },
        outcomes: waiting.map_or_else(Vec::new, |(token, _)| {
            let words = messages::outcomes(definition, &token.state);
            let words = words.into_iter();
            words
                .map(|word| Outcome::of(word, &token.state, definition))
                .collect()
        }),
        answer: waiting.and_then(|(token, unit)| answer(definition, &token.state, unit)),
        gate: of_gate(run.state(), definition),
        least: run.least_approval,
    }
}
