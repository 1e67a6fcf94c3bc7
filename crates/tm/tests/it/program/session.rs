//! Sessions on the command line: plan, generate, review, revise.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use testkit::Outcome;

/// A plan that is accepted.
pub const PLAN: &str = "# Plan\n\nOne script that greets.\n";
/// Code that is accepted.
pub const CODE: &str = "<<<FILE: greet.sh>>>\necho hello\n<<<FILE: lib/name.sh>>>\necho you\n";
/// The same code once more, as an answer to a review.
pub const CODE_AGAIN: &str =
    "It is right as it is.\n<<<FILE: greet.sh>>>\necho hello\n<<<FILE: lib/name.sh>>>\necho you\n";
/// A review that does not pass.
pub const FAIL: &str = "It greets nobody.\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
/// A review that passes.
pub const PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

/// A project with one session.
pub struct OneSession {
    pub environment: TestEnvironment,
    pub id: String,
}

impl OneSession {
    /// A session that has just begun, with these options.
    pub fn with(options: &[&str]) -> Self {
        let environment = TestEnvironment::bare();
        let ran = environment.tm(&[&["session", "init", "-i", "request=Greet"], options].concat());
        let id = ran.text().trim_end().to_owned();
        Self { environment, id }
    }

    /// Runs a command of `tm session`.
    pub fn tm(&self, words: &[&str]) -> Outcome {
        self.environment.tm(&[&["session"], words].concat())
    }

    /// Types a line of `tm session`, for JSON.
    pub fn typed_json(&self, line: &str) -> Outcome {
        self.environment.typed_json(&format!("session {line}"))
    }

    /// Types a line of `tm session` that must come to this exit status and tell all of this.
    pub fn tells(&self, line: &str, status: i32, told: &[&str]) -> Outcome {
        let ran = self.environment.typed(&format!("session {line}"));
        assert_eq!(ran.status, status, "{line}: {ran:?}");
        for text in told {
            let is_told = ran.out.contains(text) || ran.err.contains(text);
            assert!(is_told, "{text:?} is not told: {ran:?}");
        }
        ran
    }

    /// Sends a response.
    pub fn respond(&self, response: &str) {
        let ran = self
            .environment
            .tm_with_input(&["session", "respond", "-"], response);
        assert_eq!(ran.status, 0, "{ran:?}");
    }

    /// Takes one step, which must come to this exit status.
    pub fn step(&self, status: i32) -> Value {
        self.tm(&["step", "--json"]).json_with(status)
    }

    /// Takes all steps that can be taken, and gives the phase that the session is in then.
    pub fn run(&self, status: i32) -> String {
        let state = self.tm(&["run", "--json"]).json_with(status);
        state["phase"].as_str().unwrap().to_owned()
    }

    /// Sends a response and takes all steps after it.
    pub fn goes_on(&self, response: &str, status: i32) -> String {
        self.respond(response);
        self.run(status)
    }

    /// Takes a session that has begun to where it waits for a review.
    pub fn to_review(&self) {
        self.run(7);
        self.goes_on(PLAN, 7);
        assert_eq!(self.goes_on(CODE, 7), "REVIEWING");
    }

    /// The session as it is.
    pub fn status(&self) -> Value {
        self.tm(&["status", &self.id, "--json"]).json_with(0)
    }

    /// Its folder.
    pub fn folder(&self) -> PathBuf {
        self.status()["folder"].as_str().unwrap().into()
    }
}

#[test]
fn only_the_id_is_printed_by_init_and_the_rest_told_beside_it() {
    let environment = TestEnvironment::bare();
    let ran = environment.typed("session init -i request=Greet --name first");
    let id = ran.text().trim_end();
    assert_eq!(ran.out, format!("{id}\n"));
    assert!(id.starts_with("review__first__"), "{id}");
    let advised = format!("`tm session step --session {id}`");
    assert!(ran.err.contains(&advised), "{ran:?}");

    let begun = environment.typed_json("session init -i request=Greet").ok();
    assert_eq!(begun["inputs"]["request"], "Greet");
    assert_eq!(begun["phase"], "INITIALIZED");
    // Of two that are under way one has to be named; who does is told the command with its name.
    let several = environment.typed_json("session step");
    several.fault(2, "several_runs");
    let ran = environment.typed("session step review__first");
    let advised = format!("tm session respond FILE --run --session {id}");
    assert!(ran.text().contains(&advised), "{ran:?}");
}

#[test]
fn a_session_goes_from_init_to_complete_and_its_code_out_of_it() {
    let session = OneSession::with(&[]);
    let folder = session.folder();
    let at = |path: &str| folder.join(path).display().to_string();
    let [prompt, response] = ["prompt", "response"].map(|what| at(&format!("planning-{what}.md")));

    // Each in one line, to be copied.
    let written = "ok PLANNING: the prompt for the plan is written";
    let then = "  -> tm session show prompt\n  -> tm session respond FILE --run\n";
    session.tells("step", 0, &[written, &prompt, &response, then]);
    let before = session.status();
    session.tells("step", 7, &["! PLANNING: waits for the plan", &response]);
    let blocked = session.step(7);
    assert_eq!(blocked["advanced"], false);
    assert_eq!(blocked["waiting_for"]["path"], "planning-response.md");
    assert_eq!(session.status(), before);

    // A response can be written by hand.
    fs::write(response, PLAN).unwrap();
    session.tells("status", 0, &["The next step takes the plan in."]);
    assert_eq!(session.step(0)["phase"], "PLANNED");
    session.tells("step", 0, &["GENERATING: iteration 1 begins"]);
    session.environment.write("code.md", CODE);
    session.tells(&format!("respond {} code.md", session.id), 0, &[]);
    let taken = "ok GENERATED: the code is taken in\n\
                 ok REVIEWING: the review comes next\n\
                 ok REVIEWING: the prompt for the review is written\n";
    session.tells("run", 7, &[taken]);
    session.respond(FAIL);
    let again = "! REVISING: the review failed; iteration 2 begins";
    session.tells("run", 7, &[again]);
    assert_eq!(session.goes_on(CODE_AGAIN, 7), "REVIEWING");
    assert_eq!(session.goes_on(PASS, 0), "COMPLETE");
    assert_eq!(session.step(0)["status"], "SUCCESS");
    let export = format!("tm session export DIR --session {}", session.id);
    session.tells("run", 0, &[&at("iteration-2/code"), &export]);
    session.tells("export out", 0, &["iteration 2: 2 files written"]);
    assert_eq!(session.environment.read("out/greet.sh"), "echo hello\n");
}

#[test]
fn files_of_a_session_are_shown_and_no_others() {
    let session = OneSession::with(&[]);
    session.to_review();
    let absolute = session.folder().join("plan.md");
    for (file, text) in [
        ("plan", PLAN),
        ("./plan.md", PLAN),
        (absolute.to_str().unwrap(), PLAN),
        // The last one that there is.
        ("response", CODE),
        ("code/greet.sh", "echo hello\n"),
        ("iteration-1/code/lib/name.sh", "echo you\n"),
    ] {
        assert_eq!(session.tm(&["show", file]).text(), text, "{file}");
    }
    session.tells("show prompt", 0, &["# Review the code"]);
    let named = format!("show {} plan", session.id);
    let told = session.typed_json(&named).ok();
    assert_eq!(told["path"], "plan.md");
    assert_eq!(told["text"], PLAN);

    session.environment.write("secret.txt", "secret");
    let secret = session.environment.project().join("secret.txt");
    std::os::unix::fs::symlink(&secret, session.folder().join("link.md")).unwrap();
    let secret = secret.to_str().unwrap();
    for file in ["nothing.md", "link.md", "code/../../plan.md", secret] {
        let shown = session.typed_json(&format!("show {file}"));
        assert_eq!((shown.status, shown.code()), (4, "unknown_file"), "{file}");
    }
    let files = "iteration-1/code/greet.sh";
    session.tells("show", 0, &["History", files, "request    Greet"]);
    session.tells("list", 0, &["in progress  review__generic__"]);
}

#[test]
fn what_breaks_down_says_why_and_what_a_person_can_do() {
    let session = OneSession::with(&[]);
    session.run(7);
    session.goes_on(PLAN, 7);
    let place = session.folder().join("iteration-1/generation-response.md");
    fs::write(place, "no file at all\n").unwrap();
    let reopen = format!("tm session reopen --session {}", session.id);
    session.tells("run", 8, &["x ERROR: the session broke down: ", &reopen]);
    assert_eq!(session.status()["status"], "ERROR");

    // Nobody has to sit at a terminal to be told that there is no gate.
    for (line, code) in [
        ("approve", "no_gate"),
        ("reject --feedback x", "no_gate"),
        ("reopen", "needs_terminal"),
    ] {
        session.typed_json(line).fault(3, code);
    }
    session.environment.write("code.md", CODE);
    let refused = session.typed_json("respond code.md");
    refused.fault(3, "not_waiting");
    assert_eq!(refused.json()["error"]["recovery"], reopen);
    // Who takes it up again sees why it broke down.
    let reopen = "session reopen --reason typo";
    let [shown, _] = session.environment.agreed(reopen);
    let why = "why        the response holds no file";
    assert!(shown.contains(why), "{shown}");
    assert_eq!(session.goes_on(CODE, 7), "REVIEWING");
}

#[test]
fn commands_that_are_advised_name_the_session_that_was_named() {
    let session = OneSession::with(&["--name", "first"]);
    session.tells("init -i request=Greet --name second", 0, &[]);
    session.environment.write("plan.md", PLAN);
    for (line, status, recovery) in [
        ("export ID out", 3, "status --session ID"),
        ("approve -s ID", 3, "status --session ID"),
        ("show ID x.md", 4, "show --session ID"),
        // As it was named.
        ("respond -s first plan.md", 3, "step --session first"),
        ("step third", 4, "list"),
    ] {
        let named = |text: &str| text.replace("ID", &session.id);
        let refused = session.typed_json(&named(line)).json_with(status);
        let expected = format!("tm session {}", named(recovery));
        assert_eq!(refused["error"]["recovery"], expected, "{line}");
    }
    let step = "-> tm session step --session review__second__";
    session.tells("status -s second", 0, &[step]);
}

#[test]
fn words_in_the_wrong_order_and_words_that_mean_nothing_are_told_as_what_they_are() {
    let session = OneSession::with(&["--gate", "plan=human", "--gate", "review=human"]);
    let gates = "gates      plan and review wait for a person";
    session.tells("status", 0, &[gates]);
    for file in ["plan", "prompt", "response"] {
        let refused = session.typed_json(&format!("show {file}"));
        let expected = format!("has no {file} yet: it stands in INITIALIZED");
        assert!(refused.message().ends_with(&expected), "{refused:?}");
    }
    let refused = session.typed_json("show nofile").fault(4, "unknown_file");
    let neither = "`nofile` is neither a session nor a file of the session review__";
    assert!(refused.starts_with(neither), "{refused}");
    fs::write(session.folder().join("nofile"), "it is\n").unwrap();
    assert_eq!(session.tells("show nofile", 0, &[]).out, "it is\n");

    session.environment.write("plan.md", PLAN);
    session.environment.write("file", "x");
    for (line, code, told) in [
        ("export out ID", "usage", "the session stands first"),
        ("respond plan.md ID", "usage", "the session stands first"),
        ("export ID", "usage", "no folder is named"),
        ("export ID file/out", "bad_path", "is a file"),
        ("export file", "bad_path", "is a file"),
    ] {
        let refused = session.typed_json(&line.replace("ID", &session.id));
        let message = refused.fault(2, code);
        assert!(message.contains(told), "{line}: {message}");
    }
    let folder = session.environment.project();
    assert!(!folder.join("out").exists() && !folder.join(&session.id).exists());
}

#[test]
fn a_session_that_was_stopped_says_why_and_how_it_goes_on() {
    let session = OneSession::with(&[]);
    session.step(0);
    let pause = format!("run pause --run-id {} --reason lunch", session.id);
    session.environment.typed(&pause).text();
    let resume = format!("  -> tm run resume --run-id {}\n", session.id);
    for (line, status) in [("step", 7), ("status", 0)] {
        session.tells(line, status, &["PLANNING: paused: lunch", &resume]);
    }
    let why = "CANCELLED: the session was called off: late";
    session.tells("cancel --reason late", 0, &[why]);
    assert_eq!(session.step(8)["status"], "CANCELLED");
}

#[test]
fn changed_files_are_told_of_and_put_back() {
    let session = OneSession::with(&[]);
    session.to_review();
    let plan = session.folder().join("plan.md");
    fs::write(&plan, "another").unwrap();
    let changed = "! changed since recorded: plan.md\n";
    let restore = "  -> tm session restore\n";
    session.tells("status", 0, &[changed, restore]);
    // Whoever is waited for is told, too, and so is who looks at the file.
    let waits = format!("REVIEWING: waits for the review\n{changed}");
    session.tells("step", 7, &[&waits, restore]);
    let since = "plan.md was changed since it was recorded";
    let shown = session.tells("show plan", 0, &[since]);
    assert_eq!(shown.out, "another");
    assert_eq!(session.typed_json("show plan").ok()["changed"], true);
    for whole in ["prompt", "code/greet.sh", "planning-response.md"] {
        let shown = session.tells(&format!("show {whole}"), 0, &[]);
        assert_eq!(shown.err, "", "{whole}");
    }
    let restored = session.typed_json("restore").ok();
    assert_eq!(restored["restored"][0], "plan.md");
    assert_eq!(fs::read_to_string(&plan).unwrap(), PLAN);
    session.tells("restore", 0, &["everything is as it was recorded"]);
}

#[test]
fn a_command_line_that_makes_no_sense_begins_nothing() {
    let environment = TestEnvironment::bare();
    for (line, status, code) in [
        ("init", 2, "bad_input"),
        ("init -i request", 2, "usage"),
        ("init -i request=a -i request=b", 2, "usage"),
        ("init -i request=a --inputs {\"request\":1}", 2, "usage"),
        ("init -i request=a --gate plan", 2, "usage"),
        ("init -i request=a --gate plan=perhaps", 2, "bad_gate"),
        ("init -i request=a --gate door=human", 2, "bad_gate"),
        ("init -i request=a -i color=red", 2, "unknown_input"),
        ("init -i request=a --max-iterations 0", 2, "usage"),
        ("init -i request=a --name ../x", 2, "bad_name"),
        ("init --profile nothing", 4, "unknown_profile"),
        ("step", 4, "no_session"),
        ("status nothing", 4, "no_session"),
        ("step a -s b", 2, "usage"),
        ("trust generic", 3, "nothing_to_trust"),
        ("trust nothing", 4, "unknown_profile"),
        ("approve", 4, "no_session"),
        ("reject --feedback x", 4, "no_session"),
        ("reopen", 4, "no_session"),
        ("show nothing", 4, "no_session"),
        ("export a b", 4, "no_session"),
    ] {
        let refused = environment.typed_json(&format!("session {line}"));
        assert_eq!((refused.status, refused.code()), (status, code), "{line}");
    }
    assert_eq!(environment.typed_json("session list").ok(), json!([]));
    // What nobody trusts is trusted no more.
    let revoked = environment.typed_json("session trust generic --revoke");
    assert_eq!(revoked.ok()["revoked"], false);
}

#[test]
fn profiles_are_listed_with_what_they_take() {
    let environment = TestEnvironment::bare();
    let ran = environment.typed("session profiles");
    assert!(ran.text().starts_with("generic  "), "{ran:?}");
    let input = "  -i request (text, required): what is to be built";
    assert!(ran.out.contains(input), "{ran:?}");
    let all = environment.typed_json("session profiles").ok();
    assert_eq!(all[0]["name"], "generic");
    assert_eq!(all[0]["processor"], false);
}
