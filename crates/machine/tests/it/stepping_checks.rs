//! The load-time proof: steps, files, gates and rounds. `§` marks the place of the fault.

use crate::marked::{accepts, each, faults, proves, refuses, states, with};

/// A state `a` like this, with more keys at the top.
fn one(top: &str, a: &str) -> String {
    with(top, &format!("a: {{ {a} }}"))
}

const WORK: &str = "work: {}, to: z";
const GATED: &str = "gate: door, work: {}, to: z";
const DOOR: &str = "gates: { door: human }";
const ITEM: &str = "c: { work: {}, to: d }";

#[test]
fn gates_are_declared_used_and_of_a_known_mode() {
    for row in [
        "door: human",
        "door: terminal",
        "door: signed",
        "door: { by: person }",
        "door: { by: person, strength: signed }",
        "§door: closed # unreadable",
        "§door: true # unreadable",
        "§door: 3 # unreadable",
        "§door: ~ # unreadable",
        "door: { by: §robot } # unreadable",
        "door: { §strength: signed } # unreadable",
        "door: { by: person, strength: §loud } # unreadable",
        "door: { by: person, §since: monday } # unreadable",
        "door: §=1 + 1 # bad_expression",
        "door: §=1 + # bad_expression",
        "door: §=inputs.mode # unknown_name",
        "door: §=outcome.note # unknown_name",
        "door: human, §window: human # unused_gate",
    ] {
        proves(row, |gates| one(&format!("gates: {{ {gates} }}"), GATED));
    }
    let by_input = |row: &str| one(&format!("inputs: {{ who: {row}=inputs.who }}"), GATED);
    for row in [
        "[auto, human] }\ngates: { door: ",
        "{ type: [auto, signed] } }\ngates: { door: ",
        "string }\ngates: { door: § # not_a_mode",
        "{ type: [human, nobody] } }\ngates: { door: § # not_a_mode",
    ] {
        proves(row, by_input);
    }
    for (top, a) in [
        ("gates: { door: auto }", "gate: door, route: { to: z }"),
        ("gates: { door: auto }", "gate: door, do: tag.switch, to: z"),
    ] {
        accepts(&one(top, a));
    }
    refuses("unused_gate", &one("gates: { §door: human }", WORK));
    refuses("unknown_gate", &one("", &GATED.replace("door", "§door")));
    let near = faults(&one(DOOR, "gate: dor, work: {}, to: z"));
    let mut near = near.iter().map(|fault| (fault.rule, fault.help.as_str()));
    assert!(near.any(|told| told == ("unknown_gate", "did you mean `door`?")));
}

#[test]
fn steps_counters_gates_and_files_stand_where_they_can() {
    let items = each(ITEM);
    accepts(&items);
    let by_steps = items.replace("initial: a\n", "initial: a\nadvance: manual\n");
    refuses("misplaced_key", &by_steps.replace("  b:\n", "  §b:\n"));
    // Items go on by themselves, and an end is none.
    accepts(&by_steps.replace("each: {", "advance: auto\n    each: {"));
    let nested = items.replace("c: { work", "c: { advance: §manual, work");
    refuses("misplaced_key", &nested);
    let issue = "work: { issue: step }, to: z";
    accepts(&one("advance: manual", issue));
    accepts(&one("advance: auto", "work: { issue: entry }, to: z"));
    // Where every transition is asked for, going round is no fault.
    let round =
        "a: { route: [ { when: run.paused == '', to: b }, { to: z } ] }\nb: { route: { to: a } }";
    accepts(&with("advance: manual", round));
    for row in [
        "§a: { work: { issue: step }, to: z } # misplaced_key",
        "a: { work: {}, to: z }\nz: { advance: §manual, final: completed } # misplaced_key",
        &format!("§{round} # circle"),
        &round.replace("b: { ", "b: { advance: manual, "),
        // A counter is a var that counts.
        "vars: { n: int }\ncounter: n",
        "counter: §n # unknown_name",
        "vars: { n: number }\ncounter: §n # unknown_name",
        "inputs: { n: int }\ncounter: §n # unknown_name",
        // A gate stands where a person can look.
        "gates: { door: human }\na: { work: {}, to: z }\nz: { gate: §door, final: completed } # misplaced_key",
        "gates: { door: human }\na: { gate: door, work: {}, to: z, on: { reject: [ §{ check: stuck }, { to: a } ] } } # misplaced_key",
        "gates: { door: human }\na: { gate: door, work: {}, to: z, on: { reject: §{ pause: hm } } } # misplaced_key",
        "gates: { door: human }\na: { gate: door, work: {}, to: z, on: { reject: { to: a } } }",
        // A prompt has a response beside it.
        "a: { work: { prompt: §../p.md, response: r.md }, to: z } # bad_pattern",
        "a: { work: { prompt: p.md, response: §p.md }, to: z } # bad_pattern",
        "a: { work: { prompt: p.md, response: §P.md }, to: z } # bad_pattern",
        "a: { work: { response: §p.md }, to: b }\nb: { work: { prompt: P.md, response: s.md }, to: z } # bad_pattern",
        "a: { work: { response: r.md }, to: z }",
        "a: { work: { prompt: p.md, response: r.md }, to: z }",
        "§a: { work: { prompt: p.md }, to: z } # misplaced_key",
    ] {
        proves(row, states);
    }
    for (from, to) in [
        ("c: { work", "c: { gate: §door, work"),
        ("  b:\n", "  b:\n    gate: §door\n"),
        ("c: { work: {}", "c: { work: { response: §r.md }"),
        (
            "c: { work: {}",
            "c: { work: { prompt: §p.md, response: r.md }",
        ),
    ] {
        let top = if to.contains("gate") { DOOR } else { "" };
        let text = items.replace("initial: a\n", &format!("initial: a\n{top}\n"));
        refuses("misplaced_key", &text.replace(from, to));
    }
}

#[test]
fn files_of_a_run_lie_in_its_folder() {
    let vars = "vars: { n: int, name: string }";
    let response = |file: &str| one(vars, &format!("work: {{ response: {file} }}, to: z"));
    for good in ["a", "a.md", "{n}", "plan.md", "in/a-b_c.1.md", "{n}-{n}.md"] {
        accepts(&response(&format!("'{good}'")));
    }
    let long = "a".repeat(129);
    let shapes = [
        "", "/a/b", "../a.md", "a/../b", "./a.md", "a//b.md", "a/", ".hidden", "a/.git/b",
        "a b.md", "a\\b.md", "a:b.md", "ü.md", "{n", "{m}.md", "{name}", "{}.md", "a}.md", "lock",
        &long,
    ];
    // What the engine keeps there itself.
    let taken = [
        "State.JSON",
        "activity.jsonl",
        "manifest.json",
        "workflow.yaml/a.md",
        "Evidence/a.md",
        "steps.lock",
        "test-results/a.md",
    ];
    for bad in shapes.into_iter().chain(taken) {
        refuses("bad_pattern", &response(&format!("§'{bad}'")));
    }
}

const YES: &str =
    "expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: z } }";

#[test]
fn otherwise_only_leads_on() {
    let framed = |otherwise: &str| {
        let items = "items: { parts: { key: id, fields: { id: string } } }";
        let top = format!("vars: {{ n: int }}\n{items}\notherwise: {otherwise}");
        one(&top, YES)
    };
    for row in [
        "[ { when: §tests.failed > 0, to: a }, { to: a } ] # unknown_name",
        "{ to: a }",
        "[ { warn: hm }, { refuse: no } ]",
        "{ pause: no }",
        "{ set: { n: =vars.n + 1 }, emit: 'a:b', reason: =outcome.note, to: a }",
        "[ §{ do: tag.switch, to: a } ] # misplaced_key",
        "[ §{ retry: no } ] # misplaced_key",
        "[ §{ add: { parts: { id: x } }, to: a } ] # misplaced_key",
        "[ §{ load: { parts: =outcome.files }, to: a } ] # misplaced_key",
        "{ to: §y } # dangling_target",
        "[ { to: a }, §{ refuse: no } ] # unreachable_edge",
        "[ §{ refuse: no, to: a } ] # two_verdicts",
    ] {
        proves(row, framed);
    }
}

#[test]
fn otherwise_counts_as_a_way_on() {
    let framed = |row: &str| {
        let (otherwise, text) = row.split_once('\n').unwrap();
        let text = text.replace("YES", YES);
        with(&format!("otherwise: {otherwise}"), &text)
    };
    for row in [
        // It covers what a state's own edges leave open, and leads to states that nothing else leads to.
        "{ to: y }\na: { YES }\ny: { final: failed }",
        "{ to: z }\na: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'x', to: a } } }",
        "{ when: outcome.outcome == 'no', to: z }\na: { expects: outcome, work: {}, on: { report: { when: §outcome.outcome == 'yes', to: z } } } # no_edge_matches",
        // A state that reads nothing has none of it.
        "{ to: z }\na: { work: {}, on: { report: { when: §run.paused == 'x', to: b } } }\nb: { YES } # no_edge_matches",
        "{ to: a }\n§a: { expects: outcome, route: { when: outcome.outcome == 'yes', to: z } } # circle",
        // It is tried somewhere, and where two states read it is one fault.
        "[ §{ to: a } ]\na: { work: {}, to: z } # unreachable_edge",
        "{ when: §outcome.outcom == 'no', to: z }\na: { expects: outcome, work: {}, to: b }\nb: { YES } # unknown_name",
    ] {
        proves(row, framed);
    }
}

#[test]
fn what_is_told_of_a_transition_needs_one() {
    let framed = |edge: &str| {
        let edge = edge.replace("WHEN", "when: outcome.note == ''");
        let report = format!("report: [ {edge}, {{ to: z }} ]");
        let a = format!("expects: outcome, work: {{}}, on: {{ {report} }}");
        one("", &a)
    };
    for row in [
        "{ WHEN, reason: §=size(outcome.files), to: z } # bad_expression",
        "{ WHEN, do: tag.switch, with: { a: §=1 + }, to: z } # bad_expression",
        "§{ WHEN, outcome: x, refuse: no } # misplaced_key",
        "§{ WHEN, reason: x, refuse: no } # misplaced_key",
        "§{ WHEN, reason: x, pause: no } # misplaced_key",
        "§{ WHEN, outcome: x, retry: no } # misplaced_key",
        "§{ outcome: x, warn: no } # misplaced_key",
        "§{ WHEN, with: { a: 1 }, to: z } # misplaced_key",
        "§{ WHEN, with: { a: 1 }, refuse: no } # misplaced_key",
        "{ WHEN, outcome: x, reason: =outcome.note, do: tag.switch, with: { a: =outcome.note, b: 1 }, to: z }",
        "{ WHEN, outcome: x, reason: y, retry: no, to: a }",
        "§{ WHEN, reason: 7, to: z } # bad_value",
        "{ WHEN, reason: §=outcome.nte, to: z } # unknown_name",
        "{ WHEN, do: tag.switch, with: { a: §=vars.n }, to: z } # unknown_name",
    ] {
        proves(row, framed);
    }
}

#[test]
fn a_step_back_out_of_a_pause_may_stay_where_it_is() {
    let framed = |reopen: &str| {
        let a = format!("{WORK}, on: {{ reopen: [ {reopen} ] }}");
        one("vars: { n: int }", &a)
    };
    for row in [
        "{ when: §command.maxIteration > 0, to: a }, { to: a } # unknown_name",
        "{ when: §command.maxIterations, to: a }, { to: a } # bad_expression",
        "{ when: command.maxIterations > 0, set: { n: =command.maxIterations } }, { to: a }",
        "{ when: run.paused == 'x' }, { to: a }",
        "§{ set: { n: 1 } } # no_verdict",
        "§{ when: run.paused == 'x', do: tag.switch }, { to: a } # no_verdict",
    ] {
        proves(row, framed);
    }
}
