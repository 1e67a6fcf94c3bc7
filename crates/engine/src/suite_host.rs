//! Whoever decides where the suites of a call are run: by the call itself, or by a process that outlives it.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use machine::RunState;
use workspace::git::Oid;
use workspace::suite::passed_variables;

use crate::call::pinned;
use crate::capability::memory::Memory;
use crate::capability::tests::evidence::bench::copied_from;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::progress::RUNNING;

/// What suites are run for.
#[derive(Debug, Clone, Copy)]
pub struct SuiteCause<'a> {
    /// The project's folder in the store.
    pub project: &'a Path,
    /// The folder of the run that is to take in what they say.
    pub run_dir: Option<&'a Path>,
    /// All that decides about what they say and what is made of it, beside the call and its environment: where this is another, so is
    /// what they say.
    pub about: &'a str,
}

/// Where the suites of a call are run. Nothing is locked, and nothing is written, when it is asked.
pub trait SuiteHost: Debug + Send + Sync {
    /// Told before suites are run.
    ///
    /// # Errors
    /// Where they are run elsewhere: the call ends with it.
    fn begin(&self, cause: &SuiteCause<'_>) -> Result<(), Fault>;

    /// Told when they have been run, before what they say is taken in.
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

    /// What `run` comes to, which runs suites on a tree, for a run as it stands if it is for one.
    pub(crate) fn with_suites<T>(
        &self,
        (memory, tree): (&Memory, &Oid),
        of_run: Option<(&Path, &RunState)>,
        run: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let host = self.suite_host.as_deref();
        if let Some(host) = host {
            let project = self.home.project(&self.root)?;
            let (config, stands) = match of_run {
                Some((_, run)) => {
                    let stands = format!("{} {} {}", run.run, run.transitions, run.updated_at);
                    (pinned(run)?, stands)
                }
                None => (Arc::new(self.settings.config.clone()), String::new()),
            };
            let copied = copied_from(&memory.start, &config);
            let mut variables = passed_variables(&config.bench.env);
            variables.sort();
            let about = format!(
                "{tree} {stands} {copied:?} {variables:?} {}",
                config.to_json()
            );
            host.begin(&SuiteCause {
                project: project.path(),
                run_dir: of_run.map(|(dir, _)| dir),
                about: &about,
            })?;
        }
        self.tell(RUNNING, 0, None);
        let done = run();
        if let Some(host) = host {
            host.end()?;
        }
        done
    }
}
