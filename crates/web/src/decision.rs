//! What a person does with a run on its page.

use engine::board::{Deed, Projects, SeenDecision};
use engine::report::Report;
use engine::{Channel, Choice, Engine, Fault, Kind};
use mcp::http::{Response, SiteBody, SiteRequest, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::access::Right;
use crate::reply::{json_reply, refused};
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
    signature: String,
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
    match project(projects, query).and_then(|engine| decision.done(&engine, run)) {
        Ok(Done::Said(message)) => {
            let message = projects.spelled(&message, Some(run));
            json_reply(StatusCode::OK, &json!({ "message": message }))
        }
        Ok(Done::ToSign(text)) => json_reply(StatusCode::OK, &json!({ "statement": text })),
        Err(fault) => {
            let status = match fault.kind {
                Kind::Conflict => StatusCode::CONFLICT,
                Kind::Missing => StatusCode::NOT_FOUND,
                Kind::Usage => StatusCode::BAD_REQUEST,
                Kind::Refused | Kind::Blocked => StatusCode::FORBIDDEN,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            let spelled = |text: &str| projects.spelled(text, Some(run));
            json_reply(
                status,
                &json!({ "error": {
                    "code": fault.code,
                    "message": spelled(&fault.message),
                    "suggestion": spelled(&fault.suggestion),
                } }),
            )
        }
    }
}

/// What came of it.
enum Done {
    Said(String),
    /// The text of a decision that is to be signed.
    ToSign(String),
}

impl Decision {
    fn done(&self, engine: &Engine, run: &str) -> Result<Done, Fault> {
        let text = |text: &str| text.trim().to_owned();
        let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let decision = SeenDecision {
            seen: self.seen.clone(),
            gate: self.hash.clone(),
            reason: said(&self.feedback).unwrap_or_else(|| text(&self.reason)),
            item: said(&self.item),
            kind: said(&self.kind),
            code: text(&self.code),
        };
        let unknown = || {
            Fault::new(
                Kind::Usage,
                "bad_input",
                "what was sent says nothing that can be done",
            )
        };
        let deed = match (self.what.as_str(), self.choice.as_str()) {
            ("gate", "statement-approve") => {
                return to_sign(engine, run, Choice::Approve, &decision);
            }
            ("gate", "statement-reject") => return to_sign(engine, run, Choice::Reject, &decision),
            ("gate", "approve") => Deed::Approve,
            ("gate", "reject") => Deed::Reject,
            ("pause", _) => Deed::Pause,
            ("resume", _) => Deed::Resume,
            ("reopen", _) => Deed::Reopen,
            ("skip", _) => Deed::Skip,
            ("allow", _) => Deed::Allow,
            ("answer", _) => return self.answered(engine, run).map(Done::Said),
            _ => return Err(unknown()),
        };
        let by = match self.signature.trim() {
            "" => Channel::Browser,
            armored => Channel::Signed(format!("{armored}\n")),
        };
        let moved = engine.decide_as_seen(run, deed, &decision, by)?;
        Ok(Done::Said(moved.message))
    }

    /// Reports what a person was asked for.
    fn answered(&self, engine: &Engine, run: &str) -> Result<String, Fault> {
        let person = engine.asked(Channel::Browser);
        let report = Report {
            unit: Some(self.unit.clone()),
            outcome: Some(self.outcome.trim().to_owned()),
            note: Some(self.reason.trim().to_owned()).filter(|note| !note.is_empty()),
            ..Report::default()
        };
        let verdict = person.run_report(Some(run), &report)?;
        if verdict.validated {
            return Ok(verdict.message);
        }
        let code = verdict.code.unwrap_or_default();
        Err(Fault::new(Kind::Refused, code, verdict.message)
            .suggest(verdict.suggestion.unwrap_or_default()))
    }
}

/// The text of a decision at a gate, to be signed.
fn to_sign(
    engine: &Engine,
    run: &str,
    choice: Choice,
    decision: &SeenDecision,
) -> Result<Done, Fault> {
    let decide = engine.gate_as_seen(run, choice, decision)?;
    let statement = engine.gate_statement(&decide.gate, choice, &decide.feedback)?;
    Ok(Done::ToSign(statement.text()))
}
