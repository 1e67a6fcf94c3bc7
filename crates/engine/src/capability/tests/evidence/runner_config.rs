//! Whether what configures the runner, or is loaded before the tests, is as it was.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use workspace::convention::runner_config::{loads, may_configure_a_runner, runner_config};
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
        let mut look = Look::at(repository);
        let mut changed = BTreeMap::new();
        for path in paths(changes) {
            let now = look.now(path);
            if now != look.before(last, path)? {
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
        let mut look = Look::at(repository);
        let mut all = paths(changes);
        all.extend(self.0.keys());
        let mut lost = Vec::new();
        for path in all {
            let was = match self.0.get(path) {
                Some(was) => was.clone(),
                None => look.before(last, path)?,
            };
            if was != look.now(path) {
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

/// Looks at what configures a runner.
struct Look<'a> {
    repository: &'a Repository,
    /// The settings of runners that lie in a folder, by its path.
    settings: BTreeMap<String, Vec<String>>,
}

impl<'a> Look<'a> {
    fn at(repository: &'a Repository) -> Self {
        Self {
            repository,
            settings: BTreeMap::new(),
        }
    }

    fn now(&mut self, path: &RepoPath) -> Option<String> {
        let text = std::fs::read_to_string(self.repository.absolute(path)).ok()?;
        self.hash(path, &text)
    }

    fn before(&mut self, last: &Oid, path: &RepoPath) -> Result<Option<String>, Fault> {
        // What no runner reads is not looked up.
        let name = path.to_string();
        if may_configure_a_runner(&name) || self.is_loaded(&name) {
            let text = self.repository.file_at(last, path)?;
            return Ok(text.and_then(|text| self.hash(path, &text)));
        }
        Ok(None)
    }

    fn hash(&mut self, path: &RepoPath, text: &str) -> Option<String> {
        let name = path.to_string();
        let own = runner_config(&name, text)
            .or_else(|| self.is_loaded(&name).then(|| text.to_owned()))?;
        Some(journal::sha256_hex(own.as_bytes()))
    }

    /// Whether settings beside or above a file have it loaded before the tests.
    fn is_loaded(&mut self, name: &str) -> bool {
        let above = name.match_indices('/').map(|(at, _)| &name[..at]);
        [""].into_iter().chain(above).any(|folder| {
            let settings = self
                .settings
                .entry(folder.to_owned())
                .or_insert_with(|| settings_in(self.repository, folder));
            settings
                .iter()
                .any(|settings| loads(folder, settings, name))
        })
    }
}

/// What configures a runner of the files in a folder.
fn settings_in(repository: &Repository, folder: &str) -> Vec<String> {
    let entries = repository.top_level().join(folder).read_dir();
    let entries = entries.into_iter().flatten().flatten();
    let settings = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        // A pipe of such a name would never end.
        if !may_configure_a_runner(&name) || !entry.path().is_file() {
            return None;
        }
        runner_config(&name, &std::fs::read_to_string(entry.path()).ok()?)
    });
    settings.collect()
}
