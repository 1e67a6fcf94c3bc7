//! What is changed in the tree that a run begins in.

use std::collections::BTreeMap;

use workspace::config::Settings;
use workspace::git::{Change, RepoPath, Repository, TreeStatus};

use crate::capability::memory::{self, DirtyFile, StartFacts};
use crate::capability::tests::read::few;
use crate::fault;
use crate::fault::Fault;
use crate::view::autopilot::request;

/// So many files are named.
const MOST_SHOWN: usize = 20;

/// The reports of the suite that lie in the working tree.
fn report_files(repository: &Repository, request: &request::Start) -> Vec<RepoPath> {
    let reports = &request.reports;
    reports
        .iter()
        .filter_map(|report| repository.relative(report))
        .collect()
}

/// What is said of the tree that a run begins in. The tasks file may be changed: the run ticks in it what is done, and commits it with
/// that.
pub(super) fn how_clean(
    dirty: &BTreeMap<RepoPath, DirtyFile>,
    status: &TreeStatus,
    start: &mut StartFacts,
) -> String {
    let tasks_file = start.tasks_path.iter().find(|path| {
        let mut paths = status.changes.iter().flat_map(Change::paths);
        paths.any(|changed| changed == *path)
    });
    let told = match (dirty.len(), tasks_file) {
        (0, None) => "nothing is changed".to_owned(),
        (0, Some(_)) => "nothing but the tasks file is changed".to_owned(),
        (count, _) => format!("{count} files are changed, and permitted"),
    };
    if let Some(path) = tasks_file {
        start.warnings.push(format!(
            "`{path}` has changes that no commit has: they go into the run's first commit"
        ));
    }
    told
}

/// The changed files that keep a run from beginning, but for those that no check looks at.
pub(crate) fn in_the_way(status: &TreeStatus, exempt: &[RepoPath]) -> Vec<RepoPath> {
    let changes = status.changes.iter();
    let mut paths: Vec<RepoPath> = changes
        .filter(|change| !change.nested)
        .flat_map(|change| change.paths().cloned())
        .filter(|path| !exempt.contains(path))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The files that are changed and permitted to be.
pub(super) fn dirty(
    repository: &Repository,
    status: &TreeStatus,
    start: &StartFacts,
    settings: &Settings,
    request: &request::Start,
) -> Result<BTreeMap<RepoPath, DirtyFile>, Fault> {
    let memory = memory::Memory {
        // A report of the suite as it is may lie in the tree.
        reports: report_files(repository, request),
        start: start.clone(),
        dirty: BTreeMap::new(),
        last_commit: start.head.clone(),
    };
    let exempt = [memory.exempt(repository), memory.reports].concat();
    let paths = in_the_way(status, &exempt);
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    if settings.config.autopilot.require_clean_working_tree && !request.allow_dirty {
        let files: Vec<String> = paths.iter().map(ToString::to_string).collect();
        let fault = fault!("dirty_tree.dirty", files = few(&files)).detail(
            "files",
            files.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>(),
        );
        return Err(match files.len().saturating_sub(MOST_SHOWN) {
            0 => fault,
            more => fault.detail("more", more),
        });
    }
    Ok(repository
        .hash_files(&paths)?
        .into_iter()
        .map(|(path, content)| {
            let content = content.map(|id| id.as_str().to_owned());
            (
                path,
                DirtyFile {
                    content,
                    left: false,
                },
            )
        })
        .collect())
}
