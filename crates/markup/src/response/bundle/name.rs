//! Which names a file of a bundle may have: those that mean the same file, inside of the folder,
//! on every file system.

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use super::folding::folded;
use super::rules::MAX_COMPONENT_BYTES;
use crate::response::text::{is_invisible, shown};

/// How many parts a path may have.
const MAX_PARTS: usize = 100;

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameFault {
    /// There is none.
    #[error("it has no name")]
    Missing,
    /// The path is longer than the rules allow.
    #[error("its path has {bytes} bytes; {most} are allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// More folders within each other than anybody means.
    #[error("its path has {parts} parts; {MAX_PARTS} are allowed")]
    TooDeep {
        /// How many parts it has.
        parts: usize,
    },
    /// A part of the path is longer than file systems take.
    #[error("`{}` has {} bytes; a file system takes {MAX_COMPONENT_BYTES}", shown(.0), .0.len())]
    LongComponent(String),
    /// A control character.
    #[error("its name has the control character U+{:04X}", u32::from(*.0))]
    Control(char),
    /// A character that cannot be seen.
    #[error("its name has the invisible character U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// A character that not every file system takes.
    #[error("its name has `{0}`, which not every file system takes")]
    Character(char),
    /// A backslash.
    #[error("its name has a backslash; folders are separated by `/`")]
    Backslash,
    /// It begins at the root.
    #[error("its path is absolute")]
    Absolute,
    /// It begins with a drive.
    #[error("its path begins with the drive `{0}:`")]
    Drive(char),
    /// It begins in a home folder.
    #[error("its path begins with `~`, a home folder")]
    Home,
    /// A shell would put something else there.
    #[error("its path begins with a variable of a shell")]
    Variable,
    /// It would read as an option.
    #[error("its path begins with `-`, as an option of a command does")]
    Dash,
    /// A colon elsewhere: a stream of a file, or a line number.
    #[error("its name has a colon, which means a part or a stream of another file")]
    Colon,
    /// Two slashes in a row, or one at the end.
    #[error("its path has an empty part")]
    EmptyComponent,
    /// A part that means the folder itself.
    #[error("its path has the part `.`")]
    CurrentFolder,
    /// A part that leads upwards.
    #[error("its path has the part `..`")]
    ParentFolder,
    /// Git's own folder, by one of its spellings.
    #[error("`{}` is git's own folder", shown(.0))]
    Git(String),
    /// A name that means a device on some systems.
    #[error("`{}` means a device on some systems", shown(.0))]
    Device(String),
    /// A part that ends in a dot or a blank, which some file systems drop.
    #[error("`{}` ends in a dot or a blank, which some file systems drop", shown(.0))]
    BadEnd(String),
}

/// Says whether a file of a bundle may have this name, apart from what a profile allows.
pub(super) fn check(path: &str, most: usize) -> Result<(), NameFault> {
    if path.trim().is_empty() {
        return Err(NameFault::Missing);
    }
    if path.len() > most {
        return Err(NameFault::TooLong {
            bytes: path.len(),
            most,
        });
    }
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Err(NameFault::Control(c));
    }
    if let Some(c) = path.chars().find(|c| is_invisible(*c)) {
        return Err(NameFault::Invisible(c));
    }
    if let [drive, b':', ..] = path.as_bytes()
        && drive.is_ascii_alphabetic()
    {
        return Err(NameFault::Drive(char::from(*drive)));
    }
    if path.contains('\\') {
        return Err(NameFault::Backslash);
    }
    if path.starts_with('/') {
        return Err(NameFault::Absolute);
    }
    if path.starts_with('~') {
        return Err(NameFault::Home);
    }
    if path.starts_with('-') {
        return Err(NameFault::Dash);
    }
    if is_variable(path) {
        return Err(NameFault::Variable);
    }
    if path.contains(':') {
        return Err(NameFault::Colon);
    }
    if let Some(c) = path.chars().find(|c| "<>\"|?*".contains(*c)) {
        return Err(NameFault::Character(c));
    }
    // What has a plainer form with a separator in it, as U+FF0F has, some system takes for one.
    let separates =
        |c: &char| !c.is_ascii() && std::iter::once(*c).nfkc().any(|c| "/\\".contains(c));
    if let Some(c) = path.chars().find(separates) {
        return Err(NameFault::Character(c));
    }
    let parts = path.split('/').count();
    if parts > MAX_PARTS {
        return Err(NameFault::TooDeep { parts });
    }
    path.split('/').try_for_each(check_component)
}

/// Whether a path begins with what a shell takes for a variable: `$HOME/x`, `${HOME}/x`. Files of some frameworks begin with the
/// sign too, and go on in small letters: `$slug.tsx`.
fn is_variable(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('$') else {
        return false;
    };
    let first = rest.split('/').next().unwrap_or_default();
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    first.starts_with('{') || (!first.is_empty() && first.chars().all(is_capital))
}

fn check_component(component: &str) -> Result<(), NameFault> {
    match component {
        "" => return Err(NameFault::EmptyComponent),
        "." => return Err(NameFault::CurrentFolder),
        ".." => return Err(NameFault::ParentFolder),
        _ => {}
    }
    if component.len() > MAX_COMPONENT_BYTES {
        return Err(NameFault::LongComponent(component.to_owned()));
    }
    let plain = folded(component);
    let bare = plain.trim_end_matches(['.', ' ']);
    if is_git(bare) {
        return Err(NameFault::Git(component.to_owned()));
    }
    if component.ends_with('.')
        || component.ends_with(char::is_whitespace)
        || bare.len() < plain.len()
    {
        return Err(NameFault::BadEnd(component.to_owned()));
    }
    if is_device(bare) {
        return Err(NameFault::Device(component.to_owned()));
    }
    Ok(())
}

/// `.git`, or the short name that Windows gives to it.
fn is_git(folded: &str) -> bool {
    folded == ".git"
        || folded.strip_prefix("git~").is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn is_device(folded: &str) -> bool {
    let stem = folded.split('.').next().unwrap_or_default().trim_end();
    if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(&stem) {
        return true;
    }
    ["com", "lpt"].iter().any(|port| {
        stem.strip_prefix(port)
            .is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
    })
}
