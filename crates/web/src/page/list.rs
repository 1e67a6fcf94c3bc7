//! The runs: what waits for a person on top, then all, filtered and searched.

use engine::{Engine, Fault};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use engine::board::{BoardRun, Projects};
use maud::{Markup, html};

use super::{ago, link_to, message, pager, shown, standing};
use crate::route::Query;

/// How many runs are on a page.
const PAGE: usize = 50;
/// What can be asked for, and what people read.
const STATUSES: [(&str, &str); 6] = [
    ("", "All"),
    ("attention", "For you, paused or stuck"),
    ("live", "Not over"),
    ("paused", "Paused"),
    ("completed", "Completed"),
    ("ended", "Failed or called off"),
];

pub fn page(projects: &dyn Projects, query: &Query) -> Result<Markup, Fault> {
    let engines = projects.all()?;
    let several = engines.len() > 1;
    let all = read(&engines)?;
    let (mut waiting, mut odd) = (Vec::new(), Vec::new());
    for run in all.iter() {
        match &run.attention {
            Some(attention) if attention.kind.is_for_a_person() => waiting.push(run),
            Some(_) if run.is_live() => odd.push(run),
            _ => {}
        }
    }
    let (words, wanted) = (
        query.get("q").unwrap_or(""),
        query.get("status").unwrap_or(""),
    );
    let found: Vec<&BoardRun> = all
        .iter()
        .filter(|run| run.has(words) && fits(run, wanted))
        .collect();
    let pages = found.len().div_ceil(PAGE).max(1);
    let number = query.page(pages).unwrap_or(1);
    let listed = found.iter().skip((number - 1) * PAGE).take(PAGE);
    let says = engine::board::stand_together(&all);
    Ok(html! {
        main #main tabindex="-1" data-title="Runs" data-says=(says) {
            h1 { "Runs" }
            section #waiting data-live aria-labelledby="waiting-title" {
                h2 #waiting-title { "Waits for you" }
                @if waiting.is_empty() { p.quiet { "Nothing waits for a decision." } }
                (cards(&waiting, several))
            }
            section #odd data-live aria-labelledby="odd-title" hidden[odd.is_empty()] {
                h2 #odd-title { "Paused, stuck or silent" }
                (cards(&odd, several))
            }
            section aria-labelledby="all-title" {
                h2 #all-title { "All runs" }
                form.filter method="get" action="/" role="search" {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(words) placeholder="title, task, branch, id";
                    label for="status" { "Show" }
                    select #status name="status" data-submit {
                        @for (value, label) in STATUSES {
                            option value=(value) selected[value == wanted] { (label) }
                        }
                    }
                    button type="submit" { "Filter" }
                }
                div #runs data-live {
                    p.quiet { (text::counted(found.len(), "run")) @if found.len() != all.len() { " of " (all.len()) } }
                    @if found.is_empty() && !all.is_empty() { p { "No run is like that. " a href="/" { "Show all" } } }
                    @if all.is_empty() { p { "There are no runs here yet: an agent begins one, or you do in a terminal." } }
                    @if !found.is_empty() { (table(listed, several)) }
                    (pager("/", query, (number, pages), ["Newer", "Older"]))
                }
            }
        }
    })
}

/// The list as it was read last, and of which projects.
type Read = Option<(Instant, Vec<PathBuf>, Arc<Vec<BoardRun>>)>;

/// The runs of these projects: read once for all who ask meanwhile. What was read before somebody asked is not what they get: an
/// event may have come since, and none tells them again.
fn read(engines: &[Engine]) -> Result<Arc<Vec<BoardRun>>, Fault> {
    static READ: Mutex<Read> = Mutex::new(None);
    let asked = Instant::now();
    let roots: Vec<PathBuf> = engines.iter().map(|one| one.root().to_owned()).collect();
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((begun, of, runs)) = read.as_ref()
        && *begun >= asked
        && *of == roots
    {
        return Ok(Arc::clone(runs));
    }
    let begun = Instant::now();
    let runs = Arc::new(engine::board::runs_of(engines)?);
    *read = Some((begun, roots, Arc::clone(&runs)));
    Ok(runs)
}

fn cards(runs: &[&BoardRun], several: bool) -> Markup {
    html! {
        @if !runs.is_empty() {
            ul.cards {
                @for run in runs.iter().take(PAGE) {
                    @if let Some(attention) = &run.attention {
                        li.card {
                            p.kind { (attention.kind.word()) }
                            p.what { a href=(link_to(run)) { (shown(run.title())) } }
                            p { (message(&attention.text)) }
                            p.quiet {
                                (shown(&run.run.workflow))
                                @if several { ", " (shown(&run.run.project_root)) }
                                ", moved " (ago(&run.last_updated))
                            }
                        }
                    }
                }
            }
            @if runs.len() > PAGE { p.quiet { "and " (runs.len() - PAGE) " more, in the list below" } }
        }
    }
}

fn table<'a>(runs: impl Iterator<Item = &'a &'a BoardRun>, several: bool) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Runs" {
            table.runs {
                thead { tr {
                    th scope="col" { "Run" }
                    th scope="col" { "Status" }
                    th scope="col" { "Where" }
                    th scope="col" { "Done" }
                    th scope="col" { "Last moved" }
                } }
                tbody {
                    @for run in runs {
                        tr {
                            th scope="row" {
                                a href=(link_to(run)) { (shown(run.title())) }
                                span.quiet {
                                    (shown(&run.run.workflow))
                                    @if !run.run.task_id.is_empty() { ", task " (shown(&run.run.task_id)) }
                                    @if several { ", " (shown(&run.run.project_root)) }
                                }
                            }
                            td data-label="Status" { (standing(run)) }
                            td data-label="Where" { (shown(&run.places.join(", "))) @if let Some(refused) = &run.refused { span.quiet { ", refused " (refused.times()) } } }
                            td data-label="Done" { @if run.run.total > 0 { (run.run.completed) "/" (run.run.total) } }
                            td data-label="Last moved" { (ago(&run.last_updated)) }
                        }
                    }
                }
            }
        }
    }
}

fn fits(run: &BoardRun, wanted: &str) -> bool {
    match wanted {
        "live" => run.is_live(),
        "attention" => run.attention.is_some(),
        "completed" | "paused" => run.run.status == wanted,
        "ended" => !run.is_live() && run.run.status != "completed",
        _ => true,
    }
}
