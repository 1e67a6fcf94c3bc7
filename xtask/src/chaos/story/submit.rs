//! A run that is handed over, and what others say of it taken in.

use std::fs;
use std::io;

use serde_json::{Value, json};

use super::tdd::{self, TDD};
use super::{Act, Story, act};
use crate::stage::Stage;

/// The story.
pub const STORY: Story = Story {
    name: "submit",
    prelude: &[
        TDD[0], TDD[1], TDD[2], TDD[3], TDD[6], TDD[7], TDD[8], TDD[9],
    ],
    acts: SUBMIT,
    prepare: Some(prepare),
    standing,
    resume: &["autopilot", "resume"],
    flushes: &[],
};

/// The programs of a forge.
const FORGE: &str = include_str!("../../../../testkit/src/forge.sh");

const FAILED: &str = r#"{"check_runs":[{"name":"lint","status":"completed","conclusion":"failure","html_url":"https://github.com/o/r/runs/1"}]}"#;

const SUBMIT: &[Act] = &[
    Act {
        once: true,
        ..act("submit", &["autopilot", "submit"])
    },
    Act {
        files: &[("../elsewhere/forge/checks.json", FAILED)],
        done_already: &["not_possible", "run_active"],
        ..act("feedback", &["autopilot", "feedback"])
    },
];

/// A forge elsewhere, with a repository that has the branch `main`.
fn prepare(stage: &Stage) -> io::Result<()> {
    for name in ["calls", "requests"] {
        fs::create_dir_all(stage.elsewhere().join("forge").join(name))?;
    }
    for name in ["always", "once"] {
        fs::write(stage.elsewhere().join("forge").join(name), "")?;
    }
    stage.write_program("gh", FORGE)?;
    let remote = stage.elsewhere().join("remote.git");
    let at = remote.to_string_lossy();
    let url = "https://github.com/o/r.git";
    for words in [
        &["init", "--quiet", "--bare", "--template=", &at][..],
        &["--git-dir", &at, "symbolic-ref", "HEAD", "refs/heads/main"],
        // It is on another machine, whose power stays.
        &["--git-dir", &at, "config", "core.fsync", "all"],
        // What goes on in the background would hold the place of the story.
        &["config", "maintenance.auto", "false"],
        &["config", "gc.auto", "0"],
        &["remote", "add", "origin", url],
        &["config", &format!("url.{at}.insteadOf"), url],
        &["push", "--quiet", "origin", "HEAD:refs/heads/main"],
    ] {
        stage.git(words)?;
    }
    Ok(())
}

/// Where the run stands, what the remote has, and the pull requests.
fn standing(stage: &Stage) -> io::Result<Value> {
    let mut all = tdd::standing(stage)?;
    let remote = stage.elsewhere().join("remote.git");
    let format = "--format=%(refname) %(tree)";
    let branches = [
        "--git-dir",
        &remote.to_string_lossy(),
        "for-each-ref",
        format,
        "refs/heads",
    ];
    all["remote"] = stage.git(&branches)?.into();
    let requests = fs::read_dir(stage.elsewhere().join("forge/requests"))?;
    all["requests"] = json!(requests.count());
    // A lock that was left on what is known of the remote.
    all["fetch"] = stage.git(&["fetch", "--quiet", "origin"]).is_ok().into();
    Ok(all)
}
