//! The journal is the truth: whatever else is lost is made anew, and the answers are the same.

use std::fs;
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

/// Deletes everything of a run but its journal and its documents, and its evidence if that is to stay.
fn strip(dir: &Path, keeps_evidence: bool) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        match name {
            JOURNAL | "documents" => {}
            "evidence" if keeps_evidence => {}
            _ if path.is_dir() => fs::remove_dir_all(&path).unwrap(),
            _ => fs::remove_file(&path).unwrap(),
        }
    }
}

#[test]
fn every_derived_file_may_be_deleted_at_any_time() {
    testkit::by_chance!(3);
    // A graph is kept as evidence; all else that units were told stands in the journal.
    for (first, keeps_evidence) in [("code", true), ("bugfix", false)] {
        let stage = Stage::of(&[first, "bugfix"]);
        let mut all = Vec::new();
        loop {
            let brief = stage.brief();
            let Some(skill) = brief.skill else {
                break;
            };
            all.push((skill, brief.unit_id, wire(&stage.step())));
            let before = said(&stage);
            strip(&stage.dir(), keeps_evidence);
            assert_eq!(said(&stage), before);
            for (skill, unit, told) in all.iter().rev().step_by(3) {
                let mut again = stage.complete(skill, unit.as_deref()).unwrap();
                again.notes.pop_if(|note| note.contains("completed before"));
                assert_eq!(&wire(&again), told);
            }
        }
        let accepted = stage.events("report:accepted").len();
        assert_eq!(accepted, stage.events("unit:issued").len());
    }
}

#[test]
fn files_that_are_gone_torn_or_foreign_are_no_harm() {
    let stage = Stage::of(&["code"]);
    stage.until("execute-batch");
    let before = said(&stage);
    let dir = stage.dir();
    let derived = ["state.json", "manifest.json"];
    let read = || derived.map(|name| fs::read(dir.join(name)).unwrap());
    let whole = read();
    strip(&dir, true);
    stage.complete("executing-plans", None).unwrap();
    assert_eq!(read(), whole);
    for name in derived
        .into_iter()
        .chain(["snapshot.json", "workflow.yaml"])
    {
        fs::write(dir.join(name), "{\"version\": 1, \"rai").unwrap();
    }
    fs::write(dir.join("documents/.task-graph.md.swp"), [0xff, 0]).unwrap();
    assert_eq!(said(&stage), before);
    stage.until("done");
}

#[test]
fn a_completion_whose_append_was_torn_is_done_again() {
    let stage = Stage::of(&["code"]);
    let unit = stage.until("rough-draft-handoff").unit_id;
    let dir = stage.dir();
    let file = dir.join(JOURNAL);
    let before = fs::read(&file).unwrap().len();
    let complete = || stage.complete("rough-draft-handoff", unit.as_deref());
    let answer = complete().unwrap();
    let after = fs::read(&file).unwrap();
    let accepted = stage.events("report:accepted").len();
    for cut in [
        before + 1,
        usize::midpoint(before, after.len()),
        after.len() - 1,
    ] {
        fs::write(&file, &after[..cut]).unwrap();
        strip(&dir, true);
        assert_eq!(stage.state(), "rough-draft-handoff", "cut at {cut}");
        assert_eq!(complete().unwrap(), answer);
        assert_eq!(stage.events("report:accepted").len(), accepted);
    }
    // And a replay comes to the same state.
    stage.until("done");
    let id = stage.full().run_id;
    let engine = stage.engine();
    assert!(engine.verify_log(Some(&id)).unwrap().whole);
    let last = crate::journal(&dir).last().unwrap().seq;
    let now = engine.replay(Some(&id), Some(last)).unwrap();
    assert_eq!(now.json().unwrap()["state"]["status"], "completed");
}

#[test]
fn a_journal_that_was_emptied_takes_no_drafts_with_it() {
    let stage = Stage::of(&["code"]);
    stage.until("rough-draft-handoff");
    let dir = stage.dir();
    let drafts = || fs::read_dir(dir.join("documents")).unwrap().count();
    let before = drafts();
    assert!(before > 0);
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
    assert_eq!(drafts(), before);
}
