//! Drawings.

use std::collections::BTreeSet;

use rails::Definition;
use rails::graph::mermaid;

const REVIEW: &str = r#"
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
          skip: { to: given_up }
      written: { final: completed }
      given_up: { final: failed }
  over: { final: completed }
  off: { final: aborted }
"#;

#[test]
fn a_workflow_is_drawn_with_its_nested_states_and_its_present_place() {
    let definition = Definition::parse(REVIEW).expect("a definition");
    let drawn = mermaid(&definition, &BTreeSet::from(["chapters", "write"]));
    insta::assert_snapshot!(drawn, @r##"
    flowchart TD
        begin((" "))
        s0["The #quot;plan#quot; #lt;b#gt;#35;1#lt;/b#gt;"]
        subgraph s1["chapters: each of chapters"]
        s1i((" "))
        s2["write"]
        s3(["written"])
        s4(["given_up"])
        end
        s5(["over"])
        s6(["off"])
        begin --> s0
        s0 -->|"report"| s1
        s1 -->|"done"| s5
        s1i --> s2
        s2 -->|"report: retry again: attempt #gt; 1 #amp;#amp; run.paused == false #amp;#amp; attempt #lt; 1000 #amp;#amp; atte…"| s2
        s2 -->|"report"| s3
        s2 -->|"skip"| s4
        classDef present stroke-width:4px,stroke:#d97706
        class s1,s2 present
    "##);
}

#[test]
fn nothing_is_marked_where_nothing_is_present() {
    let definition = Definition::parse(REVIEW).expect("a definition");
    let drawn = mermaid(&definition, &BTreeSet::new());
    assert!(!drawn.contains("class "), "{drawn}");
}

#[test]
fn gates_and_the_edges_behind_all_others_are_drawn() {
    let definition = Definition::parse(
        "tramline: 1\nid: x\ntitle: X\ninitial: a\ngates: { door: human }\notherwise: [ { when: outcome.note == 'x', to: y }, { refuse: no } ]\nstates:\n  a: { label: Begin, expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: b } } }\n  b: { gate: door, route: { to: z }, on: { reject: { to: a } } }\n  y: { final: failed }\n  z: { final: completed }\n",
    )
    .expect("a definition");
    let drawn = mermaid(&definition, &BTreeSet::new());
    insta::assert_snapshot!(drawn, @r#"
    flowchart TD
        begin((" "))
        s0["Begin"]
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
