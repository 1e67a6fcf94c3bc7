//! A run taken back: run, branch and working tree are what they were, and nothing is lost.

use serde_json::Value;
use testkit::{Everything, Forge};

use super::environment::{CONFIG, TASKS, TestEnvironment};
use crate::submit::whole::pushed;

/// What there was at a step.
struct Moment {
    unit: String,
    head: String,
    files: Everything,
    /// What was done there.
    does: &'static str,
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
        "commit" => env.auto("commit").ok(),
        _ => env.auto("finalize --results failed:0,passed:2").ok(),
    };
}

/// A run of task 1 from its beginning to its end, with what there was on the way.
fn recorded(env: &TestEnvironment) -> Vec<Moment> {
    let mut moments = Vec::new();
    for does in [
        "red", "green", "commit", "red", "green", "commit", "finalize",
    ] {
        moments.push(moment(env, does));
        take(env, does);
    }
    moments
}

fn tree(env: &TestEnvironment) -> String {
    env.git(&["rev-parse", "HEAD^{tree}"])
}

/// The references under which is kept what was taken back.
fn kept(env: &TestEnvironment) -> Vec<String> {
    let listed = env.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/tramline/rewound",
    ]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn back_to_every_step_and_forward_again_comes_to_the_same_end() {
    let env = TestEnvironment::started();
    let moments = recorded(&env);
    let (end, files) = (tree(&env), env.files_of_the_user());
    let tip = env.head();
    env.save(0);
    for (at, moment) in moments.iter().enumerate() {
        let answer = env.auto(&format!("rewind {}", moment.unit)).ok();
        let unit = &moment.unit;
        assert_eq!(env.head(), moment.head, "{unit}: {answer:#}");
        moment.files.assert_same(&env.files_of_the_user(), unit);
        assert_eq!(env.action(), moment.does, "{unit}");
        let kept = kept(&env);
        assert_eq!(env.git(&["rev-parse", &kept[0]]), tip, "{unit}");
        for again in &moments[at..] {
            take(&env, again.does);
        }
        assert_eq!(tree(&env), end, "{unit}");
        files.assert_same(&env.files_of_the_user(), unit);
        let status = env.auto("status").ok();
        assert_eq!(status["status"], "completed", "{unit}: {status:#}");
        env.tm(&["log", "verify"]).ok();
        let proved = env.tm(&["verify", "main..HEAD"]).ok();
        assert_eq!(proved["verified"], true, "{unit}: {proved:#}");
        env.restore(0);
    }
}

#[test]
fn the_steps_are_listed_and_named_in_many_ways() {
    let env = TestEnvironment::started();
    env.subtask();
    env.red();
    let steps = |env: &TestEnvironment| -> Vec<(String, bool, bool)> {
        let listed = env.tm(&["rewind"]).ok();
        let steps = listed["steps"].as_array().unwrap();
        let is = |step: &Value, what: &str| step[what].as_bool().unwrap_or_default();
        steps
            .iter()
            .map(|step| {
                let unit = step["unitId"].as_str().unwrap().to_owned();
                (unit, is(step, "undone"), is(step, "present"))
            })
            .collect()
    };
    let before = steps(&env);
    assert_eq!(before.len(), 5);
    assert_eq!(before[4], ("workUnit-1.2-GREEN".to_owned(), false, true));
    env.save(0);
    for (to, unit) in [
        ("workUnit-1.1-GREEN", "workUnit-1.1-GREEN-2"),
        ("1.1", "workUnit-1.1-RED-2"),
        ("1.2", "workUnit-1.2-RED-2"),
        ("green", "workUnit-1.2-GREEN-2"),
        ("COMMIT", "workUnit-1.1-COMMIT-2"),
        ("last-commit", "workUnit-1.1-COMMIT-2"),
    ] {
        env.tm(&["rewind", to]).ok();
        assert_eq!(env.unit(), unit, "{to}");
        env.restore(0);
    }
    // What was taken back can be named by its unit alone.
    env.auto("rewind 1.1").ok();
    let now = steps(&env);
    assert_eq!(now.iter().filter(|(_, undone, _)| *undone).count(), 5);
    env.refused("rewind 1.2", 4, "unknown_step", "workUnit-1.2-GREEN");
    env.refused("rewind last-commit", 4, "unknown_step", "rewind");
    env.auto("rewind workUnit-1.2-GREEN").ok();
    let now = steps(&env);
    let standing: Vec<&str> = now
        .iter()
        .filter(|(_, undone, _)| !undone)
        .map(|(unit, ..)| unit.as_str())
        .collect();
    assert_eq!(
        standing,
        [
            "workUnit-1.1-RED",
            "workUnit-1.1-GREEN",
            "workUnit-1.1-COMMIT",
            "workUnit-1.2-RED",
            "workUnit-1.2-GREEN-2"
        ]
    );
    env.refused("rewind 1.3", 4, "unknown_step", "did you mean");
}

#[test]
fn what_is_the_users_own_stays_and_what_is_in_no_commit_is_kept() {
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.write("notes.tmp", "ignored\n");
    env.auto("start 1 --allow-dirty").ok();
    env.subtask();
    env.red();
    env.write("src/half.sh", "half\n");
    let answer = env.auto("rewind 1.1 --reason again").ok();
    let told = answer["message"].as_str().unwrap();
    for part in [
        "1 commit taken back",
        "src/half.sh and tests/1.2.sh",
        "refs/tramline/rewound/",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(env.read("README.md"), "mine\n");
    assert_eq!(env.read("notes.tmp"), "ignored\n");
    assert_eq!(env.git(&["status", "--short"]), " M README.md");
    let kept = kept(&env);
    assert_eq!(
        env.git(&["show", &format!("{}:src/half.sh", kept[0])]),
        "half"
    );
    let next = env.auto("next").ok();
    assert!(
        next["instructions"].to_string().contains("again"),
        "{next:#}"
    );
    env.finish();
    assert_eq!(env.git(&["status", "--short"]), " M README.md");
    let summary = env.tm(&["runs", "report"]).ok();
    assert_eq!(summary["totals"]["commits"], 3, "{summary:#}");
    assert_eq!(summary["rewound"][0]["reason"], "again");
}

/// What is staged is kept beside what is in the working tree, and stays staged where the file is the user's own.
#[test]
fn what_is_staged_is_not_lost() {
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.write("own.txt", "own\n");
    env.git(&["add", "README.md", "own.txt"]);
    env.auto("start 1 --allow-dirty").ok();
    env.red();
    env.write("src/a.sh", "staged\n");
    env.write("src/b.sh", "by name\n");
    env.git(&["add", "src/a.sh"]);
    env.git(&["add", "--intent-to-add", "src/b.sh"]);
    env.write("src/a.sh", "later\n");
    env.auto("rewind red").ok();
    assert_eq!(env.git(&["status", "--short"]), "M  README.md\nA  own.txt");
    let kept = kept(&env);
    let show = |of: &str| env.git(&["show", &format!("{}{of}", kept[0])]);
    assert_eq!(show("^2:src/a.sh"), "staged");
    assert_eq!(show(":src/a.sh"), "later");
    assert_eq!(show(":src/b.sh"), "by name");
}

/// A file too large for a copy is found where it is by now.
#[test]
fn large_files_come_back_from_where_they_are() {
    let env = TestEnvironment::started();
    let large = "0123456789abcdef".repeat(300_000);
    env.write("tests/large.txt", &large);
    env.red();
    env.green();
    env.auto("commit").ok();
    env.auto("rewind last-commit").ok();
    assert_eq!(env.read("tests/large.txt"), large);
    env.auto("rewind red").ok();
    assert!(!env.project().join("tests/large.txt").exists());
    env.auto("rewind workUnit-1.1-COMMIT").ok();
    assert_eq!(env.read("tests/large.txt"), large);
    env.auto("commit").ok();
}

/// Whoever calls a run off that stopped by a rule gets it back by a person's word alone.
#[test]
fn calling_a_run_off_opens_no_way_around_a_pause() {
    let env = TestEnvironment::new();
    env.auto("start 1 --max-attempts 1").ok();
    env.red();
    env.auto("complete green --results failed:1,passed:1");
    env.refused("rewind green", 3, "needs_person", "");
    env.auto("abort").ok();
    let fault = env.auto("rewind green").json()["error"].clone();
    assert_eq!(fault["code"], "needs_person", "{fault:#}");
    let by_hand = fault["recovery"].as_str().unwrap();
    assert!(by_hand.contains("rewind TO"), "{by_hand}");
    assert_eq!(env.auto("status").ok()["status"], "aborted");
}

/// What did not work stands in the report, whatever was taken back.
#[test]
fn failed_attempts_stay_in_the_report_and_the_run_is_the_present_one() {
    let env = TestEnvironment::started();
    env.red();
    env.auto("complete green --results failed:1,passed:1");
    env.auto("rewind 1.1").ok();
    env.finish();
    let first = env.auto("status").ok()["runId"].clone();
    let summary = env.tm(&["runs", "report"]).ok();
    let row = &summary["subtasks"][0];
    assert_eq!(row["attempts"], 2, "{summary:#}");
    assert_eq!(row["failedAttempts"].as_array().unwrap().len(), 1);
    env.auto("start 4").ok();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "master/task-1-count-the-words"]);
    let first = first.as_str().unwrap();
    env.auto(&format!("rewind 1.2 --run-id {first}")).ok();
    env.finish();
    assert_eq!(env.auto("status").ok()["runId"], first);
}

/// In a repository of several projects the others are not touched.
#[test]
fn changes_in_another_project_from_before_stay() {
    let env = TestEnvironment::new();
    env.write("app/.taskmaster/tasks/tasks.json", TASKS);
    env.write("app/.taskmaster/config.json", CONFIG);
    env.write("other/a.txt", "a\n");
    env.commit_all("Two projects");
    let app = env.project().join("app");
    let tm = |words: &[&str]| {
        let root = ["--project-root", app.to_str().unwrap()];
        env.tm(&[&["autopilot"], words, &root].concat()).ok()
    };
    env.write("other/a.txt", "theirs\n");
    env.write("other/b.txt", "theirs\n");
    tm(&["start", "1", "--allow-dirty"]);
    env.write("other/c.txt", "the run's\n");
    env.write("app/tests/1.1.sh", "test\n");
    tm(&["complete", "red", "--results", "failed:1,passed:1"]);
    tm(&["rewind", "1.1"]);
    assert_eq!(
        env.git(&["status", "--short"]),
        " M other/a.txt\n?? other/b.txt"
    );
}

#[test]
fn a_finished_subtask_is_done_once_more() {
    let env = TestEnvironment::started();
    env.subtask();
    let answer = env.auto("reopen 1.1 --reason again").ok();
    let told = answer["message"].as_str().unwrap();
    assert!(told.contains("1.1 is to be done again"), "{told}");
    assert_eq!(env.unit(), "workUnit-1.2-RED");
    env.subtask();
    assert_eq!(env.unit(), "workUnit-1.1-RED-2");
    env.write("tests/again.sh", "again\n");
    env.auto("complete red --results failed:1,passed:1").ok();
    env.write("src/again.sh", "again\n");
    env.auto("complete green --results failed:0,passed:2").ok();
    env.auto("commit").ok();
    assert_eq!(env.action(), "finalize");
    env.auto("reopen 1.2 --reason more").ok();
    assert_eq!(env.unit(), "workUnit-1.2-RED-2");
    env.write("tests/more.sh", "more\n");
    env.auto("complete red --results failed:1,passed:1").ok();
    env.write("src/more.sh", "more\n");
    env.auto("complete green --results failed:0,passed:2").ok();
    env.auto("commit").ok();
    env.auto("finalize --results failed:0,passed:2").ok();
    let proved = env.tm(&["verify", "main..HEAD"]).ok();
    assert_eq!(proved["verified"], true, "{proved:#}");
    env.tm(&["log", "verify"]).ok();
    let summary = env.tm(&["runs", "report"]).ok();
    assert_eq!(summary["reopened"][0]["reason"], "again", "{summary:#}");
    assert_eq!(summary["totals"]["commits"], 5, "{summary:#}");
}

/// A test that was given up, and the one that stands behind a commit, are not taken for each other.
#[test]
fn a_commit_rests_on_the_reports_that_stand() {
    let env = TestEnvironment::started();
    env.red();
    env.green();
    env.auto("rewind red").ok();
    env.write("tests/another.sh", "another\n");
    env.auto("complete red --results failed:1,passed:1").ok();
    env.auto("rewind workUnit-1.1-GREEN").ok();
    assert!(!env.project().join("tests/another.sh").exists());
    env.green();
    env.auto("commit").ok();
    let proved = env.tm(&["verify", "HEAD~1..HEAD"]).ok();
    let commit = &proved["commits"][0];
    assert_eq!(commit["red"]["unit"], "workUnit-1.1-RED", "{proved:#}");
    assert_eq!(
        commit["green"]["unit"], "workUnit-1.1-GREEN-3",
        "{proved:#}"
    );
    // A report that was taken back is answered as it was, and moves nothing.
    let old = env
        .auto("complete green --results failed:0,passed:2 --unit workUnit-1.1-GREEN")
        .json()
        .clone();
    assert_eq!(old["validated"], true, "{old:#}");
    assert_eq!(env.action(), "red");
}

#[test]
fn statuses_go_back_where_no_commit_has_them() {
    let env = TestEnvironment::new();
    env.git(&["rm", "--quiet", "--cached", ".taskmaster/tasks/tasks.json"]);
    env.write(".gitignore", "*.tmp\n.taskmaster/tasks/\n");
    env.commit_all("Tasks are nobody's but mine");
    env.whole_run("start 1");
    let statuses = || -> Vec<String> {
        let file: Value = serde_json::from_str(&env.read(".taskmaster/tasks/tasks.json")).unwrap();
        let task = &file["master"]["tasks"][0];
        [task, &task["subtasks"][0], &task["subtasks"][1]]
            .map(|one| one["status"].as_str().unwrap().to_owned())
            .to_vec()
    };
    assert_eq!(statuses(), ["review", "done", "done"]);
    env.auto("rewind 1.2").ok();
    assert_eq!(statuses(), ["in-progress", "done", "pending"]);
    env.finish();
    assert_eq!(statuses(), ["review", "done", "done"]);
}

#[test]
fn what_is_pushed_is_taken_back_only_where_that_is_said() {
    let env = TestEnvironment::with(TASKS, CONFIG);
    let forge = Forge::beside(&env, "github.com");
    env.whole_run("start 1");
    env.auto("submit").ok();
    let first = env.head();
    env.refused("rewind 1.2", 3, "already_pushed", "--pushed");
    env.auto("rewind 1.2 --pushed").ok();
    assert_eq!(pushed(&env, &forge), first);
    let proved = env.tm(&["verify", &first]).ok();
    assert!(
        proved.to_string().contains("its run took it back"),
        "{proved:#}"
    );
    env.write("tests/more.sh", "more\n");
    env.red();
    // What is pushed and not on the branch any more stands in nobody's way.
    env.auto("rewind red").ok();
    env.write("tests/more.sh", "more\n");
    env.finish();
    let answer = env.auto("submit").ok();
    assert_eq!(answer["pullRequest"]["number"], 1, "{answer:#}");
    assert_eq!((pushed(&env, &forge), forge.requests()), (env.head(), 1));
    assert_ne!(env.head(), first);
}

#[test]
fn nothing_is_moved_where_something_stands_in_the_way() {
    let env = TestEnvironment::started();
    env.subtask();
    let branch = "master/task-1-count-the-words";
    env.git(&["switch", "--quiet", "main"]);
    env.refused("rewind 1.1", 3, "wrong_branch", "git switch");
    env.git(&["switch", "--quiet", branch]);
    env.git(&["switch", "--quiet", "--create", "side"]);
    env.write("README.md", "side\n");
    env.commit_all("Side");
    env.git(&["switch", "--quiet", branch]);
    env.write("README.md", "ours\n");
    env.commit_all("Ours");
    env.git_fails(&["merge", "--quiet", "side"]);
    env.refused("rewind 1.1", 3, "operation_under_way", "merge --abort");
    env.git(&["merge", "--abort"]);

    // Commits of somebody else go along, and are named.
    let answer = env.auto("rewind 1.1").ok();
    let told = answer["message"].as_str().unwrap();
    assert!(
        told.contains("2 commits taken back")
            && told.contains("Ours")
            && told.contains("not all of which the run has made"),
        "{told}"
    );

    // Beside another run nothing goes on.
    env.finish();
    let first = env.auto("status").ok()["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    env.auto("start 4").ok();
    env.refused(&format!("rewind 1.1 --run-id {first}"), 5, "run_active", "");
}

/// Killed at each of its steps and asked for what is next, it is taken back, whole and once.
#[cfg(debug_assertions)]
#[test]
fn half_of_it_is_gone_on_with_and_not_taken_for_a_change() {
    let env = TestEnvironment::started();
    let moments = recorded(&env);
    let lock = env.project().join(".git/index.lock");
    let tip = env.head();
    std::fs::write(&lock, "").unwrap();
    let way = format!("rewind {}", moments[1].unit);
    env.refused(&way, 5, "git_busy", "wait for it to end");
    assert_eq!(env.head(), tip, "nothing is moved where another git works");
    std::fs::remove_file(&lock).unwrap();
    // One that begins just then.
    let hook = env.project().join(".git/hooks/reference-transaction");
    testkit::files::write_program(&hook, "#!/bin/sh\n: > .git/index.lock\n");
    let answer = env.auto(&way);
    assert_eq!((answer.status, answer.code()), (5, "git_busy"));
    assert!(
        answer.out.contains("refs/tramline/rewound/"),
        "{}",
        answer.out
    );
    assert_eq!(env.head(), moments[1].head, "the branch is moved first");
    std::fs::remove_file(&hook).unwrap();
    std::fs::remove_file(&lock).unwrap();
    env.auto(&format!("rewind {}", moments[1].unit)).ok();
    moments[1]
        .files
        .assert_same(&env.files_of_the_user(), "behind it");
    assert_eq!(env.action(), moments[1].does);
    env.tm(&["log", "verify"]).ok();
}

#[test]
fn killed_at_each_step_it_comes_to_its_end() {
    let env = TestEnvironment::started();
    let first = moment(&env, "red");
    env.subtask();
    env.red();
    env.write("src/half.sh", "half\n");
    let (tip, before) = (env.head(), env.files_of_the_user());
    env.save(0);
    for (name, is_begun) in [
        ("before-append", false),
        ("after-append", true),
        ("before-perform", true),
        ("rewind-in-git", true),
        ("rewind-after-git", true),
        ("rewind-after-tasks", true),
        ("after-perform", true),
        ("before-append:2", true),
        ("after-append:2", true),
        ("before-perform:2", true),
        ("after-perform:2", true),
        ("before-append:3", true),
        ("after-append:3", true),
        ("derived-before-state:3", true),
    ] {
        let output = env
            .program(&["autopilot", "rewind", "1.1"])
            .env("TRAMLINE_FAIL_POINT", name)
            .output()
            .unwrap();
        assert!(
            !output.status.success(),
            "{name} is not reached: {output:?}"
        );
        let unit = env.auto("resume").json()["nextAction"]["unitId"].clone();
        if is_begun {
            assert_eq!(unit, "workUnit-1.1-RED-2", "{name}");
            assert_eq!(env.head(), first.head, "{name}");
            first.files.assert_same(&env.files_of_the_user(), name);
        } else {
            assert_eq!(env.head(), tip, "{name}");
            before.assert_same(&env.files_of_the_user(), name);
            env.auto("rewind 1.1").ok();
        }
        let kept = kept(&env);
        assert_eq!(kept.len(), 1, "{name}: {kept:?}");
        assert_eq!(
            env.git(&["rev-parse", &format!("{}^", kept[0])]),
            tip,
            "{name}"
        );
        assert_eq!(
            env.git(&["show", &format!("{}:src/half.sh", kept[0])]),
            "half",
            "{name}"
        );
        env.tm(&["log", "verify"]).ok();
        env.finish();
        env.restore(0);
    }
}
