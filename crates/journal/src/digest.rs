//! SHA-256 as lower-case hex, the only hash this crate uses.

use sha2::{Digest, Sha256};

/// The hash that the first line of a journal names as the one before it.
pub const ZERO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A SHA-256 as 64 lower-case ASCII hex digits, kept off the heap while a file is scanned.
pub(crate) type HexDigest = [u8; 64];

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// SHA-256 of `bytes` as 64 hex digits in a fixed array.
pub(crate) fn hex_digest(bytes: &[u8]) -> HexDigest {
    let mut hex = [0u8; 64];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(Sha256::digest(bytes).iter()) {
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

/// Whether `text` is a SHA-256 as this crate writes it: 64 lower-case hex digits.
pub fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| DIGITS.contains(&byte))
}
