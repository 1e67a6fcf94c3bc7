//! Item sets: what an item is, where it may stand, and how a set is cut into waves.

use super::edge::Names;
use super::field::{Field, FieldType};
use super::open::Open;
use super::ordered::Ordered;
use crate::diagnostic::{Located, Place};
use crate::guard::Expression;
use crate::item_set::ItemStatus;

/// The field that says where an item of a set with `status` stands.
pub const STATUS: &str = "status";
/// The field that names the wave of an item, where its set is cut into waves.
pub const WAVE: &str = "wave";
/// The field of a wave that tells why its level was split.
pub const SPLIT: &str = "split";
/// The field of a wave that tells its level, from 1.
pub const LEVEL: &str = "level";

/// A set of items: those of an `each`, or those that a cursor goes through.
#[derive(Debug, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an item set, with `key` and `fields`"
)]
pub struct ItemSetDef {
    /// The field that identifies an item.
    pub key: Located<String>,
    /// The field that lists the keys of the items that must be done before.
    #[serde(default)]
    pub needs: Option<Located<String>>,
    /// The fields of an item.
    pub fields: Ordered<Field>,
    /// The names of where an item may stand. A set without them is kept by its `each`.
    #[serde(default)]
    pub status: Option<Located<Statuses>>,
    /// Where a caller may change what: a field's name, or [`ALL`](super::open::ALL) and its like, and the states.
    #[serde(default)]
    pub open: Ordered<Open>,
    /// The cursor whose item comes first, while it is ready.
    #[serde(default)]
    pub prefer: Option<Located<String>>,
    /// How the set is cut into waves when it is filled.
    #[serde(default)]
    pub waves: Option<Waves>,
    /// The set that this one is cut out of; filled in after parsing.
    #[serde(skip)]
    pub of: Option<String>,
}

/// The names of where an item may stand, by what they mean.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a map with `open`, `active`, `done` and `failed`, such as `{ open: [pending], done: [completed] }`"
)]
pub struct Statuses {
    /// Not begun. The first one is that of a new item.
    pub open: Names,
    /// In hand.
    #[serde(default)]
    pub active: Names,
    /// Done: what needs the item may begin.
    pub done: Names,
    /// Skipped: what needs the item is blocked.
    #[serde(default)]
    pub failed: Names,
}

impl Statuses {
    /// All names with what they mean, in the order in which an item goes through them.
    pub fn names(&self) -> impl Iterator<Item = (&str, ItemStatus)> {
        self.located()
            .map(|(name, status)| (name.value.as_str(), status))
    }

    /// The same, with where each stands in the file.
    pub fn located(&self) -> impl Iterator<Item = (&Located<String>, ItemStatus)> {
        [
            (&self.open, ItemStatus::Open),
            (&self.active, ItemStatus::Active),
            (&self.done, ItemStatus::Done),
            (&self.failed, ItemStatus::Failed),
        ]
        .into_iter()
        .flat_map(|(names, status)| names.0.iter().map(move |name| (name, status)))
    }

    /// The first name that means this, which is that of an item that comes to stand so.
    pub fn first(&self, status: ItemStatus) -> Option<&str> {
        let mut names = self.names();
        names.find_map(|(name, means)| (means == status).then_some(name))
    }

    /// What a name means.
    pub fn meaning(&self, name: &str) -> Option<ItemStatus> {
        self.names()
            .find(|(known, _)| *known == name)
            .map(|(_, status)| status)
    }

    fn field(&self) -> Field {
        Field {
            kind: FieldType::Enum(self.names().map(|(name, _)| name.to_owned()).collect()),
            default: None,
            open: None,
        }
    }
}

/// How a set is cut into waves: what needs nothing first, then what needs only those, and so on.
#[derive(Debug, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a map such as `{ into: batches, apart: files }`"
)]
pub struct Waves {
    /// The set that holds the waves.
    pub into: Located<String>,
    /// What the keys of the waves begin with; the name of the set if absent.
    #[serde(default)]
    pub named: Option<Located<String>>,
    /// Fields that list what no two items of one wave may have in common.
    #[serde(default)]
    pub apart: Names,
    /// Whether an item, seen as `it`, must have a wave of its own.
    #[serde(default)]
    pub alone: Option<Expression>,
}

impl ItemSetDef {
    /// What the status of that name means.
    pub fn meaning(&self, status: &str) -> ItemStatus {
        self.status
            .as_ref()
            .and_then(|statuses| statuses.meaning(status))
            .unwrap_or_default()
    }

    /// Whether the field says which item it is or, where the set is cut into waves, in which one it can be: such a
    /// field changes with the whole set.
    pub fn fixes_place(&self, field: &str) -> bool {
        if self.key.value == field {
            return true;
        }
        let Some(waves) = &self.waves else {
            return false;
        };
        let needs = self
            .needs
            .as_ref()
            .is_some_and(|needs| needs.value == field);
        let apart = waves.apart.0.iter().any(|apart| apart.value == field);
        let alone = || {
            let paths = waves.alone.as_ref().map(Expression::paths);
            let mut paths = paths.into_iter().flatten().flatten();
            field != STATUS && paths.any(|path| path.get(1).is_some_and(|name| name == field))
        };
        field == WAVE || needs || apart || alone()
    }

    /// The fields that come with `status` and `waves`.
    pub(super) fn complete(&mut self) {
        if let Some(status) = &self.status {
            self.fields.add_silently(STATUS, status.field());
        }
        if self.waves.is_some() {
            self.fields.add_silently(WAVE, Field::of(FieldType::String));
        }
    }

    /// The set of the waves that the set called `source` is cut into.
    pub(super) fn of_waves(source: &str, waves: &Waves) -> Self {
        let at = waves.into.at;
        let located = |value: &str| Located {
            value: value.to_owned(),
            at,
        };
        let names = |name: &str| Names(vec![located(name)]);
        let mut set = Self {
            key: located("id"),
            needs: None,
            fields: Ordered::default(),
            status: Some(Located {
                value: Statuses {
                    open: names("pending"),
                    active: names("in_progress"),
                    done: names("completed"),
                    failed: Names::default(),
                },
                at,
            }),
            open: Ordered::default(),
            prefer: None,
            waves: None,
            of: Some(source.to_owned()),
        };
        set.fields.add_silently("id", Field::of(FieldType::String));
        set.fields
            .add_silently(source, Field::of(FieldType::Strings));
        set.fields.add_silently(LEVEL, Field::of(FieldType::Int));
        set.fields.add_silently(SPLIT, Field::of(FieldType::String));
        set.complete();
        set
    }
}

/// Whether something stands in the file, or was added to what is there.
pub(crate) fn is_written(at: Place) -> bool {
    at != Place::default()
}
