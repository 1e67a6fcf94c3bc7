//! Many processes at one session of skills. A skill that many complete, and a session that many begin, are shown in
//! `crates/engine/tests/it/collab`, and over two servers in `served`.

use std::collections::BTreeSet;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use testkit::Outcome;

use super::stage::{Stage, answered, executing};

/// The answers of processes that all come to a good end.
fn answers(children: Vec<Child>) -> Vec<Value> {
    let ended = children.into_iter().map(Outcome::waited);
    ended.map(|ran| answered(&ran, 0)).collect()
}

/// Whoever asks meanwhile is told what was before or what is after, and never fails.
#[test]
fn whoever_reads_while_others_write_sees_no_half() {
    const TASKS: usize = 20;
    let stage = executing(TASKS);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reads = 0;
                while reads == 0 || !over.load(Ordering::SeqCst) {
                    let state = stage.state();
                    let tasks = &state.batches[0].tasks;
                    assert_eq!(tasks.len(), TASKS);
                    let seen: BTreeSet<&String> = tasks.iter().map(|task| &task.status).collect();
                    assert_eq!(seen.len(), 1, "some are stored and some are not: {seen:?}");
                    let engine = stage.engine();
                    engine.collab_brief(None).unwrap();
                    engine.collab_graph(None).unwrap();
                    reads += 1;
                }
            });
        }
        for status in ["in_progress", "pending"].into_iter().cycle().take(6) {
            let all: Vec<String> = (1..=TASKS)
                .map(|task| format!("t{task}={status}"))
                .collect();
            let mut words = vec!["task"];
            words.extend(all.iter().map(String::as_str));
            let calls = [
                &words[..],
                &["state", "--full"],
                &["state", "--full"],
                &["graph"],
            ];
            answers(calls.map(|words| stage.begun(words, "")).into());
        }
        over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn items_that_are_set_by_many_at_once_are_those_of_one() {
    let stage = Stage::new();
    stage.skills(&["collab-start"]);
    let set = |who: usize| {
        let title = format!("{who}");
        let item = |number| json!({ "number": number, "title": title, "type": "task" });
        let items: Value = (1..=5).map(item).collect();
        stage.begun(&["update", "--work-items", &items.to_string()], "")
    };
    answers((0..6).map(set).collect());
    let state = stage.state();
    let titles: BTreeSet<&String> = state.work_items.iter().map(|item| &item.title).collect();
    assert_eq!((state.total_items, titles.len()), (5, 1), "{titles:?}");
}
