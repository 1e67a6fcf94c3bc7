//! An event as a line of a journal holds it: its name, and its fields.

use std::cell::Cell;
use std::sync::LazyLock;

use serde::de::value::{BorrowedStrDeserializer, EnumAccessDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, Error as _, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::{Error, Map, Value};

use super::{Domain, Event};

/// The names of the events that `apply` reads: serde says them to whoever reads an enum.
static FOLDED: LazyLock<&[&str]> = LazyLock::new(|| {
    let names = Cell::new(&[][..]);
    let _ = Event::deserialize(NamesOf(&names));
    names.get()
});

/// Takes the names of the variants of an enum, and reads nothing.
struct NamesOf<'n>(&'n Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for NamesOf<'_> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.0.set(variants);
        Err(Error::custom("nothing is read"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("it is no enum"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

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
