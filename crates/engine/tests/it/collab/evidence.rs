//! What can be looked at of a skill's work: its drafts, and what became of tasks in the working tree.

use serde_json::json;

use super::stage::{Stage, items_of};

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
        let brief = stage.until(state);
        let skill = brief.skill.unwrap();
        let complete = || stage.complete(&skill, brief.unit_id.as_deref()).unwrap();
        let told = stage
            .unmoved("draft_missing", complete)
            .verdict
            .suggestion
            .unwrap();
        let kind = state.strip_prefix("rough-draft-");
        let advised = kind.map_or("design.md".to_owned(), |kind| format!("item-1-{kind}.md"));
        assert!(told.contains(&advised), "{told}");
        // Blanks are no draft, and neither is that of another item, or a copy of another draft.
        stage.document("item-2-interface.md", "of the other");
        if file != "design.md" {
            stage.document(file, " \n\n");
            stage.unmoved("draft_missing", complete);
        }
        if state == "rough-draft-pseudocode" {
            stage.document(file, "what rough-draft-interface is about");
            let told = stage
                .unmoved("draft_missing", complete)
                .verdict
                .message
                .unwrap();
            assert!(told.contains("the same as `item-1-interface.md`"), "{told}");
        }
        stage.document(file, &format!("what {state} is about"));
        assert!(complete().verdict.validated, "{state}");
    }
    // What it was is kept.
    let mut accepted = stage.events("report:accepted");
    accepted.retain(|event| event.fields["state"] == "rough-draft-interface");
    let hash = accepted[0].fields["evidence"][0].as_str().unwrap();
    let evidence = stage.dir().join("evidence");
    let kept = std::fs::read_to_string(evidence.join(&hash[..2]).join(hash));
    let kept = kept.or_else(|_| std::fs::read_to_string(evidence.join(hash)));
    assert_eq!(kept.unwrap(), "what rough-draft-interface is about");
}

#[test]
fn a_project_may_ask_for_no_drafts() {
    let stage = Stage::bare();
    let settings = json!({ "evidence": { "policy": { "draft_missing": "warn" } } });
    stage.write(".taskmaster/config.json", &settings.to_string());
    stage.set_items(&items_of(&[("bugfix", &[])]));
    for skill in ["collab-start", "gather-session-goals", "collab-clear"] {
        stage.complete(skill, None).unwrap();
    }
    let answer = stage.complete("systematic-debugging", None).unwrap();
    assert!(answer.verdict.validated, "{answer:?}");
    assert!(answer.notes[0].contains("nothing was written"));
}

/// A session that executes this graph in a repository with one commit.
fn in_repository(graph: &str) -> Stage {
    let stage = Stage::bare();
    stage.git(&["init", "--quiet", "--template="]);
    stage.write("src/a.rs", "old\n");
    stage.write("notes.txt", "dirty before\n");
    std::os::unix::fs::symlink("src", stage.project().join("link")).unwrap();
    stage.git(&["add", "src", "link"]);
    commit(&stage, &[]);
    stage.done("collab-start");
    stage.set_items(&items_of(&[("code", &[])]));
    stage.until("build-task-graph");
    stage.synced(graph);
    stage.until("execute-batch");
    stage
}

fn commit(stage: &Stage, how: &[&str]) {
    stage.git(&[&["commit", "--quiet", "--message", "More"][..], how].concat());
}

const SKILL: &str = "executing-plans";

#[test]
fn a_batch_for_which_nothing_was_changed_is_not_over() {
    let stage = in_repository(TWO);
    stage.finish_batch();
    // What was dirty before, and is as it was, is no work of anybody.
    let answer = stage.refused(SKILL, "batch_without_change");
    let told = answer.verdict.message.unwrap();
    assert!(told.contains("`a` (src/a.rs, src/lib, tests/a.rs)"));
    // A repository does not go away.
    let (there, away) = (stage.project().join(".git"), stage.project().join("away"));
    std::fs::rename(&there, &away).unwrap();
    let fault = stage.complete(SKILL, None).unwrap_err();
    assert!(!fault.suggestion.is_empty(), "{fault:?}");
    std::fs::rename(&away, &there).unwrap();
    stage.refused(SKILL, "batch_without_change");
    stage.write("src/lib/new.rs", "new\n");
    stage.git(&["add", "src/lib"]);
    commit(&stage, &[]);
    assert!(stage.done(SKILL).notes.is_empty());
    stage.done("collab-clear");
    stage.finish_batch();
    stage.refused(SKILL, "batch_without_change");
    // An empty commit changes nothing.
    commit(&stage, &["--allow-empty"]);
    stage.refused(SKILL, "batch_without_change");
    // Something else was changed: it is told, and may well be right.
    stage.write("src/other.rs", "new\n");
    let answer = stage.done(SKILL);
    assert!(answer.notes[0].contains("`b` (src/b.rs)"), "{answer:?}");
}

#[test]
fn work_ahead_of_its_batch_is_seen() {
    let stage = in_repository(TWO);
    stage.write("src/a.rs", "new\n");
    stage.write("src/b.rs", "new\n");
    stage.git(&["add", "src"]);
    commit(&stage, &[]);
    stage.finish_batch();
    assert!(stage.done(SKILL).notes.is_empty());
    stage.done("collab-clear");
    stage.finish_batch();
    let notes = stage.done(SKILL).notes;
    assert!(notes[0].contains("since the batch before"), "{notes:?}");
}

#[test]
fn what_git_cannot_see_is_believed() {
    // Without a repository, behind a link, and where git ignores it.
    let stage = Stage::executing("tasks:\n  - id: a\n    files: [src/a.rs]\n");
    stage.past_batch();
    let stage = in_repository("tasks:\n  - id: a\n    files: [link/a.rs]\n");
    stage.past_batch();
    let stage = in_repository(TWO);
    stage.write(".gitignore", "src/b.rs\n");
    stage.write("src/a.rs", "new\n");
    stage.past_batch();
    stage.finish_batch();
    assert!(stage.done(SKILL).notes.is_empty());
}

#[test]
fn a_history_without_the_commit_of_before_is_believed() {
    let stage = in_repository(TWO);
    stage.git(&["checkout", "--quiet", "--orphan", "other"]);
    commit(&stage, &["--message", "Of another history"]);
    for folder in ["refs/heads/main", "refs/heads/master", "logs"] {
        let path = stage.project().join(".git").join(folder);
        let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(path));
    }
    stage.git(&["gc", "--quiet", "--prune=now"]);
    stage.finish_batch();
    let notes = stage.done(SKILL).notes;
    assert!(notes[0].contains("is gone"), "{notes:?}");
}

#[test]
fn a_branch_is_finished_with_its_work_in_commits() {
    let stage = in_repository(TWO);
    for file in ["src/a.rs", "src/b.rs"] {
        stage.write(file, "new\n");
        stage.past_batch();
    }
    stage.write("scratch.txt", "nobody names it\n");
    let uncommitted = |files: [&str; 3]| {
        let answer = stage.refused("finishing-a-development-branch", "work_uncommitted");
        let told = answer.verdict.message.unwrap();
        files.map(|file| told.contains(file))
    };
    let files = ["src/a.rs", "src/b.rs", "scratch"];
    assert_eq!(uncommitted(files), [true, true, false]);
    commit(&stage, &["--all"]);
    // One that git does not know yet, and a task names.
    assert_eq!(uncommitted(files), [false, true, false]);
    stage.git(&["add", "src"]);
    commit(&stage, &[]);
    let finished = stage.done("finishing-a-development-branch");
    assert_eq!(finished.state, "cleanup");
}
