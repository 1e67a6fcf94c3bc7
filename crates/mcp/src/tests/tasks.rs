//! Long calls of clients that know of tasks.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::advance;

use super::{TestClient, TestServer, meta};

/// Longer than a call is waited for before it is a task.
const LONG: Duration = Duration::from_secs(6);

/// What a client that knows of tasks says with each request.
fn knows() -> Value {
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    meta(&json!({ "extensions": tasks, "elicitation": { "form": {} } }))
}

/// What a client says that does not.
fn knows_nothing() -> Value {
    meta(&json!({ "extensions": {}, "elicitation": { "form": {} } }))
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

/// Answers one question of the task.
async fn answer(client: &mut TestClient, id: &str, question: &str) {
    let responses = json!({ question: { "action": "accept", "content": {} } });
    let params = json!({ "taskId": id, "inputResponses": responses, "_meta": knows() });
    client.ask("tasks/update", params).await;
}

/// The questions that the task asks now.
async fn questions(client: &mut TestClient, id: &str) -> Vec<String> {
    let asks = becomes(client, id, "input_required").await;
    let requests = asks["inputRequests"].as_object().unwrap();
    let asked = |(_, request): (_, &Value)| request["method"] == "elicitation/create";
    assert!(requests.iter().all(asked), "{asks}");
    requests.keys().cloned().collect()
}

/// What the task came to.
async fn done(client: &mut TestClient, id: &str) -> Value {
    let mut done = becomes(client, id, "completed").await;
    done["result"]["structuredContent"]["text"].take()
}

#[tokio::test(start_paused = true)]
async fn a_long_call_is_a_task_and_a_quick_one_is_not() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let id = task(&mut client, "wait", "long").await;
    let taken_back = task(&mut client, "wait", "other").await;
    let answer = of_task(&mut client, "cancel", &taken_back).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    becomes(&mut client, &taken_back, "cancelled").await;
    house.scene.let_through();
    assert_eq!(done(&mut client, &id).await, "long");
    let quick = call(&mut client, "wait", "quick").await;
    assert_eq!(client.text(quick).await, "quick");
    let unknown = of_task(&mut client, "get", "none").await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_know_of_tasks_waits() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let params = json!({ "name": "wait", "arguments": { "name": "a" }, "_meta": knows_nothing() });
    let id = client.begin("tools/call", params).await;
    let list = json!({ "_meta": knows_nothing() });
    client.ask("tools/list", list).await;
    advance(LONG).await;
    house.scene.let_through();
    assert_eq!(client.text(id).await, "a");
    let params = json!({ "taskId": "a", "_meta": knows_nothing() });
    let answer = client.ask("tasks/get", params).await;
    assert!(answer.get("error").is_some(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_task_asks_all_its_questions_at_once_and_waits_for_each_answer() {
    for (tool, name, asked, text) in [
        ("ask", "late", &["name-0"][..], "nobody"),
        ("ask twice", "", &["first-0", "second-0"], "both"),
    ] {
        let house = TestServer::new();
        let mut client = house.stranger();
        let id = task(&mut client, tool, name).await;
        house.scene.let_through();
        for (at, question) in asked.iter().enumerate() {
            assert_eq!(questions(&mut client, &id).await, asked[at..]);
            answer(&mut client, &id, question).await;
        }
        assert_eq!(done(&mut client, &id).await, text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_tasks_names_what_the_client_lacks() {
    let house = TestServer::new();
    let mut client = house.stranger();
    let known = call(&mut client, "tasks only", "a").await;
    assert_eq!(client.text(known).await, "done");
    let params = json!({ "name": "tasks only", "_meta": knows_nothing() });
    let refused = client.ask("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let needed = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
    let tasks = &needed["io.modelcontextprotocol/tasks"];
    assert!(tasks.is_object(), "{refused}");
}
