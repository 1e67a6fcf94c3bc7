//! A state's name means nothing: a copy of `tdd` in which all of them are others has the same rails.

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::session::{CODE, CODE_AGAIN, FAIL, PASS, PLAN};

/// Every state of `tdd`, and what it is called here.
const STATES: [(&str, &str); 14] = [
    ("preflight", "look"),
    ("branch", "leave"),
    ("subtasks", "pieces"),
    ("begin", "choose"),
    ("red", "ask"),
    ("green", "answer"),
    ("commit", "keep"),
    ("done", "kept"),
    ("skipped", "dropped"),
    ("finalize", "whole"),
    ("closing", "tidy"),
    ("complete", "fine"),
    ("failed", "not_fine"),
    ("aborted", "called_off"),
];

/// `tdd` under another name, with other states and another item set, and without the phases that `tm autopilot` shows.
fn renamed(project: &TestEnvironment) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in project.tm(&["workflow", "show", "tdd"]).text().lines() {
        if line.trim_start().starts_with("phase: ") {
            continue;
        }
        let mut line = line
            .replace("id: tdd", "id: ours")
            .replace("    subtasks:", "    things:")
            .replace("into: subtasks", "into: things")
            .replace("items: subtasks,", "items: things,")
            .replace("add: { subtasks:", "add: { things:")
            .replace("maxAttempts", "tries")
            .replace("taskId", "ticket")
            .replace(
                "subtasks.failed + subtasks.blocked",
                "things.failed + things.blocked",
            );
        // The first is the item set, the second the state.
        if line == "  subtasks:" && lines.iter().all(|line| line != "  things:") {
            "  things:".clone_into(&mut line);
        }
        for (old, new) in STATES {
            let is_state = line.trim_start() == format!("{old}:")
                || (line.trim_start().starts_with(&format!("{old}: {{"))
                    && line.contains("final:"));
            if is_state || line.trim_start().starts_with(&format!("{old}: #")) {
                line = line.replacen(&format!("{old}:"), &format!("{new}:"), 1);
            }
            for key in ["to", "initial"] {
                for end in [" ", ",", ""] {
                    let (from, to) = (format!("{key}: {old}{end}"), format!("{key}: {new}{end}"));
                    if !end.is_empty() || line.ends_with(&from) {
                        line = line.replace(&from, &to);
                    }
                }
            }
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

fn begun(text: &str) -> TestEnvironment {
    let project = TestEnvironment::new();
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
    ok(&project, &["start", "ours", "--input", "ticket=1"]);
    project
}

fn ok(project: &TestEnvironment, words: &[&str]) -> Value {
    project.json(&[&["run"], words].concat()).json_with(0)
}

fn refused(project: &TestEnvironment, words: &[&str]) -> String {
    let answer = project.json(&[&["run"], words].concat()).json_with(3);
    answer["code"].as_str().unwrap().to_owned()
}

/// Why the guard hook does not let an agent do this; none where it does.
fn held_back(project: &TestEnvironment, tool: &str, input: &Value) -> Option<String> {
    let asked = json!({
        "cwd": project.project(), "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
    });
    let answer = project.tm_with_input(&["hook", "claude-code"], asked.to_string());
    let text = answer.text();
    let answer: Value = serde_json::from_str(if text.is_empty() { "null" } else { text }).unwrap();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str();
    reason.map(str::to_owned)
}

/// What the hook says of an edit of the product, of a test, and of a commit.
fn held(project: &TestEnvironment) -> [bool; 3] {
    let file = |path: &str| json!({ "file_path": project.project().join(path) });
    [
        ("Edit", file("src/words.sh")),
        ("Edit", file("tests/words.sh")),
        ("Bash", json!({ "command": "git commit --all --message x" })),
    ]
    .map(|(tool, input)| held_back(project, tool, &input).is_some())
}

#[test]
fn its_rails_hold() {
    let text = renamed(&TestEnvironment::bare());
    let project = begun(&text);
    let next = ok(&project, &["next"]);
    assert_eq!(
        (&next["state"], &next["unitId"]),
        (&json!("ask"), &json!("workUnit-1.1-ASK"))
    );

    assert_eq!(held(&project), [true, false, true]);

    // Code of the product, and no test of it.
    project.write("src/words.sh", "true\n");
    let failing = ["report", "--results", "failed:1,passed:0"];
    assert_eq!(refused(&project, &failing), "red_without_tests");
    project.write("tests/words.sh", "false\n");
    let accepted = ok(&project, &failing);
    assert_eq!(
        accepted["warning"],
        "files other than tests were changed in RED: src/words.sh"
    );

    // The test that failed is made to pass by a change of the test.
    assert_eq!(held(&project), [false, true, true]);
    let passing = ["report", "--results", "failed:0,passed:1"];
    project.write("tests/words.sh", "true\n");
    assert_eq!(refused(&project, &passing), "tests_changed");
    project.write("tests/words.sh", "false\n");
    assert_eq!(refused(&project, &passing), "green_without_change");
    project.write("src/words.sh", "true # now\n");
    ok(&project, &passing);

    // What is committed is not what was tested.
    assert_eq!(held(&project), [true, true, false]);
    project.write("src/words.sh", "false\n");
    assert_eq!(refused(&project, &["report"]), "changed_after_green");
    project.write("src/words.sh", "true # now\n");
    let made = ok(&project, &["report"]);
    let commit = made["result"]["commitSha"].as_str().unwrap().to_owned();
    assert_eq!(commit, project.head());

    project.write("tests/more.sh", "false\n");
    ok(&project, &failing);
    project.write("src/more.sh", "true\n");
    ok(&project, &passing);
    ok(&project, &["report"]);
    project.write("src/more.sh", "false\n");
    assert_eq!(refused(&project, &passing), "changed_after_commit");
    project.write("src/more.sh", "true\n");
    let over = ok(&project, &passing);
    assert_eq!(over["nextAction"]["action"], "complete");
    let report = over["report"].as_str().unwrap();
    let row = "| 1.1 Count by spaces | 1 failed | 1 passed |";
    assert!(report.contains(row), "{report}");
    let verified = project.json(&["verify", "main..HEAD"]).json_with(0);
    assert_eq!(verified["verified"], true, "{verified}");
}

#[test]
fn the_autopilot_works_on_it() {
    let text = renamed(&TestEnvironment::bare());
    let project = begun(&text);
    let tm = |words: &[&str]| project.json(&[&["autopilot"], words].concat()).json_with(0);
    project.write("tests/words.sh", "false\n");
    tm(&["complete", "--results", "failed:1,passed:0"]);
    project.write("src/words.sh", "true\n");
    tm(&["complete", "--results", "failed:0,passed:1"]);
    tm(&["commit"]);
    tm(&["skip", "--reason", "enough"]);
    tm(&["abort"]);
    project.git(&["switch", "--quiet", "main"]);
    let review = [
        "autopilot",
        "start",
        "--title",
        "More",
        "--workflow",
        "review",
    ];
    let other = project.json(&review);
    assert_eq!(other.json_with(2)["error"]["code"], "other_workflow");
    let plan = |workflow: &str| {
        let start = ["start", "--title", "More", "--dry-run", "--allow-dirty"];
        let plan = tm(&[&start[..], &["--workflow", workflow]].concat());
        (plan["dryRun"].clone(), plan["maxAttempts"].clone())
    };
    assert_eq!(plan("ours"), (json!(true), json!(3)));
    let default = "tries: { type: int, default: =config.maxGreenAttempts }";
    let two = text.replace("id: ours", "id: two");
    let two = two.replace(default, "tries: { type: int, default: 2 }");
    project.write(".taskmaster/workflows/two.yaml", two);
    project.trust(&["workflow", "trust", "two"]);
    assert_eq!(plan("two"), (json!(true), json!(2)));
    std::fs::remove_file(project.project().join(".taskmaster/workflows/two.yaml")).unwrap();
    let start = ["start", "--title", "More", "--workflow", "ours"];
    for way in [&[][..], &["--dry-run"]] {
        let more = [&["autopilot"], &start[..], &["--max-attempts", "99"], way].concat();
        let refused = project.json(&more).json_with(3).clone();
        assert_eq!(refused["error"]["code"], "beyond_settings", "{refused}");
    }
    let started = tm(&[&start[..], &["--max-attempts", "2"]].concat());
    let status = tm(&["status"]);
    assert_eq!(status["maxAttempts"], 2, "{status}");
    let shown = project.tm(&["runs", "show", "--json"]).json_with(0);
    assert_eq!(
        (&shown["runId"], &shown["workflow"], &shown["view"]),
        (&started["runId"], &json!("ours"), &json!("autopilot"))
    );
}

#[test]
fn whose_commands_drive_it_is_said_in_the_file() {
    let text = renamed(&TestEnvironment::bare()).replace("view: autopilot\n", "");
    let project = begun(&text);
    let next = ok(&project, &["next"]);
    let id = next["runId"].as_str().unwrap();
    for (words, code) in [
        (&["autopilot", "next"][..], "no_run"),
        (&["session", "status"], "no_session"),
        (&["collab", "state"], "no_session"),
    ] {
        let answer = project.json(words).json_with(4);
        assert_eq!(answer["error"]["code"], code, "{words:?}: {answer}");
    }
    let other = ["session", "status", "--session", id];
    let answer = project.json(&other).json_with(2);
    assert_eq!(answer["error"]["code"], "other_workflow", "{answer}");
    // One that is named has a task, which is what these words are about.
    project.write("tests/words.sh", "false\n");
    let failing = ["--results", "failed:1,passed:0", "--run-id", id];
    let words = [&["autopilot", "complete"], &failing[..]].concat();
    project.json(&words).json_with(0);
    project.write("src/words.sh", "true\n");
    ok(&project, &["report", "--results", "failed:0,passed:1"]);
    ok(&project, &["skip", "--reason", "enough"]);
}

#[test]
fn what_is_held_against_nothing_is_not_earned() {
    let role = "as: green, against: red, frozen: tests";
    let text = renamed(&TestEnvironment::bare()).replacen(
        ", tests_changed, snapshots_changed, runner_config_changed",
        "",
        1,
    );
    let text = text.replacen("green_without_change, ", "", 1);
    let text = text.replacen(
        "red_not_replayed, passes_without_change, green_not_replayed, ",
        "",
        1,
    );
    for less in ["as: green", "as: green, against: red"] {
        let text = text.replacen(role, less, 1);
        let project = begun(&text);
        project.write("tests/words.sh", "false\n");
        ok(&project, &["report", "--results", "failed:1,passed:0"]);
        project.write("tests/words.sh", "true\n");
        ok(&project, &["report", "--results", "failed:0,passed:1"]);
        ok(&project, &["report"]);
        let verified = project.json(&["verify", "main..HEAD"]).json_with(3).clone();
        let problems = &verified["commits"][0]["problems"];
        assert_eq!(problems[0]["code"], "not_held", "{less}: {verified}");
    }
}

#[test]
fn what_is_said_of_a_role_and_checked_nowhere_is_a_fault() {
    let project = TestEnvironment::bare();
    let text = renamed(&project);
    for (checked, key) in [
        ("no_new_failure, ", "shows"),
        ("red_without_tests, ", "freezes"),
        (
            ", tests_changed, snapshots_changed, runner_config_changed",
            "frozen",
        ),
        ("tests_missing, ", "against"),
        ("changed_after_green, ", "of"),
    ] {
        assert!(text.contains(checked), "{checked}");
        project.write("ours.yaml", text.replacen(checked, "", 1));
        let told = project.json(&["workflow", "check", "ours.yaml"]);
        let faults = told.json_with(3)["faults"].clone();
        assert_eq!(faults[0]["rule"], "role_not_checked", "{faults}");
        let message = faults[0]["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("not held to `{key}`")),
            "{message}"
        );
    }
    // A check that only some reports meet is none.
    let often = "- { check: [green_without_change, fewer_tests, tests_missing, red_not_replayed, passes_without_change, green_not_replayed,";
    assert!(text.contains(often));
    let sometimes = "- { when: tests.passed > 1, check: [green_without_change, fewer_tests, tests_missing, red_not_replayed, passes_without_change, green_not_replayed,";
    project.write("ours.yaml", text.replacen(often, sometimes, 1));
    let told = project.json(&["workflow", "check", "ours.yaml"]);
    assert_eq!(told.json_with(3)["faults"][0]["rule"], "role_not_checked");
}

#[test]
fn what_nobody_tested_is_not_earned_and_no_hook_is_blamed() {
    let text = renamed(&TestEnvironment::bare());
    let text = text.replacen("changed_after_green, ", "", 1).replacen(
        "commit: { of: green }",
        "commit",
        1,
    );
    let project = begun(&text);
    project.write("tests/words.sh", "false\n");
    ok(&project, &["report", "--results", "failed:1,passed:0"]);
    project.write("src/words.sh", "true\n");
    ok(&project, &["report", "--results", "failed:0,passed:1"]);
    project.write("src/words.sh", "false\n");
    ok(&project, &["report"]);
    let verified = project.json(&["verify", "main..HEAD"]).json_with(3).clone();
    let problems = &verified["commits"][0]["problems"];
    assert_eq!(problems[0]["code"], "tree_differs", "{verified}");
}

/// `review` under another name, with other states, and with its files called otherwise.
fn renamed_review(project: &TestEnvironment) -> String {
    let mut text = project
        .tm(&["workflow", "show", "review"])
        .text()
        .to_owned();
    for (old, new) in [
        ("id: review\n", "id: ours\n"),
        (
            "gates: { plan: =inputs.planGate, code:",
            "gates: { first: =inputs.firstGate, second:",
        ),
        (
            ", review: =inputs.reviewGate",
            ", third: =inputs.reviewGate",
        ),
        ("planGate:", "firstGate:"),
        ("codeGate", "secondGate"),
        ("reviewGate", "thirdGate"),
        ("=inputs.maxIterations", "=inputs.rounds"),
        (
            "\n  maxIterations: { type: int, default: =config",
            "\n  rounds: { type: int, default: =config",
        ),
        (
            "\n  maxIterations: { type: int, default: =inputs",
            "\n  most: { type: int, default: =inputs",
        ),
        ("vars.maxIterations", "vars.most"),
        ("set: { maxIterations:", "set: { most:"),
        ("max_iterations", "no_more"),
        ("gate: { name: plan,", "gate: { name: first,"),
        ("gate: { name: code,", "gate: { name: second,"),
        ("gate: review", "gate: third"),
        ("INITIALIZED", "Alpha"),
        ("PLANNING", "Beta"),
        ("PLANNED", "Gamma"),
        ("GENERATING", "Delta"),
        ("GENERATED", "Epsilon"),
        ("REVIEWING", "Zeta"),
        ("REVIEWED", "Eta"),
        ("REVISING", "Theta"),
        ("REVISED", "Iota"),
        ("planning-prompt.md", "1-q.md"),
        ("planning-response.md", "1-a.md"),
        ("generation-prompt.md", "2-q.md"),
        ("generation-response.md", "2-a.md"),
        ("review-prompt.md", "3-q.md"),
        ("review-response.md", "3-a.md"),
        ("revision-prompt.md", "4-q.md"),
        ("revision-response.md", "4-a.md"),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    text
}

#[test]
fn a_session_goes_by_no_name_either() {
    let project = TestEnvironment::new();
    project.write(".taskmaster/workflows/ours.yaml", renamed_review(&project));
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
    let begun = ok(
        &project,
        &[
            "start",
            "ours",
            "--input",
            r#"values={"request":"Greet"}"#,
            "--input",
            "firstGate=human",
            "--input",
            "rounds=1",
        ],
    );
    let id = begun["runId"].as_str().unwrap().to_owned();
    let session = |words: &[&str]| {
        let all = [&["session"], words, &["--session", &id]].concat();
        project.json(&all).json().clone()
    };
    // In words, too: they go by what is asked for.
    let tells = |words: &[&str], text: &str| {
        let all = [&["session"], words, &["--session", &id]].concat();
        let told = project.tm(&all).out;
        let flat: Vec<&str> = told.split_whitespace().collect();
        assert!(flat.join(" ").contains(text), "{told}");
    };
    tells(&["status"], "The next step asks for the plan.");
    let folder = std::path::PathBuf::from(session(&["status"])["folder"].as_str().unwrap());
    let answers = |file: &str, text: &str| {
        session(&["run"]);
        let prompt = file.replace("-a.", "-q.");
        assert!(folder.join(&prompt).is_file(), "{prompt}");
        std::fs::write(folder.join(file), text).unwrap();
        session(&["run"])["phase"].as_str().unwrap().to_owned()
    };
    assert_eq!(answers("1-a.md", PLAN), "Gamma");
    // A plan may be mended by hand before it is approved: its gate is over the file, whatever it is called.
    std::fs::write(folder.join("plan.md"), "Two scripts.\n").unwrap();
    let waits = session(&["status"])["waiting_for"].clone();
    assert_eq!(
        (&waits["gate"], &waits["hash"]),
        (
            &json!("first"),
            &json!(journal::sha256_hex(b"Two scripts.\n"))
        )
    );
    let approves = ["session", "approve", "--session", &id];
    let (_, status, told) = project.person(&approves).agrees();
    assert_eq!(status, 0, "{told}");
    let begins = "ok Delta: iteration 1 begins; the prompt for the code is written";
    tells(&["step"], begins);
    assert_eq!(answers("iteration-1/2-a.md", CODE), "Zeta");
    assert_eq!(answers("iteration-1/3-a.md", FAIL), "Eta");
    let status = session(&["status"]);
    assert_eq!(
        (
            &status["max_iterations"],
            &status["gates"],
            &status["can_reopen"]
        ),
        (
            &json!(1),
            &json!({ "first": "human", "second": "auto", "third": "auto" }),
            &json!(true)
        ),
        "{status}"
    );
    assert_eq!(status["waiting_for"]["reason"], "no_more", "{status}");
    let resumes = project.json(&["run", "resume", "--run-id", &id]);
    assert_eq!(resumes.json()["error"]["code"], "needs_person");
    let more = [
        "session",
        "reopen",
        "--max-iterations",
        "3",
        "--session",
        &id,
    ];
    let (_, exit, told) = project.person(&more).agrees();
    assert_eq!(exit, 0, "{told}");
    let failed = "! Theta: the review failed; iteration 2 begins, and the prompt for the revised code is written";
    tells(&["step"], failed);
    assert_eq!(answers("iteration-2/4-a.md", CODE_AGAIN), "Zeta");
    assert_eq!(answers("iteration-2/3-a.md", PASS), "COMPLETE");
    let asked = std::fs::read_to_string(folder.join("iteration-2/4-q.md")).unwrap();
    assert!(asked.contains("It greets nobody."), "{asked}");
}

#[test]
fn what_a_prompt_asks_for_is_said() {
    let project = TestEnvironment::bare();
    let text = renamed_review(&project);
    for (old, new, rule) in [
        ("ask: planning, ", "", "unknown_ask"),
        ("ask: planning", "ask: plans", "unknown_ask"),
        ("over: plan", "over: plans", "unknown_subject"),
    ] {
        let text = text.replacen(old, new, 1);
        project.write(".taskmaster/workflows/ours.yaml", text);
        let checked = project
            .json(&["workflow", "check", "ours"])
            .json_with(3)
            .clone();
        assert_eq!(checked["faults"][0]["rule"], rule, "{checked}");
    }
}

#[test]
fn a_policy_that_nothing_in_a_state_can_find_is_told() {
    let project = TestEnvironment::bare();
    project.write(
        ".taskmaster/workflows/ours.yaml",
        "\
tramline: 1
id: ours
title: Tests first
initial: ask
states:
  ask: { expects: tests, work: {}, on: { report: [ { check: [red_without_tests] }, { to: over } ] } }
  over: { final: completed }
",
    );
    let checked = project.json(&["workflow", "check", "ours"]).json_with(3);
    let fault = &checked["faults"][0];
    assert_eq!(
        (&fault["rule"], &fault["line"]),
        (&json!("policy_never_found"), &json!(6)),
        "{checked}"
    );
}

#[test]
fn it_is_told_what_its_own_templates_say() {
    let text = renamed(&TestEnvironment::bare()).replacen("red.md", "ours.md", 1);
    let project = TestEnvironment::new();
    project.write(
        ".taskmaster/templates/ours.md",
        "Ask for {{ subtask.title }}.\n",
    );
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
    ok(&project, &["start", "ours", "--input", "ticket=1"]);
    let next = ok(&project, &["next"]);
    assert_eq!(next["instructions"], "Ask for Count by spaces.");
}

#[test]
fn a_template_that_fails_is_told_and_holds_nothing_up() {
    let project = TestEnvironment::new();
    project.write(".taskmaster/templates/red.md", "{{ task.title / 2 }}");
    project.commit_all("A template");
    let started = project.json(&["autopilot", "start", "1"]).json_with(0);
    assert_eq!(started["nextAction"]["action"], "red");
    let next = project.json(&["autopilot", "next"]).json_with(0);
    let told = next["instructions"].as_str().unwrap();
    assert!(
        told.contains("the template red.md cannot be rendered: line 1:"),
        "{told}"
    );
    project.json(&["autopilot", "abort"]).json_with(0);
    let status = project.json(&["autopilot", "status"]).json_with(0);
    assert_eq!(status["status"], "aborted");
}

/// `collab` under another name, with its item sets, vars and statuses called otherwise.
fn renamed_collab(project: &TestEnvironment) -> String {
    let mut text = project
        .tm(&["workflow", "show", "collab"])
        .text()
        .to_owned();
    for (old, new) in [
        ("id: collab\n", "id: ours\n"),
        ("  item: { type: ref items,", "  now: { type: ref works,"),
        (
            "  batch: { type: ref batches }",
            "  lot: { type: ref lots }",
        ),
        ("hasSnapshot", "shot"),
        (
            "items: items, tasks: tasks, present: item,",
            "items: works, tasks: jobs, present: now,",
        ),
        ("\n  items:\n", "\n  works:\n"),
        ("\n  tasks:\n", "\n  jobs:\n"),
        ("prefer: item", "prefer: now"),
        ("into: batches, named: batch,", "into: lots, named: lot,"),
        ("load: { items:", "load: { works:"),
        ("load: { tasks:", "load: { jobs:"),
        ("items.next", "works.next"),
        ("items.remaining", "works.remaining"),
        ("set: { item:", "set: { now:"),
        ("add: { tasks:", "add: { jobs:"),
        ("item.number", "now.number"),
        ("item.reason", "now.reason"),
        ("item.type", "now.type"),
        ("item.status", "now.status"),
        ("batches.", "lots."),
        ("batch.status", "lot.status"),
        ("batch: =", "lot: ="),
        ("batch.count.in_progress", "lot.count.going"),
        ("batch.count.failed", "lot.count.broken"),
        ("batch.count.pending", "lot.count.waiting"),
        ("open: [pending]", "open: [waiting]"),
        ("status: documented", "status: written"),
        ("status: pending", "status: waiting"),
        ("[documented, complete]", "[written, whole]"),
        ("[in_progress, failed]", "[going, broken]"),
        (
            "[completed], failed: [skipped]",
            "[ready], failed: [dropped]",
        ),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    text
}

#[test]
fn a_session_of_skills_goes_by_no_name_either() {
    let project = TestEnvironment::bare();
    project.write(".taskmaster/workflows/ours.yaml", renamed_collab(&project));
    ok(&project, &["start", "ours"]);
    let collab = |words: &[&str]| {
        let answer = project.json(&[&["collab"], words].concat());
        answer.json_with(0).clone()
    };
    let done = |skill: &str| collab(&["complete-skill", skill]);
    done("collab-start");
    let items = r#"[{"number":1,"title":"Words","type":"code"},{"number":2,"title":"Spaces","type":"bugfix"}]"#;
    collab(&["update", "--work-items", items, "--has-snapshot", "true"]);
    done("gather-session-goals");
    let graph = "```yaml\ntasks:\n  - id: split\n    files: [words.sh]\n  - id: count\n    depends-on: [split]\n```\n";
    project.write("graph.md", graph);
    let mut statuses = Vec::new();
    loop {
        let state = collab(&["state"]);
        let Some(skill) = state["skill"].as_str() else {
            assert_eq!(state["status"], "completed");
            break;
        };
        match skill {
            "build-task-graph" => drop(collab(&["sync", "graph.md"])),
            "ready-to-implement" => {
                let session = collab(&["state", "--full"]);
                for item in session["workItems"].as_array().unwrap() {
                    statuses.push(item["status"].clone());
                }
                assert_eq!(session["hasSnapshot"], true, "{session}");
            }
            "executing-plans" => {
                let tasks = state["batch"]["tasks"].as_array().unwrap();
                assert!(tasks.iter().all(|task| task["status"] == "pending"));
                let all = |status: &str| {
                    for task in tasks {
                        collab(&["task", task["id"].as_str().unwrap(), status]);
                    }
                };
                all("failed");
                let refused = project.json(&["collab", "complete-skill", skill]);
                assert_eq!(refused.json_with(3)["code"], "task_failed");
                all("completed");
            }
            _ => {}
        }
        testkit::write_draft(&state);
        done(skill);
    }
    assert_eq!(statuses, ["documented", "documented"]);
}
