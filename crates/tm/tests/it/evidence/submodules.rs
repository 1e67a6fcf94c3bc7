//! Submodules: one that stands at another commit is part of the work, and none is left out in silence.

use std::path::Path;

use super::stage::{NEW_CODE, NEW_TESTS, Stage, accepted};
use crate::rails::environment::TestEnvironment;

const RED: &[&str] = &["autopilot", "complete", "red", "--verify"];
const REPLAY: &[&str] = &["verify", "main..HEAD", "--replay"];
const GREEN: &[&str] = &["autopilot", "complete", "green", "--verify"];

/// A project with the submodule `lib`, whose file `version` holds 1. Its upstream has 2 and 3, too.
fn stage() -> Stage {
    let stage = Stage::new("");
    let upstream = stage.outside("upstream");
    std::fs::create_dir(&upstream).unwrap();
    let upstream = upstream.to_str().unwrap().to_owned();
    let env = &stage.env;
    env.git(&["init", "--quiet", &upstream]);
    let more = "test_more() { true; }\n";
    std::fs::write(Path::new(&upstream).join("more_test.sh"), more).unwrap();
    for version in ["1", "2", "3"] {
        std::fs::write(Path::new(&upstream).join("version"), version).unwrap();
        env.git(&["-C", &upstream, "add", "--all"]);
        commit_in(env, &upstream);
        env.git(&["-C", &upstream, "tag", &format!("v{version}")]);
    }
    add(env, &upstream, "lib");
    at(env, "v1");
    env.commit_all("Begin");
    stage
}

fn add(env: &TestEnvironment, upstream: &str, name: &str) {
    let file = ["-c", "protocol.file.allow=always"];
    env.git(&[&file[..], &["submodule", "--quiet", "add", upstream, name]].concat());
}

fn commit_in(env: &TestEnvironment, folder: &str) {
    let who = ["-c", "user.name=Me", "-c", "user.email=me@localhost"];
    let commit = ["commit", "--quiet", "--all", "--message", "Another"];
    env.git(&[&["-C", folder][..], &who, &commit].concat());
}

fn at(env: &TestEnvironment, version: &str) {
    env.git(&["-C", "lib", "checkout", "--quiet", version]);
}

fn wants(env: &TestEnvironment, folder: &str, version: &str) {
    env.write(
        &format!("tests/{folder}_test.sh"),
        format!("test_{folder}() {{ test \"$(cat {folder}/version)\" -ge {version}; }}\n"),
    );
}

/// Begins a run in which the submodule is moved for a test that wants it so.
fn moved_in_green(env: &TestEnvironment) {
    env.auto("start 1 --verify").ok();
    wants(env, "lib", "2");
    accepted(env.tm(RED).ok());
    at(env, "v2");
    accepted(env.tm(GREEN).ok());
}

fn committed(env: &TestEnvironment) -> String {
    env.git(&["show", "--format=", "--name-only", "--no-renames", "HEAD"])
        .replace(".taskmaster/tasks/tasks.json\n", "")
}

#[test]
fn a_moved_submodule_is_the_change() {
    let stage = stage();
    let env = &stage.env;
    env.auto("start 1 --verify").ok();
    wants(env, "lib", "2");
    accepted(env.tm(RED).ok());
    at(env, "v2");
    let green = accepted(env.tm(GREEN).ok());
    assert!(green["warning"].is_null(), "{green:#}");
    let made = env.auto("commit").ok();
    assert_eq!(committed(env), "lib\ntests/lib_test.sh");
    assert!(made["warning"].is_null(), "{made:#}");

    // The same by hand, with a commit that nobody else has.
    wants(env, "lib", "4");
    accepted(env.tm(RED).ok());
    env.write("lib/version", "4");
    commit_in(env, "lib");
    accepted(env.tm(GREEN).ok());
    env.commit_all("By hand");
    let made = env.auto("commit --sha HEAD").ok();
    assert!(made["warning"].as_str().unwrap().contains("pushed"));

    let proof = env.tm(&["verify", "main..HEAD", "--replay"]).ok();
    for commit in proof["commits"].as_array().unwrap() {
        assert_eq!(commit["standing"], "earned", "{commit:#}");
        let red = &commit["replay"]["red"];
        assert_eq!(
            red["failed"], 1,
            "the submodule is that of before: {commit:#}"
        );
    }
}

#[test]
fn what_no_commit_in_it_holds_is_refused_by_name() {
    let stage = stage();
    let env = &stage.env;
    env.write("lib/version", "changed");
    env.refused("start 1", 3, "dirty_tree", "--allow-dirty");
    at(env, "v1");
    env.git(&["-C", "lib", "checkout", "--quiet", "version"]);
    env.auto("start 1").ok();
    wants(env, "lib", "2");
    env.write("lib/new", "");
    let red = "complete red --results failed:1,passed:1";
    let green = "complete green --results failed:0,passed:2";
    let named = |words: &str| {
        let answer = env.refused(words, 3, "dirty_submodule", "git -C");
        assert_eq!(answer.json()["details"]["files"][0], "lib");
    };
    named(red);
    std::fs::remove_file(env.project().join("lib/new")).unwrap();
    env.auto(red).ok();
    env.write("lib/version", "2");
    named(green);
    commit_in(env, "lib");
    env.auto(green).ok();
    env.write("lib/version", "3");
    named("commit");
    env.git(&["-C", "lib", "checkout", "--quiet", "version"]);
    // Another commit in it is not what was tested.
    at(env, "v3");
    assert_eq!(env.auto("commit").code(), "changed_after_green");
    env.git(&["-C", "lib", "checkout", "--quiet", "-"]);
    env.auto("commit").ok();
    assert_eq!(committed(env), "lib\ntests/lib_test.sh");
}

#[test]
fn what_was_changed_in_it_before_stays_out() {
    let stage = stage();
    let env = &stage.env;
    at(env, "v3");
    env.write("lib/new", "");
    env.auto("start 1 --allow-dirty").ok();
    env.subtask();
    assert!(!committed(env).contains("lib"));
    env.red();
    env.write("lib/new", "other");
    let id = "complete green --results failed:0,passed:2";
    env.write("src/1.2.sh", "code\n");
    env.refused(id, 3, "dirty_submodule", "git -C");
}

#[test]
fn a_new_one_a_removed_one_and_a_bump_as_chore() {
    let stage = stage();
    let env = &stage.env;
    env.auto("start 1 --verify").ok();
    wants(env, "more", "1");
    accepted(env.tm(RED).ok());
    let upstream = stage.outside("upstream");
    add(env, upstream.to_str().unwrap(), "more");
    accepted(env.tm(GREEN).ok());
    env.auto("commit").ok();
    assert_eq!(committed(env), ".gitmodules\nmore\ntests/more_test.sh");

    env.auto("reopen --kind chore --reason bump").ok();
    at(env, "v2");
    accepted(env.auto("complete chore --verify").ok());
    env.auto("commit").ok();
    assert_eq!(committed(env), "lib");
    env.auto("finalize --verify").ok();
    env.tm(&["verify", "main..HEAD", "--replay"]).ok();

    env.auto("start 4 --verify").ok();
    env.write("tests/gone_test.sh", "test_gone() { test ! -e lib; }\n");
    accepted(env.tm(RED).ok());
    env.git(&["rm", "--quiet", "lib"]);
    accepted(env.tm(GREEN).ok());
    env.auto("commit").ok();
    assert_eq!(committed(env), ".gitmodules\nlib\ntests/gone_test.sh");
}

#[test]
fn a_new_one_and_a_renamed_one_need_not_be_staged() {
    let stage = stage();
    let env = &stage.env;
    let upstream = stage.outside("upstream");
    let red = |passed: u32| {
        let numbers = format!("complete red --results failed:1,passed:{passed}");
        accepted(env.auto(&numbers).ok());
    };
    let green = |passed: u32| format!("complete green --results failed:0,passed:{passed}");
    env.auto("start 1").ok();
    wants(env, "more", "1");
    red(2);
    add(env, upstream.to_str().unwrap(), "more");
    env.git(&["reset", "--quiet"]);
    env.write("more/new", "");
    env.refused(&green(3), 3, "dirty_submodule", "git -C");
    std::fs::remove_file(env.project().join("more/new")).unwrap();
    accepted(env.auto(&green(3)).ok());
    env.auto("commit").ok();
    assert_eq!(committed(env), ".gitmodules\nmore\ntests/more_test.sh");
    assert_eq!(env.git(&["status", "--porcelain"]), "");

    // Another repository in the tree is none.
    let upstream = upstream.to_str().unwrap();
    env.git(&["clone", "--quiet", upstream, "nested"]);
    wants(env, "second", "1");
    red(3);
    env.git(&["mv", "lib", "second"]);
    env.git(&["reset", "--quiet"]);
    accepted(env.auto(&green(4)).ok());
    env.auto("commit").ok();
    assert_eq!(
        committed(env),
        ".gitmodules\nlib\nsecond\ntests/second_test.sh"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "?? nested/");
}

#[test]
fn a_renamed_one_and_a_removed_one_are_a_chore() {
    let stage = stage();
    let env = &stage.env;
    let committed_as = |words: &str, files: &str| {
        accepted(env.auto("complete chore --verify").ok());
        env.auto(words).ok();
        assert_eq!(committed(env), files);
    };
    env.auto("start 1 --verify").ok();
    env.auto("reopen --kind chore --reason rename").ok();
    env.git(&["mv", "lib", "second"]);
    committed_as("commit", ".gitmodules\nlib\nsecond");
    env.auto("reopen --kind chore --reason remove").ok();
    env.git(&["rm", "--quiet", "second"]);
    env.commit_all("By hand");
    committed_as("commit --sha HEAD", ".gitmodules\nsecond");
    env.auto("finalize --verify").ok();
    env.tm(&["verify", "main..HEAD"]).ok();
}

/// Git stashes nothing of a submodule, so that what an older stash holds would come back.
#[test]
fn what_is_advised_leaves_older_stashes_alone() {
    let stage = stage();
    let env = &stage.env;
    env.write("README.md", "mine\n");
    let mut stash = env.process("git");
    stash.env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00 +0000");
    assert!(
        stash
            .args(["stash", "push", "--quiet"])
            .status()
            .unwrap()
            .success()
    );
    env.auto("start 1 --verify").ok();
    wants(env, "lib", "2");
    at(env, "v2");
    env.git(&["add", "lib"]);
    let answer = stage.refused(RED, "red_requires_failing_tests", &[], "git submodule");
    assert!(!answer.suggestion().contains("stash"), "{answer:#?}");
    let reset = "`git reset --quiet -- :/lib`, ";
    assert!(answer.suggestion().contains(reset), "{answer:#?}");
    env.git(&["reset", "--quiet", "--", ":/lib"]);
    env.git(&["submodule", "--quiet", "update", "--init", "--", ":/lib"]);
    accepted(env.tm(RED).ok());
    env.git(&["-C", "lib", "checkout", "--quiet", "-"]);
    accepted(env.tm(GREEN).ok());
    env.auto("commit").ok();

    // What is changed in one is set aside there.
    wants(env, "more", "1");
    env.write("lib/version", "4");
    stage.refused(RED, "dirty_submodule", &[], "git -C");
    let stash = ["stash", "push", "--quiet", "--include-untracked"];
    env.git(&[&["-C", "lib"][..], &stash].concat());
    accepted(env.tm(RED).ok());
    assert_eq!(env.git(&["stash", "list"]).lines().count(), 1);
}

#[test]
fn a_way_back_takes_it_along() {
    let stage = stage();
    let env = &stage.env;
    let version = || std::fs::read_to_string(env.project().join("lib/version")).unwrap();
    env.auto("start 1 --verify").ok();
    wants(env, "lib", "2");
    accepted(env.tm(RED).ok());
    at(env, "v2");
    accepted(env.tm(GREEN).ok());
    env.auto("commit").ok();
    env.auto("rewind last-commit --reason again").ok();
    assert_eq!(version(), "2");
    env.auto("commit").ok();
    assert_eq!(committed(env), "lib\ntests/lib_test.sh");
    env.auto("rewind red --reason again").ok();
    env.auto("rewind 1.1 --reason again").ok();
    assert_eq!(
        (version().as_str(), env.git(&["status", "--porcelain"])),
        ("1", String::new())
    );
    env.auto("rewind workUnit-1.1-COMMIT --reason again").ok();
    assert_eq!(version(), "2");

    // One that was changed otherwise since stays, which is said.
    env.write("lib/version", "mine");
    let answer = env.auto("rewind 1.1 --reason again").ok();
    assert!(answer.to_string().contains("git submodule update --init"));
    assert_eq!(version(), "mine");
}

/// Like a lock file it comes with the tests that fail with it.
#[test]
fn what_red_failed_with_is_there_when_it_is_replayed() {
    let stage = stage();
    let env = &stage.env;
    env.write("src/known.sh", "known() { echo 1; }\n");
    env.commit_all("Known");
    env.auto("start 1 --verify").ok();
    env.write(
        "tests/lib_test.sh",
        "test_known() { test \"$(cat lib/version)\" = \"$(known)\"; }\n",
    );
    at(env, "v2");
    env.tm(RED).ok();
    env.write("src/known.sh", "known() { echo 2; }\n");
    let green = accepted(env.tm(GREEN).ok());
    assert!(green["warning"].is_null(), "{green:#}");
}

#[test]
fn what_moved_is_told_and_what_did_not_is_not() {
    let stage = stage();
    let env = &stage.env;
    moved_in_green(env);
    let named = |expected: &[&str]| {
        let answer = env.auto("commit");
        assert_eq!(answer.code(), "changed_after_green", "{answer:#?}");
        let files = &answer.json()["details"]["files"];
        assert_eq!(*files, serde_json::json!(expected));
    };
    std::fs::write(env.project().join("lib/x"), "").unwrap();
    std::fs::remove_file(env.project().join("lib/x")).unwrap();
    env.write("README.md", "other\n");
    named(&["README.md"]);
    env.git(&["checkout", "--quiet", "README.md"]);
    at(env, "v3");
    named(&["lib"]);
    at(env, "v2");
    env.auto("commit").ok();
}

#[test]
fn a_replay_names_one_that_is_not_checked_out() {
    let stage = stage();
    let env = &stage.env;
    moved_in_green(env);
    env.auto("commit").ok();
    not_replayed_without_it(env);
    env.git(&["submodule", "--quiet", "update", "--init"]);
    env.tm(REPLAY).ok();
}

/// Tests that it brings along are in no list of what RED failed with.
#[test]
fn a_replay_with_fewer_tests_names_it_as_well() {
    let stage = stage();
    let env = &stage.env;
    let link = env.project().join("tests/more_test.sh");
    std::os::unix::fs::symlink("../lib/more_test.sh", link).unwrap();
    env.commit_all("More");
    stage.start();
    env.write("tests/new_test.sh", NEW_TESTS);
    accepted(env.tm(RED).ok());
    env.write("src/new.sh", NEW_CODE);
    accepted(env.tm(GREEN).ok());
    env.auto("commit").ok();
    env.tm(REPLAY).ok();
    not_replayed_without_it(env);
}

#[test]
fn a_start_names_one_that_is_not_checked_out() {
    let stage = stage();
    let env = &stage.env;
    env.git(&["submodule", "--quiet", "deinit", "--force", "lib"]);
    let answer = env.auto("start 1").ok();
    let warnings = &answer["warnings"];
    assert!(warnings.to_string().contains("submodule lib"), "{answer:#}");
}

fn not_replayed_without_it(env: &TestEnvironment) {
    env.git(&["submodule", "--quiet", "deinit", "--force", "lib"]);
    let answer = env.tm(REPLAY);
    let problems = &answer.json()["commits"][0]["problems"];
    assert_eq!(problems[0]["code"], "not_replayed", "{answer:#?}");
    assert_eq!(problems.as_array().unwrap().len(), 1);
    let message = problems[0]["message"].as_str().unwrap();
    assert!(message.contains("`git submodule update --init`"));
}
