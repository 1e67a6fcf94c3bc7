//! Names, one by one, beside those of the corpus, and the files that a processor hands over.

use super::kind;
use markup::response::bundle::{self, BundleFault, File, NameFault, Rules};

fn fault(path: &str) -> Option<NameFault> {
    let error = bundle::check_name(path, &Rules::default()).err()?;
    assert_eq!(kind(error.fault()), "BadName");
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
        ".gitattributes",
        "git/config",
        "git~/x",
        "..a/b..c",
        "a/-rf",
        "a/~b",
        "a~",
        "a~1.txt",
        "com10.txt",
        "console.log",
        "app/[id]/(group)/page.tsx",
        "@types/a.d.ts",
        "a b/c d.txt",
        " a.txt",
        "$slug.tsx",
        "app/$HOME",
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
        ("//server/share", NameFault::Absolute),
        ("~", NameFault::Home),
        ("$HOME/a", NameFault::Variable),
        ("${HOME}/a", NameFault::Variable),
        ("a/..", NameFault::ParentFolder),
        (".", NameFault::CurrentFolder),
        ("sub/.Git", NameFault::Git(text(".Git"))),
        (".git...", NameFault::Git(text(".git..."))),
        (".git . .", NameFault::Git(text(".git . ."))),
        ("GIT~10/x", NameFault::Git(text("GIT~10"))),
        ("\u{2024}git/x", NameFault::Git(text("\u{2024}git"))),
        (".ɢɪᴛ ", NameFault::BadEnd(text(".ɢɪᴛ "))),
        (".git\u{feff}/x", NameFault::Invisible('\u{feff}')),
        ("a\u{2028}b", NameFault::Invisible('\u{2028}')),
        ("a\u{85}b", NameFault::Control('\u{85}')),
        ("a\0b", NameFault::Control('\0')),
        ("a/Con.tar.gz", NameFault::Device(text("Con.tar.gz"))),
        ("con .txt", NameFault::Device(text("con .txt"))),
        ("LPT9.log", NameFault::Device(text("LPT9.log"))),
        ("com².txt", NameFault::Device(text("com².txt"))),
        ("conin$", NameFault::Device(text("conin$"))),
        ("a\u{a0}/b", NameFault::BadEnd(text("a\u{a0}"))),
        ("a\"b", NameFault::Character('"')),
        ("what?.txt", NameFault::Character('?')),
        ("a|b", NameFault::Character('|')),
        // It reads as a separator.
        ("\u{ff0f}git/config", NameFault::Character('\u{ff0f}')),
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
    let deep = format!("{}/", "a".repeat(62)).repeat(65);
    assert_eq!(fault(&deep[..4094]), None);
    let (bytes, most) = (4097, 4096);
    let long = format!("{}bcd", &deep[..4094]);
    assert_eq!(fault(&long), Some(NameFault::TooLong { bytes, most }));
    let rules = Rules::default().with_max_path_bytes(3);
    assert!(bundle::check_name("abc", &rules).is_ok());
    assert!(bundle::check_name("abcd", &rules).is_err());
}

#[test]
fn files_of_a_processor_are_held_to_the_same_rules() {
    let rules = Rules::new(["src/**"])
        .expect("rules")
        .with_max_files(3)
        .with_max_bytes(40);
    let large = "a".repeat(40);
    for (files, expected) in [
        (&[("src/a.rs", "a"), ("src/b.rs", "b")][..], "fine"),
        (&[], "NoFile"),
        (&[("src/a.rs", "a"), ("a.rs", "a")], "NotAllowed"),
        (&[("src/a.rs", "a"), ("src/A.rs", "a")], "Duplicate"),
        (&[("src/a.rs", "a"), ("src/a.rs", "a")], "Duplicate"),
        (&[("src/a.rs", "a\0")], "Nul"),
        (&[("src/../a", "a")], "BadName"),
        (&[("src/1", "a"), ("src/2", "a"), ("src/3", "a")], "fine"),
        (
            &[("src/1", ""), ("src/2", ""), ("src/3", ""), ("src/4", "")],
            "TooMany",
        ),
        (&[("src/1", &large[..35])], "fine"),
        (&[("src/1", &large[..36])], "TooLarge"),
    ] {
        let file = |&(path, content): &(&str, &str)| File {
            path: path.to_owned(),
            content: content.to_owned(),
        };
        let all: Vec<File> = files.iter().map(file).collect();
        let told = bundle::check(&all, &[], &rules).err();
        let found = told.map_or("fine".to_owned(), |error| kind(error.fault()));
        assert_eq!(found, expected, "{files:?}");
    }
}
