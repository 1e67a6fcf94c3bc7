//! Gates in workflows of one's own: what a person decides about a run, at a terminal.

use std::fs;

use journal::layout::short_name;
use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::generic::give;
use testkit::Outcome;

/// Something is written and looked at, in rounds; `manual` runs go on a step at a time, by files.
const LETTER: &str = r"advance: ADVANCE
counter: round
gates: { agreed: human }
inputs: { subject: string }
vars: { round: { type: int, default: 1 } }
initial: write
states:
  write: { label: Write the letter, work: WORK }
  post:
    gate: agreed
    work: { by: person }
    on: { report: { to: posted }, reject: { set: { round: =vars.round + 1 }, to: write } }
  posted: { final: completed }
";

const ASKED: &str = "Write about {{ inputs.subject | quoted }}.{% if reason %} Sent back: {{ reason | quoted }}{% endif %}\n";

/// A run at a gate.
struct Run {
    environment: TestEnvironment,
    id: String,
}

impl Run {
    /// One of this workflow that has begun.
    fn begun(id: &str, workflow: &str, more: &str) -> Self {
        let environment = TestEnvironment::bare();
        give(&environment, id, workflow);
        environment.write(".taskmaster/templates/letter.md", ASKED);
        let start = format!("run start {id}{more}");
        let started = environment.typed_json(&start).ok();
        let id = started["runId"].as_str().unwrap().to_owned();
        Self { environment, id }
    }

    /// A letter that was written.
    fn letter(advance: &str) -> Self {
        let work = match advance {
            "manual" => {
                r#"{ instructions: letter.md, prompt: "round-{round}/task.md", response: "round-{round}/letter.md" }, to: post"#
            }
            _ => "{ instructions: letter.md }, expects: outcome, on: { report: { to: post } }",
        };
        let workflow = LETTER.replace("ADVANCE", advance).replace("WORK", work);
        let letter = Self::begun("letter", &workflow, " --input subject=tea");
        letter.write(1);
        assert_eq!(letter.next()["action"], "decide");
        let status = letter.json("status").ok();
        assert_eq!(status["nextAction"]["action"], "decide");
        letter
    }

    /// One whose work `a` was done, in this state behind a gate.
    fn two(gated: &str) -> Self {
        let head = "gates: { look: human }\ninitial: a\nstates:\n";
        let states = "  a: { work: {}, to: b }\n  z: { final: completed }\n";
        let run = Self::begun("two", &format!("{head}{states}  b: {gated}\n"), "");
        run.json("report").ok();
        run
    }

    fn tm(&self, line: &str) -> Outcome {
        self.environment.typed(&format!("run {line}"))
    }

    fn json(&self, line: &str) -> Outcome {
        self.environment.typed_json(&format!("run {line}"))
    }

    fn next(&self) -> Value {
        self.json("next").ok()
    }

    /// Takes a step where one is waited for; what comes next.
    fn stepped(&self) -> Value {
        if self.next()["action"] == "step" {
            self.tm("step").text();
        }
        self.next()
    }

    /// Writes the letter of a round, in whatever way it is waited for.
    fn write(&self, round: u32) {
        if let Some(response) = self.stepped()["response"].as_str() {
            assert!(response.ends_with(&format!("round-{round}/letter.md")));
            fs::write(response, format!("Dear tea, {round}.\n")).unwrap();
            self.tm("step").text();
        } else {
            self.json("report --outcome written --note Dear").ok();
        }
    }

    fn agreed(&self, line: &str) -> [String; 2] {
        self.environment.agreed(&format!("run {line}"))
    }
}

/// Brings a run of either sort through its gate, after it was sent back once.
fn through(advance: &str) {
    let letter = Run::letter(advance);
    let id = short_name(&letter.id);
    let id = id.as_str();
    let next = letter.tm("next");
    for command in ["approve", "reject --feedback …"] {
        let advised = format!("  -> tm run {command} --run-id {id}\n");
        assert!(next.text().contains(&advised), "{next:?}");
    }

    // Without a person it stays closed, and nobody is asked about something else.
    let other = format!("approve --hash {}", "0".repeat(64));
    for (line, status, code) in [
        ("approve", 3, "needs_person"),
        ("reject --feedback x", 3, "needs_person"),
        (&*other, 5, "changed_since"),
    ] {
        let refused = letter.json(line);
        refused.fault(status, code);
        let recovery = if status == 3 { line } else { "status" };
        let expected = format!("tm run {recovery} --run-id {id}");
        assert_eq!(refused.json()["error"]["recovery"], expected);
    }
    let blank = ["run", "reject", "--feedback", " "];
    let (status, shown) = letter.environment.person(&blank).end();
    assert_eq!(status, 3, "{shown}");
    assert_eq!(letter.next()["action"], "decide");

    let [shown, _] = letter.agreed("reject --feedback Warmer\u{1b}[2J");
    for told in ["before the gate agreed?", id, "  Warmer"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let next = letter.stepped();
    assert_eq!(next["state"], "write", "{next}");
    let prompt = match next["prompt"].as_str() {
        Some(prompt) => fs::read_to_string(prompt).unwrap(),
        None => next["instructions"].as_str().unwrap().to_owned(),
    };
    assert!(prompt.contains("Warmer"), "{prompt}");

    letter.write(2);
    // Two decide at once: it was looked at by both, and sent back by one.
    let mut late = letter.environment.person(&["run", "approve"]);
    let (_, code) = late.code();
    letter.agreed("reject --feedback Shorter");
    late.say(&code);
    let (status, shown) = late.end();
    assert_eq!(status, 5, "{shown}");

    letter.write(3);
    let [shown, _] = letter.agreed("approve");
    for told in [id, "gate       agreed (post)", "iteration  3"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert_eq!(letter.stepped()["state"], "post");

    // Where it waits for no decision there is nothing to decide.
    letter.json("approve").fault(3, "not_possible");
}

#[test]
fn a_run_that_goes_on_by_itself_passes_its_gate() {
    through("auto");
}

#[test]
fn a_run_that_takes_single_steps_passes_its_gate() {
    through("manual");
}

/// What a gate stands behind can be put back in the run's folder, by the advice alone.
#[test]
fn what_somebody_changed_before_a_gate_is_put_back() {
    let letter = Run::letter("manual");
    let looked_at = letter.next()["lookAt"][0].as_str().unwrap().to_owned();
    let recorded = fs::read(&looked_at).unwrap();
    fs::write(&looked_at, "Dear coffee.\n").unwrap();
    assert_eq!(letter.next()["action"], "restore");
    let refused = letter.json("step");
    refused.fault(3, "tampered");
    let advised = &refused.json()["error"]["nextSteps"][0]["command"];
    let line = advised.as_str().unwrap().strip_prefix("tm ").unwrap();
    assert!(line.starts_with("run restore"), "{line}");
    let restored = letter.environment.typed_json(line).ok();
    assert_eq!(restored["restored"], json!(["round-1/letter.md"]));
    assert_eq!(restored["aside"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read(&looked_at).unwrap(), recorded);
    assert_eq!(letter.next()["action"], "decide");
}

/// Whoever is not let past a gate does not get past it by a pause of their own.
#[test]
fn a_pause_opens_no_gate() {
    let run = Run::two("{ gate: look, work: {}, on: { report: { to: z }, reopen: { to: a } } }");
    run.json("reopen").fault(3, "gate_closed");
    run.json("pause").ok();
    run.json("reopen").fault(3, "gate_closed");
    run.json("resume").ok();
    run.environment.typed_json("log verify").ok();
}

#[test]
fn what_runs_wrote_is_no_project() {
    let session = super::session::OneSession::with(&[]);
    let folder = session.environment.run_folder();
    let line = format!("autopilot status --project-root {}", folder.display());
    let refused = session.environment.typed_json(&line);
    assert_eq!(refused.code(), "config_invalid", "{refused:?}");
}
