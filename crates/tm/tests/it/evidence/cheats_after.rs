//! Cheats behind GREEN, and around the run: the commit, the history, the rules, the journal.

use std::fs;

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted};
use crate::rails::environment::TestEnvironment;
use crate::rails::terminal::at_terminal;

const COMMIT: &[&str] = &["autopilot", "commit"];

#[test]
fn files_changed_between_green_and_the_commit() {
    for (name, change, back) in [
        (
            "changed",
            (|stage: &Stage| stage.env.write("src/spaces.sh", "spaces() { echo 1; }\n"))
                as fn(&Stage),
            (|stage: &Stage| stage.env.write("src/spaces.sh", NEW_CODE)) as fn(&Stage),
        ),
        (
            "new",
            |stage| stage.env.write("src/more.sh", "more() { :; }\n"),
            |stage| fs::remove_file(stage.path("src/more.sh")).unwrap(),
        ),
        (
            "a test",
            |stage| {
                stage
                    .env
                    .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
            },
            |stage| stage.env.write("tests/spaces_test.sh", NEW_TESTS),
        ),
        (
            "deleted",
            |stage| fs::remove_file(stage.path("tests/words_test.sh")).unwrap(),
            |stage| {
                stage
                    .env
                    .git(&["checkout", "--quiet", "--", "tests/words_test.sh"]);
            },
        ),
    ] {
        let stage = Stage::in_commit();
        change(&stage);
        let head = stage.env.head();
        stage.refused(
            COMMIT,
            "changed_after_green",
            &["GREEN"],
            "tm autopilot reopen",
        );
        assert_eq!(head, stage.env.head(), "{name}");
        if name == "new" {
            stage.reopen();
            accepted(stage.report("complete green").ok());
        } else {
            back(&stage);
        }
        stage.env.tm(COMMIT).ok();
        assert_eq!(stage.env.action(), "red", "{name}");
    }
}

#[test]
fn commits_that_are_none_of_this_subtask() {
    let stage = Stage::in_commit();
    let first = stage.env.head();
    // Nobody's: the run's last commit, one of before, none at all, an empty one.
    let not_own = |sha: &str, names: &str| {
        let arguments = ["autopilot", "commit", "--sha", sha];
        stage.refused(&arguments, "foreign_commit", &[names], "HEAD");
    };
    not_own(&first, "last commit");
    not_own("HEAD~1", "not HEAD");
    not_own("0123456789012345678901234567890123456789", "no commit");
    stage
        .env
        .git(&["commit", "--quiet", "--allow-empty", "--message", "Nothing"]);
    not_own("HEAD", "changes nothing");
    stage.env.git(&["reset", "--quiet", "--soft", &first]);
    // On another branch.
    stage.env.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    stage.env.commit_all("Elsewhere");
    let elsewhere = ["autopilot", "commit", "--sha", "HEAD"];
    stage.refused(&elsewhere, "wrong_branch", &["elsewhere"], "git switch");
    stage.env.git(&["reset", "--quiet", "--soft", &first]);
    stage.env.git(&["checkout", "--quiet", "-"]);
    // One with less than what was tested, and the rest is not there.
    stage.env.git(&["reset", "--quiet"]);
    stage.env.git(&["add", "tests"]);
    stage
        .env
        .git(&["commit", "--quiet", "--message", "Only the tests"]);
    let code = stage.env.read("src/spaces.sh");
    fs::remove_file(stage.path("src/spaces.sh")).unwrap();
    let arguments = ["autopilot", "commit", "--sha", "HEAD"];
    stage.refused(
        &arguments,
        "changed_after_green",
        &["tested"],
        "tm autopilot reopen",
    );
    stage.env.write("src/spaces.sh", &code);
    stage.env.git(&["reset", "--quiet", "--soft", &first]);
    // The honest one.
    stage.env.commit_all("Spaces");
    stage.env.tm(&arguments).ok();
    assert_eq!(stage.env.action(), "red");
}

#[test]
fn history_is_not_rewritten() {
    type Rewrite = (&'static str, fn(&Stage), &'static str);
    let rewrites: [Rewrite; 2] = [
        (
            "amend",
            |stage| {
                stage
                    .env
                    .git(&["commit", "--quiet", "--amend", "--message", "Other words"]);
            },
            "git reset --soft",
        ),
        (
            "reset",
            |stage| {
                stage.env.git(&["reset", "--quiet", "--mixed", "HEAD~1"]);
            },
            "git reset --quiet",
        ),
    ];
    for (name, rewrite, way_back) in rewrites {
        let stage = Stage::in_commit();
        stage.env.auto("commit").ok();
        let own = stage.env.head();
        rewrite(&stage);
        stage.env.write(
            "tests/tabs_test.sh",
            "test_tabs() { test \"$(tabs)\" = tabs; }\n",
        );
        let words = "complete red";
        let short = &own[..7];
        stage.report_refused(words, "history_rewritten", &[short], way_back);
        stage.env.git(&["reset", "--quiet", "--soft", &own]);
        stage.env.git(&["reset", "--quiet"]);
        accepted(stage.report(words).ok());
        assert_eq!(stage.env.action(), "green", "{name}");
    }
}

#[test]
fn the_rules_are_those_of_the_start() {
    let stage = Stage::in_green();
    let config = stage.env.read(".taskmaster/config.json");
    stage.env.write("src/spaces.sh", NEW_CODE);
    for (key, looser) in [
        (
            "evidence.policy.tests_changed",
            r#", "evidence": {"policy": {"tests_changed": "off"}}}"#,
        ),
        (
            "evidence.policy.stale_report",
            r#", "evidence": {"policy": {"stale_report": "warn"}}}"#,
        ),
        (
            "autopilot.redAllPassing",
            r#", "autopilot": {"redAllPassing": "skip"}}"#,
        ),
    ] {
        let text = format!("{}{looser}", config.strip_suffix('}').unwrap());
        stage.env.write(".taskmaster/config.json", text);
        stage.report_refused(
            "complete green",
            "config_loosened",
            &[key],
            "put the settings back",
        );
    }
    // Another command in the settings comes along with the commit: it is told, and what is run is that of the start.
    let other = config.replace("sh run.sh", "true");
    stage.env.write(".taskmaster/config.json", other);
    fs::remove_file(stage.path("src/spaces.sh")).unwrap();
    let answer = stage.env.auto("complete green --verify");
    assert_eq!(answer.code(), "command_replaced", "{answer:#?}");
    stage.allow("command_replaced");
    let answer = stage.env.auto("complete green --verify");
    assert_eq!(answer.code(), "green_tests_still_failing", "{answer:#?}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write(".taskmaster/config.json", &config);
    accepted(stage.report("complete green").ok());
    stage.env.auto("commit").ok();
}

#[test]
fn a_command_that_always_passes() {
    let stage = Stage::in_green();
    let runner = stage.env.read("run.sh");
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage
        .env
        .write("run.sh", "echo '1..1\nok 1 - all is well'\n");
    let words = "complete green";
    stage.report_refused(
        words,
        "command_replaced",
        &["run.sh"],
        "allow command_replaced",
    );
    let claim = ["autopilot", "complete", "--results", "passed:3,failed:0"];
    stage.refused(&claim, "command_replaced", &["run.sh"], "put it back");
    stage.env.write("run.sh", runner);
    let config = stage.env.read(".taskmaster/config.json");
    let other = config.replacen(r#""command": ""#, r#""command": "true #"#, 1);
    assert_ne!(config, other);
    stage.env.write(".taskmaster/config.json", other);
    stage.report_refused(
        words,
        "command_replaced",
        &["settings", "true #"],
        "put it back",
    );
    stage.env.write(".taskmaster/config.json", config);
    accepted(stage.report(words).ok());
    stage.env.auto("commit").ok();

    let node = Stage::with_test(r#""patterns": ["tests/**"]"#, "");
    let package = r#"{"name": "words", "version": "1.0.0", "scripts": {"test": "sh run.sh", "lint": "true"}}"#;
    node.env.write("package.json", package);
    node.env.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "npm test", "patterns": ["tests/**"]}}"#,
    );
    node.env.commit_all("A package");
    node.start();
    node.red();
    node.env.write("src/spaces.sh", NEW_CODE);
    let replaced = package.replace("sh run.sh", "true");
    node.env.write("package.json", replaced);
    node.report_refused(words, "command_replaced", &["package.json"], "put it back");
    // What else stands there may change: another script, a dependency, the version.
    let other = package
        .replace(r#""lint": "true""#, r#""lint": "eslint .""#)
        .replace("1.0.0", "1.1.0");
    node.env.write("package.json", other);
    accepted(node.report(words).ok());
    node.env.auto("commit").ok();
    // A person may say that it is meant.
    node.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    node.env
        .write("package.json", package.replace("sh run.sh", "sh ./run.sh"));
    let words = "complete red";
    node.report_refused(words, "command_replaced", &["package.json"], "allow");
    node.allow("command_replaced");
    let answer = node.report(words).ok();
    assert!(
        answer["warning"].as_str().unwrap().contains("replaced"),
        "{answer}"
    );
}

#[test]
fn the_journal_is_not_edited() {
    let stage = Stage::in_green();
    let path = stage.env.run_folder().join("activity.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let edited = whole.replacen(r#""failed":1"#, r#""failed":0"#, 1);
    assert_ne!(whole, edited);
    fs::write(&path, &edited).unwrap();
    for snapshot in ["state.json", "snapshot.json"] {
        let _ = fs::remove_file(stage.env.run_folder().join(snapshot));
    }
    let answer = stage.env.auto("complete green --results passed:3,failed:0");
    assert_eq!(
        (answer.code(), answer.status),
        ("journal_damaged", 6),
        "{answer:#?}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    fs::write(&path, whole).unwrap();
    stage.green();
}

#[test]
fn nobody_else_approves() {
    let stage = Stage::in_green();
    stage
        .env
        .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
    stage.report_refused("complete green", "tests_changed", &["spaces"], "reopen");
    let allow = [
        "autopilot",
        "allow",
        "tests_changed",
        "--reason",
        "trust me",
    ];
    let before = stage.env.journal();
    let answer = stage.env.tm(&allow);
    assert_eq!(
        (answer.code(), answer.status),
        ("needs_terminal", 3),
        "{answer:#?}"
    );
    let (status, shown) = at_terminal(&stage.env, &allow, "yes\n");
    assert_eq!(status, 3, "{shown}");
    assert!(before == stage.env.journal());
    // What was let pass is let pass once, for this unit.
    stage.allow("tests_changed");
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.report("complete green").ok();
    stage.env.auto("commit").ok();
    stage.env.write(
        "tests/tabs_test.sh",
        "test_tabs() { test \"$(tabs)\" = tabs; }\n",
    );
    accepted(stage.report("complete red").ok());
    stage
        .env
        .write("tests/words_test.sh", "test_one() { true; }\n");
    stage.env.write("src/tabs.sh", "tabs() { echo tabs; }\n");
    stage.report_refused("complete green", "tests_changed", &["words"], "reopen");
}

#[test]
fn no_commit_on_a_protected_branch_or_past_the_hooks() {
    let stage = Stage::in_commit();
    let branch = stage.env.git(&["branch", "--show-current"]);
    stage.env.git(&["stash", "--quiet", "--include-untracked"]);
    stage.env.git(&["checkout", "--quiet", "main"]);
    stage.env.git(&["stash", "pop", "--quiet"]);
    stage.refused(COMMIT, "on_default_branch", &["main"], "git switch");
    stage.env.git(&["stash", "--quiet", "--include-untracked"]);
    stage.env.git(&["checkout", "--quiet", &branch]);
    stage.env.git(&["stash", "pop", "--quiet"]);
    stage
        .env
        .hook("pre-commit", "echo 'no spaces here' >&2; exit 1");
    let head = stage.env.head();
    let answer = stage.env.tm(COMMIT);
    assert_eq!(
        (answer.code(), answer.status),
        ("commit_refused", 3),
        "{answer:#?}"
    );
    assert!(answer.message().contains("no spaces here"), "{answer:#?}");
    assert_eq!(
        (head, "commit".to_owned()),
        (stage.env.head(), stage.env.action())
    );
    fs::remove_file(stage.path(".git/hooks/pre-commit")).unwrap();
    stage.env.tm(COMMIT).ok();
}

#[test]
fn nothing_is_committed_for_nothing() {
    let stage = Stage::new("");
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage
        .env
        .auto("complete red --results failed:1,passed:2")
        .ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage
        .env
        .auto("complete green --results failed:0,passed:3")
        .ok();
    for name in ["tests/spaces_test.sh", "src/spaces.sh"] {
        fs::remove_file(stage.path(name)).unwrap();
    }
    stage.refused(COMMIT, "nothing_changed", &["nothing is changed"], "reopen");
    let env: &TestEnvironment = &stage.env;
    env.tm(&["autopilot", "skip", "--reason", "not needed"])
        .ok();
}
