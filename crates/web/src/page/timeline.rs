//! What happened, the newest first: what matters, or every event.

use engine::Fault;
use engine::board::TimelineEntry;
use maud::{Markup, html};
use serde_json::Value;

use super::{About, block, level, markdown, shown, time};

/// How many events are on a page.
const PAGE: u64 = 80;

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let before = about.query.number("before");
    let all = about.query.get("all").is_some();
    let page = about.engine.timeline(Some(about.id()), before, PAGE)?;
    let path = about.path("timeline");
    let more = if all { "&all=1" } else { "" };
    let entries: Vec<&TimelineEntry> = page
        .entries
        .iter()
        .filter(|entry| all || entry.line.is_some())
        .collect();
    Ok(html! {
        section #timeline data-live[before.is_none()] aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            p.quiet {
                (text::counted(page.last, "event")) ", the newest first. "
                @if all { a href=(path) { "Show only what matters" } } @else { a href={ (path) "&all=1" } { "Show every event" } }
                ". " a href=(about.path("replay")) { "See the run as it was at one of them" }
            }
            ol.timeline { @for same in entries.chunk_by(|a, b| a.record.is_none() && b.record.is_none() && a.line == b.line) { (event(about, same)) } }
            nav.pager aria-label="Pages" {
                @if before.is_some() { a href={ (path) (more) } { "Newest" } }
                @if let Some(older) = page.older_than {
                    a href={ (path) (more) "&before=" (older) } rel="next" { "Older" }
                }
            }
        }
    })
}

/// An event; of refusals that say the same, one for all of them.
fn event(about: &About<'_>, same: &[&TimelineEntry]) -> Markup {
    let Some((entry, older)) = same.split_first() else {
        return html! {};
    };
    let step = entry.step.as_ref();
    let text = |name: &str| step.and_then(|step| step.get(name)).and_then(Value::as_str);
    let accepted = text("verdict") == Some("accepted");
    let Some(record) = &entry.record else {
        return html! {
            li.event.is-refused {
                p { span.seq { "–" } " " @if let Some(first) = older.last() { (same.len()) " times from " (time(&first.at)) " to " } (time(&entry.at)) " " @if let Some(line) = &entry.line { (markdown::inline(line)) } }
            }
        };
    };
    let field = |name: &str| record.fields.get(name).and_then(Value::as_str);
    html! {
        li.event.(super::class(&record.event)) {
            p {
                span.seq { (record.seq) } " " (time(&record.ts)) " "
                @match entry.told() {
                    Some(told) => (markdown::inline(told)),
                    None => span.quiet { (shown(entry.brief.as_deref().unwrap_or(&record.event))) },
                }
                @if let Some(word) = text("level").filter(|word| accepted && !word.is_empty()) { " " (level(word)) }
                @if let Some(sha) = field("sha").filter(|sha| sha.len() >= 40) {
                    " " a href=(about.path(&format!("commits/{sha}"))) { (shown(&sha[..8])) }
                }
            }
            details id={ "event-" (record.seq) } {
                summary { "The event itself" }
                p { a href={ (about.path("replay")) "&at=" (record.seq) } { "The run as it was then" } }
                (block(&about.spelled(&serde_json::to_string_pretty(record).unwrap_or_default()), &format!("Event {}", record.seq)))
            }
        }
    }
}
