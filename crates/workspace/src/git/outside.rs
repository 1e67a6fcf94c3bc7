//! What git is asked outside of any repository.

use std::path::Path;
use std::time::Duration;

use crate::process::{Ended, How, Program, ProgramError, run};

/// How long git may take to say its version.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The version of git, its first two numbers; none where there is no git, or it says something else.
pub fn version() -> Option<[u32; 2]> {
    let said = ask(&["--version"], Path::new("/"), AT_ONCE).ok()?.stdout;
    let said = String::from_utf8(said).ok()?;
    let mut numbers = said.strip_prefix("git version ")?.split('.');
    Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
}

/// The names of the tags that a remote has and that fit a pattern.
///
/// # Errors
/// What git said where it cannot be reached, or took longer than `limit`.
pub fn remote_tags(url: &str, pattern: &str, limit: Duration) -> Result<Vec<String>, String> {
    // A folder that is nobody's repository: its settings would count.
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let command = ["ls-remote", "--tags", "--refs", "--", url, pattern];
    let ended = ask(&command, folder.path(), limit).map_err(|error| error.to_string())?;
    if ended.how == How::TimedOut {
        return Err(format!("no answer within {} s", limit.as_secs()));
    }
    if !ended.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(said.lines().next().unwrap_or("no answer").to_owned());
    }
    let said = String::from_utf8_lossy(&ended.stdout);
    let names = said
        .lines()
        .filter_map(|line| line.split_once("refs/tags/"));
    Ok(names.map(|(_, name)| name.to_owned()).collect())
}

fn ask(arguments: &[&str], folder: &Path, limit: Duration) -> Result<Ended, ProgramError> {
    let argv = ["git"].iter().chain(arguments).map(|word| (*word).into());
    let variables = [
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_CEILING_DIRECTORIES", "/"),
        ("LC_ALL", "C"),
    ];
    run(&Program {
        argv: argv.collect(),
        cwd: folder.to_owned(),
        env: variables
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        whole_environment: false,
        stdin: Vec::new(),
        timeout: limit,
        max_stdout: 1024 * 1024,
        max_stderr: 4096,
    })
}
