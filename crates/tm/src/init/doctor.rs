//! What is wrong with the clients of a project: whether they find this program, and are set up as this version does it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::DoctorCheck;
use workspace::process::{Program, run};

use super::client::Client;
use super::{Draft, Request, plan};
use crate::hook::settings;

/// How this program is called where no path says otherwise.
const BY_NAME: &str = "tm";

/// How long another program that has its name may take to say its version.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Looks at each client that is set up in the project at `root`, and at the program that they start.
pub fn checks(root: &Path) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    // What clients call, as it is written.
    let mut programs = Vec::new();
    for client in Client::ALL {
        let mut draft = Draft::new(root);
        let hook = client.hook_caller();
        let installed = hook.and_then(|caller| settings::installed(root, caller));
        if let Some(installed) = &installed {
            let missing = installed.missing.as_deref();
            // That it is not on the path is told once, for all that call it by its name.
            if !installed.ok && missing != Some(BY_NAME) {
                let fix = match missing {
                    Some(_) => format!(
                        "mend the path in {}, or call `tm` by its name there",
                        installed.file
                    ),
                    None => format!("tm init --client {} --hook", client.id()),
                };
                let told = format!("{}: {}", installed.file, installed.message);
                checks.push(DoctorCheck::fail("hook", told, fix));
            }
            programs.extend(installed.calls.clone());
        }
        match draft.is_in_use(client) {
            Ok(true) => {
                checks.push(set_up(root, client, installed.is_some()));
                programs.extend(draft.program(client));
            }
            Ok(false) => {
                if let Some(file) = draft.words_without_server(client) {
                    checks.push(DoctorCheck::warn(
                        "client",
                        format!("{file} tells an agent of Tramline, and no client that reads it has the server: {} has not", client.id()),
                        format!("tm init --client {}; or take the words out again: tm init --remove", client.id()),
                    ));
                }
            }
            Err(fault) => checks.push(DoctorCheck::fail("client", fault.message, fault.suggestion)),
        }
    }
    for program in &programs {
        if program != BY_NAME && !settings::is_there(root, program) {
            checks.push(DoctorCheck::fail(
                "program",
                format!("a client that is set up here starts `{program}`, which is not there"),
                "mend its path in the client's entry `tramline`, or call `tm` by its name there",
            ));
        }
    }
    if programs.iter().any(|program| program == BY_NAME) {
        checks.extend(by_name(root));
    }
    checks.dedup_by(|a, b| a.message == b.message);
    checks
}

/// Whether a client is set up as this version does it.
fn set_up(root: &Path, client: Client, hook: bool) -> DoctorCheck {
    let request = Request {
        clients: vec![client],
        remove: false,
        hook,
        user: false,
        test_command: None,
    };
    match plan(root, &request) {
        Ok(plan) if plan.changes.is_empty() => {
            DoctorCheck::ok("client", format!("{} is set up", client.id()))
        }
        Ok(plan) => {
            let files = plan.changes.iter().map(|change| change.file.as_str());
            let told = format!(
                "{} is set up otherwise than this version does it: {}",
                client.id(),
                files.collect::<Vec<_>>().join(", ")
            );
            DoctorCheck::warn("client", told, format!("tm init --client {}", client.id()))
        }
        Err(fault) => DoctorCheck::fail("client", fault.message, fault.suggestion),
    }
}

/// What is started by the name of this program: this version of it, one hopes.
fn by_name(root: &Path) -> Option<DoctorCheck> {
    let Some(found) = on_path() else {
        return Some(DoctorCheck::fail(
            "program",
            "`tm` is not on the PATH: no client that is set up here can start it",
            "put the folder of this program on the PATH of whoever starts the client",
        ));
    };
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
    let found = found.display();
    match said {
        Ok(said) if said == own => None,
        Ok(said) if said.starts_with("tm ") => Some(DoctorCheck::warn(
            "program",
            format!("clients start {found}, which is {said}; this is {own}"),
            "update it, or change the order of the PATH",
        )),
        Ok(_) | Err(_) => Some(DoctorCheck::fail(
            "program",
            format!(
                "clients start {found}, which is another program of that name, and does not answer them"
            ),
            "put the folder of this program before it on the PATH, or its whole path into the clients' entries and hooks",
        )),
    }
}

/// The file that is started by the name of this program.
fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(BY_NAME))
        .find(|file| workspace::process::can_be_started(&file.to_string_lossy(), Path::new("/")))
}
