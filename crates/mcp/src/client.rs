//! What a call knows of who called.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

/// The caller, during one call.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) can: ClientAbilities,
    pub(crate) bond: Arc<Bond>,
    pub(crate) answers: BTreeMap<String, Value>,
    pub(crate) kept: Option<Value>,
    pub(crate) roots: Result<Vec<PathBuf>, MissingRoots>,
    pub(crate) news: Option<UnboundedSender<Notice>>,
}

/// What holds a call and the work for it together.
#[derive(Debug, Default)]
pub(crate) struct Bond {
    is_gone: AtomicBool,
    outlives: AtomicBool,
    cancelled: Arc<AtomicBool>,
    waits_no_more: Arc<AtomicBool>,
}

impl Bond {
    /// Tells the work that the client took the call back or went away.
    pub(crate) fn part(&self) {
        self.is_gone.store(true, Ordering::Release);
        if !self.outlives.load(Ordering::Acquire) {
            self.cancelled.store(true, Ordering::Release);
            self.end_waiting();
        }
    }

    /// Tells it that nothing is to wait for its turn any more.
    pub(crate) fn end_waiting(&self) {
        self.waits_no_more.store(true, Ordering::Release);
    }
}

/// What a client said it can do.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a client says yes or no to each, in any combination"
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientAbilities {
    /// Show a form to the person.
    pub forms: bool,
    /// Let its model write something.
    pub sampling: bool,
    /// Tell the folders it works on.
    pub roots: bool,
    /// Take a task instead of an answer, and ask for its outcome later.
    pub tasks: bool,
}

/// A client said that it tells its folders, and did not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("the client did not tell which folders it works on: {why}")]
pub struct MissingRoots {
    why: String,
}

impl MissingRoots {
    pub(crate) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// Tells how far a call is.
#[derive(Debug, Clone)]
pub struct ProgressSender(Option<UnboundedSender<Notice>>);

impl ProgressSender {
    /// Tells it, where the client wants to know.
    pub fn tell(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        if let Some(sender) = &self.0 {
            // A call that nobody waits for any more has nobody to tell.
            let _ = sender.send(Notice::Progress {
                done,
                total,
                message: message.into(),
            });
        }
    }
}

/// What a call has to tell while it goes on.
#[derive(Debug)]
pub(crate) enum Notice {
    Progress {
        done: f64,
        total: Option<f64>,
        message: String,
    },
    Log(Value),
}

impl Client {
    /// The client's own name, such as `claude-code`; empty where it gave none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The client's version, as it told it; empty where it gave none.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it said it can do.
    pub fn can(&self) -> ClientAbilities {
        self.can
    }

    /// Set as soon as the work is to end: the client took the call back or went away, and the work does not outlive that.
    pub fn cancelled(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.bond.cancelled)
    }

    /// Has the work go on when the client takes the call back or goes away.
    pub fn outlive(&self) {
        self.bond.outlives.store(true, Ordering::Release);
    }

    /// Has the work end.
    pub fn cancel(&self) {
        self.bond.cancelled.store(true, Ordering::Release);
    }

    /// Set as soon as nothing is to wait for its turn any more: the client took the call back, or the connection ends. What has
    /// begun by then may come to its end.
    pub fn waits_no_more(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.bond.waits_no_more)
    }

    /// Whether the client took the call back or went away.
    pub fn is_gone(&self) -> bool {
        self.bond.is_gone.load(Ordering::Acquire)
    }

    /// The answer to a question of this name, if it was asked before: the protocol's result, such as
    /// `{"action": "accept", "content": {…}}` for a form.
    pub fn answer(&self, name: &str) -> Option<&Value> {
        self.answers.get(name)
    }

    /// What an [`Ask`](crate::Ask) before this call wanted to remember.
    pub fn kept(&self) -> Option<&Value> {
        self.kept.as_ref()
    }

    /// The folders that the client works on; none where it does not say that it tells them, as clients without a session
    /// never do. An error where it says so and has not told: what it means is then unknown, and must not be guessed.
    pub fn roots(&self) -> Result<&[PathBuf], &MissingRoots> {
        self.roots.as_deref()
    }

    /// What tells how far the call is from wherever it is worked on.
    pub fn progress_sender(&self) -> ProgressSender {
        ProgressSender(self.news.clone())
    }

    /// Tells how far the call is, where the client wants to know.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        self.progress_sender().tell(done, total, message);
    }

    /// Tells something that is worth noting, where the client keeps a log.
    pub fn log(&self, data: impl Into<Value>) {
        self.tell(Notice::Log(data.into()));
    }

    fn tell(&self, news: Notice) {
        if let Some(sender) = &self.news {
            // A call that nobody waits for any more has nobody to tell.
            let _ = sender.send(news);
        }
    }
}
