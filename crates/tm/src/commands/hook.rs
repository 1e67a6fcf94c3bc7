//! `tm hook`: the answer to a client, and the trial of it.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{Fault, Kind};
use serde::Serialize;
use serde_json::json;
use text::plain::one_line;
use workspace::config::Environment;

use super::{DONE, Outcome};
use crate::cli::hook::Hook;
use crate::hook::self_test::{self, SelfTestCase};
use crate::hook::settings::{self, Installed};
use crate::hook::{self, Client, MOST_BYTES, Place, Reply};
use crate::output::Output;
use crate::render;
use crate::steps::StepSpelling as _;

/// How long an answer may take: less than the clients wait.
const PATIENCE: Duration = Duration::from_secs(4);

/// Variables in which clients name the project.
const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"];

/// What came of a trial.
#[derive(Debug, Serialize)]
pub struct SelfTest {
    /// Whether all of it is as it should be.
    pub ok: bool,
    /// Every payload that was tried.
    pub tried: Vec<SelfTestCase>,
    /// What stands in the settings of the clients here.
    pub installed: Vec<Installed>,
}

/// Carries out `tm hook`.
pub fn run(arguments: &Hook, output: &mut Output) -> Outcome {
    if arguments.self_test {
        return try_out(arguments, output);
    }
    let Some(client) = arguments.client else {
        return Err(super::usage("name the client that calls the hook"));
    };
    if io::stdin().is_terminal() {
        let client = json!({ "client": client.id() });
        output.text(&render::page("hook_at_a_terminal", &client, &output.look()))?;
        return Ok(DONE);
    }
    let answered = Arc::new(AtomicBool::new(false));
    give_up_in_time(Arc::clone(&answered));
    let reply = reply(client);
    if answered.swap(true, Ordering::AcqRel) {
        // The other half of the bargain is on its way out.
        return Ok(DONE);
    }
    if let Some(aside) = &reply.aside {
        let aside = output.look().caller.text(aside);
        Output::line_aside(&format!("tm hook: {}", one_line(&aside)));
    }
    if let Some(out) = &reply.out {
        output.json(out)?;
    }
    Ok(DONE)
}

/// Ends the process, with nothing said, where there is no answer in time. A client that gives up ends the shell that it
/// started, and some then wait for what that shell has started.
fn give_up_in_time(answered: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if !answered.swap(true, Ordering::AcqRel) {
            Output::line_aside("tm hook: there is no answer in time, so nothing is judged");
            std::process::exit(DONE.into());
        }
    });
}

fn reply(client: Client) -> Reply {
    let aside = |aside: String| Reply {
        out: None,
        aside: Some(aside),
    };
    let mut input = Vec::new();
    let mut stdin = io::stdin().lock();
    match (&mut stdin).take(MOST_BYTES + 1).read_to_end(&mut input) {
        Ok(read) if u64::try_from(read).unwrap_or(u64::MAX) > MOST_BYTES => {
            // A client that cannot get rid of its payload may take that for a failure.
            let _ = io::copy(&mut stdin, &mut io::sink());
            return aside(format!("the payload is longer than {MOST_BYTES} bytes"));
        }
        Ok(_) => {}
        Err(error) => return aside(format!("standard input could not be read: {error}")),
    }
    let named = PROJECT_VARIABLES
        .iter()
        .filter_map(std::env::var_os)
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .collect();
    let place = Place {
        cwd: std::env::current_dir().unwrap_or_default(),
        named,
        environment: Environment::of_this_process(),
    };
    hook::answer(client, &input, &place)
}

fn try_out(arguments: &Hook, output: &mut Output) -> Outcome {
    let clients: Vec<Client> = arguments
        .client
        .map_or_else(|| Client::ALL.to_vec(), |client| vec![client]);
    let tried = self_test::run(&clients)?;
    let installed = installed(arguments, &clients)?;
    let ok = tried.iter().all(|tried| tried.ok) && installed.iter().all(|found| found.ok);
    let answer = SelfTest {
        ok,
        tried,
        installed,
    };
    output.page(&answer, "hook_tried")?;
    Ok(if ok { DONE } else { Kind::Bug.exit_status() })
}

/// What stands in the settings of the project here.
fn installed(arguments: &Hook, clients: &[Client]) -> Result<Vec<Installed>, Fault> {
    let cwd = super::current_folder()?;
    let environment = Environment::of_this_process();
    let root = match &arguments.project_root {
        Some(root) => cwd.join(root),
        None => workspace::config::find_root(&cwd, &environment).path,
    };
    Ok(clients
        .iter()
        .filter_map(|client| settings::installed(&root, *client))
        .collect())
}

/// Whether a command line is that of a client: then it must not end with a status that the client takes for a denial,
/// whatever happens.
pub fn is_for_a_client(arguments: &[OsString]) -> bool {
    let mut words = arguments
        .iter()
        .skip(1)
        .filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    words.next().is_some_and(|first| first == "hook")
        && !arguments.iter().any(|argument| argument == "--self-test")
        && !io::stdin().is_terminal()
}
