//! From text to structs, with limits: a definition from a cloned repository is hostile input.

use serde_saphyr::Error;

use super::{Definition, LANGUAGE, MAX_BYTES};
use crate::diagnostic::{Diagnostic, Place};
use text::nearest;

/// How deep values may stand in one another.
const MAX_LEVELS: usize = 24;
/// How many values a definition may hold.
const MAX_NODES: usize = 20_000;
/// How often it may refer back to an anchor.
const MAX_ALIASES: usize = 200;

/// Where a fault of the file as a whole is shown.
const BEGINNING: Place = Place { line: 1, column: 1 };

pub(super) fn parse(text: &str) -> Result<Definition, Diagnostic> {
    if text.len() > MAX_BYTES {
        return Err(Diagnostic::new(
            "too_large",
            BEGINNING,
            format!(
                "the definition has {} bytes; {MAX_BYTES} are allowed",
                text.len()
            ),
            "split it into several workflows",
        ));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_LEVELS,
            max_nodes: MAX_NODES,
            max_aliases: MAX_ALIASES,
        },
        // `no` and `on` are words, as YAML 1.2 says.
        strict_booleans: true,
        with_snippet: false,
    };
    let definition: Definition =
        serde_saphyr::from_str_with_options(text, options).map_err(fault)?;
    if definition.tramline.value != LANGUAGE {
        return Err(Diagnostic::new(
            "unknown_version",
            definition.tramline.at,
            format!(
                "this definition is written in version {} of the language; this program reads version {LANGUAGE}",
                definition.tramline.value
            ),
            "use a newer tm, or write the file in version 1",
        ));
    }
    Ok(definition)
}

#[expect(clippy::needless_pass_by_value, reason = "used as a mapping function")]
fn fault(error: Error) -> Diagnostic {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let at = error
        .location()
        .filter(|location| location.line() > 0)
        .map_or(BEGINNING, |location| Place {
            line: number(location.line()),
            column: number(location.column()).max(1),
        });
    let (message, help) = explain(error.without_snippet());
    Diagnostic::new(
        "unreadable",
        at,
        message,
        help.unwrap_or_else(|| {
            "see the JSON Schema of the language, or compare with `tm workflow show tdd`".to_owned()
        }),
    )
}

/// What the library found, in words that mean something to who writes the file.
fn explain(error: &Error) -> (String, Option<String>) {
    match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => unknown("key", field, expected),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => unknown("value", variant, expected),
        Error::SerdeMissingField { field, .. } => (
            format!("`{field}` is missing"),
            Some(format!("add `{field}: …`")),
        ),
        Error::DuplicateMappingKey { key, .. } => (
            key.as_ref().map_or_else(
                || "a key is there twice".to_owned(),
                |key| format!("`{key}` is there twice"),
            ),
            Some("keep one of the two".to_owned()),
        ),
        Error::MultipleDocuments { .. } => (
            "a second document begins here".to_owned(),
            Some("write one workflow in a file".to_owned()),
        ),
        Error::AliasError { error, .. } => explain(error),
        Error::Eof { .. } => ("the definition ends too early".to_owned(), None),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (
            "the definition is too deep, too long, or repeats itself too often".to_owned(),
            Some(format!(
                "at most {MAX_NODES} values, {MAX_LEVELS} levels and {MAX_ALIASES} aliases are read"
            )),
        ),
        other => {
            let whole = other.to_string();
            let line = whole.lines().next().unwrap_or_default();
            let line = line.strip_prefix("error: ").unwrap_or(line);
            let said = line.rfind(" at line ").map_or(line, |end| &line[..end]);
            (said.to_owned(), None)
        }
    }
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> (String, Option<String>) {
    let help = nearest(name, known.iter().copied()).map_or_else(
        || format!("known are: {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    (format!("there is no {what} `{name}` here"), Some(help))
}
