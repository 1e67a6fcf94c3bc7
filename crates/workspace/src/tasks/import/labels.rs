//! What words of other tools say: of the kind of work, and of how far it is.

use crate::tasks::Status;

/// The kind that the first label with a known word names, such as `type: docs` or `bug`; empty where none does.
pub(super) fn kind_of_labels<'l>(labels: impl Iterator<Item = &'l str>) -> &'static str {
    let words = labels.map(str::to_lowercase);
    let kinds = words.filter_map(|label| {
        let word = label.rsplit([':', '/', ' ']).next()?;
        match word {
            "bug" | "regression" => Some("fix"),
            "documentation" | "docs" => Some("docs"),
            "chore" | "maintenance" | "ci" => Some("chore"),
            "refactor" | "refactoring" | "tech-debt" => Some("refactor"),
            "spike" => Some("spike"),
            _ => None,
        }
    });
    kinds.into_iter().next().unwrap_or_default()
}

/// What a word for a status says in any project; none where that is for the project to say.
pub(super) fn status(word: &str) -> Option<Status> {
    let word = word
        .to_lowercase()
        .replace(|c: char| !c.is_alphanumeric(), "");
    Some(match word.as_str() {
        "" | "todo" | "open" | "new" | "pending" | "backlog" | "ready" => Status::Pending,
        "done" | "completed" | "complete" | "closed" => Status::Done,
        "inprogress" | "doing" | "started" | "hooked" => Status::InProgress,
        "inreview" | "review" | "awaitingmerge" | "pendingreview" => Status::Review,
        "wontdo" | "cancelled" | "canceled" => Status::Cancelled,
        "draft" | "deferred" | "icebox" | "pinned" => Status::Deferred,
        "blocked" => Status::Blocked,
        _ => return None,
    })
}
