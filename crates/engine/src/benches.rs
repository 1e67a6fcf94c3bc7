//! The benches of a project and the trees that its runs keep, for whoever looks after them: what is there, a suite on a bench, and
//! what is not needed any more.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Serialize;
use workspace::config::Settings;
use workspace::git::{FingerprintRequest, Oid, Repository, StoredBench, stored_benches};

use crate::capability::git::read::preflight::test_command;
use crate::capability::memory::{Memory, StartFacts};
use crate::capability::tests::evidence::bench::{BENCHES, Bench};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::end_of;
use crate::capability::tests::evidence::work::{TREES, kept_under};
use crate::capability::tests::read::MOST_NAMED;
use crate::capability::tests::results::Counts;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::runs::RunFilter;

/// What a project's tests leave on this machine.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The benches.
    pub benches: Vec<BenchSummary>,
    /// The runs whose trees are kept.
    pub trees: Vec<KeptTrees>,
}

/// A bench.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchSummary {
    /// Its folder.
    pub folder: String,
    /// The working tree that it is of.
    pub of: String,
    /// How much room it takes, in bytes.
    pub bytes: u64,
    /// When it was taken last, UTC.
    pub last_used: String,
    /// Whether a suite runs on it now.
    pub in_use: bool,
    /// Whether it was removed just now.
    pub removed: bool,
}

/// The trees that are kept of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptTrees {
    /// The run.
    pub run_id: String,
    /// How many there are.
    pub trees: usize,
    /// What became of the run.
    pub status: String,
    /// When it ended, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Whether they were given up just now.
    pub removed: bool,
}

/// A suite that was run on a bench.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchRun {
    /// The tree.
    pub tree: Oid,
    /// The command.
    pub command: String,
    /// Its exit status.
    pub status: i32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The numbers.
    pub counts: Counts,
    /// The tests that failed, where the report names them.
    pub failing: Vec<String>,
    /// The end of what it printed.
    pub output: String,
}

impl Engine {
    /// The benches of this project, and what is kept of its runs.
    ///
    /// # Errors
    /// Where the project lies in no repository.
    pub fn kept(&self) -> Result<Kept, Fault> {
        let repository = Repository::discover(&self.root)?;
        let benches = self.benches()?;
        Ok(Kept {
            benches: benches.iter().map(summed_up).collect(),
            trees: self.runs_with_trees(&repository)?,
        })
    }

    /// Removes the benches of this project on which no suite runs.
    ///
    /// # Errors
    /// Where something in one cannot be removed.
    pub fn remove_benches(&self) -> Result<Kept, Fault> {
        Ok(Kept {
            benches: removed(&self.benches()?)?,
            trees: Vec::new(),
        })
    }

    /// Removes what was not used for so many days: benches, and the trees of runs that ended before; with no days, also those of runs that
    /// nothing is known of. Where it is only a trial, nothing is removed, and what would be is returned.
    ///
    /// # Errors
    /// Where something in a bench cannot be removed, or git fails.
    pub fn clean(&self, days: u32, is_trial: bool) -> Result<Kept, Fault> {
        let repository = Repository::discover(&self.root)?;
        let age = Duration::from_hours(u64::from(days) * 24);
        let mut benches = self.benches()?;
        benches
            .retain(|bench| bench.is_unused() || bench.taken.elapsed().unwrap_or_default() >= age);
        let before = Timestamp::try_from(SystemTime::now() - age).unwrap_or_default();
        let ended = |end: &String| end.parse::<Timestamp>().is_ok_and(|end| end <= before);
        let mut trees = self.runs_with_trees(&repository)?;
        // A run that nothing is known of may be kept in another store.
        let is_gone = |kept: &KeptTrees| days == 0 && kept.status == GONE;
        trees.retain(|kept| kept.ended.as_ref().is_some_and(ended) || is_gone(kept));
        if is_trial {
            let benches = benches.iter().map(summed_up).collect();
            return Ok(Kept { benches, trees });
        }
        for kept in &mut trees {
            repository.forget_references(&kept_under(&kept.run_id))?;
            kept.removed = true;
        }
        Ok(Kept {
            benches: removed(&benches)?,
            trees,
        })
    }

    /// Runs the test command on a bench, on a tree that is named as git names them; on the work as it stands where none is.
    ///
    /// # Errors
    /// Where there is no such tree, no test command, and those of a suite that comes to no result.
    pub fn run_on_bench(&self, tree: Option<&str>) -> Result<BenchRun, Fault> {
        let (memory, head) = self.memory_of_tests(&self.settings)?;
        let repository = memory.repository();
        let tree = match tree {
            Some(name) => repository
                .resolve_tree(name)?
                .ok_or_else(|| fault!("not_found.no_tree", name))?,
            None => repository.write_tree(&repository.status()?, &FingerprintRequest::default())?,
        };
        let (cancelled, config) = (self.cancellation(), &self.settings.config);
        let benches = self.benches_folder()?;
        let taken = self.with_suites((&memory, &tree), None, || {
            let bench = Bench::take(&benches, &memory, config, head, &cancelled)?;
            bench.tested("a tree", &tree, false, None)
        })?;
        let ledger = taken.ledger();
        let failing = ledger.iter().flat_map(Ledger::failing);
        let failing = failing.take(MOST_NAMED).map(str::to_owned).collect();
        let ran = taken.ran.unwrap_or_default();
        Ok(BenchRun {
            tree,
            command: ran.command,
            status: ran.status,
            duration_ms: ran.duration_ms,
            counts: taken.counts,
            failing,
            output: end_of(&ran.output),
        })
    }

    /// What is known of the project's tests without a run, and the commit that is checked out.
    pub(crate) fn memory_of_tests(&self, settings: &Settings) -> Result<(Memory, Oid), Fault> {
        let repository = Repository::discover(&self.root)?;
        let head = repository
            .resolve("HEAD")?
            .ok_or_else(|| fault!("no_commits.for_tests"))?;
        let mut start = StartFacts {
            top_level: repository.top_level().to_owned(),
            git_dir: repository.git_dir().to_owned(),
            common_dir: repository.common_dir().to_owned(),
            project_root: self.root.clone(),
            ..StartFacts::default()
        };
        test_command(&self.root, settings, None, &mut start)?;
        let memory = Memory {
            start,
            dirty: BTreeMap::new(),
            last_commit: head.to_string(),
            reports: Vec::new(),
        };
        Ok((memory, head))
    }

    /// The folder of this project's benches; the project's own is made where there is none.
    pub(crate) fn benches_folder(&self) -> Result<PathBuf, Fault> {
        Ok(self.home.project(&self.root)?.path().join(BENCHES))
    }

    fn benches(&self) -> Result<Vec<StoredBench>, Fault> {
        let project = self.stored()?;
        Ok(project.map_or_else(Vec::new, |project| {
            stored_benches(&project.path().join(BENCHES))
        }))
    }

    /// The runs whose trees are kept in a repository.
    fn runs_with_trees(&self, repository: &Repository) -> Result<Vec<KeptTrees>, Fault> {
        let mut by_folder: BTreeMap<String, usize> = BTreeMap::new();
        for name in repository.references_below(TREES)? {
            let run = name[TREES.len()..].split('/').next().unwrap_or_default();
            *by_folder.entry(format!("{TREES}{run}/")).or_default() += 1;
        }
        let mut runs = BTreeMap::new();
        for run in self.runs(&RunFilter {
            all: true,
            ..RunFilter::default()
        })? {
            runs.insert(kept_under(&run.run_id), run);
        }
        let told = by_folder.into_iter().map(|(folder, trees)| {
            let run = runs.get(&folder);
            KeptTrees {
                run_id: run.map_or_else(
                    || folder[TREES.len()..folder.len() - 1].to_owned(),
                    |run| run.run_id.clone(),
                ),
                trees,
                status: run.map_or_else(|| GONE.to_owned(), |run| run.status.clone()),
                ended: run.and_then(|run| run.end_time.clone()),
                removed: false,
            }
        });
        Ok(told.collect())
    }
}

/// What has become of a run that nothing is known of.
const GONE: &str = "gone";

fn removed(benches: &[StoredBench]) -> Result<Vec<BenchSummary>, Fault> {
    let all = benches.iter().map(|bench| {
        // Afterwards there is nothing to measure.
        let told = summed_up(bench);
        let removed = bench.remove().map_err(|error| {
            let what = format!("cannot remove {}", told.folder);
            Fault::environment("io_failed", what, &error)
                .suggest("remove the folder by hand: another user may have written into it")
        })?;
        Ok(BenchSummary { removed, ..told })
    });
    all.collect()
}

fn summed_up(bench: &StoredBench) -> BenchSummary {
    BenchSummary {
        folder: bench.folder.display().to_string(),
        of: bench.of.display().to_string(),
        bytes: bench.size(),
        last_used: Timestamp::try_from(bench.taken)
            .unwrap_or_default()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string(),
        in_use: bench.is_in_use(),
        removed: false,
    }
}
