//! What hooks of git make of a commit: formatters and generators change files while it is made, or refuse it and leave files changed.

use machine::RunState;
use workspace::config::Level;
use workspace::git::{CommitInfo, Oid, Repository};
use workspace::process::Cancellation;

use crate::call::Call;
use crate::capability::files::subject::fault as fault_of;
use crate::capability::git::effects::commit::Intent;
use crate::capability::memory::{LAST_LEVEL, Memory};
use crate::capability::tests::difference::{Difference, Sorter, names};
use crate::capability::tests::evidence::bench::{Bench, benches};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::level_named;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::known;
use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::next_step::{Argument, NextStep, Verb};

/// What a hook made of a commit.
pub(super) enum Hooked {
    /// What was to be committed.
    Nothing,
    /// Something else, that may stand: these files are others.
    Changed(Vec<String>),
    /// Something that was never accepted, for this reason.
    Broken(String),
}

impl Hooked {
    /// What a commit is to what was to be committed. Where tests were run here before, they are run on it, too.
    pub(super) fn of(
        call: &Call<'_>,
        run: &RunState,
        (memory, repository): (&Memory, &Repository),
        intent: &Intent,
        commit: &CommitInfo,
    ) -> Result<Self, Fault> {
        let Some(due) = &intent.tree else {
            return Ok(Self::Nothing);
        };
        let sorter = Sorter::new(repository, &memory.start, &call.pinned.test.protect)?;
        let mut differences = sorter.between(due, &commit.oid)?;
        let exempt = memory.exempt(repository);
        differences.retain(|difference| !exempt.contains(&difference.path));
        if differences.is_empty() {
            return Ok(Self::Nothing);
        }
        // What comes to the tests may alter those that were there.
        let is_broken = |difference: &&Difference| difference.breaks() || difference.brings();
        let broken = differences.iter().filter(is_broken);
        let broken: Vec<String> = broken.map(Difference::told).collect();
        if !broken.is_empty() {
            return Ok(Self::Broken(format!(
                "a hook of git changed the tests: {}",
                few(&broken)
            )));
        }
        let level = LAST_LEVEL.text(&run.kept).and_then(level_named);
        if level == Some(Level::Verified) {
            let mut trees = vec![commit.oid.clone()];
            // A test in another form may ask for something else.
            let of_tests = differences.iter().filter(|one| one.protected.is_some());
            let of_tests = of_tests.map(|one| (one.path.clone(), one.before.clone()));
            let of_tests: Vec<_> = of_tests.collect();
            if (1..differences.len()).contains(&of_tests.len()) {
                trees.push(repository.edit_tree(&commit.oid, &of_tests)?);
            }
            for tree in trees {
                if let Some(why) = failing(call, run, memory, (&tree, &commit.oid))? {
                    return Ok(Self::Broken(why));
                }
            }
        }
        Ok(Self::Changed(names(&differences)))
    }
}

/// Why a commit with a tree that nobody has tested yet may not stand; none where its tests pass as they did, or come to nothing.
fn failing(
    call: &Call<'_>,
    run: &RunState,
    memory: &Memory,
    (tree, commit): (&Oid, &Oid),
) -> Result<Option<String>, Fault> {
    let benches = benches(&call.dir);
    let never = Cancellation::default();
    let bench =
        Bench::take(&benches, memory, &call.pinned, commit.clone(), &never)?.of_run(&call.dir);
    // What was reported of that bench was reported there; what it prints now may say nothing.
    let Ok(taken) = bench.tested("what hooks made of the commit", tree, false, None) else {
        return Ok(None);
    };
    let before = known::before(&call.dir, run, None)?;
    let now = taken.ledger();
    let fails: Vec<String> = match (&before, &now) {
        (Some(before), Some(now)) if before.names_alike(now) => {
            let passed = |id: &&str| !before.fails(id);
            now.failing().filter(passed).map(str::to_owned).collect()
        }
        _ if taken.counts.failing() > 0 => now
            .iter()
            .flat_map(Ledger::failing)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let is_failing = !fails.is_empty() || taken.counts.failing() > 0 && now.is_none();
    Ok(is_failing.then(|| {
        format!(
            "a hook of git changed files, and tests fail with that: {}",
            few(&fails)
        )
    }))
}

/// The files that are not what was to be committed, as a hook left them that refused the commit.
pub(super) fn left(
    call: &Call<'_>,
    run: &RunState,
    repository: &Repository,
    intent: &Intent,
) -> Result<Vec<String>, Fault> {
    let Some(due) = &intent.tree else {
        return Ok(Vec::new());
    };
    let work = Work::now(run, (&call.dir, &call.pinned), &[]).map_err(fault_of)?;
    let changed = repository.changed_paths(due, &work.tree)?;
    Ok(changed.iter().map(ToString::to_string).collect())
}

/// What to do where a hook refused a commit, and left these files changed.
pub(super) fn suggestion(due: Option<&Oid>, left: &[String]) -> String {
    let commit = Verb::Report.step().with("phase", "commit");
    let reopen = Verb::Reopen.step().and("reason");
    if left.is_empty() {
        return format!(
            "mend what it says and commit again: {commit} ({message} gives it another message); if files must change for that, {reopen}, report GREEN again, then commit",
            message = Argument("message"),
        );
    }
    let source = due.map_or_else(String::new, |due| format!("--source={}", due.short()));
    let paths: Vec<String> = left.iter().map(|path| format!(":/{path}")).collect();
    let words = ["git", "restore", &source, "--"];
    let back = NextStep::shell(words.into_iter().chain(paths.iter().map(String::as_str)));
    format!(
        "what it made of the files is in the working tree. Either keep it: {reopen}, run the tests, report GREEN again, then commit; or put back what was tested ({back}), mend the hook, and commit again: {commit}"
    )
}

/// What happened, with the files named.
pub(super) fn told(message: String, left: &[String]) -> String {
    if left.is_empty() {
        return message;
    }
    format!("{message}\nIt changed files: {}", few(left))
}
