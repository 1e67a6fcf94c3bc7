//! `tm init`.

mod questions;

use std::path::PathBuf;

use engine::fault;
use engine::trust::{Subject, TrustRequest};
use engine::{Fault, Kind};
use serde::Serialize;
use text::plain::one_line;
use workspace::config::{Environment, edit};

use super::{DONE, Outcome, declined};
use crate::cli::ProjectPlace;
use crate::cli::init::Init;
use crate::init::change::Change;
use crate::init::client::Client;
use crate::init::{Plan, Request, disk, originals};
use crate::output::Output;
use crate::steps::typed;
use crate::{init, person, render};

/// What was done, or would be.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// The files.
    pub changes: Vec<Change>,
    /// Whether they were written.
    pub written: bool,
    /// The folder that they are in, with `/` at the end, where that is not the one that the command was given in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub below: String,
    /// What the user should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Clients that seem to be in use and are not set up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<DetectedClient>,
}

/// A client that seems to be in use and is not set up.
#[derive(Debug, Serialize)]
pub struct DetectedClient {
    /// Its id.
    pub client: &'static str,
    /// The command that sets it up.
    pub command: String,
}

/// Carries out `tm init`.
pub fn init(arguments: &Init, output: &mut Output) -> Outcome {
    let root = if arguments.user {
        home()?
    } else {
        root(&arguments.place)?
    };
    if arguments.hook && arguments.clients.is_empty() && !arguments.remove {
        return Err(super::usage("the hook is for a client, and none is named")
            .suggest("name it: `tm init --client claude-code --hook`"));
    }
    let mut plan = init::plan(&root, &request(arguments))?;
    let is_alone = arguments.clients.is_empty()
        && arguments.test_command.is_none()
        && !(arguments.remove || arguments.yes || arguments.print);
    let answered;
    let arguments = if is_alone && output.has_person() && !output.is_json() {
        answered = questions::answered(arguments, &plan.found, output)?;
        plan = init::plan(&root, &request(&answered))?;
        &answered
    } else {
        arguments
    };
    if let Some(command) = &arguments.test_command {
        edit::parse_value("test.command", command)?;
    }
    let Plan {
        changes,
        notes,
        found,
        to_commit,
    } = plan;
    let is_here = std::fs::canonicalize(super::current_folder()?).is_ok_and(|here| here == root);
    let below = match arguments.user {
        true => "~/".to_owned(),
        false if is_here => String::new(),
        false => format!("{}/", root.display()),
    };
    let mut answer = Answer {
        changes,
        written: false,
        below,
        notes,
        found: found
            .into_iter()
            .map(|client| DetectedClient {
                client: client.id(),
                command: command(&arguments.place, &[client], &[]),
            })
            .collect(),
    };
    if !output.is_json() {
        let text = render::differences(&answer.changes, &output.look());
        output.text(&text)?;
    }
    if !answer.changes.is_empty() && !arguments.print {
        if !arguments.yes {
            confirm(arguments, &answer, output)?;
        }
        let store = Environment::of_this_process().store();
        if let Some(store) = store.as_ref().filter(|_| !arguments.remove) {
            // Without it a removal is right as well, but for white space.
            let _ = originals::keep(store, &answer.changes);
        }
        disk::write(&root, &answer.changes)?;
        if let Some(store) = store.as_ref().filter(|_| arguments.remove) {
            originals::forget(store, &answer.changes);
        }
        answer.written = true;
        if to_commit {
            let commit = "commit this on the branch that runs begin from, before the next one: runs begin in a clean working tree";
            answer.notes.push(commit.to_owned());
        }
    }
    output.page(&answer, "init_done")?;
    if !arguments.remove && !arguments.user {
        trust(arguments, output)?;
    }
    if is_alone && answer.written && !arguments.clients.is_empty() {
        output.text(SAY)?;
    }
    Ok(DONE)
}

/// What a person says to their agent then.
const SAY: &str = "\nNow say to your agent, in a new session here:\n  Take the next task through a run of Tramline, and do at each step what it asks for.\n";

fn request(arguments: &Init) -> Request {
    Request {
        clients: arguments.clients.clone(),
        remove: arguments.remove,
        hook: arguments.hook,
        user: arguments.user,
        test_command: arguments.test_command.clone(),
    }
}

/// Names what the repository brings along and nobody trusted. The person is asked for what would run by itself.
fn trust(arguments: &Init, output: &mut Output) -> Result<(), Fault> {
    // Settings may be broken here; the first command that needs them says so.
    let Ok(engine) = super::open(arguments.place.project_root.clone(), None, "tm init") else {
        return Ok(());
    };
    let asks = output.has_person() && !arguments.yes && !arguments.print;
    if asks && let Ok(untrusted) = engine.untrusted() {
        let runs =
            |request: &&TrustRequest| matches!(request.subject, Subject::Tests | Subject::Checks);
        for request in untrusted.iter().filter(runs) {
            match super::trust::ask(request, output) {
                Ok(()) => engine.trust(request)?,
                Err(fault) if fault.code == "declined" => {}
                Err(fault) => return Err(fault),
            }
        }
    }
    super::trust::warn(&engine, output);
    Ok(())
}

/// Asks, once, for everything that was shown.
fn confirm(arguments: &Init, answer: &Answer, output: &mut Output) -> Result<(), Fault> {
    let mut files = text::counted(answer.changes.len(), "file");
    if !answer.below.is_empty() {
        files = format!("{files} in {}", one_line(&answer.below));
    }
    if !output.has_person() {
        // One that seems to be in use is most likely meant.
        let mut clients = arguments.clients.clone();
        if clients.is_empty() && !arguments.remove {
            let is_found =
                |client: &Client| answer.found.iter().any(|found| found.client == client.id());
            clients.extend(Client::ALL.into_iter().find(is_found));
        }
        let changes = serde_json::to_value(&answer.changes)
            .map_err(|error| Fault::bug(format!("the changes are no JSON: {error}")))?;
        return Err(Fault::new(
            Kind::Refused,
            "needs_confirmation",
            format!("{files} would be written, and nobody is here to confirm it"),
        )
        .suggest(if arguments.clients.is_empty() {
            "name the client that you use with --client; confirm it with --yes, or look at it first with --print"
        } else {
            "confirm it with --yes, or look at it first with --print"
        })
        .recover(command(
            &arguments.place,
            &clients,
            &[
                (arguments.remove, "--remove"),
                (arguments.user, "--user"),
                (arguments.hook, "--hook"),
                (true, "--yes"),
            ],
        ))
        .detail("changes", changes));
    }
    let question = format!("\nWrite {files}?");
    if person::confirm(output, &question, !arguments.remove)? {
        Ok(())
    } else {
        Err(declined("tm init"))
    }
}

/// The user's home, by its real path.
fn home() -> Result<PathBuf, Fault> {
    let environment = Environment::of_this_process();
    let home = environment.home();
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    home.ok_or_else(|| fault!("config_invalid.no_home"))
}

/// The project's folder, by its real path. Its settings are not read: they may be broken, and are none of our business.
pub(super) fn root(place: &ProjectPlace) -> Result<PathBuf, Fault> {
    let environment = Environment::of_this_process();
    let cwd = super::current_folder()?;
    let root = match &place.project_root {
        Some(root) => cwd.join(root),
        None => workspace::config::find_root(&cwd, &environment).path,
    };
    let no_project = |problem: String| {
        Fault::new(Kind::Missing, "not_found", problem)
            .suggest("name the folder of a project with --project-root")
    };
    let root = std::fs::canonicalize(&root)
        .map_err(|error| no_project(format!("{} cannot be opened: {error}", root.display())))?;
    if !root.is_dir() {
        return Err(no_project(format!("{} is not a folder", root.display())));
    }
    // Where runs are kept, `.taskmaster` holds the user's own settings.
    let stores = [
        environment.store(),
        environment.home().map(|home| home.join(".taskmaster")),
    ];
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    let own = real(root.join(".taskmaster"));
    if stores.into_iter().flatten().any(|store| real(store) == own) {
        return Err(no_project(format!(
            "{} is where runs are kept, not a project",
            root.display()
        )));
    }
    Ok(root)
}

/// The command line that asks for this.
fn command(place: &ProjectPlace, clients: &[Client], flags: &[(bool, &str)]) -> String {
    let mut command = "tm init".to_owned();
    if let Some(root) = &place.project_root {
        command.push_str(" --project-root ");
        command.push_str(&typed(&root.to_string_lossy()));
    }
    for client in clients {
        command.push_str(" --client ");
        command.push_str(client.id());
    }
    for (_, option) in flags.iter().filter(|(given, _)| *given) {
        command.push(' ');
        command.push_str(option);
    }
    command
}
