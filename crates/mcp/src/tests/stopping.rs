//! The end of a connection: the server is told to stop, or its client has nothing more to say.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{TestClient, TestServer};
use crate::stdio::LAST_CALLS;

/// Brings the end about: by the client, or by whoever stops the server.
async fn end(guest: &mut TestClient, by_client: bool) {
    if by_client {
        guest.say_no_more().await;
    } else {
        guest.stop.cancel();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_holds_no_end_up() {
    for by_client in [true, false] {
        let mut guest = TestServer::new().guest(json!({})).await;
        // More answers than fit into the pipe, which nobody reads.
        for _ in 0..60 {
            guest.begin("tools/list", json!({})).await;
        }
        // The clock only goes on when nobody has anything left to do.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        end(&mut guest, by_client).await;
        let ended = tokio::time::timeout(Duration::from_hours(1), &mut guest.served).await;
        ended.expect("an end").unwrap().unwrap();
        assert!(began.elapsed() <= LAST_CALLS, "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_nobody_can_answer_any_more_is_taken_back() {
    for by_client in [true, false] {
        let house = TestServer::new();
        let mut guest = house.guest(json!({ "elicitation": {} })).await;
        let call = guest.call("ask", "").await;
        guest.question("elicitation/create").await;
        let began = Instant::now();
        end(&mut guest, by_client).await;
        let answer = guest.answer(call).await;
        assert!(answer["error"]["message"].is_string(), "{answer}");
        guest.ends().await;
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_under_way_is_answered_before_the_end() {
    for by_client in [true, false] {
        let house = TestServer::new();
        let mut guest = house.guest(json!({})).await;
        let call = guest.call("wait", "one").await;
        // Its answer shows that the call before it was taken on.
        let seen = guest.call("where", "").await;
        guest.answer(seen).await;
        end(&mut guest, by_client).await;
        // Whoever stops the server waits for some seconds; the end of input is no reason to hurry.
        for _ in 0..if by_client { 20 } else { 0 } {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        house.scene.let_through();
        assert_eq!(guest.text(call).await, "one");
        guest.ends().await;
    }
}
