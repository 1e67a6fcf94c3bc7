//! Which folders a client works on: it is asked at each call.

use serde_json::{Value, json};

use super::{TestClient, TestServer};

async fn guest() -> (TestServer, TestClient) {
    let house = TestServer::new();
    let can = json!({ "roots": { "listChanged": true } });
    let guest = house.guest(can).await;
    (house, guest)
}

fn folder(path: &str) -> Value {
    json!({ "roots": [{ "uri": format!("file://{path}") }] })
}

/// Begins a call that wants to know: the call and its question.
async fn asked(guest: &mut TestClient) -> (u64, Value) {
    let call = guest.call("where", "").await;
    (call, guest.question("roots/list").await)
}

#[tokio::test(start_paused = true)]
async fn each_call_asks_where_the_client_is_now() {
    let (_house, mut guest) = guest().await;
    // Whether the client says that its folders changed makes no difference.
    for path in ["/a", "/b", "/a"] {
        let (call, question) = asked(&mut guest).await;
        guest.reply(&question, folder(path)).await;
        assert_eq!(guest.text(call).await, json!([path]).to_string());
    }
    let (first, of_first) = asked(&mut guest).await;
    let (second, of_second) = asked(&mut guest).await;
    guest.reply(&of_second, folder("/new")).await;
    guest.reply(&of_first, folder("/old")).await;
    assert_eq!(guest.text(second).await, r#"["/new"]"#);
    assert_eq!(guest.text(first).await, r#"["/old"]"#);
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_no_other_folder_is_taken() {
    let (_house, mut guest) = guest().await;
    let (call, late) = asked(&mut guest).await;
    let text = guest.text(call).await;
    assert!(text.contains("within 5 seconds"), "{text}");
    let (call, question) = asked(&mut guest).await;
    guest.reply(&late, folder("/late")).await;
    guest.reply(&question, folder("/now")).await;
    assert_eq!(guest.text(call).await, r#"["/now"]"#);
    for (answer, told) in [
        (
            json!({ "error": { "code": -32603, "message": "not today" } }),
            "not today",
        ),
        (json!({ "result": { "nonsense": 1 } }), "did not tell"),
        (json!({ "result": { "roots": [] } }), "[]"),
    ] {
        let (call, question) = asked(&mut guest).await;
        let mut message = json!({ "jsonrpc": "2.0", "id": question["id"] });
        let fields = message.as_object_mut().unwrap();
        fields.extend(answer.as_object().unwrap().clone());
        guest.send(message).await;
        let text = guest.text(call).await;
        assert!(text.contains(told), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_the_folders_is_not_followed_without_them() {
    let (house, mut guest) = guest().await;
    for (uri, followed) in [("a:rooted", false), ("a:1", true)] {
        house.scene.change(uri);
        let params = json!({ "uri": uri });
        let answer = guest.ask("resources/subscribe", params).await;
        assert_eq!(answer.get("result").is_some(), followed, "{answer}");
    }
}
