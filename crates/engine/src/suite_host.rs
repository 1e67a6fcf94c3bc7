//! Whoever decides where the suites of a call are run: by the call itself, or by a process that outlives it.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use workspace::git::Oid;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::progress::RUNNING;

/// Where the suites of a call are run. Nothing is locked, and nothing is written, when it is asked.
pub trait SuiteHost: Debug + Send + Sync {
    /// Told before suites are run for a report of the work that this tree holds. `project` is the project's folder in the store.
    ///
    /// # Errors
    /// Where they are run elsewhere: the call ends with it.
    fn begin(&self, project: &Path, tree: &Oid) -> Result<(), Fault>;

    /// Told when they have been run, before the report is taken in.
    ///
    /// # Errors
    /// Where nobody waits for it any more: the call ends with it.
    fn end(&self) -> Result<(), Fault>;
}

impl Engine {
    /// The same project, with somebody who decides where its suites are run.
    #[must_use]
    pub fn hosted(mut self, host: Arc<dyn SuiteHost>) -> Self {
        self.suite_host = Some(host);
        self
    }

    /// What `run` comes to, which runs suites for a report of the work that this tree holds.
    pub(crate) fn with_suites<T>(
        &self,
        tree: &Oid,
        run: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let host = self.suite_host.as_deref();
        if let Some(host) = host {
            host.begin(self.home.project(&self.root)?.path(), tree)?;
        }
        self.tell(RUNNING, 0, None);
        let done = run();
        if let Some(host) = host {
            host.end()?;
        }
        done
    }
}
