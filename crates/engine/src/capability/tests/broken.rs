//! Tests that cannot be run at all: where files that nobody touched cannot be collected either, a failure says nothing of the behaviour
//! that is asked for.

use machine::Finding;

use crate::capability::git::read::finding as finding_of;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::read::{Comparison, few};
use crate::next_step::Verb;
use crate::support::HandlerError;

/// That what fails fails by something else than the new tests, where nothing is known of before.
pub(super) fn finding(
    at: &Comparison<'_>,
    now: &Ledger,
    is_known: bool,
    changed: &[String],
) -> Result<Option<Finding>, HandlerError> {
    if is_known || at.counts.passed > 0 || at.counts.errors == 0 {
        return Ok(None);
    }
    let files = at.repository.files(Some(at.status))?;
    let broken = untouched(now, at.counts.errors, changed, &files);
    Ok((!broken.is_empty()).then(|| {
        finding_of(
            "no_new_failure",
            format!(
                "tests that nobody changed cannot be collected either, so what fails says nothing of the new behaviour: {}",
                few(&broken)
            ),
            format!(
                "mend what all of them lack, such as packages that are not installed or another interpreter, and report again: {}. \
                 Where the test command is the wrong one, end the run ({}), set `test.command`, and begin anew",
                Verb::Report,
                Verb::Abort
            ),
        )
    }))
}

/// The test files among `files` that cannot be collected though they were not `changed`. None where any test passes, where a test that
/// was collected fails, or where a changed file can be collected: then it may be what the others fail by.
fn untouched(now: &Ledger, errors: u64, changed: &[String], files: &[String]) -> Vec<String> {
    let failing: Vec<&str> = now.failing().collect();
    let only_errors = failing.len() as u64 == errors && failing.len() == now.tests.len();
    let is_failing = |file: &String| {
        names(file)
            .iter()
            .any(|name| failing.contains(&name.as_str()))
    };
    if !only_errors || !changed.iter().all(is_failing) {
        return Vec::new();
    }
    let others = files.iter().filter(|file| !changed.contains(file));
    others.filter(|file| is_failing(file)).cloned().collect()
}

/// What runners call a file that they cannot collect: by its path, or as a module.
fn names(file: &str) -> [String; 2] {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    [file.to_owned(), stem.replace('/', ".")]
}

#[cfg(test)]
mod tests {
    use ::test_report::Outcome::{self, Error, Failed, Passed};
    use ::test_report::TestFormat;

    use super::*;

    fn broken(tests: &[(&str, Outcome)], errors: u64, changed: &[&str]) -> Vec<String> {
        let tests = tests.iter().map(|(id, outcome)| ((*id).into(), *outcome));
        let ledger = Ledger {
            format: TestFormat::Junit,
            every: true,
            tests: tests.collect(),
        };
        let changed: Vec<String> = changed.iter().map(|&name| name.to_owned()).collect();
        let files = ["src/m.py", "tests/test_a.py", "tests/test_new.py"].map(str::to_owned);
        untouched(&ledger, errors, &changed, &files)
    }

    #[test]
    fn what_nobody_touched_fails_by_something_else() {
        let all = [("tests.test_a", Error), ("tests/test_new.py", Error)];
        let new = &["tests/test_new.py"];
        assert_eq!(broken(&all, 2, new), ["tests/test_a.py"]);
        // A file of helpers may be what the others fail by, and so may one that passes.
        assert!(broken(&all, 2, &["tests/test_new.py", "tests/helpers.py"]).is_empty());
        let one = [all[0], ("tests.test_new.test_it", Failed)];
        assert!(broken(&one, 1, new).is_empty());
        let passing = [all[0], all[1], ("tests.test_b.test_it", Passed)];
        assert!(broken(&passing, 2, new).is_empty());
        assert!(broken(&all[1..], 1, new).is_empty());
    }
}
