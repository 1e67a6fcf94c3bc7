//! COMMIT: what goes in, what never does, and what happens when git or a hook says no.

use serde_json::json;

use super::environment::{FINALIZE, GREEN, RED, TASKS, TASKS_FILE, TestEnvironment, tells};

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n";

#[test]
fn secrets_are_refused_by_name_and_never_left_out() {
    let settings = r#"{"test": {"command": "x"}, "git": {"allowSecrets": ["fixtures/**"]}}"#;
    let env = TestEnvironment::with(TASKS, settings);
    env.commit_file(".env", "x\n");
    env.auto("start 1").ok();
    env.red();
    // What is deleted or meant to be there is none.
    env.delete(".env");
    env.write("fixtures/id_rsa", KEY);
    // An empty repository inside has nothing that could be committed: it must not stop the run.
    env.git(&["init", "--quiet", "--template=", "inner"]);
    env.green();
    env.write(".env.local", "x\n");
    env.write("z/notes.txt", KEY);
    let answer = env.refused("commit", 3, "unfit_files", "git.allowSecrets");
    let secrets = [".env.local", "z/notes.txt"];
    assert_eq!(answer.json()["details"]["files"], json!(secrets));
    // Named explicitly they are refused all the same.
    env.refuses("commit --files .env.local,src/1.1.sh", "unfit_files");
    for path in secrets {
        env.delete(path);
    }
    env.commit();
    tells(env.committed(), &[".env", "fixtures/id_rsa"]);
}

#[test]
fn no_secret_gets_into_the_objects_of_git() {
    let env = TestEnvironment::started();
    env.write(".env", "TOKEN=of-mine\n");
    env.write("tests/1.1.sh", "test\n");
    let is_kept = || {
        let name = env.git(&["hash-object", ".env"]);
        let objects = ["cat-file", "--batch-all-objects", "--batch-check"];
        env.git(&objects).contains(&name)
    };
    env.refused(RED, 3, "unfit_files", "git ignore");
    assert!(!is_kept());
    // Nor does it where the run is taken back: it stays where it is.
    env.auto("rewind workUnit-1.1-RED").ok();
    assert!(!is_kept());
    env.delete(".env");
    env.red();
    env.write(".env", "TOKEN=of-mine\n");
    env.auto("rewind 1.1").ok();
    assert_eq!(env.read(".env"), "TOKEN=of-mine\n");
    assert!(!env.project().join("tests/1.1.sh").exists() && !is_kept());
}

#[test]
fn what_was_dirty_before_stays_out_until_it_is_named() {
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.write("mine.txt", "mine\n");
    env.write("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.auto("start 1 --allow-dirty").ok();
    env.subtask();
    assert_eq!(env.committed(), TestEnvironment::files_of("1.1"));
    assert_eq!(env.changes(), " M README.md\nA  staged.txt\n?? mine.txt");

    env.red();
    env.write("README.md", "mine, and the run's\n");
    env.write("mine.txt", "and this\n");
    env.green();
    let answer = env.refused("commit", 3, "unfit_files", "--files");
    let files = &answer.json()["details"]["files"];
    assert_eq!(files, &json!(["README.md", "mine.txt"]));
    let named = "commit --files src/1.2.sh,tests/1.2.sh,README.md";
    env.refused(named, 3, "unfit_files", "--files");
    env.auto(&format!("{named},mine.txt")).ok();
    assert_eq!(env.git(&["show", "HEAD:README.md"]), "mine, and the run's");
    env.auto(FINALIZE).ok();
    assert_eq!(env.changes(), "A  staged.txt");
}

#[test]
fn a_commit_needs_a_change() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "evidence": {"policy": {"red_without_tests": "off", "green_without_change": "off"}}}"#,
    );
    env.auto(RED).ok();
    env.auto(GREEN).ok();
    env.refused("commit", 3, "nothing_changed", "tm autopilot skip");
    // What depends on it is not run.
    let moved = env.auto("skip --reason nothing-to-do").ok();
    assert_eq!(moved["nextAction"]["action"], "finalize");
}

#[test]
fn what_is_no_part_of_the_commit_may_change_after_green() {
    let env = TestEnvironment::new();
    env.write("mine.txt", "mine\n");
    env.auto("start 1 --allow-dirty").ok();
    env.to_commit();
    env.write("x.tmp", "ignored\n");
    env.write(".taskmaster/state.json", "{}\n");
    let tasks = env.read(TASKS_FILE).replace("Tabs too.", "Tabs.");
    env.write(TASKS_FILE, tasks);
    // The same bytes written anew are no change; nor is staging them.
    env.write("src/1.1.sh", "code 1.1\n");
    env.git(&["add", "src/1.1.sh"]);
    env.commit();
    assert!(env.read(TASKS_FILE).contains("Tabs."));
    assert_eq!(env.changes(), "?? .taskmaster/state.json\n?? mine.txt");
}

#[test]
fn a_commit_of_a_part_was_not_tested() {
    let env = TestEnvironment::in_commit();
    env.write("x.tmp", "ignored\n");
    let answer = env.refuses("commit --files src/1.1.sh", "changed_after_green");
    assert_eq!(answer.json()["details"]["files"], json!(["tests/1.1.sh"]));
    for more in ["README.md", "src/1.1.sh,x", "src/1.1.sh,tests/1.1.sh,x.tmp"] {
        env.refuses(&format!("commit --files {more}"), "nothing_changed");
    }
    env.auto("commit --files src/1.1.sh,tests/1.1.sh").ok();
    assert_eq!(env.changes(), "");
}

#[test]
fn a_hook_that_refuses_leaves_everything_as_it_was() {
    let env = TestEnvironment::new();
    env.write(".git/info/exclude", ".taskmaster/\n");
    env.git_words("rm --quiet --cached -r .taskmaster");
    env.commit_all("Without the tasks");
    env.write("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.auto("start 1 --allow-dirty").ok();
    env.to_commit();
    env.hook("pre-commit", "echo 'line 3 is long' >&2; exit 1");
    let state = || (env.head(), env.git(&["ls-files", "--stage"]), env.unit());
    let (was, before) = (state(), env.files_of_the_user());
    // Again, with the same report: it is tried again, not answered from the books.
    for _ in 0..2 {
        let answer = env.comes_to("commit", "commit_refused");
        tells(answer.message(), &["line 3 is long"]);
        assert_eq!(state(), was);
        before.assert_same(&env.files_of_the_user(), "a refused commit");
    }
    env.hook("pre-commit", "exit 0");
    assert_eq!(env.commit()["commitSha"], env.head());
    assert_eq!(env.changes(), "A  staged.txt");
}

#[test]
fn what_hooks_change_and_take_out_is_taken_as_it_came_out_and_told() {
    let env = TestEnvironment::in_commit();
    env.hook("post-commit", "exit 1");
    env.hook("commit-msg", "echo 'Reviewed-by: a hook' >> \"$1\"");
    env.hook("pre-commit", "echo formatted > src/1.1.sh; git add src");
    tells(&env.commit()["message"], &["Reviewed-by: a hook"]);
    assert_eq!(env.git(&["show", "HEAD:src/1.1.sh"]), "formatted");
    assert_eq!(env.changes(), "");
    env.to_commit();
    env.hook("pre-commit", "git rm -q --cached -- src/1.2.sh");
    tells(&env.commit()["warning"], &["src/1.2.sh"]);
}

#[test]
fn a_message_of_ones_own_is_the_subject_or_all_of_it() {
    let env = TestEnvironment::in_commit();
    env.refuses_of(&["autopilot", "commit", "--message= \n "], "usage");
    let message = "Count\n\n# a heading\n#42 is mended\n\n    indented\n--amend";
    let made = env.tm(&["autopilot", "commit", "--message", message]).ok();
    assert_eq!(env.message(), message);
    assert_eq!(made["message"].as_str().unwrap().trim_end(), message);

    env.red();
    env.green_with("--coverage 92.5");
    env.auto("commit --message=--amend").ok();
    let message = env.message();
    assert!(message.starts_with("--amend\n\nTabs too.\n\nTask: #1.2 - "));
    assert!(message.ends_with("\n\nTests: 2 passing\nCoverage: 92.5% lines"));
    assert_eq!(env.commits(), "2");
}

/// A report of a bug read as a feature: null is no amount from now on.
#[test]
fn a_title_that_says_too_little_asks_for_a_subject() {
    let env = TestEnvironment::new();
    let titles = ["Null is accepted as an amount", "Refuse null as a name"];
    let start = ["autopilot", "start", "--title", "Null", "--subtask"];
    let subtasks = [titles[0], "--subtask", titles[1]];
    env.tm(&[&start[..], &subtasks].concat()).ok();
    for said in [Some("fix: refuse null as an amount"), None] {
        env.to_commit();
        let next = env.next();
        let step = next["nextSteps"][0]["command"].as_str().unwrap();
        assert_eq!(step.ends_with(" --message …"), said.is_some(), "{step}");
        // What is to be filled in is no subject.
        env.refuses("commit --message …", "usage");
        let mut words = vec!["autopilot", "commit"];
        words.extend(said.iter().flat_map(|subject| ["--message", subject]));
        env.tm(&words).ok();
    }
    let own = "feat: refuse null as a name (task null.2)\nfix: refuse null as an amount";
    assert_eq!(env.git_words("log --format=%s main..HEAD"), own);
}
