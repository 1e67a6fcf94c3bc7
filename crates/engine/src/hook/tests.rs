//! The readers of command lines, by tables.

use std::fs;
use std::path::Path;

use machine::RunState;
use machine::role::FileClass;
use machine::state::RunStatus;
use tempfile::TempDir;
use workspace::tasks::DEFAULT_TAG;

use crate::capability::memory::{self, Memory, StartFacts};
use crate::hook::git_line::{self, Act, Line};
use crate::hook::place::Head;
use crate::hook::underway::{ActiveRun, Phase};
use crate::hook::*;

/// A run in a repository that is there as far as no git has to be asked.
struct Stage {
    _folder: TempDir,
    run: ActiveRun,
}

fn stage(phase: Phase) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let top_level = root.join("project");
    let git_dir = top_level.join(".git");
    for (file, text) in [
        (".git/HEAD", "ref: refs/heads/task-1\n"),
        (".git/refs/heads/main", "x\n"),
        (".git/refs/heads/task-1", "x\n"),
        (".git/refs/heads/feature/one", "x\n"),
        (
            ".git/packed-refs",
            "# pack-refs with: peeled\n0123 refs/heads/old\n0123 refs/tags/v1\n0123 refs/remotes/origin/theirs\n",
        ),
        ("src/a.rs", ""),
        ("README.md", ""),
        ("vendored/.git/HEAD", ""),
        ("../other/.git/HEAD", ""),
    ] {
        testkit::files::write(&top_level.join(file), text);
    }
    let start = StartFacts {
        tag: DEFAULT_TAG.to_owned(),
        branch: "task-1".to_owned(),
        common_dir: git_dir.clone(),
        git_dir: git_dir.clone(),
        top_level: top_level.clone(),
        project_root: top_level.clone(),
        ..StartFacts::default()
    };
    let mut run = RunState {
        status: RunStatus::Running,
        ..RunState::default()
    };
    memory::START.put(&mut run.kept, &start).unwrap();
    Stage {
        _folder: folder,
        run: ActiveRun {
            root: top_level,
            memory: Memory::of(&run).unwrap(),
            run: run.into(),
            phase,
            edits: None,
            only: Vec::new(),
            unit: None,
            head: place::head(&git_dir),
            is_merging: false,
        },
    }
}

/// What becomes of a line; empty where it goes through.
fn code(run: &ActiveRun, line: &str) -> &'static str {
    commands::judge(&run.root, line, |_| Some(run))
        .code()
        .unwrap_or_default()
}

const COMMIT: &str = messages::EARLY_COMMIT;
const PUSH: &str = messages::PUSH;
const RESET: &str = messages::HARD_RESET;
const SWITCH: &str = messages::BRANCH_SWITCH;

#[test]
fn obvious_git_commands_are_held_back_and_nothing_else() {
    let stage = stage(Phase::Red);
    let top = stage.run.root.display().to_string();
    for (line, expected) in [
        // Commits.
        ("git commit", COMMIT),
        ("git add -A && git commit -m x", COMMIT),
        ("git add . ; git commit -am \"x y\"", COMMIT),
        ("git diff --quiet || git commit --amend --no-edit", COMMIT),
        ("git status\ngit commit -m x", COMMIT),
        ("git commit -m x > /dev/null 2>&1", COMMIT),
        ("2>/dev/null git commit", COMMIT),
        ("git commit \\\n  -m x", COMMIT),
        ("GIT_AUTHOR_NAME=x A=b git commit", COMMIT),
        ("! git commit", COMMIT),
        ("/usr/bin/git commit", COMMIT),
        ("'git' \"commit\"", COMMIT),
        ("git -c user.name=x --no-pager commit", COMMIT),
        ("git commit -m \"$(cat <<'EOF'\nAdd it\nEOF\n)\"", COMMIT),
        ("git commit -F - <<'EOF'\nAdd it\nEOF", COMMIT),
        ("git commit -m `date`", COMMIT),
        ("git commit -m --dry-run", COMMIT),
        ("git commit -m x & wait", COMMIT),
        ("true | git commit -F -", COMMIT),
        ("cd src && cd .. && git commit -m x", COMMIT),
        ("echo hi # comment\ngit commit", COMMIT),
        ("git commit --dry-run", ""),
        ("git commit --help", ""),
        ("git commit -h", ""),
        ("echo git commit", ""),
        ("echo 'x; git commit'", ""),
        ("echo \"x\ngit commit\ny\"", ""),
        ("ls # ; git commit", ""),
        ("echo \"$(git commit)\"", ""),
        ("echo `git commit`", ""),
        ("(git commit)", ""),
        ("cat > notes <<EOF\ngit commit\nEOF", ""),
        ("if true; then git commit; fi", ""),
        ("{ git commit; }", ""),
        ("eval git commit", ""),
        ("alias git=x; git commit", ""),
        ("f() { git commit; }", ""),
        ("sudo git commit", ""),
        ("git ci", ""),
        ("git \"$verb\"", ""),
        ("$git commit", ""),
        ("cd ../other && git commit -m x", ""),
        ("cd /nowhere/at/all && git commit", ""),
        ("cd \"$HOME\" && git commit", ""),
        ("cd && git commit", ""),
        ("cd vendored && git commit", ""),
        ("pushd src && git commit", ""),
        ("git -C ../other commit", ""),
        ("git -C \"$there\" commit", ""),
        ("git --git-dir=../other/.git commit", ""),
        ("GIT_DIR=../other/.git git commit", ""),
        ("export GIT_DIR=../other/.git; git commit", ""),
        ("GIT_DIR=x; git commit", ""),
        ("git -c alias.commit=log commit", ""),
        ("git commit-graph write", ""),
        ("git", ""),
        ("git -C", ""),
        ("git 'commit", ""),
        ("", ""),
        // Pushes.
        ("git push", PUSH),
        ("git push --dry-run", ""),
        ("git push -n", ""),
        ("git stash push", ""),
        // Resets.
        ("git reset --hard", RESET),
        ("git reset -q --hard main", RESET),
        ("git reset --soft HEAD~1", ""),
        ("git reset -- --hard", ""),
        // Branches.
        ("git switch main", SWITCH),
        ("git switch -", SWITCH),
        ("git switch -c new", SWITCH),
        ("git switch -Cnew", SWITCH),
        ("git switch --create \"$name\"", SWITCH),
        ("git switch --detach HEAD", SWITCH),
        ("git switch task-1", ""),
        ("git switch \"$branch\"", ""),
        ("git checkout main", SWITCH),
        ("git checkout feature/one", SWITCH),
        ("git checkout old", SWITCH),
        ("git checkout v1", SWITCH),
        ("git checkout theirs", SWITCH),
        ("git checkout -", SWITCH),
        ("git checkout HEAD~2", SWITCH),
        ("git checkout 1a2b3c4d", SWITCH),
        ("git checkout -b new", SWITCH),
        ("git checkout --orphan new", SWITCH),
        ("git checkout task-1", ""),
        ("git checkout HEAD", ""),
        ("git checkout -- main", ""),
        ("git checkout main src/a.rs", ""),
        ("git checkout src/a.rs", ""),
        ("git checkout src/deleted.rs", ""),
        ("git checkout -p", ""),
        ("git checkout", ""),
        ("git checkout ../../etc/passwd", ""),
        ("git branch new", ""),
    ] {
        assert_eq!(code(&stage.run, line), expected, "{line:?}");
    }
    for line in [
        format!("cd {top} && git commit -m x"),
        format!("git -C {top} -C src commit"),
    ] {
        assert_eq!(code(&stage.run, &line), COMMIT, "{line:?}");
    }
}

#[test]
fn behind_the_last_subtask_nothing_is_committed_by_hand() {
    let stage = stage(Phase::Finalize);
    let says = |line: &str, word: &str| {
        let denial = commands::judge(&stage.run.root, line, |_| Some(&stage.run));
        matches!(&denial, Decision::Deny { reason, .. } if reason.contains(word))
    };
    assert!(says("git commit -m x", "opens a repair"));
    assert!(says("git reset --hard", "") && !says("git reset --hard", "skip"));
}

#[test]
fn a_merge_with_conflicts_is_concluded_in_any_phase() {
    for phase in [Phase::Red, Phase::Green, Phase::Commit, Phase::Finalize] {
        let mut stage = stage(phase);
        stage.run.is_merging = true;
        assert_eq!(code(&stage.run, "git commit --no-edit"), "");
        assert_ne!(code(&stage.run, "git commit --no-verify"), "");
    }
}

#[test]
fn in_commit_a_commit_goes_through_if_hooks_and_branch_are_right() {
    let mut stage = stage(Phase::Commit);
    let hooks = messages::UNVERIFIED_COMMIT;
    for (line, expected) in [
        ("git commit -m x", ""),
        ("git commit -m -n", ""),
        ("git commit -m --no-verify", ""),
        ("git commit -mn", ""),
        ("git commit -uno -m x", ""),
        ("git commit -- -n", ""),
        ("git commit --no-verify -m x", hooks),
        ("git commit --no-veri", hooks),
        ("git commit -n -m x", hooks),
        ("git commit -anm x", hooks),
        ("git commit -m x -n", hooks),
        ("git -c core.hooksPath=/dev/null commit", hooks),
        ("git add -A && git commit -nm \"$(cat m)\"", hooks),
        ("git push", PUSH),
    ] {
        assert_eq!(code(&stage.run, line), expected, "{line:?}");
    }
    for head in [Head::Branch("main".to_owned()), Head::Detached] {
        stage.run.head = head;
        assert_eq!(code(&stage.run, "git commit"), messages::STRAY_COMMIT);
        assert_eq!(code(&stage.run, "git switch task-1"), "");
    }
    stage.run.head = Head::Unknown;
    assert_eq!(code(&stage.run, "git commit"), "");
}

#[test]
fn files_of_another_kind_than_the_subtask_are_held_back() {
    let mut stage = stage(Phase::Work);
    let of = |stage: &Stage, file: &str| {
        let decision = edits::judge(&stage.run, &stage.run.root, &[file.into()]);
        decision.code().unwrap_or_default()
    };
    let held = messages::OTHER_WORK;
    for (only, file, expected) in [
        (FileClass::Docs, "README.md", ""),
        (FileClass::Docs, "src/lib.rs", held),
        (FileClass::Source, "tests/test_app.py", held),
        (FileClass::Tests, "src/lib.rs", ""),
        (FileClass::Build, "pyproject.toml", ""),
        (FileClass::Build, "src/app.py", held),
    ] {
        stage.run.only = vec![only];
        assert_eq!(of(&stage, file), expected, "{only:?} {file}");
    }
    assert_eq!(code(&stage.run, "git commit -m x"), COMMIT);
}

#[test]
fn what_a_denial_says_fits_and_names_the_way_on() {
    let mut stage = stage(Phase::Red);
    stage.run.memory.start.branch = "b".repeat(4000);
    stage.run.memory.start.test_patterns = vec!["p".repeat(4000); 9];
    let long = "f".repeat(4000);
    let of_rules = CODES.map(|rule| messages::not_edited(&stage.run, rule, &long));
    for decision in of_rules {
        let Decision::Deny { code, reason } = decision else {
            panic!("no denial");
        };
        assert!(CODES.contains(&code));
        assert!(crate::next_step::is_marked(&reason), "{reason}");
        assert!(reason.len() < 1024, "{} bytes: {reason}", reason.len());
    }
}

#[test]
fn a_command_is_read_to_where_a_shell_would_have_to_be_asked() {
    let read = |line: &str| -> Vec<Line> {
        shell::commands(line)
            .iter()
            .map(git_line::read)
            .filter(|line| *line != Line::Other)
            .collect()
    };
    assert_eq!(
        read("cd a && git -C b push; cd \"c d\"; x=1; eval y"),
        [
            Line::ChangeFolder("a".to_owned()),
            Line::Git(vec!["b".to_owned()], Act::Push),
            Line::ChangeFolder("c d".to_owned()),
            Line::Unclear,
        ]
    );
    // Whatever comes, it ends.
    for line in [
        "'", "\"", "\\", "$", "`", "<", "<<", "<<<", ">", "&", "&>", "|", ";;", "(", "\"\\", "\"$(",
    ] {
        for before in ["", "git commit ", "a\n"] {
            shell::commands(&format!("{before}{line}"));
        }
    }
    let long = format!("{}git commit", "ä;".repeat(60_000));
    assert!(shell::commands(&long).len() < 60_000);
}

#[test]
fn paths_are_taken_as_they_really_are() {
    let stage = stage(Phase::Red);
    let root = &stage.run.root;
    let below = |path: &str| {
        let real = place::real(&root.join("src"), Path::new(path));
        place::below(root, &real).map(str::to_owned)
    };
    std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
    std::os::unix::fs::symlink(root.parent().unwrap().join("other"), root.join("out")).unwrap();
    for (path, expected) in [
        ("a.rs", Some("src/a.rs")),
        ("new/deep.rs", Some("src/new/deep.rs")),
        ("../link/a.rs", Some("src/a.rs")),
        ("new/../../b.rs", Some("b.rs")),
        ("../../other/a.rs", None),
        ("../out/a.rs", None),
        ("../out/../project/src/a.rs", Some("src/a.rs")),
        ("../.git/config", None),
        ("../vendored/a.rs", None),
        ("/", None),
        ("/no/such/thing", None),
    ] {
        assert_eq!(below(path).as_deref(), expected, "{path}");
    }
}

#[test]
fn head_is_read_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    for (text, expected) in [
        ("ref: refs/heads/a/b\n", Head::Branch("a/b".to_owned())),
        ("ref: refs/heads/.invalid\n", Head::Unknown),
        ("0123456789012345678901234567890123456789\n", Head::Detached),
        ("", Head::Unknown),
        ("ref: refs/other/x", Head::Unknown),
    ] {
        fs::write(folder.path().join("HEAD"), text).unwrap();
        assert_eq!(place::head(folder.path()), expected, "{text:?}");
    }
    assert_eq!(place::head(&folder.path().join("no")), Head::Unknown);
}
