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
    within(20, command)
}

fn within(seconds: u32, command: &str) -> Scene {
    Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: {command}, timeout: {seconds} }} }}\n"
    ))
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
fn nothing_runs_before_a_person_trusted_it() {
    let scene = with_command("[sh, run.sh]").file("run.sh", "touch /nowhere");
    assert_eq!(fault(&scene).0, "untrusted");
    let scene = trusted(scene.file("run.sh", "echo '{\"status\": \"ERROR\"}'"));
    let pinned = Profile::from_pin(&scene.load().unwrap().pin().unwrap()).unwrap();
    let asked = |scene: &Scene| ask(scene, &pinned);
    assert_eq!(asked(&scene).unwrap().status, Status::Error);
    let scene = scene.file("run.sh", format!("echo '{GOOD}'"));
    assert_eq!(asked(&scene).unwrap_err().code(), "untrusted");
    // A session goes on with a changed command that was trusted anew.
    let scene = trusted(scene);
    assert_eq!(asked(&scene).unwrap().status, Status::Success);
    fs::remove_dir_all(scene.profile_folder()).unwrap();
    assert_eq!(asked(&scene).unwrap_err().code(), "io_failed");
    // A phase without a command has none to run.
    assert_eq!(outcome(&Scene::new(LEAST)).unwrap_err().code(), "internal");
}

#[test]
fn a_file_of_the_folder_can_be_the_program() {
    let good = format!("#!/bin/sh\necho '{GOOD}'\n");
    let missing = "command_failed";
    for (command, text, mode, expected) in [
        ("[./run, x]", &*good, 0o755, "ran"),
        ("[./run, x]", &good, 0o644, missing),
        ("[./run, x]", "#!/no/such/interpreter\n", 0o755, missing),
        ("[no-such-program-here]", "", 0o755, missing),
        ("[./none]", "", 0o755, missing),
        ("[/no/such/program]", "", 0o755, missing),
    ] {
        let scene = with_command(command).file("run", text);
        fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(mode)).unwrap();
        let found = outcome(&trusted(scene)).map_or_else(|fault| fault.code(), |_| "ran");
        assert_eq!(found, expected, "{command} {text}");
    }
}

#[test]
fn every_status_is_understood_and_what_is_no_result_is_told() {
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
    for (word, status) in [
        ("SUCCESS", Status::Success),
        ("FAILED", Status::Failed),
        ("ERROR", Status::Error),
        ("CANCELLED", Status::Cancelled),
        ("IN_PROGRESS", Status::InProgress),
    ] {
        let printed = format!(" {{\"status\": \"{word}\", \"error_message\": null}}\n");
        let result = ProcessingResult::parse(printed.as_bytes());
        assert_eq!(result.unwrap().status, status);
    }
}

#[test]
fn how_one_ended_is_told_with_what_it_said() {
    let words = format!("echo '{GOOD}'; echo first >&2; echo last words >&2; exit 3");
    // Of much that was said, the end is told.
    let much = "i=0; while [ $i -lt 9999 ]; do echo line $i; i=$((i+1)); done >&2; exit 1";
    let hangs = "echo waiting >&2\nwhile :; do sleep 1; done\n";
    let odd = "printf '\\033[31mred\\033[0m \\342\\200\\256 x%10000s' y";
    let (begun, died) = (Instant::now(), "command_failed");
    for (text, code, says) in [
        (&*words, died, "exit status 3; it said: first\nlast words"),
        ("kill -9 $$", died, "ended by signal 9"),
        (much, died, "line 9998"),
        (hangs, died, "it said: waiting"),
        ("exec cat /dev/zero", died, "printed more than"),
        (odd, died, "it began with: "),
    ] {
        let scene = within(if text == hangs { 1 } else { 20 }, "[sh, run.sh]");
        let (found, told) = fault(&trusted(scene.file("run.sh", text)));
        assert_eq!(found, code, "{told}");
        assert!(told.contains(says) && told.len() < 6_000, "{told}");
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told}");
    }
    assert!(begun.elapsed().as_secs() < 20);
    // One that reads nothing may still know.
    let scene =
        trusted(with_command("[sh, run.sh]").file("run.sh", format!("exec <&-; echo '{GOOD}'")));
    assert_eq!(outcome(&scene).unwrap().status, Status::Success);
}
