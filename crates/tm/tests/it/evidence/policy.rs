//! Each policy can be off, warn or refuse; what a finding says is the same.

use std::fs;

use serde_json::json;
use testkit::Outcome;

use super::reports::covered;
use super::stage::{
    CLAIM, CODE, GREEN, RED, Stage, VERIFIED_GREEN, VERIFIED_RED, WORDS, set_age, with_report,
};

/// Brings a run to where a finding is made, and gives the words of the report that makes it.
type Play = fn(&Stage) -> String;

const TABS_IN_CODE: &str = "grep -q tabs src/spaces.sh";

fn words(stage: &Stage, call: &str) -> String {
    with_report(&format!("autopilot {call}"), &stage.suite())
}

fn say(stage: &Stage, words: &str) -> Outcome {
    stage.tm(&words.split(' ').collect::<Vec<_>>())
}

fn claim(call: &str) -> String {
    format!("autopilot {call}")
}

fn claimed_red(stage: &Stage) {
    stage.claim_red();
    stage.code("spaces");
}

fn claimed_green(stage: &Stage) {
    claimed_red(stage);
    stage.auto(CLAIM).ok();
}

/// Goes on to a GREEN in numbers with these files; the project has this check of its own.
fn checked(stage: &Stage, command: &str, files: &[(&str, &str)]) -> String {
    let path = ".taskmaster/config.json";
    let mut settings: serde_json::Value = serde_json::from_str(&stage.read(path)).unwrap();
    settings["checks"] = json!({ "commands": { "lint": command } });
    stage.write(path, settings.to_string());
    stage.write("lint.sh", "true\n");
    stage.write(CODE, "tabs\n");
    stage.commit_all("A linter");
    stage.trust(&["config", "trust", "--checks"]);
    claimed_red(stage);
    for (path, text) in files {
        stage.write(path, text);
    }
    claim(CLAIM)
}

/// Goes through a session of skills over one bug as far as this state, and completes the skill of this name.
fn skill(stage: &Stage, state: &str, name: &str) -> String {
    let collab = |words: &[&str]| stage.tm(&[&["collab"], words].concat()).ok();
    let items = json!([{ "number": 1, "title": "Spaces", "type": "bugfix" }]);
    collab(&["update", "--work-items", &items.to_string()]);
    loop {
        let now = collab(&["state"]);
        let text = |name: &str| now[name].as_str().unwrap();
        if text("state") == state {
            return format!("collab complete-skill {name}");
        }
        testkit::write_draft(&now);
        match text("state") {
            "ready-to-implement" => {
                let graph = "tasks:\n  - id: spaces\n    files: [src/spaces.sh]\n";
                stage.write("graph.yaml", graph);
                collab(&["sync", "graph.yaml", "--item", "1"]);
                stage.delete("graph.yaml");
            }
            "execute-batch" => {
                stage.code("spaces");
                collab(&["task", "spaces", "completed"]);
            }
            _ => {}
        }
        collab(&["complete-skill", text("skill"), "--unit-id", text("unitId")]);
    }
}

fn executed(stage: &Stage) -> String {
    let done = skill(stage, "execute-batch", "executing-plans");
    say(stage, "collab task spaces completed").ok();
    done
}

const PLAYS: &[(&str, Play)] = &[
    ("draft_missing", |stage| {
        skill(stage, "systematic-debugging", "systematic-debugging")
    }),
    ("batch_without_change", executed),
    ("task_without_change", |stage| {
        let done = executed(stage);
        stage.code("other");
        done
    }),
    ("work_uncommitted", |stage| {
        skill(stage, "workflow-complete", "finishing-a-development-branch")
    }),
    ("red_without_tests", |stage| {
        stage.start();
        stage.write("src/words.sh", "words() { echo 7; }\n");
        words(stage, RED)
    }),
    ("production_changed", |stage| {
        stage.start();
        stage.test("spaces");
        stage.code("other");
        words(stage, RED)
    }),
    ("no_new_failure", |stage| {
        stage.write("tests/old_test.sh", "test_old() { false; }\n");
        stage.commit_all("A test that fails");
        stage.start();
        stage.write("tests/new_test.sh", "test_new() { true; }\n");
        words(stage, RED)
    }),
    ("tests_changed", |stage| {
        stage.start();
        stage.red();
        stage.code("spaces");
        stage.write(WORDS, "test_one() { :; }\ntest_two() { :; }\n");
        words(stage, GREEN)
    }),
    ("green_without_change", |stage| {
        stage.claim_red();
        claim(CLAIM)
    }),
    ("red_not_replayed", |stage| {
        let there = stage.outside("there");
        stage.auto("start 1").ok();
        let test = format!("test_there() {{ test -f '{}'; }}\n", there.display());
        stage.write("tests/there_test.sh", test);
        stage.auto(VERIFIED_RED).ok();
        stage.code("spaces");
        fs::write(there, "").unwrap();
        claim(VERIFIED_GREEN)
    }),
    ("passes_without_change", |stage| {
        stage.start();
        stage.test("spaces");
        let passes = "test_more() { test \"$(words a)\" = 1; }\n";
        stage.write("tests/more_test.sh", passes);
        stage.auto(VERIFIED_RED).ok();
        stage.code("spaces");
        claim(VERIFIED_GREEN)
    }),
    ("green_not_replayed", |stage| {
        stage.start();
        stage.test("spaces");
        stage.auto(VERIFIED_RED).ok();
        stage.write(".git/info/exclude", "src/spaces.sh\n");
        stage.code("spaces");
        stage.write("src/words.sh", stage.read("src/words.sh") + "\n");
        claim(VERIFIED_GREEN)
    }),
    ("snapshots_changed", |stage| {
        let snapshot = "tests/__snapshots__/words.snap";
        stage.write(snapshot, "exports[`a`] = `1`;\n");
        stage.commit_all("A snapshot");
        claimed_red(stage);
        stage.write(snapshot, "exports[`a`] = `2`;\n");
        claim(CLAIM)
    }),
    ("runner_config_changed", |stage| {
        claimed_red(stage);
        stage.write("pytest.ini", "[pytest]\naddopts = -k spaces\n");
        claim(CLAIM)
    }),
    ("fewer_tests", |stage| {
        claimed_red(stage);
        claim("complete green --results passed:2,failed:0")
    }),
    ("tests_missing", |stage| {
        stage.start();
        stage.red();
        stage.code("spaces");
        claim(CLAIM)
    }),
    ("changed_after_green", |stage| {
        claimed_green(stage);
        stage.write(CODE, "spaces() { echo 1; }\n");
        claim("commit")
    }),
    ("changed_after_commit", |stage| {
        stage.start();
        stage.subtask("spaces");
        stage.subtask("tabs");
        stage.code("late");
        words(stage, "finalize")
    }),
    ("foreign_commit", |stage| {
        claimed_green(stage);
        stage.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        claim("commit")
    }),
    ("history_rewritten", |stage| {
        stage.start();
        stage.subtask("spaces");
        stage.git(&["commit", "--quiet", "--amend", "--message", "Other"]);
        stage.test("tabs");
        words(stage, RED)
    }),
    ("command_replaced", |stage| {
        stage.start();
        stage.test("spaces");
        stage.write("run.sh", stage.read("run.sh") + "\n# as before\n");
        words(stage, RED)
    }),
    ("stale_report", |stage| {
        stage.start();
        stage.test("spaces");
        let report = stage.suite();
        set_age(&report, 3600);
        with_report("autopilot complete red", &report)
    }),
    ("flaky", |stage| {
        stage.begin("");
        // What the first try leaves there the second one finds.
        let there = stage.outside("there").display().to_string();
        let test = format!("test -f '{there}' || {{ : >'{there}'; false; }}");
        let test = format!("test_again() {{ {test}; }}\n");
        stage.write("tests/again_test.sh", test);
        with_report("autopilot complete red", &stage.junit())
    }),
    ("stuck", |stage| {
        stage.start();
        stage.red();
        for _ in 0..2 {
            stage.report(GREEN);
        }
        words(stage, GREEN)
    }),
    ("other_files_changed", |stage| {
        stage.auto("start --title Explain(kind:docs)").ok();
        stage.write("README.md", "# Words\n");
        stage.code("spaces");
        claim("commit")
    }),
    ("no_test_written", |stage| {
        stage.auto("start --title Try(kind:tests)").ok();
        claim("complete tests --results passed:2,failed:0")
    }),
    ("changes_left", |stage| {
        stage.auto("start --title Find-out(kind:spike)").ok();
        stage.code("spaces");
        "run report --outcome learned --note Fast.".to_owned()
    }),
    ("coverage_missing", |stage| {
        claimed_red(stage);
        claim(CLAIM)
    }),
    ("new_findings", |stage| {
        checked(stage, TABS_IN_CODE, &[(CODE, "spaces() { :; }\n")])
    }),
    ("findings_silenced", |stage| {
        let silenced = "spaces() { :; }\n# shellcheck disable=all\n";
        checked(stage, "true", &[(CODE, silenced)])
    }),
    ("checks_changed", |stage| {
        checked(stage, "sh lint.sh", &[("lint.sh", "exit 0\n")])
    }),
    ("checks_not_run", |stage| {
        checked(stage, "no-such-program", &[])
    }),
    ("coverage_fell", |stage| {
        let passing = |phase: &str, reached: u32| {
            let file = stage.written(covered(CODE, reached));
            let file = file.display();
            format!("complete {phase} --results passed:3,failed:0 --coverage-report {file}")
        };
        stage.auto("start --title Spaces(refactor:yes)").ok();
        stage.test("spaces");
        stage.auto("complete red --results failed:1,passed:2").ok();
        stage.code("spaces");
        stage.auto(&passing("green", 9)).ok();
        stage.code("more");
        claim(&passing("refactor", 7))
    }),
];

#[test]
fn every_policy_is_played() {
    let mut played: Vec<&str> = PLAYS.iter().map(|(code, _)| *code).collect();
    // The settings themselves: told in `cheats_after`, and it cannot be loosened by what it watches.
    played.push("config_loosened");
    // Functions of a shell are none that could be taken away: `honest::kinds` has Python.
    played.push("passes_without_product");
    played.sort_unstable();
    let mut all = workspace::config::Policy::CODES.to_vec();
    all.sort_unstable();
    assert_eq!(played, all);
}

fn play(severity: &str, part: usize) {
    const PARTS: usize = 3;
    for (code, play) in PLAYS.iter().skip(part).step_by(PARTS) {
        let test = match *code {
            "coverage_missing" => r#""command": "sh run.sh", "coverageThresholds": {"lines": 80}"#,
            _ => r#""command": "sh run.sh""#,
        };
        let settings = format!(
            r#""evidence": {{"policy": {{"{code}": "{severity}"}}}}, "autopilot": {{"maxGreenAttempts": 9}}"#
        );
        let stage = Stage::with_test(test, &settings, &[]);
        let words = play(&stage);
        let before = stage.journal();
        let answer = say(&stage, &words);
        if severity == "refuse" {
            assert_eq!((answer.code(), answer.status), (*code, 3), "{answer:#?}");
            assert!(before == stage.journal(), "{code}");
            let of_skills = words.starts_with("collab");
            stage.allow(if of_skills { "run" } else { "autopilot" }, code);
            assert_ne!(say(&stage, &words).code(), *code);
        } else {
            assert_ne!(answer.code(), *code, "{answer:#?}");
        }
        let told = answer.json();
        if severity == "warn" {
            stage.has_journalled(&format!(r#""{code}""#));
            let warning = told["warning"].as_str().or(told["notes"][0].as_str());
            let is_silent = ["stuck", "changed_after_green", "foreign_commit"].contains(code);
            let warns = warning.is_some_and(|told| !told.is_empty());
            assert!(is_silent || warns, "{answer:#?}");
        }
        if severity == "off" {
            // The report at the end says that it was off.
            let told = told.to_string().replace(&format!("`{code}`: off"), "");
            assert!(!told.contains(code), "{code}: {answer:#?}");
        }
        let report = stage.tm(&["runs", "report"]).json().clone();
        let usual = serde_json::to_value(workspace::config::Policy::default()).unwrap();
        let is_weaker = severity == "off" || severity == "warn" && usual[code] != "warn";
        let weaker = if is_weaker {
            json!({ *code: severity })
        } else {
            json!({})
        };
        assert_eq!(report["weakerPolicies"], weaker, "{code}: {report:#}");
    }
}

macro_rules! severities {
    ($($name:ident: $severity:literal, $part:literal;)+) => {
        $(#[test] fn $name() { play($severity, $part); })+
    };
}

severities! {
    refused_one: "refuse", 0;
    refused_two: "refuse", 1;
    refused_three: "refuse", 2;
    warned_one: "warn", 0;
    warned_two: "warn", 1;
    warned_three: "warn", 2;
    off_one: "off", 0;
    off_two: "off", 1;
    off_three: "off", 2;
}
