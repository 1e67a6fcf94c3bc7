//! What stands in the way of a run.

use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, SHOP, Way, Work};

/// A project in which no run was begun.
fn project(before: &Before<'_>, prepare: impl FnOnce(&Work)) -> Work {
    let work = Work::unbegun(before, Way::Claimed);
    prepare(&work);
    work
}

fn starts(work: &Work, code: &str, deeds: &[super::Deed]) {
    walk(work, |work| work.ask(&["start", "1"]), code, deeds);
}

#[test]
fn there_is_no_repository() {
    let work = project(&SHOP, |work| work.runs_well("rm -rf .git"));
    let deed = |work: &Work| {
        work.runs_well("git config user.name A; git config user.email a@localhost; git add --all");
    };
    starts(&work, "not_a_repository", &[("commit", deed)]);
}

#[test]
fn there_is_no_commit() {
    let work = project(&SHOP, |work| {
        work.runs_well("git update-ref -d HEAD");
    });
    starts(&work, "no_commits", &[]);
}

#[test]
fn files_are_changed() {
    let work = project(&SHOP, |work| work.append("src/add.sh", "# more\n"));
    let deed = |work: &Work| work.runs_well("git stash push --quiet");
    starts(&work, "dirty_tree", &[("commit or stash them", deed)]);
}

#[test]
fn a_run_is_under_way() {
    let work = Work::begin(&SHOP, Way::Claimed);
    work.write("tests/double.test", DOUBLES);
    walk(&work, |work| work.ask(&["start", "1"]), "run_active", &[]);
    work.write("src/double.sh", DOUBLE);
}

#[test]
fn nobody_is_named_as_author() {
    let work = project(&SHOP, |work| {
        work.runs_well("git config --unset user.name; git config --unset user.email; git config user.useConfigOnly true");
    });
    let deed =
        |work: &Work| work.runs_well("git config user.name A; git config user.email a@localhost");
    starts(&work, "no_identity", &[("user.name", deed)]);
}

const CONFIG: &str = ".taskmaster/config.json";

/// Settings that are committed.
fn set(work: &Work, settings: &str) {
    work.write(CONFIG, settings);
    work.runs_well("git commit --quiet --all --message Settings");
}

#[test]
fn no_test_command_is_known() {
    let work = project(&SHOP, |work| set(work, "{}"));
    let deed = |work: &Work| work.runs_well("git commit --quiet --all --message Settings");
    starts(&work, "no_test_command", &[("commit or stash", deed)]);
}

#[test]
fn the_test_command_needs_a_shell() {
    let work = project(&SHOP, |work| {
        set(work, r#"{"test": {"command": "sh run.sh && true"}}"#);
    });
    let deed = |work: &Work| {
        set(
            work,
            r#"{"test": {"command": "sh -c 'sh run.sh && true'"}}"#,
        );
    };
    starts(
        &work,
        "test_command",
        &[("write `sh -c 'sh run.sh && true'`", deed)],
    );
}
