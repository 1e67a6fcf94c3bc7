//! Text of others, made fit to be shown.

/// Text on one line: control characters and those that turn the direction of writing become blanks, and so does what no
/// XML file may hold.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if is_harmless(c) { c } else { ' ' })
        .collect()
}

fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// Plain text of at most `most` characters, an ellipsis included.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let text = plain(text);
    if text.chars().nth(most).is_none() {
        return text;
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Plain text of at most `most` characters, its beginning and its end around an ellipsis.
pub(super) fn ends_of(text: &str, most: usize) -> String {
    let text = plain(text);
    let length = text.chars().count();
    if length <= most {
        return text;
    }
    let tail = most / 2;
    let head = most.saturating_sub(tail + 1);
    let mut short: String = text.chars().take(head).collect();
    short.push('…');
    short.extend(text.chars().skip(length - tail));
    short
}

/// Lines of at most `wide` characters, broken at blanks where there are any, and at most `most` of them.
pub(super) fn lines(text: &str, wide: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(wide.max(1)) {
            if length > 0 && length + 1 + piece.len() > wide {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.extend(piece);
            length += piece.len();
        }
    }
    if length > 0 {
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}
