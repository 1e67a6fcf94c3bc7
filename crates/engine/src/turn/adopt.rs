//! Having a run go on from a branch that has moved, as it is by now.

use machine::Command;

use crate::call::Input;
use crate::capability::files::subject::fault as fault_of;
use crate::capability::git::read::moved::Moved;
use crate::capability::git::read::on_the_branch;
use crate::capability::memory::Memory;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::next_step::Verb;
use crate::turn::answer::TurnAnswer;
use crate::turn::{Asked, TurnOutcome, over, turned};

impl Engine {
    /// Has a run over a task go on from where its branch is by now: what is in progress begins again on it, and subtasks whose
    /// commits are gone are done again. Where the branch has not moved nothing is done.
    pub(super) fn turn_to_adopt(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let writer = self.writer_alone(&asked.project, &asked.dir, Input::None)?;
        self.unit_is_present(&writer.open.run, &writer.call.definition)?;
        let run = &writer.open.run;
        if !is_over_a_task(run) {
            return Err(fault!("not_possible.no_branch", run = run.run));
        }
        if run.status.is_over() {
            return Err(over(run));
        }
        let memory = Memory::of(run)?;
        let repository = memory.repository();
        let status = writer.call.tree(&repository)?;
        let at = (status.branch.as_deref(), &status.unmerged[..]);
        let again = format!("adopt it again: {}", Verb::Adopt);
        on_the_branch(at, &memory, &repository, &again).map_err(fault_of)?;
        let whole = run.waiting().any(|(token, _)| token.role.suite.is_some());
        let (branch, head) = ((&memory, &repository), status.head.as_ref());
        let Some(found) = Moved::of(run, &writer.call.pinned, branch, head, whole)? else {
            let message = if head == Some(&memory.last_oid()?) {
                "Nothing was done: the branch is where the run left it"
            } else {
                "Nothing was done: the commits on top are part of what is in progress"
            };
            let message = message.to_owned();
            return TurnOutcome::new(writer, message).answer(asked.view);
        };
        if head.is_none() {
            let refusal = found.refusal(run, &memory.start.branch);
            return Err(fault_of(refusal.into()));
        }
        let command = Command::Adopt {
            reason: asked.turn.reason.to_owned(),
            keep: found.keep(run, whole)?,
            again: found.lost().to_vec(),
        };
        turned(asked.view, writer, &command, |_| found.taken())?.answer(asked.view)
    }
}
