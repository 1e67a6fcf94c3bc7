//! What capabilities remember in a run and in its tokens: each thing under a name of its own, as a type of its own.
//!
//! What is remembered and cannot be read is a fault, never nothing: a rail that rests on it would be gone.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::fault::Fault;

/// Where a `T` is remembered.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    name: Cow<'static, str>,
    of: PhantomData<fn() -> T>,
}

/// Where there is a `T` for each of many keys: labels of reports, items, states.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    prefix: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> Slot<T> {
    /// The place under that name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            of: PhantomData,
        }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What is there as it was kept, unread.
    pub(crate) fn value<'k>(&self, kept: &'k Map<String, Value>) -> Option<&'k Value> {
        kept.get(&*self.name).filter(|value| !value.is_null())
    }

    /// Whether it is the place under this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether anything is there, whatever it is.
    pub(crate) fn is_in(&self, kept: &Map<String, Value>) -> bool {
        self.value(kept).is_some()
    }

    /// Has a run forget what is there.
    pub(crate) fn forget(&self, keep: &mut Map<String, Value>) {
        keep.insert(self.name.to_string(), Value::Null);
    }
}

impl Slot<String> {
    /// The text that is there.
    pub(crate) fn text<'k>(&self, kept: &'k Map<String, Value>) -> Option<&'k str> {
        self.value(kept)?.as_str()
    }
}

impl<T: Serialize + DeserializeOwned> Slot<T> {
    /// What is there; none where nothing is.
    ///
    /// # Errors
    /// Where there is something else than a `T`.
    pub(crate) fn read(&self, kept: &Map<String, Value>) -> Result<Option<T>, Fault> {
        let read = |value| {
            T::deserialize(value).map_err(|error| {
                Fault::bug(format!(
                    "what the run remembers as `{}` cannot be read: {error}",
                    self.name
                ))
            })
        };
        self.value(kept).map(read).transpose()
    }

    /// Has a run remember `value` there.
    ///
    /// # Errors
    /// Where JSON cannot hold it.
    pub(crate) fn put(&self, keep: &mut Map<String, Value>, value: &T) -> Result<(), Fault> {
        let value = serde_json::to_value(value).map_err(|error| Fault::bug(error.to_string()))?;
        keep.insert(self.name.to_string(), value);
        Ok(())
    }

    /// A memory with nothing but `value` in it.
    ///
    /// # Errors
    /// Where JSON cannot hold it.
    pub(crate) fn entry(&self, value: &T) -> Result<Map<String, Value>, Fault> {
        let mut keep = Map::new();
        self.put(&mut keep, value)?;
        Ok(keep)
    }
}

impl<T> Slots<T> {
    /// The places whose names begin so.
    pub(crate) const fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            of: PhantomData,
        }
    }

    /// That of a key.
    pub(crate) fn of(&self, key: &str) -> Slot<T> {
        Slot {
            name: Cow::Owned(format!("{}{key}", self.prefix)),
            of: PhantomData,
        }
    }

    /// Whether there is anything under any key.
    pub(crate) fn any(&self, kept: &Map<String, Value>) -> bool {
        kept.keys().any(|name| name.starts_with(self.prefix))
    }
}

impl<T: Serialize + DeserializeOwned> Slots<T> {
    /// What is there under a label; none where nothing is, or there is no label.
    ///
    /// # Errors
    /// Where there is something else than a `T`.
    pub(crate) fn read(
        &self,
        kept: &Map<String, Value>,
        label: Option<&String>,
    ) -> Result<Option<T>, Fault> {
        label.map_or(Ok(None), |label| self.of(label).read(kept))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_nothing() {
        const NUMBERS: Slots<Vec<u64>> = Slots::new("numbers.");
        let label = "red".to_owned();
        let mut kept = Map::new();
        assert_eq!(NUMBERS.read(&kept, Some(&label)).unwrap(), None);
        NUMBERS.of("red").put(&mut kept, &vec![1, 2]).unwrap();
        assert_eq!(NUMBERS.read(&kept, Some(&label)).unwrap(), Some(vec![1, 2]));
        assert_eq!(NUMBERS.read(&kept, None).unwrap(), None);
        kept.insert("numbers.red".to_owned(), json!("two"));
        let fault = NUMBERS.read(&kept, Some(&label)).unwrap_err();
        assert!(fault.message.contains("`numbers.red`"), "{fault:?}");
        NUMBERS.of("red").forget(&mut kept);
        assert_eq!(NUMBERS.read(&kept, Some(&label)).unwrap(), None);
    }
}
