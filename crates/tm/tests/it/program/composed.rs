//! Workflows that put capabilities together as no workflow of ours does: what passes the check runs.

use std::fs;

use serde_json::Value;

use super::environment::{TestEnvironment, changed, has};
use super::session::PLAN;

fn shown(project: &TestEnvironment, workflow: &str) -> String {
    let shown = project.tm(&["workflow", "show", workflow]);
    shown.text().to_owned()
}

/// A project with the workflow `ours`, which is `collab` with these changes.
fn with_changes(changes: &[(&str, &str)]) -> TestEnvironment {
    let project = TestEnvironment::new();
    let own = [("id: collab\n", "id: ours\n"), ("view: collab\n", "")];
    let text = changed(&shown(&project, "collab"), &[&own, changes].concat());
    project.own_workflow("ours", &text);
    project
}

const START: &str = "    work: { instructions: collab-start.md }
    to: gather-goals
    on: { skip: { refuse: nothing_in_hand }, reopen: { refuse: nothing_in_hand } }
";

#[test]
fn skills_are_asked_for_in_files() {
    testkit::by_chance!(3);
    let asked = "    expects: outcome
    work: { instructions: collab-start.md, prompt: start.md, response: started.md }
    to: gather-goals
";
    let project = with_changes(&[(START, asked)]);
    project.does("run start ours");
    let folder = project.run_folder();
    let next = project.does("run next");
    assert_eq!(next["state"], "collab-start");
    let prompt = fs::read_to_string(folder.join("start.md")).unwrap();
    let told = next["instructions"].as_str().unwrap();
    assert_eq!(prompt.trim_end(), told.trim_end());
    has(&prompt, "`tm run step --run-id ours__");
    fs::write(folder.join("started.md"), "done\n").unwrap();
    project.does("run step");
    let next = project.does("run next");
    assert_eq!(next["state"], "gather-goals");
    has(&next["instructions"], "design");
}

/// The plan that a person changed by hand and approved is the plan.
#[test]
fn skills_follow_a_plan_that_a_profile_asks_for() {
    testkit::by_chance!(3);
    let asked = "    expects: response
    work: { ask: planning, prompt: ask.md, response: answer.md }
    on: { report: [ { when: \"response.status == 'SUCCESS'\", do: plan.store, outcome: SUCCESS, to: planned }, { reason: =response.reason, to: broken } ] }
";
    let uses = "inputs: { profile: { type: string, default: generic }, values: map }
gates: { first: human }
uses: { folder: {}, profile: { name: =inputs.profile, values: =inputs.values }, documents:";
    let states = "initial: collab-start
states:
  broken: { final: error }
  planned: { gate: { name: first, over: plan }, route: { to: gather-goals } }
";
    let project = with_changes(&[
        (START, asked),
        ("uses: { documents:", uses),
        ("vars:\n", "counter: round\nvars:\n  round: int\n"),
        ("initial: collab-start\nstates:\n", states),
    ]);
    // What the profile needs is asked for before anything is made.
    project.refused("run start ours", 2, "usage");
    assert!(project.runs().is_empty());
    let start = r#"run start ours --input 'values={"request":"Greet"}'"#;
    project.does(start);
    let folder = project.run_folder();
    let next = project.does("run next");
    assert_eq!(next["state"], "collab-start");
    has(&next["instructions"], "Greet");
    fs::write(folder.join("answer.md"), PLAN).unwrap();
    project.does("run step");
    let plan = folder.join("plan.md");
    assert_eq!(fs::read_to_string(&plan).unwrap(), PLAN);
    fs::write(&plan, "Two scripts.\n").unwrap();
    project.agrees("run approve");
    assert_eq!(project.does("run next")["state"], "gather-goals");
    assert_eq!(project.does("log verify")["files"], Value::Null);
}

#[test]
fn what_no_call_of_a_view_tells_is_told_before() {
    testkit::by_chance!(3);
    let project = TestEnvironment::bare();
    let in_files = "    expects: outcome\n    work: { prompt: start.md, response: started.md }\n    to: gather-goals\n";
    let finalize = "work: { by: agent, instructions: finalize.md }";
    let suite = "work: { by: agent, response: suite.md }";
    for (workflow, change, rule) in [
        ("collab", (START, in_files), "view_without_files"),
        ("tdd", (finalize, suite), "misplaced_key"),
    ] {
        let text = changed(&shown(&project, workflow), &[change]);
        project.write("ours.yaml", text);
        assert_eq!(rules(&project), [rule], "{workflow}");
    }
}

/// The rules that `ours.yaml` breaks.
fn rules(project: &TestEnvironment) -> Vec<Value> {
    let checked = project.line("workflow check ours.yaml");
    let faults = checked.json()["faults"].as_array().cloned();
    let faults = faults.unwrap_or_default();
    assert_eq!(checked.status == 0, faults.is_empty(), "{checked:?}");
    faults.iter().map(|fault| fault["rule"].clone()).collect()
}

#[test]
fn any_report_can_be_held_against_the_settings() {
    testkit::by_chance!(3);
    let project = TestEnvironment::new();
    let told = "  told:
    expects: outcome
    work: {}
    on: { report: [ { check: [config_loosened] }, { to: finalize } ] }
  finalize:
";
    let changes = [
        ("id: tdd", "id: ours"),
        ("done: { to: finalize }", "done: { to: told }"),
        ("  finalize:\n", told),
    ];
    let text = changed(&shown(&project, "tdd"), &changes);
    project.own_workflow("ours", &text);
    project.does("run start ours --input taskId=1");
    project.do_subtask("1.1");
    project.do_subtask("1.2");
    let reports = || project.line("run report --outcome told");
    let settings = ".taskmaster/config.json";
    let before = project.read(settings);
    let mut weaker: Value = serde_json::from_str(&before).unwrap();
    weaker["review"]["maxIterations"] = 99.into();
    project.write(settings, weaker.to_string());
    reports().fault(3, "config_loosened");
    project.write(settings, before);
    assert_eq!(reports().ok()["nextAction"]["state"], "finalize");
}

const TOLD: &str = "tramline: 1
id: told
title: Told
initial: told
states:
  told: { expects: tests, work: {}, on: { report: [ { BRANCH, to: over } ] } }
  over: { final: completed }
";

#[test]
fn what_a_report_is_held_against_and_tells_of_has_to_be_there() {
    testkit::by_chance!(3);
    let project = TestEnvironment::bare();
    for (branch, expected) in [
        // A run without a repository leaves nothing in one.
        ("check: [changes_left]", &["needs_resource"][..]),
        ("emit: \"release:announced\"", &[]),
        ("emit: \"test:run\"", &[]),
        ("emit: \"branch:created\"", &["needs_resource"]),
        ("emit: \"branch:creatd\"", &["unknown_event"]),
    ] {
        project.write("ours.yaml", TOLD.replace("BRANCH", branch));
        assert_eq!(rules(&project), expected, "{branch}");
    }
}
