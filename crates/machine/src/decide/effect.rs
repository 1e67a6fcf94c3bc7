//! What comes of an effect: it is journalled, and the way goes on or ends.

use serde_json::{Map, Value};

use super::edge::Transition;
use super::{Plan, Planner, Stop};
use crate::command::Artifact;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{EffectAt, RunStatus};
use crate::trigger::Trigger;

impl Planner<'_> {
    pub(super) fn effect_done(
        &mut self,
        result: &Value,
        keep: &Map<String, Value>,
        artifacts: &[Artifact],
    ) -> Result<(), Stop> {
        let Some(pending) = self.run.pending.clone() else {
            return Ok(());
        };
        self.push(Event::EffectDone {
            effect: pending.effect,
            name: pending.name.clone(),
            result: result.clone(),
            keep: keep.clone(),
        });
        self.recorded(artifacts.iter().cloned());
        let mut way = Transition {
            report: pending.report,
            flags: pending.flags,
            reason: pending.reason,
            read: pending.read,
            keep: pending.keep,
            decision: pending.decision,
        };
        if pending.at.trigger == Trigger::Rewind {
            // The memory goes back, too, but for what is to be known there of the way.
            way.keep.extend(keep.clone());
        }
        let next = EffectAt {
            effect: pending.at.effect + 1,
            ..pending.at.clone()
        };
        if self.effect_on(&next).is_some() {
            return self.intend(pending.token, next, way);
        }
        let aborts = pending.at.trigger == Trigger::Abort;
        match pending.at.trigger {
            Trigger::Do => self.leave_do(pending.token)?,
            Trigger::Final => self.end(pending.token),
            _ => {
                let after = way.after().behind(pending.at.trigger, pending.token);
                self.arrive(pending.token, &pending.at, way, Some(result))?;
                return self.advance(&after, aborts);
            }
        }
        self.advance(&way.after(), aborts || self.run.status == RunStatus::Paused)
    }

    pub(super) fn effect_failed(
        &mut self,
        code: &str,
        message: &str,
        keep: &Map<String, Value>,
    ) -> Result<(), Stop> {
        let Some(pending) = self.run.pending.clone() else {
            return Ok(());
        };
        self.push(Event::EffectFailed {
            effect: pending.effect,
            name: pending.name,
            code: code.to_owned(),
            message: message.to_owned(),
            keep: keep.clone(),
        });
        let pause = Event::RunPaused {
            reason: code.to_owned(),
            token: Some(pending.token),
            message: Some(message.to_owned()),
            person: false,
        };
        match pending.at.trigger {
            // Clearing up after the end is worth a warning, not a run that never ends.
            Trigger::Final => {
                let next = EffectAt {
                    effect: pending.at.effect + 1,
                    ..pending.at
                };
                if self.effect_on(&next).is_some() {
                    let way = Transition {
                        flags: pending.flags,
                        reason: pending.reason,
                        ..Transition::default()
                    };
                    return self.intend(pending.token, next, way);
                }
                self.end(pending.token);
            }
            // Nobody reported here, so nobody would learn of it: the run waits for a person.
            Trigger::Do | Trigger::Route | Trigger::Done => self.push(pause),
            // A step back out of a pause has no unit to fall back on.
            _ if self.run.status == RunStatus::Running && self.run.waiting().next().is_none() => {
                self.push(pause);
            }
            _ => {}
        }
        Ok(())
    }

    /// Records that the effect under way was carried out, where the definition cannot go on from
    /// there: the run pauses, and `refusal` says why.
    pub(super) fn settle_only(
        mut self,
        result: &Value,
        keep: &Map<String, Value>,
        artifacts: &[Artifact],
        refusal: &Refusal,
    ) -> Option<Plan> {
        let pending = self.run.pending.clone()?;
        self.push(Event::EffectDone {
            effect: pending.effect,
            name: pending.name,
            result: result.clone(),
            keep: keep.clone(),
        });
        self.recorded(artifacts.iter().cloned());
        self.push(Event::RunPaused {
            reason: refusal.code.clone(),
            token: Some(pending.token),
            message: refusal.message.clone(),
            person: false,
        });
        Some(self.finish())
    }
}
