//! The load-time proof, rule by rule. `§` marks the place that the fault must be shown at.

use machine::check::catalog::Finder;
use machine::{Catalog, Definition};

use crate::marked::{accepts, each, edges, proves, refuses, states, with};
use crate::support::catalog;

const WORK: &str = "a: { work: {}, to: z }";
const ITEM: &str = "c: { work: {}, to: d }";

#[test]
fn what_stands_where_and_what_it_is_called() {
    for event in ["done", "report", "skip", "reject", "repotr"] {
        let text = format!("a: {{ route: [ {{ to: z }} ], on: {{ §{event}: {{ to: z }} }} }}");
        refuses("bad_event", &states(&text));
    }
    for row in [
        "§a: { expects: tests, do: tag.switch, to: z } # misplaced_key",
        "a: { work: {}, to: z }\n§z: { final: completed, on: { abort: { to: a } } } # misplaced_key",
        "§a: { work: {}, to: z, states: { b: { final: completed } } } # misplaced_key",
        "§a: { route: [ { to: z } ], to: z } # misplaced_key",
        "a: { route: { to: z }, edits: §tests } # misplaced_key",
        "a: { work: { attempts: §=run.paused }, to: z } # bad_expression",
        "a: { work: {}, to: z }\n§b: { label: B } # no_kind",
        "§a: { work: {}, route: [ { to: z } ], to: z } # two_kinds",
        "§a: { work: {} } # no_way_on",
        "§a: { work: {}, to: z, on: { report: { to: z } } } # no_way_on",
        "§a: { do: tag.switch } # no_way_on",
        "§a: { route: [] } # no_way_on",
        "a: { work: { attempts: §0 }, to: z } # bad_value",
        "a: { work: { attempts: §lots }, to: z } # bad_value",
        "a: { work: { attempts: 2 }, to: z }",
        // Events belong to kinds of states; a step aside may be valid in all of them.
        "a: { work: {}, to: z, on: { §done: { to: z } } } # bad_event",
        "a: { work: {}, to: z, on: { §reject: { to: a } } } # bad_event",
        "a: { do: tag.switch, to: z, on: { §reopen: { to: a } } } # bad_event",
        "a: { work: {}, to: z, on: { abort: { to: y }, skip: { to: z }, reopen: { to: a } } }\ny: { final: aborted }",
        "a: { route: { to: z }, on: { reopen: { to: a } } }",
        "vars: { n: int }\non: { skip: { to: b }, reopen: [ { when: vars.n > 0, to: a }, { refuse: no } ] }\nb: { work: {}, to: z }",
        "vars: { n: int }\non: { abort: [ { when: command.cleanup, do: branch.delete, to: y }, { to: y } ] }\ny: { final: aborted, do: [tag.restore] }",
        "vars: { n: int }\non: { skip: { to: §nowhere } } # dangling_target",
        "vars: { n: int }\non: { §done: { to: a } } # bad_event",
        "vars: { n: int }\non: { §report: { to: z } } # bad_event",
        // Names, of what there is and of what a definition makes.
        "a: { work: { instructions: §rde.md }, to: z } # unknown_template",
        "a: { work: {}, on: { report: { add: { §parts: { id: x } }, to: z } } } # unknown_set",
        "a: { work: {}, to: §y } # dangling_target",
        "a: { expects: §test, work: {}, to: z } # unknown_reader",
        "a: { do: [tag.switch, §git.brunch], to: z } # unknown_effect",
        "a: { do: §git.brunch, to: z } # unknown_effect",
        "vars: { x: { type: int, default: =1 + 1 }, y: [string], w: [a, b] }",
        "inputs: { §a.b: string } # bad_name",
        "vars: { §'item.x': string } # bad_name",
        "vars: { §x: { type: int, default: many } } # bad_default",
        "inputs: { §x: { type: [a, b], default: c } } # bad_default",
        "config: §autopilto # unknown_section",
        "items: { §vars: { key: id, fields: { id: string } } } # bad_name",
        "items: { §tests: { key: id, fields: { id: string } } } # bad_name",
        "items: { §sub-tasks: { key: id, fields: { id: string } } } # bad_name",
        "items: { s: { key: id, fields: { id: string, §in: bool } } } # bad_name",
        "items: { s: { key: id, fields: { id: string, §n: { type: int, default: x } } } } # bad_default",
        "items: { s: { key: id, fields: { id: string, n: { type: int, default: §=1 + 1 } } } } # bad_default",
        "items: { s: { key: id, needs: on, fields: { id: string, on: [string] } } }",
        "items: { s: { key: §no, fields: { id: string } } } # bad_item_set",
        "items: { s: { key: §id, fields: { id: int } } } # bad_item_set",
        "items: { s: { key: id, needs: §on, fields: { id: string, on: string } } } # bad_item_set",
        // Edges say one thing; a single one without a list has a place too.
        "vars: { n: int }\na: { work: {}, on: { report: [ §{ warn: x, set: { n: 1 } }, { to: z } ] } } # acts_without_moving",
        "a: { route: [ §{ when: run.paused == '', retry: x }, { to: z } ] } # misplaced_key",
        "a: { work: {}, to: z, on: { skip: [ §{ check: stuck }, { to: z } ] } } # misplaced_key",
        "a: { work: {}, to: z, on: { reopen: [ §{ pause: x } ] } } # misplaced_key",
        "a: { work: {}, on: { report: §{ refuse: x, to: z } } } # two_verdicts",
        "a:\n  work: {}\n  on:\n    report:\n      §refuse: x\n      to: z # two_verdicts",
        "a: { route: §{ refuse: x, to: z } } # two_verdicts",
    ] {
        proves(row, states);
    }
    let plain = states(WORK);
    refuses("bad_name", &plain.replace("id: x", "id: §x y"));
    let first = plain.replace("to: z", "to: 1st").replace("z:", "§1st:");
    refuses("bad_name", &first);
    let initial = plain.replace("initial: a", "initial: §b");
    refuses("dangling_target", &initial);
    let round = plain.replace("to: z", "to: a");
    let round = round.replace("  z: { final: completed }\n", "");
    refuses("no_end", &round.replace("initial: a", "initial: §a"));
}

#[test]
fn what_stands_around_items() {
    for row in [
        "c: { expects: tests, work: {}, on: { report: [ { set: { item.n: =tests.failed }, to: d } ] } }",
        "c: { work: {}, to: d }\n§e: { each: { items: parts, initial: f }, on: { done: { to: d } }, states: { f: { final: completed } } } # nested_each",
        "c: { work: {}, to: d }\n§a: { work: {}, to: d } # duplicate_state",
        "c: { work: {}, on: { report: [ { when: item.ok, to: d }, { to: §z } ] } } # crossing_target",
        // What calls a run off is looked up where the run stands, never in an item.
        "c: { work: {}, to: d, on: { §abort: { to: d } } } # bad_event",
    ] {
        proves(row, each);
    }
    let end = "      d: { final: completed }\n";
    for (rule, from, to) in [
        ("crossing_target", "done: { to: z }", "done: { to: §d }"),
        ("unknown_set", "items: parts,", "items: §part,"),
        ("bad_value", "initial: c", "initial: c, parallel: §0"),
        ("bad_value", "parts: =survey.subtasks", "§parts: all"),
        ("unknown_name", "=survey.subtasks", "§=survey.subtask"),
        ("unknown_set", "parts: =survey", "§part: =survey"),
    ] {
        refuses(rule, &each(ITEM).replace(from, to));
    }
    accepts(&each(ITEM).replace("initial: c", "initial: c, parallel: 4"));
    let none = &format!("    states:\n      \n{end}");
    for (rule, nested, from) in [
        ("no_way_on", "", none.as_str()),
        ("no_way_on", ITEM, " done: { to: z } "),
        ("no_end", "c: { work: {}, to: c }", end),
    ] {
        let text = each(nested).replace(from, "");
        refuses(rule, &text.replace("  b:\n", "  §b:\n"));
    }
}

#[test]
fn unit_patterns() {
    for row in [
        "item: '{inputs.name}-{key}-{STATE}', run: '{state}'",
        "item: '{key}-{state}', run: §'unit' # bad_pattern",
        "item: §'{state}', run: '{state}' # bad_pattern",
        "item: '{key}-{state}', run: §'{key}-{state}' # bad_pattern",
        "item: '{key}-{state}', run: §'{inputs.n}-{state}' # bad_pattern",
        "item: '{key}-{state}', run: §'{vars.x}-{state}' # bad_pattern",
    ] {
        proves(row, |unit| {
            let inputs = "inputs: { name: string, n: int }";
            with(&format!("{inputs}\nunit: {{ {unit} }}"), WORK)
        });
    }
}

#[test]
fn a_broken_template_is_told_where_it_is_named() {
    let mut catalog = catalog();
    let broken = vec![(3, "there is no `tsk`".to_owned())];
    catalog.templates.insert("red.md".to_owned(), broken);
    let text = states("a: { work: { instructions: red.md }, to: z }");
    let found = &Definition::load(&text, &catalog).unwrap_err()[0];
    assert_eq!(
        (found.rule, found.at.line, found.at.column),
        ("bad_template", 6, 30)
    );
}

#[test]
fn what_edges_set_add_and_fill() {
    let framed = |edge: &str| {
        let report = format!("report: [ {{ {edge}, to: d }} ]");
        let state = format!("c: {{ expects: tests, work: {{}}, on: {{ {report} }} }}");
        each(&state)
    };
    for row in [
        "set: { count: =vars.count + 1, item.n: 3, name: '' }",
        "add: { parts: { id: ='x' + string(vars.count), kind: fix } }",
        // The place is that of the very entry, not of the first one.
        "set: { count: 1, §cuont: 2 } # unknown_name",
        "set: { count: 1, §item.m: 2 } # unknown_name",
        "add: { parts: { id: x, §kin: fix } } # unknown_name",
        "set: { count: 1, §name: 2 } # bad_value",
        "set: { count: 1, §item.ok: yes please } # bad_value",
        "set: { §item.id: x } # bad_value",
        "set: { §item.needs: =tests.files } # bad_value",
        "add: { §parts: { kind: fix } } # bad_value",
        "add: { parts: { id: x, §kind: fixed } } # bad_value",
        "set: { count: §=tests.level } # bad_expression",
        "add: { parts: { id: §=vars.count } } # bad_expression",
        "load: { §parts: =tests.files } # misplaced_key",
    ] {
        proves(row, framed);
    }
}

#[test]
fn edges_say_one_thing() {
    for row in [
        "{ to: z }, §{ when: tests.failed > 0, refuse: x } # unreachable_edge",
        "§{ when: tests.failed > 0, emit: 'a:b' }, { to: z } # no_verdict",
        "§{ when: tests.failed > 0, do: tag.switch, refuse: x }, { to: z } # acts_without_moving",
        "§{ when: tests.failed > 0, do: tag.switch, retry: x }, { to: z } # acts_without_moving",
        "{ check: [config_loosened, §config_losened] }, { to: z } # unknown_policy",
        "{ when: tests.failed > 0, refuse: failing }, { to: z }",
        "{ warn: hm }, { check: config_loosened }, { to: z }",
        "§{ refuse: x, to: z } # two_verdicts",
        "§{ when: tests.failed > 0, retry: x, pause: y }, { to: z } # two_verdicts",
        "{ do: §git.comit, to: z } # unknown_effect",
        "{ set: { §x: 1 }, to: z } # unknown_name",
        "{ set: { §item.x: 1 }, to: z } # unknown_name",
        "{ emit: §done, to: z } # bad_name",
        "{ emit: [ 'a:b', §'run:ended' ], to: z } # bad_name",
    ] {
        proves(row, edges);
    }
}

#[test]
fn views_speak_of_what_a_run_has() {
    const TASKS: &str = "\ninputs: { task: string, most: int }\nitems: { parts: { key: id, fields: { id: string, title: string } } }\nuses: { repository: {}, tests: {}, tasks: { id: =inputs.task, attempts: =inputs.most, into: parts } }";
    let framed = |row: &str| {
        let (view, state) = row.split_once(' ').unwrap();
        let more = if view == "autopilot" { TASKS } else { "" };
        let body = format!("{state}, work: {{}}, to: z }}");
        with(&format!("view: {view}{more}"), &body)
    };
    for row in [
        "autopilot a: { expects: tests",
        "generic a: { expects: tests",
        "§session a: { expects: tests # needs_resource",
        // A phase that the view knows is one of the reports that it takes it for; any other is the file's own.
        "autopilot a: { phase: own, expects: tests",
        "autopilot a: { phase: red, expects: { tests: { as: red, shows: new_failure } }",
        "autopilot §a: { phase: red, expects: tests # phase_without_role",
        "generic a: { phase: red, expects: tests",
    ] {
        proves(row, framed);
    }
}

/// A state `a` that expects this, and one that expects that behind it.
fn expecting(first: &str, second: &str) -> String {
    states(&format!(
        "a: {{ work: {{}}, expects: {first}, to: b }}\nb: {{ work: {{}}, expects: {second}, to: z }}"
    ))
}

#[test]
fn roles_name_labels_that_reports_have() {
    let framed = |row: &str| {
        let (first, second) = row.split_once(", then ").unwrap();
        expecting(first, second)
    };
    for row in [
        "{ tests: { as: x, shows: new_failure, freezes: y } }, then { tests: { as: w, against: x, frozen: y } }",
        "{ tests: { as: x } }, then { commit: { of: x } }",
        // A state's name is no label, and a label of one kind none of the other.
        "tests, then { commit: { of: §a } } # unknown_label",
        "{ tests: { as: x } }, then { tests: { frozen: §x } } # unknown_label",
        "{ tests: { freezes: §x } }, then tests # unknown_role",
        "§{ tests: {}, commit: {} }, then tests # unreadable",
        "§{}, then tests # unreadable",
    ] {
        proves(row, framed);
    }
    let list = expecting("[tests]", "tests").replacen("expects", "§expects", 1);
    refuses("unreadable", &list);
}

#[test]
fn what_was_meant_is_suggested() {
    let reopen = "a: { work: {}, to: z, on: { §reopn: { to: z } } }";
    let label = expecting("{ tests: { as: first } }", "{ tests: { against: §frist } }");
    let view = |name: &str| with(&format!("view: §{name}"), WORK);
    let views = "those that there are: autopilot, collab, session, generic";
    for (rule, text, help) in [
        ("bad_event", states(reopen), "did you mean `reopen`?"),
        ("unknown_label", label, "did you mean `first`?"),
        (
            "unknown_view",
            view("autopilod"),
            "did you mean `autopilot`?",
        ),
        ("unknown_view", view("x"), views),
    ] {
        assert_eq!(refuses(rule, &text).help, help);
    }
}

/// The rules that a definition breaks where there is what the catalog says.
fn broken(text: &str, catalog: &Catalog) -> Vec<&'static str> {
    let faults = Definition::load(text, catalog).err().unwrap_or_default();
    faults.into_iter().map(|fault| fault.rule).collect()
}

#[test]
fn readers_are_told_only_what_they_go_by() {
    let mut catalog = catalog();
    let reader = catalog.readers.get_mut("outcome").unwrap();
    reader.role.clear();
    let text = expecting("{ outcome: { as: x } }", "tests");
    assert_eq!(broken(&text, &catalog), ["unknown_role"]);
}

#[test]
fn a_role_is_checked_in_each_report() {
    let mut catalog = catalog();
    let reader = catalog.readers.get_mut("tests").unwrap();
    reader.role.insert("frozen", Some("tests_changed"));
    let asks = "a: { work: {}, expects: { tests: { shows: new_failure, freezes: x } }, to: b }";
    let broken = |report: &str| {
        let answers = "work: {}, expects: { tests: { frozen: x } }";
        let text = format!("{asks}\nb: {{ {answers}, on: {{ report: [ {report} ] }} }}");
        broken(&states(&text), &catalog)
    };
    assert!(broken("{ check: tests_changed }, { to: z }").is_empty());
    for report in [
        "{ to: z }",
        "{ check: stuck }, { to: z }",
        "{ when: tests.failed > 0, check: tests_changed }, { to: z }",
    ] {
        assert_eq!(broken(report), ["role_not_checked"], "{report}");
    }
}

#[test]
fn a_policy_that_nothing_can_find_is_refused() {
    let mut catalog = catalog();
    let finder = Finder {
        reader: "tests".to_owned(),
        with: Some("shows"),
        ..Finder::default()
    };
    let policy = "no_new_failure".to_owned();
    catalog.policies.insert(policy, vec![finder]);
    for (expects, rules) in [
        ("{ tests: { shows: new_failure } }", &[][..]),
        ("tests", &["policy_never_found"]),
        ("{ tests: { suite: full } }", &["policy_never_found"]),
        ("outcome", &["policy_never_found"]),
    ] {
        let report = "report: [ { check: no_new_failure }, { to: z } ]";
        let text = format!("a: {{ work: {{}}, expects: {expects}, on: {{ {report} }} }}");
        assert_eq!(broken(&states(&text), &catalog), rules, "{expects}");
    }
}

#[test]
fn the_built_in_definitions_pass() {
    use crate::support::{COLLAB, REVIEW, TDD};
    for text in [TDD, REVIEW, COLLAB] {
        accepts(text);
    }
}
