//! What people write for types, and what they mean by it.

use super::Kind;

const CODE: [&str; 32] = [
    "code",
    "coding",
    "feature",
    "features",
    "feat",
    "newfeature",
    "story",
    "userstory",
    "refactor",
    "refactoring",
    "refactors",
    "enhancement",
    "improvement",
    "implementation",
    "development",
    "dev",
    "frontend",
    "backend",
    "fullstack",
    "api",
    "ui",
    "ux",
    "performance",
    "perf",
    "optimization",
    "optimisation",
    "test",
    "tests",
    "testing",
    "migration",
    "module",
    "component",
];
const TASK: [&str; 33] = [
    "task",
    "tasks",
    "chore",
    "chores",
    "spike",
    "research",
    "investigation",
    "exploration",
    "analysis",
    "poc",
    "docs",
    "doc",
    "documentation",
    "config",
    "configuration",
    "setup",
    "infra",
    "infrastructure",
    "ops",
    "devops",
    "operations",
    "operational",
    "ci",
    "cicd",
    "build",
    "release",
    "deployment",
    "maintenance",
    "admin",
    "process",
    "planning",
    "decision",
    "housekeeping",
];
const BUGFIX: [&str; 16] = [
    "bugfix",
    "bugfixes",
    "bug",
    "bugs",
    "fix",
    "fixes",
    "fixing",
    "hotfix",
    "hotfixes",
    "defect",
    "defects",
    "regression",
    "debug",
    "debugging",
    "repair",
    "quickfix",
];
/// Words that may stand before a type's name.
const BEFORE_KIND: [&str; 10] = [
    "a",
    "an",
    "the",
    "new",
    "small",
    "minor",
    "major",
    "simple",
    "technical",
    "tech",
];

/// The words of a text in small letters, without anything that decorates them.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .map(|word| word.trim_matches('\'').to_lowercase())
        .filter(|word| !word.is_empty())
        .take(40)
        .collect()
}

pub(super) fn kind(text: &str) -> Option<Kind> {
    let start = text.len()
        - text
            .trim_start_matches(|c: char| !c.is_alphanumeric())
            .len();
    let text = &text[start..];
    let end = [" -", " —", " –", "(", ";", "<"]
        .iter()
        .filter_map(|sign| text.find(sign))
        .min()
        .unwrap_or(text.len());
    // A choice between types is a form that nobody filled in.
    let mut kinds = text[..end]
        .split(['|', '/', ','])
        .flat_map(|part| part.split(" or "))
        .filter_map(one_kind);
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

fn one_kind(text: &str) -> Option<Kind> {
    let words = words(text);
    let mut words = words
        .iter()
        .skip_while(|word| BEFORE_KIND.contains(&word.as_str()));
    let first = words.next()?;
    let known = |word: &str| {
        if CODE.contains(&word) {
            Some(Kind::Code)
        } else if TASK.contains(&word) {
            Some(Kind::Task)
        } else if BUGFIX.contains(&word) {
            Some(Kind::Bugfix)
        } else {
            None
        }
    };
    words
        .next()
        .and_then(|second| known(&format!("{first}{second}")))
        .or_else(|| known(first))
}
