//! From text to structs, with limits: a definition from a cloned repository is hostile input.

use serde_saphyr::Error;

use super::{Definition, LANGUAGE, MAX_BYTES};
use crate::diagnostic::{Diagnostic, Place};
use text::yaml::Limits;

/// What is read of a definition.
const LIMITS: Limits = Limits {
    what: "workflow",
    levels: 24,
    values: 20_000,
    aliases: 200,
};

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
    let definition: Definition =
        serde_saphyr::from_str_with_options(text, LIMITS.options()).map_err(fault)?;
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
    let (message, help) = LIMITS.explain(error.without_snippet());
    Diagnostic::new(
        "unreadable",
        at,
        message,
        help.unwrap_or_else(|| {
            "see the JSON Schema of the language, or compare with `tm workflow show tdd`".to_owned()
        }),
    )
}
