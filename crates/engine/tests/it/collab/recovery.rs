//! The journal is the truth: whatever else is lost is made anew, and the answers are the same.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::stage::{Stage, wire};

/// All that the session says of itself.
fn said(stage: &Stage) -> [String; 3] {
    [
        wire(&stage.brief()),
        wire(&stage.full()),
        wire(&stage.graph()),
    ]
}

/// The journal of a run.
const JOURNAL: &str = "activity.jsonl";

/// Deletes everything of a run but its journal and, if asked for, its documents and evidence.
fn strip(dir: &Path, keep: &[&str]) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == JOURNAL || keep.contains(&name) {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn every_derived_file_may_be_deleted_at_any_time() {
    let stage = Stage::of(&["code", "bugfix"]);
    while stage.state() != "done" {
        stage.step();
        let before = said(&stage);
        strip(&stage.dir(), &["documents", "evidence"]);
        assert_eq!(said(&stage), before);
    }
    assert_eq!(
        stage.events("report:accepted").len(),
        stage.events("unit:issued").len()
    );
}

#[test]
fn what_units_were_told_stands_in_the_journal() {
    let stage = Stage::of(&["bugfix", "bugfix"]);
    let mut all = Vec::new();
    while let Some(skill) = stage.brief().skill {
        let unit = stage.brief().unit_id.unwrap();
        let answer = wire(&stage.step());
        all.push((skill, unit, answer));
        let before = said(&stage);
        strip(&stage.dir(), &["documents"]);
        assert_eq!(said(&stage), before);
        for (skill, unit, told) in &all {
            let mut again = stage.complete(skill, Some(unit)).unwrap();
            again.notes.pop_if(|note| note.contains("completed before"));
            assert_eq!(&wire(&again), told);
        }
    }
    assert_eq!(all.len(), 12);
}

#[test]
fn files_that_were_deleted_are_made_anew() {
    let stage = Stage::of(&["bugfix"]);
    stage.until("execute-batch");
    let dir = stage.dir();
    let state = fs::read(dir.join("state.json")).unwrap();
    let manifest = fs::read(dir.join("manifest.json")).unwrap();
    strip(&dir, &["documents", "evidence"]);
    stage.refused_quietly("executing-plans");
    assert_eq!(fs::read(dir.join("state.json")).unwrap(), state);
    assert_eq!(fs::read(dir.join("manifest.json")).unwrap(), manifest);
}

impl Stage {
    /// Completes a skill too early.
    fn refused_quietly(&self, skill: &str) {
        let answer = self.complete(skill, None).unwrap();
        assert!(!answer.validated, "{answer:?}");
    }
}

#[test]
fn torn_and_foreign_files_are_no_harm() {
    let stage = Stage::of(&["code"]);
    stage.until("execute-batch");
    let before = said(&stage);
    let dir = stage.dir();
    for name in [
        "state.json",
        "manifest.json",
        "snapshot.json",
        "workflow.yaml",
    ] {
        fs::write(dir.join(name), "{\"version\": 1, \"rai").unwrap();
    }
    fs::write(dir.join("documents/.task-graph.md.swp"), [0xff, 0]).unwrap();
    assert_eq!(said(&stage), before);
    stage.until("done");
}

#[test]
fn a_torn_tail_is_as_if_it_had_not_been_written() {
    let stage = Stage::of(&["code"]);
    stage.until("execute-batch");
    let before = said(&stage);
    let dir = stage.dir();
    let file = dir.join(JOURNAL);
    let whole = fs::read(&file).unwrap();
    for tail in ["{", "{\"seq\":999,\"ev", "\0\0\0\0", "{\"seq\":1}"] {
        let mut open = fs::OpenOptions::new().append(true).open(&file).unwrap();
        open.write_all(tail.as_bytes()).unwrap();
        drop(open);
        assert_eq!(said(&stage), before, "{tail:?}");
        stage.told(&[("types", "in_progress"), ("types", "pending")]);
        let now = fs::read(&file).unwrap();
        assert!(now.starts_with(&whole));
        assert_eq!(said(&stage)[2], before[2]);
        fs::write(&file, &whole).unwrap();
        strip(&dir, &["documents", "evidence"]);
    }
    stage.until("done");
}

#[test]
fn a_completion_whose_append_was_torn_is_done_again() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-handoff");
    let unit = stage.brief().unit_id.unwrap();
    let dir = stage.dir();
    let file = dir.join(JOURNAL);
    let before = fs::read(&file).unwrap();
    let answer = stage.complete("rough-draft-handoff", Some(&unit)).unwrap();
    let after = fs::read(&file).unwrap();
    let accepted = stage.events("report:accepted").len();
    for cut in [
        before.len() + 1,
        usize::midpoint(before.len(), after.len()),
        after.len() - 1,
    ] {
        fs::write(&file, &after[..cut]).unwrap();
        strip(&dir, &["documents", "evidence"]);
        assert_eq!(stage.state(), "rough-draft-handoff", "cut at {cut}");
        let again = stage.complete("rough-draft-handoff", Some(&unit)).unwrap();
        assert_eq!(wire(&again), wire(&answer));
        assert_eq!(stage.events("report:accepted").len(), accepted);
    }
}

#[test]
fn a_replay_comes_to_the_same_state() {
    let stage = Stage::of(&["code", "task"]);
    stage.until("done");
    let id = stage.full().run_id;
    let verified = stage.engine().verify_log(Some(&id)).unwrap();
    assert!(wire(&verified).contains(&id), "{verified:?}");
    let last = stage.journal().last().unwrap().seq;
    let now = stage
        .engine()
        .replay(Some(&id), Some(last))
        .unwrap()
        .json()
        .unwrap();
    assert_eq!(now["state"]["status"], "completed", "{now}");
}

#[test]
fn a_journal_that_was_emptied_takes_no_drafts_with_it() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-handoff");
    let dir = stage.dir();
    let drafts = fs::read_dir(dir.join("documents")).unwrap().count();
    assert!(drafts > 0);
    fs::write(dir.join(JOURNAL), "").unwrap();
    for known in ["lock", "snapshot.json"] {
        let _ = fs::remove_file(dir.join(known));
        let fault = stage.engine().collab_state(None).unwrap_err();
        assert_eq!(fault.code, "journal_damaged", "{fault:?}");
        assert!(!fault.suggestion.contains("delete"), "{fault:?}");
        // By its name, too, and without one.
        for run in [None, Some(dir.file_name().unwrap().to_str().unwrap())] {
            let found = stage.engine().verify_log(run).unwrap();
            assert!(!found.whole && found.damage.is_some(), "{run:?}: {found:?}");
        }
    }
    // Another session begins beside it, and clears nothing away.
    let _ = stage.complete("collab-start", None);
    assert_eq!(fs::read_dir(dir.join("documents")).unwrap().count(), drafts);
}
