use std::process::Command;

use proptest::prelude::*;
use workspace::convention::branch::{
    BranchError, DEFAULT_PATTERN, LONGEST_SLUG, NameFault, branch_name, check_branch_name, slug,
};
use workspace::convention::placeholder::PlaceholderError;

#[test]
fn slugs() {
    for (title, expected) in [
        ("User metrics", "user-metrics"),
        ("  Add   OAuth2 / PKCE login!  ", "add-oauth2-pkce-login"),
        ("Größe der Übersicht prüfen", "grosse-der-ubersicht-prufen"),
        ("Don't crash", "dont-crash"),
        ("--amend", "amend"),
        ("a..b@{c}.lock", "a-b-c-lock"),
        ("", "task"),
        ("…", "task"),
        ("日本語", "ribenyu"),
        ("\u{202e}gnp.exe\u{0}", "gnp-exe"),
        ("add\nnew\nlines", "add-new-lines"),
    ] {
        assert_eq!(slug(title), expected, "{title:?}");
    }
}

#[test]
fn long_titles_are_cut_between_words() {
    let title = "implement the whole authentication middleware for incoming requests";
    let expected = "implement-the-whole-authentication-middleware-for";
    assert_eq!(slug(title), expected);
    // The fiftieth character is the last of a word.
    let title = format!("{} tail", "a".repeat(LONGEST_SLUG));
    assert_eq!(slug(&title), "a".repeat(LONGEST_SLUG));
    assert_eq!(slug(&"x".repeat(10_000)), "x".repeat(LONGEST_SLUG));
}

#[test]
fn branch_names() {
    for (pattern, tag, id, title, expected) in [
        (
            DEFAULT_PATTERN,
            "analytics",
            "42",
            "User metrics",
            "analytics/task-42-user-metrics",
        ),
        (
            DEFAULT_PATTERN,
            "Sprint 7/A",
            "1.2",
            "x",
            "sprint-7-a/task-1.2-x",
        ),
        (DEFAULT_PATTERN, "", "", "", "tag/task-task-task"),
        (DEFAULT_PATTERN, "../..", "-1", "x", "tag/task-1-x"),
        (DEFAULT_PATTERN, "v1.lock", "7", "x", "v1-lock/task-7-x"),
        ("work", "t", "1", "x", "work"),
        ("{id}", "t", "--force", "x", "force"),
        ("Feature/{slug}", "t", "1", "New Thing", "Feature/new-thing"),
    ] {
        assert_eq!(branch_name(pattern, tag, id, title).unwrap(), expected);
    }
}

#[test]
fn an_unknown_placeholder_is_named() {
    let error = branch_name("{tag}/{taskid}", "t", "1", "x").unwrap_err();
    let BranchError::Pattern(PlaceholderError::Unknown { name, .. }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(name, "taskid");
    assert!(error.suggestion().contains("git.branchPattern"));
    let error = branch_name("{tagg}/x", "t", "1", "x").unwrap_err();
    let message = std::error::Error::source(&error);
    assert!(
        matches!(error, BranchError::Pattern(PlaceholderError::Unknown { ref nearest, .. })
        if nearest.as_deref() == Some("tag")),
        "{message:?}"
    );
    let error = branch_name("{tag", "t", "1", "x").unwrap_err();
    assert!(matches!(
        error,
        BranchError::Pattern(PlaceholderError::Unclosed { .. })
    ));
}

#[test]
fn a_pattern_that_is_no_name_is_refused() {
    for (pattern, expected) in [
        ("", NameFault::Empty),
        ("-{slug}", NameFault::LeadingDash),
        ("/{slug}", NameFault::EmptyPart),
        ("a//{slug}", NameFault::EmptyPart),
        ("{slug}/", NameFault::EmptyPart),
        ("a/.{slug}", NameFault::LeadingDot),
        ("{slug}.lock", NameFault::LockSuffix),
        ("{slug}.", NameFault::TrailingDot),
        ("a..{slug}", NameFault::TwoDots),
        ("a@{slug}@", NameFault::Character('x')),
        ("HEAD", NameFault::Reserved),
        ("@", NameFault::Reserved),
        ("FETCH_HEAD", NameFault::Reserved),
        ("stash", NameFault::Reserved),
        ("refs/heads/main", NameFault::Reserved),
        ("heads/main", NameFault::Reserved),
        ("tags/x", NameFault::Reserved),
        ("a b", NameFault::Character(' ')),
        ("a:b", NameFault::Character(':')),
        ("a\u{7f}", NameFault::Character('\u{7f}')),
    ] {
        match branch_name(pattern, "t", "1", "x") {
            // `@{` is read as a placeholder's brace, so what is left is a good name.
            Ok(name) => assert_eq!((pattern, name.as_str()), ("a@{slug}@", "a@x@")),
            Err(BranchError::NotAName { fault, .. }) => assert_eq!(fault, expected, "{pattern:?}"),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(check_branch_name("a@{1}"), Err(NameFault::AtBrace));
    assert_eq!(check_branch_name(&"x".repeat(251)), Err(NameFault::TooLong));
}

fn git_accepts(name: &str) -> bool {
    Command::new("git")
        .args(["check-ref-format", "--branch", name])
        .output()
        .unwrap()
        .status
        .success()
}

/// Text with much of what git gives a meaning to.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,80}",
        "[-./@{}~^:?*\\[\\\\ a-cLOCK\u{0}-\u{1f}\u{202e}]{0,40}",
        "(\\.|-|/|\\.lock|@\\{|HEAD| |é|日){0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_slug_is_short_ascii(title in hostile()) {
        let slug = slug(&title);
        prop_assert!((1..=LONGEST_SLUG).contains(&slug.len()));
        prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
        prop_assert_eq!(check_branch_name(&slug), Ok(()));
    }

    #[test]
    fn the_default_pattern_always_gives_a_name(tag in hostile(), id in hostile(), title in hostile()) {
        let name = branch_name(DEFAULT_PATTERN, &tag, &id, &title).unwrap();
        prop_assert_eq!(check_branch_name(&name), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_accepts_what_is_made(tag in hostile(), id in hostile(), title in hostile()) {
        for pattern in [DEFAULT_PATTERN, "{tag}.{id}"] {
            if let Ok(name) = branch_name(pattern, &tag, &id, &title) {
                prop_assert!(git_accepts(&name), "{:?}", name);
            }
        }
    }

    #[test]
    fn what_passes_the_check_passes_git(name in "[-./@{}~^: a-cHEADlock]{1,12}") {
        if check_branch_name(&name).is_ok() {
            prop_assert!(git_accepts(&name), "{:?}", name);
        }
    }
}

#[test]
fn git_and_the_check_agree_on_odd_names() {
    for name in [
        "a", "a/b", "a.b", "a@b", "HEAD/x", "head", "ä", "a-", "a@", "x/-y",
    ] {
        assert_eq!(check_branch_name(name), Ok(()), "{name}");
        assert!(git_accepts(name), "{name}");
    }
    for name in [
        "-a", "a..b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a//b", "/a", "a/", "HEAD", "a~b",
        "a\\b",
    ] {
        assert!(check_branch_name(name).is_err(), "{name}");
        assert!(!git_accepts(name), "{name}");
    }
}
