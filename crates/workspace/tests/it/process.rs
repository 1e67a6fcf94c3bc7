//! Programs that are run, good ones and others.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use workspace::process::{Ended, How, Program, run};

fn shell(script: &str) -> Program {
    Program {
        argv: ["sh", "-c", script].map(OsString::from).to_vec(),
        cwd: PathBuf::from("/"),
        env: Vec::new(),
        whole_environment: false,
        stdin: Vec::new(),
        timeout: Duration::from_secs(30),
        max_stdout: 16 << 20,
        max_stderr: 4 << 10,
    }
}

fn given(stdin: Vec<u8>, script: &str) -> Ended {
    run_with(script, |program| program.stdin = stdin)
}

fn run_with(script: &str, change: impl FnOnce(&mut Program)) -> Ended {
    let mut program = shell(script);
    change(&mut program);
    run(&program).unwrap()
}

#[test]
fn input_and_output_do_not_wait_for_each_other() {
    // More than any pipe holds, both ways and on both outputs.
    let input: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let ended = given(input.clone(), "tee /dev/stderr");
    assert!(ended.success() && ended.stdout == input);
    assert_eq!(ended.stderr, input[input.len() - 4096..]);
    assert_eq!(ended.stderr_left_out, input.len() as u64 - 4096);
    // One that prints first and reads later, and one that closes its input.
    for (script, printed) in [
        ("head -c 300000 /dev/zero; cat >/dev/null", 300_000),
        ("exec <&-; echo done", 5),
    ] {
        let ended = given(vec![b'x'; 1_000_000], script);
        assert_eq!((ended.how, ended.stdout.len()), (How::Exited(0), printed));
    }
}

#[test]
fn one_that_takes_too_long_is_asked_and_then_not_asked() {
    testkit::by_chance!(3);
    let polite = "trap 'echo cleared; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    let deaf = "trap '' TERM; echo deaf; while :; do sleep 0.05; done";
    // What it complains of without end is drained.
    for (script, said) in [
        (polite, "up\ncleared\n"),
        (deaf, "deaf\n"),
        ("exec cat /dev/zero >&2", ""),
    ] {
        let begun = Instant::now();
        let ended = run_with(script, |it| it.timeout = Duration::from_millis(200));
        assert_eq!((ended.how, ended.stdout), (How::TimedOut, said.into()));
        assert!(!said.is_empty() || ended.stderr.len() == 4096);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn one_that_prints_too_much_is_ended() {
    for (most, script, how) in [
        (100_000, "exec cat /dev/zero", How::Flooded),
        (5, "printf 12345", How::Exited(0)),
        (5, "printf 123456", How::Flooded),
    ] {
        let ended = run_with(script, |it| it.max_stdout = most);
        assert_eq!((ended.how, ended.stdout.len()), (how, most), "{script}");
    }
}

#[test]
fn what_a_program_leaves_running_is_ended_and_not_waited_for() {
    let begun = Instant::now();
    // It holds the outputs, and is deaf.
    let ended = run(&shell("(trap '' TERM; exec sleep 60) & echo $!")).unwrap();
    assert!(ended.success() && begun.elapsed() < Duration::from_secs(20));
    let child = String::from_utf8(ended.stdout).unwrap();
    assert!(crate::ends(child.trim()), "{child} lives on");
}

#[test]
fn what_leaves_the_group_with_the_outputs_is_not_waited_for() {
    testkit::by_chance!(3);
    let begun = Instant::now();
    let script = "python3 -c 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  print(os.getpid(), flush=True)\n  time.sleep(60)\nelse:\n  time.sleep(0.2)'";
    let ended = run(&shell(script)).unwrap();
    assert!(ended.success() && begun.elapsed() < Duration::from_secs(20));
    let child = String::from_utf8(ended.stdout).unwrap();
    assert!(!child.trim().is_empty());
    assert!(run(&shell(&format!("kill -9 {child}"))).unwrap().success());
}

#[test]
fn the_environment_is_what_may_pass_and_what_is_given() {
    let ended = run_with("env", |it| it.env = vec![("GIVEN".into(), "yes".into())]);
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("GIVEN=yes") && text.contains("PATH="));
    assert!(!text.contains("CARGO"), "{text}");
}

#[test]
fn what_cannot_be_started_is_named() {
    for (argv, cwd, expected) in [
        ("no-such-program", "/", "Missing"),
        ("./no/such", "/", "Missing"),
        ("/no/such", "/", "Missing"),
        ("", "/", "Missing"),
        ("sh", "/no/such", "NoFolder"),
        ("/tmp", "/", "NotExecutable"),
        ("a\0b", "/", "Io"),
    ] {
        let error = run(&Program {
            argv: argv.split_whitespace().map(OsString::from).collect(),
            cwd: PathBuf::from(cwd),
            ..shell("")
        });
        let error = format!("{:?}", error.unwrap_err());
        assert_eq!(error.split(' ').next(), Some(expected), "{argv:?}");
    }
}
