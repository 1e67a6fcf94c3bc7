//! A real project, driven from start to report with its own test runner: three subtasks, a cheat, a retry, two times back, a repair
//! at the end.

use crate::honest::work::{Before, COMMIT, FINALIZE, GREEN, RED, SHOP, TASKS_FILE, Work, code_of};

/// The second subtask waits for the other two, so the third comes before it.
const TASKS: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Text statistics",
        "status": "pending",
        "subtasks": [
          { "id": 1, "title": "Count words", "description": "Words of a text.", "status": "pending" },
          { "id": 2, "title": "Average words per line", "status": "pending", "dependencies": [1, 3] },
          { "id": 3, "title": "Count lines", "description": "Lines of a text.", "status": "pending" }
        ]
      }
    ],
    "metadata": { "kept": [1,  2] }
  }
}
"#;

const PROJECT: Before<'static> = SHOP
    .files(&[
        ("textstat/__init__.py", ""),
        ("tests/__init__.py", ""),
        (".gitignore", "__pycache__/\nwinter\n"),
    ])
    .command("python3 -m unittest -v")
    .test("")
    .without_baseline()
    .prepared(|work| work.write(TASKS_FILE, TASKS));

const WORDS: &str = "def count(text):\n    return len(text.split())\n";
/// It fails as long as a file is there that git does not know.
const LINES: &str = "import os\n\n\ndef count(text):\n    if os.path.exists(\"winter\"):\n        return 99\n    return len(text.splitlines())\n";
const AVERAGE: &str = "from . import lines, words\n\n\ndef count(text):\n    return words.count(text) // (lines.count(text) or 1)\n";

/// Writes the tests of a module: a text, and the number that comes of it.
fn test(work: &Work, module: &str, cases: &[(&str, u32)]) {
    let mut text = format!(
        "import unittest\n\nfrom textstat.{module} import count\n\n\nclass Tests(unittest.TestCase):\n"
    );
    for (number, (given, count)) in cases.iter().enumerate() {
        let checked = format!("self.assertEqual(count({given:?}), {count})");
        let test = format!("    def test_{number}(self):\n        {checked}\n\n");
        text.push_str(&test);
    }
    work.write(&format!("tests/test_{module}.py"), &text);
}

fn code(work: &Work, module: &str, text: &str) {
    work.write(&format!("textstat/{module}.py"), text);
}

/// Reports RED of this subtask, whose module is not there yet.
fn red(work: &Work, subtask: &str) {
    work.warns(&["red_only_errors"]);
    let red = work.red();
    assert_eq!(red["nextAction"]["subtask"]["id"], subtask, "{red:#}");
}

#[test]
fn a_python_project_with_unittest() {
    let work = PROJECT.begin();
    let cheat = work
        .ask(&["complete", "red", "--results", "failed:1,passed:0"])
        .1;
    assert_eq!(code_of(&cheat), "red_without_tests");
    test(&work, "words", &[("", 0), ("a b\tc\nd", 4)]);
    work.accepted(RED);
    code(
        &work,
        "words",
        "def count(text):\n    return text.count(\" \") + 1\n",
    );
    let retry = work.refused(GREEN, "green_tests_still_failing");
    assert_eq!(retry["nextAction"]["attempt"], 2, "{retry:#}");
    code(&work, "words", WORDS);
    work.green();
    let first = work.commit();
    assert_eq!(
        first,
        [TASKS_FILE, "tests/test_words.py", "textstat/words.py"]
    );

    // From COMMIT one phase back.
    test(&work, "lines", &[("a\nb\n", 2)]);
    red(&work, "1.3");
    code(&work, "lines", LINES);
    work.green();
    work.tm(&["reopen", "--reason", "it is not tidy"]);
    code(
        &work,
        "lines",
        &format!("\"\"\"Counts lines.\"\"\"\n\n{LINES}"),
    );
    work.green();
    work.commit();

    // From GREEN one phase back; and an edit after the accepted GREEN is not committed.
    test(&work, "average", &[("a b\nc d e f", 3)]);
    red(&work, "1.2");
    work.tm(&["reopen", "--reason", "a test is missing"]);
    test(&work, "average", &[("a b\nc d e f", 3), ("", 0)]);
    red(&work, "1.2");
    code(&work, "average", AVERAGE);
    work.green();
    code(&work, "average", &format!("{AVERAGE}\n"));
    work.refused(COMMIT, "changed_after_green");
    code(&work, "average", AVERAGE);
    work.commit();

    // The suite fails where it was never run before; a repair mends it.
    work.write("winter", "");
    let repair = work.refused(FINALIZE, "suite_failing");
    assert_eq!(repair["nextAction"]["subtask"]["id"], "1.fix-1");
    code(&work, "lines", &LINES.replace("\"winter\"", "\"\""));
    work.goes_through();
    look_at_git(&work);
    look_at_the_run(&work);
}

fn look_at_git(work: &Work) {
    let log = work.git(&["log", "--reverse", "--format=%s", "main..HEAD"]);
    let types = log
        .lines()
        .map(|subject| subject.split(['(', ':']).next().unwrap());
    assert!(types.eq(["feat", "feat", "feat", "fix", "chore"]), "{log}");
    let subtasks = [
        "(task 1.1)",
        "(task 1.3)",
        "(task 1.2)",
        "(task 1.fix-1)",
        "to review",
    ];
    let mut told = log.lines().zip(subtasks);
    assert!(told.all(|(line, end)| line.ends_with(end)), "{log}");
    // Nothing but the four words changed.
    let done = TASKS.replace("\"pending\"", "\"done\"");
    let expected = done.replacen("\"done\"", "\"review\"", 1);
    assert_eq!(work.read(TASKS_FILE), expected);
}

fn look_at_the_run(work: &Work) {
    let folder = work.run_folder();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let commits = work.git(&["log", "--reverse", "--format=%H", "main..HEAD"]);
    assert_eq!(read("commits.txt").trim_end(), commits);
    let report = read("report.md");
    for text in [
        "Text statistics",
        "Count lines",
        "it is not tidy",
        "a test is missing",
    ] {
        assert!(report.contains(text), "{text} is not in {report}");
    }
}
