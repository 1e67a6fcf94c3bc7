//! Names from outside, checked before they become part of a path.

use std::fmt;

use thiserror::Error;

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 200;

/// A name that can stand in a path as one component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// A name that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} {name:?} is refused: {flaw}")]
pub struct NameError {
    /// What the name was to be: `tag`, `run id`, `session name`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// What is wrong with it.
    pub flaw: NameFlaw,
}

/// Why a name was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameFlaw {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is longer than [`MAX_NAME_BYTES`], or would make an id that is.
    #[error("it is too long")]
    TooLong,
    /// It has `/` or `\`.
    #[error("it has a path separator")]
    Separator,
    /// It has `..`.
    #[error("it has `..`")]
    DotDot,
    /// It begins with `-`, as an option does.
    #[error("it begins with a dash")]
    LeadingDash,
    /// It begins with `.`, as a hidden file does.
    #[error("it begins with a dot")]
    LeadingDot,
    /// It has a control character.
    #[error("it has a control character")]
    Control,
    /// It is a word by which runs are asked for.
    #[error("it means a run already: the one of that number, or the last one")]
    Taken,
    /// It has a character that cannot be seen, or a space at one of its ends.
    #[error("it has a character that cannot be seen")]
    Invisible,
}

impl NameError {
    /// What to do about it.
    pub fn suggestion(&self) -> String {
        format!(
            "use a name of at most {MAX_NAME_BYTES} bytes with letters, digits, `-`, `_` and `.`, beginning with a letter or digit"
        )
    }
}

impl Name {
    /// Checks `name`, which is to be a `kind` of thing: a `tag`, a `run id`, a `session name`.
    pub fn check(kind: &'static str, name: &str) -> Result<Self, NameError> {
        match flaw_of(name) {
            None => Ok(Self(name.to_owned())),
            Some(flaw) => Err(NameError {
                kind,
                name: name.to_owned(),
                flaw,
            }),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

fn flaw_of(name: &str) -> Option<NameFlaw> {
    if name.is_empty() {
        return Some(NameFlaw::Empty);
    }
    if name.len() > MAX_NAME_BYTES {
        return Some(NameFlaw::TooLong);
    }
    if name.contains(['/', '\\']) {
        return Some(NameFlaw::Separator);
    }
    if name.contains("..") {
        return Some(NameFlaw::DotDot);
    }
    if name.starts_with('-') {
        return Some(NameFlaw::LeadingDash);
    }
    if name.starts_with('.') {
        return Some(NameFlaw::LeadingDot);
    }
    if name.chars().any(char::is_control) {
        return Some(NameFlaw::Control);
    }
    if name.starts_with(' ') || name.ends_with(' ') || name.chars().any(is_invisible) {
        return Some(NameFlaw::Invisible);
    }
    None
}

/// Whether a character leaves no mark, so that two names could look the same: spaces other than the
/// common one, what joins or orders letters, fillers, and variation selectors and tags.
fn is_invisible(character: char) -> bool {
    (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
