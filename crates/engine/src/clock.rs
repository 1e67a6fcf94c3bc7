//! Time, behind a trait so that tests can hold it still.

use std::fmt;

/// Where times come from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Milliseconds since 1970, UTC.
    fn millis(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn millis(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }
}

/// The time as the journal writes it: UTC, RFC 3339, milliseconds.
pub fn stamp(millis: i64) -> String {
    let Ok(time) = jiff::Timestamp::from_millisecond(millis) else {
        return "1970-01-01T00:00:00.000Z".to_owned();
    };
    format!("{time:.3}")
}

/// Milliseconds since 1970 of a time as the journal writes it.
pub fn millis_of(stamp: &str) -> Option<i64> {
    stamp
        .parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_millisecond)
}

/// A length of time for people: `5m 30s`.
pub fn spoken(millis: u64) -> String {
    let seconds = millis / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{millis}ms"),
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s}s"),
        (h, m, _) => format!("{h}h {m}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_have_milliseconds_and_come_back() {
        assert_eq!(stamp(1_759_847_400_000), "2025-10-07T14:30:00.000Z");
        assert_eq!(stamp(1_759_847_400_007), "2025-10-07T14:30:00.007Z");
        assert_eq!(
            millis_of("2025-10-07T14:30:00.007Z"),
            Some(1_759_847_400_007)
        );
    }

    #[test]
    fn lengths_are_spoken() {
        assert_eq!(spoken(330_000), "5m 30s");
        assert_eq!(spoken(999), "999ms");
        assert_eq!(spoken(7_260_000), "2h 1m");
    }
}
