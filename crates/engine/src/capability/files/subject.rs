//! What a session's decisions and prompts rest on: plan, code and review, as they are and as they were recorded.

use std::path::Path;

use journal::{EvidenceStore, sha256_hex};
use machine::command::Artifact;
use machine::{Definition, Refusal, RunState};
use markup::response::bundle;
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::files::code::{self, Hashes, OnDisk, Tree};
use crate::capability::profile::memory::{self, StoredCode, StoredPlan, plan_hash};
use crate::capability::profile::session::{code_path, iteration};
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::gate::ClosedGate;
use crate::generic::files;
use crate::next_step::Verb;
use crate::support::{HandlerError, reported};

/// What a gate may be over: the plan.
pub(crate) const PLAN: &str = "plan";
/// The code of the iteration.
pub(crate) const CODE: &str = "code";

/// Where the plan stands, in the session's folder.
pub(crate) const PLAN_FILE: &str = "plan.md";

/// The code of a refusal of what somebody changed behind the run's back.
pub(crate) const TAMPERED: &str = "tampered";

/// The hash of what stands before a gate now.
pub(crate) fn hash(
    call: &Call<'_>,
    gate: &str,
    run: &RunState,
    token: u32,
) -> Result<String, HandlerError> {
    match call.definition.over(gate) {
        // Before its gate is passed a plan may still be mended by hand: what is approved is what is there.
        Some(PLAN) => match files::read(&call.dir.join(PLAN_FILE))? {
            Some(bytes) => Ok(sha256_hex(&bytes)),
            None => Err(tampered(PLAN_FILE, "it is gone").into()),
        },
        // So may code; behind an open gate it is what was approved.
        Some(CODE) if !was_opened(call, run, gate) => match code_on_disk(call, run)? {
            OnDisk::Files(files) if !files.is_empty() => Ok(code::hash(&files)),
            _ => Ok(whole_code(call, run)?.1),
        },
        Some(CODE) => Ok(whole_code(call, run)?.1),
        _ => last_report(call, run, token),
    }
}

/// The hash of what stands before a gate as the journal has it: what [`hash`] finds where nobody changed a file.
pub(crate) fn recorded(definition: &Definition, run: &RunState, gate: &str, token: u32) -> String {
    let response = || reviewed(run, token).map(|taken| taken.sha256);
    let known = of_session(definition, run, gate).or_else(response);
    known.unwrap_or_else(|| reported(run))
}

/// The hash under which the plan or the code before a gate was recorded; none where it is over something else.
fn of_session(definition: &Definition, run: &RunState, gate: &str) -> Option<String> {
    match definition.over(gate)? {
        PLAN => plan_hash(run).map(str::to_owned),
        CODE => code_of(run).map(|code| code.hash),
        _ => None,
    }
}

/// The hash of what was reported last; of the response, where one led to where the token stands. What is looked at has to
/// be what is decided on.
pub(crate) fn last_report(
    call: &Call<'_>,
    run: &RunState,
    token: u32,
) -> Result<String, HandlerError> {
    let Some(taken) = reviewed(run, token) else {
        return Ok(reported(run));
    };
    if is_whole(&files::place(&call.dir, &taken.path)?, &taken.sha256) {
        return Ok(taken.sha256);
    }
    Err(tampered(&taken.path, "it is not what was taken in").into())
}

/// Whether a person opened this gate in the iteration that a run is in.
pub(crate) fn was_opened(call: &Call<'_>, run: &RunState, gate: &str) -> bool {
    let round = call.definition.round(&run.vars);
    run.approvals
        .iter()
        .any(|opened| opened.gate == gate && opened.iteration == round)
}

/// Whether what stands before a gate, with this hash, was changed by somebody since it was recorded.
pub(crate) fn is_edited(call: &Call<'_>, run: &RunState, gate: &str, hash: &str) -> bool {
    of_session(&call.definition, run, gate).is_some_and(|recorded| recorded != hash)
}

/// What is to be recorded and kept where a plan or code is approved that somebody changed by hand: from then on it is what was
/// approved. Nothing where it is as it was recorded, or the gate is over something else.
///
/// # Errors
/// Where the code holds what no response could hold, such as a file that is no text.
pub(crate) fn approved_as_it_is(
    call: &Call<'_>,
    run: &RunState,
    looked_at: &ClosedGate,
) -> Result<(Vec<Artifact>, Map<String, Value>), Fault> {
    let mut keep = Map::new();
    if !is_edited(call, run, &looked_at.gate, &looked_at.hash) {
        return Ok((Vec::new(), keep));
    }
    let number = iteration(call, run);
    let artifact = |path: String, sha256: &str| Artifact {
        path,
        sha256: sha256.to_owned(),
        state: looked_at.state.clone(),
        iteration: Some(number),
    };
    let store = EvidenceStore::new(&call.dir);
    if call.definition.over(&looked_at.gate) == Some(CODE) {
        let path = code_path(number);
        let tree = Tree::on_disk(&files::place(&call.dir, &path)?)?;
        let hashes = tree.hashes();
        // Changed again since it was looked at, it is not what is decided on, which is refused.
        if code::hash(&hashes) != looked_at.hash {
            return Ok((Vec::new(), keep));
        }
        check_by_hand(&tree)?;
        let recorded = match memory::CODE.read(&run.kept)? {
            Some(code) => Tree::kept(&store, &code.tree)?.hashes(),
            None => Hashes::new(),
        };
        let changed = differences(&recorded, &hashes)
            .map(|file| {
                let sha256 = hashes.get(file).map_or(GONE, String::as_str);
                artifact(format!("{path}/{file}"), sha256)
            })
            .collect();
        let stored = StoredCode {
            iteration: number,
            tree: tree.keep(&store)?,
            hash: looked_at.hash.clone(),
        };
        memory::CODE.put(&mut keep, &stored)?;
        return Ok((changed, keep));
    }
    let bytes = files::read(&call.dir.join(PLAN_FILE))?;
    let Some(bytes) = bytes.filter(|bytes| sha256_hex(bytes) == looked_at.hash) else {
        return Ok((Vec::new(), keep));
    };
    let sha256 = files::keep(&store, &bytes)?;
    let plan = artifact(PLAN_FILE.to_owned(), &sha256);
    memory::PLAN.put(&mut keep, &StoredPlan { sha256 })?;
    Ok((vec![plan], keep))
}

/// The hash under which a file is recorded that went.
pub(crate) const GONE: &str = "";

/// Whether code that somebody changed by hand is such as a response may hold.
fn check_by_hand(tree: &Tree) -> Result<(), Fault> {
    bundle::check(&tree.in_bundle(), &[], &bundle::Rules::default())
        .map_err(|error| fault!("response_unreadable.check_by_hand", error))
}

/// What lies in the folder of the iteration's code.
fn code_on_disk(call: &Call<'_>, run: &RunState) -> Result<OnDisk, Fault> {
    let path = code_path(iteration(call, run));
    code::on_disk(&files::place(&call.dir, &path)?)
}

/// The response that led to where the token stands.
fn reviewed(run: &RunState, token: u32) -> Option<files::ResponseText> {
    let from = run.token(token)?.came_from.as_deref()?;
    files::taken(run, from)
}

/// The code as it was recorded. What cannot be read is none that a folder could be like.
fn code_of(run: &RunState) -> Option<StoredCode> {
    memory::CODE.read(&run.kept).ok().flatten()
}

/// The plan, if it is as it was recorded.
pub(crate) fn whole_plan(call: &Call<'_>, run: &RunState) -> Result<Option<String>, HandlerError> {
    let Some(recorded) = memory::PLAN.read(&run.kept)?.map(|plan| plan.sha256) else {
        return Ok(None);
    };
    match files::read(&call.dir.join(PLAN_FILE))? {
        Some(bytes) if sha256_hex(&bytes) == recorded => {
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Some(_) => Err(tampered(PLAN_FILE, "it is not what was recorded any more").into()),
        None => Err(tampered(PLAN_FILE, "it is gone").into()),
    }
}

/// The code of the iteration with its hash, if its folder is as it was recorded.
pub(crate) fn whole_code(call: &Call<'_>, run: &RunState) -> Result<(Tree, String), HandlerError> {
    let Some(recorded) = memory::CODE.read(&run.kept)? else {
        return Ok((Tree::default(), String::new()));
    };
    let tree = Tree::kept(&EvidenceStore::new(&call.dir), &recorded.tree)?;
    match code_flaws(call, run, &recorded, || Ok(tree.hashes()))?.first() {
        None => Ok((tree, recorded.hash)),
        Some((path, why)) => Err(tampered(path, why).into()),
    }
}

/// Where the code of the iteration is not as it was recorded, in the run's folder, and why. `hashes` are those of its files.
fn code_flaws(
    call: &Call<'_>,
    run: &RunState,
    recorded: &StoredCode,
    hashes: impl FnOnce() -> Result<Hashes, Fault>,
) -> Result<Vec<(String, &'static str)>, Fault> {
    let path = code_path(iteration(call, run));
    Ok(match code_on_disk(call, run)? {
        OnDisk::Files(found) if code::hash(&found) == recorded.hash => Vec::new(),
        OnDisk::Files(found) => differences(&hashes()?, &found)
            .map(|file| {
                (
                    format!("{path}/{file}"),
                    "it is not what was recorded any more",
                )
            })
            .collect(),
        OnDisk::Strange(place) => {
            let place = place.strip_prefix(&call.dir).unwrap_or(&place);
            vec![(place.display().to_string(), "it is no ordinary file")]
        }
        OnDisk::Nothing => vec![(path, "it is gone")],
    })
}

/// The paths at which two lists of files are not the same: those that were recorded, and then those that were added.
fn differences<'a>(recorded: &'a Hashes, found: &'a Hashes) -> impl Iterator<Item = &'a String> {
    let other = recorded
        .iter()
        .filter(|(path, sha256)| found.get(*path) != Some(*sha256));
    let added = found
        .iter()
        .filter(|(path, _)| !recorded.contains_key(*path));
    other.chain(added).map(|(path, _)| path)
}

/// The files of the iteration's code that are not as they were recorded, in the session's folder.
pub(crate) fn changed_code(call: &Call<'_>, run: &RunState) -> Vec<String> {
    let Some(recorded) = code_of(run) else {
        return Vec::new();
    };
    let store = EvidenceStore::new(&call.dir);
    let hashes = || Ok(Tree::kept(&store, &recorded.tree)?.hashes());
    match code_flaws(call, run, &recorded, hashes) {
        Ok(flaws) => flaws.into_iter().map(|(path, _)| path).collect(),
        Err(_) => vec![code_path(iteration(call, run))],
    }
}

/// The refusal of what somebody changed behind the session's back.
pub(crate) fn tampered(path: &str, why: &str) -> Refusal {
    Refusal::new(TAMPERED)
        .message(format!("{path} was changed by hand: {why}; it is not used"))
        .suggestion(format!(
            "{restore} puts back what was recorded, and keeps what is there beside it",
            restore = Verb::Restore
        ))
        .detail("path", path)
}

/// The same where there is no verdict to give.
pub(crate) fn fault(no: HandlerError) -> Fault {
    match no {
        HandlerError::Fault(fault) => fault,
        HandlerError::Refused(refusal) => {
            let recovery = match refusal.code.as_str() {
                TAMPERED => Verb::Restore,
                _ => Verb::Status,
            };
            let mut fault = Fault::new(
                Kind::Refused,
                refusal.code,
                refusal.message.unwrap_or_default(),
            )
            .recover(recovery)
            .suggest(refusal.suggestion.unwrap_or_default());
            fault.details = refusal.details;
            fault
        }
    }
}

/// Whether a file holds what it held when it was recorded.
pub(crate) fn is_whole(path: &Path, sha256: &str) -> bool {
    matches!(files::read(path), Ok(Some(bytes)) if sha256_hex(&bytes) == sha256)
}
