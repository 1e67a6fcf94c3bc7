//! From files to a profile, with everything proved that can be proved before a session begins.

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use serde_saphyr::{Error, Spanned};

use super::definition::{
    Definition, FORMAT, InputDefinition, Kind, ReaderName, ResponseDefinition,
};
use super::error::{Place, ProfileError};
use super::folder::{Files, MOST_TEMPLATE_BYTES, PROFILE_FILE};
use super::inputs::{Input, shown_choices};
use super::phase::{PerPhase, Phase};
use super::{Profile, Reader, Source};
use crate::convention::paths::glob;
use crate::template;
use text::plain;
use text::yaml::Limits;

/// What is read of a profile.
const LIMITS: Limits = Limits {
    what: "profile",
    levels: 16,
    values: 5_000,
    aliases: 100,
};
/// How many inputs it may take.
const MOST_INPUTS: usize = 100;
/// The longest name of an input, in bytes.
const MOST_INPUT_NAME: usize = 64;
/// How long a command may take where nothing is said, in seconds.
const USUAL_TIMEOUT: u64 = 60;
/// How long it may take at most, in seconds.
const MOST_TIMEOUT: u64 = 3_600;

const SEE_SCHEMA: &str = "see the JSON Schema of profiles, or compare with a profile that works";

/// A place in a file of a profile.
pub(super) fn place(source: &Source, name: &str, file: &str, line: u32, column: u32) -> Place {
    let folder = source.folder().unwrap_or(Path::new(name));
    Place {
        file: folder.join(file),
        line,
        column,
    }
}

/// Where faults of a definition are shown.
struct Faults<'a> {
    source: &'a Source,
    name: &'a str,
}

impl Faults<'_> {
    fn at(
        &self,
        location: serde_saphyr::Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ProfileError {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let (line, column) = (number(location.line()), number(location.column()));
        self.in_file(PROFILE_FILE, line, column, message, help)
    }

    fn in_file(
        &self,
        file: &str,
        line: u32,
        column: u32,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ProfileError {
        let column = if line > 0 { column.max(1) } else { 0 };
        ProfileError::Invalid {
            place: Box::new(place(self.source, self.name, file, line, column)),
            message: shortened(&message.into()),
            help: shortened(&help.into()),
        }
    }
}

/// What a message takes from a file: on one line, and not all of it if that is long.
fn shortened(text: &str) -> String {
    /// In visible characters.
    const MOST: usize = 600;
    text::shortened(text, MOST)
}

/// Reads a profile and proves it.
pub(super) fn profile(name: &str, source: Source, files: &Files) -> Result<Profile, ProfileError> {
    let faults = Faults {
        source: &source,
        name,
    };
    let Some(file) = files.all.get(PROFILE_FILE) else {
        return Err(faults.in_file(
            PROFILE_FILE,
            0,
            0,
            "the file is missing",
            format!("a profile is a folder with a {PROFILE_FILE}"),
        ));
    };
    let text = std::str::from_utf8(&file.bytes).map_err(|_| {
        faults.in_file(
            PROFILE_FILE,
            0,
            0,
            "this is no UTF-8 text",
            "write it as UTF-8",
        )
    })?;
    let definition = parse(&faults, text)?;
    let inputs = inputs(&faults, &definition)?;
    let responses = responses(&faults, &definition)?;
    let commands = responses
        .iter()
        .any(|(_, reader)| matches!(reader, Reader::Command { .. }));
    if commands && source == Source::Builtin {
        return Err(faults.in_file(
            PROFILE_FILE,
            0,
            0,
            "a built-in profile has no commands",
            "read its responses with the readers of the program",
        ));
    }
    let prompts = PerPhase {
        planning: definition.prompts.planning,
        generation: definition.prompts.generation,
        review: definition.prompts.review,
        revision: definition.prompts.revision,
    };
    let view = super::view::shape(&inputs);
    let template_text = |file: &str| match files.all.get(file) {
        None => Ok(None),
        Some(found) if found.bytes.len() > MOST_TEMPLATE_BYTES => Err(format!(
            "the template {file} is larger than {MOST_TEMPLATE_BYTES} bytes"
        )),
        Some(found) => match std::str::from_utf8(&found.bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(format!("the template {file} is no UTF-8 text")),
        },
    };
    let mut texts = std::collections::BTreeMap::from([(PROFILE_FILE.to_owned(), text.to_owned())]);
    for (phase, prompt) in prompts.iter() {
        if !files.all.contains_key(&prompt.value) {
            return Err(faults.at(
                prompt.referenced,
                format!("there is no template {} for {phase}", prompt.value),
                "write it into the profile's folder, or name another one under `prompts`",
            ));
        }
        let used = template::check(&prompt.value, &template_text, &view).map_err(|found| {
            faults.in_file(
                &found.file,
                found.line,
                found.column,
                found.message,
                found.help,
            )
        })?;
        for file in used {
            if let Ok(Some(text)) = template_text(&file) {
                texts.insert(file, text.to_owned());
            }
        }
    }
    let title = plain::one_line(&definition.title.value);
    if title.is_empty() || definition.title.value.trim().contains('\n') {
        return Err(faults.at(
            definition.title.referenced,
            "the title is no line of text",
            "say in one line what the profile is for",
        ));
    }
    Ok(Profile {
        name: name.to_owned(),
        title,
        inputs,
        prompts: PerPhase {
            planning: prompts.planning.value,
            generation: prompts.generation.value,
            review: prompts.review.value,
            revision: prompts.revision.value,
        },
        responses,
        hash: files.hash(),
        shadows: definition.shadows,
        texts,
        source,
    })
}

fn parse(faults: &Faults<'_>, text: &str) -> Result<Definition, ProfileError> {
    let definition: Definition = serde_saphyr::from_str_with_options(text, LIMITS.options())
        .map_err(|error| unreadable(faults, &error))?;
    if definition.version.value != FORMAT {
        return Err(faults.at(
            definition.version.referenced,
            format!(
                "this profile is written in version {} of the format; this program reads version {FORMAT}",
                definition.version.value
            ),
            format!("use a newer tm, or write the file in version {FORMAT}"),
        ));
    }
    Ok(definition)
}

fn unreadable(faults: &Faults<'_>, error: &Error) -> ProfileError {
    let (message, help) = LIMITS.explain(error.without_snippet());
    let help = help.unwrap_or_else(|| SEE_SCHEMA.to_owned());
    match error.location().filter(|location| location.line() > 0) {
        Some(location) => faults.at(location, message, help),
        None => faults.in_file(PROFILE_FILE, 1, 1, message, help),
    }
}

fn inputs(
    faults: &Faults<'_>,
    definition: &Definition,
) -> Result<IndexMap<String, Input>, ProfileError> {
    let mut inputs = IndexMap::new();
    for (name, declared) in &definition.inputs {
        let fault = |message: String, help: &str| faults.at(declared.referenced, message, help);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !begins || !name.chars().all(word) || name.len() > MOST_INPUT_NAME {
            return Err(fault(
                format!("{name:?} cannot be the name of an input"),
                "use letters, digits and `_`, at most 64 of them, with a letter first: templates name it `inputs.NAME`",
            ));
        }
        if inputs.len() == MOST_INPUTS {
            return Err(fault(
                format!("there are more than {MOST_INPUTS} inputs"),
                "ask for less",
            ));
        }
        let input = input(&declared.value)
            .map_err(|(message, help)| fault(format!("the input `{name}` {message}"), help))?;
        inputs.insert(name.clone(), input);
    }
    Ok(inputs)
}

fn input(declared: &InputDefinition) -> Result<Input, (String, &'static str)> {
    let kind = declared.kind;
    let choices = declared.choices.clone().unwrap_or_default();
    if declared.choices.is_some() {
        // The entries of a list are single lines.
        let of_choice = match kind {
            Kind::List => Kind::String,
            Kind::Bool | Kind::Text => {
                return Err((
                    format!("is of type {kind}, which has no choices"),
                    "take the choices away, or use another type",
                ));
            }
            kind => kind,
        };
        if choices.is_empty() {
            return Err((
                "has no choices".to_owned(),
                "name at least one, or leave them out",
            ));
        }
        if let Some(odd) = choices.iter().find(|choice| !of_choice.admits(choice)) {
            return Err((
                format!("has a choice that is not {}: {odd}", of_choice.takes()),
                "write values of the type; a number or a word such as `yes` becomes text in quotes",
            ));
        }
    }
    let input = Input {
        kind,
        required: declared.required,
        default: declared.default.clone(),
        choices,
        description: plain::one_line(declared.description.as_deref().unwrap_or_default()),
    };
    if let Some(default) = &input.default {
        if input.required {
            return Err((
                "is required and has a default".to_owned(),
                "take one of the two away",
            ));
        }
        if !kind.admits(default) {
            return Err((
                format!("has a default that is not {}: {default}", kind.takes()),
                "write a value of the type; a number or a word such as `yes` becomes text in quotes",
            ));
        }
        if !input.is_choice(default) {
            return Err((
                format!(
                    "has a default that is none of {}: {default}",
                    shown_choices(&input.choices).join(", ")
                ),
                "make it one of the choices",
            ));
        }
    }
    Ok(input)
}

fn responses(
    faults: &Faults<'_>,
    definition: &Definition,
) -> Result<PerPhase<Reader>, ProfileError> {
    let said = &definition.responses;
    let read = |phase: Phase, said: &Option<Spanned<ResponseDefinition>>| match said {
        Some(said) => reader(faults, phase, said),
        None => Ok(usual(phase)),
    };
    let generation = read(Phase::Generation, &said.generation)?;
    let revision = match &said.revision {
        None => generation.clone(),
        Some(revision) => {
            let own = reader(faults, Phase::Revision, revision)?;
            match (own, &generation) {
                (Reader::Bundle { .. }, Reader::Bundle { allow })
                    if revision.value.allow.is_none() =>
                {
                    Reader::Bundle {
                        allow: allow.clone(),
                    }
                }
                (own, _) => own,
            }
        }
    };
    Ok(PerPhase {
        planning: read(Phase::Planning, &said.planning)?,
        generation,
        review: read(Phase::Review, &said.review)?,
        revision,
    })
}

fn usual(phase: Phase) -> Reader {
    match phase {
        Phase::Planning => Reader::Plan {
            headings: Vec::new(),
        },
        Phase::Generation | Phase::Revision => Reader::Bundle { allow: Vec::new() },
        Phase::Review => Reader::Verdict,
    }
}

fn reader(
    faults: &Faults<'_>,
    phase: Phase,
    said: &Spanned<ResponseDefinition>,
) -> Result<Reader, ProfileError> {
    let fault = |message: String, help: &str| Err(faults.at(said.referenced, message, help));
    let response = &said.value;
    if let Some(argv) = &response.command {
        if response.read.is_some() || response.headings.is_some() || response.allow.is_some() {
            return fault(
                format!("the response of {phase} is read by a command and by a reader"),
                "keep `command` and `timeout`, or `read` with what belongs to it",
            );
        }
        let program = argv.first().map(String::as_str).unwrap_or_default();
        if program.trim().is_empty() || argv.iter().any(|word| word.contains('\0')) {
            return fault(
                format!("the command of {phase} names no program"),
                "write the program and its arguments as a list: `[python3, process.py]`",
            );
        }
        let timeout = response.timeout.unwrap_or(USUAL_TIMEOUT);
        if !(1..=MOST_TIMEOUT).contains(&timeout) {
            return fault(
                format!("the command of {phase} cannot take {timeout} s"),
                "give it between 1 and 3600 seconds",
            );
        }
        return Ok(Reader::Command {
            argv: argv.clone(),
            timeout: Duration::from_secs(timeout),
        });
    }
    if response.timeout.is_some() {
        return fault(
            format!("the response of {phase} has a `timeout`, and no command"),
            "take it away, or name a `command`",
        );
    }
    let usual = usual(phase);
    let fitting = match &usual {
        Reader::Plan { .. } => ReaderName::Plan,
        Reader::Verdict => ReaderName::Verdict,
        Reader::Bundle { .. } | Reader::Command { .. } => ReaderName::Bundle,
    };
    if response.read.is_some_and(|read| read != fitting) {
        return fault(
            format!("the response of {phase} cannot be read so"),
            "`plan` reads planning, `bundle` generation and revision, `verdict` review; anything else takes a `command`",
        );
    }
    match usual {
        Reader::Plan { .. } if response.allow.is_none() => {
            let headings = response.headings.clone().unwrap_or_default();
            if headings
                .iter()
                .any(|heading| heading.trim().is_empty() || heading.contains('\n'))
            {
                return fault(
                    "a heading of the plan is no line of text".to_owned(),
                    "write headings without `#`, as they are read",
                );
            }
            Ok(Reader::Plan { headings })
        }
        Reader::Bundle { .. } if response.headings.is_none() => {
            let allow = response.allow.clone().unwrap_or_default();
            if response.allow.is_some() && allow.is_empty() {
                return fault(
                    format!("`allow` of {phase} allows nothing"),
                    "name patterns such as `src/**`, or leave it out: then every name is allowed",
                );
            }
            for pattern in &allow {
                let odd = |part: &str| matches!(part, "" | "." | "..");
                let inner = pattern.trim_start_matches("./").trim_matches('/');
                if pattern.contains('\\') || inner.split('/').any(odd) || glob(pattern).is_err() {
                    return fault(
                        format!("`allow` of {phase} has a pattern that fits no name: {pattern:?}"),
                        "write patterns such as `src/**`, or `*.md` for every folder, with `/` between folders",
                    );
                }
            }
            Ok(Reader::Bundle { allow })
        }
        Reader::Verdict if response.headings.is_none() && response.allow.is_none() => Ok(usual),
        _ => fault(
            format!("the response of {phase} has a key that means nothing to its reader"),
            "`headings` belong to `plan`, `allow` to `bundle`",
        ),
    }
}
