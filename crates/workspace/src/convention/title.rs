//! The title of a subtask as the subject of a commit says it.

use super::message::marker_len;
use text::plain;

/// A message shorter than this says nothing, in visible characters.
const SHORTEST: usize = 16;
/// From this length on a message may end where its sentence pauses, in visible characters.
const SHORTEST_CLAUSE: usize = 24;

/// The longest scope that a title can state, in bytes.
const LONGEST_SCOPE: usize = 20;

/// Types of commits, after [Conventional Commits](https://www.conventionalcommits.org/en/v1.0.0/).
pub(super) const TYPES: [&str; 11] = [
    "feat", "fix", "test", "refactor", "docs", "chore", "perf", "build", "ci", "style", "revert",
];

/// Words that negate what stands before them, or measure by it, in some languages: a title is cut neither before nor behind
/// one of them, or what is left would say something else.
const NEGATING: &str = include_str!("words/negating.txt");
/// Other words that a shortened title does not end with: they need what follows.
const JOINING: &str = include_str!("words/joining.txt");
/// Words that begin a request or a sentence and are no names: `add`, but not `parse`, as which some function may be known.
const OPENING: &str = include_str!("words/opening.txt");
/// Words of which a title that is no request reports a fault.
const FAULTS: &str = include_str!("words/faults.txt");
/// What stands before a noun: the word before it is a verb, and no name.
const DETERMINERS: &str = "a all an any both each every its the their";

/// Marks that belong together, in pairs.
const PAIRS: &str = "()[]{}“”„“‘’«»``\"\"''**";

fn is_among(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Whether a text begins with a word that negates what stands before it.
fn is_negating(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words
        .find(|word| !word.is_empty())
        .is_some_and(|word| word.ends_with("n't") || is_among(&word.to_lowercase(), NEGATING))
}

/// A title that may itself be written as a conventional subject, taken apart: `fix(core)!: x` is a breaking `fix` of `core` and
/// `x`.
pub(super) struct Title<'a> {
    /// The type that it states.
    pub(super) stated: Option<&'static str>,
    /// The scope that it states.
    pub(super) scope: Option<&'a str>,
    /// Whether it says that the change breaks something.
    pub(super) is_breaking: bool,
    /// The rest.
    pub(super) text: &'a str,
}

impl<'a> Title<'a> {
    /// Takes a title of one line apart.
    pub(super) fn read(title: &'a str) -> Self {
        let whole = Self {
            stated: None,
            scope: None,
            is_breaking: false,
            text: title,
        };
        let title = Self::as_subject(title).unwrap_or(whole);
        match breaking_note(title.text, str::eq_ignore_ascii_case) {
            Some(text) => Self {
                is_breaking: true,
                text,
                ..title
            },
            None => title,
        }
    }

    fn as_subject(title: &'a str) -> Option<Self> {
        let (head, text) = title.split_once(": ")?;
        let head = head.trim();
        let bare = head.trim_end_matches('!');
        let (word, scope) = match bare.split_once('(') {
            Some((word, scope)) => (word, Some(scope.strip_suffix(')')?)),
            None => (bare, None),
        };
        let mut types = TYPES.into_iter();
        Some(Self {
            stated: Some(types.find(|known| word.eq_ignore_ascii_case(known))?),
            scope: scope.filter(|scope| is_scope(scope)),
            is_breaking: bare != head,
            text: text.trim_start(),
        })
    }

    /// The text as a subject has it: no mark of a list, no full stop, no capital that only begins a sentence.
    pub(super) fn message(&self, description: &str) -> String {
        let text = &self.text[marker_len(self.text)..];
        let text = text.trim_start_matches(['-', ' ']).trim_end();
        let text = match text.strip_suffix('.') {
            Some(sentence) if !sentence.ends_with('.') => sentence,
            _ => text,
        };
        if text.is_empty() {
            "change".to_owned()
        } else if opens_sentence(text, description) {
            text[..1].to_lowercase() + &text[1..]
        } else {
            text.to_owned()
        }
    }

    /// Whether it tells of a fault, and asks for nothing.
    pub(super) fn reports_fault(&self) -> bool {
        let mut words = self.text.split(|c: char| !c.is_alphanumeric());
        !is_plain(self.text) && words.any(|word| is_among(&word.to_lowercase(), FAULTS))
    }
}

/// Whether a scope that a title states can stand in a subject.
fn is_scope(scope: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_/.".contains(c);
    (1..=LONGEST_SCOPE).contains(&scope.len()) && scope.chars().all(fits)
}

/// What a text that begins with `BREAKING CHANGE:` goes on with; `is` compares the token.
pub(super) fn breaking_note(text: &str, is: fn(&str, &str) -> bool) -> Option<&str> {
    let (token, rest) = text.split_once(": ")?;
    let mut tokens = ["BREAKING CHANGE", "BREAKING-CHANGE"].iter();
    tokens.any(|known| is(token, known)).then_some(rest)
}

/// Whether the capital that a title begins with is there because a sentence begins, and nothing says that it is a name.
fn opens_sentence(title: &str, description: &str) -> bool {
    let first = title.split(' ').next().unwrap_or_default();
    let texts = format!("{title}\n{description}");
    is_plain(title)
        && first.starts_with(|c: char| c.is_ascii_uppercase())
        && !first[1..].contains(|c: char| c.is_ascii_uppercase())
        && !texts.contains(&format!("`{first}"))
        && !texts.contains(&format!("{first}("))
}

/// Whether a text begins with a word that is no name.
fn is_plain(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    is_among(&first, OPENING)
        || first.chars().all(|c| c.is_ascii_lowercase())
            && words.next().is_some_and(|next| is_among(next, DETERMINERS))
}

/// The message within `room` visible characters. One that is too long ends with an ellipsis: where its sentence pauses, else
/// behind a word that lets it mean what it meant; and not inside of quotes, code or brackets, unless there is next to
/// nothing before them: then they are closed.
pub(super) fn shorten(message: &str, room: usize) -> String {
    if plain::visible_len(message) <= room {
        return message.to_owned();
    }
    let most = plain::cut_at_word(message, room.saturating_sub(1)).len();
    let kept: Vec<&str> = message
        .char_indices()
        .take_while(|(at, _)| *at <= most)
        .filter(|(_, c)| c.is_whitespace() || "([{、。，".contains(*c))
        .map(|(at, _)| without_open_end(&message[..at]))
        .filter(|kept| marks_to_close(message, kept.len()).is_empty())
        .collect();
    let behind = |kept: &str| message[kept.len()..].trim_start();
    let last = |least, is_end: &dyn Fn(&str) -> bool| {
        let mut ends = kept.iter().rev().filter(|kept| is_end(behind(kept)));
        ends.find(|kept| plain::visible_len(kept) >= least)
    };
    let clause = last(SHORTEST_CLAUSE, &pauses);
    if let Some(kept) = clause.or_else(|| last(SHORTEST, &|rest| !is_negating(rest))) {
        return format!("{kept}…");
    }
    let kept = without_open_end(plain::cut_at_word(message, room.saturating_sub(3)));
    let close: String = marks_to_close(message, kept.len())
        .iter()
        .rev()
        .take(2)
        .collect();
    format!("{kept}…{close}")
}

/// Whether a sentence pauses before it goes on so.
fn pauses(rest: &str) -> bool {
    rest.starts_with([',', ';', ':', '(', '–', '—', '、', '。', '，'])
        || rest.starts_with("- ")
        || rest.starts_with(". ")
}

/// The marks that close what is open at `end`. A mark that nothing closes opens nothing.
fn marks_to_close(message: &str, end: usize) -> Vec<char> {
    let mut open = Vec::new();
    let mut before = ' ';
    for (at, c) in message[..end].char_indices() {
        let rest = &message[at + c.len_utf8()..];
        let begins = PAIRS.chars().step_by(2);
        let mut pairs = begins.zip(PAIRS.chars().skip(1).step_by(2));
        if open.last() == Some(&c) && !(c == '\'' && rest.starts_with(char::is_alphanumeric)) {
            open.pop();
        } else if open.last() != Some(&'`')
            && let Some((begin, close)) = pairs.find(|(begin, _)| *begin == c)
            && rest.contains(close)
            && (begin != close || begin == '`' || !before.is_alphanumeric())
        {
            open.push(close);
        }
        before = c;
    }
    open
}

/// The text up to the last word that needs no other behind it.
fn without_open_end(text: &str) -> &str {
    let mut kept = text;
    loop {
        kept = kept.trim_end_matches([' ', ',', ';', ':', '-', '>', '=', '(', '.', '&', '–', '—']);
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
        match kept.rsplit_once(' ') {
            // A number stands before its unit.
            Some((before, last))
                if is_negating(last)
                    || is_among(&last.to_lowercase(), JOINING)
                    || is_number(last) =>
            {
                kept = before;
            }
            _ => return kept,
        }
    }
}
