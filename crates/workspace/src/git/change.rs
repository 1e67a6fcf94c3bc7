//! What a commit changes, by a name that stays when it is rebased, picked or squashed.

use journal::digest::hex;
use sha2::{Digest as _, Sha256};

use super::error::GitError;
use super::oid::Oid;
use super::repository::Repository;

impl Repository {
    /// The name of the change from one commit to another: SHA-256 of its diff without line numbers and the ids of contents. Two
    /// changes of one name change the same lines, white space included, in the same surroundings. It is no `git patch-id`,
    /// which passes over white space, and in some languages that decides what a program does.
    ///
    /// Nothing where one of the two is not here.
    pub fn change_name(&self, base: &Oid, commit: &Oid) -> Result<Option<String>, GitError> {
        let known = |oid: &Oid| Ok(self.resolve(&format!("{oid}^{{commit}}"))?.is_some());
        if !known(base)? || !known(commit)? {
            return Ok(None);
        }
        let diff = self
            .git()
            .config("core.quotePath=true")
            .config("diff.suppressBlankEmpty=false")
            .args([
                "diff-tree",
                "-r",
                "-p",
                "--text",
                "--full-index",
                "--unified=3",
            ])
            .args([
                "--inter-hunk-context=0",
                "--diff-algorithm=myers",
                "--indent-heuristic",
            ])
            .args([
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
            ])
            .args([
                "--ignore-submodules=none",
                "--src-prefix=a/",
                "--dst-prefix=b/",
            ])
            .args([base.as_str(), commit.as_str(), "--"])
            .run()?;
        let mut hash = Sha256::new();
        let mut in_header = true;
        for line in diff.split_inclusive(|byte| *byte == b'\n') {
            // Within a hunk each line begins with a sign of its own.
            if line.starts_with(b"diff ") {
                in_header = true;
            } else if line.starts_with(b"@@") {
                in_header = false;
                hash.update(b"@@\n");
                continue;
            } else if in_header && line.starts_with(b"index ") {
                continue;
            }
            hash.update(line);
        }
        Ok(Some(hex(&hash.finalize())))
    }
}
