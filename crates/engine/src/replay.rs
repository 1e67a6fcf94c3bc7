//! A run as it was at some event: its journal, folded up to there.

use std::path::Path;
use std::sync::Arc;

use draw::Look;
use journal::{Follower, Position, Record};
use machine::{Definition, Event, RunState};
use serde::Serialize;
use serde_json::{Value, json};

use crate::action::next::{Detail, of_run};
use crate::board::{BoardSet, sets};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::graph;
use crate::open_run::{self, event_of};
use crate::projection::{PIECE, Projection, Projections};
use crate::view::{AUTOPILOT, GENERIC};

/// How many places of a run are remembered to go on from.
const MOST_PLACES: usize = 32;

static CHECKPOINTS: Projections<Checkpoints> = Projections::of_at_most(4);

/// A run as it was at places of its journal that are about equally far from each other.
#[derive(Debug)]
struct Checkpoints {
    places: Vec<(Position, RunState)>,
    /// How many places are passed over between two of them.
    between: usize,
    passed: usize,
    /// As it is at the end.
    run: RunState,
    last: Option<LastEvent>,
}

/// The event behind which a run is shown.
#[derive(Debug, Clone, Serialize)]
struct LastEvent {
    seq: u64,
    event: String,
    ts: String,
}

impl Projection for Checkpoints {
    fn begin(_: &Path) -> Result<Self, Fault> {
        Ok(Self {
            places: vec![(Position::start(), RunState::default())],
            between: 0,
            passed: 0,
            run: RunState::default(),
            last: None,
        })
    }

    fn take(&mut self, record: &Record, event: Event, end: Option<&Position>) -> Result<(), Fault> {
        self.run.apply(&record.ts, &event);
        let Some(end) = end else {
            return Ok(());
        };
        self.last = Some(LastEvent::of(record));
        if self.passed < self.between {
            self.passed += 1;
            return Ok(());
        }
        self.passed = 0;
        self.places.push((end.clone(), self.run.clone()));
        if self.places.len() > MOST_PLACES {
            let mut at = 0;
            self.places.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.between = 2 * self.between + 1;
        }
        Ok(())
    }
}

impl Checkpoints {
    /// The last place before the event with this number.
    fn before(&self, seq: u64) -> (Position, RunState) {
        let behind = self.places.partition_point(|(place, _)| place.seq < seq);
        self.places
            .get(behind.saturating_sub(1))
            .cloned()
            .unwrap_or_else(|| (Position::start(), RunState::default()))
    }
}

impl LastEvent {
    fn of(record: &Record) -> Self {
        Self {
            seq: record.seq,
            event: record.event.clone(),
            ts: record.ts.clone(),
        }
    }
}

/// A run as it was at some event.
#[derive(Debug)]
pub struct Replayed {
    at: Option<LastEvent>,
    run: RunState,
    definition: Arc<Definition>,
}

impl Replayed {
    /// The last event that it has, in the journal's numbers, and its time, UTC.
    pub fn at(&self) -> Option<(u64, &str)> {
        self.at.as_ref().map(|last| (last.seq, last.ts.as_str()))
    }

    /// How it stood then.
    pub fn status(&self) -> &'static str {
        self.run.status.name()
    }

    /// Its items as they were then, set by set.
    pub fn items(&self) -> Vec<BoardSet> {
        sets(&self.run, &self.definition)
    }

    /// Its workflow, with where it was then and which way it had taken.
    pub fn picture(&self, look: Look) -> Result<String, Fault> {
        graph::picture_of(&self.run, &self.definition, look)
    }

    /// All of it, but for the settings: they are long, and the same at every event.
    pub fn state(&self) -> Result<Value, Fault> {
        let mut shown = json(&self.run)?;
        if let Value::Object(map) = &mut shown {
            map.shift_remove("settings");
            map.shift_remove("policies");
        }
        Ok(shown)
    }

    /// The same with its last event, and what was to be done next.
    pub fn json(&self) -> Result<Value, Fault> {
        // No file is read for a brief answer.
        let dir = Path::new("");
        let view = if is_over_a_task(&self.run) {
            &AUTOPILOT
        } else {
            &GENERIC
        };
        let next = of_run(view, &self.run, Some(&self.definition), dir, Detail::Brief)?;
        Ok(json!({ "at": self.at, "state": self.state()?, "nextAction": json(&next)? }))
    }
}

fn json(value: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|error| Fault::bug(error.to_string()))
}

impl Engine {
    /// The run as it was after event `to`; as it is now if absent.
    ///
    /// # Errors
    /// `usage` if there is no such event.
    pub fn replay(&self, run: Option<&str>, to: Option<u64>) -> Result<Replayed, Fault> {
        let (dir, loaded) = self.load_any(run)?;
        let (begin, state, last) = CHECKPOINTS.of(dir.path(), self.patience, |known| {
            let number = known.last.as_ref().map_or(0, |last| last.seq);
            match to {
                Some(to) if to == 0 || to > number => Err(none_of(to, number)),
                Some(to) if to < number => {
                    let (begin, state) = known.before(to);
                    Ok((Some((begin, to)), state, None))
                }
                _ => Ok((None, known.run.clone(), known.last.clone())),
            }
        })?;
        let (state, last) = match begin {
            Some((begin, to)) => folded(&dir.journal_path(), begin, state, to)?,
            None => (state, last),
        };
        Ok(Replayed {
            at: last,
            definition: open_run::pinned(dir.path(), &loaded.run)?,
            run: state,
        })
    }
}

/// The run behind the unit of the event with the number `to`, from what it was at `begin` on. Events of one unit happened at once:
/// there was never a run with only some of them.
fn folded(
    journal: &Path,
    begin: Position,
    mut run: RunState,
    to: u64,
) -> Result<(RunState, Option<LastEvent>), Fault> {
    let mut follower = Follower::new(journal, begin);
    let mut last = None;
    loop {
        let records = follower.poll_within(PIECE)?;
        if records.is_empty() {
            return Ok((run, last));
        }
        for record in &records {
            run.apply(&record.ts, &event_of(record)?);
            last = Some(LastEvent::of(record));
            if record.seq >= to && record.k == record.n {
                return Ok((run, last));
            }
        }
    }
}

fn none_of(to: u64, last: u64) -> Fault {
    fault!("not_found.event", last, to)
}
