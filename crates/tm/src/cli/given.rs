//! What a command line says, whatever its command is.

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

use super::session::SessionCommand;
use super::{Cli, Command};
use crate::steps::{Caller, Form};

/// What a command line says, whatever its command is.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The command, as it is typed: `tm autopilot next`.
    pub name: String,
    /// The run or session that is named.
    run: Option<String>,
    /// The work unit that a turn is decided on at.
    pub unit: Option<String>,
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
            let text = |id| matches.try_get_one::<String>(id).ok().flatten().cloned();
            let named = ["run_id", "named", "positional", "session"];
            given.run = named.into_iter().find_map(text).or(given.run);
            given.unit = text("unit");
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
    pub fn caller(&self, given: &Given) -> Caller {
        let run = given.run.clone();
        let (form, run) = match &self.command {
            Command::Autopilot(_) | Command::Rewind(_) | Command::Adopt(_) => {
                (Form::Autopilot, run)
            }
            Command::Run(_) => (Form::Run, run),
            Command::Session(session) => match &session.command {
                SessionCommand::Show(show) => (Form::Session, show.meant().0.map(str::to_owned)),
                _ => (Form::Session, run),
            },
            Command::Collab(_) => (Form::Collab, run),
            Command::Demo(_) | Command::Hook(_) => (Form::Autopilot, None),
            _ => (Form::Run, None),
        };
        Caller::at_a_shell(form, run)
    }

    /// Whether the answer is to be JSON.
    pub fn json(&self, given: &Given) -> bool {
        given.json || matches!(&self.command, Command::Collab(collab) if collab.draws_json())
    }
}
