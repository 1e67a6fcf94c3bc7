//! Whatever goes wrong, somebody gets on: nothing that is within the limits walks a session into a wall, nothing that was not
//! seen is decided on, and nothing runs that nobody trusted.

use std::fs;
use std::os::unix::fs::symlink;

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, text};
use testkit::Outcome;

#[test]
fn what_is_longer_than_a_prompt_is_shown_in_part() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    session.put("planning-response.md", "# A plan\nword ".repeat(120_000));
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    let prompt = session.read("iteration-1/generation-prompt.md");
    assert!(prompt.len() < 200_000, "{}", prompt.len());
    assert!(prompt.contains("[cut here; the whole of it: "));
    session.generate(BUNDLE);
    session.put(
        "iteration-1/review-response.md",
        format!("{}{FAIL}", "Wrong again. ".repeat(120_000)),
    );
    session.step_to("REVIEWED");
    session.step_to("REVISING");
    assert!(session.has("iteration-2/revision-prompt.md"));
}

#[test]
fn a_reviewer_sees_what_cannot_be_seen() {
    let env = Env::new();
    let session = env.begin();
    session.to_generating();
    session.generate(
        "<<<FILE: a.sh>>>\nif user\u{202e} # admin\u{2069}; then\u{1b}[2K\u{8}\n\tok\r\n",
    );
    session.stepped();
    let prompt = session.read("iteration-1/review-prompt.md");
    assert!(
        prompt.contains("if user\\u{202e} # admin\\u{2069}; then\\u{1b}[2K\\u{8}\n\tok\n"),
        "{prompt}"
    );
}

#[test]
fn a_session_that_cannot_go_on_can_be_called_off() {
    let env = Env::new();
    let session = env.begin();
    session.to_reviewing();
    session.review(1, FAIL);
    fs::write(session.folder.join("iteration-2"), "in the way").unwrap();
    session.step().json_with(6);
    let over = session.tm(&["cancel", "--reason", "it is stuck"]).ok();
    assert_eq!(text(&over, "phase"), "CANCELLED");
    assert_eq!(text(&over, "last_error"), "it is stuck");
}

#[test]
fn a_review_that_was_changed_is_not_decided_on() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--gate", "review=human"]);
    session.to_reviewing();
    session.review(1, PASS);
    session.put("iteration-1/review-response.md", FAIL);
    let (status, said) = session.person(&["approve"]);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("review-response.md"), "{said}");
    session.tm(&["restore"]).ok();
    assert_eq!(session.read("iteration-1/review-response.md"), PASS);
    session.approve();
    session.step_to("COMPLETE");
}

#[test]
fn nobody_but_a_person_takes_a_review_away() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--max-iterations", "1"]);
    session.to_reviewing();
    session.review(1, FAIL);
    session.stepped();
    assert_eq!(session.status()["waiting_for"]["reason"], "max_iterations");
    for verb in ["reopen", "resume"] {
        let verbs = ["run", verb, "--json", "--run-id", &session.id];
        let output = env.program(&verbs).output().unwrap();
        Outcome::of(&output).answered().fault(3, "needs_person");
    }
    assert_eq!(session.read("iteration-1/review-response.md"), FAIL);
}

#[test]
fn what_runs_is_what_was_trusted() {
    let env = Env::with_stub();
    let mark = env.folder().join("mark");
    let harmful = format!("touch {}; cat > /dev/null", mark.display());
    let with = |command: &str| {
        format!(
            "tramline-profile: 1\ntitle: x\ninputs: {{}}\nresponses:\n  planning: {{ command: [sh, -c, {command:?}] }}\n"
        )
    };
    let folder = env.project().join(".taskmaster/profiles/other");
    fs::create_dir_all(&folder).unwrap();
    for name in ["planning", "generation", "review", "revision"] {
        fs::write(
            folder.join(format!("{name}.md")),
            "Write {{ response.path }}\n",
        )
        .unwrap();
    }
    fs::write(folder.join("profile.yaml"), with(&harmful)).unwrap();
    let session = env.begin_with(&["--profile", "other"]);
    session.step_to("PLANNING");
    let harmless = "cat > /dev/null; echo '{\"status\": \"SUCCESS\"}'";
    fs::write(folder.join("profile.yaml"), with(harmless)).unwrap();
    env.trust("other");
    session.put("planning-response.md", PLAN);
    session.step_to("PLANNED");
    assert!(!mark.exists(), "a command ran that nobody trusted");
}

#[test]
fn a_link_in_place_of_a_lock_leads_nowhere() {
    let env = Env::new();
    let session = env.begin();
    let victim = env.folder().join("victim");
    for lock in ["lock", "steps.lock"] {
        fs::write(&victim, "precious").unwrap();
        let place = session.folder.join(lock);
        let _ = fs::remove_file(&place);
        symlink(&victim, &place).unwrap();
        session.step().json_with(6);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{lock}");
        fs::remove_file(&place).unwrap();
    }
    session.step_to("PLANNING");
}

#[test]
fn a_report_of_an_end_goes_when_the_session_goes_on() {
    let env = Env::new();
    let session = env.begin();
    session.step_to("PLANNING");
    session.put("planning-response.md", PLAN);
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    session.put("iteration-1/generation-response.md", "no file at all\n");
    session.stepped();
    assert!(session.has("report.md"));
    session.reopen();
    assert!(!session.has("report.md") && !session.has("report.json"));
    session.generate(BUNDLE);
}

#[test]
fn a_plan_that_was_sent_back_is_no_plan() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--gate", "plan=human"]);
    session.to_planned();
    session.put("plan.md", "By hand.\n");
    session.reject("Shorter.");
    let state = session.status();
    assert_eq!(state.get("plan_hash"), None, "{state:#}");
    assert!(!session.has("plan.md"));
    assert_eq!(session.read("plan.rejected-1.md"), "By hand.\n");
}
