//! One workflow with all capabilities, driven to its end: any two of them can stand together.

use std::fs;

use super::environment::changed;
use super::feature::{FAILING, Feature, PASSING};

/// A plan that a profile reads and a person's word decides on, items out of a design document and tasks out of their graphs.
const DESIGN: &str = r#"  design:
    expects: response
    work: { by: anyone, ask: planning, prompt: "design-{draft}-task.md", response: "design-{draft}.md" }
    on: { report: [ { when: "response.status == 'SUCCESS'", do: plan.store, to: designed }, { refuse: no_plan } ] }
  designed:
    gate: { name: design, over: plan }
    route: { do: [git.branch, tag.switch], emit: "branch:created", to: listed }
    on: { reject: { set: { draft: =vars.draft + 1 }, do: plan.reset, to: design } }
  listed:
    expects: design
    work: {}
    on: { report: [ { when: size(design.errors) > 0 || size(design.items) == 0, refuse: bad_documents }, { load: { items: =design.items }, to: taken } ] }
  taken: { route: { set: { piece: =items.next }, to: drawn } }
  drawn:
    expects: graph
    work: {}
    on: { report: [ { when: "!graph.present || size(graph.errors) > 0", refuse: bad_graph }, { load: { tasks: =graph.tasks }, to: steps } ] }
  published: { route: { do: command.run, with: { run: publish }, to: closing } }

"#;

const ITEMS: &str = r#"items:
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
"#;

const USES: &str = "  profile: { name: =inputs.reader, values: =inputs.told }
  documents: { items: items, tasks: tasks, present: piece, snapshot: kept }
  commands: { publish: { run: sh publish.sh, repeat: true }, lint";

const VARS: &str = "  reader: { type: string, default: generic }
  told: map
vars:
  piece: { type: ref items }
  batch: { type: ref batches }
  kept: { type: bool, open: always }
";

const MESSAGES: &str = "messages:
  no_plan: { message: That is no plan }
  bad_documents: { message: The documents cannot be read }
  bad_graph: { message: The task graph cannot be read }
";

/// The example with all that it does not have.
fn everything(feature: &str) -> String {
    let from = feature.find("  design:\n").unwrap();
    let to = feature.find("  steps:\n    each:").unwrap();
    let changes = [
        (&feature[from..to], DESIGN),
        ("view: autopilot\n", ""),
        ("\nvars:\n", VARS),
        ("  commands: { lint", USES),
        ("items:\n", ITEMS),
        ("messages:\n", MESSAGES),
        ("to: closing\n", "to: published\n"),
    ];
    changed(feature, &changes)
}

#[test]
fn that_there_is_goes_together() {
    let told = r#"--input 'told={"request":"Count"}'"#;
    let feature = Feature::begun_with(everything, told);
    let project = &feature.project;
    let waits = feature.answers("design-1.md", "# Plan\n\nTwo scripts.\n");
    assert_eq!(waits["gate"], "design");
    feature.refused("report", "gate_closed");
    feature.agrees("approve");

    feature.refused("report", "bad_documents");
    let documents = feature.folder.join("documents");
    fs::create_dir_all(&documents).unwrap();
    let design = "# Design\n\n## Items\n\n### Item 1: Count\n- Type: code\n";
    fs::write(documents.join("design.md"), design).unwrap();
    assert_eq!(feature.comes_to("report"), "drawn");
    feature.refused("report", "bad_graph");
    let graph = "tasks:\n  - id: t1\n    description: Count\n    files: [src/a.sh]\n";
    fs::write(documents.join("task-graph-item-1.yaml"), graph).unwrap();
    assert_eq!(feature.comes_to("report"), "ask");

    project.write("src/a.sh", "true\n");
    feature.refused(FAILING, "red_without_tests");
    feature.built("a", "true # now\n");
    feature.built("b", "true\n");
    feature.ok("report --outcome approved");
    assert_eq!(feature.comes_to(PASSING), "notes");
    let over = feature.answers("notes.md", "Words are counted.\n");
    assert_eq!(over["status"], "completed", "{over}");
    assert!(project.project().join("out.txt").exists());
    assert_eq!(project.does("log verify")["whole"], true);
}
