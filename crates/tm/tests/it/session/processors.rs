//! Processors that hang, die, talk too much or lie: told by their code, and the session goes on once they are mended. What each
//! of them does wrong is shown where they are run (`crates/workspace/tests/it/profile`).

use std::fs;

use super::environment::{BUNDLE, Env, GENERATION, REVISION, Session};
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
fn planning(env: &Env, script: &str) -> Session {
    env.install(PROFILE, script);
    env.trust(NAME);
    let session = env.begin_stub();
    session.before("PLANNED");
    session
}

/// What fails in each way is shown in `crates/workspace/tests/it/profile`: nothing moved, and a mended one works once it is trusted.
#[test]
fn one_that_fails_is_told_by_its_code() {
    let env = Env::new();
    let ends_badly = "printf 'no \\033[31mway\\n' >&2; exit 3";
    let session = planning(&env, ends_badly);
    let said = session.refused(6, "command_failed");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let left = fs::read_dir(env.temporary()).unwrap().count();
    assert_eq!(left, 0);
    env.install(PROFILE, GOOD);
    session.refused(3, "untrusted");
    env.trust(NAME);
    session.step_to("PLANNED");
    // Trust does not come with a project.
    let other = planning(&env, GOOD);
    let list = env.store().join("trusted.json");
    env.write(".taskmaster/trusted.json", fs::read(&list).unwrap());
    fs::remove_file(list).unwrap();
    other.refused(3, "untrusted");
}

#[test]
fn a_session_is_read_by_the_profile_it_began_with() {
    let env = Env::new();
    let session = planning(&env, GOOD);
    // A template is pinned; a step that runs no program does not look at the folder at all.
    session.step_to("PLANNED");
    let folder = env.project().join(".taskmaster/profiles").join(NAME);
    fs::remove_dir_all(&folder).unwrap();
    session.step_to("GENERATING");
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(prompt.contains("Asks for generation."), "{prompt}");
    session.put(GENERATION, BUNDLE);
    session.step().json_with(6);
    assert_eq!(session.status()["phase"], "GENERATING");
}

#[test]
fn a_response_that_kills_it_is_set_aside_by_a_person() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.to("REVISED");
    // It finds no answer, and dies.
    fs::remove_file(env.home().join("answer-revision.json")).unwrap();
    session.refused(6, "command_failed");
    session.reopen();
    assert_eq!(session.status()["phase"], "REVISING");
    let aside = REVISION.replace(".md", ".reopened-1.md");
    assert_eq!(session.read(&aside), BUNDLE);
    assert_eq!(session.code(2), session.code(1));
    session.blocked();
    env.answers(
        "revision",
        r#"{"status": "SUCCESS", "files": [{"path": "a", "content": "b"}]}"#,
    );
    session.revise(2, "better\n");
    assert_eq!(session.code(2)["a"], "b");
    session.whole();
}
