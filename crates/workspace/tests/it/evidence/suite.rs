//! Test commands that are run, good ones and others.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use testkit::files::{write, write_program};
use workspace::process::Cancellation;
use workspace::suite::{CommandError, How, SuiteError, SuiteRan, SuiteRun, run_suite};

use crate::ends;

fn suite<'s>(folder: &'s Path, command: &'s str, timeout: Duration) -> SuiteRun<'s> {
    SuiteRun {
        command,
        line: None,
        cwd: folder,
        timeout,
        cancelled: Cancellation::default(),
        env: Vec::new(),
    }
}

fn run_in(folder: &Path, command: &str) -> Result<SuiteRan, SuiteError> {
    run_suite(&suite(folder, command, Duration::from_mins(1)))
}

fn ran(command: &str) -> SuiteRan {
    run_in(Path::new("/"), command).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn words_reach_the_program_as_they_are_written() {
    let ran = ran(r#"printf '%s|' a 'b c' "d 'e'" f\ g '*' '$HOME' '' ünï"#);
    assert!(ran.success());
    assert_eq!(text(&ran.stdout), "a|b c|d 'e'|f g|*|$HOME||ünï|");
    assert_eq!(ran.both, ran.stdout);
    assert!(ran.stderr.is_empty() && ran.left_out == 0);
}

#[test]
fn a_shell_is_there_for_those_who_say_so() {
    let ran = ran("sh -c 'for i in 1 2; do echo $i; done | tr 12 ab && exit 3'");
    assert_eq!((text(&ran.stdout), ran.how), ("a\nb\n", How::Exited(3)));
    let error = run_in(Path::new("/"), "true && true").unwrap_err();
    assert!(
        matches!(&error, SuiteError::Command(CommandError::NeedsShell { .. })),
        "{error:?}"
    );
    assert!(error.suggestion().contains("sh -c 'true && true'"));
}

#[test]
fn the_environment_is_this_one_with_what_is_given() {
    let command = "BOTH=command ONE='a b' env";
    let mut run = suite(Path::new("/"), command, Duration::from_mins(1));
    run.env = vec![("BOTH".into(), "caller".into()), ("TWO".into(), "2".into())];
    let ran = run_suite(&run).unwrap();
    let printed = text(&ran.stdout);
    for line in ["BOTH=command", "ONE=a b", "TWO=2"] {
        assert!(printed.lines().any(|printed| printed == line), "{line}");
    }
    // What the tests of this very project are started with reaches those of others.
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG")) {
        assert!(printed.contains(&format!("{name}=")), "{name}");
    }
}

#[test]
fn a_callers_git_does_not_reach_the_tests() {
    const NAMES: [&str; 4] = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
    ];
    // A process of its own, as a test cannot change the environment it shares with others.
    if std::env::var_os("SUITE_PROBE").is_some() {
        assert!(std::env::var_os("GIT_DIR").is_some());
        let ran = ran("env");
        let printed = text(&ran.stdout);
        for name in NAMES {
            assert!(!printed.contains(&format!("{name}=")), "{name}");
        }
        assert!(printed.contains("GIT_AUTHOR_NAME=kept"));
        return;
    }
    let status = itself("evidence::suite::a_callers_git_does_not_reach_the_tests")
        .env("SUITE_PROBE", "1")
        .envs(NAMES.map(|name| (name, "/nowhere")))
        .env("GIT_AUTHOR_NAME", "kept")
        .status();
    assert!(status.unwrap().success());
}

/// This test program, to run one test of it.
fn itself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.stdout(Stdio::null());
    command
}

#[test]
fn both_streams_are_kept_together_and_apart() {
    let ran = ran("sh -c 'echo one; echo two >&2; printf thr; echo four >&2; echo ee; printf end'");
    assert_eq!(text(&ran.stdout), "one\nthree\nend");
    assert_eq!(text(&ran.stderr), "two\nfour\n");
    let mut lines: Vec<&str> = text(&ran.both).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["end", "four", "one", "three", "two"]);
    let digest = Sha256::digest(&ran.both);
    let digest: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(ran.sha256, digest.concat());
}

#[test]
fn it_is_told_how_it_ended() {
    for (command, how) in [
        // Nothing is to be read.
        ("cat", How::Exited(0)),
        ("false", How::Exited(1)),
        ("sh -c 'exit 101'", How::Exited(101)),
        ("sh -c 'kill -SEGV $$'", How::Signalled(11)),
    ] {
        assert_eq!(ran(command).how, how, "{command}");
    }
}

#[test]
fn a_flood_does_not_end_it() {
    // 100 MB in lines, between a first and a last one; a few words on the other stream come through untouched.
    let ran = ran(
        "sh -c 'echo first; echo noise >&2; yes \"a line that says the same again and again\" | head -c 100000000; echo; echo last'",
    );
    assert!(ran.success());
    assert!(ran.both.len() <= (64 << 20) + 100);
    // How long the line is that tells of what was left out.
    let mark = "[… ".as_bytes();
    let mut windows = ran.stdout.windows(mark.len());
    let at = windows.position(|window| window == mark).unwrap();
    let gap = ran.stdout[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let all = ran.stdout_left_out + ran.stdout.len() as u64;
    assert_eq!(all, 100_000_012 + gap as u64);
    assert!(ran.left_out > 0 && ran.stderr_left_out == 0);
    assert_eq!(ran.stderr, b"noise\n");
    assert!(ran.stdout.starts_with(b"first\n") && ran.stdout.ends_with(b"\nlast\n"));
}

#[test]
fn at_the_time_limit_the_whole_group_is_ended() {
    let begun = Instant::now();
    // Both are deaf to the polite request; the inner one holds the outputs. A shell is needed for `$!`.
    let command =
        "sh -c \"trap '' TERM; (trap '' TERM; exec sleep 60) & echo \\$!; wait; sleep 60\"";
    let limit = Duration::from_millis(300);
    let ran = run_suite(&suite(Path::new("/"), command, limit)).unwrap();
    assert_eq!(ran.how, How::TimedOut);
    assert!(ran.duration >= limit && begun.elapsed() < Duration::from_secs(20));
    let child = text(&ran.stdout).trim();
    assert!(!child.is_empty() && ends(child), "{child} lives on");
}

#[test]
fn what_it_leaves_running_is_ended() {
    let begun = Instant::now();
    let ran = ran("sh -c '(exec sleep 60) & echo $!'");
    assert!(ran.success());
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(ends(text(&ran.stdout).trim()));
}

#[test]
fn when_this_process_is_killed_the_group_is_ended() {
    if let Some(file) = std::env::var_os("SUITE_GROUP") {
        let file = file.to_str().unwrap();
        // It looks at neither its input nor its outputs, and is deaf.
        ran(&format!(
            "sh -c 'trap \"\" TERM; echo $$ >{file}.new; mv {file}.new {file}; while :; do sleep 60; done'"
        ));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let mut killed = itself("evidence::suite::when_this_process_is_killed_the_group_is_ended");
    let mut killed = killed.env("SUITE_GROUP", &file).spawn().unwrap();
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::yield_now();
    }
    let id = fs::read_to_string(&file).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(ends(id.trim()), "{id} lives on");
}

#[test]
fn programs_are_found_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    write_program(&folder.path().join("test.sh"), "#!/bin/sh\npwd -P\n");
    write_program(&folder.path().join("bin/a b"), "#!/bin/sh\necho here\n");
    let here = folder.path().canonicalize().unwrap();
    let path = format!("PATH={}/bin:/usr/bin:/bin 'a b'", folder.path().display());
    for (command, printed) in [
        ("./test.sh", here.to_str().unwrap()),
        ("'bin/a b'", "here"),
        (&path, "here"),
    ] {
        let ran = run_in(folder.path(), command).unwrap();
        assert_eq!(text(&ran.stdout).trim(), printed, "{command}");
    }
}

#[test]
fn what_cannot_be_started_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("plain"), "#!/bin/sh\n");
    write_program(&folder.path().join("odd"), "#!/no/such/interpreter\n");
    for (command, said, way_out) in [
        ("no-such-program-here", "was not found", "PATH"),
        // The folder itself is not in the PATH.
        ("odd", "was not found", "PATH"),
        ("./gone", "was not found", "below the folder"),
        ("./plain", "cannot be executed", "chmod +x"),
        ("./odd", "cannot be executed", "interpreter"),
    ] {
        let error = run_in(folder.path(), command).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(said) && told.contains(command), "{told}");
        assert!(error.suggestion().contains(way_out), "{command}");
    }
    let gone = run_in(&folder.path().join("gone"), "true").unwrap_err();
    assert!(gone.to_string().contains("is not there"), "{gone}");
}

#[test]
fn a_suite_that_nobody_wants_any_more_is_ended_with_all_it_started() {
    let folder = testkit::folder();
    let command = "sh -c 'echo began; sleep 300 & wait'";
    let mut run = suite(folder.path(), command, Duration::from_mins(5));
    run.cancelled = Cancellation::by(Arc::new(AtomicBool::new(true)));
    let ran = run_suite(&run).unwrap();
    assert_eq!(ran.how, How::Cancelled);
    assert!(ran.duration < Duration::from_mins(1), "{:?}", ran.duration);
}
