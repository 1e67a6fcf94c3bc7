//! What happened, event by event, the newest first.

use engine::Fault;
use engine::board::TimelineEntry;
use maud::{Markup, html};
use serde_json::Value;

use super::{About, block, level, markdown, shown, time};

/// How many events are on a page.
const PAGE: u64 = 60;

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let before = about.query.number("before");
    let page = about.engine.timeline(Some(about.id()), before, PAGE)?;
    Ok(html! {
        section #timeline data-live[before.is_none()] aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            p.quiet { (text::counted(page.last, "event")) ", the newest first. " a href=(about.path("replay")) { "See the run as it was at one of them" } }
            ol.timeline {
                @for entry in &page.entries { (event(about, entry)) }
            }
            nav.pager aria-label="Pages" {
                @if before.is_some() { a href=(about.path("timeline")) { "Newest" } }
                @if let Some(older) = page.older_than {
                    a href={ (about.path("timeline")) "&before=" (older) } rel="next" { "Older" }
                }
            }
        }
    })
}

fn event(about: &About<'_>, entry: &TimelineEntry) -> Markup {
    let record = &entry.record;
    let text = |name: &str| {
        entry
            .step
            .as_ref()
            .and_then(|step| step.get(name))
            .and_then(Value::as_str)
    };
    let verdict = text("verdict").unwrap_or_default();
    html! {
        li.event.(super::class(&record.event)) {
            p {
                span.seq { (record.seq) } " " (time(&record.ts)) " "
                @match &entry.line {
                    // The time stands before it.
                    Some(line) => (markdown::inline(line.split_once(" — ").map_or(line, |(_, rest)| rest))),
                    None => span.quiet { (shown(&record.event)) @for name in ["item", "state", "unit", "name"] {
                        @if let Some(word) = record.fields.get(name).and_then(Value::as_str) { " " (shown(word)) }
                    } },
                }
                @if let Some(word) = text("level").filter(|_| !verdict.is_empty()) { " " (level(word)) }
                @if let Some(sha) = record.fields.get("sha").and_then(Value::as_str).filter(|sha| sha.len() >= 40) {
                    " " a href=(about.path(&format!("commits/{sha}"))) { (shown(&sha[..8])) }
                }
            }
            details id={ "event-" (record.seq) } {
                summary { "What it was based on" }
                (block(&serde_json::to_string_pretty(record).unwrap_or_default(), &format!("Event {}", record.seq)))
            }
        }
    }
}
