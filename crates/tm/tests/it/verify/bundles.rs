//! A run in one file, and proofs by it where its home is not.

use std::fs;

use super::environment::{TestEnvironment, problems, standings};

/// The bundle of the only run.
fn bundle(environment: &TestEnvironment) -> String {
    let file = environment.beside("run.jsonl");
    let file = file.to_str().unwrap().to_owned();
    environment.tm(&["runs", "export", "-o", &file]);
    file
}

#[test]
fn a_bundle_proves_a_clone() {
    let environment = TestEnvironment::finished(false);
    let file = bundle(&environment);
    let clone = environment.clone_of_it(false);
    let ran = environment.tm_in(
        &clone,
        &[
            "verify",
            "origin/main..HEAD",
            "--json",
            "--bundle",
            &file,
            "--require",
            "reported",
        ],
    );
    assert_eq!(ran.status, 0, "{ran:?}");
    let answer = ran.json();
    assert_eq!(standings(answer), ["earned"; 3]);
    assert_eq!(answer["commits"][0]["source"], "bundle");
    assert_eq!(answer["sources"][0]["at"], file);
}

#[test]
fn the_same_run_gives_the_same_bytes_and_nothing_but_them() {
    let environment = TestEnvironment::finished(false);
    let first = fs::read(bundle(&environment)).unwrap();
    let second = environment.tm(&["runs", "export", "-o", "-"]);
    assert_eq!(first, second.as_bytes());
    let answer = environment.tm(&["runs", "export", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let file = answer["file"].as_str().unwrap();
    assert!(file.ends_with(".tramline.jsonl"), "{answer}");
    assert_eq!(first, fs::read(file).unwrap());
    assert!(first.ends_with(b"\"}\n"));
    let ran = environment.try_tm(&["runs", "export", "-o", "-", "--json"], &[]);
    assert_eq!(ran.status, 2);
    let ran = environment.try_tm(&["runs", "export", "-o", "no/such/folder/x"], &[]);
    assert_eq!(ran.status, 6, "{ran:?}");
}

#[test]
fn a_bundle_that_was_changed_is_refused() {
    let environment = TestEnvironment::finished(false);
    let whole = fs::read(bundle(&environment)).unwrap();
    let clone = environment.clone_of_it(false);
    let text = String::from_utf8(whole.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The hash at the end is made to fit.
    let again = |body: &str| {
        let body = format!("{}\n", body.trim_end());
        let sum = journal::sha256_hex(body.as_bytes());
        format!("{body}{{\"bundleSha256\":\"{sum}\"}}\n")
    };
    let body = lines[..lines.len() - 1].join("\n");
    let broken = [
        Vec::new(),
        b"{}\n".to_vec(),
        b"\n\n\n".to_vec(),
        whole[..whole.len() / 2].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        [whole.as_slice(), &whole].concat(),
        text.replacen("reported", "verified", 1).into_bytes(),
        again(&body.replacen("\"level\":\"reported\"", "\"level\":\"verified\"", 1)).into_bytes(),
        again(&lines[..lines.len() - 2].join("\n")).into_bytes(),
        again(&body.replacen("not ok 1", "ok 1", 1)).into_bytes(),
        again(&body.replacen("\"tramlineBundle\":1", "\"tramlineBundle\":2", 1)).into_bytes(),
    ];
    let file = environment.beside("broken.jsonl");
    for (number, bytes) in broken.iter().enumerate() {
        fs::write(&file, bytes).unwrap();
        let ran = environment.tm_in(
            &clone,
            &[
                "verify",
                "HEAD",
                "--json",
                "--bundle",
                file.to_str().unwrap(),
            ],
        );
        assert_eq!(ran.status, 3, "{number}: {ran:?}");
        assert_eq!(
            ran.json()["error"]["code"],
            "bundle_damaged",
            "{number}: {ran:?}"
        );
    }
    let ran = environment.tm_in(&clone, &["verify", "HEAD", "--json", "--bundle", "nothing"]);
    assert_eq!(ran.status, 4, "{ran:?}");
}

#[test]
fn evidence_that_was_gone_at_the_export_is_missing_in_the_bundle() {
    let environment = TestEnvironment::finished(false);
    let (_, answer) = environment.verify(&["HEAD~2"]);
    let hash = answer["commits"][0]["red"]["evidence"][0].as_str().unwrap();
    fs::remove_file(environment.run_folder().join("evidence").join(hash)).unwrap();
    let file = environment.beside("run.jsonl");
    let ran = environment.try_tm(&["runs", "export", "-o", file.to_str().unwrap()], &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.contains("1 piece"), "{ran:?}");
    let clone = environment.clone_of_it(false);
    let ran = environment.tm_in(
        &clone,
        &[
            "verify",
            "origin/main..HEAD",
            "--json",
            "--bundle",
            file.to_str().unwrap(),
        ],
    );
    assert_eq!(ran.status, 3);
    assert_eq!(problems(ran.json()), ["evidence_missing"]);
}
