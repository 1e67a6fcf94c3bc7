//! The run as it was at some event: the journal, folded up to there.

use engine::board::TimelinePage;
use engine::{Fault, Look};
use maud::{Markup, html};
use serde_json::Value;

use super::{About, block, now, shown, status, time};
use crate::route::encoded;

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let newest = about.engine.timeline(Some(about.id()), None, 1)?;
    let last = newest.last;
    let at = about
        .query
        .number("at")
        .unwrap_or(last)
        .clamp(1, last.max(1));
    let mut replayed = about.engine.replay(Some(about.id()), Some(at))?;
    let mut shown_at = replayed.at().map_or(at, |(seq, _)| seq);
    // Back by less than a unit of events would come to the same one again: it is the one before that is meant.
    if about.query.number("from") == Some(shown_at) && at < shown_at {
        let begins = first_of_unit(about, shown_at)?;
        if begins > 1 {
            replayed = about.engine.replay(Some(about.id()), Some(begins - 1))?;
            shown_at = begins - 1;
        }
    }
    let state = replayed.state()?;
    let tokens = state["tokens"].as_array().map_or(&[][..], Vec::as_slice);
    let when = replayed.at().map_or("", |(_, time)| time);
    // Events of one unit happened at once: one goes from unit to unit.
    let near = about
        .engine
        .timeline(Some(about.id()), Some(shown_at + 1), 1)?;
    let begins = oldest(&near).unwrap_or(shown_at);
    let path = about.path("replay");
    let (path, project) = path.split_once('?').unwrap_or((&path, ""));
    Ok(html! {
        section aria-labelledby="replay-title" {
            h2 #replay-title { "Replay" }
            form.replay method="get" action=(path) {
                @if let Some(root) = about.query.get("project") { input type="hidden" name="project" value=(root); }
                input type="hidden" name="from" value=(shown_at);
                label for="at" { "Event" }
                input #at type="range" name="at" min="1" max=(last) value=(shown_at) data-submit;
                output for="at" { (shown_at) " of " (last) }
                button type="submit" { "Show" }
            }
            nav.pager aria-label="Events" {
                @if begins > 1 { a href={ (path) "?" (project) "&at=" (begins - 1) } rel="prev" { "One back" } }
                @if shown_at < last { a href={ (path) "?" (project) "&at=" (shown_at + 1) } rel="next" { "One on" } }
                a href={ (about.path("timeline")) "&before=" (encoded(&(shown_at + 1).to_string())) } { "The events up to here" }
            }
            p { "After " @if begins < shown_at { "events " strong { (begins) " to " (shown_at) } ", which were written at once" } @else { "event " strong { (shown_at) } } ", " (time(when)) ":" }
            @for line in near.entries.iter().rev().filter(|entry| entry.record.is_some()).filter_map(|entry| entry.line.as_ref()) { p { (super::markdown::inline(line)) } }
            dl.facts {
                div { dt { "Status" } dd { (status(replayed.status())) } }
                @for token in tokens {
                    div {
                        dt { @match token["item"][1].as_str() { Some(item) => (shown(item)), None => "Run" } }
                        dd { (shown(token["state"].as_str().unwrap_or_default())) @if let Some(unit) = token["unit"]["id"].as_str() { " " span.quiet { (shown(unit)) } } }
                    }
                }
            }
            @for set in &replayed.items() { (now::board(set)) }
            section #drawing aria-labelledby="drawing-title" {
                h3 #drawing-title { "The way it had taken" }
                (now::drawing(replayed.picture(Look::Outside)))
            }
            details #whole-state {
                summary { "All that was known then" }
                (block(&about.spelled(&pretty(&state)), "State of the run"))
            }
        }
    })
}

/// The number of the first of the events that happened at once with this one.
fn first_of_unit(about: &About<'_>, at: u64) -> Result<u64, Fault> {
    let near = about.engine.timeline(Some(about.id()), Some(at + 1), 1)?;
    Ok(oldest(&near).unwrap_or(at))
}

fn oldest(page: &TimelinePage) -> Option<u64> {
    let records = page
        .entries
        .iter()
        .filter_map(|entry| entry.record.as_ref());
    records.map(|record| record.seq).min()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
