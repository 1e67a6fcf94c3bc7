//! The reader of test results: numbers that the executor gives, against what git says.

use project::config::CoverageThresholds;
use project::git::{FingerprintRequest, Oid, RepoPath, Repository, TreeStatus};
use rails::state::{Item, Token};
use rails::{Finding, Reading, RunState};
use serde_json::{Map, Value, json};

use super::super::changes::Changes;
use super::super::memory::{self, GREEN, Green, LAST_TOTAL, Memory, RED};
use super::super::products;
use super::super::results::{Counts, Coverage};
use super::super::texts::tests;
use super::super::{Raw, Tdd, refusal};
use super::{common_findings, finding, named_paths, on_the_branch, with_files};
use crate::fault::{Fault, Kind};
use crate::support::No;

/// Reads a report of test results.
pub fn read(tdd: &Tdd<'_>, run: &RunState, token: u32) -> Result<Reading, No> {
    let Raw::Tests {
        counts,
        coverage,
        files,
        said,
    } = &tdd.raw
    else {
        return Err(
            Fault::new(Kind::Usage, "wrong_report", "this step takes test results")
                .suggest("report with `tm autopilot complete --results failed:N,passed:N`")
                .into(),
        );
    };
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    on_the_branch(&status, &memory)?;
    let mut findings = common_findings(tdd, &status, &memory, &repository)?;
    let named = named_paths(tdd, &repository, files)?;
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    let rewritten = findings
        .iter()
        .any(|finding| finding.policy == "history_rewritten");
    let last = match &status.head {
        // The run's own commits are gone; what is there now has to do.
        Some(head) if rewritten => head.clone(),
        _ => memory.last_oid()?,
    };
    let changed = since_last(&repository, &status, &changes, &last, rewritten)?;
    all_changed(&named, &changed)?;

    let config = &tdd.pinned;
    let thresholds = &config.test.coverage_thresholds;
    findings.extend(no_coverage(
        coverage.as_ref(),
        thresholds,
        config.evidence.require_coverage,
    ));
    let present = run.token(token);
    let item = present.and_then(|token| run.item(token));
    let state = present.map_or("", |token| token.state.as_str());
    let mut facts = facts(counts, coverage.as_ref(), thresholds, &changed);
    facts.extend(said.clone());
    let mut keep = Map::new();
    let mut keep_run = Map::new();
    if matches!(state, "red" | "green") {
        no_products(&repository, &changes, &named)?;
    }
    match state {
        "red" => {
            findings.extend(no_tests_written(&changed));
            keep.insert(
                RED.to_owned(),
                json!({
                    "failing": counts.failing(),
                    "errors": counts.errors,
                    "total": counts.total(),
                    "files": short(&changed),
                }),
            );
        }
        "green" => {
            findings.extend(gone_missing(run, present, item, counts));
            let lines = repository.diff_stat(&last, &changes.paths())?;
            facts.insert("linesChanged".to_owned(), lines.to_string().into());
            if counts.failing() == 0 && counts.passed > 0 {
                let green = tested(&repository, &memory, &changes, counts, coverage.as_ref())?;
                keep.insert(GREEN.to_owned(), green);
                keep_run = memory::entry(LAST_TOTAL, counts.total());
            }
        }
        _ => {
            findings.extend(changed_since_commit(&changed));
            if changed.is_empty() && status.head.as_ref() != Some(&last) {
                findings.push(finding(
                    "foreign_commit",
                    "there are commits on the branch that this run did not make",
                    "take them off the branch, or `tm autopilot reopen --reason …` and hand them in as a repair",
                ));
            }
            findings.extend(gone_missing(run, present, None, counts));
        }
    }
    Ok(Reading {
        facts,
        findings,
        keep,
        keep_run,
        level: "claimed".to_owned(),
        ..Reading::default()
    })
}

/// Every file that differs from the run's last commit, committed since or not.
fn since_last(
    repository: &Repository,
    status: &TreeStatus,
    changes: &Changes,
    last: &Oid,
    rewritten: bool,
) -> Result<Vec<String>, No> {
    let mut changed = changes.names();
    if let Some(head) = &status.head
        && head != last
        && !rewritten
    {
        for path in repository.changed_paths(last, head)? {
            let name = path.to_string();
            if !changed.contains(&name) {
                changed.push(name);
            }
        }
        changed.sort();
    }
    Ok(changed)
}

fn all_changed(named: &[RepoPath], changed: &[String]) -> Result<(), No> {
    for path in named {
        if !changed.contains(&path.to_string()) {
            return Err(refusal(
                "file_not_changed",
                format!("`{path}` is named as changed, but git says that it is not"),
                "name only files that differ from the last commit, or leave --files out",
            )
            .into());
        }
    }
    Ok(())
}

fn no_coverage(
    coverage: Option<&Coverage>,
    thresholds: &CoverageThresholds,
    required: bool,
) -> Option<Finding> {
    let missing = coverage.copied().unwrap_or_default().missing(thresholds);
    if missing.is_empty() && !(required && coverage.is_none()) {
        return None;
    }
    let of = if missing.is_empty() {
        String::new()
    } else {
        format!(" of {}", missing.join(", "))
    };
    Some(finding(
        "coverage_missing",
        format!("the settings ask for coverage{of}, and none was reported"),
        "report it with --coverage",
    ))
}

fn no_tests_written(changed: &[String]) -> Option<Finding> {
    // A runner may write these by itself.
    let by_itself = |path: &String| {
        matches!(
            path.rsplit('/').next(),
            Some(
                "Cargo.lock"
                    | "package-lock.json"
                    | "yarn.lock"
                    | "pnpm-lock.yaml"
                    | "bun.lock"
                    | "go.sum"
                    | "uv.lock"
                    | "poetry.lock"
                    | "Gemfile.lock"
                    | "composer.lock"
                    | "mix.lock"
            )
        )
    };
    changed.iter().all(by_itself).then(|| {
        finding(
            "red_without_tests",
            "no test was written: nothing was changed since the last commit, apart from what a runner writes by itself",
            "write the tests of this subtask, see them fail, then report",
        )
    })
}

/// Fewer tests than there were: in RED, or, where RED could not count them because they did not
/// compile, and where there is no RED, in the last accepted GREEN.
fn gone_missing(
    run: &RunState,
    present: Option<&Token>,
    item: Option<&Item>,
    counts: &Counts,
) -> Option<Finding> {
    let last = run
        .kept
        .get(LAST_TOTAL)
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let red = item
        .and_then(|item| item.fields.get("redTotal"))
        .and_then(Value::as_u64)
        .filter(|total| *total > 0);
    let uncounted = present
        .and_then(|token| token.kept.get(RED)?.get("errors")?.as_u64())
        .is_some_and(|errors| errors > 0);
    let before = match red {
        Some(red) if uncounted => red.max(last),
        Some(red) => red,
        None => last,
    };
    (counts.total() < before).then(|| {
        finding(
            "fewer_tests",
            format!(
                "{} reported, {before} were there before: tests have gone missing",
                tests(counts.total())
            ),
            "report the whole suite, and bring the missing tests back; if a test was wrong, go back with `tm autopilot reopen --reason …`",
        )
    })
}

/// What a test run leaves behind must not get into a commit, and here it can still be mended by a
/// line in `.gitignore`.
fn no_products(repository: &Repository, changes: &Changes, named: &[RepoPath]) -> Result<(), No> {
    let untracked: Vec<String> = changes
        .files
        .iter()
        .filter(|change| change.untracked && !named.contains(&change.path))
        .map(|change| change.path.to_string())
        .collect();
    let found = products::among(repository.top_level(), &untracked);
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(|found| found.ignore.clone()).collect();
    Err(refusal(
        "build_products",
        format!(
            "these look like products of a build or a test run, and would be committed: {}",
            found
                .iter()
                .map(|found| found.example.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!(
            "add to .gitignore: {}; then report again. What is meant to be committed can be named with --files",
            lines.join(", ")
        ),
    )
    .detail("ignore", lines)
    .into())
}

/// What was tested, so that COMMIT can tell whether it is what is committed.
fn tested(
    repository: &Repository,
    memory: &Memory,
    changes: &Changes,
    counts: &Counts,
    coverage: Option<&Coverage>,
) -> Result<Value, No> {
    let exclude = changes.exclude(memory, repository);
    let fingerprint = repository.fingerprint(&FingerprintRequest {
        exclude: &exclude,
        ..FingerprintRequest::default()
    })?;
    let green = Green {
        tree: fingerprint.tree.to_string(),
        exclude,
        passed: counts.passed,
        lines: coverage.and_then(|coverage| coverage.lines),
    };
    Ok(serde_json::to_value(green).map_err(|error| Fault::bug(error.to_string()))?)
}

fn changed_since_commit(changed: &[String]) -> Option<Finding> {
    (!changed.is_empty()).then(|| {
        with_files(
            finding(
                "changed_after_commit",
                format!("files were changed after the last commit: {}", short(changed).join(", ")),
                "put them back with git, or `tm autopilot reopen --reason …` to take them into a repair",
            ),
            changed,
        )
    })
}

fn facts(
    counts: &Counts,
    coverage: Option<&Coverage>,
    thresholds: &CoverageThresholds,
    changed: &[String],
) -> Map<String, Value> {
    let under = coverage
        .map(|coverage| coverage.under(thresholds))
        .unwrap_or_default();
    let mut facts = counts.facts();
    facts.insert("under".to_owned(), under.into());
    facts.insert("files".to_owned(), short(changed).into());
    facts.insert("level".to_owned(), "claimed".into());
    if let Some(coverage) = coverage {
        facts.insert("coverage".to_owned(), json!(coverage));
    }
    facts
}

/// A list that a journal line can hold.
fn short(files: &[String]) -> Vec<String> {
    const MOST: usize = 200;
    files.iter().take(MOST).cloned().collect()
}
