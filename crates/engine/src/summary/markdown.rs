//! The summary as people read it: the description of a pull request, say.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use machine::definition::STATUS;

use crate::action::status;
use crate::capability::TASKS;
use crate::capability::memory::{ADOPTED, LAST_COMMIT};
use crate::capability::tests::evidence::level_name;
use crate::capability::tests::read::MOST_NAMED;
use crate::clock::spoken;
use crate::summary::Account;
use crate::summary::escape::{code, inline, name};
use crate::summary::phase::Phase;
use crate::summary::tested::{coverage, levels, tests};
use crate::summary::timeline::{self, by_way_of};

/// How long a page may be, in bytes: a place for pull requests takes about that much.
pub(super) const LONGEST: usize = 60_000;
/// How many things of a kind are listed: as many as make a page that is not too long.
const MOST_LISTED: [usize; 4] = [20, 5, 1, 0];
/// How much of a hash is shown.
const SHOWN_OF_HASH: usize = 12;

/// The whole page: as much of it as `longest` bytes hold.
pub fn page(account: &Account, longest: usize) -> String {
    let mut page = String::new();
    for most in MOST_LISTED {
        page = Page {
            account,
            most,
            out: String::new(),
        }
        .written();
        if page.len() <= longest {
            break;
        }
    }
    page
}

pub(super) struct Page<'t> {
    pub(super) account: &'t Account,
    pub(super) most: usize,
    pub(super) out: String,
}

impl Page<'_> {
    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.line(text);
        self.out.push('\n');
    }

    fn written(mut self) -> String {
        self.head();
        self.given();
        if self.account.task.is_some() || !self.account.story.rows.is_empty() {
            self.table();
        }
        self.basis();
        if self.most > 0 {
            for row in self.account.story.rows.values() {
                self.details(row);
            }
        }
        self.items();
        self.happened();
        self.sections();
        self.foot();
        self.out
    }

    fn head(&mut self) {
        let Account {
            run,
            definition,
            task,
            story,
            refused,
            millis,
            ..
        } = self.account;
        let (title, far) = if let Some(memory) = task {
            let start = &memory.start;
            let progress = status::progress(run);
            let far = format!(
                "{} of {} done · {} on {}",
                progress.completed.len(),
                text::counted(progress.total, "subtask"),
                text::counted(story.commits.len(), "commit"),
                code(&start.branch),
            );
            let (id, title) = (inline(&start.task_id), inline(&start.task_title));
            (format!("Task {id}: {title}"), far)
        } else {
            let far = format!(
                "{} accepted, {} sent back, {} refused",
                text::counted(story.verdicts("accepted"), "report"),
                story.verdicts("retried") + story.rejections(),
                refused.number
            );
            (inline(&definition.title), far)
        };
        self.paragraph(&format!("# {title}"));
        let (status, took) = (run.status.name(), spoken(*millis));
        self.paragraph(&format!("**{status}** · {far} · {took}"));
        if let Some(reason) = &run.end_reason {
            self.paragraph(&format!("Ended because: {}", inline(reason)));
        }
    }

    /// What the run was given, but for its task, and what it holds.
    fn given(&mut self) {
        let Account {
            run, definition, ..
        } = self.account;
        let of_task = |name: &str| {
            let bound = ["id", "attempts"].map(|of| definition.bound_input(TASKS, of));
            bound.contains(&Some(name))
        };
        let inputs: Vec<_> = run
            .inputs
            .iter()
            .filter(|(name, value)| !of_task(name) && says_something(value))
            .collect();
        let line = |(name, value): &(&String, &Value)| format!("{}: {}", inline(name), cell(value));
        self.section("Inputs", &inputs, line);
        let values: Vec<_> = run
            .vars
            .iter()
            .filter(|(_, value)| says_something(value))
            .collect();
        self.section("Values", &values, line);
    }

    /// The items of the sets that the table does not show.
    fn items(&mut self) {
        let Account {
            run,
            definition,
            task,
            ..
        } = self.account;
        let shown = task.as_ref().map(|memory| memory.start.items.as_str());
        for (name, set) in &run.sets {
            if shown == Some(name) {
                continue;
            }
            let blocked = run.blocked(definition, name);
            let rows: Vec<_> = set.iter().zip(blocked).collect();
            let title = format!("Items of {}", code(name));
            self.section(&title, &rows, |((key, item), blocked)| {
                let title = match inline(item.text("title")) {
                    title if title.is_empty() => title,
                    title => format!(" ({title})"),
                };
                let status = match item.text(STATUS) {
                    _ if *blocked => "not run".to_owned(),
                    "" => cell(&serde_json::to_value(item.status).unwrap_or_default()),
                    named => inline(&named.replace('_', " ")),
                };
                format!("{}{title}: {status}", inline(key))
            });
        }
    }

    /// What happened beside what the table tells, where that is more than the way from one state to the next.
    fn happened(&mut self) {
        let Account { story, task, .. } = self.account;
        let in_table =
            |step: &&Value| timeline::is_in_the_table(step, |item| story.rows.contains_key(item));
        if task.is_some() && !story.steps.iter().any(timeline::is_told_only_here) {
            return;
        }
        let steps = story.steps.iter();
        let steps: Vec<&Value> = steps
            .filter(|step| timeline::has_line(step) && !in_table(step))
            .collect();
        if steps.is_empty() {
            return;
        }
        self.paragraph("## What happened");
        // How it began and how it ended say most.
        let most = self.most.max(1);
        let between = steps.len().saturating_sub(2 * most);
        let (begin, rest) = steps.split_at(most.min(steps.len()));
        let left_out = (between > 0).then(|| format!("and {between} more between these"));
        let lines = |steps: &[&Value]| -> Vec<String> {
            let lines = steps.iter().filter_map(|step| timeline::line(step));
            lines.collect()
        };
        let (begin, rest) = (lines(begin), lines(&rest[between..]));
        for line in begin.iter().chain(&left_out).chain(&rest) {
            self.line(&format!("- {line}"));
        }
        self.out.push('\n');
    }

    fn table(&mut self) {
        self.line("| Subtask | RED | GREEN | Evidence | Attempts | Coverage | Time | Commit |");
        self.line("|---|---|---|---|---|---|---|---|");
        for row in self.account.story.rows.values() {
            let commit = match (&row.commit, row.status.as_str()) {
                (Some(sha), _) => hash(sha),
                (None, "failed") => "skipped".to_owned(),
                (None, "open") => "not run".to_owned(),
                (None, _) => "–".to_owned(),
            };
            let cells = [
                match &*row.kind {
                    "" | "tdd" => format!("{} {}", inline(&row.id), inline(&row.title)),
                    kind => format!(
                        "{} {} ({})",
                        inline(&row.id),
                        inline(&row.title),
                        inline(kind)
                    ),
                },
                tests(row.red.as_ref()),
                tests(row.green.as_ref()),
                levels(row),
                match row.reports {
                    0 => "–".to_owned(),
                    reports => reports.to_string(),
                },
                coverage(row.coverage()),
                match row.duration_ms {
                    0 => "–".to_owned(),
                    millis => spoken(millis),
                },
                commit,
            ];
            self.line(&format!("| {} |", cells.join(" | ")));
        }
        self.out.push('\n');
    }

    /// What the numbers rest on.
    fn basis(&mut self) {
        let story = &self.account.story;
        if self.account.task.is_none() && story.phases().next().is_none() {
            self.paragraph(
                "What reports say is claimed by whoever reported; nothing of it was measured.",
            );
            return;
        }
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

    /// What did not go straight.
    fn sections(&mut self) {
        let Account {
            story,
            refused,
            owed,
            weaker,
            ..
        } = self.account;
        let weaker: Vec<_> = weaker.iter().collect();
        self.section(
            "Policies that let more pass than by default",
            &weaker,
            |(code, severity)| format!("`{code}`: {}", severity.name()),
        );
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
            let way = match value.get("from") {
                Some(_) => format!(" from {} to {}", text(value, "from"), text(value, "to")),
                None => String::new(),
            };
            format!("{}{way}{}", turned(value), why(value))
        });
        let adopted = ADOPTED.value(&self.account.run.kept);
        let adopted = adopted
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        self.section("Taken as it was", adopted, |value| {
            let listed = |key: &str, name: &str| {
                let all = value[key].as_array().into_iter().flatten();
                let all: Vec<String> = all.filter_map(|one| Some(inline(one.as_str()?))).collect();
                match all.as_slice() {
                    [] => String::new(),
                    all => format!("; {name}: {}", text::listed(all.iter())),
                }
            };
            let [from, to] = ["from", "to"].map(|key| code(short(&text(value, key))));
            let (came, lost) = (listed("came", "came"), listed("lost", "done again"));
            format!("the branch at {to}, which the run had left at {from}{came}{lost}")
        });
        // Where what was there is now: of the last ones most of all.
        let newest_first: Vec<_> = story.rewound.iter().rev().collect();
        self.section("Taken back", &newest_first, |value| {
            let commits = value["commits"].as_array().into_iter().flatten();
            let commits: Vec<String> = commits
                .filter_map(|commit| Some(inline(commit.as_str()?)))
                .collect();
            let gone = match commits.as_slice() {
                [] => String::new(),
                commits => format!("; without {}", commits.join(", ")),
            };
            let kept = match value["keptAs"].as_str() {
                Some(_) => format!("; kept as {}", coded(value, "keptAs")),
                None => String::new(),
            };
            format!("to {}{}{gone}{kept}", text(value, "label"), why(value))
        });
        self.section("Skipped", &story.skipped, |value| {
            let place = match value.get("from") {
                Some(_) => format!(" in {}", text(value, "from")),
                None => String::new(),
            };
            format!("{}{place}: {}", turned(value), text(value, "reason"))
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
        self.section("By a person's word", &story.approvals, |value| {
            let reason = text(value, "reason");
            let said = if reason.is_empty() { "" } else { ": " };
            format!(
                "{} by {} ({}){said}{reason}",
                timeline::turn_after(value, &coded(value, "stopped")),
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
        if let Some(memory) = &self.account.task {
            let start = &memory.start;
            let not_run: Vec<String> = status::progress(&self.account.run)
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
    }

    /// Tests that are not as tests should be.
    fn tests_to_mind(&mut self) {
        let story = &self.account.story;
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
        let snapshots = all(|phase| &phase.snapshots);
        self.section("Tests that were taken out", &removed, |id| name(id));
        self.section("Snapshots that were written", &snapshots, |at| name(at));
    }

    fn section<T>(&mut self, title: &str, rows: &[T], line: impl Fn(&T) -> String) {
        if rows.is_empty() {
            return;
        }
        self.paragraph(&format!("## {title}"));
        self.list(rows, line);
    }

    /// The first of them, and how many more there are.
    pub(super) fn list<T>(&mut self, rows: &[T], line: impl Fn(&T) -> String) {
        let most = self.most.max(1);
        let lines: Vec<String> = rows.iter().take(most).map(line).collect();
        for same in lines.chunk_by(|a, b| a == b) {
            let times = match same.len() {
                1 => String::new(),
                more => format!(" ({more} times)"),
            };
            self.line(&format!("- {}{times}", same[0]));
        }
        if let Some(more) = rows.len().checked_sub(most)
            && more > 0
        {
            self.line(&format!("- and {more} more"));
        }
        self.out.push('\n');
    }

    fn foot(&mut self) {
        let Account {
            run, task, story, ..
        } = self.account;
        let tests = task.as_ref().map_or_else(String::new, |memory| {
            let command = code(&memory.start.test_command);
            format!("; the test command is {command}")
        });
        self.line(&format!(
            "Run {} of {}, begun {}{tests}.",
            code(&run.run),
            code(&run.workflow),
            run.started_at
        ));
        if let (Some(last), Some(memory)) = (story.commits.last(), task) {
            // Behind the commit that it began on there are others by now that it did not make.
            let moved = ADOPTED.is_in(&run.kept);
            let branch = memory.start.base_branch();
            let base = branch.filter(|base| moved && *base != memory.start.branch);
            let base = base.unwrap_or(short(&memory.start.head));
            let last = LAST_COMMIT.text(&run.kept).unwrap_or(last);
            let check = code(&format!("tm verify {base}..{}", short(last)));
            self.out.push('\n');
            self.line(&format!(
                "To check that each commit was earned: {check}, where the journal of the run is at hand, its bundle (`tm runs export`), or its git notes."
            ));
        }
        if !run.status.is_over() {
            self.out.push('\n');
            self.line("The run is not over: this is how it stood when the report was made.");
        }
    }
}

/// The beginning of a hash: enough to know it by.
fn short(hash: &str) -> &str {
    hash.get(..SHOWN_OF_HASH).unwrap_or(hash)
}

/// The reason that somebody gave, behind what they did.
fn why(value: &Value) -> String {
    match value["reason"].as_str() {
        None | Some("") => String::new(),
        Some(_) => format!(": {}", text(value, "reason")),
    }
}

/// What was reopened or skipped: a subtask, or an item of a set that is named.
fn turned(value: &Value) -> String {
    let kind = match value.get("type") {
        Some(_) => format!(", now {},", text(value, "type")),
        None => String::new(),
    };
    let set = match value.get("set") {
        Some(_) => format!(" of {}", text(value, "set")),
        None => String::new(),
    };
    format!("{}{set}{kind}", text(value, "subtaskId"))
}

pub(super) fn hash(hash: &str) -> String {
    code(short(hash))
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => inline(text),
        Some(Value::Null) | None => "–".to_owned(),
        Some(other) => inline(&other.to_string()),
    }
}

/// Whether a value is more than what it most likely began as.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
    }
}

/// A value as it was given.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "–".to_owned(),
        Value::String(text) => inline(text),
        Value::Array(all) => all.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => inline(&other.to_string()),
    }
}

/// A code, in a code span.
pub(super) fn coded(value: &Value, key: &str) -> String {
    code(value.get(key).and_then(Value::as_str).unwrap_or("–"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use std::sync::Arc;

    use machine::{Definition, RunState};
    use serde_json::json;

    use super::*;
    use crate::capability::memory::{Memory, StartFacts};
    use crate::summary::{Refused, Row, Story};

    fn phase(level: &str, names: usize) -> Phase {
        let name = |at| format!("suite {at} {}", "long ".repeat(40));
        let facts = json!({ "passed": 1, "failed": 1, "format": "tap" });
        Phase {
            newly_failing: (0..names).map(name).collect(),
            ..Phase::of_facts(facts.as_object().unwrap(), level)
        }
    }

    fn definition() -> Arc<Definition> {
        let text =
            "tramline: 1\nid: t\ntitle: T\ninitial: a\nstates: { a: { final: completed } }\n";
        Arc::new(Definition::parse(text).unwrap())
    }

    fn told(rows: usize, names: usize) -> Account {
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
        Account {
            run: RunState::default(),
            definition: definition(),
            task: Some(Memory {
                start: StartFacts::default(),
                dirty: BTreeMap::new(),
                last_commit: String::new(),
                reports: Vec::new(),
            }),
            story,
            refused: Refused::default(),
            owed: Vec::new(),
            weaker: BTreeMap::new(),
            millis: 0,
        }
    }

    #[test]
    fn a_page_stays_as_short_as_places_for_pull_requests_take_it() {
        for (rows, listed) in [(1, 20), (40, 5), (100, 1)] {
            let page = page(&told(rows, 500), LONGEST);
            assert!(page.len() <= LONGEST, "{rows}: {}", page.len());
            let first = page.split("</details>").next().unwrap();
            assert_eq!(first.matches("- `suite ").count(), listed, "{first}");
            let more = format!("- and {} more", 500 - listed);
            assert!(first.contains(&more), "{first}");
            assert_eq!(page.matches("<details>").count(), rows);
            assert_eq!(page.matches("\n</details>\n").count(), rows);
            assert!(page.contains(r"A \| title of \<others\>"), "{page}");
        }
    }
}
