//! What became of the commits of a run on the way into the main branch: proved elsewhere, by the notes that went along.

use serde_json::Value;
use testkit::{Forge, Outcome, Sandbox};

use super::whole::{finished_with, submitted};

const BRANCH: &str = "origin/master/task-1-count-the-words";

/// Somebody else's clone of these branches, with the notes and without the journal.
fn clone_of(from: &str, branches: &str) -> Sandbox {
    let other = Sandbox::new();
    other.init();
    other.git(&["remote", "add", "origin", from]);
    let notes = "refs/notes/tramline:refs/notes/tramline";
    other.git(&["fetch", "--quiet", "origin", notes, branches]);
    other.git(&["switch", "--quiet", "--create", "main", "origin/main"]);
    other
}

/// One of all branches.
fn elsewhere(forge: &Forge) -> Sandbox {
    let branches = "refs/heads/*:refs/remotes/origin/*";
    clone_of(forge.remote().to_str().unwrap(), branches)
}

/// One of the main branch alone: the commits of the run are in none of what was fetched.
fn without_the_branch(from: &Sandbox) -> Sandbox {
    let branches = "main:refs/remotes/origin/main";
    clone_of(from.project().to_str().unwrap(), branches)
}

/// The run comes into the main branch of a clone as one commit, with what else is changed there.
fn squash(other: &Sandbox, change: impl Fn(&Sandbox)) {
    other.git(&["merge", "--quiet", "--squash", BRANCH]);
    change(other);
    other.commit_all("Count the words (#1)");
}

fn verify(sandbox: &Sandbox, range: &str) -> Outcome {
    sandbox.json(&["verify", range])
}

/// Something else comes onto the main branch.
fn main_moves(sandbox: &Sandbox) {
    sandbox.write("elsewhere.txt", "another\n");
    sandbox.commit_all("Another");
}

#[test]
fn what_came_into_main_is_known_and_what_was_changed_on_the_way_is_not() {
    testkit::by_chance!(3);
    let (_env, forge) = submitted("github.com");
    squashed(&forge);
    rebased(&forge);
    changed(&forge);
}

fn squashed(forge: &Forge) {
    for moves in [false, true] {
        let other = elsewhere(forge);
        if moves {
            main_moves(&other);
        }
        squash(&other, |_| {});
        for place in [&other, &without_the_branch(&other)] {
            // It is known by its note, which proves nothing alone.
            let answer = verify(place, "HEAD~1..HEAD").json_with(3);
            let commit = &answer["commits"][0];
            assert_eq!(commit["problems"].as_array().map(Vec::len), Some(1));
            assert_eq!(commit["standing"], "not_provable", "{answer:#}");
            assert_eq!(commit["carries"].as_array().unwrap().len(), 3, "{answer:#}");
            assert_eq!(commit["level"], "claimed");
        }
        let answer = verify(&other, "HEAD~1..HEAD").json_with(3);
        let told = answer["commits"][0]["remarks"].to_string();
        let is_told = told.contains("it stands on another base");
        assert_eq!(is_told, moves, "{answer:#}");
    }
}

/// It is known commit by commit.
fn rebased(forge: &Forge) {
    let other = elsewhere(forge);
    main_moves(&other);
    other.git(&["cherry-pick", &format!("origin/main..{BRANCH}")]);
    let answer = verify(&without_the_branch(&other), "HEAD~3..HEAD").json_with(3);
    for commit in answer["commits"].as_array().unwrap() {
        assert_eq!(commit["carries"].as_array().unwrap().len(), 1, "{answer:#}");
    }
    other
        .json(&["verify", "HEAD~3..HEAD", "--require", "reported"])
        .json_with(3);
}

fn changed(forge: &Forge) {
    let more = ("src/1.1.sh", "code 1.1 and more\n");
    let spaced = ("src/1.1.sh", "code  1.1\n");
    for (path, text) in [more, spaced, ("smuggled.sh", "more\n")] {
        let other = elsewhere(forge);
        squash(&other, |other| other.write(path, text));
        let answer = verify(&other, "HEAD~1..HEAD").json_with(3);
        assert!(
            answer["commits"][0]["carries"].is_null(),
            "{path}: {answer:#}"
        );
    }
}

/// The bundle that was pushed with the branch has everything in it.
#[test]
fn a_pushed_bundle_is_read_where_it_was_fetched() {
    testkit::by_chance!(3);
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "submit": {"proof": "bundle"}}"#;
    let (env, forge) = finished_with(config, "github.com");
    let answer = env.auto("submit").ok();
    assert_eq!(answer["warnings"], Value::Null, "{answer:#}");
    let other = elsewhere(&forge);
    other.git(&["update-ref", "-d", "refs/notes/tramline"]);
    other.git(&["switch", "--quiet", "--detach", BRANCH]);
    let verify = || verify(&other, "origin/main..HEAD");
    verify().json_with(3);
    let bundles = "refs/tramline/runs/*:refs/tramline/runs/*";
    other.git(&["fetch", "--quiet", "origin", bundles]);
    let answer = verify().ok();
    assert_eq!(answer["commits"][0]["source"], "bundle", "{answer:#}");
    // What somebody made of it proves nothing.
    let name = other.git(&["for-each-ref", "--format=%(refname)", "refs/tramline/runs/"]);
    let text = other.git(&["cat-file", "blob", &name]);
    let text = text.replace("\"passed\":2", "\"passed\":3") + "\n";
    other.write("bundle.tmp", text);
    let forged = other.git(&["hash-object", "-w", "bundle.tmp"]);
    other.git(&["update-ref", &name, &forged]);
    verify().json_with(3);
}
