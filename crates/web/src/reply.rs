//! What goes back to a browser.

use engine::board::Projects;
use engine::next_step::on_a_page;
use engine::{Fault, Kind};
use maud::Markup;
use mcp::http::header::{self, HeaderMap, HeaderValue};
use mcp::http::{Response, SiteBody, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Shaped as _, page, whole};

/// What a page may do: run our script and use our style, and speak with this server. No inline script, no frame, nothing from
/// elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A file of the page itself, the same for everybody.
#[derive(Debug, Clone)]
pub struct Asset {
    kind: &'static str,
    text: std::borrow::Cow<'static, str>,
}

/// The file at this path.
pub fn asset(path: &str) -> Option<Asset> {
    let (kind, text) = match path {
        "/assets/app.css" => (
            "text/css; charset=utf-8",
            format!("{}{}", include_str!("assets/app.css"), picture_style()).into(),
        ),
        "/assets/app.js" => (
            "text/javascript; charset=utf-8",
            include_str!("assets/app.js").into(),
        ),
        "/assets/icon.svg" => ("image/svg+xml", include_str!("assets/icon.svg").into()),
        _ => return None,
    };
    Some(Asset { kind, text })
}

/// How drawings look, on a page and in the report: what their files say of themselves, for those within `.drawing`.
pub fn picture_style() -> String {
    format!(".drawing{{{}}}\n", engine::PICTURE_STYLE)
}

impl Asset {
    /// The file, or that it is still the one that the browser has.
    pub fn answer(self, headers: &HeaderMap) -> Response<SiteBody> {
        let digest: [u8; 32] = Sha256::digest(self.text.as_bytes()).into();
        let tag = format!("\"{}\"", crate::access::hex(&digest[..8]));
        let is_known = headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let body = if is_known {
            Vec::new()
        } else {
            self.text.into_owned().into_bytes()
        };
        let mut response = secured(Response::new(whole(body)));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

fn secured(response: Response<SiteBody>) -> Response<SiteBody> {
    response
        .with(header::CONTENT_SECURITY_POLICY, POLICY)
        .with(header::REFERRER_POLICY, "no-referrer")
        .with(header::X_FRAME_OPTIONS, "DENY")
        .with(
            header::HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        )
        .with(
            header::HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        )
}

/// The frame that every page is shown in.
pub fn frame() -> Response<SiteBody> {
    html(page::frame())
}

/// A page, or a part of one.
pub fn html(markup: Markup) -> Response<SiteBody> {
    let text = markup.into_string();
    secured(Response::new(whole(&*on_a_page(&text))))
        .with(header::CONTENT_TYPE, "text/html; charset=utf-8")
        .with(header::CACHE_CONTROL, "no-store")
        .with(header::VARY, "authorization")
}

/// An answer of JSON.
pub fn json_reply(status: StatusCode, value: &Value) -> Response<SiteBody> {
    let text = value.to_string();
    secured(Response::new(whole(&*on_a_page(&text))))
        .status(status)
        .with(header::CONTENT_TYPE, "application/json")
        .with(header::CACHE_CONTROL, "no-store")
}

/// What a person is to run in a terminal.
pub fn command_reply(message: &str, command: &str) -> Response<SiteBody> {
    json_reply(
        StatusCode::OK,
        &json!({ "message": message, "command": command }),
    )
}

/// The status that says what kind of fault it is.
pub fn status_of(fault: &Fault) -> StatusCode {
    match fault.kind {
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Missing => StatusCode::NOT_FOUND,
        Kind::Usage => StatusCode::BAD_REQUEST,
        Kind::Refused | Kind::Blocked => StatusCode::FORBIDDEN,
        Kind::Environment => StatusCode::FAILED_DEPENDENCY,
        Kind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Why something was not done, with the steps that it names as commands.
pub fn fault_reply(
    projects: &dyn Projects,
    run: Option<&str>,
    fault: &Fault,
) -> Response<SiteBody> {
    let spelled = |text: &str| projects.spelled(text, run);
    json_reply(
        status_of(fault),
        &json!({ "error": {
            "code": fault.code,
            "message": spelled(&fault.message),
            "suggestion": spelled(&fault.suggestion),
        } }),
    )
}

/// What was asked for is not done.
pub fn refused(status: StatusCode, message: impl Into<String>) -> Response<SiteBody> {
    json_reply(status, &json!({ "error": { "message": message.into() } }))
}
