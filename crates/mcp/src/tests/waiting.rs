//! Calls that wait, and the others beside them.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::TestServer;
use crate::stdio::THREADS;

/// Only so that a broken server fails a test instead of blocking it.
const PATIENCE: Duration = Duration::from_secs(20);

fn served(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .unwrap();
    let result = runtime.block_on(async { timeout(PATIENCE, test).await });
    runtime.shutdown_background();
    result.expect("it took too long");
}

#[test]
fn whoever_only_looks_waits_for_nobody() {
    served(async {
        let house = TestServer::new();
        house.scene.change("a:1");
        let mut guest = house.guest(json!({})).await;
        let names: Vec<String> = (0..THREADS + 12).map(|number| number.to_string()).collect();
        let mut calls = Vec::new();
        for name in &names {
            calls.push(guest.call("wait", name).await);
        }
        let look = guest.call("where", "").await;
        assert_eq!(guest.text(look).await, "[]");
        guest
            .ask("resources/subscribe", json!({ "uri": "a:1" }))
            .await;
        house.scene.change("a:1");
        guest
            .next(|message| message["method"] == "notifications/resources/updated")
            .await
            .unwrap();

        // Those in line can be taken back, and do nothing after that.
        let (taken_back, stay) = (calls.split_off(100), calls);
        for id in &taken_back {
            let params = json!({ "requestId": id });
            guest
                .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
                .await;
        }
        guest.ask("ping", json!({})).await;
        house.scene.let_through();
        for id in stay {
            guest.text(id).await;
        }
        let last = guest.call("wait", "last").await;
        guest.text(last).await;
        let mut through = house.scene.through();
        through.sort_by_key(|name| name.parse().unwrap_or(usize::MAX));
        assert_eq!(through.len(), 101, "{through:?}");
        assert_eq!(through[..100], names[..100]);
        assert_eq!(through[100], "last");
    });
}

#[test]
fn calls_that_wait_in_line_are_answered_before_the_end() {
    served(async {
        let house = TestServer::new();
        let mut guest = house.guest(json!({})).await;
        let mut calls = Vec::new();
        for number in 0..100 {
            calls.push(guest.call("wait", &number.to_string()).await);
        }
        let look = guest.call("where", "").await;
        guest.answer(look).await;
        guest.stop.cancel();
        house.scene.let_through();
        for id in calls {
            guest.text(id).await;
        }
        (&mut guest.served).await.unwrap().unwrap();
    });
}
