//! Patterns with `{name}` placeholders, as the settings for branch names and commit subjects
//! have them.

use thiserror::Error;

/// A pattern that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlaceholderError {
    /// A placeholder that this pattern has no value for.
    #[error(
        "pattern `{pattern}` has the unknown placeholder `{{{name}}}` (known: {known}{nearest})",
        nearest = .nearest.as_ref().map(|n| format!("; did you mean `{{{n}}}`?")).unwrap_or_default()
    )]
    Unknown {
        /// The whole pattern.
        pattern: String,
        /// The placeholder's name, without braces.
        name: String,
        /// The names there are, with braces, separated by commas.
        known: String,
        /// The known name that is most like it, when one is.
        nearest: Option<String>,
    },
    /// A `{` without its `}`.
    #[error("pattern `{pattern}` has a `{{` that is never closed")]
    Unclosed {
        /// The whole pattern.
        pattern: String,
    },
}

/// Fills each `{name}` of `pattern` with its value from `values`. A `}` alone stands for itself.
pub(crate) fn fill(pattern: &str, values: &[(&str, &str)]) -> Result<String, PlaceholderError> {
    let mut filled = String::with_capacity(pattern.len() + 32);
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        let Some(close) = inner.find('}') else {
            return Err(PlaceholderError::Unclosed {
                pattern: pattern.to_owned(),
            });
        };
        let name = &inner[..close];
        let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(pattern, name, values));
        };
        filled.push_str(value);
        rest = &inner[close + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn unknown(pattern: &str, name: &str, values: &[(&str, &str)]) -> PlaceholderError {
    let known: Vec<String> = values
        .iter()
        .map(|(known, _)| format!("`{{{known}}}`"))
        .collect();
    PlaceholderError::Unknown {
        pattern: pattern.to_owned(),
        name: name.to_owned(),
        known: known.join(", "),
        nearest: text::nearest(name, values.iter().map(|(known, _)| *known)).map(str::to_owned),
    }
}
