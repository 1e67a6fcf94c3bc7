//! Subtasks that are no test-driven work: each goes by a rule of its own, and ends in a commit of its type.

use serde_json::{Value, json};

use super::languages::PYTHON;
use super::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

/// A run over subtasks of these kinds.
pub fn begin(before: &Before<'_>, way: Way, kinds: &[&str]) -> Work {
    let subtasks: Vec<Value> = (1..)
        .zip(kinds)
        .map(|(id, kind)| json!({ "id": id, "title": format!("A piece of {kind}"), "kind": kind }))
        .collect();
    let tasks = json!({ "master": { "tasks": [
        { "id": 1, "title": "Many things", "status": "pending", "subtasks": subtasks }
    ] } });
    let first = kinds.first().unwrap();
    let first = if *first == "config" { "chore" } else { first };
    Work::begin_at(before, way, first, |work| {
        work.write(".taskmaster/tasks/tasks.json", &tasks.to_string());
    })
}

/// Reports a phase, which is refused with this code. Gives the answer.
fn refused(work: &Work, phase: &[&str], code: &str) -> Value {
    let (status, answer) = if phase == ["commit"] {
        work.report_commit(&[])
    } else {
        work.report(phase)
    };
    assert_eq!((status, &answer["code"]), (3, &json!(code)), "{answer:#}");
    answer
}

fn done(work: &Work, phase: &str) {
    work.accept(&["complete", phase], "commit");
    work.commit();
}

#[test]
fn each_kind_ends_in_a_commit_of_its_type() {
    let before = Before {
        files: &[&[("README.md", "# Shop\n")], SHOP.files].concat(),
        ..SHOP
    };
    let way = Way::Reported;
    let kinds = [
        "docs", "config", "chore", "refactor", "tests", "spike", "fix",
    ];
    let work = begin(&before, way, &kinds);
    work.append("README.md", "Sells things.\n");
    work.commit();
    work.write(".editorconfig", "root = true\n");
    done(&work, "chore");
    work.write("Makefile", "test:\n\tsh run.sh\n");
    done(&work, "chore");
    work.write("src/add.sh", "expr $1 + $2\n");
    done(&work, "refactor");
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 5) = 10\n",
    );
    done(&work, "tests");
    let (status, told) = work.shell("tm run report --outcome learned --note 'expr is slow'");
    assert_eq!(status, 0, "{told:#}");
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
    let subjects = work.git(&["log", "--reverse", "--format=%s", "main.."]);
    let types: Vec<&str> = subjects
        .lines()
        .filter_map(|subject| subject.split(['(', ':']).next())
        .collect();
    let expected = ["docs", "chore", "chore", "refactor", "test", "fix", "chore"];
    assert_eq!(types, expected, "{subjects}");
    let (status, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(status, 0, "{verified:#}");
    let known: Vec<&Value> = verified["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|commit| &commit["kind"])
        .collect();
    let expected = json!(["docs", "config", "chore", "refactor", "tests", null, null]);
    assert_eq!(json!(known), expected, "{verified:#}");
}

#[test]
fn what_is_of_another_kind_is_refused() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["docs", "chore", "refactor", "tests"]);
    work.write("README.md", "# Shop\n");
    work.write("src/double.sh", DOUBLE);
    let told = refused(&work, &["commit"], "other_files_changed");
    assert!(told["message"].as_str().unwrap().contains("src/double.sh"));
    // Committed by hand it is no other.
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "By hand"]);
    let sha = work.git(&["rev-parse", "HEAD"]);
    let (_, told) = work.report_commit(&["--sha", sha.trim()]);
    assert_eq!(told["code"], "other_files_changed", "{told:#}");
    work.git(&["reset", "--quiet", "HEAD~"]);
    work.delete("src/double.sh");
    // Under another name it is gone as well.
    work.git(&["mv", "src/add.sh", "ADD.md"]);
    refused(&work, &["commit"], "other_files_changed");
    work.git(&["mv", "ADD.md", "src/add.sh"]);
    work.commit();

    work.write("Makefile", "all:\n");
    work.write("src/add.sh", "expr $1 + $2\n");
    refused(&work, &["complete", "chore"], "other_files_changed");
    work.write("src/add.sh", "echo $(($1 + $2))\n");
    work.write("tests/add.test", "adds: true\n");
    refused(&work, &["complete", "chore"], "other_files_changed");
    work.git(&["restore", "tests"]);
    done(&work, "chore");

    refused(&work, &["complete", "refactor"], "nothing_changed");
    work.write("src/add.sh", "expr $1 + $2\n");
    work.write("tests/add.test", "adds: true\n");
    refused(&work, &["complete", "refactor"], "other_files_changed");
    work.git(&["restore", "tests"]);
    work.write("src/add.sh", "expr $1 - $2\n");
    let (status, told) = work.report(&["complete", "refactor"]);
    assert_eq!(
        told["code"], "green_tests_still_failing",
        "{status} {told:#}"
    );
    work.write("src/add.sh", "expr $1 + $2\n");
    done(&work, "refactor");

    work.write("src/add.sh", "echo $(($1 + $2))\n");
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 5) = 10\n",
    );
    refused(&work, &["complete", "tests"], "other_files_changed");
    work.git(&["restore", "src"]);
    work.git(&["restore", "tests"]);
    refused(&work, &["complete", "tests"], "no_test_written");
    // A test of before that asks for less is none that is brought.
    work.write("tests/add.test", "adds: true\n");
    refused(&work, &["complete", "tests"], "no_test_written");
    // One that is there and fails is told as that.
    work.git(&["restore", "tests"]);
    work.append("tests/add.test", "adds more: false\n");
    let (_, told) = work.report(&["complete", "tests"]);
    assert_eq!(told["code"], "green_tests_still_failing", "{told:#}");
}

#[test]
fn a_test_that_passes_without_the_product_shows_nothing() {
    let work = begin(&PYTHON, Way::Verified, &["tests"]);
    let tests = work.read("tests/test_add.py");
    let more = |body: &str| format!("{tests}\n    def test_more(self):\n        {body}\n");
    work.write("tests/test_add.py", &more("self.assertTrue(True)"));
    let told = refused(&work, &["complete", "tests"], "passes_without_product");
    assert!(
        told["message"].as_str().unwrap().contains("test_more"),
        "{told:#}"
    );
    work.write(
        "tests/test_add.py",
        &more("self.assertEqual(add(5, 5), 10)"),
    );
    done(&work, "tests");
    work.finalize();
}

/// A test of before that needs the product no more was made weaker.
#[test]
fn a_test_of_before_goes_on_needing_the_product() {
    let work = begin(&PYTHON, Way::Verified, &["tests"]);
    let tests = work.read("tests/test_add.py");
    let more = "\n    def test_more(self):\n        self.assertEqual(add(5, 5), 10)\n";
    let emptied = tests.replace("self.assertEqual(add(1, 2), 3)", "self.assertTrue(True)");
    assert_ne!(emptied, tests);
    work.write("tests/test_add.py", &format!("{emptied}{more}"));
    let told = refused(&work, &["complete", "tests"], "passes_without_product");
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("test_adds") && message.contains("did not before"),
        "{told:#}"
    );
    work.write("tests/test_add.py", &format!("{tests}{more}"));
    done(&work, "tests");
    work.finalize();
}

/// Where that cannot be tried, it is told.
#[test]
fn a_test_that_could_not_be_tried_without_the_product_is_told() {
    let work = begin(&SHOP, Way::Verified, &["tests"]);
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 5) = 10\n",
    );
    let told = work.accept(&["complete", "tests"], "commit");
    let warning = told["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("not tried on a product"), "{told:#}");
}

/// What git ignores makes tests pass here, and is in no commit.
#[test]
fn what_is_ignored_is_no_part_of_the_work() {
    let work = begin(&SHOP, Way::Verified, &["chore", "refactor", "tests"]);
    work.write(".git/info/exclude", "src/sum.sh\ntests/five\nbuild.mk\n");
    work.write("src/sum.sh", "echo $(($1 + $2))\n");
    let all = "sh src/sum.sh $1 $2\n";

    work.write("build.mk", "all:\n");
    work.write("Makefile", "include build.mk\n");
    done(&work, "chore");

    work.write("src/add.sh", all);
    let told = refused(&work, &["complete", "refactor"], "green_not_replayed");
    let fix = told["suggestion"].as_str().unwrap();
    assert!(fix.contains("git status --ignored"), "{told:#}");
    work.write("src/add.sh", "expr $1 + $2\n");
    done(&work, "refactor");

    work.write("tests/five", "5\n");
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 $(cat tests/five)) = 10\n",
    );
    refused(&work, &["complete", "tests"], "green_not_replayed");
    work.git(&["restore", "tests"]);
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 5) = 10\n",
    );
    work.accept(&["complete", "tests"], "commit");
    work.commit();
    work.finalize();
}

/// What somebody tried out and has committed already is told where it can stay.
#[test]
fn a_spike_that_was_committed_comes_off_the_branch() {
    let work = begin(&SHOP, Way::Verified, &["spike"]);
    work.write("src/double.sh", DOUBLE);
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Tried"]);
    let tried = work.git(&["rev-parse", "HEAD"]);
    work.append("src/double.sh", "# and more\n");
    let learned = "tm run report --outcome learned --note 'it is fast'";
    let (status, told) = work.shell(learned);
    assert_eq!(
        (status, &told["code"]),
        (3, &json!("changes_left")),
        "{told:#}"
    );
    let fix = told["suggestion"].as_str().unwrap();
    let commands: Vec<&str> = fix
        .split('`')
        .filter(|part| part.starts_with("git "))
        .collect();
    assert_eq!(commands.len(), 3, "{fix}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        work.git(&words);
    }
    let (status, told) = work.shell(learned);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(
        work.git(&["show", &format!("{tried}:src/double.sh")]),
        DOUBLE.trim_end()
    );
}

/// What a subtask asks for is there already: a test says so.
#[test]
fn a_subtask_turns_out_to_be_of_another_kind() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.append(
        "tests/add.test",
        "adds more: test $(sh src/add.sh 5 5) = 10\n",
    );
    refused(&work, &["complete", "red"], "red_requires_failing_tests");
    let (status, told) = work.ask(&["reopen", "--kind", "tests"]);
    assert_eq!(
        (status, &told["error"]["code"]),
        (2, &json!("no_reason")),
        "{told:#}"
    );
    let (_, told) = work.ask(&["reopen", "--kind", "wrong", "--reason", "why not"]);
    assert_eq!(told["error"]["code"], "unknown_kind", "{told:#}");
    let told = work.tm(&["reopen", "--kind", "tests", "--reason", "it is there"]);
    assert_eq!(told["nextAction"]["action"], "tests", "{told:#}");
    done(&work, "tests");
    work.finalize();
    let (status, verified) = work.shell("tm verify main..HEAD");
    assert_eq!(status, 0, "{verified:#}");
    assert_eq!(verified["commits"][0]["kind"], "tests", "{verified:#}");
    let (_, report) = work.shell("tm runs report");
    assert_eq!(report["subtasks"][0]["kind"], "tests", "{report:#}");
    assert_eq!(report["reopened"][0]["type"], "tests", "{report:#}");
}

#[test]
fn tests_of_before_are_not_owed_by_work_of_another_kind() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.tm(&["reopen", "--kind", "chore", "--reason", "it is none"]);
    work.write("Makefile", "all:\n");
    refused(&work, &["complete", "chore"], "other_files_changed");
    work.delete("tests/double.test");
    done(&work, "chore");
    work.finalize();
}

#[test]
fn a_kind_that_nobody_knows_begins_no_run() {
    let work = Work::unbegun(&SHOP, Way::Claimed);
    let (status, told) = work.ask(&["start", "--title", "Explain (kind: doc)"]);
    assert_eq!(
        (status, &told["error"]["code"]),
        (2, &json!("unknown_kind")),
        "{told:#}"
    );
    let told = work.tm(&[
        "start",
        "--title",
        "Explain",
        "--subtask",
        "How it is built (kind: docs)",
    ]);
    assert_eq!(told["nextAction"]["action"], "docs", "{told:#}");
}

/// Who goes back finds the tests that were there before, and no others.
#[test]
fn tests_of_what_is_there_are_taken_up_again() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["tests"]);
    let more = "adds more: test $(sh src/add.sh 5 5) = 10\n";
    work.append("tests/add.test", more);
    work.accept(&["complete", "tests"], "commit");
    work.tm(&["reopen", "--reason", "a hook wants a line more"]);
    refused_without_tests(&work);
    work.append("tests/add.test", &format!("{more}# the end\n"));
    done(&work, "tests");
    work.finalize();
}

/// What was accepted before is new once more.
fn refused_without_tests(work: &Work) {
    let before = "adds: test $(sh src/add.sh 1 2) = 3\n";
    work.write("tests/add.test", before);
    refused(work, &["complete", "tests"], "no_test_written");
}

#[test]
fn code_in_a_folder_of_documents_is_code() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["docs"]);
    for file in ["src/docs/double.js", "docs/double.go"] {
        work.write(file, "1\n");
        refused(&work, &["commit"], "other_files_changed");
        work.delete(file);
    }
    work.write("docs/example.js", "1\n");
    work.commit();
}

/// A step that is no report of tests is told as any other.
#[test]
fn a_spike_is_what_comes_next() {
    let work = begin(&SHOP, Way::Claimed, &["spike"]);
    let told = work.tm(&["next"]);
    assert_eq!(told["action"], "spike", "{told:#}");
    let step = &told["nextSteps"][0]["command"];
    assert!(
        step.as_str().unwrap().starts_with("tm run report"),
        "{told:#}"
    );
}
