//! Where a run is: what it waits for, what a person can do, its drawing, its items.

use engine::board::{BoardItem, BoardSet};
use engine::{Action, ActionKind, Fault, Look};
use maud::{Markup, PreEscaped, html};

use super::commit::NONE_YET;
use super::{About, ago, block, command, decide, id_of, message, plain, shown, status};

/// How many items a column shows.
const COLUMN: usize = 100;

pub fn page(about: &About<'_>) -> Result<Markup, Fault> {
    let run = Some(about.id());
    let next = about.engine.run_action(run).ok();
    let sets = about.engine.run_items(run)?;
    Ok(html! {
        section #now data-live aria-labelledby="now-title" {
            h2 #now-title { "Now" }
            (now(about, next.as_ref(), &sets))
        }
        @if let Some(next) = &next { (decide::forms(about, next)?) }
        @for set in &sets { (board(set)) }
        section #drawing data-live aria-labelledby="drawing-title" {
            h2 #drawing-title { "The way it took" }
            (drawing(about.engine.run_picture(Some(about.id()), Look::Outside)))
        }
    })
}

/// The items that are worked at, as far as they have a title.
fn in_hand(sets: &[BoardSet]) -> impl Iterator<Item = &BoardItem> {
    let items = sets.iter().flat_map(|set| &set.items);
    items.filter(|item| item.place.is_some() && !item.title.is_empty())
}

fn now(about: &About<'_>, next: Option<&Action>, sets: &[BoardSet]) -> Markup {
    html! {
        @if let Some(attention) = &about.run.attention {
            p.attention { strong { (attention.kind.word()) ": " } (message(&attention.text)) }
        }
        @if !about.run.places.is_empty() {
            p { "Where it is: " strong { (shown(&about.run.places.join(", "))) } @for item in in_hand(sets) { ", " q { (shown(&item.title)) } } }
        }
        @if let Some(refused) = &about.run.refused {
            p.attention { strong { "Refused " (refused.times()) ": " } (message(&refused.message)) " " span.quiet { "(" (ago(&refused.at)) ")" } }
        }
        @if let Some(next) = next {
            @if let Some(unit) = &next.unit {
                dl.facts {
                    div { dt { "Asked for" } dd { code { (shown(&unit.unit_id)) } } }
                    div { dt { "Whose turn" } dd { (shown(&unit.by)) } }
                    div { dt { "Attempt" } dd { (unit.attempt) @if let Some(most) = unit.max_attempts { " of " (most) } } }
                    @if let Some(expects) = &unit.expects { div { dt { "Reported with" } dd { (shown(expects)) } } }
                }
                @if let Some(text) = &unit.instructions {
                    details #instructions {
                        summary { "What was asked for" }
                        (block(&about.spelled(text), "What was asked for"))
                    }
                }
            } @else {
                @match next.action {
                    ActionKind::Complete => p { "It is over: " (status(next.status.as_deref().unwrap_or("ended"))) "." },
                    ActionKind::Step => p { "The next step can be taken: " (command(&format!("tm run step --run-id {}", about.name()))) },
                    _ => {}
                }
            }
        }
        @if let Some(output) = &about.run.output {
            details #output open {
                summary { "What was printed when the last report was not accepted" }
                (block(output, "What was printed"))
            }
        }
        @if about.run.is_live() && !about.run.run.branch.is_empty() {
            p { a href=(about.path("work")) { "What was reported and refused" } ", " a href=(about.path(&format!("commits/{NONE_YET}"))) { "what is not committed yet" } }
        }
        @let given = about.engine.run_inputs(Some(about.id())).unwrap_or_default();
        @if !given.is_empty() {
            details #given {
                summary { "What the run was given" }
                dl.facts { @for (name, value) in &given { div { dt { (shown(name)) } dd { (shown(&plain(value))) } } } }
            }
        }
    }
}

/// The workflow of the run, with where it is and which way it took.
pub fn drawing(picture: Result<String, Fault>) -> Markup {
    match picture {
        Ok(svg) => html! {
            div.drawing tabindex="0" role="region" aria-label="Drawing of the workflow" { (PreEscaped(svg)) }
            p.quiet {
                button #way type="button" aria-pressed="false" { "Only the way it took" } " "
                button #fit type="button" aria-pressed="false" { "As wide as the page" }
                " Orange: where it is. Thick: where it was, and the way it took. Pale: where it never came."
            }
        },
        Err(fault) => html! { p { (shown(&fault.message)) } },
    }
}

/// The items of a set in columns, and what depends on what.
pub fn board(set: &BoardSet) -> Markup {
    let id = id_of("set", &set.name);
    let picture = set.is_graph().then(|| set.picture(Look::Outside)).flatten();
    html! {
        section id=(id) data-live aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (shown(&set.name)) " " span.quiet { "(" (set.total) ")" } }
            div.board {
                @for column in BoardSet::COLUMNS {
                    @let items: Vec<&BoardItem> = set.items.iter().filter(|item| item.column == column).collect();
                    @if !items.is_empty() {
                        div.column {
                            h3 { (heading(column)) " " span.quiet { (items.len()) } }
                            ul { @for item in items.iter().take(COLUMN) { (card(item)) } }
                            @if items.len() > COLUMN { p.quiet { "and " (items.len() - COLUMN) " more" } }
                        }
                    }
                }
            }
            @if set.total > set.items.len() { p.quiet { "The first " (set.items.len()) " of " (set.total) "." } }
            @if let Some(svg) = picture {
                details id={ (id) "-graph" } open[set.items.len() <= 40] {
                    summary { "What depends on what" }
                    p.quiet { "An arrow leads from an item to one that needs it." }
                    div.drawing tabindex="0" role="region" aria-label={ "What depends on what in " (shown(&set.name)) } { (PreEscaped(svg)) }
                }
            }
        }
    }
}

fn card(item: &BoardItem) -> Markup {
    html! {
        li.item {
            strong { (shown(&item.key)) } " " (shown(&item.title))
            @if let Some(place) = &item.place {
                span.quiet { (shown(place)) @if let Some(attempt) = item.attempt { ", attempt " (attempt) @if let Some(most) = item.max_attempts { " of " (most) } } }
            }
            @if let Some(word) = &item.status { span.quiet { (shown(word)) } }
            @if let Some(wave) = &item.wave { span.quiet { (shown(wave)) } }
            @if !item.needs.is_empty() { span.quiet { "needs " (shown(&item.needs.join(", "))) } }
        }
    }
}

fn heading(column: &str) -> &'static str {
    match column {
        "open" => "To do",
        "blocked" => "Blocked",
        "active" => "In hand",
        "done" => "Done",
        _ => "Given up",
    }
}
