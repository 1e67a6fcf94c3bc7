//! Every template renders in every situation it is used in, says what it must say, and keeps
//! text of others apart from its own.

mod collab;

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, UndefinedBehavior};
use serde_json::json;
use workflows::{all, builtin};

/// Stands in for the fence that the engine provides: of a list, a line each.
fn quoted(value: &Value) -> String {
    let text = match value.kind() {
        ValueKind::Seq => {
            let lines = value.try_iter().unwrap().map(|line| line.to_string());
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => value.to_string(),
    };
    format!("[[{text}]]")
}

/// An environment that leaves nothing out.
fn strict() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("quoted", |value: Value| quoted(&value));
    environment
}

fn render(name: &str, values: &serde_json::Value) -> String {
    let template = builtin("tdd").unwrap().template(name).unwrap();
    let text = strict().render_named_str(name, template, Serde(values));
    text.unwrap()
}

/// Words, each with the mark that stands for it.
fn marks(words: &str, before: &str) -> serde_json::Value {
    let marked = words
        .split(' ')
        .map(|word| (word, format!("<{before}{word}>")));
    marked.collect()
}

/// Steps and arguments stand in a template as marks, which whoever reads it sees in words of their own.
fn steps() -> serde_json::Value {
    marks(
        "next status report reopen skip pause edit task graph sync",
        "step ",
    )
}

fn arguments() -> serde_json::Value {
    let evidence = "results coverage coverageReport report format verify removed repairs files";
    let others = "message sha outcome note kind item workItems skipped full";
    marks(&format!("{evidence} {others}"), "")
}

fn least() -> serde_json::Value {
    json!({
        "rules": [],
        "task": { "id": "1", "title": "Autopilot" },
        "subtask": { "id": "1.1", "title": "Add the command", "description": "", "details": "",
                     "testStrategy": "", "dependencies": [] },
        "context": { "projectRoot": "/project", "testCommand": "npm test" },
        "unit": { "id": "workUnit-1.1-RED", "attempt": 1, "maxAttempts": 3, "repair": false, "brief": false, "counted": true },
        "steps": steps(),
        "arguments": arguments(),
        "asksSubject": false,
        "reason": "",
        "last": { "code": "", "message": "", "failing": [] },
    })
}

fn most() -> serde_json::Value {
    let mut values = least();
    values["rules"] = json!([{ "path": ".cursor/rules/a.mdc", "text": "Use tabs.\n" }, { "path": "b", "text": "No." }]);
    values["subtask"] = json!({ "id": "1.1", "title": "Add the command", "description": "the-description",
        "details": "the-details", "testStrategy": "the-strategy", "dependencies": ["1.0", "1.9"] });
    values["context"] = json!({
        "projectRoot": "/project", "taskId": "1", "taskTitle": "Autopilot", "branch": "b", "tag": "t",
        "testCommand": "npm test", "testFramework": "vitest", "testPattern": "**/*.test.ts",
        "testFile": "the-test-file", "existingTests": ["test-a", "test-b"],
        "acceptanceCriteria": ["criterion-a", "criterion-b"], "implementationHints": ["hint-a"],
        "expectedFiles": ["expected-a"], "failingTests": ["failing-a"], "commitMessage": "the-message",
        "filesToCommit": ["file-a", "file-b"],
    });
    values["unit"]["attempt"] = json!(2);
    values["asksSubject"] = json!(true);
    values["reason"] = json!("the-reason");
    values["last"] = json!({ "code": "the-code", "message": "the-last-message", "failing": ["last-a", "last-b"] });
    values
}

const TEMPLATES: [&str; 4] = ["red.md", "green.md", "commit.md", "finalize.md"];

#[test]
fn every_template_renders_with_the_least_and_the_most() {
    for name in TEMPLATES {
        for values in [least(), most()] {
            let text = render(name, &values);
            let context = text.find("<TASK CONTEXT>").unwrap();
            assert!(context < text.find("<INSTRUCTION>").unwrap(), "{name}");
            for odd in ["\n\n\n", "{{", "{%"] {
                assert!(!text.contains(odd), "{name}:\n{text}");
            }
            // Each phase says how it is reported.
            for step in ["\n<step report>\n", "<step skip>"] {
                assert!(text.contains(step), "{name}:\n{text}");
            }
        }
        // Rules come first, in their order.
        let text = render(name, &most());
        let first = "<RULES file=\".cursor/rules/a.mdc\">\nUse tabs.\n</RULES>";
        assert!(text.starts_with(first), "{name}");
        let second = text.find("<RULES file=\"b\">").unwrap();
        assert!(second < text.find("<TASK CONTEXT>").unwrap(), "{name}");
    }
}

#[test]
fn text_of_others_is_always_quoted() {
    let outside = "Autopilot|Add the command|the-description|the-details|the-strategy|the-test-file|test-a|criterion-b|hint-a\
        |expected-a|failing-a|the-message|file-b|the-reason|the-last-message|last-b";
    for name in TEMPLATES {
        let text = render(name, &most());
        let mut unquoted = String::new();
        let mut rest = text.as_str();
        while let Some((before, quote)) = rest.split_once("[[") {
            unquoted.push_str(before);
            rest = quote.split_once("]]").unwrap().1;
        }
        unquoted.push_str(rest);
        for words in outside.split('|') {
            assert!(!unquoted.contains(words), "{name}: {words}");
        }
    }
}

#[test]
fn each_phase_shows_what_belongs_to_it() {
    let red = "criterion-a\ncriterion-b|test-a\ntest-b|the-test-file|the-strategy";
    let commit = "the-message|file-a\nfile-b";
    let finalize = "failing-a|npm test";
    let green = "hint-a|expected-a|failing-a|last-a\nlast-b|Attempt 2 of 3";
    for (name, shown, hidden) in [
        ("red.md", red, ["hint-a", "the-message"]),
        ("green.md", green, ["criterion-a", "the-message"]),
        ("commit.md", commit, ["criterion-a", "hint-a"]),
        ("finalize.md", finalize, ["the-details", "hint-a"]),
    ] {
        let text = render(name, &most());
        for words in shown.split('|').chain(["the-reason", "the-code"]) {
            assert!(text.contains(words), "{name} lacks {words}:\n{text}");
        }
        for words in hidden {
            assert!(!text.contains(words), "{name} shows {words}");
        }
    }
}

#[test]
fn what_was_said_before_is_said_in_few_words() {
    for template in ["red.md", "green.md", "commit.md"] {
        let mut values = most();
        let whole = render(template, &values);
        values["unit"]["brief"] = json!(true);
        let brief = render(template, &values);
        assert!(brief.len() * 2 < whole.len(), "{template}: {brief}");
        // What is new is all there.
        for told in [
            "Add the command",
            "<step report>",
            "<step next>",
            "the-reason",
            "the-last-message",
        ] {
            assert!(brief.contains(told), "{template}: {told}: {brief}");
        }
    }
}

#[test]
fn a_repair_has_no_red_to_go_back_to() {
    let mut values = most();
    values["unit"]["repair"] = json!(true);
    let text = render("green.md", &values);
    assert!(text.contains("REPAIR 1.1"), "{text}");
    assert!(!text.contains("<step reopen>"));
    assert!(render("green.md", &most()).contains("<step reopen>"));
}

/// Whose tests are run here counts none.
#[test]
fn who_has_tests_run_is_asked_for_no_numbers() {
    for template in ["red.md", "green.md", "finalize.md"] {
        let mut values = most();
        assert!(
            render(template, &values).contains("skipped:N"),
            "{template}"
        );
        values["unit"]["counted"] = json!(false);
        assert!(
            !render(template, &values).contains("skipped:N"),
            "{template}"
        );
    }
}

#[test]
fn a_subtask_may_be_left_out_and_failing_tests_may_be_one_text() {
    let mut values = least();
    values.as_object_mut().unwrap().remove("subtask");
    assert!(render("finalize.md", &values).contains("FINALIZE task 1"));
    let mut values = most();
    values["last"]["failing"] = json!("a\nb");
    assert!(render("green.md", &values).contains("[[a\nb]]"));
}

#[test]
fn every_workflow_is_found_by_the_id_that_it_says() {
    for workflow in all() {
        let line = format!("id: {}", workflow.id);
        assert!(workflow.workflow.lines().any(|said| said == line), "{line}");
        assert_eq!(builtin(workflow.id), Some(workflow));
        for (name, text) in workflow.templates {
            assert_eq!(workflow.template(name), Some(*text));
        }
        // Every template that it names is there.
        for rest in workflow.workflow.split("instructions:").skip(1) {
            let name = rest.trim().split([',', ' ', '}', '\n']).next().unwrap();
            assert!(workflow.template(name).is_some(), "{line} names {name}");
        }
    }
    assert_eq!(builtin("nothing"), None);
    assert_eq!(builtin("tdd").unwrap().template("nothing"), None);
}

/// The prompts of a session are those of its profile, so that the definition names files and no templates.
#[test]
fn every_prompt_of_a_session_has_its_response_beside_it() {
    let review = builtin("review").unwrap();
    assert_eq!(review.templates, []);
    let all_of = |key: &str| -> Vec<String> {
        let named = review.workflow.split(key).skip(1);
        let quoted = named.map(|rest| rest.trim_start().trim_start_matches('"'));
        let files = quoted.map(|rest| rest.split(".md").next().unwrap());
        files.map(str::to_owned).collect()
    };
    let (prompts, responses) = (all_of(" prompt:"), all_of(" response:"));
    assert_eq!(prompts.len(), 4);
    for (prompt, response) in prompts.iter().zip(&responses) {
        assert_eq!(prompt.replace("-prompt", "-response"), *response);
    }
}
