//! Lines of text for people, put together piece by piece.

use text::plain::{many_lines, one_line, visible_len};
use textwrap::core::Word;

use super::{FAINT, Look, NOTE, STRONG, Sign};
use crate::steps::StepSpelling as _;

/// A text under construction. Whatever is given to it as content is made plain.
#[derive(Debug)]
pub struct Page<'l> {
    look: &'l Look,
    text: String,
}

/// Columns that the labels of fields take.
const LABEL: usize = 10;

impl<'l> Page<'l> {
    /// An empty page.
    pub fn new(look: &'l Look) -> Self {
        Self {
            look,
            text: String::new(),
        }
    }

    /// How it looks.
    pub fn look(&self) -> &'l Look {
        self.look
    }

    /// A text in the words of who reads it.
    fn spelled(&self, text: &str) -> String {
        self.look.caller.text(text)
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line of ours that is laid out already.
    pub fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A headline.
    pub fn title(&mut self, text: &str) {
        let line = self.look.paint(STRONG, &one_line(text));
        self.raw(&line);
    }

    /// A lead of ours and a text after it, wrapped; later lines are indented by two more than the lead.
    pub fn wrapped(&mut self, lead: &str, text: &str) {
        let mut first = true;
        let lead_len = visible_len(&many_lines(lead)) + 1;
        let later = " ".repeat(lead.len() - lead.trim_start_matches(' ').len() + 2);
        for paragraph in many_lines(&self.spelled(text)).lines() {
            let indent = if first {
                " ".repeat(lead_len)
            } else {
                later.clone()
            };
            let options = wrap_at(self.look.width)
                .initial_indent(&indent)
                .subsequent_indent(&later)
                .break_words(false);
            for (at, line) in textwrap::wrap(paragraph, options).iter().enumerate() {
                if first && at == 0 {
                    self.text.push_str(lead);
                    self.text.push(' ');
                    self.text.push_str(line.trim_start());
                } else {
                    self.text.push_str(line);
                }
                self.text.push('\n');
            }
            first = false;
        }
        if first {
            self.raw(lead);
        }
    }

    /// A text, wrapped and indented by two.
    pub fn block_wrapped(&mut self, text: &str) {
        let options = wrap_at(self.look.width)
            .initial_indent("  ")
            .subsequent_indent("  ")
            .break_words(false);
        for line in textwrap::wrap(&one_line(&self.spelled(text)), options) {
            self.raw(&line);
        }
    }

    /// A sign, and a text.
    pub fn signed(&mut self, sign: Sign, text: &str) {
        let sign = self.look.sign(sign);
        self.wrapped(&sign, text);
    }

    /// A named value; nothing if it is empty.
    pub fn field(&mut self, label: &str, value: &str) {
        let value = one_line(&self.spelled(value));
        if !value.is_empty() {
            let label = self.look.paint(FAINT, &format!("{label:<LABEL$}"));
            self.text.push_str("  ");
            self.text.push_str(&label);
            self.text.push(' ');
            self.text.push_str(&value);
            self.text.push('\n');
        }
    }

    /// A text of others with its lines kept, indented by two.
    pub fn block(&mut self, text: &str) {
        for line in many_lines(&self.spelled(text)).lines() {
            if !line.is_empty() {
                self.text.push_str("  ");
                self.text.push_str(line);
            }
            self.text.push('\n');
        }
    }

    /// A list of short texts.
    pub fn list<'t>(&mut self, entries: impl IntoIterator<Item = &'t str>) {
        let bullet = self.look.sign(Sign::Bullet);
        for entry in entries {
            self.raw(&format!("  {bullet} {}", one_line(&self.spelled(entry))));
        }
    }

    /// A command to run. It is not wrapped, so that it can be copied.
    pub fn command(&mut self, command: &str) {
        let arrow = self.look.sign(Sign::Next);
        let command = self.look.paint(NOTE, &one_line(&self.spelled(command)));
        self.raw(&format!("  {arrow} {command}"));
    }
}

/// How lines are broken: between words, and nowhere between backticks. Ids, paths and commands have hyphens and blanks, and
/// are to be copied as a whole.
fn wrap_at(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .word_separator(textwrap::WordSeparator::Custom(words))
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// The words of a line. What stands between two backticks is one.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    // A backtick without its other half quotes nothing.
    let quotes = line.matches('`').count().is_multiple_of(2);
    let (mut begin, mut quoted, mut blank) = (0, false, false);
    let mut all = Vec::new();
    for (at, character) in line.char_indices() {
        if blank && character != ' ' {
            all.push(Word::from(&line[begin..at]));
            begin = at;
        }
        quoted ^= quotes && character == '`';
        blank = character == ' ' && !quoted;
    }
    if begin < line.len() {
        all.push(Word::from(&line[begin..]));
    }
    Box::new(all.into_iter())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A pipe.
    pub const PLAIN: Look = Look::PLAIN;

    const NARROW: Look = Look { width: 30, ..PLAIN };

    #[test]
    fn escape_sequences_of_others_do_not_reach_the_terminal() {
        let mut page = Page::new(&PLAIN);
        page.title("a\u{1b}[31mb\u{7}c");
        page.field("title", "one\u{9b}2Jtwo\nthree");
        page.block("x\u{1b}]0;title\u{7}y\u{202e}z\r\nnext");
        page.signed(Sign::Good, "done\u{1b}[2J");
        page.list(["\u{8}gone"]);
        page.command("tm\u{1b}[0m autopilot");
        let text = page.finish();
        let hidden = |c: char| c != '\n' && text::plain::is_hidden(c);
        assert!(!text.contains(hidden), "{text:?}");
        assert!(text.contains("ok done"), "{text}");
    }

    #[test]
    fn long_text_is_wrapped_at_the_width_and_no_command_is_broken() {
        let mut page = Page::new(&NARROW);
        for end in ["or ` alone", "then look"] {
            let text = format!("go on with `tm run resume --run-id a-b-c`, {end}");
            page.wrapped("help:", &text);
        }
        let expected = "\
help: go on with `tm run
  resume --run-id a-b-c`, or `
  alone
help: go on with
  `tm run resume --run-id a-b-c`,
  then look
";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn colour_is_there_only_where_it_can_be_shown() {
        for rich in [true, false] {
            let look = Look { rich, ..PLAIN };
            let mut page = Page::new(&look);
            page.title("run");
            let text = page.finish();
            assert!(text.contains('\u{1b}') == rich && (rich || text == "run\n"));
        }
    }
}
