//! Sessions of review: from each refusal to a step that is taken, as far as no person has to decide.

use std::path::PathBuf;

use serde_json::Value;

use super::walk;
use crate::honest::work::{SHOP, Way, Work};

fn tm(work: &Work, command: &str) -> (i32, Value) {
    work.shell(&format!("tm session {command}"))
}

fn done(work: &Work, command: &str) -> Value {
    let (status, answer) = tm(work, command);
    assert!(matches!(status, 0 | 7), "{command}: {answer:#}");
    answer
}

/// A session that has begun, in which nobody is asked.
fn session() -> Work {
    let work = Work::unbegun(&SHOP, Way::Claimed);
    let gates = ["plan", "code", "review"].map(|gate| format!("--gate {gate}=auto"));
    let settings =
        "{\"review\": {\"gates\": {\"plan\": \"auto\", \"code\": \"auto\", \"review\": \"auto\"}}}";
    work.write(".taskmaster/config.json", settings);
    done(&work, &format!("init -i request=greet {}", gates.join(" ")));
    work
}

/// A response in a file of its own.
fn response(work: &Work, text: &str) -> String {
    let path = work.outside().join("response.txt");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Steps with these responses, as far as the last of them is asked for.
fn after(work: &Work, responses: &[&str]) {
    for text in responses {
        done(work, "step");
        done(work, &format!("respond {}", response(work, text)));
        done(work, "step");
    }
    done(work, "step");
}

fn folder(work: &Work) -> PathBuf {
    PathBuf::from(done(work, "status")["folder"].as_str().unwrap())
}

/// The response with the code, in a file of its own.
pub fn code(work: &Work) -> String {
    response(work, CODE)
}

const PLAN: &str = "Greet.\n";
const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n";

#[test]
fn nothing_is_waited_for() {
    let work = session();
    walk(
        &work,
        |work| tm(work, &format!("respond {}", response(work, PLAN))),
        "not_waiting",
        &[],
    );
}

#[test]
fn no_decision_is_waited_for() {
    for (command, code) in [
        ("approve", "no_gate"),
        ("reject --feedback no", "no_gate"),
        ("reopen", "not_stopped"),
        ("export ../out", "not_complete"),
    ] {
        let work = session();
        walk(&work, |work| tm(work, command), code, &[]);
    }
}

#[test]
fn another_response_is_there() {
    let work = session();
    after(&work, &[]);
    done(&work, &format!("respond {}", response(&work, PLAN)));
    walk(
        &work,
        |work| tm(work, &format!("respond {}", response(work, "Other.\n"))),
        "response_there",
        &[],
    );
}

#[test]
fn a_response_cannot_be_used() {
    for (text, code) in [
        ("", "response_empty"),
        ("Here it is.\n", "response_unreadable"),
    ] {
        let work = session();
        after(&work, &[PLAN]);
        let path = response(&work, text);
        let deed = |work: &Work| {
            response(work, CODE);
        };
        let taken = walk(
            &work,
            |work| tm(work, &format!("respond {path} --run")),
            code,
            &[(
                if text.is_empty() {
                    "write it"
                } else {
                    "<<<FILE"
                },
                deed,
            )],
        );
        assert_eq!(taken["phase"], "REVIEWING", "{taken:#}");
    }
}

#[test]
fn a_file_is_changed() {
    let work = session();
    after(&work, &[PLAN]);
    done(&work, &format!("respond {}", response(&work, CODE)));
    std::fs::write(folder(&work).join("plan.md"), "Something else.\n").unwrap();
    walk(&work, |work| tm(work, "step"), "tampered", &[]);
}

#[test]
fn a_folder_stands_where_a_response_goes() {
    let work = session();
    after(&work, &[]);
    let place = folder(&work).join("planning-response.md");
    std::fs::create_dir(&place).unwrap();
    let deed = |work: &Work| {
        let place = folder(work).join("planning-response.md");
        std::fs::remove_dir(&place).unwrap();
        std::fs::write(place, PLAN).unwrap();
    };
    walk(
        &work,
        |work| tm(work, "step"),
        "no_ordinary_file",
        &[("put a file there", deed)],
    );
}

#[test]
fn a_response_comes_again() {
    let work = session();
    after(&work, &[PLAN]);
    walk(
        &work,
        |work| tm(work, &format!("respond {}", response(work, PLAN))),
        "response_repeated",
        &[],
    );
}

#[test]
fn a_link_stands_where_a_prompt_is_written() {
    let work = session();
    let place = folder(&work).join("planning-prompt.md");
    std::os::unix::fs::symlink("elsewhere", &place).unwrap();
    let deed = |work: &Work| {
        std::fs::remove_file(folder(work).join("planning-prompt.md")).unwrap();
    };
    walk(
        &work,
        |work| tm(work, "step"),
        "no_ordinary_file",
        &[("put a file there", deed)],
    );
}
