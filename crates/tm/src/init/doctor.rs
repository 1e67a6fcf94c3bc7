//! What is wrong with the clients of a project: whether they find this program, and are set up as this version does it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use engine::DoctorCheck;
use workspace::process::{Program, find_program, run};

use super::client::Client;
use super::settings::FILE;
use super::{Draft, Request, plan};
use crate::hook::settings::{self, Installed, PROGRAM};

/// How long another program that has its name may take to say its version.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Looks at each client that is set up in the project at `root`, and at the program that they start.
pub fn checks(root: &Path) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let mut draft = Draft::new(root);
    let mut calls_by_name = false;
    let mut told_without = BTreeSet::new();
    for client in Client::ALL {
        let hook = client.hook_caller();
        let installed = hook.and_then(|caller| settings::installed(root, caller));
        if let Some(installed) = &installed {
            calls_by_name |= installed.calls.iter().any(|program| program == PROGRAM);
            checks.extend(of_hook(client, installed));
        }
        match draft.is_in_use(client) {
            Ok(true) => {
                checks.push(set_up(root, client, installed.is_some_and(|hook| hook.ok)));
                match draft.program(client) {
                    Some(program) if program == PROGRAM => calls_by_name = true,
                    Some(program) if find_program(&program, root).is_none() => checks.push(DoctorCheck::fail(
                        "program",
                        format!("{} starts `{program}`, which is not there", client.id()),
                        "mend its path in the client's entry `tramline`, or call `tm` by its name there",
                    )),
                    _ => {}
                }
            }
            Ok(false) => {
                if let Some(file) = draft.words_without_server(client)
                    && told_without.insert(file)
                {
                    checks.push(DoctorCheck::warn(
                        "client",
                        format!("{file} tells an agent of Tramline, and no client that reads it has the server"),
                        format!("tm init --client {}, or another one; or take the words out again: tm init --remove", client.id()),
                    ));
                }
            }
            Err(fault) => checks.push(DoctorCheck::of("client", fault)),
        }
    }
    if calls_by_name {
        checks.extend(by_name(root));
    }
    checks
}

/// What is wrong with the hook of a client. That the program is not on the path is told once, for all that call it by its name.
fn of_hook(client: Client, installed: &Installed) -> Option<DoctorCheck> {
    let missing = installed.missing.as_deref();
    if installed.ok || missing == Some(PROGRAM) {
        return None;
    }
    let fix = match missing {
        Some(_) => format!(
            "mend the path in {}, or call `tm` by its name there",
            installed.file
        ),
        None => format!("tm init --client {} --hook", client.id()),
    };
    let told = format!("{}: {}", installed.file, installed.message);
    Some(DoctorCheck::fail("hook", told, fix))
}

/// Whether a client is set up as this version does it. What its hook lacks is told apart.
fn set_up(root: &Path, client: Client, hook: bool) -> DoctorCheck {
    let request = Request {
        clients: vec![client],
        remove: false,
        hook,
        user: false,
        test_command: None,
    };
    let plan = match plan(root, &request) {
        Ok(plan) => plan,
        Err(fault) => return DoctorCheck::of("client", fault),
    };
    // A project may do without settings.
    let files = plan.changes.iter().map(|change| change.file.as_str());
    let files: Vec<&str> = files.filter(|file| *file != FILE).collect();
    if files.is_empty() {
        return DoctorCheck::ok("client", format!("{} is set up", client.id()));
    }
    let told = format!(
        "{} is set up otherwise than this version does it: {}",
        client.id(),
        files.join(", ")
    );
    let hook = if hook { " --hook" } else { "" };
    DoctorCheck::warn(
        "client",
        told,
        format!("tm init --client {}{hook}", client.id()),
    )
}

/// What is started by the name of this program: this version of it, one hopes.
fn by_name(root: &Path) -> Option<DoctorCheck> {
    let Some(found) = find_program(PROGRAM, root) else {
        return Some(DoctorCheck::fail(
            "program",
            "`tm` is not on the PATH: no client that is set up here can start it",
            "put the folder of this program on the PATH of whoever starts the client",
        ));
    };
    let shown = found.display();
    // What came with a repository is not run unasked.
    if found.starts_with(root) {
        return Some(DoctorCheck::warn(
            "program",
            format!(
                "clients start {shown}, a file of this project: whoever changes the project changes what is run"
            ),
            "put the folder of this program before it on the PATH",
        ));
    }
    let version = run(&Program {
        argv: vec![found.clone().into(), "--version".into()],
        cwd: root.to_owned(),
        env: Vec::new(),
        whole_environment: false,
        stdin: Vec::new(),
        timeout: TIMEOUT,
        max_stdout: 1024,
        max_stderr: 0,
    });
    let said = version.map(|ended| String::from_utf8_lossy(&ended.stdout).trim().to_owned());
    let own = concat!("tm ", env!("CARGO_PKG_VERSION"));
    match said {
        Ok(said) if said == own => None,
        Ok(said) if said.starts_with("tm ") => Some(DoctorCheck::warn(
            "program",
            format!("clients start {shown}, which is {said}; this is {own}"),
            "update it, or change the order of the PATH",
        )),
        Ok(_) | Err(_) => Some(DoctorCheck::fail(
            "program",
            format!(
                "clients start {shown}, which is another program of that name, and does not answer them"
            ),
            "put the folder of this program before it on the PATH, or its whole path into the clients' entries and hooks",
        )),
    }
}
