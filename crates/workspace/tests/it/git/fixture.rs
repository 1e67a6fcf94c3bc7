//! A repository in a temporary folder that nothing of the user's or the machine's settings reaches.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use workspace::git::{
    CommitError, CommitMade, CommitRequest, Oid, ProcessGroup, RepoPath, Repository,
};

pub const DATE: &str = "1760000000 +0000";
pub const ACTION: &str = "tm run-1 workUnit-1.1-COMMIT";

pub struct Fixture {
    folder: TempDir,
    pub repository: Repository,
    /// The groups that commits ran in.
    pub groups: RefCell<Vec<ProcessGroup>>,
}

impl Fixture {
    /// A repository with one commit, on `topic`.
    pub fn new() -> Self {
        let fixture = Self::unborn(&[]);
        fixture.write("README.md", "hello\n");
        fixture.commit_all("first");
        fixture
    }

    /// A repository without a commit.
    pub fn unborn(init: &[&str]) -> Self {
        let folder = testkit::folder();
        let home = folder.path().join("home");
        let tree = folder.path().join("tree");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(
            home.join("gitconfig"),
            "[user]\n\tname = Test Person\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n",
        )
        .unwrap();
        let environment = environment(&home);
        let mut arguments = vec!["init", "--quiet", "--initial-branch=topic"];
        arguments.extend(init);
        run(&tree, &environment, &arguments);
        let repository = Repository::discover_with_env(&tree, environment).unwrap();
        Self {
            folder,
            repository,
            groups: RefCell::default(),
        }
    }

    /// The same folder, seen through another repository.
    pub fn with(self, repository: Repository) -> Self {
        Self { repository, ..self }
    }

    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub fn root(&self) -> &Path {
        self.repository.top_level()
    }

    pub fn environment(&self) -> Vec<(OsString, Option<OsString>)> {
        environment(&self.folder.path().join("home"))
    }

    pub fn settings(&self) -> PathBuf {
        self.folder.path().join("home/gitconfig")
    }

    /// Runs git as the user would, and gives what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        run(self.root(), &self.environment(), arguments)
    }

    pub fn try_git(&self, arguments: &[&str]) -> bool {
        command(self.root(), &self.environment(), arguments)
            .output()
            .unwrap()
            .status
            .success()
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, content: &str) {
        self.write_bytes(path.as_bytes(), content.as_bytes());
    }

    pub fn write_bytes(&self, path: &[u8], content: &[u8]) {
        let path = self.root().join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn commit_all(&self, message: &str) -> Oid {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    pub fn head(&self) -> Oid {
        self.git(&["rev-parse", "HEAD"]).trim().parse().unwrap()
    }

    pub fn short_status(&self) -> String {
        self.git(&["status", "--short", "--untracked-files=all"])
    }

    pub fn hook(&self, name: &str, script: &str) {
        let path = self.repository.common_dir().join("hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn all_changed(&self) -> Vec<RepoPath> {
        let status = self.repository.status().unwrap();
        status
            .changes
            .iter()
            .flat_map(|change| change.paths().cloned().collect::<Vec<_>>())
            .collect()
    }

    pub fn commit(&self, names: &[&str]) -> Result<CommitMade, CommitError> {
        self.commit_paths(&paths(names))
    }

    pub fn commit_paths(&self, paths: &[RepoPath]) -> Result<CommitMade, CommitError> {
        self.commit_with(paths, |_| {})
    }

    pub fn commit_with(
        &self,
        paths: &[RepoPath],
        change: impl FnOnce(&mut CommitRequest<'_>),
    ) -> Result<CommitMade, CommitError> {
        let head = self.repository.head().unwrap();
        self.commit_on(
            &head.oid.unwrap(),
            &head.branch.unwrap_or_default(),
            paths,
            change,
        )
    }

    pub fn commit_on(
        &self,
        parent: &Oid,
        branch: &str,
        paths: &[RepoPath],
        change: impl FnOnce(&mut CommitRequest<'_>),
    ) -> Result<CommitMade, CommitError> {
        let on_spawn = |group: &ProcessGroup| self.groups.borrow_mut().push(group.clone());
        let status = self.repository.status().unwrap();
        let mut request = CommitRequest {
            expected_parent: parent,
            branch,
            message: "feat: a thing\n\nBody.\n",
            signoff: false,
            paths,
            status: &status,
            author_date: DATE,
            reflog_action: ACTION,
            timeout: Duration::from_mins(1),
            on_spawn: &on_spawn,
        };
        change(&mut request);
        self.repository.commit(&request)
    }
}

pub fn path(name: &str) -> RepoPath {
    RepoPath::from_bytes(name).unwrap()
}

pub fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| path(name)).collect()
}

fn environment(home: &Path) -> Vec<(OsString, Option<OsString>)> {
    let mut environment: Vec<(OsString, Option<OsString>)> = [
        "EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_DATE",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
    ]
    .into_iter()
    .map(|name| (name.into(), None))
    .collect();
    let mut set =
        |name: &str, value: &OsStr| environment.push((name.into(), Some(value.to_owned())));
    set("HOME", home.as_os_str());
    set("XDG_CONFIG_HOME", home.as_os_str());
    set("GIT_CONFIG_GLOBAL", home.join("gitconfig").as_os_str());
    set("GIT_CONFIG_NOSYSTEM", OsStr::new("1"));
    environment
}

fn command(
    folder: &Path,
    environment: &[(OsString, Option<OsString>)],
    arguments: &[&str],
) -> Command {
    let mut command = Command::new("git");
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(folder).args(arguments);
    command
}

pub fn run(
    folder: &Path,
    environment: &[(OsString, Option<OsString>)],
    arguments: &[&str],
) -> String {
    let output = command(folder, environment, arguments).output().unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
