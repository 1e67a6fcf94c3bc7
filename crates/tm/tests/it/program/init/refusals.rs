//! What `tm init` does not touch: files that make no sense or cannot be written, and what lies outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{CLIENTS, changes, contents, init};
use crate::program::environment::TestEnvironment;

/// Init must refuse, and no file may be touched.
fn check_refused(environment: &TestEnvironment, status: i32, code: &str, told: &str) {
    let before = contents(environment);
    let refused = environment.typed_json(&format!("init --yes --client {CLIENTS}"));
    let message = refused.fault(status, code);
    assert!(message.contains(told), "{told}: {message}");
    assert_eq!(contents(environment), before, "nothing is written");
}

#[test]
fn a_file_that_makes_no_sense_stops_everything_before_it_begins() {
    for (file, text, place) in [
        (".mcp.json", &b"{\n  \"mcpServers\": {\n"[..], ":2:17: "),
        (".vscode/mcp.json", b"{\"servers\": []}", ":1:13: "),
        (".codex/config.toml", b"a = 1\nb = = 2\n", ":2:5: "),
        ("GEMINI.md", b"x\n<!-- tramline:begin -->\n", ":2:1: "),
        ("CLAUDE.md", b"a\n\xff\xfe", ":2:1: not UTF-8 text"),
    ] {
        let environment = TestEnvironment::bare();
        environment.write(file, text);
        let told = format!("{file}{place}");
        check_refused(&environment, 6, "client_file_invalid", &told);
    }
}

#[test]
fn what_cannot_be_written_is_told_before_anything_is() {
    type Case = (&'static str, fn(&Path));
    let cases: [Case; 4] = [
        ("is read-only", |file| {
            fs::write(file, "rules\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
        }),
        ("is not a regular", |file| fs::create_dir(file).unwrap()),
        ("leads nowhere", |file| symlink("nowhere", file).unwrap()),
        ("more than", |file| {
            fs::write(file, "x".repeat(5 * 1024 * 1024)).unwrap();
        }),
    ];
    for (told, made) in cases {
        let environment = TestEnvironment::bare();
        made(&environment.project().join("CLAUDE.md"));
        check_refused(&environment, 6, "client_file_io", told);
    }
    let environment = TestEnvironment::bare();
    environment.write(".cursor", "not a folder\n");
    check_refused(&environment, 6, "client_file_io", ".cursor/mcp.json");
}

#[test]
fn links_are_followed_within_the_project_alone() {
    let environment = TestEnvironment::bare();
    environment.write("AGENTS.md", "rules\n");
    let link = environment.project().join("CLAUDE.md");
    symlink("AGENTS.md", &link).unwrap();
    let before = contents(&environment);
    let made = [
        "create .taskmaster/config.json",
        "create .mcp.json",
        "change CLAUDE.md",
        "create .codex/config.toml",
    ];
    changes(&environment, "--client claude-code,codex", &made);
    let rules = environment.read("AGENTS.md");
    assert_eq!(rules.matches("tramline:begin").count(), 1);
    init(&environment, "--remove");
    assert_eq!(contents(&environment), before);
    assert!(link.is_symlink());

    for (link, target) in [("GEMINI.md", "outside.md"), (".cursor", "folder")] {
        let environment = TestEnvironment::bare();
        let home = environment.home();
        fs::write(home.join("outside.md"), "mine\n").unwrap();
        fs::create_dir(home.join("folder")).unwrap();
        symlink(home.join(target), environment.project().join(link)).unwrap();
        let before = testkit::files::contents(&home);
        check_refused(&environment, 3, "outside_project", link);
        assert_eq!(testkit::files::contents(&home), before);
    }
}
