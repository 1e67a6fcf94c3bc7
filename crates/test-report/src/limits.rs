//! How much of a report is kept. What is over a limit is cut or refused, and never silently counted as something else.

/// The most tests that a report may name; a longer one is refused. The largest suites known have a tenth of it.
pub const MOST_TESTS: usize = 2_000_000;

/// The longest id of a test, in bytes. A longer one is cut at a character, and ends in a hash of all of it, so that two that
/// begin alike stay apart.
pub const LONGEST_ID: usize = 1024;

/// The longest message that is kept of a test, in bytes, cut at a character.
pub const LONGEST_MESSAGE: usize = 4096;

/// Of how many tests the message is kept; of later ones only the outcome is.
pub const MOST_MESSAGES: usize = 1000;

/// The most files that a coverage report may name; a longer one is refused.
pub const MOST_FILES: usize = 500_000;

/// The longest report in plain text or JSON without lines, in bytes, that has to be held as a whole to be understood.
pub const LONGEST_WHOLE: usize = 256 * 1024 * 1024;

/// How deep elements or values may be nested in each other.
pub const DEEPEST: usize = 128;
