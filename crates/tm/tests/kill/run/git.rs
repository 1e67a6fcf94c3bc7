//! Git and its hooks around a death: git that lives on, git that dies too, hooks that change things or hang.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::ending::brought_to;
use super::executor::Executor;
use super::matrix::die_everywhere;
use super::stage::{Death, Stage, holds_the_lock, wait_for};
use testkit::Outcome;
use testkit::chance::{seed, tries_all};
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
    testkit::by_chance!(3);
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
    testkit::by_chance!(3);
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

/// Git dies in the hook before its commit, or behind it, and with it, or not, the process that waits for it. Only behind the
/// commit it is made; what a git that died leaves is cleared away.
#[test]
fn a_git_that_is_killed_has_committed_or_not() {
    testkit::by_chance!(3);
    for (hook, with_us, status) in [
        ("pre-commit", false, Some(3)),
        ("post-commit", false, Some(0)),
        ("pre-commit", true, None),
    ] {
        let stage = Stage::new(1);
        let mut executor = brought_to(&stage, "commit", "1.1");
        let head = stage.head();
        let mut blocked = Blocked::in_hook(&stage, hook);
        if with_us {
            blocked.kill();
        }
        blocked.kill_git();
        assert_eq!(blocked.child.wait().unwrap().code(), status);
        drop(blocked);
        let lock = stage.project().join(".git/index.lock");
        assert_eq!(lock.exists(), with_us);
        if with_us {
            executor.tm(&["autopilot", "resume"], None);
        }
        if hook == "pre-commit" {
            untouched(&executor, &head);
        }
        unhook_and_finish(&mut executor, hook);
    }
}

#[test]
fn a_hook_that_hangs_after_the_commit_does_not_hold_the_run_up_for_ever() {
    testkit::by_chance!(3);
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

/// Deaths before, in and after the commit: all, if the environment asks for that, else one.
fn deaths_of_a_commit() -> Vec<Death> {
    let points = [
        "commit-before-tasks",
        "commit-after-tasks",
        "commit-in-git",
        "commit-after-git",
        "after-perform",
    ];
    let all = if cfg!(debug_assertions) {
        points.map(|name| Death::Point(name, 1)).to_vec()
    } else {
        vec![Death::BeforeGit(8), Death::AfterGit(10)]
    };
    let one = usize::try_from(seed()).unwrap_or_default() % all.len();
    if tries_all() { all } else { vec![all[one]] }
}

/// Hooks change files and the message, nothing is logged of the branch, a folder comes in the place of a file, and somebody edits
/// the tasks file while nobody is at work.
#[test]
fn a_commit_with_much_that_is_odd_about_it_is_made_once() {
    const TASKS: &str = ".taskmaster/tasks/tasks.json";
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    let add = "git diff --cached --quiet -- src && exit\necho formatted >> src/1.1.sh\ngit add src/1.1.sh\n";
    stage.hook("pre-commit", add);
    let edit = "sed -i.bak 's/ (task 1.1)$/, as it is (task 1.1)/' \"$1\"\nrm -f \"$1.bak\"\n";
    stage.hook("commit-msg", edit);
    stage.git(&["config", "core.logAllRefUpdates", "false"]);
    stage.write("src", "a file\n");
    stage.commit_all("A file");
    brought_to(&stage, "commit", "1.1");
    stage.save(0);
    for death in deaths_of_a_commit() {
        stage.restore(0);
        let mut executor = Executor::new(&stage);
        let ran = executor.tm(&COMMIT, Some(death));
        assert!(ran.died(), "{death:?}: {ran:?}");
        // Git may live on for a moment; who comes after waits for it, and so does this.
        executor.tm(&["autopilot", "status"], None);
        let text = stage.read(TASKS);
        stage.write(TASKS, text.replace("\"Words\"", "\"All words\""));
        executor.finish_in_peace();
        let of_task = ["log", "--format=%H %s", "--grep=(task 1.1)", "main..HEAD"];
        let commits = stage.git(&of_task);
        assert!(commits.contains(", as it is (task 1.1)"), "{commits}");
        assert_eq!(commits.lines().count(), 1, "{commits}");
        let committed = stage.git(&["show", &format!("{}:{TASKS}", &commits[..40])]);
        assert!(committed.contains("\"done\""), "{committed}");
        // What was edited travels with the next status; nothing of it is lost.
        let tasks = stage.read(TASKS);
        for told in ["All words", "\"done\"", "\"review\""] {
            assert!(tasks.contains(told), "{told}: {tasks}");
        }
        executor.check_tree(&[]);
    }
}

#[test]
fn a_refusal_that_dies_on_its_way() {
    testkit::by_chance!(3);
    let stage = Stage::new(1);
    stage.hook("pre-commit", "echo no >&2\nexit 1\n");
    brought_to(&stage, "commit", "1.1");
    let head = stage.head();
    let dies = |executor: &mut Executor<'_>, death| executor.tm(&COMMIT, Some(death)).died();
    let what = "a commit that is refused";
    die_everywhere(&stage, what, ("fail points", 8), dies, |executor| {
        let ran = executor.tm(&COMMIT, None);
        assert_eq!(ran.code(), "commit_refused", "{ran:?}");
        untouched(executor, &head);
    });
    unhook_and_finish(&mut Executor::new(&stage), "pre-commit");
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

/// Each lock that a git can leave is shown in `crates/workspace/tests/it/git/recovering.rs`.
#[test]
fn the_lock_of_a_git_that_died_is_removed() {
    testkit::by_chance!(3);
    // Noted by its parent, and dead before that.
    let noted = "while ! grep -qs . \"$HOME\"/store/projects/*/runs/*/git-process.json; do sleep 0.01; done;";
    let of_branch = format!("refs/heads/{BRANCH}.lock");
    let stage = Stage::new(1);
    fs::create_dir_all(stage.project().join(".git/refs/heads/master")).unwrap();
    stage.save(0);
    let start = ["autopilot", "start", "1"];
    for (waited, lock) in [
        ("", "index.lock"),
        (noted, "HEAD.lock"),
        (noted, &of_branch),
    ] {
        stage.restore(0);
        with_git_that_dies(&stage, &start, "*switch*--create*", waited, lock);
        let mut executor = Executor::new(&stage);
        assert_eq!(executor.next()["action"], "paused", "{lock}");
        executor.tm(&["autopilot", "resume"], None);
        executor.come_to(("red", "1.1"));
        executor.check_nothing_left();
    }
    let mut executor = Executor::new(&stage);
    executor.come_to(("commit", "1.1"));
    let head = stage.head();
    let waited = "cat > /dev/null;";
    with_git_that_dies(&stage, &COMMIT, "*--intent-to-add*", waited, "index.lock");
    executor.tm(&["autopilot", "resume"], None);
    untouched(&executor, &head);

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
