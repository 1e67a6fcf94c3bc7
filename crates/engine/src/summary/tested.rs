//! What tests showed, as a page tells it: the numbers of each phase, what they rest on, and the tests by name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use workspace::config::Level;

use crate::capability::tests::evidence::level_name;
use crate::capability::tests::read::MOST_NAMED;
use crate::clock::spoken;
use crate::summary::Row;
use crate::summary::escape::{code, html, inline, name};
use crate::summary::markdown::{Page, hash};
use crate::summary::phase::Phase;

impl Page<'_> {
    /// What a subtask rests on, and its tests by name; nothing where there are only numbers that the table has.
    pub(super) fn details(&mut self, row: &Row) {
        let told = row.phases().any(|phase| phase.level != Level::Claimed);
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
        let phases = [
            ("RED", &row.red),
            ("GREEN", &row.green),
            ("REFACTOR", &row.refactored),
        ];
        for (name, phase) in phases {
            let Some(phase) = phase else {
                continue;
            };
            if let Some(before) = &phase.as_before {
                self.line(&format!("- {name}: nothing was changed since {before}"));
                continue;
            }
            let mut line = format!(
                "- {name}, {}{}: {}",
                level_name(phase.level),
                match phase.named.as_deref() {
                    Some("none" | "some") if phase.level >= Level::Ran =>
                        ", though not every test has a name",
                    _ => "",
                },
                tests(Some(phase))
            );
            for part in self.resting_on(phase) {
                let _ = write!(line, "; {part}");
            }
            self.line(&line);
        }
        if let Some(tree) = &row.tree {
            let mut line = format!("- tree that was tested: {}", hash(tree));
            if row.red.is_some() && row.green.is_some() {
                let run = &self.account.run.run;
                let show = format!("tm runs show {run} --diff red..green --subtask {}", row.id);
                let _ = write!(line, "; what it changed since RED: {}", code(&show));
            }
            self.line(&line);
        }
        if row.handed_in {
            self.line("- the commit was made by the executor, and handed in");
        }
        self.out.push('\n');
        self.tests_by_name(row);
        self.paragraph("</details>");
    }

    pub(super) fn tests_by_name(&mut self, row: &Row) {
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
    pub(super) fn names<S: AsRef<str>>(&mut self, title: &str, names: &[S]) {
        if names.is_empty() {
            return;
        }
        self.paragraph(title);
        self.list(names, |shown| name(shown.as_ref()));
    }

    /// Where the numbers of a phase come from.
    pub(super) fn resting_on(&self, phase: &Phase) -> Vec<String> {
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
            more if reports == 0 => parts.push(text::counted(more, "report")),
            more => parts.push(format!("{more} more reports")),
        }
        if let Some(report) = &phase.coverage_report {
            parts.push(format!(
                "coverage from {} {}",
                code(&self.place(&report.path)),
                hash(&report.sha256)
            ));
        }
        if let Some(reason) = &phase.off_bench {
            parts.push(format!(
                "run in the working tree, since the bench cannot be used: {}",
                inline(reason)
            ));
        }
        if !phase.checked.is_empty() {
            let checked: Vec<String> = phase.checked.iter().map(|name| inline(name)).collect();
            parts.push(format!("nothing new is found by {}", checked.join(", ")));
        }
        parts
    }

    /// A file, as those who have the repository know it; of others they need not know where they lay.
    pub(super) fn place(&self, path: &Path) -> String {
        let task = self.account.task.as_ref();
        task.and_then(|memory| path.strip_prefix(&memory.start.project_root).ok())
            .or_else(|| path.file_name().map(Path::new))
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// The numbers of a phase: what is not as it should be comes first.
pub(super) fn tests(phase: Option<&Phase>) -> String {
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
    .filter(|(many, what)| *many > 0 || (*what == "passed" && phase.failed + phase.errors == 0))
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
pub(super) fn levels(row: &Row) -> String {
    match (row.red.as_ref(), row.weakest_green()) {
        (None, None) => "–".to_owned(),
        (Some(red), Some(green)) if red.level != green.level => format!(
            "RED {}, GREEN {}",
            level_name(red.level),
            level_name(green.level)
        ),
        (Some(phase), _) | (None, Some(phase)) => level_name(phase.level).to_owned(),
    }
}

pub(super) fn coverage(value: Option<&Value>) -> String {
    let percent = |name: &str| value?.get(name)?.as_f64();
    let lines = percent("lines").map_or_else(|| "–".to_owned(), |lines| format!("{lines}%"));
    match percent("changedLines") {
        Some(changed) => format!("{lines}, of changed lines {changed}%"),
        None => lines,
    }
}
