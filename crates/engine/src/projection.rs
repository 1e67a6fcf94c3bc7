//! What is made of a run's journal event by event, and kept from one question to the next: a projection, as event sourcing calls it.
//! A long journal is read once, piece by piece, and after that only what is new of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use journal::{Follower, JournalError, Position, Record};
use machine::Event;

use crate::fault;
use crate::fault::Fault;
use crate::open_run::event_of;
use crate::revision;

/// How much of a journal is read at once, in bytes.
pub(crate) const PIECE: u64 = 256 * 1024;
/// For how long a thread that reads on lets others have a look.
const PAUSE: Duration = Duration::from_micros(200);

/// What is made of a journal.
pub(crate) trait Projection: Sized + Send + 'static {
    /// What there is before the first event of the run in the folder `dir`.
    fn begin(dir: &Path) -> Result<Self, Fault>;

    /// Takes in an event. `end` is where it ends in the journal, if its unit ends with it.
    fn take(&mut self, record: &Record, event: Event, end: Option<&Position>) -> Result<(), Fault>;

    /// Whether it can take in this event; where it cannot, everything is read anew.
    fn can_take(&self, record: &Record) -> bool {
        let _ = record;
        true
    }
}

/// The projection of the whole journal of the run in `dir`, for one use.
pub(crate) fn whole<P: Projection>(dir: &Path) -> Result<P, Fault> {
    let mut reading = Reading::<P>::of(dir);
    while !reading.read_on(dir)? {}
    reading
        .made
        .ok_or_else(|| Fault::bug("nothing was made of a journal"))
}

/// The projections of the runs that were asked for last.
#[derive(Debug)]
pub(crate) struct Projections<P> {
    kept: Mutex<Vec<Kept<P>>>,
    most: usize,
}

/// A projection and its run's folder.
type Kept<P> = (PathBuf, Arc<Mutex<Reading<P>>>);

/// A projection, as far as the journal was read.
#[derive(Debug)]
struct Reading<P> {
    follower: Follower,
    /// What the file looked like when it was read to its end.
    revision: Option<u64>,
    made: Option<P>,
    /// How long the journal was when it was begun.
    prepared_for: u64,
    /// Whether a thread reads on.
    goes_on: bool,
}

impl<P: Projection> Projections<P> {
    /// For at most so many runs.
    pub(crate) const fn of_at_most(most: usize) -> Self {
        Self {
            kept: Mutex::new(Vec::new()),
            most,
        }
    }

    /// Gives the projection of the run in `dir` as it is now. Whoever has patience waits at most so long: the rest of a long journal
    /// is read behind their back then, and they may ask again.
    ///
    /// # Errors
    /// `reading` if it took longer.
    pub(crate) fn of<T>(
        &self,
        dir: &Path,
        patience: Option<Duration>,
        give: impl FnOnce(&mut P) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let kept = self.kept(dir);
        let asked = Instant::now();
        loop {
            let mut reading = locked(&kept);
            if reading.read_on(dir)? {
                let made = reading.made.as_mut();
                return give(made.ok_or_else(|| Fault::bug("nothing was made of a journal"))?);
            }
            if patience.is_some_and(|patience| asked.elapsed() > patience) {
                let fault = reading.unfinished(dir);
                if !std::mem::replace(&mut reading.goes_on, true) {
                    drop(reading);
                    read_behind(&kept, dir)?;
                }
                return Err(fault);
            }
        }
    }

    fn kept(&self, dir: &Path) -> Arc<Mutex<Reading<P>>> {
        let mut kept = locked(&self.kept);
        let known = match kept.iter().position(|(of, _)| of == dir) {
            Some(at) => kept.remove(at),
            None => (dir.to_owned(), Arc::new(Mutex::new(Reading::of(dir)))),
        };
        if kept.len() >= self.most {
            kept.remove(0);
        }
        let reading = Arc::clone(&known.1);
        kept.push(known);
        reading
    }
}

/// Has a thread of its own read a journal to its end.
fn read_behind<P: Projection>(kept: &Arc<Mutex<Reading<P>>>, dir: &Path) -> Result<(), Fault> {
    let (kept, dir) = (Arc::clone(kept), dir.to_owned());
    let begun = std::thread::Builder::new().name("projection".to_owned());
    let begun = begun.spawn(move || {
        loop {
            let mut reading = locked(&kept);
            // Whoever asks next comes upon the same trouble, and is told of it.
            if reading.read_on(&dir).unwrap_or(true) {
                reading.goes_on = false;
                return;
            }
            drop(reading);
            std::thread::sleep(PAUSE);
        }
    });
    begun
        .map(|_| ())
        .map_err(|error| Fault::environment("io_failed", "a journal cannot be read aside", &error))
}

impl<P: Projection> Reading<P> {
    fn of(dir: &Path) -> Self {
        Self {
            follower: from_start(dir),
            revision: None,
            made: None,
            prepared_for: 0,
            goes_on: false,
        }
    }

    /// Takes in a piece of what is new. Whether that was all.
    fn read_on(&mut self, dir: &Path) -> Result<bool, Fault> {
        let done = self.piece(dir);
        if done.is_err() {
            (self.follower, self.made, self.revision) = (from_start(dir), None, None);
        }
        done
    }

    fn piece(&mut self, dir: &Path) -> Result<bool, Fault> {
        let revision = revision::of_journal(dir);
        if self.revision == Some(revision) {
            return Ok(true);
        }
        // A file that has changed and has nothing new is another one of the same length.
        let is_read = self.revision.take().is_some();
        let mut records = match self.follower.poll_within(PIECE) {
            Ok(records) if !(is_read && records.is_empty()) => records,
            Ok(_) | Err(JournalError::PositionLost { .. }) => self.anew(dir)?,
            Err(error) => return Err(error.into()),
        };
        if let Some(made) = &self.made
            && let Some(odd) = records.iter().find(|record| !made.can_take(record))
        {
            if odd.offset < self.prepared_for {
                return Err(Fault::bug(
                    "a projection is not prepared for its own journal",
                ));
            }
            records = self.anew(dir)?;
        }
        if self.made.is_none() {
            self.prepared_for = self.length();
        }
        let made = match &mut self.made {
            Some(made) => made,
            none => none.insert(P::begin(dir)?),
        };
        let end = self.follower.position();
        let last = records.len();
        for (at, record) in (1..).zip(&records) {
            made.take(record, event_of(record)?, (at == last).then_some(end))?;
        }
        if !records.is_empty() {
            return Ok(false);
        }
        self.revision = Some(revision);
        Ok(true)
    }

    /// The first piece, with nothing made of it.
    fn anew(&mut self, dir: &Path) -> Result<Vec<Record>, Fault> {
        (self.follower, self.made) = (from_start(dir), None);
        Ok(self.follower.poll_within(PIECE)?)
    }

    /// How long the journal is now, in bytes.
    fn length(&self) -> u64 {
        std::fs::metadata(self.follower.path()).map_or(0, |about| about.len())
    }

    fn unfinished(&self, dir: &Path) -> Fault {
        let whole = self.length();
        let read = self.follower.position().offset;
        let share = (read * 100).checked_div(whole).unwrap_or(0).min(99);
        let name = dir.file_name().unwrap_or_default().to_string_lossy();

        fault!("reading", name, share)
    }
}

fn from_start(dir: &Path) -> Follower {
    Follower::new(dir.join(journal::file::FILE_NAME), Position::start())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use journal::{FileJournal, Journal as _, NewEvent};
    use serde_json::json;

    use super::*;

    /// The numbers of the events that were taken in, and of those that end a piece.
    #[derive(Debug, Default)]
    struct Numbers {
        all: Vec<u64>,
        ends: Vec<u64>,
        takes_odd: bool,
    }

    impl Projection for Numbers {
        fn begin(dir: &Path) -> Result<Self, Fault> {
            Ok(Self {
                takes_odd: !crate::journal_end::lines_with(dir, "odd")?.is_empty(),
                ..Self::default()
            })
        }

        fn take(&mut self, record: &Record, _: Event, end: Option<&Position>) -> Result<(), Fault> {
            self.all.push(record.seq);
            self.ends.extend(end.map(|end| end.seq));
            Ok(())
        }

        fn can_take(&self, record: &Record) -> bool {
            record.event != "odd" || self.takes_odd
        }
    }

    fn append(dir: &Path, name: &str, bytes: usize) {
        let mut journal = FileJournal::lock(dir, Duration::from_mins(1), "test").unwrap();
        let head = journal.head().unwrap();
        let fields = json!({ "text": "x".repeat(bytes) });
        let event = NewEvent::new(name, fields.as_object().unwrap().clone());
        let both = [event.clone(), event];
        journal
            .append(&head, "2026-01-01T00:00:00.000Z", &both)
            .unwrap();
    }

    /// The folder of a journal of several pieces.
    fn long() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        FileJournal::create(folder.path()).unwrap();
        for _ in 0..10 {
            append(folder.path(), "noted", usize::try_from(PIECE).unwrap() / 5);
        }
        folder
    }

    fn numbers(known: &Projections<Numbers>, dir: &Path) -> Vec<u64> {
        known.of(dir, None, |made| Ok(made.all.clone())).unwrap()
    }

    #[test]
    fn whoever_has_no_patience_is_told_how_far_it_is_and_gets_it_later() {
        static KNOWN: Projections<Numbers> = Projections::of_at_most(2);
        let folder = long();
        let dir = folder.path();
        let ask = || KNOWN.of(dir, Some(Duration::ZERO), |made| Ok(made.all.len()));
        let fault = ask().unwrap_err();
        assert_eq!(fault.code, "reading");
        assert!(fault.message.contains(" % of it"), "{}", fault.message);
        let all = loop {
            match ask() {
                Ok(all) => break all,
                Err(fault) => assert_eq!(fault.code, "reading"),
            }
        };
        assert_eq!(all, 20);
        assert_eq!(whole::<Numbers>(dir).unwrap().all, numbers(&KNOWN, dir));
    }

    #[test]
    fn only_what_is_new_is_read_and_units_are_whole() {
        static KNOWN: Projections<Numbers> = Projections::of_at_most(2);
        let folder = long();
        let dir = folder.path();
        assert_eq!(numbers(&KNOWN, dir), (1..=20).collect::<Vec<u64>>());
        KNOWN
            .of(dir, None, |made| {
                assert!(made.ends.len() > 2 && made.ends.iter().all(|end| end % 2 == 0));
                made.all.clear();
                Ok(())
            })
            .unwrap();
        append(dir, "noted", 1);
        assert_eq!(numbers(&KNOWN, dir), [21, 22]);
    }

    #[test]
    fn what_cannot_be_gone_on_with_is_read_anew() {
        static KNOWN: Projections<Numbers> = Projections::of_at_most(2);
        let folder = long();
        let dir = folder.path();
        let path = dir.join(journal::file::FILE_NAME);
        let before = std::fs::read(&path).unwrap();
        assert_eq!(numbers(&KNOWN, dir).len(), 20);
        append(dir, "odd", 1);
        assert_eq!(numbers(&KNOWN, dir), (1..=22).collect::<Vec<u64>>());
        std::fs::write(&path, &before).unwrap();
        assert_eq!(numbers(&KNOWN, dir).len(), 20);
        // One that is damaged is told each time, and not before what is whole of it was asked for.
        let mut damaged = before.clone();
        damaged[before.len() / 2] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let ask = || KNOWN.of(dir, None, |made| Ok(made.all.len()));
        for _ in 0..2 {
            assert_eq!(ask().unwrap_err().code, "journal_damaged");
        }
        std::fs::write(&path, &before).unwrap();
        assert_eq!(ask().unwrap(), 20);
    }
}
