//! A catalog as the engine gives it, and a small driver.

use std::collections::{BTreeMap, BTreeSet};

use machine::check::catalog::{
    Effect, Entries, Finder, Parameter, ParameterKind, Reader, Resource, View,
};
use machine::definition::FieldType::{Bool, Enum, Int, Map, String as Text, Strings};
use machine::{Catalog, Definition};
use serde_json::json;

pub const TDD: &str = include_str!("../../../workflows/tdd/workflow.yaml");
pub const REVIEW: &str = include_str!("../../../workflows/review/workflow.yaml");
pub const COLLAB: &str = include_str!("../../../workflows/collab/workflow.yaml");

/// The templates beside the built-in definitions.
const TEMPLATES: [&str; 24] = [
    "red.md",
    "green.md",
    "refactor.md",
    "work.md",
    "commit.md",
    "finalize.md",
    "brainstorming-clarifying.md",
    "brainstorming-designing.md",
    "brainstorming-exploring.md",
    "brainstorming-validating.md",
    "build-task-graph.md",
    "collab-cleanup.md",
    "collab-clear.md",
    "collab-start.md",
    "executing-plans.md",
    "finishing-a-development-branch.md",
    "gather-session-goals.md",
    "ready-to-implement.md",
    "rough-draft-handoff.md",
    "rough-draft-interface.md",
    "rough-draft-pseudocode.md",
    "rough-draft-skeleton.md",
    "systematic-debugging.md",
    "task-planning.md",
];

/// What a response may turn out to be.
pub const STATUSES: [&str; 5] = ["SUCCESS", "FAILED", "ERROR", "CANCELLED", "IN_PROGRESS"];

/// Finders that find a policy in every report.
pub fn anywhere() -> Vec<Finder> {
    [
        "tests", "commit", "outcome", "response", "design", "graph", "draft", "work",
    ]
    .map(|reader| Finder {
        reader: reader.to_owned(),
        ..Finder::default()
    })
    .to_vec()
}

/// The keys of a role.
const ROLE: [&str; 10] = [
    "as", "shows", "freezes", "against", "frozen", "of", "suite", "only", "checks", "run",
];

pub fn catalog() -> Catalog {
    Catalog {
        codes: BTreeSet::new(),
        events: BTreeMap::new(),
        resources: resources(),
        asks: BTreeMap::from(
            ["planning", "generation", "review", "revision"].map(|ask| (ask, "profile")),
        ),
        edits_need: Some("repository"),
        readers: readers(),
        effects: effects(),
        policies: BTreeMap::from(
            [
                "history_rewritten",
                "config_loosened",
                "red_without_tests",
                "other_files_changed",
                "no_test_written",
                "passes_without_product",
                "changes_left",
                "fewer_tests",
                "coverage_missing",
                "coverage_fell",
                "new_findings",
                "findings_silenced",
                "checks_changed",
                "checks_not_run",
                "draft_missing",
                "batch_without_change",
                "task_without_change",
                "work_uncommitted",
                "changed_after_green",
                "command_replaced",
                "flaky",
                "no_new_failure",
                "production_changed",
                "stale_report",
                "stuck",
                "tests_changed",
                "green_without_change",
                "red_not_replayed",
                "passes_without_change",
                "green_not_replayed",
                "runner_config_changed",
                "snapshots_changed",
                "tests_missing",
                "changed_after_commit",
                "foreign_commit",
            ]
            .map(|policy| (policy.to_owned(), anywhere())),
        ),
        views: views(),
        subjects: BTreeMap::from([("plan", "folder"), ("code", "folder")]),
        sections: BTreeMap::from([
            (
                "autopilot".to_owned(),
                json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse", "refactor": false }),
            ),
            (
                "review".to_owned(),
                json!({
                    "maxIterations": 10,
                    "gates": { "plan": "auto", "code": "auto", "review": "auto" },
                }),
            ),
        ]),
        templates: BTreeMap::from(TEMPLATES.map(|name| (name.to_owned(), Vec::new()))),
    }
}

fn readers() -> BTreeMap<String, Reader> {
    let reader = |facts: &[(&str, machine::definition::FieldType)]| Reader {
        role: ROLE.map(|key| (key, None)).into(),
        facts: facts
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), kind.clone()))
            .collect(),
        ..Reader::default()
    };
    BTreeMap::from([
        ("survey".to_owned(), reader(&[("subtasks", Strings)])),
        (
            "tests".to_owned(),
            reader(&[
                ("passed", Int),
                ("failed", Int),
                ("errors", Int),
                ("skipped", Int),
                ("failing", Int),
                ("ran", Int),
                ("compiled", Bool),
                ("total", Int),
                ("under", Strings),
                ("files", Strings),
                ("level", Text),
            ]),
        ),
        (
            "command".to_owned(),
            reader(&[("ok", Bool), ("how", Text), ("json", Map)]),
        ),
        (
            "commit".to_owned(),
            reader(&[("sha", Text), ("message", Text), ("files", Strings)]),
        ),
        (
            "design".to_owned(),
            reader(&[("items", Strings), ("errors", Strings)]),
        ),
        (
            "graph".to_owned(),
            reader(&[("present", Bool), ("errors", Strings), ("tasks", Strings)]),
        ),
        (
            "draft".to_owned(),
            reader(&[("present", Bool), ("files", Strings)]),
        ),
        (
            "work".to_owned(),
            reader(&[("untouched", Strings), ("uncommitted", Strings)]),
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
    ])
}

fn views() -> BTreeMap<&'static str, View> {
    BTreeMap::from([
        (
            "autopilot",
            View {
                needs: &["tasks"],
                phases: BTreeMap::from([(
                    "red",
                    Finder {
                        reader: "tests".to_owned(),
                        with: Some("shows"),
                        ..Finder::default()
                    },
                )]),
                ..View::default()
            },
        ),
        (
            "session",
            View {
                needs: &["profile"],
                ..View::default()
            },
        ),
        (
            "collab",
            View {
                needs: &["documents"],
                ..View::default()
            },
        ),
    ])
}

fn resources() -> BTreeMap<&'static str, Resource> {
    let parameter = |name, kind| Parameter {
        name,
        kind,
        example: "=inputs.x",
    };
    let with = |parameters, needs| Resource {
        parameters,
        needs,
        ..Resource::default()
    };
    let commands = Resource {
        entries: Some(Entries {
            noun: "command",
            short: "run",
            fields: &[("run", Text), ("seconds", Int), ("look", Text)],
        }),
        ..Resource::default()
    };
    BTreeMap::from([
        ("commands", commands),
        ("repository", with(Vec::new(), &["tasks"][..])),
        ("tests", with(Vec::new(), &["repository"])),
        (
            "tasks",
            with(
                vec![
                    parameter("id", ParameterKind::Input(Text)),
                    parameter("attempts", ParameterKind::Input(Int)),
                    parameter(
                        "into",
                        ParameterKind::Items(&[("id", "string"), ("title", "")]),
                    ),
                ],
                &["repository"],
            ),
        ),
        (
            "folder",
            Resource {
                counts: true,
                ..Resource::default()
            },
        ),
        (
            "profile",
            with(
                vec![
                    parameter("name", ParameterKind::Input(Text)),
                    parameter("values", ParameterKind::Input(Map)),
                ],
                &["folder"],
            ),
        ),
        (
            "documents",
            with(
                vec![
                    parameter("items", ParameterKind::Items(&[("number", "string")])),
                    parameter("tasks", ParameterKind::Items(&[("id", "string")])),
                    parameter("present", ParameterKind::Cursor("items")),
                    parameter("snapshot", ParameterKind::Var(Bool)),
                ],
                &[],
            ),
        ),
    ])
}

fn effects() -> BTreeMap<String, Effect> {
    let effect = |lasting, result: &[(&str, machine::definition::FieldType)]| Effect {
        lasting,
        result: result
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), kind.clone()))
            .collect(),
        ..Effect::default()
    };
    BTreeMap::from([
        ("git.branch".to_owned(), effect(true, &[])),
        ("tag.switch".to_owned(), effect(false, &[])),
        ("tag.restore".to_owned(), effect(false, &[])),
        (
            "git.commit".to_owned(),
            effect(true, &[("sha", Text), ("owed", Bool)]),
        ),
        ("git.rewind".to_owned(), effect(true, &[])),
        ("git.push".to_owned(), effect(true, &[])),
        ("pull_request.check".to_owned(), effect(false, &[])),
        ("pull_request.submit".to_owned(), effect(true, &[])),
        ("pull_request.answer".to_owned(), effect(true, &[])),
        (
            "pull_request.feedback".to_owned(),
            effect(false, &[("items", Strings)]),
        ),
        ("task.finish".to_owned(), effect(true, &[])),
        ("command.run".to_owned(), effect(true, &[])),
        (
            "branch.delete".to_owned(),
            Effect {
                asked_by: Some(["command", "cleanup"]),
                ..effect(true, &[])
            },
        ),
        ("iteration.open".to_owned(), effect(false, &[])),
        ("plan.store".to_owned(), effect(false, &[])),
        ("plan.reset".to_owned(), effect(false, &[])),
        ("code.store".to_owned(), effect(false, &[])),
        ("code.reset".to_owned(), effect(false, &[])),
        ("response.aside".to_owned(), effect(false, &[])),
    ])
}

/// Loads, or fails with every fault drawn.
pub fn load(text: &str) -> Definition {
    Definition::load(text, &catalog()).unwrap_or_else(|faults| {
        let drawn: Vec<String> = faults.iter().map(|f| f.render("test.yaml", text)).collect();
        panic!("{}", drawn.join("\n"));
    })
}
