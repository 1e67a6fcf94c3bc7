//! The reader of test results: what they come to beside the trees of the work.

use machine::role::{Shows, Suite};
use machine::state::Token;
use machine::{Finding, Reading, Role, RunState};
use serde_json::{Map, Value, json};
use workspace::git::RepoPath;

use crate::call::{Call, Input};
use crate::capability::git::read::{command_replaced, config_loosened, named_paths};
use crate::capability::memory::{Memory, REPORTS};
use crate::capability::tests::comparison::{Comparison, HeldTo};
use crate::capability::tests::covered::Covered;
use crate::capability::tests::difference::{Difference, names};
use crate::capability::tests::evidence;
use crate::capability::tests::evidence::level_name;
use crate::capability::tests::evidence::work::Work;
use crate::capability::tests::findings::no_products;
use crate::capability::tests::known;
use crate::capability::tests::stale::{USED, stale};
use crate::support::HandlerError;
use crate::{fault, refusal};

/// What a report says where files were changed that configure the runner: which.
pub(crate) const CONFIGURED: &str = "runnerConfig";
/// The fact with the names of tests that passed only when they were tried again.
pub(crate) const FLAKY: &str = "flakyTests";
/// What such a report says of tests that passed before, and are gone or skipped: which.
pub(crate) const GONE: &str = "goneTests";
/// What a report of passing tests says of snapshots that came with it: what they are of.
pub(crate) const SNAPSHOTS: &str = "snapshots";
/// At most so many tests are named in each list of a journal line, and of the report for programs.
pub(crate) const MOST_NAMED: usize = 100;

/// Reads a report of test results.
pub fn read(
    call: &Call<'_>,
    role: &Role,
    run: &RunState,
    token: u32,
) -> Result<Reading, HandlerError> {
    let Input::Tests { taken, files, said } = &call.input else {
        return Err(fault!("usage.tests_expected").into());
    };
    let config = &call.pinned;
    evidence::enough(taken, config)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = call.tree(&repository)?;
    let named = named_paths(call, &repository, files)?;
    let work = Work::of(run, (&call.dir, config), &status, &named, taken)?;
    work.changes.no_dirty_submodules(&repository)?;
    let sorter = work.sorter(&repository, config)?;
    let of_item = sorter.between(&work.base, &work.tree)?;
    all_changed(&named, &of_item)?;
    // What the full suite is about is committed, and what it leaves behind is committed by nobody.
    if role.suite.is_none() {
        no_products(&repository, &work.changes, &named)?;
    }
    let mut findings: Vec<Finding> = config_loosened(call).into_iter().collect();
    findings.extend(command_replaced(
        &call.settings.config,
        config,
        &work.memory,
    ));
    let present = run.token(token);
    let mut used = USED.read(&run.kept)?.unwrap_or_default();
    findings.extend(stale(taken, present, &repository, &of_item, &used));
    let nothing = Map::new();
    let kept = present.map_or(&nothing, |token| &token.kept);
    let held_to = HeldTo::of(kept, role)?;
    let since = match &held_to {
        Some(held) => sorter.between(&held.tree, &work.tree)?,
        None => Vec::new(),
    };
    let before = known::before(&call.dir, run, present)?;
    let repairs = known::repaired(before.as_ref(), &taken.repairs);
    let mut at = Comparison {
        call,
        run,
        role,
        item: present.and_then(Token::key),
        kept,
        taken,
        counts: taken.counts,
        now: taken.ledger(),
        before: before.map(|before| before.without(&repairs)),
        repairs,
        held_to,
        of_item: &of_item,
        since: &since,
        work: &work,
        repository: &repository,
        status: &status,
        known: Vec::new(),
        findings,
        facts: Map::new(),
        keep: Map::new(),
        keep_run: work.keep.clone(),
        hashes: taken.keep(&call.dir)?,
        warnings: Vec::new(),
    };
    REPORTS.put(&mut at.keep_run, &work.memory.reports)?;
    let covered = Covered::of(
        taken,
        role,
        config,
        (&repository, (&work.base, &work.tree), &of_item),
    )?;
    if !taken.unchanged {
        at.findings.extend(covered.missing(config, run));
    }
    at.of_run_suite()?;
    if let Some(checks) = &taken.checks {
        at.findings
            .extend(checks.findings(role, &config.evidence.policy));
        at.keep_run.extend(checks.keep_run(&call.dir)?);
        at.warnings.extend(checks.warnings(role).map(str::to_owned));
    }
    at.flaky();
    match (role.shows, role.suite) {
        _ if taken.unchanged => at.as_before()?,
        (Some(Shows::NewFailure), _) => at.new_failure()?,
        (None, None) => at.passing(present)?,
        (None, Some(Suite::Full)) => at.full_suite()?,
    }
    used.note(taken);
    at.keep_run.extend(used.keep()?);
    let mut facts = taken.counts.facts();
    facts.extend(at.counts.facts());
    facts.insert("files".to_owned(), short(&names(&of_item)).into());
    facts.extend(taken.facts());
    facts.insert("under".to_owned(), covered.under(config).into());
    if let Some(coverage) = covered.coverage {
        facts.insert("coverage".to_owned(), json!(coverage));
    }
    facts.insert(
        "compiled".to_owned(),
        taken.is_compiled(&work.memory.start.test_framework).into(),
    );
    facts.extend(at.facts);
    facts.extend(said.clone());
    Ok(Reading {
        facts,
        findings: at.findings,
        keep: at.keep,
        keep_run: at.keep_run,
        evidence: at.hashes,
        level: level_name(taken.level()).to_owned(),
        warnings: at.warnings,
        ..Reading::default()
    })
}

/// Refuses files that are named as changed and are not.
fn all_changed(named: &[RepoPath], of_item: &[Difference]) -> Result<(), HandlerError> {
    for path in named {
        if !of_item.iter().any(|difference| difference.path == *path) {
            return Err(refusal!("nothing_changed.all_changed", path).into());
        }
    }
    Ok(())
}

/// What people call a report, by its label.
pub fn name_of(label: Option<&String>) -> String {
    label.map_or_else(
        || "the report before".to_owned(),
        |label| label.to_uppercase(),
    )
}

/// As many names as a journal line can hold.
pub(crate) fn named(ids: &[String]) -> Value {
    ids.iter().take(MOST_NAMED).cloned().collect()
}

/// A few names, for people.
pub(crate) fn few(names: &[String]) -> String {
    const FEW: usize = 10;
    let shown = names[..names.len().min(FEW)].join(", ");
    match names.len().saturating_sub(FEW) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A list that a journal line can hold.
pub(crate) fn short(files: &[String]) -> Vec<String> {
    const MOST: usize = 200;
    files.iter().take(MOST).cloned().collect()
}
