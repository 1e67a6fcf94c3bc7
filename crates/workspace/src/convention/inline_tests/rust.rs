//! The tests in a Rust source file.

use std::ops::Range;

use super::lexer::{Kind, Language, Token, partners, tokens};
use super::{append, doctest, widened};

/// Attributes that make a function a test, by the last part of their name.
const TEST_ATTRIBUTES: &[&str] = &[
    "bench",
    "gtest",
    "proptest",
    "quickcheck",
    "rstest",
    "rstest_parametrize",
    "test",
    "test_case",
    "test_casing",
    "test_matrix",
    "test_resources",
    "wasm_bindgen_test",
];

/// Macros that make tests of all that is given to them.
const TEST_MACROS: &[&str] = &["proptest", "quickcheck"];

/// Macros whose text is made into code of others: a test in there is not one of this project.
const QUOTING_MACROS: &[&str] = &[
    "parse_quote",
    "parse_quote_spanned",
    "quote",
    "quote_spanned",
    "stringify",
];

/// Words that begin an item, with how such an item ends.
const ITEMS: &[(&str, Ends)] = &[
    ("enum", Ends::Body),
    ("extern", Ends::Body),
    ("fn", Ends::Body),
    ("impl", Ends::Body),
    ("macro_rules", Ends::Body),
    ("mod", Ends::Body),
    ("struct", Ends::Body),
    ("trait", Ends::Body),
    ("union", Ends::Body),
    ("let", Ends::Semicolon),
    ("static", Ends::Semicolon),
    ("type", Ends::Semicolon),
    ("use", Ends::Semicolon),
];

/// How an item ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// With the block that is its body, or with a semicolon where it has none.
    Body,
    /// With a semicolon, whatever blocks come before it.
    Semicolon,
    /// As fields, variants, arms and statements do: with a comma, a semicolon, or a block that nothing goes on behind.
    Piece,
}

/// Where the tests are, in their order.
pub(super) fn tests(text: &str) -> Vec<Range<usize>> {
    let tokens: Vec<Token> = tokens(text, Language::Rust)
        .into_iter()
        .filter(|token| token.kind != Kind::Comment)
        .collect();
    let partners = partners(text, &tokens);
    let mut source = Source {
        text,
        tokens,
        partners,
        found: Vec::new(),
    };
    source.read();
    source.found
}

struct Source<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// For each bracket, its partner.
    partners: Vec<usize>,
    found: Vec<Range<usize>>,
}

impl Source<'_> {
    fn read(&mut self) {
        let mut at = 0;
        // The ends of the blocks that `at` is in, innermost last.
        let mut blocks: Vec<usize> = Vec::new();
        while let Some(&token) = self.tokens.get(at) {
            while blocks.pop_if(|end| *end <= at).is_some() {}
            if token.kind == Kind::DocInner {
                at = self.documentation(at);
            } else if token.kind == Kind::DocOuter || self.attribute(at).is_some() {
                at = self.attributed(at);
            } else if let Some((inside, after)) = self.inner_attribute(at) {
                at = after;
                if self.is_for_tests(inside) {
                    let Some(&end) = blocks.last() else {
                        self.found.clear();
                        self.found.push(0..self.text.len());
                        return;
                    };
                    // All of the block that it stands in.
                    self.take(token.start, end);
                    at = end;
                }
            } else if let Some(end) = self.special_macro(at) {
                at = end;
            } else {
                if token.kind == Kind::Open && self.is_sign(at, "{") {
                    blocks.push(self.partners[at]);
                }
                at += 1;
            }
        }
    }

    /// Takes in everything from a place in the text to the token `end`, without it.
    fn take(&mut self, start: usize, end: usize) {
        let Some(last) = end.checked_sub(1).and_then(|last| self.tokens.get(last)) else {
            return;
        };
        append(
            &mut self.found,
            widened(self.text, start..last.end.max(start)),
        );
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind != Kind::Literal && token.text(self.text) == sign)
    }

    fn word(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at)?;
        (token.kind == Kind::Word).then(|| token.text(self.text))
    }

    /// What lies between the brackets of the attribute at `at`, if there is one.
    fn attribute(&self, at: usize) -> Option<Range<usize>> {
        if !self.is_sign(at, "#") || !self.is_sign(at + 1, "[") {
            return None;
        }
        let end = self.partners[at + 1];
        (end < self.tokens.len()).then_some(at + 2..end)
    }

    /// As [`Source::attribute`], for `#![…]`; with the token after it.
    fn inner_attribute(&self, at: usize) -> Option<(Range<usize>, usize)> {
        if !self.is_sign(at, "#") || !self.is_sign(at + 1, "!") || !self.is_sign(at + 2, "[") {
            return None;
        }
        let end = self.partners[at + 2];
        (end < self.tokens.len()).then_some((at + 3..end, end + 1))
    }

    /// Takes the examples out of the comments that begin at `at`; the token after them.
    fn documentation(&mut self, at: usize) -> usize {
        let kind = self.tokens[at].kind;
        let lines: Vec<Token> = self.tokens[at..]
            .iter()
            .take_while(|token| token.kind == kind)
            .copied()
            .collect();
        for range in doctest::examples(self.text, &lines) {
            append(&mut self.found, widened(self.text, range));
        }
        at + lines.len()
    }

    /// Reads the attributes and comments before an item, and the item if it is a test; the token to go on at.
    fn attributed(&mut self, at: usize) -> usize {
        let mut item = at;
        let mut is_test = false;
        loop {
            if let Some(inside) = self.attribute(item) {
                item = inside.end + 1;
                is_test |= self.makes_a_test(&inside) || self.is_for_tests(inside);
            } else if self
                .tokens
                .get(item)
                .is_some_and(|token| token.kind == Kind::DocOuter)
            {
                item += 1;
            } else {
                break;
            }
        }
        if is_test {
            let end = self.end_of_item(item);
            let start = self.tokens[at].start;
            self.take(start, end);
            return end;
        }
        let mut doc = at;
        while doc < item {
            if self.tokens[doc].kind == Kind::DocOuter {
                doc = self.documentation(doc);
            } else if let Some(inside) = self.attribute(doc) {
                doc = inside.end + 1;
            } else {
                doc += 1;
            }
        }
        item
    }

    /// Whether an attribute makes what follows a test: `test`, `tokio::test`, `test_case(…)`.
    fn makes_a_test(&self, inside: &Range<usize>) -> bool {
        let mut at = inside.start;
        let mut last = self.word(at);
        while self.is_sign(at + 1, ":") && self.is_sign(at + 2, ":") {
            at += 3;
            last = self.word(at);
        }
        let ends = at + 1 >= inside.end || self.is_sign(at + 1, "(");
        ends && last.is_some_and(|name| TEST_ATTRIBUTES.contains(&name))
    }

    /// Whether an attribute says that what follows is compiled for tests only.
    fn is_for_tests(&self, inside: Range<usize>) -> bool {
        if self.word(inside.start) != Some("cfg") || !self.is_sign(inside.start + 1, "(") {
            return false;
        }
        let end = self.partners[inside.start + 1].min(inside.end);
        // Of nested conditions those that hold for tests only: `test`, `all` with one such, `any` with nothing else.
        let mut open: Vec<Condition> = vec![Condition::new("all")];
        let mut at = inside.start + 2;
        while at < end {
            let name = self.word(at).unwrap_or_default();
            if self.is_sign(at + 1, "(") {
                open.push(Condition::new(name));
                at += 2;
                continue;
            }
            if self.is_sign(at, ")") {
                let closed = open.pop().is_some_and(|condition| condition.is_test());
                match open.last_mut() {
                    Some(outer) => outer.add(closed),
                    None => return false,
                }
            } else if !self.is_sign(at, ",") {
                let alone = at + 1 >= end || self.is_sign(at + 1, ",") || self.is_sign(at + 1, ")");
                // `feature = "a"` is three tokens and one condition.
                let is_test = alone && matches!(name, "test" | "doctest");
                if alone && let Some(condition) = open.last_mut() {
                    condition.add(is_test);
                }
            }
            at += 1;
        }
        open.len() == 1 && open[0].is_test()
    }

    /// The end of a macro call at `at` that is read in a way of its own, taken if it makes tests.
    fn special_macro(&mut self, at: usize) -> Option<usize> {
        let name = self.word(at)?;
        let makes_tests = TEST_MACROS.contains(&name);
        if !makes_tests && !QUOTING_MACROS.contains(&name) {
            return None;
        }
        let opens = at + 2;
        if !self.is_sign(at + 1, "!") || self.tokens.get(opens)?.kind != Kind::Open {
            return None;
        }
        let mut end = self.partners[opens];
        if end >= self.tokens.len() {
            return None;
        }
        end += 1;
        if makes_tests {
            if self.is_sign(end, ";") {
                end += 1;
            }
            self.take(self.tokens[at].start, end);
        }
        Some(end)
    }

    /// How the item that begins at `at` ends.
    fn kind_of_item(&self, mut at: usize) -> Ends {
        loop {
            let Some(word) = self.word(at) else {
                // What may come before: `extern "C"`.
                let is_name = self
                    .tokens
                    .get(at)
                    .is_some_and(|token| token.kind == Kind::Literal);
                if is_name {
                    at += 1;
                    continue;
                }
                return Ends::Piece;
            };
            match word {
                "pub" if self.is_sign(at + 1, "(") => {
                    let end = self.partners[at + 1];
                    if end >= self.tokens.len() {
                        return Ends::Piece;
                    }
                    at = end + 1;
                }
                "const" => {
                    return match self.word(at + 1) {
                        Some("fn" | "unsafe" | "async" | "extern" | "trait") => Ends::Body,
                        Some(_) => Ends::Semicolon,
                        None => Ends::Piece,
                    };
                }
                "extern" if self.word(at + 1) == Some("crate") => return Ends::Semicolon,
                "pub" | "default" | "async" | "unsafe" | "safe" | "auto" => at += 1,
                "union" if self.word(at + 1).is_none() => return Ends::Piece,
                _ => {
                    let known = ITEMS.iter().find(|(name, _)| *name == word);
                    return known.map_or(Ends::Piece, |(_, ends)| *ends);
                }
            }
        }
    }

    /// The token after the item that begins at `at`.
    fn end_of_item(&self, at: usize) -> usize {
        let ends = self.kind_of_item(at);
        // In these a `<` compares.
        let is_statement = matches!(
            self.word(at),
            Some("assert" | "for" | "if" | "loop" | "match" | "return" | "while")
        );
        let mut angles = 0_usize;
        let mut here = at;
        while let Some(token) = self.tokens.get(here) {
            match (token.kind, token.text(self.text)) {
                (Kind::Close, _) => return here,
                (Kind::Open, bracket) => {
                    let close = self.partners[here];
                    if close >= self.tokens.len() {
                        return self.tokens.len();
                    }
                    let is_body = bracket == "{" && angles == 0;
                    here = close + 1;
                    match ends {
                        Ends::Body if is_body => return here,
                        Ends::Piece if is_body && !self.goes_on(here) => return here,
                        _ => continue,
                    }
                }
                (_, ";") => return here + 1,
                (_, ",") if ends == Ends::Piece && angles == 0 => return here + 1,
                (_, "<") if !is_statement => angles += 1,
                // The end of an arrow closes nothing; behind that of an arm, comparisons in its guard are over.
                (_, ">") if self.follows(here, "-") => {}
                (_, ">") if self.follows(here, "=") => angles = 0,
                (_, ">") => angles = angles.saturating_sub(1),
                _ => {}
            }
            here += 1;
        }
        here
    }

    /// Whether this sign stands before the token.
    fn follows(&self, at: usize, sign: &str) -> bool {
        at.checked_sub(1)
            .is_some_and(|before| self.is_sign(before, sign))
    }

    /// Whether something that a block ended with goes on behind it.
    fn goes_on(&self, at: usize) -> bool {
        self.word(at) == Some("else")
            || ([".", "?", ",", ";"].iter()).any(|sign| self.is_sign(at, sign))
    }
}

/// One of the nested conditions of a `cfg`.
struct Condition {
    joins: Connective,
    /// How many of those within hold in tests only, and how many do not.
    tests: usize,
    others: usize,
}

/// How a condition joins those within it.
enum Connective {
    All,
    Any,
    /// `not`, or something unknown: then nothing is certain.
    Otherwise,
}

impl Condition {
    fn new(name: &str) -> Self {
        Self {
            joins: match name {
                "all" => Connective::All,
                "any" => Connective::Any,
                _ => Connective::Otherwise,
            },
            tests: 0,
            others: 0,
        }
    }

    fn add(&mut self, is_test: bool) {
        if is_test {
            self.tests += 1;
        } else {
            self.others += 1;
        }
    }

    /// Whether it holds in tests only.
    fn is_test(&self) -> bool {
        match self.joins {
            Connective::All => self.tests > 0,
            Connective::Any => self.tests > 0 && self.others == 0,
            Connective::Otherwise => false,
        }
    }
}
