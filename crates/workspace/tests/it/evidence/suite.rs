//! Test commands that are run, good ones and others.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use testkit::files::{write, write_program};
use workspace::process::Cancellation;
use workspace::suite::{How, SuiteError, SuiteRan, SuiteRun, run_suite};

use crate::ends;

fn suite<'s>(folder: &'s Path, command: &'s str, timeout: Duration) -> SuiteRun<'s> {
    SuiteRun {
        command,
        line: None,
        cwd: folder,
        timeout,
        cancelled: Cancellation::default(),
        env: Vec::new(),
        is_whole: false,
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
    let names = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY".split(' ');
    // A process of its own, as a test cannot change the environment it shares with others.
    if std::env::var_os("SUITE_PROBE").is_some() {
        assert!(std::env::var_os("GIT_DIR").is_some());
        let ran = ran("env");
        for name in names {
            assert!(!text(&ran.stdout).contains(&format!("{name}=")), "{name}");
        }
        assert!(text(&ran.stdout).contains("GIT_AUTHOR_NAME=kept"));
        return;
    }
    let status = itself("evidence::suite::a_callers_git_does_not_reach_the_tests")
        .envs([("SUITE_PROBE", "1"), ("GIT_AUTHOR_NAME", "kept")])
        .envs(names.map(|name| (name, "/nowhere")))
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
    let limit = Duration::from_millis(100);
    let ran = run_suite(&suite(Path::new("/"), "sleep 60", limit)).unwrap();
    assert_eq!(ran.how, How::TimedOut);
    assert!((limit..Duration::from_secs(20)).contains(&ran.duration));
}

#[test]
fn a_flood_does_not_end_it() {
    // 70 MB in lines, between a first and a last one; a few words on the other stream come through untouched.
    let ran = ran(
        "sh -c 'echo first; echo noise >&2; yes \"a line that says the same again and again\" | head -c 70000000; echo; echo last'",
    );
    assert!(ran.success() && ran.both.len() <= (64 << 20) + 100);
    // How long the line is that tells of what was left out.
    let mark = "[… ".as_bytes();
    let mut windows = ran.stdout.windows(mark.len());
    let at = windows.position(|window| window == mark).unwrap();
    let gap = ran.stdout[at..].split_inclusive(|byte| *byte == b'\n');
    let gap = gap.take(1).map(<[u8]>::len).sum::<usize>();
    let all = ran.stdout_left_out + ran.stdout.len() as u64;
    assert_eq!(all, 70_000_012 + gap as u64);
    assert!(ran.left_out > 0 && ran.stderr_left_out == 0);
    assert_eq!(ran.stderr, b"noise\n");
    assert!(ran.stdout.starts_with(b"first\n") && ran.stdout.ends_with(b"\nlast\n"));
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
    let folder = testkit::folder();
    let file = folder.path().join("id");
    let mut killed = itself("evidence::suite::when_this_process_is_killed_the_group_is_ended");
    let mut killed = killed.env("SUITE_GROUP", &file).spawn().unwrap();
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = fs::read_to_string(&file).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(ends(id.trim()), "{id} lives on");
}

#[test]
fn programs_are_found_where_they_are() {
    let folder = testkit::folder();
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
    let folder = testkit::folder();
    write(&folder.path().join("plain"), "#!/bin/sh\n");
    write_program(&folder.path().join("odd"), "#!/no/such/interpreter\n");
    for (command, way_out) in [
        ("no-such-program-here", "on the PATH"),
        // The folder itself is not in the PATH.
        ("odd", "on the PATH"),
        ("./gone", "below the folder"),
        ("./plain", "chmod +x"),
        ("./odd", "interpreter"),
        ("true && true", "sh -c 'true && true'"),
    ] {
        let error = run_in(folder.path(), command).unwrap_err();
        assert!(error.to_string().contains(command), "{error}");
        assert!(error.suggestion().contains(way_out), "{command}");
    }
    let gone = run_in(&folder.path().join("gone"), "true").unwrap_err();
    assert!(gone.suggestion().contains("make the folder"), "{gone}");
}

#[test]
fn a_suite_that_nobody_wants_any_more_is_ended_with_all_it_started() {
    let command = "sh -c 'echo began; sleep 300 & wait'";
    let mut run = suite(Path::new("/"), command, Duration::from_mins(5));
    run.cancelled = Cancellation::by(Arc::new(AtomicBool::new(true)));
    let ran = run_suite(&run).unwrap();
    assert_eq!(ran.how, How::Cancelled);
    assert!(ran.duration < Duration::from_mins(1), "{:?}", ran.duration);
}
