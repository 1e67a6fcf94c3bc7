//! Sessions whose own files are damaged, and calls that come at the same time.

use std::fs;
use std::path::Path;
use std::process::Child;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::environment::{Env, Session, history, stayed, text};
use super::stub::NAME;
use testkit::Outcome;

/// Makes a pipe.
pub fn pipe(path: &Path) {
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
    assert_eq!(cancelled["nextAction"]["action"], "complete");
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
fn a_journal_that_is_damaged_harms_no_other_session() {
    let env = Env::new();
    let broken = env.begin();
    let whole = env.begin();
    broken.put("activity.jsonl", "nonsense\n");
    broken.remove("snapshot.json");
    let listed = env.tm(&["list"]).ok();
    // The newest one comes first.
    let statuses = [&listed[1], &listed[0]].map(|one| text(one, "status"));
    assert_eq!(statuses, ["damaged", "IN_PROGRESS"]);
    for command in ["status", "step", "restore"] {
        broken.tm(&[command]).json_with(6);
    }
    whole.step_to("PLANNING");
}
