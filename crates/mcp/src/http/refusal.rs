//! How a request is refused: always as JSON that says what to do.

use std::borrow::Cow;

use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::reply::Reply;

/// JSON-RPC's code for what is no JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC's code for JSON that is no message.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC's code for parameters that make no sense.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC's code for a fault of the server.
const INTERNAL_ERROR: i64 = -32603;
/// The first of the codes that are left to servers: the transport said no.
const TRANSPORT: i64 = -32000;
/// What SDKs use for a session that is not there.
const NO_SESSION: i64 = -32001;

/// A request that was not let through.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: i64,
    message: Cow<'static, str>,
    id: Value,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code: match status {
                StatusCode::INTERNAL_SERVER_ERROR => INTERNAL_ERROR,
                _ => TRANSPORT,
            },
            message: message.into(),
            id: Value::Null,
            header: None,
        }
    }

    /// There is more to do than the server was told to take on.
    pub(super) fn busy(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
            .with_header(RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// The server is about to end.
    pub(super) fn stopping() -> Self {
        Self::busy("the server is stopping; try again when it has been started again")
            .with_header(CONNECTION, HeaderValue::from_static("close"))
    }

    /// The session is not there, or not any more.
    pub(super) fn no_session() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "there is no session of this id: it has ended, or the server was started anew; begin another one with `initialize`",
        )
        .with_code(NO_SESSION)
    }

    pub(super) fn with_code(mut self, code: i64) -> Self {
        self.code = code;
        self
    }

    /// Which call it answers.
    pub(super) fn with_id(mut self, id: Value) -> Self {
        self.id = id;
        self
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }

    pub(super) fn reply(self) -> Response<Reply> {
        let body = json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": { "code": self.code, "message": self.message },
        });
        let mut response = json_reply(self.status, &body);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// An answer of JSON.
pub(super) fn json_reply(status: StatusCode, body: &Value) -> Response<Reply> {
    let mut response = Response::new(Reply::of(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
