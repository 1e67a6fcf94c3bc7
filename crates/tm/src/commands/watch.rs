//! `tm autopilot watch`: the journal as it grows.

use std::thread;
use std::time::Duration;

use engine::Engine;

use super::{DONE, Outcome};
use crate::output::Output;
use crate::render;

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints each event of a run, a line each, until the run is over or nobody reads.
pub fn run(engine: &Engine, run: Option<&str>, output: &mut Output) -> Outcome {
    let mut follow = engine.follow(run)?;
    loop {
        // Asked before the poll: what was appended up to the end is then still printed.
        let over = follow.is_over();
        for record in follow.poll()? {
            output.answer(&record, render::event)?;
        }
        if over || follow.is_over() || output.is_closed() {
            return Ok(DONE);
        }
        thread::sleep(PAUSE);
    }
}
