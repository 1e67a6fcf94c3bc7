//! Reports that are too old, or were used before.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use machine::state::Token;
use machine::{Finding, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workspace::git::{RepoPath, Repository};

use crate::capability::git::changes::Changes;
use crate::capability::git::read::finding;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::subject::{Subject, is_data};
use crate::capability::tests::evidence::{TestEvidence, nanos};
use crate::clock::millis_of;
use crate::fault::Fault;
use crate::next_step::{argument, step};
use crate::slot::Slot;

/// Which reports a run has taken in.
pub(crate) const USED: Slot<Used> = Slot::new("usedReports");
/// At most so many are remembered; older ones are older than the phase, too.
const MOST_USED: usize = 200;
/// The clock that stamps files may be behind the one that stamps events by its tick, in nanoseconds.
const TICK: i64 = 20_000_000;

/// So far may the clock of another machine, whose files these are, be ahead: ten minutes, in nanoseconds.
const AHEAD: i64 = 600_000_000_000;

/// The reports that a run has taken in: hash, and time of writing.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Used(Vec<(String, i64)>);

impl Used {
    fn has(&self, sha256: &str, written: i64) -> bool {
        self.0
            .iter()
            .any(|(used, at)| used == sha256 && *at == written)
    }

    /// Notes that these are used from now on.
    pub(crate) fn note(&mut self, taken: &TestEvidence) {
        for file in &taken.files {
            if !self.has(&file.sha256, file.written) {
                self.0.push((file.sha256.clone(), file.written));
            }
        }
        let over = self.0.len().saturating_sub(MOST_USED);
        self.0.drain(..over);
    }

    /// The same without the reports that the last call handed in, where they led nowhere: what stood in their way is gone.
    pub(crate) fn without_last(mut self, run: &RunState) -> Self {
        let last = run.last.as_ref().filter(|last| !last.answer.validated);
        let files = last.and_then(|last| last.facts.get("reports")?.as_array());
        for file in files.into_iter().flatten() {
            let hash = file.get("sha256").and_then(Value::as_str);
            self.0.retain(|(used, _)| Some(used.as_str()) != hash);
        }
        self
    }

    /// What the run is to remember.
    pub(crate) fn keep(&self) -> Result<Map<String, Value>, Fault> {
        if self.0.is_empty() {
            return Ok(Map::new());
        }
        USED.entry(self)
    }
}

/// A report from before the phase, from before the last change of what it is about, or that was used before. `came_in` are the
/// files that came otherwise since the run's last commit: by another branch, or put back.
pub(crate) fn stale(
    taken: &TestEvidence,
    present: Option<&Token>,
    repository: &Repository,
    subject: &Subject<'_>,
    changes: &Changes,
    came_in: &[RepoPath],
    used: &Used,
) -> Option<Finding> {
    let handed: Vec<RepoPath> = taken
        .files
        .iter()
        .chain(&taken.coverage_file)
        .filter_map(|file| repository.relative(&file.path))
        .collect();
    let since = entered(present);
    let own = changes.files.iter().filter(|change| subject.has(change));
    let own = own.flat_map(|change| change.paths().map(|path| (path, true)));
    let others = came_in.iter().filter(|path| subject.is_about(path));
    let others = others.map(|path| (path, false));
    let changes: Vec<(i64, bool, String, bool)> = own
        .chain(others)
        .filter(|(path, _)| !handed.contains(path))
        .filter_map(|(path, is_own)| {
            let (at, is_gone) = changed(repository, path)?;
            Some((at, is_gone, path.to_string(), is_own))
        })
        .collect();
    for file in taken.files.iter().chain(&taken.coverage_file) {
        let name = file.path.display();
        if used.has(&file.sha256, file.written) {
            return Some(report_problem(format!(
                "the report {name} was handed in before"
            )));
        }
        if file.written > nanos(SystemTime::now()).saturating_add(AHEAD) {
            return Some(report_problem(format!(
                "the report {name} says that it is from the future"
            )));
        }
        if file.written.saturating_add(TICK) < since {
            return Some(report_problem(format!(
                "the report {name} is from before this phase began"
            )));
        }
        // A report that was moved into its folder has changed that itself.
        let moved = std::fs::symlink_metadata(&file.path).map_or(0, |found| inode_changed(&found));
        let is_newer = |(at, is_gone, ..): &&(i64, bool, String, bool)| {
            file.written < *at && !(*is_gone && *at <= moved)
        };
        if (taken.ran.is_none() || !taken.files.contains(file))
            && let Some((_, is_gone, path, is_own)) = changes.iter().filter(is_newer).max()
        {
            let gone = if *is_gone { ", which is gone" } else { "" };
            let mut problem = report_problem(format!(
                "the report {name} is older than the last change of `{path}`{gone}"
            ));
            let suggestion = problem.suggestion.as_mut();
            if let Some(suggestion) = suggestion.filter(|_| *is_own) {
                suggestion.push_str(if *is_gone {
                    concat!(
                        "; where other files come and go in its folder, have them run with ",
                        argument!("verify")
                    )
                } else {
                    "; what the tests themselves write belongs into .gitignore"
                });
            }
            return Some(problem);
        }
    }
    None
}

/// When a file was changed last, and whether it is gone: then it is its folder that was changed.
fn changed(repository: &Repository, path: &RepoPath) -> Option<(i64, bool)> {
    let place = repository.absolute(path);
    let mut places = place.ancestors();
    let nearest = places.find(|at| at.symlink_metadata().is_ok())?;
    Some((modified(nearest)?, nearest != place))
}

/// When a file was changed last, in nanoseconds since 1970.
fn modified(place: &Path) -> Option<i64> {
    let found = std::fs::symlink_metadata(place).ok()?;
    let modified = found.modified().ok().filter(|time| *time > UNIX_EPOCH)?;
    let (modified, now) = (nanos(modified), nanos(SystemTime::now()));
    // A date in the future was set by hand: the file system knows when.
    let is_set = modified > now.saturating_add(AHEAD);
    Some(if is_set {
        inode_changed(&found)
    } else {
        modified
    })
}

/// When what a file system knows of a file was changed last, its name included, in nanoseconds since 1970.
fn inode_changed(found: &Metadata) -> i64 {
    let seconds = found.ctime().saturating_mul(1_000_000_000);
    seconds.saturating_add(found.ctime_nsec())
}

/// The files that were there in the last report and are not any more. Git does not tell of those that it never knew.
pub(crate) fn gone(run: &RunState, repository: &Repository) -> Vec<RepoPath> {
    let last = run.last.as_ref();
    let known = last.and_then(|last| last.facts.get("files")?.as_array());
    let names = known.into_iter().flatten().filter_map(Value::as_str);
    names
        .filter(|name| !is_data(name))
        .filter_map(|name| name.parse().ok())
        .filter(|path| repository.absolute(path).symlink_metadata().is_err())
        .collect()
}

/// The files that somebody has written since the phase began and that are as git has them: what was put back there. A report of
/// before is about what they were then.
pub(crate) fn put_back(
    taken: &TestEvidence,
    present: Option<&Token>,
    memory: &Memory,
    repository: &Repository,
) -> Result<Vec<RepoPath>, Fault> {
    if taken.ran.is_some() || taken.files.is_empty() {
        return Ok(Vec::new());
    }
    let exempt = memory.exempt(repository);
    let since = entered(present);
    let now = nanos(SystemTime::now());
    let mut paths = repository.tracked_files()?;
    paths.retain(|path| {
        modified(&repository.absolute(path)).is_some_and(|at| (since..now).contains(&at))
            && !exempt.contains(path)
    });
    Ok(paths)
}

/// When the phase began, in nanoseconds since 1970.
fn entered(present: Option<&Token>) -> i64 {
    present
        .and_then(|token| millis_of(&token.entered_at))
        .map_or(0, |millis| millis.saturating_mul(1_000_000))
}

fn report_problem(message: String) -> Finding {
    finding(
        "stale_report",
        message,
        concat!(
            "run the tests again, and report what they show: ",
            step!("report")
        ),
    )
}
