//! Serving one client over standard input and output.
//!
//! One JSON value a line, in both directions. What is no message gets an error and nothing else happens: a line that is
//! no JSON, one that is too long, a request that is malformed. The SDK's own transport leaves most of these unanswered.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::adapter::Adapter;
use crate::server::Server;

/// The longest line that is read. Nothing that a client has to say comes near it.
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;
/// How long everything may take that is under way when the client is gone or the process is told to stop.
pub(crate) const LAST_CALLS: Duration = Duration::from_secs(30);
/// How long a call may take to begin that was read before the end.
const BEGINS: Duration = Duration::from_millis(20);
/// Calls that may block at the same time; more wait for a thread.
pub(crate) const THREADS: usize = 128;
/// As much as the main thread of a process has.
pub(crate) const STACK: usize = 8 * 1024 * 1024;

/// Serves the client at the other end of standard input and output, until it closes its end or the process is told to
/// stop (SIGTERM, SIGINT).
pub fn serve<S: Server>(server: S) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .thread_stack_size(STACK)
        .build()?;
    let result = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let (read, write) = rmcp::transport::io::stdio_pipes();
        serve_lines(Adapter::new(server), read, write, async || {
            signals.next().await;
        })
        .await
    });
    // A thread that still waits for standard input would wait for ever.
    runtime.shutdown_background();
    result
}

/// Serves the client at the other end of these, until it closes its end or the server is told to stop.
pub(crate) async fn serve_lines<S: Server, R, W>(
    adapter: Adapter<S>,
    read: R,
    write: W,
    mut told_to_stop: impl AsyncFnMut(),
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let hearing = Hearing::default();
    let lines = Lines::new(read, write, LONGEST_LINE, hearing.clone());
    let mut serving = std::pin::pin!(session(adapter.clone(), lines));
    let (ended, goes_on) = tokio::select! {
        result = &mut serving => (Some(result), false),
        // The client says nothing more, and may still listen.
        () = hearing.over.cancelled() => (None, true),
        () = told_to_stop() => (None, true),
    };
    // Nobody can answer a question any more.
    adapter.stopping().cancel();
    let rest = async {
        if goes_on {
            // What was read last may not have begun yet.
            tokio::time::sleep(BEGINS).await;
            // Calls that are under way are answered, so the connection must not end before them.
            hearing.nothing_more.cancel();
            adapter.all_calls_end().await;
            hearing.end.cancel();
        }
        let result = match ended {
            Some(result) => result,
            None => serving.await,
        };
        adapter.all_calls_end().await;
        result
    };
    tokio::select! {
        result = rest => result,
        // One limit for all of it: also for answers that the client does not read.
        () = tokio::time::sleep(LAST_CALLS) => {
            tracing::warn!("the connection was cut: a call took too long, or its answer was not read");
            Ok(())
        }
        // To be told again means it.
        () = told_to_stop() => Ok(()),
    }
}

/// Serves one connection to its end.
async fn session<S: Server, R, W>(adapter: Adapter<S>, lines: Lines<R, W>) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match rmcp::service::serve_server(adapter, lines).await {
        Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
        // A client that says nothing and leaves is no fault.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The signals that ask a process to stop. A hangup does where the terminal is gone that the process was started from, once:
/// both the shell and the system may send it. Else it is nothing: who is at the other end of a pipe closes that.
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    has_terminal: bool,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            has_terminal: io::stdin().is_terminal(),
        })
    }

    pub(crate) async fn next(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    let had_terminal = self.has_terminal;
                    self.has_terminal = had_terminal && io::stdin().is_terminal();
                    if had_terminal && !self.has_terminal {
                        return;
                    }
                }
            }
        }
    }
}

/// How long the client is listened to.
#[derive(Debug, Clone, Default)]
struct Hearing {
    /// Set when the client has closed its end.
    over: CancellationToken,
    /// Nothing more is read, but the connection stands, for answers that are still to come.
    nothing_more: CancellationToken,
    /// It ends as if the client had closed its end.
    end: CancellationToken,
}

/// Messages, one a line.
struct Lines<R, W> {
    hearing: Hearing,
    read: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    /// A line that was too long is being read to its end.
    discarding: bool,
    write: Arc<Mutex<Option<W>>>,
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Answers at once. Not here, since a `receive` may be dropped half-way.
    fn reply(&self, reply: TxJsonRpcMessage<RoleServer>) {
        let write = Arc::clone(&self.write);
        tokio::spawn(async move {
            if let Err(error) = put(&write, &reply).await {
                tracing::debug!(%error, "an error could not be sent");
            }
        });
    }

    fn new(read: R, write: W, longest: usize, hearing: Hearing) -> Self {
        Self {
            hearing,
            read: BufReader::with_capacity(64 * 1024, read),
            line: Vec::new(),
            longest,
            discarding: false,
            write: Arc::new(Mutex::new(Some(write))),
        }
    }

    /// Reads up to the end of a line. May be dropped at any await and called again.
    async fn next_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.discarding {
                if self.line.len() + taken > self.longest {
                    self.discarding = true;
                    self.line = Vec::new();
                } else {
                    self.line.extend_from_slice(&available[..taken]);
                }
            }
            self.read.consume(taken);
            if end.is_some() {
                return Ok(if std::mem::take(&mut self.discarding) {
                    Line::TooLong
                } else {
                    Line::Whole
                });
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            match put(&write, &message).await {
                // A client that is gone reads nothing, and its end of the other pipe tells of it soon enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    tracing::debug!("the client reads no more");
                    Ok(())
                }
                put => put,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let hearing = self.hearing.clone();
            let line = tokio::select! {
                biased;
                () = hearing.nothing_more.cancelled() => {
                    hearing.end.cancelled().await;
                    return None;
                }
                line = self.next_line() => line,
            };
            match line {
                Ok(Line::Whole) => {}
                Ok(Line::TooLong) => {
                    self.reply(refusal(
                        None,
                        ErrorCode::INVALID_REQUEST,
                        format!("a message is longer than {} bytes", self.longest),
                    ));
                    continue;
                }
                Ok(Line::End) => {
                    hearing.over.cancel();
                    // The SDK gives what is under way a few seconds from here on.
                    hearing.end.cancelled().await;
                    return None;
                }
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    hearing.over.cancel();
                    return None;
                }
            }
            let read = message(&self.line);
            self.line.clear();
            match read {
                Read::Message(message) => return Some(*message),
                Read::Nothing => {}
                Read::Refused(reply) => self.reply(*reply),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        let write = self.write.lock().await.take();
        match write {
            Some(mut write) => write.shutdown().await,
            None => Ok(()),
        }
    }
}

async fn put<W: AsyncWrite + Unpin>(
    write: &Mutex<Option<W>>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    let mut write = write.lock().await;
    let Some(write) = write.as_mut() else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    write.write_all(&bytes).await?;
    write.flush().await
}

/// What a line came to.
enum Read {
    Message(Box<ClientJsonRpcMessage>),
    Nothing,
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
}

fn message(line: &[u8]) -> Read {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Read::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Read::Message(message),
        Err(error) if error.is_data() => malformed(line),
        Err(error) => refused(
            None,
            ErrorCode::PARSE_ERROR,
            format!("a message is no JSON: {error}"),
        ),
    }
}

/// JSON that is no message, or not one of those that are known.
fn malformed(line: &[u8]) -> Read {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return refused(
                None,
                ErrorCode::PARSE_ERROR,
                format!("a message is no JSON: {error}"),
            );
        }
    };
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let is_ours = value.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let method = value
        .get("method")
        .and_then(Value::as_str)
        .filter(|_| is_ours);
    match (method, &id) {
        (Some(method), Some(_)) => {
            let text = format!("the parameters of {method} are not what it takes");
            refused(id, ErrorCode::INVALID_PARAMS, text)
        }
        // A notification has no answer, not even a bad one; and one that is unknown is no fault.
        (Some(_), None) if value.get("id").is_none() => Read::Nothing,
        // An answer to something that was never asked.
        (None, Some(_)) if value.get("result").is_some() || value.get("error").is_some() => {
            Read::Nothing
        }
        _ if value.is_array() => refused(
            None,
            ErrorCode::INVALID_REQUEST,
            "several messages in one line are not taken; send one a line".to_owned(),
        ),
        _ => refused(
            id,
            ErrorCode::INVALID_REQUEST,
            "this is no JSON-RPC message: `\"jsonrpc\": \"2.0\"`, `id` and `method` are needed"
                .to_owned(),
        ),
    }
}

fn refused(id: Option<RequestId>, code: ErrorCode, message: String) -> Read {
    Read::Refused(Box::new(refusal(id, code, message)))
}

fn refusal(
    id: Option<RequestId>,
    code: ErrorCode,
    message: String,
) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::error(ErrorData::new(code, message, None), id)
}
