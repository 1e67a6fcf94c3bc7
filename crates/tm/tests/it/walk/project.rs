//! What becomes of the project's files around a run: settings, templates, tasks, branches of earlier runs.

use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

fn to_green() -> Work {
    let work = Work::begin(&SHOP, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work
}

const CONFIG: &str = ".taskmaster/config.json";

#[test]
fn settings_are_damaged() {
    for damage in ["{\"test\": {", "", "{\"test\": {\"command\": 7}}", "null"] {
        let work = to_green();
        let whole = work.read(CONFIG);
        std::fs::write(work.outside().join("config"), &whole).unwrap();
        work.write(CONFIG, damage);
        let deed = |work: &Work| {
            let whole = std::fs::read_to_string(work.outside().join("config")).unwrap();
            work.write(CONFIG, &whole);
        };
        walk(
            &work,
            |work| work.report(&["complete", "green"]),
            "config_invalid",
            &[(CONFIG, deed)],
        );
    }
}

#[test]
fn settings_are_loosened() {
    let before = Before {
        settings: r#""evidence": {"require": "reported"}"#,
        ..SHOP
    };
    let work = Work::begin(&before, Way::Reported);
    work.write("tests/double.test", DOUBLES);
    work.replace(CONFIG, "reported", "claimed");
    let deed = |work: &Work| work.replace(CONFIG, "claimed", "reported");
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "config_loosened",
        &[("put the settings back", deed)],
    );
}

#[test]
fn the_test_command_is_replaced() {
    let work = to_green();
    work.replace(CONFIG, "sh run.sh", "sh other.sh");
    work.write("other.sh", "touch ran\n");
    let deed = |work: &Work| {
        work.replace(CONFIG, "sh other.sh", "sh run.sh");
        work.delete("other.sh");
    };
    assert!(
        !work.root().join("ran").exists(),
        "it was run before it was refused"
    );
    walk(
        &work,
        |work| work.ask(&["complete", "green", "--verify"]),
        "command_replaced",
        &[("put it back", deed)],
    );
}

#[test]
fn the_tasks_file_is_gone() {
    let work = to_green();
    work.green();
    work.delete(".taskmaster/tasks/tasks.json");
    walk(&work, |work| work.report_commit(&[]), "tasks_missing", &[]);
    work.finalize();
}

#[test]
fn a_secret_lies_about() {
    let work = to_green();
    work.write(".env", "KEY=1\n");
    let deed = |work: &Work| work.delete(".env");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "secret_file",
        &[("move the file away", deed)],
    );
    work.commit();
}

#[test]
fn a_build_leaves_its_products() {
    let work = to_green();
    work.write("src/__pycache__/double.cpython-311.pyc", "x");
    let deed = |work: &Work| work.write(".gitignore", "__pycache__/\n");
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "build_products",
        &[("add to .gitignore", deed)],
    );
    work.commit();
}

#[test]
fn a_file_that_is_not_changed_is_named() {
    let work = to_green();
    work.green();
    walk(
        &work,
        |work| work.report_commit(&["--files", "run.sh"]),
        "file_not_changed",
        &[],
    );
}

#[test]
fn a_template_is_damaged() {
    let work = Work::begin(&SHOP, Way::Reported);
    work.write(".taskmaster/templates/green.md", "{% if %}\n");
    work.write("tests/double.test", DOUBLES);
    let deed = |work: &Work| work.delete(".taskmaster/templates/green.md");
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "bad_template",
        &[("take the file away", deed)],
    );
}

#[test]
fn a_run_begins_again_on_the_branch_of_an_earlier_one() {
    let work = Work::begin(&SHOP, Way::Reported);
    work.tm(&["abort"]);
    work.git(&["switch", "--quiet", "main"]);
    work.replace(
        CONFIG,
        "\"test\"",
        "\"evidence\": {\"require\": \"reported\"}, \"test\"",
    );
    work.git(&["commit", "--quiet", "--all", "--message", "Ask for reports"]);
    let main = work.git(&["rev-parse", "HEAD"]);
    work.tm(&["start", "1"]);
    assert_eq!(work.git(&["rev-parse", "HEAD"]), main);
    work.write("tests/double.test", DOUBLES);
    let answer = work.report(&["complete", "red"]).1;
    assert_eq!(answer["validated"], true, "{answer:#}");
}

#[test]
fn the_branch_of_an_earlier_run_is_behind_in_its_settings() {
    let before = Before { task: "2", ..SHOP };
    let work = Work::begin(&before, Way::Reported);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work.tm(&["abort"]);
    work.git(&["switch", "--quiet", "main"]);
    work.replace(
        CONFIG,
        "\"test\"",
        "\"evidence\": {\"require\": \"reported\"}, \"test\"",
    );
    work.git(&["commit", "--quiet", "--all", "--message", "Ask for reports"]);
    walk(
        &work,
        |work| work.ask(&["start", "2"]),
        "branch_behind",
        &[],
    );
}
