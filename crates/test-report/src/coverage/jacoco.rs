//! `JaCoCo` XML, as that tool itself and Kover write it.

use super::lines::number;
use super::once::{Distinct, Lines};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};
use crate::xml::{Event, Tag, Xml};

/// Reads a report.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let mut xml = Xml::new(source)?;
    let mut open: Vec<Node> = Vec::new();
    let mut files = Vec::new();
    let mut unlisted = false;
    let mut root = None;
    loop {
        match xml.next()? {
            Event::Start(tag) => {
                let parent = open.last_mut();
                match (tag.name(), parent) {
                    ("report", None) => open.push(Node::new(Level::Report, tag)?),
                    (_, None) => {
                        let message = "it is no JaCoCo report: its root is not `report`";
                        return Err(tag.fault(Kind::Malformed, message));
                    }
                    ("group", Some(Node { level, .. })) if *level <= Level::Group => {
                        open.push(Node::new(Level::Group, tag)?);
                    }
                    ("package", Some(Node { level, .. })) if *level <= Level::Group => {
                        open.push(Node::new(Level::Package, tag)?);
                    }
                    (
                        "sourcefile",
                        Some(Node {
                            level: Level::Package,
                            ..
                        }),
                    ) => {
                        open.push(Node::new(Level::File, tag)?);
                    }
                    ("line", Some(file)) if file.level == Level::File => file.line(tag)?,
                    ("counter", Some(node)) => node.counter(tag)?,
                    // Classes: the same lines are in the source files.
                    _ => {}
                }
                if tag_is_whole(&xml, open.len()) {
                    xml.skip()?;
                }
            }
            Event::End => {
                let Some(mut node) = open.pop() else {
                    continue;
                };
                unlisted |= node.is_unlisted();
                let counted = node.counted()?;
                match open.last_mut() {
                    Some(parent) => {
                        if node.level == Level::File {
                            sum::fits(files.len())?;
                            let package = parent.name.trim_end_matches('/');
                            let path = match package {
                                "" => node.name,
                                package => format!("{package}/{}", node.name).into(),
                            };
                            let lines = counted[0].unwrap_or_default();
                            let hits = LineHits::of(&mut node.hits);
                            files.push(FileCoverage { path, lines, hits });
                        }
                        parent.add(&counted);
                    }
                    None => root = Some(counted),
                }
            }
            Event::Text(_) | Event::Comment(_) => {}
            Event::Eof => break,
        }
    }
    finish(root.unwrap_or_default(), files, unlisted)
}

/// Whether the element that just began is none of those that are open, and so is of no interest within.
fn tag_is_whole<R: std::io::BufRead>(xml: &Xml<R>, open: usize) -> bool {
    xml.depth() > open
}

fn finish(
    counted: [Option<Metric>; 4],
    files: Vec<FileCoverage>,
    unlisted: bool,
) -> Result<Coverage, Unreadable> {
    let [lines, branches, methods, instructions] = counted;
    let mut coverage = Coverage::of(CoverageFormat::Jacoco);
    coverage.lines = lines;
    coverage.branches = branches;
    coverage.functions = methods;
    coverage.statements = instructions;
    coverage.files = files;
    if lines.is_none() && instructions.is_some() {
        coverage.lines = instructions;
        coverage.notes.push(
            "the classes were compiled without line numbers: lines are instructions here"
                .to_owned(),
        );
    }
    if unlisted {
        coverage.notes.push(
            "some files do not list which lines were reached: their counters could not be held against them".to_owned(),
        );
    }
    coverage.finish()
}

/// What may hold what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Report,
    Group,
    Package,
    File,
}

/// Those counters that are read, in the order in which they are kept.
const COUNTERS: [(&str, &str); 4] = [
    ("LINE", "lines"),
    ("BRANCH", "branches"),
    ("METHOD", "methods"),
    ("INSTRUCTION", "instructions"),
];

/// An element that is open.
struct Node {
    level: Level,
    name: Box<str>,
    line: u64,
    /// What its own counters say.
    declared: [Option<Metric>; 4],
    /// The sums of what is in it.
    within: [Metric; 4],
    parts: u64,
    /// Whether it lists lines of which it does not say whether they were reached.
    untold: bool,
    /// Which of its lines were reached.
    hits: Distinct<Lines>,
}

impl Node {
    fn new(level: Level, tag: Tag<'_>) -> Result<Self, Unreadable> {
        let name = tag.attribute("name")?.unwrap_or_default();
        Ok(Self {
            level,
            name: name.into(),
            line: tag.line(),
            declared: [None; 4],
            within: [Metric::default(); 4],
            parts: 0,
            untold: false,
            hits: Distinct::new(),
        })
    }

    /// `<line nr="7" mi="0" ci="3" mb="0" cb="0"/>`: instructions and branches that were missed and covered.
    fn line(&mut self, tag: Tag<'_>) -> Result<(), Unreadable> {
        let [missed, covered, missed_branches, covered_branches, line] =
            numbers(tag, ["mi", "ci", "mb", "cb", "nr"])?;
        if missed.is_none() && covered.is_none() {
            // gcovr lists lines without saying whether they were reached.
            self.untold = true;
            return Ok(());
        }
        let (missed, covered) = (missed.unwrap_or_default(), covered.unwrap_or_default());
        self.parts += 1;
        if missed > 0 || covered > 0 {
            let once = Metric {
                covered: u64::from(covered > 0),
                total: 1,
            };
            self.within[0] = self.within[0].and(once);
            if let Some(line) = line.and_then(|line| u32::try_from(line).ok()) {
                self.hits.add(Lines::new(line, covered > 0));
            }
        }
        let branches = missed_and_covered(
            missed_branches.unwrap_or_default(),
            covered_branches.unwrap_or_default(),
        );
        self.within[1] = self.within[1].and(branches);
        Ok(())
    }

    fn counter(&mut self, tag: Tag<'_>) -> Result<(), Unreadable> {
        let kind = tag.attribute("type")?.unwrap_or_default();
        let [Some(missed), Some(covered)] = numbers(tag, ["missed", "covered"])? else {
            let message = "a counter says what was missed and what was covered";
            return Err(tag.fault(Kind::Malformed, message));
        };
        let Some(place) = COUNTERS.iter().position(|(name, _)| *name == kind) else {
            return Ok(());
        };
        let counted = missed_and_covered(missed, covered);
        if self.declared[place].replace(counted).is_some() {
            let message = format!("there are two {kind} counters of one thing");
            return Err(tag.fault(Kind::Contradiction, message));
        }
        Ok(())
    }

    /// Whether it has counters, and nothing that they count.
    fn is_unlisted(&self) -> bool {
        (self.parts == 0 || self.untold) && self.declared[0].is_some()
    }

    fn add(&mut self, counted: &[Option<Metric>; 4]) {
        self.parts += 1;
        for (sum, counted) in self.within.iter_mut().zip(counted) {
            *sum = sum.and(counted.unwrap_or_default());
        }
    }

    /// Its counters, held against what is in it.
    fn counted(&self) -> Result<[Option<Metric>; 4], Unreadable> {
        let whose = match self.level {
            Level::Report => "the report".to_owned(),
            _ => self.name.to_string(),
        };
        for ((place, (_, what)), declared) in COUNTERS.iter().enumerate().zip(self.declared) {
            let (declared, within) = (declared.unwrap_or_default(), self.within[place]);
            let held = match self.level {
                Level::Report | Level::Group => true,
                // Classes that name no source file count in their package beyond its files; but they have no lines.
                Level::Package => place == 0,
                // Of a file only lines and their branches are listed, and code without a line may have branches as well.
                Level::File => place == 0 || place == 1 && !within.is_part_of(declared),
            };
            let listed = (self.parts > 0 && !self.untold) || self.level <= Level::Group;
            if held && listed {
                // A counter of nothing is left out.
                declared
                    .agrees(within, what, &whose)
                    .map_err(|fault| fault.at_line(self.line))?;
            }
        }
        Ok(self.declared)
    }
}

const fn missed_and_covered(missed: u64, covered: u64) -> Metric {
    Metric {
        covered,
        total: missed.saturating_add(covered),
    }
}

/// The values of some attributes that are numbers.
fn numbers<const N: usize>(tag: Tag<'_>, names: [&str; N]) -> Result<[Option<u64>; N], Unreadable> {
    let mut found = [None; N];
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let Some(place) = names.iter().position(|name| *name == attribute.name) else {
            continue;
        };
        let name = attribute.name;
        let value = attribute.value();
        let Some(read) = number(value.as_bytes()) else {
            let message = format!("{name} is {value:?}, and should be a number");
            return Err(tag.fault(Kind::Malformed, message));
        };
        found[place] = Some(read);
    }
    Ok(found)
}
