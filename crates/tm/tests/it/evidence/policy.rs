//! Each policy can be off, warn or refuse: a run of each, in which much is found in every phase.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::Outcome;

use super::stage::{CODE, Stage, WORDS, set_age, with_report};

/// Brings a run to a phase, and gives the words of a report in which much is found.
type Play = fn(&Stage) -> String;

const SNAPSHOT: &str = "tests/__snapshots__/words.snap";

/// The phases, and what is found in each.
const PLAYS: [(&[&str], Play); 4] = [
    (&["command_replaced", "flaky", "stale_report"], |stage| {
        let there = stage.outside("there").display().to_string();
        // What the first try leaves there the second one finds.
        let test = format!("test -f '{there}' || {{ : >'{there}'; false; }}");
        stage.write(
            "tests/again_test.sh",
            format!("test_again() {{ {test}; }}\n"),
        );
        stage.code("other");
        stage.write("run.sh", stage.read("run.sh") + "\n# as before\n");
        let report = stage.junit();
        set_age(&report, 3600);
        with_report("complete red", &report)
    }),
    (
        &["runner_config_changed", "tests_changed", "tests_missing"],
        |stage| {
            stage.git(&["checkout", "--quiet", "run.sh"]);
            stage.code("spaces");
            stage.write(WORDS, "test_one() { :; }\ntest_two() { :; }\n");
            stage.write(SNAPSHOT, "exports[`a`] = `2`;\n");
            stage.write("pytest.ini", "[pytest]\naddopts = -k spaces\n");
            "complete green --results passed:3,failed:0".to_owned()
        },
    ),
    (&["changed_after_green"], |stage| {
        stage.write(CODE, "spaces() { echo 1; }\n");
        stage.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        "commit".to_owned()
    }),
    (&["changed_after_commit"], |stage| {
        stage.code("late");
        with_report("finalize", &stage.suite())
    }),
];

/// Goes through a run in which each of these policies has this severity, and gives what the report at its end calls weaker.
fn play(severity: &str, answered: impl Fn(&Stage, &str, &[&str]) -> Outcome) -> serde_json::Value {
    let codes = PLAYS.iter().flat_map(|(codes, _)| codes.iter());
    let policy: serde_json::Map<_, _> = codes
        .map(|&code| (code.to_owned(), json!(severity)))
        .collect();
    let settings = format!(r#""evidence": {}"#, json!({ "policy": policy }));
    let old = ("tests/old_test.sh", "test_old() { false; }\n");
    let stage = Stage::with(&settings, &[old, (SNAPSHOT, "exports[`a`] = `1`;\n")]);
    stage.auto("start 4 --verify").ok();
    for (codes, play) in &PLAYS {
        let answer = answered(&stage, &play(&stage), codes);
        answer.ok();
    }
    stage.tm(&["runs", "report"]).json()["weakerPolicies"].clone()
}

#[test]
fn what_is_refused_passes_where_a_person_lets_it() {
    let weaker = play("refuse", |stage, words, codes| {
        let mut refused = BTreeSet::new();
        loop {
            let before = stage.journal();
            let answer = stage.auto(words);
            if answer.status == 0 {
                assert_eq!(refused, codes.iter().map(|&code| code.to_owned()).collect());
                return answer;
            }
            assert_eq!(answer.status, 3, "{answer:#?}");
            assert!(before == stage.journal(), "{answer:#?}");
            stage.allow("autopilot", answer.code());
            assert!(refused.insert(answer.code().to_owned()), "{answer:#?}");
        }
    });
    assert_eq!(weaker, json!({}));
}

#[test]
fn what_is_warned_of_is_told_and_kept() {
    let weaker = play("warn", |stage, words, codes| {
        let answer = stage.auto(words);
        for code in codes {
            stage.has_journalled(&format!(r#""{code}""#));
        }
        assert!(answer.json()["warning"].is_string(), "{answer:#?}");
        answer
    });
    let told = (&weaker["command_replaced"], &weaker["flaky"]);
    assert_eq!(told, (&json!("warn"), &json!(null)));
}

#[test]
fn what_is_off_is_not_spoken_of() {
    let weaker = play("off", |stage, words, codes| {
        let answer = stage.auto(words);
        // The report at the end says that it was off.
        let told = answer.json().to_string().replace("`: off", "");
        for code in codes {
            assert!(
                !told.contains(&format!("\"{code}\"")),
                "{code}: {answer:#?}"
            );
        }
        assert!(answer.json()["warning"].is_null(), "{answer:#?}");
        answer
    });
    assert_eq!(weaker["flaky"], "off");
}
