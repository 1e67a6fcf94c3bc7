//! Everything but the journal and the evidence can be deleted at any time: it comes back.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::TestEnvironment;
use testkit::files::list;

/// The files of a run that are made from its journal, as they are called in its folder.
const DERIVED: [&str; 7] = [
    "state.json",
    "snapshot.json",
    "manifest.json",
    "work-units.json",
    "commits.txt",
    "workflow.yaml",
    "test-results",
];

fn tag_folder(env: &TestEnvironment) -> PathBuf {
    env.run_folder().join("../../tags/master")
}

fn lose(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// In the middle of a run: one subtask committed, the other with a failed attempt behind it.
fn in_the_middle() -> TestEnvironment {
    let env = TestEnvironment::started();
    env.subtask();
    env.red();
    env.auto("complete green --results failed:1,passed:1");
    env
}

/// The run goes on to its end, and all that it tells is there.
fn goes_on(env: &TestEnvironment, what: &str) {
    let next = env.auto("next").ok();
    assert_eq!(next["unitId"], "workUnit-1.2-GREEN-2", "{what}");
    assert!(
        next["instructions"].as_str().unwrap().contains("GREEN"),
        "{what}"
    );
    assert_eq!(env.auto("status").ok()["commits"], 1, "{what}");
    env.green();
    env.auto("commit").ok();
    env.auto("finalize --results failed:0,passed:2").ok();

    let run = env.run_folder();
    let json = |name: &str| -> Value {
        let text =
            fs::read(run.join(name)).unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{what}: {name}: {error}"))
    };
    assert_eq!(json("state.json")["status"], "completed", "{what}");
    assert_eq!(json("manifest.json")["status"], "completed", "{what}");
    assert_eq!(json("report.json")["status"], "completed", "{what}");
    json("snapshot.json");
    let units = json("work-units.json");
    let ids: Vec<&str> = units
        .as_array()
        .unwrap()
        .iter()
        .map(|unit| unit["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "workUnit-1.1-RED",
            "workUnit-1.1-GREEN",
            "workUnit-1.1-COMMIT",
            "workUnit-1.2-RED",
            "workUnit-1.2-GREEN",
            "workUnit-1.2-GREEN-2",
            "workUnit-1.2-COMMIT",
            "workUnit-1-FINALIZE",
        ],
        "{what}"
    );
    let commits = env.git(&["rev-list", "--reverse", "main..HEAD"]);
    assert_eq!(
        fs::read_to_string(run.join("commits.txt"))
            .unwrap()
            .trim_end(),
        commits,
        "{what}"
    );
    assert!(
        fs::read_to_string(run.join("workflow.yaml"))
            .unwrap()
            .starts_with("tramline: 1"),
        "{what}"
    );
    let mut results: Vec<String> = list(&run.join("test-results"))
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    results.sort();
    assert_eq!(
        results,
        [
            "final-suite.json",
            "subtask-1.1-green.json",
            "subtask-1.1-red.json",
            "subtask-1.2-green-failed-1.json",
            "subtask-1.2-green.json",
            "subtask-1.2-red.json",
        ],
        "{what}"
    );
    let pointer: Value =
        serde_json::from_slice(&fs::read(tag_folder(env).join("current-run.json")).unwrap())
            .unwrap();
    assert!(run.ends_with(pointer["runId"].as_str().unwrap()), "{what}");
    assert_eq!(env.tm(&["log", "verify"]).ok()["whole"], true, "{what}");
    assert_eq!(env.git(&["status", "--porcelain"]), "", "{what}");
    assert_eq!(
        env.git(&["rev-list", "--count", "main..HEAD"]),
        "3",
        "{what}"
    );
}

#[test]
fn nothing_is_lost() {
    goes_on(&in_the_middle(), "nothing");
}

#[test]
fn each_of_them_is_lost() {
    for name in DERIVED {
        let env = in_the_middle();
        lose(&env.run_folder().join(name));
        goes_on(&env, name);
    }
}

#[test]
fn the_folder_of_the_tag_is_lost() {
    for name in ["", "current-run.json", "tag.json"] {
        let env = in_the_middle();
        lose(&tag_folder(&env).join(name));
        goes_on(&env, name);
    }
}

#[test]
fn all_of_them_are_lost() {
    let env = in_the_middle();
    for name in DERIVED {
        lose(&env.run_folder().join(name));
    }
    lose(&tag_folder(&env));
    goes_on(&env, "all");
}

#[test]
fn each_of_them_is_torn_or_not_ours() {
    for name in DERIVED {
        for rubbish in ["", "{\"runId\": \"another\"}\n"] {
            let env = in_the_middle();
            let path = env.run_folder().join(name);
            if path.is_dir() {
                for file in list(&path) {
                    fs::write(file, rubbish).unwrap();
                }
            } else {
                fs::write(path, rubbish).unwrap();
            }
            goes_on(&env, &format!("{name} is {rubbish:?}"));
        }
    }
}

#[test]
fn the_pointer_of_the_tag_is_not_ours() {
    for rubbish in [
        "",
        "{",
        "{\"runId\": \"master__task-1__2020-01-01T00-00-00-000Z\"}",
        "{\"runId\": \"../../x\"}",
    ] {
        let env = in_the_middle();
        fs::write(tag_folder(&env).join("current-run.json"), rubbish).unwrap();
        goes_on(&env, rubbish);
    }
}

#[test]
fn what_is_lost_after_the_end_does_not_change_the_answers() {
    let env = in_the_middle();
    env.green();
    env.auto("commit").ok();
    let end = env.auto("finalize --results failed:0,passed:2").ok();
    let report = env.tm(&["runs", "report"]).ok();
    for name in DERIVED.into_iter().chain(["report.json", "report.md"]) {
        lose(&env.run_folder().join(name));
    }
    lose(&tag_folder(&env));
    assert_eq!(env.auto("next").ok()["status"], "completed");
    assert_eq!(env.auto("status").ok()["status"], "completed");
    assert_eq!(env.tm(&["runs", "report"]).ok(), report);
    assert_eq!(env.tm(&["runs", "list"]).ok()[0]["status"], "completed");
    assert_eq!(env.auto("finalize --results failed:0,passed:2").ok(), end);
}

#[test]
fn evidence_that_is_lost_is_named() {
    let env = in_the_middle();
    lose(&env.run_folder().join("evidence"));
    let answer = env.auto("next");
    assert_eq!(
        (answer.status, answer.code()),
        (6, "evidence_store"),
        "{answer:#?}"
    );
    assert!(answer.message().contains("evidence"), "{answer:#?}");
    super::advice::check(&env, &answer);
    // The run itself goes on: what the next unit needs is put together anew.
    assert_eq!(env.auto("status").ok()["status"], "running");
    env.green_of("1.2");
    env.auto("commit").ok();
    assert_eq!(env.action(), "finalize");
}
