//! Imports of Rust in one order: which one they have, and how they are bracketed, is a formatter's matter.

use std::ops::Range;

use super::lexer::{Kind, Language, Token, partners, tokens};

/// Imports with more braces within each other stay as they are.
const MOST_NESTED: usize = 64;

/// The text, with the `use` items that follow each other sorted, and the names within their braces. What stands within the brackets of
/// a macro stays, since there the order may say something.
pub(super) fn sorted(text: &str) -> String {
    let tokens = tokens(text, Language::Rust);
    let partners = partners(text, &tokens);
    let source = Source {
        text,
        tokens: &tokens,
        partners: &partners,
    };
    let mut sorted = String::with_capacity(text.len());
    let (mut at, mut done) = (0, 0);
    let mut open: Vec<bool> = Vec::new();
    let mut of_macros = 0_usize;
    while let Some(token) = tokens.get(at) {
        match token.kind {
            Kind::Open => {
                open.push(source.is_block(at));
                of_macros += usize::from(!source.is_block(at));
            }
            Kind::Close => of_macros -= usize::from(open.pop() == Some(false)),
            _ if of_macros == 0 && source.begins_item(at) => {
                let mut items = Vec::new();
                let start = at;
                while let Some((item, end)) = source.import(at) {
                    items.push(item);
                    at = end;
                }
                if !items.is_empty() {
                    items.sort();
                    sorted.push_str(&text[done..tokens[start].start]);
                    sorted.push_str(&items.join("\n"));
                    done = tokens[at - 1].end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    sorted.push_str(&text[done..]);
    sorted
}

struct Source<'a> {
    text: &'a str,
    tokens: &'a [Token],
    partners: &'a [usize],
}

impl Source<'_> {
    fn said(&self, at: usize) -> Option<&str> {
        Some(self.tokens.get(at)?.text(self.text))
    }

    /// What stands before a token, the nearest first; comments say nothing.
    fn before(&self, at: usize) -> impl Iterator<Item = &str> {
        let tokens = self.tokens[..at].iter().rev();
        let code = tokens
            .filter(|token| !matches!(token.kind, Kind::Comment | Kind::DocInner | Kind::DocOuter));
        code.map(|token| token.text(self.text))
    }

    /// Whether this bracket opens a block or the body of an item, and nothing that a macro gets.
    fn is_block(&self, at: usize) -> bool {
        self.said(at) == Some("{") && self.before(at).take(2).all(|said| said != "!")
    }

    /// Whether an item may begin here: something else ends before it.
    fn begins_item(&self, at: usize) -> bool {
        match self.before(at).next() {
            None | Some("{" | "}" | ";") => true,
            Some("]") => self.ends_inner_attribute(at),
            _ => false,
        }
    }

    /// Whether `#![…]` stands before a token.
    fn ends_inner_attribute(&self, at: usize) -> bool {
        let close = (0..at).rev().find(|&before| self.said(before) == Some("]"));
        let open = close.map(|close| self.partners[close]);
        open.is_some_and(|open| open < at && self.before(open).take(2).eq(["!", "#"]))
    }

    /// The `use` item that begins here, in one form, and where it ends.
    fn import(&self, at: usize) -> Option<(String, usize)> {
        let mut word = at;
        if self.said(word) == Some("pub") {
            word += 1;
            if self.said(word) == Some("(") {
                word = self.partners[word] + 1;
            }
        }
        if self.said(word) != Some("use") {
            return None;
        }
        // Nothing else is in one; comments have their place.
        let is_in_one = |at: &usize| match self.tokens[*at].kind {
            Kind::Word => self.said(*at) != Some("use"),
            Kind::Open | Kind::Close | Kind::Sign => {
                matches!(self.said(*at), Some("{" | "}" | ":" | "::" | "," | "*"))
            }
            _ => false,
        };
        let end = (word + 1..self.tokens.len()).find(|at| !is_in_one(at))?;
        if self.said(end) != Some(";") || self.depth(word + 1..end) > MOST_NESTED {
            return None;
        }
        let head: Vec<&str> = (at..=word).filter_map(|at| self.said(at)).collect();
        Some((
            format!("{} {};", head.join(" "), self.tree(word + 1, end)),
            end + 1,
        ))
    }

    fn depth(&self, range: Range<usize>) -> usize {
        let (mut depth, mut most) = (0_usize, 0);
        for at in range {
            match self.tokens[at].kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            most = most.max(depth);
        }
        most
    }

    /// What is imported from one place to another in one form: names sorted, and without braces around a single one.
    fn tree(&self, from: usize, to: usize) -> String {
        self.names(from, to).join(",")
    }

    fn names(&self, from: usize, to: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut name = String::new();
        let mut at = from;
        while at < to {
            let said = self.said(at).unwrap_or_default();
            let partner = self.partners[at];
            if said == "{" && partner < to {
                match &self.names(at + 1, partner)[..] {
                    [one] if one.trim() != "self" => name.push_str(one),
                    within => {
                        name.push('{');
                        name.push_str(&within.join(","));
                        name.push('}');
                    }
                }
                at = partner;
            } else if said == "," {
                names.push(std::mem::take(&mut name));
            } else {
                name.push_str(said);
                if self.tokens[at].kind == Kind::Word {
                    name.push(' ');
                }
            }
            at += 1;
        }
        names.push(name);
        names.retain(|name| !name.is_empty());
        names.sort();
        names
    }
}
