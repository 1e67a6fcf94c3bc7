//! Everything but the journal and the evidence can be deleted at any time: it comes back. That each file of a run's folder may be
//! empty, half or gone is told where processes are killed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::{FINALIZE, GREEN, TestEnvironment, tells};
use testkit::files::list;

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
    for path in list(run).iter().filter(|path| !truth.contains(path)) {
        lose(path);
    }
    lose(&run.join("../../tags/master"));
}

/// In the middle of a run: one subtask committed, the other with a failed attempt behind it.
fn in_the_middle() -> TestEnvironment {
    let env = TestEnvironment::started();
    env.subtask();
    env.red();
    env.auto("complete green --results failed:1,passed:1");
    env
}

#[test]
fn the_run_goes_on_to_its_end_and_all_is_there_again() {
    type Harm = fn(&Path);
    fn points(run: &Path, text: &str) {
        fs::write(run.join("../../tags/master/current-run.json"), text).unwrap();
    }
    testkit::by_chance!(3);
    let harms: [(&str, Harm); 4] = [
        ("all is lost", lose_all),
        ("the folder's name", |run| {
            lose(&run.join("../../project.json"));
        }),
        ("the pointer is cut", |run| points(run, "{")),
        ("another's pointer", |run| {
            points(run, r#"{"runId": "../../x"}"#);
        }),
    ];
    let env = in_the_middle();
    env.save(0);
    for (name, harm) in harms {
        harm(&env.run_folder());
        assert_eq!(env.unit(), "workUnit-1.2-GREEN-2", "{name}");
        assert_eq!(env.status("commits"), 1, "{name}");
        env.green();
        env.commit();
        env.auto(FINALIZE).ok();
        let run = env.run_folder();
        let text = fs::read(run.join("../../tags/master/current-run.json")).unwrap();
        let pointer: Value = serde_json::from_slice(&text).unwrap();
        assert!(run.ends_with(pointer["runId"].as_str().unwrap()), "{name}");
        let results = list(&run.join("test-results"));
        assert_eq!(results.len(), 6, "{name}: {results:?}");
        env.journal_is_whole();
        assert_eq!(env.changes(), "", "{name}");
        env.restore(0);
    }
}

#[test]
fn evidence_that_is_lost_is_named() {
    testkit::by_chance!(3);
    let env = in_the_middle();
    lose(&env.run_folder().join("evidence"));
    let answer = env.comes_to("next", "evidence_missing");
    tells(answer.message(), &["evidence"]);
    // The run itself goes on: what the next unit needs is put together anew.
    assert_eq!(env.status("status"), "running");
    env.write("src/1.2.sh", "code 1.2\n");
    env.auto(GREEN).ok();
    env.commit();
    assert_eq!(env.action(), "finalize");
}
