//! The place outside of a session where its code goes.

use std::fs;
use std::path::{Path, PathBuf};

use engine::fault;
use engine::{Engine, Fault};

use super::super::{current_folder, usage};
use super::{DONE, Outcome};
use crate::calls::FamilyCall;
use crate::output::Output;
use crate::render::session as render;

/// `tm session export`.
pub fn hand_out(engine: &Engine, asked: &FamilyCall, output: &mut Output) -> Outcome {
    let session = asked.run.as_deref();
    let folder = asked.arguments.path("folder").unwrap_or(Path::new("."));
    no_session(engine, session, folder)?;
    let to: PathBuf = current_folder()?.join(folder);
    is_folder(&to)?;
    let exported = engine.session_export(session, &to, asked.arguments.is("force"))?;
    output.page(&exported, "session_exported")?;
    Ok(DONE)
}

/// Refuses an export whose only word is a session, where it should be the folder.
fn no_session(engine: &Engine, session: Option<&str>, folder: &Path) -> Result<(), Fault> {
    let Some(word) = folder.to_str().filter(|_| !folder.is_dir()) else {
        return Ok(());
    };
    if session.is_some() || engine.session_status(Some(word)).is_err() {
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
