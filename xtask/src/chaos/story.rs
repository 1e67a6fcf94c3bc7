//! What is played: a run of each of the rails, command by command.

use std::io;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The rails that a story is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rails {
    /// A task of two subtasks, from its branch to the end
    Tdd,
    /// A session with a failed review, to its completion
    Review,
    /// A session of skills with two items, to its first batch
    Collab,
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
    /// Codes with which its repetition may be refused: it was done already.
    pub done_already: &'static [&'static str],
    /// Parts of the standing that may stay behind where a call failed: what could not be written is told, and owed.
    pub best_effort: &'static [&'static str],
}

const fn act(name: &'static str, words: &'static [&'static str]) -> Act {
    Act {
        name,
        words,
        input: "",
        files: &[],
        done_already: &[],
        best_effort: &[],
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

const BUNDLE: &str = "<<<FILE: greet.sh>>>\n#!/bin/sh\necho hello\n";
const BETTER: &str = "<<<FILE: greet.sh>>>\n#!/bin/sh\necho \"hello $1\"\n";
const FAIL: &str = "It greets nobody.\n\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
const PASS: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
const ITEMS: &str = r#"[{"number": 1, "title": "One", "type": "bugfix"}, {"number": 2, "title": "Two", "type": "task"}]"#;

const RED: &[&str] = &[
    "autopilot",
    "complete",
    "red",
    "--results",
    "failed:1,passed:0",
];
const GREEN: &[&str] = &[
    "autopilot",
    "complete",
    "green",
    "--results",
    "failed:0,passed:1",
];

const TDD: &[Act] = &[
    Act {
        done_already: &["run_active"],
        ..act("start", &["autopilot", "start", "1"])
    },
    Act {
        files: &[("tests/count.sh", "false\n")],
        ..act("red1", RED)
    },
    Act {
        files: &[("src/count.sh", "true\n")],
        ..act("green1", GREEN)
    },
    act("commit1", &["autopilot", "commit"]),
    Act {
        // There is no commit any more that could be taken back.
        done_already: &["unknown_step"],
        ..act("back", &["autopilot", "rewind", "last-commit"])
    },
    act("commit1-again", &["autopilot", "commit"]),
    Act {
        files: &[("tests/find.sh", "false\n")],
        ..act("red2", RED)
    },
    Act {
        files: &[("src/find.sh", "true\n"), ("src/count.sh", "true # too\n")],
        ..act("green2", GREEN)
    },
    act("commit2", &["autopilot", "commit"]),
    Act {
        best_effort: &["status", "log", "tree", "tasks"],
        ..act(
            "finalize",
            &["autopilot", "finalize", "--results", "failed:0,passed:2"],
        )
    },
];

const STEP: &[&str] = &["session", "step"];
const RESPOND: &[&str] = &["session", "respond", "-"];

const fn step(name: &'static str) -> Act {
    act(name, STEP)
}

const fn respond(name: &'static str, input: &'static str) -> Act {
    Act {
        input,
        ..act(name, RESPOND)
    }
}

const REVIEW: &[Act] = &[
    act(
        "init",
        &["session", "init", "--name", "story", "-i", "request=hello"],
    ),
    step("plan"),
    respond("planned", "# Plan\n\nSay hello.\n"),
    step("take-plan"),
    step("begin"),
    respond("generated", BUNDLE),
    step("take-code"),
    step("review"),
    respond("reviewed", FAIL),
    step("take-review"),
    step("revise"),
    respond("revised", BETTER),
    step("take-revision"),
    step("review-again"),
    respond("reviewed-again", PASS),
    step("take-verdict"),
    step("end"),
];

const COLLAB: &[Act] = &[
    act(
        "begin",
        &[
            "collab",
            "complete-skill",
            "collab-start",
            "--session",
            "story",
        ],
    ),
    act("items", &["collab", "update", "--work-items", ITEMS]),
    act(
        "goals",
        &["collab", "complete-skill", "gather-session-goals"],
    ),
    act(
        "clear1",
        &[
            "collab",
            "complete-skill",
            "collab-clear",
            "--unit-id",
            "clear-pre-item",
        ],
    ),
    act(
        "debug",
        &["collab", "complete-skill", "systematic-debugging"],
    ),
];

impl Rails {
    /// How many flushes of files and folders in the store each command needs: what an answer rests on, and nothing less. A
    /// change that needs fewer has to say why.
    pub fn flushes(self) -> &'static [usize] {
        match self {
            Self::Tdd => &[19, 3, 3, 4, 5, 4, 3, 3, 4, 3],
            Self::Review => &[14, 5, 2, 7, 7, 2, 9, 1, 2, 3, 10, 2, 3, 7, 2, 3, 1],
            Self::Collab => &[14, 1, 1, 1, 1],
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tdd, Self::Review, Self::Collab];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tdd => "tdd",
            Self::Review => "review",
            Self::Collab => "collab",
        }
    }

    /// Its commands, in order.
    pub fn acts(self) -> &'static [Act] {
        match self {
            Self::Tdd => TDD,
            Self::Review => REVIEW,
            Self::Collab => COLLAB,
        }
    }

    /// Makes what is there before the first of them, whichever rails it is.
    pub fn prepare(stage: &Stage) -> io::Result<()> {
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
        Ok(())
    }

    /// Where everything stands, without times and ids: what two ways to the same place have in common.
    pub fn standing(self, stage: &Stage) -> io::Result<Value> {
        let ask = |words: &[&str]| stage.tm(words, "").map(|ran| ran.json);
        let part = |value: &Value, names: &[&str]| -> Value {
            names
                .iter()
                .map(|name| ((*name).to_owned(), value[*name].clone()))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        Ok(match self {
            Self::Tdd => {
                let status = ask(&["autopilot", "status"])?;
                let next = &status["nextAction"];
                // A git that dies over the files of the working tree leaves some of them away, until the step is done again.
                json!({
                    "status": part(&status, &["currentPhase", "progress", "commits"]),
                    "next": part(next, &["action", "unitId", "attempt"]),
                    "log": stage.git(&["log", "--format=%s%n%T", "main..HEAD"]).unwrap_or_default(),
                    "branch": stage.git(&["branch", "--show-current"])?,
                    "tree": stage.git(&["status", "--porcelain"])?,
                    "tasks": std::fs::read_to_string(stage.project().join(".taskmaster/tasks/tasks.json")).unwrap_or_default(),
                })
            }
            Self::Review => {
                let status = ask(&["session", "status"])?;
                part(
                    &status,
                    &[
                        "phase",
                        "status",
                        "current_iteration",
                        "artifacts_total",
                        "waiting_for",
                    ],
                )
            }
            Self::Collab => {
                let state = ask(&["collab", "state", "--full"])?;
                part(&state, &["state", "unitId", "items", "batches", "tasks"])
            }
        })
    }
}
