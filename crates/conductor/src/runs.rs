//! Looking at runs: lists, logs, reports, the journal's health.

use std::path::Path;

use journal::layout::{ProjectDir, RunDir};
use journal::{FileJournal, Follower, Journal as _, Position, Record};
use rails::{Event, RunState};
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::stamp;
use crate::conductor::{Conductor, read_json};
use crate::engine;
use crate::fault::{Fault, Kind};
use crate::tdd::memory::{self, Memory};
use crate::tdd::{report, view};

/// A run in a list.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its id.
    pub run_id: String,
    /// Its project.
    pub project_root: String,
    /// Its workflow.
    pub workflow: String,
    /// The task.
    pub task_id: String,
    /// Its title.
    pub task_title: String,
    /// The tag.
    pub tag: String,
    /// The branch.
    pub branch: String,
    /// `running`, `paused`, `completed`, `failed`, `aborted`; `damaged` or `unstarted` where there
    /// is no more to say.
    pub status: String,
    /// When it began, UTC.
    pub start_time: String,
    /// When it ended, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// Subtasks done.
    pub completed: usize,
    /// All subtasks.
    pub total: usize,
    /// Commits made.
    pub commits: u64,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Those of every project.
    pub all: bool,
    /// Those of a tag.
    pub tag: Option<String>,
    /// Those with a status.
    pub status: Option<String>,
    /// The newest so many.
    pub limit: Option<usize>,
}

/// What was found of a journal's chain.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogVerified {
    /// The run.
    pub run_id: String,
    /// Whether nothing is wrong with it.
    pub whole: bool,
    /// Events up to the first damage.
    pub events: u64,
    /// Bytes of a unit that a crash left unfinished; the next writer cuts them off.
    pub torn_bytes: u64,
    /// Hash of the last line.
    pub head: String,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// In which line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// What a repair did.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogRepaired {
    /// The run.
    pub run_id: String,
    /// Whether anything was done.
    pub repaired: bool,
    /// Events that are left.
    pub kept_events: u64,
    /// Events that are lost.
    pub lost_events: u64,
    /// Bytes that are lost.
    pub lost_bytes: u64,
    /// The old journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_file: Option<String>,
}

/// A journal as it grows.
#[derive(Debug)]
pub struct Follow {
    run_id: String,
    follower: Follower,
    over: bool,
}

impl Follow {
    /// The events that are new since the last call.
    pub fn poll(&mut self) -> Result<Vec<Record>, Fault> {
        let records = self.follower.poll()?;
        self.over |= records.iter().any(|record| record.event == "run:ended");
        Ok(records)
    }

    /// Whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }
}

/// A run in a list, as far as it can be read.
pub(crate) fn summary(dir: &RunDir, project: &ProjectDir) -> RunSummary {
    let mut summary = RunSummary {
        run_id: dir.id().to_owned(),
        project_root: project.real_path().display().to_string(),
        ..RunSummary::default()
    };
    match engine::load(dir.path()) {
        Ok(loaded) if loaded.head.seq == 0 => {
            "unstarted".clone_into(&mut summary.status);
            summary.problem = Some("its start was interrupted".to_owned());
        }
        Ok(loaded) => fill(&mut summary, &loaded.run),
        Err(fault) => {
            "damaged".clone_into(&mut summary.status);
            summary.problem = Some(fault.message);
        }
    }
    summary
}

fn fill(summary: &mut RunSummary, run: &RunState) {
    let progress = view::progress(run);
    run.workflow.clone_into(&mut summary.workflow);
    run.status.name().clone_into(&mut summary.status);
    run.started_at.clone_into(&mut summary.start_time);
    summary.end_time.clone_from(&run.ended_at);
    summary.completed = progress.completed.len();
    summary.total = progress.total;
    summary.commits = memory::commits(run);
    if let Ok(memory) = Memory::of(run) {
        summary.task_id = memory.start.task_id;
        summary.task_title = memory.start.task_title;
        summary.tag = memory.start.tag;
        summary.branch = memory.start.branch;
    }
}

impl Conductor {
    /// Runs, newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, Fault> {
        let mut projects = Vec::new();
        if filter.all {
            for entry in std::fs::read_dir(self.home.projects())
                .into_iter()
                .flatten()
                .flatten()
            {
                let named = read_json(&entry.path().join("project.json"))
                    .and_then(|value| value.get("path")?.as_str().map(str::to_owned));
                if let Some(path) = named
                    && let Some(project) = self.home.find_project(Path::new(&path))?
                {
                    projects.push(project);
                }
            }
        } else {
            projects.extend(self.stored()?);
        }
        let mut all = Vec::new();
        for project in &projects {
            for id in project.runs()? {
                let summary = summary(&project.run(&id)?, project);
                let fits = |wanted: &Option<String>, is: &str| {
                    wanted.as_ref().is_none_or(|wanted| wanted == is)
                };
                if fits(&filter.tag, &summary.tag) && fits(&filter.status, &summary.status) {
                    all.push(summary);
                }
            }
        }
        all.sort_by(|a, b| {
            b.start_time
                .cmp(&a.start_time)
                .then_with(|| b.run_id.cmp(&a.run_id))
        });
        if let Some(limit) = filter.limit {
            all.truncate(limit);
        }
        Ok(all)
    }

    /// One run.
    pub fn run(&self, run: Option<&str>) -> Result<RunSummary, Fault> {
        let (project, dir) = self.find(run)?;
        Ok(summary(&dir, &project))
    }

    /// A run's events.
    pub fn log(&self, run: Option<&str>) -> Result<Vec<Record>, Fault> {
        let (_, dir) = self.find(run)?;
        Ok(FileJournal::open(dir.path())?
            .read(&Position::start())?
            .records)
    }

    /// A run's report, as of now.
    pub fn report(&self, run: Option<&str>) -> Result<report::Report, Fault> {
        let (dir, _) = self.load(run)?;
        report::build(dir.path())
    }

    /// A run's events as they come, from the first on.
    pub fn follow(&self, run: Option<&str>) -> Result<Follow, Fault> {
        let (_, dir) = self.find(run)?;
        Ok(Follow {
            run_id: dir.id().to_owned(),
            follower: Follower::new(dir.journal_path(), Position::start()),
            over: false,
        })
    }

    /// Checks the whole chain of a run's journal, and that every event can be read.
    pub fn verify_log(&self, run: Option<&str>) -> Result<LogVerified, Fault> {
        let (_, dir) = self.find(run)?;
        let report = journal::verify(&dir.journal_path())?;
        let mut verified = LogVerified {
            run_id: dir.id().to_owned(),
            whole: report.damage.is_none(),
            events: report.events,
            torn_bytes: report.torn_bytes,
            head: report.head.hash.clone(),
            damage: report.damage.as_ref().map(ToString::to_string),
            line: report.damage.as_ref().map(|damage| damage.line),
        };
        if verified.whole {
            let tail = FileJournal::open(dir.path())?.read(&Position::start())?;
            for record in &tail.records {
                if let Err(error) = Event::from_fields(&record.event, &record.fields) {
                    verified.whole = false;
                    verified.damage = Some(format!(
                        "event {} ({}) cannot be read: {error}",
                        record.seq, record.event
                    ));
                    verified.line = Some(record.seq);
                    break;
                }
            }
        }
        Ok(verified)
    }

    /// Keeps what is whole of a damaged journal, and the old file beside it.
    pub fn repair_log(&self, run: Option<&str>) -> Result<LogRepaired, Fault> {
        let (_, dir) = self.find(run)?;
        let mut journal = FileJournal::lock(dir.path(), self.wait(), &self.command)?;
        let repaired = journal.repair(&stamp(self.clock.millis()))?;
        Ok(match repaired {
            Some(repaired) => LogRepaired {
                run_id: dir.id().to_owned(),
                repaired: true,
                kept_events: repaired.head.seq,
                lost_events: repaired.lost_events,
                lost_bytes: repaired.lost_bytes,
                old_file: Some(repaired.kept.display().to_string()),
            },
            None => LogRepaired {
                run_id: dir.id().to_owned(),
                repaired: false,
                kept_events: journal.head()?.seq,
                lost_events: 0,
                lost_bytes: 0,
                old_file: None,
            },
        })
    }

    /// The run as it was after event `to`; as it is now if absent.
    pub fn replay(&self, run: Option<&str>, to: Option<u64>) -> Result<Value, Fault> {
        let (_, dir) = self.find(run)?;
        let tail = FileJournal::open(dir.path())?.read(&Position::start())?;
        let last = tail.records.last().map_or(0, |record| record.seq);
        if let Some(to) = to
            && (to == 0 || to > last)
        {
            return Err(Fault::new(
                Kind::Usage,
                "bad_sequence",
                format!("the run has events 1 to {last}, and none with the number {to}"),
            )
            .suggest("see the numbers with `tm runs log`"));
        }
        // Events of one unit happened at once: there was never a run with only some of them.
        let to = to.map(|to| {
            tail.records
                .iter()
                .find(|record| record.seq >= to && record.k == record.n)
                .map_or(to, |record| record.seq)
        });
        let records: Vec<Record> = tail
            .records
            .into_iter()
            .filter(|record| to.is_none_or(|to| record.seq <= to))
            .collect();
        let mut state = RunState::default();
        engine::fold(&mut state, &records, dir.path())?;
        let at = records
            .last()
            .map(|record| json!({ "seq": record.seq, "event": record.event, "ts": record.ts }));
        // The settings are long, and the same at every event.
        let mut shown =
            serde_json::to_value(&state).map_err(|error| Fault::bug(error.to_string()))?;
        if let Value::Object(map) = &mut shown {
            map.shift_remove("settings");
            map.shift_remove("policies");
        }
        Ok(json!({ "at": at, "state": shown, "nextAction": view::next_action(&state) }))
    }
}
