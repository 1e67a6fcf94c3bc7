//! A run in one file, and proofs by it where its home is not.

use std::fs;

use super::environment::{TestEnvironment, earned};

/// The bundle of the only run, in the file that is named.
fn bundle(environment: &TestEnvironment) -> String {
    let file = environment.beside("run.jsonl").display().to_string();
    environment.does(&format!("runs export -o {file}"));
    file
}

#[test]
fn a_bundle_proves_a_clone() {
    let environment = TestEnvironment::finished(false);
    let file = bundle(&environment);
    let clone = environment.clone_of_it(false);
    let words = format!("--require reported --bundle {file}");
    let answer = earned(&environment.verify_in(&clone, &words), 3);
    assert_eq!(answer["commits"][0]["source"], "bundle");
    assert_eq!(answer["sources"][0]["at"], file);
}

#[test]
fn the_same_run_gives_the_same_bytes_and_nothing_but_them() {
    let environment = TestEnvironment::finished(false);
    let first = fs::read_to_string(bundle(&environment)).unwrap();
    assert_eq!(first, environment.try_tm("runs export -o -", None).out);
    let answer = environment.json(&["runs", "export"]).ok();
    let file = answer["file"].as_str().unwrap();
    assert!(file.ends_with(".tramline.jsonl"), "{answer}");
    assert_eq!(first, fs::read_to_string(file).unwrap());
    assert!(first.ends_with("\"}\n"));
    for (words, status) in [
        ("runs export -o - --json", 2),
        ("runs export -o no/such/folder/x", 6),
    ] {
        assert_eq!(environment.try_tm(words, None).status, status, "{words}");
    }
}

#[test]
fn a_bundle_that_was_changed_is_refused() {
    let environment = TestEnvironment::finished(false);
    let file = bundle(&environment);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    // The hash at the end is made to fit.
    let again = |body: &str| {
        let body = format!("{}\n", body.trim_end());
        let sum = journal::sha256_hex(body.as_bytes());
        format!("{body}{{\"bundleSha256\":\"{sum}\"}}\n")
    };
    let body = lines[..lines.len() - 1].join("\n");
    let replaced = |from: &str, to: &str| again(&body.replacen(from, to, 1));
    for (name, text) in [
        ("empty", String::new()),
        ("an empty object", "{}\n".to_owned()),
        ("empty lines", "\n\n\n".to_owned()),
        ("a half", whole[..whole.len() / 2].to_owned()),
        ("without its last byte", whole[..whole.len() - 1].to_owned()),
        ("twice", whole.repeat(2)),
        ("edited", whole.replacen("reported", "verified", 1)),
        ("a level", replaced("\":\"reported", "\":\"verified")),
        ("a line less", again(&lines[..lines.len() - 2].join("\n"))),
        ("a report", replaced("not ok 1", "ok 1")),
        ("a version", replaced("Bundle\":1", "Bundle\":2")),
    ] {
        assert_ne!(text, whole, "{name}");
        fs::write(&file, text).unwrap();
        let ran = environment.verify(&format!("--bundle {file}"));
        assert_eq!(ran.code(), "evidence_missing", "{name}: {ran:?}");
        assert_eq!(ran.status, 3);
    }
    assert_eq!(environment.verify("--bundle nothing").status, 4);
}
