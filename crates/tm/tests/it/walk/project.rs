//! What becomes of the project's files around a run: settings, templates, tasks, branches of earlier runs.

use super::{at, at_of, story};
use crate::honest::work::{
    Before, COMMIT, CONFIG, GREEN, RED, SHOP, TASKS_FILE, TWO, VERIFIED, Work,
};

const TEMPLATE: &str = ".taskmaster/templates/green.md";

fn keep_settings(work: &Work) {
    std::fs::copy(work.root().join(CONFIG), work.outside().join("config")).unwrap();
}

fn put_settings_back(work: &Work) {
    std::fs::copy(work.outside().join("config"), work.root().join(CONFIG)).unwrap();
}

#[test]
fn files_of_the_project_are_changed() {
    let damages = [
        ("settings are cut off", "{\"test\": {"),
        ("settings are empty", ""),
        (
            "settings are of another type",
            "{\"test\": {\"command\": 7}}",
        ),
        ("settings are null", "null"),
    ];
    let damaged = damages.map(|(name, damage)| {
        story(name, "config_invalid")
            .done(keep_settings)
            .done(move |work| work.write(CONFIG, damage))
            .deed(put_settings_back)
    });
    let others = [
        story("a secret lies about", "unfit_files")
            .done(|work| work.write(".env", "KEY=1\n"))
            .deed(|work| work.delete(".env"))
            .then(Work::commit),
        story("a build leaves its products", "unfit_files")
            .done(|work| work.write("src/__pycache__/double.cpython-311.pyc", "x"))
            .deed(|work| work.write(".gitignore", "__pycache__/\n"))
            .then(Work::commit),
    ];
    at_of(&SHOP, Before::with_code, GREEN).tell(damaged.into_iter().chain(others));
    at(Before::with_code, GREEN).tell([story("the test command is replaced", "command_replaced")
        .of(VERIFIED)
        .done(keep_settings)
        .done(|work| work.replace(CONFIG, "sh run.sh", "sh other.sh"))
        .done(|work| work.write("other.sh", "touch ran\n"))
        .deed(|work| {
            put_settings_back(work);
            work.delete("other.sh");
            assert!(!work.root().join("ran").exists(), "it was run");
        })]);
    at_of(
        &SHOP.settings(r#""evidence": {"require": "reported"}"#),
        Before::at_red,
        RED,
    )
    .tell([
        story("settings are loosened", "config_loosened")
            .done(keep_settings)
            .done(|work| work.replace(CONFIG, "reported", "claimed"))
            .deed(put_settings_back),
        story("a template is damaged", "bad_template")
            .done(|work| work.write(TEMPLATE, "{% if %}\n"))
            .deed(|work| work.delete(TEMPLATE)),
    ]);
    at(Before::at_commit, COMMIT).tell([story("the tasks file is gone", "tasks_missing")
        .done(|work| work.delete(TASKS_FILE))
        .then(Work::finalize)]);
}

#[test]
fn the_branch_of_an_earlier_run() {
    at(Before::committed, &[]).tell([story("one is behind in its settings", "branch_taken")
        .of(TWO)
        // Settings of main's come to ask for more behind a run that is given up.
        .done(|work| work.tm(&["abort"]))
        .done(|work| work.git(&["switch", "--quiet", "main"]))
        .done(|work| {
            let asks = "\"evidence\": {\"require\": \"reported\"}, \"test\"";
            work.replace(CONFIG, "\"test\"", asks);
            work.commit_by_hand("Ask for reports");
        })
        .call(|work| work.ask(&["start", "2"]))]);
}
