//! The families of commands, as clap knows them, and what is read of a command line.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{
    Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches, Subcommand, ValueHint,
    value_parser,
};
use engine::capability::tests::evidence::show;
use serde_json::{Map, Value, json};

use super::{Argument, Arguments, Call, Family, Kind, each, families};
use crate::cli::{Place, ProjectPlace};

/// A call of a family, as it was typed.
#[derive(Debug, Clone)]
pub struct FamilyCall {
    /// The family.
    pub family: &'static Family,
    /// The call.
    pub call: &'static Call,
    /// The project's folder.
    pub project_root: Option<PathBuf>,
    /// The tag.
    pub tag: Option<String>,
    /// The run or session that is named.
    pub run: Option<String>,
    /// The work unit that a turn was decided on at.
    pub at: Option<String>,
    /// The key by which a person signs.
    pub sign: Option<PathBuf>,
    /// Whether the run is gone through step by step with a person.
    pub interactive: bool,
    /// What else is said.
    pub arguments: Arguments,
}

impl Subcommand for FamilyCall {
    fn augment_subcommands(command: Command) -> Command {
        families().iter().fold(command, |command, family| {
            let top = family.top.iter().filter_map(|(name, help)| {
                let call = family.call(name)?;
                Some(in_place(family, call.command(), help))
            });
            command.subcommand(family_command(family)).subcommands(top)
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        let is_it = |family: &Family| family.name == name || family.top.contains_key(name);
        families().iter().any(is_it)
    }
}

impl FromArgMatches for FamilyCall {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::read(matches).ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl FamilyCall {
    fn read(matches: &ArgMatches) -> Option<Self> {
        let (name, below) = matches.subcommand()?;
        let named = families().iter().find(|family| family.name == name);
        let (family, (name, matches)) = if let Some(family) = named {
            (family, below.subcommand()?)
        } else {
            let is_top = |family: &&Family| family.top.contains_key(name);
            (families().iter().find(is_top)?, (name, below))
        };
        let call = family.call(name)?;
        let mut arguments = Map::new();
        for argument in each(&family.everywhere)
            .into_iter()
            .chain(each(&call.takes))
        {
            if argument.help.is_some()
                && let Some(value) = argument.value_in(matches)
            {
                arguments.insert(argument.name.clone(), value);
            }
        }
        let mut arguments = Arguments::from(arguments);
        let word = arguments.take_text("session");
        Some(Self {
            family,
            call,
            project_root: matches.get_one("project_root").cloned(),
            // Not every family has tags.
            tag: matches.try_get_one("tag").ok().flatten().cloned(),
            run: arguments.take_text("run").or(word),
            at: arguments.take_text("at"),
            sign: arguments.take_text("sign").map(PathBuf::from),
            interactive: arguments.take("interactive").is_some(),
            arguments,
        })
    }
}

/// A family of commands.
pub fn family_command(family: &'static Family) -> Command {
    let calls = family.calls.iter().filter(|call| call.help.is_some());
    let calls = calls.map(Call::command);
    let command = Command::new(family.name.as_str())
        .subcommand_required(true)
        .arg_required_else_help(true);
    in_place(family, command, &family.help)
        .args(
            each(&family.everywhere)
                .into_iter()
                .map(|argument| argument.as_clap().global(true).help_heading("Everywhere")),
        )
        .subcommands(calls)
}

/// A command with its help, and the arguments that say where it works.
fn in_place(family: &Family, command: Command, help: &'static str) -> Command {
    let command = if family.of_tags {
        Place::augment_args(command)
    } else {
        ProjectPlace::augment_args(command)
    };
    with_help(command, help)
}

/// A command with its help: the first paragraph alone where there is little room.
fn with_help(command: Command, help: &'static str) -> Command {
    match help.split_once("\n\n") {
        Some((first, _)) => command.about(first).long_about(help),
        None => command.about(help),
    }
}

impl Call {
    fn command(&'static self) -> Command {
        let arguments = each(&self.takes).into_iter();
        let arguments = arguments.filter(|argument| argument.help.is_some());
        let command = Command::new(self.name.as_str())
            .aliases(self.aliases.iter().map(String::as_str))
            .allow_missing_positional(self.first_may_miss)
            .args(arguments.map(Argument::as_clap));
        let command = match &self.examples {
            Some(examples) => command.after_long_help(examples.as_str()),
            None => command,
        };
        with_help(command, self.help.as_deref().unwrap_or_default())
    }
}

impl Argument {
    /// It as an argument of a command.
    fn as_clap(&'static self) -> Arg {
        let help = self.help.as_deref().unwrap_or_default();
        let mut option = self
            .valued(Arg::new(self.name.as_str()))
            .required(self.required)
            .conflicts_with_all(self.excludes.iter().map(String::as_str))
            .required_unless_present_any(self.unless.iter().map(String::as_str));
        option = match help.split_once("\n\n") {
            Some((first, _)) => option.help(first).long_help(help),
            None => option.help(help),
        };
        option = match &self.word {
            Some(word) => option.value_name(word.as_str()),
            None => option.long(self.option()),
        };
        if let Some(value) = &self.value {
            option = option.value_name(value.as_str());
        }
        if let Some(short) = self.short {
            option = option.short(short);
        }
        if let Some(alias) = &self.alias {
            option = option.alias(alias.as_str());
        }
        if let Some(default) = &self.default {
            option = option
                .default_value(default.as_str())
                .hide_default_value(default.is_empty());
        }
        match &self.requires {
            Some(requires) => option.requires(requires.as_str()),
            None => option,
        }
    }

    /// An argument with what values it takes.
    fn valued(&'static self, option: Arg) -> Arg {
        match self.kind {
            Kind::Text if !self.values.is_empty() => {
                let value = |(name, help): (&'static String, &'static String)| {
                    PossibleValue::new(name.as_str()).help(help.as_str())
                };
                option.value_parser(PossibleValuesParser::new(self.values.iter().map(value)))
            }
            Kind::Text | Kind::Items => option,
            Kind::Switch => option.action(ArgAction::SetTrue),
            Kind::Bool => option.value_parser(value_parser!(bool)),
            Kind::OptionalBool => option
                .value_parser(value_parser!(bool))
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true"),
            Kind::Number => option.value_parser(value_parser!(u32)),
            Kind::Count => option.value_parser(value_parser!(u32).range(1..)),
            Kind::Path => path(option),
            Kind::Paths => path(option).action(ArgAction::Append),
            Kind::Texts => option.action(ArgAction::Append),
            Kind::List => option.action(ArgAction::Append).value_delimiter(','),
            Kind::Pairs => option.value_parser(pair).action(ArgAction::Append),
            Kind::Object => option.value_parser(json_object),
            Kind::Format => option
                .value_parser(PossibleValuesParser::new(show::test_formats()))
                .hide_possible_values(true),
        }
    }

    /// What a command line says of it; none where it says nothing.
    fn value_in(&self, matches: &ArgMatches) -> Option<Value> {
        let name = self.name.as_str();
        Some(match self.kind {
            Kind::Switch => Value::from(matches.get_flag(name).then_some(true)?),
            Kind::Bool | Kind::OptionalBool => (*matches.get_one::<bool>(name)?).into(),
            Kind::Number | Kind::Count => (*matches.get_one::<u32>(name)?).into(),
            Kind::Text | Kind::Format | Kind::Path | Kind::Items => {
                matches.get_one::<String>(name)?.as_str().into()
            }
            Kind::Texts | Kind::Paths | Kind::List => {
                let all = matches.get_many::<String>(name)?;
                // A comma too many names nothing.
                let all = all.filter(|text| self.kind != Kind::List || !text.is_empty());
                all.map(String::as_str).collect()
            }
            Kind::Pairs => json!(
                matches
                    .get_many::<(String, String)>(name)?
                    .collect::<Vec<_>>()
            ),
            Kind::Object => matches.get_one::<Map<String, Value>>(name)?.clone().into(),
        })
    }
}

/// An argument whose value is a path. The arguments of a call are JSON: one that is no UTF-8 is refused.
fn path(option: Arg) -> Arg {
    option
        .value_parser(NonEmptyStringValueParser::new())
        .value_hint(ValueHint::AnyPath)
}

/// A name and what it is to be.
fn pair(given: &str) -> Result<(String, String), String> {
    given
        .split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .ok_or_else(|| "it has no `=`".to_owned())
}

/// A JSON object.
fn json_object(given: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(given).map_err(|error| {
        format!("this is no JSON object, such as {{\"name\": \"value\"}}: {error}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_typed_as_pairs_and_as_json() {
        assert_eq!(
            pair("b = x=y").unwrap(),
            ("b".to_owned(), " x=y".to_owned())
        );
        assert!(pair("a").is_err());
        for broken in ["[1]", "{"] {
            assert!(json_object(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_value_that_is_no_utf_8_is_refused() {
        use std::ffi::{OsStr, OsString};
        use std::os::unix::ffi::OsStrExt as _;
        for words in [
            "session respond",
            "autopilot start --plan",
            "run report --report",
            "session approve --sign",
        ] {
            let mut command: Vec<OsString> = vec!["tm".into()];
            command.extend(words.split(' ').map(Into::into));
            command.push("x.md".into());
            assert!(crate::cli::Cli::read(&command).is_ok(), "{words}");
            *command.last_mut().unwrap() = OsStr::from_bytes(b"\xff.md").to_owned();
            let error = crate::cli::Cli::read(&command).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidUtf8, "{words}");
            assert_eq!(crate::cli::usage_fault(&error, &command).code, "usage");
        }
    }
}
