//! `tm serve`: which projects it goes to, and which it does not.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::folders::call_from;
use super::stage::Stage;
use testkit::files::write;
use testkit::mcp::{envelope, with_error_read};

/// The token in the file that an answer names.
fn token(said: &Value) -> String {
    let file = said["tokenFile"].as_str().unwrap();
    fs::read_to_string(file).unwrap().trim().to_owned()
}

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
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let said: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        Self {
            child,
            address: address.strip_suffix("/mcp").unwrap().to_owned(),
            token: token(&said),
        }
    }

    /// Sends a request of the stateless era on a connection of its own, and gives the status and the answer.
    fn send(&self, method: &str, name: &str, mut params: Value) -> (u16, Value) {
        params["_meta"] = envelope("2026-07-28", &json!({}));
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
        let call = json!({ "name": tool, "arguments": arguments });
        let (_, mut answer) = self.send("tools/call", tool, call);
        with_error_read(&mut answer["result"]);
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

/// Another repository beside the project.
fn beside(stage: &Stage, name: &str) -> PathBuf {
    let folder = stage.project().with_file_name(name);
    let (from, to) = (stage.project(), folder.to_str().unwrap());
    let clone = ["clone", "--quiet", "--template=", "--branch", "main"];
    stage.git(&[&clone[..], &[from.to_str().unwrap(), to]].concat());
    for (field, value) in [("name", "Somebody"), ("email", "somebody@localhost")] {
        stage.git(&["-C", to, "config", &format!("user.{field}"), value]);
    }
    stage.git(&["-C", to, "remote", "remove", "origin"]);
    folder
}

#[test]
fn nothing_beyond_the_roots_is_read_or_even_told_of() {
    let stage = Stage::new();
    let beside = beside(&stage, "beside");
    let plan = beside.join("todo.md");
    write(&plan, "# Things\n\n- [ ] one\n");
    std::os::unix::fs::symlink(&plan, stage.project().join("plan.md")).unwrap();
    let sub = stage.project().join("sub");
    fs::create_dir_all(sub.join(".taskmaster")).unwrap();
    let served = Served::new(&stage, &[&stage.project()]);
    let roots = ["../beside", "/"].map(|root| ("autopilot_status", json!({ "projectRoot": root })));
    let plans = [
        plan.to_str().unwrap(),
        "../beside/nothing.md",
        "/etc/nothing",
        "plan.md",
    ];
    let plans = plans.map(|plan| ("autopilot_start", json!({ "plan": plan })));
    for (tool, arguments) in roots.into_iter().chain(plans) {
        assert_eq!(served.code(tool, &arguments), "unsafe_path", "{arguments}");
    }
    drop(served);
    // A folder of a larger working tree is no root; in one that is, a plan is found.
    let of_sub = json!({ "title": "t", "subtasks": ["a"], "projectRoot": sub });
    let served = Served::new(&stage, &[&sub, &beside]);
    assert_eq!(served.code("autopilot_start", &of_sub), "unsafe_path");
    let plan =
        json!({ "plan": "todo.md", "projectRoot": beside, "dryRun": true, "allowDirty": true });
    let plan = served.tool("autopilot_start", &plan);
    assert_eq!(plan["subtasks"][0]["title"], "one", "{plan}");
}

#[test]
fn of_several_projects_a_run_tells_which_and_a_broken_one_harms_none() {
    let stage = Stage::started();
    let other = beside(&stage, "other");
    let broken = beside(&stage, "broken");
    write(&broken.join(".taskmaster/config.json"), "{");
    let run = stage.status()["runId"].take();
    let of_run = json!({ "runId": run });

    let served = Served::new(&stage, &[&stage.project(), &other, &broken]);
    assert_eq!(served.code("autopilot_status", &json!({})), "which_project");
    assert_eq!(served.tool("autopilot_status", &of_run)["runId"], run);
    let prompt = json!({ "name": "tdd_red", "arguments": of_run });
    let (_, prompt) = served.send("prompts/get", "tdd_red", prompt);
    let text = prompt["result"]["messages"][0]["content"]["text"].to_string();
    assert!(text.contains("RED for subtask"), "{prompt}");
    let (status, listed) = served.send("resources/list", "", json!({}));
    let all = listed["result"]["resources"].as_array().unwrap();
    assert!(status == 200 && all.len() > 1, "{listed}");
    drop(served);

    // A folder above several is none itself; the only one in it that has runs is meant.
    fs::remove_dir_all(broken).unwrap();
    let served = Served::new(&stage, &[stage.project().parent().unwrap()]);
    assert_eq!(served.tool("autopilot_status", &json!({}))["runId"], run);
    let start = json!({ "projectRoot": other, "title": "t", "subtasks": ["a"] });
    let told = served.tool("autopilot_start", &start);
    assert_eq!(told["nextAction"]["action"], "red", "{told}");
}

#[test]
fn it_answers_where_it_says_to_whoever_has_the_token_of_now() {
    let stage = Stage::new();
    let refused = stage.tm(3, &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused["error"]["code"], "usage");
    let mut served = Served::at(&stage, "127.0.0.2:0", &[&stage.project()]);
    assert!(served.address.starts_with("127.0.0.2:"));
    let listed = |served: &Served| served.send("tools/list", "", json!({})).0;
    let shown = stage.tm(0, &["serve", "token"]);
    assert_eq!((&shown["rotated"], listed(&served)), (&json!(false), 200));
    let rotated = stage.tm(0, &["serve", "token", "--rotate"]);
    assert_eq!(rotated["tokenFile"], shown["tokenFile"], "{rotated}");
    assert_eq!(listed(&served), 401);
    served.token = token(&rotated);
    assert_eq!(listed(&served), 200);
    assert!(!rotated.to_string().contains(&served.token), "{rotated}");
}

/// Shell and system each send a hangup when a terminal is closed; the second is no wish to have calls broken off.
#[cfg(target_os = "linux")]
#[test]
fn a_server_stops_well_when_its_terminal_is_gone() {
    let stage = Stage::new();
    let mut person = stage.person(&["serve", "--listen", "127.0.0.1:0"]);
    person.until("Stop it with Ctrl-C");
    assert_eq!(person.hang_up_with(2), Some(0));
}

#[test]
fn the_project_that_the_server_was_given_is_meant_before_the_clients_own() {
    let stage = Stage::started();
    let other = beside(&stage, "other");
    let root = stage.project();
    let options = ["--project-root", root.to_str().unwrap()];
    let mut server = stage.serving(&options, &json!({ "roots": {} }));
    let told = call_from(&mut server, &[&other], "autopilot_status", &json!({}));
    assert!(told["runId"].is_string(), "{told}");
}

#[test]
fn rules_that_lie_elsewhere_reach_no_model() {
    for path in ["../private", "link"] {
        let stage = Stage::new();
        let secret = stage.project().with_file_name("private");
        write(&secret.join("key.mdc"), "TOP SECRET");
        std::os::unix::fs::symlink(&secret, stage.project().join("link")).unwrap();
        let rules = json!({ "rulesPath": path, "loadOrder": ["key.mdc"] });
        let settings = json!({ "test": { "command": "sh run.sh" }, "prompts": rules });
        stage.write(".taskmaster/config.json", settings.to_string());
        stage.commit_all("Settings");
        stage.tm(0, &["autopilot", "start", "1"]);
        let next = stage.tm(0, &["autopilot", "next"]).to_string();
        assert!(!next.contains("TOP SECRET"), "{path}");
    }
}
