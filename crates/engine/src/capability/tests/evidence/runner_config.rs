//! Whether what configures the runner, or is loaded before the tests, is as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use workspace::convention::runner_config::{
    LoadedFiles, may_be_loaded, may_configure_a_runner, may_name_loaded_files, runner_config,
};
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
        let mut reader = ConfigReader::at(repository, changes);
        let mut changed = BTreeMap::new();
        for path in paths(changes) {
            let now = reader.now(path)?;
            if now != reader.before(last, path)? {
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
        let mut reader = ConfigReader::at(repository, changes);
        let mut all = paths(changes);
        all.extend(self.0.keys());
        let mut lost = Vec::new();
        for path in all {
            let was = match self.0.get(path) {
                Some(was) => was.clone(),
                None => reader.before(last, path)?,
            };
            if was != reader.now(path)? {
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

/// Reads what configures a runner.
struct ConfigReader<'a> {
    repository: &'a Repository,
    changes: &'a Changes,
    /// What settings have loaded, once it is asked for.
    loaded: Option<LoadedFiles>,
}

impl<'a> ConfigReader<'a> {
    fn at(repository: &'a Repository, changes: &'a Changes) -> Self {
        Self {
            repository,
            changes,
            loaded: None,
        }
    }

    fn now(&mut self, path: &RepoPath) -> Result<Option<String>, Fault> {
        match std::fs::read_to_string(self.repository.absolute(path)) {
            Ok(text) => self.hash(path, &text),
            Err(_) => Ok(None),
        }
    }

    fn before(&mut self, last: &Oid, path: &RepoPath) -> Result<Option<String>, Fault> {
        // What no runner reads is not looked up.
        let name = path.to_string();
        if may_configure_a_runner(&name) || self.is_loaded(&name)? {
            return match self.repository.file_at(last, path)? {
                Some(text) => self.hash(path, &text),
                None => Ok(None),
            };
        }
        Ok(None)
    }

    fn hash(&mut self, path: &RepoPath, text: &str) -> Result<Option<String>, Fault> {
        let name = path.to_string();
        let own = match runner_config(&name, text) {
            None if self.is_loaded(&name)? => Some(text.to_owned()),
            own => own,
        };
        Ok(own.map(|own| journal::sha256_hex(own.as_bytes())))
    }

    /// Whether settings have a file loaded before the tests.
    fn is_loaded(&mut self, name: &str) -> Result<bool, Fault> {
        if !may_be_loaded(name) {
            return Ok(false);
        }
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => self.read_settings()?,
        };
        Ok(self.loaded.insert(loaded).has(name))
    }

    /// What all settings of runners have loaded that git tracks, or that lie above what was changed.
    fn read_settings(&self) -> Result<LoadedFiles, Fault> {
        let tracked = self.repository.known_files()?;
        let tracked = tracked.iter().map(ToString::to_string);
        let mut settings: BTreeSet<String> =
            tracked.filter(|name| may_name_loaded_files(name)).collect();
        let changed: Vec<String> = paths(self.changes)
            .into_iter()
            .map(ToString::to_string)
            .collect();
        let folders: BTreeSet<&str> = changed
            .iter()
            .flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at]))
            .chain([""])
            .collect();
        for folder in folders {
            let entries = self.repository.top_level().join(folder).read_dir();
            for entry in entries.into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                if may_name_loaded_files(&name) {
                    let below = if folder.is_empty() { "" } else { "/" };
                    settings.insert(format!("{folder}{below}{name}"));
                }
            }
        }
        let mut loaded = LoadedFiles::default();
        for name in settings {
            let (folder, _) = name.rsplit_once('/').unwrap_or(("", &name));
            let text = settings_at(&self.repository.top_level().join(&name));
            if let Some(own) = text.and_then(|text| runner_config(&name, &text)) {
                loaded.add(folder, &own);
            }
        }
        Ok(loaded)
    }
}

/// What stands in a file with settings; nobody writes as much into one by hand as is left out.
fn settings_at(path: &Path) -> Option<String> {
    /// In bytes.
    const LONGEST: u64 = 1 << 20;
    let about = path.metadata().ok()?;
    // A pipe of such a name would never end.
    let is_read = about.is_file() && about.len() <= LONGEST;
    is_read.then(|| std::fs::read_to_string(path).ok())?
}
