//! Processors that hang, die, talk too much or lie: told by their code, and the session goes on once they are mended.

use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;

use super::environment::{Env, Session, broke_down, text};
use super::stub::NAME;

/// A profile that has plans read by a script, and files by another.
const PROFILE: &str = "tramline-profile: 1
title: Reads by scripts
responses:
  planning: { command: [sh, process.sh, planning], timeout: 20 }
  generation: { command: [sh, process.sh, generation], timeout: 20 }
";

const GOOD: &str = r#"cat > /dev/null; echo '{"status": "SUCCESS"}'"#;

/// A session that waits for its plan to be read by this script.
fn planning<'a>(env: &'a Env, profile: &str, script: &str) -> Session<'a> {
    env.install(profile, script);
    env.trust(NAME);
    let session = env.begin_stub();
    session.step_to("PLANNING");
    session.put("planning-response.md", "planned\n");
    session
}

/// The script is told by that code; nothing moved, and a mended one works once it is trusted.
fn fails(script: &str, code: &str, says: &str) {
    fails_with(PROFILE, script, code, says);
}

fn fails_with(profile: &str, script: &str, code: &str, says: &str) {
    let env = Env::new();
    let session = planning(&env, profile, script);
    let said = session.refused(6, code);
    assert!(said.contains(says), "{says:?} is not in {said:?}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert!(said.len() < 8 * 1024, "{} bytes", said.len());
    assert_eq!(
        fs::read_dir(env.temporary()).unwrap().count(),
        0,
        "nothing is left"
    );
    env.install(PROFILE, GOOD);
    let said = session.refused(3, "profile_untrusted");
    assert!(said.contains("changed"), "{said}");
    env.trust(NAME);
    // What a session began with holds: how it reads is what it was, the program is the one of the folder.
    if profile == PROFILE {
        session.step_to("PLANNED");
        session.whole();
    }
}

#[test]
fn one_that_hangs() {
    let profile = PROFILE.replace("timeout: 20", "timeout: 1");
    fails_with(
        &profile,
        "echo 'still at it' >&2; sleep 300",
        "processor_timed_out",
        "longer than 1 s",
    );
}

#[test]
fn one_that_hangs_and_does_not_want_to_end() {
    let profile = PROFILE.replace("timeout: 20", "timeout: 1");
    fails_with(
        &profile,
        "trap '' TERM; while :; do sleep 300; done",
        "processor_timed_out",
        "longer than 1 s",
    );
}

#[test]
fn one_that_ends_badly() {
    fails(
        "printf 'no \\033[31mway\\n' >&2; exit 3",
        "processor_died",
        "status 3",
    );
    fails("kill -9 $$", "processor_died", "signal 9");
}

#[test]
fn one_that_talks_nonsense() {
    for (script, says) in [
        ("echo hello", "hello"),
        ("cat > /dev/null", "nothing"),
        (
            r#"echo '{"status": "SUCCESS"} {"status": "SUCCESS"}'"#,
            "trailing",
        ),
        ("echo '[]'", "status"),
        (r#"echo '{"status": "FINE"}'"#, "FINE"),
        (r#"echo '{"status": "SUCCESS", "next": 1}'"#, "next"),
        (
            r#"echo '{"status": "SUCCESS", "files": [{"path": "a"}]}'"#,
            "content",
        ),
        (r#"printf '{"status": "\377"}'"#, "printed no result"),
        (r#"printf '{"status": "SUCC'"#, "EOF"),
    ] {
        fails(script, "processor_garbage", says);
    }
}

#[test]
fn one_that_floods_its_output() {
    fails(
        "head -c 200000000 /dev/zero",
        "processor_flooded",
        "more than",
    );
}

#[test]
fn one_that_floods_what_it_complains_of() {
    let env = Env::new();
    let script = format!("head -c 200000000 /dev/zero | tr '\\0' 'x' >&2; {GOOD}");
    let session = planning(&env, PROFILE, &script);
    session.step_to("PLANNED");
}

#[test]
fn one_that_does_not_listen() {
    let env = Env::new();
    let session = planning(&env, PROFILE, r#"exec <&-; echo '{"status": "SUCCESS"}'"#);
    session.put("planning-response.md", "planned\n".repeat(500_000));
    session.step_to("PLANNED");
}

#[test]
fn one_that_leaves_others_behind() {
    let env = Env::new();
    let pipe = env.home().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let script = r#"exec 9> "$HOME/pipe"; (trap '' TERM HUP; sleep 60; echo alive >&9) & echo '{"status": "SUCCESS"}'"#;
    let session = planning(&env, PROFILE, script);
    // The end of the pipe tells that nobody holds it any more. Opened so that it does not wait for somebody who does.
    let mut reader = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(&pipe)
        .unwrap();
    session.step_to("PLANNED");
    rustix::fs::fcntl_setfl(&reader, OFlags::empty()).unwrap();
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    assert_eq!(said, "", "it went on");
}

#[test]
fn one_that_writes_into_its_folder() {
    let env = Env::new();
    let script = r#"echo 'exit 9' > process.sh; mkdir made; echo x > made/file; echo '{"status": "SUCCESS", "files": [{"path": "a", "content": "b"}]}'"#;
    let session = planning(&env, PROFILE, script);
    session.step_to("PLANNED");
    let folder = env.project().join(".taskmaster/profiles").join(NAME);
    assert!(!folder.join("made").exists());
    assert_eq!(
        fs::read_to_string(folder.join("process.sh")).unwrap(),
        script
    );
    session.step_to("GENERATING");
    session.put("iteration-1/generation-response.md", "generated\n");
    session.step_to("GENERATED");
    assert_eq!(
        fs::read_dir(env.temporary()).unwrap().count(),
        0,
        "nothing is left"
    );
}

#[test]
fn one_that_is_not_there() {
    let profile = PROFILE.replace("[sh, process.sh, planning]", "[no-such-program, x]");
    fails_with(&profile, GOOD, "processor_missing", "no-such-program");
    let profile = PROFILE.replace("[sh, process.sh, planning]", "[./process.sh]");
    fails_with(&profile, GOOD, "processor_missing", "./process.sh");
}

#[test]
fn one_that_nobody_trusts() {
    let env = Env::new();
    let mark = r#"touch "$HOME/ran"; echo '{"status": "SUCCESS"}'"#;
    env.install(PROFILE, mark);
    let session = env.begin_stub();
    session.step_to("PLANNING");
    session.put("planning-response.md", "planned\n");
    let said = session.refused(3, "profile_untrusted");
    assert!(said.contains("no person has trusted"), "{said}");
    env.tm(&["trust", NAME]).fault(3, "needs_terminal");
    assert!(!env.home().join("ran").exists());
    env.trust(NAME);
    // Any byte of the folder, a new file, a permission: it is another profile then.
    let folder = env.project().join(".taskmaster/profiles").join(NAME);
    for file in ["review.md", "new.txt"] {
        let path = folder.join(file);
        let before = fs::read(&path).ok();
        fs::write(&path, "something else\n").unwrap();
        let said = session.refused(3, "profile_untrusted");
        assert!(said.contains("changed"), "{said}");
        match before {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    assert!(!env.home().join("ran").exists());
    // Taken back, it does not run; as it was trusted, it does.
    env.tm(&["trust", NAME, "--revoke"]).ok();
    session.refused(3, "profile_untrusted");
    env.trust(NAME);
    session.step_to("PLANNED");
    assert!(env.home().join("ran").exists());
}

#[test]
fn trust_does_not_come_with_a_project() {
    let env = Env::new();
    let session = planning(&env, PROFILE, GOOD);
    let list = env.home().join("store/trusted.json");
    let text = fs::read_to_string(&list).unwrap();
    fs::remove_file(list).unwrap();
    env.write(".taskmaster/trusted.json", text);
    session.refused(3, "profile_untrusted");
}

#[test]
fn its_files_are_held_to_the_same_rules() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.stub_to("generation");
    let names = session.names().len();
    let one = |path: &str| format!(r#"{{"path": "{path}", "content": "x\n"}}"#);
    for (round, (files, reason)) in [
        (one("../out"), "`..`"),
        (one("/out"), "absolute"),
        (one("C:/out"), "drive"),
        (one("a\\\\b"), "backslash"),
        (one(".git/config"), "git"),
        (format!("{},{}", one("a"), one("A")), "same"),
        (format!("{},{}", one("a"), one("a/b")), "folder"),
        (r#"{"path": "a", "content": "\u0000"}"#.to_owned(), "NUL"),
        (String::new(), "file"),
    ]
    .into_iter()
    .enumerate()
    {
        env.answers(
            "generation",
            &format!(r#"{{"status": "SUCCESS", "files": [{files}]}}"#),
        );
        broke_down(&session.step(), reason);
        // Beside each response that was set aside stands the prompt that asked for it.
        assert_eq!(session.names().len(), names + 2 * round, "{reason}");
        session.reopen();
        session.put("iteration-1/generation-response.md", "generated\n");
    }
    assert!(!env.folder().join("out").exists());
    env.answers(
        "generation",
        r#"{"status": "SUCCESS", "files": [{"path": "a/b", "content": "x"}, {"path": "c", "content": ""}]}"#,
    );
    session.step_to("GENERATED");
    assert_eq!(session.code(1)["a/b"], "x");
    assert_eq!(session.code(1)["c"], "");
}

#[test]
fn a_session_is_read_by_the_profile_it_began_with() {
    let env = Env::new();
    let session = planning(&env, PROFILE, GOOD);
    let folder = env.project().join(".taskmaster/profiles").join(NAME);
    // A template is pinned; a step that runs no program does not look at the folder at all.
    session.step_to("PLANNED");
    fs::write(folder.join("generation.md"), "Something else.\n").unwrap();
    session.step_to("GENERATING");
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(prompt.contains("Asks for generation."), "{prompt}");
    fs::remove_dir_all(&folder).unwrap();
    session.put("iteration-1/generation-response.md", "generated\n");
    let answer = session.step();
    assert_eq!(answer.status, 6, "{answer:#?}");
    assert_eq!(text(&session.status(), "phase"), "GENERATING");
}

#[test]
fn a_response_that_kills_it_is_set_aside_by_a_person() {
    let env = Env::new();
    let profile = "tramline-profile: 1
title: Dies of some words
responses:
  review: { command: [sh, process.sh, FAILED] }
  revision: { command: [sh, process.sh, SUCCESS] }
";
    let script = r#"grep -q poison && exit 3
printf '{"status": "%s", "files": [{"path": "a", "content": "b"}]}' "$1""#;
    env.install(profile, script);
    env.trust(NAME);
    let session = env.begin_stub();
    session.to_reviewing();
    session.review(1, "poison\n");
    session.refused(6, "processor_died");
    session.reopen();
    assert_eq!(text(&session.status(), "phase"), "REVIEWING");
    assert_eq!(
        session.read("iteration-1/review-response.reopened-1.md"),
        "poison\n"
    );
    session.blocked();
    session.review(1, "no\n");
    session.step_to("REVISING");
    session.put("iteration-2/revision-response.md", "poison\n");
    session.step_to("REVISED");
    session.refused(6, "processor_died");
    session.reopen();
    assert_eq!(text(&session.status(), "phase"), "REVISING");
    assert_eq!(session.code(2), session.code(1));
    session.blocked();
    session.revise(2, "better\n");
    assert_eq!(session.code(2)["a"], "b");
    session.whole();
}
