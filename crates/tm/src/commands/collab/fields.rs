//! What is set of a session and of its tasks, as it is typed on a command line.

use std::path::Path;

use engine::Fault;
use engine::view::collab::request::TaskUpdate;
use serde_json::Value;
use text::plain::one_line;

use super::super::input::text_of;
use super::super::usage;
use crate::calls::Arguments;

/// Reads the fields of an update. An empty item is none of them.
pub fn read(update: &mut Arguments) -> Result<(), Fault> {
    if let Some(items) = update.take_text("workItems") {
        update.set("workItems", work_items(&items)?);
    }
    if update.text("currentItem") == Some("") {
        update.set("currentItem", Value::Null);
    }
    Ok(())
}

/// The work items: JSON, or where it is.
fn work_items(given: &str) -> Result<Value, Fault> {
    let (from, text) = match given.strip_prefix('@') {
        Some(file) => (file, text_of(Path::new(file))?),
        None if given == "-" => ("standard input", text_of(Path::new(given))?),
        None => ("--work-items", given.to_owned()),
    };
    serde_json::from_str(&text).map_err(|error| {
        usage(format!("{}: this is no JSON: {error}", one_line(from))).suggest(
            "write a list such as [{\"number\": 1, \"title\": \"Parse dates\", \"type\": \"code\"}]; `@FILE` reads it from a file, `-` from standard input",
        )
    })
}

/// What tasks came to: one task by two words, or any number of them by pairs. An id may hold an equals sign; a status holds none.
pub fn tasks(words: &[&str]) -> Result<Vec<TaskUpdate>, Fault> {
    let pairs = match words {
        [id, status] if !status.contains('=') => Some(vec![(*id, *status)]),
        words => words.iter().map(|word| word.rsplit_once('=')).collect(),
    };
    let whole = |pairs: &Vec<(&str, &str)>| {
        pairs
            .iter()
            .all(|(id, status)| !id.is_empty() && !status.is_empty())
    };
    let Some(pairs) = pairs.filter(whole) else {
        return Err(usage(format!(
            "`{}` is no task with its status",
            one_line(&words.join(" "))
        ))
        .suggest("write one task as `tm collab task ID STATUS`, several as `tm collab task ID=STATUS ID=STATUS`; the statuses are pending, in_progress, completed, failed and skipped"));
    };
    let update = |(id, status): (&str, &str)| TaskUpdate {
        id: id.to_owned(),
        status: status.to_owned(),
        outcome: None,
    };
    Ok(pairs.into_iter().map(update).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_task_is_two_words_and_many_are_pairs() {
        let told = |words: &str| {
            let words: Vec<&str> = words.split(' ').collect();
            let all = tasks(&words).map_err(|fault| fault.message)?;
            let all = all
                .iter()
                .map(|task| format!("{} {}", task.id, task.status));
            Ok::<_, String>(all.collect::<Vec<_>>().join(", "))
        };
        for (words, expected) in [
            ("a completed", "a completed"),
            ("a=b failed", "a=b failed"),
            (
                "item-2/a=completed x=y=skipped",
                "item-2/a completed, x=y skipped",
            ),
            // What is no status is for the rails to say.
            ("a Finished", "a Finished"),
        ] {
            assert_eq!(told(words).as_deref(), Ok(expected), "{words}");
        }
        for words in ["a", "a b completed", "=completed", "a="] {
            assert!(told(words).is_err(), "{words}");
        }
    }

    #[test]
    fn items_are_json_and_an_empty_one_is_none_of_them() {
        let set = |given: Value| {
            let mut update = Arguments::from(given.as_object().unwrap().clone());
            read(&mut update).map(|()| update.into_map())
        };
        let given = json!({ "workItems": r#"[{"number": "2a"}]"#, "currentItem": "" });
        let expected = json!({ "workItems": [{ "number": "2a" }], "currentItem": null });
        assert_eq!(Value::Object(set(given).unwrap()), expected);
        assert_eq!(set(json!({ "workItems": "[" })).unwrap_err().code, "usage");
    }
}
