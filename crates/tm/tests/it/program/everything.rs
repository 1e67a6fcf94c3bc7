//! One workflow with all capabilities, driven to its end: any two of them can stand together.

use std::fs;

use serde_json::{Value, json};

use super::environment::TestEnvironment;

/// A plan that a profile reads and a person's word decides on, items out of a design document and tasks out of their graphs,
/// subtasks test first with commits, a linter, an outcome, and something that is published.
const EVERYTHING: &str = r#"tramline: 1
id: everything
title: All there is
unit: { item: "{key}-{state}", run: "{state}" }
inputs: { taskId: string, most: { type: int, default: 3 }, profile: { type: string, default: ours }, told: map }
vars:
  draft: { type: int, default: 1 }
  piece: { type: ref items }
  batch: { type: ref batches }
  kept: { type: bool, open: always }
counter: draft
uses:
  repository: {}
  tasks: { id: =inputs.taskId, attempts: =inputs.most, into: steps }
  tests: {}
  folder: {}
  profile: { name: =inputs.profile, values: =inputs.told }
  documents: { items: items, tasks: tasks, present: piece, snapshot: kept }
  commands: { lint: sh lint.sh, publish: { run: sh publish.sh, repeat: true } }
messages:
  no_plan: { message: That is no plan }
  bad_documents: { message: The documents cannot be read }
  bad_graph: { message: The task graph cannot be read }
  dirty: { message: The linter is not content }
  no: { message: Say yes }
items:
ITEMS  steps:
    key: id
    needs: dependencies
    fields:
      id: string
      title: string
      description: string
      details: string
      testStrategy: string
      acceptanceCriteria: [string]
      dependencies: [string]
gates: { plan: human }
initial: plan
states:
  plan:
    expects: response
    work: { by: anyone, ask: planning, prompt: "plan-{draft}-task.md", response: "plan-{draft}.md" }
    on: { report: [ { when: "response.status == 'SUCCESS'", do: plan.store, to: planned }, { refuse: no_plan } ] }
  planned:
    gate: { name: plan, over: plan }
    route: { do: [git.branch, tag.switch], to: listed }
    on: { reject: { set: { draft: =vars.draft + 1 }, do: plan.reset, to: plan } }
  listed:
    expects: design
    work: {}
    on: { report: [ { when: size(design.errors) > 0 || size(design.items) == 0, refuse: bad_documents }, { load: { items: =design.items }, to: taken } ] }
  taken:
    route: { set: { piece: =items.next }, to: drawn }
  drawn:
    expects: graph
    work: {}
    on: { report: [ { when: "!graph.present || size(graph.errors) > 0", refuse: bad_graph }, { load: { tasks: =graph.tasks }, to: steps } ] }
  steps:
    each: { items: steps, initial: red }
    on: { done: [ { when: steps.failed + steps.blocked > 0, to: failed }, { to: checked } ] }
    states:
      red:
        expects: { tests: { as: red, shows: new_failure, freezes: tests } }
        edits: tests
        work: {}
        on: { report: [ { check: [red_without_tests, no_new_failure] }, { to: green } ], skip: { to: dropped } }
      green:
        expects: { tests: { as: green, against: red, frozen: tests } }
        edits: unfrozen
        work: {}
        on: { report: [ { check: [tests_missing, tests_changed] }, { when: tests.failing > 0 || tests.passed == 0, refuse: green_requires_passing_tests }, { to: commit } ] }
      commit:
        expects: { commit: { of: green } }
        edits: none
        work: {}
        on: { report: [ { check: [changed_after_green, foreign_commit] }, { when: commit.sha != '', to: kept }, { do: git.commit, to: kept } ] }
      kept: { final: completed }
      dropped: { final: failed }
  checked:
    expects: { command: { run: lint } }
    work: {}
    on: { report: [ { when: "!command.ok", refuse: dirty }, { to: agreed } ] }
  agreed:
    expects: outcome
    work: {}
    on: { report: [ { when: "outcome.outcome == 'yes'", to: published }, { refuse: no } ] }
  published:
    route: { do: command.run, with: { run: publish }, to: closing }
  closing:
    route: { do: task.finish, to: complete }
  complete: { final: completed, do: tag.restore }
  failed: { final: failed, do: tag.restore }
  called_off: { final: aborted, do: tag.restore }
on: { abort: { to: called_off } }
"#;

/// The item sets of `collab`, from the file that comes along.
fn items(project: &TestEnvironment) -> String {
    let shown = project.tm(&["workflow", "show", "collab"]);
    let text = shown.text();
    let from = text.find("\nitems:\n").unwrap() + "\nitems:\n".len();
    let to = text.find("\nmessages:").unwrap() + 1;
    let open = |line: &&str| !line.trim_start().starts_with("open: {");
    let lines = text[from..to].lines();
    // What callers may set belongs to states of its own.
    let mut kept = String::new();
    let mut skips = false;
    for line in lines {
        if line.trim_end() == "    open:" {
            skips = true;
            continue;
        }
        skips &= line.starts_with("      ");
        if !skips && open(&line) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn begun() -> TestEnvironment {
    let project = TestEnvironment::new();
    let items = items(&project).replace("prefer: item\n", "prefer: piece\n");
    let text = EVERYTHING.replace("ITEMS", &items);
    project.write(".taskmaster/workflows/everything.yaml", text);
    let folder = ".taskmaster/profiles/ours";
    project.write(
        &format!("{folder}/profile.yaml"),
        "tramline-profile: 1\ntitle: Ours\nresponses:\n  planning: { read: plan }\n  generation: { read: bundle }\n  review: { read: verdict }\n  revision: { read: bundle }\n",
    );
    for phase in ["planning", "generation", "review", "revision"] {
        project.write(&format!("{folder}/{phase}.md"), "Plan it.\n");
    }
    project.write("lint.sh", "! grep -rl mess src\n");
    project.write("publish.sh", "echo out > out.txt\n");
    project.write(".gitignore", "out.txt\n");
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "everything"]);
    let words = [
        "run",
        "start",
        "everything",
        "--input",
        "taskId=1",
        "--input",
        "told={}",
    ];
    project.json(&words).json_with(0);
    project
}

fn run(project: &TestEnvironment, words: &[&str], status: i32) -> Value {
    let words = [&["run"], words].concat();
    project.json(&words).json_with(status).clone()
}

const FAILING: [&str; 3] = ["report", "--results", "failed:1,passed:0"];
const PASSING: [&str; 3] = ["report", "--results", "failed:0,passed:1"];

#[test]
fn that_there_is_goes_together() {
    let project = begun();
    let folder = project.run_folder();
    fs::write(folder.join("plan-1.md"), "# Plan\n\nTwo scripts.\n").unwrap();
    let waits = run(&project, &["step"], 0)["nextAction"].clone();
    assert_eq!(waits["gate"], "plan", "{waits}");
    assert_eq!(
        run(&project, &["report"], 3)["error"]["code"],
        "gate_closed"
    );
    let (_, status, told) = project.person(&["run", "approve"]).agrees();
    assert_eq!(status, 0, "{told}");

    assert_eq!(run(&project, &["report"], 3)["code"], "bad_documents");
    let documents = folder.join("documents");
    fs::create_dir_all(&documents).unwrap();
    fs::write(
        documents.join("design.md"),
        "# Design\n\n## Items\n\n### Item 1: Count\n- Type: code\n",
    )
    .unwrap();
    assert_eq!(
        run(&project, &["report"], 0)["nextAction"]["state"],
        "drawn"
    );
    assert_eq!(run(&project, &["report"], 3)["code"], "bad_graph");
    let graph = "tasks:\n  - id: t1\n    description: Count\n    files: [src/a.sh]\n";
    fs::write(documents.join("task-graph-item-1.yaml"), graph).unwrap();
    assert_eq!(run(&project, &["report"], 0)["nextAction"]["state"], "red");

    for (name, code) in [("a", "true # mess\n"), ("b", "true\n")] {
        project.write(&format!("src/{name}.sh"), code);
        assert_eq!(run(&project, &FAILING, 3)["code"], "red_without_tests");
        project.write(&format!("tests/{name}.sh"), "false\n");
        run(&project, &FAILING, 0);
        run(&project, &PASSING, 0);
        let made = run(&project, &["report"], 0);
        assert_eq!(made["result"]["commitSha"], project.head());
    }

    let dirty = run(&project, &["report"], 3);
    assert_eq!(dirty["code"], "dirty", "{dirty}");
    project.write("src/a.sh", "true\n");
    project.commit_all("Tidy up");
    assert_eq!(
        run(&project, &["report"], 0)["nextAction"]["state"],
        "agreed"
    );
    assert_eq!(
        run(&project, &["report", "--outcome", "no"], 3)["code"],
        "no"
    );
    let over = run(&project, &["report", "--outcome", "yes"], 0);
    assert_eq!(over["nextAction"]["status"], "completed", "{over}");
    assert!(project.project().join("out.txt").exists());
    assert_eq!(
        project.json(&["log", "verify"]).json_with(0)["whole"],
        json!(true)
    );
}
