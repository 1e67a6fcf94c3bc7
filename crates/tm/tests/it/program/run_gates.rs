//! Gates in workflows of one's own: what a person decides about a run, at a terminal.

use serde_json::Value;

use super::environment::TestEnvironment;
use testkit::Person;

/// Something is written and looked at, in rounds; `manual` runs go on a step at a time, by files.
const LETTER: &str = r"tramline: 1
id: letter
title: A letter, written until somebody agrees
advance: ADVANCE
counter: round
gates: { agreed: human }
inputs: { subject: string }
vars: { round: { type: int, default: 1 } }
initial: write
on: { abort: { to: dropped } }
states:
  write:
    label: Write the letter
    work: WORK
    EXPECTS
  post:
    label: Post it
    gate: agreed
    work: { by: person }
    on:
      report: { to: posted }
      reject: { set: { round: =vars.round + 1 }, to: write }
  posted: { final: completed }
  dropped: { final: cancelled }
";

const ASKED: &str = "Write about {{ inputs.subject | quoted }}.{% if reason %} Sent back: {{ reason | quoted }}{% endif %}\n";

/// A run of it at its gate.
struct Letter {
    environment: TestEnvironment,
    id: String,
}

impl Letter {
    fn at_gate(advance: &str) -> Self {
        let environment = TestEnvironment::bare();
        let (work, expects) = match advance {
            "manual" => (
                r#"{ instructions: letter.md, prompt: "round-{round}/task.md", response: "round-{round}/letter.md" }"#,
                "to: post",
            ),
            _ => (
                "{ instructions: letter.md }",
                "expects: outcome\n    on: { report: { to: post } }",
            ),
        };
        let workflow = LETTER
            .replace("ADVANCE", advance)
            .replace("WORK", work)
            .replace("EXPECTS", expects);
        environment.write(".taskmaster/workflows/letter.yaml", &workflow);
        environment.write(".taskmaster/templates/letter.md", ASKED);
        let started = environment
            .tm(&["run", "start", "letter", "--input", "subject=tea", "--json"])
            .json_with(0);
        let id = started["runId"].as_str().unwrap().to_owned();
        let letter = Self { environment, id };
        letter.write(1);
        assert_eq!(letter.next()["action"], "decide");
        let status = letter.tm(&["status", "--json"]).json_with(0);
        assert_eq!(status["nextAction"]["action"], "decide");
        letter
    }

    fn tm(&self, words: &[&str]) -> testkit::Outcome {
        self.environment.tm(&[&["run"], words].concat())
    }

    fn next(&self) -> Value {
        self.tm(&["next", "--json"]).json_with(0)
    }

    /// Writes the letter of a round, in whatever way it is waited for.
    fn write(&self, round: u32) {
        let mut next = self.next();
        if next["action"] == "step" {
            self.tm(&["step"]).text();
            next = self.next();
        }
        if let Some(response) = next["response"].as_str() {
            assert!(response.ends_with(&format!("round-{round}/letter.md")));
            std::fs::write(response, format!("Dear tea, {round}.\n")).unwrap();
            self.tm(&["step"]).text();
        } else {
            let note = format!("Dear tea, {round}.");
            let words = ["report", "--outcome", "written", "--note", &note, "--json"];
            self.tm(&words).json_with(0);
        }
    }

    fn person(&self, words: &[&str]) -> Person {
        Person::at(self.environment.program(&[&["run"], words].concat()))
    }
}

/// Brings a run of either sort through its gate, after it was sent back once.
fn through(advance: &str) {
    let letter = Letter::at_gate(advance);
    let id = letter.id.as_str();
    let mut said = Vec::new();

    let ran = letter.tm(&["next"]);
    for command in [
        format!("  -> tm run approve --run-id {id}\n"),
        format!("  -> tm run reject --feedback TEXT --run-id {id}\n"),
    ] {
        assert!(ran.text().contains(&command), "{ran:?}");
    }
    said.push(ran.out);

    // Without a person it stays closed, and nobody is asked about something else.
    let refused = letter.tm(&["approve", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "needs_terminal");
    assert_eq!(
        refused["error"]["recovery"],
        format!("tm run approve --run-id {id}")
    );
    let refused = letter
        .tm(&["reject", "--feedback", "x", "--json"])
        .json_with(3);
    assert_eq!(
        refused["error"]["recovery"],
        format!("tm run reject --feedback x --run-id {id}")
    );
    let refused = letter
        .tm(&["approve", "--hash", &"0".repeat(64), "--json"])
        .json_with(5);
    assert_eq!(refused["error"]["code"], "changed_since");
    assert_eq!(
        refused["error"]["recovery"],
        format!("tm run status --run-id {id}")
    );
    said.push(refused.to_string());
    let (status, shown) = letter.person(&["reject", "--feedback", " "]).end();
    assert_eq!(status, 3, "{shown}");
    said.push(shown);
    let mut hesitant = letter.person(&["approve"]);
    hesitant.code();
    hesitant.say("yes");
    let (status, shown) = hesitant.end();
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("not confirmed, nothing was changed"));
    said.push(shown);
    assert_eq!(letter.next()["action"], "decide");

    let words = ["reject", "--feedback", "Warmer\u{1b}[2J"];
    let (shown, status, rest) = letter.person(&words).agrees();
    assert_eq!(status, 0, "{rest}");
    for told in [
        "Send back what stands before the gate agreed?",
        id,
        "  Warmer",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
    said.extend([shown, rest]);
    if letter.next()["action"] == "step" {
        letter.tm(&["step"]).text();
    }
    let next = letter.next();
    assert_eq!(next["state"], "write", "{next}");
    let prompt = match next["prompt"].as_str() {
        Some(prompt) => std::fs::read_to_string(prompt).unwrap(),
        None => next["instructions"].as_str().unwrap().to_owned(),
    };
    assert!(prompt.contains("Warmer"), "{prompt}");

    letter.write(2);
    // Two decide at once: it was looked at by both, and sent back by one.
    let mut late = letter.person(&["approve"]);
    let (_, code) = late.code();
    let words = ["reject", "--feedback", "Shorter"];
    let (_, status, rest) = letter.person(&words).agrees();
    assert_eq!(status, 0, "{rest}");
    late.say(&code);
    let (status, shown) = late.end();
    assert_eq!(status, 5, "{shown}");
    said.push(shown);

    letter.write(3);
    let (shown, status, rest) = letter.person(&["approve", "--run-id", id]).agrees();
    assert_eq!(status, 0, "{rest}");
    for told in [
        "Approve what stands before the gate agreed?",
        "run        letter__",
        "gate       agreed (post)",
        "round      3",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    assert!(rest.contains("ok The gate `agreed` is open"), "{rest}");
    said.extend([shown, rest]);
    if letter.next()["action"] == "step" {
        letter.tm(&["step"]).text();
    }
    assert_eq!(letter.next()["state"], "post");

    // Where it waits for no decision there is nothing to decide.
    let refused = letter.tm(&["approve", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "no_gate");
    said.push(refused.to_string());
    for text in said {
        assert!(!text.contains("session"), "it is a run: {text}");
    }
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
    let letter = Letter::at_gate("manual");
    let looked_at = letter.next()["lookAt"][0].as_str().unwrap().to_owned();
    let recorded = std::fs::read(&looked_at).unwrap();
    std::fs::write(&looked_at, "Dear coffee.\n").unwrap();
    let next = letter.next();
    assert_eq!(next["action"], "restore", "{next}");
    assert_eq!(next["lookAt"][0], *looked_at);
    let told = letter.tm(&["status"]);
    assert!(told.text().contains("-> tm run restore"), "{told:?}");
    let refused = letter.tm(&["step", "--json"]).json_with(3);
    assert_eq!(refused["error"]["code"], "tampered", "{refused}");
    let advised = refused["error"]["nextSteps"][0]["command"]
        .as_str()
        .unwrap();
    assert!(advised.starts_with("tm run restore"), "{advised}");
    let words: Vec<&str> = advised.split(' ').skip(1).collect();
    let restored = letter.environment.tm(&[&words[..], &["--json"]].concat());
    let restored = restored.json_with(0);
    assert_eq!(
        restored["restored"],
        serde_json::json!(["round-1/letter.md"])
    );
    assert_eq!(std::fs::read(&looked_at).unwrap(), recorded);
    let aside = restored["aside"][0].as_str().unwrap();
    let aside = looked_at.replace("round-1/letter.md", aside);
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "Dear coffee.\n");
    assert_eq!(letter.next()["action"], "decide");
    let again = letter.tm(&["restore"]);
    assert!(again.text().contains("as it was recorded"), "{again:?}");
}

/// Whoever is not let past a gate does not get past it by a pause of their own.
#[test]
fn a_pause_opens_no_gate() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".taskmaster/workflows/two.yaml",
        concat!(
            "tramline: 1\nid: two\ntitle: Two\ngates: { look: human }\ninitial: a\nstates:\n",
            "  a: { work: {}, to: b }\n",
            "  b: { gate: look, work: {}, on: { report: { to: z }, reopen: { to: a } } }\n",
            "  z: { final: completed }\n",
        ),
    );
    let run = |words: &[&str]| environment.json(&[&["run"], words].concat());
    run(&["start", "two"]).ok();
    run(&["report"]).ok();
    let refused = run(&["reopen"]);
    assert_eq!(refused.code(), "gate_closed", "{refused:?}");
    run(&["pause"]).ok();
    let refused = run(&["reopen"]);
    assert_eq!(refused.code(), "gate_closed", "{refused:?}");
    run(&["resume"]).ok();
    environment.json(&["log", "verify"]).ok();
}

#[test]
fn who_gives_up_at_a_gate_is_told_who_decides_there() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".taskmaster/workflows/two.yaml",
        concat!(
            "tramline: 1\nid: two\ntitle: Two\ngates: { look: human }\ninitial: a\nstates:\n",
            "  a: { work: {}, to: b }\n",
            "  b: { gate: look, route: [ { to: z } ], on: { reject: { to: a } } }\n",
            "  z: { final: completed }\n",
        ),
    );
    let run = |words: &[&str]| environment.json(&[&["run"], words].concat());
    run(&["start", "two"]).ok();
    run(&["report"]).ok();
    for verb in ["reopen", "skip"] {
        let refused = run(&[verb, "--reason", "x"]).json_with(3).clone();
        let error = &refused["error"];
        assert_eq!(error["code"], "not_present", "{refused}");
        let told = error["message"].as_str().unwrap();
        assert!(told.contains("at the gate `look`"), "{refused}");
        let help = error["suggestion"].as_str().unwrap();
        assert!(help.contains("`tm run reject --feedback"), "{refused}");
    }
}

#[test]
fn a_step_that_pauses_says_so() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".taskmaster/workflows/one.yaml",
        concat!(
            "tramline: 1\nid: one\ntitle: One\ninitial: a\n",
            "messages: { eh: { message: Not understood, fix: write yes } }\nstates:\n",
            "  a:\n    expects: outcome\n    work: { response: a.txt }\n    on:\n      report:\n",
            "        - { when: \"outcome.outcome == 'yes'\", to: z }\n        - { pause: eh }\n",
            "  z: { final: completed }\n",
        ),
    );
    environment.tm(&["run", "start", "one"]).text();
    std::fs::write(environment.run_folder().join("a.txt"), "no\n").unwrap();
    let stepped = environment.tm(&["run", "step"]);
    assert!(
        stepped
            .text()
            .starts_with("! The run is paused: Not understood\n"),
        "{stepped:?}"
    );
}

#[test]
fn what_runs_wrote_is_no_project() {
    let session = super::session::OneSession::with(&[]);
    let folder = session.environment.run_folder();
    let status = [
        "autopilot",
        "status",
        "--project-root",
        folder.to_str().unwrap(),
    ];
    let refused = session.environment.json(&status);
    assert_eq!(refused.code(), "project_in_store", "{refused:?}");
}
