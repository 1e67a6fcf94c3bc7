//! Responses with files in them, well written, clumsy and hostile: exactly right on the disk, or not there at all.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use super::environment::{BUNDLE, Env, FAIL, Session, broke_down, text};
use testkit::Everything;

const RESPONSE: &str = "iteration-1/generation-response.md";

/// A bundle of one file of that name.
fn named(name: &str) -> Vec<u8> {
    format!("<<<FILE: good>>>\ngood\n<<<FILE: {name}>>>\nbad\n").into_bytes()
}

/// What is refused, with a part of the reason that is given.
fn hostile() -> Vec<(Vec<u8>, &'static str)> {
    let names = [
        ("../out", "`..`"),
        ("a/../../out", "`..`"),
        ("a/..", "`..`"),
        ("./a", "`.`"),
        ("/etc/passwd", "absolute"),
        ("//host/share", "absolute"),
        ("C:\\boot.ini", "drive"),
        ("C:boot.ini", "drive"),
        ("a\\b", "backslash"),
        ("..\\out", "backslash"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        (".git/config", "git"),
        ("a/.GIT/hooks/pre-commit", "git"),
        ("git~1/config", "git"),
        (".g\u{200c}it/config", "invisible"),
        ("a\u{202e}b", "invisible"),
        ("~/.profile", "home"),
        ("~root/x", "home"),
        ("-rf", "option"),
        ("ab:c", "colon"),
        ("nul", "device"),
        ("a/COM1.txt", "device"),
        ("a.", "dot"),
        ("what?", "`?`"),
    ];
    let mut all: Vec<(Vec<u8>, &'static str)> = names
        .iter()
        .map(|(name, reason)| (named(name), *reason))
        .collect();
    let text = |text: &str| text.as_bytes().to_vec();
    all.extend([
        (text("<<<FILE: a>>>\n1\n<<<FILE: a>>>\n2\n"), "a"),
        (text("<<<FILE: a>>>\n1\n<<<FILE: A>>>\n2\n"), "same"),
        (
            text("<<<FILE: caf\u{e9}>>>\n1\n<<<FILE: cafe\u{301}>>>\n2\n"),
            "same",
        ),
        (text("<<<FILE: a>>>\n1\n<<<FILE: a/b>>>\n2\n"), "folder"),
        (text("<<<FILE: A/b>>>\n1\n<<<FILE: a>>>\n2\n"), "folder"),
        (text("<<<FILE: a>>>\n<<<FILE: b>>>\n2\n"), "empty"),
        (text("<<<FILE: a>>>\n \n\n"), "empty"),
        (text("I could not do it.\n"), "no file"),
        (text("<<<FILE: >>>\n1\n"), "name"),
        (text("<<<FILE: a>>\n1\n"), "marker"),
        (b"<<<FILE: a>>>\n\xff\xfe\n".to_vec(), "UTF-8"),
        (b"<<<FILE: a>>>\n1\0\n".to_vec(), "NUL"),
        (named(&"x".repeat(256)), "256"),
        (named(&format!("{}x", "d/".repeat(200))), "parts"),
    ]);
    all
}

/// After a response that was refused: nothing but the response is there, and a good one works.
#[test]
fn what_cannot_be_written_as_it_says_is_refused_as_a_whole() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    let names = session.names();
    for (round, (bundle, reason)) in (1..).zip(hostile()) {
        session.put(RESPONSE, &bundle);
        let outside = Everything::below([&*env.project()]);
        let answer = session.step();
        broke_down(&answer, reason);
        outside.assert_same(&Everything::below([&*env.project()]), "a bundle");
        let mut expected = names.clone();
        expected.insert(RESPONSE.to_owned());
        expected.extend((1..round).flat_map(|at| {
            ["response", "prompt"]
                .map(|what| format!("iteration-1/generation-{what}.reopened-{at}.md"))
        }));
        let shown = String::from_utf8_lossy(&bundle[..bundle.len().min(80)]).into_owned();
        assert_eq!(session.names(), expected, "{shown}");
        session.reopen();
    }
    assert_eq!(
        fs::read_dir(env.folder()).unwrap().count(),
        3,
        "home, project, temporary"
    );
    session.generate(BUNDLE);
    assert_eq!(session.code(1).len(), 2);
}

/// A bundle, and the files that come of it.
type Case<'a> = (Vec<u8>, Vec<(&'a str, &'a str)>);

/// What is written, and how it then stands there.
#[test]
fn what_can_be_written_stands_there_to_the_byte() {
    let long = "x".repeat(255);
    let cases: Vec<Case<'_>> = vec![
        (
            b"<<<FILE: a>>>\r\none\r\n\r\ntwo\r\n<<<FILE: b>>>\r\nthree".to_vec(),
            vec![("a", "one\n\ntwo\n"), ("b", "three")],
        ),
        (
            b"<<<FILE: a>>>\none\r\ntwo\n".to_vec(),
            vec![("a", "one\r\ntwo\n")],
        ),
        (
            b"\xef\xbb\xbf<<<FILE: a>>>\none\n".to_vec(),
            vec![("a", "one\n")],
        ),
        (
            b"Here you are.\n\n   <<<FILE: a>>>   \n    indented\n      more\n".to_vec(),
            vec![("a", "indented\n  more\n")],
        ),
        (
            b"It is:\n```text a.txt\n<<<FILE: b>>>\nis only a marker in a text\n```\n".to_vec(),
            vec![("a.txt", "<<<FILE: b>>>\nis only a marker in a text\n")],
        ),
        (
            b"Two files:\n\n```rust src/lib.rs\npub mod a;\n```\n\n```rust\n// src/a.rs\nfn a() {}\n```\n".to_vec(),
            vec![("src/lib.rs", "pub mod a;\n"), ("src/a.rs", "fn a() {}\n")],
        ),
        (
            format!("<<<FILE: {long}>>>\nlong\n<<<FILE: d \u{fc}/\u{4e2d}\u{6587}>>>\nname\n").into_bytes(),
            vec![(&long, "long\n"), ("d \u{fc}/\u{4e2d}\u{6587}", "name\n")],
        ),
        (
            b"<<<FILE: .gitignore>>>\ntarget\n<<<FILE: .github/x>>>\ny\n".to_vec(),
            vec![(".gitignore", "target\n"), (".github/x", "y\n")],
        ),
        (
            b"<<<FILE: $(touch x)>>>\n$(touch y)\n<<<FILE: a/-rf>>>\n--\n".to_vec(),
            vec![("$(touch x)", "$(touch y)\n"), ("a/-rf", "--\n")],
        ),
    ];
    let env = Env::new();
    for (bundle, files) in cases {
        let session = env.begin();
        session.to_generating();
        session.put(RESPONSE, &bundle);
        session.step_to("GENERATED");
        let files: BTreeMap<String, String> = files
            .into_iter()
            .map(|(path, content)| (path.to_owned(), content.to_owned()))
            .collect();
        assert_eq!(session.code(1), files);
        session.whole();
    }
}

#[test]
fn a_revision_has_to_fit_what_was_carried_forward() {
    let env = Env::new();
    let session = env.begin();
    session.to_revising();
    let carried = session.code(2);
    for (name, reason) in [
        ("readme", "carried forward"),
        ("README/more", "carried forward"),
        ("src", "carried forward"),
        ("SRC/other.sh", "carried forward"),
    ] {
        session.put("iteration-2/revision-response.md", named(name));
        session.step_to("REVISED");
        broke_down(&session.step(), reason);
        assert_eq!(session.code(2), carried, "{name}");
        session.reopen();
    }
    session.revise(
        2,
        "<<<FILE: README>>>\nAnother.\n<<<FILE: src/more.sh>>>\ntrue\n",
    );
    let code = session.code(2);
    assert_eq!(code["README"], "Another.\n");
    assert_eq!(code["src/count.sh"], carried["src/count.sh"]);
    assert_eq!(code.len(), 3);
    assert_eq!(session.code(1), carried);
}

/// A session in which somebody put something into the way, which is not followed.
fn in_the_way(act: fn(&Session<'_>)) {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    let outside = env.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("theirs"), "theirs\n").unwrap();
    session.put(RESPONSE, BUNDLE);
    act(&session);
    let before = Everything::below([&*outside]);
    let answer = session.step();
    before.assert_same(&Everything::below([&*outside]), "a link");
    if answer.status == 0 {
        assert_eq!(text(answer.json(), "phase"), "GENERATED", "{answer:#?}");
        assert_eq!(session.code(1).len(), 2);
        let code = session.folder.join("iteration-1/code");
        assert!(fs::symlink_metadata(code).unwrap().is_dir());
        session.whole();
    } else {
        answer.fault(6, "link_in_the_way");
        let listed = session.env.tm(&["list"]).ok();
        assert_eq!(text(&listed[0], "phase"), "GENERATING");
    }
}

fn link(session: &Session<'_>, path: &str) {
    symlink(
        session.env.folder().join("outside"),
        session.folder.join(path),
    )
    .unwrap();
}

#[test]
fn a_link_in_the_place_of_code_is_not_followed() {
    in_the_way(|session| link(session, "iteration-1/code"));
}

#[test]
fn a_link_that_leads_nowhere_is_not_followed() {
    in_the_way(|session| {
        symlink("nowhere", session.folder.join("iteration-1/code")).unwrap();
    });
}

#[test]
fn a_link_in_the_place_of_what_is_made_aside_is_not_followed() {
    in_the_way(|session| link(session, "iteration-1/.tramline-code.tmp"));
}

#[test]
fn a_link_in_the_place_of_the_iteration_is_not_followed() {
    in_the_way(|session| {
        let outside = session.env.folder().join("outside");
        fs::rename(
            session.folder.join("iteration-1"),
            outside.join("iteration-1"),
        )
        .unwrap();
        symlink(
            outside.join("iteration-1"),
            session.folder.join("iteration-1"),
        )
        .unwrap();
    });
}

#[test]
fn files_of_somebody_in_the_place_of_code_stand_aside() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    session.put("iteration-1/code/mine", "mine\n");
    session.put(RESPONSE, BUNDLE);
    let answer = session.step_to("GENERATED");
    assert_eq!(session.code(1).len(), 2, "{answer:#}");
    assert_eq!(session.read("iteration-1/code.changed-1/mine"), "mine\n");
    assert!(answer["warnings"][0].is_string(), "{answer:#}");
}

#[test]
fn a_link_in_the_place_of_the_next_iteration_is_not_followed() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    session.review(1, FAIL);
    let outside = env.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    link(&session, "iteration-2");
    let before = Everything::below([&*outside]);
    let answer = session.step();
    before.assert_same(&Everything::below([&*outside]), "a link");
    answer.fault(6, "link_in_the_way");
    fs::remove_file(session.folder.join("iteration-2")).unwrap();
    session.step_to("REVISING");
    assert_eq!(session.code(2).len(), 2);
}

#[test]
fn a_file_in_the_place_of_an_iteration_is_told() {
    let env = Env::new();
    let session = env.begin();
    session.to_planned();
    session.put("iteration-1", "mine\n");
    session.step().fault(6, "link_in_the_way");
    assert_eq!(text(&session.status(), "phase"), "PLANNED");
    assert_eq!(session.read("iteration-1"), "mine\n");
    fs::remove_file(session.folder.join("iteration-1")).unwrap();
    session.step_to("GENERATING");
    session.whole();
}

#[test]
fn a_link_in_the_place_of_a_response_is_not_read() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let secret = env.folder().join("secret");
    fs::write(&secret, "A secret plan.\n").unwrap();
    let response = session.folder.join("planning-response.md");
    symlink(&secret, &response).unwrap();
    session.refused(6, "no_ordinary_file");
    fs::remove_file(&response).unwrap();
    fs::create_dir(&response).unwrap();
    session.refused(6, "no_ordinary_file");
    fs::remove_dir(&response).unwrap();
    session.blocked();
}

#[test]
fn a_link_in_the_place_of_the_plan_is_replaced() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let theirs = env.folder().join("theirs");
    fs::write(&theirs, "theirs\n").unwrap();
    symlink(&theirs, session.folder.join("plan.md")).unwrap();
    session.put("planning-response.md", "# Plan\n");
    session.step_to("PLANNED");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs\n");
    assert!(!session.folder.join("plan.md").is_symlink());
    session.whole();
}

#[test]
fn ten_thousand_files() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    let bundle = |files: u32| -> String {
        (0..files).fold(String::new(), |mut all, at| {
            let _ = writeln!(all, "<<<FILE: {}/{at}>>>\n{at}", at % 100);
            all
        })
    };
    session.put(RESPONSE, bundle(10_001));
    broke_down(&session.step(), "10000");
    assert!(!session.has("iteration-1/code"));
    session.reopen();
    session.put(RESPONSE, bundle(10_000));
    let state = session.step_to("GENERATED");
    assert_eq!(session.code(1).len(), 10_000);
    let last = state["phase_history"].as_array().unwrap().last().unwrap();
    assert_eq!(
        text(last, "phase"),
        "GENERATED",
        "of a long history the last ones"
    );
    let state = session.step_to("REVIEWING");
    let last = state["phase_history"].as_array().unwrap().last().unwrap();
    assert_eq!(text(last, "phase"), "REVIEWING");
    session.step_to("REVIEWING");
    session.whole();
}

#[test]
fn files_of_many_megabytes() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    // Hashing is slow without optimization.
    let most = if cfg!(debug_assertions) { 8 } else { 50 };
    let large = "0123456789abcde\n".repeat(most * 1024 * 1024 / 16);
    session.put(RESPONSE, format!("<<<FILE: large>>>\n{large}"));
    session.step_to("GENERATED");
    assert_eq!(
        fs::read(session.folder.join("iteration-1/code/large")).unwrap(),
        large.as_bytes()
    );
    session.step_to("REVIEWING");
    let issued = session.step_to("REVIEWING");
    assert_eq!(text(&issued, "issued"), "iteration-1/review-prompt.md");
    let prompt = session.read("iteration-1/review-prompt.md");
    assert!(prompt.len() < 1024 * 1024, "{}", prompt.len());
}

#[test]
fn a_response_that_is_too_large_costs_nothing() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    let path = session.folder.join(RESPONSE);
    let file = fs::File::create(&path).unwrap();
    file.set_len(70 * 1024 * 1024).unwrap();
    drop(file);
    let said = session.step().fault(6, "response_too_large");
    assert!(said.contains(RESPONSE), "{said}");
    assert_eq!(text(&session.status(), "phase"), "GENERATING");
    assert!(!session.has("iteration-1/code"));
    session.put(RESPONSE, BUNDLE);
    session.step_to("GENERATED");
}
