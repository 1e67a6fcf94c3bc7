//! Differences between texts.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, TextDiff, capture_diff_slices};

/// The difference between two contents of the file `name`, in the unified form with three lines of context; `None` is a file that
/// is not there. Empty where both are the same.
///
/// ```
/// let diff = text::diff::unified("a.txt", Some("1\n2\n"), Some("1\n3\n"));
/// assert_eq!(diff, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n");
/// ```
pub fn unified(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let headed = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{name}"),
        None => "/dev/null".to_owned(),
    };
    TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .header(&headed("a", before), &headed("b", after))
        .to_string()
}

/// A stretch of two sequences: the same in both, or what one has in the place of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Where it is in the first.
    pub before: Range<usize>,
    /// Where it is in the second.
    pub after: Range<usize>,
    /// Whether both are the same there.
    pub is_same: bool,
}

/// How one sequence became another, from the beginning to the end of both.
///
/// ```
/// let hunks = text::diff::hunks(&["a", "b"], &["a", "c", "b"]);
/// assert_eq!(hunks.len(), 3);
/// assert!(!hunks[1].is_same && hunks[1].before.is_empty());
/// ```
pub fn hunks<T: Hash + Ord>(before: &[T], after: &[T]) -> Vec<Hunk> {
    let stretches = capture_diff_slices(Algorithm::Patience, before, after);
    let hunks = stretches.iter().map(|stretch| Hunk {
        before: stretch.old_range(),
        after: stretch.new_range(),
        is_same: matches!(stretch, similar::DiffOp::Equal { .. }),
    });
    hunks.collect()
}
