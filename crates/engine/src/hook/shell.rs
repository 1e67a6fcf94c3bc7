//! A command line cut into its commands, as far as that needs no shell. Reading ends where a shell would have to be
//! asked: at substitutions, here-documents, subshells. What stands before that is still what it is.

use workspace::shell::{Piece, Words};

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
    let mut reader = Reader {
        rest: Words::of(&line[..line.floor_char_boundary(LONGEST)]),
        commands: Vec::new(),
        words: Vec::new(),
        is_target: false,
    };
    let whole = reader.read().is_some();
    reader.end_command(whole);
    reader.commands
}

struct Reader<'l> {
    rest: Words<'l>,
    commands: Vec<Simple>,
    words: Vec<Word>,
    /// The next word is where something is redirected to.
    is_target: bool,
}

impl Reader<'_> {
    /// Reads to the end; `None` where it had to stop before.
    fn read(&mut self) -> Option<()> {
        loop {
            match self.rest.piece() {
                Piece::Word(word) => {
                    // A number right before a redirection is that of a file, and no word.
                    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit())
                        && matches!(self.rest.peek(), Some('<' | '>'));
                    if !is_number && !std::mem::take(&mut self.is_target) {
                        self.words.push(Word {
                            plain: word.needs.is_none(),
                            text: word.text,
                        });
                    }
                    if word.nests {
                        return None;
                    }
                }
                Piece::Operator('(' | ')') | Piece::Unfinished(_) => return None,
                Piece::Operator(c @ ('<' | '>')) => self.redirection(c)?,
                Piece::Operator('&') if self.rest.follows('>') => self.redirection('>')?,
                // `&&`, `||` and `|&` have an empty command in between, which is none.
                Piece::Operator(_) => self.end_command(true),
                Piece::Comment => self.rest.skip_line(),
                Piece::End => return Some(()),
            }
        }
    }

    fn redirection(&mut self, c: char) -> Option<()> {
        if c == '<' && self.rest.follows('<') && !self.rest.follows('<') {
            // Three of them take a word, two of them the lines that follow.
            return None;
        }
        while ['>', '&', '|'].into_iter().any(|c| self.rest.follows(c)) {}
        self.is_target = true;
        Some(())
    }

    fn end_command(&mut self, whole: bool) {
        self.is_target = false;
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(Simple { words, whole });
        }
    }
}
