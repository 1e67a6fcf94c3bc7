//! Trusting what a repository brings along: `tm session trust`, `tm workflow trust`, `tm config trust`.

use engine::fault;
use engine::trust::{Subject, TrustRequest};
use engine::{Engine, Fault};
use serde_json::json;

use super::approving::{needs_terminal, typed_back};
use super::{DONE, Outcome};
use crate::cli::setup::TrustChoice;
use crate::output::Output;
use crate::render;

/// Carries out one of them. `name` is the profile, or the id of the workflow.
pub fn run(
    engine: &Engine,
    subject: Subject,
    name: &str,
    choice: &TrustChoice,
    output: &mut Output,
) -> Outcome {
    // Nobody has to be asked before less is let run.
    if choice.revoke {
        let revoked = engine.distrust(subject, name)?;
        let answer = json!({ "subject": subject, "name": name, "revoked": revoked });
        output.page(&answer, "trust_revoked")?;
        return Ok(DONE);
    }
    let mut request = engine.trust_request(subject, name)?;
    if request.trusted {
        return trusted(engine, &request, false, output);
    }
    match &choice.hash {
        Some(hash) => same_hash(&request, hash)?,
        None => ask(&request, output)?,
    }
    engine.trust(&request)?;
    request.trusted = true;
    trusted(engine, &request, true, output)
}

/// Asks the person at the terminal.
pub fn ask(request: &TrustRequest, output: &mut Output) -> Result<(), Fault> {
    needs_terminal(
        output,
        "what a repository brings along is trusted",
        "",
        request.command(),
    )
    .map_err(|fault| fault.detail("hash", request.hash.as_str()))?;
    let title = json!({ "title": request.title() });
    let text = render::page_with("trust", request, &title, &output.look());
    let what = format!("the trust in {}", request.title());
    typed_back(output, &text, "trust it", &what)
}

/// Says what is there and not trusted, beside an answer.
pub fn warn(engine: &Engine, output: &Output) {
    // What cannot be looked at is in nobody's way here: whatever needs it says so.
    for request in engine.untrusted().unwrap_or_default() {
        output.warning(&format!(
            "{}; a person can read and trust it: {}",
            request.warning(),
            request.command()
        ));
    }
}

/// The hash of what was read elsewhere: it counts for those bytes alone.
fn same_hash(request: &TrustRequest, hash: &str) -> Result<(), Fault> {
    if request.hash.eq_ignore_ascii_case(hash.trim()) {
        return Ok(());
    }
    Err(fault!(
        "changed_since.other_hash",
        title = request.title(),
        hash = request.hash
    )
    .detail("hash", request.hash.as_str()))
}

/// Says that it is trusted, and what can be done now.
fn trusted(engine: &Engine, request: &TrustRequest, now: bool, output: &mut Output) -> Outcome {
    // What cannot be listed is not in anybody's way here.
    let mut under_way = match request.subject {
        Subject::Profile => engine.session_list().unwrap_or_default(),
        Subject::Workflow | Subject::Tests | Subject::Checks => Vec::new(),
    };
    under_way.retain(|session| session.status == "IN_PROGRESS");
    let beside = json!({ "title": request.title(), "now": now, "underWay": under_way });
    output.page_with(request, "trusted", &beside)?;
    Ok(DONE)
}
