//! What stands behind a person's decision: recorded, asked for, and checked again later.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::environment::TestEnvironment;
use super::session::{CODE, OneSession, PLAN};
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
    let verified = environment.tm(&["log", "verify", "--json"]);
    let verified = verified.json_with(status);
    serde_json::from_value(verified["decisions"].clone()).unwrap_or_default()
}

/// A key of somebody whom the list does not name.
fn foreign_key(environment: &TestEnvironment) -> String {
    let list = store(environment).join("allowed_signers");
    let before = fs::read(&list).unwrap_or_default();
    let other = environment.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let foreign = key(&other);
    fs::write(&list, before).unwrap();
    foreign
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn a_gate_that_asks_for_a_signature_opens_for_one_and_for_nothing_else() {
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let refused = session.tm(&["approve", "--json"]).json_with(3);
    assert_eq!(code(&refused), "approval_too_weak", "{refused}");
    assert_eq!(refused["error"]["details"]["required"], "signed");
    let program = environment.program(&["session", "approve"]);
    let (status, shown) = Person::at(program).end();
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("--sign KEY"), "{shown}");

    // Without a list nobody's signature counts, and a key that is not in it counts for nothing.
    let foreign = foreign_key(environment);
    fs::remove_file(store(environment).join("allowed_signers")).unwrap();
    let refused = session.tm(&["approve", "--sign", &foreign, "--json"]);
    assert_eq!(code(&refused.json_with(6)), "no_signers");
    let signs = |environment: &TestEnvironment| {
        let told = environment.tm(&["doctor", "--json"]);
        let checks = told.json().as_array().unwrap().clone();
        let check = checks.into_iter().find(|check| check["id"] == "signers");
        check.map(|check| check["state"].clone())
    };
    assert_eq!(signs(environment), None);
    environment.write(
        ".taskmaster/config.json",
        r#"{"approvals": {"require": "signed"}}"#,
    );
    assert_eq!(signs(environment), Some(json!("fail")));
    fs::remove_file(environment.project().join(".taskmaster/config.json")).unwrap();
    let own = key(&store(environment));
    assert_eq!(signs(environment), Some(json!("ok")));
    let refused = session.tm(&["approve", "--sign", &foreign, "--json"]);
    assert_eq!(code(&refused.json_with(3)), "signature_invalid");
    let gone = session.tm(&["approve", "--sign", "no-such-key", "--json"]);
    assert_eq!(code(&gone.json_with(6)), "not_signed");
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");

    let decided = session
        .tm(&["approve", "--sign", &own, "--json"])
        .json_with(0);
    assert_eq!(
        (&decided["strength"], &decided["actor"], &decided["how"]),
        (&json!("signed"), &json!("ann"), &json!("ssh"))
    );
    assert_eq!(session.run(7), "GENERATING");
    let [made] = &decisions(environment, 0)[..] else {
        panic!("one decision");
    };
    assert_eq!(
        (&made["what"], &made["strength"], &made["signature"]),
        (
            &json!("approve at the gate plan"),
            &json!("signed"),
            &json!("good")
        )
    );
    assert!(
        made["key"].as_str().unwrap().starts_with("SHA256:"),
        "{made}"
    );
    let told = environment.tm(&["log", "verify"]);
    assert!(told.text().contains("its signature is good"), "{told:?}");
}

#[test]
fn a_signature_is_checked_again_whenever_somebody_looks() {
    let session = at_plan_gate("human");
    let environment = &session.environment;
    let own = key(&store(environment));
    session
        .tm(&["approve", "--sign", &own, "--json"])
        .json_with(0);
    let signers = store(environment).join("allowed_signers");
    let listed = fs::read_to_string(&signers).unwrap();
    // A key that is allowed no more counts for what it signed while it was.
    let until = |time: &str| {
        let line = listed.replace(
            "namespaces=",
            &format!("valid-before=\"{time}\",namespaces="),
        );
        fs::write(&signers, line).unwrap();
        decisions(environment, if time.starts_with("19") { 6 } else { 0 })[0]["signature"].clone()
    };
    assert_eq!(until("29991231"), "good");
    assert_eq!(until("19991231"), "bad");
    // For something else than decisions it was never allowed.
    fs::write(&signers, listed.replace("tramline.decision", "git")).unwrap();
    assert_eq!(decisions(environment, 6)[0]["signature"], "bad");
    // Whose name is another one, that one did not decide.
    fs::write(&signers, listed.replace("ann ", "eve ")).unwrap();
    let told = &decisions(environment, 6)[0];
    assert!(told["problem"].as_str().unwrap().contains("eve"), "{told}");
    fs::remove_file(&signers).unwrap();
    assert_eq!(decisions(environment, 0)[0]["signature"], "unchecked");
    fs::write(&signers, &listed).unwrap();
    assert_eq!(decisions(environment, 0)[0]["signature"], "good");
}

#[test]
fn the_strength_that_settings_ask_for_holds_everywhere_and_a_project_only_raises_it() {
    let environment = TestEnvironment::new();
    let config = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    config(
        &store(&environment).join("config.json"),
        r#"{"approvals": {"require": "signed"}}"#,
    );
    // What the project has is weaker, and does not count.
    config(
        &environment.project().join(".taskmaster/config.json"),
        r#"{"approvals": {"require": "client"}, "test": {"command": "x"}}"#,
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Settings"]);
    let start = ["autopilot", "start", "1", "--max-attempts", "1", "--json"];
    environment.tm(&start).json_with(0);
    environment.write("tests/a_test.sh", "exit 1\n");
    let red = [
        "autopilot",
        "complete",
        "red",
        "--results",
        "failed:1,passed:0",
        "--json",
    ];
    environment.tm(&red).json_with(0);
    let green = [
        "autopilot",
        "complete",
        "green",
        "--results",
        "failed:1,passed:0",
        "--json",
    ];
    environment.tm(&green).json_with(3);
    let resume = ["autopilot", "resume", "--json"];
    let refused = environment.tm(&resume).json_with(3);
    assert_eq!(code(&refused), "needs_person", "{refused}");
    assert_eq!(refused["error"]["details"]["required"], "signed");
    let (status, shown) = Person::at(environment.program(&resume[..2])).end();
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("--sign KEY"), "{shown}");

    let own = key(&store(&environment));
    let signed = [&resume[..], &["--sign", &own]].concat();
    environment.tm(&signed).json_with(0);
    let allow = [
        "autopilot",
        "allow",
        "tests_changed",
        "--reason",
        "moved",
        "--sign",
        &own,
        "--json",
    ];
    environment.tm(&allow).json_with(0);
    let cleanup = ["autopilot", "abort", "--cleanup", "--force", "--json"];
    assert_eq!(
        code(&environment.tm(&cleanup).json_with(3)),
        "approval_too_weak"
    );
    let made = decisions(&environment, 0);
    let what: Vec<&str> = made.iter().filter_map(|one| one["what"].as_str()).collect();
    assert_eq!(
        what,
        ["resume after max_attempts_reached", "allow tests_changed"]
    );
    assert!(
        made.iter().all(|one| one["signature"] == "good"),
        "{made:?}"
    );
    let signed = [&cleanup[..], &["--sign", &own]].concat();
    environment.tm(&signed).json_with(0);
}

#[test]
fn a_signature_of_before_is_none_for_what_is_decided_now() {
    let session = at_plan_gate("signed");
    let environment = &session.environment;
    let own = key(&store(environment));
    let sent_back = ["reject", "--feedback", "Shorter.", "--sign", &own, "--json"];
    session.tm(&sent_back).json_with(0);
    let before = decisions(environment, 0);
    assert_eq!(before[0]["what"], "reject at the gate plan");
    // The same bytes come again: what was signed of them was a no.
    session.run(7);
    let unit = session.status()["waiting_for"]["unit_id"].clone();
    let again = [
        "session",
        "respond",
        "-",
        "--unit-id",
        unit.as_str().unwrap(),
    ];
    assert_eq!(environment.tm_with_input(&again, PLAN).status, 0);
    session.run(7);
    assert_eq!(session.step(7)["waiting_for"]["gate"], "plan");
    session
        .tm(&["approve", "--sign", &own, "--json"])
        .json_with(0);
    assert_eq!(session.run(7), "GENERATING");
    session.respond(CODE);
    assert_eq!(decisions(environment, 0).len(), 2);
}

#[test]
fn commits_are_held_against_the_strength_that_the_verifier_asks_for() {
    let environment = TestEnvironment::started();
    let own = key(&store(&environment));
    let allow = [
        "autopilot",
        "allow",
        "red_without_tests",
        "--reason",
        "see elsewhere",
    ];
    let (_, status, rest) = Person::at(environment.program(&allow)).agrees();
    assert_eq!(status, 0, "{rest}");
    for words in [
        &["complete", "red", "--results", "failed:1,passed:0"][..],
        &["complete", "green", "--results", "failed:0,passed:1"],
    ] {
        if words[1] == "green" {
            environment.write("src/a.sh", "echo\n");
        }
        environment
            .tm(&[&["autopilot", "--json"], words].concat())
            .json_with(0);
    }
    environment
        .tm(&["autopilot", "commit", "--json"])
        .json_with(0);
    let verify = |words: &[&str], status| {
        let ran = environment.tm(&[&["verify", "HEAD", "--json"], words].concat());
        ran.json_with(status)
    };
    verify(&[], 0);
    verify(&["--approvals", "terminal"], 0);
    let told = verify(&["--approvals", "signed"], 3);
    let problem = &told["commits"][0]["problems"][0];
    assert_eq!(problem["code"], "approval_too_weak", "{told}");
    environment.tm(&["autopilot", "reopen", "--json"]);

    // Signed, the same is enough; by a list without the key it is not.
    let environment = TestEnvironment::started();
    let list = store(&environment).join("allowed_signers");
    let signed = key(&store(&environment));
    environment
        .tm(&[&allow[..], &["--sign", &signed, "--json"]].concat())
        .json_with(0);
    environment
        .tm(&[
            "autopilot",
            "complete",
            "red",
            "--results",
            "failed:1,passed:0",
            "--json",
        ])
        .json_with(0);
    environment.write("src/a.sh", "echo\n");
    environment
        .tm(&[
            "autopilot",
            "complete",
            "green",
            "--results",
            "failed:0,passed:1",
            "--json",
        ])
        .json_with(0);
    environment
        .tm(&["autopilot", "commit", "--json"])
        .json_with(0);
    let verify = |signers: &str, status| {
        let words = [
            "verify",
            "HEAD",
            "--json",
            "--approvals",
            "signed",
            "--signers",
            signers,
        ];
        environment.tm(&words).json_with(status)
    };
    verify(list.to_str().unwrap(), 0);
    let other = environment.home().join("others");
    fs::write(
        &other,
        fs::read(Path::new(&own).with_file_name("allowed_signers")).unwrap(),
    )
    .unwrap();
    let told = verify(other.to_str().unwrap(), 3);
    assert_eq!(
        told["commits"][0]["problems"][0]["code"], "signature_invalid",
        "{told}"
    );
    let told = verify("no-such-file", 3);
    assert_eq!(
        told["commits"][0]["problems"][0]["code"], "signature_unchecked",
        "{told}"
    );
}

/// What is signed goes to `ssh-keygen` on its standard input, where it cannot ask for the passphrase itself.
#[cfg(target_os = "linux")]
#[test]
fn the_passphrase_of_a_key_is_asked_for_at_the_terminal() {
    let environment = TestEnvironment::bare();
    let own = key(&store(&environment));
    let encrypted = Command::new("ssh-keygen")
        .args(["-q", "-p", "-P", "", "-N", "open sesame", "-f", &own])
        .status()
        .unwrap();
    assert!(encrypted.success());
    environment
        .json(&[
            "session",
            "init",
            "-i",
            "request=Words",
            "--gate",
            "plan=signed",
        ])
        .ok();
    environment.tm(&["session", "step"]);
    environment
        .tm_with_input(&["session", "respond", "-"], "# Plan\n\nCount.\n")
        .text();
    environment.tm(&["session", "run"]);
    for (typed, expected) in [("wrong", 6), ("open sesame", 0)] {
        // A terminal that programs find as theirs.
        let mut command = environment.process("setsid");
        command
            .args(["--ctty", "--wait"])
            .arg(testkit::sandbox::binary())
            .args(["session", "approve", "--sign", &own]);
        let mut person = Person::at(command);
        let shown = person.until("Enter passphrase: ");
        assert!(shown.contains("Approve the plan?"), "{shown}");
        person.say(typed);
        let (status, rest) = person.end();
        assert_eq!(status, expected, "{rest}");
    }
}

/// Two gates whose names differ in white space alone, and one signature.
#[test]
fn a_signature_opens_no_other_gate() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".taskmaster/workflows/two.yaml",
        concat!(
            "tramline: 1\nid: two\ntitle: Two\n",
            "gates: { \"release go\": signed, \"release\\tgo\": signed }\n",
            "initial: a\nstates:\n",
            "  a: { work: {}, to: b }\n",
            "  b: { gate: \"release go\", work: {}, to: c }\n",
            "  c: { gate: \"release\\tgo\", work: {}, to: z }\n",
            "  z: { final: completed }\n",
        ),
    );
    let own = key(&store(&environment));
    let run = |words: &[&str], status| {
        let ran = environment.tm(&[&["run"], words, &["--json"]].concat());
        ran.json_with(status)
    };
    run(&["start", "two"], 0);
    run(&["report"], 0);
    let next = run(&["next"], 0);
    assert_eq!(
        (&next["action"], &next["strength"]),
        (&json!("decide"), &json!("signed")),
        "{next}"
    );
    // What is asked for is a person's word, and no repeated report is taken for it.
    assert_eq!(code(&run(&["report"], 3)), "gate_closed");
    run(&["approve", "--sign", &own], 0);
    run(&["report"], 0);
    // Whoever has the signature of before shows it instead of making one.
    let journal = fs::read_to_string(environment.journal_path()).unwrap();
    let made = journal.lines().find(|line| line.contains("decision:made"));
    let made: Value = serde_json::from_str(made.unwrap()).unwrap();
    let old = made["approval"]["signature"]["armored"].as_str().unwrap();
    let shown = environment.home().join("old.sig");
    fs::write(&shown, old).unwrap();
    environment.write(
        "bin/ssh-keygen",
        format!("#!/bin/sh\ncat '{}'\n", shown.display()),
    );
    let fake = environment.project().join("bin");
    let make = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(fake.join("ssh-keygen"), make).unwrap();
    let mut again = environment.program(&["run", "approve", "--sign", &own, "--json"]);
    let path = std::env::var("PATH").unwrap();
    let output = again
        .env("PATH", format!("{}:{path}", fake.display()))
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(code(&told), "signature_invalid", "{told}");
}
