//! `pull_request.check`: whether the run can be submitted at all, before anything is pushed. Only what is certain refuses: a forge
//! that cannot be asked is one to which a person goes.

use machine::RunState;
use machine::state::Pending;
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::git::effects::push::destination;
use crate::capability::memory::{Memory, SUBMITTED_TO};
use crate::capability::pull_request::SubmittedTo;
use crate::capability::pull_request::target;
use crate::capability::{EffectSteps, NOT_DONE};
use crate::fault::Fault;
use crate::intent;
use crate::refusal;
use crate::support::{HandlerError, Outcome};

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, asked, run| prepare(call, run, asked.flags),
    perform: |_, _, pending| perform(pending),
    look: NOT_DONE,
};

/// Refuses where nothing could come of it.
fn prepare(
    call: &Call<'_>,
    run: &RunState,
    flags: &Map<String, Value>,
) -> Result<Value, HandlerError> {
    target::issue(flags)?;
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let bases = target::bases(call, &memory, flags);
    let bases: Vec<&str> = bases.iter().map(String::as_str).collect();
    let there = destination(call, run, &memory, flags, &bases)?;
    let base = target::base(call, &memory, flags, &there.tips)?;
    let head = &memory.start.branch;
    if base == *head {
        return Err(refusal!("not_possible.merge_into_itself", head).into());
    }
    if there.sha == memory.base_oid()? {
        return Err(refusal!("not_possible.nothing_to_submit", head).into());
    }
    if let Ok(forge) = target::forge(call, &repository, &there.remote, (&base, head))?
        && let Ok(Some(found)) = target::present(&forge, run, &base, head)?
    {
        target::is_open(&found)?;
    }
    let remote = there.remote;
    Ok(intent::write(&SubmittedTo { remote, base })?)
}

/// Has the run remember what was found.
fn perform(pending: &Pending) -> Result<Outcome, Fault> {
    let found: SubmittedTo = intent::read(&pending.what)?;
    Ok(Outcome::Done {
        result: Value::Null,
        keep: SUBMITTED_TO.entry(&found)?,
        artifacts: Vec::new(),
    })
}
