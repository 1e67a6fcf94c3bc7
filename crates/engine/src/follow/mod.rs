//! The events of runs as they come, from whichever process: of one run, of a project, or of all projects.
//!
//! Nothing tells of an append but the journal itself, so journals are looked at again and again, for as long as somebody
//! follows: each look is one question to the file system a run. Runs that moved lately, and new ones, are looked at each time; of
//! those that have long been still so many at a time that a look costs the same however many there are.

mod cursor;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

pub use journal::Record;
use journal::layout::{ProjectDir, RunDir};
use journal::{FileJournal, Follower, Journal as _, JournalError, Position};
use serde::Serialize;

use crate::clock::millis_of;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find::Selector;
use crate::view::AUTOPILOT;

use cursor::Cursor;

/// How long to wait between two looks.
pub const LOOK: Duration = Duration::from_millis(40);
/// For how long after its last event a run is looked at each time.
const LIVELY: Duration = Duration::from_mins(30);
/// How many of the others are.
const STILL_AT_ONCE: usize = 256;
/// How many digits of a hash tell the few runs that a cursor names from all others, a million of them in practice.
const KEY: usize = 12;
/// The time of a folder says nothing about what came into it so shortly after: file systems count in ticks.
const TICK: Duration = Duration::from_millis(100);

/// An event of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FollowedEvent {
    /// The run.
    pub run_id: String,
    /// Its project.
    pub project_root: PathBuf,
    /// Where to go on from behind this event: what [`Engine::follow_all`] takes. Only the last event of what was appended at once has
    /// one: it is as long as all that is told of a small event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The event, as it stands in the journal.
    #[serde(flatten)]
    pub record: Record,
}

/// Whose events are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowScope {
    /// Those of the runs of this project.
    Project,
    /// Those of the runs of all projects.
    AllProjects,
}

/// Runs whose events are followed. It has no thread: the caller says when to look, every [`LOOK`].
#[derive(Debug, Default)]
pub struct Follow {
    /// Where new runs may come from; nowhere, where one run is followed.
    engines: Vec<(Engine, FollowScope)>,
    projects: BTreeMap<PathBuf, FollowedProject>,
    projects_seen: FolderTime,
    runs: BTreeMap<String, FollowedRun>,
    /// With which of those that are still the next look goes on.
    next: usize,
    cursor: Cursor,
    /// How many of the runs have ended.
    ended: usize,
}

/// A project, as far as it is followed.
#[derive(Debug)]
struct FollowedProject {
    dir: ProjectDir,
    seen: FolderTime,
}

#[derive(Debug)]
struct FollowedRun {
    id: String,
    root: PathBuf,
    follower: Follower,
    /// When something last came of it.
    moved: Option<Instant>,
    /// The last event that was given out before.
    after: u64,
    /// What was before this moment was given out before; in milliseconds since 1970.
    since: Option<i64>,
    /// How long the journal was when it could not be read.
    broken: Option<u64>,
}

/// When a folder last changed, as far as that can be told.
#[derive(Debug, Default)]
struct FolderTime(Option<SystemTime>);

impl FolderTime {
    /// Whether something may have come into the folder since this was asked last.
    fn may_have_changed(&mut self, folder: &Path) -> bool {
        let Ok(time) = std::fs::metadata(folder).and_then(|found| found.modified()) else {
            // It may come.
            return std::mem::take(&mut self.0).is_some();
        };
        let is_fresh = time.elapsed().map_or(true, |age| age < TICK);
        let known = if is_fresh { None } else { Some(time) };
        std::mem::replace(&mut self.0, known) != Some(time)
    }
}

impl FollowedRun {
    fn from_the_first_on(dir: &RunDir, project: &ProjectDir) -> Self {
        Self {
            id: dir.id().to_owned(),
            root: project.real_path().to_owned(),
            follower: Follower::new(dir.journal_path(), Position::start()),
            moved: None,
            after: 0,
            since: None,
            broken: None,
        }
    }

    /// The events that are new.
    fn poll(&mut self) -> Result<Vec<Record>, JournalError> {
        let mut records = match self.follower.poll() {
            // A repair has put another journal there: what it kept was given out before.
            Err(JournalError::PositionLost { seq, .. }) => {
                let path = self.follower.path().to_owned();
                self.follower = Follower::new(path, Position::start());
                let mut all = self.follower.poll()?;
                all.retain(|record| record.seq > seq);
                all
            }
            polled => polled?,
        };
        // A cursor may stand within a unit.
        records.retain(|record| record.seq > self.after);
        if let Some(since) = self.since.take() {
            records.retain(|record| millis_of(&record.ts).is_none_or(|at| at > since));
        }
        if !records.is_empty() {
            self.moved = Some(Instant::now());
        }
        Ok(records)
    }

    /// The same, where a journal that is damaged gives none until it is another one.
    fn poll_whole(&mut self) -> Vec<Record> {
        if self.broken.is_some_and(|broken| broken == self.len()) {
            return Vec::new();
        }
        if let Ok(records) = self.poll() {
            self.broken = None;
            return records;
        }
        self.broken = Some(self.len());
        Vec::new()
    }

    /// How long its journal is, in bytes.
    fn len(&self) -> u64 {
        std::fs::metadata(self.follower.path()).map_or(0, |found| found.len())
    }
}

impl Follow {
    /// The events that are new since the last call, the oldest first; those of one run in their order.
    ///
    /// # Errors
    /// Where one run is followed, if its journal cannot be read. Of many, one that cannot be read is passed over.
    pub fn poll(&mut self) -> Result<Vec<FollowedEvent>, Fault> {
        let new_runs = self.look_for_runs()?;
        let mut found: Vec<(String, Record)> = Vec::new();
        if self.engines.is_empty() {
            for (key, run) in &mut self.runs {
                found.extend(run.poll()?.into_iter().map(|record| (key.clone(), record)));
            }
        } else {
            let mut still = 0;
            for (at, (key, run)) in self.runs.iter_mut().enumerate() {
                let is_lively = run.moved.is_some_and(|moved| moved.elapsed() < LIVELY);
                if !is_lively && !new_runs.contains(key) {
                    if at < self.next || still == STILL_AT_ONCE {
                        continue;
                    }
                    still += 1;
                    if still == STILL_AT_ONCE {
                        self.next = at + 1;
                    }
                }
                let records = run.poll_whole().into_iter();
                found.extend(records.map(|record| (key.clone(), record)));
            }
            if still < STILL_AT_ONCE {
                self.next = 0;
            }
        }
        // By time, and those of one run as they stand there: the sort is stable.
        found.sort_by(|(_, a), (_, b)| a.ts.cmp(&b.ts));
        Ok(found
            .into_iter()
            .filter_map(|(key, record)| self.given_out(&key, record))
            .collect())
    }

    fn given_out(&mut self, key: &str, record: Record) -> Option<FollowedEvent> {
        let run = self.runs.get(key)?;
        let at = millis_of(&record.ts).unwrap_or_default();
        self.cursor.note(key, record.seq, at);
        self.ended += usize::from(record.event == "run:ended");
        Some(FollowedEvent {
            run_id: run.id.clone(),
            project_root: run.root.clone(),
            cursor: (record.k == record.n).then(|| self.cursor.to_string()),
            record,
        })
    }

    /// The events of the runs of these projects: from now on, or from where a cursor says.
    ///
    /// # Errors
    /// `usage`, if `from` is none.
    pub fn of(projects: Vec<Engine>, from: Option<&str>) -> Result<Self, Fault> {
        let mut projects = projects.into_iter();
        let Some(first) = projects.next() else {
            return Ok(Self::default());
        };
        let mut follow = first.follow_all(FollowScope::Project, from)?;
        for project in projects {
            follow.also(&project);
        }
        Ok(follow)
    }

    /// Follows the runs of a further project, too; whether it is one.
    pub fn also(&mut self, engine: &Engine) -> bool {
        let is_known = |(known, _): &(Engine, FollowScope)| known.root == engine.root;
        let is_new = !self.engines.iter().any(is_known);
        if is_new {
            self.engines.push((engine.clone(), FollowScope::Project));
            self.projects_seen = FolderTime::default();
        }
        is_new
    }

    /// Where to go on from behind everything that was given out.
    pub fn cursor(&self) -> String {
        self.cursor.to_string()
    }

    /// Whether all runs that are followed have ended, and none can come.
    pub fn is_over(&self) -> bool {
        self.engines.is_empty() && self.ended >= self.runs.len()
    }

    /// Takes in the runs that have come; their keys.
    fn look_for_runs(&mut self) -> Result<Vec<String>, Fault> {
        let Some((first, _)) = self.engines.first() else {
            return Ok(Vec::new());
        };
        if self.projects_seen.may_have_changed(&first.home.projects()) {
            let mut dirs = Vec::new();
            for (engine, scope) in &self.engines {
                match scope {
                    FollowScope::Project => dirs.extend(engine.stored()?),
                    FollowScope::AllProjects => {
                        for root in engine.known_projects() {
                            dirs.extend(engine.home.find_project(&root)?);
                        }
                    }
                }
            }
            for dir in dirs {
                self.projects
                    .entry(dir.path().to_owned())
                    .or_insert_with(|| FollowedProject {
                        dir,
                        seen: FolderTime::default(),
                    });
            }
        }
        let mut new = Vec::new();
        for project in self.projects.values_mut() {
            if !project.seen.may_have_changed(&project.dir.runs_folder()) {
                continue;
            }
            for id in project.dir.runs()? {
                let key = key(&project.dir, &id);
                if self.runs.contains_key(&key) {
                    continue;
                }
                let dir = project.dir.run(&id)?;
                let run = begun(&dir, &project.dir, &self.cursor, &key);
                self.runs.insert(key.clone(), run);
                new.push(key);
            }
        }
        Ok(new)
    }
}

/// What names a run among those of all projects, in a few letters: a cursor names many.
fn key(project: &ProjectDir, id: &str) -> String {
    let folder = project.path().file_name().unwrap_or_default();
    let named = format!("{}/{id}", folder.to_string_lossy());
    let mut digest = journal::sha256_hex(named.as_bytes());
    digest.truncate(KEY);
    digest
}

/// A run that is followed from where the cursor says.
fn begun(dir: &RunDir, project: &ProjectDir, cursor: &Cursor, key: &str) -> FollowedRun {
    let path = dir.journal_path();
    let mut run = FollowedRun::from_the_first_on(dir, project);
    let changed = std::fs::metadata(&path).and_then(|found| found.modified());
    let age = changed.as_ref().ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age < LIVELY) {
        run.moved = Some(Instant::now());
    }
    let since = Duration::from_millis(u64::try_from(cursor.since()).unwrap_or_default());
    // One that has been still since then has nothing to give.
    let was_still = changed.is_ok_and(|changed| changed < SystemTime::UNIX_EPOCH + since);
    let position = match cursor.seen(key) {
        Some(seq) => {
            run.after = seq;
            journal::unit_end(&path, seq).ok()
        }
        None if was_still => FileJournal::open(dir.path())
            .and_then(|journal| journal.head())
            .map(|head| head.position())
            .ok(),
        None => None,
    };
    match position {
        Some(position) => run.follower = Follower::new(path, position),
        None => run.since = Some(cursor.since()),
    }
    run
}

impl Engine {
    /// A run's events as they come, from the first on; where none is named, of the present one over a task.
    pub fn follow(&self, run: Option<&str>) -> Result<Follow, Fault> {
        let (project, dir) = match run {
            Some(_) => self.looked_at(run)?,
            None => self.meant(&AUTOPILOT, None, Selector::Running)?,
        };
        let run = FollowedRun::from_the_first_on(&dir, &project);
        Ok(Follow {
            runs: BTreeMap::from([(key(&project, dir.id()), run)]),
            ..Follow::default()
        })
    }

    /// The events of many runs as they come: from now on, or from where a cursor says.
    ///
    /// # Errors
    /// `usage`, if `from` is none.
    pub fn follow_all(&self, scope: FollowScope, from: Option<&str>) -> Result<Follow, Fault> {
        let now = self.clock.millis();
        let cursor = from.map_or_else(|| Ok(Cursor::at(now)), str::parse)?;
        let mut follow = Follow {
            engines: vec![(self.clone(), scope)],
            cursor,
            ..Follow::default()
        };
        follow.look_for_runs()?;
        Ok(follow)
    }
}
