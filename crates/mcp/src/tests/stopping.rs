//! The end of a connection.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout};

use super::TestServer;
use crate::stdio::LAST_CALLS;

/// Longer than anything may take.
const FOR_EVER: Duration = Duration::from_hours(1);

/// More answers than fit into the pipe, which nobody reads.
async fn a_guest_that_does_not_read() -> super::TestClient {
    let mut guest = TestServer::new().guest(json!({})).await;
    for _ in 0..60 {
        guest.begin("tools/list", json!({})).await;
    }
    // The clock only goes on when nobody has anything left to do.
    tokio::time::sleep(Duration::from_secs(1)).await;
    guest
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_without_reading_holds_nothing_up() {
    let mut guest = a_guest_that_does_not_read().await;
    let began = Instant::now();
    guest.say_no_more().await;
    let ended = timeout(FOR_EVER, &mut guest.served).await;
    ended.expect("an end").unwrap().unwrap();
    assert!(began.elapsed() <= LAST_CALLS, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_keep_the_server_from_stopping() {
    let mut guest = a_guest_that_does_not_read().await;
    let began = Instant::now();
    guest.stop.cancel();
    let ended = timeout(FOR_EVER, &mut guest.served).await;
    ended.expect("an end").unwrap().unwrap();
    assert!(began.elapsed() <= LAST_CALLS, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_question_nobody_can_answer_any_more_is_taken_back() {
    let house = TestServer::new();
    let mut guest = house.guest(json!({ "elicitation": {} })).await;
    let call = guest.call("ask", "").await;
    guest.question("elicitation/create").await;
    let began = Instant::now();
    guest.stop.cancel();
    let answer = guest.answer(call).await;
    let said = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("the server is stopping"), "{answer}");
    (&mut guest.served).await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_takes_questions_back_too() {
    let house = TestServer::new();
    let mut guest = house.guest(json!({ "elicitation": {} })).await;
    let call = guest.call("ask", "").await;
    guest.question("elicitation/create").await;
    let began = Instant::now();
    guest.say_no_more().await;
    let answer = guest.answer(call).await;
    assert!(answer["error"]["message"].is_string(), "{answer}");
    (&mut guest.served).await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_call_that_is_under_way_is_answered_before_the_end() {
    let house = TestServer::new();
    let mut guest = house.guest(json!({})).await;
    let call = guest.call("wait", "one").await;
    // Its answer shows that the call before it was taken on.
    let seen = guest.call("where", "").await;
    guest.answer(seen).await;
    guest.stop.cancel();
    house.scene.let_through();
    assert_eq!(guest.text(call).await, "one");
    (&mut guest.served).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_is_answered_long_after_the_end_of_input() {
    let house = TestServer::new();
    let mut guest = house.guest(json!({})).await;
    let call = guest.call("wait", "one").await;
    let seen = guest.call("where", "").await;
    guest.answer(seen).await;
    guest.say_no_more().await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    house.scene.let_through();
    assert_eq!(guest.text(call).await, "one");
    (&mut guest.served).await.unwrap().unwrap();
}
