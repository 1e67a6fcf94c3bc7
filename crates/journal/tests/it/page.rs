use journal::{Head, Journal, MemoryJournal, Position, Record, page};
use serde_json::json;

use crate::scene::{Scene, TS, event, units};

/// What a page is, by going through all of it.
fn expected(all: &[Record], before: Option<u64>, most: u64) -> Vec<Record> {
    let last = all.last().map_or(0, |record| record.seq);
    let unit_end = |seq: u64| {
        let ends = all.iter().filter(|record| record.k == record.n);
        ends.map(|record| record.seq)
            .take_while(|end| *end <= seq)
            .last()
            .unwrap_or(0)
    };
    let to = unit_end(before.map_or(last, |before| before.saturating_sub(1)));
    let from = unit_end(to.saturating_sub(most));
    let within = all
        .iter()
        .filter(|record| record.seq > from && record.seq <= to);
    within.cloned().collect()
}

#[test]
fn a_page_is_what_stands_there_in_whole_units() {
    // Long enough to be halved a few times, with units of several sizes.
    let sizes: Vec<usize> = (0..1200).map(|at| 1 + at * 7 % 5).collect();
    let journal = units(&sizes);
    let all = journal.read(&Position::start()).unwrap().records;
    // What is torn behind them belongs to no page.
    let scene = Scene::with(&[journal.bytes(), b"torn"].concat());
    let last = all.last().unwrap().seq;
    assert!(journal.bytes().len() > 300_000);
    let places = (0..40).map(|at| Some(at * last / 37)).chain([None]);
    for before in places.chain([Some(1), Some(2), Some(last), Some(last + 1)]) {
        for most in [1, 2, 50, last * 2] {
            let page = page(&scene.path(), before, most).unwrap();
            assert_eq!(page.last, last);
            let expected = expected(&all, before, most);
            assert!(page.records == expected, "{before:?} {most}");
        }
    }
}

#[test]
fn an_event_that_is_longer_than_all_others_hides_none() {
    let mut journal = MemoryJournal::new();
    let mut head = Head::empty();
    let note = |length: usize| event("note", &json!({ "text": "x".repeat(length) }));
    for number in 0..20 {
        let long = if number % 10 == 7 { 300_000 } else { 10 };
        let events = [note(5), note(long)];
        head = journal.append(&head, TS, &events).unwrap();
    }
    let all = journal.read(&Position::start()).unwrap().records;
    let scene = Scene::with(journal.bytes());
    for before in 1..=head.seq + 1 {
        for most in [1, 3, 20] {
            let page = page(&scene.path(), Some(before), most).unwrap();
            let expected = expected(&all, Some(before), most);
            assert!(page.records == expected, "{before} {most}");
        }
    }
}
