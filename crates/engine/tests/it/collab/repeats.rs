//! The same completion again is answered the same, and moves nothing.

use std::sync::Barrier;

use super::stage::{Stage, wire};
use super::walk::is_over;

#[test]
fn every_completion_may_come_again_at_any_time() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let mut all: Vec<(String, String, String)> = Vec::new();
    loop {
        let brief = stage.brief();
        let Some(skill) = brief.skill else {
            break;
        };
        let unit = brief.unit_id.unwrap();
        let answer = stage.step();
        all.push((skill.clone(), unit.clone(), wire(&answer)));
        stage.pass(1000);
        let before = stage.files();
        let (_, _, told) = all.last().unwrap();
        assert_eq!(&wire(&stage.complete(&skill, Some(&unit)).unwrap()), told);
        // Without the unit, unless the present state waits for the same skill.
        if answer.next_skill.as_deref() != Some(&skill) {
            assert_eq!(&wire(&stage.complete(&skill, None).unwrap()), told);
        }
        stage.is_as(&before);
    }
    assert_eq!(all.len(), 39);
    let before = stage.files();
    for (at, (skill, unit, told)) in all.iter().enumerate() {
        assert_eq!(&wire(&stage.complete(skill, Some(unit)).unwrap()), told);
        assert_eq!(
            &wire(
                &stage
                    .complete(&skill.to_uppercase(), Some(&format!(" {unit} ")))
                    .unwrap()
            ),
            told
        );
        let other = &all[(at + 1) % all.len()].0;
        if other != skill {
            let answer = stage.complete(other, Some(unit)).unwrap();
            assert!(!answer.validated, "{other} for {unit}");
            assert!(answer.done);
            assert_eq!(answer.code.as_deref(), Some("run_over"));
        }
    }
    stage.is_as(&before);
    assert_eq!(stage.events("report:accepted").len(), 40);
}

#[test]
fn units_of_long_ago_are_answered_while_the_session_goes_on() {
    let stage = Stage::of(&["code", "bugfix"]);
    let mut all: Vec<(String, String, String)> = Vec::new();
    while let Some(skill) = stage.brief().skill {
        let unit = stage.brief().unit_id.unwrap();
        let answer = stage.step();
        all.push((skill, unit, wire(&answer)));
        let before = stage.files();
        for (skill, unit, told) in all.iter().rev().step_by(3) {
            let mut again = stage.complete(skill, Some(unit)).unwrap();
            // Where the session is by now stands behind what was told then.
            let moved_on = again.notes.pop_if(|note| note.contains("completed before"));
            let is_behind = again.unit_id != answer.unit_id && !answer.done;
            assert_eq!(moved_on.is_some(), is_behind, "{again:?}");
            assert_eq!(&wire(&again), told);
        }
        stage.is_as(&before);
    }
}

#[test]
fn the_unit_of_one_skill_is_none_of_another() {
    let stage = Stage::of(&["code"]);
    let goals = stage.brief().unit_id.unwrap();
    stage.done("gather-session-goals");
    let clear = stage.brief().unit_id.unwrap();
    for (skill, unit) in [
        ("collab-clear", &goals),
        ("gather-session-goals", &clear),
        ("brainstorming-exploring", &goals),
    ] {
        let before = stage.files();
        let answer = stage.complete(skill, Some(unit)).unwrap();
        assert_eq!(
            answer.code.as_deref(),
            Some("unexpected_skill"),
            "{answer:?}"
        );
        assert_eq!(answer.next_skill.as_deref(), Some("collab-clear"));
        assert_eq!(answer.state, "clear-pre-item");
        stage.is_as(&before);
    }
}

#[test]
fn a_unit_that_was_never_issued_is_refused() {
    let stage = Stage::of(&["code"]);
    let first = stage.brief().unit_id.unwrap();
    stage.done("gather-session-goals");
    let present = stage.brief().unit_id.unwrap();
    let before = stage.files();
    let future = present.replace("clear-pre-item", "brainstorm-exploring");
    assert_ne!(future, present);
    for unit in [
        future.as_str(),
        "u1",
        "",
        "../..",
        &format!("{first}0"),
        &"x".repeat(50_000),
    ] {
        let answer = stage.complete("collab-clear", Some(unit)).unwrap();
        assert!(!answer.validated, "{unit}: {answer:?}");
        assert_eq!(answer.code.as_deref(), Some("stale_unit"), "{answer:?}");
        assert_eq!(answer.next_skill.as_deref(), Some("collab-clear"));
        assert_eq!(answer.unit_id.as_deref(), Some(present.as_str()));
        assert!(answer.message.unwrap().len() < 1000);
    }
    stage.is_as(&before);
    stage.complete("collab-clear", Some(&present)).unwrap();
    assert_eq!(stage.state(), "brainstorm-exploring");
}

#[test]
fn clears_that_follow_each_other_are_told_apart_by_their_units() {
    // After a bugfix two clears follow each other, and the same name is then the next one's.
    let stage = Stage::of(&["bugfix"]);
    stage.until("clear-pre-execute");
    stage.done("collab-clear");
    stage.finish_batch();
    let executed = stage.done("executing-plans");
    assert_eq!(executed.state, "clear-post-batch");
    let unit = executed.unit_id.clone().unwrap();
    let cleared = stage.complete("collab-clear", Some(&unit)).unwrap();
    assert_eq!(cleared.state, "workflow-complete");
    let again = stage.complete("collab-clear", Some(&unit)).unwrap();
    assert_eq!(wire(&again), wire(&cleared));
    assert_eq!(wire(&stage.done("collab-clear")), wire(&cleared));
}

#[test]
fn a_refused_completion_is_no_accepted_one() {
    let stage = Stage::of(&["code"]);
    stage.until("build-task-graph");
    let first = stage.refused("build-task-graph", "graph_missing");
    let second = stage.refused("build-task-graph", "graph_missing");
    assert_eq!(wire(&first), wire(&second));
    stage.synced(super::stage::TWO_WAVES);
    let answer = stage.done("build-task-graph");
    assert_eq!(answer.state, "clear-rd4");
}

#[test]
fn the_last_completion_may_come_again_after_the_end() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("cleanup");
    let unit = stage.brief().unit_id.unwrap();
    let over = stage.done("collab-cleanup");
    is_over(&over);
    for named in [None, Some(unit.as_str())] {
        let again = stage.complete("collab-cleanup", named).unwrap();
        assert_eq!(wire(&again), wire(&over));
    }
}

#[test]
fn many_who_complete_the_same_at_once_move_once() {
    let stage = Stage::of(&["code"]);
    let mut rounds = 0;
    while stage.state() != "build-task-graph" {
        let brief = stage.brief();
        let (skill, unit) = (brief.skill.unwrap(), brief.unit_id.unwrap());
        stage.write_draft();
        let begin = Barrier::new(4);
        let answers: Vec<String> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        begin.wait();
                        wire(&stage.complete(&skill, Some(&unit)).unwrap())
                    })
                })
                .collect();
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .collect()
        });
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{answers:?}"
        );
        rounds += 1;
        assert_eq!(stage.events("report:accepted").len(), rounds + 1);
    }
    assert_eq!(rounds, 16);
}

/// What a unit was told is found however much was journalled since, and then has not to be looked for again.
#[test]
fn what_was_told_long_ago_is_told_again() {
    let names: Vec<String> = (0..40).map(|number| format!("task-{number}")).collect();
    let graph: Vec<String> = names
        .iter()
        .map(|name| format!("  - id: {name}\n    files: [src/{name}.rs]\n"))
        .collect();
    let stage = Stage::executing(&format!("tasks:\n{}", graph.concat()));
    let evidence = || {
        stage
            .files()
            .keys()
            .filter(|path| path.starts_with(stage.dir().join("evidence")))
            .count()
    };
    let near = wire(&stage.full().instructions);
    assert!(near.contains("task-19"), "{near}");
    let kept = evidence();
    let journal = || {
        let path = stage.dir().join(journal::file::FILE_NAME);
        std::fs::metadata(path).unwrap().len()
    };
    let before = journal();
    while journal() < before + 256 * 1024 {
        for status in ["in_progress", "pending"] {
            let tasks: Vec<(&str, &str)> =
                names.iter().map(|name| (name.as_str(), status)).collect();
            stage.told(&tasks);
        }
    }
    for _ in 0..2 {
        assert_eq!(wire(&stage.full().instructions), near);
        assert_eq!(evidence(), kept + 1);
    }
}
