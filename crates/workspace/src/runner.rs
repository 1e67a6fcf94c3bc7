//! The command that runs a project's tests, and the framework behind it, found from the
//! project's files. Nothing is run.
//!
//! Each way of testing has a detector with a name, which `test.runner` may give. With `auto`
//! they are asked in this order, and the first that finds tests to run is taken; the others
//! are named in a note:
//!
//! `node` (a `test` script in package.json, or a known framework among its dependencies),
//! `cargo`, `go`, `python`, `maven`, `gradle`, `dotnet`, `mix`, `php`, `ruby`, `deno`, `swift`,
//! `dart`, `cmake` (with `CTest`), `make` (a `test` target), `just` (a `test` recipe).

pub mod adapter;
mod below;
mod compiled;
pub mod definition;
pub mod editable;
pub mod identity;
mod node;
mod places;
pub mod program;
mod scripted;
mod targets;

pub use below::projects_below;
pub use places::tests_named;

use std::fmt;
use std::path::Path;

use thiserror::Error;

use crate::convention::paths::{Language, default_test_patterns};
use crate::convention::read_manifest;
use text::nearest;

/// How a project's tests are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSetup {
    /// The command line, for the project root; words are separated by single spaces and need
    /// no shell.
    pub command: String,
    /// The framework's name, such as `vitest`; `unknown` where the files do not tell.
    pub framework: String,
    /// Globs of the test files by this framework's conventions.
    pub patterns: Vec<String>,
    /// The name of the detector that found it.
    pub detector: &'static str,
    /// What the project has written behind the command's name, where that decides what really
    /// runs: the script of package.json, the recipe of a `test` target.
    pub definition: Option<String>,
}

/// What was found, with what had to be passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detection {
    /// How the tests are run, if any detector could tell.
    pub setup: Option<TestSetup>,
    /// What the user may want to know: manifests that could not be read, other candidates.
    pub notes: Vec<Note>,
}

/// A remark on the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A manifest was passed over.
    Unreadable {
        /// Its name, relative to the project root.
        file: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Other detectors would have found tests as well.
    AlsoFound {
        /// The one taken.
        taken: &'static str,
        /// The others, in order of preference.
        others: Vec<&'static str>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, problem } => {
                write!(
                    f,
                    "{file} was passed over in the search for a test command: {problem}"
                )
            }
            Self::AlsoFound { taken, others } => write!(
                f,
                "tests are run by `{taken}`; `{}` would do too (set test.runner or test.command to choose)",
                others.join("`, `")
            ),
        }
    }
}

/// A search that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunnerError {
    /// `test.runner` names no detector.
    #[error("test.runner is `{name}`, but there is no such runner")]
    UnknownRunner {
        /// The name that was given.
        name: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
}

impl RunnerError {
    /// What the user can do about it.
    pub fn suggestion(&self) -> String {
        let Self::UnknownRunner { nearest, .. } = self;
        match nearest {
            Some(name) => format!("set test.runner to `{name}`, or to `auto` to have it found"),
            None => format!(
                "set test.runner to one of: auto, {}",
                runner_names().collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

/// What one detector found.
struct RunnerMatch {
    command: String,
    framework: String,
    languages: &'static [Language],
    definition: Option<String>,
}

impl RunnerMatch {
    fn new(
        command: impl Into<String>,
        framework: impl Into<String>,
        languages: &'static [Language],
    ) -> Self {
        Self {
            command: command.into(),
            framework: framework.into(),
            languages,
            definition: None,
        }
    }
}

type Detector = fn(&Path, &mut Vec<Note>) -> Option<RunnerMatch>;

/// In order of preference.
const DETECTORS: &[(&str, Detector)] = &[
    ("node", node::node),
    ("cargo", compiled::cargo),
    ("go", compiled::go),
    ("python", scripted::python),
    ("maven", compiled::maven),
    ("gradle", compiled::gradle),
    ("dotnet", compiled::dotnet),
    ("mix", scripted::mix),
    ("php", scripted::php),
    ("ruby", scripted::ruby),
    ("deno", node::deno),
    ("swift", compiled::swift),
    ("dart", compiled::dart),
    ("cmake", compiled::cmake),
    ("make", targets::make),
    ("just", targets::just),
];

/// Names that people may give for what a detector covers.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("npm", "node"),
    ("pnpm", "node"),
    ("yarn", "node"),
    ("bun", "node"),
    ("jest", "node"),
    ("vitest", "node"),
    ("mocha", "node"),
    ("ava", "node"),
    ("javascript", "node"),
    ("typescript", "node"),
    ("rust", "cargo"),
    ("nextest", "cargo"),
    ("golang", "go"),
    ("pytest", "python"),
    ("unittest", "python"),
    ("tox", "python"),
    ("mvn", "maven"),
    ("junit", "maven"),
    ("csharp", "dotnet"),
    ("xunit", "dotnet"),
    ("nunit", "dotnet"),
    ("elixir", "mix"),
    ("exunit", "mix"),
    ("phpunit", "php"),
    ("pest", "php"),
    ("composer", "php"),
    ("rspec", "ruby"),
    ("minitest", "ruby"),
    ("rake", "ruby"),
    ("flutter", "dart"),
    ("ctest", "cmake"),
    ("makefile", "make"),
    ("justfile", "just"),
];

/// The names that `test.runner` may have besides `auto`, in order of preference.
pub fn runner_names() -> impl Iterator<Item = &'static str> {
    DETECTORS.iter().map(|(name, _)| *name)
}

/// Finds how the tests of the project at `root` are run. `runner` is `auto` or the name of a
/// detector (see [`runner_names`]), which then is the only one asked.
pub fn detect(root: &Path, runner: &str) -> Result<Detection, RunnerError> {
    let mut notes = Vec::new();
    if runner != "auto" {
        let Some((name, detector)) = DETECTORS.iter().find(|(name, _)| *name == runner) else {
            return Err(unknown_runner(runner));
        };
        let setup = detector(root, &mut notes).map(|found| set_up(root, name, found));
        return Ok(Detection { setup, notes });
    }
    let mut taken: Option<TestSetup> = None;
    let mut others = Vec::new();
    for (name, detector) in DETECTORS {
        let Some(found) = detector(root, &mut notes) else {
            continue;
        };
        match taken {
            None => taken = Some(set_up(root, name, found)),
            // A target or recipe usually just calls what was found before it.
            Some(_) if matches!(*name, "make" | "just") => {}
            Some(_) => others.push(*name),
        }
    }
    if let Some(setup) = &taken
        && !others.is_empty()
    {
        notes.push(Note::AlsoFound {
            taken: setup.detector,
            others,
        });
    }
    Ok(Detection {
        setup: taken,
        notes,
    })
}

fn unknown_runner(name: &str) -> RunnerError {
    let lower = name.trim().to_lowercase();
    let other = OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == lower)
        .map(|(_, runner)| *runner);
    RunnerError::UnknownRunner {
        name: name.to_owned(),
        nearest: other.or_else(|| nearest(&lower, runner_names().chain(["auto"]))),
    }
}

fn set_up(root: &Path, detector: &'static str, found: RunnerMatch) -> TestSetup {
    let mut patterns = places::patterns(&found.framework, found.languages);
    if found.languages.is_empty() {
        patterns.extend(default_test_patterns().map(str::to_owned));
    }
    if found.framework == "pytest" {
        patterns.extend(places::of_pytest(root));
    }
    TestSetup {
        command: found.command,
        framework: found.framework,
        patterns,
        detector,
        definition: found.definition,
    }
}

/// The TOML manifest `name`, if there is one; one that does not parse is noted.
fn toml_manifest(root: &Path, name: &'static str, notes: &mut Vec<Note>) -> Option<toml::Table> {
    manifest(root, name, notes, |text| {
        text.parse::<toml::Table>()
            .map_err(|error| error.message().to_owned())
    })
}

/// The JSON manifest `name`, if there is one; one that does not parse is noted.
fn json_manifest(
    root: &Path,
    name: &'static str,
    notes: &mut Vec<Note>,
) -> Option<serde_json::Value> {
    manifest(root, name, notes, |text| {
        serde_json::from_str(text).map_err(|error| error.to_string())
    })
}

fn manifest<T>(
    root: &Path,
    name: &'static str,
    notes: &mut Vec<Note>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let path = root.join(name);
    if !path.exists() {
        return None;
    }
    let parsed = read_manifest(&path)
        .ok_or_else(|| "it is no readable text file of up to 1 MiB".to_owned())
        .and_then(|text| parse(&text));
    match parsed {
        Ok(parsed) => Some(parsed),
        Err(problem) => {
            notes.push(Note::Unreadable {
                file: name,
                problem,
            });
            None
        }
    }
}
