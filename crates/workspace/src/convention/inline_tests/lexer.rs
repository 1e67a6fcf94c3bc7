//! Text in tokens: just enough to know where strings, comments and brackets begin and end.

/// Languages with signs of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Zig,
    D,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword, or a number.
    Word,
    /// A string or character.
    Literal,
    /// `'a`.
    Lifetime,
    /// A comment that documents what comes after it (`///`, `/** */`).
    DocOuter,
    /// A comment that documents what it stands in (`//!`, `/*! */`).
    DocInner,
    /// Any other comment.
    Comment,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// Any other sign.
    Sign,
}

/// A token, by where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) fn text(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// The tokens of a text. Whatever it holds, each is one or more whole characters, and only white space lies between them.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        language,
        at: 0,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_while(char::is_whitespace);
        let start = lexer.at;
        let Some(kind) = lexer.token() else {
            return tokens;
        };
        tokens.push(Token {
            kind,
            start,
            end: lexer.at,
        });
    }
}

struct Lexer<'a> {
    text: &'a str,
    language: Language,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start_matches(wanted).len();
        self.at += skipped;
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        let line = rest.find('\n').unwrap_or(rest.len());
        self.at += rest[..line].trim_end_matches('\r').len();
    }

    fn token(&mut self) -> Option<Kind> {
        let c = self.peek()?;
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix("//") {
            let kind = if comment.starts_with('!') {
                Kind::DocInner
            } else if comment.starts_with('/') && !comment.starts_with("//") {
                Kind::DocOuter
            } else {
                Kind::Comment
            };
            self.skip_line();
            return Some(kind);
        }
        if self.language != Language::Zig && rest.starts_with("/*") {
            return Some(self.block_comment("/*", "*/", self.language == Language::Rust));
        }
        if self.language == Language::D && rest.starts_with("/+") {
            return Some(self.block_comment("/+", "+/", true));
        }
        if self.language == Language::Zig && rest.starts_with("\\\\") {
            self.skip_line();
            return Some(Kind::Literal);
        }
        if self.language == Language::D && c == '`' {
            self.at += 1;
            self.until("`");
            return Some(Kind::Literal);
        }
        if is_word(c) {
            return Some(self.word());
        }
        self.at += c.len_utf8();
        Some(match c {
            '"' => {
                self.quoted('"');
                Kind::Literal
            }
            '\'' => self.apostrophe(),
            '(' | '[' | '{' => Kind::Open,
            ')' | ']' | '}' => Kind::Close,
            _ => Kind::Sign,
        })
    }

    fn block_comment(&mut self, open: &str, close: &str, nested: bool) -> Kind {
        let rest = self.rest();
        // `/**/` and `/***` document nothing.
        let kind = if rest.starts_with("/*!") {
            Kind::DocInner
        } else if rest.starts_with("/**") && !rest.starts_with("/***") && !rest.starts_with("/**/")
        {
            Kind::DocOuter
        } else {
            Kind::Comment
        };
        self.at += open.len();
        let mut depth = 1;
        while depth > 0 {
            let rest = self.rest();
            let bytes = rest.as_bytes();
            let next = bytes
                .windows(2)
                .position(|pair| pair == close.as_bytes() || (nested && pair == open.as_bytes()));
            let Some(next) = next else {
                self.at = self.text.len();
                break;
            };
            if rest[next..].starts_with(close) {
                depth -= 1;
            } else {
                depth += 1;
            }
            self.at += next + 2;
        }
        kind
    }

    /// A name, a number, or a string with letters before it.
    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(is_word);
        let word = &self.text[start..self.at];
        if self.language == Language::Zig {
            return Kind::Word;
        }
        let raw = matches!(word, "r" | "br" | "cr");
        if self.language == Language::Rust && raw {
            let hashes = self.rest().len() - self.rest().trim_start_matches('#').len();
            let after = &self.rest()[hashes..];
            if after.starts_with('"') {
                self.at += hashes + 1;
                self.until(&format!("\"{}", "#".repeat(hashes)));
                return Kind::Literal;
            }
            if word == "r" && hashes == 1 && after.starts_with(is_word) {
                self.at += 1;
                self.skip_while(is_word);
            }
            return Kind::Word;
        }
        if self.language == Language::D && word == "r" && self.peek() == Some('"') {
            self.at += 1;
            self.until("\"");
            return Kind::Literal;
        }
        if matches!(word, "b" | "c") {
            match self.peek() {
                Some('"') => {
                    self.at += 1;
                    self.quoted('"');
                    return Kind::Literal;
                }
                Some('\'') if word == "b" => {
                    self.at += 1;
                    return self.apostrophe();
                }
                _ => {}
            }
        }
        Kind::Word
    }

    /// To the end of what `close` ends, or of the text.
    fn until(&mut self, close: &str) {
        let rest = self.rest();
        self.at += rest
            .find(close)
            .map_or(rest.len(), |found| found + close.len());
    }

    /// To the quote that ends a string, past those behind a backslash.
    fn quoted(&mut self, quote: char) {
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                self.at += offset + c.len_utf8();
                return;
            }
        }
        self.at = self.text.len();
    }

    /// A character, or a lifetime: `'a'` is one, `'a` the other.
    fn apostrophe(&mut self) -> Kind {
        let mut next = self.rest().chars();
        match next.next() {
            Some('\\') => {
                // An escape is short; without an end on its line it is none.
                let rest = self.rest();
                let near = &rest[..rest.floor_char_boundary(LONGEST_CHARACTER)];
                let near = near.lines().next().unwrap_or_default();
                let after = 1 + near[1..].chars().next().map_or(0, char::len_utf8);
                let end = near[after..].find('\'').map(|found| after + found + 1);
                match end {
                    Some(end) => {
                        self.at += end;
                        Kind::Literal
                    }
                    None => Kind::Sign,
                }
            }
            Some(c) if c != '\'' && next.next() == Some('\'') => {
                self.at += c.len_utf8() + 1;
                Kind::Literal
            }
            Some(c) if is_word(c) => {
                self.skip_while(is_word);
                Kind::Lifetime
            }
            _ => Kind::Sign,
        }
    }
}

/// `\u{10ffff}'` with underscores between its digits is about this long.
const LONGEST_CHARACTER: usize = 24;

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// For each bracket, where the one is that closes or opens it; for one without a partner, and for anything else, the end.
pub(super) fn partners(text: &str, tokens: &[Token]) -> Vec<usize> {
    let mut partners = vec![tokens.len(); tokens.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let sign = text.as_bytes()[token.start];
        match token.kind {
            Kind::Open => open.push((at, sign)),
            Kind::Close => {
                let wanted = match sign {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if let Some((partner, _)) = open.pop_if(|(_, sign)| *sign == wanted) {
                    partners[partner] = at;
                    partners[at] = partner;
                }
            }
            _ => {}
        }
    }
    partners
}
