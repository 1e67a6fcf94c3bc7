//! A state's name means nothing: copies of the built-in workflows in which all of them are others have the same rails.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::generic_runs::{ok, run};
use super::session::{CODE, CODE_AGAIN, FAIL, PASS, PLAN};

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

/// A project with this workflow, which a person trusts, and with a template of its own.
fn trusted(text: &str) -> TestEnvironment {
    let project = TestEnvironment::new();
    let template = "Ask for {{ subtask.title }}.\n";
    project.write(".taskmaster/templates/ours.md", template);
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
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

/// Whether the guard hook holds back an edit of the product, of a test, and a commit.
fn held(project: &TestEnvironment) -> [bool; 3] {
    let file = |path: &str| json!({ "file_path": project.project().join(path) });
    [
        ("Edit", file("src/words.sh")),
        ("Edit", file("tests/words.sh")),
        ("Bash", json!({ "command": "git commit --all --message x" })),
    ]
    .map(|(tool, input)| {
        let asked = json!({
            "cwd": project.project(), "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        });
        let answer = project.tm_with_input(&["hook", "claude-code"], asked.to_string());
        answer.text().contains("permissionDecisionReason")
    })
}

#[test]
fn its_rails_hold() {
    let text = renamed(&TestEnvironment::bare());
    let project = begun(&text.replacen("red.md", "ours.md", 1));
    let refused = |file: &str, text: &str, line: &str, code: &str| {
        project.write(file, text);
        run(&project, line).fault(3, code);
    };
    let next = ok(&project, "next");
    assert_eq!(next["state"], turned("red"));
    assert_eq!(next["unitId"], "workUnit-1.1-DER");
    assert_eq!(next["instructions"], "Ask for Count by spaces.");
    assert_eq!(held(&project), [true, false, true]);

    // Code of the product, and no test of it.
    refused("src/words.sh", "true\n", FAILING, "red_without_tests");
    project.write("tests/words.sh", "false\n");
    let told = "files other than tests were changed in RED: src/words.sh";
    assert_eq!(ok(&project, FAILING)["warning"], told);

    // The test that failed is made to pass by a change of the test.
    assert_eq!(held(&project), [false, true, true]);
    refused("tests/words.sh", "true\n", PASSING, "tests_changed");
    refused("tests/words.sh", "false\n", PASSING, "green_without_change");
    project.write("src/words.sh", "true # now\n");
    ok(&project, PASSING);

    // What is committed is not what was tested.
    assert_eq!(held(&project), [true, true, false]);
    refused("src/words.sh", "false\n", "report", "changed_after_green");
    project.write("src/words.sh", "true # now\n");
    let made = ok(&project, "report");
    assert_eq!(made["result"]["commitSha"], project.head());

    to_commit(&project, "more");
    ok(&project, "report");
    refused("src/more.sh", "false\n", PASSING, "changed_after_commit");
    project.write("src/more.sh", "true\n");
    let over = ok(&project, PASSING);
    assert_eq!(over["nextAction"]["action"], "complete");
    let report = over["report"].as_str().unwrap();
    let row = "| 1.1 Count by spaces | 1 failed | 1 passed |";
    assert!(report.contains(row), "{report}");
    let verified = project.typed_json("verify main..HEAD").ok();
    assert_eq!(verified["verified"], true, "{verified}");
}

#[test]
fn the_autopilot_works_on_it() {
    let text = renamed(&TestEnvironment::bare());
    let project = begun(&text);
    let tm = |line: &str| project.typed_json(&format!("autopilot {line}"));
    to_commit(&project, "words");
    for line in ["commit", "skip --reason enough", "abort"] {
        tm(line).ok();
    }
    project.git(&["switch", "--quiet", "main"]);
    let review = tm("start --title More --workflow review");
    review.fault(2, "other_workflow");
    let default = "tries: { type: int, default: =config.maxGreenAttempts }";
    let two = text.replace("id: ours", "id: two");
    let two = two.replace(default, "tries: { type: int, default: 2 }");
    let path = ".taskmaster/workflows/two.yaml";
    project.write(path, two);
    project.trust(&["workflow", "trust", "two"]);
    for (workflow, attempts) in [("ours", 3), ("two", 2)] {
        let plan = format!("start --title More --dry-run --allow-dirty --workflow {workflow}");
        let plan = tm(&plan).ok();
        assert_eq!(plan["maxAttempts"], attempts);
    }
    std::fs::remove_file(project.project().join(path)).unwrap();
    let start = "start --title More --workflow ours --max-attempts";
    for more in ["99", "99 --dry-run"] {
        tm(&format!("{start} {more}")).fault(3, "beyond_settings");
    }
    let started = tm(&format!("{start} 2")).ok();
    assert_eq!(tm("status").ok()["maxAttempts"], 2);
    let shown = project.typed_json("runs show").ok();
    assert_eq!(shown["runId"], started["runId"]);
    assert_eq!(shown["view"], "autopilot");
}

#[test]
fn whose_commands_drive_it_is_said_in_the_file() {
    let text = renamed(&TestEnvironment::bare()).replace("view: autopilot\n", "");
    let project = begun(&text);
    let next = ok(&project, "next");
    let id = next["runId"].as_str().unwrap();
    let named = format!("session status --session {id}");
    for (line, status, code) in [
        ("autopilot next", 4, "no_run"),
        ("session status", 4, "no_session"),
        ("collab state", 4, "no_session"),
        (&*named, 2, "other_workflow"),
    ] {
        project.typed_json(line).fault(status, code);
    }
    // One that is named has a task, which is what these words are about.
    project.write("tests/words.sh", "false\n");
    let complete = format!("autopilot complete --results failed:1,passed:0 --run-id {id}");
    project.typed_json(&complete).ok();
    project.write("src/words.sh", "true\n");
    ok(&project, PASSING);
    ok(&project, "skip --reason enough");
    // One of another view that is called by its name is told as that, too.
    let search = "collab complete-skill collab-start --session search";
    project.typed_json(search).ok();
    for line in [
        "autopilot status --run-id search",
        "session status --session search",
    ] {
        project.typed_json(line).fault(2, "other_workflow");
    }
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
    let mut tdd = renamed(&TestEnvironment::bare());
    let untested = tdd.replacen("changed_after_green, ", "", 1);
    let untested = untested.replacen("commit: { of: green }", "commit", 1);
    let found = problem(&untested, "src/words.sh", true);
    assert_eq!(found, "tree_differs");
    for check in [
        ", tests_changed, snapshots_changed, runner_config_changed",
        "green_without_change, ",
        "red_not_replayed, passes_without_change, green_not_replayed, ",
    ] {
        tdd = tdd.replacen(check, "", 1);
    }
    for role in [", against: red, frozen: tests", ", frozen: tests"] {
        let found = problem(&tdd.replacen(role, "", 1), "tests/words.sh", false);
        assert_eq!(found, "not_held", "{role}");
    }
}

#[test]
fn what_no_reader_and_no_check_would_hold_to_is_a_fault() {
    let project = TestEnvironment::bare();
    let (tdd, review) = (renamed(&project), renamed_review(&project));
    let fault = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        project.write("ours.yaml", text.replacen(old, new, 1));
        let told = project.typed_json("workflow check ours.yaml").json_with(3);
        let fault = |key: &str| told["faults"][0][key].as_str().unwrap().to_owned();
        (fault("rule"), fault("message"))
    };
    let frozen = ", tests_changed, snapshots_changed, runner_config_changed";
    for (check, key) in [
        ("no_new_failure, ", "shows"),
        ("red_without_tests, ", "freezes"),
        (frozen, "frozen"),
        ("tests_missing, ", "against"),
        ("changed_after_green, ", "of"),
    ] {
        let (rule, told) = fault(&tdd, check, "");
        assert_eq!(rule, "role_not_checked");
        assert!(told.contains(&format!("not held to `{key}`")), "{told}");
    }
    // A check that only some reports meet is none.
    let often = "{ check: [green_without_change,";
    let shows = ", shows: new_failure, freezes: tests";
    let sometimes = "{ when: tests.passed > 1, check: [green_without_change,";
    for (text, old, new, rule) in [
        (&tdd, often, sometimes, "role_not_checked"),
        (&tdd, shows, "", "policy_never_found"),
        (&review, "ask: planning, ", "", "unknown_ask"),
        (&review, "ask: planning", "ask: plans", "unknown_ask"),
        (&review, "over: plan", "over: plans", "unknown_subject"),
    ] {
        assert_eq!(fault(text, old, new).0, rule, "{old} -> {new}");
    }
}

#[test]
fn a_session_goes_by_no_name_either() {
    let project = trusted(&renamed_review(&TestEnvironment::bare()));
    let start =
        r#"start ours --input values={"request":"Greet"} --input firstGate=human --input rounds=1"#;
    let begun = ok(&project, start);
    let id = begun["runId"].as_str().unwrap().to_owned();
    let session = |line: &str| {
        let answer = project.typed_json(&format!("session {line} --session {id}"));
        answer.json().clone()
    };
    // In words, too: they go by what is asked for.
    let tells = |line: &str, text: &str| {
        let told = project.typed(&format!("session {line} --session {id}")).out;
        let flat: Vec<&str> = told.split_whitespace().collect();
        assert!(flat.join(" ").contains(text), "{told}");
    };
    let agreed = |line: &str| project.agreed(&format!("session {line} --session {id}"));
    tells("status", "The next step asks for the plan.");
    let folder = PathBuf::from(session("status")["folder"].as_str().unwrap());
    let answers = |file: &str, text: &str, phase: &str| {
        session("run");
        let prompt = file.replace("-a.", "-q.");
        assert!(folder.join(&prompt).is_file(), "{prompt}");
        std::fs::write(folder.join(file), text).unwrap();
        assert_eq!(session("run")["phase"], phase);
    };
    answers("1-a.md", PLAN, &turned("PLANNED"));
    // A plan may be mended by hand before it is approved: its gate is over the file, whatever it is called.
    std::fs::write(folder.join("plan.md"), "Two scripts.\n").unwrap();
    let waits = session("status")["waiting_for"].clone();
    assert_eq!(waits["gate"], "first");
    assert_eq!(waits["hash"], journal::sha256_hex(b"Two scripts.\n"));
    agreed("approve");
    let generating = turned("GENERATING");
    tells(
        "step",
        &format!("ok {generating}: iteration 1 begins; the prompt for the code is written"),
    );
    answers("iteration-1/2-a.md", CODE, &turned("REVIEWING"));
    answers("iteration-1/3-a.md", FAIL, &turned("REVIEWED"));
    let status = session("status");
    let keys = ["max_iterations", "gates", "can_reopen"];
    let gates = json!({ "first": "human", "second": "auto", "third": "auto" });
    assert_eq!(json!(keys.map(|key| &status[key])), json!([1, gates, true]));
    assert_eq!(status["waiting_for"]["reason"], "no_more", "{status}");
    let resumed = run(&project, &format!("resume --run-id {id}"));
    assert_eq!(resumed.code(), "needs_person", "{resumed:?}");
    agreed("reopen --max-iterations 3");
    let revising = turned("REVISING");
    tells(
        "step",
        &format!(
            "! {revising}: the review failed; iteration 2 begins, and the prompt for the revised code is written"
        ),
    );
    answers("iteration-2/4-a.md", CODE_AGAIN, &turned("REVIEWING"));
    answers("iteration-2/3-a.md", PASS, "COMPLETE");
    let asked = std::fs::read_to_string(folder.join("iteration-2/4-q.md")).unwrap();
    assert!(asked.contains("It greets nobody."), "{asked}");
}

#[test]
fn a_template_that_fails_is_told_and_holds_nothing_up() {
    let project = TestEnvironment::new();
    project.write(".taskmaster/templates/red.md", "{{ task.title / 2 }}");
    project.commit_all("A template");
    let started = project.typed_json("autopilot start 1").ok();
    let told = started["nextAction"]["instructions"].as_str().unwrap();
    let why = "the template red.md cannot be rendered: line 1:";
    assert!(told.contains(why), "{told}");
    project.write("tests/words.sh", "false\n");
    let red = "autopilot complete --results failed:1,passed:0";
    project.typed_json(red).ok();
}

#[test]
fn a_session_of_skills_goes_by_no_name_either() {
    let project = TestEnvironment::bare();
    let text = with_others(&project, "collab", &COLLAB);
    project.write(".taskmaster/workflows/ours.yaml", text);
    ok(&project, "start ours");
    let collab = |line: &str| project.typed_json(&format!("collab {line}"));
    let done = |skill: &str| collab(&format!("complete-skill {skill}")).ok();
    done("collab-start");
    let items = r#"[{"number":1,"title":"Words","type":"code"},{"number":2,"title":"Spaces","type":"bugfix"}]"#;
    collab(&format!("update --work-items {items} --has-snapshot true")).ok();
    done("gather-session-goals");
    let graph = "```yaml\ntasks:\n  - id: split\n    files: [words.sh]\n  - id: count\n    depends-on: [split]\n```\n";
    project.write("graph.md", graph);
    let mut statuses = Vec::new();
    loop {
        let state = collab("state").ok();
        let Some(skill) = state["skill"].as_str() else {
            assert_eq!(state["status"], "completed");
            break;
        };
        match skill {
            "build-task-graph" => drop(collab("sync graph.md").ok()),
            "ready-to-implement" => {
                let session = collab("state --full").ok();
                let items = session["workItems"].as_array().unwrap();
                statuses.extend(items.iter().map(|item| item["status"].clone()));
                assert_eq!(session["hasSnapshot"], true, "{session}");
            }
            "executing-plans" => {
                let tasks = state["batch"]["tasks"].as_array().unwrap();
                assert!(tasks.iter().all(|task| task["status"] == "pending"));
                let all = |status: &str| {
                    for task in tasks {
                        let id = task["id"].as_str().unwrap();
                        collab(&format!("task {id} {status}")).ok();
                    }
                };
                all("failed");
                collab(&format!("complete-skill {skill}")).fault(3, "task_failed");
                all("completed");
            }
            _ => {}
        }
        testkit::write_draft(&state);
        done(skill);
    }
    assert_eq!(statuses, ["documented", "documented"]);
}
