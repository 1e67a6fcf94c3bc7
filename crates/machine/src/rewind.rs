//! A way back: what of a run is as it was then, and what is as it is now.
//!
//! Numbers that are given once go on, and so do attempts: going back gives nobody more of them.

use std::collections::BTreeMap;

use crate::event::Grant;
use crate::state::{RunState, RunStatus};

impl RunState {
    /// Whether it stands where it can be taken back to: somebody was asked to do something, and nothing else was under way.
    pub fn is_a_step(&self) -> bool {
        self.status == RunStatus::Running
            && self.pending.is_none()
            && self.waiting().next().is_some()
    }

    /// Whether only a person takes it back. Whoever calls a run off that stopped by a rule is out of that by no other way.
    pub fn is_persons_to_take_back(&self) -> bool {
        let called_off = [RunStatus::Error, RunStatus::Aborted, RunStatus::Cancelled];
        called_off.contains(&self.status) || self.pause.as_ref().is_some_and(|pause| pause.person)
    }

    /// Notes the attempts that an item has used up which was left, or given up: one that is taken up again has no more of them.
    pub(crate) fn spend(&mut self, item: (String, String), attempts: &BTreeMap<String, u32>) {
        if !attempts.is_empty() {
            let (set, key) = item;
            let items = self.spent.entry(set).or_default();
            add_up(items.entry(key).or_default(), attempts);
        }
    }

    /// The part of it that an event of a way back holds. Whoever was asked for something is asked anew, for `reason` if one is
    /// given.
    #[must_use]
    pub fn as_past(&self, reason: Option<&str>) -> Self {
        let mut tokens = self.tokens.clone();
        for token in &mut tokens {
            if token.unit.take().is_some() && reason.is_some() {
                token.reason = reason.map(str::to_owned);
            }
        }
        Self {
            status: self.status,
            vars: self.vars.clone(),
            sets: self.sets.clone(),
            tokens,
            last: self.last.clone(),
            kept: self.kept.clone(),
            approvals: self.approvals.clone(),
            ..Self::default()
        }
    }

    /// Takes over from the run as it was until now what does not go back.
    pub(crate) fn take_over(&mut self, mut now: Self, grants: Option<&Grant>) {
        if let Some(grant) = grants
            && let Some(token) = now.tokens.iter_mut().find(|token| token.id == grant.token)
        {
            token.attempts.remove(&grant.state);
        }
        self.spent = std::mem::take(&mut now.spent);
        for token in now.tokens {
            if let Some(again) = self.tokens.iter_mut().find(|again| again.id == token.id) {
                add_up(&mut again.attempts, &token.attempts);
            }
            if let Some(item) = token.item {
                self.spend(item, &token.attempts);
            }
        }
        for token in &mut self.tokens {
            let item = token.item.as_ref();
            let spent = item.and_then(|(set, key)| self.spent.get(set)?.get(key));
            if let Some(spent) = spent {
                add_up(&mut token.attempts, spent);
            }
        }
        self.run = now.run;
        self.workflow = now.workflow;
        self.view = now.view;
        self.definition_hash = now.definition_hash;
        self.inputs = now.inputs;
        self.config = now.config;
        self.settings = now.settings;
        self.policy_hash = now.policy_hash;
        self.policies = now.policies;
        self.actor = now.actor;
        self.least_approval = now.least_approval;
        self.started_at = now.started_at;
        self.next_token = now.next_token;
        self.next_effect = now.next_effect;
        self.issues = now.issues;
        self.transitions = now.transitions;
        self.moves = now.moves;
        self.artifacts = now.artifacts;
    }
}

/// Of each state the more of the two.
fn add_up(attempts: &mut BTreeMap<String, u32>, others: &BTreeMap<String, u32>) {
    for (state, used) in others {
        let known = attempts.entry(state.clone()).or_insert(0);
        *known = (*known).max(*used);
    }
}
