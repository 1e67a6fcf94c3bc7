//! What labels and types of issues say of the kind of work.

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
