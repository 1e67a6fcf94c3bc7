//! The load-time proof: guards, and where the ways lead. `§` marks the place of the fault.

use crate::marked::{accepts, each, edges, faults, proves, refuses, states, with};

#[test]
fn guards_mean_something() {
    let long = format!("'{}true'", "tests.failed > 0 || ".repeat(60));
    let deep = format!("'{}true{}'", "(".repeat(40), ")".repeat(40));
    for guard in [
        "'tests.failed >'",
        "''",
        "tests.failed",
        "tests.failed > 'a'",
        "tests.failed / 0 > 1",
        &long,
        &deep,
        "'[1].all(a, [1].all(b, [1].all(c, true)))'",
    ] {
        let list = format!("{{ when: §{guard}, refuse: x }}, {{ to: z }}");
        refuses("bad_expression", &edges(&list));
    }
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
        let list = format!("{{ when: §{name}, refuse: x }}, {{ to: z }}");
        refuses("unknown_name", &edges(&list));
    }
    accepts(&with(
        "config: autopilot",
        "a: { work: { attempts: =config.maxGreenAttempts }, on: { report: [ { when: config.redAllPassing == 'skip', warn: x }, { to: z } ] } }",
    ));
    // What an effect gives is known behind it only.
    let framed = |set: &str| {
        let state = format!("a: {{ work: {{}}, on: {{ report: [ {{ {set}, to: z }} ] }} }}");
        with("vars: { sha: string }", &state)
    };
    for row in [
        "do: git.commit, set: { sha: =result.sha }",
        "do: tag.switch, set: { sha: §=result.sha } # unknown_name",
        "set: { sha: §=result.sha } # unknown_name",
    ] {
        proves(row, framed);
    }
}

#[test]
fn reach() {
    let framed = |row: &str| {
        let out = "[ { when: run.paused == '', to: z }, { to: b } ]";
        states(&row.replace("OUT", out))
    };
    for row in [
        "a: { work: {}, to: z }\n§b: { work: {}, to: z } # unreachable_state",
        "a: { work: {}, on: { report: OUT } }\n§b: { work: {}, to: b } # no_way_out",
        "a: { work: {}, on: { report: OUT } }\n§b: { work: {}, to: b, on: { abort: { to: z } } } # no_way_out",
        "a: { work: {}, to: b }\n§b: { route: OUT } # circle",
        "a: { work: {}, to: b }\nb: { route: [ { when: run.paused == '', to: a }, { to: z } ] }",
        // Two ways to one place are no circle.
        "a: { route: [ { when: run.paused == '', to: b }, { to: c } ] }\nb: { route: { to: d } }\nc: { route: { to: d } }\nd: { route: { to: z } }",
    ] {
        proves(row, framed);
    }
    let circle = framed("§a: { route: OUT }\nb: { do: tag.switch, to: a }");
    let circle = refuses("circle", &circle);
    assert_eq!(circle.message, "this goes round without waiting: a → b → a");
    let items = "c: { work: {}, to: d }";
    let ended = format!("{items}\n§e: {{ final: failed }}");
    refuses("unreachable_state", &each(&ended));
    let done = "done: [ { when: vars.count > 0, to: e }, { to: z } ]";
    let round = each(items).replace("done: { to: z }", done);
    let round = round.replace("  z:", "  e: { route: { to: b } }\n  z:");
    refuses("circle", &round.replace("  b:\n", "  §b:\n"));
}

#[test]
fn routers_take_whatever_comes() {
    let framed = |list: &str| {
        let ends = "d: { work: {}, to: e }\ne: { final: completed }";
        each(&format!("c: {{ route: [ {list} ] }}\n{ends}"))
    };
    for row in [
        "{ when: §item.kind == 'fix', to: d } # no_edge_matches",
        "{ when: item.ok, to: d }, { when: §item.kind == 'fix', to: e } # no_edge_matches",
        "{ when: item.n > 0, to: d }, { when: §item.n <= 0, to: e } # no_edge_matches",
        "{ when: item.kind == 'fix', to: d }, { when: item.kind == 'plan', to: e }",
        "{ when: item.ok, to: d }, { when: '!item.ok', to: e }",
        "{ when: item.n > 0, to: d }, { refuse: nothing_fits }",
    ] {
        proves(row, framed);
    }
    for row in [
        "{ when: §tests.failed > 0, to: z } # no_edge_matches",
        "{ warn: x }, { when: §tests.failed == 0, to: z } # no_edge_matches",
    ] {
        proves(row, edges);
    }
    // `reopen` and `skip` may say no.
    accepts(&states(
        "a: { work: {}, to: z, on: { reopen: { when: run.paused == 'x', to: a } } }",
    ));
}

#[test]
fn work_is_taken_away_only_where_somebody_asks_for_it() {
    let framed = |abort: &str| {
        let state = format!("a: {{ work: {{}}, to: z, on: {{ abort: {abort} }} }}");
        states(&state)
    };
    for row in [
        "[ { when: command.cleanup, do: branch.delete, to: z }, { to: z } ]",
        "{ do: §branch.delete, to: z } # effect_not_asked_for",
        "[ { when: run.paused == 'x', do: §branch.delete, to: z }, { to: z } ] # effect_not_asked_for",
    ] {
        proves(row, framed);
    }
    let unasked = states("a: { do: §branch.delete, to: z }");
    refuses("effect_not_asked_for", &unasked);
}

#[test]
fn nothing_refuses_behind_what_cannot_be_taken_back() {
    let refusing = "b: { route: [ { when: run.paused == 'x', refuse: §no }, { to: z } ] }";
    let framed = |begin: &str| states(&format!("{begin}\n{refusing}"));
    for row in [
        "a: { work: {}, on: { report: { do: git.commit, to: b } } } # refusal_after_effect",
        "a: { do: git.branch, to: b } # refusal_after_effect",
        "a: { work: {}, on: { report: { do: tag.switch, to: b } } }",
        "a: { do: git.branch, to: w }\nw: { work: {}, to: b }",
    ] {
        proves(row, framed);
    }
    let reads = "a: { do: git.branch, to: b }\nb: { expects: §tests, route: { to: z } }";
    refuses("refusal_after_effect", &states(reads));
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
        "a: { work: {}, to: y }\nb: { label: B }\nc: { work: {}, to: z, on: { dne: { to: x } } }",
    );
    let found: Vec<&str> = faults(&text).iter().map(|fault| fault.rule).collect();
    assert_eq!(
        found,
        ["dangling_target", "no_kind", "bad_event", "dangling_target"]
    );
}
