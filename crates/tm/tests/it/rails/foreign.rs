//! Commits that the run did not make, and history that somebody rewrote under it.

use super::environment::{FINALIZE, GREEN, RED, TASKS_FILE, TestEnvironment, tells};

/// How many subtasks the tasks file of HEAD has as done.
fn done(env: &TestEnvironment) -> usize {
    let tasks = env.git(&["show", &format!("HEAD:{TASKS_FILE}")]);
    // One is of another task.
    tasks.matches("\"done\"").count() - 1
}

#[test]
fn a_commit_of_the_executor_is_taken_over_and_its_status_follows() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    for _ in 0..2 {
        env.to_commit();
        let sha = env.commit_by_hand(&["src", "tests"]);
        // Whoever made it, it holds what was tested.
        let taken = env.auto("commit").ok();
        assert_eq!(taken["commitSha"], sha);
        assert_eq!((env.head(), env.message()), (sha, "My own words".into()));
        assert_eq!((env.changes(), done(&env)), (String::new(), 0));
    }
    // What is owed travels with the status of the task.
    env.auto(FINALIZE).ok();
    assert_eq!((done(&env), env.commits()), (2, "3".to_owned()));
    assert_eq!(env.tasks()[0]["status"], "review");
    assert_eq!(env.changes(), "");
}

#[test]
fn only_the_commit_of_this_subtask_counts() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    let last = env.head();
    env.to_commit();
    let no_such = "0123456789012345678901234567890123456789";
    for (told, commits) in [
        (
            "not HEAD",
            &[no_such, "--all", "HEAD:README.md", "main", "HEAD~1"][..],
        ),
        ("last commit", &["HEAD", &last]),
    ] {
        for sha in commits {
            let words = format!("commit --sha={sha}");
            tells(env.refuses(&words, "not_found").message(), &[told]);
        }
    }
}

#[test]
fn what_a_commit_leaves_out_is_committed_on_top_of_it() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    env.save(0);
    let half = env.commit_by_hand(&["src"]);
    let taken = env.auto("commit --sha HEAD").ok();
    assert_eq!(taken["commitSha"], env.head());
    assert_eq!(env.git(&["rev-parse", "HEAD~1"]), half);
    assert_eq!(env.changes(), "");
    // Not where that, or the rest, is not what was tested.
    for path in ["src/1.1.sh", "tests/1.1.sh"] {
        env.restore(0);
        env.write(path, "another\n");
        env.commit_by_hand(&["src"]);
        env.refuses("commit --sha HEAD", "changed_after_green");
    }
}

#[test]
fn a_rewritten_history_is_seen_in_every_phase() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    let good = env.head();
    let seen = |words: &[&str]| {
        env.git_words("commit --quiet --amend --allow-empty --message Better");
        for words in words {
            env.refused(words, 3, "branch_moved", "tm autopilot adopt");
        }
        env.git(&["reset", "--quiet", "--soft", &good]);
        env.auto(words[0]).ok();
    };
    env.write("tests/1.2.sh", "test\n");
    seen(&[RED]);
    env.write("src/1.2.sh", "code\n");
    seen(&[GREEN]);
    seen(&["commit", "commit --sha HEAD"]);
    env.git_words("commit --quiet --amend --allow-empty --message Better");
    env.refused(FINALIZE, 3, "branch_moved", "tm autopilot adopt");
}

#[test]
fn a_commit_that_is_gone_altogether_is_named() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    env.git_words("reflog expire --expire=now --all");
    env.git(&["gc", "--quiet", "--prune=now"]);
    env.write("tests/1.2.sh", "test\n");
    let answer = env.refused(RED, 3, "branch_moved", "done again");
    tells(answer.message(), &["1.1", "gone"]);
    env.comes_to("rewind workUnit-1.2-RED", "not_found");
}
