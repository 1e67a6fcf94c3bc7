//! `tm ui`: runs to look at, in a terminal or in the browser.

use std::sync::Arc;

use engine::board::Projects as _;
use engine::{Engine, Fault};
use mcp::http::Options;
use serde_json::json;
use tui::app::{Place, Tab};
use web::access::Right;

use super::mcp::{Listening, serve, token};
use super::web::{Shown, another_link_on_enter, link, open_browser, site};
use super::{DONE, Outcome, current_folder, open};
use crate::cli::ui::Ui;
use crate::mcp::Places;
use crate::output::Output;

/// Shows the runs.
pub fn run(ui: &Ui, output: &mut Output) -> Outcome {
    let engine = open(ui.place.project_root.clone(), None, "ui")?;
    if ui.web {
        return in_browser(ui, &engine, output);
    }
    let projects = shown(ui, &engine);
    let place = match &ui.run {
        Some(run) => {
            let run = engine.run(Some(run))?;
            Place::Run {
                id: run.run_id,
                project: run.project_root,
                tab: Tab::Now,
            }
        }
        None => Place::Runs,
    };
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if output.has_person() && !dumb {
        let colour = output.look().rich;
        engine::remember_runs();
        tui::run(&projects, place, tui::draw::Look { colour })?;
        return Ok(DONE);
    }
    // Where nobody can press a key it is told once.
    if output.is_json() {
        let mut runs = engine::board::runs_of(&projects.all()?)?;
        if let Place::Run { id, .. } = &place {
            runs.retain(|run| run.run.run_id == *id);
        }
        output.json(&json!({ "runs": runs }))?;
        return Ok(DONE);
    }
    let page = tui::page::read(&projects, &place, 0)?;
    let mut text = format!("{}: {}\n", page.title, page.stands);
    for row in &page.rows {
        text.push_str(&row.text);
        text.push('\n');
    }
    output.text(&text)?;
    Ok(DONE)
}

/// The projects that are shown.
fn shown(ui: &Ui, engine: &Engine) -> Shown {
    let root = engine.root().to_owned();
    if ui.all {
        Shown::within(root, vec!["/".into()])
    } else {
        Shown::project(root)
    }
}

/// Serves the page on this machine, and opens it.
fn in_browser(ui: &Ui, engine: &Engine, output: &mut Output) -> Outcome {
    super::mcp::log_to_stderr();
    let root = engine.root().to_owned();
    let path = match &ui.run {
        Some(run) => web::page_of(&engine.run(Some(run))?),
        None => "/".to_owned(),
    };
    let (site, access) = site(shown(ui, engine));
    let listening = Listening::at(&ui.listen, false)?;
    let name = listening.name();
    let has_person = output.has_person();
    let right = if has_person {
        Right::Decide
    } else {
        Right::Look
    };
    let options = Options {
        token: Some(token(&engine.settings().store.join("serve-token"))?),
        site: Some(site),
        ..Options::default()
    };
    let places = Places::within(current_folder()?, vec![root]);
    let ready = |address| {
        let host = Listening::host(name, address);
        let told = link(&access, &host, &path, right).and_then(|link| {
            let opened = has_person && !ui.no_open && open_browser(&link);
            let said = json!({ "page": link, "decides": right == Right::Decide, "opened": opened });
            output.page(&said, "web_page")
        });
        // Where nobody reads, it is served all the same.
        let _: Result<(), Fault> = told;
        if has_person {
            another_link_on_enter(Arc::clone(&access), host, path.clone());
        }
    };
    serve(places, &[], listening, options, ready)
}
