//! What a session does to its folder. Each effect says beforehand all that comes of it, and takes every byte that it
//! writes from the evidence: whoever finds one unfinished does it again, and nothing comes out otherwise.

use std::path::Path;

use journal::{EvidenceStore, durable, sha256_hex};
use rails::command::Artifact;
use rails::state::Pending;
use rails::trigger::Trigger;
use rails::{Refusal, RunState};
use serde_json::{Map, Value, json};

use super::code::{self, Tree, free_name};
use super::subject::{PLAN_FILE, is_approved, tampered, whole_code};
use super::{CARRIED, CODE, PLAN, code_path, iteration, kept};
use crate::call::Call;
use crate::fail_point;
use crate::fault::Fault;
use crate::generic::files;
use crate::support::{Asked, No, Outcome};

/// Finds out what an effect is going to do.
pub(crate) fn prepare(call: &Call<'_>, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
    let fact = |name: &str| asked.facts.get(name).and_then(Value::as_str).unwrap_or("");
    match asked.effect {
        "plan.store" => Ok(json!({ "sha256": fact("staged"), "iteration": iteration(call, run) })),
        "code.store" => Ok(json!({
            "iteration": iteration(call, run),
            "tree": fact("staged"),
            "before": kept(run, CARRIED, "hash"),
        })),
        "code.reset" => Ok(json!({
            "iteration": iteration(call, run),
            "tree": kept(run, CARRIED, "tree").unwrap_or_default(),
        })),
        "plan.reset" => {
            let mut moves = Vec::new();
            if files::is_there(&call.dir.join(PLAN_FILE))? {
                moves.push([
                    PLAN_FILE.to_owned(),
                    put_aside_as(&call.dir, PLAN_FILE, "rejected")?,
                ]);
            }
            Ok(json!({ "moves": moves, "iteration": iteration(call, run) }))
        }
        "iteration.open" => open(call, asked, run),
        "response.aside" => aside(call, asked, run),
        other => Err(unknown(other).into()),
    }
}

/// Carries an effect out.
pub(crate) fn perform(
    call: &Call<'_>,
    run: &RunState,
    pending: &Pending,
) -> Result<Outcome, Fault> {
    let what = &pending.what;
    let artifact = |path: String, sha256: &str| Artifact {
        path,
        sha256: sha256.to_owned(),
        state: pending.at.state.clone(),
        iteration: what["iteration"].as_i64(),
    };
    match pending.name.as_str() {
        "plan.store" => {
            let sha256 = what["sha256"].as_str().unwrap_or_default();
            let bytes = EvidenceStore::new(&call.dir).get(sha256)?;
            put_over(call, PLAN_FILE, &bytes, kept(run, PLAN, "sha256"))?;
            Ok(Outcome::Done {
                result: Value::Null,
                keep: remembered(PLAN, json!({ "sha256": sha256 })),
                artifacts: vec![artifact(PLAN_FILE.to_owned(), sha256)],
            })
        }
        "code.store" => {
            let before = what["before"].as_str();
            let (tree, keep) = store_code(call, what, before, "code.changed")?;
            let folder = code_path(what["iteration"].as_i64().unwrap_or_default());
            let artifacts = tree
                .hashes()
                .iter()
                .map(|(path, sha256)| artifact(format!("{folder}/{path}"), sha256))
                .collect();
            Ok(Outcome::Done {
                result: Value::Null,
                keep,
                artifacts,
            })
        }
        "code.reset" => reset(call, what, &artifact),
        "plan.reset" => Ok(Outcome::Done {
            result: Value::Null,
            keep: remembered(PLAN, Value::Null),
            artifacts: moved_aside(call, what, &artifact)?,
        }),
        "iteration.open" => opened(call, run, what, &artifact),
        "response.aside" => Ok(Outcome::Done {
            result: Value::Null,
            // What was taken in of them counts no more.
            keep: files::forgotten(what["state"].as_str().unwrap_or_default()),
            artifacts: moved_aside(call, what, &artifact)?,
        }),
        other => Err(unknown(other)),
    }
}

fn remembered(name: &str, value: Value) -> Map<String, Value> {
    let mut keep = Map::new();
    keep.insert(name.to_owned(), value);
    keep
}

/// Writes the code of an iteration as a whole.
fn store_code(
    call: &Call<'_>,
    what: &Value,
    before: Option<&str>,
    aside: &str,
) -> Result<(Tree, Map<String, Value>), Fault> {
    let number = what["iteration"].as_i64().unwrap_or_default();
    let kept = what["tree"].as_str().unwrap_or_default();
    let tree = Tree::kept(&EvidenceStore::new(&call.dir), kept)?;
    let moved = tree.write(&files::place(&call.dir, &code_path(number))?, before, aside)?;
    // What was sent back was put aside on purpose.
    let by_hand = aside.ends_with("changed");
    if let (true, Some(moved), Some(session)) = (by_hand, moved, &call.session) {
        session.warn(format!(
            "code that was changed by hand stands aside now, in {}",
            moved.display()
        ));
    }
    let keep = remembered(
        CODE,
        json!({ "iteration": number, "tree": kept, "hash": code::hash(&tree.hashes()) }),
    );
    Ok((tree, keep))
}

/// The code as it was when the iteration began: what was carried forward, or none.
fn reset(
    call: &Call<'_>,
    what: &Value,
    artifact: &dyn Fn(String, &str) -> Artifact,
) -> Result<Outcome, Fault> {
    let number = what["iteration"].as_i64().unwrap_or_default();
    let mut artifacts = Vec::new();
    let tree = what["tree"].as_str().unwrap_or_default();
    let keep = if tree.is_empty() {
        let code = files::place(&call.dir, &code_path(number))?;
        let folder = call.dir.join(format!("iteration-{number}"));
        if files::is_there(&code)? {
            let name = free_name(&folder, "code.rejected")?;
            code::rename(&code, &folder.join(name))
                .map_err(|error| files::unwritable(&code, &error))?;
            durable::sync_folder(&folder).map_err(|error| files::unwritable(&folder, &error))?;
        }
        remembered(CODE, Value::Null)
    } else {
        let (tree, keep) = store_code(call, what, None, "code.rejected")?;
        artifacts.extend(
            tree.hashes()
                .iter()
                .map(|(path, sha256)| artifact(format!("{}/{path}", code_path(number)), sha256)),
        );
        keep
    };
    Ok(Outcome::Done {
        result: Value::Null,
        keep,
        artifacts,
    })
}

/// A new iteration: its folder, with the code of the one before where that is carried on.
fn open(call: &Call<'_>, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
    let carries = asked.with.get("carry").and_then(Value::as_bool) == Some(true);
    let number = iteration(call, run);
    if carries {
        let mut before = run.clone();
        if let Some(counter) = &call.definition.counter {
            before
                .vars
                .insert(counter.value.clone(), Value::from(number - 1));
        }
        whole_code(call, &before)?;
        return Ok(json!({ "iteration": number, "tree": kept(run, CODE, "tree") }));
    }
    let mut what = json!({ "iteration": number, "tree": "" });
    if let Some(recorded) = kept(run, PLAN, "sha256") {
        let bytes = files::read(&call.dir.join(PLAN_FILE))?
            .ok_or_else(|| tampered(PLAN_FILE, "it is gone"))?;
        let found = sha256_hex(&bytes);
        if found != recorded {
            // Somebody mended it by hand, and somebody looked at just that and approved it.
            if !is_approved(&call.definition, run, &found) {
                let why = "it is not what was recorded any more";
                return Err(tampered(PLAN_FILE, why).into());
            }
            files::keep(&EvidenceStore::new(&call.dir), &bytes)?;
            what["plan"] = Value::from(found);
        }
    }
    Ok(what)
}

fn opened(
    call: &Call<'_>,
    run: &RunState,
    what: &Value,
    artifact: &dyn Fn(String, &str) -> Artifact,
) -> Result<Outcome, Fault> {
    let number = what["iteration"].as_i64().unwrap_or_default();
    // Whatever stands there, the code goes into a folder of the session's own.
    files::place(&call.dir, &code_path(number))?;
    let folder = call.dir.join(format!("iteration-{number}"));
    fail_point::reach("io");
    durable::ensure_folder(&folder).map_err(|error| files::unwritable(&folder, &error))?;
    fail_point::reach("io");
    let mut artifacts = Vec::new();
    let mut keep = remembered(CODE, Value::Null);
    keep.insert(CARRIED.to_owned(), Value::Null);
    if let Some(sha256) = what["plan"].as_str() {
        keep.insert(PLAN.to_owned(), json!({ "sha256": sha256 }));
        artifacts.push(Artifact {
            iteration: Some(iteration(call, run)),
            ..artifact(PLAN_FILE.to_owned(), sha256)
        });
    }
    let tree = what["tree"].as_str().unwrap_or_default();
    if !tree.is_empty() {
        let (carried, code) = store_code(call, what, None, "code.changed")?;
        artifacts.extend(
            carried
                .hashes()
                .iter()
                .map(|(path, sha256)| artifact(format!("{}/{path}", code_path(number)), sha256)),
        );
        keep.insert(CARRIED.to_owned(), code[CODE].clone());
        keep.extend(code);
    }
    Ok(Outcome::Done {
        result: Value::Null,
        keep,
        artifacts,
    })
}

/// The files of the state that the edge leads to make room for new ones.
fn aside(call: &Call<'_>, asked: &Asked<'_>, run: &RunState) -> Result<Value, No> {
    let edges = call.definition.edges(&asked.at.state, asked.at.trigger);
    let to = edges
        .get(asked.at.edge)
        .and_then(|edge| edge.to.as_ref())
        .ok_or_else(|| Refusal::new("definition_fault"))?;
    let rejected = asked.at.trigger == Trigger::Reject;
    let word = if rejected { "rejected" } else { "reopened" };
    // After a rejection the prompt is made anew, with what was said; after a step back the same one holds.
    let prompt = rejected
        .then(|| call.definition.prompt(to, &run.vars))
        .flatten();
    let response = call.definition.response(to, &run.vars);
    // What somebody wrote too early behind a closed gate is about what is sent back, and not about what comes next.
    let early = rejected
        .then(|| call.definition.response(&asked.at.state, &run.vars))
        .flatten()
        .filter(|early| response.as_ref() != Some(early));
    let mut moves = Vec::new();
    for path in response.into_iter().chain(prompt).chain(early) {
        if files::is_there(&files::place(&call.dir, &path)?)? {
            moves.push([path.clone(), put_aside_as(&call.dir, &path, word)?]);
        }
    }
    Ok(json!({ "moves": moves, "state": to.value, "iteration": iteration(call, run) }))
}

/// The name under which a file of the session stands aside: `x.md` as `x.WORD-1.md`.
pub(crate) fn put_aside_as(dir: &Path, path: &str, word: &str) -> Result<String, Fault> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "md"));
    let name = free_name(&dir.join(folder), &format!("{stem}.{word}.{ending}"))?;
    Ok(if folder.is_empty() {
        name
    } else {
        format!("{folder}/{name}")
    })
}

/// Puts files aside, and gives what stands aside then.
fn moved_aside(
    call: &Call<'_>,
    what: &Value,
    artifact: &dyn Fn(String, &str) -> Artifact,
) -> Result<Vec<Artifact>, Fault> {
    let mut artifacts = Vec::new();
    for pair in what["moves"].as_array().into_iter().flatten() {
        let (Some(from), Some(name)) = (pair[0].as_str(), pair[1].as_str()) else {
            continue;
        };
        let (from, to) = (call.dir.join(from), call.dir.join(name));
        // What stands aside already was moved by a process that is gone: what is here now came after it.
        if files::is_there(&from)? && !files::is_there(&to)? {
            code::rename(&from, &to).map_err(|error| files::unwritable(&from, &error))?;
            if let Some(folder) = to.parent() {
                durable::sync_folder(folder).map_err(|error| files::unwritable(folder, &error))?;
            }
        }
        if let Some(bytes) = files::read(&to)? {
            artifacts.push(artifact(name.to_owned(), &sha256_hex(&bytes)));
        }
    }
    Ok(artifacts)
}

/// Makes `bytes` the content of a file of the session. What stands there stands aside, unless it was ours, of the hash
/// `ours`.
fn put_over(call: &Call<'_>, name: &str, bytes: &[u8], ours: Option<&str>) -> Result<(), Fault> {
    let place = call.dir.join(name);
    if files::is_there(&place)? {
        let there = files::read(&place).ok().flatten();
        let known = there.is_some_and(|there| {
            there == bytes || ours.is_some_and(|ours| sha256_hex(&there) == ours)
        });
        if !known {
            let aside = put_aside_as(&call.dir, name, "changed")?;
            code::rename(&place, &call.dir.join(&aside))
                .map_err(|error| files::unwritable(&place, &error))?;
            if let Some(session) = &call.session {
                session.warn(format!(
                    "{name} was changed by hand, and stands aside as {aside}"
                ));
            }
        }
    }
    files::put(&place, bytes)
}

fn unknown(name: &str) -> Fault {
    Fault::bug(format!("a session has no effect `{name}`"))
}
