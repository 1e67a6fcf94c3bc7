use workspace::convention::criteria::{MOST_ENTRIES, acceptance_criteria, implementation_hints};

#[test]
fn what_stands_under_its_heading_comes_first() {
    let details = "Use the parser.\n\n## Acceptance criteria\n- reads files\n- [ ] reports errors\n  with their line\n\n## Notes\n- small";
    let expected = ["reads files", "reports errors with their line"];
    assert_eq!(acceptance_criteria(details, "- other"), expected);
    assert_eq!(implementation_hints(details), ["small"]);
    for heading in "**Definition of done:**|Acceptance Criteria:|### Done when".split('|') {
        let details = format!("text\n{heading}\n1. one\n2) two");
        assert_eq!(acceptance_criteria(&details, ""), ["one", "two"]);
    }
}

#[test]
fn else_the_test_strategy_else_the_details() {
    assert_eq!(acceptance_criteria("- d", "Check:\n- a\n* b"), ["a", "b"]);
    let found = acceptance_criteria("- d", "Check that it\nworks.\n\nAnd stays so.");
    assert_eq!(found, ["Check that it works.", "And stays so."]);
    assert_eq!(acceptance_criteria("prose\n- d\n- e\n- d", ""), ["d", "e"]);
    assert!(acceptance_criteria("prose only", "").is_empty());
    assert!(acceptance_criteria("", "").is_empty());
}

#[test]
fn hints_are_items_or_else_lines() {
    let found = implementation_hints("Do it so:\n- a\n- b\n```\ncode\n```");
    assert_eq!(found, ["a", "b"]);
    let found = implementation_hints("Use the cache.\n\nMind the lock.");
    assert_eq!(found, ["Use the cache.", "Mind the lock."]);
}

#[test]
fn lists_are_bounded_and_plain() {
    let items: Vec<String> = (0..100).map(|n| format!("- item {n}")).collect();
    let many = items.join("\n");
    assert_eq!(acceptance_criteria("", &many).len(), MOST_ENTRIES);
    let long = format!("- {}", "word ".repeat(1000));
    let listed = acceptance_criteria("", &long);
    assert!(listed[0].len() < 400 && listed[0].ends_with('…'));
    let found = acceptance_criteria("", "- a\u{202e}\u{0}b\u{1b}[31m");
    assert_eq!(found, ["ab"]);
    assert_eq!(acceptance_criteria("", "- \n-\n- x"), ["x"]);
}
