//! `tm ui`: runs to look at, in a terminal or in the browser.

use std::net::TcpListener;
use std::sync::Arc;

use engine::{Engine, Fault};
use mcp::http::Options;
use serde_json::json;
use web::access::Right;

use super::mcp::{address, listen, serve, token};
use super::web::{Shown, another_link_on_enter, link, open_browser, site};
use super::{Outcome, current_folder, open};
use crate::cli::ui::Ui;
use crate::mcp::{Group, Places};
use crate::output::Output;
use crate::render;

/// Shows the runs.
pub fn run(ui: &Ui, output: &mut Output) -> Outcome {
    let engine = open(ui.place.project_root.clone(), None, "ui")?;
    in_browser(ui, &engine, output)
}

/// Serves the page on this machine, and opens it.
fn in_browser(ui: &Ui, engine: &Engine, output: &mut Output) -> Outcome {
    super::mcp::log_to_stderr();
    let root = engine.root().to_owned();
    let path = match &ui.run {
        Some(run) => web::page_of(&engine.run(Some(run))?),
        None => "/".to_owned(),
    };
    let shown = if ui.all {
        Shown::within(root.clone(), vec!["/".into()])
    } else {
        Shown::project(root.clone())
    };
    let (site, access) = site(shown);
    let listener: TcpListener = listen(address(&ui.listen)?, false)?;
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
        let told = link(&access, address, &path, right).and_then(|link| {
            let opened = has_person && !ui.no_open && open_browser(&link);
            let said = json!({ "page": link, "decides": right == Right::Decide, "opened": opened });
            output.answer(&said, |said, _| render::page(said))
        });
        // Where nobody reads, it is served all the same.
        let _: Result<(), Fault> = told;
        if has_person {
            another_link_on_enter(Arc::clone(&access), address, path.clone());
        }
    };
    serve(places, &Group::ALL, listener, options, ready)
}
