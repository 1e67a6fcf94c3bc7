//! Connections on which nothing is under way, by how long that has been so.
//!
//! Where there are as many connections as there may be, the one that was silent for longest makes room for a new one:
//! nobody can keep others out by opening connections and saying nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The connections on which nothing is under way.
#[derive(Debug, Default)]
pub(super) struct IdleConnections {
    queue: Mutex<Queue>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// What ends each of them, the oldest first.
    ends: BTreeMap<u64, CancellationToken>,
}

/// The place of one connection.
#[derive(Debug)]
pub(super) struct Place {
    silent: Arc<IdleConnections>,
    end: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many requests are under way.
    busy: usize,
    queued: Option<u64>,
}

/// Held for as long as a request is under way.
#[derive(Debug)]
pub(super) struct Busy(Arc<Place>);

impl IdleConnections {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that has just begun, and what ends it.
    pub(super) fn enter(self: &Arc<Self>, end: CancellationToken) -> Arc<Place> {
        let place = Arc::new(Place {
            silent: Arc::clone(self),
            end,
            state: Mutex::default(),
        });
        place.wait(&mut place.state());
        place
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue().ends.is_empty()
    }

    /// Waits until there may be one.
    pub(super) async fn one(&self) {
        self.more.notified().await;
    }

    /// Ends the one that was silent for longest.
    pub(super) fn end_oldest(&self) {
        if let Some((_, end)) = self.queue().ends.pop_first() {
            end.cancel();
        }
    }
}

impl Place {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, state: &mut State) {
        let mut queue = self.silent.queue();
        let number = queue.next;
        queue.next += 1;
        queue.ends.insert(number, self.end.clone());
        state.queued = Some(number);
        self.silent.more.notify_one();
    }

    fn leave(&self, state: &mut State) {
        if let Some(number) = state.queued.take() {
            self.silent.queue().ends.remove(&number);
        }
    }

    /// Says that a request has come.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        let mut state = self.state();
        state.busy += 1;
        self.leave(&mut state);
        drop(state);
        Busy(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state =
            std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.leave(&mut state);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.busy -= 1;
        if state.busy == 0 {
            self.0.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_was_silent_for_longest_goes_first() {
        let silent = Arc::<IdleConnections>::default();
        let enter = || {
            let end = CancellationToken::new();
            (silent.enter(end.clone()), end)
        };
        let ((first, first_end), (second, second_end), (third, third_end)) =
            (enter(), enter(), enter());
        let busy = (first.busy(), first.busy());
        drop(third);
        silent.end_oldest();
        assert!(second_end.is_cancelled());
        silent.end_oldest();
        assert!(!first_end.is_cancelled() && !third_end.is_cancelled());
        assert!(silent.is_empty());
        drop(busy.0);
        assert!(silent.is_empty());
        drop(busy.1);
        // One that was told to end says no more.
        drop(second);
        silent.end_oldest();
        assert!(first_end.is_cancelled());
        drop(first);
        assert!(silent.is_empty());
    }
}
