//! A task of two subtasks, from its branch to the end.

use std::io;

use serde_json::{Value, json};

use super::{Act, Story, act, part};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "tdd",
    prelude: &[],
    acts: TDD,
    prepare: None,
    standing,
    resume: &["autopilot", "resume"],
    flushes: &[19, 3, 3, 4, 5, 4, 3, 3, 4, 3],
};

pub(super) const RED: &[&str] = &[
    "autopilot",
    "complete",
    "red",
    "--results",
    "failed:1,passed:0",
];
pub(super) const GREEN: &[&str] = &[
    "autopilot",
    "complete",
    "green",
    "--results",
    "failed:0,passed:1",
];

pub(super) const TDD: &[Act] = &[
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
        done_already: &["not_found"],
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

/// Where a run over a task stands, and its branch.
pub(super) fn standing(stage: &Stage) -> io::Result<Value> {
    let status = stage.tm(&["autopilot", "status"], "")?.json;
    let next = &status["nextAction"];
    // A git that dies over the files of the working tree leaves some of them away, until the step is done again.
    Ok(json!({
        "status": part(&status, &["currentPhase", "progress", "commits"]),
        "next": part(next, &["action", "unitId", "attempt"]),
        "log": stage.git(&["log", "--format=%s%n%T", "main..HEAD"]).unwrap_or_default(),
        "branch": stage.git(&["branch", "--show-current"])?,
        "tree": stage.git(&["status", "--porcelain"])?,
        "tasks": std::fs::read_to_string(stage.project().join(".taskmaster/tasks/tasks.json")).unwrap_or_default(),
    }))
}
