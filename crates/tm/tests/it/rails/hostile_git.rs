//! Variables that a caller left behind, and settings of a repository that would change what git says.

use std::fs;
use std::os::unix::fs::symlink;

use super::environment::{
    CONFIG, FINALIZE, GREEN, RED, SETTINGS, TestEnvironment, autopilot, tells,
};
use testkit::{Outcome, files::list};

/// Variables, settings and names of files change nothing for us. Where git is asked and answers, there are more of them.
#[test]
fn variables_settings_and_names_of_files_change_nothing() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let other = env.folder().join("other");
    env.git(&["init", "--quiet", "--template=", "../other"]);
    let script = format!("touch '{}'; false", env.folder().join("pwned").display());
    env.script(".git/monitor", &script);
    for (name, value) in [
        ("status.showUntrackedFiles", "no"),
        ("color.ui", "always"),
        ("core.fsmonitor", ".git/monitor"),
        ("core.commentChar", ";"),
        ("core.abbrev", "4"),
        ("diff.external", &script),
        ("commit.cleanup", "scissors"),
        ("branch.autoSetupMerge", "always"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        ("alias.status", "!false"),
        ("alias.commit", "!false"),
    ] {
        env.git(&["config", name, value]);
    }
    let run = |words: &str| {
        let mut program = env.program(&autopilot(words));
        program
            .env("GIT_DIR", other.join(".git"))
            .env("GIT_WORK_TREE", &other)
            .env("GIT_INDEX_FILE", other.join("an-index"))
            .env("GIT_OBJECT_DIRECTORY", other.join("objects"));
        Outcome::of(&program.output().unwrap()).answered()
    };
    run("start 1").ok();
    let names = ["-n", ":(top)x", "*", "new\nline", "größe", "$(touch x)"];
    for name in names {
        env.write(&format!("tests/{name}"), "test\n");
    }
    run(RED).ok();
    env.write("src/new/deep.sh", "code\n");
    run(GREEN).ok();
    run("next --check").ok();
    run("commit --files README.md");
    // Without the monitor, which git itself would start below.
    assert!(!env.folder().join("pwned").exists());
    env.git(&["config", "--unset", "core.fsmonitor"]);
    let made = run("commit").ok();
    assert_eq!(made["commitSha"], env.head());
    assert_eq!(env.changes(), "");
    let files: Vec<String> = serde_json::from_value(made["files"].clone()).unwrap();
    assert_eq!(files.len(), names.len() + 2, "{made}");
    assert!(files.contains(&"tests/größe".to_owned()), "{made}");
    let begin = "feat: count by spaces (task 1.1)\n\nOne space apart.\n";
    tells(made["message"].as_str().unwrap(), &[begin]);
    env.subtask();
    run(FINALIZE).ok();
    assert_eq!(list(&other), [other.join(".git")]);
    assert!(!other.join(".git/index").exists());
    assert!(!env.folder().join("pwned").exists());
    assert!(!env.project().join("x").exists());
}

/// A clone can bring a folder that is a repository by itself, with hooks and filters of its choosing.
#[test]
fn a_repository_within_the_clone_that_has_no_git_folder_runs_nothing() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let pwned = env.folder().join("pwned");
    let inner = env.project().join("inner");
    env.write(&format!("inner/{SETTINGS}"), CONFIG);
    env.write("inner/.gitattributes", "*.js filter=x\n");
    env.write("inner/a.js", "1\n");
    env.git(&["init", "--quiet", "--template=", "inner"]);
    env.git_words("-C inner add .");
    let name = "-c user.name=A -c user.email=a@example.org";
    env.git_words(&format!("-C inner {name} commit --quiet --message x"));
    for entry in list(&inner.join(".git")) {
        fs::rename(&entry, inner.join(entry.file_name().unwrap())).unwrap();
    }
    fs::remove_dir(inner.join(".git")).unwrap();
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n[filter \"x\"]\n\tclean = \"touch '{0}'; cat\"\n\tsmudge = \"touch '{0}'; cat\"\n",
        pwned.display()
    );
    env.write("inner/config", &config);
    env.write("inner/a.js", "2\n");
    for words in ["doctor", "autopilot start --title A --subtask B"] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = env.program(&words).current_dir(&inner).output().unwrap();
        assert!(!pwned.exists(), "{words:?}: {output:?}");
    }
}

/// A template that is a link reads nothing into a prompt that is not the project's.
#[test]
fn a_template_that_leads_out_of_the_project_is_not_read() {
    testkit::by_chance!(3);
    let env = TestEnvironment::new();
    let secret = env.folder().join("secret");
    fs::write(&secret, "TOP SECRET\n").unwrap();
    env.write(".taskmaster/templates/kept.md", "");
    symlink(&secret, env.project().join(".taskmaster/templates/red.md")).unwrap();
    for words in ["start 1 --allow-dirty", "next"] {
        let told = format!("{:?}", env.auto(words));
        assert!(!told.contains("TOP SECRET"), "{told}");
    }
}
