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
    let names = profile.inputs.keys().map(String::as_str);
    assert!(names.eq(["request", "language", "strict", "level", "share", "parts"]));
    assert_eq!(profile.inputs["level"].kind, Kind::Int);
    assert_eq!(profile.prompts.planning, "texts/plan.md");
    assert_eq!(profile.prompts.review, "review.md");
    let allow = ["src/**", "*.md"].map(str::to_owned).to_vec();
    assert_eq!(profile.responses.generation, Reader::Bundle { allow });
    // As generation.
    assert_eq!(profile.responses.revision, profile.responses.generation);
    let argv = ["python3", "process.py", "review"]
        .map(str::to_owned)
        .to_vec();
    let timeout = Duration::from_secs(5);
    assert_eq!(profile.responses.review, Reader::Command { argv, timeout });
    assert!(profile.has_commands());
}

#[test]
fn what_is_not_said_is_as_usual() {
    let profile = Scene::new(LEAST).load().unwrap();
    assert!(profile.inputs.is_empty() && !profile.has_commands());
    let headings = Vec::new();
    assert_eq!(profile.responses.planning, Reader::Plan { headings });
    assert_eq!(profile.responses.review, Reader::Verdict);
    let responses = "responses: { generation: { allow: ['a'] }, revision: { read: bundle }, planning: { command: [x] } }";
    let responses = Scene::new(&format!("{LEAST}{responses}\n"))
        .load()
        .unwrap()
        .responses;
    assert_eq!(responses.generation, responses.revision);
    let (argv, timeout) = (vec!["x".to_owned()], Duration::from_mins(1));
    assert_eq!(responses.planning, Reader::Command { argv, timeout });
}

/// Files, or what stands below the title of one, and how the faults that are told begin, from the place on.
const MISTAKES: &[&str] = &[
    " ⇒ :1:1: the profile ends too early",
    "- a\n ⇒ :1:1: expected mapping start",
    "tramline-profile: 1\n ⇒ :1:1: `title` is missing | add `title: …`",
    "tramline-profile: 2\ntitle: x\n ⇒ :1:19: this profile is written in version 2 of the format; this program reads version 1",
    "tramline-profile: one\ntitle: x\n ⇒ :1:19: invalid u32 | see the JSON Schema of profiles, or compare with a profile that works",
    "tramline-profile: 1\ntitle: ' '\n ⇒ :2:8: the title is no line of text | say in one line what the profile is for",
    "tramline-profile: 1\ntitle: {x\n ⇒ :2:8: expected string scalar",
    "titel: y ⇒ :3:1: there is no key `titel` here | did you mean `title`?",
    "title: y ⇒ :3:1: `title` is there twice | keep one of the two",
    "---\na: b ⇒ :4:1: a second document begins here | write one profile in a file",
    r#"inputs: { a-b: { type: text } } ⇒ :3:16: "a-b" cannot be the name of an input"#,
    "inputs: { a: { type: txt } } ⇒ :3:22: there is no value `txt` here | did you mean `text`?",
    "inputs: { a: { requird: true, type: text } } ⇒ :3:16: there is no key `requird` here | did you mean `required`?",
    "inputs: { a: { required: true } } ⇒ :3:16: `type` is missing | add `type: …`",
    "inputs: { a: { type: string, default: 1 } } ⇒ :3:14: the input `a` has a default that is not one line of text: 1",
    "inputs: { a: { type: string, default: \"1\\n2\" } } ⇒ :3:14: the input `a` has a default that is not one line of text: \"1\\n2\"",
    "inputs: { a: { type: int, default: 1.5 } } ⇒ :3:14: the input `a` has a default that is not a whole number: 1.5",
    r#"inputs: { a: { type: string, default: c, choices: [a, b] } } ⇒ :3:14: the input `a` has a default that is none of a, b: "c" | make it one of the choices"#,
    "inputs: { a: { type: string, choices: [] } } ⇒ :3:14: the input `a` has no choices | name at least one, or leave them out",
    "inputs: { a: { type: string, choices: [a, 1] } } ⇒ :3:14: the input `a` has a choice that is not one line of text: 1",
    "inputs: { a: { type: bool, choices: [true] } } ⇒ :3:14: the input `a` is of type bool, which has no choices",
    "inputs: { a: { type: text, required: true, default: x } } ⇒ :3:14: the input `a` is required and has a default | take one of the two away",
    "prompts: { planing: a.md } ⇒ :3:12: there is no key `planing` here | did you mean `planning`?",
    "prompts: { planning: ../../secret.md } ⇒ :3:22: there is no template ../../secret.md for planning",
    "prompts: { planning: /etc/passwd } ⇒ :3:22: there is no template /etc/passwd for planning",
    "responses: { planning: { read: verdict } } ⇒ :3:24: the response of planning cannot be read so",
    "responses: { planning: { read: plans } } ⇒ :3:32: there is no value `plans` here | did you mean `plan`?",
    "responses: { planning: { allow: [a] } } ⇒ :3:24: the response of planning has a key that means nothing to its reader",
    "responses: { review: { headings: [a] } } ⇒ :3:22: the response of review has a key that means nothing to its reader",
    "responses: { generation: { headings: [a] } } ⇒ :3:26: the response of generation has a key that means nothing to its reader",
    "responses: { generation: { allow: [] } } ⇒ :3:26: `allow` of generation allows nothing",
    r#"responses: { generation: { allow: ['a{'] } } ⇒ :3:26: `allow` of generation has a pattern that fits no name: "a{""#,
    "responses: { planning: { headings: [' '] } } ⇒ :3:24: a heading of the plan is no line of text | write headings without `#`, as they are read",
    "responses: { planning: { command: [] } } ⇒ :3:24: the command of planning names no program",
    "responses: { planning: { command: python3 } } ⇒ :3:35: expected sequence start",
    "responses: { planning: { command: [a], read: plan } } ⇒ :3:24: the response of planning is read by a command and by a reader",
    "responses: { planning: { command: [a], timeout: 0 } } ⇒ :3:24: the command of planning cannot take 0 s | give it between 1 and 3600 seconds",
    "responses: { planning: { command: [a], timeout: 3601 } } ⇒ :3:24: the command of planning cannot take 3601 s | give it between 1 and 3600 seconds",
    "responses: { planning: { timeout: 3 } } ⇒ :3:24: the response of planning has a `timeout`, and no command | take it away, or name a `command`",
];

#[test]
fn every_mistake_is_told_with_its_place() {
    for mistake in MISTAKES {
        let (text, expected) = mistake.split_once(" ⇒ ").unwrap();
        let whole = ["", "- a\n"].contains(&text) || text.starts_with("tramline-");
        let head = if whole { "" } else { LEAST };
        let (code, told) = Scene::new(&format!("{head}{text}")).fault();
        assert_eq!(code, "profile_invalid", "{text}");
        assert!(!told.ends_with("| "), "no suggestion: {told}");
        let (_, told) = told.split_once("profile.yaml").unwrap();
        assert!(told.starts_with(expected), "{text}: {told}");
    }
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let again: Vec<String> = (0..99).map(|n| format!("  b{n}: *a\n")).collect();
    let again = again.concat();
    let many = "x, ".repeat(100);
    let long = format!("{}: 1", "k".repeat(20_000));
    for inputs in [
        format!("\n  a: &a {{ type: list, default: [{many}] }}\n{again}"),
        "{ a: ".repeat(10_000),
        "[".repeat(30_000),
        format!("{{ {long} }}"),
    ] {
        let (code, text) = Scene::new(&format!("{LEAST}inputs: {inputs}")).fault();
        assert_eq!(code, "profile_invalid");
        assert!(text.len() < 2_000, "{text}");
    }
    let scene = Scene::new(LEAST).file("profile.yaml", [0xff, 0xfe, 0, 1]);
    assert_eq!(scene.fault().0, "profile_invalid");
}

#[test]
fn what_a_file_says_is_told_plainly() {
    let (_, text) = Scene::new(&format!("{LEAST}\"a\\e[31m\\u202e\\nb\": 1\n")).fault();
    let odd = text.contains(['\u{1b}', '\u{202e}', '\n']);
    assert!(text.contains("a b") && !odd, "{text}");
    let yaml = "tramline-profile: 1\ntitle: \"x\\e[31my\"\ninputs: { a: { type: text, description: \"z\\u202e\" } }\n";
    let profile = Scene::new(yaml).load().unwrap();
    let told = (&*profile.title, &*profile.inputs["a"].description);
    assert_eq!(told, ("xy", "z"));
}
