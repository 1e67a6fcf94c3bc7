//! An event as a line of a journal holds it: its name, and its fields.

use serde::de::value::{BorrowedStrDeserializer, EnumAccessDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, Error as _, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::{Error, Map, Value};

use super::{Domain, Event};

/// The names of the events that `apply` reads.
const FOLDED: [&str; 22] = [
    "run:created",
    "items:loaded",
    "item:added",
    "item:changed",
    "token:opened",
    "token:closed",
    "state:entered",
    "unit:issued",
    "report:accepted",
    "report:retried",
    "effect:intended",
    "effect:done",
    "effect:failed",
    "vars:changed",
    "artifact:recorded",
    "decision:made",
    "refusal:allowed",
    "approval:given",
    "run:paused",
    "run:resumed",
    Event::REWOUND,
    "run:ended",
];

impl Event {
    /// The name of the event of a way back.
    pub const REWOUND: &str = "run:rewound";

    /// The event's name and its fields, as a journal line holds them.
    pub fn to_fields(&self) -> (String, Map<String, Value>) {
        if let Self::Domain(domain) = self {
            return (domain.name.clone(), domain.fields.clone());
        }
        // As serde writes an enum: one key, which is the name.
        let named = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map.into_iter().next(),
            _ => None,
        };
        match named {
            Some((name, Value::Object(fields))) => (name, fields),
            _ => (String::new(), Map::new()),
        }
    }

    /// Reads a journal line back. A name that `apply` does not know is a domain event.
    ///
    /// # Errors
    /// Where the fields are not those of the event.
    pub fn from_fields(name: &str, fields: &Map<String, Value>) -> Result<Self, Error> {
        if !FOLDED.contains(&name) {
            return Ok(Self::Domain(Domain {
                name: name.to_owned(),
                fields: fields.clone(),
                ..Domain::default()
            }));
        }
        Self::deserialize(EnumAccessDeserializer::new(Line { name, fields }))
    }

    /// The number of the event that a run is taken back to by an event of that name with these fields.
    pub fn rewound_to(name: &str, fields: &Map<String, Value>) -> Option<u64> {
        if name == Self::REWOUND {
            return fields.get("to")?.as_u64();
        }
        None
    }

    /// Whether an event of that name changes a run when it is folded.
    pub fn is_folded(name: &str) -> bool {
        FOLDED.contains(&name)
    }

    /// The name alone.
    pub fn name(&self) -> String {
        self.to_fields().0
    }
}

/// What stands on a line, read as serde reads an enum. Nothing is copied that the event does not keep: of a long journal that is
/// most of what reading it costs.
struct Line<'a> {
    name: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'de> EnumAccess<'de> for Line<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let variant = seed.deserialize(BorrowedStrDeserializer::new(self.name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Line<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.fields)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no event is a tuple"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.fields.deserialize_map(visitor)
    }
}
