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
