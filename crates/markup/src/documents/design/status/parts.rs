//! The words, numbers and signs of a text.

/// A part of a text.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    /// A word, or a number that stands in one.
    Word(&'a str),
    /// A number, with what parts it: `80`, `99.5`, `21.11.2026`.
    Number(&'a str),
    /// Any other sign, and whether white space stands before it.
    Sign(char, bool),
}

pub(super) fn of(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut is_apart = true;
    while let Some(c) = rest.chars().next() {
        let run = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if c.is_alphanumeric() {
            let word = run(|c| c.is_alphanumeric() || c == '\'');
            let number = run(|c| c.is_ascii_digit() || c == '.' || c == ',');
            let digits = rest[..number].trim_end_matches(['.', ',']).len();
            if digits >= word {
                parts.push(Part::Number(&rest[..digits]));
                digits
            } else {
                parts.push(Part::Word(rest[..word].trim_end_matches('\'')));
                word
            }
        } else {
            parts.push(Part::Sign(c, is_apart));
            c.len_utf8()
        };
        is_apart = c.is_whitespace();
        rest = &rest[length..];
    }
    parts
}

/// Reads a share: `80 %`, `2 of 5`, `2/5`; whether it is all, and how many parts it takes.
pub(super) fn share(parts: &[Part<'_>]) -> Option<(bool, usize)> {
    let [Part::Number(first), behind @ ..] = parts else {
        return None;
    };
    let percent = |is: bool| is.then(|| (number(first) >= Some(100.0), 2));
    match behind {
        [Part::Sign('%' | '％' | '٪', _), ..] => percent(true),
        [Part::Word(word), Part::Number(all), ..] if word.eq_ignore_ascii_case("of") => {
            Some((is_all(first, all), 3))
        }
        [Part::Word(out), Part::Word(of), Part::Number(all), ..]
            if out.eq_ignore_ascii_case("out") && of.eq_ignore_ascii_case("of") =>
        {
            Some((is_all(first, all), 4))
        }
        [
            Part::Sign('/', _),
            Part::Number(_),
            Part::Sign('/', _),
            Part::Number(_),
            ..,
        ] => None,
        [Part::Sign('/', _), Part::Number(all), ..] => Some((is_all(first, all), 3)),
        [Part::Word(word), ..] => percent(
            ["percent", "pct"]
                .iter()
                .any(|name| word.eq_ignore_ascii_case(name)),
        ),
        _ => None,
    }
}

fn is_all(first: &str, all: &str) -> bool {
    number(first).is_some_and(|first| number(all).is_some_and(|all| first > 0.0 && first >= all))
}

fn number(text: &str) -> Option<f64> {
    text.replace(',', ".").parse().ok()
}

/// How many parts a date takes, such as `2026-11-21` or `21.11.2026`.
pub(super) fn date(parts: &[Part<'_>]) -> Option<usize> {
    match parts {
        [Part::Number(number), ..] if number.matches('.').count() == 2 => Some(1),
        [
            Part::Number(_),
            Part::Sign(first @ ('-' | '/'), _),
            Part::Number(_),
            Part::Sign(second, _),
            Part::Number(_),
            ..,
        ] if first == second => Some(5),
        _ => None,
    }
}
