//! A session with a failed review, to its completion.

use std::io;

use serde_json::Value;

use super::{Act, Story, act, part};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "review",
    prelude: &[],
    acts: REVIEW,
    prepare: None,
    standing,
    resume: &[],
    flushes: &[14, 5, 2, 7, 7, 2, 9, 1, 2, 3, 10, 2, 3, 7, 2, 3, 1],
};

const BUNDLE: &str = "<<<FILE: greet.sh>>>\n#!/bin/sh\necho hello\n";
const BETTER: &str = "<<<FILE: greet.sh>>>\n#!/bin/sh\necho \"hello $1\"\n";
const FAIL: &str = "It greets nobody.\n\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
const PASS: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
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

pub(super) const REVIEW: &[Act] = &[
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

/// Where a session stands.
pub(super) fn standing(stage: &Stage) -> io::Result<Value> {
    let status = stage.tm(&["session", "status"], "")?.json;
    Ok(part(
        &status,
        &[
            "phase",
            "status",
            "current_iteration",
            "artifacts_total",
            "waiting_for",
        ],
    ))
}
