//! What was understood of reports.

use std::path::PathBuf;

use engine::capability::tests::evidence::show::{
    Named, Share, Shown, ShownCoverage, ShownTest, ShownTests,
};
use text::plain::one_line;

use super::{BAD, FAINT, GOOD, Look, NOTE, Page, Sign, WARN};
use text::counted;

/// How many tests and files are listed of each kind.
const LISTED: usize = 20;
/// How many lines of a message are shown.
const LINES: usize = 3;

/// What was understood of reports; only tests that failed, if so asked.
pub fn evidence(shown: &Shown, failed: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    if failed {
        for tests in &shown.tests {
            only_failing(&mut page, tests);
        }
        return page.finish();
    }
    let mut first = true;
    for tests in &shown.tests {
        parted(&mut page, &mut first);
        of_tests(&mut page, tests);
    }
    for coverage in &shown.coverage {
        parted(&mut page, &mut first);
        of_coverage(&mut page, coverage);
    }
    if shown.tests.len() > 1 {
        page.blank();
        page.signed(
            Sign::Warn,
            "these are of several formats: --report takes reports of one format at a time",
        );
    }
    page.finish()
}

fn parted(page: &mut Page<'_>, first: &mut bool) {
    if !std::mem::take(first) {
        page.blank();
    }
}

fn files(files: &[PathBuf]) -> String {
    match files {
        [one] => one.display().to_string(),
        [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
        [] => String::new(),
    }
}

fn of_tests(page: &mut Page<'_>, tests: &ShownTests) {
    page.title(&files(&tests.files));
    page.field("format", &format!("{}, a report of tests", tests.format));
    let totals = &tests.totals;
    let look = page.look();
    let mut told = Vec::new();
    for (count, name, style) in [
        (totals.passed, "passed", GOOD),
        (totals.failed, "failed", BAD),
        (totals.errors, "with an error", BAD),
        (totals.not_collected, "not compiled or collected", BAD),
        (totals.skipped, "skipped", WARN),
        (totals.expected_failures, "failed as expected", FAINT),
        (totals.flaky, "passed only when tried again", WARN),
    ] {
        if count > 0 {
            told.push(look.paint(style, &format!("{count} {name}")));
        }
    }
    // Painted by us; a field would take the colour out.
    let label = look.paint(FAINT, &format!("{:<10}", "tests"));
    let line = format!("  {label} {}: {}", totals.total, told.join(", "));
    page.raw(&line);
    let results = &tests.results;
    page.field(
        "results",
        &format!(
            "passed:{},failed:{},skipped:{},errors:{}",
            results.passed, results.failed, results.skipped, results.errors
        ),
    );
    page.field(
        "named",
        match tests.named {
            Named::Every => "every test",
            Named::Some => "some of the tests: one that goes missing is seen only by the numbers",
            Named::None => {
                "no test: the report has only numbers, and RED cannot be held against GREEN by name"
            }
        },
    );
    let many = tests.failing_named;
    if many > 0 {
        page.blank();
        page.raw(&format!("{}:", counted(many as u64, "failing test")));
        for test in tests.failing.iter().take(LISTED) {
            failing(page, test, LINES);
        }
        if many > LISTED {
            page.raw(&format!(
                "  … and {} more: --failed shows them",
                many - LISTED
            ));
        }
    }
    list(page, "Skipped", &tests.skipped, totals.skipped);
    list(
        page,
        "Passed only when tried again",
        &tests.flaky,
        totals.flaky,
    );
    notes(page, &tests.notes);
}

fn only_failing(page: &mut Page<'_>, tests: &ShownTests) {
    for test in &tests.failing {
        failing(page, test, usize::MAX);
    }
    let more = tests.failing_named - tests.failing.len();
    if more > 0 {
        page.raw(&format!("  … and {more} more"));
    }
    let unnamed = tests.totals.failed + tests.totals.errors + tests.totals.not_collected;
    let unnamed = unnamed.saturating_sub(tests.failing_named as u64);
    if unnamed > 0 {
        page.signed(
            Sign::Warn,
            &format!(
                "{} without a name in the report",
                counted(unnamed, "failing test")
            ),
        );
    }
}

fn failing(page: &mut Page<'_>, test: &ShownTest, lines: usize) {
    let sign = page.look().sign(Sign::Bad);
    let how = match test.outcome.name() {
        "failed" => String::new(),
        other => format!(" ({})", other.replace('_', " ")),
    };
    let place = match &test.file {
        Some(file) => page.look().paint(FAINT, &format!("  {}", one_line(file))),
        None => String::new(),
    };
    page.raw(&format!("  {sign} {}{how}{place}", one_line(&test.id)));
    if let Some(message) = &test.message {
        let shown: Vec<&str> = message
            .lines()
            .filter(|line| !line.trim().is_empty())
            .take(lines)
            .collect();
        for line in shown {
            page.block(&format!("    {line}"));
        }
    }
}

fn list(page: &mut Page<'_>, title: &str, ids: &[Box<str>], total: u64) {
    if ids.is_empty() {
        return;
    }
    page.blank();
    page.raw(&format!("{title}:"));
    page.list(ids.iter().take(LISTED).map(|id| &**id));
    let more = total.saturating_sub(ids.len().min(LISTED) as u64);
    if more > 0 {
        page.raw(&format!("  … and {more} more"));
    }
}

fn notes(page: &mut Page<'_>, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    page.blank();
    let sign = page.look().paint(NOTE, "note:");
    for note in notes.iter().take(LISTED) {
        page.wrapped(&sign, note);
    }
}

fn of_coverage(page: &mut Page<'_>, coverage: &ShownCoverage) {
    page.title(&coverage.file.display().to_string());
    page.field(
        "format",
        &format!("{}, a report of coverage", coverage.format),
    );
    for (name, share) in [
        ("lines", coverage.lines),
        ("branches", coverage.branches),
        ("functions", coverage.functions),
        ("statements", coverage.statements),
    ] {
        if let Some(share) = share {
            page.field(name, &share_text(share));
        }
    }
    page.field("files", &coverage.files.to_string());
    if !coverage.least_covered.is_empty() {
        page.blank();
        page.raw("Covered least, by lines:");
        for file in &coverage.least_covered {
            page.raw(&format!(
                "  {:>7}  {}",
                percent(file.lines),
                one_line(&file.path)
            ));
        }
    }
    notes(page, &coverage.notes);
}

fn share_text(share: Share) -> String {
    match share.percent {
        Some(_) => format!("{} ({} of {})", percent(share), share.covered, share.total),
        None => "nothing to cover".to_owned(),
    }
}

fn percent(share: Share) -> String {
    share
        .percent
        .map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"))
}
