//! What can be looked at of a skill's work: its drafts, and what became of tasks in the working tree.

use serde_json::json;

use super::stage::Stage;

const TWO: &str = "tasks:
  - id: a
    files: [src/a.rs, src/lib/]
    tests: [tests/a.rs]
  - id: b
    files: [src/b.rs]
    depends-on: [a]
";

#[test]
fn a_skill_leaves_what_it_was_to_write() {
    let stage = Stage::of(&["code", "bugfix"]);
    for (state, file) in [
        ("brainstorm-exploring", "design.md"),
        ("brainstorm-designing", "design.md"),
        ("rough-draft-interface", "item-1-interface.md"),
        ("rough-draft-pseudocode", "pseudocode-item-1.md"),
        ("rough-draft-skeleton", "skeleton.md"),
        ("systematic-debugging", "design.md"),
    ] {
        stage.until(state);
        let skill = stage.brief().skill.unwrap();
        let unit = stage.brief().unit_id;
        let before = stage.files();
        let answer = stage.complete(&skill, unit.as_deref()).unwrap();
        assert_eq!(
            answer.code.as_deref(),
            Some("draft_missing"),
            "{state}: {answer:?}"
        );
        let told = answer.suggestion.unwrap();
        let name = file.replace("pseudocode-item-1", "item-1-pseudocode");
        let name = name.replace("skeleton.md", "item-1-skeleton.md");
        assert!(told.contains(&name), "{told}");
        stage.is_as(&before);
        // Blanks are no draft, and neither is that of another item.
        stage.document("item-2-interface.md", "of the other");
        if file != "design.md" {
            stage.document(file, " \n\n");
            let answer = stage.complete(&skill, unit.as_deref()).unwrap();
            assert_eq!(answer.code.as_deref(), Some("draft_missing"), "{state}");
        }
        stage.document(file, &format!("what {state} is about"));
        let answer = stage.complete(&skill, unit.as_deref()).unwrap();
        assert!(answer.validated, "{state}: {answer:?}");
    }
    // What it was is kept.
    let accepted = stage.events("report:accepted");
    let kept = accepted
        .iter()
        .filter(|event| event.fields["state"] == "rough-draft-interface");
    let hash = kept.collect::<Vec<_>>()[0].fields["evidence"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let kept = std::fs::read_to_string(stage.dir().join("evidence").join(&hash[..2]).join(&hash));
    let kept = kept.or_else(|_| std::fs::read_to_string(stage.dir().join("evidence").join(&hash)));
    assert_eq!(kept.unwrap(), "what rough-draft-interface is about");
}

#[test]
fn a_copy_of_another_draft_is_none() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-pseudocode");
    let unit = stage.brief().unit_id;
    stage.document("item-1-interface.md", "fn a()");
    stage.document("item-1-pseudocode.md", "fn a()");
    let skill = stage.brief().skill.unwrap();
    let answer = stage.complete(&skill, unit.as_deref()).unwrap();
    assert_eq!(answer.code.as_deref(), Some("draft_missing"), "{answer:?}");
    let told = answer.message.unwrap();
    assert!(told.contains("the same as `item-1-interface.md`"), "{told}");
    stage.document("item-1-pseudocode.md", "call a");
    let answer = stage.complete(&skill, unit.as_deref()).unwrap();
    assert!(answer.validated, "{answer:?}");
}

#[test]
fn a_project_may_ask_for_no_drafts() {
    let stage = Stage::bare();
    stage.write(
        ".taskmaster/config.json",
        &json!({ "evidence": { "policy": { "draft_missing": "warn" } } }).to_string(),
    );
    stage.complete("collab-start", None).unwrap();
    stage.set_items(&json!([{ "number": 1, "title": "One", "type": "bugfix" }]));
    for skill in ["gather-session-goals", "collab-clear"] {
        stage.complete(skill, None).unwrap();
    }
    let answer = stage.complete("systematic-debugging", None).unwrap();
    assert!(answer.validated, "{answer:?}");
    assert!(
        answer.notes[0].contains("nothing was written"),
        "{answer:?}"
    );
}

/// A session that executes `TWO` in a repository with one commit.
fn in_repository() -> Stage {
    let stage = Stage::bare();
    stage.git(&["init", "--quiet", "--template="]);
    stage.write("src/a.rs", "old\n");
    stage.write("notes.txt", "dirty before\n");
    stage.git(&["add", "src"]);
    stage.git(&["commit", "-q", "-m", "First"]);
    stage.done("collab-start");
    stage.set_items(&json!([{ "number": 1, "title": "One", "type": "code" }]));
    stage.until("build-task-graph");
    stage.synced(TWO);
    stage.until("execute-batch");
    stage
}

#[test]
fn an_empty_commit_changes_nothing() {
    let stage = in_repository();
    stage.write("src/a.rs", "new\n");
    stage.git(&["commit", "-q", "-a", "-m", "A"]);
    stage.finish_batch();
    let skill = "executing-plans";
    assert!(stage.complete(skill, None).unwrap().validated);
    stage.until("execute-batch");
    stage.finish_batch();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Nothing"]);
    stage.refused(skill, "batch_without_change");
}

#[test]
fn a_batch_for_which_nothing_was_changed_is_not_over() {
    let stage = in_repository();
    stage.finish_batch();
    let answer = stage.refused("executing-plans", "batch_without_change");
    let told = answer.message.unwrap();
    assert!(
        told.contains("`a` (src/a.rs, src/lib, tests/a.rs)"),
        "{told}"
    );
    // What was dirty before, and is as it was, is no work of anybody.
    stage.refused("executing-plans", "batch_without_change");
    stage.write("src/lib/new.rs", "new\n");
    assert!(stage.done("executing-plans").notes.is_empty());
    stage.done("collab-clear");
    stage.finish_batch();
    stage.refused("executing-plans", "batch_without_change");
    // Something else was changed: it is told, and may well be right.
    stage.write("src/other.rs", "new\n");
    let answer = stage.done("executing-plans");
    assert!(answer.notes[0].contains("`b` (src/b.rs)"), "{answer:?}");
}

#[test]
fn work_ahead_of_its_batch_is_seen() {
    let stage = in_repository();
    stage.write("src/a.rs", "new\n");
    stage.write("src/b.rs", "new\n");
    stage.git(&["add", "src"]);
    stage.git(&["commit", "-q", "-m", "Both"]);
    stage.finish_batch();
    assert!(stage.done("executing-plans").notes.is_empty());
    stage.done("collab-clear");
    stage.finish_batch();
    let notes = stage.done("executing-plans").notes;
    assert!(notes[0].contains("since the batch before"), "{notes:?}");
}

#[test]
fn what_git_cannot_see_is_believed() {
    let stage = Stage::executing("tasks:\n  - id: a\n    files: [src/a.rs]\n");
    stage.finish_batch();
    stage.done("executing-plans");
    stage.until("done");

    let stage = in_repository();
    stage.write(".gitignore", "src/b.rs\n");
    stage.write("src/a.rs", "new\n");
    stage.finish_batch();
    stage.done("executing-plans");
    stage.done("collab-clear");
    stage.finish_batch();
    assert!(stage.done("executing-plans").notes.is_empty());
}

#[test]
fn a_history_without_the_commit_of_before_is_believed() {
    let stage = in_repository();
    stage.git(&["checkout", "--quiet", "--orphan", "other"]);
    stage.git(&["commit", "--quiet", "-m", "Another"]);
    for folder in ["refs/heads/main", "refs/heads/master", "logs"] {
        let path = stage.project().join(".git").join(folder);
        let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(path));
    }
    stage.git(&["gc", "--quiet", "--prune=now"]);
    stage.finish_batch();
    let notes = stage.done("executing-plans").notes;
    assert!(notes[0].contains("is gone"), "{notes:?}");
}

#[test]
fn a_repository_does_not_go_away() {
    let stage = in_repository();
    stage.finish_batch();
    let (there, away) = (stage.project().join(".git"), stage.project().join("away"));
    std::fs::rename(&there, &away).unwrap();
    let fault = stage.complete("executing-plans", None).unwrap_err();
    assert!(!fault.suggestion.is_empty(), "{fault:?}");
    std::fs::rename(&away, &there).unwrap();
    stage.refused("executing-plans", "batch_without_change");
}

#[test]
fn what_lies_behind_a_link_is_believed() {
    let stage = Stage::bare();
    stage.git(&["init", "--quiet", "--template="]);
    stage.write("src/a.py", "old\n");
    std::os::unix::fs::symlink("src", stage.project().join("link")).unwrap();
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "First"]);
    stage.done("collab-start");
    stage.set_items(&json!([{ "number": 1, "title": "One", "type": "code" }]));
    stage.until("build-task-graph");
    stage.synced("tasks:\n  - id: a\n    files: [link/a.py]\n");
    stage.until("execute-batch");
    stage.finish_batch();
    stage.done("executing-plans");
}

#[test]
fn a_branch_is_finished_with_its_work_in_commits() {
    let stage = in_repository();
    for (file, text) in [("src/a.rs", "new\n"), ("src/b.rs", "new\n")] {
        stage.write(file, text);
        stage.finish_batch();
        stage.done("executing-plans");
        stage.done("collab-clear");
    }
    let finishing = "finishing-a-development-branch";
    let answer = stage.refused(finishing, "work_uncommitted");
    let told = answer.message.unwrap();
    assert!(
        told.contains("src/a.rs") && told.contains("src/b.rs"),
        "{told}"
    );
    stage.git(&["commit", "-q", "-a", "-m", "A"]);
    // One that git does not know yet, and a task names.
    stage.write("scratch.txt", "nobody names it\n");
    let told = stage
        .refused(finishing, "work_uncommitted")
        .message
        .unwrap();
    assert!(
        told.contains("src/b.rs") && !told.contains("scratch"),
        "{told}"
    );
    stage.git(&["add", "src"]);
    stage.git(&["commit", "-q", "-m", "B"]);
    assert_eq!(stage.done(finishing).state, "cleanup");
}
