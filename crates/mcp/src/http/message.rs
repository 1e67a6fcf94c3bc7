//! What can be told of a message before the protocol looks at it.

use hyper::StatusCode;
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::Value;

use super::refusal::{INVALID_REQUEST, PARSE_ERROR, Refusal};

/// What a message has on its outside.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Message {
    jsonrpc: Option<String>,
    #[serde(deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
}

/// How long a message keeps the server busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is answered once.
    Call,
    /// It is answered for as long as the client wants to listen.
    Listening,
    /// It is not answered: a notification, or the client's answer to a question.
    Note,
}

/// An `id` of `null` is there, and wrong; one that is not there is right for a notification.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl Message {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        match bytes.trim_ascii_start().first() {
            Some(b'{') => {}
            Some(b'[') if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                return Err(invalid(
                    "several messages in one request are not understood; send each by itself",
                ));
            }
            _ if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                return Err(invalid("the body is no JSON-RPC message; send an object"));
            }
            _ => return Err(no_json()),
        }
        let message: Self = serde_json::from_slice(bytes).map_err(|error| {
            if error.is_data() {
                invalid("the body is no JSON-RPC message: `jsonrpc`, `id` or `method` is not what it should be")
            } else {
                no_json()
            }
        })?;
        if message.jsonrpc.as_deref() != Some("2.0") {
            return Err(invalid(
                "the body is no JSON-RPC message; it has to say `\"jsonrpc\": \"2.0\"`",
            ));
        }
        match &message.id {
            None | Some(Value::String(_)) => {}
            Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {}
            Some(_) => {
                return Err(invalid("the `id` has to be a string or a whole number"));
            }
        }
        Ok(message)
    }

    pub(super) fn kind(&self) -> Kind {
        match (&self.method, &self.id) {
            (Some(method), Some(_)) if method == "subscriptions/listen" => Kind::Listening,
            (Some(_), Some(_)) => Kind::Call,
            _ => Kind::Note,
        }
    }

    /// Which call this is; nothing where it is none.
    pub(super) fn id(&self) -> Value {
        match self.kind() {
            Kind::Note => Value::Null,
            Kind::Call | Kind::Listening => self.id.clone().unwrap_or_default(),
        }
    }

    /// Whether there is no message at all.
    pub(super) fn is_empty(&self) -> bool {
        self.jsonrpc.is_none()
    }

    /// What a notification is about; nothing where the message is none.
    pub(super) fn notification(&self) -> Option<&str> {
        self.method.as_deref().filter(|_| self.id.is_none())
    }

    pub(super) fn begins_session(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }
}

/// The version of the protocol that an `initialize` asks for.
pub(super) fn asked_version(bytes: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(bytes).ok()?;
    Some(message["params"]["protocolVersion"].as_str()?.to_owned())
}

fn invalid(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message).with_code(INVALID_REQUEST)
}

fn no_json() -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "the body is no JSON").with_code(PARSE_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_it_is() {
        for (fields, kind) in [
            (r#""id":1,"method":"tools/list""#, Kind::Call),
            (
                r#""id":"a","method":"subscriptions/listen""#,
                Kind::Listening,
            ),
            (r#""method":"notifications/initialized""#, Kind::Note),
            (r#""id":1,"result":{}"#, Kind::Note),
            (r#""id":1,"error":{"code":1,"message":""}"#, Kind::Note),
        ] {
            let text = format!(r#" {{"jsonrpc":"2.0",{fields}}}"#);
            let message = Message::read(text.as_bytes()).unwrap();
            assert_eq!(message.kind(), kind, "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let deep = "[".repeat(100_000);
        let closed = format!("{deep}{}", "]".repeat(100_000));
        for (text, code) in [
            ("", "-32700"),
            ("{", "-32700"),
            ("{\"jsonrpc\":\"2.0\"}}", "-32700"),
            ("\u{0}", "-32700"),
            ("[", "-32700"),
            (&deep, "-32700"),
            (&closed, "-32600"),
            ("[]", "-32600"),
            ("1", "-32600"),
            ("null", "-32600"),
            ("{}", "-32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "-32600"),
        ] {
            let refusal = Message::read(text.as_bytes()).unwrap_err();
            assert!(
                format!("{refusal:?}").contains(code),
                "{text:.60}: {refusal:?}"
            );
        }
    }
}
