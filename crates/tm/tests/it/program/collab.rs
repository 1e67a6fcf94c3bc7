//! Sessions of skills at the command line.

use std::fs;

use serde_json::{Value, json};

use super::collab_walk::{Caller, ONE_OF_EACH, Walk, mixes, one_wave, steps, two_waves};
use super::environment::TestEnvironment;
use testkit::Outcome;

/// The calls, as commands.
struct Commands<'e>(&'e TestEnvironment);

impl Caller for Commands<'_> {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default();
        let mut input = String::new();
        let mut words: Vec<String> = match tool {
            "complete_skill" if !text("unitId").is_empty() => {
                ["complete-skill", text("skill"), "--unit-id", text("unitId")]
                    .map(str::to_owned)
                    .to_vec()
            }
            "complete_skill" => vec!["complete-skill".to_owned(), text("skill").to_owned()],
            "get_session_state" if arguments["full"] == true => {
                vec!["state".to_owned(), "--full".to_owned()]
            }
            "get_session_state" => vec!["state".to_owned()],
            "update_session_state" => vec![
                "update".to_owned(),
                "--work-items".to_owned(),
                arguments["workItems"].to_string(),
            ],
            "sync_task_graph" => {
                text("document").clone_into(&mut input);
                vec!["sync".to_owned(), "-".to_owned()]
            }
            "update_tasks_status" => {
                let tasks = arguments["tasks"].as_array().unwrap().iter().map(|task| {
                    let word = |name: &str| task[name].as_str().unwrap();
                    format!("{}={}", word("id"), word("status"))
                });
                ["task".to_owned()].into_iter().chain(tasks).collect()
            }
            other => panic!("{other} has no command here"),
        };
        words.extend(["--session".to_owned(), text("session").to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let all = [&["collab"], words.as_slice(), &["--json"]].concat();
        self.0.tm_with_input(&all, &input).json_with(0)
    }
}

fn collab(environment: &TestEnvironment, words: &[&str]) -> Outcome {
    environment.tm(&[&["collab"], words].concat())
}

/// A session with these items, at the skill that gathers the goals.
fn gathered(environment: &TestEnvironment, kinds: &[&str]) {
    collab(environment, &["complete-skill", "collab-start"]).text();
    let items = super::collab_walk::items(kinds).to_string();
    collab(environment, &["update", "--work-items", &items]).text();
    collab(environment, &["complete-skill", "gather-session-goals"]).text();
}

/// A session of bugs that has come to its only batch.
fn executing(environment: &TestEnvironment, bugs: usize) {
    gathered(environment, &vec!["bugfix"; bugs]);
    for bug in 1..=bugs {
        collab(environment, &["complete-skill", "collab-clear"]).text();
        let unit = match bug {
            1 => "systematic-debugging".to_owned(),
            more => format!("systematic-debugging-{more}"),
        };
        testkit::write_draft(collab(environment, &["state", "--json"]).json());
        let done = ["complete-skill", "systematic-debugging", "--unit-id", &unit];
        collab(environment, &done).text();
    }
    for skill in ["collab-clear", "ready-to-implement", "collab-clear"] {
        collab(environment, &["complete-skill", skill]).text();
    }
}

#[test]
fn a_session_with_one_of_each_takes_forty_completions() {
    assert_eq!(steps(&ONE_OF_EACH, 2).len(), 40);
    let environment = TestEnvironment::bare();
    let mut commands = Commands(&environment);
    Walk::new(&mut commands, "forty").whole(&ONE_OF_EACH, 2, two_waves);
    let state = commands.call(
        "get_session_state",
        &json!({ "session": "forty", "full": true }),
    );
    assert_eq!(
        (&state["status"], &state["phase"]),
        (&"completed".into(), &"done".into())
    );
    for item in state["workItems"].as_array().unwrap() {
        assert_eq!(item["status"], "complete", "{item}");
    }
    let tasks = |batch: usize| -> Vec<&str> {
        let tasks = state["batches"][batch]["tasks"].as_array().unwrap();
        tasks
            .iter()
            .map(|task| task["id"].as_str().unwrap())
            .collect()
    };
    assert_eq!(tasks(0), ["types", "item-2", "item-3"]);
    assert_eq!(tasks(1), ["lexer"]);
    let whole = environment.tm(&["log", "verify", "--json"]).json_with(0);
    assert_eq!(whole["whole"], true, "{whole}");
}

#[test]
fn sessions_of_each_type_go_on_side_by_side_in_one_project() {
    let environment = TestEnvironment::bare();
    let mut commands = Commands(&environment);
    for kinds in mixes(1) {
        let name = kinds.join("-");
        Walk::new(&mut commands, &name).set_items(&kinds);
    }
    let unnamed = collab(&environment, &["state"]);
    assert_eq!(unnamed.status, 2, "which one is meant: {unnamed:?}");
    for kinds in mixes(1) {
        let name = kinds.join("-");
        Walk::new(&mut commands, &name).whole(&kinds, 1, one_wave);
    }
}

#[test]
fn a_person_reads_the_next_skill_first() {
    let environment = TestEnvironment::bare();
    let begun = collab(&environment, &["complete-skill", " Collab-START "]);
    let mut lines = begun.text().lines();
    assert_eq!(lines.next(), Some("next skill: gather-session-goals"));
    assert_eq!(
        begun.text().lines().last(),
        Some("  -> tm collab complete-skill gather-session-goals --unit-id gather-goals")
    );
    assert!(begun.err.is_empty(), "{begun:?}");

    let refused = collab(&environment, &["complete-skill", "collab-clear"]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(refused.out.starts_with("x "), "{refused:?}");
    assert!(
        refused
            .out
            .contains("expected skill: gather-session-goals\n"),
        "{refused:?}"
    );
    let unknown = collab(&environment, &["complete-skill", "collab-cleer"]);
    assert_eq!(unknown.status, 3, "{unknown:?}");
    for skill in ["collab-clear", "executing-plans"] {
        assert!(unknown.out.contains(skill), "{unknown:?}");
    }

    let clear = ["complete-skill", "gather-session-goals"];
    let no_items = collab(&environment, &clear);
    assert_eq!(no_items.status, 3, "{no_items:?}");
    gathered(&environment, &["code"]);
    let state = collab(&environment, &["state"]);
    assert!(
        state.text().starts_with("next skill: collab-clear\n"),
        "{state:?}"
    );
    // In a terminal of its own or in a pipe: with no colour nothing but text is printed.
    assert!(!state.out.contains('\u{1b}'), "{state:?}");
    let full = collab(&environment, &["state", "--full"]);
    assert!(full.text().contains("Items: 0 of 1 documented"), "{full:?}");
}

#[test]
fn a_paused_session_takes_nothing_and_says_how_it_goes_on() {
    let environment = TestEnvironment::bare();
    gathered(&environment, &["code"]);
    let state = collab(&environment, &["state", "--full", "--json"]).json_with(0);
    let run = state["runId"].as_str().unwrap();
    let pause = ["run", "pause", "--reason", "lunch", "--run-id", run];
    environment.tm(&pause).text();
    let refused = collab(&environment, &["complete-skill", "collab-clear", "--json"]).json_with(5);
    assert_eq!(
        (&refused["validated"], &refused["code"]),
        (&false.into(), &"paused".into())
    );
    let resume = format!("tm run resume --run-id {run}");
    for words in [&["state"][..], &["state", "--full"]] {
        let told = collab(&environment, words);
        assert!(told.text().contains("paused: lunch\n"), "{told:?}");
        assert!(told.text().contains(&resume), "{told:?}");
        assert!(!told.text().contains("next skill"), "{told:?}");
    }
    environment.tm(&["run", "resume", "--run-id", run]).text();
    collab(&environment, &["complete-skill", "collab-clear"]).text();
}

#[test]
fn what_is_typed_wrong_says_how_it_is_typed() {
    let environment = TestEnvironment::bare();
    gathered(&environment, &["code"]);
    for (words, told) in [
        (&["task", "a"][..], "the task `a` has no status"),
        (&["task", "a", "b", "c"], "`a` is no ID=STATUS"),
        (
            &["task", "a", "completed", "--skipped"],
            "cannot be skipped",
        ),
        (
            &["task", "a=failed", "b=failed", "--skipped"],
            "is for one task",
        ),
        (&["task"], "required"),
        (&["update", "--work-items", "[{"], "this is no JSON"),
        (&["update", "--work-items", "@"], "no file"),
        (
            &["update", "--work-items", "@gone.json"],
            "no file gone.json",
        ),
        (&["update", "--set", "phase"], "has no `=`"),
        (&["update", "--has-snapshot", "maybe"], "true, false"),
        (&["sync", "gone.md"], "no file gone.md"),
        (&["sync", "."], "could not be read"),
        (&["graph", "--format", "svg"], "mermaid"),
        (&["complete-skill"], "SKILL"),
        (&["state", "--session", "nobody"], "nobody"),
    ] {
        let ran = collab(&environment, words);
        assert!(matches!(ran.status, 2 | 4 | 6), "{words:?}: {ran:?}");
        assert!(ran.err.contains(told), "{words:?}: {ran:?}");
        assert!(ran.out.is_empty(), "{words:?}: {ran:?}");
        let json = collab(&environment, &[words, &["--json"]].concat());
        assert_eq!(json.status, ran.status, "{words:?}");
        assert!(json.json()["error"]["message"].is_string(), "{json:?}");
    }
    let before = collab(&environment, &["state", "--json"]).json_with(0);
    assert_eq!(before["skill"], "collab-clear", "nothing has moved");
}

#[test]
fn fields_are_set_together_or_not_at_all() {
    let environment = TestEnvironment::bare();
    environment.write(
        "items.json",
        r#"[{"number": "2a", "title": "Mend it", "type": "bugfix"}, {"number": 1, "title": "Build it", "type": "code"}]"#,
    );
    let given = ["update", "--session", "s", "--work-items", "@items.json"];
    let set = collab(
        &environment,
        &[&given[..], &["--current-item", "1", "--json"]].concat(),
    );
    let set = set.json_with(0);
    assert_eq!(set["fields"]["currentItem"], 1, "{set:#}");
    assert_eq!(set["fields"]["totalItems"], 2, "{set:#}");

    for field in ["phase=\"done\"", "state=done", "batches=[]", "bogus=1"] {
        let words = ["update", "--has-snapshot", "true", "--set", field, "--json"];
        let refused = collab(&environment, &words).json_with(3);
        assert_eq!(
            (&refused["validated"], &refused["code"]),
            (&false.into(), &"read_only".into()),
            "{field}: {refused:#}"
        );
    }
    let state = collab(&environment, &["state", "--full", "--json"]).json_with(0);
    assert_eq!(state["hasSnapshot"], false, "{state:#}");
    assert_eq!(state["workItems"][0]["number"], "2a", "{state:#}");
    collab(&environment, &["update", "--has-snapshot", "true"]).text();
    let state = collab(&environment, &["state", "--full", "--json"]).json_with(0);
    assert_eq!(
        (&state["hasSnapshot"], &state["currentItem"]),
        (&true.into(), &1.into())
    );
}

#[test]
fn tasks_are_stored_together_and_those_skipped_end_the_batch() {
    let environment = TestEnvironment::bare();
    executing(&environment, 3);
    let early = collab(&environment, &["complete-skill", "executing-plans"]);
    assert_eq!(early.status, 3, "{early:?}");

    let wrong = collab(
        &environment,
        &["task", "item-1=completed", "item-9=completed", "--json"],
    );
    assert_eq!(wrong.json_with(3)["validated"], false);
    let state = collab(&environment, &["state", "--full", "--json"]).json_with(0);
    assert_eq!(state["completedTasks"], json!([]), "all or none: {state:#}");

    let begun = collab(&environment, &["task", "item-1", "in-progress"]);
    assert!(begun.text().contains("item-1  in progress"), "{begun:?}");
    assert!(
        begun.text().contains("3 tasks of the batch left."),
        "{begun:?}"
    );
    collab(&environment, &["task", "item-2", "--skipped"]).text();
    let ended = collab(
        &environment,
        &["task", "item-1=completed", "item-3=skipped"],
    );
    assert!(ended.text().contains("item-3  skipped"), "{ended:?}");
    assert!(
        ended.text().ends_with(
            "No task of the batch is left.\n\nWhen it is finished:\n  -> tm collab complete-skill executing-plans --unit-id execute-batch\n"
        ),
        "{ended:?}"
    );
    let over = collab(
        &environment,
        &["complete-skill", "executing-plans", "--json"],
    )
    .json_with(0);
    assert_eq!(over["action"], "clear", "{over:#}");
    let state = collab(&environment, &["state", "--full"]);
    assert!(
        state.text().contains("Tasks: 1 completed, 2 skipped"),
        "{state:?}"
    );
}

#[test]
fn a_graph_comes_from_a_file_inside_or_outside_and_from_standard_input() {
    let environment = TestEnvironment::bare();
    gathered(&environment, &["task"]);
    collab(&environment, &["complete-skill", "collab-clear"]).text();
    environment.write(
        "docs/graph.md",
        "# Tasks\n\n```yaml\ntasks:\n  - id: a\n```\n",
    );
    let outside = environment.home().join("graph.yaml");
    fs::write(
        &outside,
        "tasks:\n  - id: a\n  - id: b\n    depends-on: [a]\n",
    )
    .unwrap();
    for (file, tasks) in [("docs/graph.md", 1), (outside.to_str().unwrap(), 2)] {
        let synced = collab(&environment, &["sync", file, "--item", "1", "--json"]).json_with(0);
        assert_eq!(
            (&synced["tasks"], &synced["item"]),
            (&tasks.into(), &1.into()),
            "{synced:#}"
        );
    }
    let cycle = "tasks:\n  - id: a\n    depends-on: [b]\n  - id: b\n    depends-on: [a]\n";
    let words = ["collab", "sync", "-"];
    let refused = environment.tm_with_input(&words, cycle);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(refused.out.starts_with("x "), "{refused:?}");
    assert!(refused.out.contains("\nstandard input:"), "{refused:?}");
    environment.write("docs/graph.md", cycle);
    let words = ["sync", "docs/graph.md", "--json"];
    let refused = collab(&environment, &words).json_with(3);
    assert_eq!(
        refused["problems"][0]["document"], "docs/graph.md",
        "{refused:#}"
    );
    let drawn = collab(&environment, &["graph"]);
    assert!(drawn.text().contains("flowchart"), "{drawn:?}");
    for words in [&["graph", "--format", "json"][..], &["graph", "--json"]] {
        let graph = collab(&environment, words).json_with(0);
        assert!(
            graph["mermaid"].as_str().unwrap().contains("flowchart"),
            "{graph:#}"
        );
        assert_eq!(graph["cut"], false, "{graph:#}");
    }
}

#[test]
fn the_generic_verbs_take_the_name_of_a_session_and_tell_what_the_skills_tell() {
    let environment = TestEnvironment::bare();
    let begin = ["complete-skill", "collab-start", "--session", "one"];
    collab(&environment, &begin).text();
    let begin = ["complete-skill", "collab-start", "--session", "two"];
    let begun = collab(&environment, &[&begin[..], &["--json"]].concat()).json_with(0);

    // The very same completion, told by the other verb, is answered as it was.
    let again = [
        "run",
        "report",
        "--run-id",
        "two",
        "--unit",
        "collab-start",
        "--json",
    ];
    assert_eq!(environment.tm(&again).json_with(0)["validated"], true);
    let report = ["run", "report", "--run-id", "one", "--json"];
    let refused = environment.tm(&report).json_with(3);
    assert_eq!(refused["code"], "no_items", "{refused:#}");
    let help = refused["suggestion"].as_str().unwrap();
    assert!(
        help.contains("tm collab update --work-items JSON --session one"),
        "{help}"
    );

    let state = ["state", "--full", "--session", "one", "--json"];
    let state = collab(&environment, &state).json_with(0);
    let documents = std::path::Path::new(state["documents"].as_str().unwrap());
    let design = "# Goals\n\n### Item 1: Build it\n**Type:** gizmo\n";
    fs::write(documents.join("design.md"), design).unwrap();
    let refused = environment.tm(&report).json_with(3);
    assert_eq!(refused["code"], "items_unreadable", "{refused:#}");
    let details = refused["details"].as_object().unwrap();
    assert!(
        !details.contains_key("design"),
        "all items again: {refused:#}"
    );
    assert_eq!(details["problems"][0]["line"], 4, "{refused:#}");
    let told = environment.tm(&["run", "report", "--run-id", "one"]);
    assert!(told.out.contains("design.md:4: "), "{told:?}");
    assert!(
        !told.out.contains("size("),
        "guards are nobody's words: {told:?}"
    );

    // What was reported generically is known to the skills.
    fs::write(documents.join("design.md"), design.replace("gizmo", "code")).unwrap();
    environment.tm(&report).json_with(0);
    let again = [
        "complete-skill",
        "gather-session-goals",
        "--session",
        "one",
        "--json",
    ];
    let again = collab(&environment, &again).json_with(0);
    assert_eq!(again["next_skill"], "collab-clear", "{again:#}");
    assert_eq!(begun["next_skill"], "gather-session-goals", "{begun:#}");

    for words in [
        &["run", "status", "--run-id", "two"][..],
        &["run", "pause", "--reason", "lunch", "--run-id", "two"],
        &["run", "resume", "--run-id", "two"],
        &["log", "verify", "two"],
        &["runs", "show", "two"],
        &["workflow", "graph", "collab", "--run", "two"],
        &["run", "abort", "--run-id", "two"],
    ] {
        let ran = environment.tm(words);
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
    }
    let state = collab(&environment, &["state", "--session", "two", "--json"]).json_with(0);
    assert_eq!(
        (&state["skill"], &state["status"], &state["done"]),
        (&Value::Null, &"aborted".into(), &Value::Null),
        "{state:#}"
    );
    let unknown = environment.tm(&["run", "status", "--run-id", "three", "--json"]);
    let unknown = unknown.json_with(4);
    assert_eq!(unknown["error"]["code"], "unknown_run", "{unknown:#}");
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no session"),
        "{unknown:#}"
    );
}

#[test]
fn refusals_speak_of_what_callers_know() {
    let environment = TestEnvironment::bare();
    executing(&environment, 2);
    for (words, code, told) in [
        (
            &["update", "--current-item", "1"][..],
            "not_now",
            &[
                "`currentItem` can only be set in Starting (collab-start) or",
                "(execute-batch)",
            ][..],
        ),
        (
            &["update", "--work-items", "[]"],
            "not_now",
            &["`workItems` can only be set in"],
        ),
        (
            &["update", "--set", "items=[]"],
            "read_only",
            &["`items` cannot be set"],
        ),
        (
            &["task", "item-1", "done"],
            "bad_status",
            &["did you mean `completed`?"],
        ),
        (
            &["task", "item-9", "completed"],
            "unknown_task",
            &["did you mean `item-"],
        ),
        (
            &[
                "complete-skill",
                "executing-plans",
                "--unit-id",
                "collab-start",
            ],
            "unexpected_skill",
            &[
                "the work unit `collab-start` is over",
                "name the present work unit, `execute-batch`",
            ],
        ),
        (
            &["complete-skill", "executing-plans"],
            "tasks_unfinished",
            &["`item-1`, `item-2`"],
        ),
    ] {
        let refused = collab(&environment, &[words, &["--json"]].concat()).json_with(3);
        assert_eq!(refused["code"], code, "{words:?}: {refused:#}");
        let said = format!("{} {}", refused["message"], refused["suggestion"]);
        for told in told {
            assert!(said.contains(told), "{words:?}: {said}");
        }
    }
    let early = [
        "update",
        "--session",
        "new",
        "--work-items",
        r#"[{"number": "2a", "title": "x", "type": "code"}]"#,
    ];
    collab(&environment, &early).text();
    let unknown = [
        "update",
        "--session",
        "new",
        "--current-item",
        "7",
        "--json",
    ];
    let unknown = collab(&environment, &unknown).json_with(3);
    assert_eq!(unknown["suggestion"], "its items are `2a`", "{unknown:#}");
    assert_eq!(unknown["expected"], json!(["2a"]), "{unknown:#}");
    let status = ["task", "item-1", "completed", "--session", "new", "--json"];
    let status = collab(&environment, &status).json_with(3);
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .starts_with("the status of a task can only be set in"),
        "{status:#}"
    );
}

#[test]
fn a_graph_that_cannot_be_drawn_is_no_empty_drawing() {
    let environment = TestEnvironment::bare();
    gathered(&environment, &["task"]);
    collab(&environment, &["complete-skill", "collab-clear"]).text();
    let state = collab(&environment, &["status", "--full", "--json"]).json_with(0);
    let documents = std::path::Path::new(state["documents"].as_str().unwrap());
    fs::write(documents.join("task-graph-item-1.yaml"), "tasks: [{}]\n").unwrap();
    let drawn = collab(&environment, &["graph"]);
    assert_eq!(drawn.status, 3, "{drawn:?}");
    assert!(drawn.out.is_empty(), "{drawn:?}");
    assert!(
        drawn.err.contains("task-graph-item-1.yaml:1: "),
        "{drawn:?}"
    );
    let graph = collab(&environment, &["graph", "--json"]).json_with(3);
    assert_eq!(graph["problems"][0]["code"], "task_without_id", "{graph:#}");
}

#[test]
fn a_document_has_one_limit_wherever_it_comes_from() {
    let environment = TestEnvironment::bare();
    gathered(&environment, &["task"]);
    collab(&environment, &["complete-skill", "collab-clear"]).text();
    let large = format!("tasks: [{{id: a}}] #{}\n", "x".repeat(8 * 1024 * 1024));
    environment.write("graph.yaml", &large);
    let outside = environment.home().join("graph.yaml");
    fs::write(&outside, &large).unwrap();
    for file in ["graph.yaml", outside.to_str().unwrap()] {
        let refused = collab(&environment, &["sync", file, "--json"]);
        let fault = &refused.json()["error"];
        assert_eq!(fault["code"], "document_too_large", "{file}: {refused:?}");
    }
    let refused = environment.tm_with_input(&["collab", "sync", "-", "--json"], &large);
    assert_eq!(refused.status, 2, "{refused:?}");
    let fault = &refused.json()["error"];
    assert_eq!(fault["code"], "document_too_large", "{refused:?}");
    let most = &large[..8 * 1024 * 1024];
    environment
        .tm_with_input(&["collab", "sync", "-"], most)
        .text();
}

#[test]
fn ways_back_are_told_with_what_is_next() {
    let environment = TestEnvironment::bare();
    executing(&environment, 2);
    let told = |words: &[&str]| collab(&environment, words).text().to_owned();
    let late = ["add", "Export", "--type", "bugfix", "--depends-on", "1,2"];
    let text = told(&late);
    assert!(text.contains("item 3"), "{text}");
    let text = told(&["skip", "--task", "item-2", "--reason", "not now"]);
    assert!(text.contains("skipped: item-2"), "{text}");
    told(&["task", "item-1", "completed"]);
    let text = told(&["complete-skill", "executing-plans"]);
    assert!(text.contains("collab-clear"), "{text}");
    let both = ["--task", "item-1", "--task", "item-2"];
    let text = told(&[&["reopen", "--reason", "both were wrong"], &both[..]].concat());
    assert!(
        text.contains("run again: item-1 in batch-2 and item-2 in batch-2"),
        "{text}"
    );
    assert!(text.contains("next skill: collab-clear"), "{text}");
    // By the run's own commands it is the same.
    let skip = [
        "run", "skip", "3", "--reason", "no more", "--run-id", "default",
    ];
    assert!(
        environment
            .tm(&skip)
            .text()
            .contains("item 3, Export, is skipped")
    );
    let board = told(&["state", "--full"]);
    assert!(board.contains("because: no more"), "{board}");
    let summary = environment.tm(&["runs", "report", "default"]);
    for line in [
        "item-1 of tasks: both were wrong",
        "3 of items: no more",
        "item-2 of tasks: not now",
    ] {
        assert!(summary.text().contains(line), "{line}:\n{}", summary.text());
    }
    let refused = collab(&environment, &["reopen", "--reason", "why"]);
    assert_eq!(refused.status, 3, "{refused:#?}");
    assert!(refused.out.contains("nothing_in_hand"), "{refused:#?}");
}
