//! Markdown of the engine as HTML: its lines and its reports. What others wrote is escaped in it already; what is HTML in it all
//! the same is shown as text, but for the marks of what can be unfolded.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use text::plain::many_lines;

/// What may stand in a report as HTML: the engine writes it, each on a line of its own.
const UNFOLDED: [&str; 2] = ["<details>", "</details>"];
const SUMMARY: (&str, &str) = ("<summary>", "</summary>");

/// A page of Markdown.
pub fn page(text: &str) -> Markup {
    rendered(text)
}

/// A line of Markdown, without a paragraph around it.
pub fn inline(line: &str) -> Markup {
    let html = rendered(line).into_string();
    let html = html.trim();
    let inside = html
        .strip_prefix("<p>")
        .and_then(|rest| rest.strip_suffix("</p>"));
    PreEscaped(inside.unwrap_or(html).to_owned())
}

fn rendered(text: &str) -> Markup {
    let text = many_lines(text);
    let parser = Parser::new_ext(&text, Options::ENABLE_TABLES).map(harmless);
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, parser.flat_map(framed));
    PreEscaped(out)
}

/// A table may be wider than the page: it has a frame then that can be moved by keyboard.
fn framed(event: Event<'_>) -> Vec<Event<'_>> {
    let frame = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">";
    match event {
        Event::Start(Tag::Table(_)) => vec![Event::Html(frame.into()), event],
        Event::End(TagEnd::Table) => vec![event, Event::Html("</div>".into())],
        other => vec![other],
    }
}

/// The same page with its headings below one that stands above it.
pub fn below_a_heading(text: &str) -> Markup {
    let below = text.lines().map(|line| match line.as_bytes() {
        [b'#', b'#' | b' ', ..] => format!("#{line}\n"),
        _ => format!("{line}\n"),
    });
    rendered(&below.collect::<String>())
}

/// An event with nothing in it that does something: no HTML but ours, no picture, no link to anything but the web.
fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => {
            let line = html.trim();
            let summary = line
                .strip_prefix(SUMMARY.0)
                .and_then(|rest| rest.strip_suffix(SUMMARY.1));
            if UNFOLDED.contains(&line) {
                Event::Html(html)
            } else if let Some(inside) = summary.filter(|inside| !inside.contains(['<', '>'])) {
                let summary = format!("{}{inside}{}\n", SUMMARY.0, SUMMARY.1);
                Event::Html(CowStr::from(summary))
            } else {
                Event::Text(html)
            }
        }
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) if !is_of_the_web(&dest_url) => Event::Start(Tag::Link {
            link_type,
            dest_url: CowStr::from("#"),
            title,
            id,
        }),
        Event::Start(Tag::Image { title, id, .. }) => Event::Start(Tag::Image {
            link_type: pulldown_cmark::LinkType::Inline,
            dest_url: CowStr::from("data:,"),
            title,
            id,
        }),
        other => other,
    }
}

fn is_of_the_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://") || url.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_unfolded_is_ours_and_nothing_else_is_html() {
        let page = page("<details>\n<summary>Tests</summary>\n\na\n\n</details>\n").into_string();
        for ours in ["<details>", "<summary>Tests</summary>"] {
            assert!(page.contains(ours), "{page}");
        }
        for hostile in [
            "<script>alert(1)</script>",
            "<details open onclick=alert(1)>",
            "<summary><img src=x onerror=alert(1)></summary>",
            "a <b>b</b> <img src=x onerror=alert(1)>",
            "[x](javascript:alert(1)) ![y](https://evil.example/y.png)",
            "<javascript:alert(1)>",
        ] {
            let page = super::page(hostile).into_string();
            for tag in [
                "<script",
                "<img src=x",
                "<b>",
                "<details open",
                "href=\"javascript",
                "evil.example",
            ] {
                assert!(!page.contains(tag), "{hostile}: {page}");
            }
        }
    }

    #[test]
    fn a_line_is_no_paragraph() {
        assert_eq!(
            inline("**GREEN** of 1.1: `a` \\* <i>").into_string(),
            "<strong>GREEN</strong> of 1.1: <code>a</code> * &lt;i&gt;"
        );
    }
}
