//! A repository in a temporary folder that nothing of the user's or the machine's settings reaches.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use testkit::files::{write, write_program};
use workspace::git::{
    Change, CommitError, CommitMade, CommitRequest, GitError, Oid, ProcessGroup, RepoPath,
    Repository,
};

pub const DATE: &str = "1760000000 +0000";
pub const ACTION: &str = "tm run-1 workUnit-1.1-COMMIT";

pub struct Fixture {
    folder: TempDir,
    pub repository: Repository,
    /// The groups that commits ran in.
    pub groups: RefCell<Vec<ProcessGroup>>,
}

/// What is asked of the repository is asked of its fixture.
impl Deref for Fixture {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

impl Fixture {
    /// With a file `new` that is in no commit.
    pub fn dirty() -> Self {
        let fixture = Self::new();
        fixture.write("new", "x\n");
        fixture
    }

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
        let [home, tree] = ["home", "tree"].map(|name| folder.path().join(name));
        fs::create_dir_all(&tree).unwrap();
        let settings = "[user]\n\tname = Test Person\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
        write(&home.join("gitconfig"), settings);
        let environment = environment(&home);
        let begin = ["init", "--quiet", "--initial-branch=topic"];
        run(&tree, &environment, &[&begin, init].concat());
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

    /// The same, whose caller has set these variables.
    pub fn with_variables(self, variables: &[(&str, &str)]) -> Self {
        let repository = self.discover_with(variables).unwrap();
        self.with(repository)
    }

    pub fn discover_with(&self, variables: &[(&str, &str)]) -> Result<Repository, GitError> {
        let mut environment = self.environment();
        let variables = variables.iter();
        environment.extend(variables.map(|(name, value)| (name.into(), Some(value.into()))));
        Repository::discover_with_env(self.root(), environment)
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
        let mut command = command(self.root(), &self.environment(), arguments);
        command.output().unwrap().status.success()
    }

    /// The same in a folder below the top.
    pub fn inside(&self, folder: &str, arguments: &[&str]) -> String {
        run(&self.at(folder), &self.environment(), arguments)
    }

    pub fn config(&self, settings: &[(&str, &str)]) {
        for (key, value) in settings {
            self.git(&["config", key, value]);
        }
    }

    pub fn add_submodule(&self, url: &str, name: &str) {
        let allow = "protocol.file.allow=always";
        self.git(&["-c", allow, "submodule", "--quiet", "add", url, name]);
    }

    /// The repository that a folder beside or in this one is part of.
    pub fn discover(&self, folder: &Path) -> Result<Repository, GitError> {
        Repository::discover_with_env(folder, self.environment())
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, content: &str) {
        self.write_bytes(path.as_bytes(), content.as_bytes());
    }

    pub fn write_bytes(&self, path: &[u8], content: &[u8]) {
        write(&self.root().join(OsStr::from_bytes(path)), content);
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub fn link(&self, to: &str, path: &str) {
        symlink(to, self.at(path)).unwrap();
    }

    pub fn make_executable(&self, path: &str) {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The bytes of the index.
    pub fn index(&self) -> Vec<u8> {
        fs::read(self.at(".git/index")).unwrap()
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

    /// What of the folder of git has this in its name.
    pub fn in_git_folder(&self, part: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(".git")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(part)).collect()
    }

    pub fn hook(&self, name: &str, script: &str) {
        let path = self.common_dir().join("hooks").join(name);
        write_program(&path, format!("#!/bin/sh\n{script}\n"));
    }

    pub fn changes(&self) -> Vec<Change> {
        self.status().unwrap().changes
    }

    pub fn all_changed(&self) -> Vec<RepoPath> {
        let changes = self.changes();
        changes.iter().flat_map(Change::paths).cloned().collect()
    }

    /// The code of the refusal to commit these.
    pub fn refused(&self, names: &[&str]) -> &'static str {
        self.commit(names).unwrap_err().code()
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
        let branch = head.branch.unwrap_or_default();
        self.commit_on(&head.oid.unwrap(), &branch, paths, change)
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

type Variables = [(OsString, Option<OsString>)];

fn environment(home: &Path) -> Vec<(OsString, Option<OsString>)> {
    let away = "EMAIL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE \
                GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE";
    let away = away.split_whitespace().map(|name| (name.into(), None));
    let settings = home.join("gitconfig");
    let set = [
        ("HOME", home.as_os_str()),
        ("XDG_CONFIG_HOME", home.as_os_str()),
        ("GIT_CONFIG_GLOBAL", settings.as_os_str()),
        ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
    ];
    let set = set.map(|(name, value)| (name.into(), Some(value.to_owned())));
    away.chain(set).collect()
}

fn command(folder: &Path, environment: &Variables, arguments: &[&str]) -> Command {
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

pub fn run(folder: &Path, environment: &Variables, arguments: &[&str]) -> String {
    let output = command(folder, environment, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
