//! SHA-256 as lower-case hex, the only hash this crate uses.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The hash that the first line of a journal names as the one before it.
pub const ZERO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A SHA-256 as 64 lower-case ASCII hex digits, kept off the heap while a file is scanned.
pub(crate) type HexDigest = [u8; 64];

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// SHA-256 of `bytes` as 64 hex digits in a fixed array.
pub(crate) fn hex_digest(bytes: &[u8]) -> HexDigest {
    hex_array(&Sha256::digest(bytes))
}

/// SHA-256 of `begin`, and of `begin` and `end` together, for the price of the longer one.
pub(crate) fn sealed_digest(begin: &[u8], end: &[u8]) -> (HexDigest, HexDigest) {
    let mut hash = Sha256::new();
    hash.update(begin);
    let before = hex_array(&hash.clone().finalize());
    hash.update(end);
    (before, hex_array(&hash.finalize()))
}

fn hex_array(digest: &[u8]) -> HexDigest {
    let mut hex = [0u8; 64];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(digest) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 0x0f)];
    }
    hex
}

/// The digits of `hex` as text.
pub(crate) fn hex_text(hex: &HexDigest) -> String {
    hex.iter().map(|&digit| char::from(digit)).collect()
}

/// SHA-256 of `bytes` as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex_text(&hex_digest(bytes))
}

/// Hands a stream on, and hashes all of it.
pub struct Sha256Reader<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Sha256Reader<R> {
    /// Hashes what is read of `inner`.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
        }
    }

    /// Reads what is left, and returns the SHA-256 of everything.
    pub fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self.by_ref(), &mut io::sink())?;
        Ok(hex(&self.hash.finalize()))
    }
}

impl<R: Read> Read for Sha256Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.hash.update(&buffer[..length]);
        Ok(length)
    }
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(DIGITS[usize::from(digit)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0f)])
        .collect()
}

/// A checksum of `bytes` that costs a fraction of a SHA-256: for what can be made anew, and is read with every load. It
/// shows accidents: damage within any eight bytes always, any other with a certainty of 64 bits.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    const OTHER: u64 = 0xC2B2_AE3D_27D4_EB4F;
    // Each step maps the lane one to one, so that what is different stays different.
    let step = |lane: u64, word: u64| {
        let mixed = (lane ^ word).wrapping_mul(ODD);
        mixed ^ (mixed >> 29)
    };
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    };
    // Four lanes, because each step waits for the one before it in its lane.
    let mut lanes = [ODD, OTHER, !ODD, !OTHER];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, bytes) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = step(*lane, word(bytes));
        }
    }
    for (lane, bytes) in lanes.iter_mut().zip(blocks.remainder().chunks(8)) {
        *lane = step(*lane, word(bytes));
    }
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    lanes.into_iter().fold(step(OTHER, length), |sum, lane| {
        step(sum.rotate_left(23), lane)
    })
}

/// Whether `text` is a SHA-256 as this crate writes it: 64 lower-case hex digits.
pub fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| DIGITS.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_shows_in_the_checksum() {
        let bytes: Vec<u8> = (0..200_u8).map(|at| at.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            let sum = checksum(&bytes[..len]);
            assert_ne!(sum, checksum(&bytes[..=len]));
            for bit in 0..len * 8 {
                let mut changed = bytes[..len].to_vec();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(sum, checksum(&changed), "bit {bit} of {len} bytes");
            }
        }
        // What a crash leaves of a file that was not synced.
        let mut zeros = vec![7_u8; 4096];
        let sum = checksum(&zeros);
        zeros[1024..2048].fill(0);
        assert_ne!(sum, checksum(&zeros));
        assert_ne!(checksum(&[0; 32]), checksum(&[0; 64]));
    }
}
