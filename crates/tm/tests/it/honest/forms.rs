//! Changes of tests in GREEN that change no test: another form, another place, and what a runner writes.

use super::work::{BY_NAME, Before, DOUBLES, GREEN, SHOP, TWO, Way, Work};
use super::{go_through, run};

/// A shop with tests of other languages beside its own.
const SHOP_IN_MANY: Before<'static> = SHOP.with(&[
    (
        "tests/old_test.py",
        "import sys\nfrom shop import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    ),
    ("conftest.py", "collect_ignore = [ 'old' ]\n"),
]);

const PYTHON: &str =
    "from shop import double\ndef test_doubles() :\n    assert double( 4 )==8, 'not doubled'\n";
const FORMATTED: &str = "from shop import double\n\n\ndef test_doubles():\n    assert double(4) == 8, \"not doubled\"\n";

const SNAPSHOT: &str = "// Jest Snapshot v1\n\nexports[`lists 1`] = `add`;\n";
const AND_NEW: &str =
    "// Jest Snapshot v1\n\nexports[`doubles 1`] = `8`;\n\nexports[`lists 1`] = `add`;\n";
const KEPT: &str = "tests/__snapshots__/list.test.ts.snap";

fn in_python(work: &Work) {
    work.write("tests/double_test.py", PYTHON);
}

#[test]
fn a_formatter_goes_over_the_tests() {
    go_through([run("their form, and nothing that they say")
        .of(SHOP_IN_MANY)
        .red(in_python)
        .green(|work| {
            for other in [
                FORMATTED.replace('8', "9"),
                FORMATTED.replace("    assert", "    # assert"),
            ] {
                work.write("tests/double_test.py", &other);
                work.refused(GREEN, "tests_changed");
            }
            work.write("tests/double_test.py", FORMATTED);
            let old = work.read("tests/old_test.py");
            work.replace("tests/old_test.py", "== 3", "!= 4");
            work.refused(GREEN, "tests_changed");
            let formed = old.replace("add(1, 2)", "add( 1,\n        2,\n    )");
            work.write("tests/old_test.py", &formed);
            // What is loaded before them.
            work.write("conftest.py", "collect_ignore = [\"old\", \"new\"]\n");
            work.refused(GREEN, "runner_config_changed");
            work.write("conftest.py", "collect_ignore = [\"old\"]\n");
        })]);
}

#[test]
fn files_of_tests_that_move() {
    go_through([
        run("nobody has moved one in whose place another one came")
            .of(SHOP_IN_MANY)
            .by(&BY_NAME)
            .red(in_python)
            // Where something else lies, the same words may ask for something else.
            .green(|work| {
                work.rename("tests/double_test.py", "tests/of/double_test.py");
                for beside in ["tests/of/shop.py", "tests/of/data/four.json"] {
                    work.write(beside, "double = abs\n");
                    work.refused(GREEN, "tests_changed");
                    work.delete(beside);
                }
            })
            .green(|work| work.rename("tests/double.test", "tests/of/double.test"))
            .green(|work| work.write("tests/of/double.test", "doubles: true\n"))
            .green(|work| work.refused(GREEN, "tests_changed"))
            .green(|work| work.write("tests/of/double.test", DOUBLES))
            .green(|work| work.rename("tests/add.test", "tests/of/add.test"))
            .green(|work| work.write("tests/of/double_test.py", FORMATTED))
            .green(|work| work.warns(&["tests_moved tests/add.test → tests/of/add.test"])),
        run("what the runner has kept for a file goes with it")
            .of(SHOP.with(&[("tests/__snapshots__/add.test.snap", SNAPSHOT)]))
            .green(|work| {
                work.rename("tests/add.test", "tests/plus.test");
                work.refused(GREEN, "tests_changed");
                let kept = |of: &str| format!("tests/__snapshots__/{of}.test.snap");
                work.rename(&kept("add"), &kept("plus"));
                work.warns(&["tests_moved", "snapshots_written"]);
            }),
    ]);
}

const SHOWS: &str = "it('shows', () => expect(show()).toMatchInlineSnapshot())\n";

#[test]
fn snapshots_that_come() {
    go_through([
        run("within tests, and written by the runner")
            .of(SHOP_IN_MANY)
            .red(|work| work.write("tests/show.spec.js", SHOWS))
            .and(|work| {
                let keeps = "keeps: d=tests/__snapshots__; mkdir -p $d && sh src/double.sh 4 >$d/new && \
                 { test -f $d/double.snap || cp $d/new $d/double.snap; } && cmp $d/new $d/double.snap; was=$?; rm -f $d/new; exit $was\n";
                work.write("tests/keeps.test", keeps);
            })
            .green(|work| {
                let with = |what| SHOWS.replace("Snapshot())", what);
                work.write("tests/show.spec.js", &with("Snapshot(`8`).not())"));
                work.refused(GREEN, "tests_changed");
                work.write("tests/show.spec.js", &with("Snapshot(`8`))"));
                work.warns(&["snapshots_written (tests/__snapshots__/double.snap"]);
            }),
        run("the runner brings them up to date")
            .of(SHOP.with(&[
                (
                    "before.sh",
                    "sh src/list.sh >tests/__snapshots__/list.snap\n",
                ),
                ("src/list.sh", "ls src\n"),
                ("tests/__snapshots__/list.snap", "add.sh\nlist.sh\n"),
            ]))
            .by(&[Way::Reported])
            .green(|work| work.refused(GREEN, "snapshots_changed"))
            .green(|work| work.update(&["tests/__snapshots__/list.snap"]))
            .green(|work| work.warns(&["snapshots_written (tests/__snapshots__/list.snap"])),
    ]);
}

/// New snapshots may come beside those of before; these ask for what they asked for, or it is said which do not.
#[test]
fn snapshots_of_before() {
    go_through([
        run("a new one, and one that asks for something else, as is said")
            .of(TWO.with(&[(KEPT, SNAPSHOT)]))
            .red(|_| {})
            .green(|work| work.write(KEPT, AND_NEW))
            .green(|work| work.warns(&["snapshots_written list.test.ts.snap (doubles 1)"]))
            .red(|_| {})
            .green(|work| work.write(KEPT, &AND_NEW.replace("`add`", "`add, double`")))
            .green(|work| work.refused(GREEN, "snapshots_changed"))
            .green(|work| work.update(&["tests/__snapshots__/other.snap"]))
            .green(|work| work.refused(GREEN, "snapshots_changed"))
            .green(|work| work.delete(KEPT))
            .green(|work| work.refused(GREEN, "snapshots_changed"))
            .green(|work| work.write(KEPT, &AND_NEW.replace("`add`", "`add, double`")))
            .green(|work| work.update(&["tests/__snapshots__/*"]))
            .green(|work| work.warns(&["snapshots_written list.test.ts.snap (lists 1)"])),
    ]);
}
