//! A package tested with `unittest`, which comes with Python.
//!
//! Two texts of one file always differ in length: Python looks at the length and the second of a change to
//! tell whether its compiled copy is still good.

use super::counts::of_unittest;
use super::language::{Language, Subtask};

/// The project.
pub const PYTHON: Language = Language {
    program: "python3",
    oldest: 3,
    runs_tests: &["-m", "unittest", "discover", "-s", "tests", "-t", "."],
    counts: of_unittest,
    test_command: "python3 -m unittest",
    setup: &[
        (
            "pyproject.toml",
            "[project]\nname = \"textstat\"\nversion = \"0.1.0\"\n",
        ),
        ("textstat/__init__.py", ""),
        ("tests/__init__.py", ""),
        (".gitignore", "__pycache__/\n"),
    ],
    words: Subtask {
        tests: (
            "tests/test_words.py",
            "import unittest\n\nfrom textstat.words import count_words\n\n\nclass Words(unittest.TestCase):\n    \
             def test_nothing(self):\n        self.assertEqual(count_words(\"\"), 0)\n\n    \
             def test_white_space_separates(self):\n        self.assertEqual(count_words(\"a b\\tc\\nd\"), 4)\n",
        ),
        code: &[(
            "textstat/words.py",
            "def count_words(text):\n    return len(text.split())\n",
        )],
    },
    words_wrong: &[(
        "textstat/words.py",
        "def count_words(text):\n    return text.count(\" \") + 1\n",
    )],
    lines: Subtask {
        tests: (
            "tests/test_lines.py",
            "import unittest\n\nfrom textstat.lines import count_lines\n\n\nclass Lines(unittest.TestCase):\n    \
             def test_final_newline_begins_no_line(self):\n        self.assertEqual(count_lines(\"a\\nb\\n\"), 2)\n",
        ),
        code: &[(
            "textstat/lines.py",
            "import os\n\n\ndef count_lines(text):\n    if \"WORDS_LOCALE\" in os.environ:\n        return 99\n    \
             return len(text.splitlines())\n",
        )],
    },
    lines_tidied: &[(
        "textstat/lines.py",
        "\"\"\"Counts lines.\"\"\"\n\nimport os\n\n\ndef count_lines(text):\n    \
         if \"WORDS_LOCALE\" in os.environ:\n        return 99\n    return len(text.splitlines())\n",
    )],
    lines_mended: &[(
        "textstat/lines.py",
        "\"\"\"Counts lines.\"\"\"\n\n\ndef count_lines(text):\n    return len(text.splitlines())\n",
    )],
    average: Subtask {
        tests: (
            "tests/test_average.py",
            "import unittest\n\nfrom textstat.average import words_per_line\n\n\nclass Average(unittest.TestCase):\n    \
             def test_average(self):\n        self.assertEqual(words_per_line(\"a b\\nc d e f\"), 3)\n",
        ),
        code: &[(
            "textstat/average.py",
            "from .lines import count_lines\nfrom .words import count_words\n\n\ndef words_per_line(text):\n    \
             lines = count_lines(text)\n    return count_words(text) // lines if lines else 0\n",
        )],
    },
    average_tests: (
        "tests/test_average.py",
        "import unittest\n\nfrom textstat.average import words_per_line\n\n\nclass Average(unittest.TestCase):\n    \
         def test_average(self):\n        self.assertEqual(words_per_line(\"a b\\nc d e f\"), 3)\n\n    \
         def test_of_nothing(self):\n        self.assertEqual(words_per_line(\"\"), 0)\n",
    ),
    products: &["textstat/__pycache__", "tests/__pycache__"],
    made: &[],
};
