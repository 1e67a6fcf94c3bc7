//! What released versions left behind is gone on with: stores, runs in the middle, settings, bundles. Each release adds what it made, as
//! `tests/releases/VERSION.tar.gz`: `MAKE_RELEASE=1 cargo test -p tm --test it upgrade` makes that of this version.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::environment::TestEnvironment;

const PLAN: &str = "# Plan\n\nOne file.\n";
const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n";
const REVIEW: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
const TASKS: &str = r#"{"master": {"tasks": [
  {"id": 1, "title": "Count", "status": "pending", "subtasks": [{"id": 1, "title": "By spaces", "status": "pending"}]},
  {"id": 2, "title": "Sort", "status": "pending", "subtasks": [{"id": 1, "title": "By name", "status": "pending"}]}
]}}"#;
const CONFIG: &str = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"notes": true}, "autopilot": {"maxGreenAttempts": 4}}"#;
const WORKFLOW: &str = "tramline: 1\nid: letter\ntitle: A letter\ninitial: draft\nstates:\n  draft: { work: {}, to: sent }\n  sent: { final: completed }\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases")
}

fn tar(environment: &TestEnvironment, arguments: &[&str]) {
    let mut tar = environment.process("tar");
    let ran = tar
        .current_dir(environment.folder())
        .args(arguments)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// Plays what a user of this version has: a run that is over, others in the middle.
fn make(file: &Path) {
    let environment = TestEnvironment::bare();
    environment.init();
    environment.write(".taskmaster/tasks/tasks.json", TASKS);
    environment.write(".taskmaster/config.json", CONFIG);
    environment.write(".taskmaster/workflows/letter.yaml", WORKFLOW);
    environment.write("run.sh", "exit 0\n");
    environment.commit_all("begin");
    environment.json(&["autopilot", "start", "1"]).json_with(0);
    environment.do_subtask("1.1");
    let finalize = [
        "autopilot",
        "finalize",
        "--results",
        "failed:0,passed:2",
        "--json",
    ];
    environment.tm(&finalize).json_with(0);
    let run = environment.json(&["runs", "list"]).json_with(0)[0]["runId"].clone();
    let bundle = environment.folder().join("bundle.jsonl");
    let export = ["runs", "export", run.as_str().unwrap(), "--output"];
    environment
        .tm(&[&export[..], &[bundle.to_str().unwrap()]].concat())
        .text();

    environment.json(&["autopilot", "start", "2"]).json_with(0);
    environment.write("tests/2.1_test.sh", "false\n");
    let red = [
        "autopilot",
        "complete",
        "red",
        "--results",
        "failed:1,passed:2",
        "--json",
    ];
    environment.tm(&red).json_with(0);

    let init = [
        "session",
        "init",
        "--name",
        "greet",
        "-i",
        "request=Greet",
        "-i",
        "language=sh",
    ];
    environment.tm(&init).text();
    environment.tm(&["session", "run"]);
    environment
        .tm_with_input(&["session", "respond", "-"], PLAN)
        .text();
    environment.tm(&["session", "run"]);

    let begin = [
        "collab",
        "complete-skill",
        "collab-start",
        "--session",
        "notes",
    ];
    environment.tm(&begin).text();
    environment.json(&["run", "start", "letter"]).json_with(0);
    let path = file.to_str().unwrap();
    tar(
        &environment,
        &["czf", path, "project", "home/store", "bundle.jsonl"],
    );
}

/// A machine onto which a user has brought all of it.
fn brought(file: &Path) -> TestEnvironment {
    let environment = TestEnvironment::bare();
    let _ = fs::remove_dir_all(environment.store());
    tar(&environment, &["xzf", file.to_str().unwrap()]);
    let lost = environment.tm(&["autopilot", "next", "--json"]);
    assert!(lost.json().to_string().contains("tm doctor"), "{lost:?}");
    let projects = environment.store().join("projects");
    let name = fs::read_dir(projects)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name();
    let adopt = ["doctor", "--json", "--adopt", name.to_str().unwrap()];
    let checks = environment.tm(&adopt).json_with(0);
    assert_eq!(checks[0]["id"], "adopt", "{checks}");
    environment
}

fn goes_on(environment: &TestEnvironment) {
    let runs = environment.json(&["runs", "list"]).json_with(0);
    let runs: Vec<&Value> = runs.as_array().unwrap().iter().collect();
    assert!(runs.len() >= 5, "{runs:#?}");
    for run in &runs {
        let id = run["runId"].as_str().unwrap();
        let verified = environment.json(&["log", "verify", id]).json_with(0);
        assert_eq!(verified["whole"], true, "{verified:#}");
        environment.json(&["runs", "report", id]).json_with(0);
    }
    let check = environment.json(&["self", "check"]).json_with(0);
    assert_eq!(
        check["kept"]["newer"],
        Value::Array(Vec::new()),
        "{check:#}"
    );
    assert_eq!(
        check["kept"]["unreadable"],
        Value::Array(Vec::new()),
        "{check:#}"
    );

    // Settings.
    let attempts = environment.tm(&["config", "get", "autopilot.maxGreenAttempts"]);
    assert_eq!(attempts.text().trim(), "4");

    // What was earned is so for who has the journal, or the bundle, or the notes.
    let commits = environment.git(&[
        "log",
        "--format=%H",
        "--author=Somebody",
        "--grep=1.1",
        "--all",
    ]);
    let commit = commits.lines().next().unwrap();
    let range = format!("{commit}~1..{commit}");
    let bundle = environment.folder().join("bundle.jsonl");
    for way in [&[][..], &["--bundle", bundle.to_str().unwrap()]] {
        let told = environment.tm(&[&["verify", &range, "--json"][..], way].concat());
        assert_eq!(
            told.json_with(0)["commits"][0]["standing"],
            "earned",
            "{told:?}"
        );
    }

    // The run in the middle, to its end.
    environment.write("src/2.1.sh", "true\n");
    let report = |phase: &str, results: &str| {
        let command = [
            "autopilot",
            "complete",
            phase,
            "--results",
            results,
            "--json",
        ];
        environment.tm(&command).json_with(0)
    };
    report("green", "failed:0,passed:3");
    environment.json(&["autopilot", "commit"]).json_with(0);
    let finalize = [
        "autopilot",
        "finalize",
        "--results",
        "failed:0,passed:3",
        "--json",
    ];
    let over = environment.tm(&finalize).json_with(0);
    assert_eq!(over["nextAction"]["action"], "complete", "{over:#}");

    // The session, to its end.
    for (response, phase) in [(CODE, "REVIEWING"), (REVIEW, "COMPLETE")] {
        let respond = [
            "session",
            "respond",
            "-",
            "--run",
            "--json",
            "--session",
            "greet",
        ];
        let moved = environment.tm_with_input(&respond, response);
        assert_eq!(moved.json()["phase"], phase, "{moved:?}");
    }
    let state = environment
        .json(&["collab", "state", "--session", "notes"])
        .json_with(0);
    assert_eq!(state["skill"], "gather-session-goals", "{state:#}");
    let items = r#"[{"number": 1, "title": "Search", "type": "code"}]"#;
    environment
        .json(&["collab", "update", "--work-items", items])
        .json_with(0);
    let goals = ["collab", "complete-skill", "gather-session-goals"];
    environment.json(&goals).json_with(0);
    let letter = environment
        .json(&["run", "report", "--run-id", "letter"])
        .json_with(0);
    assert_eq!(letter["nextAction"]["status"], "completed", "{letter:#}");
}

#[test]
fn what_released_versions_left_is_gone_on_with() {
    let own = folder().join(concat!(env!("CARGO_PKG_VERSION"), ".tar.gz"));
    if std::env::var_os("MAKE_RELEASE").is_some() {
        make(&own);
    }
    let releases = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let releases: Vec<PathBuf> = releases
        .filter(|path| path.extension().is_some_and(|it| it == "gz"))
        .collect();
    assert!(
        releases.contains(&own),
        "MAKE_RELEASE=1 makes {}",
        own.display()
    );
    for release in releases {
        goes_on(&brought(&release));
    }
}
