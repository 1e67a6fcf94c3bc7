//! Looking at runs: lists, logs, reports, the journal's health.

use std::fs;
use std::path::PathBuf;

use journal::layout::{ProjectDir, RunDir};
use journal::{
    FileJournal, Journal as _, JournalError, NewEvent, Position, Record, RunLock, durable,
};
use machine::state::ItemStatus;
use machine::{Event, RunState, Strength};
use serde::Serialize;
use serde_json::Value;

use crate::action::status;
use crate::audit::{Audit, Missing};
use crate::capability::documents::skills::name_of;
use crate::capability::memory::{self, Memory};
use crate::clock::stamp;
use crate::decisions::SignatureState;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::find;
use crate::find::{RunHead, is_over_a_task, read_json, standing};
use crate::integrity;
use crate::integrity::never_began;
use crate::integrity::{EvidenceProblem, FileProblem, has_begun};
use crate::open_run::{self, Loaded};
use crate::summary::{self, Summary};
use crate::view::GENERIC;

/// The longest text that says what a run is about, in characters.
const LONGEST_SUBJECT: usize = 100;
/// After how many events of a long journal it is told how far its check is.
const TOLD_EACH: u64 = 2000;

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
    /// The view that it is made for.
    pub view: String,
    /// The task; empty where the run is over none.
    pub task_id: String,
    /// Its title; the workflow's, where there is no task.
    pub task_title: String,
    /// What it is about, in the words that it was started with; none where its task says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The tag, of a run over a task.
    pub tag: String,
    /// The branch, of a run over a task.
    pub branch: String,
    /// `running`, `paused`, `completed`, `failed`, `error`, `cancelled`, `aborted`; `damaged` or `unstarted` where there
    /// is no more to say.
    pub status: String,
    /// When it began, UTC.
    pub start_time: String,
    /// When it ended, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// Subtasks done, or items.
    pub completed: usize,
    /// All subtasks, or items.
    pub total: usize,
    /// Commits made.
    pub commits: u64,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl RunSummary {
    /// What it is about, for people.
    pub fn title(&self) -> &str {
        match (self.subject.as_deref(), self.task_title.trim()) {
            (Some(subject), _) => subject,
            (None, "") if self.workflow.is_empty() => &self.run_id,
            (None, "") => &self.workflow,
            (None, title) => title,
        }
    }
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

impl RunFilter {
    /// Whether a run is one of those that are wanted, whatever their number.
    pub(crate) fn lets_through(&self, run: &RunSummary) -> bool {
        let fits =
            |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        fits(&self.tag, &run.tag) && fits(&self.status, &run.status)
    }
}

/// Pauses a run whose journal was repaired: what was lost may have been that it is stopped, so a person has it go on.
fn pause_after(journal: &mut FileJournal, now: &str, lost: u64) -> Result<(), Fault> {
    let tail = journal.read(&Position::start())?;
    let mut run = RunState::default();
    for record in &tail.records {
        if let Ok(event) = Event::from_fields(&record.event, &record.fields) {
            run.apply(&record.ts, &event);
        }
    }
    let waits = run.pause.as_ref().is_some_and(|pause| pause.person);
    if run.run.is_empty() || run.status.is_over() || waits {
        return Ok(());
    }
    let lost = match lost {
        1 => "1 line was lost".to_owned(),
        lost => format!("{lost} lines were lost"),
    };
    let pause = Event::RunPaused {
        reason: "journal_repaired".to_owned(),
        token: None,
        message: Some(format!("the journal was damaged and repaired: {lost}")),
        person: true,
    };
    let (name, fields) = pause.to_fields();
    journal.append(&tail.head, now, &[NewEvent::new(name, fields)])?;
    Ok(())
}

/// What was found of a journal's chain.
#[derive(Debug, Clone, Default, Serialize)]
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
    /// Whether that unit was whole once, and acknowledged: what it told of is asked for again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub torn_was_whole: bool,
    /// Hash of the last line.
    pub head: String,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// In which line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Evidence that the events rest on and that is missing, or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceProblem>,
    /// Files that it records and that are not in their places as they were. The log does not rest on them: what counts of
    /// them is evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileProblem>,
    /// Whether a repair cannot keep anything, and puts the run's folder aside.
    #[serde(skip)]
    pub is_given_up: bool,
    /// What persons decided in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionVerified>,
    /// What only a person decides, and what the journal does not have as it has to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

impl LogVerified {
    /// Whether all of it can be relied on: journal, evidence, and what was signed.
    pub fn is_sound(&self) -> bool {
        let bad = |decision: &DecisionVerified| decision.signature == SignatureState::Bad;
        let decided = self.missing.is_empty() && !self.decisions.iter().any(bad);
        self.whole && self.evidence.is_empty() && decided
    }
}

/// A decision of a person, and whether its signature holds.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionVerified {
    /// The number of its event.
    pub seq: u64,
    /// When, UTC.
    pub at: String,
    /// What was decided.
    pub what: String,
    /// How much stands behind it.
    pub strength: Strength,
    /// Who decided.
    pub actor: String,
    /// By which way it came.
    pub how: String,
    /// The fingerprint of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What its signature is worth now.
    pub signature: SignatureState,
    /// What is wrong with that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
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
    /// Where the run's folder is now: the run was given up, since nothing of its journal could be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<String>,
}

/// A run in a list, as far as it can be read.
pub(crate) fn summary(dir: &RunDir, project: &ProjectDir) -> RunSummary {
    summary_of(dir, project, open_run::load(dir.path()).as_ref())
}

/// The same of a run that was loaded already.
pub(crate) fn summary_of(
    dir: &RunDir,
    project: &ProjectDir,
    loaded: Result<&Loaded, &Fault>,
) -> RunSummary {
    let mut summary = RunSummary {
        run_id: dir.id().to_owned(),
        project_root: project.real_path().display().to_string(),
        ..RunSummary::default()
    };
    match loaded {
        Ok(loaded) if loaded.head.seq == 0 => unstarted(&mut summary),
        Ok(loaded) => {
            fill(&mut summary, &loaded.run);
            if !is_over_a_task(&loaded.run)
                && let Ok(definition) = open_run::pinned(dir.path(), &loaded.run)
            {
                summary.task_title.clone_from(&definition.title);
            }
        }
        Err(fault) if fault.code == "no_run" => unstarted(&mut summary),
        Err(fault) => {
            "damaged".clone_into(&mut summary.status);
            summary.problem = Some(fault.message.clone());
        }
    }
    summary
}

fn unstarted(summary: &mut RunSummary) {
    "unstarted".clone_into(&mut summary.status);
    summary.problem = Some("its start was interrupted".to_owned());
}

fn fill(summary: &mut RunSummary, run: &RunState) {
    let progress = status::progress(run);
    run.workflow.clone_into(&mut summary.workflow);
    run.view.clone_into(&mut summary.view);
    run.status.name().clone_into(&mut summary.status);
    run.started_at.clone_into(&mut summary.start_time);
    summary.end_time.clone_from(&run.ended_at);
    summary.completed = progress.completed.len();
    summary.total = progress.total;
    summary.commits = memory::commits(run);
    if !is_over_a_task(run) {
        let items = || {
            run.sets
                .values()
                .flat_map(|set| set.iter().map(|(_, item)| item))
        };
        summary.completed = items()
            .filter(|item| item.status == ItemStatus::Done)
            .count();
        summary.total = items().count();
        summary.subject = subject(run);
        return;
    }
    if let Ok(memory) = Memory::of(run) {
        summary.task_id = memory.start.task_id;
        summary.task_title = memory.start.task_title;
        summary.tag = memory.start.tag;
        summary.branch = memory.start.branch;
    }
}

/// What a run is about that is over no task: the longest text that it was started with, else the name of its session.
fn subject(state: &RunState) -> Option<String> {
    let inputs = state.inputs.values();
    let given = inputs.flat_map(texts).max_by_key(|text| text.len());
    // A single word is a name of something, and no subject.
    let given = given.filter(|text| text.trim().contains(char::is_whitespace));
    let text = given.or_else(|| name_of(state))?;
    Some(text::shortened(text, LONGEST_SUBJECT))
}

/// The texts in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

impl Engine {
    /// The run that somebody wants to look at: the one that is named; else the present one over a task, if
    /// it goes on; else the newest that does; else the newest.
    pub(crate) fn looked_at(&self, run: Option<&str>) -> Result<(ProjectDir, RunDir), Fault> {
        let project = self.stored_or_missing()?;
        if let Some(id) = run {
            let dir = find::named(&project, &GENERIC, id)?;
            return Ok((project, dir));
        }
        let all = standing(&project, None)?;
        let goes_on = |run: &&RunHead| run.status == "running" || run.status == "paused";
        let present = self.present(&project);
        if self.tag.is_some() || all.iter().all(|run| run.task.is_some()) {
            // Only runs over a task have a tag.
            return Ok((project, present?));
        }
        let own = present
            .as_ref()
            .ok()
            .and_then(|present| all.iter().find(|run| run.dir == *present))
            .filter(goes_on);
        let found = own.or_else(|| all.iter().find(goes_on)).or(all.first());
        let dir = match found {
            Some(run) => run.dir.clone(),
            None => present?,
        };
        Ok((project, dir))
    }

    /// Loads the run that somebody wants to look at, of any workflow, without a lock.
    pub(crate) fn load_any(&self, run: Option<&str>) -> Result<(RunDir, Loaded), Fault> {
        let (_, dir) = self.looked_at(run)?;
        let loaded = open_run::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(&dir));
        }
        Ok((dir, loaded))
    }

    /// The folders of all projects that the store knows, wherever they are.
    pub fn known_projects(&self) -> Vec<PathBuf> {
        fs::read_dir(self.home.projects())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                read_json(&entry.path().join("project.json"))?
                    .get("path")?
                    .as_str()
                    .map(PathBuf::from)
            })
            .collect()
    }

    /// The whole id of the run that is named so; none where there is no such run here.
    pub fn run_id(&self, named: &str) -> Option<String> {
        let (_, dir) = self.looked_at(Some(named)).ok()?;
        Some(dir.id().to_owned())
    }

    /// Runs, newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, Fault> {
        let mut projects = Vec::new();
        if filter.all {
            for path in self.known_projects() {
                projects.extend(self.home.find_project(&path)?);
            }
        } else {
            projects.extend(self.stored()?);
        }
        let mut all = Vec::new();
        for project in &projects {
            for id in project.runs()? {
                let summary = summary(&project.run(&id)?, project);
                if filter.lets_through(&summary) {
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
        let (project, dir) = self.looked_at(run)?;
        Ok(summary(&dir, &project))
    }

    /// A run's events.
    pub fn log(&self, run: Option<&str>) -> Result<Vec<Record>, Fault> {
        let (_, dir) = self.looked_at(run)?;
        Ok(FileJournal::open(dir.path())?
            .read(&Position::start())?
            .records)
    }

    /// A run's report, as of now.
    pub fn report(&self, run: Option<&str>) -> Result<Summary, Fault> {
        let (dir, _) = self.load_any(run)?;
        summary::of_now(dir.path(), self.patience)
    }

    /// The page of it alone, as Markdown.
    pub fn report_page(&self, run: Option<&str>) -> Result<String, Fault> {
        let (dir, _) = self.load_any(run)?;
        summary::page_of_now(dir.path(), self.patience)
    }

    /// It for programs, without the steps that no person decided.
    pub fn run_work(&self, run: Option<&str>) -> Result<Value, Fault> {
        let (dir, _) = self.load_any(run)?;
        summary::work_of_now(dir.path(), self.patience)
    }

    /// Checks the whole chain of a run's journal, and that every event can be read.
    pub fn verify_log(&self, run: Option<&str>) -> Result<LogVerified, Fault> {
        let (_, dir) = self.looked_at(run)?;
        let (mut verified, records) = Self::verify_dir(&dir)?;
        if verified.whole {
            let (mut audit, mut run) = (Audit::of(&records), RunState::default());
            let all = records.len() as u64;
            for (at, record) in (0_u64..).zip(&records) {
                if at.is_multiple_of(TOLD_EACH) && all > TOLD_EACH {
                    self.tell("events are held against the workflow", at, Some(all));
                }
                if let Ok(event) = Event::from_fields(&record.event, &record.fields) {
                    audit.note(&run, record, &event);
                    run.apply(&record.ts, &event);
                }
            }
            let signers = self.signers();
            verified.missing = audit.missing;
            verified
                .missing
                .extend(other_snapshot(&dir, &run, &verified.head));
            for decision in audit.decisions {
                let (signature, problem) = decision.signature(&signers);
                let what = decision.what();
                let approval = decision.approval;
                verified.decisions.push(DecisionVerified {
                    seq: decision.seq,
                    at: decision.ts,
                    what,
                    strength: approval.strength,
                    actor: approval.actor,
                    how: approval.how,
                    key: approval.signature.map(|signature| signature.key),
                    signature,
                    problem,
                });
            }
        }
        Ok(verified)
    }

    /// The journal of the run in this folder with its evidence and files, and what stands in it, if it is whole.
    pub(crate) fn verify_dir(dir: &RunDir) -> Result<(LogVerified, Vec<Record>), Fault> {
        let begun = has_begun(dir.path());
        let report = match journal::verify(&dir.journal_path()) {
            Err(JournalError::Missing { .. }) if begun => None,
            report => Some(report?),
        };
        let is_emptied =
            |report: &journal::VerifyReport| report.events == 0 && report.damage.is_none() && begun;
        let Some(report) = report.filter(|report| !is_emptied(report)) else {
            let nothing = LogVerified {
                run_id: dir.id().to_owned(),
                damage: Some(integrity::emptied(dir.path()).message),
                is_given_up: true,
                ..LogVerified::default()
            };
            return Ok((nothing, Vec::new()));
        };
        let mut verified = LogVerified {
            run_id: dir.id().to_owned(),
            whole: report.damage.is_none(),
            events: report.events,
            torn_bytes: report.torn_bytes,
            torn_was_whole: report.was_whole,
            head: report.head.hash.clone(),
            damage: report.damage.as_ref().map(ToString::to_string),
            line: report.damage.as_ref().map(|damage| damage.line),
            is_given_up: report.damage.is_some() && report.events == 0,
            ..LogVerified::default()
        };
        let mut records = Vec::new();
        if verified.whole {
            records = FileJournal::open(dir.path())?
                .read(&Position::start())?
                .records;
            if let Some(first) = records.first()
                && let Some(run) = first.fields.get("run").and_then(Value::as_str)
                && run != dir.id()
            {
                verified.whole = false;
                verified.is_given_up = true;
                verified.damage = Some(format!("it is the journal of the run {run}"));
                verified.line = Some(1);
                return Ok((verified, records));
            }
            verified.evidence = integrity::evidence_problems(dir.path(), &records);
            verified.files = integrity::file_problems(dir.path(), &records);
            for record in &records {
                if let Err(error) = Event::from_fields(&record.event, &record.fields) {
                    verified.whole = false;
                    verified.is_given_up = true;
                    verified.damage = Some(format!(
                        "event {} ({}) cannot be read: {error}",
                        record.seq, record.event
                    ));
                    verified.line = Some(record.seq);
                    break;
                }
            }
        }
        Ok((verified, records))
    }

    /// Keeps what is whole of a damaged journal, and the old file beside it. Where nothing is, or the events are no run's that could
    /// be here, the run is given up: its folder is put aside.
    pub fn repair_log(&self, run: Option<&str>) -> Result<LogRepaired, Fault> {
        let (project, dir) = self.looked_at(run)?;
        let now = stamp(self.clock.millis());
        let (found, _) = Self::verify_dir(&dir)?;
        if found.is_given_up {
            return self.given_up(&project, &dir, &now, found.events);
        }
        let mut journal = FileJournal::lock(dir.path(), self.wait(), &self.command)?;
        let repaired = journal.repair(&now)?;
        if let Some(repaired) = &repaired {
            pause_after(&mut journal, &now, repaired.lost_events)?;
        }
        Ok(match repaired {
            Some(repaired) => LogRepaired {
                run_id: dir.id().to_owned(),
                repaired: true,
                kept_events: repaired.head.seq,
                lost_events: repaired.lost_events,
                lost_bytes: repaired.lost_bytes,
                old_file: Some(repaired.kept.display().to_string()),
                given_up: None,
            },
            None => LogRepaired {
                run_id: dir.id().to_owned(),
                repaired: false,
                kept_events: journal.head()?.seq,
                lost_events: 0,
                lost_bytes: 0,
                old_file: None,
                given_up: None,
            },
        })
    }

    /// Puts the folder of a run aside that nothing can be made of any more: it is no run then, and all that is in it stays.
    fn given_up(
        &self,
        project: &ProjectDir,
        dir: &RunDir,
        now: &str,
        lost_events: u64,
    ) -> Result<LogRepaired, Fault> {
        let _lock = RunLock::acquire(dir.path(), self.wait(), &self.command)?;
        project.keep_number(dir)?;
        let aside = project.path().join("given-up");
        let to = aside.join(format!("{}-{}", dir.id(), now.replace([':', '.'], "-")));
        durable::ensure_folder(&aside)
            .and_then(|()| fs::rename(dir.path(), &to))
            .and_then(|()| durable::sync_folder(&aside))
            .and_then(|()| durable::sync_folder(&project.runs_folder()))
            .map_err(|error| {
                Fault::environment("io_failed", "the run's folder cannot be put aside", &error)
            })?;
        Ok(LogRepaired {
            run_id: dir.id().to_owned(),
            repaired: true,
            kept_events: 0,
            lost_events,
            lost_bytes: 0,
            old_file: None,
            given_up: Some(to.display().to_string()),
        })
    }
}

/// What a snapshot says of a run that its events do not: whoever goes on from it goes on from where the run never was.
fn other_snapshot(dir: &RunDir, run: &RunState, head: &str) -> Option<Missing> {
    let loaded = open_run::load(dir.path()).ok()?;
    let is_other = loaded.head.hash == head && *loaded.run != *run;
    is_other.then(|| Missing {
        seq: loaded.head.seq,
        message: "`snapshot.json` says something else of the run than the events do: remove it, and it is made of them again"
            .to_owned(),
    })
}
