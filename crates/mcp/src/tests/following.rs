//! Who follows a resource hears of each change, once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{TestClient, TestServer, meta};

/// On a clock that stands still: long enough for several looks.
const A_WHILE: Duration = Duration::from_secs(2);

async fn follow(guest: &mut TestClient, uri: &str) -> Value {
    let params = json!({ "uri": uri });
    guest.ask("resources/subscribe", params).await
}

async fn leave(guest: &mut TestClient, uri: &str) {
    let params = json!({ "uri": uri });
    let answer = guest.ask("resources/unsubscribe", params).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

/// A server with a resource, `a:1`, and a client of it.
async fn stage() -> (TestServer, TestClient) {
    let house = TestServer::new();
    house.scene.change("a:1");
    let guest = house.guest(json!({})).await;
    (house, guest)
}

/// Which changes were told until now.
async fn told(guest: &mut TestClient) -> Vec<String> {
    sleep(A_WHILE).await;
    guest.ask("ping", json!({})).await;
    let mut heard = std::mem::take(&mut guest.heard);
    heard.retain(|message| message["method"] == "notifications/resources/updated");
    let uri = |message: &Value| message["params"]["uri"].as_str().unwrap().to_owned();
    heard.iter().map(uri).collect()
}

#[tokio::test(start_paused = true)]
async fn what_happens_right_after_each_subscription_is_told() {
    let house = TestServer::new();
    let uris = ["a:1", "a:2", "a:3"];
    for uri in uris {
        house.scene.change(uri);
    }
    let mut guest = house.guest(json!({})).await;
    for uri in uris {
        follow(&mut guest, uri).await;
        house.scene.change(uri);
        assert_eq!(told(&mut guest).await, [uri]);
    }
    house.scene.change("a:2");
    assert_eq!(told(&mut guest).await, ["a:2"]);
    assert!(told(&mut guest).await.is_empty());
}

/// Where looks are slow to begin, as on a busy machine.
#[test]
fn what_happens_right_after_a_listener_is_acknowledged_is_told() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let house = TestServer::new();
        house.scene.change("a:1");
        let mut guest = house.stranger();
        let (busy, is_over) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || is_over.recv());
        let wanted = json!({ "resourceSubscriptions": ["a:1"] });
        let request = json!({ "notifications": wanted, "_meta": meta(&json!({})) });
        guest.begin("subscriptions/listen", request).await;
        for wanted in ["subscriptions/acknowledged", "resources/updated"] {
            let told = guest.next(|message| message["method"] == format!("notifications/{wanted}"));
            let told = tokio::time::timeout(A_WHILE, told).await.expect(wanted);
            assert!(told.is_some(), "{wanted}");
            if wanted == "subscriptions/acknowledged" {
                house.scene.change("a:1");
                busy.send(()).unwrap();
            }
        }
    });
}

#[tokio::test(start_paused = true)]
async fn each_change_is_told_once_however_often_the_client_changed_its_mind() {
    let (house, mut guest) = stage().await;
    for _ in 0..5 {
        follow(&mut guest, "a:1").await;
        follow(&mut guest, "a:1").await;
        leave(&mut guest, "a:1").await;
    }
    house.scene.change("a:1");
    assert!(told(&mut guest).await.is_empty(), "nothing is followed");
    follow(&mut guest, "a:1").await;
    follow(&mut guest, "a:1").await;
    house.scene.change("a:1");
    assert_eq!(told(&mut guest).await, ["a:1"]);
}

#[tokio::test(start_paused = true)]
async fn many_followers_cost_one_look() {
    let house = TestServer::new();
    house.scene.change("a:1");
    let mut guests = Vec::new();
    for _ in 0..20 {
        let mut guest = house.guest(json!({})).await;
        follow(&mut guest, "a:1").await;
        guests.push(guest);
    }
    let before = house.scene.looks();
    sleep(A_WHILE).await;
    let looks = house.scene.looks() - before;
    assert!((20..=45).contains(&looks), "{looks}");
    house.scene.change("a:1");
    for guest in &mut guests {
        assert_eq!(told(guest).await, ["a:1"]);
    }

    // Those who leave one way or the other leave nothing behind.
    for guest in &mut guests[..10] {
        leave(guest, "a:1").await;
    }
    for guest in &mut guests[10..] {
        guest.say_no_more().await;
        guest.ends().await;
    }
    sleep(A_WHILE).await;
    let before = house.scene.looks();
    sleep(A_WHILE).await;
    assert_eq!(house.scene.looks(), before);

    // It begins again for the next one.
    follow(&mut guests[0], "a:1").await;
    house.scene.change("a:1");
    assert_eq!(told(&mut guests[0]).await, ["a:1"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_cannot_be_followed_and_its_end_is_told_once() {
    let (house, mut guest) = stage().await;
    let answer = follow(&mut guest, "a:nothing").await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let answer = follow(&mut guest, "a:panic").await;
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    follow(&mut guest, "a:1").await;
    house.scene.marks.lock().unwrap().clear();
    assert_eq!(told(&mut guest).await, ["a:1"]);
    house.scene.change("a:1");
    assert_eq!(told(&mut guest).await, ["a:1"]);
}
