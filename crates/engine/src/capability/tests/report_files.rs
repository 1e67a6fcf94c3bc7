//! Files in the working tree that are reports of tests, and no work of a run.

use std::path::{Path, PathBuf};

use journal::durable;
use workspace::git::{RepoPath, Repository, TreeStatus};

use crate::capability::memory::Memory;
use crate::capability::tests::evidence::{TestEvidence, counts};
use crate::capability::tests::stale::is_data;
use crate::fault::Fault;

/// Those that git does not know and nobody names: what this call hands in, what a refused report of the run in `dir` handed in, and
/// what runners left.
pub(crate) fn no_work(
    dir: &Path,
    repository: &Repository,
    memory: &Memory,
    taken: &TestEvidence,
    status: &TreeStatus,
    named: &[RepoPath],
) -> Result<Vec<RepoPath>, Fault> {
    let mut paths = handed_in(repository, taken, status, named);
    paths.extend(left_about(repository, memory, status, named));
    paths.extend(refused(dir, repository)?);
    Ok(paths)
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

/// The file of a run that lists the files handed in with refused reports. It decides what is committed, and nothing else has it: a
/// refused report is not in the journal.
const REFUSED: &str = "refused-reports.json";

/// Records the files that were handed in with a refused report of the run in `dir`: they are no work of the run.
pub(crate) fn record_refused(dir: &Path, files: Vec<PathBuf>) -> Result<(), Fault> {
    let mut all = handed_in_before(dir)?;
    all.extend(files);
    all.sort();
    all.dedup();
    serde_json::to_vec(&all)
        .map_err(std::io::Error::from)
        .and_then(|json| durable::replace_durably(&dir.join(REFUSED), &json))
        .map_err(|error| unusable(dir, &error))
}

fn handed_in_before(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let read = durable::read_if_there(&dir.join(REFUSED));
    read.and_then(|bytes| {
        Ok(serde_json::from_slice(
            &bytes.unwrap_or_else(|| b"[]".into()),
        )?)
    })
    .map_err(|error| unusable(dir, &error))
}

fn unusable(dir: &Path, error: &std::io::Error) -> Fault {
    let path = dir.join(REFUSED);
    Fault::environment("io_failed", path.display(), error).suggest(
        "repair or remove that file, and report again; it lists report files that are not to be committed",
    )
}

/// The files that were handed in with a report that was refused, and may be reports by their names.
fn refused(dir: &Path, repository: &Repository) -> Result<Vec<RepoPath>, Fault> {
    let all = handed_in_before(dir)?;
    Ok(all
        .iter()
        .filter(|path| is_data(&path.to_string_lossy()) || path.extension().is_none())
        .filter_map(|path| repository.relative(path))
        .collect())
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
            && std::fs::read(&place).is_ok_and(|bytes| {
                // PHPUnit is configured in XML like that of reports, which has no test in it.
                ::test_report::read_tests(&bytes[..], None)
                    .is_ok_and(|report| counts(&report.totals).total() > 0)
            })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refused_report_handed_in_is_never_lost_unsaid() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        for file in ["b.xml", "a.xml", "b.xml"] {
            record_refused(dir, vec![file.into()]).unwrap();
        }
        let both = [PathBuf::from("a.xml"), "b.xml".into()];
        assert_eq!(handed_in_before(dir).unwrap(), both);
        // Cut off, it is no empty list; what cannot be written is said.
        std::fs::write(dir.join(REFUSED), "[\"a.x").unwrap();
        assert_eq!(handed_in_before(dir).unwrap_err().code, "io_failed");
        std::fs::remove_file(dir.join(REFUSED)).unwrap();
        std::fs::create_dir(dir.join(REFUSED)).unwrap();
        let fault = record_refused(dir, vec!["c.xml".into()]).unwrap_err();
        assert_eq!(fault.code, "io_failed");
    }
}
