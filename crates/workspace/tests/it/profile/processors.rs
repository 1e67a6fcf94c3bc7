//! Commands that read responses, good ones and others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
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
    scene
        .store()
        .trust(
            workspace::trust::Subject::Profile,
            &folder,
            "own",
            &hash,
            &[],
        )
        .unwrap();
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
    let (code, text) = fault(&scene);
    assert_eq!(code, "profile_untrusted");
    assert!(
        text.contains("no person has trusted") && text.contains("tm session trust own"),
        "{text}"
    );

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

#[test]
fn a_file_of_the_folder_can_be_the_program() {
    let scene = with_command("[./run, x]").file("run", format!("#!/bin/sh\necho '{GOOD}'\n"));
    fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    let scene = trusted(scene);
    assert_eq!(outcome(&scene).unwrap().status, Status::Success);
    fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(0o644)).unwrap();
    let (code, text) = fault(&trusted(scene));
    assert_eq!(code, "processor_missing");
    assert!(text.contains("cannot be executed"), "{text}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    for command in ["[no-such-program-here]", "[./none]", "[/no/such/program]"] {
        let (code, text) = fault(&trusted(with_command(command)));
        assert_eq!(code, "processor_missing", "{command}");
        assert!(text.contains("was not found"), "{text}");
    }
    let scene = with_command("[./run]").file("run", "#!/no/such/interpreter\n");
    fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    let (code, text) = fault(&trusted(scene));
    assert_eq!(code, "processor_missing");
    assert!(text.contains("./run"), "{text}");
}

#[test]
fn what_is_no_result_is_told_with_its_beginning() {
    for (printed, expected) in [
        ("", "it printed nothing"),
        ("  \n\n", "it printed nothing"),
        ("Traceback: no", "it began with: Traceback: no"),
        ("[]", "an object with `status`"),
        ("\"SUCCESS\"", "an object with `status`"),
        ("{}", "missing field `status`"),
        ("{\"status\": \"PASS\"}", "unknown variant `PASS`"),
        ("{\"status\": \"success\"}", "unknown variant"),
        (
            "{\"status\": \"SUCCESS\", \"file\": []}",
            "unknown field `file`",
        ),
        ("{\"status\": \"SUCCESS\", \"files\": {}}", "invalid type"),
        (
            "{\"status\": \"SUCCESS\", \"files\": [{\"path\": \"a\"}]}",
            "missing field `content`",
        ),
        (
            "{\"status\": \"SUCCESS\", \"files\": [{\"path\": 1, \"content\": \"\"}]}",
            "invalid type",
        ),
        (
            "{\"status\": \"SUCCESS\"} {\"status\": \"SUCCESS\"}",
            "trailing characters",
        ),
        ("{\"status\": \"SUCCESS\"}\ndone", "trailing characters"),
        (
            "{\"status\": \"SUCCESS\", \"status\": \"ERROR\"}",
            "duplicate field",
        ),
        ("{\"status\": \"SUCC", "EOF"),
    ] {
        let scene = script("cat out.txt");
        let scene = trusted(scene.file("out.txt", printed));
        let (code, text) = fault(&scene);
        assert_eq!(code, "processor_garbage", "{printed}");
        assert!(text.contains(expected), "{printed}\n{text}");
        assert!(text.contains("`sh run.sh`"), "{text}");
    }
    let deep = format!(
        "{{\"status\": \"SUCCESS\", \"metadata\": {{\"a\": {}",
        "[".repeat(100_000)
    );
    assert!(
        ProcessingResult::parse(deep.as_bytes())
            .unwrap_err()
            .contains("recursion limit")
    );
    assert!(ProcessingResult::parse(b"\xff\xfe{}").is_err());
    let (_, text) = fault(&script(
        "printf '\\033[31mred\\033[0m \\342\\200\\256 x%10000s' y",
    ));
    assert!(
        !text.contains(['\u{1b}', '\u{202e}']) && text.len() < 1_500,
        "{text}"
    );
}

#[test]
fn one_that_dies_is_told_with_what_it_said() {
    let (code, text) = fault(&script(&format!(
        "echo '{GOOD}'; echo first >&2; echo last words >&2; exit 3"
    )));
    assert_eq!(code, "processor_died");
    assert!(
        text.contains("ended with exit status 3; it said: first\nlast words"),
        "{text}"
    );
    let (code, text) = fault(&script("kill -9 $$"));
    assert_eq!(code, "processor_died");
    assert!(text.contains("ended by signal 9"), "{text}");
    let (code, text) = fault(&trusted(
        with_command("[python3, a.py]").file("a.py", "raise ValueError('a reason')\n"),
    ));
    assert_eq!(code, "processor_died");
    assert!(text.contains("ValueError: a reason"), "{text}");
    // Of much that was said, the end is told.
    let (_, text) = fault(&script(
        "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1",
    ));
    assert!(text.contains("line 19999") && text.len() < 6_000, "{text}");
}

#[test]
fn one_that_hangs_is_ended_with_all_it_started() {
    let scene = Scene::new(&format!(
        "{LEAST}responses: {{ planning: {{ command: [sh, run.sh], timeout: 1 }} }}\n"
    ));
    let mark = scene.folder.path().join("mark");
    let scene = trusted(scene.file(
        "run.sh",
        format!(
            "trap '' TERM\n(trap '' TERM; while :; do sleep 1; done) &\necho $! >{}\necho waiting >&2\nwhile :; do sleep 1; done\n",
            mark.display()
        ),
    ));
    let begun = Instant::now();
    let (code, text) = fault(&scene);
    assert_eq!(code, "processor_timed_out");
    assert!(
        text.contains("longer than 1 s") && text.contains("it said: waiting"),
        "{text}"
    );
    assert!(begun.elapsed().as_secs() < 10);
    let child = fs::read_to_string(mark).unwrap();
    assert!(ends(child.trim()), "{child} lives on");
}

/// Whether a process has ended, and be it that nobody has collected it yet. It is looked for again and again: ending takes
/// a process a moment.
fn ends(id: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed().as_secs() < 10 {
        let told = Command::new("ps")
            .args(["-o", "stat=", "-p", id])
            .output()
            .unwrap();
        let state = String::from_utf8(told.stdout).unwrap();
        if state.trim().is_empty() || state.trim().starts_with('Z') {
            return true;
        }
    }
    false
}

#[test]
fn one_that_floods_is_ended() {
    let (code, text) = fault(&script("exec cat /dev/zero"));
    assert_eq!(code, "processor_flooded");
    assert!(text.contains("83886080 bytes"), "{text}");
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
