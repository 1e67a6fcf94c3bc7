//! The title of a subtask as the subject of a commit says it.

use text::plain;

/// A message shorter than this says nothing, in visible characters.
const SHORTEST: usize = 16;
/// From this length on a message may end where its sentence pauses, in visible characters.
const SHORTEST_CLAUSE: usize = 24;

/// Types of commits, after [Conventional Commits](https://www.conventionalcommits.org/en/v1.0.0/).
pub(super) const TYPES: [&str; 11] = [
    "feat", "fix", "test", "refactor", "docs", "chore", "perf", "build", "ci", "style", "revert",
];

/// Words that negate what stands before them, or measure by it: a title is cut neither before nor behind one of them, or what
/// is left would say something else. Of English, German, French, Spanish and Russian.
const NEGATING: &str = "but except few fewer less longer more neither never no nobody non none nor not nothing nowhere only unless without \
    kein keine keinen mehr nicht nichts nie nur ohne weniger jamais moins más menos nada nunca pas plus rien sans sauf sin \
    без кроме не нет никогда";

/// Other words that a shortened title does not end with: they need what follows.
const JOINING: &str = "a after all an and any are as at be because been before beyond by can cannot could do does each either every for from has have how \
    if in instead into is it its least may most must of on or other over rather should since so some such than that the their then these \
    this to too under until up was were what when where which while who whose will with would als bei das dem den der ein eine oder \
    und von zu con dans de des du el et la le les ne pour sur une y";

/// Verbs that say of the word before them that it is the subject of a sentence, and so perhaps a name.
const FINITE: &str = "accepts allows applies becomes can cannot does fails gets gives has ignores is keeps knows may must needs never \
    panics raises refuses rejects respects returns should takes throws treats understands was will yields";

/// Words of German, whose nouns keep their capital.
const GERMAN: &str = "als auf aus bei das dem der ein eine ist kein keine mit nicht oder ohne und von wenn werden wird zu zum zur";

/// Marks that belong together, in pairs.
const PAIRS: &str = "()[]{}“”„“‘’«»``\"\"''**";

fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether a text begins with a word that negates what stands before it.
fn is_negating(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words
        .find(|word| !word.is_empty())
        .is_some_and(|word| word.ends_with("n't") || is_among(&word.to_lowercase(), NEGATING))
}

/// A title that may itself be written as a conventional subject, taken apart: `fix(core)!: x` is a breaking `fix` and `x`.
pub(super) struct Title<'a> {
    /// The type that it states.
    pub(super) stated: Option<&'static str>,
    /// Whether it says that the change breaks something.
    pub(super) is_breaking: bool,
    /// The rest.
    pub(super) text: &'a str,
}

impl<'a> Title<'a> {
    /// Takes a title of one line apart.
    pub(super) fn read(title: &'a str) -> Self {
        let (stated, is_marked, text) = stated_type(title).unwrap_or((None, false, title));
        let note = breaking_note(text);
        Self {
            stated,
            is_breaking: is_marked || note.is_some(),
            text: note.unwrap_or(text),
        }
    }

    /// The text as a subject has it: no leading hyphen, no full stop, no capital that only begins a sentence.
    pub(super) fn message(&self, description: &str) -> String {
        let text = self.text.trim_start_matches(['-', ' ']).trim_end();
        let text = match text.strip_suffix('.') {
            Some(sentence) if !sentence.ends_with('.') => sentence,
            _ => text,
        };
        if text.is_empty() {
            "change".to_owned()
        } else if opens_request(text, description) {
            text[..1].to_lowercase() + &text[1..]
        } else {
            text.to_owned()
        }
    }
}

/// What a text that begins with `BREAKING CHANGE:` goes on with.
pub(super) fn breaking_note(text: &str) -> Option<&str> {
    ["BREAKING CHANGE: ", "BREAKING-CHANGE: "]
        .iter()
        .find_map(|token| text.strip_prefix(token))
}

fn stated_type(title: &str) -> Option<(Option<&'static str>, bool, &str)> {
    let (head, rest) = title.split_once(": ")?;
    let bare = head.trim().trim_end_matches('!');
    let word = match bare.split_once('(') {
        Some((word, scope)) if scope.ends_with(')') => word,
        Some(_) => return None,
        None => bare,
    };
    let known = TYPES
        .into_iter()
        .find(|known| word.eq_ignore_ascii_case(known))?;
    Some((Some(known), head.trim().ends_with('!'), rest.trim_start()))
}

/// Whether the capital that a title begins with is there because a sentence begins: its first word is a plain one, nothing
/// says that it is a name, and the language is not one that writes nouns so.
fn opens_request(title: &str, description: &str) -> bool {
    let mut words = title.split(' ');
    let first = words.next().unwrap_or_default();
    let (second, third) = (words.next(), words.next().unwrap_or_default());
    // One of two names.
    let is_listed = second == Some("and") && third.starts_with(char::is_uppercase);
    let is_plain = |c: char| c.is_ascii_lowercase() || c == '-' || c == '\'';
    let texts = format!("{title}\n{description}");
    first.starts_with(|c: char| c.is_ascii_uppercase())
        && first[1..].chars().all(is_plain)
        && (first.len() > 1 || first == "A")
        && !is_listed
        && !second.is_some_and(|second| is_among(second, FINITE))
        && !texts.contains(&format!("`{first}"))
        && !texts.contains(&format!("{first}("))
        && !title.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
        && !title.split(' ').any(|word| is_among(word, GERMAN))
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
