//! The calls on a `tdd` run. Each opens the run, asks rails, and answers.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use journal::RunLock;
use journal::layout::{ProjectDir, RunDir, RunStem};
use journal::{FileJournal, Journal as _, Position};
use project::convention::message::Kind as MessageKind;
use project::git::FingerprintRequest;
use rails::command::{Report, Start as StartCommand};
use rails::decide::{UnitMatch, match_unit};
use rails::event::Reported;
use rails::state::RunStatus;
use rails::{Command, Event, Refusal, RunState, Severity};
use serde_json::{Map, Value, json};

use super::answer::{
    Aborted, CommitAnswer, Committed, Finalized, Moved, NextAction, PlannedSubtask, Resumed,
    StartPlan, Started, Status, Verdict,
};
use super::changes::Changes;
use super::effects::commit::{Words, compose};
use super::memory::{self, DIRTY, DirtyFile, Memory};
use super::readers::preflight::{self, Planned};
use super::results::{Counts, Coverage};
use super::{Raw, Tdd, derived, request, texts, view};
use crate::clock::stamp;
use crate::conductor::{Conductor, never_began};
use crate::engine::{Done, LOCK_WAIT, OpenRun};
use crate::fail_point;
use crate::fault::{Fault, Kind};
use crate::library;
use crate::runs::RunSummary;

/// A run open for writing, with what belongs to it.
struct Hand<'a> {
    open: OpenRun<'a>,
    tdd: Tdd<'a>,
    _project_lock: Option<RunLock>,
}

impl Hand<'_> {
    fn command(&mut self, command: &Command) -> Result<Done, Fault> {
        self.open.command(&self.tdd, command)
    }
}

/// Whether a call may end a run or begin one, and so needs the project to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Run,
    Project,
}

impl Conductor {
    fn hand<'a>(
        &'a self,
        project: &'a ProjectDir,
        dir: &RunDir,
        raw: Raw,
        reach: Reach,
    ) -> Result<Hand<'a>, Fault> {
        let project_lock = match reach {
            Reach::Project => Some(project.lock(LOCK_WAIT, &self.command)?),
            Reach::Run => None,
        };
        let mut open = OpenRun::open(dir.path(), &self.command, &*self.clock)?;
        if open.run.run.is_empty() {
            return Err(never_began(dir.id()));
        }
        let tdd = Tdd {
            root: &self.root,
            settings: &self.settings,
            dir: dir.path().to_owned(),
            project: Some(project),
            raw,
        };
        open.recover(&tdd)?;
        Ok(Hand {
            open,
            tdd,
            _project_lock: project_lock,
        })
    }

    fn planned(&self, start: &request::Start) -> Result<Planned, Fault> {
        let stored = self.stored()?;
        let belongs = |branch: &str, task: &str| -> bool {
            let Some(project) = &stored else {
                return false;
            };
            self.by_status(project).is_ok_and(|runs| {
                runs.iter()
                    .filter(|(_, _, of)| of == task)
                    .any(|(dir, _, _)| {
                        crate::engine::load(dir.path())
                            .ok()
                            .and_then(|loaded| Memory::of(&loaded.run).ok())
                            .is_some_and(|memory| memory.start.branch == branch)
                    })
            })
        };
        preflight::plan(
            &self.root,
            &self.settings,
            self.tag.as_deref(),
            start,
            &belongs,
        )
    }

    /// What a start would do. Changes nothing.
    pub fn plan(&self, start: &request::Start) -> Result<StartPlan, Fault> {
        if let Some(project) = self.stored()?
            && !start.force
        {
            self.refuse_second(&project)?;
        }
        let planned = self.planned(start)?;
        let (definition, _) = library::load(&self.root, "tdd")?;
        drop(definition);
        let tdd = Tdd {
            root: &self.root,
            settings: &self.settings,
            dir: self.root.clone(),
            project: None,
            raw: Raw::None,
        };
        let run = RunState {
            settings: self.settings.config.to_json(),
            ..RunState::default()
        };
        let memory = Memory {
            start: planned.start.clone(),
            dirty: planned.dirty.clone(),
            last_commit: planned.start.head.clone(),
        };
        let subtasks = planned
            .plan
            .runnable
            .iter()
            .map(|subtask| {
                let message = compose(
                    &tdd,
                    &run,
                    &memory,
                    &Words {
                        id: &subtask.id,
                        title: &subtask.title,
                        description: &subtask.description,
                        tests: None,
                        lines: None,
                        kind: MessageKind::Subtask,
                        files: &[],
                    },
                )?;
                Ok(PlannedSubtask {
                    id: subtask.id.clone(),
                    title: subtask.title.clone(),
                    dependencies: subtask.dependencies.clone(),
                    commit_message: message.lines().next().unwrap_or_default().to_owned(),
                })
            })
            .collect::<Result<Vec<_>, Fault>>()?;
        let start = planned.start;
        Ok(StartPlan {
            dry_run: true,
            task_id: start.task_id,
            task_title: start.task_title,
            tag: start.tag,
            source: planned.source,
            branch: start.branch,
            branch_exists: start.branch_existed,
            from_branch: start.from_branch,
            test_command: start.test_command,
            test_framework: start.test_framework,
            max_attempts: planned.max_attempts,
            checks: planned.checks,
            subtasks,
            skipped: start.skipped,
            left_out: start.left_out,
            warnings: start.warnings,
        })
    }

    /// A run that goes on in this project, if there is one.
    fn running(&self, project: &ProjectDir) -> Result<Option<RunDir>, Fault> {
        Ok(self
            .by_status(project)?
            .into_iter()
            .find(|(_, status, _)| status == "running")
            .map(|(dir, _, _)| dir))
    }

    fn refuse_second(&self, project: &ProjectDir) -> Result<(), Fault> {
        let Some(other) = self.running(project)? else {
            return Ok(());
        };
        Err(Fault::new(
            Kind::Conflict,
            "run_active",
            format!("the run {} is under way in this project", other.id()),
        )
        .suggest("go on with it (`tm autopilot next`), end it (`tm autopilot abort`), or supersede it with --force")
        .detail("runId", other.id())
        .recover("tm autopilot resume"))
    }

    /// Begins a run.
    pub fn start(&self, start: &request::Start) -> Result<Started, Fault> {
        if let Some(attempts) = start.max_attempts
            && attempts == 0
        {
            return Err(
                Fault::new(Kind::Usage, "bad_attempts", "--max-attempts is 0")
                    .suggest("use 1 or more"),
            );
        }
        if self.stored()?.is_none() {
            // First without making anything: a start that is refused leaves no folder behind.
            self.planned(start)?;
        }
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(LOCK_WAIT, &self.command)?;
        if start.force {
            if let Some(other) = self.running(&project)? {
                self.supersede(&project, &other)?;
            }
        } else {
            self.refuse_second(&project)?;
        }
        let planned = self.planned(start)?;
        let (definition, source) = library::load(&self.root, "tdd")?;
        let stem = RunStem::task(&planned.start.tag, &planned.start.task_id)?;
        project.tag(&planned.start.tag)?;
        let now = stamp(self.clock.millis());
        let dir = project.create_run(&stem, &now)?;
        fail_point::reach("start-after-folder");
        let settings = self.settings.config.to_json();
        let mut inputs = Map::new();
        inputs.insert(
            "taskId".to_owned(),
            Value::from(planned.start.task_id.as_str()),
        );
        inputs.insert("maxAttempts".to_owned(), Value::from(planned.max_attempts));
        let config = definition
            .config
            .as_ref()
            .and_then(|section| settings.get(&section.value))
            .cloned()
            .unwrap_or(Value::Null);
        let command = Command::Start(Box::new(StartCommand {
            run: dir.id().to_owned(),
            definition_hash: journal::sha256_hex(source.text.as_bytes()),
            definition: source.text,
            inputs,
            config,
            policy_hash: journal::sha256_hex(settings.to_string().as_bytes()),
            policies: policies(&self.settings.config.evidence.policy),
            settings,
            actor: self.actor.clone(),
        }));
        let branch = planned.start.branch.clone();
        let warnings = planned.start.warnings.clone();
        let tdd = Tdd {
            root: &self.root,
            settings: &self.settings,
            dir: dir.path().to_owned(),
            project: Some(&project),
            raw: Raw::Start(Box::new(planned)),
        };
        let begun = OpenRun::begin(
            dir.path(),
            Arc::new(definition),
            &self.command,
            &*self.clock,
        )
        .and_then(|mut open| {
            let done = open.command(&tdd, &command);
            if open.run.run.is_empty() {
                // Nothing was journalled, so nothing began.
                drop(open);
                let _ = std::fs::remove_dir_all(dir.path());
                return done.map(|done| (done, RunState::default()));
            }
            done.map(|done| (done, open.run))
        });
        let (done, run) = begun?;
        match done {
            Done::Moved(_) if !run.run.is_empty() => Ok(Started {
                run_id: run.run.clone(),
                branch,
                warnings,
                next_action: view::next_action(&run),
            }),
            Done::Moved(_) => Err(Fault::bug("a start journalled nothing")),
            Done::Refused(refusal) => Err(self.refused(None, &refusal)),
            Done::EffectFailed { code, message, suggestion, .. } => {
                Err(Fault::new(Kind::Environment, code, message)
                    .suggest(format!(
                        "{}; the run {} is paused: `tm autopilot resume` tries again, `tm autopilot abort` ends it",
                        suggestion.unwrap_or_else(|| "mend what git says".to_owned()),
                        run.run
                    ))
                    .recover("tm autopilot resume"))
            }
        }
    }

    fn supersede(&self, project: &ProjectDir, other: &RunDir) -> Result<(), Fault> {
        let mut hand = self.hand(project, other, Raw::None, Reach::Run)?;
        match hand.command(&Command::Abort { flags: Map::new() })? {
            Done::Moved(_) => Ok(()),
            Done::Refused(refusal) => Err(self.refused(Some(&hand.open.run), &refusal)),
            Done::EffectFailed { code, message, .. } => {
                Err(Fault::new(Kind::Environment, code, message))
            }
        }
    }

    /// What is to be done now. Changes nothing.
    pub fn next(&self, run: Option<&str>, check: bool) -> Result<NextAction, Fault> {
        let (dir, loaded) = self.load(run)?;
        let run = &loaded.run;
        if run.status == RunStatus::Aborted {
            return Err(Fault::new(
                Kind::Missing,
                "run_aborted",
                format!("the run {} was aborted", run.run),
            )
            .suggest("start a new one: `tm autopilot start <taskId>`")
            .detail("runId", run.run.as_str())
            .recover("tm autopilot start"));
        }
        let mut action = view::full(run, dir.path())?;
        if check {
            self.check(run, &mut action)?;
        }
        Ok(action)
    }

    /// Looks at the tree for the preconditions that need it.
    fn check(&self, run: &RunState, action: &mut NextAction) -> Result<(), Fault> {
        let memory = Memory::of(run)?;
        let repository = memory.repository();
        let status = repository.status()?;
        let changes = Changes::of(&status, &memory, &repository, &[])?;
        for condition in &mut action.preconditions {
            match condition.id.as_str() {
                "on_branch" => {
                    condition.holds = Some(status.branch.as_deref() == Some(&memory.start.branch));
                }
                "tree_clean" | "all_committed" => {
                    let names = changes.names();
                    condition.holds = Some(names.is_empty());
                    if !names.is_empty() {
                        condition.detail = format!("changed: {}", names.join(", "));
                    }
                }
                "tree_as_tested" => {
                    let green = run
                        .waiting()
                        .next()
                        .and_then(|(token, _)| memory::green(token));
                    if let Some(green) = green {
                        let now = repository.fingerprint(&FingerprintRequest {
                            exclude: &green.exclude,
                            ..FingerprintRequest::default()
                        })?;
                        condition.holds = Some(now.tree.as_str() == green.tree);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Where the run is.
    pub fn status(&self, run: Option<&str>) -> Result<Status, Fault> {
        let (_, loaded) = self.load(run)?;
        view::status(&loaded.run, self.clock.millis())
    }

    /// Reports RED or GREEN.
    pub fn complete(
        &self,
        run: Option<&str>,
        report: &request::Complete,
    ) -> Result<Verdict, Fault> {
        let phase = match report.phase.as_deref().map(str::to_lowercase) {
            None => None,
            Some(phase) if matches!(phase.as_str(), "red" | "green" | "finalize") => Some(phase),
            Some(other) => {
                return Err(
                    Fault::new(Kind::Usage, "bad_phase", format!("`{other}` is no phase"))
                        .suggest("use red or green, or leave it out for the present one"),
                );
            }
        };
        Ok(self.suite(run, report, phase, Reach::Run)?.0)
    }

    /// Reports the full suite, which ends the run.
    pub fn finalize(
        &self,
        run: Option<&str>,
        report: &request::Complete,
    ) -> Result<Finalized, Fault> {
        let (verdict, dir) =
            self.suite(run, report, Some("finalize".to_owned()), Reach::Project)?;
        Ok(Finalized {
            report: if verdict.next_action.action == "complete" {
                std::fs::read_to_string(dir.file("report.md")).ok()
            } else {
                None
            },
            verdict,
        })
    }

    fn suite(
        &self,
        run: Option<&str>,
        report: &request::Complete,
        phase: Option<String>,
        reach: Reach,
    ) -> Result<(Verdict, RunDir), Fault> {
        let counts = Counts::parse(&report.results)?;
        let coverage = report
            .coverage
            .as_deref()
            .map(Coverage::parse)
            .transpose()?;
        let digest = digest(&json!({
            "counts": counts, "coverage": coverage, "files": report.files, "skipCoverage": report.skip_coverage,
        }));
        let (project, dir) = self.find(run)?;
        let raw = Raw::Tests {
            counts,
            coverage,
            files: report.files.clone(),
        };
        let mut hand = self.hand(&project, &dir, raw, reach)?;
        let command = Report {
            unit: report.unit.clone(),
            state: phase,
            item: report.subtask.clone(),
            digest,
            flags: memory::entry("skipCoverage", report.skip_coverage),
        };
        Ok((self.take_in(&mut hand, command)?.1, dir))
    }

    /// Reports a commit, or has it made.
    pub fn commit(
        &self,
        run: Option<&str>,
        report: &request::Commit,
    ) -> Result<CommitAnswer, Fault> {
        if report.sha.is_some() && (report.message.is_some() || !report.files.is_empty()) {
            return Err(Fault::new(
                Kind::Usage,
                "bad_commit",
                "--sha names a commit that was made already; --message and --files are for one to be made",
            )
            .suggest("give one or the other"));
        }
        if let Some(message) = &report.message
            && message.trim().is_empty()
        {
            return Err(Fault::new(Kind::Usage, "bad_commit", "--message is empty")
                .suggest("leave it out for the message of the template"));
        }
        let digest = digest(&json!({
            "message": report.message, "files": report.files, "sha": report.sha,
        }));
        let (project, dir) = self.find(run)?;
        let raw = Raw::Commit {
            message: report.message.clone(),
            files: report.files.clone(),
            sha: report.sha.clone(),
        };
        let mut hand = self.hand(&project, &dir, raw, Reach::Run)?;
        let command = Report {
            unit: report.unit.clone(),
            state: Some("commit".to_owned()),
            item: report.subtask.clone(),
            digest,
            flags: Map::new(),
        };
        let (reported, verdict) = self.take_in(&mut hand, command)?;
        let Some(reported) = reported.filter(|_| verdict.validated) else {
            return Ok(CommitAnswer::Refused(verdict));
        };
        let made = self.made(&hand, &reported)?;
        Ok(CommitAnswer::Committed(Committed {
            commit_sha: made.0,
            message: made.1,
            files: made.2,
            warning: verdict.warning,
            next_action: verdict.next_action,
        }))
    }

    /// The commit that answered a unit: id, message, files.
    fn made(
        &self,
        hand: &Hand<'_>,
        reported: &Reported,
    ) -> Result<(String, String, Vec<String>), Fault> {
        let item = reported
            .item
            .as_ref()
            .and_then(|key| hand.open.run.sets.get("subtasks")?.items.get(key));
        let sha = match reported.facts.get("sha").and_then(Value::as_str) {
            Some(sha) if !sha.is_empty() => sha.to_owned(),
            _ => item
                .map(|item| item.text("sha").to_owned())
                .unwrap_or_default(),
        };
        let memory = Memory::of(&hand.open.run)?;
        let repository = memory.repository();
        let oid = sha
            .parse()
            .map_err(|_| Fault::bug(format!("the subtask has no commit, but `{sha}`")))?;
        let commit = repository.commit_info(&oid)?;
        let files = match commit.parents.first() {
            Some(parent) => repository
                .changed_paths(parent, &oid)?
                .iter()
                .map(ToString::to_string)
                .collect(),
            None => Vec::new(),
        };
        Ok((sha, commit.message, files))
    }

    /// Decides a report. Gives the report as it was taken in, if it was, and the verdict.
    fn take_in(
        &self,
        hand: &mut Hand<'_>,
        command: Report,
    ) -> Result<(Option<Reported>, Verdict), Fault> {
        if let UnitMatch::Used { unit } = match_unit(&hand.open.run, &command)
            && let Some(reported) = answered(hand, &unit)?
        {
            let verdict = view::recorded(&hand.open.run, &reported);
            return Ok((Some(reported), verdict));
        }
        let before = hand
            .open
            .run
            .waiting()
            .next()
            .map(|(_, unit)| unit.id.clone());
        let done = hand.command(&Command::Report(command))?;
        let run = &hand.open.run;
        match done {
            Done::Moved(events) => {
                let reported = events
                    .iter()
                    .rev()
                    .find_map(|event| match event {
                        Event::ReportAccepted(report) | Event::ReportRetried(report) => {
                            Some(report.as_ref().clone())
                        }
                        _ => None,
                    })
                    .ok_or_else(|| Fault::bug("a report was decided without a verdict"))?;
                let mut verdict = view::recorded(run, &reported);
                verdict.next_action = view::next_action(run);
                Ok((Some(reported), verdict))
            }
            Done::Refused(refusal) => {
                let verdict = self.verdict(run, &refusal);
                note_refusal(
                    &hand.open.dir,
                    &stamp(self.clock.millis()),
                    before,
                    &verdict,
                );
                Ok((None, verdict))
            }
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => {
                let verdict = Verdict {
                    validated: false,
                    message,
                    warning: None,
                    suggestion,
                    code: Some(code),
                    details: Map::new(),
                    next_action: view::next_action(run),
                };
                note_refusal(
                    &hand.open.dir,
                    &stamp(self.clock.millis()),
                    before,
                    &verdict,
                );
                Ok((None, verdict))
            }
        }
    }

    fn verdict(&self, run: &RunState, refusal: &Refusal) -> Verdict {
        let facts = refusal
            .details
            .get("tests")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let mut message = refusal
            .message
            .clone()
            .unwrap_or_else(|| texts::message(&refusal.code, &facts));
        let mut suggestion = refusal
            .suggestion
            .clone()
            .unwrap_or_else(|| texts::suggestion(&refusal.code));
        match refusal.code.as_str() {
            "stale_unit" => {
                if let Some((token, unit)) = run.waiting().next() {
                    message = format!(
                        "{message}; the present one is {} ({}{})",
                        unit.id,
                        token.state,
                        token
                            .key()
                            .map_or_else(String::new, |key| format!(" of {key}"))
                    );
                }
            }
            "paused" => {
                let reason = run.pause.as_ref().map_or("", |pause| pause.reason.as_str());
                message = format!("{message} ({reason})");
            }
            "run_over" => {
                message = format!("{message}: it is {}", run.status.name());
                "ask for the report: `tm runs report`".clone_into(&mut suggestion);
            }
            _ => {}
        }
        let policy = run.policies.contains_key(&refusal.code);
        if policy && !suggestion.is_empty() {
            suggestion = format!(
                "{suggestion}; a person can let it pass with `tm autopilot allow {} --reason …`",
                refusal.code
            );
        }
        let mut details = refusal.details.clone();
        details.shift_remove("tests");
        details.shift_remove("commit");
        Verdict {
            validated: false,
            message,
            warning: None,
            suggestion: Some(suggestion).filter(|text| !text.is_empty()),
            code: Some(refusal.code.clone()),
            details,
            next_action: view::next_action(run),
        }
    }

    /// A refusal of a command that is no report.
    fn refused(&self, run: Option<&RunState>, refusal: &Refusal) -> Fault {
        let blank = RunState::default();
        let verdict = self.verdict(run.unwrap_or(&blank), refusal);
        let kind = match refusal.code.as_str() {
            "stale_unit" | "paused" => Kind::Conflict,
            "unknown_input" | "bad_input" => Kind::Usage,
            _ => Kind::Refused,
        };
        let mut fault = Fault::new(kind, refusal.code.clone(), verdict.message)
            .suggest(verdict.suggestion.unwrap_or_default());
        fault.details = verdict.details;
        fault.recovery = match refusal.code.as_str() {
            "paused" => "tm autopilot resume".to_owned(),
            "run_over" => "tm runs report".to_owned(),
            _ if run.is_some() => "tm autopilot next".to_owned(),
            _ => String::new(),
        };
        fault
    }

    fn moved(
        &self,
        hand: &mut Hand<'_>,
        command: &Command,
        message: impl FnOnce(&RunState) -> String,
    ) -> Result<Moved, Fault> {
        match hand.command(command)? {
            Done::Moved(_) => {
                let run = &hand.open.run;
                Ok(Moved {
                    run_id: run.run.clone(),
                    message: message(run),
                    next_action: view::next_action(run),
                    report: if run.status.is_over() {
                        std::fs::read_to_string(hand.open.dir.join("report.md")).ok()
                    } else {
                        None
                    },
                })
            }
            Done::Refused(refusal) => Err(self.refused(Some(&hand.open.run), &refusal)),
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => {
                Err(Fault::new(Kind::Refused, code, message)
                    .suggest(suggestion.unwrap_or_default()))
            }
        }
    }

    /// One phase back for the present subtask; at the end, into a repair.
    pub fn reopen(&self, run: Option<&str>, reason: &str) -> Result<Moved, Fault> {
        let (project, dir) = self.find(run)?;
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Run)?;
        let from = view::phase(&hand.open.run).unwrap_or_default().to_owned();
        self.moved(
            &mut hand,
            &Command::Reopen {
                reason: reason.to_owned(),
            },
            |run| {
                let next = view::next_action(run);
                let of = next
                    .subtask
                    .map_or_else(String::new, |subtask| format!(" of {}", subtask.id));
                format!("Reopened: from {from} back to {}{of}", next.action)
            },
        )
    }

    /// Gives the present subtask up.
    pub fn skip(
        &self,
        run: Option<&str>,
        subtask: Option<&str>,
        reason: &str,
    ) -> Result<Moved, Fault> {
        if reason.trim().is_empty() {
            return Err(no_reason("skip"));
        }
        let (project, dir) = self.find(run)?;
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Project)?;
        let present = view::progress(&hand.open.run).current;
        let keep = if hand.open.run.status == RunStatus::Running {
            left_behind(&hand.open.run)?
        } else {
            Map::new()
        };
        let command = Command::Skip {
            item: subtask.map(str::to_owned),
            reason: reason.to_owned(),
            keep,
        };
        self.moved(&mut hand, &command, |_| match present {
            Some(id) => format!("Given up: {id}"),
            None => "The run was given up".to_owned(),
        })
    }

    /// Lets one policy refusal pass for the present unit. Only for a person.
    pub fn allow(&self, run: Option<&str>, code: &str, reason: &str) -> Result<Moved, Fault> {
        if reason.trim().is_empty() {
            return Err(no_reason("allow"));
        }
        let (project, dir) = self.find(run)?;
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Run)?;
        let command = Command::Allow {
            code: code.to_owned(),
            reason: reason.to_owned(),
            actor: self.actor.clone(),
        };
        self.moved(&mut hand, &command, |_| {
            format!("`{code}` will be let pass for this unit; report again")
        })
    }

    /// Stops taking reports.
    pub fn pause(&self, run: Option<&str>, reason: &str) -> Result<Moved, Fault> {
        let (project, dir) = self.find(run)?;
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Run)?;
        let reason = if reason.trim().is_empty() {
            "asked for"
        } else {
            reason
        };
        self.moved(
            &mut hand,
            &Command::Pause {
                reason: reason.to_owned(),
            },
            |run| {
                format!(
                    "Paused: {}",
                    run.pause.as_ref().map_or("", |pause| &pause.reason)
                )
            },
        )
    }

    /// Runs that somebody could go on with.
    pub fn resumable(&self) -> Result<Vec<RunSummary>, Fault> {
        let Some(project) = self.stored()? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for (dir, status, _) in self.by_status(&project)? {
            if status == "running" || status == "paused" {
                all.push(crate::runs::summary(&dir, &project));
            }
        }
        if let Some(tag) = &self.tag {
            all.retain(|summary| summary.tag == *tag);
        }
        Ok(all)
    }

    /// Goes on with a run.
    pub fn resume(&self, run: Option<&str>) -> Result<Resumed, Fault> {
        let chosen = match run {
            Some(id) => id.to_owned(),
            None => {
                let candidates = self.resumable()?;
                match candidates.as_slice() {
                    [] => {
                        // Says which run it would have been, and why not.
                        let (_, loaded) = self.load(None)?;
                        return Err(over(&loaded.run));
                    }
                    [one] => one.run_id.clone(),
                    several => {
                        let ids: Vec<&str> =
                            several.iter().map(|one| one.run_id.as_str()).collect();
                        return Err(Fault::new(
                            Kind::Usage,
                            "several_runs",
                            format!("several runs could be resumed: {}", ids.join(", ")),
                        )
                        .suggest("name one with --run-id")
                        .detail("runs", ids));
                    }
                }
            }
        };
        let (project, dir) = self.find(Some(&chosen))?;
        {
            let loaded = crate::engine::load(dir.path())?;
            if loaded.run.status.is_over() {
                return Err(over(&loaded.run));
            }
            self.head_is_there(&loaded.run)?;
            if let Some(other) = self.running(&project)?
                && other.id() != dir.id()
            {
                self.refuse_second(&project)?;
            }
        }
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Project)?;
        match hand.command(&Command::Resume)? {
            Done::Moved(_) => {
                // Somebody who resumes may have cleared up: make good what is missing.
                let _ = derived::rebuild(&hand.tdd, dir.path());
                let run = &hand.open.run;
                Ok(Resumed {
                    resumed: true,
                    run_id: run.run.clone(),
                    next_action: view::next_action(run),
                })
            }
            Done::Refused(refusal) => Err(self.refused(Some(&hand.open.run), &refusal)),
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => Err(Fault::new(Kind::Environment, code, message)
                .suggest(suggestion.unwrap_or_default())),
        }
    }

    fn head_is_there(&self, run: &RunState) -> Result<(), Fault> {
        let memory = Memory::of(run)?;
        if run.pending.is_some() || run.waiting().next().is_none() {
            // The branch may not be there yet, and going on makes it.
            return Ok(());
        }
        let head = memory.repository().head()?;
        let branch = &memory.start.branch;
        if head.branch.as_deref() == Some(branch) {
            return Ok(());
        }
        let command = format!("git switch {branch}");
        Err(Fault::new(
            Kind::Refused,
            "wrong_branch",
            format!(
                "HEAD is {}; the run works on `{branch}`",
                head.branch
                    .map_or_else(|| "detached".to_owned(), |name| format!("on `{name}`"))
            ),
        )
        .suggest(format!("run `{command}`, then resume"))
        .recover(command))
    }

    /// Ends a run.
    pub fn abort(&self, run: Option<&str>, abort: request::Abort) -> Result<Aborted, Fault> {
        let (project, dir) = self.find(run)?;
        let mut hand = self.hand(&project, &dir, Raw::None, Reach::Project)?;
        if hand.open.run.status.is_over() {
            return Err(over(&hand.open.run));
        }
        let memory = Memory::of(&hand.open.run)?;
        let mut flags = memory::entry("cleanup", abort.cleanup);
        flags.insert("force".to_owned(), Value::from(abort.force));
        match hand.command(&Command::Abort { flags })? {
            Done::Moved(_) => {}
            Done::Refused(refusal) => {
                return Err(self.refused(Some(&hand.open.run), &refusal));
            }
            Done::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => {
                return Err(Fault::new(Kind::Environment, code, message)
                    .suggest(suggestion.unwrap_or_default()));
            }
        }
        let run_id = hand.open.run.run.clone();
        if abort.cleanup {
            drop(hand);
            std::fs::remove_dir_all(dir.path()).map_err(|error| {
                Fault::environment(
                    "storage",
                    format!("{} could not be deleted", dir.path().display()),
                    &error,
                )
            })?;
            if let Some(tag) = project.find_tag(&memory.start.tag)? {
                let points_here =
                    crate::conductor::read_json(&tag.current_run_path()).is_some_and(|pointer| {
                        pointer.get("runId") == Some(&Value::from(run_id.as_str()))
                    });
                if points_here {
                    let _ = std::fs::remove_file(tag.current_run_path());
                }
            }
        }
        Ok(Aborted {
            message: if abort.cleanup {
                format!(
                    "The run was aborted; branch `{}` and its folder are cleared up",
                    memory.start.branch
                )
            } else {
                format!(
                    "The run was aborted; branch `{}` and all files stay as they are",
                    memory.start.branch
                )
            },
            run_id,
            aborted: true,
            branch: memory.start.branch,
            cleaned_up: abort.cleanup,
        })
    }
}

fn over(run: &RunState) -> Fault {
    Fault::new(
        Kind::Missing,
        "run_over",
        format!("the run {} is over: it is {}", run.run, run.status.name()),
    )
    .suggest("see what it did with `tm runs report`, or start another one")
    .recover("tm runs report")
}

fn no_reason(command: &str) -> Fault {
    Fault::new(
        Kind::Usage,
        "no_reason",
        format!("`{command}` needs a reason"),
    )
    .suggest(format!("tm autopilot {command} … --reason \"…\""))
}

fn digest(value: &Value) -> String {
    journal::sha256_hex(value.to_string().as_bytes())
}

fn policies(policy: &project::config::Policy) -> std::collections::BTreeMap<String, Severity> {
    use project::config::Severity as Setting;
    project::config::Policy::CODES
        .iter()
        .filter_map(|code| {
            let severity = match policy.severity(code)? {
                Setting::Off => Severity::Off,
                Setting::Warn => Severity::Warn,
                Setting::Pause => Severity::Pause,
                Setting::Refuse => Severity::Refuse,
            };
            Some(((*code).to_owned(), severity))
        })
        .collect()
}

/// What a subtask that is given up leaves in the tree counts as dirty before from then on.
fn left_behind(run: &RunState) -> Result<Map<String, Value>, Fault> {
    let mut memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    let changes = Changes::of(&status, &memory, &repository, &[])?;
    let paths = changes.paths();
    for (path, content) in repository.hash_files(&paths)? {
        memory.dirty.insert(
            path,
            DirtyFile {
                content: content.map(|id| id.as_str().to_owned()),
                left: true,
            },
        );
    }
    let dirty =
        serde_json::to_value(&memory.dirty).map_err(|error| Fault::bug(error.to_string()))?;
    Ok(memory::entry(DIRTY, dirty))
}

/// The report that answered a unit, if one did.
fn answered(hand: &Hand<'_>, unit: &str) -> Result<Option<Reported>, Fault> {
    if let Some(last) = &hand.open.run.last
        && last.unit == unit
    {
        return Ok(Some(last.clone()));
    }
    let tail = FileJournal::open(&hand.open.dir)?.read(&Position::start())?;
    for record in tail.records.iter().rev() {
        if record.event != "report:accepted" && record.event != "report:retried" {
            continue;
        }
        if record.fields.get("unit").and_then(Value::as_str) != Some(unit) {
            continue;
        }
        if let Event::ReportAccepted(report) | Event::ReportRetried(report) =
            derived::event_of(record)?
        {
            return Ok(Some(*report));
        }
    }
    Ok(None)
}

/// Best effort, for the report: never read to decide anything.
fn note_refusal(dir: &Path, now: &str, unit: Option<String>, verdict: &Verdict) {
    let line = json!({
        "ts": now,
        "unit": unit,
        "code": verdict.code,
        "message": verdict.message,
    });
    if let Ok(mut file) = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("refusals.jsonl"))
    {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
