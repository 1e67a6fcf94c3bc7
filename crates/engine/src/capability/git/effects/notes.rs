//! A git note on each commit of a run, where the settings ask for it: what stands behind the commit, outside of the journal.
//!
//! The note of a commit that the run makes is written with it, before the commit is journalled: whoever finds the commit after a
//! crash writes it again. All others, such as those of commits that were handed in, are caught up with by the next call.

use journal::derived::replace_if_changed;
use machine::RunState;
use workspace::git::{Oid, RepoPath, Repository};

use crate::call::Call;
use crate::capability::memory::{self, LAST_COMMIT, Memory};
use crate::fault::Fault;
use crate::proof::story::{OtherFiles, Purpose, RunCommit, Story};
use crate::proof::{carried, check, note, source};

/// The file in the run's folder that has the last commit that all is written up to.
const NOTED: &str = "noted.txt";

/// Writes the note of the commit that is under way, and was just made.
pub fn of_pending(call: &Call<'_>, repository: &Repository, commit: &Oid) -> Result<(), Fault> {
    if !call.pinned.evidence.notes {
        return Ok(());
    }
    let story = source::story(&call.dir)?;
    let begun = begun(&story);
    let Some(made) = story.under_way else {
        return Err(Fault::bug("a note for no commit"));
    };
    let made = RunCommit {
        sha: commit.to_string(),
        ..made
    };
    write(repository, begun.as_deref(), &[made])?;
    if story
        .made
        .last()
        .is_none_or(|before| before.sha == noted(call))
    {
        mark(call, commit.as_str());
    }
    Ok(())
}

/// The commit that all is written up to.
fn noted(call: &Call<'_>) -> String {
    let text = journal::durable::read_text(&call.dir.join(NOTED)).unwrap_or_default();
    text.trim_end().to_owned()
}

/// Only spares the next call the work.
fn mark(call: &Call<'_>, sha: &str) {
    let _ = replace_if_changed(&call.dir.join(NOTED), format!("{sha}\n").as_bytes());
}

/// Writes the notes that are missing. What cannot be written is left for the next time.
pub fn catch_up(call: &Call<'_>, run: &RunState) {
    if !call.pinned.evidence.notes || memory::commits(run) == 0 || run.pending.is_some() {
        return;
    }
    let last = LAST_COMMIT.text(&run.kept);
    let noted = noted(call);
    let Some(last) = last.filter(|last| *last != noted) else {
        return;
    };
    if since(call, run, &noted).is_ok() {
        mark(call, last);
    }
}

/// Writes the notes of all commits of a run, whatever its settings say of notes.
pub fn write_all(call: &Call<'_>, repository: &Repository) -> Result<(), Fault> {
    let story = source::story(&call.dir)?;
    write(repository, begun(&story).as_deref(), &story.made)
}

/// The commit that the run's first one builds on.
fn begun(story: &Story) -> Option<String> {
    story.made.first().map(|first| first.base.clone())
}

/// Writes the notes of the commits after the one up to which all is written.
fn since(call: &Call<'_>, run: &RunState, noted: &str) -> Result<(), Fault> {
    let repository = Memory::of(run)?.repository();
    let story = source::story(&call.dir)?;
    let made = &story.made;
    let first = made
        .iter()
        .position(|made| made.sha == noted)
        .map_or(0, |at| at + 1);
    write(
        &repository,
        begun(&story).as_deref(),
        made.get(first..).unwrap_or_default(),
    )
}

/// Writes the notes of these commits, as far as they are not there as they should be.
fn write(repository: &Repository, begun: Option<&str>, all: &[RunCommit]) -> Result<(), Fault> {
    let all: Vec<(&RunCommit, Oid)> = all
        .iter()
        .filter_map(|made| Some((made, made.sha.parse().ok()?)))
        .collect();
    let commits: Vec<Oid> = all.iter().map(|(_, commit)| commit.clone()).collect();
    let there = repository.notes(note::REFERENCE, &commits)?;
    for (made, commit) in &all {
        // A commit that was taken off the branch since may be gone.
        let (Ok(base), Ok(Some(_))) = (
            made.base.parse::<Oid>(),
            repository.resolve(commit.as_str()),
        ) else {
            continue;
        };
        let text = text(repository, begun, made, (&base, commit))?;
        if there.get(commit).map(|there| there.trim_end()) != Some(text.trim_end()) {
            repository.put_note(note::REFERENCE, commit, &text)?;
        }
    }
    Ok(())
}

fn text(
    repository: &Repository,
    begun: Option<&str>,
    made: &RunCommit,
    (base, commit): (&Oid, &Oid),
) -> Result<String, Fault> {
    let is_left_out = |path: &RepoPath| match made.purpose {
        Purpose::Status => made.paths.contains(path),
        _ => made.exclude.iter().any(|left| path.is_under(left)),
    };
    let left_out: Vec<RepoPath> = repository
        .changed_paths(base, commit)?
        .into_iter()
        .filter(is_left_out)
        .collect();
    let by_hooks = check::is_changed_by_hooks(repository, made, base, commit)?;
    let (change, whole) = carried::names(repository, made, begun)?;
    let made = RunCommit {
        other: by_hooks.then_some(OtherFiles::ByHooks).or(made.other),
        change: change.unwrap_or_default(),
        whole: whole.unwrap_or_default(),
        ..made.clone()
    };
    Ok(note::text(&made, &left_out))
}
