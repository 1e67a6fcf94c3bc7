//! Telling clients that a resource changed.
//!
//! What is behind a resource may be changed by any process, so its mark is looked at again and again: once for all who
//! follow it, and only for as long as somebody does.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::watch::{Receiver, Sender};
use tokio::task::JoinSet;

use super::{Adapter, Shared, folders};
use crate::client::MissingRoots;
use crate::server::Server;

/// How often marks are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Where looking takes long, at most one part in so many of the time goes to it.
const SHARE: u32 = 4;

/// Of how many resources that a listener names at once the marks are read before it is told that they are followed.
const READ_FIRST: usize = 16;
/// Of how many resources such marks are kept, where those who asked did not come to listen.
const KEPT: usize = 1024;

/// What is followed, by anybody.
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    resources: BTreeMap<Resource, Arc<Sender<Seen>>>,
    /// The marks of what a stateless client is about to listen to, as they were when that was accepted.
    accepted: BTreeMap<String, Option<u64>>,
    /// Whether somebody looks at the marks.
    is_looked_at: bool,
}

/// A resource, as those see it who work on some folders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Resource {
    uri: String,
    roots: Result<Vec<PathBuf>, MissingRoots>,
}

/// What was seen at the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// There was none yet, or it came to nothing.
    Nothing,
    /// The mark, where there is such a resource.
    Mark(Option<u64>),
}

/// What one client with a session follows. Each is told by a task of its own, which ends with its place in here.
pub(super) type Followed = BTreeMap<String, JoinSet<()>>;

impl<S: Server> Adapter<S> {
    /// A client with a session wants to hear of a resource.
    pub(super) async fn follow_for(
        &self,
        uri: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let can_tell_roots = context
            .client_capabilities()
            .is_some_and(|can| can.roots.is_some());
        let roots = if can_tell_roots {
            folders::ask_client(&context, &self.shared.stopping).await
        } else {
            Ok(Vec::new())
        };
        let untold = roots.clone().err();
        let resource = Resource {
            uri: uri.to_owned(),
            roots,
        };
        // Before the first look: nothing that comes after that is missed.
        let changes = self.shared.changes(&resource);
        let Some(mark) = self.shared.mark(resource).await else {
            return Err(match untold {
                Some(untold) => ErrorData::internal_error(untold.to_string(), None),
                None => ErrorData::resource_not_found(
                    format!("there is no resource {uri}"),
                    Some(serde_json::json!({ "uri": uri })),
                ),
            });
        };
        let mut followed = self
            .session
            .followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let telling = followed.entry(uri.to_owned()).or_default();
        // Whoever follows it already must not miss what happens while it changes hands.
        while telling.try_join_next().is_some() {}
        if telling.is_empty() {
            let (peer, uri) = (context.peer, uri.to_owned());
            telling.spawn(tell_each(changes, Some(mark), move || {
                let update = ResourceUpdatedNotificationParam::new(uri.clone());
                let peer = peer.clone();
                async move { peer.notify_resource_updated(update).await.is_ok() }
            }));
        }
        Ok(())
    }

    /// A stateless client listens.
    pub(super) async fn follow_stream(
        &self,
        context: SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone();
        let mut telling = JoinSet::new();
        for uri in uris.unwrap_or_default() {
            let resource = Resource::without_roots(&uri);
            let changes = self.shared.changes(&resource);
            let accepted = self.shared.watch.watched().accepted.remove(&uri);
            let (shared, sink) = (Arc::clone(&self.shared), context.sink().clone());
            telling.spawn(async move {
                let mark = shared.mark(resource).await;
                drop(shared);
                // The client was told already that it is followed.
                let missed = accepted.is_some_and(|before| before != mark);
                if missed && sink.notify_resource_updated(uri.clone()).await.is_err() {
                    return;
                }
                tell_each(changes, mark, move || {
                    let (sink, uri) = (sink.clone(), uri.clone());
                    async move { sink.notify_resource_updated(uri).await.is_ok() }
                })
                .await;
            });
        }
        context.cancelled().await;
        Ok(())
    }
}

/// Tells of each change, until nobody listens.
async fn tell_each<F: Future<Output = bool>>(
    mut changes: Receiver<Seen>,
    mut known: Option<u64>,
    tell: impl Fn() -> F,
) {
    while changes.changed().await.is_ok() {
        let seen = *changes.borrow_and_update();
        let Seen::Mark(mark) = seen else {
            continue;
        };
        if mark != known {
            known = mark;
            if !tell().await {
                return;
            }
        }
    }
}

impl Resource {
    /// As a client sees it that has no session, and so no folders of its own.
    fn without_roots(uri: &str) -> Self {
        Self {
            uri: uri.to_owned(),
            roots: Ok(Vec::new()),
        }
    }
}

impl Watch {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What somebody still follows; where nobody follows anything, looking has come to its end.
    fn still_followed(&self) -> Option<Vec<(Resource, Arc<Sender<Seen>>)>> {
        let mut watched = self.watched();
        watched
            .resources
            .retain(|_, changes| changes.receiver_count() > 0);
        if watched.resources.is_empty() {
            watched.is_looked_at = false;
            return None;
        }
        let all = watched.resources.iter();
        Some(
            all.map(|(resource, changes)| (resource.clone(), Arc::clone(changes)))
                .collect(),
        )
    }
}

impl<S: Server> Shared<S> {
    /// What is seen of a resource from now on.
    fn changes(self: &Arc<Self>, resource: &Resource) -> Receiver<Seen> {
        let mut watched = self.watch.watched();
        let changes = watched
            .resources
            .entry(resource.clone())
            .or_insert_with(|| Arc::new(Sender::new(Seen::Nothing)))
            .subscribe();
        if !std::mem::replace(&mut watched.is_looked_at, true) {
            tokio::spawn(Arc::clone(self).look_again_and_again());
        }
        changes
    }

    async fn look_again_and_again(self: Arc<Self>) {
        while let Some(followed) = self.watch.still_followed() {
            let began = tokio::time::Instant::now();
            let shared = Arc::clone(&self);
            let look = tokio::task::spawn_blocking(move || {
                for (resource, changes) in followed {
                    let now = shared.look(resource);
                    changes.send_if_modified(|seen| {
                        now != Seen::Nothing && std::mem::replace(seen, now) != now
                    });
                }
            });
            if let Err(error) = look.await {
                tracing::error!(%error, "marks could not be looked at");
            }
            tokio::time::sleep_until(began + LOOK.max(began.elapsed() * SHARE)).await;
        }
    }

    /// Reads the marks of what a stateless client is about to be told that it follows: what changes after that and before
    /// it listens would never be told else.
    pub(super) fn accept(&self, accepted: &SubscriptionFilter) {
        let uris = accepted.resource_subscriptions.iter().flatten();
        for uri in uris.take(READ_FIRST) {
            let Seen::Mark(mark) = self.look(Resource::without_roots(uri)) else {
                continue;
            };
            let mut watched = self.watch.watched();
            if watched.accepted.len() >= KEPT {
                watched.accepted.clear();
            }
            // Two who ask at once: the older mark misses nothing.
            watched.accepted.entry(uri.clone()).or_insert(mark);
        }
    }

    /// The mark of a resource that is there.
    async fn mark(self: &Arc<Self>, resource: Resource) -> Option<u64> {
        let shared = Arc::clone(self);
        match tokio::task::spawn_blocking(move || shared.look(resource)).await {
            Ok(Seen::Mark(mark)) => mark,
            _ => None,
        }
    }

    /// Looks at a resource. A fault of one must not keep others from being looked at.
    fn look(&self, resource: Resource) -> Seen {
        let client = Self::watcher(resource.roots);
        std::panic::catch_unwind(AssertUnwindSafe(|| {
            self.server.mark(&resource.uri, &client)
        }))
        .map_or(Seen::Nothing, Seen::Mark)
    }
}
