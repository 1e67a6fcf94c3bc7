//! A set of items is the same whatever form it has: held, changed over and over, packed, or in a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use machine::event::NewItem;
use machine::item_set::{ItemStatus, Pack};
use machine::{Catalog, Definition, Event, RunState};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::driver::map;

const DEFINITION: &str = r"
tramline: 1
id: many
title: Many items
vars: { batch: { type: ref batches } }
items:
  tasks:
    key: id
    needs: needs
    status: { open: [pending], active: [busy], done: [completed], failed: [skipped] }
    open: { status: always }
    waves: { into: batches, named: batch }
    fields: { id: string, title: string, needs: [string] }
initial: begin
states:
  begin: { work: {}, to: end }
  end: { final: completed }
";

const NAMES: [(&str, ItemStatus); 4] = [
    ("pending", ItemStatus::Open),
    ("busy", ItemStatus::Active),
    ("completed", ItemStatus::Done),
    ("skipped", ItemStatus::Failed),
];

fn definition() -> Definition {
    Definition::load(DEFINITION, &Catalog::default()).unwrap()
}

/// What a set is to be: keys, fields and statuses in a plain map.
type Plain = IndexMap<String, (Map<String, Value>, ItemStatus)>;

/// Keys that are hard to write and to find.
fn key(at: usize) -> String {
    match at % 7 {
        0 => format!("t{at}"),
        1 => format!("t{at} \"quoted\" \\"),
        2 => format!("ü{at}\n"),
        3 => format!("t{at}\",\""),
        _ => format!("{at}"),
    }
}

fn fields(at: usize, status: usize, wave: usize) -> Map<String, Value> {
    let needs: Vec<String> = (1..=at % 3)
        .filter_map(|back| Some(key(at.checked_sub(back * 2)?)))
        .collect();
    map(json!({
        "id": key(at), "title": format!("Task {at}"), "needs": needs,
        "status": NAMES[status].0, "wave": format!("batch-{wave}"),
    }))
}

#[derive(Debug, Clone)]
enum Op {
    Change(usize, usize),
    Move(usize, usize),
    Note(usize, String),
    Forget(usize),
    Stand(usize, usize),
    Add(usize),
    Share,
    Freeze,
    Load(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..400_usize;
    prop_oneof![
        12 => (at.clone(), 0..4_usize).prop_map(|(at, to)| Op::Change(at, to)),
        1 => (at.clone(), 0..9_usize).prop_map(|(at, wave)| Op::Move(at, wave)),
        2 => (at.clone(), "[a-zß\"]{0,6}").prop_map(|(at, note)| Op::Note(at, note)),
        1 => at.clone().prop_map(Op::Forget),
        2 => (at.clone(), 0..4_usize).prop_map(|(at, to)| Op::Stand(at, to)),
        2 => (400..440_usize).prop_map(Op::Add),
        2 => Just(Op::Share),
        3 => Just(Op::Freeze),
        1 => prop_oneof![Just(0_usize), Just(3), Just(70), Just(200)].prop_map(Op::Load),
    ]
}

fn changed(key: &str, fields: Value, status: Option<usize>) -> Event {
    Event::ItemChanged {
        set: "tasks".to_owned(),
        key: key.to_owned(),
        fields: map(fields),
        status: status.map(|to| NAMES[to].1),
        reason: None,
    }
}

fn loaded(count: usize) -> (Event, Plain) {
    let item = |at: usize| NewItem {
        key: key(at),
        fields: fields(at, at % 4, at / 10),
        status: NAMES[at % 4].1,
    };
    let items: Vec<NewItem> = (0..count).map(item).collect();
    let all = items.iter().cloned();
    let plain = all.map(|item| (item.key, (item.fields, item.status)));
    let plain = plain.collect();
    let set = "tasks".to_owned();
    (Event::ItemsLoaded { set, items }, plain)
}

/// Where the items of large sets are kept.
#[derive(Default)]
struct Shelf(HashMap<String, Vec<u8>>);

impl Shelf {
    fn freeze(&mut self, run: &mut RunState, definition: &Definition) -> String {
        run.freeze(definition, |pack| {
            let name = pack
                .name()
                .map_or_else(|| format!("p{}", self.0.len()), str::to_owned);
            self.0.insert(name.clone(), pack.bytes().to_vec());
            Some(name)
        })
        .unwrap()
    }

    fn thaw(&self, text: &str) -> Option<RunState> {
        RunState::thaw(text, |name| {
            let pack = Pack::open(name, self.0.get(name)?.clone())?;
            Some(Arc::new(pack))
        })
    }
}

fn apply(run: &mut RunState, plain: &mut Plain, op: &Op) -> Option<()> {
    let key_at = |plain: &Plain, at: usize| {
        let at = at.checked_rem(plain.len())?;
        plain.get_index(at).map(|(key, _)| key.clone())
    };
    let mut event = |event: &Event| run.apply("2026-01-01T00:00:00.000Z", event);
    match op {
        Op::Change(at, to) => {
            let key = key_at(plain, *at)?;
            event(&changed(&key, json!({"status": NAMES[*to].0}), Some(*to)));
            let (fields, status) = &mut plain[&key];
            fields.insert("status".to_owned(), NAMES[*to].0.into());
            *status = NAMES[*to].1;
        }
        Op::Move(at, wave) => {
            let (key, wave) = (key_at(plain, *at)?, format!("batch-{wave}"));
            event(&changed(&key, json!({"wave": wave}), None));
            plain[&key].0.insert("wave".to_owned(), wave.into());
        }
        Op::Note(at, note) => {
            let key = key_at(plain, *at)?;
            event(&changed(&key, json!({"note": note, "needs": []}), None));
            let fields = &mut plain[&key].0;
            fields.insert("note".to_owned(), note.as_str().into());
            fields.insert("needs".to_owned(), json!([]));
        }
        Op::Forget(at) => {
            let key = key_at(plain, *at)?;
            event(&changed(&key, json!({"note": null, "status": null}), None));
            plain[&key].0.shift_remove("note");
            plain[&key].0.shift_remove("status");
        }
        Op::Stand(at, to) => {
            let key = key_at(plain, *at)?;
            event(&changed(&key, json!({}), Some(*to)));
            plain[&key].1 = NAMES[*to].1;
        }
        Op::Add(at) => {
            event(&Event::ItemAdded {
                set: "tasks".to_owned(),
                item: NewItem {
                    key: key(*at),
                    fields: fields(*at, 0, 3),
                    status: ItemStatus::Open,
                },
            });
            plain.insert(key(*at), (fields(*at, 0, 3), ItemStatus::Open));
        }
        Op::Load(count) => {
            let (filling, now) = loaded(*count);
            event(&filling);
            *plain = now;
        }
        Op::Share | Op::Freeze => {}
    }
    Some(())
}

/// What depends on something that was skipped, found the simple way.
fn blocked(plain: &Plain) -> Vec<bool> {
    let failed = |(_, status): &(_, ItemStatus)| *status == ItemStatus::Failed;
    let mut lost: Vec<bool> = plain.values().map(failed).collect();
    loop {
        let before = lost.clone();
        for (at, (fields, _)) in plain.values().enumerate() {
            let needs = fields["needs"].as_array().unwrap();
            let hit = |need: &Value| {
                let at = plain.get_index_of(need.as_str().unwrap());
                at.is_some_and(|at| before[at])
            };
            lost[at] |= needs.iter().any(hit);
        }
        if lost == before {
            break;
        }
    }
    let all = plain.values().zip(lost);
    all.map(|((_, status), lost)| lost && *status == ItemStatus::Open)
        .collect()
}

fn assert_is(run: &RunState, plain: &Plain, definition: &Definition) {
    let set = &run.sets["tasks"];
    assert_eq!(set.len(), plain.len());
    for (at, (key, (fields, status))) in plain.iter().enumerate() {
        let item = set.get(key).unwrap();
        assert_eq!((&*item.fields, item.status), (fields, *status), "{key}");
        assert_eq!(
            (set.position(key), set.status(key)),
            (Some(at), Some(*status))
        );
        assert_eq!(set.nth(at).unwrap().0, key);
    }
    assert!(set.keys().eq(plain.keys()));
    for absent in ["", "nobody", "t0\"", "batch-1", "\u{10ffff}"] {
        assert!(set.get(absent).is_none());
    }
    for (_, status) in NAMES {
        let expected = plain.values().filter(|(_, s)| *s == status).count();
        assert_eq!(set.count(status), expected);
    }
    let text = |fields: &Map<String, Value>, name: &str| {
        let text = fields.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    for wave in [None, Some(0), Some(3), Some(8), Some(99)] {
        let wave = wave.map(|wave| format!("batch-{wave}"));
        let mut expected: HashMap<String, usize> = HashMap::new();
        for (fields, _) in plain.values() {
            let own = text(fields, "wave");
            if wave.as_ref().is_none_or(|wave| own == *wave) {
                *expected.entry(text(fields, "status")).or_default() += 1;
            }
        }
        let mut counts = set.count_named(wave.as_deref());
        counts.retain(|_, count| *count > 0);
        assert_eq!(counts.into_iter().collect::<HashMap<_, _>>(), expected);
    }
    let declared = definition.items.get("tasks").unwrap();
    assert_eq!(set.blocked(declared), blocked(plain));
    let whole = serde_json::to_value(run).unwrap();
    let items = whole["sets"]["tasks"]["items"].as_object().unwrap();
    assert!(items.keys().eq(plain.keys()));
    assert_eq!(serde_json::from_value::<RunState>(whole).unwrap(), *run);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_set_is_what_a_plain_map_would_be(
        count in prop_oneof![Just(0_usize), Just(5), Just(63), Just(64), Just(300)],
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let definition = definition();
        let mut shelf = Shelf::default();
        let mut run = RunState { run: "r".to_owned(), ..RunState::default() };
        let (event, mut plain) = loaded(count);
        run.apply("2026-01-01T00:00:00.000Z", &event);
        let mut copies = Vec::new();
        for op in &ops {
            apply(&mut run, &mut plain, op);
            match op {
                Op::Share => copies.push((run.clone(), plain.clone())),
                Op::Freeze => {
                    let before = run.clone();
                    let text = shelf.freeze(&mut run, &definition);
                    prop_assert_eq!(&run, &before);
                    let thawed = shelf.thaw(&text).unwrap();
                    prop_assert_eq!(&thawed, &run);
                    run = thawed;
                }
                _ => {}
            }
        }
        assert_is(&run, &plain, &definition);
        let text = shelf.freeze(&mut run, &definition);
        assert_is(&run, &plain, &definition);
        assert_is(&shelf.thaw(&text).unwrap(), &plain, &definition);
        for (copy, plain) in copies {
            assert_is(&copy, &plain, &definition);
        }
    }
}

fn run_of(count: usize) -> RunState {
    let mut run = RunState::default();
    run.apply("2026-01-01T00:00:00.000Z", &loaded(count).0);
    run
}

#[test]
fn the_text_of_a_snapshot_does_not_grow_with_the_items() {
    let definition = definition();
    let mut shelf = Shelf::default();
    let length = |run: &mut RunState, shelf: &mut Shelf| shelf.freeze(run, &definition).len();
    let mut run = run_of(5_000);
    let few = length(&mut run_of(10), &mut shelf);
    let many = length(&mut run, &mut shelf);
    assert!(many < few, "{many} {few}");
    assert_eq!(shelf.0.len(), 1);
    for at in 0..3_000 {
        let event = changed(&key(at), json!({"status": "busy"}), Some(1));
        run.apply("2026-01-01T00:00:00.000Z", &event);
        if at % 20 == 0 {
            assert!(length(&mut run, &mut shelf) < 8 * 1024);
        }
    }
    // What changed is written into a new pack now and then, not each time.
    assert!((10..40).contains(&shelf.0.len()), "{}", shelf.0.len());
}

#[test]
fn few_items_with_much_text_lie_apart_too() {
    let definition = definition();
    let mut run = run_of(2);
    let mut shelf = Shelf::default();
    shelf.freeze(&mut run, &definition);
    assert!(shelf.0.is_empty());
    let event = changed(&key(1), json!({"title": "x".repeat(9_000)}), None);
    run.apply("2026-01-01T00:00:00.000Z", &event);
    let text = shelf.freeze(&mut run, &definition);
    assert_eq!((shelf.0.len(), text.len() < 2_000), (1, true));
    assert_eq!(shelf.thaw(&text).unwrap(), run);
}

#[test]
fn a_snapshot_without_its_items_is_none() {
    let definition = definition();
    let mut run = run_of(100);
    let mut shelf = Shelf::default();
    let text = shelf.freeze(&mut run, &definition);
    let event = changed(&key(99), json!({"status": "busy"}), Some(1));
    run.apply("2026-01-01T00:00:00.000Z", &event);
    let later = shelf.freeze(&mut run, &definition);
    assert_eq!(shelf.thaw(&later).unwrap(), run);
    assert!(RunState::thaw(&text, |_| None).is_none());
    assert!(RunState::thaw("{", |_| None).is_none());
    // Items that are not those that the text is about.
    let mut other = run_of(64);
    let mut elsewhere = Shelf::default();
    elsewhere.freeze(&mut other, &definition);
    assert!(elsewhere.thaw(&later).is_none());
    // A snapshot that cannot be kept as a whole is not written.
    assert!(run_of(100).freeze(&definition, |_| None).is_none());
}

#[test]
fn what_is_no_pack_is_not_opened() {
    let definition = definition();
    let mut shelf = Shelf::default();
    shelf.freeze(&mut run_of(100), &definition);
    let bytes = shelf.0.into_values().next().unwrap();
    assert!(Pack::open("p", bytes.clone()).is_some());
    for cut in [0, 1, 20, 40, bytes.len() / 2, bytes.len() - 1] {
        assert!(Pack::open("p", bytes[..cut].to_vec()).is_none());
    }
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for hostile in [
        "tramline items 2 0 0 0 0 0 0",
        "tramline items 1 99999999999 0 0 0 0 0",
        "tramline items 1 18446744073709551615 1 1 1 1 1",
        "tramline items 1 4611686018427387904 0 0 0 0 0",
        "tramline items 1",
        "tramline items 1 a b c d e f",
    ] {
        let mut other = hostile.as_bytes().to_vec();
        other.extend_from_slice(&bytes[first..]);
        assert!(Pack::open("p", other).is_none(), "{hostile}");
    }
}

/// Bytes that somebody spoilt may say anything; they are looked at without a panic.
#[test]
fn a_spoilt_pack_brings_nobody_down() {
    let definition = definition();
    let mut run = run_of(70);
    let mut shelf = Shelf::default();
    let text = shelf.freeze(&mut run, &definition);
    let (name, bytes) = shelf.0.into_iter().next().unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut spoilt = bytes.clone();
        spoilt[at] ^= 0x41;
        let take = |_: &str| Pack::open(&name, spoilt.clone()).map(Arc::new);
        let Some(run) = RunState::thaw(&text, take) else {
            continue;
        };
        let set = &run.sets["tasks"];
        for at in 0..70 {
            let _ = (set.get(&key(at)), set.nth(at));
        }
        let _ = set.blocked(definition.items.get("tasks").unwrap());
        let _ = (set.count_named(None), set.count_named(Some("batch-3")));
    }
}
