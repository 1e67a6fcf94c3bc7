//! Python's own runner, which names its tests where they are run here.

use super::stage::{Stage, VERIFIED_GREEN, VERIFIED_RED};
use crate::rails::environment::{TASKS, TestEnvironment};

const CONFIG: &str =
    r#"{"test": {"command": "python3 -B -m unittest", "patterns": ["test_*.py"]}}"#;

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

/// The command names no test that passes; what it is run with does.
#[test]
fn where_the_suite_is_run_here_the_runner_names_its_tests() {
    let stage = Stage::of(TestEnvironment::with(TASKS, CONFIG));
    stage.write("words.py", BY_SPACES);
    stage.write("test_words.py", TESTS);
    stage.write(".gitignore", "__pycache__/\n");
    stage.commit_all("Words");
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
