//! Whether a journal tells of a run as its definition lets it go: what came about without the decision that it needs, or
//! cannot have come about at all.
//!
//! Whoever writes the store can write a journal whose chain is whole, and a snapshot beside it that has a run go on from
//! where it never was. The events say what happened; this says what of it follows from what was before.

use journal::Record;
use machine::command::Choice;
use machine::decide::{MAX_ATTEMPTS, gate_strength};
use machine::event::AcceptedReport;
use machine::trigger::Trigger;
use machine::{Definition, Event, RunState, RunStatus, Severity, Strength};
use serde::Serialize;
use serde_json::Value;

use crate::capability::files::subject::recorded;
use crate::decisions::Decision;
use crate::earlier::Earlier;
use crate::support::reported as reported_hash;

/// Something that does not follow from the events before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The number of the event.
    pub seq: u64,
    /// What it is.
    pub message: String,
}

/// A journal, read event by event.
#[derive(Debug, Default)]
pub struct Audit {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// What does not follow, or has less behind it than the run asks for.
    pub missing: Vec<Missing>,
    definition: Option<Definition>,
    /// What somebody decided in the unit at hand: `resume`, `reject` …
    decided: Option<String>,
    /// Whether the unit at hand tells how an effect came out that was under way.
    ends_what_was_intended: bool,
    /// The hash of what was reported last before the unit at hand: what a gate was about that its own report leads through.
    reported: String,
    /// The run as it was behind the events that it is taken back to.
    earlier: Earlier<RunState>,
}

impl Audit {
    /// That of a journal of these lines, before the first of them.
    pub fn of(records: &[Record]) -> Self {
        Self {
            earlier: Earlier::of(records),
            ..Self::default()
        }
    }

    /// Whether the run's workflow looks at each report in `state` for what breaks this policy.
    pub fn checks(&self, state: &str, policy: &str) -> bool {
        let definition = self.definition.as_ref();
        definition.is_some_and(|definition| definition.always_checks(state, policy))
    }

    /// Takes in the next event. `run` is as it was before it.
    pub fn note(&mut self, run: &RunState, record: &Record, event: &Event) {
        self.earlier.note(record.seq.saturating_sub(1), run);
        if record.k <= 1 {
            self.decided = None;
            let ends = matches!(event, Event::EffectDone { .. } | Event::EffectFailed { .. });
            self.ends_what_was_intended = ends && run.pending.is_some();
            let has_gates = |definition: &Definition| !definition.gates.is_empty();
            if self.definition.as_ref().is_some_and(has_gates) {
                self.reported = reported_hash(run);
            }
        }
        let mut problems = Vec::new();
        if let Event::RunCreated {
            definition,
            definition_hash,
            ..
        } = event
        {
            problems.extend(self.begun(run, definition, definition_hash));
        }
        if let Some(decision) = Decision::of(&run.run, record, event) {
            problems.extend(self.weak(run, event, &decision));
            self.decided = match event {
                Event::DecisionMade { choice, .. } => Some(choice.name().to_owned()),
                Event::ApprovalGiven { .. } if decision.is_of_anybody() => None,
                Event::ApprovalGiven { what, .. } => Some(what.clone()),
                _ => Some(String::new()),
            };
            self.decisions.push(decision);
        }
        // What a person decided goes on behind each effect on its way.
        if let (Event::EffectDone { .. }, Some(pending)) = (event, &run.pending)
            && matches!(
                pending.at.trigger,
                Trigger::Reject | Trigger::Reopen | Trigger::Rewind
            )
        {
            self.decided = Some(pending.at.trigger.to_string());
        }
        // What was under way when the run was stopped, as by a repair of its journal, comes to its end all the same.
        if !self.ends_what_was_intended {
            problems.extend(self.went_on_while_stopped(run, event));
        }
        problems.extend(elsewhere(run, event));
        problems.extend(self.resumed(run, event));
        problems.extend(self.moved(run, event));
        if let Event::EffectIntended { token, at, .. } = event {
            problems.extend(self.passed_unopened(run, *token, &at.state, at.trigger));
        }
        problems.extend(self.sent_back(event));
        problems.extend(reported(run, event));
        problems.extend(self.ended(run, event));
        problems.extend(self.taken_back(run, event));
        let seq = record.seq;
        self.missing
            .extend(problems.into_iter().map(|message| Missing { seq, message }));
    }

    fn begun(&mut self, run: &RunState, text: &str, hash: &str) -> Option<String> {
        if !run.run.is_empty() {
            return Some("the run begins a second time".to_owned());
        }
        self.definition = Definition::parse(text).ok();
        if self.definition.is_none() {
            return Some("its workflow cannot be read, so nothing is held against it".to_owned());
        }
        (journal::sha256_hex(text.as_bytes()) != hash)
            .then(|| "its workflow is not the one that its hash names".to_owned())
    }

    /// A decision that has less behind it than its run asks for.
    fn weak(&self, run: &RunState, event: &Event, decision: &Decision) -> Option<String> {
        let own = match event {
            Event::DecisionMade { gate, .. } => self
                .definition
                .as_ref()
                .and_then(|definition| gate_strength(definition, run, gate))
                .unwrap_or_default(),
            Event::RefusalAllowed { .. } => Strength::Terminal,
            _ if decision.is_of_anybody() => return None,
            _ => Strength::default(),
        };
        let least = own.max(run.least_approval);
        let strength = decision.approval.strength;
        (strength < least).then(|| {
            format!(
                "{} is {}, and the run asks for {}",
                decision.what(),
                strength.name(),
                least.name()
            )
        })
    }

    fn resumed(&self, run: &RunState, event: &Event) -> Option<String> {
        let Event::RunResumed { grants } = event else {
            return None;
        };
        let decided = self.decided.as_deref();
        let stopped = match (&run.pause, run.status) {
            (Some(pause), _) if pause.person => Some(pause.reason.as_str()),
            (_, RunStatus::Error) => Some("it broke down"),
            _ => None,
        };
        if let Some(stopped) = stopped
            && !matches!(decided, Some("resume" | "reopen"))
        {
            return Some(format!(
                "the run went on after {stopped}, and nobody decided it"
            ));
        }
        let grant = grants.as_ref()?;
        let used_up = run
            .pause
            .as_ref()
            .is_some_and(|pause| pause.reason == MAX_ATTEMPTS && pause.token == Some(grant.token));
        (!used_up || decided != Some("resume")).then(|| {
            format!(
                "{} was given new attempts, and nobody decided it",
                grant.state
            )
        })
    }

    fn moved(&self, run: &RunState, event: &Event) -> Vec<String> {
        let Event::StateEntered {
            token,
            from,
            to,
            cause,
            ..
        } = event
        else {
            return Vec::new();
        };
        let Some(definition) = &self.definition else {
            return Vec::new();
        };
        if *cause == Trigger::Start {
            let first = run.transitions == 0 && *to == definition.initial.value;
            let wrong = (!first).then(|| format!("the run began at {to}, where it does not begin"));
            return wrong.into_iter().collect();
        }
        let Some(standing) = run.token(*token) else {
            return vec![format!("{to} was entered by nothing that was under way")];
        };
        let mut problems = Vec::new();
        // A step back out of an end goes by the edges of the state that was left for it.
        let left = standing
            .came_from
            .as_deref()
            .filter(|_| *cause == Trigger::Reopen);
        let stood = [Some(standing.state.as_str()), left];
        if !stood.contains(&Some(from.as_str())) {
            problems.push(format!(
                "{to} was entered from {from}, and the run stood at {}",
                standing.state
            ));
        } else if !stood
            .into_iter()
            .flatten()
            .any(|state| leads(definition, state, *cause, to))
        {
            problems.push(format!("{cause} does not lead from {from} to {to}"));
        }
        problems.extend(self.passed_unopened(run, *token, from, *cause));
        problems
    }

    /// What is wrong with a way out of a state that leads through a gate: nobody opened it, or for something else.
    fn passed_unopened(
        &self,
        run: &RunState,
        token: u32,
        from: &str,
        cause: Trigger,
    ) -> Option<String> {
        let by_hand = matches!(cause, Trigger::Reopen | Trigger::Skip);
        // Whoever took it up again decided that; a pause of anybody's own making is none.
        let decided = matches!(self.decided.as_deref(), Some("resume" | "reopen"));
        if matches!(cause, Trigger::Reject | Trigger::Abort) || (by_hand && decided) {
            return None;
        }
        let definition = self.definition.as_ref()?;
        let gate = &definition.state(from)?.gate.as_ref()?.value;
        let least = gate_strength(definition, run, gate)?;
        let round = definition.round(&run.vars);
        let mut opened = run.approvals.iter().filter(|opened| {
            opened.gate == *gate && opened.iteration == round && opened.strength >= least
        });
        let Some(first) = opened.clone().next() else {
            return Some(format!("the gate {gate} was passed, and nobody opened it"));
        };
        let subject = recorded(definition, run, gate, token);
        let fits = |hash: &str| hash == subject || hash == self.reported;
        (!opened.any(|opened| fits(&opened.hash))).then(|| {
            format!(
                "what passed the gate {gate} is not what was approved there, {}",
                first.hash
            )
        })
    }

    /// What is sent back at a gate is sent back by a person.
    fn sent_back(&self, event: &Event) -> Option<String> {
        let rejects = match event {
            Event::StateEntered { cause, .. } => *cause == Trigger::Reject,
            Event::EffectIntended { at, .. } => at.trigger == Trigger::Reject,
            _ => false,
        };
        let decided = self.decided.as_deref() == Some(Choice::Reject.name());
        (rejects && !decided).then(|| "work was sent back, and nobody decided it".to_owned())
    }

    /// What does not happen while a run is stopped.
    fn went_on_while_stopped(&self, run: &RunState, event: &Event) -> Option<String> {
        if run.status == RunStatus::Running {
            return None;
        }
        let pause = run.pause.as_ref();
        let stopped = pause.map_or(run.status.name(), |pause| pause.reason.as_str());
        let leaves = |way: Trigger| matches!(way, Trigger::Abort | Trigger::Final);
        let wrong = match event {
            Event::ReportAccepted(_) | Event::ReportRetried(_) | Event::UnitIssued { .. } => true,
            Event::StateEntered { cause, .. } => !leaves(*cause),
            // What comes behind an end is about what the run made.
            Event::EffectIntended { at, .. } => {
                let behind = run.status.is_over() && Trigger::AFTER_THE_END.contains(&at.trigger);
                !leaves(at.trigger) && !behind && !self.may_go_back(run, at.trigger)
            }
            // Who would have to decide is asked no more.
            Event::RunPaused { person, .. } => pause.is_some_and(|pause| pause.person) && !person,
            _ => false,
        };
        wrong.then(|| format!("the run went on while it was stopped ({stopped})"))
    }

    /// Whether it is a way back that nobody has to decide, or that somebody has.
    fn may_go_back(&self, run: &RunState, trigger: Trigger) -> bool {
        let decided = self.decided.as_deref() == Some(Trigger::Rewind.name());
        trigger == Trigger::Rewind && (decided || !run.is_persons_to_take_back())
    }

    /// What a run is taken back to is what it was.
    fn taken_back(&self, run: &RunState, event: &Event) -> Option<String> {
        let Event::RunRewound {
            to, state, reason, ..
        } = event
        else {
            return None;
        };
        let was = self.earlier.behind(*to).filter(|was| was.is_a_step());
        let Some(was) = was else {
            return Some(format!(
                "the run was taken back to event {to}, behind which it cannot stand"
            ));
        };
        let (mut told, mut was) = (RunState::clone(state), was.as_past(reason.as_deref()));
        let (kept, then) = (
            std::mem::take(&mut told.kept),
            std::mem::take(&mut was.kept),
        );
        // Of what is remembered all is there that was then; what is not as it was then is as it was last.
        let is_known = |(name, value): (&String, &Value)| {
            let known = [then.get(name), run.kept.get(name)];
            known.contains(&Some(value))
        };
        let is_kept = kept.iter().all(is_known) && then.keys().all(|name| kept.contains_key(name));
        (told != was || !is_kept).then(|| {
            format!("the run was taken back to something else than what it was behind event {to}")
        })
    }

    fn ended(&self, run: &RunState, event: &Event) -> Option<String> {
        let Event::RunEnded { status, .. } = event else {
            return None;
        };
        let definition = self.definition.as_ref()?;
        let at = run.state();
        let end = definition.state(at).and_then(|state| state.end.as_ref());
        let means = end.map(|end| RunStatus::from(end.value));
        let called_off = *status == RunStatus::Aborted && means.is_none();
        (means != Some(*status) && !called_off).then(|| {
            format!(
                "the run ended as {} at {at}, which is no such end",
                status.name()
            )
        })
    }
}

/// Whether `cause` can lead from one state to the other.
fn leads(definition: &Definition, from: &str, cause: Trigger, to: &str) -> bool {
    let Some(state) = definition.state(from) else {
        return false;
    };
    let plainly = matches!(cause, Trigger::Do | Trigger::Report)
        && state.to.as_ref().is_some_and(|plain| plain.value == to);
    // An edge that leads nowhere stays where it is.
    plainly
        || definition
            .own_or_otherwise(from, cause)
            .iter()
            .any(|edge| match &edge.to {
                Some(target) => target.value == to,
                None => from == to,
            })
}

/// A report that nobody was asked for, or that was accepted against a policy.
fn reported(run: &RunState, event: &Event) -> Vec<String> {
    let (report, accepted): (&AcceptedReport, bool) = match event {
        Event::ReportAccepted(report) => (report, true),
        Event::ReportRetried(report) => (report, false),
        _ => return Vec::new(),
    };
    let unit = run
        .token(report.token)
        .and_then(|token| token.unit.as_ref())
        .filter(|unit| unit.id == report.unit);
    let Some(unit) = unit else {
        return vec![format!(
            "a report on {} was taken in, which was asked for from nobody",
            report.unit
        )];
    };
    let refused = |policy: &&String| {
        let severity = run.policies.get(policy.as_str()).copied();
        let severity = severity.unwrap_or(Severity::Refuse);
        matches!(severity, Severity::Refuse | Severity::Pause) && !unit.allowed.contains(policy)
    };
    let findings = report.findings.iter().map(|finding| &finding.policy);
    findings
        .filter(|_| accepted)
        .filter(refused)
        .map(|policy| {
            format!(
                "{} was accepted although `{policy}` refuses it",
                report.unit
            )
        })
        .collect()
}

/// What is asked for, or begun, where its token does not stand.
fn elsewhere(run: &RunState, event: &Event) -> Option<String> {
    let (token, at) = match event {
        Event::UnitIssued { token, state, .. } => (token, state),
        // A step back out of an end is begun at the state that was left for it.
        Event::EffectIntended { token, at, .. } if at.trigger != Trigger::Reopen => {
            (token, &at.state)
        }
        _ => return None,
    };
    let stands = run.token(*token).map_or("", |token| token.state.as_str());
    (stands != at).then(|| format!("the run went on at {at}, and it stood at {stands}"))
}
