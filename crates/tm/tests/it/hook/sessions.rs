//! A whole session of each client, from its start to COMMIT.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::environment::started;

fn session(client: &str) -> String {
    let environment = started();
    let root = environment.project().display().to_string();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hook/payloads");
    let files = testkit::files::list(&folder.join(client));
    assert_eq!(files.len(), 14);
    let mut told = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        // Before which payload the run moves on.
        match &name[..2] {
            "09" => environment.red("words"),
            "12" => environment.green("words"),
            _ => {}
        }
        let payload = fs::read_to_string(&file).unwrap();
        let answer = environment.call(client, payload.replace("{{root}}", &root));
        assert_eq!(answer.err, "", "{client} {name}");
        let out = if answer.text().is_empty() {
            "(nothing)".to_owned()
        } else {
            assert_eq!(answer.out.matches('\n').count(), 1, "{answer:?}");
            let value: Value = serde_json::from_str(&answer.out).unwrap();
            format!("{value:#}").replace(&root, "{{root}}")
        };
        writeln!(told, "## {name}\n{out}\n").unwrap();
    }
    told
}

/// What is said differs in form; the same is decided whichever client asks.
#[test]
fn every_client_gets_the_same_decisions() {
    for client in ["claude-code", "codex", "cursor", "copilot"] {
        let told = session(client);
        insta::assert_snapshot!(client.replace('-', "_"), told);
        let held_back = told.split("## ").skip(1).filter_map(|part| {
            let words = ["\"deny\"", "\"block\"", "\"followup_message\""];
            let is_held_back = words.iter().any(|word| part.contains(word));
            is_held_back.then_some(&part[..2])
        });
        let held_back: Vec<&str> = held_back.collect();
        assert_eq!(
            held_back,
            ["04", "06", "07", "09", "11", "12", "13"],
            "{client}"
        );
    }
}
