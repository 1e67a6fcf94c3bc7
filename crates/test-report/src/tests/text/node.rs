//! What `node --test` prints.

use std::collections::{HashMap, VecDeque};

use super::script::{number_of, only_one};
use crate::limits::LONGEST_ID;
use crate::tests::builder::{Builder, cut};
use crate::tests::thrown::{is_assertion, is_script, without_checkout};
use crate::tests::{Outcome, TestFormat, TestReport};
use crate::unreadable::{Kind, Unreadable};

/// The summary. Node counts a test with subtests as a test, and suites apart.
#[derive(Default)]
struct Summary {
    tests: u64,
    suites: u64,
    pass: u64,
    failed: u64,
    skipped: u64,
    todo: u64,
}

/// A line of the tree of tests.
struct Node {
    id: String,
    outcome: Outcome,
    /// Whether tests stand below it, and whether one of them failed.
    parent: bool,
    below_failed: bool,
    error: String,
    file: Option<String>,
}

/// What was thrown, by the name of the test, in the order of the report.
type Errors<'a> = HashMap<&'a str, VecDeque<(Option<&'a str>, String)>>;

pub(crate) fn read(text: &str) -> Result<TestReport, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(at) = only_one(&summaries(&lines))? else {
        let message = "there is no summary (`ℹ tests …`) at its end";
        return Err(Unreadable::new(Kind::Truncated, message));
    };
    let summary = Summary::of(&lines[at..])?;
    let mut errors = errors(&lines[at..]);
    let nodes = tree(&lines[..at], &mut errors);
    let mut builder = Builder::new(TestFormat::NodeText);
    if summary.tests == 0 && nodes.iter().all(|node| !node.outcome.is_failure()) {
        return builder.finish();
    }
    let cases: Vec<&Node> = nodes.iter().filter(|node| node.is_case()).collect();
    if summary.fits(&nodes) {
        for node in cases {
            node.give(&mut builder)?;
        }
        return builder.finish();
    }
    let expected = |node: &&&Node| node.outcome == Outcome::ExpectedFailure;
    let expected = (cases.iter().filter(expected).count() as u64).min(summary.todo);
    builder.unnamed(Outcome::Passed, summary.pass);
    builder.unnamed(Outcome::ExpectedFailure, expected);
    let skipped = summary.skipped.saturating_add(summary.todo - expected);
    builder.unnamed(Outcome::Skipped, skipped);
    let failed: Vec<&&Node> = cases
        .iter()
        .filter(|node| node.outcome.is_failure())
        .collect();
    if failed.len() as u64 >= summary.failed {
        for node in failed {
            node.give(&mut builder)?;
        }
    } else {
        builder.unnamed(Outcome::Failed, summary.failed);
    }
    builder.finish()
}

/// How sure it is that this was printed by it: the number of lines that nobody else prints. 0 is no.
pub(crate) fn signs(text: &str) -> usize {
    summaries(&text.lines().collect::<Vec<_>>()).len()
}

/// Where the summaries begin.
fn summaries(lines: &[&str]) -> Vec<usize> {
    let begins = |lines: &[&str]| {
        lines[0].starts_with("ℹ tests ")
            && (lines[1].starts_with("ℹ suites ") || lines[1].starts_with("ℹ pass "))
    };
    let pairs = lines.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| begins(pair))
        .map(|(at, _)| at)
        .collect()
}

impl Summary {
    fn of(lines: &[&str]) -> Result<Self, Unreadable> {
        let mut summary = Self::default();
        let mut complete = false;
        for line in lines {
            let Some((what, number)) = line.strip_prefix("ℹ ").and_then(|l| l.split_once(' '))
            else {
                break;
            };
            if what == "duration_ms" {
                complete = true;
                break;
            }
            let number = number_of(number)?.0;
            match what {
                "tests" => summary.tests = number,
                "suites" => summary.suites = number,
                "pass" => summary.pass = number,
                "fail" | "cancelled" => summary.failed = summary.failed.saturating_add(number),
                "skipped" => summary.skipped = number,
                "todo" => summary.todo = number,
                _ => {}
            }
        }
        if !complete {
            let message = "its summary is not complete";
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        let sum = [summary.pass, summary.failed, summary.skipped]
            .into_iter()
            .fold(summary.todo, u64::saturating_add);
        Builder::agree("tests", summary.tests, sum)?;
        Ok(summary)
    }
}

impl Summary {
    /// Whether the tree is the one that was counted. Which of its lines are suites it does not say, but every one is a test
    /// or a suite.
    fn fits(&self, nodes: &[Node]) -> bool {
        let failed = |parent: bool| {
            let nodes = nodes.iter().filter(|node| node.outcome.is_failure());
            nodes.filter(|node| node.parent == parent).count() as u64
        };
        let (leaves, parents) = (failed(false), failed(true));
        nodes.len() as u64 == self.tests.saturating_add(self.suites)
            && (leaves..=leaves + parents).contains(&self.failed)
    }
}

impl Node {
    /// A test with subtests, or a suite, is told of only when it failed by itself.
    fn is_case(&self) -> bool {
        !self.parent || (self.outcome.is_failure() && !self.below_failed)
    }

    fn give(&self, builder: &mut Builder) -> Result<(), Unreadable> {
        let error = (!self.error.is_empty()).then_some(&*self.error);
        builder.test(&self.id, self.outcome, error, self.file.as_deref())
    }
}

/// A line of the tree or of the failures: its indentation, its mark, the name, whether it has a time, and what follows that.
struct Marked<'a> {
    indent: usize,
    mark: char,
    name: &'a str,
    timed: bool,
    after: &'a str,
}

fn marked(line: &str) -> Option<Marked<'_>> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next()?;
    if !matches!(mark, '✔' | '✖' | '⚠' | '﹣' | '▶') {
        return None;
    }
    let rest = text[mark.len_utf8()..].strip_prefix(' ')?;
    let (name, timed, after) = timed(rest);
    Some(Marked {
        indent: line.len() - text.len(),
        mark,
        name,
        timed,
        after,
    })
}

/// Divides `adds (1.2ms) # TODO` at its time.
fn timed(text: &str) -> (&str, bool, &str) {
    let mut end = text.len();
    while let Some(at) = text[..end].rfind("ms)") {
        let after = &text[at + 3..];
        if let Some((name, number)) = text[..at].rsplit_once(" (")
            && !number.is_empty()
            && number
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'-'))
            && (after.is_empty() || after.starts_with(" #"))
        {
            return (name, true, after.trim_start_matches([' ', '#']));
        }
        end = at;
    }
    (text, false, "")
}

/// The failures in the section at the end.
fn errors<'a>(lines: &[&'a str]) -> Errors<'a> {
    let mut found: Errors<'_> = HashMap::new();
    let begins = lines.iter().position(|line| *line == "✖ failing tests:");
    let mut place = None;
    let mut last: Option<(&str, Option<&str>, String)> = None;
    let mut keep = |last: Option<(&'a str, Option<&'a str>, String)>| {
        if let Some((name, file, error)) = last {
            found.entry(name).or_default().push_back((file, error));
        }
    };
    for &line in lines.iter().skip(begins.map_or(lines.len(), |at| at + 1)) {
        if let Some(at) = line.strip_prefix("test at ") {
            place = at.rsplitn(3, ':').nth(2);
        } else if let Some(marked) = marked(line).filter(|marked| marked.indent == 0) {
            keep(last.take());
            last = Some((marked.name, place.take(), String::new()));
        } else if let Some((_, _, error)) = last.as_mut()
            && error.len() < crate::limits::LONGEST_MESSAGE
        {
            error.push_str(line);
            error.push('\n');
        }
    }
    keep(last);
    found
}

/// The tree of tests before the summary.
fn tree(lines: &[&str], errors: &mut Errors<'_>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<(usize, String, bool)> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(marked) = marked(line) else { continue };
        let mut name = marked.name.to_owned();
        let (mut has_time, mut after) = (marked.timed, marked.after);
        // A name of several lines: the time stands behind the last one.
        if !has_time
            && marked.mark != '▶'
            && let Some((rest, true, follows)) = lines.get(at).map(|next| timed(next))
            && lines
                .get(at)
                .is_some_and(|next| self::marked(next).is_none())
        {
            name.push('\n');
            name.push_str(rest);
            (has_time, after) = (true, follows);
            at += 1;
        }
        open.retain(|(indent, opened, _)| {
            *indent < marked.indent
                || (*indent == marked.indent && *opened == cut(&name, LONGEST_ID))
        });
        if marked.mark == '▶' && !has_time {
            let name = cut(&name, LONGEST_ID).to_owned();
            open.push((marked.indent, name, false));
            continue;
        }
        let closes = open
            .last()
            .is_some_and(|(indent, ..)| *indent == marked.indent);
        let below_failed = closes && open.pop().is_some_and(|(.., failed)| failed);
        let todo = after == "TODO" || after.starts_with("TODO ");
        let failed = marked.mark == '✖' || (marked.mark == '▶' && below_failed);
        let thrown = (failed || marked.mark == '⚠')
            .then(|| errors.get_mut(&*name).and_then(VecDeque::pop_front))
            .flatten();
        let (file, error) = thrown.unwrap_or_default();
        let outcome = match marked.mark {
            '﹣' => Outcome::Skipped,
            '⚠' => Outcome::ExpectedFailure,
            _ if failed && todo => Outcome::ExpectedFailure,
            _ if failed => failure(&name, &error, below_failed),
            _ if todo => Outcome::Skipped,
            _ => Outcome::Passed,
        };
        if outcome.is_failure() {
            for (.., failed) in &mut open {
                *failed = true;
            }
        }
        let mut parts: Vec<&str> = open.iter().map(|(_, name, _)| name.as_str()).collect();
        parts.push(without_checkout(&name));
        nodes.push(Node {
            id: parts.join(" > "),
            outcome,
            parent: closes,
            below_failed,
            error,
            file: file.map(str::to_owned),
        });
    }
    nodes
}

fn failure(name: &str, error: &str, below_failed: bool) -> Outcome {
    let error = error.trim_start();
    if is_script(name) && error.starts_with("'test failed'") {
        return Outcome::NotCollected;
    }
    // A parent is not told again when only what is below it failed.
    if is_assertion(error) || (below_failed && error.is_empty()) {
        Outcome::Failed
    } else {
        Outcome::Error
    }
}
