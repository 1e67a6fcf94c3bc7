//! Many processes at one session of skills.

use std::collections::BTreeSet;
use std::process::Child;

use serde_json::{Value, json};

use testkit::Outcome;

use super::stage::{Stage, answered, executing};

/// The answers of processes that all come to a good end.
fn answers(children: Vec<Child>) -> Vec<Value> {
    children
        .into_iter()
        .map(|child| answered(&Outcome::waited(child), 0))
        .collect()
}

/// Completes a skill by so many processes at once: one of them advances the session, and all are told the same.
fn at_once(stage: &Stage, count: usize, skill: &str) -> Value {
    let before = stage.events("report:accepted");
    let mut answers = answers(stage.crowd(count, &["complete-skill", skill]));
    assert_eq!(stage.events("report:accepted"), before + 1, "{skill}");
    let answer = answers.pop().unwrap();
    assert!(answers.iter().all(|other| *other == answer), "{answers:#?}");
    assert_eq!(answer["validated"], true, "{answer}");
    answer
}

#[test]
fn twenty_statuses_at_once_are_all_stored() {
    const TASKS: usize = 20;
    let stage = executing(TASKS);
    let before = stage.events("item:changed");
    let children = (1..=TASKS)
        .map(|task| stage.begun(&["task", &format!("t{task}"), "completed"], ""))
        .collect();
    let mut left = BTreeSet::new();
    for answer in answers(children) {
        assert_eq!(answer["validated"], true, "{answer}");
        assert_eq!(answer["tasks"][0]["status"], "completed", "{answer}");
        left.insert(answer["remaining"].as_u64().unwrap());
    }
    // Each saw all those before it.
    assert_eq!(left, (0..TASKS as u64).collect());
    assert_eq!(stage.state().completed_tasks.len(), TASKS);
    assert_eq!(stage.events("item:changed"), before + TASKS);
    journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
}

#[test]
fn a_skill_completed_by_many_at_once_counts_once() {
    for count in [2, 8] {
        let stage = Stage::new();
        stage.tm(
            0,
            &[
                "update",
                "--work-items",
                r#"[{"number": 1, "title": "Mend", "type": "bugfix"}]"#,
            ],
        );
        let mut answer = json!({ "next_skill": "collab-start" });
        while let Some(skill) = answer["next_skill"].as_str().map(str::to_owned) {
            if skill == "executing-plans" {
                stage.tm(0, &["task", "item-1", "completed"]);
            }
            answer = at_once(&stage, count, &skill);
        }
        assert_eq!(answer["done"], true, "{answer}");
        let state = stage.state();
        assert_eq!(state.work_items[0].status, "complete");
        journal::verify::verify(&stage.session().join("activity.jsonl")).unwrap();
    }
}

#[test]
fn sixteen_who_begin_one_session_have_one() {
    let stage = Stage::new();
    let half = 8;
    let items = r#"[{"number": 1, "title": "Mend", "type": "bugfix"}]"#;
    let mut children = stage.crowd(half, &["complete-skill", "collab-start"]);
    children.extend(stage.crowd(half, &["update", "--work-items", items]));
    let answers = answers(children);
    assert_eq!(stage.runs().len(), 1);
    assert!(answers.iter().all(|answer| answer["validated"] == true));
    assert!(
        answers[..half].iter().all(|answer| *answer == answers[0]),
        "{answers:#?}"
    );
    assert_eq!(stage.events("run:created"), 1);
    assert_eq!(stage.events("report:accepted"), 1);
    assert_eq!(stage.state().total_items, 1);
}

#[test]
fn sessions_of_other_names_begin_at_the_same_time() {
    let stage = Stage::new();
    let begin = |name: &str| {
        let words = [
            "collab",
            "complete-skill",
            "collab-start",
            "--session",
            name,
            "--json",
        ];
        stage.program(&words).spawn().unwrap()
    };
    let names: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let children = names
        .iter()
        .chain(&names)
        .map(|name| begin(name))
        .collect::<Vec<_>>();
    let answers = answers(children);
    assert_eq!(stage.runs().len(), names.len());
    for (name, pair) in names
        .iter()
        .zip(answers.iter().zip(&answers[names.len()..]))
    {
        assert_eq!(pair.0["session"], name.as_str());
        assert_eq!(pair.0, pair.1, "who came second is told the same");
    }
}

/// Whoever asks meanwhile is told what was before or what is after, and never fails.
#[test]
fn whoever_reads_while_others_write_sees_no_half() {
    const TASKS: usize = 20;
    let stage = executing(TASKS);
    let all = |status: &str| -> Vec<String> {
        let tasks = (1..=TASKS).map(|task| format!("t{task}={status}"));
        ["task".to_owned()].into_iter().chain(tasks).collect()
    };
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reads = 0;
                while reads == 0 || !over.load(std::sync::atomic::Ordering::SeqCst) {
                    let state = stage.state();
                    let tasks = &state.batches[0].tasks;
                    assert_eq!(tasks.len(), TASKS);
                    let seen: BTreeSet<&str> =
                        tasks.iter().map(|task| task.status.as_str()).collect();
                    assert_eq!(seen.len(), 1, "some are stored and some are not: {seen:?}");
                    let engine = stage.engine();
                    engine.collab_brief(None).unwrap();
                    engine.collab_graph(None).unwrap();
                    reads += 1;
                }
            });
        }
        for _ in 0..6 {
            for status in ["in_progress", "pending"] {
                let words = all(status);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let mut children = vec![stage.begun(&words, "")];
                children.extend(stage.crowd(2, &["state", "--full"]));
                children.push(stage.begun(&["graph"], ""));
                answers(children);
            }
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
    });
}

#[test]
fn items_that_are_set_by_many_at_once_are_those_of_one() {
    let stage = Stage::new();
    stage.skills(&["collab-start"]);
    let items = |who: usize| -> String {
        (1..=5)
            .map(|number| json!({ "number": number, "title": format!("{who}"), "type": "task" }))
            .collect::<Value>()
            .to_string()
    };
    let children = (0..8)
        .map(|who| stage.begun(&["update", "--work-items", &items(who)], ""))
        .collect();
    answers(children);
    let state = stage.state();
    let titles: BTreeSet<&str> = state
        .work_items
        .iter()
        .map(|item| item.title.as_str())
        .collect();
    assert_eq!((state.total_items, titles.len()), (5, 1), "{titles:?}");
}
