//! What sessions are called, and which one is meant.

use engine::Kind;
use engine::next_step::Argument;
use engine::view::collab::request::SkillDone;
use serde_json::json;

use super::stage::Stage;

/// A project with sessions of these names under way.
fn several(names: &[&str]) -> Stage {
    let mut stage = Stage::bare();
    for name in names {
        stage = stage.named(name);
        stage.done("collab-start");
    }
    stage
}

/// Completes a skill without naming the session.
fn unnamed(
    stage: &Stage,
    skill: &str,
) -> Result<engine::view::collab::answer::SkillAnswer, engine::Fault> {
    stage.engine().complete_skill(&SkillDone {
        skill: skill.to_owned(),
        ..SkillDone::default()
    })
}

#[test]
fn of_several_runs_one_has_to_be_named() {
    let stage = several(&["one", "two"]);
    let before = stage.files();
    for fault in [
        unnamed(&stage, "gather-session-goals").unwrap_err(),
        unnamed(&stage, "collab-start").unwrap_err(),
        stage.engine().collab_brief(None).unwrap_err(),
        stage.engine().collab_state(None).unwrap_err(),
        stage.engine().collab_graph(None).unwrap_err(),
    ] {
        assert_eq!(
            (fault.kind, fault.code.as_str()),
            (Kind::Usage, "several_runs")
        );
        assert!(
            fault.message.contains("one") && fault.message.contains("two"),
            "{fault:?}"
        );
        assert!(fault.suggestion.contains(&Argument("run").to_string()));
    }
    stage.is_as(&before);
    assert_eq!(stage.runs(), 2);
    // The only one that is left needs no name.
    let id = stage.full().run_id;
    stage.engine().run_abort(Some(&id)).unwrap();
    assert_eq!(stage.engine().collab_brief(None).unwrap().session, "one");
}

#[test]
fn sessions_do_not_know_of_each_other() {
    let stage = several(&["one"]);
    stage.set_items(&json!([{"number": 1, "title": "One", "type": "bugfix"}]));
    stage.done("gather-session-goals");
    let stage = stage.named("two");
    stage.done("collab-start");
    stage.refused("gather-session-goals", "no_items");
    let stage = stage.named("one");
    assert_eq!(stage.state(), "clear-pre-item");
    stage.until("done");
    let stage = stage.named("two");
    assert_eq!(stage.state(), "gather-goals");
}

#[test]
fn a_session_is_found_by_its_name_and_by_its_run() {
    let stage = several(&["one", "one-more"]);
    let id = stage.full().run_id;
    for named in [id.as_str(), "one-more", " one-more "] {
        let brief = stage.engine().collab_brief(Some(named)).unwrap();
        assert_eq!(brief.session, "one-more", "{named}");
    }
    let brief = stage.engine().collab_brief(Some("one")).unwrap();
    assert_eq!(brief.session, "one");
    let fault = stage.engine().collab_brief(Some("on")).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Missing, "no_session")
    );
    assert!(fault.message.contains("`on`"));
}

#[test]
fn a_name_that_is_taken_begins_nothing() {
    let stage = several(&["one"]);
    stage.set_items(&json!([{"number": 1, "title": "One", "type": "bugfix"}]));
    stage.done("gather-session-goals");
    stage.refused("collab-start", "unexpected_skill");
    assert_eq!(stage.runs(), 1);
}

#[test]
fn names_that_are_none_are_refused_everywhere() {
    let long = "x".repeat(300);
    for name in [
        "",
        " ",
        "..",
        ".",
        "../up",
        "a/b",
        "/etc",
        "a\\b",
        "a\nb",
        "a\0b",
        "-x",
        "--session",
        &long,
    ] {
        let stage = Stage::bare().named(name);
        for fault in [
            stage.complete("collab-start", None).unwrap_err(),
            stage.complete("gather-session-goals", None).unwrap_err(),
            stage.update(&json!({"hasSnapshot": true})).unwrap_err(),
            stage.engine().collab_brief(Some(name)).unwrap_err(),
            stage.engine().collab_state(Some(name)).unwrap_err(),
            stage.sync(None, "tasks: []").unwrap_err(),
        ] {
            assert_eq!(fault.kind, Kind::Usage, "{name:?}: {fault:?}");
            assert!(!fault.suggestion.is_empty(), "{fault:?}");
            assert!(fault.message.len() < 1000);
        }
        assert_eq!(stage.runs(), 0, "{name:?}");
        // The same where there are sessions already.
        let stage = stage.named("one");
        stage.done("collab-start");
        let stage = stage.named(name);
        let fault = stage.complete("collab-start", None).unwrap_err();
        assert_eq!(fault.kind, Kind::Usage, "{name:?}: {fault:?}");
        assert_eq!(stage.runs(), 1, "{name:?}");
    }
}

#[test]
fn names_that_are_plain_are_taken_as_they_are() {
    for name in [
        "one",
        "One",
        "2026-01",
        "feature.x",
        "a_b",
        "x",
        "a b",
        "a__b",
    ] {
        let stage = Stage::bare().named(name);
        let answer = stage.done("collab-start");
        assert_eq!(answer.session, name);
        assert_eq!(stage.brief().session, name);
    }
    let stage = Stage::bare().named(" padded ");
    assert_eq!(stage.done("collab-start").session, "padded");
}

#[test]
fn a_name_is_no_beginning_of_a_run() {
    // The id of the first one's run begins with each of these.
    let mut stage = several(&["one"]);
    let id = stage.full().run_id;
    for name in ["c", "collab", "collab_"] {
        stage = stage.named(name);
        let fault = stage.engine().collab_brief(Some(name)).unwrap_err();
        assert_eq!(fault.code, "no_session", "{name}");
    }
    stage = stage.named("collab");
    assert_eq!(stage.done("collab-start").session, "collab");
    assert_eq!(stage.runs(), 2);
    stage = stage.named("one");
    assert_eq!(
        stage.engine().collab_brief(Some(&id)).unwrap().session,
        "one"
    );
}

#[test]
fn the_generic_verbs_begin_sessions_of_their_own() {
    let stage = Stage::bare();
    let begin = || {
        let begun = stage.engine().run_start("collab", serde_json::Map::new());
        begun.unwrap().run_id
    };
    let (first, second) = (begin(), begin());
    for (id, name) in [(&first, "default"), (&second, "default-2")] {
        let brief = stage.engine().collab_brief(Some(id)).unwrap();
        assert_eq!(
            (brief.session.as_str(), brief.state.as_str()),
            (name, "collab-start")
        );
    }
    let stage = stage.named("default-2");
    assert_eq!(stage.done("collab-start").session, "default-2");
    assert_eq!(stage.full().run_id, second);
}

#[test]
fn beginning_the_same_session_at_once_begins_one() {
    let stage = Stage::bare().named("one");
    let answers: Vec<String> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| super::stage::wire(&stage.done("collab-start"))))
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
    assert_eq!(stage.runs(), 1);
}
