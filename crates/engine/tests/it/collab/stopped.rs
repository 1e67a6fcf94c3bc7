//! Sessions that somebody paused or ended.

use engine::{Turn, Verb};
use serde_json::json;

use super::stage::{Stage, TWO_WAVES, says_why};

/// What is told of a session beside completions is refused with this code.
fn takes_nothing(stage: &Stage, code: &str) {
    let files = stage.files();
    says_why(code, &stage.update(&json!({"hasSnapshot": true})).unwrap());
    says_why(code, &stage.tell(&[("types", "completed")]));
    says_why(code, &stage.sync(None, Some(TWO_WAVES), None).unwrap());
    stage.is_as(&files);
}

#[test]
fn a_paused_session_takes_nothing_and_says_why() {
    let stage = Stage::of(&["code"]);
    let id = stage.full().run_id;
    for state in [
        "gather-goals",
        "build-task-graph",
        "execute-batch",
        "cleanup",
    ] {
        let before = stage.until(state);
        let skill = before.skill.clone().unwrap();
        stage.turn(&Turn::new(Verb::Pause, "lunch"));
        for named in [None, before.unit_id.as_deref()] {
            let complete = || stage.complete(&skill, named).unwrap();
            let answer = stage.unmoved("paused", complete);
            assert_eq!((answer.state.as_str(), answer.done), (state, false));
            // Whoever goes on until there is nothing next does not take it for the end.
            assert_eq!(answer.next_skill.as_deref(), Some(skill.as_str()));
            assert!(answer.verdict.message.unwrap().contains("lunch"));
            assert!(answer.verdict.suggestion.unwrap().contains(&id));
        }
        stage.refused("systematic-debugging", "paused");
        takes_nothing(&stage, "paused");
        let brief = stage.brief();
        assert_eq!((brief.skill, brief.state.as_str()), (None, state));
        let full = stage.full();
        assert_eq!(full.status, "paused");
        for reason in [brief.paused_reason, full.paused_reason] {
            assert_eq!(reason.as_deref(), Some("lunch"));
        }
        stage.turn(&Turn::new(Verb::Resume, ""));
        assert_eq!(stage.brief(), before);
    }
    stage.until("done");
}

#[test]
fn a_session_that_was_ended_takes_nothing_any_more() {
    for paused in [false, true] {
        let stage = Stage::of(&["code"]);
        let unit = stage.until("execute-batch").unit_id;
        if paused {
            stage.turn(&Turn::new(Verb::Pause, "lunch"));
        }
        stage.turn(&Turn::abort(false, false));
        for (skill, named) in [
            ("executing-plans", None),
            ("executing-plans", unit.as_deref()),
            ("collab-cleanup", None),
        ] {
            let complete = || stage.complete(skill, named).unwrap();
            let answer = stage.unmoved("run_over", complete);
            // Nothing is next, and all the same it did not come to its end.
            let told = json!([answer.next_skill, answer.done, answer.status]);
            assert_eq!(told, json!([null, false, "aborted"]));
        }
        takes_nothing(&stage, "run_over");
        let brief = stage.brief();
        let told = json!([brief.skill, brief.done, brief.status, stage.full().status]);
        assert_eq!(told, json!([null, false, "aborted", "aborted"]));
    }
}

#[test]
fn after_the_end_the_first_skill_begins_another_session() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("done");
    takes_nothing(&stage, "run_over");
    // However many say it at once.
    let answers = std::thread::scope(|scope| {
        let begin = || stage.complete("collab-start", None).unwrap();
        let calls = [(); 8].map(|()| scope.spawn(begin));
        calls.map(|call| call.join().unwrap())
    });
    for answer in answers {
        let told = (answer.session.as_str(), answer.state.as_str());
        assert_eq!(told, ("default-2", "gather-goals"));
    }
    assert_eq!(stage.runs(), 2);
    // Under its own name it is the one that is over.
    let stage = stage.named("default");
    assert!(stage.complete("collab-start", None).unwrap().done);
    assert_eq!(stage.full().status, "completed");
    let stage = stage.named("third");
    assert_eq!(stage.done("collab-start").state, "gather-goals");
    assert_eq!(stage.runs(), 3);
}

#[test]
fn a_completion_said_again_tells_that_the_session_was_stopped() {
    let stage = Stage::of(&["code"]);
    let unit = stage.until("clear-pre-item").unit_id;
    let mut before = stage.done("collab-clear");
    let again = |unit: Option<&str>| stage.complete("collab-clear", unit).unwrap();
    stage.turn(&Turn::new(Verb::Pause, "lunch"));
    before.status = Some("paused".to_owned());
    for unit in [None, unit.as_deref()] {
        assert_eq!(again(unit), before);
    }
    stage.turn(&Turn::new(Verb::Resume, ""));
    before.status = None;
    assert_eq!(again(None), before);
    stage.turn(&Turn::abort(false, false));
    let over = again(None);
    // Nobody is sent on.
    let told = json!([over.status, over.next_skill, over.instructions, over.action]);
    assert_eq!(told, json!(["aborted", null, null, "none"]));
}
