//! Each policy can be off, warn or refuse; what a finding says is the same.

use std::fs;

use serde_json::json;

use super::stage::{NEW_CODE, NEW_TESTS, Stage, set_age, with_report};

/// Brings a run to where a finding is made, and gives the words of the report that makes it.
type Play = fn(&Stage) -> Vec<String>;

fn words(stage: &Stage, call: &str) -> Vec<String> {
    let report = stage.suite();
    with_report(call, &report)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn claim(call: &str) -> Vec<String> {
    let words = call.split_whitespace().map(str::to_owned);
    std::iter::once("autopilot".to_owned())
        .chain(words)
        .collect()
}

/// Begins the run without a baseline, and claims RED.
fn claimed_red(stage: &Stage) {
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = stage.env.auto("complete red --results failed:1,passed:2");
    assert_eq!(red.status, 0, "{red:#?}");
    stage.env.write("src/spaces.sh", NEW_CODE);
}

/// Begins the run with a check of its own, and claims RED.
fn checked(stage: &Stage, command: &str) {
    let path = ".taskmaster/config.json";
    let mut settings: serde_json::Value = serde_json::from_str(&stage.env.read(path)).unwrap();
    settings["checks"] = json!({ "commands": { "lint": command } });
    stage.env.write(path, settings.to_string());
    stage.env.write("lint.sh", "true\n");
    stage.env.write("src/spaces.sh", "tabs\n");
    stage.env.commit_all("A linter");
    stage.env.trust(&["config", "trust", "--checks"]);
    claimed_red(stage);
}

/// Goes through a session of skills over one item of this type, as far as this state.
fn session(stage: &Stage, kind: &str, state: &str) {
    let collab = |words: &[&str]| stage.env.tm(&[&["collab"], words].concat()).ok();
    let items = json!([{ "number": 1, "title": "Spaces", "type": kind }]);
    collab(&["update", "--work-items", &items.to_string()]);
    let graph = "tasks:\n  - id: spaces\n    files: [src/spaces.sh]\n";
    loop {
        let now = collab(&["state"]);
        let text = |name: &str| now[name].as_str().unwrap();
        if text("state") == state {
            return;
        }
        testkit::write_draft(&now);
        match text("state") {
            "ready-to-implement" => {
                stage.env.write("graph.yaml", graph);
                collab(&["sync", "graph.yaml", "--item", "1"]);
                fs::remove_file(stage.path("graph.yaml")).unwrap();
            }
            "execute-batch" => {
                stage.env.write("src/spaces.sh", NEW_CODE);
                collab(&["task", "spaces", "completed"]);
            }
            _ => {}
        }
        collab(&["complete-skill", text("skill"), "--unit-id", text("unitId")]);
    }
}

fn skill(name: &str) -> Vec<String> {
    ["collab", "complete-skill", name].map(str::to_owned).into()
}

const PLAYS: &[(&str, Play)] = &[
    ("draft_missing", |stage| {
        session(stage, "bugfix", "systematic-debugging");
        skill("systematic-debugging")
    }),
    ("batch_without_change", |stage| {
        session(stage, "bugfix", "execute-batch");
        stage
            .env
            .tm(&["collab", "task", "spaces", "completed"])
            .ok();
        skill("executing-plans")
    }),
    ("task_without_change", |stage| {
        session(stage, "bugfix", "execute-batch");
        stage.env.write("src/other.sh", "other() { :; }\n");
        stage
            .env
            .tm(&["collab", "task", "spaces", "completed"])
            .ok();
        skill("executing-plans")
    }),
    ("work_uncommitted", |stage| {
        session(stage, "bugfix", "workflow-complete");
        skill("finishing-a-development-branch")
    }),
    ("red_without_tests", |stage| {
        stage.start();
        stage.env.write("src/words.sh", "words() { echo 7; }\n");
        words(stage, "complete red")
    }),
    ("production_changed", |stage| {
        stage.start();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage.env.write("src/other.sh", "other() { :; }\n");
        words(stage, "complete red")
    }),
    ("no_new_failure", |stage| {
        stage
            .env
            .write("tests/old_test.sh", "test_old() { false; }\n");
        stage.env.commit_all("A test that fails");
        stage.start();
        stage
            .env
            .write("tests/spaces_test.sh", "test_spaces() { true; }\n");
        words(stage, "complete red")
    }),
    ("tests_changed", |stage| {
        stage.start();
        stage.red();
        stage.env.write("src/spaces.sh", NEW_CODE);
        stage.env.write(
            "tests/words_test.sh",
            "test_one() { :; }\ntest_two() { :; }\n",
        );
        words(stage, "complete green")
    }),
    ("green_without_change", |stage| {
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage
            .env
            .auto("complete red --results failed:1,passed:2")
            .ok();
        claim("complete green --results passed:3,failed:0")
    }),
    ("red_not_replayed", |stage| {
        let there = stage.outside("there");
        stage.env.auto("start 1").ok();
        let test = format!("test_spaces() {{ test -f '{}'; }}\n", there.display());
        stage.env.write("tests/spaces_test.sh", test);
        stage.env.auto("complete red --verify").ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        fs::write(there, "").unwrap();
        claim("complete green --verify")
    }),
    ("passes_without_change", |stage| {
        stage.start();
        let test = "test_words() { test \"$(words a)\" = 1; }\n";
        stage
            .env
            .write("tests/spaces_test.sh", format!("{NEW_TESTS}{test}"));
        stage.env.auto("complete red --verify").ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        claim("complete green --verify")
    }),
    ("green_not_replayed", |stage| {
        stage.start();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage.env.auto("complete red --verify").ok();
        stage.env.write(".git/info/exclude", "src/spaces.sh\n");
        stage.env.write("src/spaces.sh", NEW_CODE);
        stage
            .env
            .write("src/words.sh", stage.env.read("src/words.sh") + "\n");
        claim("complete green --verify")
    }),
    ("snapshots_changed", |stage| {
        stage
            .env
            .write("tests/__snapshots__/words.snap", "exports[`a`] = `1`;\n");
        stage.env.commit_all("A snapshot");
        claimed_red(stage);
        stage
            .env
            .write("tests/__snapshots__/words.snap", "exports[`a`] = `2`;\n");
        claim("complete green --results passed:3,failed:0")
    }),
    ("runner_config_changed", |stage| {
        claimed_red(stage);
        stage
            .env
            .write("pytest.ini", "[pytest]\naddopts = -k spaces\n");
        claim("complete green --results passed:3,failed:0")
    }),
    ("fewer_tests", |stage| {
        claimed_red(stage);
        claim("complete green --results passed:2,failed:0")
    }),
    ("tests_missing", |stage| {
        stage.start();
        stage.red();
        stage.env.write("src/spaces.sh", NEW_CODE);
        claim("complete green --results passed:3,failed:0")
    }),
    ("changed_after_green", |stage| {
        claimed_red(stage);
        stage
            .env
            .auto("complete green --results passed:3,failed:0")
            .ok();
        stage.env.write("src/spaces.sh", "spaces() { echo 1; }\n");
        claim("commit")
    }),
    ("changed_after_commit", |stage| {
        stage.start();
        stage.subtask("spaces");
        stage.subtask("tabs");
        stage.env.write("src/late.sh", "late() { :; }\n");
        words(stage, "finalize")
    }),
    ("foreign_commit", |stage| {
        claimed_red(stage);
        stage
            .env
            .auto("complete green --results passed:3,failed:0")
            .ok();
        stage
            .env
            .git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        claim("commit")
    }),
    ("history_rewritten", |stage| {
        stage.start();
        stage.subtask("spaces");
        stage
            .env
            .git(&["commit", "--quiet", "--amend", "--message", "Other words"]);
        stage.env.write(
            "tests/tabs_test.sh",
            "test_tabs() { test \"$(tabs)\" = tabs; }\n",
        );
        words(stage, "complete red")
    }),
    ("command_replaced", |stage| {
        stage.start();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let runner = stage.env.read("run.sh");
        stage
            .env
            .write("run.sh", format!("{runner}\n# as before\n"));
        words(stage, "complete red")
    }),
    ("stale_report", |stage| {
        stage.start();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let words = words(stage, "complete red");
        set_age(words.last().unwrap().as_ref(), 3600);
        words
    }),
    ("flaky", |stage| {
        let again = stage.outside("again");
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let test = format!(
            "test_again() {{ test -f '{0}' || {{ : >'{0}'; false; }}; }}\n",
            again.display()
        );
        stage.env.write("tests/again_test.sh", test);
        let report = stage.junit();
        with_report("complete red", &report)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }),
    ("stuck", |stage| {
        stage.start();
        stage.red();
        for _ in 0..2 {
            stage.report("complete green");
        }
        words(stage, "complete green")
    }),
    ("other_files_changed", |stage| {
        stage.env.auto("start --title Explain(kind:docs)").ok();
        stage.env.write("README.md", "# Words\n");
        stage.env.write("src/spaces.sh", NEW_CODE);
        claim("commit")
    }),
    ("no_test_written", |stage| {
        stage.env.auto("start --title Try(kind:tests)").ok();
        claim("complete tests --results passed:2,failed:0")
    }),
    ("changes_left", |stage| {
        stage.env.auto("start --title Find-out(kind:spike)").ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        [
            "run",
            "report",
            "--outcome",
            "learned",
            "--note",
            "It is fast.",
        ]
        .map(str::to_owned)
        .to_vec()
    }),
    ("coverage_missing", |stage| {
        claimed_red(stage);
        claim("complete green --results passed:3,failed:0")
    }),
    ("new_findings", |stage| {
        checked(stage, "grep -q tabs src/spaces.sh");
        stage.env.write("src/spaces.sh", NEW_CODE);
        claim("complete green --results passed:3,failed:0")
    }),
    ("findings_silenced", |stage| {
        checked(stage, "true");
        let code = format!("{NEW_CODE}# shellcheck disable=all\n");
        stage.env.write("src/spaces.sh", code);
        claim("complete green --results passed:3,failed:0")
    }),
    ("checks_changed", |stage| {
        checked(stage, "sh lint.sh");
        stage.env.write("src/spaces.sh", NEW_CODE);
        stage.env.write("lint.sh", "exit 0\n");
        claim("complete green --results passed:3,failed:0")
    }),
    ("checks_not_run", |stage| {
        checked(stage, "no-such-program");
        stage.env.write("src/spaces.sh", NEW_CODE);
        claim("complete green --results passed:3,failed:0")
    }),
    ("coverage_fell", |stage| {
        let covered = |reached: u32| {
            let lines: Vec<String> = (1..=10)
                .map(|line| format!("DA:{line},{}\n", u32::from(line <= reached)))
                .collect();
            let file = stage.outside(&format!("lcov-{reached}"));
            let text = format!("SF:src/spaces.sh\n{}end_of_record\n", lines.concat());
            fs::write(&file, text).unwrap();
            file
        };
        let passing = |phase: &str, reached| {
            format!(
                "complete {phase} --results passed:3,failed:0 --coverage-report {}",
                covered(reached).display()
            )
        };
        stage.env.auto("start --title Spaces(refactor:yes)").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage
            .env
            .auto("complete red --results failed:1,passed:2")
            .ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        stage.env.auto(&passing("green", 9)).ok();
        stage.env.write("src/more.sh", NEW_CODE);
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
        let threshold = if *code == "coverage_missing" {
            r#""patterns": ["tests/**"], "coverageThresholds": {"lines": 80}"#
        } else {
            r#""patterns": ["tests/**"]"#
        };
        let settings = format!(
            r#""evidence": {{"policy": {{"{code}": "{severity}"}}}}, "autopilot": {{"maxGreenAttempts": 9}}"#
        );
        let stage = Stage::with_test(threshold, &settings);
        let words = play(&stage);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let before = stage.env.journal();
        let answer = stage.env.tm(&words);
        let told = answer.json().to_string();
        let notes = || answer.json()["notes"][0].as_str();
        let warning = answer.json()["warning"].as_str().or_else(notes);
        let warning = warning.unwrap_or_default();
        match severity {
            "refuse" => {
                assert_eq!((answer.code(), answer.status), (*code, 3), "{answer:#?}");
                assert!(before == stage.env.journal(), "{code}");
                let of_skills = words[0] == "collab";
                stage.allow_by(if of_skills { "run" } else { "autopilot" }, code);
                let answer = stage.env.tm(&words);
                assert_ne!(answer.code(), *code, "{answer:#?}");
            }
            "warn" => {
                assert_ne!(answer.code(), *code, "{answer:#?}");
                let journal = fs::read_to_string(stage.env.run_folder().join("activity.jsonl"));
                assert!(
                    journal.unwrap().contains(&format!(r#""{code}""#)),
                    "{answer:#?}"
                );
                if *code != "stuck" && *code != "changed_after_green" && *code != "foreign_commit" {
                    assert!(!warning.is_empty(), "{code}: {answer:#?}");
                }
            }
            _ => {
                assert_ne!(answer.code(), *code, "{answer:#?}");
                // The report at the end says that it was off.
                let told = told.replace(&format!("`{code}`: off"), "");
                assert!(!told.contains(code), "{code}: {answer:#?}");
            }
        }
        let report = stage.env.tm(&["runs", "report"]).json().clone();
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
