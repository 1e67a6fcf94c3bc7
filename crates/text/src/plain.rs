//! Text from outside made plain: no control characters, no invisible or direction-changing
//! ones, a bounded length, and cuts that never fall inside a visible character.

/// Marks at most this many code points as one visible character, so that a base letter with
/// thousands of combining marks cannot pass for a single one.
const LONGEST_CLUSTER: usize = 16;

/// Whether `c` cannot be seen, yet changes how the text around it is shown or read: control
/// characters, direction overrides and isolates, zero-width spaces, tag characters.
/// Joiners and variation selectors stay, since emoji and several scripts need them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text on one line: every run of white space, line breaks included, is one space; hidden
/// characters are gone; no space at either end.
///
/// ```
/// use text::plain::one_line;
/// assert_eq!(one_line(" a\r\n\tb\u{202e}c "), "a bc");
/// ```
pub fn one_line(text: &str) -> String {
    let text = without_escapes(text);
    let mut line = String::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}') {
            gap = true;
        } else if !is_hidden(c) {
            if gap && !line.is_empty() {
                line.push(' ');
            }
            gap = false;
            line.push(c);
        }
    }
    line
}

/// A line of Markdown as people read it: without the marks of emphasis and code, and without the backslashes that keep other
/// characters from being marks.
///
/// ```
/// use text::plain::without_marks;
/// assert_eq!(without_marks(r"**RED** of `1.1`: \*no\* <b>"), "RED of 1.1: *no* <b>");
/// ```
pub fn without_marks(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    let mut in_code = false;
    while let Some(c) = rest.next() {
        match c {
            '`' => in_code = !in_code,
            '\\' if !in_code => match rest.next_if(char::is_ascii_punctuation) {
                Some(kept) => plain.push(kept),
                None => plain.push(c),
            },
            '*' if !in_code && rest.next_if_eq(&'*').is_some() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// The text with its lines kept: line endings become `\n`, tabs stay, hidden characters and
/// terminal escape sequences are gone, lines have no white space at their end.
pub fn many_lines(text: &str) -> String {
    let text = without_escapes(text).replace("\r\n", "\n").replace(
        ['\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'],
        "\n",
    );
    let mut plain = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            plain.push('\n');
        }
        let start = plain.len();
        plain.extend(line.chars().filter(|&c| c == '\t' || !is_hidden(c)));
        plain.truncate(start + plain[start..].trim_end().len());
    }
    plain
}

/// How many visible characters the text has: combining marks, joiners, variation selectors and
/// skin tones count with the character they belong to.
pub fn visible_len(text: &str) -> usize {
    clusters(text).count()
}

/// The text cut to at most `most` visible characters, at the end of a word where one ends in
/// the second half of what is kept, else in the middle of a word.
///
/// ```
/// use text::plain::cut_at_word;
/// assert_eq!(cut_at_word("read the whole file", 12), "read the");
/// ```
pub fn cut_at_word(text: &str, most: usize) -> &str {
    let Some((end, next)) = clusters(text).nth(most) else {
        return text;
    };
    let kept = &text[..end];
    if next.starts_with(char::is_whitespace) {
        return kept.trim_end();
    }
    match kept.rfind(char::is_whitespace) {
        Some(gap) if gap >= end / 2 => kept[..gap].trim_end(),
        _ => kept.trim_end(),
    }
}

/// The longest beginning of `text` with at most `bytes` bytes that ends between characters.
pub fn cut_bytes(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Terminal escape sequences taken out whole, so that no `[31m` is left behind.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        if chars.next_if_eq(&'[').is_some() {
            while chars
                .next_if(|c| matches!(c, '\u{20}'..='\u{3f}'))
                .is_some()
            {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
    }
    plain
}

/// The visible characters of the text, each with the byte offset it begins at.
fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, mut last) = rest.next()?;
        let mut end = start + last.len_utf8();
        let mut length = 1;
        while length < LONGEST_CLUSTER
            && let Some((at, c)) = rest.next_if(|&(_, c)| extends(c) || last == '\u{200d}')
        {
            end = at + c.len_utf8();
            last = c;
            length += 1;
        }
        Some((start, &text[start..end]))
    })
}

fn extends(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{93c}' | '\u{94d}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200c}' | '\u{200d}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{1f3fb}'..='\u{1f3ff}')
}
