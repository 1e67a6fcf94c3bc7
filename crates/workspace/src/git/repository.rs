//! Finding the repository, and the first questions to it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::branch::full_names;
use super::command::{ExtraEnvironment, Git, one_line};
use super::error::{GitError, GitErrorKind};
use super::oid::Oid;
use super::path::RepoPath;

/// A repository with a working tree. Cheap to clone; holds no process and no lock.
#[derive(Debug, Clone)]
pub struct Repository {
    places: Arc<Places>,
    scope: Arc<Vec<u8>>,
    environment: Arc<ExtraEnvironment>,
    /// Whether what git writes for us is synced.
    fsync: bool,
}

#[derive(Debug)]
struct Places {
    top_level: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

/// Who makes the commits, as the user told git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name (`user.name`).
    pub name: String,
    /// The address (`user.email`).
    pub email: String,
}

impl Repository {
    /// The repository whose working tree holds `start`. Errors: no git program, no repository, a bare one.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        Self::discover_with_env(start, Vec::new())
    }

    /// As [`Repository::discover`], with environment variables that every git of ours is given on top of (without a
    /// value: taken out of) this process's own.
    pub fn discover_with_env(
        start: &Path,
        environment: ExtraEnvironment,
    ) -> Result<Self, GitError> {
        const FLAGS: [&str; 2] = ["--is-bare-repository", "--is-inside-work-tree"];
        const PLACES: [&str; 4] = [
            "--show-toplevel",
            "--absolute-git-dir",
            "--path-format=absolute",
            "--git-common-dir",
        ];
        let ask = |arguments: &[&str]| {
            Git::read(start, &environment)
                .arg("rev-parse")
                .args(arguments)
                .run()
        };
        let found = |places: [&[u8]; 3]| -> Result<[PathBuf; 3], GitError> {
            let [top_level, git_dir, common_dir] =
                places.map(|bytes| real_path(Path::new(OsStr::from_bytes(bytes))));
            Ok([top_level?, git_dir?, common_dir?])
        };
        let at = |[top_level, git_dir, common_dir]: [PathBuf; 3], environment| Self {
            places: Arc::new(Places {
                top_level,
                git_dir,
                common_dir,
            }),
            scope: Arc::new(Vec::new()),
            environment: Arc::new(environment),
            fsync: true,
        };
        // Mostly one question tells all. Where there is no working tree, git answers none of it.
        if let Ok(answer) = ask(&[&FLAGS[..], &PLACES[..]].concat()) {
            let lines: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
            if let [b"false", b"true", top_level, git_dir, common_dir, b""] = lines[..] {
                return Ok(at(found([top_level, git_dir, common_dir])?, environment));
            }
        }
        let bare = || {
            GitError::new(
                GitErrorKind::Bare,
                format!(
                    "the repository at {} is bare: it has no working tree",
                    start.display()
                ),
            )
        };
        let flags = match ask(&FLAGS) {
            Ok(flags) => flags,
            Err(error) if *error.kind() == GitErrorKind::Bare => return Err(bare()),
            Err(error) if *error.kind() == GitErrorKind::NotARepository => {
                return Err(GitError::new(
                    GitErrorKind::NotARepository,
                    format!("{} is not in a git repository", start.display()),
                ));
            }
            Err(error) => return Err(error),
        };
        match flags.as_slice() {
            b"false\ntrue\n" => {}
            flags if flags.starts_with(b"true") => {
                return Err(bare());
            }
            _ => {
                return Err(GitError::new(
                    GitErrorKind::NotARepository,
                    format!(
                        "{} is inside a repository's git folder, not in its working tree",
                        start.display()
                    ),
                ));
            }
        }
        // A folder with a line break in its name: one question at a time.
        let top_level = one_line(ask(&["--show-toplevel"])?);
        let git_dir = one_line(ask(&["--absolute-git-dir"])?);
        let common_dir = one_line(ask(&["--path-format=absolute", "--git-common-dir"])?);
        Ok(at(found([&top_level, &git_dir, &common_dir])?, environment))
    }

    /// The repository at places that [`Repository::discover`] found earlier, without asking git again. Where they
    /// are no longer right, the first question says so.
    pub fn at(top_level: PathBuf, git_dir: PathBuf, common_dir: PathBuf) -> Self {
        Self {
            places: Arc::new(Places {
                top_level,
                git_dir,
                common_dir,
            }),
            scope: Arc::new(Vec::new()),
            environment: Arc::new(Vec::new()),
            fsync: true,
        }
    }

    /// The root of the working tree; a real path.
    pub fn top_level(&self) -> &Path {
        &self.places.top_level
    }

    /// The git folder of this working tree; a real path. A linked worktree has its own.
    pub fn git_dir(&self) -> &Path {
        &self.places.git_dir
    }

    /// The git folder that all worktrees share; a real path.
    pub fn common_dir(&self) -> &Path {
        &self.places.common_dir
    }

    /// The same repository, whose project is what lies below `project_root`. A root that is the top level, or not below
    /// it, makes all of it the project.
    #[must_use]
    pub fn with_scope(self, project_root: &Path) -> Self {
        let real = fs::canonicalize(project_root).unwrap_or_else(|_| project_root.to_owned());
        let mut scope = real
            .strip_prefix(self.top_level())
            .map(|relative| relative.as_os_str().as_bytes().to_vec())
            .unwrap_or_default();
        if !scope.is_empty() {
            scope.push(b'/');
        }
        Self {
            scope: Arc::new(scope),
            ..self
        }
    }

    /// The same repository, whose changes are synced or not; they are unless this is asked for.
    #[must_use]
    pub fn with_fsync(self, fsync: bool) -> Self {
        Self { fsync, ..self }
    }

    /// What the paths of the project begin with: `sub/`, or nothing.
    pub fn scope(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.scope)
    }

    /// Whether the path lies in the scope.
    pub fn in_scope(&self, path: &RepoPath) -> bool {
        path.is_in_scope(&self.scope)
    }

    /// Where the file lies on disk.
    pub fn absolute(&self, path: &RepoPath) -> PathBuf {
        self.top_level().join(path.to_path_buf())
    }

    /// The repository that lies in this folder of the working tree: a submodule.
    pub fn repository_at(&self, path: &RepoPath) -> Result<Self, GitError> {
        Self::discover_with_env(&self.absolute(path), self.environment.to_vec())
    }

    /// The commit that a submodule is at; none where none is checked out there, or git cannot make anything of what is: the folder of
    /// one that was renamed leads to the other place.
    pub fn submodule_head(&self, path: &RepoPath) -> Result<Option<Oid>, GitError> {
        if !self.absolute(path).join(".git").exists() {
            return Ok(None);
        }
        let inner = self.repository_at(path).ok();
        Ok(inner
            .map(|inner| inner.head())
            .transpose()?
            .and_then(|head| head.oid))
    }

    /// The path, inside the repository, of a file named by an absolute path or by one relative to the top level.
    /// The file need not exist, and a symbolic link stays what it is; `None` if it lies outside, or is the top level.
    pub fn relative(&self, path: &Path) -> Option<RepoPath> {
        let absolute = self.top_level().join(path);
        // Of links only those on the way to the file are followed; the file itself may be one.
        let absolute = match (
            absolute.parent().map(fs::canonicalize),
            absolute.file_name(),
        ) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            _ => absolute,
        };
        RepoPath::try_from(absolute.strip_prefix(self.top_level()).ok()?).ok()
    }

    /// A path as it is called in the project, which may be a folder of the repository.
    pub fn name_in_scope(&self, path: &RepoPath) -> String {
        let name = path.to_string();
        let scope = self.scope();
        name.strip_prefix(&*scope).unwrap_or(&name).to_owned()
    }

    /// Who would make a commit now. What git would make up from the host's name is not taken.
    pub fn identity(&self) -> Result<Identity, GitError> {
        self.identity_from("GIT_AUTHOR_IDENT")?;
        self.identity_from("GIT_COMMITTER_IDENT")
    }

    /// The program that signs commits, where git is set to sign them.
    pub fn signing_program(&self) -> Result<Option<String>, GitError> {
        let signs = ["config", "--type=bool", "--get", "commit.gpgsign"];
        let signs = self.git().args(signs).run_if()?.map(one_line);
        if signs.as_deref() != Some(b"true") {
            return Ok(None);
        }
        let (keys, usual) = match self.setting("gpg.format")?.as_deref() {
            Some("ssh") => (["gpg.ssh.program"].as_slice(), "ssh-keygen"),
            Some("x509") => (["gpg.x509.program"].as_slice(), "gpgsm"),
            _ => (["gpg.openpgp.program", "gpg.program"].as_slice(), "gpg"),
        };
        for key in keys {
            let path = ["config", "--type=path", "--get", key];
            if let Some(program) = self.git().args(path).run_if()? {
                let program = String::from_utf8_lossy(&one_line(program)).into_owned();
                return Ok(Some(program));
            }
        }
        Ok(Some(usual.to_owned()))
    }

    /// What git's settings say, from whichever file.
    pub(super) fn setting(&self, key: &str) -> Result<Option<String>, GitError> {
        let line = self.git().args(["config", "--get", key]).run_if()?;
        Ok(line.map(|line| String::from_utf8_lossy(&one_line(line)).into_owned()))
    }

    fn identity_from(&self, variable: &str) -> Result<Identity, GitError> {
        let ask = |email: Option<&OsStr>, name: Option<&str>| {
            let role = variable.trim_end_matches("_IDENT");
            let mut git = self.git().config("user.useConfigOnly=true");
            if let Some(email) = email {
                git = git.env(&format!("{role}_EMAIL"), email);
            }
            if let Some(name) = name {
                git = git.env(&format!("{role}_NAME"), name);
            }
            git.args(["var", variable]).run()
        };
        // Git takes $EMAIL too, but not when told to keep to the settings.
        let from_environment = self.variable("EMAIL").filter(|email| !email.is_empty());
        let answer = ask(None, None).or_else(|error| match &from_environment {
            Some(email) => ask(Some(email), None),
            None => Err(error),
        });
        let line = match answer {
            Ok(answer) => String::from_utf8_lossy(&one_line(answer)).into_owned(),
            Err(error) if *error.kind() == GitErrorKind::Refused => {
                let mut missing = Vec::new();
                if ask(from_environment.as_deref(), Some("probe")).is_ok() {
                    missing.push("user.name");
                } else if ask(Some(OsStr::new("probe@localhost")), None).is_ok() {
                    missing.push("user.email");
                } else {
                    missing.extend(["user.name", "user.email"]);
                }
                return Err(GitError::new(
                    GitErrorKind::NoIdentity {
                        missing: missing.clone(),
                    },
                    format!(
                        "git does not know who makes the commits: {} is not set",
                        missing.join(" and ")
                    ),
                ));
            }
            Err(error) => return Err(error),
        };
        let parts = line
            .rfind('>')
            .and_then(|end| line[..end].rfind('<').map(|start| (start, end)));
        let Some((start, end)) = parts else {
            return Err(GitError::unexpected("git var", line));
        };
        Ok(Identity {
            name: line[..start].trim().to_owned(),
            email: line[start + 1..end].to_owned(),
        })
    }

    /// The commit that a revision means; `None` if there is none.
    pub fn resolve(&self, revision: &str) -> Result<Option<Oid>, GitError> {
        self.resolve_as(revision, "commit")
    }

    /// The references that a revision may begin with, by their full names; more than one where the name alone does not say
    /// which is meant (gitrevisions(7), "refname").
    pub fn references_named(&self, revision: &str) -> Result<Vec<String>, GitError> {
        let name = revision
            .split(['^', '~', ':', '@'])
            .next()
            .unwrap_or_default();
        if name.is_empty() || name.starts_with('-') || name.contains('\0') {
            return Ok(Vec::new());
        }
        let full = full_names(name);
        let listed = self
            .git()
            .args(["for-each-ref", "--format=%(refname)", "--"])
            .args(&full)
            .run()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        // A pattern also finds what lies below it.
        Ok(listed
            .lines()
            .filter(|line| full.iter().any(|name| name == line))
            .map(str::to_owned)
            .collect())
    }

    /// The tree that a revision means; `None` if there is none.
    pub fn resolve_tree(&self, revision: &str) -> Result<Option<Oid>, GitError> {
        self.resolve_as(revision, "tree")
    }

    fn resolve_as(&self, revision: &str, kind: &str) -> Result<Option<Oid>, GitError> {
        // No name of anything begins with a dash; an option does.
        if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return Ok(None);
        }
        let answer = self
            .git()
            .args(["rev-parse", "--verify", "--quiet"])
            .arg(format!("{revision}^{{{kind}}}"))
            .output()?;
        if answer.status.success() {
            return parse_oid("git rev-parse", &one_line(answer.stdout)).map(Some);
        }
        if answer.stderr.is_empty() || answer.status.code() == Some(1) {
            return Ok(None);
        }
        let error = GitError::from_failure("git rev-parse", answer.status.code(), &answer.stderr);
        // A name that is a whole object id, or has `^{…}` on it, is answered with words even when asked quietly.
        if *error.kind() == GitErrorKind::Refused {
            Ok(None)
        } else {
            Err(error)
        }
    }

    /// A git command that reads.
    pub(super) fn git(&self) -> Git {
        Git::read(self.top_level(), &self.environment)
    }

    /// A git command that changes something in another folder than the repository's, which is no part of it.
    pub(super) fn git_in(&self, folder: &Path) -> Git {
        Git::write(folder, &self.environment)
    }

    /// A git command that changes something, speaking English.
    pub(super) fn git_write(&self) -> Git {
        self.as_synced(Git::write(self.top_level(), &self.environment))
    }

    /// A git command that changes something, speaking the user's language.
    pub(super) fn git_for_user(&self) -> Git {
        self.as_synced(Git::in_users_locale(self.top_level(), &self.environment))
    }

    fn as_synced(&self, git: Git) -> Git {
        if self.fsync { git.synced() } else { git }
    }

    /// Whether what git writes is synced, so that no power cut takes back what was answered.
    pub(super) fn syncs(&self) -> bool {
        self.fsync
    }

    /// An environment variable as our gits see it.
    fn variable(&self, name: &str) -> Option<std::ffi::OsString> {
        match self.environment.iter().rev().find(|(set, _)| set == name) {
            Some((_, value)) => value.clone(),
            None => std::env::var_os(name),
        }
    }

    pub(super) fn scope_bytes(&self) -> &[u8] {
        &self.scope
    }
}

/// The top of the working tree that a folder lies in, by what lies there, without git being asked.
pub fn worktree(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

/// The object id that git printed.
pub(super) fn parse_oid(command: &str, bytes: &[u8]) -> Result<Oid, GitError> {
    String::from_utf8_lossy(bytes)
        .parse()
        .map_err(|error| GitError::unexpected(command, error))
}

fn real_path(path: &Path) -> Result<PathBuf, GitError> {
    fs::canonicalize(path).map_err(|error: io::Error| {
        GitError::io(
            format!("cannot find the real path of {}", path.display()),
            error,
        )
    })
}
