//! Subtasks that are no test-driven work: each goes by a rule of its own, and ends in a commit of its type.

use serde_json::{Value, json};

use super::work::{COMMIT, RED, SHOP, VERIFIED, Work, code_of};

pub const TESTS: &[&str] = &["complete", "tests"];
const CHORE: &[&str] = &["complete", "chore"];
const REFACTOR: &[&str] = &["complete", "refactor"];

/// What a spike is reported with.
pub const LEARNED: &str = "tm run report --outcome learned --note 'it is fast'";

/// A test of what is there, and code in another form.
pub const MORE: &str = "adds more: test $(sh src/add.sh 5 5) = 10\n";
const OTHERWISE: &str = "expr $1 + $2\n";

fn done(work: &Work, phase: &[&str]) {
    work.accept(phase, "commit");
    work.commit();
}

/// What is of another kind is refused on the way.
#[test]
fn each_kind_ends_in_a_commit_of_its_type() {
    testkit::by_chance!(3);
    let kinds = [
        "docs", "config", "chore", "refactor", "tests", "spike", "fix",
    ];
    let work = SHOP.kinds(&kinds).begin();
    work.write("README.md", "# Shop\n");
    work.code();
    let told = work.refused(COMMIT, "other_files_changed");
    let named = told["details"]["files"].to_string();
    assert!(named.contains("src/double.sh"), "{told:#}");
    // Committed by hand it is no other.
    work.commit_by_hand("By hand");
    work.refused(&["commit", "--sha", "HEAD"], "other_files_changed");
    work.git(&["reset", "--quiet", "HEAD~"]);
    work.delete("src/double.sh");
    // Under another name it is gone as well.
    work.git(&["mv", "src/add.sh", "ADD.md"]);
    work.refused(COMMIT, "other_files_changed");
    work.git(&["mv", "ADD.md", "src/add.sh"]);
    work.write("docs/example.js", "1\n");
    work.commit();

    work.write(".editorconfig", "root = true\n");
    done(&work, CHORE);

    work.write("Makefile", "all:\n");
    work.write("src/add.sh", OTHERWISE);
    work.refused(CHORE, "other_files_changed");
    work.git(&["restore", "src"]);
    work.write("tests/add.test", "adds: true\n");
    work.refused(CHORE, "other_files_changed");
    work.git(&["restore", "tests"]);
    done(&work, CHORE);

    work.refused(REFACTOR, "nothing_changed");
    work.write("src/add.sh", "expr $1 - $2\n");
    work.refused(REFACTOR, "green_tests_still_failing");
    work.write("src/add.sh", OTHERWISE);
    done(&work, REFACTOR);

    work.append("src/add.sh", "# more\n");
    work.append("tests/add.test", MORE);
    work.refused(TESTS, "other_files_changed");
    work.git(&["restore", "src"]);
    // A test of before that asks for less is none that is brought.
    work.write("tests/add.test", "adds: true\n");
    work.refused(TESTS, "no_test_written");
    work.git(&["restore", "tests"]);
    // One that is there and fails is told as that.
    work.append("tests/add.test", "adds more: false\n");
    work.refused(TESTS, "green_tests_still_failing");
    work.replace("tests/add.test", "adds more: false\n", MORE);
    done(&work, TESTS);

    // A step that is no report of tests is told as any other.
    let told = work.tm(&["next"]);
    let step = told["nextSteps"][0]["command"].as_str().unwrap();
    assert_eq!(told["action"], "spike", "{told:#}");
    assert!(step.starts_with("tm run report"), "{told:#}");
    assert_eq!(work.shell(LEARNED).0, 0);
    work.test();
    work.red();
    work.code();
    work.goes_through();
    let subjects = work.git(&["log", "--reverse", "--format=%s", "main.."]);
    let types = subjects
        .lines()
        .filter_map(|subject| subject.split(['(', ':']).next());
    let expected = ["docs", "chore", "chore", "refactor", "test", "fix", "chore"];
    assert!(types.eq(expected), "{subjects}");
    let (_, verified) = work.shell("tm verify main..HEAD");
    let commits = verified["commits"].as_array().unwrap().iter();
    let known: Vec<&Value> = commits.map(|commit| &commit["kind"]).collect();
    let expected = json!(["docs", "config", "chore", "refactor", "tests", null, null]);
    assert_eq!(json!(known), expected, "{verified:#}");
}

/// What git ignores makes tests pass here, and is in no commit.
#[test]
fn what_is_ignored_is_no_part_of_the_work() {
    testkit::by_chance!(3);
    let work = VERIFIED.kinds(&["chore", "refactor", "tests"]).begin();
    work.write(".git/info/exclude", "src/sum.sh\ntests/five\nbuild.mk\n");
    work.write("src/sum.sh", "echo $(($1 + $2))\n");
    work.write("build.mk", "all:\n");
    work.write("Makefile", "include build.mk\n");
    done(&work, CHORE);

    work.write("src/add.sh", "sh src/sum.sh $1 $2\n");
    work.refused(REFACTOR, "green_tests_still_failing");
    work.write("src/add.sh", OTHERWISE);
    done(&work, REFACTOR);

    work.write("tests/five", "5\n");
    let five = MORE.replace("5 5", "5 $(cat tests/five)");
    work.append("tests/add.test", &five);
    work.refused(TESTS, "green_tests_still_failing");
    work.replace("tests/add.test", &five, MORE);
    done(&work, TESTS);
    work.finalize();
}

/// What a subtask asks for is there already: a test says so.
#[test]
fn a_subtask_turns_out_to_be_of_another_kind() {
    testkit::by_chance!(3);
    let work = SHOP.begin();
    work.append("tests/add.test", MORE);
    work.refused(RED, "red_requires_failing_tests");
    let to = |kind, words: &[&str]| work.ask(&[&["reopen", "--kind", kind], words].concat());
    let why = ["--reason", "it is there"];
    assert_eq!(code_of(&to("tests", &[]).1), "usage");
    assert_eq!(code_of(&to("wrong", &why).1), "usage");
    let (_, told) = to("tests", &why);
    assert_eq!(told["nextAction"]["action"], "tests", "{told:#}");
    done(&work, TESTS);
    work.finalize();
    let (_, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(verified["commits"][0]["kind"], "tests", "{verified:#}");
    let (_, report) = work.shell("tm runs report");
    let kinds = [
        &report["subtasks"][0]["kind"],
        &report["reopened"][0]["type"],
    ];
    assert_eq!(kinds, ["tests", "tests"], "{report:#}");

    // Tests of before are not owed by work of another kind.
    let work = SHOP.at_green();
    work.tm(&["reopen", "--kind", "chore", "--reason", "it is none"]);
    work.write("Makefile", "all:\n");
    work.refused(CHORE, "other_files_changed");
    work.delete("tests/double.test");
    done(&work, CHORE);
    work.finalize();
}

#[test]
fn a_kind_that_nobody_knows_begins_no_run() {
    testkit::by_chance!(3);
    let work = SHOP.unbegun();
    let (status, told) = work.ask(&["start", "--title", "Explain (kind: doc)"]);
    assert_eq!((status, code_of(&told)), (2, "usage"), "{told:#}");
    let subtask = ["--subtask", "How it is built (kind: docs)"];
    let told = work.tm(&[&["start", "--title", "Explain"], &subtask[..]].concat());
    assert_eq!(told["nextAction"]["action"], "docs", "{told:#}");
}

/// Who goes back finds the tests that were there before, and no others: what was accepted before is new once more.
#[test]
fn tests_of_what_is_there_are_taken_up_again() {
    testkit::by_chance!(3);
    let work = SHOP.kinds(&["tests"]).begin();
    let before = work.read("tests/add.test");
    work.append("tests/add.test", MORE);
    work.accept(TESTS, "commit");
    work.reopen("tests");
    work.write("tests/add.test", &before);
    work.refused(TESTS, "no_test_written");
    work.append("tests/add.test", MORE);
    done(&work, TESTS);
    work.finalize();
}
