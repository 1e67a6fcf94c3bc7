//! Maps that keep the order of the file and know where each key stands.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::Located;

/// A map in the order of the file.
#[derive(Debug, Clone)]
pub struct Ordered<T>(Vec<(Located<String>, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Ordered<T> {
    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(name, _)| name.value == key)
            .map(|(_, value)| value)
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Located<String>, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.value.as_str())
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Map<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries: Vec<(Located<String>, T)> = Vec::new();
                while let Some(key) = map.next_key::<Located<String>>()? {
                    if entries.iter().any(|(name, _)| name.value == key.value) {
                        return Err(de::Error::custom(format!("`{}` is there twice", key.value)));
                    }
                    entries.push((key, map.next_value()?));
                }
                Ok(Ordered(entries))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Ordered(Vec::new()))
            }
        }
        deserializer.deserialize_map(Map(PhantomData))
    }
}

/// Reads a list, or a single map standing for a list of one.
pub(super) fn one_or_many<'de, T, D>(
    deserializer: D,
    what: &'static str,
) -> Result<Vec<Located<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct OneOrMany<T>(&'static str, PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<Located<T>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = seq.next_element::<Located<T>>()? {
                all.push(one);
            }
            Ok(all)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            let one = T::deserialize(de::value::MapAccessDeserializer::new(map))?;
            Ok(vec![Located {
                value: one,
                at: crate::diagnostic::Place::default(),
            }])
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            let one = T::deserialize(de::value::StrDeserializer::new(text))?;
            Ok(vec![Located {
                value: one,
                at: crate::diagnostic::Place::default(),
            }])
        }
    }
    deserializer.deserialize_any(OneOrMany(what, PhantomData))
}
