//! Whole processes: `tm autopilot status` and `tm hook` against an empty Rust program, in one run.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "mcp/skills.rs"]
mod skills;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};

fn run(command: &mut Command) {
    let done = command.output().expect("it runs");
    assert!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stdout)
    );
}

fn tm(root: &Path, store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tm"));
    command
        .current_dir(root)
        .env("TRAMLINE_HOME", store)
        .env("HOME", store)
        .stdin(Stdio::null());
    command
}

/// Calls the hook as a client does before an agent writes a file.
fn hook(root: &Path, store: &Path, payload: &str) {
    let mut child = tm(root, store)
        .args(["hook", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("deny"));
}

/// What half of the calls take, and what all but one in a hundred do.
fn told(what: &str, mut call: impl FnMut()) {
    let mut times: Vec<Duration> = (0..500)
        .map(|_| {
            let begun = Instant::now();
            call();
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!("{what}: p50 {:?}, p99 {:?}", times[250], times[495]);
}

/// A program that does nothing, built as `tm` is.
fn empty_program(folder: &Path) -> PathBuf {
    let source = folder.join("empty.rs");
    let program = folder.join("empty");
    std::fs::write(&source, "fn main() {}\n").expect("a file");
    run(Command::new("rustc")
        .args([
            "-C",
            "opt-level=3",
            "-C",
            "strip=symbols",
            "--edition=2024",
            "-o",
        ])
        .arg(&program)
        .arg(&source));
    program
}

fn processes(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("project");
    let store = folder.path().join("store");
    std::fs::create_dir_all(&root).expect("a folder");
    std::fs::write(root.join("Makefile"), "test:\n\ttrue\n").expect("a file");
    let git = |words: &[&str]| run(Command::new("git").args(words).current_dir(&root));
    git(&["init", "-q", "-b", "main", "."]);
    git(&["config", "user.name", "Bench"]);
    git(&["config", "user.email", "bench@example.org"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Begin"]);
    run(tm(&root, &store).args([
        "autopilot",
        "start",
        "--title",
        "Bench",
        "--subtask",
        "One",
        "--json",
    ]));
    let empty = empty_program(folder.path());

    let mut group = criterion.benchmark_group("process");
    group.bench_function("an empty program", |bencher| {
        bencher.iter(|| run(&mut Command::new(&empty)));
    });
    group.bench_function("tm autopilot status --json", |bencher| {
        bencher.iter(|| run(tm(&root, &store).args(["autopilot", "status", "--json"])));
    });
    group.bench_function("tm autopilot next --json", |bencher| {
        bencher.iter(|| run(tm(&root, &store).args(["autopilot", "next", "--json"])));
    });
    // RED takes no edit of a file that is no test.
    let payload = serde_json::json!({
        "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": root.join("src/main.c"), "content": "x".repeat(4096) },
    })
    .to_string();
    group.bench_function("tm --version", |bencher| {
        bencher.iter(|| run(tm(&root, &store).arg("--version")));
    });
    group.bench_function("tm hook, an edit", |bencher| {
        bencher.iter(|| hook(&root, &store, &payload));
    });
    told("an empty program", || run(&mut Command::new(&empty)));
    told("tm --version", || run(tm(&root, &store).arg("--version")));
    told("tm hook, an edit", || hook(&root, &store, &payload));
    for tasks in [10, 10_000] {
        let session = format!("tasks-{tasks}");
        let collab = |words: &[&str]| {
            let mut command = tm(&root, &store);
            command.args(words);
            command
        };
        skills::executing(&collab, &root, &session, tasks);
        let call = |words: &[&str]| {
            run(&mut collab(
                &[&["collab"], words, &["--session", &session, "--json"]].concat(),
            ));
        };
        group.bench_function(
            format!("tm collab state --json, {tasks} tasks"),
            |bencher| {
                bencher.iter(|| call(&["state"]));
            },
        );
        let mut at = 0;
        group.bench_function(format!("tm collab task --json, {tasks} tasks"), |bencher| {
            bencher.iter(|| {
                // One that is stored already would not be stored again.
                at += 1;
                call(&["task", "t0", ["pending", "in_progress"][at % 2]]);
            });
        });
    }
    group.finish();
}

/// A project with a task of three subtasks.
fn with_task(root: &Path) {
    std::fs::create_dir_all(root.join(".taskmaster/tasks")).expect("a folder");
    for folder in ["src", "tests"] {
        std::fs::create_dir(root.join(folder)).expect("a folder");
    }
    let subtask = |id: u32| serde_json::json!({ "id": id, "title": format!("Part {id}"), "description": "Do it", "status": "pending", "dependencies": [] });
    let tasks = serde_json::json!({ "master": { "tasks": [{
        "id": 1, "title": "Bench", "description": "Do it", "status": "pending", "dependencies": [],
        "subtasks": [subtask(1), subtask(2), subtask(3)],
    }] } });
    for (file, text) in [
        (".taskmaster/tasks/tasks.json", tasks.to_string()),
        (
            ".taskmaster/config.json",
            r#"{"test":{"command":"sh run.sh"}}"#.to_owned(),
        ),
        ("run.sh", "true\n".to_owned()),
        ("src/main.sh", "true\n".to_owned()),
    ] {
        std::fs::write(root.join(file), text).expect("a file");
    }
}

/// A whole cycle (start, three subtasks, finalize) beside four bare `git add` and `git commit` of the same files, in turns.
fn cycles(_: &mut Criterion) {
    const TIMES: usize = 25;
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..TIMES {
        for (way, times) in times.iter_mut().enumerate() {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().join("project");
            let store = folder.path().join("store");
            std::fs::create_dir_all(&root).expect("a folder");
            let git = |words: &[&str]| run(Command::new("git").args(words).current_dir(&root));
            git(&["init", "-q", "-b", "main", "."]);
            git(&["config", "user.name", "Bench"]);
            git(&["config", "user.email", "bench@example.org"]);
            with_task(&root);
            git(&["add", "-A"]);
            git(&["commit", "-q", "-m", "Begin"]);
            let write =
                |file: String, text: &str| std::fs::write(root.join(file), text).expect("a file");
            let autopilot = |words: &[&str]| {
                run(tm(&root, &store).arg("autopilot").args(words).arg("--json"));
            };
            let begun = Instant::now();
            if way == 0 {
                autopilot(&["start", "1"]);
                for part in 1..=3 {
                    autopilot(&["next"]);
                    write(format!("tests/t{part}.sh"), "false\n");
                    autopilot(&["complete", "red", "--results", "failed:1,passed:0"]);
                    write(format!("src/s{part}.sh"), "true\n");
                    autopilot(&["complete", "green", "--results", "failed:0,passed:1"]);
                    autopilot(&["commit"]);
                }
                autopilot(&["finalize", "--results", "failed:0,passed:3"]);
            } else {
                for part in 1..=4 {
                    write(format!("tests/t{part}.sh"), "false\n");
                    write(format!("src/s{part}.sh"), "true\n");
                    git(&["add", "-A"]);
                    git(&["commit", "-q", "-m", "Part"]);
                }
            }
            times.push(begun.elapsed());
        }
    }
    let [whole, bare] = times.map(|mut times| {
        times.sort();
        times[TIMES / 2]
    });
    let ratio = whole.as_secs_f64() / bare.as_secs_f64();
    println!("a whole cycle: {whole:?}; four bare commits: {bare:?}; ratio {ratio:.1}");
}

criterion_group!(benches, processes, cycles);
criterion_main!(benches);
