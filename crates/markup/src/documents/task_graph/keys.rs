//! The keys of a task, in the ways that people write them.

/// What a key of a task says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Id,
    Files,
    Tests,
    Description,
    Parallel,
    DependsOn,
}

/// The keys that tasks are written with.
pub(super) const KEYS: [&str; 6] = [
    "id",
    "files",
    "tests",
    "description",
    "parallel",
    "depends-on",
];

/// The field of a key, and whether the key is one of those that are known by that name; else it is only plain what is meant.
pub(super) fn field(key: &str) -> Option<(Field, bool)> {
    let known = match key {
        "id" => Some(Field::Id),
        "files" | "file" => Some(Field::Files),
        "tests" | "test" => Some(Field::Tests),
        "description" | "action" | "desc" => Some(Field::Description),
        "parallel" => Some(Field::Parallel),
        "depends-on" | "depends_on" | "dependsOn" | "depends" => Some(Field::DependsOn),
        _ => None,
    };
    if let Some(field) = known {
        return Some((field, true));
    }
    let plain: String = key
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    let meant = match plain.as_str() {
        "id" | "taskid" => Field::Id,
        "files" | "file" => Field::Files,
        "tests" | "test" => Field::Tests,
        "description" | "action" | "desc" => Field::Description,
        "parallel" => Field::Parallel,
        // Passed over, these would let a task run before what it needs.
        "dependson" | "depends" | "dependencies" | "dependency" | "deps" | "needs" | "requires"
        | "after" | "blockedby" => Field::DependsOn,
        _ => return None,
    };
    Some((meant, false))
}
