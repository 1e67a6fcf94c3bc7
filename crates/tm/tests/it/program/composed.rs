//! Workflows that put capabilities together as no workflow of ours does: what passes the check runs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::session::PLAN;

/// A project with the workflow `ours`, which is `collab` with these changes, and its folder for runs once one has begun.
fn begun(changes: &[(&str, &str)], inputs: &[&str]) -> (TestEnvironment, PathBuf) {
    let project = TestEnvironment::new();
    let mut text = project
        .tm(&["workflow", "show", "collab"])
        .text()
        .to_owned();
    let own = [("id: collab\n", "id: ours\n"), ("view: collab\n", "")];
    for (old, new) in own.iter().chain(changes) {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.commit_all("A workflow of our own");
    // Profiles take inputs, and a workflow that uses one is trusted before it begins.
    if !inputs.is_empty() {
        project.trust(&["workflow", "trust", "ours"]);
    }
    run(&project, &[&["start", "ours"], inputs].concat());
    let asked = run(&project, &["next"])["prompt"].clone();
    let prompt = PathBuf::from(asked.as_str().unwrap());
    (project, prompt.parent().unwrap().to_owned())
}

fn run(project: &TestEnvironment, words: &[&str]) -> Value {
    project.json(&[&["run"], words].concat()).json_with(0)
}

/// The state that the run stands at, and what is told there.
fn told(project: &TestEnvironment) -> (String, String) {
    let next = run(project, &["next"]);
    let text = |name: &str| next[name].as_str().unwrap_or_default().to_owned();
    (text("state"), text("instructions"))
}

const START: &str = "    work: { instructions: collab-start.md }
    to: gather-goals
    on: { skip: { refuse: nothing_in_hand }, reopen: { refuse: nothing_in_hand } }
";

#[test]
fn skills_are_asked_for_in_files() {
    let asked = "    expects: outcome
    work: { instructions: collab-start.md, prompt: start.md, response: started.md }
    to: gather-goals
";
    let (project, folder) = begun(&[(START, asked)], &[]);
    let (state, instructions) = told(&project);
    assert_eq!(state, "collab-start");
    let prompt = std::fs::read_to_string(folder.join("start.md")).unwrap();
    assert_eq!(prompt.trim_end(), instructions.trim_end());
    assert!(prompt.contains("`tm run step --run-id ours__"), "{prompt}");
    std::fs::write(folder.join("started.md"), "done\n").unwrap();
    run(&project, &["step"]);
    let (state, instructions) = told(&project);
    assert_eq!(state, "gather-goals");
    assert!(instructions.contains("design"), "{instructions}");
}

#[test]
fn skills_follow_a_plan_that_a_profile_asks_for() {
    let asked = "    expects: response
    work: { ask: planning, prompt: ask.md, response: answer.md }
    on: { report: [ { when: \"response.status == 'SUCCESS'\", do: plan.store, outcome: SUCCESS, to: gather-goals }, { reason: =response.reason, to: broken } ] }
";
    let changes = [
        (START, asked),
        (
            "uses: { documents:",
            "inputs: { profile: { type: string, default: generic }, values: map }
uses: { folder: {}, profile: { name: =inputs.profile, values: =inputs.values }, documents:",
        ),
        ("vars:\n", "counter: round\nvars:\n  round: int\n"),
        (
            "initial: collab-start\nstates:\n",
            "initial: collab-start\nstates:\n  broken: { final: error }\n",
        ),
    ];
    let inputs = ["--input", r#"values={"request":"Greet"}"#];
    let (project, folder) = begun(&changes, &inputs);
    let (state, instructions) = told(&project);
    assert_eq!(state, "collab-start");
    assert!(instructions.contains("Greet"), "{instructions}");
    std::fs::write(folder.join("answer.md"), PLAN).unwrap();
    run(&project, &["step"]);
    assert!(folder.join("plan.md").is_file());
    assert_eq!(told(&project).0, "gather-goals");
}

#[test]
fn a_plan_that_was_changed_by_hand_and_approved_is_the_plan() {
    let asked = "    expects: response
    work: { ask: planning, prompt: ask.md, response: answer.md }
    on: { report: [ { when: \"response.status == 'SUCCESS'\", do: plan.store, to: planned }, { to: broken } ] }
";
    let changes = [
        (START, asked),
        (
            "uses: { documents:",
            "inputs: { profile: { type: string, default: generic }, values: map }
gates: { first: human }
uses: { folder: {}, profile: { name: =inputs.profile, values: =inputs.values }, documents:",
        ),
        ("vars:\n", "counter: round\nvars:\n  round: int\n"),
        (
            "initial: collab-start\nstates:\n",
            "initial: collab-start\nstates:\n  broken: { final: error }\n  planned: { gate: { name: first, over: plan }, route: { to: gather-goals } }\n",
        ),
    ];
    let (project, folder) = begun(&changes, &["--input", r#"values={"request":"Greet"}"#]);
    std::fs::write(folder.join("answer.md"), PLAN).unwrap();
    run(&project, &["step"]);
    let plan = folder.join("plan.md");
    std::fs::write(&plan, "Two scripts.\n").unwrap();
    let (_, status, shown) = project.person(&["run", "approve"]).agrees();
    assert_eq!(status, 0, "{shown}");
    assert_eq!(told(&project).0, "gather-goals");
    let changed = || project.json(&["log", "verify"]).json_with(0)["files"].clone();
    assert_eq!(changed(), Value::Null);
    // What is lost comes back as it was approved.
    std::fs::remove_file(&plan).unwrap();
    assert_eq!(changed()[0]["path"], "plan.md");
    project.json(&["run", "restore"]).json_with(0);
    assert_eq!(std::fs::read(&plan).unwrap(), b"Two scripts.\n");
    assert_eq!(changed(), Value::Null);
}

#[test]
fn what_no_call_of_a_view_tells_is_told_before() {
    let project = TestEnvironment::bare();
    let of = |workflow: &str| {
        project
            .tm(&["workflow", "show", workflow])
            .text()
            .to_owned()
    };
    let collab = of("collab").replacen(
        START,
        "    expects: outcome\n    work: { prompt: start.md, response: started.md }\n    to: gather-goals\n",
        1,
    );
    let tdd = of("tdd").replacen(
        "work: { by: agent, instructions: finalize.md }",
        "work: { by: agent, response: suite.md }",
        1,
    );
    for (text, rule) in [(collab, "view_without_files"), (tdd, "misplaced_key")] {
        project.write("ours.yaml", text);
        let checked = project
            .json(&["workflow", "check", "ours.yaml"])
            .json_with(3);
        let faults = checked["faults"].as_array().unwrap();
        assert_eq!(faults.len(), 1, "{checked}");
        assert_eq!(faults[0]["rule"], json!(rule), "{checked}");
    }
}

#[test]
fn any_report_can_be_held_against_the_settings_and_the_history() {
    let project = TestEnvironment::new();
    let mut text = project.tm(&["workflow", "show", "tdd"]).text().to_owned();
    let told = "  told:
    expects: outcome
    work: {}
    on: { report: [ { check: [history_rewritten, config_loosened] }, { to: finalize } ] }
  finalize:
";
    for (old, new) in [
        ("id: tdd", "id: ours"),
        ("done: { to: finalize }", "done: { to: told }"),
        ("  finalize:\n", told),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
    run(&project, &["start", "ours", "--input", "taskId=1"]);
    for name in ["words", "spaces"] {
        project.write(&format!("tests/{name}.sh"), "false\n");
        run(&project, &["report", "--results", "failed:1,passed:0"]);
        project.write(&format!("src/{name}.sh"), "true\n");
        run(&project, &["report", "--results", "failed:0,passed:1"]);
        run(&project, &["report"]);
    }
    let reports = || project.json(&["run", "report", "--outcome", "told"]);
    let head = project.head();
    project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(reports().json_with(3)["code"], "history_rewritten");
    project.git(&["reset", "--quiet", "--hard", &head]);
    let settings = ".taskmaster/config.json";
    let before = project.read(settings);
    let mut weaker: Value = serde_json::from_str(&before).unwrap();
    weaker["review"] = json!({ "maxIterations": 99 });
    project.write(settings, weaker.to_string());
    assert_eq!(reports().json_with(3)["code"], "config_loosened");
    project.write(settings, before);
    assert_eq!(reports().json_with(0)["nextAction"]["state"], "finalize");

    // A run without a repository has no history.
    let without = "\
tramline: 1
id: told
title: Told
initial: told
states:
  told: { expects: outcome, work: {}, on: { report: [ { check: [history_rewritten] }, { to: over } ] } }
  over: { final: completed }
";
    project.write("told.yaml", without);
    let checked = project
        .json(&["workflow", "check", "told.yaml"])
        .json_with(3);
    assert_eq!(checked["faults"][0]["rule"], "needs_resource", "{checked}");
}

#[test]
fn events_have_the_fields_of_what_they_are_about() {
    let project = TestEnvironment::bare();
    for (event, rule) in [
        ("release:announced", None),
        ("test:run", None),
        ("branch:created", Some("needs_resource")),
        ("branch:creatd", Some("unknown_event")),
    ] {
        let text = format!(
            "\
tramline: 1
id: told
title: Told
initial: told
states:
  told: {{ expects: tests, work: {{}}, on: {{ report: [ {{ emit: \"{event}\", to: over }} ] }} }}
  over: {{ final: completed }}
"
        );
        project.write("told.yaml", text);
        let checked = project.json(&["workflow", "check", "told.yaml"]);
        match rule {
            None => drop(checked.json_with(0)),
            Some(rule) => assert_eq!(checked.json_with(3)["faults"][0]["rule"], rule, "{event}"),
        }
    }
}
