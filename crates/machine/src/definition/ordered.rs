//! Maps that keep the order of the file and know where each key stands.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::Located;

/// A map in the order of the file.
#[derive(Debug, Clone)]
pub struct Ordered<T> {
    entries: Vec<(Located<String>, T)>,
    /// Where each key stands in `entries`.
    index: HashMap<String, usize>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            index: HashMap::new(),
        }
    }
}

impl<T> Ordered<T> {
    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&T> {
        let (_, value) = self.entries.get(*self.index.get(key)?)?;
        Some(value)
    }

    /// Adds an entry behind the others, unless there is one of that name.
    pub(super) fn add(&mut self, name: Located<String>, value: T) {
        if !self.index.contains_key(&name.value) {
            self.index.insert(name.value.clone(), self.entries.len());
            self.entries.push((name, value));
        }
    }

    /// The same for what stands nowhere in the file.
    pub(super) fn add_silently(&mut self, name: &str, value: T) {
        let at = crate::diagnostic::Place::default();
        self.add(
            Located {
                value: name.to_owned(),
                at,
            },
            value,
        );
    }

    /// All entries, in order, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Located<String>, &mut T)> {
        self.entries.iter_mut().map(|(name, value)| (&*name, value))
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Located<String>, &T)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|(name, _)| name.value.as_str())
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
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
                let mut all = Ordered::default();
                while let Some(key) = map.next_key::<Located<String>>()? {
                    let at = all.entries.len();
                    if all.index.insert(key.value.clone(), at).is_some() {
                        return Err(de::Error::custom(format!("`{}` is there twice", key.value)));
                    }
                    all.entries.push((key, map.next_value()?));
                }
                Ok(all)
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Ordered::default())
            }
        }
        deserializer.deserialize_map(Map(PhantomData))
    }
}

/// Reads a list, or a single entry standing for a list of one. Every entry has its place.
pub(super) fn placed_one_or_many<'de, T, D>(deserializer: D) -> Result<Vec<Located<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let whole = Located::<OneOrMany<T>>::deserialize(deserializer)?;
    Ok(match whole.value {
        OneOrMany::One(value) => vec![Located {
            value,
            at: whole.at,
        }],
        OneOrMany::Many(all) => all,
    })
}

enum OneOrMany<T> {
    One(T),
    Many(Vec<Located<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one entry or a list of them")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element::<Located<T>>()? {
                    all.push(one);
                }
                Ok(OneOrMany::Many(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(OneOrMany::One)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(OneOrMany::One)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// What may be written as a name alone, or as a map that says more.
pub(super) enum NameOr<T> {
    /// The name.
    Name(Located<String>),
    /// The map.
    Map(T),
}

/// The map of a [`NameOr`].
pub(super) trait LongForm<'de>: Deserialize<'de> {
    /// What is written here, short or long: the end of "expected …".
    const EXPECTING: &'static str;
}

impl<'de, T: LongForm<'de>> Deserialize<'de> for NameOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Located::<Written<T>>::deserialize(deserializer)?;
        Ok(match written.value {
            Written::Name(value) => Self::Name(Located {
                value,
                at: written.at,
            }),
            Written::Map(long) => Self::Map(long),
        })
    }
}

enum Written<T> {
    Name(String),
    Map(T),
}

impl<'de, T: LongForm<'de>> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: LongForm<'de>> Visitor<'de> for Either<T> {
            type Value = Written<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTING)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Written::Name(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Written::Map)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}
