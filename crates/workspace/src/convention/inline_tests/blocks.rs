//! Tests that are blocks with a word before them: `test "name" { … }` in Zig, `unittest { … }` in D.

use std::ops::Range;

use super::lexer::{Kind, Language, Token, partners, tokens};
use super::{append, widened};

/// Where the tests are, in their order.
pub(super) fn tests(text: &str, language: Language) -> Vec<Range<usize>> {
    let tokens: Vec<Token> = tokens(text, language)
        .into_iter()
        .filter(|token| {
            matches!(
                token.kind,
                Kind::Word | Kind::Literal | Kind::Open | Kind::Close | Kind::Sign
            )
        })
        .collect();
    let partners = partners(text, &tokens);
    let opens = |at: usize| tokens.get(at).is_some_and(|token| token.text(text) == "{");
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let word = match language {
            Language::Zig => "test",
            _ => "unittest",
        };
        if token.kind != Kind::Word || token.text(text) != word {
            continue;
        }
        let block = if opens(at) {
            at
        } else if language == Language::Zig && opens(at + 1) {
            // With a name, which is text or that of what is tested.
            at + 1
        } else {
            continue;
        };
        let close = partners[block];
        if let Some(end) = tokens.get(close) {
            append(&mut found, widened(text, token.start..end.end));
            at = close + 1;
        }
    }
    found
}
