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
    let advised = "`tm session step --session r1`";
    assert!(ran.err.contains(advised), "{ran:?}");

    let begun = environment.typed_json("session init -i request=Greet").ok();
    assert_eq!(begun["phase"], "INITIALIZED");
    // Of two that are under way one has to be named; who does is told the command with its name.
    let several = environment.typed_json("session step");
    several.fault(2, "several_runs");
    let ran = environment.typed("session step review__first");
    let advised = "tm session respond FILE --run --session r1";
    assert!(ran.text().contains(advised), "{ran:?}");
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
    session.environment.write("secret.txt", "secret");
    let secret = session.environment.project().join("secret.txt");
    std::os::unix::fs::symlink(&secret, session.folder().join("link.md")).unwrap();
    let secret = secret.to_str().unwrap();
    for file in ["nothing.md", "link.md", "../../secret.txt", secret] {
        let shown = session.typed_json(&format!("show {file}"));
        assert_eq!((shown.status, shown.code()), (4, "not_found"), "{file}");
    }
}

#[test]
fn words_in_the_wrong_order_are_told_as_what_they_are() {
    let session = OneSession::with(&[]);
    session.environment.write("plan.md", PLAN);
    session.environment.write("file", "x");
    for (line, status, code) in [
        ("show plan", 4, "not_found"),
        ("export out ID", 4, "no_run"),
        ("respond plan.md ID", 4, "not_found"),
        ("export ID file/out", 2, "bad_name"),
        ("export file", 2, "bad_name"),
    ] {
        let line = line.replace("ID", &session.id);
        session.typed_json(&line).fault(status, code);
    }
    let folder = session.environment.project();
    assert!(!folder.join("out").exists());
}

/// What was shown is what is trusted, and nothing that came after it.
#[test]
fn a_profile_is_trusted_as_a_person_saw_it() {
    let environment = TestEnvironment::bare();
    let folder = ".taskmaster/profiles/mine";
    let profile = "tramline-profile: 1\ntitle: Mine\nresponses:\n  planning: { command: [sh, plan.sh] }\n  generation: { read: bundle }\n  review: { read: verdict }\n  revision: { read: bundle }\n";
    for (name, text) in [("profile.yaml", profile), ("plan.sh", "cat\n")] {
        environment.write(&format!("{folder}/{name}"), text);
    }
    for phase in ["planning", "generation", "review", "revision"] {
        environment.write(&format!("{folder}/{phase}.md"), "Do it.\n");
    }
    let mut fooled = environment.person(&["session", "trust", "mine"]);
    let (shown, code) = fooled.code();
    for told in ["planning: sh plan.sh", "- plan.sh", "profiles/mine"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let more = format!("{folder}/more.md");
    environment.write(&more, "More.\n");
    fooled.say(&code);
    assert_eq!(fooled.end().0, 5);
    fs::remove_file(environment.project().join(more)).unwrap();
    environment.agreed("session trust mine");
    let revoked = environment.typed_json("session trust mine --revoke").ok();
    assert_eq!(revoked["revoked"], true);
}

#[test]
fn a_command_line_that_makes_no_sense_begins_nothing() {
    let environment = TestEnvironment::bare();
    for (line, status, code) in [
        ("init", 2, "usage"),
        ("init -i request", 2, "usage"),
        ("init -i request=a --gate plan=perhaps", 2, "usage"),
        ("init -i request=a --gate door=human", 2, "usage"),
        ("init -i request=a -i color=red", 2, "usage"),
        ("init -i request=a --name ../x", 2, "bad_name"),
        ("init --profile nothing", 4, "not_found"),
        ("step", 4, "no_run"),
        ("status nothing", 4, "no_run"),
        ("step a -s b", 2, "usage"),
        ("trust generic", 3, "usage"),
        ("approve", 4, "no_run"),
        ("show nothing", 4, "no_run"),
        ("export a b", 4, "no_run"),
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
