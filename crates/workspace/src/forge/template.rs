//! The project's own template of pull requests. Who gives a body to a forge gets none from it, so it is read here.

use super::address::ForgeKind;
use crate::git::{GitError, Oid, RepoPath, Repository};

/// A template above this length, in bytes, is none.
const LONGEST: usize = 32 * 1024;

/// The template as a commit has it: where it stands, and what it says. `named` is one that the settings name; else it is looked
/// for where the forge would. Of several to choose from none is taken.
pub fn pull_request_template(
    repository: &Repository,
    commit: &Oid,
    kind: Option<ForgeKind>,
    named: Option<&str>,
) -> Result<Option<(RepoPath, String)>, GitError> {
    let path = match named {
        Some(named) => named.parse::<RepoPath>().ok(),
        None => found(&repository.files_directly_in(commit, FOLDERS)?, kind),
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let text = repository.file_at(commit, &path)?;
    let text = text.filter(|text| text.len() <= LONGEST && !text.trim().is_empty());
    Ok(text.map(|text| (path, text.replace("\r\n", "\n"))))
}

/// The folders that are looked into; the empty one is the repository itself.
const FOLDERS: &[&str] = &[
    "",
    ".github",
    "docs",
    ".gitlab/merge_request_templates",
    ".gitea",
    ".forgejo",
];

/// The first of `files` that is a template, in the order in which the forge looks.
fn found(files: &[RepoPath], kind: Option<ForgeKind>) -> Option<RepoPath> {
    let is = |path: &RepoPath, wanted: &str| path.to_string().to_lowercase() == wanted;
    let first = |wanted: &[&str]| {
        wanted
            .iter()
            .find_map(|wanted| files.iter().find(|path| is(path, wanted)))
    };
    let of_gitlab = || first(&[".gitlab/merge_request_templates/default.md"]);
    let others = || {
        first(&[
            ".github/pull_request_template.md",
            "pull_request_template.md",
            "docs/pull_request_template.md",
            ".gitea/pull_request_template.md",
            ".forgejo/pull_request_template.md",
        ])
    };
    let path = match kind {
        Some(ForgeKind::GitLab) => of_gitlab().or_else(others),
        _ => others(),
    };
    path.cloned()
}
