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
fn a_file_that_cannot_be_used_stops_everything_before_it_begins() {
    type Case = (&'static str, &'static str, fn(&Path));
    let (invalid, io) = ("config_invalid", "io_failed");
    let cases: [Case; 6] = [
        (invalid, "CLAUDE.md:2:1: not UTF-8 text", |file| {
            fs::write(file, b"a\n\xff\xfe").unwrap();
        }),
        (invalid, "CLAUDE.md:2:1: ", |file| {
            fs::write(file, "x\n<!-- tramline:begin -->\n").unwrap();
        }),
        (io, "is read-only", |file| {
            fs::write(file, "rules\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
        }),
        (io, "is not a regular", |file| fs::create_dir(file).unwrap()),
        (io, "leads nowhere", |file| {
            symlink("nowhere", file).unwrap();
        }),
        (io, "more than", |file| {
            fs::write(file, "x".repeat(5 * 1024 * 1024)).unwrap();
        }),
    ];
    for (code, told, made) in cases {
        let environment = TestEnvironment::bare();
        made(&environment.project().join("CLAUDE.md"));
        check_refused(&environment, 6, code, told);
    }
    let environment = TestEnvironment::bare();
    environment.write(".mcp.json", "{\n  \"mcpServers\": {\n");
    check_refused(&environment, 6, invalid, ".mcp.json:2:17: ");
    environment.write(".mcp.json", "{}");
    environment.write(".cursor", "not a folder\n");
    check_refused(&environment, 6, io, ".cursor/mcp.json");
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
        check_refused(&environment, 3, "unsafe_path", link);
        assert_eq!(testkit::files::contents(&home), before);
    }
}
