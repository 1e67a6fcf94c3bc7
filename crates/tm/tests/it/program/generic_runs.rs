//! Which run a verb means, runs of several workflows beside each other, what is looked at, and what is proved.

use std::fs;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::generic::{give, ok, run, with_examples};

const TURNS: &str = "\
initial: first
on: { abort: { to: off } }
states:
  first: { work: {}, to: second }
  second: { work: {}, on: { report: [ { to: over } ], reopen: { to: first } } }
  over: { final: completed }
  off: { final: aborted }
";

fn error(environment: &TestEnvironment, words: &[&str], status: i32) -> Value {
    run(environment, words).json_with(status)["error"].clone()
}

#[test]
fn a_run_without_a_task_bars_no_task_and_is_not_the_autopilots() {
    let project = TestEnvironment::new();
    give(&project, "turns", TURNS);
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "A workflow"]);
    let turns = ok(&project, &["start", "turns"])["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(turns.starts_with("turns__"), "{turns}");
    let none = project.tm(&["autopilot", "next", "--json"]).json_with(4);
    assert_eq!(none["error"]["code"], "no_run");
    let other = project
        .tm(&["autopilot", "next", "--run-id", &turns, "--json"])
        .json_with(2);
    assert_eq!(other["error"]["code"], "other_workflow");

    let started = ok(&project, &["start", "tdd", "--input", "taskId=1"]);
    let tdd = started["runId"].as_str().unwrap().to_owned();
    assert_eq!(started["branch"], "master/task-1-count-the-words");
    assert_eq!(started["nextAction"]["state"], "red");
    let present = project.tm(&["autopilot", "next", "--json"]).json_with(0);
    assert_eq!(present["runId"], tdd.as_str());

    let several = error(&project, &["next"], 2);
    assert_eq!(several["code"], "several_runs");
    assert_eq!(several["details"]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(error(&project, &["abort"], 2)["code"], "several_runs");
    // Of one that takes reports and one that does not, the first is meant; to go on, the other.
    ok(&project, &["pause", "--run-id", &turns]);
    assert_eq!(ok(&project, &["next"])["runId"], tdd.as_str());
    assert_eq!(ok(&project, &["resume"])["runId"], turns.as_str());
    let tagged = project.tm(&["run", "next", "--tag", "master", "--json"]);
    assert_eq!(tagged.json_with(0)["runId"], tdd.as_str());
    // The end of one leaves the other to be meant, and the other way round.
    ok(&project, &["abort", "--run-id", &turns]);
    assert_eq!(ok(&project, &["status"])["runId"], tdd.as_str());
    ok(&project, &["abort"]);
    ok(&project, &["start", "turns"]);
    assert_eq!(ok(&project, &["next"])["workflow"], "turns");
    let shown = project.tm(&["runs", "show", "--json"]).json_with(0);
    assert_eq!(shown["workflow"], "turns");
}

#[test]
fn a_task_is_gone_through_by_the_generic_verbs() {
    let project = TestEnvironment::new();
    give(&project, "turns", TURNS);
    let copy =
        project
            .tm(&["workflow", "show", "tdd"])
            .text()
            .replacen("id: tdd\n", "id: ours\n", 1);
    let copy = copy.replacen("inputs:\n", "inputs:\n  reviewer: string\n", 1);
    project.write(".taskmaster/workflows/ours.yaml", &copy);
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "Workflows"]);
    // What commits need is the definition's to say: a person looks at it first.
    let unread = [
        "start",
        "ours",
        "--input",
        "taskId=1",
        "--input",
        "reviewer=me",
    ];
    assert_eq!(error(&project, &unread, 3)["code"], "workflow_untrusted");
    project.trust(&["workflow", "trust", "ours"]);

    assert_eq!(error(&project, &["start", "ours"], 2)["code"], "no_task");
    let task = ["start", "ours", "--input", "taskId=9"];
    assert_eq!(error(&project, &task, 4)["code"], "unknown_task");
    let start = [
        "start",
        "ours",
        "--input",
        "taskId=1",
        "--input",
        "reviewer=me",
    ];
    let started = ok(&project, &start);
    assert_eq!(started["workflow"], "ours");
    let second = error(&project, &start, 5);
    assert_eq!(second["code"], "run_active");
    let advice = second["suggestion"].as_str().unwrap();
    assert!(!advice.contains("--force"), "{advice}");
    for id in ["1.1", "1.2"] {
        let next = ok(&project, &["next"]);
        assert_eq!(next["action"], "work");
        assert_eq!(
            (&next["state"], &next["expects"]),
            (&json!("red"), &json!("tests"))
        );
        assert_eq!(next["item"]["id"], id);
        assert!(next["context"]["preconditions"].is_array(), "{next}");
        assert!(next["instructions"].as_str().unwrap().len() > 100);
        assert_eq!(error(&project, &["report"], 2)["code"], "no_results");
        project.write(&format!("tests/{id}_test.sh"), "false\n");
        let cheat = run(&project, &["report", "--results", "failed:0,passed:1"]).json_with(3);
        assert_eq!(cheat["code"], "red_requires_failing_tests");
        ok(&project, &["report", "--results", "failed:1,passed:0"]);
        project.write(&format!("src/{id}.sh"), "true\n");
        ok(&project, &["report", "--results", "failed:0,passed:1"]);
        assert_eq!(error(&project, &["step"], 7)["code"], "blocked");
        let unit = format!("workUnit-{id}-COMMIT");
        let made = ok(&project, &["report", "--unit", &unit]);
        assert_eq!(made["result"]["commitSha"].as_str().unwrap().len(), 40);
        // The same again gets the same answer.
        let again = ok(&project, &["report", "--unit", &unit]);
        assert_eq!(again["result"], made["result"]);
    }
    let status = ok(&project, &["status"]);
    assert_eq!(status["context"]["progress"]["percentage"], 100);
    assert_eq!(status["inputs"]["reviewer"], "me");
    let over = ok(&project, &["report", "--results", "failed:0,passed:2"]);
    assert_eq!(over["nextAction"]["action"], "complete");
    assert!(over["report"].as_str().unwrap().contains("# Task 1"));
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
    ok(&project, &["start", "tdd", "--input", "taskId=1"]);
    let reported = ["report", "--report", "report.xml"];
    project.write("tests/words.sh", "false\n");
    junit(&project, &[("spaces", false)]);
    ok(&project, &reported);
    project.write("src/words.sh", "true\n");
    junit(&project, &[("spaces", true)]);
    ok(&project, &[&reported[..], &["--coverage", "93"]].concat());
    let two = ["report", "--sha", "HEAD", "--message", "Mine"];
    assert_eq!(project.tm(&[&["run"], &two[..]].concat()).status, 2);
    let lost = ["report", "--message", "Count by spaces", "--note", "done"];
    let made = ok(&project, &lost);
    let message = made["result"]["message"].as_str().unwrap();
    assert!(message.starts_with("Count by spaces"), "{made}");
    assert_eq!(made["warning"], "`commit` does not take --note: not kept");

    project.write("tests/more.sh", "false\n");
    junit(&project, &[("spaces", true), ("tabs", false)]);
    ok(&project, &reported);
    // A test that was there before is gone, which only the names tell.
    project.write("src/more.sh", "true\n");
    junit(&project, &[("tabs", true)]);
    let gone = project
        .json(&[&["run"], &reported[..]].concat())
        .json_with(3);
    assert_eq!(gone["code"], "tests_missing", "{gone}");
    junit(&project, &[("spaces", true), ("tabs", true)]);
    ok(&project, &reported);
    project.git(&["add", "src", "tests"]);
    project.git(&["commit", "--quiet", "--message", "By hand"]);
    let made = ok(&project, &["report", "--sha", "HEAD"]);
    assert_eq!(made["result"]["commitSha"], project.head());
    junit(&project, &[("spaces", true), ("tabs", true)]);
    let over = ok(&project, &reported);
    assert_eq!(over["nextAction"]["status"], "completed", "{over}");

    // Without a task a report is read as well; nothing says how the tests would be run.
    let project = with_examples();
    ok(
        &project,
        &["start", "release-checklist", "--input", "version=1"],
    );
    ok(&project, &["report"]);
    let verified = ["report", "--verify"];
    assert_eq!(error(&project, &verified, 2)["code"], "bad_report");
    junit(&project, &[("spaces", false)]);
    let failing = run(&project, &reported).json_with(3);
    assert_eq!(failing["code"], "tests_failing", "{failing}");
    junit(&project, &[("spaces", true)]);
    ok(&project, &reported);
    let log = project.tm(&["log", "verify", "--json"]).json_with(0);
    assert_eq!(log["whole"], true, "{log}");
}

#[test]
fn every_way_of_looking_works_on_a_run_without_a_task() {
    let project = with_examples();
    let start = ["start", "release-checklist", "--input", "version=1"];
    let id = ok(&project, &start)["runId"].as_str().unwrap().to_owned();
    ok(&project, &["report"]);
    let listed = project.tm(&["runs", "list", "--json"]).json_with(0);
    assert_eq!(listed[0]["workflow"], "release-checklist");
    assert_eq!(listed[0]["status"], "running");
    for words in [
        &["runs", "list"][..],
        &["runs", "show"],
        &["runs", "log"],
        &["runs", "report"],
        &["log", "verify"],
        &["log", "replay"],
        &["log", "replay", "--to", "3"],
        &["runs", "show", "release"],
    ] {
        let shown = project.tm(words);
        assert!(!shown.text().is_empty(), "{words:?}: {shown:?}");
    }
    let report = project.tm(&["runs", "report", "--json"]).json_with(0);
    assert_eq!(report["totals"]["accepted"], 1);
    assert_eq!(report["runId"], id.as_str());
    let replayed = project
        .tm(&["log", "replay", "--to", "3", "--json"])
        .json_with(0);
    assert_eq!(replayed["nextAction"]["unitId"], "1-freeze");
}

#[test]
fn every_file_but_the_journal_may_be_deleted() {
    let project = with_examples();
    ok(
        &project,
        &["start", "document-review", "--input", "documents=a,b"],
    );
    ok(
        &project,
        &[
            "report",
            "--unit",
            "a-write",
            "--outcome",
            "x",
            "--files",
            "a",
        ],
    );
    let folder = project.journal_path().parent().unwrap().to_owned();
    let derived = || -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
            .filter(|(name, _)| {
                !["activity.jsonl", "lock", "snapshot.json"].contains(&name.as_str())
            })
            .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
            .collect();
        all.sort();
        all
    };
    let before = derived();
    let next = ok(&project, &["next"]);
    let names: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "manifest.json",
            "state.json",
            "work-units.json",
            "workflow.yaml"
        ]
    );
    for (name, _) in &before {
        fs::remove_file(folder.join(name)).unwrap();
    }
    let _ = fs::remove_file(folder.join("snapshot.json"));
    assert_eq!(ok(&project, &["next"]), next);
    // The next writer makes them anew; this one changes nothing else.
    run(
        &project,
        &["report", "--unit", "a-write", "--outcome", "other"],
    )
    .json_with(5);
    let rebuilt: Vec<_> = derived()
        .into_iter()
        .filter(|(name, _)| name != "refusals.jsonl")
        .collect();
    assert_eq!(rebuilt, before);
}

#[test]
fn a_run_keeps_the_definition_that_it_was_started_with() {
    let project = TestEnvironment::bare();
    give(&project, "turns", TURNS);
    ok(&project, &["start", "turns"]);
    give(&project, "turns", &TURNS.replace("to: second", "to: over"));
    assert_eq!(ok(&project, &["report"])["nextAction"]["state"], "second");
    project.write(".taskmaster/workflows/turns.yaml", "nothing");
    assert_eq!(ok(&project, &["reopen"])["nextAction"]["unitId"], "first-2");
}

#[test]
fn what_nothing_could_carry_out_is_refused_by_the_proof() {
    let project = TestEnvironment::bare();
    let commit = "\
initial: first
states:
  first: { work: {}, on: { report: [ { do: git.commit, to: over } ] } }
  over: { final: completed }
";
    let reads = "\
initial: first
states:
  first: { expects: tests, route: [ { when: tests.failed > 0, to: first_work }, { to: over } ] }
  first_work: { work: {}, to: over }
  over: { final: completed }
";
    let shows = "\
initial: first
states:
  first: { expects: { tests: { shows: new_failure } }, work: {}, on: { report: [ { check: no_new_failure }, { to: over } ] } }
  over: { final: completed }
";
    let variable = "\
initial: first
states:
  first: { work: { instructions: first.md }, to: over }
  over: { final: completed }
";
    let on_task = "\
inputs: { taskId: string, maxAttempts: int }
uses: { repository: {}, tasks: { id: =inputs.taskId, attempts: =inputs.maxAttempts, into: steps }, tests: {} }
items:
  steps:
    key: id
    fields: { id: string, title: string, description: string, details: string, testStrategy: string, acceptanceCriteria: [string], dependencies: [string] }
initial: first
states:
";
    let early = format!(
        "{on_task}  first: {{ expects: {{ tests: {{ suite: full }} }}, work: {{}}, on: {{ report: {{ do: git.branch, to: over }} }} }}\n  over: {{ final: completed }}\n"
    );
    let one_way = format!(
        "{on_task}  first: {{ expects: outcome, work: {{}}, on: {{ report: [ {{ when: \"outcome.outcome == 'a'\", do: git.branch, to: keep }}, {{ to: keep }} ] }} }}\n  keep: {{ expects: {{ tests: {{ suite: full }} }}, work: {{}}, to: over }}\n  over: {{ final: completed }}\n"
    );
    let sets = on_task.replace("into: steps", "into: stepps");
    let no_set =
        format!("{sets}  first: {{ work: {{}}, to: over }}\n  over: {{ final: completed }}\n");
    let lacks = no_set
        .replace("stepps", "steps")
        .replace(", title: string", "");
    let input = no_set
        .replace("stepps", "steps")
        .replace("=inputs.taskId", "'1'");
    let resource = no_set
        .replace("stepps", "steps")
        .replace("tests: {} }", "test: {} }");
    let outside = format!(
        "{on_task}  first: {{ work: {{}}, on: {{ report: {{ do: [git.branch, git.commit], to: over }} }} }}\n  over: {{ final: completed }}\n"
    );
    let nested = |of: &str| {
        format!(
            "{on_task}  first: {{ route: {{ do: git.branch, to: each }} }}\n  each:\n    each: {{ items: steps, initial: red }}\n    on: {{ done: {{ to: over }} }}\n    states:\n      red: {{ expects: {{ tests: {{ as: red, shows: new_failure }} }}, work: {{}}, on: {{ report: [ {{ check: no_new_failure }}, {{ to: green }} ] }} }}\n      green: {{ expects: {{ tests: {{ as: green, against: red }} }}, work: {{}}, on: {{ report: [ {{ check: tests_missing }}, {{ to: keep }} ] }} }}\n      keep: {{ expects: {{ commit: {{ of: {of} }} }}, work: {{}}, on: {{ report: [ {{ check: changed_after_green }}, {{ do: git.commit, to: kept }} ] }} }}\n      kept: {{ final: completed }}\n  over: {{ final: completed }}\n"
        )
    };
    give(&project, "nested", &nested("green"));
    let sound = project.tm(&["workflow", "check", "nested", "--json"]);
    assert_eq!(sound.json_with(0)["valid"], true, "{sound:?}");
    let shown = nested("red");
    let stores = "\
counter: round
vars: { round: int }
uses: { folder: {} }
initial: first
states:
  first: { expects: outcome, work: {}, on: { report: [ { do: plan.store, to: over } ] } }
  over: { final: completed }
";
    project.write(".taskmaster/templates/first.md", "{{ inputs.nothing }}");
    for (id, text, rule) in [
        ("early", &*early, "not_made_yet"),
        ("one-way", &one_way, "not_made_yet"),
        ("no-set", &no_set, "bad_parameter"),
        ("lacks", &lacks, "bad_parameter"),
        ("input", &input, "bad_parameter"),
        ("resource", &resource, "unknown_resource"),
        ("outside", &outside, "outside_items"),
        ("shown", &shown, "unknown_label"),
        ("stores", stores, "nothing_to_take_in"),
        ("commits", commit, "needs_resource"),
        ("shows", shows, "needs_resource"),
        ("reads", reads, "nothing_to_read"),
        ("says", variable, "bad_template"),
    ] {
        give(&project, id, text);
        let checked = project
            .tm(&["workflow", "check", id, "--json"])
            .json_with(3);
        assert_eq!(checked["faults"][0]["rule"], rule, "{checked}");
        assert_eq!(
            error(&project, &["start", id], 6)["code"],
            "workflow_invalid"
        );
    }
}

#[test]
fn a_file_that_is_no_definition_is_shown_where_it_breaks() {
    let project = TestEnvironment::bare();
    project.write(
        ".taskmaster/workflows/broken.yaml",
        "tramline: 1\nid: broken\ntitle: Broken\ninitial: a\nstates: { a: { final: compleated } }\n",
    );
    let checked = project.tm(&["workflow", "check", "broken"]);
    assert_eq!(checked.status, 3, "{checked:?}");
    assert!(
        checked
            .out
            .contains("--> .taskmaster/workflows/broken.yaml:5:"),
        "{checked:?}"
    );
    assert!(
        checked.out.contains("did you mean `completed`?"),
        "{checked:?}"
    );
}

#[test]
fn a_workflow_in_the_place_of_tdd_has_to_work_on_a_task() {
    let project = TestEnvironment::new();
    give(&project, "tdd", &format!("shadows: true\n{TURNS}"));
    project.trust(&["workflow", "trust", "tdd"]);
    let refused = project
        .tm(&["autopilot", "start", "1", "--json"])
        .json_with(2);
    assert_eq!(refused["error"]["code"], "other_workflow");
    assert_eq!(
        ok(&project, &["start", "tdd"])["nextAction"]["state"],
        "first"
    );
    let watched = project.tm(&["autopilot", "watch", "--json"]).json_with(4);
    assert_eq!(watched["error"]["code"], "no_run");
}

#[test]
fn a_state_of_a_run_that_goes_on_by_itself_may_wait_for_a_step() {
    let project = TestEnvironment::bare();
    give(
        &project,
        "waits",
        "\
initial: first
states:
  first: { work: {}, to: held }
  held: { advance: manual, route: { to: second } }
  second: { work: {}, to: over }
  over: { final: completed }
",
    );
    ok(&project, &["start", "waits"]);
    for _ in 0..2 {
        let next = ok(&project, &["report"])["nextAction"].take();
        assert_eq!(next["action"], "step", "{next}");
    }
    assert_eq!(ok(&project, &["next"])["action"], "step");
    let moved = ok(&project, &["step"]);
    assert_eq!(moved["nextAction"]["state"], "second", "{moved}");
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
    on:
      report:
        - { when: \"outcome.outcome == 'again'\", retry: not_yet }
        - { set: { turns: =vars.turns + 1 }, to: second }
  second: { work: { instructions: say.md }, on: { report: [ { to: over } ], reopen: { to: first } } }
  over: { final: completed }
",
    );
    project.write(
        ".taskmaster/templates/say.md",
        "{{ workflow.id }}|{{ state.label }}|{{ unit.id }}|{{ unit.attempt }}/{{ unit.maxAttempts or '-' }}|{{ inputs.who }}|{{ vars.turns }}|{{ last.outcome }}|{{ last.code }}|{{ reason }}",
    );
    let instructions = || {
        let next = ok(&project, &["next"]);
        next["instructions"].as_str().unwrap().to_owned()
    };
    ok(&project, &["start", "says", "--input", "who=me"]);
    assert_eq!(instructions(), "says|The first|first|1/2|me|0|||");
    let again = run(&project, &["report", "--outcome", "again"]).json_with(3);
    let message = again["message"].as_str().unwrap();
    assert!(message.ends_with("It is not ready"), "{again}");
    assert_eq!(again["suggestion"], "do it once more");
    assert_eq!(
        instructions(),
        "says|The first|first-2|2/2|me|0|again|not_yet|"
    );
    ok(&project, &["report", "--outcome", "done"]);
    assert_eq!(instructions(), "says|second|second|1/-|me|1|done||");
    ok(&project, &["reopen", "--reason", "wrong"]);
    assert_eq!(
        instructions(),
        "says|The first|first-3|2/2|me|1|done||wrong"
    );
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
    let inputs = json!({ "names": names }).to_string();
    let started = ok(&project, &["start", "many", "--inputs", &inputs]);
    assert_eq!(started["nextAction"]["unitsTotal"], 30);
    assert_eq!(started["nextAction"]["units"].as_array().unwrap().len(), 20);
    let next = ok(&project, &["next"]);
    assert_eq!(next["units"].as_array().unwrap().len(), 30);
    assert_eq!(next["units"][29]["unitId"], "n29-say");
    let which = error(&project, &["report"], 2);
    assert_eq!(which["expected"].as_array().unwrap().len(), 10);
    let folder = project.journal_path().parent().unwrap().to_owned();
    assert!(fs::metadata(folder.join("state.json")).unwrap().len() <= 4096);
    // The same item twice could never be told apart.
    let twice = ["start", "many", "--input", "names=a,a"];
    assert_eq!(error(&project, &twice, 3)["code"], "bad_dependencies");
}

#[test]
fn a_report_that_is_repeated_is_answered_as_it_was() {
    let project = TestEnvironment::new();
    ok(&project, &["start", "tdd", "--input", "taskId=1"]);
    let red = ["report", "--results", "failed:1,passed:0"];
    project.write("tests/words.sh", "false\n");
    let first = ok(
        &project,
        &[&red[..], &["--unit", "workUnit-1.1-RED"]].concat(),
    );
    let green = ["report", "--results", "failed:0,passed:1"];
    project.write("src/words.sh", "true\n");
    let accepted = ok(&project, &green);
    // The same once more, where a commit is waited for: it names no unit, and is known by what it says.
    let again = ok(&project, &green);
    assert_eq!(again["message"], accepted["message"]);
    assert_eq!(again["nextAction"]["unitId"], "workUnit-1.1-COMMIT");
    assert_eq!(again["warning"], Value::Null);
    // One of a unit that lies behind has the answer of then, whole, and says that it is of then.
    let before = ok(
        &project,
        &[&red[..], &["--unit", "workUnit-1.1-RED"]].concat(),
    );
    for name in ["unitId", "state", "expects"] {
        assert_eq!(before["nextAction"][name], first["nextAction"][name]);
    }
    let told = "this was answered before, and the run has moved on";
    assert_eq!(before["warning"], told);
    // Tests that are run are another report than numbers.
    let verified = ["report", "--verify", "--unit", "workUnit-1.1-RED"];
    let other = run(&project, &verified).json_with(5);
    assert_eq!(other["code"], "stale_unit", "{other}");
    // What ended the run was no report.
    ok(&project, &["abort"]);
    let over = run(&project, &green).json_with(3);
    assert_eq!(over["code"], "run_over", "{over}");
}

#[test]
fn a_session_of_another_view_is_told_as_that() {
    let project = TestEnvironment::new();
    let begin = ["complete-skill", "collab-start", "--session", "search"];
    let begun = project
        .json(&[&["collab"], &begin[..]].concat())
        .json_with(0);
    assert_eq!(begun["session"], "search");
    for words in [
        ["autopilot", "status", "--run-id", "search"],
        ["session", "status", "--session", "search"],
    ] {
        let answer = project.json(&words).json_with(2);
        assert_eq!(answer["error"]["code"], "other_workflow", "{answer}");
    }
}
