//! Changes of tests in GREEN that change no test: another form, another place, and what a runner writes.

use super::work::{Before, GREEN, SHOP, TWO, Work};
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

const SHOWS: &str = "it('shows', () => expect(show()).toMatchInlineSnapshot())\n";

#[test]
fn snapshots_that_come() {
    go_through([run("one of the runner's own, and one within a test")
        .of(SHOP_IN_MANY)
        .red(|work| work.write("tests/show.spec.js", SHOWS))
        .and(|work| {
            let keeps = "keeps: d=tests/__snapshots__; mkdir -p $d && sh src/double.sh 4 >$d/new && \
             { test -f $d/double.snap || cp $d/new $d/double.snap; } && cmp $d/new $d/double.snap; was=$?; rm -f $d/new; exit $was\n";
            work.write("tests/keeps.test", keeps);
        })
        .green(|work| {
            // Who has it written into the test shows it with the test.
            work.write("tests/show.spec.js", &SHOWS.replace("Snapshot())", "Snapshot(`8`))"));
            work.refused(GREEN, "tests_changed");
            work.write("tests/show.spec.js", SHOWS);
            work.warns(&["snapshots_written (tests/__snapshots__/double.snap"]);
        })]);
}

/// New snapshots may come beside those of before, which ask for what they asked for.
#[test]
fn snapshots_of_before() {
    go_through([run("a new one, and one that asks for something else")
        .of(TWO.with(&[(KEPT, SNAPSHOT)]))
        .red(|_| {})
        .green(|work| work.write(KEPT, AND_NEW))
        .green(|work| work.warns(&["snapshots_written list.test.ts.snap (doubles 1)"]))
        .red(|_| {})
        .green(|work| work.write(KEPT, &AND_NEW.replace("`add`", "`add, double`")))
        .green(|work| work.refused(GREEN, "tests_changed"))
        .green(|work| work.delete(KEPT))
        .green(|work| work.refused(GREEN, "tests_changed"))
        .green(|work| work.write(KEPT, AND_NEW))]);
}
