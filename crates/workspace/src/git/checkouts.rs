//! The working trees of a repository, read from files: those who ask do so at each step, and cannot wait for git.

use std::fs;
use std::path::{Path, PathBuf};

use super::repository::worktree;

/// Where the working tree with this top level has its git folder, and the one that it shares with the others of its
/// repository. Both are real paths.
fn git_folders(top_level: &Path) -> Option<(PathBuf, PathBuf)> {
    let marker = top_level.join(".git");
    let own = if marker.is_dir() {
        marker
    } else {
        let text = fs::read_to_string(&marker).ok()?;
        top_level.join(text.strip_prefix("gitdir:")?.trim())
    };
    let own = fs::canonicalize(own).ok()?;
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(common) => fs::canonicalize(own.join(common.trim())).ok()?,
        Err(_) => own.clone(),
    };
    Some((own, common))
}

/// Whether two top levels are working trees of one repository.
pub fn share_repository(one: &Path, other: &Path) -> bool {
    let common = |top_level| git_folders(top_level).map(|(_, common)| common);
    common(one).is_some_and(|one| Some(one) == common(other))
}

/// Whether a working tree was made by `git worktree add`.
pub fn is_linked(top_level: &Path) -> bool {
    git_folders(top_level).is_some_and(|(own, common)| own != common)
}

/// The same folder in the other working trees of its repository, in the main one first, as far as it exists there. Real paths.
pub fn in_other_worktrees(folder: &Path) -> Vec<PathBuf> {
    let top_level = worktree(folder);
    let Some((top_level, (_, common))) = top_level.and_then(|top| Some((top, git_folders(top)?)))
    else {
        return Vec::new();
    };
    let inside = folder.strip_prefix(top_level).unwrap_or(Path::new(""));
    let entries = fs::read_dir(common.join("worktrees"));
    let mut linked: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let marker = fs::read_to_string(entry.path().join("gitdir")).ok()?;
            let marker = entry.path().join(marker.trim());
            Some(marker.parent()?.to_owned())
        })
        .collect();
    linked.sort();
    let main = common.ends_with(".git").then(|| common.parent()).flatten();
    main.map(Path::to_owned)
        .into_iter()
        .chain(linked)
        .filter(|other| other.join(".git").exists())
        .filter_map(|other| fs::canonicalize(other).ok())
        .filter(|other| other != top_level)
        // Without a slash at its end, where the folder is the top level.
        .map(|other| other.join(inside).components().collect())
        .filter(|folder: &PathBuf| folder.is_dir())
        .collect()
}
