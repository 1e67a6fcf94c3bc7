//! A walk over a response that finds out which form it has, and reads the fenced form: each file in
//! a fenced code block that names it.

use std::collections::HashSet;

use super::error::{Ambiguity, BundleError, BundleFault, NoFile};
use super::label::{self, Label};
use super::marked;
use super::marker::{self, Marker};
use super::raw_file::{Becomes, Files, RawFile};
use super::rules::Rules;
use crate::markdown::{Fence, without_indentation};
use crate::response::text::{Line, lines};

/// Reads the files of a response in whichever form it has.
pub(super) fn read(text: &str, rules: &Rules) -> Result<Vec<RawFile>, BundleError> {
    let mut walk = Walk {
        text,
        rules,
        files: Files::new(rules),
        fault: None,
        open: None,
        heading: None,
        unnamed: Vec::new(),
        quoted: None,
        has_block: false,
        marker_within: None,
        whole: None,
    };
    for line in lines(text) {
        if walk.open.is_some() {
            walk.inside(&line);
        } else if let Some(files) = walk.outside(&line)? {
            return Ok(files);
        }
    }
    walk.end()
}

/// The block that is open.
struct Open<'a> {
    fence: Fence<'a>,
    line: usize,
    language: String,
    /// Whether the carriage returns of its lines are the response's, not the file's.
    drop_carriage_returns: bool,
    name: Option<String>,
    /// Where the text of the file begins.
    start: usize,
    expects: Expects,
    /// A path in the text before it.
    heading: Option<String>,
    /// Whether anything but blank lines came.
    has_text: bool,
    /// The language of a fence within, if the line before was one.
    nested: Option<String>,
    /// The first marker in a block without a name.
    marker: Option<Quoted>,
    /// Whether it stands right behind a marker that takes no text.
    is_behind: bool,
}

/// What the next line of a block may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// A comment that names the file.
    Name,
    /// A blank line that sets that comment apart.
    Gap,
    /// The text of the file.
    Text,
}

/// Markers in a block that names no file.
#[derive(Clone, Copy)]
struct Quoted {
    /// The line that opens the block.
    opened: usize,
    /// The line of the first marker.
    line: usize,
    /// From that line on.
    start: usize,
    /// Up to the line that closes the block.
    end: usize,
    /// Whether the block can be the wrapping of a whole response.
    wraps: bool,
}

struct Walk<'a> {
    text: &'a str,
    rules: &'a Rules,
    files: Files,
    /// The first fault of the fenced form. It counts only if the response has this form.
    fault: Option<BundleError>,
    open: Option<Open<'a>>,
    /// The path that the last line of text is, if it is one and nothing else.
    heading: Option<String>,
    /// Blocks without a name behind a path in the text.
    unnamed: Vec<(String, usize)>,
    quoted: Option<Quoted>,
    has_block: bool,
    marker_within: Option<usize>,
    /// The line of the last marker that takes no text, until text comes that is set apart from it.
    whole: Option<usize>,
}

impl<'a> Walk<'a> {
    fn fails(&mut self, fault: BundleFault, file: Option<&str>, line: usize) {
        if self.fault.is_none() {
            let error = BundleError::new(fault).at(line);
            self.fault = Some(match file {
                Some(file) => error.of(file),
                None => error,
            });
        }
    }

    /// Takes a line between blocks. The first marker makes it the marker form.
    fn outside(&mut self, line: &Line<'a>) -> Result<Option<Vec<RawFile>>, BundleError> {
        match marker::read(line.text) {
            Marker::Nearly => return Err(marked::nearly(line)),
            Marker::File(_) => {
                if let Some(quoted) = self.quoted {
                    return Err(quoted.doubt());
                }
                let before = std::mem::replace(&mut self.files, Files::new(self.rules));
                let (in_blocks, told) = before.split_by_text();
                let files = marked::read(&self.text[line.start..], line.number, told)?;
                // What is quoted of a file that is given anew is no second one; another file would be lost.
                let lost = in_blocks
                    .into_iter()
                    .find(|block| files.iter().all(|file| file.path != block.path));
                return match lost {
                    None => Ok(Some(files)),
                    Some(block) => {
                        let doubt = BundleFault::Unclear(Ambiguity::BothForms);
                        let error = BundleError::new(doubt).of(&block.path);
                        Err(error.at(block.line.unwrap_or(line.number)))
                    }
                };
            }
            Marker::Whole(whole) => {
                self.heading = None;
                self.files.push(RawFile::of(whole, line.number))?;
                self.whole = Some(line.number);
                return Ok(None);
            }
            Marker::None => {}
        }
        if let Some(fence) = Fence::open(line.text) {
            self.begin(fence, line);
            self.whole = None;
        } else if !line.is_blank() {
            // Prose is set apart by a blank line. What is not was meant for the file, and would be lost.
            if self
                .whole
                .take()
                .is_some_and(|whole| whole + 1 == line.number)
            {
                self.fails(BundleFault::TextBehind, None, line.number);
            }
            self.heading = label::from_text(line.text);
            if self.marker_within.is_none() && marker::is_within(line.text) {
                self.marker_within = Some(line.number);
            }
        }
        Ok(None)
    }

    fn begin(&mut self, fence: Fence<'a>, line: &Line<'a>) {
        self.has_block = true;
        if let Some(quoted) = &mut self.quoted {
            quoted.wraps = false;
        }
        let name = match label::from_info(fence.info) {
            Label::None => None,
            Label::Named(name) => Some(name),
            Label::Two(first, second) => {
                let doubt = Ambiguity::TwoNames { second };
                self.fails(BundleFault::Unclear(doubt), Some(&first), line.number);
                Some(first)
            }
        };
        let language = label::language(fence.info);
        self.open = Some(Open {
            fence,
            line: line.number,
            drop_carriage_returns: line.crlf,
            start: line.end,
            expects: if name.is_some() {
                Expects::Text
            } else {
                Expects::Name
            },
            heading: self.heading.take(),
            has_text: false,
            nested: None,
            marker: None,
            name,
            language,
            is_behind: self.whole.is_some(),
        });
    }

    /// Takes a line of the block that is open.
    fn inside(&mut self, line: &Line<'a>) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        if open.fence.closes(line.text) {
            self.close(open, line.start);
            return;
        }
        match open.expects {
            Expects::Name => {
                open.name = label::from_comment(line.text, &open.language);
                open.expects = Expects::Text;
                if open.name.is_some() {
                    open.start = line.end;
                    open.expects = Expects::Gap;
                }
            }
            Expects::Gap => {
                if line.is_blank() {
                    open.start = line.end;
                }
                open.expects = Expects::Text;
            }
            Expects::Text => {}
        }
        if Self::is_ambiguous(&mut open, line) {
            let doubt = Ambiguity::NestedBlock { opened: open.line };
            self.fails(
                BundleFault::Unclear(doubt),
                open.name.as_deref(),
                line.number,
            );
        }
        if open.name.is_none()
            && open.marker.is_none()
            && let Marker::File(_) | Marker::Whole(_) = marker::read(line.text)
        {
            open.marker = Some(Quoted {
                opened: open.line,
                line: line.number,
                start: line.start,
                end: self.text.len(),
                wraps: !open.has_text,
            });
        }
        open.has_text |= !line.is_blank();
        self.open = Some(open);
    }

    /// Whether the line shows that the block may have been meant to end elsewhere: by a fence that
    /// opens another one within, where it matters for a file.
    fn is_ambiguous(open: &mut Open<'a>, line: &Line<'a>) -> bool {
        let names_after_nested = open
            .nested
            .take()
            .is_some_and(|language| label::from_comment(line.text, &language).is_some());
        let Some(inner) = open.fence.nested(line.text) else {
            return names_after_nested;
        };
        open.nested = Some(label::language(inner.info));
        open.name.is_some() || open.marker.is_some() || label::from_info(inner.info) != Label::None
    }

    fn close(&mut self, open: Open<'a>, end: usize) {
        let Some(name) = open.name else {
            if open.is_behind && open.has_text {
                self.fails(BundleFault::TextBehind, None, open.line);
            }
            if let Some(path) = open.heading
                && open.has_text
            {
                // One too many to remember is one too many.
                if self.unnamed.len() == self.rules.max_files() {
                    let doubt = Ambiguity::NameOutside { name: path };
                    self.fails(BundleFault::Unclear(doubt), None, open.line);
                } else {
                    self.unnamed.push((path, open.line));
                }
            }
            match (&mut self.quoted, open.marker) {
                (Some(first), Some(_)) => first.wraps = false,
                (none @ None, Some(marker)) => *none = Some(Quoted { end, ..marker }),
                (_, None) => {}
            }
            return;
        };
        if label::is_change(&open.language) && !label::is_change_file(&name) {
            self.fails(
                BundleFault::Unclear(Ambiguity::Change),
                Some(&name),
                open.line,
            );
        }
        if self.fault.is_some() {
            return;
        }
        let mut content = String::with_capacity(end - open.start);
        let block = &self.text[open.start..end];
        let indent = open
            .fence
            .shared_indentation(lines(block).map(|line| line.text));
        for line in lines(block) {
            content.push_str(without_indentation(line.text, indent));
            content.push_str(line.ending(open.drop_carriage_returns));
        }
        let pushed = self.files.push(RawFile {
            path: name,
            becomes: Becomes::Text(content),
            line: Some(open.line),
        });
        if let Err(error) = pushed {
            self.fault = Some(error);
        }
    }

    fn end(mut self) -> Result<Vec<RawFile>, BundleError> {
        if let Some(open) = self.open.take() {
            self.fails(BundleFault::CutOff, open.name.as_deref(), open.line);
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let files = self.files.all();
        if let Some(quoted) = self.quoted {
            if quoted.wraps && files.is_empty() {
                return marked::read(
                    &self.text[quoted.start..quoted.end],
                    quoted.line,
                    Files::new(self.rules),
                );
            }
            return Err(quoted.doubt());
        }
        let given: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        if let Some((name, line)) = self
            .unnamed
            .into_iter()
            .find(|(path, _)| !given.contains(path.as_str()))
        {
            let doubt = Ambiguity::NameOutside { name };
            return Err(BundleError::new(BundleFault::Unclear(doubt)).at(line));
        }
        if !files.is_empty() {
            return Ok(files);
        }
        Err(match (self.has_block, self.marker_within) {
            (_, Some(line)) => {
                BundleError::new(BundleFault::NoFile(NoFile::MarkerWithinLine)).at(line)
            }
            (true, None) => BundleError::new(BundleFault::NoFile(NoFile::NoBlockIsNamed)),
            (false, None) if self.text.trim().is_empty() => {
                BundleError::new(BundleFault::NoFile(NoFile::Blank))
            }
            (false, None) => BundleError::new(BundleFault::NoFile(NoFile::NeitherForm)),
        })
    }
}

impl Quoted {
    fn doubt(&self) -> BundleError {
        let doubt = Ambiguity::MarkerInBlock {
            opened: self.opened,
        };
        BundleError::new(BundleFault::Unclear(doubt)).at(self.line)
    }
}
