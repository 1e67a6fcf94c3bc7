//! One place in which settings are given: which values it has, each checked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use super::environment::Environment;
use super::error::{ConfigError, ValuePlace};
use super::keys::{self, KEYS, Key, Kind};
use super::settings::{Origin, UnreadVariable};
use crate::convention::placeholder;
use crate::tasks::json::{self, Node};

/// A config of more bytes than this is not read.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// A checked value.
pub(super) struct Setting {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// Whose file a config is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Project,
    User,
}

/// The settings of a file with this `text`.
pub(super) fn of_file(path: &Path, text: &str, owner: Owner) -> Result<Vec<Setting>, ConfigError> {
    let file = FileLayer { path, text, owner };
    let node = json::parse(text).map_err(|malformed| ConfigError::Malformed {
        place: file.place(malformed.offset).into(),
        message: malformed.message,
    })?;
    if !matches!(node.value, json::Value::Object(_)) {
        return Err(ConfigError::Malformed {
            place: file.place(node.span.start).into(),
            message: format!("an object is expected, not {}", node.kind()),
        });
    }
    let mut found = LayerValues::new();
    for member in node.members() {
        if keys::is_section(&member.key) {
            file.section(&member.key, &member.node, &mut found)?;
        }
    }
    let settings = found.into_values().map(|(key, value, offset)| Setting {
        key,
        value,
        origin: file.origin(offset),
    });
    Ok(settings.collect())
}

/// The text of a file; `None` where there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let error = |source| ConfigError::Io {
        path: path.to_owned(),
        source,
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(source)
            if matches!(
                source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(source) => return Err(error(source)),
    };
    if !metadata.is_file() {
        return Err(error(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(error)?;
    if bytes.len() as u64 > MAX_FILE {
        let problem = format!("more than {MAX_FILE} bytes");
        return Err(error(io::Error::new(io::ErrorKind::FileTooLarge, problem)));
    }
    String::from_utf8(bytes).map(Some).map_err(|not_text| {
        let upto = not_text.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&not_text.as_bytes()[..upto]);
        let (line, column) = json::line_and_column(&valid, upto);
        ConfigError::Malformed {
            place: Box::new(ValuePlace::File {
                path: path.to_owned(),
                line,
                column,
            }),
            message: "not UTF-8 text".to_owned(),
        }
    })
}

/// By name a key, its value and the byte at which the file sets it. Places are worked out for what counts in the end
/// only: a file may set a key a hundred thousand times.
type LayerValues = BTreeMap<&'static str, (&'static Key, Value, usize)>;

struct FileLayer<'t> {
    path: &'t Path,
    text: &'t str,
    owner: Owner,
}

impl FileLayer<'_> {
    fn place(&self, offset: usize) -> ValuePlace {
        let (line, column) = json::line_and_column(self.text, offset);
        ValuePlace::File {
            path: self.path.to_owned(),
            line,
            column,
        }
    }

    fn origin(&self, offset: usize) -> Origin {
        let (line, _) = json::line_and_column(self.text, offset);
        let path: PathBuf = self.path.to_owned();
        match self.owner {
            Owner::Project => Origin::ProjectFile { path, line },
            Owner::User => Origin::UserFile { path, line },
        }
    }

    fn section(
        &self,
        name: &str,
        node: &Node<'_>,
        found: &mut LayerValues,
    ) -> Result<(), ConfigError> {
        if !matches!(node.value, json::Value::Object(_)) {
            return Err(ConfigError::WrongType {
                place: self.place(node.span.start).into(),
                key: name.to_owned(),
                expected: "an object".to_owned(),
                found: node.kind().to_owned(),
            });
        }
        // Of two sections of one name the last counts, as of two values.
        let prefix = format!("{name}.");
        found.retain(|key, _| !key.starts_with(&prefix));
        for member in node.members() {
            // JSON has no comments; keys that begin like one are how people help themselves.
            if member.key.starts_with("//") || member.key == "$comment" {
                continue;
            }
            let full = format!("{name}.{}", member.key);
            if let Some(key) = keys::find(&full).filter(|_| !member.key.contains('.')) {
                let value = member.node.to_json();
                // `null` says nothing, so what comes after this file counts.
                if value.is_null() && key.kind.is_optional() {
                    found.remove(key.name);
                    continue;
                }
                check(key, &value, || self.place(member.node.span.start))?;
                found.insert(key.name, (key, value, member.key_span.start));
            } else if !keys::children(&full).is_empty() && !member.key.contains('.') {
                self.section(&full, &member.node, found)?;
            } else {
                return Err(unknown(self.place(member.key_span.start), name, &full));
            }
        }
        Ok(())
    }
}

fn unknown(place: ValuePlace, section: &str, key: &str) -> ConfigError {
    let valid: Vec<String> = keys::children(section)
        .iter()
        .map(|child| format!("{section}.{child}"))
        .collect();
    let written = key
        .strip_prefix(section)
        .map_or(key, |rest| rest.trim_start_matches('.'));
    // A key may be spelt wrong, be written with dots where objects are meant, or stand in the wrong section.
    let word = written.split('.').next().unwrap_or(written);
    let here = text::nearest(word, keys::children(section));
    let nearest = here.map(|child| format!("{section}.{child}")).or_else(|| {
        let elsewhere = KEYS.iter().find(|candidate| {
            candidate
                .name
                .rsplit('.')
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(word))
        });
        elsewhere.map(|candidate| candidate.name.to_owned())
    });
    ConfigError::UnknownKey {
        place: place.into(),
        key: key.to_owned(),
        nearest,
        valid,
    }
}

/// The settings of flags, by dotted name.
pub(super) fn of_flags<'f>(
    flags: impl IntoIterator<Item = (&'f str, &'f Value)>,
) -> Result<Vec<Setting>, ConfigError> {
    let mut settings = Vec::new();
    for (name, value) in flags {
        let key = keys::find(name).ok_or_else(|| unknown_key(name))?;
        check(key, value, || ValuePlace::Flag(name.to_owned()))?;
        settings.push(Setting {
            key,
            value: value.clone(),
            origin: Origin::Flag,
        });
    }
    Ok(settings)
}

/// The error of a dotted name that somebody gave and that is no key's.
pub(super) fn unknown_key(name: &str) -> ConfigError {
    ConfigError::UnknownKey {
        place: ValuePlace::Flag(name.to_owned()).into(),
        key: name.to_owned(),
        nearest: text::nearest(name, keys::keys()).map(ToOwned::to_owned),
        valid: keys::keys().map(ToOwned::to_owned).collect(),
    }
}

/// The value that a text gives a key, checked.
pub(super) fn value_of(key: &Key, text: &str) -> Result<Value, ConfigError> {
    let place = || ValuePlace::Flag(key.name.to_owned());
    let value = from_text(key, text, place)?;
    check(key, &value, place)?;
    Ok(value)
}

/// The variable of each key. To make the names costs more than to look all of them up.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    KEYS.iter()
        .map(|key| keys::environment_name(key.name))
        .collect()
});

/// Variables that are named as one of a setting would be, and set none: each with the nearest one that does.
pub(super) fn unread_variables(environment: &Environment) -> Vec<UnreadVariable> {
    /// What stands in the environment and is no setting.
    const OTHERS: [&str; 6] = [
        "TRAMLINE_HOME",
        "TRAMLINE_LOG",
        "TRAMLINE_TOKEN",
        "TRAMLINE_ASKPASS",
        "TRAMLINE_FAIL_POINT",
        "TRAMLINE_CHECK_ADVICE",
    ];
    let known = |name: &str| OTHERS.contains(&name) || NAMES.iter().any(|own| own == name);
    environment
        .of_tramline()
        .filter(|name| !known(name))
        .map(|name| UnreadVariable {
            name: name.to_owned(),
            nearest: text::nearest(name, NAMES.iter().map(String::as_str)).map(str::to_owned),
        })
        .collect()
}

/// The settings of the environment.
pub(super) fn of_environment(environment: &Environment) -> Result<Vec<Setting>, ConfigError> {
    let mut settings = Vec::new();
    // Most callers set nothing.
    if environment.of_tramline().next().is_none() {
        return Ok(settings);
    }
    for (key, name) in KEYS.iter().zip(NAMES.iter()) {
        let of_store =
            key.name == "autopilot.storage.basePath" && environment.get("TRAMLINE_HOME").is_some();
        let name = if of_store { "TRAMLINE_HOME" } else { name };
        let Some(text) = environment.get(name) else {
            continue;
        };
        let place = || ValuePlace::Environment(name.to_owned());
        let value = from_text(key, text, place)?;
        check(key, &value, place)?;
        settings.push(Setting {
            key,
            value,
            origin: Origin::Environment {
                name: name.to_owned(),
            },
        });
    }
    Ok(settings)
}

/// A value as people write it in an environment variable: bare words and numbers, lists by commas or as JSON.
fn from_text(key: &Key, text: &str, place: impl Fn() -> ValuePlace) -> Result<Value, ConfigError> {
    let json = || {
        json::parse(text)
            .map(|node| node.to_json())
            .map_err(|malformed| ConfigError::Malformed {
                place: place().into(),
                message: malformed.message,
            })
    };
    let text = text.trim();
    match key.kind {
        Kind::Texts | Kind::Globs if !text.starts_with('[') => {
            let words = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            Ok(words.map(Value::from).collect())
        }
        Kind::Texts | Kind::Globs | Kind::GlobNames | Kind::Commands => json(),
        Kind::Flag => Ok(match text {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            other => Value::from(other),
        }),
        Kind::Count(_) | Kind::OptionalPercent => Ok(json::parse(text)
            .ok()
            .map(|node| node.to_json())
            .filter(Value::is_number)
            .unwrap_or_else(|| Value::from(text))),
        Kind::ChoiceOrFalse(_) if text == "false" => Ok(Value::Bool(false)),
        kind if kind.is_optional() && text == "null" => Ok(Value::Null),
        Kind::Text
        | Kind::OptionalText
        | Kind::Pattern(_)
        | Kind::ChoiceOrFalse(_)
        | Kind::Choice(_)
        | Kind::OptionalGlob => Ok(Value::from(text)),
    }
}

impl Kind {
    fn is_optional(self) -> bool {
        matches!(
            self,
            Self::OptionalText | Self::OptionalPercent | Self::OptionalGlob
        )
    }

    /// What it takes, for a message.
    fn words(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Text | Self::OptionalText | Self::Pattern(_) => "a string".to_owned(),
            Self::ChoiceOrFalse(choices) => {
                format!("{} or false", Self::Choice(choices).words())
            }
            Self::Count(_) => "a whole number from 1".to_owned(),
            Self::OptionalPercent => "a number from 0 to 100".to_owned(),
            Self::Choice(choices) => {
                let quoted: Vec<String> =
                    choices.iter().map(|choice| format!("{choice:?}")).collect();
                quoted.join(" or ")
            }
            Self::Texts => "a list of strings".to_owned(),
            Self::OptionalGlob => "a glob".to_owned(),
            Self::Globs => "a list of globs".to_owned(),
            Self::GlobNames => "an object with a name for each glob".to_owned(),
            Self::Commands => "an object with a command for each name".to_owned(),
        }
    }
}

/// Whether a key can have a value.
fn check(key: &Key, value: &Value, place: impl Fn() -> ValuePlace) -> Result<(), ConfigError> {
    let wrong_type = |found: &Value| ConfigError::WrongType {
        place: place().into(),
        key: key.name.to_owned(),
        expected: key.kind.words(),
        found: match found {
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => bounded(other),
        },
    };
    let bad = |found: &Value, problem: String, nearest: Option<&str>| ConfigError::BadValue {
        place: place().into(),
        key: key.name.to_owned(),
        found: bounded(found),
        problem,
        nearest: nearest.map(ToOwned::to_owned),
    };
    let text = |value: &Value| match value {
        Value::String(text) if text.trim().is_empty() => {
            Err(bad(value, "it is empty".to_owned(), None))
        }
        Value::String(text) if text.contains('\0') => {
            Err(bad(value, "it contains a NUL character".to_owned(), None))
        }
        Value::String(_) => Ok(()),
        other => Err(wrong_type(other)),
    };
    let glob = |written: &str, value: &Value| match globset::Glob::new(written) {
        Ok(_) => Ok(()),
        Err(error) => Err(bad(
            value,
            format!("it is not a glob: {}", error.kind()),
            None,
        )),
    };
    match (key.kind, value) {
        (Kind::Flag, Value::Bool(_)) | (Kind::ChoiceOrFalse(_), Value::Bool(false)) => Ok(()),
        (Kind::Text | Kind::OptionalText, value) => text(value),
        (Kind::Pattern(known), value) => {
            text(value)?;
            let written = value.as_str().unwrap_or_default();
            if written.contains(['\n', '\r']) {
                return Err(bad(value, "it must stand on one line".to_owned(), None));
            }
            let values: Vec<(&str, &str)> = known.iter().map(|name| (*name, "")).collect();
            match placeholder::fill(written, &values) {
                Ok(_) => Ok(()),
                Err(error) => Err(bad(value, error.to_string(), None)),
            }
        }
        (Kind::Count(limit), Value::Number(number)) => match number.as_u64() {
            Some(count) if (1..=limit).contains(&count) => Ok(()),
            _ => Err(bad(
                value,
                format!("it must be a whole number from 1 to {limit}"),
                None,
            )),
        },
        (Kind::OptionalPercent, Value::Number(number)) => match number.as_f64() {
            Some(percent) if (0.0..=100.0).contains(&percent) => Ok(()),
            _ => Err(bad(value, "it must be from 0 to 100".to_owned(), None)),
        },
        (Kind::Choice(choices) | Kind::ChoiceOrFalse(choices), Value::String(word)) => {
            if choices.contains(&word.as_str()) {
                return Ok(());
            }
            let nearest = text::nearest(word, choices.iter().copied());
            Err(bad(
                value,
                format!("it must be {}", key.kind.words()),
                nearest,
            ))
        }
        (Kind::Texts, Value::Array(entries)) => entries.iter().try_for_each(text),
        (Kind::Globs, Value::Array(entries)) => entries.iter().try_for_each(|entry| {
            text(entry)?;
            entry
                .as_str()
                .map_or(Ok(()), |written| glob(written, entry))
        }),
        (Kind::OptionalGlob, value) => {
            text(value)?;
            value
                .as_str()
                .map_or(Ok(()), |written| glob(written, value))
        }
        (Kind::Commands, Value::Object(entries)) => entries.values().try_for_each(text),
        (Kind::GlobNames, Value::Object(entries)) => {
            entries.iter().try_for_each(|(written, name)| {
                text(name)?;
                glob(written, &Value::from(written.as_str()))
            })
        }
        (_, other) => Err(wrong_type(other)),
    }
}

/// A value for a message.
fn bounded(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
