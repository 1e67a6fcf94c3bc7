//! Runs of the suite that the engine makes itself, and how much evidence is asked for.

use std::fs;
use std::process::Command;

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted, set_age};
use crate::rails::environment::TestEnvironment;

const RED: &[&str] = &["autopilot", "complete", "red", "--verify"];
const GREEN: &[&str] = &["autopilot", "complete", "green", "--verify"];

#[test]
fn a_verified_run_from_start_to_end() {
    let stage = Stage::new(r#""evidence": {"require": "verified"}"#);
    stage.env.trust(&["config", "trust"]);
    stage.env.auto("start 1 --verify").ok();
    for name in ["spaces", "tabs"] {
        let test = format!("test_{name}() {{ test \"$({name})\" = {name}; }}\n");
        stage.env.write(&format!("tests/{name}_test.sh"), test);
        accepted(stage.env.auto("complete").ok());
        let again = stage.env.tm(GREEN);
        assert_eq!(again.code(), "green_tests_still_failing", "{again:#?}");
        let code = format!("{name}() {{ echo {name}; }}\n");
        stage.env.write(&format!("src/{name}.sh"), code);
        accepted(stage.env.tm(GREEN).ok());
        stage.env.auto("commit").ok();
    }
    let end = stage.env.auto("finalize").ok();
    assert_eq!(end["nextAction"]["status"], "completed", "{end}");
    let journal = String::from_utf8(stage.env.journal()).unwrap();
    assert!(
        journal.matches(r#""level":"verified""#).count() >= 7,
        "{journal}"
    );
    assert!(journal.contains(r#""command":"sh run.sh""#), "{journal}");
}

#[test]
fn less_than_is_asked_for() {
    let stage = Stage::started_with(r#""evidence": {"require": "reported"}"#);
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let claim = ["autopilot", "complete", "red", "--results", "failed:1"];
    stage.refused(
        &claim,
        "evidence_too_weak",
        &["claimed", "reported"],
        "--report",
    );
    accepted(stage.report("complete red").ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.env.tm(GREEN).ok());
    stage.env.auto("commit").ok();

    // Where the engine runs the suite itself, a claim is not even looked at.
    let stage = Stage::new(r#""evidence": {"require": "verified"}"#);
    stage.env.trust(&["config", "trust"]);
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    accepted(stage.env.auto("complete red --results failed:7").ok());
    let lie = stage.env.auto("complete green --results passed:3,failed:0");
    assert_eq!(lie.code(), "green_tests_still_failing", "{lie:#?}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.env.tm(GREEN).ok());
}

#[test]
fn what_a_command_may_come_to() {
    for (name, script, code, status, names) in [
        (
            "exit 1 without a failure",
            "sh run.sh; exit 1\n",
            "test_command_failed",
            3,
            "status 1",
        ),
        (
            "killed by itself",
            "sh run.sh; kill -9 $$\n",
            "test_command_failed",
            3,
            "status 137",
        ),
        (
            "not understood",
            "echo all is well\n",
            "report_unreadable",
            3,
            "sh suite.sh",
        ),
        (
            "says nothing",
            "exit 0\n",
            "report_unreadable",
            3,
            "sh suite.sh",
        ),
        (
            "cut off",
            "sh run.sh | head -n 2\n",
            "report_unreadable",
            3,
            "sh suite.sh",
        ),
    ] {
        let stage = with_command("sh suite.sh", &[("suite.sh", "sh run.sh\n")], "");
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage.env.tm(RED).ok();
        stage.env.write("src/spaces.sh", NEW_CODE);
        // What is behind the command is pinned; a person has let this one pass.
        stage.env.write("suite.sh", script);
        let before = stage.env.journal();
        let answer = stage.env.tm(GREEN);
        assert_eq!(
            (answer.code(), answer.status),
            (code, status),
            "{name}: {answer:#?}"
        );
        assert!(answer.message().contains(names), "{name}: {answer:#?}");
        assert!(!answer.suggestion().is_empty(), "{name}: {answer:#?}");
        assert!(before == stage.env.journal(), "{name}");
        stage.env.write("suite.sh", "sh run.sh\n");
        accepted(stage.env.tm(GREEN).ok());
    }
}

/// What a shell comes to is no evidence that a test is new, or fails: with names or numbers it goes on.
#[test]
fn an_exit_status_alone_shows_no_failing_test() {
    let quiet = "sh run.sh >/dev/null || { echo something is wrong; exit 1; }; echo all is well\n";
    let stage = with_command("sh suite.sh", &[("suite.sh", quiet)], "");
    let started = stage.env.auto("start 1").ok();
    assert_eq!(
        started["warnings"].as_array().map(Vec::len),
        Some(1),
        "{started:#}"
    );
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = stage.env.tm(RED);
    assert_eq!(
        (red.code(), red.status),
        ("report_unreadable", 3),
        "{red:#?}"
    );
    assert!(red.suggestion().contains("--results"), "{red:#?}");
    accepted(
        stage
            .env
            .auto("complete red --results failed:1,passed:2")
            .ok(),
    );
    stage.env.write("src/spaces.sh", NEW_CODE);
    let green = stage.env.tm(GREEN);
    assert_eq!(
        (green.code(), green.status),
        ("report_unreadable", 3),
        "{green:#?}"
    );
    assert!(green.suggestion().contains("--results"), "{green:#?}");
    let green = stage.env.auto("complete green --results passed:3,failed:0");
    accepted(green.ok());
}

/// Its runner is known by what it printed until then. The tests of before are not missing, and the new one is owed.
#[test]
fn a_runner_that_dies_in_red_has_not_run_its_tests() {
    let fewer = "printf 'TAP version 14\\nok 1 - words test_one\\nok 2 - words test_two\\n1..2\\n'";
    let suite = |dies: &str| {
        format!(
            "[ -f src/spaces.sh ] || [ ! -f tests/spaces_test.sh ] || {{ sh run.sh | head -n 2; {dies}; }}\n[ ! -f ../fewer ] || {{ {fewer}; exit; }}\nsh run.sh\n"
        )
    };
    for (dies, is_accepted) in [
        ("kill -9 $$", true),
        ("exit 3", true),
        ("exit 0", false),
        ("exit 1", false),
    ] {
        let stage = with_command("sh suite.sh", &[("suite.sh", &suite(dies))], "");
        stage.env.auto("start 1 --verify").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        if !is_accepted {
            let red = stage.env.tm(RED);
            assert_eq!(red.code(), "report_unreadable", "{dies}: {red:#?}");
            continue;
        }
        stage.env.tm(RED).ok();
        stage.env.write("src/spaces.sh", "other() { :; }\n");
        fs::write(stage.outside("fewer"), "").unwrap();
        let missing = stage.env.tm(GREEN);
        assert_eq!(missing.code(), "tests_missing", "{dies}: {missing:#?}");
        fs::remove_file(stage.outside("fewer")).unwrap();
        stage.env.write("src/spaces.sh", NEW_CODE);
        accepted(stage.env.tm(GREEN).ok());
    }
}

/// Which of its tests ended a program of Rust is not told: the program is no test that could be missing later.
#[test]
fn a_program_of_tests_that_dies_in_red_is_not_missing_in_green() {
    let dies = "printf 'running 2 tests\\ntest one ... ok\\n'; echo 'error: test failed, to rerun pass `--lib`'; exit 101";
    let passes = "printf 'running %s tests\\ntest one ... ok\\n' $1; [ $1 = 1 ] || echo 'test spaces ... ok'; printf '\\ntest result: ok. %s passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\\n' $1";
    let suite = format!(
        "passes() {{ {passes}; }}\n[ -f tests/spaces_test.sh ] || {{ passes 1; exit; }}\ngrep -q spaces src/spaces.sh || {{ {dies}; }}\npasses 2\n"
    );
    let stage = with_command("sh suite.sh", &[("suite.sh", &suite)], "");
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.env.tm(RED).ok();
    let again = stage.env.tm(GREEN);
    assert_eq!(again.code(), "green_tests_still_failing", "{again:#?}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.env.tm(GREEN).ok());
}

#[test]
fn a_status_says_nothing_against_a_failing_test() {
    let stage = with_command("sh suite.sh", &[("suite.sh", "sh run.sh || true\n")], "");
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    accepted(stage.env.tm(RED).ok());
    let answer = stage.env.tm(GREEN);
    assert_eq!(answer.code(), "green_tests_still_failing", "{answer:#?}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.env.tm(GREEN).ok());
}

#[test]
fn a_command_that_is_not_there() {
    for (command, names) in [
        ("no-such-runner --all", "no-such-runner"),
        ("./run.sh", "run.sh"),
    ] {
        let stage = with_command(command, &[], "");
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        let before = stage.env.journal();
        let answer = stage.env.tm(RED);
        assert_eq!(
            (answer.code(), answer.status),
            ("test_command", 6),
            "{answer:#?}"
        );
        assert!(answer.message().contains(names), "{answer:#?}");
        assert!(before == stage.env.journal());
        accepted_with_baseline_missing(&stage);
    }
    let stage = with_command("no-such-runner", &[], "");
    let answer = stage.env.auto("start 1 --verify");
    assert_eq!(
        (answer.code(), answer.status),
        ("test_command", 6),
        "{answer:#?}"
    );
    assert_eq!(stage.env.runs().len(), 0);
}

fn accepted_with_baseline_missing(stage: &Stage) {
    let red = stage.report("complete red").ok();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
}

#[test]
fn one_that_hangs_is_ended_with_all_it_started() {
    let stage = with_command(
        "sh suite.sh",
        &[("suite.sh", "sh run.sh\n")],
        r#""autopilot": {"testTimeout": 400}"#,
    );
    stage.env.auto("start 1").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let own = stage.outside("pids");
    let hangs = format!(
        "echo started\n(trap '' TERM INT HUP; echo $$ >'{0}.a'; sh -c 'trap \"\" TERM; echo $$ >\"{0}\"; while :; do sleep 1000; done' & wait) &\nwhile :; do sleep 1000; done\n",
        own.display()
    );
    stage.env.write("suite.sh", hangs);
    let before = stage.env.journal();
    let answer = stage.env.tm(RED);
    assert_eq!(
        (answer.code(), answer.status),
        ("test_timeout", 3),
        "{answer:#?}"
    );
    assert!(
        answer.suggestion().contains("autopilot.testTimeout"),
        "{answer:#?}"
    );
    assert!(before == stage.env.journal());
    for name in ["pids", "pids.a"] {
        let pid = fs::read_to_string(stage.outside(name)).unwrap_or_default();
        let pid = pid.trim();
        // Killed it is, but whoever inherited it may not have taken note yet.
        let begun = std::time::Instant::now();
        while !pid.is_empty() && is_alive(pid) {
            assert!(begun.elapsed().as_secs() < 10, "{pid} still runs");
            std::thread::yield_now();
        }
    }
    stage.env.write("suite.sh", "sh run.sh\n");
    accepted_with_baseline_missing(&stage);
}

#[test]
fn one_that_floods_is_read_to_its_end() {
    let stage = with_command("sh suite.sh", &[("suite.sh", FLOOD)], "");
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    accepted(stage.env.tm(RED).ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    accepted(stage.env.tm(GREEN).ok());
    let kept: u64 = size_of(&stage.env.run_folder());
    assert!(kept < 30 << 20, "{kept}");
}

fn is_alive(pid: &str) -> bool {
    let answer = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let stat = String::from_utf8(answer.unwrap().stdout).unwrap();
    !stat.trim().is_empty() && !stat.starts_with('Z')
}

/// 24 MB on the standard error, beside a report.
const FLOOD: &str = "yes 'a line of noise that says nothing at all about the tests of this project' | head -c 24000000 >&2
sh run.sh
";

fn size_of(folder: &std::path::Path) -> u64 {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            match entry.metadata().unwrap() {
                found if found.is_dir() => size_of(&entry.path()),
                found => found.len(),
            }
        })
        .sum()
}

#[test]
fn a_report_beside_the_run() {
    // What is printed tells nothing; the file does.
    let suite = "JUNIT=report.xml sh run.sh >/dev/null\n";
    let stage = with_command("sh suite.sh", &[("suite.sh", suite)], "");
    stage
        .env
        .auto("start 1 --verify --baseline-report report.xml")
        .ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let with_report = |words: &str| {
        let words = format!("{words} --verify --report report.xml");
        stage.env.auto(&words)
    };
    accepted(with_report("complete red").ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    let before = stage.env.journal();
    let old = stage.env.auto("complete green --verify --report old.xml");
    assert_eq!(old.code(), "report_missing", "{old:#?}");
    // A file that the command does not write says nothing of this run.
    fs::copy(stage.path("report.xml"), stage.outside("old.xml")).unwrap();
    set_age(&stage.outside("old.xml"), 60);
    let old = stage.outside("old.xml");
    let mut words = GREEN.to_vec();
    words.extend(["--report", old.to_str().unwrap()]);
    let answer = stage.env.tm(&words);
    assert_eq!(
        (answer.code(), answer.status),
        ("report_not_written", 3),
        "{answer:#?}"
    );
    assert!(before == stage.env.journal());
    accepted(with_report("complete green").ok());
    stage.env.auto("commit").ok();
    let files = stage.env.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(!files.contains("report.xml"), "{files}");
}

#[test]
fn code_changed_while_the_tests_ran() {
    // Each run writes another code: what was tested is not what is there.
    let suite = "sh run.sh
n=$(cat ../count 2>/dev/null || echo 0)
echo $((n + 1)) >../count
[ ! -f ../meddle ] || echo \"late() { echo $n; }\" >src/late.sh
";
    let stage = with_command("sh suite.sh", &[("suite.sh", suite)], "");
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    accepted(stage.env.tm(RED).ok());
    stage.env.write("src/spaces.sh", NEW_CODE);
    fs::write(stage.outside("meddle"), "").unwrap();
    stage.refused(
        GREEN,
        "stale_report",
        &["src/late.sh", "while the tests ran"],
        "run the tests again",
    );
    fs::remove_file(stage.outside("meddle")).unwrap();
    fs::remove_file(stage.path("src/late.sh")).unwrap();
    accepted(stage.env.tm(GREEN).ok());

    // A build that writes code comes to rest; its first run counts for nothing.
    let suite = "echo 'made() { echo made; }' >src/made.sh\nsh run.sh\n";
    let stage = with_command("sh suite.sh", &[("suite.sh", suite)], "");
    stage.env.auto("start 1").ok();
    stage.env.write(
        "tests/made_test.sh",
        "test_made() { test \"$(made; spaces)\" = 1; }\n",
    );
    stage.env.tm(RED).ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.write("src/made.sh", "made() { :; }\n");
    let answer = stage.env.tm(GREEN);
    assert_ne!(answer.code(), "stale_report", "{answer:#?}");
}

#[test]
fn red_in_a_clean_tree() {
    const CLEAN: &str = r#""evidence": {"redInCleanTree": true}"#;
    let stage = Stage::started_with(CLEAN);
    stage.env.trust(&["config", "trust"]);
    // It fails here because the product is broken here, and not because something is missing.
    stage.env.write("src/words.sh", "words() { echo 7; }\n");
    stage.env.write(
        "tests/three_test.sh",
        "test_three() { test \"$(words a b c)\" = 3; }\n",
    );
    let report = stage.suite();
    let before = stage.env.journal();
    let answer = stage.hand_in("complete red", &report);
    assert_eq!(
        (answer.code(), answer.status),
        ("red_not_in_clean_tree", 3),
        "{answer:#?}"
    );
    assert!(before == stage.env.journal());
    stage.env.write("src/words.sh", "words() { echo $#; }\n");
    fs::remove_file(stage.path("tests/three_test.sh")).unwrap();
    stage.red();
    stage.green();
    stage.env.auto("commit").ok();

    // An old failure, which fails there too, is not what is asked for.
    let stage = Stage::new(CLEAN);
    stage
        .env
        .write("tests/old_test.sh", "test_old() { false; }\n");
    stage.env.commit_all("A test that fails");
    stage.env.trust(&["config", "trust"]);
    stage.start();
    stage.env.write("src/words.sh", "words() { echo 7; }\n");
    stage.env.write(
        "tests/three_test.sh",
        "test_three() { test \"$(words a b c)\" = 3; }\n",
    );
    let answer = stage.report("complete red");
    assert_eq!(answer.code(), "red_not_in_clean_tree", "{answer:#?}");
}

#[test]
fn a_clean_tree_may_have_to_be_set_up() {
    let stage = |test: &str, installed: bool| {
        let stage = Stage::with_test(
            &format!(r#""patterns": ["tests/**"]{test}"#),
            r#""evidence": {"redInCleanTree": true}"#,
        );
        let package = r#"{"name": "words", "dependencies": {"left": "1"}}"#;
        stage.env.write("package.json", package);
        stage.env.write(".gitignore", "node_modules/\n");
        stage.env.commit_all("A package");
        if installed {
            stage.env.write("node_modules/left/index.js", "\n");
        }
        let runner = stage.env.read("run.sh");
        stage
            .env
            .write("run.sh", format!("[ -d node_modules ] || exit 9\n{runner}"));
        stage.env.commit_all("A runner that needs it");
        stage.env.trust(&["config", "trust"]);
        stage.env.auto("start 1").ok();
        stage.env.write("tests/spaces_test.sh", NEW_TESTS);
        stage
    };
    let without = stage("", false);
    let answer = without.env.auto("complete red --results failed:1,passed:2");
    assert_eq!(
        (answer.code(), answer.status),
        ("setup_needed", 3),
        "{answer:#?}"
    );
    assert!(answer.message().contains("node_modules"), "{answer:#?}");
    assert!(answer.suggestion().contains("test.setup"), "{answer:#?}");
    // What is installed here is there, too.
    let lent = stage("", true);
    let red = lent.report("complete red").ok();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
    let fails = stage(r#", "setup": "false""#, true);
    let answer = fails.report("complete red");
    assert_eq!(
        (answer.code(), answer.status),
        ("setup_failed", 3),
        "{answer:#?}"
    );
    let with = stage(r#", "setup": "mkdir node_modules""#, true);
    let red = with.report("complete red").ok();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
    with.green();
    with.env.auto("commit").ok();
}

/// The project with another test command.
fn with_command(command: &str, files: &[(&str, &str)], settings: &str) -> Stage {
    let stage = Stage::new("");
    for (path, text) in files {
        stage.env.write(path, text);
    }
    let more = if settings.is_empty() { "" } else { ", " };
    let config = format!(
        r#"{{"test": {{"command": "{command}", "patterns": ["tests/**"]}}, "evidence": {{"policy": {{"command_replaced": "off"}}}}{more}{settings}}}"#
    );
    stage.env.write(".taskmaster/config.json", config);
    let env: &TestEnvironment = &stage.env;
    env.commit_all("Another command");
    stage
}

/// Another shell, another program of that name.
#[test]
fn the_tests_are_run_by_what_they_were_run_by_in_red() {
    let stage = Stage::new("");
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let fake = stage.outside("fake");
    testkit::files::write_program(&fake.join("sh"), "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let path = std::env::var("PATH").unwrap();
    let report = |words: &str, path: &str| {
        let mut program = stage
            .env
            .program(&crate::rails::environment::autopilot(words));
        program.env("PATH", path);
        testkit::Outcome::of(&program.output().unwrap())
    };
    let elsewhere = format!("{}:{path}", fake.display());
    let red = report("complete red --verify", &elsewhere).ok();
    let told = red["warning"].as_str().unwrap();
    assert!(told.contains("the program sh"), "{red:#}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    let refused = report("complete green --verify", &path);
    assert_eq!(refused.code(), "runner_config_changed", "{refused:#?}");
    assert!(refused.message().contains("the program sh"), "{refused:#?}");
    report("complete green --verify", &elsewhere).ok();
}

/// Maven and Gradle print little, and leave reports among what they build.
#[test]
fn reports_that_a_runner_leaves_in_any_case_are_read() {
    let stage = with_command(
        "./mvnw -q test",
        &[
            (".gitignore", "target/\n"),
            (
                "mvnw",
                "#!/bin/sh\nmkdir -p part/target/surefire-reports\nJUNIT=part/target/surefire-reports/TEST-all.xml sh run.sh >/dev/null && exit 0\necho '[ERROR] There are test failures.'\nexit 1\n",
            ),
        ],
        "",
    );
    testkit::files::write_program(&stage.path("mvnw"), stage.env.read("mvnw"));
    stage.env.commit_all("A wrapper");
    // One of long ago is of another run.
    let old = stage.path("old/target/surefire-reports/TEST-old.xml");
    testkit::files::write(
        &old,
        "<testsuite tests=\"1\"><testcase name=\"gone\"/></testsuite>",
    );
    set_age(&old, 3600);
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = stage.env.auto("complete red --verify").ok();
    assert_eq!(red["message"], "RED accepted: 1 failing, 2 passing");
    assert_eq!(red["warning"], serde_json::Value::Null, "{red:#}");
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage
        .env
        .write("tests/words_test.sh", "test_one() { :; }\n");
    let missing = stage.env.auto("complete green --verify");
    assert_eq!(missing.code(), "tests_changed", "{missing:#?}");
}

/// Nobody sees through to what it runs, and it prints numbers alone.
#[test]
fn a_command_that_names_no_test_is_told_of() {
    let settings = r#""evidence": {"require": "verified"}"#;
    let script = "sh run.sh >all\nn=$(grep -c '^ok' all)\nbad=$(grep -c '^not ok' all)\necho '======= test session starts ======='\n[ \"$bad\" = 0 ] && echo \"======= $n passed in 0.10s =======\" && exit\necho 'FAILED tests/spaces_test.sh::test_spaces - it fails'\necho \"======= $bad failed, $n passed in 0.10s =======\"\nexit 1\n";
    let stage = with_command(
        "sh check.sh",
        &[("check.sh", script), (".gitignore", "all\n")],
        settings,
    );
    stage.env.commit_all("A script");
    stage.env.trust(&["config", "trust"]);
    let started = stage.env.auto("start 1").ok();
    let warnings = started["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{started:#}");
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    let red = stage.env.auto("complete red").ok();
    let warning = red["warning"].to_string();
    assert!(warning.contains("does not name every test"), "{red:#}");
}

/// Whoever doubts a commit has its tests run again.
#[test]
fn the_tests_of_commits_are_run_again() {
    let stage = Stage::new(r#""evidence": {"replay": "off"}"#);
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.env.auto("complete red --verify").ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    stage.env.auto("complete green --verify").ok();
    stage.env.auto("commit").ok();
    let verify = |words: &[&str]| stage.env.tm(&[&["verify", "main..HEAD"], words].concat());
    let again = verify(&["--replay"]).ok();
    let commit = &again["commits"][0];
    assert_eq!(commit["replay"]["green"]["passed"], 3, "{again:#}");
    assert_eq!(commit["replay"]["green"]["failed"], 0, "{again:#}");
    assert_eq!(commit["replay"]["red"]["failed"], 1, "{again:#}");
    assert_eq!(commit["standing"], "earned");
    let remarks = commit["remarks"].to_string();
    assert!(remarks.contains("its run is not over"), "{again:#}");
    // That takes long: who waits is told how far it is.
    let mut spoken = stage.env.process(testkit::sandbox::binary());
    spoken.args(["verify", "main..HEAD", "--replay"]);
    let spoken = String::from_utf8(spoken.output().unwrap().stderr).unwrap();
    assert!(
        spoken.contains("hint: the tests of a commit are run again: "),
        "{spoken}"
    );
    assert!(spoken.contains(", 1 of 1\n"), "{spoken}");

    // The next passes by something beside it, and nobody tried it without its change.
    let there = stage.outside("there");
    let test = format!("test_tabs() {{ test -f '{}'; }}\n", there.display());
    stage.env.write("tests/tabs_test.sh", test);
    stage.env.auto("complete red --verify").ok();
    stage.env.write("src/tabs.sh", "tabs() { :; }\n");
    fs::write(&there, "").unwrap();
    stage.env.auto("complete green --verify").ok();
    stage.env.auto("commit").ok();
    let claimed = verify(&[]).ok();
    assert_eq!(claimed["verified"], true);
    let again = verify(&["--replay"]);
    assert_eq!(again.status, 3, "{again:#?}");
    let commits = again.json()["commits"].as_array().unwrap().clone();
    assert_eq!(commits[0]["standing"], "earned");
    assert_eq!(commits[1]["problems"][0]["code"], "red_not_replayed");
    fs::remove_file(&there).unwrap();
    let again = verify(&["--replay"]);
    let problems = &again.json()["commits"][1]["problems"];
    assert_eq!(problems[0]["code"], "green_not_replayed", "{again:#?}");
}

/// What the subtask has changed is to be covered, however much else is.
#[test]
fn lines_that_were_changed_are_covered() {
    let stage = Stage::new(r#""evidence": {"changedLines": 80}"#);
    stage.env.auto("start 1 --verify").ok();
    stage.env.write("tests/spaces_test.sh", NEW_TESTS);
    stage.env.auto("complete red --verify").ok();
    stage.env.write("src/spaces.sh", NEW_CODE);
    let words = stage.env.read("src/words.sh");
    stage
        .env
        .write("src/words.sh", format!("{words}more() {{ :; }}\n"));
    let added = words.lines().count() + 1;
    let lcov = |spaces: u8, more: u8| {
        let old = (1..added).map(|line| format!("DA:{line},1"));
        let old = old.collect::<Vec<_>>().join("\n");
        format!(
            "SF:src/words.sh\n{old}\nDA:{added},{more}\nend_of_record\nSF:src/spaces.sh\nDA:1,{spaces}\nend_of_record\n"
        )
    };
    let report = stage.outside("lcov.info");
    let green = |text: String| {
        fs::write(&report, text).unwrap();
        let words = [
            "autopilot",
            "complete",
            "green",
            "--verify",
            "--coverage-report",
        ];
        let path = report.to_str().unwrap();
        stage.env.tm(&[&words[..], &[path]].concat())
    };
    let under = green(lcov(1, 0));
    assert_eq!(under.code(), "coverage_below_threshold", "{under:#?}");
    let told = "changed lines 50% (threshold 80%)";
    assert!(under.message().contains(told), "{under:#?}");
    // A file that the report does not name is not reached.
    let named = lcov(1, 1);
    let (words, _) = named.split_once("SF:src/spaces.sh").unwrap();
    let under = green(words.to_owned());
    assert_eq!(under.code(), "coverage_below_threshold", "{under:#?}");
    assert!(under.message().contains("src/spaces.sh"), "{under:#?}");
    let none = stage.env.auto("complete green --verify --coverage 95").ok();
    let warning = none["warning"].to_string();
    assert!(warning.contains("coverage of changed lines"), "{none:#}");
    stage.env.auto("reopen --reason again").ok();
    green(lcov(1, 1)).ok();
    let results = testkit::files::contents(&stage.env.run_folder().join("test-results"));
    let kept = String::from_utf8_lossy(&results["subtask-1.1-green.json"]).into_owned();
    assert!(kept.contains("\"changedLines\": 100"), "{kept}");
}
