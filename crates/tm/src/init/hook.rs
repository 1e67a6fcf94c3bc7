//! The guard hook in a client's hook settings: lists of handlers, into which ours is put and from which it is taken;
//! comments and order of everything else stay.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::cst::{input, options, parsed, wrong};
use super::text::{EditError, Remainder, newline_of, without_mark};
use crate::hook::Client;
use crate::hook::settings::{self, Hooks};

/// The object that holds the lists.
const SECTION: &str = "hooks";
const VERSION: &str = "version";

/// What a file says; `None` where it is no document.
pub fn read(text: &str) -> Option<Value> {
    let (_, body) = without_mark(text);
    value_of(&CstRootNode::parse(body, &options()).ok()?.value()?)
}

/// The text with the hook of a client in it. `None` where there is no file.
pub fn with_hook(text: Option<&str>, client: Client) -> Result<String, EditError> {
    let hooks = settings::of(client);
    if let Some(plugin) = hooks.plugin {
        // One that is there is ours, or its user's by now.
        return Ok(text.unwrap_or(plugin).to_owned());
    }
    let (mark, body) = without_mark(text.unwrap_or_default());
    if body.trim().is_empty() {
        let new = document(&hooks).replace('\n', newline_of(body));
        return Ok(format!("{mark}{new}"));
    }
    let root = parsed(body)?;
    let object = root
        .object_value_or_create()
        .ok_or_else(|| wrong(body, "", "the document is not an object"))?;
    let mut changed = false;
    if hooks.versioned && object.get(VERSION).is_none() {
        object.insert(0, VERSION, CstInputValue::Number("1".to_owned()));
        changed = true;
    }
    let section = object
        .object_value_or_create(SECTION)
        .ok_or_else(|| wrong(body, SECTION, &format!("`{SECTION}` is not an object")))?;
    for (event, entry) in &hooks.events {
        let list = section
            .array_value_or_create(event)
            .ok_or_else(|| wrong(body, event, &format!("`{event}` is not a list")))?;
        let mut is_there = false;
        for element in list.elements() {
            for handler in handlers_of(&element) {
                if let Some(value) = value_of(&handler)
                    && let Some(program) = settings::program(&value, client)
                {
                    is_there = true;
                    changed |= made_sound(&handler, &value, client, &program);
                }
            }
        }
        if !is_there {
            list.ensure_multiline();
            list.append(input(entry));
            changed = true;
        }
    }
    if !changed {
        return Ok(format!("{mark}{body}"));
    }
    let new = root.to_string();
    parsed(&new)?;
    Ok(format!("{mark}{new}"))
}

/// An entry of an event's list, and the handlers in it.
fn handlers_of(entry: &CstNode) -> Vec<CstNode> {
    let inside = entry
        .as_object()
        .and_then(|group: CstObject| group.array_value(SECTION))
        .map(|handlers| handlers.elements())
        .unwrap_or_default();
    [entry.clone()].into_iter().chain(inside).collect()
}

/// Gives a handler of ours the form that nobody misreads; whether it had another. Its path, time and matcher are its
/// user's.
fn made_sound(node: &CstNode, value: &Value, client: Client, program: &str) -> bool {
    if settings::is_sound(value, client, program) {
        return false;
    }
    let Some(handler) = node.as_object() else {
        return false;
    };
    let key = if value.get("bash").is_some() {
        "bash"
    } else {
        "command"
    };
    if let Some(command) = handler.get(key) {
        command.set_value(CstInputValue::String(settings::line(program, client)));
    }
    if let Some(arguments) = handler.get("args") {
        arguments.remove();
    }
    if client == Client::ClaudeCode && handler.get(settings::ON_FAILURE).is_none() {
        let goes_on = CstInputValue::String("continue".to_owned());
        handler.append(settings::ON_FAILURE, goes_on);
    }
    true
}

/// The text without it.
pub fn without_hook(text: &str, client: Client) -> Result<Remainder, EditError> {
    let hooks = settings::of(client);
    if let Some(plugin) = hooks.plugin {
        return Ok(if text == plugin {
            Remainder::Nothing
        } else {
            Remainder::Unchanged
        });
    }
    let (mark, body) = without_mark(text);
    if body.replace("\r\n", "\n") == document(&hooks) {
        return Ok(Remainder::Nothing);
    }
    if body.trim().is_empty() {
        return Ok(Remainder::Unchanged);
    }
    let root = parsed(body)?;
    let Some(section) = root
        .object_value()
        .and_then(|object| object.object_value(SECTION))
    else {
        return Ok(Remainder::Unchanged);
    };
    let mut changed = false;
    for property in section.properties() {
        if let Some(list) = property.array_value()
            && take_from(&list, client)
        {
            changed = true;
            if list.elements().is_empty() {
                property.remove();
            }
        }
    }
    if !changed {
        return Ok(Remainder::Unchanged);
    }
    if section.properties().is_empty()
        && let Some(property) = root.object_value().and_then(|object| object.get(SECTION))
    {
        property.remove();
    }
    let new = root.to_string();
    parsed(&new)?;
    Ok(Remainder::Text(format!("{mark}{new}")))
}

/// Takes our handlers from an event's list, and the groups that held nothing else.
fn take_from(list: &CstArray, client: Client) -> bool {
    let mut changed = false;
    for entry in list.elements() {
        let Some(value) = value_of(&entry) else {
            continue;
        };
        if settings::program(&value, client).is_some() {
            entry.remove();
            changed = true;
            continue;
        }
        let Some(handlers) = entry
            .as_object()
            .and_then(|group: CstObject| group.array_value(SECTION))
        else {
            continue;
        };
        let mut taken = false;
        for handler in handlers.elements() {
            let is_ours = value_of(&handler)
                .is_some_and(|handler| settings::program(&handler, client).is_some());
            if is_ours {
                handler.remove();
                taken = true;
            }
        }
        if taken && handlers.elements().is_empty() {
            entry.remove();
        }
        changed |= taken;
    }
    changed
}

/// What a part of a document says, as far as it can be said in JSON.
fn value_of(node: &CstNode) -> Option<Value> {
    if let Some(object) = node.as_object() {
        let mut map = Map::new();
        for property in object.properties() {
            let name = property.name()?.decoded_value().ok()?;
            map.insert(name, value_of(&property.value()?)?);
        }
        return Some(Value::Object(map));
    }
    if let Some(list) = node.as_array() {
        let entries: Option<Vec<Value>> = list.elements().iter().map(value_of).collect();
        return entries.map(Value::Array);
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(Value::String);
    }
    if let Some(flag) = node.as_boolean_lit() {
        return Some(Value::Bool(flag.value()));
    }
    if let Some(number) = node.as_number_lit() {
        return serde_json::from_str(&number.to_string()).ok();
    }
    node.as_null_keyword().map(|_| Value::Null)
}

/// A file with nothing else in it.
pub fn document(hooks: &Hooks) -> String {
    let mut lists = Map::new();
    for (event, entry) in &hooks.events {
        lists.insert((*event).to_owned(), Value::Array(vec![entry.clone()]));
    }
    let mut document = Map::new();
    if hooks.versioned {
        document.insert(VERSION.to_owned(), 1.into());
    }
    document.insert(SECTION.to_owned(), Value::Object(lists));
    format!("{:#}\n", Value::Object(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str, client: Client) -> Option<String> {
        match without_hook(text, client).unwrap() {
            Remainder::Unchanged => Some(text.to_owned()),
            Remainder::Text(text) => Some(text),
            Remainder::Nothing => None,
        }
    }

    /// The text with the hook, which a second time does not change.
    fn with(text: Option<&str>, client: Client) -> String {
        let with = with_hook(text, client).unwrap();
        assert_eq!(with_hook(Some(&with), client).unwrap(), with);
        with
    }

    #[test]
    fn a_file_of_ours_comes_and_goes() {
        for client in Client::ALL {
            let made = with(None, client);
            assert_eq!(left(&made, client), None);
            assert!(read(&made).is_some() || settings::of(client).plugin.is_some());
        }
    }

    #[test]
    fn what_others_wrote_stays() {
        let text = "{\n  // mine\n  \"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";
        let with_ours = with(Some(text), Client::ClaudeCode);
        for theirs in ["// mine", "say done"] {
            assert!(with_ours.contains(theirs), "{with_ours}");
        }
        assert_eq!(left(&with_ours, Client::ClaudeCode).as_deref(), Some(text));
        // That of another client is not ours.
        assert_eq!(left(&with_ours, Client::Codex), Some(with_ours));
        // Marks and line ends stay as well.
        let with = with(Some("\u{feff}{\r\n  \"a\": 1\r\n}\r\n"), Client::Cursor);
        assert!(with.starts_with('\u{feff}'));
        assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
        // A handler among others in one group is taken alone.
        let text = r#"{"hooks":{"Stop":[{"hooks":[{"command":"x"},{"command":"tm","args":["hook","claude-code"]}]}]}}"#;
        let left = read(&left(text, Client::ClaudeCode).unwrap()).unwrap();
        let theirs = serde_json::json!({"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}});
        assert_eq!(left, theirs);
    }

    #[test]
    fn what_has_another_form_is_refused_where_it_stands() {
        for (text, line) in [
            ("[]", 1),
            ("{\n\"hooks\": 7}", 2),
            ("{\"hooks\": {\n\"Stop\": {}}}", 2),
            ("{\"hooks\": ", 1),
        ] {
            let unusable = with_hook(Some(text), Client::ClaudeCode).unwrap_err();
            assert_eq!(unusable.line, line, "{text}");
        }
    }
}
