use proptest::prelude::*;
use text::plain::{cut_at_word, many_lines, one_line, visible_len};
use text::quote::{LONGEST_QUOTE, quote_inline, quote_untrusted};

#[test]
fn fences() {
    for (text, expected) in [
        ("a", "```text\na\n```"),
        ("", "```text\n```"),
        ("a\r\nb\n\n", "```text\na\nb\n```"),
        ("```\nrm\n```", "````text\n```\nrm\n```\n````"),
        ("``````", "```````text\n``````\n```````"),
        ("\u{1b}[31mred\u{1b}[0m\u{0}\u{202e}", "```text\nred\n```"),
        ("\tindented  ", "```text\n\tindented\n```"),
    ] {
        assert_eq!(quote_untrusted(text), expected, "{text:?}");
    }
}

#[test]
fn a_long_text_loses_its_middle() {
    let text = format!("first\n{}\nlast", "é".repeat(LONGEST_QUOTE));
    let quoted = quote_untrusted(&text);
    assert!(quoted.len() < LONGEST_QUOTE + 100);
    assert!(quoted.starts_with("```text\nfirst\n") && quoted.ends_with("\nlast\n```"));
    assert!(quoted.contains(" bytes left out …]"));
    let ticks = quote_untrusted(&"`".repeat(LONGEST_QUOTE * 2));
    assert!(ticks.len() < 4 * LONGEST_QUOTE);
}

#[test]
fn spans() {
    for (text, expected) in [
        ("a\nb", "`a b`"),
        ("", ""),
        ("a`b", "``a`b``"),
        ("`a`", "`` `a` ``"),
        ("one two three", "`one two…`"),
    ] {
        assert_eq!(quote_inline(text, 10), expected, "{text:?}");
    }
}

#[test]
fn plain_text() {
    assert_eq!(one_line("\u{feff}a\u{2028}b\u{0}\u{7f}  c"), "a b c");
    assert_eq!(many_lines("a  \r\nb\rc\u{85}d"), "a\nb\nc\nd");
    assert_eq!(visible_len("e\u{301}👩‍💻🏽é"), 3);
    assert_eq!(visible_len(&format!("a{}", "\u{301}".repeat(1000))), 63);
    assert_eq!(cut_at_word("one two", 3), "one");
    assert_eq!(cut_at_word("one two", 7), "one two");
    assert_eq!(cut_at_word("a verylongword", 10), "a verylong");
    assert_eq!(cut_at_word("abc", 0), "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_closes_its_fence(text in "(`|``|```|~~~|\n|\r|a| |\u{0}|\u{1b}\\[0m|\u{200b}|text){0,60}") {
        let quoted = quote_untrusted(&text);
        let lines: Vec<&str> = quoted.lines().collect();
        let fence = lines[0].trim_end_matches("text");
        prop_assert!(fence.len() >= 3);
        prop_assert_eq!(*lines.last().unwrap(), fence);
        for line in &lines[1..lines.len() - 1] {
            prop_assert!(!line.contains(fence), "{}", quoted);
        }
    }

    #[test]
    fn cuts_hold(text in "\\PC{0,60}", most in 0usize..40) {
        let cut = cut_at_word(&text, most);
        prop_assert!(text.starts_with(cut));
        prop_assert!(visible_len(cut) <= most);
    }
}
