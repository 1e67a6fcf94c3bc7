//! The work of a run as trees: what its last commit holds, what the working tree holds now, and that without its product.

use machine::RunState;
use workspace::config::Config;
use workspace::convention::inline_tests::{same_product, split, with_tests_of};
use workspace::convention::paths::{PathClass, may_hold_tests};
use workspace::convention::runner_config::{may_configure_a_runner, runner_config};
use workspace::git::{
    FILE_MODE, FingerprintRequest, Oid, RepoPath, Repository, TreeChange, TreeEntry,
};

use crate::capability::git::changes::Changes;
use crate::capability::git::read::History;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::report_files;
use crate::fault::Fault;
use crate::proof::bundle::reference_part;
use crate::support::HandlerError;

/// The folder of references under which the trees of a run are kept: those that its reports were about, by their work units.
pub(crate) fn kept_under(run: &str) -> String {
    format!("refs/tramline/trees/{}/", reference_part(run))
}

/// The trees of a run's work.
pub struct Work {
    /// What the run knows, with what came in from elsewhere since.
    pub memory: Memory,
    /// The commit that the work began on.
    pub base: Oid,
    /// What a commit would hold now.
    pub tree: Oid,
}

impl Work {
    /// The work as it is now. `named` are files that belong to it whatever they were before the run.
    ///
    /// # Errors
    /// Where a conflict is not resolved, or git fails.
    pub fn now(
        run: &RunState,
        run_dir: &std::path::Path,
        config: &Config,
        named: &[RepoPath],
    ) -> Result<Self, HandlerError> {
        let mut memory = Memory::of(run)?;
        let repository = memory.repository();
        let status = repository.status().map_err(Fault::from)?;
        let head = status.head.as_ref();
        let history = History::settle(config, run, head, &mut memory, &repository)?;
        let base = match head {
            // The run's own commits are gone; what is there now has to do.
            Some(head) if history.is_rewritten => head.clone(),
            _ => memory.last_oid()?,
        };
        let nothing = TestEvidence::default();
        let reports =
            report_files::no_work(run_dir, &repository, &memory, &nothing, &status, named)?;
        memory.reports.extend(reports);
        let changes = Changes::of(&status, &memory, &repository, named)?;
        let request = FingerprintRequest {
            exclude: &changes.exclude(&memory, &repository),
            ..FingerprintRequest::default()
        };
        let tree = repository
            .write_tree(&status, &request)
            .map_err(Fault::from)?;
        Ok(Self { memory, base, tree })
    }

    /// Keeps the tree, and the one that was tested, as long as the run is kept: those of an earlier report of the same unit are given up.
    pub fn keep(&self, run: &RunState, unit: &str, tested: &Oid) -> Result<(), Fault> {
        let repository = self.memory.repository();
        let under = format!("{}{}", kept_under(&run.run), reference_part(unit));
        let trees = [(&self.tree, "work"), (tested, "tested")];
        let trees = trees.map(|(tree, name)| (tree, format!("{under}/{name}")));
        Ok(repository.keep_objects(&trees)?)
    }

    /// The same with its product as the base has it: tests, what configures their runner, manifests and documents as they are now. In
    /// a source file that holds tests of its own, only these are.
    pub fn without_product(&self) -> Result<Oid, Fault> {
        let repository = self.memory.repository();
        let classes = self.memory.start.classes()?;
        let mut edits = Vec::new();
        let mut merged = Vec::new();
        for change in repository.tree_changes(&self.base, &self.tree)? {
            let name = repository.name_in_scope(&change.path);
            if classes.of(&name) != PathClass::Source || is_submodule(&change) {
                continue;
            }
            if may_configure_a_runner(&name) {
                let text = repository.file_at(&self.tree, &change.path)?;
                if text.is_some_and(|text| runner_config(&name, &text).is_some()) {
                    continue;
                }
            }
            match with_own_tests(&repository, &self.base, &self.tree, &change)? {
                Some(text) => {
                    let mode = change.after.as_ref().map_or(FILE_MODE, |entry| entry.mode);
                    merged.push((change.path, mode, text));
                }
                None => edits.push((change.path, change.before)),
            }
        }
        let texts: Vec<&str> = merged.iter().map(|(.., text)| text.as_str()).collect();
        let blobs = repository.write_blobs(&texts)?;
        let entries = merged.into_iter().zip(blobs);
        edits.extend(entries.map(|((path, mode, _), oid)| (path, Some(TreeEntry { mode, oid }))));
        Ok(repository.edit_tree(&self.tree, &edits)?)
    }
}

/// The text of a source file with the product of the base and the tests that it has now; none of one that holds no tests.
fn with_own_tests(
    repository: &Repository,
    base: &Oid,
    tree: &Oid,
    change: &TreeChange,
) -> Result<Option<String>, Fault> {
    let name = change.path.to_string();
    if !may_hold_tests(&name) || change.after.is_none() {
        return Ok(None);
    }
    let Some(now) = repository.file_at(tree, &change.path)? else {
        return Ok(None);
    };
    let Some(before) = repository.file_at(base, &change.path)? else {
        let has_tests = !split(&name, &now).tests.trim().is_empty();
        return Ok(has_tests.then_some(now));
    };
    let is_product_the_same =
        same_product(&split(&name, &now).product, &split(&name, &before).product);
    Ok(Some(if is_product_the_same {
        now
    } else {
        with_tests_of(&name, &before, &now)
    }))
}

fn is_submodule(change: &TreeChange) -> bool {
    const SUBMODULE: u32 = 0o160_000;
    let mut entries = change.before.iter().chain(&change.after);
    entries.any(|entry| entry.mode == SUBMODULE)
}
