//! Whatever stands against a push or a pull request: the right answer to each, nothing lost, and never two of them.

use serde_json::json;
use testkit::{Forge, Outcome, Sandbox};

use super::whole::{finished, finished_with, pushed};
use crate::rails::environment::{CONFIG, TASKS, TestEnvironment};

const BRANCH: &str = "master/task-1-count-the-words";

/// What stands against a submission, and what is answered.
struct Obstacle {
    name: &'static str,
    prepare: fn(&TestEnvironment, &Forge),
    /// The status and the code of the answer; a status of 0 where the rest is a person's to do.
    answer: (i32, &'static str),
    /// What the advice names.
    advises: &'static str,
    /// Whether the branch is on the remote behind it as it is here.
    pushed: bool,
}

const fn refused(
    name: &'static str,
    code: &'static str,
    advises: &'static str,
    prepare: fn(&TestEnvironment, &Forge),
) -> Obstacle {
    Obstacle {
        name,
        prepare,
        answer: (3, code),
        advises,
        pushed: false,
    }
}

const fn failed(
    name: &'static str,
    code: &'static str,
    advises: &'static str,
    pushed: bool,
    prepare: fn(&TestEnvironment, &Forge),
) -> Obstacle {
    Obstacle {
        name,
        prepare,
        answer: (6, code),
        advises,
        pushed,
    }
}

const fn by_hand(
    name: &'static str,
    advises: &'static str,
    prepare: fn(&TestEnvironment, &Forge),
) -> Obstacle {
    Obstacle {
        name,
        prepare,
        answer: (0, ""),
        advises,
        pushed: true,
    }
}

/// Somebody else's commit on the remote's branch of the run, made on top of `on`.
fn push_of_another(env: &TestEnvironment, on: &str) {
    env.git(&["switch", "--quiet", "--detach", on]);
    env.write("theirs.txt", "theirs\n");
    env.commit_all("Theirs");
    env.git(&[
        "push",
        "--quiet",
        "origin",
        &format!("HEAD:refs/heads/{BRANCH}"),
    ]);
    env.git(&["switch", "--quiet", BRANCH]);
}

/// A hook of the remote.
fn remote_hook(forge: &Forge, name: &str, script: &str) {
    let path = forge.remote().join("hooks").join(name);
    testkit::files::write_program(&path, format!("#!/bin/sh\n{script}\n"));
}

/// Has the remote be somewhere else.
fn points_to(env: &Sandbox, url: &str) {
    env.git(&["remote", "set-url", "origin", url]);
}

const OBSTACLES: &[Obstacle] = &[
    refused(
        "no remote",
        "no_remote",
        "git remote add origin URL",
        |env, _| {
            env.git(&["remote", "remove", "origin"]);
        },
    ),
    refused(
        "a remote of another name",
        "no_remote",
        "there are: upstream",
        |env, _| {
            env.git(&["remote", "rename", "origin", "upstream"]);
        },
    ),
    refused(
        "no repository there",
        "remote_missing",
        "git remote set-url origin URL",
        |env, _| {
            points_to(env, "/nowhere/r.git");
        },
    ),
    refused("offline", "remote_unreachable", "submit again", |env, _| {
        points_to(env, "git://127.0.0.1:1/o/r");
    }),
    refused(
        "no rights to read",
        "push_denied",
        "git ls-remote origin",
        |env, _| {
            env.git(&[
                "config",
                "core.sshCommand",
                "echo 'git@x: Permission denied (publickey).' >&2; exit 255 #",
            ]);
            points_to(env, "git@github.com:o/r.git");
        },
    ),
    failed(
        "the remote's hook refuses",
        "push_refused",
        "a hook",
        false,
        |_, forge| {
            remote_hook(forge, "pre-receive", "echo 'tests must be signed'; exit 1");
        },
    ),
    failed(
        "a rule for this branch alone",
        "push_refused",
        "a rule",
        false,
        |_, forge| {
            remote_hook(forge, "update", "echo 'protected by a rule'; exit 1");
        },
    ),
    failed(
        "a hook of ours refuses",
        "push_refused",
        "a hook",
        false,
        |env, _| {
            env.hook("pre-push", "echo 'not on a Friday'; exit 1");
        },
    ),
    refused(
        "somebody else's branch",
        "remote_moved",
        "git push origin --delete",
        |env, _| {
            push_of_another(env, "main");
        },
    ),
    refused(
        "a branch of the remote in the way",
        "branch_conflict",
        "git push origin master/task-1-count-the-words:refs/heads/master-task-1-count-the-words",
        |env, forge| {
            let remote = forge.remote();
            let there = |arguments: &[&str]| {
                env.git(&[&["--git-dir", remote.to_str().unwrap()], arguments].concat())
            };
            there(&["update-ref", "refs/heads/master", "main"]);
        },
    ),
    refused(
        "a protected branch",
        "protected_branch",
        "another run",
        |env, forge| {
            env.git(&[
                "push",
                "--quiet",
                "origin",
                &format!("main:refs/heads/{BRANCH}"),
            ]);
            let remote = forge.remote();
            env.git(&[
                "--git-dir",
                remote.to_str().unwrap(),
                "symbolic-ref",
                "HEAD",
                &format!("refs/heads/{BRANCH}"),
            ]);
        },
    ),
    refused(
        "the branch is gone",
        "branch_missing",
        "git branch",
        |env, _| {
            env.git(&["switch", "--quiet", "main"]);
            env.git(&["branch", "--quiet", "--delete", "--force", BRANCH]);
        },
    ),
    refused(
        "commits were rewritten",
        "history_rewritten",
        "git branch --force",
        |env, _| {
            env.git(&["commit", "--quiet", "--amend", "--message", "Another"]);
        },
    ),
    refused(
        "commits that the run did not make",
        "needs_person",
        "at a terminal",
        |env, _| {
            env.write("mine.txt", "mine\n");
            env.commit_all("Mine");
        },
    ),
    refused("no such base", "base_missing", "--base", |env, forge| {
        env.git(&["branch", "--quiet", "--move", "main", "trunk"]);
        let remote = forge.remote();
        env.git(&[
            "--git-dir",
            remote.to_str().unwrap(),
            "update-ref",
            "-d",
            "refs/heads/main",
        ]);
    }),
    by_hand("no program", "install it", |_, forge| forge.uninstall("gh")),
    by_hand("logged out", "gh auth login", |_, forge| {
        forge.fails("*", "*", "4");
    }),
    by_hand(
        "a login that is no longer valid",
        "gh auth login",
        |_, forge| forge.fails("*", "*", "401"),
    ),
    by_hand("an unknown host", "submit.forge", |env, forge| {
        points_to(env, "https://git.example.org/o/r.git");
        let at = forge.remote();
        env.git(&[
            "config",
            &format!("url.{}.insteadOf", at.display()),
            "https://git.example.org/o/r.git",
        ]);
    }),
    by_hand("a folder for a remote", "take the branch", |env, forge| {
        points_to(env, forge.remote().to_str().unwrap());
    }),
    failed(
        "may not open one",
        "forge_denied",
        "rights",
        true,
        |_, forge| forge.fails("POST", "*/pulls", "403"),
    ),
    failed(
        "no such repository on the forge",
        "forge_denied",
        "may see",
        true,
        |_, forge| forge.fails("*", "*", "404"),
    ),
    failed(
        "too many requests",
        "forge_rate_limited",
        "in an hour",
        true,
        |_, forge| forge.fails("*", "*", "rate"),
    ),
    failed(
        "the forge is down",
        "forge_unreachable",
        "submit again",
        true,
        |_, forge| forge.fails("*", "*", "502"),
    ),
    failed(
        "the forge cannot be reached",
        "forge_unreachable",
        "submit again",
        true,
        |_, forge| forge.fails("*", "*", "offline"),
    ),
    failed(
        "it does not take it",
        "forge_refused",
        "what it says",
        true,
        |_, forge| forge.fails("POST", "*/pulls", "422"),
    ),
    failed(
        "its answer is no JSON",
        "forge_refused",
        "what it says",
        true,
        |_, forge| forge.fails("GET", "*", "garbage"),
    ),
];

/// After each of them the submission goes through once that is out of the way, with one pull request.
#[test]
fn each_has_its_answer() {
    let (env, forge) = finished("github.com");
    env.save(0);
    for obstacle in OBSTACLES {
        (obstacle.prepare)(&env, &forge);
        let state = env.tm(&["autopilot", "status"]).json()["status"].clone();
        let answer = env.auto("submit");
        check(obstacle, &answer);
        let tip = env
            .process("git")
            .args(["--git-dir", forge.remote().to_str().unwrap()])
            .args([
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("refs/heads/{BRANCH}"),
            ])
            .output()
            .unwrap();
        let tip = String::from_utf8(tip.stdout).unwrap();
        assert_eq!(
            tip.trim() == env.head(),
            obstacle.pushed,
            "{}: {tip}",
            obstacle.name
        );
        assert_eq!(forge.requests(), 0, "{}", obstacle.name);
        // The run is where it was.
        let status = env.tm(&["autopilot", "status"]);
        assert_eq!(status.json()["status"], state, "{}", obstacle.name);
        if obstacle.answer.0 != 0 && obstacle.answer.1.starts_with("forge") {
            forge.works_again();
            let again = env.auto("submit").ok();
            assert_eq!(again["pullRequest"]["created"], true, "{}", obstacle.name);
            // What stood against it is nothing that a reviewer has to know.
            let body = forge.request(1)["body"].to_string();
            assert!(!body.contains("forge_"), "{}: {body}", obstacle.name);
            assert_eq!(forge.requests(), 1, "{}", obstacle.name);
        }
        env.restore(0);
    }
}

fn check(obstacle: &Obstacle, answer: &Outcome) {
    let Obstacle {
        name,
        answer: (status, code),
        advises,
        ..
    } = obstacle;
    assert_eq!(answer.status, *status, "{name}: {answer:#?}");
    let json = answer.json();
    let advice = if *status == 0 {
        json["byHand"]["fix"].as_str().unwrap_or_default()
    } else {
        assert_eq!(answer.code(), *code, "{name}: {answer:#?}");
        answer.suggestion()
    };
    assert!(advice.contains(advises), "{name}: {answer:#?}");
}

/// A run that goes on is not submitted, nor one that came to nothing.
#[test]
fn only_what_reached_its_goal_is_submitted() {
    let env = TestEnvironment::started();
    let _forge = Forge::beside(&env, "github.com");
    env.refused("submit", 3, "cannot_submit", "tm autopilot status");
    env.auto("pause").ok();
    env.refused("submit", 5, "paused", "tm autopilot resume");
    env.auto("resume").ok();
    env.auto("abort").ok();
    env.refused("submit", 3, "cannot_submit", "tm autopilot status");
}

/// Where the settings ask for a person, no agent submits.
#[test]
fn a_person_agrees_where_the_settings_say_so() {
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "submit": {"approval": "terminal"}}"#;
    let (env, forge) = finished_with(config, "github.com");
    env.refused("submit", 3, "needs_person", "at a terminal");
    assert_eq!(forge.calls(), []);
    let (shown, status, _) = env.person(&["autopilot", "submit"]).agrees();
    assert!(shown.contains("submit"), "{shown}");
    assert_eq!(status, 0, "{shown}");
    assert_eq!(forge.requests(), 1);
    assert_eq!(pushed(&env, &forge), env.head());
}

/// What an agent's texts have in them names nobody and closes nothing.
#[test]
fn texts_of_others_do_nothing() {
    let tasks = TASKS.replace(
        "Count by spaces",
        "Ask @somebody to merge, fixes #1 <!-- tramline end --> [x](http://y)",
    );
    let env = TestEnvironment::with(&tasks, CONFIG);
    let forge = Forge::beside(&env, "github.com");
    env.whole_run("start 1");
    env.refused_of(
        &["autopilot", "submit", "--issue", "12\nCloses #13"],
        2,
        "bad_input",
        "#12",
    );
    env.auto("submit").ok();
    let request = forge.request(1);
    let body = request["body"].as_str().unwrap();
    for harmful in ["@somebody", "fixes #1", "[x](http"] {
        assert!(!body.contains(harmful), "{harmful}: {body}");
    }
    assert_eq!(body.matches("<!-- tramline end -->").count(), 1, "{body}");
}

/// What was asked for and whose answer was lost is looked for.
#[test]
fn a_lost_answer_is_looked_for() {
    let (env, forge) = finished("github.com");
    forge.fails_once("POST", "*/pulls", "lost");
    let answer = env.auto("submit").ok();
    assert_eq!(answer["pullRequest"]["number"], 1, "{answer:#}");
    assert_eq!(forge.requests(), 1);
}

/// Somebody who was faster has opened it: that one is taken.
#[test]
fn one_that_somebody_else_opened_is_taken() {
    let (env, forge) = finished("gitlab.com");
    forge.opens(&json!({ "title": "Theirs", "description": "", "source_branch": BRANCH, "target_branch": "main" }));
    // As if another process had opened it between the look and the request.
    forge.fails_once("GET", "*merge_requests?*", "empty");
    let answer = env.auto("submit").ok();
    assert_eq!(answer["pullRequest"]["number"], 1, "{answer:#}");
    assert_eq!(forge.requests(), 1);
}

#[test]
fn nothing_is_put_on_top_of_what_was_closed_or_merged() {
    let (env, forge) = finished("github.com");
    env.auto("submit").ok();
    forge.becomes(1, "closed");
    let answer = env.refused("submit", 3, "pull_request_closed", "open it again");
    assert_eq!(answer.json()["error"]["details"]["number"], 1);
    forge.becomes(1, "open");
    env.auto("submit").ok();
    forge.becomes(1, "merged");
    env.refused("submit", 3, "pull_request_merged", "another run");
    assert_eq!(forge.requests(), 1);
}

/// What hangs on a pull request and did not work is told, and is no failure.
#[test]
fn labels_and_reviewers_that_are_not_taken_are_told() {
    let (env, forge) = finished("github.com");
    forge.fails("POST", "*/labels", "422");
    forge.fails("POST", "*/requested_reviewers", "422");
    let answer = env.auto("submit --label nobody --reviewer nobody").ok();
    assert_eq!(
        answer["warnings"].as_array().unwrap().len(),
        2,
        "{answer:#}"
    );
    assert_eq!(forge.requests(), 1);
}

/// Killed at each of its steps, then asked again: one push, one pull request, and a journal that is whole.
#[cfg(debug_assertions)]
#[test]
fn killed_at_each_step_it_is_done_once() {
    let (env, forge) = finished("github.com");
    env.save(0);
    for name in [
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
    ] {
        let output = env
            .program(&["autopilot", "submit", "--label", "run"])
            .env("TRAMLINE_FAIL_POINT", name)
            .output()
            .unwrap();
        assert!(
            !output.status.success(),
            "{name} is not reached: {output:?}"
        );
        let answer = env.auto("submit --label run").ok();
        assert_eq!(answer["pullRequest"]["number"], 1, "{name}: {answer:#}");
        assert_eq!(forge.requests(), 1, "{name}");
        assert_eq!(pushed(&env, &forge), env.head(), "{name}");
        env.tm(&["log", "verify"]).ok();
        let created = forge
            .calls()
            .iter()
            .filter(|call| call.method == "POST" && call.path.ends_with("/pulls"))
            .count();
        assert_eq!(created, 1, "{name}");
        env.restore(0);
    }
}
