//! What an answer advises, in commands that mean the same session as the call did.

use conductor::Fault;
use conductor::collab::answer::Synced;
use project::convention::plain::one_line;

use crate::render::session::option;

/// A fault whose commands name the session that the caller named: without it they may mean another one, or none.
pub fn of_fault(mut fault: Fault, named: Option<&str>) -> Fault {
    if let Some(named) = named {
        fault.recovery = with_session(&fault.recovery, named);
        fault.suggestion = of_text(&fault.suggestion, named);
    }
    fault
}

/// The same for the suggestion of a refusal.
pub fn of_refusal(suggestion: &mut Option<String>, named: Option<&str>) {
    if let (Some(text), Some(named)) = (suggestion.as_mut(), named) {
        *text = of_text(text, named);
    }
}

/// The errors of a task graph that was not taken, at the place where the caller has it: none of ours was written.
pub fn of_document(synced: &mut Synced, name: &str) {
    if synced.validated {
        return;
    }
    let item = synced.item.as_ref();
    for problem in &mut synced.problems {
        if problem.item.as_ref() == item {
            problem.document = one_line(name);
        }
    }
}

/// A sentence with commands between backticks. A backtick without its other half is nobody's command.
fn of_text(text: &str, named: &str) -> String {
    if !text.matches('`').count().is_multiple_of(2) {
        return text.to_owned();
    }
    let parts: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(at, part)| match at % 2 {
            0 => part.to_owned(),
            _ => with_session(part, named),
        })
        .collect();
    parts.join("`")
}

fn with_session(command: &str, named: &str) -> String {
    if command.starts_with("tm collab ") && !command.contains("--session") {
        format!("{command}{}", option(Some(named)))
    } else {
        command.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conductor::Kind;
    use conductor::collab::answer::DocumentProblem;
    use serde_json::json;

    #[test]
    fn errors_stand_where_the_caller_has_the_document() {
        let problem = |item: u64| DocumentProblem {
            document: format!("task-graph-item-{item}.md"),
            item: Some(json!(item)),
            ..DocumentProblem::default()
        };
        let mut synced = Synced {
            item: Some(json!(2)),
            problems: vec![problem(2), problem(1)],
            ..Synced::default()
        };
        of_document(&mut synced, "docs/graph.md");
        assert_eq!(synced.problems[0].document, "docs/graph.md");
        assert_eq!(synced.problems[1].document, "task-graph-item-1.md");
        // One that was taken has a place of its own.
        synced.validated = true;
        of_document(&mut synced, "other.md");
        assert_eq!(synced.problems[0].document, "docs/graph.md");
    }

    #[test]
    fn commands_name_the_session_that_the_caller_named() {
        let fault = || {
            Fault::new(Kind::Refused, "x", "`tm collab state` stays")
                .suggest("do it, then `tm collab state`; or `tm runs list`")
                .recover("tm collab sync FILE")
        };
        let named = of_fault(fault(), Some("a b"));
        assert_eq!(named.message, "`tm collab state` stays");
        assert_eq!(
            named.suggestion,
            "do it, then `tm collab state --session 'a b'`; or `tm runs list`"
        );
        assert_eq!(named.recovery, "tm collab sync FILE --session 'a b'");
        let unnamed = of_fault(fault(), None);
        assert_eq!(unnamed.recovery, "tm collab sync FILE");

        let mut given = Some("`tm collab state --session x`, or ` alone".to_owned());
        of_refusal(&mut given, Some("y"));
        assert_eq!(
            given.as_deref(),
            Some("`tm collab state --session x`, or ` alone")
        );
    }
}
