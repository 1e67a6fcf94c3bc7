//! `decide`: from a definition, a run, a command and facts to events, a refusal, or the wish to
//! know more.
//!
//! A decision is planned on a copy of the run: every event is applied to the copy as it is found,
//! so a refusal at any later point throws the copy away and nothing has happened.

mod advance;
mod command;
mod edge;
mod edit;
mod effect;
mod fill;
mod gate;
mod plan;
mod report;
mod rewind;
mod start;
mod step;
mod unit;
mod values;

pub use command::MAX_ATTEMPTS;
pub use gate::{gate_mode, gate_strength};

use serde_json::{Map, Value};

use crate::command::{Command, Facts, Prepared, Reading};
use crate::definition::Definition;
use crate::event::Event;
use crate::guard::GuardFault;
use crate::refusal::Refusal;
use crate::role::Role;
use crate::state::{EffectAt, RunState};

pub use fill::foresee_filled;
pub use plan::{Plan, PromptRequest};
pub use step::BLOCKED;
pub use unit::{UnitMatch, match_unit};

/// What is to be done with a command.
#[derive(Debug)]
pub enum Decision {
    /// Render what it asks for, then journal its events.
    Events(Box<Plan>),
    /// Nothing moves.
    Refused(Refusal),
    /// Not decided yet: find this out, and ask again with the same command.
    Need(Box<Need>),
}

/// What a decision has to know first.
#[derive(Debug)]
pub enum Need {
    /// What the reader finds in the report, or in the world.
    Reading {
        /// What it is read for. It names no reader where a response is taken in and nothing is read of it.
        role: Role,
        /// The token on whose way it is.
        token: u32,
        /// The run as it is at that point.
        run: RunState,
    },
    /// The intent of an effect.
    Effect {
        /// Name of the effect.
        effect: String,
        /// The token on whose way it is.
        token: u32,
        /// The run as it is at that point.
        run: RunState,
        /// What was reported, under the reader's name.
        facts: Map<String, Value>,
        /// Flags of the command.
        flags: Map<String, Value>,
        /// Where in the definition it stands.
        at: EffectAt,
        /// What the edge tells it.
        with: Map<String, Value>,
    },
    /// Which files of the present state are there.
    Present {
        /// The token.
        token: u32,
        /// The run as it is at that point.
        run: RunState,
    },
    /// The run as it was behind an event of its journal.
    Past {
        /// The number of the event.
        seq: u64,
    },
    /// What stands before a gate, by its SHA-256.
    Subject {
        /// The gate.
        gate: String,
        /// The token.
        token: u32,
        /// The run as it is at that point.
        run: RunState,
    },
}

/// Why planning ended early.
pub(crate) enum Stop {
    Refused(Box<Refusal>),
    Need(Box<Need>),
}

impl Stop {
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<GuardFault> for Stop {
    fn from(fault: GuardFault) -> Self {
        Self::refused(
            Refusal::new("definition_fault")
                .message(format!("an expression of the definition failed: {fault}"))
                .suggestion("mend the definition with `tm workflow check`; this run keeps the one it was started with, so abort it and start again")
                .detail("expression", fault.text)
                .detail("line", fault.at.line),
        )
    }
}

/// Decides a command. Pure: the same arguments give the same decision.
pub fn decide(
    definition: &Definition,
    run: &RunState,
    command: &Command,
    facts: &Facts,
) -> Decision {
    let mut planner = Planner::new(definition, run, facts);
    match planner.command(command) {
        Ok(()) => Decision::Events(Box::new(planner.finish())),
        Err(Stop::Need(need)) => Decision::Need(Box::new(need.at(planner.run))),
        Err(Stop::Refused(refusal)) => {
            // The world has changed already: what came of an effect is journalled whatever the
            // definition makes of it, and a person has to look.
            let settled = match command {
                Command::EffectDone {
                    result,
                    keep,
                    artifacts,
                } => Planner::new(definition, run, facts)
                    .settle_only(result, keep, artifacts, &refusal),
                _ => None,
            };
            settled.map_or_else(
                || Decision::Refused(*refusal),
                |plan| Decision::Events(Box::new(plan)),
            )
        }
    }
}

impl Need {
    /// The same need, of the run as it is at that point.
    fn at(mut self, now: RunState) -> Self {
        match &mut self {
            // Effects see the values that their edge sets before them.
            Self::Effect { run, .. } if !run.tokens.is_empty() => {}
            Self::Past { .. } => {}
            Self::Reading { run, .. }
            | Self::Effect { run, .. }
            | Self::Present { run, .. }
            | Self::Subject { run, .. } => *run = now,
        }
        self
    }
}

/// A decision in the making.
pub(crate) struct Planner<'a> {
    pub(crate) definition: &'a Definition,
    /// The run as it is after `events`.
    pub(crate) run: RunState,
    pub(crate) events: Vec<Event>,
    pub(crate) facts: &'a Facts,
    /// How many readings this decision has asked for.
    readings: usize,
    prompts: Vec<PromptRequest>,
}

impl<'a> Planner<'a> {
    fn new(definition: &'a Definition, run: &RunState, facts: &'a Facts) -> Self {
        Self {
            definition,
            run: run.clone(),
            events: Vec::new(),
            facts,
            readings: 0,
            prompts: Vec::new(),
        }
    }

    fn finish(mut self) -> Plan {
        self.close_answer();
        Plan {
            events: self.events,
            after: self.run,
            prompts: self.prompts,
            now: self.facts.now.clone(),
        }
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.run.apply(&self.facts.now, &event);
        self.events.push(event);
    }

    pub(crate) fn prepared(&self, effect: &str) -> Option<&Prepared> {
        self.facts
            .prepared
            .as_ref()
            .filter(|prepared| prepared.effect == effect)
    }

    /// The next reading of this decision. A report has the first one; a `route` behind it that
    /// reads for itself must not be shown what was found for somebody else.
    pub(crate) fn reading(&mut self, role: Role, token: u32) -> Result<&'a Reading, Stop> {
        let number = self.readings;
        self.readings += 1;
        let found = match number.checked_sub(1) {
            None => self.facts.reading.as_ref(),
            Some(further) => self.facts.further.get(further),
        };
        found.ok_or_else(|| {
            Stop::Need(Box::new(Need::Reading {
                role,
                token,
                run: RunState::default(),
            }))
        })
    }

    /// Writes into the report of this decision what came next; it is known only at the end.
    fn close_answer(&mut self) {
        let next = self.run.next();
        for event in &mut self.events {
            if let Event::ReportAccepted(report) | Event::ReportRetried(report) = event {
                report.answer.next = Some(next.clone());
                if let Some(last) = &mut self.run.last {
                    last.answer.next = Some(next.clone());
                }
            }
        }
    }
}
