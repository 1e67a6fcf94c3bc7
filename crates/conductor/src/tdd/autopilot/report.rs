//! Reports: RED, GREEN, the commit, the full suite.

use super::verdict;
use crate::call::{Input, pinned};
use crate::writer::RunWriter;

use journal::layout::RunDir;
use project::config::Level;
use rails::command::Report;
use rails::decide::{UnitMatch, match_unit};
use rails::event::Reported;
use rails::{Command, Event, Role, RunState};
use serde_json::{Map, Value, json};

use super::super::answer::{CommitAnswer, Committed, Finalized, Verdict};
use super::super::effects;
use super::super::evidence::subject::Subject;
use super::super::evidence::suite::Suite;
use super::super::evidence::{self, Taken};
use super::super::memory::{self, Memory};
use super::super::{request, view};
use crate::clock::stamp;
use crate::conductor::Conductor;
use crate::engine::Done;
use crate::fault::{Fault, Kind};
use crate::find::Meant;
use crate::generic::on_task::other_step;
use crate::generic::report::{answered, joined};
use crate::refusals;
use crate::view::AUTOPILOT;

impl Conductor {
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
        Ok(self.suite(run, report, phase)?.0)
    }

    /// Reports the full suite, which ends the run.
    pub fn finalize(
        &self,
        run: Option<&str>,
        report: &request::Complete,
    ) -> Result<Finalized, Fault> {
        let (_, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let before = crate::engine::load(dir.path())?.run;
        let state = state_of(&before, "finalize", |role| role.suite.is_some());
        let (verdict, dir) = self.suite(run, report, Some(state))?;
        let over = verdict.next_action.action == "complete";
        Ok(Finalized {
            commit_sha: if over { last_commit(&dir)? } else { None },
            report: if over {
                journal::durable::read_text(&dir.file("report.md")).ok()
            } else {
                None
            },
            verdict,
        })
    }

    pub(super) fn suite(
        &self,
        run: Option<&str>,
        report: &request::Complete,
        phase: Option<String>,
    ) -> Result<(Verdict, RunDir), Fault> {
        // Without a phase it may be the report that ends the run.
        let may_end = !matches!(phase.as_deref(), Some("red" | "green"));
        let (project, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let command = Report {
            unit: report.unit.clone(),
            state: phase,
            item: report.subtask.clone(),
            flags: memory::entry("skipCoverage", report.skip_coverage),
            ..Report::default()
        };
        let seen = crate::engine::load(dir.path())?.run;
        if let (UnitMatch::Present { .. }, Some(fault)) =
            (match_unit(&seen, &command), other_step(&dir, &seen)?)
        {
            return Err(fault);
        }
        let taken = self.taken(&seen, &command, &report.evidence)?;
        let digest = digest(&json!({
            "counts": taken.digest(), "coverage": taken.coverage, "files": report.files, "skipCoverage": report.skip_coverage,
        }));
        let not_run = taken.verify && taken.ran.is_none();
        let input = Input::Tests {
            taken: Box::new(taken),
            files: report.files.clone(),
            said: report.said.clone(),
        };
        let mut writer = if may_end {
            self.writer_alone(&project, &dir, input)?
        } else {
            self.writer(&dir, input)?
        };
        if may_end && is_of_the_whole(&writer.open.run) {
            chain_is_whole(&dir)?;
        }
        let command = Report { digest, ..command };
        let (answered, mut verdict) = self.take_in(&mut writer, command)?;
        if not_run && answered.is_some() {
            let told = "this was answered before, and the tests were not run again; nextAction says what is asked for now";
            verdict.warning = joined(verdict.warning, [told.to_owned()]);
        }
        Ok((verdict, dir))
    }

    /// What a report of tests rests on. Long work, the run of the test command above all, is done here, before the run is locked.
    fn taken(
        &self,
        run: &RunState,
        command: &Report,
        given: &request::Evidence,
    ) -> Result<Taken, Fault> {
        let config = pinned(run)?;
        let format = evidence::format_named(given.format.as_deref())?;
        let verify = given.verify || config.evidence.require == Level::Verified;
        let mut taken = if verify {
            Taken {
                level: Some(Level::Verified),
                verify,
                removed: given.removed.clone(),
                ..Taken::default()
            }
        } else {
            evidence::take(given, &self.cwd)?
        };
        if taken.level.is_none() {
            return Err(no_results());
        }
        // Nothing is run for a report that is answered without it.
        let UnitMatch::Present { token, .. } = match_unit(run, command) else {
            return Ok(taken);
        };
        let in_clean_tree = run
            .token(token)
            .is_some_and(|token| evidence::clean::is_due(&config, &token.role));
        if (verify || in_clean_tree) && !given.verify {
            self.may_run_by_itself(&Memory::of(run)?.start.test_command, &config)?;
        }
        if in_clean_tree {
            taken.clean = Some(evidence::clean::check(run, &config, format)?);
        }
        if verify {
            let memory = Memory::of(run)?;
            let repository = memory.repository();
            let subject = Subject::new(&repository, &memory.start)?;
            let reports = given.reports.iter().map(|path| self.cwd.join(path));
            let verified = evidence::suite::verify(&Suite {
                command: &memory.start.test_command,
                folder: &memory.start.project_root,
                config: &config,
                format,
                reports: &reports.collect::<Vec<_>>(),
                subject: Some(&subject),
            })?;
            taken = Taken {
                removed: taken.removed,
                clean: taken.clean,
                ..verified
            };
            taken.take_coverage(given, &self.cwd)?;
        }
        Ok(taken)
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
        let (_, dir) = self.meant(&AUTOPILOT, run, Meant::Running)?;
        let input = Input::Commit {
            message: report.message.clone(),
            files: report.files.clone(),
            sha: report.sha.clone(),
        };
        let mut writer = self.writer(&dir, input)?;
        let command = Report {
            unit: report.unit.clone(),
            state: Some(state_of(&writer.open.run, "commit", |role| {
                role.reader == "commit"
            })),
            item: report.subtask.clone(),
            digest,
            flags: Map::new(),
        };
        let (reported, verdict) = self.take_in(&mut writer, command)?;
        let Some(reported) = reported.filter(|_| verdict.validated) else {
            return Ok(CommitAnswer::Refused(verdict));
        };
        let made = made(&writer, &reported)?;
        let warning = joined(verdict.warning, taken_out(&reported, &made.2));
        Ok(CommitAnswer::Committed(Committed {
            commit_sha: made.0,
            message: made.1,
            files: made.2,
            warning,
            next_action: verdict.next_action,
        }))
    }

    /// Decides a report. Gives the report as it was taken in, if it was, and the verdict.
    pub(super) fn take_in(
        &self,
        writer: &mut RunWriter<'_>,
        command: Report,
    ) -> Result<(Option<Reported>, Verdict), Fault> {
        // The very same report again, without a word on which phase it is for, is no report of another kind.
        if let UnitMatch::Present { token, .. } = match_unit(&writer.open.run, &command)
            && command.unit.is_none()
            && command.state.is_none()
            && let Some(last) = &writer.open.run.last
            && last.digest == command.digest
            && writer
                .open
                .run
                .token(token)
                .is_some_and(|token| token.role.reader != last.role.reader)
        {
            let last = last.clone();
            let verdict = view::recorded(&writer.open.run, &last);
            return Ok((Some(last), verdict));
        }
        if let UnitMatch::Used { unit } = match_unit(&writer.open.run, &command)
            && let Some(reported) = answered(&writer.open.dir, &writer.open.run, &unit)?
        {
            let verdict = view::recorded(&writer.open.run, &reported);
            return Ok((Some(reported), verdict));
        }
        let before = writer
            .open
            .run
            .waiting()
            .next()
            .map(|(_, unit)| unit.id.clone());
        let done = writer.done(&Command::Report(command))?;
        let run = &writer.open.run;
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
                let tasks = Memory::of(run)?.start.tasks_name();
                let told = events.iter().flat_map(|event| match event {
                    Event::EffectDone { result, .. } => effects::commit::told(result, &tasks),
                    _ => Vec::new(),
                });
                verdict.warning = joined(verdict.warning, told);
                Ok((Some(reported), verdict))
            }
            Done::Refused(refusal) => {
                let answer = verdict(run, &refusal);
                refusals::note(
                    &writer.open.dir,
                    &stamp(self.clock.millis()),
                    before.as_deref(),
                    answer.code.as_deref(),
                    &answer.message,
                );
                Ok((None, answer))
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
                refusals::note(
                    &writer.open.dir,
                    &stamp(self.clock.millis()),
                    before.as_deref(),
                    verdict.code.as_deref(),
                    &verdict.message,
                );
                Ok((None, verdict))
            }
        }
    }
}

/// The state whose reports have such a role: the one that waits, or the one that was reported last. Where neither has it, what
/// people call it, so that the report is told to be for another.
fn state_of(run: &RunState, called: &str, is_meant: impl Fn(&Role) -> bool) -> String {
    let waiting = run.waiting().map(|(token, _)| (&token.role, &token.state));
    let last = run.last.iter().map(|last| (&last.role, &last.state));
    waiting
        .chain(last)
        .find(|(role, _)| is_meant(role))
        .map_or_else(|| called.to_owned(), |(_, state)| state.clone())
}

/// Whether the full suite is asked for, which ends the run.
pub(super) fn is_of_the_whole(run: &RunState) -> bool {
    view::present(run).is_some_and(|token| token.role.suite.is_some())
}

fn no_results() -> Fault {
    Fault::new(Kind::Usage, "no_results", "the report says nothing of the tests").suggest(
        "give --results failed:N,passed:N, or the runner's own report with --report FILE, or have the tests run with --verify",
    )
}

/// The commit of the task's status, where the end of the run made one.
fn last_commit(dir: &RunDir) -> Result<Option<String>, Fault> {
    let run = crate::engine::load(dir.path())?.run;
    let last = Memory::of(&run)?.last_commit;
    let of_subtask = memory::subtasks(&run).any(|(_, item)| item.text("sha") == last);
    Ok((!of_subtask && memory::commits(&run) > 0).then_some(last))
}

/// The end of a run stands on its whole journal, not only on the tail that was loaded.
fn chain_is_whole(dir: &RunDir) -> Result<(), Fault> {
    match journal::verify(&dir.journal_path())?.damage {
        None => Ok(()),
        Some(damage) => Err(Fault::from(journal::JournalError::Damaged(damage))),
    }
}

fn digest(value: &Value) -> String {
    journal::sha256_hex(value.to_string().as_bytes())
}

/// The commit that answered a unit: id, message, files.
pub(super) fn made(
    writer: &RunWriter<'_>,
    reported: &Reported,
) -> Result<(String, String, Vec<String>), Fault> {
    let item = reported
        .item
        .as_ref()
        .and_then(|key| memory::subtask(&writer.open.run, key));
    let sha = match reported.facts.get("sha").and_then(Value::as_str) {
        Some(sha) if !sha.is_empty() => sha.to_owned(),
        _ => item
            .map(|item| item.text("sha").to_owned())
            .unwrap_or_default(),
    };
    let memory = Memory::of(&writer.open.run)?;
    let repository = memory.repository();
    let oid = sha
        .parse()
        .map_err(|_| Fault::bug(format!("the subtask has no commit, but `{sha}`")))?;
    let commit = repository.commit_info(&oid)?;
    let reported_files: Vec<String> = reported
        .facts
        .get("files")
        .and_then(|files| serde_json::from_value(files.clone()).ok())
        .unwrap_or_default();
    let handed_in = reported.facts.get("sha").and_then(Value::as_str) == Some(&sha);
    let files = match commit.parents.first() {
        // There may be several commits behind the one that was handed in.
        _ if handed_in => reported_files,
        Some(parent) => repository
            .changed_paths(parent, &oid)?
            .iter()
            .map(ToString::to_string)
            .collect(),
        None => Vec::new(),
    };
    Ok((sha, commit.message, files))
}

/// What is told of files that were to be in a commit and are not: a hook of the repository took them out.
fn taken_out(reported: &Reported, files: &[String]) -> Option<String> {
    let meant = reported.facts.get("files")?.as_array()?;
    let gone: Vec<&str> = meant
        .iter()
        .filter_map(Value::as_str)
        .filter(|path| !files.iter().any(|file| file == path))
        .collect();
    (!gone.is_empty()).then(|| format!("a hook took out of the commit: {}", gone.join(", ")))
}
