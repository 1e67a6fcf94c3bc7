//! What two names have in common when a file system does not tell them apart.

use unicode_normalization::UnicodeNormalization;

/// The form in which two names are equal where some file system takes them for one: without
/// compatibility differences (NFKC), composition, case and variation selectors.
///
/// Lower, upper and lower again, each character by itself, brings together what a table of case
/// foldings does (`ß`, `ẞ` and `ss`; `ς` and `σ`), and what a file system with a table of capitals
/// does. It grows with the standard library's edition of Unicode.
pub(super) fn folded(component: &str) -> String {
    if component.is_ascii() {
        return component.to_ascii_lowercase();
    }
    let cased: String = component
        .nfkd()
        // A sign that asks for another form of the character before it. The rarer ones beyond the basic plane are refused in names.
        .filter(|c| !matches!(c, '\u{fe00}'..='\u{fe0f}'))
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    // A case mapping may give a character that has a plainer form.
    cased.nfkc().collect()
}
