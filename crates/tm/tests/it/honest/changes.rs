//! What is changed in RED and in GREEN beside tests and code.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::work::{ADDS, Before, DOUBLES, FAILING, GREEN, RED, SHOP, TWO, WAYS, Way, Work};
use super::{go_through, go_through_by_name, own, run};

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
    let told = work.accepted(RED)["warning"].to_string();
    assert!(
        told.ends_with("failed, as they may go on to: old\""),
        "{told}"
    );
    work.code();
    let told = work.green()["message"].to_string();
    assert!(told.ends_with("failing as before: old\""), "{told}");
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
    go_through_by_name([
        run("refactoring")
            .green(|work| work.write("src/calc.sh", "echo $(($1))\n"))
            .green(|work| work.write("src/add.sh", "sh src/calc.sh \"$1 + $2\"\n"))
            .green(|work| work.write("src/double.sh", "sh src/calc.sh \"$1 * 2\"\n")),
        run("a file is renamed and another deleted")
            .of(SHOP.with(&[
                ("src/add.sh", "sh lib/plus.sh $1 $2\n"),
                ("lib/plus.sh", "# Adds two numbers.\necho $(($1 + $2))\n"),
                ("lib/unused.sh", "echo unused\n"),
            ]))
            .green(|work| work.write("src/add.sh", "sh lib/sum.sh $1 $2\n"))
            .green(|work| work.delete("lib/unused.sh"))
            .green(|work| work.rename("lib/plus.sh", "lib/sum.sh")),
        run("files that the build generates").of(SHOP.with(&[
            (
                "before.sh",
                "mkdir -p build gen\nls src >build/list\nls src >gen/list\n",
            ),
            (".gitignore", "build/\n"),
            ("gen/list", "add.sh\n"),
        ])),
        run("a line for .gitignore in GREEN")
            .green(|work| work.write("out/left.over", "x\n"))
            .green(|work| work.write(".gitignore", "out/\n")),
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
        run("the stub that a test needs to be built")
            .red(|work| work.write("src/double.sh", "exit 1\n"))
            // It is no test, and that is said; more is not.
            .and(|work| work.warns(&["production_changed src/double.sh"])),
        own("two subtasks in the same files", TWO)
            .red(|work| work.append("tests/add.test", &ADDS.replace("1 2) = 3", "1 2 3) = 6")))
            .green(|work| work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0}))\n"))
            .red(|work| work.append("tests/add.test", &ADDS.replace("1 2) = 3", "1 2 3 4) = 10")))
            .green(|work| work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0} + ${4:-0}))\n")),
    ]);
}

/// Those that only the tests need come in RED.
#[test]
fn documentation_and_dependencies() {
    fn needs(work: &Work, kind: &str, name: &str) {
        let needs = format!(",\n  \"{kind}\": {{ \"{name}\": \"1.0.0\" }}\n}}");
        work.replace("package.json", "\n}", &needs);
        let locked = format!("{{ \"{name}\": {{ \"version\": \"1.0.0\" }},");
        work.replace("package-lock.json", "{", &locked);
    }
    go_through_by_name([run("a package of Node")
        .of(SHOP.with(&[
            ("package.json", "{\n  \"name\": \"shop\"\n}\n"),
            ("package-lock.json", "{ \"name\": \"shop\" }\n"),
            ("README.md", "A shop.\n"),
        ]))
        .red(|work| needs(work, "devDependencies", "check"))
        .and(|work| work.append("README.md", "It is going to double.\n"))
        .green(|work| needs(work, "dependencies", "left"))
        .green(|work| work.append("README.md", "It doubles.\n"))
        .green(|work| work.write("docs/double.md", "Twice as much.\n"))]);
}

/// Moves a file of tests elsewhere, and leaves a link.
fn link_test(work: &Work, name: &str) {
    let [path, shared] = ["tests", "shared"].map(|folder| format!("{folder}/{name}"));
    work.rename(&path, &shared);
    symlink(format!("../{shared}"), work.root().join(path)).unwrap();
}

#[test]
fn files_beside_the_tests() {
    go_through_by_name([
        run("helpers and fixtures that come in GREEN")
            .red(|work| {
                let uses = "uses a fixture: . tests/helper.sh; test $(sh src/double.sh $(four)) = 8\n";
                work.append("tests/double.test", uses);
            })
            .green(|work| work.write("tests/helper.sh", "four() { cat tests/fixtures/four; }\n"))
            .green(|work| work.write("tests/fixtures/four", "4\n")),
        run("a helper that comes in RED")
            .red(|work| work.write("tests/conftest.py", "FOUR = 4\n"))
            .and(|work| work.write("tests/fixtures/four", "4\n"))
            .and(|work| work.warns(&["runner_configured tests/conftest.py"])),
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
        run("a file of tests behind a link")
            .of(SHOP.prepared(|work| link_test(work, "add.test")))
            .by(&[Way::Reported])
            .red(|work| link_test(work, "double.test")),
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
    type Row = (&'static str, fn(&Work));
    let rows: [Row; 4] = [
        ("as they are", |work| with_line_ends(work, "false", "")),
        ("converted", |work| with_line_ends(work, "true", "")),
        ("on the way in", |work| with_line_ends(work, "input", "")),
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
    let ids = ["is old", "old *"];
    go_through_by_name([
        run("said in RED")
            .of(OBSOLETE)
            .by(&WAYS)
            .red(take_out)
            .and(move |work| work.remove(&ids))
            .green(|work| work.delete("src/old.sh")),
        run("said when it is asked for")
            .of(OBSOLETE)
            .red(move |work| {
                take_out(work);
                if work.way() == Way::Verified {
                    work.warns(&["tests_gone"]);
                }
            })
            .green(move |work| {
                work.delete("src/old.sh");
                let refused = work.refused(GREEN, "tests_missing");
                let gone = json!(["is old", "old one", "old two"]);
                assert_eq!(refused["details"]["tests"], gone);
                work.remove(&ids);
            }),
    ]);
}

#[test]
fn a_test_file_that_is_renamed_in_red() {
    go_through([own("without git", SHOP)
        .by(&WAYS)
        .red(|work| work.rename("tests/add.test", "tests/calc.test"))
        .and(|work| work.append("tests/calc.test", DOUBLES))
        .green(Work::code)]);
}
