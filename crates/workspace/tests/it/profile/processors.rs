//! Commands that read responses, good ones and others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};
use workspace::profile::processing::{ProcessingResult, ProcessorFault, Request, Status, process};
use workspace::profile::{Phase, Profile};

use super::{LEAST, Scene};

const GOOD: &str = r#"{"status": "SUCCESS", "files": [{"path": "a", "content": "b"}]}"#;

fn with_command(command: &str) -> Scene {
    Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: {command}, timeout: 20 }} }}\n"
    ))
}

/// A profile whose command is this shell script, trusted.
fn script(text: &str) -> Scene {
    trusted(with_command("[sh, run.sh]").file("run.sh", text))
}

fn trusted(scene: Scene) -> Scene {
    let folder = scene.profile_folder().canonicalize().unwrap();
    let hash = scene.load().unwrap().hash;
    assert!(super::trusting::trust(&scene.store(), &folder, &hash));
    scene
}

fn ask(scene: &Scene, profile: &Profile) -> Result<ProcessingResult, ProcessorFault> {
    let inputs: Map<String, Value> = [("request".to_owned(), json!("x"))].into_iter().collect();
    let request = Request {
        session_id: "the-session",
        iteration: 1,
        inputs: &inputs,
        response: "the response\nwith two lines",
        response_path: Path::new("/session/planning-response.md"),
        project_root: Path::new("/project"),
        session_dir: Path::new("/session"),
        code_dir: Path::new("/session/iteration-1/code"),
        plan: "the plan",
    };
    process(profile, Phase::Planning, &request, &scene.store())
}

fn outcome(scene: &Scene) -> Result<ProcessingResult, ProcessorFault> {
    ask(scene, &scene.load().unwrap())
}

fn fault(scene: &Scene) -> (&'static str, String) {
    let fault = outcome(scene).unwrap_err();
    (fault.code(), format!("{fault} | {}", fault.suggestion()))
}

#[test]
fn a_command_gets_the_request_and_gives_the_result() {
    let scene = trusted(
        with_command("[python3, process.py, one]")
            .file(
                "process.py",
                r#"
import json, os, sys
from part import status
request = json.load(sys.stdin)
json.dump({
    "status": status,
    "files": [{"path": "a.rs", "content": request["response"]}],
    "messages": [sys.argv[1], os.environ.get("TRAMLINE_TOKEN", "no token")],
    "metadata": {"request": request, "folder": sorted(os.listdir("."))},
}, sys.stdout)
print("not part of the result", file=sys.stderr)
"#,
            )
            .file("part.py", "status = 'SUCCESS'\n"),
    );
    let result = outcome(&scene).unwrap();
    assert_eq!(result.status, Status::Success);
    assert_eq!(result.files[0].path, "a.rs");
    assert_eq!(result.files[0].content, "the response\nwith two lines");
    assert_eq!(result.messages, ["one", "no token"]);
    assert_eq!(
        result.metadata["request"],
        json!({
            "version": 1, "profile": "own", "phase": "planning", "session_id": "the-session", "iteration": 1,
            "inputs": { "request": "x" }, "response": "the response\nwith two lines",
            "response_path": "/session/planning-response.md", "project_root": "/project", "session_dir": "/session",
            "code_dir": "/session/iteration-1/code", "plan": "the plan",
        })
    );
    // The interpreter left something beside its modules: in the copy.
    assert!(!scene.path("__pycache__").exists());
    assert_eq!(outcome(&scene).unwrap().status, Status::Success);
}

#[test]
fn every_status_is_understood() {
    for (word, status) in [
        ("SUCCESS", Status::Success),
        ("FAILED", Status::Failed),
        ("ERROR", Status::Error),
        ("CANCELLED", Status::Cancelled),
        ("IN_PROGRESS", Status::InProgress),
    ] {
        let result = ProcessingResult::parse(
            format!(" {{\"status\": \"{word}\", \"error_message\": null}}\n").as_bytes(),
        );
        assert_eq!(result.unwrap().status, status);
    }
}

#[test]
fn nothing_runs_before_a_person_trusted_it() {
    let scene = with_command("[sh, run.sh]").file("run.sh", "touch /nowhere");
    assert_eq!(fault(&scene).0, "profile_untrusted");
    let scene = trusted(scene);
    let profile = scene.load().unwrap();
    let scene = scene.file("run.sh", "echo changed");
    let fault = ask(&scene, &profile).unwrap_err();
    assert_eq!(fault.code(), "profile_untrusted");
    assert!(fault.to_string().contains("was changed since"), "{fault}");
}

#[test]
fn a_session_goes_on_with_a_changed_command_that_was_trusted_anew() {
    let scene = script("echo '{\"status\": \"ERROR\"}'");
    let pinned = Profile::from_pin(&scene.load().unwrap().pin().unwrap()).unwrap();
    assert_eq!(ask(&scene, &pinned).unwrap().status, Status::Error);
    let scene = trusted(scene.file("run.sh", format!("echo '{GOOD}'")));
    assert_eq!(ask(&scene, &pinned).unwrap().status, Status::Success);
    fs::remove_dir_all(scene.profile_folder()).unwrap();
    assert_eq!(ask(&scene, &pinned).unwrap_err().code(), "profile_io");
}

fn program(text: impl AsRef<[u8]>, mode: u32) -> Scene {
    let scene = with_command("[./run, x]").file("run", text);
    fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(mode)).unwrap();
    trusted(scene)
}

#[test]
fn a_file_of_the_folder_can_be_the_program() {
    let text = format!("#!/bin/sh\necho '{GOOD}'\n");
    let expected = Status::Success;
    assert_eq!(outcome(&program(&text, 0o755)).unwrap().status, expected);
    assert_eq!(fault(&program(&text, 0o644)).0, "processor_missing");
    let interpreter = program("#!/no/such/interpreter\n", 0o755);
    assert_eq!(fault(&interpreter).0, "processor_missing");
    for command in ["[no-such-program-here]", "[./none]", "[/no/such/program]"] {
        let (code, _) = fault(&trusted(with_command(command)));
        assert_eq!(code, "processor_missing", "{command}");
    }
}

#[test]
fn what_is_no_result_is_told_with_its_beginning() {
    for case in [
        " ⇒ it printed nothing",
        "  \n\n ⇒ it printed nothing",
        "Traceback: no ⇒ expected value at line 1 column 1",
        "[] ⇒ invalid length 0, expected an object with `status` at line 1 column 2",
        r#""SUCCESS" ⇒ invalid type: string "SUCCESS", expected an object with `status` at line 1 column 9"#,
        "{} ⇒ missing field `status` at line 1 column 2",
        r#"{"status": "PASS"} ⇒ unknown variant `PASS`, expected one of `SUCCESS`, `FAILED`, `ERROR`, `CANCELLED`, `IN_PROGRESS` at line 1 column 17"#,
        r#"{"status": "success"} ⇒ unknown variant `success`, expected one of `SUCCESS`, `FAILED`, `ERROR`, `CANCELLED`, `IN_PROGRESS` at line 1 column 20"#,
        r#"{"status": "SUCCESS", "file": []} ⇒ unknown field `file`, expected one of `status`, `files`, `deleted`, `error_message`, `messages`, `metadata` at line 1 column 28"#,
        r#"{"status": "SUCCESS", "files": {}} ⇒ invalid type: map, expected a sequence at line 1 column 31"#,
        r#"{"status": "SUCCESS", "files": [{"path": "a"}]} ⇒ missing field `content` at line 1 column 45"#,
        r#"{"status": "SUCCESS", "files": [{"path": 1, "content": ""}]} ⇒ invalid type: integer `1`, expected a string at line 1 column 42"#,
        r#"{"status": "SUCCESS"} {"status": "SUCCESS"} ⇒ trailing characters at line 1 column 23"#,
        "{\"status\": \"SUCCESS\"}\ndone ⇒ trailing characters at line 2 column 1",
        r#"{"status": "SUCCESS", "status": "ERROR"} ⇒ duplicate field `status` at line 1 column 30"#,
        r#"{"status": "SUCC ⇒ EOF while parsing a string at line 1 column 16"#,
    ] {
        let (printed, expected) = case.split_once(" ⇒ ").unwrap();
        let fault = ProcessingResult::parse(printed.as_bytes()).unwrap_err();
        assert_eq!(fault, expected, "{printed}");
    }
    let nested = "[".repeat(100_000);
    let deep = format!("{{\"status\": \"SUCCESS\", \"metadata\": {{\"a\": {nested}");
    assert!(ProcessingResult::parse(deep.as_bytes()).is_err());
    assert!(ProcessingResult::parse(b"\xff\xfe{}").is_err());
    let (code, text) = fault(&script(
        "printf '\\033[31mred\\033[0m \\342\\200\\256 x%10000s' y",
    ));
    assert_eq!(code, "processor_garbage");
    assert!(
        text.contains("`sh run.sh`") && text.contains("it began with: "),
        "{text}"
    );
    assert!(
        !text.contains(['\u{1b}', '\u{202e}']) && text.len() < 1_500,
        "{text}"
    );
}

#[test]
fn one_that_dies_is_told_with_what_it_said() {
    let words = format!("echo '{GOOD}'; echo first >&2; echo last words >&2; exit 3");
    // Of much that was said, the end is told.
    let much = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1";
    for (text, says) in [
        (&*words, "exit status 3; it said: first\nlast words"),
        ("kill -9 $$", "ended by signal 9"),
        (much, "line 19999"),
    ] {
        let (code, told) = fault(&script(text));
        assert_eq!(code, "processor_died");
        assert!(told.contains(says) && told.len() < 6_000, "{told}");
    }
}

#[test]
fn one_that_hangs_is_ended() {
    let scene = Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: [sh, run.sh], timeout: 1 }} }}\n"
    ));
    let text = "echo waiting >&2\nwhile :; do sleep 1; done\n";
    let begun = Instant::now();
    let (code, text) = fault(&trusted(scene.file("run.sh", text)));
    assert_eq!(code, "processor_timed_out");
    assert!(text.contains("it said: waiting"), "{text}");
    assert!(begun.elapsed().as_secs() < 10);
}

#[test]
fn one_that_floods_is_ended() {
    let (code, _) = fault(&script("exec cat /dev/zero"));
    assert_eq!(code, "processor_flooded");
}

#[test]
fn one_that_reads_nothing_may_still_know() {
    let scene = script(&format!("exec <&-; echo '{GOOD}'"));
    assert_eq!(outcome(&scene).unwrap().status, Status::Success);
}

#[test]
fn a_phase_without_a_command_has_none_to_run() {
    let scene = Scene::new(LEAST);
    assert_eq!(outcome(&scene).unwrap_err().code(), "internal");
}
