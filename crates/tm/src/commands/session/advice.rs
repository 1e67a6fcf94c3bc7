//! What a fault advises, in commands that mean the same session as the call did.

use conductor::{Conductor, Fault};

use crate::render::session::{self as render, Standing};

/// The commands of `tm session` that are about one session.
const ABOUT_ONE: &[&str] = &[
    "step", "run", "status", "respond", "approve", "reject", "reopen", "cancel", "show", "export",
    "restore",
];

/// A fault whose commands name the session that the caller named: without it they may mean another one, or none.
pub fn for_session(mut fault: Fault, named: Option<&str>) -> Fault {
    let Some(named) = named else {
        return fault;
    };
    fault.recovery = with_session(&fault.recovery, named);
    if fault.suggestion.matches('`').count().is_multiple_of(2) {
        let parts: Vec<String> = fault
            .suggestion
            .split('`')
            .enumerate()
            .map(|(at, part)| match at % 2 {
                0 => part.to_owned(),
                _ => with_session(part, named),
            })
            .collect();
        fault.suggestion = parts.join("`");
    }
    fault
}

/// A command of `tm session` with the session behind its verb's other words; anything else as it is.
fn with_session(command: &str, named: &str) -> String {
    let about_one = command
        .strip_prefix("tm session ")
        .and_then(|words| words.split(' ').next())
        .is_some_and(|verb| ABOUT_ONE.contains(&verb));
    if about_one && !command.contains("--session") {
        format!("{command}{}", render::option(Some(named)))
    } else {
        command.to_owned()
    }
}

/// The fault of a decision about a run, whichever it is: rules are told in the words of a session.
pub fn for_run(mut fault: Fault) -> Fault {
    if fault.code == "no_gate" {
        return fault.suggest("look what it waits for: `tm run next`");
    }
    for text in [
        &mut fault.message,
        &mut fault.suggestion,
        &mut fault.recovery,
    ] {
        *text = text
            .replace("tm session status --session", "tm run status --run-id")
            .replace("tm session status", "tm run status")
            .replace("the session", "the run");
    }
    fault
}

/// Whether a fault says that what stood for a session names none.
pub fn names_no_session(fault: &Fault) -> bool {
    matches!(fault.code.as_str(), "no_session" | "bad_name")
}

/// The fault of a response to a session that waits for none: how it can be made to wait for one.
pub fn of_no_response(conductor: &Conductor, session: Option<&str>, fault: Fault) -> Fault {
    if fault.code != "not_waiting" {
        return fault;
    }
    let Ok(state) = conductor.session_status(session) else {
        return fault;
    };
    let id = state.session_id.as_str();
    match Standing::of(&state) {
        Standing::Broken => Fault {
            message: format!("the session {id} broke down, and waits for no response as it is"),
            ..fault
        }
        .suggest("a person can take it up again, at a terminal; then it waits for another response")
        .recover(format!("tm session reopen{}", render::option(Some(id)))),
        Standing::Cap => Fault {
            message: format!(
                "the session {id} paused after its last iteration, and waits for no response"
            ),
            ..fault
        }
        .suggest("a person can give it more iterations, at a terminal")
        .recover(render::raise(&state, Some(id))),
        Standing::Complete | Standing::Cancelled => fault
            .suggest("a session that is over takes nothing in; begin another one")
            .recover("tm session init"),
        Standing::Gate(gate) => fault
            .suggest(format!("a person decides first, at the gate {gate}"))
            .recover(format!("tm session approve{}", render::option(Some(id)))),
        Standing::Paused(_) => fault
            .suggest("go on with it first")
            .recover(format!("tm run resume --run-id {}", render::word(id))),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conductor::Kind;

    #[test]
    fn commands_name_the_session_that_the_caller_named() {
        let fault = || {
            Fault::new(Kind::Refused, "x", "`tm session step` is told of")
                .suggest("`tm session step`, `tm session list` or `tm session step --session b`")
                .recover("tm session export DIR")
        };
        let plain = for_session(fault(), None);
        assert_eq!(plain.recovery, "tm session export DIR");
        let told = for_session(fault(), Some("a"));
        assert_eq!(told.recovery, "tm session export DIR --session a");
        assert_eq!(
            told.suggestion,
            "`tm session step --session a`, `tm session list` or `tm session step --session b`"
        );
        assert_eq!(told.message, "`tm session step` is told of");
        for other in [
            "",
            "tm session init",
            "tm session",
            "tm runs list",
            "tm session steps",
        ] {
            assert_eq!(with_session(other, "a"), other);
        }
        let odd = for_session(fault().suggest("one ` alone"), Some("it's"));
        assert_eq!(odd.suggestion, "one ` alone");
        assert_eq!(odd.recovery, r"tm session export DIR --session 'it'\''s'");
    }
}
