//! Words for sessions of skills, whose tools have names of their own for some of the flags.

use super::super::tools::collab;

/// What some of the flags are called in the tools of a session of skills, and the flags that only they have.
pub(super) const FLAGS: [(&str, &str); 9] = [
    ("--session", "session"),
    ("--project-root", "project"),
    ("--unit-id", "unitId"),
    ("--full", "full"),
    ("--item", "item"),
    ("--work-items", "workItems"),
    ("--current-item", "currentItem"),
    ("--has-snapshot", "hasSnapshot"),
    ("--given-up", "outcome failed"),
];

/// Those of them that stand without a value.
const SWITCHES: [&str; 2] = ["--full", "--given-up"];

/// A sentence for both kinds of callers names a tool and its command beside it: here they have become the same.
pub(super) fn named_once(text: String) -> String {
    const BESIDE: [&str; 2] = ["` (or `", "` (`"];
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("` (") {
        let (before, both) = rest.split_at(at);
        let tool = before.rsplit('`').next().unwrap_or_default();
        let again = BESIDE.iter().find_map(|beside| {
            let again = both.strip_prefix(beside)?.strip_prefix(tool)?;
            again.strip_prefix("`)")
        });
        out.push_str(before);
        out.push('`');
        rest = match again.filter(|_| collab::NAMES.contains(&tool)) {
            Some(behind) => behind,
            None => &both[1..],
        };
    }
    if out.is_empty() {
        return text;
    }
    out.push_str(rest);
    out
}

/// The words that stand for what the reader is to put there.
const PLACEHOLDERS: [&str; 10] = [
    "SKILL",
    "ID",
    "STATUS",
    "ID=STATUS",
    "FILE",
    "NAME",
    "N",
    "JSON",
    "FOLDER",
    "…",
];

/// What a command of `tm collab` says as arguments of its tool: a value that stands there is kept, and a placeholder is not.
pub(super) fn arguments(command: &str) -> Vec<String> {
    let words = words(command);
    let mut rest = words.iter().skip(3).map(String::as_str).peekable();
    let names: &[&str] = match words.get(2).map(String::as_str) {
        Some("complete-skill") => &["skill"],
        Some("task") => &["id", "status"],
        Some("sync") => &["document or path"],
        _ => &[],
    };
    let mut names = names.iter();
    let (mut named, mut flagged) = (Vec::new(), Vec::new());
    while let Some(word) = rest.next() {
        if let Some((_, argument)) = FLAGS.iter().find(|(flag, _)| *flag == word) {
            let takes_value = !SWITCHES.contains(&word);
            let value = rest.next_if(|next| takes_value && !next.starts_with("--"));
            flagged.push(with_value(argument, value));
        } else if let Some(name) = names.next() {
            // Whether it is a text or a file the caller knows, who has it in another place than the command line.
            let value = (*name != "document or path").then_some(word);
            named.push(with_value(name, value));
        }
    }
    named.extend(flagged);
    named
}

fn with_value(argument: &str, value: Option<&str>) -> String {
    match value.filter(|value| !PLACEHOLDERS.contains(value)) {
        Some(value) => format!("{argument} {value}"),
        None => argument.to_owned(),
    }
}

/// The words of a command as a shell sees them, where they are quoted as ours are.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quoted = false;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '\\' if !quoted => word.get_or_insert_default().extend(characters.next()),
            ' ' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::super::Words;
    use serde_json::json;

    fn after(tool: &str) -> Words<'static> {
        Words::after(tool, &|_| true)
    }

    #[test]
    fn commands_of_a_session_of_skills_become_its_tools() {
        let words = after("complete_skill");
        for (given, told) in [
            ("`tm collab state`", "`get_session_state`"),
            (
                "`tm collab complete-skill brainstorming-exploring`",
                "`complete_skill` with skill brainstorming-exploring",
            ),
            (
                "`tm collab complete-skill SKILL --session x --unit-id u`",
                "`complete_skill` with skill, session x, unitId u",
            ),
            (
                "`tm collab task types failed --given-up`",
                "`update_task_status` with id types, status failed, outcome failed",
            ),
            (
                "`tm collab sync FILE --item 2`",
                "`sync_task_graph` with document or path, item 2",
            ),
            (
                "hand them over with --work-items, or name one with --session",
                "hand them over with workItems, or name one with session",
            ),
            (
                "`tm collab task A completed --session 'a b'`",
                "`update_task_status` with id A, status completed, session a b",
            ),
            (
                "`tm collab state --full --session Q`",
                "`get_session_state` with full, session Q",
            ),
            (
                "`tm collab update --current-item N --has-snapshot true`",
                "`update_session_state` with currentItem, hasSnapshot true",
            ),
            ("`tm run resume --run-id x`", "`tm run resume --run-id x`"),
            (
                "`complete_skill` (or `tm collab complete-skill`): skill `x`; `get_session_state` (`tm collab state`)",
                "`complete_skill`: skill `x`; `get_session_state`",
            ),
        ] {
            assert_eq!(words.advice(given), told);
        }
        // Another tool's words for the same flag are its own, also of the other kind of session.
        assert_eq!(
            after("session_step").advice("`tm collab state --session x`, or --session"),
            "`get_session_state` with session x, or sessionId"
        );
        let mut answer = json!({
            "instructions": "Do it, then:\n```sh\ntm collab complete-skill collab-clear\n```\n",
            "problems": [{ "message": "`tm collab sync`", "suggestion": "`tm collab sync FILE`" }],
            "notes": ["see `tm collab graph`"],
        });
        words.rewrite(&mut answer);
        assert_eq!(
            answer,
            json!({
                "instructions": "Do it, then:\n   Call `complete_skill` with skill collab-clear\n",
                "problems": [{
                    "message": "`tm collab sync`",
                    "suggestion": "`sync_task_graph` with document or path",
                }],
                "notes": ["see `get_task_graph`"],
            })
        );
    }
}
