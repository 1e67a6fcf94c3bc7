//! Whether the tests are those that were frozen, and how they come back where they are not.

use std::collections::BTreeMap;
use std::path::Path;

use journal::EvidenceStore;
use machine::{Finding, RunState};
use serde_json::{Map, Value};
use workspace::git::{CommitInfo, RepoPath, Repository};

use crate::capability::git::read::handed_in::merge_taken_back;
use crate::capability::git::read::{finding, with_files};
use crate::capability::memory::{BY_HOOK, FROZEN, KEPT};
use crate::capability::tests::evidence::frozen::{Frozen, Look, Tests};
use crate::capability::tests::read::{Comparison, few, name_of};
use crate::clock::millis_of;
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb};
use crate::support::HandlerError;

/// So many bytes of tests are copied when they are frozen.
const MOST_COPIED: usize = 1024 * 1024;

impl Comparison<'_> {
    /// Holds the tests against those that were frozen, and against what a hook made of them since.
    pub(crate) fn unchanged(&mut self, look: &Look<'_>) -> Result<(), HandlerError> {
        // An item that did not come by that report has nothing frozen: its tests are those that the suite has.
        if let Some(mut frozen) = FROZEN.read(self.kept, self.role.frozen.as_ref())? {
            // Nor is one that lies among the tests a test.
            let handed = self.handed();
            frozen
                .0
                .retain(|path, _| !handed.contains(path) && !self.memory.reports.contains(path));
            if let Some(key) = self.key
                && let Some(by_hook) = BY_HOOK.of(key).read(&self.run.kept)?
            {
                frozen.0.extend(by_hook.0);
            }
            let changed = look.changed(&frozen, self.since)?;
            if !changed.is_empty() {
                self.findings.push(self.tests_changed(&changed, look)?);
            }
        }
        Ok(())
    }

    /// The finding that tests are not as they were frozen, and how each comes back.
    fn tests_changed(
        &self,
        changed: &BTreeMap<RepoPath, &'static str>,
        look: &Look<'_>,
    ) -> Result<Finding, HandlerError> {
        let told: Vec<String> = changed
            .iter()
            .map(|(path, what)| format!("{path} ({what})"))
            .collect();
        let kept = KEPT.read(self.kept, self.role.frozen.as_ref())?;
        let kept = kept.unwrap_or_default();
        let store = EvidenceStore::new(&self.call.dir);
        let mut back = Vec::new();
        let mut by_hand = Vec::new();
        let mut aside = Map::new();
        for path in changed.keys() {
            // To put a test back must not cost what somebody has made of it.
            if let Ok(bytes) = std::fs::read(self.repository.absolute(path))
                && bytes.len() <= MOST_COPIED
            {
                let copy = store.path(&store.put(&bytes).map_err(Fault::from)?);
                aside.insert(path.to_string(), copy.to_string_lossy().into());
            }
            if !look.is_tests_alone(path) {
                // The code beside the tests is not to be put back with them.
                let then = kept.get(path).filter(|hash| store.get(hash).is_ok());
                by_hand.push(match then {
                    Some(hash) => format!("{path} as in {}", store.path(hash).display()),
                    None => path.to_string(),
                });
            } else if let Some(copied) = kept
                .get(path)
                .and_then(|hash| copied_back(self.repository, &store, path, hash))
            {
                back.push(copied.to_string());
            } else if self.repository.file_at(self.last, path)?.is_some() {
                let own = self.repository.absolute(path);
                back.push(
                    NextStep::git([
                        "restore",
                        &format!("--source={}", self.last.short()),
                        "--",
                        &own.to_string_lossy(),
                    ])
                    .to_string(),
                );
            }
        }
        let mut back = match (back.len() == changed.len(), back.is_empty()) {
            (_, true) => String::new(),
            (true, false) => format!(" ({})", back.join(", ")),
            (false, false) => format!(" (some with {})", back.join(", ")),
        };
        if !by_hand.is_empty() {
            back = format!(
                "{back}, with the code beside them left as it is ({})",
                by_hand.join(", ")
            );
        }
        let mut back_is_here = false;
        if self.is_merged(changed.keys())? {
            back = format!(
                ": they came with a merge that is none of the run's; {}",
                merge_taken_back(self.status, self.last, self.memory)
            );
        } else if self.is_stashed()? && self.holds_of(changed) {
            let pop = NextStep::git(["stash", "pop"]);
            back = format!(": they may be in the stash ({pop}); or put them back{back}");
        } else {
            back_is_here = true;
        }
        // What was deleted, or is elsewhere, no runner has done.
        let may_be_filled_in = back_is_here
            && changed
                .values()
                .all(|what| *what == "changed" || *what == "its tests changed")
            && changed.keys().any(|path| self.has_inline_snapshots(path));
        let kept = if aside.is_empty() {
            ""
        } else {
            "; what is there now is kept, as details.kept says"
        };
        let mut found = with_files(
            finding(
                "tests_changed",
                format!(
                    "tests were changed since {} was accepted: {}",
                    name_of(self.role.against.as_ref()),
                    few(&told)
                ),
                if may_be_filled_in {
                    format!(
                        "if the runner filled a snapshot in, which belongs into the test in RED, or a formatter went over it, go back with {reopen}, and report RED with it so; else put them back{back}, run the tests and report again: {report}{kept}",
                        report = Verb::Report,
                        reopen = Verb::Reopen.step().and("reason")
                    )
                } else {
                    format!(
                        "put them back{back}, then run the tests and report again: {report}{kept}; if a test was wrong, is to have another form, or another one is wanted, go back with {reopen}, mend it there and report again",
                        report = Verb::Report,
                        reopen = Verb::Reopen.step().and("reason")
                    )
                },
            ),
            &told,
        );
        if !aside.is_empty() {
            found.details.insert("kept".to_owned(), aside.into());
        }
        Ok(found)
    }

    /// Whether the newest stash holds one of these files.
    fn holds_of(&self, changed: &BTreeMap<RepoPath, &'static str>) -> bool {
        let stashed = self.repository.stashed_paths();
        stashed.iter().any(|path| changed.contains_key(path))
    }

    /// Whether a test holds snapshots that its runner writes into it.
    fn has_inline_snapshots(&self, path: &RepoPath) -> bool {
        let text = std::fs::read_to_string(self.repository.absolute(path)).unwrap_or_default();
        ["InlineSnapshot(", "assert_snapshot!(", "inline_snapshot"]
            .iter()
            .any(|call| text.contains(call))
    }

    /// Whether what was changed came with a merge that the run knows nothing of.
    fn is_merged<'p>(
        &self,
        mut paths: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<bool, HandlerError> {
        let Some(head) = self.status.head.as_ref().filter(|head| *head != self.last) else {
            return Ok(false);
        };
        let in_tree = self.changes.paths();
        let commits = self.repository.commits_between(self.last, head)?;
        Ok(commits.iter().any(CommitInfo::is_merge) && paths.all(|path| !in_tree.contains(path)))
    }

    /// The hashes of the tests that are frozen now, as far as they are to be copied.
    pub(crate) fn copies(&self, frozen: &Frozen) -> BTreeMap<RepoPath, String> {
        let mut kept = BTreeMap::new();
        let mut room = MOST_COPIED;
        for (path, tests) in &frozen.0 {
            if matches!(tests, Tests::Gone) {
                continue;
            }
            let Ok(bytes) = std::fs::read(self.repository.absolute(path)) else {
                continue;
            };
            if bytes.len() <= room {
                room -= bytes.len();
                kept.insert(path.clone(), journal::sha256_hex(&bytes));
            }
        }
        kept
    }
}

/// The step that puts a test back as it was when it was frozen, where a copy of that is kept.
fn copied_back(
    repository: &Repository,
    store: &EvidenceStore,
    path: &RepoPath,
    hash: &str,
) -> Option<NextStep> {
    store.get(hash).ok()?;
    let (copy, own) = (store.path(hash), repository.absolute(path));
    let words = [
        "cp",
        "--",
        &*copy.to_string_lossy(),
        &*own.to_string_lossy(),
    ]
    .map(str::to_owned);
    Some(NextStep::shell(words.iter().map(String::as_str)))
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
                steps.extend(copied_back(repository, &store, &path, &hash));
            }
        }
    }
    Ok(steps)
}

impl Comparison<'_> {
    /// Whether something was stashed on the run's last commit while the run was under way. What was stashed before is its user's.
    pub(crate) fn is_stashed(&self) -> Result<bool, HandlerError> {
        let stashed = self.repository.stashed_on(began_at(self.run))?;
        Ok(stashed.as_ref() == Some(self.last))
    }
}

/// When a run began, in seconds since 1970.
pub(crate) fn began_at(run: &RunState) -> i64 {
    millis_of(&run.started_at).map_or(0, |millis| millis.div_euclid(1000))
}
