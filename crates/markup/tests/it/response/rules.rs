//! Which names a profile allows.

use super::kind;
use markup::response::bundle::{self, Rules};

#[test]
fn patterns_hold_where_they_say() {
    for (patterns, path, expected) in [
        (&[][..], "any/thing.at.all", true),
        (&["*.md"], "README.md", true),
        (&["*.md"], "docs/deep/a.md", true),
        (&["/*.md"], "docs/a.md", false),
        (&["./*.md"], "a.md", true),
        (&["src/**"], "src/a/b.rs", true),
        (&["src/**"], "other/src/a.rs", false),
        (&["src/**"], "src", false),
        (&["src/*.rs"], "src/a/b.rs", false),
        (&["src/"], "src/a/b.rs", true),
        (&["src/"], "other/src/a.rs", true),
        (&["/src/"], "other/src/a.rs", false),
        (&["src/**"], "SRC/a.rs", false),
        (&["{src,tests}/**", "Cargo.toml"], "tests/a.rs", true),
        (&["app/[[]id[]]/*.tsx"], "app/[id]/page.tsx", true),
    ] {
        let rules = Rules::new(patterns).expect("rules");
        assert_eq!(rules.allows(path), expected, "{patterns:?} {path}");
    }
    assert!(Rules::default().patterns().is_empty());
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
    assert_eq!(kind(error.fault()), "NotAllowed");
    assert!(error.suggestion().contains("`src/**`, `*.md`"));
    let told = (error.file(), error.line(), error.others());
    assert_eq!(told, (Some("build.rs"), Some(3), 1));
}
