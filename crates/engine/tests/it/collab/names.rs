//! What sessions are called, and which one is meant.

use engine::Kind;
use engine::Turn;
use engine::next_step::Argument;
use engine::view::GENERIC;
use engine::view::collab::request::SkillDone;
use serde_json::json;

use super::stage::{Stage, items_of};

/// A project with sessions of these names under way; calls name the last one.
fn several(names: &[&str]) -> Stage {
    names.iter().fold(Stage::bare(), |stage, name| {
        let stage = stage.named(name);
        stage.done("collab-start");
        stage
    })
}

/// The name of the session that is called so.
fn found(stage: &Stage, name: &str) -> Result<String, String> {
    let brief = stage.engine().collab_brief(Some(name));
    brief.map(|brief| brief.session).map_err(|fault| fault.code)
}

#[test]
fn of_several_runs_one_has_to_be_named() {
    let stage = several(&["one", "two"]);
    let before = stage.files();
    let engine = stage.engine();
    let unnamed = |skill: &str| {
        let done = SkillDone {
            skill: skill.to_owned(),
            ..SkillDone::default()
        };
        engine.complete_skill(&done).unwrap_err()
    };
    for fault in [
        unnamed("gather-session-goals"),
        unnamed("collab-start"),
        engine.collab_brief(None).unwrap_err(),
        engine.collab_state(None).unwrap_err(),
        engine.collab_graph(None).unwrap_err(),
    ] {
        let told = (fault.kind, fault.code.as_str());
        assert_eq!(told, (Kind::Usage, "several_runs"));
        let names = ["one", "two"].map(|name| fault.message.contains(name));
        assert_eq!(names, [true, true], "{fault:?}");
        assert!(fault.suggestion.contains(&Argument("run").to_string()));
    }
    stage.is_as(&before);
    assert_eq!(stage.runs(), 2);
    // The only one that is left needs no name.
    engine
        .turn(
            &GENERIC,
            Some(&stage.full().run_id),
            &Turn::abort(false, false),
        )
        .unwrap();
    assert_eq!(engine.collab_brief(None).unwrap().session, "one");
}

#[test]
fn a_session_is_found_by_its_name_and_by_its_run_and_by_nothing_else() {
    let stage = several(&["one"]);
    stage.set_items(&items_of(&[("bugfix", &[])]));
    stage.done("gather-session-goals");
    // A name that is taken begins nothing.
    stage.refused("collab-start", "unexpected_skill");
    assert_eq!(stage.runs(), 1);
    // The id of its run begins with each of these.
    let first = stage.full().run_id;
    for name in ["c", "collab", "collab_", "on"] {
        assert_eq!(found(&stage, name), Err("no_run".to_owned()), "{name}");
    }
    let stage = stage.named("one-more");
    stage.done("collab-start");
    let second = stage.full().run_id;
    for (name, session) in [
        (first.as_str(), "one"),
        ("one", "one"),
        (second.as_str(), "one-more"),
        ("one-more", "one-more"),
        (" one-more ", "one-more"),
    ] {
        assert_eq!(found(&stage, name), Ok(session.to_owned()), "{name}");
    }
    // They do not know of each other.
    stage.refused("gather-session-goals", "no_items");
    let stage = stage.named("one");
    stage.until("done");
    let stage = stage.named("one-more");
    assert_eq!(stage.state(), "gather-goals");
    let stage = stage.named("collab");
    assert_eq!(stage.done("collab-start").session, "collab");
    assert_eq!(stage.runs(), 3);
}

#[test]
fn names_that_are_none_are_refused_everywhere() {
    let long = "x".repeat(300);
    let names = [
        "", " ", "..", ".", "../up", "a/b", "/etc", "a\\b", "a\nb", "a\0b", "-x", &long,
    ];
    let mut stage = Stage::bare();
    for runs in [0, 1] {
        for name in names {
            stage = stage.named(name);
            for fault in [
                stage.complete("collab-start", None).unwrap_err(),
                stage.complete("gather-session-goals", None).unwrap_err(),
                stage.update(&json!({"hasSnapshot": true})).unwrap_err(),
                stage.engine().collab_brief(Some(name)).unwrap_err(),
                stage.engine().collab_state(Some(name)).unwrap_err(),
                stage.sync(None, Some("tasks: []"), None).unwrap_err(),
            ] {
                assert_eq!(fault.kind, Kind::Usage, "{name:?}: {fault:?}");
                assert!(!fault.suggestion.is_empty(), "{fault:?}");
                assert!(fault.message.len() < 1000);
            }
            assert_eq!(stage.runs(), runs, "{name:?}");
        }
        // The same where there is a session already.
        stage = stage.named("one");
        stage.done("collab-start");
    }
}

#[test]
fn names_that_are_plain_are_taken_as_they_are() {
    for name in ["One", "2026-01", "feature.x", "a b", "a__b", " padded "] {
        let stage = several(&[name]);
        assert_eq!(stage.brief().session, name.trim());
    }
}

#[test]
fn the_generic_verbs_begin_sessions_of_their_own() {
    let stage = Stage::bare();
    let runs = ["default", "default-2"].map(|name| {
        let begun = stage.engine().run_start("collab", serde_json::Map::new());
        let id = begun.unwrap().run_id;
        let brief = stage.engine().collab_brief(Some(&id)).unwrap();
        let told = (brief.session.as_str(), brief.state.as_str());
        assert_eq!(told, (name, "collab-start"));
        id
    });
    let stage = stage.named("default-2");
    assert_eq!(stage.done("collab-start").session, "default-2");
    assert_eq!(stage.full().run_id, runs[1]);
}
