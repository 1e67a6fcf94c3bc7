//! What a person's browser shows of runs: which there are, what waits for a decision, what happened in one and on what evidence;
//! and the decisions that a person takes there.
//!
//! Pages are made here, as HTML, from what the engine answers. A small script of our own (`assets/app.js`) shows them: it asks for
//! each with the token of the browser's tab, follows links, sends forms, and asks again for what has changed as soon as the stream
//! of events says so. Nothing of others is loaded, and nothing of others is ever taken for HTML.
//!
//! | module | what it holds |
//! |---|---|
//! | [`access`] | how a browser comes to a token, and what it may do with it |
//! | `feed` | the stream of events, once for all who look |
//! | `route` | what a path asks for |
//! | `page` | the pages, one module each |
//! | `decision` | what a person does with a run |
//! | `passkey` | a passkey of the browser, to sign decisions with |
//! | [`report`] | the report of a run as one file |
//!
//! A page holds no secret until it was shown a token: the frame that a browser gets for a path is the same for every one. The token
//! lives in the tab (`sessionStorage`), never in a cookie: what listens at another port of this machine gets cookies, too.

pub mod access;
mod decision;
mod feed;
mod page;
mod passkey;
mod reply;
pub mod report;
mod route;

use std::path::PathBuf;
use std::sync::Arc;

use engine::board::Projects;
use engine::fault;
use engine::{Engine, Fault};
use mcp::http::{Bytes, Method, Response, Site, SiteBody, SiteRequest, StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use access::{Access, Right};
use feed::Feed;
use reply::{asset, frame, html, json_reply, refused, status_of};
use route::{Query, Route};

/// The path of a run's page.
pub fn page_of(run: &engine::RunSummary) -> String {
    route::run_path(&run.run_id, "", &run.project_root)
}

/// The site.
pub struct Web {
    projects: Arc<dyn Projects>,
    access: Arc<Access>,
    feed: Arc<Feed>,
}

impl Web {
    /// The site of these projects, for those that `access` lets in.
    pub fn new(projects: Arc<dyn Projects>, access: Arc<Access>) -> Self {
        Self {
            feed: Arc::new(Feed::new(Arc::clone(&projects))),
            projects,
            access,
        }
    }

    fn route(&self, request: &SiteRequest) -> Response<SiteBody> {
        let path = request.head.uri.path();
        let query = Query::of(request.head.uri.query().unwrap_or_default());
        let is_get = request.head.method == Method::GET || request.head.method == Method::HEAD;
        if let Some(asset) = asset(path).filter(|_| is_get) {
            return asset.answer(&request.head.headers);
        }
        if path == "/session" {
            return self.begin_session(request);
        }
        let right = self.right(request);
        let Some(route) = Route::of(path) else {
            let nothing = "There is nothing under this address.";
            return match right {
                Some(_) if is_get => html(page::fault(nothing, "")).status(StatusCode::NOT_FOUND),
                None if is_get => frame().status(StatusCode::NOT_FOUND),
                _ => refused(StatusCode::NOT_FOUND, nothing),
            };
        };
        let shows_any = request.head.headers.contains_key(header::AUTHORIZATION);
        if is_get && right.is_none() && route.is_page() && !shows_any {
            // Whoever asks without a token gets what holds nothing: it asks again, with one.
            return frame();
        }
        let Some(right) = right else {
            return refused(
                StatusCode::UNAUTHORIZED,
                "this takes a token: open the page with `tm ui --web`",
            )
            .with(header::WWW_AUTHENTICATE, "Bearer");
        };
        let answer = match (&route, is_get) {
            (Route::Events, true) => Ok(self.feed.answer(request, &query)),
            (Route::Decide(_), false) => {
                return decision::answer(&*self.projects, &route, &query, request, right);
            }
            (Route::Passkey, false) => {
                return passkey::answer(&*self.projects, &query, request, right);
            }
            (Route::Decide(_), true) | (_, false) => {
                return refused(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "a page is asked for with GET, a decision is sent with POST",
                );
            }
            _ => page::of(&*self.projects, &route, &query, right).map(html),
        };
        answer.unwrap_or_else(|fault| {
            let text = self.projects.spelled(&fault.message, None);
            let suggestion = self.projects.spelled(&fault.suggestion, None);
            html(page::fault(&text, &suggestion)).status(status_of(&fault))
        })
    }

    /// What the sender of a request may do; nothing where it shows no token that is good here.
    fn right(&self, request: &SiteRequest) -> Option<Right> {
        if request.shows_token {
            return Some(Right::Look);
        }
        let given = request.head.headers.get(header::AUTHORIZATION)?;
        let token = given.to_str().ok()?.strip_prefix("Bearer ")?;
        self.access.right(token)
    }

    /// Exchanges a code that is good once for a token of the browser's tab.
    fn begin_session(&self, request: &SiteRequest) -> Response<SiteBody> {
        #[derive(Deserialize)]
        struct Asked {
            code: String,
        }
        let asked = match posted::<Asked>(request) {
            Ok(asked) => asked,
            Err(refusal) => return refusal,
        };
        match self.access.begin(&asked.code) {
            Some((token, right)) => json_reply(
                StatusCode::OK,
                &json!({ "token": token, "decides": right == Right::Decide }),
            ),
            None => refused(
                StatusCode::FORBIDDEN,
                "this code was used before, or is too old: open the page anew with `tm ui --web`",
            ),
        }
    }
}

impl Site for Web {
    fn answer(&self, request: SiteRequest) -> Response<SiteBody> {
        self.route(&request)
    }
}

/// What was posted, as JSON. A form of another page cannot send that, and no page but ours may.
fn posted<T: for<'de> Deserialize<'de>>(request: &SiteRequest) -> Result<T, Response<SiteBody>> {
    let headers = &request.head.headers;
    let is = |name: header::HeaderName, value: &str| {
        headers
            .get(name)
            .is_some_and(|given| given.as_bytes() == value.as_bytes())
    };
    if request.head.method != Method::POST {
        return Err(refused(
            StatusCode::METHOD_NOT_ALLOWED,
            "this is sent with POST",
        ));
    }
    let sites = header::HeaderName::from_static("sec-fetch-site");
    if headers.contains_key(&sites) && !is(sites, "same-origin") {
        return Err(refused(
            StatusCode::FORBIDDEN,
            "only pages of this server send this",
        ));
    }
    if !is(header::CONTENT_TYPE, "application/json") {
        return Err(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "this is sent as `application/json`",
        ));
    }
    serde_json::from_slice(&request.body).map_err(|error| {
        refused(
            StatusCode::BAD_REQUEST,
            format!("what was sent is not understood: {error}"),
        )
    })
}

/// The project that a query names; the only one, or the first, where it names none.
fn project(projects: &dyn Projects, query: &Query) -> Result<Engine, Fault> {
    match query.get("project") {
        Some(root) => projects.open(&PathBuf::from(root)),
        None => projects
            .all()?
            .into_iter()
            .next()
            .ok_or_else(|| fault!("not_found.any_project")),
    }
}

/// Answers, put together.
trait Shaped {
    /// With another status.
    fn status(self, status: StatusCode) -> Self;
    /// With a further header.
    fn with(self, name: header::HeaderName, value: &'static str) -> Self;
}

impl Shaped for Response<SiteBody> {
    fn status(mut self, status: StatusCode) -> Self {
        *self.status_mut() = status;
        self
    }

    fn with(mut self, name: header::HeaderName, value: &'static str) -> Self {
        self.headers_mut()
            .insert(name, header::HeaderValue::from_static(value));
        self
    }
}

/// Bytes that are an answer as they are.
fn whole(text: impl Into<Vec<u8>>) -> SiteBody {
    SiteBody::Whole(Bytes::from(text.into()))
}
