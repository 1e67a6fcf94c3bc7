//! What happens to work that is not test-driven.

use super::walk;
use crate::honest::kinds::begin;
use crate::honest::languages::PYTHON;
use crate::honest::refactoring::{REFACTORED, at_refactoring};
use crate::honest::work::{DOUBLE, DOUBLES, SHOP, Way, Work};

#[test]
fn code_is_written_beside_documents() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["docs"]);
    work.write("README.md", "# Shop\n");
    work.write("src/double.sh", DOUBLE);
    let deed = |work: &Work| work.delete("src/double.sh");
    walk(
        &work,
        |work| work.report_commit(&[]),
        "other_files_changed",
        &[("put them back", deed)],
    );
    work.finalize();
}

#[test]
fn no_test_is_written_where_tests_are_asked_for() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["tests"]);
    let deed = |work: &Work| {
        work.append(
            "tests/add.test",
            "adds more: test $(sh src/add.sh 5 5) = 10\n",
        );
    };
    walk(
        &work,
        |work| work.report(&["complete", "tests"]),
        "no_test_written",
        &[("write one", deed)],
    );
}

#[test]
fn a_test_calls_nothing() {
    let work = begin(&PYTHON, Way::Verified, &["tests"]);
    let tests = work.read("tests/test_add.py");
    let more = "\n    def test_more(self):\n        self.assertTrue(True)\n";
    work.write("tests/test_add.py", &(tests + more));
    let deed = |work: &Work| {
        work.replace(
            "tests/test_add.py",
            "assertTrue(True)",
            "assertEqual(add(5, 5), 10)",
        );
    };
    walk(
        &work,
        |work| work.report(&["complete", "tests"]),
        "passes_without_product",
        &[("have each call what it is about", deed)],
    );
}

#[test]
fn what_was_tried_is_left_lying_about() {
    let way = Way::Reported;
    let work = begin(&SHOP, way, &["spike"]);
    work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.shell("tm run report --outcome learned --note 'it is fast'"),
        "changes_left",
        &[],
    );
    work.warns(&["A stash was made since the run began"]);
    work.finalize();
}

#[test]
fn a_change_is_called_none() {
    let way = Way::Reported;
    let work = at_refactoring(&REFACTORED, way);
    work.write("src/double.sh", "echo $((2 * $1))\n");
    walk(
        &work,
        |work| work.ask(&["complete", "refactor", "--unchanged"]),
        "not_unchanged",
        &[],
    );
}

#[test]
fn code_that_no_test_asks_for_comes_with_another_form() {
    let covered = |work: &Work| {
        let more = work.root().join("src/more.sh").exists();
        let lines = if more { "DA:2,0\nDA:3,0\n" } else { "" };
        let file = work.outside().join("lcov.info");
        let text = format!("SF:src/double.sh\nDA:1,1\n{lines}end_of_record\n");
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let work = Work::begin(&REFACTORED, Way::Claimed);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.accept(
        &["complete", "green", "--coverage-report", &covered(&work)],
        "refactor",
    );
    work.write("src/more.sh", DOUBLE);
    walk(
        &work,
        |work| work.report(&["complete", "refactor", "--coverage-report", &covered(work)]),
        "coverage_fell",
        &[("take out what no test asks for", |work| {
            work.delete("src/more.sh");
        })],
    );
}
