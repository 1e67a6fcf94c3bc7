//! What became of the commits of a run on the way into the main branch: proved elsewhere, by the notes that went along.

use testkit::{Forge, Outcome, Sandbox};

use super::whole::finished;

const BRANCH: &str = "origin/master/task-1-count-the-words";

/// Somebody else's clone, with the notes and without the journal.
fn elsewhere(forge: &Forge) -> Sandbox {
    let other = Sandbox::new();
    other.init();
    let remote = forge.remote();
    other.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    other.git(&[
        "fetch",
        "--quiet",
        "origin",
        "refs/notes/tramline:refs/notes/tramline",
    ]);
    other.git(&["fetch", "--quiet", "origin"]);
    other.git(&["switch", "--quiet", "--create", "main", "origin/main"]);
    other
}

/// A clone into which only the main branch and the notes were fetched: the commits of the run are in none of these.
fn without_the_branch(from: &Sandbox) -> Sandbox {
    let other = Sandbox::new();
    other.init();
    let project = from.project();
    let at = project.to_str().unwrap();
    other.git(&[
        "fetch",
        "--quiet",
        at,
        "main:refs/remotes/origin/main",
        "refs/notes/tramline:refs/notes/tramline",
    ]);
    other.git(&["switch", "--quiet", "--create", "main", "origin/main"]);
    other
}

fn verify(sandbox: &Sandbox, range: &str) -> Outcome {
    let output = sandbox
        .program(&["verify", "--json", range])
        .output()
        .unwrap();
    Outcome::of(&output).answered()
}

/// Something else comes onto the main branch.
fn main_moves(sandbox: &Sandbox) {
    sandbox.write("elsewhere.txt", "another\n");
    sandbox.commit_all("Another");
}

#[test]
fn a_squashed_run_is_proved() {
    let (env, forge) = finished("github.com");
    env.auto("submit").ok();
    for moves in [false, true] {
        let other = elsewhere(&forge);
        if moves {
            main_moves(&other);
        }
        other.git(&["merge", "--quiet", "--squash", BRANCH]);
        other.commit_all("Count the words (#1)");
        for place in [&other, &without_the_branch(&other)] {
            let answer = verify(place, "HEAD~1..HEAD").ok();
            let commit = &answer["commits"][0];
            assert_eq!(commit["standing"], "earned", "{answer:#}");
            assert_eq!(commit["carries"].as_array().unwrap().len(), 3, "{answer:#}");
            assert_eq!(commit["level"], "claimed");
        }
        let answer = verify(&other, "HEAD~1..HEAD").ok();
        let told = answer["commits"][0]["remarks"].to_string();
        assert_eq!(
            told.contains("its tests were not run there"),
            moves,
            "{answer:#}"
        );
    }
}

#[test]
fn a_rebased_run_is_proved_commit_by_commit() {
    let (env, forge) = finished("github.com");
    env.auto("submit").ok();
    let other = elsewhere(&forge);
    main_moves(&other);
    other.git(&["cherry-pick", &format!("origin/main..{BRANCH}")]);
    let answer = verify(&without_the_branch(&other), "HEAD~3..HEAD").ok();
    for commit in answer["commits"].as_array().unwrap() {
        assert_eq!(commit["carries"].as_array().unwrap().len(), 1, "{answer:#}");
    }
    let mut weak = other.program(&["verify", "--json", "HEAD~3..HEAD", "--require", "reported"]);
    let weak = Outcome::of(&weak.output().unwrap()).answered();
    assert_eq!(weak.status, 3, "{weak:#?}");
}

#[test]
fn what_was_changed_on_the_way_is_not() {
    let (env, forge) = finished("github.com");
    env.auto("submit").ok();
    for (path, text) in [
        ("src/1.1.sh", "code 1.1 and more\n"),
        ("src/1.1.sh", "code  1.1\n"),
        ("smuggled.sh", "more\n"),
    ] {
        let other = elsewhere(&forge);
        other.git(&["merge", "--quiet", "--squash", BRANCH]);
        other.write(path, text);
        other.commit_all("Count the words (#1)");
        let answer = verify(&other, "HEAD~1..HEAD");
        assert_eq!(answer.status, 3, "{path}: {answer:#?}");
        assert_eq!(answer.json()["verified"], false);
    }
}

/// The bundle that was pushed with the branch has everything in it.
#[test]
fn a_pushed_bundle_is_read_where_it_was_fetched() {
    let config = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "submit": {"proof": "bundle"}}"#;
    let (env, forge) = super::whole::finished_with(config, "github.com");
    let answer = env.auto("submit").ok();
    assert_eq!(answer["warnings"], serde_json::Value::Null, "{answer:#}");
    let other = elsewhere(&forge);
    other.git(&["update-ref", "-d", "refs/notes/tramline"]);
    other.git(&["switch", "--quiet", "--detach", BRANCH]);
    assert_eq!(verify(&other, "origin/main..HEAD").status, 3);
    other.git(&[
        "fetch",
        "--quiet",
        "origin",
        "refs/tramline/runs/*:refs/tramline/runs/*",
    ]);
    let answer = verify(&other, "origin/main..HEAD").ok();
    assert_eq!(answer["commits"][0]["source"], "bundle", "{answer:#}");
    // What somebody made of it proves nothing.
    let name = other.git(&["for-each-ref", "--format=%(refname)", "refs/tramline/runs/"]);
    let text = other
        .git(&["cat-file", "blob", &name])
        .replace("\"passed\":2", "\"passed\":3");
    other.write("bundle.tmp", text + "\n");
    let forged = other.git(&["hash-object", "-w", "bundle.tmp"]);
    other.git(&["update-ref", &name, &forged]);
    assert_eq!(verify(&other, "origin/main..HEAD").status, 3);
}
