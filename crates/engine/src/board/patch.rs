//! What a commit of a run changed.

use serde::Serialize;

use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::trees::TreeDifference;

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
            return Err(fault!(
                "not_found.unknown_commit",
                sha,
                project = self.root.display()
            ));
        };
        let (patch, cut) = cut(&shown.patch);
        Ok(CommitPatch {
            sha: sha.to_owned(),
            message: shown.message,
            patch,
            cut,
        })
    }

    /// What differs in the working tree of a run from its last commit. None where the run has no branch, or another one is
    /// checked out: what lies there is somebody else's then.
    pub fn uncommitted(&self, run: Option<&str>) -> Result<Option<CommitPatch>, Fault> {
        let seen = self.board_run(run)?;
        let branch = &seen.run.branch;
        let repository = workspace::git::Repository::discover(&self.root)?;
        let head = repository.head()?;
        let is_its_own = !branch.is_empty() && head.branch.as_deref() == Some(branch.as_str());
        if !seen.is_live() || !is_its_own {
            return Ok(None);
        }
        let (patch, cut) = cut(&repository.uncommitted()?);
        Ok(Some(CommitPatch {
            sha: head.oid.map(|oid| oid.to_string()).unwrap_or_default(),
            message: String::new(),
            patch,
            cut,
        }))
    }
}

impl TreeDifference {
    /// Its patch, as much as a page shows of it; and whether that is less than all.
    pub fn shown_patch(&self) -> (String, bool) {
        cut(self.patch.as_bytes())
    }
}

/// A difference, as much as is shown of it; and whether that is less than all.
fn cut(patch: &[u8]) -> (String, bool) {
    let mut patch = String::from_utf8_lossy(patch).into_owned();
    let is_cut = patch.len() > MOST_BYTES;
    if is_cut {
        let end = patch.floor_char_boundary(MOST_BYTES);
        let end = patch[..end].rfind('\n').unwrap_or_default();
        patch.truncate(end);
    }
    (patch, is_cut)
}
