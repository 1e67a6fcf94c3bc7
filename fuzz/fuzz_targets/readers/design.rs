//! A design that is read has items with numbers of their own, and a problem wherever an item has no type.
use std::collections::HashSet;

use markup::documents::design::{kind, read, status};

/// Reads the text as a design document.
pub fn check(text: &str) {
    let endings = text.replace("\r\n", "\n").replace('\r', "\n");
    let last = u32::try_from(endings.lines().count().max(1)).unwrap_or(u32::MAX);
    let design = read(text);
    let mut numbers = HashSet::new();
    for item in &design.items {
        assert!(!item.number.is_empty() && numbers.insert(&item.number));
        let is_number = |number: &str| {
            number.chars().all(|c| {
                c.is_ascii_digit() || c.is_ascii_lowercase() || matches!(c, '.' | '-' | '_')
            })
        };
        assert!(is_number(&item.number), "{item:?}");
        assert!(item.depends_on.iter().all(|number| is_number(number)));
        assert!((1..=last).contains(&item.line), "{item:?}");
        assert!(!item.title.chars().any(char::is_control));
    }
    let untyped = design
        .items
        .iter()
        .filter(|item| item.kind.is_none())
        .count();
    // Of very many only the first hundred are told.
    assert!(design.problems.len() >= untyped.min(100));
    for problem in &design.problems {
        assert!((1..=last).contains(&problem.line), "{problem:?}");
        assert!(
            !problem.message.chars().any(char::is_control),
            "{problem:?}"
        );
        assert!(!problem.suggestion.is_empty());
    }
    for note in &design.notes {
        assert!((1..=last).contains(&note.line), "{note:?}");
        assert!(!note.message.chars().any(char::is_control), "{note:?}");
    }
    let _ = (kind(text), status(text));
}
