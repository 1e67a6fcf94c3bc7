//! Long calls of clients that know of tasks.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::advance;

use super::{TestClient, TestServer};

/// Longer than a call is waited for before it is a task.
const LONG: Duration = Duration::from_secs(6);

fn meta(extensions: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions, "elicitation": { "form": {} } },
    })
}

/// What a client that knows of tasks says with each request.
fn knows() -> Value {
    meta(&json!({ "io.modelcontextprotocol/tasks": {} }))
}

async fn call(client: &mut TestClient, tool: &str, name: &str) -> u64 {
    let params = json!({ "name": tool, "arguments": { "name": name }, "_meta": knows() });
    client.begin("tools/call", params).await
}

async fn of_task(client: &mut TestClient, method: &str, id: &str) -> Value {
    let params = json!({ "taskId": id, "_meta": knows() });
    client.ask(&format!("tasks/{method}"), params).await
}

/// Makes a call that has become a task: its id.
async fn task(client: &mut TestClient, tool: &str, name: &str) -> String {
    let id = call(client, tool, name).await;
    // So that the call is under way before time goes on.
    client.ask("tools/list", json!({ "_meta": knows() })).await;
    advance(LONG).await;
    let answer = client.answer(id).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    assert_eq!(answer["result"]["status"], "working", "{answer}");
    answer["result"]["taskId"].as_str().unwrap().to_owned()
}

/// The task once it has that status.
async fn becomes(client: &mut TestClient, id: &str, status: &str) -> Value {
    loop {
        let answer = of_task(client, "get", id).await;
        if answer["result"]["status"] == status {
            return answer["result"].clone();
        }
        assert_eq!(answer["result"]["status"], "working", "{answer}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_call_is_a_task_and_a_quick_one_is_not() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let id = task(&mut client, "wait", "long").await;
    house.scene.let_through();
    let done = becomes(&mut client, &id, "completed").await;
    assert_eq!(
        done["result"]["structuredContent"]["text"], "long",
        "{done}"
    );
    let quick = call(&mut client, "wait", "quick").await;
    assert_eq!(client.text(quick).await, "quick");
    let unknown = of_task(&mut client, "get", "none").await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_know_of_tasks_waits() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let without = meta(&json!({}));
    let params = json!({ "name": "wait", "arguments": { "name": "a" }, "_meta": without });
    let id = client.begin("tools/call", params).await;
    client.ask("tools/list", json!({ "_meta": without })).await;
    advance(LONG).await;
    house.scene.let_through();
    assert_eq!(client.text(id).await, "a");
    let params = json!({ "taskId": "a", "_meta": without });
    let answer = client.ask("tasks/get", params).await;
    assert!(answer.get("error").is_some(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_taken_back() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let id = task(&mut client, "wait", "long").await;
    let answer = of_task(&mut client, "cancel", &id).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    becomes(&mut client, &id, "cancelled").await;
    house.scene.let_through();
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_and_is_answered() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let id = task(&mut client, "ask", "late").await;
    house.scene.let_through();
    let asks = becomes(&mut client, &id, "input_required").await;
    let (key, request) = asks["inputRequests"]
        .as_object()
        .and_then(|all| all.iter().next())
        .unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asks}");
    let params = json!({
        "taskId": id,
        "inputResponses": { key: { "action": "accept", "content": {} } },
        "_meta": knows(),
    });
    client.ask("tasks/update", params).await;
    let done = becomes(&mut client, &id, "completed").await;
    assert_eq!(
        done["result"]["structuredContent"]["text"], "done",
        "{done}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_all_its_questions_at_once_and_waits_for_each_answer() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let id = task(&mut client, "ask twice", "").await;
    house.scene.let_through();
    let pending = |asks: &Value| asks["inputRequests"].as_object().unwrap().clone();
    let asked = pending(&becomes(&mut client, &id, "input_required").await);
    assert_eq!(asked.len(), 2, "{asked:?}");
    for (left, key) in [(1, "first-0"), (0, "second-0")] {
        let params = json!({
            "taskId": id,
            "inputResponses": { key: { "action": "accept", "content": {} } },
            "_meta": knows(),
        });
        client.ask("tasks/update", params).await;
        if left > 0 {
            let asks = becomes(&mut client, &id, "input_required").await;
            assert_eq!(pending(&asks).len(), left, "{asks}");
        }
    }
    let done = becomes(&mut client, &id, "completed").await;
    assert_eq!(
        done["result"]["structuredContent"]["text"], "both",
        "{done}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_tasks_names_what_the_client_lacks() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let known = call(&mut client, "tasks only", "a").await;
    assert_eq!(client.text(known).await, "done");
    let params = json!({ "name": "tasks only", "_meta": meta(&json!({})) });
    let refused = client.ask("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let needed = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
    assert!(
        needed["io.modelcontextprotocol/tasks"].is_object(),
        "{refused}"
    );
}
