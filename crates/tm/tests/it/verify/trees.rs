//! Commits that are held against trees: merges, and what a run made under another id.

use serde_json::json;

use super::environment::{RUN, TestEnvironment, earned, told};

/// Puts a commit onto the branch that the run began on, and merges that.
fn merged(environment: &TestEnvironment) {
    environment.git(&["switch", "--quiet", "main"]);
    environment.write("README.md", "words, counted\n");
    environment.commit_all("More on main");
    environment.git(&["switch", "--quiet", "-"]);
    environment.git(&["merge", "--quiet", "--no-edit", "main"]);
}

#[test]
fn a_merge_holds_what_joining_its_parents_gives() {
    let environment = TestEnvironment::finished(false);
    merged(&environment);
    told(
        &environment.verify("main..HEAD"),
        "earned earned earned merge",
        "",
    );
    environment.write("src/words.sh", "false\n");
    environment.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    let standings = "earned earned earned unearned";
    told(&environment.verify("main..HEAD"), standings, "unearned");
}

#[test]
fn a_change_counts_in_its_place_alone() {
    let list = |first: &str, second: &str| {
        format!("a\nb\nc\n{first}\nd\ne\nf\na\nb\nc\n{second}\nd\ne\nf\n")
    };
    let environment = TestEnvironment::new();
    environment.write("src/list.sh", list("old", "old"));
    environment.commit_all("A list");
    environment.does("autopilot start 1");
    environment.write("src/list.sh", list("new", "old"));
    environment.red_and_green(&["words"]);
    environment.does("autopilot commit");
    environment.git(&["commit", "--quiet", "--amend", "--message", "Other words"]);
    earned(&environment.verify("main..HEAD"), 1);
    environment.write("src/list.sh", list("old", "new"));
    environment.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    told(&environment.verify("main..HEAD"), "unearned", "unearned");
}

#[test]
fn the_tests_of_a_commit_with_another_id_are_run_again() {
    let environment = TestEnvironment::in_commit(false);
    environment.does("autopilot commit");
    environment.git(&["commit", "--quiet", "--amend", "--message", "Other words"]);
    let answer = earned(&environment.verify("main..HEAD --replay"), 1);
    let commit = &answer["commits"][0];
    assert!(commit["carries"][0].is_string(), "{commit:#}");
    assert_eq!(commit["replay"]["red"]["failed"], 1, "{commit:#}");
}

#[test]
fn the_last_commit_is_run_whatever_made_it() {
    let environment = TestEnvironment::finished(false);
    earned(&environment.verify("main..HEAD --replay"), 3);
    // What joins without a conflict may break all the same.
    environment.git(&["switch", "--quiet", "main"]);
    environment.write("tests/other.sh", "test ! -e src/lines.sh\n");
    environment.commit_all("Another test on main");
    environment.git(&["switch", "--quiet", "-"]);
    environment.git(&["merge", "--quiet", "--no-edit", "main"]);
    let standings = "earned earned earned faulty";
    let proof = environment.verify("main..HEAD --replay");
    told(&proof, standings, "replay_failed");
}

#[test]
fn a_repair_mends_what_fails_before_it() {
    let environment = TestEnvironment::mended(false);
    let replay = "main..HEAD --replay";
    let standings = "earned earned merge earned";
    told(&environment.verify(replay), standings, "");
    // On a commit where nothing fails it is no repair, but a change without a test.
    let repair = environment.git(&["rev-parse", "HEAD"]);
    environment.git(&["switch", "--quiet", "--detach", "main"]);
    environment.git(&["cherry-pick", &repair]);
    told(&environment.verify(replay), "faulty", "replay_failed");
}

#[test]
fn what_failed_elsewhere_is_no_excuse() {
    let environment = TestEnvironment::new();
    environment.write("run.sh", RUN);
    let old = "test ! -e src/words.sh && test ! -e broken\n";
    environment.write("tests/old.sh", old);
    environment.commit_all("A test");
    environment.git(&["switch", "--quiet", "--create", "work"]);
    environment.write("broken", "");
    environment.commit_all("Break it");
    environment.does("autopilot start 1 --verify");
    environment.write("tests/words.sh", "sh src/words.sh\n");
    environment.does("autopilot complete red --verify");
    environment.write("src/words.sh", "true\n");
    environment.does("autopilot complete green --verify");
    environment.does("autopilot commit");
    earned(&environment.verify("work..HEAD --replay"), 1);
    environment.git(&["rebase", "--quiet", "--onto", "main", "work"]);
    earned(&environment.verify("main..HEAD"), 1);
    let proof = environment.verify("main..HEAD --replay");
    told(&proof, "faulty", "replay_failed");
}

#[test]
fn settings_that_no_commit_has_are_told_and_refused_where_that_is_asked_for() {
    let environment = TestEnvironment::new();
    let path = ".taskmaster/config.json";
    let weaker =
        environment
            .read(path)
            .replacen('{', r#"{"evidence":{"policy":{"flaky":"off"}},"#, 1);
    environment.write(path, weaker);
    environment.does("autopilot start 1 --allow-dirty");
    environment.red_and_green(&["words"]);
    environment.does("autopilot commit");
    let answer = earned(&environment.verify("main..HEAD"), 1);
    assert_eq!(answer["settings"].as_array().map(Vec::len), Some(1));
    let proof = environment.verify("main..HEAD --strict");
    let answer = proof.json();
    let code = (proof.status, &answer["code"]);
    assert_eq!(code, (3, &"config_loosened".into()), "{answer:#}");
}

#[test]
fn settings_of_before_that_cannot_be_read_are_told() {
    let environment = TestEnvironment::finished(false);
    let path = ".taskmaster/config.json";
    let whole = environment.read(path);
    for text in ["{", &whole] {
        environment.write(path, text);
        environment.commit_all("Settings");
    }
    let answer = told(&environment.verify("HEAD~1..HEAD"), "unearned", "unearned");
    assert_eq!(answer["settings"].as_array().map(Vec::len), Some(1));
}

#[test]
fn older_tests_that_are_deleted_or_loosened_are_told() {
    let all = json!(["deleted", "loosened"]);
    for (old, problem, failing) in [
        (
            "test ! -e src/words.sh\n",
            "replay_failed",
            json!(["loosened"]),
        ),
        // It takes the runner with it, so that none passes.
        (
            "[ ! -e src/words.sh ] || kill -9 $PPID\n",
            "not_replayed",
            all,
        ),
    ] {
        let environment = TestEnvironment::new();
        environment.write("run.sh", RUN);
        environment.write("tests/deleted.sh", "true\n");
        environment.write("tests/loosened.sh", old);
        environment.commit_all("Older tests");
        environment.does("autopilot start 1");
        environment.red_and_green(&["words"]);
        environment.does("autopilot commit");
        environment.write("tests/loosened.sh", "true\n");
        environment.git(&["rm", "--quiet", "tests/deleted.sh"]);
        environment.commit_all("Fewer tests");
        let proof = environment.verify("main..HEAD --replay");
        let problems = format!("{problem} unearned");
        let answer = told(&proof, "faulty unearned", &problems);
        let old_tests = &answer["commits"][1]["oldTests"];
        assert_eq!(old_tests["gone"], json!(["deleted"]), "{answer:#}");
        assert_eq!(old_tests["failing"], failing, "{answer:#}");
    }
}
