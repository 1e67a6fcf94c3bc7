//! The fold: what each event makes of a run. It judges nothing; `decide` did.

use crate::command::Choice;
use crate::event::{AcceptedReport, Event};
use crate::role::Role;
use crate::state::{
    EffectAt, ItemStatus, OpenedGate, Pause, Pending, ROOT, RunState, RunStatus, Token, Unit,
};
use crate::trigger::Trigger;
use serde_json::{Map, Value};

impl RunState {
    /// Takes in one event that happened at `at` (UTC, RFC 3339).
    ///
    /// An event that names something the run does not have changes nothing: a journal whose chain
    /// holds was written by `decide`, which names only what is there.
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each event: the whole fold is to be read in one place"
    )]
    pub fn apply(&mut self, at: &str, event: &Event) {
        at.clone_into(&mut self.updated_at);
        match event {
            Event::RunCreated {
                run,
                workflow,
                view,
                definition: _,
                definition_hash,
                inputs,
                vars,
                config,
                settings,
                policy_hash,
                policies,
                actor,
                approvals,
                keep,
            } => {
                *self = Self {
                    run: run.clone(),
                    workflow: workflow.clone(),
                    view: view.clone(),
                    definition_hash: definition_hash.clone(),
                    inputs: inputs.clone(),
                    vars: vars.clone(),
                    config: config.clone().into(),
                    settings: settings.clone().into(),
                    policy_hash: policy_hash.clone(),
                    policies: policies.clone().into(),
                    actor: actor.clone(),
                    least_approval: *approvals,
                    kept: keep.clone(),
                    next_token: ROOT + 1,
                    started_at: at.to_owned(),
                    updated_at: at.to_owned(),
                    tokens: vec![Token::new(ROOT, "", at)],
                    ..Self::default()
                };
            }
            Event::ItemsLoaded { set, items } => {
                let filled = self.sets.entry(set.clone()).or_default();
                filled.clear();
                for item in items {
                    filled.add(item);
                }
            }
            Event::ItemAdded { set, item } => {
                let set = self.sets.entry(set.clone()).or_default();
                set.add(item);
            }
            Event::ItemChanged {
                set,
                key,
                fields,
                status,
                reason: _,
            } => {
                if let Some(set) = self.sets.get_mut(set) {
                    set.change(key, fields, *status);
                }
            }
            Event::TokenOpened {
                token,
                parent,
                set,
                key,
                state,
            } => {
                self.set_item_status(set, key, ItemStatus::Active);
                self.next_token = self.next_token.max(token + 1);
                self.moved("", state);
                let spent = self.spent.get(set).and_then(|items| items.get(key));
                self.tokens.push(Token {
                    parent: Some(*parent),
                    item: Some((set.clone(), key.clone())),
                    attempts: spent.cloned().unwrap_or_default(),
                    ..Token::new(*token, state, at)
                });
            }
            Event::TokenClosed {
                token, done, left, ..
            } => {
                if let Some(position) = self.tokens.iter().position(|t| t.id == *token) {
                    let closed = self.tokens.remove(position);
                    if let Some((set, key)) = closed.item {
                        if !*done {
                            self.spend((set.clone(), key.clone()), &closed.attempts);
                        }
                        let status = match (*left, *done) {
                            (true, _) => ItemStatus::Open,
                            (false, true) => ItemStatus::Done,
                            (false, false) => ItemStatus::Failed,
                        };
                        self.set_item_status(&set, &key, status);
                    }
                }
            }
            Event::StateEntered {
                token,
                to,
                set,
                keep,
                reason,
                ..
            } => {
                merge(&mut self.vars, set);
                merge(&mut self.kept, keep);
                if *token == ROOT {
                    self.transitions += 1;
                }
                if let Some(token) = self.token_mut(*token) {
                    let from = std::mem::replace(&mut token.state, to.clone());
                    token.came_from = Some(from.clone());
                    at.clone_into(&mut token.entered_at);
                    token.reason.clone_from(reason);
                    token.unit = None;
                    token.role = Role::default();
                    token.progress = None;
                    self.moved(&from, to);
                }
            }
            Event::UnitIssued {
                unit,
                base,
                token,
                attempt,
                max_attempts,
                context,
                name,
                role,
                ..
            } => {
                self.issues.insert(base.clone(), number_of(unit, base));
                if let Some(token) = self.token_mut(*token) {
                    token.role.clone_from(role);
                    token.unit = Some(Unit {
                        id: unit.clone(),
                        attempt: *attempt,
                        max_attempts: *max_attempts,
                        issued_at: at.to_owned(),
                        context: context.clone(),
                        name: name.clone(),
                        allowed: Vec::new(),
                    });
                }
            }
            Event::ReportAccepted(report) => self.take_in(report),
            Event::ReportRetried(report) => {
                self.moved(&report.state, &report.state);
                self.take_in(report);
            }
            Event::EffectIntended {
                effect,
                name,
                token,
                at: place,
                what,
                report,
                flags,
                reason,
                read,
                keep,
                decision,
            } => {
                self.next_effect = effect + 1;
                self.pending = Some(Pending {
                    effect: *effect,
                    name: name.clone(),
                    token: *token,
                    at: place.clone(),
                    what: what.clone(),
                    since: at.to_owned(),
                    report: report.clone(),
                    flags: flags.clone(),
                    reason: reason.clone(),
                    read: read.clone(),
                    keep: keep.clone(),
                    decision: *decision,
                });
            }
            Event::EffectDone { keep, .. } => {
                merge(&mut self.kept, keep);
                if let Some(pending) = self.pending.take()
                    && matches!(
                        pending.at.trigger,
                        Trigger::Do | Trigger::Route | Trigger::Done
                    )
                    && let Some(token) = self.token_mut(pending.token)
                {
                    token.progress = Some(EffectAt {
                        effect: pending.at.effect + 1,
                        ..pending.at
                    });
                }
            }
            Event::EffectFailed { keep, .. } => {
                merge(&mut self.kept, keep);
                self.pending = None;
            }
            Event::VarsChanged { values, keep } => {
                merge(&mut self.vars, values);
                merge(&mut self.kept, keep);
            }
            Event::ArtifactRecorded(_) => self.artifacts += 1,
            Event::DecisionMade {
                gate,
                iteration,
                hash,
                choice,
                approval,
                keep,
                ..
            } => {
                merge(&mut self.kept, keep);
                // One decision a gate, and only those of this round: what was said of other bytes
                // before counts no more.
                self.approvals
                    .retain(|known| known.gate != *gate && known.iteration == *iteration);
                if *choice == Choice::Approve {
                    self.approvals.push(OpenedGate {
                        gate: gate.clone(),
                        iteration: *iteration,
                        hash: hash.clone(),
                        strength: approval.strength,
                    });
                }
            }
            Event::RefusalAllowed { unit, code, .. } => {
                for token in &mut self.tokens {
                    if let Some(present) = token.unit.as_mut().filter(|u| u.id == *unit) {
                        present.allowed.push(code.clone());
                    }
                }
            }
            Event::RunPaused {
                reason,
                token,
                message,
                person,
            } => {
                self.status = RunStatus::Paused;
                self.pause = Some(Pause {
                    reason: reason.clone(),
                    token: *token,
                    message: message.clone(),
                    person: *person,
                });
            }
            Event::RunResumed { grants } => {
                if self.status.is_over() {
                    self.forget_last_digest();
                }
                self.status = RunStatus::Running;
                self.pause = None;
                self.end_reason = None;
                self.ended_at = None;
                if let Some(grant) = grants
                    && let Some(token) = self.token_mut(grant.token)
                {
                    token.attempts.remove(&grant.state);
                }
            }
            Event::RunRewound { state, grants, .. } => {
                let now = std::mem::replace(self, RunState::clone(state));
                self.take_over(now, grants.as_ref());
                self.forget_last_digest();
                at.clone_into(&mut self.updated_at);
            }
            Event::RunEnded { status, reason } => {
                self.status = *status;
                self.pause = None;
                self.end_reason.clone_from(reason);
                self.ended_at = Some(at.to_owned());
                for token in &mut self.tokens {
                    token.unit = None;
                }
            }
            Event::ApprovalGiven { .. } | Event::Domain(_) => {}
        }
    }

    fn take_in(&mut self, report: &AcceptedReport) {
        merge(&mut self.kept, &report.keep_run);
        if let Some(token) = self.token_mut(report.token) {
            token.unit = None;
            merge(&mut token.kept, &report.keep);
            if report.attempt_used {
                *token.attempts.entry(report.state.clone()).or_insert(0) += 1;
            }
        }
        self.last = Some(report.clone());
    }

    /// Behind a way out of an end, or back, a report that says the same is another one, unless it names its unit.
    fn forget_last_digest(&mut self) {
        if let Some(last) = &mut self.last {
            last.digest.clear();
        }
    }

    fn token_mut(&mut self, id: u32) -> Option<&mut Token> {
        self.tokens.iter_mut().find(|token| token.id == id)
    }

    /// Notes that a token went from one state to another.
    fn moved(&mut self, from: &str, to: &str) {
        let ways = self.moves.entry(from.to_owned()).or_default();
        *ways.entry(to.to_owned()).or_default() += 1;
    }

    fn set_item_status(&mut self, set: &str, key: &str, status: ItemStatus) {
        if let Some(set) = self.sets.get_mut(set) {
            set.change(key, &Map::new(), Some(status));
        }
    }
}

/// The number of the issue: the first has none in its id.
fn number_of(unit: &str, base: &str) -> u32 {
    unit.strip_prefix(base)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|number| number.parse().ok())
        .unwrap_or(1)
}

/// Null in `from` removes a key: memory that is no longer wanted must not stay in every snapshot.
pub(crate) fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        if value.is_null() {
            into.shift_remove(key);
        } else {
            into.insert(key.clone(), value.clone());
        }
    }
}
