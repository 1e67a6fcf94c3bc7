//! A whole session of each client, from its start to COMMIT.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::TestEnvironment;

/// Before which payload the run moves on.
fn move_on(environment: &TestEnvironment, name: &str) {
    match &name[..2] {
        "09" => environment.red("tests/words_test.sh"),
        "12" => environment.green(),
        _ => {}
    }
}

fn session(client: &str) -> String {
    let environment = TestEnvironment::started();
    let root = environment.project().display().to_string();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/hook/payloads")
        .join(client);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 14);
    let mut told = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        move_on(&environment, name);
        let payload = fs::read_to_string(&file)
            .unwrap()
            .replace("{{root}}", &root);
        let output = environment.call(&[client], payload.as_bytes());
        let out = output.out;
        let out = if out.is_empty() {
            "(nothing)".to_owned()
        } else {
            assert_eq!(out.matches('\n').count(), 1, "{out}");
            let value: Value = serde_json::from_str(&out).unwrap();
            format!("{value:#}").replace(&root, "{{root}}")
        };
        let err = output.err;
        assert_eq!(output.status, 0, "{client} {name}: {err}");
        assert_eq!(err, "", "{client} {name}");
        writeln!(told, "## {name}\n{out}\n").unwrap();
    }
    told
}

#[test]
fn claude_code() {
    insta::assert_snapshot!(session("claude-code"));
}

#[test]
fn codex() {
    insta::assert_snapshot!(session("codex"));
}

#[test]
fn cursor() {
    insta::assert_snapshot!(session("cursor"));
}

#[test]
fn copilot() {
    insta::assert_snapshot!(session("copilot"));
}

/// The same is decided whichever client asks.
#[test]
fn every_client_gets_the_same_decisions() {
    let is_held_back = |client: &str| -> Vec<bool> {
        session(client)
            .split("## ")
            .skip(1)
            .map(|part| {
                ["deny", "block", "followup_message"]
                    .iter()
                    .any(|word| part.contains(&format!("\"{word}\"")))
            })
            .collect()
    };
    let first = is_held_back("claude-code");
    assert_eq!(
        first,
        [
            false, false, false, true, false, true, true, false, true, false, true, true, true,
            false
        ]
    );
    for client in ["codex", "cursor", "copilot"] {
        assert_eq!(is_held_back(client), first, "{client}");
    }
}
