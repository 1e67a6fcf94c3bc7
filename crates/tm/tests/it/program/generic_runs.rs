//! Which run a verb means, runs of several workflows beside each other, what is looked at, and what is proved.

use std::fs;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::generic::{give, with_examples};
use testkit::Outcome;

const TURNS: &str = "\
initial: first
on: { abort: { to: off } }
states:
  first: { work: {}, to: second }
  second: { work: {}, on: { report: [ { to: over } ], reopen: { to: first } } }
  over: { final: completed }
  off: { final: aborted }
";

/// Types a line of `tm run`, for JSON.
pub fn run(project: &TestEnvironment, line: &str) -> Outcome {
    project.typed_json(&format!("run {line}"))
}

/// The same of one that must succeed.
pub fn ok(project: &TestEnvironment, line: &str) -> Value {
    run(project, line).ok()
}

fn len(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[test]
fn a_run_without_a_task_bars_no_task_and_is_not_the_autopilots() {
    let project = TestEnvironment::new();
    give(&project, "turns", TURNS);
    project.commit_all("A workflow");
    let begun = ok(&project, "start turns")["runId"].take();
    let turns = begun.as_str().unwrap();
    assert!(turns.starts_with("turns__"), "{turns}");
    project.typed_json("autopilot next").fault(4, "no_run");
    let named = format!("autopilot next --run-id {turns}");
    project.typed_json(&named).fault(2, "other_workflow");

    let started = ok(&project, "start tdd --input taskId=1");
    assert_eq!(started["branch"], "master/task-1-count-the-words");
    assert_eq!(started["nextAction"]["state"], "red");
    let tdd = started["runId"].as_str().unwrap();
    for present in ["", " --run-id 1", " --run-id last"] {
        let present = project.typed_json(&format!("autopilot next{present}"));
        assert_eq!(present.ok()["runId"], tdd);
    }

    let several = run(&project, "next");
    several.fault(2, "several_runs");
    assert_eq!(len(&several.json()["error"]["details"]["runs"]), 2);
    run(&project, "abort").fault(2, "several_runs");
    // Of one that takes reports and one that does not, the first is meant; to go on, the other.
    ok(&project, &format!("pause --run-id {turns}"));
    for (line, meant) in [
        ("next", tdd),
        ("restore", tdd),
        ("resume", turns),
        ("next --tag master", tdd),
    ] {
        assert_eq!(ok(&project, line)["runId"], meant, "{line}");
    }
    ok(&project, &format!("pause --run-id {turns}"));
    run(&project, "approve").fault(3, "not_possible");
    // The end of one leaves the other to be meant.
    ok(&project, &format!("abort --run-id {turns}"));
    assert_eq!(ok(&project, "status")["runId"], tdd);
}

/// Pauses once its only step is reported, and again whenever it is resumed.
const PAUSES: &str = "\
inputs: { most: { type: int, default: 0 } }
initial: first
states:
  first: { work: {}, to: judge }
  judge:
    route: [ { when: inputs.most == 0, pause: enough }, { to: over } ]
    on: { reopen: { to: first } }
  over: { final: completed }
";

#[test]
fn what_a_resume_would_pause_again_is_told_to_reopen() {
    let project = TestEnvironment::new();
    give(&project, "pauses", PAUSES);
    ok(&project, "start pauses");
    let paused = ok(&project, "report --unit first --outcome done");
    assert_eq!(paused["nextAction"]["pausedReason"], "enough");
    // No setting of this workflow says how often: there is none to raise.
    let step = &paused["nextAction"]["nextSteps"][0];
    assert_eq!(step["step"], "reopen", "{paused}");
    let command = step["command"].as_str().unwrap();
    assert!(!command.contains("max"), "{command}");
}

#[test]
fn a_run_on_a_task_begins_only_where_that_is_there_and_no_other_is_on_it() {
    let project = TestEnvironment::new();
    let tdd = project.typed("workflow show tdd");
    let ours = tdd.text().replacen("id: tdd\n", "id: ours\n", 1);
    let ours = ours.replacen("inputs:\n", "inputs:\n  reviewer: string\n", 1);
    project.write(".taskmaster/workflows/ours.yaml", &ours);
    project.commit_all("A workflow");
    // What commits need is the definition's to say: a person looks at it first.
    let start = "start ours --input reviewer=me --input taskId=1";
    run(&project, start).fault(3, "untrusted");
    project.trust(&["workflow", "trust", "ours"]);
    run(&project, "start ours").fault(2, "usage");
    run(&project, "start ours --input taskId=9").fault(4, "not_found");
    assert_eq!(ok(&project, start)["workflow"], "ours");
    let second = run(&project, start);
    second.fault(5, "run_active");
    assert!(!second.suggestion().contains("--force"), "{second:?}");
    assert_eq!(ok(&project, "status")["inputs"]["reviewer"], "me");
}

/// A report of a test runner in which these tests stand, each with whether it passed.
fn junit(project: &TestEnvironment, tests: &[(&str, bool)]) {
    let case = |(name, passed): &(&str, bool)| {
        let failure = if *passed { "" } else { "<failure/>" };
        format!("<testcase classname='words' name='{name}'>{failure}</testcase>")
    };
    let cases = tests.iter().map(case).collect::<Vec<_>>().concat();
    let report = format!("<testsuites><testsuite name='words'>{cases}</testsuite></testsuites>");
    project.write("report.xml", &report);
}

#[test]
fn the_generic_verbs_take_all_that_the_others_do() {
    let project = TestEnvironment::new();
    project.write(".git/info/exclude", "report.xml\n");
    ok(&project, "start tdd --input taskId=1");
    let reported = "report --report report.xml";
    let spaces = [("spaces", true)];
    for (before, subtask, commit) in [
        (&[][..], "spaces", "report --message Count --note done"),
        (&spaces, "tabs", "report --sha HEAD"),
    ] {
        project.write(&format!("tests/{subtask}.sh"), "false\n");
        junit(&project, &[before, &[(subtask, false)]].concat());
        ok(&project, reported);
        run(&project, "report").fault(2, "usage");
        // Which step it is comes before what it says of the tests.
        let early = project.typed_json("autopilot finalize");
        assert_eq!(early.json()["code"], "stale_unit");
        project.write(&format!("src/{subtask}.sh"), "true\n");
        junit(&project, &[before, &[(subtask, true)]].concat());
        ok(&project, &format!("{reported} --coverage 93"));
        run(&project, "report --sha HEAD --message Mine").fault(2, "usage");
        if subtask == "tabs" {
            project.commit_all("By hand");
        }
        let unit = ok(&project, "next")["unitId"].take();
        let commit = format!("{commit} --unit {}", unit.as_str().unwrap());
        let made = ok(&project, &commit);
        assert_eq!(made["result"]["commitSha"], project.head());
        // The same again gets the same commit, and makes none.
        let again = ok(&project, &commit)["result"].take();
        assert_eq!(again["commitSha"], made["result"]["commitSha"]);
        let ignored = (subtask == "spaces").then_some("`commit` does not take --note: not kept");
        assert_eq!(made["warning"].as_str(), ignored);
    }
    let subject = project.git(&["log", "-1", "--format=%s", "HEAD^"]);
    assert_eq!(subject, "Count");
}

#[test]
fn a_report_given_again_says_where_the_run_is_that_was_moved_last() {
    let project = TestEnvironment::new();
    give(&project, "turns", TURNS);
    project.commit_all("A workflow");
    let begin = || ok(&project, "start turns")["runId"].take();
    let next = |line: &str| ok(&project, line)["nextAction"].take();
    let (first, second) = (begin(), begin());
    // The one that was begun first ends last.
    for run in [&second, &first].map(|run| run.as_str().unwrap()) {
        ok(&project, &format!("report --unit first --run-id {run}"));
        ok(&project, &format!("report --unit second --run-id {run}"));
    }
    let ended = next("report --unit second");
    assert_eq!(
        (&ended["runId"], &ended["action"]),
        (&first, &json!("complete"))
    );
    let third = begin();
    assert_eq!(ok(&project, "next --run-id last")["runId"], third);
    assert_eq!(next("report --unit first")["unitId"], "second");
    ok(&project, "abort");
    let over = next("report --unit first");
    assert_eq!(
        (&over["runId"], &over["status"]),
        (&third, &json!("aborted"))
    );
}

#[test]
fn every_way_of_looking_works_on_a_run_without_a_task() {
    let project = with_examples();
    ok(&project, "start release-checklist --input version=1");
    ok(&project, "report");
    for (line, place, expected) in [
        ("runs list", "/0/workflow", json!("release-checklist")),
        ("runs show", "/status", json!("running")),
        ("runs log", "/0/event", json!("run:created")),
        ("runs report", "/totals/accepted", json!(1)),
        ("log verify", "/whole", json!(true)),
        ("log replay --to 3", "/nextAction/unitId", json!("1-freeze")),
    ] {
        let answer = project.typed_json(line).ok();
        assert_eq!(answer.pointer(place), Some(&expected), "{line}: {answer}");
        assert!(!project.typed(line).text().is_empty(), "{line}");
    }
}

#[test]
fn a_run_keeps_the_definition_that_it_was_started_with() {
    let project = TestEnvironment::bare();
    give(&project, "turns", TURNS);
    ok(&project, "start turns");
    give(&project, "turns", &TURNS.replace("to: second", "to: over"));
    assert_eq!(ok(&project, "report")["nextAction"]["state"], "second");
    project.write(".taskmaster/workflows/turns.yaml", "nothing");
    assert_eq!(ok(&project, "reopen")["nextAction"]["unitId"], "first-2");
}

/// The head of a workflow on a task, whose subtasks are in `steps`.
const ON_TASK: &str = "\
inputs: { taskId: string, maxAttempts: int }
uses: { repository: {}, tasks: { id: =inputs.taskId, attempts: =inputs.maxAttempts, into: steps }, tests: {} }
items:
  steps:
    key: id
    fields: { id: string, title: string, description: string, details: string, testStrategy: string, acceptanceCriteria: [string], dependencies: [string] }
";

#[test]
fn what_nothing_could_carry_out_is_refused_by_the_proof() {
    let project = TestEnvironment::bare();
    let checked = |head: &str, first: &str| {
        let states = format!("  first: {first}\n  over: {{ final: completed }}\n");
        let text = format!("{head}initial: first\nstates:\n{states}");
        give(&project, "ours", &text);
        project.typed_json("workflow check ours")
    };
    let refused = |head: &str, first: &str, rule: &str| {
        let answer = checked(head, first).json_with(3);
        assert_eq!(answer["faults"][0]["rule"], rule, "{first}: {answer}");
    };
    for (from, to, rule) in [
        ("into: steps", "into: stepps", "bad_parameter"),
        (", title: string", "", "bad_parameter"),
        ("=inputs.taskId", "'1'", "bad_parameter"),
        ("tests: {} }", "test: {} }", "unknown_resource"),
    ] {
        let head = ON_TASK.replace(from, to);
        refused(&head, "{ work: {}, to: over }", rule);
    }
    let full = "expects: { tests: { suite: full } }, ";
    let round = "counter: round\nvars: { round: int }\nuses: { folder: {} }\n";
    for (head, expects, does, rule) in [
        (ON_TASK, full, "git.branch", "not_made_yet"),
        (ON_TASK, "", "[git.branch, git.commit]", "outside_items"),
        (
            round,
            "expects: outcome, ",
            "plan.store",
            "nothing_to_take_in",
        ),
        ("", "", "git.commit", "needs_resource"),
    ] {
        let report = format!("on: {{ report: {{ do: {does}, to: over }} }}");
        refused(head, &format!("{{ {expects}work: {{}}, {report} }}"), rule);
    }
    let one_way = "{ expects: outcome, work: {}, on: { report: [ { when: \"outcome.outcome == 'a'\", do: git.branch, to: keep }, { to: keep } ] } }\n  keep: { expects: { tests: { suite: full } }, work: {}, to: over }";
    refused(ON_TASK, one_way, "not_made_yet");
    let shows = "{ expects: { tests: { shows: new_failure } }, work: {}, on: { report: [ { check: no_new_failure }, { to: over } ] } }";
    refused("", shows, "needs_resource");
    let reads = "{ expects: tests, route: [ { when: tests.failed > 0, to: then }, { to: over } ] }\n  then: { work: {}, to: over }";
    refused("", reads, "nothing_to_read");
    run(&project, "start ours").fault(6, "workflow_invalid");
}

#[test]
fn a_file_that_is_no_definition_is_shown_where_it_breaks() {
    let project = TestEnvironment::bare();
    let broken = "initial: a\nstates: { a: { final: compleated } }\n";
    give(&project, "broken", broken);
    let file = ".taskmaster/workflows/broken.yaml";
    let checked = project.typed_json("workflow check broken").json_with(3);
    assert_eq!(checked["faults"][0]["line"], 5, "{checked}");
    let checked = project.typed(&format!("workflow check {file}"));
    assert_eq!(checked.status, 3);
    let place = format!("--> {file}:5:");
    assert!(checked.out.contains(&place), "{checked:?}");
}

#[test]
fn a_workflow_in_the_place_of_tdd_has_to_work_on_a_task() {
    let project = TestEnvironment::new();
    give(&project, "tdd", &format!("shadows: true\n{TURNS}"));
    project.trust(&["workflow", "trust", "tdd"]);
    let refused = project.typed_json("autopilot start 1");
    refused.fault(2, "other_workflow");
    assert_eq!(ok(&project, "start tdd")["nextAction"]["state"], "first");
    project.typed_json("autopilot watch").fault(4, "no_run");
}

#[test]
fn a_template_sees_what_the_workflow_declares() {
    let project = TestEnvironment::bare();
    give(
        &project,
        "says",
        "\
inputs: { who: string }
vars: { turns: int }
messages: { not_yet: { message: It is not ready, fix: do it once more } }
initial: first
states:
  first:
    label: The first
    expects: outcome
    work: { instructions: say.md, attempts: 2 }
    on: { report: [ { when: \"outcome.outcome == 'again'\", retry: not_yet }, { set: { turns: =vars.turns + 1 }, to: second } ] }
  second: { work: { instructions: say.md }, on: { report: [ { to: over } ], reopen: { to: first } } }
  over: { final: completed }
",
    );
    project.write(
        ".taskmaster/templates/say.md",
        "{{ workflow.id }}|{{ state.label }}|{{ unit.id }}|{{ unit.attempt }}/{{ unit.maxAttempts or '-' }}|{{ inputs.who }}|{{ vars.turns }}|{{ last.outcome }}|{{ last.code }}|{{ reason }}",
    );
    let says = |line: &str, told: &str| {
        let answer = run(&project, line);
        assert_eq!(ok(&project, "next")["instructions"], told, "{line}");
        answer
    };
    let told = "says|The first|first|1/2|me|0|||";
    says("start says --input who=me", told).ok();
    let told = "says|The first|first-2|2/2|me|0|again|not_yet|";
    let again = says("report --outcome again", told);
    assert!(again.fault(3, "not_yet").ends_with("It is not ready"));
    assert_eq!(again.suggestion(), "do it once more");
    let told = "says|second|second|1/-|me|1|done||";
    says("report --outcome done", told).ok();
    let told = "says|The first|first-3|2/2|me|1|done||wrong";
    says("reopen --reason wrong", told).ok();
}

#[test]
fn many_open_units_are_all_listed_by_next_and_by_nothing_else() {
    let project = TestEnvironment::bare();
    give(
        &project,
        "many",
        "\
inputs: { names: [string] }
items: { names: { key: id, fields: { id: string } } }
initial: plan
states:
  plan: { route: [ { load: { names: \"=inputs.names.map(n, {'id': n})\" }, to: names } ] }
  names:
    each: { items: names, initial: say, parallel: 100 }
    on: { done: { to: over } }
    states: { say: { work: {}, to: said }, said: { final: completed } }
  over: { final: completed }
",
    );
    let names: Vec<String> = (0..30).map(|n| format!("n{n}")).collect();
    let started = ok(
        &project,
        &format!("start many --input names={}", names.join(",")),
    );
    let told = &started["nextAction"];
    assert_eq!((&told["unitsTotal"], len(&told["units"])), (&json!(30), 20));
    let next = ok(&project, "next");
    assert_eq!(len(&next["units"]), 30);
    assert_eq!(next["units"][29]["unitId"], "n29-say");
    let which = run(&project, "report").json_with(2);
    assert_eq!(len(&which["error"]["expected"]), 10);
    let state = fs::metadata(project.run_folder().join("state.json"));
    assert!(state.unwrap().len() <= 4096);
    // The same item twice could never be told apart.
    run(&project, "start many --input names=a,a").fault(3, "bad_dependencies");
}
