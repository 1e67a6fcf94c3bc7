//! The work of a run as trees: what its last commit holds, what the working tree holds now, and that without its product.

use std::collections::BTreeMap;
use std::path::Path;

use machine::RunState;
use machine::role::FileClass;
use serde_json::{Map, Value};
use syntax::inside::{may_hold_tests, split, with_tests_of};
use workspace::config::Config;
use workspace::convention::paths::is_snapshot;
use workspace::git::{FingerprintRequest, Oid, RepoPath, Repository, TreeStatus};

use crate::capability::git::changes::Changes;
use crate::capability::git::read::commit::secrets;
use crate::capability::git::read::moved::Moved;
use crate::capability::git::read::reported_on_the_branch;
use crate::capability::memory::Memory;
use crate::capability::tests::difference::{Difference, Sorter};
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::report_files;
use crate::fault::Fault;
use crate::next_step::Verb;
use crate::proof::bundle::reference_part;
use crate::support::HandlerError;

/// The folder of references under which trees of runs are kept.
pub(crate) const TREES: &str = "refs/tramline/trees/";

/// The folder of references under which the trees of a run are kept: those that its reports were about, by their work units.
pub(crate) fn kept_under(run: &str) -> String {
    format!("{TREES}{}/", reference_part(run))
}

/// Keeps the trees of accepted reports as long as the run is kept, each by the unit of its report: that of an earlier report of the same
/// unit is given up.
pub(crate) fn keep_trees(run: &RunState, trees: &BTreeMap<String, Oid>) -> Result<(), Fault> {
    if trees.is_empty() {
        return Ok(());
    }
    let under = kept_under(&run.run);
    let reference = |unit: &str| format!("{under}{}/work", reference_part(unit));
    let trees = trees.iter().map(|(unit, tree)| (tree, reference(unit)));
    let trees: Vec<_> = trees.collect();
    Ok(Memory::of(run)?.repository().keep_objects(&trees)?)
}

/// The trees of a run's work.
pub struct Work {
    /// What the run knows.
    pub memory: Memory,
    /// What it is to remember of files that belong to it from here on.
    pub(crate) keep: Map<String, Value>,
    /// What is changed in the working tree.
    pub changes: Changes,
    /// The commit that the work is on.
    pub base: Oid,
    /// What a commit would hold now.
    pub tree: Oid,
}

impl Work {
    /// The work as it is in a working tree of that status. `named` are files that belong to it whatever they were before the run,
    /// and `taken` is what reports are handed in, which do not.
    ///
    /// # Errors
    /// Where a conflict is not resolved, the branch has moved, or git fails.
    pub(crate) fn of(
        run: &RunState,
        (run_dir, config): (&Path, &Config),
        status: &TreeStatus,
        named: &[RepoPath],
        taken: &TestEvidence,
    ) -> Result<Self, HandlerError> {
        let mut memory = Memory::of(run)?;
        let repository = memory.repository();
        reported_on_the_branch(status, &memory, &repository)?;
        let head = status.head.as_ref();
        Moved::refused(run, config, (&memory, &repository), head, false)?;
        let base = memory.last_oid()?;
        let reports = report_files::no_work(run_dir, &repository, &memory, taken, status, named)?;
        memory.reports.extend(reports);
        let changes = Changes::of(status, &memory, &repository, named)?;
        let mut keep = Map::new();
        memory.take_on(named, &mut keep)?;
        let again = format!("then report again: {}", Verb::Report);
        secrets(config, &repository, &changes.paths(), &again)?;
        let request = FingerprintRequest {
            exclude: &changes.exclude(&memory, &repository),
            ..FingerprintRequest::default()
        };
        let tree = repository
            .write_tree(status, &request)
            .map_err(Fault::from)?;
        Ok(Self {
            memory,
            keep,
            changes,
            base,
            tree,
        })
    }

    /// The work as it is now, before anything is handed in.
    pub(crate) fn now(
        run: &RunState,
        settings: (&Path, &Config),
        named: &[RepoPath],
    ) -> Result<Self, HandlerError> {
        let repository = Memory::of(run)?.repository();
        let status = repository.status().map_err(Fault::from)?;
        Self::of(run, settings, &status, named, &TestEvidence::default())
    }

    /// What tells differences apart in it.
    pub(crate) fn sorter<'r>(
        &self,
        repository: &'r Repository,
        config: &Config,
    ) -> Result<Sorter<'r>, Fault> {
        Sorter::new(repository, &self.memory.start, &config.test.protect)
    }

    /// Keeps the tree, and the one that is tested, while a suite runs on it.
    pub(crate) fn keep(&self, run: &RunState, unit: &str, tested: &Oid) -> Result<(), Fault> {
        let under = format!("{}{}", kept_under(&run.run), reference_part(unit));
        let trees = [(&self.tree, "work"), (tested, "tested")];
        let trees = trees.map(|(tree, name)| (tree, format!("{under}/{name}")));
        Ok(self.memory.repository().keep_objects(&trees)?)
    }

    /// The same with its product as the base has it: tests, what configures their runner, manifests and documents as they are now. In
    /// a source file that holds tests of its own, only these are. `of_item` is what differs from the base.
    pub(crate) fn without_product(&self, of_item: &[Difference]) -> Result<Oid, Fault> {
        let repository = self.memory.repository();
        let mut edits = Vec::new();
        let mut merged = Vec::new();
        let product = of_item.iter().filter(|difference| {
            difference.classes.contains(&FileClass::Source) && !difference.configures
        });
        for difference in product {
            match self.with_own_tests(&repository, difference)? {
                Some(text) => {
                    merged.push((difference.path.clone(), difference.after.clone(), text));
                }
                None => edits.push((difference.path.clone(), difference.before.clone())),
            }
        }
        let tree = repository.edit_tree(&self.tree, &edits)?;
        Ok(repository.write_texts(&tree, &merged)?)
    }

    /// The same with its tests as a tree has them, apart from snapshots: what came to them since is left out, and what has another form
    /// stands in its own. `since` is what differs from that tree. None where nothing does.
    pub(crate) fn with_tests_of(
        &self,
        tree: &Oid,
        since: &[Difference],
    ) -> Result<Option<Oid>, Fault> {
        let repository = self.memory.repository();
        let mut edits = Vec::new();
        let mut merged = Vec::new();
        for difference in since {
            let (path, name) = (&difference.path, difference.path.to_string());
            if difference.protected.is_none() || is_snapshot(&name) {
                continue;
            }
            if !difference.is_inside() {
                edits.push((path.clone(), difference.before.clone()));
            } else if let (Some(tests), Some(product)) = (
                repository.file_at(tree, path)?,
                repository.file_at(&self.tree, path)?,
            ) {
                let text = with_tests_of(&name, &product, &tests);
                merged.push((path.clone(), difference.after.clone(), text));
            }
        }
        if edits.is_empty() && merged.is_empty() {
            return Ok(None);
        }
        let tree = repository.edit_tree(&self.tree, &edits)?;
        Ok(Some(repository.write_texts(&tree, &merged)?))
    }

    /// The text of a source file with the product of the base and the tests that it has now; none of one that holds no tests.
    fn with_own_tests(
        &self,
        repository: &Repository,
        difference: &Difference,
    ) -> Result<Option<String>, Fault> {
        let (path, name) = (&difference.path, difference.path.to_string());
        if !may_hold_tests(&name) || difference.after.is_none() {
            return Ok(None);
        }
        let Some(now) = repository.file_at(&self.tree, path)? else {
            return Ok(None);
        };
        let Some(before) = repository.file_at(&self.base, path)? else {
            let has_tests = !split(&name, &now).tests.trim().is_empty();
            return Ok(has_tests.then_some(now));
        };
        Ok(Some(with_tests_of(&name, &before, &now)))
    }
}
