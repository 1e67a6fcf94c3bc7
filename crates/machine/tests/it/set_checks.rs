//! The load-time proof of item sets and cursors, rule by rule. `§` marks the place that the fault must be shown at.

use crate::marked::{proves, refuses, with};

/// A workflow with these vars and these keys of the set `parts`, whose fields are all that is needed; and this edge.
fn set(vars: &str, keys: &str, edge: &str) -> String {
    with(
        &format!(
            "vars: {{ n: int, {vars} }}\nitems:\n  parts:\n    key: id\n    fields: {{ id: string, needs: [string], files: [string], text: string, ok: bool }}\n    {keys}"
        ),
        &format!(
            "a: {{ expects: graph, work: {{}}, on: {{ report: [ {{ load: {{ parts: =graph.tasks }}, to: b }} ] }} }}\nb: {{ work: {{}}, on: {{ report: [ {{ {edge} }} ] }} }}"
        ),
    )
}

const STATUS: &str = "status: { open: [new], active: [begun], done: [ready], failed: [dropped] }";

fn with_status(vars: &str, more: &str, edge: &str) -> String {
    set(vars, &format!("{STATUS}\n    {more}"), edge)
}

/// The set has another name.
fn renamed(text: &str, name: &str) -> String {
    let text = text.replace("  parts:\n", &format!("  §{name}:\n"));
    text.replace("load: { parts:", &format!("load: {{ {name}:"))
}

/// The last edge leads to `c`, where the items of this set are gone through.
fn gone_through(text: &str, set: &str) -> String {
    let each = format!("each: {{ items: {set}, initial: d }}");
    let rest = "on: { done: { to: z } }, states: { d: { final: completed } }";
    text.replace("  z: ", &format!("  c: {{ {each}, {rest} }}\n  z: "))
}

#[test]
fn keys_and_needs() {
    let plain = set("", "", "to: z");
    for (from, to) in [
        ("key: id", "key: §name"),
        ("key: id", "key: §files"),
        ("text: string", "§text: ref parts"),
        ("text: string", "§text: { type: string, open: always }"),
    ] {
        refuses("bad_item_set", &plain.replace(from, to));
    }
    for name in ["config", "for"] {
        refuses("bad_name", &renamed(&plain, name));
    }
    for needs in ["§text", "§nowhere"] {
        let text = set("", &format!("needs: {needs}"), "to: z");
        refuses("bad_item_set", &text);
    }
}

#[test]
fn statuses() {
    for row in [
        "{ open: [new], done: [§new] } # bad_item_set",
        "{ open: [new], done: [ready], failed: [ready2, §ready2] } # bad_item_set",
        "§{ open: [], done: [ready] } # bad_item_set",
        "§{ open: [new], done: [] } # bad_item_set",
        "{ open: [new], active: [§in-hand], done: [ready] } # bad_name",
        "{ open: [new], done: [§true] } # bad_name",
    ] {
        proves(row, |status| set("", &format!("status: {status}"), "to: z"));
    }
    let field = with_status("", "", "to: z").replace("text: string", "§status: string");
    refuses("bad_item_set", &field);
    let items = gone_through(&with_status("", "", "to: c"), "§parts");
    refuses("bad_item_set", &items);
}

#[test]
fn cursors() {
    for row in [
        "§c: ref part # bad_cursor",
        "§c: ref nowhere # bad_cursor",
        "§c: { type: ref parts, default: p } # bad_cursor",
        "§parts: ref parts # bad_cursor",
        "§vars: ref parts # bad_cursor",
        "§result: ref parts # bad_cursor",
    ] {
        proves(row, |vars| set(vars, "", "to: z"));
    }
    for prefer in ["prefer: §nowhere", "prefer: §n"] {
        refuses("bad_cursor", &set("", prefer, "to: z"));
    }
    let beside_items = gone_through(&set("§item: ref parts", "", "to: c"), "parts");
    refuses("bad_cursor", &beside_items);
    let input = "initial: a\ninputs: { §c: ref parts }\n";
    let input = set("", "", "to: z").replace("initial: a\n", input);
    refuses("bad_cursor", &input);
    let others = "items:\n  others: { key: id, fields: { id: string } }\n";
    let of_others = set("c: ref others", "prefer: §c", "to: z").replace("items:\n", others);
    refuses("bad_cursor", &of_others);
    // A reader of that name is seen by the guards behind it.
    refuses("bad_name", &set("§graph: ref parts", "", "to: z"));
}

/// A set with waves, a cursor on each, and this edge.
fn with_cursors(edge: &str) -> String {
    let waves = "needs: needs\n    waves: { into: waves, apart: files }";
    with_status("c: ref parts, w: ref waves", waves, edge)
}

#[test]
fn what_is_set_through_them() {
    for row in [
        "c.text: x, w.status: completed",
        "§c.id: x # bad_value",
        "§c.needs: =c.needs # bad_value",
        "§c.wave: x # bad_value",
        "§w.parts: x # bad_value",
        "§w.level: 1 # bad_value",
        "§c.status: gone # bad_value",
        "§w.status: ready # bad_value",
        "§c: p # bad_value",
        "§n: x # bad_value",
        "§c.txt: x # unknown_name",
        "§d.text: x # unknown_name",
        "§n.text: x # unknown_name",
        "§parts.text: x # unknown_name",
        "c: §=1 + 1 # bad_expression",
        "c.ok: §=c.text # bad_expression",
    ] {
        proves(row, |set| with_cursors(&format!("set: {{ {set} }}, to: z")));
    }
}

#[test]
fn what_is_open() {
    let var = "c: { type: bool, open: [§quite-another] }";
    let fault = refuses("dangling_target", &set(var, "", "to: z"));
    assert!(fault.help.contains("always"), "{}", fault.help);
    let input = "initial: a\ninputs: { §c: { type: bool, open: always } }\n";
    let input = set("", "", "to: z").replace("initial: a\n", input);
    refuses("misplaced_key", &input);
    for row in [
        "needs: needs\n    open: { needs: always, files: always }",
        "open: { all: [a, §nowhere] } # dangling_target",
        "open: { text: [§nowhere] } # dangling_target",
        "open: { §nowhere: always } # unknown_name",
        "open: { §status: always } # unknown_name",
        "open: { all: §sometimes } # unreadable",
        // Where an item stands that was given up, or is taken up again, is said with `status`.
        "open: { add: always, §reopen: always } # bad_item_set",
        "open: { §skip: always } # bad_item_set",
        // What fixes the place of an item comes with the whole set.
        "open: { §id: always } # bad_item_set",
    ] {
        proves(row, |keys| set("", keys, "to: z"));
    }
    let framed = |row: &str| {
        let keys = format!("needs: needs\n    waves: {{ into: waves{row} }}");
        with_status("", &keys, "to: z")
    };
    for row in [
        " }\n    open: { reopen: always, skip: [a]",
        " }\n    open: { §wave: always # bad_item_set",
        " }\n    open: { §needs: always # bad_item_set",
        ", apart: files }\n    open: { §files: always # bad_item_set",
        ", alone: it.ok }\n    open: { §ok: always # bad_item_set",
    ] {
        proves(row, framed);
    }
    let field = with_status("", "open: { §skip: always }", "to: z");
    refuses("bad_item_set", &field.replace("ok: bool", "skip: bool"));
}

fn in_waves(waves: &str, edge: &str) -> String {
    with_status("", &format!("waves: {{ {waves} }}"), edge)
}

#[test]
fn waves() {
    for row in [
        "into: §parts # bad_item_set",
        "into: §config # bad_name",
        "into: §in # bad_name",
        "into: waves, apart: §text # bad_item_set",
        "into: waves, apart: [files, §nowhere] # bad_item_set",
        "into: waves, alone: §it.nowhere # unknown_name",
        "into: waves, alone: §vars.n > 0 # unknown_name",
        "into: waves, alone: §it.text # bad_expression",
        "into: waves, alone: §it.text > 1 # bad_expression",
        "§inTo: waves # unreadable",
        "into: waves, named: §in hand # bad_name",
    ] {
        proves(row, |waves| in_waves(waves, "to: z"));
    }
    for other in [
        "others: { key: id, fields: { id: string } }",
        "more: { key: id, status: { open: [o], done: [d] }, waves: { into: others }, fields: { id: string } }",
    ] {
        let text = in_waves("into: §others", "to: z");
        refuses(
            "bad_item_set",
            &text.replace("items:\n", &format!("items:\n  {other}\n")),
        );
    }
    refuses("bad_item_set", &set("", "waves: { into: §waves }", "to: z"));
    let plain = in_waves("into: waves", "to: z");
    let field = plain.replace("text: string", "§wave: string");
    refuses("bad_item_set", &field);
    refuses("bad_name", &renamed(&plain, "level"));
}

#[test]
fn waves_are_cut_when_their_set_is_filled() {
    for row in [
        "add: { parts: { id: x } }, to: z",
        "add: { §waves: { id: x } }, to: z # misplaced_key",
        "load: { §waves: =parts.next.needs }, to: z # misplaced_key",
    ] {
        proves(row, |edge| in_waves("into: waves", edge));
    }
    let abort = "on: { abort: { load: { §waves: =parts.next.needs }, to: y } }";
    let everywhere = in_waves("into: waves", "to: z")
        .replace("initial: a\n", &format!("initial: a\n{abort}\n"))
        + "  y: { final: aborted }\n";
    refuses("misplaced_key", &everywhere);
    let items = gone_through(&in_waves("into: waves", "to: c"), "§waves");
    refuses("bad_item_set", &items);
}
