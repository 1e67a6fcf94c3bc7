//! What holds at the end of a run, whoever died on the way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::executor::Executor;
use super::stage::Stage;

impl Executor<'_> {
    fn hold(&self, what: bool, why: &str) {
        if !what {
            self.fail(why);
        }
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, found: &T, expected: &T, what: &str) {
        self.hold(
            found == expected,
            &format!("{what}: {found:?} instead of {expected:?}"),
        );
    }

    /// The run is complete, each subtask has exactly one commit, and nothing is left lying about.
    pub fn check_completed(&self) {
        let done: Vec<(String, &str)> = self
            .stage
            .ids()
            .into_iter()
            .map(|id| (id, "done"))
            .collect();
        self.check_ended("completed", &done, 0);
    }

    /// The run ended so, with these statuses in the tasks file; `repairs` are commits beside those of the subtasks.
    pub fn check_ended(&self, status: &str, statuses: &[(String, &str)], repairs: usize) {
        let committed: Vec<&str> = statuses
            .iter()
            .filter(|(_, status)| *status == "done")
            .map(|(id, _)| id.as_str())
            .collect();
        let closing = usize::from(status == "completed");
        let commits = self.check_commits(&committed, repairs + closing);
        self.check_tasks(statuses, if closing == 1 { "review" } else { "pending" });
        self.check_tree();
        self.check_derived(status, &commits);
        self.check_report(&commits);
        self.check_journal(&committed);
    }

    /// Each of these subtasks has exactly one commit, the acknowledged one, and there are so many others; their ids.
    fn check_commits(&self, committed: &[&str], others: usize) -> Vec<String> {
        let log = self.stage.git(&[
            "log",
            "--first-parent",
            "--reverse",
            "--format=%H %s",
            "main..HEAD",
        ]);
        let commits: Vec<(&str, &str)> = log
            .lines()
            .filter_map(|line| line.split_once(' '))
            .collect();
        for id in committed {
            let marker = format!("(task {id})");
            let found = commits
                .iter()
                .filter(|(_, subject)| subject.ends_with(&marker))
                .count();
            self.same(&found, &1, &format!("commits of {id} in {commits:?}"));
        }
        self.same(
            &commits.len(),
            &(committed.len() + others),
            &format!("commits in all: {commits:?}"),
        );
        for (id, sha) in &self.commits {
            self.hold(
                commits.iter().any(|(commit, subject)| {
                    commit == sha && subject.ends_with(&format!("(task {id})"))
                }),
                &format!("the acknowledged commit {sha} of {id} is not on the branch: {commits:?}"),
            );
        }
        commits.iter().map(|(sha, _)| (*sha).to_owned()).collect()
    }

    /// The run goes on, these subtasks have exactly one commit each, and everything of the run is up to date.
    pub fn check_under_way(&mut self, committed: &[&str]) {
        let commits = self.check_commits(committed, 0);
        let statuses: Vec<(String, &str)> = self
            .stage
            .ids()
            .into_iter()
            .map(|id| {
                if committed.contains(&id.as_str()) {
                    (id, "done")
                } else {
                    (id, "pending")
                }
            })
            .collect();
        self.check_tasks(&statuses, "pending");
        self.same(
            &self
                .stage
                .git(&["diff", "--cached", "--name-status"])
                .as_str(),
            &"",
            "the index",
        );
        self.check_nothing_left();
        self.check_derived("running", &commits);
        self.check_journal(committed);
    }

    /// The tasks file has these statuses, and is otherwise as it was, to the byte.
    pub fn check_tasks(&self, statuses: &[(String, &str)], task: &str) {
        let text =
            fs::read_to_string(self.stage.project().join(".taskmaster/tasks/tasks.json")).unwrap();
        let tasks: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| self.fail(&format!("tasks.json: {error}")));
        let of: BTreeMap<String, String> = tasks["master"]["tasks"][0]["subtasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|subtask| {
                (
                    format!("1.{}", subtask["id"]),
                    subtask["status"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        let expected: BTreeMap<String, String> = statuses
            .iter()
            .map(|(id, status)| (id.clone(), (*status).to_owned()))
            .collect();
        self.same(&of, &expected, "statuses");
        self.same(
            &tasks["master"]["tasks"][0]["status"].as_str(),
            &Some(task),
            "the task's status",
        );
        let blank = |text: &str| {
            ["pending", "done", "review"]
                .iter()
                .fold(text.to_owned(), |text, status| {
                    text.replace(&format!("\"{status}\""), "\"-\"")
                })
        };
        self.same(
            &blank(&text),
            &blank(&self.stage.tasks()),
            "tasks.json beside the statuses",
        );
    }

    /// Working tree and index are clean, and no lock or temporary file is left.
    pub fn check_tree(&self) {
        self.check_tree_but(&[]);
    }

    /// The same, but for these files, which the index knows nothing new of.
    pub fn check_tree_but(&self, changed: &[&str]) {
        let stage = self.stage;
        let status = stage.git(&["status", "--porcelain", "--untracked-files=all"]);
        let found: Vec<&str> = status.lines().map(|line| line[2..].trim()).collect();
        let mut expected = changed.to_vec();
        expected.sort_by_key(|path| found.iter().position(|other| other == path));
        self.same(&found, &expected, "the tree");
        self.hold(
            !status.lines().any(|line| line.starts_with(" A")),
            &format!("added by name only: {status}"),
        );
        self.same(
            &stage.git(&["diff", "--cached", "--name-status"]).as_str(),
            &"",
            "the index",
        );
        self.check_nothing_left();
    }

    /// No lock of git and no temporary file of ours is left.
    pub fn check_nothing_left(&self) {
        let mut left = Vec::new();
        litter(&self.stage.project(), &mut left);
        // A folder that several runs share keeps what a kill left in it: another process may be at work there.
        for run in self.stage.runs() {
            litter(&run, &mut left);
        }
        self.same(&left, &Vec::new(), "left behind");
    }

    fn json(&self, name: &str) -> Value {
        let path = self.stage.run_folder().join(name);
        fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_else(|| self.fail(&format!("{name} of the run cannot be read")))
    }

    /// The report is there, and names these commits.
    fn check_report(&self, commits: &[String]) {
        let folder = self.stage.run_folder();
        self.same(
            &self.json("report.json")["commits"],
            &Value::from(commits.to_vec()),
            "commits in report.json",
        );
        let markdown = fs::read_to_string(folder.join("report.md")).unwrap_or_default();
        self.hold(
            markdown.starts_with("# Task 1: Words"),
            "report.md is not there",
        );
        self.hold(
            folder.join("snapshot.json").exists(),
            "snapshot.json is not there",
        );
    }

    /// Every file of the run is there, whole, and as new as the run.
    fn check_derived(&self, status: &str, commits: &[String]) {
        let folder = self.stage.run_folder();
        for name in ["state.json", "manifest.json"] {
            self.same(&self.json(name)["status"].as_str(), &Some(status), name);
        }
        self.same(
            &self.json("state.json")["totalCommits"],
            &Value::from(commits.len()),
            "commits in state.json",
        );
        let listed = fs::read_to_string(folder.join("commits.txt")).unwrap_or_default();
        self.same(
            &listed.lines().map(str::to_owned).collect::<Vec<_>>(),
            &commits.to_vec(),
            "commits.txt",
        );
        let workflow = fs::read_to_string(folder.join("workflow.yaml")).unwrap_or_default();
        self.hold(
            workflow.starts_with("tramline: 1"),
            "workflow.yaml is not there",
        );
        self.hold(
            !folder.join("git-process.json").exists(),
            "a git is said to be at work",
        );

        let units = self.json("work-units.json");
        let issued = self
            .journal()
            .iter()
            .filter(|event| event["event"] == "unit:issued")
            .count();
        let units = units.as_array().unwrap();
        self.same(&units.len(), &issued, &format!("units in {units:?}"));
        if status == "completed" && !self.history.contains("reopen") {
            self.hold(
                units.iter().all(|unit| unit["outcome"] != "open"),
                &format!("open units: {units:?}"),
            );
        }
        let current: Value =
            serde_json::from_slice(&fs::read(self.stage.current_run()).unwrap()).unwrap();
        self.same(
            &current["status"].as_str(),
            &Some(status),
            "current-run.json",
        );
    }

    /// The events of the newest run.
    pub fn journal(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.stage.run_folder().join("activity.jsonl")).unwrap();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The chain holds, and every accepted phase is in it once.
    fn check_journal(&self, committed: &[&str]) {
        let verified = self.stage.tm(&["log", "verify"]);
        let verified = verified.json();
        self.same(
            &verified["whole"],
            &Value::Bool(true),
            &format!("the journal: {verified}"),
        );
        self.same(&verified["tornBytes"], &Value::from(0), "torn bytes");
        let journal = self.journal();
        let count = |name: &str, id: &str| {
            journal
                .iter()
                .filter(|event| event["event"] == name && event["subtaskId"] == id)
                .count()
        };
        for id in committed {
            self.same(
                &count("commit:created", id),
                &1,
                &format!("commit:created of {id}"),
            );
            self.same(
                &count("subtask:complete", id),
                &1,
                &format!("subtask:complete of {id}"),
            );
            for phase in ["red", "green"] {
                let file = format!("test-results/subtask-{id}-{phase}.json");
                self.same(&self.json(&file)["accepted"], &Value::Bool(true), &file);
            }
        }
        let intended = journal
            .iter()
            .filter(|event| event["event"] == "effect:intended")
            .count();
        let settled = journal
            .iter()
            .filter(|event| event["event"] == "effect:done" || event["event"] == "effect:failed")
            .count();
        self.same(&settled, &intended, "settled effects");
    }
}

/// Names that only a process at work has a use for.
fn litter(folder: &Path, left: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            litter(&path, left);
        } else if Path::new(&name)
            .extension()
            .is_some_and(|end| end == "lock")
            || name.starts_with(".tramline-")
        {
            left.push(path.display().to_string());
        }
    }
}

/// A stage on which a run was begun and brought to this phase of this subtask.
pub fn brought_to<'a>(stage: &'a Stage, action: &str, id: &str) -> Executor<'a> {
    let mut executor = Executor::new(stage);
    assert!(executor.answer("start", "", None));
    for _ in 0..20 {
        let next = executor.next();
        let present = next["action"].as_str().unwrap_or_default().to_owned();
        let subtask = next
            .pointer("/subtask/id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        executor.work(&present, &subtask);
        if present == action && subtask == id {
            return executor;
        }
        assert!(executor.answer(&present, &subtask, None));
    }
    executor.fail("never came there")
}
