//! Edges: what may happen at a state, tried in the order of the file.

use serde::{Deserialize, Deserializer};

use super::field::{Literal, LiteralOr};
use super::ordered::{LongForm, Ordered, placed_one_or_many};
use crate::diagnostic::Located;
use crate::guard::Expression;

/// One entry of a list of edges.
///
/// `check` and `warn` only note and go on to the next entry; `refuse`, `retry`, `pause` and `to`
/// stop. An entry without any of these four that is not a note ends where it began.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, expecting = "an edge, such as `{ to: STATE }`")]
pub struct Edge {
    /// The guard; absent means always.
    #[serde(default)]
    pub when: Option<Expression>,
    /// Policies whose findings count here.
    #[serde(default)]
    pub check: Names,
    /// A warning to add to the answer.
    #[serde(default)]
    pub warn: Option<Located<String>>,
    /// The code of a refusal: nothing moves.
    #[serde(default)]
    pub refuse: Option<Located<String>>,
    /// The code of a retry verdict: recorded, one attempt used up.
    #[serde(default)]
    pub retry: Option<Located<String>>,
    /// Why the run pauses.
    #[serde(default)]
    pub pause: Option<Located<String>>,
    /// Effects, in order.
    #[serde(default, rename = "do")]
    pub effects: Effects,
    /// What the effects are told: names and values.
    #[serde(default)]
    pub with: Ordered<Literal>,
    /// Values to set, one after the other: the name of a var, or `item.FIELD` (of any cursor).
    #[serde(default)]
    pub set: Ordered<Literal>,
    /// Items to add: a set's name, and the fields of the new item, or an expression that gives a list of items.
    #[serde(default)]
    pub add: Ordered<Added>,
    /// Sets to fill: a set's name, and where its items come from.
    #[serde(default)]
    pub load: Ordered<Literal>,
    /// Domain events to journal.
    #[serde(default)]
    pub emit: Names,
    /// A note on the transition, for the run's history.
    #[serde(default)]
    pub outcome: Option<Located<String>>,
    /// Why it leads there: told where the token stands, and at the end of the run.
    #[serde(default)]
    pub reason: Option<Literal>,
    /// Where it leads.
    #[serde(default)]
    pub to: Option<Located<String>>,
}

impl Edge {
    /// Whether this entry only notes something and the next one is tried after it.
    pub fn is_note(&self) -> bool {
        self.refuse.is_none()
            && self.retry.is_none()
            && self.pause.is_none()
            && self.to.is_none()
            && (!self.check.0.is_empty() || self.warn.is_some())
    }

    /// The codes that it answers with: of a refusal, a retry, or a warning.
    pub fn codes(&self) -> impl Iterator<Item = &Located<String>> {
        [&self.warn, &self.refuse, &self.retry]
            .into_iter()
            .flatten()
    }

    /// Every CEL expression of this edge.
    pub fn expressions(&self) -> Vec<&Expression> {
        let mut all: Vec<&Expression> = self.when.iter().collect();
        all.extend(self.assigned());
        all
    }

    /// The expressions that give values, without the guard.
    pub fn assigned(&self) -> Vec<&Expression> {
        self.set
            .iter()
            .map(|(_, value)| value)
            .chain(self.load.iter().map(|(_, value)| value))
            .chain(self.with.iter().map(|(_, value)| value))
            .chain(&self.reason)
            .chain(self.add.iter().flat_map(|(_, added)| added.values()))
            .filter_map(|value| match value {
                Literal::Expression(expression) => Some(expression),
                Literal::Value(_) => None,
            })
            .collect()
    }

    /// The facts of `reader` that fill sets as they are, each with its set.
    pub fn loaded_from<'a>(&'a self, reader: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.load
            .iter()
            .filter_map(move |(set, value)| match value {
                Literal::Expression(expression) => {
                    let fact = expression.under(reader)?;
                    (!fact.contains('.')).then_some((set.value.as_str(), fact))
                }
                Literal::Value(_) => None,
            })
    }

    /// What its `set` names.
    pub fn assigns(&self) -> impl Iterator<Item = (Assign<'_>, &Literal)> {
        self.set.iter().map(|(name, value)| {
            let target = match name.value.split_once('.') {
                Some((cursor, field)) => Assign::Field { cursor, field },
                None => Assign::Var(&name.value),
            };
            (target, value)
        })
    }
}

/// What an edge adds to a set.
#[derive(Debug)]
pub enum Added {
    /// One item, by its fields.
    Item(Ordered<Literal>),
    /// As many as an expression lists.
    Listed(Literal),
}

impl Added {
    /// The fields of the one item; none where they are listed.
    pub fn fields(&self) -> impl Iterator<Item = (&Located<String>, &Literal)> {
        let fields = match self {
            Self::Item(fields) => Some(fields),
            Self::Listed(_) => None,
        };
        fields.into_iter().flat_map(Ordered::iter)
    }

    /// The values that are written for it.
    fn values(&self) -> impl Iterator<Item = &Literal> {
        let listed = match self {
            Self::Item(_) => None,
            Self::Listed(list) => Some(list),
        };
        self.fields().map(|(_, value)| value).chain(listed)
    }
}

impl<'de> Deserialize<'de> for Added {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(
            match LiteralOr::<Ordered<Literal>>::deserialize(deserializer)? {
                LiteralOr::Map(fields) => Self::Item(fields),
                LiteralOr::Literal(list) => Self::Listed(list),
            },
        )
    }
}

impl LongForm<'_> for Ordered<Literal> {
    const EXPECTING: &'static str =
        "the fields of an item, or an expression that begins with `=` and lists items";
}

/// What a `set` assigns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assign<'a> {
    /// A field of the item that a cursor points at.
    Field {
        /// The cursor: `item` for the item of an `each`, or a var.
        cursor: &'a str,
        /// The field.
        field: &'a str,
    },
    /// A var of the run.
    Var(&'a str),
}

/// One or more names.
#[derive(Debug, Default, Clone)]
pub struct Names(pub Vec<Located<String>>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        placed_one_or_many(deserializer).map(Self)
    }
}

/// One or more effects, by name.
pub type Effects = Names;
