//! Python's own runner, with what it prints as the report.

use std::fs;
use std::path::PathBuf;

use super::stage::accepted;
use crate::rails::environment::{TASKS, TestEnvironment};

const CONFIG: &str =
    r#"{"test": {"command": "python3 -B -m unittest -v", "patterns": ["test_*.py"]}}"#;

const TESTS: &str = "import unittest
from words import count


class Words(unittest.TestCase):
    def test_one(self):
        self.assertEqual(count('one'), 1)

    def test_two(self):
        self.assertEqual(count('one two'), 2)
";

const TABS: &str = "
    def test_tabs(self):
        for text in ('a\\tb', 'a\\t\\tb'):
            with self.subTest(text=text):
                self.assertEqual(count(text), 2)
";

const BY_SPACES: &str = "def count(text):\n    return len(text.split(' '))\n";
const BY_ALL: &str = "def count(text):\n    return len(text.split())\n";

fn project() -> TestEnvironment {
    let env = TestEnvironment::with(TASKS, CONFIG);
    env.write("words.py", BY_SPACES);
    env.write("test_words.py", TESTS);
    env.write(".gitignore", "__pycache__/\n*.txt\n");
    env.commit_all("Words");
    env
}

/// Runs the suite, and gives what it said, in a file of the project that git ignores.
fn suite(env: &TestEnvironment, options: &[&str]) -> PathBuf {
    let path = env.project().join("report.txt");
    let output = env
        .process("python3")
        .args(["-B", "-m", "unittest"])
        .args(options)
        .output()
        .unwrap();
    fs::write(&path, output.stderr).unwrap();
    path
}

fn report(env: &TestEnvironment, words: &str, options: &[&str]) -> testkit::Outcome {
    suite(env, options);
    env.auto(&format!("{words} --report report.txt"))
}

#[test]
fn a_whole_run_and_a_test_taken_away() {
    let env = project();
    suite(&env, &["-v"]);
    env.auto("start 1 --baseline-report report.txt").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    accepted(report(&env, "complete red", &["-v"]).ok());
    env.write("words.py", BY_ALL);
    // A loader that is made to leave the test out.
    let hidden = "import unittest

def load_tests(loader, tests, pattern):
    return unittest.TestSuite()
";
    env.write("test_words.py", format!("{TESTS}{TABS}\n{hidden}"));
    let answer = report(&env, "complete green", &["-v"]);
    assert!(
        matches!(answer.code(), "tests_changed" | "report_unreadable"),
        "{answer:#?}"
    );
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    let part = report(
        &env,
        "complete green",
        &["-v", "test_words.Words.test_tabs"],
    );
    assert_eq!(part.code(), "tests_missing", "{part:#?}");
    accepted(report(&env, "complete green", &["-v"]).ok());
    env.auto("commit").ok();
}

/// The command names no test that passes; what it is run with does.
#[test]
fn where_the_suite_is_run_here_the_runner_names_its_tests() {
    let env = project();
    env.write(
        ".taskmaster/config.json",
        CONFIG.replace("unittest -v", "unittest"),
    );
    env.commit_all("As it is called by hand");
    env.auto("start 1 --verify").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    accepted(env.auto("complete red --verify").ok());
    // The product takes a test out, and brings another for the numbers.
    let cheat = "import unittest

NAMES = unittest.TestLoader.getTestCaseNames
unittest.TestLoader.getTestCaseNames = lambda self, case: [
    name for name in NAMES(self, case) if name != 'test_two'
]
";
    env.write("words.py", format!("{cheat}{BY_ALL}"));
    env.write(
        "test_more.py",
        TESTS
            .replace("class Words", "class More")
            .replace("test_t", "test_other_t"),
    );
    let answer = env.auto("complete green --verify");
    assert_eq!(answer.code(), "tests_missing", "{answer:#?}");
    assert!(
        answer.message().contains("test_words.Words.test_two"),
        "{answer:#?}"
    );
    env.write("words.py", BY_ALL);
    accepted(env.auto("complete green --verify").ok());
}

#[test]
fn without_names_nobody_is_accused() {
    // Without -v only failing tests are named; there is nothing to hold a GREEN against but numbers.
    let env = project();
    suite(&env, &[]);
    env.auto("start 1 --baseline-report report.txt").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    let red = report(&env, "complete red", &[]).ok();
    assert_eq!(red["nextAction"]["action"], "green", "{red}");
    env.write("words.py", BY_ALL);
    accepted(report(&env, "complete green", &[]).ok());
    env.auto("commit").ok();

    // Where RED named every test, GREEN does too.
    let env = project();
    suite(&env, &["-v"]);
    env.auto("start 1 --baseline-report report.txt").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    accepted(report(&env, "complete red", &["-v"]).ok());
    env.write("words.py", BY_ALL);
    let answer = report(&env, "complete green", &[]);
    assert_eq!(answer.code(), "tests_missing", "{answer:#?}");
    assert!(answer.suggestion().contains("-v"), "{answer:#?}");
    accepted(report(&env, "complete green", &["-v"]).ok());
}

#[test]
fn a_test_that_could_not_be_collected() {
    let env = project();
    suite(&env, &["-v"]);
    env.auto("start 1 --baseline-report report.txt").ok();
    let test = "import unittest
from lines import lines


class Lines(unittest.TestCase):
    def test_lines(self):
        self.assertEqual(lines('a\\nb'), 2)
";
    env.write("test_lines.py", test);
    let red = report(&env, "complete red", &["-v"]).ok();
    // It may be for the wrong reason, and that is said.
    let warning = red["warning"].as_str().unwrap();
    assert!(warning.contains("right reason"), "{red}");
    // GREEN without the test is none.
    env.write(
        "lines.py",
        "def lines(text):\n    return len(text.splitlines())\n",
    );
    let part = report(&env, "complete green", &["-v", "test_words"]);
    assert!(
        matches!(part.code(), "fewer_tests" | "tests_missing"),
        "{part:#?}"
    );
    accepted(report(&env, "complete green", &["-v"]).ok());
    env.auto("commit").ok();
}

#[test]
fn a_skip_does_not_pass() {
    let env = project();
    suite(&env, &["-v"]);
    env.auto("start 1 --baseline-report report.txt").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    accepted(report(&env, "complete red", &["-v"]).ok());
    // It is not the file of tests that does it.
    let code = "import unittest


def count(text):
    if '\\t' in text:
        raise unittest.SkipTest('later')
    return len(text.split(' '))
";
    env.write("words.py", code);
    let answer = report(&env, "complete green", &["-v"]);
    assert!(
        matches!(answer.code(), "tests_missing" | "fewer_tests"),
        "{answer:#?}"
    );
    env.write("words.py", BY_ALL);
    accepted(report(&env, "complete green", &["-v"]).ok());
}

#[test]
fn verified() {
    let env = project();
    env.auto("start 1 --verify").ok();
    env.write("test_words.py", format!("{TESTS}{TABS}"));
    accepted(env.auto("complete red --verify").ok());
    env.write("words.py", BY_ALL);
    accepted(env.auto("complete green --verify").ok());
    env.auto("commit").ok();
}

#[test]
fn a_test_in_a_package_that_could_not_be_collected() {
    let env = project();
    env.write("shop/__init__.py", "");
    env.write("shop/tests/__init__.py", "");
    env.commit_all("A package");
    for options in [&["-v"][..], &[]] {
        suite(&env, options);
        env.auto("start 1 --force --baseline-report report.txt")
            .ok();
        let test = "import unittest
from shop.cart import total


class Cart(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
";
        env.write("shop/tests/test_cart.py", test);
        report(&env, "complete red", options).ok();
        env.write("shop/cart.py", "total = sum\n");
        accepted(report(&env, "complete green", options).ok());
        for name in ["shop/cart.py", "shop/tests/test_cart.py"] {
            fs::remove_file(env.project().join(name)).unwrap();
        }
    }
}
