//! Questions to the client, in both eras.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ClientResult, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, RequestStateCodec, SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::client::ClientAbilities;
use crate::stop::{Ask, Input};

/// How long a sealed state may be on its way: a person has to answer in between.
const STATE_TTL: Duration = Duration::from_hours(1);
/// How long a client with a session has to answer a question.
const ANSWER_TIME: Duration = Duration::from_mins(10);

/// What a call brings along from a round before.
#[derive(Debug)]
pub(super) struct RoundReply {
    pub answers: Option<InputResponses>,
    pub state: Option<String>,
    /// What the state must have been sealed for.
    pub about: Vec<u8>,
}

impl RoundReply {
    /// A call that cannot be asked back.
    pub(super) fn nothing() -> Self {
        Self {
            answers: None,
            state: None,
            about: Vec::new(),
        }
    }
}

/// What a state is sealed for: the same call, and no other.
pub(super) fn about(method: &str, name: &str, arguments: &Map<String, Value>) -> Vec<u8> {
    let mut hash = Sha256::new();
    for part in [method, name, &json!(arguments).to_string()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().to_vec()
}

/// The key that states are sealed with: made anew by each process, and never leaving it.
pub(super) struct Seal(RequestStateCodec);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        Self(RequestStateCodec::try_new(key).expect("32 bytes are enough"))
    }

    fn close(&self, state: &Value, about: &[u8]) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(about).ttl(STATE_TTL);
        self.0
            .seal_json_with(state, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// What was sealed. One message for all that can be wrong with it, so that nothing is learnt by trying.
    pub(super) fn open(&self, sealed: &str, about: &[u8]) -> Result<Value, ErrorData> {
        self.0.open_json_with(sealed, about).map_err(|_| {
            ErrorData::invalid_params(
                "requestState is not one that this server gave for this request, or it is too old; call again without it",
                None,
            )
        })
    }
}

/// The questions as a stateless client gets them.
pub(super) fn required(
    ask: &Ask,
    seal: &Seal,
    about: &[u8],
) -> Result<InputRequiredResult, ErrorData> {
    let mut requests = InputRequests::new();
    for (name, input) in &ask.inputs {
        requests.insert(name.clone(), request(input)?);
    }
    let state = match &ask.keep {
        Some(keep) => Some(seal.close(keep, about)?),
        // The protocol wants one of the two.
        None if requests.is_empty() => Some(seal.close(&Value::Null, about)?),
        None => None,
    };
    Ok(InputRequiredResult::new(
        Some(requests).filter(|requests| !requests.is_empty()),
        state,
    ))
}

/// Refuses to ask a client for what it never said it could do.
pub(super) fn check(ask: &Ask, can: ClientAbilities) -> Result<(), ErrorData> {
    let missing = ask.inputs.values().find_map(|input| match input {
        Input::Form { .. } if !can.forms => Some("elicitation"),
        Input::Sample(_) if !can.sampling => Some("sampling"),
        Input::Roots if !can.roots => Some("roots"),
        _ => None,
    });
    match missing {
        None => Ok(()),
        Some(missing) => {
            let mut needed = Map::new();
            needed.insert(missing.to_owned(), json!({}));
            let needed: ClientCapabilities =
                serde_json::from_value(Value::Object(needed)).unwrap_or_default();
            Err(ErrorData::missing_required_client_capability(needed))
        }
    }
}

fn request(input: &Input) -> Result<InputRequest, ErrorData> {
    let value = match input {
        Input::Form { message, schema } => json!({
            "method": "elicitation/create",
            "params": { "mode": "form", "message": message, "requestedSchema": schema },
        }),
        Input::Sample(params) => json!({ "method": "sampling/createMessage", "params": params }),
        Input::Roots => json!({ "method": "roots/list" }),
    };
    serde_json::from_value(value).map_err(|error| {
        ErrorData::internal_error(
            format!("a question to the client is malformed: {error}"),
            None,
        )
    })
}

/// Asks a client with a session, one question after the other.
pub(super) async fn in_session(
    ask: &Ask,
    context: &RequestContext<RoleServer>,
) -> Result<BTreeMap<String, Value>, ErrorData> {
    let mut answers = BTreeMap::new();
    for (name, input) in &ask.inputs {
        answers.insert(name.clone(), one(input, context).await?);
    }
    Ok(answers)
}

/// Asks a client with a session one question.
pub(super) async fn one(
    input: &Input,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let request = match request(input)? {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return Err(ErrorData::internal_error("an unknown question", None)),
    };
    let asked = context
        .peer
        .send_request_with_option(request, PeerRequestOptions::with_timeout(ANSWER_TIME))
        .await
        .map_err(unanswered)?;
    let result: ClientResult = asked.await_response().await.map_err(unanswered)?;
    serde_json::to_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands where an error is mapped"
)]
fn unanswered(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("the client did not answer: {error}"), None)
}
