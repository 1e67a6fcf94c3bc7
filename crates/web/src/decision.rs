//! What a person does with a run on its page.

use engine::board::{Deed, Projects, SeenDecision};
use engine::fault;
use engine::passkey::{self, Assertion};
use engine::{Channel, Engine, Fault, SIGNATURE_NAMESPACE as NAMESPACE};
use mcp::http::{Response, SiteBody, SiteRequest, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::access::Right;
use crate::passkey::origin;
use crate::reply::{fault_reply, json_reply, refused};
use crate::route::{Query, Route};
use crate::{posted, project};

/// What was decided, as the forms send it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Decision {
    /// Which of the forms it was.
    what: String,
    /// The hash of the event that the page was made after.
    seen: String,
    hash: String,
    choice: String,
    feedback: String,
    /// A signature by an SSH key, in its armour.
    signature: String,
    /// One by a passkey of the browser.
    passkey: Option<Assertion>,
    /// Whether nothing is decided yet, and what there is to sign is asked for.
    statement: bool,
    reason: String,
    item: String,
    kind: String,
    code: String,
    unit: String,
    outcome: String,
}

/// Does what was sent.
pub fn answer(
    projects: &dyn Projects,
    route: &Route,
    query: &Query,
    request: &SiteRequest,
    right: Right,
) -> Response<SiteBody> {
    let Route::Decide(run) = route else {
        return refused(StatusCode::NOT_FOUND, "there is nothing here");
    };
    let decision: Decision = match posted(request) {
        Ok(decision) => decision,
        Err(refusal) => return refusal,
    };
    if right != Right::Decide {
        return refused(
            StatusCode::FORBIDDEN,
            "this page was opened to look: decide at a terminal, or on a page that `tm ui --web` opens there",
        );
    }
    match project(projects, query).and_then(|engine| decision.done(&engine, run, request)) {
        Ok(Outcome::Done(message)) => {
            let message = projects.spelled(&message, Some(run));
            json_reply(StatusCode::OK, &json!({ "message": message }))
        }
        Ok(Outcome::ToSign(statement)) => json_reply(
            StatusCode::OK,
            &json!({
                "challenge": passkey::challenge(&statement),
                "message": "Run this in a terminal, with the file of your key in the place of KEY, and paste what it prints as the signature",
                "command": format!("ssh-keygen -Y sign -n {NAMESPACE} -f KEY <<'TEXT'\n{statement}TEXT"),
            }),
        ),
        Err(fault) => fault_reply(projects, Some(run), &fault),
    }
}

/// What came of it.
enum Outcome {
    Done(String),
    /// The text of a decision that is to be signed.
    ToSign(String),
}

impl Decision {
    fn done(&self, engine: &Engine, run: &str, request: &SiteRequest) -> Result<Outcome, Fault> {
        let text = |text: &str| text.trim().to_owned();
        let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let decision = SeenDecision {
            seen: self.seen.clone(),
            gate: self.hash.clone(),
            reason: said(&self.feedback).unwrap_or_else(|| text(&self.reason)),
            item: said(&self.item),
            kind: said(&self.kind),
            code: text(&self.code),
            unit: text(&self.unit),
            outcome: text(&self.outcome),
        };
        let unknown = || fault!("usage.request");
        let deed = match (self.what.as_str(), self.choice.as_str()) {
            ("gate", "approve") => Deed::Approve,
            ("gate", "reject") => Deed::Reject,
            ("pause", _) => Deed::Pause,
            ("resume", _) => Deed::Resume,
            ("reopen", _) => Deed::Reopen,
            ("skip", _) => Deed::Skip,
            ("allow", _) => Deed::Allow,
            ("answer", _) => Deed::Answer,
            _ => return Err(unknown()),
        };
        let statement = || engine.statement_as_seen(run, deed, &decision);
        let by = match (self.signature.trim(), &self.passkey) {
            _ if self.statement => return Ok(Outcome::ToSign(statement()?.text())),
            (_, Some(assertion)) => {
                let origin = origin(request).unwrap_or_default();
                engine.signed_by_passkey(&statement()?, assertion, origin)?
            }
            ("", None) => Channel::Browser,
            (armored, None) => Channel::Signed(format!("{armored}\n")),
        };
        let moved = engine.decide_as_seen(run, deed, &decision, by);
        match moved {
            Ok(moved) => Ok(Outcome::Done(moved.message)),
            Err(fault) if fault.code == "approval_too_weak" => {
                Err(fault.suggest("sign it, with a passkey or an SSH key"))
            }
            Err(fault) => Err(fault),
        }
    }
}
