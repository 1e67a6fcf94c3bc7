//! An item whose lines are being read, and what its fields say.

use crate::said::Told;

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
    pub(super) kind: Option<Value<Kind>>,
    pub(super) status: Option<Value<status::Meant>>,
    pub(super) depends_on: Vec<Written>,
    /// Whether list entries may follow that name what it depends on.
    pub(super) lists_dependencies: bool,
    /// What the columns of the table say that is being read.
    pub(super) columns: Vec<Option<Field>>,
}

/// The value of a field.
#[derive(Debug)]
pub(super) struct Value<M> {
    pub(super) line: u32,
    pub(super) text: String,
    /// What it means, if anything.
    pub(super) meant: Option<M>,
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
            kind: None,
            status: None,
            depends_on: Vec::new(),
            lists_dependencies: false,
            columns: Vec::new(),
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

    pub(super) fn field(
        &mut self,
        field: Field,
        mut value: String,
        line: u32,
        notes: &mut Told<Note>,
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
                });
                return;
            };
            ("type", known.line, known.meant == meant)
        } else {
            let meant = status::read(&value);
            let Some(known) = &self.status else {
                self.status = Some(Value {
                    line,
                    text: value,
                    meant,
                });
                return;
            };
            let status = |meant: &status::Meant| meant.status;
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
    pub(super) fn row(&mut self, cells: &[String], line: u32, notes: &mut Told<Note>) {
        let is_rule = cells
            .iter()
            .all(|cell| !cell.is_empty() && cell.chars().all(|c| c == '-' || c == ':'));
        if is_rule {
            return;
        }
        if !self.columns.is_empty() {
            let columns = std::mem::take(&mut self.columns);
            for (field, value) in columns.iter().zip(cells) {
                if let Some(field) = field {
                    self.field(*field, value.clone(), line, notes);
                }
            }
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
