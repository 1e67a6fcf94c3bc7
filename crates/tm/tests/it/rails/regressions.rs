//! What once went wrong, one test each.

use super::environment::{FINALIZE, TestEnvironment, tells};

#[test]
fn a_commit_is_made_although_a_hook_behind_it_rewrote_it() {
    testkit::by_chance!(3);
    let env = TestEnvironment::in_commit();
    let amend = "git commit --quiet --amend --no-verify --date=now --reset-author --no-edit";
    let once = format!("[ -n \"$AGAIN\" ] || AGAIN=1 {amend}");
    env.hook("post-commit", &once);
    assert_eq!(env.commit()["commitSha"], env.head());
    assert_eq!(env.changes(), "");
    assert_eq!(env.status("commits"), 1);
}

#[test]
fn a_commit_that_the_executor_made_is_held_to_the_same_rules() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.write("mine.txt", "work in progress");
    env.auto("start 1 --allow-dirty").ok();
    env.to_commit();
    env.commit_by_hand(&["--all"]);
    env.comes_to("commit --sha HEAD", "unfit_files");
    env.git(&["reset", "--quiet", "HEAD~1"]);
    env.write(".env", "TOKEN=1");
    env.commit_by_hand(&["src", "tests", ".env"]);
    env.comes_to("commit --sha HEAD", "unfit_files");
}

#[test]
fn a_hook_that_refuses_the_last_commit_does_not_hold_the_run() {
    testkit::by_chance!(3);
    let env = TestEnvironment::at_the_end();
    env.save(0);
    // Nobody has tested what the second one adds.
    for (hook, left) in [
        ("echo no; exit 1\n", ""),
        ("echo true >> src/1.1.sh; git add src\n", " M src/1.1.sh"),
    ] {
        env.hook("pre-commit", hook);
        let ended = env.auto(FINALIZE).ok();
        assert_eq!(ended["nextAction"]["action"], "complete");
        assert_eq!(env.changes(), left);
        tells(&ended["report"], &["commit_refused"]);
        env.restore(0);
    }
    // Where the commit failed for other reasons, it is made when it is repeated.
    env.hook("pre-commit", "kill -9 $PPID");
    assert_ne!(env.auto(FINALIZE).status, 0);
    assert_ne!(env.tasks()[0]["status"], "review");
    env.hook("pre-commit", "exit 0");
    let resumed = env.auto("resume").ok();
    assert_eq!(resumed["nextAction"]["status"], "completed", "{resumed}");
    assert_eq!(env.tasks()[0]["status"], "review");
    assert_eq!(env.changes(), "");
}

#[test]
fn a_hook_that_demands_a_sign_off_lets_every_commit_of_the_run_pass() {
    testkit::by_chance!(3);
    let config = r#"{"test": {"command": "x"}, "git": {"signoff": true}}"#;
    let env = TestEnvironment::started_with(config);
    env.hook("commit-msg", "grep -q '^Signed-off-by: ' \"$1\"\n");
    let own = "Signed-off-by: Somebody <somebody@localhost>";
    env.to_commit();
    let message = format!("Count\n\n{own}");
    env.tm(&["autopilot", "commit", "--message", &message]).ok();
    assert_eq!(env.message(), message);
    env.finish();
    let trailers = "--format=%(trailers:key=Signed-off-by,separator=%x2C)";
    let signed = env.git(&["log", trailers, "main..HEAD"]);
    assert_eq!(signed.lines().collect::<Vec<_>>(), [own; 3]);
    tells(env.message(), &["chore(tasks): set task 1 to review\n"]);
}
