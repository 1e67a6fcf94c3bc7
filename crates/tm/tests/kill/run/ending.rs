//! What holds at the end of a run, whoever died on the way.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::executor::Executor;
use super::stage::{Stage, tasks};

impl Executor<'_> {
    #[allow(
        clippy::needless_pass_by_value,
        reason = "an expected value is written where it is expected"
    )]
    fn same<T: PartialEq + Debug>(&self, what: &str, found: T, expected: T) {
        if found != expected {
            self.fail(&format!("{what}: {found:?} instead of {expected:?}"));
        }
    }

    /// Goes on to this phase of this subtask, and does its work.
    pub fn come_to(&mut self, unit: (&str, &str)) {
        for _ in 0..20 {
            let (action, id) = self.present();
            self.work(&action, &id);
            if (&*action, &*id) == unit {
                return;
            }
            assert!(self.answer(&action, &id, None));
        }
        self.fail("never came there")
    }

    /// Works the run off with nobody dying, and has a look at its end.
    pub fn completes(&mut self) {
        self.finish_in_peace();
        self.check_completed();
    }

    /// The run is complete, each subtask has exactly one commit, and nothing is left lying about.
    pub fn check_completed(&self) {
        let ids = self.stage.ids();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.check_ended("completed", &ids);
    }

    /// The run ended so, and these subtasks were committed.
    pub fn check_ended(&self, status: &str, committed: &[&str]) {
        let completed = status == "completed";
        let commits = self.check_commits(committed, usize::from(completed));
        self.check_tasks(committed, if completed { "review" } else { "pending" });
        self.check_tree(&[]);
        self.check_derived(status, &commits);
        let reported = self.json("report.json")["commits"].take();
        self.same("commits in report.json", reported, Value::from(commits));
        let report = self.text("report.md");
        self.same("report.md", report.starts_with("# Task 1: Words"), true);
        let snapshot = self.stage.run_folder().join("snapshot.json");
        self.same("snapshot.json", snapshot.exists(), true);
        self.check_journal(committed);
    }

    /// The run goes on, these subtasks have exactly one commit each, and everything of the run is up to date.
    pub fn check_under_way(&self, committed: &[&str]) {
        let commits = self.check_commits(committed, 0);
        self.check_tasks(committed, "pending");
        self.check_index();
        self.check_nothing_left();
        self.check_derived("running", &commits);
        self.check_journal(committed);
    }

    /// Each of these subtasks has exactly one commit, the acknowledged one, and there are so many others; their ids.
    fn check_commits(&self, committed: &[&str], others: usize) -> Vec<String> {
        let words = "log --first-parent --reverse --format=%H!%s main..HEAD";
        let log = self.stage.git(&words.split(' ').collect::<Vec<_>>());
        let commits: Vec<_> = log
            .lines()
            .filter_map(|line| line.split_once('!'))
            .collect();
        let of = |id: &str| {
            let marker = format!("(task {id})");
            let found = commits
                .iter()
                .filter(|(_, subject)| subject.ends_with(&marker));
            found.map(|(sha, _)| *sha).collect::<Vec<_>>()
        };
        for id in committed {
            self.same(&format!("commits of {id} in {log}"), of(id).len(), 1);
        }
        let all = committed.len() + others;
        self.same(&format!("commits in all: {log}"), commits.len(), all);
        for (id, sha) in &self.commits {
            self.same(&log, of(id), vec![sha.as_str()]);
        }
        commits.iter().map(|(sha, _)| (*sha).to_owned()).collect()
    }

    /// In the tasks file these subtasks are done, and the task is so; it is otherwise as it was, to the byte.
    pub fn check_tasks(&self, committed: &[&str], task: &str) {
        let text = self.stage.read(".taskmaster/tasks/tasks.json");
        let expected = tasks(self.stage.subtasks, committed, task);
        self.same("tasks.json", text, expected);
    }

    /// Working tree and index are clean but for these files, and no lock or temporary file is left.
    pub fn check_tree(&self, changed: &[&str]) {
        let stage = self.stage;
        let status = stage.git(&["status", "--porcelain", "--untracked-files=all"]);
        let mut found: Vec<&str> = status.lines().map(|line| line[2..].trim()).collect();
        found.sort_unstable();
        self.same("the tree", &found[..], changed);
        let by_name_only = status.lines().any(|line| line.starts_with(" A"));
        self.same(
            &format!("added by name only: {status}"),
            by_name_only,
            false,
        );
        self.check_index();
        self.check_nothing_left();
    }

    fn check_index(&self) {
        let staged = self.stage.git(&["diff", "--cached", "--name-status"]);
        self.same("the index", &*staged, "");
    }

    /// No lock of git and no temporary file of ours is left.
    pub fn check_nothing_left(&self) {
        let mut left = Vec::new();
        litter(&self.stage.project(), &mut left);
        // A folder that several runs share keeps what a kill left in it: another process may be at work there.
        for run in self.stage.runs() {
            litter(&run, &mut left);
        }
        self.same("left behind", left, Vec::new());
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.stage.run_folder().join(name)).unwrap_or_default()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name))
            .unwrap_or_else(|_| self.fail(&format!("{name} of the run cannot be read")))
    }

    /// Every file of the run is there, whole, and as new as the run.
    fn check_derived(&self, status: &str, commits: &[String]) {
        let current = self.stage.current_run();
        for name in ["state.json", "manifest.json", current.to_str().unwrap()] {
            self.same(name, self.json(name)["status"].as_str(), Some(status));
        }
        let total = self.json("state.json")["totalCommits"].take();
        self.same("commits in state.json", total, commits.len().into());
        let listed = self.text("commits.txt");
        let listed: Vec<&str> = listed.lines().collect();
        self.same(
            "commits.txt",
            listed,
            commits.iter().map(String::as_str).collect(),
        );
        let workflow = self.text("workflow.yaml");
        self.same("workflow.yaml", workflow.starts_with("tramline: 1"), true);
        let at_work = self.stage.run_folder().join("git-process.json").exists();
        self.same("a git is said to be at work", at_work, false);

        let units = self.json("work-units.json");
        let rows = units.as_array().unwrap();
        let issued = self.count(|event| event["event"] == "unit:issued");
        self.same(&format!("units in {units}"), rows.len(), issued);
        if status == "completed" && !self.history.contains("reopen") {
            let open = rows.iter().any(|unit| unit["outcome"] == "open");
            self.same(&format!("open units: {units}"), open, false);
        }
    }

    /// How many events of the newest run are so.
    pub fn count(&self, is: impl Fn(&Value) -> bool) -> usize {
        let journal = self.text("activity.jsonl");
        let events = journal
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        events.filter(is).count()
    }

    /// The chain holds, and every accepted phase is in it once.
    fn check_journal(&self, committed: &[&str]) {
        let verified = self.stage.tm(&["log", "verify"]);
        let verified = verified.json();
        let told = (&verified["whole"], &verified["tornBytes"]);
        let what = format!("the journal: {verified}");
        self.same(&what, told, (&true.into(), &0.into()));
        for id in committed {
            for name in ["commit:created", "subtask:complete"] {
                let of = |event: &Value| event["event"] == name && event["subtaskId"] == *id;
                self.same(&format!("{name} of {id}"), self.count(of), 1);
            }
            for phase in ["red", "green"] {
                let file = format!("test-results/subtask-{id}-{phase}.json");
                self.same(&file, self.json(&file)["accepted"].take(), true.into());
            }
        }
        let intended = self.count(|event| event["event"] == "effect:intended");
        let settled = self
            .count(|event| event["event"] == "effect:done" || event["event"] == "effect:failed");
        self.same("settled effects", settled, intended);
    }
}

/// Names that only a process at work has a use for.
fn litter(folder: &Path, left: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let locks = path.extension().is_some_and(|end| end == "lock");
        if path.is_dir() {
            litter(&path, left);
        } else if locks
            || entry
                .file_name()
                .to_string_lossy()
                .starts_with(".tramline-")
        {
            left.push(path.display().to_string());
        }
    }
}

/// A stage on which a run was begun and brought to this phase of this subtask.
pub fn brought_to<'a>(stage: &'a Stage, action: &str, id: &str) -> Executor<'a> {
    let mut executor = Executor::new(stage);
    executor.come_to((action, id));
    executor
}
