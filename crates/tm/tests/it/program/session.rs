//! Sessions on the command line: plan, generate, review, revise.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::environment::{TestEnvironment, keys};
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
    let ran = environment.tm(&["session", "init", "-i", "request=Greet", "--name", "first"]);
    let id = ran.text().trim_end();
    assert_eq!(ran.out, format!("{id}\n"));
    assert!(id.starts_with("review__first__"), "{id}");
    assert!(
        ran.err
            .contains(&format!("`tm session step --session {id}`")),
        "{ran:?}"
    );

    let begun = environment
        .tm(&["session", "init", "-i", "request=Greet", "--json"])
        .json_with(0);
    assert_eq!(begun["phase"], "INITIALIZED");
    assert_eq!(begun["status"], "IN_PROGRESS");
    assert_eq!(begun["current_iteration"], 0);
    assert_eq!(begun["inputs"]["request"], "Greet");
    let folder = fs::read_dir(begun["folder"].as_str().unwrap()).unwrap();
    for entry in folder {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            !name.contains(".md") && !name.starts_with("iteration"),
            "{name}"
        );
    }

    let ran = environment.tm(&["session", "step"]);
    assert_eq!(ran.status, 2, "two are under way: {ran:?}");
    assert!(ran.err.contains(id), "{ran:?}");
    let ran = environment.tm(&["session", "step", "review__first"]);
    assert!(
        ran.text()
            .contains(&format!("tm session respond FILE --run --session {id}")),
        "who names a session is told the command with its name: {ran:?}"
    );
}

#[test]
fn a_session_goes_from_init_to_complete_and_its_code_out_of_it() {
    let session = OneSession::with(&[]);
    let folder = session.folder();
    let at = |path: &str| folder.join(path).display().to_string();

    let ran = session.tm(&["step"]);
    assert!(
        ran.text()
            .contains("ok PLANNING: the prompt for the plan is written")
    );
    for told in [at("planning-prompt.md"), at("planning-response.md")] {
        assert!(
            ran.out.contains(&told),
            "in one line, to be copied: {ran:?}"
        );
    }
    assert!(
        ran.out
            .ends_with("  -> tm session show prompt\n  -> tm session respond FILE --run\n"),
        "{ran:?}"
    );

    let before = session.status();
    let ran = session.tm(&["step"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    assert!(
        ran.out.contains("! PLANNING: waits for the plan"),
        "{ran:?}"
    );
    assert!(ran.out.contains(&at("planning-response.md")), "{ran:?}");
    let blocked = session.step(7);
    assert_eq!(blocked["advanced"], false);
    assert_eq!(blocked["waiting_for"]["path"], "planning-response.md");
    assert_eq!(session.status(), before, "nothing has changed");

    // A response can be written by hand.
    fs::write(at("planning-response.md"), PLAN).unwrap();
    let ran = session.tm(&["status"]);
    assert!(
        ran.text().contains("The next step takes the plan in."),
        "{ran:?}"
    );
    assert_eq!(session.step(0)["phase"], "PLANNED");
    let ran = session.tm(&["step"]);
    assert!(
        ran.text().contains("GENERATING: iteration 1 begins"),
        "{ran:?}"
    );

    session.respond(CODE);
    let ran = session.tm(&["run"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    let told: Vec<&str> = ran.out.lines().take(3).collect();
    assert_eq!(
        told,
        [
            "ok GENERATED: the code is taken in",
            "ok REVIEWING: the review comes next",
            "ok REVIEWING: the prompt for the review is written",
        ]
    );
    let early = session.tm(&["export", "out", "--json"]).json_with(3);
    assert_eq!(early["error"]["code"], "not_complete");

    session.respond(FAIL);
    let ran = session.tm(&["run"]);
    assert!(
        ran.out
            .contains("! REVISING: the review failed; iteration 2 begins"),
        "{ran:?}"
    );
    assert_eq!(session.goes_on(CODE_AGAIN, 7), "REVIEWING");
    assert_eq!(session.goes_on(PASS, 0), "COMPLETE");

    let over = session.step(0);
    assert_eq!(over["status"], "SUCCESS");
    assert_eq!(over["current_iteration"], 2);
    let ran = session.tm(&["run"]);
    assert!(ran.text().contains(&at("iteration-2/code")), "{ran:?}");
    assert!(
        ran.out
            .contains(&format!("tm session export DIR --session {}", session.id))
    );

    let ran = session.tm(&["export", "out"]);
    assert!(
        ran.text().contains("iteration 2: 2 files written"),
        "{ran:?}"
    );
    let project = session.environment.project();
    assert_eq!(
        fs::read_to_string(project.join("out/greet.sh")).unwrap(),
        "echo hello\n"
    );
    fs::write(project.join("out/greet.sh"), "mine\n").unwrap();
    let ran = session.tm(&["export", &session.id, "out"]);
    assert_eq!(ran.status, 5, "{ran:?}");
    assert_eq!(
        fs::read_to_string(project.join("out/greet.sh")).unwrap(),
        "mine\n"
    );
    let exported = session
        .tm(&["export", "out", "--force", "--json"])
        .json_with(0);
    assert_eq!(exported["written"], serde_json::json!(["greet.sh"]));
    assert_eq!(exported["unchanged"], serde_json::json!(["lib/name.sh"]));
}

#[test]
fn a_response_is_put_into_place_whole_and_never_over_another() {
    let session = OneSession::with(&[]);
    let ran = session.tm(&["respond", "-"]);
    assert_eq!(ran.status, 2, "nothing is no response: {ran:?}");
    session.environment.write("plan.md", PLAN);
    let early = session.tm(&["respond", "plan.md", "--json"]).json_with(3);
    assert_eq!(early["error"]["code"], "not_waiting");

    session.step(0);
    for (file, status, code) in [("nothing.md", 4, "unknown_file"), (".", 6, "input")] {
        let refused = session.tm(&["respond", file, "--json"]).json_with(status);
        assert_eq!(refused["error"]["code"], code);
    }
    let responded = session.tm(&["respond", "plan.md", "--json"]).json_with(0);
    assert_eq!(
        keys(&responded),
        ["session_id", "path", "bytes", "sha256"],
        "{responded}"
    );
    // The same once more, with the session named in front.
    session.tm(&["respond", &session.id, "plan.md"]).text();

    session.environment.write("other.md", "# Another\n\nplan\n");
    let refused = session.tm(&["respond", "other.md", "--json"]).json_with(5);
    assert_eq!(refused["error"]["code"], "response_there");
    let replaced = session
        .tm(&["respond", "other.md", "--replace", "--json"])
        .json_with(0);
    let aside = session
        .folder()
        .join(replaced["replaced"].as_str().unwrap());
    assert_eq!(fs::read_to_string(aside).unwrap(), PLAN);
    session.step(0);
    assert_eq!(session.tm(&["show", "plan"]).text(), "# Another\n\nplan\n");
}

#[test]
fn files_of_a_session_are_shown_and_no_others() {
    let session = OneSession::with(&[]);
    session.to_review();
    let show = |file: &str| session.tm(&["show", file]).text().to_owned();
    assert_eq!(show("plan"), PLAN);
    assert_eq!(show("./plan.md"), PLAN);
    assert_eq!(show("response"), CODE, "the last one that there is");
    assert_eq!(show("code/greet.sh"), "echo hello\n");
    assert_eq!(show("iteration-1/code/lib/name.sh"), "echo you\n");
    let absolute = session.folder().join("plan.md");
    assert_eq!(show(absolute.to_str().unwrap()), PLAN);
    assert!(show("prompt").contains("# Review the code"));
    let told = session
        .tm(&["show", &session.id, "plan", "--json"])
        .json_with(0);
    assert_eq!(
        (&told["path"], &told["text"]),
        (&"plan.md".into(), &PLAN.into())
    );

    session.environment.write("secret.txt", "secret");
    let secret = session.environment.project().join("secret.txt");
    std::os::unix::fs::symlink(&secret, session.folder().join("link.md")).unwrap();
    for file in [
        "nothing.md",
        "link.md",
        "../x",
        "code/../../plan.md",
        secret.to_str().unwrap(),
    ] {
        let refused = session.tm(&["show", file, "--json"]).json_with(4);
        assert_eq!(refused["error"]["code"], "unknown_file", "{file}");
    }

    let whole = session.tm(&["show"]);
    for told in [
        "History",
        "Files",
        "iteration-1/code/greet.sh",
        "request    Greet",
    ] {
        assert!(whole.text().contains(told), "{told}: {whole:?}");
    }
    let listed = session.tm(&["list"]);
    assert!(
        listed.text().starts_with("in progress  review__generic__"),
        "{listed:?}"
    );
}

#[test]
fn what_breaks_down_says_why_and_what_a_person_can_do() {
    let session = OneSession::with(&[]);
    session.step(0);
    session.goes_on(PLAN, 7);
    // One that is sent is read before it is put into its place, and costs nothing.
    session.environment.write("bad.md", "no file at all\n");
    let refused = session.tm(&["respond", "bad.md", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "response_unreadable");
    assert_eq!(session.step(7)["phase"], "GENERATING");

    let place = session.folder().join("iteration-1/generation-response.md");
    fs::write(place, "no file at all\n").unwrap();
    let ran = session.tm(&["run"]);
    assert_eq!(ran.status, 8, "it broke down: {ran:?}");
    assert!(
        ran.out.contains("x ERROR: the session broke down: "),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains(&format!("tm session reopen --session {}", session.id)),
        "{ran:?}"
    );
    let state = session.status();
    assert_eq!(
        (&state["phase"], &state["status"]),
        (&"ERROR".into(), &"ERROR".into())
    );
    assert!(
        state["last_error"].as_str().unwrap().contains("no file"),
        "{state}"
    );

    // Nobody has to sit at a terminal to be told that there is no gate.
    for (words, code) in [
        (&["approve"][..], "no_gate"),
        (&["reject", "--feedback", "x"], "no_gate"),
        (&["reopen"], "needs_terminal"),
    ] {
        let refused = session.tm(&[words, &["--json"]].concat()).json_with(3);
        assert_eq!(refused["error"]["code"], code, "{words:?}");
    }
    let refused = session.tm(&["respond", "bad.md", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "not_waiting");
    let reopen = format!("tm session reopen --session {}", session.id);
    assert_eq!(refused["error"]["recovery"], reopen.as_str());
}

#[test]
fn commands_that_are_advised_name_the_session_that_was_named() {
    let session = OneSession::with(&["--name", "first"]);
    session
        .tm(&["init", "-i", "request=Greet", "--name", "second"])
        .text();
    let id = session.id.as_str();
    let recovery = |words: &[&str], status: i32| {
        let refused = session.tm(&[words, &["--json"]].concat()).json_with(status);
        refused["error"]["recovery"].as_str().unwrap().to_owned()
    };
    session.environment.write("plan.md", PLAN);
    let named = format!("tm session status --session {id}");
    assert_eq!(recovery(&["export", id, "out"], 3), named);
    assert_eq!(recovery(&["reopen", id], 3), named);
    assert_eq!(recovery(&["approve", "-s", id], 3), named);
    assert_eq!(recovery(&["show", id, "plan"], 3 + 1), named);
    assert_eq!(
        recovery(&["show", id, "x.md"], 4),
        format!("tm session show --session {id}")
    );
    // As it was named.
    assert_eq!(
        recovery(&["respond", "-s", "first", "plan.md"], 3),
        "tm session step --session first"
    );
    assert_eq!(recovery(&["step", "third"], 4), "tm session list");
    let ran = session.tm(&["status", "-s", "second"]);
    assert!(
        ran.text()
            .contains("-> tm session step --session review__second__"),
        "{ran:?}"
    );
}

#[test]
fn words_in_the_wrong_order_and_words_that_mean_nothing_are_told_as_what_they_are() {
    let session = OneSession::with(&["--gate", "plan=human", "--gate", "review=human"]);
    let id = session.id.as_str();
    let ran = session.tm(&["status"]);
    assert!(
        ran.text()
            .contains("gates      plan and review wait for a person"),
        "{ran:?}"
    );
    for file in ["plan", "prompt", "response"] {
        let refused = session.tm(&["show", file, "--json"]).json_with(4);
        let message = refused["error"]["message"].as_str().unwrap();
        let expected = format!("has no {file} yet: it stands in INITIALIZED");
        assert!(message.ends_with(&expected), "{message}");
    }
    let refused = session.tm(&["show", "nofile", "--json"]).json_with(4);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("`nofile` is neither a session nor a file of the session review__"),
        "{message}"
    );
    fs::write(session.folder().join("nofile"), "it is\n").unwrap();
    assert_eq!(session.tm(&["show", "nofile"]).text(), "it is\n");

    session.environment.write("plan.md", PLAN);
    session.environment.write("file", "x");
    for (words, code, told) in [
        (
            &["export", "out", id][..],
            "usage",
            "the session stands first",
        ),
        (
            &["respond", "plan.md", id],
            "usage",
            "the session stands first",
        ),
        (&["export", id], "usage", "no folder is named"),
        (&["export", id, "file/out"], "bad_path", "is a file"),
        (&["export", "file"], "bad_path", "is a file"),
    ] {
        let refused = session.tm(&[words, &["--json"]].concat()).json_with(2);
        assert_eq!(refused["error"]["code"], code, "{words:?}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }
    let folder = session.environment.project();
    assert!(!folder.join("out").exists() && !folder.join(id).exists());
}

#[test]
fn a_response_to_a_closed_gate_is_refused_until_the_decision() {
    let session = OneSession::with(&["--gate", "code=human"]);
    session.run(7);
    session.goes_on(PLAN, 7);
    assert_eq!(session.goes_on(CODE, 7), "REVIEWING");
    session.environment.write("review.md", PASS);
    let ran = session.tm(&["respond", "review.md"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.err.contains("the gate `code` is closed"), "{ran:?}");
}

#[test]
fn a_paused_session_says_how_it_goes_on() {
    let session = OneSession::with(&[]);
    session.step(0);
    let run = ["run", "pause", "--run-id", &session.id, "--reason", "lunch"];
    session.environment.tm(&run).text();
    let resume = format!("  -> tm run resume --run-id {}\n", session.id);
    for words in [["step"], ["status"]] {
        let ran = session.tm(&words);
        assert!(ran.out.contains("PLANNING: paused: lunch"), "{ran:?}");
        assert!(ran.out.contains(&resume), "{ran:?}");
    }
}

#[test]
fn changed_files_are_told_of_and_put_back() {
    let session = OneSession::with(&[]);
    session.to_review();
    let plan = session.folder().join("plan.md");
    fs::write(&plan, "another").unwrap();
    let ran = session.tm(&["status"]);
    assert!(
        ran.text().contains("! changed since recorded: plan.md\n"),
        "{ran:?}"
    );
    assert!(ran.out.ends_with("  -> tm session restore\n"), "{ran:?}");
    // Whoever is waited for is told, too, and so is who looks at the file.
    let ran = session.tm(&["step"]);
    assert_eq!(ran.status, 7, "{ran:?}");
    assert!(
        ran.out
            .contains("REVIEWING: waits for the review\n! changed since recorded: plan.md\n"),
        "{ran:?}"
    );
    assert!(ran.out.ends_with("  -> tm session restore\n"), "{ran:?}");
    let ran = session.tm(&["show", "plan"]);
    assert_eq!(ran.text(), "another");
    assert!(
        ran.err
            .contains("plan.md was changed since it was recorded"),
        "{ran:?}"
    );
    let shown = session.tm(&["show", "plan", "--json"]).json_with(0);
    assert_eq!(shown["changed"], true);
    for whole in ["prompt", "code/greet.sh", "planning-response.md"] {
        let ran = session.tm(&["show", whole]);
        ran.text();
        assert_eq!(ran.err, "", "{whole}");
    }
    let restored = session.tm(&["restore", "--json"]).json_with(0);
    assert_eq!(restored["restored"][0], "plan.md");
    assert_eq!(fs::read_to_string(&plan).unwrap(), PLAN);
    let ran = session.tm(&["restore"]);
    assert!(
        ran.text().contains("everything is as it was recorded"),
        "{ran:?}"
    );
}

#[test]
fn a_cancelled_session_says_why() {
    let session = OneSession::with(&[]);
    let ran = session.tm(&["cancel", "--reason", "no \u{1b}[2Jneed"]);
    assert!(
        ran.text()
            .contains("CANCELLED: the session was called off: no "),
        "{ran:?}"
    );
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    assert_eq!(session.step(8)["status"], "CANCELLED");
    let again = session.tm(&["cancel", "--json"]).json_with(0);
    assert_eq!(again["phase_history_total"], 2, "{again}");
}

#[test]
fn a_command_line_that_makes_no_sense_begins_nothing() {
    let environment = TestEnvironment::bare();
    for (words, status, code) in [
        (&["init"][..], 2, "bad_input"),
        (&["init", "-i", "request"], 2, "usage"),
        (&["init", "-i", "request=a", "-i", "request=b"], 2, "usage"),
        (
            &["init", "-i", "request=a", "--inputs", "{\"request\": 1}"],
            2,
            "usage",
        ),
        (&["init", "-i", "request=a", "--gate", "plan"], 2, "usage"),
        (
            &["init", "-i", "request=a", "--gate", "plan=perhaps"],
            2,
            "bad_gate",
        ),
        (
            &["init", "-i", "request=a", "--gate", "door=human"],
            2,
            "bad_gate",
        ),
        (
            &["init", "-i", "request=a", "-i", "color=red"],
            2,
            "unknown_input",
        ),
        (
            &["init", "-i", "request=a", "--max-iterations", "0"],
            2,
            "usage",
        ),
        (
            &["init", "-i", "request=a", "--name", "../x"],
            2,
            "bad_name",
        ),
        (&["init", "--profile", "nothing"], 4, "unknown_profile"),
        (&["step"], 4, "no_session"),
        (&["status", "nothing"], 4, "no_session"),
        (&["step", "a", "-s", "b"], 2, "usage"),
        (&["trust", "generic"], 3, "nothing_to_trust"),
        (&["trust", "nothing"], 4, "unknown_profile"),
        (&["approve"], 4, "no_session"),
        (&["reject", "--feedback", "x"], 4, "no_session"),
        (&["reopen"], 4, "no_session"),
        (&["show", "nothing"], 4, "no_session"),
        (&["export", "a", "b"], 4, "no_session"),
    ] {
        let refused = environment
            .tm(&[&["session"], words, &["--json"]].concat())
            .json_with(status);
        assert_eq!(refused["error"]["code"], code, "{words:?}");
    }
    let listed = environment.tm(&["session", "list", "--json"]).json_with(0);
    assert_eq!(listed, serde_json::json!([]));
    // What nobody trusts is trusted no more.
    let revoked = environment
        .tm(&["session", "trust", "generic", "--revoke", "--json"])
        .json_with(0);
    assert_eq!(revoked["revoked"], false);
}

#[test]
fn profiles_are_listed_with_what_they_take() {
    let environment = TestEnvironment::bare();
    let ran = environment.tm(&["session", "profiles"]);
    assert!(ran.text().starts_with("generic  "), "{ran:?}");
    assert!(
        ran.out
            .contains("  -i request (text, required): what is to be built"),
        "{ran:?}"
    );
    let all = environment
        .tm(&["session", "profiles", "--json"])
        .json_with(0);
    assert_eq!(all[0]["name"], "generic");
    assert_eq!(all[0]["processor"], false);
}
