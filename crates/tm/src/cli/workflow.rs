//! `tm workflow graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use conductor::GraphFormat;

/// `tm workflow graph`.
#[derive(Debug, Args)]
pub struct Graph {
    /// The workflow: its id, or a YAML file; that of the run if left out
    #[arg(value_name = "ID", required_unless_present = "run")]
    pub workflow: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Draw the definition that this run is pinned to, and mark where it is; the run's id, or the beginning of it
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

impl From<Format> for GraphFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Mermaid => Self::Mermaid,
            Format::Dot => Self::Dot,
            Format::Svg => Self::Svg,
        }
    }
}
