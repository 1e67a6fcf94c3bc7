//! What callers ask of a `tdd` run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::capability::tests::evidence::listed;

/// Arguments of `start`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Start {
    /// The task, where it comes from the tasks file or needs no other name.
    pub task_id: Option<String>,
    /// The workflow; `tdd` if absent.
    pub workflow: Option<String>,
    /// A task given by its title.
    pub title: Option<String>,
    /// Its subtasks.
    #[serde(rename = "subtask")]
    pub subtasks: Vec<String>,
    /// A Markdown checklist.
    pub plan: Option<PathBuf>,
    /// Name of the branch instead of the pattern's.
    pub branch: Option<String>,
    /// GREEN attempts instead of the settings'.
    pub max_attempts: Option<u32>,
    /// What the tests of this run are run by, where the settings name nothing.
    pub test_command: Option<String>,
    /// Supersede a run that is under way.
    pub force: bool,
    /// Begin with a dirty tree.
    pub allow_dirty: bool,
    /// Run the suite before.
    pub verify: bool,
    /// The files that the suite writes its reports to, where it is run; a folder stands for the reports in it.
    #[serde(rename = "report")]
    pub reports: Vec<PathBuf>,
    /// Their format, where it is not to be told by their content.
    pub format: Option<String>,
}

/// What a report of tests rests on: numbers, or a report, or a run of the engine's own.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// `failed:3,passed:0` in any order, or a JSON object.
    pub results: Option<String>,
    /// Test reports, relative to where the caller stands; a folder stands for the reports in it.
    #[serde(rename = "report")]
    pub reports: Vec<PathBuf>,
    /// Their format, where it is not to be told by their content.
    pub format: Option<String>,
    /// A number (line coverage), `lines:92,branches:80`, or a JSON object; in percent.
    pub coverage: Option<String>,
    /// A coverage report.
    pub coverage_report: Option<PathBuf>,
    /// The engine is to run the test command.
    pub verify: bool,
    /// Nothing was changed since the report that this one is held against.
    pub unchanged: bool,
    /// Ids of tests that were taken out on purpose. One that ends with `*` stands for all that begin so.
    pub removed: Vec<String>,
    /// Ids of tests, in the same way, that failed before the item and are to pass with it.
    pub repairs: Vec<String>,
}

impl Evidence {
    /// Whether anything is said of tests.
    pub fn is_given(&self) -> bool {
        self.results.is_some() || !self.reports.is_empty() || self.verify || self.unchanged
    }

    /// The files that are handed in by a caller in `cwd`, those in folders included.
    pub(crate) fn files(&self, cwd: &Path) -> Vec<PathBuf> {
        // One that cannot be read keeps none of the others out.
        let reports = self.reports.iter().map(|path| cwd.join(path));
        let mut files: Vec<_> = reports
            .flat_map(|path| listed(&[path]).unwrap_or_default())
            .collect();
        files.extend(self.coverage_report.iter().map(|path| cwd.join(path)));
        files
    }

    /// Numbers that somebody gives.
    pub fn claimed(results: impl Into<String>) -> Self {
        Self {
            results: Some(results.into()),
            ..Self::default()
        }
    }
}
