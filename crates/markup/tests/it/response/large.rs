//! Responses so large that a reader which looks at anything twice too often would not come back.

use super::kind;
use std::fmt::Write as _;

use markup::response::bundle::{self, Rules};
use markup::response::{plan, verdict};

const LARGE: usize = 16 * 1024 * 1024;
/// Large enough to take hours where each line looks at all others.
const AWKWARD: usize = 2 * 1024 * 1024;

fn filled(piece: &str) -> String {
    piece.repeat(AWKWARD / piece.len())
}

#[test]
fn ten_thousand_files_are_read() {
    let mut text = String::new();
    for number in 0..10_000 {
        let folder = number % 100;
        let _ = writeln!(
            text,
            "<<<FILE: src/m{folder}/f{number}.rs>>>\nfn f{number}() {{}}"
        );
    }
    let read = bundle::read(text.as_bytes(), &Rules::default()).expect("a bundle");
    assert_eq!(read.files.len(), 10_000);
    assert_eq!(read.files[9_999].path, "src/m99/f9999.rs");
    assert_eq!(read.files[9_999].content, "fn f9999() {}\n");

    text.push_str("<<<FILE: one/more.rs>>>\nx\n");
    let error = bundle::read(text.as_bytes(), &Rules::default()).expect_err("too many");
    assert_eq!(kind(error.fault()), "TooMany");
    assert_eq!(error.line(), Some(20_001));
}

#[test]
fn a_response_has_a_largest_size() {
    let rules = Rules::default().with_max_bytes(30);
    let text = "<<<FILE: a.txt>>>\n0123456789\n";
    assert!(bundle::read(text.as_bytes(), &rules).is_ok());
    let error = bundle::read(format!("{text}ab").as_bytes(), &rules).expect_err("too large");
    assert_eq!(kind(error.fault()), "TooLarge");
}

#[test]
fn one_large_file_of_blocks_is_read() {
    let piece = format!(
        "    ```rust\n    let x = \"```\";\n{}    ```\n  \n",
        "    //  and much more\n".repeat(1000)
    );
    let body = piece.repeat(LARGE / piece.len());
    let text = format!("<<<FILE: a.md>>>\n    x\n{body}");
    let read = bundle::read(text.as_bytes(), &Rules::default()).expect("a bundle");
    assert!(read.files[0].content.starts_with("x\n```rust\n"));
}

#[test]
fn blocks_and_names_without_end_are_walked_once_and_refused() {
    let names = ["a/", "ẞ", ">>>", "<<<FILE:"];
    let names = names.map(|piece| format!("<<<FILE: {}>>>\nx\n", filled(piece)));
    let blocks = [
        "```\n",
        "`````\n~~~\n",
        "~~~ sh\n<<<FILE\n",
        "- - - 1. * ",
        "```sh a='b \" c={ d=\"e\n",
        "src/a.rs\n```\nx\n```\n",
    ];
    for text in names.into_iter().chain(blocks.map(filled)) {
        let error = bundle::read(text.as_bytes(), &Rules::default()).expect_err("refused");
        assert!((1..1000).contains(&error.to_string().len()));
    }
}

#[test]
fn deep_names_are_told_apart() {
    let deep = "a/".repeat(99);
    let mut text = String::new();
    for number in 0..2000 {
        let _ = writeln!(text, "<<<FILE: {deep}{number}>>>\nx");
    }
    let read = bundle::read(text.as_bytes(), &Rules::default()).expect("a bundle");
    assert_eq!(read.files.len(), 2000);
}

#[test]
fn large_reviews_and_plans_are_read() {
    let review = format!(
        "{}@@@REVIEW_META\n{}verdict: FAIL\nissues_total: 1\nissues_critical: 0\nmissing_inputs: 0\n@@@\n",
        filled("```\n@@@ REVIEW\n```x\n```\n"),
        "other: key\n".repeat(100_000),
    );
    assert!(!verdict::read(review.as_bytes()).expect("a verdict").pass);

    let lines = filled("a\nb\n---\n- c\n===\n<!--\n-->\n#\n");
    for plan in [
        format!("{lines}\n# Files\n"),
        format!("{}\n\n# Files\n", filled("a\n")),
        format!("VALIDATION FAILED: {}", filled("why ")),
    ] {
        assert!(plan::read(plan.as_bytes(), &["files".to_owned()]).is_ok());
    }
}
