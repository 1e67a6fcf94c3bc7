//! Reports that are about other work than that which is there, or were used before.

use std::time::{SystemTime, UNIX_EPOCH};

use machine::Finding;
use machine::role::FileClass;
use machine::state::Token;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use serde_json::Value;
use workspace::git::Repository;

use crate::capability::git::read::finding;
use crate::capability::tests::difference::Difference;
use crate::capability::tests::evidence::{TestEvidence, nanos};
use crate::clock::millis_of;
use crate::fault::Fault;
use crate::next_step::step;
use crate::slot::Slot;

/// Which reports a run has taken in.
pub(crate) const USED: Slot<Used> = Slot::new("usedReports");
/// At most so many are remembered; older ones are older than the phase, too.
const MOST_USED: usize = 200;
/// The clock that stamps files may be behind the one that stamps events by its tick, in nanoseconds.
const TICK: i64 = 20_000_000;
/// So far may the clock of another machine, whose files these are, be ahead: ten minutes, in nanoseconds.
const AHEAD: i64 = 600_000_000_000;

/// Endings of files that suites, builds and coverage tools write, and people seldom.
const DATA: &[&str] = &[
    "coverage", "cov", "csv", "dat", "db", "gcda", "gcno", "gif", "html", "info", "jpg", "json",
    "jsonl", "lcov", "log", "ndjson", "out", "png", "profdata", "profraw", "sqlite", "sqlite3",
    "svg", "tap", "tmp", "trx", "tsv", "txt", "xml", "yaml", "yml",
];

/// Whether a file is one that suites, builds and coverage tools write, by its ending.
pub(crate) fn is_data(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| DATA.contains(&ending.to_ascii_lowercase().as_str()))
}

/// The reports that a run has taken in: hash, and time of writing.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Used(Vec<(String, i64)>);

impl Used {
    fn has(&self, sha256: &str, written: i64) -> bool {
        let mut used = self.0.iter();
        used.any(|(used, at)| used == sha256 && *at == written)
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

    /// What the run is to remember.
    pub(crate) fn keep(&self) -> Result<Map<String, Value>, Fault> {
        if self.0.is_empty() {
            return Ok(Map::new());
        }
        USED.entry(self)
    }
}

/// A report that somebody hands in and that was used before, is from before the phase, or from before the last change of the work.
pub(crate) fn stale(
    taken: &TestEvidence,
    present: Option<&Token>,
    repository: &Repository,
    of_item: &[Difference],
    used: &Used,
) -> Option<Finding> {
    let entered = present.and_then(|token| millis_of(&token.entered_at));
    let entered = entered.map_or(0, |millis| millis.saturating_mul(1_000_000));
    // What a suite writes behind its report, and documents, it does not rest on.
    let is_about = |difference: &&Difference| {
        let is_written = difference.before.is_none() && is_data(&difference.path.to_string());
        let mut classes = difference.classes.iter();
        !is_written && classes.any(|class| *class != FileClass::Docs)
    };
    // What we ran ourselves is of now.
    let handed: Vec<_> = match taken.ran {
        None => taken.files.iter().chain(&taken.coverage_file).collect(),
        Some(_) => return None,
    };
    let is_handed = |difference: &&Difference| {
        let mut paths = handed
            .iter()
            .filter_map(|file| repository.relative(&file.path));
        paths.any(|path| path == difference.path)
    };
    let about = of_item
        .iter()
        .filter(is_about)
        .filter(|one| !is_handed(one));
    let changed = about.filter_map(|difference| {
        Some((
            written(repository, difference)?,
            difference.path.to_string(),
        ))
    });
    let last = changed.max();
    for file in &handed {
        let name = file.path.display();
        let why = if used.has(&file.sha256, file.written) {
            "was handed in before".to_owned()
        } else if file.written > nanos(SystemTime::now()).saturating_add(AHEAD) {
            "says that it is from the future".to_owned()
        } else if file.written.saturating_add(TICK) < entered {
            "is from before this phase began".to_owned()
        } else if let Some((at, path)) = &last
            && file.written < *at
        {
            format!("is older than the last change of `{path}`")
        } else {
            continue;
        };
        return Some(finding(
            "stale_report",
            format!("the report {name} {why}"),
            concat!(
                "run the tests again, and report what they show: ",
                step!("report")
            ),
        ));
    }
    None
}

/// When a file was written last, in nanoseconds since 1970; none where it is not there, or its date was set by hand.
fn written(repository: &Repository, difference: &Difference) -> Option<i64> {
    let about = std::fs::symlink_metadata(repository.absolute(&difference.path)).ok()?;
    let at = about.modified().ok().filter(|at| *at > UNIX_EPOCH)?;
    Some(nanos(at)).filter(|at| *at <= nanos(SystemTime::now()).saturating_add(AHEAD))
}
