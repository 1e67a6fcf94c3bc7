//! What a session does to its folder. Each effect says beforehand all that comes of it, and takes every byte that it
//! writes from the evidence: whoever finds one unfinished does it again, and nothing comes out otherwise.

use std::path::Path;

use journal::{EvidenceStore, durable, sha256_hex};
use machine::command::Artifact;
use machine::definition::EndStatus;
use machine::state::Pending;
use machine::trigger::Trigger;
use machine::{Refusal, RunState};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::files::code::{self, Tree, free_name};
use crate::capability::files::subject::{PLAN_FILE, whole_code, whole_plan};
use crate::capability::profile::memory::intent::{SetAside, StoreCode, StorePlan};
use crate::capability::profile::memory::{
    CARRIED, CODE, PLAN, SENT_BACK, SentBack, StoredCode, StoredPlan, plan_hash,
};
use crate::capability::profile::session::{code_path, iteration};
use crate::capability::{EffectSteps, NOT_DONE};
use crate::fail_point;
use crate::fault::Fault;
use crate::generic::files;
use crate::intent;
use crate::support::{EffectRequest, HandlerError, Outcome};
use crate::view::session::history;

/// So many answers that were sent back are remembered; what is older stands in the journal alone.
const MOST_SENT_BACK: usize = 50;

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare,
    perform,
    look: NOT_DONE,
};

/// Finds out what an effect is going to do.
fn prepare(
    call: &Call<'_>,
    asked: &EffectRequest<'_>,
    run: &RunState,
) -> Result<Value, HandlerError> {
    let fact = |name: &str| asked.facts.get(name).and_then(Value::as_str);
    let iteration = iteration(call, run);
    match asked.effect {
        "plan.store" => written(&StorePlan {
            sha256: fact("staged").unwrap_or_default().to_owned(),
            iteration,
        }),
        "code.store" => written(&StoreCode {
            iteration,
            tree: whole(fact("staged")),
            before: CARRIED.read(&run.kept)?.map(|carried| carried.hash),
        }),
        "code.reset" => written(&StoreCode {
            iteration,
            tree: whole(
                CARRIED
                    .read(&run.kept)?
                    .as_ref()
                    .map(|carried| &*carried.tree),
            ),
            before: None,
        }),
        "plan.reset" => {
            let moves = moves(call, [PLAN_FILE], "rejected")?;
            written(&SetAside {
                moves,
                iteration,
                ..SetAside::default()
            })
        }
        "iteration.open" => open(call, asked, run),
        "response.aside" => aside(call, asked, run),
        other => Err(unknown(other).into()),
    }
}

/// A tree that there is: the name of none is empty.
fn whole(tree: Option<&str>) -> Option<String> {
    tree.filter(|tree| !tree.is_empty()).map(str::to_owned)
}

fn written<T: Serialize>(what: &T) -> Result<Value, HandlerError> {
    Ok(intent::write(what)?)
}

/// The artifacts of an effect: what it wrote at the state where it stands, in an iteration.
struct Written<'a> {
    pending: &'a Pending,
    iteration: i64,
}

impl Written<'_> {
    fn file(&self, path: impl Into<String>, sha256: &str) -> Artifact {
        Artifact {
            path: path.into(),
            sha256: sha256.to_owned(),
            state: self.pending.at.state.clone(),
            iteration: Some(self.iteration),
        }
    }

    /// The files of the iteration's code.
    fn code(&self, tree: &Tree) -> Vec<Artifact> {
        let folder = code_path(self.iteration);
        let files = tree.hashes().into_iter();
        files
            .map(|(path, sha256)| self.file(format!("{folder}/{path}"), &sha256))
            .collect()
    }
}

/// Carries an effect out.
fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let of = |iteration| Written { pending, iteration };
    let mut keep = Map::new();
    let artifacts = match pending.name.as_str() {
        "plan.store" => {
            let StorePlan { sha256, iteration } = intent::read(&pending.what)?;
            let bytes = EvidenceStore::new(&call.dir).get(&sha256)?;
            put_over(call, PLAN_FILE, &bytes, plan_hash(run))?;
            let artifact = of(iteration).file(PLAN_FILE, &sha256);
            PLAN.put(&mut keep, &StoredPlan { sha256 })?;
            vec![artifact]
        }
        "code.store" => {
            let what: StoreCode = intent::read(&pending.what)?;
            let tree = store_code(call, &what, "code.changed", &mut keep)?;
            of(what.iteration).code(&tree)
        }
        "code.reset" => {
            let what: StoreCode = intent::read(&pending.what)?;
            reset(call, &what, &of(what.iteration), &mut keep)?
        }
        "plan.reset" => {
            let what: SetAside = intent::read(&pending.what)?;
            PLAN.forget(&mut keep);
            moved_aside(call, &what, &of(what.iteration))?
        }
        "iteration.open" => {
            let what: StoreCode = intent::read(&pending.what)?;
            opened(call, &what, &of(what.iteration), &mut keep)?
        }
        "response.aside" => {
            let what: SetAside = intent::read(&pending.what)?;
            if let Some(state) = &what.state {
                files::TAKEN.of(state).forget(&mut keep);
            }
            let artifacts = moved_aside(call, &what, &of(what.iteration))?;
            sent_back(call, run, &what, pending.reason.as_deref(), &mut keep)?;
            artifacts
        }
        other => return Err(unknown(other)),
    };
    Ok(Outcome::Done {
        result: Value::Null,
        keep,
        artifacts,
    })
}

/// Writes the code of an iteration as a whole.
fn store_code(
    call: &Call<'_>,
    what: &StoreCode,
    aside: &str,
    keep: &mut Map<String, Value>,
) -> Result<Tree, Fault> {
    let name = what.tree.clone().unwrap_or_default();
    let tree = Tree::kept(&EvidenceStore::new(&call.dir), &name)?;
    let place = files::place(&call.dir, &code_path(what.iteration))?;
    let moved = tree.write(&place, what.before.as_deref(), aside)?;
    // What was sent back was put aside on purpose.
    let by_hand = aside.ends_with("changed");
    if let (true, Some(moved), Some(session)) = (by_hand, moved, &call.session) {
        session.warn(format!(
            "code that was changed by hand stands aside now, in {}",
            moved.display()
        ));
    }
    let stored = StoredCode {
        iteration: what.iteration,
        tree: name,
        hash: code::hash(&tree.hashes()),
    };
    CODE.put(keep, &stored)?;
    Ok(tree)
}

/// The code as it was when the iteration began: what was carried forward, or none.
fn reset(
    call: &Call<'_>,
    what: &StoreCode,
    written: &Written<'_>,
    keep: &mut Map<String, Value>,
) -> Result<Vec<Artifact>, Fault> {
    if what.tree.is_some() {
        let tree = store_code(call, what, "code.rejected", keep)?;
        return Ok(written.code(&tree));
    }
    let code = files::place(&call.dir, &code_path(what.iteration))?;
    let folder = call.dir.join(format!("iteration-{}", what.iteration));
    if files::is_there(&code)? {
        let name = free_name(&folder, "code.rejected")?;
        code::rename(&code, &folder.join(name)).map_err(files::unwritable(&code))?;
        durable::sync_folder(&folder).map_err(files::unwritable(&folder))?;
    }
    CODE.forget(keep);
    Ok(Vec::new())
}

/// A new iteration: its folder, with the code of the one before where that is carried on.
fn open(call: &Call<'_>, asked: &EffectRequest<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let carries = asked.with.get("carry").and_then(Value::as_bool) == Some(true);
    let mut what = StoreCode {
        iteration: iteration(call, run),
        tree: None,
        before: None,
    };
    if carries {
        let mut before = run.clone();
        if let Some(counter) = &call.definition.counter {
            before
                .vars
                .insert(counter.value.clone(), Value::from(what.iteration - 1));
        }
        whole_code(call, &before)?;
        what.tree = whole(CODE.read(&run.kept)?.as_ref().map(|code| &*code.tree));
    } else {
        whole_plan(call, run)?;
    }
    written(&what)
}

fn opened(
    call: &Call<'_>,
    what: &StoreCode,
    written: &Written<'_>,
    keep: &mut Map<String, Value>,
) -> Result<Vec<Artifact>, Fault> {
    let number = what.iteration;
    // Whatever stands there, the code goes into a folder of the session's own.
    files::place(&call.dir, &code_path(number))?;
    let folder = call.dir.join(format!("iteration-{number}"));
    fail_point::io(|| durable::ensure_folder(&folder)).map_err(files::unwritable(&folder))?;
    CODE.forget(keep);
    CARRIED.forget(keep);
    if what.tree.is_none() {
        return Ok(Vec::new());
    }
    let tree = store_code(call, what, "code.changed", keep)?;
    if let Some(code) = CODE.read(keep)? {
        CARRIED.put(keep, &code)?;
    }
    Ok(written.code(&tree))
}

/// The files of the state that the edge leads to make room for new ones.
fn aside(
    call: &Call<'_>,
    asked: &EffectRequest<'_>,
    run: &RunState,
) -> Result<Value, HandlerError> {
    let edges = call.definition.edges(&asked.at.state, asked.at.trigger);
    let to = edges
        .get(asked.at.edge)
        .and_then(|edge| edge.to.as_ref())
        .ok_or_else(|| Refusal::new("definition_fault"))?;
    let rejected = asked.at.trigger == Trigger::Reject;
    let word = if rejected { "rejected" } else { "reopened" };
    let error = broke_down(call, run, asked.token);
    let prompt = call.definition.prompt(to, &run.vars);
    // The prompt is made anew where there is something to say of the answer; one that somebody edited is theirs.
    let prompt = match prompt {
        Some(prompt) if rejected || (error.is_some() && is_ours(call, &prompt)?) => Some(prompt),
        _ => None,
    };
    let response = call.definition.response(to, &run.vars);
    // What somebody wrote too early behind a closed gate is about what is sent back, and not about what comes next.
    let early = rejected
        .then(|| call.definition.response(&asked.at.state, &run.vars))
        .flatten()
        .filter(|early| response.as_ref() != Some(early));
    let all = response.iter().chain(&prompt).chain(&early);
    let moves = moves(call, all.map(String::as_str), word)?;
    let aside = moves
        .iter()
        .find(|[from, _]| Some(from) == response.as_ref());
    written(&SetAside {
        response: aside.map(|[_, to]| to.clone()),
        moves,
        state: Some(to.value.clone()),
        iteration: iteration(call, run),
        error,
    })
}

/// Why a run broke down at the state where the token stands, if it did.
fn broke_down(call: &Call<'_>, run: &RunState, token: u32) -> Option<String> {
    let token = run.token(token)?;
    let end = call.definition.state(&token.state)?.end.as_ref()?;
    token
        .reason
        .clone()
        .filter(|_| end.value == EndStatus::Error)
}

/// Whether a file of the session holds what was recorded of it at some time.
fn is_ours(call: &Call<'_>, path: &str) -> Result<bool, Fault> {
    let Some(bytes) = files::read(&files::place(&call.dir, path)?)? else {
        return Ok(false);
    };
    let recorded = history::places_of(&call.dir, &sha256_hex(&bytes))?;
    Ok(recorded.iter().any(|place| place == path))
}

/// Remembers what is sent back, and what was said of it.
fn sent_back(
    call: &Call<'_>,
    run: &RunState,
    what: &SetAside,
    said: Option<&str>,
    keep: &mut Map<String, Value>,
) -> Result<(), Fault> {
    let Some(state) = what.state.clone() else {
        return Ok(());
    };
    let store = EvidenceStore::new(&call.dir);
    let said = said.filter(|said| !said.trim().is_empty());
    let mut all = SENT_BACK.read(&run.kept)?.unwrap_or_default();
    let sha256 = match &what.response {
        Some(path) => files::read(&call.dir.join(path))?
            .map(|bytes| files::keep(&store, &bytes))
            .transpose()?,
        None => None,
    };
    all.push(SentBack {
        state,
        iteration: what.iteration,
        feedback: said
            .map(|said| files::keep(&store, said.as_bytes()))
            .transpose()?,
        error: what.error.clone(),
        path: what.response.clone(),
        sha256,
    });
    let surplus = all.len().saturating_sub(MOST_SENT_BACK);
    all.drain(..surplus);
    SENT_BACK.put(keep, &all)
}

/// The name under which a file of the session stands aside: `x.md` as `x.WORD-1.md`.
fn put_aside_as(dir: &Path, path: &str, word: &str) -> Result<String, Fault> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "md"));
    let name = free_name(&dir.join(folder), &format!("{stem}.{word}.{ending}"))?;
    Ok(if folder.is_empty() {
        name
    } else {
        format!("{folder}/{name}")
    })
}

/// Where those of these files stand that are there, and where they are to stand aside.
fn moves<'p>(
    call: &Call<'_>,
    paths: impl IntoIterator<Item = &'p str>,
    word: &str,
) -> Result<Vec<[String; 2]>, Fault> {
    let mut moves = Vec::new();
    for path in paths {
        if files::is_there(&files::place(&call.dir, path)?)? {
            moves.push([path.to_owned(), put_aside_as(&call.dir, path, word)?]);
        }
    }
    Ok(moves)
}

/// Puts files aside, and gives what stands aside then.
fn moved_aside(
    call: &Call<'_>,
    what: &SetAside,
    written: &Written<'_>,
) -> Result<Vec<Artifact>, Fault> {
    let mut artifacts = Vec::new();
    for [from, name] in &what.moves {
        let (from, to) = (call.dir.join(from), call.dir.join(name));
        // What stands aside already was moved by a process that is gone: what is here now came after it.
        if files::is_there(&from)? && !files::is_there(&to)? {
            code::rename(&from, &to).map_err(files::unwritable(&from))?;
            if let Some(folder) = to.parent() {
                durable::sync_folder(folder).map_err(files::unwritable(folder))?;
            }
        }
        if let Some(bytes) = files::read(&to)? {
            artifacts.push(written.file(name, &sha256_hex(&bytes)));
        }
    }
    Ok(artifacts)
}

/// Makes `bytes` the content of a file of the session. What stands there stands aside, unless it was ours, of the hash
/// `ours`.
fn put_over(call: &Call<'_>, name: &str, bytes: &[u8], ours: Option<&str>) -> Result<(), Fault> {
    let place = call.dir.join(name);
    let there = files::read(&place).ok().flatten();
    let is_known = there
        .is_some_and(|there| there == bytes || ours.is_some_and(|ours| sha256_hex(&there) == ours));
    if !is_known
        && let Some(aside) = made_room(&call.dir, name, "changed")?
        && let Some(session) = &call.session
    {
        session.warn(format!(
            "{name} was changed by hand, and stands aside as {aside}"
        ));
    }
    files::put(&place, bytes)
}

/// Puts what stands at `path` of a run's folder aside, if anything does, and gives the name that it has then.
pub(crate) fn made_room(dir: &Path, path: &str, word: &str) -> Result<Option<String>, Fault> {
    let place = files::place(dir, path)?;
    if !files::is_there(&place)? {
        return Ok(None);
    }
    let aside = put_aside_as(dir, path, word)?;
    code::rename(&place, &dir.join(&aside)).map_err(files::unwritable(&place))?;
    Ok(Some(aside))
}

fn unknown(name: &str) -> Fault {
    Fault::bug(format!("a session has no effect `{name}`"))
}
