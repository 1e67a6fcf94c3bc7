//! What a session waits for that somebody took for another, or for one that waits for a response.

use engine::{Engine, Fault, Verb};

use crate::render::session::{self as render, SessionStanding};

/// Whether a fault says that what stood for a session names none.
pub fn names_no_session(fault: &Fault) -> bool {
    matches!(fault.code.as_str(), "no_run" | "bad_name")
}

/// The fault of a response to a session that waits for none: how it can be made to wait for one.
pub fn of_no_response(engine: &Engine, session: Option<&str>, fault: Fault) -> Fault {
    if fault.code != "not_possible" {
        return fault;
    }
    let Ok(state) = engine.session_status(session) else {
        return fault;
    };
    let id = state.session_id.as_str();
    match SessionStanding::of(&state) {
        SessionStanding::Broken => Fault {
            message: format!("the session {id} broke down, and waits for no response as it is"),
            ..fault
        }
        .suggest("a person can take it up again, at a terminal; then it waits for another response")
        .recover(Verb::Reopen.step().of(id)),
        SessionStanding::Cap => Fault {
            message: format!(
                "the session {id} paused after its last iteration, and waits for no response"
            ),
            ..fault
        }
        .suggest("a person can give it more iterations, at a terminal")
        .recover(render::raise(&state, Some(id))),
        SessionStanding::Complete => fault
            .suggest(format!(
                "the session is over, its review passed: `tm session export DIR --session {id}` hands its code out, and another one is begun with {start}",
                start = Verb::Start
            ))
            .recover(Verb::Status.step().of(id)),
        SessionStanding::Cancelled => fault
            .suggest("a session that is over takes nothing in; begin another one")
            .recover(Verb::Start),
        SessionStanding::Gate(gate) => fault
            .suggest(format!("a person decides first, at the gate {gate}"))
            .recover(Verb::Approve.step().of(id)),
        SessionStanding::Paused(_) => fault
            .suggest("go on with it first")
            .recover(Verb::Resume.step().of(id)),
        _ => fault,
    }
}
