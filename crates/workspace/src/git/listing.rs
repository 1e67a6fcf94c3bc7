//! The files that a project knows.

use super::error::GitError;
use super::repository::Repository;

/// More files than this are not listed.
const MOST: usize = 50_000;

impl Repository {
    /// The files in the scope that git tracks, and new ones that it does not ignore, relative to the
    /// top level. Names that are no UTF-8 are left out, and so is what comes after the first 50,000.
    pub fn files(&self) -> Result<Vec<String>, GitError> {
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
        let scope = self.scope().into_owned();
        Ok(output
            .split(|byte| *byte == 0)
            .filter_map(|path| std::str::from_utf8(path).ok())
            .filter(|path| !path.is_empty() && path.starts_with(&scope))
            .take(MOST)
            .map(str::to_owned)
            .collect())
    }
}
