//! The hook in the clients' settings, and its trial.

use std::fs;

use serde_json::Value;

use super::environment::TestEnvironment;

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
    for (client, file) in FILES {
        let environment = TestEnvironment::new();
        let path = environment.project().join(file);
        environment.tm(&["init", "--client", client, "--yes", "--json"]);
        let hooks = || fs::read_to_string(&path).is_ok_and(|text| text.contains("tm hook"));
        assert!(!hooks(), "{client}: only on request");
        let print = environment.tm(&["init", "--client", client, "--hook", "--print"]);
        assert!(print.contains(file) && !hooks(), "{print}");
        environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
        let text = fs::read_to_string(&path).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        assert!(settings["hooks"].as_object().unwrap().len() >= 3, "{text}");
        let again = environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
        assert!(again.contains("\"changes\":[]"), "{again}");
        let gone = environment.tm(&["init", "--remove", "--hook", "--yes", "--json"]);
        assert!(!hooks(), "{gone}");
        environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
        environment.tm(&["init", "--remove", "--client", client, "--yes", "--json"]);
        assert!(!path.exists());
        assert!(!path.parent().unwrap().join("mcp.json").exists());
    }
}

#[test]
fn a_plugin_comes_and_goes_and_stays_where_somebody_changed_it() {
    let (client, file) = PLUGIN;
    let environment = TestEnvironment::new();
    let path = environment.project().join(file);
    environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"hook\", \"opencode\""), "{text}");
    let again = environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
    assert!(again.contains("\"changes\":[]"), "{again}");
    environment.tm(&["init", "--remove", "--hook", "--yes", "--json"]);
    assert!(!path.exists());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("{text}// mine\n")).unwrap();
    environment.tm(&["init", "--client", client, "--hook", "--yes", "--json"]);
    environment.tm(&["init", "--remove", "--yes", "--json"]);
    assert!(path.exists(), "what somebody changed is theirs");
}

#[test]
fn hooks_that_two_clients_call_stay_for_the_other() {
    let environment = TestEnvironment::new();
    let path = environment.project().join(".github/hooks/tramline.json");
    environment.tm(&["init", "--client", "copilot,vscode", "--hook", "--yes"]);
    environment.tm(&["init", "--remove", "--client", "vscode", "--yes"]);
    assert!(path.exists(), "Copilot calls it");
    environment.tm(&["init", "--remove", "--client", "copilot", "--yes"]);
    assert!(!path.exists());
}

#[test]
fn what_is_there_stays() {
    let environment = TestEnvironment::new();
    let text = "{\n  // mine\n  \"permissions\": { \"allow\": [] },\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [{ \"type\": \"command\", \"command\": \"audit\" }]\n      }\n    ]\n  }\n}\n";
    environment.write(".claude/settings.json", text);
    environment.tm(&["init", "--client", "claude-code", "--hook", "--yes"]);
    let with = fs::read_to_string(environment.project().join(".claude/settings.json")).unwrap();
    assert!(with.contains("// mine") && with.contains("audit"), "{with}");
    assert_eq!(
        with.matches("\"{ tm hook claude-code; exit 0; }\"").count(),
        3,
        "{with}"
    );
    environment.tm(&["init", "--remove", "--yes"]);
    let left = fs::read_to_string(environment.project().join(".claude/settings.json")).unwrap();
    assert_eq!(left, text);
}

#[test]
fn a_hook_without_a_client_is_a_mistake() {
    let environment = TestEnvironment::new();
    let output = environment
        .program(&["init", "--hook", "--yes"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = environment.tm(&["init", "--client", "zed", "--hook", "--yes"]);
    assert!(told.contains("calls no hook"), "{told}");
}

#[test]
fn the_trial_tries_every_client_and_looks_at_the_settings() {
    let environment = TestEnvironment::new();
    let answer: Value =
        serde_json::from_str(&environment.tm(&["hook", "--self-test", "--json"])).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(answer["tried"].as_array().unwrap().len(), 213);
    assert_eq!(answer["installed"].as_array().unwrap().len(), 0);

    environment.write(
        ".cursor/hooks.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"command": "{ /no/such/tm hook cursor; exit 0; }"}]}}"#,
    );
    let output = environment
        .program(&["hook", "cursor", "--self-test", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["tried"].as_array().unwrap().len(), 32);
    let found = &answer["installed"][0];
    assert_eq!(found["ok"], false);
    assert!(
        found["message"].as_str().unwrap().contains("/no/such/tm"),
        "{found}"
    );
}
