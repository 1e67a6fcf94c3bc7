//! The pages of the documentation, and what is shown in them.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use markup::markdown::fenced_code;

/// The folders with pages, from the workspace's own.
const FOLDERS: [&str; 8] = [
    "",
    "docs",
    "docs/tutorials",
    "docs/explanation",
    "plugins/tramline",
    "packaging/npm",
    "examples/collab",
    "examples/profiles",
];

/// The folder of the workspace, as it really is.
///
/// # Panics
/// Where it is not there any more.
pub fn workspace() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap()
}

/// All pages.
///
/// # Panics
/// Where a folder with pages is not there.
pub fn pages() -> Vec<PathBuf> {
    let files = FOLDERS
        .iter()
        .flat_map(|folder| fs::read_dir(workspace().join(folder)).unwrap());
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect()
}

/// A fenced block of a page.
#[derive(Debug)]
pub struct Block<'p> {
    /// What is said of it behind its fence.
    pub language: &'p str,
    /// The line above it that says something.
    pub above: &'p str,
    /// What is in it.
    pub text: &'p str,
    /// Where that begins.
    pub at: usize,
}

/// The fenced blocks of a page.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let block = |range: Range<usize>| {
        let whole = &page[range.clone()];
        let (fence, rest) = whole.split_once('\n')?;
        let text = &rest[..rest.trim_end().rfind('\n').map_or(0, |end| end + 1)];
        let above = page[..range.start].trim_end().lines().next_back();
        Some(Block {
            language: fence.trim_start_matches(['`', '~']).trim(),
            above: above.unwrap_or_default(),
            text,
            at: range.start + fence.len() + 1,
        })
    };
    fenced_code(page).into_iter().filter_map(block).collect()
}

/// A command of a block, and what the page says that it prints.
#[derive(Debug)]
pub struct Typed<'p> {
    /// As it is typed; several lines where one goes on in the next.
    pub command: &'p str,
    /// What it prints.
    pub output: &'p str,
}

/// The commands of a block that begin with a prompt.
///
/// # Panics
/// Where something stands before the first of them.
pub fn typed(block: &str) -> Vec<Typed<'_>> {
    let mut all = Vec::new();
    let mut rest = block;
    while let Some(begin) = rest.strip_prefix("$ ") {
        let mut end = 0;
        for line in begin.split_inclusive('\n') {
            end += line.len();
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let (command, behind) = begin.split_at(end);
        let next = behind.find("\n$ ").map(|at| at + 1);
        let next = if behind.starts_with("$ ") {
            Some(0)
        } else {
            next
        };
        let (output, more) = behind.split_at(next.unwrap_or(behind.len()));
        let command = command.trim_end();
        all.push(Typed { command, output });
        rest = more;
    }
    assert!(rest.trim().is_empty(), "no command: {rest}");
    all
}
