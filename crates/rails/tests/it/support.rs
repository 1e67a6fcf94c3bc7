//! A catalog as the conductor gives it, and a small driver.

use std::collections::{BTreeMap, BTreeSet};

use rails::check::catalog::{Effect, Reader};
use rails::definition::FieldType::{Bool, Enum, Int, String as Text, Strings};
use rails::{Catalog, Definition};
use serde_json::json;

pub const TDD: &str = include_str!("../../../workflows/tdd/workflow.yaml");
pub const REVIEW: &str = include_str!("../../../workflows/review/workflow.yaml");

/// What a response may turn out to be.
pub const STATUSES: [&str; 5] = ["SUCCESS", "FAILED", "ERROR", "CANCELLED", "IN_PROGRESS"];

pub fn catalog() -> Catalog {
    let reader = |facts: &[(&str, rails::definition::FieldType)]| Reader {
        facts: facts
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), kind.clone()))
            .collect(),
    };
    let effect = |lasting, result: &[(&str, rails::definition::FieldType)]| Effect {
        lasting,
        result: result
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), kind.clone()))
            .collect(),
    };
    Catalog {
        readers: BTreeMap::from([
            ("preflight".to_owned(), reader(&[("subtasks", Strings)])),
            (
                "tests".to_owned(),
                reader(&[
                    ("passed", Int),
                    ("failed", Int),
                    ("errors", Int),
                    ("skipped", Int),
                    ("failing", Int),
                    ("ran", Int),
                    ("total", Int),
                    ("under", Strings),
                    ("files", Strings),
                    ("level", Text),
                ]),
            ),
            (
                "commit".to_owned(),
                reader(&[("sha", Text), ("message", Text), ("files", Strings)]),
            ),
            (
                "outcome".to_owned(),
                reader(&[("outcome", Text), ("note", Text), ("files", Strings)]),
            ),
            (
                "response".to_owned(),
                reader(&[
                    ("status", Enum(STATUSES.map(str::to_owned).to_vec())),
                    ("reason", Text),
                    ("files", Int),
                    ("hash", Text),
                    ("staged", Text),
                ]),
            ),
        ]),
        effects: BTreeMap::from([
            ("git.branch".to_owned(), effect(true, &[])),
            ("tag.switch".to_owned(), effect(false, &[])),
            ("tag.restore".to_owned(), effect(false, &[])),
            (
                "git.commit".to_owned(),
                effect(true, &[("sha", Text), ("owed", Bool)]),
            ),
            ("task.finish".to_owned(), effect(true, &[])),
            ("branch.delete".to_owned(), effect(true, &[])),
            ("iteration.open".to_owned(), effect(false, &[])),
            ("plan.store".to_owned(), effect(false, &[])),
            ("plan.reset".to_owned(), effect(false, &[])),
            ("code.store".to_owned(), effect(false, &[])),
            ("code.reset".to_owned(), effect(false, &[])),
            ("response.aside".to_owned(), effect(false, &[])),
        ]),
        policies: BTreeSet::from(
            [
                "history_rewritten",
                "config_loosened",
                "red_without_tests",
                "fewer_tests",
                "coverage_missing",
                "changed_after_green",
                "changed_after_commit",
                "foreign_commit",
            ]
            .map(str::to_owned),
        ),
        sections: BTreeMap::from([
            (
                "autopilot".to_owned(),
                json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse" }),
            ),
            (
                "review".to_owned(),
                json!({
                    "maxIterations": 10,
                    "gates": { "plan": "auto", "code": "auto", "review": "auto" },
                }),
            ),
        ]),
        templates: BTreeMap::from(
            ["red.md", "green.md", "commit.md", "finalize.md"]
                .map(|name| (name.to_owned(), Vec::new())),
        ),
    }
}

/// Loads, or fails with every fault drawn.
pub fn load(text: &str) -> Definition {
    Definition::load(text, &catalog()).unwrap_or_else(|faults| {
        let drawn: Vec<String> = faults.iter().map(|f| f.render("test.yaml", text)).collect();
        panic!("{}", drawn.join("\n"));
    })
}
