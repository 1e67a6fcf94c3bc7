//! A report as a stream of bytes, of which the beginning can be looked at.

use std::io::{self, BufRead, BufReader, Read};

/// How much of the beginning is looked at to tell the format, in bytes.
pub(crate) const HEAD: usize = 64 * 1024;

/// A stream whose beginning can be looked at.
pub(crate) struct Source<'a> {
    head: Vec<u8>,
    taken: usize,
    rest: BufReader<Box<dyn Read + 'a>>,
}

impl<'a> Source<'a> {
    /// Reads the beginning. A byte order mark in front is left out.
    pub(crate) fn new(input: impl Read + 'a) -> io::Result<Self> {
        let mut input: Box<dyn Read + 'a> = Box::new(input);
        let mut head = Vec::new();
        input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        let taken = if head.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        Ok(Self {
            head,
            taken,
            rest: BufReader::with_capacity(HEAD, input),
        })
    }

    /// What is left of the first [`HEAD`] bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head[self.taken..]
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken < self.head.len() {
            Ok(&self.head[self.taken..])
        } else {
            self.rest.fill_buf()
        }
    }

    fn consume(&mut self, amount: usize) {
        if self.taken < self.head.len() {
            self.taken += amount;
        } else {
            self.rest.consume(amount);
        }
    }
}
