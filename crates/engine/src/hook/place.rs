//! Paths as they really are, and the branch that is checked out, read without asking git.

use std::fs;
use std::path::{Component, Path, PathBuf};

use workspace::git::{is_of_git, worktree};

/// What `HEAD` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// This branch is checked out.
    Branch(String),
    /// No branch is.
    Detached,
    /// It cannot be told.
    Unknown,
}

/// The longest path that the system takes, in bytes (`PATH_MAX` of Linux).
const LONGEST_PATH: usize = 4096;

/// `path`, taken from `folder`, without links and `..`. What is not there yet is added as it stands.
pub fn real(folder: &Path, path: &Path) -> PathBuf {
    let whole = folder.join(path);
    // Longer ones no system takes, and each part would be looked for.
    if whole.as_os_str().len() > LONGEST_PATH {
        return whole;
    }
    if let Ok(real) = fs::canonicalize(&whole) {
        return real;
    }
    let parts: Vec<Component<'_>> = whole.components().collect();
    for there in (1..parts.len()).rev() {
        let begin: PathBuf = parts[..there].iter().collect();
        if let Ok(mut real) = fs::canonicalize(&begin) {
            for part in &parts[there..] {
                match part {
                    Component::ParentDir => {
                        real.pop();
                    }
                    Component::Normal(name) => real.push(name),
                    Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
                }
            }
            return real;
        }
    }
    whole
}

/// `path`, a real one, from the real folder `root`, with `/` between its parts. `None` if it is not below that, or in
/// a repository of its own there, or in a git folder, or cannot be written in UTF-8.
pub fn below<'p>(root: &Path, path: &'p Path) -> Option<&'p str> {
    let relative = path.strip_prefix(root).ok()?;
    if relative.as_os_str().is_empty() || is_of_git(relative) {
        return None;
    }
    let mut folder = relative.parent();
    while let Some(inner) = folder.filter(|inner| !inner.as_os_str().is_empty()) {
        if root.join(inner).join(".git").exists() {
            return None;
        }
        folder = inner.parent();
    }
    relative.to_str()
}

/// The top level of the working tree that `path` lies in, whether it exists or not.
pub fn working_tree(path: &Path) -> Option<PathBuf> {
    worktree(&real(Path::new(""), path)).map(Path::to_owned)
}

/// What `HEAD` says in the git folder `git_dir`.
pub fn head(git_dir: &Path) -> Head {
    let Ok(text) = fs::read_to_string(git_dir.join("HEAD")) else {
        return Head::Unknown;
    };
    let text = text.trim_end();
    match text.strip_prefix("ref: refs/heads/") {
        // What stands there where branches are kept in tables.
        Some(".invalid") => Head::Unknown,
        Some(branch) => Head::Branch(branch.to_owned()),
        None if is_commit_id(text) => Head::Detached,
        None => Head::Unknown,
    }
}

/// Whether a name is that of a branch, a remote branch or a tag, as far as files tell.
pub fn is_ref(common_dir: &Path, name: &str) -> bool {
    if name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..") {
        return false;
    }
    let refs = common_dir.join("refs");
    let loose = ["heads", "tags", "remotes", "remotes/origin"]
        .iter()
        .any(|kind| refs.join(kind).join(name).is_file());
    loose
        || fs::read_to_string(common_dir.join("packed-refs")).is_ok_and(|packed| {
            packed.lines().any(|line| {
                line.split_once(" refs/").is_some_and(|(_, full)| {
                    ["heads/", "tags/", "remotes/origin/", "remotes/"]
                        .iter()
                        .any(|kind| full.strip_prefix(kind) == Some(name))
                })
            })
        })
}

/// Whether a text can be nothing but the id of a commit, whole or abbreviated.
pub fn is_commit_id(text: &str) -> bool {
    (7..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}
