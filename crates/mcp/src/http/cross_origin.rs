//! What a browser wants to hear before it lets a page of another origin talk to a server (the Fetch standard, "CORS protocol").

use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderValue, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use super::reply::Reply;

/// The headers that a client of the protocol sends.
const SENT: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
/// Those that it reads.
const READ: &str = "mcp-session-id, mcp-protocol-version, www-authenticate";
/// How long a browser may remember what it was told, in seconds.
const REMEMBERED: &str = "600";

/// Whether a browser asks what a page of another origin may send. It shows no token then, and nothing is done.
pub(super) fn is_preflight(head: &Parts) -> bool {
    head.method == Method::OPTIONS && head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to that.
pub(super) fn preflight() -> Response<Reply> {
    let mut response = Response::new(Reply::of(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    for (name, value) in [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Lets the page of an origin that is allowed read an answer.
pub(super) fn let_read(response: &mut Response<Reply>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(READ),
    );
    headers.append(VARY, HeaderValue::from_static("origin"));
}
