//! What released versions left behind is gone on with: stores, runs in the middle, settings, bundles. Each release adds what it made, as
//! `tests/releases/VERSION.tar.gz`: `MAKE_RELEASE=1 cargo test -p tm --test it upgrade` makes that of this version.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::program::environment::TestEnvironment;
use testkit::documentation::workspace;
use testkit::files::list;

const PLAN: &str = "# Plan\n\nOne file.\n";
const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n";
const PASS: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
const TASKS: &str = r#"{"master": {"tasks": [
  {"id": 1, "title": "Count", "status": "pending", "subtasks": [{"id": 1, "title": "By spaces", "status": "pending"}]},
  {"id": 2, "title": "Sort", "status": "pending", "subtasks": [{"id": 1, "title": "By name", "status": "pending"}]}
]}}"#;
const CONFIG: &str = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"notes": true}, "autopilot": {"maxGreenAttempts": 4}}"#;
const WORKFLOW: &str = "tramline: 1\nid: letter\ntitle: A letter\ninitial: draft\nstates:\n  draft: { work: {}, to: sent }\n  sent: { final: completed }\n";

fn tar(environment: &TestEnvironment, arguments: &[&str]) {
    let mut tar = environment.process("tar");
    tar.current_dir(environment.folder()).args(arguments);
    let ran = tar.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// Plays what a user of this version has: a run that is over, others in the middle.
fn make(file: &Path) {
    let environment = TestEnvironment::bare();
    let done = |line: &str| environment.typed_json(line).ok();
    environment.init();
    environment.write(".taskmaster/tasks/tasks.json", TASKS);
    environment.write(".taskmaster/config.json", CONFIG);
    environment.write(".taskmaster/workflows/letter.yaml", WORKFLOW);
    environment.write("run.sh", "exit 0\n");
    environment.commit_all("begin");
    done("autopilot start 1");
    environment.do_subtask("1.1");
    done("autopilot finalize --results failed:0,passed:2");
    let run = done("runs list")[0]["runId"].take();
    let bundle = environment.folder().join("bundle.jsonl");
    let (run, bundle) = (run.as_str().unwrap(), bundle.display());
    let export = format!("runs export {run} --output {bundle}");
    environment.typed(&export).text();

    done("autopilot start 2");
    environment.write("tests/2.1_test.sh", "false\n");
    done("autopilot complete red --results failed:1,passed:2");

    done("session init --name greet -i request=Greet -i language=sh");
    environment.typed("session run");
    let respond = ["session", "respond", "-", "--run"];
    environment.tm_with_input(&respond, PLAN);

    done("collab complete-skill collab-start --session notes");
    done("run start letter");
    let path = file.to_str().unwrap();
    let all = ["czf", path, "project", "home/store", "bundle.jsonl"];
    tar(&environment, &all);
}

/// A machine onto which a user has brought all of it.
fn brought(file: &Path) -> TestEnvironment {
    let environment = TestEnvironment::bare();
    let _ = fs::remove_dir_all(environment.store());
    tar(&environment, &["xzf", file.to_str().unwrap()]);
    let lost = environment.typed_json("autopilot next");
    assert!(lost.json().to_string().contains("tm doctor"), "{lost:?}");
    let projects = list(&environment.store().join("projects"));
    let name = projects[0].file_name().unwrap().to_str().unwrap();
    let adopt = format!("doctor --adopt {name}");
    let checks = environment.typed_json(&adopt).ok();
    assert_eq!(checks[0]["id"], "adopt", "{checks}");
    environment
}

fn goes_on(environment: &TestEnvironment) {
    let done = |line: &str| environment.typed_json(line).ok();
    let runs = done("runs list");
    let runs = runs.as_array().unwrap();
    assert!(runs.len() >= 5, "{runs:#?}");
    for run in runs {
        let id = run["runId"].as_str().unwrap();
        let verified = done(&format!("log verify {id}"));
        assert_eq!(verified["whole"], true, "{verified:#}");
        done(&format!("runs report {id}"));
    }
    let kept = done("self check")["kept"].take();
    assert_eq!(json!([kept["newer"], kept["unreadable"]]), json!([[], []]));
    assert_eq!(done("config get autopilot.maxGreenAttempts"), 4);

    // What was earned is so for who has the journal, or the bundle, or the notes.
    let earned = [
        "log",
        "--format=%H",
        "--author=Somebody",
        "--grep=1.1",
        "--all",
    ];
    let commits = environment.git(&earned);
    let commit = commits.lines().next().unwrap();
    let bundle = environment.folder().join("bundle.jsonl");
    for way in [String::new(), format!(" --bundle {}", bundle.display())] {
        let told = done(&format!("verify {commit}~1..{commit}{way}"));
        assert_eq!(told["commits"][0]["standing"], "earned", "{told:?}");
    }

    // The run in the middle, to its end.
    environment.write("src/2.1.sh", "true\n");
    done("autopilot complete green --results failed:0,passed:3");
    done("autopilot commit");
    let over = done("autopilot finalize --results failed:0,passed:3");
    assert_eq!(over["nextAction"]["action"], "complete", "{over:#}");

    // The session, to its end.
    for (response, phase) in [(CODE, "REVIEWING"), (PASS, "COMPLETE")] {
        let line = "session respond - --run --json --session greet";
        let words: Vec<&str> = line.split(' ').collect();
        let moved = environment.tm_with_input(&words, response);
        assert_eq!(moved.json()["phase"], phase, "{moved:?}");
    }
    let state = done("collab state --session notes");
    assert_eq!(state["skill"], "gather-session-goals", "{state:#}");
    let items = r#"[{"number":1,"title":"Search","type":"code"}]"#;
    done(&format!("collab update --work-items {items}"));
    done("collab complete-skill gather-session-goals");
    let letter = done("run report --run-id letter");
    assert_eq!(letter["nextAction"]["status"], "completed", "{letter:#}");
}

#[test]
fn what_released_versions_left_is_gone_on_with() {
    let folder = workspace().join("crates/tm/tests/releases");
    let own = folder.join(concat!(env!("CARGO_PKG_VERSION"), ".tar.gz"));
    if std::env::var_os("MAKE_RELEASE").is_some() {
        make(&own);
    }
    let mut releases = list(&folder);
    releases.retain(|path| path.extension().is_some_and(|it| it == "gz"));
    let made = releases.contains(&own);
    assert!(made, "MAKE_RELEASE=1 makes {}", own.display());
    for release in releases {
        goes_on(&brought(&release));
    }
}
