//! Why a bundle is refused.

use std::fmt;

use super::name::NameFault;
use crate::response::text::shown;

/// Why a bundle is refused: the first fault in the order of the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleError {
    pub(super) fault: BundleFault,
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) others: usize,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleFault {
    /// The response, or a file, is not UTF-8.
    NotText {
        /// The first byte that is none, counted from 1.
        byte: usize,
    },
    /// There is a NUL in it.
    Nul {
        /// Where, counted from 1.
        byte: usize,
    },
    /// There is no file.
    NoFile(NoFile),
    /// The file has no content.
    Empty,
    /// Text follows a marker that takes none.
    TextBehind,
    /// The name is one that a file of a bundle may not have.
    BadName(NameFault),
    /// Two files have the same name, as some file system sees it.
    Duplicate {
        /// The name of the one before.
        first: String,
        /// The line of that one.
        line: Option<usize>,
    },
    /// One file would be the folder of another.
    FileAndFolder {
        /// The other one.
        first: String,
        /// The line of that one.
        line: Option<usize>,
    },
    /// A folder is spelled in two ways, which are one on some file systems and two on others.
    FolderSpelling {
        /// The file with the other spelling.
        first: String,
        /// The line of that one.
        line: Option<usize>,
    },
    /// No pattern of allowed names fits.
    NotAllowed {
        /// The patterns.
        allowed: Vec<String>,
    },
    /// More files than there may be.
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// More bytes than there may be.
    TooLarge {
        /// How many there are.
        bytes: u64,
        /// How many there may be.
        most: u64,
    },
    /// A line that is nearly a marker.
    BadMarker {
        /// The line.
        text: String,
    },
    /// The response can be read in more than one way.
    Unclear(Ambiguity),
    /// A fenced block does not end.
    CutOff,
}

/// Why no file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoFile {
    /// There is nothing but white space.
    Blank,
    /// There is text, but neither a marker nor a fenced block.
    NeitherForm,
    /// There are fenced blocks, but none that names its file.
    NoBlockIsNamed,
    /// A marker has other text on its line.
    MarkerWithinLine,
    /// An empty list of files was given.
    NoneGiven,
}

/// Why a response can be read in more than one way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ambiguity {
    /// A marker stands in a fenced block: part of a file, or the start of one?
    MarkerInBlock {
        /// The line that opens the block.
        opened: usize,
    },
    /// A file's text begins with a fence and goes on behind the block's end.
    BeginsWithBlock,
    /// A Markdown file that is nothing but one block: a file that holds a block, or a file in a block?
    MarkdownInBlock,
    /// The block that holds a file names another one.
    OtherName {
        /// The name in the block's first line.
        name: String,
    },
    /// A block is opened inside of a block by a fence that is not shorter.
    NestedBlock {
        /// The line that opens the outer one.
        opened: usize,
    },
    /// A block's first line names two files.
    TwoNames {
        /// The second name.
        second: String,
    },
    /// A block is in a language of changes.
    Change,
    /// A path stands in the text right before a block that names no file.
    NameOutside {
        /// The path.
        name: String,
    },
    /// A block that names a file stands before the first marker: one of the files, or an example?
    BothForms,
}

impl BundleError {
    pub(super) fn new(fault: BundleFault) -> Self {
        Self {
            fault,
            file: None,
            line: None,
            others: 0,
        }
    }

    pub(super) fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    pub(super) fn of(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// What is wrong.
    pub fn fault(&self) -> &BundleFault {
        &self.fault
    }

    /// The file that it is about, as the response names it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The line of the response, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// How many other files are at fault as well.
    pub fn others(&self) -> usize {
        self.others
    }

    /// What to do now.
    pub fn suggestion(&self) -> String {
        const MARKERS: &str = "Begin each file with a line `<<<FILE: path/of/file.ext>>>`";
        match &self.fault {
            BundleFault::NotText { .. } => {
                "Write the response as UTF-8, not as UTF-16 or in an older encoding.".to_owned()
            },
            BundleFault::Nul { .. } => {
                "A bundle holds text only: leave binary files out, and write the response as UTF-8 \
                 (UTF-16 has such bytes everywhere)."
                    .to_owned()
            }
            BundleFault::NoFile(NoFile::MarkerWithinLine) => {
                "A marker has its line to itself: `<<<FILE: path/of/file.ext>>>`, without quotes, signs \
                 of lists or other text around it."
                    .to_owned()
            }
            BundleFault::NoFile(NoFile::NoBlockIsNamed) => format!(
                "{MARKERS}, or name the file behind the fence of its block: ```` ```rust src/lib.rs ````."
            ),
            BundleFault::NoFile(NoFile::NoneGiven) => "Give at least one file.".to_owned(),
            BundleFault::NoFile(_) => format!("{MARKERS}, with the file's whole text below it."),
            BundleFault::Empty => {
                "Write the file's whole text, or say what is meant in one line: `<<<EMPTY: name>>>` for a file \
                 without text, `<<<DELETE: name>>>` for one that goes."
                    .to_owned()
            }
            BundleFault::TextBehind => {
                "Behind a line that empties, deletes or moves a file stands the next such line, or the end: \
                 begin a file's text with `<<<FILE: name>>>`, and leave remarks out."
                    .to_owned()
            }
            BundleFault::BadName(_) => {
                "Name the file by its path below the folder of the code, with `/` between folders, such as \
                 `src/lib.rs`."
                    .to_owned()
            }
            BundleFault::Duplicate { .. } => {
                "Give each file once, with all of its text; names that differ in case alone are the \
                 same file on many systems. One that gets another name and another text goes by \
                 `<<<DELETE: name>>>`, and is given anew."
                    .to_owned()
            }
            BundleFault::FileAndFolder { .. } => "Rename one of them.".to_owned(),
            BundleFault::FolderSpelling { .. } => {
                "Spell each folder in one way, also with its capitals.".to_owned()
            }
            BundleFault::NotAllowed { allowed } => format!(
                "Allowed are {}. Leave the file out, or change what the profile allows.",
                listed(allowed)
            ),
            BundleFault::TooMany { most } => format!("Give at most {most} files in one response."),
            BundleFault::TooLarge { most, .. } => {
                format!("Keep the response within {most} bytes: leave generated files out.")
            }
            BundleFault::BadMarker { .. } => {
                "Write `<<<FILE: path/of/file.ext>>>` and nothing else on that line; in capitals, too, are `EMPTY`, \
                 `DELETE`, and `MOVE: old/name -> new/name`. A file that needs such a line as content goes in a \
                 fenced block that names it: ```` ```text notes.txt ````."
                    .to_owned()
            }
            BundleFault::Unclear(doubt) => doubt.suggestion().to_owned(),
            BundleFault::CutOff => {
                "Close the block with the fence that opened it. If the response was cut off, ask for it \
                 again."
                    .to_owned()
            }
        }
    }
}

impl Ambiguity {
    fn suggestion(&self) -> &'static str {
        match self {
            Self::MarkerInBlock { .. } => {
                "Leave the fences around markers out. A file that shows a marker as an example goes in \
                 a fenced block that names it, in a response without markers."
            }
            Self::BeginsWithBlock => {
                "Write the file's text alone behind its marker, without a fence and without remarks."
            }
            Self::MarkdownInBlock => {
                "Leave the fence out, or say ```` ```markdown ```` where the block is only the wrapping \
                 of a Markdown file."
            }
            Self::OtherName { .. } => "Give each file its own marker, or leave the fence out.",
            Self::NestedBlock { .. } => {
                "Open and close the outer block with a longer fence than any inside of it, such as four \
                 backticks; or begin files with markers instead: `<<<FILE: path/of/file.ext>>>`."
            }
            Self::TwoNames { .. } => "Give each file a block of its own.",
            Self::Change => "Give the whole text of the file, not the change to it.",
            Self::BothForms => {
                "Begin this file with a marker, too, `<<<FILE: path/of/file.ext>>>`, or leave the block out."
            }
            Self::NameOutside { .. } => {
                "Name the file behind the fence of its block (```` ```rust src/lib.rs ````), or leave \
                 the block out."
            }
        }
    }
}

fn listed(patterns: &[String]) -> String {
    const MOST: usize = 12;
    let mut names: Vec<String> = patterns
        .iter()
        .take(MOST)
        .map(|pattern| format!("`{}`", shown(pattern)))
        .collect();
    if patterns.len() > MOST {
        names.push(format!("{} more", patterns.len() - MOST));
    }
    names.join(", ")
}

impl fmt::Display for BundleError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        let file = self.file.as_deref().map(shown).unwrap_or_default();
        let of = |line: &Option<usize>| {
            line.map(|line| format!(" of line {line}"))
                .unwrap_or_default()
        };
        match &self.fault {
            BundleFault::NotText { byte } => {
                write!(out, "the response is not UTF-8 from byte {byte} on")
            }
            BundleFault::Nul { byte } if file.is_empty() => {
                write!(out, "the response is not text: byte {byte} is a NUL")
            }
            BundleFault::Nul { byte } => {
                write!(out, "`{file}` is not text: its byte {byte} is a NUL")
            }
            BundleFault::NoFile(why) => out.write_str(match why {
                NoFile::Blank => "the response is empty",
                NoFile::NoneGiven => "there is no file",
                NoFile::NeitherForm => "the response holds no file: no marker, and no fenced block",
                NoFile::NoBlockIsNamed => {
                    "the response holds no file: no marker, and no fenced block names a file"
                }
                NoFile::MarkerWithinLine => {
                    "the response holds no file: this marker has other text on its line"
                }
            }),
            BundleFault::Empty => write!(out, "`{file}` is empty"),
            BundleFault::TextBehind => {
                out.write_str("this text belongs to no file: the marker before it takes none")
            }
            BundleFault::BadName(NameFault::Missing) => out.write_str("a file has no name"),
            BundleFault::BadName(fault) => {
                write!(out, "`{file}` cannot be a file of a bundle: {fault}")
            }
            BundleFault::Duplicate { first, line } if *first == file => {
                write!(out, "`{file}` is there twice")?;
                line.map_or(Ok(()), |line| write!(out, ", first in line {line}"))
            }
            BundleFault::Duplicate { first, line } => write!(
                out,
                "`{file}` is the same file as `{}`{} where case and form of letters do not count",
                shown(first),
                of(line)
            ),
            BundleFault::FileAndFolder { first, line } => write!(
                out,
                "`{file}` and `{}`{} cannot both be: one is a folder of the other",
                shown(first),
                of(line)
            ),
            BundleFault::FolderSpelling { first, line } => write!(
                out,
                "`{file}` and `{}`{} spell the same folder in two ways",
                shown(first),
                of(line)
            ),
            BundleFault::NotAllowed { .. } => {
                write!(out, "`{file}` is not a name that the profile allows")
            }
            BundleFault::TooMany { most } => {
                write!(
                    out,
                    "the response holds more files than the {most} that are allowed"
                )
            }
            BundleFault::TooLarge { bytes, most } => {
                write!(out, "the response has {bytes} bytes; {most} are allowed")
            }
            BundleFault::BadMarker { text } => {
                write!(out, "`{}` is nearly a marker, but not one", shown(text))
            }
            BundleFault::Unclear(doubt) => doubt.describe(out, &file),
            BundleFault::CutOff if file.is_empty() => {
                out.write_str("the fenced block that is opened here is never closed")
            }
            BundleFault::CutOff => write!(out, "the fenced block of `{file}` is never closed"),
        }?;
        match self.others {
            0 => Ok(()),
            1 => out.write_str(" (and another file is at fault)"),
            others => write!(out, " (and {others} other files are at fault)"),
        }
    }
}

impl Ambiguity {
    fn describe(&self, out: &mut fmt::Formatter<'_>, file: &str) -> fmt::Result {
        match self {
            Self::MarkerInBlock { opened } => write!(
                out,
                "a marker stands in the fenced block that line {opened} opens: it may begin a file, or \
                 be part of one"
            ),
            Self::BeginsWithBlock => write!(
                out,
                "the text of `{file}` begins with a fenced block, but does not end with it"
            ),
            Self::MarkdownInBlock => write!(
                out,
                "`{file}` is one fenced block as a whole: it may be its text, or only its wrapping"
            ),
            Self::OtherName { name } => write!(
                out,
                "the fenced block in `{file}` names another file, `{}`",
                shown(name)
            ),
            Self::NestedBlock { opened } => write!(
                out,
                "a block is opened inside of the one of line {opened}, by a fence that is not shorter: \
                 where that one ends cannot be told"
            ),
            Self::TwoNames { second } => {
                write!(
                    out,
                    "the block of `{file}` names a second file, `{}`",
                    shown(second)
                )
            }
            Self::Change => write!(out, "the block of `{file}` holds a change, not the file"),
            Self::BothForms => write!(
                out,
                "a fenced block names `{file}` before the first marker: it may be one of the files, or an example"
            ),
            Self::NameOutside { name } => write!(
                out,
                "the line before this block is the path `{}`, but the block itself names no file",
                shown(name)
            ),
        }
    }
}

impl std::error::Error for BundleError {}
