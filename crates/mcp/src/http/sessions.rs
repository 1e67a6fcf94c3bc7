//! The sessions of clients from before the protocol was stateless: how many there are, and when they end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use tokio::time::Instant;

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    /// One is begun after the other, so that there are never more than allowed.
    pub(super) beginning: tokio::sync::Mutex<()>,
    known: Mutex<HashMap<Arc<str>, Use>>,
    most: usize,
    idle: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Use {
    /// When something last went on.
    last: Instant,
    /// How much goes on now.
    open: usize,
}

impl Use {
    fn new() -> Self {
        Self {
            last: Instant::now(),
            open: 0,
        }
    }
}

/// Something that goes on in a session.
#[derive(Debug)]
pub(super) struct InUse {
    sessions: Arc<Sessions>,
    id: Arc<str>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(known) = self.sessions.known().get_mut(&self.id) {
            known.open = known.open.saturating_sub(1);
            known.last = Instant::now();
        }
    }
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        let mut manager = LocalSessionManager::default();
        // The SDK ends a session in which nothing was sent for a while, even where a client listens or waits for an
        // answer. Here a session is idle only when nothing is open in it.
        let mut config = SessionConfig::default();
        config.keep_alive = None;
        manager.session_config = config;
        Self {
            manager: Arc::new(manager),
            beginning: tokio::sync::Mutex::default(),
            known: Mutex::default(),
            most,
            idle,
        }
    }

    /// The SDK's own list.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Use>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a session that has begun.
    pub(super) fn begun(&self, id: &str) {
        self.known().insert(Arc::from(id), Use::new());
    }

    /// Says that something goes on in a session; `None` where there is no such session.
    pub(super) async fn enter(self: &Arc<Self>, id: &str) -> Option<InUse> {
        let id: Arc<str> = Arc::from(id);
        if !self.is_there(&id).await {
            self.known().remove(&id);
            return None;
        }
        let mut known = self.known();
        let entry = known.entry(Arc::clone(&id)).or_insert_with(Use::new);
        entry.open += 1;
        entry.last = Instant::now();
        drop(known);
        Some(InUse {
            sessions: Arc::clone(self),
            id,
        })
    }

    /// Whether there is room for one more session. Where all are taken, the one that was idle for longest has to go:
    /// its client is most likely gone, and if not, it begins another.
    pub(super) async fn make_room(&self) -> bool {
        loop {
            self.catch_up().await;
            let oldest = {
                let known = self.known();
                if known.len() < self.most {
                    return true;
                }
                known
                    .iter()
                    .filter(|(_, entry)| entry.open == 0)
                    .min_by_key(|(_, entry)| entry.last)
                    .map(|(id, _)| Arc::clone(id))
            };
            match oldest {
                Some(id) => self.end(&id).await,
                None => return false,
            }
        }
    }

    /// Ends sessions in which nothing has gone on for long, for as long as it is polled.
    pub(super) async fn end_idle_ones(&self) {
        let pause = (self.idle / 8).clamp(Duration::from_millis(10), Duration::from_mins(1));
        let mut ticks = tokio::time::interval(pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.catch_up().await;
            let idle: Vec<_> = self
                .known()
                .iter()
                .filter(|(_, entry)| entry.open == 0 && entry.last.elapsed() >= self.idle)
                .map(|(id, _)| Arc::clone(id))
                .collect();
            for id in idle {
                self.end(&id).await;
            }
        }
    }

    /// Ends all sessions.
    pub(super) async fn end_all(&self) {
        let all: Vec<_> = self.known().keys().cloned().collect();
        for id in all {
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &Arc<str>) {
        self.known().remove(id);
        if let Err(error) = self.manager.close_session(id).await {
            tracing::debug!(%error, "a session was gone before it was ended");
        }
    }

    async fn is_there(&self, id: &Arc<str>) -> bool {
        self.manager.has_session(id).await.unwrap_or(false)
    }

    /// A session may also end by itself or by its client's wish, and begin although its client was gone before it
    /// heard of it.
    async fn catch_up(&self) {
        let there = self.manager.sessions.read().await;
        let mut known = self.known();
        known.retain(|id, _| there.contains_key(id));
        for id in there.keys() {
            if !known.contains_key(id) {
                known.insert(Arc::clone(id), Use::new());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn begin(sessions: &Sessions) -> Arc<str> {
        let (id, transport) = sessions.manager.create_session().await.unwrap();
        // Without its transport a session has nobody to serve it, which its end must not depend on.
        drop(transport);
        sessions.begun(&id);
        id
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_nothing_goes_on_in_it_for_long() {
        let sessions = Arc::new(Sessions::new(10, Duration::from_mins(30)));
        let (idle, used, listened) = (
            begin(&sessions).await,
            begin(&sessions).await,
            begin(&sessions).await,
        );
        let listening = sessions.enter(&listened).await.unwrap();
        let ending = tokio::spawn({
            let sessions = Arc::clone(&sessions);
            async move { sessions.end_idle_ones().await }
        });
        tokio::time::sleep(Duration::from_mins(20)).await;
        drop(sessions.enter(&used).await.unwrap());
        tokio::time::sleep(Duration::from_mins(15)).await;
        assert!(!sessions.is_there(&idle).await);
        assert!(sessions.is_there(&used).await);
        tokio::time::sleep(Duration::from_hours(10)).await;
        assert!(!sessions.is_there(&used).await);
        assert!(sessions.is_there(&listened).await);
        drop(listening);
        tokio::time::sleep(Duration::from_mins(35)).await;
        assert!(!sessions.is_there(&listened).await);
        assert!(sessions.known().is_empty());
        ending.abort();
    }

    #[tokio::test]
    async fn a_session_that_nobody_heard_of_counts_too() {
        let sessions = Arc::new(Sessions::new(1, Duration::from_mins(30)));
        let (unheard, _transport) = sessions.manager.create_session().await.unwrap();
        assert!(sessions.make_room().await);
        assert!(!sessions.is_there(&unheard).await);
        let known = begin(&sessions).await;
        let in_use = sessions.enter(&known).await.unwrap();
        assert!(!sessions.make_room().await);
        drop(in_use);
        assert!(sessions.make_room().await);
        assert!(sessions.enter(&known).await.is_none());
    }
}
