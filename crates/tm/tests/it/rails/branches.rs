//! The run's branch: what it is called, when it is taken over, and where no run may work.

use serde_json::json;
use testkit::person::key;

use super::environment::{BRANCH, SETTINGS, TestEnvironment, tells};

#[test]
fn a_name_in_the_way_makes_the_branch_flat_or_refuses_it() {
    testkit::by_chance!(3);
    let flat = "master-task-1-count-the-words";
    let (in_the_way, there) = ("branch_taken", "branch_taken");
    // `master` cannot stand beside `master/…`. Which names are in each other's way is told where branches are named.
    for (reference, asked, comes_to) in [
        ("heads/master", BRANCH, flat),
        ("heads/master/task-1-count-the-words", BRANCH, there),
        ("remotes/origin/release", "release/x", "release-x"),
        // What has its name in common with something else would be taken for that.
        ("remotes/origin/topic", "origin/topic", in_the_way),
        ("tags/v1", "v1", in_the_way),
    ] {
        let env = TestEnvironment::new();
        env.git(&["update-ref", &format!("refs/{reference}"), "HEAD"]);
        let words = match asked {
            BRANCH => "start 1 --force".to_owned(),
            _ => format!("start 1 --branch {asked}"),
        };
        if comes_to.starts_with("branch_") {
            env.refused(&words, 3, comes_to, "branch");
            continue;
        }
        for words in [format!("{words} --dry-run"), words] {
            let answer = env.auto(&words).ok();
            assert_eq!(answer["branch"], comes_to, "{reference}");
            let warned = answer["warnings"].to_string().contains("cannot");
            assert_eq!(warned, comes_to != asked, "{answer}");
        }
    }
}

/// That of a run of another task is not taken over.
#[test]
fn a_branch_that_another_run_made_or_that_is_checked_out_elsewhere_is_refused() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    env.auto("start 4 --branch words").ok();
    env.auto("abort").ok();
    env.switch("main");
    env.refused("start 1 --branch words", 3, "branch_taken", "--branch");
    env.git(&["worktree", "add", "--quiet", "../elsewhere", "words"]);
    let answer = env.refuses("start 4 --branch words", "branch_taken");
    tells(answer.message(), &["elsewhere"]);
    env.git(&["worktree", "remove", "../elsewhere"]);
    env.auto("start 4 --branch words").ok();
}

#[test]
fn the_branch_of_an_earlier_run_is_taken_over_with_its_work() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    let tip = env.head();
    env.auto("abort").ok();
    env.switch("main");
    let plan = env.auto("start 1 --dry-run --allow-dirty").ok();
    // What the earlier run did is done on its branch, though not here.
    assert_eq!(plan["branchExists"], true);
    assert_eq!(plan["skipped"], json!(["1.1"]));
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 1);
    let started = env.auto("start 1").ok();
    assert_eq!(started["nextAction"]["unitId"], "workUnit-1.2-RED");
    assert_eq!((env.branch(), env.head()), (BRANCH.to_owned(), tip));
    env.subtask();
    assert_eq!(env.commits(), "2");
}

#[test]
fn no_run_works_on_a_protected_branch() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    // Nor on one that git does not take.
    env.refuses("start 1 --branch=-x", "bad_name");
    env.refused("start 1 --branch main", 3, "branch_taken", "--branch");
    // It has no case.
    let settings = r#"{"test": {"command": "x"}, "git": {"protectedBranches": ["Release"]}}"#;
    env.commit_file(SETTINGS, settings);
    env.refuses("start 1 --branch release", "branch_taken");
    // What the remote says comes first.
    env.git_words("update-ref refs/remotes/origin/trunk HEAD");
    env.git_words("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk");
    env.refuses("start 1 --branch trunk", "branch_taken");
}

#[test]
fn a_branch_that_git_cannot_switch_to_leaves_the_run_paused() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    env.subtask();
    env.auto("abort").ok();
    env.switch("main");
    env.write("src/1.1.sh", "in the way\n");
    let answer = env.comes_to("start 1 --allow-dirty", "command_failed");
    tells(answer.message(), &["src/1.1.sh"]);
    assert_eq!(env.branch(), "main");
    assert_eq!(env.read("src/1.1.sh"), "in the way\n");
    assert_eq!(env.status("status"), "paused");
    // The cause gone, it goes on.
    env.delete("src/1.1.sh");
    env.auto("resume").ok();
    assert_eq!((env.branch(), env.action()), (BRANCH.into(), "red".into()));
}

#[test]
fn what_kept_the_branch_from_being_made_is_told_afterwards_too() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let hook = "[ \"$1\" != prepared ] || ! grep -q task-1 || { echo 'not here' >&2; exit 1; }";
    env.hook("reference-transaction", hook);
    assert_ne!(env.auto("start 1").status, 0);
    let next = env.next();
    assert_eq!(next["action"], "paused", "{next}");
    tells(&next["pausedMessage"], &["not here"]);
    tells(env.tm(&["run", "next"]).text(), &["not here"]);
}

/// A worktree without a branch, as `codex --worktree` and CI make it: `main` is checked out in another one.
fn detached() -> TestEnvironment {
    let env = TestEnvironment::new();
    env.git(&["switch", "--quiet", "--detach"]);
    env.git(&["worktree", "add", "--quiet", "../beside", "main"]);
    env
}

#[test]
fn a_run_from_a_detached_commit_makes_its_branch_and_is_finished() {
    testkit::by_chance!(3);
    let env = detached();
    let base = env.head();
    let plan = env.auto("start 1 --dry-run").ok();
    assert_eq!(plan["fromBranch"], json!(null));
    env.auto("start 1").ok();
    env.finish();
    assert_eq!(env.branch(), BRANCH);
    assert_eq!(env.git(&["rev-parse", "main"]), base);
    let report = (*env).tm(&["runs", "report"]);
    let range = report.text().split("tm verify ").nth(1).unwrap();
    let range = range.split('`').next().unwrap();
    assert!(range.starts_with(&base[..7]), "{range}");
    env.tm(&["verify", range]).ok();
}

#[test]
fn a_run_from_a_detached_commit_leads_back_to_it() {
    testkit::by_chance!(3);
    let env = detached();
    let base = env.head();
    let is_back = || assert_eq!((env.head(), env.branch()), (base.clone(), String::new()));
    env.auto("start 1 --branch other").ok();
    let aborted = env.auto("abort").ok();
    let back = aborted["message"].as_str().unwrap().rsplit('`').nth(1);
    env.git_words(back.unwrap().strip_prefix("git ").unwrap());
    is_back();

    env.auto("start 1").ok();
    let cleanup = format!("abort --cleanup --sign {}", key(&env.store()));
    env.auto(&cleanup).ok();
    is_back();
    assert_eq!(env.branches(), "main\nother");
}
