//! The title of a subtask as the subject of a commit says it.

use text::plain;

/// A message shorter than this says nothing, in visible characters.
const SHORTEST: usize = 16;
/// From this length on a message may end where its sentence pauses, in visible characters.
const SHORTEST_CLAUSE: usize = 24;
/// How often a title is cut anew for a word that has to be told.
const MOST_CUTS: usize = 4;
/// The longest scope that a title can state, in bytes.
const LONGEST_SCOPE: usize = 20;

/// Types of commits, after [Conventional Commits](https://www.conventionalcommits.org/en/v1.0.0/).
pub(super) const TYPES: [&str; 11] = [
    "feat", "fix", "test", "refactor", "docs", "chore", "perf", "build", "ci", "style", "revert",
];

/// Words that except something from what stands before them, in some languages: where a title is cut, the first of those that
/// are cut off is told.
const EXCEPTING: &str = include_str!("words/excepting.txt");
/// Other words that a shortened title does not end with: they need what follows.
const JOINING: &str = include_str!("words/joining.txt");
/// Verbs that begin a request and are no names: `add`, but not `parse`, as which some function may be known.
const OPENING: &str = include_str!("words/opening.txt");
/// What stands before a noun: such a word is no name, and the word before it is a verb.
const DETERMINERS: &str = "a all an any both each every its the their";

/// What a condition begins with.
const CONDITIONS: &str = "after before bei cuando falls if lorsque once quand si sobald unless until wenn when whenever while если";

/// Marks that belong together, in pairs.
const PAIRS: &str = "()[]{}“”„“‘’«»``\"\"''**";

fn is_among(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Whether a word excepts something from what was said.
fn is_excepting(word: &str) -> bool {
    is_among(&word.to_lowercase(), EXCEPTING)
}

/// The words of a text, without the marks around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| !c.is_alphanumeric() && c != '\'';
    text.split(is_mark).filter(|word| !word.is_empty())
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
        let tokens = ["BREAKING CHANGE", "BREAKING-CHANGE", "BREAKING"];
        match title.text.split_once(": ") {
            Some((token, text)) if tokens.iter().any(|known| token.eq_ignore_ascii_case(known)) => {
                Self {
                    is_breaking: true,
                    text,
                    ..title
                }
            }
            _ => title,
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

    /// Whether it asks for something, and so says what is done.
    pub(super) fn asks(&self) -> bool {
        is_request(self.text) && !self.text.ends_with('?')
    }

    /// The text as a subject has it: no mark of a list, no full stop, no capital that only begins a sentence.
    pub(super) fn message(&self, description: &str) -> String {
        let text = self.text[marker_len(self.text)..].trim();
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
}

/// The length of a list item's marker with the space behind it; 0 without one.
pub(super) fn marker_len(line: &str) -> usize {
    if ["- ", "* ", "+ "]
        .iter()
        .any(|marker| line.starts_with(marker))
    {
        return 2;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    if (1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return digits + 2;
    }
    0
}

/// Whether a scope that a title states can stand in a subject.
fn is_scope(scope: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_/.@, ".contains(c);
    (1..=LONGEST_SCOPE).contains(&scope.len()) && scope.chars().all(fits)
}

/// Whether the capital that a title begins with is there because a sentence begins, and nothing says that it is a name.
fn opens_sentence(title: &str, description: &str) -> bool {
    let first = title.split(' ').next().unwrap_or_default();
    let texts = format!("{title}\n{description}");
    (is_request(title) || is_among(&first.to_lowercase(), DETERMINERS))
        && first.starts_with(|c: char| c.is_ascii_uppercase())
        && !first[1..].contains(|c: char| c.is_ascii_uppercase())
        && !texts.contains(&format!("`{first}"))
        && !texts.contains(&format!("{first}("))
}

/// Whether a text begins with a verb.
fn is_request(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    is_among(&first, OPENING)
        || first.chars().all(|c| c.is_ascii_lowercase())
            && words.next().is_some_and(|next| is_among(next, DETERMINERS))
}

/// The message within `room` visible characters. One that is too long ends with an ellipsis, and where what is cut off
/// excepts something from the rest, with the word that does.
pub(super) fn shorten(message: &str, room: usize) -> String {
    if plain::visible_len(message) <= room {
        return message.to_owned();
    }
    let mut end = "…".to_owned();
    // The word takes room, and an earlier one may be cut off for it.
    for _ in 0..MOST_CUTS {
        let (kept, close) = cut(message, room.saturating_sub(plain::visible_len(&end)));
        let told = format!("{kept}{end}{close}");
        let excepting = words(&message[kept.len()..]).find(|word| is_excepting(word));
        end = match excepting {
            Some(word) => format!("… {word}…"),
            None => "…".to_owned(),
        };
        if told == format!("{kept}{end}{close}") {
            return told;
        }
    }
    let (kept, close) = cut(message, room.saturating_sub(plain::visible_len(&end)));
    format!("{kept}{end}{close}")
}

/// The beginning of a message that is cut: up to where its sentence pauses, else to a word that needs nothing behind it; and not
/// inside of quotes, code or brackets, unless there is next to nothing before them: then the marks that close them come along.
fn cut(message: &str, room: usize) -> (&str, String) {
    let most = plain::cut_at_word(message, room).len();
    let kept: Vec<&str> = message
        .char_indices()
        .take_while(|(at, _)| *at <= most)
        .filter(|(_, c)| c.is_whitespace() || "([{、。，".contains(*c))
        .map(|(at, _)| without_open_end(&message[..at]))
        .filter(|kept| marks_to_close(message, kept.len()).is_empty())
        .collect();
    let last = |least, is_end: &dyn Fn(&str) -> bool| {
        let behind = |kept: &str| message[kept.len()..].trim_start();
        let mut ends = kept.iter().rev().filter(|kept| is_end(behind(kept)));
        ends.find(|kept| plain::visible_len(kept) >= least)
    };
    // What begins with a condition says nothing up to where that ends.
    let is_condition = words(message)
        .next()
        .is_some_and(|word| is_among(&word.to_lowercase(), CONDITIONS));
    let clause = last(SHORTEST_CLAUSE, &|rest| !is_condition && pauses(rest));
    if let Some(kept) = clause.or_else(|| last(SHORTEST, &|_| true)) {
        return (kept, String::new());
    }
    let kept = without_open_end(plain::cut_at_word(message, room.saturating_sub(2)));
    let marks = marks_to_close(message, kept.len());
    (kept, marks.iter().rev().take(2).collect())
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
                if is_excepting(last)
                    || is_among(&last.to_lowercase(), JOINING)
                    || is_number(last) =>
            {
                kept = before;
            }
            _ => return kept,
        }
    }
}
