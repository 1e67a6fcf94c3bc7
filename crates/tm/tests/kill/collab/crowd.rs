//! Many processes at one session of skills. A skill that many complete, and a session that many begin, are shown in
//! `crates/engine/tests/it/collab`, items that many set in `race`, and two servers in `served`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use testkit::Outcome;

use super::stage::{answered, executing};

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
            for child in calls.map(|words| stage.begun(words, "")) {
                answered(&Outcome::waited(child), 0);
            }
        }
        over.store(true, Ordering::SeqCst);
    });
}
