//! Whether two texts are the same but for their form: white space, commas before closing brackets, semicolons at the end of lines, and
//! the kind of quotes, as formatters set them. No parser is used, so what a formatter does beyond that makes another text.

/// What matters for the form of a language.
#[derive(Clone, Copy)]
struct Rules {
    /// What begins a comment that ends with its line.
    comment: &'static str,
    /// What begins and ends a text.
    quotes: &'static str,
    /// Those of them whose text may span lines; another one ends with its line at the latest.
    long: &'static str,
    /// Whether a text means the same in single and in double quotes.
    quotes_are_alike: bool,
    /// Whether lines and their indentation are syntax.
    is_by_lines: bool,
}

const C: Rules = Rules {
    comment: "//",
    quotes: "\"",
    long: "",
    quotes_are_alike: false,
    is_by_lines: false,
};
const GO: Rules = Rules {
    quotes: "\"`",
    long: "`",
    ..C
};
const JAVASCRIPT: Rules = Rules {
    quotes: "\"'`",
    long: "`",
    quotes_are_alike: true,
    ..C
};
const PHP: Rules = Rules {
    quotes: "\"'",
    long: "\"'",
    ..C
};
const PYTHON: Rules = Rules {
    comment: "#",
    quotes: "\"'",
    long: "",
    quotes_are_alike: true,
    is_by_lines: true,
};
const RUBY: Rules = Rules {
    comment: "#",
    is_by_lines: true,
    ..PHP
};
const RUST: Rules = Rules { long: "\"", ..C };

/// By the endings of files.
const LANGUAGES: &[(&[&str], Rules)] = &[
    (
        &[
            "c", "cc", "cpp", "cs", "cxx", "groovy", "h", "hpp", "java", "kt", "scala", "swift",
        ],
        C,
    ),
    (&["go"], GO),
    (
        &["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"],
        JAVASCRIPT,
    ),
    (&["dart", "php"], PHP),
    (&["py", "pyi"], PYTHON),
    (&["ex", "exs", "rb"], RUBY),
    (&["rs"], RUST),
];

fn rules(path: &str) -> Option<Rules> {
    let (_, ending) = path.rsplit_once('.')?;
    let mut languages = LANGUAGES.iter();
    let language = languages.find(|(endings, _)| endings.contains(&ending));
    language.map(|(_, rules)| *rules)
}

/// Whether two texts of a file differ in nothing but their form. Of what is written in no known language only line ends are form.
#[must_use]
pub fn is_same_form(path: &str, before: &str, now: &str) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n");
    before == now
        || lines(before) == lines(now)
        || rules(path).is_some_and(|rules| form(rules, before) == form(rules, now))
}

/// The text of a file without its form; as it stands where its language is not known.
#[must_use]
pub fn form_of(path: &str, text: &str) -> String {
    rules(path).map_or_else(|| text.to_owned(), |rules| form(rules, text))
}

/// A bracket that is open.
struct Bracket {
    /// Whether a comma behind its only item says nothing: it is that of a call, a list or a block.
    is_list: bool,
    /// How many commas it has so far.
    commas: usize,
}

/// Letters that are quotes, as languages write them in which a single quote begins no text.
const QUOTED: [&str; 2] = ["'\"'", "'\\\"'"];

/// Words after which a parenthesis is no call's, so that a comma in it may make it a tuple.
const NO_CALLEE: &[&str] = &[
    "and", "as", "assert", "await", "case", "elif", "else", "for", "if", "in", "is", "lambda",
    "let", "match", "not", "or", "print", "return", "while", "with", "yield",
];

fn form(rules: Rules, text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    let mut open: Vec<Bracket> = Vec::new();
    let mut rest = text;
    // Whether something that says nothing stands between what was taken and what comes.
    let (mut is_apart, mut is_new_line) = (false, false);
    while let Some(sign) = rest.chars().next() {
        if sign.is_whitespace() {
            is_apart = true;
            is_new_line |= sign == '\n';
            rest = &rest[sign.len_utf8()..];
            continue;
        }
        if is_apart {
            if is_new_line && !rules.is_by_lines {
                drop_end(&mut form, ';');
            }
            let counts = rules.is_by_lines && is_new_line && open.is_empty();
            if counts && !form.is_empty() {
                let line = &text[..text.len() - rest.len()];
                let indentation = line.len() - line.trim_end_matches([' ', '\t']).len();
                form.push('\n');
                form.extend(std::iter::repeat_n(' ', indentation));
            } else if form.ends_with(is_word) && is_word(sign) {
                form.push(' ');
            }
            (is_apart, is_new_line) = (false, false);
        }
        let (said, behind) = if rest.starts_with(rules.comment) {
            // What ends a comment is no form: behind it something may count, or not.
            let (comment, behind) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
            let words: Vec<&str> = comment.split_whitespace().collect();
            (format!("{}\u{1}", words.join(" ")), behind)
        } else if rules.quotes.contains(sign) {
            let (literal, behind) = rest.split_at(end_of_literal(rules, rest, sign));
            let before = &text[..text.len() - rest.len()];
            (literal_of(rules, before, literal), behind)
        } else if let Some(letter) = QUOTED.iter().find(|letter| rest.starts_with(**letter)) {
            let (letter, behind) = rest.split_at(letter.len());
            (letter.to_owned(), behind)
        } else {
            bracket(&mut form, &mut open, sign);
            let (said, behind) = rest.split_at(sign.len_utf8());
            (said.to_owned(), behind)
        };
        form.push_str(&said);
        rest = behind;
    }
    if !rules.is_by_lines {
        drop_end(&mut form, ';');
    }
    form
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn drop_end(form: &mut String, sign: char) {
    if form.ends_with(sign) {
        form.pop();
    }
}

/// Takes note of a bracket or a comma, and takes the comma away that a bracket closes behind.
fn bracket(form: &mut String, open: &mut Vec<Bracket>, sign: char) {
    match sign {
        '(' | '[' | '{' => {
            let word = form.trim_end_matches(is_word).len();
            let callee = &form[word..];
            let is_called = (!callee.is_empty() && !NO_CALLEE.contains(&callee))
                || callee.is_empty() && form.ends_with([')', ']', '>', '?', '!']);
            open.push(Bracket {
                is_list: sign != '(' || is_called,
                commas: 0,
            });
        }
        ',' => {
            if let Some(bracket) = open.last_mut() {
                bracket.commas += 1;
            }
        }
        ')' | ']' | '}' => {
            let closed = open.pop();
            let says_nothing = closed.is_some_and(|closed| closed.is_list || closed.commas > 1);
            if says_nothing {
                drop_end(form, ',');
            }
        }
        _ => {}
    }
}

/// Where a text ends that begins with a quote: behind the same quote, or with its line.
fn end_of_literal(rules: Rules, rest: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    if let Some(inner) = rest.strip_prefix(&triple) {
        return inner.find(&triple).map_or(rest.len(), |at| at + 6);
    }
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '\n' if !rules.long.contains(quote) && !is_escaped => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A literal in double quotes where both kinds are alike, with a backslash before double quotes only. Another escape means the same in
/// either kind of quotes, so it stays.
fn literal_of(rules: Rules, before: &str, literal: &str) -> String {
    let quote = if literal.starts_with('\'') { '\'' } else { '"' };
    let is_triple = literal.starts_with(&quote.to_string().repeat(3));
    let inner = literal
        .strip_prefix(quote)
        .and_then(|inner| inner.strip_suffix(quote))
        .filter(|_| rules.quotes_are_alike && !is_triple)
        // In a raw text of Python the backslash before a quote is part of the text.
        .filter(|inner| !(is_raw_prefix(before) && inner.contains(['"', '\''])));
    let Some(inner) = inner else {
        return literal.to_owned();
    };
    let mut form = String::from('"');
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('"', _) => form.push_str("\\\""),
            ('\\', Some('"' | '\'')) => {}
            ('\\', Some(escaped)) => {
                form.extend([letter, escaped]);
                letters.next();
            }
            _ => form.push(letter),
        }
    }
    form.push('"');
    form
}

/// Whether what stands before a literal ends with a prefix that makes it raw, such as `r` and `Rb`.
fn is_raw_prefix(before: &str) -> bool {
    let prefix = before.rsplit(|letter| !is_word(letter)).next();
    prefix.is_some_and(|prefix| prefix.len() <= 2 && prefix.contains(['r', 'R']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_formatters_do_is_form() {
        for (path, before, now) in [
            ("a.js", "f( a,b );\n", "f(a, b)\n"),
            ("a.js", "f('a')", "f(\"a\")"),
            ("a.ts", "f({\n  a: 1,\n  b: 2,\n});", "f({ a: 1, b: 2 })"),
            ("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
            (
                "a.py",
                "x = {'a': 1}\n\n\ny = 2\n",
                "x = {\"a\": 1}\n\ny = 2\n",
            ),
            ("a.py", "f(a)  # so   it\ng()\n", "f(a) # so it\ng()\n"),
            ("a.go", "if x{\n\tf(a)\n}\n", "if x {\n    f(a)\n}\n"),
            (
                "a.rs",
                "assert_eq!(a,b,);",
                "assert_eq!(\n    a,\n    b\n);",
            ),
            ("a.rs", "f('\"', b);\ng( a );\n", "f('\"', b);\ng(a);\n"),
            ("a.sh", "f\r\ng\r\n", "f\ng\n"),
            ("a.py", r"f('A=1\nB=2')", r#"f("A=1\nB=2")"#),
            ("a.ts", r"f('\u00e9\\')", r#"f("\u00e9\\")"#),
            ("a.py", r"f('it\'s')", r#"f("it's")"#),
            ("a.js", r"f('it\'s')", r#"f("it\'s")"#),
            ("a.js", r#"f("say \"x\"")"#, r#"f('say "x"')"#),
            ("a.py", r#"f('\\"')"#, r#"f("\\\"")"#),
            ("a.py", r"f(rb'\d', f'\n')", r#"f(rb"\d", f"\n")"#),
        ] {
            assert!(is_same_form(path, before, now), "{before}");
        }
    }

    #[test]
    fn what_says_something_is_no_form() {
        for (path, before, now) in [
            ("a.py", "assert (x,)", "assert (x)"),
            ("a.py", "x = (1,)", "x = (1)"),
            ("a.py", "if a:\n    f()\ng()\n", "if a:\n    f()\n    g()\n"),
            ("a.js", "// so\nassert(x)", "// so assert(x)"),
            ("a.js", "f('a b')", "f('a  b')"),
            ("a.js", "f('//')\ng()", "f('//') g(1)"),
            ("a.js", "return x", "returnx"),
            ("a.rb", "f 'a'", "f \"a\""),
            ("a.go", "x := 'a'", "x := \"a\""),
            ("a.py", "f(\"\"\"a\n  b\"\"\")", "f(\"\"\"a\nb\"\"\")"),
            ("a.rs", "f(\"a\n  b\")", "f(\"a\nb\")"),
            ("a.sh", "f  a", "f a"),
            ("Makefile", "a:\n\tb", "a:\n b"),
            ("a.py", r"f(r'it\'s')", r#"f(r"it's")"#),
            ("a.py", r"f(Rb'\'')", r#"f(Rb"'")"#),
            ("a.py", r"f('\n')", r#"f(r"\n")"#),
            ("a.py", r"f('\\n')", r#"f("\n")"#),
            ("a.py", r"f('\\', 'a')", r#"f("\", "a')"#),
            ("a.js", r"f(`it\'s`)", r#"f("it's")"#),
            ("a.js", r"f(`it\'s`)", r"f(`it's`)"),
            ("a.go", r"x := `\'`", r"x := `'`"),
        ] {
            assert!(!is_same_form(path, before, now), "{before}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_form(text in ".{0,200}", other in "[a-z'\"`(){},;/# \n]{0,60}") {
            for path in ["a.js", "a.py", "a.rs", "a.rb"] {
                for text in [&text, &other] {
                    proptest::prop_assert!(is_same_form(path, text, &text.replace('\n', "\r\n")) );
                }
            }
        }
    }
}
