//! Differences between texts.

use similar::TextDiff;

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
