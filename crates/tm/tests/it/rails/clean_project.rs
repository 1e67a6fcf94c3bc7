//! What a run leaves behind: in the project what the project asked for, in the store what is written down, and nothing
//! else anywhere.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::environment::TestEnvironment;
use testkit::files::list;

fn names(folder: &Path) -> BTreeSet<String> {
    list(folder)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_project_holds_nothing_of_ours() {
    let env = TestEnvironment::new();
    env.auto("start 1").ok();
    env.subtask();
    // With a stop, a refusal, a step back and a commit that failed on the way.
    env.auto("pause").ok();
    env.auto("resume").ok();
    env.to_commit();
    env.hook("pre-commit", "exit 1");
    env.auto("commit");
    env.auto("reopen --reason hook").ok();
    fs::remove_dir_all(env.project().join(".git/hooks")).unwrap();
    env.auto("complete green --results failed:0,passed:2").ok();
    env.auto("next --check").ok();
    env.auto("commit").ok();
    env.auto("finalize --results failed:0,passed:2").ok();

    assert_eq!(
        env.git(&[
            "status",
            "--porcelain",
            "--ignored",
            "--untracked-files=all"
        ]),
        ""
    );
    assert_eq!(
        env.git(&["ls-files"]),
        ".gitignore\n.taskmaster/config.json\n.taskmaster/tasks/tasks.json\nREADME.md\nsrc/1.1.sh\nsrc/1.2.sh\n\
         tests/1.1.sh\ntests/1.2.sh"
    );
    assert_eq!(
        names(&env.project()),
        set(&[
            ".git",
            ".gitignore",
            ".taskmaster",
            "README.md",
            "src",
            "tests"
        ])
    );
    assert_eq!(
        names(&env.project().join(".taskmaster")),
        set(&["config.json", "tasks"])
    );
    assert_eq!(
        names(&env.project().join(".taskmaster/tasks")),
        set(&["tasks.json"])
    );
    // Git's own folder holds what git makes by itself.
    let git = names(&env.project().join(".git"));
    let own = set(&[
        "COMMIT_EDITMSG",
        "HEAD",
        "config",
        "index",
        "logs",
        "objects",
        "refs",
    ]);
    assert_eq!(git, own);
    assert_eq!(
        env.git(&["for-each-ref", "--format=%(refname:short)"]),
        "main\nmaster/task-1-count-the-words"
    );
    // Fingerprints left no object; the commit that a hook refused left what git itself leaves of one.
    let count = env.git(&["count-objects", "-v"]);
    assert!(count.contains("garbage: 0"), "{count}");
    assert_eq!(
        env.git(&["config", "--local", "--list"]).lines().count(),
        7,
        "the settings are as they were"
    );
}

#[test]
fn looking_and_reporting_write_no_object() {
    let env = TestEnvironment::started();
    let objects = || env.git(&["count-objects"]);
    let before = objects();
    env.red();
    env.green();
    env.auto("next --check").ok();
    env.write("src/1.1.sh", "changed\n");
    env.auto("next --check").ok();
    env.auto("commit");
    assert_eq!(objects(), before);
}

#[test]
fn the_store_holds_what_is_written_down() {
    let env = TestEnvironment::started();
    env.subtask();
    env.auto("complete green --results failed:0,passed:2");
    env.finish();
    assert_eq!(names(&env.folder().join("home")), set(&["store"]));
    assert_eq!(names(&env.store()), set(&["projects"]));
    let project = env.run_folder().join("../..");
    assert_eq!(
        names(&project),
        set(&["lock", "project.json", "runs", "tags"])
    );
    assert_eq!(
        names(&env.run_folder()),
        set(&[
            "activity.jsonl",
            "commits.txt",
            "evidence",
            "lock",
            "manifest.json",
            "refusals.jsonl",
            "report.json",
            "report.md",
            "snapshot.json",
            "state.json",
            "test-results",
            "work-units.json",
            "workflow.yaml",
        ])
    );
    check_modes(&env.store());
}

fn check_modes(path: &Path) {
    let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
    if path.is_dir() {
        assert_eq!(mode, 0o700, "{}", path.display());
        for entry in list(path) {
            check_modes(&entry);
        }
    } else {
        assert_eq!(mode, 0o600, "{}", path.display());
    }
}

#[test]
fn the_state_file_stays_small() {
    let env = TestEnvironment::new();
    let subtasks: Vec<String> = (1..=300)
        .map(|n| format!(r#"{{"id": {n}, "title": "subtask {n}", "status": "pending"}}"#))
        .collect();
    env.write(
        ".taskmaster/tasks/tasks.json",
        format!(
            r#"{{"tasks": [{{"id": 1, "title": "Many", "status": "pending", "subtasks": [{}]}}]}}"#,
            subtasks.join(",")
        ),
    );
    env.auto("start 1").ok();
    env.red();
    let state = fs::read(env.run_folder().join("state.json")).unwrap();
    assert!(state.len() <= 4096, "{}", state.len());
    serde_json::from_slice::<serde_json::Value>(&state).unwrap();
}
