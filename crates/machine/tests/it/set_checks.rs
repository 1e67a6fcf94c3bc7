//! The load-time proof of item sets and cursors, rule by rule. `§` marks the place that the fault must be shown at.

use machine::Diagnostic;

use crate::marked::{END, accepts, refuses, with};
use crate::sets::SETS;

/// A workflow with these vars and these keys of the set `parts`, whose fields are all that is needed; and this edge.
fn set(vars: &str, keys: &str, edge: &str) -> String {
    with(
        &format!(
            "vars: {{ n: int, {vars} }}\nitems:\n  parts:\n    key: id\n    fields: {{ id: string, needs: [string], files: [string], text: string, ok: bool }}\n    {keys}"
        ),
        &format!(
            "a: {{ expects: graph, work: {{}}, on: {{ report: [ {{ load: {{ parts: =graph.tasks }}, to: b }} ] }} }}\nb: {{ work: {{}}, on: {{ report: [ {{ {edge} }} ] }} }}\n{END}"
        ),
    )
}

const STATUS: &str = "status: { open: [new], active: [begun], done: [ready], failed: [dropped] }";

fn with_status(vars: &str, more: &str, edge: &str) -> String {
    set(vars, &format!("{STATUS}\n    {more}"), edge)
}

fn helps(fault: &Diagnostic, help: &str) {
    assert!(
        fault.help.contains(help),
        "{} / {}",
        fault.message,
        fault.help
    );
}

#[test]
fn what_is_right_passes() {
    accepts(SETS);
    accepts(&set("", "", "to: z"));
    accepts(&with_status(
        "c: ref parts",
        "prefer: c",
        "set: { c: =parts.next, c.status: begun, c.text: =c.text }, to: z",
    ));
    accepts(&with_status(
        "c: { type: ref parts, open: [a, b] }, d: { type: bool, open: always }",
        "open: { all: [a], status: always, text: [b] }",
        "to: z",
    ));
    accepts(&with_status(
        "w: ref waves",
        "needs: needs\n    waves: { into: waves, apart: files, alone: \"it.ok && it.text != ''\" }",
        "when: w.size > w.count.new + w.blocked && waves.next.level > 0, set: { w: =waves.next, w.status: completed }, to: z }, { set: { w: =null }, to: z",
    ));
    accepts(&with_status(
        "",
        "waves: { into: waves, named: wave, apart: [files, needs] }",
        "to: z",
    ));
    // Without an `each` in the file, a cursor may be called `item`.
    accepts(&with_status(
        "item: ref parts",
        "",
        "when: item.ok, set: { item: =parts.next, item.status: ready }, to: z }, { to: z",
    ));
    accepts(&set(
        "",
        "status: { open: [new], done: [ready] }",
        "when: parts.count.new == 0, to: z }, { to: z",
    ));
}

#[test]
fn keys_and_needs() {
    refuses(
        "bad_item_set",
        &set("", "", "to: z").replace("key: id", "key: §name"),
    );
    refuses(
        "bad_item_set",
        &set("", "", "to: z").replace("key: id", "key: §files"),
    );
    refuses("bad_item_set", &set("", "needs: §text", "to: z"));
    refuses("bad_item_set", &set("", "needs: §nowhere", "to: z"));
    refuses(
        "bad_name",
        &set("", "", "to: z")
            .replace("  parts:\n", "  §config:\n")
            .replace("load: { parts:", "load: { config:"),
    );
    refuses(
        "bad_name",
        &set("", "", "to: z")
            .replace("  parts:\n", "  §for:\n")
            .replace("load: { parts:", "load: { for:"),
    );
    refuses(
        "bad_item_set",
        &set("", "", "to: z").replace("text: string", "§text: ref parts"),
    );
    refuses(
        "bad_item_set",
        &set("", "", "to: z").replace("text: string", "§text: { type: string, open: always }"),
    );
}

#[test]
fn statuses() {
    let of = |status: &str| set("", &format!("status: {status}"), "to: z");
    refuses("bad_item_set", &of("{ open: [new], done: [§new] }"));
    refuses(
        "bad_item_set",
        &of("{ open: [new], done: [ready], failed: [ready2, §ready2] }"),
    );
    refuses("bad_item_set", &of("§{ open: [], done: [ready] }"));
    refuses("bad_item_set", &of("§{ open: [new], done: [] }"));
    refuses(
        "bad_name",
        &of("{ open: [new], active: [§in-hand], done: [ready] }"),
    );
    refuses("bad_name", &of("{ open: [new], done: [§true] }"));
    refuses(
        "bad_item_set",
        &with_status("", "", "to: z").replace("text: string", "§status: string"),
    );
    refuses(
        "bad_item_set",
        &with_status("", "", "to: c").replace(
            "  z: ",
            "  c:\n    each: { items: §parts, initial: d }\n    on: { done: { to: z } }\n    states: { d: { final: completed } }\n  z: ",
        ),
    );
}

#[test]
fn cursors() {
    helps(
        &refuses("bad_cursor", &set("§c: ref part", "", "to: z")),
        "`ref parts`",
    );
    refuses("bad_cursor", &set("§c: ref nowhere", "", "to: z"));
    refuses(
        "bad_cursor",
        &set("§c: { type: ref parts, default: p }", "", "to: z"),
    );
    refuses("bad_cursor", &set("§parts: ref parts", "", "to: z"));
    refuses("bad_cursor", &set("§vars: ref parts", "", "to: z"));
    refuses("bad_cursor", &set("§result: ref parts", "", "to: z"));
    refuses(
        "bad_cursor",
        &set("§item: ref parts", "", "to: c").replace(
            "  z: ",
            "  c:\n    each: { items: parts, initial: d }\n    on: { done: { to: z } }\n    states: { d: { final: completed } }\n  z: ",
        ),
    );
    refuses(
        "bad_cursor",
        &set("", "", "to: z").replace("initial: a\n", "initial: a\ninputs: { §c: ref parts }\n"),
    );
    refuses(
        "bad_cursor",
        &set("c: ref others", "prefer: §c", "to: z").replace(
            "items:\n",
            "items:\n  others: { key: id, fields: { id: string } }\n",
        ),
    );
    refuses("bad_cursor", &set("", "prefer: §nowhere", "to: z"));
    refuses("bad_cursor", &set("", "prefer: §n", "to: z"));
    // A reader of that name is seen by the guards behind it.
    refuses("bad_name", &set("§graph: ref parts", "", "to: z"));
}

#[test]
fn what_is_set_through_them() {
    let of = |assigned: &str| {
        with_status(
            "c: ref parts, w: ref waves",
            "needs: needs\n    waves: { into: waves, apart: files }",
            &format!("set: {{ {assigned} }}, to: z"),
        )
    };
    accepts(&of("c.text: x, w.status: completed"));
    refuses("bad_value", &of("§c.id: x"));
    refuses("bad_value", &of("§c.needs: =c.needs"));
    refuses("bad_value", &of("§c.wave: x"));
    refuses("bad_value", &of("§w.jobs: x").replace("w.jobs", "w.parts"));
    refuses("bad_value", &of("§w.level: 1"));
    refuses("bad_value", &of("§c.status: gone"));
    refuses("bad_value", &of("§w.status: ready"));
    refuses("bad_value", &of("§c: p"));
    refuses("bad_value", &of("§n: x"));
    helps(&refuses("unknown_name", &of("§c.txt: x")), "c.text");
    refuses("unknown_name", &of("§d.text: x"));
    refuses("unknown_name", &of("§n.text: x"));
    refuses("unknown_name", &of("§parts.text: x"));
    refuses("bad_expression", &of("c: §=1 + 1"));
    refuses("bad_expression", &of("c.ok: §=c.text"));
}

#[test]
fn guards_name_what_is_there() {
    let of = |guard: &str| {
        with_status(
            "c: ref parts, w: ref waves",
            "waves: { into: waves }",
            &format!("when: §{guard}, to: z }}, {{ to: z"),
        )
    };
    refuses("unknown_name", &of("c.txt == ''"));
    refuses("unknown_name", &of("c.count.new > 0"));
    refuses("unknown_name", &of("c.size > 0"));
    refuses("unknown_name", &of("w.count.pending > 0"));
    refuses("unknown_name", &of("parts.count.gone > 0"));
    refuses("unknown_name", &of("waves.count.new > 0"));
    refuses("unknown_name", &of("item.ok"));
    refuses("bad_expression", &of("c.ok == 1 + c.text"));
    refuses("bad_expression", &of("parts.count.new"));
}

#[test]
fn what_is_open() {
    helps(
        &refuses(
            "dangling_target",
            &set("c: { type: bool, open: [§quite-another] }", "", "to: z"),
        ),
        "always",
    );
    refuses(
        "dangling_target",
        &set("", "open: { all: [a, §nowhere] }", "to: z"),
    );
    refuses(
        "dangling_target",
        &set("", "open: { text: [§nowhere] }", "to: z"),
    );
    refuses(
        "unknown_name",
        &set("", "open: { §nowhere: always }", "to: z"),
    );
    refuses(
        "unknown_name",
        &set("", "open: { §status: always }", "to: z"),
    );
    refuses("unreadable", &set("", "open: { all: §sometimes }", "to: z"));
    // Where an item stands that was given up, or is taken up again, is said with `status`.
    let open = "open: { add: always, §reopen: always }";
    refuses("bad_item_set", &set("", open, "to: z"));
    refuses("bad_item_set", &set("", "open: { §skip: always }", "to: z"));
    accepts(&with_status(
        "",
        "open: { reopen: always, skip: [a] }",
        "to: z",
    ));
    let field = with_status("", "open: { §skip: always }", "to: z");
    refuses("bad_item_set", &field.replace("ok: bool", "skip: bool"));
    refuses(
        "misplaced_key",
        &set("", "", "to: z").replace(
            "initial: a\n",
            "initial: a\ninputs: { §c: { type: bool, open: always } }\n",
        ),
    );
    // What fixes the place of an item comes with the whole set.
    refuses("bad_item_set", &set("", "open: { §id: always }", "to: z"));
    refuses(
        "bad_item_set",
        &with_status(
            "",
            "waves: { into: waves }\n    open: { §wave: always }",
            "to: z",
        ),
    );
    refuses(
        "bad_item_set",
        &with_status(
            "",
            "needs: needs\n    waves: { into: waves }\n    open: { §needs: always }",
            "to: z",
        ),
    );
    refuses(
        "bad_item_set",
        &with_status(
            "",
            "waves: { into: waves, apart: files }\n    open: { §files: always }",
            "to: z",
        ),
    );
    refuses(
        "bad_item_set",
        &with_status(
            "",
            "waves: { into: waves, alone: it.ok }\n    open: { §ok: always }",
            "to: z",
        ),
    );
    accepts(&set(
        "",
        "needs: needs\n    open: { needs: always, files: always }",
        "to: z",
    ));
}

#[test]
fn waves() {
    let of = |waves: &str| with_status("", &format!("waves: {{ {waves} }}"), "to: z");
    refuses("bad_item_set", &of("into: §parts"));
    refuses(
        "bad_item_set",
        &of("into: §others").replace(
            "items:\n",
            "items:\n  others: { key: id, fields: { id: string } }\n",
        ),
    );
    refuses(
        "bad_item_set",
        &of("into: §waves").replace(
            "items:\n",
            "items:\n  others: { key: id, status: { open: [o], done: [d] }, waves: { into: waves }, fields: { id: string } }\n",
        ),
    );
    refuses("bad_name", &of("into: §config"));
    refuses("bad_name", &of("into: §in"));
    refuses("bad_item_set", &of("into: waves, apart: §text"));
    refuses("bad_item_set", &of("into: waves, apart: [files, §nowhere]"));
    refuses("unknown_name", &of("into: waves, alone: §it.nowhere"));
    refuses("unknown_name", &of("into: waves, alone: §vars.n > 0"));
    refuses("bad_expression", &of("into: waves, alone: §it.text"));
    refuses("bad_expression", &of("into: waves, alone: §it.text > 1"));
    refuses("bad_item_set", &set("", "waves: { into: §waves }", "to: z"));
    refuses(
        "bad_item_set",
        &of("into: waves").replace("text: string", "§wave: string"),
    );
    refuses(
        "bad_name",
        &of("into: waves")
            .replace("  parts:\n", "  §level:\n")
            .replace("load: { parts:", "load: { level:"),
    );
    refuses("unreadable", &of("§inTo: waves"));
    refuses("bad_name", &of("into: waves, named: §in hand"));
}

#[test]
fn waves_are_cut_when_their_set_is_filled() {
    let of = |edge: &str| with_status("", "waves: { into: waves }", edge);
    accepts(&of("add: { parts: { id: x } }, to: z"));
    refuses("misplaced_key", &of("add: { §waves: { id: x } }, to: z"));
    refuses(
        "misplaced_key",
        &of("load: { §waves: =parts.next.needs }, to: z"),
    );
    let everywhere = of("to: z").replace(
        "initial: a\n",
        "initial: a\non: { abort: { load: { §waves: =parts.next.needs }, to: y } }\n",
    ) + "  y: { final: aborted }\n";
    refuses("misplaced_key", &everywhere);
    refuses(
        "bad_item_set",
        &of("to: c").replace(
            "  z: ",
            "  c:\n    each: { items: §waves, initial: d }\n    on: { done: { to: z } }\n    states: { d: { final: completed } }\n  z: ",
        ),
    );
}

#[test]
fn names_of_work() {
    let of = |work: &str| with("", &format!("a: {{ work: {{ {work} }}, to: z }}\n{END}"));
    accepts(&of("as: exploring, fresh: true"));
    accepts(&of("as: 'systematic-debugging'"));
    refuses("bad_name", &of("as: §two words"));
    refuses("bad_name", &of("as: §''"));
    refuses("unreadable", &of("fresh: §often"));
}
