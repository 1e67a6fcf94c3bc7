//! Whether tests need the product. New ones are tried where the functions that the item changed fail; of tests of what is there already,
//! where all functions do. Those that pass there, too, show nothing of it, and older ones that have come to pass there show it no more.

use std::collections::BTreeSet;

use ::test_report::Outcome;
use machine::role::FileClass;
use machine::{Finding, Role};
use serde::{Deserialize, Serialize};
use syntax::{Instead, Outline};
use workspace::config::Severity;
use workspace::convention::paths::PathClass;
use workspace::git::{Oid, RepoPath, Repository, TreeEntry};
use workspace::runner::adapter::SomeTests;

use crate::capability::git::read::{finding, with_tests};
use crate::capability::memory::{Memory, SHOWN};
use crate::capability::tests::evidence::TestEvidence;
use crate::capability::tests::evidence::bench::{Bench, benches};
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::evidence::suite::SuiteVerdict;
use crate::capability::tests::evidence::verified::Asked;
use crate::capability::tests::known;
use crate::capability::tests::read::{MOST_NAMED, few};
use crate::capability::tests::rule::is_of_tests_alone;
use crate::fault::Fault;
use crate::next_step::Verb;

/// The paths of files of the product, each with the text that is to stand there.
type Texts = Vec<(RepoPath, Option<TreeEntry>, String)>;

/// The policy of new tests that pass without the product.
const PASSES_WITHOUT_PRODUCT: &str = "passes_without_product";

/// The warning that they could not be tried there.
pub const NOT_HOLLOWED: &str = "not_hollowed";

/// New tests on a product that does nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HollowRun {
    /// The run of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<SuiteVerdict>,
    /// The new ones that pass there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passing: Vec<String>,
    /// The older ones that pass there now, and did not before they were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<String>,
    /// The new ones of a test-driven item, if all of them pass where what it changed does nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
    /// Why it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

impl HollowRun {
    fn undecided(why: impl Into<String>) -> Self {
        Self {
            undecided: Some(why.into()),
            ..Self::default()
        }
    }

    /// The warning that it says nothing. Test-driven work gets it only if the tests were run: not every runner runs some tests alone.
    pub fn warning(&self, role: &Role) -> Option<String> {
        let counts = is_of_tests_alone(role) || self.verified.is_some();
        let is_open = self.undecided.is_some() && counts;
        is_open.then(|| NOT_HOLLOWED.to_owned())
    }

    /// What is to be said of it.
    pub fn findings(&self) -> Vec<Finding> {
        let again = format!("; then report again: {}", Verb::Report);
        let reopen = Verb::Reopen.step().and("reason");
        let told = [
            (
                &self.passing,
                "these new tests pass, too, where every function of the product fails, and so show nothing of it",
                format!("have each call what it is about, and look at what comes of it{again}"),
            ),
            (
                &self.idle,
                "the new tests pass, too, where every function that was changed fails or does nothing, and so show nothing of the change",
                format!("go back with {reopen}, and have them look at what comes of the change"),
            ),
            (
                &self.weakened,
                "these tests of before pass now, too, where every function of the product fails, and did not before they were changed",
                format!(
                    "put them back as they were; work of another kind changes what they ask for{again}"
                ),
            ),
        ];
        let told = told.into_iter().filter(|(tests, ..)| !tests.is_empty());
        told.map(|(tests, what, then)| {
            let message = format!("{what}: {}", few(tests));
            let found = finding(PASSES_WITHOUT_PRODUCT, message, then);
            with_tests(found, tests)
        })
        .collect()
    }
}

/// Tries the new tests of a report that would be accepted by what it shows.
pub fn of(asked: &Asked<'_>, taken: &TestEvidence) -> Result<Option<HollowRun>, Fault> {
    let role = &asked.present.role;
    let Some(ran_on) = taken.ran_on.as_ref().filter(|_| taken.off_bench.is_none()) else {
        return Ok(None);
    };
    if taken.counts.passed == 0 {
        return Ok(None);
    }
    let tried = if is_of_tests_alone(role) && taken.counts.failing() == 0 {
        of_tests_alone(asked, taken, &ran_on.work)
    } else if SHOWN
        .read(&asked.present.kept, role.against.as_ref())?
        .is_some()
        && asked.config.evidence.policy.passes_without_product != Severity::Off
        && !asked.fails_newly(taken)?
    {
        of_change(asked, taken, &ran_on.work)
    } else {
        return Ok(None);
    };
    match tried {
        Err(fault) if fault.code == "cancelled" => Err(fault),
        Err(fault) => Ok(Some(HollowRun::undecided(fault.message))),
        done => done,
    }
}

fn of_tests_alone(
    asked: &Asked<'_>,
    taken: &TestEvidence,
    work: &Oid,
) -> Result<Option<HollowRun>, Fault> {
    let Some(now) = taken.ledger().filter(|now| now.every) else {
        return Ok(Some(HollowRun::undecided("not every test has a name")));
    };
    match new_tests(asked, taken, &now)? {
        Some(new) if new.is_empty() => Ok(None),
        Some(new) => tried(asked, work, (&now, new)).map(Some),
        None => Ok(Some(HollowRun::undecided(
            "what tests there were before is not known",
        ))),
    }
}

/// Tries the new tests of a test-driven item where the functions fail that it changed; and, if all pass, where these return at once:
/// tests may expect a failure.
fn of_change(
    asked: &Asked<'_>,
    taken: &TestEvidence,
    work: &Oid,
) -> Result<Option<HollowRun>, Fault> {
    let Some(now) = taken.ledger() else {
        return Ok(Some(HollowRun::undecided("no test has a name")));
    };
    let Some(mut new) = new_tests(asked, taken, &now)? else {
        return Ok(Some(HollowRun::undecided(
            "what tests there were before is not known",
        )));
    };
    let shown = SHOWN.read(&asked.present.kept, asked.present.role.against.as_ref())?;
    let red = shown.and_then(|shown| shown.ledger);
    let red = red.map(|hash| Ledger::read(asked.run_dir, &hash));
    let red = red.transpose()?.filter(|red| red.names_alike(&now));
    let passed = |id: &String| {
        let outcome = red.as_ref().and_then(|red| red.outcome(id));
        outcome.is_some_and(Outcome::is_success)
    };
    new.retain(|id| !passed(id));
    if new.is_empty() {
        return Ok(None);
    }
    let memory = &asked.work.memory;
    let change = ProductChange::of(asked, &memory.repository())?;
    let [failing, returning] =
        [Instead::Fails, Instead::Returns].map(|instead| change.hollowed(instead));
    if failing.is_empty() {
        return Ok(Some(HollowRun::undecided("no function was changed")));
    }
    let bench = bench(asked)?;
    let only = SomeTests {
        files: &asked.files_of(&new),
        ids: &new,
    };
    let mut run = HollowRun::default();
    for texts in [failing, returning] {
        let tree = memory.repository().write_texts(work, &texts)?;
        let on = "new tests without what was changed";
        let Some(there) = bench.tested_alone(on, Some(&tree), &only, asked.format)? else {
            return Ok(Some(HollowRun {
                undecided: Some("the new tests gave no result there".to_owned()),
                ..run
            }));
        };
        let ledger = there.ledger().filter(|there| there.names_alike(&now));
        run.verified = there.ran;
        let passes = |id: &String| {
            let outcome = ledger.as_ref().and_then(|there| there.outcome(id));
            outcome.is_some_and(Outcome::is_success)
        };
        // What could not even be begun there needs the product, too.
        if !new.iter().all(passes) {
            return Ok(Some(run));
        }
    }
    if change.is_elsewhere {
        run.undecided = Some(
            "they pass without the functions that were changed, and more than functions was"
                .to_owned(),
        );
    } else {
        run.idle = new.into_iter().take(MOST_NAMED).collect();
    }
    Ok(Some(run))
}

/// What an item changed of the product.
struct ProductChange {
    /// The files of it that were changed, as they are now.
    texts: Texts,
    /// The text of each function of before.
    unchanged: BTreeSet<String>,
    /// Whether something else than functions was changed.
    is_elsewhere: bool,
}

impl ProductChange {
    fn of(asked: &Asked<'_>, repository: &Repository) -> Result<Self, Fault> {
        let decides = |class: &FileClass| matches!(class, FileClass::Source | FileClass::Build);
        let changed = asked.of_item.iter();
        let changed: Vec<_> = changed
            .filter(|one| one.is_of_product() && one.classes.iter().any(decides))
            .collect();
        let mut is_elsewhere = false;
        let mut outline = |entry: &Option<TreeEntry>, path: &RepoPath| {
            let Some(entry) = entry else {
                return Ok((String::new(), Outline::default()));
            };
            let text = repository.read_blobs(&[&entry.oid])?.concat();
            let text = String::from_utf8(text).unwrap_or_default();
            let outline = syntax::outline(&path.to_string(), &text);
            is_elsewhere |= outline.is_none();
            Ok::<_, Fault>((text, outline.unwrap_or_default()))
        };
        let (mut before, mut after) = (Outline::default(), Outline::default());
        let mut texts = Vec::new();
        for one in &changed {
            let (_, was) = outline(&one.before, &one.path)?;
            let (text, is) = outline(&one.after, &one.path)?;
            before.functions.extend(was.functions);
            before.values.extend(was.values);
            after.values.extend(is.values);
            if one.after.is_some() {
                texts.push((one.path.clone(), one.after.clone(), text));
            }
        }
        Ok(Self {
            texts,
            unchanged: before.functions,
            is_elsewhere: is_elsewhere || before.values != after.values,
        })
    }

    /// The files with the functions that were changed doing something else.
    fn hollowed(&self, instead: Instead) -> Texts {
        let texts = self.texts.iter();
        let hollowed = texts.filter_map(|(path, entry, text)| {
            let text = syntax::hollowed(&path.to_string(), text, instead, &self.unchanged)?;
            Some((path.clone(), entry.clone(), text))
        });
        hollowed.collect()
    }
}

/// The bench of the project, for a run.
fn bench<'a>(asked: &Asked<'a>) -> Result<Bench<'a>, Fault> {
    let work = asked.work;
    let head = work.base.clone();
    let benches = benches(asked.run_dir);
    let bench = Bench::take(&benches, &work.memory, asked.config, head, asked.cancelled)?;
    Ok(bench.reporting(asked.reports).of_run(asked.run_dir))
}

/// The tests that pass now, and were not there before; none where nothing is known of before.
fn new_tests(
    asked: &Asked<'_>,
    taken: &TestEvidence,
    now: &Ledger,
) -> Result<Option<Vec<String>>, Fault> {
    let before = match &taken.baseline {
        Some(found) => found.ledger(),
        None => known::before(asked.run_dir, asked.run, Some(asked.present))?,
    };
    let before = before.filter(|before| before.names_alike(now));
    let new = before.map(|before| {
        let passing = now.those(|outcome| matches!(outcome, Outcome::Passed | Outcome::Flaky));
        let new = passing.filter(|id| before.outcome(id).is_none());
        new.map(str::to_owned).collect()
    });
    Ok(new)
}

fn tried(
    asked: &Asked<'_>,
    work: &Oid,
    (now, new): (&Ledger, Vec<String>),
) -> Result<HollowRun, Fault> {
    let memory = &asked.work.memory;
    let repository = memory.repository();
    let last = asked.work.base.clone();
    if hollowed(memory, work)?.is_empty() {
        return Ok(HollowRun::undecided(
            "no parser is at hand for what the product is written in",
        ));
    }
    let bench = bench(asked)?;
    let tested = |tree: &Oid| {
        let tree = repository.write_texts(tree, &hollowed(memory, tree)?)?;
        bench.tested("the work with empty functions", &tree, true, asked.format)
    };
    let there = tested(work)?;
    let ledger = there.ledger().filter(|there| there.names_alike(now));
    let ran = |id: &String| {
        let there = ledger.as_ref().and_then(|there| there.outcome(id));
        there.is_some()
    };
    // One that was not even begun there says nothing.
    if !new.iter().any(ran) {
        return Ok(HollowRun {
            verified: there.ran,
            ..HollowRun::undecided("none of the new tests came to run there")
        });
    }
    let passes = |id: &String| {
        let outcome = ledger.as_ref().and_then(|there| there.outcome(id));
        outcome.is_some_and(Outcome::is_success)
    };
    // What passed without the product before, as a test of a constant does, has lost nothing.
    let mut weakened: Vec<String> = now
        .those(Outcome::is_success)
        .map(str::to_owned)
        .filter(|id| !new.contains(id) && passes(id))
        .collect();
    if !weakened.is_empty() {
        let before = tested(&last)?;
        let before = before.ledger().filter(|before| before.names_alike(now));
        let failed = |id: &String| {
            let outcome = before.as_ref().and_then(|before| before.outcome(id));
            outcome.is_some_and(|outcome| matches!(outcome, Outcome::Failed | Outcome::Error))
        };
        weakened.retain(failed);
        weakened.truncate(MOST_NAMED);
    }
    Ok(HollowRun {
        verified: there.ran,
        passing: new.into_iter().filter(passes).take(MOST_NAMED).collect(),
        weakened,
        ..HollowRun::default()
    })
}

/// The files of the product in a tree without what their functions do; none where no parser is at hand.
fn hollowed(memory: &Memory, tree: &Oid) -> Result<Texts, Fault> {
    let repository = memory.repository();
    let classes = memory.start.classes()?;
    let mut entries = repository.tree_entries(tree)?;
    entries.retain(|(path, _)| {
        classes.of(&repository.name_in_scope(path)) == PathClass::Source
            && syntax::has_functions(&path.to_string())
    });
    let blobs: Vec<&Oid> = entries.iter().map(|(_, entry)| &entry.oid).collect();
    let texts = repository.read_blobs(&blobs)?.into_iter();
    let hollowed = entries
        .into_iter()
        .zip(texts)
        .filter_map(|((path, entry), text)| {
            let text = String::from_utf8(text).ok()?;
            let text =
                syntax::hollowed(&path.to_string(), &text, Instead::Fails, &BTreeSet::new())?;
            Some((path, Some(entry), text))
        });
    Ok(hollowed.collect())
}
