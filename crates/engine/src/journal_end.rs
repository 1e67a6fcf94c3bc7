//! The end of a journal, for what is asked of the last events only: what it costs does not grow with the run.

use std::fs::File;
use std::io;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use journal::file::FILE_NAME;
use machine::Event;
use serde_json::{Map, Value};

use crate::fault::Fault;

/// The last bytes of a journal.
#[derive(Debug)]
pub struct JournalEnd {
    text: String,
    /// Whether it is the whole journal.
    pub is_whole: bool,
}

impl JournalEnd {
    /// At most so many bytes of the journal of the run in the folder `dir`, from its end.
    pub fn read(dir: &Path, most: u64) -> Result<Self, Fault> {
        let path = dir.join(FILE_NAME);
        Self::of_file(&path, most).map_err(|error| unreadable(&path, &error))
    }

    fn of_file(path: &Path, most: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(most);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Self {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            is_whole: from == 0,
        })
    }

    /// The lines, the last one first. A line that the beginning cuts is left out; one that a crash cut off may be among them.
    pub fn lines_backwards(&self) -> impl Iterator<Item = &str> {
        let text = match self.text.split_once('\n') {
            _ if self.is_whole => self.text.as_str(),
            Some((_, text)) => text,
            None => "",
        };
        text.rsplit('\n').filter(|line| !line.is_empty())
    }
}

/// How much of a journal's end is looked at for a line before the whole of it is, in bytes. Mostly it is among the last ones.
const NEAR: [u64; 2] = [16 * 1024, 128 * 1024];

/// What `read` makes of the last line of the journal of the run in `dir` that says something to it; and whether the whole journal
/// was read for it.
pub(crate) fn find_backwards<T>(
    dir: &Path,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<(T, bool)>, Fault> {
    for most in NEAR.into_iter().chain([u64::MAX]) {
        let end = JournalEnd::read(dir, most)?;
        let found = end.lines_backwards().find_map(&read);
        if found.is_some() || end.is_whole {
            return Ok(found.map(|found| (found, most == u64::MAX)));
        }
    }
    Ok(None)
}

/// The lines of the journal of the run in `dir` that hold `text`. The others are passed over unread: that is many times faster than
/// reading what they say.
pub(crate) fn lines_with(dir: &Path, text: &str) -> Result<Vec<String>, Fault> {
    let path = dir.join(FILE_NAME);
    let read = || -> io::Result<Vec<String>> {
        let mut file = BufReader::with_capacity(128 * 1024, File::open(&path)?);
        let (mut found, mut line) = (Vec::new(), Vec::new());
        while file.read_until(b'\n', &mut line)? > 0 {
            if let Ok(known) = std::str::from_utf8(&line)
                && known.contains(text)
            {
                found.push(known.to_owned());
            }
            line.clear();
        }
        Ok(found)
    };
    read().map_err(|error| unreadable(&path, &error))
}

/// The event of a line; none of one that cannot be read.
pub(crate) fn event_in(line: &str) -> Option<Event> {
    let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    Event::from_fields(fields.get("event")?.as_str()?, &fields).ok()
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::environment(
        "io_failed",
        format!("{} cannot be read", path.display()),
        error,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(most: u64) -> (Vec<String>, bool) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), "one\ntwo\nthree\nfo").unwrap();
        let end = JournalEnd::read(folder.path(), most).unwrap();
        let lines = end.lines_backwards().map(str::to_owned).collect();
        (lines, end.is_whole)
    }

    #[test]
    fn what_the_beginning_cuts_is_left_out() {
        let told =
            |lines: &[&str], whole| (lines.iter().map(|&line| line.to_owned()).collect(), whole);
        assert_eq!(lines(100), told(&["fo", "three", "two", "one"], true));
        assert_eq!(lines(16), told(&["fo", "three", "two", "one"], true));
        assert_eq!(lines(14), told(&["fo", "three", "two"], false));
        assert_eq!(lines(4), told(&["fo"], false));
        assert_eq!(lines(2), told(&[], false));
        assert_eq!(lines(0), told(&[], false));
    }
}
