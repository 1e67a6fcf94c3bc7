//! Code that a person mends before its gate is approved as it is then.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use machine::command::Choice;

use super::stage::Stage;

const PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

#[test]
fn code_that_a_person_mended_is_what_is_reviewed_and_exported() {
    let stage = Stage::generated();
    let code = stage.dir.join("iteration-1/code");
    stage.write("iteration-1/code/count.sh", "wc --words\n");
    stage.write("iteration-1/code/new.sh", "#!/bin/sh\n");
    fs::set_permissions(code.join("new.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(code.join("lib/words.txt")).unwrap();
    fs::remove_dir(code.join("lib")).unwrap();
    let gate = stage.gate();
    assert!(gate.edited);
    assert!(stage.state().tampered.is_empty());
    stage.approve();
    let state = stage.state();
    assert_eq!(
        (state.tampered.len(), state.phase.as_str()),
        (0, "REVIEWING")
    );
    assert!(state.artifacts.iter().all(|file| file.problem.is_none()));
    stage.step();
    let prompt = stage.read("iteration-1/review-prompt.md");
    assert!(
        prompt.contains("wc --words") && prompt.contains("new.sh"),
        "{prompt}"
    );
    assert!(!prompt.contains("words.txt"), "{prompt}");
    stage.write("iteration-1/review-response.md", PASS);
    stage.step();
    stage.approve();
    stage.step();
    let to = stage.dir.parent().unwrap().join("out");
    // Runs lie where nothing is exported to.
    assert_eq!(
        stage
            .engine()
            .session_export(None, &to, false)
            .unwrap_err()
            .code,
        "bad_path"
    );
    let out = testkit::folder();
    let exported = stage
        .engine()
        .session_export(None, &out.path().join("out"), false)
        .unwrap();
    assert_eq!(exported.written, ["count.sh", "new.sh"]);
    let mode = |name: &str| {
        let about = fs::metadata(exported.folder.join(name)).unwrap();
        about.permissions().mode() & 0o111
    };
    assert_eq!((mode("count.sh"), mode("new.sh")), (0, 0o111));
}

#[test]
fn behind_the_open_gate_code_is_what_was_approved() {
    let stage = Stage::generated();
    stage.write("iteration-1/code/count.sh", "wc --words\n");
    stage.approve();
    stage.write("iteration-1/code/count.sh", "rm -rf /\n");
    assert_eq!(stage.state().tampered, ["iteration-1/code/count.sh"]);
    let fault = stage.engine().session_step(None).unwrap_err();
    assert_eq!(fault.code, "tampered");
    let restored = stage.engine().session_restore(None).unwrap();
    assert_eq!(restored.restored, ["iteration-1/code/"]);
    assert_eq!(stage.read("iteration-1/code/count.sh"), "wc --words\n");
    assert!(stage.step().issued.is_some());
}

#[test]
fn what_no_response_could_hold_is_not_approved() {
    let stage = Stage::generated();
    fs::write(stage.dir.join("iteration-1/code/a.bin"), [0xff, 0xfe]).unwrap();
    let gate = stage.gate();
    let fault = stage.decide(&gate, Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "code_unfit");
    fs::remove_file(stage.dir.join("iteration-1/code/a.bin")).unwrap();
    stage.write("iteration-1/code/nul", "a\0b");
    let fault = stage.decide(&stage.gate(), Choice::Approve).unwrap_err();
    assert_eq!(fault.code, "code_unfit", "{fault:?}");
    stage.engine().session_restore(None).unwrap();
    stage.approve();
}
