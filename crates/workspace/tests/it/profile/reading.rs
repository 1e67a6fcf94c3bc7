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

#[test]
fn every_mistake_is_told_with_its_place() {
    let whole = [
        "",
        "- a\n",
        "tramline-profile: 1\n",
        "tramline-profile: 2\ntitle: x\n",
        "tramline-profile: one\ntitle: x\n",
        "tramline-profile: 1\ntitle: ' '\n",
        "tramline-profile: 1\ntitle: {x\n",
    ];
    let below = [
        "titel: y",
        "title: y",
        "---\na: b",
        "inputs: { a-b: { type: text } }",
        "inputs: { a: { type: txt } }",
        "inputs: { a: { requird: true, type: text } }",
        "inputs: { a: { required: true } }",
        "inputs: { a: { type: string, default: 1 } }",
        "inputs: { a: { type: string, default: \"1\\n2\" } }",
        "inputs: { a: { type: int, default: 1.5 } }",
        "inputs: { a: { type: string, default: c, choices: [a, b] } }",
        "inputs: { a: { type: string, choices: [] } }",
        "inputs: { a: { type: string, choices: [a, 1] } }",
        "inputs: { a: { type: bool, choices: [true] } }",
        "inputs: { a: { type: text, required: true, default: x } }",
        "prompts: { planing: a.md }",
        "prompts: { planning: ../../secret.md }",
        "prompts: { planning: /etc/passwd }",
        "responses: { planning: { read: verdict } }",
        "responses: { planning: { read: plans } }",
        "responses: { planning: { allow: [a] } }",
        "responses: { review: { headings: [a] } }",
        "responses: { generation: { headings: [a] } }",
        "responses: { generation: { allow: [] } }",
        "responses: { generation: { allow: ['a{'] } }",
        "responses: { planning: { headings: [' '] } }",
        "responses: { planning: { command: [] } }",
        "responses: { planning: { command: python3 } }",
        "responses: { planning: { command: [a], read: plan } }",
        "responses: { planning: { command: [a], timeout: 0 } }",
        "responses: { planning: { command: [a], timeout: 3601 } }",
        "responses: { planning: { timeout: 3 } }",
    ];
    let whole = whole.iter().map(|yaml| (*yaml).to_owned());
    let below = below.iter().map(|yaml| format!("{LEAST}{yaml}\n"));
    let told = whole.chain(below).map(|yaml| {
        let (code, text) = Scene::new(&yaml).fault();
        assert_eq!(code, "profile_invalid", "{yaml}");
        assert!(!text.ends_with("| "), "no suggestion: {text}");
        text.split_once("profile.yaml")
            .unwrap_or_else(|| panic!("{text}"))
            .1
            .to_owned()
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @r#"
    :1:1: the profile ends too early | see the JSON Schema of profiles, or compare with a profile that works
    :1:1: expected mapping start | see the JSON Schema of profiles, or compare with a profile that works
    :1:1: `title` is missing | add `title: …`
    :1:19: this profile is written in version 2 of the format; this program reads version 1 | use a newer tm, or write the file in version 1
    :1:19: invalid u32 | see the JSON Schema of profiles, or compare with a profile that works
    :2:8: the title is no line of text | say in one line what the profile is for
    :2:8: expected string scalar | see the JSON Schema of profiles, or compare with a profile that works
    :3:1: there is no key `titel` here | did you mean `title`?
    :3:1: `title` is there twice | keep one of the two
    :4:1: a second document begins here | write one profile in a file
    :3:16: "a-b" cannot be the name of an input | use letters, digits and `_`, at most 64 of them, with a letter first: templates name it `inputs.NAME`
    :3:22: there is no value `txt` here | did you mean `text`?
    :3:16: there is no key `requird` here | did you mean `required`?
    :3:16: `type` is missing | add `type: …`
    :3:14: the input `a` has a default that is not one line of text: 1 | write a value of the type; a number or a word such as `yes` becomes text in quotes
    :3:14: the input `a` has a default that is not one line of text: "1\n2" | write a value of the type; a number or a word such as `yes` becomes text in quotes
    :3:14: the input `a` has a default that is not a whole number: 1.5 | write a value of the type; a number or a word such as `yes` becomes text in quotes
    :3:14: the input `a` has a default that is none of a, b: "c" | make it one of the choices
    :3:14: the input `a` has no choices | name at least one, or leave them out
    :3:14: the input `a` has a choice that is not one line of text: 1 | write values of the type; a number or a word such as `yes` becomes text in quotes
    :3:14: the input `a` is of type bool, which has no choices | take the choices away, or use another type
    :3:14: the input `a` is required and has a default | take one of the two away
    :3:12: there is no key `planing` here | did you mean `planning`?
    :3:22: there is no template ../../secret.md for planning | write it into the profile's folder, or name another one under `prompts`
    :3:22: there is no template /etc/passwd for planning | write it into the profile's folder, or name another one under `prompts`
    :3:24: the response of planning cannot be read so | `plan` reads planning, `bundle` generation and revision, `verdict` review; anything else takes a `command`
    :3:32: there is no value `plans` here | did you mean `plan`?
    :3:24: the response of planning has a key that means nothing to its reader | `headings` belong to `plan`, `allow` to `bundle`
    :3:22: the response of review has a key that means nothing to its reader | `headings` belong to `plan`, `allow` to `bundle`
    :3:26: the response of generation has a key that means nothing to its reader | `headings` belong to `plan`, `allow` to `bundle`
    :3:26: `allow` of generation allows nothing | name patterns such as `src/**`, or leave it out: then every name is allowed
    :3:26: `allow` of generation has a pattern that fits no name: "a{" | write patterns such as `src/**`, or `*.md` for every folder, with `/` between folders
    :3:24: a heading of the plan is no line of text | write headings without `#`, as they are read
    :3:24: the command of planning names no program | write the program and its arguments as a list: `[python3, process.py]`
    :3:35: expected sequence start | see the JSON Schema of profiles, or compare with a profile that works
    :3:24: the response of planning is read by a command and by a reader | keep `command` and `timeout`, or `read` with what belongs to it
    :3:24: the command of planning cannot take 0 s | give it between 1 and 3600 seconds
    :3:24: the command of planning cannot take 3601 s | give it between 1 and 3600 seconds
    :3:24: the response of planning has a `timeout`, and no command | take it away, or name a `command`
    "#);
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    let again: Vec<String> = (0..99).map(|n| format!("  b{n}: *a\n")).collect();
    let many = "x, ".repeat(100);
    for inputs in [
        format!(
            "\n  a: &a {{ type: list, default: [{many}] }}\n{}",
            again.concat()
        ),
        "{ a: ".repeat(10_000),
        "[".repeat(30_000),
    ] {
        let (code, _) = Scene::new(&format!("{LEAST}inputs: {inputs}")).fault();
        assert_eq!(code, "profile_invalid");
    }
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
