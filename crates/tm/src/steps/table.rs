//! Which command and which tool takes a step, and what its arguments are called there.

use std::borrow::Cow;

use engine::next_step::{NextStep, Verb, option_of};
use engine::view::{AUTOPILOT, COLLAB, GENERIC, SESSION, View};
use serde_json::{Value, json};

use crate::calls::{self, Call, Family};

/// A family of commands, or of tools, in which runs are driven: a step leads to the family that the call was of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Phases of a task.
    Autopilot,
    /// The same as work units; over MCP alone.
    WorkUnits,
    /// Any workflow.
    #[default]
    Run,
    /// Prompts and responses.
    Session,
    /// Skills.
    Collab,
}

impl Form {
    /// That of a view of the engine.
    pub fn of_view(view: &str) -> Self {
        match view {
            "autopilot" => Self::Autopilot,
            "session" => Self::Session,
            "collab" => Self::Collab,
            _ => Self::Run,
        }
    }

    /// The family of its calls.
    fn family(self) -> &'static str {
        match self {
            Self::Autopilot | Self::WorkUnits => "autopilot",
            Self::Session => "session",
            Self::Collab => "collab",
            Self::Run => "run",
        }
    }

    /// The view in which the engine drives runs for it.
    pub fn view(self) -> &'static View {
        match self {
            Self::Autopilot | Self::WorkUnits => &AUTOPILOT,
            Self::Session => &SESSION,
            Self::Collab => &COLLAB,
            Self::Run => &GENERIC,
        }
    }

    /// That of a tool.
    pub fn of_tool(tool: &str) -> Self {
        match tool {
            "autopilot_next_work_unit" | "autopilot_complete_work_unit" | "autopilot_get_state" => {
                Self::WorkUnits
            }
            _ if tool.starts_with("autopilot_") => Self::Autopilot,
            _ if tool.starts_with("session_") => Self::Session,
            _ if tool.starts_with("run_") => Self::Run,
            _ => Self::Collab,
        }
    }
}

/// How a step is taken.
#[derive(Debug)]
pub struct Row {
    /// By this command.
    pub command: Cow<'static, str>,
    /// The arguments that stand behind the command without an option.
    pub words: Vec<&'static str>,
    /// By one of these tools, the best first; by none where only a person does it, at a terminal.
    pub tools: Vec<&'static str>,
}

impl Row {
    /// The option that names the run in the command; without one the run is its first word.
    pub fn run_option(&self) -> Option<&'static str> {
        let form = match self.command.split(' ').nth(1) {
            Some("runs") => return None,
            Some(group) => Form::of_view(group),
            None => Form::default(),
        };
        Some(run_option(form))
    }
}

fn row(
    command: &'static str,
    words: &'static [&'static str],
    tools: &'static [&'static str],
) -> Row {
    Row {
        command: command.into(),
        words: words.to_vec(),
        tools: tools.to_vec(),
    }
}

/// How a call is made: by that of the form's own family, or else by the one for any run.
fn call(form: Form, find: impl Fn(&'static Family) -> Option<&'static Call>) -> Row {
    let families = [form, Form::Run].map(|form| calls::family(form.family()));
    let declared = families.into_iter().flatten();
    let mut all = declared.filter_map(|family| Some((family, find(family)?)));
    let tools = all.clone().filter_map(|(family, call)| family.tool(call));
    let mut tools: Vec<&str> = tools.collect();
    tools.dedup();
    match all.next() {
        Some((family, call)) => Row {
            command: format!("tm {} {}", family.name, call.name).into(),
            words: call.words(),
            tools,
        },
        // The words of what is no call of ours are its own.
        None => row("", &[], &[]),
    }
}

/// How the call of that name is made.
fn named(form: Form, name: &str) -> Row {
    call(form, |family| family.call(name))
}

/// How the call of that name is made, and by no tool but that of its own family.
fn own(form: Form, name: &str) -> Row {
    let mut row = named(form, name);
    row.tools.truncate(1);
    row
}

/// What a report brings along, one of these where it does.
const EVIDENCE: [&str; 5] = ["results", "report", "verify", "unchanged", "outcome"];

/// How a step is taken by a caller of this form.
pub fn of(form: Form, step: &NextStep) -> Row {
    use Form::{Autopilot, Collab, Run, Session, WorkUnits};
    let has = |name: &&str| step.with.iter().any(|(known, _)| known == name);
    // Where the form has no command of its own for it, the one for any run does.
    match (step.verb, form) {
        (Verb::Report, Session | Collab) if EVIDENCE.iter().any(has) => of(Run, step),
        (Verb::Report, Autopilot | WorkUnits) => report(form, step),
        (Verb::Report | Verb::Step, Session) => own(form, "step"),
        (Verb::Report | Verb::Start, Collab) => own(form, "complete-skill"),
        (Verb::Report, Run) => named(form, "report"),
        (Verb::Start, Session) => own(form, "init"),
        (Verb::Start, _) => own(form, "start"),
        (Verb::Next, WorkUnits) => Row {
            tools: vec!["autopilot_next_work_unit", "run_next"],
            ..named(form, "next")
        },
        (Verb::Status, WorkUnits) => Row {
            tools: vec!["autopilot_get_state", "run_status"],
            ..named(form, "status")
        },
        (Verb::Next, Session) => named(form, "status"),
        (Verb::Next | Verb::Status, Collab) => {
            row("tm collab state", &[], &["get_session_state", "run_status"])
        }
        (Verb::Respond, _) => row("tm session respond", &["file"], &["session_step"]),
        // A person alone has a session go on that is over.
        (Verb::Reopen, _) if has(&"maxIterations") => row("tm session reopen", &[], &[]),
        // Sessions have no kinds of work.
        (Verb::Reopen, Session | Collab) if has(&"kind") => of(Run, step),
        (Verb::Reopen, Session) => row("tm session reopen", &[], &[]),
        (Verb::Next | Verb::Status | Verb::Step | Verb::Restore, _) => {
            named(form, step.verb.name())
        }
        (Verb::Approve | Verb::Reject, _) => Row {
            tools: own(form, "decide").tools,
            ..named(form, step.verb.name())
        },
        (Verb::Edit, _) => row("tm collab update", &[], &["update_session_state"]),
        (Verb::Task, _) => row("tm collab task", &["id", "status"], &["update_task_status"]),
        (Verb::Graph, _) => row("tm collab graph", &[], &["get_task_graph"]),
        (Verb::Sync, _) => row("tm collab sync", &["document"], &["sync_task_graph"]),
        (Verb::Summary, _) => row("tm runs report", &[], &[]),
        (Verb::Show, _) => row("tm runs show", &[], &[]),
        (Verb::Log, _) => row("tm runs log", &[], &[]),
        (Verb::List, Session | Collab) => row("tm session list", &[], &[]),
        (Verb::List, _) => row("tm runs list", &[], &[]),
        (verb, _) => call(form, |family| family.turn(verb.name())),
    }
}

/// The phases in which `tm autopilot complete` reports results of tests.
pub const TEST_PHASES: [&str; 5] = ["red", "green", "chore", "refactor", "tests"];

/// How a unit of a run over a task is reported: its phases have commands and tools of their own.
fn report(form: Form, step: &NextStep) -> Row {
    const UNITS: &[&str] = &["autopilot_complete_work_unit", "run_report"];
    let of_phase = |phases: &'static [&'static str]| match form {
        Form::WorkUnits => UNITS,
        _ => phases,
    };
    match step.value("phase") {
        Some("commit") => {
            let tools = of_phase(&["autopilot_commit", "run_report"]);
            row("tm autopilot commit", &["item"], tools)
        }
        Some("finalize") => {
            let tools = of_phase(&["autopilot_finalize", "run_report"]);
            row("tm autopilot finalize", &[], tools)
        }
        Some(phase) if TEST_PHASES.contains(&phase) => {
            let tools = of_phase(&["autopilot_complete_phase", "run_report"]);
            row("tm autopilot complete", &["phase", "item"], tools)
        }
        _ => of(Form::Run, step),
    }
}

/// The arguments without which a command is none.
pub fn needed(command: &str, step: &NextStep) -> Vec<&'static str> {
    if command == "tm collab task" {
        return vec!["id", "status"];
    }
    let has = |name: &str| step.with.iter().any(|(known, _)| known == name);
    let call = calls::of_command(command);
    call.map_or_else(Vec::new, |call| call.needed(has))
}

/// The arguments of a step that a command or a tool does not take.
pub fn not_taken(by: &str) -> &'static [&'static str] {
    match by {
        "tm autopilot complete"
        | "tm autopilot commit"
        | "tm autopilot finalize"
        | "tm session step" => &["phase", "item", "unit", "skill"],
        "tm session reopen" => &["unit"],
        "tm run approve" | "tm run reject" | "tm session approve" | "tm session reject" => {
            &["decision", "gate", "shown"]
        }
        "session_step"
        | "tm run report"
        | "autopilot_complete_phase"
        | "autopilot_commit"
        | "autopilot_finalize"
        | "run_report" => &["phase", "item", "skill"],
        "tm collab complete-skill" | "complete_skill" => &["phase", "item"],
        // There the numbers go with the phase.
        "autopilot_complete_work_unit" => &["item", "skill", "outcome", "results"],
        _ => &[],
    }
}

/// The option that names a run in a family of commands.
pub fn run_option(form: Form) -> &'static str {
    match form {
        Form::Session | Form::Collab => "--session",
        _ => "--run-id",
    }
}

/// The option for an argument, in a command that names runs so.
pub fn option(run: Option<&str>, name: &str) -> String {
    match (name, run) {
        ("run", Some(run)) => run.to_owned(),
        ("unit", Some("--session")) => "--unit-id".to_owned(),
        _ => option_of(name),
    }
}

/// Whether an argument says something by being there.
pub fn is_switch(name: &str) -> bool {
    stands_for(name).is_empty()
}

/// What stands for a value that the reader is to put there; nothing where the argument has none.
pub fn stands_for(name: &str) -> &'static str {
    match name {
        "kind" => "KIND",
        "reason" | "title" | "subtask" | "message" | "note" | "feedback" => "…",
        "results" => "failed:N,passed:N",
        "coverage" | "maxIterations" | "maxAttempts" | "item" | "currentItem" => "N",
        "report" | "coverageReport" | "document" | "file" | "plan" => "FILE",
        "sha" => "SHA",
        "outcome" => "WORD",
        "taskId" => "<taskId>",
        "workflow" => "WORKFLOW",
        "skill" => "SKILL",
        "code" => "CODE",
        "sign" => "KEY",
        "session" => "NAME",
        "id" | "unit" | "run" => "ID",
        "status" => "STATUS",
        "workItems" => "JSON",
        "projectRoot" => "DIR",
        _ => "",
    }
}

/// The resource that is read instead of calling a tool.
pub fn resource(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Summary => Some("tramline://runs/{id}/report"),
        Verb::Log => Some("tramline://runs/{id}/log"),
        Verb::Show => Some("tramline://runs/{id}/state"),
        Verb::List => Some("tramline://runs"),
        _ => None,
    }
}

/// What an argument is called in the tools of a form.
pub fn argument(form: Form, name: &str) -> String {
    let told = match (name, form) {
        ("run", Form::Session) => "sessionId",
        ("run", Form::Collab) => "session",
        ("run", _) => "runId",
        ("unit", Form::WorkUnits) => "workUnitId",
        ("results", Form::WorkUnits) => "result",
        ("coverage", Form::WorkUnits) => "result.coverage",
        ("sha", Form::WorkUnits) => "result.commitSha",
        ("files", Form::WorkUnits) => "result.filesModified",
        ("unit", _) => "unitId",
        ("projectRoot", Form::Collab) => "project",
        ("sha", _) => "commitSha",
        ("replace", _) => "replaceResponse",
        ("branch", _) => "options.branch",
        ("maxAttempts", _) => "options.maxAttempts",
        ("subtask", _) => "subtasks",
        ("input", _) => "inputs",
        ("gate", _) => "gates",
        ("file", _) => "response",
        _ => name,
    };
    told.to_owned()
}

/// An argument of a step as an argument of a tool.
pub fn tool_argument(
    tool: &str,
    step: &NextStep,
    name: &str,
    value: Option<Value>,
) -> (String, Option<Value>) {
    let form = Form::of_tool(tool);
    match (tool, name) {
        ("run_start" | "session_init", "input") => {
            let pair = value.as_ref().and_then(Value::as_str);
            let object = pair.and_then(|pair| pair.split_once('='));
            let object = object.map(|(name, value)| json!({ name: value }));
            (argument(form, name), object)
        }
        ("autopilot_complete_work_unit", "phase") => {
            let phase = value.as_ref().and_then(Value::as_str).unwrap_or_default();
            let mut result = json!({ "success": true, "phase": phase.to_uppercase() });
            if step.value("results").is_some() {
                result["testsFailed"] = "N".into();
                result["testsPassed"] = "N".into();
            }
            ("result".to_owned(), Some(result))
        }
        (_, "task") => ("tasks".to_owned(), value.map(|task| json!([task]))),
        // There a gate is the one that is decided on, and not one whose mode is set.
        ("session_decide" | "run_decide", "gate") => ("gate".to_owned(), value),
        (_, "shown") => ("hash".to_owned(), value),
        _ => (argument(form, name), value),
    }
}
