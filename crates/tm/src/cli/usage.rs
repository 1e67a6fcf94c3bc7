//! A command line that clap refused, as a fault.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use engine::{Fault, Kind};

use super::Cli;

/// Whether clap's "error" is what was asked for: a help text or the version.
pub fn is_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    )
}

/// Whether a command line that could not be parsed asks for JSON.
pub fn wants_json(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .skip(1)
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json")
}

/// What is wrong with a command line.
pub fn usage_fault(error: &clap::Error, arguments: &[OsString]) -> Fault {
    let help = format!("{} --help", command_path(arguments));
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Fault::new(Kind::Usage, "usage", "a command is missing")
            .suggest("choose one of the commands that the help lists")
            .recover(help);
    }
    let rendered = error.render().to_string();
    let body = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let (mut message, mut tips) = (Vec::new(), Vec::new());
    for line in body.lines().map(str::trim) {
        if line.starts_with("Usage:") || line.starts_with("For more information") {
            break;
        }
        match line.strip_prefix("tip: ") {
            Some(tip) => tips.push(tip),
            None if !line.is_empty() => message.push(line),
            None => {}
        }
    }
    let suggestion = match meant(error, arguments) {
        Some(meant) => meant,
        None if tips.is_empty() => "see the help of the command".to_owned(),
        None => tips.join("; "),
    };
    let fault = Fault::new(Kind::Usage, "usage", message.join(" "))
        .suggest(suggestion)
        .recover(help);
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) if !valid.is_empty() => fault.expected(valid.clone()),
        _ => fault,
    }
}

/// What was probably meant by a command line that clap refused, and clap cannot know.
pub fn meant(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
                return None;
            };
            let is_at_top = command_path(arguments) == "tm";
            let families = Cli::command();
            let mut families = families.get_subcommands().filter(|_| is_at_top);
            let family = families.find(|family| family.find_subcommand(word).is_some())?;
            Some(format!("there is `tm {} {word}`", family.get_name()))
        }
        ErrorKind::MissingRequiredArgument if command_path(arguments) == "tm autopilot start" => Some(
            "name a task of the tasks file (`tm tasks list`); or begin without one: `tm autopilot start --title … --subtask …`"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The command that a command line begins with, as far as its words name one.
fn command_path(arguments: &[OsString]) -> String {
    let mut command = Cli::command();
    let mut path = "tm".to_owned();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if word.starts_with('-') {
            continue;
        }
        let Some(found) = command.find_subcommand(word).cloned() else {
            break;
        };
        path.push(' ');
        path.push_str(found.get_name());
        command = found;
    }
    path
}
