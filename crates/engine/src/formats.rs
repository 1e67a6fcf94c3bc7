//! The formats that this version reads, and those of what is kept: whether runs of other versions can be gone on with.

use journal::{FORMAT_VERSION, FileJournal};
use serde::Serialize;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::proof::bundle;

/// A format, by what is written in it.
#[derive(Debug, Clone, Serialize)]
pub struct Format {
    /// What is written in it.
    pub of: &'static str,
    /// The version that is written; all before it are read.
    pub version: u32,
}

/// A run, by the format of its journal.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormatOfRun {
    /// The run.
    pub run_id: String,
    /// Its project.
    pub project_root: String,
    /// The format; none where the journal's beginning says nothing.
    pub format: Option<u64>,
}

/// What is kept, by format.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The folder where runs are kept.
    pub store: String,
    /// How many runs are there, of all projects.
    pub runs: usize,
    /// Those in the format that is written today.
    pub current: usize,
    /// Those in an earlier format, which are read and gone on with.
    pub earlier: usize,
    /// Those that a newer version began.
    pub newer: Vec<FormatOfRun>,
    /// Those of which no format can be told.
    pub unreadable: Vec<FormatOfRun>,
}

/// The formats of files that outlive a version.
pub fn formats() -> [Format; 4] {
    let format = |of, version| Format { of, version };
    [
        format("journal", FORMAT_VERSION),
        format("workflow", machine::definition::LANGUAGE),
        format("profile", workspace::profile::FORMAT),
        format("bundle", bundle::VERSION),
    ]
}

impl Engine {
    /// Looks at the beginning of each journal that is kept.
    pub fn kept_by_format(&self) -> Result<Kept, Fault> {
        let mut kept = Kept {
            store: self.home.path().display().to_string(),
            runs: 0,
            current: 0,
            earlier: 0,
            newer: Vec::new(),
            unreadable: Vec::new(),
        };
        for project in self.known_projects() {
            let Some(project) = self.home.find_project(&project)? else {
                continue;
            };
            for id in project.runs()? {
                let dir = project.run(&id)?;
                let format = FileJournal::open(dir.path()).and_then(|journal| journal.format());
                let format = format.unwrap_or_default();
                kept.runs += 1;
                let run = || FormatOfRun {
                    run_id: id.clone(),
                    project_root: project.real_path().display().to_string(),
                    format,
                };
                match format {
                    None => kept.unreadable.push(run()),
                    Some(format) if format > FORMAT_VERSION.into() => kept.newer.push(run()),
                    Some(format) if format < FORMAT_VERSION.into() => kept.earlier += 1,
                    Some(_) => kept.current += 1,
                }
            }
        }
        Ok(kept)
    }
}
