//! Commands of a workflow's own: what they are told by, and what holds them.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::environment::TestEnvironment;

/// The example of the page: a workflow that looks something over, and publishes it.
static SHIP: LazyLock<String> = LazyLock::new(|| {
    let page = include_str!("../../../../../docs/definitions.md");
    let mut blocks = page.split("```yaml\n").skip(1);
    let block = blocks.find(|block| block.contains("id: ship\n")).unwrap();
    block.split("```").next().unwrap().to_owned()
});

struct Ship(TestEnvironment);

impl Ship {
    fn begun(scripts: &[(&str, &str)]) -> Self {
        Self::begun_with(&SHIP, scripts)
    }

    fn begun_with(text: &str, scripts: &[(&str, &str)]) -> Self {
        let project = TestEnvironment::new();
        project.write(".taskmaster/workflows/ship.yaml", text);
        for (name, text) in scripts {
            project.write(name, text);
        }
        project.commit_all("A workflow of our own");
        project.trust(&["workflow", "trust", "ship"]);
        project.json(&["run", "start", "ship"]).json_with(0);
        Self(project)
    }

    /// Reports, and is killed at that point.
    fn killed_at(&self, point: &str) {
        let mut report = self.0.program(&["run", "report"]);
        let output = report.env("TRAMLINE_FAIL_POINT", point).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {output:?}");
    }

    fn published(&self) -> String {
        let file = self.0.project().join("done.txt");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    fn run(&self, words: &[&str], status: i32) -> Value {
        let words = [&["run"], words].concat();
        self.0.json(&words).json_with(status).clone()
    }

    fn has(&self, file: &str) -> bool {
        self.0.project().join(file).exists()
    }
}

const WELL: (&str, &str) = ("look.sh", "echo fine\n");
const PUBLISH: (&str, &str) = ("publish.sh", "echo once >> done.txt\n");
const PUBLISHED: (&str, &str) = ("published.sh", "test -s done.txt\n");

#[test]
fn they_are_run_and_kept_as_evidence() {
    let ship = Ship::begun(&[WELL, PUBLISH, PUBLISHED]);
    // Whoever only asks has nothing run.
    ship.run(&["next"], 0);
    ship.run(&["status"], 0);
    assert!(!ship.has("done.txt"));
    let over = ship.run(&["report", "--outcome", "fine"], 0);
    assert_eq!(over["nextAction"]["status"], "completed", "{over}");
    let warning = over["warning"].as_str().unwrap();
    assert!(warning.contains("does not take --outcome"), "{over}");
    assert!(ship.has("done.txt"));
    let kept = ship
        .0
        .run_folder()
        .join("evidence")
        .join(journal::sha256_hex(b"fine\n"));
    assert_eq!(std::fs::read(kept).unwrap(), b"fine\n");
    assert_eq!(ship.0.json(&["log", "verify"]).json_with(0)["whole"], true);
}

#[test]
fn how_they_end_decides() {
    let ship = Ship::begun(&[
        ("look.sh", "cat said.txt; exit $(cat status.txt)\n"),
        PUBLISH,
        PUBLISHED,
    ]);
    ship.0.write("said.txt", "no good\n");
    ship.0.write("status.txt", "3");
    let refused = ship.run(&["report"], 3);
    assert_eq!(refused["code"], "not_well", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.ends_with("; `sh look.sh` ended with status 3:\nno good"),
        "{message}"
    );
    // What it says as JSON, guards see.
    ship.0.write("said.txt", r#"{"why": "because"}"#);
    let refused = ship.run(&["report"], 3);
    assert_eq!(refused["code"], "not_well", "{refused}");
    ship.0.write("status.txt", "0");
    ship.run(&["report"], 0);
}

#[test]
fn one_that_hangs_is_ended() {
    let ship = Ship::begun(&[("look.sh", "sleep 600\n"), PUBLISH, PUBLISHED]);
    let late = ship.run(&["report"], 3);
    assert_eq!(late["code"], "late", "{late}");
}

#[test]
fn what_a_person_did_not_look_at_is_not_run() {
    let ship = Ship::begun(&[WELL, PUBLISH, PUBLISHED]);
    ship.0.write("look.sh", "touch pwned.txt\n");
    let refused = ship.run(&["report"], 3);
    assert_eq!(refused["error"]["code"], "workflow_untrusted", "{refused}");
    assert!(!ship.has("pwned.txt"));
    ship.0.write("look.sh", WELL.1);
    ship.0.write("publish.sh", "touch pwned.txt\n");
    let refused = ship.run(&["report"], 3);
    assert_eq!(refused["error"]["code"], "workflow_untrusted", "{refused}");
    assert!(!ship.has("pwned.txt"));
    ship.0.trust(&["workflow", "trust", "ship"]);
    ship.run(&["report"], 0);
    assert!(ship.has("pwned.txt"));
}

#[test]
fn an_effect_that_fails_is_tried_again() {
    let ship = Ship::begun(&[
        WELL,
        ("publish.sh", "test -e ready.txt && echo x > done.txt\n"),
        PUBLISHED,
    ]);
    let failed = ship.run(&["report"], 6);
    assert_eq!(failed["error"]["code"], "command_failed", "{failed}");
    assert_eq!(ship.run(&["status"], 0)["status"], "paused");
    ship.0.write("ready.txt", "");
    let over = ship.run(&["resume"], 0);
    assert_eq!(over["nextAction"]["status"], "completed", "{over}");
}

#[test]
fn a_crash_neither_loses_nor_repeats_what_they_did() {
    for (point, done) in [("before-perform", ""), ("after-perform", "once\n")] {
        let ship = Ship::begun(&[WELL, PUBLISH, PUBLISHED]);
        ship.killed_at(point);
        assert_eq!(ship.published(), done, "{point}");
        let over = ship.run(&["step"], 0);
        assert_eq!(over["nextAction"]["status"], "completed", "{over}");
        assert_eq!(ship.published(), "once\n", "{point}");
    }
    // One that nobody can look for is run again, where that does no harm.
    let text = SHIP.replacen("look: sh published.sh }", "repeat: true }", 1);
    let ship = Ship::begun_with(&text, &[WELL, ("publish.sh", "echo once > done.txt\n")]);
    ship.killed_at("after-perform");
    ship.run(&["step"], 0);
    assert_eq!(ship.published(), "once\n");
}

#[test]
fn who_waits_for_one_may_call_the_run_off() {
    let text = SHIP.replacen(", seconds: 5", "", 1);
    let look = ("look.sh", "echo x > begun; read line < goes\n");
    let ship = Ship::begun_with(&text, &[look, PUBLISH, PUBLISHED]);
    let folder = ship.0.project();
    let fifos = ["begun", "goes"].map(|name| folder.join(name));
    let made = Command::new("mkfifo").args(&fifos).status().unwrap();
    assert!(made.success());
    let mut report = ship.0.program(&["run", "report", "--json"]);
    let reports = report.stdout(Stdio::piped()).spawn().unwrap();
    std::fs::read(&fifos[0]).unwrap();
    ship.run(&["abort"], 0);
    std::fs::write(&fifos[1], "x\n").unwrap();
    let answer = reports.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["code"], "stale_unit", "{answer}");
}

#[test]
fn a_session_has_one_run_once_a_step() {
    let project = TestEnvironment::new();
    let shown = project.tm(&["workflow", "show", "review"]);
    let mut text = shown.text().replacen("id: review\n", "id: ours\n", 1);
    for (old, new) in [
        (
            "uses: { folder: {},",
            "uses: { commands: { look: sh look.sh }, folder: {},",
        ),
        (
            "INITIALIZED: { label: Begun, route: [ { to: PLANNING } ] }",
            "INITIALIZED: { expects: { command: { run: look } }, route: [ { when: command.ok, to: PLANNING }, { to: ERROR } ] }",
        ),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    project.write(".taskmaster/workflows/ours.yaml", text);
    project.write("look.sh", "echo x >> looks.txt\n");
    project.commit_all("A workflow of our own");
    project.trust(&["workflow", "trust", "ours"]);
    let words = [
        "run",
        "start",
        "ours",
        "--input",
        r#"values={"request":"x"}"#,
    ];
    project.json(&words).json_with(0);
    let ship = Ship(project);
    ship.run(&["next"], 0);
    let looks = || std::fs::read_to_string(ship.0.project().join("looks.txt"));
    assert!(looks().is_err());
    ship.run(&["step"], 0);
    assert_eq!(looks().unwrap(), "x\n");
}

#[test]
fn what_is_wrong_with_a_declaration_is_told() {
    let project = TestEnvironment::new();
    for (old, new, rule) in [
        ("command: { run: look }", "command: {}", "unknown_entry"),
        (
            "command: { run: look }",
            "command: { run: lok }",
            "unknown_entry",
        ),
        (
            "with: { run: publish }",
            "with: { run: '=vars.x' }",
            "unknown_entry",
        ),
        (", look: sh published.sh }", " }", "needs_field"),
        (
            ", look: sh published.sh }",
            ", repeat: false }",
            "needs_field",
        ),
        ("seconds: 5", "seconds: many", "bad_parameter"),
        ("seconds: 5", "seconds: 0", "bad_parameter"),
        ("seconds: 5", "minutes: 5", "bad_parameter"),
        ("look: sh published.sh", "look: ''", "bad_parameter"),
        ("run: sh look.sh, ", "", "bad_parameter"),
        (
            "look: { run: sh look.sh, seconds: 5 }",
            "look: 5",
            "bad_parameter",
        ),
        ("  commands:\n", "  folder:\n", "needs_resource"),
        (
            "with: { run: publish }",
            "with: { run: publish, version: 1.2.0 }",
            "takes no `version`",
        ),
        (
            "run: sh look.sh, ",
            "run: 'sh look.sh {item.name}', ",
            "names `item.name`",
        ),
        (
            "look: sh published.sh",
            "look: 'sh published.sh {{ inputs.version }}'",
            "names `inputs.version`",
        ),
    ] {
        let text = SHIP.replacen(old, new, 1);
        assert_ne!(text, *SHIP, "{old}");
        project.write("ship.yaml", text);
        let told = project.json(&["workflow", "check", "ship.yaml"]);
        let told = told.json_with(3).to_string();
        assert!(told.contains(rule), "{new}: {told}");
    }
    assert_eq!(json!(project.runs()), json!([]));
}
