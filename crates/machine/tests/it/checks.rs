//! The load-time proof, rule by rule. `§` marks the place that the fault must be shown at.

use machine::Definition;
use machine::check::catalog::Finder;

use crate::marked::{END, accepts, each, edges, refuses, states, with};
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
fn a_step_aside_may_be_valid_in_every_state() {
    let workflow = |on: &str, rest: &str| {
        let work = "a: { work: {}, to: z }";
        with(
            &format!("vars: {{ n: int }}\non: {{ {on} }}"),
            &format!("{work}\n{rest}\n{END}"),
        )
    };
    let other = "b: { work: {}, to: z }";
    accepts(&workflow(
        "skip: { to: b }, reopen: [ { when: vars.n > 0, to: a }, { refuse: nothing_before } ]",
        other,
    ));
    refuses("dangling_target", &workflow("skip: { to: §nowhere }", ""));
    refuses("bad_event", &workflow("§done: { to: a }", ""));
}

#[test]
fn events_belong_to_kinds() {
    for event in ["done", "report", "skip", "reject", "repotr"] {
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
    accepts(&states(&format!(
        "a: {{ route: {{ to: z }}, on: {{ reopen: {{ to: a }} }} }}\n{END}"
    )));
    refuses(
        "bad_event",
        &states(&format!(
            "a: {{ do: tag.switch, to: z, on: {{ §reopen: {{ to: a }} }} }}\n{END}"
        )),
    );
    refuses(
        "bad_event",
        &states(&format!(
            "a: {{ work: {{}}, to: z, on: {{ §reject: {{ to: a }} }} }}\n{END}"
        )),
    );
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
            .replace("parts: =survey.subtasks", with)
    };
    refuses("bad_value", &filled("§parts: all"));
    refuses("unknown_name", &filled("parts: §=survey.subtask"));
    refuses("unknown_set", &filled("§part: =survey.subtasks"));
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

/// A state `a` that expects this, and one that expects that behind it.
fn expecting(first: &str, second: &str) -> String {
    states(&format!(
        "a: {{ work: {{}}, expects: {first}, to: b }}\nb: {{ work: {{}}, expects: {second}, to: z }}\n{END}"
    ))
}

#[test]
fn views_speak_of_what_a_run_has() {
    let work = |state: &str| format!("a: {{ {state}, work: {{}}, to: z }}\n{END}");
    let plain = work("expects: tests");
    let named = |view: &str, body: &str| {
        with(
            &format!(
                "view: {view}\ninputs: {{ task: string, most: int }}\nitems: {{ parts: {{ key: id, fields: {{ id: string, title: string }} }} }}\nuses: {{ repository: {{}}, tests: {{}}, tasks: {{ id: =inputs.task, attempts: =inputs.most, into: parts }} }}"
            ),
            body,
        )
    };
    accepts(&named("autopilot", &plain));
    accepts(&with("view: generic", &plain));
    let near = refuses("unknown_view", &with("view: §autopilod", &plain));
    assert_eq!(near.help, "did you mean `autopilot`?");
    let far = refuses("unknown_view", &with("view: §x", &plain));
    assert_eq!(
        far.help,
        "those that there are: autopilot, collab, session, generic"
    );
    refuses("needs_resource", &with("view: §session", &plain));
    // A phase that the view knows is one of the reports that it takes it for; any other is the file's own.
    accepts(&named("autopilot", &work("phase: own, expects: tests")));
    accepts(&named(
        "autopilot",
        &work("phase: red, expects: { tests: { as: red, shows: new_failure } }"),
    ));
    refuses(
        "phase_without_role",
        &named(
            "autopilot",
            &format!("§{}", work("phase: red, expects: tests")),
        ),
    );
    accepts(&with("view: generic", &work("phase: red, expects: tests")));
}

#[test]
fn roles_name_labels_that_reports_have() {
    accepts(&expecting(
        "{ tests: { as: x, shows: new_failure, freezes: y } }",
        "{ tests: { as: w, against: x, frozen: y } }",
    ));
    accepts(&expecting("{ tests: { as: x } }", "{ commit: { of: x } }"));
    let near = refuses(
        "unknown_label",
        &expecting("{ tests: { as: first } }", "{ tests: { against: §frist } }"),
    );
    assert_eq!(near.help, "did you mean `first`?");
    // A state's name is no label, and a label of one kind none of the other.
    refuses(
        "unknown_label",
        &expecting("tests", "{ commit: { of: §a } }"),
    );
    refuses(
        "unknown_label",
        &expecting("{ tests: { as: x } }", "{ tests: { frozen: §x } }"),
    );
    refuses(
        "unknown_role",
        &expecting("{ tests: { freezes: §x } }", "tests"),
    );
}

#[test]
fn readers_are_told_only_what_they_go_by() {
    let mut catalog = catalog();
    let reader = catalog.readers.get_mut("outcome").unwrap();
    reader.role.clear();
    let text = expecting("{ outcome: { as: x } }", "tests");
    let faults = Definition::load(&text, &catalog).unwrap_err();
    assert_eq!(faults[0].rule, "unknown_role");
    assert_eq!(faults[0].help, "write `expects: outcome`");
}

#[test]
fn a_role_is_checked_in_each_report() {
    let mut catalog = catalog();
    let reader = catalog.readers.get_mut("tests").unwrap();
    reader.role.insert("frozen", Some("tests_changed"));
    let held = |report: &str| {
        let text = format!(
            "initial: ask\nstates:\n  ask: {{ work: {{}}, expects: {{ tests: {{ shows: new_failure, freezes: x }} }}, to: answer }}\n  answer:\n    work: {{}}\n    expects: {{ tests: {{ frozen: x }} }}\n    on: {{ report: {report} }}\n  over: {{ final: completed }}\n"
        );
        let loaded = Definition::load(&format!("tramline: 1\nid: t\ntitle: T\n{text}"), &catalog);
        let faults = loaded.err().unwrap_or_default();
        faults
            .into_iter()
            .map(|fault| fault.rule)
            .collect::<Vec<_>>()
    };
    assert!(held("[ { check: tests_changed }, { to: over } ]").is_empty());
    for report in [
        "{ to: over }",
        "[ { check: stuck }, { to: over } ]",
        "[ { when: tests.failed > 0, check: tests_changed }, { to: over } ]",
    ] {
        assert_eq!(held(report), ["role_not_checked"], "{report}");
    }
}

#[test]
fn a_state_has_one_reader() {
    for (expects, said) in [
        ("{ tests: {}, commit: {} }", "`commit` is a second reader"),
        ("{}", "`expects` names no reader"),
        ("[tests]", "expected a reader"),
    ] {
        let faults = Definition::load(&expecting(expects, "tests"), &catalog()).unwrap_err();
        assert_eq!(faults[0].rule, "unreadable");
        assert!(faults[0].message.contains(said), "{}", faults[0].message);
    }
}

#[test]
fn only_work_is_edited_for() {
    refuses(
        "misplaced_key",
        &states(&format!(
            "a: {{ route: {{ to: z }}, edits: §tests }}\n{END}"
        )),
    );
}

#[test]
fn a_policy_that_nothing_can_find_is_refused() {
    let mut catalog = catalog();
    let finder = Finder {
        reader: "tests".to_owned(),
        with: Some("shows"),
        without: Vec::new(),
        ..Finder::default()
    };
    catalog
        .policies
        .insert("no_new_failure".to_owned(), vec![finder]);
    let text = |expects: &str| {
        states(&format!(
            "a: {{ work: {{}}, expects: {expects}, on: {{ report: [ {{ check: no_new_failure }}, {{ to: z }} ] }} }}\n{END}"
        ))
    };
    assert!(Definition::load(&text("{ tests: { shows: new_failure } }"), &catalog).is_ok());
    for expects in ["tests", "{ tests: { suite: full } }", "outcome"] {
        let faults = Definition::load(&text(expects), &catalog).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].rule, "policy_never_found");
        assert_eq!(
            faults[0].help,
            "it is found in a report of `tests` with `shows`"
        );
    }
}
