//! XML as a stream, with the limits that foreign text needs.
//!
//! Tags are taken apart by `quick-xml`. Text is not given to it: a report may hold all that its tests printed, and of that only
//! the beginning is kept.

mod attributes;
mod input;
mod text;

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::errors::Error;
use quick_xml::events::{BytesStart, Event as Markup};

use crate::limits::DEEPEST;
use crate::unreadable::{Kind, Unreadable};
use attributes::{Attribute, Attributes};
use input::Input;
pub(crate) use text::Text;

/// The longest name of an element, in bytes.
const LONGEST_NAME: usize = 1024;

/// What stands in the stream.
pub(crate) enum Event<'a> {
    /// An element begins.
    Start(Tag<'a>),
    /// The element that began last, and did not end yet, ends.
    End,
    /// Text or a CDATA section in the element that began last. What is blank is left out.
    Text(Text<'a>),
    /// A comment directly in the root element, where some runners write their numbers. All others are left out.
    Comment(&'a str),
    /// All of the document has been read; it was complete.
    Eof,
}

/// An XML document, read event by event.
pub(crate) struct Xml<R: BufRead> {
    reader: Reader<Input<R>>,
    /// Where `quick-xml` puts what it reads.
    markup: Vec<u8>,
    /// The tag that was read last, without its angle brackets.
    tag: OwnedTag,
    /// The beginning of the text that was read last.
    text: Vec<u8>,
    /// The line in which the last event begins.
    line: u64,
    depth: usize,
    /// Whether the element that began last was written `<so/>`.
    empty: bool,
    /// Whether there was a root element.
    rooted: bool,
    /// Whether only the name of the root is asked for, whatever is declared in front of it.
    looking: bool,
}

/// What [`Xml::advance`] came to; what belongs to it is in the fields.
enum Advanced {
    Start { name: usize },
    End,
    Text { cdata: bool },
    Comment,
    Eof,
}

impl<R: BufRead> Xml<R> {
    /// A document from its beginning. Lines in front of it that a package manager printed are left out.
    pub(crate) fn new(source: R) -> Result<Self, Unreadable> {
        let input = Input::new(source)?;
        Ok(Self {
            line: input.line(),
            reader: Reader::from_reader(input),
            markup: Vec::new(),
            tag: OwnedTag::default(),
            text: Vec::new(),
            depth: 0,
            empty: false,
            rooted: false,
            looking: false,
        })
    }

    /// The line in which the last event begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// How many elements have begun and did not end: within the root element 1.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// A fault at the last event.
    pub(crate) fn fault(&self, kind: Kind, message: impl Into<String>) -> Unreadable {
        Unreadable::new(kind, message).at_line(self.line)
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, Unreadable> {
        Ok(match self.advance()? {
            Advanced::Start { name } => Event::Start(Tag {
                content: &self.tag.0,
                name,
                line: self.line,
            }),
            Advanced::End => Event::End,
            Advanced::Text { cdata } => Event::Text(Text::new(&self.text, cdata)),
            Advanced::Comment => Event::Comment(&self.tag.0),
            Advanced::Eof => Event::Eof,
        })
    }

    /// Reads on to the end of the element whose [`Event::Start`] came last.
    pub(crate) fn skip(&mut self) -> Result<(), Unreadable> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.advance()?;
        }
        Ok(())
    }

    /// The next event, and what belongs to it in the fields.
    fn advance(&mut self) -> Result<Advanced, Unreadable> {
        if self.empty {
            self.empty = false;
            self.depth -= 1;
            return Ok(Advanced::End);
        }
        loop {
            let input = self.reader.get_mut();
            self.line = input.line();
            let ahead = input.ahead(b"<![CDATA[".len())?;
            let cdata = ahead == b"<![CDATA[";
            match ahead.first() {
                None => return self.end(),
                Some(b'<') if !cdata => {
                    if let Some(advanced) = self.markup()? {
                        return Ok(advanced);
                    }
                }
                Some(_) => {
                    let blank = if cdata {
                        text::take_cdata(input, &mut self.text)?
                    } else {
                        text::take_text(input, &mut self.text)?
                    };
                    if !blank && self.depth > 0 {
                        return Ok(Advanced::Text { cdata });
                    }
                    if !blank {
                        return Err(self.outside());
                    }
                }
            }
        }
    }

    /// The end of the stream, which is not always the end of the document.
    fn end(&self) -> Result<Advanced, Unreadable> {
        if self.depth > 0 {
            let message = format!("it ends where {} elements are still open", self.depth);
            return Err(self.fault(Kind::Truncated, message));
        }
        if !self.rooted {
            return Err(self.fault(Kind::Truncated, "it ends before its first element"));
        }
        Ok(Advanced::Eof)
    }

    /// Text that belongs to no element.
    fn outside(&self) -> Unreadable {
        if self.rooted {
            self.fault(Kind::Mixed, "after the end of the document there is text")
        } else {
            let message = "there is text in front of the first element";
            self.fault(Kind::Malformed, message)
        }
    }

    /// Reads from one angle bracket to the other. `None` is what no reader asks for: comments, processing instructions.
    fn markup(&mut self) -> Result<Option<Advanced>, Unreadable> {
        self.markup.clear();
        self.reader.get_mut().allow();
        let (name, empty) = match self.reader.read_event_into(&mut self.markup) {
            Ok(Markup::Start(tag)) => (self.tag.keep(&tag), false),
            Ok(Markup::Empty(tag)) => (self.tag.keep(&tag), true),
            Ok(Markup::End(_)) => {
                self.depth = self.depth.saturating_sub(1);
                return Ok(Some(Advanced::End));
            }
            Ok(Markup::DocType(declared)) => {
                let message = if self.looking {
                    return Ok(None);
                } else if declared.contains("<!ENTITY") {
                    "it declares entities of its own, and no test runner or coverage tool does that"
                } else if self.rooted {
                    "a document type is declared within the document"
                } else {
                    return Ok(None);
                };
                return Err(self.fault(Kind::Malformed, message));
            }
            Ok(Markup::Comment(comment)) if self.depth == 1 => {
                self.tag.keep_comment(&comment);
                return Ok(Some(Advanced::Comment));
            }
            Ok(Markup::Decl(_)) if self.rooted => {
                let message = "another document begins here: give the report of one run";
                return Err(self.fault(Kind::Mixed, message));
            }
            Ok(_) => return Ok(None),
            Err(error) => return Err(self.broken(error)),
        };
        self.begin(name, empty).map(Some)
    }

    fn begin(&mut self, name: usize, empty: bool) -> Result<Advanced, Unreadable> {
        if self.depth == 0 && self.rooted {
            let message =
                "after the end of the document another one begins: give the report of one run";
            return Err(self.fault(Kind::Mixed, message));
        }
        if name > LONGEST_NAME {
            let message = format!("the name of an element has more than {LONGEST_NAME} bytes");
            return Err(self.fault(Kind::TooLarge, message));
        }
        if self.depth == DEEPEST {
            let message = format!("more than {DEEPEST} elements are nested in each other");
            return Err(self.fault(Kind::TooLarge, message));
        }
        self.depth += 1;
        self.rooted = true;
        self.empty = empty;
        Ok(Advanced::Start { name })
    }

    /// What `quick-xml` says.
    fn broken(&mut self, error: Error) -> Unreadable {
        let at_end = match self.reader.get_mut().ahead(1) {
            Ok(ahead) => ahead.is_empty(),
            Err(fault) => return fault,
        };
        match error {
            Error::Io(error) => match input::too_long(&error) {
                Some(message) => self.fault(Kind::TooLarge, message),
                None => std::io::Error::new(error.kind(), error.to_string()).into(),
            },
            Error::Syntax(_) if at_end => self.fault(Kind::Truncated, "it ends within a tag"),
            error => self.fault(Kind::Malformed, format!("it is no XML: {error}")),
        }
    }
}

/// A tag that is kept while the stream goes on.
#[derive(Default)]
struct OwnedTag(String);

impl OwnedTag {
    /// Keeps it in place of the one before, and gives the length of its name.
    fn keep(&mut self, tag: &BytesStart<'_>) -> usize {
        self.0.clear();
        self.0.push_str(tag);
        tag.name().as_ref().len()
    }

    /// Keeps the beginning of a comment in its place.
    fn keep_comment(&mut self, comment: &str) {
        self.0.clear();
        self.0
            .push_str(&comment[..comment.floor_char_boundary(LONGEST_COMMENT)]);
    }
}

/// How much of a comment is kept, in bytes.
const LONGEST_COMMENT: usize = 256;

/// The beginning of an element.
#[derive(Clone, Copy)]
pub(crate) struct Tag<'a> {
    content: &'a str,
    name: usize,
    line: u64,
}

impl<'a> Tag<'a> {
    /// The name of the element, without a prefix.
    pub(crate) fn name(&self) -> &'a str {
        local(&self.content[..self.name])
    }

    /// The line in which it begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// A fault in it.
    pub(crate) fn fault(&self, kind: Kind, message: impl Into<String>) -> Unreadable {
        Unreadable::new(kind, message).at_line(self.line)
    }

    /// Its attributes, in their order; none is decoded before it is asked for its value.
    pub(crate) fn attributes(
        self,
    ) -> impl Iterator<Item = Result<Attribute<'a>, Unreadable>> + use<'a> {
        Attributes::new(&self.content[self.name..]).map(move |attribute| {
            attribute.map_err(|broken| {
                let message = format!("in the tag <{}> {broken}", self.name());
                self.fault(Kind::Malformed, message)
            })
        })
    }

    /// The value of one attribute. Who needs several goes through [`Tag::attributes`] once.
    pub(crate) fn attribute(self, name: &str) -> Result<Option<Cow<'a, str>>, Unreadable> {
        for attribute in self.attributes() {
            let attribute = attribute?;
            if attribute.name == name {
                return Ok(Some(attribute.value()));
            }
        }
        Ok(None)
    }
}

fn local(name: &str) -> &str {
    // Names are too short for a search that first prepares itself.
    let colon = name.bytes().rposition(|byte| byte == b':');
    colon.map_or(name, |colon| &name[colon + 1..])
}

/// The name of the root element of a document that begins like this, without a prefix.
pub(crate) fn root(head: &[u8]) -> Option<String> {
    let mut xml = Xml::new(head).ok()?;
    xml.looking = true;
    match xml.next().ok()? {
        Event::Start(tag) => Some(tag.name().to_owned()),
        _ => None,
    }
}
