//! Which commits are meant.

use workspace::git::{CommitInfo, Oid, Repository};

use crate::fault;
use crate::fault::Fault;

/// The commits that are looked at, parents before their children.
#[derive(Debug)]
pub struct Range {
    /// It, in words of git.
    pub text: String,
    /// The commits.
    pub commits: Vec<CommitInfo>,
    /// The commit before them, where there is one.
    pub base: Option<Oid>,
}

impl Range {
    /// The range that a text names: `A..B` or `A...B` (what B has and A has not), or one commit. Without a text, what HEAD has
    /// and the default branch has not.
    pub fn of(text: Option<&str>, repository: &Repository, remote: &str) -> Result<Self, Fault> {
        let Some(text) = text.map(str::trim) else {
            return Self::of_branch(repository, remote);
        };
        let commit = |name: &str| -> Result<Oid, Fault> {
            let name = if name.is_empty() { "HEAD" } else { name };
            let meant = repository.references_named(name)?;
            if meant.len() > 1 {
                return Err(ambiguous(name, &meant));
            }
            repository
                .resolve(name)?
                .ok_or_else(|| unknown(name, repository))
        };
        let between = |from: &str, to: &str| -> Result<Self, Fault> {
            let (from, to) = (commit(from)?, commit(to)?);
            Ok(Self {
                text: text.to_owned(),
                commits: repository.commits_between(&from, &to)?,
                base: repository.merge_base(&from, &to)?,
            })
        };
        if let Some((from, to)) = text.split_once("...").or_else(|| text.split_once("..")) {
            return between(from, to);
        }
        let single = repository.commit_info(&commit(text)?)?;
        Ok(Self {
            text: text.to_owned(),
            base: single.parents.first().cloned(),
            commits: vec![single],
        })
    }

    fn of_branch(repository: &Repository, remote: &str) -> Result<Self, Fault> {
        let head = repository
            .resolve("HEAD")?
            .ok_or_else(|| unknown("HEAD", repository))?;
        let not_said = || fault!("usage.of_branch");
        let default = repository
            .default_branch(&repository.branches(remote, &[])?)?
            .ok_or_else(not_said)?;
        let there = format!("refs/remotes/{remote}/{default}");
        let here = format!("refs/heads/{default}");
        let found = match repository.resolve(&there)? {
            Some(oid) => Some((format!("{remote}/{default}"), oid)),
            None => repository.resolve(&here)?.map(|oid| (default, oid)),
        };
        let (name, oid) = found.ok_or_else(not_said)?;
        let base = repository.merge_base(&oid, &head)?.ok_or_else(|| {
            let fault = fault!("not_provable.no_merge_base", name);
            if repository.is_shallow() {
                fault.suggest(DEEPEN)
            } else {
                fault.suggest("name a range: `tm verify A..B`")
            }
        })?;
        Ok(Self {
            text: format!("{name}..HEAD"),
            commits: repository.commits_between(&base, &head)?,
            base: Some(base),
        })
    }
}

/// Git takes the tag of two that have a name in common, and whoever pushes can make one.
fn ambiguous(name: &str, meant: &[String]) -> Fault {
    fault!("which_one.several_names", name, meant = meant.join(", "))
        .detail("references", meant.to_vec())
}

const DEEPEN: &str =
    "the clone is shallow: fetch the whole history first (`git fetch --unshallow`)";

fn unknown(name: &str, repository: &Repository) -> Fault {
    let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
    let fault = fault!("not_found.unknown_revision", name);
    if repository.is_shallow() {
        fault.suggest(DEEPEN)
    } else {
        fault.suggest("name commits as git does: `main..HEAD`, a branch, or an id")
    }
}
