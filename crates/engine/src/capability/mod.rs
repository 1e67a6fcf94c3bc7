//! What workflows are composed of. A capability brings readers, effects and policies, each under a name of its own; it knows
//! no workflow and no state. A definition names what it uses, and `registry` says who is meant.

pub(crate) mod checks;
pub(crate) mod command;
pub(crate) mod decision;
pub mod documents;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod memory;
pub mod messages;
pub(crate) mod payload;
pub(crate) mod profile;
pub(crate) mod pull_request;
mod support;
pub(crate) mod tasks;
pub mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use machine::check::catalog::{Effect, Finder, Parameter, ParameterKind, Reader, Resource};
use machine::definition::FieldType;
use machine::state::Pending;
use machine::{Definition, Reading, Role, RunState};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::fault::Fault;
use crate::support::{EffectRequest, EffectState, Emitted, HandlerError, Outcome};

/// A repository, with a branch for the run.
pub(crate) const REPOSITORY: &str = "repository";
/// A task of a task file, a plan, or said at the start.
pub(crate) const TASKS: &str = "tasks";
/// The run's folder, iteration by iteration.
pub(crate) const FOLDER: &str = "folder";
/// How responses are read and what prompts say.
pub(crate) const PROFILE: &str = "profile";
/// A design document, and task graphs.
pub(crate) const DOCUMENTS: &str = "documents";
/// Commands that a workflow declares.
pub(crate) const COMMANDS: &str = "commands";

/// The branch of a run, once it is made.
const BRANCH: &str = "branch";

/// Something that workflows are composed of.
pub(crate) trait Capability: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Its readers, each with the facts that it gives and the keys of a role that it goes by.
    fn readers(&self) -> Vec<(&'static str, Reader)> {
        Vec::new()
    }

    /// Its effects, each with how it is carried out.
    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
        Vec::new()
    }

    /// The policies that it knows, each with what can find that it is broken.
    fn policies(&self) -> Vec<(&'static str, Vec<Finder>)> {
        Vec::new()
    }

    /// Codes of refusals, retries and warnings that it has words for, whoever answers with them.
    fn codes(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What templates of a workflow may name of it; a trailing dot means everything below.
    fn variables(&self, definition: &Definition) -> &'static [&'static str] {
        let _ = definition;
        &[]
    }

    /// The events that it has fields for, which a workflow may emit, each with the resource that these are of.
    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        Vec::new()
    }

    /// The fields of one of its events; none where it did not come about after all.
    fn fields(&self, call: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        let _ = call;
        Some(emitted.plain())
    }

    /// What it works with in a run, which a definition declares under `uses`.
    fn resources(&self) -> Vec<(&'static str, Resource)> {
        Vec::new()
    }

    /// What of it a gate may be over, each with its resource.
    fn subjects(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What a prompt may ask for, each with its resource.
    fn asks(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Reads what a report, or the world, has to say, by one of its readers.
    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        let _ = (call, run, token);
        Err(self.has_no("reader", &role.reader).into())
    }

    /// Whether its readers may take minutes: they are asked before the run is locked, where that can be foreseen.
    fn reads_long(&self) -> bool {
        false
    }

    /// The proof of a definition admits only what is declared.
    fn has_no(&self, what: &str, name: &str) -> Fault {
        Fault::bug(format!(
            "the capability `{}` has no {what} `{name}`",
            self.name()
        ))
    }
}

/// How an effect is carried out.
#[derive(Clone, Copy)]
pub(crate) struct EffectSteps {
    /// Finds out what it is going to do. Changes nothing that counts.
    prepare: fn(&Call<'_>, &EffectRequest<'_>, &RunState) -> Result<Value, HandlerError>,
    /// Does it.
    perform: fn(&Call<'_>, &RunState, &Pending) -> Result<Outcome, Fault>,
    /// Looks whether a process that is gone did.
    look: Look,
}

type Look = fn(&Call<'_>, &RunState, &Pending) -> Result<EffectState, Fault>;

/// What there is to look at of an effect that says beforehand all that comes of it: it can be done again.
const NOT_DONE: Look = |_, _, _| Ok(EffectState::NotDone);

/// All capabilities.
pub(crate) fn registry() -> &'static [&'static dyn Capability] {
    &[
        &tests::Tests,
        &git::Git,
        &pull_request::PullRequests,
        &tasks::Tasks,
        &files::Files,
        &profile::Profiles,
        &documents::Documents,
        &checks::Checks,
        &command::Commands,
        &decision::Decisions,
    ]
}

/// Capabilities by the names of what they bring.
type Index = BTreeMap<&'static str, &'static dyn Capability>;

/// Those that bring what `names` lists. Every reading looks one up, so each index is made once.
fn index(names: fn(&dyn Capability) -> Vec<&'static str>) -> Index {
    let of = |capability: &&'static dyn Capability| {
        let capability = *capability;
        names(capability)
            .into_iter()
            .map(move |name| (name, capability))
    };
    registry().iter().flat_map(of).collect()
}

static OF_READERS: LazyLock<Index> =
    LazyLock::new(|| index(|one| one.readers().into_iter().map(|(name, _)| name).collect()));

static EFFECTS: LazyLock<BTreeMap<&'static str, EffectSteps>> = LazyLock::new(|| {
    let all = registry().iter().flat_map(|one| one.effects());
    all.map(|(name, _, steps)| (name, steps)).collect()
});

static OF_EVENTS: LazyLock<Index> =
    LazyLock::new(|| index(|one| one.events().into_iter().map(|(name, _)| name).collect()));

/// The capability that has fields for an event; none where it is the workflow's own.
fn of_event(name: &str) -> Option<&'static dyn Capability> {
    OF_EVENTS.get(name).copied()
}

fn known<T: Copy>(index: &BTreeMap<&str, T>, what: &str, name: &str) -> Result<T, Fault> {
    let found = index.get(name).copied();
    found.ok_or_else(|| Fault::bug(format!("no capability has the {what} `{name}`")))
}

/// The capability that a reader belongs to.
fn of_reader(name: &str) -> Result<&'static dyn Capability, Fault> {
    known(&OF_READERS, "reader", name)
}

/// Whether a reader reads what somebody reports, and nothing else.
pub(crate) fn is_reported(reader: &str) -> bool {
    let all = OF_READERS
        .get(reader)
        .map(|capability| capability.readers());
    let mut all = all.into_iter().flatten();
    all.any(|(name, known)| name == reader && known.is_reported)
}

/// Whether a reader may take minutes.
pub(crate) fn reads_long(reader: &str) -> bool {
    let capability = OF_READERS.get(reader);
    capability.is_some_and(|capability| capability.reads_long())
}

/// How an effect is carried out.
fn steps_of(effect: &str) -> Result<EffectSteps, Fault> {
    known(&EFFECTS, "effect", effect)
}

/// Facts by name.
fn typed(facts: &[(&str, FieldType)]) -> BTreeMap<String, FieldType> {
    facts
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), kind.clone()))
        .collect()
}

/// A reader that gives these facts and goes by these keys of a role.
fn reader(role: &[(&'static str, Option<&'static str>)], facts: &[(&str, FieldType)]) -> Reader {
    Reader {
        role: role.iter().copied().collect(),
        facts: typed(facts),
        ..Reader::default()
    }
}

/// What a definition says of a resource under `name`.
fn parameter(name: &'static str, kind: ParameterKind, example: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        example,
    }
}

/// An effect on these resources that no later refusal could take back.
fn lasting(needs: &'static [&'static str], result: &[(&str, FieldType)]) -> Effect {
    Effect {
        lasting: true,
        result: typed(result),
        needs,
        ..Effect::default()
    }
}

/// An effect within the run's own folder, or one that is undone at its end.
fn passing(needs: &'static [&'static str]) -> Effect {
    Effect {
        needs,
        ..Effect::default()
    }
}

/// Reports that `reader` reads, of a role with the key `with` and without `without`.
fn reports(reader: &str, with: Option<&'static str>, without: &[&'static str]) -> Finder {
    Finder {
        reader: reader.to_owned(),
        with,
        without: without.to_vec(),
        ..Finder::default()
    }
}
