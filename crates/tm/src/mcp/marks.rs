//! How often runs have moved, by the stream of their events: what tells a client that a resource is another one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::{Engine, Fault, Follow};

/// Marks of several resources that are asked for one after the other come of one look.
const ONE_LOOK: Duration = Duration::from_millis(10);

/// Marks of runs, and of the runs of a project: numbers that change with each event. They begin when somebody first asks.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    follow: Option<Follow>,
    looked: Option<Instant>,
    /// How many events came of each run since.
    runs: HashMap<(PathBuf, String), u64>,
    /// And of those of each project.
    projects: HashMap<PathBuf, u64>,
}

impl Marks {
    /// That of a run. Whether there is such a run is for the caller to know.
    pub fn of_run(&self, project: &Engine, run: &str) -> Result<u64, Fault> {
        self.counted(project, |counted, root| {
            let known = counted.runs.get(&(root.to_owned(), run.to_owned()));
            known.copied().unwrap_or_default()
        })
    }

    /// That of all runs of a project.
    pub fn of_runs(&self, project: &Engine) -> Result<u64, Fault> {
        self.counted(project, |counted, root| {
            counted.projects.get(root).copied().unwrap_or_default()
        })
    }

    fn counted(
        &self,
        project: &Engine,
        mark: impl FnOnce(&Counted, &Path) -> u64,
    ) -> Result<u64, Fault> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = match &mut counted.follow {
            Some(follow) => follow.also(project),
            none => {
                *none = Some(Follow::of(vec![project.clone()], None)?);
                true
            }
        };
        let is_fresh = counted.looked.is_some_and(|at| at.elapsed() < ONE_LOOK);
        if is_new || !is_fresh {
            counted.look()?;
        }
        Ok(mark(&counted, project.root()))
    }
}

impl Counted {
    fn look(&mut self) -> Result<(), Fault> {
        self.looked = Some(Instant::now());
        let follow = self.follow.as_mut();
        for event in follow.map_or_else(|| Ok(Vec::new()), Follow::poll)? {
            *self.projects.entry(event.project_root.clone()).or_default() += 1;
            *self
                .runs
                .entry((event.project_root, event.run_id))
                .or_default() += 1;
        }
        Ok(())
    }
}
