//! How a browser comes to a token.
//!
//! Whoever starts the server gives a browser a code, in the part of an address that no server is sent and no log has
//! (`http://…/#code=…`). The page takes it out of the address and exchanges it for a token of its own: a code is good once, and for
//! a short time. The token is known to that tab and to this process alone, and ends with either.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

/// For how long a code is good.
pub const CODE_LIVES: Duration = Duration::from_mins(10);
/// For how long a token is good that is not used.
const TOKEN_LIVES: Duration = Duration::from_hours(12);
/// How many tokens there are at most; the one that was not used for longest makes room.
const MOST_TOKENS: usize = 64;
/// How many codes may wait to be used.
const MOST_CODES: usize = 16;

/// What somebody may do with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Look at runs.
    Look,
    /// Decide, too: the code was given by a process that a person started at a terminal.
    Decide,
}

/// Who was let in.
#[derive(Debug, Default)]
pub struct Access(Mutex<Given>);

#[derive(Debug, Default)]
struct Given {
    codes: Vec<Entry>,
    tokens: Vec<Entry>,
}

/// A secret, by its hash, and what it is good for.
#[derive(Debug)]
struct Entry {
    digest: [u8; 32],
    right: Right,
    used: Instant,
}

impl Access {
    /// A code for a browser, good once and for [`CODE_LIVES`]; with what its token will be good for.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn code(&self, right: Right) -> std::io::Result<String> {
        let code = secret()?;
        let mut given = self.given();
        if given.codes.len() >= MOST_CODES {
            given.codes.remove(0);
        }
        given.codes.push(Entry::of(&code, right));
        Ok(code)
    }

    /// Exchanges a code for a token.
    pub(crate) fn begin(&self, code: &str) -> Option<(String, Right)> {
        let digest = digest(code);
        let mut given = self.given();
        given
            .codes
            .retain(|entry| entry.used.elapsed() < CODE_LIVES);
        let at = given
            .codes
            .iter()
            .position(|entry| entry.digest == digest)?;
        let right = given.codes.remove(at).right;
        let token = secret().ok()?;
        if given.tokens.len() >= MOST_TOKENS {
            given.tokens.sort_by_key(|entry| entry.used);
            given.tokens.remove(0);
        }
        given.tokens.push(Entry::of(&token, right));
        Some((token, right))
    }

    /// What a token is good for.
    pub(crate) fn right(&self, token: &str) -> Option<Right> {
        let digest = digest(token);
        let mut given = self.given();
        given
            .tokens
            .retain(|entry| entry.used.elapsed() < TOKEN_LIVES);
        let entry = given
            .tokens
            .iter_mut()
            .find(|entry| entry.digest == digest)?;
        entry.used = Instant::now();
        Some(entry.right)
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn of(secret: &str, right: Right) -> Self {
        Self {
            digest: digest(secret),
            right,
            used: Instant::now(),
        }
    }
}

/// Compared in the place of the secret itself: how long that takes tells nothing of it.
fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn secret() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(hex(&bytes))
}

/// Bytes in hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_its_token_for_what_it_was_given_for() {
        let access = Access::default();
        let code = access.code(Right::Decide).unwrap();
        assert_eq!(access.right(&code), None, "a code is no token");
        let (token, right) = access.begin(&code).unwrap();
        assert_eq!(right, Right::Decide);
        assert_eq!(access.begin(&code), None, "a second time");
        assert_eq!(access.right(&token), Some(Right::Decide));
        assert_eq!(access.begin(&token), None, "a token is no code");
        let look = access.code(Right::Look).unwrap();
        let (token, _) = access.begin(&look).unwrap();
        assert_eq!(access.right(&token), Some(Right::Look));
        for wrong in ["", "a", &token[1..]] {
            assert_eq!(access.right(wrong), None);
        }
    }

    #[test]
    fn there_are_never_more_than_so_many() {
        let access = Access::default();
        let code = || access.code(Right::Look).unwrap();
        let first = code();
        let codes: Vec<String> = (0..MOST_CODES).map(|_| code()).collect();
        assert_eq!(access.begin(&first), None, "it made room");
        assert!(access.begin(&codes[0]).is_some());
        for _ in 0..2 * MOST_TOKENS {
            access.begin(&code()).unwrap();
        }
        assert_eq!(access.given().tokens.len(), MOST_TOKENS);
    }
}
