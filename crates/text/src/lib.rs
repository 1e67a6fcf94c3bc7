//! Text for messages and prompts: what others wrote made plain, quoted and cut; what was probably meant; numbers of things; faults of YAML.
//!
//! Nothing here knows what it is about. What only one crate needs stays there.

pub mod diff;
pub mod plain;
pub mod quote;
pub mod yaml;

use std::fmt::Display;

/// From here on, by Jaro and Winkler, two names are taken to be meant as one.
const NEAR: f64 = 0.75;
/// The longest name that is compared, in bytes: what that costs grows with the product of the lengths.
const LONGEST_NAME: usize = 256;
/// The most names that a sentence lists.
const MOST_LISTED: usize = 8;

/// The name among `known` that was probably meant by `name`, whatever its case: one that looks alike, or holds the whole of it.
///
/// ```
/// assert_eq!(text::nearest("maxatempts", ["maxAttempts", "timeout"]), Some("maxAttempts"));
/// assert_eq!(text::nearest("attempts", ["maxGreenAttempts"]), Some("maxGreenAttempts"));
/// assert_eq!(text::nearest("branch", ["maxAttempts", "timeout"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name = name.to_lowercase();
    let long = name.chars().count() > 2;
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_NAME)
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let likeness = strsim::jaro_winkler(&name, &lower);
            let likeness = match long {
                // In short words one slip of the finger changes much of what Jaro and Winkler look at.
                true if strsim::osa_distance(&name, &lower) <= 1 => 1.0,
                true if lower.contains(&name) => likeness.max(NEAR),
                _ => likeness,
            };
            (likeness, candidate)
        })
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}

/// A number of things, each of which is called `one`.
///
/// ```
/// assert_eq!(text::counted(1, "file"), "1 file");
/// assert_eq!(text::counted(2, "file"), "2 files");
/// ```
pub fn counted(number: impl TryInto<u64>, one: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}

/// Words as a sentence lists them: `a, b and c`. Of many only the first are asked for, and the rest is counted.
///
/// ```
/// assert_eq!(text::listed(["a", "b", "c"].iter()), "a, b and c");
/// assert_eq!(text::listed(0..10), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
/// ```
pub fn listed<W: Display>(words: impl ExactSizeIterator<Item = W>) -> String {
    let more = words.len().saturating_sub(MOST_LISTED);
    let mut named: Vec<String> = words
        .take(MOST_LISTED)
        .map(|word| word.to_string())
        .collect();
    if more > 0 {
        return format!("{} and {more} more", named.join(", "));
    }
    match named.pop() {
        None => String::new(),
        Some(only) if named.is_empty() => only,
        Some(last) => format!("{} and {last}", named.join(", ")),
    }
}

/// The text on one line, and at most so many visible characters of it, with an ellipsis where more was there.
///
/// ```
/// assert_eq!(text::shortened("read the\nwhole file", 12), "read the…");
/// ```
pub fn shortened(text: &str, most: usize) -> String {
    let line = plain::one_line(text);
    let cut = plain::cut_at_word(&line, most);
    if cut.len() < line.len() {
        format!("{cut}…")
    } else {
        line
    }
}
