//! Files in the working tree that are reports of tests, and no work of a run.

use std::path::Path;

use workspace::git::{RepoPath, Repository, TreeStatus};

use crate::capability::memory::Memory;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::subject::is_data;
use crate::refusals;

/// Those that git does not know and nobody names: what this call hands in, what a refused report of the run in `dir` handed in, and
/// what runners left.
pub(crate) fn no_work(
    dir: &Path,
    repository: &Repository,
    memory: &Memory,
    taken: &TestEvidence,
    status: &TreeStatus,
    named: &[RepoPath],
) -> Vec<RepoPath> {
    let mut paths = handed_in(repository, taken, status, named);
    paths.extend(left_about(repository, memory, status, named));
    paths.extend(refused(dir, repository));
    paths
}

/// The reports that were handed in and lie in the working tree without being git's or named: they are no work of the run.
fn handed_in(
    repository: &Repository,
    taken: &TestEvidence,
    status: &TreeStatus,
    named: &[RepoPath],
) -> Vec<RepoPath> {
    let files = taken.files.iter().chain(&taken.coverage_file);
    // That of an adapter lies nowhere any more, and has a bare name.
    files
        .filter(|file| file.path.is_absolute())
        .filter_map(|file| repository.relative(&file.path))
        .filter(|path| !named.contains(path))
        .filter(|path| {
            let mut changes = status.changes.iter();
            changes.any(|change| change.path == *path && change.untracked)
        })
        .collect()
}

/// The files that were handed in with a report that was refused, and may be reports by their names.
fn refused(dir: &Path, repository: &Repository) -> Vec<RepoPath> {
    let all = refusals::reports(dir);
    all.iter()
        .filter(|path| is_data(&path.to_string_lossy()) || path.extension().is_none())
        .filter_map(|path| repository.relative(path))
        .collect()
}

/// Endings of files in which a runner keeps what a person has yet to look at: `insta` writes them anew with every run.
const PENDING: [&str; 2] = [".pending-snap", ".snap.new"];

/// Reports of tests that somebody left in the project's own folder, such as one that was refused: git does not know them, and they
/// are no work of the run either. Below that folder they may be samples that tests read.
fn left_about(
    repository: &Repository,
    memory: &Memory,
    status: &TreeStatus,
    named: &[RepoPath],
) -> Vec<RepoPath> {
    const LARGEST: u64 = 16 * 1024 * 1024;
    let is_report = |path: &RepoPath| {
        let place = repository.absolute(path);
        let about = std::fs::symlink_metadata(&place);
        place.parent() == Some(&memory.start.project_root)
            && is_data(&path.to_string())
            && about.is_ok_and(|about| about.is_file() && about.len() <= LARGEST)
            && std::fs::read(&place)
                .is_ok_and(|bytes| ::test_report::read_tests(&bytes[..], None).is_ok())
    };
    let untracked = status.changes.iter().filter(|change| change.untracked);
    untracked
        .map(|change| change.path.clone())
        .filter(|path| !named.contains(path))
        .filter(|path| {
            let name = path.to_string();
            PENDING.iter().any(|ending| name.ends_with(ending)) || is_report(path)
        })
        .collect()
}
