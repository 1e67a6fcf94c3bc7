//! The hook in the clients' settings, and its trial.

use serde_json::Value;

use super::environment::repository;

const FILES: [(&str, &str); 7] = [
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("cursor", ".cursor/hooks.json"),
    ("copilot", ".github/hooks/tramline.json"),
    ("vscode", ".github/hooks/tramline.json"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
];

/// What opencode loads is a program, and no list.
const PLUGIN: (&str, &str) = ("opencode", ".opencode/plugin/tramline.js");

#[test]
fn it_comes_on_request_and_goes_without_a_trace() {
    for (client, file) in FILES.into_iter().chain([PLUGIN]) {
        let environment = repository();
        let init = |words: &str| environment.does(&format!("init {words} --yes"));
        let path = environment.project().join(file);
        let with_hook = format!("--client {client} --hook");
        init(&format!("--client {client}"));
        assert!(
            !path.exists() || !environment.read(file).contains("hook"),
            "{client}"
        );
        let print = environment
            .does(&format!("init {with_hook} --print"))
            .to_string();
        assert!(print.contains(file), "{print}");
        init(&with_hook);
        let text = environment.read(file);
        if client == PLUGIN.0 {
            assert!(text.contains("\"hook\", \"opencode\""), "{text}");
        } else {
            let settings: Value = serde_json::from_str(&text).unwrap();
            assert!(settings["hooks"].as_object().unwrap().len() >= 3, "{text}");
        }
        assert_eq!(
            init(&with_hook)["changes"],
            serde_json::json!([]),
            "{client}"
        );
        init("--remove --hook");
        assert!(!path.exists() || !environment.read(file).contains("tm hook"));
        init(&with_hook);
        init(&format!("--remove --client {client}"));
        assert!(!path.exists(), "{client}");
        assert!(!path.parent().unwrap().join("mcp.json").exists());
    }
}

#[test]
fn what_somebody_changed_or_another_client_calls_stays() {
    let (client, file) = PLUGIN;
    let environment = repository();
    let init = format!("init --client {client} --hook --yes");
    environment.does(&init);
    environment.write(file, environment.read(file) + "// mine\n");
    environment.does(&init);
    environment.does("init --remove --yes");
    assert!(environment.read(file).ends_with("// mine\n"));

    let path = environment.project().join(".github/hooks/tramline.json");
    environment.does("init --client copilot,vscode --hook --yes");
    environment.does("init --remove --client vscode --yes");
    assert!(path.exists(), "Copilot calls it");
    environment.does("init --remove --client copilot --yes");
    assert!(!path.exists());
    // A hook without a client is a mistake.
    assert_eq!(environment.json(&["init", "--hook", "--yes"]).status, 2);
}

#[test]
fn the_trial_tries_every_client_and_looks_at_the_settings() {
    testkit::by_chance!(3);
    let environment = repository();
    let tried = |words: &[&str], status: i32| {
        let answer = environment.json(words).json_with(status);
        let count = |name: &str| answer[name].as_array().unwrap().len();
        let counts = (answer["ok"].clone(), count("tried"), count("installed"));
        (counts, answer["installed"][0].clone())
    };
    let (counts, _) = tried(&["hook", "--self-test"], 0);
    assert_eq!(counts, (true.into(), 213, 0));

    let hook = r#"{"command": "{ /no/such/tm hook cursor; exit 0; }"}"#;
    let hooks = format!(r#"{{"version": 1, "hooks": {{"preToolUse": [{hook}]}}}}"#);
    environment.write(".cursor/hooks.json", hooks);
    let (counts, found) = tried(&["hook", "cursor", "--self-test"], 1);
    assert_eq!(counts, (false.into(), 32, 1));
    assert_eq!(found["ok"], false);
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("/no/such/tm"), "{found}");
}
