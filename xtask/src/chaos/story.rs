//! What is played: command by command, from a repository with one task.

mod collab;
mod export;
mod reopen;
mod review;
mod rewind;
mod setup;
mod skip;
mod stop;
mod submit;
mod tdd;

use std::io;

use serde_json::{Map, Value};

use crate::stage::Stage;

/// A story: commands that are played in peace, then those that are tried.
#[derive(Debug)]
pub struct Story {
    /// Its name.
    pub name: &'static str,
    /// The commands that lead to the first one that is tried. No fault strikes them.
    pub prelude: &'static [Act],
    /// The commands that are tried, in order.
    pub acts: &'static [Act],
    /// What there is before the first command, beside the repository.
    pub prepare: Option<fn(&Stage) -> io::Result<()>>,
    /// Where everything stands, without times and ids: what two ways to the same place have in common.
    pub standing: fn(&Stage) -> io::Result<Value>,
    /// The command that has a run go on that a failure has paused; none where that is what is tried.
    pub resume: &'static [&'static str],
    /// How many flushes of files and folders in the store each command needs: what an answer rests on, and nothing less. A
    /// change that needs fewer has to say why. Where it is empty, only faults are tried.
    pub flushes: &'static [usize],
}

/// All stories. A new one is a module with its `STORY`, and a line here.
pub const ALL: &[&Story] = &[
    &tdd::STORY,
    &review::STORY,
    &collab::STORY,
    &submit::STORY,
    &setup::STORY,
    &export::STORY,
    &rewind::STORY,
    &skip::TDD,
    &skip::COLLAB,
    &reopen::TDD,
    &reopen::COLLAB,
    &stop::TDD,
    &stop::REVIEW,
    &stop::GENERIC,
];

/// The story of this name.
pub fn named(name: &str) -> Result<&'static Story, String> {
    let found = ALL.iter().find(|story| story.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|story| story.name).collect();
        format!("there are: {}", names.join(", "))
    })
}

/// One command, and what is done before it.
#[derive(Debug, Clone, Copy)]
pub struct Act {
    /// What it is called in the name of a place.
    pub name: &'static str,
    /// The words of the command line.
    pub words: &'static [&'static str],
    /// What it reads from its standard input.
    pub input: &'static str,
    /// Files of the repository that are written first.
    pub files: &'static [(&'static str, &'static str)],
    /// Those of them that are staged.
    pub staged: &'static [&'static str],
    /// Codes with which its repetition may be refused: it was done already.
    pub done_already: &'static [&'static str],
    /// Parts of the standing that may stay behind where a call failed: what could not be written is told, and owed.
    pub best_effort: &'static [&'static str],
    /// Whether its repetition changes nothing once it was done, answered or not. Without that the repetition of what was done
    /// may take the next step.
    pub once: bool,
}

const fn act(name: &'static str, words: &'static [&'static str]) -> Act {
    Act {
        name,
        words,
        input: "",
        files: &[],
        staged: &[],
        done_already: &[],
        best_effort: &[],
        once: false,
    }
}

impl Act {
    /// Writes its files, and stages what is to be staged.
    pub fn prepare(&self, stage: &Stage) -> io::Result<()> {
        let mut files = self.files.iter();
        files.try_for_each(|(path, text)| stage.write(path, text))?;
        let mut staged = self.staged.iter();
        staged.try_for_each(|path| stage.git(&["add", path]).map(drop))
    }
}

const TASKS: &str = r#"{
  "master": { "tasks": [
    { "id": 1, "title": "Words", "status": "pending", "subtasks": [
      { "id": 1, "title": "Count", "status": "pending" },
      { "id": 2, "title": "Find", "status": "pending", "dependencies": [1] }
    ] }
  ] }
}
"#;

/// These fields of an answer.
fn part(value: &Value, names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| ((*name).to_owned(), value[*name].clone()))
        .collect::<Map<_, _>>()
        .into()
}

impl Story {
    /// Makes what is there before the first command.
    pub fn begin(&self, stage: &Stage) -> io::Result<()> {
        stage.write(".taskmaster/tasks/tasks.json", TASKS)?;
        stage.write(
            ".taskmaster/config.json",
            r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"policy": {"draft_missing": "off"}}}"#,
        )?;
        stage.write("README.md", "words\n")?;
        for words in [
            &["init", "--quiet", "--template="][..],
            &["symbolic-ref", "HEAD", "refs/heads/main"],
            &["config", "user.name", "Somebody"],
            &["config", "user.email", "somebody@localhost"],
            &["add", "--all"],
            &["commit", "--quiet", "--no-verify", "--message", "Begin"],
        ] {
            stage.git(words)?;
        }
        self.prepare.map_or(Ok(()), |prepare| prepare(stage))
    }

    /// Where everything stands.
    pub fn standing(&self, stage: &Stage) -> io::Result<Value> {
        (self.standing)(stage)
    }
}
