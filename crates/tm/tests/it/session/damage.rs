//! Sessions whose own files are damaged, and calls that come at the same time.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Child;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::environment::{BUNDLE, Env, PLANNING, Session, at, history, stayed, text};
use super::stub::NAME;
use testkit::Outcome;

/// Makes a pipe.
fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// A session whose plan is read by a program that tells when it runs, and waits until it is let go on, or all is over.
fn reading() -> Session {
    let env = Env::new();
    pipe(&env.home().join("begun"));
    env.install(
        "tramline-profile: 1\ntitle: Waits\nresponses:\n  planning: { command: [sh, process.sh] }\n",
        r#"echo yes > "$HOME/begun"
while [ ! -e "$HOME/go" ]; do [ -e "$HOME/begun" ] || exit 1; sleep 0.02; done
echo '{"status": "SUCCESS"}'"#,
    );
    env.trust(NAME);
    let session = env.begin_stub();
    session.before("PLANNED");
    session
}

/// Begins a step, and waits until its program runs.
fn step(session: &Session) -> Child {
    let words = ["session", "step", "--json", "--session", &session.id];
    let step = session.env.spawn(&words);
    let begun = session.env.home().join("begun");
    assert_eq!(fs::read_to_string(begun).unwrap(), "yes\n");
    step
}

#[test]
fn a_session_is_called_off_while_its_processor_works() {
    let session = reading();
    let step = step(&session);
    let cancelled = session.tm(&["cancel", "--reason", "not needed"]).ok();
    assert_eq!(cancelled["phase"], "CANCELLED");
    fs::write(session.env.home().join("go"), "").unwrap();
    let answer = Outcome::waited(step).json_with(8);
    let told = (text(&answer, "phase"), &answer["advanced"]);
    assert_eq!(told, ("CANCELLED", &false.into()));
    let state = session.status();
    let told = (text(&state, "last_error"), history(&state).len());
    assert_eq!(told, ("not needed", 3));
    assert!(!session.has("plan.md"));
}

/// The program itself lives on; the next step has the response read again.
#[test]
fn a_step_that_is_killed_while_its_program_runs_is_taken_again() {
    let session = reading();
    let before = session.status();
    let mut killed = step(&session);
    killed.kill().unwrap();
    killed.wait().unwrap();
    stayed(&before, &session.status());
    let again = step(&session);
    fs::write(session.env.home().join("go"), "").unwrap();
    assert_eq!(Outcome::waited(again).ok()["phase"], "PLANNED");
    let left = session.names();
    assert!(
        !left.iter().any(|name| name.contains(".tramline-")),
        "{left:?}"
    );
    session.whole();
}

#[test]
fn evidence_that_is_gone_is_told() {
    let session = at("REVIEWING");
    session.remove("evidence");
    let before = session.files();
    for command in ["step", "restore"] {
        let answer = session.tm(&[command]);
        assert!(matches!(answer.status, 0 | 6), "{command}: {answer:#?}");
    }
    assert_eq!(before, session.files());
    session.tm(&["cancel"]).ok();
}

#[test]
fn a_journal_that_is_damaged_harms_no_other_session() {
    let env = Env::new();
    let broken = env.begin();
    let whole = env.begin();
    broken.put("activity.jsonl", "nonsense\n");
    broken.remove("snapshot.json");
    let listed = env.tm(&["list"]).ok();
    let of = |id: &str| {
        let all = listed.as_array().unwrap();
        let one = all.iter().find(|one| one["session_id"] == id);
        text(one.unwrap(), "status").to_owned()
    };
    assert_eq!([of(&broken.id), of(&whole.id)], ["damaged", "IN_PROGRESS"]);
    for command in ["status", "step", "restore"] {
        broken.tm(&[command]).json_with(6);
    }
    whole.step_to("PLANNING");
}

#[test]
fn an_iteration_whose_folder_is_gone_is_put_back() {
    let session = at("GENERATING");
    session.remove("iteration-1");
    let answer = session.step_to("GENERATING");
    assert_eq!(answer["issued"], "iteration-1/generation-prompt.md");
    session.generate(BUNDLE);
    session.remove("iteration-1");
    session.refused(3, "tampered");
    session.tm(&["restore"]).ok();
    assert_eq!(session.code(1).len(), 2);
    session.step_to("REVIEWING");
    session.whole();
}

#[test]
fn a_pipe_in_the_place_of_a_response_holds_nobody_up() {
    let session = at("PLANNING");
    let place = session.folder.join(PLANNING);
    pipe(&place);
    let mut options = fs::OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut held = options.read(true).custom_flags(flags).open(&place).unwrap();
    session.refused(6, "no_ordinary_file");
    let mut nothing = String::new();
    let _ = held.read_to_string(&mut nothing);
    assert_eq!(nothing, "");
}
