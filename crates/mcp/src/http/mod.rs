//! Serving many clients over streamable HTTP.
//!
//! The protocol is at `/mcp`, in both eras; `/healthz` says whether the server is up. A request is checked in this
//! order, and the first check that fails answers it: the host it names, the page it comes from, the token, how much is
//! under way, its body. Everything else is the site's ([`Site`]), where there is one: pages for a person, of this very origin alone. No page of another origin gets
//! as far as the token.
//!
//! | module | what it holds |
//! |---|---|
//! | `serving` | the listener, its connections, and their end |
//! | `handler` | one request, from its head to its answer |
//! | `access_policy` | host, origin and token |
//! | `message` | what can be told of a message before the protocol looks at it |
//! | `sessions` | how many sessions there are, and when they end |
//! | `site`, `priority` | pages beside the protocol, which give way to calls |
//! | `refusal`, `reply` | what goes back |
//! | `connection_limit` | which connection makes room where there are too many |
//! | `write_timeout` | what happens to clients that do not read it |
//! | `token` | the secret that a client has to know |

mod access_policy;
mod connection_limit;
mod cross_origin;
mod handler;
mod message;
mod priority;
mod refusal;
mod reply;
mod serving;
mod sessions;
mod site;
mod token;
mod write_timeout;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::server::Server;
use crate::stdio::{STACK, THREADS};
use sessions::InUse;

pub use hyper::body::Bytes;
pub use hyper::{Method, Response, StatusCode, header};
pub use site::{NotRead, Site, SiteBody, SiteRequest, StreamReceiver, StreamSender};
pub use token::{Token, TokenError};

/// How long threads that nobody waits for may still take when all calls are answered.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// What clients have to show as `Authorization: Bearer TOKEN`. Without one, whoever reaches the address is served.
    pub token: Option<Token>,
    /// The names under which the server may be called, such as `localhost` or `tm.example:8080`; without a port, any
    /// port will do. What it is called by is in the `Host` of each request; a page that was made to believe that this
    /// machine is its own server gives itself away there.
    pub hosts: Vec<String>,
    /// The origins that may send requests, such as `http://localhost:3000`. Programs send none; browsers always do.
    pub origins: Vec<String>,
    /// How large a request may be, in bytes.
    pub max_body: usize,
    /// How many requests may be under way; others are answered with 503.
    pub max_requests: usize,
    /// How many clients may listen for changes; others are answered with 503.
    pub max_streams: usize,
    /// How many sessions there may be. A new one takes the place of the one that was idle for longest, and is answered
    /// with 503 where none is idle.
    pub max_sessions: usize,
    /// How long a session may be idle. One that is listened to is not.
    pub session_idle: Duration,
    /// How long a client may take to send the head of a request, to send its body, and to go on reading an answer.
    pub patience: Duration,
    /// How long calls that are under way may still take when the server is told to stop.
    pub grace: Duration,
    /// Stops the server.
    pub switch: Switch,
    /// Whether SIGTERM and SIGINT stop the server, too, and SIGHUP where its terminal is gone.
    pub signals: bool,
    /// What answers for everything that is not the protocol's; nothing, where there is none.
    pub site: Option<SharedSite>,
}

/// A site, shared by all connections.
#[derive(Clone)]
pub struct SharedSite(pub Arc<dyn Site>);

impl std::fmt::Debug for SharedSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedSite")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            token: None,
            hosts: ["localhost", "127.0.0.1", "[::1]"]
                .map(str::to_owned)
                .to_vec(),
            origins: Vec::new(),
            max_body: 4 * 1024 * 1024,
            max_requests: 256,
            max_streams: 256,
            max_sessions: 256,
            session_idle: Duration::from_mins(30),
            patience: Duration::from_secs(30),
            grace: Duration::from_secs(30),
            switch: Switch::default(),
            signals: true,
            site: None,
        }
    }
}

/// Stops a server from another thread.
#[derive(Debug, Clone, Default)]
pub struct Switch {
    stop: CancellationToken,
    at_once: CancellationToken,
}

impl Switch {
    /// Asks the server to stop: nothing new is taken on, what is under way is answered. Asked again, it stops at once.
    pub fn stop(&self) {
        if self.stop.is_cancelled() {
            self.at_once.cancel();
        }
        self.stop.cancel();
    }

    async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    async fn stopped_at_once(&self) {
        self.at_once.cancelled().await;
    }
}

/// Serves on these listeners, and tells `ready` the address of the first as soon as it does. Returns when the server was stopped
/// and all calls that were under way have been answered.
///
/// An error of the kind `Interrupted` says that it was told twice to stop, one of the kind `TimedOut` that calls took
/// longer than [`Options::grace`]: in both cases some calls may have got no answer.
pub fn serve<S: Server>(
    server: S,
    listeners: Vec<TcpListener>,
    options: Options,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .thread_stack_size(STACK)
        .thread_name("mcp-call")
        .build()?;
    let result = runtime.block_on(serving::serve(server, listeners, options, ready));
    match result {
        Ok(()) => runtime.shutdown_timeout(LAST_THREADS),
        Err(_) => runtime.shutdown_background(),
    }
    result
}

/// What is held while something is under way, and let go by being dropped.
#[derive(Debug)]
struct Holding {
    _permit: Option<OwnedSemaphorePermit>,
    _session: Option<InUse>,
}

/// Held by the answer, and by the call itself.
type Held = Arc<Holding>;
