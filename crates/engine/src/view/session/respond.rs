//! Putting a response into its place.

use machine::{RunState, RunStatus};
use text::plain::one_line;

use crate::action::next::next_or_step;
use crate::approval::present_unit;
use crate::call::{Call, Input};
use crate::capability::files::effects::made_room;
use crate::capability::profile::read::phase_of;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;
use crate::report::no_gate_before;
use crate::view::SESSION;
use crate::view::session::answer::RespondAnswer;
use crate::view::session::history;
use crate::view::session::request::Response;

impl Engine {
    /// Puts a response into its place. One that was taken in before, of another prompt, is refused unless the unit that it
    /// answers is named: who sends it a second time does not mean what is asked for now.
    pub fn session_respond(
        &self,
        session: Option<&str>,
        response: &Response<'_>,
    ) -> Result<RespondAnswer, Fault> {
        let &Response {
            bytes,
            replace,
            phase,
            unit,
        } = response;
        let (dir, _) = self.seen(&SESSION, session)?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(fault!("usage.session_respond"));
        }
        if bytes.len() as u64 > files::LARGEST_RESPONSE {
            return Err(fault!(
                "too_large.session_respond",
                bytes = bytes.len(),
                most = files::LARGEST_RESPONSE
            ));
        }
        let writer = self.writer(&dir, Input::None)?;
        let run = &writer.open.run;
        let state = run.state();
        if let Some(phase) = phase.filter(|phase| !phase.eq_ignore_ascii_case(state)) {
            return Err(fault!(
                "changed_since.session_respond",
                run = run.run,
                state,
                phase
            ));
        }
        let present = present_unit(run);
        if let Some(unit) = unit.filter(|unit| *unit != present) {
            let (unit, run) = (one_line(unit), &run.run);
            return Err(match present {
                "" => fault!("stale_unit.nothing_asked", unit, run),
                present => fault!("stale_unit.not_asked", unit, present, run),
            });
        }
        // What is asked for is said only when the gate is open, and what answers it comes after that.
        no_gate_before(&writer)?;
        let path = writer
            .call
            .definition
            .response(state, &run.vars)
            .filter(|_| run.status == RunStatus::Running)
            .ok_or_else(|| not_waiting(&writer.call, run))?;
        let sha256 = journal::sha256_hex(bytes);
        // Before it is read: what answered another prompt may well be unreadable as an answer to this one.
        if unit.is_none() {
            let mut taken_in = history::places_of(&writer.call.dir, &sha256)?.into_iter();
            if let Some(before) = taken_in.find(|before| *before != path) {
                return Err(repeated(&before, &path, run));
            }
        }
        if let Some(session) = &writer.call.session
            && let Some(phase) = phase_of(&writer.call.definition, state)
        {
            session.check_beforehand(&writer.call, run, phase, &path, bytes)?;
        }
        let place = files::place(&writer.call.dir, &path)?;
        let mut replaced = None;
        if files::is_there(&place)? && !files::is_blank(&place) {
            let same = matches!(files::read(&place), Ok(Some(there)) if there == bytes);
            if !same && !replace {
                return Err(fault!("already_there.response_there", path).detail("path", path));
            }
            if !same {
                replaced = made_room(&writer.call.dir, &path, "replaced")?;
            }
        }
        files::put(&place, bytes)?;
        Ok(RespondAnswer {
            session_id: run.run.clone(),
            path,
            bytes: bytes.len() as u64,
            sha256,
            replaced,
        })
    }
}

/// The fault of a response whose bytes were taken in before, for another prompt.
fn repeated(before: &str, path: &str, run: &RunState) -> Fault {
    let (unit, run) = (present_unit(run), &run.run);
    let fault = match unit {
        "" => fault!("already_there.response_before", before, path, run),
        unit => fault!("already_there.response_repeated", before, path, unit, run),
    };
    let fault = fault.detail("path", path).detail("takenInAs", before);
    if unit.is_empty() {
        fault
    } else {
        fault.detail("unitId", unit)
    }
}

/// The fault of a response to a session that waits for none: what it waits for instead leads on.
fn not_waiting(call: &Call<'_>, run: &RunState) -> Fault {
    let fault = fault!(
        "not_possible.no_response",
        run = run.run,
        state = run.state()
    );
    let (next, _) = next_or_step(&SESSION, call, run);
    next.next_steps
        .into_iter()
        .take(1)
        .fold(fault, Fault::recover)
}
