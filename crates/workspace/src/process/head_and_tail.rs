//! What is kept of output that may have no end.

use std::collections::VecDeque;

/// The beginning and the end of what was printed, with what lay between left out.
#[derive(Debug)]
pub(crate) struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    most_each: usize,
    left_out: u64,
}

impl HeadAndTail {
    /// Keeps this much of the beginning, and as much of the end.
    pub(crate) fn new(most_each: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            most_each,
            left_out: 0,
        }
    }

    /// Takes in what was printed next.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        let room = self.most_each - self.head.len();
        let (head, rest) = piece.split_at(piece.len().min(room));
        self.head.extend_from_slice(head);
        // Of a piece longer than the end that is kept, only its own end can stay.
        let skipped = rest.len().saturating_sub(self.most_each);
        let rest = &rest[skipped..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.most_each);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
        self.left_out += (skipped + surplus) as u64;
    }

    /// What was kept, and how many bytes were not. Where some were not, the beginning ends and the end begins with a
    /// whole line, so that no two halves become a line that nobody printed; a line between them tells of the gap.
    pub(crate) fn take(&mut self) -> (Vec<u8>, u64) {
        let mut kept = std::mem::take(&mut self.head);
        let tail = std::mem::take(&mut self.tail);
        let mut left_out = std::mem::take(&mut self.left_out);
        let tail = Vec::from(tail);
        let mut tail = tail.as_slice();
        if left_out > 0 {
            if let Some(end) = kept.iter().rposition(|byte| *byte == b'\n') {
                left_out += (kept.len() - end - 1) as u64;
                kept.truncate(end + 1);
            } else {
                kept.push(b'\n');
            }
            if let Some(end) = tail.iter().position(|byte| *byte == b'\n') {
                left_out += end as u64 + 1;
                tail = &tail[end + 1..];
            }
            kept.extend_from_slice(format!("[… {left_out} bytes left out …]\n").as_bytes());
        }
        kept.extend_from_slice(tail);
        (kept, left_out)
    }
}

/// The end of what was printed.
pub(super) struct Tail {
    bytes: Vec<u8>,
    most: usize,
    left_out: u64,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
            left_out: 0,
        }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Cut only when twice the size is reached, so that each byte is moved a bounded number of times.
        if self.bytes.len() > self.most.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..surplus);
        self.left_out += surplus as u64;
    }

    pub(super) fn take(&mut self) -> (Vec<u8>, u64) {
        self.cut();
        (std::mem::take(&mut self.bytes), self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_than_fits_both_ends_are_kept_in_whole_lines() {
        let many = (0..1000).map(|number| format!("{number:03}\n"));
        let many: String = many.collect();
        let ends = "000\n001\n[… 3984 bytes left out …]\n998\n999\n";
        let endless = "abcdefghijklmnopqrstuvwxyz";
        for (room, text, expected, left_out) in [
            (4, "abcdefgh", "abcdefgh", 0),
            (10, &many, ends, 3984),
            (3, endless, "abc\n[… 20 bytes left out …]\nxyz", 20),
        ] {
            for piece in [4, text.len()] {
                let mut kept = HeadAndTail::new(room);
                text.as_bytes().chunks(piece).for_each(|it| kept.push(it));
                assert_eq!(kept.take(), (expected.into(), left_out), "{text}");
            }
        }
    }
}
