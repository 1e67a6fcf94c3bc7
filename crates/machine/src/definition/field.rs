//! Typed fields, and the values that a definition may write.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Value;

use super::open::Open;
use super::ordered::LongForm;
use crate::diagnostic::Located;
use crate::guard::Expression;

/// The type of an input, a var or an item's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldType {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A list of texts.
    Strings,
    /// Names and values of any kind.
    Map,
    /// One of these words; the first is the default.
    Enum(Vec<String>),
    /// An item of the set of that name, or none: a cursor.
    Ref(String),
}

impl FieldType {
    /// The value a field has when nothing was given.
    pub fn empty(&self) -> Value {
        match self {
            Self::String | Self::Ref(_) => Value::from(""),
            Self::Int => Value::from(0),
            Self::Number => Value::from(0.0),
            Self::Bool => Value::from(false),
            Self::Strings => Value::Array(Vec::new()),
            Self::Map => Value::Object(serde_json::Map::new()),
            Self::Enum(words) => Value::from(words.first().cloned().unwrap_or_default()),
        }
    }

    /// Whether `value` is of this type.
    pub fn admits(&self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Strings => value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string)),
            Self::Map => value.is_object(),
            Self::Enum(words) => value
                .as_str()
                .is_some_and(|word| words.iter().any(|known| known == word)),
            // The item itself, or its key.
            Self::Ref(_) => value.is_object() || value.is_string() || value.is_null(),
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "int" => Self::Int,
            "number" => Self::Number,
            "bool" => Self::Bool,
            "map" => Self::Map,
            _ => {
                let set = name.strip_prefix("ref ")?.trim();
                return (!set.is_empty()).then(|| Self::Ref(set.to_owned()));
            }
        })
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("string"),
            Self::Int => f.write_str("int"),
            Self::Number => f.write_str("number"),
            Self::Bool => f.write_str("bool"),
            Self::Strings => f.write_str("list of strings"),
            Self::Map => f.write_str("map"),
            Self::Enum(words) => write!(f, "one of {}", words.join(", ")),
            Self::Ref(set) => write!(f, "ref {set}"),
        }
    }
}

/// A declared field: its type, and the value it has when none is given.
#[derive(Debug, Clone)]
pub struct Field {
    /// The type.
    pub kind: FieldType,
    /// The default, if the file names one.
    pub default: Option<Literal>,
    /// Where a caller may change it, if anywhere.
    pub open: Option<Open>,
}

impl Field {
    /// A field of that type, with no default.
    pub(super) fn of(kind: FieldType) -> Self {
        Self {
            kind,
            default: None,
            open: None,
        }
    }

    /// The default where it is an expression.
    pub fn default_expression(&self) -> Option<&Expression> {
        match &self.default {
            Some(Literal::Expression(expression)) => Some(expression),
            _ => None,
        }
    }

    /// The value without looking at expressions.
    pub fn empty(&self) -> Value {
        match &self.default {
            Some(Literal::Value(value)) => value.clone(),
            _ => self.kind.empty(),
        }
    }
}

impl<'de> Deserialize<'de> for FieldType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Type;
        impl<'de> Visitor<'de> for Type {
            type Value = FieldType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("string, int, number, bool, map, [string], ref SET, or a list of words")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<FieldType, E> {
                FieldType::by_name(name)
                    .ok_or_else(|| de::Error::custom(format!("`{name}` is no type: use string, int, number, bool, map, [string], ref SET, or a list of words")))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<FieldType, A::Error> {
                let mut words: Vec<String> = Vec::new();
                while let Some(word) = seq.next_element()? {
                    words.push(word);
                }
                match words.as_slice() {
                    [] => Err(de::Error::custom("a list of words needs at least one")),
                    [one] if one == "string" => Ok(FieldType::Strings),
                    _ => Ok(FieldType::Enum(words)),
                }
            }
        }
        deserializer.deserialize_any(Type)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Long {
            r#type: FieldType,
            #[serde(default)]
            default: Option<Literal>,
            #[serde(default)]
            open: Option<Open>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, or a map with `type`, `default` and `open`")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Field, E> {
                let kind = FieldType::deserialize(de::value::StrDeserializer::new(name))?;
                Ok(Field::of(kind))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Field, A::Error> {
                let kind = FieldType::deserialize(de::value::SeqAccessDeserializer::new(seq))?;
                Ok(Field::of(kind))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Field, A::Error> {
                let long = Long::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Field {
                    kind: long.r#type,
                    default: long.default,
                    open: long.open,
                })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A value written in a definition: CEL where it begins with `=`, itself otherwise.
#[derive(Debug, Clone)]
pub enum Literal {
    /// A plain value.
    Value(Value),
    /// What a CEL expression gives.
    Expression(Expression),
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match LiteralOr::<NoMap>::deserialize(deserializer)? {
            LiteralOr::Literal(literal) => Ok(literal),
            LiteralOr::Map(NoMap) => Err(de::Error::custom("a map is no value")),
        }
    }
}

/// What may be written as a value alone, or as a map that says more.
#[derive(Debug)]
pub(super) enum LiteralOr<T> {
    Literal(Literal),
    Map(T),
}

impl<'de, T: LongForm<'de>> Deserialize<'de> for LiteralOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Located::<ScalarOr<T>>::deserialize(deserializer)?;
        Ok(match written.value {
            ScalarOr::Map(map) => Self::Map(map),
            ScalarOr::Scalar(Value::String(text)) if text.starts_with('=') => {
                let expression = Expression::new(text[1..].trim(), written.at);
                Self::Literal(Literal::Expression(expression))
            }
            ScalarOr::Scalar(value) => Self::Literal(Literal::Value(value)),
        })
    }
}

/// A [`LiteralOr`] that is a value alone.
struct NoMap;

impl<'de> Deserialize<'de> for NoMap {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::invalid_type(Unexpected::Map, &Self::EXPECTING))
    }
}

impl LongForm<'_> for NoMap {
    const EXPECTING: &'static str =
        "text, a number, true, false, null, or an expression that begins with `=`";
}

enum ScalarOr<T> {
    Scalar(Value),
    Map(T),
}

impl<'de, T: LongForm<'de>> Deserialize<'de> for ScalarOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: LongForm<'de>> Visitor<'de> for Either<T> {
            type Value = ScalarOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTING)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(ScalarOr::Scalar(Value::from(text)))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(ScalarOr::Scalar(Value::from(value)))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(ScalarOr::Scalar(Value::from(value)))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                i64::try_from(value)
                    .map(|value| ScalarOr::Scalar(Value::from(value)))
                    .map_err(|_| de::Error::custom(format!("{value} is too large")))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                Ok(ScalarOr::Scalar(Value::from(value)))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(ScalarOr::Scalar(Value::Null))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(ScalarOr::Map)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}
