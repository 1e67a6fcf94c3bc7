//! A run as it was at some event.

use serde_json::Value;
use text::plain::one_line;

use super::{FAINT, Look, Page, STRONG, Sign};

/// What a person wants to know of a run as it was: where it stood, and what came next. All of it is in the JSON.
pub fn replay(replayed: &Value, look: &Look) -> String {
    let mut page = Page::new(look);
    let state = &replayed["state"];
    let run = look.paint(STRONG, &one_line(text(state, "/run")));
    page.raw(&format!("{run}  {}", one_line(text(state, "/status"))));
    let at = &replayed["at"];
    if let Some(seq) = at["seq"].as_u64() {
        page.field(
            "at",
            &format!("event {seq}, {}, {}", text(at, "/event"), text(at, "/ts")),
        );
    }
    page.field("workflow", text(state, "/workflow"));
    let (task, title) = (
        text(state, "/kept/start/taskId"),
        text(state, "/kept/start/taskTitle"),
    );
    if !task.is_empty() {
        page.field("task", &format!("{task}: {title}"));
    }
    page.field("branch", text(state, "/kept/start/branch"));
    if let Some(commits) = state["kept"]["commits"].as_u64() {
        page.field("commits", &commits.to_string());
    }
    for token in array(state, "tokens") {
        page.field("stood at", &position(token));
    }
    page.field("under way", text(state, "/pending/name"));
    page.field("paused", text(state, "/pause/reason"));
    page.field("ended", text(state, "/endReason"));
    for (name, set) in state["sets"].as_object().into_iter().flatten() {
        items(&mut page, name, set);
    }
    // Between two steps a run that goes on has nobody to ask: what is under way is told above.
    let between =
        text(state, "/status") == "running" && text(replayed, "/nextAction/action") == "paused";
    if !between {
        next(&mut page, &replayed["nextAction"]);
    }
    page.finish()
}

/// A position in the graph: state, item, attempt.
fn position(token: &Value) -> String {
    let mut words = vec![text(token, "/state").to_owned()];
    let item = text(token, "/item/1");
    if !item.is_empty() {
        words.push(format!("of {item}"));
    }
    let attempt = token.pointer("/unit/attempt").and_then(Value::as_u64);
    let most = token.pointer("/unit/maxAttempts").and_then(Value::as_u64);
    if let (Some(attempt), Some(most)) = (attempt, most) {
        words.push(format!("(attempt {attempt} of {most})"));
    }
    words.join(" ")
}

fn items(page: &mut Page<'_>, name: &str, set: &Value) {
    let look = page.look();
    page.title(name);
    for (key, item) in set["items"].as_object().into_iter().flatten() {
        let status = text(item, "/status");
        let sign = look.sign(match status {
            "done" => Sign::Good,
            "failed" => Sign::Bad,
            "active" => Sign::Next,
            _ => Sign::Bullet,
        });
        page.raw(&format!(
            "  {sign} {}  {}  {}",
            look.paint(STRONG, &one_line(key)),
            one_line(text(item, "/fields/title")),
            look.paint(FAINT, &one_line(status)),
        ));
    }
}

/// What was to be done then. It has no command: the run may have moved on.
fn next(page: &mut Page<'_>, action: &Value) {
    let look = page.look();
    let name = text(action, "/action").to_uppercase();
    if name.is_empty() {
        return;
    }
    let (id, title) = (text(action, "/subtask/id"), text(action, "/subtask/title"));
    let of = if id.is_empty() {
        String::new()
    } else {
        format!(" {id}: {title}")
    };
    let attempt = action["attempt"].as_u64().filter(|&attempt| attempt > 1);
    let attempt = match (attempt, action["maxAttempts"].as_u64()) {
        (Some(attempt), Some(most)) => format!(", attempt {attempt} of {most}"),
        _ => String::new(),
    };
    page.wrapped(
        &look.paint(STRONG, "next then:"),
        &format!("{name}{of}{attempt}"),
    );
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn array<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::PLAIN;
    use super::*;

    #[test]
    fn a_run_as_it_was_is_a_page_of_words() {
        let page = replay(
            &serde_json::json!({
                "at": {"seq": 9, "event": "unit:issued", "ts": "2025-10-07T14:33:00.000Z"},
                "state": {
                    "run": "r1", "workflow": "tdd", "status": "running",
                    "kept": {"start": {"taskId": "1", "taskTitle": "Count", "branch": "b"}, "commits": 1},
                    "tokens": [
                        {"state": "subtasks"},
                        {"state": "green", "item": ["subtasks", "1.2"], "unit": {"attempt": 2, "maxAttempts": 3}}
                    ],
                    "sets": {"subtasks": {"items": {
                        "1.1": {"status": "done", "fields": {"title": "Spaces"}},
                        "1.2": {"status": "active", "fields": {"title": "Tabs"}}
                    }}}
                },
                "nextAction": {
                    "action": "green", "attempt": 2, "maxAttempts": 3,
                    "subtask": {"id": "1.2", "title": "Tabs"}
                }
            }),
            &PLAIN,
        );
        let expected = "\
r1  running
  at         event 9, unit:issued, 2025-10-07T14:33:00.000Z
  workflow   tdd
  task       1: Count
  branch     b
  commits    1
  stood at   subtasks
  stood at   green of 1.2 (attempt 2 of 3)
subtasks
  ok 1.1  Spaces  done
  -> 1.2  Tabs  active
next then: GREEN 1.2: Tabs, attempt 2 of 3
";
        assert_eq!(page, expected);
    }

    #[test]
    fn what_is_not_there_is_left_out_and_what_is_hostile_made_plain() {
        let told = |answer: &str| replay(&serde_json::from_str(answer).unwrap(), &PLAIN);
        assert_eq!(told("{}"), "  \n");
        // Between two steps nobody is asked.
        let between = r#"{"state": {"run": "r1", "status": "running", "pending": {"name": "git.commit"}},
            "nextAction": {"action": "paused", "pausedReason": "interrupted"}}"#;
        assert_eq!(told(between), "r1  running\n  under way  git.commit\n");
        let page = told(r#"{"state": {"run": "a\u001b[2Jb", "pause": {"reason": "x\u0007\ny"}}}"#);
        let bad = |c: char| c != '\n' && c.is_control();
        assert!(!page.contains(bad), "{page:?}");
    }
}
