//! What is wrong here, and how to mend it.

mod moved;
mod repository;

use journal::layout::{RunDir, short_name};
use serde::Serialize;
use workspace::runner::adapter::runners_behind;
use workspace::suite::{CommandLine, missing_program};
use workspace::tasks::{CUT_CIRCLE, TaskFile, check_dependencies, circle};

use crate::capability::git::read::preflight::without_test_command;
use crate::capability::messages::unknown_runner;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::integrity::is_bare;
use crate::next_step::{NextStep, Verb};
use crate::runs::{RunFilter, RunSummary};
use crate::view::View;
use text::counted;

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorCheck {
    /// Stable name.
    pub id: String,
    /// `ok`, `note`, `warn` or `fail`.
    pub state: String,
    /// What was found.
    pub message: String,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl DoctorCheck {
    fn new(state: &str, id: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            state: state.to_owned(),
            message: message.into(),
            fix: Some(fix.into()).filter(|fix| !fix.is_empty()),
        }
    }

    /// Nothing is wrong with it.
    pub fn ok(id: &str, message: impl Into<String>) -> Self {
        Self::new("ok", id, message, "")
    }

    /// Something to know.
    pub fn note(id: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new("note", id, message, fix)
    }

    /// Something that may be in the way.
    pub fn warn(id: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new("warn", id, message, fix)
    }

    /// Something that is in the way.
    pub fn fail(id: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new("fail", id, message, fix)
    }

    /// The same, as a fault tells it.
    pub fn of(id: &str, fault: impl Into<Fault>) -> Self {
        let fault: Fault = fault.into();
        Self::fail(id, fault.message, fault.suggestion)
    }
}

impl Engine {
    /// Looks at everything that a run needs. With `adopt`, the name of a folder in the store, takes
    /// over the runs of a project that was moved here.
    pub fn doctor(&self, adopt: Option<&str>) -> Result<Vec<DoctorCheck>, Fault> {
        let mut checks = Vec::new();
        if let Some(name) = adopt {
            checks.extend(self.take_over(name)?);
        }
        let runs = self.runs(&RunFilter::default()).unwrap_or_else(|fault| {
            checks.push(DoctorCheck::of("run", fault));
            Vec::new()
        });
        let going_on = runs
            .iter()
            .any(|run| ["running", "paused"].contains(&&*run.status));
        let is_repository = self.repository(going_on, &mut checks);
        self.autopilot_is_on(&mut checks);
        self.tasks_file(&mut checks);
        self.test_command(is_repository, &mut checks);
        self.workflow_files(&mut checks);
        self.settings_in_force(&mut checks);
        self.trust_in_repository(&mut checks);
        self.signers_list(&mut checks);
        self.storage(&runs, &mut checks)?;
        Ok(checks)
    }

    /// Looks at the list of keys that may sign decisions, where it is there or asked for.
    fn signers_list(&self, checks: &mut Vec<DoctorCheck>) {
        use workspace::config::{ApprovalStrength, Gate};
        let config = &self.settings.config;
        let gates = &config.review.gates;
        let wanted = config.approvals.require == ApprovalStrength::Signed
            || [gates.plan, gates.code, gates.review].contains(&Gate::Signed);
        let path = self.signers();
        match workspace::person::check_signers(&path) {
            Ok(()) => checks.push(DoctorCheck::ok(
                "signers",
                format!("decisions may be signed by the keys in {}", path.display()),
            )),
            Err(error) if wanted || path.exists() => {
                checks.push(DoctorCheck::fail(
                    "signers",
                    error.to_string(),
                    error.suggestion(),
                ));
            }
            Err(_) => {}
        }
    }

    fn autopilot_is_on(&self, checks: &mut Vec<DoctorCheck>) {
        if !self.settings.config.autopilot.enabled {
            checks.push(DoctorCheck::warn(
                "autopilot",
                "autopilot.enabled is false in the settings: no work on a task begins",
                "tm config set autopilot.enabled true",
            ));
        }
    }

    fn tasks_file(&self, checks: &mut Vec<DoctorCheck>) {
        let tag = match workspace::tasks::resolve_tag(&self.root, self.tag.as_deref()) {
            Ok(tag) => tag,
            Err(error) => {
                checks.push(DoctorCheck::of("tag", error));
                return;
            }
        };
        let read = TaskFile::in_project(&self.root, &tag).and_then(|file| {
            let (tasks, statuses) = file.load_tasks()?;
            let mut nowhere = Vec::new();
            for task in &tasks {
                let unmet = check_dependencies(task, &statuses).unmet;
                let unmet = unmet.into_iter().filter(|unmet| unmet.status.is_none());
                nowhere.extend(unmet.map(|unmet| format!("{} on {}", task.id, unmet.id)));
            }
            Ok((tasks.len(), nowhere, circle(&tasks, None)))
        });
        match read {
            Ok((count, nowhere, circle)) => {
                checks.push(DoctorCheck::ok(
                    "tasks",
                    format!("{} under the tag `{tag}`", counted(count, "task")),
                ));
                if let Some(circle) = circle {
                    let message = format!("tasks wait for each other: {}", circle.join(" -> "));
                    checks.push(DoctorCheck::warn("tasks", message, CUT_CIRCLE));
                }
                if !nowhere.is_empty() {
                    checks.push(DoctorCheck::warn(
                        "tasks",
                        format!("tasks depend on what is not there: {}", nowhere.join(", ")),
                        "take the dependency out, or add the task",
                    ));
                }
            }
            Err(error) if error.code() == "tasks_missing" => checks.push(DoctorCheck::note(
                "tasks",
                "there is no tasks file",
                format!("none is needed: {}", NextStep::start_without_tasks()),
            )),
            Err(error) => {
                checks.push(DoctorCheck::of("tasks", error));
            }
        }
    }

    /// Looks for the test command. Without a repository nothing can need one.
    fn test_command(&self, is_repository: bool, checks: &mut Vec<DoctorCheck>) {
        let test = &self.settings.config.test;
        let of = |command: &str, what: String| match CommandLine::parse(command) {
            Err(error) => DoctorCheck::fail("tests", error.to_string(), error.suggestion()),
            Ok(_) => match missing_program(command, &self.root) {
                None if runners_behind(&self.root, command).is_empty() => {
                    DoctorCheck::note("tests", what, unknown_runner())
                }
                None => DoctorCheck::ok("tests", what),
                Some(program) => DoctorCheck::fail(
                    "tests",
                    format!("{what}: `{program}` is not there"),
                    "install it, or name another one: `tm config set test.command …`",
                ),
            },
        };
        if let Some(command) = &test.command {
            checks.push(of(command, format!("`{command}` (test.command)")));
            return;
        }
        match workspace::runner::detect(&self.root, &test.runner) {
            Ok(found) => {
                match found.setup {
                    Some(setup) => checks.push(of(
                        &setup.command,
                        format!("`{}` ({})", setup.command, setup.framework),
                    )),
                    None if is_repository => checks.push(DoctorCheck::fail(
                        "tests",
                        "no test command was found; work on a task needs one",
                        without_test_command(&self.root).1,
                    )),
                    None => checks.push(DoctorCheck::note(
                        "tests",
                        "no test command was found; only work on a task needs one",
                        "for `tm autopilot`: `tm config set test.command …`",
                    )),
                }
                for remark in found.notes {
                    checks.push(DoctorCheck::note("tests", remark.to_string(), ""));
                }
            }
            Err(error) => checks.push(DoctorCheck::fail(
                "tests",
                error.to_string(),
                error.suggestion(),
            )),
        }
    }

    fn workflow_files(&self, checks: &mut Vec<DoctorCheck>) {
        let Ok(all) = self.workflows() else {
            return;
        };
        for workflow in all {
            if let Some(problem) = workflow.problem {
                checks.push(DoctorCheck::fail(
                    "workflow",
                    format!("{}: {problem}", workflow.source),
                    format!("tm workflow check {}", workflow.source),
                ));
            }
        }
    }

    /// Names settings that were given and do not count.
    fn settings_in_force(&self, checks: &mut Vec<DoctorCheck>) {
        checks.extend(self.settings.not_in_force().map(|given| {
            let fix = "take it out, or change the value that counts";
            DoctorCheck::note("settings", given, fix)
        }));
    }

    /// Names what the repository brings along and nobody trusted.
    fn trust_in_repository(&self, checks: &mut Vec<DoctorCheck>) {
        match self.untrusted() {
            Ok(all) => {
                checks.extend(all.iter().map(|request| {
                    DoctorCheck::warn("trust", request.warning(), request.command())
                }));
            }
            Err(fault) => checks.push(DoctorCheck::of("trust", fault)),
        }
    }

    /// Looks at what is kept of runs.
    fn storage(&self, runs: &[RunSummary], checks: &mut Vec<DoctorCheck>) -> Result<(), Fault> {
        let store = self.home.path();
        let writable = std::fs::create_dir_all(store)
            .and_then(|()| tempfile::tempfile_in(store))
            .map(drop);
        match writable {
            Ok(()) => checks.push(DoctorCheck::ok(
                "storage",
                format!("{} can be written", store.display()),
            )),
            Err(error) => {
                checks.push(DoctorCheck::fail(
                    "storage",
                    format!("{} cannot be written: {error}", store.display()),
                    "set TRAMLINE_HOME, or autopilot.storage.basePath, to a folder that can",
                ));
                return Ok(());
            }
        }
        if let Some(project) = self.stored()? {
            for summary in runs {
                let id = short_name(&summary.run_id);
                let dir = project.run(&summary.run_id)?;
                match summary.status.as_str() {
                    "running" | "paused" => {
                        check_files(&dir, checks);
                        checks.push(DoctorCheck::note(
                            "run",
                            format!("{id} is {}", summary.status),
                            goes_on_with(summary),
                        ));
                    }
                    "unstarted" => {
                        let fix = if is_bare(dir.path()) {
                            format!("delete {}", dir.path().display())
                        } else {
                            format!("see what lies in {}, and keep it", dir.path().display())
                        };
                        let told = format!("{id} never began: its start was interrupted");
                        checks.push(DoctorCheck::note("run", told, fix));
                    }
                    "damaged" => checks.push(DoctorCheck::fail(
                        "run",
                        format!("{id}: {}", summary.problem.as_deref().unwrap_or_default()),
                        format!("tm log verify {id}; tm log repair {id}"),
                    )),
                    _ => {}
                }
            }
        }
        for moved in self.home.moved_projects()? {
            let name = moved
                .folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            checks.push(DoctorCheck::note(
                "moved",
                format!(
                    "{} runs are kept for {}, which is no longer there",
                    moved.runs,
                    moved.recorded.as_deref().unwrap_or(&moved.folder).display()
                ),
                format!("if that project is now here: tm doctor --adopt {name}"),
            ));
        }
        Ok(())
    }
}

/// Whether what is kept of a run that goes on is as it was written.
fn check_files(dir: &RunDir, checks: &mut Vec<DoctorCheck>) {
    let id = short_name(dir.id());
    match Engine::verify_dir(dir) {
        Ok((verified, _)) if verified.whole && verified.evidence.is_empty() => {
            if !verified.files.is_empty() {
                checks.push(DoctorCheck::note(
                    "files",
                    format!(
                        "{id}: {} not as recorded; what counts is kept as evidence",
                        counted(verified.files.len(), "file")
                    ),
                    format!("tm log verify {id} names each"),
                ));
            }
        }
        Ok((verified, _)) if verified.whole => checks.push(DoctorCheck::fail(
            "evidence",
            format!(
                "{id}: of its evidence {} missing or changed",
                counted(verified.evidence.len(), "piece")
            ),
            format!("tm log verify {id} names each; bring them back from a copy"),
        )),
        Ok((verified, _)) => checks.push(DoctorCheck::fail(
            "run",
            format!("{id}: {}", verified.damage.unwrap_or_default()),
            format!("tm log verify {id}; tm log repair {id}"),
        )),
        Err(fault) => checks.push(DoctorCheck::fail(
            "run",
            format!("{id}: {}", fault.message),
            fault.suggestion,
        )),
    }
}

/// The step that says what a run waits for, in its own view.
fn goes_on_with(summary: &RunSummary) -> NextStep {
    let view = View::named(&summary.view);
    Verb::Next.step().in_view(view.name).of(&summary.run_id)
}
