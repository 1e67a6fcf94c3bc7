//! The profile that comes with the program.

use markup::response::{bundle, plan, verdict};
use serde_json::{Value, json};
use workspace::profile::{CodeFile, Phase, Profile, View, shown_files};

use super::{load, view};

fn generic() -> Profile {
    let folder = tempfile::TempDir::new().unwrap();
    load(folder.path(), "generic").unwrap()
}

fn with(given: &Value) -> View {
    let inputs = generic().check_inputs(given.as_object().unwrap());
    view(Value::Object(inputs.unwrap()))
}

fn least() -> View {
    let mut view = with(&json!({ "request": "the-request" }));
    view.feedback = String::new();
    view.review.text = String::new();
    view.files.clear();
    view
}

fn most() -> View {
    with(&json!({
        "request": "the-request\n```\nescape", "context": "the-context", "language": "the-language",
        "constraints": "first-constraint,second-constraint",
    }))
}

/// What others wrote stands in fences that it cannot close.
fn assert_fenced(prompt: &str) {
    let mut fence: Option<usize> = None;
    let mut outside = String::new();
    for line in prompt.lines() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            None => outside += line,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "a fence is open:\n{prompt}");
    let others = "the-request|the-context|the-language|first-constraint|the-plan|the-review|the-feedback|fn a()";
    let seen = others.split('|').find(|words| outside.contains(words));
    assert_eq!(seen, None, "it stands outside:\n{prompt}");
}

#[test]
fn every_prompt_shows_what_belongs_to_it_and_says_how_the_answer_is_written() {
    let profile = generic();
    let (verdict, plan) = ("\n@@@REVIEW_META\nverdict: ", "the-plan|the-review");
    let inputs = "the-context|the-language|first-constraint\nsecond-constraint|the-feedback";
    let code = "the-plan|iteration-2/code|\"src/a.rs\", 10 bytes|fn a() {}|\"b.md\"";
    let revised = "the-plan|the-review|\"src/a.rs\"|Issues: 3, of which critical: 1";
    for (phase, format, shown, hidden) in [
        (Phase::Planning, "VALIDATION FAILED:", "/the-project", plan),
        (Phase::Generation, "\n<<<FILE: ", "the-plan", "the-review"),
        (Phase::Review, verdict, code, "fn old()"),
        (Phase::Revision, "\n<<<FILE: ", revised, "fn old()"),
    ] {
        let next = "the session\n`review__x__2026` can take its next step";
        let always = ["the-response.md", format, "the-request", next];
        let more = shown.split('|').chain(inputs.split('|'));
        for (view, shown) in [
            (least(), always.to_vec()),
            (most(), more.chain(always).collect()),
        ] {
            let prompt = profile.render(phase, &view).unwrap();
            assert!(prompt.starts_with("# "), "{prompt}");
            for words in shown {
                assert!(prompt.contains(words), "{phase} lacks {words}:\n{prompt}");
            }
            for words in hidden.split('|').chain(["\n\n\n", "{{", "{%"]) {
                assert!(!prompt.contains(words), "{phase} shows {words}:\n{prompt}");
            }
            assert_fenced(&prompt);
        }
    }
}

#[test]
fn ten_thousand_files_and_long_ones_fit() {
    let file = |number: usize, content: String| CodeFile {
        path: format!("src/{number}.rs"),
        sha256: String::new(),
        size: content.len() as u64,
        content,
    };
    let mut view = most();
    view.files = shown_files((0..10_000).map(|number| file(number, "x".repeat(1_000))));
    let shown = view.files.iter().filter(|file| !file.content.is_empty());
    assert!((500..600).contains(&shown.count()));
    let prompt = generic().render(Phase::Review, &view).unwrap();
    assert!(prompt.contains("and 9500 more"), "{prompt}");
    view.files = shown_files([file(1, "long".repeat(10_000)), file(2, "short".to_owned())]);
    let prompt = generic().render(Phase::Revision, &view).unwrap();
    assert!(prompt.contains("\"src/1.rs\", 40000 bytes") && prompt.contains("short"));
    assert!(!prompt.contains("longlong"));
}

#[test]
fn only_the_request_is_needed() {
    let error = generic().check_inputs(&serde_json::Map::new()).unwrap_err();
    assert_eq!(error.to_string(), "the input `request` is missing");
}

/// Whoever follows a prompt to the letter is understood: its examples are read by the readers of responses.
#[test]
fn the_examples_in_the_prompts_are_what_the_readers_read() {
    let example = |phase, begins: &str| {
        let prompt = generic().render(phase, &least()).unwrap();
        let start = prompt.rfind(begins).unwrap();
        let end = start + prompt[start..].find("\n```").unwrap();
        format!("Here they are.\n\n{}\n", &prompt[start..end])
    };
    for phase in [Phase::Generation, Phase::Revision] {
        let answer = example(phase, "<<<FILE: path/of/the/first");
        let bundle = bundle::read(answer.as_bytes(), &bundle::Rules::default()).unwrap();
        let paths = bundle.files.iter().map(|file| file.path.as_str());
        assert!(paths.eq(["path/of/the/first.file", "path/of/the/second.file"]));
    }
    let answer = example(Phase::Review, "@@@REVIEW_META");
    let verdict = verdict::read(answer.as_bytes()).unwrap();
    assert!(!verdict.pass && verdict.issues_total == 3 && verdict.issues_critical == 1);
    let answer = example(Phase::Planning, "VALIDATION FAILED:");
    let answer = answer.trim_start_matches("Here they are.\n\n");
    let plan = plan::read(answer.as_bytes(), &[]).unwrap();
    assert!(matches!(plan, plan::Plan::Invalid { .. }));
}
