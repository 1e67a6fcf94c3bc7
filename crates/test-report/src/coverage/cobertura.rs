//! Cobertura XML, as coverage.py, gcovr, Istanbul, coverlet, `PHPUnit` and many others write it.

use std::collections::HashMap;

use super::lines::{is_reached, number};
use super::once::{Distinct, Lines, Mergeable};
use super::{Coverage, CoverageFormat, FileCoverage, LineHits, Metric, sum};
use crate::source::Source;
use crate::unreadable::{Kind, Unreadable};
use crate::xml::{Event, Tag, Xml};

/// Reads a report.
pub(super) fn read(source: Source<'_>) -> Result<Coverage, Unreadable> {
    let mut xml = Xml::new(source)?;
    let mut report = Report::default();
    // Where the open `class` and its `methods` began.
    let (mut class, mut methods) = (None, None);
    loop {
        let depth = xml.depth();
        match xml.next()? {
            Event::Start(tag) => match (tag.name(), depth) {
                ("coverage", 0) => report.declared = Declared::read(tag)?,
                (_, 0) => {
                    let message = "it is no Cobertura report: its root is not `coverage`";
                    return Err(tag.fault(Kind::Malformed, message));
                }
                ("project", 1) => {
                    let message = "it is a Clover report: let the tool write Cobertura or LCOV";
                    return Err(tag.fault(Kind::Unknown, message));
                }
                ("class", _) if class.is_none() => {
                    class = Some(depth);
                    report.begin(tag)?;
                }
                ("methods", _) if class.is_some() && methods.is_none() => methods = Some(depth),
                ("line", _) if class.is_some() => report.line(tag, methods.is_some())?,
                _ => {}
            },
            Event::End => {
                let depth = Some(xml.depth());
                if methods == depth {
                    methods = None;
                }
                if class == depth {
                    class = None;
                    report.end();
                }
            }
            Event::Text(_) | Event::Comment(_) => {}
            Event::Eof => return report.finish(),
        }
    }
}

/// What the root says of all.
#[derive(Default)]
struct Declared {
    lines: Option<Metric>,
    branches: Option<Metric>,
    line_rate: Option<f64>,
    version: Box<str>,
}

impl Declared {
    fn read(tag: Tag<'_>) -> Result<Self, Unreadable> {
        let mut declared = Self::default();
        let mut counts = [None; 4];
        for attribute in tag.attributes() {
            let attribute = attribute?;
            let place = match attribute.name {
                "lines-covered" => 0,
                "lines-valid" => 1,
                "branches-covered" => 2,
                "branches-valid" => 3,
                "line-rate" => {
                    // Empty, or no number, where there is nothing to divide.
                    declared.line_rate = attribute.value().trim().parse().ok();
                    continue;
                }
                "version" => {
                    declared.version = attribute.value().into();
                    continue;
                }
                _ => continue,
            };
            let name = attribute.name;
            let value = attribute.value();
            let Some(count) = number(value.trim().as_bytes()) else {
                let message = format!("{name} is {value:?}, and should be a number");
                return Err(tag.fault(Kind::Malformed, message));
            };
            counts[place] = Some(count);
        }
        let metric = |covered: Option<u64>, total: Option<u64>, what| {
            let metric = Metric {
                covered: covered?,
                total: total?,
            };
            Some(metric.sound(what, "all files"))
        };
        declared.lines = metric(counts[0], counts[1], "lines").transpose()?;
        declared.branches = metric(counts[2], counts[3], "branches").transpose()?;
        Ok(declared)
    }
}

/// The branches of one line.
#[derive(Debug, Clone, Copy)]
struct Branches {
    line: u32,
    of: Metric,
}

impl Mergeable for Branches {
    type Place = u32;

    fn place(&self) -> u32 {
        self.line
    }

    fn absorb(&mut self, other: Self) {
        self.of.total = self.of.total.max(other.of.total);
        self.of.covered = self.of.covered.max(other.of.covered);
    }
}

/// Lines and branches that belong together.
struct Listed {
    lines: Distinct<Lines>,
    branches: Distinct<Branches>,
}

impl Listed {
    const fn new() -> Self {
        Self {
            lines: Distinct::new(),
            branches: Distinct::new(),
        }
    }

    fn count(&mut self) -> Counted {
        let branches = self.branches.settle().iter();
        Counted {
            lines: Lines::count(self.lines.settle()),
            branches: branches.fold(Metric::default(), |sum, line| sum.and(line.of)),
        }
    }
}

#[derive(Default, Clone, Copy)]
struct Counted {
    lines: Metric,
    branches: Metric,
}

impl Counted {
    const fn and(self, other: Self) -> Self {
        Self {
            lines: self.lines.and(other.lines),
            branches: self.branches.and(other.branches),
        }
    }
}

/// The class that is open. Some tools list a line under its class, some under its method, most under both; and the line
/// that Istanbul lists under a method is where it is declared, which need not be one to be reached.
struct Class {
    file: usize,
    own: Listed,
    own_raw: Counted,
    of_methods: Listed,
    of_methods_raw: Counted,
}

#[derive(Default)]
struct Report {
    declared: Declared,
    class: Option<Class>,
    names: HashMap<Box<str>, usize>,
    files: Vec<(Box<str>, Listed)>,
    /// Sums in which a line of a file counts once in each class that lists it.
    by_class: Counted,
    /// Sums in which it counts each time that it is listed.
    raw: Counted,
}

impl Report {
    fn begin(&mut self, tag: Tag<'_>) -> Result<(), Unreadable> {
        let (mut path, mut name) = (None, None);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            match attribute.name {
                "filename" => path = Some(attribute.value()),
                "name" => name = Some(attribute.value()),
                _ => {}
            }
        }
        let Some(path) = path.filter(|path| !path.is_empty()).or(name) else {
            return Err(tag.fault(Kind::Malformed, "a class has no file name"));
        };
        let file = if let Some(&known) = self.names.get(&*path) {
            known
        } else {
            sum::fits(self.files.len())?;
            let path: Box<str> = path.into();
            self.names.insert(path.clone(), self.files.len());
            self.files.push((path, Listed::new()));
            self.files.len() - 1
        };
        self.class = Some(Class {
            file,
            own: Listed::new(),
            own_raw: Counted::default(),
            of_methods: Listed::new(),
            of_methods_raw: Counted::default(),
        });
        Ok(())
    }

    fn line(&mut self, tag: Tag<'_>, of_method: bool) -> Result<(), Unreadable> {
        let (mut place, mut reached, mut conditions) = (None, None, None);
        for attribute in tag.attributes() {
            let attribute = attribute?;
            match attribute.name {
                "number" => place = number(attribute.value().trim().as_bytes()),
                "hits" => reached = is_reached(attribute.value().trim().as_bytes()),
                "condition-coverage" => {
                    let value = attribute.value();
                    let of = of_conditions(&value);
                    if of.is_none() && !value.trim().is_empty() && value.contains('(') {
                        let message = format!("condition-coverage is {value:?}");
                        return Err(tag.fault(Kind::Malformed, message));
                    }
                    conditions = of;
                }
                _ => {}
            }
        }
        let place = place.and_then(|place| u32::try_from(place).ok());
        let (Some(place), Some(reached)) = (place, reached) else {
            let message = "a line has a number and how often it was hit";
            return Err(tag.fault(Kind::Malformed, message));
        };
        let Some(class) = &mut self.class else {
            return Ok(());
        };
        let (listed, raw) = if of_method {
            (&mut class.of_methods, &mut class.of_methods_raw)
        } else {
            (&mut class.own, &mut class.own_raw)
        };
        listed.lines.add(Lines::new(place, reached));
        let once = Metric {
            covered: u64::from(reached),
            total: 1,
        };
        raw.lines = raw.lines.and(once);
        if let Some(of) = conditions {
            let of = of
                .sound("conditions", &format!("line {place}"))
                .map_err(|fault| fault.at_line(tag.line()))?;
            raw.branches = raw.branches.and(of);
            listed.branches.add(Branches { line: place, of });
        }
        Ok(())
    }

    fn end(&mut self) {
        let Some(class) = self.class.take() else {
            return;
        };
        let (mut listed, raw) = if class.own_raw.lines.total > 0 {
            (class.own, class.own_raw)
        } else {
            (class.of_methods, class.of_methods_raw)
        };
        self.raw = self.raw.and(raw);
        self.by_class = self.by_class.and(listed.count());
        let file = &mut self.files[class.file].1;
        file.lines.take_in(&mut listed.lines);
        file.branches.take_in(&mut listed.branches);
    }

    fn finish(self) -> Result<Coverage, Unreadable> {
        let mut coverage = Coverage::of(CoverageFormat::Cobertura);
        let mut sums = Counted::default();
        for (path, mut listed) in self.files {
            let counted = listed.count();
            sums = sums.and(counted);
            coverage.files.push(FileCoverage {
                path,
                lines: counted.lines,
                hits: LineHits::of(&mut listed.lines),
            });
        }
        let counted = [sums, self.by_class, self.raw];
        let lines = counted.map(|counted| counted.lines);
        let branches = counted.map(|counted| counted.branches);
        let Declared {
            lines: declared_lines,
            branches: declared_branches,
            line_rate,
            version,
        } = self.declared;
        if let Some(declared) = declared_lines {
            if &*version == "0.4" && sums.lines.is_part_of(declared) {
                if declared != sums.lines {
                    coverage.notes.push(format!(
                        "it lists {} of {} lines, those of classes and functions: as PHPUnit does, the declared sum is taken",
                        sums.lines.total, declared.total
                    ));
                }
                sums.lines = declared;
            } else if !lines.contains(&declared) {
                declared.agrees(sums.lines, "lines", "all files")?;
            } else if declared != sums.lines {
                coverage.notes.push(
                    "some lines are listed several times, for several classes or functions, and counted as often: as it declares its sums"
                        .to_owned(),
                );
                sums.lines = declared;
            }
        } else if let Some(declared) = line_rate {
            hold_rate(declared, &lines)?;
        }
        if let Some(declared) = declared_branches {
            // Not all of them are always listed: Istanbul leaves out those of lines that are no statement.
            if !sums.branches.is_part_of(declared) && !branches.contains(&declared) {
                declared.agrees(sums.branches, "branches", "all files")?;
            }
            sums.branches = declared;
        }
        coverage.lines = Some(sums.lines);
        coverage.branches = Some(sums.branches).filter(|sum| sum.total > 0);
        coverage.finish()
    }
}

/// Holds a share against what was counted, where no counts are declared. It is rounded, to two decimals at the worst; and
/// 0 where a tool does not fill it in.
fn hold_rate(declared: f64, counted: &[Metric; 3]) -> Result<(), Unreadable> {
    let near = |metric: &Metric| {
        metric
            .percent()
            .is_none_or(|percent| (percent / 100.0 - declared).abs() < 0.0101)
    };
    if declared == 0.0 || declared.is_nan() || counted.iter().any(near) {
        return Ok(());
    }
    let Metric { covered, total } = counted[0];
    let message = format!(
        "it declares a line-rate of {declared}, and {covered} of {total} lines in it are covered"
    );
    Err(Unreadable::new(Kind::Contradiction, message))
}

/// The numbers of `50% (1/2)`.
fn of_conditions(text: &str) -> Option<Metric> {
    let (_, numbers) = text.rsplit_once('(')?;
    let (covered, total) = numbers.trim_end().strip_suffix(')')?.split_once('/')?;
    Some(Metric {
        covered: number(covered.trim().as_bytes())?,
        total: number(total.trim().as_bytes())?,
    })
}
