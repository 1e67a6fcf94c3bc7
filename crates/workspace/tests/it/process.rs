//! Programs that are run, good ones and others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use workspace::process::{How, Program, ProgramError, run};

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

fn given(stdin: Vec<u8>, script: &str) -> workspace::process::Ended {
    let program = Program {
        stdin,
        ..shell(script)
    };
    run(&program).unwrap()
}

#[test]
fn input_and_output_do_not_wait_for_each_other() {
    // More than any pipe holds, both ways and on both outputs.
    let input: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let ended = given(input.clone(), "tee /dev/stderr");
    assert!(ended.success() && ended.stdout == input);
    assert_eq!(ended.stderr, input[input.len() - 4096..]);
    assert_eq!(ended.stderr_left_out, input.len() as u64 - 4096);
    // One that prints first and reads later.
    let ended = given(
        vec![b'x'; 1_000_000],
        "head -c 300000 /dev/zero; cat >/dev/null",
    );
    assert!(ended.success());
    assert_eq!(ended.stdout.len(), 300_000);
}

#[test]
fn one_that_closes_its_input_is_no_failure() {
    let ended = given(vec![b'x'; 1_000_000], "exec <&-; echo done");
    assert!(ended.success());
    assert_eq!(ended.stdout, b"done\n");
}

#[test]
fn it_is_told_how_a_program_ended() {
    for (script, how) in [
        ("exit 0", How::Exited(0)),
        ("exit 7", How::Exited(7)),
        ("kill -TERM $$", How::Signalled(15)),
        ("kill -SEGV $$", How::Signalled(11)),
    ] {
        assert_eq!(run(&shell(script)).unwrap().how, how, "{script}");
    }
}

#[test]
fn one_that_takes_too_long_is_asked_and_then_not_asked() {
    let polite = "trap 'echo cleared; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    let deaf = "trap '' TERM; echo deaf; while :; do sleep 0.05; done";
    for (script, said) in [(polite, "up\ncleared\n"), (deaf, "deaf\n")] {
        let begun = Instant::now();
        let ended = run(&Program {
            timeout: Duration::from_millis(500),
            ..shell(script)
        })
        .unwrap();
        assert_eq!((ended.how, ended.stdout), (How::TimedOut, said.into()));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn what_a_program_leaves_running_is_ended_and_not_waited_for() {
    let begun = Instant::now();
    // It holds the outputs, and is deaf.
    let ended = run(&shell("(trap '' TERM; exec sleep 60) & echo $!")).unwrap();
    assert!(ended.success());
    assert!(begun.elapsed() < Duration::from_secs(20));
    let child = String::from_utf8(ended.stdout).unwrap();
    assert!(crate::ends(child.trim()), "{child} lives on");
}

#[test]
fn what_leaves_the_group_with_the_outputs_is_not_waited_for() {
    let begun = Instant::now();
    let ended = run(&shell(
        "python3 -c 'import os, time\nif os.fork() == 0:\n  os.setsid()\n  print(os.getpid(), flush=True)\n  time.sleep(60)\nelse:\n  time.sleep(0.2)'",
    ))
    .unwrap();
    assert!(ended.success());
    assert!(begun.elapsed() < Duration::from_secs(20));
    let child = String::from_utf8(ended.stdout).unwrap();
    assert!(!child.trim().is_empty());
    assert!(run(&shell(&format!("kill -9 {child}"))).unwrap().success());
}

#[test]
fn one_that_prints_too_much_is_ended() {
    for (max_stdout, script, how) in [
        (100_000, "exec cat /dev/zero", How::Flooded),
        (5, "printf 12345", How::Exited(0)),
        (5, "printf 123456", How::Flooded),
    ] {
        let ended = run(&Program {
            max_stdout,
            ..shell(script)
        })
        .unwrap();
        assert_eq!(ended.how, how, "{script}");
        assert_eq!(ended.stdout.len(), max_stdout, "{script}");
    }
}

#[test]
fn complaints_without_end_are_drained() {
    let ended = run(&Program {
        timeout: Duration::from_millis(300),
        ..shell("exec cat /dev/zero >&2")
    })
    .unwrap();
    assert_eq!((ended.how, ended.stderr.len()), (How::TimedOut, 4096));
}

#[test]
fn the_environment_is_what_may_pass_and_what_is_given() {
    let ended = run(&Program {
        env: vec![("GIVEN".into(), "yes".into())],
        ..shell("env")
    })
    .unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("GIVEN=yes") && text.contains("PATH="));
    assert!(!text.contains("CARGO"), "{text}");
}

#[test]
fn what_cannot_be_started_is_named() {
    let error = |argv: &[&str], cwd: &str| {
        let program = Program {
            argv: argv.iter().map(OsString::from).collect(),
            cwd: PathBuf::from(cwd),
            ..shell("")
        };
        run(&program).unwrap_err()
    };
    for argv in [&["no-such-program"][..], &["./no/such"], &["/no/such"], &[]] {
        assert!(matches!(error(argv, "/"), ProgramError::Missing { .. }));
    }
    assert!(matches!(
        error(&["sh"], "/no/such"),
        ProgramError::NoFolder { .. }
    ));
    assert!(matches!(
        error(&["/tmp"], "/"),
        ProgramError::NotExecutable { .. }
    ));
    assert!(matches!(error(&["a\0b"], "/"), ProgramError::Io { .. }));
}

#[test]
fn a_relative_program_is_looked_for_where_it_works() {
    let folder = tempfile::TempDir::new().unwrap();
    testkit::files::write_program(&folder.path().join("run"), "#!/bin/sh\npwd -P\n");
    let ended = run(&Program {
        argv: vec!["./run".into()],
        cwd: folder.path().to_owned(),
        ..shell("")
    })
    .unwrap();
    let printed = String::from_utf8(ended.stdout).unwrap();
    let expected = folder.path().canonicalize().unwrap();
    assert_eq!(Path::new(printed.trim()), expected);
}
