//! `tm workflow graph`.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use engine::links::not_led_out;
use engine::{Engine, Fault};
use journal::durable;

use crate::cli::workflow::Graph;
use crate::output::Output;

/// Draws a workflow, to standard output or to a file.
pub fn graph(graph: &Graph, engine: &Engine, output: &mut Output) -> Result<(), Fault> {
    let drawn = engine.workflow_graph(
        graph.workflow.as_deref(),
        graph.run.as_deref(),
        graph.format().into(),
    )?;
    let file = file(graph.output.as_deref());
    if output.is_json() {
        if let Some(file) = file {
            to_file(file, &drawn.graph)?;
        }
        return output.json(&drawn);
    }
    give(&drawn.graph, file, output)
}

/// The file that is named; none where it is standard output.
fn file(named: Option<&Path>) -> Option<&Path> {
    named.filter(|file| *file != Path::new("-"))
}

/// Gives a document: to a file, where one is named, else to standard output.
pub(super) fn give(text: &str, named: Option<&Path>, output: &mut Output) -> Result<(), Fault> {
    let Some(file) = file(named) else {
        return output.document(text);
    };
    to_file(file, text)?;
    output.hint(&format!("written to {}", file.display()));
    Ok(())
}

fn to_file(file: &Path, text: &str) -> Result<(), Fault> {
    not_led_out(file, &super::current_folder()?)?;
    write(file, text).map_err(|error| not_written(file, &error))
}

/// Replaces a file as a whole, so that nobody sees half of it. What is no regular file, such as a terminal, is written to.
fn write(file: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is replaced, and not the link.
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let present = fs::metadata(&real).ok();
    if present.as_ref().is_some_and(|there| !there.is_file()) {
        return fs::write(&real, text);
    }
    // As any new file has it: what the process' mask leaves of it.
    let mut aside = durable::aside_of(&real, 0o666)
        // The file aside is nothing that anybody should hear of.
        .map_err(|error| io::Error::from(error.kind()))?;
    aside.write_all(text.as_bytes())?;
    if let Some(there) = present {
        if there.permissions().readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        aside.as_file().set_permissions(there.permissions())?;
    }
    durable::put_in_place(aside, &real, true)
}

fn not_written(file: &Path, error: &io::Error) -> Fault {
    let what = format!("the drawing could not be written to {}", file.display());
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let suggestion = match folder {
        Some(folder) if !folder.exists() => {
            format!("there is no folder {}: make it first", folder.display())
        }
        _ if file.is_dir() => "it is a folder: name a file in it".to_owned(),
        _ => "choose a file that can be written".to_owned(),
    };
    Fault::environment("io_failed", what, error).suggest(suggestion)
}
