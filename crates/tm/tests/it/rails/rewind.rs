//! A run taken back: run, branch and working tree are what they were, and nothing is lost.

use std::fs;

use testkit::{Everything, Forge};

use super::environment::{BRANCH, FINALIZE, GREEN, RED, TASKS_FILE, TestEnvironment, tells};
use crate::submit::whole::pushed;

/// What there was at a step.
struct Moment {
    unit: String,
    head: String,
    files: Everything,
    /// What was done there.
    does: &'static str,
}

impl Moment {
    /// Holds that branch, files and the next step are what they were.
    fn is_now(&self, env: &TestEnvironment, when: &str) {
        let now = (env.head(), env.action());
        assert_eq!(now, (self.head.clone(), self.does.to_owned()), "{when}");
        self.files.assert_same(&env.files_of_the_user(), when);
    }
}

fn moment(env: &TestEnvironment, does: &'static str) -> Moment {
    Moment {
        unit: env.unit(),
        head: env.head(),
        files: env.files_of_the_user(),
        does,
    }
}

fn take(env: &TestEnvironment, does: &str) {
    match does {
        "red" => env.red(),
        "green" => env.green(),
        "commit" => env.commit(),
        _ => env.auto(FINALIZE).ok(),
    };
}

/// The reference under which is kept what was taken back.
fn kept(env: &TestEnvironment) -> String {
    env.git_words("for-each-ref --format=%(refname) refs/tramline/rewound")
}

/// Takes the run back; what is told.
fn rewind(env: &TestEnvironment, to: &str) -> String {
    let answer = env.auto(&format!("rewind {to}")).ok();
    answer["message"].as_str().unwrap().to_owned()
}

#[test]
fn back_to_every_step_and_forward_again_comes_to_the_same_end() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    let cycle = ["red", "green", "commit"];
    let mut moments = Vec::new();
    for does in cycle.into_iter().chain(cycle).chain(["finalize"]) {
        moments.push(moment(&env, does));
        take(&env, does);
    }
    let tree = || env.git(&["rev-parse", "HEAD^{tree}"]);
    let (end, files, tip) = (tree(), env.files_of_the_user(), env.head());
    env.save(0);
    for (at, moment) in moments.iter().enumerate() {
        let unit = &moment.unit;
        rewind(&env, unit);
        moment.is_now(&env, unit);
        assert_eq!(env.git(&["rev-parse", &kept(&env)]), tip, "{unit}");
        // Forward again from the middle; from the first it is gone where processes are killed.
        if at != 3 {
            env.restore(0);
            continue;
        }
        for again in &moments[at..] {
            take(&env, again.does);
        }
        assert_eq!(tree(), end, "{unit}");
        files.assert_same(&env.files_of_the_user(), unit);
        assert_eq!(env.status("status"), "completed", "{unit}");
        env.journal_is_whole();
        let proved = env.tm(&["verify", "main..HEAD"]).ok();
        assert_eq!(proved["verified"], true, "{unit}: {proved:#}");
        env.restore(0);
    }
}

#[test]
fn the_steps_are_listed_and_named_in_many_ways() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.red();
    // The units that are not taken back; a mark is behind the present one.
    let standing = || {
        let listed = env.tm(&["rewind"]).ok();
        let steps = listed["steps"].as_array().unwrap().iter();
        let standing = steps.filter(|step| step["undone"] != true);
        let units = standing.map(|step| {
            let mark = if step["present"] == true { "*" } else { "" };
            step["unitId"].as_str().unwrap().to_owned() + mark
        });
        units.collect::<Vec<_>>().join(" ").replace("workUnit-", "")
    };
    let begun = "1.1-RED 1.1-GREEN 1.1-COMMIT 1.2-RED 1.2-GREEN";
    assert_eq!(standing(), format!("{begun}*"));
    env.save(0);
    for (to, unit) in [
        ("workUnit-1.1-GREEN", "workUnit-1.1-GREEN-2"),
        ("1.1", "workUnit-1.1-RED-2"),
        ("green", "workUnit-1.2-GREEN-2"),
        ("COMMIT", "workUnit-1.1-COMMIT-2"),
        ("last-commit", "workUnit-1.1-COMMIT-2"),
    ] {
        env.tm(&["rewind", to]).ok();
        assert_eq!(env.unit(), unit, "{to}");
        env.restore(0);
    }
    // What was taken back can be named by its unit alone.
    rewind(&env, "1.1");
    assert_eq!(standing(), "1.1-RED-2*");
    env.refused("rewind last-commit", 4, "not_found", "rewind");
    rewind(&env, "workUnit-1.2-GREEN");
    assert_eq!(standing(), format!("{begun}-2*"));
    env.refused("rewind 1.3", 4, "not_found", "did you mean");
}

#[test]
fn what_is_the_users_own_stays_and_what_is_in_no_commit_is_kept() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.write("own.txt", "own\n");
    env.git(&["add", "README.md", "own.txt"]);
    env.auto("start 1 --allow-dirty").ok();
    env.subtask();
    env.red();
    env.write("src/a.sh", "staged\n");
    env.git(&["add", "src/a.sh"]);
    env.write("src/a.sh", "later\n");
    let told = rewind(&env, "1.1 --reason again");
    tells(told, &["1 commit", "src/a.sh", "refs/tramline/rewound/"]);
    assert_eq!(env.changes(), "M  README.md\nA  own.txt");
    let kept = kept(&env);
    let show = |of: &str| env.git(&["show", &format!("{kept}{of}")]);
    assert_eq!(["^2:src/a.sh", ":src/a.sh"].map(show), ["staged", "later"]);
    tells(&env.next()["instructions"], &["again"]);
    let summary = env.report();
    assert_eq!(summary["rewound"][0]["reason"], "again");
}

/// A file too large for a copy is found where it is by now.
#[test]
fn large_files_come_back_from_where_they_are() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    let path = "tests/large.txt";
    let large = "0123456789abcdef".repeat(262_200);
    env.write(path, &large);
    env.subtask();
    rewind(&env, "last-commit");
    assert!(env.read(path) == large);
    rewind(&env, "red");
    assert!(!env.project().join(path).exists());
    rewind(&env, "workUnit-1.1-COMMIT");
    assert!(env.read(path) == large);
    env.commit();
}

/// What did not work stands in the report, whatever was taken back.
#[test]
fn failed_attempts_stay_in_the_report() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_green();
    env.auto("complete green --results failed:1,passed:1");
    rewind(&env, "1.1");
    env.to_commit();
    let row = &env.report()["subtasks"][0];
    assert_eq!(row["attempts"], 2, "{row:#}");
    assert_eq!(row["failedAttempts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_finished_subtask_is_done_once_more() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.auto("reopen 1.1 --reason again").ok();
    assert_eq!(env.unit(), "workUnit-1.2-RED");
    env.subtask();
    assert_eq!(env.unit(), "workUnit-1.1-RED-2");
    for (report, path) in [(RED, "tests/again.sh"), (GREEN, "src/again.sh")] {
        env.write(path, "again\n");
        env.auto(report).ok();
    }
    env.commit();
    env.auto(FINALIZE).ok();
    let proved = env.tm(&["verify", "main..HEAD"]).ok();
    assert_eq!(proved["verified"], true, "{proved:#}");
    env.journal_is_whole();
    let summary = env.report();
    assert_eq!(summary["reopened"][0]["reason"], "again", "{summary:#}");
    assert_eq!(summary["totals"]["commits"], 4, "{summary:#}");
}

/// A test that was given up, and the one that stands behind a commit, are not taken for each other.
#[test]
fn a_commit_rests_on_the_reports_that_stand() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    rewind(&env, "red");
    env.write("tests/another.sh", "another\n");
    env.auto(RED).ok();
    rewind(&env, "workUnit-1.1-GREEN");
    assert!(!env.project().join("tests/another.sh").exists());
    env.green();
    env.commit();
    let proved = env.tm(&["verify", "HEAD~1..HEAD"]).ok();
    let rests_on = ["red", "green"].map(|report| &proved["commits"][0][report]["unit"]);
    assert_eq!(rests_on, ["workUnit-1.1-RED", "workUnit-1.1-GREEN-3"]);
    // A report that was taken back is answered as it was, and moves nothing.
    let old = env.auto(&format!("{GREEN} --unit workUnit-1.1-GREEN"));
    assert_eq!(old.json()["validated"], true, "{old:#?}");
    assert_eq!(env.action(), "red");
}

#[test]
fn statuses_go_back_where_no_commit_has_them() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.git(&["rm", "--quiet", "--cached", TASKS_FILE]);
    env.commit_file(".gitignore", "*.tmp\n.taskmaster/tasks/\n");
    env.whole_run("start 1");
    let statuses = || {
        let task = &env.tasks()[0];
        let all = [task, &task["subtasks"][0], &task["subtasks"][1]];
        all.map(|one| one["status"].clone())
    };
    assert_eq!(statuses(), ["review", "done", "done"]);
    rewind(&env, "1.2");
    assert_eq!(statuses(), ["in-progress", "done", "pending"]);
}

#[test]
fn what_is_pushed_is_taken_back_only_where_that_is_said() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let forge = Forge::beside(&env, "github.com");
    env.whole_run("start 1");
    env.auto("submit").ok();
    let first = env.head();
    env.refused("rewind 1.2", 3, "already_pushed", "--pushed");
    rewind(&env, "1.2 --pushed");
    assert_eq!(pushed(&env, &forge), first);
    let proved = env.tm(&["verify", &first]).ok();
    tells(proved, &["its run took it back"]);
    env.write("tests/more.sh", "more\n");
    env.red();
    // What is pushed and not on the branch any more stands in nobody's way.
    rewind(&env, "red");
    env.write("tests/more.sh", "more\n");
    env.finish();
    let answer = env.auto("submit").ok();
    assert_eq!(answer["pullRequest"]["number"], 1, "{answer:#}");
    assert_eq!((pushed(&env, &forge), forge.requests()), (env.head(), 1));
    assert_ne!(env.head(), first);
}

#[test]
fn nothing_is_moved_where_something_stands_in_the_way() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.switch("main");
    env.refused("rewind 1.1", 3, "wrong_branch", "git switch");
    env.switch(BRANCH);
    env.git(&["switch", "--quiet", "--create", "side"]);
    env.commit_file("README.md", "side\n");
    env.switch(BRANCH);
    env.commit_file("README.md", "ours\n");
    env.git_fails(&["merge", "--quiet", "side"]);
    env.refused("rewind 1.1", 3, "operation_under_way", "merge --abort");
    env.git(&["merge", "--abort"]);

    // Commits of somebody else go along, and are named.
    let told = rewind(&env, "1.1");
    let mixed = "not all of which the run has made";
    tells(told, &["2 commits taken back", "README.md", mixed]);

    // Beside another run nothing goes on.
    env.finish();
    let first = env.status("runId");
    env.auto("start 4").ok();
    let way = format!("rewind 1.1 --run-id {}", first.as_str().unwrap());
    env.refuses(&way, "run_active");
}

/// Where another git works nothing is moved; where one begins just then, it is gone on with and not taken for a change.
#[test]
fn half_of_it_is_gone_on_with_and_not_taken_for_a_change() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_green();
    let moment = moment(&env, "green");
    env.green();
    env.commit();
    env.write(".git/index.lock", "");
    let (tip, way) = (env.head(), format!("rewind {}", moment.unit));
    env.refuses(&way, "lock_timeout");
    assert_eq!(env.head(), tip);
    env.delete(".git/index.lock");
    env.hook("reference-transaction", ": > .git/index.lock");
    let answer = env.comes_to(&way, "lock_timeout");
    tells(&answer.out, &["refs/tramline/rewound/"]);
    assert_eq!(env.head(), moment.head, "the branch is moved first");
    env.delete(".git/hooks/reference-transaction");
    fs::remove_dir(env.project().join(".git/hooks")).unwrap();
    env.delete(".git/index.lock");
    env.auto(&way).ok();
    moment.is_now(&env, "behind it");
    env.journal_is_whole();
}

/// Killed at each of its steps and asked to go on, it is taken back, whole and once.
#[cfg(debug_assertions)]
#[test]
fn killed_at_each_step_it_comes_to_its_end() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    let first = moment(&env, "red");
    env.subtask();
    env.red();
    env.write("src/half.sh", "half\n");
    let (tip, before) = (env.head(), env.files_of_the_user());
    env.save(0);
    for name in TestEnvironment::deaths(&[
        "before-append",
        "after-append",
        "before-perform",
        "rewind-in-git",
        "rewind-after-git",
        "rewind-after-tasks",
        "after-perform",
        "before-append:2",
        "after-append:2",
        "before-perform:2",
        "after-perform:2",
        "before-append:3",
        "after-append:3",
        "derived-before-state:3",
    ]) {
        env.restore(0);
        env.killed("rewind 1.1", name);
        let unit = env.auto("resume").json()["nextAction"]["unitId"].clone();
        if name == "before-append" {
            assert_eq!(env.head(), tip, "{name}");
            before.assert_same(&env.files_of_the_user(), name);
            rewind(&env, "1.1");
        } else {
            assert_eq!(unit, "workUnit-1.1-RED-2", "{name}");
            first.is_now(&env, name);
        }
        let kept = kept(&env);
        assert_eq!(env.git(&["rev-parse", &format!("{kept}^")]), tip, "{name}");
        let half = env.git(&["show", &format!("{kept}:src/half.sh")]);
        assert_eq!(half, "half", "{name}");
        env.journal_is_whole();
    }
    env.finish();
}
