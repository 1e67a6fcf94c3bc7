//! What each command asks for.

use serde_json::{Map, Value};

use super::edge::Transition;
use super::{Planner, Stop};
use crate::approval::{self, Approval, Strength};
use crate::command::{APPROVED, Command};
use crate::definition::{Kind, STATUS};
use crate::event::{Event, Grant};
use crate::refusal::Refusal;
use crate::state::{EffectAt, ItemStatus, ROOT, RunStatus};
use crate::trigger::Trigger;

/// The reason of a pause after the last attempt.
pub const MAX_ATTEMPTS: &str = "max_attempts_reached";

impl Planner<'_> {
    pub(super) fn command(&mut self, command: &Command) -> Result<(), Stop> {
        let begun = !self.run.tokens.is_empty();
        let under_way = self.run.pending.is_some();
        let internal = |message| Some(Refusal::new("internal").message(message));
        let refusal = match command {
            Command::Start(_) if begun => internal("this run was started before"),
            Command::Start(_) => None,
            _ if !begun => internal("this run was not started yet"),
            Command::EffectDone { .. } | Command::EffectFailed { .. } if !under_way => {
                internal("no effect is under way")
            }
            Command::EffectDone { .. } | Command::EffectFailed { .. } => None,
            _ if under_way => internal("an effect of an earlier command is not settled yet"),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(Stop::refused(refusal));
        }
        match command {
            Command::Start(start) => self.start(start),
            Command::Report(report) => self.report(report),
            Command::Reopen {
                item,
                reason,
                flags,
                approval,
            } => {
                self.person_agrees("reopen", reason, flags, approval.as_deref())?;
                let way = Transition {
                    reason: Some(reason.clone()),
                    flags: flags.clone(),
                    ..Transition::default()
                };
                self.step_aside(Trigger::Reopen, item.as_deref(), way)
            }
            Command::Skip {
                item,
                reason,
                keep,
                approval,
            } => self.skip(item.as_deref(), reason, keep, approval.as_deref()),
            Command::Step => self.step_once(),
            Command::Decide(ruling) => self.rule(ruling),
            Command::Allow {
                code,
                reason,
                approval,
            } => self.allow(code, reason, approval.as_deref()),
            Command::Edit { edits, keep } => self.edit(edits, keep),
            Command::Pause { reason, approval } => self.pause(reason, approval.as_deref()),
            Command::Resume { approval } => {
                self.person_agrees("resume", "", &Map::new(), approval.as_deref())?;
                self.resume()
            }
            Command::Abort { approval, flags } => self.abort(flags, approval.as_deref()),
            Command::Send {
                trigger,
                flags,
                approval,
            } => self.send(*trigger, flags, approval.as_deref()),
            Command::Rewind {
                to,
                reason,
                flags,
                approval,
            } => {
                self.person_agrees("rewind", reason, flags, approval.as_deref())?;
                self.rewind(*to, reason, flags)
            }
            Command::Adopt {
                reason,
                keep,
                again,
            } => self.adopt(reason, keep, again),
            Command::EffectDone {
                result,
                keep,
                artifacts,
            } => self.effect_done(result, keep, artifacts),
            Command::EffectFailed {
                code,
                message,
                suggestion: _,
                keep,
            } => self.effect_failed(code, message, keep),
        }
    }

    /// `reopen` and `skip`: the present state's own edges.
    fn step_aside(
        &mut self,
        trigger: Trigger,
        item: Option<&str>,
        mut way: Transition,
    ) -> Result<(), Stop> {
        if let Some(item) = item {
            way.flags.insert("item".to_owned(), item.into());
        }
        let reopens = trigger == Trigger::Reopen;
        let is_running = self.run.status == RunStatus::Running;
        let finished = item.filter(|_| reopens && is_running);
        let finished = finished.and_then(|item| self.finished(item));
        if let Some((set, key, each)) = &finished {
            self.open_again(set, key, way.reason.clone());
            if self.state_of(ROOT) == *each {
                return self.advance(&way.after(), false);
            }
        }
        let (token, state) = match self.run.status {
            RunStatus::Running if finished.is_some() => (ROOT, self.state_of(ROOT)),
            RunStatus::Running => self.in_hand(trigger, item)?,
            // A step back out of an end whose effect failed, to be taken again.
            RunStatus::Paused if reopens && self.stands_at_an_end() => (ROOT, self.left()),
            RunStatus::Paused if reopens => self.in_hand(trigger, item)?,
            RunStatus::Paused => return Err(self.paused()),
            // What broke down may be taken up again where it did.
            RunStatus::Error if reopens => (ROOT, self.left()),
            _ => return Err(self.over()),
        };
        self.takes_nothing_away(token, &state)?;
        let definition = self.definition;
        let edges = definition.edges(&state, trigger);
        let Some(chosen) = self.walk(edges, token, None, &[], &way)? else {
            let in_progress = item.filter(|_| finished.is_none());
            return Err(cannot(trigger, &state, in_progress));
        };
        if let Some((.., each)) = &finished
            && edges[chosen.index]
                .to
                .as_ref()
                .is_none_or(|to| to.value != *each)
        {
            return Err(cannot(trigger, &state, None));
        }
        if self.run.status != RunStatus::Running {
            // A step back is a way out of a pause too: the position it leads to may be the cure.
            self.push(Event::RunResumed { grants: None });
        }
        let at = EffectAt {
            state,
            trigger,
            edge: chosen.index,
            effect: 0,
        };
        let after = way.after().behind(trigger, token);
        self.take(token, &at, way)?;
        self.advance(&after, false)
    }

    /// Has the items in progress begin again: what they knew was known of something else.
    fn adopt(
        &mut self,
        reason: &str,
        keep: &Map<String, Value>,
        again: &[String],
    ) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let state = self.state_of(ROOT);
        self.takes_nothing_away(ROOT, &state)?;
        let reason = reason.trim();
        let way = Transition {
            reason: (!reason.is_empty()).then(|| reason.to_owned()),
            keep: keep.clone(),
            ..Transition::default()
        };
        for item in again {
            if let Some((set, key, _)) = self.finished(item) {
                self.open_again(&set, &key, way.reason.clone());
            }
        }
        self.take_from_root(Trigger::Adopt, way)
    }

    /// What the state of the run itself says for `trigger`, also where that is an end.
    fn send(
        &mut self,
        trigger: Trigger,
        flags: &Map<String, Value>,
        approval: Option<&Approval>,
    ) -> Result<(), Stop> {
        if self.run.status == RunStatus::Paused {
            return Err(self.paused());
        }
        let state = self.state_of(ROOT);
        let mut flags = flags.clone();
        flags.shift_remove(APPROVED);
        if let Some(approval) = approval {
            let least = self.run.least_approval;
            self.strong_enough(Some(approval), least, trigger.name())?;
            self.push(Event::ApprovalGiven {
                what: trigger.name().to_owned(),
                state: state.clone(),
                stopped: self.run.stopped().to_owned(),
                reason: String::new(),
                flags: flags.clone(),
                approval: approval.clone(),
            });
            flags.insert(APPROVED.to_owned(), approval.strength.name().into());
        }
        let way = Transition {
            flags,
            ..Transition::default()
        };
        self.take_from_root(trigger, way)
    }

    /// Takes the edge that the state of the run itself has for `trigger`.
    pub(super) fn take_from_root(&mut self, trigger: Trigger, way: Transition) -> Result<(), Stop> {
        let state = self.state_of(ROOT);
        let definition = self.definition;
        let edges = definition.edges(&state, trigger);
        let Some(chosen) = self.walk(edges, ROOT, None, &[], &way)? else {
            let refusal = not_possible(trigger).detail("state", state);
            return Err(Stop::refused(refusal));
        };
        let at = EffectAt {
            state,
            trigger,
            edge: chosen.index,
            effect: 0,
        };
        let after = way.after();
        self.take(ROOT, &at, way)?;
        self.advance(&after, false)
    }

    /// The item of that key that an `each` of the run is through with: its set, its key and the state of the `each`.
    fn finished(&self, key: &str) -> Option<(String, String, String)> {
        let is_over = |set: &str| {
            let item = self.run.sets.get(set)?.get(key)?;
            let over = matches!(item.status, ItemStatus::Done | ItemStatus::Failed);
            over.then_some(())
        };
        self.definition.all_states().find_map(|(_, name, state)| {
            let set = &state.each.as_ref()?.items.value;
            is_over(set)?;
            Some((set.clone(), key.to_owned(), name.value.clone()))
        })
    }

    /// Has an item stand where a new one does.
    fn open_again(&mut self, set: &str, key: &str, reason: Option<String>) {
        let declared = self.definition.items.get(set);
        let named = declared.and_then(|declared| declared.status.as_ref()?.first(ItemStatus::Open));
        let mut fields = Map::new();
        if let Some(name) = named {
            fields.insert(STATUS.to_owned(), name.into());
        }
        self.push(Event::ItemChanged {
            set: set.to_owned(),
            key: key.to_owned(),
            fields,
            status: Some(ItemStatus::Open),
            reason,
        });
    }

    /// Refuses where somebody is asked to judge what `token` waits with: it is not taken away before.
    pub(super) fn takes_nothing_away(&mut self, token: u32, state: &str) -> Result<(), Stop> {
        // A pause of anybody's own making opens no gate.
        let at_will = match &self.run.pause {
            Some(pause) => !pause.person,
            None => self.run.status == RunStatus::Running,
        };
        if at_will && self.is_blocked(token, state)? {
            return Err(self.gate_is_closed(state));
        }
        Ok(())
    }

    fn stands_at_an_end(&self) -> bool {
        self.definition
            .state(&self.state_of(ROOT))
            .is_some_and(|state| state.kind() == Kind::Final)
    }

    /// The state that the run left for its end.
    fn left(&self) -> String {
        self.run
            .token(ROOT)
            .and_then(|token| token.came_from.clone())
            .unwrap_or_default()
    }

    /// The one token that stands at work, or where `trigger` means something, and carries `item` if one
    /// is named; with its state.
    fn in_hand(&self, trigger: Trigger, item: Option<&str>) -> Result<(u32, String), Stop> {
        let mut standing = self.run.tokens.iter().filter(|token| {
            (item.is_none() || token.key() == item)
                && self.definition.state(&token.state).is_some_and(|state| {
                    state.kind() == Kind::Work || !state.edges(trigger).is_empty()
                })
        });
        match (standing.next(), standing.next()) {
            (Some(token), None) => Ok((token.id, token.state.clone())),
            (Some(_), Some(_)) => Err(Stop::refused(
                Refusal::new("which_one")
                    .message("several items are in flight; name the one that is meant"),
            )),
            (None, _) => {
                let mut tokens = self.run.tokens.iter();
                let gate = tokens.find_map(|token| self.gate_of(&token.state));
                let refusal = Refusal::new("not_present").message(match (item, gate) {
                    (Some(item), _) => {
                        let mut sets = self.run.sets.values();
                        let status = sets.find_map(|set| Some(set.get(item)?.status));
                        match status {
                            Some(ItemStatus::Done) => format!("{item} is done already"),
                            Some(ItemStatus::Failed) => format!("{item} was skipped already"),
                            Some(ItemStatus::Open) => {
                                format!("{item} is open, and not in progress yet")
                            }
                            _ => format!("{item} is not the present one"),
                        }
                    }
                    (None, Some(gate)) => {
                        format!("nothing is in hand: the run waits at the gate `{gate}`")
                    }
                    (None, None) => "nothing is in hand".to_owned(),
                });
                Err(Stop::refused(match (item, gate) {
                    (Some(item), _) => refusal.detail("item", item),
                    (None, Some(gate)) => refusal.detail("gate", gate),
                    (None, None) => refusal,
                }))
            }
        }
    }

    /// Refuses where only a person has the run go on, and none has; notes whose word it was.
    fn person_agrees(
        &mut self,
        what: &str,
        reason: &str,
        flags: &Map<String, Value>,
        approval: Option<&Approval>,
    ) -> Result<(), Stop> {
        let pause = self.run.pause.as_ref();
        let stopped =
            self.run.status == RunStatus::Error || pause.is_some_and(|pause| pause.person);
        let goes_back = what == Trigger::Rewind.name();
        let needed = stopped || goes_back && self.run.is_persons_to_take_back();
        if !needed && approval.is_none() {
            return Ok(());
        }
        let stopped = self.run.stopped().to_owned();
        let decided = format!("{what} after {stopped}");
        let least = self.run.least_approval;
        let approval = approval::strong_enough(approval, least, &decided).map_err(|refusal| {
            let run = self.run.run.as_str();
            Stop::refused(refusal.detail("turn", what).detail("runId", run))
        })?;
        self.push(Event::ApprovalGiven {
            what: what.to_owned(),
            state: self.state_of(ROOT),
            stopped,
            reason: reason.to_owned(),
            flags: flags.clone(),
            approval: approval.clone(),
        });
        Ok(())
    }

    /// Notes who did what anybody may do, where a person was asked.
    pub(super) fn persons_own(
        &mut self,
        what: &str,
        flags: Map<String, Value>,
        approval: Option<&Approval>,
    ) {
        if let Some(approval) = approval {
            self.push(Event::ApprovalGiven {
                what: what.to_owned(),
                state: self.state_of(ROOT),
                stopped: self.run.stopped().to_owned(),
                reason: String::new(),
                flags,
                approval: approval.clone(),
            });
        }
    }

    /// The person's word, held against the least that this run asks for.
    pub(super) fn strong_enough<'a>(
        &self,
        approval: Option<&'a Approval>,
        least: Strength,
        what: &str,
    ) -> Result<&'a Approval, Stop> {
        approval::strong_enough(approval, least.max(self.run.least_approval), what)
            .map_err(Stop::Refused)
    }

    fn allow(&mut self, code: &str, reason: &str, approval: Option<&Approval>) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {}
            RunStatus::Paused => return Err(self.paused()),
            _ => return Err(self.over()),
        }
        let (state, unit) = match self.run.waiting().next() {
            Some((token, unit)) => (token.state.clone(), unit.clone()),
            None => return Err(Stop::refused(Refusal::new("not_present"))),
        };
        let checked: Vec<&str> = self
            .definition
            .edges(&state, Trigger::Report)
            .iter()
            .flat_map(|edge| edge.check.0.iter().map(|policy| policy.value.as_str()))
            .collect();
        if !checked.contains(&code) {
            return Err(Stop::refused(
                Refusal::new("not_possible")
                    .message(if checked.is_empty() {
                        format!("`{code}` is no policy of this step; it has none")
                    } else {
                        format!(
                            "`{code}` is no policy of this step; these are: {}",
                            checked.join(", ")
                        )
                    })
                    .suggestion(
                        "only policies can be let pass; other refusals have another way out",
                    )
                    .detail("policies", checked),
            ));
        }
        if unit.allowed.iter().any(|known| known == code) {
            return Ok(());
        }
        let approval = self.strong_enough(approval, Strength::Terminal, "allow")?;
        self.push(Event::RefusalAllowed {
            unit: unit.id,
            code: code.to_owned(),
            reason: reason.to_owned(),
            approval: approval.clone(),
        });
        Ok(())
    }

    fn skip(
        &mut self,
        item: Option<&str>,
        reason: &str,
        keep: &Map<String, Value>,
        approval: Option<&Approval>,
    ) -> Result<(), Stop> {
        let named = item.map(|item| ("item".to_owned(), item.into()));
        self.persons_own("skip", named.into_iter().collect(), approval);
        let way = Transition {
            reason: Some(reason.to_owned()),
            keep: keep.clone(),
            ..Transition::default()
        };
        self.step_aside(Trigger::Skip, item, way)
    }

    fn pause(&mut self, reason: &str, approval: Option<&Approval>) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => {
                self.persons_own("pause", Map::new(), approval);
                self.push(Event::RunPaused {
                    reason: reason.to_owned(),
                    token: None,
                    message: None,
                    person: false,
                });
                Ok(())
            }
            RunStatus::Paused => Ok(()),
            _ => Err(self.over()),
        }
    }

    fn resume(&mut self) -> Result<(), Stop> {
        match self.run.status {
            RunStatus::Running => return Ok(()),
            RunStatus::Paused => {}
            _ => return Err(self.over()),
        }
        let grants = self.grants();
        self.push(Event::RunResumed { grants });
        self.advance(&Transition::default(), false)
    }

    /// The position that gets a fresh set of attempts, where the run has paused because there are none left.
    pub(super) fn grants(&self) -> Option<Grant> {
        let pause = self.run.pause.as_ref();
        let pause = pause.filter(|pause| pause.reason == MAX_ATTEMPTS)?;
        let token = pause.token?;
        Some(Grant {
            token,
            state: self.state_of(token),
        })
    }

    fn abort(
        &mut self,
        flags: &Map<String, Value>,
        approval: Option<&Approval>,
    ) -> Result<(), Stop> {
        let reason = flags.get("reason").and_then(Value::as_str);
        if approval.is_some() {
            self.person_agrees("abort", reason.unwrap_or_default(), flags, approval)?;
        }
        match self.run.status {
            status if status.is_called_off() => return Ok(()),
            status if status.is_over() => return Err(self.over()),
            _ => {}
        }
        let way = Transition {
            flags: flags.clone(),
            reason: reason.map(str::to_owned),
            ..Transition::default()
        };
        let state = self.state_of(ROOT);
        let definition = self.definition;
        let edges = definition.edges(&state, Trigger::Abort);
        let Some(chosen) = self.walk(edges, ROOT, None, &[], &way)? else {
            // A definition need not say how it is called off: that is possible all the same.
            self.leave_items();
            self.push(Event::RunEnded {
                status: RunStatus::Aborted,
                reason: None,
            });
            return Ok(());
        };
        let at = EffectAt {
            state,
            trigger: Trigger::Abort,
            edge: chosen.index,
            effect: 0,
        };
        self.take(ROOT, &at, way.clone())?;
        self.advance(&way, true)
    }

    pub(super) fn state_of(&self, token: u32) -> String {
        self.run
            .token(token)
            .map(|token| token.state.clone())
            .unwrap_or_default()
    }

    pub(super) fn paused(&self) -> Stop {
        let reason = self.run.pause.as_ref().map(|pause| pause.reason.clone());
        Stop::refused(Refusal::new("paused").detail("reason", reason))
    }

    pub(super) fn over(&self) -> Stop {
        Stop::refused(Refusal::new("run_over").detail("status", self.run.status.name()))
    }
}

fn not_possible(trigger: Trigger) -> Refusal {
    Refusal::new("not_possible").detail("trigger", trigger.to_string())
}

/// Why `trigger` leads nowhere from `state`, where `item` is in progress if one was named.
pub(super) fn cannot(trigger: Trigger, state: &str, item: Option<&str>) -> Stop {
    let refusal = not_possible(trigger).detail("state", state);
    Stop::refused(match item {
        Some(item) if trigger == Trigger::Reopen => refusal.detail("item", item).message(format!(
            "{item} is in progress already, in {state}: there is nothing to go back to"
        )),
        _ => refusal.message(format!("`{trigger}` is not possible in {state}")),
    })
}

pub(super) fn no_edge(state: &str) -> Stop {
    Stop::refused(
        Refusal::new("definition_fault")
            .message(format!("no edge of `{state}` takes this"))
            .suggestion("give the state a last edge without a guard, and see `tm workflow check`")
            .detail("state", state),
    )
}
