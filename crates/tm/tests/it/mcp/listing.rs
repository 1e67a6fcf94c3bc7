//! What the server says of itself: agents pay for every byte of it.

use serde_json::{Value, json};

use super::stage::Stage;

/// The most that `tools/list` may take with one group, in bytes.
const GROUP: usize = 17 * 1024;
/// The most with those that `tm init` asks for.
const INIT: usize = 28 * 1024;
/// The most with all of them.
const ALL: usize = 39 * 1024;
/// Where clients cut a description or the instructions.
const TEXT: usize = 2048;

/// The tools of all groups but `run`, in the order in which they are listed, with what is said of them: those without which no task is
/// done are loaded at once by clients that load others only when they are searched for; some only read; one asks a person.
const TOOLS: [(&str, &str); 31] = [
    ("autopilot_start", "core"),
    ("autopilot_next", "core reads"),
    ("autopilot_complete_phase", "core"),
    ("autopilot_commit", "core"),
    ("autopilot_finalize", ""),
    ("autopilot_status", "core reads"),
    ("autopilot_reopen", ""),
    ("autopilot_skip", ""),
    ("autopilot_pause", ""),
    ("autopilot_resume", ""),
    ("autopilot_rewind", ""),
    ("autopilot_adopt", ""),
    ("autopilot_submit", ""),
    ("autopilot_feedback", ""),
    ("autopilot_abort", ""),
    ("autopilot_next_work_unit", "reads"),
    ("autopilot_complete_work_unit", ""),
    ("autopilot_get_state", "reads"),
    ("complete_skill", ""),
    ("get_session_state", "reads"),
    ("update_session_state", ""),
    ("reopen_work", ""),
    ("skip_work", ""),
    ("update_task_status", ""),
    ("update_tasks_status", ""),
    ("get_task_graph", "reads"),
    ("sync_task_graph", ""),
    ("session_init", ""),
    ("session_step", ""),
    ("session_decide", "asks"),
    ("session_status", "reads"),
];

fn list(stage: &Stage, options: &[&str]) -> (Vec<Value>, usize) {
    let mut server = stage.serving(options, &json!({}));
    let first = server.request("tools/list", &json!({}));
    let again = server.request("tools/list", &json!({}));
    assert_eq!(first, again, "caches of prompts live from it");
    let bytes = first.to_string().len();
    (first["tools"].as_array().unwrap().clone(), bytes)
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[test]
fn the_tools_fit_the_budget_and_stand_in_their_order() {
    let stage = Stage::new();
    for (groups, most) in [
        ("autopilot,run,review,collab", ALL),
        ("autopilot,review,collab", INIT),
        ("autopilot", GROUP),
        ("run", GROUP),
        ("review", 5_000),
        ("collab", GROUP),
    ] {
        let (_, bytes) = list(&stage, &["--tools", groups]);
        assert!(bytes < most, "{groups}: {bytes} bytes");
    }
    let of = |group: &str| list(&stage, &["--tools", group]).0;
    let (all, _) = list(&stage, &[]);
    let listed = of("autopilot,review,collab");
    assert!(names(&listed).into_iter().eq(TOOLS.map(|(name, _)| name)));
    // In whichever order they are named.
    let both = of("collab,autopilot");
    let (autopilot, collab) = (of("autopilot"), of("collab"));
    assert_eq!(names(&both), [names(&autopilot), names(&collab)].concat());
    assert_eq!(&all[..both.len()], both, "all groups begin with these two");
}

/// Every property of a schema, those within another, too: each has one type, since a list of them is more than some clients
/// understand, and where it is an argument it says what it is for.
fn described(of: &str, schema: &Value, is_argument: bool) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let says = property["description"].is_string();
        assert!(says || !is_argument, "{of}: {name} says nothing");
        for inner in [property, &property["items"]] {
            assert!(!inner["type"].is_array(), "{of}: {name}");
            described(of, inner, is_argument);
        }
    }
}

#[test]
fn each_tool_says_what_it_is_and_takes_and_gives() {
    let stage = Stage::new();
    let (all, _) = list(&stage, &[]);
    for tool in &all {
        let name = &tool["name"];
        assert!(tool["title"].as_str().is_some_and(|title| title.len() > 3));
        let description = tool["description"].as_str().unwrap();
        assert!(
            (20..TEXT).contains(&description.len()),
            "{name}: {description}"
        );
        let hints = tool["annotations"].as_object().unwrap();
        assert!(!hints.is_empty(), "{name}");
        if hints.get("readOnlyHint") != Some(&json!(true)) {
            assert!(hints["destructiveHint"].is_boolean(), "{name}: {hints:?}");
        }
        for side in ["inputSchema", "outputSchema"] {
            let schema = &tool[side];
            assert_eq!(schema["type"], "object", "{name}: {side}");
            for word in ["anyOf", "oneOf", "allOf", "$ref"] {
                assert!(schema.get(word).is_none(), "{name}: {side} has a {word}");
            }
            let properties = schema["properties"].as_object().unwrap();
            let required = schema["required"].as_array();
            for needed in required.into_iter().flatten() {
                assert!(properties.contains_key(needed.as_str().unwrap()), "{name}");
            }
            let promises = side == "inputSchema" || required.is_some();
            assert!(promises, "{name} promises nothing");
            described(&name.to_string(), schema, side == "inputSchema");
        }
        let name = name.as_str().unwrap();
        let every: &[&str] = match name.split_once('_') {
            // An item of any run names what it is about.
            Some(("run", _)) => &[],
            Some(("session", _)) => &["sessionId", "projectRoot"],
            Some(("autopilot", _)) => &["runId", "projectRoot", "tag"],
            _ => &["session", "project"],
        };
        for every in every {
            let known = &tool["inputSchema"]["properties"][every]["type"];
            assert_eq!(known, "string", "{name} takes no {every}");
        }
        let (meta, known) = (&tool["_meta"], TOOLS.iter().find(|(of, _)| *of == name));
        let Some((_, said)) = known else {
            let asks = meta["anthropic/requiresUserInteraction"] == true;
            assert_eq!(asks, name == "run_decide", "{name}: {meta}");
            continue;
        };
        for (what, found) in [
            ("core", &meta["anthropic/alwaysLoad"]),
            ("asks", &meta["anthropic/requiresUserInteraction"]),
            ("reads", &tool["annotations"]["readOnlyHint"]),
        ] {
            assert_eq!(*found == true, said.contains(what), "{name}: {what}");
        }
    }
}

#[test]
fn texts_are_short_enough_for_every_client() {
    let stage = Stage::new();
    let mut server = stage.server(&[]);
    let begun = server.initialize("2025-11-25", &json!({}));
    let instructions = begun["instructions"].as_str().unwrap();
    assert!((200..TEXT).contains(&instructions.len()), "{instructions}");
    // A group has its own instructions, and no prompts where it has none.
    let mut of_run = stage.server(&["--tools", "run"]);
    let begun = of_run.initialize("2025-11-25", &json!({}));
    let instructions = begun["instructions"].as_str().unwrap();
    assert!(instructions.contains("run_next") && !instructions.contains("autopilot"));
    let listed = of_run.request("prompts/list", &json!({}));
    assert_eq!(listed["prompts"], json!([]));
    for (method, list) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let listed = server.request(method, &json!({}));
        for one in listed[list].as_array().unwrap() {
            assert!(one["name"].is_string() && one["title"].is_string(), "{one}");
            let description = one["description"].as_str().unwrap_or_default();
            assert!(description.len() < TEXT, "{description}");
        }
    }
}

#[test]
fn an_unknown_group_is_refused() {
    let stage = Stage::new();
    for wrong in ["autopilots", "autopilot,,run"] {
        let output = stage.program(&["mcp", "--tools", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("the groups are "), "{text}");
    }
}
