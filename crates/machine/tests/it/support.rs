//! A catalog as the engine gives it, and a small driver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use machine::check::catalog::{
    Effect, Entries, Finder, Parameter, ParameterKind, Reader, Resource, View,
};
use machine::definition::FieldType::{self, Bool, Enum, Int, Map, String as Text, Strings};
use machine::{Catalog, Definition};
use serde_json::json;

pub const TDD: &str = include_str!("../../../workflows/tdd/workflow.yaml");
pub const REVIEW: &str = include_str!("../../../workflows/review/workflow.yaml");
pub const COLLAB: &str = include_str!("../../../workflows/collab/workflow.yaml");

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
    static CATALOG: LazyLock<Catalog> = LazyLock::new(whole_catalog);
    CATALOG.clone()
}

fn whole_catalog() -> Catalog {
    let autopilot = json!({ "maxGreenAttempts": 3, "redAllPassing": "refuse", "refactor": false });
    let gates = json!({ "plan": "auto", "code": "auto", "review": "auto" });
    let review = json!({ "maxIterations": 10, "gates": gates });
    let asks = ["planning", "generation", "review", "revision"];
    let (policies, templates) = named();
    Catalog {
        resources: resources(),
        asks: asks.map(|ask| (ask, "profile")).into(),
        edits_need: Some("repository"),
        readers: readers(),
        effects: effects(),
        policies: policies
            .into_iter()
            .map(|policy| (policy, anywhere()))
            .collect(),
        views: views(),
        subjects: ["plan", "code"].map(|subject| (subject, "folder")).into(),
        sections: [("autopilot", autopilot), ("review", review)]
            .map(|(name, section)| (name.to_owned(), section))
            .into(),
        templates: templates
            .into_iter()
            .map(|name| (name, Vec::new()))
            .collect(),
        ..Catalog::default()
    }
}

/// The policies and the templates that the built-in definitions name.
fn named() -> (BTreeSet<String>, BTreeSet<String>) {
    let mut policies = BTreeSet::from(["config_loosened".to_owned(), "stuck".to_owned()]);
    let mut templates = BTreeSet::new();
    for text in [TDD, REVIEW, COLLAB] {
        for (_, _, state) in Definition::parse(text).unwrap().all_states() {
            let edges = state.lists().flat_map(|(_, edges)| &edges.0);
            let checked = edges.flat_map(|edge| &edge.check.0);
            policies.extend(checked.map(|policy| policy.value.clone()));
            let work = state.work.as_ref();
            let template = work.and_then(|work| work.value.instructions.as_ref());
            templates.extend(template.map(|name| name.value.clone()));
        }
    }
    (policies, templates)
}

fn typed(fields: &[(&str, FieldType)]) -> BTreeMap<String, FieldType> {
    let fields = fields.iter().cloned();
    fields.map(|(name, kind)| (name.to_owned(), kind)).collect()
}

fn readers() -> BTreeMap<String, Reader> {
    let statuses = Enum(STATUSES.map(str::to_owned).to_vec());
    let counts = [
        "passed", "failed", "errors", "skipped", "failing", "ran", "total",
    ];
    let mut tests = counts.map(|count| (count, Int)).to_vec();
    tests.extend([
        ("compiled", Bool),
        ("under", Strings),
        ("files", Strings),
        ("level", Text),
    ]);
    let all: [(&str, &[(&str, FieldType)]); 9] = [
        ("survey", &[("subtasks", Strings)]),
        ("tests", &tests),
        ("command", &[("ok", Bool), ("how", Text), ("json", Map)]),
        (
            "commit",
            &[("sha", Text), ("message", Text), ("files", Strings)],
        ),
        ("design", &[("items", Strings), ("errors", Strings)]),
        (
            "graph",
            &[("present", Bool), ("errors", Strings), ("tasks", Strings)],
        ),
        ("draft", &[("present", Bool), ("files", Strings)]),
        ("work", &[("untouched", Strings), ("uncommitted", Strings)]),
        (
            "outcome",
            &[("outcome", Text), ("note", Text), ("files", Strings)],
        ),
    ];
    let response = [
        ("status", statuses),
        ("reason", Text),
        ("files", Int),
        ("hash", Text),
        ("staged", Text),
    ];
    let all = all.into_iter().chain([("response", &response[..])]);
    let readers = all.map(|(name, facts)| {
        let reader = Reader {
            role: ROLE.map(|key| (key, None)).into(),
            facts: typed(facts),
            ..Reader::default()
        };
        (name.to_owned(), reader)
    });
    readers.collect()
}

fn views() -> BTreeMap<&'static str, View> {
    let red = Finder {
        reader: "tests".to_owned(),
        with: Some("shows"),
        ..Finder::default()
    };
    let view = |needs| View {
        needs,
        ..View::default()
    };
    let autopilot = View {
        phases: BTreeMap::from([("red", red)]),
        ..view(&["tasks"])
    };
    BTreeMap::from([
        ("autopilot", autopilot),
        ("session", view(&["profile"])),
        ("collab", view(&["documents"])),
    ])
}

fn resources() -> BTreeMap<&'static str, Resource> {
    use ParameterKind::{Cursor, Input, Items, Var};
    let with = |needs, parameters: Vec<(&'static str, ParameterKind)>| Resource {
        parameters: parameters
            .into_iter()
            .map(|(name, kind)| Parameter {
                name,
                kind,
                example: "=inputs.x",
            })
            .collect(),
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
    let folder = Resource {
        counts: true,
        ..Resource::default()
    };
    let tasks = vec![
        ("id", Input(Text)),
        ("attempts", Input(Int)),
        ("into", Items(&[("id", "string"), ("title", "")])),
    ];
    let documents = vec![
        ("items", Items(&[("number", "string")])),
        ("tasks", Items(&[("id", "string")])),
        ("present", Cursor("items")),
        ("snapshot", Var(Bool)),
    ];
    let profile = vec![("name", Input(Text)), ("values", Input(Map))];
    BTreeMap::from([
        ("commands", commands),
        ("folder", folder),
        ("repository", with(&["tasks"], vec![])),
        ("tests", with(&["repository"], vec![])),
        ("tasks", with(&["repository"], tasks)),
        ("profile", with(&["folder"], profile)),
        ("documents", with(&[], documents)),
    ])
}

fn effects() -> BTreeMap<String, Effect> {
    type Row = (&'static str, bool, &'static [(&'static str, FieldType)]);
    let all: [Row; 19] = [
        ("git.branch", true, &[]),
        ("tag.switch", false, &[]),
        ("tag.restore", false, &[]),
        ("git.commit", true, &[("sha", Text), ("owed", Bool)]),
        ("git.rewind", true, &[]),
        ("git.push", true, &[]),
        ("pull_request.check", false, &[]),
        ("pull_request.submit", true, &[]),
        ("pull_request.answer", true, &[]),
        ("pull_request.feedback", false, &[("items", Strings)]),
        ("task.finish", true, &[]),
        ("command.run", true, &[]),
        ("branch.delete", true, &[]),
        ("iteration.open", false, &[]),
        ("plan.store", false, &[]),
        ("plan.reset", false, &[]),
        ("code.store", false, &[]),
        ("code.reset", false, &[]),
        ("response.aside", false, &[]),
    ];
    let effects = all.map(|(name, lasting, result)| {
        let effect = Effect {
            lasting,
            result: typed(result),
            asked_by: (name == "branch.delete").then_some(["command", "cleanup"]),
            ..Effect::default()
        };
        (name.to_owned(), effect)
    });
    BTreeMap::from(effects)
}

/// Loads, or fails with every fault drawn.
pub fn load(text: &str) -> Definition {
    Definition::load(text, &catalog()).unwrap_or_else(|faults| {
        let drawn: Vec<String> = faults.iter().map(|f| f.render("test.yaml", text)).collect();
        panic!("{}", drawn.join("\n"));
    })
}
