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
    for (details, strategy, expected) in [
        ("- d", "Check:\n- a\n* b", "a|b"),
        (
            "- d",
            "Check it\nworks.\n\nAnd stays so.",
            "Check it works.|And stays so.",
        ),
        ("prose\n- d\n- e\n- d", "", "d|e"),
        ("prose only", "", ""),
        ("", "", ""),
        ("", "- a\u{202e}\u{0}b\u{1b}[31m", "ab"),
        ("", "- \n-\n- x", "x"),
    ] {
        let found = acceptance_criteria(details, strategy);
        assert_eq!(found.join("|"), expected, "{details} {strategy}");
    }
    // Hints are items, or else lines.
    for (details, expected) in [
        ("Do it so:\n- a\n- b\n```\ncode\n```", "a|b"),
        ("Use the cache.\n\nMind it.", "Use the cache.|Mind it."),
    ] {
        assert_eq!(implementation_hints(details).join("|"), expected);
    }
}

#[test]
fn lists_are_bounded() {
    let many: Vec<String> = (0..100).map(|n| format!("- item {n}\n")).collect();
    assert_eq!(acceptance_criteria("", &many.concat()).len(), MOST_ENTRIES);
    let long = format!("- {}", "word ".repeat(1000));
    let listed = acceptance_criteria("", &long);
    assert!(listed[0].len() < 400 && listed[0].ends_with('…'));
}
