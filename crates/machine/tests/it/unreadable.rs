//! Text that is no definition, hostile text, and how faults are drawn.

use std::fmt::Write as _;

use insta::assert_snapshot;
use machine::Definition;

use crate::marked::{accepts, drawn, edges, faults, refuses, states};
use crate::support::catalog;

#[test]
fn faults_are_drawn() {
    assert_snapshot!(drawn(&states("a: { work: {}, to: zz }")), @r"
    error[dangling_target]: there is no state `zz`
     --> x.yaml:6:22
      |
    6 |   a: { work: {}, to: zz }
      |                      ^
      = help: did you mean `z`?
    ");
    // A long line is cut around the place.
    assert_snapshot!(drawn(&edges(&format!("{{ when: 'tests.failed > 0{}', refuse: x }}, {{ refuse: y, to: z }}", " || true".repeat(20)))), @r"
    error[two_verdicts]: this edge says two things at once
     --> x.yaml:6:251
      |
    6 | ue || true || true || true || true', refuse: x }, { refuse: y, to: z } ] } }
      |                                                   ^
      = help: one of `refuse`, `retry`, `pause` and `to`; only `retry` may have a `to` beside it
    ");
}

const WORK: &str = "a: { work: {}, to: z }";

#[test]
fn text_that_is_no_definition() {
    let body = states(WORK);
    accepts(&format!("\u{feff}{body}"));
    accepts(&body.replace('\n', "\r\n"));
    accepts(&format!("# a comment\n---\n{body}"));
    for text in ["§", "# nothing\n§", "§- a\n", "§~\n", "§words\n"] {
        refuses("unreadable", text);
    }
    for (rule, from, to) in [
        ("unreadable", "  z:", "   §z:"),
        ("unreadable", "  z:", "\t§z:"),
        ("unreadable", "title: X", "title: X\n§inital: b"),
        ("unreadable", "title: X", "title: X\n§title: Y"),
        ("unreadable", "title: X", "§titel: X"),
        ("unreadable", "  z:", "  §a: { work: {}, to: z }\n  z:"),
        ("unreadable", "title: X", "title: §\u{0}"),
        ("unreadable", "final: completed", "final: §complete"),
        ("unreadable", "initial: a", "vars: { x: §text }\ninitial: a"),
        ("unreadable", "initial: a", "vars: { x: §[] }\ninitial: a"),
        ("unknown_version", "tramline: 1", "tramline: §2"),
        ("unreadable", "tramline: 1", "tramline: §one"),
        ("unreadable", "id: x", "id: §{ a: b }"),
    ] {
        refuses(rule, &body.replace(from, to));
    }
    let untitled = body.replace("title: X\n", "");
    refuses("unreadable", &untitled.replace("states:", "§states:"));
    refuses("unreadable", &format!("{body}---\n§{body}"));
    refuses("too_large", &format!("§{body}# {}", "x".repeat(300 * 1024)));
}

#[test]
fn only_true_and_false_are_truth_values() {
    let vars = |values: &str| {
        states(WORK).replace("initial: a", &format!("vars: {{ {values} }}\ninitial: a"))
    };
    for word in ["yes", "no", "on", "off", "y", "n", "Yes", "NO"] {
        accepts(&vars(&format!(
            "x: {{ type: string, default: {word} }}, y: {{ type: [{word}] }}"
        )));
        let truth = format!("§x: {{ type: bool, default: {word} }}");
        refuses("bad_default", &vars(&truth));
    }
    for word in ["true", "false"] {
        accepts(&vars(&format!("x: {{ type: bool, default: {word} }}")));
    }
}

#[test]
fn a_tag_opens_no_file() {
    for tag in ["!include", "!!include", "!file"] {
        let text = states(WORK).replace("title: X", &format!("title: {tag} Cargo.toml"));
        if let Ok(definition) = Definition::load(&text, &catalog()) {
            assert_eq!(definition.title, "Cargo.toml");
        }
    }
}

#[test]
fn hostile_text_is_a_fault_with_a_place() {
    let head = "tramline: 1\nid: x\ntitle: X\ninitial: a\n";
    let bomb = |key: &str| {
        let mut text = format!("{head}{key}:\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for i in 1..9 {
            let aliases = vec![format!("*a{}", i - 1); 9].join(",");
            let _ = writeln!(text, "  a{i}: &a{i} [{aliases}]");
        }
        text
    };
    let many = (0..190).fold(String::new(), |all, i| all + &format!(", b{i}: *a"));
    let x = "x,".repeat(3000);
    let each = "{ a: { each: { items: x, initial: a }, states: ";
    for text in [
        bomb("vars"),
        bomb("states"),
        bomb("nothing"),
        format!("{head}vars: {{ a: &a [{x}]{many} }}\nstates: {{}}\n"),
        format!("{head}states: {}", "[".repeat(100_000)),
        format!("{head}states: {}", "{a: ".repeat(50_000)),
        format!("{head}states: {}", each.repeat(2000)),
        "&a [*a]".to_owned(),
        format!("{head}vars: &v {{ x: *v }}\nstates: {{}}\n"),
        "\u{feff}".to_owned(),
        "---\n...\n---\n".to_owned(),
        "%YAML 9.9\n---\n".to_owned(),
        "? [a, b]\n: c\n".to_owned(),
        "\"".to_owned(),
        "{".to_owned(),
        ": : :".to_owned(),
        "tramline: 1e999".to_owned(),
        "tramline: -1".to_owned(),
        "tramline: 99999999999999999999999".to_owned(),
    ] {
        let found = faults(&text);
        let [fault] = &found[..] else {
            panic!("{text:.60}: {found:?}");
        };
        let is_placed = fault.at.line > 0 && fault.at.column > 0;
        assert!(is_placed && fault.render("x.yaml", &text).len() < 2000);
    }
}

#[test]
fn a_large_definition_is_proved_in_no_time() {
    let mut chain = String::new();
    for i in 0..1500 {
        let _ = writeln!(chain, "  s{i}: {{ route: {{ to: s{} }} }}", i + 1);
    }
    let head = "tramline: 1\nid: x\ntitle: X\ninitial: s0\nstates:\n";
    let text = format!("{head}{chain}  s1500: {{ final: completed }}\n");
    accepts(&text);
    let round = text.replace(
        "final: completed",
        "route: [ { when: run.paused == '', to: s0 }, { to: z } ]",
    ) + "  z: { final: completed }\n";
    assert_eq!(faults(&round).len(), 1);
}
