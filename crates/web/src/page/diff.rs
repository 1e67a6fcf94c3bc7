//! Differences, line by line.

use maud::{Markup, html};
use text::plain::many_lines;

/// A unified difference, each line told by its sign and by its look.
pub fn unified(patch: &str, label: &str) -> Markup {
    html! {
        pre.diff tabindex="0" role="region" aria-label=(label) {
            @for line in many_lines(patch).lines() {
                span.(class(line)) { (line) "\n" }
            }
        }
    }
}

fn class(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "head",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        [b'@', b'@', ..] => "hunk",
        _ if line.starts_with("diff --git") => "head",
        _ => "same",
    }
}
