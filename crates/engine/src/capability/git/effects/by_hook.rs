//! What hooks that refuse a commit leave in the working tree: formatters bring files into their form and want to be asked again.

use std::time::{Duration, SystemTime};

use machine::RunState;
use machine::state::Pending;
use serde_json::{Map, Value};
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::memory::{BY_HOOK, FROZEN, Memory};
use crate::capability::tests::evidence::frozen::{Frozen, TestReader};
use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::next_step::{Argument, Verb};

/// The clock of a file system may be behind by that much.
const COARSE: Duration = Duration::from_millis(20);

/// What a hook changed.
#[derive(Debug, Default)]
pub(super) struct HookChanges {
    /// The files.
    files: Vec<String>,
    /// The tests among them as they are now, where they were held to what they were before.
    tests: Frozen,
}

impl HookChanges {
    /// Looks at what was written since `began`, when git was given these files to commit.
    pub(super) fn since(
        (began, asked): (SystemTime, &[RepoPath]),
        run: &RunState,
        pending: &Pending,
        memory: &Memory,
        repository: &Repository,
    ) -> Result<Self, Fault> {
        let status = repository.status()?;
        let changes = Changes::of(&status, memory, repository, &[])?;
        let is_new = |path: &RepoPath| {
            let written = std::fs::symlink_metadata(repository.absolute(path));
            let written = written.and_then(|metadata| metadata.modified());
            written.is_ok_and(|written| written + COARSE >= began)
        };
        let mut files: Vec<RepoPath> = changes.paths();
        files.extend(asked.iter().cloned());
        files.sort();
        files.dedup();
        files.retain(is_new);
        let mut tests = Frozen::default();
        let frozen = match run.token(pending.token) {
            Some(token) => FROZEN.all(&token.kept)?,
            None => Vec::new(),
        };
        let last = memory.last_oid()?;
        let reader = TestReader::new(repository, memory, &last, &status)?;
        for frozen in frozen {
            for path in reader.changed_files(&frozen, &changes)? {
                if files.contains(&path)
                    && let Some(now) = reader.as_it_is(&path)?
                {
                    tests.0.insert(path, now);
                }
            }
        }
        Ok(Self {
            files: files.iter().map(ToString::to_string).collect(),
            tests,
        })
    }

    /// What happened, with the files named.
    pub(super) fn told(&self, message: String) -> String {
        if self.files.is_empty() {
            return message;
        }
        format!("{message}\nIt changed files: {}", few(&self.files))
    }

    /// What to do about it.
    pub(super) fn suggestion(&self) -> String {
        let reopen = Verb::Reopen.step().and("reason");
        if self.files.is_empty() {
            let commit = Verb::Report.step().with("phase", "commit");
            return format!(
                "mend what it says and commit again: {commit} ({message} gives it another message); if files must change for that, {reopen}, report GREEN again, then commit",
                message = Argument("message"),
            );
        }
        format!(
            "what it made of the files, tests too, counts as they are now: {reopen}, run the tests, report GREEN again, then commit"
        )
    }

    /// What the run has to remember of it.
    pub(super) fn keep(
        &self,
        run: &RunState,
        pending: &Pending,
    ) -> Result<Map<String, Value>, Fault> {
        let mut keep = Map::new();
        let key = run.token(pending.token).and_then(|token| token.key());
        if let (Some(key), false) = (key, self.tests.0.is_empty()) {
            let slot = BY_HOOK.of(key);
            let mut all = slot.read(&run.kept)?.unwrap_or_default();
            all.0.extend(self.tests.0.clone());
            slot.put(&mut keep, &all)?;
        }
        Ok(keep)
    }
}
