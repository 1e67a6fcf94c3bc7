//! Everything but the journal and the evidence can be deleted at any time: it comes back. That each file of a run's folder may be
//! empty, half or gone is told where processes are killed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::{FINALIZE, GREEN, TestEnvironment, tells};
use testkit::files::list;

/// What is made from the journal beside such files: folders, and what says whose they are.
const DERIVED: [&str; 4] = [
    "test-results",
    "../../tags/master/current-run.json",
    "../../tags/master/tag.json",
    "../../tags/master",
];

fn lose(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// Loses all that is made from the journal.
fn lose_all(run: &Path) {
    let truth = ["activity.jsonl", "evidence", "lock"].map(|name| run.join(name));
    let derived = DERIVED.map(|name| run.join(name));
    for path in list(run).iter().chain(&derived) {
        if !truth.contains(path) {
            lose(path);
        }
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

/// The run goes on to its end, whatever is done to these files in its folder, and all is there again.
fn goes_on(files: &[&str], harm: impl Fn(&Path, &str)) {
    let env = in_the_middle();
    env.save(0);
    for what in files {
        harm(&env.run_folder(), what);
        assert_eq!(env.unit(), "workUnit-1.2-GREEN-2", "{what}");
        assert_eq!(env.status("commits"), 1, "{what}");
        env.green();
        env.commit();
        env.auto(FINALIZE).ok();
        let run = env.run_folder();
        let text = fs::read(run.join("../../tags/master/current-run.json")).unwrap();
        let pointer: Value = serde_json::from_slice(&text).unwrap();
        assert!(run.ends_with(pointer["runId"].as_str().unwrap()), "{what}");
        let results = list(&run.join("test-results"));
        assert_eq!(results.len(), 6, "{what}: {results:?}");
        env.journal_is_whole();
        assert_eq!(env.changes(), "", "{what}");
        env.restore(0);
    }
}

#[test]
fn each_and_all_of_them_are_lost() {
    goes_on(&DERIVED, |run, name| lose(&run.join(name)));
    goes_on(&["../../project.json"], |run, name| lose(&run.join(name)));
    goes_on(&["all"], |run, _| lose_all(run));
}

#[test]
fn the_pointer_of_the_tag_is_not_ours() {
    let another = r#"{"runId": "master__task-1__2020-01-01T00-00-00-000Z"}"#;
    goes_on(
        &["", "{", another, r#"{"runId": "../../x"}"#],
        |run, text| {
            fs::write(run.join("../../tags/master/current-run.json"), text).unwrap();
        },
    );
}

#[test]
fn what_is_lost_after_the_end_does_not_change_the_answers() {
    let env = in_the_middle();
    env.green();
    env.commit();
    let end = env.auto(FINALIZE).ok();
    let report = env.report();
    lose_all(&env.run_folder());
    assert_eq!(env.next()["status"], "completed");
    assert_eq!(env.status("status"), "completed");
    assert_eq!(env.tm(&["runs", "list"]).ok()[0]["status"], "completed");
    assert_eq!(env.report(), report);
    assert_eq!(env.auto(FINALIZE).ok(), end);
}

#[test]
fn evidence_that_is_lost_is_named() {
    let env = in_the_middle();
    lose(&env.run_folder().join("evidence"));
    let answer = env.comes_to("next", "evidence_store");
    tells(answer.message(), &["evidence"]);
    // The run itself goes on: what the next unit needs is put together anew.
    assert_eq!(env.status("status"), "running");
    env.write("src/1.2.sh", "code 1.2\n");
    env.auto(GREEN).ok();
    env.commit();
    assert_eq!(env.action(), "finalize");
}
