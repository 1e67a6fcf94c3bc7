//! Each line of a journal changed, lost, repeated and swapped: it has to be named.

use std::fs;
use std::io;
use std::path::Path;

use super::story::Story;
use super::trial::{self, Choice, Tally};
use crate::stage::Stage;

/// What becomes of a line.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Flip(usize),
    Lose,
    Repeat,
    Swap,
    CutBefore,
}

/// A line, and what becomes of it.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: usize,
    harm: Harm,
    /// Whether the file is gone that knows where the journal ended, as where the journal alone was brought elsewhere.
    alone: bool,
}

impl Place {
    fn name(self) -> String {
        let alone = if self.alone { ":alone" } else { "" };
        format!("line{}:{:?}{alone}", self.line + 1, self.harm)
    }
}

/// All of it, on the journal of a whole story.
pub fn run(program: &Path, story: &Story, choice: &mut Choice<'_>) -> io::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(folder.path(), program)?;
    trial::play(story, &stage, &mut |_, _, _| Ok(()))?;
    let run = stage
        .runs()
        .pop()
        .ok_or_else(|| io::Error::other("there is no run"))?;
    let id = run
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let journal = run.join("activity.jsonl");
    let (lock, aside) = (run.join("lock"), folder.path().join("lock"));
    let whole = fs::read(&journal)?;
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let mut all = Vec::new();
    for line in 0..lines.len() {
        let bytes = lines[line].len();
        // The first and the last byte, and some in between.
        let flips = [0, bytes / 3, bytes / 2, bytes - 2, bytes - 1];
        let place = |harm| Place {
            line,
            harm,
            alone: false,
        };
        all.extend(flips.map(|at| place(Harm::Flip(at))));
        all.extend([Harm::Lose, Harm::Repeat, Harm::CutBefore].map(place));
        if line + 1 < lines.len() {
            all.push(place(Harm::Swap));
        } else {
            // Nothing but its own seal is behind the last line then. Without its end it is what a crash leaves.
            let inside = flips.into_iter().filter(|at| at + 1 < bytes);
            all.extend(inside.map(|at| Place {
                alone: true,
                ..place(Harm::Flip(at))
            }));
        }
    }
    let mut tally = Tally::default();
    for place in choice.of(all, |place| place.name()) {
        let mut changed: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        match place.harm {
            Harm::Flip(at) => changed[place.line][at] ^= 1,
            Harm::Lose => drop(changed.remove(place.line)),
            Harm::Repeat => changed.insert(place.line, lines[place.line].to_vec()),
            Harm::Swap => changed.swap(place.line, place.line + 1),
            Harm::CutBefore => changed.truncate(place.line),
        }
        fs::write(&journal, changed.concat())?;
        tally.trials += 1;
        if place.alone {
            fs::rename(&lock, &aside)?;
        }
        let verified = stage.tm(&["log", "verify", &id], "")?;
        if place.alone {
            fs::rename(&aside, &lock)?;
        }
        // The beginning of the last unit is what a crash leaves, too.
        let is_torn = matches!(place.harm, Harm::CutBefore | Harm::Lose)
            && verified.json["tornBytes"] != 0
            && verified.status == Some(0);
        if verified.status == Some(0) && !is_torn {
            let why = format!("`log verify` says nothing: {}", verified.json);
            tally.bad.push((place.name(), why));
        }
    }
    fs::write(&journal, whole)?;
    Ok(tally)
}
