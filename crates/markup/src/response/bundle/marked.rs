//! The marker form: each file behind a line that names it, up to the next such line or the end.

use super::error::{Ambiguity, BundleError, BundleFault};
use super::label::{self, Label};
use super::marker::{self, Marker};
use super::raw_file::{Becomes, Files, RawFile};
use crate::markdown::{Fence, without_indentation};
use crate::response::text::{BLANKS, Line, lines, lines_from};

/// A fenced block in the text of the files.
struct Block<'a> {
    fence: Fence<'a>,
    line: usize,
    /// The first marker in it.
    marker: Option<usize>,
}

/// A file whose end is not known yet.
struct OpenFile<'a> {
    name: &'a str,
    line: usize,
    /// Whether the carriage returns of its lines are the response's, not the file's.
    drop_carriage_returns: bool,
    start: usize,
}

/// Reads a text whose first line, with this number, is a marker, and adds its files to those that were told of before it.
pub(super) fn read(
    text: &str,
    first_line: usize,
    mut files: Files,
) -> Result<Vec<RawFile>, BundleError> {
    let mut begun: Option<OpenFile<'_>> = None;
    let mut block: Option<Block<'_>> = None;
    for line in lines_from(text, first_line) {
        match marker::read(line.text) {
            Marker::Nearly => return Err(nearly(&line)),
            marker @ (Marker::File(_) | Marker::Whole(_)) => {
                if let Some(file) = begun.take() {
                    files.push(finished(&file, &text[..line.start])?)?;
                }
                match marker {
                    Marker::File(name) => {
                        begun = Some(OpenFile {
                            name,
                            line: line.number,
                            drop_carriage_returns: line.crlf,
                            start: line.end,
                        });
                    }
                    Marker::Whole(whole) => files.push(RawFile::of(whole, line.number))?,
                    Marker::None | Marker::Nearly => {}
                }
                if let Some(block) = &mut block {
                    block.marker.get_or_insert(line.number);
                }
            }
            Marker::None if begun.is_none() && !line.is_blank() => {
                return Err(BundleError::new(BundleFault::TextBehind).at(line.number));
            }
            Marker::None => {
                let Some(open) = &block else {
                    block = Fence::open(line.text).map(|fence| Block {
                        fence,
                        line: line.number,
                        marker: None,
                    });
                    continue;
                };
                if open.fence.closes(line.text) {
                    if let Some(marker) = open.marker {
                        let doubt = Ambiguity::MarkerInBlock { opened: open.line };
                        return Err(BundleError::new(BundleFault::Unclear(doubt)).at(marker));
                    }
                    block = None;
                }
            }
        }
    }
    if let Some(file) = begun {
        files.push(finished(&file, text)?)?;
    }
    Ok(files.all())
}

pub(super) fn nearly(line: &Line<'_>) -> BundleError {
    BundleError::new(BundleFault::BadMarker {
        text: line.text.trim_matches(BLANKS).to_owned(),
    })
    .at(line.number)
}

fn finished(file: &OpenFile<'_>, text: &str) -> Result<RawFile, BundleError> {
    let body = taken_back(&text[file.start..], file.drop_carriage_returns);
    let content = match unwrapped(&body, file.name) {
        Ok(Some(inner)) => inner,
        Ok(None) => body,
        Err(fault) => return Err(BundleError::new(fault).of(file.name).at(file.line)),
    };
    Ok(RawFile {
        path: file.name.to_owned(),
        becomes: Becomes::Text(content),
        line: Some(file.line),
    })
}

/// The text without the indentation that all its lines have in common.
fn taken_back(body: &str, drop_carriage_returns: bool) -> String {
    let mut common: Option<&str> = None;
    for line in lines(body).filter(|line| !line.is_blank()) {
        let own = &line.text[..line.text.len() - line.text.trim_start_matches([' ', '\t']).len()];
        let shared = match common {
            None => own,
            Some(common) => {
                let same = common
                    .bytes()
                    .zip(own.bytes())
                    .take_while(|(a, b)| a == b)
                    .count();
                &own[..same]
            }
        };
        common = Some(shared);
        if shared.is_empty() {
            break;
        }
    }
    let common = common.unwrap_or_default();
    if common.is_empty() && !drop_carriage_returns {
        return body.to_owned();
    }
    let mut out = String::with_capacity(body.len());
    for line in lines(body) {
        // A line of white space alone may have less of it.
        let rest = line.text.strip_prefix(common);
        out.push_str(rest.unwrap_or_else(|| line.text.trim_start_matches([' ', '\t'])));
        out.push_str(line.ending(drop_carriage_returns));
    }
    out
}

/// The text in the one fenced block that a body is, if it is one.
///
/// Where a fence belongs to the language of the file, it is taken for a wrapping only if it says
/// that it wraps Markdown.
fn unwrapped(body: &str, name: &str) -> Result<Option<String>, BundleFault> {
    let mut rest = lines(body).skip_while(Line::is_blank);
    let Some(first) = rest.next() else {
        return Ok(None);
    };
    let Some(fence) = Fence::open(first.text).filter(|fence| !fence.in_list) else {
        return Ok(None);
    };
    let language = label::language(fence.info);
    let in_markdown = label::is_markdown_file(name);
    let closing = rest.by_ref().find(|line| fence.closes(line.text));
    let closed = closing.is_some();
    let block = &body[first.end..closing.map_or(body.len(), |line| line.start)];
    let indent = fence.shared_indentation(lines(block).map(|line| line.text));
    let mut inner = String::with_capacity(block.len());
    for line in lines(block) {
        inner.push_str(without_indentation(line.text, indent));
        inner.push_str(line.ending(false));
    }
    let is_whole = closed && rest.by_ref().all(|line| line.is_blank());
    if in_markdown && !label::is_markdown(&language) {
        let may_wrap = matches!(
            language.as_str(),
            "" | "text" | "txt" | "plain" | "plaintext"
        );
        if is_whole && may_wrap {
            return Err(BundleFault::Unclear(Ambiguity::MarkdownInBlock));
        }
        return Ok(None);
    }
    if !is_whole {
        if in_markdown && closed && ends_outside_of_blocks(body) {
            return Ok(None);
        }
        return Err(if closed {
            BundleFault::Unclear(Ambiguity::BeginsWithBlock)
        } else {
            BundleFault::CutOff
        });
    }
    match label::from_info(fence.info) {
        Label::Named(other) if other != name => {
            Err(BundleFault::Unclear(Ambiguity::OtherName { name: other }))
        }
        Label::Two(_, second) => Err(BundleFault::Unclear(Ambiguity::OtherName { name: second })),
        Label::Named(_) | Label::None => Ok(Some(inner)),
    }
}

fn ends_outside_of_blocks(text: &str) -> bool {
    let mut open: Option<Fence<'_>> = None;
    for line in lines(text) {
        open = match open {
            None => Fence::open(line.text),
            Some(fence) if fence.closes(line.text) => None,
            Some(fence) => Some(fence),
        };
    }
    open.is_none()
}
