//! The bytes of a document: in UTF-8 whatever they were in, with lines counted, and with an end to what one tag may take.

use std::fmt;
use std::io::{self, BufRead, Read};

use crate::unreadable::{Kind, Unreadable};

const CAPACITY: usize = 64 * 1024;

/// The most bytes between one angle bracket and the other. Some runners write a whole failure into an attribute.
const LONGEST_MARKUP: usize = 16 * 1024 * 1024;

/// How the bytes are to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Latin1,
    Utf16 { little: bool },
}

/// A source of which some bytes can be looked at before they are taken.
pub(super) struct Input<R> {
    source: R,
    encoding: Encoding,
    /// What was read from the source and could not be decoded yet: half of a character.
    undecoded: Vec<u8>,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    newlines: u64,
    /// What may still be taken of the present markup.
    allowed: usize,
}

impl<R: BufRead> Input<R> {
    /// Reads the beginning.
    pub(super) fn new(source: R) -> Result<Self, Unreadable> {
        let mut input = Self {
            source,
            encoding: Encoding::Utf8,
            undecoded: Vec::new(),
            buffer: Vec::with_capacity(CAPACITY),
            start: 0,
            ended: false,
            newlines: 0,
            allowed: LONGEST_MARKUP,
        };
        input.ahead(4096)?;
        input.tell_encoding()?;
        input.pass_preamble();
        Ok(input)
    }

    /// The line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.newlines + 1
    }

    /// What was read and not taken yet: this many bytes or more cut to it, fewer only at the end.
    pub(super) fn ahead(&mut self, length: usize) -> Result<&[u8], Unreadable> {
        while self.buffer.len() - self.start < length && !self.ended {
            self.refill()?;
        }
        let end = self.buffer.len().min(self.start + length);
        Ok(&self.buffer[self.start..end])
    }

    /// All that was read and not taken yet, and nothing only at the end.
    pub(super) fn available(&mut self) -> Result<&[u8], Unreadable> {
        self.ahead(1)?;
        Ok(&self.buffer[self.start..])
    }

    /// Takes bytes that were looked at.
    pub(super) fn take_in(&mut self, amount: usize) {
        let end = self.buffer.len().min(self.start + amount);
        self.newlines += newlines(&self.buffer[self.start..end]);
        self.start = end;
    }

    /// Lets the next markup have all that one may have.
    pub(super) fn allow(&mut self) {
        self.allowed = LONGEST_MARKUP;
    }

    fn refill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let read = loop {
            match self.source.fill_buf() {
                Ok(read) => break read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        self.ended = read.is_empty();
        let length = read.len();
        if self.encoding == Encoding::Utf8 {
            self.buffer.extend_from_slice(read);
            self.source.consume(length);
        } else {
            self.undecoded.extend_from_slice(read);
            self.source.consume(length);
            self.decode();
        }
        Ok(())
    }

    fn decode(&mut self) {
        match self.encoding {
            Encoding::Utf8 => self.buffer.append(&mut self.undecoded),
            Encoding::Latin1 => {
                let text: String = self.undecoded.drain(..).map(char::from).collect();
                self.buffer.extend_from_slice(text.as_bytes());
            }
            Encoding::Utf16 { little } => {
                let unit = |pair: &[u8]| {
                    let pair = [pair[0], pair[1]];
                    if little {
                        u16::from_le_bytes(pair)
                    } else {
                        u16::from_be_bytes(pair)
                    }
                };
                let mut whole = self.undecoded.len() / 2 * 2;
                // The first half of a pair waits for the other one.
                let halved = whole >= 2
                    && (0xd800..0xdc00).contains(&unit(&self.undecoded[whole - 2..whole]));
                if halved && !self.ended {
                    whole -= 2;
                }
                let units = self.undecoded[..whole].chunks_exact(2).map(unit);
                let text: String = char::decode_utf16(units)
                    .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                self.buffer.extend_from_slice(text.as_bytes());
                self.undecoded.drain(..whole);
            }
        }
    }

    /// Looks for a byte order mark, and for what the declaration says.
    fn tell_encoding(&mut self) -> Result<(), Unreadable> {
        let head = &self.buffer[self.start..];
        let (encoding, mark) = match head {
            [0xff, 0xfe, ..] => (Encoding::Utf16 { little: true }, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16 { little: false }, 2),
            [b'<', 0, ..] => (Encoding::Utf16 { little: true }, 0),
            [0, b'<', ..] => (Encoding::Utf16 { little: false }, 0),
            _ => (declared_encoding(head)?, 0),
        };
        self.start += mark;
        if encoding != Encoding::Utf8 {
            self.encoding = encoding;
            self.undecoded = self.buffer.split_off(self.start);
            self.decode();
        }
        Ok(())
    }

    /// Takes the lines that package managers print in front of what a runner writes, if that is all there is in front.
    fn pass_preamble(&mut self) {
        let head = &self.buffer[self.start..];
        let mut begins = 0;
        for line in head.split_inclusive(|byte| *byte == b'\n') {
            let length = line.len();
            let line = line.trim_ascii();
            if line.starts_with(b"<") {
                return self.take_in(begins);
            }
            let announces = [&b">"[..], b"$ ", b"npm ", b"yarn "];
            if !line.is_empty() && !announces.iter().any(|begin| line.starts_with(begin)) {
                return;
            }
            begins += length;
        }
    }
}

/// How many ends of lines there are. In pieces whose number fits in a byte, the compiler makes vector instructions of it.
fn newlines(bytes: &[u8]) -> u64 {
    bytes
        .chunks(255)
        .map(|piece| {
            let found: u8 = piece.iter().map(|byte| u8::from(*byte == b'\n')).sum();
            u64::from(found)
        })
        .sum()
}

/// Where a byte is first. Whole pieces without it are passed with vector instructions, which looking for it one by one is not.
pub(super) fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (pieces, rest) = bytes.as_chunks::<16>();
    let among = |piece: &[u8]| piece.iter().position(|byte| *byte == wanted);
    for (index, piece) in pieces.iter().enumerate() {
        let found: u8 = piece.iter().map(|byte| u8::from(*byte == wanted)).sum();
        if found > 0 {
            return among(piece).map(|at| index * 16 + at);
        }
    }
    among(rest).map(|at| pieces.len() * 16 + at)
}

/// What the declaration in the first line with an angle bracket says.
fn declared_encoding(head: &[u8]) -> Result<Encoding, Unreadable> {
    let Some(begins) = head.windows(5).position(|window| window == b"<?xml") else {
        return Ok(Encoding::Utf8);
    };
    let declaration = &head[begins..];
    let end = declaration.iter().position(|byte| *byte == b'>');
    let declaration = String::from_utf8_lossy(&declaration[..end.unwrap_or(declaration.len())]);
    let Some((_, named)) = declaration.split_once("encoding") else {
        return Ok(Encoding::Utf8);
    };
    let name = named.split(['"', '\'']).nth(1).unwrap_or_default();
    match name.to_ascii_lowercase().as_str() {
        // That of 16 bits is told by its bytes; where they are not, the declaration is left over from before.
        "" | "utf-8" | "utf8" | "utf-16" => Ok(Encoding::Utf8),
        "iso-8859-1" | "latin1" | "latin-1" | "us-ascii" | "ascii" => Ok(Encoding::Latin1),
        _ => {
            let message = format!(
                "it is encoded in {name:?}; UTF-8, UTF-16 and ISO-8859-1 are read: let its tool write UTF-8"
            );
            Err(Unreadable::new(Kind::Malformed, message).at_line(1))
        }
    }
}

/// For `quick-xml`.
impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.buffer.len() == self.start && !self.ended {
            self.refill()?;
        }
        if self.allowed == 0 && !self.ended {
            return Err(io::Error::other(TooLong));
        }
        let end = self.buffer.len().min(self.start + self.allowed);
        Ok(&self.buffer[self.start..end])
    }

    fn consume(&mut self, amount: usize) {
        self.allowed = self.allowed.saturating_sub(amount);
        self.take_in(amount);
    }
}

/// One markup is over its limit.
#[derive(Debug)]
struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tag or comment has more than {LONGEST_MARKUP} bytes")
    }
}

impl std::error::Error for TooLong {}

/// What is over its limit, if that is the error.
pub(super) fn too_long(error: &io::Error) -> Option<String> {
    let inner = error.get_ref()?;
    inner.is::<TooLong>().then(|| inner.to_string())
}
