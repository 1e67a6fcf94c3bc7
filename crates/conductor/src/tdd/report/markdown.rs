//! The run report as people read it: the description of a pull request, say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::evidence::level_name;
use super::super::{texts, view};
use super::escape::{code, html, inline, name};
use super::phase::{MOST_NAMED, Phase};
use super::{Row, Told};
use crate::clock::spoken;
use crate::generic::run_report::by_way_of;
use project::config::Level;

/// How long a page may be, in bytes: a place for pull requests takes about that much.
const LONGEST: usize = 60_000;
/// How many things of a kind are listed: as many as make a page that is not too long.
const MOST_LISTED: [usize; 4] = [20, 5, 1, 0];
/// How much of a hash is shown.
const SHOWN_OF_HASH: usize = 12;

/// The whole page.
pub fn page(told: &Told) -> String {
    let mut page = String::new();
    for most in MOST_LISTED {
        page = Page {
            told,
            most,
            out: String::new(),
        }
        .written();
        if page.len() <= LONGEST {
            break;
        }
    }
    page
}

struct Page<'t> {
    told: &'t Told,
    most: usize,
    out: String,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.line(text);
        self.out.push('\n');
    }

    fn written(mut self) -> String {
        self.head();
        self.table();
        self.basis();
        if self.most > 0 {
            for row in self.told.story.rows.values() {
                self.details(row);
            }
        }
        self.sections();
        self.foot();
        self.out
    }

    fn head(&mut self) {
        let Told {
            run,
            memory,
            story,
            millis,
            ..
        } = self.told;
        let start = &memory.start;
        self.paragraph(&format!(
            "# Task {}: {}",
            inline(&start.task_id),
            inline(&start.task_title)
        ));
        let progress = view::progress(run);
        self.paragraph(&format!(
            "**{}** · {} of {} done · {} on {} · {}",
            run.status.name(),
            progress.completed.len(),
            texts::counted(progress.total as u64, "subtask"),
            texts::counted(story.commits.len() as u64, "commit"),
            code(&start.branch),
            spoken(*millis)
        ));
        if let Some(reason) = &run.end_reason {
            self.paragraph(&format!("Ended because: {}", inline(reason)));
        }
    }

    fn table(&mut self) {
        self.line("| Subtask | RED | GREEN | Evidence | Attempts | Coverage | Time | Commit |");
        self.line("|---|---|---|---|---|---|---|---|");
        for row in self.told.story.rows.values() {
            let commit = match (&row.commit, row.status.as_str()) {
                (Some(sha), _) => hash(sha),
                (None, "failed") => "given up".to_owned(),
                (None, "open") => "not run".to_owned(),
                (None, _) => "–".to_owned(),
            };
            let cells = [
                format!("{} {}", inline(&row.id), inline(&row.title)),
                tests(row.red.as_ref()),
                tests(row.green.as_ref()),
                levels(row),
                match row.reports {
                    0 => "–".to_owned(),
                    reports => reports.to_string(),
                },
                coverage(row.coverage()),
                spoken(row.duration_ms),
                commit,
            ];
            self.line(&format!("| {} |", cells.join(" | ")));
        }
        self.out.push('\n');
    }

    /// What the numbers rest on.
    fn basis(&mut self) {
        let story = &self.told.story;
        if let Some(suite) = &story.suite {
            let mut line = format!("Final suite: {}", tests(Some(suite)));
            if suite.coverage.is_some() {
                let _ = write!(line, "; coverage {}", coverage(suite.coverage.as_ref()));
            }
            let resting = self.resting_on(suite);
            if !resting.is_empty() {
                let _ = write!(line, "; {}", resting.join("; "));
            }
            line.push('.');
            self.paragraph(&line);
        }
        if let Some(baseline) = &story.baseline {
            self.paragraph(&format!(
                "Before the run: {} ({}).",
                tests(Some(baseline)),
                level_name(baseline.level)
            ));
        }
        let basis = story.basis();
        self.paragraph(&basis.spoken(&|level| format!("**{level}**")));
    }

    /// What a subtask rests on, and its tests by name; nothing where there are only numbers that the table has.
    fn details(&mut self, row: &Row) {
        let told = row
            .phases()
            .any(|phase| phase.level != Level::Claimed || phase.in_clean_tree.is_some());
        if !told {
            return;
        }
        let turned = row.green.as_ref().map_or(0, |green| green.turned.len());
        let mut summary = html(&format!("{} {}", row.id, row.title));
        match turned {
            _ if row.red.is_none() => {}
            0 => {}
            1 => summary.push_str(": 1 test failed in RED, and passes now"),
            many => {
                let _ = write!(summary, ": {many} tests failed in RED, and pass now");
            }
        }
        self.line("<details>");
        self.paragraph(&format!("<summary>{summary}</summary>"));
        for (name, phase) in [("RED", &row.red), ("GREEN", &row.green)] {
            let Some(phase) = phase else {
                continue;
            };
            let mut line = format!(
                "- {name}, {}: {}",
                level_name(phase.level),
                tests(Some(phase))
            );
            for part in self.resting_on(phase) {
                let _ = write!(line, "; {part}");
            }
            self.line(&line);
        }
        if let Some(tree) = &row.tree {
            self.line(&format!("- tree that was tested: {}", hash(tree)));
        }
        if row.handed_in {
            self.line("- the commit was made by the executor, and handed in");
        }
        self.out.push('\n');
        self.tests_by_name(row);
        self.paragraph("</details>");
    }

    fn tests_by_name(&mut self, row: &Row) {
        let none = Vec::new();
        let (turned, added) = match &row.green {
            Some(green) => (&green.turned, &green.added),
            None => (&none, &none),
        };
        let red = row.red.as_ref();
        let turned_set: BTreeSet<&str> = turned.iter().map(String::as_str).collect();
        let rest: Vec<&str> = red
            .iter()
            .flat_map(|red| &red.newly_failing)
            .map(String::as_str)
            .filter(|name| !turned_set.contains(name))
            .collect();
        let was = match red {
            Some(_) => "Failed in RED, pass in GREEN:",
            None => "Failed in the full suite, pass in GREEN:",
        };
        self.names(was, turned);
        // The name of a file or package that could not be built in RED is not that of a test.
        self.names("Failed in RED:", &rest);
        self.names("Pass in GREEN, and did not before:", added);
    }

    /// A list of tests. Their names are as their runner has them.
    fn names<S: AsRef<str>>(&mut self, title: &str, names: &[S]) {
        if names.is_empty() {
            return;
        }
        self.paragraph(title);
        self.list(names, |shown| name(shown.as_ref()));
    }

    /// Where the numbers of a phase come from.
    fn resting_on(&self, phase: &Phase) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(ran) = &phase.verified {
            parts.push(format!(
                "{} ended with status {} after {}, output {}",
                code(&ran.command),
                ran.status,
                spoken(ran.duration_ms),
                hash(&ran.output_sha256)
            ));
        }
        let format = phase
            .format
            .as_deref()
            .map_or_else(String::new, |format| format!(" ({})", inline(format)));
        let reports = phase.reports.len().min(self.most.min(3));
        for (at, report) in phase.reports.iter().take(reports).enumerate() {
            let format = if at == 0 { format.as_str() } else { "" };
            parts.push(format!(
                "report {}{format} {}",
                code(&self.place(&report.path)),
                hash(&report.sha256)
            ));
        }
        match phase.reports.len() - reports {
            0 => {}
            more if reports == 0 => parts.push(texts::counted(more as u64, "report")),
            more => parts.push(format!("{more} more reports")),
        }
        if let Some(report) = &phase.coverage_report {
            parts.push(format!(
                "coverage from {} {}",
                code(&self.place(&report.path)),
                hash(&report.sha256)
            ));
        }
        if let Some(ran) = &phase.in_clean_tree {
            parts.push(format!(
                "the same in a fresh checkout, output {}",
                hash(&ran.output_sha256)
            ));
        }
        parts
    }

    /// A file, as those who have the repository know it; of others they need not know where they lay.
    fn place(&self, path: &Path) -> String {
        let root = &self.told.memory.start.project_root;
        path.strip_prefix(root)
            .ok()
            .or_else(|| path.file_name().map(Path::new))
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// What did not go straight.
    fn sections(&mut self) {
        let Told {
            run,
            memory,
            story,
            refused,
            owed,
            ..
        } = self.told;
        let start = &memory.start;
        self.section("Suites that failed", &story.failed_suites, |suite| {
            let names: Vec<String> = suite.failing.iter().take(3).map(|one| name(one)).collect();
            let which = match (names.len(), suite.failing.len()) {
                (0, _) => String::new(),
                (shown, all) if shown < all => format!(" ({} and others)", names.join(", ")),
                _ => format!(" ({})", names.join(", ")),
            };
            format!("{}{which}; a repair was opened", tests(Some(suite)))
        });
        self.section("Refused on the way", &refused.listed, |value| {
            format!(
                "{}: {} – {}",
                coded(value, "unit"),
                coded(value, "code"),
                text(value, "message")
            )
        });
        self.section("Reopened", &story.reopened, |value| {
            format!(
                "{} from {} to {}: {}",
                text(value, "subtaskId"),
                text(value, "from"),
                text(value, "to"),
                text(value, "reason")
            )
        });
        self.section("Given up", &story.skipped, |value| {
            format!(
                "{} in {}: {}",
                text(value, "subtaskId"),
                text(value, "from"),
                text(value, "reason")
            )
        });
        self.section("Let pass by a person", &story.allowed, |value| {
            format!(
                "{} for {} by {} ({}): {}",
                coded(value, "code"),
                coded(value, "unit"),
                text(value, "by"),
                by_way_of(&text(value, "strength"), &text(value, "how")),
                text(value, "reason")
            )
        });
        self.section("Gone on by a person's word", &story.approvals, |value| {
            let reason = text(value, "reason");
            let said = if reason.is_empty() { "" } else { ": " };
            format!(
                "{} after {} by {} ({}){said}{reason}",
                text(value, "turn"),
                coded(value, "stopped"),
                text(value, "by"),
                by_way_of(&text(value, "strength"), &text(value, "how")),
            )
        });
        self.tests_to_mind();
        // That tests pass in RED besides those that fail, the table says.
        let warnings: Vec<&Value> = story
            .warnings
            .iter()
            .filter(|warning| warning.get("code") != Some(&"red_has_passing_tests".into()))
            .collect();
        self.section("Warnings", &warnings, |value| {
            format!("{}: {}", coded(value, "unit"), text(value, "message"))
        });
        self.section("Pauses", &story.pauses, |value| {
            format!("{} at {}", text(value, "reason"), text(value, "at"))
        });
        self.section("Effects that failed", &story.failed_effects, |value| {
            format!(
                "{}: {} – {}",
                coded(value, "effect"),
                coded(value, "code"),
                text(value, "message")
            )
        });
        let not_run: Vec<String> = view::progress(run)
            .remaining
            .into_iter()
            .chain(start.left_out.iter().cloned())
            .collect();
        self.section("Not run", &not_run, |id| inline(id));
        for (what, ids) in [
            ("Done before the run", &start.skipped),
            ("Done, but not yet written into the task file", owed),
        ] {
            if !ids.is_empty() {
                self.paragraph(&format!("{what}: {}.", inline(&ids.join(", "))));
            }
        }
    }

    /// Tests that are not as tests should be.
    fn tests_to_mind(&mut self) {
        let story = &self.told.story;
        // What fails now: an earlier one of them may have been mended on the way.
        let known: Vec<&str> = story
            .phases()
            .rev()
            .find(|phase| phase.format.is_some())
            .map(|phase| phase.known_failing.iter().map(String::as_str).collect())
            .unwrap_or_default();
        let all = |of: fn(&Phase) -> &Vec<String>| -> Vec<&str> {
            let names: BTreeSet<&str> = story.phases().flat_map(of).map(String::as_str).collect();
            names.into_iter().collect()
        };
        let flaky = all(|phase| &phase.flaky);
        let removed = all(|phase| &phase.removed);
        for (title, names) in [
            ("Tests that failed before the work and still do", &known),
            ("Tests that passed only when tried again", &flaky),
        ] {
            // A line of the journal holds no more of them.
            let title = match names.len() {
                MOST_NAMED.. => format!("{title}, among others"),
                _ => title.to_owned(),
            };
            self.section(&title, names, |id| name(id));
        }
        self.section("Tests that were taken out", &removed, |id| name(id));
    }

    fn section<T>(&mut self, title: &str, rows: &[T], line: impl Fn(&T) -> String) {
        if rows.is_empty() {
            return;
        }
        self.paragraph(&format!("## {title}"));
        self.list(rows, line);
    }

    /// The first of them, and how many more there are.
    fn list<T>(&mut self, rows: &[T], line: impl Fn(&T) -> String) {
        let most = self.most.max(1);
        for row in rows.iter().take(most) {
            self.line(&format!("- {}", line(row)));
        }
        if let Some(more) = rows.len().checked_sub(most)
            && more > 0
        {
            self.line(&format!("- and {more} more"));
        }
        self.out.push('\n');
    }

    fn foot(&mut self) {
        let Told {
            run, memory, story, ..
        } = self.told;
        let start = &memory.start;
        self.line(&format!(
            "Run {}, begun {}; the test command is {}.",
            code(&run.run),
            run.started_at,
            code(&start.test_command)
        ));
        if let Some(last) = story.commits.last() {
            let range = format!("{}..{}", short(&start.head), short(last));
            self.out.push('\n');
            self.line(&format!(
                "To check that each commit was earned: `tm verify {range}`, where the journal of the run is at hand, its bundle (`tm runs export`), or its git notes."
            ));
        }
        if !run.status.is_over() {
            self.out.push('\n');
            self.line("The run goes on: this is how it stood when the report was made.");
        }
    }
}

/// The numbers of a phase: what is not as it should be comes first.
fn tests(phase: Option<&Phase>) -> String {
    let Some(phase) = phase else {
        return "–".to_owned();
    };
    let mut parts: Vec<String> = [
        (phase.failed, "failed"),
        (phase.errors, "not built"),
        (phase.passed, "passed"),
        (phase.skipped, "skipped"),
    ]
    .into_iter()
    .filter(|(many, what)| *many > 0 || (*what == "passed" && phase.failing_number() == 0))
    .map(|(many, what)| format!("{many} {what}"))
    .collect();
    match phase.known_failing.len() {
        0 => {}
        known if known < MOST_NAMED => parts.push(format!("{known} known to fail")),
        known => parts.push(format!("at least {known} known to fail")),
    }
    parts.join(", ")
}

/// The levels of what stands behind a subtask.
fn levels(row: &Row) -> String {
    match (&row.red, &row.green) {
        (None, None) => "–".to_owned(),
        (Some(red), Some(green)) if red.level != green.level => format!(
            "RED {}, GREEN {}",
            level_name(red.level),
            level_name(green.level)
        ),
        (Some(phase), _) | (None, Some(phase)) => level_name(phase.level).to_owned(),
    }
}

fn coverage(value: Option<&Value>) -> String {
    value
        .and_then(|coverage| coverage.get("lines"))
        .and_then(Value::as_f64)
        .map_or_else(|| "–".to_owned(), |lines| format!("{lines}%"))
}

/// The beginning of a hash: enough to know it by.
fn short(hash: &str) -> &str {
    hash.get(..SHOWN_OF_HASH).unwrap_or(hash)
}

fn hash(hash: &str) -> String {
    code(short(hash))
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => inline(text),
        Some(Value::Null) | None => "–".to_owned(),
        Some(other) => inline(&other.to_string()),
    }
}

/// A code, in a code span.
fn coded(value: &Value, key: &str) -> String {
    code(value.get(key).and_then(Value::as_str).unwrap_or("–"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rails::RunState;
    use serde_json::json;

    use super::super::super::memory::{Memory, StartFacts};
    use super::super::{Refused, Story};
    use super::*;

    fn phase(level: &str, names: usize) -> Phase {
        let name = |at| format!("suite {at} {}", "long ".repeat(40));
        let facts = json!({ "passed": 1, "failed": 1, "format": "tap" });
        Phase {
            newly_failing: (0..names).map(name).collect(),
            ..Phase::of_facts(facts.as_object().unwrap(), level)
        }
    }

    fn told(rows: usize, names: usize) -> Told {
        let mut story = Story::default();
        for at in 0..rows {
            let row = Row {
                id: format!("1.{at}"),
                title: "A | title of <others>".to_owned(),
                red: Some(phase("reported", names)),
                ..Row::default()
            };
            story.rows.insert(row.id.clone(), row);
        }
        Told {
            run: RunState::default(),
            memory: Memory {
                start: StartFacts::default(),
                dirty: BTreeMap::new(),
                last_commit: String::new(),
                reports: Vec::new(),
            },
            story,
            refused: Refused::default(),
            owed: Vec::new(),
            millis: 0,
        }
    }

    #[test]
    fn a_page_stays_as_short_as_places_for_pull_requests_take_it() {
        for (rows, listed) in [(1, 20), (40, 5), (100, 1)] {
            let page = page(&told(rows, 500));
            assert!(page.len() <= LONGEST, "{rows}: {}", page.len());
            let first = page.split("</details>").next().unwrap();
            assert_eq!(first.matches("- `suite ").count(), listed, "{first}");
            let more = format!("- and {} more", 500 - listed);
            assert!(first.contains(&more), "{first}");
            assert_eq!(page.matches("<details>").count(), rows);
            assert_eq!(page.matches("\n</details>\n").count(), rows);
        }
    }

    #[test]
    fn what_is_only_claimed_has_no_details() {
        let mut told = told(1, 0);
        told.story.rows[0].red = Some(phase("claimed", 0));
        let page = page(&told);
        assert!(!page.contains("<details>"), "{page}");
        assert!(page.contains(r"A \| title of \<others\>"), "{page}");
    }
}
