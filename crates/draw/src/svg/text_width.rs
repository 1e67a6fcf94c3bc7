//! Words: how wide they are, and how they are written in XML.

/// How wide a text is at most, in a usual sans-serif font of this size.
pub(super) fn width(text: &str, size: i64) -> i64 {
    let sum: i64 = text.chars().map(thousandths).sum();
    (sum * size).div_euclid(1000) + 1
}

/// How wide a character is, in thousandths of the font's size. Which font it will be nobody knows, so it is a wide one.
fn thousandths(c: char) -> i64 {
    match c {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' | '!' => 330,
        'I' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' => 430,
        'm' | 'M' | 'W' | 'w' | '@' | '%' | '…' | '—' => 1000,
        '=' | '<' | '>' | '+' | '&' | '~' | '#' => 840,
        'A'..='Z' => 740,
        c if c.is_ascii() => 640,
        // Greek, Cyrillic and accented letters are hardly wider; others may fill a square.
        '\u{a0}'..='\u{52f}' => 720,
        _ => 1100,
    }
}

/// Text inside of an element.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
