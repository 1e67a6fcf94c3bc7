//! The lines of pytest, taken apart.

use std::collections::{HashMap, HashSet};

use crate::unreadable::{Kind, Unreadable};

/// What became of a test, in its words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Passed,
    Failed,
    Error,
    Skipped,
    Xfail,
    Xpass,
    Rerun,
    PartPassed,
    PartFailed,
    PartSkipped,
}

const WORDS: [(&str, Word); 14] = [
    ("PASSED", Word::Passed),
    ("FAILED", Word::Failed),
    ("ERROR", Word::Error),
    ("SKIPPED", Word::Skipped),
    ("XFAIL", Word::Xfail),
    ("XPASS", Word::Xpass),
    ("RERUN", Word::Rerun),
    ("SUBPASSED", Word::PartPassed),
    ("SUBFAILED", Word::PartFailed),
    ("SUBSKIPPED", Word::PartSkipped),
    ("SUBPASS", Word::PartPassed),
    ("SUBFAIL", Word::PartFailed),
    ("SUBSKIP", Word::PartSkipped),
    ("SUBXFAIL", Word::PartSkipped),
];

/// The numbers of the last line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
    pub(super) xfailed: u64,
    pub(super) xpassed: u64,
    pub(super) rerun: u64,
}

impl Counts {
    pub(super) fn count(&mut self, word: Word, many: u64) {
        let counted = match word {
            Word::Passed => &mut self.passed,
            Word::Failed | Word::PartFailed => &mut self.failed,
            Word::Error => &mut self.errors,
            Word::Skipped | Word::PartSkipped => &mut self.skipped,
            Word::Xfail => &mut self.xfailed,
            Word::Xpass => &mut self.xpassed,
            Word::Rerun | Word::PartPassed => return,
        };
        *counted = counted.saturating_add(many);
    }

    /// Those that are of tests, and not of tries.
    pub(super) fn of_tests(&self) -> Self {
        Self {
            rerun: 0,
            ..self.clone()
        }
    }
}

/// What it printed.
#[derive(Default)]
pub(super) struct PrintedOutput<'a> {
    pub(super) counts: Counts,
    /// A word for each test, in their order; with `-v` only.
    pub(super) words: Vec<(&'a str, Word)>,
    /// The short summary: id, word, message.
    pub(super) listed: Vec<(&'a str, Word, Option<&'a str>)>,
    /// The files that could not be collected, by the short summary or the headings.
    pub(super) uncollected: Vec<&'a str>,
    seen: HashSet<&'a str>,
    /// How many could not be collected, by the line that says how many were.
    pub(super) collection_errors: u64,
    /// The letters and words for failures and errors.
    pub(super) letters: u64,
}

impl<'a> PrintedOutput<'a> {
    /// What the short summary says of the tests, by their ids: of each what it says first.
    pub(super) fn messages(&self) -> HashMap<&'a str, &'a str> {
        let said = self.listed.iter().rev();
        said.filter_map(|(id, _, message)| Some((*id, (*message)?)))
            .collect()
    }
}

/// Where in the output a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Progress,
    Failures,
    Short,
}

pub(super) fn read(text: &str) -> Result<PrintedOutput<'_>, Unreadable> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(last) = last(&lines) else {
        let message =
            "it does not end in the line with the numbers: it was cut off, or -qq left it out";
        return Err(Unreadable::new(Kind::Truncated, message));
    };
    let width = lines
        .iter()
        .find(|line| heading(line) == Some("test session starts"))
        .map(|line| line.chars().count());
    let mut told = PrintedOutput {
        counts: summary(lines[last], width).unwrap_or_default(),
        ..PrintedOutput::default()
    };
    let mut part = Part::Progress;
    let mut sessions = 0;
    for (index, line) in lines[..last].iter().enumerate() {
        let at =
            |kind, message: &str| Err(Unreadable::new(kind, message).at_line(index as u64 + 1));
        if let Some(heading) = heading(line) {
            part = match heading {
                "test session starts" => {
                    sessions += 1;
                    if sessions > 1 {
                        let message = "another run begins here: give the report of one run";
                        return at(Kind::Mixed, message);
                    }
                    Part::Progress
                }
                "short test summary info" => Part::Short,
                _ => Part::Failures,
            };
            continue;
        }
        if line.starts_with("INTERNALERROR>") || interrupted(line) {
            return at(Kind::Truncated, "pytest did not come to its end");
        }
        match part {
            Part::Progress => {
                if sessions == 0 && summary(line, None).is_some() {
                    let message =
                        "one run ends here, and another follows: give the report of one run";
                    return at(Kind::Mixed, message);
                }
                told.progress(line);
            }
            Part::Failures => {
                let file = line
                    .trim_matches('_')
                    .trim()
                    .strip_prefix("ERROR collecting ");
                if let Some(file) = file.filter(|_| line.starts_with('_')) {
                    told.not_collected(file);
                }
            }
            Part::Short => told.listed(line),
        }
    }
    Ok(told)
}

pub(super) fn signs(text: &str) -> usize {
    let headings = text
        .lines()
        .filter(|line| heading(line) == Some("test session starts"))
        .count();
    if headings > 0 {
        return headings;
    }
    let lines: Vec<&str> = text.lines().collect();
    usize::from(last(&lines).is_some())
}

/// The last line that is not blank, and was not written by what started pytest, if it is the one with the numbers.
fn last(lines: &[&str]) -> Option<usize> {
    let index = lines.iter().rposition(|line| {
        let by_others = line.starts_with("make") || line.starts_with("error: Recipe");
        !line.trim().is_empty() && !by_others
    })?;
    let width = lines
        .iter()
        .find(|line| heading(line) == Some("test session starts"))
        .map(|line| line.chars().count());
    summary(lines[index], width).map(|_| index)
}

/// What stands between two rows of `=`.
fn heading(line: &str) -> Option<&str> {
    let inner = line
        .strip_prefix("==")?
        .trim_start_matches('=')
        .strip_prefix(' ')?;
    let inner = inner.trim_end_matches('=').strip_suffix(' ')?;
    (line.ends_with("==") && summary(line, None).is_none()).then_some(inner)
}

fn interrupted(line: &str) -> bool {
    line.starts_with("!!!")
        && line.ends_with("!!!")
        && (line.contains(" KeyboardInterrupt ") || line.contains("pytest.Exit"))
}

/// The numbers: `=== 1 failed, 2 passed in 0.03s ===`, or the same without `=`. Where it has them, it is as wide as the first
/// heading: a test can easily print such a line, and hardly in that width.
fn summary(line: &str, width: Option<usize>) -> Option<Counts> {
    let framed = line.starts_with('=') && line.ends_with('=');
    if let Some(width) = width {
        let long = line.chars().count();
        // A long list is wider than the headings, and then between two single `=`.
        if framed != (width > 0) || long < width.saturating_sub(1) {
            return None;
        }
    }
    let inner = if framed {
        line.trim_matches('=').trim()
    } else {
        line
    };
    let (numbers, took) = inner.rsplit_once(" in ")?;
    let seconds = took.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    let mut counts = Counts::default();
    if numbers == "no tests ran" {
        return Some(counts);
    }
    for part in numbers.split(", ") {
        let (number, word) = part.split_once(' ')?;
        if number == "no" && word == "tests collected" {
            continue;
        }
        let number: u64 = number.parse().ok()?;
        let word = match word {
            "passed" => Word::Passed,
            "failed" => Word::Failed,
            "error" | "errors" => Word::Error,
            "skipped" => Word::Skipped,
            "xfailed" => Word::Xfail,
            "xpassed" => Word::Xpass,
            "rerun" => {
                counts.rerun = number;
                continue;
            }
            "deselected" | "warning" | "warnings" | "subtests passed" | "subtest passed"
            | "tests collected" | "test collected" => continue,
            "subtests failed" | "subtest failed" => Word::PartFailed,
            "subtests skipped" | "subtest skipped" | "subtests xfailed" => Word::PartSkipped,
            // A plugin's own, with a number of something that is no test.
            _ if word
                .chars()
                .all(|char| char.is_ascii_lowercase() || char == ' ') =>
            {
                continue;
            }
            _ => return None,
        };
        counts.count(word, number);
    }
    Some(counts)
}

impl<'a> PrintedOutput<'a> {
    /// A line in front of the first heading.
    fn progress(&mut self, line: &'a str) {
        if let Some(collected) = line.split("collected ").nth(1) {
            let errors = collected.split(" / ").find_map(|part| {
                let number = part
                    .strip_suffix(" errors")
                    .or(part.strip_suffix(" error"))?;
                number.trim().parse().ok()
            });
            self.collection_errors = errors.unwrap_or(self.collection_errors);
            return;
        }
        if let Some((id, word)) = spoken(line) {
            self.words.push((id, word));
            self.letters += u64::from(matches!(word, Word::Failed | Word::Error));
            return;
        }
        // `tests/test_cart.py .F.E   [ 50%]`, or the letters alone.
        let Some((letters, share)) = line.rsplit_once('[') else {
            return;
        };
        if !share.ends_with("%]") {
            return;
        }
        let letters = letters.trim_end();
        let letters = letters.rsplit(' ').next().unwrap_or(letters);
        if letters.chars().all(|letter| ".FEsxXRu,-".contains(letter)) {
            let bad = letters.chars().filter(|letter| matches!(letter, 'F' | 'E'));
            self.letters += bad.count() as u64;
        }
    }

    /// A line of the short summary.
    fn listed(&mut self, line: &'a str) {
        let Some((word, rest)) = line.split_once(' ') else {
            return;
        };
        // `SUBFAILED[message] (i=1) FILE::TEST - what failed`
        let name = word.split(['(', '[']).next().unwrap_or(word);
        let Some((_, word)) = WORDS.iter().find(|(known, _)| *known == name) else {
            return;
        };
        let (mut id, message) = split_message(rest);
        if matches!(
            word,
            Word::PartFailed | Word::PartPassed | Word::PartSkipped
        ) {
            // The values of the part stand in front.
            let colons = id.find("::").unwrap_or(0);
            id = &id[id[..colons].rfind(' ').map_or(0, |space| space + 1)..];
        }
        if *word == Word::Error && !id.contains("::") {
            self.not_collected(id);
        } else if id.contains("::") {
            self.listed.push((id, *word, message));
        }
    }

    fn not_collected(&mut self, file: &'a str) {
        if self.seen.insert(file) {
            self.uncollected.push(file);
        }
    }
}

/// `FILE::TEST - message`, where the brackets of parameters may hold ` - ` themselves.
fn split_message(rest: &str) -> (&str, Option<&str>) {
    let dash = match (rest.find('['), rest.find(" - ")) {
        (Some(bracket), Some(dash)) if bracket < dash => rest
            .find("] - ")
            .map(|end| end + 1)
            .or_else(|| (!rest.ends_with(']')).then_some(dash)),
        (_, dash) => dash,
    };
    match dash {
        Some(dash) => (&rest[..dash], Some(&rest[dash + 3..])),
        None => (rest, None),
    }
}

/// A line of `-v`: `FILE::TEST PASSED (reason)  [ 50%]`, or `[gw0] [ 50%] PASSED FILE::TEST `.
fn spoken(line: &str) -> Option<(&str, Word)> {
    if let Some(rest) = line.strip_prefix("[gw") {
        let rest = rest.split_once("%] ")?.1;
        let (word, id) = rest.split_once(' ')?;
        let name = word.split(['(', '[']).next().unwrap_or(word);
        let (_, word) = WORDS.iter().find(|(known, _)| *known == name)?;
        let id = if word_of_part(*word) {
            let colons = id.find("::")?;
            &id[id[..colons].rfind(' ').map_or(0, |space| space + 1)..]
        } else {
            id
        };
        return id.contains("::").then_some((id.trim_end(), *word));
    }
    let mut rest = line.trim_end();
    if let Some((front, share)) = rest.rsplit_once('[')
        && share.ends_with("%]")
    {
        rest = front.trim_end();
    }
    // Of a word that stands several times, in the id and in the reason, it is the first behind the id.
    let colons = rest.find("::")?;
    if rest[..colons].contains(' ') && !rest[..colons].contains('/') {
        return None;
    }
    WORDS.iter().find_map(|(name, word)| {
        let mut from = colons;
        while let Some(found) = rest[from..].find(name).map(|at| from + at) {
            let behind = &rest[found + name.len()..];
            let ends = behind.is_empty()
                || behind.starts_with(" (") && behind.ends_with(')')
                || word_of_part(*word) && behind.starts_with(['(', '[', ' ']);
            if ends && rest[..found].ends_with(' ') {
                return Some((rest[..found].trim_end(), *word));
            }
            from = found + name.len();
        }
        None
    })
}

fn word_of_part(word: Word) -> bool {
    matches!(
        word,
        Word::PartFailed | Word::PartPassed | Word::PartSkipped
    )
}
