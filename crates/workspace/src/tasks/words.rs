//! Words behind which a plan says more of an item than its title.

/// What the subtasks are named behind that must be done before.
pub(super) const DEPENDS_ON: &str = "depends on";
/// What a kind of work is named behind.
pub(super) const KIND: &str = "kind";

/// A title without what stands in brackets at its end, and what kind of work that names.
pub(super) fn with_kind(title: &str) -> (&str, &str) {
    let named = bracketed(title.trim_end(), KIND);
    let named = named.and_then(|(before, kind)| Some((before, one_word(kind)?)));
    named.unwrap_or((title, ""))
}

/// A text that is one word, as it may stand in code; none where it is more.
pub(super) fn one_word(text: &str) -> Option<&str> {
    let word = text.trim().trim_matches('`');
    (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word)
}

/// What stands before brackets at the end of a text, and in them behind these words and a colon.
pub(super) fn bracketed<'a>(text: &'a str, words: &str) -> Option<(&'a str, &'a str)> {
    let open = text.rfind('(')?;
    let inside = text[open + 1..].strip_suffix(')')?;
    Some((text[..open].trim_end(), after_word(inside, words)?.trim()))
}

/// The rest of a text that begins with these words and a colon.
pub(super) fn after_word<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let text = text.trim().trim_start_matches(['*', '_']);
    let head = text.get(..words.len())?;
    if !head.eq_ignore_ascii_case(words) {
        return None;
    }
    let rest = text[words.len()..]
        .trim_start_matches(['*', '_', ' '])
        .strip_prefix(':')?;
    Some(rest.trim_start_matches(['*', '_']))
}
