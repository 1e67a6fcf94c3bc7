//! A run of the test command in which the runner runs all of its tests and names them, and the report that it writes of them.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use ::test_report::{TestFormat, TestReport, add_unhandled, read_tests};
use workspace::git::Scratch;
use workspace::runner::adapter::{AdaptedCommand, adapted};
use workspace::suite::SuiteRan;

use crate::capability::tests::evidence::suite::{Suite, is_of_before};
use crate::capability::tests::evidence::{
    SubmittedFile, counts, format_named, is_summary, nanos, read_reports,
};
use crate::fault::Fault;

/// A test command whose runner is made to run all tests and name them, with the folder of ours that its report goes to.
pub(super) struct Adapter {
    pub(super) command: AdaptedCommand,
    format: Option<TestFormat>,
    /// The folder that the command is run in.
    folder: PathBuf,
    /// Gone with what it is in.
    _own: Scratch,
}

/// Takes the files out of the names of tests: they stand there only where there are several. Where tests of two files are called
/// the same, they stay.
fn without_files(report: &mut TestReport) {
    const BEHIND: &str = " \u{203a} ";
    let bare = |id: &str| {
        id.split_once(BEHIND)
            .map_or(id, |(_, rest)| rest)
            .to_owned()
    };
    let mut seen: HashMap<String, usize> = HashMap::new();
    for test in &report.tests {
        *seen.entry(bare(&test.id)).or_default() += 1;
    }
    for test in &mut report.tests {
        let name = bare(&test.id);
        if seen.get(&name) == Some(&1) {
            test.id = name.into();
        }
    }
}

impl Adapter {
    /// What fits the command of a suite; none where nothing does. Where somebody said how the report is to be read, it is only run
    /// to its end.
    pub(super) fn of(suite: &Suite<'_>) -> Result<Option<Self>, Fault> {
        if !suite.config.test.adapter {
            return Ok(None);
        }
        // Without a folder for its report the command is run as it stands.
        let Ok(own) = Scratch::temporary("tramline-report-") else {
            return Ok(None);
        };
        let inherited = |name: &str| env::var(name).ok();
        let adapt = |own| adapted(suite.folder, suite.command, own, suite.only, inherited);
        let wanted = Some(own.path()).filter(|_| suite.reports.is_empty());
        let Some(mut command) = adapt(wanted) else {
            return Ok(None);
        };
        let mut format = None;
        if let Some(reporting) = &command.reporting {
            format = format_named(Some(reporting.format))?;
            if suite.format.is_some() && suite.format != format {
                match adapt(None) {
                    Some(other) => command = other,
                    None => return Ok(None),
                }
            }
        }
        let mut files = command.files.iter();
        if files.any(|(path, text)| fs::write(path, text).is_err()) {
            return Ok(None);
        }
        Ok(Some(Self {
            command,
            format,
            folder: suite.folder.to_owned(),
            _own: own,
        }))
    }

    /// Whether the command is another one than the suite's.
    pub(super) fn is_changed(&self) -> bool {
        self.command.is_changed
    }

    /// Whether the runner writes its report into files, beside what it prints.
    pub(super) fn writes_files(&self) -> bool {
        let reporting = self.command.reporting.as_ref();
        reporting.is_some_and(|told| told.report.is_some() || !told.leaves.is_empty())
    }

    /// The report with the files that it was read from; none where the runner has not come so far. What it left before `began`,
    /// in nanoseconds since 1970, is of another run.
    pub(super) fn report(
        &self,
        ran: &SuiteRan,
        began: i64,
    ) -> Option<(TestReport, Vec<SubmittedFile>)> {
        let reporting = self.command.reporting.as_ref()?;
        if !reporting.leaves.is_empty() {
            let left = reports_left(&self.folder, reporting.leaves, began);
            let (report, files) = read_reports(&left, self.format).ok()?;
            // What else went wrong, such as a build, is told by what is printed.
            let is_all = ran.success() || counts(&report.totals).failing() > 0;
            return is_all.then_some((report, files));
        }
        let Some(path) = &reporting.report else {
            let printed = [&ran.stdout, &ran.stderr].into_iter();
            let mut read = printed.filter_map(|text| read_tests(&text[..], self.format).ok());
            let mut report = read.next()?;
            if reporting.names_files_of_several {
                without_files(&mut report);
            }
            return Some((report, Vec::new()));
        };
        let read = read_reports(std::slice::from_ref(path), self.format);
        let (mut report, mut files) = read.ok()?;
        if reporting.prints_unloaded {
            add_unhandled(&mut report, &String::from_utf8_lossy(&ran.both));
        }
        for file in &mut files {
            // The folder is gone by the time that anybody reads of it.
            let name = file.path.file_name().map(PathBuf::from);
            file.path = name.unwrap_or_default();
        }
        Some((report, files))
    }
}

/// The files of reports that were left below a folder since then, in such folders.
fn reports_left(root: &Path, leaves: &[&[&str]], began: i64) -> Vec<PathBuf> {
    /// Modules lie in modules.
    const DEEPEST: usize = 8;
    let mut found = Vec::new();
    let mut waiting = vec![(root.to_owned(), Vec::<String>::new())];
    while let Some((folder, names)) = waiting.pop() {
        let is_one = leaves.iter().any(|suffix| ends_with(&names, suffix));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && names.len() < DEEPEST && !matches!(&*name, ".git" | "node_modules")
            {
                waiting.push((entry.path(), [&names[..], &[name]].concat()));
            } else if is_one
                && kind.is_file()
                && entry
                    .path()
                    .extension()
                    .is_some_and(|ending| ending == "xml")
                && !is_summary(&entry.path())
            {
                let written = entry.metadata().and_then(|found| found.modified());
                if written.is_ok_and(|time| !is_of_before(nanos(time), began)) {
                    found.push(entry.path());
                }
            }
        }
    }
    found.sort();
    found
}

fn ends_with(names: &[String], suffix: &[&str]) -> bool {
    let Some(first) = names.len().checked_sub(suffix.len()) else {
        return false;
    };
    let mut pairs = names[first..].iter().zip(suffix);
    pairs.all(|(name, wanted)| *wanted == "*" || name == wanted)
}
