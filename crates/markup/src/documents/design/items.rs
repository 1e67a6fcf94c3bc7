//! The walk through a design document.

use std::collections::HashMap;

use crate::documents::quoting::{Bounded, line_number, quoted};
use crate::markdown::{self, Line, Lines, Place, list_sign};
use text::nearest;

use super::dependencies::{Dependencies, Written};
use super::heading::{self, Heading, ItemHeading, Similarity};
use super::hidden::Hidden;
use super::mention::{self, Field};
use super::open::{self, Open, Value};
use super::{
    Design, Item, Kind, MAX_BYTES, MAX_ITEMS, MAX_NUMBER_BYTES, MAX_TITLE_BYTES, Note, Problem,
    Status, problem, status, words,
};

pub(super) fn read(text: &str) -> Design {
    let mut reader = Reader::default();
    if text.len() > MAX_BYTES {
        reader.problems.tell(1, || Problem {
            code: "too_large",
            line: 1,
            message: format!(
                "the document has {} bytes; at most {MAX_BYTES} are read",
                text.len()
            ),
            suggestion: "leave out what says nothing of the items, or put it into another document"
                .to_owned(),
        });
        return reader.finish();
    }
    let (text, first) = markdown::unwrapped(text);
    let mut lines = markdown::lines(text, first);
    while let Some(line) = lines.next() {
        reader.line(&line);
        reader.hidden(&line, &lines);
    }
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader {
    items: Vec<Item>,
    problems: Bounded<Problem>,
    notes: Bounded<Note>,
    /// The lines of the numbers that are taken.
    taken: HashMap<String, u32>,
    open: Option<Open>,
    /// The line before, where it may be the text of a heading that is underlined.
    before: Option<(usize, String)>,
    /// A heading that is one of an item only if fields stand below it.
    perhaps: Option<Candidate>,
    /// The level of the last heading of an item.
    level: Option<usize>,
    /// Lines that look like items, and are no headings, with the number that they name.
    lookalikes: Vec<(u32, String)>,
    /// What each item says that it depends on: that is read when it is known which items there are.
    depends_on: Vec<Vec<Written>>,
    is_full: bool,
    /// The code block or comment that is open.
    hidden: Option<Hidden>,
}

/// A heading that may be one of an item without a number.
#[derive(Debug)]
struct Candidate {
    line: u32,
    level: usize,
    likeness: Similarity,
    written: String,
    /// Whether any field below makes it one of an item, and not a type alone.
    with_any: bool,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>) {
        let before = self.before.take();
        if line.place != Place::Text {
            return;
        }
        if let Some(Heading { level, text }) = heading::heading(line.text) {
            self.heading(level, &mention::without_comments(text), line.number);
            return;
        }
        if let Some((number, text)) = &before
            && let Some(level) = heading::underline(line.text)
            && (level == 1 || heading::is_item(text))
        {
            self.heading(level, text, *number);
            return;
        }
        if let Some(open) = &mut self.open
            && before.is_some_and(|(_, text)| is_underlined(&text, line.text))
        {
            open.part();
        }
        if line.text.trim().is_empty() {
            if let Some(open) = &mut self.open {
                open.columns.clear();
            }
            return;
        }
        self.before = Some((line.number, line.text.to_owned()));
        if self.lookalikes.len() < MAX_ITEMS
            && let Some(named) = number_of_lookalike(line.text)
        {
            self.lookalikes.push((line_number(line.number), named));
        }
        self.body(line);
    }

    /// Looks for items where a code block or a comment is open.
    fn hidden(&mut self, line: &Line<'_>, lines: &Lines<'_>) {
        match &mut self.hidden {
            None if lines.is_open() => self.hidden = Some(Hidden::opened(line)),
            None => {}
            Some(hidden) if lines.is_open() => hidden.line(line, lines.opens_again(line.text)),
            Some(hidden) => {
                // A comment's end may stand behind another one's beginning.
                let before = line.text.split("-->").next().unwrap_or_default();
                hidden.line(
                    line,
                    line.place == Place::Comment && before.contains("<!--"),
                );
                if let Some(note) = hidden.closed() {
                    self.notes.tell(note.line, || note);
                }
                self.hidden = None;
            }
        }
    }

    fn heading(&mut self, level: usize, text: &str, number: usize) {
        let line = line_number(number);
        self.perhaps = None;
        match heading::called(text) {
            Some(ItemHeading::Item { number, title }) => {
                self.close();
                let repeats = self.taken.get(&number).copied();
                let counts = repeats.is_none() && self.is_new(&number, line);
                let title = if counts {
                    self.shortened(title, &number, line)
                } else {
                    String::new()
                };
                let mut open = Open::new(number, title, level, line, counts);
                open.repeats = repeats;
                self.open = Some(open);
                self.level = Some(level);
            }
            Some(ItemHeading::Unreadable(written)) => {
                self.unreadable(without_number(line, no_number(&written)), level);
            }
            Some(ItemHeading::Struck(written)) => {
                self.close();
                self.open = Some(Open::of_nobody(level, line));
                self.notes.tell(line, || Note {
                    line,
                    message: format!(
                        "{} is struck out: it is left out, with what stands below it",
                        quoted(&written)
                    ),
                });
            }
            Some(ItemHeading::Candidate(likeness, written)) => self.perhaps(Candidate {
                line,
                level,
                likeness,
                written,
                with_any: false,
            }),
            None => {
                self.other_heading(level);
                self.perhaps = (self.level == Some(level)).then(|| Candidate {
                    line,
                    level,
                    likeness: Similarity::Place,
                    written: text.to_owned(),
                    with_any: false,
                });
            }
        }
    }

    /// A heading that may be one of an item without a number. What stands below it tells, and how deep it is within the
    /// item above: a part of that is deeper. Whoever writes a title for the document writes it at the first level.
    fn perhaps(&mut self, mut heading: Candidate) {
        let is_part = self
            .open
            .as_ref()
            .is_some_and(|open| heading.level > open.level);
        let is_title = self.open.is_none() && heading.level == 1;
        if heading.likeness == Similarity::Shape && !is_part && !is_title {
            self.unreadable(heading.problem(), heading.level);
            return;
        }
        self.other_heading(heading.level);
        if is_part && heading.likeness == Similarity::Word {
            return;
        }
        // The fields must not be those of the item above; where that is ended, only a type makes an item.
        heading.with_any =
            self.open.is_some() && (!is_part || heading.likeness == Similarity::Shape);
        self.perhaps = Some(heading);
    }

    /// A heading that is none of an item.
    fn other_heading(&mut self, level: usize) {
        // Within an item, headings of its own level are part of it, if they are not those that part the document.
        let ends = |open: &Open| level < open.level || (level == open.level && level <= 2);
        let parts = |open: &Open| level <= 2 && open.level > 2;
        if self
            .open
            .as_ref()
            .is_some_and(|open| ends(open) || parts(open))
        {
            self.close();
        } else if let Some(open) = &mut self.open {
            open.part();
        }
    }

    /// Takes a number that nobody has, if there are not too many.
    fn is_new(&mut self, number: &str, line: u32) -> bool {
        if self.is_full {
            return false;
        }
        if self.taken.len() == MAX_ITEMS {
            self.is_full = true;
            self.problems.tell(line, || {
                problem(
                    line,
                    format!("there are more than {MAX_ITEMS} items: this one and all behind it are not read"),
                    "make larger items of them, or several sessions",
                )
            });
            return false;
        }
        self.taken.insert(number.to_owned(), line);
        true
    }

    fn shortened(&mut self, mut title: String, number: &str, line: u32) -> String {
        if title.trim().is_empty() {
            self.notes.tell(line, || Note {
                line,
                message: format!("item {number} has no title"),
            });
            return format!("Item {number}");
        }
        if title.len() > MAX_TITLE_BYTES {
            let length = title.len();
            title.truncate(title.floor_char_boundary(MAX_TITLE_BYTES));
            title.truncate(title.trim_end().len());
            self.notes.tell(line, || Note {
                line,
                message: format!(
                    "the title of item {number} has {length} bytes: what is beyond {MAX_TITLE_BYTES} is cut"
                ),
            });
        }
        title
    }

    /// An item that cannot be read: what stands below its heading is that of nobody.
    fn unreadable(&mut self, problem: Problem, level: usize) {
        self.close();
        let line = problem.line;
        if !self.is_full {
            self.problems.tell(line, || problem);
        }
        self.open = Some(Open::of_nobody(level, line));
    }

    /// A line below a heading.
    fn body(&mut self, line: &Line<'_>) {
        if self.open.is_none() && self.perhaps.is_none() {
            return;
        }
        let number = line_number(line.number);
        let cells = mention::cells(line.text);
        let found = match &cells {
            Some(_) => Vec::new(),
            None => mention::fields(line.text),
        };
        let of_cells = cells
            .iter()
            .flatten()
            .filter_map(|cell| mention::field(cell));
        let mut named = found.iter().map(|(field, _)| *field).chain(of_cells);
        // An item may say its own type below a heading of its own level.
        let is_typed = self.open.as_ref().is_none_or(|open| open.kind.is_some());
        let another = |(field, value): &(Field, String)| {
            *field == Field::Type && words::kind(value).is_some()
        };
        if is_typed && found.iter().any(another) {
            self.lookalike_with_type();
        }
        // Not below one that is counted as items are: that is another one, and the item above has no type.
        if !is_typed && found.iter().any(another) {
            self.perhaps.take_if(|heading| {
                heading.likeness == Similarity::Place && !is_counted(&heading.written)
            });
        }
        if let Some(heading) = self.perhaps.take_if(|heading| match heading.likeness {
            Similarity::Place => found.iter().any(another),
            _ => named.any(|field| heading.with_any || field == Field::Type),
        }) {
            if let Some(open) = &mut self.open {
                open.forget_from(heading.line);
            }
            self.unreadable(heading.problem(), heading.level);
        }
        let Some(open) = &mut self.open else {
            return;
        };
        open.enter(line.text, cells.is_some(), !found.is_empty());
        if let Some(cells) = cells {
            open.row(&cells, number, &mut self.notes);
            return;
        }
        open.columns.clear();
        if found.is_empty() {
            let text = line.text.trim_start();
            if open.lists_dependencies && list_sign(text).is_some() {
                open.depends_on.push(Written {
                    line: number,
                    text: mention::without_comments(mention::behind_signs(text)),
                    is_entry: true,
                });
            } else {
                open.lists_dependencies = false;
            }
            return;
        }
        for (field, value) in found {
            open.field(field, value, number, &mut self.notes);
        }
    }

    /// A second type below an item is that of the line above it which looks like another item.
    fn lookalike_with_type(&mut self) {
        let Some(open) = self.open.as_ref().filter(|open| open.counts) else {
            return;
        };
        let (from, level) = (
            open.kind.as_ref().map_or(open.item.line, |kind| kind.line),
            open.level,
        );
        let found = self
            .lookalikes
            .iter()
            .rposition(|(line, number)| *line > from && !self.taken.contains_key(number));
        if let Some((line, number)) = found.map(|at| self.lookalikes.remove(at)) {
            let problem = problem(
                line,
                format!("this looks like item {number}, and has a type, but is no heading"),
                &format!("write `### Item {number}: Title`"),
            );
            self.unreadable(problem, level);
        }
    }

    /// Ends the item that is open.
    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        if let Some(first) = open.repeats {
            self.repeated(&open, first);
        }
        if !open.counts {
            return;
        }
        let mut item = open.item;
        match &open.kind {
            None => self.problems.tell(item.line, || {
                problem(
                    item.line,
                    format!("item {} has no type", item.number),
                    "write `**Type:** code`, `task` or `bugfix` below its heading",
                )
            }),
            Some(Value {
                line, text, meant, ..
            }) => {
                item.kind = *meant;
                if item.kind.is_none() {
                    self.problems
                        .tell(*line, || no_type(&item.number, *line, text));
                }
            }
        }
        if let Some(status) = &open.status
            && !status.text.is_empty()
        {
            if status.is_own(open.kind.as_ref()) {
                self.status(&mut item, status);
            } else {
                self.notes
                    .tell(status.line, || open::not_own(&item.number, status));
            }
        }
        self.items.push(item);
        self.depends_on.push(open.depends_on);
    }

    /// A heading with the number of an item that is there: one of its own, as it has a type, or a part of that one which stands
    /// elsewhere, as below a heading for all pseudocode.
    fn repeated(&mut self, open: &Open, first: u32) {
        let (line, number) = (open.item.line, &open.item.number);
        if open.kind.is_none() {
            self.notes.tell(line, || Note {
                line,
                message: format!(
                    "item {number} stands in line {first}: this is read as more of it, and no item of its own"
                ),
            });
            return;
        }
        self.problems.tell(line, || {
            problem(
                line,
                format!("there are two items {number} with a type; the first one is in line {first}"),
                "take the type out where it is the same item; else give one of them another number, and see who depends on it",
            )
        });
    }

    /// Takes the status of an item, and says what was read with some freedom.
    fn status(&mut self, item: &mut Item, status: &Value<status::StatusMeaning>) {
        let line = status.line;
        item.status = status
            .meant
            .as_ref()
            .map_or(Status::Pending, |meant| meant.status);
        let instead = match &status.meant {
            Some(meant) if meant.is_plain => None,
            None => Some("known are pending, documented and complete"),
            Some(meant) if meant.status == Status::Pending => {
                Some("write `documented` or `complete` and nothing else where that is what it is")
            }
            Some(_) => Some("write `pending` where it is not so far yet"),
        };
        if let Some(instead) = instead {
            self.notes.tell(line, || Note {
                line,
                message: format!(
                    "the status of item {}, {}, is read as {}: {instead}",
                    item.number,
                    quoted(&status.text),
                    item.status.name()
                ),
            });
        }
        // Who is complete is not worked on: it must be seen where that is said of a part alone.
        if status.around.is_below && item.status == Status::Complete {
            self.notes.tell(line, || Note {
                line,
                message: format!(
                    "item {} is read as complete, as it says below another heading: write `**Status:** pending` right below its own one where only a part of it is",
                    item.number
                ),
            });
        }
    }

    fn finish(mut self) -> Design {
        self.close();
        if let Some(problem) = self.hidden.take().and_then(|hidden| hidden.unclosed()) {
            self.problems.tell(problem.line, || problem);
        }
        self.dependencies();
        for (line, number) in std::mem::take(&mut self.lookalikes) {
            if !self.taken.contains_key(&number) {
                self.notes.tell(line, || Note {
                    line,
                    message: format!(
                        "this looks like an item, but is no heading: write `### Item {number}: Title`"
                    ),
                });
            }
        }
        let (mut problems, more) = self.problems.finish();
        problems.extend(more.map(|more| Problem {
            code: "more_problems",
            line: more.line,
            message: more.summary("problem"),
            suggestion: "mend those above first".to_owned(),
        }));
        let (mut notes, more) = self.notes.finish();
        notes.extend(more.map(|more| Note {
            line: more.line,
            message: more.summary("note"),
        }));
        Design {
            items: self.items,
            problems,
            notes,
        }
    }

    /// Reads what the items depend on.
    fn dependencies(&mut self) {
        let written = std::mem::take(&mut self.depends_on);
        if written.iter().all(Vec::is_empty) {
            return;
        }
        let titles: HashMap<String, String> = self
            .items
            .iter()
            .rev()
            .map(|item| (item.title.to_lowercase(), item.number.clone()))
            .collect();
        for (item, written) in self.items.iter_mut().zip(written) {
            let mut of = Dependencies {
                item: &item.number,
                titles: &titles,
                problems: &mut self.problems,
                notes: &mut self.notes,
            };
            item.depends_on = of.read(&written, &self.taken);
        }
    }
}

impl Candidate {
    fn problem(&self) -> Problem {
        let written = quoted(&self.written);
        match self.likeness {
            Similarity::Place => problem(
                self.line,
                format!(
                    "{written} stands where items do and has a type, but is not called an item"
                ),
                "write `Item` and a number before its title; if it is a part of the item above, put it a level deeper",
            ),
            Similarity::Named => without_number(self.line, no_number(&self.written)),
            Similarity::Shape | Similarity::Word => without_number(
                self.line,
                format!(
                    "{written} is not the heading of one item: it has no number, or more than one"
                ),
            ),
        }
    }
}

/// The problem of an item without a number that can be read.
fn without_number(line: u32, message: String) -> Problem {
    problem(
        line,
        message,
        &format!(
            "number it with digits and letters, `1`, `2a`, `3.1`; `.`, `-` and `_` may stand between them, and {MAX_NUMBER_BYTES} bytes are the most"
        ),
    )
}

fn no_number(written: &str) -> String {
    format!("{} is no number of an item", quoted(written))
}

/// Whether a heading has a number where those of items do: `Task 3: Search`, `3. Search`.
fn is_counted(heading: &str) -> bool {
    let named = heading.split(':').next().unwrap_or(heading);
    named
        .split_whitespace()
        .take(2)
        .any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// An item's type is none.
fn no_type(number: &str, line: u32, text: &str) -> Problem {
    let message = if text.is_empty() {
        format!("the type of item {number} is empty")
    } else {
        format!(
            "the type of item {number} is {}, which is no type",
            quoted(text)
        )
    };
    problem(line, message, &type_suggestion(text))
}

/// What to write for a type that is none.
fn type_suggestion(text: &str) -> String {
    const KINDS: [Kind; 3] = [Kind::Code, Kind::Task, Kind::Bugfix];
    if text.contains(['|', '/']) || text.contains(" or ") {
        return "keep one of the types".to_owned();
    }
    let near = nearest(&text.to_lowercase(), KINDS.into_iter().map(Kind::name));
    match near {
        Some(near) => format!("did you mean `{near}`? Known are `code`, `task` and `bugfix`"),
        None => "write `code`, `task` or `bugfix`".to_owned(),
    }
}

/// Whether a text is a heading to Markdown because of the line below it, and not fields with a rule below them.
fn is_underlined(text: &str, line: &str) -> bool {
    heading::underline(line).is_some()
        && mention::behind_signs(text).len() == text.trim_start().len()
        && mention::cells(text).is_none()
        && mention::fields(text).is_empty()
}

/// The number of a line that is meant as an item, as far as one can tell: `**Item 1: Title**`, `1. Item 1: Title`.
fn number_of_lookalike(line: &str) -> Option<String> {
    let text = mention::behind_signs(line);
    match heading::called(text) {
        Some(ItemHeading::Item { number, title })
            if !title.is_empty() && text.contains([':', '—', '–']) =>
        {
            Some(number)
        }
        _ => None,
    }
}
