//! Git and its hooks around a death: git that lives on, git that dies too, hooks that change things or hang.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::ending::{brought_to, completed};
use super::executor::Executor;
use super::stage::{Death, Stage, holds_the_lock, wait_for};
use testkit::Outcome;
use testkit::person::key;

const COMMIT: [&str; 3] = ["autopilot", "commit", "1.1"];

const BRANCH: &str = "master/task-1-words";

/// A commit that stands in a hook until it is let go.
struct Blocked<'a> {
    stage: &'a Stage,
    child: Child,
}

impl<'a> Blocked<'a> {
    /// Starts the commit of 1.1, and waits until it stands in the hook.
    fn in_hook(stage: &'a Stage, hook: &str) -> Self {
        let gate = stage.project().join(".git/gate");
        let made = stage.process("mkfifo").arg(gate).status().unwrap();
        assert!(made.success());
        stage.hook(hook, ": > .git/in-hook\nread -r line < .git/gate\n");
        let child = stage.program(&COMMIT).spawn().unwrap();
        let mut blocked = Self { stage, child };
        let mark = blocked.mark();
        wait_for("the hook", &mut blocked.child, || mark.exists());
        blocked
    }

    /// What says that it stands there.
    fn mark(&self) -> PathBuf {
        self.stage.project().join(".git/in-hook")
    }

    /// Kills the process that waits for git.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills git with everything that it has started, among it the hook.
    fn kill_git(&self) {
        let path = self.stage.run_folder().join("git-process.json");
        let group: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let id = i32::try_from(group["id"].as_i64().unwrap()).unwrap();
        kill_process_group(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
        fs::remove_file(self.mark()).unwrap();
    }

    /// Lets the hook go on.
    fn let_go(&self) {
        // Opened for both, a pipe has a reader even if the hook is gone.
        let mut gate = OpenOptions::new();
        let gate = gate.read(true).write(true);
        let mut gate = gate.open(self.stage.project().join(".git/gate")).unwrap();
        gate.write_all(b"go\n").unwrap();
        fs::remove_file(self.mark()).unwrap();
        // Held until the hook has read: what is in a pipe that nobody has open is lost.
        std::mem::forget(gate);
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        if self.mark().exists() {
            self.let_go();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unhook_and_finish(executor: &mut Executor<'_>, hook: &str) {
    executor.stage.unhook(hook);
    executor.completes();
}

/// The one who comes after waits for the git that lives on, and finds its commit.
#[test]
fn a_git_that_lives_on_is_waited_for() {
    for hook in ["pre-commit", "post-commit"] {
        let stage = Stage::new(1);
        let mut executor = brought_to(&stage, "commit", "1.1");
        let mut blocked = Blocked::in_hook(&stage, hook);
        blocked.kill();
        let mut again = stage.program(&COMMIT).spawn().unwrap();
        // It holds the lock as soon as it waits; until then there is nothing to be seen of it.
        holds_the_lock(&stage, &mut again);
        blocked.let_go();
        let ran = Outcome::waited(again);
        assert_eq!(ran.ok()["commitSha"], stage.head(), "{hook}");
        drop(blocked);
        unhook_and_finish(&mut executor, hook);
    }
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
    executor.completes();
}

/// A subtask's commit that was refused or interrupted has left everything as it was.
fn untouched(executor: &Executor<'_>, head: &str) {
    let stage = executor.stage;
    assert_eq!(stage.head(), head, "{}", executor.history);
    // A name that is only meant to be added shows as added in the working tree.
    for words in [
        &["diff", "--cached", "--name-status"][..],
        &["diff", "--name-only", "--diff-filter=A"],
    ] {
        assert_eq!(stage.git(words), "", "{words:?} {}", executor.history);
    }
    executor.check_tasks(&[], "pending");
    executor.check_nothing_left();
}

/// Before its commit that is a refusal; after it the commit is made.
#[test]
fn a_git_that_is_killed_has_committed_or_not() {
    for (hook, status) in [("pre-commit", 3), ("post-commit", 0)] {
        let stage = Stage::new(1);
        let mut executor = brought_to(&stage, "commit", "1.1");
        let head = stage.head();
        let mut blocked = Blocked::in_hook(&stage, hook);
        blocked.kill_git();
        assert_eq!(blocked.child.wait().unwrap().code(), Some(status));
        drop(blocked);
        if status == 3 {
            untouched(&executor, &head);
        }
        unhook_and_finish(&mut executor, hook);
    }
}

#[test]
fn the_locks_of_a_git_that_died_with_us_are_removed() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    let mut blocked = Blocked::in_hook(&stage, "pre-commit");
    blocked.kill();
    blocked.kill_git();
    drop(blocked);
    assert!(stage.project().join(".git/index.lock").exists());
    executor.tm(&["autopilot", "resume"], None);
    untouched(&executor, &head);
    unhook_and_finish(&mut executor, "pre-commit");
}

#[test]
fn the_lock_of_somebody_else_is_respected() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let lock = stage.project().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(executor.tm(&COMMIT, None).code(), "git_busy");
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    executor.completes();
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
    let mut blocked = Blocked::in_hook(&stage, "post-commit");
    blocked.kill();
    executor.answer_once("commit", "1.1");
    fs::remove_file(blocked.mark()).unwrap();
    drop(blocked);
    unhook_and_finish(&mut executor, "post-commit");
}

/// Deaths before, in and after the commit.
fn deaths_of_a_commit() -> Vec<Death> {
    if !cfg!(debug_assertions) {
        return vec![Death::BeforeGit(8), Death::AfterGit(10)];
    }
    let points = [
        "commit-before-tasks",
        "commit-after-tasks",
        "commit-in-git",
        "commit-after-git",
        "after-perform",
    ];
    points.map(|name| Death::Point(name, 1)).to_vec()
}

/// From its commit on, has a run die in these ways, and go on after `between` has happened.
fn dies_and_goes_on(stage: &Stage, between: impl Fn(&Stage), check: impl Fn(&Executor<'_>)) {
    stage.save(0);
    for death in deaths_of_a_commit() {
        stage.restore(0);
        let mut executor = Executor::new(stage);
        let ran = executor.tm(&COMMIT, Some(death));
        assert!(ran.died(), "{death:?}: {ran:?}");
        // Git may live on for a moment; who comes after waits for it, and so does this.
        executor.tm(&["autopilot", "status"], None);
        between(stage);
        executor.finish_in_peace();
        check(&executor);
    }
}

#[test]
fn hooks_that_change_files_and_message() {
    let stage = Stage::new(1);
    stage.hook(
        "pre-commit",
        "echo formatted >> src/1.1.sh\ngit add src/1.1.sh\n",
    );
    stage.hook(
        "commit-msg",
        "sed -i.bak 's/ (task 1.1)$/, as it is (task 1.1)/' \"$1\"\nrm -f \"$1.bak\"\n",
    );
    brought_to(&stage, "commit", "1.1");
    dies_and_goes_on(
        &stage,
        |_| {},
        |executor| {
            executor.check_completed();
            let subjects = executor.stage.git(&["log", "--format=%s", "main..HEAD"]);
            assert!(subjects.contains(", as it is (task 1.1)"), "{subjects}");
        },
    );
}

#[test]
fn without_a_reflog() {
    let stage = Stage::new(1);
    stage.git(&["config", "core.logAllRefUpdates", "false"]);
    brought_to(&stage, "commit", "1.1");
    dies_and_goes_on(&stage, |_| {}, completed);
}

#[test]
fn a_signature_that_fails() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    stage.git(&["config", "commit.gpgSign", "true"]);
    stage.git(&["config", "gpg.program", "false"]);
    for point in ["", "commit-after-git", "after-perform"] {
        let dies = cfg!(debug_assertions) && !point.is_empty();
        let ran = executor.tm(&COMMIT, dies.then_some(Death::Point(point, 1)));
        assert!(ran.died() || ran.code() == "commit_refused", "{ran:?}");
        if ran.died() {
            executor.tm(&["autopilot", "resume"], None);
        }
        untouched(&executor, &head);
    }
    stage.git(&["config", "commit.gpgSign", "false"]);
    executor.completes();
}

#[test]
fn a_tasks_file_that_somebody_edits_in_between() {
    const TASKS: &str = ".taskmaster/tasks/tasks.json";
    let stage = Stage::new(1);
    brought_to(&stage, "commit", "1.1");
    let edit = |stage: &Stage| {
        let text = stage.read(TASKS);
        stage.write(TASKS, text.replace("\"Words\"", "\"All words\""));
    };
    dies_and_goes_on(&stage, edit, |executor| {
        let stage = executor.stage;
        let of_task = ["log", "--format=%H", "--grep=(task 1.1)", "main..HEAD"];
        let commit = stage.git(&of_task);
        assert_eq!(commit.lines().count(), 1, "{commit}");
        let committed = stage.git(&["show", &format!("{commit}:{TASKS}")]);
        assert!(committed.contains("\"done\""), "{committed}");
        // What was edited travels with the next status; nothing of it is lost.
        let tasks = stage.read(TASKS);
        for told in ["All words", "\"done\"", "\"review\""] {
            assert!(tasks.contains(told), "{told}: {tasks}");
        }
        executor.check_tree(&[]);
    });
}

#[test]
fn a_folder_in_the_place_of_a_file() {
    let stage = Stage::new(1);
    stage.write("src", "a file\n");
    stage.commit_all("A file");
    let mut executor = Executor::new(&stage);
    for action in ["start", "red", "green"] {
        if action == "green" {
            fs::remove_file(stage.project().join("src")).unwrap();
        }
        executor.work(action, "1.1");
        executor.answer_once(action, "1.1");
    }
    dies_and_goes_on(&stage, |_| {}, completed);
}

#[test]
fn a_refusal_that_dies_on_its_way() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    stage.hook("pre-commit", "echo no >&2\nexit 1\n");
    brought_to(&stage, "commit", "1.1");
    let head = stage.head();
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
                unhook_and_finish(&mut executor, "pre-commit");
            }
        }
    }
}

/// Runs a command with a git that makes this lock when its arguments match `pattern`, as soon as `waited`, and dies with its
/// parent.
fn with_git_that_dies(stage: &Stage, words: &[&str], pattern: &str, waited: &str, lock: &str) {
    let lock = stage.project().join(".git").join(lock);
    let dies = format!(
        "{waited} : > '{}'; kill -9 $PPID; kill -9 $$",
        lock.display()
    );
    let mut command = stage.program(words);
    let script = format!("case \"$*\" in {pattern}) {dies} ;; esac\nexec git \"$@\"\n");
    stage.put_git_in_the_way(&mut command, &script);
    let ran = Outcome::of(&command.output().unwrap());
    assert!(ran.died() && lock.exists(), "{ran:?}");
}

#[test]
fn the_lock_of_a_git_that_died_while_it_added_names() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    let waited = "cat > /dev/null;";
    with_git_that_dies(&stage, &COMMIT, "*--intent-to-add*", waited, "index.lock");
    executor.tm(&["autopilot", "resume"], None);
    untouched(&executor, &head);
    executor.completes();
}

#[test]
fn the_locks_of_a_git_that_died_while_it_made_the_branch() {
    let stage = Stage::new(1);
    fs::create_dir_all(stage.project().join(".git/refs/heads/master")).unwrap();
    stage.save(0);
    // Noted by its parent, and dead before that.
    let noted = "while ! grep -qs . \"$HOME\"/store/projects/*/runs/*/git-process.json; do sleep 0.01; done;";
    let of_branch = format!("refs/heads/{BRANCH}.lock");
    for lock in ["index.lock", "HEAD.lock", "packed-refs.lock", &of_branch] {
        for waited in ["", noted] {
            stage.restore(0);
            let start = ["autopilot", "start", "1"];
            with_git_that_dies(&stage, &start, "*switch*--create*", waited, lock);
            let mut executor = Executor::new(&stage);
            assert_eq!(executor.next()["action"], "paused", "{lock}");
            // Nothing is left, no lock either.
            executor.completes();
        }
    }
}

#[test]
fn the_locks_of_a_git_that_died_while_it_deleted_the_branch() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "red", "1.1");
    let key = key(&stage.store());
    let cleanup = ["autopilot", "abort", "--cleanup", "--force", "--sign", &key];
    with_git_that_dies(
        &stage,
        &cleanup,
        "*branch*--delete*",
        "",
        "packed-refs.lock",
    );
    let ran = executor.tm(&cleanup, None);
    assert_eq!(ran.status, 0, "{ran:?}");
    executor.check_nothing_left();
    let branches = stage.git(&["branch", "--list", "--format=%(refname:short)"]);
    assert_eq!(branches, "main");
}

/// The reference's lock cannot be renamed into place: git has written the reflog by then, and no commit is there.
#[test]
fn a_commit_that_is_not_on_the_branch_is_not_committed() {
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.head();
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
    assert_eq!(stage.head(), head);
    let log = stage.git(&["reflog", "show", BRANCH, "--format=%gs"]);
    assert!(log.starts_with("tm "), "the line is there: {log}");
    executor.completes();
}

/// The same line in the reflog, of a git that died with everything else between writing it and moving the branch.
#[test]
fn a_line_in_the_reflog_is_no_commit() {
    if !cfg!(debug_assertions) {
        return;
    }
    let stage = Stage::new(1);
    let mut executor = brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    // The first git adds names, the second makes the commit; it never gets to.
    let ran = executor.tm(&COMMIT, Some(Death::Point("commit-in-git", 2)));
    assert!(ran.died(), "{ran:?}");
    let journal = fs::read_to_string(stage.run_folder().join("activity.jsonl")).unwrap();
    let mut events = journal
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let intends = |event: &Value| event["event"] == "effect:intended";
    let intent = events.rfind(intends).unwrap();
    let what = |name: &str| intent["what"][name].as_str().unwrap();
    let output = stage
        .process("git")
        .env("GIT_AUTHOR_DATE", format!("@{}", what("authorDate")))
        .args(["commit-tree", "-p", &head, "-m", "x", "HEAD^{tree}"])
        .output()
        .unwrap();
    let phantom = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let action = what("reflogAction");
    let line = format!("{head} {phantom} S <s@localhost> 1760000000 +0000\t{action}: x\n");
    let path = stage.project().join(".git/logs/refs/heads").join(BRANCH);
    let log = OpenOptions::new().append(true).open(path);
    log.unwrap().write_all(line.as_bytes()).unwrap();
    let ran = executor.tm(&COMMIT, None);
    assert_ne!(ran.json()["commitSha"], phantom.as_str(), "{ran:?}");
    executor.completes();
}
