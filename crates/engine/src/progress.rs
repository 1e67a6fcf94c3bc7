//! How far something is that takes long, for whoever waits for it.

use std::fmt;
use std::sync::Arc;

use crate::engine::Engine;

/// What is said while a test command runs.
pub(crate) const RUNNING: &str = "the test command is being run; a slow suite has its time";

/// How far something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, in words.
    pub what: String,
    /// How many parts of it are done.
    pub done: u64,
    /// How many there are, where that is known.
    pub total: Option<u64>,
}

/// Who is told. It is called where the work is done, and must not wait for anybody.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&Progress) + Send + Sync>);

impl Observer {
    /// One that is told by this.
    pub fn new(told: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

impl Engine {
    /// The same project, with somebody who is told how far long work is.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Tells that this is begun, or how far it is.
    pub(crate) fn tell(&self, what: impl Into<String>, done: u64, total: Option<u64>) {
        if let Some(Observer(told)) = &self.observer {
            told(&Progress {
                what: what.into(),
                done,
                total,
            });
        }
    }
}
