//! A JSON document that people wrote, changed in place: comments, order and white space of everything else stay.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use super::text::EditError;

/// JSON with the comments and trailing commas that clients let stand in their settings.
pub fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The document.
pub fn parsed(body: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(body, &options())
        .map_err(|error| EditError::at(body, error.range().start, error.kind().to_string()))
}

/// The error of a document that has something else than it should behind a key.
pub fn wrong(body: &str, key: &str, problem: &str) -> EditError {
    let at = body.find(&format!("\"{key}\"")).unwrap_or_default();
    EditError::at(body, at, problem)
}

/// A value as it is put into a document.
pub fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(entries) => CstInputValue::Array(entries.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
    }
}
