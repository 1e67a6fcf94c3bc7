//! What a commit of a run changed.

use serde::Serialize;

use crate::engine::Engine;
use crate::fault::{Fault, Kind};

/// The most that is shown of a difference, in bytes.
const MOST_BYTES: usize = 512 * 1024;

/// A commit, and the difference that it made.
#[derive(Debug, Clone, Serialize)]
pub struct CommitPatch {
    /// Its id.
    pub sha: String,
    /// Its message.
    pub message: String,
    /// The difference to its first parent, as `git show` prints it.
    pub patch: String,
    /// Whether the difference was too long to be shown whole.
    pub cut: bool,
}

impl Engine {
    /// What the commit `sha` of this project changed.
    ///
    /// # Errors
    /// `unknown_commit` if there is no such commit here.
    pub fn commit_patch(&self, sha: &str) -> Result<CommitPatch, Fault> {
        let repository = workspace::git::Repository::discover(&self.root)?;
        let Some(shown) = repository.patch_of(sha)? else {
            return Err(Fault::new(
                Kind::Missing,
                "unknown_commit",
                format!("there is no commit {sha} in {}", self.root.display()),
            )
            .suggest("it may have been thrown away by git, or lie in another clone"));
        };
        let mut patch = String::from_utf8_lossy(&shown.patch).into_owned();
        let cut = patch.len() > MOST_BYTES;
        if cut {
            let end = patch[..=MOST_BYTES.min(patch.len() - 1)]
                .rfind('\n')
                .unwrap_or_default();
            patch.truncate(end);
        }
        Ok(CommitPatch {
            sha: sha.to_owned(),
            message: shown.message,
            patch,
            cut,
        })
    }
}
