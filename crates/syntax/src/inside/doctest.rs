//! The examples in documentation comments that are run, or at least compiled, as tests.

use std::ops::Range;

/// One line of documentation: where it is in the file, and what it says.
struct Line<'a> {
    range: Range<usize>,
    says: &'a str,
}

/// A fence of code, as it was opened.
struct Fence {
    sign: char,
    length: usize,
    /// Where its line begins, if what it holds is a test.
    test_from: Option<usize>,
}

/// Where the examples are in comments that follow each other and document the same thing, with the fences around them.
pub(super) fn examples(text: &str, comments: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut examples = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut end = 0;
    for comment in comments {
        for line in lines(text, comment.clone()) {
            end = line.range.end;
            let Some((sign, length, info)) = fence_of(line.says) else {
                continue;
            };
            match &fence {
                None if sign == '`' && info.contains('`') => {}
                None => {
                    fence = Some(Fence {
                        sign,
                        length,
                        test_from: is_run(info).then_some(line.range.start),
                    });
                }
                Some(open) => {
                    if sign == open.sign && length >= open.length && info.is_empty() {
                        examples.extend(open.test_from.map(|start| start..end));
                        fence = None;
                    }
                }
            }
        }
    }
    // One that is not closed goes on to the end.
    examples.extend(
        fence
            .and_then(|open| open.test_from)
            .map(|start| start..end),
    );
    examples
}

/// The lines of a comment, without the signs that make them one.
fn lines(text: &str, comment: Range<usize>) -> impl Iterator<Item = Line<'_>> {
    let whole = text.get(comment.clone()).unwrap_or_default();
    let is_block = whole.starts_with("/*");
    let mut start = comment.start;
    whole.split_inclusive('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end;
        let mut says = line.trim();
        if is_block {
            says = says.strip_suffix("*/").unwrap_or(says);
            says = says
                .strip_prefix("/**")
                .or_else(|| says.strip_prefix("/*!"))
                .or_else(|| says.strip_prefix('*'))
                .unwrap_or(says);
        } else {
            says = says.get(3..).unwrap_or_default();
        }
        Line {
            range,
            says: says.trim(),
        }
    })
}

/// The sign of a fence, how often it stands there, and what is said behind it.
fn fence_of(line: &str) -> Option<(char, usize, &str)> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(sign);
    let length = line.len() - info.len();
    (length >= 3).then(|| (sign, length, info.trim()))
}

/// Whether code with this said of it is compiled as a test.
fn is_run(info: &str) -> bool {
    let mut words = info
        .split([',', ' ', '\t'])
        .filter(|word| !word.is_empty())
        .peekable();
    if words.peek().is_none() {
        return true;
    }
    let mut named = false;
    let mut foreign = false;
    for word in words {
        match word {
            "ignore" => return false,
            "rust" => named = true,
            "should_panic" | "no_run" | "compile_fail" | "test_harness" | "allow_fail"
            | "standalone_crate" | "standalone" => {}
            _ if word.starts_with("edition") || is_error_code(word) => {}
            _ => foreign = true,
        }
    }
    named || !foreign
}

/// `E0308`, which an example is to fail to compile with.
fn is_error_code(word: &str) -> bool {
    word.strip_prefix('E').is_some_and(|digits| {
        digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}
