//! What people are told: text of others is shown, and does nothing to a terminal or a prompt.

use super::environment::{BUNDLE, Env, FAIL, PASS, PLAN, Session, text};

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}red\u{202e}der";

fn shown(session: &Session<'_>, arguments: &[&str]) -> String {
    let mut all = vec!["session"];
    all.extend(arguments);
    all.extend(["--session", &session.id]);
    let output = session.env.program(&all).output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    text
}

fn is_clean(text: &str) {
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(bad), "{text:?}");
}

#[test]
fn reasons_and_messages_of_a_processor() {
    let env = Env::with_stub();
    let session = env.begin_stub();
    session.stub_to("planning");
    let hostile = serde_json::to_string(HOSTILE).unwrap();
    env.answers(
        "planning",
        &format!(r#"{{"status": "ERROR", "error_message": {hostile}, "messages": [{hostile}]}}"#),
    );
    let step = shown(&session, &["step"]);
    assert!(step.contains("red"), "{step}");
    is_clean(&step);
    for command in ["status", "show", "list"] {
        is_clean(&shown(&session, &[command]));
    }
}

#[test]
fn names_of_files_and_reasons_of_people() {
    let env = Env::new();
    let session = env.begin_with(&["-i", &format!("request={HOSTILE}"), "--gate", "plan=human"]);
    session.to_planned();
    session.agreed(&["reject", "--feedback", HOSTILE]);
    is_clean(&session.read("planning-prompt.md"));
    session.put("planning-response.md", PLAN);
    session.step_to("PLANNED");
    session.approve();
    session.step_to("GENERATING");
    is_clean(&session.read("iteration-1/generation-prompt.md"));
    session.put(
        "iteration-1/generation-response.md",
        format!("<<<FILE: {HOSTILE}>>>\n1\n"),
    );
    is_clean(&shown(&session, &["step"]));
    for command in ["status", "show"] {
        is_clean(&shown(&session, &[command]));
    }
    session.agreed(&["reopen", "--reason", HOSTILE]);
    is_clean(&shown(&session, &["cancel", "--reason", HOSTILE]));
    is_clean(&shown(&session, &["show"]));
}

#[test]
fn what_looks_like_a_template_is_text() {
    let env = Env::new();
    let odd = "{{ 7 * 7 }} {% for x in y %} ```` <<<FILE: a>>>";
    let session = env.begin_with(&["-i", &format!("request={odd}"), "--gate", "code=human"]);
    session.step_to("PLANNING");
    assert!(session.read("planning-prompt.md").contains(odd));
    session.put("planning-response.md", format!("# {odd}\n"));
    session.step_to("PLANNED");
    session.step_to("GENERATING");
    assert!(
        session
            .read("iteration-1/generation-prompt.md")
            .contains(odd)
    );
    session.generate(BUNDLE);
    session.reject(odd);
    assert!(
        session
            .read("iteration-1/generation-prompt.md")
            .matches(odd)
            .count()
            >= 2
    );
}

#[test]
fn a_long_rejection_does_not_hide_the_history() {
    let env = Env::new();
    let session = env.begin_with(&["-i", "request=x", "--gate", "plan=human"]);
    session.to_planned();
    // As long as a word of a command line may be.
    let long = "Say more about the words. ".repeat(5_000);
    session.reject(&long);
    let answer = session.blocked();
    let last = answer["phase_history"].as_array().unwrap().last().unwrap();
    assert_eq!(text(last, "phase"), "PLANNING", "{last}");
    assert_eq!(text(last, "decision"), "reject", "{last}");
    assert!(session.read("planning-prompt.md").contains(long.trim()));
}

#[test]
fn run_takes_every_step_that_there_is() {
    let env = Env::new();
    let session = env.begin();
    let waits = session.tm(&["run"]).json_with(7);
    assert_eq!(text(&waits, "phase"), "PLANNING");
    assert_eq!(waits["advanced"], true);
    assert_eq!(waits["waiting_for"]["path"], "planning-response.md");
    let waits = session.tm(&["run"]).json_with(7);
    assert_eq!(waits["advanced"], false);
    session.put("planning-response.md", PLAN);
    session.put("iteration-1/generation-response.md", BUNDLE);
    session.put("iteration-1/review-response.md", FAIL);
    session.put("iteration-2/revision-response.md", BUNDLE);
    let waits = session.tm(&["run"]).json_with(7);
    assert_eq!(text(&waits, "phase"), "REVIEWING");
    assert_eq!(waits["current_iteration"], 2);
    assert!(session.has("iteration-2/review-prompt.md"));
    session.put("iteration-2/review-response.md", PASS);
    let over = session.tm(&["run"]).ok();
    assert_eq!(text(&over, "status"), "SUCCESS");
    assert_eq!(
        session.whole()["phase_history"].as_array().unwrap().len(),
        12
    );
    assert_eq!(session.tm(&["run"]).ok()["advanced"], false);
}

#[test]
fn a_session_that_cannot_begin_leaves_nothing() {
    let env = Env::new();
    for (arguments, status) in [
        (&["init"][..], 2),
        (&["init", "-i", "request= "], 2),
        (&["init", "-i", "request=x", "-i", "other=y"], 2),
        (&["init", "-i", "request=x", "-i", "request=y"], 2),
        (&["init", "-i", "request=x", "--profile", "none"], 4),
        (&["init", "-i", "request=x", "--profile", "../x"], 2),
        (&["init", "-i", "request=x", "--gate", "plan=maybe"], 2),
        (&["init", "-i", "request=x", "--gate", "none=human"], 2),
        (&["init", "-i", "request=x", "--gate", "plan"], 2),
        (&["init", "-i", "request=x", "--max-iterations", "0"], 2),
        (&["init", "-i", "request"], 2),
        (&["init", "--inputs", "[]"], 2),
    ] {
        let answer = env.tm(arguments);
        assert_eq!(answer.status, status, "{arguments:?}: {answer:#?}");
        assert_eq!(
            env.tm(&["list"]).ok(),
            serde_json::json!([]),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_name_cannot_lead_out_of_the_store() {
    let env = Env::new();
    for name in ["../../out", "a/b", ".", "\u{1b}[2J", "-x", &"x".repeat(300)] {
        let answer = env.tm(&["init", "-i", "request=x", &format!("--name={name}")]);
        if answer.status == 0 {
            let folder = text(answer.json(), "folder");
            let id = text(answer.json(), "session_id");
            assert!(folder.ends_with(&format!("/runs/{id}")), "{folder}");
            is_clean(id);
            assert!(!id.contains('/'), "{id}");
        } else {
            assert_eq!(answer.status, 2, "{answer:#?}");
        }
    }
    assert!(!env.folder().join("out").exists());
}

#[test]
fn the_generic_verbs_know_sessions() {
    let env = Env::new();
    let run = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        all.push("--json");
        let output = env.program(&all).output().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), json)
    };
    let (status, started) = run(&["start", "review", "--input", r#"values={"request": "x"}"#]);
    assert_eq!(status, 0, "{started:#}");
    let id = text(&started, "runId").to_owned();
    let state = env.tm(&["status", &id]).ok();
    assert_eq!(text(&state, "phase"), "INITIALIZED");
    assert_eq!(run(&["step"]).0, 0);
    let (status, blocked) = run(&["step"]);
    assert_eq!(status, 7, "{blocked:#}");
    assert!(
        blocked.to_string().contains("planning-response.md"),
        "{blocked:#}"
    );
    env.tm_with_input(&["respond", "-"], PLAN.as_bytes()).ok();
    assert_eq!(run(&["step"]).0, 0);
    let state = env.tm(&["status", &id]).ok();
    assert_eq!(text(&state, "phase"), "PLANNED");
}

#[test]
fn the_run_report_tells_what_a_review_found() {
    let env = Env::new();
    let session = env.begin();
    session.to_revising();
    let output = env
        .program(&["runs", "report", &session.id])
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    let found = "the review found 2 issues, 1 of them critical; issues_total 2";
    assert!(report.contains(found), "{report}");
}
