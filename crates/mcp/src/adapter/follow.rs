//! Telling clients that a resource changed.
//!
//! What is behind a resource may be changed by any process, so its mark is looked at again and again, and only for
//! as long as somebody wants to know. A look costs little: a server gives marks that need no reading.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};

use super::{Adapter, Shared};
use crate::server::Server;

/// How often marks are looked at.
const LOOK: Duration = Duration::from_millis(100);

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
            self.session.roots(&context).await
        } else {
            Vec::new()
        };
        let first = self.marks(vec![uri.to_owned()], roots.clone()).await;
        if first.get(uri).copied().flatten().is_none() {
            return Err(ErrorData::resource_not_found(
                format!("there is no resource {uri}"),
                Some(serde_json::json!({ "uri": uri })),
            ));
        }
        let is_first = {
            let mut followed = self
                .session
                .followed
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let was_empty = followed.is_empty();
            followed.insert(uri.to_owned());
            was_empty
        };
        if is_first {
            let (this, peer) = (self.clone(), context.peer);
            tokio::spawn(async move {
                let gone = peer.clone();
                this.look_again_and_again(
                    roots,
                    first,
                    || {
                        let followed = this
                            .session
                            .followed
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner);
                        followed.iter().cloned().collect()
                    },
                    || gone.is_transport_closed(),
                    async |uri| {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                            .await
                            .is_ok()
                    },
                )
                .await;
            });
        }
        Ok(())
    }

    /// A stateless client listens.
    pub(super) async fn follow_stream(
        &self,
        context: SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let uris = context
            .accepted()
            .resource_subscriptions
            .clone()
            .unwrap_or_default();
        if uris.is_empty() {
            context.cancelled().await;
            return Ok(());
        }
        let first = self.marks(uris.clone(), Vec::new()).await;
        let sink = context.sink().clone();
        tokio::select! {
            () = context.cancelled() => {}
            () = self.look_again_and_again(
                Vec::new(),
                first,
                || uris.clone(),
                || false,
                async |uri| sink.notify_resource_updated(uri).await.is_ok(),
            ) => {}
        }
        Ok(())
    }

    /// Tells of each change until nothing is followed any more, or nobody listens.
    async fn look_again_and_again<F: Future<Output = bool>>(
        &self,
        roots: Vec<PathBuf>,
        mut known: BTreeMap<String, Option<u64>>,
        followed: impl Fn() -> Vec<String>,
        is_gone: impl Fn() -> bool,
        tell: impl Fn(String) -> F,
    ) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let uris = followed();
            if uris.is_empty() || is_gone() {
                return;
            }
            let marks = self.marks(uris, roots.clone()).await;
            for (uri, mark) in &marks {
                // What was not followed before is only noted.
                if known.get(uri).is_some_and(|before| before != mark) && !tell(uri.clone()).await {
                    return;
                }
            }
            known = marks;
        }
    }

    async fn marks(&self, uris: Vec<String>, roots: Vec<PathBuf>) -> BTreeMap<String, Option<u64>> {
        let shared = Arc::clone(&self.shared);
        let look = tokio::task::spawn_blocking(move || {
            let client = Shared::<S>::watcher(roots);
            uris.into_iter()
                .map(|uri| {
                    let mark = shared.server.mark(&uri, &client);
                    (uri, mark)
                })
                .collect()
        });
        look.await.unwrap_or_default()
    }
}
