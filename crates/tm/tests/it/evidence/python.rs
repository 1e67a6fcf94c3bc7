//! Python's own runner, with what it prints as the report.

use super::stage::{GREEN, RED, Stage, VERIFIED_GREEN, VERIFIED_RED, warns};
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

fn project() -> Stage {
    let stage = Stage::of(TestEnvironment::with(TASKS, CONFIG));
    stage.write("words.py", BY_SPACES);
    stage.write("test_words.py", TESTS);
    stage.write(".gitignore", "__pycache__/\n*.txt\n");
    stage.commit_all("Words");
    stage
}

/// Runs the suite with these options, and says that it was. What it printed is in a file of the project that git ignores.
fn words(stage: &Stage, words: &str, options: &str) -> String {
    let mut suite = stage.process("python3");
    suite
        .args(["-B", "-m", "unittest"])
        .args(options.split_whitespace());
    stage.write("report.txt", suite.output().unwrap().stderr);
    format!("{words} --report report.txt")
}

fn start(stage: &Stage, options: &str) {
    let start = words(stage, "start 1", options).replace("--report", "--baseline-report");
    stage.auto(&start).ok();
}

#[test]
fn a_test_is_taken_away_or_skipped() {
    const TABS_ALONE: &str = "-v test_words.Words.test_tabs";
    let loader = "import unittest

def load_tests(loader, tests, pattern):
    return unittest.TestSuite()
";
    // It is not the file of tests that does it.
    let skips = "import unittest


def count(text):
    if '\\t' in text:
        raise unittest.SkipTest('later')
    return len(text.split(' '))
";
    let stage = project();
    start(&stage, "-v");
    let tests = format!("{TESTS}{TABS}");
    stage.write("test_words.py", &tests);
    stage.accepted(&words(&stage, RED, "-v"));
    for (code, options, refused) in [
        (BY_ALL, TABS_ALONE, "tests_missing"),
        (BY_ALL, "", "tests_missing"),
        (skips, "-v", "fewer_tests"),
    ] {
        stage.write("words.py", code);
        stage.refused(&words(&stage, GREEN, options), refused, &[]);
    }
    stage.write("words.py", BY_ALL);
    stage.write("test_words.py", format!("{tests}\n{loader}"));
    let none = stage.auto(&words(&stage, GREEN, "-v"));
    none.fault(2, "report_unreadable");
    stage.write("test_words.py", tests);
    stage.accepted(&words(&stage, GREEN, "-v"));
}

/// The command names no test that passes; what it is run with does.
#[test]
fn where_the_suite_is_run_here_the_runner_names_its_tests() {
    let stage = project();
    let by_hand = CONFIG.replace("unittest -v", "unittest");
    stage.write(".taskmaster/config.json", by_hand);
    stage.commit_all("As it is called by hand");
    stage.auto("start 1 --verify").ok();
    stage.write("test_words.py", format!("{TESTS}{TABS}"));
    stage.accepted(VERIFIED_RED);
    // The product takes a test out, and brings another for the numbers.
    let cheat = "import unittest

NAMES = unittest.TestLoader.getTestCaseNames
unittest.TestLoader.getTestCaseNames = lambda self, case: [
    name for name in NAMES(self, case) if name != 'test_two'
]
";
    stage.write("words.py", format!("{cheat}{BY_ALL}"));
    let more = TESTS.replace("class Words", "class More");
    stage.write("test_more.py", more.replace("test_t", "test_other_t"));
    let missing = "test_words.Words.test_two";
    stage.refused(VERIFIED_GREEN, "tests_missing", &[missing]);
    stage.write("words.py", BY_ALL);
    stage.accepted(VERIFIED_GREEN);
}

#[test]
fn a_test_that_could_not_be_collected() {
    let test = "import unittest
from shop.cart import total


class Cart(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
";
    for (folder, module, options) in [
        ("", "shop_cart", "-v"),
        ("shop/tests/", "shop.cart", "-v"),
        ("shop/tests/", "shop.cart", ""),
    ] {
        let stage = project();
        stage.write("shop/__init__.py", "");
        stage.write("shop/tests/__init__.py", "");
        stage.commit_all("A package");
        start(&stage, options);
        let test = test.replace("shop.cart", module);
        stage.write(&format!("{folder}test_cart.py"), test);
        let red = stage.auto(&words(&stage, RED, options)).ok();
        // It may be for the wrong reason, and that is said.
        warns(&red, "right reason");
        let code = format!("{}.py", module.replace('.', "/"));
        stage.write(&code, "total = sum\n");
        // GREEN without the test is none.
        if options == "-v" {
            let part = stage.auto(&words(&stage, GREEN, "-v test_words"));
            let is_missed = ["fewer_tests", "tests_missing"].contains(&part.code());
            assert!(is_missed, "{module}: {part:#?}");
        }
        stage.accepted(&words(&stage, GREEN, options));
    }
}
