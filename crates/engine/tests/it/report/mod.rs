//! The report of a run over a task: what its results rest on, for people and for programs.

mod stage;
mod turns;

use engine::view::AUTOPILOT;
use std::fs;
use std::path::Path;

use engine::Turn;
use engine::proof::VerifyRequest;
use engine::view::autopilot::request::Evidence;
use serde_json::json;
use stage::{Stage, reported, steady, steady_page, verified};

/// Holds a text against the file of that name beside the tests; `UPDATE_DOCS=1` writes it.
fn same_as(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/report/pages")
        .join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name}");
}

#[test]
fn a_run_of_all_levels_says_what_each_phase_rests_on() {
    let stage = Stage::new();
    stage.start(true);
    // Nothing was written yet: that is refused.
    let early = stage.tell("red", Evidence::claimed("failed:1,passed:1"));
    assert_eq!(early.code.as_deref(), Some("red_without_tests"));
    stage.write(
        "tests/spaces.sh",
        "# counts `words` | <b>by</b> spaces\ntest -e src/spaces.sh\n",
    );
    stage.accepted("red", verified());
    stage.write("src/other.sh", "true\n");
    stage.run_tests("build/early.tap");
    let failing = stage.tell("green", reported("build/early.tap"));
    assert_eq!(failing.code.as_deref(), Some("green_tests_still_failing"));
    stage.write("src/spaces.sh", "true\n");
    stage.write("tests/more.sh", "# counts none in nothing\ntrue\n");
    stage.run_tests("build/green.tap");
    let covered = Evidence {
        coverage: Some("91.5".to_owned()),
        ..reported("build/green.tap")
    };
    stage.accepted("green", covered);
    stage.commit();

    stage.write("tests/tabs.sh", "# counts by tabs\ntest -e src/tabs.sh\n");
    stage.accepted("red", Evidence::claimed("failed:2,passed:3"));
    stage.write("src/tabs.sh", "true\n");
    stage.accepted("green", verified());
    stage.commit();
    let told = stage.finalize(verified());

    let (json, page) = stage.report();
    // What unfolds in it is no answer to the report that ended the run.
    assert!(page.contains("<details>") && !told.contains("<details>"));
    for line in told.lines() {
        assert!(page.contains(line), "{line}");
    }
    same_as("all_levels.md", &steady_page(&page, &json));
    let part = json!({
        "subtasks": json["subtasks"], "evidence": json["evidence"], "finalSuite": json["finalSuite"],
    });
    same_as("all_levels.json", &format!("{:#}\n", steady(&part)));

    let [first, second] = [0, 1].map(|at| &json["subtasks"][at]);
    for phase in [
        &first["red"],
        &first["green"],
        &second["green"],
        &json["finalSuite"],
    ] {
        let hashes = phase["evidence"].as_array().unwrap();
        assert!(!hashes.is_empty(), "{phase}");
        for hash in hashes {
            assert!(stage.keeps(hash.as_str().unwrap()), "{hash} of {phase}");
        }
    }
    // What it says how to check is right.
    let range = page.split("tm verify ").nth(1).unwrap();
    let range = range.split('`').next().unwrap();
    let commits = stage.git(&["log", "--reverse", "--format=%H", range]);
    assert_eq!(json["commits"], json!(commits.lines().collect::<Vec<_>>()));
    let request = VerifyRequest {
        range: Some(range.to_owned()),
        ..VerifyRequest::default()
    };
    let checked = stage.engine().verify(&request).unwrap();
    assert!(checked.verified, "{checked:?}");
}

#[test]
fn a_run_of_claims_says_so_once() {
    let stage = Stage::new();
    stage.start(false);
    for name in ["spaces", "tabs"] {
        stage.claims(name);
        stage.commit();
    }
    stage.finalize(Evidence::claimed("failed:0,passed:3"));
    let (json, page) = stage.report();
    same_as("all_claimed.md", &steady_page(&page, &json));
    let counted = ["claimed", "verified", "baseline"].map(|level| &json["evidence"][level]);
    assert_eq!(json!(counted), json!([5, 0, null]));
}

#[test]
fn a_repair_names_what_failed_in_the_suite() {
    let stage = Stage::new();
    stage.write("tests/old.sh", "# fails no more\ntrue\n");
    stage.commits_all();
    stage.start(true);
    for name in ["spaces", "tabs"] {
        stage.proves(name);
        stage.commit();
    }
    // Elsewhere the suite fails.
    let elsewhere =
        "ok 1 - adds\nok 2 - fails no more\nok 3 - counts spaces\nnot ok 4 - counts tabs\n1..4\n";
    stage.write("build/suite.tap", elsewhere);
    let failing = stage.tell("finalize", reported("build/suite.tap"));
    assert_eq!(failing.code.as_deref(), Some("suite_failing"));
    stage.write("src/tabs.sh", "true # everywhere\n");
    stage.accepted("green", verified());

    let (json, page) = stage.report();
    assert_eq!(json["status"], "running");
    let names = json!(["counts tabs"]);
    assert_eq!(json["failedSuites"][0]["failingTests"], names);
    assert_eq!(json["subtasks"][2]["green"]["nowPassing"], names);
    for part in [
        "Failed in the full suite, pass in GREEN:\n\n- `counts tabs`\n",
        "(`counts tabs`); a repair was opened\n",
        "The run is not over",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    // A GREEN that was taken back stands no more.
    let turn = Turn::reopen(None, None, "not enough");
    stage.engine().turn(&AUTOPILOT, None, &turn).unwrap();
    let (json, _) = stage.report();
    let [before, back] = [1, 2].map(|at| &json["subtasks"][at]);
    let told = json!([back["green"], back["tree"], before["green"]["level"]]);
    assert_eq!(told, json!([null, null, "verified"]));
}

/// Whoever reads the answer or the report sees whether it is the new tests that cannot be collected, or all.
#[test]
fn what_could_not_be_collected_is_named() {
    let stage = Stage::new();
    stage.start(false);
    stage.write("tests/spaces.sh", "false\n");
    let cases = ["adds", "spaces"].map(|name| {
        format!(r#"<testcase name="{name}"><error message="collection failure"/></testcase>"#)
    });
    let report = format!(r#"<testsuite name="pytest">{}</testsuite>"#, cases.concat());
    stage.write("build/red.xml", &report);
    let red = stage.tell("red", reported("build/red.xml"));
    let told = red.warning.unwrap_or_default();
    assert!(red.validated && told.contains("(adds, spaces)"), "{told}");
}

const TASKS: &str = ".taskmaster/tasks/tasks.json";

/// The tasks, of which the first subtask has this, too.
fn first_is(tasks: &str, field: &str) -> String {
    let title = r#""title": "Count by spaces","#;
    tasks.replace(title, &format!("{title} {field},"))
}

/// What is accepted of the code in another form counts as GREEN does.
#[test]
fn a_refactoring_that_rests_on_less_is_told() {
    let stage = Stage::new().with(TASKS, |text| first_is(text, r#""refactor": true"#));
    stage.start(true);
    stage.proves("spaces");
    stage.write("src/spaces.sh", ":\n");
    stage.run_tests("build/refactor.tap");
    stage.accepted("refactor", reported("build/refactor.tap"));
    let (json, page) = stage.report();
    let counts = |at: &str| json["evidence"]["green"][at].as_u64();
    assert_eq!((counts("verified"), counts("reported")), (Some(0), Some(1)));
    assert!(!page.contains("All test results"), "{page}");
    assert!(page.contains("RED verified, GREEN reported"), "{page}");
}

/// Work of another kind needs the suite of before as the first RED does.
#[test]
fn a_first_piece_of_work_without_red_is_compared_with_the_suite_of_before() {
    const MAKEFILE: &str = "TESTS = tests/adds.sh tests/more.sh\n";
    let listed = "$(sed -n 's/^TESTS = //p' Makefile)";
    let stage = Stage::new()
        .with(TASKS, |text| first_is(text, r#""kind": "chore""#))
        .with("Makefile", |_| MAKEFILE.to_owned())
        .with("tests/more.sh", |_| "# more\ntrue\n".to_owned())
        .with("run.sh", |text| text.replace("tests/*.sh", listed));
    stage.start(false);
    stage.write("Makefile", "TESTS = tests/adds.sh\n");
    let fewer = stage.tell("chore", verified());
    assert_eq!(fewer.code.as_deref(), Some("tests_missing"), "{fewer:?}");
    stage.write("Makefile", &format!("{MAKEFILE}# all of them\n"));
    stage.accepted("chore", verified());
    let (json, _) = stage.report();
    assert_eq!(json["evidence"]["baseline"]["passed"], 2);
    assert_eq!(json["warnings"], json!([]));
}

#[test]
fn names_of_others_are_shown_and_do_nothing() {
    let stage = Stage::new();
    stage.start(false);
    stage.write("tests/odd.sh", "# odd\nfalse\n");
    let odd = [
        "</details><script>alert(1)</script>",
        "` | ``` |",
        "@everyone closes 12",
        "\u{202e}tfel ot thgir\u{1b}[31m",
        &"x".repeat(1000),
    ];
    let others = (0..250).map(|at| format!("test {at:03}"));
    let names = odd.map(str::to_owned).into_iter().chain(others);
    let lines = (1..)
        .zip(names)
        .map(|(at, name)| format!("not ok {at} - {name}\n"));
    let tap: String = lines.collect();
    stage.write("build/odd.tap", &format!("{tap}1..255\n"));
    stage.accepted("red", reported("build/odd.tap"));

    let (json, page) = stage.report();
    let red = &json["subtasks"][0]["red"];
    let named = red["newlyFailing"].as_array().map(Vec::len);
    let told = json!([named, red["newlyFailingTotal"], red["failed"]]);
    assert_eq!(told, json!([100, 255, 255]));
    assert!(page.contains("- and 235 more\n"), "{page}");
    assert_eq!(page.matches("<details>").count(), 1, "{page}");
    for line in page.lines() {
        assert!(line.chars().count() < 400, "{line}");
        assert!(!line.contains(['\u{202e}', '\u{1b}']), "{line}");
        if line.contains("<script>") {
            assert!(line.starts_with("- `<") && line.ends_with('`'), "{line}");
            assert_eq!(line.matches('`').count(), 2, "{line}");
        }
    }
}
