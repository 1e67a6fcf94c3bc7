//! Runs that are stopped, go on and are called off.

use std::io;

use serde_json::Value;

use super::{Act, Story, act, part, review, tdd};
use crate::stage::Stage;

const OVER: &[&str] = &["run_over"];

/// A test-driven run.
pub const TDD: Story = Story {
    name: "stop",
    prelude: &[act("start", &["autopilot", "start", "1"])],
    acts: &[
        Act {
            once: true,
            ..act("pause", &["autopilot", "pause", "--reason", "lunch"])
        },
        Act {
            once: true,
            ..act("resume", &["autopilot", "resume"])
        },
        Act {
            done_already: OVER,
            once: true,
            ..act("abort", &["autopilot", "abort"])
        },
    ],
    prepare: None,
    standing: tdd::standing,
    resume: &[],
    flushes: &[],
};

/// A session, which nobody pauses.
pub const REVIEW: Story = Story {
    name: "stop-review",
    prelude: &[act(
        "init",
        &["session", "init", "--name", "story", "-i", "request=hello"],
    )],
    acts: &[Act {
        done_already: OVER,
        once: true,
        ..act("cancel", &["session", "cancel"])
    }],
    prepare: None,
    standing: review::standing,
    resume: &[],
    flushes: &[],
};

/// A session of skills, by the generic verbs.
pub const GENERIC: Story = Story {
    name: "stop-run",
    prelude: &[act(
        "begin",
        &[
            "collab",
            "complete-skill",
            "collab-start",
            "--session",
            "story",
        ],
    )],
    acts: &[
        Act {
            once: true,
            ..act("pause", &["run", "pause", "--run-id", "story"])
        },
        Act {
            once: true,
            ..act("resume", &["run", "resume", "--run-id", "story"])
        },
        Act {
            done_already: OVER,
            once: true,
            ..act("abort", &["run", "abort", "--run-id", "story"])
        },
    ],
    prepare: None,
    standing,
    resume: &[],
    flushes: &[],
};

fn standing(stage: &Stage) -> io::Result<Value> {
    let mut status = stage.tm(&["run", "status", "--run-id", "story"], "")?.json;
    status["next"] = part(&status["nextAction"], &["action", "unitId"]);
    Ok(part(&status, &["status", "items", "next"]))
}
