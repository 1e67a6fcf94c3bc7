//! Runs of a project that was moved: taken over, and told where it is now.

use std::path::{Path, PathBuf};

use journal::layout::RunDir;
use machine::Command;
use serde_json::Map;
use workspace::git::Repository;

use super::DoctorCheck;
use crate::call::Input;
use crate::capability::memory::{START, Source};
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::open_run;

impl Engine {
    /// Takes over the runs that are kept under a name for a project that is no longer where it was.
    pub(super) fn adopt(&self, name: &str) -> Result<DoctorCheck, Fault> {
        let moved = self.home.moved_projects()?;
        let found = moved.iter().find(|project| {
            project
                .folder
                .file_name()
                .is_some_and(|folder| folder.to_string_lossy() == name)
        });
        let Some(project) = found else {
            return Err(Fault::new(
                Kind::Missing,
                "unknown_project",
                format!("no moved project is kept under the name `{name}`"),
            )
            .suggest("`tm doctor` lists those that were moved"));
        };
        let adopted = self
            .home
            .adopt(&project.folder, &self.root, self.wait(), &self.command)?;
        for id in adopted.project.runs()? {
            self.tell_where_it_is(&adopted.project.run(&id)?)?;
        }
        Ok(DoctorCheck::ok(
            "adopt",
            format!("{} runs were taken over from {name}", adopted.runs),
        ))
    }

    /// Has a run that works on files know where they are now. One that is damaged, or takes nothing in any more, stays as it is.
    fn tell_where_it_is(&self, dir: &RunDir) -> Result<(), Fault> {
        let Ok(loaded) = open_run::load(dir.path()) else {
            return Ok(());
        };
        let Some(mut start) = START.read(&loaded.run.kept)? else {
            return Ok(());
        };
        if start.project_root == self.root {
            return Ok(());
        }
        let repository = Repository::discover(&self.root)?;
        if let Source::Plan { path, .. } = &mut start.source {
            *path = rebased(path, &start.project_root, &self.root);
        }
        self.root.clone_into(&mut start.project_root);
        repository.top_level().clone_into(&mut start.top_level);
        repository.git_dir().clone_into(&mut start.git_dir);
        repository.common_dir().clone_into(&mut start.common_dir);
        let mut keep = Map::new();
        START.put(&mut keep, &start)?;
        let command = Command::Edit {
            edits: Vec::new(),
            keep,
        };
        self.writer(dir, Input::None)?.done(&command)?;
        Ok(())
    }
}

/// A path of a file that was moved with a folder.
fn rebased(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from)
        .map_or_else(|_| path.to_owned(), |below| to.join(below))
}
