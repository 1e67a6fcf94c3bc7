//! What `profile.yaml` may say.

use std::time::Duration;

use workspace::profile::{Kind, Reader};

use super::{LEAST, Scene};

const WHOLE: &str = r#"tramline-profile: 1
title: Everything at once
inputs:
  request: { type: text, required: true, description: What is to be built }
  language: { type: string, default: rust, choices: [rust, python] }
  strict: { type: bool, default: false }
  level: { type: int, choices: [1, 2] }
  share: { type: number, default: 0.5 }
  parts: { type: list, choices: [a, b] }
prompts: { planning: texts/plan.md }
responses:
  planning: { read: plan, headings: [Approach, Files] }
  generation: { read: bundle, allow: ["src/**", "*.md"] }
  review: { command: [python3, process.py, review], timeout: 5 }
"#;

#[test]
fn everything_is_read() {
    let scene = Scene::new(WHOLE).file("texts/plan.md", "plan");
    let profile = scene.load().unwrap();
    assert_eq!(profile.title, "Everything at once");
    let names: Vec<&str> = profile.inputs.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["request", "language", "strict", "level", "share", "parts"]
    );
    assert_eq!(profile.inputs["level"].kind, Kind::Int);
    assert_eq!(profile.prompts.planning, "texts/plan.md");
    assert_eq!(profile.prompts.review, "review.md");
    let bundle = Reader::Bundle {
        allow: vec!["src/**".to_owned(), "*.md".to_owned()],
    };
    assert_eq!(profile.responses.generation, bundle);
    assert_eq!(profile.responses.revision, bundle, "as generation");
    assert_eq!(
        profile.responses.review,
        Reader::Command {
            argv: vec![
                "python3".to_owned(),
                "process.py".to_owned(),
                "review".to_owned()
            ],
            timeout: Duration::from_secs(5),
        }
    );
    assert!(profile.has_commands());
}

#[test]
fn what_is_not_said_is_as_usual() {
    let profile = Scene::new(LEAST).load().unwrap();
    assert!(profile.inputs.is_empty() && !profile.has_commands());
    assert_eq!(
        profile.responses.planning,
        Reader::Plan {
            headings: Vec::new()
        }
    );
    assert_eq!(profile.responses.review, Reader::Verdict);
    let profile = Scene::new(&format!(
        "{LEAST}responses: {{ generation: {{ allow: ['a'] }}, revision: {{ read: bundle }}, planning: {{ command: [x] }} }}\n"
    ))
    .load()
    .unwrap();
    assert_eq!(profile.responses.generation, profile.responses.revision);
    let Reader::Command { timeout, .. } = profile.responses.planning else {
        panic!("a command");
    };
    assert_eq!(timeout, Duration::from_mins(1));
}

/// Files with a mistake, each with what the message must say.
const MISTAKES: &[(&str, &str)] = &[
    ("", "profile.yaml:1:1: the profile ends too early"),
    ("- a\n", "a profile"),
    ("tramline-profile: 1\n", "`title` is missing"),
    (
        "tramline-profile: 2\ntitle: x\n",
        "profile.yaml:1:19: this profile is written in version 2",
    ),
    ("tramline-profile: one\ntitle: x\n", "profile.yaml:1:"),
    (
        "tramline-profile: 1\ntitle: ' '\n",
        "profile.yaml:2:8: the title",
    ),
    (
        "tramline-profile: 1\ntitle: x\ntitel: y\n",
        "profile.yaml:3:1: there is no key `titel` here | did you mean `title`?",
    ),
    (
        "tramline-profile: 1\ntitle: x\ntitle: y\n",
        "`title` is there twice",
    ),
    (
        "tramline-profile: 1\ntitle: x\n---\na: b\n",
        "second document",
    ),
    ("tramline-profile: 1\ntitle: {x\n", "profile.yaml:"),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a-b: { type: text } }\n",
        "profile.yaml:3:16: \"a-b\" cannot be the name",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: txt } }\n",
        "there is no value `txt` here | did you mean `text`?",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { requird: true, type: text } }\n",
        "did you mean `required`?",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { required: true } }\n",
        "`type` is missing",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: string, default: 1 } }\n",
        "default that is not one line of text: 1",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: string, default: \"1\\n2\" } }\n",
        "default that is not one line",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: int, default: 1.5 } }\n",
        "default that is not a whole number",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: string, default: c, choices: [a, b] } }\n",
        "default that is none of a, b",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: string, choices: [] } }\n",
        "has no choices",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: string, choices: [a, 1] } }\n",
        "a choice that is not one line of text: 1",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: bool, choices: [true] } }\n",
        "has no choices | take the choices away",
    ),
    (
        "tramline-profile: 1\ntitle: x\ninputs: { a: { type: text, required: true, default: x } }\n",
        "is required and has a default",
    ),
    (
        "tramline-profile: 1\ntitle: x\nprompts: { planing: a.md }\n",
        "did you mean `planning`?",
    ),
    (
        "tramline-profile: 1\ntitle: x\nprompts: { planning: ../../secret.md }\n",
        "profile.yaml:3:22: there is no template ../../secret.md",
    ),
    (
        "tramline-profile: 1\ntitle: x\nprompts: { planning: /etc/passwd }\n",
        "there is no template /etc/passwd",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { read: verdict } }\n",
        "cannot be read so",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { read: plans } }\n",
        "did you mean `plan`?",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { allow: [a] } }\n",
        "a key that means nothing",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { review: { headings: [a] } }\n",
        "a key that means nothing",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { generation: { headings: [a] } }\n",
        "a key that means nothing",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { generation: { allow: [] } }\n",
        "allows nothing",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { generation: { allow: ['a{'] } }\n",
        "a pattern that fits no name",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { headings: [' '] } }\n",
        "a heading of the plan",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { command: [] } }\n",
        "names no program",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { command: python3 } }\n",
        "profile.yaml:3:",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { command: [a], read: plan } }\n",
        "by a command and by a reader",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { command: [a], timeout: 0 } }\n",
        "cannot take 0 s",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { command: [a], timeout: 3601 } }\n",
        "cannot take 3601 s",
    ),
    (
        "tramline-profile: 1\ntitle: x\nresponses: { planning: { timeout: 3 } }\n",
        "has a `timeout`, and no command",
    ),
];

#[test]
fn every_mistake_is_told_with_its_place() {
    for (yaml, expected) in MISTAKES {
        let (code, text) = Scene::new(yaml).fault();
        assert_eq!(code, "profile_invalid", "{yaml}");
        assert!(text.contains(expected), "{yaml}\n{text}\n{expected}");
        assert!(!text.ends_with("| "), "no suggestion: {text}");
    }
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let bomb = format!(
        "{LEAST}inputs:\n  a: &a {{ type: list, default: [{}] }}\n{}",
        "x, ".repeat(100),
        (0..99)
            .map(|n| format!("  b{n}: *a"))
            .collect::<Vec<_>>()
            .join("\n")
    );
    assert_eq!(Scene::new(&bomb).fault().0, "profile_invalid");
    let deep = format!("{LEAST}inputs: {}", "{ a: ".repeat(10_000));
    assert_eq!(Scene::new(&deep).fault().0, "profile_invalid");
    let deep = format!("{LEAST}inputs: {}", "[".repeat(30_000));
    assert_eq!(Scene::new(&deep).fault().0, "profile_invalid");
    let scene = Scene::new(LEAST).file("profile.yaml", [0xff, 0xfe, 0, 1]);
    assert_eq!(scene.fault().0, "profile_invalid");
}

#[test]
fn what_a_file_says_is_told_plainly() {
    let long = "k".repeat(20_000);
    let (_, text) = Scene::new(&format!("{LEAST}\"{long}\": 1\n")).fault();
    assert!(text.len() < 2_000, "{text}");
    let (_, text) = Scene::new(&format!("{LEAST}\"a\\e[31m\\u202e\\nb\": 1\n")).fault();
    assert!(
        text.contains("a b") && !text.contains(['\u{1b}', '\u{202e}', '\n']),
        "{text}"
    );
    let yaml = "tramline-profile: 1\ntitle: \"x\\e[31my\"\ninputs: { a: { type: text, description: \"z\\u202e\" } }\n";
    let profile = Scene::new(yaml).load().unwrap();
    assert_eq!(profile.title, "xy");
    assert_eq!(profile.inputs["a"].description, "z");
}
