//! A step of a session must cost the same whether ten transitions and files were recorded or a hundred thousand.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use engine::gate::Decide;
use engine::view::SESSION;
use engine::view::session::request::Init;
use engine::{Channel, Engine};
use journal::{FileJournal, Journal as _, NewEvent};
use machine::command::Choice;

use crate::project;

const PLAN: &str = "Count the words.\n";
const CODE: &str = "<<<FILE: count.sh>>>\nwc -w\n<<<FILE: lib/words.txt>>>\na b c\n";
const FAIL: &str =
    "@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
const RESPONSE: &str = "iteration-2/revision-response.md";

/// A session that waits for the revision of its second iteration.
struct Stage {
    _folder: tempfile::TempDir,
    engine: Engine,
    id: String,
    dir: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = project::folder();
        let engine = project::engine(folder.path(), &folder.path().join("project"));
        let mut init = Init {
            gates: vec![("code".to_owned(), "human".to_owned())],
            ..Init::default()
        };
        init.inputs
            .insert("request".to_owned(), "count the words".into());
        let begun = engine.session_init(&init).expect("a session");
        let stage = Self {
            _folder: folder,
            engine,
            id: begun.summary.session_id,
            dir: begun.folder,
        };
        stage.step();
        stage.respond("planning-response.md", PLAN);
        stage.step();
        stage.step();
        stage.respond("iteration-1/generation-response.md", CODE);
        stage.step();
        stage.step();
        stage.decide(Choice::Approve);
        stage.step();
        stage.respond("iteration-1/review-response.md", FAIL);
        stage.step();
        stage.step();
        stage
    }

    fn step(&self) {
        let step = self.engine.session_step(Some(&self.id)).expect("an answer");
        assert!(step.advanced);
    }

    fn respond(&self, path: &str, text: &str) {
        std::fs::write(self.dir.join(path), text).expect("a file");
    }

    fn decide(&self, choice: Choice) {
        let gate = self
            .engine
            .gate(&SESSION, Some(&self.id))
            .expect("a closed gate");
        self.engine
            .asked(Channel::Terminal)
            .decide(
                &SESSION,
                &Decide {
                    gate,
                    choice,
                    feedback: "Otherwise.".to_owned(),
                },
            )
            .expect("decided");
    }

    /// Answers, takes a step, which is timed, and comes back to where it was.
    fn around(&self) -> Duration {
        self.respond(RESPONSE, CODE);
        let begun = Instant::now();
        self.step();
        let took = begun.elapsed();
        self.step();
        self.decide(Choice::Reject);
        for folder in [&self.dir, &self.dir.join("iteration-2")] {
            clear(folder);
        }
        took
    }

    /// Brings the history to about so many transitions, by journalling the way around over and over.
    fn lengthen(&self, transitions: u64) {
        let journal = FileJournal::open(&self.dir).expect("a journal");
        // From the second time on, every unit has a number.
        self.around();
        let from = journal.head().expect("a head").position();
        self.around();
        let seen = journal.read(&from).expect("a tail").records;
        let around: Vec<NewEvent> = seen
            .into_iter()
            .map(|record| NewEvent::new(record.event, record.fields))
            .collect();
        let count = |name: &str| around.iter().filter(|event| event.event == name).count() as u64;
        let each = count("state:entered");
        let mut journal =
            FileJournal::lock(&self.dir, Duration::from_secs(10), "bench").expect("the lock");
        let mut head = journal.head().expect("a head");
        let times = transitions / each;
        let mut done = 0;
        while done < times {
            let until = times.min(done + 2_000);
            let unit: Vec<NewEvent> = (done..until)
                .flat_map(|time| around.iter().map(move |event| later(event, time + 1)))
                .collect();
            done = until;
            head = journal
                .append(&head, "2026-01-01T00:00:00.000Z", &unit)
                .expect("appended");
        }
    }
}

/// The same event so many times around later: no id of a unit is given twice.
fn later(event: &NewEvent, times: u64) -> NewEvent {
    let mut event = event.clone();
    if let Some(unit) = event.fields.get_mut("unit")
        && let Some((base, number)) = unit.as_str().and_then(|unit| unit.rsplit_once('-'))
        && let Ok(number) = number.parse::<u64>()
    {
        *unit = format!("{base}-{}", number + times).into();
    }
    event
}

/// Takes away what was set aside: there would be more of it with every time around.
fn clear(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.file_name().to_string_lossy().contains(".rejected-") {
            let path = entry.path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("removed");
            } else {
                std::fs::remove_file(path).expect("removed");
            }
        }
    }
}

pub fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("session");
    group.sample_size(50);
    for transitions in [10_u64, 1_000, 100_000] {
        let stage = Stage::new();
        if transitions > 10 {
            stage.lengthen(transitions);
        }
        // An ordinary way around: it writes the snapshot that a session of that length would have.
        stage.around();
        let state = stage
            .engine
            .session_step(Some(&stage.id))
            .expect("an answer")
            .state;
        assert!(state.phase_history_total >= transitions);
        assert!(state.artifacts_total >= transitions.min(state.phase_history_total));
        group.bench_with_input(
            BenchmarkId::new("step that is blocked", transitions),
            &stage,
            |bencher, stage| {
                bencher.iter(|| {
                    let step = stage
                        .engine
                        .session_step(Some(&stage.id))
                        .expect("an answer");
                    assert!(!step.advanced);
                });
            },
        );
        group.bench_with_input(
            BenchmarkId::new("step that advances", transitions),
            &stage,
            |bencher, stage| {
                bencher.iter_custom(|times| (0..times).map(|_| stage.around()).sum());
            },
        );
    }
    group.finish();
}
