//! Many at once on one run.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::stage::{Client, Stage, answer, ask};

/// Sends a call on every connection, the n-th with what is said for n, before an answer is read on any.
fn all_at_once(servers: &mut [Client], tool: &str, say: impl Fn(usize) -> Value) -> Vec<Value> {
    let numbered = servers.iter_mut().enumerate();
    let ids: Vec<u64> = numbered
        .map(|(n, server)| ask(server, tool, &say(n)))
        .collect();
    let pairs = servers.iter_mut().zip(ids);
    pairs.map(|(server, id)| answer(server, id)).collect()
}

#[test]
fn of_ten_clients_that_report_the_same_one_moves_the_run() {
    let stage = Stage::started();
    let mut servers: Vec<Client> = (0..10).map(|_| stage.session()).collect();

    stage.write("tests/words_test.sh", "false\n");
    let red = |_| json!({ "phase": "red", "results": { "failed": 1, "passed": 0 } });
    for told in all_at_once(&mut servers, "autopilot_complete_phase", red) {
        assert_eq!(told["validated"], true, "{told}");
        assert_eq!(told["nextAction"]["unitId"], "workUnit-1.1-GREEN");
    }
    assert_eq!(stage.events("report:accepted"), 1);

    // The numbers differ, and only one can be right.
    stage.write("src/words.sh", "true\n");
    let green = |n| json!({ "phase": "green", "results": { "failed": 0, "passed": n + 1 } });
    let told = all_at_once(&mut servers, "autopilot_complete_phase", green);
    let (accepted, others): (Vec<_>, Vec<_>) =
        told.iter().partition(|told| told["validated"] == true);
    assert_eq!(accepted.len(), 1, "{accepted:?}");
    assert!(
        others.iter().all(|told| told["code"] == "stale_unit"),
        "{others:?}"
    );
    assert_eq!(stage.events("report:accepted"), 2);

    let mut shas = BTreeSet::new();
    let commit = |_| json!({ "subtaskId": "1.1" });
    for told in all_at_once(&mut servers, "autopilot_commit", commit) {
        match told["commitSha"].as_str() {
            Some(sha) => drop(shas.insert(sha.to_owned())),
            None => assert_eq!(told["code"], "stale_unit", "{told}"),
        }
    }
    assert_eq!(Vec::from_iter(shas), [stage.head()]);
    assert_eq!(stage.commits(), 1);
    stage.verify();
}
