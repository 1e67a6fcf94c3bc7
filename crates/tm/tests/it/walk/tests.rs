//! What happens to tests and their reports.

use std::fs;

use super::{at, at_of, story};
use crate::honest::cargo::{LIB, add_code, add_test};
use crate::honest::work::{
    Before, COMMIT, DOUBLE, DOUBLES, FAILING, GREEN, OLD_FAILURE, RED, SHOP, VERIFIED, Way, Work,
    age, code_of,
};

/// Sees that the runner does not find a file of tests.
fn hide(work: &Work, name: &str) {
    let find = format!("find() {{ command find tests -name {name}; }}\n");
    work.write("before.sh", &find);
}

fn whole(work: &Work) {
    work.delete("before.sh");
}

#[test]
fn red_without_a_test_that_fails() {
    testkit::by_chance!(3);
    at_of(&SHOP, Before::begin, RED).tell([
        story("none is written", "red_without_tests").deed(Work::test),
        story("the code came first", "red_requires_failing_tests")
            .done(Work::code)
            .done(Work::test)
            .then(Work::goes_through),
        story("the code was committed first", "red_requires_failing_tests")
            .done(Work::code)
            .done(|work| work.commit_by_hand("Double"))
            .done(Work::test)
            .then(Work::green)
            .then(Work::commit),
        story("one fails without being written", "red_without_tests")
            .call(|work| work.ask(&["complete", "red", "--results", "failed:1,passed:1"]))
            .deed(Work::test),
    ]);
    at_of(&FAILING, Before::begin, RED).tell([
        story("what fails failed before", "no_new_failure")
            .done(|work| work.write("tests/double.test", "fine: true\n"))
            .deed(Work::test),
        story("the code is there when RED is reopened", "no_new_failure").done(|work| {
            work.test();
            work.red();
            work.code();
            work.reopen("red");
            let more = "and more: test $(sh src/double.sh 1) = 2\n";
            work.append("tests/double.test", more);
        }),
    ]);
}

/// A test command looks at the code first, and prints this where it does not like it.
fn looks_first(work: &Work, printed: &str) {
    let guard = format!(
        "grep -q x1 tests/double.test 2>/dev/null || [ -f src/double.sh ] || [ ! -f tests/double.test ] || {{ echo '{printed}'; exit 2; }}\n"
    );
    work.write("before.sh", &guard);
}

/// A project of vitest.
const VITEST: Before<'static> =
    VERIFIED.with(&[("package.json", r#"{"devDependencies": {"vitest": "3"}}"#)]);

const NO_TYPES: &str = "double.ts(1,1): error TS2304: double";

#[test]
fn a_linter_stops_the_command_before_any_test_runs() {
    testkit::by_chance!(3);
    let stops = |name, prepare| {
        story(name, "report_unreadable")
            .of(VITEST.prepared(prepare))
            .deed(|work| work.append("tests/double.test", "# x1\n"))
    };
    at(Before::at_red, RED).tell([
        stops("one of vitest", |work| {
            looks_first(work, "tests/double.test: use x1");
        }),
        stops("one of Go", |work| {
            looks_first(work, "vet: looks at double_test.go:6:5: use x1");
        }),
    ]);
}

#[test]
fn green_with_code_that_does_not_pass() {
    testkit::by_chance!(3);
    at_of(&SHOP, Before::at_green, GREEN).tell([story(
        "it is not right yet",
        "green_tests_still_failing",
    )
    .done(|work| work.write("src/double.sh", "echo 7\n"))
    .deed(Work::code)]);
    at(Before::at_red, GREEN).tell([
        story("it failed before the run", "green_tests_still_failing")
            .of(OLD_FAILURE)
            .done(|work| work.accepted(RED))
            .done(Work::code)
            .then(Work::commit),
        story("it fails before any test", "green_tests_still_failing")
            .of(VERIFIED.prepared(|work| looks_first(work, NO_TYPES)))
            .done(|work| {
                let red = work.accepted(RED);
                assert_eq!(red["details"]["output"], format!("{NO_TYPES}\n"));
                work.write("src/other.sh", DOUBLE);
            })
            .deed(Work::code)
            .then(Work::commit),
    ]);
}

#[test]
fn green_with_tests_that_are_changed() {
    testkit::by_chance!(3);
    at_of(&SHOP, Before::with_code, GREEN).tell([
        story("a formatter goes over one", "tests_changed")
            .done(|work| work.append("tests/double.test", "\n# formatted\n"))
            .then(|work| {
                assert_eq!(work.read("tests/double.test"), DOUBLES);
                work.ends();
            }),
        story("a formatter goes over one of before", "tests_changed")
            .done(|work| work.append("tests/add.test", "\n# formatted\n"))
            .then(Work::ends),
        // What was deleted comes back as everybody can read it.
        story("one is deleted", "tests_changed")
            .done(|work| work.delete("tests/double.test"))
            .then(|work| {
                use std::os::unix::fs::PermissionsExt as _;
                let test = fs::metadata(work.root().join("tests/double.test")).unwrap();
                assert_eq!(test.permissions().mode() & 0o777, 0o644);
            }),
        story("one that is run does not show", "tests_missing")
            .done(|work| hide(work, "double.test"))
            .deed(whole),
        // The files of the tests are as they were: none was taken out.
        story("one is said to be taken out and is not", "tests_missing")
            .done(|work| hide(work, "double.test"))
            .done(|work| work.remove(&["adds"]))
            .deed(whole),
        story("a report comes a second time", "stale_report").call(|work| {
            let report = work.outside().join("report-1");
            age(&report, 3600);
            work.ask(&["complete", "green", "--report", report.to_str().unwrap()])
        }),
    ]);
}

/// Tests and code in one file.
const RUST: Before<'static> = SHOP.with(&[("src/lib.rs", LIB)]);

/// In GREEN of such a project, with the code written.
fn in_rust(before: &Before<'static>) -> Work {
    let work = before.begin();
    // No test, but the product beside tests is changed.
    work.replace("src/lib.rs", "a + b", "a - b");
    let claim = ["complete", "red", "--results", "failed:1,passed:0"];
    assert_eq!(code_of(&work.ask(&claim).1), "red_without_tests");
    work.replace("src/lib.rs", "a - b", "a + b");
    work.test();
    add_test(&work);
    work.accepted(RED);
    work.code();
    add_code(&work);
    work
}

#[test]
fn a_test_beside_the_code_is_changed() {
    testkit::by_chance!(3);
    at(in_rust, GREEN).tell([story("in Rust", "tests_changed")
        .of(RUST)
        .done(|work| work.replace("src/lib.rs", "double(4), 8", "double(5), 10"))
        .done(|work| {
            // It is not run any more.
            for (from, to) in [
                ("#[cfg(test)]", "#[cfg(any())]"),
                ("#[test]", "#[test]\n#[ignore]"),
            ] {
                let text = work.read("src/lib.rs");
                work.replace("src/lib.rs", from, to);
                work.refused(GREEN, "tests_changed");
                work.write("src/lib.rs", &text);
            }
        })
        // The code beside it is left as it is.
        .deed(|work| work.replace("src/lib.rs", "a * 2", "2 * a"))
        .deed(|work| work.replace("src/lib.rs", "double(5), 10", "double(4), 8"))]);
}

/// Where tests have no names a test in another place is a test that is gone; and so it is where it was edited.
#[test]
fn a_test_has_another_name_or_place() {
    fn moves(work: &Work, to: &str) {
        work.rename("tests/double.test", to);
        if work.way() == Way::Reported {
            work.append(to, "# moved\n");
        }
    }
    testkit::by_chance!(3);
    for way in [Way::Claimed, Way::Reported] {
        let places = [
            "tests/twice.test",
            "tests/below/double.test",
            "spec/double.test",
        ];
        let moved = places.map(|to| {
            story(to, "tests_changed")
                .done(move |work| moves(work, to))
                .then(|work| {
                    let left = work.git(&["status", "--porcelain", "--", "tests"]);
                    assert!(left.contains("?? tests/double.test"), "{left}");
                })
                .then(Work::ends)
        });
        // The folder is gone with it.
        let all = (way == Way::Claimed).then(|| {
            story("all of them", "tests_changed")
                .done(|work| work.runs_well("mv tests spec"))
                .then(Work::ends)
        });
        at_of(&SHOP.by(way), Before::with_code, GREEN).tell(moved.into_iter().chain(all));
    }
}

const NOTHING_YET: &str = "// Nothing yet.\n";

#[test]
fn what_the_runner_loads_is_changed_in_green() {
    testkit::by_chance!(3);
    let before = SHOP.with(&[
        (
            "package.json",
            r#"{"jest": {"setupFiles": ["<rootDir>/src/double.js"]}}"#,
        ),
        (
            "config/package.json",
            r#"{"jest": {"setupFiles": ["<rootDir>/../src/treble.js"]}}"#,
        ),
        ("src/double.js", NOTHING_YET),
        ("src/treble.js", NOTHING_YET),
        ("vitest.config.ts", "export default {}\n"),
        (LISTS, "exports[`lists 1`] = `add`;\n"),
    ]);
    let changes = |name, path: &'static str| {
        story(name, "runner_config_changed")
            .done(|work| work.write(path, "expect.extend({});\n"))
            // Nobody waits for what a pipe of such a name has to say.
            .done(|work| work.runs_well("mkfifo src/conftest.py"))
            .then(|work| {
                assert_eq!(work.read(path), NOTHING_YET);
                work.ends();
            })
    };
    at_of(&before, Before::with_code, GREEN).tell([
        changes("what settings name", "src/double.js"),
        changes("what settings of a folder name", "src/treble.js"),
        story("its settings", "runner_config_changed")
            .done(|work| work.write("vitest.config.ts", "export default { exclude: ['a'] }\n"))
            .then(Work::ends),
        story("settings that come", "runner_config_changed")
            .done(|work| work.write("tests/conftest.py", "collect_ignore = ['a']\n"))
            .deed(|work| work.delete("tests/conftest.py")),
        story("a snapshot asks for something else", "tests_changed")
            .done(|work| work.write(LISTS, "exports[`lists 1`] = `add, double`;\n"))
            .then(|work| assert!(!work.read(LISTS).contains("double")))
            .then(Work::ends),
    ]);
}

/// A test that rests on something outside of the project.
fn rests_on_what_is_outside(work: &Work) {
    let there = work.outside().join("there");
    let text = format!("doubles: test -f {}\n", there.display());
    work.write("tests/double.test", &text);
    work.red();
    fs::write(&there, "").unwrap();
}

#[test]
fn the_change_is_not_what_makes_the_tests_pass() {
    testkit::by_chance!(3);
    let then_code = |work: &Work| {
        work.code();
        work.goes_through();
    };
    at(Before::begin, GREEN).tell([story("there is none", "green_without_change")
        .done(rests_on_what_is_outside)
        .deed(Work::test)
        .then(then_code)]);
}

/// What makes the test pass lies in the repository, and is committed with it.
#[test]
fn all_of_the_change_lies_beside_the_project() {
    testkit::by_chance!(3);
    let work = VERIFIED.folder("services/shop").begin();
    let test = DOUBLES.replace("src/", "../../");
    work.write("tests/double.test", &test);
    work.red();
    work.write("../../double.sh", DOUBLE);
    work.green();
    assert!(work.commit().contains(&"double.sh".to_owned()));
    work.finalize();
}

const LISTS: &str = "tests/__snapshots__/list.snap";
#[test]
fn a_test_of_before_needs_what_no_commit_has() {
    testkit::by_chance!(3);
    let files = [
        (".gitignore", ".env\n"),
        (".env", "a=1\n"),
        ("tests/env.test", "env: test -f .env\n"),
    ];
    let work = VERIFIED.with(&files).with_code();
    let told = work.green()["message"].to_string();
    assert!(told.ends_with(": env\""), "{told}");
    work.ends();
}

#[test]
fn what_the_tests_need_would_not_be_committed() {
    testkit::by_chance!(3);
    at(Before::with_code, GREEN).tell([story(
        "the code is hidden from git",
        "green_tests_still_failing",
    )
    .of(VERIFIED)
    .done(|work| work.append("src/add.sh", "\n"))
    .done(|work| work.write(".git/info/exclude", "src/double.sh\n"))
    .deed(|work| work.write(".git/info/exclude", ""))
    .then(|work| assert!(work.commit().contains(&"src/double.sh".to_owned())))]);
}

/// A hook that brings files into a form, and refuses the commit where it did.
fn with_formatter(work: &Work, files: &str) {
    let hook = format!(
        "#!/bin/sh\nfor file in {files}; do grep -q formatted $file || {{ echo '# formatted' >>$file; was=1; }}; done\n\
         [ -z \"$was\" ] || {{ echo reformatted; exit 1; }}\n"
    );
    work.hook("pre-commit", &hook);
}

#[test]
fn a_hook_formats_what_is_committed_and_refuses() {
    testkit::by_chance!(3);
    let formats = |name, way| {
        story(name, "commit_refused")
            .of(SHOP.by(way))
            .done(move |work| with_formatter(work, "src/*.sh"))
            .then(Work::ends)
    };
    at(Before::at_commit, COMMIT).tell([
        formats("of numbers", Way::Claimed),
        formats("of reports", Way::Reported),
        formats("of what was run", Way::Verified),
    ]);
    // Of tests the form alone is left to it.
    let work = SHOP.at_red();
    work.write("tests/double.py", "double( 4 )\n");
    work.red();
    work.code();
    work.green();
    work.hook(
        "pre-commit",
        "#!/bin/sh\nsed -i 's/( 4 )/(4)/; s/( 5 )/(6)/' tests/double.py; git diff --quiet -- tests/double.py\n",
    );
    work.write("tests/double.py", "double( 4 )\n");
    work.git(&["add", "tests/double.py"]);
    work.refused(COMMIT, "commit_refused");
    work.reopen("green");
    work.green();
    work.ends();
}

#[test]
fn something_is_changed_behind_green() {
    testkit::by_chance!(3);
    let formatted = |name, before: Before<'static>| {
        story(name, "changed_after_green")
            .of(before)
            .done(Work::green)
            .done(|work| work.replace("src/lib.rs", "a * 2", "2 * a"))
            .then(Work::finalize)
    };
    at(in_rust, COMMIT).tell([
        formatted("the code is formatted", RUST),
        formatted("the same without a baseline", RUST.without_baseline()),
    ]);
    at_of(&SHOP, Before::at_commit, COMMIT).tell([
        story("junk is left", "changed_after_green")
            .done(|work| work.write("notes.out", "notes\n"))
            .deed(|work| work.delete("notes.out")),
        story("a file is deleted", "changed_after_green")
            .done(|work| work.delete("src/add.sh"))
            .then(|work| {
                let deleted = ["log", "--format=", "--diff-filter=D", "--name-only"];
                assert_eq!(work.git(&deleted), "");
            }),
    ]);
}
