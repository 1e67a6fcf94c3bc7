/// One line of TAP, without the spaces in front.
pub(super) enum Line<'a> {
    /// `TAP version 13`.
    Version,
    /// `1..5`, by its last number.
    Plan(u64),
    /// `ok 1 - adds`.
    Point(Point),
    /// `# …`.
    Comment(&'a str),
    /// `Bail out!`, with the reason.
    Bail(&'a str),
    /// `}`, the end of subtests in braces.
    Close,
}

/// A result.
pub(super) struct Point {
    pub(super) ok: bool,
    pub(super) number: Option<u64>,
    /// Whether the name stands behind a dash.
    pub(super) dashed: bool,
    pub(super) name: String,
    pub(super) directive: Option<Directive>,
    pub(super) reason: String,
    /// Whether its subtests follow in braces.
    pub(super) opens: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Skip,
    Todo,
}

/// How many spaces stand in front.
pub(super) fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

impl<'a> Line<'a> {
    /// A line of TAP with the number of spaces in front of it, or `None` for any other.
    pub(super) fn of(text: &'a str) -> Option<(usize, Self)> {
        let indent = indent(text);
        let text = text.get(indent..)?;
        let line = if let Some(version) = text.strip_prefix("TAP version ") {
            version.trim().parse::<u64>().ok()?;
            Self::Version
        } else if let Some(comment) = text.strip_prefix('#') {
            Self::Comment(comment.strip_prefix(' ').unwrap_or(comment))
        } else if let Some(reason) = text.strip_prefix("Bail out!") {
            Self::Bail(reason.trim())
        } else if text.trim_end() == "}" {
            Self::Close
        } else if let Some(plan) = text.strip_prefix("1..") {
            let plan = plan.split('#').next().unwrap_or(plan);
            Self::Plan(plan.trim().parse().ok()?)
        } else if let Some(rest) = text.strip_prefix("not ok") {
            Self::Point(Point::of(false, rest)?)
        } else {
            Self::Point(Point::of(true, text.strip_prefix("ok")?)?)
        };
        Some((indent, line))
    }
}

impl Point {
    fn of(ok: bool, rest: &str) -> Option<Self> {
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = match rest.get(..digits).map(str::parse::<u64>) {
            Some(Ok(number)) if rest[digits..].is_empty() || rest[digits..].starts_with(' ') => {
                (Some(number), rest[digits..].trim_start())
            }
            _ => (None, rest),
        };
        let dashed = rest == "-" || rest.starts_with("- ");
        let rest = if dashed {
            rest[1..].trim()
        } else {
            rest.trim()
        };
        let (rest, opens) = match rest.strip_suffix('{') {
            Some(rest) if rest.is_empty() || rest.ends_with(' ') => (rest.trim_end(), true),
            _ => (rest, false),
        };
        let (name, directive, reason) = split(rest);
        Some(Self {
            ok,
            number,
            dashed,
            name: without_time(&unescaped(name), dashed).to_owned(),
            directive,
            reason: reason.to_owned(),
            opens,
        })
    }
}

/// Divides a description from the directive after it. `# time=…` of some producers is no part of either.
fn split(text: &str) -> (&str, Option<Directive>, &str) {
    let mut escaped = false;
    let mut name = text;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'#' => {
                let after = text[at + 1..].trim_start();
                let word: String = after.chars().take(4).collect();
                let rest = after.get(4..).unwrap_or("");
                let reason = rest.trim_start_matches(|c: char| c.is_alphabetic() || c == ':');
                let ends =
                    rest.is_empty() || !rest.starts_with(|c: char| c.is_numeric() || c == '_');
                if word.eq_ignore_ascii_case("skip") && ends {
                    return (text[..at].trim_end(), Some(Directive::Skip), reason.trim());
                }
                if word.eq_ignore_ascii_case("todo") && ends {
                    return (text[..at].trim_end(), Some(Directive::Todo), reason.trim());
                }
                if after.starts_with("time=") && name.len() == text.len() {
                    name = text[..at].trim_end();
                }
            }
            _ => {}
        }
    }
    (name, None, "")
}

/// `\#` is a number sign and `\\` is one backslash.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match chars.peek() {
            Some('#' | '\\') if char == '\\' => plain.extend(chars.next()),
            _ => plain.push(char),
        }
    }
    plain
}

/// The name without the ` in 12ms` that bats writes behind it when asked for times; bats writes no dash.
fn without_time(name: &str, dashed: bool) -> &str {
    if dashed {
        return name;
    }
    match name.rsplit_once(" in ") {
        Some((before, time))
            if time
                .strip_suffix("ms")
                .is_some_and(|ms| !ms.is_empty() && ms.bytes().all(|b| b.is_ascii_digit())) =>
        {
            before
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Point {
        match Line::of(text) {
            Some((_, Line::Point(point))) => point,
            _ => panic!("{text} is no result"),
        }
    }

    #[test]
    fn names_and_directives() {
        for (text, name, directive) in [
            ("ok 1 - adds", "adds", None),
            ("ok", "", None),
            ("ok 2 adds # skip no printer", "adds", Some(Directive::Skip)),
            ("not ok 2 # TODO: later", "", Some(Directive::Todo)),
            ("ok 3 - a \\# TODO b", "a # TODO b", None),
            ("ok 3 - a \\\\# SKIPPED", "a \\", Some(Directive::Skip)),
            ("ok 4 - item #5 # time=2.1ms", "item #5", None),
            ("ok 4 - b # todo_list", "b # todo_list", None),
            ("ok 5 adds in 12ms", "adds", None),
            ("ok 5 - ends in 12ms", "ends in 12ms", None),
            ("ok 6 - - dash", "- dash", None),
            ("ok 7 - a # é# SKIPé", "a # é", Some(Directive::Skip)),
        ] {
            let point = point(text);
            assert_eq!(point.name, name, "{text}");
            assert!(point.directive == directive, "{text}");
        }
    }
}
