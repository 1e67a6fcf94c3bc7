//! The load-time proof, rule by rule. `§` marks the place that the fault must be shown at.

use rails::Definition;

use crate::marked::{END, accepts, each, edges, faults, refuses, states, with};
use crate::support::catalog;

#[test]
fn small_definitions_pass() {
    accepts(&states(&format!("a: {{ work: {{}}, to: z }}\n{END}")));
    accepts(&edges(
        "{ when: tests.failed > 0, refuse: failing }, { to: z }",
    ));
    accepts(&each(
        "c: { expects: tests, work: {}, on: { report: [ { set: { item.n: =tests.failed }, to: d } ] } }\nd: { final: completed }",
    ));
    accepts(&with(
        "on: { abort: [ { when: command.cleanup, do: branch.delete, to: y }, { to: y } ] }",
        &format!(
            "a: {{ do: tag.switch, to: b }}\nb: {{ work: {{ by: person }}, to: z }}\n{END}\ny: {{ final: aborted, do: [tag.restore] }}"
        ),
    ));
}

#[test]
fn shape() {
    refuses(
        "bad_name",
        &states(&format!("a: {{ work: {{}}, to: z }}\n{END}")).replace("id: x", "id: §x y"),
    );
    refuses(
        "bad_name",
        &states("a: { work: {}, to: 1st }\n§1st: { final: completed }"),
    );
    refuses(
        "bad_event",
        &with(
            "on: { §report: { to: z } }",
            &format!("a: {{ work: {{}}, to: z }}\n{END}"),
        ),
    );
    refuses(
        "no_kind",
        &states(&format!(
            "a: {{ work: {{}}, to: z }}\n§b: {{ label: B }}\n{END}"
        )),
    );
    refuses(
        "two_kinds",
        &states(&format!(
            "§a: {{ work: {{}}, route: [ {{ to: z }} ], to: z }}\n{END}"
        )),
    );
    refuses(
        "no_end",
        &states("a: { work: {}, to: a }").replace("initial: a", "initial: §a"),
    );
    refuses(
        "nested_each",
        &each(
            "c: { work: {}, to: d }\nd: { final: completed }\n§e: { each: { items: parts, initial: f }, on: { done: { to: d } }, states: { f: { final: completed } } }",
        ),
    );
    refuses(
        "duplicate_state",
        &each("c: { work: {}, to: d }\nd: { final: completed }\n§a: { work: {}, to: d }"),
    );
    refuses(
        "misplaced_key",
        &states(&format!(
            "§a: {{ expects: tests, do: tag.switch, to: z }}\n{END}"
        )),
    );
    refuses(
        "misplaced_key",
        &states("a: { work: {}, to: z }\n§z: { final: completed, on: { abort: { to: a } } }"),
    );
    refuses(
        "misplaced_key",
        &states(&format!(
            "§a: {{ work: {{}}, to: z, states: {{ b: {{ final: completed }} }} }}\n{END}"
        )),
    );
    refuses(
        "misplaced_key",
        &states(&format!("§a: {{ route: [ {{ to: z }} ], to: z }}\n{END}")),
    );
    refuses(
        "no_way_on",
        &states(&format!("§a: {{ work: {{}} }}\n{END}")),
    );
    refuses(
        "no_way_on",
        &states(&format!(
            "§a: {{ work: {{}}, to: z, on: {{ report: {{ to: z }} }} }}\n{END}"
        )),
    );
    refuses(
        "no_way_on",
        &states(&format!("§a: {{ do: tag.switch }}\n{END}")),
    );
    refuses("no_way_on", &states(&format!("§a: {{ route: [] }}\n{END}")));
    refuses(
        "no_way_on",
        &each("")
            .replace("  b:\n", "  §b:\n")
            .replace("    states:\n  z", "  z"),
    );
    refuses(
        "no_end",
        &each("c: { work: {}, to: c }").replace("  b:\n", "  §b:\n"),
    );
    refuses(
        "no_way_on",
        &each("c: { final: completed }")
            .replace("  b:\n", "  §b:\n")
            .replace("on: { done: { to: z } }", "on: {}"),
    );
}

#[test]
fn events_belong_to_kinds() {
    for event in ["done", "report", "reopen", "skip", "repotr"] {
        refuses(
            "bad_event",
            &states(&format!(
                "a: {{ route: [ {{ to: z }} ], on: {{ §{event}: {{ to: z }} }} }}\n{END}"
            )),
        );
    }
    refuses(
        "bad_event",
        &states(&format!(
            "a: {{ work: {{}}, to: z, on: {{ §done: {{ to: z }} }} }}\n{END}"
        )),
    );
    // What calls a run off is looked up where the run stands, never in an item.
    refuses(
        "bad_event",
        &each("c: { work: {}, to: d, on: { §abort: { to: d } } }\nd: { final: completed }"),
    );
    accepts(&states(&format!(
        "a: {{ work: {{}}, to: z, on: {{ abort: {{ to: y }}, skip: {{ to: z }}, reopen: {{ to: a }} }} }}\n{END}\ny: {{ final: aborted }}"
    )));
    let near = refuses(
        "bad_event",
        &states(&format!(
            "a: {{ work: {{}}, to: z, on: {{ §reopn: {{ to: z }} }} }}\n{END}"
        )),
    );
    assert_eq!(near.help, "did you mean `reopen`?");
}

#[test]
fn unit_patterns() {
    let body = format!("a: {{ work: {{}}, to: z }}\n{END}");
    let pattern = |item: &str, run: &str| {
        with(
            &format!("inputs: {{ name: string, n: int }}\nunit: {{ item: {item}, run: {run} }}"),
            &body,
        )
    };
    accepts(&pattern("'{inputs.name}-{key}-{STATE}'", "'{state}'"));
    refuses("bad_pattern", &pattern("'{key}-{state}'", "§'unit'"));
    refuses("bad_pattern", &pattern("§'{state}'", "'{state}'"));
    refuses(
        "bad_pattern",
        &pattern("'{key}-{state}'", "§'{key}-{state}'"),
    );
    refuses(
        "bad_pattern",
        &pattern("'{key}-{state}'", "§'{inputs.n}-{state}'"),
    );
    refuses(
        "bad_pattern",
        &pattern("'{key}-{state}'", "§'{vars.x}-{state}'"),
    );
}

#[test]
fn item_sets_and_fields() {
    let body = format!("a: {{ work: {{}}, to: z }}\n{END}");
    refuses(
        "bad_item_set",
        &with("items: { s: { key: §no, fields: { id: string } } }", &body),
    );
    refuses(
        "bad_item_set",
        &with("items: { s: { key: §id, fields: { id: int } } }", &body),
    );
    refuses(
        "bad_item_set",
        &with(
            "items: { s: { key: id, needs: §on, fields: { id: string, on: string } } }",
            &body,
        ),
    );
    refuses(
        "bad_name",
        &with(
            "items: { §vars: { key: id, fields: { id: string } } }",
            &body,
        ),
    );
    refuses(
        "bad_name",
        &with(
            "items: { §tests: { key: id, fields: { id: string } } }",
            &body,
        ),
    );
    refuses(
        "bad_name",
        &with(
            "items: { §sub-tasks: { key: id, fields: { id: string } } }",
            &body,
        ),
    );
    refuses(
        "bad_name",
        &with(
            "items: { s: { key: id, fields: { id: string, §in: bool } } }",
            &body,
        ),
    );
    refuses("bad_name", &with("inputs: { §a.b: string }", &body));
    refuses(
        "bad_name",
        &with("vars: { '§item.x': string }", &body).replace("'§item.x'", "§'item.x'"),
    );
    refuses(
        "bad_default",
        &with("vars: { §x: { type: int, default: many } }", &body),
    );
    refuses(
        "bad_default",
        &with("inputs: { §x: { type: [a, b], default: c } }", &body),
    );
    refuses(
        "bad_default",
        &with(
            "items: { s: { key: id, fields: { id: string, §n: { type: int, default: x } } } }",
            &body,
        ),
    );
    refuses(
        "bad_default",
        &with(
            "items: { s: { key: id, fields: { id: string, n: { type: int, default: §=1 + 1 } } } }",
            &body,
        ),
    );
    accepts(&with(
        "vars: { x: { type: int, default: =1 + 1 }, y: [string], w: [a, b] }\nitems: { s: { key: id, needs: on, fields: { id: string, on: [string] } } }",
        &body,
    ));
}

#[test]
fn names() {
    refuses(
        "unknown_section",
        &with(
            "config: §autopilto",
            &format!("a: {{ work: {{}}, to: z }}\n{END}"),
        ),
    );
    refuses(
        "dangling_target",
        &states(&format!("a: {{ work: {{}}, to: §y }}\n{END}")),
    );
    refuses(
        "dangling_target",
        &states(&format!("a: {{ work: {{}}, to: z }}\n{END}")).replace("initial: a", "initial: §b"),
    );
    refuses(
        "crossing_target",
        &each("c: { work: {}, to: §z }\nd: { final: completed }").replace(
            "c: { work: {}, to: §z }",
            "c: { work: {}, on: { report: [ { when: item.ok, to: d }, { to: §z } ] } }",
        ),
    );
    refuses(
        "crossing_target",
        &each("c: { work: {}, to: d }\nd: { final: completed }").replace(
            "done: { to: z }",
            "done: [ { when: vars.count > 0, to: §d }, { to: z } ]",
        ),
    );
    refuses(
        "unknown_reader",
        &states(&format!(
            "a: {{ expects: §test, work: {{}}, to: z }}\n{END}"
        )),
    );
    refuses(
        "unknown_effect",
        &states(&format!(
            "a: {{ do: [tag.switch, §git.brunch], to: z }}\n{END}"
        )),
    );
    refuses("unknown_effect", &edges("{ do: §git.comit, to: z }"));
    refuses(
        "unknown_policy",
        &edges("{ check: [history_rewritten, §histroy] }, { to: z }"),
    );
    refuses(
        "unknown_template",
        &states(&format!(
            "a: {{ work: {{ instructions: §rde.md }}, to: z }}\n{END}"
        )),
    );
    refuses(
        "unknown_set",
        &states(&format!(
            "a: {{ work: {{}}, on: {{ report: {{ add: {{ §parts: {{ id: x }} }}, to: z }} }} }}\n{END}"
        )),
    );
    refuses(
        "unknown_set",
        &each("c: { work: {}, to: d }\nd: { final: completed }")
            .replace("items: parts,", "items: §part,"),
    );
    refuses("unknown_name", &edges("{ set: { §x: 1 }, to: z }"));
    refuses("unknown_name", &edges("{ set: { §item.x: 1 }, to: z }"));
    refuses("bad_name", &edges("{ emit: §done, to: z }"));
    refuses(
        "bad_name",
        &edges("{ emit: [ 'a:b', §'run:ended' ], to: z }"),
    );
}

#[test]
fn a_broken_template_is_told_where_it_is_named() {
    let text = states(&format!(
        "a: {{ work: {{ instructions: red.md }}, to: z }}\n{END}"
    ));
    let mut catalog = catalog();
    catalog.templates.insert(
        "red.md".to_owned(),
        vec![(3, "there is no `tsk`".to_owned())],
    );
    let found = Definition::load(&text, &catalog).unwrap_err();
    assert_eq!(found[0].rule, "bad_template");
    assert_eq!((found[0].at.line, found[0].at.column), (6, 30));
    assert_eq!(
        found[0].message,
        "the template red.md is broken in line 3: there is no `tsk`"
    );
}

#[test]
fn what_edges_set_add_and_fill() {
    let edge = |edge: &str| {
        each(&format!(
            "c: {{ expects: tests, work: {{}}, on: {{ report: [ {{ {edge}, to: d }} ] }} }}\nd: {{ final: completed }}"
        ))
    };
    accepts(&edge(
        "set: { count: =vars.count + 1, item.n: 3, name: '' }",
    ));
    // The place is that of the very entry, not of the first one.
    refuses("unknown_name", &edge("set: { count: 1, §cuont: 2 }"));
    refuses("unknown_name", &edge("set: { count: 1, §item.m: 2 }"));
    refuses("bad_value", &edge("set: { count: 1, §name: 2 }"));
    refuses(
        "bad_value",
        &edge("set: { count: 1, §item.ok: yes please }"),
    );
    refuses("bad_value", &edge("set: { §item.id: x }"));
    refuses("bad_value", &edge("set: { §item.needs: =tests.files }"));
    refuses("bad_expression", &edge("set: { count: §=tests.level }"));
    accepts(&edge(
        "add: { parts: { id: ='x' + string(vars.count), kind: fix } }",
    ));
    refuses("bad_value", &edge("add: { §parts: { kind: fix } }"));
    refuses(
        "bad_value",
        &edge("add: { parts: { id: x, §kind: fixed } }"),
    );
    refuses(
        "unknown_name",
        &edge("add: { parts: { id: x, §kin: fix } }"),
    );
    refuses(
        "bad_expression",
        &edge("add: { parts: { id: §=vars.count } }"),
    );
    refuses("misplaced_key", &edge("load: { §parts: =tests.files }"));
    let filled = |with: &str| {
        each("c: { work: {}, to: d }\nd: { final: completed }")
            .replace("parts: =preflight.subtasks", with)
    };
    refuses("bad_value", &filled("§parts: all"));
    refuses("unknown_name", &filled("parts: §=preflight.subtask"));
    refuses("unknown_set", &filled("§part: =preflight.subtasks"));
}

#[test]
fn numbers_that_must_be_at_least_one() {
    refuses(
        "bad_value",
        &states(&format!("a: {{ work: {{ attempts: §0 }}, to: z }}\n{END}")),
    );
    refuses(
        "bad_value",
        &states(&format!(
            "a: {{ work: {{ attempts: §lots }}, to: z }}\n{END}"
        )),
    );
    refuses(
        "bad_expression",
        &states(&format!(
            "a: {{ work: {{ attempts: §=run.paused }}, to: z }}\n{END}"
        )),
    );
    accepts(&states(&format!(
        "a: {{ work: {{ attempts: 2 }}, to: z }}\n{END}"
    )));
    let nested = "c: { work: {}, to: d }\nd: { final: completed }";
    refuses(
        "bad_value",
        &each(nested).replace("initial: c", "initial: c, parallel: §0"),
    );
    accepts(&each(nested).replace("initial: c", "initial: c, parallel: 4"));
}

#[test]
fn edges_say_one_thing() {
    refuses(
        "unreachable_edge",
        &edges("{ to: z }, §{ when: tests.failed > 0, refuse: x }"),
    );
    accepts(&edges(
        "{ warn: hm }, { check: history_rewritten }, { to: z }",
    ));
    refuses("two_verdicts", &edges("§{ refuse: x, to: z }"));
    refuses(
        "two_verdicts",
        &edges("{ when: tests.failed > 0, retry: x, pause: y }, { to: z }").replace(
            "{ when: tests.failed > 0, r",
            "§{ when: tests.failed > 0, r",
        ),
    );
    refuses(
        "no_verdict",
        &edges("§{ when: tests.failed > 0, emit: 'a:b' }, { to: z }"),
    );
    refuses(
        "acts_without_moving",
        &edges("§{ when: tests.failed > 0, do: tag.switch, refuse: x }, { to: z }"),
    );
    refuses(
        "acts_without_moving",
        &edges("§{ when: tests.failed > 0, do: tag.switch, retry: x }, { to: z }"),
    );
    refuses(
        "acts_without_moving",
        &with(
            "vars: { n: int }",
            &format!(
                "a: {{ expects: tests, work: {{}}, on: {{ report: [ §{{ warn: x, set: {{ n: 1 }} }}, {{ to: z }} ] }} }}\n{END}"
            ),
        ),
    );
    refuses(
        "misplaced_key",
        &states(&format!(
            "a: {{ route: [ §{{ when: run.paused == '', retry: x }}, {{ to: z }} ] }}\n{END}"
        )),
    );
    refuses(
        "misplaced_key",
        &states(&format!(
            "a: {{ work: {{}}, to: z, on: {{ skip: [ §{{ check: history_rewritten }}, {{ to: z }} ] }} }}\n{END}"
        )),
    );
    refuses(
        "misplaced_key",
        &states(&format!(
            "a: {{ work: {{}}, to: z, on: {{ reopen: [ §{{ pause: x }} ] }} }}\n{END}"
        )),
    );
}

#[test]
fn a_single_edge_without_a_list_has_a_place_too() {
    refuses(
        "two_verdicts",
        &states(&format!(
            "a: {{ work: {{}}, on: {{ report: §{{ refuse: x, to: z }} }} }}\n{END}"
        )),
    );
    refuses(
        "two_verdicts",
        &states(&format!(
            "a:\n  work: {{}}\n  on:\n    report:\n      §refuse: x\n      to: z\n{END}"
        )),
    );
    refuses(
        "two_verdicts",
        &states(&format!("a: {{ route: §{{ refuse: x, to: z }} }}\n{END}")),
    );
    refuses(
        "unknown_effect",
        &states(&format!("a: {{ do: §git.brunch, to: z }}\n{END}")),
    );
}

#[test]
fn guards_mean_something() {
    refuses(
        "bad_expression",
        &edges("{ when: §'tests.failed >', refuse: x }, { to: z }"),
    );
    refuses(
        "bad_expression",
        &edges("{ when: §'', refuse: x }, { to: z }"),
    );
    refuses(
        "bad_expression",
        &edges("{ when: §tests.failed, refuse: x }, { to: z }"),
    );
    refuses(
        "bad_expression",
        &edges("{ when: §tests.failed > 'a', refuse: x }, { to: z }"),
    );
    refuses(
        "bad_expression",
        &edges("{ when: §tests.failed / 0 > 1, refuse: x }, { to: z }"),
    );
    refuses(
        "bad_expression",
        &edges(&format!(
            "{{ when: §'{}', refuse: x }}, {{ to: z }}",
            "tests.failed > 0 || ".repeat(60) + "true"
        )),
    );
    refuses(
        "bad_expression",
        &edges(&format!(
            "{{ when: §'{}true{}', refuse: x }}, {{ to: z }}",
            "(".repeat(40),
            ")".repeat(40)
        )),
    );
    refuses(
        "bad_expression",
        &edges("{ when: §'[1].all(a, [1].all(b, [1].all(c, true)))', refuse: x }, { to: z }"),
    );
    accepts(&edges(
        "{ when: 'tests.files.exists(a, tests.under.exists(b, a == b))', refuse: x }, { to: z }",
    ));
    for name in [
        "tests.fialed > 0",
        "commit.sha == ''",
        "result.sha == ''",
        "item.id == ''",
        "nothing",
        "config.maxGreenAttempts > 1",
        "command.force",
    ] {
        refuses(
            "unknown_name",
            &edges(&format!("{{ when: §{name}, refuse: x }}, {{ to: z }}")),
        );
    }
    accepts(&with(
        "config: autopilot",
        &format!(
            "a: {{ work: {{ attempts: =config.maxGreenAttempts }}, on: {{ report: [ {{ when: config.redAllPassing == 'skip', warn: x }}, {{ to: z }} ] }} }}\n{END}"
        ),
    ));
    // What an effect gives is known behind it only.
    let commit = |set: &str| {
        with(
            "vars: { sha: string }",
            &format!("a: {{ work: {{}}, on: {{ report: [ {{ {set}, to: z }} ] }} }}\n{END}"),
        )
    };
    accepts(&commit("do: git.commit, set: { sha: =result.sha }"));
    refuses(
        "unknown_name",
        &commit("do: tag.switch, set: { sha: §=result.sha }"),
    );
    refuses("unknown_name", &commit("set: { sha: §=result.sha }"));
}

#[test]
fn reach() {
    refuses(
        "unreachable_state",
        &states(&format!(
            "a: {{ work: {{}}, to: z }}\n§b: {{ work: {{}}, to: z }}\n{END}"
        )),
    );
    refuses(
        "no_way_out",
        &states(&format!(
            "a: {{ work: {{}}, on: {{ report: [ {{ when: run.paused == '', to: z }}, {{ to: b }} ] }} }}\n§b: {{ work: {{}}, to: b }}\n{END}"
        )),
    );
    refuses(
        "no_way_out",
        &states(&format!(
            "a: {{ work: {{}}, on: {{ report: [ {{ when: run.paused == '', to: z }}, {{ to: b }} ] }} }}\n§b: {{ work: {{}}, to: b, on: {{ abort: {{ to: z }} }} }}\n{END}"
        )),
    );
    refuses(
        "unreachable_state",
        &each("c: { work: {}, to: d }\nd: { final: completed }\n§e: { final: failed }"),
    );
    let circle = refuses(
        "circle",
        &states(&format!(
            "§a: {{ route: [ {{ when: run.paused == '', to: b }}, {{ to: z }} ] }}\nb: {{ do: tag.switch, to: a }}\n{END}"
        )),
    );
    assert_eq!(circle.message, "this goes round without waiting: a → b → a");
    refuses(
        "circle",
        &states(&format!(
            "a: {{ work: {{}}, to: b }}\n§b: {{ route: [ {{ when: run.paused == '', to: b }}, {{ to: z }} ] }}\n{END}"
        )),
    );
    refuses(
        "circle",
        &each("c: { work: {}, to: d }\nd: { final: completed }")
            .replace(
                "done: { to: z }",
                "done: [ { when: vars.count > 0, to: e }, { to: z } ]",
            )
            .replace("  b:\n", "  §b:\n")
            .replace("  z:", "  e: { route: { to: b } }\n  z:"),
    );
    accepts(&states(&format!(
        "a: {{ work: {{}}, to: b }}\nb: {{ route: [ {{ when: run.paused == '', to: a }}, {{ to: z }} ] }}\n{END}"
    )));
    // Two ways to one place are no circle.
    accepts(&states(&format!(
        "a: {{ route: [ {{ when: run.paused == '', to: b }}, {{ to: c }} ] }}\nb: {{ route: {{ to: d }} }}\nc: {{ route: {{ to: d }} }}\nd: {{ route: {{ to: z }} }}\n{END}"
    )));
}

#[test]
fn routers_take_whatever_comes() {
    let route = |list: &str| {
        each(&format!(
            "c: {{ route: [ {list} ] }}\nd: {{ work: {{}}, to: e }}\ne: {{ final: completed }}"
        ))
    };
    accepts(&route(
        "{ when: item.kind == 'fix', to: d }, { when: item.kind == 'plan', to: e }",
    ));
    accepts(&route(
        "{ when: item.ok, to: d }, { when: '!item.ok', to: e }",
    ));
    accepts(&route(
        "{ when: item.n > 0, to: d }, { refuse: nothing_fits }",
    ));
    refuses(
        "no_edge_matches",
        &route("{ when: §item.kind == 'fix', to: d }"),
    );
    refuses(
        "no_edge_matches",
        &route("{ when: item.ok, to: d }, { when: §item.kind == 'fix', to: e }"),
    );
    refuses(
        "no_edge_matches",
        &route("{ when: item.n > 0, to: d }, { when: §item.n <= 0, to: e }"),
    );
    refuses(
        "no_edge_matches",
        &edges("{ when: §tests.failed > 0, to: z }"),
    );
    refuses(
        "no_edge_matches",
        &edges("{ warn: x }, { when: §tests.failed == 0, to: z }"),
    );
    // `reopen` and `skip` may say no.
    accepts(&states(&format!(
        "a: {{ work: {{}}, to: z, on: {{ reopen: {{ when: run.paused == 'x', to: a }} }} }}\n{END}"
    )));
}

#[test]
fn nothing_refuses_behind_what_cannot_be_taken_back() {
    let route = "b: { route: [ { when: run.paused == 'x', refuse: §no }, { to: z } ] }";
    refuses(
        "refusal_after_effect",
        &states(&format!(
            "a: {{ work: {{}}, on: {{ report: {{ do: git.commit, to: b }} }} }}\n{route}\n{END}"
        )),
    );
    refuses(
        "refusal_after_effect",
        &states(&format!("a: {{ do: git.branch, to: b }}\n{route}\n{END}")),
    );
    refuses(
        "refusal_after_effect",
        &states(&format!(
            "a: {{ do: git.branch, to: b }}\nb: {{ expects: §tests, route: {{ to: z }} }}\n{END}"
        )),
    );
    let plain = route.replace('§', "");
    accepts(&states(&format!(
        "a: {{ work: {{}}, on: {{ report: {{ do: tag.switch, to: b }} }} }}\n{plain}\n{END}"
    )));
    accepts(&states(&format!(
        "a: {{ do: git.branch, to: w }}\nw: {{ work: {{}}, to: b }}\n{plain}\n{END}"
    )));
    // The end of an item is not the end of the way: the next item begins, or the `each` is over.
    refuses(
        "refusal_after_effect",
        &each(
            "c: { route: [ { when: item.ok, refuse: §no }, { to: d } ] }\nd: { work: {}, on: { report: { do: git.commit, to: e } } }\ne: { final: completed }",
        ),
    );
}

#[test]
fn every_fault_is_told_in_the_order_of_the_file() {
    let text = states(
        "a: { work: {}, to: y }\nb: { label: B }\nc: { work: {}, to: z, on: { dne: { to: x } } }\nz: { final: completed }",
    );
    let found: Vec<&str> = faults(&text).iter().map(|fault| fault.rule).collect();
    assert_eq!(
        found,
        ["dangling_target", "no_kind", "bad_event", "dangling_target"]
    );
}
