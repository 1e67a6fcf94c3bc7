//! What a person does with a run on its page.

use engine::board::Projects;
use engine::report::Report;
use engine::view::session::request::Decide;
use engine::{Channel, Choice, Engine, Fault, Kind, Turn};
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
    gate: String,
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
        let id = Some(run);
        let (statement, _) = engine.turn_statement(run, &Turn::new("resume", ""))?;
        if statement.after != self.seen {
            return Err(Fault::new(
                Kind::Conflict,
                "moved_since",
                "the run has moved since this page was shown, and nothing was done",
            )
            .suggest("look at it as it is now, and decide anew"));
        }
        let person = engine.asked(Channel::Browser);
        let item = Some(self.item.trim()).filter(|item| !item.is_empty());
        let reason = self.reason.trim();
        Ok(Done::Said(match self.what.as_str() {
            "gate" => return self.at_gate(engine, run),
            "pause" => {
                let why = if reason.is_empty() {
                    "paused on the page"
                } else {
                    reason
                };
                person.run_pause(id, why)?.message
            }
            "resume" => person.run_resume(id)?.message,
            "reopen" => {
                let kind = Some(self.kind.trim()).filter(|kind| !kind.is_empty());
                let turn = Turn::reopen(item, kind, reason);
                person.run_reopen(id, &turn)?.message
            }
            "skip" => person.run_skip(id, item, reason)?.message,
            "allow" => person.run_allow(id, self.code.trim(), reason)?.message,
            "answer" => self.answered(&person, run)?,
            _ => {
                return Err(Fault::new(
                    Kind::Usage,
                    "bad_input",
                    "what was sent says nothing that can be done",
                ));
            }
        }))
    }

    fn at_gate(&self, engine: &Engine, run: &str) -> Result<Done, Fault> {
        let mut gate = engine.run_gate(Some(run))?;
        if gate.gate != self.gate || gate.hash != self.hash {
            return Err(Fault::new(
                Kind::Conflict,
                "moved_since",
                "what stands before the gate is no longer what this page showed, and nothing was done",
            )
            .suggest("look at it as it is now, and decide anew"));
        }
        self.hash.clone_into(&mut gate.hash);
        let feedback = self.feedback.trim();
        let (choice, to_sign) = match self.choice.as_str() {
            "approve" => (Choice::Approve, false),
            "reject" => (Choice::Reject, false),
            "statement-approve" => (Choice::Approve, true),
            "statement-reject" => (Choice::Reject, true),
            _ => {
                return Err(Fault::new(
                    Kind::Usage,
                    "bad_input",
                    "a gate is approved or rejected",
                ));
            }
        };
        if choice == Choice::Reject && feedback.is_empty() {
            return Err(Fault::new(
                Kind::Usage,
                "no_feedback",
                "a rejection says what is to be done otherwise",
            )
            .suggest("write it into the field for feedback"));
        }
        if to_sign {
            let statement = engine.gate_statement(&gate, choice, feedback)?;
            return Ok(Done::ToSign(statement.text()));
        }
        let by = match self.signature.trim() {
            "" => Channel::Browser,
            armored => Channel::Signed(format!("{armored}\n")),
        };
        let decide = Decide {
            gate,
            choice,
            feedback: feedback.to_owned(),
        };
        Ok(Done::Said(engine.asked(by).run_decide(&decide)?.message))
    }

    /// Reports what a person was asked for.
    fn answered(&self, person: &Engine, run: &str) -> Result<String, Fault> {
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
