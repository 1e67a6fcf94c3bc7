//! What a report brings along. Long work, a run of the test command above all, is done here, before the run is locked.

use journal::layout::RunDir;
use machine::command::{self, Severity};
use machine::decide::{UnitMatch, match_unit};
use machine::state::Token;
use machine::{Finding, Role, RunState, RunStatus};
use workspace::config::Level;
use workspace::git::RepoPath;

use crate::call::{Input, ReadAhead, pinned};
use crate::capability::files::subject::fault as fault_of;
use crate::capability::git::read::command_replaced;
use crate::capability::memory::{BASELINE, Memory};
use crate::capability::reads_long;
use crate::capability::tests::as_before;
use crate::capability::tests::comparison::before_the_suite;
use crate::capability::tests::evidence;
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::verified::Asked;
use crate::capability::tests::evidence::work::Work;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::gate::closed_gate;
use crate::generic::readers::ReportInput;
use crate::open_run;
use crate::report::{Meaning, Report, is_read_on_branch};
use crate::support::HandlerError;

impl Engine {
    /// What the reader of the unit that is meant has to say where it may take long, before the run is locked.
    pub(super) fn read_ahead(
        &self,
        dir: &RunDir,
        run: &RunState,
        command: &command::Report,
    ) -> Result<Option<ReadAhead>, Fault> {
        let UnitMatch::Present { token, .. } = match_unit(run, command) else {
            return Ok(None);
        };
        let Some(present) = run.token(token).filter(|at| reads_long(&at.role.reader)) else {
            return Ok(None);
        };
        let call = self.call(dir, run, Input::None)?;
        if closed_gate(&call, run).is_ok() {
            return Ok(None);
        }
        let role = present.role.clone();
        call.reads_ahead(role, token, run).map_err(fault_of)?;
        Ok(call.read_ahead())
    }

    /// What a report brings along for the reader that is meant. Long work, a run of the test command above all, is done here,
    /// before the run is locked.
    pub(super) fn input(
        &self,
        (dir, run): (&RunDir, &RunState),
        command: &command::Report,
        role: Option<&Role>,
        report: &Report,
        meaning: Meaning,
    ) -> Result<Input, Fault> {
        let of_tests = role.is_some_and(|role| role.reader == "tests");
        let meaning = match meaning {
            Meaning::Anything if !is_over_a_task(run) || !role.is_none_or(is_read_on_branch) => {
                Meaning::Anything
            }
            Meaning::Anything if of_tests || report.evidence.is_given() => Meaning::Tests,
            Meaning::Anything => Meaning::Commit,
            meaning => meaning,
        };
        match meaning {
            Meaning::Anything => Ok(Input::Report(ReportInput::of(
                report, &self.root, &self.cwd,
            )?)),
            Meaning::Tests | Meaning::Suite => Ok(Input::Tests {
                taken: Box::new(self.tested((dir, run), command, report)?),
                files: report.files.clone(),
                said: report.said.clone(),
            }),
            Meaning::Commit => {
                let present = present(run, command);
                let present = present.filter(|present| present.role.reader == "commit");
                if present.is_some() {
                    check_commit(report)?;
                }
                let checks = present.map_or(Ok(None), |present| {
                    let config = pinned(run)?;
                    self.checked((dir.path(), run), present, &config, &report.files)
                });
                Ok(Input::Commit {
                    checks: checks?,
                    message: report.message.clone(),
                    files: report.files.clone(),
                    sha: report.sha.clone(),
                })
            }
        }
    }

    /// Whether one of these findings refuses a report whatever the tests come to, so that nothing has to be run for it.
    fn is_refused_anyway(
        (dir, run): (&RunDir, &RunState),
        present: &Token,
        findings: &[Finding],
    ) -> Result<bool, Fault> {
        if findings.is_empty() {
            return Ok(false);
        }
        let definition = open_run::pinned(dir.path(), run)?;
        let is_allowed = |policy: &String| {
            let mut waiting = run.waiting();
            waiting.any(|(_, unit)| unit.allowed.contains(policy))
        };
        let mut policies = findings.iter().map(|finding| &finding.policy);
        Ok(policies.any(|policy| {
            run.policies.get(policy) == Some(&Severity::Refuse)
                && definition.always_checks(&present.state, policy)
                && !is_allowed(policy)
        }))
    }

    /// What a report of tests rests on, with what checks find where it is one that could be accepted.
    fn tested(
        &self,
        (dir, run): (&RunDir, &RunState),
        command: &command::Report,
        report: &Report,
    ) -> Result<TestEvidence, Fault> {
        let mut taken = self.taken((dir, run), command, report)?;
        let known = BASELINE.read(&run.kept)?;
        let failed = known
            .as_ref()
            .and_then(|known| known.get("failing")?.as_u64());
        let is_passing = taken.counts.failing() <= failed.unwrap_or(0);
        let present = present(run, command);
        let shows = present.is_some_and(|at| at.role.shows.is_some());
        let could_pass = if shows {
            taken.counts.failing() > 0
        } else {
            taken.counts.passed > 0 && is_passing
        };
        let is_run = could_pass && !taken.unchanged;
        if let Some(present) = present.filter(|at| is_run && at.role.reader == "tests") {
            let config = pinned(run)?;
            taken.checks = self.checked((dir.path(), run), present, &config, &report.files)?;
        }
        Ok(taken)
    }

    /// What a report of tests rests on.
    fn taken(
        &self,
        (dir, run): (&RunDir, &RunState),
        command: &command::Report,
        report: &Report,
    ) -> Result<TestEvidence, Fault> {
        let given = &report.evidence;
        let config = pinned(run)?;
        let format = evidence::format_named(given.format.as_deref())?;
        if given.unchanged {
            let present = present(run, command);
            // What is for another unit is told without it.
            return present
                .filter(|present| present.role.reader == "tests")
                .map_or_else(
                    || {
                        Ok(TestEvidence {
                            unchanged: true,
                            ..TestEvidence::default()
                        })
                    },
                    |present| as_before::evidence(run, present),
                );
        }
        let verify = given.verify || config.evidence.require >= Level::Ran;
        let taken = if verify {
            TestEvidence {
                level: Some(Level::Verified),
                verify,
                removed: given.removed.clone(),
                repairs: given.repairs.clone(),
                ..TestEvidence::default()
            }
        } else {
            evidence::take(given, &self.cwd)?
        };
        // Nothing is run for a report that is answered without it.
        let UnitMatch::Present { token, .. } = match_unit(run, command) else {
            return Ok(taken);
        };
        // What is for another step is told before anything is run.
        if run
            .token(token)
            .is_some_and(|token| token.role.reader != "tests")
        {
            return Ok(taken);
        }
        if taken.level.is_none() {
            return Err(no_results());
        }
        if !verify {
            return Ok(taken);
        }
        let memory = Memory::of(run)?;
        if !given.verify {
            self.of_tests(&memory.start.test_command, &config)?
                .required()?;
        }
        let Some(present) = run.token(token) else {
            return Ok(taken);
        };
        let repository = memory.repository();
        let head = repository.head()?;
        if run.status != RunStatus::Running || head.branch.as_ref() != Some(&memory.start.branch) {
            return Ok(taken);
        }
        let replaced = command_replaced(&self.settings.config, &config, &memory);
        let mut findings: Vec<Finding> = replaced.into_iter().collect();
        // Above all no command is run that is not the one which the run began with.
        if Self::is_refused_anyway((dir, run), present, &findings)? {
            return Ok(taken);
        }
        let named = report.files.iter();
        let named = named.filter_map(|name| repository.relative(&self.root.join(name)));
        let named: Vec<RepoPath> = named.collect();
        let work = match Work::now(run, (dir.path(), &config), &named) {
            Ok(work) => work,
            // The reader says it again, and the run keeps it.
            Err(HandlerError::Refused(_)) => return Ok(taken),
            Err(HandlerError::Fault(fault)) => return Err(fault),
        };
        let sorter = work.sorter(&repository, &config)?;
        let of_item = sorter.between(&work.base, &work.tree)?;
        findings = before_the_suite(&work, (present, &config), &of_item, &given.repairs)?;
        if Self::is_refused_anyway((dir, run), present, &findings)? {
            return Ok(taken);
        }
        let coverage = given
            .coverage_report
            .as_ref()
            .map(|path| self.cwd.join(path));
        let reports = given.reports.iter().map(|path| self.cwd.join(path));
        let cancelled = self.cancellation();
        let asked = Asked {
            work: &work,
            of_item: &of_item,
            repairs: &given.repairs,
            run_dir: dir.path(),
            run,
            present,
            config: &config,
            reports: &reports.collect::<Vec<_>>(),
            coverage: coverage.as_deref(),
            format,
            cancelled: &cancelled,
        };
        self.with_suites((&memory, &work.tree), Some((dir.path(), run)), || {
            let mut taken = TestEvidence {
                removed: taken.removed,
                repairs: taken.repairs,
                ..asked.verified().map_err(fault_of)?
            };
            taken.take_coverage(given, &self.cwd)?;
            taken.hollow = evidence::hollow::of(&asked, &taken)?;
            Ok(taken)
        })
    }
}

/// The token of the unit that a report is of, where that is present.
fn present<'r>(run: &'r RunState, command: &command::Report) -> Option<&'r Token> {
    match match_unit(run, command) {
        UnitMatch::Present { token, .. } => run.token(token),
        _ => None,
    }
}

fn check_commit(report: &Report) -> Result<(), Fault> {
    if report.sha.is_some() && (report.message.is_some() || !report.files.is_empty()) {
        return Err(fault!("usage.check_commit"));
    }
    let message = report.message.as_ref();
    if message.is_some_and(|message| !message.contains(char::is_alphanumeric)) {
        return Err(fault!("usage.empty_message"));
    }
    Ok(())
}

fn no_results() -> Fault {
    fault!("usage.no_results")
}
