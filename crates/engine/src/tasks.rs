//! The tasks of a project: which ones there are, which one is next, and how those of other tools come in.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use workspace::process::Cancellation;
use workspace::suite::{CommandLine, SuiteRun, run_suite};
use workspace::tasks::import::{
    self, ImportFormat, ImportProblem, Imported, MergeOutcome, WriteBack, save,
};
use workspace::tasks::{
    Status, TASKS_FILE, Task, TaskFile, TaskSource, check_dependencies, circle, resolve_tag,
};

use crate::capability::git::read::preflight::planned;
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};

/// What `gh` is asked for of an issue: fields that all its versions know.
const FIELDS: &str = "number,title,body,labels,state,url";
/// How long `gh` may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A task of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskEntry {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// How far it is.
    pub status: Status,
    /// The tasks that have to be done before, and are not.
    pub waits_for: Vec<String>,
    /// Why no run of it can begin, where that is not because of other tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// How many of its subtasks are done.
    pub done: usize,
    /// How many it has.
    pub subtasks: usize,
}

impl TaskEntry {
    /// Whether a run of it can begin now.
    pub fn is_ready(&self) -> bool {
        is_open(&self.status) && self.waits_for.is_empty() && self.blocked.is_none()
    }
}

/// Whether a task of this status is still to be done, and may be.
fn is_open(status: &Status) -> bool {
    !status.satisfies() && !status.is_left_out()
}

/// The tasks of a tag.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    /// The file.
    pub file: PathBuf,
    /// The tag.
    pub tag: String,
    /// In the order of the file.
    pub tasks: Vec<TaskEntry>,
    /// Tasks that wait for each other, where there are any: each for the next, the last is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circle: Option<Vec<String>>,
}

impl TaskList {
    /// The first task that a run can begin of, those first that were begun; none where there is none.
    pub fn next(&self) -> Option<&TaskEntry> {
        let ready = || self.tasks.iter().filter(|task| task.is_ready());
        let begun = ready().find(|task| task.status == Status::InProgress);
        begun.or_else(|| ready().next())
    }
}

/// Where tasks are brought in from.
#[derive(Debug, Clone, Default)]
pub struct ImportRequest {
    /// Files and folders from where the caller stands, and numbers of issues such as `#12`.
    pub sources: Vec<String>,
    /// The format, where it is not to be told.
    pub format: Option<String>,
    /// Those that are over in their source, too.
    pub all: bool,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What was brought in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportAnswer {
    /// The tasks file.
    pub file: PathBuf,
    /// The tag.
    pub tag: String,
    /// Nothing was written.
    pub dry_run: bool,
    /// What became of each task, by its key in its source, with its id here.
    pub tasks: Vec<ImportedEntry>,
    /// Ids of tasks that are in their source no more.
    pub gone: Vec<String>,
    /// What could not be read.
    pub problems: Vec<ImportProblem>,
}

/// What became of a task that was brought in.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedEntry {
    /// What it is called in its source.
    pub key: String,
    /// Its id here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is called.
    pub title: String,
    /// How many subtasks it has.
    pub subtasks: usize,
    /// What became of it.
    pub outcome: MergeOutcome,
}

impl Engine {
    /// The tasks of the project's tag.
    pub fn task_list(&self) -> Result<TaskList, Fault> {
        let (file, source) = self.task_source()?;
        let (all, statuses) = source.load_tasks()?;
        let entries = all.iter().map(|task| {
            let check = check_dependencies(task, &statuses);
            let parts = || task.subtasks.iter().filter(|part| !part.implicit);
            let blocked = planned(task).err().filter(|_| is_open(&task.status));
            TaskEntry {
                id: task.id.clone(),
                title: task.title.clone(),
                status: task.status.clone(),
                waits_for: check.unmet.into_iter().map(|unmet| unmet.id).collect(),
                blocked: blocked.map(|fault| fault.message),
                done: parts().filter(|part| part.status.is_finished()).count(),
                subtasks: parts().count(),
            }
        });
        Ok(TaskList {
            file,
            tag: source.tag().to_owned(),
            tasks: entries.collect(),
            circle: circle(&all, None),
        })
    }

    /// A task with its subtasks.
    pub fn task(&self, id: &str) -> Result<Task, Fault> {
        let (_, source) = self.task_source()?;
        Ok(source.load_task(id)?)
    }

    /// Brings tasks of other tools into the tasks file.
    pub fn import_tasks(&self, request: &ImportRequest) -> Result<ImportAnswer, Fault> {
        let format = request
            .format
            .as_deref()
            .map(|name| {
                ImportFormat::of_name(name).ok_or_else(|| {
                    let names = ImportFormat::ALL.map(ImportFormat::name);
                    fault!("usage.import_tasks", name, names = names.join(", "))
                        .expected(names.map(str::to_owned).to_vec())
                })
            })
            .transpose()?;
        let file = self.root.join(TASKS_FILE);
        let was = match std::fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Fault::environment(
                    "tasks_invalid",
                    "the tasks file cannot be read",
                    &error,
                ));
            }
        };
        let tag = self.task_tag()?;
        let mut answer = ImportAnswer {
            file: file.clone(),
            tag: tag.clone(),
            dry_run: request.dry_run,
            tasks: Vec::new(),
            gone: Vec::new(),
            problems: Vec::new(),
        };
        let mut text = was.clone().unwrap_or_default();
        for imported in self.imported(request, format)? {
            let merged = import::merge(&text, &tag, &imported, &self.root, request.all);
            let merged = merged.map_err(|problem| {
                Fault::new(Kind::Environment, "tasks_invalid", problem)
                    .suggest("mend the file, or move it away")
            })?;
            text = merged.text;
            answer.gone.extend(merged.gone);
            let told = merged.tasks.into_iter().zip(&imported.tasks);
            answer
                .tasks
                .extend(told.map(|((key, id, outcome), task)| ImportedEntry {
                    key,
                    id,
                    title: task.title.clone(),
                    subtasks: task.subtasks.len(),
                    outcome,
                }));
            answer.problems.extend(imported.problems);
        }
        if was.as_deref().unwrap_or_default() != text && !request.dry_run {
            save(&file, was.as_deref(), &text)?;
        }
        Ok(answer)
    }

    fn imported(
        &self,
        request: &ImportRequest,
        format: Option<ImportFormat>,
    ) -> Result<Vec<Imported>, Fault> {
        let mut all = Vec::new();
        let sources = request.sources.len() as u64;
        for (at, source) in (0_u64..).zip(&request.sources) {
            self.tell(format!("tasks are read from {source}"), at, Some(sources));
            let issue = source.strip_prefix('#');
            let issue = issue.and_then(|number| number.parse::<u64>().ok());
            let read = match issue {
                Some(number) => import::read_issue(number, &self.issue(number)?),
                None => import::read(&self.cwd.join(source), format),
            };
            all.push(read.map_err(|error| {
                Fault::new(Kind::Usage, "tasks_invalid", error.to_string())
                    .suggest(error.suggestion())
            })?);
        }
        Ok(all)
    }

    /// An issue, as `gh` prints it.
    fn issue(&self, number: u64) -> Result<String, Fault> {
        let number = number.to_string();
        let words = ["gh", "issue", "view", &number, "--json", FIELDS];
        let failed = |why: String| fault!("forge_refused.gh_failed", number, why);
        let ran = run_suite(&SuiteRun {
            command: &words.join(" "),
            line: Some(CommandLine {
                env: Vec::new(),
                argv: words.map(str::to_owned).to_vec(),
            }),
            cwd: &self.root,
            timeout: PATIENCE,
            cancelled: Cancellation::default(),
            env: [
                ("GH_PROMPT_DISABLED", "1"),
                ("GH_NO_UPDATE_NOTIFIER", "1"),
                ("NO_COLOR", "1"),
            ]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
            is_whole: false,
        })
        .map_err(|error| failed(error.to_string()))?;
        if !ran.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err(failed(said.trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    }

    /// Writes into the sources of tasks that those are done which are done here.
    pub fn write_tasks_back(&self, dry_run: bool) -> Result<WriteBack, Fault> {
        let file = self.root.join(TASKS_FILE);
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Fault::environment("tasks_invalid", "the tasks file cannot be read", &error)
        })?;
        let told = import::write_back(&text, &self.task_tag()?, &self.root)?;
        if !dry_run {
            for rewrite in &told.rewrites {
                rewrite.apply()?;
            }
        }
        Ok(told)
    }

    fn task_source(&self) -> Result<(PathBuf, TaskFile), Fault> {
        let tag = self.task_tag()?;
        let file = self.root.join(TASKS_FILE);
        if !file.exists() {
            return Err(fault!("tasks_missing.to_list", file = file.display()));
        }
        Ok((file, TaskFile::in_project(&self.root, &tag)?))
    }

    fn task_tag(&self) -> Result<String, Fault> {
        Ok(resolve_tag(&self.root, self.tag.as_deref())?)
    }
}
