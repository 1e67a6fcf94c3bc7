//! From text to structs, with limits: a definition from a cloned repository is hostile input.

use super::{Definition, LANGUAGE, MAX_BYTES};
use crate::diagnostic::{Diagnostic, Place};

pub(super) fn parse(text: &str) -> Result<Definition, Diagnostic> {
    if text.len() > MAX_BYTES {
        return Err(Diagnostic::new(
            "too_large",
            Place::default(),
            format!(
                "the definition has {} bytes; {MAX_BYTES} are allowed",
                text.len()
            ),
            "split it into several workflows",
        ));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 24,
            max_nodes: 20_000,
            max_aliases: 200,
        },
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
fn fault(error: serde_saphyr::Error) -> Diagnostic {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let at = error.location().map_or(Place::default(), |location| Place {
        line: number(location.line()),
        column: number(location.column()),
    });
    let whole = error.without_snippet().to_string();
    let message = whole
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
    Diagnostic::new(
        "unreadable",
        at,
        message,
        "see the JSON Schema of the language, `tm workflow check --schema`, or compare with `tm workflow show tdd`",
    )
}
