//! Where somebody who follows runs left off, as a text that can be kept and given back.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::fault;
use crate::fault::Fault;

/// What a cursor begins with: its format.
const FORMAT: &str = "1";
/// Runs whose last event is older than this, counted from the newest one of all, are not named; in milliseconds. Clocks of one
/// machine may be set, but hardly by more.
const NAMED_FOR: i64 = 60_000;

/// Up to where the events of all runs were given out.
///
/// Its text is `1.MILLIS` and `.KEY=SEQ` for each run that moved shortly before, with keys of hexadecimal digits: of a run that is not
/// named everything up to MILLIS was given out, of one that is named everything up to the event SEQ. It stays short however many runs there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    newest: i64,
    runs: BTreeMap<String, (u64, i64)>,
}

impl Cursor {
    /// That nothing was given out of what comes after this moment.
    pub(super) fn at(millis: i64) -> Self {
        Self {
            newest: millis.saturating_add(NAMED_FOR),
            runs: BTreeMap::new(),
        }
    }

    /// Notes an event that is given out.
    pub(super) fn note(&mut self, key: &str, seq: u64, millis: i64) {
        self.newest = self.newest.max(millis);
        let since = self.since();
        match self.runs.get_mut(key) {
            Some(last) => *last = (seq, millis),
            None => {
                self.runs.insert(key.to_owned(), (seq, millis));
            }
        }
        self.runs.retain(|_, (_, last)| *last >= since);
    }

    /// Up to when everything of runs that are not named was given out, in milliseconds since 1970.
    pub(super) fn since(&self) -> i64 {
        self.newest.saturating_sub(NAMED_FOR)
    }

    /// The last event of this run that was given out, where it is named.
    pub(super) fn seen(&self, key: &str) -> Option<u64> {
        self.runs.get(key).map(|(seq, _)| *seq)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT}.{}", self.since())?;
        for (key, (seq, _)) in &self.runs {
            write!(f, ".{key}={seq}")?;
        }
        Ok(())
    }
}

impl FromStr for Cursor {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let wrong = || fault!("usage.cursor");
        let mut parts = text.split('.');
        let format = parts.next();
        let since: i64 = parts
            .next()
            .filter(|_| format == Some(FORMAT))
            .and_then(|since| since.parse().ok())
            .ok_or_else(wrong)?;
        let mut cursor = Self::at(since);
        for part in parts {
            let (key, seq) = part.split_once('=').ok_or_else(wrong)?;
            if !key.bytes().all(|letter| letter.is_ascii_hexdigit()) {
                return Err(wrong());
            }
            let seq = seq.parse().map_err(|_| wrong())?;
            // When it was is not said; that it was shortly before, is.
            cursor.runs.insert(key.to_owned(), (seq, cursor.newest));
        }
        Ok(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was(
            events in prop::collection::vec(("[0-9a-f]{1,20}", 1..1000_u64, 0..200_000_i64), 0..20)
        ) {
            let mut cursor = Cursor::default();
            for (key, seq, millis) in &events {
                cursor.note(key, *seq, *millis);
            }
            let text = cursor.to_string();
            prop_assert!(text.is_ascii() && !text.contains(char::is_whitespace));
            let read: Cursor = text.parse().unwrap();
            prop_assert_eq!(read.since(), cursor.since());
            for (key, _, _) in &events {
                prop_assert_eq!(read.seen(key), cursor.seen(key));
            }
        }
    }

    #[test]
    fn what_is_no_cursor_is_named_so() {
        for text in [
            "",
            "1",
            "2.5",
            "1.x",
            "1.5.a",
            "1.5.a=b",
            "1.5.%ff=1",
            "1.5.x=1",
            "1.5.a\n=1",
        ] {
            let fault = text.parse::<Cursor>().unwrap_err();
            assert_eq!(fault.code, "usage", "{text}");
        }
    }

    #[test]
    fn it_names_only_runs_that_moved_shortly_before() {
        let mut cursor = Cursor::default();
        for at in 0..1000 {
            cursor.note(&format!("{at:x}"), 1, at * 10_000);
        }
        assert!(cursor.to_string().len() < 200, "{cursor}");
    }
}
