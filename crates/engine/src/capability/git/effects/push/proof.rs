//! What proves the commits of a branch elsewhere: a note on each, and the bundle of the run. It goes along where it can; a
//! submission does not fail by it.

use std::time::Duration;

use workspace::config::Proof;
use workspace::git::{Oid, PushFailure, PushedRef, Repository};

use crate::call::Call;
use crate::capability::git::effects::notes;
use crate::fault::{Fault, Kind};
use crate::proof::{bundle, note};

/// How often others may be faster.
const RACES: u32 = 3;
/// How long a push of a few notes may take.
const LIMIT: Duration = Duration::from_mins(1);
/// Where the notes of the remote are looked at.
const FETCHED: &str = "refs/tramline/fetched-notes";

/// Pushes what is asked for beside the branch. What did not work is told.
pub(super) fn push(
    call: &Call<'_>,
    repository: &Repository,
    remote: &str,
    proof: Proof,
) -> Option<String> {
    let pushed = match proof {
        Proof::None => return None,
        Proof::Note => push_notes(call, repository, remote),
        Proof::Bundle => push_notes(call, repository, remote)
            .and_then(|()| push_bundle(call, repository, remote)),
    };
    let fault = pushed.err()?;
    Some(format!(
        "what proves the commits could not be pushed with them: {}",
        fault.message
    ))
}

/// Has the remote's notes and ours in one, and pushes that.
fn push_notes(call: &Call<'_>, repository: &Repository, remote: &str) -> Result<(), Fault> {
    notes::write_all(call, repository)?;
    for _ in 0..RACES {
        let Some(ours) = repository.resolve(note::REFERENCE)? else {
            return Ok(());
        };
        let expected = there(repository, remote, note::REFERENCE)?;
        if expected.as_ref() == Some(&ours) {
            return Ok(());
        }
        if expected.is_some() {
            repository
                .fetch_ref(remote, note::REFERENCE, FETCHED)?
                .map_err(|failure| failed(&failure.said))?;
            repository.merge_notes(note::REFERENCE, FETCHED)?;
            repository.forget_reference(FETCHED)?;
        }
        let Some(object) = repository.resolve(note::REFERENCE)? else {
            return Ok(());
        };
        if put(repository, remote, note::REFERENCE, object, expected)? {
            return Ok(());
        }
    }
    Err(failed("others push notes all the time"))
}

/// Pushes the bundle of the run under a reference of its own.
fn push_bundle(call: &Call<'_>, repository: &Repository, remote: &str) -> Result<(), Fault> {
    let packed = bundle::pack(&call.dir)?;
    let name = bundle::reference(&packed.run);
    let object = repository.keep_blob(&packed.bytes, &name)?;
    let expected = there(repository, remote, &name)?;
    if expected.as_ref() == Some(&object) {
        return Ok(());
    }
    if put(repository, remote, &name, object, expected)? {
        return Ok(());
    }
    Err(failed("another process has pushed another bundle"))
}

fn there(repository: &Repository, remote: &str, reference: &str) -> Result<Option<Oid>, Fault> {
    let tips = repository
        .remote_tips(remote, &[reference])?
        .map_err(|failure| failed(&failure.said))?;
    Ok(tips.of(reference).cloned())
}

/// Pushes one reference; false where another process was faster.
fn put(
    repository: &Repository,
    remote: &str,
    name: &str,
    object: Oid,
    expected: Option<Oid>,
) -> Result<bool, Fault> {
    let pushed = PushedRef {
        object,
        name: name.to_owned(),
        expected,
    };
    match repository.push(remote, &pushed, LIMIT, &|_| {})? {
        Ok(()) => Ok(true),
        Err(failure) if failure.why == PushFailure::Moved => Ok(false),
        Err(failure) => Err(failed(&failure.said)),
    }
}

fn failed(said: &str) -> Fault {
    let said = text::plain::one_line(said);
    Fault::new(Kind::Environment, "proof_not_pushed", said)
}
