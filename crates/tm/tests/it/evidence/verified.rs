//! Runs of the suite that the engine makes itself, and how much evidence is asked for.

use std::fs;

use super::stage::{CODE, RED, Stage, VERIFIED_GREEN, VERIFIED_RED, set_age, warns};
use crate::rails::environment::autopilot;

/// The project with another test command, which is no cheat.
fn with_command(command: &str, files: &[(&str, &str)]) -> Stage {
    let test = format!(r#""command": "{command}""#);
    let policy = r#""evidence": {"policy": {"command_replaced": "off"}}"#;
    Stage::with_test(&test, policy, files)
}

/// The project with a command that is this script.
fn with_suite(script: &str) -> Stage {
    with_command("sh suite.sh", &[("suite.sh", script)])
}

/// Goes to GREEN of a run in which all that is reported is run here.
fn in_green(stage: Stage) -> Stage {
    stage.begin("--verify");
    stage.accepted(VERIFIED_RED);
    stage
}

#[test]
fn a_verified_run_from_start_to_end() {
    let stage = Stage::new(r#""evidence": {"require": "verified"}"#);
    stage.trust(&["config", "trust"]);
    stage.auto("start 1 --verify").ok();
    for name in ["spaces", "tabs"] {
        stage.test(name);
        // A claim is not even looked at.
        stage.accepted("complete red --results failed:7");
        let lie = stage.auto("complete green --results passed:9,failed:0");
        assert_eq!(lie.code(), "green_tests_still_failing", "{lie:#?}");
        stage.code(name);
        stage.accepted("complete");
        stage.auto("commit").ok();
    }
    let end = stage.auto("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
    // What was tested stays reachable, and no worktree or branch is left.
    let kept = stage.git(&[
        "for-each-ref",
        "--format=%(refname:lstrip=4) %(objecttype)",
        "refs/tramline/trees",
    ]);
    assert!(kept.contains("workUnit-1-1-GREEN/work tree\n"), "{kept}");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    stage.has_journalled(r#""command":"sh run.sh""#);
}

/// What a shell comes to is no evidence that a test is new, or fails: with names or numbers it goes on.
#[test]
fn an_exit_status_alone_shows_no_failing_test() {
    let quiet = "sh run.sh >/dev/null || { echo something is wrong; exit 1; }; echo all is well\n";
    let stage = with_suite(quiet);
    let started = stage.begin("");
    let warnings = started["warnings"].as_array().map(Vec::len);
    assert_eq!(warnings, Some(1), "{started:#}");
    let unreadable = |words: &str| {
        let answer = stage.auto(words);
        answer.fault(3, "report_unreadable");
        assert!(answer.suggestion().contains("--results"), "{answer:#?}");
    };
    unreadable(VERIFIED_RED);
    stage.accepted("complete red --results failed:1,passed:2");
    stage.code("spaces");
    unreadable(VERIFIED_GREEN);
    stage.accepted("complete green --results passed:3,failed:0");
}

/// Its runner is known by what it printed until then. The tests of before are not missing, and the new one is owed.
#[test]
fn a_runner_that_dies_in_red_has_not_run_its_tests() {
    let fewer = "printf 'TAP version 14\\nok 1 - words test_one\\nok 2 - words test_two\\n1..2\\n'";
    for (dies, is_accepted) in [("exit 3", true), ("exit 1", false)] {
        let stage = with_suite("");
        let flag = stage.outside("fewer");
        let at = flag.display();
        stage.write("suite.sh", format!(
            "[ -f src/spaces.sh ] || [ ! -f tests/spaces_test.sh ] || {{ sh run.sh | head -n 2; {dies}; }}\n[ ! -f {at} ] || {{ {fewer}; exit; }}\nsh run.sh\n"
        ));
        stage.commit_all("A suite");
        stage.begin("--verify");
        let red = stage.auto(VERIFIED_RED);
        if !is_accepted {
            assert_eq!(red.code(), "report_unreadable", "{dies}: {red:#?}");
            // With a stub it fails by name; a replay has none.
            stage.write(CODE, "other() { :; }\n");
            stage.accepted(VERIFIED_RED);
            stage.code("spaces");
            stage.accepted(VERIFIED_GREEN);
            stage.auto("commit").ok();
            stage.tm(&["verify", "main..HEAD", "--replay"]).ok();
            continue;
        }
        red.ok();
        stage.write(CODE, "other() { :; }\n");
        fs::write(stage.outside("fewer"), "").unwrap();
        stage.refused(VERIFIED_GREEN, "tests_missing", &[]);
        fs::remove_file(stage.outside("fewer")).unwrap();
        stage.code("spaces");
        stage.accepted(VERIFIED_GREEN);
    }
}

#[test]
fn a_command_that_is_not_there() {
    let stage = with_command("./run.sh", &[]);
    stage.auto("start 1 --verify").fault(6, "config_invalid");
    assert_eq!(stage.runs().len(), 0);
    stage.begin("");
    let before = stage.journal();
    let message = stage.auto(VERIFIED_RED).fault(6, "config_invalid");
    assert!(message.contains("run.sh"), "{message}");
    assert!(before == stage.journal());
    stage.report(RED).ok();
}

#[test]
fn code_changed_while_the_tests_ran() {
    let stage = with_suite("");
    let (meddle, late) = (stage.outside("meddle"), stage.path("src/late.sh"));
    let suite = format!(
        "sh run.sh\n[ ! -f {} ] || echo 'late() {{ :; }}' >{}\n",
        meddle.display(),
        late.display()
    );
    stage.write("suite.sh", suite);
    stage.commit_all("A suite");
    let stage = in_green(stage);
    stage.code("spaces");
    fs::write(stage.outside("meddle"), "").unwrap();
    stage.refused(VERIFIED_GREEN, "stale_report", &["src/late.sh"]);
    fs::remove_file(stage.outside("meddle")).unwrap();
    stage.delete("src/late.sh");
    stage.accepted(VERIFIED_GREEN);
}

/// RED is run on the tree from before with nothing but its tests.
#[test]
fn a_product_that_was_broken_for_red_shows_nothing() {
    // An old failure, which fails there too, is not what is asked for.
    let stage = Stage::with("", &[("tests/old_test.sh", "test_old() { false; }\n")]);
    stage.start();
    stage.write("src/words.sh", "words() { echo 7; }\n");
    let test = "test_three() { test \"$(words a b c)\" = 3; }\n";
    stage.write("tests/three_test.sh", test);
    stage.refused(VERIFIED_RED, "no_new_failure", &[]);
    stage.git(&["checkout", "--quiet", "src"]);
    stage.delete("tests/three_test.sh");
    stage.test("spaces");
    // Whatever product is there already, the test fails without it.
    stage.code("spaces");
    stage.accepted(VERIFIED_RED);
    // That it was there already is no reason to change it.
    stage.accepted(VERIFIED_GREEN);
}

#[test]
fn the_bench_may_have_to_be_set_up() {
    for (setup, refused) in [
        ("", "report_unreadable"),
        (r#""setup": "false""#, "setup_needed"),
        (r#""setup": "mkdir node_modules""#, ""),
        // Once for all trees that have the same list of packages.
        (
            r#""setup": "sh -c 'echo made >>../setups; mkdir node_modules'", "setupWhen": ["package.json"], "link": ["lent"]"#,
            "",
        ),
    ] {
        let package = r#"{"name": "words", "dependencies": {"left": "1"}}"#;
        let files = [
            ("package.json", package),
            (".gitignore", "node_modules/\nlent\n"),
        ];
        let bench = format!(r#""bench": {{{setup}}}"#);
        let stage = Stage::with_test(r#""command": "sh run.sh""#, &bench, &files);
        let runner = stage.read("run.sh");
        stage.write("run.sh", format!("[ -d node_modules ] || exit 9\n{runner}"));
        stage.commit_all("A runner that needs it");
        stage.write("lent", "");
        stage.begin("");
        let red = stage.auto(VERIFIED_RED);
        assert_eq!(red.code(), refused, "{red:#?}");
        if setup.contains("setupWhen") {
            stage.code("spaces");
            stage.accepted(VERIFIED_GREEN);
        }
    }
}

/// What came to the tests has them pass, beside one that failed before: nobody had said so until GREEN.
#[test]
fn an_old_failure_hides_nothing_that_came_to_the_tests() {
    let stage = Stage::with("", &[("tests/old_test.sh", "test_old() { false; }\n")]);
    stage.auto("start 1").ok();
    let test =
        "[ ! -f tests/help ] || . ./tests/help\ntest_two() { test \"$(words 'a b')\" = 2; }\n";
    stage.write("tests/two_test.sh", test);
    stage.accepted("complete red --results failed:2,passed:2");
    stage.write("tests/help", "words() { echo 2; }\n");
    stage.write("src/late.sh", "late() { :; }\n");
    let green = stage.auto(VERIFIED_GREEN);
    assert_eq!(
        (green.code(), green.status),
        ("tests_changed", 3),
        "{green:#?}"
    );
}

/// Whoever looks at the run meanwhile sees what is tested.
#[test]
fn a_suite_is_seen_while_it_runs() {
    let stage = Stage::new("");
    let (seen, runner) = (stage.outside("seen"), stage.read("run.sh"));
    let look = format!(
        "TRAMLINE_HOME='{}' '{}' autopilot status --json --project-root '{}' >>'{}'\n",
        stage.store().display(),
        testkit::sandbox::binary().display(),
        stage.path("").display(),
        seen.display()
    );
    stage.write("run.sh", look + &runner);
    stage.commit_all("A runner that looks");
    stage.begin("");
    stage.accepted(VERIFIED_RED);
    let seen = fs::read_to_string(seen).unwrap();
    for on in ["the commit before", "the work without its product"] {
        assert!(seen.contains(&format!(r#""on":"{on}""#)), "{seen}");
    }
    let after = stage.auto("status").ok();
    assert_eq!(after["suite"], serde_json::Value::Null, "{after:#}");
}

/// What the bench has beside a tree is what the settings give it; what somebody has in a shell or a home folder is not there.
#[test]
fn the_bench_is_given_what_the_settings_name() {
    let needs = concat!(
        "[ \"$WANTED\" ] && [ ! \"$UNWANTED\" ] && [ ! -e \"$HOME/.gitconfig\" ] || exit 9\n",
        "[ -f lent/data ] && [ -f local.cfg ] || exit 9\n",
        "sh run.sh\n"
    );
    let bench = r#""bench": {"link": ["lent"], "copy": ["local.cfg"], "env": ["WANT*"]}"#;
    let files = [("suite.sh", needs), (".gitignore", "lent\nlocal.cfg\n")];
    let stage = Stage::with_test(r#""command": "sh suite.sh""#, bench, &files);
    stage.write("lent/data", "");
    stage.write("local.cfg", "one\n");
    stage.begin("");
    let report = |words: &str| {
        let mut program = stage.program(&autopilot(words));
        program.env("WANTED", "1").env("UNWANTED", "1");
        testkit::Outcome::of(&program.output().unwrap())
    };
    report(VERIFIED_RED).ok();
    stage.code("spaces");
    // What is copied decides about the tests.
    stage.write("local.cfg", "two\n");
    let refused = report(VERIFIED_GREEN);
    assert_eq!(refused.code(), "runner_config_changed", "{refused:#?}");
    assert!(refused.message().contains("local.cfg"), "{refused:#?}");
    stage.write("local.cfg", "one\n");
    report(VERIFIED_GREEN).ok();
    stage.has_journalled(r#""level":"verified""#);
}

/// Where nothing can be run on the bench, the suite is run in the working tree, and that is said; once it could be, it has to be.
#[test]
fn a_suite_that_needs_what_no_commit_has_is_run_in_place() {
    let needs = "[ -f generated ] || { echo no such file: generated; exit 9; }\nsh run.sh\n";
    for (settings, refused) in [("", ""), (r#""require": "verified""#, "evidence_too_weak")] {
        let evidence = format!(r#""evidence": {{{settings}}}"#);
        let files = [("suite.sh", needs), (".gitignore", "generated\n")];
        let stage = Stage::with_test(r#""command": "sh suite.sh""#, &evidence, &files);
        stage.write("generated", "");
        stage.trust(&["config", "trust"]);
        stage.auto("start 1").ok();
        stage.test("spaces");
        let red = stage.auto(VERIFIED_RED);
        assert_eq!(red.code(), refused, "{red:#?}");
        if refused.is_empty() {
            warns(&red.ok(), "in the working tree");
            stage.code("spaces");
            let green = stage.accepted(VERIFIED_GREEN);
            assert_eq!(green["warning"], serde_json::Value::Null, "{green:#}");
            stage.has_journalled(r#""level":"ran""#);
        }
    }
    // A start that runs them says it as well.
    let files = [("suite.sh", needs), (".gitignore", "generated\n")];
    let stage = Stage::with_test(r#""command": "sh suite.sh""#, "", &files);
    stage.write("generated", "");
    let warnings = stage.auto("start 1 --verify").ok()["warnings"].to_string();
    assert!(warnings.contains("no such file: generated"), "{warnings}");
    let stage = in_green(Stage::with("", &[(".gitignore", "generated\n")]));
    stage.code("spaces");
    stage.write("run.sh", "[ -f generated ] || exit 9\n");
    stage.write("generated", "");
    let green = stage.auto(VERIFIED_GREEN);
    assert_ne!(green.status, 0, "{green:#?}");
}

/// Another shell, another program of that name.
#[test]
fn the_tests_are_run_by_what_they_were_run_by_in_red() {
    let stage = Stage::new("");
    stage.begin("--verify");
    let fake = stage.outside("fake");
    testkit::files::write_program(&fake.join("sh"), "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let path = std::env::var("PATH").unwrap();
    let elsewhere = format!("{}:{path}", fake.display());
    let report = |words: &str, path: &str| {
        let mut program = stage.program(&autopilot(words));
        testkit::Outcome::of(&program.env("PATH", path).output().unwrap())
    };
    warns(&report(VERIFIED_RED, &elsewhere).ok(), "the program sh");
    stage.code("spaces");
    let refused = report(VERIFIED_GREEN, &path);
    assert_eq!(refused.code(), "runner_config_changed", "{refused:#?}");
    assert!(refused.message().contains("the program sh"), "{refused:#?}");
    report(VERIFIED_GREEN, &elsewhere).ok();
}

/// Maven and Gradle print little, and leave reports among what they build.
#[test]
fn reports_that_a_runner_leaves_in_any_case_are_read() {
    let wrapper = "#!/bin/sh\nmkdir -p part/target/surefire-reports\nJUNIT=part/target/surefire-reports/TEST-all.xml sh run.sh >/dev/null && exit 0\necho '[ERROR] There are test failures.'\nexit 1\n";
    let files = [("mvnw", wrapper), (".gitignore", "target/\n")];
    let stage = with_command("./mvnw -q test", &files);
    stage.make_executable("mvnw");
    stage.commit_all("A wrapper");
    // One of long ago is of another run.
    let old = "old/target/surefire-reports/TEST-old.xml";
    let xml = "<testsuite tests=\"1\"><testcase name=\"gone\"/></testsuite>";
    stage.write(old, xml);
    set_age(&stage.path(old), 3600);
    stage.begin("--verify");
    let red = stage.accepted(VERIFIED_RED);
    assert_eq!(red["message"], "RED accepted: 1 failing, 2 passing");
}

/// The settings name a file to which the command writes all, for whoever runs it.
#[test]
fn reports_that_the_settings_name_are_read() {
    let test = r#""command": "sh suite.sh", "reports": ["out/all.tap"]"#;
    let script = "mkdir -p out\n[ ! -f src/dies.sh ] || exit 0\nsh run.sh >out/all.tap || { echo it failed; exit 1; }\n";
    let stage = in_green(Stage::with_test(test, "", &[("suite.sh", script)]));
    // One that is committed was not written by the run.
    stage.write("out/all.tap", "TAP version 14\nok 1 - words test_one\nok 2 - words test_two\nok 3 - spaces test_spaces\n1..3\n");
    stage.write("src/dies.sh", "");
    assert_ne!(stage.auto(VERIFIED_GREEN).status, 0);
    for path in ["src/dies.sh", "out/all.tap"] {
        fs::remove_file(stage.path(path)).unwrap();
    }
    stage.code("spaces");
    stage.accepted(VERIFIED_GREEN);
    stage.auto("commit").ok();
    stage.tm(&["verify", "main..HEAD", "--replay"]).ok();
}

/// A test that failed already is named, has to pass then, and shows what the commit was for.
#[test]
fn a_test_that_failed_before_is_repaired() {
    let stage = Stage::new("");
    stage.test("spaces");
    stage.commit_all("A test of what is not there");
    stage.begin("--verify");
    let there = stage.outside("there");
    let words = [VERIFIED_RED, " --repairs"].concat();
    stage.refused(VERIFIED_RED, "red_without_tests", &[]);
    stage.refused(&format!("{words} words"), "red_without_tests", &["words"]);
    stage.accepted(&format!("{words} spaces*"));
    stage.write("src/other.sh", "");
    let lie = stage.auto(VERIFIED_GREEN);
    assert_eq!(lie.code(), "green_tests_still_failing", "{lie:#?}");
    // Who goes back names them anew.
    stage.reopen();
    stage.refused(VERIFIED_RED, "red_without_tests", &[]);
    stage.accepted(&format!("{words} spaces*"));
    stage.code("spaces");
    stage.accepted(VERIFIED_GREEN);
    stage.auto("commit").ok();
    let replay = ["verify", "main..HEAD", "--replay", "--strict"];
    let again = stage.tm(&replay).ok();
    let red = &again["commits"][0]["replay"]["red"];
    assert_eq!(red["failed"], 1, "{again:#}");

    // The next passes by something beside it, and without it replay sees none that the commit mends.
    let test = format!("test_tabs() {{ test -f '{}'; }}\n", there.display());
    stage.write("tests/tabs_test.sh", test);
    stage.commit_all("Another test that fails");
    stage.auto("adopt --reason mine").ok();
    stage.accepted(&format!("{words} tabs*"));
    fs::write(&there, "").unwrap();
    stage.code("tabs");
    stage.accepted(VERIFIED_GREEN);
    stage.auto("commit").ok();
    fs::remove_file(&there).unwrap();
    let found = stage.tm(&replay).json_with(3).to_string();
    assert!(found.contains("replay_failed"), "{found}");
}

/// What lies beside reports in their folder is there when the suite is run.
#[test]
fn a_folder_of_reports_may_be_the_project() {
    let test = r#""command": "sh suite.sh", "reports": ["."]"#;
    let script = "sh run.sh >all.tap || exit 1\n";
    let stage = in_green(Stage::with_test(test, "", &[("suite.sh", script)]));
    stage.code("spaces");
    stage.accepted(VERIFIED_GREEN);
}

/// It prints numbers, and the names of those that fail.
#[test]
fn a_command_that_names_no_test_is_told_of() {
    let script = "sh run.sh >all\nn=$(grep -c '^ok' all)\necho '======= test session starts ======='\necho 'FAILED tests/spaces_test.sh::test_spaces - it fails'\necho \"======= 1 failed, $n passed in 0.10s =======\"\nexit 1\n";
    let stage = with_suite(script);
    stage.begin("");
    warns(&stage.auto(VERIFIED_RED).ok(), "does not name every test");
}

/// Whoever doubts a commit has its tests run again.
#[test]
fn the_tests_of_commits_are_run_again() {
    const REPLAY: &[&str] = &["verify", "main..HEAD", "--replay"];
    let stage = in_green(Stage::new(""));
    stage.code("spaces");
    stage.accepted(VERIFIED_GREEN);
    stage.auto("commit").ok();
    let again = stage.tm(REPLAY).ok();
    let commit = &again["commits"][0];
    let (red, green) = (&commit["replay"]["red"], &commit["replay"]["green"]);
    let counts = [&green["passed"], &green["failed"], &red["failed"]];
    assert_eq!(counts, [3, 0, 1], "{again:#}");
    assert_eq!(commit["standing"], "earned");
    // That takes long: who waits is told how far it is.
    let mut spoken = stage.process(testkit::sandbox::binary());
    let spoken = testkit::Outcome::of(&spoken.args(REPLAY).output().unwrap());
    assert!(spoken.err.contains(", 1 of 1\n"), "{spoken:?}");

    // The next passes by something beside it, and nobody tried it without its change.
    let there = stage.outside("there");
    let test = format!("test_tabs() {{ test -f '{}'; }}\n", there.display());
    stage.write("tests/tabs_test.sh", test);
    stage.accepted(VERIFIED_RED);
    stage.code("tabs");
    fs::write(&there, "").unwrap();
    stage.accepted(VERIFIED_GREEN);
    stage.auto("commit").ok();
    assert_eq!(stage.tm(&REPLAY[..2]).ok()["verified"], true);
    let problem = || {
        let again = stage.tm(REPLAY).json_with(3);
        assert_eq!(again["commits"][0]["standing"], "earned");
        again["commits"][1]["problems"][0]["code"].clone()
    };
    assert_eq!(problem(), "replay_failed");
    fs::remove_file(&there).unwrap();
    assert_eq!(problem(), "replay_failed");
}

/// What the subtask has changed is to be covered, however much else is.
#[test]
fn lines_that_were_changed_are_covered() {
    let stage = in_green(Stage::new(r#""evidence": {"changedLines": 80}"#));
    stage.code("spaces");
    let words = stage.read("src/words.sh");
    stage.write("src/words.sh", format!("{words}more() {{ :; }}\n"));
    let report = stage.outside("lcov.info");
    let green = |text: &str| {
        fs::write(&report, text).unwrap();
        let report = report.display();
        stage.auto(&format!("{VERIFIED_GREEN} --coverage-report {report}"))
    };
    let of_words = |more: u8| format!("SF:src/words.sh\nDA:1,1\nDA:2,{more}\nend_of_record\n");
    let of_spaces = "SF:src/spaces.sh\nDA:1,1\nend_of_record\n";
    let half = green(&(of_words(0) + of_spaces));
    let message = half.fault(3, "coverage_below_threshold");
    assert!(message.contains("50% (threshold 80%)"), "{message}");
    // A file that the report does not name is not reached.
    let message = green(&of_words(1)).fault(3, "coverage_below_threshold");
    assert!(message.contains(CODE), "{message}");
    let none = stage.auto("complete green --verify --coverage 95").ok();
    warns(&none, "coverage of changed lines");
    stage.reopen();
    green(&(of_words(1) + of_spaces)).ok();
    let kept = stage
        .run_folder()
        .join("test-results/subtask-1.1-green.json");
    let kept = fs::read_to_string(kept).unwrap();
    assert!(kept.contains("\"changedLines\": 100"), "{kept}");
}

/// The suite of before once, and one for each report; one more where GREEN has other tests than RED.
#[test]
fn no_suite_is_run_that_says_nothing_new() {
    // The file that grows counts as a script that the command names.
    let stage = Stage::new(r#""evidence": {"policy": {"command_replaced": "off"}}"#);
    let runs = stage.outside("runs");
    let count = format!("echo run >>'{}'\n", runs.display());
    stage.write("run.sh", count + &stage.read("run.sh"));
    stage.git(&["commit", "--quiet", "--all", "--message", "Count"]);
    let since = |words: &str| {
        let _ = fs::remove_file(&runs);
        stage.auto(words).ok();
        let counted = fs::read_to_string(&runs).unwrap_or_default();
        counted.lines().count()
    };
    assert_eq!(since("start 1"), 0);
    stage.test("spaces");
    assert_eq!(since(VERIFIED_RED), 2);
    stage.code("spaces");
    assert_eq!(since(VERIFIED_GREEN), 1);
    assert_eq!(since("commit"), 0);
    stage.test("tabs");
    assert_eq!(since(VERIFIED_RED), 1);
    stage.code("tabs");
    stage.write("tests/more_test.sh", "test_more() { :; }\n");
    assert_eq!(since(VERIFIED_GREEN), 2);
    assert_eq!(since("commit"), 0);
    assert_eq!(since("finalize --verify"), 1);
}

/// A test that fails newly is run once more, by itself, where the runner can be told which: one that passes then shows nothing.
#[test]
fn what_fails_newly_has_to_fail_twice() {
    const PYTEST: &str = "#!/bin/sh
echo \"$@\" >>ASKED
JUNIT=${PYTEST_ADDOPTS##*--junitxml=}
export JUNIT
sed 's/_test[.]sh/_test.py/g' run.sh | sh
";
    let old = [("tests/old_test.py", "test_old() { true; }\n")];
    let stage = Stage::with_test(r#""command": "./pytest""#, "", &old);
    let asked = stage.outside("asked");
    stage.write("pytest", PYTEST.replace("ASKED", asked.to_str().unwrap()));
    stage.make_executable("pytest");
    stage.commit_all("A runner that can be told");
    stage.auto("start 1 --verify").ok();
    let once = stage.outside("once");
    let flaky = format!(
        "test_spaces() {{ [ -e '{0}' ] || {{ touch '{0}'; false; }}; }}\n",
        once.display()
    );
    stage.write("tests/spaces_test.py", flaky);
    let refused = stage.auto(VERIFIED_RED);
    assert_eq!(refused.code(), "red_requires_failing_tests", "{refused:?}");
    fs::remove_file(&once).unwrap();
    stage.write("tests/tabs_test.py", "test_tabs() { false; }\n");
    let accepted = stage.auto(VERIFIED_RED).ok();
    warns(&accepted, "passed only when they were tried again");
    let asked = fs::read_to_string(asked).unwrap();
    let again = "--maxfail=0 tests/spaces_test.py";
    let runs: Vec<bool> = asked.lines().map(|line| line.starts_with(again)).collect();
    assert_eq!(runs, [false, false, true, false, true], "{asked}");
}

/// What nothing passed on is no bench that is known to do.
#[test]
fn a_bench_on_which_nothing_passed_yet_may_be_of_no_use() {
    const SUITE: &str = "echo TAP version 14
if [ -e tests/new_test.sh ] && [ ! -e src/new.sh ]; then
  echo not ok 1 - new; echo 1..1; exit 1
fi
bad=; [ -e made.tmp ] || bad='not '
echo \"${bad}ok 1 - old\"
[ ! -e tests/new_test.sh ] || echo \"${bad}ok 2 - new\"
echo 1..$(ls tests/new_test.sh . 2>/dev/null | grep -c -e new_test -e suite.sh)
";
    let stage = with_suite(SUITE);
    stage.write("made.tmp", "");
    stage.auto("start 1").ok();
    stage.write("tests/new_test.sh", "new\n");
    stage.auto(VERIFIED_RED).ok();
    stage.write("src/new.sh", "new\n");
    let accepted = stage.auto(VERIFIED_GREEN).ok();
    warns(&accepted, "run in the working tree");
}
