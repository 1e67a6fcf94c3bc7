//! One request, from its head to its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::access_policy::AccessPolicy;
use super::cross_origin;
use super::message::{Kind, Message, asked_version};
use super::refusal::{INVALID_PARAMS, INVALID_REQUEST, Refusal, json_reply};
use super::reply::Reply;
use super::sessions::Sessions;
use super::site::{self, SiteRequest};
use super::{Held, Holding, Options, SharedSite};
use crate::adapter::{Adapter, Ticket};
use crate::server::Server;

/// Where the protocol is served.
pub(super) const MCP: &str = "/mcp";
/// Where it can be seen that the server is up.
pub(super) const HEALTH: &str = "/healthz";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How many times the allowed size is read and thrown away, so that the client gets to read why it was refused.
const THROWN_AWAY: usize = 4;

/// What all connections share.
pub(super) struct Handler<S: Server> {
    service: StreamableHttpService<Adapter<S>, LocalSessionManager>,
    pub(super) policy: AccessPolicy,
    pub(super) sessions: Arc<Sessions>,
    reading: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    stopping: CancellationToken,
    max_calls: usize,
    max_body: usize,
    patience: Duration,
    health: Value,
    site: Option<SharedSite>,
}

impl<S: Server> Handler<S> {
    pub(super) fn new(
        adapter: Adapter<S>,
        policy: AccessPolicy,
        options: &Options,
        ended: CancellationToken,
    ) -> Self {
        let about = adapter.about();
        let health = json!({ "status": "ok", "name": about.name, "version": about.version });
        let stopping = adapter.stopping().clone();
        let sessions = Arc::new(Sessions::new(options.max_sessions, options.session_idle));
        let config = StreamableHttpServerConfig::default()
            // The policy has looked at both before.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(options.max_body)
            .with_cancellation_token(ended);
        Self {
            service: StreamableHttpService::new(
                move || Ok(adapter.another()),
                sessions.manager(),
                config,
            ),
            policy,
            sessions,
            reading: Arc::new(Semaphore::new(options.max_requests)),
            calls: Arc::new(Semaphore::new(options.max_requests)),
            streams: Arc::new(Semaphore::new(options.max_streams)),
            stopping,
            max_calls: options.max_requests,
            max_body: options.max_body,
            patience: options.patience,
            health,
            site: options.site.clone(),
        }
    }

    /// How many calls have not come to their end.
    pub(super) fn open_calls(&self) -> usize {
        self.max_calls
            .saturating_sub(self.calls.available_permits())
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Reply> {
        let origin = self.policy.allowed_origin(request.headers()).cloned();
        let mut response = match self.try_to_answer(request).await {
            Ok(response) => response,
            Err(refusal) => refusal.reply(),
        };
        if let Some(origin) = origin {
            cross_origin::let_read(&mut response, origin);
        }
        response
            .headers_mut()
            .insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }

    async fn try_to_answer(&self, request: Request<Incoming>) -> Result<Response<Reply>, Refusal> {
        let (mut head, body) = request.into_parts();
        let path = head.uri.path();
        let site = self.site.as_ref().filter(|_| path != MCP && path != HEALTH);
        self.policy.check_sender(&head, site.is_some())?;
        if let Some(site) = site {
            return self.ask_site(site.clone(), head, body).await;
        }
        match path {
            MCP => {}
            HEALTH if head.method == Method::GET || head.method == Method::HEAD => {
                return Ok(json_reply(StatusCode::OK, &self.health));
            }
            HEALTH => return Err(wrong_method("GET, HEAD")),
            _ => {
                return Err(Refusal::new(
                    StatusCode::NOT_FOUND,
                    "there is nothing here; MCP is at /mcp",
                ));
            }
        }
        if cross_origin::is_preflight(&head) && self.policy.allowed_origin(&head.headers).is_some()
        {
            return Ok(cross_origin::preflight());
        }
        let replaced = self.policy.check_token(&head)?;
        // Nobody else needs it, and what comes after may log heads.
        head.headers.remove(AUTHORIZATION);
        if self.stopping.is_cancelled() {
            return Err(Refusal::stopping());
        }
        match head.method {
            Method::POST => self.post(head, body, &replaced).await,
            Method::GET => self.listen(head, &replaced).await,
            Method::DELETE => self.end_session(head).await,
            _ => Err(wrong_method("GET, POST, DELETE")),
        }
    }

    /// A request for what is not the protocol's.
    async fn ask_site(
        &self,
        site: SharedSite,
        mut head: Parts,
        body: Incoming,
    ) -> Result<Response<Reply>, Refusal> {
        if self.stopping.is_cancelled() {
            return Err(Refusal::stopping());
        }
        let token = self.policy.check_token(&head).ok();
        let shows_token = token.is_some();
        if shows_token {
            head.headers.remove(AUTHORIZATION);
        }
        let call = permit(&self.calls, "requests")?;
        let body = {
            let _reading = permit(&self.reading, "requests")?;
            self.read(&head, body).await?
        };
        // Taken before it is known to be one: what is taken later may not be there.
        let stream = permit(&self.streams, "streams");
        let request = SiteRequest {
            head,
            body,
            shows_token,
        };
        let (response, is_stream) = site::ask(site.0, request).await;
        if !is_stream {
            return Ok(response);
        }
        drop(call);
        let held: Held = Arc::new(Holding {
            _permit: Some(stream?),
            _session: None,
        });
        Ok(response.map(|reply| {
            let reply = reply.holding(held).until(&self.stopping);
            token.iter().fold(reply, Reply::until)
        }))
    }

    /// A message of the client.
    async fn post(
        &self,
        mut head: Parts,
        body: Incoming,
        replaced: &CancellationToken,
    ) -> Result<Response<Reply>, Refusal> {
        let bytes = {
            let _reading = permit(&self.reading, "requests")?;
            self.read(&head, body).await?
        };
        let message = Message::read(&bytes)?;
        let refused = |refusal: Refusal| refusal.with_id(message.id());
        let permit = match message.kind() {
            Kind::Call => Some(permit(&self.calls, "requests").map_err(refused)?),
            Kind::Listening => Some(permit(&self.streams, "streams").map_err(refused)?),
            // The answer to a question, or the end of a call, must get through however busy the server is.
            Kind::Note => None,
        };
        // There are clients that end a call without this header, and the SDK refuses what has none. Nothing depends on it
        // for what is not answered.
        if !head.headers.contains_key(METHOD)
            && let Some(method) = message.notification()
            && let Ok(method) = HeaderValue::from_str(method)
        {
            head.headers.insert(METHOD, method);
        }
        let named = session_of(&head);
        let session = match &named {
            Some(id) => self.sessions.enter(id).await,
            None => None,
        };
        let begins_session = named.is_none() && message.begins_session();
        let asked = begins_session.then(|| asked_version(&bytes)).flatten();
        let primed = reads_priming(&head, asked.as_deref());
        let one_at_a_time = if begins_session {
            Some(self.sessions.beginning.lock().await)
        } else {
            None
        };
        if begins_session && !self.sessions.make_room().await {
            return Err(refused(Refusal::busy(
                "all sessions that this server may have are in use; try again later, or end one",
            )));
        }
        let held: Held = Arc::new(Holding {
            _permit: permit,
            _session: session,
        });
        let mut request = Request::from_parts(head, Full::new(bytes));
        // A call goes on when its client is gone; it counts until it is done.
        request
            .extensions_mut()
            .insert(Ticket(Arc::clone(&held) as _));
        let response = self.service.handle(request).await;
        if begins_session
            && let Some(id) = response.headers().get(SESSION)
            && let Ok(id) = id.to_str()
        {
            self.sessions.begun(id);
        }
        drop(one_at_a_time);
        let (response, body) = self
            .understood(response, named.as_deref(), &message)
            .await
            .map_err(refused)?;
        let mut reply = Reply::from(body).primed(primed).holding(held);
        if message.kind() == Kind::Listening {
            reply = reply.until(replaced);
        }
        Ok(Response::from_parts(response, reply))
    }

    /// A client with a session listens.
    async fn listen(
        &self,
        head: Parts,
        replaced: &CancellationToken,
    ) -> Result<Response<Reply>, Refusal> {
        let permit = permit(&self.streams, "streams")?;
        let named = session_of(&head);
        let session = match &named {
            Some(id) => self.sessions.enter(id).await,
            None => None,
        };
        let held: Held = Arc::new(Holding {
            _permit: Some(permit),
            _session: session,
        });
        let primed = reads_priming(&head, None);
        let request = Request::from_parts(head, Empty::<Bytes>::new());
        let response = self.service.handle(request).await;
        let (response, body) = self
            .understood(response, named.as_deref(), &Message::default())
            .await?;
        let reply = Reply::from(body).primed(primed).holding(held);
        let reply = reply.until(&self.stopping).until(replaced);
        Ok(Response::from_parts(response, reply))
    }

    async fn end_session(&self, head: Parts) -> Result<Response<Reply>, Refusal> {
        let named = session_of(&head);
        if let Some(id) = &named
            && self.sessions.enter(id).await.is_none()
        {
            return Err(Refusal::no_session());
        }
        let request = Request::from_parts(head, Empty::<Bytes>::new());
        let response = self.service.handle(request).await;
        let (mut response, body) = self
            .understood(response, named.as_deref(), &Message::default())
            .await?;
        if response.status.is_success() {
            // It is done, not only taken on; there are clients that warn of anything else.
            response.status = StatusCode::NO_CONTENT;
        }
        Ok(Response::from_parts(response, Reply::from(body)))
    }

    /// Reads a body that is neither too large nor too slow.
    async fn read(&self, head: &Parts, body: Incoming) -> Result<Bytes, Refusal> {
        let closing =
            |refusal: Refusal| refusal.with_header(CONNECTION, HeaderValue::from_static("close"));
        let too_large = || {
            closing(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!(
                    "the request has more than the {} bytes that this server takes",
                    self.max_body
                ),
            ))
        };
        let max = self.max_body as u64;
        // A client that asks before it sends can be told at once.
        if body.size_hint().lower() > max && head.headers.contains_key(EXPECT) {
            return Err(too_large());
        }
        tokio::select! {
            biased;
            read = tokio::time::timeout(self.patience, collect(body, self.max_body)) => match read {
                Ok(Ok(Some(bytes))) => Ok(bytes),
                Ok(Ok(None)) => Err(too_large()),
                Ok(Err(error)) => Err(closing(Refusal::new(
                    StatusCode::BAD_REQUEST,
                    format!("the request broke off: {error}"),
                ))),
                Err(_) => Err(closing(Refusal::new(
                    StatusCode::REQUEST_TIMEOUT,
                    format!(
                        "the request did not arrive within {} seconds",
                        self.patience.as_secs_f32()
                    ),
                ))),
            },
            () = self.stopping.cancelled() => Err(Refusal::stopping()),
        }
    }

    /// Turns what the SDK says in plain text into a refusal like all others.
    async fn understood(
        &self,
        response: Response<BoxBody<Bytes, Infallible>>,
        session: Option<&str>,
        message: &Message,
    ) -> Result<(hyper::http::response::Parts, BoxBody<Bytes, Infallible>), Refusal> {
        let (head, body) = response.into_parts();
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if is_json || !(head.status.is_client_error() || head.status.is_server_error()) {
            return Ok((head, body));
        }
        let Ok(text) = body.collect().await;
        let text = String::from_utf8_lossy(&text.to_bytes()).into_owned();
        let refusal = match head.status {
            StatusCode::NOT_FOUND => Refusal::no_session(),
            StatusCode::NOT_ACCEPTABLE if message.is_empty() => Refusal::new(
                head.status,
                "what is sent here is a stream of events; send `Accept: text/event-stream`",
            ),
            StatusCode::NOT_ACCEPTABLE => Refusal::new(
                head.status,
                "the answer may be JSON or a stream of events; send `Accept: application/json, text/event-stream`",
            ),
            StatusCode::UNSUPPORTED_MEDIA_TYPE if text.starts_with("Unsupported") => Refusal::new(
                head.status,
                "messages are JSON; send `Content-Type: application/json`",
            ),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Refusal::new(
                StatusCode::BAD_REQUEST,
                "the body is no message of the Model Context Protocol",
            )
            .with_code(INVALID_REQUEST),
            StatusCode::METHOD_NOT_ALLOWED => wrong_method("POST"),
            StatusCode::BAD_REQUEST
                if message.begins_session() && text.contains("Session ID is required") =>
            {
                Refusal::new(
                    head.status,
                    "the parameters of `initialize` are not understood: it takes `protocolVersion`, `capabilities` and `clientInfo`",
                )
                .with_code(INVALID_PARAMS)
            }
            StatusCode::BAD_REQUEST if text.contains("Session ID is required") => Refusal::new(
                head.status,
                "the request belongs to no session; begin one with `initialize` and name it in `Mcp-Session-Id`, or send what 2026-07-28 asks for in `_meta`",
            ),
            StatusCode::INTERNAL_SERVER_ERROR if self.has_ended(session).await => {
                Refusal::no_session()
            }
            status => Refusal::new(status, text),
        };
        Err(refusal)
    }

    /// Whether a session ended while something was on its way to it.
    async fn has_ended(&self, session: Option<&str>) -> bool {
        match session {
            Some(id) => self.sessions.enter(id).await.is_none(),
            None => false,
        }
    }
}

/// The session that a request belongs to. A stateless request belongs to none, whatever it says.
fn session_of(head: &Parts) -> Option<String> {
    let stateless = head.headers.get(VERSION).is_some_and(|version| {
        version.as_bytes() >= ProtocolVersion::V_2026_07_28.as_str().as_bytes()
    });
    if stateless {
        return None;
    }
    Some(head.headers.get(SESSION)?.to_str().ok()?.to_owned())
}

/// Whether the client reads the event without data by which a stream begins from 2025-11-25 on. Older ones take it for a
/// message, and end the connection.
fn reads_priming(head: &Parts, asked: Option<&str>) -> bool {
    let named = head
        .headers
        .get(VERSION)
        .and_then(|version| version.to_str().ok());
    let version = asked.or(named);
    version.is_some_and(|version| version >= ProtocolVersion::V_2025_11_25.as_str())
}

/// All of a body; nothing where it is too large.
async fn collect(mut body: Incoming, max: usize) -> Result<Option<Bytes>, hyper::Error> {
    let mut all = Vec::new();
    let mut size = 0usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        size = size.saturating_add(data.len());
        if size <= max {
            all.extend_from_slice(&data);
        } else {
            all = Vec::new();
        }
        if size > max.saturating_mul(THROWN_AWAY) {
            break;
        }
    }
    Ok((size <= max).then(|| Bytes::from(all)))
}

fn permit(of: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(of).try_acquire_owned().map_err(|_| {
        Refusal::busy(format!(
            "the server has as many {what} under way as it may have; try again in a moment"
        ))
    })
}

fn wrong_method(allowed: &'static str) -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("this can be asked with {allowed}"),
    )
    .with_header(ALLOW, HeaderValue::from_static(allowed))
}
