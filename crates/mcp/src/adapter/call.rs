//! One call: on a thread of its own, with news, questions, and an end when nobody waits any more.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, InputRequiredResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

use super::ask::{self, RoundReply};
use super::folders;
use super::tasks::Answered;
use super::{Adapter, Shared};
use crate::client::{Bond, Client, ClientAbilities, MissingRoots, Notice};
use crate::server::Server;
use crate::stdio::THREADS;
use crate::stop::{Problem, Stop};

/// How long calls may still wait for their turn when the connection ends.
const LAST_TURNS: Duration = Duration::from_secs(5);
/// By how much progress grows at least from one message to the next.
const SLIGHTLY: f64 = 0.001;
/// How often a client that wants progress hears that a call which tells none is still under way.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How many calls that may change something are worked on at the same time; more wait in line. They may have to wait for
/// one another, so without a limit they could take all threads from those that only look.
const WORKING: usize = THREADS / 2;
/// How often one call may ask a client with a session.
const ROUNDS: usize = 10;

/// What a call does, as far as others have to mind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It only looks, so it never has to wait for others.
    Look,
    /// It may change something, and wait for its turn to.
    Change,
}

/// The line in which calls wait that may change something.
#[derive(Debug)]
pub(super) struct Line(Arc<Semaphore>);

impl Default for Line {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(WORKING)))
    }
}

impl Line {
    /// What to hold while at work. Nobody has it after whoever waits for it here is gone.
    async fn turn(&self, does: Does) -> Option<OwnedSemaphorePermit> {
        match does {
            Does::Look => None,
            // The line is never closed.
            Does::Change => Arc::clone(&self.0).acquire_owned().await.ok(),
        }
    }
}

/// What a call came to.
pub(super) enum CallOutcome<T> {
    Answer(T),
    /// A stateless client has to answer first.
    Ask(InputRequiredResult),
}

/// Counts the calls under way, so that a process can wait for them before it ends.
#[derive(Debug)]
pub(super) struct CallsInProgress(tokio::sync::watch::Sender<usize>);

impl Default for CallsInProgress {
    fn default() -> Self {
        Self(tokio::sync::watch::Sender::new(0))
    }
}

impl CallsInProgress {
    fn one_more(&self) -> Arc<CallInProgress> {
        self.0.send_modify(|count| *count += 1);
        Arc::new(CallInProgress(self.0.clone()))
    }
}

struct CallInProgress(tokio::sync::watch::Sender<usize>);

impl Drop for CallInProgress {
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
struct PartOnDrop(Arc<Bond>);

impl Drop for PartOnDrop {
    fn drop(&mut self) {
        self.0.part();
    }
}

impl<S: Server> Adapter<S> {
    /// Waits until no call is under way, on any connection.
    pub(crate) async fn all_calls_end(&self) {
        let mut count = self.shared.under_way.0.subscribe();
        // The sender lives as long as this adapter.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Makes a call that only looks, and has no way to be asked back.
    pub(super) async fn just_call<T: Send + 'static>(
        &self,
        name: &str,
        context: RequestContext<RoleServer>,
        work: impl Fn(&S, &Client) -> Result<T, Stop> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        match self
            .call(name, Does::Look, RoundReply::nothing(), context, work)
            .await?
        {
            CallOutcome::Answer(answer) => Ok(answer),
            CallOutcome::Ask(_) => Err(ErrorData::internal_error(
                format!("{name} cannot ask the client anything"),
                None,
            )),
        }
    }

    /// Makes a call.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        name: &str,
        does: Does,
        said: RoundReply,
        context: RequestContext<RoleServer>,
        work: impl Fn(&S, &Client) -> Result<T, Stop> + Send + Sync + 'static,
    ) -> Result<CallOutcome<T>, ErrorData> {
        let can = abilities(&context);
        let stateless = is_stateless(&context);
        let ticket = ticket(&context);
        let under_way = self.shared.under_way.one_more();
        let roots = if stateless || !can.roots {
            Ok(Vec::new())
        } else {
            folders::ask_client(&context, &self.shared.stopping).await
        };
        let bond = Arc::<Bond>::default();
        let _guard = PartOnDrop(Arc::clone(&bond));
        let mut answers: BTreeMap<String, Value> = said.answers.unwrap_or_default();
        let mut kept = said
            .state
            .map(|sealed| self.shared.seal.open(&sealed, &said.about))
            .transpose()?;
        let work = Arc::new(work);
        for _ in 0..ROUNDS {
            let (sender, news) = unbounded_channel();
            let (client_name, version) = context
                .client_info()
                .map(|info| (info.name, info.version))
                .unwrap_or_default();
            let client = Client {
                name: client_name,
                version,
                can,
                bond: Arc::clone(&bond),
                answers: std::mem::take(&mut answers),
                kept: kept.take(),
                roots: roots.clone(),
                news: Some(sender),
            };
            let round = {
                let shared = Arc::clone(&self.shared);
                let work = Arc::clone(&work);
                let held = (Arc::clone(&under_way), ticket.clone());
                async move {
                    let turn = shared.line.turn(does).await;
                    tokio::task::spawn_blocking(move || {
                        let _held = (held, turn);
                        // It may have waited for a thread.
                        if client.is_gone() {
                            return Err(
                                Problem::Internal("the call was cancelled".to_owned()).into()
                            );
                        }
                        work(&shared.server, &client)
                    })
                    .await
                }
            };
            let ask = match self.await_round(name, round, news, &context, &bond).await? {
                Ok(answer) => return Ok(CallOutcome::Answer(answer)),
                Err(Stop::Problem(problem)) => return Err(error_data(problem)),
                Err(Stop::Ask(ask)) => ask,
            };
            ask::check(&ask, can)?;
            if stateless {
                return ask::required(&ask, &self.shared.seal, &said.about).map(CallOutcome::Ask);
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
        round: impl Future<Output = Result<Result<T, Stop>, JoinError>>,
        mut news: UnboundedReceiver<Notice>,
        context: &RequestContext<RoleServer>,
        bond: &Bond,
    ) -> Result<Result<T, Stop>, ErrorData> {
        let mut patience = std::pin::pin!(async {
            self.shared.stopping.cancelled().await;
            tokio::time::sleep(LAST_TURNS).await;
        });
        let mut waits = true;
        let mut round = std::pin::pin!(round);
        let began = tokio::time::Instant::now();
        let mut heartbeat = tokio::time::interval_at(began + HEARTBEAT, HEARTBEAT);
        let mut telling = true;
        let mut told_itself = false;
        let (mut said, mut last) = (name.to_owned(), 0.0_f64);
        loop {
            tokio::select! {
                // News first: what a call told must arrive before its answer.
                biased;
                one = news.recv(), if telling => match one {
                    Some(Notice::Progress { done, total, message }) => {
                        // Where it is not known how much there is, it is told how long it takes.
                        told_itself = total.is_some();
                        let far = if told_itself { done } else { began.elapsed().as_secs_f64() };
                        // The protocol wants each to be more than the one before.
                        last = if far > last { far } else { last + SLIGHTLY };
                        progress(context, last, total, message.clone()).await;
                        said = message;
                    }
                    Some(Notice::Log(data)) => self.log(context, data).await,
                    None => telling = false,
                },
                () = context.ct.cancelled() => {
                    return Err(ErrorData::internal_error(format!("{name} was cancelled"), None));
                }
                () = &mut patience, if waits => {
                    waits = false;
                    bond.end_waiting();
                }
                done = &mut round => {
                    return done.map_err(|error| {
                        tracing::error!(call = name, %error, "a call ended badly");
                        ErrorData::internal_error(
                            format!("{name} ended badly; this is a fault of the server, and nothing says that it was done"),
                            None,
                        )
                    });
                }
                _ = heartbeat.tick(), if !told_itself => {
                    let elapsed = began.elapsed();
                    last = last.max(elapsed.as_secs_f64());
                    progress(context, last, None, format!("{said}: under way for {} s", elapsed.as_secs())).await;
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
    pub(super) fn watcher(roots: Result<Vec<PathBuf>, MissingRoots>) -> Client {
        Client {
            name: String::new(),
            version: String::new(),
            can: ClientAbilities::default(),
            bond: Arc::default(),
            answers: BTreeMap::new(),
            kept: None,
            roots,
            news: None,
        }
    }
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

pub(super) fn abilities(context: &RequestContext<RoleServer>) -> ClientAbilities {
    let Some(capabilities) = context.client_capabilities() else {
        return ClientAbilities::default();
    };
    ClientAbilities {
        tasks: is_stateless(context) && capabilities.supports_tasks(),
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
    if Answered::is(context) {
        return;
    }
    if let Some(token) = context.meta.get_progress_token() {
        let mut note = ProgressNotificationParam::new(token, done).with_message(message);
        note.total = total;
        // Whoever is gone needs no progress.
        let _ = context.peer.notify_progress(note).await;
    }
}

fn error_data(problem: Problem) -> ErrorData {
    match problem {
        Problem::Invalid(message) => ErrorData::invalid_params(message, None),
        Problem::NoResource(uri) => ErrorData::resource_not_found(
            format!("there is no resource {uri}"),
            Some(serde_json::json!({ "uri": uri })),
        ),
        Problem::NeedsTasks => ErrorData::missing_required_client_capability(
            ClientCapabilities::builder().enable_tasks().build(),
        ),
        Problem::Internal(message) => ErrorData::internal_error(message, None),
    }
}
