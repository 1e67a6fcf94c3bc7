//! Calls that wait, and the others beside them.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::{TestClient, TestServer};
use crate::stdio::THREADS;

/// Lets one client wait with so many calls, and look at what waits for nobody.
fn served(count: usize, test: impl AsyncFnOnce(TestServer, TestClient, Vec<u64>)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .unwrap();
    let story = async {
        let house = TestServer::new();
        house.scene.change("a:1");
        let mut guest = house.guest(json!({})).await;
        let mut calls = Vec::new();
        for number in 0..count {
            calls.push(guest.call("wait", &number.to_string()).await);
        }
        let look = guest.call("where", "").await;
        assert_eq!(guest.text(look).await, "[]");
        test(house, guest, calls).await;
    };
    // Only so that a broken server fails a test instead of blocking it.
    let result = runtime.block_on(async { timeout(Duration::from_secs(20), story).await });
    runtime.shutdown_background();
    result.expect("it took too long");
}

#[test]
fn whoever_only_looks_waits_for_nobody() {
    served(THREADS + 12, async |house, mut guest, mut calls| {
        let uri = json!({ "uri": "a:1" });
        guest.ask("resources/subscribe", uri).await;
        house.scene.change("a:1");
        let updated = "notifications/resources/updated";
        let told = guest.next(|message| message["method"] == updated).await;
        assert!(told.is_some());

        // Those in line can be taken back, and do nothing after that.
        for id in calls.split_off(100) {
            guest.note("cancelled", json!({ "requestId": id })).await;
        }
        guest.ask("ping", json!({})).await;
        house.scene.let_through();
        calls.push(guest.call("wait", "100").await);
        for id in calls {
            guest.text(id).await;
        }
        let through = house.scene.through.lock().unwrap().clone();
        let mut through: Vec<usize> = through.iter().map(|name| name.parse().unwrap()).collect();
        through.sort_unstable();
        assert!(through.into_iter().eq(0..=100));
    });
}

#[test]
fn calls_that_wait_in_line_are_answered_before_the_end() {
    served(100, async |house, mut guest, calls| {
        guest.stop.cancel();
        house.scene.let_through();
        for id in calls {
            guest.text(id).await;
        }
        guest.ends().await;
    });
}
