//! The load-time proof: steps, files, gates and rounds. `§` marks the place of the fault.

use crate::marked::{END, accepts, each, faults, refuses, states, with};

/// A state `a` like this, with more keys at the top.
fn one(top: &str, a: &str) -> String {
    let body = format!("a: {{ {a} }}\n{END}");
    if top.is_empty() {
        states(&body)
    } else {
        with(top, &body)
    }
}

const WORK: &str = "work: {}, to: z";

#[test]
fn a_counter_is_a_var_that_counts() {
    accepts(&one("vars: { n: int }\ncounter: n", WORK));
    refuses("unknown_name", &one("counter: §n", WORK));
    refuses(
        "unknown_name",
        &one("vars: { n: number }\ncounter: §n", WORK),
    );
    let fault = refuses(
        "unknown_name",
        &one("inputs: { n: int }\ncounter: §n", WORK),
    );
    assert_eq!(fault.help, "declare it: `vars: { n: int }`");
}

#[test]
fn gates_are_declared_used_and_of_a_known_mode() {
    let gated = "gate: door, work: {}, to: z";
    accepts(&one("gates: { door: human }", gated));
    accepts(&one(
        "gates: { door: auto }",
        "gate: door, route: { to: z }",
    ));
    accepts(&one(
        "gates: { door: auto }",
        "gate: door, do: tag.switch, to: z",
    ));
    accepts(&one(
        "inputs: { mode: [auto, human] }\ngates: { door: =inputs.mode }",
        gated,
    ));
    for mode in [
        "human",
        "terminal",
        "signed",
        "{ by: person }",
        "{ by: person, strength: signed }",
    ] {
        accepts(&one(&format!("gates: {{ door: {mode} }}"), gated));
    }
    for mode in ["closed", "true", "3", "~"] {
        refuses(
            "unreadable",
            &one(&format!("gates: {{ §door: {mode} }}"), gated),
        );
    }
    for mode in [
        "{ by: §robot }",
        "{ §strength: signed }",
        "{ by: person, strength: §loud }",
        "{ by: person, §since: monday }",
    ] {
        refuses(
            "unreadable",
            &one(&format!("gates: {{ door: {mode} }}"), gated),
        );
    }
    refuses("bad_expression", &one("gates: { door: §=1 + 1 }", gated));
    refuses("bad_expression", &one("gates: { door: §=1 + }", gated));
    refuses(
        "unknown_name",
        &one("gates: { door: §=inputs.mode }", gated),
    );
    refuses(
        "unknown_name",
        &one("gates: { door: §=outcome.note }", gated),
    );
    let by_input = |kind: &str| {
        one(
            &format!("inputs: {{ who: {kind} }}\ngates: {{ door: §=inputs.who }}"),
            gated,
        )
    };
    refuses("not_a_mode", &by_input("string"));
    refuses("not_a_mode", &by_input("{ type: [human, nobody] }"));
    accepts(&by_input("{ type: [auto, signed] }").replace('§', ""));
    refuses("unused_gate", &one("gates: { §door: human }", WORK));
    refuses(
        "unused_gate",
        &one("gates: { door: human, §window: human }", gated),
    );
    let fault = refuses("unknown_gate", &one("", "gate: §door, work: {}, to: z"));
    assert_eq!(fault.help, "declare it: `gates: { door: human }`");
    let near = faults(&one("gates: { door: human }", "gate: dor, work: {}, to: z"));
    let near: Vec<(&str, &str)> = near.iter().map(|f| (f.rule, f.help.as_str())).collect();
    assert!(
        near.contains(&("unknown_gate", "did you mean `door`?")),
        "{near:?}"
    );
}

#[test]
fn a_gate_stands_where_a_person_can_look() {
    refuses(
        "misplaced_key",
        &with(
            "gates: { door: human }",
            "a: { work: {}, to: z }\nz: { gate: §door, final: completed }",
        ),
    );
    let gates =
        |nested: &str| each(nested).replace("initial: a\n", "initial: a\ngates: { door: human }\n");
    refuses(
        "misplaced_key",
        &gates("c: { gate: §door, work: {}, to: d }\nd: { final: completed }"),
    );
    refuses(
        "misplaced_key",
        &gates("c: { work: {}, to: d }\nd: { final: completed }")
            .replace("  b:\n", "  b:\n    gate: §door\n"),
    );
    accepts(&one(
        "gates: { door: human }",
        "gate: door, work: {}, to: z, on: { reject: { to: a } }",
    ));
    refuses(
        "misplaced_key",
        &one(
            "gates: { door: human }",
            "gate: door, work: {}, to: z, on: { reject: [ §{ check: history_rewritten }, { to: a } ] }",
        ),
    );
    refuses(
        "misplaced_key",
        &one(
            "gates: { door: human }",
            "gate: door, work: {}, to: z, on: { reject: §{ pause: hm } }",
        ),
    );
}

#[test]
fn a_run_of_single_steps_has_no_items() {
    let items = each("c: { work: {}, to: d }\nd: { final: completed }");
    accepts(&items);
    refuses(
        "misplaced_key",
        &items
            .replace("initial: a\n", "initial: a\nadvance: manual\n")
            .replace("  b:\n", "  §b:\n"),
    );
    refuses(
        "misplaced_key",
        &one("", "work: { issue: step }, to: z").replace("  a:", "  §a:"),
    );
    accepts(&one("advance: manual", "work: { issue: step }, to: z"));
    accepts(&one("advance: auto", "work: { issue: entry }, to: z"));
    // Where every transition is asked for, going round is no fault.
    let round =
        "a: { route: [ { when: run.paused == '', to: b }, { to: z } ] }\nb: { route: { to: a } }";
    accepts(&with("advance: manual", &format!("{round}\n{END}")));
    refuses("circle", &states(&format!("§{round}\n{END}")));
    accepts(&states(&format!(
        "{}\n{END}",
        round.replace("b: { ", "b: { advance: manual, ")
    )));
    // Items go on by themselves, and an end is none.
    let by_steps = items.replace("initial: a\n", "initial: a\nadvance: manual\n");
    accepts(&by_steps.replace("each: {", "advance: auto\n    each: {"));
    refuses(
        "misplaced_key",
        &items.replace("c: { work", "c: { advance: §manual, work"),
    );
    refuses(
        "misplaced_key",
        &states(&format!("a: {{ work: {{}}, to: z }}\n{END}"))
            .replace("z: {", "z: { advance: §manual,"),
    );
}

#[test]
fn files_of_a_run_lie_in_its_folder() {
    let vars = "vars: { n: int, name: string }";
    let response = |file: &str| one(vars, &format!("work: {{ response: §'{file}' }}, to: z"));
    for good in [
        "a",
        "a.md",
        "in/a-b_c.1.md",
        "round-{n}/a.md",
        "{n}",
        "{n}-{n}.md",
        "plan.md",
    ] {
        accepts(&response(good).replace('§', ""));
    }
    for bad in [
        "",
        "/etc/passwd",
        "../a.md",
        "a/../b.md",
        "./a.md",
        "a//b.md",
        "a/",
        ".hidden",
        "a/.git/b",
        "a b.md",
        "a\\b.md",
        "a:b.md",
        "ü.md",
        "{n",
        "{m}.md",
        "{name}.md",
        "{}.md",
        "a}.md",
        "state.json",
        "State.JSON",
        "activity.jsonl",
        "manifest.json",
        "workflow.yaml/a.md",
        "evidence/a.md",
        "Evidence/a.md",
        "lock",
        "steps.lock",
        "test-results/a.md",
    ] {
        refuses("bad_pattern", &response(bad));
    }
    refuses("bad_pattern", &response(&"a".repeat(129)));
    refuses(
        "bad_pattern",
        &one("", "work: { prompt: §../p.md, response: r.md }, to: z"),
    );
}

#[test]
fn a_prompt_has_a_response_beside_it() {
    accepts(&one("", "work: { response: r.md }, to: z"));
    accepts(&one("", "work: { prompt: p.md, response: r.md }, to: z"));
    refuses(
        "misplaced_key",
        &one("", "work: { prompt: p.md }, to: z").replace("  a:", "  §a:"),
    );
    refuses(
        "bad_pattern",
        &one("", "work: { prompt: p.md, response: §p.md }, to: z"),
    );
    refuses(
        "bad_pattern",
        &one("", "work: { prompt: p.md, response: §P.md }, to: z"),
    );
    let next = "\n  b: { work: { prompt: P.md, response: s.md }, to: z }";
    refuses(
        "bad_pattern",
        &one("", "work: { response: §p.md }, to: b").replace("\n  z:", &format!("{next}\n  z:")),
    );
    refuses(
        "misplaced_key",
        &each("c: { work: { response: §r.md }, to: d }\nd: { final: completed }"),
    );
    refuses(
        "misplaced_key",
        &each("c: { work: { prompt: §p.md, response: r.md }, to: d }\nd: { final: completed }"),
    );
}

const YES: &str =
    "expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: z } }";

#[test]
fn otherwise_only_leads_on() {
    accepts(&one("otherwise: { to: a }", YES));
    accepts(&one("otherwise: [ { warn: hm }, { refuse: no } ]", YES));
    accepts(&one("otherwise: { pause: no }", YES));
    accepts(&one(
        "vars: { n: int }\notherwise: { set: { n: =vars.n + 1 }, emit: 'a:b', reason: =outcome.note, to: a }",
        YES,
    ));
    for acts in [
        "do: tag.switch, to: a",
        "retry: no",
        "add: { parts: { id: x } }, to: a",
        "load: { parts: =outcome.files }, to: a",
    ] {
        refuses(
            "misplaced_key",
            &one(
                &format!(
                    "items: {{ parts: {{ key: id, fields: {{ id: string }} }} }}\notherwise: [ §{{ {acts} }} ]"
                ),
                YES,
            ),
        );
    }
    refuses("dangling_target", &one("otherwise: { to: §y }", YES));
    refuses(
        "unknown_name",
        &one(
            "otherwise: [ { when: §tests.failed > 0, to: a }, { to: a } ]",
            YES,
        ),
    );
}

#[test]
fn otherwise_counts_as_a_way_on() {
    // It covers what a state's own edges leave open, and leads to states that nothing else leads to.
    accepts(&with(
        "otherwise: { to: y }",
        &format!("a: {{ {YES} }}\n{END}\ny: {{ final: failed }}"),
    ));
    accepts(&with(
        "otherwise: { to: z }",
        "a: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'x', to: a } } }\nz: { final: completed }",
    ));
    refuses(
        "no_edge_matches",
        &one(
            "otherwise: { when: outcome.outcome == 'no', to: z }",
            "expects: outcome, work: {}, on: { report: { when: §outcome.outcome == 'yes', to: z } }",
        ),
    );
    // A state that reads nothing has none of it.
    refuses(
        "no_edge_matches",
        &with(
            "otherwise: { to: z }",
            &format!(
                "a: {{ work: {{}}, on: {{ report: {{ when: §run.paused == 'x', to: b }} }} }}\nb: {{ {YES} }}\n{END}"
            ),
        ),
    );
    refuses(
        "circle",
        &with(
            "otherwise: { to: a }",
            &format!(
                "§a: {{ expects: outcome, route: {{ when: outcome.outcome == 'yes', to: z }} }}\n{END}"
            ),
        ),
    );
}

#[test]
fn otherwise_is_tried_somewhere_and_told_of_once() {
    refuses("unreachable_edge", &one("otherwise: [ §{ to: a } ]", WORK));
    // Two states that read, one fault.
    refuses(
        "unknown_name",
        &with(
            "otherwise: { when: §outcome.outcom == 'no', to: z }",
            &format!(
                "a: {{ {} }}\nb: {{ {YES} }}\n{END}",
                YES.replace("to: z", "to: b")
            ),
        ),
    );
    refuses(
        "unreachable_edge",
        &one("otherwise: [ { to: a }, §{ refuse: no } ]", YES),
    );
    refuses(
        "two_verdicts",
        &one("otherwise: [ §{ refuse: no, to: a } ]", YES),
    );
}

#[test]
fn items_cannot_leave_by_otherwise() {
    let nested = "c: { expects: outcome, work: {}, on: { report: { when: outcome.outcome == 'yes', to: d } } }\nd: { final: completed }";
    let items = |otherwise: &str| {
        each(nested)
            .replace(
                "expects: survey, route: [ { load: { parts: =survey.subtasks }, to: b } ]",
                "work: {}, to: b",
            )
            .replace(
                "initial: a\n",
                &format!("initial: a\notherwise: {otherwise}\n"),
            )
    };
    accepts(&items("{ refuse: what }"));
    accepts(&items("{ pause: what }"));
    refuses("crossing_target", &items("{ to: §z }"));
}

#[test]
fn what_is_told_of_a_transition_needs_one() {
    let reads = |edge: &str| {
        one(
            "",
            &format!("expects: outcome, work: {{}}, on: {{ report: [ {edge}, {{ to: z }} ] }}"),
        )
    };
    for edge in [
        "§{ when: outcome.note == '', outcome: x, refuse: no }",
        "§{ when: outcome.note == '', reason: x, refuse: no }",
        "§{ when: outcome.note == '', reason: x, pause: no }",
        "§{ when: outcome.note == '', outcome: x, retry: no }",
        "§{ outcome: x, warn: no }",
        "§{ when: outcome.note == '', with: { a: 1 }, to: z }",
        "§{ when: outcome.note == '', with: { a: 1 }, refuse: no }",
    ] {
        refuses("misplaced_key", &reads(edge));
    }
    accepts(&reads(
        "{ when: outcome.note == '', outcome: x, reason: =outcome.note, do: tag.switch, with: { a: =outcome.note, b: 1 }, to: z }",
    ));
    accepts(&reads(
        "{ when: outcome.note == '', outcome: x, reason: y, retry: no, to: a }",
    ));
    refuses(
        "bad_expression",
        &reads("{ when: outcome.note == '', reason: §=size(outcome.files), to: z }"),
    );
    refuses(
        "bad_value",
        &reads("§{ when: outcome.note == '', reason: 7, to: z }"),
    );
    refuses(
        "unknown_name",
        &reads("{ when: outcome.note == '', reason: §=outcome.nte, to: z }"),
    );
    refuses(
        "unknown_name",
        &reads("{ when: outcome.note == '', do: tag.switch, with: { a: §=vars.n }, to: z }"),
    );
    refuses(
        "bad_expression",
        &reads("{ when: outcome.note == '', do: tag.switch, with: { a: §=1 + }, to: z }"),
    );
}

#[test]
fn a_step_back_out_of_a_pause_may_stay_where_it_is() {
    let reopen = |edge: &str| {
        one(
            "vars: { n: int }",
            &format!("work: {{}}, to: z, on: {{ reopen: [ {edge}, {{ to: a }} ] }}"),
        )
    };
    accepts(&reopen(
        "{ when: command.maxIterations > 0, set: { n: =command.maxIterations } }",
    ));
    accepts(&reopen("{ when: run.paused == 'x' }"));
    refuses(
        "no_verdict",
        &reopen("§{ set: { n: 1 } }").replace(", { to: a } ]", " ]"),
    );
    refuses(
        "no_verdict",
        &reopen("§{ when: run.paused == 'x', do: tag.switch }"),
    );
    refuses(
        "unknown_name",
        &reopen("{ when: §command.maxIteration > 0, to: a }"),
    );
    refuses(
        "bad_expression",
        &reopen("{ when: §command.maxIterations, to: a }"),
    );
}

#[test]
fn the_new_keys_take_only_their_words() {
    for text in [
        one("advance: slowly", WORK),
        one("", "work: { issue: later }, to: z"),
        one("gates: door", WORK),
        one("counter: [n]", WORK),
        one("", "work: { response: [a] }, to: z"),
    ] {
        let found = faults(&text);
        assert_eq!(found[0].rule, "unreadable", "{text}");
        assert!(found[0].at.line > 0, "{text}");
    }
}
