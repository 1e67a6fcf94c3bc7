//! What is changed in RED and in GREEN beside tests and code.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::work::{
    BY_NAME, Before, DOUBLE, DOUBLES, HALVE, HALVES, NO_BEFORE, OLD_FAILURE, SHOP, WAYS, Way, Work,
};

/// A run of one subtask whose RED and GREEN do this beside the ordinary. Of what is changed numbers tell nothing.
fn beside(before: &Before<'_>, red: impl Fn(&Work), green: impl Fn(&Work)) {
    run(&BY_NAME, before, red, green);
}

fn run(ways: &[Way], before: &Before<'_>, red: impl Fn(&Work), green: impl Fn(&Work)) {
    for &way in ways {
        let work = Work::begin(before, way);
        work.write("tests/double.test", DOUBLES);
        red(&work);
        work.red();
        work.write("src/double.sh", DOUBLE);
        green(&work);
        work.green();
        work.commit();
        work.finalize();
    }
}

fn nothing(_: &Work) {}

#[test]
fn an_ordinary_run() {
    run(&WAYS, &SHOP, nothing, nothing);
}

#[test]
fn a_run_without_a_baseline_is_told_so_and_nothing_else() {
    for way in WAYS {
        let before = Before {
            baseline: false,
            ..SHOP
        };
        let work = Work::begin(&before, way);
        work.write("tests/double.test", DOUBLES);
        if way == Way::Reported {
            work.warns(&[NO_BEFORE]);
        }
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

/// Where the tests are run here, they are run on what was there before, too.
#[test]
fn what_failed_before_is_found_out_beside_the_first_report() {
    let work = Work::begin(&OLD_FAILURE, Way::Verified);
    work.write("tests/double.test", DOUBLES);
    work.warns(&["Before the run 1 test passed, and these failed, as they may go on to: old"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    let green = work.green();
    let told = "GREEN accepted: 2 passing; failing as before: old";
    assert_eq!(green["message"], told);
    work.commit();
    work.finalize();

    // What fails in a checkout and not here is nothing that failed before.
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\nlocal: test -f local\n",
            ),
            (".gitignore", "local\n"),
        ],
        ..OLD_FAILURE
    };
    let work = Work::begin(&before, Way::Verified);
    work.write("local", "");
    work.write("tests/double.test", DOUBLES);
    work.warns(&[NO_BEFORE]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
}

#[test]
fn the_first_test_of_a_project() {
    let way = Way::Reported;
    let before = Before {
        files: &[("README.md", "A shop.\n")],
        baseline: false,
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.write("tests/double.test", DOUBLES);
    if work.by_name() {
        work.warns(&[NO_BEFORE]);
    }
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn refactoring_in_green() {
    beside(&SHOP, nothing, |work| {
        work.write("src/calc.sh", "echo $(($1))\n");
        work.write("src/add.sh", "sh src/calc.sh \"$1 + $2\"\n");
        work.write("src/double.sh", "sh src/calc.sh \"$1 * 2\"\n");
    });
}

#[test]
fn a_product_file_is_renamed_and_another_deleted() {
    let before = Before {
        files: &[
            ("src/add.sh", "sh lib/plus.sh $1 $2\n"),
            (
                "lib/plus.sh",
                "# Adds two numbers that are given as words.\necho $(($1 + $2))\n",
            ),
            ("lib/unused.sh", "echo unused\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        ..SHOP
    };
    let rename = |work: &Work| {
        work.write("src/add.sh", "sh lib/sum.sh $1 $2\n");
        work.delete("lib/unused.sh");
    };
    beside(&before, nothing, |work| {
        rename(work);
        work.rename("lib/plus.sh", "lib/sum.sh");
    });
    beside(&before, nothing, |work| {
        rename(work);
        work.git(&["mv", "lib/plus.sh", "lib/sum.sh"]);
    });
}

#[test]
fn files_that_the_build_generates() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "before.sh",
                "mkdir -p build gen\nls src >build/list\nls src >gen/list\n",
            ),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            (".gitignore", "build/\n"),
            ("gen/list", "add.sh\n"),
        ],
        ..SHOP
    };
    beside(&before, nothing, nothing);
}

#[test]
fn helpers_and_fixtures_that_come_in_green() {
    let uses = "uses a fixture: . tests/helper.sh; test $(sh src/double.sh $(four)) = 8\n";
    beside(
        &SHOP,
        |work| work.append("tests/double.test", uses),
        |work| {
            work.write("tests/helper.sh", "four() { cat tests/fixtures/four; }\n");
            work.write("tests/fixtures/four", "4\n");
        },
    );
}

#[test]
fn a_helper_of_the_tests_that_comes_in_red() {
    beside(
        &SHOP,
        |work| {
            work.write("tests/conftest.py", "FOUR = 4\n");
            work.write("tests/fixtures/four", "4\n");
            work.warns(&[
                "What configures the runner was changed with the tests: tests/conftest.py",
            ]);
        },
        nothing,
    );
}

#[test]
fn data_that_a_test_writes_is_ignored_or_new() {
    // The test of what is not there yet does not come to write anything.
    let writes = "writes: test $(sh src/double.sh 4 | tee tests/data.out) = 8 || { rm tests/data.out; false; }\n";
    beside(
        &SHOP,
        |work| work.append("tests/double.test", writes),
        nothing,
    );
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (".gitignore", "*.log\n"),
            (
                "tests/add.test",
                "adds: date +%N >tests/add.log; test $(sh src/add.sh 1 2) = 3\n",
            ),
        ],
        ..SHOP
    };
    beside(&before, nothing, nothing);
}

#[test]
fn documentation_and_dependencies() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            (
                "package.json",
                "{\n  \"name\": \"shop\",\n  \"scripts\": { \"test\": \"sh run.sh\" }\n}\n",
            ),
            (
                "package-lock.json",
                "{ \"name\": \"shop\", \"packages\": {} }\n",
            ),
            ("README.md", "A shop.\n"),
        ],
        ..SHOP
    };
    beside(&before, nothing, |work| {
        work.append("README.md", "It doubles.\n");
        work.write("docs/double.md", "Twice as much.\n");
        work.replace(
            "package.json",
            "\n}",
            ",\n  \"dependencies\": { \"left\": \"1.0.0\" }\n}",
        );
        work.replace(
            "package-lock.json",
            "{}",
            "{ \"left\": { \"version\": \"1.0.0\" } }",
        );
    });
    // The dependency that only the tests need, and a note of what is to come, belong to RED.
    beside(
        &before,
        |work| {
            work.replace(
                "package.json",
                "\n}",
                ",\n  \"devDependencies\": { \"check\": \"1.0.0\" }\n}",
            );
            work.replace(
                "package-lock.json",
                "{}",
                "{ \"check\": { \"version\": \"1.0.0\" } }",
            );
            work.append("README.md", "It is going to double.\n");
        },
        nothing,
    );
}

#[test]
fn a_line_for_gitignore() {
    beside(&SHOP, nothing, |work| {
        work.write("out/left.over", "x\n");
        work.write(".gitignore", "out/\n");
    });
    beside(
        &SHOP,
        |work| work.write(".gitignore", "out/\n"),
        |work| work.write("out/left.over", "x\n"),
    );
}

#[test]
fn modes_of_files() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            ("tests/tool.sh", "echo tool\n"),
        ],
        ..SHOP
    };
    let mode = |work: &Work, path: &str| {
        fs::set_permissions(work.root().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    };
    beside(&before, nothing, |work| {
        mode(work, "src/double.sh");
        mode(work, "src/add.sh");
        // What a test says is what it said, whoever may execute it.
        mode(work, "tests/tool.sh");
        mode(work, "tests/double.test");
    });
}

#[test]
fn files_that_are_written_again_as_they_were() {
    beside(&SHOP, nothing, |work| {
        work.write("tests/add.test", &work.read("tests/add.test"));
        work.write("tests/double.test", DOUBLES);
        work.write("src/add.sh", &work.read("src/add.sh"));
    });
}

#[test]
fn what_was_staged_or_not_makes_no_difference() {
    beside(
        &SHOP,
        |work| drop(work.git(&["add", "tests"])),
        |work| drop(work.git(&["add", "--all"])),
    );
    beside(&SHOP, nothing, |work| {
        drop(work.git(&["add", "--intent-to-add", "src/double.sh"]));
    });
}

#[test]
fn windows_line_ends() {
    for (convert, attributes) in [
        ("false", ""),
        ("true", ""),
        ("false", "* text=auto\n"),
        ("input", ""),
    ] {
        for way in BY_NAME {
            let work = Work::begin_with(&SHOP, way, |work| {
                work.git(&["config", "core.autocrlf", convert]);
                work.git(&["config", "core.safecrlf", "false"]);
                if !attributes.is_empty() {
                    work.write(".gitattributes", attributes);
                }
                work.write("src/note.txt", "one\r\ntwo\r\n");
                work.write("tests/add.test", &SHOP.files[1].1.replace('\n', "\r\n"));
            });
            work.subtask(
                || work.write("tests/double.test", &DOUBLES.replace('\n', "\r\n")),
                || {
                    work.write("src/double.sh", DOUBLE);
                    work.write("src/note.txt", "one\r\ntwo\r\nthree\r\n");
                },
            );
            work.finalize();
        }
    }
}

#[test]
fn a_test_file_behind_a_link() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("shared/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        ..SHOP
    };
    let work = Work::begin_with(&before, way, |work| {
        fs::create_dir(work.root().join("tests")).unwrap();
        symlink("../shared/add.test", work.root().join("tests/again.test")).unwrap();
    });
    work.subtask(
        || {
            work.write("shared/double.test", DOUBLES);
            symlink(
                "../shared/double.test",
                work.root().join("tests/double.test"),
            )
            .unwrap();
        },
        || work.write("src/double.sh", DOUBLE),
    );
    work.finalize();
}

#[test]
fn a_project_in_a_folder_of_its_repository() {
    let way = Way::Reported;
    let before = Before {
        folder: "services/shop",
        task: "2",
        ..SHOP
    };
    let work = Work::begin_with(&before, way, |work| {
        fs::write(work.root().join("../../top.md"), "All services.\n").unwrap();
    });
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.subtask(
        || work.write("tests/halve.test", HALVES),
        || work.write("src/halve.sh", HALVE),
    );
    work.finalize();
}

#[test]
fn two_subtasks_in_the_same_files() {
    let way = Way::Reported;
    let before = Before {
        files: &[
            (
                "src/calc.sh",
                "case $1 in add) echo $(($2 + $3)) ;;\nesac\n",
            ),
            (
                "tests/calc.test",
                "adds: test $(sh src/calc.sh add 1 2) = 3\n",
            ),
        ],
        task: "2",
        ..SHOP
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || {
            work.append(
                "tests/calc.test",
                "doubles: test $(sh src/calc.sh double 4) = 8\n",
            );
        },
        || work.replace("src/calc.sh", "esac", "double) echo $(($2 * 2)) ;;\nesac"),
    );
    work.subtask(
        || {
            work.append(
                "tests/calc.test",
                "halves: test $(sh src/calc.sh halve 4) = 2\n",
            );
        },
        || work.replace("src/calc.sh", "esac", "halve) echo $(($2 / 2)) ;;\nesac"),
    );
    work.finalize();
}

#[test]
fn obsolete_tests_that_are_taken_out() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("src/old.sh", "echo old\n"),
            (
                "tests/add.test",
                "adds: test $(sh src/add.sh 1 2) = 3\nis old: test $(sh src/old.sh) = old\n",
            ),
            ("tests/old.test", "old one: true\nold two: true\n"),
        ],
        ..SHOP
    };
    // Said in RED, where they are taken out; or in GREEN, as the refusal says.
    for (red, green) in [(true, false), (false, true)] {
        for way in WAYS {
            let work = Work::begin(&before, way);
            let ids = ["is old", "old *"];
            work.write("tests/double.test", DOUBLES);
            work.replace(
                "tests/add.test",
                "is old: test $(sh src/old.sh) = old\n",
                "",
            );
            work.delete("tests/old.test");
            work.remove(if red { &ids } else { &[] });
            if way == Way::Verified && !red {
                work.warns(&["Tests that passed before are gone or skipped"]);
            }
            work.red();
            work.write("src/double.sh", DOUBLE);
            work.delete("src/old.sh");
            work.remove(if green { &ids } else { &[] });
            work.green();
            work.commit();
            work.finalize();
        }
    }
    for way in BY_NAME {
        let work = Work::begin(&before, way);
        work.write("tests/double.test", DOUBLES);
        work.delete("tests/old.test");
        if way == Way::Verified {
            work.warns(&["Tests that passed before are gone or skipped"]);
        }
        work.red();
        work.write("src/double.sh", DOUBLE);
        let refused = work.green_refused("tests_missing");
        assert_eq!(
            refused["details"]["tests"],
            serde_json::json!(["old one", "old two"])
        );
        assert!(
            refused["suggestion"]
                .as_str()
                .unwrap()
                .contains("--removed"),
            "{refused}"
        );
        work.remove(&["old one", "old two"]);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn a_test_file_that_is_renamed_in_red() {
    for (git, way) in [true, false]
        .into_iter()
        .flat_map(|git| WAYS.map(|way| (git, way)))
    {
        let work = Work::begin(&SHOP, way);
        if git {
            work.git(&["mv", "tests/add.test", "tests/calc.test"]);
        } else {
            work.rename("tests/add.test", "tests/calc.test");
        }
        work.append("tests/calc.test", DOUBLES);
        work.red();
        work.write("src/double.sh", DOUBLE);
        work.green();
        work.commit();
        work.finalize();
    }
}

#[test]
fn the_stub_that_a_test_needs_to_be_built() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    work.write("tests/double.test", DOUBLES);
    work.write("src/double.sh", "exit 1\n");
    // It is no test, and that is said; more is not.
    work.warns(&["files other than tests were changed in RED: src/double.sh"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn tasks_that_the_tool_or_somebody_else_changes() {
    let add = |work: &Work| {
        work.replace(
            ".taskmaster/tasks/tasks.json",
            "\"title\": \"Double\",",
            "\"title\": \"Double\", \"priority\": \"high\",",
        );
    };
    for &way in &BY_NAME {
        for in_red in [true, false] {
            let work = Work::begin(&SHOP, way);
            work.write("tests/double.test", DOUBLES);
            if in_red {
                add(&work);
            }
            work.red();
            work.write("src/double.sh", DOUBLE);
            if !in_red {
                add(&work);
            }
            work.green();
            // The commit brings them along, and says so.
            work.warns(&[".taskmaster/tasks/tasks.json was changed by somebody else"]);
            work.commit();
            work.finalize();
        }
    }
}
