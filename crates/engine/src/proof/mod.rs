//! The proof that commits were earned: each had its RED and its GREEN, and holds what was tested.
//!
//! | module | what it holds |
//! |---|---|
//! | [`range`] | which commits are meant |
//! | [`story`] | what a journal tells of the commits of its run |
//! | [`source`] | where that is found: journals, bundles, notes |
//! | [`check`] | what has to hold for a commit |
//! | [`carried`] | commits that have the change of others |
//! | [`replay`] | the tests of commits, run again |
//! | [`bundle`] | a run in one file |
//! | [`note`] | what a git note says of a commit |
//! | `settings` | what runs began with, beside what is committed |
//!
//! `tm verify origin/main..HEAD` lists the commits and looks for the run that made each: in the journals of this repository, in
//! the bundles that were given, in the notes of git. It reads that run's journal again, from its first line, as a chain of
//! hashes: what the reports and the commit of that item said, on what evidence. Then it holds together the order, the levels,
//! the bytes of the evidence, the tree that was tested and the tree that was committed. What none of the sources holds is not
//! provable.

pub mod bundle;
pub mod carried;
pub mod check;
mod kind;
pub mod note;
pub mod range;
pub mod replay;
mod settings;
pub mod source;
pub mod story;

use std::collections::HashMap;
use std::path::PathBuf;
use std::slice;
use std::str::FromStr as _;

use machine::Strength;
use serde::Serialize;
use workspace::config::Level;
use workspace::git::{CommitInfo, Oid, Repository};

use crate::capability::tests::evidence::level_name;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::proof::bundle::Packed;
use crate::proof::check::{CheckResult, Problem, RequiredProof, problem};
use crate::proof::range::Range;
use crate::proof::replay::{OldTests, ReplayedCommit, Replayer};
use crate::proof::source::{Damaged, Library, Source, SourceIndex, short};
use crate::proof::story::{Allowed, Phase, Purpose, RunCommit};

/// What is to be verified.
#[derive(Debug, Clone, Default)]
pub struct VerifyRequest {
    /// The commits, as git names them; those of the branch where it is absent.
    pub range: Option<String>,
    /// Bundles to look into where no journal has a commit.
    pub bundles: Vec<PathBuf>,
    /// The least level of evidence.
    pub require: Option<Level>,
    /// The least that stands behind a person's decisions; what the settings ask for counts as well.
    pub approvals: Option<Strength>,
    /// The keys that may sign; those of the person's list where it is absent.
    pub signers: Option<PathBuf>,
    /// Whether the tests of each commit are run again, with its change and without it.
    pub replay: bool,
    /// Whether settings that are weaker than the committed ones are refused.
    pub strict: bool,
}

/// What became of a range.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Whether every commit was earned.
    pub verified: bool,
    /// Code of what is wrong: `not_provable` where nothing is known of what is missing, else `unearned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// All of it in a sentence.
    pub message: String,
    /// What to do, where something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The range.
    pub range: String,
    /// The least level.
    pub require: &'static str,
    /// The commits, parents before their children.
    pub commits: Vec<Verdict>,
    /// Where it is written what stands behind them.
    pub sources: Vec<Source>,
    /// Journals that cannot be relied on, as far as they were looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<Damaged>,
    /// What runs, or the range itself, had weaker than the committed settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// How a commit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitStanding {
    /// All that has to stand behind it does.
    Earned,
    /// Its run made it, and no test failed before it. It counts where the settings accept that of its workflow.
    WithoutTests,
    /// Something of it is missing or wrong.
    Faulty,
    /// No run that is known here made it.
    Unearned,
    /// Nothing that tells of runs is at hand.
    NotProvable,
    /// It joins two lines of history, and holds what git makes of them.
    Merge,
}

/// What became of a commit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Its id.
    pub sha: String,
    /// The first line of its message.
    pub subject: String,
    /// How it stands.
    pub standing: CommitStanding,
    /// What it was made for.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// Where that is written: `journal`, `bundle` or `note`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Its workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The subtask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtask: Option<String>,
    /// The commits of its run that it carries, where it is none of these by its id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carries: Vec<String>,
    /// It was handed in together with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// The least level of what stands behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'static str>,
    /// The RED behind it; of a repair the suite that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub red: Option<Phase>,
    /// The GREEN behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub green: Option<Phase>,
    /// The full suite behind the commit that ends a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<Phase>,
    /// What kind of work it is, where that has a rule of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The tree that GREEN tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What its tests did when they were run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayedCommit>,
    /// What became of the tests from before the range, where that was tried and something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_tests: Option<OldTests>,
    /// What is missing or wrong.
    pub problems: Vec<Problem>,
    /// What somebody should know.
    pub remarks: Vec<String>,
    /// Refusals that a person let pass.
    pub allowed: Vec<Allowed>,
}

/// A bundle that was written.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenBundle {
    /// The run.
    pub run_id: String,
    /// The file; none where it went to standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Its length.
    pub bytes: usize,
    /// Events of the journal.
    pub events: u64,
    /// Hash of the journal's last line.
    pub head: String,
    /// Pieces of evidence that are in it.
    pub evidence: usize,
    /// Pieces that are not, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<bundle::Listed>,
}

impl WrittenBundle {
    /// What there is to tell of a bundle.
    pub fn of(packed: &Packed, file: Option<PathBuf>) -> Self {
        let (there, left): (Vec<_>, Vec<_>) = packed
            .files
            .iter()
            .cloned()
            .partition(|file| file.left.is_none());
        Self {
            run_id: packed.run.clone(),
            file,
            bytes: packed.bytes.len(),
            events: packed.events,
            head: packed.head.clone(),
            evidence: there.len(),
            left,
        }
    }
}

/// So many commits take their time.
const MANY: u64 = 50;

impl Engine {
    /// Packs a run into one file.
    pub fn export_run(&self, run: Option<&str>) -> Result<Packed, Fault> {
        let (_, dir) = self.looked_at(run)?;
        let packed = bundle::pack(dir.path())?;
        if packed.events == 0 {
            return Err(crate::integrity::never_began(&dir));
        }
        Ok(packed)
    }

    /// Looks whether every commit of a range was earned. Changes nothing.
    pub fn verify(&self, request: &VerifyRequest) -> Result<Verified, Fault> {
        let repository = Repository::discover(&self.root)?;
        let remote = &self.settings.config.git.default_remote;
        let range = Range::of(request.range.as_deref(), &repository, remote)?;
        let wanted: Vec<Oid> = range
            .commits
            .iter()
            .map(|commit| commit.oid.clone())
            .collect();
        let mut library = Library::gather(self, &repository, &wanted, &request.bundles)?;
        let approvals = request.approvals.unwrap_or_default();
        let least = RequiredProof {
            level: request.require.unwrap_or(Level::Claimed),
            approval: approvals.max(self.least_approval()),
            signers: request.signers.clone().unwrap_or_else(|| self.signers()),
            without_tests: self.settings.config.evidence.without_tests.clone(),
        };
        let parts = parts(&library, &range, &repository)?;
        let mut commits = Vec::new();
        let all = range.commits.len() as u64;
        for (at, commit) in range.commits.iter().enumerate() {
            if all >= MANY {
                self.tell("commits are held against their runs", at as u64, Some(all));
            }
            commits.push(verdict(&library, commit, &parts, &repository, &least)?);
        }
        carried::judge(&mut commits, &range, &mut library, &repository, &least)?;
        if let Some(tip) = range.commits.last().filter(|_| request.replay) {
            let settings = settings::committed(&self.root, &repository, &tip.oid)?;
            let replayer = Replayer::of(self, &repository, &settings)?;
            for (at, verdict) in commits.iter_mut().enumerate() {
                let which = short(&verdict.sha);
                let begun = || {
                    let what = format!("the tests of a commit are run again: {which}");
                    self.tell(what, at as u64, Some(all));
                };
                verdict.replay_with(&replayer, &library, &begun)?;
            }
            if let Some(tip) = commits.last_mut() {
                self.tell("the tests of the last commit are run", all, Some(all));
                tip.replay_as_tip(&replayer, range.base.as_ref())?;
            }
        }
        for verdict in &mut commits {
            verdict.on_notes_alone(&library, request.replay);
        }
        let mut settings = Vec::new();
        for known in &library.known {
            let is_of_range = |verdict: &Verdict| verdict.run.as_ref() == Some(&known.source.run);
            if commits.iter().any(is_of_range) {
                settings.extend(settings::of_run(&self.root, &repository, known)?);
            }
        }
        settings.extend(settings::of_range(&self.root, &repository, &range));
        let verified = summed_up(range.text, commits, library, least.level);
        Ok(verified.with_settings(settings, request.strict))
    }
}

impl Verdict {
    /// The commits of runs that stand behind it: those that it carries, or itself.
    fn held(&self) -> &[String] {
        match self.carries.as_slice() {
            [] => slice::from_ref(&self.sha),
            carried => carried,
        }
    }
}

/// The commits that were handed in together with a later one, each with that one.
fn parts(
    library: &Library,
    range: &Range,
    repository: &Repository,
) -> Result<HashMap<String, String>, Fault> {
    let mut parts = HashMap::new();
    for commit in &range.commits {
        let Some((_, made)) = library.of(commit.oid.as_str()) else {
            continue;
        };
        let Ok(base) = Oid::from_str(&made.base) else {
            continue;
        };
        if !made.handed_in
            || commit.parents.first() == Some(&base)
            || repository.resolve(base.as_str())?.is_none()
        {
            continue;
        }
        for before in repository.commits_between(&base, &commit.oid)? {
            if before.oid != commit.oid {
                parts.insert(before.oid.to_string(), made.sha.clone());
            }
        }
    }
    Ok(parts)
}

fn verdict(
    library: &Library,
    commit: &CommitInfo,
    parts: &HashMap<String, String>,
    repository: &Repository,
    least: &RequiredProof,
) -> Result<Verdict, Fault> {
    let sha = commit.oid.as_str();
    let part_of = parts.get(sha).cloned();
    let found = library
        .of(sha)
        .or_else(|| part_of.as_ref().and_then(|tip| library.of(tip)));
    let mut problems = Vec::new();
    for damaged in library
        .damaged
        .iter()
        .filter(|damaged| damaged.names.iter().any(|name| name == sha))
    {
        problems.push(problem(
            "journal_damaged",
            format!("the journal of {} is not as it was written", damaged.run),
        ));
    }
    let Some((known, made)) = found else {
        let standing = match (problems.is_empty(), commit.parents.len()) {
            (false, _) => CommitStanding::Faulty,
            (true, 2..) => CommitStanding::Merge,
            (true, _) if library.has_journals => CommitStanding::Unearned,
            (true, _) => CommitStanding::NotProvable,
        };
        let mut nobodys = nobodys(commit, standing, library);
        nobodys.problems.extend(problems);
        if standing == CommitStanding::Merge
            && let Some(more) = carried::beyond_its_parents(commit, repository)?
        {
            nobodys.standing = CommitStanding::Unearned;
            nobodys.problems.push(problem("unearned", more));
        }
        return Ok(nobodys);
    };
    let judged = match &part_of {
        // What stands behind it is looked at where it was handed in.
        Some(_) => CheckResult::default(),
        None => check::judge(known, made, Some(commit), repository, least)?,
    };
    problems.extend(judged.problems);
    problems.extend(against_note(library, known, made));
    let faulty = problems
        .iter()
        .any(|problem| problem.code != "without_tests");
    Ok(Verdict {
        standing: match (faulty, judged.without_tests) {
            (true, _) => CommitStanding::Faulty,
            (false, true) => CommitStanding::WithoutTests,
            (false, false) => CommitStanding::Earned,
        },
        workflow: Some(made.workflow.clone()).filter(|workflow| !workflow.is_empty()),
        purpose: Some(made.purpose),
        source: Some(known.source.kind),
        run: Some(made.run.clone()),
        unit: Some(made.unit.clone()),
        subtask: Some(made.subtask.clone()).filter(|subtask| !subtask.is_empty()),
        level: judged.level.map(level_name),
        red: made.red.clone(),
        green: made.green.clone(),
        suite: made.suite.clone(),
        kind: Some(made.rule.kind.clone()).filter(|kind| !kind.is_empty()),
        tree: Some(made.tree.clone()).filter(|tree| !tree.is_empty()),
        problems,
        remarks: judged.remarks,
        allowed: made.allowed.clone(),
        part_of,
        ..nobodys(commit, CommitStanding::Earned, library)
    })
}

fn nobodys(commit: &CommitInfo, standing: CommitStanding, library: &Library) -> Verdict {
    let problems = match standing {
        CommitStanding::Unearned => vec![problem("unearned", "no run that is known here made it")],
        CommitStanding::NotProvable => vec![problem(
            "not_provable",
            match library.bad_notes.get(commit.oid.as_str()) {
                Some(why) => format!("no journal, no bundle, and its note does not count: {why}"),
                None => "no journal, no bundle and no note tells of it".to_owned(),
            },
        )],
        _ => Vec::new(),
    };
    Verdict {
        sha: commit.oid.to_string(),
        subject: commit.subject.clone(),
        standing,
        purpose: None,
        source: None,
        run: None,
        workflow: None,
        unit: None,
        subtask: None,
        carries: Vec::new(),
        part_of: None,
        level: None,
        red: None,
        green: None,
        suite: None,
        kind: None,
        tree: None,
        replay: None,
        old_tests: None,
        problems,
        remarks: Vec::new(),
        allowed: Vec::new(),
    }
}

/// A note stands outside of the journal, and was there before whoever rewrote the journal.
fn against_note(library: &Library, known: &SourceIndex, made: &RunCommit) -> Option<Problem> {
    let note = library.note(&made.sha)?;
    if known.source.kind == "note" || (note.journal == made.journal && note.run == made.run) {
        return None;
    }
    Some(problem(
        "unearned",
        format!(
            "its note says that the journal of {} stood at {}, and the {} of {} has {} there",
            note.run,
            short(&note.journal),
            known.source.kind,
            made.run,
            short(&made.journal)
        ),
    ))
}

/// What helps against what is wrong.
fn way_out(code: &str, commits: &[Verdict]) -> &'static str {
    let problems = || commits.iter().flat_map(|commit| &commit.problems);
    let all = |code: &str| problems().all(|problem| problem.code == code);
    let any = |code: &str| problems().any(|problem| problem.code == code);
    if code == "not_provable" {
        "give a bundle of the run with --bundle FILE; where only notes were pushed (`git fetch origin refs/notes/tramline:refs/notes/tramline`), have the tests show it again with --replay"
    } else if all("without_tests") {
        "write a test that fails without the change; where commits of a workflow are to be without tests, a person lists it under evidence.withoutTests"
    } else if all("evidence_too_weak") {
        "in the run, report with --report FILE or --verify; `evidence.require` in the settings asks for it from the start"
    } else if any("approval_too_weak") || any("signature_invalid") {
        "what a person decided on the way has to be signed by a key of the list: `--signers FILE` names one, `approvals.require` in the settings asks for it from the start"
    } else if any("journal_damaged") {
        "see `tm log verify RUN`; elsewhere, a bundle that was exported before proves the commits"
    } else if any("not_replayed") {
        "mend what is named with it, or run the tests by hand in a fresh checkout of it: what the project lacks is to be in the commit, and what this machine lacks is installed here, or by bench.setup"
    } else if any("replay_failed") {
        "what they pass by, or failed by, is not in the commit: run them by hand in a fresh checkout of it, and mend them in a run"
    } else if any("not_provable") {
        "fetch the whole history: `git fetch --unshallow`"
    } else {
        "a commit that a run made elsewhere is proved with --bundle FILE (`tm runs export RUN -o FILE`) or by its note; others are to be made by a run"
    }
}

fn summed_up(range: String, commits: Vec<Verdict>, library: Library, least: Level) -> Verified {
    let many = |wanted: CommitStanding| {
        commits
            .iter()
            .filter(|verdict| verdict.standing == wanted)
            .count()
    };
    let merges = many(CommitStanding::Merge);
    let untested = commits
        .iter()
        .filter(|verdict| {
            verdict.standing == CommitStanding::WithoutTests && verdict.problems.is_empty()
        })
        .count();
    let wrong = commits.len() - many(CommitStanding::Earned) - untested - merges;
    let unknown = many(CommitStanding::NotProvable);
    let code = match wrong {
        0 => None,
        _ if wrong == unknown => Some("not_provable"),
        _ => Some("unearned"),
    };
    let message = match (commits.len() - merges, wrong) {
        (0, _) if merges == 0 => format!("{range} has no commits"),
        (0, _) => format!("{range} has no commits but merges"),
        (1, 0) if untested == 0 => "the commit was earned".to_owned(),
        (all, 0) if untested == 0 => format!("all {all} commits were earned"),
        (all, 0) => format!(
            "{} of {all} commits were earned, {untested} may be without tests by the settings",
            all - untested
        ),
        (1, _) if unknown > 0 => "the commit cannot be proved".to_owned(),
        (1, _) => "the commit was not earned".to_owned(),
        (all, _) if wrong == unknown => format!("{wrong} of {all} commits cannot be proved"),
        (all, _) => format!("{wrong} of {all} commits were not earned"),
    };
    let suggestion = code.map(|code| way_out(code, &commits));
    let named = |source: &Source| {
        commits.iter().any(|verdict| {
            verdict.source == Some(source.kind) && verdict.run.as_ref() == Some(&source.run)
        })
    };
    Verified {
        verified: wrong == 0,
        code,
        message,
        suggestion: suggestion.map(str::to_owned),
        range,
        require: level_name(least),
        sources: library
            .known
            .iter()
            .map(|known| known.source.clone())
            .filter(named)
            .collect(),
        commits,
        damaged: library.damaged,
        settings: Vec::new(),
    }
}
