//! In which folder a call works: that of the caller, and no other worktree of its repository.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Server;
use testkit::mcp::envelope;

use super::stage::{Client, Stage, answer, ask};

/// A task that needs no tasks file.
const TASK: &str = "Count the words";

impl Stage {
    /// Another worktree of the repository, with HEAD detached.
    fn worktree(&self, folder: &Path) -> PathBuf {
        let place = folder.to_str().unwrap();
        self.git(&["worktree", "add", "--quiet", "--detach", place]);
        fs::canonicalize(folder).unwrap()
    }

    fn branch_in(&self, folder: &Path) -> String {
        self.git(&["-C", folder.to_str().unwrap(), "branch", "--show-current"])
    }

    fn with_roots(&self) -> Client {
        self.serving(&[], &json!({ "roots": { "listChanged": true } }))
    }
}

/// Calls a tool for a client that says it works in these folders, each time it is asked.
pub fn call_from(server: &mut Server, roots: &[&Path], tool: &str, arguments: &Value) -> Value {
    let id = ask(server, tool, arguments);
    let asked = server.hear();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let roots: Vec<Value> = roots
        .iter()
        .map(|root| json!({ "uri": format!("file://{}", root.display()) }))
        .collect();
    server.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
    answer(server, id)
}

/// What a tool answers, be it a refusal.
fn told(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    server.call(tool, arguments)["structuredContent"].take()
}

fn start() -> Value {
    json!({ "title": TASK, "subtasks": ["One"] })
}

/// A run is there, and wants its first test.
fn begun(answer: &Value) {
    assert_eq!(answer["nextAction"]["action"], "red", "{answer}");
}

/// The folders that a refusal names, where it is one for want of a folder.
fn candidates(answer: &Value) -> Vec<PathBuf> {
    let error = &answer["error"];
    assert_eq!(error["code"], "which_project", "{answer}");
    let expected = error["expected"].as_array().unwrap().iter();
    expected
        .map(|folder| folder.as_str().unwrap().into())
        .collect()
}

#[test]
fn a_client_that_moved_into_a_worktree_begins_there() {
    let stage = Stage::new();
    let main = stage.project();
    let inside = stage.worktree(&main.join(".claude/worktrees/one"));
    let mut server = stage.with_roots();
    // Before it moved; a worktree inside of its folder may be meant already.
    let answer = call_from(&mut server, &[&main], "autopilot_start", &start());
    assert_eq!(candidates(&answer), [main.clone(), inside.clone()]);
    // It moved, and did not say that its roots changed.
    let answer = call_from(&mut server, &[&inside], "autopilot_start", &start());
    begun(&answer);
    assert_eq!(answer["branch"], stage.branch_in(&inside));
    assert_eq!(stage.branch_in(&main), "main");
    // And back: that run is not here, but found by its id, and named.
    let run = json!({ "runId": answer["runId"] });
    let answer = call_from(&mut server, &[&main], "autopilot_next", &json!({}));
    assert_eq!(answer["error"]["code"], "no_run", "{answer}");
    let step = &answer["error"]["nextSteps"][0]["arguments"];
    assert_eq!(step["projectRoot"], json!(inside), "{answer}");
    let answer = call_from(&mut server, &[&main], "autopilot_next", &run);
    assert_eq!(answer["action"], "red", "{answer}");
}

#[test]
fn an_agent_in_a_worktree_of_its_own_names_it_and_goes_on_there() {
    let stage = Stage::new();
    let main = stage.project();
    let inside = stage.worktree(&main.join(".claude/worktrees/agent"));
    // An old one beside the root of the client is not asked about.
    stage.worktree(&main.with_file_name("beside"));
    let mut server = stage.with_roots();
    let mut named = start();
    named["projectRoot"] = json!(inside);
    begun(&call_from(&mut server, &[&main], "autopilot_start", &named));
    assert_eq!(stage.branch_in(&main), "main");
    // Every step that is advised is to be taken in the same folder.
    let there = json!({ "projectRoot": inside });
    for tool in ["autopilot_next", "autopilot_status", "autopilot_commit"] {
        let text = call_from(&mut server, &[&main], tool, &there).to_string();
        let steps = text.matches("\"tool\":\"").count();
        let arguments = text.split("\"arguments\":{").skip(1);
        let own = arguments.filter_map(|arguments| arguments.split('}').next());
        let placed = own.filter(|own| own.contains("\"projectRoot\":\"")).count();
        assert!(steps > 0 && steps == placed, "{tool}: {text}");
    }
}

#[test]
fn a_root_that_is_no_project_is_not_exchanged_for_the_servers_folder() {
    let stage = Stage::started();
    let elsewhere = stage.folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    // One that is not there is none at all.
    let gone = elsewhere.join("gone");
    let mut server = stage.with_roots();
    for (root, tool, arguments, code) in [
        (&elsewhere, "autopilot_status", json!({}), "no_run"),
        (&elsewhere, "autopilot_start", start(), "not_a_repository"),
        (&gone, "autopilot_status", json!({}), "not_found"),
        (&gone, "autopilot_start", start(), "not_found"),
    ] {
        let answer = call_from(&mut server, &[root], tool, &arguments);
        assert_eq!(answer["error"]["code"], code, "{tool}: {answer}");
    }
    let uri = json!({ "projectRoot": format!("file://{}", stage.project().display()) });
    let named = told(&mut stage.session(), "autopilot_status", &uri);
    assert_eq!(named["status"], "running", "{named}");
    // Of several, the first that is one; without any, the server's own.
    for roots in [&[elsewhere.as_path(), &stage.project()][..], &[]] {
        let answer = call_from(&mut server, roots, "autopilot_status", &json!({}));
        assert_eq!(answer["status"], "running", "{answer}");
    }
}

#[test]
fn nothing_begins_where_only_the_servers_folder_says_which_worktree_is_meant() {
    let mut stage = Stage::new();
    let main = stage.project();
    let beside = stage.worktree(&main.with_file_name("beside"));
    let mut server = stage.session();
    let items = json!([{ "number": 1, "title": TASK, "type": "code" }]);
    let both = [main.clone(), beside.clone()];
    for (tool, arguments) in [
        ("autopilot_start", start()),
        ("run_start", json!({ "workflow": "letter" })),
        ("session_init", json!({ "inputs": { "request": TASK } })),
        ("update_session_state", json!({ "workItems": items })),
    ] {
        let answer = told(&mut server, tool, &arguments);
        assert_eq!(candidates(&answer), both, "{tool}");
        // What is there can be read.
        let answer = told(&mut server, "autopilot_status", &json!({}));
        assert_eq!(answer["error"]["code"], "no_run");
    }
    assert!(stage.runs().is_empty(), "{:?}", stage.runs());

    // A request of the stateless era tells no roots.
    let mut server = stage.server(&[]);
    let meta = envelope("2026-07-28", &json!({ "roots": {} }));
    let mut request = json!({ "_meta": meta, "name": "autopilot_start", "arguments": start() });
    let answer = server.request("tools/call", &request);
    candidates(&answer["structuredContent"]);
    request["arguments"]["projectRoot"] = json!(main);
    begun(&server.request("tools/call", &request)["structuredContent"]);

    // Who starts the server in a worktree made that for it; who names a folder to the server means that.
    let third = stage.worktree(&main.with_file_name("third"));
    for (cwd, options, title, meant) in [
        (&beside, &[][..], "Lines", &beside),
        (
            &main,
            &["--project-root", third.to_str().unwrap()],
            "Other",
            &third,
        ),
    ] {
        stage.cwd.clone_from(cwd);
        let mut server = stage.serving(options, &json!({}));
        server.tool(
            "autopilot_start",
            &json!({ "title": title, "subtasks": ["One"] }),
        );
        assert_ne!(stage.branch_in(meant), "");
    }
}

#[test]
fn the_folder_of_a_plugin_is_not_taken_for_the_project() {
    let mut stage = Stage::started();
    let project = stage.project();
    let run = stage.status()["runId"].take();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    for (name, manifest) in [
        ("tramline", "plugin.json"),
        ("tramline", ".claude-plugin/plugin.json"),
        ("gemini", "gemini-extension.json"),
    ] {
        // A copy in a repository of its own, as clients keep what they installed.
        let plugin = stage
            .folder()
            .join("installed")
            .join(manifest.replace('/', "-"));
        let manifest_text = fs::read(source.join(name).join(manifest)).unwrap();
        testkit::files::write(&plugin.join(manifest), manifest_text);
        stage.cwd.clone_from(&plugin);
        stage.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        let made =
            stage.shell("git -c user.name=A -c user.email=a@b commit --allow-empty -m Install");
        assert!(made.status.success(), "{made:?}");
        let mut server = stage.session();
        for (tool, arguments) in [
            ("autopilot_start", start()),
            ("autopilot_status", json!({})),
        ] {
            let answer = told(&mut server, tool, &arguments);
            assert_eq!(candidates(&answer), vec![project.clone()], "{tool}");
        }
        // There are runs of no project to list.
        let listed = server.request("resources/list", &json!({}));
        assert_eq!(listed["resources"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(stage.git(&["branch", "--list"]), "* main");
        // By its id, or in the folder that the agent names, it is found.
        for named in [json!({ "runId": run }), json!({ "projectRoot": project })] {
            assert_eq!(server.tool("autopilot_status", &named)["runId"], run);
        }
        // Whoever is to do something by hand is told where.
        let abort = json!({ "runId": run, "cleanup": true });
        let answer = told(&mut server, "autopilot_abort", &abort);
        let by_hand = answer["error"]["recovery"].as_str().unwrap();
        let place = format!("--project-root {}", project.display());
        assert!(by_hand.contains(&place), "{answer}");
        // A client that says where it works is believed.
        let mut server = stage.with_roots();
        let status = call_from(&mut server, &[&project], "autopilot_status", &json!({}));
        assert_eq!(status["runId"], run, "{status}");
    }
    // A plugin that is worked on was prepared for that.
    fs::create_dir(stage.cwd.join(".taskmaster")).unwrap();
    let mut server = stage.session();
    let answer = told(&mut server, "autopilot_status", &json!({}));
    assert_eq!(answer["error"]["code"], "no_run", "{answer}");
}
