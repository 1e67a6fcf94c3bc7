//! `tm tasks`.

use clap::{Args, Subcommand};
use engine::tasks::ImportRequest;

use super::Place;

/// `tm tasks`.
#[derive(Debug, Args)]
pub struct Tasks {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// What to do.
    #[command(subcommand)]
    pub command: TasksCommand,
}

/// The commands of `tm tasks`.
#[derive(Debug, Subcommand)]
pub enum TasksCommand {
    /// List the tasks of the tasks file, with what each waits for
    List {
        /// Those that are done or cancelled, too
        #[arg(long)]
        all: bool,
    },
    /// Show a task with its subtasks
    Show {
        /// The task's id
        #[arg(value_name = "TASK")]
        id: String,
    },
    /// Show the first task of which a run can begin now; exit status 7 if there is none
    Next,
    /// Bring the tasks of other tools into the tasks file
    ///
    /// Those that came before are found again and brought up to date; what is done here stays done. What cannot be read is told with its
    /// line. A source is a file or a folder: `specs/001-x/tasks.md` of spec-kit, `openspec/changes/ID`, `.beads/issues.jsonl`, the folder
    /// of Backlog.md, JSON of GitHub's issues; or an issue's number, such as `#12`, which `gh` is asked for.
    #[command(
        after_long_help = "Examples:\n  tm tasks import specs/001-accounts\n  tm tasks import openspec/changes/add-store --dry-run\n  \
                           tm tasks import '#12' '#13'\n  gh issue list --limit 200 --json number,title,body,labels,state > issues.json; tm tasks import issues.json"
    )]
    Import(Import),
    /// Write into the sources of tasks that those are done which are done here
    ///
    /// A checkbox is ticked, or a status set; nothing else of the file is changed. Where the source is another program's, the command is
    /// told that does it.
    WriteBack {
        /// Only say what would be written
        #[arg(long)]
        dry_run: bool,
    },
}

/// `tm tasks import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Files, folders, or numbers of issues
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<String>,
    /// What they are, where that is not told by their content: `spec-kit`, `openspec`, `beads`, `backlog` or `github`
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,
    /// Those that are done or cancelled in their source, too
    #[arg(long)]
    pub all: bool,
    /// Only say what would be brought in
    #[arg(long)]
    pub dry_run: bool,
}

impl Import {
    /// It as the engine takes it.
    pub fn request(self) -> ImportRequest {
        ImportRequest {
            sources: self.sources,
            format: self.from,
            all: self.all,
            dry_run: self.dry_run,
        }
    }
}
