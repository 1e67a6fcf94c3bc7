//! Definitions drawn from a list of choices: small, different, and always provable.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use machine::Catalog;
use machine::check::catalog::{Effect, Finder, Reader};
use machine::definition::FieldType::{Bool, Int, Strings};

/// A list of choices; when it is used up, every choice is the first one.
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Self { rest: all }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        usize::from(*first) % n
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == one_in - 1
    }
}

pub fn catalog() -> Catalog {
    let effect = |lasting| Effect {
        lasting,
        result: BTreeMap::from([("n".to_owned(), Int)]),
        ..Effect::default()
    };
    Catalog {
        readers: BTreeMap::from([
            (
                "found".to_owned(),
                Reader {
                    facts: BTreeMap::from([("list".to_owned(), Strings)]),
                    ..Reader::default()
                },
            ),
            (
                "coin".to_owned(),
                Reader {
                    facts: BTreeMap::from([("n".to_owned(), Int), ("ok".to_owned(), Bool)]),
                    ..Reader::default()
                },
            ),
        ]),
        effects: BTreeMap::from([
            ("soft".to_owned(), effect(false)),
            ("hard".to_owned(), effect(true)),
        ]),
        policies: BTreeMap::from(["strict", "lax"].map(|policy| {
            let finders = ["found", "coin"].map(|reader| Finder {
                reader: reader.to_owned(),
                ..Finder::default()
            });
            (policy.to_owned(), finders.to_vec())
        })),
        templates: BTreeMap::from([("do.md".to_owned(), Vec::new())]),
        ..Catalog::default()
    }
}

/// A definition. Every level is a chain, so that all of it can be reached and leads out; edges of
/// `work` states go anywhere on their level, all others only onward.
pub fn definition(choices: &mut Choices<'_>) -> String {
    let mut text = String::from(
        "tramline: 1\nid: drawn\ntitle: Drawn\nvars: { count: int, last: { type: int, default: -1 }, mode: { type: [auto, human] } }\n\
         items: { parts: { key: id, needs: needs, fields: { id: string, needs: [string], n: int, kind: [plan, fix] } } }\n\
         initial: begin\n",
    );
    let abort = [
        "",
        "abort: { to: off }",
        "abort: [ { when: command.cleanup, do: hard, to: off }, { to: off } ]",
    ][choices.below(3)];
    let rewind = ["", "rewind: {}", "rewind: { do: [hard, soft] }"][choices.below(3)];
    let on: Vec<&str> = [abort, rewind]
        .into_iter()
        .filter(|on| !on.is_empty())
        .collect();
    if !on.is_empty() {
        let _ = writeln!(text, "on: {{ {} }}", on.join(", "));
    }
    let aborts = !abort.is_empty();
    let manual = choices.chance(3);
    if manual {
        text += "advance: manual\n";
    }
    if choices.chance(2) {
        text += "counter: count\n";
    }
    let otherwise = [
        "",
        "{ pause: lost }",
        "[ { warn: hm }, { when: vars.count > 2, refuse: much }, { pause: lost } ]",
        // Items could not follow it there.
        "{ outcome: lost, reason: astray, to: bad }",
    ][choices.below(if manual { 4 } else { 3 })];
    if !otherwise.is_empty() {
        let _ = writeln!(text, "otherwise: {otherwise}");
    }
    let mut body = String::from(
        "states:\n  begin: { expects: found, route: { load: { parts: =found.list }, to: gate } }\n",
    );
    body += "  gate: { work: {}, to: s0, on: { skip: { to: bad } } }\n";
    let states = 1 + choices.below(5);
    for at in 0..states {
        let level = Level {
            prefix: "s",
            end: "good",
            bad: "bad",
            states,
            item: false,
            manual,
            open: !otherwise.is_empty(),
        };
        if choices.chance(3) && !manual {
            each(choices, &mut body, &level, at);
        } else {
            state(choices, &mut body, &level, at, "  ");
        }
    }
    body += "  good: { final: completed";
    body += if choices.chance(2) {
        ", do: [soft, hard] }\n"
    } else {
        " }\n"
    };
    let bad = ["failed", "error"][choices.below(2)];
    let _ = writeln!(body, "  bad: {{ final: {bad} }}");
    if aborts {
        body += "  off: { final: aborted, do: soft }\n";
    }
    // A gate that no state stands behind is a fault.
    let gates: Vec<&str> = GATES
        .into_iter()
        .filter(|(gate, _)| body.contains(&format!("gate: {gate},")))
        .map(|(_, declared)| declared)
        .collect();
    if !gates.is_empty() {
        let _ = writeln!(text, "gates: {{ {} }}", gates.join(", "));
    }
    text + &body
}

/// The gates that a state may stand behind.
pub const GATES: [(&str, &str); 3] = [
    ("door", "door: human"),
    ("hatch", "hatch: auto"),
    ("latch", "latch: =vars.mode"),
];

struct Level<'a> {
    prefix: &'a str,
    end: &'a str,
    bad: &'a str,
    states: usize,
    item: bool,
    /// Whether every transition is asked for.
    manual: bool,
    /// Whether there are edges behind a state's own.
    open: bool,
}

impl Level<'_> {
    fn name(&self, at: usize) -> String {
        if at < self.states {
            format!("{}{at}", self.prefix)
        } else {
            self.end.to_owned()
        }
    }

    fn onward(&self, choices: &mut Choices<'_>, at: usize) -> String {
        self.name(at + 1 + choices.below(self.states - at))
    }

    fn anywhere(&self, choices: &mut Choices<'_>) -> String {
        let at = choices.below(self.states + 2);
        if at > self.states {
            self.bad.to_owned()
        } else {
            self.name(at)
        }
    }
}

fn each(choices: &mut Choices<'_>, text: &mut String, level: &Level<'_>, at: usize) {
    let name = level.name(at);
    let (prefix, end, bad) = (
        format!("{name}n"),
        format!("{name}done"),
        format!("{name}gone"),
    );
    let states = 1 + choices.below(3);
    let parallel = 1 + choices.below(3);
    let _ = writeln!(
        text,
        "  {name}:\n    each: {{ items: parts, initial: {prefix}0, parallel: {parallel} }}"
    );
    let next = level.name(at + 1);
    let onward = level.onward(choices, at);
    let _ = writeln!(
        text,
        "    on: {{ done: [ {{ when: parts.failed > 0, to: {onward} }}, {{ to: {next} }} ] }}\n    states:"
    );
    let inner = Level {
        prefix: &prefix,
        end: &end,
        bad: &bad,
        states,
        item: true,
        manual: false,
        open: level.open,
    };
    for at in 0..states {
        state(choices, text, &inner, at, "      ");
    }
    let _ = writeln!(text, "      {end}: {{ final: completed }}");
    // Every end must be reachable, whatever the states above lead to.
    if text.contains(&format!("to: {bad} ")) {
        let _ = writeln!(text, "      {bad}: {{ final: failed }}");
    }
}

fn state(choices: &mut Choices<'_>, text: &mut String, level: &Level<'_>, at: usize, pad: &str) {
    let name = level.name(at);
    let next = level.name(at + 1);
    let gate = if !level.item && choices.chance(2) {
        GATES[choices.below(3)].0
    } else {
        ""
    };
    let (behind, reject) = if gate.is_empty() {
        (String::new(), String::new())
    } else {
        let act = ["", "do: soft, "][choices.below(2)];
        let to = level.anywhere(choices);
        (
            format!("gate: {gate}, "),
            format!(", on: {{ reject: {{ {act}to: {to} }} }}"),
        )
    };
    let by = match choices.below(4) {
        _ if level.item => "",
        0 => "advance: manual, ",
        1 => "advance: auto, ",
        _ => "",
    };
    let line = match choices.below(6) {
        0 => {
            let effects = ["soft", "[soft, hard]", "[hard, soft, soft]"][choices.below(3)];
            format!("{{ {behind}{by}do: {effects}, to: {next}{reject} }}")
        }
        1 => {
            let onward = level.onward(choices, at);
            let guard = if level.item {
                "item.kind == 'fix'"
            } else {
                "vars.count > 1"
            };
            let act = [
                "",
                "do: soft, with: { n: =vars.count }, ",
                "set: { count: =vars.count + 1 }, outcome: noted, ",
            ][choices.below(3)];
            format!(
                "{{ {behind}{by}route: [ {{ when: {guard}, {act}to: {onward} }}, {{ to: {next} }} ]{reject} }}"
            )
        }
        2 => {
            let files = files(choices, level);
            format!(
                "{{ {behind}work: {{ {} }}, to: {next}{reject} }}",
                files.trim_start_matches(", ")
            )
        }
        _ => work(choices, level, at, &behind),
    };
    let _ = writeln!(text, "{pad}{name}: {line}");
}

/// The files of a work state, and when it is issued.
fn files(choices: &mut Choices<'_>, level: &Level<'_>) -> String {
    if level.item {
        return String::new();
    }
    let mut all = [
        "",
        ", response: 'in-{count}.md'",
        ", prompt: 'ask/{count}.md', response: in.md",
    ][choices.below(3)]
    .to_owned();
    if level.manual && choices.chance(2) {
        all += ", issue: step";
    }
    all
}

fn work(choices: &mut Choices<'_>, level: &Level<'_>, at: usize, behind: &str) -> String {
    let next = level.name(at + 1);
    let mut edges = Vec::new();
    if choices.chance(2) {
        edges.push("{ check: [strict, lax] }".to_owned());
    }
    if choices.chance(2) {
        edges.push("{ when: coin.n == 9, refuse: nine }".to_owned());
    }
    if choices.chance(2) {
        let to = if choices.chance(2) {
            format!(", to: {} ", level.anywhere(choices))
        } else {
            String::new()
        };
        let set = if choices.chance(2) {
            ", set: { last: =coin.n }"
        } else {
            ""
        };
        edges.push(format!("{{ when: coin.n == 8, retry: eight{set}{to} }}"));
    }
    if choices.chance(3) {
        edges.push("{ when: coin.n == 7, pause: seven }".to_owned());
    }
    if choices.chance(2) {
        edges.push("{ when: coin.ok, warn: fine }".to_owned());
    }
    if choices.chance(2) {
        let act = match choices.below(5) {
            0 => "",
            1 => "do: hard, ",
            2 => "do: [soft, hard], set: { last: =result.n }, ",
            3 if level.item => "set: { item.n: =coin.n, count: =vars.count + 1 }, ",
            3 => "set: { count: =vars.count + 1, mode: human }, reason: ='n' + string(coin.n), ",
            _ => {
                "set: { count: =vars.count + 1 }, add: { parts: { id: ='x' + string(vars.count), kind: fix } }, emit: 'part:added', "
            }
        };
        edges.push(format!(
            "{{ when: coin.n < 4, {act}to: {} }}",
            level.anywhere(choices)
        ));
    }
    let last = if level.open && choices.chance(2) {
        "when: coin.n < 6, outcome: fits, "
    } else {
        ""
    };
    edges.push(format!("{{ {last}to: {next} }}"));
    let attempts = [
        "",
        ", attempts: 1",
        ", attempts: 3",
        ", attempts: =vars.count + 1",
    ][choices.below(4)];
    let instructions = if choices.chance(2) {
        ", instructions: do.md"
    } else {
        ""
    };
    let reopen = match choices.below(3) {
        0 => String::new(),
        1 => format!(", reopen: {{ to: {} }}", level.anywhere(choices)),
        _ => format!(
            ", reopen: [ {{ when: vars.count > 2, refuse: no }}, {{ do: soft, to: {} }} ]",
            level.anywhere(choices)
        ),
    };
    let skip = if choices.chance(2) {
        format!(", skip: {{ to: {} }}", level.bad)
    } else {
        String::new()
    };
    let reject = if behind.is_empty() {
        String::new()
    } else {
        format!(", reject: {{ to: {} }}", level.anywhere(choices))
    };
    let files = files(choices, level);
    format!(
        "{{ {behind}expects: coin, work: {{ by: anyone{attempts}{instructions}{files} }}, on: {{ report: [ {} ]{reopen}{skip}{reject} }} }}",
        edges.join(", ")
    )
}
