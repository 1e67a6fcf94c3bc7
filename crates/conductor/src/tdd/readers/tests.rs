//! The reader of test results: numbers that the executor gives, against what git says.

use rails::{Reading, RunState};
use serde_json::{Map, Value, json};

use super::super::changes::Changes;
use super::super::memory::{self, GREEN, Green, LAST_TOTAL, Memory, RED};
use super::super::{Raw, Tdd, refusal};
use super::{common_findings, finding, named_paths, on_the_branch, with_files};
use crate::fault::Fault;
use crate::support::No;
use project::git::FingerprintRequest;

/// Reads a report of test results.
pub fn read(tdd: &Tdd<'_>, run: &RunState, token: u32) -> Result<Reading, No> {
    let Raw::Tests {
        counts,
        coverage,
        files,
    } = &tdd.raw
    else {
        return Err(Fault::new(
            crate::fault::Kind::Usage,
            "wrong_report",
            "this step takes test results",
        )
        .suggest("report with `tm autopilot complete --results failed:N,passed:N`")
        .into());
    };
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let status = repository.status()?;
    on_the_branch(&status, &memory)?;
    let mut findings = common_findings(tdd, run, &status, &memory, &repository)?;
    let named = named_paths(tdd, &repository, files)?;
    let changes = Changes::of(&status, &memory, &repository, &named)?;
    let present = run.token(token);
    let state = present.map_or("", |token| token.state.as_str());

    let last = memory.last_oid()?;
    let mut changed = changes.names();
    let committed = match &status.head {
        Some(head) if *head != last && findings.iter().all(|f| f.policy != "history_rewritten") => {
            let mut paths: Vec<String> = repository
                .changed_paths(&last, head)?
                .iter()
                .map(ToString::to_string)
                .collect();
            paths.retain(|path| !changed.contains(path));
            paths
        }
        _ => Vec::new(),
    };
    changed.extend(committed.iter().cloned());
    changed.sort();
    for path in &named {
        if !changed.contains(&path.to_string()) {
            return Err(refusal(
                "file_not_changed",
                format!("`{path}` is named as changed, but git says that it is not"),
                "name only files that differ from the last commit, or leave --files out",
            )
            .into());
        }
    }

    let thresholds = tdd.pinned(run).test.coverage_thresholds;
    let given = coverage.unwrap_or_default();
    let missing = given.missing(&thresholds);
    let required = tdd.pinned(run).evidence.require_coverage;
    if !missing.is_empty() || (required && coverage.is_none()) {
        let of = if missing.is_empty() {
            String::new()
        } else {
            format!(" of {}", missing.join(", "))
        };
        findings.push(finding(
            "coverage_missing",
            format!("the settings ask for coverage{of}, and none was reported"),
            "report it with --coverage",
        ));
    }
    let mut keep = Map::new();
    let item = present.and_then(|token| run.item(token));
    match state {
        "red" => {
            if changed.is_empty() {
                findings.push(finding(
                    "red_without_tests",
                    "no file was changed since the last commit, so no test was written",
                    "write the failing tests first; if they are there already, see autopilot.redAllPassing",
                ));
            }
            keep.insert(
                RED.to_owned(),
                json!({ "failing": counts.failing(), "total": counts.total(), "files": short(&changed) }),
            );
        }
        "green" => {
            let before = item
                .and_then(|item| item.fields.get("redTotal"))
                .and_then(Value::as_u64)
                .filter(|total| *total > 0)
                .or_else(|| run.kept.get(LAST_TOTAL).and_then(Value::as_u64))
                .unwrap_or(0);
            if counts.total() < before {
                findings.push(finding(
                    "fewer_tests",
                    format!("{} tests are reported, {before} were there before: tests have gone missing", counts.total()),
                    "bring the missing tests back; if a test was wrong, go back with `tm autopilot reopen`",
                ));
            }
            if counts.failing() == 0 && counts.passed > 0 {
                let exclude = changes.exclude(&memory, &repository);
                let fingerprint = repository.fingerprint(&FingerprintRequest {
                    exclude: &exclude,
                    ..FingerprintRequest::default()
                })?;
                let green = Green {
                    tree: fingerprint.tree.to_string(),
                    exclude,
                    passed: counts.passed,
                    lines: given.lines,
                };
                keep.insert(
                    GREEN.to_owned(),
                    serde_json::to_value(green).map_err(|e| Fault::bug(e.to_string()))?,
                );
            }
        }
        _ => {
            if !changed.is_empty() {
                findings.push(with_files(
                    finding(
                        "changed_after_commit",
                        format!("files were changed after the last commit: {}", short(&changed).join(", ")),
                        "put them back with git, or `tm autopilot reopen` to take them into a repair",
                    ),
                    &changed,
                ));
            }
        }
    }
    let lines = if state == "green" {
        Some(repository.diff_stat(&last, &changes.paths())?)
    } else {
        None
    };
    let facts = facts(counts, coverage.as_ref(), &thresholds, &changed, lines);
    let mut keep_run = Map::new();
    if state != "finalize" {
        keep_run = memory::entry(LAST_TOTAL, counts.total());
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

fn facts(
    counts: &super::super::results::Counts,
    coverage: Option<&super::super::results::Coverage>,
    thresholds: &project::config::CoverageThresholds,
    changed: &[String],
    lines: Option<project::git::LineStat>,
) -> Map<String, Value> {
    let under = coverage
        .map(|coverage| coverage.under(thresholds))
        .unwrap_or_default();
    let mut facts = Map::new();
    facts.insert("passed".to_owned(), counts.passed.into());
    facts.insert("failed".to_owned(), counts.failed.into());
    facts.insert("errors".to_owned(), counts.errors.into());
    facts.insert("skipped".to_owned(), counts.skipped.into());
    facts.insert("failing".to_owned(), counts.failing().into());
    facts.insert("ran".to_owned(), counts.ran().into());
    facts.insert("total".to_owned(), counts.total().into());
    facts.insert("under".to_owned(), under.into());
    facts.insert("files".to_owned(), short(changed).into());
    facts.insert("level".to_owned(), "claimed".into());
    if let Some(coverage) = coverage {
        facts.insert("coverage".to_owned(), json!(coverage));
    }
    if let Some(lines) = lines {
        facts.insert(
            "linesChanged".to_owned(),
            format!("+{},-{}", lines.added, lines.removed).into(),
        );
    }
    facts
}

/// A list that a journal line can hold.
fn short(files: &[String]) -> Vec<String> {
    const MOST: usize = 200;
    files.iter().take(MOST).cloned().collect()
}
