//! Whether what configures the runner, or is loaded before the tests, is as it was.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use workspace::convention::runner_config::{may_configure_a_runner, runner_config};
use workspace::git::{Change, Oid, RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::fault::Fault;

/// What of files configures a run of tests, by its hash; none where nothing of a file does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerConfig(pub BTreeMap<RepoPath, Option<String>>);

impl RunnerConfig {
    /// That of the files which are not as a commit has them, as far as it is another one.
    pub fn changed_since(
        repository: &Repository,
        last: &Oid,
        changes: &Changes,
    ) -> Result<Self, Fault> {
        let mut changed = BTreeMap::new();
        for path in paths(changes) {
            let now = now(repository, path);
            if now != before(repository, last, path)? {
                changed.insert(path.clone(), now);
            }
        }
        Ok(Self(changed))
    }

    /// The files in which it is neither as here nor, where it is not here, as the commit has it.
    pub fn lost(
        &self,
        repository: &Repository,
        last: &Oid,
        changes: &Changes,
    ) -> Result<Vec<RepoPath>, Fault> {
        let mut all = paths(changes);
        all.extend(self.0.keys());
        let mut lost = Vec::new();
        for path in all {
            let was = match self.0.get(path) {
                Some(was) => was.clone(),
                None => before(repository, last, path)?,
            };
            if was != now(repository, path) {
                lost.push(path.clone());
            }
        }
        Ok(lost)
    }
}

fn paths(changes: &Changes) -> BTreeSet<&RepoPath> {
    let files = changes.files.iter();
    files.flat_map(Change::paths).collect()
}

fn now(repository: &Repository, path: &RepoPath) -> Option<String> {
    let text = std::fs::read_to_string(repository.absolute(path)).ok()?;
    hash(path, &text)
}

fn before(repository: &Repository, last: &Oid, path: &RepoPath) -> Result<Option<String>, Fault> {
    // What no runner reads by its name is not looked up.
    if may_configure_a_runner(&path.to_string()) {
        let text = repository.file_at(last, path)?;
        return Ok(text.and_then(|text| hash(path, &text)));
    }
    Ok(None)
}

fn hash(path: &RepoPath, text: &str) -> Option<String> {
    let own = runner_config(&path.to_string(), text)?;
    Some(journal::sha256_hex(own.as_bytes()))
}
