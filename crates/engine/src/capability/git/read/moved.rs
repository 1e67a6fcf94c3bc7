//! Whether the run's branch is where the run left it: at the run's last commit, with nothing on it but commits of whoever works
//! in the run. Anything else that git does to a branch is one thing: it has moved, and everything that rests on it waits until
//! somebody takes it as it is (`adopt`), or takes it back (`rewind`).

use machine::{Refusal, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workspace::config::Config;
use workspace::git::{CommitInfo, Oid, Repository};

use crate::approval::present_unit;
use crate::capability::memory::{
    ADOPTED, COMMIT_OF, LAST_COMMIT, LAST_COVERED, LAST_LEDGER, Memory, UNTRIED, WRITTEN, subtasks,
};
use crate::fault::Fault;
use crate::next_step::{NextStep, Verb};
use crate::support::{HandlerError, refusal};

/// The code of the refusal.
pub(crate) const BRANCH_MOVED: &str = "branch_moved";
/// So many commits are named.
const MOST_NAMED: usize = 3;

/// A branch as somebody took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adopted {
    /// Where the run had left it.
    pub(crate) from: String,
    /// Where it was.
    pub(crate) to: String,
    /// Commits that came, as people know them.
    pub(crate) came: Vec<String>,
    /// Subtasks whose commits are gone.
    pub(crate) lost: Vec<String>,
}

/// A branch that has moved.
#[derive(Debug)]
pub(crate) struct Moved {
    from: Oid,
    to: Option<Oid>,
    /// The commits that came, parents before their children, without those that hold what a commit of the run does.
    came: Vec<CommitInfo>,
    /// The commits of subtasks that stand there under another id.
    carried: Vec<(String, Oid)>,
    /// Subtasks whose commits are gone.
    lost: Vec<String>,
    /// The first commit that came in the place of one that is gone, and does not hold what that did.
    altered: Option<Oid>,
}

impl Moved {
    /// Refuses to go on from a branch that has moved; `head` is where it is. With `whole`, commits of whoever works in the run
    /// count as well: it is over, and they are no part of it.
    pub(crate) fn refused(
        run: &RunState,
        config: &Config,
        (memory, repository): (&Memory, &Repository),
        head: Option<&Oid>,
        whole: bool,
    ) -> Result<(), HandlerError> {
        match Self::of(run, config, (memory, repository), head, whole)? {
            Some(moved) => Err(moved.refusal(run, &memory.start.branch).into()),
            None => Ok(()),
        }
    }

    /// How it differs from where the run left it; none where it does not.
    pub(crate) fn of(
        run: &RunState,
        config: &Config,
        (memory, repository): (&Memory, &Repository),
        head: Option<&Oid>,
        whole: bool,
    ) -> Result<Option<Self>, Fault> {
        let from = memory.last_oid()?;
        let Some(to) = head else {
            return Ok(Some(Self {
                from,
                to: None,
                came: Vec::new(),
                carried: Vec::new(),
                lost: Vec::new(),
                altered: None,
            }));
        };
        if *to == from {
            return Ok(None);
        }
        let is_known = repository.has_commit(&from)?;
        if !whole && is_known && are_of_the_run(config, memory, repository, (&from, to))? {
            return Ok(None);
        }
        let (mut came, same) = if is_known {
            let same = repository.same_changes(&from, to)?;
            (repository.commits_between(&from, to)?, same)
        } else {
            (vec![repository.commit_info(to)?], Vec::new())
        };
        let (mut carried, mut lost, mut altered) = (Vec::new(), Vec::new(), None);
        for (key, _) in subtasks(run) {
            let Some(made) = COMMIT_OF.of(key).text(&run.kept) else {
                continue;
            };
            let own = match made.parse::<Oid>() {
                Ok(own) if repository.has_commit(&own)? => own,
                _ => {
                    lost.push(key.to_owned());
                    continue;
                }
            };
            if repository.is_ancestor(&own, to)? {
                continue;
            }
            let own = repository.commit_info(&own)?;
            let is_other = |commit: &CommitInfo| {
                (&commit.author, &commit.author_date) == (&own.author, &own.author_date)
            };
            let is_same = |commit: &CommitInfo| {
                same.contains(&own.oid) && same.contains(&commit.oid) && is_other(commit)
            };
            if let Some(at) = came.iter().position(is_same) {
                carried.push((key.to_owned(), came.remove(at).oid));
                continue;
            }
            lost.push(key.to_owned());
            let other = came.iter().find(|commit| is_other(commit));
            altered = altered.or(other.map(|commit| commit.oid.clone()));
        }
        Ok(Some(Self {
            from,
            to: Some(to.clone()),
            came,
            carried,
            lost,
            altered,
        }))
    }

    /// Subtasks of which nothing is there any more.
    pub(crate) fn lost(&self) -> &[String] {
        &self.lost
    }

    /// What it is, in a few words.
    fn told(&self) -> String {
        let came = self.named();
        let mut parts = Vec::new();
        if !came.is_empty() {
            let shown = text::listed(came.iter().take(MOST_NAMED));
            let counted = text::counted(came.len(), "commit");
            let such = if came.len() > MOST_NAMED {
                ", such as"
            } else {
                ":"
            };
            parts.push(format!("{counted} came{such} {shown}"));
        }
        if !self.carried.is_empty() {
            let keys = text::listed(self.carried.iter().map(|(key, _)| key));
            parts.push(format!("{keys} committed under another id"));
        }
        if !self.lost.is_empty() {
            let keys = text::listed(self.lost.iter());
            parts.push(format!("the commits of {keys} are gone"));
        }
        if parts.is_empty() {
            parts.push("commits are gone".to_owned());
        }
        text::plain::one_line(&parts.join("; "))
    }

    fn named(&self) -> Vec<String> {
        let named = self.came.iter();
        named
            .map(|commit| format!("{} \"{}\"", commit.oid.short(), commit.subject))
            .collect()
    }

    pub(crate) fn refusal(&self, run: &RunState, branch: &str) -> Refusal {
        let at = self.to.as_ref().map_or("nothing", Oid::short);
        let adopt = Verb::Adopt;
        let rewind = Verb::Rewind.step().with("to", present_unit(run));
        let back = format!(
            "go back to the run's last commit ({rewind}), which keeps what is there under a reference"
        );
        let on = format!(
            "go on from what is there ({adopt}): what is in progress begins again on it, and the files stay as they are"
        );
        refusal(
            BRANCH_MOVED,
            format!(
                "`{branch}` is at {at}, and the run left it at {}: {}",
                self.from.short(),
                self.told()
            ),
            match &self.lost[..] {
                [] => format!("{on}; or {back}"),
                lost => format!(
                    "{back}; or {on}, and {} is done again{}",
                    text::listed(lost.iter()),
                    self.as_changes()
                ),
            },
        )
        .detail("from", self.from.as_str())
        .detail("to", self.to.as_ref().map(Oid::as_str))
        .detail("lost", self.lost.clone())
    }

    /// How work that stands in another commit now gets to be tested once more.
    fn as_changes(&self) -> String {
        let Some(altered) = &self.altered else {
            return String::new();
        };
        let before = format!("{}^", altered.short());
        let reset = NextStep::git(["reset", &before]);
        format!(" (before that, {reset} has what is committed of it as changes, to be reported)")
    }

    /// What was done, for people.
    pub(crate) fn taken(&self) -> String {
        let to = self.to.as_ref().map_or("nothing", Oid::short);
        format!("The run goes on from {to}: {}", self.told())
    }

    /// What a run remembers that goes on from there. What the tests did before what is in progress is to be found out anew.
    pub(crate) fn keep(&self, run: &RunState, whole: bool) -> Result<Map<String, Value>, Fault> {
        let to = self.to.as_ref().map_or(String::new(), ToString::to_string);
        let mut keep = LAST_COMMIT.entry(&to)?;
        for (key, now) in &self.carried {
            COMMIT_OF.of(key).put(&mut keep, &now.to_string())?;
        }
        for key in &self.lost {
            keep.insert(COMMIT_OF.of(key).name().to_owned(), Value::Null);
            keep.insert(WRITTEN.of(key).name().to_owned(), Value::Null);
        }
        // Where nothing is in progress, no test may be missing that was there.
        if !whole {
            LAST_LEDGER.forget(&mut keep);
            UNTRIED.put(&mut keep, &true)?;
        }
        LAST_COVERED.forget(&mut keep);
        let mut adopted = ADOPTED.read(&run.kept)?.unwrap_or_default();
        let mut came = self.named();
        came.truncate(crate::capability::tests::read::MOST_NAMED);
        adopted.push(Adopted {
            from: self.from.to_string(),
            to,
            came,
            lost: self.lost.clone(),
        });
        ADOPTED.put(&mut keep, &adopted)?;
        Ok(keep)
    }
}

/// Whether there is nothing between the two but commits of one parent each that are on no branch that runs work beside: who works in
/// the run made them.
fn are_of_the_run(
    config: &Config,
    memory: &Memory,
    repository: &Repository,
    (from, to): (&Oid, &Oid),
) -> Result<bool, Fault> {
    let mut below = to.clone();
    let commits = repository.commits_between(from, to)?;
    for commit in commits.iter().rev() {
        match commit.parents.as_slice() {
            [parent] if commit.oid == below => below = parent.clone(),
            _ => return Ok(false),
        }
    }
    if below != *from {
        return Ok(false);
    }
    let others = others(config, memory, repository)?;
    Ok(repository.commits_beside(to, from, &others)?.len() == commits.len())
}

/// The tips of the branches that runs work beside, here and on the remote.
pub(crate) fn others(
    config: &Config,
    memory: &Memory,
    repository: &Repository,
) -> Result<Vec<Oid>, Fault> {
    let remote = &config.git.default_remote;
    let mut tips = Vec::new();
    for name in &memory.start.protected {
        for reference in [
            format!("refs/heads/{name}"),
            format!("refs/remotes/{remote}/{name}"),
        ] {
            tips.extend(repository.resolve(&reference)?);
        }
    }
    tips.sort();
    tips.dedup();
    Ok(tips)
}
