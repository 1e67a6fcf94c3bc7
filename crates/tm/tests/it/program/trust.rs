//! What a repository brings along counts only as a person trusted it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use testkit::Outcome;
use testkit::person::at_terminal;

use super::environment::TestEnvironment;
use super::generic::give;
use super::whole_run::{says, tm};

const REVIEW: &str = ".taskmaster/workflows/review.yaml";
const CONFIG: &str = ".taskmaster/config.json";
const BEGIN: &str = "session init -i request=hello";
const VERIFIED: &str = r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"require": "verified"}}"#;

/// The built-in `review` with this id, and gates of this mode.
fn review(environment: &TestEnvironment, id: &str, mode: &str) -> String {
    let shown = environment.tm(&["workflow", "show", "review"]);
    let text = shown.text();
    let gates = text.lines().find(|line| line.starts_with("gates: "));
    let mine = format!("gates: {{ plan: {mode}, code: {mode}, review: {mode} }}");
    let other = text.replacen(gates.unwrap(), &mine, 1);
    assert_ne!(other, text);
    other.replacen("id: review\n", &format!("id: {id}\n"), 1)
}

/// A clone with a workflow in the place of `review` that asks nobody at any gate.
fn with_open_gates() -> TestEnvironment {
    let environment = TestEnvironment::bare();
    let open = review(&environment, "review\nshadows: true", "auto");
    environment.write(REVIEW, open);
    environment
}

fn hash_of(refused: &Outcome) -> String {
    let hash = &refused.json()["error"]["details"]["hash"];
    hash.as_str()
        .unwrap_or_else(|| panic!("{refused:?}"))
        .to_owned()
}

/// Under another name, and with every gate a person's, it still says by itself what a session needs to be over.
#[test]
fn a_session_of_another_workflow_begins_only_as_a_person_trusted_it() {
    let environment = TestEnvironment::bare();
    let fast = review(&environment, "fast", "human");
    environment.write(".taskmaster/workflows/fast.yaml", fast);
    let start = r#"run start fast --input profile=generic --input values={"request":"x"}"#;
    tm(&environment, start).fault(3, "untrusted");
    environment.trust(&["workflow", "trust", "fast"]);
    tm(&environment, start).ok();
}

#[test]
fn a_workflow_that_opens_gates_needs_trust() {
    let environment = with_open_gates();
    let text = environment.read(REVIEW);
    let is_untrusted = || tm(&environment, BEGIN).fault(3, "untrusted");
    let told = is_untrusted();
    assert!(told.contains("gates"), "{told}");
    tm(&environment, "run start review").fault(3, "untrusted");

    // Nobody trusts it without a terminal, unless they know what they trust.
    let trust = "workflow trust review";
    tm(&environment, trust).fault(3, "needs_person");
    let other = tm(&environment, &format!("{trust} --hash 00"));
    other.fault(3, "changed_since");
    let trusted = tm(&environment, &format!("{trust} --hash {}", hash_of(&other)));
    assert_eq!(trusted.ok()["trusted"], true);
    tm(&environment, BEGIN).ok();

    // A byte more, and it asks again.
    environment.write(REVIEW, format!("{text}# more\n"));
    is_untrusted();
    environment.write(REVIEW, &text);
    tm(&environment, BEGIN).ok();
    let revoked = tm(&environment, &format!("{trust} --revoke"));
    assert_eq!(revoked.ok()["revoked"], true);
    is_untrusted();
}

#[test]
fn a_test_command_does_not_run_by_itself_in_a_clone() {
    let environment = TestEnvironment::new();
    environment.write(CONFIG, VERIFIED);
    let ran = environment.home().join("ran");
    let touch = format!("touch '{}'\n", ran.display());
    let suite = "[ -f tests/a_test.sh ] || { printf 'TAP version 14\\nok 1 - b\\n1..1\\n'; exit; }\nprintf 'TAP version 14\\nnot ok 1 - a\\nok 2 - b\\n1..2\\n'\nexit 1\n";
    environment.write("run.sh", touch.clone() + suite);
    environment.commit_all("Verify");
    // The shell does not loosen what the project requires.
    let mut start = environment.program(&["autopilot", "start", "1", "--json"]);
    let start = start.env("TRAMLINE_EVIDENCE_REQUIRE", "claimed");
    let started = Outcome::of(&start.output().unwrap()).ok();
    let warnings = started["warnings"].to_string();
    let told = ["tm config trust", "TRAMLINE_EVIDENCE_REQUIRE"];
    says(&warnings, &told, &[]);
    environment.write("tests/a_test.sh", "false\n");
    let is_untrusted = |words: &str| {
        let refused = tm(&environment, &format!("autopilot complete red {words}"));
        refused.fault(3, "untrusted");
        assert!(!ran.exists());
        refused
    };
    is_untrusted("--results failed:1,passed:0");
    let hash = hash_of(&is_untrusted(""));

    // Trusted as it is: it runs by itself. Changed: not any more.
    tm(&environment, &format!("config trust --hash {hash}")).ok();
    environment.write("run.sh", touch.clone() + "exit 1\n");
    is_untrusted("");
    environment.write("run.sh", touch + suite);
    tm(&environment, "autopilot complete red").ok();
    assert!(ran.exists());

    // What the suite is given on the bench counts as well.
    for name in ["env", "link", "copy"] {
        let given = format!(r#"{{"bench": {{"{name}": ["A"]}}, "#);
        environment.write(CONFIG, VERIFIED.replacen('{', &given, 1));
        let other = tm(&environment, &format!("config trust --hash {hash}"));
        assert_eq!(other.code(), "changed_since", "{name}");
    }
}

#[test]
fn runs_are_not_kept_where_git_sees_them() {
    let environment = TestEnvironment::new();
    let project = environment.project().display().to_string();
    let with = |words: &[&str], name: &str, value: &str| {
        let mut command = environment.program(words);
        if name == "HOME" {
            command.env_remove("TRAMLINE_HOME");
        }
        let command = command.arg("--json").env(name, value);
        Outcome::of(&command.output().unwrap())
    };
    let start = ["autopilot", "start", "1"];
    let inside = format!("{project}/.runs");
    for (name, value, expected) in [
        ("HOME", "", "config_invalid"),
        ("HOME", "relative", "config_invalid"),
        ("TRAMLINE_HOME", "relative", "config_invalid"),
        ("TRAMLINE_HOME", &inside, "config_invalid"),
        ("TRAMLINE_HOME", &project, "config_invalid"),
    ] {
        assert_eq!(with(&start, name, value).code(), expected, "{name}={value}");
        let seen = environment.git(&["status", "--porcelain"]);
        assert_eq!(seen, "", "{name}={value}");
    }
    // Where git ignores all of it, and nothing of it was committed, they may.
    environment.write(".gitignore", "/.runs\n");
    environment.commit_all("Ignore");
    let listed = ".runs/trusted.json";
    environment.write(listed, "{}");
    environment.git(&["add", "--force", listed]);
    let told = with(&["doctor"], "TRAMLINE_HOME", &inside);
    assert_eq!(told.json()[0]["id"], "config_invalid", "{told:?}");
    environment.git(&["rm", "--quiet", "--force", listed]);
    with(&start, "TRAMLINE_HOME", &inside).ok();
}

/// What a person wrote at a terminal is trusted as they wrote it; what anybody else wrote is not.
#[test]
fn a_workflow_that_a_person_writes_is_trusted() {
    let environment = TestEnvironment::new();
    let written = tm(&environment, "workflow new mine").ok();
    let file = written["source"].as_str().unwrap();
    assert!(file.ends_with(".taskmaster/workflows/mine.yaml"), "{file}");
    for (words, code) in [
        ("run start mine --input taskId=1", "untrusted"),
        ("workflow new mine", "bad_name"),
        ("workflow new tdd --from tdd", "bad_name"),
        ("workflow new ../x --from tdd", "workflow_invalid"),
        ("workflow new other --from no-such", "not_found"),
    ] {
        assert_eq!(tm(&environment, words).code(), code, "{words}");
    }
    let new = environment.program(&["workflow", "new", "yours", "--from", "mine"]);
    let (status, shown) = at_terminal(new, "");
    assert_eq!(status, 0, "{shown}");
    environment.commit_all("Workflows");
    tm(&environment, "run start yours --input taskId=1").ok();
}

/// What a person reads before they trust a test command is all that the shell is given.
#[test]
fn nothing_of_a_test_command_is_hidden() {
    let environment = TestEnvironment::new();
    let setting = |command: &str| {
        let test = json!({ "command": command });
        let bench = json!({ "setup": "a\u{200b}b" });
        let evidence = json!({ "require": "verified" });
        let config = json!({ "test": test, "bench": bench, "evidence": evidence });
        environment.write(CONFIG, config.to_string());
        at_terminal(environment.program(&["config", "trust"]), "").1
    };
    let shown = setting("sh -c 'true # all tests\ntouch made; # '");
    let all = [r"# all tests\ntouch made", r"a\u{200b}b"];
    says(&shown, &all, &[]);
    environment.write("Makefile", "test:\n\t./run.sh --all\n");
    says(&setting("make test"), &["./run.sh --all"], &[]);
}

/// Trust is taken back also where what was trusted lies there no more.
#[test]
fn trust_is_taken_back_by_name() {
    let environment = with_open_gates();
    let other = environment
        .project()
        .join(".taskmaster/workflows/other.yml");
    fs::rename(environment.project().join(REVIEW), &other).unwrap();
    environment.trust(&["workflow", "trust", "review"]);
    let text = fs::read(&other).unwrap();
    let revoked = || tm(&environment, "workflow trust review --revoke").ok()["revoked"].clone();
    fs::remove_file(&other).unwrap();
    assert_eq!(revoked(), true);
    fs::write(&other, text).unwrap();
    let asked = tm(&environment, "workflow trust review --hash 00");
    assert_eq!(asked.code(), "changed_since", "it is asked for again");
    assert_eq!(revoked(), false);
}

#[test]
fn what_is_written_stays_where_it_was_named() {
    let environment = TestEnvironment::new();
    let outside = environment.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, environment.project().join("out")).unwrap();
    let picture = environment.project().join("r.svg");
    symlink(outside.join("r.svg"), picture).unwrap();
    environment.commit_all("Links");
    let graph = "workflow graph tdd --format svg --output r.svg";
    tm(&environment, graph).fault(3, "unsafe_path");
    assert_eq!(environment.tm(&["man", "--dir", "out"]).status, 3);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// A template that came with a clone can be wrong, and nothing else.
#[test]
fn a_template_of_a_clone_is_bounded() {
    let replaced = r#"{% set a = a|replace("a", "aaaaaaaaaa") %}"#;
    let grows = format!("{{% set a = \"aa\" %}}{}{{{{ a }}}}", replaced.repeat(40));
    let nots = format!("{{{{ {}true }}}}", "not ".repeat(30_000));
    for (template, expected) in [
        (nots.as_str(), "words and signs"),
        ("{% for a in range(10) %}{% endfor %}", "no functions"),
        ("{{ task.title ~ task.title }}", "no `~`"),
        (&grows, "too much text"),
        ("{{ task.title[1:] }}", "needs an end"),
        ("{{ task.title|inline }} {{ subtask.titel }}", "titel"),
    ] {
        let environment = TestEnvironment::new();
        environment.write(".taskmaster/templates/red.md", template);
        environment.commit_all("Template");
        let started = tm(&environment, "autopilot start 1");
        // What cannot be known before is told in place of it.
        let told = match started.status {
            0 => tm(&environment, "autopilot next"),
            _ => started,
        };
        assert!(told.out.contains(expected), "{expected}: {told:?}");
    }
}

/// What git keeps for itself, and what it ignores, is where secrets are: a clone's settings do not get them into a prompt.
#[test]
fn secrets_beside_the_repository_are_not_read_into_prompts() {
    let environment = TestEnvironment::new();
    let files = json!(["config", "../.env", "../rules.md"]);
    let prompts = json!({ "rulesPath": ".git", "loadOrder": files });
    let config = json!({ "test": { "command": "true" }, "prompts": prompts });
    environment.write(CONFIG, config.to_string());
    environment.write("rules.md", "Be brief.\n");
    let url = "https://u:TOPSECRET@localhost/x";
    environment.git(&["config", "remote.origin.url", url]);
    environment.write(".gitignore", ".env\n");
    environment.write(".env", "API=HUNTER2\n");
    environment.commit_all("Rules");
    tm(&environment, "autopilot start 1").ok();
    let next = tm(&environment, "autopilot next");
    let read = ["Be brief.", "git ignores it"];
    says(&next.out, &read, &["TOPSECRET", "HUNTER2"]);
}

/// A value that is made of itself does not fill the memory.
#[test]
fn values_do_not_grow_without_end() {
    let environment = TestEnvironment::bare();
    let grows = format!("=vars.a + '{}' + vars.a", "x".repeat(1000));
    let report = format!("report: {{ set: {{ a: \"{grows}\" }}, to: x }}");
    let x = format!("x: {{ work: {{}}, on: {{ {report}, skip: {{ to: z }} }} }}");
    let states = format!("states:\n  {x}\n  z: {{ final: completed }}\n");
    let text = format!("vars: {{ a: string }}\ninitial: x\n{states}");
    give(&environment, "grow", &text);
    tm(&environment, "run start grow").ok();
    let mut reports = (0..40).map(|_| tm(&environment, "run report"));
    let refused = reports.find(|report| report.status != 0).unwrap();
    assert_eq!(refused.code(), "definition_fault", "{refused:?}");
}
