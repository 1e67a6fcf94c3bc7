//! The files of a run's folder in which somebody is asked, and answers.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use journal::{EvidenceStore, durable, sha256_hex};
use machine::command::{Artifact, Present};
use machine::decide::BLOCKED;
use machine::{Event, Reading, Refusal, RunState};
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::fail_point;
use crate::fault;
use crate::fault::Fault;
use crate::slot::Slots;
use crate::support::HandlerError;

/// The largest response that is read, in bytes.
pub(crate) const LARGEST_RESPONSE: u64 = 64 * 1024 * 1024;

/// By the name of a state: the response that a run took in there.
pub(crate) const TAKEN: Slots<ResponseText> = Slots::new("taken:");

/// A response that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResponseText {
    /// Where it stood, in the run's folder.
    pub(crate) path: String,
    /// SHA-256 of it; its bytes are kept as evidence.
    pub(crate) sha256: String,
}

/// The response that was taken in at `state`.
pub(crate) fn taken(run: &RunState, state: &str) -> Option<ResponseText> {
    TAKEN.of(state).read(&run.kept).ok().flatten()
}

/// Where `path` stands in the run's folder `dir`. A link on the way to it would lead out of there, and is refused.
pub(crate) fn place(dir: &Path, path: &str) -> Result<PathBuf, Fault> {
    let mut place = dir.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&place) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => {
                return Err(fault!("unsafe_path.place", place = place.display()));
            }
            Err(error) if gone(&error) => {}
            Err(error) => return Err(unreadable(&place)(error)),
        }
    }
    Ok(place)
}

/// Whether anything stands at `path`; a link counts by itself.
pub(crate) fn is_there(path: &Path) -> Result<bool, Fault> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if gone(&error) => Ok(false),
        Err(error) => Err(unreadable(path)(error)),
    }
}

/// The content of a file, if there is one. What is no ordinary file, or too large, is not read.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    read_at_most(path, LARGEST_RESPONSE)
}

/// The same, where it is at most `largest` bytes long.
pub(crate) fn read_at_most(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, Fault> {
    let opened = File::options()
        .read(true)
        // A link would let somebody read what is none of the run's; a pipe would hold us up.
        .custom_flags(
            (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK)
                .bits()
                .cast_signed(),
        )
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if gone(&error) => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(no_file(path));
        }
        Err(error) => return Err(unreadable(path)(error)),
    };
    let about = file.metadata().map_err(unreadable(path))?;
    if !about.is_file() {
        return Err(no_file(path));
    }
    let mut bytes = Vec::new();
    file.take(largest.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable(path))?;
    if bytes.len() as u64 > largest {
        let (path, len) = (path.display(), about.len());
        return Err(fault!("too_large.file", path, len, largest));
    }
    Ok(Some(bytes))
}

/// Makes `bytes` the content of `path`, durably. The folders above it come to be.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    ensure_folder_of(path)?;
    fail_point::io(|| durable::replace_durably(path, bytes)).map_err(unwritable(path))
}

/// The same, unless something stands there. Whether it wrote.
pub(crate) fn put_if_absent(path: &Path, bytes: &[u8]) -> Result<bool, Fault> {
    ensure_folder_of(path)?;
    fail_point::io(|| durable::create_durably(path, bytes)).map_err(unwritable(path))
}

/// Keeps `bytes` as evidence, durably, and gives their SHA-256.
pub(crate) fn keep(store: &EvidenceStore, bytes: &[u8]) -> Result<String, Fault> {
    Ok(fail_point::io(|| store.put(bytes))?)
}

fn ensure_folder_of(path: &Path) -> Result<(), Fault> {
    match path.parent() {
        Some(folder) => durable::ensure_folder(folder).map_err(unwritable(folder)),
        None => Ok(()),
    }
}

/// Which files of the state that the token stands at are there. A response that is still blank is none yet: an editor or
/// a shell makes the file before it has a word to put into it.
pub(crate) fn present(call: &Call<'_>, run: &RunState, token: u32) -> Result<Present, Fault> {
    let state = run.token(token).map_or("", |token| token.state.as_str());
    let there = |path: Option<String>| -> Result<Option<PathBuf>, Fault> {
        let path = path.map(|path| place(&call.dir, &path)).transpose()?;
        match path {
            Some(path) if is_there(&path)? => Ok(Some(path)),
            _ => Ok(None),
        }
    };
    let prompt = there(call.definition.prompt(state, &run.vars))?.is_some();
    let response = there(call.definition.response(state, &run.vars))?;
    let response = response.is_some_and(|path| !is_blank(&path));
    Ok(Present { prompt, response })
}

/// Whether an ordinary file holds nothing, or only white space.
pub(crate) fn is_blank(path: &Path) -> bool {
    /// White space longer than this is somebody's answer.
    const LONGEST: u64 = 64 * 1024;
    let Ok(about) = fs::symlink_metadata(path) else {
        return false;
    };
    about.is_file()
        && about.len() <= LONGEST
        && (about.len() == 0
            || matches!(read(path), Ok(Some(bytes)) if bytes.iter().all(u8::is_ascii_whitespace)))
}

/// Takes the response in that the token's state waits for: its bytes are kept, and it is remembered by its hash.
pub(crate) fn take_in(
    call: &Call<'_>,
    run: &RunState,
    token: u32,
) -> Result<(Reading, Vec<u8>), HandlerError> {
    let state = run.token(token).map_or("", |token| token.state.as_str());
    let Some(path) = call.definition.response(state, &run.vars) else {
        return Err(Fault::bug(format!("`{state}` waits for no response")).into());
    };
    let Some(bytes) = read(&place(&call.dir, &path)?)? else {
        // It was there when the step began, and was taken away since.
        return Err(Refusal::new(BLOCKED).detail("path", path).into());
    };
    let sha256 = keep(&EvidenceStore::new(&call.dir), &bytes)?;
    let taken = ResponseText {
        path: path.clone(),
        sha256: sha256.clone(),
    };
    let keep = TAKEN.of(state).entry(&taken)?;
    let reading = Reading {
        keep_run: keep,
        evidence: vec![sha256.clone()],
        artifacts: vec![Artifact {
            path,
            sha256,
            state: state.to_owned(),
            iteration: call.definition.round(&run.vars),
        }],
        level: "file".to_owned(),
        ..Reading::default()
    };
    Ok((reading, bytes))
}

/// The bytes of a response that was taken in before, and whether its file is still the same.
pub(crate) fn taken_bytes(call: &Call<'_>, taken: &ResponseText) -> Result<(Vec<u8>, bool), Fault> {
    let bytes = EvidenceStore::new(&call.dir).get(&taken.sha256)?;
    let same = matches!(read(&call.dir.join(&taken.path)), Ok(Some(now)) if sha256_hex(&now) == taken.sha256);
    Ok((bytes, same))
}

/// Puts the prompt into its place whose unit was issued by these events. One that cannot be written is written by the next step.
pub(crate) fn place_prompts(
    call: &Call<'_>,
    run: &RunState,
    appended: &[Event],
) -> Result<(), Fault> {
    let path = call.definition.prompt(run.state(), &run.vars);
    let is_issued = |event: &Event| matches!(event, Event::ArtifactRecorded(artifact) if Some(&artifact.path) == path.as_ref());
    if appended.iter().any(is_issued) {
        put_prompt(call, run)?;
    }
    Ok(())
}

/// Puts the prompt of the present unit into its place. One that is there is left as it is.
fn put_prompt(call: &Call<'_>, run: &RunState) -> Result<(), Fault> {
    let token = run.tokens.first();
    let unit = token.and_then(|token| token.unit.as_ref());
    let hash = unit.and_then(|unit| unit.context.as_ref());
    if let (Some(hash), Some(path)) = (hash, call.definition.prompt(run.state(), &run.vars)) {
        let bytes = EvidenceStore::new(&call.dir).get(hash)?;
        fail_point::reach("prompt-before-file");
        put_if_absent(&place(&call.dir, &path)?, &bytes)?;
        fail_point::reach("prompt-after-file");
    }
    Ok(())
}

/// Puts the prompt into its place that a process did not come to put there, where its response is there already: the
/// next step asks for nothing any more then, and the prompt would never come.
pub(super) fn finish_prompt(call: &Call<'_>, run: &RunState) -> Result<(), Fault> {
    match run.tokens.first() {
        Some(token) if present(call, run, token.id)?.response => put_prompt(call, run),
        _ => Ok(()),
    }
}

/// The prompt that stands at a state's place already, as after a step back that set only the response aside.
pub(crate) fn standing_prompt(
    call: &Call<'_>,
    run: &RunState,
    state: &str,
) -> Result<Option<Vec<u8>>, Fault> {
    match call.definition.prompt(state, &run.vars) {
        Some(path) => read(&place(&call.dir, &path)?),
        None => Ok(None),
    }
}

fn gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn no_file(path: &Path) -> Fault {
    fault!("unsafe_path.no_ordinary_file", path = path.display())
        .detail("path", path.display().to_string())
}

/// The fault of a file or folder that cannot be written.
pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> Fault {
    let message = format!("{} cannot be written", path.display());
    move |error| {
        Fault::environment("io_failed", message.clone(), &error)
            .suggest("make room or give the right to write there, and do the same again")
    }
}

/// The fault of a file or folder that cannot be read.
pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Fault {
    let message = format!("{} cannot be read", path.display());
    move |error| Fault::environment("io_failed", message.clone(), &error)
}
