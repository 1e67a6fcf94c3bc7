//! Sessions whose own files are damaged, and calls that come at the same time.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Stdio};
use std::thread;

use rustix::fs::OFlags;

use super::environment::{BUNDLE, Env, PLAN, Session, text};
use super::stub::NAME;
use testkit::Outcome;

fn spawn(session: &Session<'_>, command: &str) -> Child {
    session
        .env
        .program(&["session", command, "--json", "--session", &session.id])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn steps_at_the_same_time_are_taken_one_after_the_other() {
    let env = Env::new();
    let session = env.begin();
    session.put("planning-response.md", PLAN);
    session.put("iteration-1/generation-response.md", BUNDLE);
    // INITIALIZED, PLANNING, PLANNED, GENERATING, GENERATED; REVIEWING, whose prompt is issued.
    let children: Vec<Child> = (0..9).map(|_| spawn(&session, "step")).collect();
    let answers: Vec<Outcome> = thread::scope(|scope| {
        let all: Vec<_> = children
            .into_iter()
            .map(|child| {
                scope.spawn(move || Outcome::of(&child.wait_with_output().unwrap()).answered())
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let advanced = answers.iter().filter(|answer| answer.status == 0).count();
    let blocked = answers.iter().filter(|answer| answer.status == 7).count();
    assert_eq!((advanced, blocked), (6, 3), "{answers:#?}");
    let state = session.whole();
    assert_eq!(text(&state, "phase"), "REVIEWING");
    assert_eq!(state["phase_history"].as_array().unwrap().len(), 6);
    session.blocked();
}

#[test]
fn a_session_is_called_off_while_its_processor_works() {
    let env = Env::new();
    let pipe = |name: &str| {
        let pipe = env.home().join(name);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        pipe
    };
    let (begun, goes_on) = (pipe("begun"), pipe("goes-on"));
    env.install(
        "tramline-profile: 1\ntitle: Waits\nresponses:\n  planning: { command: [sh, process.sh] }\n",
        r#"echo yes > "$HOME/begun"; read line < "$HOME/goes-on"; echo '{"status": "SUCCESS"}'"#,
    );
    env.trust(NAME);
    let session = env.begin_stub();
    session.step_to("PLANNING");
    session.put("planning-response.md", "planned\n");
    let step = spawn(&session, "step");
    assert_eq!(fs::read_to_string(begun).unwrap(), "yes\n");
    let cancelled = session.tm(&["cancel", "--reason", "not needed"]).ok();
    assert_eq!(text(&cancelled, "phase"), "CANCELLED");
    fs::OpenOptions::new()
        .write(true)
        .open(goes_on)
        .unwrap()
        .write_all(b"go\n")
        .unwrap();
    let answer = Outcome::of(&step.wait_with_output().unwrap())
        .answered()
        .json_with(8);
    assert_eq!(text(&answer, "phase"), "CANCELLED", "{answer:#}");
    assert_eq!(answer["advanced"], false, "{answer:#}");
    let state = session.status();
    assert_eq!(text(&state, "last_error"), "not needed");
    assert_eq!(state["phase_history"].as_array().unwrap().len(), 3);
    assert!(!session.has("plan.md"));
}

#[test]
fn evidence_that_is_gone_is_told() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    fs::remove_dir_all(session.folder.join("evidence")).unwrap();
    let before = session.files();
    for command in ["step", "restore"] {
        let answer = session.tm(&[command]);
        assert_ne!(answer.status, 1, "{command}: {answer:#?}");
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
    fs::write(broken.folder.join("activity.jsonl"), "nonsense\n").unwrap();
    fs::remove_file(broken.folder.join("snapshot.json")).unwrap();
    let listed = env.tm(&["list"]).ok();
    let of = |id: &str| {
        let all = listed.as_array().unwrap();
        let one = all
            .iter()
            .find(|one| text(one, "session_id") == id)
            .unwrap();
        text(one, "status").to_owned()
    };
    assert_eq!(of(&broken.id), "damaged");
    assert_eq!(of(&whole.id), "IN_PROGRESS");
    for command in ["status", "step", "restore"] {
        let answer = broken.tm(&[command]);
        assert_eq!(answer.status, 6, "{command}: {answer:#?}");
    }
    whole.step_to("PLANNING");
}

#[test]
fn an_iteration_whose_folder_is_gone_is_put_back() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    fs::remove_dir_all(session.folder.join("iteration-1")).unwrap();
    let answer = session.step_to("GENERATING");
    assert_eq!(text(&answer, "issued"), "iteration-1/generation-prompt.md");
    session.generate(BUNDLE);
    fs::remove_dir_all(session.folder.join("iteration-1")).unwrap();
    session.refused(3, "tampered");
    session.tm(&["restore"]).ok();
    assert_eq!(session.code(1).len(), 2);
    session.step_to("REVIEWING");
    session.whole();
}

#[test]
fn a_pipe_in_the_place_of_a_response_holds_nobody_up() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    let pipe = session.folder.join("planning-response.md");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut held = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(&pipe)
        .unwrap();
    session.refused(6, "no_ordinary_file");
    let mut nothing = String::new();
    let _ = held.read_to_string(&mut nothing);
    assert_eq!(nothing, "");
}
