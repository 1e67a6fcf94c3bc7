//! What people wrote into files that `tm init` writes to: their part of our entry, and examples of it.

use std::fs;

use serde_json::json;

use super::{contents, init, read};
use crate::program::environment::TestEnvironment;

#[test]
fn what_its_user_put_into_the_entry_stays() {
    let environment = TestEnvironment::bare();
    environment.write(
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"tramline\": {\n      \"command\": \"/opt/tm\",\n      \"env\": { \"A\": \"1\" } // mine\n    }\n  }\n}\n",
    );
    environment.write(
        ".codex/config.toml",
        "model = \"x\"\n\n[mcp_servers.tramline]\ncommand = \"/opt/tm\"\nstartup_timeout_sec = 20\n\n[mcp_servers.tramline.env]\nA = \"1\"\n",
    );
    environment.write(
        "opencode.json",
        "{\"mcp\": {\"tramline\": {\"type\": \"local\", \"command\": [\"/opt/tm\", \"mcp\"], \"enabled\": false, \"timeout\": 5}}}",
    );
    let clients = "claude-code,codex,opencode";
    let answer = init(&environment, &["--client", clients]);
    let diff = answer["changes"][1]["diff"].as_str().unwrap();
    assert!(!diff.contains("\n-      \"command\""), "{diff}");
    assert_eq!(
        read(&environment, ".mcp.json"),
        "{\n  \"mcpServers\": {\n    \"tramline\": {\n      \"command\": \"/opt/tm\",\n      \"env\": { \"A\": \"1\" }, // mine\n      \"args\": [\"mcp\", \"--tools\", \"autopilot,review,collab\"]\n    }\n  }\n}\n"
    );
    assert_eq!(
        read(&environment, ".codex/config.toml"),
        "model = \"x\"\n\n[mcp_servers.tramline]\ncommand = \"/opt/tm\"\nstartup_timeout_sec = 20\nargs = [\"mcp\", \"--tools\", \"autopilot,review,collab\"]\nenv_vars = [\"TRAMLINE_HOME\", \"TASKMASTER_TAG\", \"GIT_AUTHOR_NAME\", \"GIT_AUTHOR_EMAIL\", \"GIT_COMMITTER_NAME\", \"GIT_COMMITTER_EMAIL\", \"SSH_AUTH_SOCK\"]\ntool_timeout_sec = 3600\n\n[mcp_servers.tramline.env]\nA = \"1\"\n"
    );
    assert_eq!(
        read(&environment, "opencode.json"),
        "{\"mcp\": {\"tramline\": {\"type\": \"local\", \"command\": [\"/opt/tm\", \"mcp\"], \"enabled\": false, \"timeout\": 5}}}",
        "without the option all groups are served"
    );
    let again = init(&environment, &["--client", clients]);
    assert_eq!(again["changes"], json!([]), "{again}");

    init(&environment, &["--remove"]);
    let left = contents(&environment);
    assert_eq!(
        left[".codex/config.toml"].as_deref(),
        Some(&b"model = \"x\"\n"[..])
    );
    assert_eq!(
        left["opencode.json"].as_deref(),
        Some(&b"{\"mcp\": {}}"[..])
    );
}

#[test]
fn an_entry_that_calls_an_address_is_left_alone() {
    let environment = TestEnvironment::bare();
    for (client, file, text) in [
        (
            "claude-code",
            ".mcp.json",
            "{\"mcpServers\": {\"tramline\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:7000/mcp\"}}}",
        ),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers.tramline.url = \"http://127.0.0.1:7000/mcp\"\n",
        ),
    ] {
        environment.write(file, text);
        let answer = init(&environment, &["--client", client]);
        assert_eq!(read(&environment, file), text);
        let note = answer["notes"][0].as_str().unwrap();
        assert_eq!(
            note,
            format!("{file} stays as it is: its entry `tramline` calls a server by its address")
        );
    }
}

#[test]
fn tables_of_the_entry_alone_do_no_harm() {
    for (text, left) in [
        ("[mcp_servers.tramline.env]\nA=\"1\"\n", None),
        (
            "[mcp_servers.tramline.tools.a]\r\nb = 1\r\n[z]\r\n[mcp_servers.tramline.env]\r\nA = 1\r\n",
            Some("[z]\r\n"),
        ),
    ] {
        let environment = TestEnvironment::bare();
        environment.write(".codex/config.toml", text);
        init(&environment, &["--client", "codex"]);
        let with = read(&environment, ".codex/config.toml");
        assert!(with.starts_with(text), "{with}");
        assert!(with.contains("[mcp_servers.tramline]"), "{with}");
        init(&environment, &["--remove"]);
        let found = fs::read_to_string(environment.project().join(".codex/config.toml")).ok();
        assert_eq!(found.as_deref(), left);

        environment.write(".codex/config.toml", text);
        init(&environment, &["--remove", "--client", "cursor"]);
        assert_eq!(read(&environment, ".codex/config.toml"), text);
        init(&environment, &["--remove"]);
    }
}

#[test]
fn an_example_in_code_is_not_the_instructions() {
    let environment = TestEnvironment::bare();
    let text = "# Rules\n\nThey begin so:\n\n```markdown\n<!-- tramline:begin -->\nwords\n<!-- tramline:end -->\n```\n";
    environment.write("CLAUDE.md", text);
    let before = contents(&environment);
    init(&environment, &["--client", "claude-code"]);
    let with = read(&environment, "CLAUDE.md");
    assert!(
        with.starts_with(text) && with.contains("## Tramline"),
        "{with}"
    );
    let again = init(&environment, &["--client", "claude-code"]);
    assert_eq!(again["changes"], json!([]), "{again}");
    init(&environment, &["--remove"]);
    assert_eq!(contents(&environment), before);
}
