//! A command line cut into its commands, as far as that needs no shell. Reading ends where a shell would have to be
//! asked: at substitutions, here-documents, subshells. What stands before that is still what it is.

use std::iter::Peekable;
use std::str::Chars;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says, without its quotes.
    pub text: String,
    /// Whether that is what the command gets: no variable, pattern or substitution is in it.
    pub plain: bool,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Its words.
    pub words: Vec<Word>,
    /// Whether these are all.
    pub whole: bool,
}

/// More of a line is not read.
const LONGEST: usize = 64 * 1024;

/// The commands of a line, up to where it can be read.
pub fn commands(line: &str) -> Vec<Simple> {
    let line = &line[..line.floor_char_boundary(LONGEST)];
    let mut reader = Reader {
        rest: line.chars().peekable(),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        is_target: false,
    };
    let whole = reader.read().is_some();
    reader.end_command(whole);
    reader.commands
}

struct Reader<'l> {
    rest: Peekable<Chars<'l>>,
    commands: Vec<Simple>,
    words: Vec<Word>,
    word: Option<Word>,
    /// The next word is where something is redirected to.
    is_target: bool,
}

impl Reader<'_> {
    /// Reads to the end; `None` where it had to stop before.
    fn read(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escaped(),
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '$' => match self.rest.peek() {
                    Some('(' | '\'') => return self.stop(),
                    _ => self.unclear(c),
                },
                '`' | '(' | ')' => return self.stop(),
                '<' | '>' => self.redirection(c)?,
                '&' if self.rest.next_if_eq(&'>').is_some() => {
                    self.end_word();
                    self.rest.next_if_eq(&'>');
                    self.is_target = true;
                }
                '&' => {
                    self.rest.next_if_eq(&'&');
                    self.end_command(true);
                }
                '|' => {
                    let _ = self.rest.next_if(|next| matches!(next, '|' | '&'));
                    self.end_command(true);
                }
                ';' | '\n' => self.end_command(true),
                '#' if self.word.is_none() => {
                    while self.rest.next_if(|next| *next != '\n').is_some() {}
                }
                '*' | '?' | '[' => self.unclear(c),
                '~' if self.word.is_none() => self.unclear(c),
                c if c.is_whitespace() => self.end_word(),
                c => self.present().text.push(c),
            }
        }
        Some(())
    }

    fn present(&mut self) -> &mut Word {
        self.word.get_or_insert(Word {
            text: String::new(),
            plain: true,
        })
    }

    fn unclear(&mut self, c: char) {
        let word = self.present();
        word.text.push(c);
        word.plain = false;
    }

    /// A word that goes on in a way that is not known.
    fn stop(&mut self) -> Option<()> {
        self.present().plain = false;
        None
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            Some('\n') | None => {}
            Some('\r') if self.rest.next_if_eq(&'\n').is_some() => {}
            Some(c) => self.present().text.push(c),
        }
    }

    fn single_quoted(&mut self) -> Option<()> {
        self.present();
        loop {
            match self.rest.next() {
                Some('\'') => return Some(()),
                Some(c) => self.present().text.push(c),
                None => return self.stop(),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.present();
        loop {
            match self.rest.next() {
                Some('"') => return Some(()),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.present().text.push(c),
                    Some(c) => {
                        let word = self.present();
                        word.text.push('\\');
                        word.text.push(c);
                    }
                    None => return self.stop(),
                },
                Some('$') if self.rest.peek() == Some(&'(') => return self.stop(),
                Some('`') | None => return self.stop(),
                Some(c @ '$') => self.unclear(c),
                Some(c) => self.present().text.push(c),
            }
        }
    }

    fn redirection(&mut self, c: char) -> Option<()> {
        if self.rest.peek() == Some(&'(') {
            return self.stop();
        }
        // A number right before it is that of a file, and no word.
        let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        if c == '<' && self.rest.next_if_eq(&'<').is_some() {
            // Three of them take a word, two of them the lines that follow.
            self.rest.next_if_eq(&'<')?;
        }
        while self
            .rest
            .next_if(|next| matches!(next, '>' | '&' | '|'))
            .is_some()
        {}
        self.is_target = true;
        Some(())
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            if self.is_target {
                self.is_target = false;
            } else {
                self.words.push(word);
            }
        }
    }

    fn end_command(&mut self, whole: bool) {
        self.end_word();
        self.is_target = false;
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(Simple { words, whole });
        }
    }
}
