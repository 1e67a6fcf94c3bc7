//! Commits that the run did not make, and history that somebody rewrote under it.

use super::environment::TestEnvironment;

/// The executor commits the tested files by itself.
fn own_commit(env: &TestEnvironment) -> String {
    env.git(&["add", "src", "tests"]);
    env.git(&["commit", "--quiet", "--message", "My own words"]);
    env.head()
}

#[test]
fn a_commit_of_the_executor_is_taken_over_and_its_status_follows() {
    let env = TestEnvironment::started();
    env.to_commit();
    let sha = own_commit(&env);
    env.refused("commit", 3, "foreign_commit", "tm autopilot commit --sha");
    let taken = env.auto(&format!("commit --sha {sha}")).ok();
    assert_eq!(taken["commitSha"], sha);
    assert_eq!(
        taken["message"].as_str().unwrap().trim_end(),
        "My own words"
    );
    assert_eq!(env.head(), sha);
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        "",
        "its `done` is owed"
    );

    // The next commit of ours carries it.
    env.subtask();
    let tasks = env.git(&["show", "HEAD:.taskmaster/tasks/tasks.json"]);
    assert_eq!(tasks.matches("\"done\"").count(), 2 + 1, "{tasks}");
}

#[test]
fn the_last_status_travels_with_that_of_the_task() {
    let env = TestEnvironment::started();
    for _ in 0..2 {
        env.to_commit();
        own_commit(&env);
        // Any name of the commit will do.
        env.auto("commit --sha HEAD").ok();
    }
    env.auto("finalize --results failed:0,passed:2").ok();
    let tasks = env.git(&["show", "HEAD:.taskmaster/tasks/tasks.json"]);
    assert_eq!(tasks.matches("\"done\"").count(), 2 + 1, "{tasks}");
    assert_eq!(tasks.matches("\"review\"").count(), 1, "{tasks}");
    assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "3");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn several_commits_may_make_up_a_subtask() {
    let env = TestEnvironment::started();
    env.red();
    env.commit_all("Tests");
    env.green();
    let sha = own_commit(&env);
    let taken = env.auto(&format!("commit --sha {}", &sha[..10])).ok();
    assert_eq!(taken["commitSha"], sha);
    assert_eq!(
        taken["files"],
        serde_json::json!(["src/1.1.sh", "tests/1.1.sh"]),
        "those of all its commits"
    );
}

#[test]
fn only_the_commit_of_this_subtask_counts() {
    let env = TestEnvironment::started();
    env.subtask();
    env.git(&["branch", "other", "main"]);
    let last = env.head();
    env.to_commit();
    let check = |sha: &str, told: &str| {
        let answer = env.refused(&format!("commit --sha={sha}"), 3, "foreign_commit", "HEAD");
        assert!(answer.message().contains(told), "{sha}: {answer:#?}");
    };
    check("0123456789012345678901234567890123456789", "no commit");
    check("no-such-thing", "no commit");
    check("--all", "no commit");
    check("HEAD:README.md", "no commit");
    check("HEAD^{tree}", "no commit");
    check("", "no commit");
    check("main", "not HEAD");
    check("other", "not HEAD");
    check("HEAD~1", "not HEAD");
    check("HEAD", "last commit");
    check(&last, "last commit");
}

#[test]
fn an_empty_commit_is_none() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.git(&["commit", "--quiet", "--allow-empty", "--message", "Nothing"]);
    let answer = env.refused("commit --sha HEAD", 3, "foreign_commit", "");
    assert!(answer.message().contains("changes nothing"), "{answer:#?}");
}

#[test]
fn a_merge_is_no_commit_of_a_subtask() {
    let env = TestEnvironment::started();
    env.git(&["switch", "--quiet", "--create", "side"]);
    env.write("side.txt", "side\n");
    env.commit_all("Side");
    env.git(&["switch", "--quiet", "master/task-1-count-the-words"]);
    env.to_commit();
    own_commit(&env);
    env.git(&["merge", "--quiet", "--no-ff", "--no-edit", "side"]);
    let answer = env.refused("commit --sha HEAD", 3, "foreign_commit", "git reset --keep");
    assert!(answer.message().contains("single parents"), "{answer:#?}");
}

#[test]
fn a_commit_of_something_else_was_not_tested() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.write("src/1.1.sh", "not what was tested\n");
    own_commit(&env);
    env.refused(
        "commit --sha HEAD",
        3,
        "changed_after_green",
        "tm autopilot reopen",
    );
}

#[test]
fn what_a_commit_leaves_out_is_committed_on_top_of_it() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.git(&["add", "src"]);
    env.git(&["commit", "--quiet", "--message", "Half of it"]);
    let half = env.head();
    let taken = env.auto("commit --sha HEAD").ok();
    assert_eq!(taken["commitSha"], env.head());
    assert_eq!(env.git(&["rev-parse", "HEAD~1"]), half);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    // Not where the rest is not what was tested.
    let env = TestEnvironment::started();
    env.to_commit();
    env.git(&["add", "src"]);
    env.git(&["commit", "--quiet", "--message", "Half of it"]);
    env.write("tests/1.1.sh", "another\n");
    env.refused(
        "commit --sha HEAD",
        3,
        "changed_after_green",
        "tm autopilot reopen",
    );
}

#[test]
fn a_rewritten_history_is_seen_in_every_phase() {
    let rewrites: [(&str, &[&str], &str); 2] = [
        (
            "amend",
            &[
                "commit",
                "--quiet",
                "--amend",
                "--allow-empty",
                "--message",
                "Better words",
            ],
            "git reset --soft",
        ),
        (
            "reset",
            &["reset", "--quiet", "--soft", "HEAD~1"],
            "git reset --quiet",
        ),
    ];
    for (name, command, way_back) in rewrites {
        let env = TestEnvironment::started();
        env.subtask();
        let good = env.head();
        let way_back = &format!("{way_back} {}", &good[..10]);
        let rewrite = || {
            env.git(command);
            assert_ne!(env.head(), good);
        };
        let mend = || {
            env.git(&["reset", "--quiet", "--soft", &good]);
            // What the index had of it is the user's to see to; here it is put back.
            env.git(&["reset", "--quiet"]);
        };
        rewrite();
        env.write("tests/1.2.sh", "test\n");
        let red = "complete red --results failed:1,passed:1";
        let answer = env.refused(red, 3, "history_rewritten", way_back);
        assert!(
            answer.suggestion().contains("tm autopilot allow"),
            "{name}: {answer:#?}"
        );
        mend();
        env.auto(red).ok();
        rewrite();
        env.write("src/1.2.sh", "code\n");
        let green = "complete green --results failed:0,passed:2";
        env.refused(green, 3, "history_rewritten", way_back);
        mend();
        env.auto(green).ok();
        rewrite();
        env.refused("commit", 3, "history_rewritten", way_back);
        env.refused("commit --sha HEAD", 3, "history_rewritten", way_back);
        mend();
        env.auto("commit").ok();
        let good = env.head();
        env.git(&["commit", "--quiet", "--amend", "--message", "Better words"]);
        let finalize = "finalize --results failed:0,passed:2";
        env.refused(finalize, 3, "history_rewritten", "git reset");
        env.git(&["reset", "--quiet", "--soft", &good]);
        env.auto(finalize).ok();
    }
}

#[test]
fn a_commit_that_is_gone_altogether_is_named() {
    let env = TestEnvironment::started();
    env.subtask();
    env.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    env.git(&["reflog", "expire", "--expire=now", "--all"]);
    env.git(&["gc", "--quiet", "--prune=now"]);
    env.write("tests/1.2.sh", "test\n");
    env.refused(
        "complete red --results failed:1,passed:1",
        3,
        "history_rewritten",
        "new run",
    );
}
