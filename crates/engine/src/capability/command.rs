//! `command`: commands that a workflow declares and a person trusted, run to see how they end, or for what they do.

use std::time::Duration;

use machine::check::catalog::{Effect, Entries, NamedEntry, Reader, Resource};
use machine::definition::FieldType::{Bool, Enum, Int, Map as Fields, String as Text};
use machine::definition::{FieldType, Literal, ResourceValue};
use machine::state::Pending;
use machine::{Definition, Reading, Role, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::process::Cancellation;
use workspace::suite::{How, SuiteError, SuiteRan, SuiteRun, run_suite};

use crate::call::Call;
use crate::capability::tests::evidence::level_name;
use crate::capability::tests::evidence::suite::{MOST_KEPT, end_of};
use crate::capability::{COMMANDS, Capability, EffectSteps, lasting, reader};
use crate::fault;
use crate::fault::Fault;
use crate::intent;
use crate::support::{EffectRequest, EffectState, HandlerError, Outcome, object};
use crate::trust::may_run_commands;

/// The words for how a command ended.
const ENDS: [&str; 3] = ["exited", "signalled", "timed_out"];
/// The most bytes of JSON that guards see.
const LONGEST_JSON: usize = 16 * 1024;

/// What shells add to the number of a signal to make a status of it.
const SIGNALLED: i64 = 128;

/// The code of a command that did not end well.
const FAILED: &str = "command_failed";

/// A command of a workflow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Command {
    /// The line, as it would be typed; no shell reads it unless it says `sh -c '…'`.
    pub(crate) run: String,
    /// How long it may take; as long as a test command where nothing is said.
    #[serde(default)]
    pub(crate) seconds: Option<u64>,
    /// Whether to run it once more does no harm.
    #[serde(default)]
    pub(crate) repeat: bool,
    /// The line that finds out whether it was run: it ends with 0 then.
    #[serde(default)]
    pub(crate) look: Option<String>,
}

impl Command {
    /// The one that a definition declares under a name.
    fn of(definition: &Definition, name: &str) -> Result<Self, Fault> {
        declared(definition)
            .find(|(known, _)| *known == name)
            .map(|(_, command)| command)
            .ok_or_else(|| Fault::bug(format!("the workflow declares no command `{name}`")))
    }

    /// The lines that may be run.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        [Some(self.run.as_str()), self.look.as_deref()]
            .into_iter()
            .flatten()
    }
}

/// The commands that a definition declares, by name.
pub(crate) fn declared(definition: &Definition) -> impl Iterator<Item = (&str, Command)> {
    let all = definition.uses.get(COMMANDS).into_iter();
    all.flat_map(|commands| commands.0.iter())
        .filter_map(|(name, value)| {
            let plain = |value: &Literal| match value {
                Literal::Value(value) => value.clone(),
                Literal::Expression(_) => Value::Null,
            };
            let fields = match &value.value {
                ResourceValue::Literal(line) => json!({ "run": plain(line) }),
                ResourceValue::Fields(fields) => fields
                    .iter()
                    .map(|(field, value)| (field.value.clone(), plain(&value.value)))
                    .collect::<Map<_, _>>()
                    .into(),
            };
            // The proof lets nothing else pass; what nobody proved yet declares nothing.
            Some((name.value.as_str(), Command::deserialize(fields).ok()?))
        })
}

/// What an effect is going to run.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    name: String,
    command: Command,
}

pub(super) struct Commands;

impl Capability for Commands {
    fn name(&self) -> &'static str {
        "command"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let facts = [
            ("ok", Bool),
            ("status", Int),
            ("how", Enum(ENDS.map(str::to_owned).to_vec())),
            ("output", Text),
            ("json", Fields),
        ];
        let command = Reader {
            needs: &[COMMANDS],
            entry: Some(NamedEntry {
                of: COMMANDS,
                key: "run",
                with: &[],
            }),
            ..reader(&[("run", None)], &facts)
        };
        vec![("command", command)]
    }

    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
        let run = Effect {
            entry: Some(NamedEntry {
                of: COMMANDS,
                key: "run",
                with: &["repeat", "look"],
            }),
            ..lasting(&[COMMANDS], &[("output", Text)])
        };
        let steps = EffectSteps {
            prepare,
            perform,
            look,
        };
        vec![("command.run", run, steps)]
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        const FIELDS: &[(&str, FieldType)] = &[
            ("run", Text),
            ("seconds", Int),
            ("repeat", Bool),
            ("look", Text),
        ];
        let commands = Resource {
            entries: Some(Entries {
                noun: "command",
                short: "run",
                fields: FIELDS,
            }),
            ..Resource::default()
        };
        vec![(COMMANDS, commands)]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        _: u32,
    ) -> Result<Reading, HandlerError> {
        let name = role.run.as_deref().unwrap_or_default();
        let command = Command::of(&call.definition, name)?;
        let ran = ran(call, run, name, &command, &command.run)?;
        let facts = json!({
            "run": name,
            "line": command.run,
            "ok": ran.success(),
            "status": status(ran.how),
            "how": ended(ran.how),
            "output": end_of(&ran.both),
            "json": printed(&ran.stdout),
            "durationMs": u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            "outputSha256": ran.sha256,
        });
        Ok(Reading {
            facts: object(facts),
            level: level_name(workspace::config::Level::Verified).to_owned(),
            evidence: vec![keep(call, &ran)?],
            ..Reading::default()
        })
    }

    fn reads_long(&self) -> bool {
        true
    }
}

fn prepare(
    call: &Call<'_>,
    asked: &EffectRequest<'_>,
    run: &RunState,
) -> Result<Value, HandlerError> {
    let name = asked
        .with
        .get("run")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let command = Command::of(&call.definition, name)?;
    may_run_commands(call, run)?;
    Ok(intent::write(&Intent {
        name: name.to_owned(),
        command,
    })?)
}

fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let Intent { name, command } = intent::read(&pending.what)?;
    let ran = match ran(call, run, &name, &command, &command.run) {
        Ok(ran) => ran,
        Err(fault) => return Ok(Outcome::failed(fault)),
    };
    if !ran.success() {
        // Nothing names it in the journal, but who looks for the cause finds it.
        keep(call, &ran)?;
        return Ok(Outcome::Failed {
            code: FAILED.to_owned(),
            message: format!(
                "the command `{name}` ({}) {}: {}",
                command.run,
                manner(ended(ran.how), status(ran.how)),
                end_of(&ran.both).trim_end()
            ),
            suggestion: Some("see to what it says, then go on: it is run again".to_owned()),
            keep: Map::new(),
        });
    }
    done(call, &name, &command, &ran)
}

fn look(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<EffectState, Fault> {
    let Intent { name, command } = intent::read(&pending.what)?;
    let Some(look) = &command.look else {
        return Ok(EffectState::NotDone);
    };
    let ran = ran(call, run, &name, &command, look)?;
    if !ran.success() {
        return Ok(EffectState::NotDone);
    }
    done(call, &name, &command, &ran).map(EffectState::Settled)
}

/// The line that is run when a unit of this role is reported; none where none is.
pub(crate) fn line_of(definition: &Definition, role: &Role) -> Option<String> {
    let command = Command::of(definition, role.run.as_deref()?).ok()?;
    Some(command.run)
}

/// Runs a line of a command in the project's folder, as its user would.
fn ran(
    call: &Call<'_>,
    run: &RunState,
    name: &str,
    command: &Command,
    line: &str,
) -> Result<SuiteRan, Fault> {
    may_run_commands(call, run)?;
    let limit = command.seconds.map_or(
        Duration::from_millis(call.pinned.autopilot.test_timeout),
        Duration::from_secs,
    );
    call.tree_changes();
    run_suite(&SuiteRun {
        command: line,
        line: None,
        cwd: call.root,
        timeout: limit,
        // Half a command may be worse than a whole one.
        cancelled: Cancellation::default(),
        env: Vec::new(),
        is_whole: false,
    })
    .map_err(|error| {
        let why = match &error {
            SuiteError::Program { reason, .. } => reason.to_string(),
            other => other.to_string(),
        };
        fault!("command_failed.command_not_run", name, line, why)
    })
}

/// It was carried out, with what was printed.
fn done(call: &Call<'_>, name: &str, command: &Command, ran: &SuiteRan) -> Result<Outcome, Fault> {
    Ok(Outcome::Done {
        result: json!({
            "run": name,
            "line": command.run,
            "output": end_of(&ran.both),
            "evidence": keep(call, ran)?,
        }),
        keep: Map::new(),
        artifacts: Vec::new(),
    })
}

/// Keeps what was printed as evidence; its hash.
fn keep(call: &Call<'_>, ran: &SuiteRan) -> Result<String, Fault> {
    let kept = &ran.both[..ran.both.len().min(MOST_KEPT)];
    Ok(journal::EvidenceStore::new(&call.dir).put(kept)?)
}

/// What a command printed, where that is an object of JSON that is not long.
fn printed(stdout: &[u8]) -> Map<String, Value> {
    if stdout.len() > LONGEST_JSON {
        return Map::new();
    }
    serde_json::from_slice(stdout).unwrap_or_default()
}

fn ended(how: How) -> &'static str {
    match how {
        How::Exited(_) => ENDS[0],
        How::Signalled(_) => ENDS[1],
        // However much is printed, that ends no command.
        How::TimedOut | How::Flooded | How::Cancelled => ENDS[2],
    }
}

/// The status of a command that ended: as shells count it where a signal ended it, and -1 for one that did not end in time.
fn status(how: How) -> i64 {
    match how {
        How::Exited(status) => i64::from(status),
        How::Signalled(signal) => SIGNALLED + i64::from(signal),
        How::TimedOut | How::Flooded | How::Cancelled => -1,
    }
}

/// How a command failed and what it printed last, by the facts of its report; none where it did well.
pub(crate) fn failure(facts: &Map<String, Value>) -> Option<String> {
    if facts.get("ok")?.as_bool()? {
        return None;
    }
    let text = |name: &str| facts.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = facts.get("status").and_then(Value::as_i64).unwrap_or(-1);
    let ended = manner(text("how"), status);
    let printed = match text("output").trim_end() {
        "" => ", and printed nothing".to_owned(),
        output => format!(":\n{output}"),
    };
    Some(format!("`{}` {ended}{printed}", text("line")))
}

/// How a command ended, in words.
pub(crate) fn manner(how: &str, status: i64) -> String {
    match how {
        "signalled" => format!("was ended by signal {}", status - SIGNALLED),
        "timed_out" => "did not end in time, and was ended".to_owned(),
        _ => format!("ended with status {status}"),
    }
}
