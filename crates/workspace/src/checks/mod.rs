//! Linters, formatters and type checkers that a project has set up, found by its files; and commands of its own for the same. Nothing is
//! run here.
//!
//! A tool is never invented: it counts where the project has settings of it, or where it comes with the language and everybody uses it
//! (`gofmt`, `go vet`, `cargo fmt`).

mod signs;
mod tools;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::config::{Checks, RunChecks};
use crate::suite::{CommandError, CommandLine, one_word};

pub use tools::Stream;

/// A check that is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called: the tool's name, or the one that the settings give.
    pub name: String,
    /// The program and its arguments, without files.
    pub argv: Vec<String>,
    /// Where the program lies; none where it is not installed.
    pub program: Option<PathBuf>,
    /// What stands for all files; where it takes files, these stand in its place.
    pub all: Vec<String>,
    /// The endings of the files that it is about, where it takes files.
    pub endings: Option<&'static [&'static str]>,
    /// The name of the format of what it prints; none where that is told by its content.
    pub format: Option<&'static str>,
    /// Where it prints that.
    pub stream: Stream,
    /// The exit statuses besides 0 that say that there are findings; any does where none is known.
    pub statuses: &'static [i32],
    /// How much it has to make of a finding for that to count: `error`, `warning` or `note`.
    pub least: &'static str,
    /// How its findings are mended, where it does that itself.
    pub fix: &'static str,
    /// Names of files that set it up for a folder, wherever they lie, or have it overlook some.
    pub nested: &'static [&'static str],
    /// What of the project's files sets it up.
    pub settings: Vec<CheckSettings>,
}

impl Check {
    /// The command as one types it, for all files.
    pub fn line(&self) -> String {
        let words = self.argv.iter().chain(&self.all);
        let words: Vec<String> = words.map(|word| one_word(word)).collect();
        words.join(" ")
    }

    /// The command for these files, or all where it takes none.
    pub fn argv_for(&self, files: &[String]) -> Vec<String> {
        let rest = if self.endings.is_some() && !files.is_empty() {
            files
        } else {
            &self.all
        };
        let program = self.program.as_ref();
        let program = program.map(|program| program.to_string_lossy().into_owned());
        let mut argv = self.argv.clone();
        if let (Some(program), Some(first)) = (program, argv.first_mut()) {
            *first = program;
        }
        argv.extend(rest.iter().cloned());
        argv
    }

    /// Whether a file is one of those that it is about.
    pub fn is_about(&self, name: &str) -> bool {
        self.endings.is_none_or(|endings| {
            endings.iter().any(|ending| {
                name.strip_suffix(ending)
                    .is_some_and(|rest| rest.ends_with('.'))
            })
        })
    }
}

/// A file that sets a check up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSettings {
    /// Its name, relative to the root.
    pub file: String,
    /// What of it is about the check.
    pub text: String,
}

/// The checks of a project: those that its files tell of, and those of its settings, which win. `top` is the top of its repository.
pub fn found(root: &Path, top: &Path, settings: &Checks) -> Result<Vec<Check>, CommandError> {
    if settings.run == RunChecks::Off {
        return Ok(Vec::new());
    }
    let mut all: IndexMap<String, Check> = IndexMap::new();
    for tool in tools::TOOLS {
        let files = signs::present(root, tool.signs);
        if !files.is_empty() && !settings.without.iter().any(|name| name == tool.name) {
            all.insert(tool.name.to_owned(), tool.check((root, top), files));
        }
    }
    for (name, command) in &settings.commands {
        let line = CommandLine::parse(command)?;
        // What sets the tool up whose place it takes sets it up as well.
        let settings = all.get(name).map(|tool| tool.settings.clone());
        let nested = all.get(name).map_or(&[][..], |tool| tool.nested);
        let own = Check {
            settings: settings.unwrap_or_default(),
            nested,
            ..of_command((root, top), name, line)
        };
        all.insert(name.clone(), own);
    }
    Ok(all.into_values().collect())
}

/// A command of the project's own, of which nothing is known but its name.
fn of_command(place: (&Path, &Path), name: &str, line: CommandLine) -> Check {
    let program = line.argv.first().map(String::as_str).unwrap_or_default();
    Check {
        name: name.to_owned(),
        program: tools::Of::Any.find(program, place),
        argv: line.argv,
        all: Vec::new(),
        endings: None,
        format: None,
        stream: Stream::Both,
        statuses: &[],
        least: "warning",
        fix: "",
        settings: Vec::new(),
        nested: &[],
    }
}
