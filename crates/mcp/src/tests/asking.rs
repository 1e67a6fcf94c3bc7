//! Which folders a client works on: it is asked at each call.

use serde_json::{Value, json};

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
async fn each_call_asks_where_the_client_is_now() {
    let (_house, mut guest) = guest().await;
    // Whether the client says that its folders changed makes no difference.
    for path in ["/a", "/b", "/a"] {
        let call = guest.call("where", "").await;
        let question = guest.question("roots/list").await;
        guest.reply(&question, folder(path)).await;
        assert_eq!(guest.text(call).await, json!([path]).to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_each_have_their_own_answer() {
    let (_house, mut guest) = guest().await;
    let first = guest.call("where", "").await;
    let of_first = guest.question("roots/list").await;
    let second = guest.call("where", "").await;
    let of_second = guest.question("roots/list").await;
    guest.reply(&of_second, folder("/new")).await;
    guest.reply(&of_first, folder("/old")).await;
    assert_eq!(guest.text(second).await, r#"["/new"]"#);
    assert_eq!(guest.text(first).await, r#"["/old"]"#);
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_no_other_folder_is_taken() {
    let (_house, mut guest) = guest().await;
    let call = guest.call("where", "").await;
    let late = guest.question("roots/list").await;
    let text = guest.text(call).await;
    assert!(text.contains("within 5 seconds"), "{text}");

    let call = guest.call("where", "").await;
    let question = guest.question("roots/list").await;
    guest.reply(&late, folder("/late")).await;
    guest.reply(&question, folder("/now")).await;
    assert_eq!(guest.text(call).await, r#"["/now"]"#);
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
