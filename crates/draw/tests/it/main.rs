//! Drawings.

mod hostile;
#[path = "../../../machine/tests/it/machines.rs"]
mod machines;
mod tasks;
mod well_formed;

use std::collections::{BTreeMap, BTreeSet};

use draw::{Look, Marks, dot, mermaid, svg, svg_of_run};
use machine::Definition;

const TDD: &str = include_str!("../../../workflows/tdd/workflow.yaml");
const REVIEW_WORKFLOW: &str = include_str!("../../../workflows/review/workflow.yaml");

const CHAPTERS: &str = r#"
tramline: 1
id: review
title: Chapters in turn
items: { chapters: { key: id, fields: { id: string } } }
initial: plan
on: { abort: { to: off } }
states:
  plan: { label: 'The "plan" <b>#1</b>', work: { by: person }, on: { report: [ { to: chapters } ] } }
  chapters:
    each: { items: chapters, initial: write }
    on: { done: { to: over } }
    states:
      write:
        work: { attempts: 3 }
        on:
          report:
            - { when: "attempt > 1 && run.paused == false && attempt < 1000 && attempt < 2000", retry: again }
            - { to: written }
          skip: { to: skipped }
      written: { final: completed }
      skipped: { final: failed }
  over: { final: completed }
  off: { final: aborted }
"#;

fn read(text: &str) -> Definition {
    Definition::parse(text).expect("a definition")
}

/// The flowchart of a workflow in which nobody stands.
fn unmarked(text: &str) -> String {
    mermaid(&read(text), &BTreeSet::new())
}

#[test]
fn a_workflow_is_drawn_with_its_nested_states_and_its_present_place() {
    let drawn = mermaid(&read(CHAPTERS), &BTreeSet::from(["chapters", "write"]));
    insta::assert_snapshot!(drawn, @r##"
    flowchart TD
        begin((" "))
        s0["The #quot;plan#quot; #lt;b#gt;#35;1#lt;/b#gt;<br/>plan"]
        subgraph s1["chapters: each of chapters"]
        s1i((" "))
        s2["write"]
        s3(["written"])
        s4(["skipped"])
        end
        s5(["over"])
        s6(["off"])
        anywhere(["any state"])
        begin --> s0
        s0 -->|"report"| s1
        s1 -->|"done"| s5
        s1i --> s2
        s2 -->|"report: retry again: attempt #gt; 1 #amp;#amp; run.paused == false #amp;#amp; attempt #lt; 1000 #amp;#amp; att…"| s2
        s2 -->|"report"| s3
        s2 -->|"skip"| s4
        anywhere -.->|"abort"| s6
        classDef present stroke-width:4px,stroke:#d97706
        class s1,s2 present
    "##);
}

#[test]
fn the_drawing_of_a_run_says_what_happens_and_where_it_was() {
    let marks = Marks {
        present: BTreeSet::from(["chapters", "write"]),
        moves: BTreeMap::from([
            (("", "plan"), 1),
            (("plan", "chapters"), 1),
            (("", "write"), 3),
            (("write", "write"), 2),
            (("write", "written"), 2),
        ]),
    };
    let drawn = svg_of_run(&read(CHAPTERS), &marks, Look::Inside).expect("small enough");
    well_formed::svg(&drawn).unwrap();
    insta::assert_snapshot!("run_svg", drawn);
}

#[test]
fn gates_and_the_edges_behind_all_others_are_drawn() {
    let drawn = unmarked(
        "tramline: 1\nid: x\ntitle: X\ninitial: a\ngates: { door: human }\notherwise: [ { when: outcome.note == 'x', to: y }, { refuse: no } ]\nstates:\n  a: { label: Begin, expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: b } } }\n  b: { gate: door, route: { to: z }, on: { reject: { to: a } } }\n  y: { final: failed }\n  z: { final: completed }\n",
    );
    insta::assert_snapshot!(drawn, @r#"
    flowchart TD
        begin((" "))
        s0["Begin<br/>a"]
        s1{"b, behind the gate door"}
        s2(["y"])
        s3(["z"])
        begin --> s0
        s0 -->|"report: outcome.outcome == 'yes'"| s1
        s0 -->|"otherwise: outcome.note == 'x'"| s2
        s1 --> s3
        s1 -->|"reject"| s0
    "#);
}

/// A built-in workflow in every format, as it looks in the middle of a run.
fn drawn(name: &str, text: &str, present: &[&str]) {
    let definition = read(text);
    let present: BTreeSet<&str> = present.iter().copied().collect();
    let mermaid = mermaid(&definition, &present);
    insta::assert_snapshot!(format!("{name}_mermaid"), mermaid);
    let dot = dot(&definition, &present);
    well_formed::dot(&dot).unwrap();
    insta::assert_snapshot!(format!("{name}_dot"), dot);
    let svg = svg(&definition, &present).expect("small enough");
    well_formed::svg(&svg).unwrap();
    insta::assert_snapshot!(format!("{name}_svg"), svg);
}

#[test]
fn built_in_workflows_are_drawn() {
    drawn("tdd", TDD, &["subtasks", "green"]);
    drawn("review", REVIEW_WORKFLOW, &["PLANNED"]);
}

#[test]
fn guards_that_begin_the_same_are_told_apart() {
    let long = "vars.number > 1 && vars.number < 100000000 && vars.number != 50000";
    let drawn = unmarked(&format!(
        "tramline: 1\nid: x\ntitle: X\nvars: {{ number: int }}\ninitial: a\nstates:\n  a:\n    route:\n      - {{ when: '{long}1', to: b }}\n      - {{ when: '{long}2', to: b }}\n      - {{ when: '{long}1 && {long}1 && true', to: c }}\n      - {{ when: '{long}1 && {long}2 && true', to: c }}\n      - {{ to: b }}\n  b: {{ final: completed }}\n  c: {{ final: failed }}\n",
    ));
    let arrows = drawn.lines().filter(|line| line.contains("s0 -->"));
    let labels = arrows.map(|line| line.split('|').nth(1));
    assert_eq!(labels.collect::<BTreeSet<_>>().len(), 5, "{drawn}");
}
