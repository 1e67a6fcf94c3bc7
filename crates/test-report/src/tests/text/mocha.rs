//! What mocha prints.

use std::collections::HashMap;

use super::script::{Counted, Names, number_of, only_one, without_time};
use crate::limits::LONGEST_ID;
use crate::tests::builder::{Builder, cut};
use crate::tests::json::mocha::{OUTSIDE, file_that_asked, is_hook};
use crate::tests::thrown::{base_name, is_assertion};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// A failure of the list at the end.
struct ListedFailure {
    /// The titles of the suites, and of the test.
    titles: Vec<String>,
    error: String,
}

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let mut builder = Builder::new(TestFormat::MochaText);
    let Some(at) = only_one(&summaries(&lines))? else {
        let Some(at) = lines.iter().position(|line| is_exception(line)) else {
            let message = "there is no summary (`… passing`) at its end";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        // Mocha loads every file before the first test: there is nothing else.
        let told = lines[at].split_once("Exception during run: ");
        let message = told.map_or(lines[at], |(_, error)| error);
        let file = lines[at..].iter().find_map(|line| file_that_asked(line));
        let id = file.map_or("exception during run", base_name);
        builder.test(id, Outcome::NotCollected, Some(message), file)?;
        return builder.finish();
    };
    let (counted, end) = counted(&lines, at)?;
    let told = told(&lines[end..]);
    Builder::agree("failures", counted.failed, told.len() as u64)?;
    let mut names = Names::default();
    let mut failures: HashMap<usize, &ListedFailure> = HashMap::new();
    for (number, told) in told.iter().enumerate() {
        names.failure(told.id(), told.outcome(), &told.error, None);
        failures.insert(number + 1, told);
    }
    tree(&lines[..at], &failures, &mut names);
    names.give(&mut builder, counted)?;
    builder.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    summaries(&lines).len() + lines.iter().filter(|line| is_exception(line)).count()
}

fn is_exception(line: &str) -> bool {
    line.trim_start().starts_with("Exception during run: ")
}

/// Where `  5 passing (12ms)` stands behind an empty line.
fn summaries(lines: &[&str]) -> Vec<usize> {
    let is = |line: &str| {
        let passing = line
            .strip_prefix("  ")
            .and_then(|line| line.split_once(' '));
        passing.is_some_and(|(number, rest)| {
            number.parse::<u64>().is_ok() && rest.starts_with("passing (") && rest.ends_with(')')
        })
    };
    let at = lines.iter().enumerate().filter(|(_, line)| is(line));
    at.filter(|(at, _)| *at == 0 || lines[at - 1].trim().is_empty())
        .map(|(at, _)| at)
        .collect()
}

/// The numbers of the summary, and where it ends.
fn counted(lines: &[&str], at: usize) -> Result<(Counted, usize), Unreadable> {
    let mut counted = Counted::default();
    let mut end = at;
    while let Some(line) = lines.get(end).filter(|line| !line.is_empty()) {
        let Ok((number, what)) = number_of(line) else {
            break;
        };
        match what {
            _ if what.starts_with("passing (") => counted.passed = number,
            "pending" => counted.skipped = number,
            "failing" => counted.failed = number,
            _ => {
                let message = format!("its summary has {what:?}, which is not known");
                return Err(Unreadable::new(Kind::Malformed, message));
            }
        }
        end += 1;
    }
    // What follows the last number is an empty line, or the text was cut off.
    if lines.get(end).is_none_or(|line| !line.is_empty()) {
        let message = "it ends within its summary";
        return Err(Unreadable::new(Kind::Truncated, message));
    }
    Ok((counted, end))
}

/// `  3) cart`, by its number.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.trim_start().split_once(") ")?;
    Some((number.parse().ok()?, rest))
}

/// The failures in the list at the end, by their numbers.
fn told(lines: &[&str]) -> Vec<ListedFailure> {
    let mut found: Vec<ListedFailure> = Vec::new();
    let mut in_titles = false;
    for line in lines {
        let begins =
            numbered(line).filter(|(number, _)| *number == found.len() + 1 && indent(line) <= 2);
        if let Some((_, title)) = begins {
            let (title, ends) = title
                .strip_suffix(':')
                .map_or((title, false), |t| (t, true));
            found.push(ListedFailure {
                titles: vec![title.to_owned()],
                error: String::new(),
            });
            in_titles = !ends;
        } else if let Some(told) = found.last_mut() {
            if in_titles && !line.trim().is_empty() {
                let (title, ends) = line.strip_suffix(':').map_or((*line, false), |t| (t, true));
                told.titles.push(title.trim().to_owned());
                in_titles = !ends;
                continue;
            }
            in_titles = false;
            if told.error.len() < crate::limits::LONGEST_MESSAGE {
                told.error.push_str(line.trim());
                told.error.push('\n');
            }
        }
    }
    found
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

impl ListedFailure {
    /// Whether it is none of a test.
    fn is_outside(&self) -> bool {
        self.titles == [OUTSIDE]
    }

    fn id(&self) -> String {
        let unloaded = file_that_asked(&self.error).filter(|_| self.is_outside());
        unloaded.map_or_else(
            || self.titles.join(" > "),
            |file| base_name(file).to_owned(),
        )
    }

    fn outcome(&self) -> Outcome {
        let hook = self.titles.last().is_some_and(|title| is_hook(title));
        if hook || self.is_outside() {
            return Outcome::NotCollected;
        }
        if is_assertion(&self.error) {
            Outcome::Failed
        } else {
            Outcome::Error
        }
    }
}

/// The tree of suites and tests before the summary.
fn tree(lines: &[&str], failures: &HashMap<usize, &ListedFailure>, names: &mut Names) {
    let mut suites: Vec<(usize, &str)> = Vec::new();
    for line in lines {
        let text = line.trim_start();
        let indent = indent(line);
        if text.is_empty() || indent < 2 {
            continue;
        }
        suites.retain(|(at, _)| *at < indent);
        let id = |title: &str| {
            let suites = suites.iter().map(|(_, title)| *title);
            suites.chain([title]).collect::<Vec<_>>().join(" > ")
        };
        if let Some(title) = ["✔ ", "✓ "].iter().find_map(|mark| text.strip_prefix(mark)) {
            names.every(id(without_time(title)), Outcome::Passed, None, None);
        } else if let Some((number, title)) = numbered(text)
            && let Some(told) = failures.get(&number)
        {
            let id = if told.is_outside() {
                told.id()
            } else {
                id(title)
            };
            names.every(id, told.outcome(), Some(&told.error), None);
        } else if let Some(title) = text.strip_prefix("- ") {
            names.every(id(title), Outcome::Skipped, None, None);
        } else {
            suites.push((indent, cut(text, LONGEST_ID)));
        }
    }
}
