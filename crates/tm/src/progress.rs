//! How far long work is, on standard error: a line that is kept up to date where there is a terminal, a line for each thing that is
//! begun where there is none, nothing beside JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::progress::{Observer, Progress};
use text::plain::one_line;

/// How often the line is brought up to date, for the seconds in it.
const TICK: Duration = Duration::from_millis(500);
/// Before that nobody wonders: what is over sooner shows nothing at a terminal.
const UNNOTICED: Duration = Duration::from_millis(300);
/// How often a line is printed at most, where each stays.
const BETWEEN_LINES: Duration = Duration::from_secs(2);
/// How wide a bar is.
const BAR: usize = 20;

/// How it is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Manner {
    /// Not at all.
    #[default]
    Silent,
    /// In lines that stay.
    Lines,
    /// In a line that changes, as wide as this.
    Bar(usize),
}

#[derive(Debug, Default)]
struct Told {
    manner: Manner,
    now: Option<(Progress, Instant)>,
    /// Whether the line is on the screen.
    is_shown: bool,
    /// Whether a thread keeps it up to date.
    is_ticking: bool,
    /// When a line was printed last, and what it said.
    printed: Option<(Instant, String)>,
}

static TOLD: Mutex<Option<Told>> = Mutex::new(None);

fn told() -> MutexGuard<'static, Option<Told>> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says how it is told from now on.
pub fn begin(json: bool, columns: usize) {
    let manner = match (json, io::stderr().is_terminal()) {
        (true, _) => Manner::Silent,
        (false, true) => Manner::Bar(columns),
        (false, false) => Manner::Lines,
    };
    *told() = Some(Told {
        manner,
        ..Told::default()
    });
}

/// Takes the line away: something else is printed, or the work is over.
pub fn clear() {
    if let Some(told) = told().as_mut() {
        told.now = None;
        told.erase();
    }
}

/// Who tells it.
pub fn observer() -> Observer {
    Observer::new(|progress| {
        let mut all = told();
        let Some(told) = all.as_mut() else { return };
        match told.manner {
            Manner::Silent => {}
            Manner::Lines => told.print(progress),
            Manner::Bar(_) => {
                let begun = match &told.now {
                    Some((known, begun)) if known.what == progress.what => *begun,
                    _ => Instant::now(),
                };
                told.now = Some((progress.clone(), begun));
                if !std::mem::replace(&mut told.is_ticking, true) {
                    std::thread::spawn(tick);
                }
            }
        }
    })
}

/// Keeps the line up to date, until there is nothing to tell.
fn tick() {
    std::thread::sleep(UNNOTICED);
    loop {
        {
            let mut all = told();
            let Some(told) = all.as_mut() else { return };
            if told.now.is_none() {
                told.is_ticking = false;
                return;
            }
            told.draw();
        }
        std::thread::sleep(TICK);
    }
}

impl Told {
    fn draw(&mut self) {
        let (Manner::Bar(columns), Some((progress, begun))) = (self.manner, &self.now) else {
            return;
        };
        let text = line(progress, begun.elapsed(), columns);
        self.is_shown = true;
        // Where that fails, nobody looks.
        let _ = write!(io::stderr().lock(), "\r\u{1b}[K{text}");
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }

    fn print(&mut self, progress: &Progress) {
        let is_due = match &self.printed {
            None => true,
            Some((_, said)) if *said == progress.what && progress.total.is_none() => false,
            Some((at, _)) => at.elapsed() >= BETWEEN_LINES,
        };
        if is_due {
            self.printed = Some((Instant::now(), progress.what.clone()));
            let counted = match progress.total {
                // The part that is under way.
                Some(total) => format!(", {} of {total}", (progress.done + 1).min(total)),
                None => String::new(),
            };
            let text = one_line(&progress.what);
            let _ = writeln!(io::stderr().lock(), "hint: {text}{counted}");
        }
    }
}

/// The line: a bar where it is known how much there is, what is done, and for how long.
fn line(progress: &Progress, elapsed: Duration, columns: usize) -> String {
    let bar = match progress.total {
        Some(total) if total > 0 => {
            let done = progress.done.min(total);
            let full = usize::try_from(done * BAR as u64 / total).unwrap_or(BAR);
            let (full, rest) = ("#".repeat(full), ".".repeat(BAR - full));
            format!("[{full}{rest}] {done}/{total} ")
        }
        _ => String::new(),
    };
    let behind = format!(" ({} s)", elapsed.as_secs());
    let room = columns.saturating_sub(bar.len() + behind.len() + 1);
    format!("{bar}{}{behind}", text::shortened(&progress.what, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_and_never_breaks_the_line() {
        let progress = |done, total| Progress {
            what: "the tests of a commit are run again: 0123abcd".to_owned(),
            done,
            total,
        };
        let second = Duration::from_secs(61);
        assert_eq!(
            line(&progress(3, Some(12)), second, 90),
            "[#####...............] 3/12 the tests of a commit are run again: 0123abcd (61 s)"
        );
        assert_eq!(
            line(&progress(0, None), second, 80),
            "the tests of a commit are run again: 0123abcd (61 s)"
        );
        for columns in [10, 40, 41, 80] {
            let line = line(&progress(20, Some(12)), second, columns);
            assert!(line.len() < columns.max(45), "{line}");
        }
    }
}
