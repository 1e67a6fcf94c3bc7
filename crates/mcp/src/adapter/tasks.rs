//! Calls that take long, as tasks: a client that knows of them (the extension `io.modelcontextprotocol/tasks`, SEP-2663) gets a
//! handle after a while instead of waiting, asks by it how far the call is, answers what it asks, and may take it back.
//!
//! A call that is quick is answered as ever, and so is every call of a client that does not name the extension. Tasks live as long
//! as the process: what a call did before it ended stands where the server keeps it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, InputRequiredResult, InputResponses,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::ask::RoundReply;
use super::call::{CallOutcome, Does};
use super::{Adapter, convert};
use crate::client::Client;
use crate::server::{Server, ToolAnswer};
use crate::stop::Stop;

/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 2_000;
/// How long a task may take, and its outcome is kept after that, in milliseconds: six hours.
const KEPT_MS: u64 = 6 * 60 * 60 * 1_000;

/// The tasks of a process.
#[derive(Default)]
pub(super) struct Tasks(pub(super) TaskManager);

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tasks")
    }
}

/// In the extensions of a request: whether it has been answered, so that nothing more is told of its progress.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered(Arc<AtomicBool>);

impl Answered {
    /// Whether a request was answered already, with a task.
    pub(super) fn is(context: &RequestContext<RoleServer>) -> bool {
        let answered = context.extensions.get::<Self>();
        answered.is_some_and(|answered| answered.0.load(Ordering::Acquire))
    }
}

/// A call of a tool, which may be made again once the client has answered what it asked.
#[derive(Debug)]
pub(super) struct ToolCall<W> {
    pub(super) name: String,
    pub(super) does: Does,
    /// What the call is about, for which a state is sealed.
    pub(super) about: Vec<u8>,
    pub(super) work: W,
}

type Outcome = Result<CallOutcome<ToolAnswer>, ErrorData>;

impl<S: Server> Adapter<S> {
    /// Makes a call, and makes a task of it where it takes long.
    pub(super) async fn call_or_task<W>(
        &self,
        call: ToolCall<W>,
        said: RoundReply,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData>
    where
        W: Fn(&S, &Client) -> Result<ToolAnswer, Stop> + Clone + Send + Sync + 'static,
    {
        let taken_back = context.ct.clone();
        // The call ends with this token: by its request before it is a task, by the task from then on, and with both of them.
        let token = CancellationToken::new();
        let ends = token.clone().drop_guard();
        let answered = Answered::default();
        let mut context = context;
        context.ct = token.clone();
        context.extensions.insert(answered.clone());
        let call = Arc::new(call);
        let mut under_way = self.begin(&call, said, context.clone());
        tokio::select! {
            done = &mut under_way => return Ok(match ended(done)? {
                CallOutcome::Answer(answer) => convert::answer(answer).into(),
                CallOutcome::Ask(required) => required.into(),
            }),
            () = taken_back.cancelled() => {
                token.cancel();
                return Err(ErrorData::internal_error(format!("{} was cancelled", call.name), None));
            }
            () = tokio::time::sleep(self.shared.server.task_after()) => {}
        }
        let options = TaskOptions::new()
            .with_ttl_ms(KEPT_MS)
            .with_poll_interval_ms(POLL_MS)
            .with_status_message(format!("{} is under way", call.name));
        let adapter = self.clone();
        let task = self.shared.tasks.0.spawn(options, move |task| {
            Box::pin(async move {
                let _ends = ends;
                tokio::select! {
                    done = adapter.to_its_end(&task, &call, under_way, &context) => done,
                    () = task.cancelled() => {
                        token.cancel();
                        Err(TaskExit::Cancelled)
                    }
                }
            })
        });
        answered.0.store(true, Ordering::Release);
        Ok(CreateTaskResult::new(task).into())
    }

    fn begin<W>(
        &self,
        call: &Arc<ToolCall<W>>,
        said: RoundReply,
        context: RequestContext<RoleServer>,
    ) -> JoinHandle<Outcome>
    where
        W: Fn(&S, &Client) -> Result<ToolAnswer, Stop> + Clone + Send + Sync + 'static,
    {
        let (adapter, call) = (self.clone(), Arc::clone(call));
        tokio::spawn(async move {
            let work = call.work.clone();
            adapter
                .call(&call.name, call.does, said, context, work)
                .await
        })
    }

    /// Waits for a call that is a task, and makes it again as often as it asks the client something.
    async fn to_its_end<W>(
        &self,
        task: &TaskContext,
        call: &Arc<ToolCall<W>>,
        mut under_way: JoinHandle<Outcome>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, TaskExit>
    where
        W: Fn(&S, &Client) -> Result<ToolAnswer, Stop> + Clone + Send + Sync + 'static,
    {
        for round in 0_u32.. {
            let required = match ended((&mut under_way).await)? {
                CallOutcome::Answer(answer) => return Ok(convert::answer(answer)),
                CallOutcome::Ask(required) => required,
            };
            let InputRequiredResult {
                input_requests,
                request_state,
                ..
            } = required;
            let mut asked = JoinSet::new();
            for (key, request) in input_requests.into_iter().flatten() {
                let task = task.clone();
                asked.spawn(async move {
                    // The keys of one task may not come again.
                    let answer = task.request_input(format!("{key}-{round}"), request);
                    answer.await.map(|answer| (key, answer))
                });
            }
            let mut answers = InputResponses::new();
            while let Some(answered) = asked.join_next().await {
                let (key, answer) = answered.map_err(|_| TaskExit::Cancelled)??;
                answers.insert(key, answer);
            }
            let said = RoundReply {
                answers: Some(answers),
                state: request_state,
                about: call.about.clone(),
            };
            under_way = self.begin(call, said, context.clone());
        }
        Err(TaskExit::Cancelled)
    }
}

/// What a call came to; a fault of the server where it ended badly.
fn ended(done: Result<Outcome, tokio::task::JoinError>) -> Outcome {
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "a call ended badly");
        let message = "the call ended badly; this is a fault of the server, and nothing says that it was done";
        Err(ErrorData::internal_error(message, None))
    })
}
