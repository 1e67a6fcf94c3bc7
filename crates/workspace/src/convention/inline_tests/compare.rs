//! Text without what a formatter may change.

use super::imports;
use super::lexer::{Kind, Language, Token, partners, tokens};

/// Words after which a parenthesis is no call's, so that a comma in it may make it a tuple.
const NO_CALLEE: &[&str] = &[
    "as", "break", "const", "else", "for", "if", "in", "let", "match", "move", "mut", "ref",
    "return", "static", "while", "yield",
];

/// The text as a formatter cannot change it: each word and sign is on a line of its own, white space in comments is
/// single spaces, the commas before a closing bracket, or after a closing brace, are gone, and so are the
/// braces around the body of an arm or a closure. Imports that follow each other are sorted. What stands in strings
/// stays.
///
/// Two texts with the same form differ in nothing but these.
pub fn normal_form(text: &str) -> String {
    let text = &imports::sorted(text);
    let tokens = tokens(text, Language::Rust);
    let code: Vec<Token> = tokens
        .iter()
        .filter(|token| !is_comment(token.kind))
        .copied()
        .collect();
    let partners = partners(text, &code);
    let mut form = String::with_capacity(text.len());
    let mut at = 0;
    let mut last = "";
    for token in &tokens {
        let mut said = token.text(text);
        if is_comment(token.kind) {
            for word in said.split_whitespace() {
                form.push_str(word);
                form.push(' ');
            }
            form.push('\n');
            continue;
        }
        let here = at;
        at += 1;
        if said == "," && token.kind == Kind::Sign && is_trailing(text, &code, &partners, here) {
            continue;
        }
        if matches!(token.kind, Kind::Open | Kind::Close) {
            let open = if token.kind == Kind::Open {
                here
            } else {
                partners[here]
            };
            match body(text, &code, &partners, open) {
                Some(Body::Arm)
                    if token.kind == Kind::Close
                        && last != "}"
                        && !closes_after(text, &code, here) =>
                {
                    said = ",";
                }
                Some(_) => continue,
                None => {}
            }
        }
        form.push_str(said);
        form.push('\n');
        last = said;
    }
    form
}

/// What a brace is the body of, where a formatter sets it or takes it away as the room on the line wants it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    Arm,
    Closure,
}

fn body(text: &str, code: &[Token], partners: &[usize], open: usize) -> Option<Body> {
    let said = |at: usize| code.get(at).map(|token| token.text(text));
    if said(open)? != "{" || partners[open] >= code.len() {
        return None;
    }
    let before = open.checked_sub(1).and_then(said)?;
    let earlier = open.checked_sub(2).and_then(said);
    match before {
        ">" if earlier == Some("=") => Some(Body::Arm),
        "|" => Some(Body::Closure),
        _ => None,
    }
}

/// Whether a bracket closes behind this token, with at most a comma between.
fn closes_after(text: &str, code: &[Token], at: usize) -> bool {
    let mut after = code.iter().skip(at + 1);
    let next = after.next();
    let next = if next.is_some_and(|token| token.text(text) == ",") {
        after.next()
    } else {
        next
    };
    next.is_none_or(|token| token.kind == Kind::Close)
}

fn is_comment(kind: Kind) -> bool {
    matches!(kind, Kind::Comment | Kind::DocInner | Kind::DocOuter)
}

/// Whether the comma at `at` says nothing: it is the last thing within brackets, or separates what a brace has already.
fn is_trailing(text: &str, code: &[Token], partners: &[usize], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| code.get(before));
    if before.is_some_and(|token| token.text(text) == "}") {
        let open = partners[at - 1];
        if body(text, code, partners, open) != Some(Body::Closure) {
            return true;
        }
    }
    let Some(after) = code.get(at + 1).filter(|token| token.kind == Kind::Close) else {
        return false;
    };
    if after.text(text) != ")" {
        return true;
    }
    // `(a,)` is not `(a)`, but for what is called.
    let Some(open) = partners
        .get(at + 1)
        .copied()
        .filter(|open| *open < code.len())
    else {
        return true;
    };
    if has_comma(text, code, partners, open + 1..at) {
        return true;
    }
    let Some(callee) = open.checked_sub(1).and_then(|callee| code.get(callee)) else {
        return false;
    };
    match callee.text(text) {
        ")" | "]" | "?" | "!" => true,
        // The end of `::<T>`, and not of an arrow.
        ">" => {
            let earlier = open.checked_sub(2).and_then(|earlier| code.get(earlier));
            !earlier.is_some_and(|token| matches!(token.text(text), "-" | "="))
        }
        word => callee.kind == Kind::Word && !NO_CALLEE.contains(&word),
    }
}

/// Whether there is a comma among these tokens that is in no further bracket.
fn has_comma(
    text: &str,
    code: &[Token],
    partners: &[usize],
    range: std::ops::Range<usize>,
) -> bool {
    let mut at = range.start;
    while at < range.end {
        let token = code[at];
        if token.kind == Kind::Sign && token.text(text) == "," {
            return true;
        }
        at = match partners[at] {
            partner if token.kind == Kind::Open && partner < range.end => partner + 1,
            _ => at + 1,
        };
    }
    false
}
