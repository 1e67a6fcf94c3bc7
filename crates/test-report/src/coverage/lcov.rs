//! LCOV tracefiles, as `lcov`, `llvm-cov`, Istanbul, coverage.py and many others write them.

use std::collections::HashMap;

use super::lines::{Line, each_line, is_reached, number};
use super::once::{Distinct, Hit, Lines};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};

/// Whether a report begins like this one.
pub(super) fn detect(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .is_some_and(|line| {
            [&b"TN:"[..], b"SF:"]
                .iter()
                .any(|&key| line.starts_with(key))
        })
}

/// Reads a tracefile.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let mut trace = Trace::default();
    let lines = each_line(source, |line| trace.line(line))?;
    trace.finish(lines)
}

/// What was read so far.
#[derive(Default)]
struct Trace {
    /// The record that is open.
    record: Option<Record>,
    names: HashMap<Box<str>, usize>,
    files: Vec<File>,
    /// Whether a `TN:` still waits for its record.
    announced: bool,
    /// Whether there was a `TN:` other than gcovr's.
    test_named: bool,
    seen: Seen,
}

/// What a reader of the report should know.
#[derive(Default, Clone, Copy)]
struct Seen {
    repeated: bool,
    only_sums: bool,
    by_function: bool,
}

/// All that is known of one file.
struct File {
    path: Box<str>,
    listed: Listed,
    /// Whether its lines are only summed up.
    unlisted: bool,
    /// What its record says of it, as long as it is the only one. Some tools list a line of a template once for each
    /// function that is made of it, and add them up like that.
    lines: Option<Metric>,
    branches: Option<Metric>,
    functions: Option<Metric>,
}

/// What stands one by one.
struct Listed {
    lines: Distinct<Lines>,
    branches: Distinct<Hit>,
    functions: Distinct<Hit>,
}

impl Listed {
    const fn new() -> Self {
        Self {
            lines: Distinct::new(),
            branches: Distinct::new(),
            functions: Distinct::new(),
        }
    }

    fn branches(&mut self) -> Metric {
        count(self.branches.settle())
    }

    fn functions(&mut self) -> Metric {
        count(self.functions.settle())
    }
}

fn count(all: &[Hit]) -> Metric {
    let reached = all.iter().filter(|one| one.is_reached()).count();
    Metric {
        covered: reached as u64,
        total: all.len() as u64,
    }
}

/// One record: from `SF:` to `end_of_record`.
struct Record {
    path: Box<str>,
    begun: u64,
    listed: Listed,
    /// How many were listed, whether or not they are the same.
    lines: Metric,
    branches: Metric,
    functions: Metric,
    /// Of functions with several names, by their index.
    groups: Distinct<Hit>,
    /// Where those stand.
    places: HashMap<u64, u64>,
    declared_lines: Declared,
    declared_branches: Declared,
    declared_functions: Declared,
    /// `llvm-cov` and gcovr add up functions, each with all of its lines, and so count lines twice that belong to a closure
    /// or to several functions made of one template. They are told by the order, functions before lines, and in that they
    /// name no test.
    sums_of_functions: bool,
}

/// `LF` and `LH` and their like.
#[derive(Default, Clone, Copy)]
struct Declared {
    found: Option<u64>,
    hit: Option<u64>,
}

impl Declared {
    fn metric(self) -> Option<Metric> {
        Some(Metric {
            covered: self.hit?,
            total: self.found?,
        })
    }

    /// Whether it is one of those that were counted.
    fn is_one_of(self, counted: &[Metric]) -> bool {
        let matches = |metric: &Metric| {
            self.found.is_none_or(|found| found == metric.total)
                && self.hit.is_none_or(|hit| hit == metric.covered)
        };
        counted.iter().any(matches)
    }
}

fn tally(sum: &mut Metric, reached: bool) {
    sum.total += 1;
    sum.covered += u64::from(reached);
}

impl Trace {
    #[inline]
    fn line(&mut self, line: &Line<'_>) -> Result<(), Unreadable> {
        if let Some(record) = &mut self.record
            && let Some(data) = line.text.strip_prefix(b"DA:")
        {
            return record.line(data, line);
        }
        self.other(line)
    }

    fn other(&mut self, line: &Line<'_>) -> Result<(), Unreadable> {
        if line.text == b"end_of_record" {
            return self.end(line);
        }
        if line.text.starts_with(b"#") {
            return Ok(());
        }
        let colon = line.text.iter().position(|&byte| byte == b':');
        let key = |end: usize| {
            line.text[..end]
                .iter()
                .all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9'))
        };
        let Some(colon) = colon.filter(|&end| end > 0 && key(end)) else {
            return Err(self.stray(line));
        };
        let (key, data) = (&line.text[..colon], &line.text[colon + 1..]);
        match (key, &mut self.record) {
            (b"SF", None) => self.begin(data, line),
            (b"SF", Some(record)) => Err(Self::unended(record, line.number)),
            (b"TN", None) => {
                self.announced = true;
                self.test_named |= data != b"GCOVR_report";
                Ok(())
            }
            (b"TN" | b"VER", _) => Ok(()),
            (_, Some(record)) => record.entry(key, data, line),
            (_, None) => Err(self.stray(line)),
        }
    }

    /// A line that has no place where it is.
    fn stray(&self, line: &Line<'_>) -> Unreadable {
        if self.record.is_none() && !self.files.is_empty() && line.ended {
            let message = "after the last record comes something that is no LCOV";
            return Unreadable::new(Kind::Mixed, message).at_line(line.number);
        }
        line.fault("it is no line of an LCOV tracefile")
    }

    fn unended(record: &Record, line: u64) -> Unreadable {
        let message = format!(
            "the record of {} in line {} has no end_of_record",
            record.path, record.begun
        );
        Unreadable::new(Kind::Truncated, message).at_line(line)
    }

    fn begin(&mut self, path: &[u8], line: &Line<'_>) -> Result<(), Unreadable> {
        if path.is_empty() {
            return Err(line.fault("it names no file"));
        }
        self.announced = false;
        self.record = Some(Record::new(
            String::from_utf8_lossy(path).into(),
            line.number,
        ));
        Ok(())
    }

    fn end(&mut self, line: &Line<'_>) -> Result<(), Unreadable> {
        let Some(mut record) = self.record.take() else {
            return Err(self.stray(line));
        };
        let by_function = record.sums_of_functions && !self.test_named;
        self.seen.by_function |= record
            .hold(by_function)
            .map_err(|fault| fault.at_line(line.number))?;
        let unlisted = record.lines.total == 0 && record.declared_lines.found > Some(0);
        self.seen.only_sums |= unlisted;
        if let Some(&known) = self.names.get(&record.path) {
            self.seen.repeated = true;
            let file = &mut self.files[known];
            if unlisted || file.unlisted {
                let message = format!(
                    "{} has several records, of which one lists no lines: they cannot be merged",
                    file.path
                );
                return Err(Unreadable::new(Kind::Mixed, message).at_line(line.number));
            }
            file.lines = None;
            file.branches = None;
            file.functions = None;
            file.listed.lines.take_in(&mut record.listed.lines);
            file.listed.branches.take_in(&mut record.listed.branches);
            file.listed.functions.take_in(&mut record.listed.functions);
            return Ok(());
        }
        sum::fits(self.files.len())?;
        let alone = |declared: Declared, listed: Metric| {
            (listed.total > 0)
                .then_some(listed)
                .filter(|listed| declared.metric() == Some(*listed))
                .or_else(|| declared.metric().filter(|_| listed.total == 0))
        };
        let lines = alone(record.declared_lines, record.lines);
        let branches = alone(record.declared_branches, record.branches);
        let functions = Some(count(record.groups.settle()))
            .filter(|groups| groups.total > 0)
            .or_else(|| alone(record.declared_functions, record.functions));
        let mut file = File {
            path: record.path.clone(),
            listed: Listed::new(),
            unlisted,
            lines,
            branches,
            functions,
        };
        file.listed.lines.take_in(&mut record.listed.lines);
        file.listed.branches.take_in(&mut record.listed.branches);
        file.listed.functions.take_in(&mut record.listed.functions);
        self.names.insert(record.path, self.files.len());
        self.files.push(file);
        Ok(())
    }

    fn finish(self, lines: u64) -> Result<Coverage, Unreadable> {
        if let Some(record) = &self.record {
            return Err(Self::unended(record, lines));
        }
        if self.announced && !self.files.is_empty() {
            let message = "the last record is announced, and not there";
            return Err(Unreadable::new(Kind::Truncated, message).at_line(lines));
        }
        let mut coverage = Coverage::of(CoverageFormat::Lcov);
        let (mut all, mut branches, mut functions) =
            (Metric::default(), Metric::default(), Metric::default());
        for mut file in self.files {
            let of_file = file
                .lines
                .unwrap_or_else(|| Lines::count(file.listed.lines.settle()));
            let in_branches = file.branches.unwrap_or_else(|| file.listed.branches());
            let in_functions = file.functions.unwrap_or_else(|| file.listed.functions());
            all = all.and(of_file);
            branches = branches.and(in_branches);
            functions = functions.and(in_functions);
            coverage.files.push(FileCoverage {
                path: file.path,
                lines: of_file,
                hits: LineHits::of(&mut file.listed.lines),
            });
        }
        coverage.lines = Some(all);
        coverage.branches = Some(branches).filter(|sum| sum.total > 0);
        coverage.functions = Some(functions).filter(|sum| sum.total > 0);
        for (so, note) in [
            (
                self.seen.repeated,
                "some files have several records, as of several tests: each line is counted once",
            ),
            (
                self.seen.only_sums,
                "some files list no lines: their declared sums are taken",
            ),
            (
                self.seen.by_function,
                "the declared sums count some lines once for each function, as llvm-cov and gcovr do: here each line is counted once",
            ),
        ] {
            if so {
                coverage.notes.push(note.to_owned());
            }
        }
        coverage.finish()
    }
}

impl Record {
    fn new(path: Box<str>, begun: u64) -> Self {
        Self {
            path,
            begun,
            listed: Listed::new(),
            lines: Metric::default(),
            branches: Metric::default(),
            functions: Metric::default(),
            groups: Distinct::new(),
            places: HashMap::new(),
            declared_lines: Declared::default(),
            declared_branches: Declared::default(),
            declared_functions: Declared::default(),
            sums_of_functions: false,
        }
    }

    /// `DA:<line>,<count>[,<checksum>]`
    #[inline]
    fn line(&mut self, data: &[u8], line: &Line<'_>) -> Result<(), Unreadable> {
        let fields = || {
            let (place, rest) = split_once(data)?;
            let count = split_once(rest).map_or(rest, |(count, _)| count);
            Some((u32::try_from(number(place)?).ok()?, is_reached(count)?))
        };
        let Some((place, reached)) = fields() else {
            return Err(line.fault("it is no line with its count: `DA:12,3`"));
        };
        tally(&mut self.lines, reached);
        self.listed.lines.add(Lines::new(place, reached));
        Ok(())
    }

    fn entry(&mut self, key: &[u8], data: &[u8], line: &Line<'_>) -> Result<(), Unreadable> {
        let sum = match key {
            b"LF" => &mut self.declared_lines.found,
            b"LH" => &mut self.declared_lines.hit,
            // What old versions of llvm-cov call BRH.
            b"BRH" | b"BFH" => &mut self.declared_branches.hit,
            b"BRF" => &mut self.declared_branches.found,
            b"FNH" => &mut self.declared_functions.hit,
            b"FNF" => {
                self.sums_of_functions |=
                    self.lines.total == 0 && self.declared_lines.found.is_none();
                &mut self.declared_functions.found
            }
            _ => {
                return self
                    .listed(key, data)
                    .ok_or_else(|| line.fault("it lacks a part, or a number in it is none"));
            }
        };
        let Some(number) = number(data) else {
            return Err(line.fault("a sum is a number"));
        };
        if sum.is_some_and(|before| before != number) {
            let message = "the record declares two different sums of one kind";
            return Err(Unreadable::new(Kind::Contradiction, message).at_line(line.number));
        }
        *sum = Some(number);
        Ok(())
    }

    fn listed(&mut self, key: &[u8], data: &[u8]) -> Option<()> {
        match key {
            b"FN" => {
                let (place, rest) = split_once(data)?;
                number(place)?;
                // Since lcov 2 the last line of the function may stand before its name.
                let name = split_once(rest)
                    .filter(|(end, _)| number(end).is_some())
                    .map_or(rest, |(_, name)| name);
                self.functions.total += 1;
                self.listed.functions.add(Hit::new(name, false));
            }
            b"FNDA" => {
                let (count, name) = split_once(data)?;
                let reached = is_reached(count)?;
                self.functions.covered += u64::from(reached);
                self.listed.functions.add(Hit::new(name, reached));
            }
            b"FNL" => {
                let (index, place) = split_once(data)?;
                let line = number(split_once(place).map_or(place, |(first, _)| first))?;
                self.places.insert(number(index)?, line);
                self.groups.add(Hit::new(index, false));
            }
            b"FNA" => {
                let (index, rest) = split_once(data)?;
                let (count, name) = split_once(rest)?;
                let reached = is_reached(count)?;
                if name.is_empty() {
                    return None;
                }
                // The index says nothing outside of this record, the line does.
                let line = self.places.get(&number(index)?)?.to_le_bytes();
                tally(&mut self.functions, reached);
                self.groups.add(Hit::new(index, reached));
                self.listed.functions.add(Hit::new(&line, reached));
            }
            b"BRDA" => {
                let comma = data.iter().rposition(|&byte| byte == b',')?;
                let (branch, taken) = (&data[..comma], &data[comma + 1..]);
                number(split_once(branch)?.0)?;
                let reached = taken != b"-" && is_reached(taken)?;
                tally(&mut self.branches, reached);
                self.listed.branches.add(Hit::new(branch, reached));
            }
            // Conditions and whatever else a newer version lists.
            _ => {}
        }
        Some(())
    }

    /// Holds what the record declares against what it lists; tells whether its lines differ as they do when functions are
    /// added up.
    fn hold(&mut self, by_function: bool) -> Result<bool, Unreadable> {
        let mut differs = false;
        let lines = Lines::count(self.listed.lines.settle());
        let branches = self.listed.branches();
        let functions = self.listed.functions();
        let groups = count(self.groups.settle());
        for (what, declared, listed) in [
            ("lines", self.declared_lines, &[lines, self.lines][..]),
            (
                "branches",
                self.declared_branches,
                &[branches, self.branches],
            ),
            (
                "functions",
                self.declared_functions,
                &[functions, self.functions, groups],
            ),
        ] {
            if let Some(declared) = declared.metric() {
                declared.sound(what, &self.path)?;
            }
            // A file without any of them may declare a number all the same, where only sums were asked for.
            let listed_any = listed.iter().any(|metric| metric.total > 0);
            if !listed_any && (what != "lines" || by_function) || declared.is_one_of(listed) {
                continue;
            }
            if by_function {
                differs |= what == "lines";
                continue;
            }
            let declared = Metric {
                covered: declared.hit.unwrap_or(listed[0].covered),
                total: declared.found.unwrap_or(listed[0].total),
            };
            declared.agrees(listed[0], what, &self.path)?;
        }
        Ok(differs)
    }
}

/// What stands before the first comma, and after it.
#[inline]
fn split_once(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = data.iter().position(|&byte| byte == b',')?;
    Some((&data[..comma], &data[comma + 1..]))
}
