//! Responses with files in them, well written, clumsy and hostile: exactly right on the disk, or not there at all. What is
//! read of each is shown where it is read (`crates/markup`).

use std::collections::BTreeMap;
use std::fs;

use super::damage::pipe;
use super::environment::{GENERATION, PLAN, PLANNING, REVISION, Session, at, broke_down};
use testkit::Everything;

/// A bundle of one file of that name, behind a good one.
fn named(name: &str) -> Vec<u8> {
    format!("<<<FILE: good>>>\ngood\n<<<FILE: {name}>>>\nbad\n").into_bytes()
}

/// After a response that was refused: nothing but the response is there, and a good one works.
#[test]
fn what_cannot_be_written_as_it_says_is_refused_as_a_whole() {
    let session = at("GENERATING");
    let names = session.names().len();
    let absolute = session.env.project().join("out").display().to_string();
    let hostile = [
        (named("../out"), "`..`"),
        (named(&absolute), "absolute"),
        (b"<<<FILE: a>>>\n\xff\xfe\n".to_vec(), "UTF-8"),
    ];
    for (round, (bundle, reason)) in (1..).zip(hostile) {
        session.put(GENERATION, bundle);
        let outside = Everything::below([&*session.env.project()]);
        broke_down(&session.step(), reason);
        outside.assert_same(&Everything::below([&*session.env.project()]), "a bundle");
        // The response, and those before it, each with the prompt that asked for it.
        assert_eq!(session.names().len(), names + 2 * round - 1, "{reason}");
        assert!(!session.has("iteration-1/code"), "{reason}");
        assert_eq!(session.person(&["reopen", "--max-iterations", "20"]).0, 2);
        // The report of an end goes when the session goes on.
        assert!(session.has("report.md"));
        session.reopen();
        assert!(!session.has("report.md") && !session.has("report.json"));
    }
    let there = fs::read_dir(session.env.folder()).unwrap().count();
    assert_eq!(there, 3, "home, project, temporary");
    // What can be written stands there to the byte.
    session.generate("<<<FILE: $(touch x)>>>\n$(touch y)\r\n\n<<<FILE: d \u{fc}/-rf>>>\n--\n");
    let files = [("$(touch x)", "$(touch y)\r\n\n"), ("d \u{fc}/-rf", "--\n")];
    let files = files.map(|(path, content)| (path.to_owned(), content.to_owned()));
    assert_eq!(session.code(1), BTreeMap::from(files));
}

#[test]
fn a_revision_has_to_fit_what_was_carried_forward() {
    let session = at("REVISING");
    let carried = session.code(2);
    for name in ["readme", "README/more", "src"] {
        session.put(REVISION, named(name));
        session.step_to("REVISED");
        broke_down(&session.step(), "carried forward");
        assert_eq!(session.code(2), carried, "{name}");
        session.reopen();
    }
    session.revise(
        2,
        "<<<FILE: README>>>\nAnother.\n<<<FILE: src/more.sh>>>\ntrue\n",
    );
    let code = session.code(2);
    assert_eq!((code.len(), &*code["README"]), (3, "Another.\n"));
    assert_eq!(code["src/count.sh"], carried["src/count.sh"]);
    assert_eq!(session.code(1), carried);
}

/// Somebody puts something into the way, which is not followed.
#[test]
fn a_link_in_the_place_of_code_or_its_folder_is_not_followed() {
    type Act = fn(&Session);
    let cases: [(&str, Act); 3] = [
        ("code", |session| {
            session.link("iteration-1/code", session.env.folder().join("outside"));
        }),
        ("what is made aside", |session| {
            let outside = session.env.folder().join("outside");
            session.link("iteration-1/.tramline-code.tmp", outside);
        }),
        ("the iteration", |session| {
            let moved = session.env.folder().join("outside/iteration-1");
            fs::rename(session.folder.join("iteration-1"), &moved).unwrap();
            session.link("iteration-1", moved);
        }),
    ];
    for (what, act) in cases {
        let session = at("INITIALIZED");
        session.before("GENERATED");
        let outside = session.env.folder().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("theirs"), "theirs\n").unwrap();
        act(&session);
        let before = Everything::below([&*outside]);
        let answer = session.step();
        before.assert_same(&Everything::below([&*outside]), what);
        if answer.status == 0 {
            assert_eq!(answer.json()["phase"], "GENERATED", "{what}");
            assert_eq!(session.code(1).len(), 2, "{what}");
            let code = session.folder.join("iteration-1/code");
            assert!(fs::symlink_metadata(code).unwrap().is_dir(), "{what}");
            session.whole();
        } else {
            answer.fault(6, "unsafe_path");
            assert_eq!(
                session.env.tm(&["list"]).ok()[0]["phase"],
                "GENERATING",
                "{what}"
            );
        }
    }
}

#[test]
fn files_of_somebody_in_the_place_of_code_stand_aside() {
    let session = at("INITIALIZED");
    session.before("GENERATED");
    session.put("iteration-1/code/mine", "mine\n");
    let answer = session.step_to("GENERATED");
    assert_eq!(session.code(1).len(), 2, "{answer:#}");
    assert_eq!(session.read("iteration-1/code.changed-1/mine"), "mine\n");
    assert!(answer["warnings"][0].is_string(), "{answer:#}");
}

#[test]
fn what_is_in_the_place_of_an_iteration_is_told() {
    for (phase, iteration) in [("GENERATING", "iteration-1"), ("REVISING", "iteration-2")] {
        let session = at("INITIALIZED");
        session.before(phase);
        let here = session.status();
        let outside = session.env.folder().join("outside");
        fs::create_dir(&outside).unwrap();
        session.link(iteration, &outside);
        session.step().fault(6, "unsafe_path");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
        session.remove(iteration);
        session.put(iteration, "mine\n");
        session.step().fault(6, "unsafe_path");
        assert_eq!(session.status()["phase"], here["phase"]);
        assert_eq!(session.read(iteration), "mine\n");
        // It can be called off all the same.
        session.env.save(0);
        session.tm(&["cancel"]).ok();
        session.env.restore(0);
        session.remove(iteration);
        session.step_to(phase);
        session.whole();
    }
}

#[test]
fn only_an_ordinary_file_is_a_response_and_a_plan_is_one() {
    let session = at("PLANNING");
    let theirs = session.env.folder().join("theirs");
    fs::write(&theirs, "A secret plan.\n").unwrap();
    session.link(PLANNING, &theirs);
    session.refused(6, "unsafe_path");
    session.remove(PLANNING);
    fs::create_dir(session.folder.join(PLANNING)).unwrap();
    session.refused(6, "unsafe_path");
    session.remove(PLANNING);
    // A pipe holds nobody up, whether somebody writes into it or nobody does.
    pipe(&session.folder.join(PLANNING));
    session.refused(6, "unsafe_path");
    session.remove(PLANNING);
    session.blocked();
    session.link("plan.md", &theirs);
    session.put(PLANNING, PLAN);
    session.step_to("PLANNED");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "A secret plan.\n");
    assert!(!session.folder.join("plan.md").is_symlink());
    session.whole();
}

#[test]
fn a_response_that_is_too_large_costs_nothing() {
    let session = at("GENERATING");
    let file = fs::File::create(session.folder.join(GENERATION)).unwrap();
    file.set_len(70 * 1024 * 1024).unwrap();
    session.step().fault(6, "too_large");
    assert_eq!(session.status()["phase"], "GENERATING");
    assert!(!session.has("iteration-1/code"));
    session.to("GENERATED");
}
