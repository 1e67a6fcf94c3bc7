//! What is wrong here, and how to mend it.

use journal::layout::RunDir;
use serde::Serialize;
use workspace::git::GitErrorKind;
use workspace::suite::{CommandLine, missing_program};

use crate::capability::git::read::ends_of;
use crate::capability::git::read::preflight::without_test_command;
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::integrity::is_bare;
use crate::next_step::{NextStep, Verb};
use crate::runs;
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

impl Engine {
    /// Looks at everything that a run needs. With `adopt`, the name of a folder in the store, takes
    /// over the runs of a project that was moved here.
    pub fn doctor(&self, adopt: Option<&str>) -> Result<Vec<DoctorCheck>, Fault> {
        let mut checks = Vec::new();
        if let Some(name) = adopt {
            checks.push(self.adopt(name)?);
        }
        let is_repository = self.git(&mut checks);
        self.tasks_file(&mut checks);
        self.test_command(is_repository, &mut checks);
        self.workflow_files(&mut checks);
        self.settings_in_force(&mut checks);
        self.trust_in_repository(&mut checks);
        self.signers_list(&mut checks);
        self.storage(&mut checks)?;
        Ok(checks)
    }

    fn adopt(&self, name: &str) -> Result<DoctorCheck, Fault> {
        let moved = self.home.moved_projects()?;
        let found = moved.iter().find(|project| {
            project
                .folder
                .file_name()
                .is_some_and(|folder| folder.to_string_lossy() == name)
        });
        let Some(project) = found else {
            return Err(Fault::new(
                Kind::Missing,
                "unknown_project",
                format!("no moved project is kept under the name `{name}`"),
            )
            .suggest("`tm doctor` lists those that were moved"));
        };
        let adopted = self
            .home
            .adopt(&project.folder, &self.root, self.wait(), &self.command)?;
        Ok(ok(
            "adopt",
            format!("{} runs were taken over from {name}", adopted.runs),
        ))
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
            Ok(()) => checks.push(ok(
                "signers",
                format!("decisions may be signed by the keys in {}", path.display()),
            )),
            Err(error) if wanted || path.exists() => {
                checks.push(fail("signers", error.to_string(), error.suggestion()));
            }
            Err(_) => {}
        }
    }

    /// Looks at the repository; whether there is one.
    fn git(&self, checks: &mut Vec<DoctorCheck>) -> bool {
        let repository = match workspace::git::Repository::discover(&self.root) {
            Ok(repository) => repository.with_scope(&self.root),
            Err(error) => {
                let nowhere = *error.kind() == GitErrorKind::NotARepository;
                let fault = Fault::from(error);
                checks.push(if nowhere {
                    note(
                        "git",
                        format!("{}; only work on a task needs one", fault.message),
                        "for `tm autopilot`: git init, and a first commit",
                    )
                } else {
                    fail("git", fault.message, fault.suggestion)
                });
                return !nowhere;
            }
        };
        match repository.status() {
            Ok(status) => {
                let branch = status
                    .branch
                    .as_deref()
                    .unwrap_or("no branch (HEAD is detached)");
                let changed = status.changes.len();
                checks.push(ok(
                    "git",
                    format!("on {branch}, {} changed", counted(changed, "file")),
                ));
                if status.head.is_none() {
                    checks.push(fail(
                        "commits",
                        "there is no commit yet",
                        "make a first commit",
                    ));
                }
            }
            Err(error) => {
                let fault = Fault::from(error);
                checks.push(fail("git", fault.message, fault.suggestion));
            }
        }
        match repository.operation_under_way() {
            Ok(Some(operation)) => checks.push(fail(
                "operation",
                format!("{operation} is under way"),
                format!("end it: {}", ends_of(operation)),
            )),
            Ok(None) => {}
            Err(error) => checks.push(fail("operation", error.to_string(), "")),
        }
        match repository.identity() {
            Ok(identity) => checks.push(ok(
                "identity",
                format!("{} <{}>", identity.name, identity.email),
            )),
            Err(error) => {
                let fault = Fault::from(error);
                checks.push(fail("identity", fault.message, fault.suggestion));
            }
        }
        for lock in repository.lock_files() {
            checks.push(warn(
                "git_lock",
                format!("{} is there", lock.display()),
                "if no git is running, remove it",
            ));
        }
        true
    }

    fn tasks_file(&self, checks: &mut Vec<DoctorCheck>) {
        let tag = match workspace::tasks::resolve_tag(&self.root, self.tag.as_deref()) {
            Ok(tag) => tag,
            Err(error) => {
                let fault = Fault::from(error);
                checks.push(fail("tag", fault.message, fault.suggestion));
                return;
            }
        };
        match workspace::tasks::TaskFile::in_project(&self.root, &tag).and_then(|file| file.tasks())
        {
            Ok(tasks) => checks.push(ok(
                "tasks",
                format!("{} under the tag `{tag}`", counted(tasks.len(), "task")),
            )),
            Err(error) if error.code() == "tasks_missing" => checks.push(note(
                "tasks",
                "there is no tasks file",
                format!("none is needed: {}", NextStep::start_without_tasks()),
            )),
            Err(error) => {
                let fault = Fault::from(error);
                checks.push(fail("tasks", fault.message, fault.suggestion));
            }
        }
    }

    /// Looks for the test command. Without a repository nothing can need one.
    fn test_command(&self, is_repository: bool, checks: &mut Vec<DoctorCheck>) {
        let test = &self.settings.config.test;
        let of = |command: &str, what: String| match CommandLine::parse(command) {
            Err(error) => fail("tests", error.to_string(), error.suggestion()),
            Ok(_) => match missing_program(command, &self.root) {
                None => ok("tests", what),
                Some(program) => fail(
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
                    None if is_repository => checks.push(fail(
                        "tests",
                        "no test command was found; work on a task needs one",
                        without_test_command(&self.root).1,
                    )),
                    None => checks.push(note(
                        "tests",
                        "no test command was found; only work on a task needs one",
                        "for `tm autopilot`: `tm config set test.command …`",
                    )),
                }
                for remark in found.notes {
                    checks.push(note("tests", remark.to_string(), ""));
                }
            }
            Err(error) => checks.push(fail("tests", error.to_string(), error.suggestion())),
        }
    }

    fn workflow_files(&self, checks: &mut Vec<DoctorCheck>) {
        let Ok(all) = self.workflows() else {
            return;
        };
        for workflow in all {
            if let Some(problem) = workflow.problem {
                checks.push(fail(
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
            note("settings", given, fix)
        }));
    }

    /// Names what the repository brings along and nobody trusted.
    fn trust_in_repository(&self, checks: &mut Vec<DoctorCheck>) {
        match self.untrusted() {
            Ok(all) => checks.extend(
                all.iter()
                    .map(|request| warn("trust", request.warning(), request.command())),
            ),
            Err(fault) => checks.push(fail("trust", fault.message, fault.suggestion)),
        }
    }

    fn storage(&self, checks: &mut Vec<DoctorCheck>) -> Result<(), Fault> {
        let store = self.home.path();
        let writable = std::fs::create_dir_all(store)
            .and_then(|()| tempfile::tempfile_in(store))
            .map(drop);
        match writable {
            Ok(()) => checks.push(ok("storage", format!("{} can be written", store.display()))),
            Err(error) => {
                checks.push(fail(
                    "storage",
                    format!("{} cannot be written: {error}", store.display()),
                    "set TRAMLINE_HOME, or autopilot.storage.basePath, to a folder that can",
                ));
                return Ok(());
            }
        }
        if let Some(project) = self.stored()? {
            for id in project.runs()? {
                let dir = project.run(&id)?;
                let summary = runs::summary(&dir, &project);
                match summary.status.as_str() {
                    "running" | "paused" => {
                        check_files(&dir, checks);
                        checks.push(note(
                            "run",
                            format!("{id} is {}", summary.status),
                            goes_on_with(&summary),
                        ));
                    }
                    "unstarted" => {
                        let fix = if is_bare(dir.path()) {
                            format!("delete {}", dir.path().display())
                        } else {
                            format!("see what lies in {}, and keep it", dir.path().display())
                        };
                        let told = format!("{id} never began: its start was interrupted");
                        checks.push(note("run", told, fix));
                    }
                    "damaged" => checks.push(fail(
                        "run",
                        format!("{id}: {}", summary.problem.unwrap_or_default()),
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
            checks.push(note(
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
    let id = dir.id();
    match Engine::verify_dir(dir) {
        Ok((verified, _)) if verified.whole && verified.evidence.is_empty() => {
            if !verified.files.is_empty() {
                checks.push(note(
                    "files",
                    format!(
                        "{id}: {} not as recorded; what counts is kept as evidence",
                        counted(verified.files.len(), "file")
                    ),
                    format!("tm log verify {id} names each"),
                ));
            }
        }
        Ok((verified, _)) if verified.whole => checks.push(fail(
            "evidence",
            format!(
                "{id}: of its evidence {} missing or changed",
                counted(verified.evidence.len(), "piece")
            ),
            format!("tm log verify {id} names each; bring them back from a copy"),
        )),
        Ok((verified, _)) => checks.push(fail(
            "run",
            format!("{id}: {}", verified.damage.unwrap_or_default()),
            format!("tm log verify {id}; tm log repair {id}"),
        )),
        Err(fault) => checks.push(fail(
            "run",
            format!("{id}: {}", fault.message),
            fault.suggestion,
        )),
    }
}

fn one(state: &str, id: &str, message: impl Into<String>, fix: impl Into<String>) -> DoctorCheck {
    DoctorCheck {
        id: id.to_owned(),
        state: state.to_owned(),
        message: message.into(),
        fix: Some(fix.into()).filter(|fix| !fix.is_empty()),
    }
}

fn ok(id: &str, message: impl Into<String>) -> DoctorCheck {
    one("ok", id, message, "")
}

fn note(id: &str, message: impl Into<String>, fix: impl Into<String>) -> DoctorCheck {
    one("note", id, message, fix)
}

fn warn(id: &str, message: impl Into<String>, fix: impl Into<String>) -> DoctorCheck {
    one("warn", id, message, fix)
}

fn fail(id: &str, message: impl Into<String>, fix: impl Into<String>) -> DoctorCheck {
    one("fail", id, message, fix)
}

/// The step that says what a run waits for, in its own view.
fn goes_on_with(summary: &runs::RunSummary) -> NextStep {
    let view = View::named(&summary.view);
    Verb::Next.step().in_view(view.name).of(&summary.run_id)
}
