//! Places outside of a session that a caller names: where its code goes, and which word stands for what.

use std::fs;
use std::path::{Path, PathBuf};

use engine::fault;
use engine::{Engine, Fault};

use super::super::{current_folder, usage};
use super::{DONE, Outcome, names_no_session};
use crate::cli::session::{Export, SessionChoice};
use crate::output::Output;
use crate::render::session as render;
use crate::steps::typed;

/// `tm session export`.
pub fn hand_out(engine: &Engine, export: &Export, output: &mut Output) -> Outcome {
    let folder = export.folder.as_path();
    in_order(engine, &export.session, "export", folder)?;
    no_session(engine, export, folder)?;
    let to: PathBuf = current_folder()?.join(folder);
    is_folder(&to)?;
    let exported = engine.session_export(export.session.id(), &to, export.force)?;
    output.answer(&exported, render::exported)?;
    Ok(DONE)
}

/// Refuses two words that stand in the wrong order: the place first, and then the session.
pub fn in_order(
    engine: &Engine,
    session: &SessionChoice,
    verb: &str,
    place: &Path,
) -> Result<(), Fault> {
    let (Some(first), Some(second)) = (&session.positional, place.to_str()) else {
        return Ok(());
    };
    let is_none = |word: &str| {
        let found = engine.session_status(Some(word));
        found.err().is_some_and(|fault| names_no_session(&fault))
    };
    // Where the first is a session, or broken in another way, the second is not looked at.
    if !is_none(first) || is_none(second) {
        return Ok(());
    }
    Err(usage(format!(
        "`{first}` is no session, and `{second}` is one: the session stands first"
    ))
    .suggest("name the session as an option, and the order does not matter")
    .recover(format!(
        "tm session {verb} {}{}",
        typed(first),
        render::option(Some(second))
    )))
}

/// Refuses an export whose only word is a session, where it should be the folder.
fn no_session(engine: &Engine, export: &Export, folder: &Path) -> Result<(), Fault> {
    let Some(word) = folder.to_str().filter(|_| !folder.is_dir()) else {
        return Ok(());
    };
    if export.session.id().is_some() || engine.session_status(Some(word)).is_err() {
        return Ok(());
    }
    Err(usage(format!(
        "`{word}` is a session, and no folder is named for its code"
    ))
    .suggest(format!(
        "name the folder, too; one that is really called so is written ./{word}"
    ))
    .recover(format!(
        "tm session export DIR{}",
        render::option(Some(word))
    )))
}

/// Refuses a file where a folder is meant, also above it.
fn is_folder(to: &Path) -> Result<(), Fault> {
    let there = to
        .ancestors()
        .find_map(|place| fs::metadata(place).ok().map(|about| (place, about)));
    match there {
        Some((place, about)) if !about.is_dir() => {
            Err(fault!("bad_name.is_folder", place = place.display()))
        }
        _ => Ok(()),
    }
}
