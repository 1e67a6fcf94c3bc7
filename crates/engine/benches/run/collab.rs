//! A task's status must cost the same to store whether its session has ten tasks or ten thousand.

use std::fmt::Write as _;

use criterion::{BenchmarkId, Criterion};
use engine::Engine;
use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use serde_json::json;

use crate::project;

/// A session whose first batch is executed.
struct Stage {
    _folder: tempfile::TempDir,
    engine: Engine,
}

/// A task graph of `count` tasks, each of which depends on as many of those before it as `needs` says.
fn graph(count: usize, needs: fn(usize) -> Option<usize>) -> String {
    let mut text = "tasks:\n".to_owned();
    for at in 0..count {
        let _ = write!(
            text,
            "  - id: task-{at}\n    files: [src/part_{at}.rs]\n    tests: [tests/part_{at}.rs]\n    description: What part {at} has to do\n",
        );
        if let Some(need) = needs(at) {
            let _ = writeln!(text, "    depends-on: [task-{need}]");
        }
    }
    text
}

impl Stage {
    fn new(document: String) -> Self {
        let folder = project::folder();
        // What is measured is the session, and not what is written for it.
        let settings = folder.path().join("project/.taskmaster");
        std::fs::create_dir_all(&settings).expect("a folder");
        let off = r#"{"evidence": {"policy": {"draft_missing": "off"}}}"#;
        std::fs::write(settings.join("config.json"), off).expect("a file");
        let engine = project::engine(folder.path(), &folder.path().join("project"));
        let stage = Self {
            _folder: folder,
            engine,
        };
        stage.walk(document);
        stage
    }

    /// Goes on until the first batch is executed.
    fn walk(&self, document: String) {
        let items = json!([{ "number": "1", "title": "All of it", "type": "code" }]);
        self.engine
            .collab_update(&SessionUpdate {
                session: Some("bench".to_owned()),
                fields: [("workItems".to_owned(), items)].into_iter().collect(),
            })
            .expect("a session");
        let mut skill = "collab-start".to_owned();
        let mut document = Some(document);
        while skill != "executing-plans" {
            if skill == "build-task-graph" {
                self.engine
                    .collab_sync(&GraphSync {
                        document: document.take(),
                        ..GraphSync::default()
                    })
                    .expect("a graph");
            }
            let done = SkillDone {
                skill,
                ..SkillDone::default()
            };
            let answer = self.engine.complete_skill(&done).expect("an answer");
            assert!(answer.verdict.validated, "{answer:?}");
            skill = answer.next_skill.expect("a skill");
        }
    }

    fn store(&self, at: usize, status: &str) {
        let update = TaskUpdate {
            id: format!("task-{at}"),
            status: status.to_owned(),
            outcome: None,
        };
        let updated = self
            .engine
            .collab_tasks(None, &[update])
            .expect("an answer");
        assert!(updated.verdict.validated, "{updated:?}");
    }
}

type Shape = (&'static str, fn(usize) -> Option<usize>);

const SHAPES: [Shape; 2] = [("one wave", |_| None), ("a chain", |at| at.checked_sub(1))];

/// One task goes to and fro: what changed stays little.
pub fn one(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        let mut group = criterion.benchmark_group(format!("status of a task, {name}"));
        for count in [10, 10_000] {
            let stage = Stage::new(graph(count, shape));
            stage.store(0, "in_progress");
            group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
                bencher.iter(|| {
                    stage.store(0, "pending");
                    stage.store(0, "in_progress");
                });
            });
        }
        group.finish();
    }
}

/// All tasks in turn: what changed grows, and is written anew now and then.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("status of each task in turn");
    for count in [10, 10_000] {
        let stage = Stage::new(graph(count, |_| None));
        let mut at = 0;
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| {
                stage.store(at % count, ["in_progress", "pending"][at / count % 2]);
                at += 1;
            });
        });
    }
    group.finish();
}
