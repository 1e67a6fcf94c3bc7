//! The story that is told in every language: three subtasks, a cheat, a retry, two times back, a repair at the end.

use std::fs;

use super::counts::Counts;
use super::language::Language;
use super::project::{Project, TASKS_PATH};

/// Tells it, if the language is there.
pub fn tell(language: &Language) {
    let Some(project) = Project::new(language) else {
        return;
    };
    let tasks = project.read(TASKS_PATH);
    let started = project.tm(&["autopilot", "start", "1"], 0);
    assert_eq!(started["nextAction"]["subtask"]["id"], "1.1");
    let next = project.tm(&["autopilot", "next"], 0);
    assert_eq!(next["context"]["testCommand"], language.test_command);

    words(&project, language);
    lines(&project, language);
    average(&project, language);
    end(&project, language);
    look_at_git(&project, language, &tasks);
    look_at_the_run(&project);
}

/// A cheat is refused, and a first try at the code is not good enough.
fn words(project: &Project<'_>, language: &Language) {
    let made_up = Counts {
        failed: 1,
        ..Counts::default()
    };
    let cheat = project.complete("red", "1.1", made_up, 3);
    assert_eq!(cheat["code"], "red_without_tests");

    project.write_all(&[language.words.tests]);
    let red = project.run_tests();
    assert!(red.failed + red.errors > 0, "{red:?}");
    project.complete("red", "1.1", red, 0);

    project.write_all(language.words_wrong);
    let wrong = project.run_tests();
    assert_eq!((wrong.passed, wrong.failed, wrong.errors), (0, 2, 0));
    let retry = project.complete("green", "1.1", wrong, 3);
    assert_eq!(retry["code"], "green_tests_still_failing");
    assert_eq!(retry["nextAction"]["attempt"], 2);

    project.write_all(language.words.code);
    project.complete("green", "1.1", passed(project, 2), 0);
    commit(project, "1.1");
}

/// The third comes before the second, which waits for it. From COMMIT one phase back.
fn lines(project: &Project<'_>, language: &Language) {
    project.write_all(&[language.lines.tests]);
    project.complete("red", "1.3", project.run_tests(), 0);
    project.write_all(language.lines.code);
    project.complete("green", "1.3", passed(project, 3), 0);
    let back = project.tm(&["autopilot", "reopen", "--reason", "it is not tidy"], 0);
    assert_eq!(back["nextAction"]["action"], "green");
    project.write_all(language.lines_tidied);
    project.complete("green", "1.3", passed(project, 3), 0);
    commit(project, "1.3");
}

/// From GREEN one phase back; and an edit after the accepted GREEN is not committed.
fn average(project: &Project<'_>, language: &Language) {
    project.write_all(&[language.average.tests]);
    project.complete("red", "1.2", project.run_tests(), 0);
    let back = project.tm(&["autopilot", "reopen", "--reason", "a test is missing"], 0);
    assert_eq!(back["nextAction"]["action"], "red");
    project.write_all(&[language.average_tests]);
    project.complete("red", "1.2", project.run_tests(), 0);
    project.write_all(language.average.code);
    project.complete("green", "1.2", passed(project, 5), 0);

    let (path, text) = language.average.code[0];
    fs::write(project.project().join(path), format!("{text}\n")).unwrap();
    let cheat = project.tm(&["autopilot", "commit", "1.2"], 3);
    assert_eq!(cheat["code"], "changed_after_green");
    project.write(path, text);
    commit(project, "1.2");
}

/// The suite fails where it was never run before; a repair mends it.
fn end(project: &Project<'_>, language: &Language) {
    let elsewhere = [("WORDS_LOCALE", "de")];
    let failing = project.run_tests_with(&elsewhere);
    assert!(failing.failed > 0 && failing.passed > 0, "{failing:?}");
    let finalize = |counts: Counts, status| {
        project.tm(
            &["autopilot", "finalize", "--results", &counts.results()],
            status,
        )
    };
    let repair = finalize(failing, 3);
    assert_eq!(repair["code"], "suite_failing");
    assert_eq!(repair["nextAction"]["subtask"]["id"], "1.fix-1");

    project.write_all(language.lines_mended);
    let mended = project.run_tests_with(&elsewhere);
    project.complete("green", "1.fix-1", mended, 0);
    commit(project, "1.fix-1");
    assert_eq!((mended.passed, mended.failed, mended.errors), (5, 0, 0));
    let over = finalize(mended, 0);
    assert_eq!(over["nextAction"]["action"], "complete");
    assert_eq!(over["nextAction"]["status"], "completed");
}

/// The runner must say that so many tests pass and none fails.
fn passed(project: &Project<'_>, number: u64) -> Counts {
    let counts = project.run_tests();
    let expected = Counts {
        passed: number,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
    counts
}

fn commit(project: &Project<'_>, subtask: &str) {
    let commit = project.tm(&["autopilot", "commit", subtask], 0);
    assert_eq!(
        commit["commitSha"],
        project.git(&["rev-parse", "HEAD"]).as_str()
    );
    assert_eq!(project.git(&["status", "--porcelain"]), "", "{commit}");
}

fn look_at_git(project: &Project<'_>, language: &Language, tasks: &str) {
    let subjects = project.git(&["log", "--reverse", "--format=%s", "main..HEAD"]);
    let expected = [
        ("feat", "count words (task 1.1)"),
        ("feat", "count lines (task 1.3)"),
        ("feat", "Average words per line (task 1.2)"),
        ("fix", "repair the failing suite (task 1.fix-1)"),
        ("chore", "set task 1 to review"),
    ];
    assert_eq!(subjects.lines().count(), expected.len(), "{subjects}");
    for (subject, (kind, text)) in subjects.lines().zip(expected) {
        assert!(
            subject.starts_with(kind) && subject.ends_with(text),
            "{subjects}"
        );
    }
    let body = project.git(&["log", "-1", "--format=%b", "HEAD~4"]);
    assert!(
        body.contains("Words of a text.\n") && body.ends_with("Tests: 2 passing"),
        "{body}"
    );

    // Nothing but the four words changed.
    let expected = tasks
        .replace("\"status\": \"pending\"", "\"status\": \"done\"")
        .replacen("\"status\": \"done\"", "\"status\": \"review\"", 1);
    assert_eq!(project.read(TASKS_PATH), expected);
    assert_eq!(project.git(&["status", "--porcelain"]), "");

    let known = project.git(&["ls-files"]);
    for product in language.products {
        assert!(
            project.project().join(product).exists(),
            "{product} is not there"
        );
        assert!(
            !known.lines().any(|path| path.starts_with(product)),
            "{known}"
        );
    }
    let first = project.git(&["show", "--format=", "--name-only", "HEAD~4"]);
    let (tests, _) = language.words.tests;
    let (code, _) = language.words.code[0];
    for file in language.made.iter().chain([&tests, &code, &TASKS_PATH]) {
        assert!(
            first.lines().any(|line| line == *file),
            "{file} is not in {first}"
        );
    }
}

fn look_at_the_run(project: &Project<'_>) {
    let folder = project.run_folder();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(read("state.json").len() <= 4096);
    let commits = project.git(&["log", "--reverse", "--format=%H", "main..HEAD"]);
    assert_eq!(read("commits.txt").trim_end(), commits);
    let report = read("report.md");
    for text in [
        "# Task 1: Text statistics",
        "Count lines",
        "it is not tidy",
        "a test is missing",
    ] {
        assert!(report.contains(text), "{text} is not in {report}");
    }
    for name in [
        "subtask-1.1-red",
        "subtask-1.1-green-failed-1",
        "subtask-1.1-green",
        "subtask-1.2-red",
        "subtask-1.3-green",
        "subtask-1.fix-1-green",
        "final-suite",
    ] {
        let text = read(&format!("test-results/{name}.json"));
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            "{name}: {text}"
        );
    }
    let run = folder.file_name().unwrap().to_str().unwrap();
    let verified = project.tm(&["log", "verify", run], 0);
    assert_eq!(verified["whole"], true);
}
