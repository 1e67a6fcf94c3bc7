//! Sessions of review: from each refusal to a step that is taken, as far as no person has to decide.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{Story, at_of, story};
use crate::honest::work::{Before, CONFIG, SHOP, Work};

fn tm(work: &Work, command: &str) -> (i32, Value) {
    work.shell(&format!("tm session {command}"))
}

fn done(work: &Work, command: &str) -> Value {
    let (status, answer) = tm(work, command);
    assert!(matches!(status, 0 | 7), "{command}: {answer:#}");
    answer
}

/// A session that has begun, in which nobody is asked.
fn session(before: &Before<'static>) -> Work {
    let work = before.unbegun();
    let auto = |form: &str| ["plan", "code", "review"].map(|gate| form.replace("GATE", gate));
    let gates = auto("\"GATE\": \"auto\"").join(", ");
    let settings = format!("{{\"review\": {{\"gates\": {{{gates}}}}}}}");
    work.write(CONFIG, &settings);
    let gates = auto("--gate GATE=auto").join(" ");
    done(&work, &format!("init -i request=greet {gates}"));
    work
}

/// A session that waits for its plan, and one that waits for its code.
fn at_plan(before: &Before<'static>) -> Work {
    let work = session(before);
    done(&work, "step");
    work
}

fn at_code(before: &Before<'static>) -> Work {
    let work = at_plan(before);
    done(&work, &respond(&work, PLAN));
    done(&work, "step");
    done(&work, "step");
    work
}

/// Writes a response into a file of its own.
fn response(work: &Work, text: &str) -> String {
    let path = work.outside().join("response.txt");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn respond(work: &Work, text: &str) -> String {
    format!("respond {}", response(work, text))
}

/// A file in the folder of the session.
fn file(work: &Work, name: &str) -> PathBuf {
    let folder = done(work, "status")["folder"].as_str().unwrap().to_owned();
    PathBuf::from(folder).join(name)
}

/// The response with the code, in a file of its own.
pub fn code(work: &Work) -> String {
    response(work, CODE)
}

const PLAN: &str = "Greet.\n";
const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n";

fn calls(name: &'static str, command: &'static str, code: &'static str) -> Story {
    story(name, code).call(move |work| tm(work, command))
}

#[test]
fn nothing_is_waited_for_or_its_place_is_taken() {
    at_of(&SHOP, session, &[]).tell([
        story("no response", "not_possible").call(|work| tm(work, &respond(work, PLAN))),
        calls("no approval", "approve", "not_possible"),
        calls("no rejection", "reject --feedback no", "not_possible"),
        calls("it is not stopped", "reopen", "not_possible"),
        calls("it is not complete", "export ../out", "not_possible"),
        calls("a link for a prompt", "step", "unsafe_path")
            .done(|work| {
                let place = file(work, "planning-prompt.md");
                std::os::unix::fs::symlink("elsewhere", place).unwrap();
            })
            .deed(|work| fs::remove_file(file(work, "planning-prompt.md")).unwrap()),
    ]);
}

#[test]
fn a_response_cannot_be_used_or_a_file_of_the_session_is_changed() {
    let unfit = |name, text: &'static str, code| {
        let again = |work: &Work| {
            let path = work.outside().join("response.txt");
            tm(work, &format!("respond {} --run", path.display()))
        };
        story(name, code)
            .done(|work| response(work, text))
            .call(again)
            .deed(|work| response(work, CODE))
            .then(|work| assert_eq!(done(work, "status")["phase"], "REVIEWING"))
    };
    at_of(&SHOP, at_code, &[]).tell([
        unfit("it is empty", "", "usage"),
        unfit("it holds no file", "Here it is.\n", "response_unreadable"),
        story("it comes again", "already_there").call(|work| tm(work, &respond(work, PLAN))),
        calls("a document", "step", "tampered").done(|work| {
            done(work, &respond(work, CODE));
            fs::write(file(work, "plan.md"), "Something else.\n").unwrap();
        }),
    ]);
    at_of(&SHOP, at_plan, &[]).tell([
        story("another one is there", "already_there")
            .done(|work| done(work, &respond(work, PLAN)))
            .call(|work| tm(work, &respond(work, "Other.\n"))),
        calls("a folder for a response", "step", "unsafe_path")
            .done(|work| fs::create_dir(file(work, "planning-response.md")).unwrap())
            .deed(|work| {
                let place = file(work, "planning-response.md");
                fs::remove_dir(&place).unwrap();
                fs::write(place, PLAN).unwrap();
            }),
    ]);
}
