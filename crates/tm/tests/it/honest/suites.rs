//! Suites that are not all of one piece: tests that failed before, are skipped, have odd names, or come more than once.

use super::work::{ADDS, SHOP, TWO, WAYS, Way, Work};
use super::{go_through, own, run};

/// A test of before asks for more, and the code comes to give it.
fn adds_three() -> String {
    ADDS.replace("1 2) = 3", "1 2 3) = 6")
}

const ADD_THREE: &str = "echo $(($1 + $2 + ${3:-0}))\n";

#[test]
fn tests_that_were_there_before() {
    go_through([
        run("they go on failing")
            .of(TWO.with(&[("tests/old.test", "is known: false\nis known, too: false\n")]))
            .red(|_| {})
            .red(|_| {}),
        run("one that failed is mended on the way")
            .of(SHOP.with(&[("tests/old.test", "is known: test -f src/double.sh\n")])),
        // A test that is skipped from its beginning is no test that was.
        run("they stay skipped")
            .of(TWO.with(&[("tests/old.test", "on another system: skip\n")]))
            .red(|_| {})
            .red(|work| work.append("tests/halve.test", "halves elsewhere: skip\n")),
        run("one that was skipped runs now")
            .of(SHOP.with(&[("tests/double.test", "doubles: skip\n")])),
        own("one breaks in RED and is whole in GREEN", SHOP)
            .red(|work| work.write("tests/add.test", &adds_three()))
            .green(|work| work.write("src/add.sh", ADD_THREE)),
        own("one gets a case of the same name", SHOP)
            .red(|work| work.append("tests/add.test", &adds_three()))
            .green(|work| work.write("src/add.sh", ADD_THREE)),
        // What they did before is found out in a checkout, which lies elsewhere.
        run("they have the folder in their names")
            .of(SHOP.without_baseline().with(&[
                (
                    "before.sh",
                    "echo() { printf '%s\\n' \"$*\" | sed \"s|HERE|$PWD|g\"; }\n",
                ),
                ("tests/old.test", "is in HERE/x: true\n"),
            ]))
            .by(&[Way::Verified]),
    ]);
}

#[test]
fn tests_that_come() {
    go_through([
        run("parameters under one name").red(|work| {
            let more = "doubles: test $(sh src/double.sh 5) = 10\ndoubles: test $(sh src/double.sh 0) = 0\n";
            work.append("tests/double.test", more);
        }),
        run("odd names").red(|work| {
            let names = [
                "doubles \"quoted\" and 'so'",
                "doubles ümläut 日本 🦀",
                "doubles $HOME and `code`",
                "doubles with a very long name, longer than anybody would read, longer than anybody would write by hand, on and on and on",
                "doubles * and ? and [a-z]",
                "doubles <b>&amp;</b>",
                "doubles 100% (twice)",
                "- doubles",
                "doubles/with/slashes::and::colons.and.dots",
                "doubles \u{1f1e9}\u{1f1ea} e\u{301}",
            ];
            let tests = names.map(|name| format!("{name}: test $(sh src/double.sh 4) = 8\n"));
            work.write("tests/a name with spaces & more.test", &tests.concat());
            work.rename("tests/double.test", "tests/näme.test");
        }),
        run("a new file in GREEN comes first, and moves every number")
            .green(|work| work.write("tests/aaa.test", "is first: true\n")),
        run("one of what works already beside one that fails")
            .by(&WAYS)
            .red(|work| {
                let more = "adds nothing: test $(sh src/add.sh 0 0) = 0\n";
                work.append("tests/add.test", more);
            })
            .green(|work| {
                if work.way() == Way::Verified {
                    work.warns(&["passes_without_change adds nothing"]);
                }
            }),
    ]);
}

/// Hands in a report of this test alone.
fn only(work: &Work, name: &str) {
    let path = work.outside().join("partial.tap");
    std::fs::write(&path, format!("TAP version 13\nnot ok 1 - {name}\n1..1\n")).unwrap();
    work.hand_in(&[path.to_str().unwrap()]);
}

#[test]
fn only_the_new_test_in_red_and_the_whole_suite_in_green() {
    go_through([
        run("with a baseline")
            .of(TWO)
            .red(|work| only(work, "doubles"))
            .red(|work| only(work, "halves")),
        run("without one")
            .of(TWO.without_baseline())
            .red(|work| only(work, "doubles"))
            .and(|work| work.warns(&["no_baseline"]))
            .red(|work| only(work, "halves")),
    ]);
}
