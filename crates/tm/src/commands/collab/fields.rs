//! What is set of a session and of its tasks, as it is typed on a command line.

use std::path::Path;

use engine::Fault;
use engine::view::collab::request::TaskUpdate;
use serde_json::{Map, Value, json};
use text::plain::one_line;

use super::super::usage;
use super::document::text_of;
use crate::calls::Arguments;

/// The fields that an update sets which adds an item.
pub fn late_item(add: &Arguments) -> Map<String, Value> {
    let needs = add.texts("dependsOn").into_iter().map(number_or_text);
    let mut item = json!({
        "title": add.text("title"),
        "type": add.text("kind"),
        "dependsOn": needs.collect::<Vec<_>>(),
    });
    if let Some(number) = add.text("number") {
        item["number"] = number_or_text(number);
    }
    Map::from_iter([("addItems".to_owned(), json!([item]))])
}

/// The fields that an update sets, by name.
pub fn fields(update: &Arguments) -> Result<Map<String, Value>, Fault> {
    let mut fields = Map::new();
    if let Some(given) = update.text("workItems") {
        fields.insert("workItems".to_owned(), work_items(given)?);
    }
    if let Some(number) = update.text("currentItem") {
        fields.insert("currentItem".to_owned(), number_or_text(number));
    }
    if let Some(has) = update.flag("hasSnapshot") {
        fields.insert("hasSnapshot".to_owned(), has.into());
    }
    for pair in update.texts("set") {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(usage(format!("--set {} has no `=`", one_line(pair)))
                .suggest("write --set NAME=JSON"));
        };
        let name = name.trim();
        // What is no JSON is a text, so that none needs two kinds of quotes.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        if fields.insert(name.to_owned(), value).is_some() {
            return Err(
                usage(format!("the field `{}` is set twice", one_line(name)))
                    .suggest("set it once"),
            );
        }
    }
    Ok(fields)
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

/// A number where it is one, else text such as `2a`.
pub fn number_or_text(given: &str) -> Value {
    let given = given.trim();
    given
        .parse::<u64>()
        .map_or_else(|_| Value::from(given), Value::from)
}

/// What tasks came to.
pub fn tasks(words: &[&str], skipped: bool) -> Result<Vec<TaskUpdate>, Fault> {
    let mut updates = match words {
        [id, status] if !status.contains('=') => vec![with_status(id, status)],
        [id] if skipped && !id.contains('=') => vec![with_status(id, "skipped")],
        [id] if !id.contains('=') => {
            let fault = usage(format!("the task `{}` has no status", one_line(id)));
            return Err(fault.suggest(form()));
        }
        [_, _, ..] if skipped => {
            return Err(usage("--skipped is for one task")
                .suggest("write ID=skipped for each task that is skipped"));
        }
        words => words
            .iter()
            .map(|word| pair(word))
            .collect::<Result<Vec<_>, _>>()?,
    };
    if let ([update], true) = (updates.as_mut_slice(), skipped) {
        if update.status != "failed" {
            return Err(not_failed(&update.id, &update.status));
        }
        update.outcome = Some("failed".to_owned());
    }
    Ok(updates)
}

/// A task and its status. An id may hold an equals sign; a status holds none.
fn pair(word: &str) -> Result<TaskUpdate, Fault> {
    match word.rsplit_once('=') {
        Some((id, status)) if !id.is_empty() && !status.is_empty() => Ok(with_status(id, status)),
        _ => Err(usage(format!(
            "`{}` is no ID=STATUS, and there are several words",
            one_line(word)
        ))
        .suggest(form())),
    }
}

/// The rails know their own words; hyphens and capitals are for people.
fn with_status(id: &str, status: &str) -> TaskUpdate {
    let status = status.trim().to_lowercase().replace('-', "_");
    let skipped = status == "skipped";
    TaskUpdate {
        id: id.trim().to_owned(),
        status: if skipped { "failed".to_owned() } else { status },
        outcome: skipped.then(|| "failed".to_owned()),
    }
}

fn not_failed(id: &str, status: &str) -> Fault {
    usage(format!(
        "the task `{}` cannot be skipped and {} at once",
        one_line(id),
        one_line(status)
    ))
    .suggest("a task that is skipped has failed: leave the status out, or write failed")
}

fn form() -> &'static str {
    "write one task as `tm collab task ID STATUS`, several as `tm collab task ID=STATUS ID=STATUS`; the statuses are pending, in_progress, completed, failed and skipped"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the words set: each task with its status.
    fn told(words: &str, skipped: bool) -> Result<String, String> {
        let words: Vec<&str> = words.split(' ').collect();
        let all = tasks(&words, skipped).map_err(|fault| fault.message)?;
        let one = |task: &TaskUpdate| {
            let skipped = task.outcome.as_ref().map_or("", |_| " skipped");
            format!("{} {}{skipped}", task.id, task.status)
        };
        Ok(all.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn one_task_is_two_words_and_many_are_pairs() {
        let two = "item-2/a completed, x=y failed skipped";
        for (words, skipped, expected) in [
            ("a completed", false, "a completed"),
            ("a In-Progress", false, "a in_progress"),
            ("a=b failed", false, "a=b failed"),
            ("a failed", true, "a failed skipped"),
            ("a", true, "a failed skipped"),
            ("a skipped", false, "a failed skipped"),
            ("a=failed", true, "a failed skipped"),
            ("item-2/a=completed x=y=skipped", false, two),
            // What is no status is for the rails to say.
            ("a finished", false, "a finished"),
        ] {
            assert_eq!(told(words, skipped).as_deref(), Ok(expected), "{words}");
        }
        for (words, skipped) in [
            ("a", false),
            ("a b completed", false),
            ("a=completed b", true),
            ("a=completed b=failed", true),
            ("a completed", true),
            ("a=completed", true),
            ("=completed", false),
            ("a=", false),
        ] {
            assert!(told(words, skipped).is_err(), "{words} {skipped}");
        }
    }

    #[test]
    fn fields_are_set_once_each_and_keep_their_types() {
        let set = |items: &str, set: &[&str]| {
            let update = json!({
                "workItems": items, "currentItem": "2", "hasSnapshot": true, "set": set,
            });
            fields(&update.as_object().unwrap().clone().into())
        };
        let items = r#"[{"number": "2a"}]"#;
        let given = set(items, &["phase=done", "batches=[]"]).unwrap();
        let expected = json!({
            "workItems": [{ "number": "2a" }], "currentItem": 2, "hasSnapshot": true,
            "phase": "done", "batches": [],
        });
        assert_eq!(Value::Object(given), expected);
        assert_eq!(number_or_text("2a"), "2a");
        for (items, more) in [(items, "phase"), (items, "currentItem=3"), ("[", "a=1")] {
            assert_eq!(set(items, &[more]).unwrap_err().code, "usage", "{more}");
        }
    }
}
