//! `tag.switch` and `tag.restore`: `.taskmaster/state.json` names the run's tag while it runs.

use machine::RunState;
use machine::state::Pending;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workspace::tasks::{Rewrite, STATE_FILE, current_tag, switch_tag};

use crate::call::Call;
use crate::capability::memory::{Memory, TAG_BEFORE};
use crate::capability::{EffectSteps, NOT_DONE};
use crate::fault::Fault;
use crate::intent;
use crate::support::{HandlerError, Outcome};

#[derive(Debug, Default, Serialize, Deserialize)]
struct Switch {
    /// What the file names now.
    #[serde(default)]
    from: Option<String>,
    /// What it is going to name.
    to: String,
    /// The change, if there is one to make.
    #[serde(default)]
    rewrite: Option<Rewrite>,
}

/// How the run's tag is made the current one.
pub(crate) const SWITCH: EffectSteps = EffectSteps {
    prepare: |call, _, run| prepare_switch(call, run),
    perform: |_, _, pending| perform(pending),
    look: NOT_DONE,
};

/// How the one before is made that again.
pub(crate) const RESTORE: EffectSteps = EffectSteps {
    prepare: |call, _, run| prepare_restore(call, run),
    ..SWITCH
};

/// A file that cannot be read is nothing to switch: the run knows its tag by itself.
fn prepare_switch(call: &Call<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let tag = Memory::of(run)?.start.tag;
    let switch = Switch {
        from: current_tag(call.root).ok().flatten(),
        rewrite: switch(call, run, &tag)?,
        to: tag,
    };
    Ok(intent::write(&switch)?)
}

/// The change that makes the tag the current one, if there is one to make.
fn switch(call: &Call<'_>, run: &RunState, tag: &str) -> Result<Option<Rewrite>, HandlerError> {
    let file = call.root.join(STATE_FILE);
    let led_out = Memory::of(run)?.repository().led_out(&file);
    let stays = matches!(led_out, Ok(None));
    Ok(switch_tag(call.root, tag).ok().flatten().filter(|_| stays))
}

/// Only what the run itself switched is set back, and only if nobody switched it since.
fn prepare_restore(call: &Call<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let own = Memory::of(run)?.start.tag;
    let before = TAG_BEFORE.text(&run.kept);
    let present = current_tag(call.root).ok().flatten();
    let switch = match before {
        Some(before) if present.as_deref() == Some(&own) => Switch {
            rewrite: switch(call, run, before)?,
            to: before.to_owned(),
            from: present,
        },
        _ => Switch {
            to: own,
            ..Switch::default()
        },
    };
    Ok(intent::write(&switch)?)
}

/// Idempotent. What cannot be written stays as it is: the tag of a run is its own.
fn perform(pending: &Pending) -> Result<Outcome, Fault> {
    let switch: Switch = intent::read(&pending.what)?;
    let mut keep = Map::new();
    if let Some(rewrite) = &switch.rewrite
        && rewrite.apply().is_ok()
        && pending.name == "tag.switch"
        && let Some(from) = &switch.from
    {
        keep = TAG_BEFORE.entry(from)?;
    }
    Ok(Outcome::Done {
        result: Value::Null,
        keep,
        artifacts: Vec::new(),
    })
}
