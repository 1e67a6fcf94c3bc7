//! What has to hold for a commit to be earned.

use std::path::PathBuf;
use std::str::FromStr as _;

use machine::Strength;
use serde::Serialize;
use text::counted;
use workspace::config::Level;
use workspace::git::{CommitInfo, Oid, Repository};

use crate::capability::tests::evidence::hollow::NOT_HOLLOWED;
use crate::capability::tests::evidence::{level_name, level_named};
use crate::capability::tests::read::few;
use crate::decisions::SignatureState;
use crate::fault::Fault;
use crate::proof::source::{Piece, SourceIndex, short};
use crate::proof::story::{OtherFiles, Phase, Purpose, RunCommit};

/// Something that is missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Stable code.
    pub code: &'static str,
    /// What it is.
    pub message: String,
}

/// A problem with its code.
pub fn problem(code: &'static str, message: impl Into<String>) -> Problem {
    Problem {
        code,
        message: message.into(),
    }
}

/// What a check came to.
#[derive(Debug, Default)]
pub struct CheckResult {
    /// What is missing or wrong.
    pub problems: Vec<Problem>,
    /// What somebody should know.
    pub remarks: Vec<String>,
    /// Nothing shows that tests failed before it.
    pub without_tests: bool,
    /// The least level of the reports behind the commit.
    pub level: Option<Level>,
}

/// The least that has to stand behind a commit.
#[derive(Debug, Clone)]
pub struct RequiredProof {
    /// The level of its reports.
    pub level: Level,
    /// What stands behind a person's decisions.
    pub approval: Strength,
    /// The keys that may sign.
    pub signers: PathBuf,
    /// The workflows whose commits may be without tests.
    pub without_tests: Vec<String>,
}

/// Holds a commit against what its source tells of it. Where it is not here, only what is told is looked at.
pub fn judge(
    known: &SourceIndex,
    made: &RunCommit,
    commit: Option<&CommitInfo>,
    repository: &Repository,
    least: &RequiredProof,
) -> Result<CheckResult, Fault> {
    let mut judged = CheckResult::default();
    let behind = match made.purpose {
        Purpose::Subtask | Purpose::Repair => {
            let failed = match made.purpose {
                Purpose::Repair => "the suite that failed",
                _ => "RED",
            };
            if made.rule.is_own() {
                judged.by_its_rule(made, commit, repository)?;
            } else {
                judged.both(failed, made, least);
            }
            vec![(failed, &made.red), ("GREEN", &made.green)]
        }
        Purpose::Status => {
            judged.suite(made);
            vec![("the full suite", &made.suite)]
        }
    };
    let behind: Vec<(&str, &Phase)> = behind
        .into_iter()
        .filter_map(|(name, phase)| phase.as_ref().map(|phase| (name, phase)))
        .collect();
    for (name, phase) in &behind {
        judged.level_of(name, phase, least.level);
        judged.evidence(name, phase, known)?;
        judged.warned(name, &phase.policies, made);
        judged.remarks.extend(remarks(name, phase));
        if let Some(reason) = &phase.off_bench {
            judged.remarks.push(format!(
                "the tests of {name} were run in the working tree, not on the bench: {reason}"
            ));
        }
    }
    judged.warned("the commit", &made.policies, made);
    judged.decisions(made, least);
    for allowed in &made.allowed {
        let by = match (allowed.actor.as_str(), allowed.reason.as_str()) {
            ("", _) => "by a person".to_owned(),
            (actor, "") => format!("by {actor}"),
            (actor, reason) => format!("by {actor}: {reason}"),
        };
        judged
            .remarks
            .push(format!("`{}` was let pass {by}", allowed.code));
    }
    if made.taken_back {
        let told = "its run took it back, and went on without it";
        judged.remarks.push(told.to_owned());
    }
    if let Some(how) = &made.unfinished {
        judged.remarks.push(match &made.suite {
            Some(_) => format!("its run {how}"),
            None => format!("its run {how}: no full suite was accepted behind it"),
        });
    }
    if let Some(commit) = commit {
        judged.tree(known, made, commit, repository)?;
    }
    Ok(judged)
}

/// What a report was accepted with, of what says how far it can be believed.
fn remarks<'a>(name: &'a str, phase: &'a Phase) -> impl Iterator<Item = String> + 'a {
    let told = phase.warnings.iter().filter_map(|code| match &**code {
        "runner_configured" => Some("what configures the runner was changed with the tests of"),
        "checks_altered" => Some("what the project is checked by was changed with"),
        NOT_HOLLOWED => Some("on a product that does nothing nobody could try the new tests of"),
        _ => None,
    });
    told.map(move |told| format!("{told} {name}"))
}

impl CheckResult {
    fn wrong(&mut self, code: &'static str, message: impl Into<String>) {
        self.problems.push(problem(code, message));
    }

    /// What failed, before GREEN, before the commit. `name` says what it was that failed.
    fn both(&mut self, name: &str, made: &RunCommit, least: &RequiredProof) {
        match &made.red {
            None => {
                self.without_tests = true;
                if least.without_tests.contains(&made.workflow) {
                    self.remarks.push(format!(
                        "the settings accept it without tests, as all commits of `{}`",
                        made.workflow
                    ));
                } else {
                    self.wrong(
                        "without_tests",
                        "no test failed before it: nothing shows that what it changes is tested",
                    );
                }
            }
            Some(failed) if failed.failing() == 0 => self.wrong(
                "unearned",
                format!("in {name} no test failed: nothing shows that the tests test anything new"),
            ),
            Some(_) => {}
        }
        if made.red.is_some() || made.green.is_some() {
            self.green(made);
        }
        if made.not_held {
            self.wrong(
                "unearned",
                "its workflow did not hold the tests that pass against those that failed before",
            );
        }
        if let (Some(red), Some(green)) = (&made.red, &made.green) {
            // A note has no order to look at: it was written by what keeps it.
            let known = made.seq > 0;
            if known && !(red.seq < green.seq && green.seq < made.seq) {
                self.wrong(
                    "unearned",
                    format!(
                        "{name} is event {}, GREEN {}, and the commit {}: that is not their order",
                        red.seq, green.seq, made.seq
                    ),
                );
            }
        }
    }

    /// Work that is not test-driven: it holds what its rule lets in, and the tests passed as they did before.
    fn by_its_rule(
        &mut self,
        made: &RunCommit,
        commit: Option<&CommitInfo>,
        repository: &Repository,
    ) -> Result<(), Fault> {
        let rule = &made.rule;
        if rule.is_tested() || made.green.is_some() {
            self.green(made);
        }
        let may = text::listed(rule.only.iter().map(|class| class.noun()));
        self.remarks.push(format!(
            "no test failed before it: it is `{}`, and holds {may} alone",
            rule.kind
        ));
        let base = Oid::from_str(&made.base).ok();
        let base = base.filter(|base| matches!(repository.resolve(base.as_str()), Ok(Some(_))));
        if let (Some(base), Some(commit)) = (base, commit) {
            let others = rule.others(repository, (&base, &commit.oid), &made.exclude)?;
            let mut allowed = made.allowed.iter();
            let is_let_pass =
                allowed.any(|it| it.code == "other_files_changed" && it.unit == made.unit);
            if !others.is_empty() && !is_let_pass {
                self.wrong(
                    "unearned",
                    format!("it may hold {may} alone, and holds {}", few(&others)),
                );
            }
        }
        Ok(())
    }

    fn green(&mut self, made: &RunCommit) {
        match &made.green {
            None => self.wrong("unearned", "no GREEN was accepted for it"),
            Some(green) if green.failing() > 0 => self.wrong(
                "unearned",
                format!("in its GREEN {} failed", counted(green.failing(), "test")),
            ),
            Some(green) if green.passed == 0 => {
                self.wrong("unearned", "in its GREEN no test passed");
            }
            Some(_) => {}
        }
    }

    fn suite(&mut self, made: &RunCommit) {
        match &made.suite {
            None => self.wrong(
                "unearned",
                "it ends a run, and no report of the full suite was accepted before it",
            ),
            Some(suite) if suite.failing() > 0 || suite.passed == 0 => {
                self.wrong("unearned", "it ends a run whose full suite does not pass");
            }
            Some(_) => {}
        }
    }

    fn level_of(&mut self, name: &str, phase: &Phase, least: Level) {
        let level = level_named(&phase.level).unwrap_or(Level::Claimed);
        self.level = Some(self.level.map_or(level, |before| before.min(level)));
        if level < least {
            self.wrong(
                "evidence_too_weak",
                format!(
                    "{name} is {}, and {} is required",
                    level_name(level),
                    level_name(least)
                ),
            );
        }
    }

    fn evidence(&mut self, name: &str, phase: &Phase, known: &SourceIndex) -> Result<(), Fault> {
        for hash in &phase.evidence {
            let what = format!("the evidence {} of {name}", short(hash));
            match known.piece(hash)? {
                Piece::Whole | Piece::NotHere => {}
                Piece::TooLong => self
                    .remarks
                    .push(format!("{what} is too long for the bundle")),
                Piece::Missing => self.wrong("evidence_missing", format!("{what} is not there")),
                Piece::Changed => self.wrong(
                    "evidence_missing",
                    format!("{what} has other content than it had"),
                ),
            }
        }
        Ok(())
    }

    fn warned(&mut self, what: &str, policies: &[String], made: &RunCommit) {
        for policy in policies {
            if !made.allowed.iter().any(|allowed| allowed.code == *policy) {
                self.remarks
                    .push(format!("{what} was accepted although `{policy}` warned"));
            }
        }
    }

    /// What a person decided on the way is signed as it says, and as is asked for.
    fn decisions(&mut self, made: &RunCommit, least: &RequiredProof) {
        for decision in &made.decisions {
            let (what, by) = (decision.what(), &decision.approval);
            if by.strength < least.approval {
                self.too_weak(&what, by.strength, least.approval);
            }
            match decision.signature(&least.signers) {
                (SignatureState::Unchecked, why) if least.approval < Strength::Signed => {
                    let why = why.unwrap_or_default();
                    self.remarks
                        .push(format!("{what}: its signature could not be checked: {why}"));
                }
                (SignatureState::Bad | SignatureState::Unchecked, why) => self.wrong(
                    "signature_invalid",
                    format!("{what}: {}", why.unwrap_or_default()),
                ),
                (SignatureState::Good | SignatureState::Unsigned, _) => {}
            }
        }
        for lacking in &made.missing {
            self.wrong("approval_too_weak", lacking.message.clone());
        }
        // A note says nothing of decisions.
        if made.seq == 0 && least.approval > Strength::Client {
            self.wrong(
                "evidence_missing",
                "a note does not tell what a person decided on the way; a bundle of the run does",
            );
        }
    }

    fn too_weak(&mut self, what: &str, is: Strength, least: Strength) {
        self.wrong(
            "approval_too_weak",
            format!(
                "the approval of {what} is {}, and {} is required",
                is.name(),
                least.name()
            ),
        );
    }

    /// What was tested is what was committed.
    fn tree(
        &mut self,
        known: &SourceIndex,
        made: &RunCommit,
        commit: &CommitInfo,
        repository: &Repository,
    ) -> Result<(), Fault> {
        let Some(base) = Oid::from_str(&made.base)
            .ok()
            .filter(|base| matches!(repository.resolve(base.as_str()), Ok(Some(_))))
        else {
            self.wrong(
                "not_provable",
                format!(
                    "the commit {} that it builds on is not here; fetch the whole history (a shallow clone has only its end)",
                    short(&made.base)
                ),
            );
            return Ok(());
        };
        if made.handed_in {
            if !leads_back(repository, &base, &commit.oid)? {
                self.wrong(
                    "unearned",
                    format!(
                        "it does not lead back to {} through single parents",
                        short(&made.base)
                    ),
                );
                return Ok(());
            }
        } else if commit.parents != [base.clone()] {
            self.wrong(
                "unearned",
                format!(
                    "it was made on {}, and does not build on it",
                    short(&made.base)
                ),
            );
            return Ok(());
        }
        if made.purpose == Purpose::Status {
            return self.status_alone(known, made, &base, &commit.oid, repository);
        }
        if made.tree.is_empty() {
            if made.green.is_some() {
                self.wrong("unearned", "nobody noted which tree GREEN tested");
            }
            return Ok(());
        }
        let fits = fits(repository, made, &base, &commit.oid)?;
        if fits {
            return Ok(());
        }
        let let_pass = |code: &String| code == "changed_after_green";
        if made.policies.iter().any(let_pass)
            || made
                .allowed
                .iter()
                .any(|allowed| let_pass(&allowed.code) && allowed.unit == made.unit)
        {
            self.remarks.push(
                "it holds other files than GREEN tested, which was let pass when it was made"
                    .to_owned(),
            );
        } else if made.other == Some(OtherFiles::ByHooks)
            || (made.other.is_none() && !made.handed_in && known.source.kind != "note")
        {
            // The run made it of the very files that were tested.
            let others = beyond(repository, made, &base, &commit.oid)?;
            let named = match others.len() {
                0 => String::new(),
                _ => format!(", also {}", few(&others)),
            };
            self.remarks
                .push(format!("hooks changed what it holds{named}"));
        } else {
            self.wrong(
                "unearned",
                format!(
                    "it does not hold the files that GREEN tested (tree {})",
                    short(&made.tree)
                ),
            );
        }
        Ok(())
    }

    fn status_alone(
        &mut self,
        known: &SourceIndex,
        made: &RunCommit,
        base: &Oid,
        commit: &Oid,
        repository: &Repository,
    ) -> Result<(), Fault> {
        let changed = repository.changed_paths(base, commit)?;
        let others: Vec<String> = changed
            .iter()
            .filter(|path| match known.source.kind {
                "note" => !made.exclude.contains(path),
                _ => !made.paths.contains(path),
            })
            .map(ToString::to_string)
            .collect();
        if !others.is_empty() {
            self.wrong(
                "unearned",
                format!(
                    "it was to write the task's status, and changes {}",
                    few(&others)
                ),
            );
        }
        Ok(())
    }
}

/// Whether the run made the commit of what GREEN tested, and hooks of the repository made something else of it.
pub fn is_changed_by_hooks(
    repository: &Repository,
    made: &RunCommit,
    base: &Oid,
    commit: &Oid,
) -> Result<bool, Fault> {
    let is_of_tested = !made.handed_in && made.other.is_none() && made.purpose != Purpose::Status;
    Ok(is_of_tested && !fits(repository, made, base, commit)?)
}

/// Whether a commit holds what GREEN tested.
fn fits(
    repository: &Repository,
    made: &RunCommit,
    base: &Oid,
    commit: &Oid,
) -> Result<bool, Fault> {
    let tree = repository.tree_of_commit_without(commit, base, &made.exclude)?;
    Ok(tree.tree.as_str() == made.tree)
}

/// Files of a commit that it was not to have.
fn beyond(
    repository: &Repository,
    made: &RunCommit,
    base: &Oid,
    commit: &Oid,
) -> Result<Vec<String>, Fault> {
    if made.paths.is_empty() {
        return Ok(Vec::new());
    }
    let changed = repository.changed_paths(base, commit)?;
    Ok(changed
        .iter()
        .filter(|path| !made.paths.contains(path))
        .map(ToString::to_string)
        .collect())
}

/// Whether a commit leads back to another through single parents.
fn leads_back(repository: &Repository, base: &Oid, commit: &Oid) -> Result<bool, Fault> {
    let between = repository.commits_between(base, commit)?;
    let mut expected = commit.clone();
    for info in between.iter().rev() {
        match info.parents.as_slice() {
            [parent] if info.oid == expected => expected = parent.clone(),
            _ => return Ok(false),
        }
    }
    Ok(!between.is_empty() && expected == *base)
}
