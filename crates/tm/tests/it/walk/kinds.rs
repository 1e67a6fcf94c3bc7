//! What happens to work that is not test-driven.

use super::{at, at_of, story};
use crate::honest::kinds::{LEARNED, MORE, TESTS};
use crate::honest::languages::PYTHON;
use crate::honest::refactoring::{REFACTOR, REFACTORED, UNCHANGED};
use crate::honest::work::{Before, COMMIT, DOUBLE, GREEN, SHOP, Way, Work};

/// Reports a phase with coverage, where what stands in one file is not covered.
fn covered(work: &Work, phase: &str) -> (i32, serde_json::Value) {
    let more = work.root().join("src/more.sh").exists();
    let lines = if more { "DA:2,0\nDA:3,0\n" } else { "" };
    let file = work.outside().join("lcov.info");
    let text = format!("SF:src/double.sh\nDA:1,1\n{lines}end_of_record\n");
    std::fs::write(&file, text).unwrap();
    work.report(&[
        "complete",
        phase,
        "--coverage-report",
        file.to_str().unwrap(),
    ])
}

#[test]
fn work_of_other_kinds() {
    at(Before::begin, COMMIT).tell([story(
        "code is written beside documents",
        "other_files_changed",
    )
    .of(SHOP.kinds(&["docs"]))
    .done(|work| work.write("README.md", "# Shop\n"))
    .done(Work::code)
    .deed(|work| work.delete("src/double.sh"))
    .then(Work::finalize)]);
    at_of(&SHOP.kinds(&["spike"]), Before::begin, COMMIT).tell([
        // What was committed already is told where it can stay.
        story("what was tried is committed", "changes_left")
            .done(Work::code)
            .done(|work| work.commit_by_hand("Tried"))
            .done(|work| work.append("src/double.sh", "# and more\n"))
            .call(|work| work.shell(LEARNED))
            .then(|work| {
                let kept = work.git(&["log", "--branches", "--format=%s"]);
                assert!(kept.contains("Tried"), "{kept}");
            }),
        story("what was tried is left lying about", "changes_left")
            .done(Work::code)
            .call(|work| work.shell(LEARNED))
            .then(Work::finalize),
    ]);
    at(Before::begin, TESTS).tell([
        story("no test is written", "no_test_written")
            .of(SHOP.kinds(&["tests"]))
            .deed(|work| work.append("tests/add.test", MORE)),
        // One that is new shows nothing, and one of before was made weaker.
        story("a test calls nothing", "passes_without_product")
            .of(PYTHON.by(Way::Verified).kinds(&["tests"]))
            .done(|work| {
                let more = "\n    def test_more(self):\n        self.assertTrue(True)\n";
                work.append("tests/test_add.py", more);
                let told = work.refused(TESTS, "passes_without_product");
                assert_eq!(told["details"]["tests"][0], "tests.test_add.Add.test_more");
                work.replace(
                    "tests/test_add.py",
                    "assertTrue(True)",
                    "assertEqual(add(5, 5), 10)",
                );
                work.replace(
                    "tests/test_add.py",
                    "assertEqual(add(1, 2), 3)",
                    "assertTrue(True)",
                );
            })
            .call(|work| {
                let (status, told) = work.report(TESTS);
                assert!(
                    status == 0 || told.to_string().contains("test_adds"),
                    "{told:#}"
                );
                (status, told)
            })
            .deed(|work| {
                let calls = "assertEqual(add(1, 2), 3)";
                work.replace("tests/test_add.py", "assertTrue(True)", calls);
            })
            .then(Work::ends),
    ]);
}

#[test]
fn another_form() {
    at(Before::with_code, REFACTOR).tell([
        story("a change is called none", "changed_since")
            .of(REFACTORED)
            .done(|work| work.accepted(GREEN))
            .done(|work| work.write("src/double.sh", "echo $((2 * $1))\n"))
            .call(|work| work.ask(UNCHANGED)),
        story("code that no test asks for comes with it", "coverage_fell")
            .of(REFACTORED.by(Way::Claimed))
            .done(|work| assert_eq!(covered(work, "green").0, 0))
            .done(|work| work.write("src/more.sh", DOUBLE))
            .call(|work| covered(work, "refactor"))
            .deed(|work| work.delete("src/more.sh")),
    ]);
}
