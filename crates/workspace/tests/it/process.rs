//! Programs that are run, good ones and others.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use workspace::process::{How, Program, ProgramError, run};

fn shell(script: &str) -> Program {
    Program {
        argv: ["sh", "-c", script]
            .into_iter()
            .map(OsString::from)
            .collect(),
        cwd: PathBuf::from("/"),
        env: Vec::new(),
        whole_environment: false,
        stdin: Vec::new(),
        timeout: Duration::from_secs(30),
        max_stdout: 16 << 20,
        max_stderr: 4 << 10,
    }
}

#[test]
fn input_and_output_do_not_wait_for_each_other() {
    // More than any pipe holds, both ways and on both outputs.
    let input: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let ended = run(&Program {
        stdin: input.clone(),
        ..shell("tee /dev/stderr")
    })
    .unwrap();
    assert!(ended.success());
    assert!(ended.stdout == input);
    assert_eq!(ended.stderr, input[input.len() - 4096..]);
    assert_eq!(ended.stderr_left_out, input.len() as u64 - 4096);
}

#[test]
fn one_that_prints_first_and_reads_later_is_served() {
    let ended = run(&Program {
        stdin: vec![b'x'; 1_000_000],
        ..shell(
            "i=0; while [ $i -lt 3000 ]; do printf '%0100d' 0; i=$((i+1)); done; cat >/dev/null",
        )
    })
    .unwrap();
    assert!(ended.success());
    assert_eq!(ended.stdout.len(), 300_000);
}

#[test]
fn one_that_closes_its_input_is_no_failure() {
    let ended = run(&Program {
        stdin: vec![b'x'; 1_000_000],
        ..shell("exec <&-; echo done")
    })
    .unwrap();
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
    for (script, said) in [
        (
            "trap 'echo cleared; exit 0' TERM; echo up; while :; do sleep 0.05; done",
            "up\ncleared\n",
        ),
        (
            "trap '' TERM; echo deaf; while :; do sleep 0.05; done",
            "deaf\n",
        ),
    ] {
        let begun = Instant::now();
        let ended = run(&Program {
            timeout: Duration::from_millis(500),
            ..shell(script)
        })
        .unwrap();
        assert_eq!(ended.how, How::TimedOut);
        assert_eq!(String::from_utf8(ended.stdout).unwrap(), said);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

/// Whether a process has ended, and be it that nobody has collected it yet. It is looked for again and again: ending takes
/// a process a moment.
fn ends(id: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let told = run(&shell(&format!("ps -o stat= -p {id}"))).unwrap();
        let state = String::from_utf8(told.stdout).unwrap();
        if state.trim().is_empty() || state.trim().starts_with('Z') {
            return true;
        }
    }
    false
}

#[test]
fn what_a_program_leaves_running_is_ended_and_not_waited_for() {
    let begun = Instant::now();
    // It holds the outputs, and is deaf.
    let ended = run(&shell("(trap '' TERM; exec sleep 60) & echo $!")).unwrap();
    assert!(ended.success());
    assert!(begun.elapsed() < Duration::from_secs(20));
    let child = String::from_utf8(ended.stdout).unwrap();
    assert!(ends(child.trim()), "{child} lives on");
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
    let ended = run(&Program {
        max_stdout: 100_000,
        ..shell("exec cat /dev/zero")
    })
    .unwrap();
    assert_eq!(ended.how, How::Flooded);
    assert_eq!(ended.stdout.len(), 100_000);
    let ended = run(&Program {
        max_stdout: 5,
        ..shell("printf 12345")
    })
    .unwrap();
    assert_eq!(
        (ended.how, ended.stdout.as_slice()),
        (How::Exited(0), &b"12345"[..])
    );
    let ended = run(&Program {
        max_stdout: 5,
        ..shell("printf 123456")
    })
    .unwrap();
    assert_eq!(ended.how, How::Flooded);
}

#[test]
fn complaints_without_end_are_drained() {
    let ended = run(&Program {
        timeout: Duration::from_secs(1),
        ..shell("exec cat /dev/zero >&2")
    })
    .unwrap();
    assert_eq!(ended.how, How::TimedOut);
    assert_eq!(ended.stderr.len(), 4096);
}

#[test]
fn the_environment_is_what_may_pass_and_what_is_given() {
    let ended = run(&Program {
        env: vec![("GIVEN".into(), "yes".into())],
        ..shell("env")
    })
    .unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(
        text.contains("GIVEN=yes") && text.contains("PATH="),
        "{text}"
    );
    assert!(!text.contains("CARGO"), "{text}");
}

#[test]
fn what_cannot_be_started_is_named() {
    let program = |argv: &[&str], cwd: &Path| Program {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: cwd.to_owned(),
        ..shell("")
    };
    let root = Path::new("/");
    for argv in [&["no-such-program"][..], &["./no/such"], &["/no/such"], &[]] {
        let error = run(&program(argv, root)).unwrap_err();
        assert!(matches!(error, ProgramError::Missing { .. }), "{error:?}");
    }
    let error = run(&program(&["sh"], Path::new("/no/such/folder"))).unwrap_err();
    assert!(matches!(error, ProgramError::NoFolder { .. }), "{error:?}");
    let error = run(&program(&["/tmp"], root)).unwrap_err();
    assert!(
        matches!(error, ProgramError::NotExecutable { .. }),
        "{error:?}"
    );
    let error = run(&program(&["a\0b"], root)).unwrap_err();
    assert!(matches!(error, ProgramError::Io { .. }), "{error:?}");
}

#[test]
fn a_relative_program_is_looked_for_where_it_works() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let script = folder.path().join("run");
    std::fs::write(&script, "#!/bin/sh\npwd -P\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ended = run(&Program {
        argv: vec!["./run".into()],
        cwd: folder.path().to_owned(),
        ..shell("")
    })
    .unwrap();
    let printed = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(
        Path::new(printed.trim()),
        folder.path().canonicalize().unwrap()
    );
}
