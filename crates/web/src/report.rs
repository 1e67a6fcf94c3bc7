//! The report of a run as HTML: on its page, and as one file to take along.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use text::plain::one_line;

use crate::page::markdown;
use crate::reply::picture_style;

/// How the file looks, on a screen and on paper.
const STYLE: &str = include_str!("assets/report.css");

/// A report in Markdown as a part of a page.
pub(crate) fn inside(markdown: &str) -> Markup {
    html! {
        article #report.report data-live { (markdown::below_a_heading(markdown)) }
    }
}

/// A report in Markdown, and pictures of the run as SVG, as one HTML file that needs nothing else: it opens offline, and prints.
pub fn file(title: &str, markdown: &str, pictures: &[String]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Whatever is in it, it loads nothing and runs nothing.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (one_line(title)) }
                style { (PreEscaped(STYLE)) (PreEscaped(picture_style())) }
            }
            body {
                main {
                    article.report { (markdown::page(markdown)) }
                    @for picture in pictures { figure.drawing { (PreEscaped(picture)) } }
                }
            }
        }
    };
    page.into_string()
}
