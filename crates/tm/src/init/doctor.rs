//! What is wrong with the clients of a project: whether they find this program, and are set up as this version does it.

use std::path::Path;
use std::process::Command;

use engine::DoctorCheck;

use super::client::Client;
use super::{Request, plan};
use crate::hook::settings;

/// Looks at the program that clients start by its name, and at each client that is set up in the project at `root`.
pub fn checks(root: &Path) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let mut any = false;
    for client in Client::ALL {
        let hook = client.hook_caller();
        let installed = hook.and_then(|caller| settings::installed(root, caller));
        let is_in_use = super::is_in_use(root, client);
        if let Some(installed) = &installed
            && !installed.ok
        {
            checks.push(DoctorCheck::fail(
                "hook",
                format!("{}: {}", installed.file, installed.message),
                format!("tm init --client {} --hook", client.id()),
            ));
        }
        any |= is_in_use || installed.is_some();
        if !is_in_use {
            continue;
        }
        let request = Request {
            clients: vec![client],
            remove: false,
            hook: installed.is_some(),
            user: false,
            test_command: None,
        };
        let again = format!("tm init --client {}", client.id());
        checks.push(match plan(root, &request) {
            Ok(plan) => {
                let files: Vec<&str> = plan
                    .changes
                    .iter()
                    .map(|change| change.file.as_str())
                    .collect();
                if files.is_empty() {
                    DoctorCheck::ok("client", format!("{} is set up", client.id()))
                } else {
                    let told = format!(
                        "{} is set up otherwise than this version does it: {}",
                        client.id(),
                        files.join(", ")
                    );
                    DoctorCheck::warn("client", told, again)
                }
            }
            Err(fault) => DoctorCheck::fail("client", fault.message, fault.suggestion),
        });
    }
    if any {
        checks.extend(program(root));
    }
    checks
}

/// What a client starts that calls `tm`: this version of it, one hopes.
fn program(root: &Path) -> Option<DoctorCheck> {
    if !settings::is_there(root, "tm") {
        return Some(DoctorCheck::fail(
            "program",
            "`tm` is not on the PATH: no client that is set up here can start it",
            "put the folder of this program on the PATH of whoever starts the client",
        ));
    }
    let said = Command::new("tm")
        .arg("--version")
        .current_dir(root)
        .output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let own = concat!("tm ", env!("CARGO_PKG_VERSION"));
    match said {
        Ok(said) if said == own => None,
        Ok(said) if said.starts_with("tm ") => Some(DoctorCheck::warn(
            "program",
            format!("the `tm` on the PATH is {said}, and this is {own}: clients start that one"),
            "update it, or change the order of the PATH",
        )),
        Ok(_) | Err(_) => Some(DoctorCheck::fail(
            "program",
            "the `tm` on the PATH is another program: clients start that one, and are not answered",
            "put the folder of this program before it on the PATH, or its whole path into the entries of the clients",
        )),
    }
}
