use journal::{DamageKind, Journal, JournalError, Position, verify};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::scene::{Scene, TS, damage_of, line_ends, refused, unit, units};

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1..5usize, 1..6)
}

/// The ends of whole units in `bytes`, with the number of events up to each.
fn unit_ends(sizes: &[usize], bytes: &[u8]) -> Vec<(usize, usize)> {
    let ends = line_ends(bytes);
    let mut events = 0;
    let mut whole = vec![(0, 0)];
    for size in sizes {
        events += size;
        whole.push((ends[events - 1], events));
    }
    whole
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_anywhere_leaves_the_whole_units_before_it(sizes in sizes(), at in any::<Index>()) {
        let journal = units(&sizes);
        let cut = at.index(journal.bytes().len() + 1);
        let scene = Scene::with(&journal.bytes()[..cut]);
        let (len, events) = unit_ends(&sizes, journal.bytes())
            .into_iter()
            .rfind(|&(end, _)| end <= cut)
            .unwrap();

        // What was read under the lock is not read again, but what is torn behind it is cut off.
        let mut writer = scene.lock();
        let tail = writer.read(&Position::start()).unwrap();
        let all = journal.read(&Position::start()).unwrap().records;
        prop_assert_eq!(&tail.records, &all[..events]);
        prop_assert_eq!(tail.torn_bytes, (cut - len) as u64);
        prop_assert_eq!(tail.head.len, len as u64);
        prop_assert_eq!(&scene.open().head().unwrap(), &tail.head);

        let report = verify(&scene.path()).unwrap();
        prop_assert_eq!((report.events, report.head, report.torn_bytes, report.damage),
            (events as u64, tail.head.clone(), tail.torn_bytes, None));

        let head = writer.append(&tail.head, TS, &unit(77, 2)).unwrap();
        prop_assert_eq!(head.seq, events as u64 + 2);
        prop_assert_eq!(verify(&scene.path()).unwrap().head, head);
    }

    #[test]
    fn a_changed_byte_is_found(sizes in sizes(), at in any::<Index>(), flip in 1..=255u8) {
        let journal = units(&sizes);
        let mut bytes = journal.bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let scene = Scene::with(&bytes);

        let ends = line_ends(journal.bytes());
        let line = ends.iter().filter(|&&end| end <= at).count() as u64 + 1;
        match verify(&scene.path()) {
            // The only other place for a greater version is the first line.
            Err(JournalError::NewerFormat { .. }) => prop_assert_eq!(line, 1),
            Err(error) => prop_assert!(false, "{:?}", error),
            Ok(report) => match report.damage {
                // Found on the line itself or on the next, which holds its hash.
                Some(damage) => prop_assert!(damage.line == line || damage.line == line + 1),
                None => prop_assert!(false, "line {line}: {report:?}"),
            },
        }
    }

    #[test]
    fn removed_lines_are_found(sizes in prop::collection::vec(1..4usize, 2..6), at in any::<Index>()) {
        let journal = units(&sizes);
        let mut lines: Vec<&[u8]> = journal.bytes().split_inclusive(|&byte| byte == b'\n').collect();
        let at = at.index(lines.len() - 1);
        lines.remove(at);
        let scene = Scene::with(&lines.concat());
        let damage = verify(&scene.path()).unwrap().damage.unwrap();
        prop_assert_eq!(damage.line, at as u64 + 1);
        let is_sequence = matches!(damage.kind, DamageKind::Sequence { .. });
        prop_assert!(is_sequence);
    }

    #[test]
    fn swapped_and_repeated_lines_are_found(
        sizes in prop::collection::vec(1..4usize, 2..6), one in any::<Index>(), two in any::<Index>(),
    ) {
        let journal = units(&sizes);
        let lines: Vec<&[u8]> = journal.bytes().split_inclusive(|&byte| byte == b'\n').collect();
        let (one, two) = (one.index(lines.len()), two.index(lines.len()));

        let mut repeated = lines.clone();
        repeated.insert(one, lines[two]);
        // A line said twice in a row is the same wherever the copy stands.
        let place = if one == two { one + 1 } else { one };
        let damage = verify(&Scene::with(&repeated.concat()).path()).unwrap().damage.unwrap();
        prop_assert_eq!(damage.line, place as u64 + 1);

        if one != two {
            let mut swapped = lines;
            swapped.swap(one, two);
            let damage = verify(&Scene::with(&swapped.concat()).path()).unwrap().damage.unwrap();
            prop_assert_eq!(damage.line, one.min(two) as u64 + 1);
        }
    }

    #[test]
    fn reading_goes_on_from_the_end_of_any_unit(sizes in sizes(), at in any::<Index>()) {
        let journal = units(&sizes);
        let scene = Scene::with(journal.bytes());
        let all = scene.records();
        let ends: Vec<Position> = positions(&all);
        let from = &ends[at.index(ends.len())];
        let tail = scene.open().read(from).unwrap();
        let skipped = usize::try_from(from.seq).unwrap();
        prop_assert_eq!(&tail.records, &all[skipped..]);
    }
}

/// The start and the end of every unit among `records`.
fn positions(records: &[journal::Record]) -> Vec<Position> {
    let mut positions = vec![Position::start()];
    for record in records.iter().filter(|record| record.k == record.n) {
        positions.push(Position {
            seq: record.seq,
            hash: journal::sha256_hex(&serde_json::to_vec(record).unwrap()),
            offset: record.offset + record.len + 1,
            line_len: record.len,
        });
    }
    positions
}

#[test]
fn what_stands_behind_a_position_is_held_and_what_stands_before_is_not_read() {
    let journal = units(&[2, 1, 2]);
    let from = positions(&journal.read(&Position::start()).unwrap().records).remove(2);
    let mut bytes = journal.bytes().to_vec();
    bytes[..100].fill(b'#');
    let scene = Scene::with(&bytes);
    assert_eq!(scene.open().read(&from).unwrap().records.len(), 2);
    assert!(scene.open().read(&Position::start()).is_err());
    // Damage behind it is told with the line of the file.
    let lines = journal.bytes().split_inclusive(|&byte| byte == b'\n');
    let mut lines: Vec<&[u8]> = lines.collect();
    lines.remove(3);
    let scene = Scene::with(&lines.concat());
    let Err(JournalError::Damaged(damage)) = scene.open().read(&from) else {
        panic!("it is damaged");
    };
    assert_eq!((damage.line, damage.path), (4, scene.path()));
}

#[test]
fn a_position_of_another_history_is_lost() {
    let scene = Scene::with(units(&[2, 1]).bytes());
    let here = positions(&scene.records()).remove(1);
    // The end of a line inside a unit is no position.
    let first = &scene.records()[0];
    let inside = Position {
        seq: 1,
        hash: journal::sha256_hex(&serde_json::to_vec(first).unwrap()),
        offset: first.len + 1,
        line_len: first.len,
    };
    let mut beginning = Position::start();
    beginning.seq = 1;
    let changes: [fn(&mut Position); 6] = [
        |position| position.hash = "a".repeat(64),
        |position| position.hash.clear(),
        |position| position.seq = 1,
        |position| position.offset += 1,
        |position| position.offset = u64::MAX,
        |position| position.line_len = u64::MAX,
    ];
    let changed = changes.map(|change| {
        let mut position = here.clone();
        change(&mut position);
        position
    });
    for position in changed.into_iter().chain([beginning, inside]) {
        let read = scene.open().read(&position);
        assert_eq!(refused(read), "PositionLost", "{position:?}");
    }
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let text = String::from_utf8(units(&[1, 1]).bytes().to_vec()).unwrap();
    for newer in [
        text.replacen("\"v\":2", "\"v\":3", 1),
        "{\"v\":7,\"shape\":\"unknown\"}\n".to_owned(),
    ] {
        let scene = Scene::with(newer.as_bytes());
        let read = refused(scene.open().read(&Position::start()));
        let looked_at = [refused(scene.open().head()), refused(verify(&scene.path()))];
        assert_eq!([&[read], &looked_at[..]].concat(), ["NewerFormat"; 3]);
    }
}

#[test]
fn the_version_belongs_on_the_first_line_only() {
    let text = String::from_utf8(units(&[1, 1]).bytes().to_vec()).unwrap();
    for wrong in ["", "\"v\":0,"] {
        let damage = damage_of(text.replacen("\"v\":2,", wrong, 1).as_bytes());
        assert_eq!((damage.line, damage.kind), (1, DamageKind::Version));
    }
}

#[test]
fn the_head_is_found_behind_a_long_torn_unit() {
    let mut bytes = units(&[1, 400]).bytes().to_vec();
    let ends = line_ends(&bytes);
    bytes.truncate(ends[ends.len() - 2] + 5);
    let scene = Scene::with(&bytes);
    let head = scene.open().head().unwrap();
    assert_eq!((head.seq, head.len), (1, ends[0] as u64));
}

/// Lines with these places in their units, whose numbers and hashes are in order.
fn lines_at(places: &[(u32, u32)]) -> String {
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for (seq, (k, n)) in (1..).zip(places) {
        let version = if seq == 1 { "\"v\":1," } else { "" };
        let line = format!(
            r#"{{"ts":"{TS}","seq":{seq},"prev":"{prev}","k":{k},"n":{n},{version}"event":"error"}}"#
        );
        prev = journal::sha256_hex(line.as_bytes());
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn places_in_a_unit_must_follow_each_other() {
    for (places, line, whole) in [
        (&[(2, 2)][..], 1, 0),
        (&[(0, 0)], 1, 0),
        (&[(1, 0)], 1, 0),
        (&[(0, 1)], 1, 0),
        (&[(1, 1), (2, 2)], 2, 1),
        (&[(1, 2), (1, 1)], 2, 0),
        (&[(1, 1), (1, 3), (3, 3)], 3, 1),
        (&[(1, 2), (2, 3), (3, 3)], 2, 0),
        (&[(1, 3), (2, 2)], 2, 0),
    ] {
        let report = verify(&Scene::with(lines_at(places).as_bytes()).path()).unwrap();
        let damage = report.damage.unwrap();
        assert_eq!((damage.line, report.events), (line, whole), "{places:?}");
        let is_unit = matches!(damage.kind, DamageKind::Unit { .. });
        assert!(is_unit, "{places:?} {damage}");
    }
    let sound = Scene::with(lines_at(&[(1, 1), (1, 2), (2, 2), (1, 1)]).as_bytes());
    assert_eq!(verify(&sound.path()).unwrap().events, 4);
}

#[test]
fn a_line_that_never_ends_is_damage_and_is_not_held_in_memory() {
    let sound = units(&[2]);
    let endless = vec![b'x'; journal::record::MAX_LINE_BYTES + 1];
    let scene = Scene::with(&[sound.bytes(), &endless].concat());
    let report = verify(&scene.path()).unwrap();
    let damage = report.damage.unwrap();
    assert_eq!((damage.line, damage.kind), (3, DamageKind::TooLong));
    assert_eq!(report.head, sound.head().unwrap());
}

#[test]
fn every_bit_of_the_last_unit_is_held() {
    for sizes in [&[1][..], &[1, 2]] {
        let journal = units(sizes);
        let begin = unit_ends(sizes, journal.bytes())[sizes.len() - 1].0;
        for bit in begin * 8..journal.bytes().len() * 8 {
            let mut bytes = journal.bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let scene = Scene::with(&bytes);
            let found = verify(&scene.path()).map(|report| report.damage);
            let is_named = match &found {
                Ok(damage) => damage.is_some(),
                Err(error) => matches!(error, JournalError::NewerFormat { .. }),
            };
            assert!(is_named, "{sizes:?} bit {bit}: {found:?}");
            assert!(scene.open().read(&Position::start()).is_err(), "{bit}");
        }
    }
}

#[test]
fn a_journal_of_the_first_format_is_read_and_gone_on_with() {
    let old = lines_at(&[(1, 1), (1, 2), (2, 2)]);
    let scene = Scene::with(old.as_bytes());
    let head = scene.open().head().unwrap();
    let next = scene.append(&head, &unit(1, 2));
    assert_eq!(verify(&scene.path()).unwrap().head, next);
    let mut bytes = scene.bytes();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    let damage = damage_of(&bytes);
    assert_eq!((damage.line, damage.kind), (5, DamageKind::Seal));
    // What a record shows is what is on disk.
    let line = |record| serde_json::to_string(record).unwrap() + "\n";
    let lines: String = scene.records().iter().map(line).collect();
    assert_eq!(lines.as_bytes(), scene.bytes());
}
