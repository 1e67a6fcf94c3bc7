//! `tm init`: what it writes, that it asks before, and that it leaves no trace when it is taken back. How an entry stands in a file
//! of each form is shown beside its code.

mod refusals;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::program::environment::TestEnvironment;
use crate::program::terminal::at_terminal;
use testkit::documentation::workspace;

const CLIENTS: &str = "claude-code,cursor,codex,vscode,gemini,copilot,opencode,qwen,zed";

/// Every file and folder of a project but git's own, with what is in it.
fn contents(environment: &TestEnvironment) -> BTreeMap<String, Vec<u8>> {
    let mut found = testkit::files::contents(&environment.project());
    found.retain(|name, _| !name.starts_with(".git/"));
    found
}

/// `tm init` with these options, unasked; its answer.
fn init(environment: &TestEnvironment, options: &str) -> Value {
    let line = format!("init --yes {options}");
    environment.typed_json(line.trim_end()).ok()
}

/// The same, whose changes are these.
fn changes(environment: &TestEnvironment, options: &str, expected: &[&str]) -> Value {
    let answer = init(environment, options);
    assert_eq!(made(&answer), expected, "{options}");
    answer
}

/// What was done with each file, as `create AGENTS.md`.
fn made(answer: &Value) -> Vec<String> {
    let changes = answer["changes"].as_array().unwrap().iter();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let one = |change| text(change, "kind") + " " + &text(change, "file");
    changes.map(one).collect()
}

/// A person types these lines at `tm init`, which ends with this status and shows all of this. All that it shows.
fn shows(at: &TestEnvironment, options: &str, lines: &str, status: i32, told: &[&str]) -> String {
    let line = format!("init {options}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (ended, shown) = at_terminal(at, &words, lines, false);
    assert_eq!(ended, status, "{shown}");
    for told in told {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    shown
}

#[test]
fn each_client_comes_as_its_page_says_and_goes_without_a_trace() {
    let document = fs::read_to_string(workspace().join("docs/clients.md")).unwrap();
    for client in CLIENTS.split(',') {
        let environment = TestEnvironment::bare();
        environment.write("README.md", "words\n");
        let before = contents(&environment);
        let one = format!("--client {client}");
        let answer = init(&environment, &one);
        let made: Vec<String> = made(&answer);
        let files = made.iter().map(|made| made.strip_prefix("create "));
        let files: Vec<&str> = files.map(Option::unwrap).collect();
        let [".taskmaster/config.json", servers, words] = files[..] else {
            panic!("{client}: {answer}");
        };
        let mut sections = document.split("\n## ");
        let command = format!("tm init {one}\n");
        let section = sections.find(|section| section.contains(&command));
        let section = section.unwrap_or_else(|| panic!("{client} has no section"));
        let block = format!("\n{}```", environment.read(servers));
        for told in [format!("`{servers}`"), format!("`{words}`"), block] {
            assert!(section.contains(&told), "{client}: {told}");
        }

        let with = contents(&environment);
        assert_eq!(changes(&environment, &one, &[])["written"], false);
        assert_eq!(contents(&environment), with);
        init(&environment, "--remove");
        assert_eq!(contents(&environment), before, "{client}");
        changes(&environment, "--remove", &[]);
    }
    let environment = TestEnvironment::bare();
    init(&environment, "--client claude-code,cursor");
    for file in [
        "CLAUDE.md",
        ".cursor/rules/tramline.mdc",
        ".taskmaster/config.json",
    ] {
        let block = format!("\n{}````", environment.read(file));
        assert!(document.contains(&block), "{file}: {block}");
    }
    // What was made is settings that tm can use.
    environment.typed_json("config show").ok();
}

#[test]
fn all_clients_at_once_share_what_they_share_and_one_goes_alone() {
    let environment = TestEnvironment::new();
    let before = contents(&environment);
    let all = format!("--client {CLIENTS}");
    let answer = init(&environment, &all);
    let mut words = made(&answer);
    words.retain(|made| made.contains(".md"));
    assert_eq!(
        words.join(", "),
        "create CLAUDE.md, create .cursor/rules/tramline.mdc, create AGENTS.md, \
         create .github/copilot-instructions.md, create GEMINI.md, create QWEN.md"
    );
    changes(&environment, &all, &[]);
    // What is broken and not ours does not stand in the way.
    environment.write(".cline/settings.json", "{ broken");
    let gone = ["remove .codex/config.toml"];
    let answer = changes(&environment, "--remove --client codex", &gone);
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.starts_with("AGENTS.md stays as it is"), "{note}");
    fs::remove_dir_all(environment.project().join(".cline")).unwrap();
    // The environment's own settings are no work of `tm init`.
    let removed = init(&environment, "--remove");
    let note = removed["notes"][0].as_str().unwrap();
    assert!(note.starts_with(".taskmaster/config.json stays"), "{note}");
    assert_eq!(contents(&environment), before);
}

/// To the byte in files of each form is told where they are written.
#[test]
fn files_that_are_there_keep_what_is_theirs() {
    let environment = TestEnvironment::bare();
    for (file, text) in [
        (".mcp.json", "{\r\n\t\"mcpServers\": {}, // mine\r\n}"),
        (".codex/config.toml", "mcp_servers = { a = {} } # all"),
        ("opencode.jsonc", "{ \"mcp\": { \"servers\": { } } }\n"),
        ("CLAUDE.md", "# Rules\r\n\r\n- one"),
        (".rules", "\n"),
        (".taskmaster/config.json", "{}"),
    ] {
        environment.write(file, text);
    }
    let rules = environment.project().join("CLAUDE.md");
    fs::set_permissions(&rules, fs::Permissions::from_mode(0o640)).unwrap();
    let before = contents(&environment);
    let all = format!("--client {CLIENTS}");
    let answer = init(&environment, &all);
    let opencode = "create opencode.json".to_owned();
    assert!(!made(&answer).contains(&opencode), "{answer}");
    for file in ["CLAUDE.md", ".rules", "opencode.jsonc"] {
        assert!(environment.read(file).contains("tramline"), "{file}");
    }
    let mode = fs::metadata(rules).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    init(&environment, "--remove");
    assert_eq!(contents(&environment), before);
}

#[test]
fn nothing_is_written_where_nobody_can_be_asked() {
    let environment = TestEnvironment::bare();
    let again = "tm init --client codex --yes";
    let plain = environment.typed("init --client codex");
    assert_eq!(plain.status, 3, "{plain:?}");
    assert!(plain.out.contains("+[mcp_servers.tramline]"), "{plain:?}");
    assert!(plain.err.contains(again), "{plain:?}");
    let refused = environment.typed_json("init --client codex");
    refused.fault(3, "needs_confirmation");
    let error = &refused.json()["error"];
    assert_eq!(error["recovery"], again);
    assert_eq!(made(&error["details"]).len(), 3, "{error}");

    let printed = environment.typed_json("init --client codex --print").ok();
    assert_eq!(printed["written"], false);
    assert!(contents(&environment).is_empty());
    let both = environment.typed_json("init --print --yes");
    both.fault(2, "usage");
    let unknown = environment.typed_json("init --client emacs").json_with(2);
    let known = CLIENTS.replace("zed", "cline,zed");
    let known: Vec<&str> = known.split(',').collect();
    assert_eq!(unknown["error"]["expected"], json!(known));
}

#[test]
fn a_person_is_asked_once() {
    let environment = TestEnvironment::bare();
    let client = "--client claude-code";
    for lines in ["n\n", ""] {
        shows(&environment, client, lines, 3, &["Write 3 files? [Y/n]"]);
        assert!(contents(&environment).is_empty());
    }
    let all = ["init", "--client", "claude-code"];
    let (status, shown) = at_terminal(&environment, &all, "\n", true);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("\u{1b}[32m+## Tramline"), "{shown}");
    assert!(shown.contains("CLAUDE.md made"), "{shown}");
    assert_eq!(contents(&environment).len(), 4);
    shows(&environment, client, "", 0, &["nothing to do"]);

    // What is taken away needs a plain yes.
    let asked = ["Write 3 files? [y/N]"];
    shows(&environment, "--remove", "\n", 3, &asked);
    shows(&environment, "--remove", "y\n", 0, &asked);
    assert!(contents(&environment).is_empty());
}

#[test]
fn without_a_client_it_says_which_are_in_use() {
    let environment = TestEnvironment::new();
    fs::create_dir(environment.project().join(".cursor")).unwrap();
    environment.write("CLAUDE.md", "rules\n");
    let found =
        |client: &str| json!({"client": client, "command": format!("tm init --client {client}")});
    // The settings are there.
    let answer = changes(&environment, "", &[]);
    assert_eq!(answer["found"], json!(["claude-code", "cursor"].map(found)));
    let plain = environment.typed("init");
    let told = "-> tm init --client cursor\n";
    assert!(plain.text().contains(told), "{plain:?}");
    init(&environment, "--client cursor");
    let answer = init(&environment, "");
    assert_eq!(answer["found"], json!([found("claude-code")]));
}

#[test]
fn alone_it_asks_for_what_it_needs() {
    let command = |environment: &TestEnvironment| {
        let settings = environment.read(".taskmaster/config.json");
        serde_json::from_str::<Value>(&settings).unwrap()["test"]["command"].clone()
    };
    let environment = TestEnvironment::bare();
    environment.write("CLAUDE.md", "rules\n");
    let told = [
        "Which agents work here? Of claude-code, cursor,",
        "That is none of them.",
        "What runs the tests",
        "write `sh -c 'sh run.sh && true'`",
        "Write 4 files? [Y/n]",
        "Now say to your agent",
    ];
    let lines = "emacs\n\n\nsh run.sh && true\nsh run.sh\ny\n";
    shows(&environment, "", lines, 0, &told);
    assert_eq!(command(&environment), "sh run.sh");
    assert!(environment.read(".mcp.json").contains("\"tm\""));
    let hooks = environment.read(".claude/settings.json");
    assert!(hooks.contains("tm hook"), "{hooks}");
}

#[test]
fn the_project_is_found_as_elsewhere() {
    let environment = TestEnvironment::new();
    let deep = environment.project().join("deep/er");
    fs::create_dir_all(&deep).unwrap();
    let line = "init --client zed --yes";
    environment.typed_at(&deep, line).text();
    assert!(environment.project().join(".zed/settings.json").exists());
    assert!(!deep.join(".zed").exists());

    let other = TestEnvironment::bare();
    let root = format!("init --project-root {}", other.project().display());
    let asked = environment.typed_json(&format!("{root} --client zed"));
    let recovery = asked.json_with(3)["error"]["recovery"].take();
    assert_eq!(recovery, format!("tm {root} --client zed --yes"));

    // The home is where runs are kept.
    let home = environment.home();
    fs::create_dir_all(home.join(".taskmaster")).unwrap();
    for root in ["no/such", home.to_str().unwrap()] {
        let refused = environment.typed_json(&format!("init --yes --project-root {root}"));
        refused.fault(4, "not_found");
    }
}

#[test]
fn in_a_package_of_a_monorepo_it_names_the_folder_and_takes_all_back() {
    let settings = ".taskmaster/config.json";
    let environment = TestEnvironment::new();
    fs::remove_dir_all(environment.project().join(".taskmaster")).unwrap();
    environment.write("packages/a/package.json", "{}\n");
    environment.write("AGENTS.md", "rules without a line end");
    let before = contents(&environment);
    let top = format!("{}/", environment.project().display());
    let package = environment.project().join("packages/a");
    let here = |line: &str| environment.typed_at(&package, line);
    let all = "init --client codex --test-command make --yes --hook";
    let shown = here(all).text().to_owned();
    for file in [settings, ".codex/config.toml", "AGENTS.md"] {
        assert!(shown.contains(&format!("{top}{file}")), "{file}: {shown}");
    }
    let removed = here("init --remove --yes --json").ok();
    assert_eq!(removed["below"], *top);
    assert_eq!(contents(&environment), before);
    // What its user wrote into the settings is theirs.
    here(all).text();
    let theirs = environment.read(settings).replace("s\": 3", "s\": 4");
    environment.write(settings, &theirs);
    here("init --remove --yes").text();
    assert_eq!(environment.read(settings), theirs);
}

#[test]
fn what_is_no_file_of_ours_is_passed_over() {
    let environment = TestEnvironment::bare();
    // A folder of rules that one client reads, and another looks for as a file.
    environment.write(".clinerules/one.md", "rules\n");
    let theirs = environment.home().join("tramline.md");
    fs::write(&theirs, "tramline\n").unwrap();
    symlink(theirs, environment.project().join("GEMINI.md")).unwrap();
    let before = contents(&environment);
    let answer = init(&environment, "--client zed");
    assert_eq!(made(&answer)[2], "create AGENTS.md");
    let found = init(&environment, "")["found"].take();
    assert_eq!(found[0]["client"], "gemini", "{found}");
    init(&environment, "--remove");
    assert_eq!(contents(&environment), before);
}

#[test]
fn the_user_s_own_settings_hold_the_server_alone() {
    let environment = TestEnvironment::new();
    let before = contents(&environment);
    let home = environment.home();
    let mine = "{\n  \"mine\": 1\n}\n";
    fs::write(home.join(".claude.json"), mine).unwrap();
    let answer = init(&environment, &format!("--user --client {CLIENTS}"));
    assert!(answer["notes"].to_string().contains("vscode"), "{answer}");
    let mut named = testkit::files::contents(&home);
    named.retain(|_, text| String::from_utf8_lossy(text).contains("tramline"));
    assert_eq!(
        named.into_keys().collect::<Vec<_>>().join(" "),
        ".claude.json .codex/config.toml .config/opencode/opencode.json .config/zed/settings.json \
         .copilot/mcp-config.json .cursor/mcp.json .gemini/settings.json .qwen/settings.json"
    );
    assert_eq!(contents(&environment), before);
    init(&environment, &format!("--user --remove --client {CLIENTS}"));
    assert_eq!(fs::read_to_string(home.join(".claude.json")).unwrap(), mine);
    assert!(!home.join(".cursor").exists());
}

#[test]
fn a_client_without_a_file_of_servers_in_the_project_has_its_entry_in_the_user_s() {
    let environment = TestEnvironment::bare();
    let settings = ".cline/data/settings/cline_mcp_settings.json";
    let path = environment.home().join(settings);
    let mine = "{\n  \"mcpServers\": { \"mine\": { \"command\": \"x\" } }\n}\n";
    testkit::files::write(&path, mine);
    let servers = || fs::read_to_string(&path).unwrap();
    let made = ["create .taskmaster/config.json", "create AGENTS.md"];
    let answer = changes(&environment, "--client cline", &made);
    let note = answer["notes"].to_string();
    assert!(note.contains("tm init --user --client cline"), "{note}");
    assert_eq!(servers(), mine);
    init(&environment, "--user --client cline");
    assert!(servers().contains("autopilot,review,collab"));
    init(&environment, "--user --remove --client cline");
    assert_eq!(servers(), mine);
}
