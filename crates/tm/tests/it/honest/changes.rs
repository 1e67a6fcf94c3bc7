//! What is changed in RED and in GREEN beside tests and code.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::work::{
    ADDS, Before, COMMIT, DOUBLES, FAILING, GREEN, RED, SHOP, TASKS_FILE, TWO, WAYS, Way, Work,
};
use super::{go_through_by_name, own, run};

#[test]
fn ordinary_runs() {
    let is_told = |name, before: Before<'static>| {
        run(name)
            .of(before.without_baseline())
            .by(&WAYS)
            .red(|work| {
                if work.way() == Way::Reported {
                    work.warns(&["no_baseline"]);
                }
            })
    };
    go_through_by_name([
        run("nothing beside").by(&WAYS),
        is_told("without a baseline, of which it is told", SHOP),
        is_told("the first test of a project", SHOP.files(&[])).by(&[Way::Reported]),
        run("two subtasks in a folder of the repository")
            .of(TWO.folder("services/shop").prepared(|work| {
                fs::write(work.root().join("../../top.md"), "All services.\n").unwrap();
            }))
            .red(|_| {})
            .red(|_| {}),
        run("files that are written again as they were").green(|work| {
            for path in ["tests/add.test", "tests/double.test", "src/add.sh"] {
                work.write(path, &work.read(path));
            }
        }),
        run("what was staged")
            .red(|work| work.git(&["add", "tests"]))
            .green(|work| work.git(&["add", "--all"])),
        run("what is to be added")
            .green(|work| work.git(&["add", "--intent-to-add", "src/double.sh"])),
    ]);
}

/// Where the tests are run here, they are run on what was there before, too.
#[test]
fn what_failed_before_is_found_out_beside_the_first_report() {
    let failing = FAILING.without_baseline().by(Way::Verified);
    let work = failing.at_red();
    let red = work.accepted(RED);
    assert_eq!(
        red["warning"],
        "Before the run 1 test passed, and these failed, as they may go on to: old"
    );
    work.code();
    let green = work.green();
    assert_eq!(
        green["message"],
        "GREEN accepted: 2 passing; failing as before: old"
    );
    work.ends();

    // What fails in a checkout and not here is nothing that failed before.
    let local = "adds: test $(sh src/add.sh 1 2) = 3\nlocal: test -f local\n";
    let files = [("tests/add.test", local), (".gitignore", "local\n")];
    let work = failing.with(&files).begin();
    work.write("local", "");
    work.test();
    work.warns(&["no_baseline"]);
    work.red();
    work.code();
    work.green();
}

#[test]
fn changes_of_the_product_in_green() {
    const PLUS: Before<'static> = SHOP.with(&[
        ("src/add.sh", "sh lib/plus.sh $1 $2\n"),
        (
            "lib/plus.sh",
            "# Adds two numbers that are given as words.\necho $(($1 + $2))\n",
        ),
        ("lib/unused.sh", "echo unused\n"),
    ]);
    let renamed = |name, with_git: bool| {
        run(name).of(PLUS).green(move |work| {
            work.write("src/add.sh", "sh lib/sum.sh $1 $2\n");
            work.delete("lib/unused.sh");
            if with_git {
                work.git(&["mv", "lib/plus.sh", "lib/sum.sh"]);
            } else {
                work.rename("lib/plus.sh", "lib/sum.sh");
            }
        })
    };
    go_through_by_name([
        run("refactoring").green(|work| {
            work.write("src/calc.sh", "echo $(($1))\n");
            work.write("src/add.sh", "sh src/calc.sh \"$1 + $2\"\n");
            work.write("src/double.sh", "sh src/calc.sh \"$1 * 2\"\n");
        }),
        renamed("a file is renamed and another deleted", false),
        renamed("a file is renamed with git", true),
        run("files that the build generates").of(SHOP.with(&[
            (
                "before.sh",
                "mkdir -p build gen\nls src >build/list\nls src >gen/list\n",
            ),
            (".gitignore", "build/\n"),
            ("gen/list", "add.sh\n"),
        ])),
        run("a line for .gitignore in GREEN").green(|work| {
            work.write("out/left.over", "x\n");
            work.write(".gitignore", "out/\n");
        }),
        run("a line for .gitignore in RED")
            .red(|work| work.write(".gitignore", "out/\n"))
            .green(|work| work.write("out/left.over", "x\n")),
        run("modes of files")
            .of(SHOP.with(&[("tests/tool.sh", "echo tool\n")]))
            .green(|work| {
                // What a test says is what it said, whoever may execute it.
                for path in [
                    "src/double.sh",
                    "src/add.sh",
                    "tests/tool.sh",
                    "tests/double.test",
                ] {
                    let mode = fs::Permissions::from_mode(0o755);
                    fs::set_permissions(work.root().join(path), mode).unwrap();
                }
            }),
        run("the stub that a test needs to be built").red(|work| {
            work.write("src/double.sh", "exit 1\n");
            // It is no test, and that is said; more is not.
            work.warns(&["production_changed src/double.sh"]);
        }),
        own(
            "two subtasks in the same files",
            TWO.files(&[
                (
                    "src/calc.sh",
                    "case $1 in add) echo $(($2 + $3)) ;;\nesac\n",
                ),
                (
                    "tests/calc.test",
                    "adds: test $(sh src/calc.sh add 1 2) = 3\n",
                ),
            ]),
        )
        .red(|work| {
            let doubles = "doubles: test $(sh src/calc.sh double 4) = 8\n";
            work.append("tests/calc.test", doubles);
        })
        .green(|work| work.replace("src/calc.sh", "esac", "double) echo $(($2 * 2)) ;;\nesac"))
        .red(|work| {
            let halves = "halves: test $(sh src/calc.sh halve 4) = 2\n";
            work.append("tests/calc.test", halves);
        })
        .green(|work| work.replace("src/calc.sh", "esac", "halve) echo $(($2 / 2)) ;;\nesac")),
    ]);
}

const PACKAGE: Before<'static> = SHOP.with(&[
    (
        "package.json",
        "{\n  \"name\": \"shop\",\n  \"scripts\": { \"test\": \"sh run.sh\" }\n}\n",
    ),
    (
        "package-lock.json",
        "{ \"name\": \"shop\", \"packages\": {} }\n",
    ),
    ("README.md", "A shop.\n"),
]);

#[test]
fn documentation_and_dependencies() {
    go_through_by_name([
        run("those of the product").of(PACKAGE).green(|work| {
            work.append("README.md", "It doubles.\n");
            work.write("docs/double.md", "Twice as much.\n");
            let needs = ",\n  \"dependencies\": { \"left\": \"1.0.0\" }\n}";
            work.replace("package.json", "\n}", needs);
            let locked = "{ \"left\": { \"version\": \"1.0.0\" } }";
            work.replace("package-lock.json", "{}", locked);
        }),
        run("those that only the tests need")
            .of(PACKAGE)
            .red(|work| {
                let needs = ",\n  \"devDependencies\": { \"check\": \"1.0.0\" }\n}";
                work.replace("package.json", "\n}", needs);
                let locked = "{ \"check\": { \"version\": \"1.0.0\" } }";
                work.replace("package-lock.json", "{}", locked);
                work.append("README.md", "It is going to double.\n");
            }),
    ]);
}

#[test]
fn files_beside_the_tests() {
    go_through_by_name([
        run("helpers and fixtures that come in GREEN")
            .red(|work| {
                let uses = "uses a fixture: . tests/helper.sh; test $(sh src/double.sh $(four)) = 8\n";
                work.append("tests/double.test", uses);
            })
            .green(|work| {
                work.write("tests/helper.sh", "four() { cat tests/fixtures/four; }\n");
                work.write("tests/fixtures/four", "4\n");
            }),
        run("a helper that comes in RED").red(|work| {
            work.write("tests/conftest.py", "FOUR = 4\n");
            work.write("tests/fixtures/four", "4\n");
            work.warns(&["runner_configured tests/conftest.py"]);
        }),
        // The test of what is not there yet does not come to write anything.
        run("data that a test writes").red(|work| {
            let writes = "writes: test $(sh src/double.sh 4 | tee tests/data.out) = 8 || { rm tests/data.out; false; }\n";
            work.append("tests/double.test", writes);
        }),
        run("data that is ignored").of(SHOP.with(&[
            (".gitignore", "*.log\n"),
            (
                "tests/add.test",
                "adds: date +%N >tests/add.log; test $(sh src/add.sh 1 2) = 3\n",
            ),
        ])),
        own(
            "a file of tests behind a link",
            SHOP.files(&[
                ("src/add.sh", "echo $(($1 + $2))\n"),
                ("shared/add.test", ADDS),
            ])
                .prepared(|work| {
                    fs::create_dir(work.root().join("tests")).unwrap();
                    symlink("../shared/add.test", work.root().join("tests/again.test")).unwrap();
                }),
        )
        .by(&[Way::Reported])
        .red(|work| {
            work.write("shared/double.test", DOUBLES);
            let link = work.root().join("tests/double.test");
            symlink("../shared/double.test", link).unwrap();
        })
        .green(Work::code),
    ]);
}

fn with_line_ends(work: &Work, convert: &str, attributes: &str) {
    work.git(&["config", "core.autocrlf", convert]);
    work.git(&["config", "core.safecrlf", "false"]);
    if !attributes.is_empty() {
        work.write(".gitattributes", attributes);
    }
    work.write("src/note.txt", "one\r\ntwo\r\n");
    work.write("tests/add.test", &ADDS.replace('\n', "\r\n"));
}

#[test]
fn windows_line_ends() {
    let rows: [(&str, fn(&Work)); 4] = [
        ("as they are", |work| with_line_ends(work, "false", "")),
        ("converted", |work| with_line_ends(work, "true", "")),
        ("converted on the way in", |work| {
            with_line_ends(work, "input", "");
        }),
        ("as attributes say", |work| {
            with_line_ends(work, "false", "* text=auto\n");
        }),
    ];
    go_through_by_name(rows.map(|(name, prepare)| {
        run(name)
            .of(SHOP.prepared(prepare))
            .red(|work| work.write("tests/double.test", &DOUBLES.replace('\n', "\r\n")))
            .green(|work| work.append("src/note.txt", "three\r\n"))
    }));
}

/// Said in RED, where they are taken out; or in GREEN, as the refusal says.
#[test]
fn obsolete_tests_that_are_taken_out() {
    const OBSOLETE: Before<'static> = SHOP.with(&[
        ("src/old.sh", "echo old\n"),
        (
            "tests/add.test",
            "adds: test $(sh src/add.sh 1 2) = 3\nis old: test $(sh src/old.sh) = old\n",
        ),
        ("tests/old.test", "old one: true\nold two: true\n"),
    ]);
    let take_out = |work: &Work| {
        work.write("tests/add.test", ADDS);
        work.delete("tests/old.test");
    };
    let is_told = |work: &Work| {
        if work.way() == Way::Verified {
            work.warns(&["tests_gone"]);
        }
    };
    let ids = ["is old", "old *"];
    go_through_by_name([
        run("said in RED")
            .of(OBSOLETE)
            .by(&WAYS)
            .red(move |work| {
                take_out(work);
                work.remove(&ids);
            })
            .green(|work| work.delete("src/old.sh")),
        run("said in GREEN")
            .of(OBSOLETE)
            .by(&WAYS)
            .red(move |work| {
                take_out(work);
                is_told(work);
            })
            .green(move |work| {
                work.delete("src/old.sh");
                work.remove(&ids);
            }),
        run("said when it is asked for")
            .of(OBSOLETE)
            .red(move |work| {
                work.delete("tests/old.test");
                is_told(work);
            })
            .green(|work| {
                let refused = work.refused(GREEN, "tests_missing");
                assert_eq!(refused["details"]["tests"], json!(["old one", "old two"]));
                work.remove(&["old one", "old two"]);
            }),
    ]);
}

#[test]
fn a_test_file_that_is_renamed_in_red() {
    let then_more = |work: &Work| work.append("tests/calc.test", DOUBLES);
    go_through_by_name([
        own("with git", SHOP)
            .by(&WAYS)
            .red(move |work| {
                work.git(&["mv", "tests/add.test", "tests/calc.test"]);
                then_more(work);
            })
            .green(Work::code),
        own("without it", SHOP)
            .by(&WAYS)
            .red(move |work| {
                work.rename("tests/add.test", "tests/calc.test");
                then_more(work);
            })
            .green(Work::code),
    ]);
}

/// The commit brings along what somebody else did to the tasks, and says so.
#[test]
fn tasks_that_somebody_else_changes() {
    for (in_red, way) in [(true, Way::Reported), (false, Way::Verified)] {
        let title = "\"title\": \"Double\",";
        let add =
            |work: &Work| work.replace(TASKS_FILE, title, &format!("{title} \"priority\": 1,"));
        let work = SHOP.by(way).at_red();
        if in_red {
            add(&work);
        }
        work.red();
        work.code();
        if !in_red {
            add(&work);
        }
        work.green();
        let committed = work.accepted(COMMIT);
        let told = committed["warning"].as_str().unwrap();
        assert!(told.contains(TASKS_FILE), "{told}");
        work.finalize();
    }
}
