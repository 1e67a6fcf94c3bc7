//! Branches: what they may be called, which there are, and changing to them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Git, one_line};
use super::error::{GitError, GitErrorKind};
use super::files::sync;
use super::oid::Oid;
use super::repository::Repository;
use crate::convention::branch::check_branch_name;
use crate::process::ProcessGroup;

/// How long changing to a branch may take, with the hooks that run then.
const SWITCH_LIMIT: Duration = Duration::from_mins(10);

/// Why a branch of some name cannot be made beside those that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchConflict {
    /// The beginning of the name is itself a branch: `master` is in the way of `master/x`.
    PrefixIsBranch(String),
    /// The name is a folder of branches: `x/y` is in the way of `x`. The first such branch is told.
    IsFolderOf(String),
    /// A branch differs from the name only in case, and some file systems cannot hold both.
    SameButForCase(String),
}

impl BranchConflict {
    /// The branch that is in the way.
    pub fn branch(&self) -> &str {
        match self {
            Self::PrefixIsBranch(branch)
            | Self::IsFolderOf(branch)
            | Self::SameButForCase(branch) => branch,
        }
    }
}

/// The branches of a repository, and of a remote as it was fetched last.
#[derive(Debug, Clone, Default)]
pub struct Branches {
    /// The names of the local ones, in order.
    pub local: Vec<String>,
    /// The names of those that the remote has.
    remote: Vec<String>,
    /// The branch that the remote's HEAD points to.
    pub remote_default: Option<String>,
    /// Full names of what else the names that were asked about may mean.
    others: Vec<String>,
}

impl Branches {
    /// Whether there is one of that name.
    pub fn has(&self, name: &str) -> bool {
        self.local.iter().any(|branch| branch == name)
    }

    /// What is no branch of that name, and what git could take the name for: it was one of those asked about.
    pub fn other_meaning(&self, name: &str) -> Option<&str> {
        let meanings = full_names(name);
        let other = self.others.iter().find(|other| meanings.contains(other));
        other.map(String::as_str)
    }

    /// The branch that is in the way of a new one of this name, here or on the remote. The very same name is not.
    pub fn conflict(&self, name: &str) -> Option<BranchConflict> {
        find_conflict(name, &self.local).or_else(|| {
            let there = find_conflict(name, &self.remote);
            there.filter(|there| !matches!(there, BranchConflict::SameButForCase(_)))
        })
    }
}

/// What a name may be short for (gitrevisions(7), "refname").
pub(super) fn full_names(name: &str) -> Vec<String> {
    ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
        .iter()
        .map(|folder| format!("{folder}{name}"))
        .chain([name.to_owned(), format!("refs/remotes/{name}/HEAD")])
        .collect()
}

/// What git, or we, would not take as the name of a branch is not even tried.
fn check_name(name: &str) -> Result<(), GitError> {
    check_branch_name(name).map_err(|fault| {
        let name = name.escape_debug();
        let message = format!("`{name}` cannot be the name of a branch: {fault}");
        GitError::new(GitErrorKind::InvalidName, message)
    })
}

impl Repository {
    /// Whether there is a local branch of that name.
    pub fn branch_exists(&self, name: &str) -> Result<bool, GitError> {
        if name.contains('\0') {
            return Ok(false);
        }
        let git = self
            .git()
            .args(["show-ref", "--verify", "--quiet", "--"])
            .arg(format!("refs/heads/{name}"));
        Ok(git.run_if()?.is_some())
    }

    /// The local branches and those of the remote, which one it takes for its default, and what else the names `asked` may mean.
    pub fn branches(&self, remote: &str, asked: &[&str]) -> Result<Branches, GitError> {
        let prefix = format!("refs/remotes/{remote}/");
        let head = format!("{prefix}HEAD");
        let mut git = self.git().args([
            "for-each-ref",
            "--format=%(refname)%00%(symref)",
            "refs/heads/",
        ]);
        let is_name = !remote.is_empty() && !remote.contains(['\0', '*', '?', '[', '\\']);
        if is_name {
            git = git.arg(&prefix);
        }
        let asked: Vec<String> = asked.iter().flat_map(|name| full_names(name)).collect();
        let output = git.args(&asked).run()?;
        let mut branches = Branches::default();
        let mut target_of_head = None;
        for line in String::from_utf8_lossy(&output).lines() {
            let (name, target) = line.split_once('\0').unwrap_or((line, ""));
            if let Some(local) = name.strip_prefix("refs/heads/") {
                branches.local.push(local.to_owned());
                continue;
            }
            if name == head {
                target_of_head = Some(target.to_owned());
            } else if let Some(there) = name.strip_prefix(&prefix) {
                branches.remote.push(there.to_owned());
            }
            // A pattern also finds what lies below it.
            if asked.iter().any(|asked| asked == name) {
                branches.others.push(name.to_owned());
            }
        }
        // What points to nothing is not listed, and still says what the remote called its default.
        if is_name && target_of_head.is_none() && self.common_dir().join(&head).exists() {
            let target = self.git().args(["symbolic-ref", "--quiet", "--", &head]);
            let target = target.run_if()?.map(one_line);
            target_of_head = target.map(|target| String::from_utf8_lossy(&target).into_owned());
        }
        let default = target_of_head.as_deref();
        let default = default.and_then(|target| target.strip_prefix(&prefix));
        branches.remote_default = default.map(str::to_owned);
        Ok(branches)
    }

    /// The default branch: what the remote's HEAD says, else `init.defaultBranch` if there is such a branch, else
    /// `main`, else `master`.
    pub fn default_branch(&self, branches: &Branches) -> Result<Option<String>, GitError> {
        if let Some(branch) = &branches.remote_default {
            return Ok(Some(branch.clone()));
        }
        let configured = self.setting("init.defaultBranch")?;
        let candidates = configured
            .into_iter()
            .chain(["main".to_owned(), "master".to_owned()]);
        Ok(candidates
            .into_iter()
            .find(|candidate| branches.local.contains(candidate)))
    }

    /// The other worktree in which the branch is checked out, if there is one.
    pub fn worktree_of_branch(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        let full_name = format!("refs/heads/{name}");
        if name.contains(['\0', '*', '?', '[', '\\']) || name.is_empty() {
            return Ok(None);
        }
        let output = self
            .git()
            .args(["for-each-ref", "--format=%(worktreepath)", "--", &full_name])
            .run()?;
        let path = one_line(output);
        let path = Path::new(OsStr::from_bytes(&path));
        let here = std::fs::canonicalize(path).is_ok_and(|real| real == self.top_level());
        Ok((!path.as_os_str().is_empty() && !here).then(|| path.to_owned()))
    }

    /// Makes a branch at a commit and changes to it. Nothing is done if that is already so. `on_spawn` is told the
    /// process group of the git that does it.
    pub fn create_branch_and_switch(
        &self,
        name: &str,
        at: &Oid,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<(), GitError> {
        check_name(name)?;
        let mut git = self.git_write().args([
            "switch",
            "--quiet",
            "--no-guess",
            "--no-track",
            "--create",
            name,
        ]);
        // Where HEAD is there already, git has no need of the index, if nothing is named.
        if self.head()?.oid.as_ref() != Some(at) {
            git = git.arg(at.as_str());
        }
        self.switch_with(&git.arg("--"), Some(name), Some(at), on_spawn)
    }

    /// Has a branch that is checked out nowhere point to another commit, where it still points to `from`.
    pub fn move_branch(&self, name: &str, from: &Oid, to: &Oid) -> Result<(), GitError> {
        check_name(name)?;
        self.git_write()
            .args(["update-ref", "-m", "tm: brought up to where a run begins"])
            .args([&format!("refs/heads/{name}"), to.as_str(), from.as_str()])
            .run()
            .map(drop)
    }

    /// Changes to a branch that exists. Nothing is done if that is already so.
    pub fn switch(&self, name: &str, on_spawn: &dyn Fn(&ProcessGroup)) -> Result<(), GitError> {
        check_name(name)?;
        let git = self
            .git_write()
            .args(["switch", "--quiet", "--no-guess", name, "--"]);
        self.switch_with(&git, Some(name), None, on_spawn)
    }

    /// Checks a commit out with HEAD detached. Nothing is done if that is already so.
    pub fn switch_detached(
        &self,
        commit: &Oid,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<(), GitError> {
        let git = self
            .git_write()
            .args(["switch", "--quiet", "--detach", commit.as_str(), "--"]);
        self.switch_with(&git, None, Some(commit), on_spawn)
    }

    fn switch_with(
        &self,
        git: &Git,
        branch: Option<&str>,
        at: Option<&Oid>,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<(), GitError> {
        let name = branch.unwrap_or("HEAD");
        let is_done = || -> Result<bool, GitError> {
            let head = self.head()?;
            Ok(head.branch.as_deref() == branch
                && at.map_or(head.oid.is_some(), |at| head.oid.as_ref() == Some(at)))
        };
        if !is_done()? {
            let command = git.name();
            let ended = self.run_watched(git, &[], SWITCH_LIMIT, name, on_spawn)?;
            // A hook that runs after the change makes git fail, but the change was made.
            if !is_done()? {
                if ended.success() {
                    let message = format!("`{command}` succeeded, but {name} is somewhere else");
                    return Err(GitError::new(GitErrorKind::Refused, message));
                }
                return Err(ended.into_error(&command, SWITCH_LIMIT));
            }
        }
        self.sync_branch(name);
        Ok(())
    }

    /// Deletes a branch. Without `force` git refuses when it holds work that is merged nowhere.
    pub fn delete_branch(
        &self,
        name: &str,
        force: bool,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> Result<(), GitError> {
        check_name(name)?;
        let force = force.then_some("--force");
        let git = self
            .git_write()
            .args(["branch", "--quiet", "--delete"])
            .args(force)
            .args(["--", name]);
        let command = git.name();
        let ended = self.run_watched(&git, &[], SWITCH_LIMIT, name, on_spawn)?;
        if ended.success() {
            return Ok(());
        }
        Err(ended.into_error(&command, SWITCH_LIMIT))
    }

    /// Syncs what git does not: the folders that the name of a branch is in, and HEAD. Where references are no plain
    /// files there is nothing to do.
    pub(super) fn sync_branch(&self, name: &str) {
        if !self.syncs() {
            return;
        }
        let heads = self.common_dir().join("refs/heads");
        let reference = heads.join(name);
        let folders = reference.ancestors().skip(1);
        // Those above may have been made for it.
        for folder in folders.take_while(|folder| folder.starts_with(&heads)) {
            sync(folder);
        }
        sync(&self.git_dir().join("HEAD"));
        sync(self.git_dir());
    }

    /// How many commits of the branch cannot be reached from `into`.
    pub fn unmerged_commits(&self, branch: &str, into: &Oid) -> Result<u64, GitError> {
        const COMMAND: &str = "git rev-list --count";
        let range = format!("{into}..refs/heads/{branch}");
        let output = self
            .git()
            .args(["rev-list", "--count", &range, "--"])
            .run()?;
        let text = String::from_utf8_lossy(&one_line(output)).into_owned();
        text.parse()
            .map_err(|_| GitError::unexpected(COMMAND, text))
    }
}

/// Compared without case, since the file system under the branches may do so.
fn find_conflict(name: &str, branches: &[String]) -> Option<BranchConflict> {
    let name_folded = name.to_lowercase();
    let mut found = None;
    for branch in branches {
        let branch_folded = branch.to_lowercase();
        let is_folder_of = |folder: &str, inner: &str| {
            inner
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        if is_folder_of(&branch_folded, &name_folded) {
            return Some(BranchConflict::PrefixIsBranch(branch.clone()));
        }
        if is_folder_of(&name_folded, &branch_folded) && found.is_none() {
            found = Some(BranchConflict::IsFolderOf(branch.clone()));
        }
        if branch_folded == name_folded && branch != name {
            return Some(BranchConflict::SameButForCase(branch.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts() {
        use BranchConflict::{IsFolderOf, PrefixIsBranch, SameButForCase};
        let branches = ["master", "Feature/x", "a/b/c", "topic"].map(str::to_owned);
        for (name, expected) in [
            ("master/task-1", Some(PrefixIsBranch("master".to_owned()))),
            ("MASTER/task-1", Some(PrefixIsBranch("master".to_owned()))),
            ("a", Some(IsFolderOf("a/b/c".to_owned()))),
            ("a/b", Some(IsFolderOf("a/b/c".to_owned()))),
            ("feature/x", Some(SameButForCase("Feature/x".to_owned()))),
            ("topic", None),
            ("master-task-1", None),
            ("a/b/d", None),
        ] {
            assert_eq!(find_conflict(name, &branches), expected, "{name}");
        }
    }
}
