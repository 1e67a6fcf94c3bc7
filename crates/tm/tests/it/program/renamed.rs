//! A state's name means nothing: copies of the built-in workflows in which all of them are others have the same rails.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::collab::Commands;
use super::collab_walk::{Walk, two_waves};
use super::environment::{TestEnvironment, changed};
use super::generic_runs::ok;
use super::session::{CODE, CODE_AGAIN, FAIL, PASS, PLAN};
use super::whole_run::all;

/// Another name than this one.
fn turned(name: &str) -> String {
    name.chars().rev().collect()
}

/// Item set and inputs of `tdd`, and what they are called here.
const TDD: [(&str, &str); 8] = [
    ("    subtasks:", "    things:"),
    ("items:\n  subtasks:", "items:\n  things:"),
    ("into: subtasks", "into: things"),
    ("items: subtasks,", "items: things,"),
    ("add: { subtasks:", "add: { things:"),
    ("subtasks.failed + subtasks.", "things.failed + things."),
    ("maxAttempts", "tries"),
    ("taskId", "ticket"),
];

/// Gates, inputs and vars of `review`, and what they are called here.
const REVIEW: [(&str, &str); 15] = [
    ("{ plan: =inputs.planGate", "{ first: =inputs.firstGate"),
    (" code: =inputs.codeGate", " second: =inputs.secondGate"),
    (" review: =inputs.reviewGate", " third: =inputs.thirdGate"),
    (" planGate:", " firstGate:"),
    (" codeGate:", " secondGate:"),
    (" reviewGate:", " thirdGate:"),
    ("=inputs.maxIterations", "=inputs.rounds"),
    ("  maxIterations: {", "  rounds: {"),
    (
        "rounds: { type: int, default: =inputs",
        "most: { type: int, default: =inputs",
    ),
    ("vars.maxIterations", "vars.most"),
    ("set: { maxIterations:", "set: { most:"),
    ("max_iterations", "no_more"),
    ("gate: { name: plan,", "gate: { name: first,"),
    ("gate: { name: code,", "gate: { name: second,"),
    ("gate: review", "gate: third"),
];

/// Item sets, vars and statuses of `collab`, and what they are called here.
const COLLAB: [(&str, &str); 25] = [
    ("  item: { type: ref items,", "  now: { type: ref works,"),
    (
        "  batch: { type: ref batches }",
        "  lot: { type: ref lots }",
    ),
    ("hasSnapshot", "shot"),
    ("items: items, tasks: tasks", "items: works, tasks: jobs"),
    ("present: item,", "present: now,"),
    ("\n  items:\n", "\n  works:\n"),
    ("\n  tasks:\n", "\n  jobs:\n"),
    ("prefer: item", "prefer: now"),
    ("into: batches, named: batch,", "into: lots, named: lot,"),
    ("load: { items:", "load: { works:"),
    ("load: { tasks:", "load: { jobs:"),
    ("add: { tasks:", "add: { jobs:"),
    ("set: { item:", "set: { now:"),
    ("batch: =", "lot: ="),
    ("item.", "now."),
    ("items.", "works."),
    ("batch.", "lot."),
    ("batches.", "lots."),
    ("lot.count.failed", "lot.count.broken"),
    ("pending", "waiting"),
    ("documented", "written"),
    ("complete]", "whole]"),
    ("count.in_progress", "count.going"),
    ("[in_progress, failed]", "[going, broken]"),
    ("[completed], failed: [skip", "[ready], failed: [drop"),
];

/// A built-in workflow in which each of these texts is another one.
fn with_others(project: &TestEnvironment, id: &str, others: &[(&str, &str)]) -> String {
    let shown = project.typed(&format!("workflow show {id}"));
    let text = shown.text().replace(&format!("id: {id}\n"), "id: ours\n");
    others.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    })
}

/// `tdd` under another name, with other states and another item set, and without the phases that `tm autopilot` shows.
fn renamed(project: &TestEnvironment) -> String {
    let mut text = with_others(project, "tdd", &TDD);
    let lines = text.split_inclusive('\n');
    text = lines.filter(|line| !line.contains(" phase: ")).collect();
    let states = "preflight branch subtasks begin red green commit done skipped finalize closing complete failed aborted";
    for old in states.split(' ') {
        let new = turned(old);
        for key in ["to: ", "initial: "] {
            for end in [" ", ",", "\n"] {
                text = text.replace(&format!("{key}{old}{end}"), &format!("{key}{new}{end}"));
            }
        }
        for indent in ["\n  ", "\n      "] {
            text = text.replace(&format!("{indent}{old}:"), &format!("{indent}{new}:"));
        }
    }
    // What happens at the end of all items is no state.
    text.replace(" enod: { to:", " done: { to:")
}

/// `review` under another name, with other states, and with its files called otherwise.
fn renamed_review(project: &TestEnvironment) -> String {
    let mut text = with_others(project, "review", &REVIEW);
    let states =
        "INITIALIZED PLANNING PLANNED GENERATING GENERATED REVIEWING REVIEWED REVISING REVISED";
    for state in states.split(' ') {
        text = text.replace(state, &turned(state));
    }
    for (at, asks) in (1..).zip(["planning", "generation", "review", "revision"]) {
        text = text.replace(&format!("{asks}-prompt.md"), &format!("{at}-q.md"));
        text = text.replace(&format!("{asks}-response.md"), &format!("{at}-a.md"));
    }
    text
}

/// A project with this workflow, which a person trusts.
fn trusted(text: &str) -> TestEnvironment {
    let project = TestEnvironment::new();
    project.own_workflow("ours", text);
    project
}

/// One in which a run of it has begun.
fn begun(text: &str) -> TestEnvironment {
    let project = trusted(text);
    ok(&project, "start ours --input ticket=1");
    project
}

const FAILING: &str = "report --results failed:1,passed:0";
const PASSING: &str = "report --results failed:0,passed:1";

/// Goes from RED to the commit, whose product and test are these.
fn to_commit(project: &TestEnvironment, name: &str) {
    project.write(&format!("tests/{name}.sh"), "false\n");
    ok(project, FAILING);
    project.write(&format!("src/{name}.sh"), "true\n");
    ok(project, PASSING);
}

/// What is wrong with a commit by this definition whose RED was answered by a change of `file`, which is undone before the
/// commit where that is said.
fn problem(text: &str, file: &str, undone: bool) -> Value {
    let project = begun(text);
    project.write("tests/words.sh", "false\n");
    ok(&project, FAILING);
    project.write(file, "true\n");
    ok(&project, PASSING);
    if undone {
        project.write(file, "false\n");
    }
    ok(&project, "report");
    let verified = project.typed_json("verify main..HEAD").json_with(3);
    verified["commits"][0]["problems"][0]["code"].clone()
}

/// What no role and no check holds to what was tested is not earned, and no hook is blamed for it.
#[test]
fn what_is_held_against_nothing_is_not_earned() {
    testkit::by_chance!(3);
    let mut tdd = renamed(&TestEnvironment::bare());
    let untested = tdd.replacen(", changed_after_green", "", 1);
    let untested = untested.replacen("commit: { of: green }", "commit", 1);
    let found = problem(&untested, "src/words.sh", true);
    assert_eq!(found, "unearned");
    for check in [
        ", tests_changed, runner_config_changed",
        "green_without_change, ",
        "passes_without_product, ",
    ] {
        tdd = tdd.replacen(check, "", 1);
    }
    for role in [", against: red, frozen: tests", ", frozen: tests"] {
        let found = problem(&tdd.replacen(role, "", 1), "tests/words.sh", false);
        assert_eq!(found, "unearned", "{role}");
    }
}

/// What no check holds to a role is told where definitions are proved.
#[test]
fn what_no_reader_would_ask_for_is_a_fault() {
    testkit::by_chance!(3);
    let project = TestEnvironment::bare();
    let review = renamed_review(&project);
    for (old, new, rule) in [
        ("ask: planning, ", "", "unknown_ask"),
        ("ask: planning", "ask: plans", "unknown_ask"),
        ("over: plan", "over: plans", "unknown_subject"),
    ] {
        project.write("ours.yaml", changed(&review, &[(old, new)]));
        let told = project.typed_json("workflow check ours.yaml").json_with(3);
        assert_eq!(told["faults"][0]["rule"], rule, "{old} -> {new}");
    }
}

#[test]
fn the_autopilot_works_on_it_where_the_file_says_so() {
    testkit::by_chance!(3);
    let text = renamed(&TestEnvironment::bare());
    let project = begun(&text);
    let tm = |line: &str| project.typed_json(&format!("autopilot {line}"));
    to_commit(&project, "words");
    for line in ["commit", "skip --reason enough", "abort"] {
        tm(line).ok();
    }
    project.git(&["switch", "--quiet", "main"]);
    let start = "start --title More --workflow ours --max-attempts";
    tm(&format!("{start} 99")).fault(3, "beyond_settings");
    tm(&format!("{start} 2")).ok();
    assert_eq!(tm("status").ok()["maxAttempts"], 2);
    let shown = project.typed_json("runs show").ok();
    assert_eq!(shown["view"], "autopilot");

    let project = begun(&text.replace("view: autopilot\n", ""));
    let id = ok(&project, "next")["runId"].take();
    let id = id.as_str().unwrap();
    let named = format!("session status --session {id}");
    for (line, status, code) in [
        ("autopilot next", 4, "no_run"),
        ("session status", 4, "no_run"),
        ("collab state", 4, "no_run"),
        (&*named, 2, "other_workflow"),
    ] {
        project.typed_json(line).fault(status, code);
    }
    // One that is named has a task, which is what these words are about.
    project.write("tests/words.sh", "false\n");
    let complete = format!("autopilot complete --results failed:1,passed:0 --run-id {id}");
    project.typed_json(&complete).ok();
}

#[test]
fn a_session_goes_by_no_name_either() {
    testkit::by_chance!(3);
    let project = trusted(&renamed_review(&TestEnvironment::bare()));
    let start =
        r#"start ours --input values={"request":"Greet"} --input firstGate=human --input rounds=1"#;
    let begun = ok(&project, start);
    let id = begun["runId"].as_str().unwrap();
    let session = |line: &str| {
        let answer = project.typed_json(&format!("session {line} --session {id}"));
        answer.json().clone()
    };
    let agreed = |line: &str| project.agreed(&format!("session {line} --session {id}"));
    let folder = PathBuf::from(session("status")["folder"].as_str().unwrap());
    let answers = |file: &str, text: &str, phase: &str| {
        session("run");
        std::fs::write(folder.join(file), text).unwrap();
        assert_eq!(session("run")["phase"], phase);
    };
    answers("1-a.md", PLAN, &turned("PLANNED"));
    // A plan may be mended by hand before it is approved: its gate is over the file, whatever it is called.
    std::fs::write(folder.join("plan.md"), "Two scripts.\n").unwrap();
    let waits = session("status")["nextAction"].take();
    assert_eq!(waits["gate"], "first");
    assert_eq!(waits["hash"], journal::sha256_hex(b"Two scripts.\n"));
    agreed("approve");
    answers("iteration-1/2-a.md", CODE, &turned("REVIEWING"));
    answers("iteration-1/3-a.md", FAIL, &turned("REVIEWED"));
    let status = session("status");
    let keys = ["max_iterations", "gates", "can_reopen"];
    let gates = json!({ "first": "human", "second": "auto", "third": "auto" });
    assert_eq!(all(&status, &keys), json!([1, gates, true]));
    assert_eq!(status["nextAction"]["pausedReason"], "no_more", "{status}");
    agreed("reopen --max-iterations 3");
    answers("iteration-2/4-a.md", CODE_AGAIN, &turned("REVIEWING"));
    answers("iteration-2/3-a.md", PASS, "COMPLETE");
}

#[test]
fn a_session_of_skills_goes_by_no_name_either() {
    testkit::by_chance!(3);
    let project = TestEnvironment::bare();
    let text = with_others(&project, "collab", &COLLAB);
    project.write(".taskmaster/workflows/ours.yaml", text);
    let begun = ok(&project, "start ours");
    let id = begun["runId"].as_str().unwrap();
    let mut commands = Commands(&project);
    Walk::new(&mut commands, id).whole(&["code"], 2, two_waves);
    let state = ok(&project, &format!("status --run-id {id}"));
    assert_eq!(state["status"], "completed");
    assert_eq!(project.typed_json("log verify").ok()["whole"], true);
}
