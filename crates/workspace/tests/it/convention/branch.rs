use std::process::Command;

use proptest::prelude::*;
use workspace::convention::branch::{
    BranchError, DEFAULT_PATTERN, LONGEST_SLUG, NameFault, branch_name, check_branch_name, slug,
};
use workspace::convention::placeholder::PlaceholderError;

#[test]
fn slugs() {
    let word = "a".repeat(LONGEST_SLUG);
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
        // Long ones are cut between words. The fiftieth character may be the last of a word.
        (
            "implement the whole authentication middleware for incoming requests",
            "implement-the-whole-authentication-middleware-for",
        ),
        (&format!("{word} tail"), &word),
        (&"a".repeat(10_000), &word),
    ] {
        assert_eq!(slug(title), expected, "{title:?}");
    }
}

#[test]
fn branch_names() {
    let default = DEFAULT_PATTERN;
    for (pattern, tag, id, title, expected) in [
        (default, "analytics", "42", "User", "analytics/task-42-user"),
        (default, "Sprint 7/A", "1.2", "x", "sprint-7-a/task-1.2-x"),
        (default, "", "", "", "tag/task-task-task"),
        (default, "../..", "-1", "x", "tag/task-1-x"),
        (default, "v1.lock", "7", "x", "v1-lock/task-7-x"),
        ("work", "t", "1", "x", "work"),
        ("{id}", "t", "--force", "x", "force"),
        ("Feature/{slug}", "t", "1", "New X", "Feature/new-x"),
        // `@{` is read as a placeholder's brace, so what is left is a good name.
        ("a@{slug}@", "t", "1", "x", "a@x@"),
    ] {
        assert_eq!(branch_name(pattern, tag, id, title).unwrap(), expected);
    }
}

#[test]
fn an_unknown_placeholder_is_named() {
    for (pattern, expected) in [
        ("{tag}/{xyzzy}", "Unknown xyzzy None"),
        ("{tagg}/x", "Unknown tagg Some(\"tag\")"),
        ("{tag", "Unclosed"),
    ] {
        let error = branch_name(pattern, "t", "1", "x").unwrap_err();
        let told = match &error {
            BranchError::Pattern(PlaceholderError::Unknown { name, nearest, .. }) => {
                format!("Unknown {name} {nearest:?}")
            }
            BranchError::Pattern(PlaceholderError::Unclosed { .. }) => "Unclosed".to_owned(),
            BranchError::NotAName { .. } => "a name".to_owned(),
        };
        assert_eq!(told, expected, "{pattern}");
        assert!(error.suggestion().contains("git.branchPattern"));
    }
}

#[test]
fn a_pattern_that_is_no_name_is_refused() {
    for case in "=Empty,-{slug}=LeadingDash,/{slug}=EmptyPart,a//{slug}=EmptyPart,{slug}/=EmptyPart,a/.{slug}=LeadingDot,\
                 {slug}.lock=LockSuffix,{slug}.=TrailingDot,a..{slug}=TwoDots,HEAD=Reserved,@=Reserved,FETCH_HEAD=Reserved,\
                 stash=Reserved,refs/heads/main=Reserved,heads/main=Reserved,tags/x=Reserved,a b=Character(' '),\
                 a:b=Character(':'),a\u{7f}=Character('\\u{7f}')"
        .split(',')
    {
        let (pattern, expected) = case.split_once('=').unwrap();
        let Err(BranchError::NotAName { fault, .. }) = branch_name(pattern, "t", "1", "x") else {
            panic!("{pattern}")
        };
        assert_eq!(format!("{fault:?}"), expected, "{pattern:?}");
    }
    assert_eq!(check_branch_name("a@{1}"), Err(NameFault::AtBrace));
    assert_eq!(check_branch_name(&"x".repeat(251)), Err(NameFault::TooLong));
}

fn git_accepts(name: &str) -> bool {
    let mut git = Command::new("git");
    let output = git.args(["check-ref-format", "--branch", name]).output();
    output.unwrap().status.success()
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
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

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
    let good = "a a/b a.b a@b HEAD/x head ä a- a@ x/-y";
    let bad = "-a a..b .a a/.b a.lock a.lock/b a. a//b /a a/ HEAD a~b a\\b";
    for (names, is_good) in [(good, true), (bad, false)] {
        for name in names.split(' ') {
            let found = (check_branch_name(name).is_ok(), git_accepts(name));
            assert_eq!(found, (is_good, is_good), "{name}");
        }
    }
}
