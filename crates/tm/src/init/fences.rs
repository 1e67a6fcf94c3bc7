//! Where fenced code stands in a Markdown text: what looks like something of ours there is an example of somebody's.

use std::ops::Range;

/// A fence that opens code.
#[derive(Debug, Clone, Copy)]
struct Opening {
    mark: char,
    length: usize,
    /// The column that the contents of the list item begin at which the fence opens; 0 outside of one.
    column: usize,
}

/// What counts of a line.
struct Line {
    range: Range<usize>,
    indentation: usize,
    is_blank: bool,
    opening: Option<Opening>,
    /// The mark and length of a fence that can close code.
    closing: Option<(char, usize)>,
}

/// The stretches of fenced code, fences included. A fence that nothing closes makes none: what is put at the end of such
/// a text has to be found again.
pub fn fenced(text: &str) -> Vec<Range<usize>> {
    let lines = lines(text);
    let mut found = Vec::new();
    // The shortest fences outside of lists that nothing closes, of backticks and of tildes: a longer one has no end either.
    let mut endless = [usize::MAX; 2];
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(opening) = line.opening else {
            continue;
        };
        let shortest = &mut endless[usize::from(opening.mark == '~')];
        if opening.column == 0 && opening.length >= *shortest {
            continue;
        }
        let Some((end, next)) = end_of(&lines, at, opening) else {
            if opening.column == 0 {
                *shortest = opening.length;
            }
            continue;
        };
        found.push(line.range.start..end);
        at = next;
    }
    found
}

/// Where code ends that was opened before the line `from`, and the line to go on with.
fn end_of(lines: &[Line], from: usize, opening: Opening) -> Option<(usize, usize)> {
    for (at, line) in lines.iter().enumerate().skip(from) {
        // The end of a list item ends what is in it.
        if !line.is_blank && line.indentation < opening.column {
            return Some((line.range.start, at));
        }
        let closes = line
            .closing
            .is_some_and(|(mark, length)| mark == opening.mark && length >= opening.length);
        if closes && line.indentation <= opening.column + 3 {
            return Some((line.range.end, at + 1));
        }
    }
    None
}

fn lines(text: &str) -> Vec<Line> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = at..at + line.len();
            at = range.end;
            let line = line.trim_end();
            let closing = fence(line.trim_start()).filter(|(_, _, info)| info.is_empty());
            Line {
                range,
                indentation: indentation(line),
                is_blank: line.is_empty(),
                opening: opening(line),
                closing: closing.map(|(mark, length, _)| (mark, length)),
            }
        })
        .collect()
}

/// The fence that a line opens code with, by itself or behind the marks of list items.
fn opening(line: &str) -> Option<Opening> {
    let mut column = 0;
    let mut rest = line;
    while let Some(behind) = behind_list_mark(rest) {
        column += rest.chars().count() - behind.chars().count();
        rest = behind;
    }
    // Further to the right it is code already.
    if indentation(rest) > 3 {
        return None;
    }
    let (mark, length, info) = fence(rest.trim_start())?;
    // With backticks further on it is code within a line.
    (mark == '~' || !info.contains('`')).then_some(Opening {
        mark,
        length,
        column,
    })
}

/// What follows the mark of a list item and the blank behind it.
fn behind_list_mark(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let behind = match digits {
        0 => line.strip_prefix(['-', '*', '+']),
        _ => line.get(digits..)?.strip_prefix(['.', ')']),
    };
    behind?.strip_prefix([' ', '\t'])
}

/// The mark of a fence, its length, and what stands behind it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3).then_some((mark, length, info))
}

/// Columns before the first character; a tab leads to the next multiple of four.
pub fn indentation(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with what is fenced in brackets.
    fn shown(text: &str) -> String {
        let mut shown = String::new();
        let mut done = 0;
        for range in fenced(text) {
            shown.push_str(&text[done..range.start]);
            shown.push('[');
            shown.push_str(&text[range.clone()]);
            shown.push(']');
            done = range.end;
        }
        shown.push_str(&text[done..]);
        shown
    }

    #[test]
    fn fenced_code_is_what_markdown_takes_for_it() {
        for expected in [
            "",
            "a\n[```\nx\n```\n]b\n",
            "a\n[```\nx\n```]",
            "[~~~ sh `x`\n```\n   ~~~~  \r\n]b\n",
            "[   ```markdown\r\nx\r\n  ```\r\n]b\r\n",
            "[````\n```\n~~~\n    ````\n```` x\n`````\n][```\n```\n]",
            // Code within a line, too short, too far to the right, or a mix.
            "```x```\n``\n    ```\n\t```\n``~\n",
            // Nothing closes it.
            "```\nx\n",
            "~~~ a\n[```\nx\n```\n]~~~ b\n",
            "````\n[```\n~~~\n```\n]~~~~\n",
            // In lists, where the end of an item is an end, too.
            "[- ```\n  x\n  ```\n]y\n[```\n```\n]",
            "[12. ```\n    x\n\n]y\n[```\n```\n]",
            "[  * + ~~~\n      ~~~\n]y\n",
            "-```\n1) x\n> ```\n",
        ] {
            let text = expected.replace(['[', ']'], "");
            assert_eq!(shown(&text), expected, "{text:?}");
        }
    }

    #[test]
    fn many_fences_without_an_end_take_no_time() {
        assert!(fenced(&"~~~ a\n".repeat(100_000)).is_empty());
        let shrinking: Vec<String> = (3..500).rev().map(|length| "`".repeat(length)).collect();
        let shrinking = shrinking.join(" a\n");
        assert!(fenced(&shrinking).is_empty());
    }
}
