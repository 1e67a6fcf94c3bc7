//! `checks`: what linters, formatters and type checkers of a project find, held against what they found before.

pub(crate) mod before;
pub(crate) mod findings;
pub(crate) mod ran;
mod silenced;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use ::test_report::CheckFinding;
use journal::EvidenceStore;
use machine::check::catalog::Finder;
use machine::role::{Checked, FileClass};
use machine::state::Token;
use machine::{Definition, Role, RunState};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::checks::{Check, found};
use workspace::config::Config;
use workspace::git::{
    Change, ContentId, Oid, RepoPath, Repository, TreeChange, TreeStatus, worktree,
};

use crate::capability::checks::before::FindingsBefore;
use crate::capability::checks::findings::{
    CHECKS_CHANGED, CHECKS_NOT_RUN, FINDINGS_SILENCED, NEW_FINDINGS,
};
use crate::capability::checks::ran::{CheckRun, Place};
use crate::capability::files::subject::fault as fault_of;
use crate::capability::memory::{CHECKED_BEFORE, Memory, SHOWN};
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::read::few;
use crate::capability::{Capability, reports};
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::next_step::{NextStep, Verb};

/// At most so many findings are named in a line of the journal.
const MOST_TOLD: usize = 50;

pub(super) struct Checks;

impl Capability for Checks {
    fn name(&self) -> &'static str {
        "checks"
    }

    fn policies(&self) -> Vec<(&'static str, Vec<Finder>)> {
        let checked = || {
            vec![
                reports("tests", Some("checks"), &[]),
                reports("commit", Some("checks"), &[]),
            ]
        };
        [
            NEW_FINDINGS,
            FINDINGS_SILENCED,
            CHECKS_CHANGED,
            CHECKS_NOT_RUN,
        ]
        .map(|policy| (policy, checked()))
        .into()
    }
}

/// A finding that was not there before, and who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewFinding {
    /// The check.
    pub(crate) check: String,
    /// What it found.
    #[serde(flatten)]
    pub(crate) finding: CheckFinding,
}

/// What came of the checks of a report.
#[derive(Debug, Clone, Default)]
pub struct CheckEvidence {
    /// Those that were run, each with how many of its findings are new.
    pub(crate) ran: Vec<(CheckRun, usize)>,
    /// What was not there before.
    pub(crate) new: Vec<NewFinding>,
    /// Files of frozen tests that some of it is in.
    pub(crate) in_frozen: Vec<String>,
    /// How that is mended by the tools themselves.
    pub(crate) fixes: Vec<&'static str>,
    /// What they are told to overlook since the last commit.
    pub(crate) silenced: Vec<String>,
    /// Those that are set up in another way, or no more, with what is to be said of each.
    pub(crate) altered: BTreeMap<String, String>,
    /// What is known of before from here on, where that is less by those.
    pub(crate) before: Option<FindingsBefore>,
    /// Those that nobody trusted, by name.
    pub(crate) untrusted: Vec<String>,
}

impl CheckEvidence {
    /// What the journal says of them.
    pub(crate) fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        let ran: Vec<Value> = self.ran.iter().map(|(ran, new)| ran.fact(*new)).collect();
        facts.insert("checks".to_owned(), ran.into());
        if !self.new.is_empty() {
            let told = &self.new[..self.new.len().min(MOST_TOLD)];
            facts.insert("newFindings".to_owned(), json!(told));
        }
        if !self.altered.is_empty() {
            facts.insert("alteredChecks".to_owned(), json!(self.altered));
        }
        if !self.silenced.is_empty() {
            facts.insert("silenced".to_owned(), json!(self.silenced));
        }
        facts
    }

    /// Keeps what they printed with the run; the hashes.
    pub(crate) fn keep(&self, dir: &Path) -> Result<Vec<String>, Fault> {
        let store = EvidenceStore::new(dir);
        let printed = self.ran.iter().map(|(ran, _)| &ran.output);
        printed.map(|output| Ok(store.put(output)?)).collect()
    }

    /// What the run remembers once the report is accepted.
    pub(crate) fn keep_run(&self, dir: &Path) -> Result<Map<String, Value>, Fault> {
        let mut keep = Map::new();
        if let Some(before) = &self.before {
            CHECKED_BEFORE.put(&mut keep, &before.keep(dir)?)?;
        }
        Ok(keep)
    }
}

/// The checks that a report was content with: those that ran, and found nothing new.
pub(crate) fn content_checks(facts: &Map<String, Value>) -> Vec<String> {
    let ran = facts.get("checks").and_then(Value::as_array);
    let content = ran.into_iter().flatten().filter(|ran| {
        ran.get("broken").is_none() && ran.get("new").and_then(Value::as_u64) == Some(0)
    });
    let names = content.filter_map(|ran| ran.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Whether checks are run in a workflow at all.
pub(crate) fn is_checking(definition: &Definition) -> bool {
    let mut states = definition.all_states();
    states.any(|(_, _, state)| state.role().checks.is_some())
}

/// The checks of a project, as the next report would have them run: those that a person trusted, and the names of the others.
pub(crate) struct TrustedChecks {
    pub(crate) trusted: Vec<Check>,
    pub(crate) untrusted: Vec<String>,
}

impl Engine {
    /// All checks of the project under these settings, whoever trusts them.
    pub(crate) fn found_checks(&self, config: &Config) -> Result<Vec<Check>, Fault> {
        let top = worktree(&self.root).unwrap_or(&self.root);
        found(&self.root, top, &config.checks).map_err(|error| {
            Fault::new(
                Kind::Usage,
                "config_invalid",
                format!("a command under checks.commands cannot be run: {error}"),
            )
            .suggest(error.suggestion())
        })
    }

    /// What the checks find before a run, where a person trusted them; none where there are none.
    pub(crate) fn checked_before(&self) -> Result<Option<FindingsBefore>, Fault> {
        let config = &self.settings.config;
        let checks = self.trusted_checks(config)?.trusted;
        if checks.is_empty() {
            return Ok(None);
        }
        let cancelled = self.cancellation();
        let repository = Repository::discover(&self.root)?.with_scope(&self.root);
        let place = Place::of(&self.root, &repository, config, &cancelled)?;
        let status = repository.status()?;
        leaving_the_tree(&repository, &status, "then start again", || {
            FindingsBefore::of(&checks, &place).map(Some)
        })
    }

    /// Runs the checks that a report in this role asks for.
    pub(crate) fn checked(
        &self,
        (dir, run): (&Path, &RunState),
        present: &Token,
        config: &Config,
        named: &[String],
    ) -> Result<Option<Box<CheckEvidence>>, Fault> {
        let Some(extent) = present.role.checks else {
            return Ok(None);
        };
        let checks = self.trusted_checks(config)?;
        let cancelled = self.cancellation();
        let memory = Memory::of(run)?;
        let repository = memory.repository();
        let before = CHECKED_BEFORE.read(&run.kept)?;
        let before = before
            .map(|hash| FindingsBefore::read(dir, &hash))
            .transpose()?;
        if checks.trusted.is_empty() && before.is_none() {
            let untrusted = checks.untrusted;
            return Ok((!untrusted.is_empty()).then(|| {
                Box::new(CheckEvidence {
                    untrusted,
                    ..CheckEvidence::default()
                })
            }));
        }
        let status = repository.status()?;
        let base = memory.base_oid()?;
        let named: Vec<RepoPath> = named
            .iter()
            .filter_map(|name| repository.relative(&memory.start.project_root.join(name)))
            .collect();
        let nothing = TestEvidence::default();
        let work = Work::of(run, (dir, config), &status, &named, &nothing).map_err(fault_of)?;
        let changes = repository.tree_changes(&work.base, &work.tree)?;
        let last = work.base;
        let at = Report {
            frozen: frozen(&memory, &repository, present)?,
            former: former_names(&repository, &base, &work.tree)?,
            place: Place::of(&self.root, &repository, config, &cancelled)?,
            role: &present.role,
            extent,
            last,
            base,
            tree: work.tree,
            changes,
            added: RefCell::default(),
            memory: &memory,
            before: before.unwrap_or_default(),
        };
        let again = format!("run the tests again, and report: {}", Verb::Report);
        leaving_the_tree(&repository, &status, &again, || {
            at.checked(checks).map(|found| Some(Box::new(found)))
        })
    }
}

/// Runs checks on the working tree of that status, and refuses whatever they change in it, which nobody has tested.
fn leaving_the_tree<T>(
    repository: &Repository,
    status: &TreeStatus,
    again: &str,
    run: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let before = changed_contents(repository, status)?;
    let done = run()?;
    let after = changed_contents(repository, &repository.status()?)?;
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let is_changed = |path: &&RepoPath| before.get(path) != after.get(path);
    let changed = paths.into_iter().filter(is_changed);
    let changed: Vec<String> = changed.map(ToString::to_string).collect();
    if changed.is_empty() {
        return Ok(done);
    }
    let fault = fault!(
        "changed_since.by_checks",
        changed = few(&changed),
        git = NextStep::git(["status"]),
        again
    );
    Err(fault.detail("files", changed))
}

/// The files that are not as the last commit has them, each with what it holds.
fn changed_contents(
    repository: &Repository,
    status: &TreeStatus,
) -> Result<BTreeMap<RepoPath, Option<ContentId>>, Fault> {
    let own = status.changes.iter().filter(|change| !change.nested);
    let paths: Vec<RepoPath> = own.flat_map(Change::paths).cloned().collect();
    Ok(repository.hash_files(&paths)?.into_iter().collect())
}

/// The files of tests, by their names in the project, that a report of failing tests has shown and that may not be changed.
fn frozen(memory: &Memory, repository: &Repository, present: &Token) -> Result<Vec<String>, Fault> {
    let role = &present.role;
    let shown = match role.frozen {
        Some(_) => SHOWN.read(&present.kept, role.against.as_ref())?,
        None => None,
    };
    let classes = memory.start.classes()?;
    let files = shown.unwrap_or_default().files.into_iter();
    let names = files.filter_map(|file| Some(repository.name_in_scope(&file.parse().ok()?)));
    Ok(names.filter(|name| classes.is_test(name)).collect())
}

/// The names that files had when a run began, by those that they have now.
fn former_names(
    repository: &Repository,
    base: &Oid,
    tree: &Oid,
) -> Result<BTreeMap<String, String>, Fault> {
    let renamed = repository.renames_between(base, tree)?.into_iter();
    let name = |path: &RepoPath| repository.name_in_scope(path);
    Ok(renamed.map(|(was, is)| (name(&is), name(&was))).collect())
}

/// Stretches of lines, the first and the last of each, from 1; of a file that is new all that there may be, from 0.
type Stretches = Vec<(u32, u32)>;

/// A report whose checks are run.
struct Report<'a> {
    place: Place<'a>,
    role: &'a Role,
    extent: Checked,
    /// The run's last commit.
    last: Oid,
    /// The commit that it began on.
    base: Oid,
    /// What a commit would hold now.
    tree: Oid,
    /// What differs since the run's last commit.
    changes: Vec<TreeChange>,
    /// By the names of files those that they had when the run began, where these are others.
    former: BTreeMap<String, String>,
    /// Files with tests that may not be changed.
    frozen: Vec<String>,
    /// What was added to files, as far as git was asked.
    added: RefCell<HashMap<Box<str>, Stretches>>,
    memory: &'a Memory,
    before: FindingsBefore,
}

impl Report<'_> {
    fn checked(mut self, checks: TrustedChecks) -> Result<CheckEvidence, Fault> {
        let altered = self.altered(&checks);
        self.before.forget(&altered);
        let mut told = CheckEvidence {
            before: (!altered.is_empty()).then(|| self.before.clone()),
            altered,
            untrusted: checks.untrusted,
            ..CheckEvidence::default()
        };
        for check in &checks.trusted {
            let files = match self.extent {
                Checked::All => Vec::new(),
                Checked::Changed => {
                    let files = self.changed_files(check);
                    if files.is_empty() && !self.concerns(check) {
                        continue;
                    }
                    files
                }
            };
            let ran = self.place.run(check, &files)?;
            let new = self.new_of(check, &ran)?;
            if !new.is_empty() && !check.fix.is_empty() {
                told.fixes.push(check.fix);
            }
            for NewFinding { finding, .. } in &new {
                let path = finding.path.to_string();
                if self.frozen.contains(&path) && !told.in_frozen.contains(&path) {
                    told.in_frozen.push(path);
                }
            }
            told.ran.push((ran, new.len()));
            told.new.extend(new);
        }
        told.silenced = self.silenced()?;
        Ok(told)
    }

    /// The changed files that a check is about, by their names in the project.
    fn changed_files(&self, check: &Check) -> Vec<String> {
        let repository = self.place.repository;
        let here = self.changes.iter().filter(|change| change.after.is_some());
        // Checks are those of the project, and know nothing of files beside it.
        let here = here.filter(|change| repository.in_scope(&change.path));
        let names = here.map(|change| repository.name_in_scope(&change.path));
        names
            .filter(|name| check.endings.is_some() && check.is_about(name))
            .collect()
    }

    /// Whether a check that takes no files has something to look at: anything but documents.
    fn concerns(&self, check: &Check) -> bool {
        let is_of_documents = self.role.only == [FileClass::Docs];
        // What a type checker or a build says of tests that are ahead of the product is what these are there for.
        if self.role.shows.is_some() {
            return false;
        }
        check.endings.is_none() && !self.changes.is_empty() && !is_of_documents
    }

    /// What a check finds that it did not find before.
    fn new_of(&self, check: &Check, ran: &CheckRun) -> Result<Vec<NewFinding>, Fault> {
        let before = self.before.of_check(&check.name);
        let mut by_rule: BTreeMap<(&str, &str), Vec<&CheckFinding>> = BTreeMap::new();
        for finding in &ran.findings {
            let path = self.former.get(&*finding.path);
            let path = path.map_or(&*finding.path, |former| former);
            let of_rule = by_rule.entry((path, rule_of(finding))).or_default();
            of_rule.push(finding);
        }
        let mut new = Vec::new();
        for ((path, rule), found) in by_rule {
            let known = before.map_or(0, |before| before.number(path, rule));
            let more = found.len().saturating_sub(known);
            if more == 0 {
                continue;
            }
            // Which of them came last nobody can say; those in new lines most likely.
            let (mut likely, mut others) = (Vec::new(), Vec::new());
            for finding in found {
                let is_likely = self.is_in_new_lines(finding)?;
                let of_both = if is_likely { &mut likely } else { &mut others };
                of_both.push(finding);
            }
            // Where nothing is known of before, what stands in new lines is new.
            let more = before.map_or(likely.len(), |_| more);
            let told = likely.into_iter().chain(others).take(more);
            new.extend(told.map(|finding| NewFinding {
                check: check.name.clone(),
                finding: finding.clone(),
            }));
        }
        Ok(new)
    }

    /// Whether a finding stands in lines that were added; of one about a whole file, whether that is new.
    fn is_in_new_lines(&self, finding: &CheckFinding) -> Result<bool, Fault> {
        // A tool may find thousands in a file, and git is asked once.
        let mut added = self.added.borrow_mut();
        if !added.contains_key(&finding.path) {
            added.insert(finding.path.clone(), self.added_lines(&finding.path)?);
        }
        let line = finding.line.unwrap_or(0);
        let mut stretches = added.get(&finding.path).into_iter().flatten();
        Ok(stretches.any(|(first, last)| (u64::from(*first)..=u64::from(*last)).contains(&line)))
    }

    /// The lines that were added to a file since what the report is held against.
    fn added_lines(&self, name: &str) -> Result<Stretches, Fault> {
        let repository = self.place.repository;
        let Some(path) = repository.relative(&self.place.root.join(name)) else {
            return Ok(Vec::new());
        };
        let since = match self.extent {
            Checked::All => &self.base,
            Checked::Changed => &self.last,
        };
        if repository.file_at(since, &path)?.is_none() {
            return Ok(vec![(0, u32::MAX)]);
        }
        Ok(repository.added_lines((since, &self.tree), &path)?)
    }
}

/// What findings are counted by: the rule, or what is said where there is none.
pub(crate) fn rule_of(finding: &CheckFinding) -> &str {
    if finding.rule.is_empty() {
        &finding.message
    } else {
        &finding.rule
    }
}
