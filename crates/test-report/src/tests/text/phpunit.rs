//! What `phpunit` prints: a mark for each test, those that were not content by name, and a summary. With `--testdox`, all by name.

use crate::limits::LONGEST_MESSAGE;
use crate::tests::builder::{Builder, cut};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// The numbers of the summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Summary {
    tests: u64,
    errors: u64,
    failures: u64,
    skipped: u64,
    incomplete: u64,
    risky: u64,
    /// Up to version 9 a warning is what became of a test. Later it is said of a test besides.
    warnings: u64,
}

impl Summary {
    /// Reads `OK (4 tests, 4 assertions)`.
    fn good(line: &str) -> Option<Self> {
        let (tests, rest) = line.strip_prefix("OK (")?.split_once(' ')?;
        let (_, rest) = rest.split_once(", ")?;
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        matches!(rest, " assertions)" | " assertion)").then_some(())?;
        Some(Self {
            tests: tests.parse().ok()?,
            ..Self::default()
        })
    }

    /// Reads `Tests: 12, Assertions: 7, Errors: 3, Failures: 2, Skipped: 1.`
    fn bad(line: &str) -> Option<Self> {
        let mut summary = Self::default();
        let rest = line.strip_prefix("Tests: ")?.strip_suffix('.')?;
        let (tests, rest) = rest.split_once(", Assertions: ")?;
        summary.tests = tests.parse().ok()?;
        for part in rest.split(", ").skip(1) {
            let (what, number) = part.split_once(": ")?;
            let number = number.parse().ok()?;
            match what {
                "Errors" => summary.errors = number,
                "Failures" => summary.failures = number,
                "Skipped" => summary.skipped = number,
                "Incomplete" => summary.incomplete = number,
                "Risky" => summary.risky = number,
                "Warnings" => summary.warnings = number,
                _ => {}
            }
        }
        Some(summary)
    }
}

/// The version in `PHPUnit 9.6.7 by Sebastian Bergmann and contributors.`
fn version(line: &str) -> Option<u64> {
    let (version, rest) = line.strip_prefix("PHPUnit ")?.split_once(' ')?;
    rest.starts_with("by Sebastian Bergmann").then_some(())?;
    version.split(['.', '-']).next()?.parse().ok()
}

fn fatal(line: &str) -> Option<&str> {
    [
        "PHP Fatal error:  ",
        "PHP Parse error:  ",
        "Fatal error: ",
        "Parse error: ",
    ]
    .iter()
    .find_map(|kind| line.strip_prefix(kind))
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let known = |line: &&str| version(line).is_some();
    let signs = text.lines().filter(known).count();
    if signs == 0 && text.contains("PHPUnit\\TextUI\\") && text.lines().any(|l| fatal(l).is_some())
    {
        return 1;
    }
    signs
}

/// A list of tests that were not content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Errors,
    Failures,
    Skipped,
    Incomplete,
    Risky,
    Warnings,
    Other,
}

impl List {
    /// Reads `There were 3 errors:`.
    fn read(line: &str) -> Option<Self> {
        let rest = line
            .strip_prefix("There was ")
            .or_else(|| line.strip_prefix("There were "));
        let Some(rest) = rest else {
            // What a test triggered besides: `1 test triggered 1 warning:`.
            let (number, rest) = line.split_once(' ')?;
            let triggered =
                rest.starts_with("test triggered ") || rest.starts_with("tests triggered ");
            return (number.parse::<u64>().is_ok() && triggered && line.ends_with(':'))
                .then_some(Self::Other);
        };
        let (number, what) = rest.strip_suffix(':')?.split_once(' ')?;
        number.parse::<u64>().ok()?;
        Some(match what {
            "error" | "errors" | "PHPUnit error" | "PHPUnit errors" => Self::Errors,
            "failure" | "failures" => Self::Failures,
            "skipped test" | "skipped tests" => Self::Skipped,
            "incomplete test" | "incomplete tests" => Self::Incomplete,
            "risky test" | "risky tests" => Self::Risky,
            "warning" | "warnings" => Self::Warnings,
            _ => Self::Other,
        })
    }

    const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Errors => Some(Outcome::Error),
            Self::Failures => Some(Outcome::Failed),
            // A test without assertions shows nothing: it is as one that is still to be written.
            Self::Skipped | Self::Incomplete | Self::Risky | Self::Warnings => {
                Some(Outcome::Skipped)
            }
            Self::Other => None,
        }
    }
}

struct Listed {
    list: List,
    id: String,
    message: String,
}

/// A test of the documentation that `--testdox` writes.
struct Documented {
    id: String,
    mark: char,
    message: String,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells of a line that came, and they come in many orders"
)]
struct Run {
    version: u64,
    timed: bool,
    summary: Option<(u64, Summary)>,
    verdict: bool,
    nothing: bool,
    fatal: Option<String>,
    progress: Option<u64>,
    lists: Vec<Listed>,
    list: Option<List>,
    in_list: usize,
    documented: Vec<Documented>,
    class: String,
    again: bool,
    after_blank: bool,
}

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let mut run = Run::default();
    for (line, number) in text.lines().zip(1..) {
        run.line(line, number)?;
    }
    run.finish()
}

impl Run {
    fn line(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        if let Some(version) = version(line) {
            if self.version > 0 {
                let message = "a second run begins here: give the report of one run";
                return Err(Unreadable::new(Kind::Mixed, message).at_line(number));
            }
            self.version = version;
            return Ok(());
        }
        if line.starts_with("Time: ") && line.contains(", Memory: ") {
            self.timed = true;
            return Ok(());
        }
        if fatal(line).is_some() && self.fatal.is_none() {
            self.fatal = Some(line.to_owned());
        }
        if self.timed {
            self.after_time(line, number)?;
        } else if line == "No tests executed!" {
            self.nothing = true;
        } else if let Some(total) = progress(line) {
            self.progress = Some(total);
        }
        self.document(line);
        self.after_blank = line.is_empty();
        Ok(())
    }

    /// What comes after the tests have run: lists and the summary.
    fn after_time(&mut self, line: &str, number: u64) -> Result<(), Unreadable> {
        let verdict = matches!(
            line,
            "FAILURES!" | "ERRORS!" | "WARNINGS!" | "TESTS FAILED!"
        ) || line.starts_with("OK, but ");
        let bad = Summary::bad(line).filter(|_| self.verdict);
        if let Some(summary) = Summary::good(line).or(bad) {
            if self.summary.is_some() {
                let message = "a second summary follows the first";
                return Err(Unreadable::new(Kind::Contradiction, message).at_line(number));
            }
            self.summary = Some((number, summary));
            self.list = None;
        } else if let Some(list) = List::read(line) {
            self.list = Some(list);
            self.in_list = 0;
        } else if let Some(list) = self.list.filter(|_| !verdict) {
            self.listed(list, line);
        }
        self.verdict = verdict;
        Ok(())
    }

    fn listed(&mut self, list: List, line: &str) {
        let numbered = line
            .strip_prefix(&(self.in_list + 1).to_string())
            .and_then(|rest| rest.strip_prefix(") "));
        if let Some(name) = numbered {
            self.in_list += 1;
            self.lists.push(Listed {
                list,
                id: without_data(name).to_owned(),
                message: String::new(),
            });
        } else if line != "--"
            && self.in_list > 0
            && let Some(last) = self.lists.last_mut()
        {
            keep(&mut last.message, line);
        }
    }

    /// A line of the documentation: a class, a test with its mark, or what is said of it.
    fn document(&mut self, line: &str) {
        if line == "Summary of non-successful tests:" {
            self.again = true;
        }
        if self.again {
            return;
        }
        let marked = line.strip_prefix(' ').and_then(|rest| {
            let mut chars = rest.chars();
            let mark = chars.next().filter(|mark| "✔✘↩∅☢⚠".contains(*mark))?;
            Some((mark, chars.as_str().strip_prefix(' ')?))
        });
        if let Some((mark, title)) = marked {
            // With colors, how long it took stands behind.
            let title = title.split(" \u{1b}").next().unwrap_or(title);
            let class = self.class.split(" (").next().unwrap_or_default();
            let id = format!("{class} > {}", title.trim_end());
            self.documented.push(Documented {
                id,
                mark,
                message: String::new(),
            });
        } else if let Some(text) = line.strip_prefix("   ") {
            let text = text.trim_start_matches(['│', '┐', '├', '┴', '┊', '╵', ' ']);
            if let Some(last) = self.documented.last_mut() {
                keep(&mut last.message, text);
            }
        } else if self.after_blank && !line.is_empty() && !line.starts_with(' ') {
            line.clone_into(&mut self.class);
        }
    }

    fn finish(mut self) -> Result<TestReport, Unreadable> {
        let mut builder = Builder::new(TestFormat::PhpunitText);
        if let (Some(fatal), None) = (&self.fatal, &self.summary) {
            builder.test(where_fatal(fatal), Outcome::NotCollected, Some(fatal), None)?;
            builder.note("PHP went down before the run was over: its other tests are not known");
            return builder.finish();
        }
        let Some((number, mut summary)) = self.summary else {
            if self.nothing {
                return builder.finish();
            }
            let message = "the summary is missing";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        if self.version >= 10 {
            summary.warnings = 0;
        }
        if let Some(total) = self.progress {
            Builder::agree("tests", summary.tests, total).map_err(|e| e.at_line(number))?;
        }
        let named = self.named(&summary, &mut builder);
        named.map_err(|error: Unreadable| match error.line {
            Some(_) => error,
            None => error.at_line(number),
        })?;
        builder.finish()
    }

    fn named(&mut self, summary: &Summary, builder: &mut Builder) -> Result<(), Unreadable> {
        let count = |list: List| self.lists.iter().filter(|l| l.list == list).count() as u64;
        if self.documented.is_empty() || self.lists.iter().any(|l| l.list.outcome().is_some()) {
            Builder::agree("errors", summary.errors, count(List::Errors))?;
            Builder::agree("failures", summary.failures, count(List::Failures))?;
        }
        let others = [
            (List::Skipped, summary.skipped),
            (List::Incomplete, summary.incomplete),
            (List::Risky, summary.risky),
            (List::Warnings, summary.warnings),
        ];
        let not_passed = others
            .iter()
            .map(|(_, number)| *number)
            .chain([summary.errors, summary.failures])
            .fold(0, u64::saturating_add);
        let passed = summary.tests.checked_sub(not_passed).ok_or_else(|| {
            let message = "more tests were not content than there are";
            Unreadable::new(Kind::Contradiction, message)
        })?;
        if !self.documented.is_empty() {
            return self.named_by_documentation(summary, passed, builder);
        }
        for listed in &self.lists {
            if listed.list == List::Warnings && self.version >= 10 {
                continue;
            }
            if let Some(outcome) = listed.list.outcome() {
                builder.test(&listed.id, outcome, Some(&listed.message), None)?;
            }
        }
        for (list, declared) in others {
            let named = count(list);
            if self.version < 10 || list != List::Warnings {
                if named > 0 {
                    Builder::agree("tests of a list", declared, named)?;
                } else {
                    builder.unnamed(Outcome::Skipped, declared);
                }
            }
        }
        builder.unnamed(Outcome::Passed, passed);
        Ok(())
    }

    fn named_by_documentation(
        &self,
        summary: &Summary,
        passed: u64,
        builder: &mut Builder,
    ) -> Result<(), Unreadable> {
        let is_assertion = |test: &Documented| test.message.contains("Failed asserting");
        let crossed = || self.documented.iter().filter(|test| test.mark == '✘');
        let told = crossed().filter(|test| is_assertion(test)).count() as u64 == summary.failures;
        for test in &self.documented {
            let outcome = match test.mark {
                '✔' => Outcome::Passed,
                '✘' if (told && is_assertion(test)) || (!told && summary.failures > 0) => {
                    Outcome::Failed
                }
                '✘' => Outcome::Error,
                // From version 10 on, a sign of something that was triggered besides.
                '⚠' if self.version >= 10 => Outcome::Passed,
                _ => Outcome::Skipped,
            };
            let message = (outcome != Outcome::Passed).then_some(&*test.message);
            builder.test(&test.id, outcome, message, None)?;
        }
        let totals = *builder.totals();
        Builder::agree("tests", summary.tests, totals.total)?;
        Builder::agree("tests that passed", passed, totals.passed)?;
        let failures = summary.errors.saturating_add(summary.failures);
        Builder::agree("errors and failures", failures, totals.failures())
    }
}

/// The number of tests in a line of marks that is the last: `.F.EE   12 / 12 (100%)`.
fn progress(line: &str) -> Option<u64> {
    let rest = line.strip_suffix(" (100%)")?;
    let (rest, total) = rest.rsplit_once(" / ")?;
    let done = rest.rsplit(' ').next()?;
    let total: u64 = total.trim().parse().ok()?;
    (done.parse() == Ok(total)).then_some(total)
}

/// The name of a test without the values of its data set, which may be other ones each time.
fn without_data(name: &str) -> &str {
    let Some((test, set)) = name.split_once(" with data set ") else {
        return name;
    };
    let end = if set.starts_with('#') {
        set.find(' ').unwrap_or(set.len())
    } else {
        set.rfind("\" (").map_or(set.len(), |at| at + 1)
    };
    let whole = test.len() + " with data set ".len() + end;
    name.get(..whole).unwrap_or(name)
}

/// The file in `PHP Fatal error:  Uncaught Error: … in /tmp/shop/tests/CartTest.php:2`, without the folders.
fn where_fatal(fatal: &str) -> &str {
    let file = fatal.rsplit_once(" in ").map_or("", |(_, file)| file);
    let file = file.split(" on line ").next().unwrap_or(file);
    let file = file.rsplit_once(':').map_or(file, |(file, _)| file);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if file.is_empty() { "PHP" } else { file }
}

fn keep(text: &mut String, line: &str) {
    if text.len() < LONGEST_MESSAGE {
        text.push_str(cut(line, LONGEST_MESSAGE));
        text.push('\n');
    }
}
