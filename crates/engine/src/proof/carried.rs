//! Commits that no run made by their id, and that hold what commits of runs come to on another parent: rebased, picked, squashed, or
//! merged by a queue. What stands behind them is what stands behind the commits of the run.

use std::str::FromStr as _;

use workspace::git::{CommitInfo, Oid, RepoPath, Repository};

use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::proof::check::{self, RequiredProof};
use crate::proof::range::Range;
use crate::proof::source::{Library, short};
use crate::proof::story::RunCommit;
use crate::proof::{CommitStanding, Verdict};

/// Commits of a run that are in another one: source, and number of the commit in it.
type Parts = Vec<(usize, usize)>;

/// What one commit of a run changes, or all of them up to one.
struct RunChange {
    parts: Parts,
    /// From where to where, and the files that differ; none where the commits are not here.
    here: Option<(Oid, Oid, Vec<RepoPath>)>,
    /// The name of the change, where its source has it.
    name: String,
}

/// How a commit holds the change of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// It has the tree that git makes of it there.
    ByTree,
    /// It changes the same lines in the same surroundings; where these stand is not known.
    ByLines,
}

/// Judges the commits that nobody made by what they carry.
pub(super) fn judge(
    commits: &mut [Verdict],
    range: &Range,
    library: &mut Library,
    repository: &Repository,
    least: &RequiredProof,
) -> Result<(), Fault> {
    let is_nobodys = |verdict: &Verdict| {
        matches!(
            verdict.standing,
            CommitStanding::Unearned | CommitStanding::NotProvable
        )
    };
    if !commits.iter().any(is_nobodys) {
        return Ok(());
    }
    library.all_sources(repository)?;
    let changes = changes(library, repository)?;
    for (verdict, commit) in commits.iter_mut().zip(&range.commits) {
        let [parent] = commit.parents.as_slice() else {
            continue;
        };
        if !is_nobodys(verdict) {
            continue;
        }
        let paths = repository.changed_paths(parent, &commit.oid)?;
        for change in &changes {
            if let Some(held) = change.is_held_by(commit, (parent, &paths), repository)? {
                carried(
                    verdict,
                    commit,
                    (&change.parts, held),
                    library,
                    repository,
                    least,
                )?;
                break;
            }
        }
    }
    Ok(())
}

impl RunChange {
    /// How a commit on `parent` holds it; none where it does not.
    fn is_held_by(
        &self,
        commit: &CommitInfo,
        (parent, paths): (&Oid, &[RepoPath]),
        repository: &Repository,
    ) -> Result<Option<Held>, Fault> {
        if let Some((base, tip, own)) = &self.here {
            if own != paths || paths.is_empty() {
                return Ok(None);
            }
            let picked = repository.picked_tree((base, tip), parent)?;
            return Ok((picked.as_ref() == Some(&commit.tree)).then_some(Held::ByTree));
        }
        let name = repository.change_name(parent, &commit.oid)?;
        let is_same = !self.name.is_empty() && name.as_ref() == Some(&self.name);
        Ok(is_same.then_some(Held::ByLines))
    }
}

/// The changes of all commits that are known, and those of whole runs up to each.
fn changes(library: &Library, repository: &Repository) -> Result<Vec<RunChange>, Fault> {
    let here = |base: &str, tip: &str| -> Result<Option<(Oid, Oid, Vec<RepoPath>)>, Fault> {
        let (Ok(base), Ok(tip)) = (Oid::from_str(base), Oid::from_str(tip)) else {
            return Ok(None);
        };
        for oid in [&base, &tip] {
            if !repository.has_commit(oid)? {
                return Ok(None);
            }
        }
        let paths = repository.changed_paths(&base, &tip)?;
        Ok(Some((base, tip, paths)))
    };
    let mut changes = Vec::new();
    for (source, known) in library.known.iter().enumerate() {
        let begun = known.made.first().map_or("", |first| first.base.as_str());
        for (number, made) in known.made.iter().enumerate() {
            changes.push(RunChange {
                parts: vec![(source, number)],
                here: here(&made.base, &made.sha)?,
                name: made.change.clone(),
            });
            if number > 0 || !made.whole.is_empty() {
                changes.push(RunChange {
                    parts: (0..=number).map(|number| (source, number)).collect(),
                    here: here(begun, &made.sha)?,
                    name: made.whole.clone(),
                });
            }
        }
    }
    Ok(changes)
}

/// The name of the change of a commit, and of all that the run changed up to it.
pub(crate) fn names(
    repository: &Repository,
    made: &RunCommit,
    begun: Option<&str>,
) -> Result<(Option<String>, Option<String>), Fault> {
    let (Ok(commit), Ok(base)) = (Oid::from_str(&made.sha), Oid::from_str(&made.base)) else {
        return Ok((None, None));
    };
    let change = repository.change_name(&base, &commit)?;
    let whole = match begun.map(Oid::from_str) {
        Some(Ok(begun)) if begun != base => repository.change_name(&begun, &commit)?,
        _ => None,
    };
    Ok((change, whole))
}

/// Has a commit stand as those stand that it carries.
fn carried(
    verdict: &mut Verdict,
    commit: &CommitInfo,
    (parts, held): (&Parts, Held),
    library: &Library,
    repository: &Repository,
    least: &RequiredProof,
) -> Result<(), Fault> {
    let mut problems = Vec::new();
    let mut remarks = Vec::new();
    let mut without_tests = false;
    let mut level = None;
    for (source, number) in parts {
        let (Some(known), Some(made)) = (
            library.known.get(*source),
            library
                .known
                .get(*source)
                .and_then(|known| known.made.get(*number)),
        ) else {
            continue;
        };
        let own = match Oid::from_str(&made.sha) {
            Ok(oid) if repository.has_commit(&oid)? => Some(repository.commit_info(&oid)?),
            _ => None,
        };
        let judged = check::judge(known, made, own.as_ref(), repository, least)?;
        let of = short(&made.sha);
        problems.extend(judged.problems.into_iter().map(|problem| check::Problem {
            message: format!("of {of}: {}", problem.message),
            ..problem
        }));
        remarks.extend(
            judged
                .remarks
                .into_iter()
                .map(|said| format!("of {of}: {said}")),
        );
        without_tests |= judged.without_tests;
        level = match (level, judged.level) {
            (Some(before), Some(level)) => Some(std::cmp::min(before, level)),
            (before, level) => before.or(level),
        };
        verdict.carries.push(made.sha.clone());
        verdict.source = Some(known.source.kind);
        verdict.run = Some(made.run.clone());
        verdict.workflow = Some(made.workflow.clone()).filter(|workflow| !workflow.is_empty());
        if own.is_none() {
            remarks.push(format!(
                "of {of}: that commit is not here, so its tree was not held against what was tested"
            ));
        }
    }
    let run = verdict.run.clone().unwrap_or_default();
    let what = match parts.as_slice() {
        [_] => format!(
            "it is another commit with the change of {}, which {run} made: rebased, picked or amended",
            verdict
                .carries
                .first()
                .map(|sha| short(sha))
                .unwrap_or_default()
        ),
        all => format!(
            "it holds {} of {run} in one: squashed",
            text::counted(all.len(), "commit")
        ),
    };
    // What was tested is what the run's commit holds. On another base nobody ran the tests.
    let moved = parts.last().and_then(|(source, number)| {
        let made = library.known.get(*source)?.made.get(*number)?;
        let oid = Oid::from_str(&made.sha).ok()?;
        let own = repository.commit_info(&oid).ok()?;
        (own.tree != commit.tree).then_some(())
    });
    remarks.insert(0, what);
    if moved.is_some() {
        remarks.insert(
            1,
            "it stands on another base than the run had its tests on".to_owned(),
        );
    }
    if held == Held::ByLines {
        remarks.push(
            "it changes the same lines, and the commit of the run is not here to tell whether in the same place"
                .to_owned(),
        );
    }
    let faulty = problems
        .iter()
        .any(|problem| problem.code != "without_tests");
    verdict.standing = match (faulty, without_tests) {
        (true, _) => CommitStanding::Faulty,
        (false, true) => CommitStanding::WithoutTests,
        (false, false) => CommitStanding::Earned,
    };
    verdict.level = level.map(crate::capability::tests::evidence::level_name);
    verdict.problems = problems;
    verdict.remarks = remarks;
    Ok(())
}

/// What a merge holds beyond what git makes of its parents; none where it is that.
pub(super) fn beyond_its_parents(
    commit: &CommitInfo,
    repository: &Repository,
) -> Result<Option<String>, Fault> {
    let [first, second] = commit.parents.as_slice() else {
        return Ok(Some(
            "it joins more than two lines of history, and nobody can tell what came of that"
                .to_owned(),
        ));
    };
    let joined = match repository.joined_tree(first, second) {
        // As in a clone without the commit that both come from.
        Err(error) => return Ok(Some(format!("git cannot join its parents again: {error}"))),
        Ok(joined) => joined,
    };
    Ok(match joined {
        None => Some("it settles conflicts of what it joins, and no run did that".to_owned()),
        Some(tree) if tree == commit.tree => None,
        Some(tree) => {
            let paths = repository.changed_paths(&tree, &commit.oid)?;
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            Some(format!(
                "it is not what joining its parents gives: {}",
                few(&paths)
            ))
        }
    })
}
