//! A profile whose responses are read by a program of its own, which may take long.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::stage::Stage;
use super::story::{Act, PLAN};
use super::whole::Whole;

const PROFILE: &str = "tramline-profile: 1
title: Read by a script
responses:
  planning: { command: [sh, read.sh], timeout: 60 }
";

/// Tells that it runs, and goes on when it is let; or ends when the folder is gone, with whoever would have let it.
const READ: &str = r#"cat > /dev/null
echo run >> began
while [ ! -e go ]; do [ -e began ] || exit 1; sleep 0.02; done
echo '{"status": "SUCCESS"}'
"#;

/// How long a process may take to come to a point that it must reach.
const PATIENCE: Duration = Duration::from_mins(1);

/// A session whose plan is there, to be read by a program that somebody trusts.
fn stage() -> (Stage, PathBuf) {
    let stage = Stage::new();
    let folder = stage.project().join(".taskmaster/profiles/scripted");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("profile.yaml"), PROFILE).unwrap();
    fs::write(
        folder.join("read.sh"),
        READ.replace("began", &place(&stage, "began"))
            .replace("-e go ]", &format!("-e {} ]", place(&stage, "go"))),
    )
    .unwrap();
    for phase in ["planning", "generation", "review", "revision"] {
        fs::write(folder.join(format!("{phase}.md")), "Answer.\n").unwrap();
    }
    let engine = stage.engine();
    let looked_at = engine
        .trust_request(engine::trust::Subject::Profile, "scripted")
        .unwrap();
    engine.trust(&looked_at).unwrap();
    stage.tm_with(&["init", "--profile", "scripted"], 0);
    let out = stage.out();
    (stage, out)
}

fn place(stage: &Stage, name: &str) -> String {
    stage.out().join(name).display().to_string()
}

fn until(what: &str, reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !reached() {
        assert!(begun.elapsed() < PATIENCE, "never came to {what}");
        std::thread::yield_now();
    }
}

#[test]
fn nobody_is_asked_while_the_session_waits() {
    let (stage, out) = stage();
    stage.tm_with(&["step"], 0);
    for _ in 0..3 {
        stage.tm_with(&["step"], 7);
    }
    assert!(!out.join("began").exists());
}

/// The step is killed while the program runs, which itself lives on; the next step has the response read again.
#[test]
fn a_step_that_is_killed_while_its_program_runs_is_taken_again() {
    let (stage, out) = stage();
    stage.tm_with(&["step"], 0);
    stage.write("planning-response.md", PLAN);
    let before = Whole::of(&stage);
    let mut step = stage
        .program(&["session", "step", "--json"])
        .spawn()
        .unwrap();
    until("the program", || out.join("began").exists());
    // In the meantime everything else goes on: only the next step waits.
    assert_eq!(stage.state().phase, "PLANNING");
    step.kill().unwrap();
    step.wait().unwrap();
    assert_eq!(Whole::of(&stage).history, before.history);
    fs::write(out.join("go"), "").unwrap();
    stage.tm_with(&["step"], 0);
    assert_eq!(stage.state().phase, "PLANNED");
    let after = Whole::of(&stage);
    assert!(
        !after.files.keys().any(|name| name.contains(".tramline-")),
        "{:?}",
        after.files.keys()
    );
    assert_eq!(fs::read_to_string(out.join("began")).unwrap(), "run\nrun\n");
}

#[test]
fn a_session_is_called_off_while_its_program_runs() {
    let (stage, out) = stage();
    stage.tm_with(&["step"], 0);
    stage.write("planning-response.md", PLAN);
    let step = stage
        .program(&["session", "step", "--json"])
        .spawn()
        .unwrap();
    until("the program", || out.join("began").exists());
    let ran = Act::Cancel.on(&stage, "auto", None);
    assert_eq!(ran.status, 0, "{ran:?}");
    fs::write(out.join("go"), "").unwrap();
    let step = step.wait_with_output().unwrap();
    assert_eq!(step.status.code(), Some(8), "{step:?}");
    let state = stage.state();
    assert_eq!(
        (state.phase.as_str(), state.phase_history_total),
        ("CANCELLED", 3)
    );
}
