//! What stands behind a person's decision: recorded, asked for, and checked again later.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::environment::{TestEnvironment, has, holds};
use super::generic::give;
use super::session::{OneSession, PLAN};
use testkit::person::{Person, key};

/// Where runs, settings of the person and the allowed keys lie.
pub fn store(environment: &TestEnvironment) -> std::path::PathBuf {
    environment.home().join("store")
}

/// A session whose plan waits at a gate of this mode.
pub fn at_plan_gate(mode: &str) -> OneSession {
    let session = OneSession::with(&["--gate", &format!("plan={mode}")]);
    session.run(7);
    assert_eq!(session.goes_on(PLAN, 7), "PLANNED");
    session
}

/// The decisions that the journal of a run holds, as `tm log verify` finds them.
fn decisions(environment: &TestEnvironment, status: i32) -> Vec<Value> {
    let verified = environment.line("log verify").json_with(status);
    serde_json::from_value(verified["decisions"].clone()).unwrap_or_default()
}

#[test]
fn a_gate_that_asks_for_a_signature_opens_for_one_and_for_nothing_else() {
    testkit::by_chance!(3);
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let approve = |key: &str| environment.line(&format!("session approve --sign {key}"));
    let refused = environment.refused("session approve", 3, "approval_too_weak");
    assert_eq!(refused.json()["error"]["details"]["required"], "signed");

    // Without a list nobody's signature counts, and a key that is not in it counts for nothing.
    let foreign = key(&environment.home().join("other"));
    approve(&foreign).fault(6, "no_signers");
    let own = key(&store(environment));
    approve(&foreign).fault(3, "signature_invalid");
    approve("no-such-key").fault(6, "no_signers");
    assert_eq!(session.step(7)["nextAction"]["gate"], "plan");

    let decided = json!({ "strength": "signed", "actor": "ann", "how": "ssh" });
    holds(&approve(&own).ok(), &decided);
    assert_eq!(session.run(7), "GENERATING");
    let made = &decisions(environment, 0)[0];
    let approved = json!({ "what": "approve at the gate plan", "signature": "good" });
    holds(made, &approved);
    has(&made["key"], "SHA256:");
    let told = environment.tm(&["log", "verify"]);
    has(&told.text(), "its signature is good");
}

#[test]
fn a_signature_is_checked_again_whenever_somebody_looks() {
    testkit::by_chance!(3);
    let session = at_plan_gate("human");
    let environment = &session.environment;
    let own = key(&store(environment));
    environment.does(&format!("session approve --sign {own}"));
    let signers = store(environment).join("allowed_signers");
    let listed = fs::read_to_string(&signers).unwrap();
    let with = |old: &str, new: &str| listed.replacen(old, new, 1);
    let until = |time: &str| {
        let name = "namespaces=";
        with(name, &format!("valid-before=\"{time}\",{name}"))
    };
    for (list, expected) in [
        (until("19991231"), "bad"),
        (with("ann ", "eve "), "bad"),
        (listed.clone(), "good"),
    ] {
        fs::write(&signers, &list).unwrap();
        let status = if expected == "bad" { 6 } else { 0 };
        let told = &decisions(environment, status)[0]["signature"];
        assert_eq!(told, expected, "{list}");
    }
    fs::remove_file(&signers).unwrap();
    assert_eq!(decisions(environment, 0)[0]["signature"], "unchecked");
}

#[test]
fn the_strength_that_settings_ask_for_holds_everywhere_and_a_project_only_raises_it() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::new();
    let own = key(&store(&environment));
    let signed = |line: &str| environment.line(&format!("{line} --sign {own}"));
    let settings = r#"{"approvals": {"require": "signed"}}"#;
    fs::write(store(&environment).join("config.json"), settings).unwrap();
    // What the project has is weaker, and does not count.
    let settings = r#"{"approvals": {"require": "client"}, "test": {"command": "x"}}"#;
    environment.write(".taskmaster/config.json", settings);
    environment.commit_all("Settings");
    environment.does("autopilot start 1 --max-attempts 1");
    environment.red("a");
    let green = "autopilot complete green --results failed:1,passed:0";
    environment.line(green).json_with(3);
    let refused = environment.refused("autopilot resume", 3, "needs_person");
    assert_eq!(refused.json()["error"]["details"]["required"], "signed");
    signed("autopilot resume").ok();
    signed("autopilot allow tests_changed --reason moved").ok();
    let cleanup = "autopilot abort --cleanup --force";
    environment.refused(cleanup, 3, "approval_too_weak");
    let made = decisions(&environment, 0);
    let decided = ["resume after max_attempts_reached", "allow tests_changed"];
    assert_eq!(made.len(), decided.len());
    for (made, what) in made.iter().zip(decided) {
        holds(made, &json!({ "what": what, "signature": "good" }));
    }
    signed(cleanup).ok();
}

#[test]
fn commits_are_held_against_the_strength_that_the_verifier_asks_for() {
    testkit::by_chance!(3);
    let allow = "autopilot allow red_without_tests --reason elsewhere";
    let committed = |environment: &TestEnvironment| {
        let red = "autopilot complete red --results failed:1,passed:0";
        environment.does(red);
        environment.green("a");
        environment.does("autopilot commit");
    };
    let told = |environment: &TestEnvironment, options: &str| {
        let verified = environment.line(&format!("verify HEAD {options}"));
        let problem = &verified.json()["commits"][0]["problems"][0]["code"];
        (verified.status, problem.clone())
    };
    let earned = (0, Value::Null);
    let environment = TestEnvironment::started();
    environment.agrees(allow);
    committed(&environment);
    assert_eq!(told(&environment, ""), earned);
    assert_eq!(told(&environment, "--approvals terminal"), earned);
    let weak = (3, json!("approval_too_weak"));
    assert_eq!(told(&environment, "--approvals signed"), weak);

    // Signed, the same is enough; by a list without the key it is not.
    let environment = TestEnvironment::started();
    let signed = key(&store(&environment));
    let other = environment.home().join("other");
    key(&other);
    let others = other.join("allowed_signers");
    environment.does(&format!("{allow} --sign {signed}"));
    committed(&environment);
    for (signers, expected) in [
        (store(&environment).join("allowed_signers"), earned),
        (others, (3, json!("signature_invalid"))),
        ("no-such-file".into(), (3, json!("signature_invalid"))),
    ] {
        let options = format!("--approvals signed --signers {}", signers.display());
        assert_eq!(told(&environment, &options), expected, "{options}");
    }
}

/// What is signed goes to `ssh-keygen` on its standard input, where it cannot ask for the passphrase itself.
#[cfg(target_os = "linux")]
#[test]
fn the_passphrase_of_a_key_is_asked_for_at_the_terminal() {
    testkit::by_chance!(3);
    let session = at_plan_gate("signed");
    let own = key(&store(&session.environment));
    let mut encrypt = Command::new("ssh-keygen");
    encrypt.args(["-q", "-p", "-P", "", "-N", "open sesame", "-f", &own]);
    assert!(encrypt.status().unwrap().success());
    for (typed, expected) in [("wrong", 6), ("open sesame", 0)] {
        // A terminal that programs find as theirs.
        let mut command = session.environment.process("setsid");
        let tm = testkit::sandbox::binary();
        command.args(["--ctty", "--wait"]).arg(tm);
        command.args(["session", "approve", "--sign", &own]);
        let mut person = Person::at(command);
        has(&person.until("Enter passphrase: "), "the gate plan?");
        person.say(typed);
        let (status, rest) = person.end();
        assert_eq!(status, expected, "{rest}");
    }
}

/// Two gates whose names differ in white space alone, and one signature.
#[test]
fn a_signature_opens_no_other_gate() {
    testkit::by_chance!(3);
    let environment = TestEnvironment::bare();
    let two = r#"gates: { "release go": signed, "release\tgo": signed }
initial: a
states:
  a: { work: {}, to: b }
  b: { gate: "release go", work: {}, to: c }
  c: { gate: "release\tgo", work: {}, to: z }
  z: { final: completed }
"#;
    give(&environment, "two", two);
    let approve = format!("run approve --sign {}", key(&store(&environment)));
    environment.does("run start two");
    environment.does("run report");
    let decide = json!({ "action": "decide", "strength": "signed" });
    holds(&environment.does("run next"), &decide);
    // What is asked for is a person's word, and no repeated report is taken for it.
    environment.refused("run report", 3, "gate_closed");
    environment.does(&approve);
    environment.does("run report");
    // Whoever has the signature of before shows it instead of making one.
    let journal = fs::read_to_string(environment.journal_path()).unwrap();
    let made = journal.lines().find(|line| line.contains("decision:made"));
    let made: Value = serde_json::from_str(made.unwrap()).unwrap();
    let old = made["approval"]["signature"]["armored"].as_str().unwrap();
    let shown = environment.home().join("old.sig");
    fs::write(&shown, old).unwrap();
    environment.script("../bin/ssh-keygen", &format!("cat '{}'", shown.display()));
    environment.refused(&approve, 3, "signature_invalid");
}
