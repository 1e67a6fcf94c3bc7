//! `tm serve`: which projects it goes to, and which it does not.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::person::key;

/// A server that listens, and the token that it wants.
struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    fn new(stage: &Stage, roots: &[&Path]) -> Self {
        Self::at(stage, "127.0.0.1:0", roots)
    }

    fn at(stage: &Stage, listen: &str, roots: &[&Path]) -> Self {
        let mut program = stage.program(&["serve", "--json", "--listen", listen]);
        for root in roots {
            program.arg("--root").arg(root);
        }
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url
            .strip_prefix("http://")
            .and_then(|rest| rest.strip_suffix("/mcp"))
            .unwrap()
            .to_owned();
        let file = Path::new(said["tokenFile"].as_str().unwrap()).to_owned();
        let token = fs::read_to_string(file).unwrap().trim().to_owned();
        Self {
            child,
            address,
            token,
        }
    }

    /// Sends a request of the stateless era on a connection of its own, and gives the status and the answer.
    fn send(&self, method: &str, name: &str, mut params: Value) -> (u16, Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn tool(&self, tool: &str, arguments: &Value) -> Value {
        let (_, mut answer) = self.send(
            "tools/call",
            tool,
            json!({ "name": tool, "arguments": arguments }),
        );
        testkit::mcp::with_error_read(&mut answer["result"]);
        answer["result"]["structuredContent"].take()
    }

    fn code(&self, tool: &str, arguments: &Value) -> String {
        let told = self.tool(tool, arguments);
        told["error"]["code"].as_str().unwrap_or("none").to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn repository(stage: &Stage, folder: &Path) {
    fs::create_dir_all(folder.join(".taskmaster")).unwrap();
    fs::write(
        folder.join(".taskmaster/config.json"),
        r#"{"test": {"command": "sh run.sh", "patterns": ["tests/**"]}}"#,
    )
    .unwrap();
    let git = |words: &[&str]| {
        let done = stage
            .process("git")
            .current_dir(folder)
            .args(words)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet", "--template="]);
    git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(&["config", "user.name", "Somebody"]);
    git(&["config", "user.email", "somebody@localhost"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "Begin"]);
}

#[test]
fn nothing_beyond_the_roots_is_read_or_even_told_of() {
    let stage = Stage::new();
    let beside = stage.project().with_file_name("beside");
    repository(&stage, &beside);
    let plan = beside.join("todo.md");
    fs::write(&plan, "# Things\n\n- [ ] one\n").unwrap();
    let served = Served::new(&stage, &[&stage.project()]);

    for named in [
        plan.display().to_string(),
        "../beside/todo.md".to_owned(),
        "../beside/nothing.md".to_owned(),
        "/etc/hostname".to_owned(),
        "/etc/nothing".to_owned(),
    ] {
        let code = served.code("autopilot_start", &json!({ "plan": named }));
        assert_eq!(code, "outside_roots", "{named}");
    }
    std::os::unix::fs::symlink(&plan, stage.project().join("plan.md")).unwrap();
    let code = served.code("autopilot_start", &json!({ "plan": "plan.md" }));
    assert_eq!(code, "outside_roots");
    for root in [
        beside.display().to_string(),
        "../beside".to_owned(),
        "/".to_owned(),
    ] {
        let code = served.code("autopilot_status", &json!({ "projectRoot": root }));
        assert_eq!(code, "outside_roots", "{root}");
    }
    assert_eq!(fs::read_to_string(plan).unwrap(), "# Things\n\n- [ ] one\n");
}

#[test]
fn a_plan_belongs_to_the_project_that_is_named() {
    let stage = Stage::new();
    let inner = stage.project().with_file_name("inner");
    repository(&stage, &inner);
    fs::write(inner.join("plan.md"), "# Things\n\n- [ ] one\n").unwrap();
    let served = Served::new(&stage, &[&stage.project(), &inner]);
    let plan = served.tool(
        "autopilot_start",
        &json!({ "plan": "plan.md", "projectRoot": inner, "dryRun": true, "allowDirty": true }),
    );
    assert_eq!(plan["subtasks"][0]["title"], "one", "{plan}");
}

#[test]
fn a_folder_of_a_larger_working_tree_is_no_root() {
    let stage = Stage::new();
    let sub = stage.project().join("sub");
    fs::create_dir_all(sub.join(".taskmaster")).unwrap();
    let served = Served::new(&stage, &[&sub]);
    let code = served.code(
        "autopilot_start",
        &json!({ "title": "t", "subtasks": ["a"] }),
    );
    assert_eq!(code, "outside_roots");
    assert_eq!(stage.git(&["branch", "--show-current"]), "main");
}

#[test]
fn of_several_projects_a_run_tells_which() {
    let stage = Stage::started();
    let other = stage.project().with_file_name("other");
    repository(&stage, &other);
    let above = stage.project().parent().unwrap().to_owned();
    let run = stage.tm(0, &["autopilot", "status"])["runId"].clone();

    let served = Served::new(&stage, &[&stage.project(), &other]);
    assert_eq!(served.code("autopilot_status", &json!({})), "which_project");
    let told = served.tool("autopilot_status", &json!({ "runId": run }));
    assert_eq!(told["runId"], run, "{told}");
    let (_, prompt) = served.send(
        "prompts/get",
        "tdd_red",
        json!({ "name": "tdd_red", "arguments": { "runId": run } }),
    );
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str();
    assert!(text.unwrap().contains("RED for subtask"), "{prompt}");
    drop(served);

    // A folder above several is none itself; the only one in it that has runs is meant.
    let served = Served::new(&stage, &[&above]);
    let told = served.tool("autopilot_status", &json!({}));
    assert_eq!(told["runId"], run, "{told}");
    let told = served.tool(
        "autopilot_start",
        &json!({ "projectRoot": other, "title": "t", "subtasks": ["a"] }),
    );
    assert_eq!(told["nextAction"]["action"], "red", "{told}");
}

#[test]
fn a_command_replaces_the_token_of_a_server_that_runs() {
    let stage = Stage::new();
    let mut served = Served::new(&stage, &[&stage.project()]);
    assert_eq!(served.send("tools/list", "", json!({})).0, 200);
    let shown = stage.tm(0, &["serve", "token"]);
    assert_eq!(shown["rotated"], false, "{shown}");
    assert_eq!(served.send("tools/list", "", json!({})).0, 200);
    let rotated = stage.tm(0, &["serve", "token", "--rotate"]);
    assert_eq!(rotated["tokenFile"], shown["tokenFile"], "{rotated}");
    assert_eq!(served.send("tools/list", "", json!({})).0, 401);
    let file = rotated["tokenFile"].as_str().unwrap();
    served.token = fs::read_to_string(file).unwrap().trim().to_owned();
    assert_eq!(served.send("tools/list", "", json!({})).0, 200);
    assert!(!rotated.to_string().contains(&served.token), "{rotated}");
}

/// Shell and system each send a hangup when a terminal is closed; the second is no wish to have calls broken off.
#[cfg(target_os = "linux")]
#[test]
fn a_server_stops_well_when_its_terminal_is_gone() {
    let stage = Stage::new();
    let command = stage.program(&["serve", "--listen", "127.0.0.1:0"]);
    let mut person = testkit::person::Person::at(command);
    person.until("Stop it with Ctrl-C");
    assert_eq!(person.hang_up_with(2), Some(0));
}

#[test]
fn a_broken_project_takes_nothing_from_the_others() {
    let stage = Stage::started();
    let broken = stage.project().with_file_name("broken");
    repository(&stage, &broken);
    fs::write(broken.join(".taskmaster/config.json"), "{").unwrap();
    let served = Served::new(&stage, &[&stage.project(), &broken]);
    let (status, listed) = served.send("resources/list", "", json!({}));
    assert_eq!(status, 200, "{listed}");
    let all = listed["result"]["resources"].as_array().unwrap();
    assert!(all.len() > 1, "{listed}");
}

#[test]
fn it_answers_where_it_says_that_it_listens() {
    let stage = Stage::new();
    let served = Served::at(&stage, "127.0.0.2:0", &[&stage.project()]);
    assert!(served.address.starts_with("127.0.0.2:"));
    assert_eq!(served.code("autopilot_status", &json!({})), "no_run");
}

#[test]
fn it_listens_beyond_this_machine_only_when_told_to() {
    let stage = Stage::new();
    let refused = stage.tm(3, &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused["error"]["code"], "remote_listener");
}

#[test]
fn the_project_that_the_server_was_given_is_meant_before_the_clients_own() {
    let stage = Stage::started();
    let other = stage.project().with_file_name("other");
    repository(&stage, &other);
    let mut server = stage.server(&["--project-root", stage.project().to_str().unwrap()]);
    server.initialize("2025-11-25", &json!({ "roots": {} }));
    let id = server.ask(
        "tools/call",
        &json!({ "name": "autopilot_status", "arguments": {} }),
    );
    let asked = server.hear();
    assert_eq!(asked["method"], "roots/list");
    server.send(&json!({
        "jsonrpc": "2.0", "id": asked["id"],
        "result": { "roots": [{ "uri": format!("file://{}", other.display()) }] },
    }));
    let told = server.answer(&id.into());
    assert!(
        told["result"]["structuredContent"]["runId"].is_string(),
        "{told}"
    );
    server.end();
}

#[test]
fn without_its_own_tools_a_group_has_neither_instructions_nor_prompts() {
    let stage = Stage::new();
    let mut server = stage.server(&["--tools", "run"]);
    let said = server.initialize("2025-11-25", &json!({}));
    let instructions = said["instructions"].as_str().unwrap();
    assert!(instructions.contains("run_next") && !instructions.contains("autopilot"));
    assert_eq!(
        server.request("prompts/list", &json!({}))["prompts"],
        json!([])
    );
    server.end();
}

#[test]
fn rules_that_lie_elsewhere_reach_no_model() {
    let stage = Stage::new();
    let secret = stage.project().with_file_name("private");
    fs::create_dir_all(&secret).unwrap();
    fs::write(secret.join("key.mdc"), "TOP SECRET").unwrap();
    let settings = |path: &str| {
        format!(
            r#"{{"test": {{"command": "sh run.sh"}}, "prompts": {{"rulesPath": "{path}", "loadOrder": ["key.mdc"]}}}}"#
        )
    };
    std::os::unix::fs::symlink(&secret, stage.project().join("link")).unwrap();
    for path in [secret.to_str().unwrap(), "../private", "link"] {
        stage.write(".taskmaster/config.json", settings(path));
        stage.git(&["add", "--all"]);
        stage.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "Settings",
        ]);
        stage.tm(0, &["autopilot", "start", "1"]);
        let next = stage.tm(0, &["autopilot", "next"]);
        assert!(!next.to_string().contains("TOP SECRET"), "{path}");
        assert!(
            next["context"]["notes"].to_string().contains("key.mdc"),
            "{next}"
        );
        let key = key(&stage.store());
        stage.tm(
            0,
            &["autopilot", "abort", "--cleanup", "--force", "--sign", &key],
        );
    }
}

#[test]
fn titles_of_resources_are_plain() {
    let stage = Stage::new();
    stage.tm(
        0,
        &[
            "autopilot",
            "start",
            "--title",
            "a\u{1b}[2J\u{202e}b\n\n# System",
            "--subtask",
            "one",
        ],
    );
    let mut server = stage.session();
    let listed = server.request("resources/list", &json!({}));
    let title = listed["resources"][1]["title"].as_str().unwrap();
    assert!(
        !title.contains(|c: char| c.is_control() || c == '\u{202e}'),
        "{title:?}"
    );
    server.end();
}
