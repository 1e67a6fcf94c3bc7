//! `tm runs` and `tm log`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::{Place, ProjectPlace};

/// `tm runs`.
#[derive(Debug, Args)]
pub struct Runs {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// What to do.
    #[command(subcommand)]
    pub command: RunsCommand,
}

/// The commands of `tm runs`.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List runs, the newest first
    ///
    /// Those of all tags, or with `--tag` only those of one.
    List(List),
    /// Show one run in a few lines, or what differs between two of its trees
    Show(Show),
    /// Print the journal of a run
    Log(OneRun),
    /// Print the report of a run
    ///
    /// As Markdown, as one HTML file with the pictures of the run in it, or as one JSON value with `--json`.
    Report(Report),
    /// Draw a run: its workflow with the way that it took, or its items and what depends on what
    Graph(RunGraph),
    /// Pack a run into one file: its journal, and the evidence that the journal names
    ///
    /// `tm verify --bundle FILE` proves commits by it where the run's own folder is not, as in CI. The file is lines of JSON, and
    /// holds its own hash. It has in it whatever test reports, prompts and settings of the run have: look at it before you give
    /// it to others.
    Export(Export),
}

/// `tm runs show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Show what differs between two trees of a subtask: those of reports (`red`, `green`, `refactor`), the commit that it began on
    /// (`base`), and its own (`commit`)
    #[arg(long, value_name = "TREE..TREE", value_parser = trees)]
    pub diff: Option<(String, String)>,
    /// The subtask; the last one that has both if left out
    #[arg(long, value_name = "ID", requires = "diff")]
    pub subtask: Option<String>,
}

fn trees(range: &str) -> Result<(String, String), &'static str> {
    match range.split_once("..") {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok((from.to_owned(), to.to_owned()))
        }
        _ => Err("two names with `..` between them, such as red..green"),
    }
}

/// `tm runs export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The file to write; `-` for standard output; RUN.tramline.jsonl in the current folder if left out
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The form of the file
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "bundle")]
    pub format: ExportFormat,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ExportFormat {
    /// Lines of JSON: what is in it, the journal, the evidence, the hash of all.
    Bundle,
}

/// `tm runs report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// What to write; if left out, what the ending of FILE says, else markdown
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Write it to this file, replacing what is there; `-` for standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For pull requests and terminals
    Markdown,
    /// For a browser: one file that needs nothing else, opens offline and prints
    Html,
}

impl Report {
    /// What to write.
    pub fn format(&self) -> ReportFormat {
        self.format.unwrap_or_else(|| {
            let ending = self.output.as_deref().and_then(Path::extension);
            match ending {
                Some(ending) if ending == "html" || ending == "htm" => ReportFormat::Html,
                _ => ReportFormat::Markdown,
            }
        })
    }
}

/// `tm runs graph`.
#[derive(Debug, Args)]
pub struct RunGraph {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Draw its items of this set, such as `subtasks`, `tasks`
    #[arg(long, value_name = "SET")]
    pub items: Option<String>,
    /// What to write; if left out, what the ending of FILE says, else mermaid
    #[arg(long, value_enum)]
    pub format: Option<RunGraphFormat>,
    /// Write it to this file, replacing what is there; `-` for standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What a run is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunGraphFormat {
    /// A Mermaid flowchart: for Markdown, wherever it is rendered
    Mermaid,
    /// A picture, for browsers and documents
    Svg,
}

impl RunGraph {
    /// What to write.
    pub fn format(&self) -> RunGraphFormat {
        self.format.unwrap_or_else(|| {
            let ending = self.output.as_deref().and_then(Path::extension);
            match ending {
                Some(ending) if ending == "svg" => RunGraphFormat::Svg,
                _ => RunGraphFormat::Mermaid,
            }
        })
    }
}

/// `tm runs list`.
#[derive(Debug, Args)]
pub struct List {
    /// The runs of every project
    #[arg(long)]
    pub all: bool,
    /// Only the runs with this status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<RunStatus>,
    /// At most this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

/// What a run can be.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RunStatus {
    /// It takes reports.
    Running,
    /// It waits to be resumed.
    Paused,
    /// It is over, all done.
    Completed,
    /// It is over, something was skipped.
    Failed,
    /// It was ended before its end.
    Aborted,
    /// It broke down.
    Error,
    /// It was called off by somebody inside.
    Cancelled,
}

impl RunStatus {
    /// The status as the files of a run have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A command about one run.
#[derive(Debug, Args)]
pub struct OneRun {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

/// `tm log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: LogCommand,
}

/// The commands of `tm log`.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Check the whole chain of a journal; exit status 6 if it is damaged
    Verify(OneRun),
    /// Mend a damaged journal: keep what is whole before the damage, and the old file beside it
    ///
    /// Events after the damage are lost to the run, so it asks first on a terminal, and needs `--yes` elsewhere. Where nothing can be
    /// kept, the run is given up and its folder kept aside.
    Repair(Repair),
    /// Show the run as it was after some event
    Replay(Replay),
}

/// `tm log repair`.
#[derive(Debug, Args)]
pub struct Repair {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Do not ask; needed where nobody can be asked
    #[arg(long)]
    pub yes: bool,
}

/// `tm log replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// The run: its number as in `r7`, its id, a task's id, or `last`; default: the present one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Number of the last event to fold; all of them if left out
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub to: Option<u64>,
}
