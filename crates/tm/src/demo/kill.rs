//! A commit that is killed halfway.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use engine::Fault;
use journal::layout::Home;

use super::stage::{FinishedCommand, Stage, command_line, unexpected};

/// A hook that takes a second, so that there is a middle in which to kill.
const SLOW_HOOK: &str = "#!/bin/sh\n: > .git/hook-is-running\nsleep 1\n";

/// How long to wait for the commit to be under way.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a commit and kills it with SIGKILL once its intent is in the journal and git is at work.
pub fn commit(stage: &Stage, run: &str, subtask: &str) -> Result<FinishedCommand, Fault> {
    let journal = journal_path(stage, run)?;
    let before = intents(&journal)?;
    stage.write(".git/hooks/pre-commit", SLOW_HOOK)?;
    let hook = stage.repository().join(".git/hooks/pre-commit");
    make_executable(&hook).map_err(|error| {
        Fault::environment("io_failed", "the hook could not be made executable", &error)
    })?;
    let arguments = ["autopilot", "commit", subtask];
    let mut child = stage
        .program(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            Fault::environment(
                "io_failed",
                "this program could not be started again",
                &error,
            )
        })?;
    let mark = stage.repository().join(".git/hook-is-running");
    let deadline = Instant::now() + PATIENCE;
    let under_way = loop {
        if mark.exists() && intents(&journal)? > before {
            break true;
        }
        let ended = child.try_wait().ok().flatten().is_some();
        if ended || Instant::now() > deadline {
            break false;
        }
        thread::sleep(Duration::from_millis(2));
    };
    // A process that has ended already cannot be killed, which is told below.
    let _ = child.kill();
    let status = child.wait().map_err(|error| {
        Fault::environment(
            "io_failed",
            "the killed process could not be waited for",
            &error,
        )
    })?;
    // The next commit has no use for it.
    let _ = fs::remove_file(&hook);
    let called = FinishedCommand {
        line: command_line(&arguments),
        status: status.code(),
        answer: serde_json::Value::Null,
    };
    if under_way && called.status.is_none() {
        Ok(called)
    } else {
        Err(unexpected(format!(
            "{} was not killed in the middle: {status}",
            called.line
        )))
    }
}

fn journal_path(stage: &Stage, run: &str) -> Result<PathBuf, Fault> {
    let project = Home::new(stage.home())
        .find_project(stage.repository())?
        .ok_or_else(|| unexpected("the run has no folder"))?;
    Ok(project.run(run)?.journal_path())
}

/// How many effects were intended so far.
fn intents(journal: &std::path::Path) -> Result<usize, Fault> {
    let text = fs::read(journal).map_err(|error| {
        Fault::environment("io_failed", "the journal could not be read", &error)
    })?;
    Ok(String::from_utf8_lossy(&text)
        .matches("\"event\":\"effect:intended\"")
        .count())
}

fn make_executable(path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
