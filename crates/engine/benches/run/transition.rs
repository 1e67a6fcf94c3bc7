//! A durable transition without git against a bare append and fdatasync of the same bytes, in one
//! run: the first is what the second costs, plus what the engine adds.

use engine::view::AUTOPILOT;
use std::fs::OpenOptions;
use std::io::Write as _;

use criterion::Criterion;
use engine::report::{Meaning, Report};
use engine::view::autopilot::request;
use engine::{Turn, Verb};

use crate::stage;

pub fn transition(criterion: &mut Criterion) {
    let stage = stage::stage(3);
    let journal = stage.dir.join("activity.jsonl");
    let before = std::fs::metadata(&journal).expect("a journal").len();
    stage
        .engine
        .turn(&AUTOPILOT, None, &Turn::new(Verb::Pause, "bench"))
        .expect("paused");
    let paused = std::fs::metadata(&journal).expect("a journal").len() - before;
    stage
        .engine
        .turn(&AUTOPILOT, None, &Turn::new(Verb::Resume, ""))
        .expect("resumed");
    let line = vec![b'x'; usize::try_from(paused).expect("small")];

    let mut group = criterion.benchmark_group("transition");
    let bare = stage.dir.join("bare");
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&bare)
        .expect("a file");
    group.bench_function("bare append + fdatasync", |bencher| {
        bencher.iter(|| {
            file.write_all(&line).expect("written");
            file.sync_data().expect("synced");
        });
    });
    let run = stage.engine.status(&AUTOPILOT, None).expect("a run").run_id;
    group.bench_function("two transitions: pause, resume", |bencher| {
        bencher.iter(|| {
            stage
                .engine
                .turn(&AUTOPILOT, Some(&run), &Turn::new(Verb::Pause, "bench"))
                .expect("paused");
            stage
                .engine
                .turn(&AUTOPILOT, Some(&run), &Turn::new(Verb::Resume, ""))
                .expect("resumed");
        });
    });
    group.finish();
}

pub fn with_git(criterion: &mut Criterion) {
    let stage = stage::stage(3);
    std::fs::create_dir_all(stage.root.join("tests")).expect("a folder");
    std::fs::write(stage.root.join("tests/a.sh"), "exit 1").expect("a file");
    let red = Report {
        evidence: request::Evidence::claimed("failed:1,passed:0"),
        ..Report::default()
    };
    let run = stage.engine.status(&AUTOPILOT, None).expect("a run").run_id;
    let mut group = criterion.benchmark_group("report");
    group.sample_size(20);
    group.bench_function("RED accepted, reopened from GREEN", |bencher| {
        bencher.iter(|| {
            let verdict = stage
                .engine
                .record_report(&AUTOPILOT, Some(&run), &red, Meaning::Tests)
                .expect("a verdict");
            assert!(verdict.validated, "{}", verdict.message);
            stage
                .engine
                .turn(&AUTOPILOT, Some(&run), &Turn::reopen(None, None, "bench"))
                .expect("reopened");
        });
    });
    group.bench_function("git status, as git alone", |bencher| {
        bencher.iter(|| {
            std::process::Command::new("git")
                .args([
                    "status",
                    "--porcelain=v2",
                    "-z",
                    "--branch",
                    "--untracked-files=all",
                ])
                .current_dir(&stage.root)
                .output()
                .expect("git runs")
        });
    });
    group.finish();
}
