//! One call: on a thread of its own, with news, questions, and an end when nobody waits any more.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    InputRequiredResult, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::ask::{self, Said};
use super::{Adapter, Session, Shared};
use crate::client::{Abilities, Client, News};
use crate::server::Server;
use crate::stop::{Input, Problem, Stop};

/// How often a client that wants progress hears that a call which tells none is still under way.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How long a client has to tell its folders: nothing waits for a person there.
const ROOTS_TIME: Duration = Duration::from_secs(5);
/// How often one call may ask a client with a session.
const ROUNDS: usize = 10;

/// What a call came to.
pub(super) enum Called<T> {
    Answer(T),
    /// A stateless client has to answer first.
    Ask(InputRequiredResult),
}

/// Counts the calls under way, so that a process can wait for them before it ends.
#[derive(Debug)]
pub(super) struct UnderWay(tokio::sync::watch::Sender<usize>);

impl Default for UnderWay {
    fn default() -> Self {
        Self(tokio::sync::watch::Sender::new(0))
    }
}

impl UnderWay {
    fn one_more(&self) -> OneUnderWay {
        self.0.send_modify(|count| *count += 1);
        OneUnderWay(self.0.clone())
    }
}

struct OneUnderWay(tokio::sync::watch::Sender<usize>);

impl Drop for OneUnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// By what a transport counts a call: held for as long as anything works on it, also when nobody waits any more.
#[derive(Clone)]
pub(crate) struct Ticket(
    #[expect(dead_code, reason = "held, never looked at")] pub(crate) Arc<dyn Any + Send + Sync>,
);

/// Tells a call that nobody waits for it any more, also when its future is dropped.
struct GoneGuard(Arc<AtomicBool>);

impl Drop for GoneGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl<S: Server> Adapter<S> {
    /// Waits until no call is under way, on any connection.
    pub(crate) async fn all_calls_end(&self) {
        let mut count = self.shared.under_way.0.subscribe();
        // The sender lives as long as this adapter.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Makes a call that has no way to be asked back.
    pub(super) async fn just_call<T: Send + 'static>(
        &self,
        name: &str,
        context: RequestContext<RoleServer>,
        work: impl Fn(&S, &Client) -> Result<T, Stop> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        match self.call(name, Said::nothing(), context, work).await? {
            Called::Answer(answer) => Ok(answer),
            Called::Ask(_) => Err(ErrorData::internal_error(
                format!("{name} cannot ask the client anything"),
                None,
            )),
        }
    }

    /// Makes a call.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        name: &str,
        said: Said,
        context: RequestContext<RoleServer>,
        work: impl Fn(&S, &Client) -> Result<T, Stop> + Send + Sync + 'static,
    ) -> Result<Called<T>, ErrorData> {
        let can = abilities(&context);
        let stateless = is_stateless(&context);
        let ticket = ticket(&context);
        let roots = if stateless || !can.roots {
            Vec::new()
        } else {
            self.session.roots(&context).await
        };
        let given_up = Arc::new(AtomicBool::new(false));
        let _guard = GoneGuard(Arc::clone(&given_up));
        let mut answers: BTreeMap<String, Value> = said.answers.unwrap_or_default();
        let mut kept = said
            .state
            .map(|sealed| self.shared.seal.open(&sealed, &said.about))
            .transpose()?;
        let work = Arc::new(work);
        for _ in 0..ROUNDS {
            let (sender, news) = unbounded_channel();
            let client = Client {
                name: context
                    .client_info()
                    .map(|info| info.name)
                    .unwrap_or_default(),
                can,
                given_up: Arc::clone(&given_up),
                answers: std::mem::take(&mut answers),
                kept: kept.take(),
                roots: roots.clone(),
                news: Some(sender),
            };
            let round = {
                let shared = Arc::clone(&self.shared);
                let work = Arc::clone(&work);
                let under_way = self.shared.under_way.one_more();
                let ticket = ticket.clone();
                tokio::task::spawn_blocking(move || {
                    let (_under_way, _ticket) = (under_way, ticket);
                    work(&shared.server, &client)
                })
            };
            let ask = match self.await_round(name, round, news, &context).await? {
                Ok(answer) => return Ok(Called::Answer(answer)),
                Err(Stop::Problem(problem)) => return Err(told(problem)),
                Err(Stop::Ask(ask)) => ask,
            };
            ask::check(&ask, can)?;
            if stateless {
                return ask::required(&ask, &self.shared.seal, &said.about).map(Called::Ask);
            }
            answers = tokio::select! {
                answers = ask::in_session(&ask, &context) => answers?,
                () = self.shared.stopping.cancelled() => {
                    return Err(ErrorData::internal_error(
                        format!("{name} could not ask the client, because the server is stopping; call it again later"),
                        None,
                    ));
                }
            };
            kept = ask.keep;
        }
        Err(ErrorData::internal_error(
            format!("{name} asked the client {ROUNDS} times without coming to an end"),
            None,
        ))
    }

    /// Waits for a call, and passes on what it tells meanwhile.
    async fn await_round<T>(
        &self,
        name: &str,
        mut round: tokio::task::JoinHandle<Result<T, Stop>>,
        mut news: UnboundedReceiver<News>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<T, Stop>, ErrorData> {
        let began = tokio::time::Instant::now();
        let mut heartbeat = tokio::time::interval_at(began + HEARTBEAT, HEARTBEAT);
        let mut telling = true;
        let mut told_itself = false;
        loop {
            tokio::select! {
                // News first: what a call told must arrive before its answer.
                biased;
                one = news.recv(), if telling => match one {
                    Some(News::Progress { done, total, message }) => {
                        told_itself = true;
                        progress(context, done, total, message).await;
                    }
                    Some(News::Log(data)) => self.log(context, data).await,
                    None => telling = false,
                },
                done = &mut round => {
                    return done.map_err(|error| {
                        tracing::error!(call = name, %error, "a call ended badly");
                        ErrorData::internal_error(
                            format!("{name} ended badly; this is a fault of the server, and nothing says that it was done"),
                            None,
                        )
                    });
                }
                () = context.ct.cancelled() => {
                    return Err(ErrorData::internal_error(format!("{name} was cancelled"), None));
                }
                _ = heartbeat.tick(), if !told_itself => {
                    let seconds = began.elapsed().as_secs();
                    #[expect(clippy::cast_precision_loss, reason = "seconds of one call")]
                    progress(context, seconds as f64, None, format!("{name}: under way for {seconds} s")).await;
                }
            }
        }
    }

    async fn log(&self, context: &RequestContext<RoleServer>, data: Value) {
        let wanted = if is_stateless(context) {
            // Without being asked for, nothing may be logged.
            let Some(level) = context.meta.log_level() else {
                return;
            };
            Some(level)
        } else {
            *self
                .session
                .level
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if wanted.is_some_and(|level| level as u8 > LoggingLevel::Info as u8) {
            return;
        }
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, data)
            .with_logger(self.shared.config.server_info.name.clone());
        // Whoever is gone reads no log.
        let _ = context.peer.notify_logging_message(message).await;
    }
}

impl<S> Shared<S> {
    /// The client of a call that nobody made: for looking whether something changed.
    pub(super) fn watcher(roots: Vec<PathBuf>) -> Client {
        Client {
            name: String::new(),
            can: Abilities::default(),
            given_up: Arc::default(),
            answers: BTreeMap::new(),
            kept: None,
            roots,
            news: None,
        }
    }
}

impl Session {
    /// The folders that the client works on, asked once and again when it says that they changed.
    pub(super) async fn roots(&self, context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
        let mut known = self.roots.lock().await;
        if let Some(roots) = &*known {
            return roots.clone();
        }
        let asked = tokio::time::timeout(ROOTS_TIME, ask::one(&Input::Roots, context)).await;
        let roots: Vec<PathBuf> = asked
            .ok()
            .and_then(Result::ok)
            .as_ref()
            .and_then(|answer| answer.get("roots")?.as_array())
            .into_iter()
            .flatten()
            .filter_map(|root| folder(root.get("uri")?.as_str()?))
            .collect();
        *known = Some(roots.clone());
        roots
    }
}

/// The folder that a `file:` URI names.
fn folder(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut input = rest.bytes();
    while let Some(byte) = input.next() {
        if byte == b'%' {
            let digits = [input.next()?, input.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Whether a request belongs to the era that has no sessions.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn ticket(context: &RequestContext<RoleServer>) -> Option<Ticket> {
    let head = context.extensions.get::<hyper::http::request::Parts>()?;
    head.extensions.get::<Ticket>().cloned()
}

fn abilities(context: &RequestContext<RoleServer>) -> Abilities {
    let Some(capabilities) = context.client_capabilities() else {
        return Abilities::default();
    };
    Abilities {
        // A client that names neither form nor URL can do forms: that is what the capability began as.
        forms: capabilities
            .elicitation
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none()),
        sampling: capabilities.sampling.is_some(),
        roots: capabilities.roots.is_some(),
    }
}

async fn progress(
    context: &RequestContext<RoleServer>,
    done: f64,
    total: Option<f64>,
    message: String,
) {
    if let Some(token) = context.meta.get_progress_token() {
        let mut note = ProgressNotificationParam::new(token, done).with_message(message);
        note.total = total;
        // Whoever is gone needs no progress.
        let _ = context.peer.notify_progress(note).await;
    }
}

fn told(problem: Problem) -> ErrorData {
    match problem {
        Problem::Invalid(message) => ErrorData::invalid_params(message, None),
        Problem::NoResource(uri) => ErrorData::resource_not_found(
            format!("there is no resource {uri}"),
            Some(serde_json::json!({ "uri": uri })),
        ),
        Problem::Internal(message) => ErrorData::internal_error(message, None),
    }
}

#[cfg(test)]
mod tests {
    use super::folder;
    use std::path::PathBuf;

    #[test]
    fn a_file_uri_names_a_folder() {
        for (uri, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("https://a/b", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
