//! What a run leaves behind: in the project what the project asked for, in the store what is written down, and nothing
//! else anywhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::environment::{BRANCH, FINALIZE, GREEN, TestEnvironment, tells};
use testkit::files::list;

/// The names in a folder, in order.
fn names(folder: &Path) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let names: Vec<String> = list(folder).iter().map(name).collect();
    names.join(" ")
}

#[test]
fn the_project_holds_nothing_of_ours() {
    let env = TestEnvironment::started();
    // Looking writes no object.
    env.to_commit();
    let objects = env.git(&["count-objects"]);
    env.auto("next --check").ok();
    env.write("src/1.1.sh", "changed\n");
    env.auto("next --check").ok();
    assert_eq!(env.git(&["count-objects"]), objects);
    env.auto("commit");
    env.write("src/1.1.sh", "code 1.1\n");
    env.commit();
    // With a stop, a refusal, a step back and a commit that failed on the way.
    env.auto("pause").ok();
    env.auto("resume").ok();
    env.to_commit();
    env.hook("pre-commit", "exit 1");
    env.auto("commit");
    env.auto("reopen --reason hook").ok();
    fs::remove_dir_all(env.project().join(".git/hooks")).unwrap();
    env.auto(GREEN).ok();
    env.auto("next --check").ok();
    env.commit();
    env.auto(FINALIZE).ok();

    let all = "status --porcelain --ignored --untracked-files=all";
    assert_eq!(env.git_words(all), "");
    let files = env.git(&["ls-files", ":!.taskmaster"]).replace('\n', " ");
    let own = "src/1.1.sh src/1.2.sh tests/1.1.sh tests/1.2.sh";
    assert_eq!(files, format!(".gitignore README.md {own}"));
    assert_eq!(env.git(&["ls-files", ".taskmaster"]).lines().count(), 2);
    // Git's own folder holds what git makes by itself, and the trees that reports were about.
    let git = names(&env.project().join(".git"));
    assert_eq!(git, "COMMIT_EDITMSG HEAD config index logs objects refs");
    let references = env.git_words("for-each-ref --format=%(refname)");
    let (trees, others): (Vec<&str>, Vec<&str>) = references
        .lines()
        .partition(|name| name.starts_with("refs/tramline/trees/"));
    assert_eq!(others, ["refs/heads/main", &format!("refs/heads/{BRANCH}")]);
    assert_eq!(trees.len(), 5, "{trees:?}");
    tells(env.git(&["count-objects", "-v"]), &["garbage: 0"]);
    let settings = env.git(&["config", "--local", "--list"]);
    assert_eq!(settings.lines().count(), 7, "{settings}");
}

#[test]
fn the_store_holds_what_is_written_down() {
    let env = TestEnvironment::started();
    env.subtask();
    env.auto(GREEN);
    env.finish();
    assert_eq!(names(&env.home()), "store");
    assert_eq!(names(&env.store()), "projects");
    let project = env.run_folder().join("../..");
    assert_eq!(names(&project), "lock project.json runs tags");
    assert_eq!(
        names(&env.run_folder()),
        "activity.jsonl commits.txt evidence lock manifest.json refusals.jsonl report.json report.md \
         snapshot.json state.json test-results work-units.json workflow.yaml"
    );
    check_modes(&env.store());
}

fn check_modes(path: &Path) {
    let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let own = if path.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(mode, own, "{}", path.display());
    for entry in list(path) {
        check_modes(&entry);
    }
}
