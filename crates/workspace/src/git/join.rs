//! What git makes of two lines of history, without a branch or a working tree: the tree of a merge, and of a commit that is picked.

use super::error::GitError;
use super::oid::Oid;
use super::repository::{Repository, parse_oid};

impl Repository {
    /// The tree that a merge of two commits has; none if they conflict. Needs git 2.38 (`git merge-tree --write-tree`).
    ///
    /// # Errors
    /// Where git cannot tell, as one that is older.
    pub fn joined_tree(&self, ours: &Oid, theirs: &Oid) -> Result<Option<Oid>, GitError> {
        const COMMAND: &str = "git merge-tree";
        let arguments = ["merge-tree", "--write-tree", "--no-messages"];
        let git = self.git_write().args(arguments);
        let output = git.args([ours.as_str(), theirs.as_str()]).output()?;
        match output.status.code() {
            Some(0) => parse_oid(COMMAND, output.stdout.trim_ascii_end()).map(Some),
            Some(1) => Ok(None),
            // So ends a git that does not know these options.
            Some(129) => Err(GitError::unexpected(COMMAND, "git 2.38 or newer is needed")),
            _ => Err(GitError::unexpected(
                COMMAND,
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            )),
        }
    }

    /// The tree that a commit on `onto` has that does what was done from `base` to `tip`; none if that conflicts with it.
    ///
    /// # Errors
    /// As [`Self::joined_tree`].
    pub fn picked_tree(
        &self,
        (base, tip): (&Oid, &Oid),
        onto: &Oid,
    ) -> Result<Option<Oid>, GitError> {
        if base == onto {
            return self.resolve_tree(tip.as_str());
        }
        // Git goes by what both descend from: that is to be `base`.
        let tree = format!("{onto}^{{tree}}");
        let made = self
            .git_write()
            .config("user.name=tm")
            .config("user.email=tm@localhost")
            .args(["commit-tree", &tree, "-p", base.as_str(), "-m", "onto"])
            .run()?;
        let ours = parse_oid("git commit-tree", made.trim_ascii_end())?;
        self.joined_tree(&ours, tip)
    }
}
