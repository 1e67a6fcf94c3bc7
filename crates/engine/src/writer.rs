//! A run open for writing, with the call that opened it.

use journal::RunLock;
use journal::layout::{ProjectDir, RunDir};
use machine::{Command, Event, Refusal, RunState, Shared};

use crate::approval::to_be_asked;
use crate::call::{Call, Input};
use crate::capability::git::effects;
use crate::capability::memory::{START, StartFacts};
use crate::derived;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::generic::cleanup;
use crate::integrity::never_began;
use crate::open_run::{self, CommandOutcome, OpenRun};

/// A run open for writing.
pub(crate) struct RunWriter<'a> {
    pub(crate) open: OpenRun<'a>,
    pub(crate) call: Call<'a>,
    /// Held until the call is over, where it may end a run or begin one.
    project_lock: Option<RunLock>,
}

impl<'a> RunWriter<'a> {
    /// A run that was opened. What another process left is settled. `turn` is the lock of those who take steps, where the
    /// caller has it.
    pub(crate) fn recovered(
        mut open: OpenRun<'a>,
        call: Call<'a>,
        project_lock: Option<RunLock>,
        turn: Option<&RunLock>,
    ) -> Result<Self, Fault> {
        let after_a_death = open.is_after_a_death() || turn.is_some_and(RunLock::is_after_a_death);
        if after_a_death {
            cleanup::clear(&call, &open.run);
        }
        open.recover(&call)?;
        if derived::complete(&call, &open.run) {
            cleanup::clear(&call, &open.run);
        }
        Ok(Self {
            open,
            call,
            project_lock,
        })
    }

    /// What a command came to.
    pub(crate) fn done(&mut self, command: &Command) -> Result<CommandOutcome, Fault> {
        self.open.command(&self.call, command)
    }

    /// What a command came to: what was journalled, or why nothing was. An effect that failed is a fault.
    pub(crate) fn command(
        &mut self,
        command: &Command,
    ) -> Result<Result<Vec<Event>, Refusal>, Fault> {
        if self.call.asks && self.weigh(command)? == Ok(true) {
            return Err(to_be_asked(&self.open.run));
        }
        match self.done(command)? {
            CommandOutcome::Moved(events) => Ok(Ok(events)),
            CommandOutcome::Refused(refusal) => Ok(Err(refusal)),
            CommandOutcome::EffectFailed {
                code,
                message,
                suggestion,
                ..
            } => Err(effects::fault(code, message, suggestion)),
        }
    }

    /// Whether a command would change anything, or why it would be refused.
    pub(crate) fn weigh(&self, command: &Command) -> Result<Result<bool, Refusal>, Fault> {
        self.open.weigh(&self.call, command)
    }

    /// Lets the run go, and keeps the project locked.
    pub(crate) fn release(self) -> Option<RunLock> {
        self.project_lock
    }
}

impl Engine {
    /// Opens a run for a report, or for a turn that leaves it under way.
    pub(crate) fn writer(&self, dir: &RunDir, input: Input) -> Result<RunWriter<'_>, Fault> {
        self.writer_under(dir, input, None)
    }

    /// The same, for a call that may end a run or begin one: nobody else does so in the project meanwhile.
    pub(crate) fn writer_alone(
        &self,
        project: &ProjectDir,
        dir: &RunDir,
        input: Input,
    ) -> Result<RunWriter<'_>, Fault> {
        let lock = project.lock(self.wait(), &self.command)?;
        self.writer_under(dir, input, Some(lock))
    }

    fn writer_under(
        &self,
        dir: &RunDir,
        input: Input,
        project_lock: Option<RunLock>,
    ) -> Result<RunWriter<'_>, Fault> {
        let open = self.open_run(dir)?;
        let call = self.call(dir, &open.run, input)?;
        RunWriter::recovered(open, call, project_lock, None)
    }

    /// The same for a run whose files lie elsewhere since it was written to: what is under way is looked for where they are now. Its
    /// journal does not say so yet.
    pub(crate) fn writer_at(
        &self,
        dir: &RunDir,
        start: &StartFacts,
    ) -> Result<RunWriter<'_>, Fault> {
        let mut open = self.open_run(dir)?;
        let before = START.value(&open.run.kept).cloned();
        START.put(&mut open.run.kept, start)?;
        let call = self.call(dir, &open.run, Input::None)?;
        let mut writer = RunWriter::recovered(open, call, None, None)?;
        let kept = &mut writer.open.run.kept;
        kept.insert(START.name().to_owned(), before.unwrap_or_default());
        Ok(writer)
    }

    fn open_run(&self, dir: &RunDir) -> Result<OpenRun<'_>, Fault> {
        let open = OpenRun::open(dir.path(), self.wait(), &self.command, &*self.clock)?;
        if open.run.run.is_empty() {
            return Err(never_began(dir));
        }
        Ok(open)
    }

    /// The same, for a call that ends a run whatever state it is in: an effect that cannot be finished is dropped.
    pub(crate) fn writer_to_end(
        &self,
        project: &ProjectDir,
        dir: &RunDir,
    ) -> Result<RunWriter<'_>, Fault> {
        match self.writer_alone(project, dir, Input::None) {
            Err(why) if open_run::load(dir.path()).is_ok_and(|seen| seen.run.pending.is_some()) => {
                if self.asks {
                    return Err(to_be_asked(&open_run::load(dir.path())?.run));
                }
                let lock = project.lock(self.wait(), &self.command)?;
                let mut open = self.open_run(dir)?;
                let call = self.call(dir, &open.run, Input::None)?;
                open.give_up(&call, &why)?;
                RunWriter::recovered(open, call, Some(lock), None)
            }
            opened => opened,
        }
    }

    /// A run as it is once what a process began that was killed is finished.
    pub(crate) fn settled(
        &self,
        dir: &RunDir,
        run: Shared<RunState>,
    ) -> Result<Shared<RunState>, Fault> {
        if run.pending.is_none() {
            return Ok(run);
        }
        let mut writer = self.writer(dir, Input::None)?;
        Ok(std::mem::take(&mut writer.open.run))
    }
}
