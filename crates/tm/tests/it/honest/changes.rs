//! What is changed in RED and in GREEN beside tests and code.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::work::{
    ADDS, BY_NAME, Before, DOUBLES, FAILING, GREEN, RED, SHOP, TWO, WAYS, Way, Work,
};
use super::{go_through, own, run};

#[test]
fn ordinary_runs() {
    testkit::by_chance!(3);
    go_through([
        run("files that are written again as they were, or staged")
            .by(&WAYS)
            .red(|work| work.git(&["add", "tests"]))
            .green(|work| {
                for path in ["tests/add.test", "tests/double.test", "src/add.sh"] {
                    work.write(path, &work.read(path));
                }
            })
            .green(|work| work.git(&["add", "--all"])),
        run("the first test of a project").of(SHOP.files(&[]).without_baseline()),
        run("two subtasks in a folder of the repository")
            .of(TWO.folder("services/shop").prepared(|work| {
                fs::write(work.root().join("../../top.md"), "All services.\n").unwrap();
            }))
            .by(&BY_NAME)
            .red(|_| {})
            .red(|_| {}),
    ]);
}

/// Where the tests are run here, they are run on what was there before, too.
#[test]
fn what_failed_before_is_found_out_beside_the_first_report() {
    let failing = FAILING.without_baseline().by(Way::Verified);
    let work = failing.at_red();
    let told = work.accepted(RED)["warning"].to_string();
    assert!(told.ends_with(": old\""), "{told}");
    work.code();
    let told = work.green()["message"].to_string();
    assert!(told.ends_with(": old\""), "{told}");
    work.ends();

    // What fails on the bench alone is told as one that failed before.
    let local = "adds: test $(sh src/add.sh 1 2) = 3\nlocal: test -f local\n";
    let files = [("tests/add.test", local), (".gitignore", "local\n")];
    let work = failing.with(&files).begin();
    work.write("local", "");
    work.test();
    let told = work.accepted(RED)["warning"].to_string();
    assert!(told.ends_with(": local\""), "{told}");
    work.code();
    work.green();
}

#[test]
fn changes_of_the_product() {
    go_through([
        run("a file is renamed, others come and go, and the build generates some")
            .of(SHOP.with(&[
                ("src/add.sh", "sh lib/plus.sh $1 $2\n"),
                ("lib/plus.sh", "# Adds two numbers.\necho $(($1 + $2))\n"),
                ("lib/unused.sh", "echo unused\n"),
                (
                    "before.sh",
                    "mkdir -p build gen\nls lib >build/list\nls lib >gen/list\n",
                ),
                (".gitignore", "build/\n"),
                ("gen/list", "plus.sh\nunused.sh\n"),
                ("tests/tool.sh", "echo tool\n"),
            ]))
            .by(&BY_NAME)
            .red(|work| work.append(".gitignore", "out/\n"))
            // The stub that a test needs to be built.
            .and(|work| work.write("src/double.sh", "exit 1\n"))
            .green(|work| work.write("src/add.sh", "sh lib/sum.sh $1 $2\n"))
            .green(|work| work.delete("lib/unused.sh"))
            .green(|work| work.rename("lib/plus.sh", "lib/sum.sh"))
            .green(|work| work.write("lib/calc.sh", "echo $(($1))\n"))
            .green(|work| work.write("src/double.sh", "sh lib/calc.sh \"$1 * 2\"\n"))
            .green(|work| work.git(&["add", "--intent-to-add", "lib/calc.sh"]))
            .green(|work| work.append(".gitignore", "more/\n"))
            .green(|work| {
                work.write("out/left.over", "x\n");
                work.write("more/left.over", "x\n");
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
        own(
            "two subtasks in the same files, whose tests have one name",
            TWO,
        )
        .by(&BY_NAME)
        .red(|work| work.append("tests/add.test", &ADDS.replace("1 2) = 3", "1 2 3) = 6")))
        .green(|work| work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0}))\n"))
        .red(|work| work.append("tests/add.test", &ADDS.replace("1 2) = 3", "1 2 3 4) = 10")))
        .green(|work| work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0} + ${4:-0}))\n")),
    ]);
}

/// Packages that only the tests need come in RED.
fn needs(work: &Work, kind: &str, name: &str) {
    let needs = format!(",\n  \"{kind}\": {{ \"{name}\": \"1.0.0\" }}\n}}");
    work.replace("package.json", "\n}", &needs);
    let locked = format!("{{ \"{name}\": {{ \"version\": \"1.0.0\" }},");
    work.replace("package-lock.json", "{", &locked);
}

/// Moves a file of tests elsewhere, and leaves a link.
fn link_test(work: &Work, name: &str) {
    let [path, shared] = ["tests", "shared"].map(|folder| format!("{folder}/{name}"));
    work.rename(&path, &shared);
    symlink(format!("../{shared}"), work.root().join(path)).unwrap();
}

#[test]
fn files_beside_the_tests() {
    go_through([
        run("packages, documentation, helpers, fixtures and data")
            .of(SHOP.with(&[
                ("package.json", "{\n  \"name\": \"shop\"\n}\n"),
                ("package-lock.json", "{ \"name\": \"shop\" }\n"),
                ("README.md", "A shop.\n"),
                (".gitignore", "*.log\n"),
                (
                    "tests/add.test",
                    "adds: date +%N >tests/add.log; test $(sh src/add.sh 1 2) = 3\n",
                ),
            ]))
            .by(&BY_NAME)
            .red(|work| needs(work, "devDependencies", "check"))
            .and(|work| work.append("README.md", "It is going to double.\n"))
            .and(|work| work.write("tests/conftest.py", "FOUR = 4\n"))
            .and(|work| work.write("tests/fixtures/four", "4\n"))
            .and(|work| work.write("tests/helper.sh", "four() { cat tests/fixtures/four; }\n"))
            .and(|work| {
                // The test of what is not there yet does not come to write anything.
                let more = "uses a fixture: . tests/helper.sh; test $(sh src/double.sh $(four)) = 8\nwrites: test $(sh src/double.sh 4 | tee tests/data.out) = 8 || { rm tests/data.out; false; }\n";
                work.append("tests/double.test", more);
            })
            .and(|work| work.warns(&["runner_configured tests/conftest.py"]))
            .green(|work| needs(work, "dependencies", "left"))
            .green(|work| work.append("README.md", "It doubles.\n"))
            .green(|work| work.write("docs/double.md", "Twice as much.\n"))
            .green(|work| work.append("tests/helper.sh", "five() { cat tests/fixtures/five; }\n"))
            .green(|work| {
                // Below `verified` nobody sees what the tests do without it.
                if work.way() != Way::Verified {
                    work.refused(GREEN, "tests_changed");
                    work.write("tests/helper.sh", "four() { cat tests/fixtures/four; }\n");
                }
            })
            .green(|work| work.write("tests/fixtures/five", "5\n")),
        run("a file of tests behind a link")
            .of(SHOP.prepared(|work| link_test(work, "add.test")))
            .red(|work| link_test(work, "double.test")),
    ]);
}

#[test]
fn windows_line_ends() {
    fn prepared(work: &Work, convert: &str) {
        work.git(&["config", "core.autocrlf", convert]);
        work.git(&["config", "core.safecrlf", "false"]);
        work.write("src/note.txt", "one\r\ntwo\r\n");
        work.write("tests/add.test", &ADDS.replace('\n', "\r\n"));
    }
    let rows: [(_, fn(&Work)); 2] = [
        ("converted", |work| {
            // A checkout of scripts that are converted would not run.
            work.write(".gitattributes", "*.sh eol=lf\n");
            prepared(work, "true");
        }),
        ("as attributes say", |work| {
            work.write(".gitattributes", "* text=auto\n");
            prepared(work, "false");
        }),
    ];
    go_through(rows.map(|(name, prepare)| {
        run(name)
            .of(SHOP.prepared(prepare))
            .by(&[Way::Verified])
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
    let asked_for = |work: &Work, phase| {
        let refused = work.refused(phase, "tests_missing");
        let gone = json!(["is old", "old one", "old two"]);
        assert_eq!(refused["details"]["tests"], gone);
    };
    go_through([
        run("said when it is asked for")
            .of(OBSOLETE)
            .by(&BY_NAME)
            .red(move |work| {
                take_out(work);
                if work.way() == Way::Verified {
                    asked_for(work, RED);
                    work.remove(&ids);
                }
            })
            .green(move |work| {
                work.delete("src/old.sh");
                if work.way() != Way::Verified {
                    asked_for(work, GREEN);
                    work.remove(&ids);
                }
            }),
        own("a file of them that is renamed in RED", SHOP)
            .by(&[Way::Claimed, Way::Verified])
            .red(|work| work.rename("tests/add.test", "tests/calc.test"))
            .and(|work| work.append("tests/calc.test", DOUBLES))
            .green(Work::code),
    ]);
}
