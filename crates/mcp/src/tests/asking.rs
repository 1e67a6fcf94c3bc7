//! Which folders a client works on: it is asked until it has told.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{TestClient, TestServer};

async fn guest() -> (TestServer, TestClient) {
    let house = TestServer::new();
    let guest = house
        .guest(json!({ "roots": { "listChanged": true } }))
        .await;
    (house, guest)
}

fn folder(path: &str) -> Value {
    json!({ "roots": [{ "uri": format!("file://{path}") }] })
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept() {
    let (_house, mut guest) = guest().await;
    let first = guest.call("where", "").await;
    let second = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    guest.reply(&question, folder("/a")).await;
    assert_eq!(guest.text(first).await, r#"["/a"]"#);
    assert_eq!(guest.text(second).await, r#"["/a"]"#);
    let third = guest.call("where", "").await;
    assert_eq!(guest.text(third).await, r#"["/a"]"#);

    guest
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }))
        .await;
    guest.ask("ping", json!({})).await;
    let fourth = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    guest.reply(&question, folder("/b")).await;
    assert_eq!(guest.text(fourth).await, r#"["/b"]"#);
    assert!(
        !guest
            .heard
            .iter()
            .any(|message| message["method"] == "roots/list")
    );
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_no_other_folder_is_taken() {
    let (_house, mut guest) = guest().await;
    let call = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    let text = guest.text(call).await;
    assert!(text.contains("within 5 seconds"), "{text}");

    // It is asked again, and an answer that comes late is good for what comes later.
    let call = guest.call("where", "").await;
    guest.question("roots/list").await;
    guest.reply(&question, folder("/late")).await;
    assert_eq!(guest.text(call).await, r#"["/late"]"#);
    let call = guest.call("where", "").await;
    assert_eq!(guest.text(call).await, r#"["/late"]"#);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_no_answer() {
    let (_house, mut guest) = guest().await;
    let call = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    let error = json!({ "code": -32603, "message": "not today" });
    guest
        .send(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }))
        .await;
    let text = guest.text(call).await;
    assert!(text.contains("not today"), "{text}");
    let call = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    guest.reply(&question, json!({ "nonsense": 1 })).await;
    let text = guest.text(call).await;
    assert!(text.contains("did not tell"), "{text}");
    let call = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    guest.reply(&question, json!({ "roots": [] })).await;
    assert_eq!(guest.text(call).await, "[]");
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_before_a_change_is_not_believed_after_it() {
    let (_house, mut guest) = guest().await;
    let call = guest.call("where", "").await;
    let before = guest.question("roots/list").await;
    guest
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }))
        .await;
    guest.ask("ping", json!({})).await;
    let later = guest.call("where", "").await;
    let after = guest.question("roots/list").await;
    guest.reply(&before, folder("/old")).await;
    sleep(Duration::from_millis(1)).await;
    guest.reply(&after, folder("/new")).await;
    assert_eq!(guest.text(call).await, r#"["/new"]"#);
    assert_eq!(guest.text(later).await, r#"["/new"]"#);
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_the_folders_is_not_followed_without_them() {
    let (house, mut guest) = guest().await;
    house.scene.change("a:rooted");
    house.scene.change("a:1");
    let follow = |uri| json!({ "uri": uri });
    let answer = guest.ask("resources/subscribe", follow("a:rooted")).await;
    let said = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("which folders"), "{answer}");
    let answer = guest.ask("resources/subscribe", follow("a:1")).await;
    assert!(answer.get("result").is_some(), "{answer}");
}
