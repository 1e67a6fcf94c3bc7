//! Tool calls, each on a thread of its own. When its client cancels a call, as some do after a minute, the tests that it runs go on.
//! The same call on the same work joins it. If nobody makes that call, the tests change nothing.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Fault, SuiteCause, SuiteHost};
use mcp::{Client, Problem, Stop, ToolAnswer};

use crate::suite_call::{UNCLAIMED, ended, goes_on};

/// How often it is looked whether a client is still there, and whether a run is as it was.
const POLL: Duration = Duration::from_millis(50);

/// What a call comes to.
type Outcome = Result<ToolAnswer, Stop>;

/// The calls of a server whose tests run, by project and by what they are about.
#[derive(Debug, Default)]
pub struct Calls(Mutex<BTreeMap<(PathBuf, String), Arc<Call>>>);

/// A call that is carried out.
#[derive(Debug)]
struct Call {
    /// Whoever made it.
    client: Client,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Those who asked for it.
    clients: Vec<Client>,
    /// Whether its tests run, or their outcome waits for a client.
    tests: bool,
    /// The call that runs its tests already.
    joined: Option<Arc<Call>>,
    outcome: Option<Outcome>,
}

impl State {
    /// Whether a client waits for it.
    fn is_awaited(&self) -> bool {
        self.clients.iter().any(|client| !client.is_gone())
    }
}

/// Where the suites of a call are run: by itself, if no call is at it.
#[derive(Debug)]
struct Host {
    calls: Arc<Calls>,
    call: Arc<Call>,
    /// The call in words: those that have the same are the same.
    name: String,
}

impl Calls {
    /// Carries a call out, and waits for what it comes to as long as its client does. `name` tells it from all that are not the same.
    pub fn make(
        self: &Arc<Self>,
        name: String,
        client: &Client,
        carry_out: impl FnOnce(&Client, Arc<dyn SuiteHost>) -> Outcome + Send + 'static,
    ) -> Outcome {
        let call = Arc::new(Call {
            client: client.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let (calls, carried) = (Arc::clone(self), Arc::clone(&call));
        thread::spawn(move || {
            let host = Arc::new(Host {
                calls: Arc::clone(&calls),
                call: Arc::clone(&carried),
                name,
            });
            // The panic itself is on standard error.
            let outcome = catch_unwind(AssertUnwindSafe(|| carry_out(&carried.client, host)));
            let outcome = outcome.unwrap_or_else(|_| {
                Err(Problem::Internal("the call ended badly; this is a fault of the server, and nothing says that it was done".to_owned()).into())
            });
            calls
                .running()
                .retain(|_, other| !Arc::ptr_eq(other, &carried));
            carried.state().outcome = Some(outcome);
            carried.changed.notify_all();
        });
        match call.outcome(client) {
            Ok(outcome) => outcome,
            Err(joined) => joined.outcome(client).unwrap_or_else(|_| Err(cancelled())),
        }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<(PathBuf, String), Arc<Call>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ended(&self) -> bool {
        self.client.cancelled().load(Ordering::Acquire)
    }

    /// Waits for a change, or for a while.
    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, POLL);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ends it, and waits until it is over.
    fn end(&self) {
        self.client.cancel();
        let mut state = self.state();
        while state.outcome.is_none() {
            state = self.wait(state);
        }
    }

    /// What it comes to, for a client that waits for it; else the call that it joins.
    fn outcome(&self, client: &Client) -> Result<Outcome, Arc<Self>> {
        let mut state = self.state();
        state.clients.push(client.clone());
        self.changed.notify_all();
        loop {
            if let Some(joined) = state.joined.take() {
                return Err(joined);
            }
            if let Some(outcome) = &state.outcome {
                return Ok(outcome.clone());
            }
            if state.tests && client.is_gone() {
                return Ok(Err(cancelled()));
            }
            state = self.wait(state);
        }
    }
}

fn cancelled() -> Stop {
    Problem::Internal("the call was cancelled".to_owned()).into()
}

impl Host {
    /// Ends tests that nobody waits for when the run goes on without them.
    fn end_when(&self, goes_on: impl Fn() -> bool + Send + 'static) {
        let call = Arc::clone(&self.call);
        thread::spawn(move || {
            let mut state = call.state();
            while state.tests && state.outcome.is_none() {
                if !state.is_awaited() && goes_on() {
                    return call.client.cancel();
                }
                state = call.wait(state);
            }
        });
    }
}

impl SuiteHost for Host {
    fn begin(&self, cause: &SuiteCause<'_>) -> Result<(), Fault> {
        let key = (
            cause.project.to_owned(),
            format!("{} {}", self.name, cause.about),
        );
        let mut running = self.calls.running();
        if let Some(other) = running.get(&key).filter(|other| !other.is_ended()) {
            self.call.state().joined = Some(Arc::clone(other));
            self.call.changed.notify_all();
            return Err(ended("the tests are run by another call"));
        }
        // What nobody waits for is about the work as it was.
        let unclaimed: Vec<Arc<Call>> = running
            .iter()
            .filter(|((project, _), other)| project == cause.project && !other.state().is_awaited())
            .map(|(_, other)| Arc::clone(other))
            .collect();
        self.call.state().tests = true;
        self.call.client.outlive();
        running.insert(key, Arc::clone(&self.call));
        drop(running);
        for other in unclaimed {
            other.end();
        }
        if let Some(run_dir) = cause.run_dir {
            self.end_when(goes_on(run_dir));
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        let ran = Instant::now();
        let mut state = self.call.state();
        while !state.is_awaited() && !self.call.is_ended() && ran.elapsed() < UNCLAIMED {
            state = self.call.wait(state);
        }
        state.tests = false;
        if !state.is_awaited() || self.call.is_ended() {
            return Err(ended("nobody asked what the tests said"));
        }
        Ok(())
    }
}
