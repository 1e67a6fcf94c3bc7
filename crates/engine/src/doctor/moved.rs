//! Runs of a project that was moved: taken over, and told where it is now.

use std::path::{Path, PathBuf};

use journal::layout::RunDir;
use machine::Command;
use serde_json::Map;
use workspace::git::{GitError, Repository};

use super::DoctorCheck;
use crate::capability::memory::{START, Source, StartFacts};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::open_run;

impl Engine {
    /// Takes over the runs that are kept under a name for a project that is no longer where it was. Under the name of this project
    /// that is done again for those that could not be told where it is.
    pub(super) fn take_over(&self, name: &str) -> Result<Vec<DoctorCheck>, Fault> {
        let is_called = |folder: &Path| {
            let called = folder.file_name();
            called.is_some_and(|called| called.to_string_lossy() == name)
        };
        let moved = self.home.moved_projects()?;
        let found = moved.iter().find(|project| is_called(&project.folder));
        let own = self.stored()?.filter(|own| is_called(own.path()));
        // Sessions need none: what stands against it is told of the runs that do.
        let repository = Repository::discover(&self.root);
        let (project, runs) = match (found, own) {
            (Some(found), _) => {
                let adopted =
                    self.home
                        .adopt(&found.folder, &self.root, self.wait(), &self.command)?;
                (adopted.project, adopted.runs)
            }
            (None, Some(own)) => {
                let runs = own.runs()?.len();
                (own, runs)
            }
            (None, None) => {
                return Err(fault!("not_found.unknown_project", name));
            }
        };
        let told = format!("{runs} runs were taken over from {name}");
        let mut checks = vec![DoctorCheck::ok("adopt", told)];
        let name = project.path().file_name().unwrap_or_default();
        for id in project.runs()? {
            if let Err(fault) = self.tell_where_it_is(&project.run(&id)?, &repository) {
                checks.push(DoctorCheck::fail(
                    "adopt",
                    format!(
                        "{id} could not be told where the project is: {}",
                        fault.message
                    ),
                    format!("tm doctor --adopt {}", name.to_string_lossy()),
                ));
            }
        }
        Ok(checks)
    }

    /// Has a run that works on files know where they are now. One that is damaged, or takes nothing in any more, stays as it is.
    fn tell_where_it_is(
        &self,
        dir: &RunDir,
        repository: &Result<Repository, GitError>,
    ) -> Result<(), Fault> {
        let Ok(loaded) = open_run::load(dir.path()) else {
            return Ok(());
        };
        if loaded.run.status.is_over() && loaded.run.pending.is_none() {
            return Ok(());
        }
        let Some(before) = START.read(&loaded.run.kept)? else {
            return Ok(());
        };
        if before.project_root == self.root {
            return Ok(());
        }
        let repository = repository
            .as_ref()
            .map_err(|error| fault!("not_a_repository.moved_project", error))?;
        let now = self.here(before, repository);
        let mut keep = Map::new();
        START.put(&mut keep, &now)?;
        let command = Command::Edit {
            edits: Vec::new(),
            keep,
        };
        self.writer_at(dir, &now)?.done(&command)?;
        Ok(())
    }

    /// What a run knows from its start, with the places as they are now.
    fn here(&self, mut start: StartFacts, repository: &Repository) -> StartFacts {
        if let Source::Plan { path, .. } = &mut start.source {
            *path = rebased(path, &start.project_root, &self.root);
        }
        self.root.clone_into(&mut start.project_root);
        repository.top_level().clone_into(&mut start.top_level);
        repository.git_dir().clone_into(&mut start.git_dir);
        repository.common_dir().clone_into(&mut start.common_dir);
        start
    }
}

/// A path of a file that was moved with a folder.
fn rebased(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from)
        .map_or_else(|_| path.to_owned(), |below| to.join(below))
}
