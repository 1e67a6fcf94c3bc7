//! `tm init`: what it writes, that it asks before, and that it leaves no trace when it is taken back.

mod refusals;
mod theirs;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::program::environment::TestEnvironment;
use crate::program::terminal::at_terminal;

const CLIENTS: [&str; 9] = [
    "claude-code",
    "cursor",
    "codex",
    "vscode",
    "gemini",
    "copilot",
    "opencode",
    "qwen",
    "zed",
];

/// Every file and folder of a project but git's own, with what is in it.
fn contents(environment: &TestEnvironment) -> BTreeMap<String, Option<Vec<u8>>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if name == ".git" {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                found.insert(name, None);
                walk(root, &path, found);
            } else {
                found.insert(name, Some(fs::read(&path).unwrap_or_default()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&environment.project(), &environment.project(), &mut found);
    found
}

fn read(environment: &TestEnvironment, file: &str) -> String {
    fs::read_to_string(environment.project().join(file)).unwrap()
}

fn json_of(environment: &TestEnvironment, file: &str) -> Value {
    serde_json::from_str(&read(environment, file)).unwrap()
}

/// `tm init` with these arguments, unasked; its answer.
fn init(environment: &TestEnvironment, arguments: &[&str]) -> Value {
    let mut all = vec!["init", "--yes", "--json"];
    all.extend(arguments);
    environment.tm(&all).json_with(0)
}

fn files(answer: &Value) -> Vec<(&str, &str)> {
    answer["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            (
                change["file"].as_str().unwrap(),
                change["kind"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn each_client_comes_and_goes_without_a_trace() {
    for client in CLIENTS {
        let environment = TestEnvironment::bare();
        environment.write("README.md", "words\n");
        let before = contents(&environment);
        let answer = init(&environment, &["--client", client]);
        assert_eq!(answer["written"], true);
        assert_eq!(files(&answer).len(), 3, "{client}: {answer}");
        assert!(files(&answer).iter().all(|(_, kind)| *kind == "create"));
        assert_eq!(files(&answer)[0], (".taskmaster/config.json", "create"));

        let with = contents(&environment);
        let again = init(&environment, &["--client", client]);
        assert_eq!(again["changes"], json!([]), "{client}: {again}");
        assert_eq!(again["written"], false);
        assert_eq!(contents(&environment), with);

        let removed = init(&environment, &["--remove"]);
        assert_eq!(files(&removed).len(), 3, "{client}: {removed}");
        assert_eq!(contents(&environment), before, "{client}");
        let nothing = init(&environment, &["--remove"]);
        assert_eq!(nothing["changes"], json!([]));
    }
}

#[test]
fn settings_of_the_users_own_come_back_to_the_byte() {
    for (client, file, text) in [
        (
            "claude-code",
            ".claude/settings.json",
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
        ),
        ("claude-code", ".claude/settings.json", "{\"hooks\": {}}\n"),
        (
            "codex",
            ".codex/hooks.json",
            "{ \"hooks\": {\"Stop\": [ {} ]} }",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {}, \"hooks\": {}}",
        ),
    ] {
        let environment = TestEnvironment::bare();
        environment.write(file, text);
        let before = contents(&environment);
        init(&environment, &["--client", client]);
        init(&environment, &["--client", client, "--hook"]);
        assert_ne!(contents(&environment), before);
        let removed = init(&environment, &["--remove"]);
        assert_eq!(contents(&environment), before, "{client}: {removed:#}");
    }
}

#[test]
fn all_clients_at_once_share_what_they_share() {
    let environment = TestEnvironment::new();
    let before = contents(&environment);
    let answer = init(&environment, &["--client", &CLIENTS.join(",")]);
    let words: Vec<&str> = files(&answer)
        .into_iter()
        .map(|(file, _)| file)
        .filter(|file| {
            !Path::new(file)
                .extension()
                .is_some_and(|ending| ending == "json" || ending == "toml")
        })
        .collect();
    assert_eq!(
        words,
        [
            "CLAUDE.md",
            ".cursor/rules/tramline.mdc",
            "AGENTS.md",
            ".github/copilot-instructions.md",
            "GEMINI.md",
            "QWEN.md"
        ]
    );
    let again = init(&environment, &["--client", &CLIENTS.join(",")]);
    assert_eq!(again["changes"], json!([]), "{again}");
    // The environment's own settings are no work of `tm init`.
    let removed = init(&environment, &["--remove"]);
    assert!(
        removed["notes"][0]
            .as_str()
            .unwrap()
            .starts_with(".taskmaster/config.json stays"),
        "{removed}"
    );
    assert_eq!(contents(&environment), before);
}

#[test]
fn every_client_finds_its_server_where_it_looks() {
    let environment = TestEnvironment::bare();
    init(&environment, &["--client", &CLIENTS.join(",")]);
    let plain = json!({"command": "tm", "args": ["mcp", "--tools", "autopilot,review,collab"]});
    for (file, place, expected) in [
        (".mcp.json", "/mcpServers/tramline", plain.clone()),
        (".cursor/mcp.json", "/mcpServers/tramline", plain.clone()),
        (
            ".gemini/settings.json",
            "/mcpServers/tramline",
            json!({"command": "tm", "args": ["mcp", "--tools", "autopilot,review,collab"], "timeout": 3_600_000}),
        ),
        (".zed/settings.json", "/context_servers/tramline", plain),
        (
            ".vscode/mcp.json",
            "/servers/tramline",
            json!({"type": "stdio", "command": "tm", "args": ["mcp", "--tools", "autopilot,review,collab"]}),
        ),
        (
            ".github/mcp.json",
            "/mcpServers/tramline",
            json!({"type": "local", "command": "tm", "args": ["mcp", "--tools", "autopilot,review,collab"], "tools": ["*"]}),
        ),
        (
            "opencode.json",
            "/mcp/tramline",
            json!({"type": "local", "command": ["tm", "mcp", "--tools", "autopilot,review,collab"], "enabled": true, "timeout": 3_600_000}),
        ),
    ] {
        assert_eq!(
            json_of(&environment, file).pointer(place),
            Some(&expected),
            "{file}"
        );
    }
    assert_eq!(
        read(&environment, ".codex/config.toml"),
        "[mcp_servers.tramline]\ncommand = \"tm\"\nargs = [\"mcp\", \"--tools\", \"autopilot,review,collab\"]\nenv_vars = [\"TRAMLINE_HOME\", \"TASKMASTER_TAG\", \"GIT_AUTHOR_NAME\", \"GIT_AUTHOR_EMAIL\", \"GIT_COMMITTER_NAME\", \"GIT_COMMITTER_EMAIL\", \"SSH_AUTH_SOCK\"]\ntool_timeout_sec = 3600\n"
    );
    // What was made is settings that tm can use.
    environment.tm(&["config", "show", "--json"]).json_with(0);
}

#[test]
fn files_that_are_there_keep_every_byte_of_theirs() {
    let environment = TestEnvironment::bare();
    for (file, text) in [
        (
            ".mcp.json",
            "{\r\n\t// ours\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // mine\r\n\t},\r\n}",
        ),
        (".cursor/mcp.json", "\u{feff}{}"),
        (".cursor/rules/tramline.mdc", ""),
        (
            ".codex/config.toml",
            "# mine\nmcp_servers = { a = { command = \"x\" } } # all\nmodel = \"y\"",
        ),
        (".vscode/mcp.json", "// nothing yet\n"),
        (".gemini/settings.json", ""),
        (".github/mcp.json", "{ \"mcpServers\": { } }\n"),
        (
            "opencode.jsonc",
            "{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": {\"type\": \"local\", \"command\": [\"x\"]},\n    },\n  },\n}\n",
        ),
        (".zed/settings.json", "{\n  \"tab_size\": 4\n}\n"),
        ("CLAUDE.md", "# Rules\r\n\r\n- one"),
        (".rules", "\n"),
        ("AGENTS.md", "# Agents\n\n\n"),
        (".taskmaster/config.json", "{}"),
    ] {
        environment.write(file, text);
    }
    fs::set_permissions(
        environment.project().join("CLAUDE.md"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    let before = contents(&environment);
    let answer = init(&environment, &["--client", &CLIENTS.join(",")]);
    assert!(
        !files(&answer)
            .iter()
            .any(|(file, _)| *file == "opencode.json"),
        "{answer}"
    );
    let with = read(&environment, "CLAUDE.md");
    assert!(with.starts_with("# Rules\r\n\r\n- one\r\n\r\n<!-- tramline:begin -->\r\n"));
    assert!(read(&environment, ".rules").contains("tramline:begin"));
    assert!(
        read(&environment, "opencode.jsonc")
            .contains("\"a\": {\"type\": \"local\", \"command\": [\"x\"]},\n      \"tramline\": {")
    );
    let mode = fs::metadata(environment.project().join("CLAUDE.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let again = init(&environment, &["--client", &CLIENTS.join(",")]);
    assert_eq!(again["changes"], json!([]), "{again}");
    init(&environment, &["--remove"]);
    assert_eq!(contents(&environment), before);
}

#[test]
fn nothing_is_written_where_nobody_can_be_asked() {
    let environment = TestEnvironment::bare();
    let before = contents(&environment);
    let plain = environment.tm(&["init", "--client", "codex"]);
    assert_eq!(plain.status, 3, "{plain:?}");
    assert!(plain.out.contains("+++ b/.codex/config.toml"), "{plain:?}");
    assert!(plain.out.contains("+[mcp_servers.tramline]"), "{plain:?}");
    assert!(
        plain.err.contains("tm init --client codex --yes"),
        "{plain:?}"
    );
    let error = environment
        .tm(&["init", "--client", "codex", "--json"])
        .json_with(3);
    assert_eq!(error["error"]["code"], "needs_confirmation");
    assert_eq!(error["error"]["recovery"], "tm init --client codex --yes");
    assert_eq!(files(&error["error"]["details"]).len(), 3, "{error}");
    assert_eq!(contents(&environment), before);

    let printed = environment.tm(&["init", "--client", "codex", "--print"]);
    assert!(
        printed
            .text()
            .contains("3 files would be written; nothing was"),
        "{printed:?}"
    );
    assert!(!printed.out.contains('\u{1b}'));
    let printed = environment
        .tm(&["init", "--client", "codex", "--print", "--json"])
        .json_with(0);
    assert_eq!(printed["written"], false);
    assert_eq!(
        printed["changes"][1]["diff"],
        "--- /dev/null\n+++ b/.codex/config.toml\n@@ -0,0 +1,5 @@\n+[mcp_servers.tramline]\n+command = \"tm\"\n+args = [\"mcp\", \"--tools\", \"autopilot,review,collab\"]\n+env_vars = [\"TRAMLINE_HOME\", \"TASKMASTER_TAG\", \"GIT_AUTHOR_NAME\", \"GIT_AUTHOR_EMAIL\", \"GIT_COMMITTER_NAME\", \"GIT_COMMITTER_EMAIL\", \"SSH_AUTH_SOCK\"]\n+tool_timeout_sec = 3600\n"
    );
    assert_eq!(contents(&environment), before);
    let both = environment.tm(&["init", "--print", "--yes", "--json"]);
    assert_eq!(both.json_with(2)["error"]["code"], "usage");
    let unknown = environment.tm(&["init", "--client", "emacs", "--json"]);
    let mut known = CLIENTS.to_vec();
    known.insert(8, "cline");
    assert_eq!(unknown.json_with(2)["error"]["expected"], json!(known));
}

#[test]
fn a_person_is_asked_once() {
    let environment = TestEnvironment::bare();
    let arguments = ["init", "--client", "claude-code"];
    for lines in ["n\n", ""] {
        let (status, shown) = at_terminal(&environment, &arguments, lines, false);
        assert_eq!(status, 3, "{shown}");
        assert!(shown.contains("Write 3 files? [Y/n]"), "{shown}");
        assert!(contents(&environment).is_empty());
    }
    let (status, shown) = at_terminal(&environment, &arguments, "\n", true);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("\u{1b}[32m+## Tramline"), "{shown}");
    assert!(shown.contains("CLAUDE.md made"), "{shown}");
    assert_eq!(contents(&environment).len(), 4);
    let (status, shown) = at_terminal(&environment, &arguments, "", false);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("nothing to do"), "{shown}");

    // What is taken away needs a plain yes.
    let (status, shown) = at_terminal(&environment, &["init", "--remove"], "\n", false);
    assert_eq!(status, 3, "{shown}");
    assert!(shown.contains("Write 3 files? [y/N]"), "{shown}");
    let (status, _) = at_terminal(&environment, &["init", "--remove"], "y\n", false);
    assert_eq!(status, 0);
    assert!(contents(&environment).is_empty());
}

#[test]
fn hostile_content_does_not_reach_the_terminal() {
    let environment = TestEnvironment::bare();
    environment.write("CLAUDE.md", "# Rules \u{1b}]0;gone\u{7}\u{202e}\n");
    let (status, shown) = at_terminal(
        &environment,
        &["init", "--client", "claude-code"],
        "n\n",
        false,
    );
    assert_eq!(status, 3);
    assert!(
        !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{shown:?}"
    );
}

#[test]
fn without_a_client_it_says_which_are_in_use() {
    let environment = TestEnvironment::new();
    fs::create_dir(environment.project().join(".cursor")).unwrap();
    environment.write("CLAUDE.md", "rules\n");
    let answer = init(&environment, &[]);
    assert_eq!(answer["changes"], json!([]), "the settings are there");
    assert_eq!(
        answer["found"],
        json!([
            {"client": "claude-code", "command": "tm init --client claude-code"},
            {"client": "cursor", "command": "tm init --client cursor"},
        ])
    );
    let plain = environment.tm(&["init"]);
    assert!(
        plain.text().contains("-> tm init --client cursor\n"),
        "{plain:?}"
    );
    init(&environment, &["--client", "cursor"]);
    let answer = init(&environment, &[]);
    assert_eq!(answer["found"][0]["client"], "claude-code");
    assert_eq!(answer["found"].as_array().unwrap().len(), 1);
}

#[test]
fn alone_it_asks_for_what_it_needs() {
    let environment = TestEnvironment::bare();
    environment.write("CLAUDE.md", "rules\n");
    let lines = "emacs\n\n\nsh run.sh && true\nsh run.sh\ny\n";
    let (status, shown) = at_terminal(&environment, &["init"], lines, false);
    assert_eq!(status, 0, "{shown}");
    for told in [
        "Which agents work here? Of claude-code, cursor,",
        "[claude-code]",
        "That is none of them.",
        "What runs the tests",
        "write `sh -c 'sh run.sh && true'`",
        "Write 4 files? [Y/n]",
        "Now say to your agent",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let settings: Value =
        serde_json::from_str(&read(&environment, ".taskmaster/config.json")).unwrap();
    assert_eq!(settings["test"]["command"], "sh run.sh");
    assert!(read(&environment, ".mcp.json").contains("\"tm\""));
    assert!(read(&environment, ".claude/settings.json").contains("tm hook"));
    // Nobody there: nothing is asked, and everything that would be is an option.
    let environment = TestEnvironment::bare();
    init(
        &environment,
        &["--client", "cursor", "--test-command", "npm test"],
    );
    let settings: Value =
        serde_json::from_str(&read(&environment, ".taskmaster/config.json")).unwrap();
    assert_eq!(settings["test"]["command"], "npm test");
}

#[test]
fn a_changed_entry_is_shown_and_set_right() {
    let environment = TestEnvironment::bare();
    init(&environment, &["--client", "claude-code"]);
    let text = read(&environment, ".mcp.json");
    environment.write(".mcp.json", text.replace("\"tm\"", "\"my-tm\""));
    let answer = init(&environment, &["--client", "claude-code"]);
    assert_eq!(files(&answer), [(".mcp.json", "change")]);
    let diff = answer["changes"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("-      \"command\": \"my-tm\""), "{diff}");
    assert!(diff.contains("+      \"command\": \"tm\""), "{diff}");
    assert_eq!(read(&environment, ".mcp.json"), text);
}

#[test]
fn one_client_goes_and_leaves_what_others_need() {
    let environment = TestEnvironment::bare();
    init(&environment, &["--client", "codex,opencode,cursor"]);
    let answer = init(&environment, &["--remove", "--client", "codex"]);
    assert_eq!(files(&answer), [(".codex/config.toml", "remove")]);
    assert_eq!(
        answer["notes"][0],
        "AGENTS.md stays as it is: opencode reads it too"
    );
    assert!(!environment.project().join(".codex").exists());
    let answer = init(&environment, &["--remove", "--client", "opencode"]);
    assert_eq!(
        files(&answer),
        [("opencode.json", "remove"), ("AGENTS.md", "remove")]
    );
    let left: Vec<String> = contents(&environment).into_keys().collect();
    assert_eq!(
        left,
        [
            ".cursor",
            ".cursor/mcp.json",
            ".cursor/rules",
            ".cursor/rules/tramline.mdc",
            ".taskmaster",
            ".taskmaster/config.json"
        ]
    );
}

#[test]
fn the_project_is_found_as_elsewhere() {
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.project().join("deep/er")).unwrap();
    let mut command = environment.program(&["init", "--client", "zed", "--yes", "--json"]);
    command.current_dir(environment.project().join("deep/er"));
    assert!(command.output().unwrap().status.success());
    assert!(environment.project().join(".zed/settings.json").exists());
    assert!(!environment.project().join("deep/er/.zed").exists());

    let other = TestEnvironment::bare();
    let path = other.project();
    let path = path.to_str().unwrap();
    let error = environment
        .tm(&["init", "--client", "zed", "--project-root", path, "--json"])
        .json_with(3);
    let recovery = error["error"]["recovery"].as_str().unwrap();
    assert_eq!(
        recovery,
        format!("tm init --project-root {path} --client zed --yes")
    );
    let words: Vec<&str> = recovery.split(' ').skip(1).collect();
    environment.tm(&words).text();
    assert!(other.project().join(".zed/settings.json").exists());

    let error = environment
        .tm(&["init", "--project-root", "no/such", "--json"])
        .json_with(4);
    assert_eq!(error["error"]["code"], "no_project");
    // The home is where runs are kept.
    let home = environment.home();
    fs::create_dir_all(home.join(".taskmaster")).unwrap();
    let error = environment
        .tm(&[
            "init",
            "--yes",
            "--json",
            "--project-root",
            home.to_str().unwrap(),
        ])
        .json_with(4);
    assert_eq!(error["error"]["code"], "no_project");
    assert!(!home.join(".taskmaster/config.json").exists());
}

#[test]
fn in_a_package_of_a_monorepo_it_names_the_folder_and_takes_all_back() {
    let environment = TestEnvironment::new();
    fs::remove_dir_all(environment.project().join(".taskmaster")).unwrap();
    environment.write("packages/a/package.json", "{}\n");
    environment.write("AGENTS.md", "rules without a line end");
    let before = contents(&environment);
    let top = format!("{}/", environment.project().display());
    let package = environment.project().join("packages/a");
    let here = |arguments: &[&str]| {
        let mut command = environment.program(&[&["init"], arguments].concat());
        let output = command.current_dir(&package).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let command = ["--test-command", "npm test"];
    let arguments = [["--client", "codex"], command, ["--yes", "--hook"]].concat();
    for at_the_top in [false, true] {
        let shown = here(&arguments);
        for file in [".taskmaster/config.json", ".codex/config.toml", "AGENTS.md"] {
            assert!(shown.contains(&format!("{top}{file}")), "{file}: {shown}");
        }
        if at_the_top {
            let answer = init(&environment, &["--remove"]);
            assert!(answer.get("below").is_none(), "{answer}");
        } else {
            let answer: Value =
                serde_json::from_str(&here(&["--remove", "--yes", "--json"])).unwrap();
            assert_eq!(answer["below"], *top);
        }
        assert_eq!(contents(&environment), before);
    }
    // What its user wrote into the settings is theirs.
    here(&arguments);
    let settings = ".taskmaster/config.json";
    let theirs =
        read(&environment, settings).replace("\"maxGreenAttempts\": 3", "\"maxGreenAttempts\": 4");
    environment.write(settings, &theirs);
    here(&["--remove", "--yes"]);
    assert_eq!(read(&environment, settings), theirs);
}

#[test]
fn broken_files_that_are_not_ours_do_not_stand_in_the_way() {
    let environment = TestEnvironment::bare();
    init(&environment, &["--client", "claude-code"]);
    environment.write(".zed/settings.json", "{ broken");
    environment.write(".codex/config.toml", "= broken");
    init(&environment, &["--client", "claude-code"]);
    let answer = init(&environment, &["--remove"]);
    assert_eq!(files(&answer).len(), 3, "{answer}");
}

#[test]
fn what_is_no_file_of_ours_is_passed_over() {
    let environment = TestEnvironment::bare();
    // A folder of rules that one client reads, and another looks for as a file.
    environment.write(".clinerules/one.md", "rules\n");
    let home = environment.home();
    fs::write(home.join("tramline.md"), "tramline\n").unwrap();
    symlink(
        home.join("tramline.md"),
        environment.project().join("GEMINI.md"),
    )
    .unwrap();
    let before = contents(&environment);
    let answer = init(&environment, &["--client", "zed"]);
    assert_eq!(files(&answer)[2], ("AGENTS.md", "create"));
    // Now Zed reads another file, which another client needs.
    init(&environment, &["--client", "vscode"]);
    let answer = init(&environment, &["--remove", "--client", "zed"]);
    assert_eq!(
        files(&answer),
        [(".zed/settings.json", "remove"), ("AGENTS.md", "remove")]
    );
    assert_eq!(
        answer["notes"],
        json!([".github/copilot-instructions.md stays as it is: vscode reads it too"])
    );
    let answer = init(&environment, &[]);
    assert_eq!(answer["found"][0]["client"], "gemini");
    assert_eq!(answer["found"].as_array().unwrap().len(), 1, "{answer}");
    init(&environment, &["--remove"]);
    assert_eq!(contents(&environment), before);
}

#[test]
fn the_document_shows_what_is_written() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let document = fs::read_to_string(document).unwrap();
    for client in CLIENTS {
        let environment = TestEnvironment::bare();
        let answer = init(&environment, &["--client", client]);
        let section = document
            .split("\n## ")
            .find(|section| section.contains(&format!("tm init --client {client}\n")))
            .unwrap_or_else(|| panic!("{client} has no section"));
        for (file, _) in files(&answer).into_iter().skip(1) {
            assert!(section.contains(&format!("`{file}`")), "{client}: {file}");
        }
        let servers = files(&answer)[1].0;
        let block = format!("\n{}```", read(&environment, servers));
        assert!(section.contains(&block), "{client}: {block}");
    }
    let environment = TestEnvironment::bare();
    init(&environment, &["--client", "claude-code,cursor"]);
    for file in [
        "CLAUDE.md",
        ".cursor/rules/tramline.mdc",
        ".taskmaster/config.json",
    ] {
        let block = format!("\n{}````", read(&environment, file));
        assert!(document.contains(&block), "{file}: {block}");
    }
}

#[test]
fn the_user_s_own_settings_hold_the_server_alone() {
    let environment = TestEnvironment::new();
    let before = contents(&environment);
    let home = environment.home();
    fs::write(home.join(".claude.json"), "{\n  \"mine\": 1\n}\n").unwrap();
    let all = CLIENTS.join(",");
    let answer = init(&environment, &["--user", "--client", &all]);
    assert!(
        answer["notes"][0].as_str().unwrap().contains("vscode"),
        "{answer}"
    );
    for file in [
        ".claude.json",
        ".cursor/mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".copilot/mcp-config.json",
        ".config/opencode/opencode.json",
        ".config/zed/settings.json",
    ] {
        let text = fs::read_to_string(home.join(file)).unwrap();
        assert!(text.contains("tramline"), "{file}: {text}");
    }
    assert_eq!(contents(&environment), before, "the project is left alone");
    init(&environment, &["--user", "--remove", "--client", &all]);
    assert_eq!(
        fs::read_to_string(home.join(".claude.json")).unwrap(),
        "{\n  \"mine\": 1\n}\n"
    );
    assert!(!home.join(".cursor").exists());
}

/// Cline reads its servers from its user's settings alone, and its instructions from the project.
#[test]
fn a_client_without_a_file_of_servers_in_the_project_has_its_entry_in_the_user_s() {
    let environment = TestEnvironment::bare();
    let file = ".cline/data/settings/cline_mcp_settings.json";
    let path = environment.home().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mine = "{\n  \"mcpServers\": { \"mine\": { \"command\": \"x\" } }\n}\n";
    fs::write(&path, mine).unwrap();
    let before = contents(&environment);

    let answer = init(&environment, &["--client", "cline"]);
    let words: Vec<&str> = files(&answer).iter().map(|(file, _)| *file).collect();
    assert_eq!(words, [".taskmaster/config.json", "AGENTS.md"]);
    let note = answer["notes"].to_string();
    assert!(note.contains("tm init --user --client cline"), "{note}");
    assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    init(&environment, &["--user", "--client", "cline"]);
    let with = fs::read_to_string(&path).unwrap();
    assert!(with.contains("autopilot,review,collab"), "{with}");
    // Another client that leaves takes nothing from it.
    init(&environment, &["--client", "codex"]);
    let left = init(&environment, &["--remove", "--client", "codex"]);
    let notes = left["notes"].to_string();
    assert!(notes.contains("cline reads it too"), "{notes}");

    init(&environment, &["--user", "--remove", "--client", "cline"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    init(&environment, &["--remove"]);
    assert_eq!(contents(&environment), before);
}
