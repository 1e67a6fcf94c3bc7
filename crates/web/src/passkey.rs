//! A passkey of the browser, to sign decisions with.

use engine::board::Projects;
use engine::{Engine, Fault, Kind, Passkey};
use mcp::http::{Response, SiteBody, SiteRequest, StatusCode, header};
use serde::Deserialize;
use text::quote::shell_word;

use crate::access::Right;
use crate::reply::{command_reply, fault_reply, refused};
use crate::route::Query;
use crate::{posted, project};

/// A passkey that a browser has made.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Registration {
    /// By whose name it decides.
    name: String,
    /// Its public key, in DER, in base64 for addresses.
    public_key: String,
}

/// Says how a passkey comes into the list of allowed keys. It does not put it there: whoever only has this page must not be able
/// to make a decision stronger than the page is.
pub fn answer(
    projects: &dyn Projects,
    query: &Query,
    request: &SiteRequest,
    right: Right,
) -> Response<SiteBody> {
    let registration: Registration = match posted(request) {
        Ok(registration) => registration,
        Err(refusal) => return refusal,
    };
    if right != Right::Decide {
        return refused(StatusCode::FORBIDDEN, "this page was opened to look");
    }
    match project(projects, query).and_then(|engine| registration.line(&engine, request)) {
        Ok((message, command)) => command_reply(&message, &command),
        Err(fault) => fault_reply(projects, None, &fault),
    }
}

impl Registration {
    fn line(&self, engine: &Engine, request: &SiteRequest) -> Result<(String, String), Fault> {
        let wrong = |message: &str| Fault::new(Kind::Usage, "usage", message);
        let name = self.name.trim();
        let is_plain = |letter: char| letter.is_alphanumeric() || "._@-".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(wrong(
                "a name has letters and digits, and `.`, `_`, `@` and `-` between them",
            ));
        }
        let origin = origin(request);
        let site = origin.and_then(host_of).unwrap_or_default();
        let passkey = engine::passkey::bytes(&self.public_key)
            .and_then(|key| Passkey::new(&key, site))
            .ok_or_else(|| {
                wrong("that passkey is not of the kind that can sign here: ES256, on P-256")
            })?;
        let list = engine.signers().display().to_string();
        let message = format!(
            "The browser has a passkey now. It counts once its line stands in {list}: that is not done here, but in a terminal"
        );
        let [line, list] = [&passkey.line(name), &list].map(|word| shell_word(word));
        Ok((
            message,
            format!("printf '%s\\n' {line} >> {list} && chmod 600 {list}"),
        ))
    }
}

/// The origin of the page that sent a request, as the browser says.
pub fn origin(request: &SiteRequest) -> Option<&str> {
    request.head.headers.get(header::ORIGIN)?.to_str().ok()
}

/// The name in an origin.
fn host_of(origin: &str) -> Option<&str> {
    let (_, rest) = origin.split_once("://")?;
    Some(rest.split_once(':').map_or(rest, |(host, _)| host))
}
