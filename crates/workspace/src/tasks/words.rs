//! Words behind which a plan says more of an item than its title.

/// What the subtasks are named behind that must be done before.
pub(super) const DEPENDS_ON: &str = "depends on";
/// What a kind of work is named behind.
const KIND: &str = "kind";

/// What is said behind whether what passes is refactored.
const REFACTOR: &str = "refactor";

/// What is said of an item beside what it is called.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// What kind of work it is; empty where nothing is said.
    pub(super) kind: String,
    /// Whether it is refactored once it passes, where that is said.
    pub(super) refactor: Option<bool>,
}

impl Marks {
    /// Takes what stands in brackets at the end of a title, such as `(kind: docs, refactor: no)`, and gives what stands before it; none
    /// where any of it is something else.
    pub(super) fn take_off<'a>(&mut self, title: &'a str) -> Option<&'a str> {
        let (before, inside) = in_brackets(title.trim_end())?;
        let mut taken = self.clone();
        if !inside.split(',').all(|mark| taken.take_line(mark)) {
            return None;
        }
        *self = taken;
        Some(before)
    }

    /// Takes a line that says such a thing, and nothing else; `false` where it does not.
    pub(super) fn take_line(&mut self, line: &str) -> bool {
        if let Some(kind) = after_word(line, KIND) {
            return self.take_kind(kind).is_some();
        }
        let answer = after_word(line, REFACTOR).and_then(yes_or_no);
        self.refactor = answer.or(self.refactor);
        answer.is_some()
    }

    fn take_kind(&mut self, kind: &str) -> Option<()> {
        one_word(kind)?.clone_into(&mut self.kind);
        Some(())
    }
}

/// What an answer comes to; none where it is another one.
pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

/// A text that is one word, as it may stand in code; none where it is more.
fn one_word(text: &str) -> Option<&str> {
    let word = text.trim().trim_matches('`');
    (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word)
}

/// What stands before brackets at the end of a text, and in them behind these words and a colon.
pub(super) fn bracketed<'a>(text: &'a str, words: &str) -> Option<(&'a str, &'a str)> {
    let (before, inside) = in_brackets(text)?;
    Some((before, after_word(inside, words)?.trim()))
}

/// What stands before the brackets at the end of a text, and in them.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let open = text.rfind('(')?;
    let inside = text[open + 1..].strip_suffix(')')?;
    Some((text[..open].trim_end(), inside))
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
