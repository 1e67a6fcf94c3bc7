//! One workflow with all capabilities, driven to its end: any two of them can stand together.

use std::fs;

use serde_json::Value;

use super::environment::TestEnvironment;

/// A plan that a profile reads and a person's word decides on, items out of a design document and tasks out of their graphs,
/// subtasks test first with commits, a linter, an outcome, and something that is published.
const EVERYTHING: &str = r#"tramline: 1
id: everything
title: All there is
unit: { item: "{key}-{state}", run: "{state}" }
inputs: { taskId: string, most: { type: int, default: 3 }, profile: { type: string, default: generic }, told: map }
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
  items:
    key: number
    needs: dependsOn
    prefer: piece
    status: { open: [pending], done: [documented, complete], failed: [skipped] }
    fields: { number: string, title: string, type: [code, task, bugfix], dependsOn: [string], reason: string }
  tasks:
    key: id
    needs: dependsOn
    status: { open: [pending], active: [in_progress, failed], done: [completed], failed: [skipped] }
    waves: { into: batches, named: batch, apart: [files, tests], alone: "!it.parallel" }
    fields: { id: string, item: string, name: string, description: string, files: [string], tests: [string], dependsOn: [string], parallel: { type: bool, default: true }, reason: string }
  steps:
    key: id
    needs: dependencies
    fields: { id: string, title: string, description: string, details: string, testStrategy: string, acceptanceCriteria: [string], dependencies: [string] }
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

#[test]
fn that_there_is_goes_together() {
    let project = TestEnvironment::new();
    project.write("lint.sh", "! grep -rl mess src\n");
    project.write("publish.sh", "echo out > out.txt\n");
    project.write(".gitignore", "out.txt\n");
    project.own_workflow("everything", EVERYTHING);
    let start = r#"run start everything --input taskId=1 --input 'told={"request":"Count"}'"#;
    project.line(start).ok();
    let refused = |line: &str, code| drop(project.line(&format!("run {line}")).fault(3, code));
    let next = |line: &str| -> Value {
        let answer = project.line(&format!("run {line}")).ok();
        answer["nextAction"].clone()
    };
    let folder = project.run_folder();
    fs::write(folder.join("plan-1.md"), "# Plan\n\nTwo scripts.\n").unwrap();
    assert_eq!(next("step")["gate"], "plan");
    refused("report", "gate_closed");
    project.agrees("run approve");

    refused("report", "bad_documents");
    let documents = folder.join("documents");
    fs::create_dir_all(&documents).unwrap();
    let design = "# Design\n\n## Items\n\n### Item 1: Count\n- Type: code\n";
    fs::write(documents.join("design.md"), design).unwrap();
    assert_eq!(next("report")["state"], "drawn");
    refused("report", "bad_graph");
    let graph = "tasks:\n  - id: t1\n    description: Count\n    files: [src/a.sh]\n";
    fs::write(documents.join("task-graph-item-1.yaml"), graph).unwrap();
    assert_eq!(next("report")["state"], "red");

    for (name, code) in [("a", "true # mess\n"), ("b", "true\n")] {
        project.write(&format!("src/{name}.sh"), code);
        refused("report --results failed:1", "red_without_tests");
        project.write(&format!("tests/{name}.sh"), "false\n");
        next("report --results failed:1");
        next("report --results passed:1,failed:0");
        let made = project.line("run report").ok();
        assert_eq!(made["result"]["commitSha"], project.head());
    }

    refused("report", "dirty");
    project.write("src/a.sh", "true\n");
    project.commit_all("Tidy up");
    assert_eq!(next("report")["state"], "agreed");
    refused("report --outcome no", "no");
    assert_eq!(next("report --outcome yes")["status"], "completed");
    assert!(project.project().join("out.txt").exists());
    assert_eq!(project.line("log verify").ok()["whole"], true);
}
