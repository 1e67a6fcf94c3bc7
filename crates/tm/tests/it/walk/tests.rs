//! What happens to tests and their reports.

use std::path::Path;

use super::walk;
use crate::honest::cargo::{CRATE, DOUBLE_FN, add_test};
use crate::honest::work::{Before, DOUBLE, DOUBLES, OLD_FAILURE, SHOP, WAYS, Way, Work, age};

pub(super) fn to_green(way: Way) -> Work {
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work
}

fn to_commit(way: Way) -> Work {
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.green();
    work
}

#[test]
fn no_test_fails_because_none_is_written() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    let deed = |work: &Work| work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "red_requires_failing_tests",
        &[("write the tests of this subtask", deed)],
    );
}

#[test]
fn the_code_is_written_before_its_test() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("src/double.sh", DOUBLE);
    work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "red_requires_failing_tests",
        &[],
    );
    work.git(&["stash", "pop", "--quiet"]);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn the_code_is_committed_before_its_test() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("src/double.sh", DOUBLE);
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Double"]);
    work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "red_requires_failing_tests",
        &[],
    );
    work.git(&["stash", "pop", "--quiet"]);
    work.green();
    work.commit();
}

#[test]
fn a_test_fails_without_being_written() {
    let work = Work::begin(&SHOP, Way::Claimed);
    let deed = |work: &Work| work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.ask(&["complete", "red", "--results", "failed:1,passed:1"]),
        "red_without_tests",
        &[("write the tests", deed)],
    );
}

#[test]
fn code_is_no_test() {
    let before = Before {
        settings: r#""evidence": {"policy": {"production_changed": "refuse"}}"#,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("src/double.sh", "echo 1\n");
    work.write("tests/double.test", DOUBLES);
    let deed = |work: &Work| work.delete("src/double.sh");
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "production_changed",
        &[("set the others aside", deed)],
    );
}

#[test]
fn the_code_is_not_right_yet() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", "echo 7\n");
    let deed = |work: &Work| work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "green_tests_still_failing",
        &[("go on implementing", deed)],
    );
}

#[test]
fn a_formatter_goes_over_a_test() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.append("tests/double.test", "\n# formatted\n");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
    assert_eq!(work.read("tests/double.test"), DOUBLES);
    work.commit();
    work.finalize();
}

#[test]
fn a_formatter_goes_over_a_test_of_before() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.append("tests/add.test", "\n# formatted\n");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
    work.commit();
    work.finalize();
}

#[test]
fn a_test_is_deleted() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.delete("tests/double.test");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
}

/// A hook that brings files into a form, and refuses the commit where it did.
fn with_formatter(work: &Work, files: &str) {
    let hook = format!(
        "#!/bin/sh\nfor file in {files}; do grep -q formatted $file || {{ echo '# formatted' >>$file; was=1; }}; done\n\
         [ -z \"$was\" ] || {{ echo reformatted; exit 1; }}\n"
    );
    work.write(".git/hooks/pre-commit", &hook);
    let (done, said) = work.runs("chmod +x .git/hooks/pre-commit");
    assert!(done, "{said}");
}

#[test]
fn a_hook_formats_what_is_committed_and_refuses() {
    for files in [
        "src/double.sh",
        "tests/double.test",
        "src/double.sh tests/double.test",
        "src/*.sh tests/*.test",
    ] {
        for way in WAYS {
            let work = to_commit(way);
            with_formatter(&work, files);
            walk(&work, |work| work.report_commit(&[]), "commit_refused", &[]);
            work.commit();
            work.finalize();
        }
    }
}

#[test]
fn a_test_that_a_hook_formatted_is_as_frozen_as_before() {
    let work = to_commit(Way::Reported);
    with_formatter(&work, "tests/double.test");
    let answer = work.report_commit(&[]).1;
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("tests/double.test"),
        "{answer:#}"
    );
    work.reopen("green");
    work.write("tests/double.test", "doubles: true\n# formatted\n");
    work.green_refused("tests_changed");
}

#[test]
fn a_hook_wants_another_message() {
    let work = to_commit(Way::Reported);
    work.write(
        ".git/hooks/commit-msg",
        "#!/bin/sh\ngrep -q TICKET \"$1\" || { echo 'name the TICKET'; exit 1; }\n",
    );
    work.runs("chmod +x .git/hooks/commit-msg");
    let answer = work.report_commit(&[]).1;
    assert_eq!(answer["code"], "commit_refused");
    assert!(
        answer["suggestion"].as_str().unwrap().contains("--message"),
        "{answer:#}"
    );
    work.tm(&["commit", "--message", "Double (TICKET-1)"]);
    work.finalize();
}

#[test]
fn evidence_is_less_than_is_asked_for() {
    let before = Before {
        settings: r#""evidence": {"require": "reported"}"#,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    walk(
        &work,
        |work| work.ask(&["complete", "red", "--results", "failed:1,passed:1"]),
        "evidence_too_weak",
        &[],
    );
    let next = work.tm(&["next"]);
    let instructions = next["instructions"].as_str().unwrap();
    assert!(instructions.contains("--report FILE"), "{next:#}");
}

#[test]
fn a_report_comes_a_second_time() {
    let work = to_green(Way::Reported);
    let report = work.printed();
    work.write("src/double.sh", DOUBLE);
    age(Path::new(&report), 3600);
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--report", &report]),
        "stale_report",
        &[],
    );
}

#[test]
fn a_test_is_gone() {
    let work = to_green(Way::Reported);
    work.write("src/double.sh", DOUBLE);
    work.write(
        "before.sh",
        "find() { command find tests -name double.test; }\n",
    );
    let deed = |work: &Work| work.delete("before.sh");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_missing",
        &[("bring them back", deed)],
    );
}

#[test]
fn tests_failed_before_the_run() {
    let way = Way::Reported;
    let before = Before {
        settings: r#""evidence": {"baseline": "off"}"#,
        ..OLD_FAILURE
    };
    let work = Work::begin(&before, way);
    work.write("tests/double.test", DOUBLES);
    work.ask(&["complete", "red"]);
    let answer = work.report(&["complete", "red"]).1;
    assert_eq!(answer["validated"], true, "{answer:#}");
    work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "green_tests_still_failing",
        &[],
    );
    work.commit();
}

#[test]
fn a_command_fails_before_any_test() {
    let before = Before {
        files: &[
            (
                "before.sh",
                "[ -f src/double.sh ] || [ ! -f tests/double.test ] || { echo 'double.ts(1,1): error TS2304: double' >&2; exit 2; }\n",
            ),
            ("tests/add.test", "adds: true\n"),
        ],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    let (status, answer) = work.report(&["complete", "red"]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(
        answer["details"]["output"],
        "double.ts(1,1): error TS2304: double\n"
    );
    work.write("src/other.sh", DOUBLE);
    let deed = |work: &Work| work.write("src/double.sh", DOUBLE);
    let refused = |work: &Work| {
        let (status, answer) = work.report(&["complete", "green"]);
        if status != 0 {
            assert_eq!(
                answer["details"]["output"],
                "double.ts(1,1): error TS2304: double\n"
            );
        }
        (status, answer)
    };
    walk(
        &work,
        refused,
        "green_tests_still_failing",
        &[("failed before any test was heard of", deed)],
    );
    work.commit();
}

#[test]
fn a_test_beside_the_code_is_changed() {
    let work = Work::begin(&CRATE, Way::Verified);
    add_test(&work);
    work.red();
    work.replace("src/lib.rs", "#[cfg(test)]\n", DOUBLE_FN);
    work.replace("src/lib.rs", "double(4), 8", "double(5), 10");
    let deed = |work: &Work| {
        let code = work.read("src/lib.rs");
        assert!(
            code.contains("pub fn double"),
            "the code was put back too: {code}"
        );
        work.replace("src/lib.rs", "double(5), 10", "double(4), 8");
    };
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[("with the code beside them left as it is", deed)],
    );
}

#[test]
fn what_a_runner_wrote_is_not_lost() {
    let work = to_green(Way::Reported);
    work.write("src/double.sh", DOUBLE);
    work.append("tests/double.test", "more: true\n");
    let more = work.read("tests/double.test");
    let (_, answer) = work.report(&["complete", "green"]);
    assert_eq!(answer["code"], "tests_changed", "{answer:#}");
    let kept = answer["details"]["kept"]["tests/double.test"].as_str();
    assert_eq!(std::fs::read_to_string(kept.unwrap()).unwrap(), more);
}

#[test]
fn the_code_is_formatted_behind_green() {
    for baseline in [false, true] {
        let work = Work::begin(&Before { baseline, ..CRATE }, Way::Verified);
        add_test(&work);
        // What is not there yet cannot be built.
        let answer = work.report(&["complete", "red"]).1;
        assert_eq!(answer["validated"], true, "{answer:#}");
        work.replace("src/lib.rs", "#[cfg(test)]\n", DOUBLE_FN);
        work.green();
        work.replace("src/lib.rs", "a * 2", "2 * a");
        walk(
            &work,
            |work| work.report_commit(&[]),
            "changed_after_green",
            &[],
        );
        work.commit();
        work.finalize();
    }
}

#[test]
fn the_work_of_red_is_in_the_stash() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.git(&["stash", "push", "--quiet", "--include-untracked"]);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "red_requires_failing_tests",
        &[],
    );
    assert_eq!(work.git(&["stash", "list"]), "");
}

#[test]
fn the_work_of_green_is_in_the_stash() {
    let way = Way::Reported;
    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.git(&["stash", "push", "--quiet", "--include-untracked"]);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
    assert_eq!(work.git(&["stash", "list"]), "");
}

#[test]
fn junk_is_left_behind_green() {
    let way = Way::Reported;
    let work = to_commit(way);
    work.write("notes.out", "notes\n");
    let deed = |work: &Work| work.delete("notes.out");
    walk(
        &work,
        |work| work.report_commit(&[]),
        "changed_after_green",
        &[("take away what does not belong", deed)],
    );
}

#[test]
fn the_code_of_green_is_in_the_stash() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write(
        "tests/double.test",
        "adds more: test $(sh src/add.sh 4 4) = 9\n",
    );
    work.red();
    work.write("src/add.sh", "echo $(($1 + $2 + ($1 == 4)))\n");
    work.git(&["stash", "push", "--quiet", "--", "src"]);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "green_tests_still_failing",
        &[],
    );
}

#[test]
fn red_is_reopened_with_the_code_in_place() {
    let way = Way::Reported;
    let before = Before {
        files: &[("tests/add.test", "adds: true\nold: false\n")],
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.tm(&["reopen", "--reason", "another test"]);
    work.append(
        "tests/double.test",
        "and more: test $(sh src/double.sh 1) = 2\n",
    );
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "no_new_failure",
        &[],
    );
}

/// A report that was refused is as little work of the run as one that was taken in.
#[test]
fn a_refused_report_is_not_committed() {
    let work = to_green(Way::Reported);
    work.write("src/double.sh", DOUBLE);
    let suite = work.suite();
    work.write("old.tap", &suite.replace("ok", "not ok"));
    let (status, refused) = work.ask(&["complete", "green", "--report", "old.tap"]);
    assert_ne!(status, 0, "{refused:#}");
    work.write("samples/one.tap", &suite);
    work.green();
    let (_, committed) = work.report_commit(&[]);
    let files = committed["files"].to_string();
    assert!(!files.contains("old.tap"), "{committed:#}");
    assert!(files.contains("samples/one.tap"), "{committed:#}");
}

/// A stash that was there before the run is its user's: nothing speaks of it, let alone brings it back.
#[test]
fn a_stash_from_before_the_run_is_left_alone() {
    let work = Work::unbegun(&SHOP, Way::Claimed);
    work.append("src/add.sh", "# later\n");
    work.runs_well("GIT_COMMITTER_DATE='2020-01-01T00:00:00 +0000' git stash push --quiet");
    work.tm(&["start", "1"]);
    work.write("tests/double.test", DOUBLES);
    let red = work.red();
    assert!(!red.to_string().contains("stash"), "{red:#}");
    let (_, refused) = work.report(&["complete", "green"]);
    assert!(!refused.to_string().contains("stash"), "{refused:#}");
}

/// A stash that nobody brought back is told of at the end.
#[test]
fn a_stash_is_left_at_the_end() {
    let work = to_green(Way::Claimed);
    work.append("src/add.sh", "# later\n");
    work.runs_well("git stash push --quiet");
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    let (_, ended) = work.report(&["finalize"]);
    let warning = ended["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("git stash show"), "{ended:#}");
}

#[test]
fn a_file_of_the_project_is_deleted_behind_green() {
    let way = Way::Reported;
    let work = to_commit(way);
    work.delete("src/add.sh");
    walk(
        &work,
        |work| work.report_commit(&[]),
        "changed_after_green",
        &[],
    );
    assert!(work.read("src/add.sh").contains("echo"));
    assert_eq!(
        work.git(&["log", "--format=", "--diff-filter=D", "--name-only"]),
        ""
    );
}

#[test]
fn a_test_has_another_name_or_place() {
    for way in WAYS {
        for to in [
            "tests/twice.test",
            "tests/below/double.test",
            "spec/double.test",
        ] {
            for is_edited in [false, true] {
                let work = to_green(way);
                work.write("src/double.sh", DOUBLE);
                if way == Way::Verified {
                    work.git(&["add", "tests/double.test"]);
                    std::fs::create_dir_all(work.root().join(to).parent().unwrap()).unwrap();
                    work.git(&["mv", "tests/double.test", to]);
                } else {
                    work.rename("tests/double.test", to);
                }
                if to.starts_with("spec") && way == Way::Claimed {
                    // The folder is gone with it.
                    work.rename("tests/add.test", "spec/add.test");
                    std::fs::remove_dir(work.root().join("tests")).unwrap();
                }
                if is_edited {
                    work.append(to, "# moved\n");
                }
                if way == Way::Verified {
                    work.git(&["mv", "tests/add.test", "tests/plus.test"]);
                }
                if way == Way::Claimed || is_edited {
                    walk(
                        &work,
                        |work| work.report(&["complete", "green"]),
                        "tests_changed",
                        &[],
                    );
                    assert_eq!(work.read("tests/double.test"), DOUBLES);
                    assert!(!work.root().join(to).exists(), "{way:?} {to}");
                } else {
                    // By name it is seen that nothing is lost.
                    work.warns(&["Files of tests lie elsewhere since RED, and hold the same"]);
                    work.green();
                }
                work.commit();
                assert_eq!(work.git(&["status", "--porcelain"]), "");
                work.finalize();
            }
        }
    }
}

/// What was deleted comes back as everybody can read it.
#[cfg(unix)]
#[test]
fn a_test_that_comes_back_has_the_mode_of_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let work = to_green(Way::Verified);
    work.write("src/double.sh", DOUBLE);
    work.delete("tests/double.test");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
    let test = work.root().join("tests/double.test");
    let mode = std::fs::metadata(test).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

/// A project of vitest whose test command looks at the code first, and prints this where it does not like it.
fn looked_at_first(printed: &str) -> Work {
    let guard = format!(
        "grep -q x1 tests/double.test 2>/dev/null || [ -f src/double.sh ] || [ ! -f tests/double.test ] || {{ echo '{printed}'; exit 2; }}\n"
    );
    let before = Before {
        files: &[
            ("before.sh", &guard),
            ("package.json", r#"{"devDependencies": {"vitest": "3"}}"#),
            ("tests/add.test", "adds: true\n"),
        ],
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work
}

#[test]
fn types_do_not_fit_before_any_test_runs() {
    for printed in [
        "tests/double.test(1,10): error TS2304: Cannot find name double.",
        "vet: ./double_test.go:6:5: undefined: double",
    ] {
        let work = looked_at_first(printed);
        let (status, answer) = work.report(&["complete", "red"]);
        assert_eq!(status, 0, "{answer:#}");
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_linter_stops_the_command_before_any_test_runs() {
    for printed in [
        "tests/double.test: use x1",
        "vet: looks at double_test.go:6:5: use x1",
    ] {
        let work = looked_at_first(printed);
        let deed = |work: &Work| work.append("tests/double.test", "# x1\n");
        walk(
            &work,
            |work| work.report(&["complete", "red"]),
            "report_unreadable",
            &[("fix what stopped it", deed)],
        );
    }
}

#[test]
fn the_runner_is_configured_otherwise_in_green() {
    let way = Way::Reported;
    let work = Work::begin_with(&SHOP, way, |work| {
        work.write("vitest.config.ts", "export default {}\n");
    });
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.write("vitest.config.ts", "export default { exclude: ['a'] }\n");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "runner_config_changed",
        &[],
    );
    work.commit();
    work.finalize();

    let work = to_green(way);
    work.write("src/double.sh", DOUBLE);
    work.write("tests/conftest.py", "collect_ignore = ['a']\n");
    let deed = |work: &Work| work.delete("tests/conftest.py");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "runner_config_changed",
        &[("take it away", deed)],
    );
}

#[test]
fn what_settings_have_the_runner_load_is_changed_in_green() {
    let places = ["package.json", "config/package.json"];
    for (way, place) in WAYS
        .iter()
        .flat_map(|way| places.map(|place| (*way, place)))
    {
        let work = Work::begin_with(&SHOP, way, |work| {
            let above = if place.contains('/') { "../" } else { "" };
            let settings =
                format!(r#"{{"jest": {{"setupFiles": ["<rootDir>/{above}src/double.js"]}}}}"#);
            work.write(place, &settings);
            work.write("src/double.js", "// Nothing yet.\n");
            work.write("src/treble.js", "// Nothing yet.\n");
            // Nobody waits for what a pipe of such a name has to say.
            let mut pipe = work.process("mkfifo");
            assert!(pipe.arg("src/conftest.py").status().unwrap().success());
        });
        work.write("tests/double.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.write("src/double.js", "expect.extend({});\n");
        work.write("src/treble.js", "expect.extend({});\n");
        walk(
            &work,
            |work| work.report(&["complete", "green"]),
            "runner_config_changed",
            &[],
        );
        assert_eq!(work.read("src/double.js"), "// Nothing yet.\n");
        work.commit();
        work.finalize();
    }
}

#[test]
fn the_runner_is_configured_for_the_tests_in_red() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.write("package.json", r#"{"jest": {"bail": true}}"#);
    work.warns(&["What configures the runner was changed with the tests: package.json"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    let needs = r#"{"jest": {"bail": true}, "dependencies": {"a": "1"}}"#;
    work.write("package.json", r#"{"jest": {"bail": false}}"#);
    let (_, refused) = work.report(&["complete", "green"]);
    assert_eq!(refused["code"], "runner_config_changed", "{refused:#}");
    // What it depends on decides nothing.
    work.write("package.json", needs);
    work.green();
    work.commit();
    work.finalize();
}

/// What the test rests on comes with a change that has nothing to do with it.
#[test]
fn the_test_passes_without_the_change() {
    let work = Work::begin(&SHOP, Way::Verified);
    let there = work.outside().join("there");
    let text = format!("doubles: test -f {}\n", there.display());
    work.write("tests/double.test", &text);
    work.red();
    std::fs::write(&there, "").unwrap();
    work.write("src/double.sh", DOUBLE);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "red_not_replayed",
        &[("write a test that needs the change", |work| {
            // In RED the product is not there yet.
            work.delete("src/double.sh");
            work.write("tests/double.test", DOUBLES);
        })],
    );
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
}

/// It is broken for RED, and mended in GREEN.
#[test]
fn what_was_there_is_broken_in_red() {
    let work = Work::begin(&SHOP, Way::Verified);
    work.write(
        "tests/double.test",
        "adds more: test $(sh src/add.sh 3 4) = 7\n",
    );
    let add = work.read("src/add.sh");
    work.write("src/add.sh", "exit 1\n");
    work.warns(&["files other than tests were changed in RED: src/add.sh"]);
    work.red();
    work.write("src/add.sh", &format!("{add}# as it was\n"));
    let (_, refused) = work.report(&["complete", "green"]);
    assert_eq!(refused["code"], "red_not_replayed", "{refused:#}");
}

/// What makes the test pass lies in the repository, and is committed with it.
#[test]
fn all_of_the_change_lies_beside_the_project() {
    let before = Before {
        folder: "services/shop",
        ..SHOP
    };
    let work = Work::begin(&before, Way::Verified);
    work.write(
        "tests/double.test",
        "doubles: test $(sh ../../double.sh 4) = 8\n",
    );
    work.red();
    std::fs::write(work.root().join("../../double.sh"), DOUBLE).unwrap();
    work.green();
    assert!(work.commit().contains(&"double.sh".to_owned()));
    work.finalize();
}

/// The test rests on something beside the project.
#[test]
fn nothing_is_changed_in_green() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    let there = work.outside().join("there");
    let text = format!("doubles: test -f {}\n", there.display());
    work.write("tests/double.test", &text);
    work.red();
    std::fs::write(&there, "").unwrap();
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "green_without_change",
        &[("mend it there", |work| {
            work.write("tests/double.test", DOUBLES);
        })],
    );
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn a_snapshot_of_before_asks_for_something_else() {
    let kept = "tests/__snapshots__/list.snap";
    for way in WAYS {
        for is_meant in [false, true] {
            let work = Work::begin_with(&SHOP, way, |work| {
                work.write(kept, "exports[`lists 1`] = `add`;\n");
            });
            work.write("tests/double.test", DOUBLES);
            work.red();
            work.write("src/double.sh", DOUBLE);
            work.write(kept, "exports[`lists 1`] = `add, double`;\n");
            if is_meant {
                let (_, refused) = work.report(&["complete", "green"]);
                assert_eq!(refused["code"], "snapshots_changed", "{refused:#}");
                let advised = match way {
                    Way::Claimed => "--results passed:N,failed:0",
                    Way::Reported => "--report FILE",
                    Way::Verified => "--verify",
                };
                let advised = format!("complete green 1.1 {advised} --updated {kept}");
                assert!(refused.to_string().contains(&advised), "{refused:#}");
                let (status, answer) = work.report(&["complete", "green", "--updated", kept]);
                assert_eq!(status, 0, "{answer:#}");
                let warning = answer["warning"].as_str().unwrap();
                assert!(warning.contains("lists 1"), "{answer:#}");
            } else {
                walk(
                    &work,
                    |work| work.report(&["complete", "green"]),
                    "snapshots_changed",
                    &[],
                );
                assert!(!work.read(kept).contains("double"));
            }
            work.commit();
            work.finalize();
        }
    }
}

#[test]
fn a_test_of_before_needs_what_no_checkout_has() {
    let work = Work::begin_with(&SHOP, Way::Verified, |work| {
        work.write(".gitignore", ".env\n");
        work.write(".env", "a=1\n");
        work.write("tests/env.test", "env: test -f .env\n");
    });
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.warns(&["The tests were not tried in a fresh checkout (as they were to be committed"]);
    work.green();
    // It is said once in a run.
    work.reopen("green");
    work.append("src/double.sh", "\n");
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn what_the_tests_need_would_not_be_committed() {
    let work = Work::begin(&SHOP, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.append("src/add.sh", "\n");
    work.write(".git/info/exclude", "src/double.sh\n");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "green_not_replayed",
        &[("have it in the commit", |work| {
            work.write(".git/info/exclude", "");
        })],
    );
    work.commit();
    assert_eq!(
        work.git(&["show", "HEAD:src/double.sh"]).trim(),
        DOUBLE.trim()
    );
    work.finalize();
}

#[test]
fn what_came_in_red_is_hidden_from_git_in_green() {
    let work = Work::begin(&SHOP, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work.write("NOTE.md", "2\n");
    work.red();
    work.write("src/double.sh", "read by <NOTE.md\necho $(($1 * by))\n");
    work.write(".git/info/exclude", "NOTE.md\n");
    let (_, refused) = work.report(&["complete", "green"]);
    assert_eq!(refused["code"], "green_not_replayed", "{refused:#}");
    work.write(".git/info/exclude", "");
    work.green();
    work.commit();
    work.finalize();
}
