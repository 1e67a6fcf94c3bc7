//! A run from start to report, as an agent drives it: the shapes of the answers.

use serde_json::{Value, json};
use testkit::Outcome;

use super::environment::TestEnvironment;

/// Runs the binary for JSON, with words that stand apart by spaces.
pub fn tm(environment: &TestEnvironment, words: &str) -> Outcome {
    environment.json(&words.split_whitespace().collect::<Vec<_>>())
}

/// A text says these, and none of those.
pub fn says(text: &str, texts: &[&str], others: &[&str]) {
    for said in texts {
        assert!(text.contains(said), "{said:?} is not in {text}");
    }
    for said in others {
        assert!(!text.contains(said), "{said:?} is in {text}");
    }
}

/// The values that have these names, as one.
pub fn all(value: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| value[name].clone()).collect()
}

/// `nextAction` is what `next` answers, without context, with the subtask by its name alone, and with instructions that may leave
/// out what was said before.
fn check_next(environment: &TestEnvironment, answer: &Value, action: &str) -> Value {
    let full = tm(environment, "autopilot next").ok();
    let mut next = full.clone();
    let object = next.as_object_mut().unwrap();
    for key in ["context", "preconditions", "instructions"] {
        object.remove(key);
    }
    if let Some(subtask) = object.get_mut("subtask") {
        let (id, title, kind) = (&subtask["id"], &subtask["title"], &subtask["kind"]);
        *subtask = json!({ "id": id, "title": title, "kind": kind });
    }
    let mut told = answer["nextAction"].clone();
    let instructions = told.as_object_mut().unwrap().remove("instructions");
    assert_eq!(instructions.is_some(), full.get("instructions").is_some());
    assert_eq!(told, next);
    assert_eq!(told["action"], action);
    full
}

#[test]
fn a_run_from_start_to_report() {
    let environment = TestEnvironment::new();
    let ok = |words: &str| tm(&environment, words).ok();
    let plan = ok("autopilot start 1 --dry-run");
    assert_eq!(plan["dryRun"], true);
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 2);
    let branches = environment.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main");

    let started = ok("autopilot start 1");
    assert_eq!(started["branch"], "master/task-1-count-the-words");
    let next = check_next(&environment, &started, "red");
    let unit = all(&next, &["unitId", "attempt"]);
    assert_eq!(unit, json!(["workUnit-1.1-RED", 1]));
    assert_eq!(next["context"]["testCommand"], "sh run.sh");

    check_first_subtask(&environment);
    environment.do_subtask("1.2");
    let status = ok("autopilot status");
    let (progress, made) = (&status["progress"], &status["commits"]);
    assert_eq!(progress["completed"], json!(["1.1", "1.2"]));
    assert_eq!((&progress["percentage"], made), (&json!(100), &json!(2)));

    let done = ok("autopilot finalize --results passed:3,failed:0");
    assert_eq!(done["validated"], true);
    check_next(&environment, &done, "complete");
    assert!(done["report"].as_str().unwrap().starts_with('#'), "{done}");
    assert_eq!(environment.git(&["status", "--porcelain"]), "");
    check_history(&environment, started["runId"].as_str().unwrap());
}

/// RED, a failed attempt at GREEN, GREEN and COMMIT.
fn check_first_subtask(environment: &TestEnvironment) {
    let complete = |words: &str| tm(environment, &format!("autopilot complete {words}"));
    environment.write("tests/spaces_test.sh", "false\n");
    let red = complete("red 1.1 --results failed:2,passed:0").ok();
    assert_eq!(red["validated"], true);
    check_next(environment, &red, "green");

    // A report that is refused is a verdict, not an error.
    environment.write("src/spaces.sh", "true\n");
    let retry = complete("--results failed:1,passed:1").json_with(3);
    let verdict = all(&retry, &["validated", "code"]);
    assert_eq!(verdict, json!([false, "green_tests_still_failing"]));
    assert_eq!(retry["nextAction"]["attempt"], 2);

    let green = complete(r#"1.1 --results {"passed":2,"failed":0}"#).ok();
    check_next(environment, &green, "commit");
    let commit = tm(environment, "autopilot commit 1.1").ok();
    assert_eq!(commit["commitSha"], environment.head());
    let next = check_next(environment, &commit, "red");
    assert_eq!(next["subtask"]["id"], "1.2");
}

/// What the other commands tell of the run that is over.
fn check_history(environment: &TestEnvironment, run: &str) {
    let ok = |words: &str| tm(environment, words).ok();
    let runs = ok("runs list");
    let listed = all(&runs[0], &["runId", "status"]);
    assert_eq!(listed, json!([run, "completed"]));
    assert_eq!(ok("runs list --status paused"), json!([]));
    let prefix = &run[..run.len() - 3];
    assert_eq!(ok(&format!("runs show {prefix}"))["runId"], run);
    let of_green = ok(&format!("runs show {run} --subtask 1.1 --diff RED..green"));
    let files = json!([{ "path": "src/spaces.sh", "change": "added", "classes": ["source"] }]);
    assert_eq!(of_green["files"], files, "{of_green:#}");
    assert!(
        of_green["patch"]
            .as_str()
            .unwrap()
            .contains("+++ b/src/spaces.sh")
    );
    let own = ok(&format!("runs show {run} --diff base..commit"));
    let before = format!("{}^", own["to"]["tree"].as_str().unwrap());
    let before = environment.git(&["rev-parse", &before]);
    assert_eq!(own["from"]["tree"], before.trim(), "{own:#}");
    environment
        .tm(&["runs", "show", run, "--diff", "red..blue", "--json"])
        .fault(4, "not_found");
    let log = ok(&format!("runs log {run}"));
    let log = log.as_array().unwrap();
    let ends = [&log[0], &log[log.len() - 1]].map(|event| &event["event"]);
    assert_eq!(ends, ["run:created", "run:ended"]);
    let verified = ok(&format!("log verify {run}"));
    let whole = all(&verified, &["whole", "events"]);
    assert_eq!(whole, json!([true, log.len()]));
    // Watching a run that is over prints all of it and ends.
    let watched = environment.tm(&["autopilot", "watch", "--run-id", run, "--json"]);
    let lines = watched.text().lines().map(serde_json::from_str::<Value>);
    assert_eq!(lines.collect::<Result<Vec<_>, _>>().unwrap(), *log);
}
