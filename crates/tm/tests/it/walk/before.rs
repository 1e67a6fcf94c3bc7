//! What stands in the way of a run.

use super::{at_of, story};
use crate::honest::work::{Before, CONFIG, SHOP, Work};

/// Settings that are committed.
fn set(work: &Work, settings: &str) {
    work.write(CONFIG, settings);
    commit(work);
}

fn commit(work: &Work) {
    work.runs_well("git commit --quiet --all --message Settings");
}

fn name_an_author(work: &Work) {
    work.runs_well("git config user.name A; git config user.email a@localhost");
}

#[test]
fn a_run_cannot_begin() {
    at_of(&SHOP, Before::unbegun, &["start", "1"]).tell([
        story("there is no repository", "not_a_repository")
            .done(|work| work.runs_well("rm -rf .git"))
            .deed_at("no_commits", |work| {
                name_an_author(work);
                work.git(&["add", "--all"]);
            }),
        story("there is no commit", "no_commits")
            .done(|work| work.runs_well("git update-ref -d HEAD")),
        story("files are changed", "dirty_tree")
            .done(|work| work.append("src/add.sh", "# more\n"))
            .deed(|work| work.runs_well("git stash push --quiet")),
        story("a run is under way", "run_active")
            .done(|work| work.tm(&["start", "1"]))
            .done(Work::test),
        story("nobody is named as author", "no_identity")
            .done(|work| {
                work.runs_well("git config --unset user.name; git config --unset user.email");
                work.git(&["config", "user.useConfigOnly", "true"]);
            })
            .deed(name_an_author),
        story("no test command is known", "no_test_command")
            .done(|work| set(work, "{}"))
            .deed_at("dirty_tree", commit),
        story("the test command needs a shell", "config_invalid")
            .done(|work| set(work, r#"{"test": {"command": "sh run.sh && true"}}"#))
            .deed(|work| {
                let within = r#"{"test": {"command": "sh -c 'sh run.sh && true'"}}"#;
                set(work, within);
            }),
    ]);
}
