//! Which names a profile allows.

use markup::response::bundle::{self, Rules};

fn allows(patterns: &[&str], path: &str) -> bool {
    Rules::new(patterns).expect("rules").allows(path)
}

#[test]
fn no_pattern_allows_all() {
    assert!(allows(&[], "any/thing.at.all"));
    assert!(Rules::default().patterns().is_empty());
}

#[test]
fn patterns_hold_where_they_say() {
    assert!(allows(&["*.md"], "README.md"));
    assert!(allows(&["*.md"], "docs/deep/a.md"));
    assert!(!allows(&["/*.md"], "docs/a.md"));
    assert!(allows(&["./*.md"], "a.md"));
    assert!(allows(&["src/**"], "src/a/b.rs"));
    assert!(!allows(&["src/**"], "other/src/a.rs"));
    assert!(!allows(&["src/**"], "src"));
    assert!(!allows(&["src/*.rs"], "src/a/b.rs"));
    assert!(allows(&["src/"], "src/a/b.rs"));
    assert!(allows(&["src/"], "other/src/a.rs"));
    assert!(!allows(&["/src/"], "other/src/a.rs"));
    assert!(!allows(&["src/**"], "SRC/a.rs"));
    assert!(allows(&["{src,tests}/**", "Cargo.toml"], "tests/a.rs"));
    assert!(allows(&["app/[[]id[]]/*.tsx"], "app/[id]/page.tsx"));
}

#[test]
fn a_bad_pattern_is_named() {
    let huge = "{a,b}".repeat(5000);
    for (pattern, reason) in [
        ("src/[", "unclosed character class"),
        ("{a", "unclosed alternate group"),
        ("", "it is empty"),
        ("/", "it is empty"),
        ("../src/**", "`..`"),
        ("a//b", "an empty part"),
        ("src\\**", "separated by `/`"),
        (huge.as_str(), "it is too long"),
    ] {
        let error = Rules::new(["ok/**", pattern, "*.md"]).expect_err(pattern);
        assert_eq!(error.pattern, pattern);
        assert!(error.reason.contains(reason), "{pattern}: {error}");
    }
}

#[test]
fn a_name_that_is_not_allowed_is_told_what_is() {
    let rules = Rules::new(["src/**", "*.md"]).expect("rules");
    let response = b"<<<FILE: README.md>>>\nx\n<<<FILE: build.rs>>>\nx\n<<<FILE: lib.rs>>>\nx\n";
    let error = bundle::read(response, &rules).expect_err("refused");
    assert_eq!(error.code(), "bundle_not_allowed");
    assert_eq!(
        error.to_string(),
        "line 3: `build.rs` is not a name that the profile allows (and another file is at fault)"
    );
    assert_eq!(
        error.suggestion(),
        "Allowed are `src/**`, `*.md`. Leave the file out, or change what the profile allows."
    );
    assert_eq!(
        (error.file(), error.line(), error.others()),
        (Some("build.rs"), Some(3), 1)
    );
}
