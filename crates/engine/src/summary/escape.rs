//! Text of others made harmless in a page of Markdown: names of tests come from files that anybody may have written.

use text::plain::one_line;

use crate::next_step::on_a_page;

/// The longest text of others that is shown, in characters.
const LONGEST: usize = 300;
/// The longest name of a test that is shown, in characters.
const LONGEST_NAME: usize = 160;

/// Text in a table cell, a heading or a list: one line, nothing that Markdown, HTML or a host of repositories would act on.
pub fn inline(text: &str) -> String {
    let mut out = String::new();
    let line = bounded(text, LONGEST);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        // What begins a list within a list.
        let begins = out.is_empty() && matches!(c, '-' | '+' | '=');
        // Within a word it sets nothing off.
        let within = c == '_'
            && out.ends_with(char::is_alphanumeric)
            && chars.peek().is_some_and(|next| next.is_alphanumeric());
        let acts = !within
            && matches!(
                c,
                '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '\\' | '#' | '!' | '~' | '&'
            );
        if begins || acts {
            out.push('\\');
        }
        out.push(c);
        apart(&mut out, c, chars.peek());
    }
    out
}

/// Text in a line of HTML, such as a summary.
pub fn html(text: &str) -> String {
    let mut out = String::new();
    let line = bounded(text, LONGEST);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
        apart(&mut out, c, chars.peek());
    }
    out
}

/// Text as code. It stays as it is, however many backticks are in it.
pub fn code(text: &str) -> String {
    code_span(&bounded(text, LONGEST))
}

/// The name of a test, as code.
pub fn name(text: &str) -> String {
    code_span(&bounded(text, LONGEST_NAME))
}

fn code_span(line: &str) -> String {
    let longest = line
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if line.is_empty() || line.starts_with('`') || line.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// `@name` would call somebody, and `#1` name an issue: what a reader cannot see stands between.
fn apart(out: &mut String, c: char, next: Option<&char>) {
    let calls = match c {
        '@' => next.is_some_and(|next| next.is_alphanumeric()),
        '#' => next.is_some_and(char::is_ascii_digit),
        _ => false,
    };
    if calls {
        out.push_str("&#8203;");
    }
}

fn bounded(text: &str, most: usize) -> String {
    let line = one_line(&on_a_page(text));
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_acted_on() {
        assert_eq!(
            inline("a|b</details>\n# *x* &lt; @types/node #12"),
            r"a\|b\</details\> \# \*x\* \&lt; @&#8203;types/node \#&#8203;12"
        );
        assert_eq!(inline("- one"), r"\- one");
        assert_eq!(inline("given_up, _so_ _"), r"given_up, \_so\_ \_");
        assert_eq!(
            html("<b> & \"@me\" #1\n</summary>"),
            "&lt;b&gt; &amp; &quot;@&#8203;me&quot; #&#8203;1 &lt;/summary&gt;"
        );
    }

    #[test]
    fn code_ends_where_it_is_to_end() {
        assert_eq!(name("plain <b>"), "`plain <b>`");
        assert_eq!(name("a `b` ``c"), "```a `b` ``c```");
        assert_eq!(name("`"), "`` ` ``");
        assert_eq!(name("two\nlines\u{202e}"), "`two lines`");
        assert_eq!(name(""), "`  `");
    }

    #[test]
    fn long_text_is_cut_before_it_is_escaped() {
        let cut = inline(&"<".repeat(1000));
        assert_eq!(cut.chars().filter(|c| *c == '<').count(), LONGEST);
        assert!(cut.ends_with("\\<…"));
        let cut = name(&"ü".repeat(1000));
        assert_eq!(cut.chars().count(), LONGEST_NAME + 3);
    }
}
