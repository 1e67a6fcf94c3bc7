//! The listener, its connections, and their end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::access_policy::AccessPolicy;
use super::connection_limit::{IdleConnections, Place};
use super::handler::Handler;
use super::write_timeout::WriteTimeout;
use super::{Options, Switch};
use crate::adapter::Adapter;
use crate::server::Server;
use crate::stdio::Signals;

/// The longest head of a request.
const HEAD: usize = 64 * 1024;
/// Connections beyond those that calls and streams may take: for health checks, notifications, and refusals.
const SPARE_CONNECTIONS: usize = 128;
/// How often the token is read where nobody sends anything.
const TOKEN_LOOKS: Duration = Duration::from_secs(1);
/// How long to wait when the system gives no more connections.
const OUT_OF_FILES: Duration = Duration::from_millis(100);

/// Serves until it is told to stop.
pub(super) async fn serve<S: Server>(
    server: S,
    listeners: Vec<TcpListener>,
    options: Options,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let policy = AccessPolicy::new(&options)?;
    if !(1..=Semaphore::MAX_PERMITS).contains(&options.max_requests)
        || options.max_streams > Semaphore::MAX_PERMITS
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the number of requests or of streams that are allowed makes no sense",
        ));
    }
    let listeners = listeners.into_iter().map(|listener| {
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    });
    let listeners = listeners.collect::<io::Result<Vec<_>>>()?;
    let first = listeners.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let address = first.local_addr()?;
    // Before anybody can know that the server is up, so that no signal is lost.
    let signals = options.signals.then(Signals::new).transpose()?;
    let watching = tokio::spawn(watch(signals, options.switch.clone()));
    let adapter = Adapter::new(server);
    let stopping = adapter.stopping().clone();
    let ended = CancellationToken::new();
    let handler = Arc::new(Handler::new(
        adapter.clone(),
        policy,
        &options,
        ended.clone(),
    ));
    let most_connections = options
        .max_requests
        .saturating_add(options.max_streams)
        .saturating_add(SPARE_CONNECTIONS);
    let mut connections = JoinSet::new();
    let silent = Arc::<IdleConnections>::default();
    ready(address);

    {
        let mut token_looks = tokio::time::interval(TOKEN_LOOKS);
        let mut ending_idle = std::pin::pin!(handler.sessions.end_idle_ones());
        loop {
            let is_room = connections.len() < most_connections;
            tokio::select! {
                biased;
                () = options.switch.stopped() => break,
                _ = connections.join_next(), if !connections.is_empty() => {}
                () = silent.one(), if !is_room && silent.is_empty() => {}
                accepted = accept(&listeners), if is_room || !silent.is_empty() => match accepted {
                    Ok(stream) => {
                        if !is_room {
                            silent.end_oldest();
                        }
                        let end = stopping.child_token();
                        let place = silent.enter(end.clone());
                        let handler = Arc::clone(&handler);
                        connections.spawn(connection(stream, handler, options.patience, place, end));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be taken");
                        if !is_about_one_connection(&error) {
                            tokio::time::sleep(OUT_OF_FILES).await;
                        }
                    }
                },
                () = &mut ending_idle => {}
                // Who listens sends nothing by which a new token would be seen.
                _ = token_looks.tick() => drop(handler.policy.read_token()),
            }
        }
    }

    drop(listeners);
    stopping.cancel();
    let all_done = async {
        while connections.join_next().await.is_some() {}
        // A client that is gone needs no answer, but what it asked for is finished all the same.
        adapter.all_calls_end().await;
    };
    let result = tokio::select! {
        biased;
        () = all_done => Ok(()),
        () = options.switch.stopped_at_once() => {
            Err((io::ErrorKind::Interrupted, "was told to stop at once"))
        }
        () = tokio::time::sleep(options.grace) => {
            Err((io::ErrorKind::TimedOut, "waited for as long as it should"))
        }
    };
    let result = result.map_err(|(kind, why)| {
        let (calls, connections) = (handler.open_calls(), connections.len());
        let text = format!(
            "the server {why}; calls that got no answer: {calls}, connections that were cut: {connections}"
        );
        io::Error::new(kind, text)
    });
    handler.sessions.end_all().await;
    ended.cancel();
    watching.abort();
    result
}

/// The next connection that comes to one of the listeners.
async fn accept(listeners: &[tokio::net::TcpListener]) -> io::Result<TcpStream> {
    poll_fn(|context| {
        let mut taken = listeners
            .iter()
            .map(|listener| listener.poll_accept(context));
        match taken.find(Poll::is_ready) {
            Some(taken) => taken.map_ok(|(stream, _)| stream),
            None => Poll::Pending,
        }
    })
    .await
}

/// Turns signals into the switch: the first asks to stop, the second to stop at once.
async fn watch(signals: Option<Signals>, switch: Switch) {
    let Some(mut signals) = signals else {
        return;
    };
    loop {
        signals.next().await;
        switch.stop();
    }
}

/// Serves one connection. When it is to end, as all do when the server stops, what is under way on it is still answered.
async fn connection<S: Server>(
    stream: TcpStream,
    handler: Arc<Handler<S>>,
    patience: Duration,
    place: Arc<Place>,
    end: CancellationToken,
) {
    // Answers are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let begun = AtomicBool::new(false);
    let service = service_fn(|request| {
        begun.store(true, Ordering::Relaxed);
        let busy = place.busy();
        let handler = Arc::clone(&handler);
        async move {
            let response = handler.answer(request).await;
            Ok::<_, Infallible>(response.map(|reply| reply.keeping(busy)))
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_header_size(HEAD);
    let mut served = std::pin::pin!(
        builder.serve_connection(TokioIo::new(WriteTimeout::new(stream, patience)), service)
    );
    let stop = async {
        tokio::select! {
            result = served.as_mut() => return Some(result),
            () = end.cancelled() => {}
        }
        None
    };
    let result = match stop.await {
        Some(result) => result,
        // Nothing was asked yet, so nothing is owed.
        None if !begun.load(Ordering::Relaxed) => Ok(()),
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Whether the next connection may well be taken.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
