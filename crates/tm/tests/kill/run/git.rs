//! Git and its hooks around a death: git that lives on, git that dies too, hooks that change things or hang.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::ending::brought_to;
use super::executor::Executor;
use testkit::Outcome;
use testkit::files::write_program;

use super::stage::{Death, Stage, wait_for};
use testkit::person::key;

/// A commit that stands in a hook until it is let go.
struct Blocked<'a> {
    stage: &'a Stage,
    child: Child,
}

const COMMIT: [&str; 3] = ["autopilot", "commit", "1.1"];

impl<'a> Blocked<'a> {
    /// Starts the commit of 1.1, and waits until it stands in the hook.
    fn in_hook(stage: &'a Stage, hook: &str, environment: &[(&str, &str)]) -> Self {
        let gate = Self::gate(stage);
        let made = stage.process("mkfifo").arg(&gate).status().unwrap();
        assert!(made.success());
        stage.hook(hook, ": > .git/in-hook\nread -r line < .git/gate\n");
        let child = stage
            .program(&COMMIT)
            .envs(environment.iter().copied())
            .spawn()
            .unwrap();
        let mut blocked = Self { stage, child };
        let mark = stage.project().join(".git/in-hook");
        // A process that is to die while git lives on ends before.
        if environment.is_empty() {
            wait_for("the hook", &mut blocked.child, || mark.exists());
        } else {
            blocked.child.wait().unwrap();
            let mut idle = stage.process("sleep").arg("60").spawn().unwrap();
            wait_for("the hook", &mut idle, || mark.exists());
            idle.kill().unwrap();
            idle.wait().unwrap();
        }
        blocked
    }

    fn gate(stage: &Stage) -> PathBuf {
        stage.project().join(".git/gate")
    }

    /// Kills the process that waits for git.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills git with everything that it has started.
    fn kill_git(&self) {
        let path = self.stage.run_folder().join("git-process.json");
        let group: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let id = i32::try_from(group["id"].as_i64().unwrap()).unwrap();
        kill_process_group(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    }

    /// Lets the hook go on.
    fn let_go(&self) {
        // Opened for both, a pipe has a reader even if the hook is gone.
        let mut gate = OpenOptions::new()
            .read(true)
            .write(true)
            .open(Self::gate(self.stage))
            .unwrap();
        gate.write_all(b"go\n").unwrap();
        let mark = self.stage.project().join(".git/in-hook");
        fs::remove_file(mark).unwrap();
        // Held until the hook has read: what is in a pipe that nobody has open is lost.
        std::mem::forget(gate);
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        if self.stage.project().join(".git/in-hook").exists() {
            self.let_go();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unhook_and_finish(stage: &Stage, executor: &mut Executor<'_>, hook: &str) {
    stage.unhook(hook);
    executor.finish_in_peace();
    executor.check_completed();
}

fn finished(child: Child) -> Outcome {
    Outcome::waited(child)
}

/// The one who comes after waits for the git that lives on, and finds its commit.
fn git_lives_on(hook: &str, environment: &[(&str, &str)]) {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let mut blocked = Blocked::in_hook(&stage, hook, environment);
    if environment.is_empty() {
        blocked.kill();
    }
    let mut again = stage.program(&COMMIT).spawn().unwrap();
    // It holds the lock as soon as it waits; until then there is nothing to be seen of it.
    let lock = stage.run_folder().join("lock");
    let id = again.id().to_string();
    wait_for("the lock", &mut again, || {
        fs::read_to_string(&lock).is_ok_and(|holder| holder.contains(&id))
    });
    blocked.let_go();
    let ran = finished(again);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        ran.json()["commitSha"],
        Value::from(stage.git(&["rev-parse", "HEAD"])),
        "{ran:?}"
    );
    drop(blocked);
    unhook_and_finish(&stage, &mut executor, hook);
}

#[test]
fn a_git_that_lives_on_in_its_hook_is_waited_for() {
    git_lives_on("pre-commit", &[]);
}

#[test]
fn a_git_that_lives_on_after_its_commit_is_waited_for() {
    git_lives_on("post-commit", &[]);
}

#[test]
fn a_git_that_nobody_has_noted_yet_does_not_commit_behind_our_back() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    stage.hook("pre-commit", ": > .git/in-hook\nsleep 1\n");
    let mut executor = brought_to(&stage, "commit", "1.1");
    for _ in 0..3 {
        let ran = executor.tm(&COMMIT, Some(Death::Point("commit-unrecorded", 1)));
        assert!(ran.died(), "{ran:?}");
    }
    executor.finish_in_peace();
    executor.check_completed();
}

/// A subtask's commit that was refused or interrupted has left everything as it was.
fn untouched(executor: &Executor<'_>, head: &str) {
    let stage = executor.stage;
    assert_eq!(
        stage.git(&["rev-parse", "HEAD"]),
        head,
        "{}",
        executor.history
    );
    assert_eq!(
        stage.git(&["diff", "--cached", "--name-status"]),
        "",
        "{}",
        executor.history
    );
    // A name that is only meant to be added shows as added in the working tree.
    assert_eq!(
        stage.git(&["diff", "--name-only", "--diff-filter=A"]),
        "",
        "{}",
        executor.history
    );
    executor.check_tasks(&[("1.1".to_owned(), "pending")], "pending");
    executor.check_nothing_left();
}

#[test]
fn a_git_that_is_killed_is_a_refusal() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    let mut blocked = Blocked::in_hook(&stage, "pre-commit", &[]);
    blocked.kill_git();
    fs::remove_file(stage.project().join(".git/in-hook")).unwrap();
    let status = blocked.child.wait().unwrap();
    assert_eq!(status.code(), Some(3));
    drop(blocked);
    untouched(&executor, &head);
    unhook_and_finish(&stage, &mut executor, "pre-commit");
}

#[test]
fn a_git_that_is_killed_after_its_commit_has_made_it() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let mut blocked = Blocked::in_hook(&stage, "post-commit", &[]);
    blocked.kill_git();
    fs::remove_file(stage.project().join(".git/in-hook")).unwrap();
    let status = blocked.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    drop(blocked);
    unhook_and_finish(&stage, &mut executor, "post-commit");
}

#[test]
fn the_locks_of_a_git_that_died_with_us_are_removed() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    let mut blocked = Blocked::in_hook(&stage, "pre-commit", &[]);
    blocked.kill();
    blocked.kill_git();
    fs::remove_file(stage.project().join(".git/in-hook")).unwrap();
    drop(blocked);
    assert!(stage.project().join(".git/index.lock").exists());
    executor.tm(&["autopilot", "resume"], None);
    untouched(&executor, &head);
    unhook_and_finish(&stage, &mut executor, "pre-commit");
}

#[test]
fn the_lock_of_somebody_else_is_respected() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let lock = stage.project().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let ran = executor.tm(&COMMIT, None);
    assert_eq!(ran.code(), "git_busy", "{ran:?}");
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    executor.finish_in_peace();
    executor.check_completed();
}

#[test]
fn a_hook_that_hangs_after_the_commit_does_not_hold_the_run_up_for_ever() {
    let stage = Stage::new(1);
    stage.write(
        ".taskmaster/config.json",
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}, "git": {"commitTimeout": 1000}}"#,
    );
    stage.commit_all("Less patience");
    let mut executor = brought_to(&stage, "commit", "1.1");
    let mut blocked = Blocked::in_hook(&stage, "post-commit", &[]);
    blocked.kill();
    let ran = executor.tm(&COMMIT, None);
    assert_eq!(ran.status, 0, "{ran:?}");
    fs::remove_file(stage.project().join(".git/in-hook")).unwrap();
    drop(blocked);
    unhook_and_finish(&stage, &mut executor, "post-commit");
}

/// Deaths before, in and after the commit.
fn deaths_of_a_commit() -> Vec<Death> {
    if cfg!(debug_assertions) {
        [
            "commit-before-tasks",
            "commit-after-tasks",
            "commit-in-git",
            "commit-after-git",
            "after-perform",
        ]
        .map(|name| Death::Point(name, 1))
        .to_vec()
    } else {
        vec![Death::BeforeGit(8), Death::AfterGit(10)]
    }
}

/// Brings a run to its commit, has that die in these ways, and goes on after `between` has happened.
fn dies_and_goes_on(
    prepare: impl Fn(&Stage),
    between: impl Fn(&Stage, bool),
    check: impl Fn(&Executor<'_>),
) {
    let stage = Stage::new(1);
    prepare(&stage);
    brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    stage.save(0);
    for death in deaths_of_a_commit() {
        stage.restore(0);
        let mut executor = Executor::new(&stage);
        let ran = executor.tm(&COMMIT, Some(death));
        assert!(ran.died(), "{death:?}: {ran:?}");
        // Git may live on for a moment; who comes after waits for it, and so does this.
        executor.tm(&["autopilot", "status"], None);
        between(&stage, stage.git(&["rev-parse", "HEAD"]) != head);
        executor.finish_in_peace();
        check(&executor);
    }
}

#[test]
fn hooks_that_change_files_and_message() {
    dies_and_goes_on(
        |stage| {
            stage.hook(
                "pre-commit",
                "echo formatted >> src/1.1.sh\ngit add src/1.1.sh\n",
            );
            stage.hook(
                "commit-msg",
                "sed -i.bak 's/ (task 1.1)$/, as it is (task 1.1)/' \"$1\"\nrm -f \"$1.bak\"\n",
            );
        },
        |_, _| {},
        |executor| {
            executor.check_completed();
            let subjects = executor.stage.git(&["log", "--format=%s", "main..HEAD"]);
            assert!(subjects.contains(", as it is (task 1.1)"), "{subjects}");
        },
    );
}

#[test]
fn without_a_reflog() {
    dies_and_goes_on(
        |stage| {
            stage.git(&["config", "core.logAllRefUpdates", "false"]);
        },
        |_, _| {},
        |executor| {
            executor.check_completed();
        },
    );
}

#[test]
fn a_signature_that_fails() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    stage.git(&["config", "commit.gpgSign", "true"]);
    stage.git(&["config", "gpg.program", "false"]);
    for death in [
        None,
        Some(Death::Point("commit-after-git", 1)),
        Some(Death::Point("after-perform", 1)),
    ] {
        let ran = executor.tm(&COMMIT, death.filter(|_| cfg!(debug_assertions)));
        assert!(ran.died() || ran.code() == "commit_refused", "{ran:?}");
        if ran.died() {
            executor.tm(&["autopilot", "resume"], None);
        }
        untouched(&executor, &head);
    }
    stage.git(&["config", "commit.gpgSign", "false"]);
    executor.finish_in_peace();
    executor.check_completed();
}

#[test]
fn a_tasks_file_that_somebody_edits_in_between() {
    dies_and_goes_on(
        |_| {},
        |stage, _| {
            let path = stage.project().join(".taskmaster/tasks/tasks.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("\"Words\"", "\"All words\"")).unwrap();
        },
        |executor| {
            let stage = executor.stage;
            let subjects = stage.git(&["log", "--format=%s", "main..HEAD"]);
            assert_eq!(subjects.matches("(task 1.1)").count(), 1, "{subjects}");
            let commit = stage.git(&["log", "--format=%H", "--grep=(task 1.1)", "main..HEAD"]);
            let committed = stage.git(&["show", &format!("{commit}:.taskmaster/tasks/tasks.json")]);
            assert!(committed.contains("\"done\""), "{committed}");
            // What was edited travels with the next status; nothing of it is lost.
            let tasks =
                fs::read_to_string(stage.project().join(".taskmaster/tasks/tasks.json")).unwrap();
            assert!(
                tasks.contains("All words")
                    && tasks.contains("\"done\"")
                    && tasks.contains("\"review\""),
                "{tasks}"
            );
            executor.check_tree();
        },
    );
}

#[test]
fn a_folder_in_the_place_of_a_file() {
    let stage = Stage::new(1);
    stage.write("src", "a file\n");
    stage.commit_all("A file");
    fs::remove_file(stage.project().join("src")).unwrap();
    stage.write(".taskmaster/keep", "");
    fs::remove_file(stage.project().join(".taskmaster/keep")).unwrap();
    stage.git(&["checkout", "--quiet", "--", "src"]);
    let mut executor = Executor::new(&stage);
    assert!(executor.answer("start", "", None));
    executor.work("red", "1.1");
    assert!(executor.answer("red", "1.1", None));
    fs::remove_file(stage.project().join("src")).unwrap();
    executor.work("green", "1.1");
    assert!(executor.answer("green", "1.1", None));
    stage.save(0);
    for death in deaths_of_a_commit() {
        stage.restore(0);
        let mut executor = Executor::new(&stage);
        assert!(executor.tm(&COMMIT, Some(death)).died());
        executor.finish_in_peace();
        executor.check_completed();
    }
}

#[test]
fn a_refusal_that_dies_on_its_way() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    stage.hook("pre-commit", "echo no >&2\nexit 1\n");
    brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    stage.save(0);
    for name in engine::fail_point::NAMES {
        for time in 1..=2 {
            stage.restore(0);
            let mut executor = Executor::new(&stage);
            if !executor.tm(&COMMIT, Some(Death::Point(name, time))).died() {
                break;
            }
            let ran = executor.tm(&COMMIT, None);
            assert_eq!(ran.code(), "commit_refused", "{name}:{time}: {ran:?}");
            untouched(&executor, &head);
            if time == 1 {
                unhook_and_finish(&stage, &mut executor, "pre-commit");
            }
        }
    }
}

#[test]
fn the_lock_of_a_git_that_died_while_it_added_names() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    let path = std::env::var("PATH").unwrap();
    let lock = stage.project().join(".git/index.lock");
    let shim = stage.temporary().join("git");
    write_program(
        &shim,
        format!(
            "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in *--intent-to-add*) cat > /dev/null; : > '{}'; kill -9 $PPID; kill -9 $$ ;; esac\nexec git \"$@\"\n",
            lock.display()
        ),
    );
    let output = stage
        .program(&COMMIT)
        .env("PATH", format!("{}:{path}", stage.temporary().display()))
        .output()
        .unwrap();
    assert!(Outcome::of(&output).died(), "{output:?}");
    assert!(lock.exists());
    executor.tm(&["autopilot", "resume"], None);
    untouched(&executor, &head);
    executor.finish_in_peace();
    executor.check_completed();
}

/// Puts a git in the way that does `what` when its arguments match `pattern`, and runs the command with it.
fn with_git_that(stage: &Stage, arguments: &[&str], pattern: &str, what: &str) -> Outcome {
    let path = std::env::var("PATH").unwrap();
    let shim = stage.temporary().join("git");
    write_program(
        &shim,
        format!(
            "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in {pattern}) {what} ;; esac\nexec git \"$@\"\n"
        ),
    );
    let output = stage
        .program(arguments)
        .env("PATH", format!("{}:{path}", stage.temporary().display()))
        .output()
        .unwrap();
    fs::remove_file(&shim).unwrap();
    Outcome::of(&output)
}

/// All lock files below the git folder.
fn locks(stage: &Stage) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![stage.project().join(".git")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "lock") {
                found.push(path);
            }
        }
    }
    found
}

const BRANCH: &str = "master/task-1-words";

#[test]
fn the_locks_of_a_git_that_died_while_it_made_the_branch() {
    let stage = Stage::new(1);
    let git = stage.project().join(".git");
    fs::create_dir_all(git.join("refs/heads/master")).unwrap();
    stage.save(0);
    for lock in [
        "index.lock".to_owned(),
        "HEAD.lock".to_owned(),
        "packed-refs.lock".to_owned(),
        format!("refs/heads/{BRANCH}.lock"),
    ] {
        // Noted by its parent, and dead before that.
        for wait in [
            "",
            "while ! grep -qs . \"$HOME\"/store/projects/*/runs/*/git-process.json; do sleep 0.01; done;",
        ] {
            stage.restore(0);
            let mut executor = Executor::new(&stage);
            let path = git.join(&lock);
            let die = format!("{wait} : > '{}'; kill -9 $PPID; kill -9 $$", path.display());
            let ran = with_git_that(
                &stage,
                &["autopilot", "start", "1"],
                "*switch*--create*",
                &die,
            );
            assert!(ran.died(), "{lock}: {ran:?}");
            assert!(path.exists(), "{lock}");
            let next = executor.next();
            assert_eq!(next["action"], "paused", "{lock}");
            executor.finish_in_peace();
            executor.check_completed();
            assert!(locks(&stage).is_empty(), "{:?}", locks(&stage));
        }
    }
}

#[test]
fn the_locks_of_a_git_that_died_while_it_deleted_the_branch() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let lock = stage.project().join(".git/packed-refs.lock");
    let key = key(&stage.store());
    let cleanup = ["autopilot", "abort", "--cleanup", "--force", "--sign", &key];
    let die = format!(": > '{}'; kill -9 $PPID; kill -9 $$", lock.display());
    let ran = with_git_that(&stage, &cleanup, "*branch*--delete*", &die);
    assert!(ran.died() && lock.exists(), "{ran:?}");
    let ran = executor.tm(&cleanup, None);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(locks(&stage).is_empty(), "{:?}", locks(&stage));
    let branches = stage.git(&["branch", "--list", "--format=%(refname:short)"]);
    assert_eq!(branches, "main");
}

/// The reference's lock cannot be renamed into place: git has written the reflog by then, and no commit is there.
#[test]
fn a_commit_that_is_not_on_the_branch_is_not_committed() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    // The reference becomes one of the packed ones; then a folder stands where its file has to be.
    stage.git(&["pack-refs", "--all", "--prune"]);
    let place = stage.project().join(".git/refs/heads").join(BRANCH);
    stage.hook(
        "reference-transaction",
        &format!(
            "[ \"$1\" = prepared ] || exit 0\ngrep -q ' refs/heads/' || exit 0\nmkdir -p '{0}/junk' && : > '{0}/junk/x'\n",
            place.display()
        ),
    );
    let ran = executor.tm(&COMMIT, None);
    assert_ne!(ran.status, 0, "{ran:?}");
    stage.unhook("reference-transaction");
    fs::remove_dir_all(&place).unwrap();
    assert_eq!(stage.git(&["rev-parse", "HEAD"]), head);
    let log = stage.git(&["reflog", "show", BRANCH, "--format=%gs"]);
    assert!(log.starts_with("tm "), "the line is there: {log}");
    executor.finish_in_peace();
    executor.check_completed();
}

/// The same line in the reflog, of a git that died with everything else between writing it and moving the branch.
#[test]
fn a_line_in_the_reflog_is_no_commit() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.git(&["rev-parse", "HEAD"]);
    // The first git adds names, the second makes the commit; it never gets to.
    let ran = executor.tm(&COMMIT, Some(Death::Point("commit-in-git", 2)));
    assert!(ran.died(), "{ran:?}");
    let journal = fs::read_to_string(stage.run_folder().join("activity.jsonl")).unwrap();
    let intent = journal
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .rfind(|event| event["event"] == "effect:intended")
        .unwrap();
    let what = |name: &str| {
        intent["what"][name]
            .as_str()
            .unwrap_or_else(|| panic!("{intent}"))
            .to_owned()
    };
    let output = stage
        .process("git")
        .env("GIT_AUTHOR_DATE", format!("@{}", what("authorDate")))
        .args(["commit-tree", "-p", &head, "-m", "x", "HEAD^{tree}"])
        .output()
        .unwrap();
    let phantom = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let path = stage.project().join(".git/logs/refs/heads").join(BRANCH);
    let mut log = fs::read_to_string(&path).unwrap();
    let action = what("reflogAction");
    let line = format!("{head} {phantom} S <s@localhost> 1760000000 +0000\t{action}: x\n");
    log.push_str(&line);
    fs::write(&path, log).unwrap();
    let ran = executor.tm(&COMMIT, None);
    assert_ne!(ran.json()["commitSha"], phantom.as_str(), "{ran:?}");
    executor.finish_in_peace();
    executor.check_completed();
}
