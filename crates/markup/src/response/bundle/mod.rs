//! Reads a bundle: a response that holds files.
//!
//! # Marker form
//!
//! ```text
//! What stands here is ignored.
//! <<<FILE: src/lib.rs>>>
//! pub mod greeting;
//! <<<FILE: src/greeting.rs>>>
//! pub fn greet() {}
//! ```
//!
//! A line that is a marker, with blanks around it or none, opens a file, which goes on to the next
//! marker or to the end. Its text is exactly what stands there, blank lines included, but:
//!
//! * A text indented as a whole is taken back by that indentation: by the blanks that begin each of
//!   its lines, blank lines apart, wherever its marker stands. A file each of whose lines is
//!   indented on purpose is written in a fence, where indentation is kept.
//! * A text that is one fenced block as a whole is what the block holds. In a Markdown file, where
//!   a block is text as well, only a block that calls itself Markdown is a wrapping; one without a
//!   language may be either, and is refused.
//!
//! A marker opens a file wherever it stands. One between the two fences of a block may as well be
//! part of the file before it, so it is refused. So is a line that is nearly a marker, such as
//! `<<<File: a>>`. The whole response may be wrapped in one fenced block.
//!
//! Three more markers say all about a file in their own line, in either form: `<<<EMPTY: name>>>`
//! for a file without text, `<<<DELETE: name>>>` for one that goes, and `<<<MOVE: name -> other>>>`
//! for one that only gets another name. No text follows them.
//!
//! # Fenced form
//!
//! Without any marker of its own line outside of blocks, each fenced block that names a file is
//! that file:
//!
//! * behind the fence: `rust src/lib.rs`, `src/lib.rs`, `rust:src/lib.rs`, `python title="a/b.py"`,
//!   or with one of the keys `file`, `filename`, `filepath`, `path`; or else
//! * by a first line that is a comment with nothing but a path in it: `// src/lib.rs`, `# a.py`,
//!   `-- a.sql`, `<!-- a.html -->`, `/* a.css */`. This line, and a blank one right behind it, is
//!   the name and not part of the file: many formats have no comments, or need something else in
//!   their first line.
//!
//! Other blocks and the text around them are ignored, and markers within a named block are text.
//! The fence may be indented, or stand in a list; its indentation, and no more, is taken off the
//! lines. A block that holds fences needs a longer one. Refused is what could be read in two ways:
//! a fence that opens a block within one that it does not close, a block that never ends, a change
//! instead of a file, a path in the text right before a block without a name.
//!
//! # Line endings
//!
//! Where the marker, or the opening fence, ends in a carriage return and a line feed, the response
//! is written so, and the carriage returns of that file's lines are dropped with it. Behind a
//! marker that ends in a line feed alone, carriage returns are text and stay.

mod error;
mod fenced;
mod folding;
mod label;
mod marked;
mod marker;
mod name;
mod raw_file;
mod rules;
mod tree;

pub use error::{Ambiguity, BundleError, BundleFault, NoFile};
pub use name::NameFault;
pub use rules::{BadPattern, Rules};

use std::collections::HashMap;

use crate::response::text;
use raw_file::{Becomes, RawFile};
use tree::{Clash, Tree};

/// The files of a response, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Those that are written.
    pub files: Vec<File>,
    /// Those that go, by their paths.
    pub deleted: Vec<String>,
    /// Those that get another name.
    pub moved: Vec<Move>,
}

/// Another name of a file whose text stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Its path before.
    pub from: String,
    /// Its path from now on.
    pub to: String,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path from the root, with `/` between folders.
    pub path: String,
    /// Its whole text.
    pub content: String,
}

/// Reads the files of a response, all of them or none.
pub fn read(bytes: &[u8], rules: &Rules) -> Result<Bundle, BundleError> {
    check_size(bytes.len(), rules)?;
    let text = text::decode(bytes).map_err(|fault| {
        let byte = fault.byte;
        let line = fault.line;
        BundleError::new(if fault.is_nul {
            BundleFault::Nul { byte }
        } else {
            BundleFault::NotText { byte }
        })
        .at(line)
    })?;
    let found = fenced::read(text, rules)?;
    judge(found.iter().map(Named::of), rules)?;
    let mut bundle = Bundle::default();
    for RawFile { path, becomes, .. } in found {
        match becomes {
            Becomes::Text(content) => bundle.files.push(File { path, content }),
            Becomes::Empty => bundle.files.push(File {
                path,
                content: String::new(),
            }),
            Becomes::Gone => bundle.deleted.push(path),
            Becomes::Named(to) => bundle.moved.push(Move { from: path, to }),
        }
    }
    Ok(bundle)
}

/// Holds what comes from elsewhere, such as a profile's own processor, to the same rules. Its files may be blank.
pub fn check(files: &[File], deleted: &[String], rules: &Rules) -> Result<(), BundleError> {
    if files.is_empty() && deleted.is_empty() {
        return Err(BundleError::new(BundleFault::NoFile(NoFile::NoneGiven)));
    }
    check_size(
        files
            .iter()
            .map(|file| file.path.len() + file.content.len())
            .sum(),
        rules,
    )?;
    if let Some(beyond) = files.get(rules.max_files()) {
        let most = rules.max_files();
        return Err(BundleError::new(BundleFault::TooMany { most }).of(&beyond.path));
    }
    let named = files.iter().map(|file| Named {
        line: None,
        written: Some(&file.path),
        gone: None,
        text: None,
    });
    let gone = deleted.iter().map(|path| Named {
        line: None,
        written: None,
        gone: Some(path),
        text: None,
    });
    judge(named.chain(gone), rules)?;
    files.iter().try_for_each(|file| {
        no_nul(&file.content).map_err(|fault| BundleError::new(fault).of(&file.path))
    })
}

/// Holds one name to the rules by itself.
pub fn check_name(path: &str, rules: &Rules) -> Result<(), BundleError> {
    check_path(path, rules).map_err(|fault| BundleError::new(fault).of(path))
}

fn check_size(bytes: usize, rules: &Rules) -> Result<(), BundleError> {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if bytes > rules.max_bytes() {
        return Err(BundleError::new(BundleFault::TooLarge {
            bytes,
            most: rules.max_bytes(),
        }));
    }
    Ok(())
}

fn check_allowed(path: &str, rules: &Rules) -> Result<(), BundleFault> {
    if rules.allows(path) {
        return Ok(());
    }
    Err(BundleFault::NotAllowed {
        allowed: rules.patterns().to_owned(),
    })
}

/// The names of a file before and after, where there are such, and its text.
struct Named<'a> {
    line: Option<usize>,
    written: Option<&'a str>,
    gone: Option<&'a str>,
    /// Its text, which may not be blank; none where it may be.
    text: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn of(file: &'a RawFile) -> Self {
        let path = Some(file.path.as_str());
        let (written, gone, text) = match &file.becomes {
            Becomes::Text(text) => (path, None, Some(text.as_str())),
            Becomes::Empty => (path, None, None),
            Becomes::Gone => (None, path, None),
            Becomes::Named(to) => (Some(to.as_str()), path, None),
        };
        Self {
            line: file.line,
            written,
            gone,
            text,
        }
    }
}

/// Looks at all files and reports the first fault, with the number of other files at fault.
fn judge<'a>(files: impl Iterator<Item = Named<'a>>, rules: &Rules) -> Result<(), BundleError> {
    let mut tree = Tree::new();
    let mut before: Vec<(&str, Option<usize>)> = Vec::new();
    let mut gone: HashMap<&str, Option<usize>> = HashMap::new();
    let mut first: Option<BundleError> = None;
    let mut fails = |fault: BundleFault, path: &str, line: Option<usize>| match &mut first {
        Some(first) => first.others += 1,
        None => {
            first = Some(BundleError {
                fault,
                file: Some(path.to_owned()),
                line,
                others: 0,
            });
        }
    };
    for Named {
        line,
        written,
        gone: goes,
        text,
    } in files
    {
        if let Some(path) = goes {
            let verdict = check_path(path, rules).and_then(|()| match gone.insert(path, line) {
                Some(line) => Err(BundleFault::Duplicate {
                    first: path.to_owned(),
                    line,
                }),
                None => Ok(()),
            });
            if let Err(fault) = verdict {
                fails(fault, path, line);
            }
        }
        let Some(path) = written else { continue };
        before.push((path, line));
        let verdict = check_path(path, rules)
            .and_then(|()| {
                tree.insert(path, before.len() - 1)
                    .map_err(|clash| match clash {
                        Clash::Same(other) => BundleFault::Duplicate {
                            first: before[other].0.to_owned(),
                            line: before[other].1,
                        },
                        Clash::Spelling(other) => BundleFault::FolderSpelling {
                            first: before[other].0.to_owned(),
                            line: before[other].1,
                        },
                        Clash::Folder(other) => BundleFault::FileAndFolder {
                            first: before[other].0.to_owned(),
                            line: before[other].1,
                        },
                    })
            })
            .and_then(|()| text.map_or(Ok(()), check_content));
        if let Err(fault) = verdict {
            fails(fault, path, line);
        }
    }
    for (path, line) in before {
        if let Some(other) = gone.get(path) {
            let twice = BundleFault::Duplicate {
                first: path.to_owned(),
                line: *other,
            };
            fails(twice, path, line);
        }
    }
    first.map_or(Ok(()), Err)
}

fn check_path(path: &str, rules: &Rules) -> Result<(), BundleFault> {
    name::check(path, rules.max_path_bytes())
        .map_err(BundleFault::BadName)
        .and_then(|()| check_allowed(path, rules))
}

fn check_content(content: &str) -> Result<(), BundleFault> {
    if content.trim().is_empty() {
        return Err(BundleFault::Empty);
    }
    no_nul(content)
}

fn no_nul(content: &str) -> Result<(), BundleFault> {
    match content.find('\0') {
        Some(at) => Err(BundleFault::Nul { byte: at + 1 }),
        None => Ok(()),
    }
}
