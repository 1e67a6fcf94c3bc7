//! The load-time proof: guards, and where the ways lead. `§` marks the place of the fault.

use crate::marked::{END, accepts, each, edges, faults, refuses, states, with};

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
fn work_is_taken_away_only_where_somebody_asks_for_it() {
    let on = |abort: &str| {
        states(&format!(
            "a: {{ work: {{}}, on: {{ report: {{ to: z }}, abort: {abort} }} }}\n{END}"
        ))
    };
    refuses("effect_not_asked_for", &on("{ do: §branch.delete, to: z }"));
    refuses(
        "effect_not_asked_for",
        &on("[ { when: run.paused == 'x', do: §branch.delete, to: z }, { to: z } ]"),
    );
    accepts(&on(
        "[ { when: command.cleanup, do: branch.delete, to: z }, { to: z } ]",
    ));
    refuses(
        "effect_not_asked_for",
        &states(&format!("a: {{ do: §branch.delete, to: z }}\n{END}")),
    );
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
