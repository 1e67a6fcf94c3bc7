//! A run of the test command in which the runner names its tests, and the report that it writes of them.

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;

use ::test_report::{TestFormat, TestReport, read_tests};
use tempfile::TempDir;
use workspace::runner::adapter::{AdaptedCommand, adapted};
use workspace::suite::SuiteRan;

use crate::capability::tests::evidence::suite::Suite;
use crate::capability::tests::evidence::{SubmittedFile, format_named, read_reports};
use crate::fault::Fault;

/// A test command whose runner is made to name its tests, with the folder of ours that its report goes to.
pub(super) struct Adapter {
    pub(super) command: AdaptedCommand,
    format: Option<TestFormat>,
    /// Gone with what it is in.
    _own: TempDir,
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
    /// What fits the command of a suite; none where nothing does, or where somebody said how the report is to be read.
    pub(super) fn of(suite: &Suite<'_>) -> Result<Option<Self>, Fault> {
        if !suite.reports.is_empty() || !suite.config.test.adapter {
            return Ok(None);
        }
        // Without a folder for its report the command is run as it stands.
        let Ok(own) = tempfile::Builder::new().prefix("tramline-").tempdir() else {
            return Ok(None);
        };
        let inherited = |name: &str| env::var(name).ok();
        let Some(command) = adapted(suite.folder, suite.command, own.path(), inherited) else {
            return Ok(None);
        };
        let format = format_named(Some(command.format))?;
        if suite.format.is_some() && suite.format != format {
            return Ok(None);
        }
        Ok(Some(Self {
            command,
            format,
            _own: own,
        }))
    }

    /// The report with the files that it was read from; none where the runner has not come so far.
    pub(super) fn report(&self, ran: &SuiteRan) -> Option<(TestReport, Vec<SubmittedFile>)> {
        let Some(path) = &self.command.report else {
            let printed = [&ran.stdout, &ran.stderr].into_iter();
            let mut read = printed.filter_map(|text| read_tests(&text[..], self.format).ok());
            let mut report = read.next()?;
            if self.command.names_files_of_several {
                without_files(&mut report);
            }
            return Some((report, Vec::new()));
        };
        let (report, mut files) = read_reports(std::slice::from_ref(path), self.format).ok()?;
        for file in &mut files {
            // The folder is gone by the time that anybody reads of it.
            let name = file.path.file_name().map(PathBuf::from);
            file.path = name.unwrap_or_default();
        }
        Some((report, files))
    }
}
