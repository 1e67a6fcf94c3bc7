//! The reader `work`: what became of the tasks in the working tree, where the project lies in a git repository. What a task names
//! as its files and tests is held against what was changed since the session has its items.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use journal::sha256_hex;
use machine::check::catalog::{Finder, Reader};
use machine::definition::FieldType::Strings;
use machine::state::{Item, ItemStatus};
use machine::{Reading, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use text::listed;
use workspace::git::{ContentId, RepoPath, Repository, TreeStatus};

use crate::call::Call;
use crate::capability::documents::bound;
use crate::capability::documents::finding_of;
use crate::capability::git::read::with_files;
use crate::capability::{DOCUMENTS, reader, reports};
use crate::fault::Fault;
use crate::refusal;
use crate::slot::Slot;
use crate::support::HandlerError;

/// The name of the reader.
pub(crate) const WORK: &str = "work";
/// The policy of a batch for which nothing was changed.
pub(crate) const BATCH_WITHOUT_CHANGE: &str = "batch_without_change";
/// The policy of a task that left its files alone, or whose tests are nowhere.
pub(crate) const TASK_WITHOUT_CHANGE: &str = "task_without_change";
/// The policy of work that is in no commit.
pub(crate) const WORK_UNCOMMITTED: &str = "work_uncommitted";
/// How the tree was when the items were settled.
const BEFORE: Slot<TreeBefore> = Slot::new("treeBefore");
/// What the tree was when the last batch was completed: SHA-256 of the last commit and of all that is changed beside it.
const SEEN: Slot<String> = Slot::new("treeSeen");
/// What belongs to Tramline itself, and is nobody's work.
const OWN: &str = ".taskmaster/";
/// As many files of a task are told.
const FEW: usize = 8;

/// How a working tree was.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TreeBefore {
    /// The last commit, where there was one.
    commit: Option<String>,
    /// What was changed beside it, with its content; none where it was deleted.
    dirty: BTreeMap<String, Option<String>>,
}

/// The reader, with what it gives.
pub(super) fn declared() -> Reader {
    let facts = [("untouched", Strings), ("uncommitted", Strings)];
    Reader {
        needs: &[DOCUMENTS],
        ..reader(&[], &facts)
    }
}

/// The policies, each with what finds it.
pub(super) fn policies() -> [(&'static str, Vec<Finder>); 3] {
    [BATCH_WITHOUT_CHANGE, TASK_WITHOUT_CHANGE, WORK_UNCOMMITTED]
        .map(|policy| (policy, vec![reports(WORK, None, &[])]))
}

/// The repository that the project lies in, and its status; none where it lies in none.
fn tree(call: &Call<'_>) -> Result<Option<Tree>, Fault> {
    match Repository::discover(call.root) {
        Ok(repository) => Tree::of(repository, call).map(Some),
        Err(_) => Ok(None),
    }
}

/// A repository, and how its working tree is.
struct Tree {
    repository: Repository,
    status: Rc<TreeStatus>,
}

impl Tree {
    fn of(repository: Repository, call: &Call<'_>) -> Result<Self, Fault> {
        let repository = repository.with_scope(call.root);
        let status = call.tree(&repository)?;
        Ok(Self { repository, status })
    }
}

/// A file that is changed beside the last commit.
struct DirtyFile {
    /// What it is called in the project.
    name: String,
    /// Its content; none where it is deleted.
    content: Option<String>,
    /// Whether git knows it.
    is_known: bool,
}

/// What is changed beside the last commit.
fn dirty(repository: &Repository, status: &TreeStatus) -> Result<Vec<DirtyFile>, Fault> {
    let changes = status.changes.iter();
    let named = changes.map(|change| (repository.name_in_scope(&change.path), change));
    let (named, paths): (Vec<_>, Vec<RepoPath>) = named
        .filter(|(name, _)| !name.starts_with(OWN))
        .map(|(name, change)| ((name, !change.untracked), change.path.clone()))
        .unzip();
    let hashed = repository.hash_files(&paths)?.into_iter();
    let files = named.into_iter().zip(hashed);
    let file =
        |((name, is_known), (_, content)): ((String, bool), (RepoPath, Option<ContentId>))| {
            DirtyFile {
                name,
                content: content.map(|id| id.as_str().to_owned()),
                is_known,
            }
        };
    Ok(files.map(file).collect())
}

/// What a run is to remember of the tree before its tasks are done.
pub(super) fn before(call: &Call<'_>) -> Result<Map<String, Value>, Fault> {
    let Some(Tree { repository, status }) = tree(call)? else {
        return Ok(Map::new());
    };
    let dirty = dirty(&repository, &status)?.into_iter();
    BEFORE.entry(&TreeBefore {
        commit: status.head.as_ref().map(|head| head.as_str().to_owned()),
        dirty: dirty.map(|file| (file.name, file.content)).collect(),
    })
}

/// Looks at what the tasks left behind: those of the batch in hand, or of all where none is.
pub(super) fn read(call: &Call<'_>, run: &RunState) -> Result<Reading, HandlerError> {
    let before = BEFORE.read(&run.kept)?;
    let Some(before) = before else {
        return Ok(Reading {
            facts: facts(&[], &[]),
            level: "claimed".to_owned(),
            ..Reading::default()
        });
    };
    // The goals were gathered in a repository: without it nothing would be looked at any more.
    let Tree { repository, status } = Tree::of(Repository::discover(call.root)?, call)?;
    let look = Look::of(repository, &status, &before)?;
    let in_batch = bound::batch_in_hand(run).is_some();
    let tasks = done(run);
    let mut reading = Reading {
        level: "file".to_owned(),
        ..Reading::default()
    };
    let untouched = look.untouched(&tasks);
    let uncommitted = look.uncommitted(&tasks);
    let names: Vec<&str> = untouched.iter().map(|(id, _)| *id).collect();
    let seen_before = SEEN.text(&run.kept);
    let stands_still = match seen_before {
        Some(seen) => seen == look.seen,
        None => look.changed.is_empty(),
    };
    if in_batch && stands_still && !untouched.is_empty() {
        let first = names.first().copied().unwrap_or_default();
        reading.findings.push(finding_of(refusal!(
            "batch_without_change.nothing",
            tasks = told(&untouched),
            first
        )));
    }
    if !look.has_base {
        let found = refusal!("task_without_change.no_base");
        reading.findings.push(finding_of(found));
    } else if !untouched.is_empty() {
        let found = refusal!("task_without_change.left_alone", tasks = told(&untouched));
        reading.findings.push(finding_of(found));
    } else if in_batch && stands_still && seen_before.is_some() {
        let named = tasks.iter().map(|(id, task)| (*id, named(task)));
        let known: Vec<_> = named
            .filter(|(_, named)| !named.is_empty() && can_be_seen(&look.repository, named))
            .collect();
        if !known.is_empty() {
            let found = refusal!("task_without_change.since_batch", tasks = told(&known));
            reading.findings.push(finding_of(found));
        }
    }
    if in_batch {
        SEEN.put(&mut reading.keep_run, &look.seen)?;
    }
    if !uncommitted.is_empty() {
        let files = listed(uncommitted.iter());
        let found = finding_of(refusal!("work_uncommitted.files", files));
        reading.findings.push(with_files(found, &uncommitted));
    }
    reading.facts = facts(&names, &uncommitted);
    Ok(reading)
}

fn facts(untouched: &[&str], uncommitted: &[String]) -> Map<String, Value> {
    Map::from_iter([
        ("untouched".to_owned(), json!(untouched)),
        ("uncommitted".to_owned(), json!(uncommitted)),
    ])
}

/// The tasks that are completed: of the batch in hand, or all of them.
fn done(run: &RunState) -> Vec<(&str, &Item)> {
    let is_done = |(_, task): &(&str, &Item)| task.status == ItemStatus::Done;
    match bound::batch_in_hand(run) {
        Some(_) => bound::tasks_in_hand(run).filter(is_done).collect(),
        None => bound::tasks(run).iter().filter(is_done).collect(),
    }
}

/// What a task names: its files and its tests.
fn named(task: &Item) -> Vec<&str> {
    let all = task
        .texts("files")
        .chain(task.texts("tests"))
        .map(str::trim);
    // All of the project is a folder of its own.
    let all = all.map(|name| {
        if matches!(name, "." | "./") {
            "**"
        } else {
            name
        }
    });
    all.filter(|name| !name.is_empty()).collect()
}

/// The tree against how it was.
struct Look {
    repository: Repository,
    /// What was changed since, committed or not, as a task would name it.
    changed: Vec<String>,
    /// What was changed since and is in no commit.
    dirty: Vec<DirtyFile>,
    /// The tree as it is, in one word.
    seen: String,
    /// Whether the commit of before is there, and what was committed since can be told.
    has_base: bool,
}

impl Look {
    fn of(repository: Repository, status: &TreeStatus, before: &TreeBefore) -> Result<Self, Fault> {
        let mut has_base = true;
        let mut dirty = dirty(&repository, status)?;
        // An empty commit changes nothing.
        let tree = match &status.head {
            Some(head) => repository.resolve_tree(head.as_str())?,
            None => None,
        };
        let mut seen = tree.map_or_else(String::new, |tree| tree.as_str().to_owned());
        for file in &dirty {
            let content = file.content.as_deref().unwrap_or_default();
            seen.extend(["\n", file.name.as_str(), "\0", content]);
        }
        let now: HashSet<&str> = dirty.iter().map(|file| file.name.as_str()).collect();
        // What was dirty before and is no more was committed, or put back.
        let gone = before
            .dirty
            .keys()
            .filter(|name| !now.contains(name.as_str()));
        let mut changed: Vec<String> = gone.cloned().collect();
        dirty.retain(|file| before.dirty.get(&file.name) != Some(&file.content));
        changed.extend(dirty.iter().map(|file| file.name.clone()));
        let committed = match (&before.commit, &status.head) {
            (Some(base), Some(head)) if base != head.as_str() => {
                let base = repository.resolve(base).ok().flatten();
                has_base = base.is_some();
                match base {
                    Some(base) => repository.changed_paths(&base, head)?,
                    None => Vec::new(),
                }
            }
            (None, Some(_)) => repository.known_files()?,
            _ => Vec::new(),
        };
        changed.extend(committed.iter().map(|path| repository.name_in_scope(path)));
        Ok(Self {
            repository,
            changed,
            dirty,
            seen: sha256_hex(seen.as_bytes()),
            has_base,
        })
    }

    /// The tasks none of whose files and tests was changed, each with what it names.
    fn untouched<'t>(&self, tasks: &[(&'t str, &'t Item)]) -> Vec<(&'t str, Vec<&'t str>)> {
        if !self.has_base {
            return Vec::new();
        }
        let named: Vec<Vec<&str>> = tasks.iter().map(|(_, task)| named(task)).collect();
        let changed: Vec<&str> = self.changed.iter().map(String::as_str).collect();
        let touched = machine::overlap::meeting(&named, &changed);
        let mut untouched = Vec::new();
        for (((id, _), named), touched) in tasks.iter().zip(named).zip(touched) {
            if !touched && !named.is_empty() && can_be_seen(&self.repository, &named) {
                untouched.push((*id, named));
            }
        }
        untouched
    }

    /// What is in no commit: of what git knows all, and else what completed tasks name.
    fn uncommitted(&self, tasks: &[(&str, &Item)]) -> Vec<String> {
        let named: Vec<&str> = tasks.iter().flat_map(|(_, task)| named(task)).collect();
        let new: Vec<Vec<&str>> = self
            .dirty
            .iter()
            .map(|file| vec![file.name.as_str()])
            .collect();
        let is_named = machine::overlap::meeting(&new, &named);
        let all = self.dirty.iter().zip(is_named);
        all.filter(|(file, is_named)| file.is_known || *is_named)
            .map(|(file, _)| file.name.clone())
            .collect()
    }
}

/// Whether a change of what is named would be seen: git looks away from what is ignored, and from what lies elsewhere.
fn can_be_seen(repository: &Repository, named: &[&str]) -> bool {
    for name in named {
        let name = name.trim().trim_start_matches("./");
        if name.starts_with(['/', '~']) || name.starts_with("../") {
            return false;
        }
        let scope = repository.scope();
        // Neither does it look behind a link, or into a submodule: that it cannot say is no fault.
        let path = RepoPath::from_bytes(format!("{scope}{name}").into_bytes());
        if path.is_ok_and(|path| repository.is_ignored(&path).unwrap_or(true)) {
            return false;
        }
    }
    true
}

/// Tasks, and what they name, for people.
fn told(tasks: &[(&str, Vec<&str>)]) -> String {
    let told = tasks.iter().map(|(id, named)| {
        let some: Vec<&str> = named.iter().take(FEW).copied().collect();
        format!("`{id}` ({})", some.join(", "))
    });
    listed(told)
}
