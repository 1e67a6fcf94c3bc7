//! What a decision comes to: events, what they make of the run, and the prompts that are to be rendered before they are
//! journalled.

use super::Planner;
use crate::Definition;
use crate::command::Artifact;
use crate::event::Event;
use crate::role::Role;
use crate::state::RunState;

/// Events that a command brings about.
#[derive(Debug, Default)]
pub struct Plan {
    /// What is to be journalled, as one unit. None means that there is nothing to do.
    pub events: Vec<Event>,
    /// The run behind them, as their fold makes it.
    pub after: RunState,
    /// What has to be rendered first. The hash of each goes in by [`answer`](Self::answer).
    pub prompts: Vec<PromptRequest>,
    /// The time of the decision.
    pub(super) now: String,
}

/// A unit whose executor is to be told something.
#[derive(Debug, Clone)]
pub struct PromptRequest {
    /// Id of the unit.
    pub unit: String,
    /// The token.
    pub token: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// How many there are, if there is a limit.
    pub max_attempts: Option<u32>,
    /// What the state is for.
    pub role: Role,
    /// The template of its instructions, if it has one.
    pub instructions: Option<String>,
    /// Whether the unit was issued before, and its prompt is gone.
    pub again: bool,
    /// The file that it is written into, with a hash that is still to come.
    file: Option<Artifact>,
}

impl PromptRequest {
    /// The request of the unit that a run waits for, as it would be issued now.
    pub fn standing(definition: &Definition, run: &RunState) -> Option<Self> {
        let (token, unit) = run.waiting().next()?;
        let work = definition
            .state(&token.state)
            .and_then(|state| state.work.as_ref());
        let instructions = work.and_then(|work| work.instructions.as_ref());
        Some(Self {
            unit: unit.id.clone(),
            token: token.id,
            attempt: unit.attempt,
            max_attempts: unit.max_attempts,
            role: definition.role(&token.state),
            instructions: instructions.map(|name| name.value.clone()),
            again: false,
            file: None,
        })
    }
}

impl Plan {
    /// Takes in the SHA-256 of what the unit of a request is told.
    pub fn answer(&mut self, request: &PromptRequest, hash: &str) {
        let mut tokens = self.after.tokens.iter_mut();
        let unit =
            tokens.find_map(|token| token.unit.as_mut().filter(|unit| unit.id == request.unit));
        let file = request.file.clone().map(|file| Artifact {
            sha256: hash.to_owned(),
            ..file
        });
        if request.again {
            // What was recorded of it stays, unless it comes out otherwise.
            let known = unit.and_then(|unit| unit.context.as_deref());
            if let Some(file) = file.filter(|_| known != Some(hash)) {
                let recorded = Event::ArtifactRecorded(file);
                self.after.apply(&self.now, &recorded);
                self.events.push(recorded);
            }
            return;
        }
        if let Some(unit) = unit {
            unit.context = Some(hash.to_owned());
        }
        for event in &mut self.events {
            match event {
                Event::UnitIssued { unit, context, .. } if *unit == request.unit => {
                    *context = Some(hash.to_owned());
                }
                Event::ArtifactRecorded(artifact)
                    if artifact.sha256.is_empty()
                        && file.as_ref().is_some_and(|file| file.path == artifact.path) =>
                {
                    hash.clone_into(&mut artifact.sha256);
                }
                _ => {}
            }
        }
    }
}

impl Planner<'_> {
    /// Asks for what a unit is told, and for the file that it is written into.
    pub(super) fn request_prompt(
        &mut self,
        (unit, token): (&str, u32),
        attempt: u32,
        max_attempts: Option<u32>,
        again: bool,
    ) -> Option<Artifact> {
        let state = self.state_of(token);
        let work = self
            .definition
            .state(&state)
            .and_then(|state| state.work.as_ref());
        let instructions = work.and_then(|work| work.instructions.as_ref());
        let path = self.definition.prompt(&state, &self.run.vars);
        let file = path.map(|path| Artifact {
            path,
            sha256: String::new(),
            iteration: self.definition.round(&self.run.vars),
            state: state.clone(),
        });
        self.prompts.push(PromptRequest {
            unit: unit.to_owned(),
            token,
            attempt,
            max_attempts,
            role: self.definition.role(&state),
            instructions: instructions.map(|name| name.value.clone()),
            again,
            file: file.clone(),
        });
        file
    }
}
