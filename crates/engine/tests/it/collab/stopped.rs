//! Sessions that somebody paused or ended.

use serde_json::json;

use super::stage::{Stage, TWO_WAVES, wire};

#[test]
fn a_paused_session_takes_nothing_and_says_why() {
    for state in [
        "gather-goals",
        "clear-bs2",
        "build-task-graph",
        "execute-batch",
        "cleanup",
    ] {
        let stage = Stage::of(&["code"]);
        stage.until(state);
        let before = stage.brief();
        let skill = before.skill.clone().unwrap();
        let id = stage.full().run_id;
        stage.engine().run_pause(Some(&id), "lunch").unwrap();
        for named in [None, before.unit_id.as_deref()] {
            let answer = stage.complete(&skill, named).unwrap();
            assert!(!answer.validated);
            assert_eq!(answer.code.as_deref(), Some("paused"), "{answer:?}");
            assert_eq!((answer.state.as_str(), answer.done), (state, false));
            // Whoever goes on until there is nothing next does not take it for the end.
            assert_eq!(answer.next_skill.as_deref(), Some(skill.as_str()));
            assert!(answer.message.unwrap().contains("lunch"));
            assert!(answer.suggestion.unwrap().contains(&id));
        }
        let files = stage.files();
        stage.refused("systematic-debugging", "paused");
        let updated = stage.update(&json!({"hasSnapshot": true})).unwrap();
        assert_eq!(updated.code.as_deref(), Some("paused"));
        let updated = stage.tell(&[("types", "completed")]);
        assert_eq!(updated.code.as_deref(), Some("paused"));
        let synced = stage.sync(None, TWO_WAVES).unwrap();
        assert_eq!(synced.code.as_deref(), Some("paused"));
        stage.is_as(&files);

        let brief = stage.brief();
        assert_eq!(
            (brief.skill, brief.paused_reason.as_deref()),
            (None, Some("lunch"))
        );
        assert_eq!(brief.state, state);
        let full = stage.full();
        assert_eq!(
            (full.status.as_str(), full.paused_reason.as_deref()),
            ("paused", Some("lunch"))
        );

        stage.engine().run_resume(Some(&id)).unwrap();
        let after = stage.brief();
        assert_eq!((after.skill, after.state), (before.skill, before.state));
        assert_eq!(after.paused_reason, None);
        stage.until("done");
    }
}

#[test]
fn what_was_accepted_before_is_answered_in_a_pause_too() {
    let stage = Stage::of(&["code"]);
    let unit = stage.brief().unit_id.unwrap();
    let mut answer = stage.done("gather-session-goals");
    let id = stage.full().run_id;
    stage.engine().run_pause(Some(&id), "lunch").unwrap();
    answer.status = Some("paused".to_owned());
    assert_eq!(
        wire(&stage.complete("gather-session-goals", Some(&unit)).unwrap()),
        wire(&answer)
    );
    assert_eq!(
        wire(&stage.complete("gather-session-goals", None).unwrap()),
        wire(&answer)
    );
}

#[test]
fn a_session_that_was_ended_takes_nothing_any_more() {
    for paused in [false, true] {
        let stage = Stage::of(&["code"]);
        stage.until("execute-batch");
        let unit = stage.brief().unit_id.unwrap();
        let id = stage.full().run_id;
        if paused {
            stage.engine().run_pause(Some(&id), "lunch").unwrap();
        }
        stage.engine().run_abort(Some(&id)).unwrap();
        let files = stage.files();
        for (skill, named) in [
            ("executing-plans", None),
            ("executing-plans", Some(unit.as_str())),
            ("collab-cleanup", None),
            ("gather-session-goals", None),
        ] {
            let answer = stage.complete(skill, named).unwrap();
            assert_eq!(answer.code.as_deref(), Some("run_over"), "{answer:?}");
            // Nothing is next, and all the same it did not come to its end.
            assert_eq!(answer.next_skill, None);
            assert_eq!(
                (answer.done, answer.status.as_deref()),
                (false, Some("aborted"))
            );
            assert!(answer.message.unwrap().contains("aborted"));
        }
        let updated = stage.update(&json!({"hasSnapshot": true})).unwrap();
        assert_eq!(updated.code.as_deref(), Some("run_over"));
        assert_eq!(
            stage.tell(&[("types", "completed")]).code.as_deref(),
            Some("run_over")
        );
        assert_eq!(
            stage.sync(None, TWO_WAVES).unwrap().code.as_deref(),
            Some("run_over")
        );
        stage.is_as(&files);
        let brief = stage.brief();
        assert_eq!(brief.skill, None);
        assert_eq!(
            (brief.done, brief.status.as_deref()),
            (false, Some("aborted"))
        );
        assert_eq!(stage.full().status, "aborted");
    }
}

#[test]
fn after_the_end_the_first_skill_begins_another_session() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("done");
    let answer = stage.done("collab-start");
    assert_eq!(
        (answer.session.as_str(), answer.state.as_str()),
        ("default-2", "gather-goals")
    );
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
fn after_the_end_eight_callers_at_once_begin_one_session() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("done");
    let answers: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| stage.complete("collab-start", None)))
            .collect();
        let calls = calls.into_iter().map(|call| call.join().unwrap());
        calls.collect()
    });
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(
            (answer.session.as_str(), answer.state.as_str()),
            ("default-2", "gather-goals")
        );
    }
    assert_eq!(stage.runs(), 2);
}

#[test]
fn a_completion_said_again_tells_that_the_session_was_stopped() {
    let stage = Stage::of(&["code"]);
    stage.until("brainstorm-exploring");
    let id = stage.full().run_id;
    let before = stage.complete("collab-clear", None).unwrap();
    assert_eq!((before.validated, before.status.as_deref()), (true, None));

    stage.engine().run_pause(Some(&id), "lunch").unwrap();
    let paused = stage.complete("collab-clear", None).unwrap();
    assert_eq!(
        (paused.validated, paused.status.as_deref()),
        (true, Some("paused"))
    );
    assert_eq!(paused.next_skill, before.next_skill);

    stage.engine().run_resume(Some(&id)).unwrap();
    assert_eq!(stage.complete("collab-clear", None).unwrap(), before);

    stage.engine().run_abort(Some(&id)).unwrap();
    let over = stage.complete("collab-clear", None).unwrap();
    assert_eq!(over.status.as_deref(), Some("aborted"));
    // Nobody is sent on.
    assert_eq!(
        (over.next_skill, over.instructions, over.action.as_str()),
        (None, None, "none")
    );
}
