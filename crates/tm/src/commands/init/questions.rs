//! What `tm init` alone asks a person for: the clients, the guard hook, the test command.

use clap::ValueEnum as _;
use engine::Fault;
use workspace::config::edit;

use crate::cli::init::Init;
use crate::commands::declined;
use crate::init::client::Client;
use crate::output::Output;
use crate::{person, render};

/// The arguments as the person fills them in. `found` are the clients that seem to be in use.
pub fn answered(arguments: &Init, found: &[Client], output: &mut Output) -> Result<Init, Fault> {
    let mut answered = arguments.clone();
    answered.clients = clients(found, output)?;
    let has_hook = |client: &Client| client.hook_caller().is_some();
    if answered.clients.iter().any(has_hook) {
        let question = "Have it ask `tm` before each edit and git command, so that the rails hold while it works?";
        answered.hook = person::confirm(output, question, true)?;
    }
    let engine = super::super::open(arguments.place.project_root.clone(), None, "tm init");
    // Settings may be broken here; the first command that needs them says so.
    let Ok(engine) = engine else {
        return Ok(answered);
    };
    if let Some(command) = engine.found_test_command() {
        let text = format!("Tests are run by `{command}`.\n");
        output.text(&render::plain(&text))?;
    } else {
        answered.test_command = test_command(output)?;
    }
    output.text("\n")?;
    Ok(answered)
}

fn test_command(output: &mut Output) -> Result<Option<String>, Fault> {
    let question = "What runs the tests, such as `npm test`? [Enter: say it later] ";
    loop {
        let typed = person::ask(output, question)?;
        let Some(typed) = typed.filter(|typed| !typed.is_empty()) else {
            return Ok(None);
        };
        match edit::parse_value("test.command", &typed) {
            Ok(_) => return Ok(Some(typed)),
            Err(error) => {
                let text = render::fault(&Fault::from(error), &output.look());
                output.text(&text)?;
            }
        }
    }
}

fn clients(found: &[Client], output: &mut Output) -> Result<Vec<Client>, Fault> {
    let listed = |clients: &[Client]| {
        let ids: Vec<&str> = clients.iter().map(|client| client.id()).collect();
        ids.join(", ")
    };
    let by_default = if found.is_empty() {
        "none".to_owned()
    } else {
        listed(found)
    };
    output.text(&format!(
        "Which agents work here? Of {}; several with commas, or `none`.\n",
        listed(&Client::ALL)
    ))?;
    loop {
        let Some(typed) = person::ask(output, &format!("[{by_default}] "))? else {
            return Err(declined("tm init"));
        };
        if typed.is_empty() {
            return Ok(found.to_vec());
        }
        if typed == "none" {
            return Ok(Vec::new());
        }
        let names = typed.split([',', ' ']).filter(|name| !name.is_empty());
        match names.map(|name| Client::from_str(name, true)).collect() {
            Ok(clients) => return Ok(clients),
            Err(_) => output.text("That is none of them.\n")?,
        }
    }
}
