//! RED replayed: the tests that pass now fail on the tree from before the item, in a fresh checkout.
//!
//! What fails in RED and passes in GREEN has turned for some reason, and the change of the product is only one of them: a file
//! elsewhere, time, order, a product that was broken for RED and put right again do as well. On the tree of the last commit, with
//! nothing of this item in it but its tests, only those fail that need the change.
//!
//! Work that no RED was before has nothing to replay. Its tests are run on what would be committed alone.

use std::collections::BTreeSet;
use std::path::Path;

use ::test_report::Outcome;
use journal::EvidenceStore;
use machine::state::Token;
use machine::{Finding, Role, RunState};
use serde::{Deserialize, Serialize};
use workspace::config::{Config, Replaying};
use workspace::convention::inline_tests::{same_product, split, with_additions_of, with_tests_of};
use workspace::convention::paths::{Language, PathClass, may_hold_tests};
use workspace::git::{Oid, RepoPath};
use workspace::process::Cancellation;

use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::{
    BESIDE, FROZEN, KEPT, LAST_LEDGER, Memory, SHOWN, Shown, TESTED, UNCOMMITTED,
};
use crate::capability::tests::evidence::checkout::{self, Checkout, UNASKED};
use crate::capability::tests::evidence::committed::{Committed, Known};
use crate::capability::tests::evidence::frozen::{TestReader, Tests};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::{SubmittedFile, TestEvidence, baseline};
use crate::capability::tests::former::{Copies, FormerTests};
use crate::capability::tests::read::{MOST_NAMED, few, name_of};
use crate::fault::Fault;
use crate::next_step::Verb;

/// The tests of GREEN on the tree from before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Replay {
    /// The run of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<SuiteVerdict>,
    /// Whether none of the tests that the item is about fails there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub none_fails: bool,
    /// Of the tests that the item has brought those that pass there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<String>,
    /// Files with tests in them whose product was that of RED there: upon the one from before the tests cannot be built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub product_of_red: Vec<RepoPath>,
    /// Why it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
    /// The same tests on what would be committed, where they were run there, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<Committed>,
    /// Whether that is all: no failing tests were before, which the change could have turned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_committed_alone: bool,
    /// Whether that is because it took too long.
    #[serde(skip)]
    pub too_slow: bool,
}

/// How tests are tried on what would be committed.
const AS_COMMITTED: &str = "as they were to be committed";

impl Replay {
    fn undecided(why: impl Into<String>) -> Self {
        Self {
            undecided: Some(why.into()),
            ..Self::default()
        }
    }

    /// Whether its tests fail without the change.
    pub fn holds(&self) -> bool {
        self.undecided.is_none() && !self.none_fails && !self.as_committed_alone
    }

    /// How its tests could not be tried, each with the reason.
    pub fn open(&self) -> Vec<String> {
        let committed = self.committed.as_ref();
        let committed = committed.and_then(|committed| committed.undecided.as_ref());
        let own = if self.as_committed_alone {
            AS_COMMITTED
        } else {
            "without the change"
        };
        let ways = [(own, self.undecided.as_ref()), (AS_COMMITTED, committed)];
        let open = ways.into_iter().filter_map(|(how, why)| Some((how, why?)));
        open.map(|(how, why)| format!("{how}: {why}")).collect()
    }

    /// What is to be said of a report in this role.
    pub fn findings(&self, role: &Role) -> Vec<Finding> {
        let committed = self.committed.as_ref();
        let committed = committed.and_then(|committed| committed.finding(role));
        self.finding(role).into_iter().chain(committed).collect()
    }

    fn finding(&self, role: &Role) -> Option<Finding> {
        let found = if self.none_fails {
            let red = name_of(role.against.as_ref());
            let which = match &self.passing[..] {
                [] => String::new(),
                passing => format!(" ({})", few(passing)),
            };
            finding(
                "red_not_replayed",
                format!(
                    "the tests pass without this subtask's change, too: on the tree of the last commit, in a fresh checkout, nothing fails of what {red} had failing{which}"
                ),
                format!(
                    "find out what it failed for in {red}, such as files elsewhere, time, order, or code that was broken then; go back with {}, and write a test that needs the change",
                    Verb::Reopen.step().and("reason")
                ),
            )
        } else if self.passing.is_empty() {
            return None;
        } else {
            finding(
                "passes_without_change",
                format!(
                    "these tests pass without this subtask's change, too, and show nothing of it: {}",
                    few(&self.passing)
                ),
                format!(
                    "have them test the change, or take them out: {}",
                    Verb::Reopen.step().and("reason")
                ),
            )
        };
        Some(with_tests(found, &self.passing))
    }
}

/// Whether a report of passing tests is of a change that can be tried elsewhere: it is held against another one, or says what is changed.
fn is_due(role: &Role, config: &Config, taken: &TestEvidence) -> bool {
    let is_wanted = match config.evidence.replay {
        Replaying::Off => false,
        Replaying::Always => true,
        Replaying::Auto => taken.ran.is_some(),
    };
    let is_of_a_change = role.against.is_some() || !role.only.is_empty();
    is_wanted && role.shows.is_none() && role.suite.is_none() && is_of_a_change
}

/// Why tests are not run in a checkout, where nobody has asked for it.
pub(super) fn too_slow(
    run: &RunState,
    memory: &Memory,
    taken: &TestEvidence,
) -> Result<Option<String>, Fault> {
    let took = taken.ran.as_ref().map_or(0, |ran| ran.duration_ms);
    let why = if took > UNASKED {
        "the tests take over a minute"
    } else if !checkout::is_worth_a_try(run, memory)? {
        "in a fresh checkout of this run they took over a minute"
    } else {
        return Ok(None);
    };
    Ok(Some(format!(
        "{why}, and are not run there unless `evidence.replay` is `always`"
    )))
}

/// Replays the tests of an item, where its report is one that would be accepted by what it shows. `named` are files that are to be
/// committed whatever they were before the run.
pub fn of(
    (dir, run, named): (&Path, &RunState, &[RepoPath]),
    present: &Token,
    config: &Config,
    taken: &TestEvidence,
    cancelled: &Cancellation,
) -> Result<Option<Replay>, Fault> {
    if !is_due(&present.role, config, taken) {
        return Ok(None);
    }
    let shown = SHOWN.read(&present.kept, present.role.against.as_ref())?;
    let tested = TESTED.read(&present.kept, present.role.against.as_ref())?;
    let is_of_what_passed = tested.is_some() || !present.role.only.is_empty();
    let Some(now) = taken.ledger().filter(|now| now.every) else {
        return Ok(None);
    };
    let before = before(dir, run, shown.as_ref())?;
    let may_fail = |id: &str| before.iter().any(|before| before.fails(id));
    if taken.counts.passed == 0 || !now.failing().all(may_fail) {
        return Ok(None);
    }
    let asked = config.evidence.replay == Replaying::Always;
    let undecided = |why: String| Replay {
        as_committed_alone: shown.is_none(),
        ..Replay::undecided(why)
    };
    if shown.is_none() && !is_of_what_passed {
        // A repair: what it mends failed in the last commit, and may do so in any checkout.
        return Ok(None);
    }
    if !asked && let Some(why) = too_slow(run, &Memory::of(run)?, taken)? {
        return Ok(Some(undecided(why)));
    }
    let item = Item {
        dir,
        run,
        named,
        present,
        config,
        cancelled,
        now,
        files: &taken.files,
        before,
        took: taken.ran.as_ref().map_or(u64::MAX, |ran| ran.duration_ms),
    };
    let done = match &shown {
        Some(shown) => item.replayed(shown, asked),
        None => item.as_committed(asked),
    };
    match done {
        Err(fault) if asked || fault.code == "cancelled" => Err(fault),
        Err(fault) => Ok(Some(Replay {
            too_slow: fault.code == "test_timeout",
            ..undecided(fault.message)
        })),
        Ok(replay) if replay == Replay::default() => Ok(None),
        done => done.map(Some),
    }
}

/// What was known of the tests before the item began, by every kind of their names.
fn before(dir: &Path, run: &RunState, shown: Option<&Shown>) -> Result<Vec<Ledger>, Fault> {
    let began = match shown.and_then(|shown| shown.before.as_ref()) {
        Some(before) => before.ledger.clone(),
        None => LAST_LEDGER.read(&run.kept)?,
    };
    let hashes = began.into_iter().chain(baseline::ledgers(&run.kept)?);
    hashes.map(|hash| Ledger::read(dir, &hash)).collect()
}

/// An item whose tests are replayed.
struct Item<'a> {
    dir: &'a Path,
    run: &'a RunState,
    named: &'a [RepoPath],
    present: &'a Token,
    config: &'a Config,
    cancelled: &'a Cancellation,
    now: Ledger,
    /// The files that were read for that.
    files: &'a [SubmittedFile],
    before: Vec<Ledger>,
    /// How long the tests took, in milliseconds.
    took: u64,
}

impl Item<'_> {
    /// Whether the tests are run once more where nobody has asked for that.
    fn is_quick(&self) -> bool {
        /// In milliseconds.
        const QUICK: u64 = UNASKED / 3;
        self.config.evidence.replay == Replaying::Always || self.took <= QUICK
    }

    /// Runs the tests on what would be committed alone.
    fn as_committed(&self, asked: bool) -> Result<Replay, Fault> {
        if !self.is_quick() {
            return Ok(Replay::default());
        }
        let memory = Memory::of(self.run)?;
        let config = checkout::limited(self.config, asked);
        let last = memory.last_oid()?;
        let checkout = Checkout::made(asked, &memory, &config, (&last, &[]), self.cancelled)?;
        let checkout = checkout.reporting(self.files);
        let known = Known {
            now: &self.now,
            without: None,
            before: self.before.iter().collect(),
            written: Vec::new(),
        };
        Ok(Replay {
            committed: Some(Committed::of((&memory, self.named), &checkout, known)?),
            as_committed_alone: true,
            ..Replay::default()
        })
    }

    fn replayed(&self, shown: &Shown, asked: bool) -> Result<Replay, Fault> {
        let memory = Memory::of(self.run)?;
        let config = checkout::limited(self.config, asked);
        let role = &self.present.role;
        let frozen = FROZEN.read(&self.present.kept, role.frozen.as_ref())?;
        let frozen = frozen.unwrap_or_default().0;
        let kept = KEPT.read(&self.present.kept, role.frozen.as_ref())?;
        let kept = kept.unwrap_or_default();
        let mut whole: Vec<RepoPath> = frozen
            .iter()
            .filter(|(_, tests)| !matches!(tests, Tests::Inside(_)))
            .map(|(path, _)| path.clone())
            .collect();
        let inside = frozen.len() - whole.len();
        let last = memory.last_oid()?;
        whole.extend(self.moved(&memory, &last, (&whole, &kept))?);
        let at = (&last, &whole[..]);
        let checkout = Checkout::made(asked, &memory, &config, at, self.cancelled)?;
        let mut checkout = checkout.reporting(self.files);
        // With a source file its product would come along; in RED only its tests were written.
        let mut copies = kept;
        copies.retain(|path, _| !whole.contains(path));
        if copies.len() < inside {
            return Ok(Replay::undecided(
                "what the source files with tests held in RED is not kept",
            ));
        }
        copies.extend(
            BESIDE
                .read(&self.present.kept, role.frozen.as_ref())?
                .unwrap_or_default(),
        );
        let store = EvidenceStore::new(self.dir);
        let repository = memory.repository();
        let mut mixed = Vec::new();
        for (path, hash) in &copies {
            let Ok(bytes) = store.get(hash) else {
                return Ok(Replay::undecided(format!(
                    "what {path} held in RED is gone from the run's folder"
                )));
            };
            let before = if may_hold_tests(&path.to_string()) {
                repository.file_at(&last, path)?
            } else {
                None
            };
            match before.and_then(|before| MixedFile::of(path, &bytes, before)) {
                Some(file) => mixed.push(file),
                None => checkout.write(path, &bytes)?,
            }
        }
        // What RED failed with is not that change, as with a lock file, unless it was moved again since.
        let red = UNCOMMITTED.read(&self.present.kept)?.unwrap_or_default();
        for (path, commit) in &red.submodules {
            if repository.submodule_head(path)?.as_ref() == Some(commit) {
                checkout.place_submodule(path, commit)?;
            }
        }
        let (there, product_of_red) = tested_with(&mut checkout, &mixed)?;
        let mut replay = self.judged(shown, &there);
        replay.verified.clone_from(&there.ran);
        replay.product_of_red = product_of_red;
        let changed = || -> Result<Vec<RepoPath>, Fault> {
            let changes = memory.repository().status()?.changes;
            Ok(changes.into_iter().map(|change| change.path).collect())
        };
        if replay.holds() && self.is_quick() {
            let red = shown.ledger.as_ref();
            let red = red.map(|hash| Ledger::read(self.dir, hash)).transpose()?;
            let known = Known {
                now: &self.now,
                without: there.ledger().filter(|_| there.counts.passed > 0),
                before: self.before.iter().chain(&red).collect(),
                written: whole.iter().chain(copies.keys()).cloned().collect(),
            };
            replay.committed = Some(Committed::of((&memory, self.named), &checkout, known)?);
        }
        if replay.none_fails && !is_tested_there(&memory, &checkout, &changed()?)? {
            replay.none_fails = false;
            replay.passing.clear();
            replay.undecided = Some(
                "what the tests load does not lie in the checkout: they pass there without the product, too".to_owned(),
            );
        }
        Ok(replay)
    }

    /// Where those of these files of tests lie now that were moved.
    fn moved(
        &self,
        memory: &Memory,
        last: &Oid,
        (files, kept): (&[RepoPath], &Copies),
    ) -> Result<Vec<RepoPath>, Fault> {
        let repository = memory.repository();
        let gone = files.iter().filter(|path| {
            kept.contains_key(path) && repository.absolute(path).symlink_metadata().is_err()
        });
        let gone: Vec<&RepoPath> = gone.collect();
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let status = repository.status()?;
        let reader = TestReader::new(&repository, memory, last, &status)?;
        let former = FormerTests {
            repository: &repository,
            last,
            dir: self.dir,
            kept: kept.clone(),
        };
        let moved = former.moved(gone, (&reader, &status.changes))?;
        Ok(moved.into_values().collect())
    }

    /// What the run there says of the tests that pass now.
    fn judged(&self, shown: &Shown, there: &TestEvidence) -> Replay {
        let could_run = shown.errors == 0 && shown.ran > shown.failing;
        if there.counts.passed == 0 {
            // It could not be built, as RED could not; or whatever the tests need is not there.
            return if could_run {
                Replay::undecided("no test passes in a fresh checkout")
            } else {
                Replay::default()
            };
        }
        let Some(ledger) = there.ledger() else {
            return Replay::undecided("no test has a name in a fresh checkout");
        };
        let Some(ledger) = ledger.named_as(&self.now).filter(|there| there.every) else {
            return Replay::undecided("the names of tests in a fresh checkout are others");
        };
        let passes_there = |id: &&str| ledger.outcome(id).is_some_and(Outcome::is_success);
        // Who is expected to fail shows nothing by that.
        let really = |outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky);
        let passing: Vec<&str> = self.now.those(really).collect();
        let before: Vec<Ledger> = self
            .before
            .iter()
            .filter_map(|before| before.named_as(&self.now))
            .collect();
        let in_red: BTreeSet<&str> = shown.new.iter().map(String::as_str).collect();
        let turned: Vec<&str> = passing
            .iter()
            .copied()
            .filter(|id| in_red.contains(id))
            .collect();
        let is_new = |id: &&str| {
            !before.is_empty() && before.iter().all(|before| before.outcome(id).is_none())
        };
        let brought: Vec<&str> = passing.iter().copied().filter(is_new).collect();
        let about = [&turned, &brought, &passing]
            .into_iter()
            .find(|tests| !tests.is_empty());
        let mut named: Vec<&str> = turned
            .iter()
            .chain(&brought)
            .copied()
            .filter(passes_there)
            .collect();
        named.sort_unstable();
        named.dedup();
        Replay {
            none_fails: about.is_some_and(|tests| tests.iter().all(passes_there)),
            passing: named
                .into_iter()
                .take(MOST_NAMED)
                .map(str::to_owned)
                .collect(),
            ..Replay::default()
        }
    }
}

/// That a replay went with the product that RED had in these files; none where there are none.
pub(crate) fn with_product_of_red(files: &[RepoPath]) -> Option<String> {
    let names: Vec<String> = files.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| {
        format!(
            "with the product that RED had in {}, and cannot be built with the one from before",
            few(&names)
        )
    })
}

/// A source file with tests in it, of which RED has changed more than these.
struct MixedFile {
    path: RepoPath,
    /// What it held before.
    before: String,
    /// What it held in RED.
    red: String,
}

impl MixedFile {
    /// None of a file with the product that it had before.
    fn of(path: &RepoPath, red: &[u8], before: String) -> Option<Self> {
        let name = path.to_string();
        let red = std::str::from_utf8(red).ok()?.to_owned();
        let (now, then) = (split(&name, &red), split(&name, &before));
        let path = path.clone();
        (!same_product(&now.product, &then.product)).then_some(Self { path, before, red })
    }
}

/// Runs the tests of a checkout with the product that such files had before; where no test can be built upon that, with the items, too,
/// that RED has added to it; and else with all that RED had. In the last case their paths come with it.
fn tested_with(
    checkout: &mut Checkout<'_>,
    mixed: &[MixedFile],
) -> Result<(TestEvidence, Vec<RepoPath>), Fault> {
    let of = |merged: fn(&str, &str, &str) -> String| -> Vec<String> {
        let texts = mixed.iter();
        texts
            .map(|file| merged(&file.path.to_string(), &file.before, &file.red))
            .collect()
    };
    let mut put = |texts: &[String]| -> Result<TestEvidence, Fault> {
        for (file, text) in mixed.iter().zip(texts) {
            checkout.write(&file.path, text.as_bytes())?;
        }
        checkout.tested(None)
    };
    let former = of(with_tests_of);
    let there = put(&former)?;
    if mixed.is_empty() || there.counts.passed > 0 {
        return Ok((there, Vec::new()));
    }
    let with_additions = of(with_additions_of);
    if with_additions != former {
        let there = put(&with_additions)?;
        if there.counts.passed > 0 {
            return Ok((there, Vec::new()));
        }
    }
    let there = put(&of(|_, _, red| red.to_owned()))?;
    let paths = mixed.iter().map(|file| file.path.clone());
    Ok((there, paths.collect()))
}

/// Whether it is the checkout's own product that is tested in it: with all of that taken away not every test passes. `changed` are
/// files that were changed for it, among others.
pub(crate) fn is_tested_there(
    memory: &Memory,
    checkout: &Checkout<'_>,
    changed: &[RepoPath],
) -> Result<bool, Fault> {
    let classes = memory.start.classes()?;
    let repository = memory.repository();
    // What language the product is written in tells what was changed of it.
    let names: Vec<String> = changed
        .iter()
        .map(|path| repository.name_in_scope(path))
        .collect();
    let endings: BTreeSet<&str> = names
        .iter()
        .filter(|name| classes.of(name) == PathClass::Source)
        .filter_map(|name| ending(name))
        .collect();
    let known = repository.known_files()?;
    for path in known.iter().chain(changed) {
        let name = &repository.name_in_scope(path);
        let is_product = classes.of(name) == PathClass::Source
            && (Language::of(name).is_some()
                || may_hold_tests(name)
                || ending(name).is_some_and(|ending| endings.contains(ending)));
        if is_product {
            checkout.remove(path)?;
        }
    }
    match checkout.tested(None) {
        Ok(without) => Ok(without.counts.failing() > 0 || without.counts.passed == 0),
        Err(fault) if fault.code == "cancelled" => Err(fault),
        Err(_) => Ok(true),
    }
}

fn ending(name: &str) -> Option<&str> {
    let (_, file) = name.rsplit_once('/').unwrap_or(("", name));
    Some(file.rsplit_once('.')?.1)
}
