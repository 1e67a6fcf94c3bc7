//! What a report of tests rests on, as tools take it.

use std::path::PathBuf;

use engine::fault;
use engine::view::autopilot::request::Evidence;
use engine::{Engine, Fault, Kind};

use super::super::place::Places;

/// Refuses evidence that says the same in two ways. A command line tells that by itself.
pub(super) fn once(evidence: &Evidence) -> Result<(), Fault> {
    let other = if evidence.verify {
        Some("verify")
    } else {
        (!evidence.reports.is_empty()).then_some("report")
    };
    match other {
        _ if evidence.unchanged && (other.is_some() || evidence.results.is_some()) => {
            Err(twice("unchanged", other.unwrap_or("results")))
        }
        Some(other) if evidence.results.is_some() => Err(twice("results", other)),
        _ if evidence.coverage.is_some() && evidence.coverage_report.is_some() => {
            Err(twice("coverage", "coverageReport"))
        }
        _ => Ok(()),
    }
}

fn twice(one: &str, other: &str) -> Fault {
    fault!("usage.same_in_two_ways", one, other)
}

/// The same with its files where they are. Relative ones belong to the project.
pub(super) fn placed(
    places: &Places,
    engine: &Engine,
    mut evidence: Evidence,
) -> Result<Evidence, Fault> {
    for path in evidence
        .reports
        .iter_mut()
        .chain(&mut evidence.coverage_report)
    {
        *path = file(places, engine, &path.to_string_lossy())?;
    }
    Ok(evidence)
}

/// A report that this server may read. A folder stands for the files in it, none of which may lead elsewhere.
fn file(places: &Places, engine: &Engine, named: &str) -> Result<PathBuf, Fault> {
    let allowed = |named: &str| {
        places.file(engine, named).map_err(|fault| {
            if fault.code == "not_found" {
                Fault::new(Kind::Usage, "report_missing", fault.message)
                    .suggest("name the file that the test runner wrote, relative to the project")
            } else {
                fault
            }
        })
    };
    let found = allowed(named)?;
    for entry in std::fs::read_dir(&found).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|of| of.is_symlink()) {
            allowed(&entry.path().to_string_lossy())?;
        }
    }
    Ok(found)
}
