//! The same completion again is answered the same, and moves nothing.

use std::sync::Barrier;

use super::stage::{Stage, wire};
use super::walk::is_over;

#[test]
fn every_completion_may_come_again_at_any_time() {
    let stage = Stage::of(&["code", "task", "bugfix"]);
    let again = |skill: &str, unit: Option<&str>| stage.complete(skill, unit).unwrap();
    let mut all: Vec<(String, String, String)> = Vec::new();
    loop {
        let brief = stage.brief();
        let Some(skill) = brief.skill else {
            is_over(&again("collab-cleanup", None));
            break;
        };
        let answer = stage.step();
        all.push((skill, brief.unit_id.unwrap(), wire(&answer)));
        stage.pass(1000);
        let before = stage.files();
        let (skill, unit, told) = all.last().unwrap();
        assert_eq!(&wire(&again(skill, Some(unit))), told);
        // Without the unit, unless the present state waits for the same skill.
        if answer.next_skill.as_ref() != Some(skill) {
            assert_eq!(&wire(&again(skill, None)), told);
        }
        // So do those of long ago; where the session is by now stands behind what was told then.
        for (skill, unit, told) in all.iter().rev().skip(1).step_by(7) {
            let mut again = again(skill, Some(unit));
            let moved_on = again.notes.pop_if(|note| note.contains("completed before"));
            let is_behind = again.unit_id != answer.unit_id && !answer.done;
            assert_eq!(moved_on.is_some(), is_behind, "{again:?}");
            assert_eq!(&wire(&again), told);
        }
        stage.is_as(&before);
    }
    assert_eq!(all.len(), 39);
    let before = stage.files();
    for (at, (skill, unit, told)) in all.iter().enumerate() {
        let oddly = again(&skill.to_uppercase(), Some(&format!(" {unit} ")));
        assert_eq!(&wire(&oddly), told);
        let other = &all[(at + 1) % all.len()].0;
        if other != skill {
            let answer = again(other, Some(unit));
            let told = (
                answer.verdict.validated,
                answer.done,
                answer.verdict.code.as_deref(),
            );
            assert_eq!(told, (false, true, Some("run_over")), "{other} for {unit}");
        }
    }
    stage.is_as(&before);
    assert_eq!(stage.events("report:accepted").len(), 40);
}

#[test]
fn a_unit_of_another_skill_or_one_that_was_never_issued_is_refused() {
    let stage = Stage::of(&["code"]);
    let goals = stage.brief().unit_id.unwrap();
    stage.done("gather-session-goals");
    let clear = stage.brief().unit_id.unwrap();
    let future = clear.replace("clear-pre-item", "brainstorm-exploring");
    let further = format!("{goals}0");
    let long = "x".repeat(50_000);
    let is_due = |skill: &str, unit: &str, code| {
        let answer = stage.unmoved(code, || stage.complete(skill, Some(unit)).unwrap());
        assert_eq!(answer.next_skill.as_deref(), Some("collab-clear"));
        assert_eq!(answer.unit_id.as_deref(), Some(clear.as_str()));
        assert!(answer.verdict.message.unwrap().len() < 1000);
    };
    is_due("collab-clear", &goals, "unexpected_skill");
    is_due("gather-session-goals", &clear, "unexpected_skill");
    is_due("brainstorming-exploring", &goals, "unexpected_skill");
    for unit in [future.as_str(), "u1", "", "../..", &further, &long] {
        is_due("collab-clear", unit, "stale_unit");
    }
    stage.complete("collab-clear", Some(&clear)).unwrap();
    assert_eq!(stage.state(), "brainstorm-exploring");
}

#[test]
fn many_who_complete_the_same_at_once_move_once() {
    let stage = Stage::of(&["task"]);
    let mut rounds = 0;
    while stage.state() != "clear-post-item" {
        let brief = stage.brief();
        testkit::write_draft(&serde_json::to_value(&brief).unwrap());
        let begin = Barrier::new(4);
        let complete = || {
            begin.wait();
            let skill = brief.skill.as_deref().unwrap();
            wire(&stage.complete(skill, brief.unit_id.as_deref()).unwrap())
        };
        let answers = std::thread::scope(|scope| {
            let callers = [(); 4].map(|()| scope.spawn(complete));
            callers.map(|caller| caller.join().unwrap())
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        rounds += 1;
        assert_eq!(stage.events("report:accepted").len(), rounds + 1);
    }
    assert_eq!(rounds, 10);
}

/// What a unit was told is found however much was journalled since, and then has not to be looked for again.
#[test]
fn what_was_told_long_ago_is_told_again() {
    let stage = Stage::executing_many(40);
    let kept = || {
        let files = stage.files();
        let kept = files.keys().filter(|path| path.starts_with("evidence/"));
        kept.count()
    };
    let near = stage.full().instructions;
    assert!(wire(&near).contains("task-19"), "{near:?}");
    let before = kept();
    let journal = || {
        let path = stage.dir().join(journal::file::FILE_NAME);
        std::fs::metadata(path).unwrap().len()
    };
    let enough = journal() + 256 * 1024;
    let names: Vec<String> = (0..40).map(|at| format!("task-{at}")).collect();
    while journal() < enough {
        for status in ["in_progress", "pending"] {
            let tasks: Vec<_> = names.iter().map(|name| (name.as_str(), status)).collect();
            stage.told(&tasks);
        }
    }
    for _ in 0..2 {
        assert_eq!(stage.full().instructions, near);
        assert_eq!(kept(), before + 1);
    }
}
