//! `tm workflow graph`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use engine::GraphFormat;

/// `tm workflow graph`.
#[derive(Debug, Args)]
pub struct Graph {
    /// The workflow: its id, or a YAML file; that of the run if left out
    #[arg(value_name = "WORKFLOW", required_unless_present = "run")]
    pub workflow: Option<PathBuf>,
    /// What to write; if left out, what the ending of FILE says, else mermaid
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Draw the definition that this run is pinned to, and mark where it is; its number as in `r7`, or its id
    #[arg(long, value_name = "RUN", alias = "run-id")]
    pub run: Option<String>,
    /// Write it to this file, replacing what is there; `-` for standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What a workflow is drawn in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A Mermaid flowchart: for Markdown, wherever it is rendered
    #[default]
    Mermaid,
    /// A Graphviz digraph: for `dot`
    Dot,
    /// A picture, for browsers and documents
    Svg,
}

impl Graph {
    /// What to write.
    pub fn format(&self) -> Format {
        let ending = self.output.as_deref().and_then(Path::extension);
        let by_ending = || match ending?.to_str()? {
            "svg" => Some(Format::Svg),
            "dot" | "gv" => Some(Format::Dot),
            _ => None,
        };
        self.format.or_else(by_ending).unwrap_or_default()
    }
}

impl From<Format> for GraphFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Mermaid => Self::Mermaid,
            Format::Dot => Self::Dot,
            Format::Svg => Self::Svg,
        }
    }
}
