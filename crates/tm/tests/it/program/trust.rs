//! What a repository brings along counts only as a person trusted it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::environment::TestEnvironment;

/// A clone with a workflow in the place of `review` that asks nobody at any gate.
fn with_open_gates() -> TestEnvironment {
    let environment = TestEnvironment::bare();
    let shown = environment.tm(&["workflow", "show", "review"]);
    let text = shown
        .text()
        .replacen("id: review\n", "id: review\nshadows: true\n", 1);
    let gates = text
        .lines()
        .find(|line| line.starts_with("gates: "))
        .unwrap();
    let open = text.replacen(gates, "gates: { plan: auto, code: auto, review: auto }", 1);
    assert_ne!(open, shown.out);
    environment.write(".taskmaster/workflows/review.yaml", &open);
    environment
}

fn code(value: &Value) -> &str {
    value["error"]["code"].as_str().unwrap_or_default()
}

/// Under another name, and with every gate a person's, it still says by itself what a session needs to be over.
#[test]
fn a_session_of_another_workflow_begins_only_as_a_person_trusted_it() {
    let environment = TestEnvironment::bare();
    let shown = environment.tm(&["workflow", "show", "review"]);
    let shown = shown.text();
    let gates = shown
        .lines()
        .find(|line| line.starts_with("gates: "))
        .unwrap();
    let fast = shown.replacen("id: review\n", "id: fast\n", 1).replacen(
        gates,
        "gates: { plan: human, code: human, review: human }",
        1,
    );
    environment.write(".taskmaster/workflows/fast.yaml", &fast);
    let start = [
        "run",
        "start",
        "fast",
        "--input",
        "profile=generic",
        "--input",
        r#"values={"request":"x"}"#,
        "--json",
    ];
    let refused = environment.tm(&start).json_with(3);
    assert_eq!(code(&refused), "workflow_untrusted", "{refused}");
    environment.trust(&["workflow", "trust", "fast"]);
    environment.tm(&start).json_with(0);
}

#[test]
fn a_repository_cannot_trust_itself() {
    let environment = TestEnvironment::bare();
    let folder = environment.project().join(".taskmaster/profiles/generic");
    environment.write(
        ".taskmaster/profiles/generic/profile.yaml",
        "tramline: 1\nid: generic\ntitle: Mine\nshadows: true\nresponses: { planning: { command: [\"sh\", \"./read.sh\"] } }\n",
    );
    environment.write(
        ".taskmaster/profiles/generic/read.sh",
        "touch \"$HOME/pwned\"\n",
    );
    for path in ["planning", "generation", "review", "revision"] {
        environment.write(
            &format!(".taskmaster/profiles/generic/{path}-prompt.md"),
            "Say something.\n",
        );
    }
    // What the victim's list would hold, in a place that the repository chose.
    let asked = environment.tm(&["session", "trust", "generic", "--hash", "00", "--json"]);
    let hash = asked.json()["error"]["details"]["hash"]
        .as_str()
        .map(str::to_owned);
    let list = |hash: &str| {
        json!({ "version": 1, "trusted": [{ "subject": "profile", "path": folder, "name": "generic", "hash": hash, "at": "2026-01-01T00:00:00Z" }] })
            .to_string()
    };
    let hash = hash.unwrap_or_default();
    environment.write(".taskmaster/cache/trusted.json", list(&hash));
    environment.write(".taskmaster/trusted.json", list(&hash));
    environment.write(
        ".taskmaster/config.json",
        r#"{"autopilot": {"storage": {"basePath": ".taskmaster/cache"}}}"#,
    );
    let refused = environment.tm(&["session", "init", "-i", "request=hello", "--json"]);
    let refused = refused.json_with(6);
    assert_eq!(code(&refused), "config_invalid", "{refused}");
    assert!(refused.to_string().contains("basePath"), "{refused}");
    environment.write(".taskmaster/config.json", "{}");
    environment.tm(&["session", "init", "-i", "request=hello", "--json"]);
    environment.tm(&["session", "step", "--json"]);
    environment.tm_with_input(&["session", "respond", "-", "--json"], "# my plan\n");
    environment.tm(&["session", "step", "--json"]);
    assert!(!environment.home().join("pwned").exists());
}

#[test]
fn a_workflow_that_opens_gates_needs_trust() {
    let environment = with_open_gates();
    let begin = ["session", "init", "-i", "request=hello", "--json"];
    let refused = environment.tm(&begin).json_with(3);
    assert_eq!(code(&refused), "workflow_untrusted", "{refused}");
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(told.contains("takes the place of the built-in"), "{told}");
    assert!(told.contains("gates"), "{told}");
    let generic = environment.tm(&["run", "start", "review", "--json"]);
    assert_eq!(code(&generic.json_with(3)), "workflow_untrusted");

    // Named wherever somebody looks before they begin.
    for words in [
        &["doctor"][..],
        &["init", "--print"],
        &["run", "start", "mini"],
    ] {
        environment.write(
            ".taskmaster/workflows/mini.yaml",
            "tramline: 1\nid: mini\ntitle: Small\ninitial: a\nstates:\n  a: { work: { by: agent }, expects: outcome, on: { report: [ { to: b } ] } }\n  b: { final: completed }\n",
        );
        let ran = environment.tm(words);
        let told = format!("{} {}", ran.out, ran.err);
        let told: Vec<&str> = told.split_whitespace().collect();
        let told = told.join(" ");
        assert!(
            told.contains("tm workflow trust review"),
            "{words:?}: {told}"
        );
    }

    // Nobody trusts it without a terminal, unless they know what they trust.
    let asked = environment.tm(&["workflow", "trust", "review", "--json"]);
    assert_eq!(code(&asked.json_with(3)), "needs_terminal");
    let other = ["workflow", "trust", "review", "--hash", "00", "--json"];
    let other = environment.tm(&other).json_with(3);
    assert_eq!(code(&other), "other_hash");
    let hash = refused["error"]["details"]["hash"].as_str().unwrap();
    let trust = ["workflow", "trust", "review", "--hash", hash, "--json"];
    assert_eq!(environment.tm(&trust).json_with(0)["trusted"], true);
    environment.tm(&begin).json_with(0);

    // A byte more, and it asks again.
    let file = environment
        .project()
        .join(".taskmaster/workflows/review.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.clone() + "# more\n").unwrap();
    let refused = environment.tm(&begin).json_with(3);
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(told.contains("was changed since"), "{told}");
    fs::write(&file, &text).unwrap();
    environment.tm(&begin).json_with(0);
    // One that could not begin is nothing to decide on.
    let broken = format!("{text}  nowhere: {{ work: {{}}, to: COMPLETE }}\n");
    let hash = journal::sha256_hex(broken.as_bytes());
    fs::write(&file, broken).unwrap();
    let trust = ["workflow", "trust", "review", "--hash", &*hash, "--json"];
    assert_eq!(
        code(&environment.tm(&trust).json_with(6)),
        "workflow_invalid"
    );
    fs::write(&file, text).unwrap();
    let revoke = ["workflow", "trust", "review", "--revoke", "--json"];
    assert_eq!(environment.tm(&revoke).json_with(0)["revoked"], true);
    assert_eq!(
        code(&environment.tm(&begin).json_with(3)),
        "workflow_untrusted"
    );
}

#[test]
fn the_built_in_and_the_harmless_need_no_trust() {
    let environment = TestEnvironment::bare();
    for words in [
        &["workflow", "trust", "review", "--hash", "00", "--json"][..],
        &["config", "trust", "--hash", "00", "--json"],
    ] {
        let refused = environment.tm(words).json_with(3);
        assert_eq!(code(&refused), "nothing_to_trust", "{words:?}");
    }
}

#[test]
fn a_test_command_does_not_run_by_itself_in_a_clone() {
    let environment = TestEnvironment::new();
    environment.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"require": "verified"}}"#,
    );
    environment.write(
        "run.sh",
        "touch \"$HOME/ran\"\nprintf 'TAP version 13\\nnot ok 1 - a\\n1..1\\n'\nexit 1\n",
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Verify"]);
    let started = environment
        .tm(&["autopilot", "start", "1", "--json"])
        .json_with(0);
    assert!(
        started["warnings"].to_string().contains("tm config trust"),
        "{started}"
    );
    environment.write("tests/a_test.sh", "false\n");
    let report = ["autopilot", "complete", "red", "--json"];
    let refused = environment.tm(&report).json_with(3);
    assert_eq!(code(&refused), "tests_untrusted", "{refused}");
    let ran = environment.home().join("ran");
    assert!(!ran.exists());

    // Trusted as it is: it runs by itself. Changed: not any more.
    let hash = refused["error"]["details"]["hash"].as_str().unwrap();
    let trust = ["config", "trust", "--hash", hash, "--json"];
    environment.tm(&trust).json_with(0);
    environment.write("run.sh", "touch \"$HOME/ran\"\nexit 1\n");
    let refused = environment.tm(&report).json_with(3);
    assert_eq!(code(&refused), "tests_untrusted", "{refused}");
    assert!(!ran.exists());
    environment.git(&["checkout", "--quiet", "run.sh"]);
    environment.tm(&report).json_with(0);
    assert!(ran.exists());
}

#[test]
fn whoever_asks_for_a_run_of_the_tests_gets_it() {
    let environment = TestEnvironment::started();
    environment.write("tests/a_test.sh", "false\n");
    environment.write(
        "run.sh",
        "touch \"$HOME/ran\"\nprintf 'TAP version 13\\nnot ok 1 - a\\n1..1\\n'\nexit 1\n",
    );
    environment.tm(&["autopilot", "complete", "red", "--verify", "--json"]);
    assert!(environment.home().join("ran").exists());
}

#[test]
fn the_shell_does_not_loosen_what_the_project_requires() {
    let environment = TestEnvironment::new();
    environment.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "evidence": {"require": "verified"}}"#,
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Verify"]);
    let mut start = environment.program(&["autopilot", "start", "1", "--json"]);
    let output = start
        .env("TRAMLINE_EVIDENCE_REQUIRE", "claimed")
        .output()
        .unwrap();
    let started: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = started["warnings"].to_string();
    assert!(warnings.contains("TRAMLINE_EVIDENCE_REQUIRE"), "{warnings}");
    environment.write("tests/a_test.sh", "false\n");
    let claim = [
        "autopilot",
        "complete",
        "red",
        "--results",
        "failed:1,passed:0",
        "--json",
    ];
    let refused = environment.tm(&claim).json_with(3);
    assert_ne!(refused["validated"], true, "{refused}");
}

#[test]
fn runs_are_not_kept_where_git_sees_them() {
    let environment = TestEnvironment::new();
    for (name, value, expected) in [
        ("HOME", "", "no_store"),
        ("HOME", "relative", "no_store"),
        ("TRAMLINE_HOME", "relative", "no_store"),
        ("TRAMLINE_HOME", "PROJECT/.runs", "store_in_project"),
        ("TRAMLINE_HOME", "PROJECT", "store_in_project"),
    ] {
        let project = environment.project().display().to_string();
        let mut start = environment.program(&["autopilot", "start", "1", "--json"]);
        if name == "HOME" {
            start.env_remove("TRAMLINE_HOME");
        }
        let output = start
            .env(name, value.replace("PROJECT", &project))
            .output()
            .unwrap();
        let refused: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(code(&refused), expected, "{name}={value}: {refused}");
        assert_eq!(
            environment.git(&["status", "--porcelain"]),
            "",
            "{name}={value}"
        );
    }
    // Where git ignores all of it, and nothing of it was committed, they may.
    environment.write(".gitignore", "/.runs\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Ignore"]);
    let inside = environment.project().join(".runs");
    let start = |words: &[&str]| {
        let mut start = environment.program(words);
        start.env("TRAMLINE_HOME", &inside).output().unwrap()
    };
    environment.write(".runs/trusted.json", "{}");
    environment.git(&["add", "--force", ".runs/trusted.json"]);
    let told: Value = serde_json::from_slice(&start(&["doctor", "--json"]).stdout).unwrap();
    assert_eq!(told[0]["id"], "store_in_project", "{told}");
    environment.git(&["rm", "--quiet", "--force", ".runs/trusted.json"]);
    let begun = start(&["autopilot", "start", "1", "--json"]);
    assert!(begun.status.success(), "{begun:?}");
}

#[test]
fn a_list_that_others_can_write_is_not_believed() {
    let environment = with_open_gates();
    let store = environment.home().join("store");
    fs::create_dir_all(&store).unwrap();
    fs::write(
        store.join("trusted.json"),
        "{\"version\": 1, \"trusted\": []}",
    )
    .unwrap();
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(store.join("trusted.json"), mode).unwrap();
    let begin = ["session", "init", "-i", "request=hello", "--json"];
    assert_eq!(code(&environment.tm(&begin).json_with(6)), "trust_store");
}

/// What a person wrote at a terminal is trusted as they wrote it; what anybody else wrote is not.
#[test]
fn a_workflow_that_a_person_writes_is_trusted() {
    let environment = TestEnvironment::new();
    let written = environment
        .tm(&["workflow", "new", "mine", "--json"])
        .json_with(0);
    let file = written["source"].as_str().unwrap();
    assert!(
        file.ends_with(".taskmaster/workflows/mine.yaml"),
        "{written}"
    );
    let start = ["run", "start", "mine", "--input", "taskId=1", "--json"];
    assert_eq!(
        code(&environment.tm(&start).json_with(3)),
        "workflow_untrusted"
    );
    let again = environment
        .tm(&["workflow", "new", "mine", "--json"])
        .json_with(3);
    assert_eq!(code(&again), "workflow_exists");
    for (id, from, expected) in [
        ("tdd", "tdd", "workflow_exists"),
        ("no good", "tdd", "workflow_invalid"),
        ("../x", "tdd", "workflow_invalid"),
        ("other", "no-such", "unknown_workflow"),
    ] {
        let refused = environment.tm(&["workflow", "new", id, "--from", from, "--json"]);
        assert_eq!(code(refused.json()), expected, "{id}");
    }
    let new = environment.program(&["workflow", "new", "yours", "--from", "mine"]);
    let (status, shown) = testkit::person::at_terminal(new, "");
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("tm workflow check yours"), "{shown}");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Workflows"]);
    let start = ["run", "start", "yours", "--input", "taskId=1", "--json"];
    environment.tm(&start).json_with(0);
}

/// What a person reads before they trust a test command is all that the shell is given.
#[test]
fn nothing_of_a_test_command_is_hidden() {
    let environment = TestEnvironment::new();
    let config = json!({
        "test": { "command": "sh -c 'true # all tests\ntouch made; # '", "setup": "a\u{200b}b" },
        "evidence": { "require": "verified", "redInCleanTree": true },
    });
    environment.write(".taskmaster/config.json", config.to_string());
    let trust = environment.program(&["config", "trust"]);
    let (_, shown) = testkit::person::at_terminal(trust, "");
    assert!(shown.contains(r"# all tests\ntouch made"), "{shown}");
    assert!(shown.contains(r"a\u{200b}b"), "{shown}");

    let config =
        json!({ "test": { "command": "make test" }, "evidence": { "require": "verified" } });
    environment.write(".taskmaster/config.json", config.to_string());
    environment.write("Makefile", "test:\n\t./run.sh --all\n");
    let trust = environment.program(&["config", "trust"]);
    let (_, shown) = testkit::person::at_terminal(trust, "");
    assert!(shown.contains("./run.sh --all"), "{shown}");
}

/// Trust is taken back also where what was trusted lies there no more.
#[test]
fn trust_is_taken_back_by_name() {
    let environment = with_open_gates();
    let workflows = environment.project().join(".taskmaster/workflows");
    let file = fs::read_dir(&workflows).unwrap().next().unwrap().unwrap();
    let id = file
        .path()
        .file_stem()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    fs::rename(file.path(), workflows.join("other.yml")).unwrap();
    environment.trust(&["workflow", "trust", &id]);
    let text = fs::read(workflows.join("other.yml")).unwrap();
    fs::remove_file(workflows.join("other.yml")).unwrap();
    let revoke = ["workflow", "trust", &id, "--revoke"];
    let revoked = environment.json(&revoke).ok();
    assert_eq!(revoked["revoked"], true, "{revoked}");
    fs::write(workflows.join("other.yml"), text).unwrap();
    let listed = environment.json(&["workflow", "trust", &id, "--hash", "00"]);
    assert_eq!(code(listed.json()), "other_hash", "it is asked for again");
    let revoked = environment.json(&revoke).ok();
    assert_eq!(revoked["revoked"], false, "{revoked}");
}

/// A path that somebody names is not taken elsewhere by a link that came with the clone.
#[test]
fn what_is_written_stays_where_it_was_named() {
    let environment = TestEnvironment::new();
    let outside = environment.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    for (link, to) in [("out", "../outside"), ("r.svg", "../outside/r.svg")] {
        std::os::unix::fs::symlink(to, environment.project().join(link)).unwrap();
    }
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Links"]);
    let session = environment
        .json(&["session", "init", "-i", "request=x"])
        .ok();
    for response in [
        super::session::PLAN,
        super::session::CODE,
        "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n",
    ] {
        environment.tm(&["session", "run"]);
        environment
            .tm_with_input(&["session", "respond", "-"], response)
            .text();
    }
    environment.tm(&["session", "run"]).text();
    let id = session["session_id"].as_str().unwrap();
    for command in [
        &["session", "export", "out", "--session", id][..],
        &["session", "export", "out/deeper", "--session", id],
        &[
            "workflow", "graph", "tdd", "--format", "svg", "--output", "r.svg",
        ],
    ] {
        let refused = environment.json(command);
        assert_eq!(refused.code(), "leads_outside", "{command:?}: {refused:?}");
    }
    let man = environment.tm(&["man", "--dir", "out"]);
    assert_eq!(man.status, 3, "{man:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// A template that came with a clone can be wrong, and nothing else.
#[test]
fn a_template_of_a_clone_is_bounded() {
    for (template, expected) in [
        (
            format!("{{{{ {}true }}}}", "not ".repeat(30_000)),
            "words and signs",
        ),
        (
            "{% for a in rules %}{% for b in range(10) %}{% endfor %}{% endfor %}".to_owned(),
            "no functions",
        ),
        (
            format!(
                "{{% set a = \"aaaaaaaaaa\" %}}{}{{{{ a }}}}",
                "{% set a = a ~ a %}".repeat(40)
            ),
            "no `~`",
        ),
        (
            format!(
                "{{% set a = \"aaaaaaaaaa\" %}}{}{{{{ a }}}}",
                r#"{% set a = a|replace("a", "aaaaaaaaaa") %}"#.repeat(40)
            ),
            "too much text",
        ),
        ("{{ task.title[:1001] }}".to_owned(), "needs an end"),
        ("{{ task.title[1:] }}".to_owned(), "needs an end"),
        (
            "{{ task.title|inline }} {{ subtask.titel }}".to_owned(),
            "titel",
        ),
    ] {
        let environment = TestEnvironment::new();
        environment.write(".taskmaster/templates/red.md", &template);
        environment.git(&["add", "--all"]);
        environment.git(&["commit", "--quiet", "--message", "Template"]);
        let started = environment.json(&["autopilot", "start", "1"]);
        // What cannot be known before is told in place of it.
        let told = match started.status {
            0 => environment.json(&["autopilot", "next"]),
            _ => started,
        };
        assert!(told.out.contains(expected), "{expected}: {told:?}");
        let doctor = environment.tm(&["doctor"]);
        assert!(doctor.signal.is_none(), "{doctor:?}");
    }
    // What is copied from a built-in one says the same.
    let said = |own: bool| {
        let environment = TestEnvironment::new();
        let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows/tdd");
        for phase in ["red", "green", "commit", "finalize"] {
            let text = fs::read_to_string(built_in.join(format!("{phase}.md"))).unwrap();
            if own {
                environment.write(&format!(".taskmaster/templates/{phase}.md"), &text);
            }
        }
        environment.git(&["add", "--all"]);
        environment.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "Templates",
        ]);
        environment.json(&["autopilot", "start", "1"]).ok();
        environment.do_subtask("1.1");
        environment.do_subtask("1.2");
        let units = fs::read_to_string(environment.run_folder().join("work-units.json")).unwrap();
        assert!(units.contains("finalize"), "{units}");
        let next = environment.json(&["autopilot", "next"]).ok();
        let project = environment.project().display().to_string();
        next["instructions"]
            .as_str()
            .unwrap()
            .replace(&project, "PROJECT")
    };
    assert_eq!(said(true), said(false));
}

/// What git keeps for itself, and what it ignores, is where secrets are: a clone's settings do not get them into a prompt.
#[test]
fn secrets_beside_the_repository_are_not_read_into_prompts() {
    let environment = TestEnvironment::new();
    environment.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "true"}, "prompts": {"rulesPath": ".git", "loadOrder": ["config", "../.env", "../rules.md"]}}"#,
    );
    environment.write("rules.md", "Be brief.\n");
    environment.git(&[
        "config",
        "remote.origin.url",
        "https://u:TOPSECRET@localhost/x",
    ]);
    environment.write(".gitignore", ".env\n");
    environment.write(".env", "API=HUNTER2\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Rules"]);
    environment.json(&["autopilot", "start", "1"]).ok();
    let next = environment.json(&["autopilot", "next"]);
    assert!(next.out.contains("Be brief."), "{next:?}");
    for secret in ["TOPSECRET", "HUNTER2"] {
        assert!(!next.out.contains(secret), "{next:?}");
    }
    assert!(next.out.contains("git ignores it"), "{next:?}");
}

/// A value that is made of itself does not fill the memory.
#[test]
fn values_do_not_grow_without_end() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".taskmaster/workflows/grow.yaml",
        concat!(
            "tramline: 1\nid: grow\ntitle: Grow\nvars: { a: string }\ninitial: x\nstates:\n",
            "  x: { work: {}, on: { report: { set: { a: \"=vars.a + 'xxxxxxxxxxxxxxxx' + vars.a\" }, to: x }, skip: { to: z } } }\n",
            "  z: { final: completed }\n",
        ),
    );
    environment.json(&["run", "start", "grow"]).ok();
    let refused = (0..40)
        .map(|_| environment.json(&["run", "report"]))
        .find(|report| report.status != 0)
        .unwrap();
    assert_eq!(refused.code(), "definition_fault", "{refused:?}");
}
