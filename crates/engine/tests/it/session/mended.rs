//! Code that a person mends before its gate is approved as it is then.

use engine::view::SESSION;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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
    fs::remove_dir_all(code.join("lib")).unwrap();
    assert!(stage.gate().edited);
    assert!(stage.state().tampered.is_empty());
    stage.approve();
    let state = stage.state();
    assert_eq!((state.tampered.len(), &*state.phase), (0, "REVIEWING"));
    assert!(state.artifacts.iter().all(|file| file.problem.is_none()));
    stage.step();
    let prompt = stage.read("iteration-1/review-prompt.md");
    let names = ["wc --words", "new.sh", "words.txt"];
    assert_eq!(names.map(|name| prompt.contains(name)), [true, true, false]);
    stage.responds("iteration-1/review-response.md", PASS);
    stage.goes_on();
    let export = |to: &std::path::Path| stage.engine().session_export(None, to, false);
    // Runs lie where nothing is exported to.
    let fault = export(&stage.dir.with_file_name("out")).unwrap_err();
    assert_eq!(fault.code, "bad_name");
    let out = testkit::folder();
    let exported = export(&out.path().join("out")).unwrap();
    assert_eq!(exported.written, ["count.sh", "new.sh"]);
    let modes = ["count.sh", "new.sh"].map(|name| {
        let about = fs::metadata(exported.folder.join(name)).unwrap();
        about.permissions().mode() & 0o111
    });
    assert_eq!(modes, [0, 0o111]);
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
    let answer = stage.engine().restore(&SESSION, None).unwrap();
    let put_back = json!(["iteration-1/code/"]);
    assert_eq!(json!(answer)["restored"], put_back);
    assert_eq!(stage.read("iteration-1/code/count.sh"), "wc --words\n");
    assert!(stage.step().issued.is_some());
}

#[test]
fn what_no_response_could_hold_is_not_approved() {
    let stage = Stage::generated();
    let binary = stage.dir.join("iteration-1/code/a.bin");
    fs::write(&binary, [0xff, 0xfe]).unwrap();
    stage.not_approved(&stage.gate(), "response_unreadable");
    fs::remove_file(&binary).unwrap();
    stage.write("iteration-1/code/nul", "a\0b");
    stage.not_approved(&stage.gate(), "response_unreadable");
    stage.engine().restore(&SESSION, None).unwrap();
    stage.approve();
}
