//! The files that a project knows.

use std::collections::BTreeSet;

use super::command::nul_separated;
use super::error::GitError;
use super::index_file::entry;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::Repository;
use super::status::TreeStatus;

/// More files than this are not listed.
const MOST: usize = 50_000;

impl Repository {
    /// The files in the scope that git tracks, and new ones that it does not ignore, relative to the
    /// top level. Names that are no UTF-8 are left out, and so is what comes after the first 50,000.
    ///
    /// Where the working tree was looked at already, the new ones are taken from there.
    pub fn files(&self, status: Option<&TreeStatus>) -> Result<Vec<String>, GitError> {
        let known = status.and_then(|status| {
            let new = status.changes.iter().filter(|change| change.untracked);
            let entries = self.index_entries()?.into_iter();
            let mut names: BTreeSet<Vec<u8>> = entries.map(|entry| entry.name).collect();
            names.extend(
                new.filter(|change| self.absolute(&change.path).symlink_metadata().is_ok())
                    .map(|change| change.path.as_bytes().to_vec()),
            );
            Some(names.into_iter().collect())
        });
        let names: Vec<Vec<u8>> = match known {
            Some(names) => names,
            None => self.listed()?,
        };
        let scope = self.scope().into_owned();
        Ok(names
            .into_iter()
            .filter_map(|path| String::from_utf8(path).ok())
            .filter(|path| path.starts_with(&scope))
            .take(MOST)
            .collect())
    }

    /// The files that git tracks, as far as they are in the scope; at most 50,000.
    pub fn known_files(&self) -> Result<Vec<RepoPath>, GitError> {
        let all = self.tracked_files()?.into_iter();
        Ok(all.filter(|path| self.in_scope(path)).take(MOST).collect())
    }

    /// The files that git tracks, in the scope or not.
    pub fn tracked_files(&self) -> Result<Vec<RepoPath>, GitError> {
        let names: Vec<Vec<u8>> = if let Some(entries) = self.index_entries() {
            entries.into_iter().map(|entry| entry.name).collect()
        } else {
            let output = self.git().args(["ls-files", "-z", "--cached"]).run()?;
            nul_separated(&output).map(<[u8]>::to_vec).collect()
        };
        Ok(names
            .into_iter()
            .filter_map(|name| RepoPath::from_bytes(name).ok())
            .collect())
    }

    /// The same as git lists it, in the same order.
    fn listed(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let output = self
            .git()
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
                "--deduplicate",
            ])
            .run()?;
        let names: BTreeSet<Vec<u8>> = nul_separated(&output).map(<[u8]>::to_vec).collect();
        Ok(names.into_iter().collect())
    }

    /// What a commit has directly in these folders, whose names end without `/`; the empty name is the repository itself. Names
    /// that are no UTF-8 are left out.
    pub fn files_directly_in(
        &self,
        commit: &Oid,
        folders: &[&str],
    ) -> Result<Vec<RepoPath>, GitError> {
        let list = || {
            self.git().args([
                "ls-tree",
                "-z",
                "--name-only",
                "--full-tree",
                commit.as_str(),
            ])
        };
        let (top, below): (Vec<&str>, Vec<&str>) =
            folders.iter().partition(|folder| folder.is_empty());
        let mut output = Vec::new();
        if !top.is_empty() {
            output = list().run()?;
        }
        if !below.is_empty() {
            let below = below.iter().map(|folder| format!("{folder}/"));
            output.extend(list().arg("--").args(below).run()?);
        }
        Ok(nul_separated(&output)
            .filter_map(|name| RepoPath::from_bytes(name).ok())
            .collect())
    }

    /// Whether the file is in the index. A folder is not.
    pub fn is_tracked(&self, path: &RepoPath) -> Result<bool, GitError> {
        if let Some(entries) = self.index_entries() {
            return Ok(entry(&entries, path.as_bytes()).is_some());
        }
        let output = self
            .git()
            .args(["ls-files", "-z", "--cached", "--"])
            .arg(path.as_os_str())
            .run()?;
        Ok(nul_separated(&output).any(|listed| listed == path.as_bytes()))
    }
}
