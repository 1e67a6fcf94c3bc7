//! The run's branch: what it is called, when it is taken over, and where no run may work.

use testkit::person::key;

use super::environment::{CONFIG, TASKS, TestEnvironment};

const NAME: &str = "master/task-1-count-the-words";

#[test]
fn a_branch_in_the_way_makes_the_name_flat() {
    // `master` cannot stand beside `master/…`.
    let env = TestEnvironment::new();
    env.git(&["branch", "master"]);
    let plan = env.auto("start 1 --dry-run").ok();
    assert_eq!(plan["branch"], "master-task-1-count-the-words");
    assert!(plan["warnings"].to_string().contains("`master`"), "{plan}");
    let started = env.auto("start 1").ok();
    assert_eq!(started["branch"], "master-task-1-count-the-words");
    assert!(
        started["warnings"].to_string().contains("`master`"),
        "{started}"
    );

    // Nor can `a/b` stand beside `a/b/c`.
    let env = TestEnvironment::new();
    env.git(&["branch", "a/b/c"]);
    let started = env.auto("start 1 --branch a/b").ok();
    assert_eq!(started["branch"], "a-b");

    // Where the name has no folder there is no way round.
    let env = TestEnvironment::new();
    env.git(&["branch", "a/b"]);
    env.refused("start 1 --branch a", 3, "branch_conflict", "--branch");
    // Nor where the flat name is taken too.
    env.git(&["branch", "x"]);
    env.git(&["branch", "x-y"]);
    env.refused("start 1 --branch x/y", 3, "branch_exists", "--branch");
}

#[test]
fn a_branch_of_the_remote_in_the_way_makes_the_name_flat() {
    for (there, words, expected) in [
        ("master", "start 1", "master-task-1-count-the-words"),
        ("release", "start 1 --branch release/x", "release-x"),
        ("a/b/c", "start 1 --branch a/b", "a-b"),
        ("other", "start 1", NAME),
    ] {
        let env = TestEnvironment::new();
        env.git(&[
            "update-ref",
            &format!("refs/remotes/origin/{there}"),
            "HEAD",
        ]);
        let started = env.auto(words).ok();
        assert_eq!(started["branch"], expected, "{there}");
        let warned = started["warnings"]
            .to_string()
            .contains(&format!("`{there}` of the remote"));
        assert_eq!(warned, there != "other", "{started}");
    }
    let env = TestEnvironment::new();
    env.git(&["update-ref", "refs/remotes/origin/a/b", "HEAD"]);
    env.refused("start 1 --branch a", 3, "branch_conflict", "--branch");
}

#[test]
fn names_are_compared_without_case() {
    let env = TestEnvironment::new();
    env.git(&["branch", "Master/Task-1-Count-the-Words"]);
    env.refused("start 1", 3, "branch_conflict", "--branch");
    let env = TestEnvironment::new();
    env.git(&["branch", "MASTER"]);
    let plan = env.auto("start 1 --dry-run").ok();
    assert_eq!(plan["branch"], "master-task-1-count-the-words");
}

#[test]
fn a_branch_that_no_run_of_the_task_made_is_refused() {
    let env = TestEnvironment::new();
    env.git(&["branch", NAME]);
    env.refused("start 1", 3, "branch_exists", "--branch");
    env.refused("start 1 --force", 3, "branch_exists", "--branch");

    // That of a run of another task too.
    let env = TestEnvironment::new();
    env.auto("start 4 --branch words").ok();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "main"]);
    env.refused("start 1 --branch words", 3, "branch_exists", "--branch");
    env.auto("start 4 --branch words").ok();
}

#[test]
fn the_branch_of_an_earlier_run_is_taken_over_with_its_work() {
    let env = TestEnvironment::started();
    env.subtask();
    let tip = env.head();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "main"]);
    let plan = env.auto("start 1 --dry-run --allow-dirty").ok();
    assert_eq!(plan["branchExists"], true);
    // What the earlier run did is done on its branch, though not here.
    assert_eq!(plan["skipped"], serde_json::json!(["1.1"]));
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 1);
    let started = env.auto("start 1").ok();
    assert_eq!(started["nextAction"]["unitId"], "workUnit-1.2-RED");
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), NAME);
    assert_eq!(env.head(), tip);
    env.to_commit();
    env.auto("commit").ok();
    assert_eq!(
        env.git(&["rev-list", "--count", &format!("{tip}..HEAD")]),
        "1"
    );
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_refused() {
    let env = TestEnvironment::started();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "main"]);
    let elsewhere = env.folder().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    env.git(&["worktree", "add", "--quiet", elsewhere, NAME]);
    let answer = env.refused("start 1", 5, "branch_checked_out", "--branch");
    assert!(answer.message().contains("elsewhere"), "{answer:#?}");
    env.auto("start 1 --branch other").ok();
}

#[test]
fn names_that_git_does_not_take_are_a_mistake() {
    let env = TestEnvironment::new();
    for name in [
        "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "/a", "a/", "a//b", ".a",
        "a/.b", "a.lock", "a.lock/b", "a.", "@", "a@{1}", "@{-1}", "HEAD", "", "a\nb", "a\u{7f}",
    ] {
        let branch = format!("--branch={name}");
        let answer = env.refused_of(
            &["autopilot", "start", "1", &branch],
            2,
            "bad_branch_name",
            "letters",
        );
        assert!(answer.message().contains("cannot be"), "{answer:#?}");
    }
    let answer = env.tm(&["autopilot", "start", "1", "--branch=-x"]);
    assert_eq!((answer.status, answer.code()), (2, "bad_branch_name"));
    env.auto("start 1 --branch feature/über-1").ok();
}

#[test]
fn no_run_works_on_a_protected_branch() {
    let env = TestEnvironment::new();
    env.refused("start 1 --branch main", 3, "on_default_branch", "--branch");
    env.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "x"}, "git": {"protectedBranches": ["release"]}}"#,
    );
    env.commit_all("Settings");
    env.refused(
        "start 1 --branch release",
        3,
        "on_default_branch",
        "--branch",
    );

    // What the remote says comes first.
    let env = TestEnvironment::new();
    env.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    env.git(&[
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/trunk",
    ]);
    env.refused("start 1 --branch trunk", 3, "on_default_branch", "--branch");
}

#[test]
fn the_branch_that_a_run_was_started_from_is_protected_for_it() {
    let env = TestEnvironment::new();
    env.git(&["switch", "--quiet", "--create", "dev"]);
    env.auto("start 1").ok();
    env.to_commit();
    env.git(&["switch", "--quiet", "dev"]);
    env.refused(
        "commit",
        3,
        "on_default_branch",
        "git switch master/task-1-count-the-words",
    );
    env.git(&["switch", "--quiet", NAME]);
    env.auto("commit").ok();
}

#[test]
fn a_branch_that_git_cannot_switch_to_leaves_the_run_paused() {
    let env = TestEnvironment::started();
    env.subtask();
    env.auto("abort").ok();
    env.git(&["switch", "--quiet", "main"]);
    env.write("src/1.1.sh", "in the way\n");
    let answer = env.auto("start 1 --allow-dirty");
    assert_eq!(
        (answer.status, answer.code()),
        (6, "git_refused"),
        "{answer:#?}"
    );
    assert!(answer.message().contains("src/1.1.sh"), "{answer:#?}");
    super::advice::check(&env, &answer);
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(env.read("src/1.1.sh"), "in the way\n");
    assert_eq!(env.auto("status").ok()["status"], "paused");
    // The cause gone, it goes on.
    std::fs::remove_file(env.project().join("src/1.1.sh")).unwrap();
    env.auto("resume").ok();
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), NAME);
    assert_eq!(env.action(), "red");
}

#[test]
fn titles_become_sane_names() {
    for (title, name) in [
        ("--amend", "master/task-1-amend"),
        ("$(touch pwned); `id`", "master/task-1-touch-pwned-id"),
        ("../../../etc/passwd", "master/task-1-etc-passwd"),
        ("Größe & Übergröße", "master/task-1-grosse-ubergrosse"),
        ("x.lock", "master/task-1-x-lock"),
    ] {
        let tasks = TASKS.replace("Count the words", title);
        let env = TestEnvironment::with(&tasks, CONFIG);
        let started = env.auto("start 1").ok();
        assert_eq!(started["branch"], name);
        assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), name);
    }
}

/// A branch that has its name in common with something else is taken for that, and the other way round.
#[test]
fn a_branch_is_named_as_nothing_else() {
    let env = TestEnvironment::new();
    env.git(&["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    env.git(&["tag", "v1"]);
    for name in ["origin/topic", "v1"] {
        let start = ["autopilot", "start", "1", "--branch", name];
        env.refused_of(&start, 3, "branch_conflict", "another name");
    }
    for name in ["refs/heads/x", "tags/x", "FETCH_HEAD"] {
        let refused = env.tm(&["autopilot", "start", "1", "--branch", name]);
        assert_eq!(refused.code(), "bad_branch_name", "{refused:#?}");
    }
}

#[test]
fn what_kept_the_branch_from_being_made_is_told_afterwards_too() {
    let env = TestEnvironment::new();
    env.hook(
        "reference-transaction",
        "#!/bin/sh\nif [ \"$1\" = prepared ] && grep -q task-1; then echo 'no such branches here' >&2; exit 1; fi\n",
    );
    let start = env.auto("start 1");
    assert_ne!(start.status, 0, "{start:#?}");
    let next = env.auto("next").ok();
    assert_eq!(next["action"], "paused", "{next}");
    let said = next["pausedMessage"].as_str().unwrap();
    assert!(said.contains("no such branches here"), "{next}");
    let shown = env.tm(&["run", "next"]);
    assert!(shown.text().contains("no such branches here"), "{shown:?}");
}

/// A worktree without a branch, as `codex --worktree` and CI make it: `main` is checked out in another one.
fn detached() -> TestEnvironment {
    let env = TestEnvironment::new();
    env.git(&["switch", "--quiet", "--detach"]);
    let beside = env.folder().join("beside");
    env.git(&[
        "worktree",
        "add",
        "--quiet",
        beside.to_str().unwrap(),
        "main",
    ]);
    env
}

#[test]
fn a_run_from_a_detached_commit_makes_its_branch_and_is_finished() {
    let env = detached();
    let base = env.head();
    let plan = env.auto("start 1 --dry-run").ok();
    assert_eq!(plan["fromBranch"], serde_json::Value::Null);
    env.whole_run("start 1");
    assert_eq!(env.git(&["symbolic-ref", "--short", "HEAD"]), NAME);
    assert_eq!(env.git(&["rev-parse", "main"]), base);
    let report = (*env).tm(&["runs", "report"]);
    let range = report.text().split("tm verify ").nth(1).unwrap();
    let range = range.split('`').next().unwrap();
    assert!(range.starts_with(&base[..7]), "{range}");
    assert_eq!(env.tm(&["verify", range]).status, 0);
}

#[test]
fn a_run_from_a_detached_commit_leads_back_to_it() {
    for branch in ["", " --branch other"] {
        let env = detached();
        let base = env.head();
        env.auto(&format!("start 1{branch}")).ok();
        let aborted = env.auto("abort").ok();
        let message = aborted["message"].as_str().unwrap();
        let back = message.rsplit('`').nth(1).unwrap();
        let words: Vec<&str> = back.strip_prefix("git ").unwrap().split(' ').collect();
        env.git(&words);
        assert_eq!(env.head(), base);
        assert_eq!(env.git(&["branch", "--show-current"]), "");

        // With work that is nowhere else the branch stays unless that is forced.
        env.auto(&format!("start 1{branch}")).ok();
        env.subtask();
        let cleanup = format!("abort --cleanup --sign {}", key(&env.store()));
        env.refused(&cleanup, 3, "unmerged_work", "--force");
        env.auto(&format!("{cleanup} --force")).ok();
        assert_eq!(env.head(), base);
        assert_eq!(env.git(&["branch", "--show-current"]), "");
        let branches = env.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        assert_eq!(branches, "main");
    }
}

#[test]
fn the_default_branch_may_be_merged_into_a_run_from_a_detached_commit() {
    let env = detached();
    env.auto("start 1").ok();
    env.subtask();
    let beside = env.folder().join("beside");
    std::fs::write(beside.join("other.txt"), "theirs\n").unwrap();
    let beside = beside.to_str().unwrap();
    env.git(&["-C", beside, "add", "--all"]);
    env.git(&["-C", beside, "commit", "--quiet", "--message", "Theirs"]);
    env.git(&["merge", "--quiet", "--no-edit", "main"]);
    env.finish();
    let report = (*env).tm(&["runs", "report"]);
    assert!(report.text().contains("tm verify main.."), "{report:#?}");
}
