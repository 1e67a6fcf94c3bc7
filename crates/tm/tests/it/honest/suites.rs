//! Suites that are not all of one piece: tests that failed before, are skipped, have odd names, or come more than once.

use super::work::{ADDS, SHOP, TWO, WAYS, Way};
use super::{go_through, own, run};

#[test]
fn tests_that_were_there_before() {
    go_through([
        run("one is mended on the way, others go on failing, or stay skipped from their beginning")
            .of(TWO.with(&[
                (
                    "tests/old.test",
                    "is known: false\nis known, too: false\nis mended: test -f src/double.sh\non another system: skip\n",
                ),
                ("tests/double.test", "doubles: skip\n"),
            ]))
            .red(|_| {})
            .red(|work| work.append("tests/halve.test", "halves elsewhere: skip\n")),
        own("one breaks in RED and is whole in GREEN", SHOP)
            .red(|work| work.write("tests/add.test", &ADDS.replace("1 2) = 3", "1 2 3) = 6")))
            .green(|work| work.write("src/add.sh", "echo $(($1 + $2 + ${3:-0}))\n")),
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
        run("odd names, and parameters under one name; the first file moves every number")
            .red(|work| {
                let names = [
                    "doubles",
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
            })
            .green(|work| work.write("tests/aaa.test", "is first: true\n")),
        run("one of what works already beside one that fails")
            .by(&WAYS)
            .red(|work| {
                let more = "adds nothing: test $(sh src/add.sh 0 0) = 0\n";
                work.append("tests/add.test", more);
            }),
    ]);
}
