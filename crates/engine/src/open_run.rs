//! A run open for writing: deciding, appending, carrying effects out, recovering.

mod loading;

pub use crate::open_run::loading::{Loaded, event_of, fold, load, pinned, run_at};

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use journal::{EvidenceStore, FileJournal, Head, Journal as _, NewEvent, RunLock, Wait};
use machine::decide::{BLOCKED, Plan, PromptRequest};
use machine::state::Pending;
use machine::trigger::Trigger;
use machine::{
    Command, Decision, Definition, Event, Facts, Need, Prepared, Refusal, Role, RunState, Shared,
    decide,
};
use serde_json::Value;

use crate::open_run::loading::load_from;

use crate::clock::{Clock, stamp};
use crate::fail_point;
use crate::fault::Fault;
use crate::intent;
use crate::run_cache::{self, CachedRun};
use crate::snapshots;
use crate::support::{BAD_TEMPLATE, EffectRequest, EffectState, HandlerError, Outcome, Support};

/// How long a writer waits for the run's lock.
pub const LOCK_WAIT: Duration = Duration::from_secs(30);

/// What the next step of a run would be, as far as that can be told without writing anything.
#[derive(Debug)]
pub enum Forecast {
    /// None: it waits for something. The refusal says for what.
    Blocked(Refusal),
    /// A rule stands against it.
    Refused(Refusal),
    /// First this is to be read, which may take long.
    Reading {
        /// What it is read for.
        role: Role,
        /// The token.
        token: u32,
        /// The run as it is at that point.
        run: Box<RunState>,
    },
    /// It can be taken.
    Goes,
}

/// Looks what the next step of a run would be.
pub fn foresee(
    definition: &Definition,
    run: &RunState,
    support: &dyn Support,
) -> Result<Forecast, Fault> {
    if run.pending.is_some() {
        return Ok(Forecast::Goes);
    }
    let mut facts = Facts::default();
    loop {
        match decide(definition, run, &Command::Step, &facts) {
            Decision::Events(_) => return Ok(Forecast::Goes),
            Decision::Refused(refusal) if refusal.code == BLOCKED => {
                return Ok(Forecast::Blocked(refusal));
            }
            Decision::Refused(refusal) => return Ok(Forecast::Refused(refusal)),
            Decision::Need(need) => match *need {
                Need::Present { token, run } => facts.present = Some(support.present(&run, token)?),
                Need::Subject { gate, token, run } => match support.subject(&gate, &run, token) {
                    Ok(hash) => {
                        facts.subjects.insert(gate, hash);
                    }
                    Err(HandlerError::Refused(refusal)) => return Ok(Forecast::Refused(refusal)),
                    Err(HandlerError::Fault(fault)) => return Err(fault),
                },
                Need::Reading { role, token, run } => {
                    return Ok(Forecast::Reading {
                        role,
                        token,
                        run: Box::new(run),
                    });
                }
                Need::Effect { .. } | Need::Past { .. } => return Ok(Forecast::Goes),
            },
        }
    }
}

/// What a command came to.
#[derive(Debug)]
pub enum CommandOutcome {
    /// These events were journalled; none if there was nothing to do.
    Moved(Vec<Event>),
    /// Nothing moved.
    Refused(Refusal),
    /// An effect failed. Its intent and its failure are journalled; nothing else moved.
    EffectFailed {
        /// Stable code.
        code: String,
        /// What happened.
        message: String,
        /// What to do.
        suggestion: Option<String>,
        /// What was journalled.
        events: Vec<Event>,
    },
}

/// A run that this process may write.
#[derive(Debug)]
pub struct OpenRun<'a> {
    /// The run.
    pub run: Shared<RunState>,
    /// Its folder.
    pub dir: PathBuf,
    definition: Arc<Definition>,
    journal: FileJournal,
    head: Head,
    clock: &'a dyn Clock,
    snapshot_bytes: u64,
    tail_bytes: u64,
    /// Bytes of an unfinished unit that were cut off.
    pub cut_bytes: u64,
    /// What units are told that were issued in this call, by its hash: it goes into the journal with them.
    told: HashMap<String, Vec<u8>>,
    /// The same, once it is journalled.
    said: HashMap<String, Vec<u8>>,
    /// A report that another process had taken in was accepted now, so that the run is no longer where the caller may
    /// have seen it.
    pub moved_on: bool,
}

impl<'a> OpenRun<'a> {
    /// Opens the run in `dir`, waiting for its lock as `wait` says.
    pub fn open(
        dir: &Path,
        wait: Wait,
        command: &str,
        clock: &'a dyn Clock,
    ) -> Result<Self, Fault> {
        let journal = FileJournal::lock(dir, wait, command)?;
        let loaded = load_from(&journal, dir)?;
        let definition = pinned(dir, &loaded.run)?;
        Ok(Self {
            run: loaded.run,
            dir: dir.to_owned(),
            definition,
            journal,
            head: loaded.head,
            clock,
            snapshot_bytes: loaded.snapshot_bytes,
            tail_bytes: loaded.tail_bytes,
            cut_bytes: loaded.torn_bytes,
            told: HashMap::new(),
            said: HashMap::new(),
            moved_on: false,
        })
    }

    /// Opens a run that has no event yet, with the definition it is going to have.
    pub fn begin(
        dir: &Path,
        definition: Arc<Definition>,
        command: &str,
        clock: &'a dyn Clock,
    ) -> Result<Self, Fault> {
        Ok(Self {
            run: Shared::default(),
            dir: dir.to_owned(),
            definition,
            journal: FileJournal::lock(dir, LOCK_WAIT, command)?,
            head: Head::empty(),
            clock,
            snapshot_bytes: 0,
            tail_bytes: 0,
            cut_bytes: 0,
            told: HashMap::new(),
            said: HashMap::new(),
            moved_on: false,
        })
    }

    /// Whether the process that had the run's lock before was killed while it had it.
    pub fn is_after_a_death(&self) -> bool {
        let lock = self.journal.held_lock();
        lock.is_some_and(RunLock::is_after_a_death)
    }

    /// What a unit is told that was issued in this call, by its hash.
    pub fn issued_text(&self, hash: &str) -> Option<&[u8]> {
        self.said.get(hash).map(Vec::as_slice)
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    /// The hash of the last event.
    pub fn last(&self) -> &str {
        &self.head.hash
    }

    /// The definition that the run is pinned to.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Settles an effect that another process began and did not finish.
    pub fn recover(&mut self, support: &dyn Support) -> Result<(), Fault> {
        while let Some(pending) = self.run.pending.clone() {
            let outcome = match stands_against(&pending) {
                Some(refusal) => Outcome::of_refusal(refusal),
                None => match support.look(&self.run, &pending)? {
                    EffectState::Settled(outcome) => outcome,
                    EffectState::NotDone => support.perform(&self.run, &pending)?,
                },
            };
            self.moved_on |= pending.report.is_some() && matches!(outcome, Outcome::Done { .. });
            self.settle(support, outcome)?;
        }
        // The end is loaded often, and nothing is appended to it that would bring a snapshot.
        if self.run.status.is_over() && self.tail_bytes > 0 {
            self.write_snapshot();
        }
        Ok(())
    }

    /// Gives up the effect under way, which `why` stands against: it failed.
    pub fn give_up(&mut self, support: &dyn Support, why: &Fault) -> Result<(), Fault> {
        if self.run.pending.is_some() {
            let outcome = Outcome::Failed {
                code: why.code.clone(),
                message: why.message.clone(),
                suggestion: Some(why.suggestion.clone()),
                keep: serde_json::Map::new(),
            };
            self.settle(support, outcome)?;
        }
        Ok(())
    }

    /// Decides a command, journals what it gives, and carries out the effects that it asks for.
    pub fn command(
        &mut self,
        support: &dyn Support,
        command: &Command,
    ) -> Result<CommandOutcome, Fault> {
        let mut all = match self.decide_and_append(support, command)? {
            Ok(events) => events,
            Err(refusal) => return Ok(CommandOutcome::Refused(refusal)),
        };
        while let Some(pending) = self.run.pending.clone() {
            fail_point::reach("before-perform");
            let outcome = match stands_against(&pending) {
                Some(refusal) => Outcome::of_refusal(refusal),
                None => support.perform(&self.run, &pending)?,
            };
            fail_point::reach("after-perform");
            let failed = match &outcome {
                Outcome::Failed {
                    code,
                    message,
                    suggestion,
                    keep: _,
                } => Some((code.clone(), message.clone(), suggestion.clone())),
                Outcome::Done { .. } => None,
            };
            all.extend(self.settle(support, outcome)?);
            // Clearing up after an end is worth a warning and no more.
            if let Some((code, message, suggestion)) = failed
                && pending.at.trigger != Trigger::Final
            {
                return Ok(CommandOutcome::EffectFailed {
                    code,
                    message,
                    suggestion,
                    events: all,
                });
            }
        }
        if matches!(command, Command::Start(_)) {
            // The first event holds definition and settings, which is long to read every time.
            self.write_snapshot();
        }
        Ok(CommandOutcome::Moved(all))
    }

    fn settle(&mut self, support: &dyn Support, outcome: Outcome) -> Result<Vec<Event>, Fault> {
        let command = match outcome {
            Outcome::Done {
                result,
                keep,
                artifacts,
            } => Command::EffectDone {
                result,
                keep,
                artifacts,
            },
            Outcome::Failed {
                code,
                message,
                suggestion,
                keep,
            } => Command::EffectFailed {
                code,
                message,
                suggestion,
                keep,
            },
        };
        self.decide_and_append(support, &command)?
            .map_err(|refusal| {
                Fault::bug(format!(
                    "the result of an effect was refused: {} {}",
                    refusal.code,
                    refusal.message.unwrap_or_default()
                ))
            })
    }

    /// Whether a command would change anything, or why it would be refused, as far as can be told before its effects.
    pub fn weigh(
        &self,
        support: &dyn Support,
        command: &Command,
    ) -> Result<Result<bool, Refusal>, Fault> {
        let decided = self.decided(support, command, stamp(self.clock.millis()))?;
        Ok(decided.map(|plan| !plan.events.is_empty()))
    }

    fn decide_and_append(
        &mut self,
        support: &dyn Support,
        command: &Command,
    ) -> Result<Result<Vec<Event>, Refusal>, Fault> {
        let now = stamp(self.clock.millis());
        let plan = match self.decided(support, command, now.clone())? {
            Ok(plan) => self.with_prompts(support, plan)?,
            Err(refusal) => return Ok(Err(refusal)),
        };
        Ok(Ok(self.append(support, &now, plan.events, plan.after)?))
    }

    /// What a command comes to, decided with all that it asks for.
    fn decided(
        &self,
        support: &dyn Support,
        command: &Command,
        now: String,
    ) -> Result<Result<Plan, Refusal>, Fault> {
        let mut facts = Facts {
            now,
            ..Facts::default()
        };
        // Every round answers one need; a decision has a few at most per item it passes.
        loop {
            let need = match decide(&self.definition, &self.run, command, &facts) {
                Decision::Events(plan) => return Ok(Ok(*plan)),
                Decision::Refused(refusal) => return Ok(Err(refusal)),
                Decision::Need(need) => need,
            };
            match *need {
                Need::Reading { role, token, run } => match support.read(&role, &run, token) {
                    Ok(reading) if facts.reading.is_none() => facts.reading = Some(reading),
                    Ok(reading) => facts.further.push(reading),
                    Err(HandlerError::Refused(refusal)) => return Ok(Err(refusal)),
                    Err(HandlerError::Fault(fault)) => return Err(fault),
                },
                Need::Present { token, run } => {
                    facts.present = Some(support.present(&run, token)?);
                }
                Need::Past { seq } => facts.past = Some(Box::new(run_at(&self.dir, seq)?)),
                Need::Subject { gate, token, run } => match support.subject(&gate, &run, token) {
                    Ok(hash) => {
                        facts.subjects.insert(gate, hash);
                    }
                    Err(HandlerError::Refused(refusal)) => return Ok(Err(refusal)),
                    Err(HandlerError::Fault(fault)) => return Err(fault),
                },
                Need::Effect {
                    effect,
                    token,
                    run,
                    facts: known,
                    flags,
                    at,
                    with,
                } => {
                    let asked = EffectRequest {
                        effect: &effect,
                        token,
                        facts: &known,
                        flags: &flags,
                        at: &at,
                        with: &with,
                    };
                    match support.prepare(&asked, &run) {
                        Ok(what) => facts.prepared = Some(Prepared { effect, what }),
                        Err(HandlerError::Refused(refusal)) if at.effect > 0 => {
                            let what = standing_against(&refusal)?;
                            facts.prepared = Some(Prepared { effect, what });
                        }
                        Err(HandlerError::Refused(refusal)) => return Ok(Err(refusal)),
                        Err(HandlerError::Fault(fault)) => return Err(fault),
                    }
                }
            }
        }
    }

    /// The same plan with all prompts rendered that it asks for.
    fn with_prompts(&mut self, support: &dyn Support, mut plan: Plan) -> Result<Plan, Fault> {
        // What was done must be settled: nobody could end the run else.
        let settles = self.run.pending.is_some();
        for request in std::mem::take(&mut plan.prompts) {
            let (dir, told) = (&self.dir, &mut self.told);
            let hash = render(support, dir, told, (&request, &plan.after), settles)?;
            plan.answer(&request, &hash);
        }
        Ok(plan)
    }

    fn append(
        &mut self,
        support: &dyn Support,
        now: &str,
        mut events: Vec<Event>,
        after: RunState,
    ) -> Result<Vec<Event>, Fault> {
        if events.is_empty() {
            return Ok(events);
        }
        debug_assert_eq!(after, self.folded(now, &events), "{events:?}");
        let before = std::mem::replace(&mut self.run, after.into());
        let filled: Vec<Option<serde_json::Map<String, Value>>> = events
            .iter()
            .map(|event| match event {
                Event::Domain(domain) => support.payload(domain, &before, &self.run, &events),
                _ => None,
            })
            .collect();
        events = events
            .into_iter()
            .zip(filled)
            .filter_map(|(event, fields)| match (event, fields) {
                (Event::Domain(mut domain), Some(fields)) => {
                    domain.fields = fields;
                    Some(Event::Domain(domain))
                }
                (Event::Domain(_), None) => None,
                (event, _) => Some(event),
            })
            .collect();
        let mut lines: Vec<NewEvent> = Vec::with_capacity(events.len() + 1);
        if self.cut_bytes > 0 {
            lines.push(trouble(
                None,
                &format!(
                    "{} bytes of a unit that a crash left unfinished were cut off",
                    std::mem::take(&mut self.cut_bytes)
                ),
            ));
        }
        for event in &events {
            let (name, mut fields) = event.to_fields();
            if let Event::UnitIssued {
                context: Some(hash),
                ..
            } = event
                && let Some(bytes) = self.told.get(hash)
            {
                let told = String::from_utf8_lossy(bytes).into_owned();
                fields.insert(TOLD.to_owned(), told.into());
            }
            lines.push(NewEvent::new(name, fields));
            if let Event::EffectFailed { code, message, .. } = event {
                lines.push(trouble(Some(code), message));
            }
        }
        fail_point::reach("before-append");
        let appended = self.journal.append(&self.head, now, &lines);
        match appended {
            Ok(head) => {
                self.tail_bytes = self
                    .tail_bytes
                    .saturating_add(head.len - self.head.len.min(head.len));
                self.head = head;
            }
            Err(error) => {
                self.run = before;
                return Err(error.into());
            }
        }
        fail_point::reach("after-append");
        if journal::should_snapshot(self.tail_bytes, self.snapshot_bytes)
            || self.run.status.is_over()
        {
            self.write_snapshot();
        }
        self.said.extend(self.told.drain());
        let placed = support.place(&self.run, &events);
        support.derive(&self.run, &events);
        fail_point::reach("after-derived");
        if run_cache::is_on() {
            let seen = CachedRun {
                run: self.run.clone(),
                head: self.head.clone(),
                snapshot_bytes: self.snapshot_bytes,
                tail_bytes: self.tail_bytes,
            };
            run_cache::remember(&self.dir, seen);
        }
        placed.map(|()| events)
    }

    /// What the events make of the run.
    fn folded(&self, now: &str, events: &[Event]) -> RunState {
        let mut run = self.run.clone().into_inner();
        for event in events {
            run.apply(now, event);
        }
        run
    }

    /// A snapshot is a cache: one that cannot be written costs time at the next load, nothing else.
    fn write_snapshot(&mut self) {
        let position = self.head.position();
        let written = snapshots::write(&self.dir, &mut self.run, &self.definition, &position);
        if let Some(bytes) = written {
            self.snapshot_bytes = bytes;
            self.tail_bytes = 0;
        }
    }
}

/// Under this name the journal has what a unit is told, where that is not kept as evidence.
pub const TOLD: &str = "told";
/// What is longer, in bytes, is kept as evidence.
const LONGEST_TOLD: usize = 8 * 1024;

/// Under this name an intent has the rule that stands against it.
const STANDS_AGAINST: &str = "standsAgainst";

/// The intent of an effect that a rule stands against, behind another one on its edge that was carried out: nothing can be refused
/// any more, so it is intended, and fails.
fn standing_against(refusal: &Refusal) -> Result<Value, Fault> {
    let what = BTreeMap::from([(STANDS_AGAINST, refusal)]);
    intent::write(&what)
}

/// The rule that stands against an effect under way.
fn stands_against(pending: &Pending) -> Option<Refusal> {
    let refusal = pending.what.get(STANDS_AGAINST)?;
    serde_json::from_value(refusal.clone()).ok()
}

/// Puts together what a unit is told, and returns its hash. It goes into the journal with the unit, or into the run's evidence
/// before.
fn render(
    support: &dyn Support,
    dir: &Path,
    told: &mut HashMap<String, Vec<u8>>,
    (request, run): (&PromptRequest, &RunState),
    settles: bool,
) -> Result<String, Fault> {
    let bytes = match support.context(request, run, None) {
        Err(fault) if settles && fault.code == BAD_TEMPLATE => {
            support.context(request, run, Some(&fault))?
        }
        told => told?,
    };
    let state = run
        .token(request.token)
        .map_or("", |token| token.state.as_str());
    if support.tells_in_journal(state) && bytes.len() <= LONGEST_TOLD {
        let hash = journal::sha256_hex(&bytes);
        told.insert(hash.clone(), bytes);
        return Ok(hash);
    }
    Ok(EvidenceStore::new(dir).put(&bytes)?)
}

/// Something went wrong that the run got over, for those who follow the journal.
fn trouble(code: Option<&str>, message: &str) -> NewEvent {
    let mut fields = serde_json::Map::new();
    if let Some(code) = code {
        fields.insert("code".to_owned(), code.into());
    }
    fields.insert("error".to_owned(), message.into());
    fields.insert("recoverable".to_owned(), true.into());
    NewEvent::new("error", fields)
}
