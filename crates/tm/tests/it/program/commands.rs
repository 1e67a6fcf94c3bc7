//! Commands of a workflow's own: what they are told by, and what holds them.

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

use super::environment::{TestEnvironment, changed, has};
use testkit::Outcome;

/// The example of the page: a workflow that looks something over, and publishes it.
static SHIP: LazyLock<String> = LazyLock::new(|| {
    let page = include_str!("../../../../../docs/definitions.md");
    let mut blocks = page.split("```yaml\n").skip(1);
    let block = blocks.find(|block| block.contains("id: ship\n")).unwrap();
    block.split("```").next().unwrap().to_owned()
});

/// The scripts that go well.
const SCRIPTS: [(&str, &str); 3] = [
    ("look.sh", "echo fine\n"),
    ("publish.sh", "echo once >> done.txt\n"),
    ("published.sh", "test -s done.txt\n"),
];

struct Ship(TestEnvironment);

impl Ship {
    /// A run of the example, in which some scripts are other ones.
    fn begun(scripts: &[(&str, &str)]) -> Self {
        Self::begun_with(&SHIP, scripts)
    }

    fn begun_with(text: &str, scripts: &[(&str, &str)]) -> Self {
        let project = TestEnvironment::new();
        for (name, text) in SCRIPTS.iter().chain(scripts) {
            project.write(name, text);
        }
        project.own_workflow("ship", text);
        project.does("run start ship");
        Self(project)
    }

    fn run(&self, line: &str) -> Outcome {
        self.0.line(&format!("run {line}"))
    }

    /// What somebody does that leads to the end.
    fn ends_by(&self, line: &str) -> Value {
        let over = self.run(line).ok();
        assert_eq!(over["nextAction"]["status"], "completed", "{over}");
        over
    }

    /// A file of the project; empty where there is none.
    fn text(&self, name: &str) -> String {
        let file = self.0.project().join(name);
        std::fs::read_to_string(file).unwrap_or_default()
    }
}

#[test]
fn they_are_run_and_kept_as_evidence() {
    let ship = Ship::begun(&[]);
    // Whoever only asks has nothing run.
    ship.run("next").ok();
    ship.run("status").ok();
    assert_eq!(ship.text("done.txt"), "");
    let over = ship.ends_by("report --outcome fine");
    has(&over["warning"], "does not take --outcome");
    assert_eq!(ship.text("done.txt"), "once\n");
    let kept = journal::sha256_hex(b"fine\n");
    let kept = ship.0.run_folder().join("evidence").join(kept);
    assert_eq!(std::fs::read(kept).unwrap(), b"fine\n");
    assert_eq!(ship.0.does("log verify")["whole"], true);
}

#[test]
fn how_they_end_decides() {
    testkit::by_chance!(3);
    let ship = Ship::begun(&[("look.sh", "cat said.txt; exit $(cat status.txt)\n")]);
    ship.0.write("status.txt", "3");
    // What it says as JSON, guards see.
    for said in ["no good\n", r#"{"why": "because"}"#] {
        ship.0.write("said.txt", said);
        let message = ship.run("report").fault(3, "not_well");
        let told = message.ends_with("; `sh look.sh` ended with status 3:\nno good");
        assert_eq!(told, said == "no good\n", "{message}");
    }
    ship.0.write("status.txt", "0");
    ship.run("report").ok();
    // One that hangs is ended.
    let text = changed(&SHIP, &[("seconds: 5", "seconds: 1")]);
    let ship = Ship::begun_with(&text, &[("look.sh", "sleep 600\n")]);
    ship.run("report").fault(3, "late");
}

#[test]
fn what_a_person_did_not_look_at_is_not_run() {
    let ship = Ship::begun(&[]);
    for (name, text) in [SCRIPTS[0], SCRIPTS[1]] {
        let other = "touch pwned.txt; echo once >> done.txt\n";
        ship.0.write(name, other);
        ship.run("report").fault(3, "untrusted");
        assert!(!ship.0.project().join("pwned.txt").exists(), "{name}");
        if name == "look.sh" {
            ship.0.write(name, text);
        }
    }
    ship.0.trust(&["workflow", "trust", "ship"]);
    ship.ends_by("report");
    assert!(ship.0.project().join("pwned.txt").exists());
}

#[test]
fn an_effect_that_fails_is_tried_again() {
    let publish = "test -e ready.txt && echo x > done.txt\n";
    let ship = Ship::begun(&[("publish.sh", publish)]);
    ship.run("report").fault(6, "command_failed");
    assert_eq!(ship.run("status").ok()["status"], "paused");
    ship.0.write("ready.txt", "");
    ship.ends_by("resume");
}

#[test]
fn a_crash_neither_loses_nor_repeats_what_they_did() {
    for (point, done) in [("before-perform", ""), ("after-perform", "once\n")] {
        let ship = Ship::begun(&[]);
        ship.0.killed_at(point, "run report");
        assert_eq!(ship.text("done.txt"), done, "{point}");
        ship.ends_by("step");
        assert_eq!(ship.text("done.txt"), "once\n", "{point}");
    }
    // One that nobody can look for is run again, where that does no harm.
    let text = changed(&SHIP, &[("look: sh published.sh }", "repeat: true }")]);
    let ship = Ship::begun_with(&text, &[("publish.sh", "echo once > done.txt\n")]);
    ship.0.killed_at("after-perform", "run report");
    ship.ends_by("step");
    assert_eq!(ship.text("done.txt"), "once\n");
}

#[test]
fn who_waits_for_one_may_call_the_run_off() {
    let text = changed(&SHIP, &[(", seconds: 5", "")]);
    let look = ("look.sh", "echo x > begun; read line < goes\n");
    let ship = Ship::begun_with(&text, &[look]);
    let fifos = ["begun", "goes"].map(|name| ship.0.project().join(name));
    let made = Command::new("mkfifo").args(&fifos).status().unwrap();
    assert!(made.success());
    let mut report = ship.0.program(&["run", "report", "--json"]);
    let reports = report.stdout(Stdio::piped()).spawn().unwrap();
    std::fs::read(&fifos[0]).unwrap();
    ship.run("abort").ok();
    std::fs::write(&fifos[1], "x\n").unwrap();
    assert_eq!(Outcome::waited(reports).code(), "stale_unit");
}

#[test]
fn a_session_has_one_run_once_a_step() {
    let project = TestEnvironment::new();
    let review = project.tm(&["workflow", "show", "review"]);
    let looks = "expects: { command: { run: look } }, route: [ { when: command.ok, to: PLANNING }, { to: ERROR } ]";
    let changes = [
        ("id: review\n", "id: ours\n"),
        ("uses: { ", "uses: { commands: { look: sh look.sh }, "),
        ("route: [ { to: PLANNING } ]", looks),
    ];
    project.write("look.sh", "echo x >> looks.txt\n");
    project.own_workflow("ours", &changed(review.text(), &changes));
    let ship = Ship(project);
    let start = r#"start ours --input 'values={"request":"x"}'"#;
    ship.run(start).ok();
    ship.run("next").ok();
    assert_eq!(ship.text("looks.txt"), "");
    ship.run("step").ok();
    assert_eq!(ship.text("looks.txt"), "x\n");
}

#[test]
fn what_is_wrong_with_a_declaration_is_told() {
    let project = TestEnvironment::new();
    let (look, publish) = ("command: { run: look }", "with: { run: publish }");
    let (published, effect) = ("look: sh published.sh", ", look: sh published.sh }");
    let bad = "bad_parameter";
    let whole = "look: { run: sh look.sh, seconds: 5 }";
    for (old, new, rule) in [
        (look, "command: {}", "unknown_entry"),
        (look, "command: { run: lok }", "unknown_entry"),
        (publish, "with: { run: '=vars.x' }", "unknown_entry"),
        (effect, " }", "needs_field"),
        (effect, ", repeat: false }", "needs_field"),
        ("seconds: 5", "seconds: many", bad),
        ("seconds: 5", "minutes: 5", bad),
        (published, "look: ''", bad),
        ("run: sh look.sh, ", "", bad),
        (whole, "look: 5", bad),
        ("  commands:\n", "  folder:\n", "needs_resource"),
        (publish, "with: { run: publish, version: 1 }", bad),
        ("sh look.sh", "'sh look.sh {item.name}'", bad),
        (published, "look: 'sh {{ inputs.version }}'", bad),
    ] {
        project.write("ship.yaml", changed(&SHIP, &[(old, new)]));
        let told = project.line("workflow check ship.yaml").json_with(3);
        has(&told["faults"], rule);
    }
    assert!(project.runs().is_empty());
}
