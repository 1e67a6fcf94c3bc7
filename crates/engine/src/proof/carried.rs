//! Commits that no run made by their id, and whose change is one that runs made: rebased, picked, squashed, or merged by a queue.
//! What stands behind them is what stands behind the commits of the run.

use std::collections::HashMap;
use std::str::FromStr as _;

use workspace::git::{CommitInfo, Oid, Repository};

use crate::fault::Fault;
use crate::proof::check::{self, RequiredProof};
use crate::proof::range::Range;
use crate::proof::source::{Library, short};
use crate::proof::story::RunCommit;
use crate::proof::{CommitStanding, Verdict};

/// Commits of a run that are in another one.
type Parts = Vec<(usize, usize)>;

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
        let Some(change) = repository.change_name(parent, &commit.oid)? else {
            continue;
        };
        if let Some(parts) = changes.get(&change) {
            carried(verdict, commit, parts, library, repository, least)?;
        }
    }
    Ok(())
}

/// The changes of all commits that are known, and those of whole runs, each with the commits that it is of.
fn changes(library: &Library, repository: &Repository) -> Result<HashMap<String, Parts>, Fault> {
    let mut changes: HashMap<String, Parts> = HashMap::new();
    for (source, known) in library.known.iter().enumerate() {
        let begun = known.made.first().map(|first| first.base.as_str());
        for (number, made) in known.made.iter().enumerate() {
            let (change, whole) = if made.change.is_empty() {
                names(repository, made, begun)?
            } else {
                (Some(made.change.clone()), Some(made.whole.clone()))
            };
            if let Some(change) = change {
                changes
                    .entry(change)
                    .or_insert_with(|| vec![(source, number)]);
            }
            if let Some(whole) = whole.filter(|whole| !whole.is_empty()) {
                let up_to = (0..=number).map(|number| (source, number)).collect();
                changes.entry(whole).or_insert(up_to);
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
    parts: &Parts,
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
            Ok(oid) if repository.resolve(&format!("{oid}^{{commit}}"))?.is_some() => {
                Some(repository.commit_info(&oid)?)
            }
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
            "it stands on another base: its tests were not run there".to_owned(),
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
