//! Test commands that are run, good ones and others.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use workspace::process::Cancellation;
use workspace::suite::{CommandError, How, SuiteError, SuiteRan, SuiteRun, run_suite};

fn run_in(folder: &Path, command: &str) -> Result<SuiteRan, SuiteError> {
    run_suite(&SuiteRun {
        command,
        line: None,
        cwd: folder,
        timeout: Duration::from_mins(1),
        cancelled: Cancellation::default(),
        env: Vec::new(),
    })
}

fn ran(command: &str) -> SuiteRan {
    run_in(Path::new("/"), command).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn script(folder: &Path, name: &str, content: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether a process has ended, and be it that nobody has collected it yet. It is looked for again and again: ending takes
/// a process a moment.
fn ends(id: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let told = Command::new("ps")
            .args(["-o", "stat=", "-p", id])
            .output()
            .unwrap();
        let state = text(&told.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return true;
        }
    }
    false
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
        matches!(error, SuiteError::Command(CommandError::NeedsShell { .. })),
        "{error:?}"
    );
    assert!(
        error.suggestion().contains("sh -c 'true && true'"),
        "{}",
        error.suggestion()
    );
}

#[test]
fn the_environment_is_this_one_with_what_is_given() {
    let ran = run_suite(&SuiteRun {
        command: "BOTH=command ONE='a b' env",
        line: None,
        cwd: Path::new("/"),
        timeout: Duration::from_mins(1),
        cancelled: Cancellation::default(),
        env: vec![
            ("BOTH".into(), "caller".into()),
            ("TWO".into(), OsString::from("2")),
        ],
    })
    .unwrap();
    let printed = text(&ran.stdout);
    for line in ["BOTH=command", "ONE=a b", "TWO=2"] {
        assert!(printed.lines().any(|printed| printed == line), "{line}");
    }
    // What the tests of this very project are started with reaches those of others.
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG"))
    {
        assert!(
            printed.contains(&format!("{}=", name.to_string_lossy())),
            "{name:?}"
        );
    }
}

#[test]
fn a_callers_git_does_not_reach_the_tests() {
    // A process of its own, as a test cannot change the environment it shares with others.
    if std::env::var_os("SUITE_PROBE").is_some() {
        assert!(std::env::var_os("GIT_DIR").is_some());
        let ran = ran("env");
        let printed = text(&ran.stdout);
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
        ] {
            assert!(!printed.contains(&format!("{name}=")), "{name}");
        }
        assert!(printed.contains("GIT_AUTHOR_NAME=kept"));
        return;
    }
    let status = itself("evidence::suite::a_callers_git_does_not_reach_the_tests")
        .env("SUITE_PROBE", "1")
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere")
        .env("GIT_OBJECT_DIRECTORY", "/nowhere")
        .env("GIT_AUTHOR_NAME", "kept")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

/// This test program, to run one test of it.
fn itself(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
}

#[test]
fn nothing_is_to_be_read() {
    assert_eq!(ran("cat").how, How::Exited(0));
}

#[test]
fn both_streams_are_kept_together_and_apart() {
    let ran = ran("sh -c 'echo one; echo two >&2; printf thr; echo four >&2; echo ee; printf end'");
    assert_eq!(text(&ran.stdout), "one\nthree\nend");
    assert_eq!(text(&ran.stderr), "two\nfour\n");
    let mut lines: Vec<&str> = text(&ran.both).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["end", "four", "one", "three", "two"]);
    let mut digest = String::new();
    for byte in Sha256::digest(&ran.both) {
        write!(digest, "{byte:02x}").unwrap();
    }
    assert_eq!(ran.sha256, digest);
}

#[test]
fn it_is_told_how_it_ended() {
    for (command, how) in [
        ("true", How::Exited(0)),
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
    assert_eq!(
        ran.stdout_left_out + ran.stdout.len() as u64,
        100_000_012 + gap(&ran.stdout)
    );
    assert!(ran.left_out > 0 && ran.stderr_left_out == 0);
    assert_eq!(ran.stderr, b"noise\n");
    assert!(ran.stdout.starts_with(b"first\n") && ran.stdout.ends_with(b"\nlast\n"));
}

/// How long the line is that tells of what was left out.
fn gap(kept: &[u8]) -> u64 {
    let mark = "[… ".as_bytes();
    let at = kept
        .windows(mark.len())
        .position(|window| window == mark)
        .unwrap();
    let end = kept[at..].iter().position(|byte| *byte == b'\n').unwrap();
    end as u64 + 1
}

#[test]
fn at_the_time_limit_the_whole_group_is_ended() {
    let begun = Instant::now();
    let ran = run_suite(&SuiteRun {
        // Both are deaf to the polite request; the inner one holds the outputs.
        command: "sh -c \"trap '' TERM; (trap '' TERM; exec sleep 60) & echo \\$!; wait; sleep 60\"",
        line: None,
        cwd: Path::new("/"),
        timeout: Duration::from_millis(300),
        cancelled: Cancellation::default(),
        env: Vec::new(),
    });
    // A shell is needed for `$!`, and single quotes keep it for that shell.
    assert!(ran.is_ok(), "{ran:?}");
    let ran = ran.unwrap();
    assert_eq!(ran.how, How::TimedOut);
    assert!(ran.duration >= Duration::from_millis(300));
    assert!(begun.elapsed() < Duration::from_secs(20));
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
    let mut killed = itself("evidence::suite::when_this_process_is_killed_the_group_is_ended")
        .env("SUITE_GROUP", &file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::yield_now();
    }
    let mut id = String::new();
    fs::File::open(&file)
        .unwrap()
        .read_to_string(&mut id)
        .unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(ends(id.trim()), "{id} lives on");
}

#[test]
fn programs_are_found_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "test.sh", "#!/bin/sh\npwd -P\n");
    script(folder.path(), "bin/a b", "#!/bin/sh\necho here\n");
    let ran = run_in(folder.path(), "./test.sh").unwrap();
    assert_eq!(
        Path::new(text(&ran.stdout).trim()),
        folder.path().canonicalize().unwrap()
    );
    assert_eq!(
        run_in(folder.path(), "'bin/a b'").unwrap().stdout,
        b"here\n"
    );
    // The folder itself is not in the PATH.
    let error = run_in(folder.path(), "test.sh").unwrap_err();
    assert!(
        error.to_string().contains("`test.sh` was not found"),
        "{error}"
    );
    let path = format!("PATH={}/bin:/usr/bin:/bin 'a b'", folder.path().display());
    assert_eq!(run_in(folder.path(), &path).unwrap().stdout, b"here\n");
}

#[test]
fn what_cannot_be_started_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plain"), "#!/bin/sh\n").unwrap();
    script(folder.path(), "odd", "#!/no/such/interpreter\n");
    for (command, said, way_out) in [
        ("no-such-program-here", "was not found", "PATH"),
        ("./gone", "was not found", "below the folder"),
        ("./plain", "cannot be executed", "chmod +x"),
        ("./odd", "cannot be executed", "interpreter"),
    ] {
        let error = run_in(folder.path(), command).unwrap_err();
        assert!(error.to_string().contains(said), "{command}: {error}");
        assert!(error.to_string().contains(command), "{command}: {error}");
        assert!(
            error.suggestion().contains(way_out),
            "{command}: {}",
            error.suggestion()
        );
    }
    let gone = folder.path().join("gone");
    assert!(
        run_in(&gone, "true")
            .unwrap_err()
            .to_string()
            .contains("is not there")
    );
}

#[test]
fn a_suite_that_nobody_wants_any_more_is_ended_with_all_it_started() {
    let folder = testkit::folder();
    let flag = Arc::new(AtomicBool::new(false));
    let run = SuiteRun {
        command: "sh -c 'echo began; sleep 300 & wait'",
        line: None,
        cwd: folder.path(),
        timeout: Duration::from_mins(5),
        cancelled: Cancellation::by(Arc::clone(&flag)),
        env: Vec::new(),
    };
    flag.store(true, Ordering::Release);
    let ran = run_suite(&run).unwrap();
    assert_eq!(ran.how, How::Cancelled);
    assert!(ran.duration < Duration::from_mins(1), "{:?}", ran.duration);
}
