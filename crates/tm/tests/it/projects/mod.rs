//! A real project, driven from start to report with its own test runner: two subtasks, a retry, a time back, a repair at the end.

use crate::honest::languages::PYTHON;
use crate::honest::work::{Before, COMMIT, FINALIZE, GREEN, RED, TASKS_FILE, Work};

/// The second subtask waits for the third one.
const TASKS: &str = r#"{ "master": { "tasks": [ { "id": 1, "title": "Text statistics", "status": "pending", "subtasks": [
  { "id": 2, "title": "Average words per line", "status": "pending", "dependencies": [3] },
  { "id": 3, "title": "Count lines", "description": "Lines of a text.", "status": "pending" }
] } ], "metadata": { "kept": [1,  2] } } }
"#;

const PROJECT: Before<'static> = PYTHON
    .with(&[(".gitignore", "__pycache__/\nwinter\n")])
    .without_baseline()
    .prepared(|work| work.write(TASKS_FILE, TASKS));

/// It fails as long as a file is there that git does not know.
const LINES: &str = "import os\n\n\ndef count(text):\n    if os.path.exists(\"winter\"):\n        return 99\n    return len(text.splitlines())\n";
const AVERAGE: &str = "import lines\n\n\ndef count(text):\n    return len(text.split()) // (lines.count(text) or 1)\n";

/// Writes the test of a module: a text, and the number that comes of it.
fn test(work: &Work, module: &str, given: &str, count: u32) {
    let text = format!(
        "import unittest\n\nfrom {module} import count\n\n\nclass Tests(unittest.TestCase):\n    def test_count(self):\n        self.assertEqual(count({given:?}), {count})\n"
    );
    work.write(&format!("tests/test_{module}.py"), &text);
}

#[test]
fn a_python_project_with_unittest() {
    testkit::by_chance!(3);
    let work = PROJECT.begin();
    test(&work, "lines", "a\nb\n", 2);
    let red = work.accepted(RED);
    assert_eq!(red["nextAction"]["subtask"]["id"], "1.3", "{red:#}");
    work.write("lines.py", "def count(text):\n    return 1\n");
    let retry = work.refused(GREEN, "green_tests_still_failing");
    assert_eq!(retry["nextAction"]["attempt"], 2, "{retry:#}");
    work.write("lines.py", LINES);
    work.green();
    work.reopen("green");
    work.green();
    work.commit();

    // An edit after the accepted GREEN is not committed.
    test(&work, "average", "a b\nc d e f", 3);
    work.accepted(RED);
    work.write("average.py", AVERAGE);
    work.green();
    work.write("average.py", &format!("{AVERAGE}\n"));
    work.refused(COMMIT, "changed_after_green");
    work.write("average.py", AVERAGE);
    assert_eq!(
        work.commit(),
        [TASKS_FILE, "average.py", "tests/test_average.py"]
    );

    // The suite fails where it was never run before; a repair mends it.
    work.write("winter", "");
    let repair = work.refused(FINALIZE, "suite_failing");
    assert_eq!(repair["nextAction"]["subtask"]["id"], "1.fix-1");
    work.write("lines.py", &LINES.replace("\"winter\"", "\"\""));
    work.goes_through();
    let log = work.git(&["log", "--reverse", "--format=%s", "main..HEAD"]);
    let subtasks = [
        "feat (task 1.3)",
        "feat (task 1.2)",
        "fix (task 1.fix-1)",
        "chore to review",
    ];
    let mut told = log
        .lines()
        .zip(subtasks.map(|told| told.split_once(' ').unwrap()));
    assert!(
        told.all(|(line, (kind, end))| line.starts_with(kind) && line.ends_with(end)),
        "{log}"
    );
    // Nothing but the three words changed.
    let done = TASKS.replace("\"pending\"", "\"done\"");
    assert_eq!(
        work.read(TASKS_FILE),
        done.replacen("\"done\"", "\"review\"", 1)
    );
    let folder = work.run_folder();
    let commits = work.git(&["log", "--reverse", "--format=%H", "main..HEAD"]);
    let kept = std::fs::read_to_string(folder.join("commits.txt")).unwrap();
    assert_eq!(kept.trim_end(), commits);
    let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(
        report.contains("Count lines") && report.contains("back to green"),
        "{report}"
    );
}
