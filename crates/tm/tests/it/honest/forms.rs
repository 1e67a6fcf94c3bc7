//! Changes of tests in GREEN that change no test: another form, another place, and what a runner writes.

use super::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

/// A shop with tests of other languages beside its own.
const SHOP_IN_MANY: Before<'static> = Before {
    files: &[
        ("src/add.sh", "echo $(($1 + $2))\n"),
        ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        (
            "tests/old_test.py",
            "import sys\nfrom shop import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
        ),
    ],
    ..SHOP
};

const PYTHON: &str =
    "from shop import double\ndef test_doubles() :\n    assert double( 4 )==8, 'not doubled'\n";
const FORMATTED: &str = "from shop import double\n\n\ndef test_doubles():\n    assert double(4) == 8, \"not doubled\"\n";

const SNAPSHOT: &str = "// Jest Snapshot v1\n\nexports[`lists 1`] = `add`;\n";
const AND_NEW: &str =
    "// Jest Snapshot v1\n\nexports[`doubles 1`] = `8`;\n\nexports[`lists 1`] = `add`;\n";
const ANOTHER: &str = "// Jest Snapshot v1\n\nexports[`lists 1`] = `add, double`;\n";
const KEPT: &str = "tests/__snapshots__/list.test.ts.snap";

/// GREEN of a subtask is due, and all is there for it. `red` is done before RED is reported.
fn at_green(before: &Before<'_>, red: impl Fn(&Work), then: impl Fn(&Work)) {
    let way = Way::Reported;
    let work = Work::begin(before, way);
    work.write("tests/double.test", DOUBLES);
    red(&work);
    work.red();
    work.write("src/double.sh", DOUBLE);
    then(&work);
}

fn goes_through(work: &Work) {
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn a_formatter_goes_over_the_tests() {
    let red = |work: &Work| work.write("tests/double_test.py", PYTHON);
    at_green(&SHOP_IN_MANY, red, |work| {
        work.write("tests/double_test.py", FORMATTED);
        work.replace(
            "tests/old_test.py",
            "add(1, 2)",
            "add( 1,\n        2,\n    )",
        );
        goes_through(work);
    });
    // What it says is another thing.
    at_green(&SHOP_IN_MANY, red, |work| {
        for other in [
            FORMATTED.replace('8', "9"),
            FORMATTED.replace("==", "!="),
            FORMATTED.replace("    assert", "    # assert"),
            FORMATTED.replace("def test", "def untest"),
            FORMATTED.replace(":\n    assert", ":\n    return\n    assert"),
        ] {
            work.write("tests/double_test.py", &other);
            work.green_refused("tests_changed");
        }
        work.write("tests/double_test.py", FORMATTED);
        work.replace("tests/old_test.py", "== 3", "!= 4");
        work.green_refused("tests_changed");
    });
}

#[test]
fn a_formatter_goes_over_what_is_loaded_before_the_tests() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            ("conftest.py", "collect_ignore = [ 'old' ]\n"),
        ],
        ..SHOP
    };
    at_green(
        &before,
        |_| {},
        |work| {
            work.write("conftest.py", "collect_ignore = [\"old\", \"new\"]\n");
            work.green_refused("runner_config_changed");
            work.write("conftest.py", "collect_ignore = [\"old\"]\n");
            goes_through(work);
        },
    );
}

#[test]
fn files_of_tests_that_move() {
    let red = |work: &Work| work.write("tests/double_test.py", PYTHON);
    at_green(&SHOP_IN_MANY, red, |work| {
        // Another one came in the place of the new test: nobody has moved that.
        work.rename("tests/double.test", "tests/of/double.test");
        work.write("tests/of/double.test", "doubles: true\n");
        work.green_refused("tests_changed");
        work.write("tests/of/double.test", DOUBLES);
        work.rename("tests/add.test", "tests/of/add.test");
        work.rename("tests/double_test.py", "tests/of/double_test.py");
        work.write("tests/of/double_test.py", FORMATTED);
        work.warns(&["Files of tests lie elsewhere since RED, and hold the same: tests/add.test → tests/of/add.test"]);
        goes_through(work);
    });
    // Where something else lies, the same words may ask for something else.
    at_green(&SHOP_IN_MANY, red, |work| {
        work.rename("tests/double_test.py", "tests/of/double_test.py");
        for beside in ["tests/of/shop.py", "tests/of/data/four.json"] {
            work.write(beside, "double = abs\n");
            work.green_refused("tests_changed");
            work.delete(beside);
        }
        work.rename("tests/of/double_test.py", "other/tests/double_test.py");
        work.write("other/shop.py", "double = abs\n");
        work.green_refused("tests_changed");
    });
    // What the runner has kept for a file goes with it.
    let with_snapshot = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            ("tests/__snapshots__/add.test.snap", SNAPSHOT),
        ],
        ..SHOP
    };
    at_green(
        &with_snapshot,
        |_| {},
        |work| {
            work.rename("tests/add.test", "tests/plus.test");
            work.green_refused("tests_changed");
            work.rename(
                "tests/__snapshots__/add.test.snap",
                "tests/__snapshots__/plus.test.snap",
            );
            work.warns(&[
                "Files of tests lie elsewhere since RED",
                "What these snapshots ask for",
            ]);
            goes_through(work);
        },
    );
    // Where it is run no more, it is gone.
    at_green(&SHOP_IN_MANY, red, |work| {
        work.rename("tests/double.test", "tests/double.off");
        work.green_refused("tests_changed");
    });
}

#[test]
fn snapshots_within_tests_are_filled_in() {
    let test = "it('shows', () => expect(show()).toMatchInlineSnapshot())\n";
    let red = |work: &Work| work.write("tests/show.spec.js", test);
    at_green(&SHOP_IN_MANY, red, |work| {
        work.write(
            "tests/show.spec.js",
            &test.replace("Snapshot())", "Snapshot(`8`).not())"),
        );
        work.green_refused("tests_changed");
        work.write(
            "tests/show.spec.js",
            &test.replace("Snapshot()", "Snapshot(`8`)"),
        );
        work.warns(&["What these snapshots ask for is what the code gave"]);
        goes_through(work);
    });
}

#[test]
fn snapshots_that_the_runner_writes() {
    let keeps = "keeps: d=tests/__snapshots__; mkdir -p $d && sh src/double.sh 4 >$d/new && \
                 { test -f $d/double.snap || cp $d/new $d/double.snap; } && cmp $d/new $d/double.snap; was=$?; rm -f $d/new; exit $was\n";
    let red = |work: &Work| work.write("tests/keeps.test", keeps);
    at_green(&SHOP, red, |work| {
        work.warns(&["What these snapshots ask for is what the code gave: read whether it is right (tests/__snapshots__/double.snap)"]);
        goes_through(work);
    });
}

#[test]
fn a_snapshot_that_is_brought_up_to_date_by_the_runner() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            (
                "before.sh",
                "sh src/list.sh >tests/__snapshots__/list.snap\n",
            ),
            ("src/list.sh", "ls src\n"),
            ("tests/__snapshots__/list.snap", "add.sh\nlist.sh\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        ..SHOP
    };
    at_green(
        &before,
        |_| {},
        |work| {
            let refused = work.green_refused("snapshots_changed");
            let told = refused["message"].to_string();
            assert!(
                told.contains("tests/__snapshots__/list.snap"),
                "{refused:#}"
            );
            work.update(&["tests/__snapshots__/list.snap"]);
            work.warns(&["What these snapshots ask for is what the code gave"]);
            goes_through(work);
        },
    );
}

/// New snapshots may come beside those of before; these ask for what they asked for, or it is said which do not.
#[test]
fn snapshots_of_before() {
    let before = Before {
        files: &[
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("tests/add.test", "adds: test $(sh src/add.sh 1 2) = 3\n"),
            (KEPT, SNAPSHOT),
        ],
        ..SHOP
    };
    at_green(
        &before,
        |_| {},
        |work| {
            work.write(KEPT, AND_NEW);
            work.warns(&["What these snapshots ask for is what the code gave: read whether it is right (tests/__snapshots__/list.test.ts.snap (doubles 1))"]);
            goes_through(work);
        },
    );
    at_green(
        &before,
        |_| {},
        |work| {
            work.write(KEPT, &AND_NEW.replace("`add`", "`add, double`"));
            work.green_refused("snapshots_changed");
            work.update(&["tests/__snapshots__/other.snap"]);
            work.green_refused("snapshots_changed");
            work.delete(KEPT);
            work.green_refused("snapshots_changed");
            work.rename("tests/add.test", "tests/of/add.test");
            work.write("tests/of/__snapshots__/list.test.ts.snap", SNAPSHOT);
            work.warns(&[
                "Files of tests lie elsewhere since RED",
                "What these snapshots ask for is what the code gave",
            ]);
            goes_through(work);
        },
    );
    at_green(
        &before,
        |_| {},
        |work| {
            work.write(KEPT, ANOTHER);
            work.green_refused("snapshots_changed");
            work.update(&["tests/__snapshots__/*"]);
            work.warns(&["What these snapshots ask for is what the code gave: read whether it is right (tests/__snapshots__/list.test.ts.snap (lists 1))"]);
            goes_through(work);
        },
    );
}
