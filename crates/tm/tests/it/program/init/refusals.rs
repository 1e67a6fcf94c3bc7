//! What `tm init` does not touch: files that make no sense or cannot be written, and what lies outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{contents, files, init, read};
use crate::program::environment::TestEnvironment;

/// Init must refuse, and no file may be touched.
fn check_refused(
    environment: &TestEnvironment,
    client: &str,
    status: i32,
    code: &str,
    words: &str,
) {
    let before = contents(environment);
    let error = environment
        .tm(&["init", "--yes", "--json", "--client", client])
        .json_with(status);
    let error = &error["error"];
    assert_eq!(error["code"], code, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    assert!(!error["suggestion"].as_str().unwrap().is_empty());
    assert_eq!(contents(environment), before, "nothing is written");
}

#[test]
fn a_file_that_makes_no_sense_stops_everything_before_it_begins() {
    let b = "<!-- tramline:begin -->";
    for (file, text, client, words) in [
        (
            ".mcp.json",
            "{\n  \"mcpServers\": {\n",
            "claude-code",
            ".mcp.json:2:17: unterminated object",
        ),
        (
            ".mcp.json",
            "{\"mcpServers\": []}",
            "claude-code",
            ".mcp.json:1:16: `mcpServers` is not an object",
        ),
        (
            ".mcp.json",
            "[]",
            "claude-code",
            ".mcp.json:1:1: the document is not an object",
        ),
        (
            ".vscode/mcp.json",
            "{\"servers\": {}, \"servers\": {}}",
            "vscode",
            "a second time",
        ),
        (
            ".codex/config.toml",
            "a = 1\nb = = 2\n",
            "codex",
            ".codex/config.toml:2:5: ",
        ),
        (
            "CLAUDE.md",
            &format!("x\n{b}\n"),
            "claude-code",
            "CLAUDE.md:2:1: `<!-- tramline:begin -->` has no",
        ),
        (
            "CLAUDE.md",
            &format!("{b}\n{b}\n"),
            "claude-code",
            "CLAUDE.md:2:1: ",
        ),
    ] {
        let environment = TestEnvironment::bare();
        environment.write(file, text);
        check_refused(&environment, client, 6, "client_file_invalid", words);
    }
    let environment = TestEnvironment::bare();
    fs::write(environment.project().join("CLAUDE.md"), b"a\n\xff\xfe").unwrap();
    check_refused(
        &environment,
        "claude-code",
        6,
        "client_file_invalid",
        "CLAUDE.md:2:1: not UTF-8 text",
    );
}

#[test]
fn what_cannot_be_written_is_told_before_anything_is() {
    let environment = TestEnvironment::bare();
    environment.write("CLAUDE.md", "rules\n");
    let file = environment.project().join("CLAUDE.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    check_refused(
        &environment,
        "claude-code",
        6,
        "client_file_io",
        "CLAUDE.md is read-only",
    );

    let environment = TestEnvironment::bare();
    fs::create_dir(environment.project().join("CLAUDE.md")).unwrap();
    check_refused(
        &environment,
        "claude-code",
        6,
        "client_file_io",
        "CLAUDE.md is not a regular file",
    );

    let environment = TestEnvironment::bare();
    environment.write(".cursor", "not a folder\n");
    check_refused(
        &environment,
        "cursor",
        6,
        "client_file_io",
        ".cursor/mcp.json",
    );

    let environment = TestEnvironment::bare();
    environment.write("GEMINI.md", "x".repeat(5 * 1024 * 1024));
    check_refused(&environment, "gemini", 6, "client_file_io", "more than");
}

#[test]
fn links_are_followed_within_the_project_alone() {
    let environment = TestEnvironment::bare();
    environment.write("AGENTS.md", "rules\n");
    symlink("AGENTS.md", environment.project().join("CLAUDE.md")).unwrap();
    let before = contents(&environment);
    let answer = init(&environment, &["--client", "claude-code,codex"]);
    assert_eq!(
        files(&answer),
        [
            (".taskmaster/config.json", "create"),
            (".mcp.json", "create"),
            ("CLAUDE.md", "change"),
            (".codex/config.toml", "create"),
        ]
    );
    assert!(environment.project().join("CLAUDE.md").is_symlink());
    assert_eq!(
        read(&environment, "AGENTS.md")
            .matches("tramline:begin")
            .count(),
        1
    );
    init(&environment, &["--remove"]);
    assert_eq!(contents(&environment), before);
    assert!(environment.project().join("CLAUDE.md").is_symlink());

    for (link, target, client) in [
        ("GEMINI.md", "outside.md", "gemini"),
        (".cursor", "folder", "cursor"),
    ] {
        let environment = TestEnvironment::bare();
        let home = environment.home();
        fs::write(home.join("outside.md"), "mine\n").unwrap();
        fs::create_dir(home.join("folder")).unwrap();
        symlink(home.join(target), environment.project().join(link)).unwrap();
        check_refused(
            &environment,
            client,
            3,
            "outside_project",
            "leads out of the project",
        );
        assert_eq!(
            fs::read_to_string(home.join("outside.md")).unwrap(),
            "mine\n"
        );
        assert_eq!(fs::read_dir(home.join("folder")).unwrap().count(), 0);
    }
    let environment = TestEnvironment::bare();
    symlink("nowhere", environment.project().join("CLAUDE.md")).unwrap();
    check_refused(
        &environment,
        "claude-code",
        6,
        "client_file_io",
        "leads nowhere",
    );
}
