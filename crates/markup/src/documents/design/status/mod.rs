//! How far a free text says that an item is.
//!
//! Who is read as complete too early is never worked on; who is read as pending too early is looked at once more. So a text
//! counts as complete or documented only where it begins with that, and nothing in it takes it back.

mod parts;
mod words;

use super::Status;
use parts::{Part, date, share};
use words::{
    ALSO_OTHERWISE, BEHIND_DONE, COMPLETE, DOCUMENTED, EXECUTION, FILLING, NEGATIONS, PENDING,
    STAGES, TAKING_BACK, TERMS, TIMES,
};

/// The longest text that is read, in bytes.
pub(super) const LONGEST: usize = 500;
/// The most words of a text that is read.
const MOST_WORDS: usize = 40;

/// What a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatusMeaning {
    pub(super) status: Status,
    /// Whether the text says that, and nothing else.
    pub(super) is_plain: bool,
}

/// Reads a status; nothing where the text says none.
pub(super) fn read(text: &str) -> Option<StatusMeaning> {
    if text.len() > LONGEST {
        return None;
    }
    let shown = unstruck(text).replace('’', "'");
    // The cross in a box is no word.
    let words = shown.replace("[x]", " ").replace("[X]", " ");
    let said = StatusText::of(&parts::of(&words))?;
    let mut meant = said.meant();
    if shown.contains(['?', '？']) && meant.is_some_and(|meant| meant.status > Status::Pending) {
        meant = Some(UNSURE);
    }
    let sign = sign(&shown);
    let mut meant = match (meant, sign) {
        (None, None) => return None,
        (Some(meant), None) => meant,
        (Some(meant), Some(sign)) if meant.status <= sign => meant,
        // The sign and the words disagree.
        (Some(_), Some(sign)) => StatusMeaning {
            status: sign,
            is_plain: false,
        },
        (None, Some(sign)) if said.words.is_empty() || sign == Status::Pending => StatusMeaning {
            status: sign,
            is_plain: sign == Status::Pending,
        },
        (None, Some(_)) => UNSURE,
    };
    if meant.status > Status::Pending {
        meant.is_plain = is_plain(text, meant.status);
    }
    Some(meant)
}

/// Something is said of how far it is, and not that it is there.
const UNSURE: StatusMeaning = StatusMeaning {
    status: Status::Pending,
    is_plain: false,
};
/// It is plain that it is not there.
const NOT_YET: StatusMeaning = StatusMeaning {
    status: Status::Pending,
    is_plain: true,
};

/// Whether the text is a name of the status, with nothing but decoration around it.
fn is_plain(text: &str, status: Status) -> bool {
    let letters = text.trim_matches(|c: char| !c.is_alphanumeric());
    let is = |name: &str| letters.eq_ignore_ascii_case(name);
    is(status.name()) || (status == Status::Complete && (is("completed") || is("done")))
}

/// What a text says.
#[derive(Debug, Default)]
struct StatusText {
    /// Its words in small letters, without shares and dates; with each the number of its clause.
    words: Vec<(String, usize)>,
    /// Whether the shares that it names are whole; nothing where it names none.
    is_whole: Option<bool>,
}

impl StatusText {
    /// Nothing where there are too many words.
    fn of(parts: &[Part<'_>]) -> Option<Self> {
        let mut said = Self::default();
        let mut clause = 0;
        let mut rest = parts;
        while let Some(part) = rest.first() {
            if let Some((is_whole, length)) = share(rest) {
                said.is_whole = Some(said.is_whole.unwrap_or(true) && is_whole);
                rest = &rest[length..];
                continue;
            }
            if let Some(length) = date(rest) {
                rest = &rest[length..];
                continue;
            }
            match part {
                Part::Word(word) | Part::Number(word) => {
                    if said.words.len() == MOST_WORDS {
                        return None;
                    }
                    said.words.push((word.to_lowercase(), clause));
                }
                Part::Sign(',' | ';' | ':' | '.' | '!' | '|' | '/' | ')' | '—' | '–' | '→', _)
                | Part::Sign('-', true) => clause += 1,
                Part::Sign(..) => {}
            }
            rest = &rest[1..];
        }
        Some(said)
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|(word, _)| word.as_str())
    }

    /// What the words and shares say.
    fn meant(&self) -> Option<StatusMeaning> {
        let is_progress = |word: &str| COMPLETE.contains(&word) || DOCUMENTED.contains(&word);
        let has_progress = self.words.iter().any(|(word, _)| is_progress(word));
        if self.is_whole == Some(false) {
            return Some(if has_progress { UNSURE } else { NOT_YET });
        }
        let first = self
            .words
            .iter()
            .position(|(word, _)| !FILLING.contains(&word.as_str()));
        let Some(first) = first else {
            return self.is_whole.map(|_| StatusMeaning {
                status: Status::Complete,
                is_plain: false,
            });
        };
        let word = self.word(first).unwrap_or_default();
        let next = self.word(first + 1).unwrap_or_default();
        let joined = format!("{word}{next}");
        if COMPLETE.contains(&word) {
            return Some(self.complete(first));
        }
        if DOCUMENTED.contains(&word) {
            return Some(self.documented(first));
        }
        if STAGES.contains(&word) {
            let behind = (first + 1..self.words.len())
                .find(|at| self.word(*at).is_some_and(|word| !FILLING.contains(&word)));
            if let Some(done) = behind
                && self.word(done).is_some_and(|word| COMPLETE.contains(&word))
            {
                return Some(self.documented(done));
            }
        }
        if PENDING.contains(&word)
            || PENDING.contains(&joined.as_str())
            || NEGATIONS.contains(&word)
            || word.ends_with("n't")
        {
            return Some(NOT_YET);
        }
        if has_progress || self.is_whole == Some(true) {
            return Some(UNSURE);
        }
        let has_pending = self
            .words
            .iter()
            .any(|(word, _)| PENDING.contains(&word.as_str()));
        has_pending.then_some(NOT_YET)
    }

    /// What it means that the word there says that all is done.
    fn complete(&self, at: usize) -> StatusMeaning {
        let clause = self.words[at].1;
        let behind = &self.words[at + 1..];
        let is_otherwise = ALSO_OTHERWISE.contains(&self.words[at].0.as_str())
            && behind.first().is_some_and(|(next, of)| {
                *of == clause && !BEHIND_DONE.contains(&next.as_str()) && !is_time(next)
            });
        let is_only = behind.iter().any(|(word, _)| word == "only");
        if is_otherwise || is_only || (0..behind.len()).any(|at| takes_back(behind, at)) {
            return UNSURE;
        }
        let is_stage =
            |(word, of): &(String, usize)| *of == clause && STAGES.contains(&word.as_str());
        let status = if behind.iter().any(is_stage) {
            Status::Documented
        } else {
            Status::Complete
        };
        StatusMeaning {
            status,
            is_plain: false,
        }
    }

    /// What it means that the word there says that the document is done.
    fn documented(&self, at: usize) -> StatusMeaning {
        let behind = &self.words[at + 1..];
        let is_of_execution = |clause: usize| {
            behind
                .iter()
                .any(|(word, of)| *of == clause && EXECUTION.contains(&word.as_str()))
        };
        let is_taken_back =
            (0..behind.len()).any(|at| takes_back(behind, at) && !is_of_execution(behind[at].1));
        if is_taken_back {
            UNSURE
        } else {
            StatusMeaning {
                status: Status::Documented,
                is_plain: false,
            }
        }
    }
}

/// Whether the word there takes back what was said before.
fn takes_back(words: &[(String, usize)], at: usize) -> bool {
    let word = words[at].0.as_str();
    let next = words.get(at + 1).map_or("", |(next, _)| next.as_str());
    TAKING_BACK.contains(&word)
        || word.ends_with("n't")
        || (word == "to" && ["be", "do"].contains(&next))
        || (word == "by" && (is_time(next) || TERMS.contains(&next)))
}

/// Whether the word is a number, or the name of a day or a month, in full or cut.
fn is_time(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || (word.len() >= 3 && TIMES.iter().any(|time| time.starts_with(word)))
}

/// The text without what is struck out in it.
fn unstruck(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split("~~");
    while let Some(kept) = parts.next() {
        out.push_str(kept);
        parts.next();
    }
    out
}

/// What signs say; where there are several, the one that says the least.
fn sign(text: &str) -> Option<Status> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let boxes = [
        ("[]", Status::Pending),
        ("[x]", Status::Complete),
        ("[X]", Status::Complete),
    ];
    let boxes = boxes
        .into_iter()
        .filter(|(sign, _)| plain.contains(sign))
        .map(|(_, status)| status);
    let signs = plain.chars().filter_map(|c| match c {
        '✅' | '✓' | '✔' | '☑' | '🟢' | '🎉' => Some(Status::Complete),
        '📝' | '📄' => Some(Status::Documented),
        '⏳' | '⌛' | '🚧' | '🔄' | '⬜' | '☐' | '🔲' | '🟡' | '🟠' | '🔴' | '❌' | '✗' | '✘'
        | '⏸' | '🔜' | '⚠' => Some(Status::Pending),
        _ => None,
    });
    boxes.chain(signs).min()
}
