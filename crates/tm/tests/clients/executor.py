"""What an executor writes, subtask for subtask."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subtask:
    """The files of one subtask. Each test imports by itself, so that each fails by itself."""

    test: str
    tests: str
    file: str
    code: str
    wrong: str = ""
    more_tests: str = ""


def suite(module, function, cases):
    tests = [
        f"    def test_{name}(self):\n"
        f"        from textstat.{module} import {function}\n\n"
        f"        self.assertEqual({function}({text!r}), {expected})\n"
        for name, text, expected in cases
    ]
    return f"import unittest\n\n\nclass {module.title()}(unittest.TestCase):\n" + "\n".join(tests)


WORD_CASES = [("white_space_separates", "a b\tc\nd", 4), ("nothing_has_no_words", "", 0)]

WORDS = Subtask(
    test="tests/test_words.py",
    tests=suite("words", "count_words", WORD_CASES),
    more_tests=suite("words", "count_words", [*WORD_CASES, ("space_around_does_not_count", " a ", 1)]),
    file="textstat/words.py",
    wrong="def count_words(text):\n    return len(text.split(' '))\n",
    code="def count_words(text):\n    return len(text.split())\n",
)

LINES = Subtask(
    test="tests/test_lines.py",
    tests=suite("lines", "count_lines", [("a_final_newline_begins_no_line", "a\nb\n", 2)]),
    file="textstat/lines.py",
    code="def count_lines(text):\n    return len(text.splitlines())\n",
)

AVERAGE = Subtask(
    test="tests/test_average.py",
    tests=suite("average", "words_per_line", [("an_average", "a b\nc d e f\n", 3)]),
    file="textstat/average.py",
    code=(
        "from textstat.lines import count_lines\nfrom textstat.words import count_words\n\n\n"
        "def words_per_line(text):\n    return count_words(text) / count_lines(text)\n"
    ),
)
