//! Whatever stands against a push or a pull request: the right answer to each, nothing lost, and never two of them.

use serde_json::json;
use testkit::chance::draws;
use testkit::{Forge, Sandbox};

use super::whole::{body, finished, finished_with, on_remote, pushed};
use crate::rails::environment::{BRANCH, CONFIG, TASKS, TestEnvironment, tells};

/// What stands against a submission, what it comes to (a code, or what is advised where the rest is a person's to do), and how it
/// comes to be.
type Obstacle = (&'static str, &'static str, fn(&TestEnvironment, &Forge));

/// Has the remote be somewhere else.
fn points_to(env: &Sandbox, url: &str) {
    env.git(&["remote", "set-url", "origin", url]);
}

const OBSTACLES: &[Obstacle] = &[
    ("no remote", "no_remote", |env, _| {
        env.git(&["remote", "remove", "origin"]);
    }),
    ("no repository there", "no_remote", |env, _| {
        points_to(env, "/nowhere/r.git");
    }),
    ("offline", "unreachable", |env, _| {
        points_to(env, "git://127.0.0.1:1/o/r");
    }),
    ("no rights to read", "forge_refused", |env, _| {
        let ssh = "echo 'git@x: Permission denied (publickey).' >&2; exit 255 #";
        env.git(&["config", "core.sshCommand", ssh]);
        points_to(env, "git@github.com:o/r.git");
    }),
    ("the remote's hook refuses", "forge_refused", |_, forge| {
        let path = forge.remote().join("hooks/pre-receive");
        testkit::files::write_program(&path, "#!/bin/sh\necho 'by a rule'; exit 1\n");
    }),
    ("a hook of ours refuses", "forge_refused", |env, _| {
        env.hook("pre-push", "echo 'not on a Friday'; exit 1");
    }),
    ("somebody else's branch", "remote_moved", |env, _| {
        env.git(&["switch", "--quiet", "--detach", "main"]);
        env.commit_file("theirs.txt", "theirs\n");
        env.git_words(&format!("push --quiet origin HEAD:refs/heads/{BRANCH}"));
        env.switch(BRANCH);
    }),
    ("another in the way", "branch_taken", |env, forge| {
        on_remote(env, forge, "update-ref refs/heads/master main");
    }),
    ("a protected branch", "branch_taken", |env, forge| {
        env.git_words(&format!("push --quiet origin main:refs/heads/{BRANCH}"));
        let head = format!("symbolic-ref HEAD refs/heads/{BRANCH}");
        on_remote(env, forge, &head);
    }),
    ("the branch is gone", "not_found", |env, _| {
        env.switch("main");
        env.git(&["branch", "--quiet", "--delete", "--force", BRANCH]);
    }),
    ("commits were rewritten", "branch_moved", |env, _| {
        env.git_words("commit --quiet --amend --message Another");
    }),
    ("commits of somebody else", "needs_person", |env, _| {
        env.commit_file("mine.txt", "mine\n");
    }),
    ("no such base", "not_found", |env, forge| {
        env.git(&["branch", "--quiet", "--move", "main", "trunk"]);
        on_remote(env, forge, "update-ref -d refs/heads/main");
    }),
    ("no program", "install it", |_, forge| forge.uninstall("gh")),
    ("an unknown host", "submit.forge", |env, forge| {
        let (url, at) = ("https://git.example.org/o/r.git", forge.remote());
        points_to(env, url);
        env.git(&["config", &format!("url.{}.insteadOf", at.display()), url]);
    }),
    ("a folder for a remote", "take the branch", |env, forge| {
        points_to(env, forge.remote().to_str().unwrap());
    }),
];

/// Requests to the forge that fail, how, and what the submission comes to.
const FAULTS: [(&str, &str, &str, &str); 7] = [
    ("*", "*", "4", "gh auth login"),
    ("*", "*", "401", "gh auth login"),
    ("*", "*", "404", "forge_refused"),
    ("*", "*", "rate", "unreachable"),
    ("*", "*", "offline", "unreachable"),
    ("POST", "*/pulls", "422", "forge_refused"),
    ("GET", "*", "garbage", "forge_refused"),
];

/// The submission comes to this, with no pull request; the branch is pushed where the forge stands against it alone.
fn comes_to(env: &TestEnvironment, forge: &Forge, (name, told): (&str, &str), is_forge: bool) {
    let is_code = told.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if is_code {
        env.comes_to("submit", told);
    } else {
        let by_hand = env.auto("submit").ok()["byHand"].take();
        tells(&by_hand["fix"], &[told]);
        // Where the forge is known, its page is as well.
        if told == "gh auth login" {
            tells(&by_hand["url"], &[&format!("/compare/main...{BRANCH}")]);
        }
    }
    let is_pushed = pushed(env, forge) == env.head();
    assert_eq!(is_pushed, !is_code || is_forge, "{name}");
    let status = env.tm(&["autopilot", "status"]).ok()["status"].take();
    assert_eq!(
        (forge.requests(), status),
        (0, json!("completed")),
        "{name}"
    );
}

#[test]
fn each_obstacle_has_its_answer() {
    testkit::by_chance!(3);
    let (env, forge) = finished("github.com");
    env.save(0);
    for (name, told, prepare) in OBSTACLES.iter().filter(|row| draws(row.0, 3)) {
        prepare(&env, &forge);
        comes_to(&env, &forge, (name, told), false);
        env.restore(0);
    }
}

/// None of them is in the way of the next, and the submission goes through once all are out of the way.
#[test]
fn each_fault_of_the_forge_has_its_answer() {
    testkit::by_chance!(3);
    let (env, forge) = finished("github.com");
    for (method, glob, how, told) in FAULTS.iter().filter(|row| draws(row.2, 3)) {
        forge.fails(method, glob, how);
        comes_to(&env, &forge, (how, told), true);
        forge.works_again();
    }
    let again = env.auto("submit").ok();
    assert_eq!(again["pullRequest"]["created"], true);
    // What stood against it is nothing that a reviewer has to know.
    assert!(!body(&forge).contains("forge_"));
    assert_eq!(forge.requests(), 1);
}

/// A run that goes on is not submitted, nor one that came to nothing.
#[test]
fn only_what_reached_its_goal_is_submitted() {
    testkit::by_chance!(3);
    let env = TestEnvironment::started();
    let _forge = Forge::beside(&env, "github.com");
    env.refuses("submit", "not_possible");
    env.auto("pause").ok();
    env.refused("submit", 5, "paused", "tm autopilot resume");
    env.auto("resume").ok();
    env.auto("abort").ok();
    env.refuses("submit", "not_possible");
}

/// Where the settings ask for a person, no agent submits.
#[test]
fn a_person_agrees_where_the_settings_say_so() {
    testkit::by_chance!(3);
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "submit": {"approval": "terminal"}}"#;
    let (env, forge) = finished_with(config, "github.com");
    env.refused("submit", 3, "needs_person", "at a terminal");
    assert_eq!(forge.calls(), []);
    env.agreed(&["autopilot", "submit"]);
    assert_eq!(forge.requests(), 1);
    assert_eq!(pushed(&env, &forge), env.head());
}

/// What an agent's texts have in them names nobody and closes nothing.
#[test]
fn texts_of_others_do_nothing() {
    testkit::by_chance!(3);
    let title = "Ask @somebody to merge, fixes #1 <!-- tramline end --> [x](http://y)";
    let env = TestEnvironment::with(&TASKS.replace("Count by spaces", title), CONFIG);
    let forge = Forge::beside(&env, "github.com");
    env.whole_run("start 1");
    let issue = ["autopilot", "submit", "--issue", "12\nCloses #13"];
    env.refuses_of(&issue, "usage");
    env.auto("submit").ok();
    let body = body(&forge);
    for harmful in ["@somebody", "fixes #1", "[x](http"] {
        assert!(!body.contains(harmful), "{harmful}: {body}");
    }
    assert_eq!(body.matches("<!-- tramline end -->").count(), 1, "{body}");
}

/// What was asked for and whose answer was lost is looked for; one that somebody faster has opened is taken.
#[test]
fn one_that_is_there_already_is_taken() {
    testkit::by_chance!(3);
    for host in ["github.com", "gitlab.com"] {
        let (env, forge) = finished(host);
        if host == "github.com" {
            forge.fails_once("POST", "*/pulls", "lost");
        } else {
            forge.opens(&json!({ "title": "Theirs", "description": "", "source_branch": BRANCH, "target_branch": "main" }));
            // As if another process had opened it between the look and the request.
            forge.fails_once("GET", "*merge_requests?*", "empty");
        }
        let answer = env.auto("submit").ok();
        assert_eq!(answer["pullRequest"]["number"], 1, "{answer:#}");
        assert_eq!(forge.requests(), 1);
    }
}

#[test]
fn nothing_is_put_on_top_of_what_was_closed_or_merged() {
    testkit::by_chance!(3);
    let (env, forge) = finished("github.com");
    // What hangs on a pull request and did not work is told, and is no failure.
    forge.fails("POST", "*/labels", "422");
    forge.fails("POST", "*/requested_reviewers", "422");
    let answer = env.auto("submit --label nobody --reviewer nobody").ok();
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2);
    forge.becomes(1, "closed");
    let answer = env.refuses("submit", "not_possible");
    assert_eq!(answer.json()["error"]["details"]["number"], 1);
    forge.becomes(1, "open");
    env.auto("submit").ok();
    forge.becomes(1, "merged");
    env.refuses("submit", "not_possible");
    assert_eq!(forge.requests(), 1);
}

/// Killed at each of its steps, then asked again: one push, one pull request, and a journal that is whole.
#[cfg(debug_assertions)]
#[test]
fn killed_at_each_step_it_is_done_once() {
    testkit::by_chance!(3);
    let (env, forge) = finished("github.com");
    env.save(0);
    for name in TestEnvironment::deaths(&[
        "before-append",
        "after-append",
        "before-append:2",
        "after-append:2",
        "after-append:3",
        "after-append:4",
        "before-perform",
        "before-perform:2",
        "before-perform:3",
        "push-in-git",
        "push-after-push",
        "push-after-proof",
        "request-after-create",
        "request-after-labels",
        "after-perform:3",
        "derived-before-state",
    ]) {
        env.killed("submit --label run", name);
        let answer = env.auto("submit --label run").ok();
        assert_eq!(answer["pullRequest"]["number"], 1, "{name}: {answer:#}");
        assert_eq!(forge.requests(), 1, "{name}");
        assert_eq!(pushed(&env, &forge), env.head(), "{name}");
        env.journal_is_whole();
        let calls = forge.calls().into_iter();
        let created = calls.filter(|call| call.method == "POST" && call.path.ends_with("/pulls"));
        assert_eq!(created.count(), 1, "{name}");
        env.restore(0);
    }
}
