//! Whole processes: `tm autopilot status` against an empty Rust program, in one run.

#[path = "mcp/skills.rs"]
mod skills;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

criterion_group!(benches, processes);
criterion_main!(benches);
