//! What a command line says, whatever its command is.

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

use super::{Cli, Command};
use crate::calls::FamilyCall;
use crate::steps::{Caller, Form};

/// What a command line says, whatever its command is.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The command, as it is typed: `tm autopilot next`.
    pub name: String,
    /// Whether the answer is to be JSON.
    json: bool,
}

impl Given {
    fn of(mut matches: &ArgMatches) -> Self {
        let mut given = Self {
            name: "tm".to_owned(),
            ..Self::default()
        };
        while let Some((name, below)) = matches.subcommand() {
            matches = below;
            given.name = format!("{} {name}", given.name);
            given.json |= matches.try_get_one("json").ok().flatten() == Some(&true);
        }
        given
    }
}

impl Cli {
    /// The command of these words, and what they say whatever it is.
    ///
    /// # Errors
    /// Says what is wrong with the words, or holds the help that they ask for.
    pub fn read(words: &[std::ffi::OsString]) -> Result<(Self, Given), clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(words)?;
        let cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((cli, Given::of(&matches)))
    }

    /// Who is answered: the family of commands, and the run that is named.
    pub fn caller(&self) -> Caller {
        let (form, run) = match &self.command {
            Command::Call(call) => (call.family.form(), call.run.clone()),
            Command::Demo(_) | Command::Hook(_) => (Form::of_view("autopilot"), None),
            _ => (Form::RUN, None),
        };
        Caller::at_a_shell(form, run)
    }

    /// Whether the answer is to be JSON.
    pub fn json(&self, given: &Given) -> bool {
        let draws_json = |call: &FamilyCall| call.arguments.text("format") == Some("json");
        given.json || matches!(&self.command, Command::Call(call) if draws_json(call))
    }
}
