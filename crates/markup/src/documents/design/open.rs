//! An item whose lines are being read, and what its fields say.

use crate::documents::quoting::{Bounded, quoted};
use crate::markdown::{indentation, list_sign};

use super::dependencies::Written;
use super::mention::{self, Field};
use super::{Item, Kind, Note, Status, passed_over, status, words};

/// The longest type or status that is kept, in bytes: one more than is ever read.
const LONGEST_VALUE: usize = status::LONGEST + 1;

/// An item whose lines are being read.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) item: Item,
    pub(super) level: usize,
    /// Whether it is one of the items, and not one whose number is another's, or none.
    pub(super) counts: bool,
    /// The line of the item that has its number, where another one has.
    pub(super) repeats: Option<u32>,
    pub(super) kind: Option<Value<Kind>>,
    pub(super) status: Option<Value<status::StatusMeaning>>,
    pub(super) depends_on: Vec<Written>,
    /// Whether list entries may follow that name what it depends on.
    pub(super) lists_dependencies: bool,
    /// What the columns of the table say that is being read.
    pub(super) columns: Vec<Option<Field>>,
    /// What the line stands in that is being read.
    around: Container,
    /// Whether the last text says, with a colon, what the list below it is of.
    leads: bool,
}

/// What a line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineContext {
    /// In nothing: it is text of the item.
    Item,
    Quote,
    List,
    Table,
    /// It stands so far to the right that it is code to Markdown.
    Indented,
}

/// A quote, a list, or anything else that a line stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Container {
    within: LineContext,
    /// Which one it is, of all of the item.
    number: usize,
    /// Whether a status in it is that of the item wherever its type stands.
    is_own: bool,
    /// Whether it stands below another heading of the item.
    pub(super) is_below: bool,
}

/// The value of a field.
#[derive(Debug)]
pub(super) struct Value<M> {
    pub(super) line: u32,
    pub(super) text: String,
    /// What it means, if anything.
    pub(super) meant: Option<M>,
    pub(super) around: Container,
}

impl Value<status::StatusMeaning> {
    /// Whether a status is that of the item with that type, and not what a quote, or a list of other things, says of those.
    pub(super) fn is_own(&self, kind: Option<&Value<Kind>>) -> bool {
        self.around.is_own || kind.is_some_and(|kind| kind.around.number == self.around.number)
    }
}

impl Open {
    pub(super) const fn new(
        number: String,
        title: String,
        level: usize,
        line: u32,
        counts: bool,
    ) -> Self {
        Self {
            item: Item {
                number,
                title,
                kind: None,
                status: Status::Pending,
                depends_on: Vec::new(),
                line,
            },
            level,
            counts,
            repeats: None,
            kind: None,
            status: None,
            depends_on: Vec::new(),
            lists_dependencies: false,
            columns: Vec::new(),
            around: Container {
                within: LineContext::Item,
                number: 0,
                is_own: true,
                is_below: false,
            },
            leads: false,
        }
    }

    /// One whose fields are those of nobody.
    pub(super) const fn of_nobody(level: usize, line: u32) -> Self {
        Self::new(String::new(), String::new(), level, line, false)
    }

    /// Forgets what its fields said from that line on: they are those of somebody else.
    pub(super) fn forget_from(&mut self, line: u32) {
        self.status.take_if(|status| status.line >= line);
        self.depends_on.retain(|written| written.line < line);
    }

    /// Another heading within the item.
    pub(super) fn part(&mut self) {
        self.lists_dependencies = false;
        self.columns.clear();
        self.around = Container {
            within: LineContext::Item,
            number: self.around.number + 1,
            is_own: true,
            is_below: true,
        };
        self.leads = false;
    }

    /// Takes note of what a line stands in. An empty line ends neither a quote nor a list.
    pub(super) fn enter(&mut self, line: &str, is_row: bool, is_field: bool) {
        /// How far to the right a line may go on with the text of a list entry, and how far it is code.
        const ENTRY: usize = 2;
        const CODE: usize = 4;
        let (columns, text) = indentation(line, 0);
        let behind = mention::behind_signs(line);
        let is_entry = list_sign(text).is_some();
        let within = if is_row {
            LineContext::Table
        } else if line[..line.len() - behind.len()].contains('>') {
            LineContext::Quote
        } else if is_entry || (columns >= ENTRY && self.around.within == LineContext::List) {
            LineContext::List
        } else if columns >= CODE {
            LineContext::Indented
        } else {
            LineContext::Item
        };
        if within != self.around.within {
            self.around = Container {
                within,
                number: self.around.number + 1,
                is_own: match within {
                    LineContext::Item | LineContext::Table => true,
                    LineContext::List => !self.leads,
                    LineContext::Quote | LineContext::Indented => false,
                },
                is_below: self.around.is_below,
            };
        }
        if is_entry && !is_field {
            // What follows is one thing among others.
            self.around.is_own = false;
        }
        let said = text.trim_end_matches(['*', '_', '`', ' ', '\t']);
        self.leads = within == LineContext::Item && !is_field && said.ends_with([':', '：']);
    }

    pub(super) fn field(
        &mut self,
        field: Field,
        mut value: String,
        line: u32,
        notes: &mut Bounded<Note>,
    ) {
        self.lists_dependencies = false;
        if field == Field::DependsOn {
            self.lists_dependencies = self.depends_on.is_empty() && value.is_empty();
            self.depends_on.push(Written {
                line,
                text: value,
                is_entry: false,
            });
            return;
        }
        if value.len() > LONGEST_VALUE {
            value.truncate(value.ceil_char_boundary(LONGEST_VALUE));
        }
        let (name, first, is_same) = if field == Field::Type {
            let meant = words::kind(&value);
            let Some(known) = &self.kind else {
                self.kind = Some(Value {
                    line,
                    text: value,
                    meant,
                    around: self.around,
                });
                return;
            };
            ("type", known.line, known.meant == meant)
        } else {
            let meant = status::read(&value);
            // What the first one stands in is over, and the type is not in it: it gives way.
            let (kind, around) = (self.kind.as_ref(), self.around.number);
            let lost = self
                .status
                .take_if(|known| !known.is_own(kind) && known.around.number != around);
            if let Some(lost) = lost
                && self.counts
            {
                notes.tell(lost.line, || not_own(&self.item.number, &lost));
            }
            let Some(known) = &self.status else {
                self.status = Some(Value {
                    line,
                    text: value,
                    meant,
                    around: self.around,
                });
                return;
            };
            let status = |meant: &status::StatusMeaning| meant.status;
            (
                "status",
                known.line,
                known.meant.as_ref().map(status) == meant.as_ref().map(status),
            )
        };
        if !is_same && self.counts {
            let number = &self.item.number;
            notes.tell(line, || passed_over(number, name, first, line, &value));
        }
    }

    /// A row of a table: `| Type | code |`, or one below a row of names.
    pub(super) fn row(&mut self, cells: &[String], line: u32, notes: &mut Bounded<Note>) {
        let is_rule = cells
            .iter()
            .all(|cell| !cell.is_empty() && cell.chars().all(|c| c == '-' || c == ':'));
        if is_rule {
            return;
        }
        if !self.columns.is_empty() {
            let columns = std::mem::take(&mut self.columns);
            // A table with other columns is one of other things, if it does not name the type.
            let is_own = self.around.is_own;
            self.around.is_own = columns.iter().all(Option::is_some);
            for (field, value) in columns.iter().zip(cells) {
                if let Some(field) = field {
                    self.field(*field, value.clone(), line, notes);
                }
            }
            self.around.is_own = is_own;
            return;
        }
        let fields: Vec<Option<Field>> = cells.iter().map(|cell| mention::field(cell)).collect();
        match (fields.as_slice(), cells) {
            ([Some(field), None], [_, value]) => self.field(*field, value.clone(), line, notes),
            (fields, _) if fields.len() > 1 && fields.iter().any(Option::is_some) => {
                self.columns = fields.to_vec();
            }
            _ => {}
        }
    }
}

/// A status is not that of the item.
pub(super) fn not_own(number: &str, status: &Value<status::StatusMeaning>) -> Note {
    Note {
        line: status.line,
        message: format!(
            "{} is not read as the status of item {number}: it stands in a quote, or among other things",
            quoted(&status.text)
        ),
    }
}
