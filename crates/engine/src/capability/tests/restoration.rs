//! How tests come back that are not as they were frozen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use journal::EvidenceStore;
use serde_json::{Map, Value};
use workspace::git::{RepoPath, Repository};

use crate::capability::memory::KEPT;
use crate::capability::tests::evidence::frozen::{TestChange, TestReader};
use crate::capability::tests::former::{Copies, FormerTests, Likeness};
use crate::capability::tests::read::Comparison;
use crate::fault::Fault;
use crate::next_step::NextStep;
use crate::support::HandlerError;

/// So many bytes of tests are copied when they are frozen.
const MOST_COPIED: usize = 1024 * 1024;

/// What puts tests back.
#[derive(Default)]
pub(super) struct Restoration {
    /// Commands, in their order.
    pub(super) steps: Vec<NextStep>,
    /// Whether they put all of them back.
    pub(super) is_whole: bool,
    /// What is to be put back by hand, since code stands beside it.
    pub(super) by_hand: Vec<String>,
    /// Where what is there now is kept, by its path.
    pub(super) aside: Map<String, Value>,
}

impl Comparison<'_> {
    /// How these tests come back.
    pub(super) fn restoration(
        &self,
        changed: &BTreeMap<RepoPath, TestChange>,
        reader: &TestReader<'_>,
        former: &FormerTests<'_>,
    ) -> Result<Restoration, HandlerError> {
        let store = EvidenceStore::new(&self.call.dir);
        let mut back = Restoration {
            is_whole: true,
            ..Restoration::default()
        };
        let mut taken = BTreeSet::new();
        for path in changed.keys() {
            let own = self.repository.absolute(path);
            // To put a test back must not cost what somebody has made of it.
            back.keep_aside(self.repository, &store, path)?;
            let copy = former.copy(path);
            if !reader.is_tests_alone(path) {
                // The code beside the tests is not to be put back with them.
                back.is_whole = false;
                back.by_hand.push(match copy {
                    Some(hash) => format!("{path} as in {}", store.path(hash).display()),
                    None => path.to_string(),
                });
                continue;
            }
            let mut is_there = own.exists();
            if !is_there
                && let Some(new) = former.new_name(path, (reader, &self.since.files), &taken)?
            {
                back.keep_aside(self.repository, &store, &new.path)?;
                back.steps.extend(folder_of(&own));
                let new_own = self.repository.absolute(&new.path);
                back.steps.push(moved(&new_own, &own));
                is_there = true;
                taken.insert(new.path);
                if new.is == Likeness::Bytes {
                    continue;
                }
            }
            if let Some(hash) = copy {
                back.steps
                    .extend(copied_back(self.repository, &store, path, hash, is_there));
            } else if self.repository.file_at(self.last, path)?.is_some() {
                back.steps.push(self.restored(path));
            } else {
                back.is_whole = false;
            }
        }
        Ok(back)
    }

    /// The step that puts a file back as the run's last commit has it.
    pub(super) fn restored(&self, path: &RepoPath) -> NextStep {
        let own = self.repository.absolute(path);
        let source = format!("--source={}", self.last.short());
        NextStep::git(["restore", &source, "--", &own.to_string_lossy()])
    }
}

impl Restoration {
    /// Keeps what a file holds now with the run's evidence.
    fn keep_aside(
        &mut self,
        repository: &Repository,
        store: &EvidenceStore,
        path: &RepoPath,
    ) -> Result<(), Fault> {
        if let Ok(bytes) = std::fs::read(repository.absolute(path))
            && bytes.len() <= MOST_COPIED
        {
            let copy = store.path(&store.put(&bytes).map_err(Fault::from)?);
            self.aside
                .insert(path.to_string(), copy.to_string_lossy().into());
        }
        Ok(())
    }
}

/// The hashes of what these files hold, as far as they are to be copied.
pub(super) fn copies<'p>(
    repository: &Repository,
    paths: impl IntoIterator<Item = &'p RepoPath>,
) -> Copies {
    let mut kept = BTreeMap::new();
    let mut room = MOST_COPIED;
    for path in paths {
        let Ok(bytes) = std::fs::read(repository.absolute(path)) else {
            continue;
        };
        if bytes.len() <= room {
            room -= bytes.len();
            kept.insert(path.clone(), journal::sha256_hex(&bytes));
        }
    }
    kept
}

/// Steps as a text names them behind what they do; nothing where there are none.
pub(super) fn in_brackets(steps: &[NextStep]) -> String {
    let steps: Vec<String> = steps.iter().map(NextStep::to_string).collect();
    match &steps[..] {
        [] => String::new(),
        steps => format!(" ({})", steps.join(", ")),
    }
}

/// The step that gives a file another name.
fn moved(from: &Path, to: &Path) -> NextStep {
    NextStep::shell(["mv", "--", &*from.to_string_lossy(), &*to.to_string_lossy()])
}

/// The step that makes the folder of a file, where there is none.
fn folder_of(file: &Path) -> Option<NextStep> {
    let folder = file.parent().filter(|folder| !folder.exists())?;
    Some(NextStep::shell([
        "mkdir",
        "-p",
        "--",
        &*folder.to_string_lossy(),
    ]))
}

/// The steps that put a test back as it was when it was frozen, where a copy of that is kept. `is_there` says that the file is
/// there then: it stays as executable as it is. What is kept can be read by its owner alone.
fn copied_back(
    repository: &Repository,
    store: &EvidenceStore,
    path: &RepoPath,
    hash: &str,
    is_there: bool,
) -> Vec<NextStep> {
    let Ok(bytes) = store.get(hash) else {
        return Vec::new();
    };
    let (copy, own) = (store.path(hash), repository.absolute(path));
    let (copy, to) = (copy.to_string_lossy(), own.to_string_lossy());
    if is_there {
        return vec![NextStep::shell(["cp", "--", &*copy, &*to])];
    }
    let mode = if bytes.starts_with(b"#!") {
        "755"
    } else {
        "644"
    };
    let install = NextStep::shell(["install", "-m", mode, "--", &*copy, &*to]);
    folder_of(&own).into_iter().chain([install]).collect()
}

/// The steps that put back what was frozen of the tests that are in the working tree in another form.
pub(crate) fn all_copied_back(
    repository: &Repository,
    dir: &Path,
    kept: &Map<String, Value>,
) -> Result<Vec<NextStep>, Fault> {
    let store = EvidenceStore::new(dir);
    let mut steps = Vec::new();
    for frozen in KEPT.all(kept)? {
        for (path, hash) in frozen {
            let Ok(bytes) = std::fs::read(repository.absolute(&path)) else {
                continue;
            };
            if journal::sha256_hex(&bytes) != hash {
                steps.extend(copied_back(repository, &store, &path, &hash, true));
            }
        }
    }
    Ok(steps)
}
