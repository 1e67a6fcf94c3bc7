//! A line of shell, cut into words and operators without one.
//!
//! Quotes are read as POSIX has them. Nothing is put in for variables, patterns and substitutions: a word says what of it a shell
//! would understand.

use std::fmt;

/// Something that only a shell understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellSyntax {
    /// This character, which joins commands or sends their output elsewhere.
    Operator(char),
    /// `$…` or a backtick: a value that is put in.
    Expansion(char),
    /// A pattern of file names, by its first special character.
    Glob(char),
    /// `~` for a home.
    Home,
    /// `#`, after which comes a comment.
    Comment,
    /// A line break, after which comes another command.
    LineBreak,
    /// A word that begins something in the shell's own language.
    Keyword(&'static str),
}

impl fmt::Display for ShellSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator(c) | Self::Expansion(c) => write!(f, "`{c}`"),
            Self::Glob(c) => write!(f, "the file pattern `{c}`"),
            Self::Home => write!(f, "`~`"),
            Self::Comment => write!(f, "`#`"),
            Self::LineBreak => write!(f, "a line break"),
            Self::Keyword(word) => write!(f, "the shell's word `{word}`"),
        }
    }
}

/// One word of a command.
#[derive(Debug)]
pub struct Word {
    /// What it says, without its quotes.
    pub text: String,
    /// Whether nothing of it was quoted.
    pub unquoted: bool,
    /// Where its `=` is, if it has the form `NAME=value` with nothing quoted before the `=`.
    pub assigns: Option<usize>,
    /// What of it only a shell understands: the first such thing.
    pub needs: Option<ShellSyntax>,
    /// Whether another command is in it, or text that is read by other rules: where it ends, only a shell knows.
    pub nests: bool,
}

/// What comes next in a line.
#[derive(Debug)]
pub enum Piece {
    /// A word.
    Word(Word),
    /// A character that joins commands, groups them or sends their output elsewhere; a line break, too.
    Operator(char),
    /// `#`: a comment begins, up to the end of the line.
    Comment,
    /// The line ends within this.
    Unfinished(&'static str),
    /// Nothing.
    End,
}

/// The words and operators of a line, one after the other.
#[derive(Debug)]
pub struct Words<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> Words<'a> {
    /// Those of this text.
    pub fn of(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
        }
    }

    /// Leaves out what is left of the line.
    pub fn skip_line(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    /// Whether this character stands right here, where it is taken.
    pub fn follows(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    /// The character that stands right here, if any.
    pub fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    /// What comes next.
    pub fn piece(&mut self) -> Piece {
        loop {
            while self
                .rest
                .next_if(|c| matches!(c, ' ' | '\t' | '\r'))
                .is_some()
            {}
            match self.rest.peek() {
                None => return Piece::End,
                Some('#') => return Piece::Comment,
                Some(&c) if is_operator(c) => {
                    self.rest.next();
                    return Piece::Operator(c);
                }
                Some(_) => {}
            }
            let piece = self.word();
            // Nothing but a line that goes on in the next one is no word.
            if !matches!(&piece, Piece::Word(word) if word.unquoted && word.text.is_empty()) {
                return piece;
            }
        }
    }

    fn word(&mut self) -> Piece {
        let mut word = Word {
            text: String::new(),
            unquoted: true,
            assigns: None,
            needs: None,
            nests: false,
        };
        while let Some(&c) = self.rest.peek() {
            if is_operator(c) || matches!(c, ' ' | '\t' | '\r') {
                break;
            }
            self.rest.next();
            match c {
                '\\' => match self.rest.next() {
                    // A line that goes on in the next one.
                    Some('\n') => {}
                    Some('\r') if self.follows('\n') => {}
                    Some(c) => {
                        word.unquoted = false;
                        word.text.push(c);
                    }
                    None => return Piece::Unfinished("a backslash"),
                },
                '\'' => {
                    word.unquoted = false;
                    loop {
                        match self.rest.next() {
                            Some('\'') => break,
                            Some(c) => word.text.push(c),
                            None => return Piece::Unfinished("single quotes"),
                        }
                    }
                }
                '"' => {
                    word.unquoted = false;
                    if !self.double_quoted(&mut word) {
                        return Piece::Unfinished("double quotes");
                    }
                }
                _ => self.unquoted(c, &mut word),
            }
        }
        Piece::Word(word)
    }

    /// One character outside of quotes.
    fn unquoted(&mut self, c: char, word: &mut Word) {
        let needs = match c {
            '`' => Some(ShellSyntax::Expansion('`')),
            '$' if self.expands(true) => Some(ShellSyntax::Expansion('$')),
            '*' | '?' | '[' => Some(ShellSyntax::Glob(c)),
            '~' if word.unquoted && word.text.is_empty() => Some(ShellSyntax::Home),
            _ => None,
        };
        word.needs = word.needs.or(needs);
        word.nests |= c == '`' || (c == '$' && matches!(self.peek(), Some('(' | '\'')));
        if c == '=' && word.unquoted && word.assigns.is_none() && is_name(&word.text) {
            word.assigns = Some(word.text.len());
        }
        word.text.push(c);
    }

    /// What is left of a word between double quotes; whether they were closed.
    fn double_quoted(&mut self, word: &mut Word) -> bool {
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return true,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                    Some(c) => word.text.extend(['\\', c]),
                    None => return false,
                },
                _ => {
                    let expands = c == '`' || (c == '$' && self.expands(false));
                    if expands {
                        word.needs = word.needs.or(Some(ShellSyntax::Expansion(c)));
                    }
                    word.nests |= c == '`' || (c == '$' && self.peek() == Some('('));
                    word.text.push(c);
                }
            }
        }
        false
    }

    /// Whether what comes after a `$` makes it one that something is put in for. At the end of a regular expression, it
    /// is just a `$`.
    fn expands(&mut self, unquoted: bool) -> bool {
        self.rest.peek().is_some_and(|&c| {
            c.is_ascii_alphanumeric()
                || matches!(c, '_' | '{' | '(' | '@' | '*' | '#' | '?' | '$' | '!' | '-')
                || (unquoted && matches!(c, '\'' | '"'))
        })
    }
}

fn is_operator(c: char) -> bool {
    matches!(c, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n')
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
