//! Branch names: the slug of a title, the pattern of the settings, and git's rules for names.

use any_ascii::any_ascii;
use thiserror::Error;

use super::placeholder::{self, PlaceholderError};

/// The pattern used when the settings give none.
pub const DEFAULT_PATTERN: &str = "{tag}/task-{id}-{slug}";

/// Longest slug, in characters.
pub const LONGEST_SLUG: usize = 50;

/// Titles are read to here; beyond it nothing could reach the slug anyway.
const TITLE_READ: usize = 2000;
const LONGEST_TAG: usize = 80;
const LONGEST_ID: usize = 60;
/// File systems hold 255 bytes to a name, and git appends `.lock` to it.
const LONGEST_COMPONENT: usize = 250;

/// A branch name that could not be made.
#[derive(Debug, Error)]
pub enum BranchError {
    /// The pattern itself is wrong.
    #[error("branch pattern is not usable")]
    Pattern(#[from] PlaceholderError),
    /// The filled-in pattern is not a name that git accepts.
    #[error("branch pattern `{pattern}` gives `{name}`, which git does not accept: {fault}")]
    NotAName {
        /// The pattern as the settings have it.
        pattern: String,
        /// The name it came to.
        name: String,
        /// The rule it breaks.
        fault: NameFault,
    },
}

impl BranchError {
    /// What the user can do about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::Pattern(_) => {
                format!(
                    "use only {{tag}}, {{id}} and {{slug}} in git.branchPattern, as in `{DEFAULT_PATTERN}`"
                )
            }
            Self::NotAName { .. } => {
                format!(
                    "change git.branchPattern (default `{DEFAULT_PATTERN}`), or name the branch yourself"
                )
            }
        }
    }
}

/// A rule of git's for branch names, broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NameFault {
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
    /// `-x` would be read as an option.
    #[error("it begins with `-`")]
    LeadingDash,
    /// `a//b`, `/a`, `a/`.
    #[error("it has an empty part between slashes")]
    EmptyPart,
    /// `.a`, `a/.b`.
    #[error("a part of it begins with `.`")]
    LeadingDot,
    /// `a.lock`, `a.lock/b`.
    #[error("a part of it ends with `.lock`")]
    LockSuffix,
    /// `a.`
    #[error("it ends with `.`")]
    TrailingDot,
    /// `a..b`
    #[error("it has `..` in it")]
    TwoDots,
    /// `a@{b`
    #[error("it has `@{{` in it")]
    AtBrace,
    /// `@` and `HEAD` mean something else.
    #[error("the name is reserved")]
    Reserved,
    /// A character that names cannot have.
    #[error("it has the character {0:?} in it")]
    Character(char),
    /// A part that no file system would hold.
    #[error("a part of it is longer than {LONGEST_COMPONENT} bytes")]
    TooLong,
}

/// Whether git accepts `name` as the name of a branch (without `refs/heads/`), by the rules of
/// `git check-ref-format --branch`; beyond those, a part has at most 250 bytes.
pub fn check_branch_name(name: &str) -> Result<(), NameFault> {
    if name.is_empty() {
        return Err(NameFault::Empty);
    }
    if name.starts_with('-') {
        return Err(NameFault::LeadingDash);
    }
    // Names that git gives a meaning of its own (gitrevisions(7)), and folders in which it looks for any name.
    let folders = ["refs", "heads", "tags", "remotes"];
    let is_of_git = name == "@" || name == "HEAD" || name.ends_with("_HEAD") || name == "stash";
    let begins = name.split('/').next().unwrap_or_default();
    if is_of_git || (begins != name && folders.contains(&begins)) {
        return Err(NameFault::Reserved);
    }
    if name.contains("..") {
        return Err(NameFault::TwoDots);
    }
    if name.contains("@{") {
        return Err(NameFault::AtBrace);
    }
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    if let Some(c) = name.chars().find(|&c| forbidden(c)) {
        return Err(NameFault::Character(c));
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Err(NameFault::EmptyPart);
        }
        if part.starts_with('.') {
            return Err(NameFault::LeadingDot);
        }
        // Git compares with case; file systems that do not would still clash with its lock files.
        if part.len() >= 5 && part.as_bytes()[part.len() - 5..].eq_ignore_ascii_case(b".lock") {
            return Err(NameFault::LockSuffix);
        }
        if part.len() > LONGEST_COMPONENT {
            return Err(NameFault::TooLong);
        }
    }
    if name.ends_with('.') {
        return Err(NameFault::TrailingDot);
    }
    Ok(())
}

/// The title as a part of a branch name: lower-case ASCII letters and digits, words joined by
/// single hyphens, at most [`LONGEST_SLUG`] characters, cut at a word where there is one.
/// Never empty: a title without a letter or digit gives `task`.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    let ascii: String = title
        .chars()
        .take(TITLE_READ)
        .filter(|c| !matches!(c, '\'' | '’' | '`'))
        .map(ascii_of)
        .collect();
    for c in ascii.chars() {
        if c.is_ascii_alphanumeric() {
            if gap && !slug.is_empty() {
                slug.push('-');
            }
            gap = false;
            slug.push(c.to_ascii_lowercase());
        } else {
            gap = true;
        }
    }
    if slug.len() > LONGEST_SLUG {
        // A hyphen just behind the limit means that the cut falls between two words.
        match slug[..=LONGEST_SLUG].rfind('-') {
            Some(at) => slug.truncate(at),
            None => slug.truncate(LONGEST_SLUG),
        }
    }
    if slug.is_empty() {
        "task".to_owned()
    } else {
        slug
    }
}

/// The placeholders that a branch pattern may have.
pub(crate) const PLACEHOLDERS: &[&str] = &["tag", "id", "slug"];

/// The branch for a task, from a pattern such as [`DEFAULT_PATTERN`]. `{tag}` and `{id}` are
/// brought to lower-case ASCII letters, digits, `.`, `_` and `-`; `{slug}` is [`slug`] of the
/// title. The result is always a name that git accepts.
pub fn branch_name(pattern: &str, tag: &str, id: &str, title: &str) -> Result<String, BranchError> {
    let tag = name_part(tag, LONGEST_TAG, "tag");
    let id = name_part(id, LONGEST_ID, "task");
    let slug = slug(title);
    let values: [&str; 3] = [&tag, &id, &slug];
    let values: Vec<_> = PLACEHOLDERS.iter().copied().zip(values).collect();
    let name = placeholder::fill(pattern, &values)?;
    match check_branch_name(&name) {
        Ok(()) => Ok(name),
        Err(fault) => Err(BranchError::NotAName {
            pattern: pattern.to_owned(),
            name,
            fault,
        }),
    }
}

/// `value` as something that may stand anywhere in a branch name.
fn name_part(value: &str, longest: usize, fallback: &str) -> String {
    let mut part = String::new();
    for c in value
        .chars()
        .take(TITLE_READ)
        .map(ascii_of)
        .collect::<String>()
        .chars()
    {
        let c = match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '_' | '.') => c,
            _ => '-',
        };
        // Two separators in a row say no more than one, and `..` is forbidden.
        let doubled = matches!(c, '-' | '.') && part.ends_with(['-', '.']);
        if part.len() < longest && !doubled && !(part.is_empty() && matches!(c, '-' | '.')) {
            part.push(c);
        }
    }
    part.truncate(part.trim_end_matches(['-', '.']).len());
    if let Some(stem) = part.strip_suffix(".lock") {
        part = format!("{stem}-lock");
    }
    if part.is_empty() {
        fallback.to_owned()
    } else {
        part
    }
}

fn ascii_of(c: char) -> String {
    any_ascii(c.encode_utf8(&mut [0; 4]))
}
