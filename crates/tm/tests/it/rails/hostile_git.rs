//! Variables that a caller left behind, and settings of a repository that would change what git says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::environment::{TestEnvironment, autopilot};
use testkit::Outcome;

#[test]
fn variables_that_point_git_elsewhere_are_not_followed() {
    let env = TestEnvironment::new();
    let other = env.folder().join("other");
    fs::create_dir(&other).unwrap();
    env.git(&["init", "--quiet", "--template=", other.to_str().unwrap()]);
    let run = |words: &str| {
        let mut program = env.program(&autopilot(words));
        program
            .env("GIT_DIR", other.join(".git"))
            .env("GIT_WORK_TREE", &other)
            .env("GIT_INDEX_FILE", other.join("an-index"))
            .env("GIT_OBJECT_DIRECTORY", other.join("objects"));
        Outcome::of(&program.output().unwrap()).answered().ok()
    };
    run("start 1");
    env.write("tests/a.sh", "test\n");
    run("complete red --results failed:1,passed:0");
    env.write("src/a.sh", "code\n");
    run("complete green --results failed:0,passed:1");
    run("next --check");
    let made = run("commit");
    assert_eq!(made["commitSha"], env.head());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!other.join("an-index").exists());
    assert!(!other.join("objects").exists());
    assert!(!other.join(".git/index").exists());
}

#[test]
fn settings_that_change_what_git_says_change_nothing_for_us() {
    let env = TestEnvironment::new();
    let pwned = env.folder().join("pwned");
    let script = format!("touch '{}'; false", pwned.display());
    for (name, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("status.renames", "copies"),
        ("status.short", "true"),
        ("status.branch", "true"),
        ("color.ui", "always"),
        ("color.status", "always"),
        ("core.quotePath", "true"),
        ("core.pager", &script),
        ("core.editor", &script),
        ("core.askPass", &script),
        ("core.commentChar", ";"),
        ("diff.external", &script),
        ("diff.noprefix", "true"),
        ("diff.renames", "copies"),
        ("diff.ignoreSubmodules", "all"),
        ("log.showSignature", "true"),
        ("log.date", "relative"),
        ("format.pretty", "oneline"),
        ("commit.verbose", "true"),
        ("commit.cleanup", "scissors"),
        ("commit.status", "true"),
        ("branch.autoSetupMerge", "always"),
        ("core.abbrev", "4"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        ("alias.status", "!false"),
        ("alias.commit", "!false"),
        ("core.warnAmbiguousRefs", "false"),
        ("advice.detachedHead", "true"),
        ("pager.status", "true"),
        ("interactive.diffFilter", &script),
    ] {
        env.git(&["config", name, value]);
    }
    env.auto("start 1").ok();
    env.write("tests/größe \"x\".sh", "test\n");
    env.auto("complete red --results failed:1,passed:0").ok();
    env.write("src/new/deep.sh", "code\n");
    env.auto("complete green --results failed:0,passed:1").ok();
    let made = env.auto("commit").ok();
    assert_eq!(
        made["files"],
        serde_json::json!([
            ".taskmaster/tasks/tasks.json",
            "src/new/deep.sh",
            "tests/größe \"x\".sh"
        ])
    );
    let message = made["message"].as_str().unwrap();
    assert!(
        message.starts_with("feat: count by spaces (task 1.1)\n\nOne space apart.\n"),
        "{message}"
    );
    assert_eq!(env.auto("next --check").ok()["action"], "red");
    env.finish();
    assert!(!pwned.exists());
}

#[test]
fn a_monitor_of_the_repositorys_choosing_is_not_started_by_looking() {
    let env = TestEnvironment::started();
    let pwned = env.folder().join("pwned");
    env.write(
        ".git/monitor",
        format!("#!/bin/sh\ntouch '{}'\n", pwned.display()),
    );
    fs::set_permissions(
        env.project().join(".git/monitor"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    env.git(&["config", "core.fsmonitor", ".git/monitor"]);
    env.to_commit();
    env.auto("next --check").ok();
    env.auto("commit --files README.md");
    assert!(!pwned.exists());
}

#[test]
fn names_of_files_are_taken_as_they_are() {
    let env = TestEnvironment::started();
    let odd = [
        "tests/-n",
        "tests/:(top)x",
        "tests/*",
        "tests/a b",
        "tests/new\nline",
        "tests/\"q\"",
        "tests/[x]",
        "tests/!x",
        "tests/~",
        "tests/\u{202e}x",
        "tests/back\\slash",
        "tests/#x",
        "tests/'",
        "tests/$(touch pwned)",
        "tests/tab\t",
    ];
    for path in odd {
        env.write(path, "test\n");
    }
    env.auto("complete red --results failed:1,passed:0").ok();
    env.write("src/a.sh", "code\n");
    env.auto("complete green --results failed:0,passed:1").ok();
    let made = env.auto("commit").ok();
    assert_eq!(
        made["files"].as_array().unwrap().len(),
        odd.len() + 2,
        "{made}"
    );
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(!env.project().join("pwned").exists());
}

/// A clone can bring a folder that is a repository by itself, with hooks and filters of its choosing.
#[test]
fn a_repository_within_the_clone_that_has_no_git_folder_runs_nothing() {
    let env = TestEnvironment::new();
    let pwned = env.folder().join("pwned");
    let inner = env.project().join("inner");
    env.write(
        "inner/.taskmaster/config.json",
        r#"{"test": {"command": "true"}}"#,
    );
    env.write("inner/.gitattributes", "*.js filter=x\n");
    env.write("inner/a.js", "1\n");
    let git = |words: &[&str]| {
        let mut all = vec!["-C", inner.to_str().unwrap()];
        all.extend(words);
        env.git(&all)
    };
    git(&["init", "--quiet", "--template="]);
    git(&["add", "."]);
    git(&[
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.org",
        "commit",
        "--quiet",
        "--message",
        "x",
    ]);
    for entry in fs::read_dir(inner.join(".git")).unwrap() {
        let entry = entry.unwrap();
        fs::rename(entry.path(), inner.join(entry.file_name())).unwrap();
    }
    fs::remove_dir(inner.join(".git")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n[filter \"x\"]\n\tclean = \"touch '{0}'; cat\"\n\tsmudge = \"touch '{0}'; cat\"\n",
        pwned.display()
    );
    env.write("inner/config", &config);
    env.write("inner/a.js", "2\n");
    for words in [
        &["doctor"][..],
        &["autopilot", "start", "--title", "A", "--subtask", "B"],
    ] {
        let output = env.program(words).current_dir(&inner).output().unwrap();
        assert!(!pwned.exists(), "{words:?}: {output:?}");
    }
}

/// A template that is a link reads nothing into a prompt that is not the project's.
#[test]
fn a_template_that_leads_out_of_the_project_is_not_read() {
    let env = TestEnvironment::new();
    let secret = env.folder().join("secret");
    fs::write(&secret, "TOP SECRET\n").unwrap();
    env.write(".taskmaster/templates/kept.md", "");
    std::os::unix::fs::symlink(&secret, env.project().join(".taskmaster/templates/red.md"))
        .unwrap();
    for words in [
        &["autopilot", "start", "1", "--allow-dirty"][..],
        &["autopilot", "next"],
    ] {
        let output = env.program(words).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("TOP SECRET"), "{told}");
    }
}
