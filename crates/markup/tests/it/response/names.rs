//! Names, one by one, and the files that a processor hands over.

use markup::response::bundle::{self, BundleFault, File, NameFault, Rules};

fn fault(path: &str) -> Option<NameFault> {
    let error = bundle::check_name(path, &Rules::default()).err()?;
    assert_eq!(error.code(), "bundle_bad_name");
    assert_eq!(error.file(), Some(path));
    match error.fault() {
        BundleFault::BadName(fault) => Some(fault.clone()),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn good_names_are_taken() {
    for path in [
        "a",
        "a.rs",
        ".gitignore",
        ".gitattributes",
        ".github/workflows/ci.yml",
        "git/config",
        "git~/x",
        "..a/b..c",
        "a..b",
        "a/-rf",
        "a/~b",
        "a~",
        "a~1.txt",
        "com/port.rs",
        "com10.txt",
        "console.log",
        "nullable.rs",
        "app/[id]/(group)/page.tsx",
        "@types/a.d.ts",
        "a b/c d.txt",
        " a.txt",
        "$slug.tsx",
        "app/$HOME",
        "größe/データ.txt",
        "a,b;c=d&e'f!{g}%$#+^.txt",
        "❤\u{fe0f}.md",
    ] {
        assert_eq!(fault(path), None, "{path}");
    }
}

#[test]
fn bad_names_are_refused_for_their_reason() {
    let text = str::to_owned;
    for (path, expected) in [
        ("", NameFault::Missing),
        (" ", NameFault::Missing),
        ("/a", NameFault::Absolute),
        ("//server/share", NameFault::Absolute),
        ("~", NameFault::Home),
        ("~root/a", NameFault::Home),
        ("-rf", NameFault::Dash),
        ("$HOME/a", NameFault::Variable),
        ("${HOME}/a", NameFault::Variable),
        ("c:", NameFault::Drive('c')),
        ("c:/x", NameFault::Drive('c')),
        ("\\\\?\\C:\\x", NameFault::Backslash),
        ("a\\..\\b", NameFault::Backslash),
        ("file.txt::$DATA", NameFault::Colon),
        ("..", NameFault::ParentFolder),
        ("a/..", NameFault::ParentFolder),
        (".", NameFault::CurrentFolder),
        ("a/./b", NameFault::CurrentFolder),
        ("a/", NameFault::EmptyComponent),
        ("a//b", NameFault::EmptyComponent),
        (".git", NameFault::Git(text(".git"))),
        ("sub/.Git", NameFault::Git(text(".Git"))),
        (".git...", NameFault::Git(text(".git..."))),
        (".git . .", NameFault::Git(text(".git . ."))),
        ("git~1", NameFault::Git(text("git~1"))),
        ("GIT~10/x", NameFault::Git(text("GIT~10"))),
        ("\u{2024}git/x", NameFault::Git(text("\u{2024}git"))),
        (".ɢɪᴛ ", NameFault::BadEnd(text(".ɢɪᴛ "))),
        (".gi\u{200b}t/x", NameFault::Invisible('\u{200b}')),
        (".git\u{feff}/x", NameFault::Invisible('\u{feff}')),
        ("a\u{2028}b", NameFault::Invisible('\u{2028}')),
        ("a\u{85}b", NameFault::Control('\u{85}')),
        ("a\nb", NameFault::Control('\n')),
        ("a\0b", NameFault::Control('\0')),
        ("nul", NameFault::Device(text("nul"))),
        ("a/Con.tar.gz", NameFault::Device(text("Con.tar.gz"))),
        ("con .txt", NameFault::Device(text("con .txt"))),
        ("LPT9.log", NameFault::Device(text("LPT9.log"))),
        ("com².txt", NameFault::Device(text("com².txt"))),
        ("conin$", NameFault::Device(text("conin$"))),
        ("a.", NameFault::BadEnd(text("a."))),
        ("a /b", NameFault::BadEnd(text("a "))),
        ("a\u{a0}/b", NameFault::BadEnd(text("a\u{a0}"))),
        ("a\"b", NameFault::Character('"')),
        ("what?.txt", NameFault::Character('?')),
        ("a|b", NameFault::Character('|')),
    ] {
        assert_eq!(fault(path), Some(expected), "{path:?}");
    }
}

#[test]
fn lengths_are_in_bytes() {
    assert_eq!(fault(&"a".repeat(255)), None);
    assert_eq!(fault(&"ä".repeat(127)), None);
    let long = "ä".repeat(128);
    assert_eq!(fault(&long), Some(NameFault::LongComponent(long.clone())));
    let deep = format!("{}a{}", "a/".repeat(100), "b");
    assert_eq!(fault(&deep), Some(NameFault::TooDeep { parts: 101 }));
    let deep = format!(
        "{}{}",
        format!("{}/", "a".repeat(62)).repeat(64),
        "b".repeat(63)
    );
    assert_eq!(deep.len(), 4095);
    assert_eq!(fault(&deep), None);
    let (bytes, most) = (4097, 4096);
    assert_eq!(
        fault(&format!("{deep}cd")),
        Some(NameFault::TooLong { bytes, most })
    );
    let rules = Rules::default().with_max_path_bytes(3);
    assert!(bundle::check_name("abc", &rules).is_ok());
    assert!(bundle::check_name("abcd", &rules).is_err());
}

fn file(path: &str, content: &str) -> File {
    File {
        path: path.to_owned(),
        content: content.to_owned(),
    }
}

#[test]
fn files_of_a_processor_are_held_to_the_same_rules() {
    let rules = Rules::new(["src/**"])
        .expect("rules")
        .with_max_files(3)
        .with_max_bytes(40);
    let code = |files: &[File]| {
        bundle::check(files, &[], &rules).map_err(|error| (error.code(), error.to_string()))
    };
    assert_eq!(
        code(&[file("src/a.rs", "a"), file("src/b.rs", "b")]),
        Ok(())
    );
    for (files, expected, message) in [
        (vec![], "bundle_no_file", "there is no file"),
        (
            vec![file("src/a.rs", "a"), file("a.rs", "a")],
            "bundle_not_allowed",
            "`a.rs` is not a name that the profile allows",
        ),
        (
            vec![file("src/a.rs", "a"), file("src/A.rs", "a")],
            "bundle_duplicate",
            "`src/A.rs` is the same file as `src/a.rs` where case and form of letters do not count",
        ),
        (
            vec![file("src/a.rs", "a"), file("src/a.rs", "a")],
            "bundle_duplicate",
            "`src/a.rs` is there twice",
        ),
        (
            vec![file("src/a.rs", "a\0")],
            "bundle_not_text",
            "`src/a.rs` is not text: its byte 2 is a NUL",
        ),
        (
            vec![file("src/../a", "a")],
            "bundle_bad_name",
            "`src/../a` cannot be a file of a bundle: its path has the part `..`",
        ),
        (
            vec![
                file("src/1", "a"),
                file("src/2", "a"),
                file("src/3", "a"),
                file("src/4", "a"),
            ],
            "bundle_too_many",
            "the response holds more files than the 3 that are allowed",
        ),
        (
            vec![file("src/1", &"a".repeat(40))],
            "bundle_too_large",
            "the response has 45 bytes; 40 are allowed",
        ),
    ] {
        assert_eq!(code(&files), Err((expected, message.to_owned())));
    }
}
