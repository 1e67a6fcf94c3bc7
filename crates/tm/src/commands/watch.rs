//! `tm watch`, `tm autopilot watch`: events as they come.

use std::thread;

use engine::follow::LOOK;
use engine::{Engine, FollowScope};

use super::{DONE, Outcome, open};
use crate::cli::ui::Watch;
use crate::output::Output;
use crate::render;

/// Prints each event of a run, a line each, until the run is over or nobody reads.
pub fn run(engine: &Engine, run: Option<&str>, output: &mut Output) -> Outcome {
    let mut follow = engine.follow(run)?;
    loop {
        // Asked before the poll: what was appended up to the end is then still printed.
        let over = follow.is_over();
        for event in follow.poll()? {
            output.answer(&event.record, render::event)?;
        }
        if over || follow.is_over() || output.is_closed() {
            return Ok(DONE);
        }
        thread::sleep(LOOK);
    }
}

/// Prints the events of all runs as they come, until nobody reads.
pub fn all(watch: Watch, output: &mut Output) -> Outcome {
    let engine = open(watch.place.project_root, None, "watch")?;
    if let Some(named) = &watch.run {
        return run(&engine, Some(named), output);
    }
    let scope = if watch.all {
        FollowScope::AllProjects
    } else {
        FollowScope::Project
    };
    let mut follow = engine.follow_all(scope, watch.from.as_deref())?;
    let mut shown = String::new();
    loop {
        for event in follow.poll()? {
            output.answer(&event, |event, look| {
                let line = render::event(&event.record, look);
                if event.run_id == shown {
                    return line;
                }
                event.run_id.clone_into(&mut shown);
                format!("{}\n{line}", render::plain(&event.run_id))
            })?;
        }
        if output.is_closed() {
            return Ok(DONE);
        }
        thread::sleep(LOOK);
    }
}
