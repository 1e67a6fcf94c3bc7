//! The pages.
//!
//! Each is the inside of `main`, with its title and a line that says how things stand. Parts with `data-live` are put into the place
//! of those with the same id when the page is asked for again; everything else stays as the person has it. All text of others goes
//! through [`shown`] or [`block`]: plain, and escaped by the templates.

mod commit;
mod decide;
mod diff;
mod difference;
mod files;
mod list;
pub mod markdown;
mod now;
mod passkey;
mod replay;
mod timeline;
mod work;

use std::time::Duration;

use engine::board::{BoardRun, Projects};
use engine::short_name;
use engine::{Engine, Fault};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;
use text::plain::{many_lines, one_line};

use crate::access::Right;
use crate::route::{Query, Route, Tab, encoded, run_path};
use crate::{project, report};

/// How long a page waits for the journal of a long run to be read, until it shows how far that is.
const PATIENCE: Duration = Duration::from_millis(120);

/// The page of a route.
pub fn of(
    projects: &dyn Projects,
    route: &Route,
    query: &Query,
    right: Right,
) -> Result<Markup, Fault> {
    let (run, tab) = match route {
        Route::Run(run, tab) => (run, Some(*tab)),
        Route::Commit(run, _) | Route::Difference(run, ..) => (run, None),
        Route::Passkey => return passkey::page(&project(projects, query)?, right),
        Route::Runs | Route::Events | Route::Decide(_) => return list::page(projects, query),
    };
    let engine = project(projects, query)?.patient_for(PATIENCE);
    let seen = engine.board_run(Some(run))?;
    let about = About {
        projects,
        engine: &engine,
        run: &seen,
        query,
        right,
    };
    let inside = part(route, tab, &about, run).unwrap_or_else(|fault| {
        if fault.code == "reading" {
            return html! { section #reading data-live data-again { p role="status" { (message(&fault.message)) "…" } } };
        }
        html! {
            section aria-labelledby="fault-title" {
                h2 #fault-title { "This cannot be shown" }
                p { (message(&about.spelled(&fault.message))) }
                @if !fault.suggestion.is_empty() { p { (message(&about.spelled(&fault.suggestion))) } }
            }
        }
    });
    Ok(about.around(tab, &inside))
}

/// What a page of a run says.
fn part(route: &Route, tab: Option<Tab>, about: &About<'_>, run: &str) -> Result<Markup, Fault> {
    Ok(match (route, tab) {
        (Route::Commit(_, sha), _) => commit::page(about, sha)?,
        (Route::Difference(_, from, to), _) => difference::page(about, from, to)?,
        (_, Some(Tab::Work)) => work::page(about)?,
        (_, Some(Tab::Timeline)) => timeline::page(about)?,
        (_, Some(Tab::Files)) => files::page(about)?,
        (_, Some(Tab::Replay)) => replay::page(about)?,
        (_, Some(Tab::Report)) => report::inside(&about.engine.report_page(Some(run))?),
        _ => now::page(about)?,
    })
}

/// A page of a run.
struct About<'a> {
    projects: &'a dyn Projects,
    engine: &'a Engine,
    run: &'a BoardRun,
    query: &'a Query,
    right: Right,
}

impl About<'_> {
    fn id(&self) -> &str {
        &self.run.run.run_id
    }

    /// The name by which a command asks for it.
    fn name(&self) -> String {
        short_name(self.id())
    }

    /// The path of another page of the run.
    fn path(&self, rest: &str) -> String {
        run_path(self.id(), rest, &self.run.run.project_root)
    }

    /// A text of the engine, with the steps that it names as commands.
    fn spelled(&self, text: &str) -> String {
        self.projects.spelled(text, Some(self.id()))
    }

    fn around(&self, tab: Option<Tab>, inside: &Markup) -> Markup {
        let run = &self.run.run;
        html! {
            main #main tabindex="-1" data-title=(shown(self.run.title())) data-run=(run.run_id) data-says=(shown(&self.run.stands())) {
                p.crumbs { a href="/" { "Runs" } " / " span { (shown(&run.workflow)) } }
                header.run {
                    h1 { (shown(self.run.title())) }
                    dl.facts #facts data-live {
                        div { dt { "Status" } dd { (standing(self.run)) } }
                        @if run.total > 0 { div { dt { "Progress" } dd { (run.completed) " of " (run.total) @if run.commits > 0 { ", " (text::counted(run.commits, "commit")) } } } }
                        div { dt { "Last moved" } dd { (ago(&self.run.last_updated)) } }
                        div { dt { "Began" } dd { (time(&run.start_time)) } }
                    }
                    details #about {
                        summary { "Task, branch, project, id" }
                        dl.facts {
                            @if !run.task_id.is_empty() { div { dt { "Task" } dd { (shown(&run.task_id)) } } }
                            @if !run.branch.is_empty() { div { dt { "Branch" } dd { code { (shown(&run.branch)) } } } }
                            div { dt { "Project" } dd { code { (shown(&run.project_root)) } } }
                            div { dt { "Run" } dd { code { (self.name()) } } }
                        }
                        @if self.run.is_live() { p.quiet { "An agent asks for what is next with " (command(&format!("tm run next --run-id {}", self.name()))) } }
                    }
                }
                nav.tabs aria-label="Pages of this run" {
                    ul {
                        @for (known, name, label) in Tab::ALL {
                            li { a href=(self.path(name)) aria-current=[(tab.unwrap_or(Tab::Work) == known).then_some("page")] { (label) } }
                        }
                    }
                }
                (inside)
            }
        }
    }
}

/// What a browser gets for every path: the script asks for the page itself.
pub fn frame() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Tramline" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/app.css";
                script src="/assets/app.js" defer {}
            }
            body {
                a.skip href="#main" { "To the content" }
                header.top {
                    a.brand href="/" { "Tramline" }
                    p #live role="status" aria-live="polite" { "" }
                }
                div #page {
                    main #main {
                        noscript {
                            h1 { "This page needs its script" }
                            p { "It shows each page with a token that is in no cookie. Without scripts, use " code { "tm ui" } " in a terminal." }
                        }
                    }
                }
                div #alert role="alert" {}
            }
        }
    }
}

/// Links to the pages before and behind one, of several, with what they are called.
fn pager(path: &str, query: &Query, (number, pages): (usize, usize), names: [&str; 2]) -> Markup {
    let [before, behind] = names;
    let to = |number: usize| {
        let query = query.with("page", Some(&number.to_string()));
        format!("{}{query}", path.split('?').next().unwrap_or_default())
    };
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages" {
                @if number > 1 { a href=(to(number - 1)) rel="prev" { (before) } }
                span { "Page " (number) " of " (pages) }
                @if number < pages { a href=(to(number + 1)) rel="next" { (behind) } }
            }
        }
    }
}

/// Why a page cannot be shown.
pub fn fault(what: &str, suggestion: &str) -> Markup {
    html! {
        main #main tabindex="-1" data-title="Not shown" data-says="" {
            p.crumbs { a href="/" { "Runs" } }
            h1 { "This cannot be shown" }
            p { (message(what)) }
            @if !suggestion.is_empty() { p { (message(suggestion)) } }
        }
    }
}

/// Text of others on one line.
fn shown(text: &str) -> String {
    one_line(text)
}

/// A value as a person reads it: a text without its quotes.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A message on one line, with what stands between backticks as code.
fn message(text: &str) -> Markup {
    let text = one_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    // One that has no second is a letter like others.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Text of others as it stands, line by line. A block that may be wider than the page can be moved by keyboard.
fn block(text: &str, label: &str) -> Markup {
    html! { pre tabindex="0" role="region" aria-label=(shown(label)) { (many_lines(text)) } }
}

/// A time, which the script shows as that of the reader.
fn time(at: &str) -> Markup {
    time_of(at, false)
}

/// The same as how long ago it is.
fn ago(at: &str) -> Markup {
    time_of(at, true)
}

fn time_of(at: &str, is_ago: bool) -> Markup {
    let short = at.get(..16).unwrap_or(at);
    html! { time.ago[is_ago] datetime=(at) { (short.replace('T', " ")) " UTC" } }
}

/// How a run, or an item, stands: in words, with a colour beside it.
fn status(word: &str) -> Markup {
    html! { span.status.(class(word)) { (shown(word)) } }
}

/// How a run stands: what a person should look at says more than that it goes on.
fn standing(run: &BoardRun) -> Markup {
    match &run.attention {
        Some(_) if run.is_live() => html! { span.status.is-attention { (run.standing()) } },
        _ => status(&run.run.status),
    }
}

/// How much evidence there is for something.
fn level(word: &str) -> Markup {
    let meaning = match word {
        "verified" => "Tramline ran the test command itself, on the trees that are judged",
        "ran" => "Tramline ran the test command itself, in the working tree",
        "reported" => "read from what the test runner wrote",
        "claimed" => "the executor's word alone",
        _ => "",
    };
    html! { span.level.(class(word)) title=(meaning) { (shown(word)) } }
}

/// A word of others as the name of a class.
fn class(word: &str) -> String {
    let letters = word.chars().filter(char::is_ascii_alphanumeric).take(24);
    format!("is-{}", letters.collect::<String>().to_ascii_lowercase())
}

/// The path of a run's first page.
fn link_to(run: &BoardRun) -> String {
    run_path(&run.run.run_id, "", &run.run.project_root)
}

/// A command line to copy.
fn command(line: &str) -> Markup {
    html! { code.command { (shown(line)) } }
}

/// A field of a form that is sent unseen.
fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The id of an element that is about something of others.
fn id_of(what: &str, name: &str) -> String {
    format!("{what}-{}", encoded(name).replace('%', "_"))
}
