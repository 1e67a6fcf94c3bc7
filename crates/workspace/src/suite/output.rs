//! What a suite prints: each of its two streams by itself, and both as one.

use journal::digest::hex;
use sha2::{Digest as _, Sha256};

use crate::process::head_and_tail::HeadAndTail;

/// This much is kept of the beginning of a stream, and as much of its end.
const KEPT_EACH: usize = 32 << 20;
/// A line longer than this is passed on before it has ended.
const LONGEST_LINE: usize = 64 << 10;

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// All that was printed so far.
pub(super) struct Output {
    stdout: One,
    stderr: One,
    both: HeadAndTail,
    hash: Sha256,
    /// Nothing is taken in any more: what left the group may still print.
    closed: bool,
}

struct One {
    kept: HeadAndTail,
    /// The beginning of a line that has not ended: in the joint stream, lines stay in one piece.
    line: Vec<u8>,
}

impl One {
    fn new(most_each: usize) -> Self {
        Self {
            kept: HeadAndTail::new(most_each),
            line: Vec::new(),
        }
    }
}

/// What was printed in the end.
pub(super) struct PrintedText {
    pub(super) stdout: (Vec<u8>, u64),
    pub(super) stderr: (Vec<u8>, u64),
    pub(super) both: (Vec<u8>, u64),
    pub(super) sha256: String,
}

impl Output {
    pub(super) fn new() -> Self {
        Self::with_room(KEPT_EACH)
    }

    fn with_room(most_each: usize) -> Self {
        Self {
            stdout: One::new(most_each),
            stderr: One::new(most_each),
            both: HeadAndTail::new(most_each),
            hash: Sha256::new(),
            closed: false,
        }
    }

    /// Takes in what came on a stream.
    pub(super) fn push(&mut self, stream: Stream, piece: &[u8]) {
        if self.closed {
            return;
        }
        let one = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        one.kept.push(piece);
        let whole = piece
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let (ended, begun) = piece.split_at(whole);
        if !ended.is_empty() {
            let line = std::mem::take(&mut one.line);
            join(&mut self.both, &mut self.hash, &line);
            join(&mut self.both, &mut self.hash, ended);
        }
        one.line.extend_from_slice(begun);
        if one.line.len() > LONGEST_LINE {
            let line = std::mem::take(&mut one.line);
            join(&mut self.both, &mut self.hash, &line);
        }
    }

    /// Ends it, and gives what was kept.
    pub(super) fn finish(&mut self) -> PrintedText {
        self.closed = true;
        for one in [&mut self.stdout, &mut self.stderr] {
            let line = std::mem::take(&mut one.line);
            join(&mut self.both, &mut self.hash, &line);
        }
        let digest = std::mem::take(&mut self.hash).finalize();
        PrintedText {
            stdout: self.stdout.kept.take(),
            stderr: self.stderr.kept.take(),
            both: self.both.take(),
            sha256: hex(&digest),
        }
    }
}

fn join(both: &mut HeadAndTail, hash: &mut Sha256, bytes: &[u8]) {
    both.push(bytes);
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stream::{Stderr, Stdout};

    #[test]
    fn lines_of_both_stay_whole() {
        let mut output = Output::new();
        for (stream, piece) in [
            (Stdout, "test a ..."),
            (Stderr, "warning: b\nwarn"),
            (Stdout, " ok\ntest c"),
            (Stderr, "ing: d\n"),
        ] {
            output.push(stream, piece.as_bytes());
        }
        let printed = output.finish();
        let text = String::from_utf8(printed.both.0).unwrap();
        assert_eq!(text, "warning: b\ntest a ... ok\nwarning: d\ntest c");
        assert_eq!(printed.stdout.0, b"test a ... ok\ntest c");
        assert_eq!(printed.stderr.0, b"warning: b\nwarning: d\n");
        assert_eq!(printed.sha256, hex(&Sha256::digest(text.as_bytes())));
        output.push(Stdout, b"late\n");
        assert!(output.finish().both.0.is_empty());
    }

    #[test]
    fn the_hash_is_over_what_was_left_out_too_and_a_line_without_end_is_not_held_back() {
        let lines = (0..10_000).map(|number| format!("line {number}\n"));
        let lines: String = lines.collect();
        for (text, left_out) in [(lines, 98_600), ("x".repeat(1_000_000), 999_800)] {
            let mut output = Output::with_room(100);
            for piece in text.as_bytes().chunks(1000) {
                output.push(Stdout, piece);
                assert!(output.stdout.line.len() <= LONGEST_LINE + 1000);
            }
            output.push(Stderr, b"short\n");
            let printed = output.finish();
            assert!(printed.both.0.len() < 300 && printed.both.1 >= left_out);
            assert_eq!(printed.stderr, (b"short\n".to_vec(), 0));
            if text.ends_with('\n') {
                let all = text + "short\n";
                assert_eq!(printed.sha256, hex(&Sha256::digest(all.as_bytes())));
            }
        }
    }
}
